"""Tables of tests, in the shapes of several trustees.

Columns, headings, sections, limits and statuses differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.made_pages.cells import Block, Expectation, Style
from tests.made_pages.figures import PrintedTest
from tests.made_pages.words import WORDS


@dataclass(frozen=True)
class Shape:
    """The columns of a table of tests, in order, with their headings.

    `above` are group headings over them.
    """

    columns: tuple[tuple[str, str], ...]
    limit: str
    """number; sign: ">= 120 %"; word: "Min 120 %"; column: its side stands in a column of its own."""
    above: tuple[str | None, ...]


CLAUSES = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv"]


def shape_of(rng: Random) -> Shape:
    shape = rng.choice(WORDS.shapes)
    return Shape(tuple(map(tuple, shape["columns"])), shape["limit"], tuple(shape["above"]))


class Wording:
    """One report's wordings: each thing is worded in one way throughout."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._wordings: dict[str, str] = {}
        self._ordinal = rng.randrange(2)

    def label(self, test: PrintedTest) -> str:
        """Return the test's label."""
        key = "ccc_a" if test.key == "ccc" and test.agency == "a" else test.key
        wording = self._wordings.setdefault(key, self._rng.choice(WORDS.tests[key]))
        ordinal = WORDS.ordinals[str(test.count)][self._ordinal] if test.key == "industry" else ""
        number = WORDS.counts.get(str(test.count), "")
        return wording.format(c=test.letters, A=WORDS.agencies.get(test.agency, ""), n=test.count, N=number, o=ordinal)


def tests_table(
    rng: Random, style: Style, shape: Shape, wording: Wording, groups: Sequence[tuple[str, Sequence[PrintedTest]]]
) -> Block:
    """One table; where it holds several groups, each begins with a row that names it."""
    block = Block()
    if shape.above:
        block.add(*shape.above)
    block.add(*(heading for _, heading in shape.columns))
    names = [column for column, _ in shape.columns]
    marks = rng.choice(WORDS.pass_fail)
    has_clauses = "clause" not in names and rng.random() < 0.3
    for title, tests in groups:
        if len(groups) > 1:
            block.add(title)
        for at, test in enumerate(tests):
            label = wording.label(test)
            clause = f"({CLAUSES[at % len(CLAUSES)]})"
            printed = f"{clause} {label}" if has_clauses and title != groups[0][0] else label
            row = block.add(*(_cell(column, test, printed, clause, style, shape, marks) for column in names))
            block.says.append(_expectation(test, printed, row, names))
    return block


def _cell(
    column: str, test: PrintedTest, label: str, clause: str, style: Style, shape: Shape, marks: Sequence[str]
) -> Any:
    assert test.limit is not None
    match column:
        case "name":
            return label
        case "clause":
            return clause
        case "num":
            return style.amount(test.numerator)
        case "den":
            return style.amount(test.denominator)
        case "value":
            return style.figure(test.value, test.unit, test.decimals)
        case "prior":
            return style.figure(test.prior, test.unit, test.decimals)
        case "cushion":
            return style.figure(abs(test.shown - test.limit), test.unit, test.decimals)
        case "side":
            return test.side.capitalize()
        case "limit":
            return _limit(test, test.limit, style, shape)
        case _:
            return marks[0 if test.status == "pass" else 1]


def _limit(test: PrintedTest, limit: float, style: Style, shape: Shape) -> Any:
    decimals = max(test.decimals, 1 if test.unit == "percent" else 0)
    if shape.limit in ("sign", "word"):
        return style.bound(limit, test.unit, decimals, test.side, is_word=shape.limit == "word")
    return style.figure(limit, test.unit, decimals)


def _expectation(test: PrintedTest, label: str, row: int, names: Sequence[str]) -> Expectation:
    is_whole = "num" in names and test.numerator is not None
    assert test.numerator is None or test.denominator is not None
    return Expectation(
        kind="test",
        label=label,
        value=test.shown,
        within=0.5 * 10.0**-test.decimals,
        subject=test.subject,
        numerator=test.numerator / 100 if is_whole and test.numerator is not None else None,
        denominator=test.denominator / 100 if is_whole and test.denominator is not None else None,
        trigger=test.limit,
        side=test.side,
        status=test.status,
        row=row,
        column=names.index("value"),
    )
