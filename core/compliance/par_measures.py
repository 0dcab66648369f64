"""A definition's measures that are a part of par.

Of loans, obligors, industries, countries.

A test may be of some loans alone, and may add principal cash, or what is not drawn, to the par that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance import pool_sums
from core.compliance.kernels import rounded
from core.compliance.masks import largest
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.share_plan import Bools
from core.compliance.shares import divisor_of, fields_over, share_measure, unfunded_of
from core.definition.definition import CountryGroup, DealTest, Definition
from core.definition.formulas import Atom, Logic, share_of
from core.definition.terms import FORMULA_MAX, FORMULAS
from core.portfolio.model.portfolio import Names
from core.portfolio.model.ratings import rank

Floats = NDArray[np.float64]
Figure = Callable[[Pool, DealTest], Measurement]

SHOWN: Final = 10
"""Names that a breakdown lists."""


def par_share(pool: Pool, test: DealTest, amount: float, coverage_pct: float | None, /, **extra: Any) -> Measurement:
    """Return an amount as a share of what the test divides by."""
    return _share_of_amount(pool, test, amount, coverage_pct, lambda: extra)


def _share_of_amount(
    pool: Pool, test: DealTest, amount: float, coverage_pct: float | None, break_down: Callable[[], dict[str, Any]]
) -> Measurement:
    divisor = divisor_of(pool, test.of or "denominator")
    amount = max(0.0, amount)
    return Measurement(amount / divisor * 100, amount, divisor, coverage_pct, break_down)


# ---- loans


def formula_of(measure: str, definition: Definition) -> str:
    """Return the loans that a measure counts under a definition, as a share's formula."""
    rules = definition.conventions
    if measure == "foreign_country":
        by_name = f"=NOT({_is_in(rules.home_countries)})"
        return by_name if len(by_name) <= FORMULA_MAX else "=NOT(is_home)"  # which takes a blank for home
    if measure == "small_facilities":
        return f"=facility_size<IF(is_home,{rules.small_facility_home:.17g},{rules.small_facility_abroad:.17g})"
    if not definition.ratings.bonds_secured and measure in _WITHOUT_BONDS:
        return _WITHOUT_BONDS[measure]
    return FORMULAS[measure]


def _is_in(countries: tuple[str, ...]) -> str:
    """Return a formula for loans of some countries; a blank country stays open."""
    listed = ",".join('"' + name.replace('"', '""') + '"' for name in countries)
    return f"OR(country={{{listed}}})"


_WITHOUT_BONDS: Final = {
    "senior_secured": '=lien="first_lien"',
    "non_senior_secured": '=OR(lien="second_lien",lien="unsecured",lien="other",lien="bond")',
}
"""Where bonds are not senior secured."""


def among_of(test: DealTest, definition: Definition) -> Atom | Logic | None:
    """Return the loans of which a test is; None for all."""
    if test.among is None:
        return None
    return share_of(test.among if test.among.startswith("=") else formula_of(test.among, definition))


def share_of_test(test: DealTest) -> Callable[[Pool], Measurement]:
    """Return the measure of a test by a share's formula."""
    assert test.share is not None
    text = test.share
    if not test.adds:
        return share_measure(text, test.of or "denominator")
    return lambda pool: _share(pool, test, share_of(text), text)


def loans_share(pool: Pool, test: DealTest) -> Measurement:
    """Return a measure by its formula, of some loans alone where the test says so."""
    assert test.measure is not None
    formula = formula_of(test.measure, pool.definition)
    if test.among is None and not test.adds:
        return share_measure(formula, test.of or "denominator")(pool)
    part, among = share_of(formula), among_of(test, pool.definition)
    return _share(pool, test, part if among is None else Logic("AND", (part, among)), (formula, test.among))


