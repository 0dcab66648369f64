"""Text without case: letters one by one, as Excel takes them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.formula.values.coerce import compare, equal
from core.formula.values.criteria import Criterion, wildcard
from core.formula.values.value import TextPool, fold
from tests.rows import every


@given(st.text())
def test_folding_keeps_positions(text: str) -> None:
    assert len(fold(text)) == len(text)


@every(
    "first, second, same",
    (
        ("Straße", "STRASSE", False),
        ("Straße", "strasse", False),
        ("Straße", "STRAßE", True),
        ("STRAẞE", "straße", True),
        ("ﬁx", "fix", False),
        ("ΟΔΟΣ", "οδος", True),
        ("Ärger", "äRGER", True),
    ),
)
def test_texts_are_the_same_wherever_they_are_compared(first: str, second: str, same: bool) -> None:
    pool = TextPool()
    codes = [pool.intern(text) for text in (first, second)]
    assert equal(first, second) is same
    assert (compare(first, second) == 0) is same
    assert Criterion(first).matches(second) is same
    assert Criterion("<>" + first).matches(second) is not same
    assert (pool.fold(codes[0]) == pool.fold(codes[1])) is same
    pattern = wildcard(first + "*")
    assert pattern is not None
    assert pattern.matches(second) is same
