"""A trustee's tape while it is made.

The columns of a book, to be edited in place, one row for each of its loans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.generate.deal import Coded, GeneratedDeal
from core.generate.draws import Chance, security_numbers
from core.generate.tables import NOUNS, OPENINGS
from core.portfolio.model.fields import IDENTIFIERS

Columns = dict[str, NDArray[np.float64] | NDArray[np.bool_] | NDArray[np.str_] | Coded]
Rows = NDArray[np.int64]

UNKNOWN_PAR: Final = 2_500_000.0
"""Par of a loan that only the trustee knows."""

LOT_SHARES: Final = (0.5, 0.3)
"""What the first lots of a split position hold of its par, in whole thousands; the last one holds the rest."""

_UNUSED_LOT: Final = 26 * 26 - 1
"""The place among its issuer's loans that no loan of a book has: there is a letter pair for it, and no book so long."""

_UNKNOWN_OPENING: Final = "Zephyr"
"""The first word of companies that no book has: it is not among the openings."""


@dataclass(slots=True)
class TextCodes:
    """A text column as codes into its values, which may come twice; -1 is blank."""

    codes: NDArray[np.int32]
    values: list[str]

    def at(self, rows: Rows) -> list[str]:
        """Return the texts of some rows; empty where blank."""
        return [self.values[code] if code >= 0 else "" for code in self.codes[rows].tolist()]

    def write(self, rows: Rows, texts: Sequence[str]) -> None:
        """Put one text into each of some rows."""
        self.codes[rows] = len(self.values) + np.arange(len(rows), dtype=np.int32)
        self.values.extend(texts)


@dataclass(slots=True)
class TapeDraft:
    """The columns of a tape under their standard names, in the units of `Portfolio`.

    Equally long.
    """

    chance: Chance
    numbers: dict[str, NDArray[np.float64]]
    words: dict[str, TextCodes]
    identifiers: dict[str, NDArray[np.str_]]
    """An empty string is blank."""
    flags: dict[str, NDArray[np.bool_]]
    lines: NDArray[np.int64]
    """Rows of the tape on which each loan stands: 0 where it is left out, 3 where it is split into lots."""
    shown: NDArray[np.bool_]
    """Loans whose identifiers stay as they are, whatever the trustee's style."""

    @classmethod
    def of(cls, deal: GeneratedDeal, seed: int) -> TapeDraft:
        """Return the book's own columns, copied."""
        draft = cls(
            Chance(seed, deal.loans), {}, {}, {}, {}, np.ones(deal.loans, np.int64), np.zeros(deal.loans, np.bool_)
        )
        for name, column in deal.portfolio_columns().items():
            if isinstance(column, tuple):
                draft.words[name] = TextCodes(column[0].copy(), list(column[1]))
            elif column.dtype.kind == "U":
                draft.identifiers[name] = np.asarray(column, np.str_).copy()
            elif column.dtype.kind == "b":
                draft.flags[name] = np.asarray(column, np.bool_)
            else:
                draft.numbers[name] = np.asarray(column, np.float64).copy()
        return draft

    def primary(self, rows: Rows, book: Columns | None) -> list[str]:
        """Return what names each of some loans in an issue.

        The first identifier that tape or book has, else the borrower.

        `book` None: loans that it does not have.
        """
        first_identifiers = np.full(len(rows), "", "U12")
        for name in IDENTIFIERS:
            for column in (self.identifiers.get(name), None if book is None else book[name]):
                if column is not None:
                    first_identifiers = np.where(first_identifiers == "", np.asarray(column)[rows], first_identifiers)
        names: list[str] = first_identifiers.tolist()
        return [name or borrower for name, borrower in zip(names, self.words["borrower_name"].at(rows), strict=True)]

    def append_unknown(self, templates: Rows) -> Rows:
        """Add loans of companies that are not in the book, on the terms of some that are.

        The new rows.
        """
        count, first = len(templates), len(self.lines)
        if not count:
            return templates
        for name, numbers in self.numbers.items():
            self.numbers[name] = np.concatenate((numbers, numbers[templates]))
        for words in self.words.values():
            words.codes = np.concatenate((words.codes, words.codes[templates]))
        for name, flags in self.flags.items():
            self.flags[name] = np.concatenate((flags, flags[templates]))
        for name, texts in self._unknown_identifiers(count).items():
            self.identifiers[name] = np.concatenate((self.identifiers[name], texts))
        self.lines = np.concatenate((self.lines, np.ones(count, np.int64)))
        self.shown = np.concatenate((self.shown, np.zeros(count, np.bool_)))
        rows = np.arange(first, first + count)
        self.numbers["par_value"][rows] = UNKNOWN_PAR
        nouns, second = NOUNS.split(), OPENINGS.split()
        self.words["borrower_name"].write(
            rows,
            [
                f"{_UNKNOWN_OPENING} {second[at // len(nouns) % len(second)]} {nouns[at % len(nouns)]} LLC"
                for at in range(count)
            ],
        )
        return rows

    def _unknown_identifiers(self, count: int) -> dict[str, NDArray[np.str_]]:
        """Return identifiers with their check digits that no book has.

        An unused issue, a LoanX number of the older kind.
        """
        cusip, isin = security_numbers(self.chance, np.arange(count), np.full(count, _UNUSED_LOT))
        numbers = self.chance.distinct("unknown loanx", count, 900_000) + 100_000
        loanx = np.strings.add("LX", numbers.astype("U6"))
        return {"cusip": cusip, "isin": isin, "loanx_id": loanx}

    def columns(self) -> Columns:
        """Return the rows of the tape, shuffled, for `Portfolio.from_columns`.

        A split position stands in its lots.
        """
        loan = np.repeat(np.arange(len(self.lines)), self.lines)
        par = self.numbers["par_value"][loan]
        lot = np.arange(len(loan)) - np.repeat(np.cumsum(self.lines) - self.lines, self.lines)
        split = np.flatnonzero(self.lines[loan] > 1)
        whole = par[split]
        shares = [np.round(whole * share / 1e3) * 1e3 for share in LOT_SHARES]
        par[split] = np.choose(lot[split], [*shares, whole - sum(shares)])
        order = self.chance.stream("tape order").permutation(len(loan))
        loan, par = loan[order], par[order]
        columns: Columns = {name: texts[loan] for name, texts in self.identifiers.items()}
        for name, words in self.words.items():
            columns[name] = (words.codes[loan], tuple(words.values))
        columns |= {name: numbers[loan] for name, numbers in self.numbers.items()}
        columns |= {name: flags[loan] for name, flags in self.flags.items()}
        columns["par_value"] = par
        return columns
