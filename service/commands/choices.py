"""How a file's open choices were read, as a page's blocks.

What ties by each reading, and how honest the search is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from service.commands.output import Grid, Line, OutputColumn, counted

if TYPE_CHECKING:
    from core.portfolio.model.interpretation import Choice, Interpretation, Reading, Tie

TIES_SHOWN: Final = 2
"""Figures that a choice names on a page, with their cells; JSON has all of them."""

NAME_MAX: Final = 44
"""Letters of a figure's name that are shown."""


def choice_blocks(interpretation: Interpretation | None) -> list[Line | Grid]:
    """A row for each choice, and a line on what ties.

    Nothing where the file prints nothing that could decide any.
    """
    if interpretation is None or not interpretation.choices:
        return []
    from core.definition.choices import BY_NAME

    decided = [choice for choice in interpretation.choices if choice.state != "open" or choice.runner_up is not None]
    still_open = [BY_NAME[choice.name].words for choice in interpretation.choices if choice not in decided]
    return [
        Line(),
        Line("How the choices that the file leaves open were read:"),
        *([Grid(columns=_COLUMNS, items=decided)] if decided else []),
        *([Line(f"No printed figure decides: {'; '.join(still_open)}.")] if still_open else []),
        Line(_count_words(interpretation)),
    ]


def _count_words(interpretation: Interpretation) -> str:
    """How many printed figures tie, and how many would if each took no part in the search."""
    words = f"{interpretation.tied:,} of {counted(interpretation.figures, 'printed figure')} tie by these readings"
    if interpretation.tied != interpretation.tied_before:
        words += f", {interpretation.tied_before:,} by the market's alone"
    hold_out = interpretation.hold_out
    if hold_out is None or not hold_out.figures:
        return f"{words}."
    return f"{words}; each figure left out once: {hold_out.right:,} of {hold_out.figures:,} come out right."


def _name(choice: Choice) -> str:
    """The choice's name in words, with the agency whose it is: "masked, S&P's"."""
    from core.definition.choices import WHOSE

    name, _, agency = choice.name.rpartition("_")
    words = f"{name}, {WHOSE[agency]}" if agency in WHOSE else choice.name
    return words.replace("_", " ")


def _ties(ties: Sequence[Tie]) -> str:
    """How many figures tie by a reading alone, the first of them with their cells."""
    from core.frames.brief import shortened

    if not ties:
        return "-"
    by_place = list({tie.place: tie for tie in ties}.values())[:TIES_SHOWN]
    named = "; ".join(f"{shortened(tie.name, NAME_MAX)} ({tie.place})" for tie in by_place)
    more = len(ties) - sum(tie.place in {each.place for each in by_place} for tie in ties)
    return f"{len(ties):,}: {named}{f' and {more:,} more' if more > 0 else ''}"


def _reading(reading: Reading | None) -> str:
    if reading is None:
        return "-"
    return f"{reading.words} ({counted(len(reading.ties), 'figure')})"


def _state(choice: Choice) -> str:
    return f"{choice.state}, differs" if choice.differs else choice.state


_COLUMNS: Final = [
    OutputColumn(heading="Choice", shown=_name, folds=True),
    OutputColumn(heading="State", shown=_state, folds=True),
    OutputColumn(heading="Read as", shown=lambda choice: choice.reading.words, folds=True),
    OutputColumn(heading="Figures that tie by it alone", shown=lambda choice: _ties(choice.reading.ties), folds=True),
    OutputColumn(heading="Runner-up", shown=lambda choice: _reading(choice.runner_up), folds=True),
]
