"""The catalogue: every row is complete, its body takes its arguments, and its examples give their values."""

from __future__ import annotations

import inspect
import math
from typing import Any

import core.formula.functions.families  # noqa: F401 - fills the catalogue
from core.formula.functions.catalogue import FUNCTIONS, OUTSIDE_WORLD, Function
from core.formula.values.value import Array
from tests.core.formula.places import Place, value
from tests.rows import every

CATEGORIES = {
    "math",
    "logical",
    "lookup",
    "text",
    "date",
    "statistical",
    "information",
    "financial",
    "engineering",
    "database",
}

EXAMPLES = [(function.name, text, expected) for function in FUNCTIONS.values() for text, expected in function.examples]


def same(result: Any, expected: Any) -> bool:
    """Equal, numbers to the digits that help texts print."""
    if isinstance(expected, Array):
        return isinstance(result, list) and same([cell for row in result for cell in row], expected.cells())
    if isinstance(expected, list):
        return len(result) == len(expected) and all(map(same, result, expected))
    if isinstance(expected, bool) or isinstance(result, bool):
        return result is expected
    if isinstance(expected, int | float):
        return isinstance(result, float) and math.isclose(result, expected, rel_tol=1e-6, abs_tol=1e-9)
    return bool(result == expected)


@every("name, text, expected", EXAMPLES)
def test_every_example_has_its_value(name: str, text: str, expected: Any) -> None:
    assert name in text.upper()
    assert same(value(text, at="F1"), expected), value(text, at="F1")


@every("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_every_row_is_complete(function: Function) -> None:
    assert function.name == function.name.upper()
    assert function.category in CATEGORIES
    assert function.description.endswith(".")
    assert function.examples, "at least one example"
    assert function.syntax.startswith(f"{function.name}(")
    assert function.minimum <= function.maximum <= 255
    names = [argument.name for argument in function.arguments]
    assert len(names) == len(set(names)), "argument names differ"
    for argument in function.arguments:
        assert argument.description.endswith("."), argument.name
        assert " " not in argument.name, argument.name
    required = [argument.required for argument in function.arguments if not argument.repeats]
    assert required == sorted(required, reverse=True), "optional arguments come last"
    repeating = [argument.repeats for argument in function.arguments]
    assert repeating == sorted(repeating), "what repeats comes last"


@every(
    "function",
    [function for function in FUNCTIONS.values() if function.body is not None],
    ids=lambda function: function.name,
)
def test_every_body_takes_its_arguments(function: Function) -> None:
    """The fewest and the most arguments (three rounds of the repeating ones) bind to the body."""
    assert function.body is not None
    try:
        signature = inspect.signature(function.body)
    except ValueError:  # a compiled body without one; the examples call it
        return
    most = len(function.arguments) + 2 * function.period
    for count in {function.minimum, min(most, function.maximum)}:
        input_value: list[Any] = [Place()] if function.environment else []
        signature.bind(*input_value, *range(count))


def test_nothing_reaches_outside() -> None:
    assert not OUTSIDE_WORLD & set(FUNCTIONS)


def test_the_issue_s_families_are_there() -> None:
    assert len(FUNCTIONS) >= 250
    assert {function.category for function in FUNCTIONS.values()} == CATEGORIES
