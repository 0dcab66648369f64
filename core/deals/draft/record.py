"""What a draft is made of.

Its text, its document, what must be decided, and how its lines say where they come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from core.definition.written import Block, WrittenEntry
from core.portfolio.model.interpretation import Interpretation

Sure = Literal["certain", "guessed", "one amount ties", "market standard"]
"""How sure a line is: the file prints it or its figures tie by it; its words could be read in another way; one amount
ties by it; the file says nothing, and the market's standard stands in."""

CERTAIN: Final[Sure] = "certain"
GUESSED: Final[Sure] = "guessed"
ONE: Final[Sure] = "one amount ties"
MARKET: Final[Sure] = "market standard"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What an analyst must decide."""

    subject: str
    """A key of the definition, such as conventions.home_countries, or the label of a printed test."""
    why: str
    """What the file leaves open, in words."""
    limit: float | None = None
    """The printed limit of a test. Null: none is printed, or it is no test."""
    place: str | None = None
    """Sheet and cell of the file. Null: no page says anything."""


class DraftTies(msgspec.Struct, frozen=True, kw_only=True):
    """The printed figures beside ours under the draft."""

    figures: int
    """Printed figures that stand beside a figure of ours."""
    tied: int
    """Those that are the same."""


class DefinitionDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A definition out of what a file prints and what its figures tie by."""

    toml: str
    """The text, with a comment on each line; what must be decided stands at the top."""
    definition: dict[str, Any]
    """The same as a document, as a definition is put."""
    decide: list[Decision]
    """What an analyst must decide, in the order of the text."""
    ties: DraftTies
    interpretation: Interpretation
    """How the file's open choices were read."""


class DraftError(ValueError):
    """No definition can be drafted of a file; the message says why."""


def origin(place: str | None, sure: Sure) -> str:
    """Return the comment on a line: where it comes from, and how sure it is."""
    return f"{place}: {sure}" if place else sure


@dataclass(slots=True)
class Sections:
    """The tables of a draft while they are written.

    Keys by the name of their table, in the order of the schema.
    """

    keys: dict[str, list[WrittenEntry]] = field(default_factory=dict)
    decide: list[Decision] = field(default_factory=list)

    def put(self, path: str, value: Any, place: str | None, sure: Sure) -> None:
        """Set a key, section.key; what is set already stays."""
        self._add(path, WrittenEntry("", value, origin(place, sure)))

    def leave(self, path: str, value: Any, why: str, place: str | None = None) -> None:
        """Write a key as a comment and list it among what must be decided.

        What is there already stays.
        """
        if self._add(
            path, WrittenEntry("", value, f"to decide: {why}" + (f" ({place})" if place else ""), is_open=True)
        ):
            self.decide.append(Decision(subject=path, why=why, place=place))

    def has(self, path: str) -> bool:
        """Return whether a key is set."""
        section, _, key = path.rpartition(".")
        return any(each.key == key and not each.is_open for each in self.keys.get(section, ()))

    def _add(self, path: str, entry: WrittenEntry) -> bool:
        section, _, key = path.rpartition(".")
        entries = self.keys.setdefault(section, [])
        is_there = any(each.key == key for each in entries)
        if not is_there:
            entries.append(WrittenEntry(key, entry.value, entry.comment, is_open=entry.is_open))
        return not is_there

    def block(self, name: str) -> Block:
        """Return a table with its keys."""
        return Block(name, tuple(self.keys.get(name, ())))
