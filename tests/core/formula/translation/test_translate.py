"""Translated formulas run, in all three targets, and give the values that the formula has."""

from __future__ import annotations

import inspect
import math
import re
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from core.formula.evaluate import evaluate
from core.formula.functions.catalogue import FUNCTIONS
from core.formula.language.errors import FormulaError, LimitExceeded, UnsupportedFunction
from core.formula.translation.translate import _CALLS, Target, translate
from core.formula.translation.translations import AGGREGATES, SCALARS
from core.values import to_serial
from tests.core.formula.trees import FORMULAS
from tests.rows import every

COLUMNS: dict[str, list[Any]] = {
    "A": [10.0, 25.5, -3.0, 40.0, 7.0],
    "B": ["apple", "banana", "Cherry", "apple", "date"],
    "C": [1.0, 2.0, 3.0, 4.0, 5.0],
    "D": [45366.0, 45412.0, 44985.0, 45657.0, 45000.0],
}
TARGETS: tuple[Target, ...] = ("python", "numpy", "pandas")

CASES = (
    # operators
    ("=1+2*3-4/8", 6.5),
    ("=-2^2", 4.0),
    ("=2^-1", 0.5),
    ("=2^3^2", 64.0),
    ("=50%*A1", 5.0),
    ("=(A1+A2)*2-(C1-C2)", 72.0),
    ('=A1&"-"&C2&TRUE', "10-2TRUE"),
    ('=B3="CHERRY"', True),
    ("=A1<>A2", True),
    ("=A1>=10", True),
    ("=1" + "+A1" * 500, 5001.0),
    ('="a"' + '&"b"' * 500, "a" + "b" * 500),
    ("=1-(2-3)+-(2+1)*-2", 8.0),
    # math
    ("=SUM(A1:A5,1,C1:C2)", 83.5),
    ("=SUM(A1:A5)", 79.5),
    ('=SUMIF(A1:A5,">8")', 75.5),
    ('=SUMIF(B1:B5,"APPLE",A1:A5)', 50.0),
    ('=SUMIF(B1:B5,"*an*",A1:A5)', 25.5),
    ("=SUMIF(B1:B5,B1,A1:A5)", 50.0),
    ('=SUMIFS(A1:A5,B1:B5,"apple",C1:C5,">1")', 40.0),
    ('=SUMIFS(A1:A5,C1:C5,">="&C4)', 47.0),
    ("=SUMPRODUCT(A1:A5,C1:C5)", 247.0),
    ("=SUMPRODUCT((A1:A5>8)*C1:C5)", 7.0),
    ("=ABS(A3)", 3.0),
    ("=ROUND(2.5,0)", 3.0),
    ("=ROUND(-1234.565,-1)", -1230.0),
    ("=ROUND(1.005,2)", 1.01),
    ("=ROUNDUP(A2,0)", 26.0),
    ("=ROUNDUP(-2.1,0)", -3.0),
    ("=ROUNDDOWN(-2.9,0)", -2.0),
    ("=INT(-2.5)", -3.0),
    ("=MOD(-7,3)", 2.0),
    ("=MOD(A1,4)", 2.0),
    ("=POWER(A1,2)", 100.0),
    ("=SQRT(16)", 4.0),
    ("=EXP(0)+LN(1)+LOG10(100)+LOG(8,2)", 6.0),
    ("=TRUNC(-2.75,1)", -2.7),
    ("=SIGN(A3)", -1.0),
    ("=CEILING(2.1,0.5)", 2.5),
    ("=FLOOR(2.9,0.5)", 2.5),
    ("=MROUND(7,3)", 6.0),
    ("=MROUND(6.05,0.1)", 6.0),
    ("=SUM(C1:.C5)", 15.0),
    ("=COUNTA(A4.:.D5)", 8.0),
    ("=QUOTIENT(-7,2)", -3.0),
    ("=PRODUCT(C1:C4)", 24.0),
    ("=SUMSQ(C1:C3)", 14.0),
    ("=FACT(5)+COMBIN(5,2)", 130.0),
    ("=GCD(12,18)+LCM(4,6)", 18.0),
    ("=SIN(0)+COS(0)+PI()*0", 1.0),
    # logical
    ('=IF(A1>5,"big","small")', "big"),
    ("=IF(A1>50,1)", False),
    ('=IFS(A1>50,"a",A1>5,"b")', "b"),
    ("=IFERROR(1/0,-1)", -1.0),
    ("=IFERROR(A1/0,-1)", -1.0),
    ("=IFERROR(A1/C1,-1)", 10.0),
    ("=AND(A1>5,C1=1)", True),
    ("=OR(A1>50,C1=2)", False),
    ("=NOT(A1>50)", True),
    ("=XOR(TRUE,TRUE,TRUE)", True),
    ('=SWITCH(C2,1,"one",2,"two","many")', "two"),
    ('=SWITCH(C5,1,"one",2,"two","many")', "many"),
    ("=CHOOSE(C2,10,20,30)", 20.0),
    # lookup
    ('=VLOOKUP("cherry",B1:C5,2,FALSE)', 3.0),
    ("=VLOOKUP(3.7,C1:D5,2)", 44985.0),
    ("=HLOOKUP(1,C1:D5,3,FALSE)", 3.0),
    ('=XLOOKUP("date",B1:B5,A1:A5)', 7.0),
    ('=XLOOKUP("fig",B1:B5,A1:A5,"none")', "none"),
    ("=INDEX(A1:A5,4)", 40.0),
    ("=INDEX(A1:C5,2,3)", 2.0),
    ("=INDEX(A1:A5,MATCH(4,C1:C5,0))", 40.0),
    ("=MATCH(3.5,C1:C5)", 3.0),
    ('=MATCH("banana",B1:B5,0)', 2.0),
    ('=XMATCH("CHERRY",B1:B5)', 3.0),
    ("=OFFSET(A1,1,2)", 2.0),
    ("=SUM(OFFSET(A1,0,0,2,1))", 35.5),
    # statistical
    ("=AVERAGE(A1:A5)", 15.9),
    ('=AVERAGEIF(B1:B5,"apple",A1:A5)', 25.0),
    ('=AVERAGEIFS(A1:A5,C1:C5,">1",C1:C5,"<4")', 11.25),
    ("=COUNT(A1:A5)", 5.0),
    ("=COUNTA(B1:B5)", 5.0),
    ('=COUNTIF(B1:B5,"a*")', 2.0),
    ('=COUNTIF(A1:A5,"<>10")', 4.0),
    ('=COUNTIFS(B1:B5,"apple",A1:A5,">20")', 1.0),
    ("=MIN(A1:A5)+MAX(A1:A5)", 37.0),
    ("=MEDIAN(A1:A5)", 10.0),
    ("=STDEV(C1:C5)", math.sqrt(2.5)),
    ("=STDEV.P(C1:C5)", math.sqrt(2)),
    ("=VAR.S(C1:C5)+VAR.P(C1:C5)", 4.5),
    ("=LARGE(A1:A5,2)+SMALL(A1:A5,1)", 22.5),
    ("=RANK(A1,A1:A5)", 3.0),
    ("=PERCENTILE(C1:C5,0.3)", 2.2),
    ("=QUARTILE(C1:C5,3)", 4.0),
    ("=MODE(1,2,2,3)", 2.0),
    ('=MAXIFS(A1:A5,B1:B5,"apple")+MINIFS(A1:A5,B1:B5,"apple")', 50.0),
    # text
    ('=CONCATENATE(B1," ",C1)', "apple 1"),
    ("=CONCAT(B1:B2,C1)", "applebanana1"),
    ('=TEXTJOIN(", ",TRUE,B1:B3)', "apple, banana, Cherry"),
    ("=LEFT(B1,3)&RIGHT(B1,2)&MID(B2,2,3)", "appleana"),
    ("=LEFT(B1)", "a"),
    ("=LEFT(123,2)&UPPER(4)", "124"),
    ("=LEN(B2)+LEN(A1)", 8.0),
    ('=TRIM("  a   b ")', "a b"),
    ("=UPPER(B1)&LOWER(B3)", "APPLEcherry"),
    ('=SUBSTITUTE("a-b-c","-","+")', "a+b+c"),
    ('=SUBSTITUTE("a-b-c","-","+",2)', "a-b+c"),
    ('=REPLACE("abcdef",2,3,"X")', "aXef"),
    ('=FIND("n",B2)+SEARCH("CH",B3)', 4.0),
    ('=REPT("ab",3)', "ababab"),
    ('=EXACT("a","A")', False),
    ('=TEXT(1234.5,"#,##0.00")', "1,234.50"),
    ('=TEXT(D1,"yyyy-mm-dd")', "2024-03-15"),
    ('=VALUE("12.5")', 12.5),
    # date
    ("=DATE(2024,1,15)", 45306.0),
    ("=DATE(2023,14,1)", 45323.0),
    ("=YEAR(D1)&MONTH(D1)&DAY(D1)", "2024315"),
    ('=DATEDIF(DATE(2023,1,31),DATE(2024,3,1),"m")', 13.0),
    ('=DATEDIF(DATE(2023,3,15),DATE(2024,3,14),"y")', 0.0),
    ('=DATEDIF(DATE(2023,3,15),DATE(2024,3,14),"d")', 365.0),
    ("=EDATE(DATE(2024,1,31),1)", 45351.0),
    ("=EOMONTH(DATE(2024,1,15),1)", 45351.0),
    ("=EOMONTH(DATE(2024,1,15),-2)", 45260.0),
    ("=DAYS(D2,D1)", 46.0),
    # financial
    ("=PMT(0.05/12,360,200000)", -1073.643246024277),
    ("=FV(0.06/12,10,-200,-500,1)", 2581.4033740601185),
    ("=PV(0.08/12,240,500)", -59777.145851187),
    ("=NPER(0,-100,1000)", 10.0),
    ("=NPV(0.1,-10000,3000,4200,6800)", 1188.4434123352207),
    # arrays and names
    ("=SUM(A1:A5*C1:C5)", 247.0),
    ("=SUM(IF(A1:A5>8,A1:A5,0))", 75.5),
    ("=SUM(ABS(A1:A5))", 85.5),
    ("=SUM(ROUND(A1:A5,0))", 80.0),
    ("=MAX({1,2,3})", 3.0),
    ("=LET(x,A1,y,x+1,x*y)", 110.0),
    ("=LAMBDA(x,y,x*y)(3,4)", 12.0),
    ("=LET(f,LAMBDA(v,v+1),f(f(1)))", 3.0),
    ("=rate*A1", 5.0),
    ("=SUM(A:A)", 79.5),
    ("=VLOOKUP(A2,A:C,2,FALSE)", "banana"),
    ("=VLOOKUP(3.5,C:D,2)", 44985.0),
    ("=HLOOKUP(A1,A:C,3,FALSE)", -3.0),
    ("=INDEX(A:C,3,2)", "Cherry"),
    ("=INDEX(C:C,MATCH(A2,A:A,0))", 2.0),
    ("=XLOOKUP(A2,A:A,B:B)", "banana"),
    ('=SUMIFS(A:A,B:B,"apple",C:C,">1")', 40.0),
    ("=SUM(OFFSET(A:A,0,2))", 15.0),
    ("=IFERROR(VLOOKUP(A2,A:C,C1-1,FALSE),-1)", -1.0),
    ("=IFERROR(CHOOSE(C1-1,5,6),-1)", -1.0),
    ("=IFERROR(INDEX(A1:C5,C1-2,1),-1)", -1.0),
    ("=Sheet2!A1*2", 200.0),
)  # fmt: skip


