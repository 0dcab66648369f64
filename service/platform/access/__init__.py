"""Who may do what, and how often: the gate, limits, revocations, switches.

`gate.lua` decides revocation, tenant's status, key, token bucket, windows and days in one round trip to Redis
(`gate`).

- Records of tenants and keys in Redis are signed copies (`caller_cache`), five minutes old at most. Limits, counts
  and revocations are not signed: who writes to Redis can lift a limit.
- Revocations are in Redis under a marker (`revocations`). When the marker is gone, nobody passes until they are
  loaded again.
- Without Redis a process asks PostgreSQL and counts limits by itself (`fallback`), so N processes permit N times the
  figures. A revocation, or a key's end, is then refused with 503.
- `rights`: each change sends `confirm_caller` right before its COMMIT, in the same round trip (0.05 ms). It shares
  advisory locks on tenant, user and key. Whoever ends rights takes the same locks alone, all at once and last, so
  they close no circle. A request so commits before its caller's rights end, or not at all. FOR SHARE would write to
  the user's row, and shares overtake whoever waits for it alone.
- `switches`: maintenance and flags are one row with a version. `gate.lua` answers with Redis's version, so whoever
  passes the gate sees a change at once. While PostgreSQL is away, copies hold.
"""
