"""The reconcile command: every discrepancy of a trustee's tape and holdings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from cyclopts import Parameter

from service.commands.limits import limited
from service.commands.output import Grid, Line, Output, OutputColumn, OutputPage, counted, emit, json_with_rows
from service.commands.progress import busy
from service.commands.reading import assignments, read_loans, words
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from rich.text import Text

    from core.portfolio import Portfolio
    from core.reconciliation import Reconciliation
    from core.reconciliation.issues import Issue

EXIT_DIFFERENT: Final = 1
SHOWN_DEFAULT: Final = 20
SHOWN_MAX: Final = 10_000
"""Issues that are printed one by one; --json has them all."""

SWAPPED: Final = "the first file has a sheet of notes and the second has none: is the tape really the first one?"

_CHUNK_ISSUES: Final = 20_000
_SERIOUS: Final = ("critical", "error")
_STYLES: Final = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "dim"}
_WIDTHS: Final = {"Field": len("rating_agency_a"), "Borrower": 14}
"""The least widths of columns of words, so that these are broken between words on a narrow terminal too."""

Counts = Counter[tuple[str, str]]
"""Issues by (severity, category)."""

# Heavy imports (NumPy, core) stand inside the functions, so that `cushion --help` answers at once.


def reconcile(
    tape: Path,
    holdings: Path,
    /,
    *,
    rules: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    trustee: Literal["trustee_a", "trustee_b", "trustee_c"] | None = None,
    tolerance: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    limit: int = SHOWN_DEFAULT,
    output: Output | None = None,
) -> int:
    """Compare a trustee's tape with a workbook of holdings and print where they differ.

    The exit code is 0 without issues of severity critical or error, and 1 with such. It is 2 when a file cannot be read
    or has no loans. The JSON has tape, holdings, summary, stages, ambiguous, warnings, not_compared, by_severity,
    by_category and issues; it and CSV have every issue.

    Parameters
    ----------
    tape:
        The trustee's tape: .xlsx, .xlsm, .xls, .xlsb, .ods, .pdf, .csv, a .zip of these, or a folder.
    holdings:
        The workbook to compare it with.
    rules:
        What to compare: par_value, price, rating, spread, maturity_date, base_rate, all_in_rate, industry,
        missing_loan; all of them if not given. Several are separated by commas or spaces.
    trustee:
        Prefer the columns of this trustee on the tape.
    tolerance:
        The largest difference that a rule permits, as rule=number. Units: par_value in currency, price in points,
        spread and all_in_rate in basis points, maturity_date in days.
    limit:
        How many issues to print, the most severe ones first; 0 to 10,000.
    """
    if not 0 <= limit <= SHOWN_MAX:
        raise Refused(f"--limit must be between 0 and {SHOWN_MAX:,}, not {limit:,}")
    sides = compared(tape, holdings, words(rules) if rules else None, _tolerances(assignments(tolerance)), trustee)
    result = sides.result
    counts = _counted(result)
    page = OutputPage(
        title=f"{tape.name} against {holdings.name}",
        blocks=list(_blocks(result, counts, limit)),
        rows=Grid(columns=_csv_columns(result), items=_issues(result)),
        document=_document(tape, holdings, result, counts),
        warnings=result.warnings,
    )
    emit(page, output or Output())
    return EXIT_DIFFERENT if any(severity in _SERIOUS for severity, _ in counts) else 0


class Sides(NamedTuple):
    """A comparison with what was compared."""

    result: Reconciliation
    tape: Portfolio
    book: Portfolio


def compared(
    tape: Path, holdings: Path, rules: list[str] | None, tolerances: dict[str, float], trustee: str | None
) -> Sides:
    """Read a tape and a workbook, and compare their loans.

    Raises:
        Refused: one cannot be read, or they cannot be compared as asked.
    """
    with busy(f"Reading {tape.name}"):
        from core.portfolio.mapping.profiles.trustees import TRUSTEES
        from core.portfolio.model.notes import DataWarning, of_side
        from core.reconciliation import ReconcileError
        from core.reconciliation import reconcile as compare
        from core.reconciliation.rules import chosen, tolerances_of
        from core.reconciliation.tape import warnings_of

        try:  # before minutes go into reading
            chosen(rules)
            tolerances_of(tolerances)
        except ReconcileError as error:
            raise Refused(str(error)) from error
        theirs = read_loans(tape, mapping=None if trustee is None else TRUSTEES[trustee], stands_in=False)
    with busy(f"Reading {holdings.name}"):
        ours = read_loans(holdings, stands_in=False)
    with busy("Matching"), limited(f"{tape} and {holdings}"):
        try:
            result = compare(theirs, ours, rules, tolerances=tolerances)
        except ReconcileError as error:
            raise Refused(str(error)) from error
    warnings = [*of_side("tape", warnings_of(theirs)), *of_side("holdings", warnings_of(ours))]
    if theirs.tranches is not None and ours.tranches is None:
        # A manager's workbook tells of the notes; a tape rarely does, and never alone.
        warnings.append(DataWarning("sides_swapped", SWAPPED))
    return Sides(replace(result, warnings=(*result.warnings, *warnings)), theirs, ours)


def _tolerances(options: list[str]) -> dict[str, float]:
    """Numbers by rule, from "rule=number"."""
    from core.amounts import read_amount

    read: dict[str, float] = {}
    for option in options:
        rule, sign, number = option.partition("=")
        if rule in read:
            raise Refused(f"--tolerance names {rule} twice")
        try:
            read[rule] = read_amount(number) if sign else float("nan")
        except ValueError:
            read[rule] = float("nan")
        if read[rule] != read[rule]:
            raise Refused(f"--tolerance takes rule=number, such as spread=10, not {option!r}")
    return read


def _counted(result: Reconciliation) -> Counts:
    """Issues by severity and category."""
    counts: Counts = Counter()
    for chunk in _chunks(result):
        counts.update(zip(chunk["severity"], chunk["category"], strict=True))
    return counts


def _chunks(result: Reconciliation) -> Iterator[dict[str, list[str]]]:
    for start in range(0, len(result.issues), _CHUNK_ISSUES):
        stop = start + _CHUNK_ISSUES
        yield result.issues.chunk(start, stop) | result.issues.page_lines(start, stop)


# ---- one JSON document ---------------------------------------------------------------------------------------------


def _document(tape: Path, holdings: Path, result: Reconciliation, counts: Counts) -> Callable[[], Iterator[str]]:
    """The issues, which may be millions, as they are decoded."""

    def by(place: int) -> dict[str, int]:
        totals: Counter[str] = Counter()
        for key, count in counts.items():
            totals[key[place]] += count
        return dict(totals.most_common())

    head = {
        "tape": str(tape),
        "holdings": str(holdings),
        "summary": result.summary,
        "stages": result.stages,
        "ambiguous": result.ambiguous,
        "warnings": result.warnings,
        "not_compared": result.not_compared,
        "by_severity": by(0),
        "by_category": by(1),
    }
    return json_with_rows(head, "issues", _issues(result))


def _issues(result: Reconciliation) -> Iterator[dict[str, str]]:
    for chunk in _chunks(result):
        for values in zip(*chunk.values(), strict=True):
            yield dict(zip(chunk, values, strict=True))


_CSV_COLUMNS: Final = (
    "severity", "primary_identifier", "borrower_name", "issue_type", "category", "field_name", "trustee_value",
    "internal_value", "rule", "cusip", "identifier_type", "loan_key",
)  # fmt: skip


def _csv_columns(result: Reconciliation) -> list[OutputColumn]:
    """The columns of an issue, with page and line of sides that have pages."""
    keys = (*_CSV_COLUMNS, *result.issues.page_lines(0, 0))
    return [OutputColumn(key, value=itemgetter(key)) for key in keys]


# ---- tables --------------------------------------------------------------------------------------------------------


def _blocks(result: Reconciliation, counts: Counts, limit: int) -> Iterator[Line | Grid | Text]:
    yield from map(Line, _matching(result))
    for field, reason in result.not_compared.items():
        yield Line(f"{field}: {reason}", "not compared", "dim")
    yield Line()
    if counts:
        yield _count_grid(counts)
        yield Line()
    if counts and limit:
        yield from _shown_issues(result, limit)
    yield _last_line(counts)


def _matching(result: Reconciliation) -> Iterator[str]:
    from core.reconciliation.written import STAGES

    summary = result.summary
    yield (
        f"{counted(summary.total_loans_compared, 'loan')}: {summary.matched:,} matched, "
        f"{summary.unmatched_trustee:,} only on the tape, {summary.unmatched_internal:,} only in the holdings"
    )
    stages = [f"{STAGES.get(stage, stage)} {count:,}" for stage, count in result.stages.items() if count]
    yield "matched by " + (", ".join(stages) or "nothing")
    shared = [f"{STAGES.get(stage, stage)} {count:,}" for stage, count in result.ambiguous.items() if count]
    if shared:
        yield "keys that several loans share: " + ", ".join(shared)


def _count_grid(counts: Counts) -> Grid:
    """Issues by category, a column for each severity."""
    from core.reconciliation.rules import SEVERITIES

    def of(severity: str) -> Callable[[str], str]:
        return lambda category: f"{counts[severity, category]:,}" if counts[severity, category] else "-"

    def total(category: str) -> str:
        return f"{sum(counts[severity, category] for severity in SEVERITIES):,}"

    columns = [
        OutputColumn(heading="Issues", shown=str),
        *(OutputColumn(heading=severity, shown=of(severity), right=True) for severity in SEVERITIES),
        OutputColumn(heading="total", shown=total, right=True),
    ]
    return Grid(columns=columns, items=sorted({category for _, category in counts}))


def _shown_issues(result: Reconciliation, limit: int) -> Iterator[Line | Grid]:
    from rich.text import Text

    from core.reconciliation.written import figure_text

    def words(heading: str, shown: Callable[[Issue], str]) -> OutputColumn:
        return OutputColumn(
            heading=heading, folds=True, least=_WIDTHS.get(heading, 0), shown=lambda issue: shown(issue) or "-"
        )

    columns = [
        OutputColumn(heading="Severity", shown=lambda issue: Text(issue.severity, style=_STYLES[issue.severity])),
        words("Loan", lambda issue: issue.primary_identifier),
        words("Borrower", lambda issue: issue.borrower_name),
        # Which side a loan is missing on says more than that one is.
        words("Field", lambda issue: (
            issue.issue_type.replace("_", " ") if issue.category == "missing" else issue.field_name
        )),
        words("Trustee", lambda issue: figure_text(issue.trustee_value, issue.category)),
        words("Internal", lambda issue: figure_text(issue.internal_value, issue.category)),
    ]  # fmt: skip
    shown = result.issues[:limit]
    yield Grid(columns=[*columns, *_page_columns(result, shown)], items=shown)
    more = len(result.issues) - len(shown)
    if more:
        yield Line(f"... and {more:,} more (--limit shows more of them, --json and --format csv all)")
    yield Line()


def _page_columns(result: Reconciliation, shown: list[Issue]) -> Iterator[OutputColumn]:
    """Where the loan of an issue stands on a side that has pages."""
    places = result.issues.page_lines(0, len(shown))
    for side, heading in (("trustee", "Tape's page"), ("internal", "Holdings' page")):
        if f"{side}_page" in places:
            pairs = zip(places[f"{side}_page"], places[f"{side}_line"], strict=True)
            texts = [f"{page}, line {line}" if page else "-" for page, line in pairs]
            by_issue = dict(zip(map(id, shown), texts, strict=True))
            yield OutputColumn(heading=heading, shown=lambda issue, by_issue=by_issue: by_issue[id(issue)])  # type: ignore[misc]


def _last_line(counts: Counts) -> Text:
    from rich.text import Text

    from core.reconciliation.rules import SEVERITIES

    total = sum(counts.values())
    line = Text(counted(total, "issue"))
    for at, severity in enumerate(SEVERITIES):
        count = sum(issue_count for (level, _), issue_count in counts.items() if level == severity)
        line.append(": " if at == 0 else ", ").append(f"{count:,} {severity}", style=_STYLES[severity] if count else "")
    return line
