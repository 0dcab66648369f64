"""Alerts: what a tenant watches in its workbooks, and by which channels.

In: conditions and channels, and the audit events of runs. Out: triggers, deliveries, notifications. Start with
`actions`, then `evaluation_actions` (judging) and `delivery_actions` (sending).

- A channel stands in its row with secrets masked, beside one sealed text with what is behind the masks. A channel
  keeps its secrets where its `id`, masked URL or place says that it is the same. Headers are given to no other URL.
- Alerts hang on the audit log: a run's event writes a job where an enabled alert concerns the workbook.
- Alerts' rows are locked in the order of their identifiers before cooldowns are read, so of several looks at once one
  triggers. Trigger, deliveries, counters and event are one transaction.
- The deliveries of one channel form a line whose first has a job. It sends between two transactions, and whoever ends
  a delivery makes the next job in the same transaction. So no line is left without a job.
- Figures of a recalculation are kept in `alert_figures` for later looks, since they are no run.
"""
