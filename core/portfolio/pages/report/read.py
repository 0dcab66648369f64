"""All that a report says beside its loans: notes, accounts, dates, figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Dict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from core.grid.places import pages_of
from core.grid.sheet import Sheet, Workbook
from core.grid.sheet_name import in_quotes
from core.portfolio.cells import string_pool
from core.portfolio.model.facts import Fact, Facts, Identity
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import Deal, Tranches
from core.portfolio.pages.report import days as dates
from core.portfolio.pages.report import notes as note_tables
from core.portfolio.pages.report.accounts import Accounts, find_accounts
from core.portfolio.pages.report.blocks import Blocks
from core.portfolio.pages.report.calculations import Calculations, read_calculations
from core.portfolio.pages.report.denominators import named_by_denominator
from core.portfolio.pages.report.figures import AMOUNTS, TYPES, DealFigure, coming_payments, find_figures
from core.portfolio.pages.report.kinds import read_blocks
from core.portfolio.pages.report.page import PAGES_MAX, ReportPage
from core.portfolio.pages.report.pairs import split_pairs
from core.portfolio.pages.report.tests import facts_of
from core.portfolio.pages.report.triggers import reference_coupon, reinvestment_trigger, with_triggers
from core.portfolio.pages.report.twice import merge_facts
from core.portfolio.pages.tranches import read_tranches
from core.portfolio.sheets.located import LocatedBook
from core.values import day_of

LIST_ROWS_MAX: Final = 400
"""Rows of a sheet with loans that is looked at as a whole: it may be a list of defaulted or CCC loans."""

TAIL_ROWS: Final = 60
"""Rows at the end of a page of loans in which a footer is looked for."""

CASH_TOLERANCE: Final = 0.01
"""Currency units by which two pages may differ in an account's balance."""


@dataclass(frozen=True)
class PageReport:
    """What the pages beside the loans say."""

    tranches: Tranches | None
    deal: Deal
    facts: Facts
    cells: dict[str, str]
    """What was read -> where it stands, as in `Portfolio.source_cells`."""
    warnings: list[DataWarning] = field(default_factory=list)
    is_report_day: bool = False
    """Whether the day is by its words the one on which the report was made: a report date."""


def read_report(located: LocatedBook, end: int | None = None) -> PageReport:
    """Read the pages of a workbook.

    Of a sheet with loans only what stands above its header, and what stands below the loans, are looked at.

    Args:
        end: the first row below the loans; of other sheets with loans the last rows count.
    """
    book, loans = located.book, located.tops
    ends = {} if located.loans is None or end is None else {located.loans.sheet.index: end}
    pages = [
        ReportPage(book, sheet, _spans(sheet.row_count, loans.get(sheet.index), ends.get(sheet.index)))
        for sheet in book.sheets[:PAGES_MAX]
    ]
    budget = _Budget()
    read = _by_rank(pages, located.old, budget)
    lists = _lists(book, loans, ends, budget)
    days = dates.DateOrder(sheet.text for sheet in book.sheets[:PAGES_MAX])
    days.learn(text for page in pages for _, _, text in page.texts())
    if _is_european(page.sheet for page in pages):
        days.likely = "day first"
    deal_fields: dict[str, Any] = {}
    cells: dict[str, str] = {}
    warnings: list[DataWarning] = []
    tests: list[Fact] = []
    steps: list[list[Fact]] = []
    note_facts: list[Fact] = []
    tranches, note_cells = None, dict[str, str]()
    printed: list[Fact] = []
    identities: list[Identity] = []
    for why, some in read.items():
        things: list[str] = []
        if tranches is None:
            tranches, note_cells, new_warnings = _notes(book, some)
            warnings += new_warnings
            things += [f"notes ({next(iter(note_cells.values()), '')})"] if tranches is not None else []
        count = len(tests)
        own = named_by_denominator((fact for page in some for fact in facts_of(page.page, page.blocks)), tranches)
        tests = merge_facts(own, tests)
        steps.append(tests)
        sheets = {part.page.sheet.index for part in some}
        own_lists = [part for part in lists if part.page.sheet.index in sheets]
        new, places, new_warnings, calculations = _read_labels(
            some, own_lists, days, deal_fields.get("currency"), tests
        )
        if why == _PRIOR:
            new.pop("as_of", None)
        added = [target for target in new if target not in deal_fields]
        things += [f"{target} ({places.get(f'deal.{target}', 'an account')})" for target in added]
        deal_fields |= {target: new[target] for target in added}
        cells |= {at: places[at] for target in added if (at := f"deal.{target}") in places}
        warnings += new_warnings if added or not why else []
        things += [
            f"test {test.label!r} ({test.place})" for test in tests[count:] if test.kind == "test" and not test.is_prior
        ]
        if not why:
            note_facts += note_tables.facts_of(page.blocks for page in some)
            printed, identities = list(calculations.facts), list(calculations.identities)
        if why and things:
            text = f"no other sheet says {', '.join(things)}: read from {why}"
            fields = [f"deal.{target}" for target in added] + ["tranches"] * (
                tranches is not None and bool(new_warnings)
            )
            warnings.append(DataWarning("page_stands_in", text, fields=tuple(fields)))
    for known in steps:
        # Where pages that come first have triggers, those of later ones do not count.
        tranches = None if tranches is None else with_triggers(tranches, known)
    warnings += budget.warnings()
    _add_reference_coupon(tests, deal_fields, cells, warnings)
    return PageReport(
        tranches,
        Deal(
            **deal_fields,
            as_of_source="file" if "as_of" in deal_fields else None,
            reinvestment_oc_trigger=reinvestment_trigger(tests),
        ),
        Facts(all=(*tests, *note_facts, *printed), identities=tuple(identities)),
        note_cells | cells,
        warnings,
        dates.is_report_day(pages, cells.get("deal.as_of", "")),
    )


