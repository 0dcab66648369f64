"""The ground that every area of the service stands on; it knows no area.

The folders, bottom first; a folder imports only those below it:

    base        refusals, callers, secrets, breakers, fair shares, caches
    data        PostgreSQL, Redis, blobs, the audit chain
    access      who calls, what they may, limits, revocations
    route       a route as a row, the OpenAPI document
    unit        a request's or a job's transaction
    events      high-rate events
    http        a request through its row        work    jobs, mail, clean-up, small jobs without a worker

The modules beside them (`config`, `clock`, `log`, `metrics`, ...) know of no folder. PostgreSQL is the truth, Redis
is speed, the object store is bytes. Anything in Redis may vanish at any moment; nothing that was accepted is lost.
"""
