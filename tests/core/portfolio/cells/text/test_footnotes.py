"""Footnote marks of names and figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import Cells, key
from core.portfolio.cells.text.footnotes import is_only_marks, without_marks
from core.portfolio.cells.text_cells import letters_and_digits, pool_of
from core.portfolio.cells.typed import read_text


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Acme Corp\u00b2", "Acme Corp"),
        ("Acme Corp\u00b9\u2070", "Acme Corp"),
        ("Acme\u00b9 Holdings", "Acme Holdings"),
        ("Acme Corp(1)(2)", "Acme Corp"),
        ("Acme Corp (1), (2)", "Acme Corp"),
        ("Acme Corp (1,2)", "Acme Corp"),
        ("Acme Corp (a)(aa)", "Acme Corp"),
        ("Acme Corp (ad)(v)", "Acme Corp"),
        ("Acme Corp [2]", "Acme Corp"),
        ("Acme Corp*", "Acme Corp"),
        ("Acme Corp\u2020", "Acme Corp"),
        ("*Acme Corp", "Acme Corp"),
        ("1,234(1)", "1,234"),
        ("(1,234)(2)", "(1,234)"),
    ],
)
def test_marks_are_no_part_of_a_text(text: str, bare: str) -> None:
    assert without_marks(text) == bare


@pytest.mark.parametrize(
    "text",
    ["Project Omega (UK)", "Holdings (No. 2)", "Acme (uk)", "Term Loan (B)", "Fund (2019)", "(1)", "***",
     "\u00c9t\u00e9", "Acme Corp 2", "Acme (Holdings) Ltd"],
)  # fmt: skip
def test_names_keep_brackets_that_say_more(text: str) -> None:
    assert without_marks(text) == text


@pytest.mark.parametrize(
    ("text", "is_marks"),
    [("(5)(8)", True), ("\u2020", True), ("\u00b9", True), ("*", True), ("(1)", False), ("5", False), ("", False)],
)
def test_several_marks_alone_are_no_figure(text: str, is_marks: bool) -> None:
    assert is_only_marks(text) is is_marks


def test_superscripts_are_left_out_of_keys_and_identifiers() -> None:
    assert key("Par Amount\u00b9") == "par amount"
    assert letters_and_digits("LX100001\u00b2") == "LX100001"


@given(st.lists(st.text("Ab1 2(),[]*^&;\u00b9\u00b2\u2074\u2020\u00a7\u1d43\u2019\u00e9", max_size=14), max_size=20))
def test_the_kernel_passes_every_text_with_marks(texts: list[str]) -> None:
    """What it leaves out is what `without_marks` leaves as it is."""
    stripped = [text for text in dict.fromkeys(text.strip() for text in texts) if text]
    codes, text = pool_of(stripped)
    passed = set(_parse.may_have_marks(text.offsets, text.data, True).tolist())
    assert {
        code
        for code, stripped_text in zip(codes.tolist(), stripped, strict=True)
        if without_marks(stripped_text) != stripped_text
    } <= passed


def test_marks_leave_names_and_stay_in_ratings(make_cells: Callable[..., Cells]) -> None:
    cells = make_cells(["Acme Corp", "Acme Corp(1)", None, "Acme Corp\u00b2", "Birch (UK)"])
    text = read_text(cells, target="borrower_name").column.text
    assert text.text.strings() == ["Acme Corp", "Birch (UK)"]
    assert text.codes.tolist() == [0, 0, -1, 0, 1]
    assert read_text(make_cells(["B2*"]), target="rating_agency_a").column.text.text.strings() == ["B2*"]
    assert read_text(make_cells(["Term Loan (1)"]), target="facility_name").column.text.text.strings() == [
        "Term Loan (1)"
    ]
