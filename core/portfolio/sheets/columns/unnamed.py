"""Weigh what a column without a heading can be, by cells and neighbours.

All of it is a guess that the reader tells: a column of these roles makes a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.model.facts import AGENCIES
from core.portfolio.sheets.columns import content
from core.portfolio.sheets.columns.content import Features
from core.portfolio.sheets.columns.evidence import RoleEvidence

THRESHOLD: Final = 1.6
"""Weight that the cells of such a column must reach for a role."""

OPEN_MIN: Final = -4.0
"""Weight from which a rate or an amount is kept to see whether a relation to other columns speaks for it."""

YEAR: Final = 365.25
FUTURE_DAYS: Final = 400
"""Days after the report within which all dates are payments to come, and none maturities."""
FUTURE_SHARE: Final = 0.85
"""Share of dates after the report from which they are maturities."""
SPREAD_DAYS: Final = 2 * YEAR
"""Days between early and late dates from which they may be maturities where the day of the report is not known."""
OF_FUTURE: Final = 3.2
OF_SPREAD: Final = 1.0

UNDRAWN_SHARE: Final = 0.5
"""Share of zeros from which amounts are what is not drawn."""
SIZE_MIN: Final = 1e8
"""Middle amount from which amounts are sizes of whole facilities."""

RECOVERIES_MAX: Final = 24
"""Different recovery rates of a pool: agencies give them in steps."""
RECOVERY_LEAST: Final = 15.0
RECOVERY_MOST: Final = 75.0
"""Percent between which the middle one of a pool's recovery rates lies."""

FOLLOWS: Final = 0.9
"""Correlation from which one column of prices is another one of last month."""
LIFE_FOLLOWS: Final = 0.9
"""Correlation with the days of maturity from which a column has average lives."""
ROWS_MIN: Final = 8
"""Rows that must tell."""

COPY_SHARE: Final = 0.97
"""Share of equal ratings from which one column is derived from another."""

OF_RATING: Final = 5.0
OF_KIND: Final = 0.6
"""What a kind of rating gains over the next one."""

Look = Callable[[int], Features]
Scores = MutableMapping[int, dict[str, RoleEvidence]]


def add(scores: Scores, look: Look, blank: list[int], as_of: float | None) -> None:
    """Add roles of columns without a heading that cells or neighbours tell.

    Args:
        scores: column -> role -> evidence; those of columns with a heading are final.
        blank: the columns without a heading, from the left.
        as_of: day of the report as a serial; None where it is not known.
    """
    for column in blank:
        features = look(column)
        if features.filled < content.ROWS_FOR_ROLE:
            continue
        roles = scores.setdefault(column, {})
        for role, weight, reason in _roles(features, as_of):
            roles[role] = RoleEvidence(role, -THRESHOLD, weight * features.strength, reasons=(reason,))
        for role, weight in _against(features):
            if role in roles:
                roles[role] = RoleEvidence(role, -THRESHOLD, weight, reasons=roles[role].reasons)
    _add_neighbours(scores, look, blank)


def _roles(features: Features, as_of: float | None) -> Iterator[tuple[str, float, str]]:
    """Yield role, weight and reason of what a column can be by itself."""
    if features.date >= content.MOST:
        yield "maturity_date", *of_maturity(features.days, as_of)
    elif features.number >= content.MOST:
        yield from _figures(features)
    elif features.share("facility") >= content.MOST and features.share("legal") >= content.MOST / 2:
        yield "description", 6.0, "its texts are names of companies with those of facilities"


def of_maturity(days: NDArray[np.float64], as_of: float | None) -> tuple[float, str]:
    """Return what dates weigh as maturities beside the report's day, and why.

    Below 0 they are none.
    """
    days = days[~np.isnan(days)]
    if len(days) < ROWS_MIN:
        return 0.0, ""
    early, middle, late = np.quantile(days, (0.1, 0.5, 0.9)).tolist()
    if as_of is None:
        is_spread = late - early >= SPREAD_DAYS
        return (1.5 + OF_SPREAD, "its dates lie years apart") if is_spread else (0.0, "")
    if float(np.mean(days >= as_of)) < FUTURE_SHARE or late <= as_of + FUTURE_DAYS or middle <= as_of + FUTURE_DAYS / 2:
        return content.WRONG_TYPE, "its dates are no maturities"
    return 1.5 + OF_FUTURE, "its dates lie years after the report"


