"""Read the sheets of the notes and of scheduled principal payments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Dict
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.places import range_place
from core.grid.sheet import Sheet, Workbook
from core.portfolio.cells import number_cells, scaling, string_pool, text_cells
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.string_pool import Cells, StringPool
from core.portfolio.cells.text_cells import letters_and_digits
from core.portfolio.model.fields import (
    AMORTIZATION_LABELS,
    AMORTIZATION_SHEETS,
    IDENTIFIERS,
    TRANCHE_LABELS,
    TRANCHE_SHEETS,
    Field,
    Mapping,
)
from core.portfolio.model.portfolio import Amortization, Names, Tranches
from core.portfolio.sheets.below import RowsBelow
from core.portfolio.sheets.headings import header, wording
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.note_tables import TOTAL, is_named

TRANCHES_MAX: Final = 500
"""Rows below the header that are read as classes of notes."""


INCOME: Final = re.compile(r"sub|income|equity|prefer(?:ence|red)|residual", re.IGNORECASE)
"""Classes of income notes."""


# A letter on its own, or with the marks of a reset, a loan, a fixed or a new note: A-1-R, AL, BF, C-R2.
_LETTER: Final = re.compile(r"(?:(?:class|tranche|notes?)\s*)?([a-z])(?=[lrfn]{0,2}(?:[^a-z]|$))", re.IGNORECASE)


TITLE_ROWS: Final = 10
"""Rows above the header of a table in which a line may say in what its amounts are."""

TITLE_CELLS: Final = 2
"""Cells of such a row."""

TITLE_LENGTH: Final = 200
"""Characters of it that are looked at."""


def _labels(name: str, fields: tuple[Field, ...]) -> Mapping:
    return Mapping(name, name, "custom", fields, anchors=tuple(field.target for field in fields if field.required))


_TRANCHE_MAPPING: Final = _labels("tranches", TRANCHE_LABELS)


_AMORTIZATION_MAPPING: Final = _labels("amortization", AMORTIZATION_LABELS)


class _Table:
    """A small sheet with a header, read by label."""

    def __init__(self, book: Workbook, sheet: Sheet, header_match: HeaderMatch, rows_max: int) -> None:
        self.sheet, self.header = sheet, header_match
        self.first = header_match.row + 1
        self.last = max(self.first, min(sheet.row_count, self.first + rows_max))
        pool = StringPool(sheet.text, book.number_formats, date_1904=book.date_1904)
        self._below = RowsBelow(sheet, pool, self.first, self.last)

    def cells(self, label: str) -> Cells | None:
        places = self.header.columns.get(label)
        if not places:
            return None
        return self._below.cells(places[0])

    def numbers(self, label: str) -> Numbers:
        cells = self.cells(label)
        if cells is None:
            return Numbers(np.full(self._below.height, np.nan), None)
        return number_cells.read_numbers(cells, is_spread=label == "spread")

    def amounts(self, label: str) -> NDArray[np.float64]:
        """Return amounts in units of currency, "(000s)" or "($mm)" multiplied."""
        places = self.header.columns.get(label)
        own = self.header.magnitude(places[0]) if places else 1.0
        return self.numbers(label).values * (own if own != 1.0 else self._scale)

    @cached_property
    def _scale(self) -> float:
        """Return what a line above the header says that amounts are to be multiplied by."""
        for row in range(max(0, self.header.top - TITLE_ROWS), self.header.top):
            texts = [text for at in range(self.sheet.column_count) if (text := self.sheet.value(row, at)) is not None]
            for text in texts if len(texts) <= TITLE_CELLS else ():
                if isinstance(text, str) and (scale := wording.magnitude_of_title(text[:TITLE_LENGTH])) != 1.0:
                    return scale
        return 1.0

    def texts(self, label: str) -> list[str]:
        cells = self.cells(label)
        assert cells is not None
        column = text_cells.read_text(cells)
        strings = [*column.text.strings(), ""]
        return [strings[code] for code in column.codes.tolist()]

    def unit(self, label: str) -> str:
        places = self.header.columns.get(label)
        return self.header.unit(places[0]) if places else ""


def read_tranches(book: Workbook, sheets: Iterable[Sheet]) -> tuple[Tranches | None, dict[str, str]]:
    """Read the notes of the first sheet named for them, and the columns' cells."""
    for sheet in sheets:
        if not is_named(sheet, TRANCHE_SHEETS):
            continue
        header_match = header.find(sheet, _TRANCHE_MAPPING)
        if header_match is not None:
            return _tranches(_Table(book, sheet, header_match, TRANCHES_MAX))
    return None, {}


