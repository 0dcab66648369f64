"""Which rows are parts of the position above them: lots, and words about it."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.sheets.rows import words
from core.portfolio.sheets.rows.kinds import RowKinds
from core.portfolio.sheets.rows.odd import OddRows, RowColumns, RowMarks
from core.portfolio.sheets.rows.sums import MOST, ROUND

TOLERANCE: Final = 0.02
"""Currency units by which lots may differ from their position."""

LOTS_MIN: Final = 2
"""Rows that add up to the one above them, from which these are its lots."""

LOTS_MAX: Final = 200
"""Lots of a position."""

_OF_WHICH: Final = re.compile(
    r"\s*\(?\s*(?:(?:of which|di cui|o/w)\b.*|(?:thereof|davon|darunter|hiervon|dont|waarvan)\b(?-i:[^A-Z]*))",
    re.IGNORECASE | re.DOTALL,
)
"""A row that says again what the row above has; what goes on with a capital letter may be a company."""

_ABOUT: Final = re.compile(
    r"\s*(?:(?:(?:prior|previous|last) (?:month|period|quarter|year)|vormonat|unfunded (?:commitment|amount)s?"
    r"|pik (?:accrued|accrual|interest|balance)|accrued (?:interest|pik)|adjustments?"
    r"|(?:lot|contract)s? (?:no\.? ?)?#?\d{1,4})(?:\s*[:(\[\u2013\u2014].*|\s+-\s.*|[\s\d.,%/]*)"
    r"|(?:less|plus|incl\.?|including)\s*:.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A row that says something of that row, where it says nothing else."""


def parts_of_positions(
    columns: RowColumns, odd: OddRows, kinds: RowKinds, has: RowMarks
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return rows with a par of no loan by their words, and those of lots."""
    says_more = np.zeros(len(odd.rows), np.bool_)
    for cells in columns.prices:
        says_more |= cells.present()[odd.rows]
    if columns.facility is not None:
        facility = columns.facility.codes[odd.rows]
        says_more |= columns.facility.present()[odd.rows] & (facility != odd.first_text)
    of_which = ~kinds.identified & odd.matches(_OF_WHICH, whole=True)
    about = kinds.thin & odd.matches(_ABOUT, whole=True) & ~odd.matches(words.COMPANY, whole=True)
    is_part = kinds.rest & ~says_more & (of_which | about)
    is_lot = np.zeros(len(odd.rows), np.bool_)
    if columns.par is not None:
        silent = odd.rows[kinds.rest & (has.silent[odd.rows] & ~kinds.name | kinds.thin)]
        is_lot = np.isin(odd.rows, _lots(columns.par, silent, has)) & ~is_part
    return is_part, is_lot


def _lots(par: NDArray[np.float64], silent: NDArray[np.int64], has: RowMarks) -> NDArray[np.int64]:
    """Return rows of little that add up to the loan right above them.

    Three loans may do so by chance where their par is round: then most of such groups must.
    """
    runs = np.split(silent, np.flatnonzero(np.diff(silent) != 1) + 1) if len(silent) else []
    groups = [run for run in runs if run[0] and has.plain[run[0] - 1] and LOTS_MIN <= len(run) <= LOTS_MAX]
    lots = [run for run in groups if abs(float(par[run].sum()) - float(par[run[0] - 1])) <= TOLERANCE]
    is_most = len(lots) >= max(2, MOST * len(groups))
    certain = [run for run in lots if is_most or np.mod(par[run], ROUND).any()]
    return np.concatenate(certain) if certain else silent[:0]
