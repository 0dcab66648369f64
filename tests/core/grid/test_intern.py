"""Codes are given in order of first appearance and mean the same string."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.grid._intern import TextIndex, intern
from core.grid.column import Text


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)))
def test_codes_name_their_strings(values: list[str | None]) -> None:
    codes, offsets, data = intern(values)
    text = Text(offsets, data)
    assert [None if code < 0 else text[code] for code in codes.tolist()] == values
    assert text.strings() == list(dict.fromkeys(value for value in values if value is not None))


TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3))


@given(TEXTS, TEXTS)
def test_codes_by_their_strings(values: list[str], others: list[str]) -> None:
    _, offsets, data = intern(values)
    code_of = {text: code for code, text in enumerate(dict.fromkeys(values))}
    index = TextIndex(offsets, data)
    assert [index.code(text) for text in others] == [code_of.get(text, -1) for text in others]
    _, other_offsets, other_data = intern(others)
    expected = [code_of.get(text, -1) for text in dict.fromkeys(others)]
    assert index.codes(other_offsets, other_data).tolist() == expected
    assert index.code("\ud800") == -1


def test_codes_of_strings_in_nearly_the_same_order() -> None:
    values = [f"loan {at}" for at in range(1_000)]
    index = TextIndex(*intern(values)[1:])
    others = [*values[40:300], "new", *values[300:290:-1], "", *values[500:], *values[:20]]
    assert index.codes(*intern(others)[1:]).tolist() == [
        values.index(text) if text in values else -1 for text in dict.fromkeys(others)
    ]
    repeated = intern(["a", "b"])[1:]
    twice = TextIndex(np.array([0, 1, 2, 3], np.int64), np.frombuffer(b"aab", np.uint8))
    assert twice.codes(*repeated).tolist() == [0, 2]
    assert twice.codes(np.array([0, 1, 2], np.int64), np.frombuffer(b"aa", np.uint8)).tolist() == [0, 0]


@pytest.mark.parametrize("offsets", [[], [-1, 2], [0, 2, 1], [0, 9]])
def test_offsets_that_leave_the_data(offsets: list[int]) -> None:
    data = np.zeros(3, np.uint8)
    with pytest.raises(ValueError, match="leave its data"):
        TextIndex(np.array(offsets, np.int64), data)
    with pytest.raises(ValueError, match="leave its data"):
        TextIndex(np.array([0, 3]), data).codes(np.array(offsets, np.int64), data)


def test_many_strings() -> None:
    values = [f"loan {at % 70_001}" for at in range(150_000)]
    codes, offsets, _ = intern(values)
    assert len(offsets) == 70_002
    assert codes.tolist() == [at % 70_001 for at in range(150_000)]


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        intern(["\ud800"])
