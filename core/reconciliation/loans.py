"""What loans are called within a comparison, and in what order they stand."""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import string_pool
from core.portfolio.model.fields import IDENTIFIERS
from core.portfolio.pages.identify import name_keys
from core.reconciliation import _match
from core.reconciliation.match import Rows
from core.reconciliation.rules import STAGES
from core.reconciliation.side import Side, content_order
from core.reconciliation.written import date_text

KEY_LENGTH_MAX: Final = 200
"""Characters of a loan's key; a longer one ends in a digest of the whole."""

_NAMED: Final = len(IDENTIFIERS)
"""In place of an identifier's number: the loan has none, and goes by its borrower's name."""


class ComparedLoans:
    """Loans of a comparison, each a row of the tape, of the portfolio, or of both.

    A loan's identifiers are the tape's, else the portfolio's. Loans stand in the order of their keys: first those whose
    identifier is of at most twelve letters and digits, then by the text of the key.
    """

    __slots__ = ("_keys", "_number", "book", "book_rows", "position", "primary", "tape", "tape_rows")

    def __init__(self, tape: Side, book: Side, tape_rows: Rows, book_rows: Rows) -> None:
        """Args:
        tape_rows, book_rows: rows of each loan, -1 on the side that does not have it; no loan twice.
        """
        self.tape, self.book, self.tape_rows, self.book_rows = tape, book, tape_rows, book_rows
        self.primary = np.full(len(tape_rows), _NAMED, np.uint8)
        """Index into IDENTIFIERS of the first that the loan has, or their number."""
        packed = np.zeros(len(tape_rows), np.uint64)
        left = np.arange(len(tape_rows))
        for number, field in enumerate(IDENTIFIERS):
            for side, rows in ((tape, tape_rows), (book, book_rows)):
                column = side.column(field)
                if column is None:
                    continue
                codes = side.codes(field, rows[left])
                has = codes >= 0
                packed[left[has]] = _match.identifier_keys(
                    column.text.offsets, column.text.data, codes[has], _match.ANY
                )
                self.primary[left[has]] = number
                left = left[~has]
        self._keys = self._odd_keys(np.flatnonzero(packed == 0))
        """The key of each loan whose identifier does not pack into a number."""
        self.position, self._number = self._order(packed)
        """Place of each loan in the order."""

    def _odd_keys(self, loans: NDArray[np.int64]) -> dict[int, str]:
        """Return identifiers of any length; else normalised name and maturity."""
        return dict(zip(loans.tolist(), self._plain_keys(loans), strict=True))

    def _order(self, packed: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the place of each loan, and its number among those of the same key, from 1."""
        is_odd = packed == 0
        texts = {text: number for number, text in enumerate(sorted(set(self._keys.values())))}
        odd = np.fromiter(self._keys, np.int64, len(self._keys))
        packed[odd] = np.fromiter((texts[text] for text in self._keys.values()), np.uint64, len(self._keys))
        order = np.lexsort((packed, is_odd))
        again = np.zeros(len(order), np.bool_)
        again[1:] = (packed[order][1:] == packed[order][:-1]) & (is_odd[order][1:] == is_odd[order][:-1])
        if again.any():
            ties = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
            shared = order[again | np.append(again[1:], False)]
            ties[0][shared] = content_order(self.tape, self.tape_rows[shared])
            ties[1][shared] = content_order(self.book, self.book_rows[shared])
            is_alone = (self.tape_rows < 0) | (self.book_rows < 0)  # last: they are there only where they are asked for
            order = np.lexsort((ties[1], ties[0], is_alone, packed, is_odd))
        position, number = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        places = np.arange(len(order))
        position[order] = places
        number[order] = places - np.maximum.accumulate(np.where(again, 0, places)) + 1
        return position, number

    def described(self, loans: NDArray[np.int64]) -> tuple[list[str], list[str], list[str], list[str]]:
        """Keys, primary identifiers, CUSIPs and borrowers of some loans.

        No two loans have the same key.

        The primary identifier is the CUSIP, else LoanX id, else ISIN, else the borrower's name as written.
        """
        cusips, borrowers = self.texts("cusip", loans), self.texts("borrower_name", loans)
        primaries = list(cusips)
        for number, field in enumerate(IDENTIFIERS[1:], 1):
            at = np.flatnonzero(self.primary[loans] == number)
            _put(primaries, at, self.texts(field, loans[at]))
        named = np.flatnonzero(self.primary[loans] == _NAMED)
        keys = list(primaries)
        _put(primaries, named, [borrowers[place] for place in named.tolist()])
        _put(keys, named, self._name_keys(loans[named]))
        numbers = self._number[loans].tolist()
        return [_key(text, number) for text, number in zip(keys, numbers, strict=True)], primaries, cusips, borrowers

    def _plain_keys(self, loans: NDArray[np.int64]) -> list[str]:
        """Return the keys of some loans before loans of the same are numbered."""
        texts = [""] * len(loans)
        for number, field in enumerate(IDENTIFIERS):
            at = np.flatnonzero(self.primary[loans] == number)
            _put(texts, at, self.texts(field, loans[at]))
        named = np.flatnonzero(self.primary[loans] == _NAMED)
        _put(texts, named, self._name_keys(loans[named]))
        return texts

    def _name_keys(self, loans: NDArray[np.int64]) -> list[str]:
        """Normalised borrower and maturity."""
        if not len(loans):
            return []
        names = [""] * len(loans)
        days = np.full(len(loans), np.nan)
        for side, rows in ((self.book, self.book_rows[loans]), (self.tape, self.tape_rows[loans])):
            at = np.flatnonzero(rows >= 0)
            column, maturity = side.subset("borrower_name", rows[at]), side.numbers("maturity_date")
            if column is not None:
                keyed = name_keys(column)
                has = np.flatnonzero(keyed.codes >= 0)
                _put(names, at[has], string_pool.decode(keyed.text, keyed.codes[has]))
            if maturity is not None:
                days[at] = np.where(np.isnan(maturity[rows[at]]), days[at], maturity[rows[at]])
        return [f"{name} {date_text(day) or '-'}" for name, day in zip(names, days.tolist(), strict=True)]

    def texts(self, field: str, loans: NDArray[np.int64]) -> list[str]:
        """Return a text column of some loans: the tape's, else the portfolio's, else ""."""
        texts = self.tape.texts(field, self.tape_rows[loans])
        without = np.array([place for place, text in enumerate(texts) if not text], np.int64)
        if len(without):
            _put(texts, without, self.book.texts(field, self.book_rows[loans[without]]))
        return texts

    def identifier_types(self, loans: NDArray[np.int64], stage: NDArray[np.uint8]) -> list[str]:
        """How some loans were paired; for one without a partner, its identifier."""
        own = np.where(self.primary == _NAMED, STAGES.index("borrower_name"), self.primary)[loans]
        tape_rows, book_rows = self.tape_rows[loans], self.book_rows[loans]
        if len(stage):
            own = np.where((tape_rows >= 0) & (book_rows >= 0), stage[tape_rows], own)
        return [STAGES[code] for code in own.tolist()]


def _put(texts: list[str], places: NDArray[np.int64], values: list[str]) -> None:
    for place, value in zip(places.tolist(), values, strict=True):
        texts[place] = value


def _key(text: str, number: int) -> str:
    """Return a loan's key.

    A sign that marks the number is doubled in the text, so that no text looks like a numbered one.
    """
    if number == 1 and len(text) <= KEY_LENGTH_MAX and "#" not in text:
        return text
    text = text.replace("#", "##")
    if len(text) > KEY_LENGTH_MAX:
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        text = f"{text[: KEY_LENGTH_MAX - 40]} {digest}"
    return text if number == 1 else f"{text} #{number}"