def _figures(features: Features) -> Iterator[tuple[str, float, str]]:
    sizes = features.sizes
    if not len(sizes):
        return
    middle = float(np.median(sizes))
    if middle >= SIZE_MIN:
        yield "facility_size", 4.0, "its amounts are those of whole facilities"
        return
    if middle >= content.AMOUNT_MIN:
        undrawn = 1.0 - len(sizes) / max(1, int(np.count_nonzero(~np.isnan(features.numbers))))
        if undrawn >= UNDRAWN_SHARE:
            yield "unfunded", 3.5, f"{undrawn:.0%} of its amounts are 0"
        return
    if _is_level(sizes):
        yield "base_rate_level", 3.0, "a few rates off the steps of spreads come again"
        return
    for role in ("all_in_rate", "base_rate_level", "spread", "floor"):
        weight, reason = content.evidence(role, features)
        if weight - THRESHOLD > OPEN_MIN:
            yield role, weight - (0.6 if role == "base_rate_level" else 0.0), reason


LEVELS_MAX: Final = 6
"""Different levels of one reference rate on a day."""
LEVEL_MOST: Final = 8.0


def _is_level(sizes: NDArray[np.float64]) -> bool:
    """Return whether rates are levels of a reference rate: few, off the steps."""
    few = np.unique(sizes)
    if len(sizes) < LEVELS_MAX * 4 or len(few) > LEVELS_MAX or float(few.max()) > LEVEL_MOST:
        return False
    percent = sizes * (100.0 if float(np.median(sizes)) < 0.25 else 1.0)
    return float(np.mean(np.abs(percent * 8 - np.round(percent * 8)) > 1e-6)) > content.MOST


def _against(features: Features) -> Iterator[tuple[str, float]]:
    """Yield roles that the cells of a column without a heading speak against."""
    sizes = features.sizes
    zeros = 1.0 - len(sizes) / max(1, int(np.count_nonzero(~np.isnan(features.numbers))))
    middle = float(np.median(sizes)) if len(sizes) else 0.0
    if middle >= content.AMOUNT_MIN and (zeros >= UNDRAWN_SHARE or middle >= SIZE_MIN):
        yield from (("par_value", content.WRONG_TYPE), ("market_value", content.WRONG_TYPE))
    if _recovery_scale(features):
        yield "price", content.WRONG_TYPE
    if features.filled >= 2 * content.FILLED_FULL and features.distinct < FEW_COMPANIES:
        yield "borrower_name", content.WRONG_TYPE
    if features.share("facility") >= content.MOST and features.share("legal") >= content.MOST / 2:
        yield from (("borrower_name", content.WRONG_TYPE), ("facility_name", content.WRONG_TYPE))


FEW_COMPANIES: Final = 0.25
"""Share of different names below which companies are agents or sponsors, and not borrowers."""


def _recovery_scale(features: Features) -> float:
    """Return the factor to recovery rates in percent: 1, 100, or 0 for none."""
    sizes = features.sizes
    if len(sizes) < ROWS_MIN or len(np.unique(sizes)) > RECOVERIES_MAX or features.number < content.NEARLY_ALL:
        return 0.0
    if len(sizes) < content.NEARLY_ALL * np.count_nonzero(~np.isnan(features.numbers)):
        return 0.0  # floors are 0 on many rows
    scale = 100.0 if float(sizes.max()) <= 1.0 else 1.0
    percent = sizes * scale
    on_steps = np.abs(percent * 2 - np.round(percent * 2)) < 1e-6
    is_between = RECOVERY_LEAST <= float(np.median(percent)) <= RECOVERY_MOST and float(percent.max()) <= 100
    return scale if is_between and bool(on_steps.mean() > content.NEARLY_ALL) else 0.0


def _add_neighbours(scores: Scores, look: Look, blank: list[int]) -> None:
    """Add ratings, recovery rates, prices and lives by other columns."""
    named = {
        column: max(roles.values(), key=lambda evidence: evidence.score).role
        for column, roles in scores.items()
        if roles and column not in blank
    }
    for column in blank:
        features = look(column)
        if features.filled < content.ROWS_FOR_ROLE:
            continue
        roles = scores[column]
        for role, weight, reason in (
            *_ratings(column, features, named, look),
            *_recoveries(column, features, named),
            *_purchases(features, named, look),
            *_lives(features, named, look),
        ):
            roles[role] = RoleEvidence(role, -THRESHOLD, weight * features.strength, reasons=(reason,))
        if "purchase_price" in roles:
            roles.pop("price", None)
        best = max(
            (evidence for evidence in roles.values() if evidence.score > 0),
            key=lambda evidence: evidence.score,
            default=None,
        )
        if best is not None and best.role.startswith(("rating_", "recovery_")):
            named[column] = best.role


