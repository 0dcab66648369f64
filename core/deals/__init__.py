"""A deal across its files: movements, tie-outs, changes, drafts of definitions.

In: portfolios and results of one deal, and what its files print. Out: records for commands, service and reports.

- `movements`: why a test moved between two months, in parts that add up to the change.
- `tie_out`: the figures that the trustee published, with ours beside them.
- `changes`: loans that came, went and changed.
- `draft`: a definition out of a file. `figures` sorts printed figures into tests, open limits and what nothing
  measures. `coverage` and `rules` take classes, days and choices. `compose` writes the text and checks it against the
  file. Text and document come from the same entries (`core/definition/written.py`), so they cannot differ.
"""
