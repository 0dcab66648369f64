"""How the choices that a file leaves open are read.

In: a portfolio with the figures that its file prints. Out: an `Interpretation`, a record of each choice, the cells
that decide it, and the runner-up. `interpret` searches the closed list of `core/definition/choices.py`; `read_by`
reads loans by a known record without a search. Only amounts decide, to the cent; `hold_out` says how well the reading
predicts figures that were left out. A run stores the record among its options, and a replay searches again.
"""
