"""GROUPBY and PIVOTBY.

The layouts that Excel gives, their totals, orders, headers and shares.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.formula.calculated import calculated, same
from tests.rows import every

CELLS = {
    f"{column}{row}": item
    for row, line in enumerate(
        [
            ("Region", "City", "Year", "Quarter", "Sales"),
            ("North", "Oslo", 2025, "Q1", 5),
            ("South", "Rome", 2025, "Q1", 10),
            ("South", "Rome", 2025, "Q2", 20),
            ("North", "Oslo", 2025, "Q2", 15),
            ("South", "Bari", 2025, "Q1", 30),
            ("South", "Rome", 2026, "Q1", 40),
        ],
        1,
    )
    for column, item in zip("ABCDE", line, strict=True)
}  # fmt: skip

GROUPED = (
    ("=GROUPBY(A2:A7,E2:E7,SUM)", "North 20 | South 100 | Total 120"),
    ("=GROUPBY(A1:A7,E1:E7,SUM)", "North 20 | South 100 | Total 120"),
    ("=GROUPBY(A1:A7,E1:E7,SUM,3)", "Region Sales | North 20 | South 100 | Total 120"),
    ("=GROUPBY(A2:A7,E2:E7,SUM,2,0)", "Row_Field_1 Value_1 | North 20 | South 100"),
    ("=GROUPBY(A2:A7,E2:E7,SUM,,-1,-1)", "Total 120 | South 100 | North 20"),
    ("=GROUPBY(B2:B7,E2:E7,SUM,,0,-2)", "Rome 70 | Bari 30 | Oslo 20"),
    ('=GROUPBY(B2:B7,E2:E7,SUM,,,,A2:A7="South")', "Bari 30 | Rome 70 | Total 100"),
    ("=GROUPBY(A2:B7,E2:E7,SUM)", "North Oslo 20 | South Bari 30 | South Rome 70 | Total _ 120"),
    (
        "=GROUPBY(A2:B7,E2:E7,SUM,,2)",
        "North Oslo 20 | North _ 20 | South Bari 30 | South Rome 70 | South _ 100 | Grand_Total _ 120",
    ),
    (
        "=GROUPBY(A2:B7,E2:E7,SUM,,-2,{-1,2})",
        "Grand_Total _ 120 | South _ 100 | South Bari 30 | South Rome 70 | North _ 20 | North Oslo 20",
    ),
    # a value orders every level by its own subtotals; as a table, whole rows
    ("=GROUPBY(A2:B7,E2:E7,SUM,,0,-3)", "South Rome 70 | South Bari 30 | North Oslo 20"),
    ("=GROUPBY(A2:B7,E2:E7,SUM,,0,3,,1)", "North Oslo 20 | South Bari 30 | South Rome 70"),
    ("=GROUPBY(A2:B7,E2:E7,SUM,,1,2,,1)", "South Bari 30 | North Oslo 20 | South Rome 70 | Total _ 120"),
    ("=GROUPBY(A2:A7,E2:E7,PERCENTOF,,0)", "North 1/6 | South 5/6"),
    ("=GROUPBY(A2:A7,E2:E7,LAMBDA(x,MAX(x)-MIN(x)),,0)", "North 10 | South 30"),
    ("=GROUPBY(A2:A7,E2:E7,LAMBDA(x,all,COUNT(x)/COUNT(all)),,0)", "North 1/3 | South 2/3"),
    ("=GROUPBY(A2:A7,B2:B7,ARRAYTOTEXT,,0)", "North Oslo,_Oslo | South Rome,_Rome,_Bari,_Rome"),
    ("=GROUPBY(A2:A7,HSTACK(C2:C7,E2:E7),MAX,,0)", "North 2025 15 | South 2026 40"),
    (
        "=GROUPBY(A2:A7,E2:E7,HSTACK(COUNT,LAMBDA(x,SUM(x)*2),PERCENTOF))",
        "_ COUNT CUSTOM1 PERCENTOF | North 2 40 1/6 | South 4 200 5/6 | Total 6 240 1",
    ),
    (
        "=GROUPBY(A1:A7,E1:E7,VSTACK(COUNT,SUM),3,0)",
        "Region _ Sales | North COUNT 2 | North SUM 20 | South COUNT 4 | South SUM 100",
    ),
    ('=GROUPBY({"a";"A";"b"},{1;2;4},SUM,,0)', "a 3 | b 4"),
    ("=GROUPBY(F1:F2,{1;2},SUM,,0)", "0 3"),
)  # fmt: skip

PIVOTED = (
    ("=PIVOTBY(A2:A7,D2:D7,E2:E7,SUM)", "_ Q1 Q2 Total | North 5 15 20 | South 80 20 100 | Total 85 35 120"),
    ("=PIVOTBY(A2:A7,C2:C7,E2:E7,SUM,,0,-1,0,-1)", "_ 2026 2025 | South 40 60 | North _ 20"),
    (
        "=PIVOTBY(A2:A7,C2:C7,E2:E7,SUM,,-1,,-1)",
        "_ Total 2025 2026 | Total 120 80 40 | North 20 20 _ | South 100 60 40",
    ),
    ("=PIVOTBY(B2:B7,D2:D7,E2:E7,SUM,,0,-2,0)", "_ Q1 Q2 | Rome 50 20 | Bari 30 _ | Oslo 5 15"),
    (
        "=PIVOTBY(A2:B7,C2:D7,E2:E7,PERCENTOF,,2,,,,,3)",
        "_ _ 2025 2025 2026 Total | _ _ Q1 Q2 Q1 _ | North Oslo 0.25 0.75 _ 1 | North _ 0.25 0.75 _ 1 | "
        "South Bari 1 _ _ 1 | South Rome 1/3 2/3 1 1 | South _ 2/3 1/3 1 1 | Grand_Total _ 0.5625 0.4375 1 1",
    ),
    (
        "=PIVOTBY(A2:A7,D2:D7,E2:E7,PERCENTOF)",
        "_ Q1 Q2 Total | North 5/85 15/35 1/6 | South 80/85 20/35 5/6 | Total 1 1 1",
    ),
    ("=PIVOTBY(A2:A7,D2:D7,E2:E7,PERCENTOF,,0,,0,,,1)", "_ Q1 Q2 | North 0.25 0.75 | South 0.8 0.2"),
    ("=PIVOTBY(A2:A7,D2:D7,E2:E7,PERCENTOF,,0,,0,,,2)", "_ Q1 Q2 | North 5/120 15/120 | South 80/120 20/120"),
    (
        "=PIVOTBY(A2:B7,D2:D7,E2:E7,PERCENTOF,,0,,0,,,4)",
        "_ _ Q1 Q2 | North Oslo 1 1 | South Bari 3/8 _ | South Rome 5/8 1",
    ),
    (
        "=PIVOTBY(A2:A7,C2:D7,E2:E7,SUM,,0,,-2)",
        "_ Grand_Total 2025 2025 2025 2026 2026 | _ _ _ Q1 Q2 _ Q1 | North 20 20 5 15 _ _ | "
        "South 100 60 40 20 40 40",
    ),
    (
        "=PIVOTBY(A1:A7,D1:D7,E1:E7,SUM,3)",
        "_ Quarter _ _ | _ Q1 Q2 Total | Region Sales Sales Sales | North 5 15 20 | South 80 20 100 | "
        "Total 85 35 120",
    ),
    (
        "=PIVOTBY(A2:A7,D2:D7,E2:E7,HSTACK(SUM,COUNT),,0,,0)",
        "_ Q1 Q1 Q2 Q2 | _ SUM COUNT SUM COUNT | North 5 1 15 1 | South 80 3 20 1",
    ),
    (
        "=PIVOTBY(A2:A7,D2:D7,E2:E7,VSTACK(SUM,PERCENTOF),,0)",
        "_ _ Q1 Q2 Total | North SUM 5 15 20 | North PERCENTOF 5/85 15/35 1/6 | South SUM 80 20 100 | "
        "South PERCENTOF 80/85 20/35 5/6",
    ),
    # a value orders the cities inside their regions, never the regions
    ("=PIVOTBY(A2:B7,,E2:E7,SUM,,0,-3)", "North Oslo 20 | South Rome 70 | South Bari 30"),
    ("=PIVOTBY(A2:B7,,E2:E7,SUM,,0,3)", "North Oslo 20 | South Bari 30 | South Rome 70"),
    (
        "=PIVOTBY(A2:A7,C2:D7,E2:E7,SUM,,0,,0,-3)",
        "_ 2025 2025 2026 | _ Q1 Q2 Q1 | North 5 15 _ | South 40 20 40",
    ),
    # of a wide filter the first column counts
    ('=PIVOTBY(A2:A7,D2:D7,E2:E7,SUM,,0,,0,,A2:B7="South")', "_ Q1 Q2 | South 80 20"),
    ('=GROUPBY(A2:A7,E2:E7,SUM,,0,,HSTACK(A2:A7="North",A2:A7="South"))', "North 20"),
    ("=PIVOTBY(A2:A7,,E2:E7,SUM)", "North 20 | South 100 | Total 120"),
    ("=PIVOTBY(,A2:A7,E2:E7,SUM)", "North South Total | 20 100 120"),
    (
        "=PIVOTBY(A2:A7,D2:D7,E2:E7,SUM,,,,,,(E2:E7>10)*1)",
        "_ Q1 Q2 Total | North _ 15 15 | South 70 20 90 | Total 70 35 105",
    ),
)  # fmt: skip

REFUSED = (
    "=GROUPBY(A2:A7,E2:E6,SUM)", "=GROUPBY(A2:A7,E2:E7,SUM,4)", "=GROUPBY(A2:A7,E2:E7,SUM,,2)",
    "=GROUPBY(A2:A7,E2:E7,SUM,,,0)", "=GROUPBY(A2:A7,E2:E7,SUM,,,3)", "=GROUPBY(A2:A7,E2:E7,SUM,,,{1,2})",
    "=GROUPBY(A2:A7,E2:E7,SUM,,,,E2:E6)", "=GROUPBY(A2:A7,E2:E7,SUM,,,,E2:E7>99)", "=GROUPBY(A2:A7,E2:E7,SUM,,,,,2)",
    "=GROUPBY(A2:B7,E2:E7,SUM,,2,,,1)", "=GROUPBY(A2:A7,E2:E7,5)", "=GROUPBY(A2:A7,E2:E7,LAMBDA(a,b,c,1))",
    "=PIVOTBY(,,E2:E7,SUM)", "=PIVOTBY(A2:A7,C2:C7,E2:E7,SUM,,,,,,,5)",
)  # fmt: skip


def laid_out(table: str) -> list[list[Any]]:
    """Rows apart by |, cells by blanks: `_` is a blank or no text, 5/85 a quotient."""
    return [[_cell(word) for word in row.split()] for row in table.split(" | ")]


def _cell(word: str) -> Any:
    over, _, under = word.partition("/")
    if over.replace(".", "").isdigit():
        return float(over) / float(under or 1)
    return word.replace("_", " ").strip()


@every("formula, table", GROUPED + PIVOTED)
def test_lays_out_as_excel_does(formula: str, table: str) -> None:
    assert same(calculated(formula, CELLS), laid_out(table))


@pytest.mark.parametrize("formula", REFUSED)
def test_refuses_what_does_not_fit(formula: str) -> None:
    assert same(calculated(formula, CELLS), "#VALUE!")


def test_errors_of_a_group_stay_in_it() -> None:
    cells = CELLS | {"E2": "#", "E3": 0}
    result = calculated("=GROUPBY(A2:A7,1/E2:E7,SUM,0,0)", cells)
    assert [str(row[1]) for row in result] == ["#VALUE!", "#DIV/0!"]
    assert same(calculated("=GROUPBY(A2:A7,E2:E7,NOTHING)", CELLS), "#NAME?")
