"""The answers to an analyst's questions in plain Python over the columns, written from the definitions.

A row of a data file has a question, the subjects that it is asked of, and in `calc` one expression over the functions
of `Suppositions`: what a careful person would work out by hand. `python -m tests.core.questions.rows FILE` writes
what is expected beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from statistics import fmean, median
from typing import Any, Final

from core.compliance.suites import TESTS
from tests.core import naive
from tests.core.questions.books import EPOCH, portfolios


@dataclass
class Expected:
    """Each figure is a list of what it may rightly be.

    (value, unit), the usual reading first.
    """

    figures: list[list[tuple[float, str]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """All of them, in this order where it is a ranking; words that say the same stand between bars."""
    verdict: str = ""
    """yes or no, of a question that is answered by either."""

    def __add__(self, other_expected: Expected) -> Expected:
        return Expected(
            self.figures + other_expected.figures,
            self.names + other_expected.names,
            self.verdict or other_expected.verdict,
        )


def borrower_of(loan: naive.Loan) -> str:
    """Return its name as an answer prints it: with single spaces."""
    return " ".join((loan.names["borrower_name"] or "").split())


def names_of(loans: list[naive.Loan]) -> Expected:
    """Return the borrowers of loans, in no order, and how many loans they are."""
    return figure("count", float(len(loans))) + Expected([], sorted({borrower_of(loan) for loan in loans}))


def figure(unit: str, *values: float) -> Expected:
    return Expected([[(value, unit) for value in dict.fromkeys(values)]])


class LoanRow(dict[str, Any]):
    """A loan's columns by name for an expression.

    A blank number is NaN, so that no comparison holds.
    """

    def __missing__(self, name: str) -> Any:
        raise NameError(name)


def total(loans: list[naive.Loan]) -> float:
    return sum(loan.par for loan in loans)


def known_values(loans: list[naive.Loan], name: str) -> list[float]:
    return [value for loan in loans if (value := loan.values.get(name)) is not None]


def weighted_average(loans: list[naive.Loan], of: Callable[[naive.Loan], float | None]) -> float:
    """Return the average by par, over the loans that have the figure."""
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
    """One question's subjects; the functions of the expressions.

    A condition is Python over a loan's columns.
    """

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.portfolio = portfolios()[names[0]]
        self.deal = naive.Deal(self.portfolio)
        self.all = naive.loans_of(self.portfolio)
        self.as_of = float(self.portfolio.deal.as_of or 0.0)
        self.rows: dict[int, LoanRow] = {}
        """By loan: each condition is asked of all of them."""
        self.values: dict[str, float] = {}
        """Of the tests that were asked for."""
        self.listing = "all"
        """Which loans a list has that does not say: all that are held, or performing ones."""

    def evaluate(self, calc: str) -> Expected:
        """Return what an expression over the functions of this class gives."""
        functions = {name: getattr(self, name) for name in dir(self) if not name.startswith("_")}
        answer = eval(calc, {**functions, "figure": figure, "day": day, "Expected": Expected})
        assert isinstance(answer, Expected), calc
        return answer

    # -- choosing

    def row(self, loan: naive.Loan) -> LoanRow:
        if id(loan) not in self.rows:  # of either month
            self.rows[id(loan)] = self._row(loan)
        return self.rows[id(loan)]

    def _row(self, loan: naive.Loan) -> LoanRow:
        row = LoanRow({name: float("nan") if loan.values.get(name) is None else loan.values[name] for name in NUMBERS})
        row.update({name: loan.flags.get(name, False) for name in FLAGS})
        row.update({name: value or "" for name, value in loan.names.items()})
        row["a"], row["b"], row["c"] = (loan.ranks.get(f"rating_agency_{agency}", 0) for agency in "abc")
        row["moodys"], row["sp"], row["fitch"] = LETTERS_A[row["a"]], LETTERS_B[row["b"]], LETTERS_B[row["c"]]
        row["lien"], row["defaulted"] = loan.lien, naive.is_defaulted(loan, self.as_of)
        row["year"] = 0 if row["maturity_date"] != row["maturity_date"] else self._date(row["maturity_date"]).year
        row["par"], row["nan"], row["isnan"] = loan.par, float("nan"), lambda value: value != value
        row["day"], row["as_of"] = day, self.as_of
        row["reinvestment_end"] = self.portfolio.deal.reinvestment_end or float("nan")
        row["discount"] = naive.is_discount(loan)
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
        """Return the par of performing loans, or of all; conditions are readings."""
        return figure("currency", *(total(loans) for reading in (condition, *others) for loans in self._both(reading)))

    def defaulted_par(self) -> Expected:
        return figure("currency", sum(loan.par for loan in self.deal.defaulted))

    def share_of(self, condition: str, whole: str) -> Expected:
        """Return the percent of the par of the loans that fulfil another condition."""
        parts, wholes = self._both(condition), self._both(whole)
        return figure("percent", *(total(part) / total(of) * 100 for part, of in zip(parts, wholes, strict=True)))

    def share(self, condition: str) -> Expected:
        """Return the percent of CPA, of performing par, or of all loans' par."""
        performing, everything = map(total, self._both(condition))
        wholes = [
            (performing, self.deal.cpa),
            (performing, self.deal.par),
            (everything, total(self.all)),
            (everything, self.deal.cpa),
        ]
        return figure("percent", *(part / whole * 100 for part, whole in wholes))

    def par_or_share(self, condition: str) -> Expected:
        return Expected([self.par(condition).figures[0] + self.share(condition).figures[0]])

    def _of_each(self, unit: str, of: Callable[[list[naive.Loan]], float], condition: str) -> Expected:
        """Return a figure of performing loans, or of all."""
        return figure(unit, *(of(loans) for loans in self._both(condition)))

    def count(self, condition: str = "True") -> Expected:
        return self._of_each("count", len, condition)

    def distinct(self, name: str, condition: str = "True") -> Expected:
        return self._of_each(
            "count", lambda loans: len({loan.names[name] for loan in loans if loan.names.get(name)}), condition
        )

    def average(self, name: str, condition: str = "True") -> Expected:
        """Return the average by par."""
        return self._of_each(
            UNITS[name], lambda loans: weighted_average(loans, lambda loan: loan.values.get(name)), condition
        )

    def warf(self, condition: str) -> Expected:
        return self._of_each("factor", lambda loans: weighted_average(loans, factor), condition)

    def life(self, condition: str) -> Expected:
        return self._of_each("years", lambda loans: weighted_average(loans, self.deal.life), condition)

    def mean(self, name: str) -> Expected:
        return self._of_each(UNITS[name], lambda loans: fmean(known_values(loans, name)), "True")

    def middle(self, name: str) -> Expected:
        return self._of_each(UNITS[name], lambda loans: median(known_values(loans, name)), "True")

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
        groups: dict[str, list[naive.Loan]] = defaultdict(list)
        for loan in self.where(condition, of=of):
            if (label := self._label(loan, by)) is not None:
                groups[label].append(loan)
        return groups

    def _spoken(self, label: str, loans: list[naive.Loan], by: str) -> str:
        if by == "country":
            return f"{COUNTRIES[label]}|{label}" if label in COUNTRIES else label
        return borrower_of(loans[0]) if by == "obligor" else label

    def top(self, most: int, by: str, condition: str = "True", *, smallest: bool = False) -> Expected:
        """Return the groups with the most par, each with its par or share of CPA."""
        ranked = sorted(
            self.groups(by, condition).items(), key=lambda group: (1 if smallest else -1) * total(group[1])
        )[:most]
        everything = self.groups(by, condition, of="all")
        answer = Expected()
        for label, loans in ranked:
            par = total(loans)
            shares = [(par / self.deal.cpa * 100, "percent"), (par / self.deal.par * 100, "percent")]
            readings = [(par, "currency"), (total(everything[label]), "currency"), *shares]
            answer += Expected([list(dict.fromkeys(readings))], [self._spoken(label, loans, by)])
        return answer

    def at(self, place: int, by: str, condition: str = "True") -> Expected:
        """Return the group in one place of that ranking."""
        ranked = self.top(place, by, condition)
        return Expected(ranked.figures[-1:], ranked.names[-1:])

    def above(self, percent: float, by: str) -> Expected:
        """Return the groups above so much of CPA."""
        sums = {label: total(loans) / self.deal.cpa * 100 for label, loans in self.groups(by).items()}
        return self.top(sum(value > percent for value in sums.values()), by)

    def worst(self, most: int, name: str, by: str, *, highest: bool) -> Expected:
        """Rank groups by their average, weighted by par."""
        values = {
            label: weighted_average(loans, factor if name == "factor" else lambda loan: loan.values.get(name))
            for label, loans in self.groups(by).items()
            if name == "factor" or known_values(loans, name)
        }
        ranked = sorted(values, key=lambda label: -values[label] if highest else values[label])[:most]
        unit = "factor" if name == "factor" else UNITS[name]
        return Expected([[(values[label], unit)] for label in ranked], ranked)

    def breakdown(self, group: str) -> Expected:
        """Return every group's par or share."""
        return self.top(len(self.groups(group)), group)

    def share_of_top(self, most: int) -> Expected:
        """Return what the largest obligors owe together."""
        par = sum(self.deal.largest("obligor")[:most])
        return Expected(
            [[(par, "currency"), (par / self.deal.cpa * 100, "percent"), (par / self.deal.par * 100, "percent")]]
        )

    def either(self, *readings: Expected) -> Expected:
        """Return one figure, of which any of these is a reading."""
        return Expected([[value for reading in readings for value in reading.figures[0]]])

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
        """Return the loans with the most (or least) of a column, and it."""
        known = [loan for loan in self.where(condition, of=self.listing) if loan.values.get(name) is not None]
        ranked = sorted(known, key=lambda loan: (loan.values[name] or 0.0) * (1 if lowest else -1))
        assert len(ranked) <= most or ranked[most - 1].values[name] != ranked[most].values[name], "a tie at the end"
        ranked = ranked[:most]
        return Expected(
            [[(loan.values[name] or 0.0, UNITS[name])] for loan in ranked],
            list(dict.fromkeys(map(borrower_of, ranked))),
        )

    def loans_where(self, condition: str) -> Expected:
        """Return the borrowers of the loans that fulfil a condition."""
        return names_of(self.where(condition, of=self.listing))

    def each_average(self, name: str, by: str) -> Expected:
        """Return every group with its average, weighted by par."""
        return self.worst(len(self.groups(by)), name, by, highest=True)

    def _of(self, borrower: str) -> list[naive.Loan]:
        loans = [loan for loan in self.all if loan.names["borrower_name"] == borrower]
        assert loans, borrower
        return loans

    def maturity_of(self, borrower: str) -> Expected:
        return Expected([[((loan.values["maturity_date"] or 0.0), "date")] for loan in self._of(borrower)])

    def ratings_of(self, borrower: str) -> Expected:
        row = self.row(self._of(borrower)[0])
        return Expected([], [letters for letters in (row["moodys"], row["sp"], row["fitch"]) if letters])

    def names_where(self, condition: str) -> Expected:
        return Expected([], self.loans_where(condition).names)

    def as_of_day(self) -> Expected:
        return figure("date", self.as_of)

    def is_true(self, answer: bool) -> Expected:
        return Expected(verdict="yes" if answer else "no")

    # -- tests

    def _limit(self, test_id: str) -> tuple[float, str]:
        test = TESTS[test_id]
        notes = self.portfolio.tranches
        limit = test.limit
        if notes is not None and test_id in ("oc_ratio", "oc_ratio_senior", "ic_ratio", "ic_ratio_senior"):
            triggers = (notes.oc_trigger if test_id.startswith("oc") else notes.ic_trigger).tolist()
            known = [trigger for trigger in triggers if trigger == trigger]
            limit = known[0] if test_id.endswith("senior") else known[-1]
        return limit, test.threshold_type

    def value(self, test_id: str) -> float:
        if test_id not in self.values:
            self.values[test_id] = naive.MEASURES[test_id](self.deal)
        return self.values[test_id]

    def _unit(self, test_id: str) -> str:
        return TESTS[test_id].unit

    def room(self, test_id: str) -> float:
        limit, direction = self._limit(test_id)
        return limit - self.value(test_id) if direction == "max" else self.value(test_id) - limit

    def test(self, *test_ids: str) -> Expected:
        return sum((figure(self._unit(test_id), self.value(test_id)) for test_id in test_ids), Expected())

    def limit(self, test_id: str) -> Expected:
        return figure(self._unit(test_id), self._limit(test_id)[0])

    def cushion(self, test_id: str) -> Expected:
        return figure(self._unit(test_id), self.room(test_id))

    def status(self, test_id: str) -> Expected:
        """Say whether it passes, in a word of a status or by yes and no."""
        return Expected([], ["pass|yes"] if self.room(test_id) >= -1e-9 else ["fail|no"])

    def failing_tests(self) -> Expected:
        return Expected([], [TESTS[test_id].name for test_id in TESTS if self.room(test_id) < -1e-9])

    def counts(self) -> Expected:
        failed = sum(self.room(test_id) < -1e-9 for test_id in TESTS)
        return figure("count", float(failed))

    def thinnest(self, most: int, *, among: str = "True") -> Expected:
        """Rank tests by cushion in percent of the limit, failing ones first."""
        ranked = sorted(
            (test_id for test_id in TESTS if eval(among, {}, {"category": TESTS[test_id].category})),
            key=lambda test_id: self.room(test_id) / self._limit(test_id)[0],
        )[:most]
        return Expected([], [TESTS[test_id].name for test_id in ranked])

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

    # -- what stands behind a test

    def room_amount(self, test_id: str) -> Expected:
        """Return how much par of a share may still be bought at par."""
        room = self.room(test_id) / 100 * self.deal.cpa
        return Expected([[(room, "currency"), (self.room(test_id), "percent")]])

    def loss_to_breach(self, test_id: str) -> Expected:
        """Return what the numerator of an OC test may lose before it fails."""
        debt = naive.tested(self.portfolio, "oc", 0 if test_id.endswith("senior") else -1)["balance"]
        return figure("currency", self.deal.adjusted() - self._limit(test_id)[0] / 100 * debt)

    def adjusted_principal(self) -> Expected:
        return figure("currency", self.deal.adjusted())

    def ccc_haircut(self) -> Expected:
        """Return what the CCC excess takes off, the lowest prices first."""
        agency, bucket = self.deal.bucket()
        left, haircut = max(0.0, bucket - 0.075 * self.deal.cpa), 0.0
        for loan in sorted(self.deal.performing, key=self.deal.mark):
            if naive.in_bucket(loan, agency):
                assert not naive.is_discount(loan), "of two kinds at once"
                assert not loan.flags.get("is_deferring"), "of two kinds at once"
                part = min(left, loan.par)
                haircut, left = haircut + part * (1 - min(self.deal.mark(loan), 100.0) / 100), left - part
        return figure("currency", haircut)

    def ccc_excess(self) -> Expected:
        excess = self.deal.bucket()[1] - 0.075 * self.deal.cpa
        percent = excess / self.deal.cpa * 100
        return Expected([[(excess, "currency"), (percent, "percent"), (-excess, "currency"), (-percent, "percent")]])

    def months(self, test_id: str) -> Expected:
        """Return the room of a test in years as months."""
        return Expected([[(self.room(test_id) * 12, "months")]])

    def groups_over(self, percent: float, by: str) -> Expected:
        """Count the groups above so much of CPA."""
        return figure("count", sum(total(loans) / self.deal.cpa * 100 > percent for loans in self.groups(by).values()))

    def place(self, label: str, by: str) -> Expected:
        """Return the place of a group among those with the most par, from 1."""
        sums = {name: total(loans) for name, loans in self.groups(by).items()}
        return figure("count", 1 + sum(par > sums[label] for par in sums.values()))

    def most_loans(self, most: int, by: str) -> Expected:
        """Return the groups with the most loans."""
        ranked = sorted(self.groups(by).items(), key=lambda group: -len(group[1]))
        assert len(ranked[most - 1][1]) != len(ranked[most][1]), "a tie at the end"
        everything = self.groups(by, of="all")
        counts = [
            [(float(len(loans)), "count"), (float(len(everything[label])), "count")] for label, loans in ranked[:most]
        ]
        return Expected(counts, [self._spoken(label, loans, by) for label, loans in ranked[:most]])

    def difference(self, calc: str, less: str) -> Expected:
        """Return what lies between two figures, in either direction."""
        value, unit = self.evaluate(calc).figures[0][0]
        rest, _ = self.evaluate(less).figures[0][0]
        return Expected([[(value - rest, unit), (rest - value, unit)]])

    def notes_total(self) -> Expected:
        """Return the balance of the rated notes."""
        return figure("currency", naive.groups(self.portfolio, 0.25)[-1]["balance"])

    def trigger(self, letter: str, kind: str = "oc") -> Expected:
        """Return the OC or IC trigger of a class."""
        notes = self.portfolio.tranches
        assert notes is not None
        triggers = notes.oc_trigger if kind == "oc" else notes.ic_trigger
        return figure("percent", float(triggers[notes.classes.index(letter)]))

    def coupon(self, letter: str) -> Expected:
        notes = self.portfolio.tranches
        assert notes is not None
        return figure("percent", float(notes.coupon[notes.classes.index(letter)]))

    def reinvestment_end(self) -> Expected:
        """Return the day on which the reinvestment period ends."""
        end = self.portfolio.deal.reinvestment_end
        assert end is not None
        return figure("date", end)
