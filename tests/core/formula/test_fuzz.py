"""Whatever formula is written over whatever values.

A value or a FormulaError comes back, in time and in bounds.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import core.formula.functions.families  # noqa: F401 - fills the catalogue
from core.formula.evaluate import evaluate
from core.formula.functions.catalogue import EXAMPLE_CELLS, FUNCTIONS, Function, Takes
from core.formula.language.errors import BodyFault, FormulaError
from core.formula.language.parser import parse
from core.formula.machine import machine
from core.formula.values.value import Array, Error, Lambda
from tests.conftest import within
from tests.core.formula.places import Place
from tests.rows import every

SECONDS = 2.0

LITERALS = (
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "1E10",
    "1E-10",
    "1E308",
    "-1E308",
    "99999999999",
    "9007199254740993",
    "-2958466",
    "TRUE",
    "FALSE",
    '""',
    '"a"',
    '"12"',
    '"1/2/2020"',
    '"*"',
    '"?~"',
    '">=2"',
    '"<>"',
    '"#,##0.00"',
    '"yyyy-mm-dd"',
    '"é€\U0001f600"',
    '"(a+)+$["',
    'UNICHAR(55296)&"x"',
    'REPT("x",32767)',
    '"1+2i"',
    "#N/A",
    "#DIV/0!",
    "{1,2,3}",
    "{1;2;3}",
    '{"a",TRUE;#N/A,-1}',
    "{1,2;3,4}",
    "A1",
    "A1:A5",
    "B1:B5",
    "C1:D5",
    "A1:D5",
    "D3",
    "Z99",
    "A:A",
    "1:1",
    "(A1,B2)",
    "A1:A3 A2:B2",
    "LAMBDA(x,x)",
    "LAMBDA(x,y,x+y)",
    "SUM",
    "name",
)

OPERATORS = ("+", "-", "*", "/", "^", "&", "=", "<>", "<", ">=", ":", " ")


def kept_short(function: Function) -> bool:
    """The world outside the formula stays as it is in these tests."""
    return function.name not in {"LAMBDA", "LET"}


NAMES = sorted(name for name, function in FUNCTIONS.items() if kept_short(function))


@st.composite
def calls(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """A call with a count of arguments that the function takes."""
    function = FUNCTIONS[draw(st.sampled_from(NAMES))]
    count = draw(
        st.integers(function.minimum, min(function.maximum, max(function.minimum, len(function.arguments)) + 2))
    )
    arguments = [
        "LAMBDA(a,b,a+b)"
        if index < count and function.argument(index).kind is Takes.LAMBDA and draw(st.booleans())
        else draw(inner)
        for index in range(count)
    ]
    return f"{function.name}({','.join(arguments)})"


def expressions() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(LITERALS) | st.floats(allow_nan=False, allow_infinity=False).map(
        lambda number: f"{number!r}".upper()
    )
    return st.recursive(
        leaves,
        lambda inner: (
            calls(inner)
            | st.tuples(inner, st.sampled_from(OPERATORS), inner).map("".join)
            | inner.map(lambda text: f"-({text})")
            | inner.map(lambda text: f"({text})%")
        ),
        max_leaves=6,
    )


def is_value(value: Any) -> bool:
    """Whether the engine may answer with this."""
    if isinstance(value, Array):
        return all(is_value(cell) for cell in value.cells())
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return len(value) <= 32_767
    return value is None or isinstance(value, bool | Error)


def check(text: str, *, arrays: bool) -> None:
    place = Place()
    place.deadline = monotonic() + SECONDS
    place.row, place.column = 2, 5
    try:
        with within(SECONDS + 3, f"{text} took too long"):
            tree = parse(text, place.row, place.column)
            result = machine.compile(tree, arrays=arrays, text=text, unknown_as_name=True).run(place)
    except BodyFault as fault:
        pytest.fail(f"{text}: {fault.error!r}")
    except FormulaError:
        return
    assert is_value(result), f"{text} gave {result!r}"
    assert not isinstance(result, Lambda)


@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(expressions(), st.booleans())
def test_any_expression_has_a_value_or_a_typed_error(text: str, arrays: bool) -> None:
    check(f"={text}", arrays=arrays)


@every("name", NAMES)
def test_every_function_stands_any_arguments(name: str) -> None:
    """Each function over a fixed round of odd arguments, each in turn in every place."""
    function = FUNCTIONS[name]
    count = max(function.minimum, min(len(function.arguments), 4))
    for shift in range(0, len(LITERALS), 2 if count < 3 else 3):
        arguments = [LITERALS[(shift + 7 * place) % len(LITERALS)] for place in range(count)]
        check(f"={name}({','.join(arguments)})", arrays=shift % 4 != 0)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(st.text(alphabet="=()ABC123$:!'\"{},;#@&%^*/+-<> .eE[]\\~_\n\u00e9\U0001f600", max_size=60))
def test_any_text_is_a_formula_or_a_fault(text: str) -> None:
    check(f"={text}", arrays=True)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(
    st.dictionaries(
        st.sampled_from(["A1", "$b$2", "Sheet1!A1", "'My Sheet'!A1", "A1:B2", "rate", "", "A0", "=1", "A1:", "XFE1"])
        | st.text(max_size=8),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.lists(st.lists(st.integers()))
        | st.binary(),
        max_size=5,
    )
)
def test_any_context_is_read_or_refused(context: dict[str, Any]) -> None:
    for text in ("=SUM(A1:B2)", "=A1&rate", '=INDIRECT("A1")'):
        try:
            assert is_value(evaluate(text, context).raw)
        except FormulaError:
            continue


def test_the_examples_cells_are_not_changed_by_running() -> None:
    """Programs read what they are given and write nothing."""
    before = dict(EXAMPLE_CELLS)
    for function in FUNCTIONS.values():
        for text, _ in function.examples:
            check(text, arrays=True)
    assert before == EXAMPLE_CELLS
