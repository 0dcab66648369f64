"""The machine: every kind of node, both modes, errors, lambdas and limits.

Expected values are Excel's, from its documentation or by hand over the example cells: A1:A5 10 to 50, B1:B5 fruit,
C1:C5 1 to 5, D1:D5 TRUE, FALSE, blank, text and a number.
"""

from __future__ import annotations

from threading import Thread
from time import monotonic
from typing import Any

import pytest

from core.formula.language.errors import LimitExceeded, SyntaxFault, UnsupportedFunction
from core.formula.language.parser import parse
from core.formula.machine import machine
from core.formula.ranges.environment import CELLS_MAX
from core.formula.values.value import CALC, DIV0, NA, NAME, NULL, NUM, REF, VALUE, Array, Date, Lambda, Reference
from tests.conftest import within
from tests.core.formula.places import Place, area, value
from tests.rows import every

OPERATORS: tuple[tuple[str, Any], ...] = (
    ("=1+2*3", 7.0),
    ("=(1+2)*3", 9.0),
    ("=-2^2", 4.0),  # the sign binds before the power
    ("=0-2^2", -4.0),
    ("=2^3^2", 64.0),  # from left to right
    ("=2^-1", 0.5),
    ("=50%%", 0.005),
    ("=200%^2", 4.0),
    ('="a"&"b"="ab"', True),  # & before =
    ("=1+1&2", "22"),
    ("=10-4-3", 3.0),
    ("=8/4/2", 1.0),
    ("=1<2=TRUE", True),
    ("=0^0", NUM),
    ("=0^-1", DIV0),
    ("=(-8)^(1/3)", -2.0),
    ("=(-2)^3", -8.0),
    ("=1/0", DIV0),
    ("=0/0", DIV0),
    ("=1E308*10", NUM),
    ("=-1E308-1E308", NUM),
    ("=1E-200*1E-200", 0.0),
    ("=2E-308/10", 0.0),  # a subnormal result
    ("=TRUE+TRUE", 2.0),
    ("=D3+1", 1.0),
    ('=D3&"x"', "x"),
    ('="5"*"2"', 10.0),
    ('="abc"+1', VALUE),
    ('=""+1', VALUE),
    ('=--"3"', 3.0),
    ('=+"a"', "a"),
    ('=-"a"', VALUE),
    ("=NA()+1/0", NA),
    ("=1/0+NA()", DIV0),
    ('="abc"+NA()', VALUE),
    ('=1E+19&""', "10000000000000000000"),
    ('=1E+20&""', "1E+20"),
    ("=TRUE&1.50", "TRUE1.5"),
)

SNAPPING: tuple[tuple[str, float], ...] = (
    ("=0.1+0.2-0.3", 0.0),
    ("=0.5-0.4-0.1", 0.0),
    ("=-0.3+0.1+0.2", 0.0),
    ("=(0.5-0.4-0.1)", -2.7755575615628914e-17),  # Excel snaps the last operation of a formula, not a parenthesis
    ("=1*(0.5-0.4-0.1)", -2.7755575615628914e-17),
    ("=1.1-1", 0.10000000000000009),
)

COMPARISONS: tuple[tuple[str, Any], ...] = (
    ("=0.1+0.2=0.3", True),
    ("=1.00000000000001=1", False),
    ("=1.000000000000001=1", True),
    ('=1="1"', False),
    ('="a"="A"', True),
    ('="a">99999', True),
    ('=TRUE>"zzz"', True),
    ("=FALSE>1E300", True),
    ("=D3=0", True),
    ('=D3=""', True),
    ("=D3=FALSE", True),
    ("=D3=Z99", True),
    ("=D3<1", True),
    ('="a-b"<"ab"', True),
    ('="_"<"1"', True),
    ('="Z">"a"', True),
    ("=NA()=1", NA),
    ("=1=NA()", NA),
)

