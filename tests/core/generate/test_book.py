"""The recipe: the same book for the same seed, inside its caps, with the figures that the calibration found."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from core.generate import LOANS_MAX, LOANS_MIN, SEED_MAX, GeneratedDeal, GenerateError, generate
from core.generate.tables import INDUSTRIES as WEIGHTS
from core.portfolio.model.fields import INDUSTRIES

SEEDS = (1, 2, 3, 4, 5, 6, 7, 8)
AS_OF = "2026-03-31"

FACTORS = {
    "Baa3": 610, "Ba1": 940, "Ba2": 1350, "Ba3": 1766, "B1": 2220, "B2": 2720, "B3": 3490, "Caa1": 4770, "Caa2": 6500,
    "Caa3": 8070, "Ca": 10000,
}  # fmt: skip
CROSSWALK = {
    "BBB-": 10, "BB+": 11, "BB": 12, "BB-": 13, "B+": 14, "B": 15, "B-": 16, "CCC+": 17, "CCC": 18, "CCC-": 19,
    "BBB": 9, "D": 22,
}  # fmt: skip
RANKS = {symbol: rank for rank, symbol in enumerate(FACTORS, 10)}

CALIBRATION = {
    # figure: the least and the greatest of 40 seeds at 300 loans
    "warf": (2664.0, 2807.0),
    "was": (3.49, 3.66),
    "wal": (3.79, 4.11),
    "caa": (3.6, 6.5),
    "oc_senior": (130.3, 131.5),
    "oc_junior": (107.4, 108.3),
    "ic_senior": (172.0, 176.0),
    "ic_junior": (133.0, 136.0),
    "diversity": (80.0, 83.0),
    "obligor": (1.0, 1.8),
    "industry": (11.0, 14.3),
    "second_industry": (8.6, 11.6),
    "below_80": (1.0, 3.8),
    "below_90": (3.6, 9.8),
    "price": (96.6, 97.5),
    "small_facility": (0.0, 3.4),
    "quoted": (86.0, 93.0),
}


def loans_of(deal: GeneratedDeal) -> list[dict[str, Any]]:
    """The columns as a list of plain loans."""
    plain = {}
    for field, column in deal.portfolio_columns().items():
        if isinstance(column, np.ndarray):
            plain[field] = column.tolist()
        else:
            codes, values = column
            plain[field] = [None if code < 0 else values[code] for code in codes.tolist()]
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def diversity_score(units: float) -> float:
    """The score of one industry.

    The lower neighbour in the table of 0.05, 0.15, ... 19.95.
    """
    step = 0
    while step < 200 and 0.1 * (step + 1) - 0.05 <= units + 1e-12:
        step += 1
    if step <= 10:
        return 0.1 * step
    if step <= 30:
        return 1.0 + 0.05 * (step - 10)
    if step <= 60:
        return round(2.0 + (step - 30) / 30.0, 4)
    return 3.0 + 0.025 * (step - 60) if step <= 100 else 4.0 + 0.01 * (step - 100)


def figures_of(deal: GeneratedDeal) -> dict[str, float]:
    """The figures of the calibration, with its definitions.

    No discount and no deferring loans in the coverage.
    """
    loans = loans_of(deal)
    performing = [loan for loan in loans if not loan["is_defaulted"]]
    total = deal.book.target_par
    cash = total - sum(loan["par_value"] for loan in loans)
    par = sum(loan["par_value"] for loan in performing)
    principal = par + cash
    by_obligor: dict[str, float] = defaultdict(float)
    by_industry: dict[str, float] = defaultdict(float)
    industry_of = {}
    for loan in performing:
        by_obligor[loan["borrower_name"]] += loan["par_value"]
        by_industry[loan["industry"]] += loan["par_value"]
        industry_of[loan["borrower_name"]] = loan["industry"]
    units: dict[str, float] = defaultdict(float)
    for name, current in by_obligor.items():
        units[industry_of[name]] += min(1.0, current / (par / len(by_obligor)))

    caa = sorted(
        (loan for loan in performing if loan["rating_agency_a"].startswith("Caa")), key=lambda loan: loan["price"]
    )
    caa_par = sum(loan["par_value"] for loan in caa)
    excess, haircut = max(0.0, caa_par - 0.075 * principal), 0.0
    for loan in caa:
        cut = min(excess, loan["par_value"])
        haircut += cut * (1.0 - loan["price"] / 100.0)
        excess -= cut
    defaulted = sum(loan["par_value"] * min(loan["price"], 45.0) / 100.0 for loan in loans if loan["is_defaulted"])
    adjusted = principal - haircut + defaulted
    interest = sum(loan["par_value"] * loan["all_in_rate"] / 100.0 * 0.25 for loan in performing)
    interest -= principal * 0.002 * 0.25
    notes = ((64.0, 130), (12.0, 175), (6.0, 220), (7.0, 330), (3.25, 620))
    due = [share / 100.0 * total * (4.30 + spread / 100.0) / 100.0 * 0.25 for share, spread in notes]

    def average(field: str, rows: list[dict[str, Any]]) -> float:
        return sum(loan["par_value"] * loan[field] for loan in rows) / sum(loan["par_value"] for loan in rows)

    def share(rows: list[dict[str, Any]], of: float = principal) -> float:
        return sum(loan["par_value"] for loan in rows) / of * 100.0

    as_of = int(np.datetime64(AS_OF).astype("datetime64[D]").astype(int))
    industries = sorted(by_industry.values(), reverse=True)
    return {
        "warf": sum(loan["par_value"] * FACTORS[loan["rating_agency_a"]] for loan in performing) / par,
        "was": average("spread", [loan for loan in performing if loan["coupon_type"] == "Floating"]) / 100.0,
        "wal": (average("maturity_date", performing) - as_of) / 365.25,
        "caa": share(caa),
        "oc_senior": adjusted / (0.76 * total) * 100.0,
        "oc_junior": adjusted / (0.9225 * total) * 100.0,
        "ic_senior": interest / sum(due[:2]) * 100.0,
        "ic_junior": interest / sum(due) * 100.0,
        "diversity": sum(diversity_score(unit) for unit in units.values()),
        "obligor": max(by_obligor.values()) / principal * 100.0,
        "industry": industries[0] / principal * 100.0,
        "second_industry": industries[1] / principal * 100.0,
        "below_80": share([loan for loan in performing if loan["price"] < 80.0], par),
        "below_90": share([loan for loan in performing if loan["price"] < 90.0], par),
        "price": average("price", performing),
        "small_facility": share(
            [
                loan
                for loan in performing
                if loan["facility_size"] < (150e6 if loan["country"] == "United States" else 250e6)
            ]
        ),
        "quoted": share([loan for loan in performing if loan["quote_depth"] >= 2.0], par),
    }


def test_the_figures_are_those_of_the_calibration() -> None:
    """On average inside the calibrated range.

    Single books, drawn with other streams of chance, near it.
    """
    by_seed = [figures_of(generate(300, seed)) for seed in SEEDS]
    for figure, (low, high) in CALIBRATION.items():
        values = [figures[figure] for figures in by_seed]
        slack = 0.6 * (high - low)
        assert low <= sum(values) / len(values) <= high, (figure, values)
        assert low - slack <= min(values), (figure, values)
        assert max(values) <= high + slack, (figure, values)


@pytest.mark.parametrize("loans", [200, 300, 2_001])
@pytest.mark.parametrize("seed", [1, 7])
def test_the_book_keeps_its_caps(loans: int, seed: int) -> None:
    deal = generate(loans, seed)
    target = deal.book.target_par
    assert target == (500e6 if loans <= 600 else loans * 1.6e6)
    rows = loans_of(deal)
    rounding = 500.0 * 8  # an obligor or a small industry has a handful of loans, each rounded to a thousand
    by_obligor: dict[str, float] = defaultdict(float)
    by_industry: dict[str, float] = defaultdict(float)
    for loan in rows:
        assert loan["par_value"] % 1_000.0 == 0.0
        assert loan["par_value"] >= 10_000.0
        by_obligor[loan["borrower_name"]] += loan["par_value"]
        by_industry[loan["industry"]] += loan["par_value"]
    assert max(by_obligor.values()) <= 0.020 * target + rounding
    assert max(loan["par_value"] for loan in rows) <= 0.015 * target + rounding
    weights = dict(WEIGHTS)
    for name, par in by_industry.items():
        assert par <= 1.10 * target * weights[name] / sum(weights.values()) + 500.0 * loans * 0.15, name
    caa = sum(loan["par_value"] for loan in rows if loan["rating_agency_a"].startswith("Caa"))
    assert caa <= 0.062 * target + 500.0 * loans * 0.06
    assert sum(by_obligor.values()) + (deal.deal.principal_cash or 0.0) == pytest.approx(target)
    assert 0.005 * target < (deal.deal.principal_cash or 0.0) < 0.03 * target


def test_ratings_follow_the_mix_and_the_agencies_each_other() -> None:
    rows = loans_of(generate(5_000, 3))
    obligors = {loan["borrower_name"]: loan for loan in rows}
    assert len(obligors) == 4_300
    count = sum(loan["rating_agency_a"] == "B2" for loan in obligors.values())
    assert count / 4_300 == pytest.approx(0.34, abs=0.001)
    moved = 0
    for loan in obligors.values():
        rank, second, third = (
            RANKS[loan["rating_agency_a"]],
            CROSSWALK[loan["rating_agency_b"]],
            loan["rating_agency_c"],
        )
        if loan["is_defaulted"]:
            assert (loan["rating_agency_a"], loan["rating_agency_b"]) == ("Ca", "D")
            continue
        assert abs(second - rank) <= 1
        assert second <= rank or rank < RANKS["B3"]
        assert third is None or CROSSWALK[third] == rank
        moved += second != rank
    assert moved / 4_300 == pytest.approx(0.17, abs=0.03)
    assert sum(loan["rating_agency_c"] is not None for loan in obligors.values()) / 4_300 == pytest.approx(
        0.35, abs=0.03
    )


def test_the_terms_of_a_loan_hang_together() -> None:
    as_of = int(np.datetime64(AS_OF).astype("datetime64[D]").astype(int))
    for loan in loans_of(generate(3_000, 4)):
        if loan["coupon_type"] == "Fixed":
            assert np.isnan(loan["spread"])
            assert np.isnan(loan["floor"])
            assert loan["base_rate"] is None
        else:
            assert loan["spread"] >= 125.0
            assert loan["spread"] % 12.5 == 0.0
            assert loan["floor"] in (0.0, 0.5, 0.75, 1.0)
            assert loan["all_in_rate"] == pytest.approx(max(4.30, loan["floor"]) + loan["spread"] / 100.0)
        assert 5.0 <= loan["price"] <= 101.0
        assert loan["purchase_price"] <= 100.5
        assert 0.25 * 365.25 - 16 <= loan["maturity_date"] - as_of <= 7.0 * 365.25 + 16
        assert (loan["days_past_due"] >= 90.0) == loan["is_defaulted"]
        assert loan["lien_type"] == "First Lien" or loan["rating_agency_a"] in ("B3", "Caa1", "Caa2")


def test_identifiers_are_missing_as_often_as_the_recipe_says() -> None:
    rows = loans_of(generate(20_000, 2))
    no_cusip = sum(not loan["cusip"] for loan in rows)
    no_loanx = sum(not loan["loanx_id"] for loan in rows)
    neither = sum(not loan["cusip"] and not loan["loanx_id"] for loan in rows)
    assert [no_cusip / 200, no_loanx / 200, neither / 200] == pytest.approx([8.0, 3.0, 1.0], abs=0.6)
    assert all(bool(loan["isin"]) == bool(loan["cusip"]) for loan in rows)


def bytes_of(deal: GeneratedDeal) -> dict[str, bytes]:
    columns = deal.portfolio_columns()
    return {
        field: column.tobytes() if isinstance(column, np.ndarray) else column[0].tobytes() + repr(column[1]).encode()
        for field, column in columns.items()
    }


def test_the_same_seed_gives_the_same_bytes() -> None:
    first = bytes_of(generate(300, 21))
    assert bytes_of(generate(300, 21)) == first
    assert bytes_of(generate(300, 21, messy=["blanks", "negative_par"])) == first
    second = bytes_of(generate(300, 22))
    alike = {field for field in first if first[field] == second[field]}
    assert alike == {"currency"}


def test_the_book_knows_the_industries_of_the_portfolio() -> None:
    assert tuple(name for name, _ in WEIGHTS) == INDUSTRIES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loans": LOANS_MIN - 1}, "loans must be between 200 and 999,999, not 199"),
        ({"loans": LOANS_MAX + 1}, "loans must be between 200 and 999,999, not 1,000,000"),
        ({"seed": -1}, "seed must be between 0 and 9,223,372,036,854,775,807, not -1"),
        ({"seed": SEED_MAX + 1}, "not 9,223,372,036,854,775,808"),
        (
            {"faults": ["breach_everything"]},
            "unknown fault 'breach_everything': choose from breach_obligor, breach_ccc",
        ),
        ({"loans": LOANS_MAX, "messy": ["totals_row"]}, "take up to 1,000,001 rows; a sheet has 1,000,000"),
        ({"messy": ["coffee_stain"]}, "unknown messy 'coffee_stain': choose from title_rows"),
    ],
)
def test_what_cannot_be_made_is_refused_with_what_can(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GenerateError, match=message):
        generate(**arguments)


def test_the_smallest_book_can_be_made() -> None:
    assert generate(LOANS_MIN, SEED_MAX).loans == LOANS_MIN
