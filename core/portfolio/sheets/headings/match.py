"""A header row that names the targets of a mapping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.headings.wording import magnitude, unit

Gave = Literal["blank", "constant", "earlier", "sparse"]
"""Why a column gave way to another one."""


@dataclass(frozen=True, slots=True)
class HeaderMatch:
    """A header row that names the targets of a mapping."""

    row: int
    """0-based; the lowest one of several: the data starts below it."""
    top: int
    """The highest one of several, else `row`."""
    score: int
    """Distinct targets of the mapping that it names."""
    columns: dict[str, list[int]] = field(default_factory=dict)
    """Target -> the columns that could feed it, the preferred one first."""
    texts: dict[int, str] = field(default_factory=dict)
    """Column -> its header as written, the rows of names joined; columns whose header is no text are not in it."""
    units: dict[int, str] = field(default_factory=dict)
    """Column -> what a row of units below the names says of it."""
    below: tuple[Literal["units", "numbers"], ...] = ()
    """What the header's rows below the names hold: units, or numbers of the columns (1, 2, 3, ...)."""
    demoted: dict[int, Gave] = field(default_factory=dict)
    """Columns that gave way to another one for the same target: without a value, with the same on every row, or of an
    earlier day."""
    beside: frozenset[int] = frozenset()
    """Columns whose header names a target, but of another table to the side."""

    preferences: dict[tuple[str, int], int] = field(default_factory=dict)
    """Target and column -> the place of the header among the target's aliases."""
    evidence: dict[int, RoleEvidence] = field(default_factory=dict)
    """Column -> why it has its role; columns of no header without one."""
    undated: frozenset[int] = frozenset()
    """Columns for one target under days of which none is surely the latest."""

    @property
    def named_row(self) -> int:
        """Return the lowest row of names."""
        return self.row - len(self.below)

    def unit(self, column: int) -> str:
        """Return the unit of a column's header or row of units: "bps", "%" or ""."""
        return unit(self.texts.get(column, "")) or unit(self.units.get(column, ""))

    def magnitude(self, column: int) -> float:
        """Return what the header multiplies by: 1,000, 1,000,000, else 1."""
        scale = magnitude(self.texts.get(column, ""))
        return scale if scale != 1.0 else magnitude(self.units.get(column, ""))
