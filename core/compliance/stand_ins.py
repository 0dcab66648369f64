"""Columns that a definition names by agency, of a file that has such a column without an agency."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.portfolio import Portfolio
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.notes import DataWarning
from core.remembered import remembered_by_object

_KINDS: Final = ("derived", "final", "issuer", "facility")
_IN_FORMULA: Final = re.compile(r"\b(recovery_rate|facility_rank)_([abc])\b")


def with_stand_ins(portfolio: Portfolio, definition: Definition) -> Portfolio:
    """Return the portfolio with the file's only industries, recovery rates or ratings of an agency under the names by
    which a deal's definition asks for them, with a warning for each.

    A definition is written from an indenture, which says "S&P industry classification" where a file of the deal has
    just one column of industries. Where it asks for recovery rates of two agencies, the only column is nobody's.
    """
    if definition.standard:
        return portfolio
    wanted, warnings = _wanted(definition), list[DataWarning]()
    columns: dict[str, dict[str, Any]] = {"names": {}, "numbers": {}, "ranks": {}}
    for agency in AGENCIES:
        for field, kind in (("industry", "names"), ("recovery_rate", "numbers")):
            own_columns, whose = getattr(portfolio, kind), [each for each in AGENCIES if (field, each) in wanted]
            if (
                whose == [agency]
                and field in own_columns
                and not any(f"{field}_{each}" in own_columns for each in AGENCIES)
            ):
                columns[kind][f"{field}_{agency}"] = own_columns[field]
                warnings.append(_warning(portfolio, field, f"{field} of {AGENCY_NAMES[agency]}"))
        for kind in _ratings_wanted(portfolio, definition, agency, wanted):
            field = f"rating_agency_{agency}"
            columns["ranks"][f"{field}_{kind}"] = portfolio.ranks[field]
            if field in portfolio.names:
                columns["names"][f"{field}_{kind}"] = portfolio.names[field]
            warnings.append(_warning(portfolio, field, f"the {kind} rating of {AGENCY_NAMES[agency]}"))
    if not warnings:
        return portfolio
    added = {kind: getattr(portfolio, kind) | more for kind, more in columns.items() if more}
    notes = replace(portfolio.notes, warnings=[*portfolio.notes.warnings, *warnings])
    return replace(portfolio, notes=notes, **added)


@remembered_by_object(32)
def _wanted(definition: Definition) -> frozenset[tuple[str, str]]:
    return frozenset(_by_agency(definition))


def _by_agency(definition: Definition) -> Iterator[tuple[str, str]]:
    """(field, agency) of what the definition asks for by an agency.

    Of industries whose its tests go by: a test that names another agency's asks for what the file may lack.
    """
    yield "industry", definition.classifications.industry
    yield from (("recovery_rate", agency) for agency in definition.ratings.recovery)
    for test in () if definition.has_market_limits else definition.tests:
        if test.measure == "warr" and test.agency is not None:
            yield "recovery_rate", test.agency
        for text in (test.share, test.among):
            yield from _IN_FORMULA.findall(text or "")


def _ratings_wanted(
    portfolio: Portfolio, definition: Definition, agency: str, wanted: frozenset[tuple[str, str]]
) -> Iterator[str]:
    """Yield the kinds of an agency's ratings that the definition reads, where the file has one column of them and says
    of no other kind."""
    columns, field = getattr(definition.ratings, agency).columns, f"rating_agency_{agency}"
    is_kind, reads_facility = "any" not in columns, ("facility_rank", agency) in wanted
    if not (is_kind or reads_facility) or field not in portfolio.ranks:
        return
    if any(f"{field}_{kind}" in portfolio.ranks for kind in _KINDS):
        return
    if is_kind:
        yield columns[0]
    if reads_facility and columns[0] != "facility" and f"facility_{field}" not in portfolio.ranks:
        yield "facility"


def _warning(portfolio: Portfolio, field: str, what: str) -> DataWarning:
    header, place = portfolio.notes.matched_columns.get(field), portfolio.source_cells.get(field)
    source = f"{header!r} ({place})" if header and place else place or field
    return DataWarning("column_stands_in", f"{source} stands in for {what}, which the file has not", fields=(field,))
