"""A chart over the phrases of a question, and the cheapest covers of them all.

A row of a grammar says what a sequence of phrases makes together. The chart has an edge for each phrase and for each
row that applies, anywhere. A frame says which kinds of edges a kind of query takes, and how many of each; a cover is
a sequence of such edges that leaves no phrase out, but for words that change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from inspect import signature
from itertools import product
from typing import Any, Final

from core.questions.grammar.lexemes import Lexeme

UNREAD_COST: Final = 20.0
"""Of a phrase that no edge takes."""

IDLE_COST: Final = 1.3
"""Of passing over a phrase that can mean something and need not."""

STEPS_MAX: Final = 4_000
"""Partial covers that are looked at; a question with more ways to read it is not understood."""

EDGES_MAX: Final = 4_000

_COSTS: Final = {"and": 0.1, "whole": 0.4, "if": 0.1}
"""Of phrases that say little by themselves."""

_BREAKS: Final = frozenset(";?")


@dataclass(frozen=True, slots=True)
class Edge:
    """What some phrases of the question make together."""

    kind: str
    value: Any
    start: int
    end: int
    """The place after its last phrase."""
    cost: float = 1.0


@dataclass(frozen=True, slots=True)
class PatternElement:
    name: str
    """The parameter that its value is."""
    kind: str
    values: frozenset[str] = frozenset()
    """Of which its value is one; empty for any."""
    word: str = ""
    """The word that stands there, in place of an edge."""


@dataclass(frozen=True, slots=True)
class GrammarRule:
    kind: str
    elements: tuple[PatternElement, ...]
    parameters: tuple[str, ...]
    build: Callable[..., Any] | None
    cost: float


GrammarRow = tuple[str, str, Callable[..., Any] | None, float]
"""(the kind that is made, patterns, what makes its value, the cost)

A pattern names kinds, perhaps with values (`comparison:<|<=`), an alias of several (`@rating`) or a word (`'to'`); `?`
ends what may be absent, `;` parts patterns, `last=letter` calls a second one by a name. The function takes the values
by these names, and where it asks for them the chart's `context`, the `span`, its `words`, the `text` and the `raw`
words of its first phrase, and the `last_text`. It returns None where the row does not apply; without a function the
value is that of the last kind.
"""


def compile_rules(rows: Sequence[GrammarRow], aliases: Mapping[str, str]) -> dict[str, list[GrammarRule]]:
    """Compile the rows of a grammar, by the kind of edge, or the word."""
    rules: dict[str, list[GrammarRule]] = {}
    for kind, patterns, build, cost in rows:
        parameters = () if build is None else tuple(signature(build).parameters)
        for pattern in patterns.split(";"):
            names = pattern.split()
            for present in product(*((True, False) if name.endswith("?") else (True,) for name in names)):
                kept = [name.removesuffix("?") for name, is_there in zip(names, present, strict=True) if is_there]
                elements = tuple(_element(name, aliases) for name in kept)
                key = f"'{elements[0].word}'" if elements[0].word else elements[0].kind
                rules.setdefault(key, []).append(GrammarRule(kind, elements, parameters, build, cost))
    return rules


def _element(text: str, aliases: Mapping[str, str]) -> PatternElement:
    if text.startswith("'"):
        return PatternElement("", "", word=text.strip("'").replace("_", " "))
    name, _, rest = text.rpartition("=") if not text.partition("=")[0].count(":") else ("", "", text)
    kind, _, values = aliases.get(rest, rest).partition(":")
    return PatternElement(name or kind, kind, frozenset(values.split("|")) if values else frozenset())


class PhraseChart:
    """The edges over a question's phrases."""

    def __init__(self, lexemes: Sequence[Lexeme], rules: Mapping[str, list[GrammarRule]], context: Any) -> None:
        self.lexemes = lexemes
        self.edges: list[list[Edge]] = [[] for _ in range(len(lexemes) + 1)]
        self._rules = rules
        self._context = context
        self._next = [self._after(at) for at in range(len(lexemes) + 1)]
        self._room = EDGES_MAX
        for start in reversed(range(len(lexemes))):
            self._fill(start)

    def has(self, *kinds: str) -> bool:
        return any(edge.kind in kinds for edges in self.edges for edge in edges)

    def _after(self, at: int) -> tuple[int, ...]:
        """Places where the next part of a row may begin."""
        places = []
        while at < len(self.lexemes) and not (at and _BREAKS & set(self.lexemes[at].before)):
            places.append(at)
            if not self.lexemes[at].is_idle:
                break
            at += 1
        return tuple(places)

    def _fill(self, start: int) -> None:
        lexeme = self.lexemes[start]
        agenda = [
            Edge(meaning.kind, meaning.value, start, start + 1, _COSTS.get(meaning.kind, 1.0))
            for meaning in lexeme.meanings
            if meaning.kind not in ("filler", "ask")
        ]
        seen: set[tuple[str, Any, int]] = set()
        for rule in self._rules.get(f"'{lexeme.text}'", ()):
            agenda += self._apply(rule, (Edge("word", lexeme.text, start, start + 1),))
        while agenda and self._room > 0:
            edge = agenda.pop()
            key = (edge.kind, edge.value, edge.end)
            if key in seen:
                continue
            seen.add(key)
            self.edges[start].append(edge)
            self._room -= 1
            for rule in self._rules.get(edge.kind, ()):
                if _fits(rule.elements[0], edge):
                    agenda += self._apply(rule, (edge,))

    def _apply(self, rule: GrammarRule, parts: tuple[Edge, ...]) -> list[Edge]:
        """The edges that a row makes of its first parts and what follows."""
        if len(parts) == len(rule.elements):
            value = self._value(rule, parts)
            return [] if value is None else [Edge(rule.kind, value, parts[0].start, parts[-1].end, rule.cost)]
        element = rule.elements[len(parts)]
        edges: list[Edge] = []
        for at in self._next[parts[-1].end]:
            if element.word:
                if self.lexemes[at].text == element.word:
                    edges += self._apply(rule, (*parts, Edge("word", element.word, at, at + 1)))
                continue
            for edge in self.edges[at]:
                if edge.kind == element.kind and _fits(element, edge):
                    edges += self._apply(rule, (*parts, edge))
        return edges

    def _value(self, rule: GrammarRule, parts: tuple[Edge, ...]) -> Any:
        if rule.build is None:
            return next(part.value for part in reversed(parts) if part.kind != "word")
        values = {element.name: part.value for element, part in zip(rule.elements, parts, strict=True)}
        span, first, last = (parts[0].start, parts[-1].end), self.lexemes[parts[0].start], self.lexemes[parts[-1].start]
        known = {
            "context": self._context,
            "span": span,
            "words": " ".join(lexeme.raw for lexeme in self.lexemes[slice(*span)]),
            "text": first.text,
            "raw": first.raw,
            "last_text": last.text,
        }
        return rule.build(*(values.get(name, known.get(name)) for name in rule.parameters))


