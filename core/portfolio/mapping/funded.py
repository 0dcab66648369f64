"""Choose the column of par: as funded, by its basis, or the sum of two."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import number_cells
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.string_pool import Cells, key
from core.portfolio.model.fields import Lien
from core.portfolio.model.notes import DataWarning
from core.portfolio.pages.currency import CAMEL
from core.portfolio.sheets.columns.vocabulary import tokens_of
from core.portfolio.sheets.headings.days import is_before
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.headings.wording import without_unit
from core.words import counted

Values = NDArray[np.float64]

CENT: Final = 0.01
"""Currency units by which rounded figures may differ."""

AGREE_SHARE: Final = 0.99
"""Share of the loans with something undrawn, of which it must not be more than is committed."""

_FUNDED: Final = re.compile(r"\b(?:funded|drawn)\b")
_COMMITMENT: Final = re.compile(r"\bcommit(?:ment|ments|ted)\b")
_LIVE: Final = re.compile(r"\b(?:outstanding|current|traded|settled)\b")
_UNDRAWN: Final = re.compile(r"\b(?:un(?:funded|drawn|used)|not (?:funded|drawn)|available|fees?)\b")


def _words(header: HeaderMatch, column: int) -> str:
    return without_unit(key(header.texts.get(column, "")))


def is_commitment(header: HeaderMatch, column: int) -> bool:
    """Return whether a column has what is committed, drawn or not."""
    words = _words(header, column)
    evidence = header.evidence.get(column)
    return not _UNDRAWN.search(words) and (
        bool(_COMMITMENT.search(words)) or (evidence is not None and evidence.role == "commitment")
    )


def is_funded(header: HeaderMatch, column: int) -> bool:
    """Return whether a column's heading says that it has what is funded."""
    words = _words(header, column)
    return bool(_FUNDED.search(words)) and not _UNDRAWN.search(words) and not _COMMITMENT.search(words)


def funded_place(header: HeaderMatch, own: int) -> int | None:
    """Find the column of funded balances where another one comes first.

    That one's heading does not say that it is today's, and a third has commitments: the first may be the balance of the
    day the loan was made. None where nothing speaks for it.

    Args:
        own: the columns for par that a mapping names itself: these stand.
    """
    places = header.columns.get("par_value", [])
    if len(places) < 2 or header.preferences.get(("par_value", places[0]), 0) < own:
        return None
    first = places[0]
    if (
        is_funded(header, first)
        or _LIVE.search(_words(header, first))
        or not any(is_commitment(header, at) for at in places)
    ):
        return None
    return next((place for place in places[1:] if is_funded(header, place)), None)


def tell_of_funded(loans: Loans, header: HeaderMatch, place: int, first: int, cells: Callable[[int], Cells]) -> None:
    """Warn that funded balances go before another column, where the two differ.

    Args:
        first: the other column.
    """
    par = loans.numbers.get("par_value")
    if par is None:
        return
    commitments = number_cells.read_numbers(cells(first)).values * header.magnitude(first)
    count = int(np.count_nonzero(np.abs(par - commitments) > CENT))
    if count:
        names = [" ".join(header.texts[at].split()) for at in (place, first)]
        message = f"Par is the column {names[0]!r}, which differs from {names[1]!r} for {counted(count, 'loan')}."
        loans.notes.warnings.append(DataWarning("par_is_funded", message, count))


def settle_commitments(loans: Loans, header: HeaderMatch, place: int, cells: Callable[[int], Cells]) -> None:
    """Give bonds their commitment for a balance of 0; take the undrawn off loans.

    Args:
        place: the column that par is read from.
        cells: a column's cells of the loans.
    """
    par = loans.numbers.get("par_value")
    if par is None:
        return
    if is_commitment(header, place):
        _less_unfunded(loans, par, header.texts.get(place, ""))
        return
    commitment_place = next(
        (at for at in header.columns.get("par_value", []) if at != place and is_commitment(header, at)), None
    )
    if commitment_place is None:
        return
    bonds = (par == 0) & _bonds(loans)
    if bonds.any():
        commitment = number_cells.read_numbers(cells(commitment_place)).values * header.magnitude(commitment_place)
        loans.numbers["par_value"] = np.where(bonds, commitment, par)


def _bonds(loans: Loans) -> NDArray[np.bool_]:
    """Return which loans are bonds: by lien, or by ISIN beside loans with LoanX ids."""
    bonds = np.zeros(loans.row_count, np.bool_) if loans.lien is None else loans.lien == Lien.BOND
    loanx, isin = loans.texts.get("loanx_id"), loans.texts.get("isin")
    if loanx is not None and isin is not None and (loanx.codes >= 0).any():
        bonds |= (loanx.codes < 0) & (isin.codes >= 0)
    return np.asarray(bonds, np.bool_)