def _add_reference_coupon(
    tests: list[Fact], fields: dict[str, Any], cells: dict[str, str], warnings: list[DataWarning]
) -> None:
    """Take the coupon test's limit as the reference coupon.

    Only where nothing else says it and the spread test adds the excess over it.
    """
    limit = None if "reference_coupon" in fields else reference_coupon(tests)
    if limit is None:
        return
    fields["reference_coupon"], cells["deal.reference_coupon"] = limit.trigger, limit.place
    message = (
        f"the spread test adds an excess coupon: it is counted over {limit.trigger:,.2f} %, the limit of "
        f"{limit.label!r} ({limit.place})"
    )
    warnings.append(DataWarning("reference_coupon_by_test", message))


def _is_european(sheets: Iterable[Sheet]) -> bool:
    """Return whether texts of sheets name euro or sterling, and no dollar."""
    named: set[str] = set()
    for sheet in sheets:
        sizes = np.diff(sheet.text.offsets)
        short = np.flatnonzero(sizes <= CURRENCY_BYTES_MAX)[:CURRENCY_TEXTS_MAX]
        text = "\n".join(string_pool.decode(sheet.text, short)).upper()
        named |= {word for word, whole in _CURRENCIES.items() if word in text and whole.search(text)}
    return bool(named & {"EUR", "EURO", "€", "GBP", "£", "EURIBOR", "SONIA"}) and not named & {"USD", "$", "SOFR"}


_CURRENCIES: Final = {
    **{
        word: re.compile(rf"{word}(?<![A-Z]{word})(?![A-Z])")  # the word first: it is searched for as a whole
        for word in ("EUR", "EURO", "EURIBOR", "GBP", "SONIA", "USD", "SOFR")
    },
    **{sign: re.compile(re.escape(sign)) for sign in "€£$"},
}
"""Words and signs of currencies, each as a whole."""

CURRENCY_BYTES_MAX: Final = 60
"""UTF-8 bytes of a text in which a currency is looked for."""

CURRENCY_TEXTS_MAX: Final = 2_000
"""Such texts of a sheet that are looked at."""

CELLS_CUT_MAX: Final = 200_000
"""Cells of all pages of a file that are cut into tables and lines, those of the pages that count first."""

CHARACTERS_CUT_MAX: Final = 250_000
"""Characters of the texts of these pages: a report of 50 pages has 100,000."""

_HIDDEN: Final = "what is hidden"
_PRIOR: Final = "what is of another day by its name"


class _Read(NamedTuple):
    """A page with the tables and lines into which it is cut."""

    page: ReportPage
    blocks: Blocks


def _by_rank(pages: list[ReportPage], old: frozenset[int], budget: _Budget) -> dict[str, list[_Read]]:
    """Return why pages are less trusted -> these; "" for shown ones of the day."""
    ranked: dict[str, list[ReportPage]] = {"": [], _HIDDEN: [], _PRIOR: []}
    for page in pages:
        is_old, is_shown = page.sheet.index in old, page.sheet.state == "visible"
        ranked[_PRIOR if is_old else "" if is_shown else _HIDDEN].append(page)
    return {why: [budget.read(page) for page in some] for why, some in ranked.items()}


