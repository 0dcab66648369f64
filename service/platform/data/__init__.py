"""Where things are stored: PostgreSQL, Redis, blobs, the audit chain, replicas.

- PostgreSQL: every tenant table has a FORCEd row-security policy. The service's role owns nothing. The few look-ups
  before a tenant is known are SECURITY DEFINER functions. Keys are (tenant, id), because foreign keys see past row
  security. A connection that waits longer than a statement may take is ended. A URL may name several servers
  (`servers`). While commits wait for a replica that is away, no further one is begun (`stalled_commits`).
- Blobs, by SHA-256: a blob never changes, and is durable before its row commits. It is hashed when a process first
  opens it, and again when the file's number or times change. Damaged bytes are refused (503), and the same file
  uploaded again mends them.
- Audit: triggers refuse every change, and one function appends. It numbers and chains a tenant's entries by a hash
  over their fields as netstrings. The chain's head is locked last. Erasure puts a token into the columns that name a
  person (`redact_audit`), and a later entry `user.redacted` says what the entry hashes to now.
- Replica: each commit is noted in Redis with the primary's position. A row with `lags` is read from the replica once
  that has replayed past the note. Waiting for the replica, or a position in the token, were tried and dropped.
- Tables that grow with every day are partitioned by time. Dropping a week of a million jobs takes 8 ms and 0.2 MB of
  log; deleting them took 1.2 s, 60 MB and a vacuum.
- `fallback_cache` keeps answers of GETs (JSON, to 64 KB) for a time without the database. `announcements` listens to
  NOTIFY.
"""
