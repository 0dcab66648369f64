"""Complex numbers: the texts that Excel's help shows, digit by digit, and what is read and refused."""

from __future__ import annotations

import cmath
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.core.formula.calculated import Cells, calculated, same
from tests.rows import every

CASES: tuple[tuple[str, Any], ...] = (
    ("=COMPLEX(3,4)", "3+4i"), ('=COMPLEX(3,4,"j")', "3+4j"), ("=COMPLEX(0,1)", "i"), ("=COMPLEX(1,0)", "1"),
    ("=COMPLEX(0,0)", "0"),
    ("=COMPLEX(0,-1)", "-i"), ("=COMPLEX(-2.5,1)", "-2.5+i"),
    ("=COMPLEX(1/3,-2/3)", "0.333333333333333-0.666666666666667i"),
    ("=COMPLEX(1,2,)", "1+2i"), ('=COMPLEX(1,2,"I")', "#VALUE!"), ('=COMPLEX(1,2,"ij")', "#VALUE!"),
    ("=COMPLEX(TRUE,2)", "#VALUE!"),
    ('=COMPLEX("x",2)', "#VALUE!"), ('=COMPLEX("1","2")', "1+2i"), ("=COMPLEX(1,2,TRUE)", "#VALUE!"),
    ('=IMREAL("6-9i")', 6), ('=IMREAL("-7.5")', -7.5), ('=IMREAL("i")', 0), ("=IMREAL(4)", 4), ("=IMREAL(A1)", 0),
    ('=IMREAL("")', 0),
    ('=IMREAL("1e3+2i")', 1000), ('=IMREAL("-.5-j")', -0.5), ("=IMREAL(TRUE)", "#VALUE!"), ('=IMREAL("TRUE")', "#NUM!"),
    ('=IMAGINARY("3+4i")', 4), ('=IMAGINARY("0-j")', -1), ("=IMAGINARY(4)", 0), ('=IMAGINARY("+i")', 1),
    ('=IMAGINARY("3-2.5E-3i")', -0.0025),
    ('=IMAGINARY("3I")', "#NUM!"), ('=IMAGINARY("3 + 4i")', "#NUM!"), ('=IMAGINARY("4i+3")', "#NUM!"),
    ('=IMAGINARY("3+4k")', "#NUM!"),
    ('=IMAGINARY("3+4")', "#NUM!"), ('=IMAGINARY("--i")', "#NUM!"), ('=IMAGINARY("34ii")', "#NUM!"),
    ('=IMAGINARY("1e400i")', "#NUM!"),
    ('=IMABS("5+12i")', 13), ('=IMABS("j")', 1), ('=ROUND(IMARGUMENT("3+4i"),8)', 0.92729522),
    ('=IMARGUMENT("-1")', cmath.pi), ("=IMARGUMENT(0)", "#DIV/0!"),
    ('=IMCONJUGATE("3+4i")', "3-4i"), ('=IMCONJUGATE("3-j")', "3+j"),
    ('=IMSUM("3+4i","5-3i")', "8+i"), ('=IMSUM("1","2j",3)', "4+2j"), ('=IMSUM("3+4i","5-3j")', "#VALUE!"),
    ("=IMSUM(B1:B4)", "4+6i"), ("=IMSUM(C1:C2)", "#NUM!"),
    ('=IMSUB("13+4i","5+3i")', "8+i"), ('=IMSUB("i","i")', "0"), ('=IMPRODUCT("3+4i","5-3i")', "27+11i"),
    ('=IMPRODUCT("1+2i",30)', "30+60i"),
    ("=IMPRODUCT(B1:B4)", "-24+12i"), ('=IMPRODUCT("i",#DIV/0!)', "#DIV/0!"), ('=IMDIV("-238+240i","10+24i")', "5+12i"),
    ('=IMDIV("1+i",0)', "#NUM!"),
    ('=IMDIV("1+i","j")', "#VALUE!"), ('=IMPOWER("2+3i",3)', "-46+9.00000000000001i"), ('=IMPOWER("2+3i",0)', "1"),
    ("=IMPOWER(0,2)", "0"),
    ("=IMPOWER(0,-1)", "#NUM!"), ('=IMPOWER("i",TRUE)', "#VALUE!"), ('=IMPOWER("10i",400)', "#NUM!"),
    ('=IMSQRT("1+i")', "1.09868411346781+0.455089860562227i"), ('=IMEXP("1+i")', "1.46869393991589+2.28735528717884i"),
    ('=IMEXP("1000")', "#NUM!"),
    ('=IMLN("3+4i")', "1.6094379124341+0.927295218001612i"), ("=IMLN(0)", "#NUM!"),
    ('=IMLOG10("3+4i")', "0.698970004336019+0.402719196273373i"),
    ('=IMLOG2("3+4i")', "2.32192809488736+1.33780421245098i"), ('=IMSIN("4+3i")', "-7.61923172032141-6.548120040911i"),
    ('=IMCOS("1+i")', "0.833730025131149-0.988897705762865i"),
    ('=IMTAN("4+3i")', "0.00490825806749606+1.00070953606723i"),
    ('=IMSEC("4+3i")', "-0.0652940278579471-0.0752249603027732i"),
    ('=IMCSC("4+3i")', "-0.0754898329158637+0.0648774713706355i"),
    ('=IMCOT("4+3i")', "0.00490118239430447-0.999266927805902i"),
    ('=IMSINH("4+3i")', "-27.0168132580039+3.85373803791938i"),
    ('=IMCOSH("4+3i")', "-27.0349456030742+3.85115333481178i"),
    ('=IMSECH("4+3i")', "-0.0362534969158689-0.00516434460775318i"),
    ('=IMCSCH("4+3i")', "-0.036275889628626-0.0051744731840194i"), ("=IMCSC(0)", "#NUM!"), ("=IMCOT(0)", "#NUM!"),
    ("=IMCSCH(0)", "#NUM!"),
    ('=IMSIN("1E9")', "#NUM!"), ('=IMCOS("1000i")', "#NUM!"), ('=IMSIN("x")', "#NUM!"), ("=IMCOS(FALSE)", "#VALUE!"),
)  # fmt: skip

