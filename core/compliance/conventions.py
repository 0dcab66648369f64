"""A portfolio as a deal's definition sees it.

Ratings by their ladder, recoveries, obligors, industries and home.

What is masked is rated, and the rating is not shown: `core.portfolio.model.ratings.MASKED` in the place of a rank where
the definition leaves it out, else what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, nan
from typing import Final

import numpy as np

from core.compliance.ladders import SAY_UNRATED, Assumed, plain_ranks, rate_loans, set_apart_unrated, suite_factors
from core.compliance.view import AllLoans, Rules, View, liens_of
from core.definition.choices import BY_NAME, Setting, with_settings
from core.definition.definition import AgencyRatings, Definition, Family, ParValue, Ratings
from core.definition.terms import AGENCIES
from core.portfolio import Portfolio
from core.portfolio.cells.category_cells import currency
from core.portfolio.cells.text_cells import TextColumn, pool_of
from core.portfolio.model.facts import Agency
from core.portfolio.model.interpretation import Choice
from core.portfolio.model.portfolio import Deal, Names
from core.portfolio.pages.identify import name_keys

DEFAULT: Final = Definition()
"""What holds without a definition."""

_FIRST: Final = AgencyRatings(columns=("any",))

PLAIN: Final = Definition(standard=True, ratings=Ratings(_FIRST, _FIRST, _FIRST))
"""The suites' own defaults as a market's standard: what choices of a reading change where no ready-made one decides."""

DEFAULTED_AT: Final = {"lower": 0, "market_value": 1, "recovery": 2, "none": 3}


def cash_of(deal: Deal, definition: Definition) -> float:
    """Principal cash as the conventions count it."""
    cash, counts = deal.principal_cash, definition.conventions.principal_cash
    if cash is None or not isfinite(cash) or counts == "none":
        return 0.0
    return max(0.0, cash) if counts == "positive" else cash


def currency_of(portfolio: Portfolio, recorded: str | None = None) -> str | None:
    """Return the currency that decides on a market's standard.

    The file's, else that of most loans, else the deal's record.
    """
    if portfolio.deal.currency is not None:
        return currency(portfolio.deal.currency)
    column = portfolio.names.get("currency")
    if column is None or not 0 < len(column.values) <= CURRENCIES_MAX:
        return recorded
    counts: dict[str, int] = {}
    for code, name in enumerate(map(currency, column.values)):
        counts[name] = counts.get(name, 0) + int(np.count_nonzero(column.codes == code))
    most = max(counts, key=counts.__getitem__)
    return most if counts[most] else recorded


def standard_of(portfolio: Portfolio) -> Definition | None:
    """Return the ready-made definition by which a portfolio without one goes.

    `euro` by its currency; None where that is `us_bsl`, which the suites' own defaults stand for.
    """
    code = currency_of(portfolio)
    if code is None:
        return None
    from core.definition import READY, ready_for  # with them comes the formula engine, which other runs do without

    name = ready_for(code)
    return None if name == "us_bsl" else READY[name]


def definition_for(portfolio: Portfolio, definition: Definition | str | None) -> Definition | None:
    """Return the rules that decide.

    A definition, the ready-made one of a name, or where none is given the market's, with the choices that the file's
    own figures decided.

    A definition whose document names no base is put over that of its market, as a run without one goes by it.

    Raises:
        UnknownDefinition: no ready-made definition has the name.
    """
    if isinstance(definition, str):
        from core.definition import definition_of

        return definition_of(definition)
    if definition is None:
        return _with_choices(standard_of(portfolio), portfolio)
    if definition.standard:
        return _with_choices(definition, portfolio)
    return definition if definition.base is not None else _under_market(portfolio, definition)


def _under_market(portfolio: Portfolio, definition: Definition) -> Definition:
    """Return a definition over the standard of its market, by its own currency, else the file's."""
    code = definition.conventions.currency or currency_of(portfolio)
    if code is None:
        return definition
    from core.definition import READY, ready_for, under_market

    name = ready_for(code)
    return definition if name == "us_bsl" else under_market(definition, READY[name], name)


def _with_choices(standard: Definition | None, portfolio: Portfolio) -> Definition | None:
    """Return a market's standard, changed by what the file's own figures decided.

    None for the suites' own defaults.
    """
    if portfolio.interpretation is None:
        return standard
    settings = [setting for choice in portfolio.interpretation.changed for setting in _settings_of(choice)]
    return with_settings(PLAIN if standard is None else standard, settings) if settings else standard


