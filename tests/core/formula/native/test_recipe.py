"""Compiled loops give, bit for bit, what the chunks give that serve before them, and the values of the machine."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import core
from core.confined import here
from core.formula.columns import vector
from core.formula.language.parser import parse
from core.formula.native.recipe import NO_LOOP, NUMBERS_AND_BLANKS, LoopRecipe
from core.formula.native.steps import LoopStep
from core.formula.values.value import Date
from core.native import folder
from core.native.loops import Loops
from core.native.process import COMPILER
from core.values import Kind
from tests.core.formula.columns.test_vector import NUMBERS, OWN, Sheet, alike, by_plan, one_by_one


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = folder._place
    folder.use(tmp_path_factory.mktemp("native"))
    COMPILER.end()  # it has another folder
    yield
    folder.use(before)
    COMPILER.end()


@pytest.fixture(autouse=True)
def at_once() -> Iterator[Loops]:
    """Every formula is worth a loop from its first row on."""
    with pytest.MonkeyPatch.context() as patch:
        new_loops = Loops(worth=0)
        patch.setattr(vector, "LOOPS", new_loops)
        patch.setattr(vector, "ROWS_MIN", 1)
        yield new_loops
        new_loops.finish()


def looped(formula: str, columns: list[list[Any]], new_loops: Loops) -> tuple[list[Any], list[Any], int]:
    """A formula's values by chunks, then by its loop, and how many rows the loop did."""
    chunks = by_plan(formula, Sheet(columns), 0, len(columns[0]))
    new_loops.finish()
    assert new_loops.refusal == "", formula
    before = new_loops.rows
    return chunks, by_plan(formula, Sheet(columns), 0, len(columns[0])), new_loops.rows - before


def bits(values: list[Any]) -> list[Any]:
    return [(type(value), value.hex()) if isinstance(value, float) else value for value in values]


def assert_same(formula: str, columns: list[list[Any]], new_loops: Loops) -> int:
    """How many rows the loop did."""
    chunks, result, rows = looped(formula, columns, new_loops)
    assert bits(result) == bits(chunks), formula
    expected = one_by_one(formula, Sheet(columns), 0, len(columns[0]))
    wrong = [pair for pair in zip(expected, result, strict=True) if not alike(*pair)]
    assert not wrong, (formula, wrong[:3])
    return rows


def the_recipe(new_loops: Loops) -> LoopRecipe:
    (recipe,) = new_loops.recipes()
    assert isinstance(recipe, LoopRecipe)
    return recipe


PLAIN = [float(at) for at in range(-20, 20)]
OTHER = [at * 0.75 + 0.1 for at in range(40)]
DATES = [Date(43_800.25 + 11 * at) for at in range(40)]
TRUTHS = [at % 3 == 0 for at in range(40)]
STEPS = {
    "+": "=(A1+B1)*2", "-": "=(A1-B1)*2", "*": "=A1*B1*2", "/": "=A1/B1/2", "sum": "=A1*2+B1", "difference": "=A1*2-B1",
    "=": "=IF(A1=B1,1,2)", "<>": "=IF(A1<>B1,1,2)", "<": "=IF(A1<B1,1,2)", ">": "=IF(A1>B1,1,2)",
    "<=": "=IF(A1<=B1,1,2)", ">=": "=IF(A1>=B1,1,2)", "negate": "=-A1*2", "%": "=A1%*2", "ABS": "=ABS(A1)*2",
    "SIGN": "=SIGN(A1)*2", "INT": "=INT(A1/3)*2", "SQRT": "=SQRT(B1)*2", "ROUND": "=ROUND(A1/3,2)*2",
    "ROUNDUP": "=ROUNDUP(A1/3,1)*2", "ROUNDDOWN": "=ROUNDDOWN(A1/3,0)*2", "YEAR": "=YEAR(C1)*2",
    "MONTH": "=MONTH(C1)*2",
    "DAY": "=DAY(C1)*2", "IF": "=IF(D1,A1,B1)*2", "IFERROR": "=IFERROR(A1/A1,B1)*2",
    "NOT": "=IF(NOT(D1),A1,B1)",
    "CHOOSE": "=CHOOSE(1+D1,A1,B1)*2", "ROW": "=ROW(A5)*A1", "ISERROR": "=IF(ISERROR(A1/A1),B1,A1)",
    "ISNUMBER": "=IF(ISNUMBER(1/A1),B1,A1)", "ISBLANK": "=IF(ISBLANK(1/A1),B1,A1)", "ISTEXT": "=IF(ISTEXT(1/A1),B1,A1)",
    "ISNONTEXT": "=IF(ISNONTEXT(1/A1),B1,A1)", "ISLOGICAL": "=IF(ISLOGICAL(1/A1),B1,A1)", "SUM": "=SUM(A1,B1,1)*2",
    "AVERAGE": "=AVERAGE(A1,B1)*2", "MIN": "=MIN(A1,B1,0)*2", "MAX": "=MAX(A1,B1,0)*2", "PRODUCT": "=PRODUCT(A1,B1)*2",
    "AND": "=IF(AND(A1>0,B1>5),A1,B1)", "OR": "=IF(OR(A1>0,B1>5),A1,B1)", "XOR": "=IF(XOR(A1>0,B1>5),A1,B1)",
}  # fmt: skip
"""A formula for each step that a loop has."""