BROADCASTING: tuple[tuple[str, Any], ...] = (
    ("=A1:A3*2", [[20.0], [40.0], [60.0]]),
    ("=A1:A2*C1:D1", [[10.0, 10.0], [20.0, 20.0]]),
    ("=A1:A3+C1:C2", [[11.0], [22.0], [NA]]),
    ("={1,2,3}+{1;2}", [[2.0, 3.0, 4.0], [3.0, 4.0, 5.0]]),
    ('={1,2}&{"a","b","c"}', [["1a", "2b", NA]]),
    ("=-{1,2}", [[-1.0, -2.0]]),
    ("={1,200}%", [[0.01, 2.0]]),
    ("=A1:A3>15", [[False], [True], [True]]),
    ("=ABS({-1,2})", [[1.0, 2.0]]),
    ("=ROUND({1.25;2.35},{0,1})", [[1.0, 1.3], [2.0, 2.4]]),
    ('=ROUND({1.4,"x",TRUE},0)', [[1.0, VALUE, 1.0]]),
    ("=ROUND({1,2},NA())", [[NA, NA]]),
    ("=LEFT(B1:B2,{1,2})", [["a", "ap"], ["b", "ba"]]),
    ("=SUM({1,2;3,4}*{1;2})", 17.0),
    ("=ISERROR(A1:A2/{0;1})", [[True], [False]]),
    ("={5}", 5.0),
    ("=A1:A1", 10.0),
    ("=D3", 0.0),
    ("=D2:D4", [[False], [0.0], ["text"]]),
)

REFERENCES: tuple[tuple[str, Any], ...] = (
    ("=SUM(A1:A2 A2:A3)", 20.0),
    ("=SUM(A1 B1)", NULL),
    ("=SUM((A1,A3,C1))", 41.0),
    ("=SUM((A1:A2,A3) (A2:A3))", 50.0),
    ("=SUM(A3:A1)", 60.0),
    ("=SUM(A1:A2:A4)", 100.0),
    ("=SUM(A1:INDEX(A1:A5,3))", 60.0),
    ("=SUM(A:A)", 150.0),
    ("=SUM(1:1)", 11.0),
    ("=SUM(Other!A1:A3)", 3.0),
    ("=SUM(other!B:B)", 100.0),
    ("=SUM(Sheet1:Last!A1)", 18.0),
    ("=COUNT(Other:Last!A1:A2)", 3.0),
    ("=Sheet1:Last!A1", VALUE),
    ("=(A1,A2)", VALUE),
    ("=SUM(Nowhere!A1)", REF),
    ("=Nowhere!A1", REF),
    ("=SUM(Other:Nowhere!A1)", REF),
    ("=SUM(C1#)", 15.0),
    ("=A1#", REF),
    ("=SUM(Fruit[Price])", 150.0),
    ("=Fruit[@Price]", 10.0),
    ("=SUM(Fruit[Weight])", REF),
    ('=SUM(INDIRECT("A1:A3"))', 60.0),
    ("=SUM(OFFSET(A1,1,0,2,1))", 50.0),
    ("=ROWS(CHOOSE(2,A1:A3,A1:A5))", 5.0),
    ("=ROWS(IF(TRUE,A1:A3,1))", 3.0),
    ("=SUM(IF(FALSE,A1,C1):C3)", 6.0),
    ("=@A1:A5", 10.0),
    ("=@{5,6}", 5.0),
    ("=#REF!+1", REF),
    ("=unknown", NAME),
    ("=AREAS((A1,B1:B2))", 2.0),
)

FORMS: tuple[tuple[str, Any], ...] = (
    ('=IF(A1>5,"y",1/0)', "y"),
    ("=IF(A1<5,1/0)", False),
    ("=IF(TRUE,,2)", 0.0),
    ("=IF(NA(),1,2)", NA),
    ('=IF("true",1,2)', 1.0),
    ('=IF("x",1,2)', VALUE),
    ("=IF(D3,1,2)", 2.0),
    ('=IF(A1:A3>15,"b","s")', [["s"], ["b"], ["b"]]),
    ("=IF({TRUE;FALSE},A1:C1,0)", [[10.0, "apple", 1.0], [0.0, 0.0, 0.0]]),
    ("=IF({TRUE,FALSE},{1,2,3},9)", [[1.0, 9.0, NA]]),
    ("=IFS(FALSE,1,FALSE,2)", NA),
    ("=IFS(A1=1,1/0,TRUE,2)", 2.0),
    ("=IFS({TRUE,FALSE},1,{FALSE,TRUE},2)", [[1.0, 2.0]]),
    ("=CHOOSE(0,1)", VALUE),
    ("=CHOOSE(3,1,2)", VALUE),
    ("=CHOOSE(1.9,5,1/0)", 5.0),
    ("=CHOOSE({1,2},A1:A2,C1:C2)", [[10.0, 1.0], [20.0, 2.0]]),
    ("=SWITCH(5,1,2)", NA),
    ('=SWITCH("B","a",1,"b",2)', 2.0),
    ("=SWITCH(NA(),1,2,3)", NA),
    ('=SWITCH({10;20;30},10,"a",20,"b","c")', [["a"], ["b"], ["c"]]),
    ("=IFERROR(1/{0,1},9)", [[9.0, 1.0]]),
    ("=IFERROR(NA(),1/0)", DIV0),
    ("=IFNA(1/0,9)", DIV0),
    ("=IFNA({1,#N/A},9)", [[1.0, 9.0]]),
    ("=AND(D1:D4)", False),
    ("=AND(D4)", VALUE),
    ('=AND("true",1)', True),
    ('=AND("x")', VALUE),
    ("=AND(FALSE,NA())", NA),
    ("=AND(TRUE,)", False),
    ("=OR(D4,D1)", True),
    ("=XOR(TRUE,TRUE,TRUE)", True),
    ("=NOT({TRUE,0})", [[False, True]]),
)

