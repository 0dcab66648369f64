"""Altered figures never lead to a wrong reading.

They show as differences, and the readings stay or are doubted.
"""

from __future__ import annotations

import random

import pytest

from core.interpretation.interpret import interpret, interpreted
from tests import printed_by_hand as by_hand
from tests.printed_mutants import facts_mutants, faults, of_facts
from tests.real_reports.board import NAMES, portfolio

PER_FILE = 3
"""`python -m tests.printed_mutants` tries fifty of each file, and as many with altered cells."""

ACCOUNT = by_hand.account(34_567_891.23)
WHOLE = by_hand.performing() + 34_567_891.23


@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_of_a_real_file_takes_no_wrong_reading(name: str) -> None:
    whole = portfolio(name)
    original = interpreted(whole)
    for mutant in facts_mutants(whole, 1, PER_FILE):
        assert list(faults(mutant, original)) == []


def test_a_mutant_of_a_deal_by_hand_takes_no_wrong_reading() -> None:
    first, second, *_ = by_hand.by_industry("_b")
    numerator = by_hand.adjusted(cash=34_567_891.23, ccc=-by_hand.ccc_haircut(by_hand.MOODYS, 34_567_891.23))
    facts = [
        *by_hand.coverage("oc", numerator), by_hand.cov_lite(WHOLE), by_hand.share("industry", first, WHOLE, rank=1),
        by_hand.share("industry", second, WHOLE, rank=2), ACCOUNT,
    ]  # fmt: skip
    original = interpreted(by_hand.portfolio(*facts))
    assert original.interpretation is not None
    assert {item.name for item in original.interpretation.changed} == {"principal_cash", "industry"}
    for number in range(8):
        mutant = of_facts(by_hand.portfolio(*facts), random.Random(number))
        assert list(faults(mutant, original)) == []


def test_a_reading_that_one_altered_figure_would_prove_is_doubted() -> None:
    """A denominator that is altered into that of another convention, to the cent, is used only with its doubt."""
    wrong = by_hand.performing() + by_hand.CASH + by_hand.carried()
    loans = by_hand.portfolio(by_hand.cov_lite(wrong), by_hand.share("senior_secured", by_hand.performing(), None))
    result = interpret(loans)
    assert [(item.name, item.state) for item in result.changed] in ([], [("denominator", "proposed")])
    # The other printed denominator ties by the market's reading: none that ties may stop.
    assert result.changed == []
