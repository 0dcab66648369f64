"""The content of a reconciliation report: what its issues come to, gathered in one pass over them, and its PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from heapq import heappush, heappushpop
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core.portfolio.notes import DataWarning
from core.reconciliation.rules import RULES, SEVERITIES, Severity
from core.reconciliation.written import STAGES, figure_text
from core.report.content import Fact, Verdict
from core.typeset.pdf import typeset

LISTED_MAX: Final = 1_500
"""Issues that a PDF lists one by one: about fifty pages. A spreadsheet has all of them."""
LARGEST_MAX: Final = 25
VALUE_CHARACTERS: Final = 120
"""Of a name or a value on the page; what a stranger's cell holds beyond that is cut."""
NOTE_CHARACTERS: Final = 600

LOANS: Final = ("total_loans_compared", "matched", "unmatched_trustee", "unmatched_internal")
"""Counts of a comparison that a report shows; that of the issues it makes itself."""
PAR_RULES: Final = frozenset(("par_value", "missing_loan"))
"""Rules whose values are par: on what one side lacks, or has more of."""

IssueStatus = Literal["open", "acknowledged", "resolved", "false_positive"]
STATUSES: Final[tuple[IssueStatus, ...]] = ("open", "acknowledged", "resolved", "false_positive")
TEXTS: Final = (
    "primary_identifier", "borrower_name", "trustee_value", "internal_value", "resolution_notes", "reviewed_by",
)  # fmt: skip
"""Fields of an issue that hold what files and people say."""
UNSETTLED: Final = frozenset(("open", "acknowledged"))
"""Statuses of an issue that still stands."""

_TEMPLATE: Final = Path(__file__).with_name("reconciliation.typ")


class IssueLine(Struct, frozen=True, kw_only=True):
    """A discrepancy, both sides as they are written."""

    severity: Severity
    category: str
    rule: str
    field_name: str
    issue_type: str
    primary_identifier: str | None
    identifier_type: str
    borrower_name: str | None
    trustee_value: str
    internal_value: str
    status: IssueStatus = "open"
    resolution_notes: str | None = None
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None

    @property
    def par_difference(self) -> float | None:
        """Par of the trustee less ours, where that is what the issue is about."""
        if self.rule not in PAR_RULES:
            return None
        try:
            difference = float(self.trustee_value or 0.0) - float(self.internal_value or 0.0)
        except ValueError:
            return None
        return difference if isfinite(difference) else None


class Tallied(Struct, frozen=True, kw_only=True):
    """Issues of one kind, by severity."""

    name: str
    critical: int
    error: int
    warning: int
    info: int
    unsettled: int
    """Of all of them, those that are open or acknowledged."""

    @property
    def total(self) -> int:
        return self.critical + self.error + self.warning + self.info


class ParLine(Struct, frozen=True, kw_only=True):
    """Breaks in par that still stand."""

    breaks: int
    net: float
    """Par of the trustee less ours, added up."""
    gross: float
    """The same without signs."""


class Compared(Struct, frozen=True, kw_only=True):
    """What was compared, and how: what only the caller knows."""

    title: str
    """Of the tape."""
    trustee: str
    book: str
    """Name of the workbook."""
    tape_day: date | None
    book_day: date | None = None
    compared_at: datetime | None = None
    generated_at: datetime
    loans: dict[str, int]
    """By the names of `LOANS`."""
    stages: dict[str, int]
    """Pairs by how they were found."""
    rules: list[str]
    tolerances: dict[str, float]
    """By rule, in its unit."""
    not_compared: dict[str, str]
    """Field -> why it was not compared."""
    warnings: list[DataWarning]
    facts: list[Fact]
    """From which bytes: the lineage."""
    remarks: tuple[str, ...] = ()
    """What else its reader has to know, such as what was redacted."""


class ReconciliationReport(Struct, frozen=True, kw_only=True):
    """All that the document shows."""

    compared: Compared
    verdict: Verdict
    total: Tallied
    """Named "all"."""
    by_status: dict[str, int]
    by_category: list[Tallied]
    by_field: list[Tallied]
    par: ParLine
    largest: list[IssueLine]
    """Breaks in par that still stand, the largest first."""
    issues: list[IssueLine]
    """In the order in which they came, no more than were asked for."""
    left_out: int
    """Issues that are not among them."""


