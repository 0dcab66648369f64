"""An insight's figures worked out again from their recipes and the columns, in plain Python and never by the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from core.compliance.result import Results
from core.compliance.suites import TESTS
from core.insights.insight import FigureCondition, FigureRecipe, Insight, InsightFigure, PortfolioChange
from core.insights.subject import Subject
from core.portfolio import Portfolio
from core.scenario.simulate import simulate
from core.scenario.trades import Trade
from tests.core import naive

RATINGS = ("rating_agency_a", "rating_agency_b", "rating_agency_c", "rating")
LIENS = ("", "first_lien", "second_lien", "unsecured", "bond", "other")
EPOCH = date(1970, 1, 1)


class Given(Exception):
    """A figure that stands where its recipe says, and is worked out of nothing."""


class Book:
    """A month's loans as plain records."""

    def __init__(self, portfolio: Portfolio) -> None:
        self.portfolio = portfolio
        self.deal = naive.Deal(portfolio)
        self.loans = {"performing": self.deal.performing, "defaulted": self.deal.defaulted}
        self.loans["all"] = [*self.deal.performing, *self.deal.defaulted]
        self.by_key = {key_of(loan): loan for loan in self.loans["all"]}


def key_of(loan: naive.Loan) -> str | None:
    """What pairs the loans of two months: an identifier, else the borrower."""
    return identifier_of(loan) or loan.names["borrower_name"]


def identifier_of(loan: naive.Loan) -> str | None:
    return next((text for name in ("cusip", "loanx_id", "isin") if (text := loan.names.get(name))), None)


def value_of(loan: naive.Loan, column: str) -> float | str | None:
    """A column of a loan; None for a blank."""
    if column == "worst_rating":
        return max((loan.ranks.get(name, 0) for name in RATINGS), default=0) or None
    if column in RATINGS:
        return loan.ranks.get(column) or None
    if column == "year":
        days = loan["maturity_date"]
        return None if days is None else (EPOCH + timedelta(days=days)).year
    if column == "par_value":
        return loan.par
    if column == "lien_type":
        return LIENS[loan.lien] or None
    if column in loan.flags:
        return float(loan.flags[column])
    return loan.names[column] if column in loan.names else loan[column]


def meets(loan: naive.Loan, condition: FigureCondition, other_book: Book | None) -> bool:
    """Whether a loan is what a condition asks."""
    if condition.is_ in ("rose", "fell", "unchanged", "only_here"):
        assert other_book is not None
        twin = other_book.by_key.get(key_of(loan))
        if condition.is_ == "only_here":
            return twin is None
        own, theirs = (None if item is None else value_of(item, condition.column) for item in (loan, twin))
        if own is None or theirs is None:
            return False
        return {"rose": own > theirs, "fell": own < theirs, "unchanged": own == theirs}[condition.is_]  # type: ignore[operator]
    own = value_of(loan, condition.column)
    if condition.is_ in ("known", "blank"):
        return (own is None) == (condition.is_ == "blank")
    if own is None:
        return False
    asked: Any = condition.value
    return {
        "equal": lambda: own == asked, "above": lambda: own > asked, "below": lambda: own < asked,
        "at_least": lambda: own >= asked, "at_most": lambda: own <= asked,
    }[condition.is_]()  # fmt: skip