LAMBDAS: tuple[tuple[str, Any], ...] = (
    ("=LET(x,2,y,x*3,x+y)", 8.0),
    ("=LET(X,1,x+1)", 2.0),
    ("=LET(x,1,LET(x,2,x)+x)", 3.0),
    ("=LET(x,A1:A3,SUM(x)+ROWS(x))", 63.0),
    ("=LET(f,LAMBDA(a,b,a*b),f(3,4))", 12.0),
    ("=LET(x,1,f,LAMBDA(y,x+y),LET(x,100,f(2)))", 3.0),  # a closure keeps the names around it
    ("=LET(add,LAMBDA(a,LAMBDA(b,a+b)),add(1)(2))", 3.0),
    ("=LAMBDA(x,x+1)", CALC),
    ("=LAMBDA(x,x+1)(1,2)", VALUE),
    ("=LAMBDA(x,y,x)(1)", VALUE),
    ("=LAMBDA(x,[y],IF(ISOMITTED(y),x,y))(1)", 1.0),
    ("=LAMBDA(x,[y],IF(ISOMITTED(y),x,y))(1,2)", 2.0),
    ("=LAMBDA(x,[y],x&y)(1,)", "1"),
    ("=MAP(A1:A2,C1:C2,LAMBDA(x,y,x*y))", [[10.0], [40.0]]),
    ("=MAP({1,2},{1,2,3},LAMBDA(x,y,x+y))", [[2.0, 4.0, NA]]),
    ("=MAP({1,2},LAMBDA(x,SEQUENCE(2)))", [[CALC, CALC]]),
    ("=MAP(A1:A2,LAMBDA(x,ROWS(x)+ROW(x)))", [[2.0], [3.0]]),  # the elements of a range are references
    ("=REDUCE(,A1:A3,LAMBDA(a,b,a+b))", 60.0),
    ('=REDUCE("",B1:B3,LAMBDA(a,b,a&LEFT(b)))', "abc"),
    ("=REDUCE(0,{1,2},LAMBDA(a,b,VSTACK(a,b)))", [[0.0], [1.0], [2.0]]),
    ("=SCAN(1,{2;3;4},LAMBDA(a,b,a*b))", [[2.0], [6.0], [24.0]]),
    ("=SCAN(,{2,3},LAMBDA(a,b,a*b))", [[2.0, 6.0]]),
    ("=BYROW(A1:C2,LAMBDA(r,SUM(r)))", [[11.0], [22.0]]),
    ("=BYCOL(A1:C2,SUM)", [[30.0, 0.0, 3.0]]),
    ("=BYROW({1,2;3,4},LAMBDA(r,r))", [[CALC], [CALC]]),
    ("=MAKEARRAY(0,1,LAMBDA(r,c,1))", VALUE),
    ("=MAKEARRAY(1,2,LAMBDA(r,c,r&c))", [["11", "12"]]),
    ("=SUM(MAP({1,2,3},LAMBDA(x,IF(x=2,0,x))))", 4.0),
    ("=LET(g,LAMBDA(s,n,IF(n<=1,1,n*s(s,n-1))),g(g,10))", 3628800.0),
    ("=LET(fib,LAMBDA(s,n,IF(n<2,n,s(s,n-1)+s(s,n-2))),fib(fib,15))", 610.0),
    ("=HSTACK(SUM,1)", [[CALC, 1.0]]),
    ("=SUM(LAMBDA(x,x))", VALUE),
)

