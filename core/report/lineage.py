"""How the figures came about.

Each test's formula and cells, the deal's rules, the file and what was read of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from core.compliance.result import TestResult
from core.definition import Definition, to_document
from core.definition.keys import ListKey, TableKey, rows_of
from core.labels import LABELS, label
from core.portfolio import Portfolio
from core.portfolio.model.notes import Notes, PageNote
from core.report.content import LineageLine, Method, Origin, ReportLineage, RuleLine


def method_of(test_result: TestResult) -> Method:
    assert test_result.details is not None
    breakdown = test_result.details.breakdown
    return Method(
        test_id=test_result.test_id,
        name=test_result.test_name,
        formula=test_result.details.formula,
        numerator=breakdown.get("numerator"),
        denominator=breakdown.get("denominator"),
        coverage_pct=breakdown.get("coverage_pct"),
        cells=test_result.details.cell_refs,
        source=test_result.threshold_source,
        limit_from=breakdown.get("threshold_from"),
    )


def rules_of(definition: Definition) -> Iterator[RuleLine]:
    """Yield what the definition says otherwise than the standard.

    Its tests stand in the report's tables.
    """
    document = {name: value for name, value in to_document(definition).items() if name not in ("tests", "name")}
    yield from _rules_of("", document, Definition)


def _rules_of(path: str, document: Mapping[str, Any], of: type[Any]) -> Iterator[RuleLine]:
    rows = {row.name.rstrip("_"): row for row in rows_of(of)}
    for name, value in document.items():
        kind, place = rows[name].metadata["kind"], f"{path}.{name}".strip(".")
        meaning = rows[name].metadata["meaning"].replace("`", "")
        if isinstance(kind, TableKey) and isinstance(value, Mapping):
            yield from _rules_of(place, value, kind.of)
        elif isinstance(kind, ListKey) and isinstance(kind.kind, TableKey):
            for at, element in enumerate(value):
                yield RuleLine(f"{_words(place)} {at + 1}", _plain(element), meaning)
        else:
            yield RuleLine(_words(place), _plain(value), meaning)


def _words(key: str) -> str:
    """Return a key as a reader reads it: "ratings: unrated is ccc"."""
    return key.replace(".", ": ").replace("_", " ")


def _plain(value: Any) -> str:
    """Return a value of the document as a reader writes it."""
    if isinstance(value, Mapping):
        others = "; ".join(f"{_words(name)} {_plain(each)}" for name, each in value.items() if name != "name")
        return f"{value['name']}: {others}" if "name" in value else others
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


def lineage_of(
    portfolio: Portfolio | None, origin: Origin, definition: Definition | None, labels: Mapping[str, str] = LABELS
) -> ReportLineage:
    size = origin.file_size_bytes
    version = origin.definition_version
    named = None if definition is None else definition.name or "without a name"
    source = (
        ("File", origin.file_name),
        ("SHA-256", origin.file_sha256),
        ("Size", None if size is None else f"{size:,} bytes"),
        ("Uploaded", _moment(origin.uploaded_at)),
        ("Workbook", origin.workbook_id),
        ("Run", origin.run_id),
        ("Run at", _moment(origin.run_at)),
        (
            "Sheet of the loans",
            portfolio.sheet_name if portfolio is not None and portfolio.notes.holdings_found else None,
        ),
        ("Mapping", origin.mapping),
        ("Definition", named if version is None else f"{named}, version {version}"),
    )
    if portfolio is None:
        return ReportLineage(
            source=[LineageLine(what, value) for what, value in source if value], rows=[], columns=[], sheets=[]
        )
    return ReportLineage(
        source=[LineageLine(what, value) for what, value in source if value],
        rows=list(_row_facts(portfolio, portfolio.notes)),
        columns=[
            LineageLine(
                label(name, labels).replace("_", " "),
                f"{header} ({cells})" if (cells := portfolio.source_cells.get(name)) else header,
            )
            for name, header in portfolio.notes.matched_columns.items()
        ],
        sheets=[
            *map(_page_fact, portfolio.notes.pages),
            *(LineageLine(name, "not read") for name in portfolio.notes.sheets_not_read),
        ],
    )


def _page_fact(page: PageNote) -> LineageLine:
    place = f"{page.sheet}: {page.title}" if page.title else page.sheet
    return LineageLine(place, f"{page.part}: {page.reason}" if page.reason else page.part)


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%d %H:%M %Z}".strip()


_ROW_COUNTS: Final = (
    ("lots", "Rows that were lots of a loan above them"),
    ("ignored_blank_par", "Rows without a par, left out"),
    ("section_rows", "Headings of groups"),
    ("total_rows", "Totals"),
    ("subtotal_rows", "Subtotals"),
    ("cash_rows", "Cash"),
    ("repeated_headers", "Repeated headers"),
    ("unidentified_rows", "Rows that name no loan, left out"),
    ("no_collateral_rows", "Rows that are no collateral by their heading, left out"),
    ("rows_after_end", "Rows below the end of the table, left out"),
    ("error_cells", "Cells with an error, taken as blank"),
    ("negative_par_rows", "Loans with a negative par"),
    ("conflicting_lots", "Loans whose lots contradict each other"),
    ("zero_prices", "Prices of 0, taken as blank"),
)


def _row_facts(portfolio: Portfolio, notes: Notes) -> Iterator[LineageLine]:
    yield LineageLine("Loans", f"{portfolio.row_count:,}")
    for name, words in _ROW_COUNTS:
        if count := getattr(notes, name):
            yield LineageLine(words, f"{count:,}")
    if unreadable := sum(notes.unreadable_cells.values()):
        yield LineageLine("Cells that are no value of their field, taken as blank", f"{unreadable:,}")
