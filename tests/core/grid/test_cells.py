"""Passes over stored cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.grid._cells import are_cells, is_zero, mark
from core.values import ERRORS, Kind


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 1_000])
def test_all_bytes_are_zero(size: int) -> None:
    assert is_zero(np.zeros(size, np.uint8))
    for at in {0, size // 2, size - 1} if size else ():
        content = np.zeros(size, np.uint8)
        content[at] = 1
        assert not is_zero(content)


def cells(**others: Any) -> bool:
    """Whether a number, a text, a blank and an error are cells, with others in place of them."""
    columns = {
        "kinds": [Kind.NUMBER, Kind.TEXT, Kind.BLANK, Kind.ERROR], "numbers": [1.5, 0, 0, 2], "codes": [-1, 4, -1, -1],
    } | others  # fmt: skip
    kinds, numbers = np.array(columns["kinds"], np.uint8), np.array(columns["numbers"], np.float64)
    return are_cells(kinds, numbers, np.array(columns["codes"], np.int32), max(Kind), 5, len(ERRORS))


def test_cells_as_they_should_be() -> None:
    assert cells()
    assert cells(kinds=[], numbers=[], codes=[])


@pytest.mark.parametrize(
    "others",
    [
        {"codes": [-1, 5, -1, -1]}, {"codes": [-1, -1, -1, -1]}, {"codes": [0, 4, -1, -1]}, {"codes": [-2, 4, -1, -1]},
        {"kinds": [max(Kind) + 1, Kind.TEXT, Kind.BLANK, Kind.ERROR]}, {"numbers": [1.5, 0, 0, len(ERRORS)]},
        {"numbers": [1.5, 0, 0, 0.5]}, {"numbers": [1.5, 0, 0, -1]}, {"numbers": [1.5, 0, 0, np.nan]},
        {"numbers": [1.5, 0, 0]}, {"codes": [-1, 4, -1]},
    ],
)  # fmt: skip
def test_cells_that_are_none(others: dict[str, Any]) -> None:
    assert not cells(**others)


def test_codes_are_marked() -> None:
    used = np.zeros(4, np.uint8)
    mark(used, np.array([2, -1, 0, 2], np.int32))
    assert used.tolist() == [1, 0, 1, 0]
    with pytest.raises(IndexError, match="code 4 of 4"):
        mark(used, np.array([4], np.int32))
