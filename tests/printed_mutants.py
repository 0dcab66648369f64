"""Files whose printed figures were altered at random.

`python -m tests.printed_mutants` tries fifty of each file.

A mutant passes where no convention of it is used that the file itself does not prove, unless with a doubt, and where
what was altered ties no more.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from core.deals.tie_out import tie_out
from core.files.read import read
from core.grid.address import parse_cell
from core.grid.column import frozen
from core.grid.sheet import Workbook
from core.interpretation.interpret import interpreted
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact
from tests.real_reports.board import DATA, FILES, NAMES

MUTANTS = 50
ALTERED_MAX = 3
"""Figures of one mutant that are altered."""


class Mutant(NamedTuple):
    """A portfolio with altered figures, and where these stand."""

    portfolio: Portfolio
    places: frozenset[str]


def altered(fact: Fact, chance: random.Random) -> Fact:
    """A figure with one of its parts altered.

    By a factor, by some digits, or by powers of ten.

    A value beside its amounts is altered by two percent at least: below that the amounts decide.
    """
    parts = [name for name in ("value", "numerator", "denominator") if getattr(fact, name)]
    name = chance.choice(parts)
    amount = getattr(fact, name)
    second = chance.choice((
        amount * chance.uniform(0.5, 1.5), amount + 10.0 ** chance.randint(-1, 6), amount * 10, amount / 1_000,
    ))  # fmt: skip
    if name == "value":
        second = _moved(amount, chance)
    return replace(fact, **{name: second if name == "value" else round(second, 2)})


def _moved(value: float, chance: random.Random) -> float:
    """A value that is far from what it was: near it, its amounts decide."""
    second = value * chance.choice((chance.uniform(0.5, 0.97), chance.uniform(1.03, 1.5), 10.0))
    return second if abs(second - value) > VALUE_LEAST else value + chance.uniform(VALUE_LEAST, 5.0)


VALUE_LEAST = 0.5
"""Percent points, or years, by which a value is altered at least."""


def of_facts(portfolio: Portfolio, chance: random.Random) -> Mutant:
    """The same loans beside altered figures."""
    figures = [fact for fact in portfolio.facts.figures if fact.value and (fact.numerator or fact.decimals)]
    taken = chance.sample(figures, chance.randint(1, ALTERED_MAX))
    changed = {id(fact): altered(fact, chance) for fact in taken}
    facts = tuple(changed.get(id(fact), fact) for fact in portfolio.facts.all)
    second = replace(portfolio, facts=replace(portfolio.facts, all=facts))
    return Mutant(second, frozenset(fact.place for fact in taken if changed[id(fact)] != fact))


def of_cells(book: Workbook, portfolio: Portfolio, chance: random.Random) -> Mutant:
    """The file with altered cells, read again."""
    figures = [fact for fact in portfolio.facts.figures if fact.value and _has_number(book, fact)]
    if not figures:
        return Mutant(portfolio, frozenset())
    taken = chance.sample(figures, min(len(figures), chance.randint(1, ALTERED_MAX)))
    for fact in taken:
        assert fact.value is not None
        book = _with_cell(book, fact, _moved(fact.value, chance) / fact.value)
    return Mutant(Portfolio.from_workbook(book), frozenset(fact.place for fact in taken))


def _cell_of(fact: Fact) -> tuple[str, int, int] | None:
    sheet, _, cell = fact.place.rpartition("!")
    return (sheet.strip("'").replace("''", "'"), *parse_cell(cell)) if sheet and cell else None


def _has_number(book: Workbook, fact: Fact) -> bool:
    place = _cell_of(fact)
    sheet = None if place is None else next((item for item in book.sheets if item.name == place[0]), None)
    return place is not None and sheet is not None and isinstance(sheet.value(*place[1:]), float)


def _with_cell(book: Workbook, fact: Fact, factor: float) -> Workbook:
    place = _cell_of(fact)
    assert place is not None
    name, row, column = place
    sheet = next(item for item in book.sheets if item.name == name)
    cells = sheet.columns[column]
    assert cells is not None
    numbers = np.array(cells.numbers)
    numbers[row - cells.start] *= factor
    columns = list(sheet.columns)
    columns[column] = replace(cells, numbers=frozen(numbers))
    second = replace(sheet, columns=tuple(columns))
    return replace(book, sheets=tuple(second if item is sheet else item for item in book.sheets))


def faults(mutant: Mutant, original: Portfolio) -> Iterator[str]:
    """What is wrong with the reading of a mutant."""
    used = interpreted(mutant.portfolio)
    assert used.interpretation is not None
    assert original.interpretation is not None
    proved = {(item.name, item.reading.option) for item in original.interpretation.used}
    doubted = " ".join(warning.message for warning in used.notes.warnings if warning.code == "reading_proposed")
    for item in used.interpretation.changed:
        if (item.name, item.reading.option) not in proved and item.reading.words not in doubted:
            yield f"{item.name}: {item.reading.words}, {item.state} by {[tie.printed for tie in item.reading.ties]}"
    for row in tie_out(used):
        if row.cell in mutant.places and row.agrees:
            yield f"{row.trustee_name} at {row.cell} still ties"


def facts_mutants(portfolio: Portfolio, seed: int, count: int) -> Iterator[Mutant]:
    """Mutants of one file's figures."""
    for number in range(count):
        yield of_facts(portfolio, random.Random(f"{seed} {number}"))


def main(names: Sequence[str] = NAMES) -> None:
    """Print what is wrong with the mutants of each file, of its figures and of its cells."""
    for name in names:
        book = read(DATA / FILES[name][0])
        plain = Portfolio.from_workbook(book)
        original, began, count = interpreted(plain), perf_counter(), 0
        cells = (of_cells(book, plain, random.Random(f"cells {number}")) for number in range(MUTANTS))
        for kind, mutants in (("figures", facts_mutants(plain, 1, MUTANTS)), ("cells", cells)):
            for number, mutant in enumerate(mutants):
                for fault in faults(mutant, original):
                    count += 1
                    print(f"{name}, {kind}, mutant {number}: {fault}")
        print(f"{name}: {count} faults of {2 * MUTANTS} mutants, {perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
