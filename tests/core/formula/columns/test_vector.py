"""The columnar evaluator gives, row for row, what the one-value evaluator gives."""

from __future__ import annotations

import math
import threading
import time
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from core.formula.columns import vector
from core.formula.language.errors import FormulaError, LimitExceeded
from core.formula.language.parser import parse
from core.formula.machine import machine
from core.formula.ranges import reduce
from core.formula.ranges.environment import Environment
from core.formula.values import days
from core.formula.values.value import ALL_ERRORS, DIV0, NA, NUM, Array, Date, Error, Reference, Span, TextPool
from core.values import Kind
from tests.core.formula.areas import span_of, values_of

COLUMNS = 4
OWN = 4
"""The column of the formulas under test: E."""


class Sheet(Environment):
    """One sheet of columns, and the source of a plan over them."""

    def __init__(self, columns: list[list[Any]]) -> None:
        super().__init__()
        self.columns = columns
        self.sheet = "Sheet1"
        self.pool = TextPool()
        self.environment = self
        self.indexes = {}

    def cell(self, sheet: str | None, row: int, column: int) -> Any:
        cells = self.columns[column] if column < len(self.columns) else []
        return cells[row] if row < len(cells) else None

    def array(self, reference: Reference) -> Array:
        bottom = min(reference.bottom, max(len(self.columns[0]) - 1, reference.top))
        rows, columns = bottom - reference.top + 1, reference.columns
        spans = tuple(self.span(None, reference.left + at, reference.top, rows) for at in range(columns))
        return Array(rows, columns, reference=reference, spans=spans, pool=self.pool)

    def span(self, sheet: str | None, column: int, first_row: int, rows: int) -> Span:
        return span_of([self.cell(sheet, first_row + at, column) for at in range(rows)], self.pool)


def one_by_one(formula: str, sheet: Sheet, row: int, rows: int, column: int = OWN) -> list[Any]:
    """The naive way: every cell by the machine, each written before the next is computed."""
    program = machine.compile(parse(formula, row, column), arrays=False, text=formula)
    result = []
    for at in range(row, row + rows):
        sheet.row, sheet.column = at, column
        result.append(program.run(sheet))
        if column < len(sheet.columns):
            sheet.columns[column][at] = result[-1]
    return result


def by_plan(formula: str, sheet: Sheet, row: int, rows: int, column: int = OWN) -> list[Any]:
    plan = vector.plan(parse(formula, row, column), text=formula)
    assert plan is not None, formula
    sheet.row, sheet.column = row, column
    span = plan.run(sheet, row, column, rows)
    assert span is not None, formula
    assert [len(part) for part in (span.kinds, span.numbers, span.codes)] == [rows] * 3
    return values_of(span, sheet.pool)


def alike(a: Any, b: Any) -> bool:
    """The same value of the same type, to the bit; -0 and 0 are one."""
    return type(a) is type(b) and (a is b if isinstance(a, Error) else a == b)


def assert_same(
    formula: str, columns: list[list[Any]], row: int = 0, rows: int | None = None, column: int = OWN
) -> None:
    rows = len(columns[0]) - row if rows is None else rows
    expected = one_by_one(formula, Sheet([list(cells) for cells in columns]), row, rows, column)
    result = by_plan(formula, Sheet([list(cells) for cells in columns]), row, rows, column)
    wrong = [
        (formula, row + at, e, f) for at, (e, f) in enumerate(zip(expected, result, strict=True)) if not alike(e, f)
    ]
    assert not wrong, wrong[:3]


NUMBERS = [
    0.0, 1.0, -1.0, 0.1, 0.2, 0.3, 0.1 + 0.2, -0.3, 2.675, 1.005, 1e15, 1e15 + 0.5, 100.0, 99.99999999999999, 1e300,
    -1e300, 1e308, 5e-324, 1e-200, 3.0, 12.0, 0.5, -2.5, 1 / 3, math.pi, 123456.789, 43_831.0, 60.0,
]  # fmt: skip
TEXTS = [
    "",
    "a",
    "A",
    "apple",
    "Apple",
    "12",
    " 7 ",
    "1e3",
    "TRUE",
    "false",
    "12%",
    "x1",
    "Straße",
    "STRASSE",
    "é",
    "-",
    "1/2/2020",
]
CELLS = (
    st.sampled_from(NUMBERS)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-50, 50).map(float)
    | st.sampled_from(TEXTS)
    | st.booleans()
    | st.none()
    | st.sampled_from(ALL_ERRORS)
    | st.sampled_from([Date(43_831.0), Date(1.5), Date(44_000.25)])
)
COLUMN = st.one_of(
    st.lists(CELLS, min_size=12, max_size=12),
    st.lists(st.sampled_from(NUMBERS), min_size=12, max_size=12),
    st.lists(st.sampled_from(["a", "A", "b", None]), min_size=12, max_size=12),
    st.lists(st.sampled_from([Date(43_831.0), Date(43_832.5), 3.0]), min_size=12, max_size=12),
)