def _tranches(sheet: _Table) -> tuple[Tranches | None, dict[str, str]]:
    names = sheet.texts("class")
    rows = [row for row, name in enumerate(names) if name and not TOTAL.match(name)]
    if rows:
        gap = next((row for row in range(rows[0], len(names)) if not names[row]), len(names))
        rows = [row for row in rows if row < gap]
    if not rows:
        return None, {}
    classes = [names[row] for row in rows]
    original = sheet.amounts("original_balance")[rows]
    if "current_balance" in sheet.header.columns:
        current = np.nan_to_num(sheet.amounts("current_balance")[rows])
    else:
        current = original
    tranches = order_tranches(
        classes,
        {
            "current_balance": current,
            "original_balance": original,
            "coupon": scaling.rate_percent(sheet.numbers("coupon"))[rows],
            "spread": _spreads(sheet)[rows],
            "oc_trigger": as_percent(sheet.numbers("oc_trigger").values[rows]),
            "ic_trigger": as_percent(sheet.numbers("ic_trigger").values[rows]),
            "rank": sheet.numbers("rank").values[rows],
            "deferred_interest": np.nan_to_num(sheet.amounts("deferred_interest")[rows]),
            "interest_due": sheet.amounts("interest_due")[rows],
        },
    )
    low, high = sheet.first + rows[0], sheet.first + rows[-1]
    cells = {
        f"tranches.{label}": range_place(sheet.sheet, low, places[0], high, places[0])
        for label, places in sheet.header.columns.items()
    }
    return tranches, cells


def _spreads(sheet: _Table) -> NDArray[np.float64]:
    """Read spreads, else coupons in words: SOFR + 1.30%."""
    spread = scaling.spread_bps(sheet.numbers("spread"), sheet.unit("spread"))
    cells = sheet.cells("coupon")
    if cells is None or not cells.seen & string_pool.bit(string_pool.TEXT):
        return spread
    added = number_cells.read_numbers(cells, is_spread=True)
    in_words = np.isnan(number_cells.read_numbers(cells).values)
    worded = Numbers(np.where(in_words, added.values, np.nan), added.marks)
    return np.where(np.isnan(spread), scaling.spread_bps(worded), spread)


def as_percent(triggers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return triggers in percent: one of at most 10 is a ratio (1.216 is 121.6)."""
    return np.where(triggers <= 10, np.round(triggers * 100.0, 9), triggers)


def order_tranches(classes: list[str], columns: Dict[str, NDArray[np.float64]]) -> Tranches:
    """Sort tranches by rank, else by order; A-1 and A-2 share a rank."""
    blank = np.full(len(classes), np.nan)
    rank = columns.get("rank", blank)
    ranks = _ranks_by_letter(classes) if np.isnan(rank).any() else rank.astype(np.int32)
    order = np.argsort(ranks, kind="stable")
    column = {name: columns.get(name, blank)[order] for name in _MONEY}
    return Tranches(
        classes=tuple(classes[at] for at in order.tolist()),
        rank=ranks[order],
        is_income=np.array([INCOME.search(classes[at]) is not None for at in order.tolist()], np.bool_),
        **column,
    )


_MONEY: Final = (
    "current_balance", "original_balance", "coupon", "spread", "oc_trigger", "ic_trigger", "deferred_interest",
    "interest_due",
)  # fmt: skip


def _ranks_by_letter(classes: list[str]) -> NDArray[np.int32]:
    ranks: list[int] = []
    previous = ""
    for name in classes:
        match = _LETTER.match(name.strip())
        letter = match[1].lower() if match else ""
        ranks.append(ranks[-1] if ranks and letter and letter == previous else len(set(ranks)) + 1)
        previous = letter
    return np.array(ranks, np.int32)


def _row(row_of: Dict[str, int | None], identifier: str) -> int:
    """Return the row of an identifier, by letters and digits, too; -1 for none."""
    row = row_of[identifier] if identifier in row_of else row_of.get(letters_and_digits(identifier))
    return -1 if row is None else row


def read_amortization(book: Workbook, names: Dict[str, Names]) -> Amortization | None:
    """Read the scheduled payments of these loans; None without the sheet."""
    for sheet in book.sheets:
        if not is_named(sheet, AMORTIZATION_SHEETS):
            continue
        header_match = header.find(sheet, _AMORTIZATION_MAPPING)
        if header_match is None or not {"identifier", "date", "amount"} <= header_match.columns.keys():
            continue
        payments = _Table(book, sheet, header_match, sheet.row_count)
        row_of: dict[str, int | None] = {}
        """The loan of an identifier, and of its letters and digits where they are those of one identifier."""
        for target in reversed(IDENTIFIERS):
            if target in names:
                values = [*names[target].values, ""]
                own = {values[code]: row for row, code in enumerate(names[target].codes.tolist()) if code >= 0}
                bare: dict[str, int | None] = {}
                for text in own:
                    bare[letters_and_digits(text)] = None if letters_and_digits(text) in bare else own[text]
                row_of |= bare | own
        rows = np.array([_row(row_of, text.upper()) for text in payments.texts("identifier")], np.int64)
        dates = payments.cells("date")
        assert dates is not None
        days, amount = number_cells.read_dates(dates), payments.numbers("amount").values
        known = (rows >= 0) & ~np.isnan(days) & ~np.isnan(amount)
        return Amortization(row=rows[known], days=days[known], amount=amount[known])
    return None