def value_of(name: str, target: Target) -> Any:
    """What a parameter of a translation stands for."""
    frame = pd.DataFrame(COLUMNS, index=range(1, 6))
    sheets = {"Sheet2": pd.DataFrame({"A": [100.0]}, index=[1])}
    second = {"df": frame, "sheets": sheets, "rate": 0.5, "sheet2_a1": 100.0}
    if name in second:
        return second[name]
    corners = re.fullmatch(r"([a-d])([1-5]?)(?:_([a-d])([1-5]?))?", name)
    assert corners is not None, name
    first, top, last, bottom = corners.groups()
    if last is None:
        return COLUMNS[first.upper()][int(top) - 1]
    rows = range(int(top or 1) - 1, int(bottom or 5))
    columns = [COLUMNS[chr(code)] for code in range(ord(first.upper()), ord(last.upper()) + 1)]
    grid: list[Any] = [[column[row] for column in columns] for row in rows]
    if len(columns) == 1:
        grid = [row[0] for row in grid]
    elif len(rows) == 1:
        grid = grid[0]
    return grid if target == "python" else np.array(grid, dtype=None if len(columns) == 1 else object)


def run(formula: str, target: Target) -> Any:
    source = translate(formula, target).full_code
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    function = namespace["formula"]
    by_name = {name: value_of(name, target) for name in inspect.signature(function).parameters}
    with np.errstate(all="ignore"):
        result = function(**by_name)
    return result.item() if hasattr(result, "item") else result