ATOMS = st.sampled_from(
    [
        "A5",
        "B5",
        "C5",
        "D5",
        "A4",
        "B6",
        "$A5",
        "$C$2",
        "$D$7",
        "2",
        "0",
        "0.1",
        "15",
        '"a"',
        '"12"',
        '""',
        "TRUE",
        "FALSE",
        "#N/A",
    ]
)
WINDOWS = st.sampled_from(["A5:C5", "A4:A6", "B$2:B5", "A$1:C5", "B5:D7", "D3:D5", "$A5:$D5", "A5"])


OF_ONE = [
    "NOT",
    "ABS",
    "INT",
    "SIGN",
    "SQRT",
    "EXP",
    "LN",
    "LEN",
    "UPPER",
    "TRIM",
    "N",
    "T",
    "YEAR",
    "MONTH",
    "DAY",
    "ISNUMBER",
    "ISBLANK",
    "ISERROR",
    "ISERR",
    "ISNA",
    "ISTEXT",
    "ISNONTEXT",
    "ISLOGICAL",
]
OF_RANGES = ["SUM", "AVERAGE", "COUNT", "COUNTA", "MIN", "MAX", "PRODUCT", "AND", "OR", "XOR"]


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def call(name: str, *arguments: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.tuples(*arguments).map(lambda value: f"{name}({','.join(value)})")

    any_of = st.sampled_from
    operators = any_of(["+", "-", "*", "/", "^", "&", "=", "<>", "<", ">", "<=", ">="])
    digits = any_of(["0", "2", "-1", "D5"])
    computed = st.tuples(inner, any_of(["+0", "*1", '&""'])).map(lambda value: f"(({value[0]}){value[1]})")
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda value: f"({value[0]}{value[1]}{value[2]})"),
        st.tuples(any_of(["-", "+"]), inner).map(lambda value: f"({value[0]}{value[1]})"),
        inner.map(lambda value: f"({value})%"),
        call("IF", inner, inner, inner),
        call("IF", inner, inner),
        any_of(["IFERROR", "IFNA"]).flatmap(lambda name: call(name, inner, inner)),
        any_of(OF_ONE).flatmap(lambda name: call(name, inner)),
        any_of(["ROUND", "ROUNDUP", "ROUNDDOWN"]).flatmap(lambda name: call(name, inner, digits)),
        any_of(["MOD", "POWER", "LEFT", "RIGHT"]).flatmap(lambda name: call(name, inner, inner)),
        call("MID", inner, any_of(["1", "2"]), any_of(["1", "3"])),
        call("IFS", inner, inner, inner, inner),
        call("SWITCH", inner, inner, inner, inner, inner, inner),
        call("CHOOSE", inner, inner, inner),
        any_of(OF_RANGES).flatmap(
            lambda name: st.one_of(
                call(name, WINDOWS), call(name, WINDOWS, ATOMS), call(name, computed, ATOMS), call(name, ATOMS, ATOMS)
            )
        ),
        any_of(["STDEV", "MEDIAN"]).flatmap(lambda name: call(name, any_of(["A5:C5", "A4:A6", "B5:D7"]))),
        st.tuples(inner, inner).map(lambda value: f"LET(x,({value[0]})+0,x*x+({value[1]}))"),
        any_of(["ROW()", "ROW(A2)", "ROWS(A1:A3)", "COLUMN()", "COLUMNS(A1:C1)"]),
    )  # fmt: skip


