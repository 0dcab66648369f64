"""The content of a reconciliation report.

What its issues come to, gathered in one pass over them, and its PDF.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from heapq import heappush, heappushpop
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from core.charts.charts import bar
from core.labels import label
from core.portfolio.model.notes import DataWarning
from core.reconciliation.rules import RULES, SEVERITIES, Severity
from core.reconciliation.written import STAGES, figure_text
from core.report.content import LineageLine, ReportVerdict
from core.report.figures import day, figure, moment, with_sign
from core.typeset.pdf import typeset_remarked
from core.typeset.texts import cut, page_text, whole_text
from core.words import agreed, counted

LISTED_MAX: Final = 1_500
"""Issues that a PDF lists one by one: about fifty pages. A spreadsheet has all of them."""
LARGEST_MAX: Final = 25
VALUE_CHARACTERS: Final = 120
"""Of a name or a value on the page; what a stranger's cell holds beyond that is cut."""
NOTE_CHARACTERS: Final = 400

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

TEMPLATE: Final = Path(__file__).with_name("reconciliation.typ")


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


class IssueTally(Struct, frozen=True, kw_only=True):
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


class ComparedSides(Struct, frozen=True, kw_only=True):
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
    facts: list[LineageLine]
    """From which bytes: the lineage."""
    remarks: tuple[str, ...] = ()
    """What else its reader has to know, such as what was redacted."""


class ReconciliationReport(Struct, frozen=True, kw_only=True):
    """All that the document shows."""

    compared: ComparedSides
    verdict: ReportVerdict
    total: IssueTally
    """Named "all"."""
    by_status: dict[str, int]
    by_category: list[IssueTally]
    by_field: list[IssueTally]
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

    def tallied(self, name: str) -> IssueTally:
        return IssueTally(name=name, **dict(zip((*SEVERITIES, "unsettled"), self.counts, strict=True)))


class Tally:
    """What issues come to, one after the other.

    In memory stay those that are listed and the largest.
    """

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

    def report(self, compared: ComparedSides) -> ReconciliationReport:
        """Return the report on what was counted."""
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
            largest=[_cut(each) for _, _, each in sorted(self._largest, reverse=True)],
            issues=self._issues,
            left_out=self._count - len(self._issues),
        )

    def _of(self, kind: str) -> list[IssueTally]:
        """Return the rows of a kind, those with the gravest issues first."""
        rows = [row.tallied(name) for (what, name), row in self._rows.items() if what == kind]
        return sorted(rows, key=lambda row: (*(-getattr(row, name) for name in SEVERITIES), row.name))


def _cut(issue: IssueLine) -> IssueLine:
    """Return the issue as a page can hold it."""
    long = dict.fromkeys(TEXTS, VALUE_CHARACTERS) | {"resolution_notes": NOTE_CHARACTERS}
    texts = ((name, getattr(issue, name), most) for name, most in long.items())
    shorter = {name: cut(text, most) for name, text, most in texts if text and len(text) > most}
    return replace(issue, **shorter) if shorter else issue


def _verdict(count: int, standing: Sequence[int], loans: dict[str, int]) -> ReportVerdict:
    matched = loans["matched"]
    sides = (("unmatched_trustee", "on the tape"), ("unmatched_internal", "in the holdings"))
    alone = [f"{loans[name]:,} only {where}" for name, where in sides if loans[name]]
    both = f"{matched:,} of {counted(loans['total_loans_compared'], 'loan')} {agreed(matched, 'is/are')} on both sides"
    sentence = "; ".join([both, *alone]) + "."
    if not matched:
        return ReportVerdict("none", "No loan was found on both sides", sentence)
    if not any(standing):
        headline = "Every discrepancy is settled" if count else "Both sides agree"
        return ReportVerdict("pass", headline, sentence)
    texts = [f"{number:,} {name}" for name, number in zip(SEVERITIES, standing, strict=True) if number]
    is_grave = any(standing[:2])
    total = sum(standing)
    headline = f"{total:,} {'discrepancy stands' if total == 1 else 'discrepancies stand'}: {', '.join(texts)}"
    return ReportVerdict("fail" if is_grave else "warning", headline, sentence)


def reconciliation_pdf(report: ReconciliationReport) -> bytes:
    """Return the report as PDF/A-2b, tagged.

    The same bytes for the same report, whose `generated_at` is in it.
    """
    return typeset_remarked(TEMPLATE, partial(_view, report), created=report.compared.generated_at)


# ---- as the page has it ---------------------------------------------------------------------------------------------