CELLS = {"B1": "1+2i", "B2": "3", "B4": "4i", "C1": "1", "C2": "x"}
FUNCTIONS = {
    "IMSQRT": cmath.sqrt, "IMEXP": cmath.exp, "IMSIN": cmath.sin, "IMCOS": cmath.cos, "IMTAN": cmath.tan,
    "IMSINH": cmath.sinh, "IMCOSH": cmath.cosh, "IMLN": cmath.log, "IMLOG10": cmath.log10,
}  # fmt: skip
PARTS = st.floats(-20, 20).filter(lambda part: abs(part) > 1e-3)


@every("formula, expected", CASES)
def test_values(formula: str, expected: Any) -> None:
    assert same(calculated(formula, Cells(CELLS)), expected)


@given(PARTS, PARTS, st.sampled_from(sorted(FUNCTIONS)))
def test_functions_are_those_of_python(real: float, imaginary: float, name: str) -> None:
    cells = {"A1": real, "A2": imaginary}
    result = [calculated(f"={part}({name}(COMPLEX(A1,A2)))", cells) for part in ("IMREAL", "IMAGINARY")]
    expected = FUNCTIONS[name](complex(real, imaginary))
    assert abs(complex(*result) - expected) <= 1e-11 * abs(expected) * max(1.0, abs(real), abs(imaginary))


@given(st.floats(-1e15, 1e15), st.floats(-1e15, 1e15), st.sampled_from("ij"))
def test_what_is_written_is_read_again(real: float, imaginary: float, suffix: str) -> None:
    cells = {"A1": real, "A2": imaginary, "A3": suffix}
    text = calculated("=COMPLEX(A1,A2,A3)", cells)
    for part, value in (("IMREAL", real), ("IMAGINARY", imaginary)):
        assert abs(calculated(f'={part}("{text}")') - value) <= abs(value) * 1e-13
