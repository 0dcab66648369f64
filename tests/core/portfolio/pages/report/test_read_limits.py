"""Limits of reading what a file prints.

Hostile sheets are read in bounded time, and what is left out is told.
"""

from __future__ import annotations

import random
import time
from typing import Any, Final

import pytest

from core.portfolio import Portfolio
from core.portfolio.pages.report import identities, read
from core.portfolio.pages.report.identities import Item, numerator
from core.portfolio.pages.report.page import TEXTS_BYTES_MAX
from core.portfolio.pages.report.twice import ALIKE_MAX
from tests.core.portfolio.pages.report.test_tests import HOLDINGS, Row, current, workbook

SECONDS_MAX: Final = 20.0
"""Far more than any of these takes: what is unbounded takes minutes."""

HEADING: Final[Row] = ["Test", "Value", "Limit", "Result"]


def portfolio(**pages: list[Row]) -> Portfolio:
    return Portfolio.from_workbook(workbook({**pages, "Assets": HOLDINGS}), as_of=5.0)


def hostile(kind: str) -> list[Row]:
    """A page of many lines whose words and amounts mean something, none of which add up."""
    rng = random.Random(7)
    parts = {
        "calculation": (
            "Aggregate Principal Balance",
            "Principal Cash",
            "Less: Defaulted Obligations",
            "Excess CCC",
            "Collateral Principal Amount",
            "Adjusted Collateral Principal Amount",
        ),
        "interest": ("Interest Proceeds", "Scheduled Interest", "Senior Fees", "Interest Coverage Numerator"),
        "tests": ("Class A Par Value Test",),
    }[kind]
    rows: list[Row] = [[kind]]
    for number in range(1_900 // len(parts)):
        for words in parts:
            amount = round(rng.random() * 1e6, 2)
            rows.append([f"{words} {number}", amount] + ([">=", 120.0, "Pass"] if kind == "tests" else []))
    return rows


@pytest.mark.parametrize("kind", ["calculation", "interest", "tests"])
def test_hostile_pages_are_read_in_bounded_time(kind: str) -> None:
    start = time.perf_counter()
    read_portfolio = portfolio(Page=hostile(kind))
    assert time.perf_counter() - start < SECONDS_MAX
    assert read_portfolio.facts.all


def test_sets_that_are_not_all_tried_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    total, bases = Item("acpa", 899_000.0), [Item("cpa", 1_000_000.0)]
    adjustments = [Item("cccx", -1_000.0), Item("disc", -100_000.0), Item("hair", -7.0)]
    solved = numerator(total, bases, adjustments)
    assert solved is not None
    assert solved.is_proved
    monkeypatch.setattr(identities, "SETS_MAX", 5)
    cut = numerator(total, bases, adjustments)
    assert cut is not None
    assert not cut.is_proved
    monkeypatch.setattr(identities, "ADJUSTMENTS_MAX", 2)
    assert (few := numerator(total, bases, adjustments)) is not None
    assert not few.is_proved


def test_many_facts_of_one_subject_are_told_as_one_conflict() -> None:
    rows: list[Row] = [[f"Class A Par Value Test {at}", 130.0 + at, 120.0, "Pass"] for at in range(ALIKE_MAX + 5)]
    facts_read = current([HEADING, *rows])
    assert len(facts_read) == ALIKE_MAX + 5
    assert {fact.conflict for fact in facts_read} == {
        f"{ALIKE_MAX + 5} figures have its words and are not all alike, from 'Compliance'!B2 to 'Compliance'!B46"
    }


def test_what_is_too_long_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    test: Row = ["Class A Par Value Test", 130.0, 120.0, "Pass"]
    prose: list[Any] = [[f"{at:06d} " + "x" * 390] for at in range(TEXTS_BYTES_MAX // 397 + 2)]
    read_portfolio = portfolio(
        Tests=[HEADING, test], Long=[*prose, ["Class B Par Value Test", 120.0, ">=", 110.0, "Pass"]]
    )
    assert [fact.label for fact in read_portfolio.facts.tests] == ["Class A Par Value Test"]
    (message,) = [warning.message for warning in read_portfolio.notes.warnings if warning.code == "pages_too_long"]
    assert message == f"too much text for figures beside the loans, not read: 'Long' from row {len(prose) - 1} on"
    monkeypatch.setattr(read, "CHARACTERS_CUT_MAX", 10)
    read_portfolio = portfolio(Tests=[HEADING, test])
    assert not read_portfolio.facts.tests
    assert [fact.code for fact in read_portfolio.notes.warnings if "'Tests'" in fact.message] == ["pages_too_long"]