@pytest.mark.parametrize("name", STEPS)
def test_each_step_runs_in_a_loop(name: str, at_once: Loops) -> None:
    plan = vector.plan(parse(STEPS[name], 0, OWN), text=STEPS[name])
    assert plan is not None
    assert assert_same(STEPS[name], [PLAIN, OTHER, DATES, TRUTHS], at_once) == 40
    recipe = the_recipe(at_once)
    assert name in {step.name for step in recipe.steps}


CELLS = st.one_of(
    st.lists(st.sampled_from(NUMBERS) | st.integers(-9, 9).map(float), min_size=40, max_size=40),
    st.lists(st.sampled_from(NUMBERS) | st.none(), min_size=40, max_size=40),
    st.lists(st.integers(-99, 99).map(lambda number: number / 8), min_size=40, max_size=40),
    st.lists(st.floats(0.5, 60_000.0).map(Date), min_size=40, max_size=40),
    st.lists(st.booleans(), min_size=40, max_size=40),
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def call(names: str, count: int, more: str = "") -> st.SearchStrategy[str]:
        arguments = st.tuples(*[inner] * count).map(",".join)
        return st.builds("{}({}{})".format, st.sampled_from(names.split()), arguments, st.just(more))

    operators = st.sampled_from(["+", "-", "*", "/", "=", "<>", "<", ">", "<=", ">="])
    return st.one_of(
        st.builds("({}{}{})".format, inner, operators, inner),
        st.builds("(-{})".format, inner),
        st.builds("({}%)".format, inner),
        call("ABS SIGN INT SQRT YEAR MONTH DAY NOT ISERROR ISNUMBER ISBLANK ISTEXT ISNONTEXT ISLOGICAL", 1),
        *(call("ROUND ROUNDUP ROUNDDOWN", 1, f",{digits}") for digits in (0, 2, 5)),
        call("IF CHOOSE IFS AND OR XOR SUM AVERAGE MIN MAX PRODUCT", 2),
        call("IFERROR", 2),
        call("IF CHOOSE SUM MIN SWITCH", 3),
        st.just("ROW()"),
    )


FORMULAS = st.recursive(st.sampled_from(["A1", "B1", "C1", "D1", "0", "1", "2.5", "0.3"]), _larger, max_leaves=9)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(FORMULAS, st.lists(CELLS, min_size=4, max_size=4))
def test_loops_agree_on_random_formulas(formula: str, columns: list[list[Any]]) -> None:
    if vector.plan(parse(f"={formula}", 0, OWN), text=f"={formula}") is not None:
        assert_same(f"={formula}", columns, vector.LOOPS)  # type: ignore[attr-defined]


def test_every_day_of_both_systems(at_once: Loops) -> None:
    days = np.arange(0.0, 2_958_466.0)
    names = ("YEAR", "MONTH", "DAY")
    for name in names:
        core.compile(f"={name}(A1)+0").map({"A": days[:10]})
    at_once.finish()
    year, month, day = (core.compile(f"={name}(A1)+0").map({"A": days}) for name in names)
    assert at_once.rows == 3 * len(days)
    assert (year[60], month[60], day[60]) == (1900, 2, 29)
    dates = np.datetime64("1900-03-01") + np.arange(len(days) - 61)
    months = dates.astype("datetime64[M]")
    assert np.array_equal(year[61:], months.astype("datetime64[Y]").astype(int) + 1970)
    assert np.array_equal(month[61:], months.astype(int) % 12 + 1)
    assert np.array_equal(day[61:], (dates - months).astype(int) + 1)
    assert (month[1:60] == [1] * 31 + [2] * 28).all()
    assert (day[1:60] == [*range(1, 32), *range(1, 29)]).all()


UNSEEN = (
    "=A1*B1+1", "=LEN(A1)*B1+1", "=IFERROR(A1*B1,0)+1", "=IF(A1>5,1,2)*B1", "=MIN(A1,B1)+1", "=B1/A1+1",
    "=IF(A1,1,2)+B1", "=SIGN(A1)*B1", "=ROUND(A1,2)+B1", "=IF(ISNUMBER(A1),1,2)+B1", "=CHOOSE(A1-14999,B1,1)+1",
    "=YEAR(A1)+B1",
)  # fmt: skip


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("formula", UNSEEN)
def test_a_number_of_no_cell_far_down(formula: str, value: float, at_once: Loops) -> None:
    """What nobody looked at before the loop runs is found by it.

    A masked array is looked at first.
    """
    input_value: dict[str, NDArray[np.float64]] = {"A": np.arange(20_000.0) + 1, "B": np.full(20_000, 2.0)}
    core.compile(formula).map(input_value)
    at_once.finish()
    input_value["A"][15_000] = value
    result = core.compile(formula).map(input_value)
    seen = {name: np.ma.masked_array(column, np.arange(20_000) < 0) for name, column in input_value.items()}
    vector.LOOPS = Loops()  # type: ignore[attr-defined]  # whose loops are not there yet
    assert list(result) == list(core.compile(formula).map(seen))


SMALL = [2.0**-520, -(2.0**-520), 2.0**-1022, 1e-200, 5e-324, -5e-324, 0.0, 2.0] * 5


@pytest.mark.parametrize(
    "formula", ["=A1*B1+C1", "=IF(C1>0,A1*A1,1)", "=A1*B1*C1", "=A1*0.5+B1", "=-(A1*1)", "=ABS(A1*B1)/C1", "=A1/4*-1"]
)
@pytest.mark.parametrize("factor", [2.0**-520, -(2.0**-503), 1e-120, -3.0])
@pytest.mark.parametrize("is_marked", sorted({False, vector.MARKS_SUBNORMALS}))
def test_products_that_are_too_small(
    formula: str, factor: float, is_marked: bool, at_once: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly so, too, where no rounding shows it.

    Also as on a processor that does not mark them.
    """
    monkeypatch.setattr(vector, "MARKS_SUBNORMALS", is_marked)
    for small in SMALL[:8]:
        assert_same(formula, [[small] * 40, [factor] * 40, [0.0, -0.0, 1.0, small] * 10], at_once)
    assert_same(formula, [SMALL, [factor] * 40, [1.0] * 40], at_once)
    assert {recipe.is_marked for recipe in at_once.recipes()} == {is_marked}  # type: ignore[attr-defined]


@pytest.mark.parametrize("rounding", ["ROUND", "ROUNDUP", "ROUNDDOWN"])
@pytest.mark.parametrize("inner", ["A1+B1", "A1-B1", "A1*B1", "A1*B1-C1", "C1-A1*B1", "A1+B1*C1", "A1-B1*C1", "A1/2"])
def test_minus_zero_and_what_rounds_to_it(rounding: str, inner: str, at_once: Loops) -> None:
    values = [-0.0, 0.0, -0.001, 0.001, -1.0]
    columns = [[values[at // step % 5] for at in range(125)] for step in (1, 5, 25)]
    assert assert_same(f"={rounding}({inner},2)", columns, at_once) == 125


@pytest.mark.parametrize(("rows", "threads"), [(200_000, 1), (800_000, 3)])
@pytest.mark.parametrize("formula", ["=A1*B1+IF(A1>2,1,0)", "=IF(A1>B1,1,2)>1", "=A1*2+A1", "=ROW()*A1"])
def test_a_formula_mapped_again_and_again(
    formula: str, rows: int, threads: int, at_once: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From some hundred thousand rows on by threads, which leave to the chunks what one of them cannot do."""
    asked = set()

    def threads_for(most: int) -> int:
        asked.add(most)
        return threads

    monkeypatch.setattr("core.threads.threads_for", threads_for)
    columns = {"A": np.arange(float(rows)), "B": np.full(rows, 3.5)}
    program = core.compile(formula)
    chunks = program.map(columns)
    at_once.finish()
    for run in range(1, 4):
        assert np.array_equal(program.map(columns), chunks)
        assert at_once.rows == run * rows
    assert asked == {rows // 262_144}
    far = rows * 3 // 4
    columns["A"][far] = np.nan
    special = program.map(columns)
    assert len(special) == rows
    assert special[far] == (True if formula.endswith(">1") else 0.0)
    del columns["B"]
    columns["A"][far] = far
    if "B1" not in formula:
        assert np.array_equal(program.map(columns), chunks)


LONG = 300_000
FAR = st.lists(st.integers(0, LONG - 1), max_size=4)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["=100/A1+1", "=IF(A1>5,A1*2,B1)-0.1", "=ROW()*A1+B1", "=IF(A1=B1,1,2)+B1", "=IF(A1,B1,2)<1"]),
    *(FAR,) * 4,
)
def test_long_runs_with_special_rows_far_down(
    formula: str, zeros: list[int], blanks: list[int], close: list[int], infinite: list[int]
) -> None:
    """Long blocks, short ones behind a special row, and long ones again give what the chunks give."""
    a, b = np.arange(1.0, LONG + 1), np.arange(LONG, 0.0, -1.0) / 8
    a[zeros], a[blanks], b[close] = 0.0, np.nan, a[close] * (1 + 1e-15)
    b[infinite] = np.inf
    columns, program = {"A": a, "B": b}, core.compile(formula)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector, "LOOPS", Loops())
        chunks = program.map(columns)
    program.map(columns)
    vector.LOOPS.finish()  # type: ignore[attr-defined]
    result = program.map(columns)
    assert result.dtype == chunks.dtype
    assert result.tobytes() == chunks.tobytes() if result.dtype != object else result.tolist() == chunks.tolist()


