"""What every other folder of the platform uses: refusals, breakers, fair shares.

- `problem`: a refusal is a class, and its docstring the message that callers read.
- `breaker`, `breakers`: a call has a pass for the state in which it was given, so a late or cancelled call changes
  nothing, and one call at a time tries an open breaker. The table has each service's limits. A statement's time
  limit, a constraint, or a receiver's 500 is nobody's absence: for database and blobs only our own look counts
  (`lookout`).
- `fair`: nobody holds more than half of the places of a kind, and those who wait are served in turn. A full waiting
  room sheds the work of whoever has the most in it.
- `lru`, `memory`: each cache has a limit of entries and bytes. Memory is looked at four times a second. Above the
  limit the least used entries of all caches go first; then areas answer 503 before they read a body.
- `flags`: a row for each feature flag. `secrets`: what must be read back is sealed, what need only be compared is a
  hash.
"""
