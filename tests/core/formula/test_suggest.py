"""Mistaken formulas get a repair that works, unknown functions a neighbour, valid formulas a score and warnings."""

from __future__ import annotations

import pytest

from core.formula import suggest
from core.formula.functions import families as _catalogue  # noqa: F401 - fills the catalogue
from core.formula.language.errors import SyntaxFault
from core.formula.language.parser import parse
from core.formula.language.walk import children
from core.formula.suggest import complexity, did_you_mean, parse_or_suggest, similar, warnings

REPAIRS = (
    ("A1+1", "=A1+1"),
    ("{=SUM(A1:A2)}", "=SUM(A1:A2)"),
    ("=SUM(A1;B1)", "=SUM(A1,B1)"),
    ("=SUM(A1,B1", "=SUM(A1,B1)"),
    ("=IF(A1=“x”,1,2)", '=IF(A1="x",1,2)'),
    ("=IF(A1='x',1,2)", '=IF(A1="x",1,2)'),
    ("=IF(A1=“x”;1;2", '=IF(A1="x",1,2)'),
    ("=A1==B1", "=A1=B1"),
    ("=A1!=B1", "=A1<>B1"),
    ("=A1≥3", "=A1>=3"),
    ("=A1)", "=A1"),
    ("=A1+", "=A1"),
    ("=2(3+4)", "=2*(3+4)"),
    ('="abc', '="abc"'),
    ("=A1\u00a0+1", "=A1 +1"),
)


@pytest.mark.parametrize(("text", "repaired"), REPAIRS)
def test_a_mistake_gets_a_repair(text: str, repaired: str) -> None:
    with pytest.raises(SyntaxFault) as caught:
        parse_or_suggest(text)
    assert f"did you mean {repaired}?" in caught.value.suggestions


@pytest.mark.parametrize("text", ["", "=", "=-", "=}{", "=" + "(" * 300])
def test_nothing_is_suggested_where_nothing_helps(text: str) -> None:
    with pytest.raises(SyntaxFault) as caught:
        parse_or_suggest(text)
    assert caught.value.suggestions == ()


@pytest.mark.parametrize(
    ("name", "near"), [("SMU", "SUM"), ("SUMM", "SUM"), ("IFERRROR", "IFERROR"), ("WENN", "IF"), ("IFF", "IF")]
)
def test_an_unknown_function_gets_a_neighbour(name: str, near: str) -> None:
    assert near in similar(name)
    assert f"did you mean {near}?" in did_you_mean(name.lower())


@pytest.mark.parametrize("name", ["QWERTYUIOP", "X", "A" * 500])
def test_a_far_name_gets_none(name: str) -> None:
    assert similar(name) == ()


@pytest.mark.parametrize(
    ("text", "score"),
    [("=1", 1), ("=A1", 1), ("=A1+B1", 3), ("=SUM(A1:A9)", 4), ("=IF(SUM(A1:A9)>1,2,3)", 8), ("=-A1%", 3)],
)
def test_complexity_counts_what_there_is_to_understand(text: str, score: int) -> None:
    assert complexity(parse(text)) == score


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("=TODAY()-A1", "volatile"),
        ("=VLOOKUP(A1,B1:C9,2)", "approximately"),
        ("=SUM(A:C)", "A:C reads whole columns"),
        ("=SUM(1:3)", "whole rows"),
        ("=A1/0", "division by zero"),
        ('=IF(A1="5",1,2)', 'the text "5"'),
        ("=#REF!+1", "lost"),
        ("=[1]S!A1", "another workbook"),
        ("=LET(x,1,y,2,x)", "y is named"),
        ("=" + "ABS(" * 8 + "1" + ")" * 8, "more than 7 deep"),
    ],
)
def test_what_may_surprise_is_warned_of(text: str, words: str) -> None:
    result = warnings(parse(text))
    assert len(result) == 1
    assert words in result[0]


@pytest.mark.parametrize(
    "text",
    [
        "=SUM(A1:A9)/B1",
        "=VLOOKUP(A1,B1:C9,2,FALSE)",
        '=A1="x"',
        "=LET(f,LAMBDA(x,x),f(1))",
        "=" + "ABS(" * 7 + "1" + ")" * 7,
    ],
)
def test_a_plain_formula_is_not_warned_of(text: str) -> None:
    assert warnings(parse(text)) == []


def test_what_stands_in_many_lets_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the LETs inside each other looked through all that it holds.

    360 ms for one formula.
    """

    def steps(depth: int) -> int:
        counted: list[object] = []
        tree = parse("=" + "LET(a,1," * depth + "SUM(" + ",".join("x" * 200) + ")" + ")" * depth)
        monkeypatch.setattr(suggest, "children", lambda node: counted.append(node) or children(node))
        assert "a is named by LET and never used" in warnings(tree)
        return len(counted)

    assert steps(50) < 3 * steps(2)
