"""Loans, cash flows, depreciation and rates.

Excel's documented values, values that Excel computed, and its edges.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.formula.calculated import calculated, same
from tests.rows import every

CASES: tuple[tuple[str, Any], ...] = (
    # Annuities
    ("=ROUND(PMT(0.08/12,10,10000),2)", -1037.03), ("=ROUND(PMT(0.08/12,10,10000,0,1),2)", -1030.16),
    ("=ROUND(PMT(0.06/12,18*12,0,50000),2)", -129.08), ("=PMT(0,10,1000)", -100), ("=PMT(0.1,0,1)", "#NUM!"),
    ("=ROUND(PV(0.08/12,12*20,500,,0),2)", -59_777.15), ("=PV(-1,1,1)", "#DIV/0!"), ("=PV(0,3,5,1)", -16),
    ("=ROUND(FV(0.06/12,10,-200,-500,1),2)", 2581.4), ("=ROUND(FV(0.12/12,12,-1000),2)", 12_682.5),
    ("=ROUND(FV(0.11/12,35,-2000,,1),2)", 82_846.25), ("=FV(-3,0.5,1)", "#NUM!"), ("=FV(TRUE,1,-1)", 1),
    ("=ROUND(IPMT(0.1/12,1,36,8000),2)", -66.67), ("=ROUND(IPMT(0.1,3,3,8000),2)", -292.45),
    ("=IPMT(0.1,1,3,8000,0,1)", 0),
    ("=IPMT(0.1,0,3,8000)", "#NUM!"), ("=IPMT(0.1,4,3,8000)", "#NUM!"),
    ("=ROUND(PPMT(0.1/12,1,24,2000),2)", -75.62), ("=ROUND(PPMT(0.08,10,10,200000),2)", -27_598.05),
    ("=ROUND(ISPMT(0.1/12,1,36,8000000),1)", -64_814.8), ("=ISPMT(0.1,0,4,4000)", -400),
    ("=ISPMT(0.1,1,0,1)", "#DIV/0!"),
    ("=ROUND(NPER(0.12/12,-100,-1000,10000,1),7)", 59.6738657),
    ("=ROUND(NPER(0.12/12,-100,-1000,10000),7)", 60.0821229),
    ("=ROUND(NPER(0.12/12,-100,-1000),8)", -9.57859404), ("=NPER(0,-100,1000)", 10), ("=NPER(0,0,1)", "#NUM!"),
    ("=NPER(-1,1,1)", "#NUM!"), ("=NPER(0.1,-1,100)", "#NUM!"),
    ("=ROUND(RATE(48,-200,8000),9)", 0.007701472), ("=RATE(10,-100,1000)", 0.0), ("=RATE(0,1,1)", "#NUM!"),
    ("=RATE(10,100,100)", "#NUM!"), ("=RATE(1,10,100,-100,0,0.15)", -0.1),
    ("=ROUND(CUMIPMT(0.09/12,360,125000,13,24,0),3)", -11_135.232), ("=CUMIPMT(0.09/12,360,125000,1,1,0)", -937.5),
    ("=ROUND(CUMPRINC(0.09/12,360,125000,13,24,0),4)", -934.1071),
    ("=ROUND(CUMPRINC(0.09/12,360,125000,1,1,0),5)", -68.27827),
    ("=CUMIPMT(0.1,10,100,1,1,1)", 0), ("=CUMIPMT(0,10,100,1,1,0)", "#NUM!"), ("=CUMIPMT(0.1,10,100,2,1,0)", "#NUM!"),
    ("=CUMIPMT(0.1,10,100,1,11,0)", "#NUM!"), ("=CUMIPMT(0.1,10,100,1,1,2)", "#NUM!"),
    ("=CUMIPMT(TRUE,10,100,1,1,0)", "#VALUE!"),
    # Cash flows
    ("=ROUND(NPV(0.1,-10000,3000,4200,6800),2)", 1188.44),
    ("=ROUND(NPV(0.08,8000,9200,10000,12000,14500)-40000,2)", 1922.06),
    ("=NPV(-1,1)", "#DIV/0!"), ('=NPV(0.1,"x")', "#VALUE!"), ("=NPV(1,TRUE,2)", 1), ("=NPV(0.1,#N/A)", "#N/A"),
    ("=ROUND(IRR({-70000,12000,15000,18000,21000}),12)", -0.021244848273),
    ("=ROUND(IRR({-70000,12000,15000,18000,21000,26000}),9)", 0.086630948),
    ("=ROUND(IRR({-70000,12000,15000},-0.1),9)", -0.443506941), ("=IRR({1,2})", "#NUM!"),
    ("=IRR({-100,110},-2)", "#VALUE!"),
    ("=IRR({-1,1E6})", 999_999), ("=ROUND(MIRR({-120000,39000,30000,21000,37000,46000},0.1,0.12),9)", 0.12609413),
    ("=ROUND(MIRR({-120000,39000,30000,21000},0.1,0.12),9)", -0.048044655), ("=MIRR({1,2},0.1,0.1)", "#DIV/0!"),
    ("=MIRR({-1,-2},0.1,0.1)", -1), ("=MIRR({-4,1},0.1,-1)", -0.75),
    ("=ROUND(XNPV(0.09,{-10000,2750,4250,3250,2750},{39448,39508,39751,39859,39904}),5)", 2086.6476),
    ("=XNPV(-0.1,{-1,2},{1,2})", "#NUM!"), ("=XNPV(0.1,{-1,2},{2,1})", "#NUM!"), ("=XNPV(0.1,{-1,2},{1,2,3})", "#NUM!"),
    ("=XIRR({1,2},{1,2})", "#NUM!"), ("=XIRR({-1,2},{2,1})", "#NUM!"), ('=XIRR({-1,2},{1,"x"})', "#VALUE!"),
    ("=ROUND(XIRR({-100,90},{0,365}),7)", -0.1),
    # Rates
    ("=ROUND(EFFECT(0.0525,4),9)", 0.053542667), ("=EFFECT(0,4)", "#NUM!"), ("=EFFECT(0.1,0.9)", "#NUM!"),
    ("=EFFECT(TRUE,1)", "#VALUE!"),
    ("=ROUND(NOMINAL(0.053543,4),9)", 0.05250032), ("=NOMINAL(0,4)", "#NUM!"),
    ("=ROUND(FVSCHEDULE(1,{0.09,0.11,0.1}),7)", 1.33089),
    ('=FVSCHEDULE(1,{0.1,"x"})', "#VALUE!"), ("=ROUND(PDURATION(0.025,2000,2200),9)", 3.859866163),
    ("=PDURATION(0,1,2)", "#NUM!"),
    ("=ROUND(RRI(96,10000,11000),12)", 0.000993307376), ("=RRI(0,1,2)", "#NUM!"), ("=RRI(1,0,2)", "#NUM!"),
    ("=RRI(2,-1,2)", "#NUM!"),
    ("=DOLLARDE(1.02,16)", 1.125), ("=DOLLARDE(1.1,32)", 1.3125), ("=DOLLARDE(-1.02,16)", -1.125),
    ("=DOLLARDE(1.1,0.5)", "#DIV/0!"),
    ("=DOLLARDE(1.1,-1)", "#NUM!"), ("=DOLLARFR(1.125,16)", 1.02), ("=DOLLARFR(1.125,32)", 1.04),
    ("=ROUND(TBILLEQ(DATE(2008,3,31),DATE(2008,6,1),0.0914),8)", 0.09415149),
    ("=TBILLPRICE(DATE(2008,3,31),DATE(2008,6,1),0.09)", 98.45),
    ("=ROUND(TBILLYIELD(DATE(2008,3,31),DATE(2008,6,1),98.45),8)", 0.09141696), ("=TBILLEQ(1,400,0.1)", "#NUM!"),
    ("=TBILLPRICE(2,2,0.1)", "#NUM!"), ("=TBILLYIELD(1,2,0)", "#NUM!"),
    # Depreciation
    ("=SLN(30000,7500,10)", 2250), ("=SLN(1,0,0)", "#DIV/0!"), ("=ROUND(SYD(30000,7500,10,1),2)", 4090.91),
    ("=ROUND(SYD(30000,7500,10,10),2)", 409.09), ("=SYD(1,0,1,2)", "#NUM!"),
    ("=ROUND(DB(1000000,100000,6,1,7),2)", 186_083.33), ("=ROUND(DB(1000000,100000,6,2,7),2)", 259_639.42),
    ("=ROUND(DB(1000000,100000,6,6,7),2)", 55_841.76), ("=ROUND(DB(1000000,100000,6,7,7),2)", 15_845.1),
    ("=DB(1000000,100000,6,7)", "#NUM!"), ("=DB(1,0,1,0)", "#NUM!"), ("=DB(1,0,1,1,13)", "#NUM!"),
    ("=ROUND(DDB(2400,300,3650,1),2)", 1.32), ("=DDB(2400,300,120,1,2)", 40), ("=DDB(2400,300,10,1,2)", 480),
    ("=DDB(2400,300,10,2,1.5)", 306), ("=ROUND(DDB(2400,300,10,10),2)", 22.12), ("=DDB(2400,300,10,11)", "#NUM!"),
    ("=ROUND(VDB(2400,300,3650,0,1),2)", 1.32), ("=VDB(2400,300,120,0,1)", 40), ("=VDB(2400,300,10,0,1)", 480),
    ("=ROUND(VDB(2400,300,120,6,18),2)", 396.31), ("=ROUND(VDB(2400,300,120,6,18,1.5),2)", 311.81),
    ("=VDB(2400,300,10,0,0.875,1.5)", 315),
    ("=VDB(100,10,13,0.5,1,1,TRUE)", 50 / 13), ("=ROUND(100/13-50/13-VDB(100,10,13,0.5,1,1),4)", 0.1479),
    ("=VDB(1,0,1,2,1)", "#NUM!"),
    ("=AMORLINC(2400,39679,39813,300,1,0.15,1)", 360), ("=AMORLINC(2400,39679,39813,300,9,0.15,1)", 0),
    ("=AMORDEGRC(2400,39679,39813,300,1,0.15,1)", 776),
    ("=AMORDEGRC(100,DATE(1998,2,28),DATE(2000,2,29),10,0,0.15,3)", 75),
    ("=AMORDEGRC(100,DATE(1998,2,28),DATE(2000,2,29),10,0.3,0.15,1)", 0),
    ("=AMORDEGRC(100,DATE(1998,2,28),DATE(2000,2,29),10,1.7,0.15,1)", 9),
    ("=AMORDEGRC(100,DATE(1998,2,28),DATE(2000,2,29),10,1,0.3,0)", 5),
    ("=AMORDEGRC(100,DATE(1998,2,28),DATE(2000,2,29),10,2,0.07,4)", 9),
    ("=AMORDEGRC(100,DATE(1998,2,28),DATE(2000,2,29),10,10,0.07,4)", 2),
    ("=AMORDEGRC(100,DATE(2014,1,1),DATE(2016,1,1),50,1,0.3,1)", 23),
    ("=AMORDEGRC(100,1,400,10,1,0.5)", "#NUM!"), ("=AMORLINC(100,1,400,10,1,0.1,2)", "#NUM!"),
    ("=AMORLINC(100,1,400,10,1,1E-9)", "#NUM!"),
    # The euro: Excel's help, and the rates by hand
    ('=EUROCONVERT(1.2,"DEM","EUR")', 0.61), ('=EUROCONVERT(1,"FRF","EUR",TRUE,3)', 0.152),
    ('=EUROCONVERT(1,"FRF","EUR",FALSE,3)', 0.15), ('=EUROCONVERT(1,"FRF","DEM",TRUE,3)', 0.29728616),
    ('=EUROCONVERT(1,"FRF","DEM",FALSE,3)', 0.3), ('=EUROCONVERT(100,"EUR","DEM")', 195.58),
    ('=EUROCONVERT(1,"DEM","FRF")', 3.35), ('=EUROCONVERT(1.234,"nlg","NLG")', 1.234),
    ('=EUROCONVERT(10,"EUR","ITL")', 19363), ('=EUROCONVERT(-100,"DEM","EUR",,)', -51.13),
    ('=EUROCONVERT(0,"ITL","EUR",TRUE,5)', 0), ('=EUROCONVERT(1,"DEM","EUR",FALSE,2)', "#VALUE!"),
    ('=EUROCONVERT(1,"USD","EUR")', "#VALUE!"), ('=EUROCONVERT("x","DEM","EUR")', "#VALUE!"),
)  # fmt: skip

# Arguments of VDB(100,10,...) and what Excel 2010 computed
VARIABLE_DECLINES = (
    ("1,0,0.8,3", 72), ("13,0,0.8,50.3", 72), ("13,0,3,1,TRUE", 21.34729176149), ("13,0,3,1", 21.62990855299),
    ("13,0,4.2,1,TRUE", 28.51446162465), ("13,0,4.2,1", 29.83431952663), ("13,0,4.2,4.5", 82.98843332624),
    ("13,0,13,1", 90),
    ("13,0,13,1,TRUE", 64.67415015288), ("13,0,3.3,1", 23.6810112964), ("13,1,4.2,1", 22.14201183432),
    ("13,1,13,3", 66.92307692308), ("13,2,3.3,4.5", 17.70138913203), ("13,10,13,1", 20.5110274341),
    ("13,10,13,1,TRUE", 9.58786086707), ("12.7,0,4.2,1", 30.52226702584), ("12.7,1,3.3,1", 16.3506089629),
    ("12.7,2,3.3,1", 9.096594454871), ("40,0,13,1", 29.74404651228), ("40,0,20,1", 45.36596037946),
    ("13,13,13,1,TRUE", 0),
    ("13,13,13,1", "#DIV/0!"),
)  # fmt: skip

# Flows, days, guess, and what Excel 2010 computed: not the root, but what its halving ends at
RATES_OF_FLOWS = (
    ("-100,10,10,100", "DATE(1970,4,1),DATE(1972,2,12),DATE(1980,4,23),DATE(1983,3,30)", 0.15, 0.01563509255648),
    ("-100,10,10,100", "DATE(1970,4,1),DATE(1972,2,12),DATE(1980,4,23),DATE(1983,3,30)", 0.5, 0.015635099262),
    ("-100,10,10,100", "DATE(1970,4,1),DATE(1972,2,12),DATE(1980,4,23),DATE(1983,3,30)", 0, 0.01563509277344),
    ("-100,10,10,100", "DATE(1970,4,1),DATE(1973,4,12),DATE(1983,5,23),DATE(1987,4,30)", 0.15, 0.01183557361364),
    ("-100,10,10,100", "DATE(1970,4,1),DATE(1974,2,14),DATE(1985,6,26),DATE(1989,5,4)", 0, 0.01052397949219),
    ("-100,-10,10,100", "DATE(1970,4,1),DATE(1972,2,12),DATE(1980,4,23),DATE(1983,3,30)", 0.5, 3.725290298462e-9),
    ("-1,3,4", "DATE(1970,3,2),DATE(1988,2,3),DATE(1999,3,5)", 0.14, 0.08833194077015),
    ("105091006,-103250941.8647", "DATE(2000,4,10),DATE(2000,4,30)", -0.1, -0.2755730099976),
    ("206101714.8494,-156650972.5427", "DATE(2001,2,28),DATE(2001,3,31)", -0.1, -0.9604521892965),
)  # fmt: skip


@every("formula, expected", CASES)
def test_values(formula: str, expected: Any) -> None:
    result = calculated(formula)
    assert same(result, expected) or (expected == 0 and isinstance(result, float) and abs(result) < 1e-9)


@pytest.mark.parametrize(("arguments", "expected"), VARIABLE_DECLINES)
def test_variable_declines_are_excels(arguments: str, expected: Any) -> None:
    assert same(calculated(f"=VDB(100,10,{arguments})"), expected, 1e-11)


@pytest.mark.parametrize(("flows", "days", "guess", "expected"), RATES_OF_FLOWS)
def test_rates_of_dated_flows_are_excels(flows: str, days: str, guess: float, expected: float) -> None:
    cells = {f"A{row}": float(flow) for row, flow in enumerate(flows.split(","), 1)}
    rows = len(cells)
    cells |= {f"B{row}": calculated("=" + day) for row, day in enumerate(days.replace("),", ")|").split("|"), 1)}
    assert same(calculated(f"=XIRR(A1:A{rows},B1:B{rows},{guess})", cells), expected, 1e-11)


def test_text_and_booleans_in_cells_are_no_cash_flows() -> None:
    cells = {"A1": -100.0, "A2": "n/a", "A3": True, "A4": None, "A5": 110.0}
    assert same(calculated("=IRR(A1:A5)", cells), 0.1)
    assert same(calculated("=NPV(0.25,A1:A5)", cells), -100 / 1.25 + 110 / 1.25**2)


@given(
    st.floats(-0.05, 0.3),
    st.integers(1, 480),
    st.floats(-1e6, 1e6).filter(lambda pv: abs(pv) > 1),
    st.sampled_from([0, 1]),
)
def test_interest_and_repayments_add_up_to_the_loan(rate: float, periods: int, pv: float, due: int) -> None:
    assume((1 + rate) ** periods < 1e6)  # beyond it the payments of one period lose their digits, in Excel too
    loan = f"{rate!r},{periods},{pv!r},0,{due}"
    payment = calculated(f"=PMT({loan})")
    half = max(periods // 2, 1)
    repaid = calculated(f"=PPMT({rate!r},{half},{periods},{pv!r},0,{due})")
    interest = calculated(f"=IPMT({rate!r},{half},{periods},{pv!r},0,{due})")
    assert same(repaid + interest, payment, 1e-9)
    left = calculated(f"=FV({rate!r},{periods},{payment!r},{pv!r},{due})")
    assert abs(left) < 1e-6 * abs(pv) * max(1.0, (1 + rate) ** periods)
