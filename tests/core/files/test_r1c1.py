"""R1C1 notation to A1 notation, as Excel shows the same formula in both."""

from __future__ import annotations

from core.files.r1c1 import to_a1
from tests.rows import every


@every(
    "r1c1, a1",  # of the cell C5
    [
        ("SUM(R[-3]C:R[-1]C)", "SUM(C2:C4)"),
        ("RC[-1]*R1C1", "B5*$A$1"),
        ("rc[-1]*r1c1", "B5*$A$1"),
        ("R[1]C2+R2C[1]", "$B6+D$2"),
        ("'R1 C'!RC&\"RC\"&Sheet2!R[1]C[1]", "'R1 C'!C5&\"RC\"&Sheet2!D6"),
        ("'it''s RC'!RC", "'it''s RC'!C5"),
        ('"a""RC"&RC', '"a""RC"&C5'),
        ("SUM(C1)+SUM(R2:R4)+SUM(C)+SUM(R)", "SUM($A:$A)+SUM($2:$4)+SUM(C:C)+SUM(5:5)"),
        ("SUM(R1C1:R5C2,C[1]:C[2],R[-1]:R[1])", "SUM($A$1:$B$5,D:E,4:6)"),
        ("ROUND(RC[-1],2)+RATE(1,2,3)+COUNT(C)+R(1)", "ROUND(B5,2)+RATE(1,2,3)+COUNT(C:C)+R(1)"),
        ("R[-9]C+RC[-3]+R1048577C1+RC16385", "#REF!+#REF!+#REF!+#REF!"),
        ("R1048576C16384", "$XFD$1048576"),
        ("IF(ISERROR(RC[-1]),#REF!,LOG10(5))", "IF(ISERROR(B5),#REF!,LOG10(5))"),
        ("Rate_RC+R1C1.x+name.R1C1+TRUE", "Rate_RC+R1C1.x+name.R1C1+TRUE"),
        ("1.5E5+R2C2%", "1.5E5+$B$2%"),
        ("[1]Sheet!R1C1", "[1]Sheet!$A$1"),
        ("R1C1 R2C2", "$A$1 $B$2"),
        ("", ""),
    ],
)
def test_references(r1c1: str, a1: str) -> None:
    assert to_a1(r1c1, 4, 2) == a1