def test_blanks_behind_the_last_row() -> None:
    result = core.compile("=IF(ISBLANK(A2),-1,A2)*2").map({"A": np.arange(5_000.0)})
    assert list(result[-2:]) == [2 * 4_999.0, -2.0]


def test_blanks_among_numbers_and_text_in_one_chunk(at_once: Loops) -> None:
    rows = 3 * vector.CHUNK_ROWS
    cells: list[Any] = [None if at % 7 == 0 else float(at) for at in range(rows)]
    cells[vector.CHUNK_ROWS] = "12"
    assert assert_same("=IF(A1>100,A1*2,A1)+B1", [cells, [1.0] * rows], at_once) == 2 * vector.CHUNK_ROWS


def test_errors_of_branches_that_are_not_taken(at_once: Loops) -> None:
    columns = [[float(at % 4) for at in range(40)], [1.0] * 40]
    assert assert_same("=IF(A1=0,0,B1/A1)+1", columns, at_once) == 40
    assert assert_same("=IFERROR(B1/A1,-1)+1", columns, at_once) == 40
    assert assert_same("=B1/A1+1", columns, at_once) == 0


def test_what_a_loop_does_not_know_stays_in_chunks(at_once: Loops) -> None:
    columns: list[list[Any]] = [PLAIN, [f"{at}" for at in range(40)]]
    assert assert_same("=(LEN(B1)+A1)*2-1", columns, at_once) == 40
    recipe = the_recipe(at_once)
    assert recipe.start > 0
    assert assert_same('=IF(A1*2+1>0,"a","b")', columns, at_once) == 0


