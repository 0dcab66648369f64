"""From a file to its values.

A workbook as Excel writes one, its carried values Excel's, calculated without a mismatch.

Names of one sheet, tables, hidden rows, references over sheets, prefixes of newer functions, implicit intersection,
array formulas of the old kind and the new, and what FORMULATEXT shows of them.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from core.recalc.book import read

NOW = datetime(2026, 11, 20)  # noqa: DTZ001 - a spreadsheet has no zone

PLAIN: tuple[tuple[str, Any], ...] = (
    ("=SUM(Nums)", 55), ("=Rate*100", 5), ("='My Sheet'!Local", 200), ("=Data!Local", 5),
    ("=SUM('Data:My Sheet'!B1)", 70), ("=SUM(Data!A:A)", 55), ("=SUM(Data!2:2)", 4), ("=Data!A1:A10", 8),
    ("=SUM(Data!A1:A10*Data!B1:B10)", 81), ('=SUMPRODUCT(Data!A1:A10*(Data!C1:C10="x"))', 22),
    ("=_xlfn.CONCAT(Data!C1:C3)", "xyz"), ("=_xlfn.XLOOKUP(3,Data!A1:A10,Data!C1:C10)", "z"),
    ("=_xlfn.LET(_xlpm.a,2,_xlpm.b,3,_xlpm.a*_xlpm.b)", 6), ("=_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1)(4)", 5),
    ("=Twice(21)", 42), ("=SUM(Listed)", 6), ('=SUM(_xlfn._xlws.FILTER(Data!A1:A10,Data!C1:C10="y"))', 15),
    ("=SUBTOTAL(9,Tab!D1:D6)", 21), ("=SUBTOTAL(109,Tab!D1:D6)", 16), ("=_xlfn.AGGREGATE(9,5,Tab!D1:D6)", 16),
    ("=SUM(Table1[Qty])", 6), ("=SUM(Table1[[#All],[Qty]])", 6), ("=Table1[[#Headers],[Qty]]", "Qty"),
    ("=ROWS(Table1[])", 3), ("=SUM(Table1[[Qty]:[Price]])", 66), ("=Table1[[#Totals],[Qty]]", "#REF!"),
    ('=TEXT(DATE(2020,1,1),"yyyy-mm-dd")', "2020-01-01"), ("=YEAR(DATE(2020,2,29)+1)", 2020),
    ('=COUNTIF(Data!C:C,"x")', 4), ("=VLOOKUP(4,Data!A:C,3,0)", "x"), ('=INDIRECT("Data!A"&3)', 3), ("=ROW()", 32),
    ("=_xlfn.SINGLE(Data!A1:A40)", 0), ("=Undefined+1", "#NAME?"), ("=#REF!+1", "#REF!"), ("=ROW(Data!A3:A5)", 3),
    ("=ABS(Data!B1:B60)", 0), ('=MAX(IF(Data!C1:C10="x",Data!A1:A10))', "#VALUE!"), ("=INDEX(Data!A1:A10*2,3)", 6),
    ("=MATCH(1,(Data!A1:A60=3)*1,0)", "#N/A"), ("=PERCENTILE(Data!A1:A10*1,0.5)", "#VALUE!"),
    ("=_xlfn.SHEETS()", 4), ("=SUM((Data!A1:A3,Data!A5))", 11), ("=_xlfn.FORMULATEXT(A11)", "=CONCAT(Data!C1:C3)"),
    ("=_xlfn.FORMULATEXT(A14)", "=LAMBDA(x,x+1)(4)"), ("=_xlfn.FORMULATEXT(C2)", "{=Data!A1:A3*2}"),
    ("=_xlfn.FORMULATEXT(I2)", "=SEQUENCE(3,2)"), ("=_xlfn.ISFORMULA(J3)", True),
)  # fmt: skip

FILLED: tuple[tuple[str, list[list[Any]]], ...] = (
    ("{=Data!A1:A3*2}", [[2], [4], [6]]),
    ("{=TRANSPOSE(Data!A1:A3)}", [[1, 2, 3]]),
    ("{=MMULT({1,2;3,4},{1,0;0,1})}", [[1, 2], [3, 4]]),
    ("{={1,2}+0}", [[1, 2, "#N/A"], [1, 2, "#N/A"]]),
    ("{=5}", [[5, 5], [5, 5]]),
    ("{=FREQUENCY(Data!A1:A10,{3,6})}", [[3], [3], [4], ["#N/A"]]),
    ('{=MAX(IF(Data!C1:C10="x",Data!A1:A10))}', [[10]]),
    ("{=ROW(Data!A3:A5)}", [[3], [4], [5]]),
    ('{=IF(Data!A1:A3>1,"big","small")}', [["small"], ["big"], ["big"]]),
    ("{=INDEX(Data!A1:C3,2,0)}", [[2, 2, "y"]]),
    ("{=Data!A9:A12}", [[9], [10], [0], [0]]),
    ("{=ERF(Data!A1:A2)}", [["#VALUE!"], ["#VALUE!"], ["#VALUE!"]]),
)
"""Array formulas of the old kind: each fills its range, whatever its own size."""

SPILLED: tuple[tuple[str, list[list[Any]]], ...] = (
    ("=_xlfn.SEQUENCE(3,2)", [[1, 2], [3, 4], [5, 6]]),
    ("=_xlfn.UNIQUE(Data!C1:C10)", [["x"], ["y"], ["z"]]),
    ("=_xlfn._xlws.SORT(Data!A1:A3,1,-1)", [[3], [2], [1]]),
    ("=Data!A1:A3*{1,10}+0", [[1, 10], [2, 20], [3, 30]]),
    ('=_xlfn._xlws.FILTER(Data!A1:C10,Data!C1:C10="y")', [[2, 2, "y"], [5, 5, "y"], [8, 8, "y"]]),
    ("=SUM(_xlfn.ANCHORARRAY(I1))", [[21]]),
    ('=_xlfn.TEXTSPLIT("a,b;c",",",";")', [["a", "b"], ["c", "#N/A"]]),
    ("=_xlfn.GROUPBY(Data!C1:C10,Data!A1:A10,_xleta.SUM)", [["x", 22], ["y", 15], ["z", 18], ["Total", 55]]),
    ("=_xlfn.BYROW(Data!A1:B3,_xlfn.LAMBDA(_xlpm.r,SUM(_xlpm.r)))", [[2], [4], [6]]),
)


def fill(sheet: Any, column: int, blocks: tuple[tuple[str, list[list[Any]]], ...], write: Any) -> None:
    """Array formulas below each other, a row between them."""
    row = 0
    for text, values in blocks:
        write(row, column, row + len(values) - 1, column + len(values[0]) - 1, text, None, values[0][0])
        for down, line in enumerate(values):
            for right, value in enumerate(line):
                if down or right:
                    sheet.write(row + down, column + right, value)
        row += len(values) + 1


@pytest.mark.parametrize("date_1904", [False, True])
def test_no_mismatch(tmp_path: Path, date_1904: bool) -> None:
    path = tmp_path / "road.xlsx"
    with xlsxwriter.Workbook(path, {"date_1904": date_1904}) as workbook:
        data, calculated, mine, table = (workbook.add_worksheet(name) for name in ("Data", "Calc", "My Sheet", "Tab"))
        for row in range(10):
            data.write_row(row, 0, [row + 1, row + 1, "xyz"[row % 3]])
            mine.write(row, 0, (row + 1) * 100)
        mine.write("B1", 69)
        for name, meaning in {
            "Rate": "=0.05", "Nums": "=Data!$A$1:$A$10", "'My Sheet'!Local": "='My Sheet'!$A$2",
            "Data!Local": "=Data!$A$5", "Twice": "=_xlfn.LAMBDA(_xlpm.x,_xlpm.x*2)", "Listed": "={1,2,3}",
        }.items():  # fmt: skip
            workbook.define_name(name, meaning)
        table.add_table("A1:C4", {"columns": [{"header": "Item"}, {"header": "Qty"}, {"header": "Price"}]})
        for row in range(1, 4):
            table.write_row(row, 0, ["abc"[row - 1], row])
            table.write_formula(row, 2, "=Table1[[#This Row],[Qty]]*10", None, row * 10)
        table.write_column("D1", range(1, 7))
        table.set_row(4, None, None, {"hidden": True})
        for row, (text, value) in enumerate(PLAIN):
            calculated.write_formula(row, 0, text, None, value)
        fill(calculated, 2, FILLED, calculated.write_array_formula)
        fill(calculated, 8, SPILLED, calculated.write_dynamic_array_formula)
    rows = list(read(path).recalculate(now=NOW))
    assert [row for row in rows if not row.match] == []
    assert len(rows) == len(PLAIN) + 3 + sum(len(v) * len(v[0]) for _, v in (*FILLED, *SPILLED))