PLAIN: tuple[tuple[str, Any], ...] = (
    # In E3 of a file from before dynamic arrays: row 3 of what stands beside.
    ("=A1:A5", 30.0),
    ("=A1:A5*2", 60.0),
    ("=SUM(A1:A5*2)", 60.0),
    ("=SUMPRODUCT(A1:A5*2)", 300.0),
    ("=SUM({1,2,3}*2)", 12.0),
    ("={1,2,3}", 1.0),
    ("=A1:C1", VALUE),
    ("=A1:C3", VALUE),
    ("=A8:A9", VALUE),
    ("=INDEX(A1:A5,0)", 30.0),
    ("=OFFSET(A1,0,0,5,1)", 30.0),
    ("=ABS(A1:A5)", 30.0),
    ('=IF(A1:A5>20,"x","y")', "x"),
    ("=SUM(IF(A1:A5>20,A1:A5))", 150.0),
    ("=SUM(ROW(A1:A5))", 1.0),
    ("=SUMPRODUCT(ROW(A1:A5))", 15.0),
    ("=COUNTIF(A1:A5,A1:A5)", 1.0),
    ('=SUM(COUNTIF(B1:B5,{"apple","date"}))', 3.0),
    ("=SUM(LEN(B1:B5))", 6.0),
    ("=MATCH(1,(A1:A5=20)*1,0)", NA),
    ("=TRANSPOSE(A1:A5)", 10.0),
    ("=here", 30.0),
    ("=here+1", 31.0),
    ("=SUM(here)", 150.0),
    ("=CHOOSE(1,A1:A5)+0", 30.0),
    ("=SUMPRODUCT(SUBTOTAL(9,OFFSET(A1,ROW(A1:A3)-1,0)))", 60.0),
)

DATES: tuple[tuple[str, Any], ...] = (
    ("=DATE(2020,1,1)+1", Date(43832)),
    ("=1+DATE(2020,1,1)", Date(43832)),
    ("=DATE(2020,1,2)-1", Date(43831)),
    ("=IF(TRUE,DATE(2020,1,1))", Date(43831)),
    ("=CHOOSE(1,DATE(2020,1,1))", Date(43831)),
    ("=MAX(DATE(2020,1,1),1)", Date(43831)),
    ("=IFERROR(DATE(2020,1,1),0)", Date(43831)),
    ("=INDEX(VSTACK(DATE(2020,1,1),5),1)", Date(43831)),
    ("=DATE(2020,1,2)-DATE(2020,1,1)", 1.0),
    ("=DATE(2020,1,1)*1", 43831.0),
    ("=-DATE(2020,1,1)", -43831.0),
    ("=MAX(DATE(2020,1,1),50000)", 50000.0),
)


# A function that gives references, lifted, and functions that take them: each is answered for.
SEVERAL_REFERENCES: tuple[tuple[str, Any], ...] = (
    ("=MAX(SUBTOTAL(9,OFFSET(A1,{0;2},0,2,1)))", 70.0),
    ('=SUM(SUMIF(OFFSET(A1,{0,1,2},0,3,1),">20"))', 220.0),
    ('=SUM(COUNTIF(INDIRECT({"Sheet1","Other"}&"!A1:A5"),">1"))', 6.0),
    ('=SUM(SUMIFS(INDIRECT({"Sheet1","Other"}&"!A1:A2"),INDIRECT({"Sheet1","Other"}&"!A1:A2"),">1"))', 32.0),
    ('=SUM(IFERROR(COUNTIF(INDIRECT({"Other","Nowhere"}&"!A1:A2"),">0"),5))', 7.0),
    ("=SUM(COUNTBLANK(OFFSET(D1,{0,2},0,2,1)))", 1.0),
    ("=SUM(N(OFFSET(A1,{0,1},0)))", 30.0),
    ("=SUM(OFFSET(OFFSET(A1,{0,1},0),1,0))", 50.0),
)


@every(
    "text, expected",
    SEVERAL_REFERENCES + OPERATORS + SNAPPING + COMPARISONS + BROADCASTING + REFERENCES + FORMS + LAMBDAS,
)
def test_values(text: str, expected: Any) -> None:
    result = value(text)
    assert result == expected
    assert type(result) is type(expected)


