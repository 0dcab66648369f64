"""Reports as spreadsheets.

Each part a sheet of rows, figures as numbers in full, words as words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal

from core.compliance.result import PublishedFigure
from core.files.write import Formats, FormattedValue, SheetPage, Writable, sheet_of, write_xlsx
from core.files.write.styles import StyleName
from core.grid.address import ROWS_MAX
from core.grid.sheet import Sheet
from core.reconciliation.rules import RULES, SEVERITIES
from core.report.content import ComplianceReport, LineageLine, Share
from core.report.doubts import doubt_text
from core.report.reconciliation import IssueLine, IssueTally, ReconciliationReport

ISSUES_A_SHEET: Final = 1_000_000
"""Rows that a sheet of issues holds; further ones stand on a further sheet."""

ROWS_AT_ONCE: Final = 10_000
"""Of those that come one by one, so many are in memory."""
TEXT_MAX: Final = 16_000
"""Characters of a cell: no more than a spreadsheet takes, whichever they are."""

Row = Sequence[Writable]
DOUBTFUL: Final = "doubtful"
"""Beside the status of a test that may be wrong."""

_COUNT: Final = "#,##0"
_AMOUNT: Final = "#,##0.00"
_FIGURE: Final = "#,##0.00####"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A sheet that is to be written."""

    name: str
    header: tuple[str, ...]
    """None: the first row is the title, and the first column its words."""
    rows: Iterable[Row]
    """A list, or what is taken row by row while the sheet is written."""
    formats: tuple[str | None, ...] = ()
    """Number formats by column; none is General, and the day for dates."""
    flags: Mapping[int, Mapping[StyleName, Sequence[str]]] = field(default_factory=dict)
    """Columns whose cells are good or bad by what they say."""
    widths: tuple[float, ...] = ()
    """Of rows that are not looked at before they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """How sheets are to look."""

    styled: bool = True
    """Headings, and what is good or bad, are seen at once."""
    frozen: bool = True
    """Headings stay in sight."""
    fitted: bool = True
    """Columns are as wide as what they hold."""


# ---- compliance -----------------------------------------------------------------------------------------------------


def compliance_tables(report: ComplianceReport) -> Iterator[ReportTable]:
    """Yield the sheets of a report on a run.

    What has no row has no sheet, but for the tests.
    """
    yield ReportTable("Report", (), _with_values(_head(report)))
    yield ReportTable("Tests", _TESTS, list(_tests(report)), _TEST_FORMATS, _TEST_FLAGS)
    changes = (
        []
        if report.changes is None
        else [
            (
                test.test_id,
                test.name,
                test.unit,
                test.before,
                test.after,
                test.change,
                test.status_before,
                test.status_after,
                _doubtful(test.doubtful_after),
                part.part if part else None,
                part.change if part else None,
                "; ".join(f"{loan.name} {loan.effect:+.6g}" for loan in part.loans) if part else None,
            )
            for test in report.changes.tests
            for part in test.parts or (None,)
        ]
    )
    parts = (
        ReportTable(
            "Doubts",
            ("Test", "Name", "Kind", "Doubt", "Places"),
            [
                (line.test_id, line.name, each.code, each.message, ", ".join(each.places))
                for category in report.categories
                for line in category.tests
                for each in line.doubt
            ],
        ),
        ReportTable(
            "Changes",
            _CHANGES,
            changes,
            (None, None, None, *(_FIGURE,) * 3, None, None, None, None, _FIGURE),
            {6: _STATUS, 7: _STATUS, 8: _STATUS},
        ),
        ReportTable(
            "Coverage steps",
            ("Ratio", "Step", "Amount", "Total"),
            [
                (each.title, step.label, step.amount, "total" if step.is_total else None)
                for each in report.coverage
                for step in each.ladder.steps
            ],
            (None, None, _AMOUNT),
        ),
        ReportTable(
            "Coverage",
            (
                "Ratio",
                "Class",
                "Numerator",
                "Denominator",
                "Ratio %",
                "Trigger %",
                "Cushion %",
                "Status",
                "To cure",
                "Doubtful",
            ),
            [
                (
                    each.title,
                    row.name,
                    row.numerator,
                    row.denominator,
                    row.ratio,
                    row.trigger,
                    row.cushion,
                    row.status,
                    row.cure_amount,
                    _doubtful(row.doubtful),
                )
                for each in report.coverage
                for row in each.classes
            ],
            (None, None, _AMOUNT, _AMOUNT, _FIGURE, _FIGURE, _FIGURE, None, _AMOUNT),
            {7: _STATUS, 9: _STATUS},
        ),
        ReportTable(
            "Notes",
            ("Class", "Original balance", "Current balance", "Share %", "Coupon %", "Spread bps", "Deferred interest"),
            [
                (
                    note.name,
                    note.original_balance,
                    note.current_balance,
                    note.share_pct,
                    note.coupon,
                    note.spread,
                    note.deferred_interest,
                )
                for note in report.notes
            ],
            (None, _AMOUNT, _AMOUNT, _FIGURE, _FIGURE, _FIGURE, _AMOUNT),
        ),
        ReportTable(
            "Concentrations",
            _SHARES,
            [
                row
                for concentration in report.concentrations
                for row in _shares(
                    concentration.title,
                    concentration.of,
                    (*concentration.rows, concentration.others, concentration.blank),
                )
            ],
            (None, None, None, _AMOUNT, _FIGURE),
        ),
        ReportTable(
            "Distributions",
            _SHARES,
            [
                row
                for distribution in report.distributions
                for row in _shares(distribution.title, distribution.of, distribution.rows)
            ],
            (None, None, None, _AMOUNT, _FIGURE),
        ),
        ReportTable(
            "History",
            ("Test", "Name", "Unit", "As of", "Value", "Threshold", "Status", "Doubtful"),
            [
                (
                    each.test_id,
                    each.name,
                    each.unit,
                    point.as_of,
                    point.value,
                    point.threshold,
                    point.status,
                    _doubtful(point.doubtful),
                )
                for each in report.history
                for point in each.points
            ],
            (*(None,) * 4, _FIGURE, _FIGURE),
            {6: _STATUS, 7: _STATUS},
        ),
        ReportTable(
            "Tie-out",
            (
                "Trustee's test",
                "Test",
                "Trustee",
                "Ours",
                "Difference",
                "Agrees",
                "Trigger",
                "Our status",
                "Trustee's status",
                "Explained by",
                "Reason",
                "Cell",
                "Differs in",
                "Trustee's numerator",
                "Our numerator",
                "Trustee's denominator",
                "Our denominator",
                "Nearest test",
            ),
            [
                (
                    each.trustee_name,
                    each.test_id,
                    each.trustee_value,
                    each.our_value,
                    each.difference,
                    each.agrees,
                    each.trigger,
                    each.our_status,
                    each.trustee_status,
                    ", ".join(each.explained_by),
                    each.reason,
                    each.cell,
                    each.differs,
                    each.trustee_numerator,
                    each.our_numerator,
                    each.trustee_denominator,
                    each.our_denominator,
                    each.nearest,
                )
                for each in report.tie_out
            ],
            (None, None, _FIGURE, _FIGURE, _FIGURE, None, _FIGURE, *(None,) * 6, *(_AMOUNT,) * 4),
            {7: _STATUS, 8: _STATUS},
        ),
        ReportTable(
            "Methods",
            ("Test", "Name", "Formula", "Numerator", "Denominator", "Coverage %", "Cells", "Limit from"),
            [
                (
                    method.test_id,
                    method.name,
                    method.formula,
                    method.numerator,
                    method.denominator,
                    method.coverage_pct,
                    ", ".join(method.cells),
                    method.limit_from,
                )
                for method in report.methods
            ],
            (None, None, None, _FIGURE, _FIGURE, _FIGURE),
        ),
        ReportTable(
            "Definition", ("Key", "Value", "Meaning"), [(rule.key, rule.value, rule.meaning) for rule in report.rules]
        ),
    )
    yield from (part for part in parts if part.rows)
    lineage = report.lineage
    of = (("Source", lineage.source), ("Rows", lineage.rows), ("Columns", lineage.columns), ("Sheets", lineage.sheets))
    yield ReportTable(
        "Lineage", ("Of", "What", "Value"), [(what, *_fact(fact)) for what, facts in of for fact in facts]
    )


_TESTS: Final = (
    "Category", "Test", "Name", "Status", "Doubtful", "Unit", "Value", "Trustee", "Difference", "Agrees", "Threshold",
    "Direction", "Cushion", "Cushion %", "Warning", "Limit set by", "Low", "High", "Trustee's status",
    "Trustee's limit", "Trustee's cell", "Message", "Doubts",
)  # fmt: skip
_TEST_FORMATS: Final = tuple(
    _FIGURE
    if name
    in (
        "Value",
        "Trustee",
        "Difference",
        "Threshold",
        "Cushion",
        "Cushion %",
        "Warning",
        "Low",
        "High",
        "Trustee's limit",
    )
    else None
    for name in _TESTS
)
_CHANGES: Final = (
    "Test", "Name", "Unit", "Before", "After", "Change", "Status before", "Status after", "Doubtful", "Part",
    "Change of the part", "Loans",
)  # fmt: skip
_SHARES: Final = ("Title", "Of", "Name", "Par", "Share %")


def _head(report: ComplianceReport) -> Iterator[Row]:
    summary = report.summary
    yield from (
        ("Report", report.title),
        ("Suite", report.suite),
        ("As of", report.as_of),
        ("As of, said by", report.as_of_source),
        ("Currency", report.currency),
        ("Verdict", report.verdict.headline),
        ("", report.verdict.sentence),
        ("Tests", summary.total),
        ("Passed", summary.passed),
        ("Failed", summary.failed),
        ("Warnings", summary.warnings),
        ("Skipped", summary.skipped),
        ("Of these doubtful", summary.doubtful),
    )
    if report.read_as:
        yield "Read as", report.read_as
    for key_figure in report.key_figures:
        yield (
            key_figure.label,
            FormattedValue(key_figure.value, _COUNT if key_figure.unit in ("amount", "number") else _FIGURE),
            " ".join(filter(None, (key_figure.unit, f"({key_figure.beside})" if key_figure.beside else ""))),
        )
    yield from map(_fact, report.deal_days)
    if report.changes is not None:
        yield "Changes since", report.changes.since
        yield "Tests that did not move", report.changes.unmoved
    yield _clock("Generated", report.generated_at)
    yield from (("Note", remark) for remark in report.origin.remarks)
    yield from (("Warning", warning.message) for warning in report.warnings)
    yield from ((each.title, note) for each in report.coverage for note in each.ladder.notes)


def _tests(report: ComplianceReport) -> Iterator[Row]:
    sources = {method.test_id: method.source for method in report.methods}
    for category in report.categories:
        for each in category.tests:
            low, high = each.masked or (None, None)
            value, difference, agrees, status, trigger, place = _published_cells(each.published)
            yield (
                category.name,
                each.test_id,
                each.name,
                each.status,
                _doubtful(each.doubtful),
                each.unit,
                each.value,
                value,
                difference,
                agrees,
                each.threshold,
                each.direction,
                each.cushion,
                each.cushion_pct,
                each.warning,
                sources.get(each.test_id),
                low,
                high,
                status,
                trigger,
                place,
                each.message,
                "\n".join(map(doubt_text, each.doubt)) or None,
            )
    for test in report.skipped:
        low, high = test.masked or (None, None)
        yield (
            "",
            test.test_id,
            test.name,
            "skipped",
            None,
            test.unit,
            test.value,
            *(None,) * 9,
            low,
            high,
            *(None,) * 3,
            test.reason,
            None,
        )


def _published_cells(published_figure: PublishedFigure | None) -> tuple[Writable, ...]:
    """Return what the file prints for a test.

    Figure, difference, whether both agree, status, limit and place.
    """
    if published_figure is None:
        return (None,) * 6
    return (
        published_figure.value,
        published_figure.difference,
        published_figure.agrees,
        published_figure.status,
        published_figure.trigger,
        published_figure.place,
    )


def _doubtful(is_doubtful: bool) -> str | None:
    return DOUBTFUL if is_doubtful else None


def _shares(title: str, of: str, rows: Iterable[Share | None]) -> Iterator[Row]:
    return ((title, of, row.name, row.par, row.share_pct) for row in rows if row is not None)


def _with_values(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of labels and values that have one."""
    return [row for row in rows if row[1] is not None]


