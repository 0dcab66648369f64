"""The bound on a formula's work is one.

Random formulas over hostile values take no longer than it says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from math import inf
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core.formula.functions.families  # noqa: F401 - fills the catalogue
from core.formula.context import ContextEnvironment
from core.formula.functions.catalogue import FUNCTIONS, Function
from core.formula.language.errors import FormulaError
from core.formula.program import Program
from core.formula.values.numerals import read_number
from core.formula.work import work_of

TOLERANCE = 3.0
"""A formula may take so many times what its bound says of the machine that the test runs on: other processes take
turns in its caches and on its cores."""

QUICK_NANOSECONDS = 2_000_000
YARDSTICK_NANOSECONDS = 1_000_000
"""What `yardstick` took where the bound's figures were measured."""
ATTEMPTS = 12

NOW = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
FORMULAS = 400
CHARACTERS = 2_000
NAMES = [name for name, row in FUNCTIONS.items() if row.work is not None and name != "LET"]
TEXTS = (
    *("1/1/24", "Jan 31, 2024 12:34:56 PM", "(1" + " " * 60 + "x", "-", "12:30", "1e5", "9" * 30, ""),
    *("a", "x" * 50, "?*?*a", "~?", "a a  A a", "ΐß" * 20, "İ" * 60, "\U0001d4b3" * 30),
)
LITERALS = (
    *('"?"', '"*a*"', '">=5"', '"a"', '"1/1/24"', f'"{"?" * 60}"', '""', '"yd"', "NA()", "TRUE", "0", "1", "2.5", "-3"),
    *("{1,2;3,4}", '{"a","1/1/24"}'),
)


class Writer:
    """A random formula over random given cells.

    Forty lines of ten columns or two hundred of one.
    """

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.wide = chance.random() < 0.4

    def area(self) -> str:
        if self.wide:
            return self.chance.choice(("A1:T1", "A1:J20", "A$1:E10", "$A$1:$B$20", "A1:C5"))
        last = self.chance.choice((1, 2, 5, 20, 50, 100, 200))
        return self.chance.choice((f"A1:A{last}", f"A$1:A{last}", f"$A$1:$A${last}"))

    def expression(self, depth: int) -> str:
        kind = self.chance.random()
        if depth == 0 or kind < 0.1:
            return self.chance.choice((self.area(), self.area(), self.chance.choice(LITERALS), "A7"))
        if kind < 0.25:
            return f"({self.expression(depth - 1)}{self.chance.choice('+-*/^&=<')}{self.expression(depth - 1)})"
        if kind < 0.3:
            return f"-{self.expression(depth - 1)}"
        if kind < 0.35:
            return f"LET(u,{self.expression(depth - 1)},w,u{self.chance.choice('&+*')}u,w&u&w)"
        name = self.chance.choice(NAMES)
        given_arguments = ",".join(self.expression(depth - 1) for _ in range(self.count(FUNCTIONS[name])))
        return f"{name}({given_arguments})"

    def count(self, row: Function) -> int:
        if row.period:
            return row.minimum + row.period * self.chance.randint(0, 2)
        return self.chance.randint(row.minimum, row.maximum)

    def cells(self) -> dict[str, Any]:
        """Two hundred cells: numbers, or as much text as there may be, one or another."""
        places = [f"{letter}{row}" for letter in "ABCDEFGHIJ" for row in range(1, 21)]
        places = places if self.wide else [f"A{row}" for row in range(1, 201)]
        cells: dict[str, Any] = {place: float(self.chance.randint(-5, 400)) for place in places}
        if self.chance.random() < 0.5:
            text, left = self.chance.choice((*TEXTS, "ab1 " * 500, None)), CHARACTERS
            for place in places:
                value = self.chance.choice(TEXTS) if text is None else text
                if len(value) > left:
                    break
                cells[place] = value
                left -= len(value)
        return cells


def yardstick() -> int:
    """A fixed amount of the interpreter's work."""
    result = 0
    for number in range(12_000):
        result += len(str(number)) if number & 1 else number % 7
    return result


def nanoseconds(work: Callable[[], object]) -> int:
    started = time.perf_counter_ns()
    work()
    return time.perf_counter_ns() - started


def excess(work: Callable[[], object], bound: float) -> float:
    """How many times its bound a piece of work takes, as a machine would that is as fast as the yardstick says."""
    least, yard = inf, inf
    for _ in range(ATTEMPTS):
        least, yard = min(least, nanoseconds(work)), min(yard, nanoseconds(yardstick))
        if least / bound * YARDSTICK_NANOSECONDS / yard <= TOLERANCE / 2:
            break
    return least / bound * YARDSTICK_NANOSECONDS / yard