CONTEXT: dict[str, Any] = {
    **{f"{letter}{row}": value for letter, column in COLUMNS.items() for row, value in enumerate(column, 1)},
    "rate": 0.5,
    "Sheet2!A1": 100.0,
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("target", TARGETS)
@every("formula, expected", CASES)
def test_a_translation_gives_the_value_of_the_formula(formula: str, expected: Any, target: Target) -> None:
    result = run(formula, target)
    if isinstance(expected, float):
        assert result == pytest.approx(expected, rel=1e-12)
    else:
        assert result == expected
        assert isinstance(result, type(expected))


@every("formula, expected", CASES)
def test_the_expected_values_are_the_engines(formula: str, expected: Any) -> None:
    evaluation = evaluate(formula, CONTEXT)
    result = to_serial(date.fromisoformat(evaluation.value)) if evaluation.type == "date" else evaluation.value
    assert result == (pytest.approx(expected, rel=1e-12) if isinstance(expected, float) else expected)


@pytest.mark.parametrize("target", TARGETS)
def test_trimmed_ranges_leave_out_blanks_at_their_ends(target: Target) -> None:
    gap = np.nan if target != "python" else None
    grid: Any = [[gap, gap, gap], [gap, 1.0, gap], [gap, gap, 2.0], [gap, gap, gap]]
    for formula, size in (
        ("=A1.:.C4", (2, 2)),
        ("=A1:.C4", (3, 3)),
        ("=A1.:C4", (3, 2)),
        ("=TRIMRANGE(A1:C4,0,1)", (4, 2)),
    ):
        namespace: dict[str, Any] = {}
        exec(translate(formula, target).full_code, namespace)
        frame = pd.DataFrame(grid, index=range(1, 5), columns=list("ABC"))
        result = namespace["formula"](frame if target == "pandas" else grid if target == "python" else np.array(grid))
        assert (len(result), len(result[0])) == size
    namespace = {}
    exec(translate("=INDEX(A1.:A4,1)", target).full_code, namespace)
    frame = pd.DataFrame({"A": [gap, 5.0, gap, 7.0]}, index=range(1, 5))
    line = [gap, 5.0, gap, 7.0]
    assert namespace["formula"](frame if target == "pandas" else line if target == "python" else np.array(line)) == 5.0


SPECIFIED = (
    "SUM SUMIF SUMIFS SUMPRODUCT ABS ROUND ROUNDUP ROUNDDOWN INT MOD POWER SQRT IF IFS IFERROR AND OR NOT SWITCH "
    "CHOOSE VLOOKUP HLOOKUP XLOOKUP INDEX MATCH XMATCH OFFSET AVERAGE AVERAGEIF AVERAGEIFS COUNT COUNTA COUNTIF "
    "COUNTIFS MIN MAX MEDIAN CONCATENATE CONCAT TEXTJOIN LEFT RIGHT MID LEN TRIM UPPER LOWER DATE TODAY NOW YEAR "
    "MONTH DAY DATEDIF EDATE EOMONTH"
)


def test_every_function_of_the_specification_is_executed_here() -> None:
    executed = {name for formula, _ in CASES for name in re.findall(r"[A-Z][A-Z0-9.]*(?=\()", formula)}
    assert set(SPECIFIED.split()) - executed == {"TODAY", "NOW"}


@pytest.mark.parametrize("target", TARGETS)
def test_the_clock_is_read(target: Target) -> None:
    today, now = run("=TODAY()", target), run("=NOW()", target)
    assert today <= now < today + 2


def test_the_convention_is_noted() -> None:
    translation = translate("=SUM(A1:A10)*B1+Sheet2!C3")
    assert translation.code == 'df.loc[1:10, "A"].sum() * df.at[1, "B"] + sheets[\'Sheet2\'].at[3, "C"]'
    assert 'A1:A10 is df.loc[1:10, "A"]' in translation.notes
    assert translation.imports == ["import pandas as pd"]
    assert translate("=SUM(A1:A10)", "numpy").code == "np.nansum(a1_a10)"
    assert translate("=SUM(A1:A10)", "python").code == "sum(numbers(a1_a10))"


def test_imports_stand_in_the_source_where_asked_for() -> None:
    with_imports, without = (translate("=SQRT(A1)", "python", include_imports=flag) for flag in (True, False))
    assert with_imports.full_code == "import math\n\n\ndef formula(a1):\n    return math.sqrt(a1)\n"
    assert without.full_code == "def formula(a1):\n    return math.sqrt(a1)\n"
    assert without.imports == ["import math"]


@pytest.mark.parametrize(
    "formula",
    [
        "=NOSUCH(1)", "=INDIRECT(A1)", "=A1:B2 B1", "=Sheet1:Sheet3!A1", "=[1]S!A1", "=T[Col]", "=A1#", "=A1:A3*A1:C1",
        "=OFFSET(A1,B1,0)", '=TEXT(A1,"[red]0")', "=ABS()", "=IF()", "=SUMIF(A1)", "=LAMBDA([x],x)(1)", "=@A1:A3",
        "=SUM(INDEX(A:C,0,1))",
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_refused(formula: str) -> None:
    for target in TARGETS:
        with pytest.raises(FormulaError):
            translate(formula, target)


def test_a_source_too_deep_for_python_is_refused() -> None:
    with pytest.raises(LimitExceeded):
        translate("=2" + "^2" * 500)


def test_an_unknown_function_is_refused_as_unsupported() -> None:
    with pytest.raises(UnsupportedFunction) as caught:
        translate("=1+NOSUCH(1)")
    assert (caught.value.name, caught.value.position) == ("NOSUCH", 3)


@pytest.mark.parametrize("target", TARGETS)
def test_hostile_words_stay_words(target: Target) -> None:
    text = '"");import os#'
    assert run(f'="{text}\'\\"', target) == text.replace('""', '"') + "'\\"
    code = translate("=LET(lambda,1,__import__,2,lambda+__import__)", target).full_code
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    assert namespace["formula"]() == 3


def test_names_that_are_spelt_alike_are_numbered() -> None:
    """An underscore more for each made the source of a thousand such names longer than any may be."""
    assert translate("=é+ü+à+max+ö", "python").code == "name + name_ + name_2 + max_ + name_3"
    names = [chr(0x4E00 + at) for at in range(1_000)]
    sums = [f"SUM({','.join(names[at : at + 250])})" for at in range(0, len(names), 250)]
    assert len(translate(f"=SUM({','.join(sums)})", "python").code) < 20_000


@given(FORMULAS)
@settings(max_examples=200, deadline=None)
def test_whatever_is_translated_is_source(formula: str) -> None:
    for target in TARGETS:
        source = translated(formula, target)
        if source is not None:
            compile(source, "<formula>", "exec")


def translated(formula: str, target: Target) -> str | None:
    try:
        return translate(formula, target).full_code
    except FormulaError:
        return None


def test_the_engine_has_every_function_that_is_translated() -> None:
    evaluate("=1")  # fills the catalogue
    assert {*SCALARS, *AGGREGATES, *_CALLS} <= set(FUNCTIONS)


@every("name", sorted({*SCALARS, *AGGREGATES, *_CALLS}))
def test_any_arguments_are_translated_or_refused(name: str) -> None:
    for argument in ("1", "A1:A3", "A1:B3", '"x"', "", "x", "{1,2}"):
        for count in range(6):
            source = translated(f"={name}({','.join([argument] * count)})", "numpy")
            if source is not None:
                compile(source, "<formula>", "exec")
