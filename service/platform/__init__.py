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

While a part is away:

| away | opens after | goes on | is lost meanwhile |
|---|---|---|---|
| PostgreSQL | a failed look after a lost connection | supplied formulas; GETs from the fallback cache | all else: 503 |
| a replica that commits wait for | 5 s of a commit | reads, calculations | changes: 503 |
| Redis | one failure | limits in the process, revocations from PostgreSQL | changes of rights: 503 |
| workers | 15 s without a sign while a job is due | the API reads uploads to 1 MB, writes small exports | time |
| blob store | three failed looks in a row | workbooks that a process has open | uploads, other files: 503 |
| mail | 3 letters that did not arrive | letters wait | |
| webhooks | 5 receivers of as many tenants that did not answer | deliveries wait, in order | |
| language model | 3 failures in a row | the built-in words | |

Processes share what their breakers counted in one hash in Redis. A job that meets what is away is put off, and that
counts as none of its failures. The gate needs PostgreSQL every five minutes; while it is away, copies of callers are
kept for an hour.
"""
