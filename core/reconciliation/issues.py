"""Issues as columns.

A million of them cost a few arrays, and become text when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from core.frames.brief import brief
from core.frames.frame import Frame, Framed, TextRows
from core.frames.notebook import Markup, card, left_out, places, table
from core.labels import label
from core.portfolio.model.ratings import RATING_FIELDS, SCALE_A, SCALE_B
from core.reconciliation.compare import Discrepancies
from core.reconciliation.loans import ComparedLoans
from core.reconciliation.match import LoanPairs, Rows
from core.reconciliation.rules import FIELDS, ISSUE_TYPES, SEVERITIES, Category, IdentifierType, IssueType, Severity
from core.reconciliation.side import Side
from core.reconciliation.written import date_text, number_text
from core.words import counted

CHUNK: Final = 4_096
"""Issues that are made text at once when they are iterated over."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One discrepancy between the trustee's tape and the portfolio."""

    loan_key: str
    """Names the loan within the comparison: its primary identifier, else the normalised name of its borrower and its
    maturity; numbered ("... #2") where several loans with issues share it."""
    primary_identifier: str
    """CUSIP, else LoanX id, else ISIN, else the borrower's name."""
    cusip: str
    """The tape's, else the portfolio's; "" without one."""
    identifier_type: IdentifierType
    """How the pair was found; for a missing loan, what its primary identifier is."""
    borrower_name: str
    """The tape's as written, else the portfolio's."""
    issue_type: IssueType
    severity: Severity
    category: Category
    field_name: str
    """A compared field; missing_loan, lots, duplicates, cusip, loanx_id, isin, borrower_name (see `rules`)."""
    rule: str
    """One of `rules.RULES` or `rules.ALWAYS`."""
    trustee_value: str
    internal_value: str
    """Numbers in full without an exponent, dates ISO, "" where there is none. A missing loan's value is its par."""

    __repr__ = brief


COLUMNS: Final = tuple(field.name for field in fields(Issue))
"""The columns of `Issues.chunk`, in order."""


ROW_COLUMNS: Final = ("trustee_row", "internal_row")
"""The columns of `Issues.sheet_rows`, in order."""


