"""A pool of loans whose every field is known, drawn by seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Any, Final

from tests.made_reports.draws import company, cusip, distinct, isin, loanx

MOODYS: Final = ("Ba1", "Ba2", "Ba3", "B1", "B2", "B3", "Caa1", "Caa2", "Caa3", "Ca")
SP: Final = ("BB+", "BB", "BB-", "B+", "B", "B-", "CCC+", "CCC", "CCC-", "CC")
_RATING_WEIGHTS: Final = (1, 3, 8, 16, 36, 26, 5, 3, 1, 1)
_SPREADS: Final = (225, 250, 275, 300, 325, 350, 375, 400, 425, 450, 475, 500, 525, 550, 600, 650)
_FLOORS: Final = (0.0, 0.0, 0.0, 0.5, 0.5, 0.75, 1.0)
_RECOVERY_MOODYS: Final = (30.0, 35.0, 40.0, 45.0, 50.0, 60.0)

INDUSTRIES: Final = (
    # Moody's, S&P, Fitch
    ("High Tech Industries", "Software", "Computer & Electronics"),
    ("Healthcare & Pharmaceuticals", "Health Care Providers & Services", "Healthcare"),
    ("Services: Business", "Professional Services", "Business Services"),
    ("Banking, Finance, Insurance & Real Estate", "Insurance", "Banking & Finance"),
    ("Construction & Building", "Building Products", "Building & Materials"),
    ("Hotel, Gaming & Leisure", "Hotels, Restaurants & Leisure", "Gaming, Leisure & Entertainment"),
    ("Chemicals, Plastics & Rubber", "Chemicals", "Chemicals"),
    ("Containers, Packaging & Glass", "Containers & Packaging", "Packaging & Containers"),
    ("Telecommunications", "Diversified Telecommunication Services", "Telecommunications"),
    ("Beverage, Food & Tobacco", "Food Products", "Food, Beverage & Tobacco"),
    ("Aerospace & Defense", "Aerospace & Defense", "Aerospace & Defense"),
    ("Energy: Oil & Gas", "Oil, Gas & Consumable Fuels", "Energy"),
    ("Media: Broadcasting & Subscription", "Media", "Broadcasting & Media"),
    ("Automotive", "Auto Components", "Automobiles"),
    ("Retail", "Specialty Retail", "Retail"),
)

_FACILITIES: Final = (
    "Term Loan B", "Initial Term Loan", "Term Loan B-2", "First Lien Term Loan", "2021 Incremental Term Loan",
    "Tranche B-1 Term Loan", "Term B Loan", "Refinancing Term Loan", "Extended Term Loan", "Closing Date Term Loan",
)  # fmt: skip
_FACILITIES_EURO: Final = (
    "Facility B", "Facility B1 (EUR)", "Senior Facility B", "Facility B2 Loan", "Term Loan B", "Facility B4",
)  # fmt: skip


@dataclass(frozen=True)
class Market:
    """What loans of one market share."""

    currency: str
    index: str
    countries: tuple[str, ...]
    facilities: tuple[str, ...]


MARKETS: Final = {
    "us": Market("USD", "SOFR", ("US",) * 17 + ("CA", "GB", "LU"), _FACILITIES),
    "libor": Market("USD", "LIBOR", ("US",) * 17 + ("CA", "GB", "NL"), _FACILITIES),
    "euro": Market("EUR", "EURIBOR", ("FR", "DE", "NL", "LU", "GB", "IE", "ES", "FR", "DE", "US"), _FACILITIES_EURO),
}


@dataclass
class Deal:
    """Loans as columns under the names of items, in standard units.

    Percent, basis points, days, whole currency.
    """

    seed: int
    market: Market
    as_of: date
    name: str
    items: dict[str, list[Any]]
    size: int
    cash: float
    classes: list[tuple[str, float]] = field(default_factory=list)
    """Class and balance of the notes, the most senior first."""

    @property
    def par(self) -> float:
        return float(sum(self.items["par"]))


def draw_deal(seed: int, market: str, size: int) -> Deal:
    """Draw the deal of a seed."""
    rng = Random(f"deal {seed}")
    terms = MARKETS[market]
    as_of = date(2017, 3, 31) if terms.index == "LIBOR" else date(2024, 1, 31)
    as_of += timedelta(days=rng.randrange(0, 540))
    base = round(rng.uniform(0.9, 2.4) if terms.index == "LIBOR" else rng.uniform(2.1, 5.3), 4)
    loans: list[dict[str, Any]] = []
    used: set[str] = set()
    while len(loans) < size:
        obligor = _obligor(rng, terms, used)
        for number in range(rng.choices((1, 2), (86, 14))[0]):
            loans.append(_loan(rng, terms, obligor | {"used": used}, as_of, base, number))
    loans = loans[:size]
    items = {name: [loan[name] for loan in loans] for name in loans[0]}
    par = sum(items["par"])
    names = ("A", "B", "C", "D", "E", "Subordinated")
    shares = (0.62, 0.12, 0.06, 0.06, 0.04, 0.09)
    classes = [(class_name, round(par * share, -5)) for class_name, share in zip(names, shares, strict=True)]
    title = f"{rng.choice(('Garnet', 'Pinyon', 'Solway', 'Tamar', 'Wexford'))} {rng.choice(('Park', 'Hill', 'Creek'))}"
    kind = "Euro CLO" if market == "euro" else "CLO"
    tail = "DAC" if market == "euro" else "Ltd."
    name = f"{title} {kind} {rng.choice(('II', 'IV', 'VII', '2021-1', '2022-3'))}, {tail}"
    return Deal(seed, terms, as_of, name, items, size, round(rng.uniform(1e6, 9e6), 2), classes)


_RATES: Final = {"EUR": 1.0844, "GBP": 1.2637, "CAD": 0.7391}


def make_foreign(rng: Random, deal: Deal) -> None:
    """Put some loans into another currency.

    Par stays in the deal's, and par_native is in the loan's own.
    """
    currencies = [rng.choice(tuple(_RATES)) if rng.random() < 0.08 else "USD" for _ in range(deal.size)]
    rates = [_RATES.get(currency, 1.0) for currency in currencies]
    native = [round(par / rate, 2) for par, rate in zip(deal.items["par"], rates, strict=True)]
    deal.items |= {"currency": currencies, "fx_rate": rates, "par_native": native}


def _obligor(rng: Random, terms: Market, used: set[str]) -> dict[str, Any]:
    country = rng.choice(terms.countries)
    rating = rng.choices(range(10), _RATING_WEIGHTS)[0]
    moodys = min(9, max(0, rating + rng.choice((-1, 0, 0, 0, 1))))
    industry = rng.choice(INDUSTRIES)
    name = company(rng, country, used)
    return {
        "borrower": name,
        "issuer_id": distinct(lambda: str(rng.randrange(200_000, 999_999)), used),
        "country": country,
        "currency": terms.currency,
        "industry_moodys": industry[0],
        "industry_sp": industry[1],
        "industry_fitch": industry[2],
        "moodys_cfr": MOODYS[moodys],
        "sp_issuer": SP[rating],
        "moodys": MOODYS[moodys],
        "sp": SP[rating],
        "fitch": SP[rating] if rng.random() < 0.6 else None,
        "watch_moodys": rng.choice(("Negative", "Positive")) if rng.random() < 0.06 else None,
        "watch_sp": rng.choice(("Negative", "Positive")) if rng.random() < 0.06 else None,
    }


def _loan(rng: Random, terms: Market, obligor: dict[str, Any], as_of: date, base: float, number: int) -> dict[str, Any]:
    """Draw one facility of an obligor."""
    is_bond = rng.random() < 0.05
    is_second = not is_bond and number == 1 and rng.random() < 0.4
    is_revolver = not is_bond and not is_second and rng.random() < 0.04
    is_delayed = not (is_bond or is_second or is_revolver) and rng.random() < 0.05
    is_defaulted = rng.random() < 0.025
    lien = 2 if is_second else 4 if is_bond else 1
    sp_at, moodys_at = SP.index(obligor["sp_issuer"]), MOODYS.index(obligor["moodys_cfr"])
    notch = 1 if is_second else -1 if rng.random() < 0.4 else 0
    floor, level = rng.choice(_FLOORS), round(base + rng.choice((0.0, 0.0, 0.0075, -0.0121)), 4)
    spread = float(rng.choice(_SPREADS) + (350 if is_second else 0))
    all_in = round(rng.choice((4.0, 4.5, 5.0, 5.75, 6.25, 7.0)) if is_bond else max(level, floor) + spread / 100, 4)
    price = round(rng.uniform(18, 62) if is_defaulted else min(101.2, rng.gauss(98.2, 2.2)), 3)
    par = round(rng.uniform(0.4e6, 6e6), 2) if rng.random() < 0.6 else float(rng.randrange(2, 30) * 250_000)
    size = float(rng.randrange(150, 2600) * 1_000_000)
    used = obligor.pop("used")
    code = distinct(lambda: cusip(rng), used)
    life = rng.randrange(420, 2700)
    return obligor | {
        "facility": _facility(rng, terms, number, is_bond, is_second, is_revolver, is_delayed),
        "cusip": code,
        "loanx": None if is_bond else distinct(lambda: loanx(rng), used),
        "isin": isin("XS", f"{rng.randrange(10**8, 10**9)}") if terms.currency == "EUR" else isin("US", code),
        "par": par,
        "unfunded": round(par * rng.uniform(0.2, 1.2), 2) if is_revolver or is_delayed else 0.0,
        "price": price,
        "purchase_price": round(rng.uniform(95.5, 100.5), 3),
        "spread": None if is_bond else spread,
        "floor": None if is_bond else floor,
        "base_level": None if is_bond else level,
        "all_in": all_in,
        "index": None if is_bond else terms.index,
        "fixed": is_bond,
        "moodys_dp": obligor["moodys_cfr"],
        "moodys_facility": MOODYS[min(9, max(0, moodys_at + notch))],
        "sp_facility": "D" if is_defaulted else SP[min(9, max(0, sp_at + notch))],
        "recovery_moodys": rng.choice(_RECOVERY_MOODYS) - (15.0 if is_second else 0),
        "recovery_sp": round(rng.choice((38.0, 41.0, 43.5, 45.0, 50.0)), 1),
        "recovery_fitch": rng.choice((60.0, 65.0, 70.0, 51.0)),
        "maturity": as_of + timedelta(days=life),
        "average_life": round(life / 365.25 * rng.uniform(0.88, 0.99), 2),
        "frequency": "Semi-Annual" if is_bond else rng.choices(("Quarterly", "Monthly"), (80, 20))[0],
        "lien": lien,
        "defaulted": is_defaulted,
        "default_date": as_of - timedelta(days=rng.randrange(20, 300)) if is_defaulted else None,
        "cov_lite": not is_bond and rng.random() < 0.55,
        "dip": rng.random() < 0.015,
        "current_pay": rng.random() < 0.02,
        "deferring": rng.random() < 0.02,
        "participation": rng.random() < 0.03,
        "bond": is_bond,
        "revolver": is_revolver,
        "delayed_draw": is_delayed,
        "facility_size": size,
        "quote_depth": float(rng.randrange(1, 14)),
    }  # fmt: skip


def _facility(
    rng: Random, terms: Market, number: int, is_bond: bool, is_second: bool, is_revolver: bool, is_delayed: bool
) -> str:
    name = rng.choice(terms.facilities)
    if is_bond:
        name = rng.choice(("Senior Secured Notes", "Senior Notes", "Secured Notes 2028"))
    elif is_second:
        name = "Second Lien Term Loan"
    elif is_revolver:
        name = "Revolving Credit Facility"
    elif is_delayed:
        name = "Delayed Draw Term Loan"
    return rng.choice(("{} (Add-on)", "{} (2023)", "{} II", "Incremental {}")).format(name) if number else name
