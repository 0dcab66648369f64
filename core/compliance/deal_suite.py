"""The suite `deal`: the tests of a definition as rows like those of the other suites, in the order of their needs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from graphlib import TopologicalSorter
from typing import Any, Final

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from core.compliance import cdo_monitor, measures, pool_sums
from core.compliance.cdo_monitor import Monitor
from core.compliance.coverage import letter_of, tested_letters
from core.compliance.kernels import rounded
from core.compliance.ladders import Assumed, counted_as, policy_of
from core.compliance.matching import REINVESTMENT
from core.compliance.measures import UNKNOWN_INTEREST
from core.compliance.par_measures import LOANS, RANKED, industry_field, loans_share, par_share, share_of_test
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.published import SheetLimit
from core.compliance.shares import divisor_of, value_of
from core.compliance.spreads import average_coupon, average_spread
from core.compliance.suites import OBLIGOR, RATING, Divisor, Test
from core.definition.checks import limits_read
from core.definition.definition import AgencyRatings, DealTest, Definition, Matrix
from core.definition.formulas import names_of
from core.definition.terms import MEASURES, TOTALS
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.portfolio import ByRank
from core.portfolio.model.ratings import DEFAULTED, FACTORS, MASKED, rank
from core.remembered import remembered_by_object

FITCH_FACTORS: Final = (
    0.135671299, 0.349, 0.629, 0.858, 1.237, 1.572, 2.099, 2.630, 3.162, 6.039, 8.903, 11.844, 15.733, 19.627, 23.671,
    32.221, 41.111, 50.0, 63.431, 100.0, 100.0, 100.0,
)  # fmt: skip
"""Fitch rating factors by rank, 1 (AAA) to 22 (D): the ten-year default rates in percent of "CLOs and Corporate CDOs
Rating Criteria", appendix 6, edition of 1 June 2026, as a public implementation repeats them to three decimals. A
report of 2024 prints an average that lies on this scale; older deals have another one, in their own indentures."""

AGENCY_FACTORS: Final = {
    "a": tuple(map(float, FACTORS)), "b": cdo_monitor.RATING_FACTORS, "c": FITCH_FACTORS,
}  # fmt: skip
"""Rating factors of each agency by rank, 1 to 22."""

Figure = Callable[[Pool, DealTest], Measurement]


@dataclass(frozen=True)
class MeasureRow:
    """How a measure of the catalogue is worked out, and what it needs."""

    figure: Figure
    columns: tuple[str, ...] = ("par_value",)
    divides_by: tuple[Divisor, ...] = ("cpa",)


@remembered_by_object(64)
def tests_of(definition: Definition) -> tuple[Test, ...]:
    """The tests of a definition that are run, each after those that it needs.

    Limits are looked up by the run.
    """
    chosen = {test.id: test for test in definition.tests if test.enabled}
    matrices = {matrix.id: matrix for matrix in definition.quality.matrices}
    every = frozenset((*(test.id for test in definition.tests), *TOTALS))
    needs: dict[str, set[str]] = {}
    for test in chosen.values():
        names = set(names_of(test.value, every)) if test.value else set()
        if test.matrix is not None:
            names |= matrix_names(matrices[test.matrix], every) - {test.id}
        needs[test.id] = (names | limits_read(test, definition)) & set(chosen)
    return tuple(_row(chosen[name], every) for name in TopologicalSorter(needs).static_order())


def test_named(definition: Definition, test_id: str) -> Test | None:
    """The test of a definition with this id, those among them that a ready-made one has by the classes of a file."""
    test = next((each for each in tests_of(definition) if each.test_id == test_id), None)
    if test is not None or not definition.standard:
        return test
    by_class = class_test_named(test_id)
    return None if by_class is None else _row(by_class, frozenset())


def class_test_named(test_id: str) -> DealTest | None:
    """Return the test of this id among those that a ready-made definition has by the classes of a file."""
    if (by_class := _CLASS_TEST.fullmatch(test_id)) is not None:
        letters = tuple(by_class[2].upper())
        return replace(_class_test(by_class[1], letters, "/".join(letters)), id=test_id)
    return _reinvestment("") if test_id == REINVESTMENT else None


def _reinvestment(name: str) -> DealTest:
    return DealTest(id=REINVESTMENT, name="Reinvestment overcollateralisation", measure="oc", class_=name)


_CLASS_TEST: Final = re.compile(r"(oc|ic)_class_([a-z]{1,10})(?:_[0-9]{1,3})?")
_WORDS: Final = {"oc": "overcollateralisation", "ic": "interest coverage"}


def _class_test(measure: str, letters: tuple[str, ...], name: str) -> DealTest:
    return DealTest(
        id=f"{measure}_class_{''.join(letters).lower()}",
        name=f"Class {'/'.join(letters)} {_WORDS[measure]}",
        measure=measure,
        class_=name,
    )


def with_coverage(definition: Definition, pool: Pool | None) -> tuple[Definition, dict[str, SheetLimit | None]]:
    """Return a ready-made definition with the coverage tests of the classes that the file has, and each one's trigger
    in the file; None where it gives none. A definition that has such tests is left as it is."""
    if any(test.measure in _WORDS for test in definition.tests):
        return definition, {}
    structure, tests, triggers = None if pool is None else pool.structure, [], {}
    for measure, words in _WORDS.items():
        tested = [] if structure is None else structure.oc if measure == "oc" else structure.ic
        for tested_class in tested:
            assert structure is not None
            letters = tested_letters(structure, tested_class, is_first=tested_class is tested[0])
            test = _class_test(measure, letters, structure.groups[tested_class.at].name)
            if test.id in triggers:  # classes of a letter that are tested apart
                test = replace(test, id=f"{test.id}_{tested_class.at + 1}", name=f"{tested_class.name} {words}")
            tests.append(test)
            triggers[test.id] = (
                SheetLimit(tested_class.trigger, "min", tested_class.name, "")
                if tested_class.trigger and tested_class.from_sheet
                else None
            )
        if not tested:
            tests.append(DealTest(id=f"{measure}_by_class", name=f"Each class's {words}", measure=measure, class_=""))
    trigger = None if pool is None else pool.portfolio.deal.reinvestment_oc_trigger
    if trigger is not None and structure is not None and structure.oc:
        junior = structure.groups[structure.oc[-1].at].name
        tests.append(_reinvestment(junior))
        triggers[REINVESTMENT] = SheetLimit(trigger, "min", tests[-1].name, "")
    return replace(definition, tests=(*definition.tests, *tests)), triggers


def _row(test: DealTest, known: frozenset[str]) -> Test:
    is_min = test.min is not None or test.matrix_limit == "min" or test.measure in _WORDS
    direction = "min" if is_min and test.max is None else "max"
    limit = test.min if test.min is not None else test.max if test.max is not None else 0.0
    shared: dict[str, Any] = {
        "test_id": test.id,
        "name": test.name,
        "threshold_type": direction,
        "limit": limit,
        "warning": test.warning if test.warning is not None else limit,
        "source": "The deal's definition.",
    }
    if test.share is not None:
        return Test(
            **shared,
            category=test.category or "concentration",
            description=test.name,
            formula=test.share,
            unit=test.unit or "percent",
            columns=("par_value",),
            measure=share_of_test(test),
            divides_by=(),
        )
    if test.value is not None:
        text, names = test.value, names_of(test.value, known)
        return Test(
            **shared,
            category=test.category or "portfolio",
            description=test.name,
            formula=text,
            unit=test.unit or "percent",
            columns=("par_value",),
            measure=lambda pool: _value(value_of(text, names, pool)),
            divides_by=(),
        )
    assert test.measure is not None
    entry, row = MEASURES[test.measure], ROWS[test.measure]
    return Test(
        **shared,
        category=test.category or entry.category,
        description=entry.meaning,
        formula=entry.meaning,
        unit=test.unit or entry.unit,
        columns=row.columns,
        measure=lambda pool: row.figure(pool, test),
        divides_by=row.divides_by,
    )


def _value(value: float) -> Measurement:
    return Measurement(value, value, 1.0)


# ---- limits


def matrix_names(matrix: Matrix, known: frozenset[str]) -> set[str]:
    """Return the names that the formulas of a matrix read."""
    return {name for text in (matrix.row, matrix.column, matrix.modifier) if text for name in names_of(text, known)}


def matrix_limit(matrix: Matrix, pool: Pool, known: frozenset[str]) -> float:
    """Return the limit that a matrix gives at the portfolio's two figures.

    Beyond its edge the figure at the edge.

    Raises:
        Unmeasurable: a figure that it needs is not known.
    """
    row, column = (value_of(text, names_of(text, known), pool) for text in (matrix.row, matrix.column))
    linear = matrix.interpolation == "linear"
    across = [_between(matrix.columns, values, column, linear=linear) for values in matrix.values]
    limit = _between(matrix.rows, across, row, linear=linear)
    if matrix.modifier is not None:
        limit += value_of(matrix.modifier, names_of(matrix.modifier, known), pool)
    return limit


def _between(places: tuple[float, ...], values: Any, at: float, *, linear: bool) -> float:
    """Return the value at a place.

    On the line between its neighbours, or that of the next lower one.
    """
    if linear:
        return float(np.interp(at, places, values))
    return float(values[max(0, bisect_right(places, at) - 1)])


def step_of(test: DealTest, day: date | None, reinvestment_end: date | None) -> tuple[float | None, float | None]:
    """(limit, warning) of a test on a day.

    That of the last step that has begun, else its own.
    """
    limit = test.max if test.max is not None else test.min
    warning = test.warning
    for step in test.steps:
        begins = step.day or reinvestment_end
        if day is not None and begins is not None and begins <= day:
            limit, warning = step.limit, step.warning
    return limit, warning


# ---- the catalogue


def _same(measure: Callable[[Pool], Measurement]) -> Figure:
    """Return a measure of the suites, over another denominator where the test names one."""

    def figure(pool: Pool, test: DealTest) -> Measurement:
        measured = measure(pool)
        if test.of is None:
            return measured
        divisor = divisor_of(pool, test.of)
        return structs.replace(measured, value=measured.numerator / divisor * 100, denominator=divisor)

    return figure


def _limit(measure: Callable[[Pool, str], Measurement]) -> Figure:
    """Return a measure that may depend on what the test is held to."""
    return lambda pool, test: measure(pool, test.id)


def _loans(measure: Callable[[Pool], Measurement]) -> Figure:
    """Return a measure of the suites that counts loans.

    By its formula where the test is about some loans, or adds to them.
    """
    plain = _same(measure)

    def figure(pool: Pool, test: DealTest) -> Measurement:
        return loans_share(pool, test) if test.among is not None or test.adds else plain(pool, test)

    return figure


def _ccc(pool: Pool, test: DealTest) -> Measurement:
    if test.agency is None:
        return _same(measures.ccc_bucket)(pool, test)
    if f"rating_agency_{test.agency}" not in pool.view.ranks:
        raise Unmeasurable(f"no ratings of {AGENCY_NAMES[test.agency]}")
    at = "abc".index(test.agency)
    masked = 0.0 if pool.masked_ccc[at] is not None else float(_by_ladder(pool, test.agency)[MASKED])
    par = pool.buckets[at]
    return par_share(pool, test, par, pool.covered(pool.par - masked), masked_pct=rounded(pool.covered(masked)))


def ladder_of(pool: Pool, agency: str) -> Any:
    """Return an agency's ranks: 0 unrated, MASKED left open."""
    field = f"rating_agency_{agency}"
    ranks = pool.view.ranks.get(f"{field}_ladder", pool.view.ranks.get(field))
    if ranks is None:
        raise Unmeasurable(f"no ratings of {AGENCY_NAMES[agency]}")
    return ranks


