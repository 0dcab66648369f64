"""The library's face: contexts, answers, refusals, batches and columns.

Values by hand.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core.formula import evaluate as module
from core.formula.context import ContextEnvironment
from core.formula.evaluate import CHARACTERS_MAX, PROGRAMS_MAX, evaluate, evaluate_batch
from core.formula.functions.catalogue import FUNCTIONS, Takes
from core.formula.language.errors import (
    ContextError,
    EvaluationError,
    FormulaError,
    LimitExceeded,
    MissingContext,
    SyntaxFault,
    UnsupportedFunction,
)
from core.formula.program import Evaluation
from core.formula.values.value import Array
from tests.core.formula.places import Place
from tests.rows import every


def test_the_example_of_the_readme() -> None:
    result = core.evaluate("=SUM(A1:A3)*rate", {"A1": 1, "A2": 2, "A3": 3, "rate": 0.5}, error_handling="excel")
    assert (result.value, result.type) == (3.0, "number")
    assert result.cell_references == ["A1:A3", "rate"]
    assert result.functions_used == ["SUM"]
    assert result.formula == "=SUM(A1:A3)*rate"


@pytest.mark.parametrize(
    ("formula", "value", "kind"),
    [
        ("=1+1", 2.0, "number"),
        ('="a"&1', "a1", "string"),
        ("=1=1", True, "boolean"),
        ("=1/0", "#DIV/0!", "error"),
        ("=DATE(2024,2,29)", "2024-02-29", "date"),
        ("=DATE(2024,2,29)+0.5", "2024-02-29T12:00:00", "date"),
        ("={1,2;3,4}", [[1.0, 2.0], [3.0, 4.0]], "array"),
        ("=A1", None, "blank"),
        ("=IF(TRUE,A1)", 0.0, "number"),
        ("=A1:B1", [[None, 5.0]], "array"),
        ("={1,#N/A}", [[1.0, "#N/A"]], "array"),
        ("=B1", 5.0, "number"),
        ("=@{3,4}", 3.0, "number"),
        ("=DATE(2024,1,1)*1", 45292.0, "number"),
        ("=HSTACK(DATE(2024,1,1),TRUE)", [["2024-01-01", True]], "array"),
    ],
)
def test_values_and_types(formula: str, value: Any, kind: str) -> None:
    result = evaluate(formula, {"A1": None, "B1": 5})
    assert (result.value, result.type) == (value, kind)


def test_error_handling() -> None:
    assert evaluate("=1/0").value == "#DIV/0!"
    result = evaluate("=1/0", error_handling="null")
    assert (result.value, result.type) == (None, "error")
    assert evaluate("={1,#N/A}", error_handling="null").value == [[1.0, None]]
    with pytest.raises(EvaluationError, match=r"#DIV/0! in B1/0") as refusal:
        evaluate("=SUM(1,B1/0)+2", {"B1": 1}, error_handling="throw")
    assert refusal.value.position == 7
    assert refusal.value.error == "#DIV/0!"
    with pytest.raises(EvaluationError):
        evaluate("={1,#N/A}", error_handling="throw")
    assert evaluate("=IFERROR(1/0,7)", error_handling="throw").value == 7.0
    with pytest.raises(ValueError, match="error_handling"):
        evaluate("=TRUE", error_handling="loud")


@pytest.mark.parametrize("others", [0, 1_000])
def test_a_long_range_takes_the_given_cells_in_it_and_no_others(others: int) -> None:
    context = {"A1": 1.0, "A300": 2.0, "B300": 4.0, "A301": 8.0, "XFD1": 16.0, "B1:C2": [[32.0, 64.0], [128.0, 256.0]]}
    context |= {f"E{row}": 512.0 for row in range(1, others + 1)}
    assert evaluate("=SUM(A1:A300)", context).value == 3.0
    assert evaluate("=SUM(A1:B300)", context).value == 167.0
    assert evaluate("=SUM(XFD:XFD)", context).value == 16.0
    assert evaluate("=ROWS(C:C)", context).value == 1_048_576.0


@pytest.mark.parametrize(
    ("formula", "precision", "value"),
    [
        ("=1/3", 15, 0.333333333333333),
        ("=1/3", 4, 0.3333),
        ("=123456", 2, 120000.0),
        ("=0.1+0.2", 15, 0.3),
        ("=-2/3", 1, -0.7),
        ("=1E300/3", 3, 3.33e299),
        ("=1234567.125", 15, 1234567.125),
        ("={1,2}/3", 2, [[0.33, 0.67]]),
        ("=0", 5, 0.0),
    ],
)
def test_precision(formula: str, precision: int, value: Any) -> None:
    assert evaluate(formula, precision=precision).value == value


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.tuples(st.integers(0, 10**15), st.integers(-30, 20)).map(lambda tie: float(f"{tie[0]}5e{tie[1]}")),
        st.integers(-15, 30).map(lambda power: 10.0**power),
    ),
    st.integers(1, 15),
)
def test_precision_is_that_of_the_decimal_text(number: float, precision: int) -> None:
    expected = float(f"{number:.{precision - 1}e}")
    if abs(expected) != float("inf"):
        assert evaluate("=A1", {"A1": number}, precision=precision).value == expected


@pytest.mark.parametrize("precision", [0, 16, -1])
def test_precision_has_bounds(precision: int) -> None:
    with pytest.raises(ValueError, match="precision"):
        evaluate("=TRUE", precision=precision)


@pytest.mark.parametrize(
    ("date_format", "value"),
    [
        ("ISO8601", "2024-03-05"),
        ("YYYY-MM-DD", "2024-03-05"),
        ("DD/MM/YYYY", "05/03/2024"),
        ("%d.%m.%Y", "05.03.2024"),
        ("mmm d, yyyy", "Mar 5, 2024"),
    ],
)
def test_date_formats(date_format: str, value: str) -> None:
    assert evaluate("=DATE(2024,3,5)", date_format=date_format).value == value


def test_dates_of_the_1904_system() -> None:
    assert evaluate("=A1+DATE(1904,1,2)", {"A1": 0}, date_1904=True).value == "1904-01-02"


@pytest.mark.parametrize(
    "context",
    [
        {"A1": 1, "A2": 2},
        {"a1": 1, "a2": 2},
        {"$A$1": 1, "A$2": 2},
        {"A1:A2": [[1], [2]]},
        {"A1:A2": [1, 2]},
        {"$a$1:$a$2": [[1], [2]]},
        {"A1": 1, "A2": 2, "Z9": "beside"},
        {"A1:B3": [[1, 9], [2, 9]]},
        {"A1": True, "A2": 2.0, "A1:A1": [[1]]},
    ],
)
def test_context_keys(context: dict[str, Any]) -> None:
    assert evaluate("=A1+A2", context).value == 3.0


@every("text, number", [
    ("#NULL!", 1), ("#DIV/0!", 2), ("#VALUE!", 3), ("#REF!", 4), ("#NAME?", 5), ("#NUM!", 6), ("#N/A", 7),
    ("#GETTING_DATA", 8), ("#SPILL!", 9), ("#CALC!", 14), ("#n/a", 7),
])  # fmt: skip
def test_an_errors_text_is_that_error(text: str, number: int) -> None:
    """In a cell, a name, a range and beside one.

    Numbers are those of Excel's ERROR.TYPE.
    """
    for key, formula in (("A1", "A1"), ("par", "par"), ("A1:B1", "INDEX(A1:B1,2)"), ("Sheet1!$A$1", "Sheet1!A1")):
        context = {key: [["x", text]] if ":" in key else text}
        result = evaluate(f"=IF(ISERROR({formula}),ERROR.TYPE({formula}))", context)
        assert result.value == number
        result = evaluate(f"={formula}", context)
        assert (result.value, result.type) == (text.upper(), "error")


@every("text", ["#", "#N/A ", "#N", "N/A", "'#N/A", "#VALUE", "# N/A", "#UNKNOWN!"])
def test_a_text_that_is_no_errors_stays_one(text: str) -> None:
    assert evaluate("=A1", {"A1": text}).value == text


def test_context_keys_with_sheets_and_names() -> None:
    context = {"Sheet1!A1": 1, "'My Sheet'!A1": 10, "Rate": 100, "LIST": [[1, 2], [3, 4]], "B2": 1000}
    assert evaluate("=SHEET1!A1+'my sheet'!A1+rate+B2", context).value == 1111.0
    assert evaluate("=SUM(list)", context).value == 10.0
    assert evaluate("=Main!B2+B2", context, sheet="Main").value == 2000.0


def test_blanks_in_ranges() -> None:
    assert evaluate("=COUNTBLANK(A1:A4)&SUM(A1:A4)", {"A2": 5}).value == "35"
    assert evaluate("=COUNTA(A:A)", {"A2": 5, "A9": "x", "B9": 1}).value == 2.0
    assert evaluate("=SUM(A1:A1000)", {"A999": 5}).value == 5.0


@pytest.mark.parametrize(
    ("formula", "missing"),
    [
        ("=A1+B1", ("B1",)),
        ("=B1+C1+B1", ("B1", "C1")),
        ("=rate*2", ("rate",)),
        ("=SUM(B1:B9)+A1", ("B1:B9",)),
        ("=Other!A1", ("Other!A1",)),
        ("='My Sheet'!B2", ("'My Sheet'!B2",)),
        ("=IF(A1>0,1,B7)", ("B7",)),
        ("=SUM(C:C)", ("C:C",)),
        ("=$B$1", ("B1",)),
        ("=tax(1)+x", None),
    ],
)
def test_missing_context(formula: str, missing: tuple[str, ...] | None) -> None:
    with pytest.raises(FormulaError) as refusal:
        evaluate(formula, {"A1": 1})
    if missing is None:
        assert isinstance(refusal.value, UnsupportedFunction)
    else:
        assert isinstance(refusal.value, MissingContext)
        assert refusal.value.references == missing


@pytest.mark.parametrize(
    ("context", "why"),
    [
        ({"A1": float("inf")}, "inf"),
        ({"A1": {"x": 1}}, "dict"),
        ({"A1": [1]}, "list"),
        ({"A1": 10**400}, "too large"),
        ({"A1": "x" * 32_768}, "32,767"),
        ({"A1": b"x"}, "bytes"),
        ({"A1:B2": [[1, 2, 3]]}, "fit"),
        ({"A1:B2": [[1, 2], [3]]}, "equally long"),
        ({"A1:B2": []}, "at least one"),
        ({"A1:B2": 5}, "rows"),
        ({"A1:A2": [[[1]], [[2]]]}, "list"),
        ({"=A1": 1}, "no cell"),
        ({"A1+1": 1}, "no cell"),
        ({"": 1}, "no cell"),
        ({1: 1}, "no cell"),
        ({"x" * 700: 1}, "no cell"),
        ({"Sheet1:Sheet2!A1": 1}, "no cell"),
    ],
)
def test_bad_contexts_are_refused(context: dict[Any, Any], why: str) -> None:
    with pytest.raises(ContextError, match=why):
        evaluate('=SUM(A1:A2)+INDIRECT("A1")', context)


def test_the_context_may_change_between_evaluations() -> None:
    program = core.compile("=A1*2")
    context: dict[str, Any] = {"A1": 1}
    assert program.evaluate(context).value == 2.0
    context["A1"] = 5.5
    assert program.evaluate(context).value == 11.0
    assert program.evaluate({"a1": 7}).value == 14.0


def test_a_book_behind_the_context() -> None:
    """Absent cells come from the book, blank where it has none.

    Given ones hide the book's.
    """
    assert evaluate("=SUM(A1:A3)", {"A2": 1000}, behind=Place(), sheet="Sheet1").value == 1040.0
    assert evaluate("=A1+Z50+Other!A1", behind=Place(), sheet="Sheet1").value == 11.0
    assert evaluate("=A1", behind=Place(), sheet="Other").value == 1.0
    assert evaluate("=SUM(A:A)", {"A7": 1}, behind=Place(), sheet="Sheet1").value == 151.0
    assert evaluate("=half*A1", behind=Place({"half": "=0.5"}), sheet="Sheet1").value == 5.0
    assert evaluate("=SUM(Fruit[Price])", behind=Place(), sheet="Sheet1").value == 150.0
    assert evaluate("=nothing", behind=Place(), sheet="Sheet1").value == "#NAME?"


def test_clock_and_chance_are_handed_in() -> None:
    result = evaluate("=YEAR(NOW())+RAND()", clock=lambda: datetime(2026, 11, 20), random=lambda: 0.5)  # noqa: DTZ001
    assert result.value == 2026.5
    with pytest.raises(ContextError, match="no clock"):
        evaluate("=NOW()")
    for asks in ('="5-Jul"+0', '=COUNTIF(A1:A2,">=5-Jul")', '=DATEVALUE("1-Feb")', '=SUM("5-Jul")'):
        assert evaluate(asks, {"A1:A2": [[1], [2]]}, clock=lambda: datetime(2026, 11, 20)).type != "error"  # noqa: DTZ001
        with pytest.raises(ContextError, match="a date without a year, and no clock"):
            evaluate(asks, {"A1:A2": [[1], [2]]})
    # Of a cell's text that a criterion only looks at, and of what no date can be, nobody needs to know the year.
    assert evaluate("=COUNTIF(A1:A3,5)", {"A1:A3": [["1-2"], [5], ["5"]]}).value == 2.0
    assert evaluate('=IFERROR("x-2"+0,7)').value == 7.0
    with pytest.raises(ContextError, match="no source"):
        evaluate("=RAND()")


def test_a_kept_formula_reads_the_year_of_each_clock() -> None:
    program = core.compile('=YEAR("5-Jul"+0)')
    for year in (2024, 2031):
        clock = ContextEnvironment(clock=lambda year=year: datetime(year, 1, 1))  # noqa: DTZ001
        assert program.evaluate(environment=clock).value == year


def test_a_book_reads_the_year_of_its_last_calculation() -> None:
    book = core.Book.from_columns({"S": {"A": ["5-Jul", "x"] * 50, "B": ["=COUNTIF(A$1:A$100,D1)"] * 20}})
    for year, serial in ((2026, 46208), (2027, 46573)):
        book.set("S", "D1", serial)
        book.set("S", "E1", f"=YEAR(A1+0)+{year}*0")
        book.recalculate(now=datetime(year, 3, 1))  # noqa: DTZ001
        assert (book.value("S", "B1"), book.value("S", "E1")) == (50.0, year)


def test_columns_read_dates_without_a_year_by_their_clock() -> None:
    clock = lambda: datetime(2026, 11, 20)  # noqa: DTZ001, E731
    texts = {"A": ["5-Jul", "1", "x"]}
    for formula in ("=A1+0", "=COUNTIF(A:A,46208)+A1", "=VALUE(A1)*1"):
        result = core.compile(formula).map(texts, clock=clock)
        added = 1.0 if "COUNTIF" in formula else 0.0
        assert result.tolist() == [46208.0 + added, 1.0 + added, "#VALUE!"]
        with pytest.raises(ContextError, match="no clock"):
            core.compile(formula).map(texts)
    assert core.compile("=YEAR(TODAY())+A1").map({"A": [0.0, 1.0]}, clock=clock).tolist() == [2026.0, 2027.0]


UNARY = [
    row.name
    for row in FUNCTIONS.values()
    if len(row.arguments) >= 1
    and row.minimum == 1
    and row.arguments[0].kind in (Takes.NUMBER, Takes.INTEGER)
    and row.name != "MUNIT"  # of a matrix of so many rows
]


@every("name", UNARY)
def test_every_function_of_a_number_takes_a_date_without_a_year(name: str) -> None:
    clock = lambda: datetime(2026, 11, 20)  # noqa: DTZ001, E731
    item, second = (evaluate(f"={name}({value})", clock=clock, random=lambda: 0.5) for value in ('"5-Jul"', "46208"))
    assert (item.value, item.type) == (second.value, second.type)


def test_time_is_bounded() -> None:
    with pytest.raises(LimitExceeded, match="longer"):
        evaluate("=LET(f,LAMBDA(s,n,IF(n=0,1,s(s,n-1)+s(s,n-1))),f(f,60))", seconds=0.2)


def test_debug_traces_sub_expressions() -> None:
    result = evaluate("=A1*(B1+1)", {"A1": 2, "B1": 3}, debug=True)
    assert result.value == 8.0
    assert result.trace is not None
    assert [(step["expression"].strip("()"), step["value"]) for step in result.trace] == [
        ("A1", 2.0),
        ("B1", 3.0),
        ("B1+1", 4.0),
        ("A1*(B1+1", 8.0),
    ]
    assert all(result.formula[step["start"] : step["end"]] == step["expression"] for step in result.trace)
    assert evaluate("=A1", {"A1": 2}).trace is None


def test_faults_carry_positions() -> None:
    with pytest.raises(SyntaxFault) as fault:
        evaluate("=SUM(A1,")
    assert fault.value.position is not None
    with pytest.raises(UnsupportedFunction) as refusal:
        evaluate("=1+SUMIFZ(A1:A3,1)")
    assert refusal.value.position == 3
    assert "did you mean SUMIFS?" in refusal.value.suggestions


def test_batches_keep_their_order_and_failures_to_themselves() -> None:
    result = evaluate_batch(["=A1+1", "=1/0", "=SUM(", "=B9", "=NOPE()", "=A1*2"], {"A1": 4})
    assert [item.value for item in result if isinstance(item, Evaluation)] == [5.0, "#DIV/0!", 8.0]
    assert [type(item) for item in result if isinstance(item, FormulaError)] == [
        SyntaxFault,
        MissingContext,
        UnsupportedFunction,
    ]
    assert isinstance(result[0], Evaluation)
    assert isinstance(result[5], Evaluation)


def test_a_batch_filled_down_is_the_formulas_one_by_one() -> None:
    """Texts of one shape are one program.

    The answers are those of each formula alone, missing cells included.
    """
    context: dict[str, Any] = {f"A{row}": row for row in range(1, 60)} | {"C1": 10, "B7": "x", "rate": 2, "Other!A3": 5}
    texts = [f"=A{row}*$C$1+rate" for row in range(1, 64)] + [f"=SUM(A{row}:B{row + 2})" for row in range(1, 70)]
    texts += [f"=Other!A{row}&ROW()&ROW(A{row})" for row in range(1, 12)] + [f"={row}+NOPE(A1)" for row in range(20)]
    texts += ["=A1", *[f"=A{row}/0" for row in range(1, 10)]]
    for text, item in zip(texts, evaluate_batch(texts, context), strict=True):
        alone = answer_or_refusal(text, context)
        assert type(item) is type(alone), text
        if isinstance(item, FormulaError) and isinstance(alone, FormulaError):
            assert item.message == alone.message
        if isinstance(item, Evaluation) and isinstance(alone, Evaluation):
            assert (item.value, item.type, item.formula) == (alone.value, alone.type, text)
            assert item.cell_references == alone.cell_references
            assert item.functions_used == alone.functions_used


def answer_or_refusal(text: str, context: dict[str, Any]) -> Evaluation | FormulaError:
    try:
        return evaluate(text, context)
    except FormulaError as error:
        return error


def test_a_batch_in_an_environment() -> None:
    environment = ContextEnvironment({"A1": 1}, Place(), sheet="Sheet1")
    result = evaluate_batch([f"=A{row}" for row in range(1, 21)], environment=environment)
    assert [item.value for item in result if isinstance(item, Evaluation)][:3] == [1.0, 20.0, 30.0]


def test_compiled_formulas_are_kept_within_bounds() -> None:
    assert core.compile("=1+A1") is core.compile("=1+A1")
    for number in range(PROGRAMS_MAX + 10):
        core.compile(f"={number}")
    assert len(module._programs) <= PROGRAMS_MAX
    assert sum(map(len, module._programs)) == module._characters <= CHARACTERS_MAX


def test_map_fills_a_formula_down_columns() -> None:
    program = core.compile("=A1*B1+$A$1")
    result = program.map({"A": np.array([1.0, 2.0, 3.0]), "B": np.array([10.0, 20.0, 30.0])})
    assert result.tolist() == [11.0, 41.0, 91.0]
    result = core.compile('=IF(A1="",B1,A1&"!")').map(
        {"A": np.array(["x", "", "z"], dtype=object), "B": np.array([1.0, 2.0, 3.0])}
    )
    assert result.tolist() == ["x!", 2.0, "z!"]
    result = core.compile("=A1+1").map({"A": np.ma.masked_array([1.0, 2.0], mask=[False, True])})
    assert result.tolist() == [2.0, 1.0]


def test_map_takes_formulas_that_are_not_columnwise() -> None:
    """A LET with a lambda, and a reference that is calculated.

    Cell by cell, with the same answers.
    """
    columns = {"A": np.array([1.0, 2.0, 3.0])}
    assert core.compile("=LET(f,LAMBDA(x,x*2),f(A1))").map(columns).tolist() == [2.0, 4.0, 6.0]
    assert core.compile("=SUM(OFFSET(A1,0,0,2,1))").map(columns).tolist() == [3.0, 5.0, 3.0]
    assert core.compile("=1/(A1-2)").map(columns).tolist() == [-1.0, "#DIV/0!", 1.0]


def test_arrays_are_raw_too() -> None:
    result = evaluate("={1,2}*A1", {"A1": 2})
    assert isinstance(result.raw, Array)
    assert result.raw.cells() == [2.0, 4.0]


def test_the_day_that_never_was_is_told_as_excel_shows_it() -> None:
    assert evaluate("=DATE(1900,2,29)").value == "1900-02-29"
    assert evaluate("=DATE(1900,2,29)+0.5").value == "1900-02-29T12:00:00"
    assert evaluate("=DATE(1900,2,28)").value == "1900-02-28"
    assert evaluate("=DATE(1900,3,1)").value == "1900-03-01"


@every(
    "formula, names, expected",
    [
        ("=Par*Rate", "Par Rate", [10.0, 40.0, 90.0]),
        ("=par*RATE", "Par Rate", [10.0, 40.0, 90.0]),
        ("=[@Par]*[@Rate]", "Par Rate", [10.0, 40.0, 90.0]),
        ("=[@Par]/SUM([Rate])", "Par Rate", [1 / 60, 2 / 60, 3 / 60]),
        ("=[@[Market value]]+A1", "A Market_value", [11.0, 22.0, 33.0]),
        ("=LET(Rate,2,Par*Rate)", "Par Rate", [2.0, 4.0, 6.0]),
        ("=REDUCE(0,[Par],LAMBDA(sum,x,sum+x))", "Par Rate", [6.0, 6.0, 6.0]),
        ("=SUM(BYROW([Par],SUM))", "Par Rate", [6.0, 6.0, 6.0]),
        ("=A1*B1", "A", MissingContext),
        ("=SUM(A$1:B$3)", "A", MissingContext),
        ("=Par*Price", "Par Rate", MissingContext),
        ("=[@Price]", "Par Rate", MissingContext),
        ("=Other!A1", "A B", FormulaError),
        ("=SUM(1:1)", "A B", FormulaError),
        ("=Par", "Par PAR", FormulaError),
    ],
)
def test_map_takes_columns_by_letter_or_name(formula: str, names: str, expected: Any) -> None:
    arrays = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    columns = {name.replace("_", " "): array for name, array in zip(names.split(), arrays, strict=False)}
    if isinstance(expected, list):
        assert core.compile(formula).map(columns).tolist() == pytest.approx(expected)
        return
    with pytest.raises(expected):
        core.compile(formula).map(columns)
