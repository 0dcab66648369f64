"""The deal's labelled figures and dates on any page: "Principal Cash | 5.00"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse, scaling, text_cells
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.string_pool import key
from core.portfolio.model.fields import DEAL_LABELS, DEAL_SHEETS
from core.portfolio.pages.report.days import DateOrder
from core.portfolio.pages.report.lines import earlier_columns
from core.portfolio.pages.report.page import NAN, PageCell, ReportPage
from core.portfolio.sheets.headings import wording
from core.portfolio.sheets.note_tables import is_named
from core.remembered import remembered

VALUE_CELLS_MAX: Final = 4
"""Filled cells right of a label on a sheet named for the deal in which its figure is looked for: a currency or an
account number may precede it. On other pages it is the next one."""

MEMORY_MAX: Final = 16_384
"""Texts of which is remembered whether they are labels."""

_CURRENCY: Final = re.compile(r" (?:usd|us|eur|gbp|chf|cad|aud|jpy)$")

_LABELS: Final = {
    key(alias): (deal_label.target, preference)
    for deal_label in DEAL_LABELS
    for preference, alias in reversed(
        [*enumerate((*deal_label.aliases, deal_label.target))]
    )  # of equal keys the first alias counts
}
TYPES: Final = {deal_label.target: deal_label.type for deal_label in DEAL_LABELS}

AMOUNTS: Final = frozenset(
    ("principal_cash", "interest_collected", "interest_receivable", "senior_fees", "excess_spread")
)
"""Fields in currency: a label may say that they are in thousands or millions."""

_ONLY_IF_NAMED: Final = frozenset(
    ("principal proceeds", "interest proceeds", "interest received", "scheduled interest", "expected interest",
     "interest collections", "issue date")
)  # fmt: skip
"""Labels that on other pages than the deal's mean something else: rows of a waterfall, columns of a payment list."""

_ANY_PAYMENT: Final = frozenset(
    ("payment date", "distribution date", "zahlungstermin", "date de paiement", "fecha de pago", "data di pagamento")
)
"""Labels of any payment's day, a past one's as well."""

PAYMENT_DAYS_MAX: Final = 200
"""Days after the report's in which its next payment is."""

RATES: Final[dict[str, Callable[[Numbers], NDArray[np.float64]]]] = {
    "base_rate": scaling.small_rate_percent,
    "reference_coupon": scaling.rate_percent,
}
"""Fields in percent, and what reads a figure as percent."""

RATE_MAX: Final = 100.0
"""Percent above which a figure is no rate: "LIBOR | 3M" has a tenor there."""

CURRENCIES: Final = {
    "usd": "USD", "us dollar": "USD", "us dollars": "USD", "dollar": "USD", "eur": "EUR", "euro": "EUR",
    "euros": "EUR", "gbp": "GBP", "sterling": "GBP", "pound sterling": "GBP", "chf": "CHF", "swiss franc": "CHF",
    "cad": "CAD", "aud": "AUD", "jpy": "JPY", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN",
}  # fmt: skip
"""What currencies are called, as `key` gives it -> ISO 4217."""


_STATED_IN: Final = re.compile(
    r"\s*\W?(?:all )?(?:amounts?|figures|balances|values)(?: are)?"
    r"(?: (?:stated|shown|expressed|reported|presented|denominated))? in (?P<rest>.+)",
    re.IGNORECASE,
)
STATED_LENGTH_MAX: Final = 80
"""Characters of a line that says in what the amounts of its page are."""

STATED_PREFERENCE: Final = 9
"""Preference of such a line: labels of the currency go first."""


class DealFigure(NamedTuple):
    """What a label's value says."""

    rank: tuple[bool, int, int]
    """Not on a sheet named for the deal, then the label's preference, then the order of pages: the least counts."""
    value: float | str
    place: str
    is_ambiguous: bool = False
    """A date that is another one with day and month the other way round."""
    others: tuple[str, ...] = ()
    """Other amounts of its row, with their places, where no heading says which one is of the day."""


_NEXT: Final = tuple(
    preference for label, (target, preference) in _LABELS.items() if target == "next_payment" and label in _ANY_PAYMENT
)
"""Their preferences."""


def coming_payments(figures: Sequence[DealFigure], as_of: float | None) -> list[DealFigure]:
    """Return payment days; those by a bare label only where they come next."""
    return [
        figure
        for figure in figures
        if not figure.rank[0]
        or figure.rank[1] not in _NEXT
        or (as_of is not None and as_of < float(figure.value) <= as_of + PAYMENT_DAYS_MAX)
    ]


def find_figures(pages: Sequence[ReportPage], days: DateOrder) -> dict[str, list[DealFigure]]:
    """Return field of `Deal` -> what the labels for it say, the preferred one first."""
    figures_by_target: dict[str, list[DealFigure]] = {}
    for order, page in enumerate(pages):
        named = is_named(page.sheet, DEAL_SHEETS)
        for target, preference, value, place, ambiguous, others in _on(page, days, named=named):
            figures_by_target.setdefault(target, []).append(
                DealFigure((not named, preference, order), value, place, ambiguous, others)
            )
    return {target: sorted(figures, key=lambda figure: figure.rank) for target, figures in figures_by_target.items()}


@remembered(MEMORY_MAX)
def _label(text: str) -> tuple[str, int, str] | None:
    """Return (target, preference, words) of a label."""
    words = key(text)
    for fromkey in dict.fromkeys((words, wording.without_unit(words), _CURRENCY.sub("", words))):
        if fromkey in _LABELS:
            return (*_LABELS[fromkey], fromkey)
    return None


