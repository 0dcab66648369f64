"""How long the analyst takes over a deal of two months.

Every finder, with its runs, for one reader.

Each turn is over a new subject, since one keeps its run. The answer is checked first: every kind of finding is there,
and the market value that one prints is the sum over the loans.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.generate import generate
from core.insights.analyst import analyse
from core.insights.insight import Insight
from core.insights.subject import Subject
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal

SMALL, LARGE, LARGEST = 400, 100_000, 999_999
SECONDS_MOST = {SMALL: 0.3, LARGE: 0.5, LARGEST: 5.0}
EVERYTHING = 200


def deal(loans: int) -> Subject:
    """A deal and its month before.

    Prices moved, a tenth of the loans paid down, some ratings fell, six loans came and five went.
    """
    generated = generate(loans, seed=3)
    now: dict[str, Any] = generated.portfolio_columns()
    draw = np.random.default_rng(3)
    codes, scale = now["rating_agency_a"]
    then = now | {
        "price": np.asarray(now["price"]) + np.where(draw.random(loans) < 0.8, draw.normal(0.5, 1.0, loans), 0.0),
        "par_value": np.asarray(now["par_value"]) * np.where(draw.random(loans) < 0.1, 1.05, 1.0),
        "rating_agency_a": (np.where(draw.random(loans) < 0.05, np.maximum(codes - 1, 0), codes), scale),
    }
    early = replace(generated.deal, as_of=(generated.deal.as_of or 0.0) - 31.0)

    def portfolio(columns: dict[str, Any], rows: slice, day: Deal) -> Portfolio:
        taken = {
            name: (values[0][rows], values[1]) if isinstance(values, tuple) else values[rows]
            for name, values in columns.items()
        }
        return Portfolio.from_columns(taken, tranches=generated.tranches, deal=day)

    before = Subject(name="A deal", portfolio=portfolio(then, slice(6, loans), early))
    return Subject(name="A deal", portfolio=portfolio(now, slice(0, loans - 5), generated.deal), previous=before)


def check(subject: Subject, insights: list[Insight]) -> None:
    """What the insights print against the columns."""
    figures = {insight.key: {figure.name: figure.value for figure in insight.figures} for insight in insights}
    portfolio = subject.portfolio
    par, price = portfolio.numbers["par_value"], portfolio.numbers["price"]
    performing = ~portfolio.defaulted() & np.isfinite(price)
    market = figures["worth"]["loans at their prices"]
    assert isinstance(market, float)
    assert abs(market - float((par * price)[performing].sum()) / 100) < 1e-6 * market
    assert {"moved", "turnover", "migration", "downgrade", "headroom", "thin"} <= {
        key.partition(":")[0] for key in figures
    }


def _analysed(loans: int) -> Prepared:
    subject = deal(loans)
    check(subject, analyse([replace(subject)], most=EVERYTHING))
    return Prepared(works={OURS: lambda: analyse([replace(subject)], most=EVERYTHING)})


bench_insights = asked(
    *(
        Question(
            name=f"insights: two months of {loans:,} loans", prepare=partial(_analysed, loans), repeats=repeats,
            seconds_most=SECONDS_MOST[loans], quick=loans == SMALL,
        )
        for loans, repeats in ((SMALL, 15), (LARGE, 3), (LARGEST, 3))
    )
)  # fmt: skip