class Twin:
    """The recipes of a subject's insights."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        previous = subject.previous
        self.books = {"newest": Book(subject.portfolio)}
        if previous is not None:
            self.books["earlier"] = Book(previous.portfolio)

    def figure(self, figure: InsightFigure, insight: Insight) -> float:
        """The figure of a recipe.

        Raises:
            Given: it is no sum of anything.
        """
        recipe = figure.recipe
        others = {item.name: item for item in insight.figures}
        if recipe.operation in ("total", "difference", "quotient"):
            values = [float(others[name].value) for name in recipe.figures]  # type: ignore[arg-type]
            if recipe.operation == "total":
                return sum(values) * recipe.times
            return (values[0] - values[1] if recipe.operation == "difference" else values[0] / values[1]) * recipe.times
        if recipe.operation == "tests":
            return self.counted(recipe.part or "")
        if recipe.operation == "test":
            return self.tested(recipe)
        if recipe.operation in ("given", "movement", "headroom"):
            raise Given
        return self.summed(recipe)

    def counted(self, status: str) -> int:
        results = self.subject.results
        if status in ("all", "total"):
            return len(results) + (len(results.skipped) if status == "total" else 0)
        if status == "usual":
            ready = any(warning.code == "standard_definition" for warning in results.warnings)
            return sum(result.threshold_source in ("suite", *["definition"] * ready) for result in results)
        if status == "doubtful":
            return sum(result.doubtful for result in results)
        if status == "certain_fail":
            return sum(result.status == "fail" and not result.doubtful for result in results)
        return len(results.skipped) if status == "skipped" else sum(result.status == status for result in results)

    def summed(self, recipe: FigureRecipe) -> float:
        """A figure over loans or notes."""
        book = self.books[recipe.book]
        if recipe.loans == "notes":
            return noted(book.portfolio, recipe)
        loans = book.loans[recipe.loans]
        if recipe.row is not None:
            (loan,) = (item for item in loans if item.row == recipe.row)
            actual_value = value_of(loan, recipe.column or "par_value")
            assert isinstance(actual_value, float | int)
            return actual_value
        second = self.books.get("earlier" if recipe.book == "newest" else "newest")
        chosen = [loan for loan in loans if all(meets(loan, condition, second) for condition in recipe.where)]
        par = sum(loan.par for loan in chosen)
        if recipe.operation == "count":
            return len(chosen)
        if recipe.operation == "share":
            return (
                par / {"par": book.deal.par, "cpa": book.deal.cpa, "denominator": book.deal.cpa}[recipe.of or ""] * 100
            )
        column = recipe.column or "par_value"
        known = [
            (loan.par, float(value)) for loan in chosen if isinstance(value := value_of(loan, column), float | int)
        ]
        if recipe.operation == "sum":
            return sum(value for _, value in known)
        weighted = sum(amount * value for amount, value in known)
        return (
            weighted * recipe.times if recipe.operation == "weighted" else weighted / sum(amount for amount, _ in known)
        )

    def tested(self, recipe: FigureRecipe) -> float:
        """A part of a test's result over the loans after a change."""
        book = self.books[recipe.book]
        deal = book.deal if recipe.change is None else self.changed(book, recipe.change)
        test_id, part = recipe.test_id or "", recipe.part or "value"
        if part.startswith("adjustments."):
            return adjustment(deal, part.partition(".")[2])
        (own,) = (result for result in self.subject.results if result.test_id == test_id)
        value, limit = naive.MEASURES[test_id](deal), own.threshold_value
        cushion = limit - value if own.threshold_type == "max" else value - limit
        if part == "slack":
            return abs(cushion) / 100 * divisor(deal, test_id)
        return {"value": value, "limit": limit, "cushion": cushion}[part]

    def changed(self, book: Book, change: PortfolioChange) -> naive.Deal:
        """The loans after a downgrade or a default."""
        hit = {loan.row for loan in book.deal.performing if all(meets(loan, item, None) for item in change.where)}
        assert hit
        loans = []
        for loan in book.loans["all"]:
            ranks, flags = dict(loan.ranks), dict(loan.flags)
            if loan.row in hit and change.kind == "downgrade":
                ranks = {
                    name: min(21, rank + change.notches) if name in RATINGS and 0 < rank < 21 else rank
                    for name, rank in ranks.items()
                }
            elif loan.row in hit:
                flags |= {"is_defaulted": True, "is_current_pay": False}
            loans.append(replace(loan, ranks=ranks, flags=flags))
        return naive.Deal(book.portfolio, loans)

    def bought(self, recipe: FigureRecipe, amount: float) -> Results:
        """The tests after so much par of the trades in equal parts."""
        assert recipe.change is not None
        trades = [
            Trade(**{**trade, "par_value": amount / len(recipe.change.trades), **days(trade)})
            for trade in recipe.change.trades
        ]
        return simulate(self.subject.portfolio, trades, self.subject.suite, **self.subject.rules).after


def days(trade: dict[str, Any]) -> dict[str, Any]:
    return {"maturity_date": date.fromisoformat(trade["maturity_date"])} if "maturity_date" in trade else {}


def noted(portfolio: Portfolio, recipe: FigureRecipe) -> float:
    notes = portfolio.tranches
    assert notes is not None
    rated = [at for at in range(len(notes.classes)) if not notes.is_income[at]]
    balance = {at: float(notes.current_balance[at]) for at in rated}
    if recipe.operation == "sum":
        return sum(balance.values())
    column = getattr(notes, recipe.column or "")
    total = sum(balance[at] * float(column[at]) for at in rated)
    return total * recipe.times if recipe.operation == "weighted" else total / sum(balance.values())


def divisor(deal: naive.Deal, test_id: str) -> float:
    """What a ratio or a share is divided by."""
    kind = test_id[:2]
    if kind in ("oc", "ic") or test_id == "interest_diversion_ratio":
        place = 0 if test_id.endswith("senior") else -1
        result = naive.tested(deal.portfolio, "ic" if kind == "ic" else "oc", place)
        return float(result["due" if kind == "ic" else "balance"])
    if test_id.startswith("price_below"):
        return sum(loan.par for loan in deal.performing if loan["price"] is not None)
    if test_id == "delinquency_pct":
        return deal.par + sum(loan.par for loan in deal.defaulted)
    assert "cpa" in TESTS[test_id].divides_by
    return deal.cpa


def adjustment(deal: naive.Deal, part: str) -> float:
    """A step from par with cash to the numerator of overcollateralisation."""
    discount = sum(
        loan.par * (1 - (loan["purchase_price"] or 0.0) / 100)
        for loan in deal.performing
        if naive.is_discount(loan) and not loan.flags.get("is_deferring")
    )
    deferring = sum(
        loan.par * (1 - naive.recovered(loan) / 100) for loan in deal.performing if loan.flags.get("is_deferring")
    )
    carried = sum(loan.par * naive.recovered(loan) / 100 for loan in deal.defaulted)
    return {
        "adjusted": deal.adjusted(), "collateral_principal_amount": deal.cpa, "discount_haircut": discount,
        "deferring_haircut": deferring, "defaulted_carried": carried,
        "ccc_haircut": deal.cpa - discount - deferring + carried - deal.adjusted(),
    }[part]  # fmt: skip


def digits_without_a_figure(insight: Insight, texts: Sequence[str]) -> str:
    """What is left of sentences once figures, names and symbols of ratings are taken out, as far as it has digits."""
    known = [*(figure.text for figure in insight.figures), *insight.names, *SYMBOLS]
    left = " ".join(texts)
    for text in sorted(set(known), key=len, reverse=True):
        left = left.replace(text, " ")
    return left if any(item.isdigit() for item in left) else ""


SYMBOLS = ("B3/B\N{MINUS SIGN}", "B2/B", "Caa1/CCC+", "Caa1", "CCC+")
