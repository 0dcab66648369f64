"""What is stated of one portfolio.

Sentences, figures with what they rest on, names, warnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.questions.answer import LOANS_SHOWN, ROWS_SHOWN, Figure, Support, Unit
from core.questions.answers.book import LoanSet, Unavailable
from core.questions.wording import shown
from core.report.figures import day
from core.words import counted

MONTH_DAYS: Final = range(20, 46)
"""Days that two files of months in a row are apart."""

LESS_EARLIER: Final = "the newer month less the earlier"
AS_FILED: Final = "as the file has it"
SUM_OF_PAR: Final = "sum of par_value"
COUNT_OF_LOANS: Final = "number of loans with a par"

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Basis:
    """What a figure rests on."""

    operation: str
    book: LoanSet | None = None
    rows: Rows | None = None
    test_id: str | None = None
    identifier: str | None = None
    """Of the loan whose figure it is."""


@dataclass
class Statement:
    """What is stated of one portfolio."""

    subject: Subject
    sentences: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)

    def add(self, *sentences: str) -> None:
        self.sentences += [sentence for sentence in sentences if sentence]

    def warn(self, *warnings: str) -> None:
        self.warnings.update(dict.fromkeys(warnings))

    def figure(
        self, name: str, value: Any, unit: Unit, basis: Basis | str, *, of: str | None = None, sign: bool = False
    ) -> str:
        """Add a figure, and return its text for a sentence."""
        if isinstance(basis, str):
            basis = Basis(basis)
        text = shown(value, unit, currency=self.subject.currency, sign=sign)
        rows = basis.rows
        support = Support(
            operation=basis.operation,
            columns={} if basis.book is None else dict(basis.book.columns_read),
            loans=None if rows is None else len(rows),
            rows=[] if rows is None else rows[:LOANS_SHOWN].tolist(),
            test_id=basis.test_id,
        )
        if isinstance(value, np.generic):
            value = value.item()
        self.figures.append(
            Figure(
                name=name,
                of=None if of is None else plain(of),
                identifier=None if basis.identifier is None else plain(basis.identifier),
                subject=plain(self.subject.name),
                value=plain(value) if isinstance(value, str) else value,
                unit=unit,
                text=text,
                support=support,
            )
        )
        return text

    def name(self, text: str) -> str:
        """Add a name out of the data, and return it as it is printed."""
        name = plain(text)
        self.names[name] = None
        return name

    def listed_names(self, names: Sequence[str]) -> str:
        return listed([self.name(name) for name in names])

    def loan(self, book: LoanSet, row: int) -> str:
        """Return a loan's borrower, facility and identifier as they are printed."""
        label = self.name(book.name_of(row))
        facility = book.facility_of(row)
        if facility and facility != book.name_of(row):
            label += f", {self.name(facility)}"
        identifier = book.identifier_of(row)
        return f"{label} ({self.name(identifier)})" if identifier else label

    def loans(self, count: int) -> str:
        """Return the end of a sentence on how many more there are than are listed."""
        return f"{count - ROWS_SHOWN:,} more are not listed." if count > ROWS_SHOWN else ""


def previous_of(subject: Subject) -> Subject:
    """Return the month before.

    Raises:
        Unavailable: there is none.
    """
    if subject.previous is None:
        raise Unavailable("there is no earlier month of this deal to compare with")
    return subject.previous


def describe_distance(subject: Subject) -> str:
    """Return that the earlier file is not of the month before."""
    previous = subject.previous
    if previous is None or previous.day is None or subject.day is None:
        return ""
    days = (subject.day - previous.day).days
    if days in MONTH_DAYS:
        return ""
    return f"the earlier file is of {day(previous.day)}, {counted(days, 'day')} before this one"


def book_of(subject: Subject, period: str = "now") -> LoanSet:
    """Return the loans of the month that a query asks for."""
    return LoanSet(subject, previous_of(subject).portfolio) if period == "previous" else LoanSet(subject)


def unit_apart(unit: Unit) -> Unit:
    """Return what two figures of a unit differ by."""
    return "points" if unit in ("percent", "price") else unit


def yes_no(is_so: bool) -> str:
    return "Yes." if is_so else "No."


def loans_of(count: int | str, number: int | None = None) -> str:
    """Return a printed count with its noun."""
    number = int(count) if number is None else number
    return f"{count} loan{'s' * (number != 1)}"
