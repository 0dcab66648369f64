"""What a process does beside requests: jobs, mail, requests outwards, clean-up.

A job is a row written with the record that it works on. A loop, woken by NOTIFY and every second, gives pending rows
to arq under a new identifier for each attempt. A worker takes the row only if that attempt is the present one. It
renews its lease while it works, and commits the effect with the final state. Silence past the lease is a failure, so
a job that kills its worker ends as a dead letter. arq carries `(tenant, job, attempt)` as plain data, so who writes
to Redis has no code run. `claim_jobs` takes a few jobs of each tenant and queue, in turn. Start with `jobs` (the
rows), `queues` (the hand-over), `runner` (the lease) and `process`. `sync_fallback` has the API take jobs while no
worker does.

- `outgoing` sends where users say: every address of a name must be public, without redirection, proxy or decoder,
  with limits on time, ports, headers and answer.
- `expiry.KEPT` has a row for each table: what removes it, after how long, why. `cleanup` frees bytes when no tenant
  has a row.
- `exposition`: each process keeps its own metrics (0.7 us an observation), and the holder of the port's lock asks its
  siblings. prometheus-client's files were tried: 2.3 us, and a full disk is a SIGBUS.
"""
