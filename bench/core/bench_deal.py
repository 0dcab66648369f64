"""How long 60 tests of a definition take on columns in memory, beside their shares with Polars and with NumPy by hand.

Forty shares are formulas over loans (texts, ratings, flags, numbers, lists, what is blank), twenty are figures of the
catalogue and formulas over other tests; the peers do the forty. All three start from the same typed columns, names as
dictionary codes, and must agree to nine digits before a time counts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.core.bench_compliance import AS_OF, NUMPY, POLARS, frame, portfolio
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.compliance.run import run_suite
from core.definition import Definition, parse
from core.portfolio import Portfolio

REPEATS = {1_000: 60, 1_000_000: 5}
SECONDS_MOST = {1_000: 0.0004, 1_000_000: 1.0}
RATIO_LEAST = 1.5
"""Ours against Polars at a million loans, all processors both."""

PRICES = (60, 70, 80, 85, 90, 95, 98, 100)
SPREADS = (250, 300, 350, 400, 450, 500)
RANKS = (12, 13, 14, 15, 16, 17, 18, 19)
INDUSTRIES = (1, 5, 9, 13, 17, 21, 25, 29)


def shares() -> dict[str, str]:
    """The forty formulas by the id of their test."""
    return {
        **{f"price_{line}_x": f"=price<{line}" for line in PRICES},
        **{f"spread_{line}_x": f"=AND(spread>={line},NOT(is_fixed))" for line in SPREADS},
        **{f"moodys_{rank}_x": f"=rank_a>={rank}" for rank in RANKS},
        **{f"industry_{industry}_x": f'=industry="Industry {industry}"' for industry in INDUSTRIES},
        "some_industries": '=OR(industry={"Industry 1","Industry 2","Industry 3"})',
        "abroad_and_low": '=AND(country<>"US",price<90)',
        "either_low": "=OR(rank_a>=17,rank_b>=17)",
        "unpriced": "=ISBLANK(price)",
        "cheap_coupon": "=price*all_in_rate<700",
        "dip_or_deferring": "=OR(is_dip,is_deferring)",
        "long_lived": "=years_to_maturity>5",
        "small_and_lite": "=AND(facility_size<250000000,cov_lite)",
        "second_lien": '=lien="second_lien"',
        "worse_at_moodys": "=rank_a>rank_b",
    }


def definition() -> Definition:
    """The sixty tests."""
    tests: list[dict[str, Any]] = [{"id": name, "share": text, "max": 100} for name, text in shares().items()]
    catalogue = ("cov_lite", "fixed_rate", "foreign_country", "non_senior_secured", "wal", "was", "diversity", "warf",
                 "ccc", "obligor", "average_price", "warr")  # fmt: skip
    tests += [{"id": f"the_{name}", "measure": name, "max": 1e9} for name in catalogue]
    tests += [{"id": f"oc_{name}x", "measure": "oc", "class": name.upper(), "min": 1} for name in "bcde"]
    tests += [
        {"id": f"sum_{at}x", "value": f"=price_80_x+price_90_x*{at}", "max": 1e9} for at in range(60 - len(tests))
    ]
    return parse({"tests": [{"name": test["id"], **test} for test in tests]})


def numpy_shares(book: Portfolio) -> dict[str, float]:
    """The forty with NumPy by hand."""
    n, f, r = book.numbers, book.flags, book.ranks
    par = np.where(book.defaulted(), 0.0, n["par_value"])
    cpa = par.sum() + (book.deal.principal_cash or 0.0)
    price, industry, a, b = n["price"], book.names["industry"].codes, r["rating_agency_a"], r["rating_agency_b"]
    fixed, country = f["is_fixed"] == 0, book.names["country"].codes
    rows: dict[str, NDArray[np.bool_]] = {
        **{f"price_{line}_x": price < line for line in PRICES},
        **{f"spread_{line}_x": (n["spread"] >= line) & fixed for line in SPREADS},
        **{f"moodys_{rank}_x": a >= rank for rank in RANKS},
        **{f"industry_{each}_x": industry == each for each in INDUSTRIES},
        "some_industries": (industry == 1) | (industry == 2) | (industry == 3),
        "abroad_and_low": (country != 0) & (price < 90),
        "either_low": (a >= 17) | (b >= 17),
        "unpriced": np.isnan(price),
        "cheap_coupon": price * n["all_in_rate"] < 700,
        "dip_or_deferring": (f["is_dip"] | f["is_deferring"]) != 0,
        "long_lived": (n["maturity_date"] - AS_OF) / 365.25 > 5,
        "small_and_lite": (n["facility_size"] < 250e6) & (f["cov_lite"] != 0),
        "second_lien": book.lien == 2,
        "worse_at_moodys": (a > b) & (a > 0) & (b > 0),
    }
    return {name: float(par @ chosen) / cpa * 100 for name, chosen in rows.items()}


def polars_shares(book: Portfolio, table: pl.DataFrame) -> dict[str, float]:
    """The forty as one query of Polars."""
    c = pl.col
    bad = pl.Series(book.defaulted())
    par = pl.when(bad).then(0.0).otherwise(c("par_value"))
    price = c("price").fill_nan(None)
    rows = {
        **{f"price_{line}_x": price < line for line in PRICES},
        **{f"spread_{line}_x": (c("spread") >= line) & (c("is_fixed") == 0) for line in SPREADS},
        **{f"moodys_{rank}_x": c("rating_agency_a") >= rank for rank in RANKS},
        **{f"industry_{industry}_x": c("industry") == industry for industry in INDUSTRIES},
        "some_industries": c("industry").is_in([1, 2, 3]),
        "abroad_and_low": (c("country") != 0) & (price < 90),
        "either_low": (c("rating_agency_a") >= 17) | (c("rating_agency_b") >= 17),
        "unpriced": price.is_null(),
        "cheap_coupon": price * c("all_in_rate").fill_nan(None) < 700,
        "dip_or_deferring": (c("is_dip") == 1) | (c("is_deferring") == 1),
        "long_lived": (c("maturity_date") - AS_OF) / 365.25 > 5,
        "small_and_lite": (c("facility_size") < 250e6) & (c("cov_lite") == 1),
        "second_lien": c("lien") == 2,
        "worse_at_moodys": (c("rating_agency_a") > c("rating_agency_b")) & (c("rating_agency_a") > 0)
        & (c("rating_agency_b") > 0),
    }  # fmt: skip
    chosen = [par.filter(row).sum().alias(name) for name, row in rows.items()]
    totals = table.select(par.sum().alias("par"), *chosen).row(0, named=True)
    cpa = totals.pop("par") + (book.deal.principal_cash or 0.0)
    return {name: value / cpa * 100 for name, value in totals.items()}


def check(book: Portfolio, table: pl.DataFrame, rules: Definition) -> None:
    """All sixty are figures, and the forty agree to nine digits."""
    ours = run_suite(book, "deal", definition=rules)
    assert len(ours) == 60, ours.skipped
    for peer in (numpy_shares(book), polars_shares(book, table)):
        assert len(peer) == 40
        for name, value in peer.items():
            assert abs(ours.figures[name] - value) <= 1e-6 + 1e-9 * value, (name, ours.figures[name], value)


def _tested(loans: int) -> Prepared:
    book, rules = portfolio(loans), definition()
    table = frame(book)
    check(book, table, rules)
    return Prepared(
        works={
            OURS: partial(run_suite, book, "deal", definition=rules),
            POLARS: partial(polars_shares, book, table),
            NUMPY: partial(numpy_shares, book),
        },
        note="the peers do 40 of the 60",
    )


bench_deal = asked(
    *(
        Question(
            name=f"definition, 60 tests of {loans:,} loans", prepare=partial(_tested, loans), peers=(POLARS, NUMPY),
            repeats=repeats, seconds_most=SECONDS_MOST[loans], quick=loans < 1_000_000,
            ratio_least={POLARS: RATIO_LEAST} if loans == 1_000_000 else {},
        )
        for loans, repeats in REPEATS.items()
    )
)  # fmt: skip
