"""Which rows are parts of the position above them: lots, and words about it."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
    r"\s*(?:\(?\s*(?:of which|thereof|davon|darunter|hiervon|dont|di cui|waarvan|o/w)\b)", re.IGNORECASE
)
"""How a row begins that says again what the row above has."""

_ABOUT: Final = re.compile(
    r"\s*(?:(?:prior|previous|last) (?:month|period|quarter|year)\b|vormonat\b|unfunded (?:commitment|amount)\b"
    r"|pik (?:accrued|accrual|interest|balance)\b|accrued (?:interest|pik)\b|adjustments?\b"
    r"|(?:less|plus|incl\.?|including)\s*:|(?:lot|contract)s? (?:no\.? ?)?#?\d{1,4}\b)",
    re.IGNORECASE,
)
"""How one begins that says something of that row, where it says nothing else."""


def parts_of_positions(columns: RowColumns, odd: OddRows, kinds: RowKinds, has: RowMarks) -> NDArray[np.bool_]:
    """Return which odd rows have a par that is part of the row above, or of no loan."""
    of_which = kinds.rest & odd.matches(_OF_WHICH, whole=False) & ~kinds.identified
    is_part = of_which | kinds.rest & kinds.thin & odd.matches(_ABOUT, whole=False)
    if columns.par is not None:
        silent = odd.rows[kinds.rest & (has.silent[odd.rows] & ~kinds.name | kinds.thin)]
        is_part |= np.isin(odd.rows, _lots(columns.par, silent, has))
    return np.asarray(is_part, np.bool_)


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
