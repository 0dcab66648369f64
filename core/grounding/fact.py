"""What is known, as it is given to whoever words it.

A text, and a figure with its unit where it is about one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KnownFact:
    """One thing that is known.

    Figures within the text count as known too, as exactly as they are written there.
    """

    text: str
    """A sentence, or what the value is: "cushion of the Class A/B overcollateralization test"."""
    value: float | date | None = None
    unit: str = ""
    """Of a number: percent, points, price (percent of par), bps, fraction, years, days, amount or a currency (USD),
    count or what is counted (loans), x for a multiple; any other word, or none, for a plain one."""
    about: str = ""
    """Whose the value is, as texts name it: of a test, a loan, an industry."""
    names: tuple[str, ...] = ()
    """What of the text, and of `about`, somebody wrote into the file: it is shown to no model."""


class AnswerFigure(Protocol):
    """A figure that an answer or an insight prints."""

    @property
    def name(self) -> str:
        """What it is."""

    @property
    def value(self) -> float | int | str | date | None:
        """None where there is none."""

    @property
    def unit(self) -> str:
        """As of a `KnownFact`."""

    @property
    def text(self) -> str:
        """As it is printed."""


def facts_of(text: str, names: Sequence[str], figures: Iterable[AnswerFigure]) -> list[KnownFact]:
    """Return the facts of a text that was printed.

    Its paragraphs, and each of its figures as exactly as it is known.

    Args:
        names: what of the text comes out of the file.
        figures: where one has an `of`, that is whose it is.
    """
    own_names = tuple(dict.fromkeys(names))
    facts = [KnownFact(line, names=own_names) for line in text.splitlines() if line.strip()]
    for figure in figures:
        about = str(getattr(figure, "of", None) or "")
        subject = f"{figure.name} of {about}" if about else figure.name
        known = figure.value
        if isinstance(known, str | None):
            facts.append(KnownFact(f"{subject}: {figure.text}", about=about, names=own_names))
        else:
            facts.append(KnownFact(subject, known, figure.unit, about, own_names))
    return facts
