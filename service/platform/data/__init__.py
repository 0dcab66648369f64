"""Storage: PostgreSQL, Redis, blobs, files on their way, the audit chain.

`database` has the pool and the tenant's transaction, `pipeline` Redis, `blobs` the object store. Each has a breaker
that says whether it is there; `fallback_cache` and `breaker_sharing` serve while one is not.
"""
