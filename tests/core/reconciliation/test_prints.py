"""Fingerprints: what they tell apart and what they do not, and what the kernels refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.portfolio.cells import text_cells
from core.reconciliation import _prints

SEED = 123


def of_texts(strings: list[str | None]) -> list[int]:
    """Fingerprints of rows that have a text each, and nothing else."""
    codes, text = text_cells.pool_of(strings)
    return _prints.fingerprints(len(strings), [], [(codes, text.offsets, text.data)], [], SEED).tolist()


def test_they_tell_columns_rows_and_signs_apart() -> None:
    values = np.array([1.0, 2.0, -1.0, np.nan, 0.0, -0.0, -np.nan, 1.0 + 1e-12])
    prints = _prints.fingerprints(8, [values, np.zeros(8)], [], [np.zeros(8, np.uint8)], SEED)
    swapped = _prints.fingerprints(8, [np.zeros(8), values], [], [np.zeros(8, np.uint8)], SEED)
    assert len(set(prints.tolist())) == 5
    assert (prints[3], prints[4], prints[0]) == (prints[6], prints[5], prints[7])
    assert not set(prints[:3].tolist()) & set(swapped[:3].tolist())


@pytest.mark.parametrize("number_count", range(5))
def test_every_number_counts_in_its_place(number_count: int) -> None:
    """A row of noughts, and rows that have a one in one column.

    Ratings stand beside the last number or alone.
    """
    rows = number_count + 1
    numbers = [(np.arange(rows) == column).astype(np.float64) for column in range(number_count)]
    states = [np.zeros(rows, np.uint8)]
    assert len(set(_prints.fingerprints(rows, numbers, [], states, SEED).tolist())) == rows
    assert len(set(_prints.fingerprints(rows, numbers, [], [], SEED).tolist())) == rows


def test_every_rating_counts_in_its_place() -> None:
    states = [np.where(np.arange(2_500) % 9 == column, 255, 0).astype(np.uint8) for column in range(8)]
    prints = _prints.fingerprints(2_500, [], [], states, SEED)  # several blocks of rows
    assert [len(set(prints[first:].tolist())) for first in (0, 1_500)] == [9, 9]
    assert set(prints[:9].tolist()) == set(prints[-9:].tolist())


def test_numbers_count_to_eight_decimals() -> None:
    values = np.array([0.1 + 0.2, 0.3, 0.30000001, 2.0**52 + 1, 2.0**52, np.inf, -np.inf, 1e308])
    prints = _prints.fingerprints(8, [values], [], [], SEED).tolist()
    assert prints[0] == prints[1]
    assert len(set(prints)) == 6  # and what leaves the range of numbers is infinite


def test_texts_of_the_same_bytes_differ_by_their_length() -> None:
    """A short text is filled up with zeros, and the last bytes of a longer one may be taken twice over."""
    texts = [*("a" + "\0" * count for count in range(40)), *("ab" * count for count in range(2, 40)), None]
    assert len(set(of_texts(texts))) == len(texts)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 23, 24, 31, 32, 33, 48, 50])
def test_every_byte_of_a_text_counts(length: int) -> None:
    texts = ["x" * length, *("x" * at + "y" + "x" * (length - at - 1) for at in range(length))]
    assert len(set(of_texts([*texts]))) == length + 1


@given(st.lists(st.text(max_size=40), unique=True))
def test_texts_differ(strings: list[str]) -> None:
    assert len(set(of_texts([*strings, None]))) == len(strings) + 1


@pytest.mark.parametrize(
    ("code", "offsets"), [(1, [0, 1]), (0, [0, 2]), (0, [-1, 1]), (0, [1, 0]), (0, [0]), (0, np.zeros(0, np.int64))]
)
def test_codes_and_texts_outside_their_pool_are_refused(code: int, offsets: list[int]) -> None:
    text = np.array([code], np.int32), np.array(offsets, np.int64), np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="pool"):
        _prints.fingerprints(1, [], [text], [], SEED)


def test_columns_of_another_length_or_too_many_are_refused() -> None:
    with pytest.raises(ValueError, match="rows"):
        _prints.fingerprints(2, [np.zeros(1)], [], [], SEED)
    with pytest.raises(ValueError, match="too many"):
        _prints.fingerprints(1, [np.zeros(1)] * 33, [], [], SEED)
    with pytest.raises(ValueError, match="too many"):
        _prints.fingerprints(1, [], [], [np.zeros(1, np.uint8)] * 9, SEED)


def test_partners_that_differ() -> None:
    prints, others = np.arange(40, dtype=np.uint64), np.arange(40, dtype=np.uint64)[::-1].copy()
    pair = np.arange(40, dtype=np.int32)[::-1].copy()
    others[35], pair[7] = 99, -1
    assert _prints.differing(prints, others, pair, 0, 40).tolist() == [4]
    assert _prints.differing(prints, others, pair, 5, 40).tolist() == []


@pytest.mark.parametrize(("pair", "first", "last"), [([2], 0, 1), ([0], 0, 2), ([0], -1, 1), ([0, 0], 0, 2)])
def test_rows_without_a_fingerprint_are_refused(pair: list[int], first: int, last: int) -> None:
    prints: NDArray[np.uint64] = np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="no fingerprint"):
        _prints.differing(prints, prints, np.array(pair, np.int32), first, last)
