"""How each measure of the suites and of definitions comes apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import fsum, isfinite
from typing import Any, Final

import numpy as np

from core.compliance import kernels, measures
from core.compliance.deal_suite import factors_of, ladder_of
from core.compliance.file_figures import NOT_PRINTED
from core.compliance.kernels import Tally
from core.compliance.measures import DIVERSITY_SCORES
from core.compliance.par_measures import among_of, formula_of, group_members, industry_field, largest_of, undrawn_of
from core.compliance.pool_sums import Pool, shown_ccc_rows
from core.compliance.shares import fields_over
from core.definition.definition import DealTest
from core.definition.formulas import Atom, Logic, share_of
from core.definition.terms import FORMULAS, SUITE_TESTS
from core.parts.breakup import Amount, Breakup, Builder, Floats, Take, by_loan
from core.parts.content import Kind
from core.portfolio.model.fields import Lien
from core.portfolio.model.ratings import MASKED

# ---- sums over single loans ------------------------------------------------------------------------------------------


def _count(take: Take) -> Builder:
    """Par of the loans that count."""
    return lambda pool, test: Breakup(by_loan(pool, take)[0], is_share=True)


def _average(take: Take, weigh: Take) -> Builder:
    """Each loan's weight x value."""

    def broken(pool: Pool, test: DealTest) -> Breakup:
        loans, weights = by_loan(pool, take, weigh)
        return Breakup(loans, weights)

    return broken


def _second_lien(tally: Tally, pool: Pool) -> float:
    liens = tally.par_by_lien
    return sum(liens[Lien.SECOND_LIEN :]) - (liens[Lien.BOND] if pool.definition.ratings.bonds_secured else 0.0)


def _or_formula(take: Take) -> Builder:
    """Return a measure of the suites that counts loans.

    By its formula where the test is about some loans, or adds to them.
    """
    plain = _count(take)
    return lambda pool, test: _by_measure(pool, test) if test.among is not None or test.adds else plain(pool, test)


def _delinquent(pool: Pool, test: DealTest) -> Breakup:
    tally, printed = pool.tally, pool.portfolio.deal.defaulted_par
    is_printed = "is_defaulted" not in pool.portfolio.flags and not tally.aged_par and not tally.defaulted_rows
    if is_printed and printed is not None:
        return Breakup(amounts=(Amount("account", "Defaulted loans, as the file prints them", printed),))
    return Breakup(by_loan(pool, lambda each, _: each.defaulted_par + each.past_due_par)[0], is_share=True)


def _price_below(pool: Pool, test: DealTest) -> Breakup:
    assert test.line is not None
    return Breakup(np.where(pool.view.numbers["price"] < test.line, pool.weights, 0.0), is_share=True)


# ---- ratings ---------------------------------------------------------------------------------------------------------


def _ccc(pool: Pool, test: DealTest) -> Breakup:
    at = pool.ccc[0] if test.agency is None else "abc".index(test.agency)
    agency, more = "abc"[at], pool.masked_ccc[at]
    if pool.masked_ccc == NOT_PRINTED or (more is None and not pool.goes_by_file):
        loans = by_loan(pool, lambda tally, _: tally.par_by_bucket[at])[0]
        return Breakup(loans, agency=agency, is_share=True)
    rows = shown_ccc_rows(agency, pool)
    loans = np.zeros(len(pool.weights)) if rows is None else np.where(rows, pool.weights, 0.0)
    hidden = (Amount("account", _HIDDEN, more),) if more else ()
    return Breakup(loans, amounts=hidden, agency=agency, is_share=True)


_HIDDEN: Final = "Loans whose rating no row shows, by the file's table of ratings"


def _factor_sum(tally: Tally, pool: Pool) -> float:
    factors = pool.view.factors
    return sum(par * factor for par, factor in zip(tally.par_by_rank, factors, strict=True) if par and isfinite(factor))


def _factor_par(tally: Tally, pool: Pool) -> float:
    factors = pool.view.factors
    return sum(par for par, factor in zip(tally.par_by_rank, factors, strict=True) if isfinite(factor))


def _warf(pool: Pool, test: DealTest) -> Breakup:
    agency = test.agency or "a"
    if test.agency is None:
        loans, weights = by_loan(pool, _factor_sum, _factor_par)
        hidden: tuple[Amount, ...] = ()
    else:
        loans, weights, hidden = _by_ladder(pool, test.agency)
    if measures.factor_column_sum(pool, agency):
        rows, more = measures.factor_changes(pool)
        loans[rows] += more
    return Breakup(loans, weights, hidden, agency)


