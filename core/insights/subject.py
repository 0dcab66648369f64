"""What the analyst looks at.

A portfolio with the rules of its runs, and what is known of it beside the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, Final

from core.compliance.conventions import currency_of, definition_for
from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Pool
from core.compliance.result import Results, Status
from core.compliance.run import run_suite
from core.definition.definition import Definition
from core.frames.brief import brief
from core.portfolio import Portfolio
from core.reconciliation.rules import IssueType, Severity
from core.values import day_of

POINTS_MAX: Final = 1_000
"""Runs of one test's history that are looked at, the newest ones."""

BREAKS_SHOWN: Final = 50
"""Discrepancies of a comparison that are handed in, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """A test on a day, as a stored run has it. Figures in the test's unit."""

    day: date
    """The day that the run's figures are of."""
    value: float
    limit: float | None = None
    cushion: float | None = None
    status: Status | None = None
    run_id: str | None = None

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A discrepancy between the trustee's tape and the portfolio, both sides as they are written."""

    severity: Severity
    issue_type: IssueType
    field_name: str
    identifier: str
    borrower_name: str
    trustee_value: str
    internal_value: str

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks:
    """What a comparison with the trustee's tape found, and what of it still stands."""

    tape: str
    """Its name."""
    compared: int
    """Loans of either side: matched ones count once."""
    matched: int
    by_severity: Mapping[Severity, int]
    """Discrepancies that still stand: open or acknowledged."""
    by_field: Mapping[str, int]
    """The same by the field that differs; missing_loan for a loan that one side lacks."""
    day: date | None = None
    """The day of the tape."""
    settled: int = 0
    """Discrepancies that somebody resolved, or found to be none."""
    largest: Sequence[Break] = ()
    """At most `BREAKS_SHOWN`, the worst first."""
    comparison_id: str | None = None

    __repr__ = brief


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A portfolio under the rules of its newest run."""

    name: str
    """Of the deal, or of the workbook."""
    portfolio: Portfolio
    suite: str = "enhanced"
    """Of the run: standard, enhanced, or deal (which needs a definition among `rules`)."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    """Options of `core.compliance.run.run_suite`: `definition`, and thresholds by who set them."""
    test_ids: Collection[str] = ()
    """The tests of the run; all of the suite where none is named."""
    history: Mapping[str, Sequence[HistoryPoint]] = field(default_factory=dict)
    """Test id -> stored runs, oldest first; one for each day, this run's own may be the last."""
    previous: Subject | None = None
    """The same deal a month or so before; its rules are not looked at, since both are held to the newest ones."""
    breaks: Breaks | None = None
    """The newest comparison with the trustee; None where there was none."""
    workbook_id: str | None = None
    run_id: str | None = None
    remarks: tuple[str, ...] = ()
    """What else a reader has to know, such as that no stored run is behind the figures."""

    def __post_init__(self) -> None:
        if not isinstance(self.portfolio, Portfolio):
            raise TypeError(f"portfolio is a Portfolio, not {type(self.portfolio).__name__}")

    @cached_property
    def definition(self) -> Definition | None:
        """The rules that decide.

        The given ones, else the ready-made ones of the portfolio's market.
        """
        return definition_for(self.portfolio, self.rules.get("definition"))

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The portfolio's sums, as a run takes them; empty without loans."""
        return pools_of(self.portfolio, self.definition)

    @property
    def pool(self) -> Pool | None:
        """The sums by the figures that count; None without loans."""
        return self.pools[0] if self.pools else None

    @property
    def measured(self) -> Portfolio:
        """The measured portfolio, with what the definition states and corrects."""
        return self.portfolio if self.pool is None else self.pool.portfolio

    @cached_property
    def results(self) -> Results:
        """Every test of the run, explained."""
        return run_suite(self.portfolio, self.suite, test_ids=self.test_ids, **self.rules, pools=self.pools)

    def run(
        self, portfolio: Portfolio, test_ids: Collection[str] = (), *, details: bool = False, compare: bool = False
    ) -> Results:
        """Return the tests of this subject, or those of them that are named, over another portfolio by the same rules;
        `compare` as `run_suite` has it.

        Raises:
            UnknownTest: the suite has no such test.
        """
        return run_suite(
            portfolio, self.suite, test_ids=test_ids or self.test_ids, **self.rules, details=details, compare=compare
        )

    @property
    def day(self) -> date | None:
        """The day that the figures are of."""
        return day_of(self.portfolio.deal.as_of)

    @cached_property
    def currency(self) -> str | None:
        """ISO 4217; None where nothing says it."""
        return currency_of(self.portfolio)

    __repr__ = brief
