"""A deal of ten loans, and what a trustee would print of it under any convention, added up by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Deal

CASH = 1_234_567.89
OVERDRAFT = -2_345_678.91

PAR = (
    51_123_456.78, 42_234_567.89, 33_345_678.91, 24_456_789.12, 65_567_891.23,
    16_678_912.34, 27_789_123.45, 38_891_234.56, 19_987_654.32, 21_123_987.65,
)  # fmt: skip
DEFAULTED = 6
DISCOUNT = 4
PRICES = (99.0, 98.5, 97.0, 96.0, 84.0, 40.0, 37.5, 55.0, 95.0, 94.0)
MOODYS = ("B2", "B2", "B1", "B2", "B2", "Caa2", "Ca", "Caa1", "B2", "B3")
SP = ("B", "B", "B+", "B", "B", "CCC", "CC", "B-", "CCC+", "B-")
SP_ISSUER = ("B", "B", "B+", "CCC+", "B", "CCC", "CC", "B-", "B-", "B-")
SP_FACILITY = ("B", "CCC", "B+", "B", "B", "CCC", "CC", "B-", "B-", "B-")
SP_FINAL = ("B", "B", "CCC", "B", "B", "CCC", "CC", "B-", "B-", "B-")
SP_DERIVED = ("B", "B", "B+", "B", "B", "B", "CC", "CCC", "B-", "B-")
RECOVERIES = {"a": 30.0, "b": 32.0, "c": 34.0}
ACCRUED = (1_234.56, 2_345.67, 0.0, 3_456.78, 0.0, 0.0, 0.0, 4_567.89, 0.0, 0.0)
INDUSTRIES = {
    "": "AABBCCDDEE", "_a": "ABABABABAB", "_b": "AAABBBCCCC", "_c": "ABCDEABCDE",
}  # fmt: skip
NAMES = (
    "Altona", "Brexham", "Brexham Topco", "Corvina", "Delmare", "Elstree", "Fontana", "Gildern", "Halwood", "Ironvale",
)  # fmt: skip

COLUMNS: dict[str, Any] = {
    "borrower_name": list(NAMES),
    "par_value": list(PAR),
    "price": list(PRICES),
    "purchase_price": [75.0 if at == DISCOUNT else 99.0 for at in range(10)],
    "rating_agency_a": list(MOODYS),
    "rating_agency_b": list(SP),
    "is_defaulted": [at == DEFAULTED for at in range(10)],
    "purchased_accrued_interest": list(ACCRUED),
    "cov_lite": [at % 2 == 0 for at in range(10)],
    "spread": [400.0] * 10,
    "base_rate": ["SOFR"] * 10,
    "country": ["US"] * 10,
    "lien_type": ["First Lien"] * 10,
    **{f"recovery_rate_{agency}": [rate] * 10 for agency, rate in RECOVERIES.items()},
    **{f"industry{agency}": [f"Sector {letter}" for letter in letters] for agency, letters in INDUSTRIES.items()},
}

FURTHER_RATINGS = {
    "rating_agency_b_issuer": list(SP_ISSUER),
    "rating_agency_b_facility": list(SP_FACILITY),
    "rating_agency_b_final": list(SP_FINAL),
    "rating_agency_b_derived": list(SP_DERIVED),
}

TRANCHES = {
    "classes": ["A", "B", "C", "Sub"],
    "current_balance": [150_000_000.0, 40_000_000.0, 30_000_000.0, 50_000_000.0],
    "interest_due": [2_000_000.0, 600_000.0, 500_000.0, 0.0],
    "oc_trigger": [120.0, 110.0, 105.0, float("nan")],
    "ic_trigger": [120.0, 110.0, 105.0, float("nan")],
}
BALANCES = {"A": 150_000_000.0, "B": 190_000_000.0, "C": 220_000_000.0}
DUE = {"A": 2_000_000.0, "B": 2_600_000.0, "C": 3_100_000.0}


def performing() -> float:
    """Par of the loans that are not defaulted."""
    return sum(par for at, par in enumerate(PAR) if at != DEFAULTED)


def carried(at: str = "lower", recovery: float = RECOVERIES["a"]) -> float:
    """What the defaulted loan counts."""
    market = PRICES[DEFAULTED]
    rate = {"lower": min(market, recovery), "market_value": market, "recovery": recovery, "none": 0.0}
    return PAR[DEFAULTED] * rate[at] / 100


def ccc_rows(ratings: tuple[str, ...]) -> list[int]:
    """The performing loans that an agency rates Caa1 (CCC+) or below."""
    low = ("Caa1", "Caa2", "Caa3", "CCC+", "CCC", "CCC-")
    return [at for at, rating in enumerate(ratings) if rating in low and at != DEFAULTED]


def ccc_haircut(ratings: tuple[str, ...], cash: float = CASH) -> float:
    """What the excess over 7.5 percent loses at market value, the cheapest loans first."""
    left = sum(PAR[at] for at in ccc_rows(ratings)) - 0.075 * (performing() + cash)
    lost = 0.0
    for at in sorted(ccc_rows(ratings), key=lambda at: PRICES[at]):
        part = min(max(left, 0.0), PAR[at])
        lost, left = lost + part * (1 - PRICES[at] / 100), left - part
    return lost


def discount_haircut() -> float:
    """What the discount obligation loses at its purchase price."""
    return PAR[DISCOUNT] * 0.25


def adjusted(**words: float) -> float:
    """The numerator of the OC ratios, with some parts as they are said."""
    parts = {
        "cash": CASH, "carried": carried(), "ccc": -ccc_haircut(MOODYS), "discount": -discount_haircut(),
        "accrued": 0.0,
    } | words  # fmt: skip
    return performing() + sum(parts.values())


def accrued() -> float:
    """Purchased accrued interest of the performing loans."""
    return sum(amount for at, amount in enumerate(ACCRUED) if at != DEFAULTED)


def by_industry(agency: str) -> list[float]:
    """Par by industry, the largest first."""
    sums: dict[str, float] = {}
    for at, letter in enumerate(INDUSTRIES[agency]):
        sums[letter] = sums.get(letter, 0.0) + (PAR[at] if at != DEFAULTED else 0.0)
    return sorted(sums.values(), reverse=True)


def share(measure: str, numerator: float, denominator: float | None, *, is_bare: bool = False, **subject: Any) -> Fact:
    """A printed test of a share, to two decimals; `is_bare` leaves the amounts out."""
    whole = performing() + CASH if denominator is None else denominator
    label = f"{measure} {subject}"
    return Fact(
        kind="test", label=label, subject=FactSubject(measure=measure, **subject),
        value=round(numerator / whole * 100, 2),
        unit="percent", decimals=2, numerator=None if is_bare else round(numerator, 2),
        denominator=None if is_bare else round(whole, 2), trigger=50.0, place=f"'Tests'!{label}",
    )  # fmt: skip


def coverage(measure: str, numerator: float, *, is_bare: bool = False) -> list[Fact]:
    """The printed coverage tests of all classes."""
    below = BALANCES if measure == "oc" else DUE
    return [
        Fact(
            kind="test", label=f"Class {name} {measure}", subject=FactSubject(measure=measure, classes=(name,)),
            value=round(numerator / amount * 100, 2), unit="percent", decimals=2, trigger=105.0,
            numerator=None if is_bare else round(numerator, 2), denominator=None if is_bare else amount,
            place=f"'Tests'!{measure}{name}",
        )
        for name, amount in below.items()
    ]  # fmt: skip


def cov_lite(denominator: float | None = None, *, is_bare: bool = False) -> Fact:
    """The share of covenant-lite loans."""
    numerator = sum(par for at, par in enumerate(PAR) if at % 2 == 0 and at != DEFAULTED)
    return share("cov_lite", numerator, denominator, is_bare=is_bare)


def account(amount: float, measure: str = "principal") -> Fact:
    """A balance of an account."""
    place = f"'Accounts'!{amount:.0f}"
    return Fact(kind="account", label="Account", subject=FactSubject(measure=measure), value=amount, place=place)


def portfolio(*facts: Fact, deal: Deal | None = None, **columns: Any) -> Portfolio:
    """The loans, with what their file prints."""
    own = deal or Deal(principal_cash=CASH, currency="USD")
    result = Portfolio.from_columns({**COLUMNS, **columns}, tranches=TRANCHES, deal=own)
    return replace(result, facts=Facts(all=facts))
