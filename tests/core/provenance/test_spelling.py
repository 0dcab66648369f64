"""A function behind the prefix that files have it under, and no other."""

from __future__ import annotations

from core.provenance.spelling import misspelt
from tests.rows import every

ROWS: list[tuple[str, str | None]] = [
    ("SUM(A1:A3)", None),
    ("sum(A1)+Rate*2", None),
    ("_xlfn.CONCAT(A1)", None),
    ("_xlfn.concat(A1)", None),
    ("_xlfn._xlws.FILTER(A1:A3,B1:B3)", None),
    ("_xlfn.LET(_xlpm.x,1,_xlpm.x+1)", None),
    ("_xlfn.LAMBDA(_xlpm.x,_xlpm.x)(1)", None),
    ("_xlfn.ANCHORARRAY(B1)", None),
    ("UNKNOWNFN(A1)", None),
    ("_xlfn.UNKNOWNFN(A1)", None),
    ('"_xlfn.SUM(1)"&A1', None),
    ("'_xlfn.SUM('!A1", None),
    ("_xlfn.SUM(A1)", "_xlfn.SUM"),
    ("_xludf.SUM(A1)", "_xludf.SUM"),
    ("_xlpm.SUM(A1)", "_xlpm.SUM"),
    ("1+_XLFN.sum (A1)", "_XLFN.sum"),
    ("_xlfn._xlfn.CONCAT(A1)", "_xlfn._xlfn.CONCAT"),
    ("_xlfn.FILTER(A1:A3,B1:B3)", "_xlfn.FILTER"),
    ("_xlws.SORT(A1:A3)", "_xlws.SORT"),
    ("CONCAT(A1)", "CONCAT"),
    ("LET(x,1,x)", "LET"),
    ("SUM(_xlpm.x)", "_xlpm.x"),
    ("_xlfn.Rate*2", "_xlfn.Rate"),
]


@every("text, expected", ROWS)
def test_a_formula_has_its_functions_as_files_do(text: str, expected: str | None) -> None:
    assert misspelt(text) == expected