def _view(report: ReconciliationReport, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the data of the template: every figure and text as it is shown."""
    compared, par = report.compared, report.par
    paired = [f"{STAGES.get(name, name)} {count:,}" for name, count in compared.stages.items() if count]
    most = max((abs(each.par_difference or 0.0) for each in report.largest), default=0.0)
    listed = f"{len(report.issues):,}"
    method = {
        "Paired by": ", ".join(paired) or "nothing",
        "Rules": ", ".join(map(_words, compared.rules)),
        "Tolerances": ", ".join(_tolerance(name, compared) for name in compared.rules if name in compared.tolerances),
        **{f"Not compared: {_words(name)}": why for name, why in compared.not_compared.items()},
        "Severity": SEVERITY_WORDS,
    }
    return {
        "title": page_text(compared.title),
        "book": page_text(compared.book),
        "days": f"Tape: {day(compared.tape_day)}; workbook: {day(compared.book_day)}",
        "generated_at": moment(compared.generated_at),
        "outcome": report.verdict.outcome,
        "headline": report.verdict.headline,
        "sentence": report.verdict.sentence,
        "notices": [
            *map(page_text, (*compared.remarks, *remarks)),
            *(whole_text(warning.message) for warning in compared.warnings),
        ],
        "key_figures": [
            {"label": what, "value": value}
            for what, value in (
                ("Trustee", _words(compared.trustee) or "not named"),
                ("Compared", "now" if compared.compared_at is None else moment(compared.compared_at)),
                ("Breaks in par that stand", f"{par.breaks:,}"),
                ("Their par, without signs", figure(par.gross)),
                ("Trustee's par less ours", with_sign(par.net)),
            )
        ],
        "severities": SEVERITIES,
        "total": _counts(report.total) if report.total.total else [None],
        "by_category": [{"name": _words(each.name), "counts": _counts(each)} for each in report.by_category],
        "by_field": [{"name": _words(each.name), "counts": _counts(each)} for each in report.by_field],
        "reviews": ", ".join(f"{count:,} {_words(name)}" for name, count in report.by_status.items()),
        "largest": [_row(each) | {"chart": _bar(each, most)} for each in report.largest],
        "more_breaks": f"The largest {len(report.largest)} of {par.breaks:,}."
        if par.breaks > len(report.largest)
        else "",
        "issues": [
            {"severity": name, "count": f"{getattr(report.total, name):,}", "rows": rows}
            for name in SEVERITIES
            if (rows := [_row(issue) for issue in report.issues if issue.severity == name])
        ],
        "left_out": f"The first {listed} are listed; {report.left_out:,} more stand in the spreadsheet of this report."
        if report.left_out
        else "",
        "method": [{"label": page_text(what), "value": page_text(value)} for what, value in method.items() if value],
        "facts": [{"label": page_text(fact.label), "value": page_text(fact.value)} for fact in compared.facts],
    }


def _row(issue: IssueLine) -> dict[str, Any]:
    difference = issue.par_difference
    # Which side a loan is missing on says more than that one is.
    field_name = issue.issue_type if issue.category == "missing" else issue.field_name
    return {
        "severity": issue.severity,
        "loan": page_text(issue.primary_identifier or ""),
        "borrower": "" if issue.borrower_name == issue.primary_identifier else page_text(issue.borrower_name or ""),
        "field": _words(field_name),
        "trustee": page_text(figure_text(issue.trustee_value, issue.category)),
        "internal": page_text(figure_text(issue.internal_value, issue.category)),
        "difference": "" if difference is None else with_sign(difference).removesuffix(".00"),
        "status": _words(issue.status),
        "notes": page_text(issue.resolution_notes or ""),
        "reviewer": page_text(issue.reviewed_by or ""),
    }


def _bar(issue: IssueLine, most: float) -> dict[str, Any]:
    size = abs(issue.par_difference or 0.0)
    return bar(size, most, f"{size:,.0f} of {most:,.0f}", width=104.0)._asdict()


def _counts(tallied: IssueTally) -> list[str]:
    return [f"{getattr(tallied, name):,}" for name in (*SEVERITIES, "total", "unsettled")]


def _tolerance(name: str, compared: ComparedSides) -> str:
    return f"{_words(name)} {compared.tolerances[name]:g} {_UNITS.get(RULES[name].unit or '', '')}".strip()


def _words(name: str) -> str:
    return label(name).replace("_", " ")


SEVERITY_WORDS: Final = (
    "critical: par differs by more than 5 %, or a loan above 1,000,000 is missing on one side; error: par differs by 1 "
    "to 5 %, or a loan of 100,000 to 1,000,000 is missing; warning: another difference beyond its tolerance; info: one "
    "of form, or a smaller one of par"
)
_UNITS: Final = {"points": "points", "bps": "bp", "days": "days"}