def _by_ladder(pool: Pool, agency: str) -> np.ndarray[Any, Any]:
    """Return performing par by an agency's ranks, 0 (unrated) to MASKED.

    Where the agency's rating table says what no row shows, every loan has a rating.
    """
    hidden = pool.masked_ratings["abc".index(agency)]
    if hidden is None:
        return pool.summed(("ladder", agency), lambda part: _par_by_rank(ladder_of(part, agency), part))
    field = f"rating_agency_{agency}"
    by_rank = pool.summed(("shown", agency), lambda part: _par_by_rank(part.portfolio.ranks[field], part)).copy()
    by_rank[[0, MASKED]] = 0.0
    for at, par in hidden:
        by_rank[at] += par
    return by_rank


def _par_by_rank(ranks: Any, pool: Pool) -> NDArray[np.float64]:
    return np.bincount(ranks, pool.weights, MASKED + 1)[: MASKED + 1].astype(np.float64)


def factors_of(agency: str, ratings: AgencyRatings, assumed: Assumed = "value") -> np.ndarray[Any, Any]:
    """Rating factors of an agency by rank, 0 (unrated) to MASKED; NaN is left out."""
    own = AGENCY_FACTORS[agency]
    policies = policy_of(ratings, "unrated", assumed), ratings.masked
    unrated, masked = (counted_as(policy, own)[1] for policy in policies)
    return np.array([unrated, *own, masked])