def _fits(element: PatternElement, edge: Edge) -> bool:
    return not element.values or edge.value in element.values


@dataclass(frozen=True, slots=True)
class Cover:
    """Edges of a question in their order."""

    edges: tuple[Edge, ...]
    unread: tuple[int, ...]

    def all(self, *kinds: str) -> list[Edge]:
        return [edge for edge in self.edges if edge.kind in kinds]

    def values(self, *kinds: str) -> list[Any]:
        return [edge.value for edge in self.edges if edge.kind in kinds]

    def first(self, kind: str) -> Any:
        """The value of the first edge of a kind, None without one."""
        return next((edge.value for edge in self.edges if edge.kind == kind), None)

    def has(self, *kinds: str) -> bool:
        return any(edge.kind in kinds for edge in self.edges)


def parse_slots(text: str) -> dict[str, int]:
    """Parse how many edges of each kind a frame takes."""
    slots = {}
    for kind, mark in re.findall(r"(\w+)([?*]?)", text):
        slots[kind] = 99 if mark == "*" else 1
    return slots


def covers(chart: PhraseChart, slots: Mapping[str, int]) -> Iterator[Cover]:
    """Yield the covers of a question by a frame's kinds of edges, the cheapest first."""
    lexemes = chart.lexemes
    count = len(lexemes)
    steps = [[edge for edge in edges if edge.kind in slots] for edges in chart.edges]
    skips = [0.0 if lexeme.is_idle else IDLE_COST if lexeme.may_be_idle else UNREAD_COST for lexeme in lexemes]
    ahead = [0.0] * (count + 1)
    for at in reversed(range(count)):
        ahead[at] = min([skips[at] + ahead[at + 1], *(edge.cost + ahead[edge.end] for edge in steps[at])])
    queue: list[tuple[float, int, int, Cover]] = [(ahead[0], 0, 0, Cover((), ()))]
    ticket = 0
    while queue and ticket < STEPS_MAX:
        estimate, _, at, cover = heappop(queue)
        if at == count:
            yield cover
            continue
        cost = estimate - ahead[at]
        unread = cover.unread if skips[at] < UNREAD_COST else (*cover.unread, at)
        following = [(skips[at], at + 1, Cover(cover.edges, unread))]
        following += [
            (edge.cost, edge.end, Cover((*cover.edges, edge), cover.unread))
            for edge in steps[at]
            if sum(earlier.kind == edge.kind for earlier in cover.edges) < slots[edge.kind]
        ]
        for step, end, reached in following:
            ticket += 1
            heappush(queue, (cost + step + ahead[end], ticket, end, reached))