def _settings_of(used: Choice) -> tuple[Setting, ...]:
    """Return the settings of a reading, or none for one of an earlier version."""
    known = BY_NAME.get(used.name)
    options = () if known is None else known.options
    return next((option.sets for option in options if option.name == used.reading.option), ())


def is_plain(definition: Definition | None) -> bool:
    """Return whether the suites' own defaults decide, with or without choices of a reading."""
    return definition is None or definition is DEFAULT or (definition.standard and definition.name is None)


CURRENCIES_MAX: Final = 200
"""Distinct texts of a column that names currencies."""


def view_of(
    portfolio: Portfolio, definition: Definition | None, assumed: Assumed = "value", of_all: AllLoans | None = None
) -> View:
    """Return the portfolio under a definition's conventions.

    None for those of the suites. `of_all` is given where these are some of the file's loans.
    """
    if definition is None:
        return _plain(portfolio, of_all)
    view = View(
        dict(portfolio.numbers),
        dict(portfolio.names),
        dict(portfolio.flags),
        dict(portfolio.ranks),
        liens_of(portfolio),
        0,
        _rules(definition),
        suite_factors(definition, assumed),
    )
    if is_plain(definition) and _with_agencies_of(definition, PLAIN) == definition:
        view.ranks = plain_ranks(portfolio)
    else:
        rate_loans(view, portfolio, definition, assumed)
    if is_plain(definition) or (definition.ratings.unrated_is_ccc and definition.leaves(*SAY_UNRATED)):
        set_apart_unrated(view, portfolio, of_all)
    _take_industry(view, portfolio, definition)
    _take_diversity(view, definition.classifications.diversity, portfolio.names.get("industry"))
    join_families(view, definition)
    _find_home(view, definition.conventions.home_countries)
    _take_recoveries(view, portfolio, definition.ratings.recovery, of_all)
    _carry_categories(view, portfolio, definition)
    return view


def _plain(portfolio: Portfolio, of_all: AllLoans | None) -> View:
    """By the suites' conventions: the columns as they are, but for masked ratings."""
    countries = portfolio.names.get("country")
    home = countries.values.index("US") if countries is not None and "US" in countries.values else -2
    ranks = plain_ranks(portfolio)
    view = View(
        dict(portfolio.numbers), portfolio.names, portfolio.flags, ranks, liens_of(portfolio), home, _RULES, _FACTORS
    )
    set_apart_unrated(view, portfolio, of_all)
    _take_industry(view, portfolio, None)
    _take_recoveries(view, portfolio, (), of_all)
    return view


def _with_agencies_of(definition: Definition, source: Definition) -> Definition:
    """Return the definition with another's ratings, its own recoveries."""
    return replace(definition, ratings=replace(source.ratings, recovery=definition.ratings.recovery))


def _rules(definition: Definition) -> Rules:
    par, conventions = definition.par_value, definition.conventions
    return Rules(
        par.discount_below if par.discount else -1.0,
        par.discount_below_fixed if par.discount else -1.0,
        par.discount_release,
        par.discount_release_fixed,
        par.defaulted_zero_after_years,
        par.ccc_unpriced,
        conventions.small_facility_home,
        conventions.small_facility_abroad,
        par.deferring,
        DEFAULTED_AT[par.defaulted],
    )


_RULES: Final = _rules(DEFAULT)
_FACTORS: Final = suite_factors(DEFAULT)


FILES_INDUSTRY: Final = "industry_of_file"
"""Name of the file's own industries, where a definition takes an agency's for its tests."""


def _take_industry(view: View, portfolio: Portfolio, definition: Definition | None) -> None:
    """Take the industries of the agency that the definition names, else of the only one by whose industries the file
    prints
    tests, else the file's general ones.

    None of this moves Moody's diversity: it goes by the general ones, or by Moody's where these are another agency's or
    there are none.
    """
    own = agency_of(portfolio, "industry")
    printed = printed_agency(portfolio, "industry") if portfolio.facts.all else None
    chosen: str | None = printed
    if definition is not None and definition.classifications.industry != "any":
        chosen = definition.classifications.industry
    column, general = view.names.get(f"industry_{chosen}"), view.names.get("industry")
    has_moodys = "industry_a" in view.names and (general is None or own in ("b", "c"))
    if has_moodys and chosen != "a":
        view.diversity_field = "industry_a"
    if column is None:
        view.industry_agency = own or printed
        return
    view.names = dict(view.names)
    if general is not None and not has_moodys and own != chosen:
        view.names[FILES_INDUSTRY] = general
        view.diversity_field = FILES_INDUSTRY
    view.names["industry"] = column
    view.industry_agency = chosen


