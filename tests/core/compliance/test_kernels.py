"""The contracts of the compiled pass: what it refuses, and its small tails."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

from core.compliance import kernels
from core.portfolio.model.portfolio import Names

RECOVERY = np.full((6, 8), 45.0)
RULES = (80.0, 75.0, 90.0, 85.0, 3.0, 70.0, 150e6, 250e6, True, 0)


def tally(par: list[float], **more: Any) -> kernels.Tally:
    options: dict[str, Any] = {"numbers": {}, "names": {}, "flags": {}, "ranks": {}, "lien": None} | more
    return kernels.tally(
        len(par), {"par_value": np.array(par), **options["numbers"]}, options["names"], options["flags"],
        options["ranks"], options["lien"], RECOVERY, rules=RULES, as_of=nan, base_rate=nan, home=0,
    )  # fmt: skip


def names(*codes: int, count: int = 2) -> Names:
    return Names(np.array(codes, np.int32), tuple("ABCDEFGHIJKLMNOP"[:count]))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"numbers": {"price": np.ones(3)}}, "column price has 3 rows instead of 2"),
        ({"flags": {"cov_lite": np.ones(1, np.uint8)}}, "column cov_lite has 1 rows instead of 2"),
        ({"names": {"obligor": names(0)}}, "column obligor has 1 rows instead of 2"),
        ({"names": {"obligor": names(0, 2)}}, "a name's code is not below the number of names"),
        (
            {"names": {"obligor": names(0, 1), "industry": names(0, 2)}},
            "a name's code is not below the number of names",
        ),
        ({"names": {"industry": names(2, 0)}}, "a name's code is not below the number of names"),
        ({"ranks": {"rating": np.array([3, 25], np.uint8)}}, "a rating rank is above 22"),
    ],
)
def test_columns_that_are_refused(more: dict[str, Any], message: str) -> None:
    """Nothing is read or written beyond an array's end."""
    with pytest.raises(ValueError, match=message):
        tally([1.0, 2.0], **more)


def test_a_tally_needs_rows_and_par() -> None:
    """And is made by the pass alone."""
    with pytest.raises(ValueError, match="at least one row"):
        tally([])
    with pytest.raises(ValueError, match="needs par_value"):
        kernels.tally(1, {}, {}, {}, {}, None, RECOVERY, rules=RULES, as_of=nan, base_rate=nan, home=0)
    with pytest.raises(TypeError):
        kernels.Tally()


def test_negative_codes_are_blank() -> None:
    """Any negative code, not just -1."""
    counted = tally([1.0, 2.0, 4.0], names={"obligor": names(-1, 0, -9), "industry": names(-5, -1, 1)})
    assert counted.obligor_blank == 5.0
    assert counted.industry_par.tolist() == [0.0, 4.0, 3.0]


def test_obligor_industry_is_that_of_its_largest_facility() -> None:
    """A tie goes to the industry that the source names first, and to a blank last."""
    counted = tally(
        [5.0, 5.0, 1.0, 3.0, 3.0], names={"obligor": names(0, 0, 0, 1, 1), "industry": names(1, 0, 1, -1, 1)}
    )
    units = kernels.units(counted, 11.0)
    assert units.tolist() == [1.0, 6 / 11, 0.0]


def test_top_obligors() -> None:
    """The ten largest of many, of equals the first; a net short obligor is none."""
    par = [float(1 + at % 13) for at in range(16)] + [-20.0]
    counted = tally(par, names={"obligor": names(*range(16), 15, count=16)})
    expected = sorted(range(15), key=lambda code: -par[code])[:10]
    assert counted.obligor_count == 15
    assert counted.top_obligors == (expected, [par[code] for code in expected])