FORMULAS = st.recursive(ATOMS, _extended, max_leaves=7)


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(FORMULAS, st.lists(COLUMN, min_size=COLUMNS, max_size=COLUMNS), st.booleans())
def test_the_plan_agrees_with_the_machine_on_random_formulas(
    formula: str, columns: list[list[Any]], bare: bool
) -> None:
    text = (
        f"={formula[1:-1]}"
        if bare and formula.startswith("(") and formula.endswith(")") and formula.count("(") == 1
        else f"={formula}"
    )
    # A function of ranges over a choice of cells has no plan; everything else has one.
    assume(vector.plan(parse(text, 4, OWN)) is not None)
    assert_same(text, columns, 4, 6)


MIXED: list[list[Any]] = [
    [float(at % 7) for at in range(30)],
    [None if at % 5 == 0 else ["x", 3.0, True, DIV0, "7"][at % 5] for at in range(30)],
    [Date(43_800.0 + at) for at in range(30)],
    [["North", "south", "NORTH", "", None][at % 5] for at in range(30)],
]
LOOKUPS = (
    '=SUMIFS($A$1:$A$30,$D$1:$D$30,D5)',
    '=COUNTIF($D$1:$D$30,D5)',
    '=COUNTIF($A:$A,">"&A5)',
    '=AVERAGEIFS($A$1:$A$30,$A$1:$A$30,">="&A5)',
    "=VLOOKUP(A5,$A$1:$C$30,3,FALSE)",
    "=VLOOKUP(D5,$D$1:$D$30,1,0)",
    "=MATCH(A5,$A$1:$A$30,0)",
    "=INDEX($C$1:$C$30,A5+1)",
    "=INDEX($D$1:$D$30,MATCH(A5,$A$1:$A$30,0))",
    "=SUM($A$1:$A$30)+A5",
    "=A5/SUM($A$1:$A$30)",
    "=RANK(A5,$A$1:$A$30)",
    "=XLOOKUP(A5,$A$1:$A$30,$C$1:$C$30)",
)  # fmt: skip


@pytest.mark.parametrize("formula", LOOKUPS)
def test_calls_with_fixed_ranges_agree(formula: str) -> None:
    assert_same(formula, MIXED, 4, 20)


EMPTY_ARGUMENTS = (
    "=IF(A5,,B5)", "=IF(A5,B5,)", "=SUM(A5,)", "=PRODUCT(A5,)", "=COUNT(B5,)", "=COUNTA(B5,)", "=MIN(A5,)", "=AND(A5,)",
    "=ROUND(A5,)", "=CHOOSE(A5,,B5)", "=IFERROR(B5,)", "=LEFT(D5,)", "=LOG(A5,)", "=IFERROR(,A5)",
    '=AND(A5:C5,"")', '=OR("",A5)', '=XOR(A5,""&"")', '=AND("","")', '=OR("x",A5)',
)  # fmt: skip


@pytest.mark.parametrize("formula", EMPTY_ARGUMENTS)
def test_arguments_left_or_made_empty_agree(formula: str) -> None:
    assert_same(formula, MIXED, 4, 20)


RECURRENCES = (
    "=E4+A5",
    "=IF(A5=A4,E4+1,1)",
    "=E4*2",
    "=E3+E4",
    "=E2+A5",
    "=SUM(E$1:E4)",
    "=SUM(E2:E4)+A5",
    "=MAX(E4,A5)",
    '=E4&"x"',
    '=IF(D5="",E4,D5)',
    "=IF(ISERROR(E4),0,E4)+B5",
    "=AVERAGE(E$4:E4,A5)",
    "=MOD(E4+1,3)",
    "=C5-A5+E4",
    "=SUM(Sheet1!E4,A5)",
)


@pytest.mark.parametrize("formula", RECURRENCES)
@pytest.mark.parametrize("start", [None, 1.0, "s", True, DIV0, Date(10.0)])
def test_a_column_that_reads_itself_above_agrees(formula: str, start: Any) -> None:
    own = [start] * 4 + [None] * 26
    assert_same(formula, [*MIXED, own], 4, 26)


