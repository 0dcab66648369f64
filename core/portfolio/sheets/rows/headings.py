"""What a heading says of all loans below it: default, currency, lien or country."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse
from core.portfolio.cells.category_cells import country, currency
from core.portfolio.cells.string_pool import key, spread_out
from core.portfolio.sheets import titles
from core.portfolio.sheets.rows.odd import OddRows
from core.portfolio.sheets.rows.vocabulary import without_figures
from core.portfolio.sheets.rows.words import start_of

HEADINGS_MAX: Final = 2_000
"""Distinct headings that are looked at."""

_THINGS: Final = r"(?: (?:loans?|obligations?|assets?|debt|notes?|bonds?|facilities|investments?|positions?|issuers?))*"
_CURRENCIES: Final = frozenset(("USD", "EUR", "GBP", "CHF", "SEK", "NOK", "DKK", "CAD", "AUD", "JPY", "PLN"))
_IN_CURRENCY: Final = re.compile(
    rf"(?:in |denominated in )?(?P<currency>\w+(?: \w+){{0,2}}?)(?: denominated)?{_THINGS}"
)
_LIEN: Final = re.compile(
    r"(?:(?:senior |1st |first |2nd |second |3rd |third )?(?:lien|secured|unsecured)|subordinated|mezzanine|unitranche"
    rf"|[12] ?l)(?: (?:first lien|second lien|senior|secured|unsecured|term|bank))*{_THINGS}"
)
_DEFAULTED: Final = re.compile(rf"(?:(?:in )?default|non performing|non accruals?){_THINGS}")
_PERFORMING: Final = re.compile(rf"(?:performing|non default(?:ed)?|accruing){_THINGS}")


def _default(text: str) -> str:
    line = key(text)
    if _PERFORMING.fullmatch(line):
        return "no"
    is_list = titles.is_group(line) and titles.flag_of([line]) == "is_defaulted"
    return "yes" if is_list or _DEFAULTED.fullmatch(line) else ""


def _currency(text: str) -> str:
    match = _IN_CURRENCY.fullmatch(key(text))
    code = currency(match["currency"]) if match else ""
    return code if code in _CURRENCIES else ""


def _lien(text: str) -> str:
    return text if _LIEN.fullmatch(key(text)) else ""


def _country(text: str) -> str:
    return text if country(text) != text else ""


SAYS: Final[Mapping[str, Callable[[str], str]]] = {
    "is_defaulted": _default,
    "currency": _currency,
    "lien_type": _lien,
    "country": _country,
}
"""Field -> what a heading says of it; "" for nothing."""

OF_NAMES: Final = ("currency", "lien_type")
"""Fields of which the name of a sheet says something."""

HEADINGS_MIN: Final = {"country": 2}
"""Headings of a field from which they say something of the loans, where that is more than one."""


@dataclass(frozen=True, slots=True)
class GroupValues:
    """What the headings of groups say of one field."""

    codes: NDArray[np.int32]
    """The place of each loan's value, -1 under no heading."""
    values: tuple[str, ...]

    def without(self, is_no: NDArray[np.bool_]) -> GroupValues:
        """Return those of the loans that stay."""
        return GroupValues(self.codes[~is_no], self.values)


def values_of(line: str) -> dict[str, str]:
    """Return what the name of a sheet says of its loans, by field; titles say flags."""
    text = without_figures(line)
    return {field: value for field in OF_NAMES if (value := SAYS[field](text))}


def values_above(
    odd: OddRows,
    labels: NDArray[np.bool_],
    heads: NDArray[np.bool_],
    totals: NDArray[np.bool_],
    loan_rows: NDArray[np.int64],
) -> dict[str, GroupValues]:
    """Return what headings say of the loans below them, by field.

    Down to the next heading or total. Where each heading of a field has another one right below it, that one heads a
    group within: then only the next heading with one below it ends the group.

    Args:
        labels: which odd rows are headings.
        heads: those of them that begin another group.
        totals: which odd rows are totals of a group.
    """
    local, used = _parse.distinct(np.where(labels, odd.first_text, np.int32(-1)), len(odd.text))
    if not len(used) or len(used) > HEADINGS_MAX or not len(loan_rows):
        return {}
    texts = [without_figures(start_of(odd.text, code)) for code in used.tolist()]
    known: dict[str, tuple[str, ...]] = {}
    codes: dict[str, NDArray[np.int32]] = {}
    for field, value_of in SAYS.items():
        values = [value_of(text) for text in texts]
        if sum(map(bool, values)) >= HEADINGS_MIN.get(field, 1):
            known[field] = tuple(sorted({value for value in values if value}))
            places = [known[field].index(value) if value else -1 for value in values]
            codes[field] = spread_out(np.array(places, np.int32), -1, local)
    heads = heads.copy()
    for of_field in codes.values():
        heads |= of_field >= 0
    above, below = _beside_heads(odd, heads, loan_rows)
    groups: dict[str, GroupValues] = {}
    for field, of_field in codes.items():
        says = of_field >= 0
        is_nested = len(known[field]) > 1 and below[says].all()
        ends = says | (below & ~above if is_nested else heads | totals)
        at = np.searchsorted(odd.rows[ends], loan_rows) - 1
        of_loans = np.append(of_field[ends], np.int32(-1))[at]
        if (of_loans >= 0).any():
            groups[field] = GroupValues(of_loans, known[field])
    return groups


def _beside_heads(
    odd: OddRows, heads: NDArray[np.bool_], loan_rows: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return headings between two others without loans between."""
    at = np.flatnonzero(heads)
    loans_above = np.searchsorted(loan_rows, odd.rows[at])
    is_close = np.diff(loans_above) == 0
    above, below = np.zeros(len(heads), np.bool_), np.zeros(len(heads), np.bool_)
    above[at[1:][is_close]] = True
    below[at[:-1][is_close]] = True
    return above, below