def test_many_obligors_have_room() -> None:
    """Tables past a huge page, which come from the system by another way, start at nothing and hold every sum."""
    chance = np.random.default_rng(3)
    code = chance.integers(0, 50_000, 100_000).astype(np.int32)
    par = chance.integers(1, 1000, 100_000).astype(np.float64)
    industry = Names((code % 7).astype(np.int32), tuple("ABCDEFG"))
    expected = np.bincount(code, par, 50_000)
    for _ in range(3):  # the third takes the room of the first
        counted = tally(par.tolist(), names={"obligor": Names(code, range(50_000)), "industry": industry})  # type: ignore[arg-type]
        assert counted.obligor_count == np.count_nonzero(expected)
        assert counted.top_obligors[1] == np.sort(expected)[:-11:-1].tolist()
        assert kernels.obligor_par(counted).tolist() == [*expected, 0.0]
        units = kernels.units(counted, 1e9)
        assert units == pytest.approx([*np.bincount(np.arange(50_000) % 7, expected) / 1e9, 0.0])


def test_an_excess_can_be_filled_again() -> None:
    """Filling one bucket leaves the others, and itself, as they were.

    Three rows of one price go by their names.
    """
    ranks = {
        "rating_agency_a": np.array([17, 17, 17, 15, 17], np.uint8),
        "rating_agency_b": np.array([15, 17, 17, 17, 17], np.uint8),
    }
    numbers = {
        "price": np.array([60.0, 50.0, 60.0, 40.0, 60.0]),
        "purchase_price": np.array([nan, nan, 70.0, nan, nan]),
    }
    counted = tally([1.0, 2.0, 4.0, 8.0, 16.0], numbers=numbers, ranks=ranks)

    def fill(bucket: int, excess: float) -> float:
        return kernels.fill_excess(counted, bucket, excess, lambda row: "ebcda"[row])[0]

    for _ in range(2):
        # 2 at 50, then 16 at 60 (a), 4 at 60 that are carried at 70 as it is (c), 0.5 of 1 at 60 (e)
        assert fill(0, 22.5) == pytest.approx(2 * 0.5 + 16 * 0.4 + 4 * 0.1 + 0.5 * 0.4)
        assert fill(0, 10.0) == pytest.approx(2 * 0.5 + 8 * 0.4)
        # 8 at 40, 2 at 50, 16 at 60 (a), 2 of 4 that are carried at 70 (c)
        assert fill(1, 28.0) == pytest.approx(8 * 0.6 + 2 * 0.5 + 16 * 0.4 + 2 * 0.1)


def test_the_diversity_table_is_checked() -> None:
    """Its length and the average."""
    counted = tally([1.0], names={"obligor": names(0), "industry": names(0)})
    with pytest.raises(ValueError, match="201 rows"):
        kernels.diversity(np.ones(1), np.zeros(200))
    with pytest.raises(ValueError, match="must be positive"):
        kernels.units(counted, nan)


def test_schedules_are_checked() -> None:
    """Rows must be there and arrays equally long.

    Payments that are made, blank or negative count for nothing.
    """
    par, due = np.array([100.0, 100.0]), np.array([nan, 365.25])
    zeros = np.zeros(1)
    with pytest.raises(ValueError, match="names a row that is not there"):
        kernels.scheduled_life(par, due, 0.0, np.array([2]), zeros, zeros)
    with pytest.raises(ValueError, match="names a row that is not there"):
        kernels.scheduled_life(par, due, 0.0, np.array([-1]), zeros, zeros)
    with pytest.raises(ValueError, match="equally long"):
        kernels.scheduled_life(par, due, 0.0, np.array([0]), zeros, np.zeros(2))
    rows = np.array([0, 1, 1, 1, 1])
    days = np.array([365.25, -1.0, 730.5, nan, 10.0])
    amounts = np.array([60.0, 50.0, 50.0, 7.0, -7.0])
    years = kernels.scheduled_life(par, due, 0.0, rows, days, amounts)
    assert np.isnan(years[0])  # 40 are left, and no maturity to pay them at
    assert years[1] == pytest.approx(0.5 * 2 + 0.5 * 1)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0.1 + 0.2, 0.3),
        (-0.0, 0.0),
        (-1e-9, 0.0),
        (2.5000005001, 2.500001),
        (1e15 + 0.25, 1e15 + 0.25),
        (-7.1234567, -7.123457),
    ],
)
def test_rounded(number: float, expected: float) -> None:
    """Six decimals, no negative zero, large numbers untouched."""
    assert str(kernels.rounded(number)) == str(expected)