def _agency_beside(column: int, named: Mapping[int, str], agencies: tuple[str, ...]) -> str:
    """Return the agency of the nearest column with one; "" where none is near."""
    for distance in range(1, NEAR_COLUMNS + 1):
        for place in (column - distance, column + distance):
            agency = _agency(named.get(place, ""))
            if agency in agencies:
                return agency
    return ""


NEAR_COLUMNS: Final = 4
"""Columns to both sides in which the agency of a column is looked for."""


def _agency(role: str) -> str:
    kind, _, agency = role.rpartition("_")
    is_of_agency = kind.startswith(("rating", "recovery", "watch", "industry"))
    return agency if is_of_agency and agency in AGENCIES else ""


def _ratings(column: int, features: Features, named: Mapping[int, str], look: Look) -> Iterator[tuple[str, float, str]]:
    """Yield which rating of which agency a column without a heading has."""
    if features.share("letters") < content.MOST:
        return
    agencies = ("a",) if features.share("moodys") > 0.3 else ("b", "c")
    agency = _agency_beside(column, named, agencies) or agencies[0]
    kinds = {role: place for place, role in named.items() if role.startswith("rating_") and _agency(role) == agency}
    if len(agencies) > 1 and {f"rating_issuer_{agency}", f"rating_facility_{agency}"} <= kinds.keys():
        agency = "c" if agency == "b" else "b"
        kinds = {role: place for place, role in named.items() if role.startswith("rating_") and _agency(role) == agency}
    order = [f"rating_issuer_{agency}", f"rating_facility_{agency}"]
    if agency == "a":
        order.insert(1, "rating_derived_a")
    issuer = kinds.get(order[0], kinds.get(f"rating_{agency}"))
    if issuer is not None and agency == "a" and not _are_equal(features, look(issuer)):
        order = [f"rating_facility_{agency}", "rating_derived_a"]
    for at, role in enumerate(role_name for role_name in order if role_name not in kinds):
        yield role, OF_RATING + OF_KIND - at * 2 * OF_KIND, "its texts are ratings, by the columns beside it"


def _are_equal(features: Features, features_beside: Features) -> bool:
    """Return whether two columns of texts say the same on nearly all rows."""
    both = (
        (features.codes >= 0) & (features_beside.codes >= 0)
        if len(features.codes) == len(features_beside.codes)
        else np.zeros(0, np.bool_)
    )
    count = int(np.count_nonzero(both))
    return (
        count >= ROWS_MIN
        and int(np.count_nonzero(features.codes[both] == features_beside.codes[both])) >= COPY_SHARE * count
    )


def _recoveries(column: int, features: Features, named: Mapping[int, str]) -> Iterator[tuple[str, float, str]]:
    """Yield whose recovery rates a column has, by the ratings near it."""
    if not _recovery_scale(features):
        return
    agencies = tuple(free_agency for free_agency in AGENCIES if f"recovery_{free_agency}" not in named.values())
    agency = _agency_beside(column, named, agencies)
    if agency:
        yield f"recovery_{agency}", 4.0, "its figures stand on the steps of recovery rates, near ratings"


def _purchases(features: Features, named: Mapping[int, str], look: Look) -> Iterator[tuple[str, float, str]]:
    """Yield a second column of prices as paid, unless last month's."""
    price = next((place for place, role in named.items() if role == "price"), None)
    if price is None or "purchase_price" in named.values() or features.number < content.NEARLY_ALL:
        return
    if content.evidence("price", features)[0] <= 0 or _recovery_scale(features):
        return
    if _correlation(features.numbers, look(price).numbers) < FOLLOWS:
        yield "purchase_price", 3.0, "its figures are prices, and do not follow those of the price"


def _lives(features: Features, named: Mapping[int, str], look: Look) -> Iterator[tuple[str, float, str]]:
    """Yield average lives go with maturities."""
    maturity = next((place for place, role in named.items() if role == "maturity_date"), None)
    if maturity is None or features.number < content.NEARLY_ALL or not len(features.sizes):
        return
    middle = float(np.median(features.sizes))
    if 0.25 <= middle <= 15 and _correlation(features.numbers, look(maturity).days) >= LIFE_FOLLOWS:
        yield "average_life", 5.0, "its figures follow the maturities"


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return how far two columns go together; 0 where too few rows tell."""
    if len(x) != len(y):
        return 0.0
    both = ~np.isnan(x) & ~np.isnan(y)
    if np.count_nonzero(both) < ROWS_MIN:
        return 0.0
    first, second = x[both], y[both]
    if float(np.ptp(first)) == 0.0 or float(np.ptp(second)) == 0.0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