def test_a_run_down_its_own_column_has_no_loop(at_once: Loops) -> None:
    formula = "=E1*2+A2"
    sheets = [Sheet([PLAIN, [], [], [], [1.0, *[None] * 39]]) for _ in range(2)]
    assert by_plan(formula, sheets[0], 1, 39) == one_by_one(formula, sheets[1], 1, 39)
    at_once.finish()
    assert at_once.recipes() == []


def test_the_size_of_a_loop_is_bounded(at_once: Loops) -> None:
    text = "=" + "+".join(["A1*B1"] * 200)
    assert assert_same(text, [PLAIN, OTHER], at_once) == 40
    recipe = the_recipe(at_once)
    assert len(recipe.steps) == 256
    assert recipe.start == 399 - 256


def test_kinds_that_no_loop_is_for() -> None:
    compared = LoopRecipe(0, (LoopStep("<", 2, (0, 1)), LoopStep("*", 2, (2, 1))), (0, 1), (False, False))
    assert compared.kind(bytes([Kind.NUMBER, Kind.DATE])) == Kind.NUMBER
    for kind in (Kind.TEXT, Kind.ERROR, Kind.BOOLEAN, NO_LOOP):
        assert compared.kind(bytes([Kind.NUMBER, kind])) == NO_LOOP
    chosen = LoopRecipe(0, (LoopStep("NOT", 2, (0,)), LoopStep("IF", 2, (2, 0, 1))), (0, 1), (False, False))
    assert chosen.kind(bytes([Kind.NUMBER, NUMBERS_AND_BLANKS])) == Kind.NUMBER
    assert chosen.kind(bytes([Kind.DATE, Kind.DATE])) == Kind.DATE
    assert chosen.kind(bytes([Kind.NUMBER, Kind.DATE])) == NO_LOOP