def once(formula: str, cells: dict[str, Any], characters: int) -> None:
    """All that a formula which was never seen brings about."""
    with suppress(FormulaError):
        program = Program(formula)
        work_of(program, len(cells), characters)
        program.evaluate(environment=ContextEnvironment(cells, clock=lambda: NOW))


@settings(
    max_examples=FORMULAS, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
@given(st.integers(0, 2**40), st.integers(1, 3))
def test_no_formula_takes_longer_than_its_bound(seed: int, depth: int) -> None:
    writer = Writer(Random(seed))
    formula, cells = "=" + writer.expression(depth), writer.cells()
    characters = sum(len(value) for value in cells.values() if isinstance(value, str))
    try:
        bound = work_of(Program(formula), len(cells), characters)
    except FormulaError:
        return
    if bound <= 2 * QUICK_NANOSECONDS:
        assert excess(lambda: once(formula, cells, characters), bound) <= TOLERANCE, formula


LET_DOUBLES = "=LET(v_1,A1&A1," + "".join(f"v_{at + 1},v_{at}&v_{at}," for at in range(1, 20)) + "v_20)"


@pytest.mark.parametrize(
    "formula",
    [
        "=" + "+".join(["NPV(A1:A200,A1:A200)"] * 23),
        "=NPV(A1:A200,A1:A200)",
        "=COUNTIF(A1:A200,A1:A200)",
        "=SUM(COUNTIFS(A1:A200,A1:A200,A1:A200,A1:A200))",
        "=SUM(SUMIFS(A1:A200,A1:A200,A1:A200))",
        "=SUM(VALUE(A1:A200))",
        "=SUMPRODUCT(" + ",".join(["ABS(A1:A200)"] * 30) + ")",
        "=SUMPRODUCT(A1:A200*A1:GR1)",
        "=" + "+".join(["A1:A14*A1:N1"] * 35),
        "=LET(x,A1:A200,y,x*x,z,y*y," + "+".join(["z*y*x"] * 70) + ")",
        '=TEXTJOIN(A1:A200,TRUE,A1:A200&"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")',
        "=SUM(LEN(A1:A200&A1))",
        LET_DOUBLES,
        "=LET(f,NPV,f(0.1,A1:A200))",
        "=LET(ABS,VALUE,ABS(A1))",
        "=SUM(SEQUENCE(10))",
        "=SUM(A:A)",
        "=SUM(A1:A100:A1:A200)",
        '=MATCH(A1:A200,A1:A200&"x",0)',
    ],
)
def test_known_attacks_are_not_quick(formula: str) -> None:
    assert len(formula) <= 500
    assert work_of(Program(formula), 200, CHARACTERS) > QUICK_NANOSECONDS


@pytest.mark.parametrize(
    ("formula", "cells", "characters"),
    [
        ("=1+1", 0, 0),
        ("=IF(SUM(A1:A10)>100,ROUND(AVERAGE(A1:A10),2),0)", 10, 0),
        ("=SUM(A1:A200)", 200, 0),
        ("=VLOOKUP(A1,B1:D20,3,FALSE)", 61, 256),
        ('=SUMIFS(C1:C20,A1:A20,"B",B1:B20,">=5")', 60, 64),
        ("=SUMPRODUCT(A1:A50,B1:B50)/SUM(B1:B50)", 100, 0),
        ('=IFERROR(INDEX(B1:B30,MATCH(A1,A1:A30,0)),"none")', 60, 256),
        ('=IF(AND(A1>5,OR(B1="x",C1="y")),D1*(1+E1/100),MAX(D1,0))', 5, 16),
        ("=PMT(A1/12,A2*12,-A3)", 3, 0),
        ("=YEAR(A1)-YEAR(A2)+DATEDIF(A1,A2,\"m\")", 2, 0),
        ('=TRIM(LEFT(A1,FIND(" ",A1)-1))&", "&UPPER(B1)', 2, 32),
        ("=COUNTIF(A1:A100,\">50\")/COUNT(A1:A100)", 100, 0),
        ("=LET(rate,A1/100,par,SUM(B1:B30),ROUND(rate*par,2))", 31, 0),
    ],
)  # fmt: skip
def test_what_people_write_is_quick(formula: str, cells: int, characters: int) -> None:
    assert work_of(Program(formula), cells, characters) <= QUICK_NANOSECONDS


@pytest.mark.parametrize(
    "text",
    [
        "(" + " " * 250 + "1x",
        "$" + " " * 250 + "1x",
        "1:" + " " * 250 + "x",
        "1" + " " * 120 + ")" + " " * 120 + "x",
        "1/2/2024 1:" + " " * 200 + "x",
        "1" + " " * 120 + "Jan" + " " * 120 + "x",
    ],
)
def test_text_that_nearly_spells_a_number_is_refused_at_once(text: str) -> None:
    assert read_number(text) is None
    assert excess(lambda: read_number(text, year=2024), 200_000) <= TOLERANCE