def _warf(pool: Pool, test: DealTest) -> Measurement:
    if test.agency is None:
        return measures.rating_factor(pool)
    by_rank = _by_ladder(pool, test.agency)
    factors = factors_of(test.agency, getattr(pool.definition.ratings, test.agency), pool.assumed)
    counts = np.isfinite(factors)
    par = float(by_rank[counts].sum())
    if par <= 0:
        raise Unmeasurable(f"no ratings of {AGENCY_NAMES[test.agency]}")
    total = float(by_rank[counts] @ factors[counts]) + measures.factor_column_sum(pool, test.agency)
    extra = {
        "masked_pct": rounded(pool.covered(float(by_rank[MASKED]))),
        "unrated_pct": rounded(pool.covered(float(by_rank[0]))),
    }
    return Measurement(total / par, total, par, pool.covered(float(by_rank[1 : DEFAULTED + 1].sum())), lambda: extra)


def _warr(pool: Pool, test: DealTest) -> Measurement:
    if test.agency is None:
        return measures.recovery_rate(pool)
    return measures.agency_recovery_rate(pool, test.agency)


def class_place(pool: Pool, name: str) -> int:
    """Where a class of notes stands among the groups.

    The last group of its last letter.

    Raises:
        Unmeasurable: there are no notes, or none of this class.
    """
    structure = measures.structure_of(pool)
    places = [at for at, group in enumerate(structure.groups) if group.name == name]
    letter = letter_of(name.rpartition("/")[2])
    places = places or [at for at, group in enumerate(structure.groups) if group.letter == letter and letter]
    if not places:
        raise Unmeasurable(f"no notes of class {name}")
    return places[-1]


