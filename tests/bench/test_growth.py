"""The measure of growth.

Its exponent, and what a child tells of its time and of its memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.growth import SIZES, Growing, exponent, grown
from bench.questions import OURS


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.1, 2.0])
def test_the_exponent_is_the_power_of_the_growth(power: float) -> None:
    assert exponent(SIZES, [3e-7 * size**power for size in SIZES]) == pytest.approx(power, abs=1e-9)


def test_the_first_size_is_left_out_and_the_others_weigh_by_their_places() -> None:
    assert exponent(SIZES, [9.0, 1.0, 10.0, 100.0]) == pytest.approx(1.0)
    assert exponent(SIZES, [9.0, 1.0, 1.0, 100.0]) == pytest.approx(1.0)  # 0 and 2
    assert exponent(SIZES, [9.0, 2.0, 1.0, 100.0]) == pytest.approx((2 - np.log10(2)) / 2)


BYTES_OF_A_ROW = 1_000


def _growing(rows: int, folder: Path) -> Growing:
    """Needs a kilobyte for each row twice, where the making of the data needed thrice that; counts its calls."""
    np.ones(6 * rows * BYTES_OF_A_ROW, np.uint8)
    answer = folder / "told"
    answer.write_text("")

    def work() -> Any:
        with answer.open("a") as file:
            file.write("w")
        first = np.ones(rows * BYTES_OF_A_ROW, np.uint8)
        return first + first

    def check() -> None:
        assert answer.read_text() == "rw"

    def renew() -> None:
        with answer.open("a") as file:
            file.write("r")

    return Growing(work, check, renew)


def _wrong(rows: int, _: Path) -> Growing:
    def check() -> None:
        assert rows < 2_000, f"the answer of {rows:,} rows is wrong"

    return Growing(lambda: None, check)


def test_a_child_tells_the_peak_of_the_work_and_not_of_its_data() -> None:
    prepared = grown(_growing, (1_000, 10_000, 100_000))
    peaks = prepared.facts["peak_bytes_by_rows"]
    assert peaks[1] == pytest.approx(2e7, rel=0.1)
    assert peaks[2] == pytest.approx(2e8, rel=0.02)
    assert prepared.facts["memory_exponent"] == pytest.approx(1.0, abs=0.05)
    assert prepared.facts["time_exponent"] > 0.3
    samples = prepared.works[OURS]
    assert isinstance(samples, list)
    assert prepared.facts["seconds_by_rows"][-1] == np.median(samples)


def test_a_wrong_answer_of_any_size_is_an_error() -> None:
    with pytest.raises(AssertionError, match="the answer of 2,000 rows is wrong"):
        grown(_wrong, (1_000, 2_000))
