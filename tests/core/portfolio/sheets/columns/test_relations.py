"""Relations between columns of figures, and figures that have none."""

from __future__ import annotations

import numpy as np
import pytest

from core.portfolio.sheets.columns.relations import Figures, relations

PAR = np.array([1e6, 2.5e6, 3e6, 4.2e6, 5e6, 1.7e6, 8e5, 9e5])
PRICE = np.array([98.5, 97.0, 99.1, 95.4, 88.0, 99.9, 96.2, 90.3])
UNDRAWN = np.array([0.0, 0.0, 5e5, 0.0, 1e6, 0.0, 2e5, 0.0])
SPREAD = np.array([3.5, 4.0, 4.25, 4.5, 5.0, 5.25, 3.75, 6.0])
BASE = np.array([4.31, 4.31, 4.29, 4.31, 4.29, 4.31, 4.31, 4.29])
FLOOR = np.array([0.0, 0.5, 4.75, 0.0, 0.75, 5.0, 0.0, 0.0])
AMOUNTS = frozenset(("par_value", "market_value", "commitment", "unfunded"))
RATES = frozenset(("spread", "all_in_rate", "base_rate_level"))
PRICES = frozenset(("price",))


@pytest.mark.parametrize(
    ("columns", "likely", "roles"),
    [
        ([PAR, PRICE, PAR * PRICE / 100], [AMOUNTS, PRICES, AMOUNTS], ["par_value", "price", "market_value"]),
        ([PAR + UNDRAWN, PAR, UNDRAWN], [AMOUNTS] * 3, ["commitment", "par_value", "unfunded"]),
        ([BASE + SPREAD, SPREAD, BASE], [RATES] * 3, ["all_in_rate", "spread", "base_rate_level"]),
        ([(BASE + SPREAD) / 100, SPREAD * 100, BASE], [RATES] * 3, ["all_in_rate", "spread", "base_rate_level"]),
        (
            [np.maximum(BASE, FLOOR) + SPREAD, SPREAD, BASE, FLOOR],
            [RATES, RATES, RATES, frozenset(("floor",))],
            ["all_in_rate", "spread", "base_rate_level"],
        ),
        ([BASE + SPREAD, SPREAD], [RATES, frozenset(("spread",))], ["all_in_rate"]),
    ],
)
def test_a_relation_speaks_for_the_role_of_each_column(
    columns: list[Figures], likely: list[frozenset[str]], roles: list[str]
) -> None:
    bonus = relations(dict(enumerate(columns)), dict(enumerate(likely)))
    assert {at: role for at, role in bonus} == dict(enumerate(roles))  # noqa: C416


def test_figures_without_a_relation_gain_nothing() -> None:
    columns = {0: PAR, 1: PAR[::-1] * 1.1, 2: PRICE, 3: SPREAD, 4: SPREAD[::-1] * 1.01}
    likely = {0: AMOUNTS, 1: AMOUNTS, 2: PRICES, 3: RATES, 4: RATES}
    assert relations(columns, likely) == {}


def test_nothing_is_told_by_rows_where_nothing_is_undrawn() -> None:
    assert relations({0: PAR, 1: PAR, 2: PAR * 0.0}, dict.fromkeys(range(3), AMOUNTS)) == {}
