"""What a confined child does for insights.

Look for what is worth a look, and answer questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from msgspec import Struct

from core.insights.analyst import analyse
from core.insights.insight import Insight, Stakeholder
from core.insights.subject import Subject
from core.questions.answer import Answer, Figure, Support, Unit
from core.questions.ask import ask


def find(
    subjects: Sequence[Subject], stakeholder: Stakeholder, angle: int, most: int, labels: dict[str, str]
) -> list[Insight]:
    """Return what there is to say of some portfolios, to a reader of a kind."""
    return analyse(subjects, stakeholder=stakeholder, angle=angle, most=most, labels=labels)


class Shown(Struct, frozen=True, kw_only=True):
    """A figure of an answer. Its value is in one of three fields, since MessagePack writes days as texts."""

    name: str
    of: str | None
    identifier: str | None
    subject: str
    number: float | int | None
    day: date | None
    word: str | None
    unit: Unit
    text: str
    support: Support

    def as_figure(self) -> Figure:
        value = next((value for value in (self.number, self.day, self.word) if value is not None), None)
        return Figure(**_fields(self, Figure, "value"), value=value)


class Answered(Struct, frozen=True, kw_only=True):
    """An answer."""

    question: str
    answered: bool
    text: str
    understood: str
    query: dict[str, Any] | None
    figures: list[Shown]
    names: list[str]
    warnings: list[str]
    suggestions: list[str]

    def as_answer(self) -> Answer:
        return Answer(**_fields(self, Answer, "figures"), figures=[figure.as_figure() for figure in self.figures])


def answer(question: str, subjects: Sequence[Subject], labels: dict[str, str]) -> Answered:
    """Return what some portfolios say to a question."""
    result = ask(question, subjects, labels=labels)
    return Answered(**_fields(result, Answer, "figures"), figures=[_to_shown(figure) for figure in result.figures])


def _to_shown(figure: Figure) -> Shown:
    value = figure.value
    return Shown(
        **_fields(figure, Figure, "value"),
        number=value if isinstance(value, int | float) else None,
        day=value if isinstance(value, date) else None,
        word=value if isinstance(value, str) else None,
    )


def _fields(source: Struct, kind: type[Struct], left_out: str) -> dict[str, Any]:
    return {name: getattr(source, name) for name in kind.__struct_fields__ if name != left_out}
