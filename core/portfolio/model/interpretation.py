"""How the choices that a file leaves open were read, and by which figures."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from core.frames.brief import brief
from core.words import counted

State = Literal["taken", "proposed", "open", "stated"]
"""taken: two independent printed figures tie by the reading, and none that tied without it stops. proposed: one amount
ties to the cent; the reading is used, with a doubt. open: nothing decides, and the market's reading stays. stated: the
definition says it."""

Part = Literal["numerator", "denominator", "value"]


class Tie(msgspec.Struct, frozen=True, kw_only=True):
    """A printed figure that ours ties with under a reading."""

    name: str
    """Label of the figure, as printed."""
    part: Part
    """Which of the three ties: what stands above the line, below it, or the figure itself."""
    printed: float
    """An amount in the deal's currency, or the figure in its unit."""
    place: str
    """Sheet and cell of the figure."""

    __repr__ = brief


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One way to read a choice."""

    option: str
    """Its name in the closed list of the choice."""
    words: str
    """In words, such as "defaulted loans stand in the denominator at their carrying value"."""
    ties: list[Tie]
    """Figures that tie by this reading and by no other of the choice."""

    __repr__ = brief


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A choice that the file leaves open, and how it was read."""

    name: str
    """Of the closed list, such as principal_cash or denominator."""
    state: State
    """taken: two printed figures tie by the reading, and none stops; proposed: one amount ties to the cent; open:
    nothing decides, and the market's reading stays; stated: the definition says it."""
    reading: Reading
    """The one that is used."""
    runner_up: Reading | None
    """The next best. Null: there is no other, or no figure tells them apart."""
    differs: bool
    """Whether the file's figures tie by the runner-up where the definition says this reading."""
    changed: bool = False
    """Whether another reading would be used without the file's figures."""

    __repr__ = brief


class HoldOut(msgspec.Struct, frozen=True, kw_only=True):
    """The honest accuracy of a reading.

    Each printed figure left out once, and inferred from the rest.
    """

    figures: int
    """Printed figures that tie, each left out once."""
    right: int
    """Those that still tie when they take no part in the search."""

    __repr__ = brief


class Interpretation(msgspec.Struct, frozen=True, kw_only=True):
    """How a file was read: its choices, and what ties by them."""

    choices: list[Choice]
    """Those of the closed list that concern the file, in the order of the list."""
    figures: int
    """Printed numerators, denominators and values that stand beside ours."""
    tied_before: int
    """Those that tie by the market's readings alone."""
    tied: int
    """Those that tie by the readings used."""
    hold_out: HoldOut | None
    """Null: it was not asked for."""

    __repr__ = brief

    @property
    def used(self) -> list[Choice]:
        """Return the choices that the file's own figures decided."""
        return [choice for choice in self.choices if choice.state in USED]

    @property
    def read_as(self) -> str:
        """Return the used readings in words, and how many printed figures tie by them.

        Those that change something come first; empty where none is used.
        """
        used = sorted(self.used, key=lambda choice: not choice.changed)
        words = [
            f"{choice.reading.words}{PROPOSED * (choice.state == 'proposed' and choice.changed)}" for choice in used
        ]
        if not words:
            return ""
        return f"{'; '.join(words)}; {self.tied:,} of {counted(self.figures, 'printed figure')} tie"

    @property
    def changed(self) -> list[Choice]:
        """Return those that would be read otherwise without the file's figures."""
        return [choice for choice in self.used if choice.changed]


USED: Final = ("taken", "proposed")
"""States of a choice that the file's figures decided."""

PROPOSED: Final = " (by one amount)"
"""What stands behind a reading that a single amount ties by."""