class _Budget:
    """What may still be cut into tables, and pages that were cut short."""

    def __init__(self) -> None:
        self.cells, self.characters = CELLS_CUT_MAX, CHARACTERS_CUT_MAX
        self.left_out: list[str] = []

    def read(self, page: ReportPage) -> _Read:
        """Return a page cut; without tables and lines where the budget is used up."""
        self.cells -= page.cell_count
        self.characters -= page.text_length
        is_within = self.cells >= 0 and self.characters >= 0
        if not is_within:
            self.left_out.append(f"{page.sheet.name!r}")
        elif page.end is not None:
            self.left_out.append(
                f"{page.sheet.name!r} from row {page.end + 1} on{pages_of(page.sheet, page.end, page.end)}"
            )
        if not is_within:
            return _Read(page, Blocks([], []))
        page = split_pairs(page)
        return _Read(page, read_blocks(page))

    def warnings(self) -> list[DataWarning]:
        """Warn of what was left out."""
        if not self.left_out:
            return []
        text = f"too much text for figures beside the loans, not read: {', '.join(self.left_out)}"
        return [DataWarning("pages_too_long", text)]


def _lists(book: Workbook, loans: Dict[int, int], ends: Dict[int, int], budget: _Budget) -> list[_Read]:
    """Return short sheets with loans that are not the portfolio's.

    What they list are facts, and nothing else of them is.
    """
    sheets = [book.sheets[at] for at in loans if at not in ends and book.sheets[at].row_count <= LIST_ROWS_MAX]
    pages = [ReportPage(book, sheet, [(0, sheet.row_count)]) for sheet in sheets[:PAGES_MAX]]
    return [budget.read(page) for page in pages]


def _read_labels(
    read: list[_Read], lists: list[_Read], days: dates.DateOrder, currency: str | None, tests: list[Fact]
) -> tuple[dict[str, Any], dict[str, str], list[DataWarning], Calculations]:
    """Read fields of `Deal` from labels, lines, accounts and calculations.

    With the cells of each, warnings, and the calculations themselves.
    """
    pages = [part.page for part in read]
    figures = find_figures(pages, days)
    warnings: list[DataWarning] = []
    best = {target: figure[0] for target, figure in figures.items()}
    fields: dict[str, Any] = {target: figure.value for target, figure in best.items()}
    cells = {f"deal.{target}": figure.place for target, figure in best.items()}
    _add_as_of(pages, days, best.get("as_of"), fields, cells, warnings)
    _leave_past_payments(figures, best, fields, cells)
    warnings += [
        dates.ambiguous("the date", figure.place, float(figure.value))
        for target, figure in best.items()
        if figure.is_ambiguous and fields[target] == figure.value and not _has(warnings, "ambiguous_date", figure.place)
    ]
    accounts = find_accounts((part.blocks for part in read), fields.get("currency") or currency)
    calculations = read_calculations(read, lists, tests, accounts)
    _add_cash(accounts, best, fields, cells, warnings, calculations.proved)
    _add_calculations(calculations, best, fields, cells)
    for target, ranked in figures.items():
        if target in calculations.proved:
            continue
        is_used = cells.get(f"deal.{target}") == ranked[0].place
        if ranked[0].others and is_used and not _is_on(accounts.sheet, ranked[0].place):
            text = f"{target} is {_show_value(target, ranked[0].value)} in {ranked[0].place}, "
            text += f"the first amount of its row, and {' and '.join(ranked[0].others)}: the first is used"
            warnings.append(DataWarning("labels_differ", text, fields=(f"deal.{target}",)))
        by_accounts = accounts.sheet if target in ("principal_cash", "interest_collected") else ""
        others = (figure for figure in ranked[1:] if not by_accounts or not _is_on(by_accounts, figure.place))
        rival = next((figure for figure in others if _differ(target, ranked[0], figure)), None)
        if rival is not None and cells[f"deal.{target}"] == ranked[0].place:
            texts = [f"{_show_value(target, figure.value)} in {figure.place}" for figure in (ranked[0], rival)]
            text = f"{target} is {' and '.join(texts)}: the first is used"
            warnings.append(DataWarning("labels_differ", text, fields=(f"deal.{target}",)))
    return fields, cells, warnings, calculations


def _leave_past_payments(
    figures: dict[str, list[DealFigure]], best: dict[str, DealFigure], fields: dict[str, Any], cells: dict[str, str]
) -> None:
    """Leave out payments that a bare label names and that are not after the day."""
    coming = coming_payments(figures.get("next_payment", ()), fields.get("as_of"))
    if coming:
        figures["next_payment"], best["next_payment"] = coming, coming[0]
        fields["next_payment"], cells["deal.next_payment"] = coming[0].value, coming[0].place
        return
    for entries in (figures, best, fields):
        entries.pop("next_payment", None)
    cells.pop("deal.next_payment", None)


def _has(warnings: list[DataWarning], code: str, place: str) -> bool:
    return any(warning.code == code and f" {place} " in warning.message for warning in warnings)