class Issues(Sequence[Issue], Framed):
    """Issues in order: by severity, then loan, then field.

    Which row holds a loan plays no part in it.
    """

    __slots__ = ("_book", "_field", "_loan", "_loans", "_matched", "_severity", "_shared", "_tape", "_type")

    def __init__(self, tape: Side, book: Side, matched: LoanPairs, discrepancies: Discrepancies) -> None:
        self._tape, self._book, self._matched = tape, book, matched
        tape_rows, book_rows = _join(discrepancies.tape_rows, np.int32), _join(discrepancies.book_rows, np.int32)
        field, severity = _join(discrepancies.fields, np.uint8), _join(discrepancies.severities, np.uint8)
        # A loan is numbered by its row of the tape, or past these by its row of the portfolio.
        number = np.where(tape_rows >= 0, tape_rows, book_rows.astype(np.int64) + tape.row_count)
        _, first, loan = np.unique(number, return_index=True, return_inverse=True)
        self._loans = ComparedLoans(tape, book, tape_rows[first], book_rows[first])
        order = np.lexsort((field, self._loans.position[loan], severity))
        self._loan: NDArray[np.int64] = loan[order]
        self._field: NDArray[np.uint8] = field[order]
        self._severity: NDArray[np.uint8] = severity[order]
        self._type: NDArray[np.uint8] = _join(discrepancies.types, np.uint8)[order]
        self._shared: tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]] | None = None

    def __len__(self) -> int:
        return len(self._loan)

    @overload
    def __getitem__(self, index: int) -> Issue: ...
    @overload
    def __getitem__(self, index: slice) -> list[Issue]: ...
    def __getitem__(self, index: int | slice) -> Issue | list[Issue]:
        if isinstance(index, slice):
            return self._issues(np.arange(*index.indices(len(self))))
        at = int(index) + (len(self) if index < 0 else 0)
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self._issues(np.array([at]))[0]

    def __iter__(self) -> Iterator[Issue]:
        for start in range(0, len(self), CHUNK):
            yield from self._issues(np.arange(start, min(start + CHUNK, len(self))))

    def __repr__(self) -> str:
        counts = [f"{count:,} {severity}" for severity, count in self.by_severity().items() if count]
        return f"Issues({counted(len(self), 'issue')}{': ' * bool(counts)}{', '.join(counts)})"

    def _repr_html_(self) -> str:
        return card(repr(self), [left_out(len(self), "issues")], self.table())

    def table(self) -> Markup:
        """Return the first and the last issues for a notebook; empty without one."""
        names = (
            "severity",
            "issue_type",
            "field_name",
            "primary_identifier",
            "borrower_name",
            "trustee_value",
            "internal_value",
        )
        shown = places(len(self))
        issues = [None if at is None else self[at] for at in shown]
        rows = [None if issue is None else [label(getattr(issue, name)) for name in names] for issue in issues]
        return table([name.replace("_", " ") for name in names], rows) if rows else Markup("")

    def frame(self) -> Frame:
        """Return a row for each issue with the fields of `Issue`, all of them text.

        What is "" there is null.
        """
        columns = {name: TextRows() for name in COLUMNS}
        for start in range(0, len(self), CHUNK):
            for name, texts in self.chunk(start, start + CHUNK).items():
                columns[name].extend(texts)
        return Frame({name: rows.column() for name, rows in columns.items()}, len(self))

    def by_severity(self) -> dict[Severity, int]:
        """How many issues there are of each severity, worst first."""
        counts = np.bincount(self._severity, minlength=len(SEVERITIES) + 1)[1:]
        return dict(zip(SEVERITIES, counts.tolist(), strict=True))

    def chunk(self, start: int, stop: int) -> dict[str, list[str]]:
        """Issues `start` to `stop - 1` as one list for each of `COLUMNS`, equally long.

        Fewer at the end.
        """
        return self._columns(np.arange(*slice(start, stop).indices(len(self))))

    def sheet_rows(self, start: int, stop: int) -> dict[str, list[str]]:
        """Return the rows of issues `start` to `stop - 1` in the tape's and in the portfolio's sheet, from 1, as text.

        "" where a side lacks the loan, or does not know its rows; of several lots the row of the largest.
        """
        loans = self._loan[np.arange(*slice(start, stop).indices(len(self)))]
        sides = (self._tape, self._loans.tape_rows), (self._book, self._loans.book_rows)
        columns = (_sheet_rows(side, rows[loans]) for side, rows in sides)
        return dict(zip(ROW_COLUMNS, columns, strict=True))

    def page_lines(self, start: int, stop: int) -> dict[str, list[str]]:
        """Return page and line of the rows of issues `start` to `stop - 1`, as text.

        Both count from 1. A side without pages has no columns; "" as for `sheet_rows`.
        """
        loans = self._loan[np.arange(*slice(start, stop).indices(len(self)))]
        sides = ("trustee", self._tape, self._loans.tape_rows), ("internal", self._book, self._loans.book_rows)
        columns: dict[str, list[str]] = {}
        for name, side, rows in sides:
            if side.portfolio.page_lines is not None:
                places = [side.portfolio.page_line(int(row or 0)) for row in _sheet_rows(side, rows[loans])]
                columns[f"{name}_page"] = ["" if place is None else str(place[0]) for place in places]
                columns[f"{name}_line"] = ["" if place is None else str(place[1]) for place in places]
        return columns

    def _issues(self, at: NDArray[np.int64]) -> list[Issue]:
        rows = zip(*self._columns(at).values(), strict=True)
        return [Issue(*row) for row in rows]

    def _columns(self, at: NDArray[np.int64]) -> dict[str, list[str]]:
        loans, field = self._loan[at], self._field[at]
        rules = [FIELDS[code] for code in field.tolist()]
        trustee_value, internal_value = self._values(loans, field)
        loan_key, primary, cusip, borrower = self._loans.described(loans)
        return {
            "loan_key": loan_key,
            "primary_identifier": primary,
            "cusip": cusip,
            "identifier_type": self._loans.identifier_types(loans, self._matched.stage),
            "borrower_name": borrower,
            "issue_type": [ISSUE_TYPES[code] for code in self._type[at].tolist()],
            "severity": [SEVERITIES[code - 1] for code in self._severity[at].tolist()],
            "category": [rule.category for _, rule in rules],
            "field_name": [name for name, _ in rules],
            "rule": [rule.name for _, rule in rules],
            "trustee_value": trustee_value,
            "internal_value": internal_value,
        }

    def _values(self, loans: NDArray[np.int64], field: NDArray[np.uint8]) -> tuple[list[str], list[str]]:
        """Return what either side has, of each issue's field."""
        values = [""] * len(loans), [""] * len(loans)
        for code in np.unique(field).tolist():
            name = FIELDS[code][0]
            at = np.flatnonzero(field == code)
            both = (
                self._shared_counts(loans[at])
                if name == "duplicates"
                else tuple(
                    _texts(side, name, rows[loans[at]])
                    for side, rows in ((self._tape, self._loans.tape_rows), (self._book, self._loans.book_rows))
                )
            )
            for into, texts in zip(values, both, strict=True):
                for place, text in zip(at.tolist(), texts, strict=True):
                    into[place] = text
        return values

    def _shared_counts(self, loans: NDArray[np.int64]) -> tuple[list[str], list[str]]:
        """How many loans of the tape and of the portfolio have the key of some loans that share it."""
        if self._shared is None:
            shared = self._matched.shared
            self._shared = _counts(shared.tape), _counts(shared.book)
        tape, book = self._shared
        rows = zip(self._loans.tape_rows[loans].tolist(), self._loans.book_rows[loans].tolist(), strict=True)
        counts = [tape[row] if row in tape else book[book_row] for row, book_row in rows]
        return [str(count) for count, _ in counts], [str(count) for _, count in counts]


