"""The limits that a file publishes for its own tests, where it is certain that a test of ours is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from core.compliance.coverage import letter_of
from core.compliance.measures import Pool
from core.compliance.result import Direction, TestResult
from core.compliance.suites import Test
from core.definition.definition import DealTest
from core.definition.names import recognised
from core.definition.terms import SUITE_TESTS
from core.portfolio.cells.parsing import key
from core.portfolio.facts import Fact
from core.portfolio.notes import DataWarning

PARAMETERS: Final = ("agency", "classification", "class", "nth", "line", "of")
"""What a measure may be told, as a definition's document names it."""

_NTH: Final = {"single_obligor_concentration": 1, "top_5_concentration": 5, "industry_concentration": 1,
               "second_industry_concentration": 2}  # fmt: skip
"""Which one by size, or how many, of the suites' tests."""

_WITHOUT: Final = frozenset(("delinquency_pct", "price_below_80_pct", "price_below_90_pct", "quoted_depth_pct"))
"""Tests of the suites that have no published twin: no indenture has them so."""

_COVERAGE: Final = {"oc_ratio": ("oc", -1), "oc_ratio_senior": ("oc", 0), "ic_ratio": ("ic", -1),
                    "ic_ratio_senior": ("ic", 0)}  # fmt: skip
"""Measure and place among the tested classes of the suites' coverage tests."""

_LIMITS: Final[Mapping[str, tuple[float, float]]] = {
    "percent": (1.0, 100.0), "years": (0.5, 20.0), "factor": (5.0, 10_000.0), "score": (5.0, 300.0),
}  # fmt: skip
"""Limits that are in a unit beyond doubt: what lies outside may be a fraction, or basis points."""

_MOODYS_FACTOR_LEAST: Final = 200.0
"""A limit of rating factors from here on is on Moody's scale where the name says no agency: Fitch's ends at 100."""

_UNITS: Final = {"percent": ("percent", None), "years": ("years",), "factor": ("factor",), "score": ("factor", None)}
"""The units of a published test that are the unit of one of ours; None: its page says none."""

SHOWN_MAX: Final = 6
"""Tests that the warning of other figures names."""

DECIMALS_LEAST: Final = 2
DECIMALS_MOST: Final = 6


class SheetLimit(NamedTuple):
    """A published limit of a test of ours."""

    value: float
    direction: Direction
    name: str
    cell: str


class Match(NamedTuple):
    """A published test and the test of ours that it is."""

    test: Test
    published: Fact
    side: Direction


def said_of(test: DealTest) -> dict[str, Any]:
    """What a definition's test measures, in the words of its document."""
    every = {name: getattr(test, "class_" if name == "class" else name) for name in ("measure", "share", *PARAMETERS)}
    return {name: value for name, value in every.items() if value is not None}


def matches(tests: Sequence[Test], own: Mapping[str, DealTest], pool: Pool) -> Iterator[Match]:
    """The published tests that are tests of ours: by a name of the definition, else by what the name says."""
    by_id = {test.test_id: test for test in tests}
    listed = [one for one in own.values() if one.id in by_id]
    by_name = {word: one.id for one in reversed(listed) for word in _names(one)}
    said: dict[tuple[Any, ...], list[tuple[Test, dict[str, Any]]]] = {}
    for test in tests:
        if (words := _said(test.test_id, own, pool)) is not None:
            said.setdefault(_plain(words), []).append((test, words))
    for published in pool.portfolio.facts.tests:
        found = recognised(published.name, published.trigger)
        meant = by_name.get(key(published.name))
        if meant is not None:
            yield Match(by_id[meant], published, by_id[meant].threshold_type if found is None else found[1])
        elif found is not None:
            for test, words in said.get(_plain(found[0]), ()):
                if _is_same(words, found[0], published, pool):
                    yield Match(test, published, found[1])


def _names(test: DealTest) -> Iterator[str]:
    """What a file may call a test of a definition: its name, its id, an alias."""
    return map(key, (test.name, test.id, *test.aliases))


