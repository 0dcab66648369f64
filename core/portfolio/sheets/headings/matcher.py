"""Headings to the targets of a mapping, by its words and by the vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from core.portfolio.cells.string_pool import key
from core.portfolio.model.fields import PROFILES, STANDARD_TARGETS, Field, Mapping
from core.portfolio.sheets.columns.aliases import INSTEAD, USUAL, role_of_target
from core.portfolio.sheets.columns.vocabulary import heading
from core.portfolio.sheets.headings.wording import spelt, without_footnotes, without_unit

MEMORY_MAX: Final = 20_000
"""Texts whose targets a matcher remembers: the words of one workbook come again with the next request."""

ROLES_MAX: Final = 5_000
"""Headings whose roles a matcher remembers."""

LISTED_BEFORE: Final = 5
"""Listed headings of a field that go before one that words alone name, behind the usual heading of its role."""

WORDS_MIN: Final = 3.0
"""Weight of the words of a heading that nobody lists from which it names a field."""

_GIVEN_NAME: Final = re.compile(r"^Column \d+$| \(\d+\)$", re.IGNORECASE)


Options = tuple[tuple[str, int, bool], ...]
"""(target, place among its aliases, is auxiliary) of the fields that a heading may feed."""


class Matcher:
    """Headers to targets by the aliases of some fields."""

    def __init__(self, fields: Sequence[Field], auxiliary: Sequence[Field] = ()) -> None:
        self._main = _alias_table(fields)
        self._auxiliary = _alias_table(auxiliary)
        self._own = {mapped.target: mapped.own for mapped in (*fields, *auxiliary) if mapped.own}
        self._memory: dict[str, Options] = {}
        self._roles: dict[tuple[str, tuple[str, ...], Options], str] = {}
        self.strings = frozenset(mapped.target for mapped in (*fields, *auxiliary) if mapped.type == "string")
        """Targets that hold text."""
        self.has_given_names = any(
            _GIVEN_NAME.search(alias) for mapped in (*fields, *auxiliary) for alias in mapped.aliases
        )
        """Whether an alias reads like a name that is given to a column without one of its own."""
        self.is_of_loans = any(mapped.target == "par_value" for mapped in fields)
        """Whether words of `words.tsv` name its fields."""

    def by_words(self, own: str, groups: tuple[str, ...] = ()) -> Options:
        """Return what an unlisted heading may feed by its words; () for other lists."""
        if not self.is_of_loans:
            return ()
        role, weight = heading(own, groups).best()
        return self.of_role(role) if weight >= WORDS_MIN else ()

    def of_role(self, role: str, *, is_listed: bool = False) -> Options:
        """Return what a column of some role may feed: as its usual heading does.

        The first headings that the mapping lists go before one that it does not list.
        """
        usual = USUAL.get(role)
        if usual is None:
            return ()
        options = self.options(usual)
        if not options and role in INSTEAD:
            options = self.options(INSTEAD[role])
        behind = 0 if is_listed else LISTED_BEFORE
        return tuple((target, place + behind, auxiliary) for target, place, auxiliary in options)

    def names_itself(self, options: Options) -> bool:
        """Return whether a mapping of one's own names a heading for such a field."""
        return any(
            target not in STANDARD_TARGETS or preference < self._own.get(target, 0) for target, preference, _ in options
        )

    def role_of(self, text: str, groups: tuple[str, ...], options: Options) -> str:
        """Return the role of a listed heading: by its words, else its first field."""
        known = self._roles.get((text, groups, options))
        if known is None:
            if len(self._roles) >= ROLES_MAX:
                self._roles.clear()
            known = self._roles[text, groups, options] = self._role_of(text, groups, options)
        return known

    def _role_of(self, text: str, groups: tuple[str, ...], options: Options) -> str:
        targets = {target for target, _, _ in options}
        weights = heading(text, groups).weights
        for _, role in sorted(((weight, role) for role, weight in weights.items() if weight > 0), reverse=True):
            if not targets.isdisjoint(target for target, _, _ in self.of_role(role)):
                return role
        return role_of_target(options[0][0])

    def options(self, header: str) -> Options:
        """Return what a header may feed: (target, preference, is auxiliary).

        By its exact key, else less a unit word.
        """
        known = self._memory.get(header)
        if known is None:
            if len(self._memory) >= MEMORY_MAX:
                self._memory.clear()
            known = self._memory[header] = self._options(header)
        return known

    def _options(self, header: str) -> Options:
        for candidate in _candidates(header):
            options = [(*option, False) for option in self._main.get(candidate, ())]
            options += [(*option, True) for option in self._auxiliary.get(candidate, ())]
            if options:
                return tuple(options)
        return ()


def _candidates(header: str) -> Iterator[str]:
    """Yield a header's keys: as is, less its unit, less footnote marks."""
    plain_header = without_footnotes(header)
    yield from dict.fromkeys(
        candidate
        for text in dict.fromkeys((header, plain_header))
        for candidate in (key(text), without_unit(key(text)), without_unit(spelt(text)))
    )


def _alias_table(fields: Iterable[Field]) -> dict[str, list[tuple[str, int]]]:
    """Return header's key -> (target, preference); own names yield to aliases."""
    table: dict[str, list[tuple[str, int]]] = {}
    fields = tuple(fields)
    for mapped in fields:
        for preference, alias in enumerate(mapped.aliases):
            entry = table.setdefault(key(alias), [])
            if all(target != mapped.target for target, _ in entry):
                entry.append((mapped.target, preference))
    for mapped in fields:
        table.setdefault(key(mapped.target), [(mapped.target, len(mapped.aliases))])
    return table


def matcher(mapping: Mapping) -> Matcher:
    """Return the matcher of a mapping, made once for its fields."""
    if PROFILES.get(mapping.id) is not mapping:
        return _matcher(mapping.fields, mapping.auxiliary)
    known = _OF_PROFILES.get(mapping.id)
    if known is None:
        known = _OF_PROFILES[mapping.id] = Matcher(mapping.fields, mapping.auxiliary)
    return known


_OF_PROFILES: Final[dict[str, Matcher]] = {}
"""Matchers of the built-in mappings by their names: comparing all fields of a mapping costs more than a search."""


@lru_cache(maxsize=64)
def _matcher(fields: tuple[Field, ...], auxiliary: tuple[Field, ...]) -> Matcher:
    return Matcher(fields, auxiliary)