def _take_diversity(view: View, stated: str | None, general: Names | None) -> None:
    """Take the industries of Moody's diversity where the definition names them.

    `general` are the file's own.
    """
    if stated is None:
        return
    view.diversity_field = "industry" if stated == "any" else f"industry_{stated}"
    if stated == "any" and general is not None and view.names["industry"] is not general:
        view.names[FILES_INDUSTRY] = general
        view.diversity_field = FILES_INDUSTRY


def join_families(view: View, definition: Definition) -> None:
    """One obligor for all names of a family, by the obligor's key or the borrower's name; then affiliates by name."""
    families, obligor = definition.classifications.families, view.names.get("obligor")
    if obligor is None:
        return
    if families:
        obligor = view.names["obligor"] = _with_families(view, obligor, families)
    if definition.classifications.affiliates_by_name and len(obligor.values) <= AFFILIATES_MAX:
        _join_affiliates(view, obligor)


AFFILIATES_MAX: Final = 20_000
"""Obligors up to which affiliates are looked for."""

NAME_LETTERS_MIN: Final = 4
"""Letters of a name that another one may begin with: a shorter one is shared by chance."""


def _join_affiliates(view: View, obligor: Names) -> None:
    """Join an obligor whose name begins with the whole name of another to that one."""
    root, joined = None, {}
    used = np.flatnonzero(np.bincount(obligor.codes + 1, minlength=len(obligor.values) + 1)[1:])
    for at in sorted(used.tolist(), key=obligor.values.__getitem__):
        name = obligor.values[at]
        if root is not None and name.startswith(obligor.values[root] + " "):
            joined[at] = root
        else:
            root = at if len(name) >= NAME_LETTERS_MIN and not name.isdigit() else None
    if joined:
        table = np.arange(-1, len(obligor.values), dtype=np.int32)
        table = np.append(table[1:], np.int32(-1))
        table[list(joined)] = list(joined.values())
        view.names["obligor"] = Names(table[obligor.codes], obligor.values)
        view.affiliates = [(obligor.values[at], obligor.values[to]) for at, to in joined.items()]


def _with_families(view: View, obligor: Names, families: tuple[Family, ...]) -> Names:
    family_of = {key: at for at, family in enumerate(families) for key in _keys(family.obligors)}
    first = len(obligor.values)
    table = np.array([*(family_of.get(key, -1) for key in _keys(obligor.values)), -1], np.int32)
    member = table[obligor.codes]
    borrower = view.names.get("borrower_name")
    if borrower is not None:
        by_name = np.array([*(family_of.get(key, -1) for key in _keys(borrower.values)), -1], np.int32)
        member = np.where(member < 0, by_name[borrower.codes], member)
    codes = np.where(member >= 0, member + np.int32(first), obligor.codes).astype(np.int32)
    return Names(codes, (*obligor.values, *(family.name for family in families)))


def _keys(texts: Sequence[str]) -> list[str]:
    """Return what tells companies apart, of each name."""
    named = name_keys(TextColumn(*pool_of(list(texts))))
    return [named.text[code] if code >= 0 else "" for code in named.codes.tolist()]


def _find_home(view: View, countries: tuple[str, ...]) -> None:
    """Set the code of the home country; several become one."""
    column = view.names.get("country")
    if column is None:
        view.home = -2
        return
    home = [code for code, name in enumerate(column.values) if name in countries]
    if len(home) < 2:
        view.home = home[0] if home else -2
        return
    table = np.arange(-1, len(column.values), dtype=np.int32)
    table = np.append(table[1:], np.int32(-1))
    table[home] = home[0]
    view.home = home[0]
    view.names["country"] = Names(table[column.codes], column.values)


def agency_of(portfolio: Portfolio, field: str) -> str | None:
    """Return the agency whose column feeds a general field, or None."""
    cells, general = portfolio.source_cells, portfolio.numbers.get(field)
    for agency in AGENCIES:
        own = f"{field}_{agency}"
        if field in cells and cells.get(own) == cells[field]:
            return agency
        column = portfolio.numbers.get(own)
        if general is not None and column is not None and np.array_equal(general, column, equal_nan=True):
            return agency
    return None