def _share(pool: Pool, test: DealTest, part: Atom | Logic, key: Any) -> Measurement:
    def sums_of(each_pool: Pool) -> tuple[float, ...]:
        rows, unknown = fields_over(each_pool).rows(part)
        drawn, more = each_pool.weights, undrawn_of(each_pool, test)
        return (
            float(drawn @ rows),
            0.0 if more is None else float(more @ rows),
            0.0 if unknown is None else float(drawn @ unknown),
        )

    par, undrawn, unknown = pool.summed(("loans", key, test.adds), sums_of)
    cash = pool.cash if "cash" in test.adds else 0.0
    added = {"par": par, "cash": cash, "unfunded": undrawn}
    shown = {name: rounded(amount) for name, amount in added.items() if name == "par" or name in test.adds}
    return par_share(pool, test, par + undrawn + cash, pool.covered(pool.par - unknown), **shown)


def undrawn_of(pool: Pool, test: DealTest) -> Floats | None:
    """Return what is not drawn of each loan, where a test adds it; None for nothing."""
    return unfunded_of(pool) if "unfunded" in test.adds else None


# ---- obligors, industries, countries


def industry_field(test: DealTest) -> str:
    """Return the industries by which a test goes."""
    return f"industry_{test.classification}" if test.classification in ("a", "b", "c") else "industry"


def _names_of(pool: Pool, field: str) -> Names:
    """Return a column of names.

    Raises:
        Unmeasurable: the file lacks it.
    """
    if field not in pool.view.names:
        raise Unmeasurable(f"Skipped: required column(s) {field} not found in sheet '{pool.portfolio.sheet_name}'")
    return pool.view.names[field]


def _by_name(pool: Pool, test: DealTest, field: str) -> tuple[Pool, Floats]:
    """Return (the pool of the codes, par that counts by a name's code).

    The last is what no name has, or may not count.
    """
    if _counts_all(test):
        if field not in pool.view.names:
            _names_of(pool, field)
        return pool, pool.par_by_name(field)
    whole = pool.whole
    return whole, _count(whole, test, _names_of(whole, field))


def _count(pool: Pool, test: DealTest, names: Names) -> Floats:
    """Par by a name's code of the loans of which a test is.

    The last is that of no name, or not known to count.
    """
    among = among_of(test, pool.definition)
    amounts, more, unknown = pool.weights, undrawn_of(pool, test), None
    amounts = amounts if more is None else amounts + more
    if among is not None:
        rows, unknown = fields_over(pool).rows(among)
        amounts = np.where(rows, amounts, 0.0)
    sums = np.roll(np.bincount(names.codes + 1, amounts, len(names.values) + 1).astype(np.float64), -1)
    if unknown is not None:
        sums[-1] += float(pool.weights @ unknown)
    return sums


def _nth(pool: Pool, test: DealTest, field: str, sums: Floats, order: list[int]) -> Measurement:
    """Return the nth largest of sums by a name's code; `order`: the largest."""
    par = sums[:-1]
    nth = (test.nth or 1) - 1
    amount = float(par[order[nth]]) if nth < len(order) else 0.0
    covered = pool.covered(pool.par - float(sums[-1]))
    return _share_of_amount(pool, test, amount, covered, lambda: {"largest": _show(pool, field, par, order)})


def _show(pool: Pool, field: str, par: Floats, order: list[int]) -> list[dict[str, Any]]:
    return [{"name": pool.name(field, at), "par": rounded(float(par[at]))} for at in order[:SHOWN] if par[at] > 0]


def _rank(pool: Pool, test: DealTest, field: str) -> Measurement:
    pool, sums = _by_name(pool, test, field)
    order = _order(pool, test, field, sums, test.nth or 1)
    if not (order and sums[order[0]] > 0) and (test.among is None or sums[-1] > 0):
        raise pool_sums.no_values(field)
    return _nth(pool, test, field, sums, order)


def _order(pool: Pool, test: DealTest, field: str, sums: Floats, count: int) -> list[int]:
    """Return the codes of the largest sums, as many as a test shows or asks for."""
    most = max(count, SHOWN)
    return pool.largest_by_name(field, most) if _counts_all(test) else largest_of(sums[:-1], most)


def _counts_all(test: DealTest) -> bool:
    """Return whether a test counts the drawn par of every loan."""
    return test.among is None and not test.adds


def largest_of(par: Floats, count: int) -> list[int]:
    """Return the places of the largest, largest first, of equals the first.

    All where there are no more.
    """
    return largest(np.ascontiguousarray(par), count)


def _obligor(pool: Pool, test: DealTest) -> Measurement:
    return _rank(pool, test, "obligor")


