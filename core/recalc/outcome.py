"""What a calculation of a book's formulas came to, as the engine gathers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.recalc.regions import Region

if TYPE_CHECKING:
    from core.recalc.graph import Touched

Place = tuple[int, int, int]
"""Sheet, row and column of a cell."""

Cycle = list[Place]
"""Cells that need each other."""


class CalculationOutcome:
    """Rows that were calculated, cells that need each other, rows with faults, and how cycles were iterated.

    No dataclass: an edit of one cell makes one, and takes some microseconds in all.
    """

    __slots__ = ("cycles", "faults", "iterations", "touched", "unconverged")

    def __init__(self) -> None:
        self.touched: list[Touched] = []
        self.cycles: list[Cycle] = []
        """Those that were not iterated."""
        self.faults: list[tuple[Region, int, str]] = []
        self.iterations = 0
        """How often the cells of cycles were calculated, where the book iterates."""
        self.unconverged: list[Place] = []
        """Cells of cycles that still changed when the iterations that the book asks for were done."""