def _on(
    page: ReportPage, days: DateOrder, *, named: bool
) -> Iterator[tuple[str, int, float | str, str, bool, tuple[str, ...]]]:
    labels: dict[tuple[int, int], tuple[str, int]] = {}
    inside: dict[tuple[int, int], str] = {}
    scales: dict[tuple[int, int], float] = {}
    for row, column, text in page.texts():
        name, colon, rest = text.partition(":")
        label = _label(name)
        if label is None and (currency := _stated_currency(text)) is not None:
            yield "currency", STATED_PREFERENCE, currency, page.place(row, column), False, ()
        if label is None or (not named and not _may_stand(page, row, column, label)):
            continue
        labels[row, column] = label[:2]
        own = wording.magnitude(name)
        scales[row, column] = own if own != 1.0 else page.scale
        if colon and rest.strip():
            inside[row, column] = rest.strip()
    for (row, column), (target, preference) in labels.items():
        if (row, column) in inside:
            places, others = [(column, _alone(inside[row, column]))], list[str]()
        else:
            beside = list(_beside(page, row, column, labels, cells_max=VALUE_CELLS_MAX if named else 1))
            places, others = _of_its_day(page, row, column, beside, target, named=named)
        for at, cell in places:
            value, ambiguous = _value(target, cell, days, scales[row, column])
            if value == value:
                yield target, preference, value, page.place(row, at), ambiguous, tuple(others)
                break


def _stated_currency(text: str) -> str | None:
    """Return the only currency of a line such as "All amounts in EUR"; None for none."""
    match = _STATED_IN.match(text[:STATED_LENGTH_MAX])
    rest = f" {key(match['rest'])} " if match is not None else ""
    named = {code for words, code in CURRENCIES.items() if f" {words} " in rest}
    return named.pop() if len(named) == 1 else None


def _of_its_day(
    page: ReportPage, row: int, column: int, places: list[tuple[int, PageCell]], target: str, *, named: bool
) -> tuple[list[tuple[int, PageCell]], list[str]]:
    """Return what is right of a label and of the report's day, and other amounts."""
    if target in AMOUNTS:
        return _of_the_day(page, row, column, places, named=named)
    return _of_today(page, row, places) if TYPES[target] == "date" else places, []


def _of_today(page: ReportPage, row: int, places: list[tuple[int, PageCell]]) -> list[tuple[int, PageCell]]:
    """Return the cells right of a label, less those of an earlier month."""
    earlier = earlier_columns(page, [row], are_days=True)
    if earlier and places:
        last = places[0][0] + len(earlier)
        places = [(at, cell) for at, cell in page.row(row).items() if places[0][0] <= at <= last]
    return [(at, cell) for at, cell in places if at not in earlier]


def _of_the_day(
    page: ReportPage, row: int, column: int, places: list[tuple[int, PageCell]], *, named: bool
) -> tuple[list[tuple[int, PageCell]], list[str]]:
    """Return the amount of the day right of a label, and the rest of its row.

    The rest where no heading says which one is of the day.
    """
    if named:
        earlier = earlier_columns(page, [row])
        return [(at, cell) for at, cell in places if at not in earlier], []
    if not places or not places[0][1].has_number:
        return places, []
    beside = ((at, cell) for at, cell in page.row(row).items() if at > column)
    amounts = list(takewhile(lambda entry: entry[1].has_number, beside))
    earlier = earlier_columns(page, [row])
    own = [(at, cell) for at, cell in amounts if at not in earlier]
    if earlier:
        return own[:1], []
    first = own[0][1].number
    return places, [f"{cell.number:,.2f} in {page.place(row, at)}" for at, cell in own[1:] if cell.number != first]


def _may_stand(page: ReportPage, row: int, column: int, label: tuple[str, int, str]) -> bool:
    """Return whether a label may be one: not inside of another table's row."""
    target, _, words = label
    if words in _ONLY_IF_NAMED:
        return False
    first = column == min(page.row(row))
    return first or target not in ("base_rate", "currency", "payment_days", "reference_coupon")


def _alone(text: str) -> PageCell:
    """Return a cell of its own for what follows a label's colon."""
    written, pool = text_cells.pool_of([text])
    values, marks = _parse.numbers(pool.offsets, pool.data, written, False)
    return PageCell(text, float(values[0]), bool(marks[0] & _parse.PERCENT))


def _beside(
    page: ReportPage, row: int, column: int, labels: dict[tuple[int, int], tuple[str, int]], *, cells_max: int
) -> Iterator[tuple[int, PageCell]]:
    """Yield the filled cells right of a label, up to the next label's own."""
    count = 0
    for at, cell in page.row(row).items():
        if at <= column:
            continue
        if cell.is_blank or (count and (row, at) in labels) or count == cells_max:
            return
        count += 1
        yield at, cell


def _value(target: str, cell: PageCell, days: DateOrder, scale: float) -> tuple[float | str, bool]:
    """Return what a cell says of a field, NaN for nothing, and if it is ambiguous.

    `scale`: what the label says amounts are to be multiplied by.
    """
    kind = TYPES[target]
    if kind == "date":
        return days.of(cell)
    if kind == "string":
        return CURRENCIES.get(key(cell.text), NAN), False
    if not cell.has_number:
        return NAN, False
    numbers = Numbers(np.array([cell.number]), np.array([_parse.PERCENT], np.uint8) if cell.is_percent else None)
    if target in RATES:
        rate = float(RATES[target](numbers)[0])
        return rate if abs(rate) <= RATE_MAX else NAN, False
    return cell.number * scale if target in AMOUNTS else cell.number, False
