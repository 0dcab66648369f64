"""GETPIVOTDATA over pivot tables of a file.

What Excel gives for what they show, #REF! for all else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from core.recalc.book import Book, read
from tests.core.pivots import parts, write

REGIONS = "Pivot!$A$3"
MONTHS = "Pivot!F4"
DAYS = "Pivot!G10:H10"

ANSWERS: dict[str, Any] = {
    # the grand total, and totals of one axis
    f'GETPIVOTDATA("Sales",{REGIONS})': 120.0,
    f'GETPIVOTDATA("sum of sales",{REGIONS},"Region","South")': 100.0,
    f'GETPIVOTDATA("Sales",{REGIONS},"Year",2026)': 40.0,
    f'GETPIVOTDATA("Sales",{REGIONS},"Years","2025")': 80.0,
    f'GETPIVOTDATA("Sales",{REGIONS},"Years","this YEAR","Region","South")': 40.0,
    # one figure, in any order of fields, from any cell of the pivot table, its filter too
    f'GETPIVOTDATA("Sales",{REGIONS},"City","Rome","Year",2025,"Region","South")': 30.0,
    'GETPIVOTDATA("Sales",Pivot!B8,"Region","South","City","BARI")': 30.0,
    'GETPIVOTDATA("Sales",Pivot!B1,"Region","North")': 20.0,
    # a city tells its region; nothing where both axes list what is asked is 0
    f'GETPIVOTDATA("Sales",{REGIONS},"City","Rome")': 70.0,
    f'GETPIVOTDATA("Sales",{REGIONS},"Region","South","City","Bari","Year",2026)': 0.0,
    f'GETPIVOTDATA("Sales",{REGIONS},"Region","North","Year",2026)': 0.0,
    # not shown: items, pairs, fields, data; a filter that shows all; a field without its item; contradictions
    f'GETPIVOTDATA("Sales",{REGIONS},"City","Bergen")': "#REF!",
    f'GETPIVOTDATA("Sales",{REGIONS},"City","(blank)")': "#REF!",
    f'GETPIVOTDATA("Sales",{REGIONS},"Region","North","City","Rome")': "#REF!",
    f'GETPIVOTDATA("Sales",{REGIONS},"Date",46037)': "#REF!",
    f'GETPIVOTDATA("Price",{REGIONS})': "#REF!",
    f'GETPIVOTDATA("Sales",{REGIONS},"Quarter","Q1")': "#REF!",
    f'GETPIVOTDATA("Sales",{REGIONS},"Region","North","Region","South")': "#REF!",
    'GETPIVOTDATA("Sales",Pivot!E5)': "#REF!",
    'GETPIVOTDATA("Sales",A1)': "#REF!",
    'GETPIVOTDATA("Sales",5)': "#REF!",
    f'GETPIVOTDATA("Sales",{REGIONS},"City",NA())': "#N/A",
    # months by name and number; data fields along the columns; the filter shows one office
    f'GETPIVOTDATA("Total ",{MONTHS},"Months","Jan")': 35.0,
    f'GETPIVOTDATA("Total",{MONTHS},"Months",3)': 85.0,
    f'GETPIVOTDATA("Loans",{MONTHS},"Months",3,"Office","Lisbon")': 3.0,
    f'GETPIVOTDATA("Loans",{MONTHS})': 5.0,
    f'GETPIVOTDATA("Loans",{MONTHS},"Office","Porto")': "#REF!",
    f'GETPIVOTDATA("Loans",{MONTHS},"Months",2)': "#REF!",
    # dates as numbers and texts; data fields along the rows; an error is a figure; no totals
    f'GETPIVOTDATA("Max of Sales",{DAYS},"Date",DATE(2026,1,15),"Quarter","Q1")': 5.0,
    f'GETPIVOTDATA("Sum of Sales",{DAYS},"Date","1/15/2026","Quarter","Q2")': 8.0,
    f'GETPIVOTDATA("Max of Sales",{DAYS},"Date",46037,"Quarter","Q2")': "#N/A",
    f'GETPIVOTDATA("Max of Sales",{DAYS},"Date",46054,"Quarter","Q2")': 0.0,
    f'GETPIVOTDATA("Sum of Sales",{DAYS},"Date",46054)': "#REF!",
    f'GETPIVOTDATA("Sum of Sales",{DAYS})': "#REF!",
    # of several pivot tables the last, and a call for each item of an array
    'GETPIVOTDATA("Max of Sales",Pivot!A1:H20,"Date",46037,"Quarter","Q1")': 5.0,
    f'SUM(GETPIVOTDATA("Sales",{REGIONS},"Region",{{"North","South"}}))': 120.0,
}


def differing(book: Book) -> dict[str, Any]:
    """The formulas of the second sheet whose values are others."""
    book.recalculate()
    by_text = {text: book.value("Asked", f"A{at}") for at, text in enumerate(ANSWERS, 1)}
    return {text: by_text[text] for text, value in ANSWERS.items() if by_text[text] != value}


def test_figures_of_a_file(tmp_path: Path) -> None:
    book = read(write(tmp_path / "made.xlsx", parts(ANSWERS)))
    assert differing(book) == {}
    assert str(book.evaluate(f'=GETPIVOTDATA("Sales",{REGIONS},"Region","North")')) == "20.0"
    book.set("Pivot", "D10", 7.0)  # what a pivot table was saved with stays
    assert book.evaluate(f'=GETPIVOTDATA("Sales",{REGIONS})') == 120.0


def test_figures_of_a_file_that_openpyxl_saved(tmp_path: Path) -> None:
    value = write(tmp_path / "made.xlsx", parts(ANSWERS))
    openpyxl.load_workbook(value).save(tmp_path / "saved.xlsx")
    assert differing(read(tmp_path / "saved.xlsx")) == {}


@pytest.mark.parametrize("spoilt", ["xl/pivotCache/pivotCacheDefinition1.xml", "xl/pivotTables/pivotTable2.xml"])
def test_pivot_tables_that_cannot_be_read_leave_values_as_they_are(tmp_path: Path, spoilt: str) -> None:
    value = parts(ANSWERS)
    book = read(write(tmp_path / "made.xlsx", value | {spoilt: value[spoilt][:-9]}))
    result = book.recalculate()
    assert book.value("Asked", "A1") == 1.0
    assert [fault.reason for fault in result.faults] == ["the pivot tables of the workbook were not read"]
