"""Quotas, identifiers and names.

What the draws promise, on small counts and on the largest book.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import cusip, isin

from core.generate import LOANS_MAX
from core.generate.draws import COMPANIES_MAX, Chance, company_names, loanx_numbers, security_numbers
from core.generate.tables import COUNTRIES


@given(
    seed=st.integers(0, 2**63 - 1),
    count=st.integers(1, 400),
    weights=st.lists(st.floats(0.1, 50.0), min_size=1, max_size=12),
)
def test_a_quota_is_within_one_of_each_share(seed: int, count: int, weights: list[float]) -> None:
    drawn = Chance(seed, count).quota("any", count, weights)
    for position, weight in enumerate(weights):
        # A slice of the cumulated weights covers its share of the draws, and touches one more at each of its two ends.
        assert abs(int((drawn == position).sum()) - count * weight / sum(weights)) < 2.0


def test_a_question_has_its_own_stream() -> None:
    chance = Chance(3, 300)
    first = chance.stream("par").random(5).tolist()
    chance.stream("price").random(100)
    assert chance.stream("par").random(5).tolist() == first
    assert chance.stream("price").random(5).tolist() != first
    assert Chance(4, 300).stream("par").random(5).tolist() != first
    assert Chance(3, 301).stream("par").random(5).tolist() != first


def test_check_digits_are_those_of_the_standards() -> None:
    obligor = np.repeat(np.arange(700), 3)
    lots = np.tile(np.array([0, 1, 30]), 700)
    cusips, isins = security_numbers(Chance(11, len(obligor)), obligor, lots)
    assert len(set(cusips.tolist())) == len(obligor)
    for number, outer in zip(cusips.tolist(), isins.tolist(), strict=True):
        assert cusip.is_valid(number), number
        assert isin.is_valid(outer), outer
        assert outer[2:11] == number
        assert re.fullmatch(r"\d{3}[0-9A-Z]{3}[A-Z]{2}\d", number)
    assert cusips[0][:6] == cusips[1][:6] == cusips[2][:6] != cusips[3][:6]


@pytest.mark.parametrize("count", [200, LOANS_MAX])
def test_loanx_numbers_differ_and_look_right(count: int) -> None:
    numbers = loanx_numbers(Chance(5, count), count)
    assert len(np.unique(numbers)) == count
    assert all(re.fullmatch(r"LX\d{5}T\d", number) for number in numbers[:500].tolist())


def test_the_word_lists_name_every_obligor_of_the_largest_book() -> None:
    obligors = round(0.86 * LOANS_MAX)
    assert obligors <= COMPANIES_MAX
    names = company_names(Chance(5, LOANS_MAX), np.zeros(obligors, np.int64))
    bare = [name.rsplit(" ", 1)[0] for name in names]
    assert len(set(bare)) == obligors, "two companies differ in their legal form alone"


def test_names_are_sorted_and_carry_a_legal_form_of_their_country() -> None:
    country = np.arange(258) % len(COUNTRIES)
    names = company_names(Chance(9, 300), country)
    bare = [" ".join(name.split(" ")[:3]) for name in names]
    assert bare == sorted(bare)
    for name, code in zip(names, country.tolist(), strict=True):
        assert name.split(" ", 3)[3] in COUNTRIES[code][2]
