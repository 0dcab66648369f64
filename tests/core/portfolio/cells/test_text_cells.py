"""A column of texts."""

from __future__ import annotations

from collections.abc import Callable

from core.portfolio.cells import text_cells
from core.portfolio.cells.string_pool import Cells


def test_text_is_trimmed_and_numbers_are_written_out(make_cells: Callable[..., Cells]) -> None:
    column = text_cells.read_text(make_cells([" A ", "A", "A\u00a0", "b", 12.0, "12", 1.5, None, "N/A", "#N/A", "  "]))
    strings = column.text.strings()
    assert [strings[code] if code >= 0 else None for code in column.codes.tolist()] == [
        "A",
        "A",
        "A",
        "b",
        "12",
        "12",
        "1.5",
        None,
        None,
        None,
        None,
    ]
    assert len(set(strings)) == len(strings)