def _less_unfunded(loans: Loans, commitment: NDArray[np.float64], heading: str) -> None:
    """Take what is not drawn off the commitments, where it is nowhere more."""
    unfunded = loans.numbers.get("unfunded")
    if unfunded is None:
        return
    undrawn = np.nan_to_num(unfunded) > 0
    fits = undrawn & (unfunded <= commitment + CENT)
    if not undrawn.any() or np.count_nonzero(fits) < AGREE_SHARE * np.count_nonzero(undrawn):
        return
    loans.numbers["par_value"] = np.where(fits, commitment - np.nan_to_num(unfunded), commitment)
    count = int(np.count_nonzero(fits))
    message = (
        f"Par is the column {' '.join(heading.split())!r} less what {counted(count, 'loan', 'has/have')} not drawn: "
        "no column has what is funded."
    )
    loans.notes.warnings.append(DataWarning("par_less_unfunded", message, count))


# ---- basis ----------------------------------------------------------------------------------------------------------


_SETTLED: Final = re.compile(r"\b(?:settled?|settlement|stld?)\b")
_TRADED: Final = re.compile(r"\b(?:traded?|trd)\b")
_LOCAL: Final = re.compile(r"\b(?:native|local)\b|\b(?:issue|asset|loan|original|security) (?:currency|ccy|curr)\b")
_DEALS: Final = re.compile(
    r"\b(?:deal|base|reporting|fund|portfolio) (?:currency|ccy|curr|par|amt|amount|bal|balance|principal)\b"
    r"|\b(?:usd|eur|gbp|us dollars?|euros?)\b"
)


def basis_place(header: HeaderMatch, own: int) -> int | None:
    """Find the column whose heading names a better basis than the first one's.

    None where the first one says nothing of its basis, or no other one says the better one.

    Args:
        own: the columns for par that a mapping names itself: these stand.
    """
    places = [place for place in header.columns.get("par_value", []) if place not in header.demoted]
    if len(places) < 2 or header.preferences.get(("par_value", places[0]), 0) < own:
        return None
    words = {place: key(CAMEL.sub(" ", header.texts.get(place, ""))) for place in places}
    best, avoided = _not_of_closing(header, places), list[re.Pattern[str]]()
    for worse, better in ((_LOCAL, _DEALS), (_SETTLED, _TRADED)):
        if worse.search(words[best]):
            unfit = [*avoided, worse]
            fitting = (at for at in places if better.search(words[at]))
            best = next((at for at in fitting if not any(bad.search(words[at]) for bad in unfit)), best)
        if not worse.search(words[best]):
            avoided.append(worse)
    return best if best != places[0] else None


OF_AMOUNTS: Final = frozenset(("balance", "par", "principal", "amount", "face", "outstanding", "notional"))
"""Words of a heading that say of an amount that it is par."""


def opens(text: str) -> bool:
    """Return whether a heading is of an opening balance: a closing one is current."""
    words = tokens_of(text)
    return is_before(text) and (len(words) < 2 or not OF_AMOUNTS.isdisjoint(words))


def _not_of_closing(header: HeaderMatch, places: list[int]) -> int:
    """Return the first column of par that is no closing balance by itself."""
    if "closing" not in tokens_of(header.texts.get(places[0], "")) or any(map(opens, header.texts.values())):
        return places[0]
    others = (
        at
        for at in places[1:]
        if (evidence := header.evidence.get(at)) is not None
        and evidence.role == "par_value"
        and "closing" not in tokens_of(header.texts.get(at, ""))
    )
    return next(others, places[0])


_PARTS: Final = (re.compile(r"\bassign(?:ed|ments?)?\b"), re.compile(r"\bparticipat(?:ed|ions?)\b"))

_WHOLE: Final = re.compile(r"\b(?:total|incl|including|includes|inclusive|and|gross|plus|with|w|all)\b")
"""Words of a heading whose column has both parts."""


def part_place(header: HeaderMatch, place: int) -> int | None:
    """Find the column of participations beside par of assignments, or vice versa.

    Args:
        place: the column that par is read from.
    """
    texts = {at: key(CAMEL.sub(" ", header.texts.get(at, ""))) for at in header.columns.get("par_value", [])}
    if _WHOLE.search(texts.get(place, "")):
        return None
    for part, rest in (_PARTS, _PARTS[::-1]):
        if part.search(texts.get(place, "")) and not rest.search(texts.get(place, "")):
            others = [at for at, text in texts.items() if rest.search(text) and not part.search(text)]
            return others[0] if len(others) == 1 and not _WHOLE.search(texts[others[0]]) else None
    return None


def is_whole(header: HeaderMatch, places: tuple[int, int], values: tuple[Values, Values]) -> bool:
    """Return whether the column of participations has the assignments, too.

    It is nowhere less than these.

    Args:
        places: columns of par of either kind.
        values: what they have.
    """
    first, second = map(np.nan_to_num, values)
    if _PARTS[1].search(key(CAMEL.sub(" ", header.texts.get(places[0], "")))):
        first, second = second, first
    return bool((second >= first).all())