def _plain(said: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is measured, without class, agency and classification."""
    return tuple(said.get(name) for name in ("measure", "share", "nth", "line", "of"))


def _said(test_id: str, own: Mapping[str, DealTest], pool: Pool) -> dict[str, Any] | None:
    if test_id in _COVERAGE:
        if pool.structure is None or not pool.structure.groups:
            return None
        measure, place = _COVERAGE[test_id]
        tested = (pool.structure.oc if measure == "oc" else pool.structure.ic)[place]
        return {"measure": measure, "class": tested.name}
    if (found := own.get(test_id)) is not None:
        return said_of(found)
    if test_id not in SUITE_TESTS or test_id in _WITHOUT:
        return None
    return {"measure": SUITE_TESTS[test_id]} | ({"nth": _NTH[test_id]} if test_id in _NTH else {})


def _is_same(ours: dict[str, Any], theirs: dict[str, Any], published: Fact, pool: Pool) -> bool:
    """Whether two of one measure have the same class, agency and classification."""
    if "class" in ours or "class" in theirs:
        return _last_letter(ours.get("class")) == _last_letter(theirs.get("class"))
    measure, agency = ours.get("measure"), theirs.get("agency")
    if measure == "warf" and agency is None and (published.trigger or 0.0) >= _MOODYS_FACTOR_LEAST:
        agency = "a"
    if measure == "warf":
        return bool(agency == ours.get("agency", "a"))
    if measure == "warr":
        return bool(agency == ours.get("agency", pool.view.recovery_agency))
    if measure == "industry" and (listed := theirs.get("classification")) is not None:
        return bool(listed == ours.get("classification", pool.view.industry_agency))
    if measure == "foreign_country":
        return _is_home(key(published.name), pool)
    return bool(measure == "ccc" and "agency" not in ours) or agency == ours.get("agency")


def _is_home(words: str, pool: Pool) -> bool:
    """Whether the home that a name speaks of is the one of the conventions, as far as it names one."""
    home = pool.definition.conventions.home_countries
    if _EUROPE.search(words):
        return not _AMERICA.search(words) and "DE" in home and "US" not in home
    return not _AMERICA.search(words) or ("US" in home and "DE" not in home)


_EUROPE: Final = re.compile(r"\b(?:europe|european|eu)\b")
_AMERICA: Final = re.compile(r"\b(?:usa?|u s a?|united states)\b")


def _last_letter(name: str | None) -> str:
    return letter_of((name or "").rpartition("/")[2])


def limits_of(found: Iterable[Match], pool: Pool) -> dict[str, SheetLimit]:
    """The limits that are taken, by test id: in the test's unit and on its side, and the only one that is published."""
    given: dict[str, list[Match]] = {}
    for match in found:
        given.setdefault(match.test.test_id, []).append(match)
    taken = {}
    for test_id, listed in given.items():
        limits = {match.published.trigger for match in listed}
        first = listed[0]
        if len(limits) == 1 and _is_certain(first) and (test_id != "ccc_bucket_pct" or _is_every_agency(listed, pool)):
            (value,) = limits
            assert value is not None
            taken[test_id] = SheetLimit(value, first.side, first.published.name, first.published.cell)
    return taken


def _is_certain(match: Match) -> bool:
    """Whether unit and side are beyond doubt."""
    test, published, side = match
    limit = published.trigger
    if limit is None or side != test.threshold_type or test.unit not in _LIMITS:
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
    """Whether limits of CCC are those of every agency whose bucket counts, or of no agency in particular."""
    agencies = {recognised(match.published.name, None)[0].get("agency") for match in listed}  # type: ignore[index]
    counting = {one for one in pool.definition.par_value.ccc_agencies if f"rating_agency_{one}" in pool.view.ranks}
    return None in agencies or agencies >= counting


def tolerance_of(printed: float) -> float:
    """Half a unit of the last digit that is printed, of at least two decimals: trailing zeros are not known."""
    decimals = len(f"{printed:.{DECIMALS_MOST}f}".rstrip("0").partition(".")[2])
    return 0.5 * 10.0 ** -max(DECIMALS_LEAST, decimals) + 1e-9


def other_figures(found: Iterable[Match], results: Iterable[TestResult]) -> Iterator[DataWarning]:
    """A warning where the file publishes another figure or status than a result."""
    if not (found := tuple(found)):
        return
    by_id = {result.test_id: result for result in results}
    told = []
    for test, published, _ in found:
        result, value = by_id.get(test.test_id), published.value
        if result is None or value is None or abs(result.current_value - value) <= tolerance_of(value):
            continue
        if test.test_id == "ccc_bucket_pct":
            continue  # each agency's figure beside the greatest of all
        here = "fail" if result.status == "fail" else "pass"
        differs = published.status is not None and published.status != here
        words = f" ({here} here, {published.status} there)" if differs else ""
        told.append((not differs, f"{result.test_name} {value:g}, here {result.current_value:.2f}{words}"))
    if told:
        more = f" and {len(told) - SHOWN_MAX} more" if len(told) > SHOWN_MAX else ""
        shown = "; ".join(words for _, words in sorted(told, key=lambda one: one[0])[:SHOWN_MAX])
        yield DataWarning("published_differs", f"the file publishes other figures: {shown}{more}", len(told))
