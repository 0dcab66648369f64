"""Compliance over HTTP: runs, results, thresholds, look back, replays.

One run of a workbook at a time, by an advisory lock of the transaction, so no crash leaves a `running` row. A run's
row has everything that reproduces it: workbook's hash, mapping, definition, limits, options, day, engine.

- The audit entry of a run has the hash of its evidence: its inputs and what it came to (`lookback_store.EVIDENCE`).
  The look back has no table of its own; it reads the log and the runs and checks the hashes and the chain.
- `replay_actions` replays a run from evidence alone. `evidence_books` and `evidence_sheets` keep the columns that a
  run read, so nothing that happens to a workbook takes a run's inputs. If columns change while a run reads them, a
  foreign key refuses the run (409).
- `parts_actions` shows what is behind a figure. `stream_actions` keeps evidence for its retention.
"""
