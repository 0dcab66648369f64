"""The answers to an analyst's questions in plain Python over the columns, written from the definitions.

A row of `asked_*.jsonl` has a question, the subjects that it is asked of, and in `calc` one expression over the
functions of `World`: what a careful person would work out by hand. `python -m tests.core.questions.oracle` writes
`figures` and `names` beside it.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from core.compliance.suites import TESTS
from core.files.read import read
from core.generate import generate
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal, Tranches
from tests.core import naive

HERE: Final = Path(__file__).parent
MAG17: Final = HERE.parents[2] / "../shared/data/mag17.xlsx"
MARCH, APRIL, BEACON = "Harbor CLO 2024-1 (March)", "Harbor CLO 2024-1", "Beacon CLO 2023-2"
EPOCH: Final = date(1970, 1, 1)

Columns = dict[str, list[Any]]


# ---- the books ------------------------------------------------------------------------------------------------------


def columns_of(loans: int, seed: int) -> tuple[Columns, Tranches, Deal]:
    """A generated deal with its texts written out, so that a loan is edited by its row."""
    deal = generate(loans, seed=seed)
    columns: Columns = {}
    for name, values in deal.portfolio_columns().items():
        if isinstance(values, tuple):
            codes, texts = values
            columns[name] = [texts[code] if code >= 0 else None for code in codes]
        else:
            columns[name] = values.tolist()
    return columns, deal.tranches, deal.deal


def a_month_later(march: Columns) -> Columns:
    """Downgrades, a default, trades, paydowns, marks, repricings, and the gaps of a hurried file."""
    new = deepcopy(march)
    largest_first = sorted(range(len(new["par_value"])), key=lambda i: (-new["par_value"][i], i))

    def rated(symbol: str, most: int) -> list[int]:
        return [i for i in largest_first if new["rating_agency_a"][i] == symbol and not new["is_defaulted"][i]][:most]

    def rate(rows: list[int], a: str, b: str) -> None:
        for i in rows:
            new["rating_agency_a"][i], new["rating_agency_b"][i] = a, b
            if new["rating_agency_c"][i]:
                new["rating_agency_c"][i] = b

    down, up, default = rated("B3", 7), rated("B2", 3), rated("Caa2", 1)
    rate(down, "Caa1", "CCC+")
    rate(up, "B1", "B+")
    rate(default, "Ca", "D")
    new["is_defaulted"][default[0]], new["price"][default[0]], new["days_past_due"][default[0]] = True, 31.5, 95.0
    for i in range(len(new["par_value"])):
        if i % 37 == 5:
            new["par_value"][i] = round(new["par_value"][i] * 0.9, 2)
        if i % 29 == 3:
            new["price"][i] -= 4.0 + i % 13 / 2
        if i % 61 == 7:
            new["price"][i] = None
        if i % 41 == 9 and not new["is_defaulted"][i] and new["spread"][i] > 300:
            new["spread"][i] -= 50.0
            new["all_in_rate"][i] -= 0.5
    new["maturity_date"][100] = new["industry"][140] = new["industry"][141] = None
    for like, (borrower, cusip, loanx, par, price) in enumerate(
        [
            ("Larkfield Mill Bidco Inc.", "90011AAA3", "LX900011", 3_500_000.0, 99.25),
            ("Ostwick Harbor Group LLC", "90012AAA1", "LX900012", 2_250_000.0, 98.5),
            ("Penrose Quay Holdings Corp.", "90013AAA9", "LX900013", 1_750_000.0, 97.0),
        ]
    ):
        for name, values in new.items():
            values.append(values[rated("B2", 12)[-1 - like]] if name != "rating_agency_a" else "B2")
        new["borrower_name"][-1], new["facility_name"][-1] = borrower, f"{borrower} Term Loan B"
        new["cusip"][-1], new["loanx_id"][-1], new["isin"][-1] = cusip, loanx, ""
        new["par_value"][-1], new["price"][-1], new["purchase_price"][-1] = par, price, price
    gone = set(rated("B2", 40)[-4:])
    return {name: [value for i, value in enumerate(values) if i not in gone] for name, values in new.items()}


@cache
def portfolios() -> dict[str, Portfolio]:
    """By subject's name; MAG17 where its file is at hand."""
    columns, notes, deal = columns_of(300, 15)
    later = a_month_later(columns)
    cash = (deal.principal_cash or 0.0) + 0.985 * (sum(columns["par_value"]) - sum(later["par_value"]))
    other, other_notes, other_deal = columns_of(200, 21)
    made = {
        MARCH: Portfolio.from_columns(columns, tranches=notes, deal=deal),
        APRIL: Portfolio.from_columns(
            later, tranches=notes, deal=replace(deal, principal_cash=cash, as_of=(date(2026, 4, 30) - EPOCH).days)
        ),
        BEACON: Portfolio.from_columns(other, tranches=other_notes, deal=other_deal),
    }
    if MAG17.exists():
        made["mag17"] = Portfolio.from_workbook(read(MAG17))
    return made


