"""A number as its format shows it.

The right values are what Excel shows, read back as a number.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.formula.values import as_displayed, format_value


@pytest.mark.parametrize(
    ("number", "code", "wanted"),
    [
        (10 / 3, "0.00", 3.33),
        (1.005, "0.00", 1.01),  # by its decimal digits, half away from zero
        (-2.345, "0.00", -2.35),
        (-2.345, "0.0;(0.00)", -2.35),
        (2.345, "0.0;(0.00)", 2.3),
        (0.0, "0.0;(0.0);0", 0.0),
        (-0.001, "0.00", 0.0),
        (2.5, "0", 3.0),
        (1234.5678, '#,##0.00 "EUR"', 1234.57),
        (1234.5678, "[$€-407] #,##0.0", 1234.6),
        (0.12345, "0%", 0.12),
        (0.12345, "0.0%", 0.123),
        (1_234_567.0, "#,##0,", 1_235_000.0),
        (1_234_567.0, '0.0,,"m"', 1_200_000.0),
        (123_456.0, "0.00E+00", 123_000.0),
        (0.000123456, "0.0E+0", 0.00012),
        (12_345.0, "##0.0E+0", 12_300.0),
        (0.3, "# ?/?", 2 / 7),
        (2.26, "# ?/4", 2.25),
        (-0.49, "# ??/10", -0.5),
        (150.06, "[>100]0;0.0", 150.0),
        (50.06, "[>100]0;0.0", 50.1),
        (1.26, '_(* #,##0.0_);_(* \\(#,##0.0\\);_(* "-"??_);_(@_)', 1.3),
        (1e300, "0.00", 1e300),
        (10 / 3, "General", 10 / 3),
        (10 / 3, '"about "General', 10 / 3),
        (10 / 3, "@", 10 / 3),
        (5.7, ";;;", 5.7),
        (45_000.76, "yyyy-mm-dd", 45_000.76),
        (0.123456, "[h]:mm", 0.123456),
        (10 / 3, "0.0.0[", 10 / 3),
    ],
)
def test_it_is_rounded_as_it_is_shown(number: float, code: str, wanted: float) -> None:
    assert as_displayed(number, code) == wanted


def test_what_is_shown_and_what_counts_agree() -> None:
    chance = np.random.default_rng(5)
    for number in (chance.normal(0, 1, 300) * 10.0 ** chance.integers(-3, 7, 300)).tolist():
        for places in range(5):
            code = "0." + "0" * places if places else "0"
            counts = as_displayed(number, code)
            assert counts == float(str(format_value(number, code)))
            assert as_displayed(counts, code) == counts
