"""Amounts as people of the trade write them.

Each to the cent, and nothing guessed.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.amounts import is_scale, read_amount, read_number
from tests.rows import every


@every(
    "text, value",
    [
        ("1m", 1e6), ("1M", 1e6), ("2.5mm", 2.5e6), ("2.5MM", 2.5e6), ("500k", 5e5), ("1bn", 1e9), ("3 ", 3.0),
        ("1,000,000", 1e6), ("1_000_000", 1e6), ("1,000.5", 1000.5), ("12,345,678.90", 12_345_678.9), ("1e6", 1e6),
        ("2.3m", 2_300_000.0), ("8.7mm", 8_700_000.0), (".5m", 5e5), ("-1m", -1e6), ("+1", 1.0), ("1.", 1.0),
        ("1 000 000".replace(" ", "_"), 1e6), ("4.35k", 4350.0), ("1.1million", 1.1e6), ("0", 0.0),
    ],
)  # fmt: skip
def test_amounts(text: str, value: float) -> None:
    assert read_amount(text) == value


@every(
    "text",
    [
        "", " ", "m", "mm", "1x", "1mmm", "1 m", "1,00", "1,0000", "10,00,000", ",100", "1,", "1_0", "1__000",
        "1,000_000", "1_000,000", "1.2.3", "1.000.000", "nan", "inf", "1e999", "0x10", "1e", "e5", "--1", "1%", "$1m",
        "１m", "1\u212a",
    ],
)  # fmt: skip
def test_what_is_no_amount(text: str) -> None:
    """A comma that parts no thousands is refused: 1,00 may be one or a hundred."""
    with pytest.raises(ValueError, match=r"no (finite )?number"):
        read_amount(text)


def test_numbers_have_no_scale() -> None:
    assert (read_number("1,000.5"), read_number("98.5")) == (1000.5, 98.5)
    for text in ("1m", "2.5mm", "1,5"):
        with pytest.raises(ValueError, match="no number"):
            read_number(text)
    assert [is_scale(word) for word in ("mm", "M", "million", "", "cusip")] == [True, True, True, False, False]


@given(st.integers(0, 10**12))
def test_thousands_apart_are_the_same_number(value: int) -> None:
    for text in (f"{value}", f"{value:,}", f"{value:_}"):
        assert read_amount(text) == value
    assert read_amount(f"{value}k") == value * 1000
