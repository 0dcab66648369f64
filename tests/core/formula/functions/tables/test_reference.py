"""The information, reference and array families.

What a value or a cell is, where it is, and arrays rearranged.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.functions.tables.arrays import sort_key
from core.formula.language.errors import LimitExceeded
from tests.core.formula.calculated import Cells, calculated, same
from tests.core.formula.places import Place, value
from tests.rows import every

CELLS = {
    "A1": 3,
    "A2": 1,
    "A3": None,
    "A4": "b",
    "A5": True,
    "A6": 2,
    "B1": "x",
    "B2": "y",
    "B3": "X",
    "B4": "z",
    "C1": 10,
    "C2": 20,
    "C3": 30,
}

INFORMATION = (
    ("=ISBLANK(A3)", True), ('=ISBLANK("")', False), ("=ISBLANK(A1:A3)", [[False], [False], [True]]),
    ("=ISERR(#N/A)", False), ("=ISERR(#REF!)", True), ("=ISERROR(#N/A)", True), ("=ISNA(#N/A)", True),
    ("=ISNA(#REF!)", False), ("=ISNUMBER(A1)", True), ("=ISNUMBER(A3)", False), ("=ISNUMBER(A5)", False),
    ("=ISNUMBER(1/0)", False), ("=ISTEXT(B1)", True), ("=ISNONTEXT(A3)", True), ("=ISNONTEXT(1/0)", True),
    ("=ISLOGICAL(A5)", True), ("=ISLOGICAL(1)", False), ("=ISREF(A1:B2)", True), ("=ISREF(OFFSET(A1,1,1))", True),
    ('=ISREF("A1")', False), ("=ISREF(1/0)", False), ("=ISEVEN(2.9)", True), ("=ISEVEN(-1)", False),
    ('=ISEVEN("4")', True), ("=ISEVEN(TRUE)", "#VALUE!"), ('=ISODD("x")', "#VALUE!"), ("=ISODD(-3.5)", True),
    ("=ISEVEN(A3)", True), ("=ISODD(1/0)", "#DIV/0!"), ("=N(5)", 5), ("=N(TRUE)", 1), ('=N("5")', 0), ("=N(A4)", 0),
    ("=N(#N/A)", "#N/A"), ('=N({1,"a",TRUE})', [[1, 0, 1]]), ("=NA()", "#N/A"), ("=TYPE(1)", 1), ("=TYPE(A3)", 1),
    ('=TYPE("a")', 2), ("=TYPE(TRUE)", 4), ("=TYPE(1/0)", 16), ("=TYPE({1,2})", 64), ("=TYPE(A1:A2)", 64),
    ("=TYPE(LAMBDA(x,x))", 128), ("=ERROR.TYPE(#NULL!)", 1), ("=ERROR.TYPE(#DIV/0!)", 2), ("=ERROR.TYPE(#VALUE!)", 3),
    ("=ERROR.TYPE(#REF!)", 4), ("=ERROR.TYPE(#NAME?)", 5), ("=ERROR.TYPE(#NUM!)", 6), ("=ERROR.TYPE(#N/A)", 7),
    ("=ERROR.TYPE(#SPILL!)", 9), ("=ERROR.TYPE(#CALC!)", 14), ("=ERROR.TYPE(1)", "#N/A"),
    ('=CELL("ADDRESS",B2:C3)', "$B$2"), ('=CELL("col",C1)', 3), ('=CELL("row",C7)', 7), ('=CELL("contents",B1)', "x"),
    ('=CELL("contents",A3)', 0), ('=CELL("type",A3)', "b"), ('=CELL("type",B1)', "l"), ('=CELL("type",A1)', "v"),
    ('=CELL("prefix",A1)', ""), ('=CELL("protect",A1)', 1), ('=CELL("nothing",A1)', "#VALUE!"),
    ('=INFO("recalc")', "Automatic"), ('=INFO("numfile")', 1), ('=INFO("memavail")', "#N/A"), ('=INFO("x")', "#VALUE!"),
)  # fmt: skip

REFERENCES = (
    ("=ROW(C7)", 7), ("=ROW(A2:B4)", [[2], [3], [4]]), ("=COLUMN(C7)", 3), ("=COLUMN(B2:D9)", [[2, 3, 4]]),
    ("=ROW(1)", "#VALUE!"), ("=ROWS(A1:C5)", 5), ("=ROWS(A:A)", 1_048_576), ("=COLUMNS(1:1)", 16_384),
    ("=ROWS({1;2})", 2), ("=ROWS(5)", 1), ("=COLUMNS(1/0)", "#DIV/0!"), ("=AREAS((A1,B2:C3))", 2),
    ("=ADDRESS(2,3)", "$C$2"), ("=ADDRESS(2,3,2)", "C$2"), ("=ADDRESS(2,3,3)", "$C2"), ("=ADDRESS(2,3,4)", "C2"),
    ("=ADDRESS(2,3,,FALSE)", "R2C3"), ("=ADDRESS(2,3,2,FALSE)", "R2C[3]"), ("=ADDRESS(2,3,3,FALSE)", "R[2]C3"),
    ("=ADDRESS(2,3,4,0)", "R[2]C[3]"), ('=ADDRESS(1,1,,,"Sheet2")', "Sheet2!$A$1"),
    ('=ADDRESS(1,1,1,,"My Sheet")', "'My Sheet'!$A$1"), ('=ADDRESS(1,1,4,1,"It\'s")', "'It''s'!A1"),
    ('=ADDRESS(1,1,1,1,"")', "!$A$1"), ('=ADDRESS(1,1,1,1,"AB12")', "'AB12'!$A$1"),
    ('=ADDRESS(1,1,1,1,"2020")', "'2020'!$A$1"), ('=ADDRESS(1,1,1,FALSE,"[Book1]Sheet1")', "[Book1]Sheet1!R1C1"),
    ("=ADDRESS(1048576,16384)", "$XFD$1048576"), ("=ADDRESS(1048577,1)", "#VALUE!"), ("=ADDRESS(1,16385)", "#VALUE!"),
    ("=ADDRESS(0,1)", "#VALUE!"), ("=ADDRESS(1,1,5)", "#VALUE!"), ("=ADDRESS(1.9,{1,2})", [["$A$1", "$B$1"]]),
    ("=OFFSET(A1,1,1)", "y"), ("=SUM(OFFSET(C1,0,0,3))", 60), ("=SUM(OFFSET(C3,0,0,-2,1))", 50),
    ("=SUM(OFFSET(A1:B2,0,2))", 30), ("=SUM(OFFSET(C1,,,2,))", 30), ("=OFFSET(A1,-1,0)", "#REF!"),
    ("=OFFSET(A1,0,0,0)", "#REF!"), ("=OFFSET(A1,1.9,0)", 1), ("=OFFSET(A1,0,16384)", "#REF!"),
    ("=OFFSET(5,1,1)", "#VALUE!"), ("=ROWS(TRIMRANGE(A1:C9))", 6), ("=COLUMNS(TRIMRANGE(A1:E9))", 3),
    ("=ROWS(TRIMRANGE(A1:C9,0))", 9), ("=TRIMRANGE(E1:F2)", "#REF!"), ("=TRIMRANGE(A1:A2,4)", "#VALUE!"),
    ("=ROWS(TRIMRANGE(C1:C9,1))", 9),
)  # fmt: skip

INDIRECT = (
    ('=INDIRECT("A1")', 10), ('=INDIRECT("$a$2")', 20), ('=SUM(INDIRECT("A3:A1"))', 60), ('=INDIRECT("Other!B1")', 100),
    ("=INDIRECT(\"'Other'!B1\")", 100), ('=INDIRECT("other!B1")', 100), ('=INDIRECT("Nowhere!A1")', "#REF!"),
    ('=SUM(INDIRECT("A:A"))', 150), ('=SUM(INDIRECT("Other!1:2"))', 103), ('=INDIRECT("")', "#REF!"),
    ('=INDIRECT("A0")', "#REF!"), ('=INDIRECT("XFE1")', "#REF!"), ('=INDIRECT("A1048577")', "#REF!"),
    ('=INDIRECT("1+1")', "#REF!"), ('=INDIRECT("A1,B1")', "#REF!"), ('=INDIRECT("R2C1",FALSE)', 20),
    ('=INDIRECT("r[-1]c",FALSE)', 40), ('=INDIRECT("RC[1]",0)', "date"), ('=SUM(INDIRECT("R1C1:R3C1",FALSE))', 60),
    ('=SUM(INDIRECT("C1",FALSE))', 150), ('=SUM(INDIRECT("Other!R1",FALSE))', 101),
    ('=ROW(INDIRECT("R[-9]C",FALSE))', 1_048_572), ('=COLUMN(INDIRECT("RC[-5]",FALSE))', 16_380),
    ('=INDIRECT("R[-1048576]C",FALSE)', "#REF!"), ('=INDIRECT("A1",FALSE)', "#REF!"),
    ('=INDIRECT("R0C1",FALSE)', "#REF!"), ('=INDIRECT("rate")', 20), ('=INDIRECT("number")', "#REF!"),
    ('=INDIRECT("nothing")', "#REF!"),
    ('=SUM(INDIRECT("Fruit[Price]"))', 150), ('=SUM(INDIRECT("C1#"))', 15), ('=ROW(INDIRECT("A7"))', 7),
    ('=SUM(INDIRECT({"A1","A2"}))', 30), ("=INDIRECT(1/0)", "#DIV/0!"), ('=INDIRECT("[Book]Sheet1!A1")', "#REF!"),
)  # fmt: skip

ARRAYS = (
    ("=SORT({3;1;2})", [[1], [2], [3]]), ("=SORT({3;1;2},1,-1)", [[3], [2], [1]]),
    ("=SORT({3,1,2},1,1,TRUE)", [[1, 2, 3]]),
    ('=SORT({2,"b";1,"a";2,"a"},{1,2},{-1,1})', [[2, "a"], [2, "b"], [1, "a"]]), ("=SORT({1;2},3)", "#VALUE!"),
    ("=SORT({1;2},1,0)", "#VALUE!"), ("=SORT({1;2},{1,2},{1,1,1})", "#VALUE!"),
    ('=SORT({"b";TRUE;2;"A";#N/A;FALSE;1})', [[1], [2], ["A"], ["b"], [False], [True], ["#N/A"]]),
    ('=SORT({"b";TRUE;2;"A"},1,-1)', [[True], ["b"], ["A"], [2]]),
    ('=SORT({"a",1;"A",2;"a",3})', [["a", 1], ["A", 2], ["a", 3]]), ("=SORTBY({1;2;3},{3;1;2})", [[2], [3], [1]]),
    ("=SORTBY({1;2;3},{1;1;0},-1,{0;5;0},-1)", [[2], [1], [3]]), ("=SORTBY({1,2,3},{3,2,1})", [[3, 2, 1]]),
    ("=SORTBY({1;2},{1;2;3})", "#VALUE!"), ("=SORTBY({1;2},{1;2},2)", "#VALUE!"),
    ("=FILTER({1;2;3},{1;0;1})", [[1], [3]]), ("=FILTER({1,2,3},{TRUE,FALSE,TRUE})", [[1, 3]]),
    ("=FILTER({1;2},{0;0})", "#CALC!"), ('=FILTER({1;2},{0;0},"none")', "none"), ("=FILTER({1;2},{1;0;1})", "#VALUE!"),
    ('=FILTER({1;2},{"a";1})', "#VALUE!"), ("=FILTER({1;2},{#N/A;1})", "#N/A"), ('=FILTER(B1:C3,A1:A3=1)', [["y", 20]]),
    ('=UNIQUE({"a";"A";"b"})', [["a"], ["b"]]), ("=UNIQUE({1;2;1},,TRUE)", 2), ("=UNIQUE({1,1,2},TRUE)", [[1, 2]]),
    ("=UNIQUE({1;1},,TRUE)", "#CALC!"), ("=UNIQUE(HSTACK(SUM,1))", "#VALUE!"), ("=SORT(VSTACK(SUM,1))", "#VALUE!"),
    ('=UNIQUE({1;"1";TRUE})', [[1], ["1"], [True]]), ("=UNIQUE({1,2;1,3;1,2})", [[1, 2], [1, 3]]),
    ("=SEQUENCE(2,3)", [[1, 2, 3], [4, 5, 6]]), ("=SEQUENCE(3,,10,-5)", [[10], [5], [0]]), ("=SEQUENCE(,2)", [[1, 2]]),
    ("=SEQUENCE(0)", "#CALC!"), ("=SEQUENCE(-1)", "#VALUE!"), ("=SEQUENCE(2.9,1,0)", [[0], [1]]),
    ("=TAKE({1,2;3,4;5,6},2)", [[1, 2], [3, 4]]), ("=TAKE({1,2;3,4},-1,1)", 3), ("=TAKE({1,2;3,4},,1)", [[1], [3]]),
    ("=TAKE({1;2},9)", [[1], [2]]), ("=TAKE({1;2},0)", "#CALC!"), ("=DROP({1,2;3,4;5,6},1)", [[3, 4], [5, 6]]),
    ("=DROP({1;2;3},-2)", 1), ("=DROP({1,2;3,4},,-1)", [[1], [3]]), ("=DROP({1;2},2)", "#CALC!"),
    ("=CHOOSEROWS({1;2;3},3,1)", [[3], [1]]), ("=CHOOSEROWS({1;2;3},{-1,1})", [[3], [1]]),
    ("=CHOOSEROWS({1;2},0)", "#VALUE!"), ("=CHOOSECOLS({1,2,3},-1,1)", [[3, 1]]), ("=CHOOSECOLS({1,2},3)", "#VALUE!"),
    ("=VSTACK({1,2},3)", [[1, 2], [3, "#N/A"]]), ("=HSTACK({1;2},3)", [[1, 3], [2, "#N/A"]]),
    ("=EXPAND({1,2},2,3)", [[1, 2, "#N/A"], ["#N/A"] * 3]), ('=EXPAND({1},1,2,"-")', [[1, "-"]]),
    ("=EXPAND({1;2},1)", "#VALUE!"), ("=EXPAND({1;2},,2,0)", [[1, 0], [2, 0]]),
    ("=TOCOL({1,2;3,4})", [[1], [2], [3], [4]]), ("=TOCOL({1,2;3,4},,TRUE)", [[1], [3], [2], [4]]),
    ("=TOROW(A1:A3,1)", [[3, 1]]), ("=TOCOL({1,#N/A},2)", 1), ("=TOCOL({1,#N/A},3)", 1), ("=TOCOL(A3,1)", "#CALC!"),
    ("=TOCOL({1},4)", "#VALUE!"), ("=WRAPROWS({1,2,3},2)", [[1, 2], [3, "#N/A"]]),
    ('=WRAPCOLS({1,2,3},2,"")', [[1, 3], [2, ""]]), ("=WRAPROWS({1,2;3,4},2)", "#VALUE!"),
    ("=WRAPROWS({1,2},0)", "#NUM!"), ("=WRAPROWS({1,2},9)", [[1, 2]]),
)  # fmt: skip


@every("formula, expected", INFORMATION + REFERENCES + ARRAYS)
def test_gives_excels_answer(formula: str, expected: Any) -> None:
    assert same(calculated(formula, CELLS), expected)


@every("formula, expected", INDIRECT)
def test_indirect_finds_what_a_text_names(formula: str, expected: Any) -> None:
    assert same(value(formula, at="A5", names={"rate": "=Sheet1!$A$2", "number": "=5"}), expected)


def test_rows_and_columns_of_the_own_cell() -> None:
    assert value("=ROW()*100+COLUMN()", at="C7") == 703
    assert value('=CELL("address")', at="C7") == "$C$7"
    assert value('=CELL("address",Other!B2)') == "Other!$B$2"
    assert value('=TEXTAFTER(CELL("filename",Other!B2),"]")') == "Other"


def test_sheets_are_counted_and_found() -> None:
    assert [value(formula) for formula in ("=SHEETS()", "=SHEET()", '=SHEET("last")', "=SHEET(Other!A1)")] == [
        3,
        1,
        3,
        2,
    ]
    assert same(value('=SHEET("Nowhere")'), "#N/A")


def test_formulas_are_shown_as_excel_shows_them() -> None:
    formulas = {
        "A1": '=_xlfn.XLOOKUP(1,B1:B3,C1:C3,"_xlfn.")&_xlfn._xlws.SORT(B1:B3)',
        "A2": "=_xlfn.LET(_xlpm.a,1,_xlpm.a)",
        "A3": "=SUM(_xlfn.ANCHORARRAY(B1))+_xlfn.SINGLE(B1:B3)",
    }
    cells = Cells({}, formulas=formulas)
    assert calculated("=FORMULATEXT(A1)", cells) == '=XLOOKUP(1,B1:B3,C1:C3,"_xlfn.")&SORT(B1:B3)'
    assert calculated("=FORMULATEXT(A2)", cells) == "=LET(a,1,a)"
    assert calculated("=FORMULATEXT(A3)", cells) == "=SUM(B1#)+@B1:B3"
    assert same(calculated("=FORMULATEXT(A4)", cells), "#N/A")
    assert calculated("=ISFORMULA(A3:A4)", cells) == [[True], [False]]
    assert same(calculated("=ISFORMULA(1)", cells), "#VALUE!")


@pytest.mark.parametrize(
    ("code", "short"),
    [
        ("General", "G"), ("0", "F0"), ("#,##0", ",0"), ("0.00", "F2"), ("#,##0.00", ",2"), ("$#,##0_);($#,##0)", "C0"),
        ("$#,##0_);[Red]($#,##0)", "C0-"), ("0%", "P0"), ("0.00%", "P2"), ("0.00E+00", "S2"), ("# ?/?", "G"),
        ("m/d/yy", "D4"), ("m/d/yy h:mm", "D4"), ("d-mmm-yy", "D1"), ("d-mmm", "D2"), ("mmm-yy", "D3"), ("mm/dd", "D5"),
        ("h:mm AM/PM", "D7"), ("h:mm:ss AM/PM", "D6"), ("h:mm", "D9"), ("h:mm:ss", "D8"), ("(0.0)", "F1()"), ("@", "G"),
    ],
)  # fmt: skip
def test_cell_names_number_formats(code: str, short: str) -> None:
    class Formatted(Place):
        def number_format(self, sheet: str | None, row: int, column: int) -> str:
            return code

    assert value('=CELL("format",A1)', place=Formatted()) == short


@given(
    st.lists(st.one_of(st.none(), st.booleans(), st.floats(-5, 5), st.sampled_from("abcABC")), min_size=1, max_size=12)
)
def test_sorting_keeps_kinds_apart_and_blanks_last(column: list[Any]) -> None:
    cells = {f"A{place}": item for place, item in enumerate(column, 1)}
    filled = [item for item in column if item is not None]
    for order in (1, -1):
        result = calculated(f"=SORT(A1:A{len(column)},1,{order})", cells)
        flat = [row[0] for row in result] if isinstance(result, list) else [result]
        keys = [sort_key(item) for item in flat[: len(filled)]]
        assert keys == sorted(map(sort_key, filled), reverse=order < 0)
        assert flat[len(filled) :] == [0.0] * (len(column) - len(filled))


@pytest.mark.parametrize("formula", ["=SEQUENCE(1E6,1E6)", "=EXPAND(1,1E5,1E5)", "=ROW(A:A)&SEQUENCE(1,99)"])
def test_arrays_too_large_are_refused(formula: str) -> None:
    with pytest.raises(LimitExceeded):
        value(formula)
