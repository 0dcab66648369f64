"""The figures of one invented deal.

Loans, notes, cash, the parts of its coverage tests, and its tests; by seed.

Money in cents, so that every sum is exact; percentages in points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

Market = Literal["us", "euro"]

ISSUERS = [
    "Alder", "Birch", "Cedar", "Dogwood", "Elder", "Fennel", "Gorse", "Hazel", "Iris", "Juniper", "Kestrel", "Laurel",
    "Maple", "Nettle", "Oak", "Poplar", "Quince", "Rowan", "Sorrel", "Thistle", "Umber", "Vetch", "Willow", "Yarrow",
]  # fmt: skip
DEALS = ["Harbour", "Meadow", "Orchard", "Ridge"]
TRADES = ["Packaging", "Software", "Dental Partners", "Logistics", "Payments", "Foods"]
ENDINGS = {
    "us": ["Inc.", "LLC", "Holdings, Inc.", "Corp."],
    "euro": ["SAS", "GmbH", "B.V.", "Bidco Limited", "S.a.r.l."],
}
SP_INDUSTRIES = [
    "Software", "Media", "Chemicals", "Health Care Providers & Services", "Insurance", "Containers & Packaging",
    "Commercial Services & Supplies", "Hotels, Restaurants & Leisure",
]  # fmt: skip
MOODYS_INDUSTRIES = [
    "High Tech Industries", "Healthcare & Pharmaceuticals", "Services: Business",
    "Banking, Finance, Insurance & Real Estate",
    "Hotel, Gaming & Leisure", "Telecommunications", "Chemicals, Plastics & Rubber",
]  # fmt: skip
COUNTRIES = {
    "us": ["United States", "Canada", "United Kingdom", "Luxembourg"],
    "euro": ["France", "Germany", "Netherlands", "Spain"],
}
MOODYS = ["Ba2", "Ba3", "B1", "B1", "B2", "B2", "B2", "B2", "B3", "B3", "B3", "Caa1", "Caa2"]
SP = ["BB", "BB-", "B+", "B+", "B", "B", "B", "B", "B-", "B-", "B-", "CCC+", "CCC"]


@dataclass(frozen=True)
class Loan:
    issuer: str
    name: str
    identifier: str
    par: int
    moodys: str
    sp: str
    sp_industry: str
    moodys_industry: str
    country: str
    price: float
    purchase_price: float
    is_defaulted: bool
    is_discount: bool
    is_cov_lite: bool
    is_fixed: bool
    is_second_lien: bool

    @property
    def carried(self) -> int:
        return round(self.par * self.price / 100)

    @property
    def haircut(self) -> int:
        return self.par - round(self.par * self.purchase_price / 100)


@dataclass(frozen=True)
class Class:
    name: str
    letter: str
    """As tests name it: "A", "B"; "" is in no coverage test."""
    balance: int
    spread: float | None
    coupon: float | None
    due: int


@dataclass(frozen=True)
class PrintedTest:
    """What a row of a table of tests says."""

    key: str
    """Which of the wordings."""
    subject: dict[str, Any]
    unit: str
    value: float
    decimals: int
    limit: float | None
    side: Literal["min", "max"]
    numerator: int | None = None
    denominator: int | None = None
    prior: float | None = None
    agency: str = ""
    letters: str = ""
    count: int = 0

    @property
    def shown(self) -> float:
        """Return the value as printed."""
        return round(self.value + 1e-12, self.decimals)

    @property
    def status(self) -> Literal["pass", "fail"]:
        assert self.limit is not None
        return "pass" if (self.value >= self.limit if self.side == "min" else self.value <= self.limit) else "fail"


@dataclass(frozen=True)
class Deal:
    market: Market
    name: str
    loans: Sequence[Loan]
    classes: Sequence[Class]
    cash: int
    settled_cash: int
    collected: int
    receivable: int
    fees: Sequence[int]
    """Senior items: the trustee's, the manager's."""
    excess: int
    """Of the CCC bucket, taken off the numerator."""
    is_carried_in_denominator: bool
    coverage: Sequence[PrintedTest] = field(default_factory=list)
    quality: Sequence[PrintedTest] = field(default_factory=list)
    shares: Sequence[PrintedTest] = field(default_factory=list)

    @property
    def par(self) -> int:
        return sum(loan.par for loan in self.loans)

    @property
    def defaulted(self) -> int:
        return sum(loan.par for loan in self.loans if loan.is_defaulted)

    @property
    def carried(self) -> int:
        return sum(loan.carried for loan in self.loans if loan.is_defaulted)

    @property
    def haircut(self) -> int:
        return sum(loan.haircut for loan in self.loans if loan.is_discount)

    @property
    def collateral_principal_amount(self) -> int:
        return self.par - self.defaulted + self.cash + (self.carried if self.is_carried_in_denominator else 0)

    @property
    def adjusted(self) -> int:
        return self.par - self.defaulted + self.cash + self.carried - self.haircut - self.excess

    @property
    def interest(self) -> int:
        return self.collected + self.receivable - sum(self.fees)

    @property
    def performing(self) -> list[Loan]:
        return [loan for loan in self.loans if not loan.is_defaulted]


def deal_of(seed: int) -> Deal:
    """Return the deal of a seed."""
    rng = Random(seed)
    market: Market = rng.choice(["us", "us", "euro"])
    loans = _loans(rng, market)
    par = sum(loan.par for loan in loans)
    cash = rng.choice([1, 1, 1, -1]) * rng.randrange(40_000_000, 900_000_000)
    own = Deal(
        market=market,
        name=f"{rng.choice(DEALS)} CLO {rng.randrange(2, 30)}{', Ltd.' if market == 'us' else ' DAC'}",
        loans=loans,
        classes=_classes(rng, market, par),
        cash=cash,
        settled_cash=cash + rng.randrange(100_000_000, 1_500_000_000),
        collected=rng.randrange(300_000_000, 600_000_000),
        receivable=rng.randrange(150_000_000, 300_000_000),
        fees=[rng.randrange(3_000_000, 9_000_000), rng.randrange(10_000_000, 25_000_000)][: rng.choice([1, 2, 2])],
        excess=rng.choice([0, 0, rng.randrange(10_000_000, 60_000_000)]),
        is_carried_in_denominator=market == "euro" and rng.random() < 0.5,
    )
    coverage, quality, shares = _coverage(rng, own), _quality(rng, own), _shares(rng, own)
    return Deal(**{**own.__dict__, "coverage": coverage, "quality": quality, "shares": shares})


def _loans(rng: Random, market: Market) -> list[Loan]:
    names = [f"{borrower} {trade}" for borrower in ISSUERS for trade in TRADES]
    rng.shuffle(names)
    loans = []
    for at in range(rng.randrange(60, 110)):
        issuer = f"{names[at]} {rng.choice(ENDINGS[market])}"
        letter = rng.randrange(len(MOODYS))
        sp_letter = min(len(SP) - 1, max(0, letter + rng.choice([-2, 0, 0, 0, 1])))
        is_round = rng.random() < 0.4
        par = rng.randrange(10, 90) * 10_000_000 if is_round else rng.randrange(100_000_000, 900_000_000)
        roll = rng.random()
        loans.append(
            Loan(
                issuer=issuer,
                name=rng.choice(["Term Loan B", "Initial Term Loan", "Facility B", "Term Loan B2"]),
                identifier=f"LX{100_000 + at * 37 + rng.randrange(30)}",
                par=par,
                moodys=MOODYS[letter],
                sp=SP[sp_letter],
                sp_industry=rng.choice(SP_INDUSTRIES),
                moodys_industry=rng.choice(MOODYS_INDUSTRIES),
                country=rng.choice(COUNTRIES[market][:1] * 6 + COUNTRIES[market][1:]),
                price=round(rng.uniform(30, 60) if roll < 0.03 else rng.uniform(88, 101), 3),
                purchase_price=round(rng.uniform(60, 79), 2),
                is_defaulted=roll < 0.03,
                is_discount=0.03 <= roll < 0.06,
                is_cov_lite=rng.random() < 0.5,
                is_fixed=rng.random() < 0.06,
                is_second_lien=rng.random() < 0.06,
            )
        )
    return loans


def _classes(rng: Random, market: Market, par: int) -> list[Class]:
    shares = [("A", 0.60), ("B", 0.11), ("C", 0.06), ("D", 0.06), ("E", 0.05)] + (
        [("F", 0.03)] if market == "euro" else []
    )
    classes, spread = [], 120.0
    for letter, share in shares:
        balance = round(par * share / 50_000_000) * 50_000_000
        parts = [("-1", 0.75), ("-2", 0.25)] if letter == "B" and rng.random() < 0.4 else [("", 1.0)]
        for ending, of_it in parts:
            size = round(balance * of_it / 10_000_000) * 10_000_000
            coupon = spread / 100 + 3.31
            classes.append(Class(f"{letter}{ending}", letter, size, spread, coupon, round(size * coupon / 400)))
        spread += rng.choice([45, 60, 110, 175])
    return [*classes, Class("Subordinated", "", round(par * 0.09 / 10_000_000) * 10_000_000, None, None, 0)]


def _coverage(rng: Random, own: Deal) -> list[PrintedTest]:
    tests = []
    letters = sorted({note_class.letter for note_class in own.classes} - {""})
    groups = ["A/B", *letters[2:]]
    for kind, numerator in (("oc", own.adjusted), ("ic", own.interest)):
        for group in groups[: None if kind == "oc" else 3]:
            upto = [note_class for note_class in own.classes if note_class.letter and note_class.letter <= group[-1]]
            below = sum(note_class.balance if kind == "oc" else note_class.due for note_class in upto)
            tests.append(
                _test(
                    rng,
                    kind,
                    {"measure": kind, "classes": tuple(group.split("/"))},
                    100 * numerator / below,
                    "min",
                    numerator=numerator,
                    denominator=below,
                    letters=group,
                    limit=(2, 9) if kind == "oc" else (20, 60),
                )
            )
    last = [test for test in tests if test.key == "oc"][-1]
    tests.append(
        _test(
            rng,
            "reinvestment",
            {"measure": "reinvestment"},
            last.value,
            "min",
            numerator=last.numerator,
            denominator=last.denominator,
            limit=(1, 5),
        )
    )
    if rng.random() < 0.3:
        senior = sum(note_class.balance for note_class in own.classes if note_class.letter == "A")
        tests.append(
            _test(
                rng,
                "eod",
                {"measure": "eod"},
                100 * own.collateral_principal_amount / senior,
                "min",
                numerator=own.collateral_principal_amount,
                denominator=senior,
                limit=102.5,
            )
        )
    return tests


def _quality(rng: Random, own: Deal) -> list[PrintedTest]:
    agency = "a" if own.market == "us" else "c"
    factor = rng.uniform(2500, 3200) if agency == "a" else rng.uniform(22, 27)
    tests = [
        _test(rng, "warf", {"measure": "warf", "agency": agency}, factor, "max", unit="factor", agency=agency,
              decimals=0 if agency == "a" else 2, limit=(20, 200) if agency == "a" else (0.5, 2)),
        _test(rng, "warr", {"measure": "warr", "agency": agency}, rng.uniform(42, 64), "min", agency=agency,
              decimals=rng.choice([1, 2]), limit=(0.5, 2)),
        _test(rng, "was", {"measure": "was"}, rng.uniform(3.3, 4.4), "min", limit=(0.05, 0.4)),
        _test(rng, "wal", {"measure": "wal"}, rng.uniform(3.5, 5.5), "max", unit="years", limit=(0.3, 2)),
    ]  # fmt: skip
    if any(loan.is_fixed for loan in own.loans):
        tests.append(_test(rng, "wac", {"measure": "wac"}, rng.uniform(4.2, 7.5), "min", limit=(0.1, 0.5)))
    if agency == "a":
        tests.append(
            _test(
                rng,
                "diversity",
                {"measure": "diversity"},
                rng.randrange(50, 80),
                "min",
                unit="factor",
                decimals=0,
                limit=(3, 12),
            )
        )
    rng.shuffle(tests)
    return tests


def _shares(rng: Random, own: Deal) -> list[PrintedTest]:
    good, whole = own.performing, own.collateral_principal_amount
    pairs: dict[str, list[tuple[str, int]]] = {
        "obligor": _sums((loan.issuer, loan.par) for loan in good),
        "b": _sums((loan.sp_industry, loan.par) for loan in good),
        "a": _sums((loan.moodys_industry, loan.par) for loan in good),
    }
    tests = []

    def add(key: str, subject: dict[str, Any], amount: int, limit: float, side: Any = "max", **more: Any) -> None:
        tests.append(
            _test(
                rng, key, subject, 100 * amount / whole, side, numerator=amount, denominator=whole, limit=limit, **more
            )
        )

    def of(test: Any) -> int:
        return sum(loan.par for loan in good if test(loan))

    secured = of(lambda loan: not loan.is_second_lien)
    if rng.random() < 0.5:
        add("senior_secured", {"measure": "senior_secured"}, secured, 90.0, "min")
    else:
        add(
            "senior_secured_cash",
            {"measure": "senior_secured", "with_cash": True},
            secured + max(own.cash, 0),
            90.0,
            "min",
        )
    add("non_senior", {"measure": "non_senior"}, of(lambda loan: loan.is_second_lien), 10.0)
    top = [amount for _, amount in pairs["obligor"]]
    add("obligor", {"measure": "obligor", "rank": 1}, top[0], rng.choice([2.0, 2.5, 3.0]))
    for count in rng.sample([5, 10], rng.choice([0, 1, 2])):
        add("obligors", {"measure": "obligor", "aggregate": count}, sum(top[:count]), 2.5 * count, count=count)
    industry = rng.choice(["a", "b"]) if own.market == "us" else "b"
    for rank in range(rng.choice([1, 2, 3, 4])):
        subject = {"measure": "industry", "agency": industry, "rank": rank + 1}
        add(
            "industry",
            subject,
            pairs[industry][rank][1],
            [15.0, 12.0, 12.0, 10.0][rank],
            agency=industry,
            count=rank + 1,
        )
    for agency in ("a", "b") if own.market == "us" else ("b", "c"):
        amount = of(
            lambda loan, agency=agency: loan.moodys.startswith("Caa") if agency == "a" else loan.sp.startswith("CCC")
        )
        add("ccc", {"measure": "ccc", "agency": agency}, amount, 7.5, agency=agency)
    add("cov_lite", {"measure": "cov_lite"}, of(lambda loan: loan.is_cov_lite), rng.choice([30.0, 55.0, 60.0]))
    add("fixed", {"measure": "fixed"}, of(lambda loan: loan.is_fixed), rng.choice([5.0, 10.0]))
    home = COUNTRIES[own.market][0]
    if own.market == "us":
        add("foreign", {"measure": "foreign"}, of(lambda loan: loan.country != home), 20.0)
    for key in rng.sample(
        ["current_pay", "dip", "unfunded", "participation", "bridge", "pik", "infrequent"], rng.randrange(2, 6)
    ):
        amount = rng.choice([0, rng.randrange(50_000_000, 900_000_000)])
        add(key, {"measure": key}, amount, rng.choice([2.5, 5.0, 10.0]))
    add("discount", {"measure": "discount"}, of(lambda loan: loan.is_discount), 25.0)
    head, rest = tests[:1], tests[1:]
    rng.shuffle(rest)
    return head + rest


def _sums(pairs: Any) -> list[tuple[str, int]]:
    """Add up by name, the greatest first."""
    sums: dict[str, int] = {}
    for name, amount in pairs:
        sums[name] = sums.get(name, 0) + amount
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


def by(loans: Sequence[Loan], column: str) -> list[tuple[str, int]]:
    """Return par by a column of the loans, the greatest first."""
    return _sums((getattr(loan, column), loan.par) for loan in loans)


def _test(
    rng: Random,
    key: str,
    subject: dict[str, Any],
    value: float,
    side: Literal["min", "max"],
    *,
    limit: float | tuple[float, float] = (1.0, 5.0),
    unit: str = "percent",
    decimals: int = 2,
    **more: Any,
) -> PrintedTest:
    """A test with a limit, or one that leaves its value room from ... to ..., and a prior value near it."""
    if isinstance(limit, tuple):
        off = rng.uniform(*limit) * (1 if rng.random() < 0.93 else -1)
        limit = round(value - off if side == "min" else value + off, min(decimals, 2))
    prior = max(0.0, value * rng.uniform(0.97, 1.03))
    return PrintedTest(key, subject, unit, value, decimals, limit, side, prior=prior, **more)
