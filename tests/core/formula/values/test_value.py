"""Text without case: letters one by one, as Excel takes them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.formula.values.coerce import compare, equal
from core.formula.values.criteria import Criterion, wildcard
from core.formula.values.value import TextPool, fold
from core.grid._intern import intern
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


LETTERS = st.text(st.sampled_from("aAbBzZ*0 @[`{ßſẞKkéÉıİ"), max_size=20)
TEXTS = LETTERS | st.text(max_size=12)
STORED = TEXTS.filter(lambda text: text.isprintable())  # without halves of surrogate pairs


@given(st.lists(TEXTS | st.lists(STORED, unique=True)), TEXTS)
def test_a_pool_of_strings_and_of_stored_bytes(steps: list[str | list[str]], wanted: str) -> None:
    pool, known = TextPool(), list[str]()
    for step in steps:
        if isinstance(step, str):
            known += [step] * (step not in known)
            assert pool.intern(step) == known.index(step)
            continue
        _, offsets, data = intern(step)
        known += [text for text in step if text not in known]
        codes = pool.enter(data, offsets, np.arange(len(step)))
        assert codes.tolist() == [known.index(text) for text in step]
        if len(step) % 2:
            check_pool(pool, known, wanted)
    check_pool(pool, known, wanted)


def check_pool(pool: TextPool, known: list[str], wanted: str) -> None:
    folded = [fold(text) for text in known]
    assert len(pool) == len(known)
    assert [pool.fold(code) for code in range(len(known))] == [folded.index(each) for each in folded]
    assert pool.find(wanted) == (folded.index(fold(wanted)) if fold(wanted) in folded else -1)
    assert [pool.text(code) for code in range(len(known))] == known
    assert [pool.intern(text) for text in known] == list(range(len(known)))


def test_a_pool_of_many_stored_strings() -> None:
    texts = [f"Loan {number:05d}" for number in range(5_000)]
    both = texts + [text.upper() for text in texts]
    _, offsets, data = intern(both)
    pool = TextPool()
    assert pool.intern("loan 00007") == 0
    assert pool.enter(data, offsets, np.arange(10_000)).tolist() == list(range(1, 10_001))
    assert [pool.fold(code) for code in range(1, 10_001)] == [0 if at == 7 else at + 1 for at in range(5_000)] * 2