@every("text, expected", PLAIN)
def test_plain_formulas_cut_references_with_their_own_row(text: str, expected: Any) -> None:
    assert value(text, arrays=False, at="E3", names={"here": "=Sheet1!$A$1:$A$5"}) == expected


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_dates_stay_dates(text: str, expected: Any) -> None:
    result = value(text)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(("text", "expected"), SEVERAL_REFERENCES)
def test_traced_formulas_read_several_references_too(text: str, expected: Any) -> None:
    record: list[tuple[int, int, Any]] = []
    result = machine.compile(parse(text), text=text, trace=record).run(Place())
    assert result == expected
    cells = [cell for _, _, step in record if isinstance(step, Array) for cell in step.cells()]
    assert cells
    assert not any(isinstance(cell, Reference) for cell in cells)


def test_a_number_that_has_no_answer_is_num() -> None:
    assert value("=IMPOWER(-1,1E308)") is NUM


def test_arguments_left_to_right() -> None:
    """The first error wins, and in a plain formula nothing behind it is evaluated."""
    assert value("=ROUND(1/0,NA())") is DIV0
    assert value('=MID("abc","x",1/0)') is VALUE


def test_a_branch_that_is_not_taken_is_not_evaluated() -> None:
    calls: list[int] = []

    class Counting(Place):
        def random(self) -> float:
            calls.append(1)
            return 0.5

    for text in (
        "=IF(TRUE,1,RAND())",
        "=IF(FALSE,RAND())",
        "=CHOOSE(2,RAND(),1)",
        "=IFS(TRUE,1,RAND(),2)",
        "=IFERROR(1,RAND())",
        "=SWITCH(1,1,1,RAND(),2)",
        "=IF({TRUE,TRUE},1,RAND())",
    ):
        value(text, place=Counting())
    assert calls == []


def test_defined_names() -> None:
    names = {
        "rate": "=0.5",
        "column": "=Sheet1!$A$1:$A$3",
        "twice": "=LAMBDA(x,x*2)",
        "fact": "=LAMBDA(n,IF(n<2,1,n*fact(n-1)))",
    }
    assert value("=SUM(column)*Rate", names=names) == 30.0
    assert value("=twice(4)", names=names) == 8.0
    assert value("=fact(5)", names=names) == 120.0
    assert value("=MAP({1,2},twice)", names=names) == [[2.0, 4.0]]
    assert value("=ROUND(rate(10,-10,80),4)", names=names) == 0.0428  # a call of RATE, whatever the name holds
    assert value("=nothing(1)", names=names) is NAME


def test_refer_gives_the_reference() -> None:
    place = Place()
    assert machine.compile(parse("=A1:B2")).refer(place) == area("A1:B2")
    assert machine.compile(parse("=INDEX(A1:B2,2,2)")).refer(place) == area("B2")
    assert isinstance(machine.compile(parse("=LAMBDA(x,x)")).refer(place), Lambda)
    assert machine.compile(parse("=1+1")).refer(place) == 2.0


def test_one_program_at_many_cells() -> None:
    """References are relative: the program of =A1*$C$2 in Z1 reads A5 in Z5."""
    program = machine.compile(parse("=A1*$C$2", 0, 25))
    place = Place()
    place.column = 25
    for row in range(5):
        place.row = row
        assert program.run(place) == 10.0 * (row + 1) * 2
    place.row, place.column = 0, 24
    assert program.run(place) is REF  # a column to the left of A


def test_what_a_program_tells() -> None:
    text = "=SUM(A1,RAND())+ABS(SUM(B1))+FOO(1)"
    program = machine.compile(parse(text), unknown_as_name=True)
    assert program.functions == ("SUM", "RAND", "ABS")
    assert program.volatile
    assert program.unknown == (("FOO", text.index("FOO")),)
    assert not machine.compile(parse("=A1")).volatile


def test_trace_notes_every_step() -> None:
    steps: list[tuple[int, int, Any]] = []
    text = "=IF(A1>5,A2*2,1/0)"
    assert machine.compile(parse(text), text=text, trace=steps).run(Place()) == 40.0
    assert [(text[start:end], result) for start, end, result in steps] == [
        ("A1", 10.0),
        ("A1>5", True),
        ("A2", 20.0),
        ("A2*2", 40.0),
        (text[1:], 40.0),
    ]


