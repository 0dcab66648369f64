"""The suites' tests that speak of the deal's home, in words that fit a deal whose home is not the United States."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from core.compliance.suites import TESTS, Test
from core.definition.definition import Definition

US: Final = ("US",)
"""The home that the suites' own words are about."""

OUTSIDE: Final = ("Obligors outside the home country", "Obligors outside the home countries")
"""What the test of foreign obligors is called in a deal of another home: of one country, of several."""

HOMES_MAX: Final = 64
"""Homes whose tests are remembered."""

FOREIGN: Final = "foreign_country_concentration"
_SMALL: Final = "small_facility_concentration"
_OF_HOME: Final = frozenset((FOREIGN, _SMALL))


def at_home(tests: tuple[Test, ...], definition: Definition | None) -> tuple[Test, ...]:
    """Return the tests, those that speak of the United States in words for the definition's home countries where these
    are others; None stands for the suites' own conventions."""
    if definition is None or definition.conventions.home_countries == US:
        return tests
    conventions = definition.conventions
    sizes = conventions.small_facility_home, conventions.small_facility_abroad
    return tuple(
        _word(test.test_id, conventions.home_countries, *sizes) if test.test_id in _OF_HOME else test for test in tests
    )


@lru_cache(maxsize=HOMES_MAX)
def _word(test_id: str, home: tuple[str, ...], small_home: float, small_abroad: float) -> Test:
    """Return a test of the suites in words for a home.

    Facility sizes in the deal's currency.
    """
    test, noun = TESTS[test_id], "the home country" if len(home) == 1 else "the home countries"
    countries = ", ".join(sorted(home))
    if test_id == FOREIGN:
        return replace(
            test,
            name=OUTSIDE[len(home) != 1],
            description=f"Obligors whose country is none of the deal's home: {countries}.",
            formula=f"par with a country outside {noun} / CPA x 100",
        )
    at_home, abroad = f"{small_home / 1e6:,.6g}m", f"{small_abroad / 1e6:,.6g}m"
    return replace(
        test,
        description=f"Facilities too small to trade well: below {at_home} in {noun}, below {abroad} elsewhere.",
        formula=f"par with facility size < {at_home} ({noun}) or < {abroad} (other) / CPA x 100",
    )