SUBJECTS: Final = {"harbor": [APRIL], "mag17": ["mag17"], "deals": [APRIL, BEACON]}
"""What a row's `subject` stands for."""


# ---- what is expected -----------------------------------------------------------------------------------------------


@dataclass
class Expected:
    """Each figure is a list of what it may rightly be: (value, unit), the usual reading first."""

    figures: list[list[tuple[float, str]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """All of them, in this order where it is a ranking."""

    def __add__(self, other: Expected) -> Expected:
        return Expected(self.figures + other.figures, self.names + other.names)


def figure(unit: str, *values: float) -> Expected:
    return Expected([[(value, unit) for value in dict.fromkeys(values)]])


class Row(dict[str, Any]):
    """A loan's columns by name for an expression: a blank number is NaN, so that no comparison holds."""

    def __missing__(self, name: str) -> Any:
        raise NameError(name)


def total(loans: list[naive.Loan]) -> float:
    return sum(loan.par for loan in loans)


def filled(loans: list[naive.Loan], name: str) -> list[float]:
    return [value for loan in loans if (value := loan.values.get(name)) is not None]


def weighted(loans: list[naive.Loan], of: Callable[[naive.Loan], float | None]) -> float:
    """By par, over the loans that have it."""
    return naive.average([(loan.par, value) for loan in loans if (value := of(loan)) is not None])


def factor(loan: naive.Loan) -> float:
    return float(naive.FACTOR_BY_RANK[naive.factor_rank(loan)])


def day(year: int, month: int = 1, of: int = 1) -> float:
    return float((date(year, month, of) - EPOCH).days)


def years_after(days: float, years: float) -> float:
    then = EPOCH + timedelta(days=days)
    return float((then.replace(year=then.year + int(years)) - EPOCH).days)


LETTERS_A: Final = (
    "", "Aaa", "Aa1", "Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2", "B3",
    "Caa1", "Caa2", "Caa3", "Ca", "C", "D", "***", "",
)  # fmt: skip
LETTERS_B: Final = (
    "", "AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-",
    "CCC+", "CCC", "CCC-", "CC", "C", "D", "***", "",
)  # fmt: skip
NUMBERS: Final = (
    "par_value", "price", "purchase_price", "spread", "floor", "all_in_rate", "recovery_rate", "maturity_date",
    "facility_size", "days_past_due", "quote_depth", "average_life",
)  # fmt: skip
FLAGS: Final = ("cov_lite", "is_dip", "is_current_pay", "is_deferring", "is_fixed", "is_defaulted")
UNITS: Final = {
    "price": "percent of par", "purchase_price": "percent of par", "spread": "bps", "floor": "percent",
    "all_in_rate": "percent", "recovery_rate": "percent", "par_value": "currency", "facility_size": "currency",
    "quote_depth": "count", "days_past_due": "days",
}  # fmt: skip


COUNTRIES: Final = {
    "US": "United States", "CA": "Canada", "LU": "Luxembourg", "NL": "Netherlands", "GB": "United Kingdom",
    "KY": "Cayman", "IE": "Ireland", "DE": "Germany", "AU": "Australia", "FR": "France",
}  # fmt: skip


class World:
    """One question's subjects; the functions of the expressions. A condition is Python over a loan's columns."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.portfolio = portfolios()[names[0]]
        self.deal = naive.Deal(self.portfolio)
        self.all = naive.loans_of(self.portfolio)
        self.as_of = float(self.portfolio.deal.as_of or 0.0)
        self.rows: dict[int, Row] = {}
        """By loan: each condition is asked of all of them."""
        self.listing = "all"
        """Which loans a list has that does not say: all that are held, or performing ones."""

    def evaluate(self, calc: str) -> Expected:
        functions = {name: getattr(self, name) for name in dir(self) if not name.startswith("_")}
        answer = eval(calc, {**functions, "figure": figure, "day": day, "Expected": Expected})
        assert isinstance(answer, Expected), calc
        return answer

    # -- choosing

    def row(self, loan: naive.Loan) -> Row:
        if id(loan) not in self.rows:  # of either month
            self.rows[id(loan)] = self._row(loan)
        return self.rows[id(loan)]

    def _row(self, loan: naive.Loan) -> Row:
        row = Row({name: float("nan") if loan.values.get(name) is None else loan.values[name] for name in NUMBERS})
        row.update({name: loan.flags.get(name, False) for name in FLAGS})
        row.update({name: value or "" for name, value in loan.names.items()})
        row["a"], row["b"], row["c"] = (loan.ranks.get(f"rating_agency_{agency}", 0) for agency in "abc")
        row["moodys"], row["sp"], row["fitch"] = LETTERS_A[row["a"]], LETTERS_B[row["b"]], LETTERS_B[row["c"]]
        row["lien"], row["defaulted"] = loan.lien, naive.is_defaulted(loan, self.as_of)
        row["year"] = 0 if row["maturity_date"] != row["maturity_date"] else self._date(row["maturity_date"]).year
        row["par"], row["nan"], row["isnan"] = loan.par, float("nan"), lambda value: value != value
        row["day"], row["as_of"] = day, self.as_of
        row["years_on"] = lambda years: years_after(self.as_of, years)
        row["ccc"] = any(naive.in_bucket(loan, f"rating_agency_{agency}") for agency in "abc")
        return row

    def _date(self, days: float) -> date:
        return EPOCH + timedelta(days=days)

    def where(self, condition: str, *, of: str = "performing") -> list[naive.Loan]:
        loans = self.all if of == "all" else self.deal.performing
        code = compile(condition, condition, "eval")
        return [loan for loan in loans if eval(code, {}, self.row(loan))]

    def _both(self, condition: str) -> tuple[list[naive.Loan], list[naive.Loan]]:
        return self.where(condition), self.where(condition, of="all")

    # -- sums

    def par(self, condition: str = "True", *others: str) -> Expected:
        """Currency: of performing loans, or of all held; an answer says which. Other conditions are other readings."""
        return figure("currency", *(total(loans) for one in (condition, *others) for loans in self._both(one)))

    def defaulted_par(self) -> Expected:
        return figure("currency", sum(loan.par for loan in self.deal.defaulted))

    def share_of(self, condition: str, whole: str) -> Expected:
        """Percent of the par of the loans that fulfil another condition."""
        parts, wholes = self._both(condition), self._both(whole)
        return figure("percent", *(total(part) / total(of) * 100 for part, of in zip(parts, wholes, strict=True)))

    def share(self, condition: str) -> Expected:
        """Percent of the collateral principal amount; or of performing par; or all held of all par."""
        performing, held = map(total, self._both(condition))
        wholes = [
            (performing, self.deal.cpa),
            (performing, self.deal.par),
            (held, total(self.all)),
            (held, self.deal.cpa),
        ]
        return figure("percent", *(part / whole * 100 for part, whole in wholes))

    def par_or_share(self, condition: str) -> Expected:
        return Expected([self.par(condition).figures[0] + self.share(condition).figures[0]])

    def _of_each(self, unit: str, of: Callable[[list[naive.Loan]], float], condition: str) -> Expected:
        """A figure of performing loans, or of all held."""
        return figure(unit, *(of(loans) for loans in self._both(condition)))

    def count(self, condition: str = "True") -> Expected:
        return self._of_each("count", len, condition)

    def distinct(self, name: str, condition: str = "True") -> Expected:
        return self._of_each(
            "count", lambda loans: len({loan.names[name] for loan in loans if loan.names.get(name)}), condition
        )

    def average(self, name: str, condition: str = "True") -> Expected:
        """Weighted by par."""
        return self._of_each(UNITS[name], lambda loans: weighted(loans, lambda loan: loan.values.get(name)), condition)

    def warf(self, condition: str) -> Expected:
        return self._of_each("factor", lambda loans: weighted(loans, factor), condition)

    def life(self, condition: str) -> Expected:
        return self._of_each("years", lambda loans: weighted(loans, self.deal.life), condition)

    def mean(self, name: str) -> Expected:
        return self._of_each(UNITS[name], lambda loans: fmean(filled(loans, name)), "True")

    def middle(self, name: str) -> Expected:
        return self._of_each(UNITS[name], lambda loans: median(filled(loans, name)), "True")

    def market_value(self, condition: str = "True") -> Expected:
        return self._of_each(
            "currency",
            lambda loans: sum(
                loan.par * price / 100 for loan in loans if (price := loan.values.get("price")) is not None
            ),
            condition,
        )

    def money(self, value: float | None) -> Expected:
        assert value is not None
        return figure("currency", value)

    # -- groups and lists

    def _label(self, loan: naive.Loan, by: str) -> str | None:
        value = self.row(loan).get(by)
        return str(value) if value else None

    def groups(self, by: str, condition: str = "True", *, of: str = "performing") -> dict[str, list[naive.Loan]]:
        found: dict[str, list[naive.Loan]] = defaultdict(list)
        for loan in self.where(condition, of=of):
            if (label := self._label(loan, by)) is not None:
                found[label].append(loan)
        return found

    def _spoken(self, label: str, loans: list[naive.Loan], by: str) -> str:
        if by == "country":
            return f"{COUNTRIES[label]}|{label}" if label in COUNTRIES else label
        return (loans[0].names["borrower_name"] or label) if by == "obligor" else label

    def top(self, most: int, by: str, condition: str = "True", *, smallest: bool = False) -> Expected:
        """The groups with the most par, each with its par or share of CPA."""
        ranked = sorted(
            self.groups(by, condition).items(),
            key=lambda one: (1 if smallest else -1) * sum(loan.par for loan in one[1]),
        )[:most]
        held = self.groups(by, condition, of="all")
        answer = Expected()
        for label, loans in ranked:
            par = total(loans)
            shares = [(par / self.deal.cpa * 100, "percent"), (par / self.deal.par * 100, "percent")]
            readings = [(par, "currency"), (total(held[label]), "currency"), *shares]
            answer += Expected([list(dict.fromkeys(readings))], [self._spoken(label, loans, by)])
        return answer

    def at(self, place: int, by: str, condition: str = "True") -> Expected:
        """The group in one place of that ranking."""
        ranked = self.top(place, by, condition)
        return Expected(ranked.figures[-1:], ranked.names[-1:])

    def over(self, percent: float, by: str) -> Expected:
        """The groups above so much of CPA."""
        sums = {label: total(loans) / self.deal.cpa * 100 for label, loans in self.groups(by).items()}
        return self.top(sum(value > percent for value in sums.values()), by)

    def worst(self, most: int, name: str, by: str, *, highest: bool) -> Expected:
        """Groups by their average, par-weighted."""
        values = {
            label: weighted(loans, factor if name == "factor" else lambda loan: loan.values.get(name))
            for label, loans in self.groups(by).items()
            if name == "factor" or filled(loans, name)
        }
        ranked = sorted(values, key=lambda label: -values[label] if highest else values[label])[:most]
        unit = "factor" if name == "factor" else UNITS[name]
        return Expected([[(values[label], unit)] for label in ranked], ranked)

    def by(self, group: str) -> Expected:
        """Every group's par or share."""
        return self.top(len(self.groups(group)), group)

    def share_of_top(self, most: int) -> Expected:
        """What the largest obligors owe together."""
        par = sum(self.deal.largest("obligor")[:most])
        return Expected(
            [[(par, "currency"), (par / self.deal.cpa * 100, "percent"), (par / self.deal.par * 100, "percent")]]
        )

    def either(self, *readings: Expected) -> Expected:
        """One figure, of which any of these is a reading."""
        return Expected([[one for reading in readings for one in reading.figures[0]]])

    def prior(self, calc: str) -> Expected:
        """The same of last month."""
        return self._before().evaluate(calc)

    def by_year(self) -> Expected:
        ordered = sorted(self.groups("year").items())
        return Expected(
            [
                [(par, "currency"), (par / self.deal.cpa * 100, "percent")]
                for _, loans in ordered
                for par in [total(loans)]
            ],
            [year for year, _ in ordered],
        )

    def loans(self, most: int, name: str, condition: str = "True", *, lowest: bool = False) -> Expected:
        """The loans with the most (or least) of a column, and it."""
        held = [loan for loan in self.where(condition, of=self.listing) if loan.values.get(name) is not None]
        ranked = sorted(held, key=lambda loan: (loan.values[name] or 0.0) * (1 if lowest else -1))
        assert len(ranked) <= most or ranked[most - 1].values[name] != ranked[most].values[name], "a tie at the end"
        ranked = ranked[:most]
        return Expected(
            [[(loan.values[name] or 0.0, UNITS[name])] for loan in ranked],
            list(dict.fromkeys(loan.names["borrower_name"] or "" for loan in ranked)),
        )

    def listed(self, condition: str) -> Expected:
        """The borrowers of the loans that fulfil a condition, in no order, and how many loans they are."""
        found = self.where(condition, of=self.listing)
        return figure("count", float(len(found))) + Expected(
            [], sorted({loan.names["borrower_name"] or "" for loan in found})
        )

    def each_average(self, name: str, by: str) -> Expected:
        """Every group with its average, par-weighted."""
        return self.worst(len(self.groups(by)), name, by, highest=True)

    def _of(self, borrower: str) -> list[naive.Loan]:
        found = [loan for loan in self.all if loan.names["borrower_name"] == borrower]
        assert found, borrower
        return found

    def maturity_of(self, borrower: str) -> Expected:
        return Expected([[((loan.values["maturity_date"] or 0.0), "date")] for loan in self._of(borrower)])

    def ratings_of(self, borrower: str) -> Expected:
        row = self.row(self._of(borrower)[0])
        return Expected([], [letters for letters in (row["moodys"], row["sp"], row["fitch"]) if letters])

    def named(self, condition: str) -> Expected:
        return Expected([], self.listed(condition).names)

    def as_of_day(self) -> Expected:
        return figure("date", self.as_of)

    def is_true(self, answer: bool) -> Expected:
        return Expected([], ["yes|fail|above|exceed|over" if answer else "no|pass|below|within"])

    # -- tests

    def _limit(self, test_id: str) -> tuple[float, str]:
        test = TESTS[test_id]
        notes = self.portfolio.tranches
        limit = test.limit
        if notes is not None and test_id in ("oc_ratio", "oc_ratio_senior", "ic_ratio", "ic_ratio_senior"):
            triggers = (notes.oc_trigger if test_id.startswith("oc") else notes.ic_trigger).tolist()
            given = [trigger for trigger in triggers if trigger == trigger]
            limit = given[0] if test_id.endswith("senior") else given[-1]
        return limit, test.threshold_type

    def value(self, test_id: str) -> float:
        return naive.measure(self.portfolio, test_id)

    def _unit(self, test_id: str) -> str:
        return TESTS[test_id].unit

    def room(self, test_id: str) -> float:
        limit, direction = self._limit(test_id)
        return limit - self.value(test_id) if direction == "max" else self.value(test_id) - limit

    def test(self, *test_ids: str) -> Expected:
        return sum((figure(self._unit(one), self.value(one)) for one in test_ids), Expected())

    def limit(self, test_id: str) -> Expected:
        return figure(self._unit(test_id), self._limit(test_id)[0])

    def cushion(self, test_id: str) -> Expected:
        return figure(self._unit(test_id), self.room(test_id))

    def passing(self, test_id: str) -> Expected:
        return Expected([], ["pass|yes" if self.room(test_id) >= -1e-9 else "fail|no"])

    def failing(self) -> Expected:
        return Expected([], [TESTS[one].name for one in TESTS if self.room(one) < -1e-9])

    def counts(self) -> Expected:
        failed = sum(self.room(one) < -1e-9 for one in TESTS)
        return figure("count", float(failed))

    def thinnest(self, most: int, *, among: str = "True") -> Expected:
        """By cushion in percent of the limit, tests that fail first."""
        ranked = sorted(
            (one for one in TESTS if eval(among, {}, {"category": TESTS[one].category})),
            key=lambda one: self.room(one) / self._limit(one)[0],
        )[:most]
        return Expected([], [TESTS[one].name for one in ranked])

    def oc_of(self, letter: str) -> Expected:
        notes = self.portfolio.tranches
        assert notes is not None
        debt = sum(
            balance for name, balance in zip(notes.classes, notes.current_balance, strict=True) if name <= letter
        )
        return figure("percent", self.deal.adjusted() / debt * 100)

    def balance(self, letter: str) -> Expected:
        notes = self.portfolio.tranches
        assert notes is not None
        return figure("currency", float(notes.current_balance[notes.classes.index(letter)]))

    # -- last month

    def _before(self) -> World:
        return world((MARCH,))

    def change(self, test_id: str) -> Expected:
        """Both figures and what lies between."""
        before, after = self._before().value(test_id), self.value(test_id)
        return figure(self._unit(test_id), after - before)

    def change_of(self, calc: str) -> Expected:
        """Of a figure: each reading now less the same reading then."""
        now, then = self.evaluate(calc).figures[0], self._before().evaluate(calc).figures[0]
        if len(now) != len(then):
            now, then = [now[0], now[-1]], [then[0], then[-1]]
        return Expected([[(a - b, unit) for (a, unit), (b, _) in zip(now, then, strict=True)]])

    def _pairs(self) -> list[tuple[naive.Loan, naive.Loan]]:
        def key(loan: naive.Loan) -> tuple[str | None, ...]:
            return (loan.names["borrower_name"], loan.names["facility_name"])

        before = {key(loan): loan for loan in self._before().all}
        return [(before[key(loan)], loan) for loan in self.all if key(loan) in before]

    def moved(self, condition: str) -> Expected:
        """The borrowers of loans that were then and are now, by a condition over `was` and `now`."""
        found = [
            now.names["borrower_name"] or ""
            for was, now in self._pairs()
            if eval(condition, {}, {"was": self._view(was), "now": self._view(now)})
        ]
        return figure("count", float(len(found))) + Expected([], sorted(set(found)))

    def _view(self, loan: naive.Loan) -> Any:
        return type("View", (), dict(self.row(loan)))

    def fell(self, most: int, name: str, *, rose: bool = False) -> Expected:
        pairs = [
            (now.values[name] - was.values[name], now)
            for was, now in self._pairs()
            if now.values.get(name) is not None and was.values.get(name) is not None
        ]
        ranked = sorted(pairs, key=lambda one: -one[0] if rose else one[0])
        assert ranked[most - 1][0] != ranked[most][0], "a tie at the end"
        ranked = ranked[:most]
        return Expected(
            [[(change, UNITS[name])] for change, _ in ranked], [loan.names["borrower_name"] or "" for _, loan in ranked]
        )

    def arrived(self, *, left: bool = False) -> Expected:
        here, there = (self._before().all, self.all) if left else (self.all, self._before().all)
        known = {(loan.names["borrower_name"], loan.names["facility_name"]) for loan in there}
        found = [loan for loan in here if (loan.names["borrower_name"], loan.names["facility_name"]) not in known]
        return figure("count", float(len(found))) + Expected(
            [], sorted({loan.names["borrower_name"] or "" for loan in found})
        )

    # -- what if

    def _then(self, change: Callable[[naive.Loan], naive.Loan | None], condition: str, cash: float = 0.0) -> naive.Deal:
        chosen = {loan.row for loan in self.where(condition, of="all")}
        loans = [change(deepcopy(loan)) if loan.row in chosen else loan for loan in self.all]
        deal = self.portfolio.deal
        portfolio = replace(self.portfolio, deal=replace(deal, principal_cash=(deal.principal_cash or 0.0) + cash))
        return naive.Deal(portfolio, [loan for loan in loans if loan is not None])

    def _figure(self, deal: naive.Deal, test_id: str) -> float:
        return naive.MEASURES[test_id](deal)

    def downgraded(self, test_id: str, condition: str, notches: int = 1) -> Expected:
        """All agencies' ratings move; or agency A's alone."""

        def worse(agencies: str) -> float:
            def change(loan: naive.Loan) -> naive.Loan:
                for agency in agencies:
                    name = f"rating_agency_{agency}"
                    if 0 < loan.ranks.get(name, 0) < 21:
                        loan.ranks[name] = min(21, loan.ranks[name] + notches)
                return loan

            return self._figure(self._then(change, condition), test_id)

        return figure(self._unit(test_id), worse("abc"), worse("a"))

    def in_default(self, test_id: str, condition: str) -> Expected:
        def change(loan: naive.Loan) -> naive.Loan:
            loan.flags["is_defaulted"] = True
            return loan

        return figure(self._unit(test_id), self._figure(self._then(change, condition), test_id))

    def marked(self, test_id: str, points: float = 0.0, factor: float = 1.0, condition: str = "True") -> Expected:
        def change(loan: naive.Loan) -> naive.Loan:
            if (price := loan.values.get("price")) is not None:
                loan.values["price"] = max(0.0, (price + points) * factor)
            return loan

        return figure(self._unit(test_id), self._figure(self._then(change, condition), test_id))

    def sold(self, test_id: str, condition: str, *, at: float | None = None) -> Expected:
        """At the mark (100 where there is none), or at one price."""
        cash = sum(
            loan.par * (at if at is not None else loan.values.get("price") or 100.0) / 100
            for loan in self.where(condition, of="all")
        )
        return figure(self._unit(test_id), self._figure(self._then(lambda _: None, condition, cash), test_id))

    def headroom(self, condition: str, percent: float) -> Expected:
        """How much more of it may be bought at par until so much of CPA, which a purchase leaves as it is."""
        held = sum(loan.par for loan in self.where(condition))
        room = percent / 100 * self.deal.cpa - held
        return Expected([[(room, "currency"), (room / self.deal.cpa * 100, "percent")]])

    # -- several deals

    def higher(self, test_id: str, *, lower: bool = False) -> Expected:
        values = {name: world((name,)).value(test_id) for name in self.names}
        best = (min if lower else max)(values, key=lambda name: values[name])
        return Expected([[(value, self._unit(test_id))] for value in values.values()], [best])

    def each(self, calc: str) -> Expected:
        return sum((world((name,)).evaluate(calc) + Expected([], [name]) for name in self.names), Expected())


@cache
def world(names: tuple[str, ...]) -> World:
    return World(list(names))


# ---- the rows -------------------------------------------------------------------------------------------------------


def rows(path: Path) -> list[dict[str, Any]]:
    """The questions of a file whose books are at hand."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in found if all(name in portfolios() for name in SUBJECTS[row["subject"]])]


def answered(row: dict[str, Any]) -> dict[str, Any]:
    """The row with what is expected of its answer: one or two readings, figures to ten digits."""
    if row.get("refuse"):
        return row
    of = world(tuple(SUBJECTS[row["subject"]]))
    readings = []
    for of.listing in ("all", "performing"):
        expected = of.evaluate(row["calc"])
        figures = [[[float(f"{value:.10g}"), unit] for value, unit in one] for one in expected.figures]
        reading = {"figures": figures, "names": expected.names}
        if reading not in readings:
            readings.append(reading)
    return {**row, "expected": readings}


def main(paths: list[str]) -> None:
    """Write the expected answers of the files anew."""
    for path in map(Path, paths):
        made = [answered(row) for row in rows(path)]
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
