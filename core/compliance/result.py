"""What a compliance run says: results, skipped tests, the summary, and what to know before trusting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal

import msgspec

from core.compliance.kernels import rounded
from core.portfolio.notes import DataWarning, bounded
from core.portfolio.portfolio import AsOfSource

Status = Literal["pass", "fail", "warning"]
Direction = Literal["min", "max", "exact"]
Source = Literal["request", "workbook", "deal", "definition", "sheet", "tenant", "suite"]
"""Who set a limit, in the order in which they are asked."""


class Details(msgspec.Struct, frozen=True):
    """How a value came about."""

    formula: str
    cell_refs: list[str]
    breakdown: dict[str, Any]


class TestResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """One test of a run. Figures in the test's unit, rounded to 6 decimals after the comparison."""

    __test__ = False  # not a test case, whatever its name says to a test collector

    test_id: str
    test_name: str
    category: str
    status: Status
    current_value: float
    threshold_value: float
    threshold_type: Direction
    cushion: float | None
    cushion_pct: float | None
    message: str
    threshold_source: Source | None = None
    low: float | msgspec.UnsetType = msgspec.UNSET
    """The ends of the figure where masked ratings are taken for a range; left out elsewhere."""
    high: float | msgspec.UnsetType = msgspec.UNSET
    details: Details | None = None


class Skipped(msgspec.Struct, frozen=True):
    """A test that could not or should not run."""

    test_id: str
    test_name: str
    reason: str
    current_value: float | msgspec.UnsetType = msgspec.UNSET
    """Of a test that masked ratings leave open: its figure, and the ends of it; left out elsewhere."""
    low: float | msgspec.UnsetType = msgspec.UNSET
    high: float | msgspec.UnsetType = msgspec.UNSET


class Summary(msgspec.Struct, frozen=True):
    """Counts; total = passed + failed + warnings + skipped."""

    total: int
    passed: int
    failed: int
    warnings: int
    skipped: int


class Results(list[TestResult]):
    """The results of a suite in catalogue order, with what was skipped, the day that they are of, and warnings."""

    def __init__(
        self,
        results: list[TestResult],
        skipped: list[Skipped],
        *,
        as_of: date | None = None,
        as_of_source: AsOfSource | None = None,
        warnings: Sequence[DataWarning] = (),
        figures: Mapping[str, float] | None = None,
        cushions: Mapping[str, float] | None = None,
        exact: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        super().__init__(results)
        self.skipped = skipped
        self.as_of = as_of
        self.as_of_source = as_of_source
        self.warnings = bounded(warnings)
        self._figures = figures or {}
        self.cushions: Mapping[str, float] = cushions or {}
        """By test id, in full precision."""
        self.exact: Mapping[str, tuple[float, float]] = exact or {}
        """By test id the figure, not yet rounded, and what it is divided by."""

    @property
    def figures(self) -> dict[str, float]:
        """Every figure that was worked out, by test id, those of tests without a limit too; to six decimals."""
        return {test_id: rounded(value) for test_id, value in self._figures.items()}

    @property
    def summary(self) -> Summary:
        """The counts of this run."""
        by_status = [result.status for result in self]
        passed, failed, warnings = (by_status.count(status) for status in ("pass", "fail", "warning"))
        return Summary(len(self) + len(self.skipped), passed, failed, warnings, len(self.skipped))


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """A limit set by a workbook or a tenant, in place of the suite's default."""

    test_id: str
    threshold_value: float
    threshold_type: Direction | None = None
    """None keeps the test's own."""
    warning_threshold: float | None = None
    """None keeps the default's relative distance of warning to limit (none at all when the type differs)."""
    enabled: bool = True
