"""Which figures make a total.

Levels, proof, traps of chance, and identities that fail.
"""

from __future__ import annotations

from dataclasses import replace

from core.portfolio.pages.report.identities import (
    CollateralFigures,
    Item,
    check_table,
    collateral_principal_amount,
    makes,
    numerator,
    solve_signs,
)
from tests.rows import every

TOTAL = Item("cpa", 375_654_456.51, ("T!A1",))
PAR = Item("par", 380_139_061.10, ("T!A2",))
CASH = Item("cash", -4_484_604.59, ("T!A3",))
SETTLED = Item("cash", 6_188_370.28, ("T!A4",))
PLAIN = CollateralFigures(totals=(TOTAL,), par=(PAR,), cash=(SETTLED, CASH))


@every("figures, cash, roles, is_proved", [
    (PLAIN, -4_484_604.59, ["par", "cash"], True),
    # A zero balance and a par that is the total itself say nothing.
    (replace(PLAIN, par=(replace(TOTAL, role="par", places=("T!B1",)), PAR), cash=(Item("cash", 0.0), CASH)),
     -4_484_604.59, ["par", "cash"], True),
    # Two totals that two accounts make: the first, unproved.
    (replace(PLAIN, totals=(TOTAL, replace(TOTAL, amount=386_327_431.38))), -4_484_604.59, ["par", "cash"], False),
    # Defaulted par is taken off whatever its sign, and may be carried at something.
    (replace(PLAIN, totals=(replace(TOTAL, amount=374_654_456.51),), defaulted=(Item("defpar", 1e6),)),
     -4_484_604.59, ["par", "defpar", "cash"], True),
    (replace(PLAIN, totals=(replace(TOTAL, amount=374_854_456.51),), defaulted=(Item("defpar", -1e6),),
             carried=(Item("defcarry", 2e5),)), -4_484_604.59, ["par", "defpar", "defcarry", "cash"], True),
    # Without a printed amount, a total of par and cash; without a word for cash, whatever is missing.
    (replace(PLAIN, totals=(), sums=(TOTAL,)), -4_484_604.59, ["par", "cash"], True),
    (replace(PLAIN, cash=(), others=(Item("cash", 1.0), CASH)), -4_484_604.59, ["par", "cash"], True),
])  # fmt: skip
def test_the_collateral_principal_amount(
    figures: CollateralFigures, cash: float, roles: list[str], is_proved: bool
) -> None:
    solution, identity = collateral_principal_amount(figures)
    assert solution is not None
    assert identity is not None
    assert (solution.parts[-1].amount, [part.role for part in solution.parts]) == (cash, roles)
    assert (identity.holds, identity.is_proved) == (True, is_proved)
    assert identity.total == solution.total.amount


def test_an_identity_that_fails_stands_there() -> None:
    solution, identity = collateral_principal_amount(replace(PLAIN, cash=(SETTLED,)))
    assert solution is None
    assert identity is not None
    assert (identity.holds, identity.is_proved) == (False, False)
    assert identity.parts == (("par", 380_139_061.10), ("cash", 6_188_370.28))
    assert identity.places == ("T!A1", "T!A2", "T!A4")
    assert collateral_principal_amount(replace(PLAIN, par=())) == (None, None)


def test_a_zero_proves_nothing_beside_a_printed_balance() -> None:
    alike = replace(PLAIN, par=(replace(TOTAL, role="par", places=("T!B1",)),), cash=(SETTLED, Item("cash", 0.0)))
    solution, identity = collateral_principal_amount(alike)
    assert solution is None
    assert identity is not None
    assert not identity.holds
    solution, identity = collateral_principal_amount(replace(alike, cash=(Item("cash", 0.0),)))
    assert solution is not None
    assert identity is not None
    assert identity.holds


@every("amount, decimals, holds", [(100.004, 2, True), (100.5, 2, False), (100.5, 0, True), (101.5, 0, False)])
def test_half_a_unit_of_the_last_printed_digit(amount: float, decimals: int, holds: bool) -> None:
    assert makes(Item("cpa", amount, (), decimals), [Item("par", 100.0)]) is holds


INTEREST = [Item("tobe", 2_434_314.84), Item("senior", -264_524.65), Item("senior", -9.0), Item("oth_int", 3.0)]


@every("target, bases, is_proved", [
    (6_686_846.55, [Item("coll", 4_517_056.36), Item("coll", 1.0)], True),
    # Two sets that make it prove nothing.
    (6_686_846.55, [Item("coll", 4_517_056.36), Item("coll", 4_517_053.36)], True),
    (4_517_056.36 + 2_434_314.84, [Item("coll", 4_517_056.36), Item("coll", 4_517_065.36)], True),
])  # fmt: skip
def test_numerators(target: float, bases: list[Item], is_proved: bool) -> None:
    """A base and the fewest adjustments."""
    solution = numerator(Item("icnum", target), bases, INTEREST, needs=frozenset(("tobe",)))
    assert solution is not None
    assert sum(part.amount for part in solution.parts) == target
    assert solution.is_proved is is_proved


def test_two_sets_of_as_many_figures_prove_nothing() -> None:
    solution = numerator(
        Item("icnum", 50_010.0),
        [Item("coll", 50_000.0), Item("coll", 50_004.0)],
        [Item("tobe", 10.0), Item("tobe", 6.0)],
    )
    assert solution is not None
    assert not solution.is_proved
    assert numerator(Item("icnum", 50_010.0), [Item("coll", 50_000.0)], []) is None


def test_signs_where_only_one_set_fits() -> None:
    lines = [Item("", 4_569_271.28), Item("", 2_680_870.87), Item("", 181_584.12), Item("", 77.0)]
    solution = solve_signs(Item("icnum", 7_068_558.03), lines)
    assert solution is not None
    assert [part.amount for part in solution.parts] == [4_569_271.28, 2_680_870.87, -181_584.12]
    assert solve_signs(Item("icnum", 3.0), [Item("", 1.0), Item("", 2.0), Item("", 4.0), Item("", 5.0)]) is None
    assert solve_signs(Item("icnum", 10.0), [Item("", float(index)) for index in range(1, 12)]) is None


def test_rows_and_the_total_below_them() -> None:
    rows = [Item("Software", 10.0, ("T!A1",)), Item("Media", 5.0, ("T!A2",))]
    assert check_table("industries", Item("", 15.0, ("T!A3",)), rows).holds
    assert not check_table("industries", Item("", 15.5, ("T!A3",)), rows).holds
