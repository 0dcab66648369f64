"""The figures that a file prints beside ours under any reading.

Which of their parts tie, to the cent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Final

from core.compliance.agreement import CENT, Ours, ties_of
from core.compliance.kernels import rounded
from core.compliance.measuring import columns_present, measure_test
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.suites import Test
from core.definition import to_document
from core.definition.choices import Setting, with_settings
from core.definition.definition import DealTest, Definition
from core.grid.places import first_place
from core.interpretation.candidates import Candidate, portfolio_under, readings_of
from core.interpretation.figures import figure_tests, with_ratio_classes, with_tests
from core.interpretation.interval import Interval
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact
from core.portfolio.model.interpretation import Part
from core.portfolio.model.portfolio import Deal

AMOUNT_LEAST: Final = 10_000.0
"""Currency units that an amount has at least which decides anything."""

OF_OC_NUMERATOR: Final = ("ccc_haircut", "discount_haircut", "defaulted_carried", "other_haircut")
"""Fields of `Deal` with parts of the file's own OC numerator: the loans' own stand beside them in a search."""

Used = Mapping[str, Candidate]
"""By choice the reading that is tried."""


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A figure that a file prints, and how ours is measured."""

    name: str
    place: str
    measure: str
    """Of the catalogue; "share" for a formula over loans, "parts" for a part of a calculation."""
    agency: str | None
    printed: Mapping[Part, float]
    ties: Callable[[Pool], frozenset[Part]]
    fact: Fact | None = None
    """None for a part of a calculation."""
    measured: Callable[[Pool], Measurement | None] = lambda pool: None
    """Ours; None where the loans give none."""

    def amounts(self, part: Part) -> tuple[float, ...]:
        """Return the independent amounts that decide where the part ties.

        None of a value, or of a small amount.
        """
        amount = self.printed.get(part, 0.0)
        if self.measure == "interval":
            return round(amount, 2), round(amount, 2) + 0.5  # counts as two
        return () if part == "value" or abs(amount) < AMOUNT_LEAST else (round(amount, 2),)


class Evidence:
    """A file's figures and our loans under one reading after another."""

    def __init__(self, portfolio: Portfolio, definition: Definition) -> None:
        self.portfolio = portfolio
        base = with_ratio_classes(to_document(definition), portfolio)
        rows = figure_tests(portfolio, base, definition)
        listed = {test["id"]: test for test in base.get("tests", ())}
        listed |= {row.test["id"]: row.test for row in rows if row.test is not None}
        from core.compliance.deal_suite import tests_of  # with it comes the formula engine

        with_all, _ = with_tests(base, definition, listed)
        self.definition = replace(with_all, tests=())
        own = {test.id: test for test in with_all.tests}
        tests = {test.test_id: test for test in tests_of(with_all)}
        self._present = columns_present(portfolio)
        self._loans = replace(portfolio, deal=_without_parts(portfolio.deal))
        self._pools: dict[object, Pool] = {}
        self._views: dict[object, Pool] = {}
        figures = [
            self._figure(row.published, tests[row.test["id"]], own[row.test["id"]])
            for row in rows
            if row.test is not None and row.test["id"] in tests and own[row.test["id"]].value is None
        ]
        self.figures: list[PrintedFigure] = [figure for figure in figures if figure.printed]
        self.of_tests = len(self.figures)
        """How many of them are tests and figures of the file; the others are parts of calculations."""
        self.figures += _parts(portfolio)
        self._ties: dict[object, frozenset[Part]] = {}
        par_value = self.definition.par_value
        self._is_categorised = not par_value.long_dated == par_value.current_pay == "par"
        self.readings = readings_of(portfolio, self.definition)
        self._base = {choice: listed[0] for choice, listed in self.readings.items()}

    def _figure(self, fact: Fact, test: Test, own: DealTest) -> PrintedFigure:
        printed: dict[Part, float] = {}
        if fact.value is not None:
            printed["value"] = fact.value
        if fact.numerator is not None:
            printed["numerator"] = fact.numerator
        if fact.denominator is not None:
            printed["denominator"] = fact.denominator
        is_in_unit = not (fact.unit in ("amount", "count") and test.unit in ("percent", "years", "factor", "score"))

        def ties(pool: Pool) -> frozenset[Part]:
            ours = self.measured(test, pool)
            return frozenset() if ours is None or not is_in_unit else ties_of(fact, _ours(ours))

        measure = own.measure or "share"
        return PrintedFigure(
            fact.label, fact.place, measure, own.agency, printed, ties, fact, partial(self.measured, test)
        )

    def measured(self, test: Test, pool: Pool) -> Measurement | None:
        """Our figure; None where the loans give none."""
        try:
            return measure_test(test, pool, pool.portfolio, self._present)
        except Unmeasurable:
            return None

    def pool(self, used: Used, *, by_loans: bool = True) -> Pool:
        """Return the sums under a reading.

        Args:
            by_loans: whether the OC numerator is that of the loans, where the file prints parts of its own.
        """
        key = by_loans, *(candidate.key for candidate in used.values())
        if (known := self._pools.get(key)) is not None:
            return known
        definition = with_settings(self.definition, self._settings(used))
        portfolio = portfolio_under(self._loans if by_loans else self.portfolio, used)
        moving = _MOVING | {"principal_cash"} if self._is_categorised else _MOVING
        own = by_loans, *(each.key for each in used.values() if each.choice in moving)
        view = self._views.get(own)
        if view is None:
            pool = _keep(self._views, own, Pool(portfolio, definition))
        else:
            pool = view.under(portfolio, definition)
        return _keep(self._pools, key, pool)

    def _settings(self, used: Used) -> Iterator[Setting]:
        """Yield what a definition says beside what it has already."""
        for candidate in used.values():
            if candidate is not self._base.get(candidate.choice):
                yield from candidate.settings

    def ties(self, at: int, used: Used, *, by_loans: bool = True) -> frozenset[Part]:
        """Return the parts of a figure, by its place, that tie under a reading."""
        key = at, by_loans, *(candidate.key for candidate in used.values())
        known_ties = self._ties.get(key)
        if known_ties is None:
            pool = self.pool(used, by_loans=by_loans)
            known_ties = self._ties[key] = self.figures[at].ties(pool) if pool.fault is None else frozenset()
        return known_ties

    def add(self, interval: Interval) -> None:
        """Put what the ratios of all classes leave open of one numerator among the figures."""
        printed: dict[Part, float] = {"numerator": interval.middle}
        self.figures.append(PrintedFigure(interval.name, interval.place, "interval", None, printed, interval.ties))


