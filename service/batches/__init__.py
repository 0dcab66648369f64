"""Batches: a suite on up to 10,000 workbooks, as jobs, with one table of results.

In: workbooks, or deals, each with its current workbook. Out: a normal run of each with its evidence, and a document
with a row for each test. Start with `actions.create`, then `jobs`.

- A batch has a few lanes. A lane is one job at a time, which runs some workbooks and then writes the next job. So a
  tenant never has more jobs of a batch than lanes, and the hand-over gives each tenant its turn.
- A run, the end of its item and the counts are one transaction. A job that is done again takes what is still pending,
  so no workbook is run twice. The same transaction asks whether the batch is still running, which is how a
  cancellation stops it.
- What cannot be run is refused with its reason. A workbook that has had as many turns as a job has
  attempts, and never came to an end, is refused, and its lane goes on.
- Runs of a batch have no entries in the audit log. The end of the batch has one for all of them, with a hash over what
  the log would have said of each (`batch_items.entry`). A replay checks both.
- Alerts hang on that entry: each deal is looked at once, by its newest workbook.
"""
