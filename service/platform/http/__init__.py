"""A request through its row: admission, binding, dispatch, answers, connections.

Start with `application` (finds the row) and `dispatch`. The order of a request:

1. its identifier;
2. maintenance, then token or key, then the gate;
3. tenant's status, address, access by the row, second factor, feature flag;
4. path, query, form or body by type, once; after a wait for a body the caller is looked at again;
5. with an Idempotency-Key, the answer of the first time;
6. the handler, whose first statement begins the transaction in the same round trip;
7. the result, encoded once, and kept under its key in the same transaction;
8. the event as an audit row, the caller's rights once more, commit, and what follows (copies into Redis);
9. the answer.

A refusal that a row does not list is an assertion. `faults` lists all that is wrong with a body, at most a hundred
faults.

- `connections`: heads have the server's deadline; bodies and shares one look at all connections every quarter of a
  second. An address may hold a tenth of the places. On SIGTERM it drains before the server closes its socket.
- `idempotency`: the first request claims a row before the handler runs, in a transaction of its own. A claim whose
  process died is free after two minutes. Requests are compared by a keyed hash, since a body may hold a password.
- `waiting`: a status read with `?wait=` waits without a connection; NOTIFY wakes it, and a look every five seconds
  makes up for a lost message.
- `compression`: small answers on the spot, large ones in a thread, what is the same for everybody once.
"""
