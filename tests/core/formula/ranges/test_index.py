"""An index of equal cells finds what going through the cells finds.

All different, or alike from some row on.
"""

from __future__ import annotations

import numpy as np

from core.recalc.book import Book

SIZES = (64, 70_000)  # the second has its tables in a large page
REPEATS: tuple[tuple[int, int], ...] = ((0, 0), (1, 0), (-1, 0), (-1, -2), (40, 20))
"""(row, the row whose key it takes); the first changes nothing."""
FORMULAS = ("=VLOOKUP(D{0},A$1:B${1},2,FALSE)", "=XMATCH(D{0},A$1:A${1},0,-1)", "=SUMIFS(B$1:B${1},A$1:A${1},D{0})")


def test_it_answers_for_cells_that_are_all_different_and_for_those_that_repeat() -> None:
    chance = np.random.default_rng(3)
    wrong = []
    for size in SIZES:
        for row, alike in REPEATS:
            keys, amounts = chance.permutation(size).astype(np.float64), chance.random(size)
            keys[row] = keys[alike]
            asked = [*keys[[0, 1, 20, 40, -2, -1]].tolist(), *chance.integers(0, size, 40).tolist(), -1.0]
            columns = {"A": keys, "B": amounts, "D": asked}
            columns |= {
                name: [text.format(at, size) for at in range(1, len(asked) + 1)]
                for name, text in zip("EFG", FORMULAS, strict=True)
            }
            book = Book.from_columns({"S": columns})
            book.recalculate()
            for at, key in enumerate(asked, 1):
                rows = np.flatnonzero(keys == key)
                result = [book.value("S", f"{name}{at}") for name in "EFG"]
                if not len(rows):
                    right = [str(value) for value in result] == ["#N/A", "#N/A", "0.0"]
                else:
                    right = result[:2] == [amounts[rows[0]], rows[-1] + 1] and np.isclose(
                        result[2], amounts[rows].sum()
                    )
                if not right:
                    wrong.append((size, row, alike, key, result))
    assert wrong == []