def _oc_at(pool: Pool, name: str) -> Measurement:
    balance = measures.structure_of(pool).balance(class_place(pool, name))
    if balance <= 0:
        raise Unmeasurable("the balance of the tested notes is zero or negative")
    adjusted = pool.adjustments["adjusted"]

    def break_down() -> dict[str, Any]:
        return {"adjustments": {each: rounded(amount) for each, amount in pool.adjustments.items()}}

    return Measurement(adjusted / balance * 100, adjusted, balance, None, break_down)


def _oc(pool: Pool, test: DealTest) -> Measurement:
    assert test.class_ is not None
    return _oc_at(pool, test.class_)


def _ic(pool: Pool, test: DealTest) -> Measurement:
    assert test.class_ is not None
    due = measures.structure_of(pool).interest_due(class_place(pool, test.class_))
    if due is None:
        raise Unmeasurable(UNKNOWN_INTEREST)
    if due <= 0:
        raise Unmeasurable("the interest due on the tested notes is zero or negative")
    available = float(pool.interest["available"])
    return Measurement(available / due * 100, available, due, None, lambda: {"income": measures.shown_income(pool)})


def _reinvestment_oc(pool: Pool, test: DealTest) -> Measurement:
    assert pool.definition.reinvestment_oc is not None
    return _oc_at(pool, pool.definition.reinvestment_oc.class_)


def _event_of_default(pool: Pool, test: DealTest) -> Measurement:
    """Collateral at par, defaulted loans at their market value, over the senior notes."""
    assert pool.definition.event_of_default is not None
    balance = measures.structure_of(pool).balance(class_place(pool, pool.definition.event_of_default.class_))
    if balance <= 0:
        raise Unmeasurable("the balance of the tested notes is zero or negative")
    marked = pool.summed(("marked",), _mark)
    return Measurement((pool.cpa + marked) / balance * 100, pool.cpa + marked, balance)