@dataclass(slots=True)
class _Row:
    """Counts of one kind of issues: those of each severity, then the unsettled ones."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(SEVERITIES) + 1))

    def tallied(self, name: str) -> Tallied:
        return Tallied(name=name, **dict(zip((*SEVERITIES, "unsettled"), self.counts, strict=True)))


class Tally:
    """What issues come to, one after the other: in memory stay those that are listed and the largest."""

    def __init__(self, *, listed_max: int = LISTED_MAX) -> None:
        self._listed_max = listed_max
        self._total = _Row()
        self._standing = [0] * len(SEVERITIES)
        self._rows: dict[tuple[str, str], _Row] = {}
        self._statuses = dict.fromkeys(STATUSES, 0)
        self._issues: list[IssueLine] = []
        self._count = self._breaks = 0
        self._net = self._gross = 0.0
        self._largest: list[tuple[float, int, IssueLine]] = []

    def add(self, issue: IssueLine) -> None:
        """Count an issue."""
        severity, stands = SEVERITIES.index(issue.severity), issue.status in UNSETTLED
        keys = ("category", issue.category), ("field", issue.field_name)
        for row in (self._total, *(self._rows.setdefault(key, _Row()) for key in keys)):
            row.counts[severity] += 1
            row.counts[-1] += stands
        self._standing[severity] += stands
        self._statuses[issue.status] += 1
        self._count += 1
        if len(self._issues) < self._listed_max:
            self._issues.append(_cut(issue))
        difference = issue.par_difference
        if difference and stands:
            self._breaks += 1
            self._net += difference
            self._gross += abs(difference)
            ranked = abs(difference), -self._count, issue  # of equal ones the first stays
            if len(self._largest) < LARGEST_MAX:
                heappush(self._largest, ranked)
            else:
                heappushpop(self._largest, ranked)

    def report(self, compared: Compared) -> ReconciliationReport:
        """The report on what was counted."""
        total = self._total.tallied("all")
        par = ParLine(breaks=self._breaks, net=self._net, gross=self._gross)
        return ReconciliationReport(
            compared=compared,
            verdict=_verdict(self._count, self._standing, compared.loans),
            total=total,
            by_status={name: count for name, count in self._statuses.items() if count},
            by_category=self._of("category"),
            by_field=self._of("field"),
            par=par,
            largest=[_cut(one) for _, _, one in sorted(self._largest, reverse=True)],
            issues=self._issues,
            left_out=self._count - len(self._issues),
        )

    def _of(self, kind: str) -> list[Tallied]:
        """The rows of a kind, those with the gravest issues first."""
        rows = [row.tallied(name) for (what, name), row in self._rows.items() if what == kind]
        return sorted(rows, key=lambda row: (*(-getattr(row, name) for name in SEVERITIES), row.name))


def _cut(issue: IssueLine) -> IssueLine:
    """The issue as a page can hold it."""
    long = dict.fromkeys(TEXTS, VALUE_CHARACTERS) | {"resolution_notes": NOTE_CHARACTERS}
    cut = {
        name: f"{text[: most - 3]}..."
        for name, most in long.items()
        if (text := getattr(issue, name)) is not None and len(text) > most
    }
    return replace(issue, **cut) if cut else issue


def _verdict(count: int, standing: Sequence[int], loans: dict[str, int]) -> Verdict:
    matched = loans["matched"]
    sides = (("unmatched_trustee", "on the tape"), ("unmatched_internal", "in the holdings"))
    alone = [f"{loans[name]:,} only {where}" for name, where in sides if loans[name]]
    sentence = "; ".join([f"{matched:,} of {loans['total_loans_compared']:,} loans are on both sides", *alone]) + "."
    if not matched:
        return Verdict("none", "No loan was found on both sides", sentence)
    if not any(standing):
        headline = "Every discrepancy is settled" if count else "Both sides agree"
        return Verdict("pass", headline, sentence)
    told = [f"{found:,} {name}" for name, found in zip(SEVERITIES, standing, strict=True) if found]
    is_grave = any(standing[:2])
    total = sum(standing)
    headline = f"{total:,} {'discrepancy stands' if total == 1 else 'discrepancies stand'}: {', '.join(told)}"
    return Verdict("fail" if is_grave else "warning", headline, sentence)


def reconciliation_pdf(report: ReconciliationReport) -> bytes:
    """The report as PDF/A-2b, tagged: the same bytes for the same report."""
    return typeset(_TEMPLATE, _shown(report), created=report.compared.generated_at).data


# ---- as the page has it ---------------------------------------------------------------------------------------------


def _shown(report: ReconciliationReport) -> dict[str, Any]:
    """The data of the template: counts and par with their thousands apart."""
    compared, par = report.compared, report.par
    told = msgspec.to_builtins(report, str_keys=True)
    tallies = {name: [_counts(one) for one in getattr(report, name)] for name in ("by_category", "by_field")}
    statuses = [(name, f"{count:,}") for name, count in report.by_status.items()]
    return {
        "report": told | tallies | {"total": _counts(report.total), "by_status": statuses, "issues": (), "largest": ()},
        "severities": SEVERITIES,
        "loans": {name: f"{count:,}" for name, count in compared.loans.items()},
        "stages": ", ".join(f"{STAGES.get(name, name)} {count:,}" for name, count in compared.stages.items() if count)
        or "nothing",
        "par": {"breaks": f"{par.breaks:,}", "net": f"{par.net:+,.2f}", "gross": f"{par.gross:,.2f}"},
        "issues": [_row(one) for one in report.issues],
        "largest": [_row(one) for one in report.largest],
        "listed": f"{len(report.issues):,}",
        "left_out": f"{report.left_out:,}",
        "tolerances": [
            f"{name} {compared.tolerances[name]:g} {_UNITS.get(RULES[name].unit or '', '')}".strip()
            for name in compared.rules
            if name in compared.tolerances
        ],
    }


def _counts(one: Tallied) -> dict[str, str]:
    figures = {name: f"{getattr(one, name):,}" for name in (*SEVERITIES, "total", "unsettled")}
    return {"name": one.name, **figures}


def _row(issue: IssueLine) -> dict[str, Any]:
    difference = issue.par_difference
    return {
        "severity": issue.severity,
        "loan": issue.primary_identifier or "",
        "borrower": "" if issue.borrower_name == issue.primary_identifier else issue.borrower_name or "",
        # Which side a loan is missing on says more than that one is.
        "field": (issue.issue_type if issue.category == "missing" else issue.field_name).replace("_", " "),
        "trustee": figure_text(issue.trustee_value, issue.category),
        "internal": figure_text(issue.internal_value, issue.category),
        "difference": "" if difference is None else f"{difference:+,.2f}".removesuffix(".00"),
        "status": issue.status.replace("_", " "),
        "notes": issue.resolution_notes or "",
        "reviewer": issue.reviewed_by or "",
    }


_UNITS: Final = {"currency": "", "points": "points", "bps": "bp", "days": "days"}
