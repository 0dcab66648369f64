"""A unit of work: its tenant, its transaction, its blobs, its pages.

`context` begins the transaction with the first statement: BEGIN, the tenant's setting and the statement leave
together. A list that is read by itself (`fetch_counted`) takes a single round trip. Entries of the audit log are
collected and sent right before the commit. `records` has the stock statements of a table: get, lock, create, update,
delete, count. `storage` keeps a row for each blob of a tenant. A record that ceases to name a blob marks the row, and
the clean-up looks after a pause whether another record names it.
"""