POOLS_MAX: Final = 64
"""Sums of readings that are kept."""


def _keep(pools: dict[object, Pool], key: object, pool: Pool) -> Pool:
    """Keep sums, in the place of the oldest where there are many."""
    if len(pools) >= POOLS_MAX:
        del pools[next(iter(pools))]
    pools[key] = pool
    return pool


_MOVING: Final = frozenset((
    "recovery_agency", "defaulted_carried_at", "discount_obligations", "industry", "families",
    *(f"{name}_{agency}" for name in ("rating_columns", "masked") for agency in "abc"),
))  # fmt: skip
"""Choices that move the sums themselves; the others what is made of them."""


def _ours(measured: Measurement) -> Ours:
    is_ratio = measured.denominator != 1.0
    return Ours(rounded(measured.value), *((measured.numerator, measured.denominator) if is_ratio else (None, None)))


def _without_parts(deal: Deal) -> Deal:
    """Return the deal without the file's own parts of the OC numerator.

    The loans decide in a search.
    """
    return replace(deal, **dict.fromkeys(OF_OC_NUMERATOR))


# ---- parts of calculations -----------------------------------------------------------------------------------------

_HAIRCUTS: Final = {
    "ccc_haircut": "haircut of the CCC excess",
    "discount_haircut": "haircut of discount obligations",
    "defaulted_carried": "carrying value of defaulted loans",
}


def _parts(portfolio: Portfolio) -> Iterator[PrintedFigure]:
    """Yield the file's own haircuts and carrying values, its OC numerator and its collateral principal amount."""
    cells = portfolio.source_cells
    for name, words in _HAIRCUTS.items():
        amount = getattr(portfolio.deal, name)
        if amount and isfinite(amount):
            place = first_place(cells.get(f"deal.{name}", ""))
            yield _part(words, place, amount, lambda pool, name=name: pool.adjustments_of_loans[name])  # type: ignore[misc]
    for fact in portfolio.facts.of("component", "acpa"):
        if fact.value:
            yield _part(fact.label, fact.place, fact.value, lambda pool: pool.adjustments["adjusted"])
    total = portfolio.facts.identity("collateral_principal_amount")
    if total is not None and total.holds:
        place = total.places[0] if total.places else ""
        yield _part("collateral principal amount", place, total.total, *_COLLATERAL)


_COLLATERAL: Final[tuple[Callable[[Pool], float], ...]] = (
    lambda pool: pool.cpa,
    lambda pool: pool.cpa + pool.tally.defaulted_par,
    lambda pool: pool.cpa + pool.tally.defaulted_carried,
)
"""What a line under the name of the collateral principal amount may be: it says which cash counts, and nothing of what
shares divide by."""


def _part(name: str, place: str, amount: float, *ours: Callable[[Pool], float]) -> PrintedFigure:
    def ties(pool: Pool) -> frozenset[Part]:
        is_ours = any(abs(our(pool) - amount) <= CENT for our in ours)
        return frozenset(("numerator",)) if is_ours else frozenset()

    return PrintedFigure(name, place, "parts", None, {"numerator": amount}, ties)
