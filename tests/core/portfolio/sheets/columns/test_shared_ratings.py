"""Cells with the ratings of several agencies."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

from core.portfolio.cells.text_cells import TextColumn, pool_of
from core.portfolio.sheets.columns.shared_ratings import RatingParts, agencies_of, rating_parts
from tests.rows import every


def parted(heading: str, *cells: str) -> RatingParts | None:
    codes, text = pool_of(cells)
    return rating_parts(TextColumn(codes, text), agencies_of(heading))


def ratings(parts: RatingParts | None, agency: str) -> list[str | None]:
    assert parts is not None
    column = next(column for name, column in parts.columns.items() if name == agency)
    strings = column.text.strings()
    return [None if code < 0 else strings[code] for code in column.codes.tolist()]


@every(
    "heading, agencies",
    [
        ("Moody's / S&P", "ab"), ("Moody\u2019s/S&P Rating", "ab"), ("S&P | Moody's", "ba"), ("M/S/F", "abc"),
        ("Ratings (M/S&P)", "ab"), ("Moody's CFR / S&P ICR", "ab"), ("Moody's, S&P and Fitch", "abc"),
        ("MDY/SP/FITCH", "abc"), ("Moody's Facility / S&P Facility Rating", "ab"), ("Fitch/S&P", "cb"),
        ("Moody's Rating", ""), ("S&P Industry", ""), ("Rating", ""), ("EBITDA ($M) of S", ""), ("S&P", ""),
        ("Moody's Rating and Moody's Outlook", ""), ("M", ""), ("", ""),
    ],
)  # fmt: skip
def test_agencies_that_a_heading_lists(heading: str, agencies: str) -> None:
    assert "".join(agencies_of(heading)) == agencies


@every(
    "heading, cells, moodys, sp",
    [
        ("Moody's / S&P", ["B2 / B", "Caa1/CCC+"], ["B2", "Caa1"], ["B", "CCC+"]),
        ("S&P/Moody's", ["B / B2", "CCC+ | Caa1"], ["B2", "Caa1"], ["B", "CCC+"]),
        ("Moody's / S&P", ["B2 / B", "NR / B-", "N/A / B-", "B3 / N.R."], ["B2", "NR", "NR", "B3"],
         ["B", "B-", "B-", "NR"]),
        ("Moody's / S&P", ["B2 *- / B", "B3 /*- / B-"], ["B2 *-", "B3 /*-"], ["B", "B-"]),
        ("Moody's (S&P)", ["B2 (B)", "Caa1 (CCC+)"], ["B2", "Caa1"], ["B", "CCC+"]),
        ("Moody's - S&P", ["B2 - B", "Caa1 \u2013 B-"], ["B2", "Caa1"], ["B", "B-"]),
        ("Moody's, S&P", ["B2, B", "Caa1,CCC+"], ["B2", "Caa1"], ["B", "CCC+"]),
        ("Moody's S&P", ["B2 B", "Caa1 CCC+"], ["B2", "Caa1"], ["B", "CCC+"]),
        ("Moody's / S&P", ["B2 / B", "", "-", "B3 / B-"], ["B2", None, None, "B3"], ["B", None, None, "B-"]),
        # A lone symbol is that of the one agency that has it.
        ("Moody's / S&P", [*["B2 / B"] * 8, "Caa2", "B"], [*["B2"] * 8, "Caa2", None],
         [*["B"] * 8, None, "B"]),
    ],
)  # fmt: skip
def test_cells_are_parted_by_agency(
    heading: str, cells: list[str], moodys: list[str | None], sp: list[str | None]
) -> None:
    parts = parted(heading, *cells)
    assert (ratings(parts, "a"), ratings(parts, "b")) == (moodys, sp)
    assert parts is not None
    assert parts.doubt == ""


def test_what_no_agency_can_be_told_of_is_lost() -> None:
    parts = parted("S&P / Fitch", *["B / B+"] * 8, "B", "NR")
    assert parts is not None
    assert parts.unread["b"].tolist() == parts.unread["c"].tolist() == [False] * 8 + [True, False]
    assert ratings(parts, "b")[8] is None


def test_three_agencies() -> None:
    parts = parted("M/S/F", "B2/B/B+", "Caa1/CCC+/NR")
    assert [ratings(parts, agency) for agency in "abc"] == [["B2", "Caa1"], ["B", "CCC+"], ["B+", "NR"]]


def test_symbols_tell_moodys_where_the_heading_does_not() -> None:
    parts = parted("Rating", "B / B2", "CCC+ / Caa1")
    assert (ratings(parts, "a"), ratings(parts, "b")) == (["B2", "Caa1"], ["B", "CCC+"])
    assert parts is not None
    assert "names no agency" in parts.doubt
    swapped = parted("Moody's / S&P", "B / B2", "CCC+ / Caa1")
    assert ratings(swapped, "a") == ["B2", "Caa1"]
    assert swapped is not None
    assert "another place" in swapped.doubt


@pytest.mark.parametrize(
    "cells", [["B2", "Caa1"], ["Energy / Oil", "Media"], ["B / B+", "B- / B"], ["NR", "-"], [], ["1/2", "3/4"]]
)
def test_other_cells_are_not_parted(cells: list[str]) -> None:
    assert parted("Rating", *cells) is None


def test_hostile_texts_are_cheap() -> None:
    started = perf_counter()
    for text in ("/" * 32_000, "B2/" * 10_000, "n/a" * 10_000, " " * 32_000, "m/s" * 10_000, "and " * 8_000):
        agencies_of(text)
        parted("Moody's / S&P", text)
    assert perf_counter() - started < 1.0
    codes = np.zeros(3, np.int32)
    assert rating_parts(TextColumn(codes, pool_of(["B2/B"])[1]), ()) is not None
