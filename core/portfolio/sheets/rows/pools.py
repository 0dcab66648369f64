"""Tell several days or several deals in one list of loans apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import Cells, decode, key
from core.portfolio.model.notes import DataWarning
from core.values import day_of
from core.words import agreed, counted

SAME_SHARE: Final = 0.5
"""Share of the rows of earlier days whose loans stand in the latest day's rows, from which each day has the pool."""

PAR_SHARE: Final = 0.05
"""Share of par by which that of an earlier day may differ: loans are paid back, and lots have sizes of their own."""

LATEST_SHARE: Final = 0.5
"""Rows of the latest day for each row of the fullest day, at least."""

DAYS_SHARE: Final = 0.25
"""Days for each row from which a column has a day of each loan and not of the list."""

DEALS_SHARE: Final = 0.5
"""Names for each row from which a column has a number of each loan and not the deal's name."""

NAMES_SHOWN: Final = 4
"""Deals that a warning names."""

_OF_LOAN: Final = re.compile(r"\beffective\b")
"""Words of a day that is a contract's and not the list's."""

_DAY: Final = re.compile(
    r"date|day|month|month end|period|period end|(?:snapshot|reporting|file|position) (?:date|day|month|period)|datum"
    r"|stichtag|as at"
)
"""The heading of a column that may have the day of the list, as a key."""

_DEAL: Final = re.compile(
    r"(?:deal|fund|clo|portfolio|vehicle|mandate|fonds|sub ?fund)(?: (?:name|id|code|identifier|number|no|ticker))?"
)
"""The heading of a column with the deal of each loan, as a key."""


def row_keys(cells: Sequence[Cells], names: Sequence[Cells]) -> list[NDArray[np.int64]]:
    """Return for each way to know a loan a number by row, -1 without one.

    Args:
        cells: columns of identifiers.
        names: the columns of borrowers and facilities, as far as they are there.
    """
    keys = [column.codes.astype(np.int64) for column in cells]
    if names:
        pair = names[0].codes.astype(np.int64)
        for column in names[1:]:
            pair = np.where(pair < 0, pair, (pair << 32) + column.codes + 1)
        keys.append(pair)
    return keys


def of_earlier_days(
    days: NDArray[np.float64], keys: Sequence[NDArray[np.int64]], par: NDArray[np.float64] | None
) -> NDArray[np.bool_]:
    """Return rows of earlier days, where the latest day lists the same loans.

    None of them where the days are of different loans, or most of the same loans have another par: these may be lots.

    Args:
        par: of the rows; None on a page without it.
    """
    nothing = np.zeros(len(days), np.bool_)
    if not lists_again(days, keys):
        return nothing
    is_earlier = days < np.nanmax(days)
    if par is not None:
        again = [(_again(days, codes), codes) for codes in keys]
        same = [np.count_nonzero(is_again & _same_par(days, codes, par)) for is_again, codes in again]
        if max(same) < SAME_SHARE * max(np.count_nonzero(is_again) for is_again, _ in again):
            return nothing
    return is_earlier


def lists_again(days: NDArray[np.float64], keys: Sequence[NDArray[np.int64]]) -> bool:
    """Return whether the latest day has most of the loans of earlier days again."""
    known, count = np.unique(days[~np.isnan(days)], return_counts=True)
    if len(known) < 2 or count[-1] < LATEST_SHARE * count.max() or not keys:
        return False
    is_again = np.any([_again(days, codes) for codes in keys], axis=0)
    return bool(np.count_nonzero(is_again) >= SAME_SHARE * np.count_nonzero(days < known[-1]))


def _again(days: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return rows of earlier days whose loan the latest day has, too."""
    latest = np.nanmax(days)
    return np.asarray((days < latest) & (codes >= 0) & np.isin(codes, codes[days == latest]), np.bool_)


def _same_par(days: NDArray[np.float64], codes: NDArray[np.int64], par: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return loans whose par on that day is nearly that of the latest."""
    _, loans = np.unique(codes, return_inverse=True)
    known, day = np.unique(days, return_inverse=True)
    _, group = np.unique(loans * len(known) + day, return_inverse=True)
    of_day = np.bincount(group, np.nan_to_num(par))[group]
    latest = np.zeros(len(codes))
    is_latest = days == np.nanmax(days)
    latest[loans[is_latest]] = of_day[is_latest]
    return np.asarray(np.abs(of_day - latest[loans]) <= PAR_SHARE * np.abs(latest[loans]), np.bool_)


def is_day_of_list(heading: str) -> bool:
    """Return whether a heading is that of the list's day, not of a contract's."""
    return _OF_LOAN.search(key(heading)) is None


def is_day(heading: str) -> bool:
    """Return whether a column of this heading may have the day of the list."""
    return _DAY.fullmatch(key(heading)) is not None


def warn_of_days(days: NDArray[np.float64], heading: str, sheet_name: str) -> list[DataWarning]:
    """Warn of loans of several days that are added up."""
    known = np.unique(days[~np.isnan(days)])
    if len(known) < 2 or len(known) > DAYS_SHARE * len(days):
        return []
    message = (
        f"The loans of sheet {sheet_name!r} are of {len(known)} days by column {' '.join(heading.split())!r}, from "
        f"{day_of(float(known[0]))} to {day_of(float(known[-1]))}: they are added up."
    )
    return [DataWarning("days_mixed", message, len(days), ("par_value",))]


def warn_of_earlier(count: int, par: float | None, heading: str, sheet_name: str) -> DataWarning:
    """Warn of rows of earlier days that are left out.

    Args:
        par: their sum; None on a page without par, where they make no par doubtful.
    """
    of_par = "" if par is None else f" with a par of {par:,.2f}"
    message = (
        f"{counted(count, 'row')} of sheet {sheet_name!r}{of_par} {agreed(count, 'is/are')} of an earlier day by "
        f"column {' '.join(heading.split())!r}, and left out."
    )
    return DataWarning("earlier_rows", message, count, ("as_of",) if par is None else ())


def is_of_deals(heading: str) -> bool:
    """Return whether a heading is that of the deal of each loan."""
    return _DEAL.fullmatch(key(heading)) is not None


def warn_of_deals(
    cells: Cells, borrowers: NDArray[np.int64] | None, heading: str, sheet_name: str
) -> list[DataWarning]:
    """Warn of loans of several deals that are added up.

    Not where each deal has one borrower alone: a loan's own deal.

    Args:
        borrowers: a number by row, if there is a column of them.
    """
    if borrowers is not None and not _has_borrowers(cells.codes, borrowers):
        return []
    _, used = _parse.distinct(cells.codes, len(cells.pool.text))
    texts = [" ".join(text.split()) for text in decode(cells.pool.text, used[used >= 0])]
    names = list({key(text): text for text in texts if key(text)}.values())
    if len(names) < 2 or len(names) > DEALS_SHARE * len(cells.codes):
        return []
    shown = ", ".join(map(repr, names[:NAMES_SHOWN])) + (", ..." if len(names) > NAMES_SHOWN else "")
    message = (
        f"Column {' '.join(heading.split())!r} of sheet {sheet_name!r} names {len(names)} deals ({shown}): their loans "
        "are added up."
    )
    return [DataWarning("deals_mixed", message, len(cells.codes), ("par_value",))]


def _has_borrowers(deals: NDArray[np.int32], borrowers: NDArray[np.int64]) -> bool:
    """Return whether a deal has several borrowers."""
    is_known = (deals >= 0) & (borrowers >= 0)
    pairs = np.unique((deals[is_known].astype(np.int64) << 32) + borrowers[is_known])
    return len(pairs) > len(np.unique(pairs >> 32))
