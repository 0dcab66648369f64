"""What comes back of a question.

Sentences, the figures that they print, and what these rest on.
"""

from __future__ import annotations

from datetime import date
from textwrap import wrap
from typing import Any, Final, Literal

from msgspec import Struct, to_builtins

from core.frames.brief import CHARACTERS_MAX, brief, shortened
from core.frames.notebook import card, table

Unit = Literal[
    "percent", "points", "price", "factor", "score", "years", "amount", "number", "bps", "count", "days", "date",
    "rating", "text",
]  # fmt: skip
"""Percent points of something (`points`: of a change in percent or price); price is percent of par; amount is money of
the deal's currency; bps basis points. The last three are no figures: a day, a symbol, a status or a name."""

QUESTION_LENGTH_MAX: Final = 1_000
"""Characters of a question."""

SUBJECTS_MAX: Final = 20
"""Portfolios of one question; the first ones are asked, and the answer says how many are not."""

ROWS_SHOWN: Final = 50
"""Loans, groups or tests that an answer lists; it says how many more there are."""

LOANS_SHOWN: Final = 100
"""Loans that the support of a figure names by their rows; `loans` says how many there are."""


class QuestionError(ValueError):
    """A text that is no question: empty, or longer than `QUESTION_LENGTH_MAX`."""


class Support(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a figure rests on, so that a reader can work it out again."""

    operation: str
    """In words: sum of par_value of performing loans; result of the test; ..."""
    columns: dict[str, str | None] = {}
    """Fields that were read, with their cells where the file is a sheet."""
    loans: int | None = None
    """How many loans."""
    rows: list[int] = []
    """Their places among the loans that were read, from 0; the first `LOANS_SHOWN`."""
    test_id: str | None = None

    __repr__ = brief


class Figure(Struct, frozen=True, kw_only=True):
    """One figure of an answer."""

    name: str
    """What it is: par, share of the collateral principal amount, cushion, WARF, ..."""
    of: str | None = None
    """Whose it is, where that is a loan, an obligor, an industry, a test, ...: its name out of the data."""
    identifier: str | None = None
    """Of a loan: its CUSIP, else its LoanX ID, else its ISIN."""
    subject: str
    """The portfolio."""
    value: float | int | str | date | None
    """None where there is none: the answer says why."""
    unit: Unit
    text: str
    """As it is printed, with its unit."""
    support: Support

    __repr__ = brief


class Answer(Struct, frozen=True, kw_only=True):
    """The answer to a question."""

    question: str
    answered: bool
    """False where the question was not understood, or the data do not have what it asks for; the text says which."""
    text: str
    understood: str
    """The query in words; empty where the question was not understood."""
    query: dict[str, Any] | None
    """The same as data; None where the question was not understood."""
    figures: list[Figure]
    names: list[str]
    """Names out of the data that the text prints, in its order; digits in them are no figures."""
    warnings: list[str]
    """What was assumed, left out or is open; the text begins with it."""
    suggestions: list[str]
    """Three questions that can be answered over the same data, where this one was not."""

    @property
    def supporting_data(self) -> dict[str, Any]:
        """What the text rests on, as plain JSON."""
        kept = ("understood", "query", "figures", "names", "warnings")
        data: dict[str, Any] = to_builtins({name: getattr(self, name) for name in kept})
        return data

    def __repr__(self) -> str:
        return shortened(f"Answer({self.text[:CHARACTERS_MAX]!r})")

    def _repr_html_(self) -> str:
        lines = [line for text in self.text[:TEXT_SHOWN].split("\n") for line in wrap(text, 110)]
        rows = [[figure.name, figure.of, figure.text] for figure in self.figures[:ROWS_SHOWN]]
        return card(self.question, lines, *([table(["figure", "of", "value"], rows)] if rows else []))


TEXT_SHOWN: Final = 4_000
"""Characters of an answer that a notebook shows."""
