"""The limits that a file publishes for its own tests, where it is certain that a test of ours is meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from core.compliance.matching import Match
from core.compliance.pool_sums import Pool
from core.compliance.result import Direction
from core.portfolio.cells.string_pool import key

_LIMITS: Final[Mapping[str, tuple[float, float]]] = {
    "percent": (1.0, 100.0), "years": (0.5, 20.0), "factor": (5.0, 10_000.0), "score": (5.0, 300.0),
}  # fmt: skip
"""Limits that are in a unit beyond doubt: what lies outside may be a fraction, or basis points."""

_UNITS: Final = {"percent": ("percent", None), "years": ("years",), "factor": ("factor",), "score": ("factor", None)}
"""The units of a published test that are the unit of one of ours; None: its page says none."""


class SheetLimit(NamedTuple):
    """A published limit of a test of ours."""

    value: float
    direction: Direction
    name: str
    cell: str


def limits_of(matches: Iterable[Match], pool: Pool) -> dict[str, SheetLimit]:
    """Return the limits that are taken, by test id.

    In the test's unit and on its side, and the only one that is published.
    """
    by_test: dict[str, list[Match]] = {}
    for match in matches:
        by_test.setdefault(match.test.test_id, []).append(match)
    taken = {}
    for test_id, listed in by_test.items():
        limits = {match.published.trigger for match in listed}
        first = listed[0]
        if len(limits) == 1 and _is_certain(first) and (test_id != "ccc_bucket_pct" or _is_every_agency(listed, pool)):
            (value,) = limits
            assert value is not None
            taken[test_id] = SheetLimit(value, first.side, first.published.name, first.published.cell)
    return taken


def _is_certain(match: Match) -> bool:
    """Return whether column, unit and side are beyond doubt."""
    test, published, side = match
    limit = published.trigger
    if limit is None or published.is_guessed or side != test.threshold_type or test.unit not in _LIMITS:
        return False
    low, high = _LIMITS[test.unit]
    words = key(published.name).split()
    against = {"max": ("minimum", "min"), "min": ("maximum", "max"), "exact": ()}[side]
    if published.unit not in _UNITS[test.unit] or not low < limit <= high or any(word in words for word in against):
        return False
    if published.value is None or published.status is None:
        return True
    passes = published.value <= limit if side == "max" else published.value >= limit
    return passes == (published.status == "pass")


def _is_every_agency(listed: list[Match], pool: Pool) -> bool:
    """Return whether limits of CCC are those of every agency whose bucket counts, or of no agency in particular."""
    agencies = {None if (subject := match.published.subject) is None else subject.agency for match in listed}
    counting = {
        ccc_agency
        for ccc_agency in pool.definition.par_value.ccc_agencies
        if f"rating_agency_{ccc_agency}" in pool.view.ranks
    }
    return None in agencies or agencies >= counting
