"""What the console's first screen says.

Every deal with its newest figures and its last months.
"""

from __future__ import annotations

from datetime import date
from uuid import UUID

from msgspec import Struct

from service.deals.schema import Latest

MONTHS_MAX = 6
"""Months of a deal, the newest ones that have a workbook."""


class Month(Struct, frozen=True, kw_only=True):
    """A month of a deal: its newest workbook, with the newest full run of that."""

    as_of: date
    """The day that the workbook is of; the day of its upload where neither a user nor a run has said it."""
    workbook_id: UUID
    run_id: UUID | None
    """Null: no whole suite was run on it, and the figures below are null too."""
    failed: int | None
    """Tests that fail."""
    warnings: int | None
    """Tests that are a warning."""
    doubtful: int | None
    """Tests whose status may be wrong. Null also where the run is older than this count."""
    cushion_pct: float | None
    """The thinnest cushion in percent of its limit. Null also where that limit is 0."""
    test_id: str | None
    """The test with the thinnest cushion."""


class OverviewDeal(Struct, frozen=True, kw_only=True):
    """A deal with its newest figures and its last months."""

    id: UUID
    name: str
    currency: str
    next_payment_date: date | None
    latest: Latest | None
    """Its newest workbook with the newest full run of it. Null: it has no workbook."""
    months: list[Month]
    """The newest six months that have a workbook, the earliest first."""