# Refusals.


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("=1+ABS()", 3),
        ("=ABS(1,2)", 1),
        ("=PI(1)", 1),
        ("=IF(1)", 1),
        ("=IF(1,2,3,4)", 1),
        ("=LET(x,1)", 1),
        ("=LET(1,2,3)", 5),
        ("=LET(x,1,x,2,x)", 9),
        ("=LAMBDA(1,2)(3)", 8),
        ("=LAMBDA(x,x,x)(1,2)", None),
        ("=IFS(1,2,3)", 1),
        ("=SUMIFS(A1:A3,B1:B3)", 1),
        ("=SWITCH(1,2)", 1),
        ("=CHOOSE(1)", 1),
    ],
)
def test_wrong_arguments_are_refused_when_compiling(text: str, position: int | None) -> None:
    with pytest.raises(SyntaxFault) as fault:
        machine.compile(parse(text))
    assert position is None or fault.value.position == position


def test_unknown_functions_are_named_with_a_suggestion() -> None:
    with pytest.raises(UnsupportedFunction) as refusal:
        machine.compile(parse("=1+SUMM(A1)"))
    assert refusal.value.name == "SUMM"
    assert refusal.value.position == 3
    assert "did you mean SUM?" in refusal.value.suggestions
    with pytest.raises(UnsupportedFunction):
        machine.compile(parse('=IFERROR(WEBSERVICE("http://x"),1)'))


# Limits.


def test_runaway_recursion_is_num() -> None:
    assert value("=LET(f,LAMBDA(s,n,s(s,n+1)),f(f,1))") is NUM
    assert value("=LET(f,LAMBDA(s,n,1+ABS(MAX(s(s,n+1)))),f(f,1))") is NUM


def test_deep_recursion_works_in_threads_too() -> None:
    """A thousand calls in one another, in a thread with a stack of its own."""
    text = "=LET(sum,LAMBDA(s,n,IF(n=0,0,n+s(s,n-1))),sum(sum,1000))"
    result: list[Any] = []
    thread = Thread(target=lambda: result.append((value(text), value("=LET(f,LAMBDA(s,n,s(s,n+1)),f(f,1))"))))
    thread.start()
    thread.join()
    assert result == [(500500.0, NUM)]


def test_exponential_recursion_ends_with_the_deadline() -> None:
    place = Place()
    place.deadline = monotonic() + 0.3
    with within(3), pytest.raises(LimitExceeded):
        value("=LET(f,LAMBDA(s,n,IF(n=0,1,s(s,n-1)+s(s,n-1))),f(f,60))", place=place)


def test_after_a_limit_the_place_works_on() -> None:
    place = Place()
    assert value("=LET(f,LAMBDA(s,n,s(s,n+1)),f(f,1))", place=place) is NUM
    assert place.depth == 0
    assert value("=LAMBDA(x,x)(1)", place=place) == 1.0


@pytest.mark.parametrize(
    "text", ["=SEQUENCE(1E6,1E6)", "=SEQUENCE(5000)+SEQUENCE(1,6000)", "=MAKEARRAY(1E5,1E5,LAMBDA(r,c,1))"]
)
def test_arrays_past_the_limit_are_refused(text: str) -> None:
    with pytest.raises(LimitExceeded, match=f"{CELLS_MAX:,}"):
        value(text)


def test_texts_past_the_limit_are_value() -> None:
    assert value('=REPT("ab",16384)&""') is VALUE
    assert value('=LEN(REPT("a",32767))') == 32767.0
    assert value('=REPT("a",32767)&"b"') is VALUE


def test_a_long_chain_of_operators() -> None:
    assert value("=" + "+".join(["1"] * 500)) == 500.0


def test_slots_are_read_by_place() -> None:
    program = machine.compile(parse("=SUM(A1:B2)+A1*rate"), slots=True)
    names = [slot if isinstance(slot, str) else (slot.row, slot.column) for slot in program.slots]
    assert names == [(0, 0), (0, 1), (1, 0), (1, 1), "rate"]
    assert program.needs == ((0, 1, 2, 3), 0, 4)
    place = Place()
    place.slots = [1.0, 2.0, 3.0, 4.0, 0.5]
    assert program.run(place) == 10.5


def test_array_values_keep_their_shape() -> None:
    result = machine.compile(parse("=A1:B2")).run(Place())
    assert isinstance(result, Array)
    assert (result.rows, result.columns) == (2, 2)
    assert result.reference == area("A1:B2")
