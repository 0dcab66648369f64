"""The readings that a file leaves open.

Of each choice the one that would be used, then those that could be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Final

import numpy as np

from core.compliance.ladders import masked_rows
from core.definition.choices import BY_NAME, CHOICES, NamedChoice, Setting, setting_of
from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.grid.places import first_place
from core.portfolio import Portfolio
from core.portfolio.cells.text_cells import TextColumn, pool_of
from core.portfolio.model.portfolio import Names
from core.portfolio.pages.identify import name_keys

CASH_MAX: Final = 12
"""Balances of a file that may be its principal cash."""

OBLIGORS_MAX: Final = 20_000
"""Obligors up to which other ways to tell them apart are tried."""

SEARCHED: Final = tuple(choice for choice in CHOICES if choice.group != "status")
"""Choices that figures can decide."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One reading of a choice."""

    choice: str
    option: str
    words: str
    settings: tuple[Setting, ...] = ()
    deal: tuple[tuple[str, Any], ...] = ()
    """Fields of the deal that it changes."""
    obligor: bool = False
    """Whether it tells obligors apart by their names again."""
    number: int = 0
    """Tells candidates of one option apart."""

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from every other candidate."""
        return self.choice, self.option, self.number


Readings = Mapping[str, tuple[Candidate, ...]]
"""By choice: the candidate that is used where no figure decides, then the others."""


def readings_of(portfolio: Portfolio, definition: Definition) -> dict[str, tuple[Candidate, ...]]:
    """Return the choices of which more than one reading is possible for these loans."""
    by_choice = {}
    for choice in SEARCHED:
        listed = tuple(_SPECIAL.get(choice.name, _by_settings)(choice, portfolio, definition))
        if len(listed) > 1:
            by_choice[choice.name] = listed
    return by_choice


def _by_settings(choice: NamedChoice, portfolio: Portfolio, definition: Definition) -> Iterator[Candidate]:
    """Yield the options that a definition may say.

    The one that it says, then those for which the loans have columns.
    """
    setting = setting_of(definition, choice) or choice.options[0].name
    needs = _NEEDS.get(choice.name)
    for option in sorted(choice.options, key=lambda each: each.name != setting):
        if option.name == setting or (
            (option.sets or option is choice.options[0]) and (needs is None or needs(portfolio, option.name))
        ):
            yield Candidate(choice.name, option.name, option.words, option.sets)


def _has_ratings(portfolio: Portfolio, option: str) -> bool:
    return option == "market" or f"rating_agency_{option}" in portfolio.ranks


def _has_industry(portfolio: Portfolio, option: str) -> bool:
    return option == "any" or f"industry_{option}" in portfolio.names


def _has_recovery(portfolio: Portfolio, option: str) -> bool:
    own = [agency for agency in AGENCIES if f"recovery_rate_{agency}" in portfolio.numbers]
    return option == "market" or option in own or (option == "lowest" and len(own) > 1)


def _has_accrued(portfolio: Portfolio, option: str) -> bool:
    return "purchased_accrued_interest" in portfolio.numbers


def _has_column(agency: str) -> Callable[[Portfolio, str], bool]:
    return lambda portfolio, option: option in ("first", "any") or f"rating_agency_{agency}_{option}" in portfolio.ranks


def _has_masked(agency: str) -> Callable[[Portfolio, str], bool]:
    def has(portfolio: Portfolio, option: str) -> bool:
        fields = [name for name in portfolio.ranks if name.startswith(f"rating_agency_{agency}")]
        return option != "bounds" and any(masked_rows(portfolio, name) is not None for name in fields)

    return has


_NEEDS: Final[Mapping[str, Callable[[Portfolio, str], bool]]] = {
    "recovery_agency": _has_recovery,
    "ccc_agencies": _has_ratings,
    "purchased_accrued_interest": _has_accrued,
    "industry": _has_industry,
    **{f"rating_columns_{agency}": _has_column(agency) for agency in AGENCIES},
    **{f"masked_{agency}": _has_masked(agency) for agency in AGENCIES},
}
"""Whether loans have what an option reads."""


# ---- choices that the deal says ------------------------------------------------------------------------------------


def _cash(choice: NamedChoice, portfolio: Portfolio, definition: Definition) -> Iterator[Candidate]:
    """Yield the cash as it was read, then the other balances of the file, then none."""
    cash = portfolio.deal.principal_cash
    known = cash if cash is not None and isfinite(cash) else 0.0
    setting = setting_of(definition, choice) or "all"
    option = choice.option(setting)
    yield Candidate(choice.name, setting, _cash_words(portfolio, option.words, known), option.sets)
    # Of an overdraft, none and the positive part are the same.
    without = "positive" if known < 0 else "none"
    every = choice.option("all").sets
    others = [each for each in ("all", without) if each != setting] if known else []
    for name in others:
        yield Candidate(choice.name, name, choice.option(name).words, choice.option(name).sets)
    taken = {round(known, 2), 0.0}
    for number, (amount, place) in enumerate(_balances(portfolio)):
        for name, own in (("account", amount), ("overdraft", -amount)):
            if round(own, 2) not in taken and len(taken) < CASH_MAX + 2:
                taken.add(round(own, 2))
                words = f"{choice.option(name).words}: {own:,.2f}, {place}"
                yield Candidate(choice.name, name, words, every, (("principal_cash", own),), number=number)


def _cash_words(portfolio: Portfolio, words: str, cash: float) -> str:
    place = first_place(portfolio.source_cells.get("deal.principal_cash", ""))
    return f"{words}: {cash:,.2f}{', ' if place else ''}{place}" if cash else words


def _balances(portfolio: Portfolio) -> Iterator[tuple[float, str]]:
    """(amount, where it stands) of what may be principal cash.

    Lines of calculations, then accounts, principal ones first.
    """
    cash = portfolio.deal.principal_cash
    if cash and isfinite(cash):
        yield cash, first_place(portfolio.source_cells.get("deal.principal_cash", ""))
    for fact in portfolio.facts.of("component", "cash"):
        if fact.value and isfinite(fact.value):
            yield fact.value, fact.place
    accounts = [fact for fact in portfolio.facts.of("account") if fact.value and isfinite(fact.value)]
    for fact in sorted(accounts, key=lambda account: account.subject is None or account.subject.measure != "principal"):
        yield fact.value or 0.0, fact.place


def _denominator(choice: NamedChoice, portfolio: Portfolio, definition: Definition) -> Iterator[Candidate]:
    """Yield what the file's own sums say, or the definition; then the others."""
    setting = setting_of(definition, choice) or choice.options[0].name
    by_file = portfolio.deal.defaulted_in_denominator
    if setting == "without_cash" or not definition.leaves(_IN_DENOMINATOR):
        by_file = None
    for name in dict.fromkeys((by_file or setting, *(option.name for option in choice.options))):
        option = choice.option(name)
        yield Candidate(choice.name, name, option.words, option.sets)


