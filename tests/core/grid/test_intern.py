"""Codes are given in order of first appearance and mean the same string."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.grid._intern import intern
from core.grid.column import Text


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)))
def test_codes_name_their_strings(values: list[str | None]) -> None:
    codes, offsets, data = intern(values)
    text = Text(offsets, data)
    assert [None if code < 0 else text[code] for code in codes.tolist()] == values
    assert text.strings() == list(dict.fromkeys(value for value in values if value is not None))


def test_many_strings() -> None:
    values = [f"loan {at % 70_001}" for at in range(150_000)]
    codes, offsets, _ = intern(values)
    assert len(offsets) == 70_002
    assert codes.tolist() == [at % 70_001 for at in range(150_000)]


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        intern(["\ud800"])