def _by_ladder(pool: Pool, agency: str) -> tuple[Floats, Floats, tuple[Amount, ...]]:
    """By an agency's own factors.

    What each loan adds and weighs, and what the file's table of ratings has more.
    """
    factors = factors_of(agency, getattr(pool.definition.ratings, agency), pool.assumed)
    hidden = pool.masked_ratings["abc".index(agency)]
    if hidden is None:
        ranks = ladder_of(pool, agency)
        counts = np.isfinite(factors)
    else:
        ranks = pool.portfolio.ranks[f"rating_agency_{agency}"]
        counts = np.isfinite(factors) & ~np.isin(np.arange(MASKED + 1), (0, MASKED))
    weights = np.where(counts[ranks], pool.weights, 0.0)
    loans = weights * np.where(counts, factors, 0.0)[ranks]
    more = fsum(par * factors[at] for at, par in hidden or () if isfinite(factors[at]))
    return loans, weights, (Amount("account", _HIDDEN, more),) if more else ()


def _warr(pool: Pool, test: DealTest) -> Breakup:
    agency = test.agency or (pool.view.recovery_agency if pool.view.recovery_agency in ("b", "c") else None)
    if agency is None:
        return _average(lambda tally, _: tally.recovery_sum, lambda tally, _: tally.par)(pool, test)
    rates = pool.portfolio.numbers[f"recovery_rate_{agency}"]
    weights = np.where(np.isfinite(rates), pool.weights, 0.0)
    return Breakup(np.where(weights != 0, weights * np.nan_to_num(rates), 0.0), weights, agency=agency)


# ---- formulas over loans ---------------------------------------------------------------------------------------------


def _by_formula(pool: Pool, test: DealTest, part: Atom | Logic) -> Breakup:
    rows, _ = fields_over(pool).rows(part)
    return Breakup(np.where(rows, _amounts(pool, test), 0.0), amounts=_cash(pool, test), is_share=True)


def _amounts(pool: Pool, test: DealTest) -> Floats:
    """Return what of each loan a test counts."""
    undrawn = undrawn_of(pool, test)
    return pool.weights if undrawn is None else pool.weights + undrawn


def _cash(pool: Pool, test: DealTest) -> tuple[Amount, ...]:
    return (Amount("cash", "Principal cash", pool.cash),) if "cash" in test.adds else ()


def by_share(pool: Pool, test: DealTest) -> Breakup:
    """Return the parts of a test that a definition writes as a formula over loans."""
    assert test.share is not None
    return _by_formula(pool, test, share_of(test.share))


def _by_measure(pool: Pool, test: DealTest) -> Breakup:
    assert test.measure is not None
    part, among = share_of(formula_of(test.measure, pool.definition)), among_of(test, pool.definition)
    return _by_formula(pool, test, part if among is None else Logic("AND", (part, among)))


# ---- obligors, industries, countries ---------------------------------------------------------------------------------


def _of_names(field: Callable[[DealTest], str], chosen: Callable[[Pool, DealTest, Floats], list[int]]) -> Builder:
    """Return the loans of the names that are chosen by what each has.

    Of those that a test is about.
    """

    def broken(pool: Pool, test: DealTest) -> Breakup:
        column = field(test)
        names = pool.portfolio.names[column] if column == "country" else pool.view.names[column]
        amounts, among = _amounts(pool, test), among_of(test, pool.definition)
        if among is not None:
            amounts = np.where(fields_over(pool).rows(among)[0], amounts, 0.0)
        by_name = np.bincount(names.codes + 1, amounts, len(names.values) + 1)[1:].astype(np.float64)
        counts = np.isin(names.codes, chosen(pool, test, by_name))
        cash = _cash(pool, test) if test.measure == "country_group" else ()
        return Breakup(np.where(counts, amounts, 0.0), amounts=cash, is_share=True)

    return broken


def _nth(pool: Pool, test: DealTest, by_name: Floats) -> list[int]:
    nth = (test.nth or 1) - 1
    return [at for at in largest_of(by_name, nth + 1)[nth : nth + 1] if by_name[at] > 0]


def _first(pool: Pool, test: DealTest, by_name: Floats) -> list[int]:
    return [at for at in largest_of(by_name, test.nth or 10) if by_name[at] > 0]


def _abroad(pool: Pool, test: DealTest, by_name: Floats) -> list[int]:
    home = pool.definition.conventions.home_countries
    counts = np.array([name not in home for name in pool.portfolio.names["country"].values], np.bool_)
    return _nth(pool, test, np.where(counts, by_name, 0.0))