def _mark(pool: Pool) -> float:
    """Return the market value of the defaulted loans."""
    price, rows = pool.view.numbers.get("price"), np.flatnonzero(pool.defaulted)
    return 0.0 if price is None else float(np.nansum(pool.view.numbers["par_value"][rows] * price[rows] / 100))


def _diversity(pool: Pool, test: DealTest) -> Measurement:
    field = industry_field(test)
    return measures.diversity_score(pool) if field == "industry" else measures.diversity_by(pool, field)


def _price_below(pool: Pool, test: DealTest) -> Measurement:
    assert test.line is not None
    if "price" not in pool.view.numbers or not pool.tally.priced_par > 0:
        raise pool_sums.no_values("price")
    line = test.line
    below = pool.summed(("price below", line), lambda part: float(part.weights @ (part.view.numbers["price"] < line)))
    par = max(0.0, below)
    priced = pool.tally.priced_par
    return Measurement(par / priced * 100, par, priced, pool.covered(priced))


def _monitor(pool: Pool, test: DealTest) -> Monitor:
    industries = pool.view.names.get(industry_field(test) if test.classification else "industry_b")
    if industries is None:
        industries = pool.view.names.get("industry")
    obligor, country = pool.view.names.get("obligor"), pool.portfolio.names.get("country")
    present = pool.view.numbers
    life = present.get("average_life", present.get("maturity_date"))
    needed = (
        (OBLIGOR, obligor),
        ("industry", industries),
        ("country", country),
        ("maturity_date or average_life", life),
    )
    for name, column in needed:
        if column is None:
            raise Unmeasurable(f"Skipped: required column(s) {name} not found in sheet '{pool.portfolio.sheet_name}'")
    if (years := pool.years) is None:
        raise Unmeasurable("no as-of date: add one to the Deal sheet")
    assert industries is not None and country is not None and obligor is not None  # noqa: PT018
    cut_off = pool.definition.quality.spwarf_cut_off
    ranks, hidden = _monitor_ranks(pool)
    monitor = cdo_monitor.monitor(
        pool.weights,
        ranks,
        obligor.codes,
        industries.codes,
        cdo_monitor.regions(tuple(country.values))[country.codes],
        years,
        worst=rank(cut_off),
        hidden=hidden,
    )
    if monitor is None:
        raise Unmeasurable(f"no loan that S&P rates {cut_off} or better")
    return monitor


def _monitor_ranks(pool: Pool) -> tuple[NDArray[np.uint8], ByRank]:
    """S&P's ranks of the loans, and by rank the par of those that are masked, where a rating table says it."""
    hidden = pool.masked_ratings["abc".index("b")]
    if hidden is not None:
        shown = pool.portfolio.ranks["rating_agency_b"]
        return np.where(shown == 0, np.uint8(MASKED), shown).astype(np.uint8), hidden
    ladder = ladder_of(pool, "b")
    unrated, _ = counted_as(policy_of(pool.definition.ratings.b, "unrated", pool.assumed), cdo_monitor.RATING_FACTORS)
    return np.where(ladder == 0, np.uint8(unrated), ladder), ()


def _of_monitor(take: Callable[[Monitor], float]) -> Figure:
    def figure(pool: Pool, test: DealTest) -> Measurement:
        seen = _monitor(pool, test)
        value = take(seen)
        return Measurement(
            value,
            value,
            1.0,
            100 * seen.covered,
            lambda: {
                "spwarf": rounded(seen.spwarf),
                "default_rate_dispersion": rounded(seen.dispersion),
                "obligor_diversity": rounded(seen.obligors),
                "industry_diversity": rounded(seen.industries),
                "regional_diversity": rounded(seen.regions),
                "wal": rounded(seen.years),
            },
        )

    return figure


def _bdr(pool: Pool, test: DealTest) -> Measurement:
    rule = pool.definition.quality.cdo_monitor
    assert rule is not None
    spread = rule.spread if rule.spread is not None else average_spread(pool).value
    recovery = rule.recovery
    if recovery is None:
        recovery = measures.agency_recovery_rate(pool, "b").value
    value = cdo_monitor.break_even_default_rate(rule.c0, rule.c1, rule.c2, spread, recovery)
    return Measurement(
        value, value, 1.0, None, lambda: {"spread_pct": rounded(spread), "recovery_pct": rounded(recovery)}
    )


