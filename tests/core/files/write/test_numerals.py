"""Numbers as text are Python's shortest ones, without the .0 of whole ones."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from core.files.write._numerals import numeral

EDGES = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 999999999999999.9]
EDGES += [1e15, 1e16, 123456789012345680.0, 0.0001, 0.00001, 0.00012345, 1e22, 1e23, 9.5e-7, 0.1 + 0.2, -5.25]


def plain(value: float) -> str:
    return "0" if value == 0 else repr(value).removesuffix(".0")


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e100)
def test_any_number(value: float) -> None:
    assert numeral(value) == plain(value)


def test_powers_their_neighbours_and_every_bit_pattern() -> None:
    powers = [2.0**power for power in range(-1074, 1024)] + [float(f"1e{power}") for power in range(-323, 309)]
    beside = [float(np.nextafter(power, to)) for power in powers for to in (0.0, np.inf)]
    bits = np.random.default_rng(14).integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64)
    tried = EDGES + powers + beside + bits.tolist()
    assert [value for value in tried if np.isfinite(value) and numeral(value) != plain(value)] == []