def _members(pool: Pool, test: DealTest) -> Any:
    group = next(country_group for country_group in pool.definition.country_groups if country_group.id == test.group)
    return group_members(pool.portfolio.names["country"].values, group, pool.definition)[0]


def _group(pool: Pool, test: DealTest, by_name: Floats) -> list[int]:
    rows: list[int] = np.flatnonzero(_members(pool, test)).tolist()
    return rows


def _of_group(pool: Pool, test: DealTest, by_name: Floats) -> list[int]:
    return _nth(pool, test, np.where(_members(pool, test), by_name, 0.0))


def _suite_industry(pool: Pool, test: DealTest) -> Breakup:
    """Return an industry of the suites' tests.

    Where no row names one, as the file's table has them.
    """
    printed, place = pool.printed_industries, (test.nth or 1) - 1
    if not printed:
        return _INDUSTRY(pool, test)
    shown = (Amount("industry", figure.label, figure.value or 0.0) for figure in printed[place : place + 1])
    return Breakup(amounts=tuple(shown), is_share=True)


def _diversity(pool: Pool, test: DealTest) -> Breakup:
    field = industry_field(test)
    field = pool.view.diversity_field if field == "industry" else field
    names, average = pool.view.names[field], pool.par / pool.obligors[0]
    units = (
        pool.units(average) if field == "industry" else kernels.units(pool.tally_by_industry(names), average)
    )  # as the measures have it
    amounts = []
    for at in np.flatnonzero(units).tolist():
        alone = np.zeros(len(units))
        alone[at] = units[at]
        name = names.values[at] if at < len(names.values) else "Unclassified"
        amounts.append(
            Amount("industry", name, kernels.diversity(alone, DIVERSITY_SCORES), fields={"units": float(units[at])})
        )
    return Breakup(amounts=tuple(amounts))


# ---- coverage --------------------------------------------------------------------------------------------------------

_NOT_ADDED: Final = frozenset((
    "collateral_principal_amount", "principal_cash", "ccc_excess", "ccc_rows_without_price", "adjusted",
))  # fmt: skip
"""Of the OC numerator's calculation: what is reported, and is no step of it but par and cash."""

_STEPS: Final = {
    "ccc_haircut": "Excess CCC haircut", "discount_haircut": "Discount haircut",
    "deferring_haircut": "Deferring haircut", "other_haircut": "Other haircuts",
    "defaulted_carried": "Defaulted, carried", "long_dated_and_current_pay": "Long-dated or current pay haircut",
    "purchased_accrued_interest": "Purchased accrued interest",
}  # fmt: skip

_OF_LOANS: Final[dict[str, Take]] = {
    "discount_haircut": lambda tally, _: -tally.discount_haircut,
    "deferring_haircut": lambda tally, _: -tally.deferring_haircut,
    "long_dated_and_current_pay": lambda tally, _: -tally.category_haircut,
    "defaulted_carried": lambda tally, _: tally.defaulted_carried,
}
"""The steps that are sums over loans."""


def _oc(pool: Pool, test: DealTest) -> Breakup:
    """Par of the loans, cash, and each step of the calculation.

    Of the loans that it is about where it is their sum.
    """
    steps = {
        name: -amount if name.endswith("haircut") else amount
        for name, amount in pool.adjustments.items()
        if name not in _NOT_ADDED and amount
    }
    asked = [name for name in steps if name in _OF_LOANS]
    loans = dict(zip(asked, by_loan(pool, *(_OF_LOANS[name] for name in asked)), strict=True)) if asked else {}
    amounts = list(_if_any("cash", "Principal cash", pool.cash))
    for name, step in steps.items():
        amounts += _step(_STEPS.get(name, name.replace("_", " ").capitalize()), step, loans.get(name))
    return Breakup(pool.weights, amounts=tuple(amounts))


def _step(words: str, step: float, by_row: Floats | None) -> Iterator[Amount]:
    kind: Kind = "haircut" if step < 0 else "account"
    if by_row is None or abs(fsum(by_row) - step) > tolerance_of(by_row):
        yield Amount(kind, words, step)
        return
    for row in np.flatnonzero(by_row).tolist():
        yield Amount("haircut" if by_row[row] < 0 else "loan", words, float(by_row[row]), row)


def _if_any(kind: Kind, name: str, amount: float) -> Iterator[Amount]:
    if amount:
        yield Amount(kind, name, amount)


