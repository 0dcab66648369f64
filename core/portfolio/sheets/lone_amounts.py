"""Par of lists whose only column of amounts has another heading."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from core.grid.sheet import Sheet
from core.portfolio.sheets.columns.content import AMOUNT_MIN
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.roles import COLUMNS_MAX, SURE, THRESHOLD, HeadedColumns
from core.portfolio.sheets.columns.vocabulary import tokens_of
from core.portfolio.sheets.headings.match import HeaderMatch

MOST: Final = 0.9
"""Share of numbers from which a column is one of figures."""

_MAY_BE_PAR: Final = frozenset(("", "facility_size", "par_original", "facility_name", "description"))
"""Roles of a column of amounts that may be par, where no other column is: "Size", "Original Face", "Kredit"."""

_OF_LOANS: Final = frozenset(("borrower_name", "maturity_date"))
_OF_RATES: Final = frozenset(("spread", "price", "all_in_rate", "rating", "rating_agency_a", "rating_agency_b"))

_NO_PAR: Final = frozenset(
    ("cap", "capitalize", "capitalized", "global", "identifier", "loss", "payment", "pik", "sale", "sold", "unsettled")
)
"""Words of a heading whose amounts are no par, though no other column is."""

_LONE: Final = RoleEvidence("par_value", 0.0, 2.0, reasons=("it is the only column of amounts",))


def with_lone_amount(sheet: Sheet, match: HeaderMatch) -> HeaderMatch | None:
    """Return the header of a list of loans with its only amounts as par.

    None where it has a par, several columns of amounts, or says too little of loans.
    """
    named = match.columns.keys()
    if "par_value" in named or not named >= _OF_LOANS or named.isdisjoint(_OF_RATES):
        return None
    columns = HeadedColumns(sheet, match.row + 1, match.texts)
    amounts = [
        place
        for place in range(min(sheet.column_count, COLUMNS_MAX))
        if place not in match.beside and match.texts.get(place, "").strip()
        if (features := columns.features(place)).number >= MOST and features.middle >= AMOUNT_MIN
    ]
    if len(amounts) != 1:
        return None
    (place,) = amounts
    if not _may_be_par(match.evidence.get(place)) or not _NO_PAR.isdisjoint(tokens_of(match.texts[place])):
        return None
    others = {target: [at for at in places if at != place] for target, places in match.columns.items()}
    kept = {target: places for target, places in others.items() if places}
    return replace(match, columns=kept | {"par_value": [place]}, evidence=match.evidence | {place: _LONE})


def _may_be_par(evidence: RoleEvidence | None) -> bool:
    """Return whether a column may be par: "Size" may, "Facility Size" is no par."""
    is_size = evidence is not None and evidence.role == "facility_size" and evidence.words >= SURE - THRESHOLD
    return evidence is None or (evidence.role in _MAY_BE_PAR and not is_size)
