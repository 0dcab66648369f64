"""Cells as functions read them: places, sums, counts and indexes.

`environment` is what stands behind a formula. `reduce`, `tally` and `index` answer sums, counts and look-ups over
ranges, and keep what later formulas ask for again.
"""

from core.formula.ranges.environment import Environment

__all__ = ["Environment"]
