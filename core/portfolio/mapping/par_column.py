"""Choose the column of par whose sum makes the amounts that a file prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import number_cells
from core.portfolio.mapping.reader import LoanReader
from core.portfolio.model.facts import Facts
from core.portfolio.model.portfolio import Deal
from core.words import counted

COLUMNS_MAX: Final = 6
"""Columns of par that are tried."""

LINE_TOLERANCE: Final = 0.005
"""Currency units by which the rounding of each loan may move their sum."""

TOLERANCE_MAX: Final = 0.5
"""Currency units by which a sum may differ from a printed amount, however many loans there are."""

SHARES_MIN: Final = 2
"""Tests of shares that divide by an amount for it to be one of the whole pool."""

_WHOLE: Final = frozenset(("par", "perf", "cpa"))
"""Lines of a calculation that are sums of the loans: par, performing par, the collateral principal amount."""

_COVERAGE: Final = frozenset(("oc", "ic", "reinvestment", "eod"))


@dataclass(frozen=True, slots=True)
class ParColumn:
    """A column of par that is taken instead of the one that stands first."""

    place: int
    message: str


def by_printed(reader: LoanReader, facts: Facts, deal: Deal) -> ParColumn | None:
    """Find the one other column of par that makes a printed amount of the pool.

    To the cent, and only where the first column makes none of these; None elsewhere.
    """
    places = reader.header.columns.get("par_value", [])[:COLUMNS_MAX]
    printed = dict(_printed_pars(facts))
    if len(places) < 2 or not printed or reader.works["par_value"].field.own:
        return None
    tied: dict[int, tuple[float, str]] = {}
    for place in places:
        numbers = reader.with_usual_sign("par_value", place, number_cells.read_numbers(reader.cells(place)))
        values = numbers.values * reader.header.magnitude(place)
        match = _match_printed(values, printed, deal)
        if match is not None:
            tied[place] = match
    first = reader.columns["par_value"]
    if first in tied or len(tied) != 1:
        return None
    ((place, (amount, where)),) = tied.items()
    named = [repr(" ".join(reader.header.texts.get(column, "").split())) for column in (place, first)]
    message = (
        f"par is by column {named[0]} and not by {named[1]}: with it the loans make the {amount:,.2f} that the file "
        f"prints ({where}); {counted(len(places), 'column')} could be par"
    )
    return ParColumn(place, message)


def _printed_pars(facts: Facts) -> Iterator[tuple[float, str]]:
    """List the amounts of the whole pool that a file prints, with their places."""
    for fact in facts.of("component"):
        if fact.subject is not None and fact.subject.measure in _WHOLE and fact.value and not fact.conflict:
            yield fact.value, fact.place
    shares: dict[float, list[str]] = {}
    for fact in facts.tests:
        if fact.denominator and (fact.subject is None or fact.subject.measure not in _COVERAGE):
            shares.setdefault(fact.denominator, []).append(fact.place)
    yield from ((amount, places[0]) for amount, places in shares.items() if len(places) >= SHARES_MIN)


def _match_printed(values: NDArray[np.float64], printed: dict[float, str], deal: Deal) -> tuple[float, str] | None:
    """Find the printed amount that a column makes.

    Alone or with principal cash, less the defaulted par or with what it is carried at.
    """
    total = float(np.nansum(values))
    if not np.isfinite(total):
        return None
    tolerance = min(TOLERANCE_MAX, LINE_TOLERANCE * (len(values) + 2))
    lost, carried = deal.defaulted_par or 0.0, deal.defaulted_carried or 0.0
    sums = [total + cash - off for cash in (0.0, deal.principal_cash or 0.0) for off in (0.0, lost, lost - carried)]
    return next(
        ((amount, where) for amount, where in printed.items() if any(abs(own - amount) <= tolerance for own in sums)),
        None,
    )