def test_one_loop_runs_in_several_threads(at_once: Loops) -> None:
    value = {"A": np.arange(200_000.0), "B": np.arange(200_000.0) % 9}
    program = core.compile("=ROUND(IF(A1>1000,A1/7,B1)*1.25,2)")
    expected = program.map(value)
    at_once.finish()
    result: list[NDArray[np.float64]] = []
    threads = [threading.Thread(target=lambda: result.append(program.map(value))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(result) == 4
    assert all((item == expected).all() for item in result)


def test_numba_is_never_imported_llvm_for_the_first_loop_only_and_may_be_absent() -> None:
    program = """
import sys, numpy as np, core
from core.formula.columns import vector
given = {"A": np.arange(10_000.0)}
core.compile("=A1*2+1").map(given)
assert "llvmlite" not in sys.modules
sys.modules["llvmlite"] = None
vector.LOOPS.worth = 0
for _ in range(3):
    assert core.compile("=A1*2+1").map(given)[9] == 19
    vector.LOOPS.finish()
assert vector.LOOPS.rows == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_confined_child_compiles_nothing(at_once: Loops, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "confined", True)
    assert assert_same("=A1*B1+1", [PLAIN, OTHER], at_once) == 0
    assert at_once.recipes() == []


def test_a_column_with_specials_stops_asking_the_loop(at_once: Loops) -> None:
    rows = 64 * vector.CHUNK_ROWS
    values = np.arange(float(rows))
    values[:: vector.CHUNK_ROWS // 2] = 0.0
    program = core.compile("=100/A1+1")
    program.map({"A": values})
    at_once.finish()
    result = program.map({"A": values})
    assert at_once.rows == 0
    assert list(result[:2]) == ["#DIV/0!", 101.0]
