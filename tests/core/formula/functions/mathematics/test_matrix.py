"""Matrices, lines in several variables, and summaries that leave cells out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.formula.language.errors import LimitExceeded
from tests.core.formula.calculated import Cells, calculated, same
from tests.rows import every

NA = "#N/A"
FULL = 1e-12
OFFICES = (
    "{142000;144000;151000;150000;139000;169000;126000;142900;163000;169000;149000},"
    "{2310,2,2,20;2333,2,2,12;2356,3,1.5,33;2379,3,2,43;2402,2,3,53;2425,4,2,23;2448,2,1.5,99;2471,2,2,34;2494,3,3,23;"
    "2517,4,4,55;2540,2,3,22}"
)
CASES: tuple[tuple[str, Any, float], ...] = (
    ("=MMULT({1,3;7,2},{2,0;0,2})", [[2, 6], [14, 4]], FULL), ("=MMULT({1,2},{3;4})", 11, FULL),
    ("=MMULT({1,2},{3,4})", "#VALUE!", FULL), ('=MMULT({1,"x"},{3;4})', "#VALUE!", FULL),
    ("=MMULT({1,#N/A},{3;4})", "#N/A", FULL),
    ("=MMULT({1E200},{1E200})", "#NUM!", FULL), ("=MMULT(A1:B1,C1:C2)", "#VALUE!", FULL),
    ("=MDETERM({1,3,8,5;1,3,6,1;1,1,1,0;7,3,10,2})", 88, FULL), ("=MDETERM({3,6,1;1,1,0;3,10,2})", 1, FULL),
    ("=MDETERM({3,6;1,1})", -3, FULL), ("=MDETERM({1,2,3})", "#VALUE!", FULL), ("=MDETERM({1,2;2,4})", 0, FULL),
    ("=MDETERM({1,2,3;4,5,6;7,8,9})", 6.66133814775094e-16, FULL), ("=MINVERSE({4,-1;2,0})", [[0, 0.5], [-1, 2]], FULL),
    ("=MINVERSE({1,2;2,4})", "#NUM!", FULL), ("=MINVERSE({1,2})", "#VALUE!", FULL),
    ("=MUNIT(2)", [[1, 0], [0, 1]], FULL),
    ("=MUNIT(0)", "#VALUE!", FULL), ('=TRANSPOSE({1,2,"x";4,5,6})', [[1, 4], [2, 5], ["x", 6]], FULL),
    # The worked example of LINEST's documentation.
    (f"=LINEST({OFFICES},TRUE,TRUE)", [
        [-234.2371645, 2553.21066, 12529.76817, 27.64138737, 52317.83051],
        [13.26801148, 530.6691519, 400.0668382, 5.429374042, 12237.3616],
        [0.996747993, 970.5784629, NA, NA, NA], [459.7536742, 6, NA, NA, NA],
        [1732393319, 5652135.316, NA, NA, NA]], 1e-8),
    ("=LINEST({1,9,5,7},{0,4,2,3})", [[2, 1]], FULL), ("=LINEST({3,5,8},,FALSE)", [[37 / 14, 0]], FULL),
    ("=LINEST({2,4,6},{1,2,3},,TRUE)", [[2, 0], [0, 0], [1, 0], ["#NUM!", 1], [8, 0]], FULL),
    ("=LINEST({1,2,3,4},{2,4,6,8;1,2,3,4})", [[0, 0.5, 0]], FULL),
    ("=LINEST({1,2,3},{1,2})", "#REF!", FULL), ('=LINEST({1,"x",3})', "#VALUE!", FULL),
    ("=LINEST({1;2;4},{1;2;3},FALSE,TRUE)", [[17 / 14, 0], [math.sqrt(0.3571428571428571 / 2 / 14), NA],
        [1 - 0.3571428571428571 / 21, math.sqrt(0.3571428571428571 / 2)], [115.6, 2], [289 / 14, 5 / 14]], FULL),
    ("=LOGEST({33100;47300;69000;102000;150000;220000},{11;12;13;14;15;16},TRUE,TRUE)", [
        [1.463275628, 495.3047702], [0.002633403, 0.035834282], [0.99980862, 0.011016315], [20896.8011, 4],
        [2.53601883, 0.000485437]], 1e-6),
    ("=LOGEST({1,0,2})", "#NUM!", FULL), ("=TREND({2,4,6})", [[2, 4, 6]], FULL), ("=TREND({2,4,6},,4)", 8, FULL),
    ("=TREND({2;4;6},{1;2;3},{4,5})", [[8, 10]], FULL), ("=TREND({1,2},{1,2},{1,2},FALSE)", [[1, 2]], FULL),
    ("=TREND({6;8;13},{1,1;2,1;2,3},{3,1;0,0})", [[10], [1.5]], FULL),
    ("=TREND({6;8;13},{1,1;2,1;2,3},{3,1,1})", "#REF!", FULL),
    ("=GROWTH({2,4,8,16,32},{1,2,3,4,5},6)", 64, FULL), ("=GROWTH({1,-1})", "#NUM!", FULL),
    ("=GROWTH({33100;47300;69000;102000;150000;220000},{11;12;13;14;15;16},{17;18})",
        [[320196.7184], [468536.0542]], 1e-9),
)  # fmt: skip


@every("formula, expected, tolerance", CASES)
def test_values(formula: str, expected: Any, tolerance: float) -> None:
    result = calculated(formula, {"A1": 1})
    assert same(result, expected, tolerance), result


MATRICES = st.integers(1, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(-9, 9), min_size=size, max_size=size), min_size=size, max_size=size
    )
)  # fmt: skip


def literal(rows: list[list[int]]) -> str:
    return "{" + ";".join(",".join(map(str, row)) for row in rows) + "}"


@given(MATRICES)
def test_determinants_and_inverses(rows: list[list[int]]) -> None:
    determinant = round(float(np.linalg.det(np.array(rows, float))))
    result = calculated(f"=MDETERM({literal(rows)})")
    assert math.isclose(result, determinant, rel_tol=1e-9, abs_tol=1e-7)
    if determinant:
        product = calculated(f"=MMULT({literal(rows)},MINVERSE({literal(rows)}))")
        assert np.allclose(np.array(product), np.eye(len(rows)), atol=1e-7)


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.integers(-20, 20)] * 4), min_size=5, max_size=12), st.booleans())
def test_least_squares_leave_a_residual_at_right_angles(rows: list[tuple[int, ...]], constant: bool) -> None:
    table = np.array(rows, float)
    y, x = table[:, 0], table[:, 1:]
    formula = f"LINEST({literal([[v] for v in y])},{literal([list(row) for row in x])},{str(constant).upper()})"
    result = calculated("=" + formula)[0]
    residual = y - x @ np.array(result[2::-1]) - result[3]
    assert np.allclose(x.T @ residual, 0, atol=1e-7)
    assert not constant or abs(residual.sum()) < 1e-7


def test_a_matrix_is_accounted_for() -> None:
    with pytest.raises(LimitExceeded):
        calculated("=MUNIT(100000)")


SHEET = Cells(
    {"A1": 1, "A2": 2, "A3": 3, "A4": 6, "A5": 4, "A6": 5, "B1": 9, "C1": "text"},
    formulas={"A4": "=SUBTOTAL(9,A1:A3)", "A3": '=IF(1,"SUBTOTAL",3)'},
    hidden={1: "manual", 4: "filter"},
)  # A4 is a subtotal, row 2 hidden by hand, row 5 by a filter


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=SUBTOTAL(9,A1:A6)", 11), ("=SUBTOTAL(109,A1:A6)", 9), ("=SUBTOTAL(2,A1:A6)", 4), ("=SUBTOTAL(103,A1:C6)", 5),
        ("=SUBTOTAL(4,A1:A6,B1)", 9), ("=SUBTOTAL(1,B2:B6)", "#DIV/0!"), ("=SUBTOTAL(0,A1)", "#VALUE!"),
        ("=SUBTOTAL(112,A1)", "#VALUE!"), ("=AGGREGATE(9,0,A1:A6)", 15), ("=AGGREGATE(9,4,A1:A6)", 21),
        ("=AGGREGATE(9,5,A1:A6)", 15), ("=AGGREGATE(9,1,A1:A6)", 9), ("=AGGREGATE(14,0,A1:A6,1)", 5),
        ("=AGGREGATE(15,6,A1:A6/(A1:A6>2),1)", 3), ("=AGGREGATE(15,4,A1:A6/(A1:A6>2),1)", "#DIV/0!"),
        ("=AGGREGATE(14,6,A1:A6,{1,2})", [[6, 5]]), ("=AGGREGATE(12,4,A1:A6)", 3.5),
        ("=AGGREGATE(1,4,{1,2})", "#VALUE!"),
        ("=AGGREGATE(14,4,A1:A6)", "#VALUE!"), ("=AGGREGATE(9,8,A1)", "#VALUE!"), ("=AGGREGATE(20,4,A1)", "#VALUE!"),
        ("=AGGREGATE(19,4,{1,2,3,4,5},1)", 1.5), ("=AGGREGATE(16,4,{1,2,3},0.5)", 2),
    ],
)  # fmt: skip
def test_summaries_leave_out_what_they_are_told_to(formula: str, expected: Any) -> None:
    result = calculated(formula, SHEET)
    assert same(result, expected, FULL), result
