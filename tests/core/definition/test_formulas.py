"""A definition's formulas.

The names that they read, and a share's formula in the parts that run down the columns.
"""

from __future__ import annotations

import pytest

from core.definition import DefinitionError, parse, to_document
from core.definition.formulas import (
    Atom,
    FormulaFault,
    Logic,
    atoms_of,
    fields_of,
    names_of,
    share_of,
    strangers_of,
    without_cells,
)
from core.definition.terms import FORMULA_MAX
from tests.rows import every


def test_a_name_that_looks_like_a_cell_is_written_as_a_name() -> None:
    text = "=ob1+par-OB1*MAX(ic2,3)"
    names = names_of(text, ("ob1", "ic2", "par", "cash"))
    assert names == {"ob1", "ic2", "par"}
    written, called = without_cells(text, names)
    assert written == "=_ob1+par-_OB1*MAX(_ic2,3)"
    assert called == {"ob1": "_ob1", "ic2": "_ic2", "par": "par"}
    assert without_cells("=par+cash", ("par", "cash")) == ("=par+cash", {"par": "par", "cash": "cash"})


@every(
    "text, words",
    [
        ("=" + "1" * FORMULA_MAX, "more than 2000 characters"),
        ("1+1", "must begin with ="),
        ("=1+", "is no formula"),
        ("=(1", "at character"),
        ("=NOW()", "calls NOW, which a definition may not"),
        ("=Sheet1!par", "a definition has no sheets"),
        ("=A1+par", "reads A1: a definition has names and no cells"),
        ("=-(A1)", "reads A1: a definition has names and no cells"),
        ("=part", "names part, which is not known here"),
        ("=-part+MAX(0,pat)", "names part, pat, which is not known here"),
    ],
)
def test_a_formula_that_a_definition_cannot_have(text: str, words: str) -> None:
    with pytest.raises(FormulaFault) as refused:
        names_of(text, ("par",))
    assert words in str(refused.value)


def test_a_shares_formula_is_taken_apart_at_and_or_and_not() -> None:
    share = share_of('=AND(price<80,NOT(OR(is_dip,-spread>-2)),lien="bond")')
    assert isinstance(share, Logic)
    assert [part.operator if isinstance(part, Logic) else part.text for part in share.parts] == [
        "price<80", "NOT", 'lien="bond"',
    ]  # fmt: skip
    assert atoms_of(share) == {"price<80", "is_dip", "-spread>-2", 'lien="bond"'}
    assert fields_of(share) == {"price", "is_dip", "spread", "lien"}
    below, _, lien = share.parts
    assert isinstance(below, Atom)
    assert isinstance(lien, Atom)
    assert (below.category, lien.category) == (None, "lien")
    assert below.plan is not None
    with pytest.raises(FormulaFault, match="NOT has an empty argument"):
        share_of("=NOT(AND(is_dip,NOT(,is_dip)))")
    with pytest.raises(FormulaFault, match="has more than 200 parts"):
        share_of("=OR(" + ",".join(f"price<{at}" for at in range(201)) + ")")
    assert len(atoms_of(share_of("=OR(" + ",".join(f"price<{at}" for at in range(200)) + ")"))) == 200


@every(
    "text, needs_value, blank_matters",
    [
        ('=industry="Media"', True, ("industry",)),
        ("=ISBLANK(industry)", False, ()),
        ("=NOT(ISTEXT(TRIM(industry)))", False, ()),
        ("=IF(ISBLANK(price),70,price)<80", True, ("price",)),
        ("=ISBLANK(price)<>ISBLANK(spread)", False, ()),
    ],
)
def test_a_blank_leaves_open_what_does_not_ask_for_it(
    text: str, needs_value: bool, blank_matters: tuple[str, ...]
) -> None:
    share = share_of(text)
    atom = share.parts[0] if isinstance(share, Logic) else share
    assert isinstance(atom, Atom)
    assert (atom.needs_value, atom.blank_matters) == (needs_value, blank_matters)


def test_a_list_is_compared_with_one_field_of_few_values() -> None:
    """A text or rating of the loans, or a field of a mapping's own.

    Each of its values is asked once.
    """
    for field in ("industry", "rank_a", "desk_rating"):
        share = share_of(f"=OR({field}={{1,2}})")
        assert isinstance(share, Atom)
        assert (share.category, share.fields) == (field, (field,))
    with pytest.raises(FormulaFault, match=r"price=\{1,2\}.* cannot run down the columns"):
        share_of("=OR(price={1,2})")
    with pytest.raises(FormulaFault, match="cannot run down the columns"):
        share_of("=OR(industry&country={1,2})")


def test_a_stranger_is_neither_a_loans_field_nor_a_mappings_own() -> None:
    share = share_of('=AND(prize<80,Desk_Rating="A",price>1,x1>2)')
    assert strangers_of(share, ["DESK_RATING"]) == ["prize", "x1"]
    assert strangers_of(share, ["desk_rating", "X1", "prize"]) == []


def test_what_a_measure_looks_among_is_a_word_or_a_formula() -> None:
    def document(among: str) -> dict[str, object]:
        return {"tests": [{"id": "x_x", "name": "X", "measure": "obligor", "nth": 1, "among": among}]}

    for among in ("non_senior_secured", "=price<80"):
        assert parse(document(among)).tests[0].among == among
        assert to_document(parse(document(among))) == document(among)
    for among in ("senior", "price<80", "=price<80\x00", "=price<" + "8" * FORMULA_MAX):
        with pytest.raises(DefinitionError, match=r"tests\[0\]\.among: must be a formula that begins with ="):
            parse(document(among))
    with pytest.raises(DefinitionError, match=r"tests\[0\]\.among: names prize, .*; did you mean price\?"):
        parse(document("=prize<80"))
    assert parse(document("=prize<80"), own_fields=["Prize"]).tests[0].among == "=prize<80"
