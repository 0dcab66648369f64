"""What is not looked at closely is what could be written anyway."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from core.files.write import _xlsx as kernel
from core.files.write.formulas import AS_TYPED, NO_SHEET, OF_FILTERED, OF_PIVOT, TRIMMED, KnownNames, _words
from core.files.write.newer import NEWER, with_prefixes

NAMES = ["One", "It's", "Ärger.2"]
KNOWN = KnownNames(NAMES, {"table"}, {name.casefold() for name in NAMES})
PIECES = [
    "One",
    "Gone",
    "'",
    "''",
    "It''s",
    "Ärger.2",
    "!",
    '"',
    "[1]",
    "Table[x]",
    "#REF!",
    ":",
    "A1",
    "+",
    "\x01",
    "\uffff",
]
PIECES += [".:", ":.", "one", "IFS", "SUM", "(", "LET", "_xlfn.", ".", "LAMBDA("]


def look(text: str) -> int:
    sheets = _words(name.replace("'", "''") for name in NAMES)
    return int(kernel.looks(*_words([text]), *sheets, *_words(NEWER), *_words(KNOWN.watched))[0])


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@example("'It''s'!A1+One!B2&\"Gone!'\"")
@example("One:Gone!A1")
def test_what_has_to_be_seen_to_is_seen(text: str) -> None:
    result = look(text)
    assert result & kernel.DOUBTFUL or KNOWN.fault(text) is None
    assert result & kernel.NEWER or with_prefixes(text) == text


def test_plain_formulas_are_left_alone() -> None:
    """Else a million of them take eight seconds."""
    for text in (
        "A1*2",
        "One!A1+'It''s'!$B$2:C3",
        'IF(Ärger.2!A1,"Gone!A1","[x]LET(")',
        "LEN(A1)+LEFT(B1)",
        "_xlfn.IFS(A1)",
    ):
        assert look(text) == 0, text


def test_newer_functions_have_their_prefix() -> None:
    for typed, written in (
        ("IFS(A1,1)+XLOOKUP(A1,B:B,C:C)", "_xlfn.IFS(A1,1)+_xlfn.XLOOKUP(A1,B:B,C:C)"),
        ("FILTER(A:A,B:B)", "_xlfn._xlws.FILTER(A:A,B:B)"),
        ('_xlfn.IFS(1)&"IFS(1)"&MYIFS(1)&IFS', '_xlfn.IFS(1)&"IFS(1)"&MYIFS(1)&IFS'),
        ("SUM(A1:.A9)+COUNT('My S'!$A.:.B)", "SUM(_xlfn._TRO_TRAILING(A1:A9))+COUNT(_xlfn._TRO_ALL('My S'!$A:B))"),
        ('ROWS(One!1.:3)&"A1:.A9"', 'ROWS(_xlfn._TRO_LEADING(One!1:3))&"A1:.A9"'),
        ("_xlfn._TRO_ALL(A1:A9)+x.:.y", "_xlfn._TRO_ALL(A1:A9)+_xlfn._TRO_ALL(x:y)"),
        ("'IFS('!A1+NORM.S.DIST(1,TRUE)+STDEV(A:A)", "'IFS('!A1+_xlfn.NORM.S.DIST(1,TRUE)+STDEV(A:A)"),
    ):
        assert with_prefixes(typed) == written
    assert KNOWN.fault("LET(x,1,x)") == AS_TYPED
    assert KNOWN.fault("_xlfn.LET(_xlpm.x,1,_xlpm.x)") is None
    assert KNOWN.fault("SUBTOTAL(9,A:A)") is None
    assert replace(KNOWN, filtered=True).fault('"SUBTOTAL("&SUBTOTAL(9,A:A)') == OF_FILTERED
    assert KNOWN.fault("OUTLET(Two!A1)") == NO_SHEET
    assert KNOWN.fault(with_prefixes("A1:.OFFSET(A1,1,1)")) == TRIMMED
    assert KNOWN.fault(with_prefixes('A1:.A9&".:"')) is None
    assert KNOWN.fault('1+GETPIVOTDATA("Sales",A1)') == OF_PIVOT
    assert KNOWN.fault('"GETPIVOTDATA("') is None