def printed_agency(portfolio: Portfolio, measure: str) -> Agency | None:
    """Return the agency for whose rates or industries the file prints a limit, where it is the only one."""
    if not portfolio.facts.all:
        return None
    limited = {
        fact.subject.agency
        for fact in portfolio.facts.of("test", measure)
        if fact.trigger is not None
        and fact.subject is not None
        and fact.subject.agency is not None
        and not fact.is_guessed
    }
    return limited.pop() if len(limited) == 1 else None


def _take_recoveries(view: View, portfolio: Portfolio, agencies: tuple[str, ...], of_all: AllLoans | None) -> None:
    """Take the recovery rates of the agencies that the definition names, else Moody's.

    The rates of the kinds of loans are on Moody's scale. The file's general ones count where these are blank and are
    no other agency's.
    """
    numbers = portfolio.numbers
    with_rates = [agency for agency in agencies if f"recovery_rate_{agency}" in numbers]
    of_general = agency_of(portfolio, "recovery_rate") if of_all is None else of_all.recovery_agency
    if "recovery_rate" not in numbers:
        of_general = next((agency for agency in AGENCIES if f"recovery_rate_{agency}" in numbers), None)
    if not with_rates and ("recovery_rate_a" not in numbers or (of_general == "a" and "recovery_rate" in numbers)):
        printed = printed_agency(portfolio, "warr")
        has_own = printed is not None and f"recovery_rate_{printed}" in numbers
        view.recovery_agency = of_general if of_general == "a" or not has_own else printed
        return
    with_rates = with_rates or ["a"]
    columns = [numbers[f"recovery_rate_{agency}"] for agency in with_rates]
    general = numbers.get("recovery_rate") if of_general in (None, with_rates[0]) else None
    lowest = columns[0]
    for column in columns[1:]:
        lowest = np.fmin(lowest, column)
    view.recovery_agency = with_rates[0]
    for name, column in (("recovery_rate", columns[0]), ("carrying_recovery", lowest)):
        view.columns[name] = column if general is None else np.where(np.isnan(column), general, column)


# ---- categories of the OC numerator that are limits themselves


def _carry_categories(view: View, portfolio: Portfolio, definition: Definition) -> None:
    """Percent of par at which long-dated and current pay loans are carried, where the definition carries them below."""
    par_value = definition.par_value
    if par_value.long_dated == par_value.current_pay == "par":
        return
    par = np.where(view.defaulted(portfolio) | np.isnan(view.numbers["par_value"]), 0.0, view.numbers["par_value"])
    cpa = float(par.sum()) + cash_of(portfolio.deal, definition)
    carried = np.full(portfolio.row_count, 100.0)
    price = view.numbers.get("price", np.full(portfolio.row_count, nan))
    for flag, way, limit, value in _categories(par_value):
        marked = view.flags.get(flag)
        if way == "par" or marked is None:
            continue
        rows = np.flatnonzero((marked != 0) & (par > 0))
        worth = np.zeros(len(rows)) if value is not None else np.clip(price[rows], 0.0, 100.0)
        worth = np.where(np.isnan(worth), par_value.ccc_unpriced, worth)
        # The cheapest loans are the excess; of one price, those further down the file.
        order = np.lexsort((-rows, worth))
        left = float(par[rows].sum()) if limit is None else max(0.0, float(par[rows].sum()) - limit / 100 * cpa)
        for at in order.tolist():
            if left <= 0:
                break
            row = rows[at]
            part = min(left, float(par[row]))
            left -= part
            share = part / float(par[row])
            carried[row] = min(carried[row], 100.0 - share * (100.0 - float(worth[at])))
    if (carried < 100.0).any():
        view.columns["carried_at"] = carried


def _categories(par: ParValue) -> list[tuple[str, str, float | None, float | None]]:
    """(flag, how it is carried, limit in percent, value; None for the market's) of each category."""
    return [
        ("is_long_dated", par.long_dated, par.long_dated_limit if par.long_dated == "excess_at_zero" else None, 0.0),
        (
            "is_current_pay",
            par.current_pay,
            par.current_pay_limit if par.current_pay == "excess_at_market" else None,
            None,
        ),
    ]
