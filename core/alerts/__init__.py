"""When an alert is raised.

In: an alert's conditions, a run's results, and the history that the conditions ask for. Out: a verdict for each
condition: yes, no, or unknown. Unknown neither triggers an alert nor ends one.

Start with `conditions` (what can be asked), then `metrics` (a row for each figure) and `evaluate` (the verdict).
`service/alerts` stores alerts and sends messages; nothing here knows of either.
"""
