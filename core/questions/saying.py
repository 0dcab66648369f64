"""What is said of one portfolio: sentences, figures with what they rest on, names, warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.insights.subject import Subject
from core.insights.words import plain
from core.questions.answer import LOANS_SHOWN, Figure, Support, Unit
from core.questions.loans import Book, Unavailable
from core.questions.wording import shown
from core.report.figures import day
from core.words import counted

MONTH_DAYS: Final = range(20, 46)
"""Days that two files of months in a row are apart."""


@dataclass
class Said:
    """What is said of one portfolio."""

    subject: Subject
    sentences: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)

    @property
    def currency(self) -> str | None:
        return self.subject.currency

    def figure(
        self,
        name: str,
        value: Any,
        unit: Unit,
        operation: str,
        *,
        of: str | None = None,
        identifier: str | None = None,
        book: Book | None = None,
        rows: NDArray[np.intp] | None = None,
        test_id: str | None = None,
        sign: bool = False,
    ) -> str:
        """Add a figure; its text for a sentence."""
        text = shown(value, unit, currency=self.currency, sign=sign)
        support = Support(
            operation=operation,
            columns={} if book is None else dict(book.columns_read),
            loans=None if rows is None else len(rows),
            rows=[] if rows is None else rows[:LOANS_SHOWN].tolist(),
            test_id=test_id,
        )
        if isinstance(value, np.generic):
            value = value.item()
        self.figures.append(
            Figure(
                name=name,
                of=None if of is None else plain(of),
                identifier=None if identifier is None else plain(identifier),
                subject=plain(self.subject.name),
                value=plain(value) if isinstance(value, str) else value,
                unit=unit,
                text=text,
                support=support,
            )
        )
        return text

    def name(self, text: str) -> str:
        """A name out of the data, as it is printed."""
        name = plain(text)
        self.names[name] = None
        return name


def previous_of(subject: Subject) -> Subject:
    """The month before.

    Raises:
        Unavailable: there is none.
    """
    if subject.previous is None:
        raise Unavailable("there is no earlier month of this deal to compare with")
    return subject.previous


def distance_told(subject: Subject) -> str:
    """That the earlier file is not of the month before; empty where it is, or where a day is not known."""
    previous = subject.previous
    if previous is None or previous.day is None or subject.day is None:
        return ""
    days = (subject.day - previous.day).days
    return (
        ""
        if days in MONTH_DAYS
        else f"the earlier file is of {day(previous.day)}, {counted(days, 'day')} before this one"
    )


def book_of(subject: Subject, period: str) -> Book:
    """The loans of the month that a query asks for."""
    if period != "previous":
        return Book(subject)
    return Book(subject, previous_of(subject).portfolio)


def unit_of_a_cushion(unit: Unit) -> Unit:
    """What a test of a unit passes or fails by: two percentages are so many points apart."""
    return "points" if unit == "percent" else unit


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def yes_no(is_so: bool) -> str:
    return "Yes." if is_so else "No."


def facility_words(said: Said, book: Book, row: int) -> str:
    names = book.portfolio.names.get("facility_name")
    if names is None or names.codes[row] < 0:
        return ""
    facility = names.values[int(names.codes[row])]
    return "" if facility == book.name_of(row) else f", {said.name(facility)}"
