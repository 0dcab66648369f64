"""The database functions on the orchard of Excel's documentation, and on criteria of all forms."""

from __future__ import annotations

from typing import Any

import pytest

from core.formula.values.value import NA, NUM, VALUE
from tests.core.formula.areas import Sheet
from tests.rows import every

ORCHARD = Sheet(
    # A: tree, B: height, C: age, D: yield, E: profit, F: height (a second condition); rows 1-4 criteria, 5-11 table
    ["Tree", "=Apple", "=Pear", None, "Tree", "Apple", "Pear", "Cherry", "Apple", "Pear", "Apple"],
    ["Height", ">10", None, None, "Height", 18.0, 12.0, 13.0, 14.0, 9.0, 8.0],
    ["Age", None, None, None, "Age", 20.0, 12.0, 14.0, 15.0, 8.0, 9.0],
    ["Yield", None, None, None, "Yield", 14.0, 10.0, 9.0, 10.0, 8.0, 6.0],
    ["Profit", None, None, None, "Profit", 105.0, 96.0, 105.0, 75.0, 76.8, 45.0],
    ["Height", "<16", None],
    # G: other criteria
    ["Tree", "App"], ["Tree", "=App"], ["Tree", "<>apple"], ["Size", ">1"], ["Yield", 10.0], ["Yield", ">100"],
    ["Tree", "*r*"],
    ["Computed", True], ["Tree", "Pear", "Cherry"], [None, False],
    formulas={(1, 13): "=C6>AVERAGE(C$6:C$11)"},
)  # fmt: skip

CASES: tuple[tuple[str, Any], ...] = (
    # Excel's own documentation
    ('=DAVERAGE(A5:E11,"Yield",A1:B2)', 12.0), ("=DAVERAGE(A5:E11,3,A5:E11)", 13.0),
    ('=DCOUNT(A5:E11,"Age",A1:F2)', 1.0),
    ('=DCOUNTA(A5:E11,"Profit",A1:F2)', 1.0), ('=DMAX(A5:E11,"Profit",A1:F3)', 96.0),
    ('=DMIN(A5:E11,"Profit",A1:B2)', 75.0),
    ('=DPRODUCT(A5:E11,"Yield",A1:F3)', 800.0), ('=DSUM(A5:E11,"Profit",A1:A2)', 225.0),
    ('=DSUM(A5:E11,"Profit",A1:F3)', 247.8),
    ('=DGET(A5:E11,"Yield",A1:A3)', NUM), ('=DSTDEV(A5:E11,"Yield",A1:A3)', 2.96647939483827),
    ('=DSTDEVP(A5:E11,"Yield",A1:A3)', 2.65329983228432),
    ('=DVAR(A5:E11,"Yield",A1:A3)', 8.8), ('=DVARP(A5:E11,"Yield",A1:A3)', 7.04),
    # text begins with the criterion, or equals it after "="
    ('=DCOUNTA(A5:E11,"Tree",G1:G2)', 3.0), ('=DCOUNTA(A5:E11,"Tree",H1:H2)', 0.0),
    ('=DCOUNTA(A5:E11,"Tree",I1:I2)', 3.0), ('=DCOUNT(A5:E11,"Age",M1:M2)', 3.0),
    # fields by name without case, by number, or none; criteria by number
    ('=DSUM(A5:E11,"yIELD",K1:K2)', 20.0), ("=DSUM(A5:E11,4.9,K1:K2)", 20.0), ("=DCOUNT(A5:E11,,K1:K2)", 2.0),
    ("=DCOUNTA(A5:E11,,K1:K2)", 2.0),
    ("=DSUM(A5:E11,,K1:K2)", VALUE), ("=DSUM(A5:E11,6,K1:K2)", VALUE), ("=DSUM(A5:E11,0,K1:K2)", VALUE),
    ('=DSUM(A5:E11,"Size",K1:K2)', VALUE),
    ("=DSUM(A5:E11,NA(),K1:K2)", NA), ("=DSUM(5,1,K1:K2)", VALUE), ("=DSUM(NA(),1,K1:K2)", NA),
    # nothing found
    ('=DSUM(A5:E11,"Profit",L1:L2)', 0.0), ('=DMAX(A5:E11,"Profit",L1:L2)', 0.0),
    ('=DMIN(A5:E11,"Profit",L1:L2)', 0.0), ('=DGET(A5:E11,"Profit",L1:L2)', VALUE),
    ('=ISERROR(DAVERAGE(A5:E11,"Profit",L1:L2))', True), ('=DPRODUCT(A5:E11,"Profit",L1:L2)', 0.0),
    # alternatives, blank rows, headings alone, and headings that the table lacks
    ('=DCOUNT(A5:E11,"Age",O1:O3)', 3.0), ('=DCOUNT(A5:E11,"Age",O1:O4)', 6.0), ('=DCOUNT(A5:E11,"Age",O1)', VALUE),
    ('=DCOUNT(A5:E11,"Age",J1:J2)', 0.0), ('=DCOUNT(A5:E11,"Age",P1:P2)', 0.0),
    # a computed condition is written for the first record: here ages over the mean of 13
    ('=DCOUNT(A5:E11,"Age",N1:N2)', 3.0), ('=DSUM(A5:E11,"Age",N1:N2)', 49.0), ('=DGET(A5:E11,"Profit",O1:O2)', NUM),
)  # fmt: skip


@every("formula, value", CASES)
def test_answers(formula: str, value: Any) -> None:
    assert ORCHARD.value(formula) == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)


def test_errors_in_the_field_count_only_among_the_chosen_records() -> None:
    sheet = Sheet(["k", "a", "b", "c"], ["v", 1.0, NA, 3.0], ["k", "b"], ["k", "=c"])
    assert sheet.value('=DSUM(A1:B4,"v",C1:C2)') is NA
    assert sheet.value('=DSUM(A1:B4,"v",D1:D2)') == 3.0
    assert sheet.value('=DCOUNT(A1:B4,"v",C1:C2)') == 0.0
    assert sheet.value('=DCOUNTA(A1:B4,"v",C1:C2)') == 1.0
    assert sheet.value('=DGET(A1:B4,"v",C1:C2)') is NA
