"""What the ratios of all classes leave open of one numerator."""

from __future__ import annotations

import pytest

from core.interpretation.interval import WIDTH_MOST, Interval, interval_of, is_telling
from core.portfolio.model.facts import Fact

NUMERATOR = 401_406_773.76
BALANCES = (248_000_000.0, 288_000_000.0, 312_000_000.0, 338_000_000.0, 352_000_000.0)
"""Of the order of a published report: five classes, ratios to two decimals."""


def ratio(value: float, decimals: int = 2, numerator: float | None = None) -> Fact:
    return Fact(kind="test", label="Par Value", subject=None, value=round(value, decimals), place="'A'!B1",
                decimals=decimals, numerator=numerator)  # fmt: skip


def ratios(decimals: int = 2) -> list[tuple[Fact, float]]:
    return [(ratio(NUMERATOR / balance * 100, decimals), balance) for balance in BALANCES]


def test_the_ratios_of_all_classes_leave_a_narrow_one() -> None:
    interval = interval_of(ratios())
    assert interval is not None
    assert interval.low <= NUMERATOR <= interval.high
    assert 0 < interval.high - interval.low <= WIDTH_MOST * NUMERATOR
    low = max((fact.value - 0.005) / 100 * balance for fact, balance in ratios() if fact.value)
    assert interval.low == pytest.approx(low, abs=1.0)
    assert interval.name == "5 OC ratios together"
    assert interval.middle == pytest.approx((interval.low + interval.high) / 2)


@pytest.mark.parametrize(
    "listed",
    [
        ratios()[:2],  # too few
        ratios(0),  # too wide
        [*ratios(), (ratio(150.0), BALANCES[0])],  # one contradicts the others
        [ratios()[0]] * 5,  # one ratio, printed five times
        [(ratio(NUMERATOR / balance * 100, 2, NUMERATOR), balance) for balance in BALANCES],  # the amount is printed
        [],
    ],
    ids=["few", "wide", "contradiction", "repeated", "printed", "none"],
)
def test_where_there_is_none(listed: list[tuple[Fact, float]]) -> None:
    assert interval_of(listed) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({100.5: 0, 900.0: 1, 500.0: 2}, True),  # the market's reading
        ({100.5: 1, 900.0: 0, 500.0: 2}, True),  # one of two
        ({100.5: 1, 100.2: 1, 900.0: 0}, False),  # two inside
        ({900.0: 0, 500.0: 1}, False),  # none inside
        ({100.5: 3, **{200.0 + at: 3 for at in range(40)}, 1_000.0: 0}, False),  # one of many: by chance
        ({100.5: 0, **{200.0 + at: 3 for at in range(40)}, 1_000.0: 1}, True),
        ({100.5: 0}, True),
    ],
)
def test_one_inside_says_something_where_few_could_be(changes: dict[float, int], expected: bool) -> None:
    assert is_telling(Interval(100.0, 101.0, "ratios", "'A'!B1"), changes) is expected
