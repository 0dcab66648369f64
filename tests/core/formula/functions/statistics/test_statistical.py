"""Samples, ranks, tests and lines.

Excel's documented values, the statistics module, and behaviour at the edges.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.formula.calculated import Cells, calculated, same
from tests.rows import every

# (formula, expected, tolerance): documentation shows six to nine digits.
SIX, FULL = 5e-7, 1e-12
CASES: tuple[tuple[str, Any, float], ...] = (
    ("=AVERAGE(A1:A5)", 11, FULL), ("=AVERAGE(B1:B3)", 7, FULL), ("=AVERAGE(B1)", "#DIV/0!", FULL),
    ("=AVERAGEA(B1:B3)", 8 / 3, FULL), ("=AVERAGEA(D1)", "#DIV/0!", FULL), ('=AVERAGE("x")', "#VALUE!", FULL),
    ("=COUNT(A1:B5)", 6, FULL), ('=COUNT(1,"2","x",TRUE,,NA())', 4, FULL), ("=COUNTA(B1:B5)", 3, FULL),
    ("=COUNTA(,NA())", 2, FULL), ("=MINA(B1:B3)", 0, FULL), ("=MAXA(B1:B2)", 1, FULL), ("=MAX(B1)", 0, FULL),
    ("=MEDIAN(1,2,3,4,5,6)", 3.5, FULL), ("=MEDIAN(B1)", "#NUM!", FULL), ("=MODE(5.6,4,4,3,2,4)", 4, FULL),
    ("=MODE(1,2)", "#N/A", FULL), ("=MODE.MULT({1,2,3,4,3,2,1,2,3,5,6,1})", [[1], [2], [3]], FULL),
    ("=STDEV(A1)", "#DIV/0!", FULL), ("=STDEV.P(A1)", 0, FULL), ("=VARP(B1)", "#DIV/0!", FULL),
    ("=STDEV.S(1345,1301,1368,1322,1310,1370,1318,1350,1303,1299)", 27.46391572, SIX),
    ("=STDEV.P(1345,1301,1368,1322,1310,1370,1318,1350,1303,1299)", 26.05455814, SIX),
    ("=VAR.S(1345,1301,1368,1322,1310,1370,1318,1350,1303,1299)", 754.2666667, SIX),
    ("=VAR.P(1345,1301,1368,1322,1310,1370,1318,1350,1303,1299)", 678.84, SIX),
    ("=VARA(TRUE,3)", 2, FULL), ("=STDEV(0.1,0.1,0.1)", 1.69967e-17, 1e-5),
    ("=AVEDEV(4,5,6,7,5,4,3)", 1.020408163, SIX), ("=DEVSQ(4,5,8,7,11,4,3)", 48, FULL),
    ("=GEOMEAN(4,5,8,7,11,4,3)", 5.476986970, SIX), ("=GEOMEAN(1,0)", "#NUM!", FULL), ("=GEOMEAN(B1)", "#NUM!", FULL),
    ("=HARMEAN(4,5,8,7,11,4,3)", 5.028375962, SIX), ("=HARMEAN(-1)", "#NUM!", FULL),
    ("=TRIMMEAN({4,5,6,7,2,3,4,5,1,2,3},0.2)", 3.777777778, SIX), ("=TRIMMEAN({1,2},1)", "#NUM!", FULL),
    ("=KURT(3,4,5,2,3,4,5,6,4,7)", -0.151799637, SIX), ("=KURT(1,1,1,1)", "#DIV/0!", FULL),
    ("=SKEW(3,4,5,2,3,4,5,6,4,7)", 0.359543071, SIX), ("=SKEW.P(3,4,5,2,3,4,5,6,4,7)", 0.303193339, SIX),
    ("=STANDARDIZE(42,40,1.5)", 1.333333333, SIX), ("=STANDARDIZE(1,1,0)", "#NUM!", FULL),
    # Order.
    ("=LARGE({3,5,3,5,4,4,2,4,6,7},3)", 5, FULL), ("=LARGE({3,4,5},1.5)", 5, FULL), ("=LARGE({1,2},3)", "#NUM!", FULL),
    ("=LARGE(B1,1)", "#NUM!", FULL), ("=SMALL({3,4,5,2,3,4,6,4,7},4)", 4, FULL), ("=SMALL({1},0)", "#NUM!", FULL),
    ("=SMALL({1,2,3},2.9)", 2, FULL), ("=SMALL({1,2,3},3.1)", "#NUM!", FULL), ('=RANK(2,{1,2},"1")', "#VALUE!", FULL),
    ("=LARGE({3,4,5},{1,2})", [[5, 4]], FULL), ("=RANK(7,{7,3.5,3.5,1,2},1)", 5, FULL),
    ("=RANK(3.5,{7,3.5,3.5,1,2},1)", 3, FULL),
    ("=RANK.AVG(94,{89,88,92,101,94,97,95})", 4, FULL), ("=RANK.AVG(3.5,{7,3.5,3.5,1,2},1)", 3.5, FULL),
    ("=RANK.EQ(9,{1,2})", "#N/A", FULL), ("=PERCENTILE({1,3,2,4},0.3)", 1.9, FULL),
    ("=PERCENTILE({1},1.1)", "#NUM!", FULL),
    ("=PERCENTILE.EXC({6,7,15,36,39,40,41,42,43,47,49},0.25)", 15, FULL),
    ("=PERCENTILE.EXC({1,2,3},0.1)", "#NUM!", FULL),
    ("=QUARTILE({1,2,4,7,8,9,10,12},1)", 3.5, FULL), ("=QUARTILE({1,2},5)", "#NUM!", FULL),
    ("=QUARTILE.EXC({1,2,3},0)", "#NUM!", FULL),
    ("=QUARTILE.EXC({6,7,15,36,39,40,41,42,43,47,49},3)", 43, FULL),
    ("=PERCENTRANK({13,12,11,8,4,3,2,1,1,1},4)", 0.555, FULL),
    ("=PERCENTRANK.INC({13,12,11,8,4,3,2,1,1,1},8)", 0.666, FULL),
    ("=PERCENTRANK.INC({13,12,11,8,4,3,2,1,1,1},5)", 0.583, FULL),
    ("=PERCENTRANK.EXC({1,2,3,6,6,6,7,8,9},7)", 0.7, FULL), ("=PERCENTRANK.EXC({1,2,3,6,6,6,7,8,9},5.43)", 0.381, FULL),
    ("=PERCENTRANK.EXC({1,2,3,6,6,6,7,8,9},5.43,1)", 0.3, FULL), ("=PERCENTRANK({1,2},3)", "#N/A", FULL),
    ("=FREQUENCY({79,85,78,85,50,81,95,88,97},{70,79,89})", [[1], [2], [4], [2]], FULL),
    ("=FREQUENCY({1,2,3,4},{3,1,3})", [[2], [1], [0], [1]], FULL),
    # Pairs.
    ("=CORREL({3,2,4,5,6},{9,7,12,15,17})", 0.997054486, SIX), ("=CORREL({1,2},{1,2,3})", "#N/A", FULL),
    ("=CORREL({1,1},{1,2})", "#DIV/0!", FULL), ("=PEARSON({9,7,5,3,1},{10,6,1,5,3})", 0.6993786, SIX),
    ("=RSQ({2,3,9,1,8,7,5},{6,5,11,7,5,4,4})", 0.057950, 1e-5), ("=COVARIANCE.P(1,2)", 0, FULL),
    ("=COVARIANCE.S(1,2)", "#DIV/0!", FULL), ("=COVARIANCE.S({2,4,8},{5,11,12})", 9.666666667, SIX),
    ("=SLOPE({2,3,9,1,8,7,5},{6,5,11,7,5,4,4})", 0.305556, 2e-6),
    ("=INTERCEPT({2,3,9,1,8},{6,5,11,7,5})", 0.0483871, 1e-6),
    ("=STEYX({2,3,9,1,8,7,5},{6,5,11,7,5,4,4})", 3.305719, SIX), ("=STEYX({1,2},{1,2})", "#DIV/0!", FULL),
    ("=FORECAST(30,{6,7,9,15,21},{20,28,31,38,40})", 10.607253, SIX), ("=FORECAST(1,{1,2},{1,1})", "#DIV/0!", FULL),
    ('=SLOPE({1,2,"x",4},{1,2,3,4})', 1, FULL), ("=FISHER(0.75)", 0.9729551, SIX), ("=FISHERINV(0.972955)", 0.75, SIX),
    # Tests and confidence.
    ("=T.TEST({3,4,5,8,9,1,2,4,5},{6,19,3,2,14,4,5,17,1},2,1)", 0.196016, 2e-6),
    ("=T.TEST({3,4,5,6,10,3,2,4,7},{6,19,3,2,13,4,5,17,3},1,2)", 0.100244599, 2e-8),
    ("=T.TEST({3,4,5,6,10,3,2,4,7},{6,19,3,2,13,4,5,17,3},2,3)", 0.210720639, 2e-8),
    ("=T.TEST({1,2},{1,2,3},2,1)", "#N/A", FULL), ("=T.TEST({1,2},{1,2},3,1)", "#NUM!", FULL),
    ("=T.TEST({1},{2},1,2)", "#DIV/0!", FULL),
    ("=F.TEST({6,7,9,15,21},{20,28,31,38,40})", 0.648318, SIX), ("=F.TEST({1,1},{1,2})", "#DIV/0!", FULL),
    ("=Z.TEST({3,6,7,8,6,5,4,2,1,9},4)", 0.090574, 5e-6), ("=Z.TEST({3,6,7,8,6,5,4,2,1,9},6)", 0.863043, SIX),
    ("=Z.TEST({1,2},1,0)", "#NUM!", FULL),
    ("=CHISQ.TEST({58,35;11,25;10,23},{45.35,47.65;17.56,18.44;16.09,16.91})", 0.0003082, 1e-4),
    ("=CHISQ.TEST(1,2)", "#N/A", FULL), ("=CHISQ.TEST({1,2},{1;2})", 1, FULL),
    ("=CHISQ.TEST({1,2},{0,2})", "#DIV/0!", FULL),
    ("=CHISQ.TEST({-1,-2},{-3,-4})", "#NUM!", FULL), ("=CONFIDENCE.NORM(0.05,2.5,50)", 0.692951912, SIX),
    ("=CONFIDENCE.T(0.05,1,50)", 0.284196855, SIX), ("=CONFIDENCE.T(0.05,1,1)", "#DIV/0!", FULL),
    ("=CONFIDENCE.T(0.05,1,0)", "#NUM!", FULL),
    ("=PROB({0,1,2,3},{0.2,0.3,0.1,0.4},2)", 0.1, FULL), ("=PROB({0,1,2,3},{0.2,0.3,0.1,0.4},1,3)", 0.8, FULL),
    ("=PROB({0,1},{0.5,0.6},1)", "#NUM!", FULL), ("=PROB({0,1},{1},1)", "#N/A", FULL),
)  # fmt: skip

CELLS = {"A1": 10, "A2": 7, "A3": 9, "A4": 27, "A5": 2, "B1": "x", "B2": True, "B3": 7}


@every("formula, expected, tolerance", CASES)
def test_values(formula: str, expected: Any, tolerance: float) -> None:
    result = calculated(formula, CELLS)
    assert same(result, expected, tolerance), result


SAMPLES = st.lists(st.integers(-1000, 1000).map(lambda value: value / 8), min_size=2, max_size=12)


def literal(values: list[float]) -> str:
    return "{" + ",".join(map(repr, values)) + "}"


@given(SAMPLES)
def test_samples_as_the_statistics_module_sees_them(values: list[float]) -> None:
    cells = literal(values)
    expected = {
        "AVERAGE": statistics.fmean(values),
        "MEDIAN": statistics.median(values),
        "VAR.S": statistics.variance(values),
        "VAR.P": statistics.pvariance(values),
        "STDEV": statistics.stdev(values),
        "SUM": math.fsum(values),
    }
    for name, value in expected.items():
        assert same(calculated(f"={name}({cells})"), value, 1e-12)


@given(SAMPLES, st.floats(0, 1))
def test_percentiles_lie_between_order_statistics(values: list[float], share: float) -> None:
    result = calculated(f"=PERCENTILE({literal(values)},{share!r})")
    place = share * (len(values) - 1)
    ordered = sorted(values)
    assert ordered[max(math.floor(place - 1e-9), 0)] <= result <= ordered[min(math.ceil(place + 1e-9), len(values) - 1)]


@given(SAMPLES)
def test_quartiles_as_the_statistics_module_sees_them(values: list[float]) -> None:
    expected = statistics.quantiles(values, n=4, method="inclusive")
    for quarter in (1, 2, 3):
        result = calculated(f"=QUARTILE.INC({literal(values)},{quarter})")
        assert math.isclose(result, expected[quarter - 1], rel_tol=1e-12, abs_tol=1e-12)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=3, max_size=9))
def test_lines_as_the_statistics_module_sees_them(points: list[tuple[int, int]]) -> None:
    xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
    assume(len(set(xs)) > 1)
    slope, intercept = statistics.linear_regression(xs, ys)
    both = f"{literal(ys)},{literal(xs)}"
    assert math.isclose(calculated(f"=SLOPE({both})"), slope, rel_tol=1e-12, abs_tol=1e-12)
    assert math.isclose(calculated(f"=INTERCEPT({both})"), intercept, rel_tol=1e-12, abs_tol=1e-10)
    result = calculated(f"=LINEST({both})")
    assert math.isclose(result[0][0], slope, rel_tol=1e-12, abs_tol=1e-12)
    assert math.isclose(calculated(f"=FORECAST(3,{both})"), intercept + 3 * slope, rel_tol=1e-10, abs_tol=1e-10)


def test_the_order_of_a_range_is_kept_from_the_second_question_on() -> None:
    sheet = Cells({f"A{row}": float(row * 37 % 101) for row in range(1, 101)})
    sheet.indexes = {}
    ranks = [calculated(f"=RANK(A{row},A$1:A$100)", sheet) for row in range(1, 101)]
    assert sorted(ranks) == [float(place) for place in range(1, 101)]
    assert [key for key, kept in sheet.indexes.items() if kept is not None] == [(None, 0, 0, 99, 0, "ordered")]
    assert calculated("=MEDIAN(A1:A100)", sheet) == statistics.median(float(row * 37 % 101) for row in range(1, 101))
    assert calculated("=AGGREGATE(14,4,A1:A100,1)", sheet) == calculated("=LARGE(A1:A100,1)", sheet) == 100.0
