"""Shapes: filled formulas share a code, and formulas with different trees never do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.formula.language.errors import SyntaxFault
from core.formula.language.parser import parse, render
from core.formula.language.shape import anchored_shapes, shapes
from tests.core.formula.trees import FORMULAS, SOUP, text_of

PLACES = st.tuples(st.integers(0, 30), st.integers(0, 30))
ON_SHEET = st.tuples(st.integers(8, 40), st.integers(8, 40))
"""Places to which a formula of cell I9 moves without losing a reference."""


def codes_of(*cells: tuple[str, int, int]) -> list[int]:
    texts, rows, columns = zip(*cells, strict=True)
    codes, _ = shapes(list(texts), np.array(rows, np.int32), np.array(columns, np.int32))
    return [int(code) for code in codes]


def reading(text: str, row: int, column: int) -> str:
    """The tree of a text, or its own words where it is no formula. Names without case."""
    try:
        return text_of(parse(text, row, column)).upper()
    except SyntaxFault:
        return f"no formula: {text.upper()}"


def test_a_filled_formula_is_one_shape() -> None:
    texts = [f"=A{row}*B{row}+IF(C{row}>0,$C{row},D$1)&A:A&$1:$1" for row in range(1, 1001)]
    rows = np.arange(1000, dtype=np.int32)
    codes, firsts = shapes(texts, rows, np.full(1000, 3, np.int32))
    assert codes.tolist() == [0] * 1000
    assert firsts == [0]


def test_shapes_are_numbered_as_they_appear() -> None:
    rows = np.array([0, 1, 2, 3], np.int32)
    codes, firsts = shapes(["=A1", "=A$1", "=A3", "=A$1"], rows, np.zeros(4, np.int32))
    assert codes.tolist() == [0, 1, 0, 1]
    assert firsts == [0, 1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("=sum(A1)", "=SUM(A2)"),
        ("=Sheet1!A1", "=sheet1!A2"),
        ("=A1 + 1", "=A2 + 1"),
        ("='A1'!A1", "='A1'!A2"),
        ("=LOG10(A1)", "=LOG10(A2)"),
        ("=T1[x]+A1", "=T1[x]+A2"),
        ("=[1]S!A1", "=[1]S!A2"),
        ("=1:1", "=2:2"),
        ("=A1#", "=A2#"),
        ("=SUM(A1:.A5)", "=SUM(A2:.A6)"),
        ("=SUM(A1.:A5)", "=SUM(A2.:A6)"),
        ("=D1:.E2", "=D2:.E3"),
        ("=1.:.1", "=2.:.2"),
        ("=größe*A1", "=größe*A2"),
        ("=年度*A1", "=年度*A2"),
        ("=#N/A+A1", "=#N/A+A2"),
        ("=A1:B$3 C1", "=A2:B$3 C2"),
        ("=\U00020000*A1", "=\U00020000*A2"),
    ],
)
def test_filled_down_by_one_row_is_the_same_shape(first: str, second: str) -> None:
    assert codes_of((first, 0, 5), (second, 1, 5)) == [0, 0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('="A1"', '="A2"'),
        ("='A1'!B$1", "='A2'!B$1"),
        ("=A1!B$1", "=A2!B$1"),
        ("=LOG1(1)", "=LOG2(1)"),
        ("=T1[x]", "=T2[x]"),
        ("=[A1]", "=[A2]"),
        ("=XFE1", "=XFE2"),
        ("=1E1", "=1E2"),
        ("=A1", "=A$2"),
        ("=A1:A2", "=A2,A3"),
        ("=1", "=2"),
        ("=['A1]", "=['A2]"),
        ("=x.A1", "=x.A2"),
        ("=é1", "=é2"),
    ],
)
def test_different_formulas_are_different_shapes(first: str, second: str) -> None:
    assert codes_of((first, 0, 5), (second, 1, 5)) == [0, 1]


@given(FORMULAS, ON_SHEET, ON_SHEET)
@settings(max_examples=300, deadline=None)
def test_one_tree_written_in_two_cells_is_one_shape(
    text: str, plain: tuple[int, int], variant: tuple[int, int]
) -> None:
    tree = parse(text, 8, 8)
    assert codes_of((render(tree, *plain), *plain), (render(tree, *variant), *variant)) == [0, 0]


@given(st.lists(st.tuples(SOUP, PLACES), min_size=2, max_size=8), st.integers(0, 3))
@settings(max_examples=500, deadline=None)
def test_one_shape_is_one_tree(cells: list[tuple[str, tuple[int, int]]], moved: int) -> None:
    cells = [*cells, *((text, (row + moved, column)) for text, (row, column) in cells)]
    texts = [text for text, _ in cells]
    codes = codes_of(*((text, row, column) for text, (row, column) in cells))
    trees: dict[int, str] = {}
    for code, text, place in zip(codes, texts, (place for _, place in cells), strict=True):
        tree = reading(text, *place)
        if not tree.startswith("no formula"):
            assert trees.setdefault(code, tree) == tree


@given(st.lists(st.one_of(SOUP, FORMULAS), max_size=8))
@settings(max_examples=300, deadline=None)
def test_an_anchored_shape_is_one_tree_at_its_anchors(texts: list[str]) -> None:
    codes, firsts, rows, columns = anchored_shapes(texts)
    trees: dict[int, str] = {}
    for code, text, row, column in zip(codes.tolist(), texts, rows.tolist(), columns.tolist(), strict=True):
        tree = reading(text, row, column)
        if not tree.startswith("no formula"):
            assert trees.setdefault(code, tree) == tree
    assert [codes[first] for first in firsts] == list(range(len(firsts)))


def test_formulas_without_a_cell_are_anchored_at_their_first_reference() -> None:
    codes, firsts, rows, columns = anchored_shapes(["=$A5*B5", "=$A9*C9", "=$A9*C8", "=1", "=A$1"])
    assert codes.tolist() == [0, 0, 1, 2, 3]
    assert firsts == [0, 2, 3, 4]
    assert rows.tolist() == [4, 8, 8, 0, 0]
    assert columns.tolist() == [1, 2, 2, 0, 0]


def test_many_shapes_keep_apart() -> None:
    texts = [f"=A1+{number}" for number in range(20_000)] * 2
    codes, firsts = shapes(texts, np.zeros(40_000, np.int32), np.zeros(40_000, np.int32))
    assert codes.tolist() == list(range(20_000)) * 2
    assert firsts == list(range(20_000))


def test_what_is_no_formula_is_a_shape_of_its_own() -> None:
    long = "=" + "A" * 9_000
    assert codes_of((long, 0, 0), (long, 0, 0)) == [0, 1]
    assert codes_of(('="A1', 0, 0), ('="A1', 1, 0)) == [0, 1]
    with pytest.raises(TypeError):
        anchored_shapes([1])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="as long as"):
        shapes(["=1"], np.zeros(2, np.int32), np.zeros(2, np.int32))