def _top_obligors(pool: Pool, test: DealTest) -> Measurement:
    pool, sums = _by_name(pool, test, "obligor")
    order = _order(pool, test, "obligor", sums, test.nth or 10)[: test.nth or 10]
    amount = float(np.maximum(sums[order], 0.0).sum())
    return par_share(pool, test, amount, pool.covered(pool.par - float(sums[-1])))


def _industry(pool: Pool, test: DealTest) -> Measurement:
    return _rank(pool, test, industry_field(test))


def _by_country(pool: Pool, test: DealTest, members: Callable[[Sequence[str]], tuple[Bools, Bools]]) -> Floats:
    """Par that counts by country, 0 outside of `members`.

    The last is that of no country, or of an unknown one.
    """
    if "country" not in pool.portfolio.names:
        raise Unmeasurable(f"Skipped: required column(s) country not found in sheet '{pool.portfolio.sheet_name}'")

    def added(part: Pool) -> Floats:
        names = part.portfolio.names["country"]
        counts, unknown = members(names.values)
        sums = _count(part, test, names)
        sums[-1] += float(sums[:-1][unknown].sum())
        sums[:-1][~counts] = 0.0
        return sums

    return pool.summed(("country", test.group, test.among, test.adds), added)


def _country(pool: Pool, test: DealTest) -> Measurement:
    home = pool.definition.conventions.home_countries

    def abroad(names: Sequence[str]) -> tuple[Bools, Bools]:
        return np.array([name not in home for name in names], np.bool_), np.zeros(len(names), np.bool_)

    return _nth_country(pool, test, _by_country(pool, test, abroad))


def _nth_country(pool: Pool, test: DealTest, sums: Floats) -> Measurement:
    return _nth(pool, test, "country", sums, largest_of(sums[:-1], max(test.nth or 1, SHOWN)))


# ---- groups of countries


def group_members(names: Sequence[str], group: CountryGroup, definition: Definition) -> tuple[Bools, Bools]:
    """(countries of the group, countries of which that is not known for want of a ceiling)."""
    if group.countries:
        return np.array([name in group.countries for name in names], np.bool_), np.zeros(len(names), np.bool_)
    ceilings = {
        country: rank(row.rating)
        for row in definition.country_ceilings
        if row.agency == group.agency
        for country in row.countries
    }
    below = 0 if group.ceiling_below is None else rank(group.ceiling_below)
    least = _WORST if group.ceiling_least is None else rank(group.ceiling_least)
    ceilings_of_names = [ceilings.get(name, 0) for name in names]
    return (
        np.array([below < each <= least if each else False for each in ceilings_of_names], np.bool_),
        np.array([not each for each in ceilings_of_names], np.bool_),
    )


_WORST: Final = 255
"""A rank behind all."""


def _of_group(pool: Pool, test: DealTest) -> Floats:
    """Par by country of a group, the last for what is not known."""
    definition = pool.definition
    group = next(country_group for country_group in definition.country_groups if country_group.id == test.group)
    return _by_country(pool, test, lambda names: group_members(names, group, definition))


def _country_group(pool: Pool, test: DealTest) -> Measurement:
    sums = _of_group(pool, test)
    par = sums[:-1]
    cash = pool.cash if "cash" in test.adds else 0.0
    covered = pool.covered(pool.par - float(sums[-1]))
    shown = _show(pool, "country", par, largest_of(par, SHOWN))
    return par_share(pool, test, float(par.sum()) + cash, covered, largest=shown)


def _country_of_group(pool: Pool, test: DealTest) -> Measurement:
    return _nth_country(pool, test, _of_group(pool, test))


LOANS: Final[dict[str, Figure]] = {
    name: loans_share for name in FORMULAS if name not in ("non_senior_secured", "cov_lite", "fixed_rate")
}
"""Measures that count loans by a formula alone; the suites have the others."""

RANKED: Final[dict[str, Figure]] = {
    "obligor": _obligor,
    "top_obligors": _top_obligors,
    "industry": _industry,
    "country": _country,
    "country_group": _country_group,
    "country_of_group": _country_of_group,
}
"""Measures of names."""
