"""Reconciliation: trustees' tapes against workbooks, and their issues.

A tape is stored as its loans and not as its cells, in the layout of a workbook's columns. A comparison opens both in
a child and writes its issues as a file for COPY.

- COPY cannot fill a table under row security. So issues go into a temporary table, and from there into theirs: known
  ones are updated, new ones inserted in the order of their key, lost ones resolved. `INSERT ... ON CONFLICT` takes
  longer.
- An advisory lock on tape and workbook keeps merges and reviews apart. The merge keeps its changes with the job, so a
  run that died after it goes on from there.
- Counting a million rows takes a second, so summaries add up `reconciliation_counts`, which the merge and every
  review keep.
- A review counts as long as both values stay. A changed value opens the issue again.
"""
