"""The same trees over whole columns.

In: a program and columns. Out: a column, with the machine's answers to the last bit; tests hold both together.
`vector.pyx` runs the plan in chunks, `bodies` has the look-ups and conditional sums that keep an index.
"""

from core.formula.columns.vector import Plan, map_columns, plan

__all__ = ["Plan", "map_columns", "plan"]