def _fact(fact: LineageLine) -> Row:
    return fact.label, fact.value


# ---- reconciliation -------------------------------------------------------------------------------------------------


def reconciliation_tables(report: ReconciliationReport, issues: Iterable[IssueLine]) -> Iterator[ReportTable]:
    """Yield the sheets of a report on a reconciliation.

    Args:
        issues: all of them, in the order in which they are to stand; taken once, while the last sheets are written.
    """
    yield ReportTable("Report", (), _with_values(_comparison(report)))
    yield ReportTable(
        "Summary",
        ("By", "Of", *SEVERITIES, "all", "stand"),
        [
            *(_counts("category", each) for each in report.by_category),
            *(_counts("field", each) for each in report.by_field),
            _counts("", report.total),
        ],
    )
    yield ReportTable("Largest breaks", _ISSUES, [_issue(each) for each in report.largest], _ISSUE_FORMATS, _GRAVE)
    more = iter(issues)
    for number in range(1, max(1, -(-report.total.total // ISSUES_A_SHEET)) + 1):
        name = "Issues" if number == 1 else f"Issues {number}"
        rows = map(_issue, islice(more, ISSUES_A_SHEET))
        yield ReportTable(name, _ISSUES, rows, _ISSUE_FORMATS, _GRAVE, _ISSUE_WIDTHS)


_ISSUES: Final = (
    "Severity", "Category", "Rule", "Field", "Issue", "Loan", "Identified by", "Borrower", "Trustee", "Internal",
    "Difference in par", "Status", "Notes", "Reviewed by", "Reviewed at (UTC)",
)  # fmt: skip
_ISSUE_FORMATS: Final = (*(None,) * 10, _AMOUNT)
_ISSUE_WIDTHS: Final = (9, 14, 14, 16, 20, 14, 14, 32, 18, 18, 16, 14, 40, 24, 18)
_Words = Mapping[StyleName, Sequence[str]]
_GRAVE: Final[Mapping[int, _Words]] = {0: {"bad": ("critical", "error"), "warning": ("warning",)}}
_STATUS: Final[_Words] = {"good": ("pass",), "warning": ("warning", DOUBTFUL), "bad": ("fail",)}
_TEST_FLAGS: Final = {_TESTS.index(name): _STATUS for name in ("Status", "Doubtful", "Trustee's status")}


def _comparison(report: ReconciliationReport) -> Iterator[Row]:
    compared = report.compared
    yield from (
        ("Tape", compared.title),
        ("Trustee", compared.trustee),
        ("Tape as of", compared.tape_day),
        ("Workbook", compared.book),
        ("Workbook as of", compared.book_day),
        ("Compared at", None) if compared.compared_at is None else _clock("Compared", compared.compared_at),
        _clock("Generated", compared.generated_at),
        ("Verdict", report.verdict.headline),
        ("", report.verdict.sentence),
        ("Breaks in par that stand", report.par.breaks),
        ("Their par, without signs", FormattedValue(report.par.gross, _AMOUNT)),
        ("Trustee's par less ours in them", FormattedValue(report.par.net, _AMOUNT)),
    )
    yield from ((name.replace("_", " ").capitalize(), count) for name, count in compared.loans.items())
    yield from ((f"Review: {name.replace('_', ' ')}", count) for name, count in report.by_status.items())
    yield from ((f"Tolerance of {name} ({RULES[name].unit})", value) for name, value in compared.tolerances.items())
    yield from ((f"Not compared: {name}", why) for name, why in compared.not_compared.items())
    yield from map(_fact, compared.facts)
    yield from (("Note", remark) for remark in compared.remarks)
    yield from (("Warning", warning.message) for warning in compared.warnings)


def _counts(by: str, tallied: IssueTally) -> Row:
    return by, tallied.name, *(getattr(tallied, name) for name in SEVERITIES), tallied.total, tallied.unsettled


def _issue(issue_line: IssueLine) -> Row:
    return (
        issue_line.severity,
        issue_line.category,
        issue_line.rule,
        issue_line.field_name,
        issue_line.issue_type,
        issue_line.primary_identifier,
        issue_line.identifier_type,
        issue_line.borrower_name,
        issue_line.trustee_value,
        issue_line.internal_value,
        issue_line.par_difference,
        issue_line.status,
        issue_line.resolution_notes,
        issue_line.reviewed_by,
        None if issue_line.reviewed_at is None else _in_utc(issue_line.reviewed_at),
    )


def _clock(what: str, when: datetime) -> Row:
    """Return a moment as a cell holds it, without its zone, which its name tells."""
    return f"{what} at ({when:%Z})", when.replace(tzinfo=None)


def _in_utc(when: datetime) -> datetime:
    return when.replace(tzinfo=None) - (when.utcoffset() or when - when)


# ---- the file -------------------------------------------------------------------------------------------------------


def write_tables(path: Path, tables: Iterable[ReportTable], looks: Looks) -> None:
    """Write sheets to an .xlsx file.

    Raises:
        OSError: the file cannot be written.
    """
    formats = Formats()
    write_xlsx(path, [_page(table, formats, looks) for table in tables], number_formats=formats)


def _page(table: ReportTable, formats: Formats, looks: Looks) -> SheetPage:
    """Return the page of a table; an iterator of rows is read when written."""
    header = [table.header] if table.header else []
    first, later = (table.rows, ()) if isinstance(table.rows, list) else ([], table.rows)
    columns = table.formats

    def more() -> Iterator[Sheet]:
        rows, done = iter(later), len(header)
        while chunk := list(islice(rows, ROWS_AT_ONCE)):
            yield sheet_of(map(_cut_texts, chunk), formats, name=table.name, columns=columns, first_row=done)
            done += len(chunk)

    last = ROWS_MAX - 1 if later else len(header) + len(first) - 1
    widths: Literal["auto"] | Sequence[float | None] | None = table.widths or "auto"
    return SheetPage(
        name=table.name,
        sheet=sheet_of(map(_cut_texts, chain(header, first)), formats, name=table.name, columns=columns),
        header_row=0 if header else None,
        styled=looks.styled,
        frozen=(1, 0) if looks.frozen and header else (0, 0),
        widths=widths if looks.fitted else None,
        fills=() if header else [((0, 0, 0, 1), "title"), ((1, 0, last, 0), "note")],
        flags=[((1, at, last, at), words) for at, words in table.flags.items() if last >= 1],
        more=more(),
    )


def _cut_texts(row: Row) -> Row:
    """Return a row whose texts cells can hold."""
    return [each[:TEXT_MAX] if isinstance(each, str) else each for each in row]