def _differ(target: str, first: DealFigure, other_figure: DealFigure) -> bool:
    """Return whether a label contradicts the first: any amount, else same words."""
    if target in AMOUNTS:
        return abs(float(first.value) - float(other_figure.value)) > CASH_TOLERANCE
    return first.rank[1] == other_figure.rank[1] and first.value != other_figure.value


def _show_value(target: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    return (
        f"{day_of(value)}" if TYPES[target] == "date" else f"{value:,.6g}" if target not in AMOUNTS else f"{value:,.2f}"
    )


def _notes(book: Workbook, read: list[_Read]) -> tuple[Tranches | None, dict[str, str], list[DataWarning]]:
    """Return the notes of the sheet that is named for them, else of any page's table."""
    tranches, cells = read_tranches(book, (part.page.sheet for part in read))
    blocks = [part.blocks for part in read]
    if tranches is None:
        return note_tables.find_notes(blocks)
    return *note_tables.fill_tranches(tranches, cells, blocks), []


def _spans(row_count: int, header_row: int | None, end: int | None) -> list[tuple[int, int]]:
    """Return which rows of a page are looked at."""
    if header_row is None:
        return [(0, row_count)]
    return [(0, header_row), (max(header_row + 1, row_count - TAIL_ROWS) if end is None else end, row_count)]


def _add_as_of(
    pages: list[ReportPage],
    days: dates.DateOrder,
    label: DealFigure | None,
    fields: dict[str, Any],
    cells: dict[str, str],
    warnings: list[DataWarning],
) -> None:
    """Add the day of a sheet of the deal, else of a line, else of a label."""
    if label is not None and not label.rank[0]:
        return
    line, new_warnings = dates.choose_day(dates.as_of_lines(pages, days))
    if line is None or (label is not None and (line.tier > label.rank[1] or line.tier == dates.OWN_WORDS)):
        return
    fields["as_of"], cells["deal.as_of"] = line.day, line.place
    warnings += new_warnings
    if line.is_ambiguous:
        warnings.append(dates.ambiguous(line.text, line.place, line.day))


def _add_calculations(
    calculations: Calculations, best: dict[str, DealFigure], fields: dict[str, Any], cells: dict[str, str]
) -> None:
    """Add what the file's own calculations say.

    Before labels where a sum proves it, and elsewhere before all but a label that says just this on a sheet named for
    the deal.
    """
    for target, value in calculations.deal.items():
        if target not in calculations.proved and _is_plain(best.get(target)):
            continue
        fields[target] = value
        cells.pop(f"deal.{target}", None)
        if target in calculations.cells:
            cells[f"deal.{target}"] = calculations.cells[target]
    available = calculations.deal.get("interest_available")
    if available is not None and abs(fields.get("interest_collected", 0.0) - float(available)) <= CASH_TOLERANCE:
        # The label has the numerator of the whole period, and not what was collected of it.
        fields.pop("interest_collected", None)
        cells.pop("deal.interest_collected", None)


def _add_cash(
    accounts: Accounts,
    best: dict[str, DealFigure],
    fields: dict[str, Any],
    cells: dict[str, str],
    warnings: list[DataWarning],
    proved: AbstractSet[str],
) -> None:
    """Add cash of the accounts, unless the deal's sheet has just this label."""
    for target, amount, part in (
        ("principal_cash", accounts.principal, "principal"),
        ("interest_collected", accounts.interest, "interest"),
    ):
        if amount is None:
            continue
        label, places = best.get(target), accounts.cells.get(part, [])
        elsewhere = label is not None and not _is_on(accounts.sheet, label.place)
        is_open = elsewhere and target not in proved
        if accounts.open.get(part) and target not in proved and not _is_plain(label):
            text = (
                f"{part} cash is {amount:,.2f} by the first of several columns ({', '.join(places)}), "
                f"{accounts.open[part]} by others"
            )
            warnings.append(DataWarning("cash_differs", text, fields=(f"deal.{target}",)))
        if label is not None and is_open and abs(float(label.value) - amount) > CASH_TOLERANCE:
            warnings.append(
                DataWarning(
                    "cash_differs",
                    f"{part} cash is {label.value:,.2f} in {label.place} and {amount:,.2f} on the accounts "
                    f"({', '.join(places)}): the {'first' if _is_plain(label) else 'second'} is used",
                    fields=(f"deal.{target}",),
                )
            )
        if not _is_plain(label):
            fields[target], cells[f"deal.{target}"] = amount, ", ".join(places)
    if accounts.currency is not None:
        fields.setdefault("currency", accounts.currency)
    warnings += accounts.warnings


def _is_on(sheet: str, place: str) -> bool:
    return place.startswith(f"{in_quotes(sheet)}!")


def _is_plain(label: DealFigure | None) -> bool:
    """Return whether a label of the deal's sheet is cash, and no account's balance."""
    return label is not None and label.rank[:2] == (False, 0)
