"""The normal form of formulas.

What programs write differently has one, what means something else has another.
"""

from __future__ import annotations

import numpy as np

from core.files.write import Formula
from core.formula.language import parse
from core.grid.column import Text
from core.grid.sheet import Formulas
from core.provenance.formulas import definition_form, forms_of, normal_form
from tests.core.provenance.exported import book_of
from tests.rows import every

FORMS = [
    ("B4+$C$2", "+(r[-1]c[1],r2c3)"),
    (" sum( b4 : B9 ) ", "sum(r[-1]c[1]:r[4]c[1])"),
    ("B4:B4", "r[-1]c[1]"),
    ("SUM(B:$C)+SUM(5:$6)", "+(sum(c[1]:c3),sum(r[0]:r6))"),
    ("Data!$A1", "'data'!r[-4]c1"),
    ("'It''s'!A5", "'it''s'!r[0]c[0]"),
    ("Jan:Mar!A5", "'jan:mar'!r[0]c[0]"),
    ("[1]x!A5", "'[1]x'!r[0]c[0]"),
    ("Rate*S!Rate*T!Rate", "*(*(rate,rate),'t'!rate)"),
    ("TRUE", "true()"),
    ("IF(TRUE,,FALSE())", "if(true(),,false())"),
    ("1.50+1E5+.1+0.30000000000000004", "+(+(+(1.5,100000),0.1),0.3)"),
    ("1E300*12345678901234567890", "*(1e+300,1.23456789012346e+19)"),
    ('"Ab ""c"""&"~"', '&("Ab ""c""","~")'),
    ("-A5^2%", "^(-(r[0]c[0]),%(2))"),
    ("(1+2)*3", "*(+(1,2),3)"),
    ("((1+(2*3)))", "+(1,*(2,3))"),
    ("#N/A", "#N/A"),
    ("#getting_data", "#GETTING_DATA"),
    ("{1,2;TRUE,\"x\"}", "{1,2;true(),\"x\"}"),
    ("SUM((A5,B5))", "sum(,(r[0]c[0],r[0]c[1]))"),
    ("SUM((A5~B5))", "sum(,(r[0]c[0],r[0]c[1]))"),
    ('SUM((A5~B5))&"~"', '&(sum(,(r[0]c[0],r[0]c[1])),"~")'),
    ("A5:B9 B5:C9", " (r[0]c[0]:r[4]c[1],r[0]c[1]:r[4]c[2])"),
    ("_xlfn.XLOOKUP(1,A:A,B:B)", "xlookup(1,c[0]:c[0],c[1]:c[1])"),
    ("_xlfn._xlws.SORT(A5#)", "sort(#(r[0]c[0]))"),
    ("_xlfn.LET(_xlpm.x,1,_xlpm.x+1)", "let(x,1,+(x,1))"),
    ("_xlfn.LAMBDA(_xlpm.x,_xlpm.x)(2)", "()(lambda(x,x),2)"),
    ("_xlfn.SINGLE(A5)", "@(r[0]c[0])"),
    ("Loans[[#This Row],[Par Value]]", "loans[#this row;par value:par value]"),
    ("SUM(Loans[[#All],[Id]:[Par]])", "sum(loans[#all;id:par])"),
    ("unknown.fn(A5)", "unknown.fn(r[0]c[0])"),
    ("A5+ +", "?a5++"),
    ("#REF!+1", "+(#REF!,1)"),
]  # fmt: skip
"""Formulas in A5 of the sheet S, as a file has them."""


@every("text, form", FORMS)
def test_a_formula_has_its_normal_form(text: str, form: str) -> None:
    data, item = text.encode(), np.zeros(1, np.int32)
    written = Text(np.array([0, len(data)]), np.frombuffer(data, np.uint8))
    _, result = forms_of(Formulas(item + 4, item, item, item, written, {}), "S").texts
    assert result.tobytes().decode() == form


SAME_NOT = [("A1+B1", "A1-B1"), ("A1", "$A1"), ('"a"', '"A"'), ("SUM(A1:A2)", "SUM(A1:A3)"), ("a(1,)", "a(1)"),
            ("1", '"1"'), ("S!A1", "T!A1"), ("T!x", "U!x"), ("-2", "+2"), ("(A1,B1)", "A1:B1")]  # fmt: skip


@every("first, second", SAME_NOT)
def test_what_means_something_else_has_another(first: str, second: str) -> None:
    assert normal_form(parse("=" + first, 4, 0), "S") != normal_form(parse("=" + second, 4, 0), "S")


def test_a_formula_that_was_filled_is_read_once() -> None:
    book = book_of({"S": {f"B{row}": Formula(f"A{row}*$C$1", 1.0) for row in range(1, 50)}})
    forms = forms_of(book.sheets[0].formulas, "S")
    assert len(forms.trees) == 1
    assert set(forms.codes.tolist()) == {0}


def test_names_are_read_as_they_stand_in_a1() -> None:
    assert definition_form("Data!$B$2*2") == "*('data'!r2c2,2)"
    assert definition_form("Data!A1 + B2") == "+('data'!r[0]c[0],r[1]c[1])"
    assert definition_form("no formula (") == "?noformula("
