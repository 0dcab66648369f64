"""All that a report says beside its loans, from the pages of a workbook: notes, accounts, dates, published tests."""

from __future__ import annotations

from collections.abc import Mapping as Dict
from dataclasses import dataclass, field
from typing import Any, Final

from core.grid.sheet import Workbook
from core.portfolio.deal import read_tranches
from core.portfolio.notes import DataWarning
from core.portfolio.portfolio import Deal, Published, Tranches
from core.portfolio.report import days as dates
from core.portfolio.report.accounts import find_accounts
from core.portfolio.report.figures import Figure, find_figures
from core.portfolio.report.notes import find_notes
from core.portfolio.report.page import PAGES_MAX, Page
from core.portfolio.report.tests import find_tests, with_triggers

TAIL_ROWS: Final = 60
"""Rows at the end of a page of loans in which a footer is looked for."""

CASH_TOLERANCE: Final = 0.01
"""Currency units by which two pages may differ in an account's balance."""


@dataclass(frozen=True)
class Report:
    """What the pages beside the loans say."""

    tranches: Tranches | None
    deal: Deal
    published: tuple[Published, ...]
    cells: dict[str, str]
    """What was read -> where it stands, as in `Portfolio.source_cells`."""
    warnings: list[DataWarning] = field(default_factory=list)


def read_report(book: Workbook, loans: Dict[int, int]) -> Report:
    """Read the pages of a workbook.

    Args:
        loans: index of each sheet with loans -> the first row of its header; of these only what stands above, and the
            last rows, are looked at.
    """
    pages = [
        Page(book, sheet, _spans(sheet.row_count, loans.get(sheet.index)))
        for sheet in book.sheets[:PAGES_MAX]
    ]  # fmt: skip
    days = dates.Days(sheet.text for sheet in book.sheets[:PAGES_MAX])
    days.learn(text for page in pages for _, _, text in page.texts())
    figures = find_figures(pages, days)
    warnings: list[DataWarning] = []
    best = {target: found[0] for target, found in figures.items()}
    said: dict[str, Any] = {target: figure.value for target, figure in best.items()}
    cells = {f"deal.{target}": figure.place for target, figure in best.items()}
    warnings += [
        dates.ambiguous("the date", figure.place, float(figure.value))
        for figure in best.values()
        if figure.is_ambiguous
    ]  # fmt: skip
    _add_as_of(pages, days, best.get("as_of"), said, cells, warnings)
    _add_cash(pages, best, said, cells, warnings)
    tests = find_tests(pages)
    tranches, note_cells = read_tranches(book)
    if tranches is None:
        tranches, note_cells, note_warnings = find_notes(pages)
        warnings += note_warnings
    if tranches is not None:
        tranches = with_triggers(tranches, tests)
    reinvestment = next((test.published.trigger for test in tests if test.subject == "reinvestment"), None)
    return Report(
        tranches,
        Deal(**said, as_of_source="file" if "as_of" in said else None, reinvestment_oc_trigger=reinvestment),
        tuple(test.published for test in tests),
        note_cells | cells,
        warnings,
    )


def _spans(row_count: int, header_row: int | None) -> list[tuple[int, int]]:
    """Which rows of a page are looked at."""
    if header_row is None:
        return [(0, row_count)]
    return [(0, header_row), (max(header_row + 1, row_count - TAIL_ROWS), row_count)]


def _add_as_of(
    pages: list[Page],
    days: dates.Days,
    label: Figure | None,
    said: dict[str, Any],
    cells: dict[str, str],
    warnings: list[DataWarning],
) -> None:
    """The day of a sheet named for the deal, else of the lines that say one, else of a label on another page."""
    if label is not None and not label.rank[0]:
        return
    line, told = dates.chosen(dates.as_of_lines(pages, days))
    if line is None or (label is not None and line.tier > label.rank[1]):
        return
    said["as_of"], cells["deal.as_of"] = line.day, line.place
    warnings += told
    if line.is_ambiguous:
        warnings.append(dates.ambiguous(line.text, line.place, line.day))


def _add_cash(
    pages: list[Page],
    best: dict[str, Figure],
    said: dict[str, Any],
    cells: dict[str, str],
    warnings: list[DataWarning],
) -> None:
    """Cash from a page of accounts, unless a sheet named for the deal has the label that says just this."""
    accounts = find_accounts(pages, said.get("currency"))
    for target, amount, part in (
        ("principal_cash", accounts.principal, "principal"),
        ("interest_collected", accounts.interest, "interest"),
    ):
        if amount is None:
            continue
        label, places = best.get(target), accounts.cells.get(part, [])
        elsewhere = label is not None and not label.place.startswith(
            f"'{accounts.sheet.replace(chr(39), chr(39) * 2)}'!"
        )
        if label is not None and elsewhere and abs(float(label.value) - amount) > CASH_TOLERANCE:
            warnings.append(
                DataWarning(
                    "cash_differs",
                    f"{part} cash is {label.value:,.2f} in {label.place} and {amount:,.2f} on the accounts "
                    f"({', '.join(places[:3])}): the {'first' if _is_plain(label) else 'second'} is used",
                )
            )
        if not _is_plain(label):
            said[target], cells[f"deal.{target}"] = amount, ", ".join(places)
    if accounts.currency is not None:
        said.setdefault("currency", accounts.currency)
    warnings += accounts.warnings


def _is_plain(label: Figure | None) -> bool:
    """Whether a label on a sheet named for the deal says the cash itself, and no account's balance."""
    return label is not None and label.rank[:2] == (False, 0)