@pytest.mark.parametrize(
    "rows", [1, 2, vector.CHUNK_ROWS - 1, vector.CHUNK_ROWS, vector.CHUNK_ROWS + 1, 2 * vector.CHUNK_ROWS + 3]
)
@pytest.mark.parametrize(
    "formula",
    ["=A1*B1+IF(C1>0,C1,0)", '=IF(A1>3,"x",D1)', "=A$1+SUM(A1:B1)", '=D1&"-"&A1', "=A1-2", "=$B$3", '=D1="south"'],
)
def test_borders_of_chunks(formula: str, rows: int) -> None:
    assert_same(formula, [(column * (rows // 30 + 1))[:rows] for column in MIXED], 0, rows)


def test_a_growing_window_over_several_chunks() -> None:
    rows = 2 * vector.CHUNK_ROWS + 5
    numbers = [0.1 * (at % 13) for at in range(rows)]
    sums = list(accumulate(numbers))
    assert by_plan("=SUM(A$1:A1)", Sheet([numbers]), 0, rows) == sums
    assert by_plan("=AVERAGE(A$1:A1)", Sheet([numbers]), 0, rows) == [total / (at + 1) for at, total in enumerate(sums)]
    assert by_plan("=MAX(A$1:A1)", Sheet([numbers]), 0, rows) == list(accumulate(numbers, max))
    assert by_plan("=COUNT(A$1:A1)", Sheet([numbers]), 0, rows) == [at + 1.0 for at in range(rows)]


@pytest.mark.parametrize("distance", [1, 7, vector.CHUNK_ROWS - 1, vector.CHUNK_ROWS, vector.CHUNK_ROWS + 1])
def test_a_recurrence_over_any_distance(distance: int) -> None:
    rows = 2 * vector.CHUNK_ROWS + 5
    column = [float(at % 11) for at in range(distance + rows)]
    assert_same(f"=E1+A{distance + 1}", [column, [], [], [], column], distance, rows)


def test_a_recurrence_takes_less_than_150_nanoseconds_a_row() -> None:
    rows = 200_000
    numbers = np.arange(float(rows + 1))
    span = Span(np.full(rows + 1, Kind.NUMBER, np.uint8), numbers, np.full(rows + 1, -1, np.int32))

    class Counting(Sheet):
        def span(self, sheet: str | None, column: int, first_row: int, rows: int) -> Span:
            cut = slice(first_row, first_row + rows)
            return Span(span.kinds[cut], span.numbers[cut], span.codes[cut])

    plan = vector.plan(parse("=E1+A2", 1, OWN))
    assert plan is not None
    best = math.inf
    for _ in range(7):
        began = time.process_time()
        result = plan.run(Counting([]), 1, OWN, rows)
        best = min(best, time.process_time() - began)
    assert result is not None
    assert result.numbers[-1] == numbers.sum()
    assert best / rows < 150e-9


def test_no_rows() -> None:
    plan = vector.plan(parse("=A1+1", 0, OWN))
    assert plan is not None
    span = plan.run(Sheet([[]]), 0, OWN, 0)
    assert span is not None
    assert len(span.kinds) == len(span.numbers) == len(span.codes) == 0


WITHOUT_PLAN = (
    "=RAND()", "=INDIRECT(A1)", "=OFFSET(A1,1,0)", "=A1:A3*2", "=SUM($A$1:$A$3*2)", "=ABS($A$1:$A$3)", "=name*A1",
    "=A1#", "=LAMBDA(x,x)(A1)", "=NOSUCH(A1)", "=SUM(A1:A$9)", "=SUMPRODUCT(A1:A3*B1:B3)", "=ROW(A1:A3)",
    "=Sheet1:Sheet2!A1", "=SUM(Sheet1:Sheet2!A1)", "=Table1[@Col]", "=@A1:A3", "=SUM(IF(A1,B1,TRUE))",
    f"=A1{'+A1' * 300}",
)  # fmt: skip


@pytest.mark.parametrize("formula", WITHOUT_PLAN)
def test_what_is_not_columnwise_has_no_plan(formula: str) -> None:
    assert vector.plan(parse(formula, 0, OWN)) is None


def test_names_are_fixed_only_where_the_caller_says_so() -> None:
    tree = parse("=A1*rate", 0, OWN)
    plan = vector.plan(tree, is_fixed_name=lambda sheet, name: name == "rate")
    assert plan is not None

    class Named(Sheet):
        def name(self, sheet: str | None, name: str) -> Any:
            return 0.5

    sheet = Named([[2.0, 4.0]])
    span = plan.run(sheet, 0, OWN, 2)
    assert span is not None
    assert span.numbers.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("formula", "row"), [("=A1", 3), ("=SUM(A1:A2)", 3), ("=E6+1", 4), ("=SUM(E$1:E9)", 4), ("=SUM(A$9:A5)", 4)]
)
def test_what_turns_out_not_to_be_columnwise_gives_none(formula: str, row: int) -> None:
    """References that leave the sheet above, cells of its own below, a range that turns round."""
    plan = vector.plan(parse(formula, row, OWN))
    assert plan is not None
    start = 0 if formula in ("=A1", "=SUM(A1:A2)") else row
    assert plan.run(Sheet([list(column) for column in [*MIXED, MIXED[0]]]), start, OWN, 3) is None


def test_a_deadline_ends_a_run() -> None:
    plan = vector.plan(parse("=E1+A2", 1, OWN))
    assert plan is not None
    sheet = Sheet([[1.0] * 30_000, [], [], [], [1.0] * 30_000])
    sheet.deadline = time.monotonic() - 1
    with pytest.raises(LimitExceeded):
        plan.run(sheet, 1, OWN, 29_000)


def test_one_plan_runs_in_several_threads() -> None:
    plan = vector.plan(parse("=A1*2+IF(A1>3,A1,0)"))
    assert plan is not None
    numbers = np.arange(300_000.0)
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(vector.map_columns(plan, {"A": numbers}))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        assert np.array_equal(answer, numbers * 2 + np.where(numbers > 3, numbers, 0))


def mapped(formula: str, **columns: Any) -> Any:
    plan = vector.plan(parse(formula), text=formula)
    assert plan is not None
    return vector.map_columns(plan, columns)


def test_map_of_numbers_gives_numbers() -> None:
    result = mapped("=A1*B1", A=np.array([1, 2, 3]), B=np.array([0.5, np.nan, 2.0]))
    assert result.dtype == np.float64
    assert result.tolist() == [0.5, 0.0, 6.0]


def test_map_of_comparisons_gives_booleans() -> None:
    result = mapped("=A1>B1", A=np.array([1.0, 2.0]), B=np.ma.masked_array([5.0, 9.0], [False, True]))
    assert result.dtype == np.bool_
    assert result.tolist() == [False, True]


def test_map_takes_text_blanks_dates_and_objects() -> None:
    dates = np.array(["1900-01-01", "2020-01-01", "NaT"], "datetime64[D]")
    assert mapped("=A1+0", A=dates).tolist() == [1.0, 43_831.0, 0.0]
    assert mapped('=A1&"!"', A=np.array(["a", "b"])).tolist() == ["a!", "b!"]
    objects = np.array([1, "2", None, True, NA, "x", 2.5], object)
    assert mapped("=A1*2", A=objects).tolist() == [2.0, 4.0, 0.0, 2.0, "#N/A", "#VALUE!", 5.0]
    assert mapped("=A1", A=np.array([True, False])).tolist() == [True, False]
    assert mapped("=A1", A=np.array([np.inf, 1.0])).tolist() == [NUM.text, 1.0]


def test_map_reads_other_rows_and_fixed_cells() -> None:
    numbers = np.array([1.0, 2.0, 3.0])
    assert mapped("=A1+A2", A=numbers).tolist() == [3.0, 5.0, 3.0]
    assert mapped("=A1/SUM($A$1:$A$3)", A=numbers).tolist() == [1 / 6, 2 / 6, 0.5]
    assert mapped("=SUM(A$1:A1)", A=numbers).tolist() == [1.0, 3.0, 6.0]
    assert mapped("=ROW()", A=numbers).tolist() == [1.0, 2.0, 3.0]
    assert mapped("=A1", A=np.empty(0)).tolist() == []


def test_map_without_a_plan_runs_row_by_row() -> None:
    tree = parse("=SUM(A1:A$3)")
    assert vector.plan(tree) is None
    columns = {"A": np.array([1.0, 2.0, 3.0])}
    assert vector.map_columns(None, columns) is None
    result = vector.map_columns(None, columns, machine.compile(tree))
    assert result is not None
    assert result.tolist() == [6.0, 5.0, 3.0]
    with pytest.raises(FormulaError, match="array"):
        vector.map_columns(None, columns, machine.compile(parse("=A1:A2")))


def test_map_refuses_columns_of_different_lengths_and_other_values() -> None:
    with pytest.raises(ValueError, match="length"):
        mapped("=A1+B1", A=np.zeros(2), B=np.zeros(3))
    with pytest.raises(ValueError, match="no value of a cell"):
        mapped("=A1", A=np.array([{}], object))
    with pytest.raises(ValueError, match="column"):
        mapped("=A1", A1=np.zeros(2))


def test_a_plan_says_what_it_reads() -> None:
    plan = vector.plan(parse("=A1+A3+$B2+Other!C$1+SUM(D$2:D1)", 1, OWN))
    assert plan is not None
    assert set(plan.inputs) == {
        (None, -4, False, -1, 1, None),
        (None, 1, True, 0, 0, None),
        (None, -1, False, -1, -1, 1),
    }


def test_days_of_a_column_are_those_of_the_calendar() -> None:
    serials = np.unique(
        [*range(1_000), *range(0, days.SERIAL_MAX, 5), *range(days.SERIAL_MAX - 400, days.SERIAL_MAX + 1)]
    )
    expected = np.array([days.split(serial) for serial in serials.tolist()])
    for part, name in enumerate(("YEAR", "MONTH", "DAY")):
        for rows in np.array_split(np.arange(len(serials)), 2):  # a sheet has 1,048,576 rows
            assert np.array_equal(mapped(f"={name}(A1)", A=serials[rows].astype(float)), expected[rows, part])


@pytest.mark.parametrize("date_1904", [False, True])
def test_days_at_midnight_and_past_the_last_one(date_1904: bool) -> None:
    numbers = [
        0.0, -0.0, -1.0, 0.99999421, 0.9999943, 59.9999999, 60.9999999, 1_461.0, 2_957_003.0, 2_957_003.9999999,
        2_957_004.0, 2_958_465.9999, 2_958_465.9999999, 2_958_466.0, 1e300,
    ]  # fmt: skip
    for formula in ("=YEAR(A1)", "=MONTH(A1)", "=DAY(A1)", "=EDATE(A1,1)", "=WEEKDAY(A1)"):
        item, many = Sheet([numbers]), Sheet([numbers])
        item.date_1904 = many.date_1904 = date_1904
        expected = one_by_one(formula, item, 0, len(numbers))
        assert all(map(alike, expected, by_plan(formula, many, 0, len(numbers)))), formula


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 1e12, 1e15])
def test_rounding_of_long_columns_is_that_of_single_numbers_to_the_bit(scale: float) -> None:
    chance = np.random.default_rng(3)
    numbers = np.concatenate([
        chance.normal(0, scale, 4_096), np.round(chance.normal(0, scale, 2_048), 2) + 0.005,
        np.tile([0.0, -0.0, 5e-324, -1e-300, 2.675, -0.5, 0.5, 2.0], 128),
    ])  # fmt: skip
    functions = {"ROUND": reduce.round_of, "ROUNDUP": reduce.round_up_of, "ROUNDDOWN": reduce.round_down_of}
    for name, function in functions.items():
        for digits in (-2, 0, 2, 9, 22, 23):
            expected = np.array([function(number, float(digits)) for number in numbers.tolist()])
            assert mapped(f"={name}(A1,{digits})", A=numbers).tobytes() == expected.tobytes(), (name, digits)
    varied = np.tile([0.0, 2.0, -1.0], len(numbers))[: len(numbers)]
    pairs = zip(numbers.tolist(), varied.tolist(), strict=True)
    assert (
        mapped("=ROUND(A1,B1)", A=numbers, B=varied).tobytes()
        == np.array([reduce.round_of(*p) for p in pairs]).tobytes()
    )
    whole = np.array([reduce.whole_below(number) for number in numbers.tolist()])
    assert mapped("=INT(A1)", A=numbers).tobytes() == whole.tobytes()


def test_a_blank_is_no_case_of_switch_that_is_false_or_empty() -> None:
    values = [0.0, 1.0, "", "a", True, False, None, NA]
    columns = [[a for a in values for _ in values], [b for _ in values for b in values]]
    assert_same('=SWITCH(A1,B1,"same","other")', columns)
    assert_same('=SWITCH(B1,"",1,FALSE,2,0,3,4)', columns)
