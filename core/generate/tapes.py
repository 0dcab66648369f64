"""Trustees' tapes of a generated deal, seeded with discrepancies whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from core.files.write import write_workbook_rows
from core.generate.book import LoanBook
from core.generate.deal import (
    SEED_MAX,
    SHEET_ROWS_MAX,
    GeneratedDeal,
    GenerateError,
    check_number,
    check_words,
    counted,
)
from core.generate.draft import Columns, Rows, TapeDraft
from core.generate.draws import Chance
from core.generate.edits import EDITS, Edit, ExpectedIssue, differences, eligible
from core.generate.sheets import LoanTexts
from core.generate.trustees import TRUSTEE_TAPES, TrusteeSheet

EDITS_MAX: Final = 1_000
"""Edits of each kind on one tape."""

_LOANS_AN_EDIT: Final = 500
"""One edit of each kind for so many loans, where nobody says how many."""

UNKNOWN: Final = "unknown_loan"
"""The kind of edit that takes no loan of the book: one that only the tape has."""


@dataclass(frozen=True, slots=True)
class GeneratedTape:
    """A trustee's tape of a seeded deal."""

    deal: GeneratedDeal
    """The book to compare with: the given deal after the edits that are made on its side."""
    trustee: str
    seed: int
    columns: Columns
    answers: list[ExpectedIssue]
    """What a comparison must find; with severity "none" the edits that must give no issue."""

    @property
    def rows(self) -> int:
        """Rows of the tape: its loans, some of them in lots."""
        return len(self.columns["par_value"])

    @property
    def discrepancies(self) -> list[ExpectedIssue]:
        """The answers that are issues."""
        return [answer for answer in self.answers if answer.severity != "none"]

    def portfolio_columns(self) -> Columns:
        """Return the tape's rows under their standard names and in their units, for `Portfolio.from_columns`.

        Identifiers that the trustee does not print are not in here either; how it writes the rest is the sheet's alone.
        """
        return dict(self.columns)

    def sheet(self) -> TrusteeSheet:
        """Return the tape's sheet in the trustee's style.

        Raises:
            GenerateError: it has more rows than a sheet.
        """
        sheet = TRUSTEE_TAPES[self.trustee].sheet(self.columns, Chance(self.seed, self.deal.loans))
        if sheet.row_count > SHEET_ROWS_MAX:
            raise GenerateError(
                f"a tape of {self.trustee} with {self.rows:,} loans takes {sheet.row_count:,} rows; a sheet has "
                f"{SHEET_ROWS_MAX:,}: ask for fewer"
            )
        return sheet

    def write(self, path: Path | str, progress: Callable[[int], None] | None = None) -> None:
        """Write the tape as an .xlsx workbook in the trustee's style, in constant memory.

        Args:
            progress: called now and then with the number of rows that were handed out since the last call.

        Raises:
            GenerateError: more rows than a sheet has.
        """
        sheet = self.sheet()
        rows = sheet.rows()
        write_workbook_rows(
            path,
            {sheet.name: rows if progress is None else counted(rows, progress)},
            number_formats={sheet.name: sheet.number_formats},
        )

    def write_answers(self, path: Path | str) -> None:
        """Write the answers as a JSON array of {identifier, field, severity, edit}, one in a line."""
        lines = (json.dumps({name: getattr(answer, name) for name in _ANSWER_NAMES}) for answer in self.answers)
        Path(path).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


_ANSWER_NAMES: Final = tuple(ExpectedIssue.__dataclass_fields__)


def generate_tape(deal: GeneratedDeal, trustee: str, seed: int = 7, edits: int | None = None) -> GeneratedTape:
    """Return the tape of a deal as one trustee gives it, with as many edits of every kind; the same for the same
    arguments.

    Each edit has a loan of its own. The book is given loans of 50,000 and 500,000 to leave out of the tape, and
    maturities that tell its loans without identifiers apart.

    Args:
        trustee: of TRUSTEE_TAPES.
        seed: 0 to SEED_MAX; which loans are edited, and their order on the tape.
        edits: 0 to EDITS_MAX; None is one for every 500 loans.

    Raises:
        GenerateError: an unknown trustee, a number outside its range, or more edits than the book has loans for.
    """
    check_words("trustee", (trustee,), TRUSTEE_TAPES)
    check_number("seed", seed, 0, SEED_MAX)
    count = min(EDITS_MAX, max(1, deal.loans // _LOANS_AN_EDIT)) if edits is None else edits
    check_number("edits", count, 0, EDITS_MAX)
    chosen = _choose(deal, seed, count)
    deal = replace(deal, book=_edited_book(deal.book, deal.texts, chosen))
    draft = TapeDraft.of(deal, seed)
    for edit, rows in chosen:
        edit.change(draft, rows)
    known = len(draft.lines)
    unknown = draft.append_unknown(draft.chance.stream("templates").integers(known, size=count))
    TRUSTEE_TAPES[trustee].show_identifiers(draft)
    answers = [*_answers(draft, deal.portfolio_columns(), chosen)]
    answers += [ExpectedIssue(name, "missing_loan", "critical", UNKNOWN) for name in draft.primary(unknown, None)]
    return GeneratedTape(deal, trustee, seed, draft.columns(), answers)


def _choose(deal: GeneratedDeal, seed: int, count: int) -> list[tuple[Edit, Rows]]:
    """Return the loans of each edit, none taken twice."""
    fit = eligible(deal.book, deal.texts)
    free = np.ones(deal.loans, np.bool_)
    order = Chance(seed, deal.loans).stream("edited loans").permutation(deal.loans)
    chosen: list[tuple[Edit, Rows]] = []
    for edit in EDITS:
        mask = free.copy()
        for need in edit.needs:
            mask &= fit[need]
        rows = order[mask[order]][: count * edit.loans]
        if len(rows) < count * edit.loans:
            raise GenerateError(
                f"a book of {deal.loans:,} loans has not enough for {count:,} edits of every kind: ask for fewer"
            )
        free[rows] = False
        chosen.append((edit, rows))
    return chosen


def _edited_book(book: LoanBook, texts: LoanTexts, chosen: list[tuple[Edit, Rows]]) -> LoanBook:
    """Return the book with the par that some edits need.

    No two loans differ by their par alone.
    """
    par, maturity = book.par.copy(), book.maturity.copy()
    for edit, rows in chosen:
        if edit.book_par is not None:
            par[rows] = edit.book_par
    nameless = np.flatnonzero((texts.cusip == "") & (texts.loanx == ""))
    taken: set[tuple[int, float]] = set()
    for row, obligor in zip(nameless.tolist(), book.obligor[nameless].tolist(), strict=True):
        while (obligor, float(maturity[row])) in taken:
            maturity[row] += 1.0
        taken.add((obligor, float(maturity[row])))
    return replace(book, par=par, maturity=maturity)


def _answers(draft: TapeDraft, book: Columns, chosen: list[tuple[Edit, Rows]]) -> Iterator[ExpectedIssue]:
    for edit, rows in chosen:
        if edit.severity is not None:
            for name in draft.primary(rows, book):
                yield ExpectedIssue(name, edit.field, edit.severity, edit.name)
            continue
        names = draft.primary(rows, book)
        for field, severities in differences(draft, book, rows):
            for name, severity in zip(names, severities.tolist(), strict=True):
                if severity != "none":
                    yield ExpectedIssue(name, field, severity, edit.name)