def _cushion(pool: Pool, test: DealTest) -> Measurement:
    broken, scenario = _bdr(pool, test), _of_monitor(lambda seen: seen.scenario_default_rate)(pool, test)
    value = broken.value - scenario.value
    extra = {"bdr": rounded(broken.value), "sdr": rounded(scenario.value), **broken.breakdown, **scenario.breakdown}
    return Measurement(value, value, 1.0, scenario.coverage_pct, lambda: extra)


_LOANS: Final = ("par_value", OBLIGOR)
_RATED: Final = ("par_value", RATING)
_NOTES: Final = ("par_value",)

_COLUMNS: Final = {
    "obligor": _LOANS, "top_obligors": _LOANS, "country": ("par_value", "country"),
    "country_group": ("par_value", "country"), "country_of_group": ("par_value", "country"),
}  # fmt: skip
"""What the holdings must have for a measure that ranks names."""

ROWS: Final[dict[str, MeasureRow]] = {
    **{name: MeasureRow(figure) for name, figure in LOANS.items()},
    **{name: MeasureRow(figure, _COLUMNS.get(name, ("par_value",))) for name, figure in RANKED.items()},
    "non_senior_secured": MeasureRow(_loans(measures.non_senior_secured), ("par_value", "lien_type")),
    "cov_lite": MeasureRow(_loans(measures.cov_lite), ("par_value", "cov_lite")),
    "fixed_rate": MeasureRow(_loans(measures.fixed_rate), ("par_value", "coupon_type")),
    "foreign_country": MeasureRow(_loans(measures.foreign_country), ("par_value", "country")),
    "small_facilities": MeasureRow(_loans(measures.small_facilities), ("par_value", "facility_size", "country")),
    "ccc": MeasureRow(_ccc, _RATED),
    "warf": MeasureRow(_warf, _RATED, ("par",)),
    "warr": MeasureRow(_warr, ("par_value",), ("par",)),
    "oc": MeasureRow(_oc),
    "ic": MeasureRow(_ic, _NOTES, ("cpa", "par")),
    "reinvestment_oc": MeasureRow(_reinvestment_oc),
    "event_of_default": MeasureRow(_event_of_default),
    "wal": MeasureRow(_same(measures.average_life), ("par_value", "maturity_date or average_life"), ("par",)),
    "was": MeasureRow(_limit(average_spread), ("par_value", "spread or all_in_rate"), ("par",)),
    "wac": MeasureRow(_limit(average_coupon), ("par_value", "all_in_rate"), ("par",)),
    "diversity": MeasureRow(_diversity, _LOANS, ("par",)),
    "delinquency": MeasureRow(_same(measures.delinquency), ("par_value", "days_past_due or is_defaulted"), ()),
    "price_below": MeasureRow(_price_below, ("par_value", "price"), ("par",)),
    "average_price": MeasureRow(_same(measures.average_price), ("par_value", "price"), ("par",)),
    "quoted_depth": MeasureRow(_same(measures.quoted_depth), ("par_value", "quote_depth"), ("par",)),
    "spwarf": MeasureRow(_of_monitor(lambda seen: seen.spwarf), _RATED, ("par",)),
    "default_rate_dispersion": MeasureRow(_of_monitor(lambda seen: seen.dispersion), _RATED, ("par",)),
    "obligor_diversity": MeasureRow(_of_monitor(lambda seen: seen.obligors), _LOANS, ("par",)),
    "industry_diversity": MeasureRow(_of_monitor(lambda seen: seen.industries), _LOANS, ("par",)),
    "regional_diversity": MeasureRow(_of_monitor(lambda seen: seen.regions), _LOANS, ("par",)),
    "cdo_monitor_wal": MeasureRow(_of_monitor(lambda seen: seen.years), _LOANS, ("par",)),
    "sdr": MeasureRow(_of_monitor(lambda seen: seen.scenario_default_rate), _RATED, ("par",)),
    "bdr": MeasureRow(_bdr, ("par_value",), ("par",)),
    "cdo_monitor": MeasureRow(_cushion, _RATED, ("par",)),
}
"""The measures that `core.definition` names."""
