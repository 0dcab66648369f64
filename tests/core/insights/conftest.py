"""A deal of two months, with a history, breaks, blanks and odd prices.

Enough for every finder to speak.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from core.generate import generate
from core.insights.subject import Break, Breaks, HistoryPoint, Subject
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts
from core.portfolio.model.facts import FactSubject as About

LOANS = 260
GONE, NEW = 5, 6
COV_LITE = About(measure="cov_lite")
"""What a printed share of covenant-lite loans is about."""


def rows_of(columns: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    return {
        name: (values[0][rows], values[1]) if isinstance(values, tuple) else values[rows]
        for name, values in columns.items()
    }


def story(seed: int = 3, *, faults: tuple[str, ...] = ()) -> Subject:
    """A subject whose months differ in loans, par, prices and ratings."""
    result = generate(LOANS, seed=seed, faults=faults)
    now = result.portfolio_columns()
    draw = np.random.default_rng(seed)
    then: dict[str, Any] = dict(now)
    moves = draw.random(LOANS) < 0.7
    then["price"] = np.round(np.where(moves, now["price"] + draw.normal(0.4, 1.0, LOANS), now["price"]), 3)  # type: ignore[operator]
    then["par_value"] = np.where(draw.random(LOANS) < 0.1, now["par_value"] * 1.05, now["par_value"])  # type: ignore[operator]
    codes, scale = now["rating_agency_a"]
    then["rating_agency_a"] = (np.where(draw.random(LOANS) < 0.06, np.maximum(codes - 1, 0), codes), scale)
    odd = np.arange(LOANS)
    now = now | {
        "price": np.where(odd == 20, np.nan, np.where(odd == 21, 12.5, now["price"])),  # type: ignore[arg-type]
        "maturity_date": np.where(odd == 22, result.deal.as_of + 100.0, now["maturity_date"]),  # type: ignore[operator, arg-type]
    }
    late = replace(result.deal, stated_maturity=result.deal.as_of + 2_400.0, reinvestment_end=result.deal.as_of + 200.0)
    early = replace(result.deal, as_of=result.deal.as_of - 31.0)
    newest = Portfolio.from_columns(rows_of(now, odd[: LOANS - GONE]), tranches=result.tranches, deal=late)
    before = Portfolio.from_columns(rows_of(then, odd[NEW:]), tranches=result.tranches, deal=early)
    printed = Fact(
        kind="test", label="Cov-Lite Loans", subject=COV_LITE, value=12.5, trigger=60.0, unit="percent", status="pass",
        place="'Tests'!B2", decimals=2,
    )  # fmt: skip
    months = [date(2025, month, 28) for month in range(1, 13)]
    return Subject(
        name="Demo CLO I", portfolio=replace(newest, facts=Facts(all=(printed,))), workbook_id="w1", run_id="run_1",
        previous=Subject(name="Demo CLO I", portfolio=before),
        history={"oc_ratio": [HistoryPoint(day=day, value=112.0 - at * 0.3) for at, day in enumerate(months)],
                 "ccc_bucket_pct": [HistoryPoint(day=day, value=6.0 - at * 0.1) for at, day in enumerate(months)]},
        breaks=Breaks(
            tape="Trustee, March", compared=300, matched=290, by_severity={"critical": 1, "warning": 3},
            by_field={"par_value": 1, "price": 3},
            largest=(Break(severity="critical", issue_type="value_mismatch", field_name="par_value", identifier="X",
                           borrower_name="Acme", trustee_value="100", internal_value="120"),),
        ),
    )  # fmt: skip


@pytest.fixture(scope="session")
def demo() -> Subject:
    return story()
