"""The months of a generated deal.

One book on its way, whose last month is the deal itself.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import core
from core.generate import GenerateError, generate, generate_months
from core.generate.months import BOUGHT_PERCENT, MONTHS_MAX, PRICE_MAX

DAYS = ["2025-10-31", "2025-11-30", "2025-12-31", "2026-01-31", "2026-02-28", "2026-03-31"]


def test_the_last_month_is_the_deal_itself() -> None:
    months = generate_months(seed=7, faults=["breach_ccc"])
    newest = generate(seed=7, faults=["breach_ccc"])
    assert [str(month.as_of) for month in months] == DAYS
    for name, values in newest.portfolio_columns().items():
        np.testing.assert_equal(months[-1].portfolio_columns()[name], values)
    (only,) = generate_months(months=1)
    assert only.as_of == date(2026, 3, 31)


def test_the_same_arguments_make_the_same_months() -> None:
    for generate_month, other_generate_month in zip(generate_months(seed=3), generate_months(seed=3), strict=True):
        np.testing.assert_equal(generate_month.book.par, other_generate_month.book.par)
        np.testing.assert_equal(generate_month.texts.cusip, other_generate_month.texts.cusip)


def test_loans_are_bought_repay_and_move() -> None:
    """Each month has the loans of the one before and some more, at other prices and with less par."""
    months = generate_months(seed=7)
    names = [[*zip(item.texts.loanx, item.texts.cusip, item.book.obligor.tolist(), strict=True)] for item in months]
    for before, after in pairwise(names):
        assert set(before) <= set(after)
    assert 0 < len(names[-1]) - len(names[0]) <= 3 * BOUGHT_PERCENT / 100 * len(names[-1])
    first, last = months[0], months[-1]
    kept = np.isin(last.texts.loanx, first.texts.loanx) & (last.texts.loanx != "")
    was = first.texts.loanx != ""
    assert np.all(first.book.par[was] >= last.book.par[kept])
    assert np.mean(first.book.price[was] != last.book.price[kept]) > 0.9
    for month in months:
        assert month.book.cash > 0
        assert month.book.price.max() <= max(PRICE_MAX, last.book.price.max())


@pytest.mark.parametrize(
    ("fault", "test_id", "rises"),
    [
        ("breach_ccc", "ccc_bucket_pct", True),
        ("breach_oc", "oc_ratio", False),
        ("breach_obligor", "single_obligor_concentration", True),
        ("warn_wal", "wal", True),
    ],
)
def test_a_fault_builds_up(fault: str, test_id: str, rises: bool) -> None:
    """The first month passes.

    The figure moves towards its limit and is past it, or warned of, in the last.
    """
    statuses, values = [], []
    for month in generate_months(seed=7, faults=[fault]):
        deal = core.Portfolio.from_columns(month.portfolio_columns(), tranches=month.tranches, deal=month.deal)
        result = next(item for item in core.run_suite(deal, "enhanced") if item.test_id == test_id)
        statuses.append(result.status)
        values.append(result.current_value)
    assert (statuses[0], statuses[-1] != "pass") == ("pass", True)
    assert (values[-1] > values[0]) is rises


def test_a_month_s_file_says_its_day(tmp_path: Path) -> None:
    month = generate_months(months=3, messy=["title_rows"])[0]
    month.write(tmp_path / "month.xlsx")
    book = core.read(tmp_path / "month.xlsx")
    portfolio = core.Portfolio.from_workbook(book)
    assert (len(portfolio), portfolio.deal.as_of) == (month.loans, (month.as_of - date(1970, 1, 1)).days)
    assert month.deal.as_of == portfolio.deal.as_of


@pytest.mark.parametrize("months", [0, MONTHS_MAX + 1])
def test_a_number_of_months_outside_the_range_is_refused(months: int) -> None:
    with pytest.raises(GenerateError, match=f"months must be between 1 and {MONTHS_MAX}, not {months}"):
        generate_months(months=months)