def tolerance_of(amounts: Any) -> float:
    """By how much two sums of these may differ.

    A millionth, or what the rounding of doubles can make of them.
    """
    return max(1e-6, 1e-12 * fsum(np.abs(amounts)))


_INCOME: Final = {
    "interest_collected": "Interest collected", "interest_receivable": "Interest to be received",
    "hedge": "Hedge receipts less payments", "interest_other": "Other interest",
}  # fmt: skip


def _ic(pool: Pool, test: DealTest) -> Breakup:
    """Return what was collected and is to be received, what the loans are estimated to pay, less the senior fees."""
    income = pool.interest
    amounts = [Amount("account", words, float(income[name])) for name, words in _INCOME.items() if income.get(name)]
    amounts += _if_any("account", "Senior fees", -float(income.get("senior_fees_counted", income["senior_fees"])))
    estimated, years = float(income["scheduled_interest"]), float(income["scheduled_years"])
    by_row = by_loan(pool, lambda tally, _: tally.interest_sum / 100 * years)[0]
    if years and abs(fsum(by_row) - estimated) <= tolerance_of(by_row):
        return Breakup(by_row, amounts=tuple(amounts))
    words = "Interest, as the file prints it" if pool.interest_is_given else "Interest of the loans, estimated"
    return Breakup(amounts=(*amounts, *_if_any("account", words, estimated)))


def _event_of_default(pool: Pool, test: DealTest) -> Breakup:
    price, par = pool.view.numbers.get("price"), pool.view.numbers["par_value"]
    amounts = list(_if_any("cash", "Principal cash", pool.cash))
    values = np.zeros(len(par)) if price is None else np.nan_to_num(np.where(pool.defaulted, par * price / 100, 0.0))
    rows = np.flatnonzero(values).tolist()
    amounts += [Amount("loan", "Defaulted, at market value", float(values[row]), row) for row in rows]
    return Breakup(pool.weights, amounts=tuple(amounts))


# ---- the tables ------------------------------------------------------------------------------------------------------

_INDUSTRY: Final = _of_names(industry_field, _nth)

BUILDERS: Final[dict[str, Builder]] = {
    **dict.fromkeys(FORMULAS, _by_measure),
    "obligor": _of_names(lambda _: "obligor", _nth),
    "top_obligors": _of_names(lambda _: "obligor", _first),
    "industry": _INDUSTRY,
    "country": _of_names(lambda _: "country", _abroad),
    "country_group": _of_names(lambda _: "country", _group),
    "country_of_group": _of_names(lambda _: "country", _of_group),
    "non_senior_secured": _or_formula(_second_lien),
    "cov_lite": _or_formula(lambda tally, _: tally.par_by_flag[0]),
    "fixed_rate": _or_formula(lambda tally, _: tally.par_by_flag[1]),
    "foreign_country": _or_formula(lambda tally, _: tally.foreign_par),
    "small_facilities": _or_formula(lambda tally, _: tally.small_par),
    "quoted_depth": _count(lambda tally, _: tally.quoted_par),
    "delinquency": _delinquent,
    "price_below": _price_below,
    "ccc": _ccc,
    "warf": _warf,
    "warr": _warr,
    "wal": _average(lambda tally, _: tally.life_sum, lambda tally, _: tally.life_par),
    "was": _average(lambda tally, _: tally.spread_sum / 100, lambda tally, _: tally.spread_par),
    "wac": _average(lambda tally, _: tally.coupon_sum, lambda tally, _: tally.coupon_par),
    "average_price": _average(lambda tally, _: tally.price_sum, lambda tally, _: tally.priced_par),
    "diversity": _diversity,
    "oc": _oc,
    "reinvestment_oc": _oc,
    "ic": _ic,
    "event_of_default": _event_of_default,
}
"""By a definition's measure; those that are not here are no sums."""

_MORE: Final[dict[str, dict[str, Any]]] = {
    "single_obligor_concentration": {"nth": 1}, "top_5_concentration": {"nth": 5},
    "industry_concentration": {"nth": 1}, "second_industry_concentration": {"nth": 2},
    "price_below_80_pct": {"line": 80.0}, "price_below_90_pct": {"line": 90.0},
}  # fmt: skip

SUITES: Final[dict[str, tuple[DealTest, Builder]]] = {
    test_id: (
        DealTest(id=test_id, name=test_id, measure=measure, **_MORE.get(test_id, {})),
        _suite_industry if measure == "industry" else BUILDERS[measure],
    )
    for test_id, measure in SUITE_TESTS.items()
}
"""The tests of the suites as a definition would write them."""
