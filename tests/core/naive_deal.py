"""A plain, slow twin of a definition's measures and conventions, loan by loan, from what they mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from math import copysign
from typing import Any

from core.definition.definition import AgencyRatings, DealTest, Definition
from core.portfolio import Portfolio
from tests.core import naive
from tests.core.naive import DAYS, Loan, finite

SYMBOLS = (
    "AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-", "CCC+",
    "CCC", "CCC-", "CC", "C", "D",
)  # fmt: skip
SYMBOLS_A = (
    "Aaa", "Aa1", "Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2", "B3", "Caa1",
    "Caa2", "Caa3", "Ca", "C",
)  # fmt: skip
FACTORS = {
    "a": naive.FACTOR_BY_RANK[1:],
    "b": (13.51, 26.75, 46.36, 63.9, 99.5, 146.35, 199.83, 271.01, 361.17, 540.42, 784.92, 1233.63, 1565.44, 1982,
          2859.5, 3610.11, 4641.4, 5293, 5751.1, 10000, 10000, 10000),
    "c": (0.135671299, 0.349, 0.629, 0.858, 1.237, 1.572, 2.099, 2.63, 3.162, 6.039, 8.903, 11.844, 15.733, 19.627,
          23.671, 32.221, 41.111, 50, 63.431, 100, 100, 100),
}  # fmt: skip
"""The same tables as in the product, typed from their sources a second time."""
WESTERN, NORTHERN = ("DE", "FR", "GB"), ("US", "CA")


class Unknown(Exception):
    """A figure that the loans do not give."""


class Book(naive.Deal):
    """The loans as a definition sees them.

    `masked` overrides what a masked rating counts as where that is bounds.
    """

    def __init__(self, portfolio: Portfolio, rules: Definition, bound: str = "value") -> None:
        self.rules, self.bound = rules, bound
        loans = naive.loans_of(portfolio)
        shown = {agency: [self.own(portfolio, loan, agency) for loan in loans] for agency in "abc"}
        for at, loan in enumerate(loans):
            self.rate(loan, {agency: shown[agency][at] for agency in "abc"})
            self.place(loan, portfolio)
        super().__init__(portfolio, loans)
        if rules.conventions.principal_cash == "none":
            self.cpa = self.par
        elif rules.conventions.principal_cash == "positive":
            self.cpa = self.par + max(0.0, finite(portfolio.deal.principal_cash) or 0.0)
        self.fraction = self.part(None)

    def part(self, day_count: str | None) -> float:
        """The period as a part of a year."""
        days = finite(self.portfolio.deal.payment_days)
        if days is None or days <= 0:
            return 0.25
        parts = {"actual/360": days / 360, "actual/365": days / 365, "30/360": round(days / 30.4375) / 12}
        return parts[day_count or self.rules.conventions.day_count]

    # ---- ratings

    def own(self, portfolio: Portfolio, loan: Loan, agency: str) -> tuple[int, bool] | None:
        """(rank, masked) that the agency's first column with a rating shows.

        None where the file has none of them.
        """
        ratings = getattr(self.rules.ratings, agency)
        fields = [f"rating_agency_{agency}" + ("" if column == "any" else f"_{column}") for column in ratings.columns]
        fields = [item for item in fields if item in portfolio.ranks]
        if not fields:
            return None
        hidden = False
        for field in fields:
            text = loan.names.get(field) or ""
            hidden |= text in ("*", "***")
            rank = loan.ranks[field]
            if rank == 0:
                continue
            if not field.endswith("derived") and rank < 22:
                moved = (
                    rank + ratings.watch_negative * text.endswith("*-") - ratings.watch_positive * text.endswith("*+")
                )
                rank = min(21, max(1, moved))
            return rank, False
        return 0, hidden

    def rate(self, loan: Loan, shown: dict[str, tuple[int, bool] | None]) -> None:
        """Each agency's rating.

        Its own, what stands for a masked one, another's notched down.
        """
        ladder: dict[str, int | str] = {}
        for agency, own in shown.items():
            if own is None:
                continue
            rank, masked = own
            ratings = getattr(self.rules.ratings, agency)
            if rank == 0 and (not masked or ratings.masked == "other_agency"):
                for second in ratings.notched_from:
                    theirs = shown[second]
                    if theirs is not None and theirs[0]:
                        good = theirs[0] <= 10
                        rank = min(
                            21, theirs[0] + (ratings.notches_investment_grade if good else ratings.notches_below)
                        )
                        break
            policy = ratings.masked
            if policy == "bounds":
                policy = {"value": ratings.masked_value, "best": ratings.masked_best, "worst": ratings.masked_worst}[
                    self.bound
                ]
            if rank == 0 and masked:
                ladder[agency] = rank_of(policy) or "masked"
            else:
                ladder[agency] = rank
        loan.extra["ladder"] = ladder
        for agency in "abc":
            name = f"rating_agency_{agency}"
            if agency in ladder:
                rank = ladder[agency]
                loan.ranks[name] = rank if isinstance(rank, int) else 0

    def place(self, loan: Loan, portfolio: Portfolio) -> None:
        """Obligor, industry and recovery rates."""
        chosen = self.rules.classifications.industry
        if chosen != "any" and f"industry_{chosen}" in portfolio.names:
            if "industry" in portfolio.names:
                loan.names["industry_of_file"] = loan.names["industry"]
            loan.names["industry"] = loan.names[f"industry_{chosen}"]
        for family in self.rules.classifications.families:
            if loan.names.get("obligor") in family.obligors:
                loan.names["obligor"] = family.name
        own = {agency: loan.values[f"recovery_rate_{agency}"] for agency in "abc" if f"recovery_rate_{agency}" in
               portfolio.numbers}  # fmt: skip
        general = loan.values.get("recovery_rate")
        listed = [agency for agency in self.rules.ratings.recovery if agency in own] or (["a"] if "a" in own else [])
        loan.extra["carrying"] = general
        if listed:
            known = [rate for agency in listed if (rate := own[agency]) is not None]
            loan.extra["carrying"] = min(known) if known else general
            loan.values["recovery_rate"] = general if own[listed[0]] is None else own[listed[0]]
        alone = list(own) if "recovery_rate" not in portfolio.numbers else []
        loan.extra["averaged"] = next(iter(listed or alone), None)

    def bucketed(self, loan: Loan, agency: str) -> bool:
        ladder, own = loan.extra["ladder"], loan.ranks.get("rating", 0)
        if any(rank and rank != "masked" for rank in ladder.values()):
            rank = ladder.get(agency, 0)
            return isinstance(rank, int) and rank >= 17
        if own:  # the deal's own rating is shown, whatever is masked
            return own >= 17
        bounded = [item for item in (self.rules.ratings.a, self.rules.ratings.b, self.rules.ratings.c)
                   if item.unrated == "bounds"]  # fmt: skip
        ranks = [rank_of(self.unrated(item)) for item in bounded if self.unrated(item) is not None]
        is_ccc = self.rules.ratings.unrated_is_ccc
        if ranks:
            is_ccc = min(ranks) >= 17 if self.bound == "best" else max(ranks) >= 17
        return is_ccc and "masked" not in ladder.values()

    def unrated(self, ratings: AgencyRatings) -> Any:
        """What a loan without a rating counts as."""
        ends = {"value": ratings.unrated_value, "best": ratings.unrated_best, "worst": ratings.unrated_worst}
        return ends[self.bound] if ratings.unrated == "bounds" else ratings.unrated

    # ---- carrying values

    def bucket(self) -> tuple[str, float]:
        agencies = [agency for agency in "abc" if agency in self.rules.par_value.ccc_agencies]
        sums = {agency: sum(loan.par for loan in self.performing if self.bucketed(loan, agency)) for agency in agencies}
        most = max(sums.values())
        return next(agency for agency in agencies if sums[agency] == most), max(0.0, most)

    def recovered(self, loan: Loan, way: str) -> float:
        """Percent of par at which a defaulted or deferring loan is carried."""
        likely, facility = loan.ranks.get("rating_agency_a", 0), loan.ranks.get("facility_rating_agency_a", 0)
        recovery = loan.extra["carrying"]
        if recovery is None:
            recovery = loan.asset_recovery(likely - facility if likely and facility else 0)
        price = loan["price"]
        if way == "none":
            return 0.0
        if price is not None and (way == "market_value" or (way == "lower" and price < recovery)):
            recovery = price
        return min(100.0, max(0.0, recovery))

    def discounted(self, loan: Loan) -> bool:
        rules, bought, price = self.rules.par_value, loan["purchase_price"], loan["price"]
        line, release = (
            (rules.discount_below_fixed, rules.discount_release_fixed)
            if loan.fixed
            else (rules.discount_below, rules.discount_release)
        )
        return rules.discount and bought is not None and 0 <= bought < line and (price is None or price < release)

    def category(self, flag: str, limit: float | None, worth: Callable[[Loan], float]) -> dict[int, float]:
        """Percent of par at which the loans of a category are carried.

        Those above the limit, the cheapest first.
        """
        rows = [loan for loan in self.performing if loan.flags.get(flag) and loan.par > 0]
        left = sum(loan.par for loan in rows) - (0.0 if limit is None else limit / 100 * self.cpa)
        result = {}
        for loan in sorted(rows, key=lambda row: (worth(row), -row.row)):
            part = min(max(left, 0.0), loan.par)
            left -= part
            result[loan.row] = 100 - part / loan.par * (100 - worth(loan))
        return result

    def adjusted(self) -> float:
        rules = self.rules.par_value
        carried = {loan.row: 100.0 for loan in self.performing}
        if rules.long_dated != "par":
            limit = rules.long_dated_limit if rules.long_dated == "excess_at_zero" else None
            for row, value in self.category("is_long_dated", limit, lambda loan: 0.0).items():
                carried[row] = min(carried[row], value)
        if rules.current_pay != "par":
            limit = rules.current_pay_limit if rules.current_pay == "excess_at_market" else None
            marks = self.category("is_current_pay", limit, lambda loan: min(100.0, max(0.0, self.mark(loan))))
            for row, value in marks.items():
                carried[row] = min(carried[row], value)
        for loan in self.performing:
            if self.discounted(loan):
                carried[loan.row] = min(carried[loan.row], loan["purchase_price"] or 0.0)
            if rules.deferring and loan.flags.get("is_deferring"):
                carried[loan.row] = min(carried[loan.row], self.recovered(loan, "lower"))
        amount = self.cpa - sum(loan.par * (1 - carried[loan.row] / 100) for loan in self.performing)
        agency, bucket = self.bucket()
        left = max(0.0, bucket - rules.ccc_limit / 100 * self.cpa) if rules.ccc_excess else 0.0
        rows = [loan for loan in self.performing if self.bucketed(loan, agency) and loan.par > 0]
        for loan in sorted(rows, key=lambda item: (self.mark(item), self.identity(item), carried[item.row])):
            part = min(left, loan.par)
            left -= part
            amount -= part * max(0.0, carried[loan.row] - max(0.0, self.mark(loan))) / 100
        amount += self.defaulted_carried()
        if rules.purchased_accrued_interest:
            amount += sum(loan["purchased_accrued_interest"] or 0.0 for loan in self.performing)
        return amount

    def defaulted_carried(self) -> float:
        rules, amount = self.rules.par_value, 0.0
        for loan in self.defaulted:
            dated = loan["default_date"]
            age = None if dated is None or self.as_of is None else (self.as_of - dated) / DAYS
            if age is None or age <= rules.defaulted_zero_after_years:
                amount += loan.par * self.recovered(loan, rules.defaulted) / 100
        return amount

    def mark(self, loan: Loan) -> float:
        return self.rules.par_value.ccc_unpriced if loan["price"] is None else loan["price"]

    # ---- interest

    def income(self) -> float:
        deal, rules = self.portfolio.deal, self.rules.interest_coverage
        yearly = sum(
            loan.par * (naive.yearly_rate(loan) or 0.0) / 100
            for loan in self.performing
            if not loan.flags.get("is_deferring")
        )
        fees = next(item for item in (deal.senior_fees, rules.senior_fees, self.fees()) if item is not None)
        if rules.senior_fee_cap is not None:
            fees = min(fees, rules.senior_fee_cap)
        second = rules.hedge_receipts - rules.hedge_payments - fees
        collected = deal.interest_collected
        receivable = deal.interest_receivable if deal.interest_receivable is not None else rules.receivable
        if rules.interest == "period" or collected is None:
            return yearly * self.fraction + second
        if rules.interest == "collected_and_period":
            return collected + yearly * self.fraction + second
        if receivable is not None:
            return collected + receivable + second
        if deal.next_payment is not None and self.as_of is not None and deal.next_payment >= self.as_of:
            return collected + yearly * min(self.fraction, (deal.next_payment - self.as_of) / 360) + second
        return max(collected, yearly * self.fraction) + second

    def fees(self) -> float:
        """Fees at their rates and expenses up to their cap; else the rate of all of them."""
        rules = self.rules.interest_coverage
        if not rules.fees and rules.expenses is None:
            return rules.senior_fee_rate / 100 * self.cpa * self.fraction
        fees = sum(self.base(fee.of) * fee.rate / 100 * self.part(fee.day_count) for fee in rules.fees)
        if (most := rules.expenses) is not None:
            cap = self.base(most.of) * (most.cap_rate or 0) / 100 + (most.cap_amount or 0)
            cap = cap * self.part(most.day_count) if most.cap_rate or most.cap_amount else float("inf")
            fees += cap if most.amount is None else min(cap, most.amount)
        return fees

    def base(self, of: str) -> float:
        target = self.rules.conventions.target_par
        return {"cpa": self.cpa, "par": self.par, "denominator": self.denominator(), "target_par": target or 0.0}[of]

    # ---- denominators

    def denominator(self) -> float:
        defaulted_in_denominator = self.rules.conventions.defaulted_in_denominator
        if defaulted_in_denominator == "carried":
            return self.cpa + self.defaulted_carried()
        return self.cpa + (sum(loan.par for loan in self.defaulted) if defaulted_in_denominator == "par" else 0.0)

    def divisor(self, of: str | None) -> float:
        fixed = sum(loan.par for loan in self.performing if loan.fixed)
        undrawn = 0.0
        if of == "denominator_and_unfunded":
            undrawn = sum(max(0.0, loan.values["unfunded"] or 0.0) for loan in self.performing)
        amount = {
            "denominator_and_unfunded": self.denominator() + undrawn,
            "cpa": self.cpa, "par": self.par, "denominator": self.denominator(), "floating_par": self.par - fixed,
            "fixed_par": fixed, "target_par": self.rules.conventions.target_par, None: self.denominator(),
        }[of]  # fmt: skip
        if amount is None or amount <= 0:
            raise Unknown
        return amount

    def abroad(self, loan: Loan) -> bool:
        return loan.names["country"] is not None and loan.names["country"] not in self.rules.conventions.home_countries

    def small(self, loan: Loan) -> bool:
        rules = self.rules.conventions
        line = rules.small_facility_abroad if self.abroad(loan) else rules.small_facility_home
        return loan["facility_size"] is not None and loan["facility_size"] < line


def rank_of(policy: Any) -> int:
    """The rank of a symbol of either scale; 0 for a word or a factor."""
    for scale in (SYMBOLS_A, SYMBOLS):
        if policy in scale:
            return scale.index(policy) + 1
    return 0


def counted(policy: Any, agency: str) -> float | None:
    """The factor of what a rating counts as."""
    if isinstance(policy, float):
        return policy
    rank = rank_of(policy)
    return FACTORS[agency][rank - 1] if rank else None


# ---- the measures


Wanted = Callable[[Book, Loan], bool | None]
FREQUENCY = {"Quarterly": 4, "6 Months": 2, "annually": 1, "3M": 4, "Semi-Annual": 2}


def _pays(wanted: Callable[[int], bool]) -> Wanted:
    def paid(book: Book, loan: Loan) -> bool | None:
        often = FREQUENCY.get(loan.names["payment_frequency"] or "")
        return None if often is None else wanted(often)

    return paid


def _priced_low(book: Book, loan: Loan) -> bool | None:
    """A discount obligation, whether or not the OC numerator cuts it."""
    rules, bought, price = book.rules.par_value, loan.values["purchase_price"], loan["price"]
    line = rules.discount_below_fixed if loan.fixed else rules.discount_below
    release = rules.discount_release_fixed if loan.fixed else rules.discount_release
    return bought is not None and 0 <= bought < line and (price is None or price < release)


def _any_flag(*names: str) -> Wanted:
    return lambda book, loan: any(loan.flags.get(name, False) for name in names)


def _secured(book: Book, loan: Loan) -> bool:
    return loan.lien in (0, 1) or (loan.lien == 4 and book.rules.ratings.bonds_secured)


def _unsecured(book: Book, loan: Loan) -> bool:
    return not _secured(book, loan)


WANTED: dict[str, Wanted] = {
    "senior_secured": _secured,
    "non_senior_secured": _unsecured,
    "cov_lite": _any_flag("cov_lite"),
    "fixed_rate": lambda book, loan: loan.fixed,
    "floating_rate": lambda book, loan: not loan.fixed,
    "dip": _any_flag("is_dip"),
    "current_pay": _any_flag("is_current_pay"),
    "discount": _priced_low,
    "bridge": _any_flag("is_bridge"),
    "participations": _any_flag("participation"),
    "pik": _any_flag("is_pik", "is_deferring"),
    "revolving": _any_flag("is_revolving", "is_delayed_draw"),
    "long_dated": _any_flag("is_long_dated"),
    "bonds": _any_flag("is_bond"),
    "pays_less_than_quarterly": _pays(lambda often: often < 4),
    "pays_semi_annually": _pays(lambda often: often == 2),
    "pays_annually": _pays(lambda often: often < 2),
    "foreign_country": Book.abroad,
    "small_facilities": Book.small,
}
"""The loans that a measure counts; None where a blank leaves that open."""

AMONG: dict[str, Wanted] = {
    **WANTED,
    "=price<90": lambda book, loan: None if loan["price"] is None else loan["price"] < 90,
    '=OR(country="FR",cov_lite)': lambda book, loan: loan.names["country"] == "FR" or loan.flags["cov_lite"],
    "=NOT(par_value<2500000)": lambda book, loan: loan.par >= 2.5e6,
}  # fmt: skip
"""The loans of which a test may be, by its word or its formula."""


def _amounts(book: Book, test: DealTest) -> list[tuple[Loan, float]]:
    """The loans of which the test is, with what each counts."""
    chosen = [loan for loan in book.performing if test.among is None or AMONG[test.among](book, loan)]
    if "unfunded" not in test.adds:
        return [(loan, loan.par) for loan in chosen]
    return [(loan, loan.par + max(0.0, loan.values["unfunded"] or 0.0)) for loan in chosen]


def _sums(book: Book, test: DealTest, field: str) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for loan, amount in _amounts(book, test):
        if (name := loan.names[field]) is not None:
            sums[name] += amount
    return sums


def _largest(book: Book, test: DealTest, field: str) -> list[float]:
    return sorted((max(0.0, par) for par in _sums(book, test, field).values()), reverse=True)


def _nth(book: Book, test: DealTest, field: str) -> float:
    listed = _largest(book, test, field)
    if not any(par > 0 for par in listed) and (test.among is None or not book.performing):
        raise Unknown
    return _at(listed, test) / book.divisor(test.of) * 100


def _at(listed: list[float], test: DealTest) -> float:
    nth = (test.nth or 1) - 1
    return max(0.0, listed[nth]) if nth < len(listed) else 0.0


def _field(test: DealTest) -> str:
    return "industry" if test.classification in (None, "any") else f"industry_{test.classification}"


def _country(book: Book, test: DealTest) -> float:
    home = book.rules.conventions.home_countries
    sums = {name: par for name, par in _sums(book, test, "country").items() if name not in home}
    return _at(sorted(sums.values(), reverse=True), test) / book.divisor(test.of) * 100


def _group(book: Book, test: DealTest) -> dict[str, float]:
    """Par by the countries of a group.

    Those of its list, or those of its range of ceilings.
    """
    group = next(country_group for country_group in book.rules.country_groups if country_group.id == test.group)
    ceilings = {name: rank_of(row.rating) for row in book.rules.country_ceilings for name in row.countries
                if row.agency == group.agency}  # fmt: skip
    members = group.countries or [
        name for name, rank in ceilings.items()
        if (group.ceiling_below is None or rank > rank_of(group.ceiling_below))
        and (group.ceiling_least is None or rank <= rank_of(group.ceiling_least))
    ]  # fmt: skip
    return {name: par for name, par in _sums(book, test, "country").items() if name in members}


def _cash(book: Book, test: DealTest) -> float:
    return book.cpa - book.par if "cash" in test.adds else 0.0


def _country_group(book: Book, test: DealTest) -> float:
    whole = sum(_group(book, test).values()) + _cash(book, test)
    return max(0.0, whole) / book.divisor(test.of) * 100


def _country_of_group(book: Book, test: DealTest) -> float:
    return _at(sorted(_group(book, test).values(), reverse=True), test) / book.divisor(test.of) * 100


def _share(wanted: Wanted) -> Callable[[Book, DealTest], float]:
    def shared(book: Book, test: DealTest) -> float:
        whole = sum(amount for loan, amount in _amounts(book, test) if wanted(book, loan)) + _cash(book, test)
        return max(0.0, whole) / book.divisor(test.of) * 100

    return shared


def _ccc(book: Book, test: DealTest) -> float:
    if test.agency is None:
        return book.bucket()[1] / book.divisor(test.of) * 100
    agency = test.agency
    if agency not in book.performing[0].extra["ladder"]:
        raise Unknown
    return book.total(lambda loan: book.bucketed(loan, agency)) / book.divisor(test.of) * 100


def _mean(pairs: list[tuple[float, float]]) -> float:
    if sum(par for par, _ in pairs) <= 0:
        raise Unknown
    return naive.average(pairs)


def _warf(book: Book, test: DealTest) -> float:
    assert test.agency is not None
    ratings, pairs = getattr(book.rules.ratings, test.agency), []
    if test.agency not in book.performing[0].extra["ladder"]:
        raise Unknown
    for loan in book.performing:
        rank = loan.extra["ladder"].get(test.agency, 0)
        if rank == "masked":
            factor = counted(ratings.masked, test.agency)
        else:
            factor = FACTORS[test.agency][rank - 1] if rank else counted(book.unrated(ratings), test.agency)
        if factor is not None:
            pairs.append((loan.par, factor))
    return _mean(pairs)


def _warr(book: Book, test: DealTest) -> float:
    agency = test.agency or next(iter({loan.extra["averaged"] for loan in book.performing}), None)
    if test.agency is None and agency in (None, "a"):
        return _mean([(loan.par, naive._recovery(loan)) for loan in book.performing])
    return _mean(
        [(loan.par, rate) for loan in book.performing if (rate := loan[f"recovery_rate_{agency}"]) is not None]
    )


def _ratio(kind: str) -> Callable[[Book, DealTest], float]:
    def figure(book: Book, test: DealTest) -> float:
        name = {"reinvestment_oc": book.rules.reinvestment_oc, "event_of_default": book.rules.event_of_default}.get(
            kind
        )
        letter = (test.class_ if name is None else name.class_) or ""
        groups = naive.groups(book.portfolio, book.fraction)
        group = [item for item in groups if item["name"] == letter.rpartition("/")[2]][-1]
        if kind == "ic":
            return book.income() / group["due"] * 100
        if kind == "event_of_default":
            marked = sum(loan.par * (loan["price"] or 0.0) / 100 for loan in book.defaulted)
            return (book.cpa + marked) / group["balance"] * 100
        return book.adjusted() / group["balance"] * 100

    return figure


def _was(book: Book, test: DealTest) -> float:
    floating = [loan for loan in book.performing if not loan.fixed]
    spread = _mean([(loan.par, item) for loan in floating if (item := naive.effective_spread(loan)) is not None]) / 100
    reference = book.rules.conventions.reference_coupon
    reference = finite(book.portfolio.deal.reference_coupon) if reference is None else reference
    coupons = [(loan.par, item) for loan in book.performing if loan.fixed and (item := loan["all_in_rate"]) is not None]
    if reference is None or not sum(par for par, _ in coupons):
        return spread
    fixed = sum(loan.par for loan in book.performing if loan.fixed)
    excess = (naive.average(coupons) - reference) * fixed / sum(loan.par for loan in floating)
    return spread + _counted(book, excess, spread)


def _counted(book: Book, excess: float, spread: float) -> float:
    """What of an excess coupon counts."""
    rule, limit = book.rules.conventions.excess_coupon, book.rules.conventions.minimum_spread
    if rule == "while_spread_fails":
        return max(0.0, excess) if limit is not None and spread < limit else 0.0
    return {"always": excess, "floored": max(0.0, excess), "none": 0.0}[rule]


def _wac(book: Book, test: DealTest) -> float:
    return _mean(
        [
            (loan.par, all_in_rate)
            for loan in book.performing
            if loan.fixed and (all_in_rate := loan["all_in_rate"]) is not None
        ]
    )


def _below(book: Book, test: DealTest) -> float:
    priced = [loan for loan in book.performing if loan["price"] is not None]
    low = max(0.0, sum(loan.par for loan in priced if (loan["price"] or 0.0) < (test.line or 0.0)))
    return low / sum(loan.par for loan in priced) * 100


def _diversity(book: Book, test: DealTest) -> float:
    """By the file's own industries, else Moody's.

    Those that a definition takes for its tests do not move it.
    """
    chosen, names = book.rules.classifications.industry, book.portfolio.names
    field = _field(test)
    if field != "industry" or f"industry_{chosen}" not in names:
        return book.score(field, names[field].values)
    if "industry" in names:
        return book.score("industry_of_file", names["industry"].values)
    if "industry_a" in names:
        return book.score("industry_a", names["industry_a"].values)
    return book.score(field, names[f"industry_{chosen}"].values)


def _effective(par: dict[Any, float]) -> float:
    return sum(par.values()) ** 2 / sum(item**2 for item in par.values())


def _monitor(book: Book, test: DealTest) -> dict[str, float]:
    unrated = rank_of(book.unrated(book.rules.ratings.b))
    seen = []
    for loan in book.performing:
        rank = loan.extra["ladder"].get("b", 0) or unrated
        if loan.par > 0 and (rank == "masked" or 0 < rank <= rank_of(book.rules.quality.spwarf_cut_off)):
            seen.append((loan, rank))
    rated = [(loan.par, FACTORS["b"][rank - 1]) for loan, rank in seen if rank != "masked"]
    average = _mean(rated)
    sums: dict[str, dict[Any, float]] = {name: defaultdict(float) for name in ("obligor", "industry", "region")}
    field = _field(test) if test.classification else "industry_b"
    field = field if field in book.portfolio.names else "industry"
    for loan, _ in seen:
        country = loan.names["country"]
        group = "west" if country in WESTERN else "north" if country in NORTHERN else country
        sums["obligor"][loan.names["obligor"]] += loan.par
        sums["industry"][loan.names[field]] += loan.par
        sums["region"][group] += loan.par
    figures = {
        "spwarf": average,
        "default_rate_dispersion": sum(par * abs(factor - average) for par, factor in rated) / sum(p for p, _ in rated),
        "obligor_diversity": _effective(sums["obligor"]),
        "industry_diversity": _effective(sums["industry"]),
        "regional_diversity": _effective(sums["region"]),
    }
    lives = [(loan.par, life) for loan, _ in seen if (life := book.life(loan)) is not None]
    if not lives:
        return figures
    figures["cdo_monitor_wal"] = _mean(lives)
    weights = (1 / 9162.65, -1 / 16757.2, -1 / 7677.8, -1 / 2177.56, -1 / 34.0948, 1 / 27.3896)
    figures["sdr"] = 100 * (0.247621 + sum(item * by for item, by in zip(figures.values(), weights, strict=True)))
    return figures


def _of_monitor(name: str) -> Callable[[Book, DealTest], float]:
    return lambda book, test: _monitor(book, test)[name]


def _bdr(book: Book, test: DealTest) -> float:
    rule = book.rules.quality.cdo_monitor
    assert rule is not None
    spread = rule.spread if rule.spread is not None else _was(book, test)
    by_sp = DealTest(id="x", name="x", agency="b")
    recovery = rule.recovery if rule.recovery is not None else _warr(book, by_sp)
    return 100 * (rule.c0 + rule.c1 * spread / 100 + rule.c2 * recovery / 100)


MEASURES: dict[str, Callable[[Book, DealTest], float]] = {
    "obligor": lambda book, test: _nth(book, test, "obligor"),
    "top_obligors": lambda book, test: (
        sum(_largest(book, test, "obligor")[: test.nth or 10]) / book.divisor(test.of) * 100
    ),
    "industry": lambda book, test: _nth(book, test, _field(test)),
    "country": _country,
    "country_group": _country_group,
    "country_of_group": _country_of_group,
    **{name: _share(wanted) for name, wanted in WANTED.items()},
    "ccc": _ccc,
    "warf": _warf,
    "warr": _warr,
    "oc": _ratio("oc"),
    "ic": _ratio("ic"),
    "reinvestment_oc": _ratio("reinvestment_oc"),
    "event_of_default": _ratio("event_of_default"),
    "wal": lambda book, test: _mean(
        [(loan.par, life) for loan in book.performing if (life := book.life(loan)) is not None]
    ),
    "was": _was,
    "wac": _wac,
    "diversity": _diversity,
    "delinquency": lambda book, test: naive.MEASURES["delinquency_pct"](book),
    "price_below": _below,
    "average_price": lambda book, test: naive.MEASURES["weighted_average_price"](book),
    "quoted_depth": lambda book, test: naive.MEASURES["quoted_depth_pct"](book),
    **{name: _of_monitor(name) for name in (
        "spwarf", "default_rate_dispersion", "obligor_diversity", "industry_diversity", "regional_diversity",
        "cdo_monitor_wal", "sdr",
    )},
    "bdr": _bdr,
    "cdo_monitor": lambda book, test: _bdr(book, test) - _monitor(book, test)["sdr"],
}  # fmt: skip


def figure(book: Book, test: DealTest) -> float:
    """The figure of a test that names a measure.

    Raises:
        Unknown: the loans do not give it.
    """
    assert test.measure is not None
    try:
        return MEASURES[test.measure](book, test)
    except ZeroDivisionError:
        raise Unknown from None


def _suite_warf(book: Book) -> float:
    """The first agency's rating on Moody's factors, else the deal's own, else what Moody's policy says."""
    ratings, pairs = book.rules.ratings.a, []
    for loan in book.performing:
        shown = [loan.extra["ladder"].get(agency, 0) for agency in "abc"]
        rank = next((item for item in shown if item and item != "masked"), 0) or loan.ranks.get("rating", 0)
        policy = ratings.masked if "masked" in shown else book.unrated(ratings)
        factor = FACTORS["a"][rank - 1] if rank else counted(policy, "a")
        if factor is not None:
            pairs.append((loan.par, factor))
    return _mean(pairs)


def suite_figures(book: Book) -> dict[str, float]:
    """Figures of the suites under a definition, of those that its conventions change most."""
    groups, whole = naive.groups(book.portfolio, book.fraction), book.denominator()
    figures = {
        "single_obligor_concentration": lambda: book.largest("obligor")[0] / whole * 100,
        "foreign_country_concentration": lambda: book.total(book.abroad) / whole * 100,
        "ccc_bucket_pct": lambda: book.bucket()[1] / whole * 100,
        "average_rating_factor": lambda: _suite_warf(book),
        "oc_ratio": lambda: (
            book.adjusted() / [group for group in groups if group["oc"] is not None][-1]["balance"] * 100
        ),
        "ic_ratio": lambda: book.income() / [group for group in groups if group["ic"] is not None][-1]["due"] * 100,
    }
    result = {}
    for name, work in figures.items():
        try:
            result[name] = work()
        except (Unknown, IndexError, ZeroDivisionError):
            continue
    return result


def printed(value: float, decimals: int | None) -> float:
    """The figure to so many decimals, halves away from zero, by its shortest digits."""
    if decimals is None:
        return value
    digits = Decimal(repr(round(abs(value), 9))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return copysign(float(digits), value)
