"""Rating symbols, factors and recovery rates against the tables of the indentures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio.model import ratings
from core.portfolio.model.fields import Lien
from tests.rows import every

# rank, agency A, agencies B and C, factor
TABLE = """
1 Aaa AAA 1
2 Aa1 AA+ 10
3 Aa2 AA 20
4 Aa3 AA- 40
5 A1 A+ 70
6 A2 A 120
7 A3 A- 180
8 Baa1 BBB+ 260
9 Baa2 BBB 360
10 Baa3 BBB- 610
11 Ba1 BB+ 940
12 Ba2 BB 1350
13 Ba3 BB- 1766
14 B1 B+ 2220
15 B2 B 2720
16 B3 B- 3490
17 Caa1 CCC+ 4770
18 Caa2 CCC 6500
19 Caa3 CCC- 8070
20 Ca CC 10000
21 C C 10000
"""
ROWS = [line.split() for line in TABLE.split("\n") if line]


@pytest.mark.parametrize(("rank", "a", "b", "factor"), ROWS)
def test_each_rank_has_its_symbols_and_factor(rank: str, a: str, b: str, factor: str) -> None:
    assert ratings.rank(a, "a") == int(rank)
    assert ratings.rank(b, "b") == ratings.rank(b, "c") == int(rank)
    assert ratings.FACTOR[int(rank)] == float(factor)


def test_default_has_rank_22_and_the_unrated_factor_stands_at_0() -> None:
    assert ratings.rank("D", "b") == ratings.rank("SD", "b") == ratings.rank("RD", "c") == ratings.rank("D", "c") == 22
    assert ratings.rank("RD", "b") == ratings.rank("SD", "c") == ratings.rank("D", "a") == 0
    assert ratings.FACTOR[22] == 10_000
    assert ratings.FACTOR[0] == ratings.UNRATED_FACTOR == 8070
    assert ratings.FACTOR.shape == (23,)


@pytest.mark.parametrize(
    "text",
    [
        "B2",
        " b2 ",
        "(P)B2",
        "(P) B2",
        "B2*",
        "B2 *",
        "B2 *-",
        "B2*+",
        "B2/*-",
        "B2 (sf)",
        "B2sf",
        "B2 sf",
        "B2e",
        "B2u",
        "B2 (Stable)",
        "B2 /Watch Neg",
        "B2 NEG",
        "*B2",
        "B2 [CE]",
        "B2 (shadow)",
        "B2 (hyb)",
        "B2/Stable/--",
        "B2\u2020",
        "B2 (CWN)",
        "B2 (CreditWatch Negative)",
        "B2 *- Negative Outlook",
        "B2\u00a0*-",
        "B2s",
        "B2 (e)",
        "B2 (s)",
        "b2 (sf) e",
        "B2 (EXP)",
        "B2pi",
        "(P)B2 (sf) *-",
        "B2 (Under Review for Possible Downgrade)",
        "B2-CFR",
        "B2 CFR",
        "CFR: B2",
        "B2 LTR",
        "Moody's: B2 (stable)",
        "Moody\u2019s B2",
        "Moodys - B2 *-",
        "B2(1)",
        "B2 (1)(2)",
        "B2 [3]",
        "B2\u00b9",
        "* B2",
        "B2 u/r",
        "B2/B",
        "B2 / NR",
        "B2/B/B+",
    ],
)
def test_marks_about_a_symbol_are_dropped(text: str) -> None:
    assert ratings.rank(text, "a") == 15


def test_marks_about_the_signed_symbols_are_dropped_too() -> None:
    assert ratings.rank("B- *-", "b") == ratings.rank("B-*-", "b") == ratings.rank("B-/*-", "b") == 16
    assert ratings.rank("CCC+ (sf)", "b") == ratings.rank("CCC+e", "b") == 17
    assert ratings.rank("BB-/Stable", "c") == 13


@pytest.mark.parametrize(
    "text", ["", "NR", "nr", "WR", "WD", "N/A", "-", "***", " Not Rated ", "NR*", "B4", "hello", "B2 B3", "B" * 99]
)
def test_what_is_no_rating_has_rank_0(text: str) -> None:
    assert ratings.rank(text) == 0


def test_without_an_agency_the_scales_are_tried_in_turn() -> None:
    assert [ratings.rank(text) for text in ("B2", "BB-", "C", "SD", "RD", "D")] == [15, 13, 21, 22, 22, 22]
    # A symbol of another agency is none in a column of agency A.
    assert ratings.rank("BB-", "a") == ratings.rank("Baa1", "b") == 0


def test_a_symbol_of_another_agency_is_none_in_a_column() -> None:
    assert ratings.rank("S&P: B-", "b") == ratings.rank("S & P B-") == ratings.rank("Standard & Poor's: B-", "b") == 16
    assert ratings.rank("Fitch: B-", "c") == 16
    assert ratings.rank("S&P: B-", "c") == ratings.rank("S&P: B-", "a") == ratings.rank("Moody's: B3", "b") == 0


def test_a_cell_of_several_agencies_has_a_symbol_of_each() -> None:
    assert [ratings.rank("B3/CCC+/B-", agency) for agency in ("a", "b", "c")] == [16, 17, 16]
    assert [ratings.rank("B3/NR", agency) for agency in ("a", "b", "c")] == [16, 0, 0]
    # Two symbols that may be of any two agencies are none.
    assert ratings.rank("B/B+", "b") == ratings.rank("B/B+") == ratings.rank("B3/CCC+/B-/B", "a") == 0


@given(st.text("ABCa123+-*/() negupstabl", max_size=64))
def test_any_text_has_a_rank_at_once(text: str) -> None:
    """Neither a crash nor a pattern that backtracks for minutes."""
    assert 0 <= ratings.rank(text) <= 22


def test_a_long_run_of_marks_is_refused_at_once() -> None:
    assert ratings.rank("B2" + " UP-" * 15 + "!") == 0


WATCHES = [
    ("B2 *-", -1), ("B2*+", 1), ("B2 /*-", -1), ("B2 *", 0), ("B2", 0), ("B-", 0), ("BB+", 0), ("***", 0), ("", 0),
    ("B- (CWN)", -1), ("B- (CWP)", 1),
    ("B2 Watch Neg", -1), ("BB (CreditWatch Positive)", 1), ("B2 UPG", 1), ("B2 DNG", -1), ("BB- RWN", -1),
    ("BB- RWP", 1), ("BB- RWE", 0), ("B2 RUR-", -1), ("CCC+ Watch Dev", 0), ("B- (Watch +)", 1),
    ("B2 (Under Review for Possible Downgrade)", -1), ("BB-/Stable", 0), ("B2 (Negative)", 0), ("B2 NEG", 0),
    ("B2 Positive Outlook", 0), ("BB+ Watch", 0), ("B2 *- Positive Outlook", -1), ("B2 Watch Neg" + " " * 99, 0),
]  # fmt: skip


@every("text, expected", WATCHES)
def test_the_direction_of_a_watch_is_told_and_an_outlook_is_none(text: str, expected: int) -> None:
    assert ratings.watch(text) == expected


@every(
    "text, masked, unrated",
    [
        ("*", True, True), ("***", True, True), (" (***) ", True, True), ("Confidential", True, True),
        ("NR", False, True), ("", False, True), ("not rated", False, True), ("*-", False, False), ("B2*", False, False),
        ("hello", False, False), ("*" * 99, True, True),
    ],
)  # fmt: skip
def test_a_masked_rating_is_told_from_one_that_is_not_there(text: str, masked: bool, unrated: bool) -> None:
    assert ratings.is_masked(text) == masked
    assert ratings.is_not_rated(text) == unrated
    assert ratings.rank(text) == (15 if text == "B2*" else 0)


RECOVERY = {2: (60, 55, 45), 1: (50, 45, 35), 0: (45, 35, 30), -1: (40, 25, 25), -2: (30, 15, 15), -3: (20, 5, 5)}
CLAIMS = {Lien.BLANK: 0, Lien.FIRST_LIEN: 0, Lien.SECOND_LIEN: 1, Lien.OTHER: 1, Lien.UNSECURED: 2, Lien.BOND: 2}


@pytest.mark.parametrize("notches", [5, 2, 1, 0, -1, -2, -3, -7])
@pytest.mark.parametrize("lien", list(Lien))
def test_recovery_is_read_by_notch_difference_and_claim(notches: int, lien: Lien) -> None:
    default, facility = np.array([10], np.uint8), np.array([10 - notches], np.uint8)
    rate = ratings.recovery(np.array([lien], np.uint8), default, facility)
    assert rate[0] == RECOVERY[max(-3, min(2, notches))][CLAIMS[lien]]


def test_a_missing_rating_is_no_difference_and_dip_has_its_own_rate() -> None:
    lien = np.full(4, Lien.FIRST_LIEN, np.uint8)
    default, facility = np.array([15, 0, 15, 15], np.uint8), np.array([0, 15, 12, 12], np.uint8)
    assert ratings.recovery(lien, default, facility, np.array([0, 0, 0, 1], np.uint8)).tolist() == [45, 45, 60, 50]
    assert ratings.recovery(lien).tolist() == [45] * 4


@pytest.mark.parametrize(("text", "expected"), [("B2-PD", 15), ("Caa1-PD *-", 17), ("(P)Ba3-PD", 13), ("B-", 16)])
def test_a_probability_of_default_rating_carries_its_mark(text: str, expected: int) -> None:
    assert ratings.rank(text, "b" if text == "B-" else "a") == expected


@every(
    "text, masked",
    [
        ("*", True),
        ("***", True),
        ("(***)", True),
        ("NR*", True),
        ("NR **", True),
        ("N.R.*", True),
        ("Conf", True),
        ("conf.", True),
        ("[Redacted]", True),
        ("Private", True),
        ("Not Disclosed", True),
        ("###", True),
        # Ratings with a mark, and what says that there is none.
        ("B2*", False),
        ("B2 *-", False),
        ("*B2", False),
        ("NR", False),
        ("WR", False),
        ("", False),
        ("Confirmed", False),
    ],
)
def test_what_stands_for_a_masked_rating(text: str, masked: bool) -> None:
    assert ratings.is_masked(text) is masked
    assert not masked or ratings.rank(text) == 0


@every(
    "texts, counts, masks",
    [
        # A word that comes again beside ratings, several of them too.
        (["B2", "Secret", "B3"], [5, 3, 1], [1]),
        (["B2", "XX", "Shadow-rated"], [5, 2, 2], [1, 2]),
        # Once; a number; the beginning of a rating; no rating, or a default, in words; too long; other words.
        (["B2", "Secret"], [5, 1], []),
        (["B2", "17"], [5, 9], []),
        (["B2", "B2/B"], [5, 9], []),
        (["B2", "CCC+ or so"], [5, 9], []),
        (["B2", "Not rated by S&P"], [5, 9], []),
        (["B2", "In Default"], [5, 9], []),
        (["B2", "Pending"], [5, 9], []),
        (["B2", "a text of more than twenty"], [5, 9], []),
        # No column of ratings.
        (["Loan", "Bond"], [5, 9], []),
        (["B2", "w", "x", "y", "z"], [5, 2, 2, 2, 2], []),
        (["B2", "Secret"], [1, 99], []),
        ([], [], []),
    ],
)
def test_a_word_of_a_column_of_ratings_that_is_none(texts: list[str], counts: list[int], masks: list[int]) -> None:
    assert ratings.masks_of(texts, counts, [ratings.rank(text) for text in texts]) == masks
