"""A criterion meets the cells that Excel's COUNTIF counts.

Wildcards match in time linear in the text.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.values.criteria import Criterion, wildcard
from core.formula.values.value import DIV0, NA, NULL, Date, Failure
from tests.conftest import within
from tests.core.formula.areas import fits
from tests.rows import every

YES_AND_NO: tuple[tuple[Any, tuple[Any, ...], tuple[Any, ...]], ...] = (
    # criterion, cells that meet it, cells that do not
    (None, (0.0,), (None, "", 1.0, False)),
    (5.0, (5.0, "5", "5.0", " 5 ", Date(5.0)), (4.0, None, True, "five", NA)),
    (True, (True,), (1.0, "TRUE", False, None)),
    (NA, (NA,), (DIV0, "#N/A", None)),
    ("", (None, ""), (0.0, " ", False)),
    (" ", (" ",), ("", None, 0.0)),
    ("=", (None,), ("", 0.0, False)),
    ("<>", ("", 0.0, "a", True, NA), (None,)),
    ("<", (), (None, 0.0, "", "a")),
    (">=", (), (None, 0.0, "", "a")),
    ("1", (1.0, "1"), (True, None, NULL, "one")),
    ("=1", (1.0, "1"), (True, None, NULL)),
    ("36:00", (1.5, "1 1/2"), (36.0,)),
    ("1/1/2020", (43_831.0, Date(43_831.0)), (43_832.0, "x")),
    (">1/1/2020", (43_832.0,), (43_831.0, "1/2/2020")),
    ("50%", (0.5,), (50.0,)),
    ("<>1", (0.9, None, True, "text", NULL, "1"), (1.0,)),
    ("<1", (0.0, 0.9, -5.0), (1.0, "0", "", None, False)),
    ("<=1", (1.0, 0.0), (1.1, "1", False)),
    (">1", (1.1,), (1.0, "2", True, None, NA)),
    ("> 1", (1.1,), (1.0,)),
    ("TRUE", (True,), ("TRUE", 1.0)),
    ("=false", (False,), ("FALSE", 0.0, None)),
    ("<>TRUE", (False, 1.0, "Text", DIV0, None), (True,)),
    (">FALSE", (True,), (False, 5.0)),
    ("<=FALSE", (False,), (True, None, 0.0)),
    ("abc", ("abc", "ABC"), ("abcd", "ab", None)),
    ("=AbC", ("aBc",), ("abcd",)),
    ("<>abc", ("abcd", 1.0, None, True, NA, ""), ("abc", "ABC")),
    ("a*", ("a", "abc", "A1"), ("ba", 1.0, None)),
    ("=*", ("", "a", "1"), (1.0, None, True)),
    ("<>*", (1.0, None, True, NA), ("", "a")),
    ("?", ("a", "1"), ("ab", "", 1.0)),
    ("<>?", ("ab", 1.0, True), ("a",)),
    ("~*", ("*",), ("a", "~*")),
    ("a~?c", ("a?c",), ("abc",)),
    ("<m", ("a", "L"), ("m", "z", 1.0, None)),
    (">=m", ("m", "M", "z"), ("a", 5.0)),
    (">?", ("a",), ("!",)),
    ("#N/A", (NA,), (DIV0, "#N/A")),
    ("<>#N/A", (DIV0, 1.0, None), (NA,)),
    (">#NULL!", (DIV0,), (NULL,)),
    ("<=#DIV/0!", (NULL, DIV0), (NA, 1.0)),
)


@every("criterion, met, unmet", YES_AND_NO)
def test_a_criterion_meets_what_excel_counts(criterion: Any, met: tuple[Any, ...], unmet: tuple[Any, ...]) -> None:
    asked = Criterion(criterion)
    assert [cell for cell in met if not asked.matches(cell)] == []
    assert [cell for cell in unmet if asked.matches(cell)] == []


def test_text_without_operator_means_begins_with_in_a_database() -> None:
    asked = Criterion("ab", begins=True)
    assert [asked.matches(text) for text in ("ab", "ABC", "a", "xab")] == [True, True, False, False]
    assert not Criterion("=ab", begins=True).matches("abc")
    assert Criterion("5", begins=True).matches(5.0)


def test_a_text_criterion_is_limited_to_255_characters() -> None:
    assert Criterion("a" * 255).matches("A" * 255)
    with pytest.raises(Failure) as failure:
        Criterion("a" * 256)
    assert repr(failure.value.error) == "#VALUE!"


def test_dates_in_criteria_follow_the_date_system() -> None:
    assert Criterion("1/2/1904", date_1904=True).matches(1.0)


@pytest.mark.parametrize(
    ("pattern", "text", "place"),
    [
        ("bc", "abc", None), ("b*", "abc", 1), ("AbC?", "zabcd", 1), ("~*", "a*", 1), ("~?", "a?", 1), ("~?", "ab", -1),
        ("a?c", "xabc", 1), ("ab*cd", "aaab_____cd", 2), ("*ccd", "abcccd", 0), ("a~", "ba", 1), ("a*z", "abc", -1),
        ("~a~B~c", "_abc_", 1), ("?", "", -1), ("*", "", 0), ("*a*", "xxaxx", 0),
    ],
)  # fmt: skip
def test_search_finds_the_first_place(pattern: str, text: str, place: int | None) -> None:
    compiled = wildcard(pattern)
    assert (None if compiled is None else compiled.search(text)) == place


def test_search_starts_where_it_is_told() -> None:
    compiled = wildcard("a?")
    assert compiled is not None
    assert [compiled.search("abab", start) for start in (0, 1, 2, 3, 9)] == [0, 2, 2, -1, -1]


@given(st.text("ab*?~", max_size=7), st.text("ab*?~", max_size=8))
def test_matching_agrees_with_trying_every_way(pattern: str, text: str) -> None:
    compiled = wildcard(pattern)
    assert (text == pattern if compiled is None else compiled.matches(text)) == fits(text, pattern)


@given(st.text("ab*?~", min_size=1, max_size=6), st.text("ab", max_size=8))
def test_search_agrees_with_trying_every_place(pattern: str, text: str) -> None:
    compiled = wildcard(pattern)
    places = [
        place
        for place in range(len(text) + 1)
        if any(fits(text[place:stop], pattern) for stop in range(place, len(text) + 1))
    ]
    assert (text.find(pattern) if compiled is None else compiled.search(text)) == (places[0] if places else -1)


def test_a_hostile_pattern_takes_no_longer_than_text_times_pattern() -> None:
    compiled = wildcard("*a" * 100 + "*?b")
    assert compiled is not None
    with within(1.0):
        assert not compiled.matches("a" * 32_767)
    too_long = wildcard("?" * 256)
    assert too_long is not None
    assert not too_long.matches("a" * 256)
    assert too_long.search("a" * 1_000) == -1
