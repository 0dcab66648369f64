"""The parser reads Excel's grammar, refuses the rest with a place, and what it read can be written again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.formula.language.errors import FormulaError, SyntaxFault
from core.formula.language.parser import (
    ARGUMENTS_MAX,
    CHARACTERS_MAX,
    DEPTH_MAX,
    NESTING_MAX,
    functions,
    parse,
    references,
    render,
)
from core.formula.language.tree import Binary, Call, Node
from core.formula.suggest import parse_or_suggest
from tests.core.formula.trees import FORMULAS, SOUP, text_of
from tests.rows import every

TREES = (
    # precedence and grouping
    ("=1+2*3", "(1.0 + (2.0 * 3.0))"),
    ("=1-2-3", "((1.0 - 2.0) - 3.0)"),
    ("=2^3^2", "((2.0 ^ 3.0) ^ 2.0)"),
    ("=-2^2", "((- 2.0) ^ 2.0)"),
    ("=2^-1", "(2.0 ^ (- 1.0))"),
    ("=-2^2%", "((- 2.0) ^ (% 2.0))"),
    ("=-5%", "(% (- 5.0))"),
    ("=5%%", "(% (% 5.0))"),
    ("=--1", "(- (- 1.0))"),
    ("=+1", "(+ 1.0)"),
    ("=1&2+3=4", "((1.0 & (2.0 + 3.0)) = 4.0)"),
    ("=1<2=3>4", "(((1.0 < 2.0) = 3.0) > 4.0)"),
    ("=1<>2", "(1.0 <> 2.0)"),
    ("=1<=2", "(1.0 <= 2.0)"),
    ("=1>=2", "(1.0 >= 2.0)"),
    ("=(1+2)*3", "((1.0 + 2.0) * 3.0)"),
    # constants
    ("=1.", "1.0"),
    ("=.5", "0.5"),
    ("=1E+3", "1000.0"),
    ("=1e-2", "0.01"),
    ("=12345678901234567", "1.2345678901234568e+16"),
    ("=TRUE", "True"),
    ("=false", "False"),
    ('="a""b"', "'a\"b'"),
    ('=""', "''"),
    ("=#N/A", "#N/A"),
    ("=#div/0!", "#DIV/0!"),
    ("=#SPILL!", "#SPILL!"),
    ("=#CALC!", "#CALC!"),
    ('={1,-2;"a",TRUE;#N/A,1E+3}', "((1.0, -2.0), ('a', True), (#N/A, 1000.0))"),
    ("={ 1 , 2 }", "((1.0, 2.0),)"),
    # cells, measured from B2
    ("=A1", "r-1c-1"),
    ("=$A1", "r-1c0$"),
    ("=A$1", "r0$c-1"),
    ("=$xfd$1048576", "r1048575$c16383$"),
    ("=A1:C3", "[r-1c-1 to r+1c+1]"),
    ("=A1 : C3", "[r-1c-1 to r+1c+1]"),
    ("=A:C", "columns [r0$c-1 to r1048575$c+1]"),
    ("=$A:$C", "columns [r0$c0$ to r1048575$c2$]"),
    ("=1:3", "rows [r-1c0$ to r+1c16383$]"),
    ("=$1:$3", "rows [r0$c0$ to r2$c16383$]"),
    ("=A1:B2:C3", "([r-1c-1 to r+0c+0] : r+1c+1)"),
    ("=(A1):B2", "(r-1c-1 : r+0c+0)"),
    ("=A1#", "spill(r-1c-1)"),
    ("=@A1:A3", "(@ [r-1c-1 to r+1c-1])"),
    # sheets
    ("=Sheet1!A1", "Sheet1!r-1c-1"),
    ("='It''s'!A1", "It's!r-1c-1"),
    ("=Sheet1!A1:B2", "Sheet1![r-1c-1 to r+0c+0]"),
    ("=Sheet1!A1:Sheet1!B2", "Sheet1![r-1c-1 to r+0c+0]"),
    ("=Sheet1!A1:Sheet2!B2", "(Sheet1!r-1c-1 : Sheet2!r+0c+0)"),
    ("=Sheet1!A:A", "Sheet1!columns [r0$c-1 to r1048575$c-1]"),
    ("=Sheet1!2:2", "Sheet1!rows [r+0c0$ to r+0c16383$]"),
    ("=Sheet1:Sheet3!A1", "Sheet1:Sheet3!r-1c-1"),
    ("='a:b c'!A1:B2", "a:b c![r-1c-1 to r+0c+0]"),
    ("=A:B!A1", "A:B!r-1c-1"),
    ("=A1!B2", "A1!r+0c+0"),
    ("=[1]Sheet1!A1", "[1]Sheet1!r-1c-1"),
    ("=[1]Sheet1:Sheet3!A1", "[1]Sheet1:Sheet3!r-1c-1"),
    ("='[Book.xlsx]Sheet 1'!A1", "[Book.xlsx]Sheet 1!r-1c-1"),
    (r"='C:\x\[b.xlsx]S'!A1", r"C:\x\[b.xlsx]S!r-1c-1"),
    ("=[1]!Rate", "[1]!name Rate"),
    ("=Sheet1!#REF!", "#REF!"),
    ("=#REF!A1", "#REF!"),
    # names
    ("=Rate", "name Rate"),
    ("=Sheet1!Rate", "Sheet1!name Rate"),
    ("=\\x.y_z?", "name \\x.y_z?"),
    ("=größe", "name größe"),
    ("=年度", "name 年度"),
    ("=XFE1", "name XFE1"),
    ("=A1048577", "name A1048577"),
    ("=A1B", "name A1B"),
    ("=LOG10", "r+8c+8507"),
    ("=LOG10(1)", "LOG10(1.0)"),
    ("=TRUE()", "TRUE()"),
    # joining references
    ("=A1:A3 B1:B3", "([r-1c-1 to r+1c-1]   [r-1c+0 to r+1c+0])"),
    ("=A1,B1", "(r-1c-1 , r-1c+0)"),
    ("=SUM((A1,B1),1)", "SUM((r-1c-1 , r-1c+0), 1.0)"),
    ("=A1:INDEX(B1:B3,2)", "(r-1c-1 : INDEX([r-1c+0 to r+1c+0], 2.0))"),
    ("=OFFSET(A1,1,1):B2", "(OFFSET(r-1c-1, 1.0, 1.0) : r+0c+0)"),
    ("=A1 (B1)", "(r-1c-1   r-1c+0)"),
    # tables
    ("=T1[Col]", "table(T1||Col|Col)"),
    ("=T[[#Headers],[Col]]", "table(T|#Headers|Col|Col)"),
    ("=T[[#headers],[#Data],[a]:[b c]]", "table(T|#Headers,#Data|a|b c)"),
    ("=T[ [#Totals] , [a] ]", "table(T|#Totals|a|a)"),
    ("=T[[a]:[b]]", "table(T||a|b)"),
    ("=T[]", "table(T||None|None)"),
    ("=[#All]", "table(None|#All|None|None)"),
    ("=[@Col]", "table(None|#This Row|Col|Col)"),
    ("=[@[a b]]", "table(None|#This Row|a b|a b)"),
    ("=[@[a]:[b]]", "table(None|#This Row|a|b)"),
    ("=[[#This Row],[a]:[b]]", "table(None|#This Row|a|b)"),
    ("=T[@]", "table(T|#This Row|None|None)"),
    ("=T[a'[1']'#'@'']", "table(T||a[1]#@'|a[1]#@')"),
    # calls
    ("=F()", "F()"),
    ("=F( )", "F()"),
    ("=F(,)", "F(_, _)"),
    ("=F(1,,2)", "F(1.0, _, 2.0)"),
    ("=sum (A1)", "SUM(r-1c-1)"),
    ("= \n SUM(\r\n 1 ,\t2 ) ", "SUM(1.0, 2.0)"),
    ("=_xlfn.STDEV.S(1)", "STDEV.S(1.0)"),
    ("=_xlfn._xlws.SORT(A1)", "SORT(r-1c-1)"),
    ("=_xlfn.SINGLE(A1:A3)", "(@ [r-1c-1 to r+1c-1])"),
    ("=_xlfn.ANCHORARRAY(A1)", "spill(r-1c-1)"),
    ("=_xlfn.LET(_xlpm.x,1,_xlpm.x)", "LET(name x, 1.0, name x)"),
    ("=LAMBDA(x,x)(1)", "LAMBDA(name x, name x)<1.0>"),
    ("=LAMBDA(x,LAMBDA(y,x))(1)(2)", "LAMBDA(name x, LAMBDA(name y, name x))<1.0><2.0>"),
    ("=_xlfn.LAMBDA(_xlop.y,_xlpm.y)", "LAMBDA(table(None||y|y), name y)"),
    ("=[1]!Macro(1)", "[1]!MACRO(1.0)"),
)


@every("text, expected", TREES)
def test_a_formula_has_its_tree(text: str, expected: str) -> None:
    assert text_of(parse(text, 1, 1)) == expected


FAULTS = (
    ("", 0, "begins with '='"),
    ("A1", 0, "begins with '='"),
    ("=", 1, "the formula ends"),
    ("=1+", 3, "the formula ends"),
    ("=1+*2", 3, "a value is expected before '*'"),
    ("=SUM(A1", 7, "unclosed parenthesis opened at 4"),
    ("=IF(A1,(B1", 10, "unclosed parenthesis opened at 7"),
    ("=A1)", 3, "never opened"),
    ("=SUM(1;2)", 6, "not by ';'"),
    ("=1 2", 3, "an operator is missing before '2'"),
    ('=A1"x"', 3, "an operator is missing"),
    ("=(1,2)", 3, "between references only"),
    ("=1:2:3", 4, "between references only"),
    ("=#FOO!", 1, "no error value"),
    ('="abc', 5, "unclosed text opened at 1"),
    ("='abc", 5, "unclosed sheet name opened at 1"),
    ("='abc'", 6, "'!' is expected"),
    ("=Sheet1!", 8, "a cell or a name is expected after '!'"),
    ("=Sheet1:Sheet2!Rate", 15, "followed by cells"),
    ("=T[a", 4, "unclosed bracket opened at 2"),
    ("=T[[a],[b]]", 8, "union"),
    ("=T[#Foo]", 3, "no part of a table"),
    ("={1,2", 5, "unclosed array opened at 1"),
    ("={1;2,3}", 7, "equally long"),
    ("={A1}", 2, "constants"),
    ("={1 :3}", 4, "constants"),
    ("={}", 2, "a value is expected"),
    ("=$", 1, "after '$'"),
    ("=A$", 2, "an operator is missing"),
    ("=1E999", 1, "larger than"),
    ("=“a”", 1, "means nothing"),
    ("=" + "(" * (NESTING_MAX + 1) + "1" + ")" * (NESTING_MAX + 1), NESTING_MAX + 1, "nested deeper"),
    ("=F(" + "1," * ARGUMENTS_MAX + "1)", 3 + 2 * ARGUMENTS_MAX, "arguments"),
    ("=" + "-" * 65 + "1", 65, "signs in a row"),
    ("=" + "1" * CHARACTERS_MAX, CHARACTERS_MAX, "characters"),
)


@every("text, position, message", FAULTS)
def test_a_fault_has_its_place_and_a_reason(text: str, position: int, message: str) -> None:
    with pytest.raises(SyntaxFault) as caught:
        parse(text)
    assert caught.value.position == position
    assert message in caught.value.message


def test_what_is_just_inside_the_limits_is_read() -> None:
    assert text_of(parse("=" + "(" * NESTING_MAX + "1" + ")" * NESTING_MAX)) == "1.0"
    call = parse("=F(" + "1," * (ARGUMENTS_MAX - 1) + "1)")
    assert isinstance(call, Call)
    assert len(call.arguments) == ARGUMENTS_MAX
    parse('="' + "a" * (CHARACTERS_MAX - 3) + '"')


def test_a_chain_is_as_long_as_a_recursive_walk_can_bear() -> None:
    tree = parse("=1" + "+1" * (DEPTH_MAX - 1))
    assert text_of(tree).count("+") == DEPTH_MAX - 1
    with pytest.raises(SyntaxFault, match="in one chain"):
        parse("=1" + "+1" * DEPTH_MAX)
    with pytest.raises(SyntaxFault, match="in one chain"):
        parse("=1" + "%" * DEPTH_MAX)


def test_nodes_know_their_place() -> None:
    text = "=1 + SUM( A1:B2 , (2) )*x"
    tree = parse(text)
    assert isinstance(tree, Binary)
    product = tree.right
    assert isinstance(product, Binary)
    call = product.left
    assert isinstance(call, Call)
    spans = [text[node.start : node.end] for node in (tree, tree.left, product, call, *call.arguments)]
    assert spans == ["1 + SUM( A1:B2 , (2) )*x", "1", "SUM( A1:B2 , (2) )*x", "SUM( A1:B2 , (2) )", "A1:B2", "2"]


RENDERED = (
    ("=(1+2)*3", "=(1+2)*3"),
    ("=1+(2*3)", "=1+2*3"),
    ("=1-(2-3)", "=1-(2-3)"),
    ("=-(2^2)", "=-(2^2)"),
    ("=(-2)^2", "=-2^2"),
    ("=-(5%)", "=-(5%)"),
    ("= sum( 1 , TRUE ) ", "=SUM(1,TRUE)"),
    ("=A1,B1", "=(A1,B1)"),
    ("='My sheet'!A1", "='My sheet'!A1"),
    ("='Sheet1'!A1", "=Sheet1!A1"),
    ("='A1'!A1", "='A1'!A1"),
    ("='R1C1'!A1", "='R1C1'!A1"),
    ("=1E+20+0.1", "=1E+20+0.1"),
    ("=_xlfn.SINGLE(A1)+_xlfn.ANCHORARRAY(A1)", "=@A1+A1#"),
    ("=(x):(y)", "=(x):(y)"),
    ("=(A1):B2", "=(A1):B2"),
    ("=(x)(1)", "=(x)(1)"),
    ("=[[#This Row],[a b]]", "=[@[a b]]"),
    ("=T[ a]", "=T[[ a]]"),
    ("=sum(A1:.a5)", "=SUM(A1:.A5)"),
    ("=$A$1.:Sheet1!B2", "=TRIMRANGE(($A$1):Sheet1!B2,1,1)"),
    ("=Sheet1!A.:.C", "=Sheet1!A.:.C"),
    ("='My sheet'!$1:.3", "='My sheet'!$1:.3"),
    ("=_xlfn._TRO_LEADING(A1:A5)+_xlfn._TRO_TRAILING(A:A)+_xlfn._TRO_ALL(1:1)", "=A1.:A5+A:.A+1.:.1"),
    ("=TRIMRANGE(A1:A5,2,2)", "=A1:.A5"),
    ("=TRIMRANGE(A1:A5,2,1)", "=TRIMRANGE(A1:A5,2,1)"),
    ("=TRIMRANGE(A1:A5)", "=TRIMRANGE(A1:A5)"),
    ("=rate.:.A3", "=TRIMRANGE((rate):A3,3,3)"),
    ("=A1 .: A5", "=A1.:A5"),
)


@pytest.mark.parametrize(("text", "expected"), RENDERED)
def test_a_tree_is_written_with_the_parentheses_that_it_needs(text: str, expected: str) -> None:
    assert render(parse(text)) == expected
    assert text_of(parse(expected)) == text_of(parse(text))


def test_a_formula_moves_with_its_cell() -> None:
    tree = parse("=A1+$A1+A$1+$A$1+SUM(A1:B2,A:B,1:2)", 0, 0)
    assert render(tree, 2, 1) == "=B3+$A3+B$1+$A$1+SUM(B3:C4,B:C,3:4)"
    assert render(parse("=A1+B2:C3+A1#", 1, 1), 0, 1) == "=#REF!+B1:C2+#REF!"


@given(FORMULAS)
@settings(max_examples=300, deadline=None)
def test_what_was_read_is_written_so_that_it_reads_the_same(text: str) -> None:
    tree = parse(text, 4, 4)
    assert text_of(parse(render(tree, 4, 4), 4, 4)) == text_of(tree)


@given(st.one_of(SOUP, st.text(max_size=300), st.text(max_size=300).map("={}".format)))
@settings(max_examples=800, deadline=None)
def test_any_text_is_a_formula_or_a_fault_inside_it(text: str) -> None:
    tree, fault = read_or_fault(text)
    if fault is not None:
        assert fault.position is not None
        assert 0 <= fault.position <= len(text)
        for suggestion in fault.suggestions:
            parse(suggestion.removeprefix("did you mean ").removesuffix("?"))
    if tree is not None:
        assert text_of(parse(render(tree, 4, 4), 4, 4)) == text_of(tree)
        references(tree, 4, 4)
        functions(tree)


def read_or_fault(text: str) -> tuple[Node | None, FormulaError | None]:
    try:
        return parse_or_suggest(text, 4, 4), None
    except FormulaError as fault:
        return None, fault


REFERENCES = (
    ("=A1+$A$1+a1", ["A1"]),
    ("=B2:A1+A1:A1", ["A1:B2", "A1"]),
    ("=SUM($A:$C,1:3,C:A)", ["A:C", "1:3"]),
    ("=Sheet1!A1+'My Sheet'!$B$2:C3+sheet1!A1", ["Sheet1!A1", "'My Sheet'!B2:C3"]),
    ("=Sheet1:Sheet3!A1+'a:b c'!A1", ["Sheet1:Sheet3!A1", "'a:b c'!A1"]),
    ("=[1]Sheet1!A1", ["[1]Sheet1!A1"]),
    ("=A1#+INDEX(B1:B3,2):C4", ["A1", "B1:B3", "C4"]),
    ("=Rate*rate+Sheet1!Rate", ["Rate", "Sheet1!Rate"]),
    ("=T[a]+[@b]", ["T[a]", "[@b]"]),
    ("=LET(x,A1,y,x+B1,x*y*z)", ["A1", "B1", "z"]),
    ("=LET(x,x+1,x)", ["x"]),
    ("=LAMBDA(x,[y],x+y+w)(A1)", ["w", "A1"]),
    ('="A1"&1', []),
)


@pytest.mark.parametrize(("text", "expected"), REFERENCES)
def test_references_are_listed_once_in_order(text: str, expected: list[str]) -> None:
    assert references(parse(text, 7, 7), 7, 7) == expected


def test_functions_are_listed_once_in_order() -> None:
    tree = parse("=IF(SUM(A1)>_xlfn.STDEV.S(A1),sum(B1),LET(f,LAMBDA(x,ABS(x)),f(1)+g(2)))")
    assert functions(tree) == ["IF", "SUM", "STDEV.S", "LET", "LAMBDA", "ABS", "G"]
