"""The lines of calculations (par, cash, interest, deductions), roles, sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.portfolio.model.facts import Fact, FactSubject
from core.portfolio.pages.report import words
from core.portfolio.pages.report.adding import SignedAmount, Sum, leaves, sums_of
from core.portfolio.pages.report.blocks import Blocks
from core.portfolio.pages.report.identities import Item
from core.portfolio.pages.report.lines import PageLine
from core.portfolio.pages.report.subjects import coverage_of
from core.portfolio.sheets.headings import wording

COMPONENTS_MAX: Final = 2_000
"""Lines of calculations of one file."""

CERTAIN_LEAD: Final = 1.5
"""By how much the best role leads the next one where it is certain."""

_CPA_LEAST: Final = 5.0
"""Weight from which words for a collateral principal amount win over those for par, which are among them."""

_DEFAULTED: Final = re.compile(r"\bdefault\w*")
_WITHOUT: Final = re.compile(
    r"\b(?:excl|excluding|exclusive|other than|net of|without|non|less|performing)\b.*\bdefault"
)
"""Words of a par that is without defaulted loans."""

_CARRIED: Final = re.compile(r"\b(?:carr(?:ied|ying)|lower of|market value|recovery|collateral value|at )")
_TAKES_OFF: Final = re.compile(r"\b(?:adjustment|haircut|reduction|deduction)s?\b")
_ADDED_TO_NUMERATOR: Final = frozenset(("defcarry", "accint"))
TAKEN_OFF: Final = frozenset(("disc", "cccx", "hair", "senior"))
"""Roles that are deductions whatever their printed sign is."""

_LESS: Final = TAKEN_OFF | {"defpar"}
"""Roles of lines that a sum takes off where it does not add them as printed."""


@dataclass(frozen=True, slots=True)
class Component:
    """One line of a calculation."""

    line: PageLine
    role: str | None
    """As in `FactSubject.measure`; None where its words say none."""
    is_certain: bool
    scale: float = 1.0
    """What its page says that amounts are to be multiplied by: 1,000 for thousands."""

    @property
    def value(self) -> float:
        """Return currency units."""
        return self.line.value * self.scale

    @property
    def decimals(self) -> int | None:
        """Return the decimals of `value` that the page shows; below 0 for thousands."""
        return decimals_at(self.line.value, self.line.decimals, self.scale)

    def item(self, role: str | None = None) -> Item:
        """Return the line as a part of a sum, under another role where one is given."""
        return Item(role or self.role or "", self.value, (self.line.place,), self.decimals)


def decimals_at(number: float, decimals: int | None, scale: float) -> int | None:
    """Return a number's shown decimals after it is multiplied."""
    if scale == 1.0:
        return decimals
    if decimals is None:
        decimals = len(f"{number:.6f}".rstrip("0").partition(".")[2])
    return decimals - (3 if scale == 1_000.0 else 6)


@dataclass(frozen=True, slots=True)
class ComponentPage:
    """The components of one page, and the sums among them."""

    components: tuple[Component, ...]
    sums: tuple[Sum, ...]

    def parts(self, at: int) -> tuple[tuple[Component, float], ...]:
        """Return the lines that make the sum at a place, and what each adds."""
        return tuple((self.components[line], added) for line, added in leaves(self.sums, at))


def find_components(pages: Iterable[Blocks]) -> list[ComponentPage]:
    """Return the lines of amounts on all pages; percentages and counts are none."""
    component_pages: list[ComponentPage] = []
    count = 0
    for blocks in pages:
        components = tuple(_components(blocks.lines))[: COMPONENTS_MAX - count]
        count += len(components)
        if components:
            component_pages.append(_page(components))
    return component_pages


def facts_of(pages: Sequence[ComponentPage]) -> Iterator[Fact]:
    """Yield the components as facts: what is a sum of others is a total."""
    for page in pages:
        totals = {sum_value.at for sum_value in page.sums}
        for at, component in enumerate(page.components):
            if component.role is None and at not in totals and not component.line.is_total:
                continue
            yield Fact(
                kind="total" if component.line.is_total or (at in totals and component.role is None) else "component",
                label=component.line.label,
                subject=None if component.role is None else FactSubject(measure=component.role),
                value=component.value,
                place=component.line.place,
                unit="amount",
                decimals=component.decimals,
                group=component.line.title,
                by="sum" if at in totals else "words",
                is_guessed=component.role is not None and not component.is_certain,
            )


def role_of(label: str, *, is_less: bool = False) -> tuple[str | None, bool]:
    """Return (role, whether it is certain) of a line by its words."""
    scores = dict(words.scores("line", label))
    plain = words.normal(label)
    if scores.get("cpa", 0.0) >= max(_CPA_LEAST, scores.get("acpa", 0.0)):
        scores.pop("par", None)
    if _DEFAULTED.search(plain) and not _WITHOUT.search(plain.replace(" less ", " ", 1) if is_less else plain):
        is_carried = _CARRIED.search(plain) is not None
        if {"par", "perf"} & scores.keys() and not is_carried:
            scores = {"defpar": max(scores.values())}
        elif is_carried and not _TAKES_OFF.search(plain):
            scores["defcarry"] = max(words.SCORE_MIN, *scores.values(), 0.0) + CERTAIN_LEAD
    elif _WITHOUT.search(plain) and "par" in scores:
        scores["perf"] = scores.get("perf", 0.0) + scores.pop("par")
    guess = words.guess_of(scores)
    if guess.role == "count":
        return None, False
    return guess.role, guess.lead >= CERTAIN_LEAD


def _components(lines: Sequence[PageLine]) -> Iterator[Component]:
    for line in _in_blocks(lines):
        if line.is_percent or (line.decimals is not None and line.decimals > 2 and abs(line.value) < 100.0):
            continue
        if words.guess("line", line.label).role == "count":
            continue
        role, is_certain = role_of(line.label, is_less=line.is_less)
        if " denominator " in words.normal(line.label) and coverage_of(line.title) is not None:
            role = None  # of the notes, and no collateral principal amount
        printed_scale = wording.magnitude(line.label)
        titled = wording.magnitude_of_title(line.title)
        scale = printed_scale if printed_scale != 1.0 else titled if titled != 1.0 else line.page.scale
        yield Component(line, role, is_certain, scale)


def _in_blocks(lines: Sequence[PageLine]) -> list[PageLine]:
    """Return lines from the top, or column by column where blocks are side by side."""
    if len({line.row for line in lines}) == len(lines):
        return list(lines)
    return sorted(lines, key=lambda line: (line.column, line.row))


def _page(components: tuple[Component, ...]) -> ComponentPage:
    """Return the components with their sums, of a page's blocks together.

    What is called a collateral balance, and makes a sum with cash, is a par.
    """
    sums = sums_of(
        [
            SignedAmount(component.value, component.line.is_less or component.role in _LESS, component.line.is_total)
            for component in components
        ]
    )
    totals = {total.at for total in sums}
    pars: set[int] = set()
    for sum_value in sums:
        roles = {components[at].role: at for at, _ in sum_value.parts}
        if {"cash", "cpa"} <= roles.keys() and not roles.keys() & {"par", "perf"} and roles["cpa"] not in totals:
            pars.add(roles["cpa"])
    lines = (replace(component, role="par") if at in pars else component for at, component in enumerate(components))
    return ComponentPage(tuple(lines), sums)


def with_sign(item: Item) -> Item:
    """Return a part of a numerator with its role's sign, whatever is printed."""
    if item.role in TAKEN_OFF:
        return item.as_deduction
    return item.as_addition if item.role in _ADDED_TO_NUMERATOR else item
