"""Administration: the tenant, its users, its API keys, erasure.

Nobody grants a scope that they lack. Start with `actions` (users), `key_actions`, `tenant_actions` and
`erasure_actions`.

- Erasure runs as a job, since events of the person may still be on the stream. It waits until the oldest event there
  is younger than the request, and until the person's jobs have ended. Records go by the names of their columns
  (`created_by`, `reviewed_by`), so a new table with such a column is included. Sealed letters are opened and
  destroyed where they concern the person.
- A cancelled tenant has its days of grace. Then the worker empties it as the service's own role under row security
  (`empty_tenant`), one table after the other, 10,000 rows a transaction. Workbooks with runs are hidden;
  `named_blobs` keeps their bytes until the last run expires.
"""
