"""What the oracle says of two months, of several deals, and of trades, ratings, defaults and prices supposed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from core.compliance.suites import TESTS
from tests.core import naive
from tests.core.questions.books import MARCH
from tests.core.questions.oracle import (
    LETTERS_A,
    LETTERS_B,
    NUMBERS,
    UNITS,
    Expected,
    World,
    borrower_of,
    figure,
    names_of,
    total,
)

LIENS: Final = {"first": 1, "second": 2, "unsecured": 3}
FALL_MAX: Final = 40.0
"""Points by which prices fall at most in the search of the test that fails first."""


@dataclass
class Book:
    """What is owned at a step: the loans, and the cash that trades left."""

    loans: list[naive.Loan]
    cash: float = 0.0

    def copy(self) -> Book:
        return Book([copy_of(loan) for loan in self.loans], self.cash)


def copy_of(loan: naive.Loan) -> naive.Loan:
    """Return a loan that may be changed."""
    return replace(
        loan, values=dict(loan.values), names=dict(loan.names), flags=dict(loan.flags), ranks=dict(loan.ranks)
    )


Step = Callable[[Book], Book]


class Suppositions(World):
    """The functions that look at more than one book.

    A step is what `sell`, `buy`, `cut`, ... give.
    """

    # -- last month

    def _before(self) -> Suppositions:
        return world((MARCH,))

    def last_month(self, calc: str) -> Expected:
        """Return the same of last month."""
        return self._before().evaluate(calc)

    def change(self, test_id: str) -> Expected:
        return figure(self._unit(test_id), self.value(test_id) - self._before().value(test_id))

    def change_of(self, calc: str) -> Expected:
        """Return each reading of a figure now less the same reading then."""
        now, then = self.evaluate(calc).figures[0], self._before().evaluate(calc).figures[0]
        if len(now) != len(then):
            now, then = [now[0], now[-1]], [then[0], then[-1]]
        return Expected([[(a - b, unit) for (a, unit), (b, _) in zip(now, then, strict=True)]])

    def _key(self, loan: naive.Loan) -> tuple[str | None, ...]:
        return (loan.names["borrower_name"], loan.names["facility_name"])

    def _pairs(self) -> list[tuple[naive.Loan, naive.Loan]]:
        before = {self._key(loan): loan for loan in self._before().all}
        return [(before[self._key(loan)], loan) for loan in self.all if self._key(loan) in before]

    def loans_that_changed(self, condition: str) -> Expected:
        """Return the borrowers of loans of both months, by `was` and `now`."""
        return names_of(
            [now for was, now in self._pairs() if eval(condition, {}, {"was": self._view(was), "now": self._view(now)})]
        )

    def _view(self, loan: naive.Loan) -> Any:
        return type("View", (), dict(self.row(loan)))

    def change_of_loan(self, name: str, borrower: str) -> Expected:
        (change,) = [
            (now.values[name] or 0.0) - (was.values[name] or 0.0)
            for was, now in self._pairs()
            if now.names["borrower_name"] == borrower
        ]
        return figure(UNITS[name], change)

    def largest_changes(self, most: int, name: str, *, rose: bool = False) -> Expected:
        """Return the loans whose figure fell (or rose) most, with the change."""
        pairs = [
            (new - old, now)
            for was, now in self._pairs()
            if (new := now.values.get(name)) is not None and (old := was.values.get(name)) is not None
        ]
        ranked = sorted(pairs, key=lambda pair: -pair[0] if rose else pair[0])
        assert ranked[most - 1][0] != ranked[most][0], "a tie at the end"
        ranked = ranked[:most]
        return Expected([[(change, UNITS[name])] for change, _ in ranked], [borrower_of(loan) for _, loan in ranked])

    def _arrivals(self, *, left: bool = False, condition: str = "True") -> list[naive.Loan]:
        book, rest = (self._before(), self) if left else (self, self._before())
        known = {self._key(loan) for loan in rest.all}
        return [loan for loan in book.where(condition, of="all") if self._key(loan) not in known]

    def arrivals(self, *, left: bool = False, condition: str = "True") -> Expected:
        """Return the loans that are new, or gone, since last month."""
        return names_of(self._arrivals(left=left, condition=condition))

    def arrivals_par(self, *, left: bool = False) -> Expected:
        return figure("currency", total(self._arrivals(left=left)))

    def paydown_par(self) -> Expected:
        """Return by how much par fell of the loans of both months."""
        return figure("currency", sum(max(0.0, was.par - now.par) for was, now in self._pairs()))

    def overview(self) -> Expected:
        """Return what a month's summary cannot leave out.

        The test that began to fail, and how many loans came, went or were downgraded.
        """
        failures = [test for test in TESTS if self.room(test) < -1e-9 <= self._before().room(test)]
        assert failures == ["ccc_bucket_pct"]
        change, value = self.change(failures[0]).figures[0], self.test(failures[0]).figures[0]
        counts = [
            self.arrivals().figures[0],
            self.arrivals(left=True).figures[0],
            self.loans_that_changed("now.a > was.a > 0").figures[0],
        ]
        return Expected([change + value, [count for figures in counts for count in figures]], [TESTS[failures[0]].name])

    def cushion_changes(self, most: int, *, improved: bool = False) -> Expected:
        """Return the tests in percent whose cushion lost (or won) most."""
        changes = {test: self.room(test) - self._before().room(test) for test in TESTS if self._unit(test) == "percent"}
        ranked = sorted(changes, key=lambda test: changes[test], reverse=improved)[:most]
        return Expected([[(changes[test], "percent")] for test in ranked], [TESTS[test].name for test in ranked])

    def group_changes(self, by: str, most: int, *, fell: bool = False) -> Expected:
        """Return the groups whose share and par grew (or fell) most."""
        now, then = self.groups(by), self._before().groups(by)
        points, amounts = {}, {}
        for label in set(now) | set(then):
            a, b = total(now.get(label, [])), total(then.get(label, []))
            points[label] = a / self.deal.cpa * 100 - b / self._before().deal.cpa * 100
            amounts[label] = a - b
        sign = 1 if fell else -1
        by_points = sorted(points, key=lambda label: sign * points[label])[:most]
        by_amounts = sorted(amounts, key=lambda label: sign * amounts[label])[:most]
        assert by_points == by_amounts, (by_points, by_amounts)
        figures = [[(points[label], "percent"), (amounts[label], "currency")] for label in by_points]
        return Expected(figures, [self._spoken(label, now[label], by) for label in by_points])

    # -- several deals

    def higher(self, test_id: str, *, lower: bool = False) -> Expected:
        values = {name: world((name,)).value(test_id) for name in self.names}
        best = (min if lower else max)(values, key=lambda name: values[name])
        return Expected([[(value, self._unit(test_id))] for value in values.values()], [best])

    def each(self, calc: str) -> Expected:
        return sum((world((name,)).evaluate(calc) + Expected([], [name]) for name in self.names), Expected())

    # -- steps

    def _meant(self, book: Book, condition: str) -> list[naive.Loan]:
        chosen = {loan.row for loan in self.where(condition, of="all")}
        return [loan for loan in book.loans if loan.row in chosen]

    def _each_loan(self, condition: str, change: Callable[[naive.Loan], None]) -> Step:
        def step(book: Book) -> Book:
            book = book.copy()
            for loan in self._meant(book, condition):
                change(loan)
            return book

        return step

    def sell(self, condition: str, *, at: float | None = None, part: float = 1.0, par: float | None = None) -> Step:
        """Sell at the mark (100 where there is none) or at a price: all, or a part."""

        def step(book: Book) -> Book:
            book = book.copy()
            meant = self._meant(book, condition)
            share = part if par is None else par / total(meant)
            assert 0 < share <= 1
            for loan in meant:
                mark = loan.values.get("price")
                book.cash += loan.par * share * (at if at is not None else 100.0 if mark is None else mark) / 100
                loan.par *= 1 - share
            return Book([loan for loan in book.loans if loan.par > 0 or loan not in meant], book.cash)

        return step

    def buy(self, par: float, price: float = 100.0, *, borrower: str = "A new borrower", **terms: Any) -> Step:
        """Buy a loan of known terms; one of a borrower in the book has its terms."""

        def step(book: Book) -> Book:
            same = [loan for loan in book.loans if loan.names["borrower_name"] == borrower]
            loan = copy_of(same[0]) if same else self._blank(borrower)
            loan.row, loan.par = 1 + max(known.row for known in book.loans), par
            loan.values.update({"price": price, "purchase_price": price})
            self._set_terms(loan, terms)
            return Book([*book.loans, loan], book.cash - par * price / 100)

        return step

    def _set_terms(self, loan: naive.Loan, terms: dict[str, Any]) -> None:
        """Set letters `a` and `b`, lien, cov_lite, industry, country, and numbers."""
        for name, value in terms.items():
            if name in ("a", "b"):
                loan.ranks[f"rating_agency_{name}"] = (LETTERS_A if name == "a" else LETTERS_B).index(value)
            elif name == "lien":
                loan.lien = LIENS[value]
            elif name == "cov_lite":
                loan.flags[name] = value
            elif name in ("industry", "country"):
                loan.names[name] = value
            else:
                assert name in NUMBERS, name
                loan.values[name] = value

    def _blank(self, borrower: str) -> naive.Loan:
        loan = copy_of(self.all[0])
        loan.values, loan.names = dict.fromkeys(loan.values), dict.fromkeys(loan.names)
        loan.names.update({"borrower_name": borrower, "obligor": borrower.upper()})
        loan.flags, loan.ranks = dict.fromkeys(loan.flags, False), dict.fromkeys(loan.ranks, 0)
        return loan

    def cut(self, condition: str, notches: int = 1, *, agencies: str = "abc") -> Step:
        """Lower ratings by notches, down to C; a negative number raises them."""

        def change(loan: naive.Loan) -> None:
            for agency in agencies:
                rank = loan.ranks.get(f"rating_agency_{agency}", 0)
                if 0 < rank < 21:
                    loan.ranks[f"rating_agency_{agency}"] = max(1, min(21, rank + notches))

        return self._each_loan(condition, change)

    def default(self, condition: str) -> Step:
        def change(loan: naive.Loan) -> None:
            loan.flags["is_defaulted"] = True

        return self._each_loan(condition, change)

    def mark(self, points: float = 0.0, factor: float = 1.0, condition: str = "True") -> Step:
        """Move prices by points, or by a factor."""

        def change(loan: naive.Loan) -> None:
            if (price := loan.values.get("price")) is not None:
                loan.values["price"] = max(0.0, (price + points) * factor)

        return self._each_loan(condition, change)

    def repay(self, condition: str) -> Step:
        return self.sell(condition, at=100.0)

    # -- what steps lead to

    def _after(self, *steps: Step) -> naive.Deal:
        book = Book(self.all)
        for step in steps:
            book = step(book)
        deal = self.portfolio.deal
        cash = (deal.principal_cash or 0.0) + book.cash
        return naive.Deal(replace(self.portfolio, deal=replace(deal, principal_cash=cash)), book.loans)

    def _value_after(self, test_id: str, *steps: Step) -> float:
        return naive.MEASURES[test_id](self._after(*steps))

    def _room_in(self, deal: naive.Deal, test_id: str) -> float:
        limit, direction = self._limit(test_id)
        value = naive.MEASURES[test_id](deal)
        return limit - value if direction == "max" else value - limit

    def after(self, test_id: str, *steps: Step) -> Expected:
        return figure(self._unit(test_id), self._value_after(test_id, *steps))

    def cushion_after(self, test_id: str, *steps: Step) -> Expected:
        return figure(self._unit(test_id), self._room_in(self._after(*steps), test_id))

    def move_after(self, test_id: str, *steps: Step) -> Expected:
        """Return the change of a figure, or the figure after it."""
        value = self._value_after(test_id, *steps)
        return Expected([[(value - self.value(test_id), self._unit(test_id)), (value, self._unit(test_id))]])

    def passes_after(self, test_id: str, *steps: Step) -> Expected:
        is_passing = self._room_in(self._after(*steps), test_id) >= -1e-9
        return Expected([], ["would pass|passes" if is_passing else "would fail|fails"])

    def new_failures(self, *steps: Step) -> Expected:
        """Return the tests that fail then and did not before."""
        deal = self._after(*steps)
        failures = [test for test in TESTS if self._room_in(deal, test) < -1e-9 <= self.room(test)]
        return Expected([], [TESTS[test].name for test in failures])

    def cash_after(self, *steps: Step) -> Expected:
        """Return principal cash then, or what the trades cost or bring."""
        cash, now = self._after(*steps).portfolio.deal.principal_cash, self.portfolio.deal.principal_cash or 0.0
        assert cash is not None
        return Expected([[(cash, "currency"), (cash - now, "currency"), (now - cash, "currency")]])

    def can_buy(self, *steps: Step) -> Expected:
        """Say whether cash pays for it and no test fails that did not.

        With what it costs, or what is left.
        """
        is_paid = (self._after(*steps).portfolio.deal.principal_cash or 0.0) >= 0
        return self.cash_after(*steps) + self.is_true(is_paid and not self.new_failures(*steps).names)

    def fails_first(self, condition: str = "True") -> Expected:
        """Return the test that fails first while prices fall."""
        point = 0.0
        while point < FALL_MAX:
            point += 0.25
            if failures := self.new_failures(self.mark(-point, condition=condition)).names:
                assert len(failures) == 1
                return Expected([], failures)
        raise AssertionError("none fails")

    # -- as one expression

    def after_downgrade(self, test_id: str, condition: str, notches: int = 1) -> Expected:
        """Return the figure after all agencies' cuts; or those of Moody's alone."""
        readings = [self._value_after(test_id, self.cut(condition, notches, agencies=some)) for some in ("abc", "a")]
        return figure(self._unit(test_id), *readings)

    def after_default(self, test_id: str, condition: str) -> Expected:
        return self.after(test_id, self.default(condition))

    def after_price_change(
        self, test_id: str, points: float = 0.0, factor: float = 1.0, condition: str = "True"
    ) -> Expected:
        return self.after(test_id, self.mark(points, factor, condition))

    def after_sale(self, test_id: str, condition: str, *, at: float | None = None) -> Expected:
        return self.after(test_id, self.sell(condition, at=at))

    def headroom(self, condition: str, percent: float) -> Expected:
        """Return how much more may be bought at par until so much of CPA."""
        room = percent / 100 * self.deal.cpa - total(self.where(condition))
        return Expected([[(room, "currency"), (room / self.deal.cpa * 100, "percent")]])


@cache
def world(names: tuple[str, ...]) -> Suppositions:
    return Suppositions(list(names))
