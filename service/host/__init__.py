"""Where the service runs by itself: data folder, servers, processes, backups.

`cushion serve` without URLs supervises its own PostgreSQL and Redis (`embedded`), the API and a worker
(`supervisor`). Children die with their parent (PR_SET_PDEATHSIG) and stop in order. When the disk is full, PostgreSQL
ends; the supervisor waits for room and the API refuses (503). Under root, the servers and the processes run as an
account of their own.

A backup exports a snapshot that `pg_dump` and the list of blobs both read. An advisory lock keeps blobs from being
removed until they are copied. A backup is a draft until its manifest is on the disk. Restoring puts the blobs first,
then the dump as one transaction, and gives the database a new `deployment` identifier.
"""