_IN_DENOMINATOR: Final = "conventions.defaulted_in_denominator"


def _masked(choice: NamedChoice, portfolio: Portfolio, definition: Definition) -> Iterator[Candidate]:
    """Yield what masked ratings count as.

    By the agency's rating table where the file has one, else as a definition says.
    """
    agency = choice.name.removeprefix("masked_")
    table = f"masked_ccc_{agency}"
    if getattr(portfolio.deal, table) is None or not definition.leaves(f"ratings.{agency}.masked"):
        yield from _by_settings(choice, portfolio, definition)
        return
    by_table = choice.option("rating_table")
    yield Candidate(choice.name, by_table.name, by_table.words)
    for option in choice.options:
        if option.sets and _has_masked(agency)(portfolio, option.name):
            yield Candidate(choice.name, option.name, option.words, option.sets, ((table, None),))


def _families(choice: NamedChoice, portfolio: Portfolio, definition: Definition) -> Iterator[Candidate]:
    """Obligors as they were read; by their names alone, where a page gave families.

    Affiliates by their names.
    """
    obligor = portfolio.names.get("obligor")
    if obligor is None or len(obligor.values) > OBLIGORS_MAX or definition.classifications.families:
        return
    is_by_page = any(warning.code == "obligor_families" for warning in portfolio.notes.warnings)
    setting = "page" if is_by_page else setting_of(definition, choice) or "names"
    yield Candidate(choice.name, setting, choice.option(setting).words, choice.option(setting).sets)
    if is_by_page:
        yield Candidate(choice.name, "names", choice.option("names").words, choice.option("names").sets, obligor=True)
        return
    opposite = "affiliates" if setting == "names" else "names"
    yield Candidate(choice.name, opposite, choice.option(opposite).words, choice.option(opposite).sets)


def _interest(choice: NamedChoice, portfolio: Portfolio, definition: Definition) -> Iterator[Candidate]:
    if portfolio.tranches is not None and portfolio.facts.of("test", "ic"):
        yield from _by_settings(choice, portfolio, definition)


_SPECIAL: Final[Mapping[str, Callable[[NamedChoice, Portfolio, Definition], Iterator[Candidate]]]] = {
    "principal_cash": _cash,
    "denominator": _denominator,
    "families": _families,
    "interest": _interest,
    "senior_fees": _interest,
    **{f"masked_{agency}": _masked for agency in AGENCIES},
}


# ---- what a reading changes ----------------------------------------------------------------------------------------


def portfolio_under(portfolio: Portfolio, used: Mapping[str, Candidate]) -> Portfolio:
    """Return the loans as some readings have them."""
    deal = {name: value for candidate in used.values() for name, value in candidate.deal}
    if deal:
        portfolio = replace(portfolio, deal=replace(portfolio.deal, **deal))
    if any(each.obligor for each in used.values()):
        portfolio = replace(portfolio, names={**portfolio.names, "obligor": _by_names(portfolio)})
    return portfolio


def _by_names(portfolio: Portfolio) -> Names:
    """Obligors by their ids, else by the keys of their names, as they were before families."""
    issuer, borrower = portfolio.names.get("issuer_id"), portfolio.names.get("borrower_name")
    if issuer is not None:
        return issuer
    assert borrower is not None, "families are of obligors that have names"
    keys = name_keys(TextColumn(*pool_of(list(borrower.values))))
    table = np.append(keys.codes, np.int32(-1)).astype(np.int32)
    return Names(table[borrower.codes], tuple(keys.text.strings()))


def words_of(choice: str, option: str) -> str:
    """Return the words of an option of the closed list."""
    return BY_NAME[choice].option(option).words
