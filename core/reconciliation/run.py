"""A trustee's tape against a portfolio.

Matched, compared, and their differences as issues.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.checked import checked
from core.frames.brief import brief
from core.frames.given import columns_of, is_frame
from core.frames.notebook import card, left_out
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.assemble.columns import is_standard
from core.portfolio.model.notes import DataWarning, warning_texts
from core.recalc.book import File, read
from core.reconciliation import _match
from core.reconciliation.compare import compare, compared_fields, fingerprints
from core.reconciliation.issues import Issues
from core.reconciliation.match import LoanPairs, match
from core.reconciliation.rules import ReconcileError, chosen, tolerances_of
from core.reconciliation.side import Side
from core.seed import SEED
from core.threads import working
from core.words import counted

SHARED_LEAST: Final = 20_000
"""Loans of the larger side from which on threads share the work; with fewer they cost more than they save."""

THREADS_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class IssueCounts:
    """Counts of loans, lots added up, and of issues."""

    total_loans_compared: int
    """matched + unmatched_trustee + unmatched_internal."""
    matched: int
    unmatched_trustee: int
    unmatched_internal: int
    issues_found: int

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What a comparison found."""

    summary: IssueCounts
    stages: dict[str, int]
    """Pairs by how they were found, in the order of the stages: cusip, loanx_id, isin, borrower_maturity,
    borrower_name."""
    ambiguous: dict[str, int]
    """Keys of each stage that several loans of a side share; the loans were paired by nearest par."""
    warnings: tuple[DataWarning, ...]
    """What a reader should know of the comparison as a whole."""
    not_compared: dict[str, str]
    """Field asked for -> why it was not compared."""
    pairs: tuple[NDArray[np.int32], NDArray[np.int32]]
    """Rows of the tape and of the portfolio that are the same loan, equally long, in the tape's order."""
    issues: Issues

    def __repr__(self) -> str:
        each = self.summary
        return (
            f"Reconciliation({counted(each.total_loans_compared, 'loan')}: {each.matched:,} matched, "
            f"{each.unmatched_trustee:,} on the tape only, {each.unmatched_internal:,} in the portfolio only; "
            f"{counted(each.issues_found, 'issue')}, {counted(len(self.warnings), 'warning')})"
        )

    def _repr_html_(self) -> str:
        lines = [
            *warning_texts(self.warnings),
            *(f"{name} was not compared: {why}" for name, why in self.not_compared.items()),
            left_out(len(self.issues), "issues"),
        ]
        return card(repr(self), lines, self.issues.table())


@checked
def reconcile(
    tape: Portfolio | Workbook | File | Any,
    book: Portfolio | Workbook | File | Any,
    rules: Iterable[str] | None = None,
    *,
    tolerances: Mapping[str, float] | None = None,
    threads: int = 1,
    names: tuple[str, str] = ("tape", "portfolio"),
) -> Reconciliation:
    """Compare a trustee's tape with the manager's portfolio, whose lots are already added up on both sides.

    Args:
        tape: the trustee's loans; percentages are of its figures. A portfolio, a workbook (`cushion.read`), a frame, or
            what `cushion.read` reads: a path, bytes, an open file.
        book: the manager's loans, likewise.
        rules: names of `core.reconciliation.RULES`; None for all nine.
        tolerances: in place of the defaults, by rule: par_value in currency, price in points, spread and all_in_rate in
            basis points, maturity_date in days.
        threads: how many may work at once, of which more than two gain little; the answer is the same for any number.
        names: what warnings call the two sides.

    Raises:
        ReconcileError: an unknown rule, a tolerance that is none, no thread or more than THREADS_MAX, or more than
            LOANS_MAX loans on a side.
    """
    tape, book = _loans_of(tape, "tape"), _loans_of(book, "book")
    asked, within = chosen(rules), tolerances_of(tolerances)
    if not 1 <= threads <= THREADS_MAX:
        raise ReconcileError(f"threads must be from 1 to {THREADS_MAX}, not {threads}")
    theirs, ours = Side(tape, names[0]), Side(book, names[1])
    fields, not_compared = compared_fields(theirs, ours, asked)
    with working(threads if max(tape.row_count, book.row_count) >= SHARED_LEAST else 1) as workers:
        matched = match(theirs, ours, partial(fingerprints, fields=fields, seed=SEED), workers)
        discrepancies = compare(theirs, ours, matched, fields, within, workers, missing_loans="missing_loan" in asked)
    issues = Issues(theirs, ours, matched, discrepancies)
    rows, partners = _match.paired(matched.tape_pair)
    return Reconciliation(
        summary=IssueCounts(
            total_loans_compared=tape.row_count + book.row_count - len(rows),
            matched=len(rows),
            unmatched_trustee=tape.row_count - len(rows),
            unmatched_internal=book.row_count - len(rows),
            issues_found=len(issues),
        ),
        stages=matched.counts,
        ambiguous=matched.ambiguous,
        warnings=_warnings(theirs, ours, matched, len(rows)),
        not_compared=not_compared,
        pairs=(rows, partners),
        issues=issues,
    )


def _loans_of(source: Any, argument: str) -> Portfolio:
    """Return the loans of a side in whatever form they come.

    Columns under standard names are taken as they are; those of any other frame are found by their headings, as in a
    sheet.
    """
    if isinstance(source, Portfolio):
        return source
    if isinstance(source, Mapping) or (is_frame(source) and is_standard(columns_of(source))):
        return Portfolio.from_columns(source)
    if isinstance(source, Workbook) or is_frame(source):
        return Portfolio.from_workbook(source)
    if isinstance(source, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(source, "read"):
        return Portfolio.from_workbook(read(source))
    raise TypeError(
        f"{argument} is a Portfolio, a workbook, a frame, or a file that cushion.read reads, "
        f"not {type(source).__name__}"
    )


def _warnings(tape: Side, book: Side, matched: LoanPairs, pairs: int) -> tuple[DataWarning, ...]:
    fewest = min(tape.row_count, book.row_count)
    few = 2 * pairs < fewest
    by_name = matched.counts["borrower_maturity"] + matched.counts["borrower_name"]
    doubtful = sum(matched.ambiguous.values())
    keys = counted(doubtful, "key", "is/are")
    remarks = (
        *(
            (
                side.factor != 1.0,
                "par_in_thousands",
                f"par on the {side.name} is in thousands: it was multiplied by {side.factor:,.0f}",
                None,
            )
            for side in (tape, book)
        ),
        *((side.row_count == 0, "no_loans", f"the {side.name} has no loans", None) for side in (tape, book)),
        (
            few,
            "few_matched",
            f"only {pairs:,} of {counted(fewest, 'loan')} found on both sides: is it the {tape.name} of this deal?",
            None,
        ),
        (
            matched.unverified,
            "matched_by_doubtful_identifier",
            "{} matched by an identifier that fails its check digit or shape",
            matched.unverified,
        ),
        (
            matched.printed,
            "matched_by_print",
            "{} matched by an identifier that the two sides print in different ways: cut off, or a LoanX id with and "
            "without its check characters",
            matched.printed,
        ),
        (
            by_name,
            "matched_by_name",
            "{} matched by the name of the borrower, without an identifier in common",
            by_name,
        ),
        (
            doubtful,
            "shared_keys",
            f"{keys} shared by several loans of one side, which were paired by nearest par",
            None,
        ),
    )
    return tuple(
        DataWarning(code, message if rows is None else message.format(_loans(rows)), rows)
        for is_so, code, message, rows in remarks
        if is_so
    )


def _loans(count: int) -> str:
    return counted(count, "loan", "was/were")