def _join(parts: list[Any], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _counts(shared: list[tuple[Rows, NDArray[np.int64], NDArray[np.int64]]]) -> dict[int, tuple[int, int]]:
    """Row -> loans of tape and portfolio with its key, at the first stage that found it shared."""
    counts: dict[int, tuple[int, int]] = {}
    for rows, tape, book in reversed(shared):
        counts.update(zip(rows.tolist(), zip(tape.tolist(), book.tolist(), strict=True), strict=True))
    return counts


def _sheet_rows(side: Side, rows: Rows) -> list[str]:
    """Return loans' rows in their sheet; "" for row -1 and loans of no sheet."""
    known = side.portfolio.sheet_rows
    if known is None or not side.row_count:
        return [""] * len(rows)
    return [str(row) if row > 0 else "" for row in np.where(rows >= 0, known[rows], 0).tolist()]


# ---- values --------------------------------------------------------------------------------------------------------


def _texts(side: Side, name: str, rows: Rows) -> list[str]:
    """One field of some rows as text; "" for the row -1."""
    if name in ("par_value", "price", "spread", "all_in_rate"):
        return _numbers(side, name, rows, number_text)
    if name == "missing_loan":
        return _numbers(side, "par_value", rows, number_text)
    if name == "maturity_date":
        return _numbers(side, name, rows, date_text)
    if name in RATING_FIELDS:
        return _ratings(side, name, rows)
    if name == "lots":
        lots = side.portfolio.lots
        return ["" if row < 0 else "1" if lots is None else str(lots[row]) for row in rows.tolist()]
    return side.texts(name, rows)


def _numbers(side: Side, name: str, rows: Rows, written: Callable[[float], str]) -> list[str]:
    numbers = side.numbers(name)
    if numbers is None or not side.row_count:
        return [""] * len(rows)
    return [written(number) for number in np.where(rows >= 0, numbers[rows], np.nan).tolist()]


def _ratings(side: Side, name: str, rows: Rows) -> list[str]:
    """Symbols as written; those of the scale where ranks are all there is."""
    if side.column(name) is not None:
        return side.texts(name, rows)
    ranks = side.portfolio.ranks[name]
    scale = ("", *(SCALE_A if name == "rating_agency_a" else SCALE_B), "D")
    return ["" if row < 0 else scale[ranks[row]] for row in rows.tolist()]
