"""A plain, slow twin of every compliance measure, written from the tests' definitions and never from the kernels."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from core.portfolio import Portfolio

FACTOR_BY_RANK = (
    8070, 1, 10, 20, 40, 70, 120, 180, 260, 360, 610, 940, 1350, 1766, 2220, 2720, 3490, 4770, 6500, 8070,
    10000, 10000, 10000,
)  # fmt: skip
RECOVERY = {2: (60, 55, 45), 1: (50, 45, 35), 0: (45, 35, 30), -1: (40, 25, 25), -2: (30, 15, 15), -3: (20, 5, 5)}
CLAIM_OF_LIEN = {0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 1}
DAYS = 365.25


def diversity_table() -> tuple[list[float], list[float]]:
    units, scores = [0.0], [0.0]
    for i in range(1, 201):
        units.append(round(0.1 * i - 0.05, 2))
        if i <= 10:
            score = 0.1 * i
        elif i <= 30:
            score = 1 + 0.05 * (i - 10)
        elif i <= 60:
            score = round(2 + (i - 30) / 30, 4)
        elif i <= 100:
            score = 3 + 0.025 * (i - 60)
        else:
            score = 4 + 0.01 * (i - 100)
        scores.append(score)
    return units, scores


UNITS, SCORES = diversity_table()


@dataclass
class Loan:
    """One row; None is blank."""

    row: int
    par: float
    values: dict[str, float | None]
    names: dict[str, str | None]
    flags: dict[str, bool]
    ranks: dict[str, int]
    lien: int
    base: float | None
    years: float | None = None
    carried: float = 100.0
    extra: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float | None:
        return self.values.get(name)

    @property
    def fixed(self) -> bool:
        return self.flags.get("is_fixed", False)

    def asset_recovery(self, notches: int = 0) -> float:
        return 50.0 if self.flags.get("is_dip") else RECOVERY[max(-3, min(2, notches))][CLAIM_OF_LIEN[self.lien]]


def finite(value: float | None) -> float | None:
    return None if value is None or not isfinite(value) else float(value)


def loans_of(portfolio: Portfolio) -> list[Loan]:
    rows = []
    for i in range(portfolio.row_count):
        par = finite(portfolio.numbers["par_value"][i])
        if par is None:
            continue
        values = {name: finite(column[i]) for name, column in portfolio.numbers.items()}
        names = {
            name: column.values[column.codes[i]] if column.codes[i] >= 0 else None
            for name, column in portfolio.names.items()
        }
        base = values.get("base_rate_level")
        rows.append(
            Loan(
                row=i,
                par=par,
                values=values,
                names=names,
                flags={name: bool(column[i]) for name, column in portfolio.flags.items()},
                ranks={name: int(column[i]) for name, column in portfolio.ranks.items()},
                lien=0 if portfolio.lien is None else int(portfolio.lien[i]),
                base=finite(portfolio.deal.base_rate) if base is None else base,
            )
        )
    return rows


def is_defaulted(loan: Loan, as_of: float | None) -> bool:
    if loan.flags.get("is_current_pay"):
        return False
    dated = loan["default_date"]
    return (
        loan.flags.get("is_defaulted", False)
        or 22 in (loan.ranks.get("rating_agency_b"), loan.ranks.get("rating_agency_c"), loan.ranks.get("rating"))
        or (loan["days_past_due"] or 0.0) >= 90
        or (dated is not None and (as_of is None or dated <= as_of))
    )


def recovered(loan: Loan) -> float:
    """Percent: the lesser of price and recovery.

    The recovery that the average takes where the loan has none itself.
    """
    recovery = _recovery(loan)
    price = loan["price"]
    return min(100.0, max(0.0, recovery if price is None else min(price, recovery)))


def is_discount(loan: Loan) -> bool:
    line, release = (75, 85) if loan.fixed else (80, 90)
    bought, price = loan["purchase_price"], loan["price"]
    return bought is not None and 0 <= bought < line and (price is None or price < release)


def effective_spread(loan: Loan) -> float | None:
    spread, coupon = loan["spread"], loan["all_in_rate"]
    if spread is not None:
        floor = loan["floor"]
        return spread + (max(0.0, floor - loan.base) * 100 if floor is not None and loan.base is not None else 0.0)
    if coupon is not None and loan.base is not None:
        return (coupon - loan.base) * 100
    return None


def yearly_rate(loan: Loan) -> float | None:
    if loan["all_in_rate"] is not None:
        return loan["all_in_rate"]
    index = [value for value in (loan.base, loan["floor"]) if value is not None]
    if loan["spread"] is None or not index:
        return None
    return max(index) + loan["spread"] / 100


def factor_rank(loan: Loan) -> int:
    for name in ("rating_agency_a", "rating_agency_b", "rating_agency_c", "rating"):
        if loan.ranks.get(name):
            return loan.ranks[name]
    return 0


def in_bucket(loan: Loan, agency: str) -> bool:
    agencies = ("rating_agency_a", "rating_agency_b", "rating_agency_c")
    if any(loan.ranks.get(name) for name in agencies):
        return loan.ranks.get(agency, 0) >= 17
    own = loan.ranks.get("rating", 0)
    return own == 0 or own >= 17


def fraction_of(portfolio: Portfolio) -> float:
    """The part of a year that a payment is for."""
    days = finite(portfolio.deal.payment_days)
    return days / 360 if days is not None and days > 0 else 0.25


class Deal:
    """Everything that the measures need, the plain way."""

    def __init__(self, portfolio: Portfolio, loans: list[Loan] | None = None) -> None:
        self.portfolio = portfolio
        deal = portfolio.deal
        self.as_of = finite(deal.as_of)
        everything = loans_of(portfolio) if loans is None else loans
        self.defaulted = [loan for loan in everything if is_defaulted(loan, self.as_of)]
        self.performing = [loan for loan in everything if not is_defaulted(loan, self.as_of)]
        self.par = sum(loan.par for loan in self.performing)
        self.cpa = self.par + (finite(deal.principal_cash) or 0.0)
        self.fraction = fraction_of(portfolio)

    def total(self, wanted: Callable[[Loan], bool]) -> float:
        return max(0.0, sum(loan.par for loan in self.performing if wanted(loan)))

    def share(self, wanted: Callable[[Loan], bool]) -> float:
        return self.total(wanted) / self.cpa * 100

    def sums(self, name: str) -> dict[str, float]:
        par: dict[str, float] = defaultdict(float)
        for loan in self.performing:
            if loan.names.get(name) is not None:
                par[str(loan.names[name])] += loan.par
        return par

    def largest(self, name: str) -> list[float]:
        return sorted((max(0.0, par) for par in self.sums(name).values()), reverse=True)

    def bucket(self) -> tuple[str, float]:
        best, most = "rating_agency_a", float("-inf")
        for agency in ("rating_agency_a", "rating_agency_b", "rating_agency_c"):
            par = sum(loan.par for loan in self.performing if in_bucket(loan, agency))
            if par > most:
                best, most = agency, par
        return best, max(0.0, most)

    def adjusted(self) -> float:
        amount = self.cpa
        carried: dict[int, float] = {}
        for loan in self.performing:
            value = 100.0
            if is_discount(loan):
                value = min(value, loan["purchase_price"] or 0.0)
            if loan.flags.get("is_deferring"):
                value = min(value, recovered(loan))
            carried[loan.row] = value
            amount -= loan.par * (1 - value / 100)
        agency, bucket = self.bucket()
        left = max(0.0, bucket - 0.075 * self.cpa)
        rows = [loan for loan in self.performing if in_bucket(loan, agency) and loan.par > 0]
        # Lots of one identifier are added up before a measure sees them; should two be left, the lower value is first.
        for loan in sorted(rows, key=lambda loan: (self.mark(loan), self.identity(loan), carried[loan.row])):
            price = self.mark(loan)
            part = min(left, loan.par)
            left -= part
            value = min(carried[loan.row], max(0.0, min(price, 100.0)))
            amount -= part * (carried[loan.row] - value) / 100
        for loan in self.defaulted:
            dated = loan["default_date"]
            old = dated is not None and self.as_of is not None and (self.as_of - dated) / DAYS > 3
            amount += 0.0 if old else loan.par * recovered(loan) / 100
        return amount

    def mark(self, loan: Loan) -> float:
        return 70.0 if loan["price"] is None else loan["price"]

    def identity(self, loan: Loan) -> tuple[str, ...]:
        return tuple(loan.names.get(name) or "" for name in ("cusip", "loanx_id", "isin", "obligor", "facility_name"))

    def income(self) -> float:
        """Collected and still to be received.

        What is not known of the two is what the loans bear, but not twice.
        """
        deal = self.portfolio.deal
        yearly = sum(
            loan.par * (yearly_rate(loan) or 0.0) / 100
            for loan in self.performing
            if not loan.flags.get("is_deferring")
        )
        fees = finite(deal.senior_fees)
        if fees is None:
            fees = 0.20 / 100 * self.cpa * self.fraction
        collected, receivable = finite(deal.interest_collected), finite(deal.interest_receivable)
        if collected is None:
            return yearly * self.fraction - fees
        if receivable is not None:
            return collected + receivable - fees
        if deal.next_payment is not None and self.as_of is not None and deal.next_payment >= self.as_of:
            return collected + yearly * min(self.fraction, (deal.next_payment - self.as_of) / 360) - fees
        return max(collected, yearly * self.fraction) - fees

    def life(self, loan: Loan) -> float | None:
        if loan["average_life"] is not None:
            return max(0.0, loan["average_life"])
        maturity = loan["maturity_date"]
        bullet = None if maturity is None or self.as_of is None else max(0.0, maturity - self.as_of) / DAYS
        schedule = self.portfolio.amortization
        if schedule is None or self.as_of is None:
            return bullet
        paid = [
            (float(amount), (float(day) - self.as_of) / DAYS)
            for row, day, amount in zip(schedule.row, schedule.days, schedule.amount, strict=True)
            if row == loan.row and day >= self.as_of and amount > 0 and isfinite(amount)
        ]
        rest = max(0.0, loan.par - sum(amount for amount, _ in paid))
        if not paid:
            return bullet
        if rest > 0:
            if bullet is None:
                return None
            paid.append((rest, bullet))
        return sum(amount * years for amount, years in paid) / sum(amount for amount, _ in paid)

    def score(self, field: str = "industry", industries: Sequence[str] | None = None) -> float:
        par = {name: amount for name, amount in self.sums("obligor").items() if amount > 0}
        average = self.par / len(par)
        industries = self.portfolio.names[field].values if industries is None else industries
        place = {name: code for code, name in enumerate(industries)}
        largest: dict[str, tuple[float, int, str]] = {}
        for loan in self.performing:
            name, industry = loan.names["obligor"], loan.names[field]
            if name is None or loan.par <= 0:
                continue
            code = len(industries) if industry is None else place[industry]
            offer = (-loan.par, code, industry or "Unclassified")
            largest[name] = min(largest.get(name, offer), offer)
        units: dict[str, float] = defaultdict(float)
        for name, amount in par.items():
            units[largest[name][2]] += min(1.0, amount / average)
        return sum(SCORES[bisect_right(UNITS, total + 1e-9) - 1] for total in units.values())


def groups(portfolio: Portfolio, fraction: float) -> list[dict[str, Any]]:
    """Rated notes by rank, senior first, each with the cumulative figures.

    Interest is of a fraction of the year.
    """
    notes = portfolio.tranches
    assert notes is not None
    base = finite(portfolio.deal.base_rate)
    by_rank: dict[int, dict[str, Any]] = {}
    for i, name in enumerate(notes.classes):
        if notes.is_income[i]:
            continue
        group = by_rank.setdefault(
            int(notes.rank[i]), {"name": name, "balance": 0.0, "due": 0.0, "oc": None, "ic": None}
        )
        balance = finite(notes.current_balance[i]) or 0.0
        group["balance"] += balance + (finite(notes.deferred_interest[i]) or 0.0)
        due, coupon, spread = (finite(c[i]) for c in (notes.interest_due, notes.coupon, notes.spread))
        if due is None and coupon is None and base is not None and spread is not None:
            coupon = base + spread / 100
        if due is None and coupon is not None:
            due = balance * coupon / 100 * fraction
        group["due"] += due or 0.0
        for key, column in (("oc", notes.oc_trigger), ("ic", notes.ic_trigger)):
            trigger = finite(column[i])
            if trigger is not None:
                group[key] = trigger
    ordered = [by_rank[rank] for rank in sorted(by_rank)]
    balance = due = 0.0
    for group in ordered:
        balance, due = balance + group["balance"], due + group["due"]
        group["balance"], group["due"] = balance, due
    return ordered


def tested(portfolio: Portfolio, kind: str, place: int) -> dict[str, Any]:
    """The tested group of a role; only for sheets that give triggers."""
    chosen = [group for group in groups(portfolio, fraction_of(portfolio)) if group[kind] is not None]
    return chosen[place]


def average(pairs: list[tuple[float, float]]) -> float:
    return sum(par * value for par, value in pairs) / sum(par for par, _ in pairs)


def measure(portfolio: Portfolio, test_id: str) -> float:
    """The figure of one test, for a portfolio that has what it needs."""
    deal = Deal(portfolio)
    return MEASURES[test_id](deal)


def _wal(deal: Deal) -> float:
    return average([(loan.par, years) for loan in deal.performing if (years := deal.life(loan)) is not None])


def _was(deal: Deal) -> float:
    floating = [loan for loan in deal.performing if not loan.fixed]
    spread = average([(loan.par, s) for loan in floating if (s := effective_spread(loan)) is not None]) / 100
    reference = finite(deal.portfolio.deal.reference_coupon)
    coupons = [(loan.par, c) for loan in deal.performing if loan.fixed and (c := loan["all_in_rate"]) is not None]
    if reference is None or not sum(par for par, _ in coupons):
        return spread
    fixed_par = sum(loan.par for loan in deal.performing if loan.fixed)
    return spread + (average(coupons) - reference) * fixed_par / sum(loan.par for loan in floating)


def _priced_share(deal: Deal, line: float) -> float:
    priced = [loan for loan in deal.performing if loan["price"] is not None]
    below = sum(loan.par for loan in priced if (loan["price"] or 0.0) < line)
    return max(0.0, below) / sum(loan.par for loan in priced) * 100


def _small(loan: Loan) -> bool:
    foreign = loan.names["country"] not in (None, "US")
    return loan["facility_size"] is not None and loan["facility_size"] < (250e6 if foreign else 150e6)


def _delinquent(deal: Deal) -> float:
    bad = sum(loan.par for loan in deal.defaulted)
    late = sum(loan.par for loan in deal.performing if (loan["days_past_due"] or 0.0) > 30)
    return max(0.0, bad + late) / (deal.par + bad) * 100


def _recovery(loan: Loan) -> float:
    if loan["recovery_rate"] is not None:
        return loan["recovery_rate"]
    likely, facility = loan.ranks.get("rating_agency_a", 0), loan.ranks.get("facility_rating_agency_a", 0)
    return loan.asset_recovery(likely - facility if likely and facility else 0)


def _oc(place: int) -> Callable[[Deal], float]:
    return lambda deal: deal.adjusted() / tested(deal.portfolio, "oc", place)["balance"] * 100


def _ic(place: int) -> Callable[[Deal], float]:
    return lambda deal: deal.income() / tested(deal.portfolio, "ic", place)["due"] * 100


def _at(ranked: list[float], place: int) -> float:
    return ranked[place] if place < len(ranked) else 0.0


MEASURES: dict[str, Callable[[Deal], float]] = {
    "single_obligor_concentration": lambda deal: _at(deal.largest("obligor"), 0) / deal.cpa * 100,
    "top_5_concentration": lambda deal: sum(deal.largest("obligor")[:5]) / deal.cpa * 100,
    "industry_concentration": lambda deal: _at(deal.largest("industry"), 0) / deal.cpa * 100,
    "second_industry_concentration": lambda deal: _at(deal.largest("industry"), 1) / deal.cpa * 100,
    "non_senior_secured_concentration": lambda deal: deal.share(lambda loan: loan.lien in (2, 3, 5)),
    "cov_lite_concentration": lambda deal: deal.share(lambda loan: loan.flags["cov_lite"]),
    "ccc_bucket_pct": lambda deal: deal.bucket()[1] / deal.cpa * 100,
    "average_rating_factor": lambda deal: (
        sum(loan.par * FACTOR_BY_RANK[factor_rank(loan)] for loan in deal.performing) / deal.par
    ),
    "weighted_average_recovery_rate": lambda deal: (
        sum(loan.par * _recovery(loan) for loan in deal.performing) / deal.par
    ),
    "oc_ratio": _oc(-1),
    "oc_ratio_senior": _oc(0),
    "ic_ratio": _ic(-1),
    "wal": _wal,
    "was": _was,
    "diversity_score": Deal.score,
    "fixed_rate_concentration": lambda deal: deal.share(lambda loan: loan.fixed),
    "foreign_country_concentration": lambda deal: deal.share(lambda loan: loan.names["country"] not in (None, "US")),
    "ic_ratio_senior": _ic(0),
    "delinquency_pct": _delinquent,
    "interest_diversion_ratio": _oc(-1),
    "price_below_80_pct": lambda deal: _priced_share(deal, 80),
    "price_below_90_pct": lambda deal: _priced_share(deal, 90),
    "weighted_average_price": lambda deal: average(
        [(loan.par, loan["price"]) for loan in deal.performing if loan["price"] is not None]
    ),
    "small_facility_concentration": lambda deal: deal.share(_small),
    "quoted_depth_pct": lambda deal: (
        deal.total(lambda loan: loan["quote_depth"] is not None and loan["quote_depth"] >= 2) / deal.par * 100
    ),
}
