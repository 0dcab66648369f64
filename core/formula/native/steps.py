"""The steps that a loop can do, by name."""

from __future__ import annotations

from typing import Final, NamedTuple

COMPARISONS: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})
CONDITIONS: Final = frozenset({"AND", "OR", "XOR"})
AGGREGATES: Final = frozenset({"SUM", "AVERAGE", "MIN", "MAX", "PRODUCT"}) | CONDITIONS
QUESTIONS: Final = frozenset({"ISNUMBER", "ISBLANK", "ISTEXT", "ISNONTEXT", "ISLOGICAL"})
ERROR_AWARE: Final = QUESTIONS | {"IFERROR", "ISERROR"}
"""Steps that make something else of an error."""


class LoopStep(NamedTuple):
    """One instruction over registers."""

    name: str
    """An operator, a function, or one of: negate, %, sum (a sum that snaps to 0), difference (likewise)."""
    out: int
    reads: tuple[int, ...]
    form: tuple[int, ...] = ()
    """Of a rounding its digits; of ROW what is added to the place; of an aggregate, for each read, whether it is of a
    cell, where some kinds do not count."""
