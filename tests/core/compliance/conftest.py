"""Small portfolios for the compliance tests: columns in, a Portfolio out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
import pytest

from core.compliance.result import Results
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Amortization, Deal, Names, Tranches
from core.portfolio.model.ratings import AGENCY_OF, rank

NAMES = (
    "base_rate", "obligor", "industry", "industry_a", "industry_b", "industry_c", "country", "currency",
    "cusip", "loanx_id", "isin", "facility_name", "borrower_name", "payment_frequency",
)  # fmt: skip
FLAGS = (
    "is_defaulted", "cov_lite", "is_dip", "is_current_pay", "is_pik", "is_deferring", "is_long_dated", "participation",
    "is_fixed", "is_bond", "is_revolving", "is_delayed_draw", "is_bridge",
)  # fmt: skip
RANKS = (
    "rating_agency_a", "rating_agency_b", "rating_agency_c", "rating", "facility_rating_agency_a",
    "rating_agency_a_derived",
)  # fmt: skip

A = {symbol: rank for rank, symbol in enumerate(("Ba3", "B1", "B2", "B3", "Caa1", "Caa2", "Caa3", "Ca"), 13)}


def names_of(values: Sequence[str | None]) -> Names:
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    return Names(
        np.array([-1 if value is None else distinct.index(value) for value in values], np.int32), tuple(distinct)
    )


def portfolio_of(
    columns: Mapping[str, Sequence[Any]],
    *,
    tranches: Tranches | None = None,
    deal: Deal | None = None,
    amortization: Amortization | None = None,
    **more: Any,
) -> Portfolio:
    """A portfolio from plain lists by field name; None is blank."""
    count = len(next(iter(columns.values())))
    numbers, names, flags, ranks, lien = {}, {}, {}, {}, None
    for field, values in columns.items():
        if field in NAMES:
            names[field] = names_of(values)
        elif field in FLAGS:
            flags[field] = np.array(values, np.uint8)
        elif field in RANKS and any(isinstance(value, str) for value in values):
            names[field] = names_of(values)
            ranks[field] = np.array([rank(value or "", AGENCY_OF.get(field[:15])) for value in values], np.uint8)
        elif field in RANKS:
            ranks[field] = np.array(values, np.uint8)
        elif field.startswith("watch_"):
            names[field] = names_of(values)
        elif field == "lien_type":
            lien = np.array(values, np.uint8)
        else:
            numbers[field] = np.array([nan if value is None else value for value in values], np.float64)
    return Portfolio(
        count, numbers, names, flags, ranks, lien, tranches, deal or Deal(), amortization=amortization, **more
    )


def tranches_of(
    notes: Sequence[tuple[str, float]],
    *,
    coupon: Sequence[float | None] | None = None,
    oc: dict[str, float] | None = None,
    ic: dict[str, float] | None = None,
    rank: Sequence[int] | None = None,
    **more: Sequence[float | None],
) -> Tranches:
    """Notes from (class, balance), most senior first.

    Those named Sub are income notes.
    """
    blank = [None] * len(notes)

    def numbers(values: Sequence[float | None] | None) -> Any:
        return np.array([nan if value is None else value for value in values or blank], np.float64)

    classes = tuple(name for name, _ in notes)
    return Tranches(
        classes,
        np.array([balance for _, balance in notes], np.float64),
        np.array([balance for _, balance in notes], np.float64),
        numbers(coupon),
        numbers(more.get("spread")),
        numbers([(oc or {}).get(name) for name in classes]),
        numbers([(ic or {}).get(name) for name in classes]),
        np.array(rank or range(1, len(notes) + 1), np.int32),
        numbers(more.get("deferred_interest")),
        numbers(more.get("interest_due")),
        np.array([name.startswith("Sub") for name in classes], np.bool_),
    )


G1_NOTES = (("A", 250e6), ("B", 50e6), ("C", 25e6), ("D", 22e6), ("E", 18e6))


def g1_columns() -> dict[str, list[Any]]:
    """The pool worked by hand: 12 performing loans of 395m and a defaulted one."""
    million = 1e6
    par = [40, 40, 40, 40, 40, 30, 40, 40, 40, 20, 15, 10, 5]
    ratings = ("B1", "B2", "B2", "Ba3", "B3", "B3", "B1", "B2", "B2", "Caa1", "Caa2", "Caa3", "Ca")
    return {
        "par_value": [amount * million for amount in par],
        "obligor": [
            "Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "Hotel", "India", "Juliet", "Kilo", "Lima",
            "Mike",
        ],
        "industry": [
            "High Tech", "Healthcare", "Services", "Banking", "Hotel", "Retail", "Telecommunications", "Chemicals",
            "Construction", "Media", "Automotive", "Durable", "Wholesale",
        ],
        "price": [99.5, 98.75, 97.0, 99.0, 96.5, 85.0, 98.0, 97.5, 98.5, 85.0, 70.0, 55.0, 60.0],
        "rating_agency_a": [A[symbol] for symbol in ratings],
        "rating_agency_b": [14, 15, 15, 13, 16, 16, 14, 15, 14, 17, 18, 19, 22],
        "spread": [325, 375, 400, 275, 450, 475, 350, 400, 350, 550, 600, 650, 700],
        "floor": [0.5, 0.5, 0.75, 0.0, 0.75, 0.5, 0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0],
        "purchase_price": [None] * 5 + [78.0] + [None] * 7,
        "recovery_rate": [None] * 12 + [45.0],
    }  # fmt: skip


@pytest.fixture
def g1() -> Callable[..., Portfolio]:
    """Build the worked pool, with changes to its columns or deal."""

    def build(base_rate: float = 4.30, **columns: list[Any]) -> Portfolio:
        return portfolio_of(
            g1_columns() | columns,
            tranches=tranches_of(
                G1_NOTES,
                coupon=[6.5, 7.0, 7.6, 9.2, 12.0],
                oc={"B": 121.5, "C": 114.0, "D": 106.5, "E": 104.2},
                ic={"B": 120.0, "C": 115.0, "D": 110.0},
            ),
            deal=Deal(principal_cash=5e6, base_rate=base_rate),
        )

    return build


Build = Callable[..., Portfolio]


def reasons(results: Results) -> dict[str, str]:
    return {skip.test_id: skip.reason for skip in results.skipped}


def largest(par: float, **options: Any) -> Any:
    """The largest-obligor result where one obligor has `par` of 100."""
    portfolio = portfolio_of({"par_value": [par], "obligor": ["Acme"]}, deal=Deal(principal_cash=100.0 - par))
    return run_suite(portfolio, test_ids=["single_obligor_concentration"], **options)[0]
