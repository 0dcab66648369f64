"""What a calculation of a book's formulas came to, as the engine gathers it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.recalc.regions import Region

if TYPE_CHECKING:
    from core.recalc.graph import Touched

Place = tuple[int, int, int]
"""Sheet, row and column of a cell."""

Cycle = list[Place]
"""Cells that need each other."""


@dataclass(slots=True)
class Outcome:
    """Rows that were calculated, cells that need each other, rows with faults, and how cycles were iterated."""

    touched: list[Touched] = field(default_factory=list)
    cycles: list[Cycle] = field(default_factory=list)
    """Those that were not iterated."""
    faults: list[tuple[Region, int, str]] = field(default_factory=list)
    iterations: int = 0
    """How often the cells of cycles were calculated, where the book iterates."""
    unconverged: list[Place] = field(default_factory=list)
    """Cells of cycles that still changed when the iterations that the book asks for were done."""
