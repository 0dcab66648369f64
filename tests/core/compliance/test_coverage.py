"""Which classes the coverage tests look at, and what is due to them."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from core.compliance import coverage
from core.compliance.coverage import NOTES_MAX, STRUCTURES_MAX, income, structure
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import G1_NOTES, tranches_of
from tests.rows import every


def roles(
    *notes: str, oc: dict[str, float] | None = None, ic: dict[str, float] | None = None
) -> list[tuple[str, float]]:
    """Name and cumulative balance of the OC-tested classes where each note has a balance of 1."""
    built = structure(tranches_of([(name, 1.0) for name in notes], oc=oc, ic=ic), nan, 0.25)
    return [(test.name, built.balance(test.at)) for test in built.oc]


def test_the_structures_of_usual_deals_are_kept_by_what_their_notes_say() -> None:
    """Long names and hundreds of notes are read anew; ranks of another type are other ranks."""
    coverage._structure.cache_clear()
    assert structure(tranches_of(G1_NOTES), 4.0, 0.25) is structure(tranches_of(G1_NOTES), 4.0, 0.25)
    for notes in ([("A" * 501, 1.0)], [("A", 1.0)] * (NOTES_MAX + 1)):
        assert structure(tranches_of(notes), 4.0, 0.25).balance(len(notes) - 1) == len(notes)
    assert coverage._structure.cache_info().currsize == 1
    assert coverage._structure.cache_info().maxsize == STRUCTURES_MAX == NOTES_MAX == 64
    wide = replace(tranches_of([("A", 1.0), ("B", 2.0)]), rank=np.array([1, 2**32 + 1]))  # type: ignore[arg-type]
    assert [group.balance for group in structure(wide, 4.0, 0.25).groups] == [1.0, 2.0]


def test_triggers_name_the_tested_classes() -> None:
    """Those with a trigger; income notes never."""
    assert roles("A", "B", "C", "D", "Sub", oc={"B": 120.0, "D": 105.0}) == [("B", 2.0), ("D", 4.0)]


def test_without_triggers_all_rated_classes_are_tested() -> None:
    """A stands together with B, and so does X.

    Usual triggers are shown by letter, and none reaches the test.
    """
    assert roles("X", "Class A-1", "B", "C", "Sub notes") == [("X/B", 3.0), ("C", 4.0)]
    built = structure(tranches_of(G1_NOTES), nan, 0.25)
    assert [(test.name, test.trigger) for test in built.oc] == [
        ("A/B", 121.6),
        ("C", 114.0),
        ("D", 106.4),
        ("E", 104.2),
    ]
    assert built.sheet_trigger("junior_oc") is None
    assert roles("A") == [("A", 1.0)]
    assert roles("X", "A") == [("X/A", 2.0)]


@pytest.mark.parametrize(
    ("oc", "expected"),
    [
        ({"A": 121.6, "B": 121.6, "C": 114.0}, [("A/B", 2.0), ("C", 3.0)]),
        ({"A": 121.6, "C": 114.0}, [("A/B", 2.0), ("C", 3.0)]),
        ({"A": 130.0, "B": 120.0}, [("A", 1.0), ("B", 2.0)]),
    ],
)
def test_a_is_tested_together_with_b(oc: dict[str, float], expected: list[tuple[str, float]]) -> None:
    """Unless the sheet gives each a trigger of its own."""
    assert roles("A", "B", "C", oc=oc) == expected


@pytest.mark.parametrize("kind", ["oc", "ic"])
@pytest.mark.parametrize(
    ("triggers", "expected"),
    [
        ({"B-1": 121.6, "B-2": 121.6, "C": 114.0}, [("B-1/B-2", 4.0), ("C", 5.0)]),
        ({"B-1": 121.6, "C": 114.0}, [("B-1/B-2", 4.0), ("C", 5.0)]),
        ({"B-2": 121.6}, [("B-2", 4.0)]),
        ({"A-1": 121.6}, [("A-1/B-2", 4.0)]),
        ({"A-1": 121.6, "B-1": 121.6, "B-2": 121.6}, [("A-1/B-2", 4.0)]),
        ({"B-1": 121.6, "B-2": 120.0}, [("B-1", 3.0), ("B-2", 4.0)]),
        ({"A-1": 121.6, "B-1": 121.6, "B-2": 120.0}, [("A-1/B-1", 3.0), ("B-2", 4.0)]),
        ({"A-1": 130.0, "A-2": 130.0, "B-2": 120.0}, [("A-1/A-2", 2.0), ("B-2", 4.0)]),
        ({"A-1": 140.0, "A-2": 130.0, "B-1": 120.0}, [("A-1", 1.0), ("A-2", 2.0), ("B-1/B-2", 4.0)]),
        ({}, [("A-1/B-2", 4.0), ("C", 5.0)]),
    ],
)
def test_the_classes_of_a_letter_are_tested_together(
    kind: str, triggers: dict[str, float], expected: list[tuple[str, float]]
) -> None:
    """Also where they rank one after the other, unless their triggers differ."""
    notes = ("A-1", "A-2", "B-1", "B-2", "C")
    built = structure(tranches_of([(name, 1.0) for name in notes], **{kind: triggers}), nan, 0.25)
    tests = built.oc if kind == "oc" else built.ic
    assert [(test.name, built.balance(test.at)) for test in tests] == expected


def test_notes_without_a_letter_stand_alone() -> None:
    assert roles("Senior Notes", "Mezzanine Notes", oc={"Senior Notes": 120.0}) == [("Senior Notes", 1.0)]


def test_one_rank_is_one_group() -> None:
    """Pari passu classes share balance, interest and the stricter trigger, wherever they stand in the sheet."""
    notes = tranches_of(
        (("A-1", 10.0), ("C", 5.0), ("A-2", 20.0)), rank=[1, 2, 1], coupon=[4.0, 8.0, 4.0],
        oc={"A-1": 110.0, "A-2": 112.0}, deferred_interest=[None, 1.0, None],
    )  # fmt: skip
    built = structure(notes, nan, 0.25)
    assert [(group.name, group.balance) for group in built.groups] == [("A-1/A-2", 30.0), ("C", 6.0)]
    assert built.groups[0].interest_due == pytest.approx(0.3)
    assert built.sheet_trigger("senior_oc") == 112.0


def test_interest_due() -> None:
    """As given, else by coupon, else by base rate and spread.

    Unknown for a class with a balance and none of them.
    """
    notes = tranches_of(
        (("A", 100.0), ("B", 100.0), ("C", 100.0), ("D", 0.0), ("E", 100.0)),
        interest_due=[1.5, None, None, None, None],
        coupon=[9.0, 8.0, None, None, None],
        spread=[None, None, 200.0, None, None],
        ic={"A": 120.0, "E": 105.0},
    )
    built = structure(notes, 4.0, 0.25)
    assert [group.interest_due for group in built.groups] == [1.5, 2.0, 1.5, 0.0, None]
    assert built.interest_due(3) == pytest.approx(5.0)
    assert built.interest_due(4) is None
    assert structure(notes, nan, 0.25).interest_due(2) is None


def test_ic_roles_fall_back_on_the_oc_tested_classes() -> None:
    """A sheet without IC triggers."""
    built = structure(tranches_of(G1_NOTES, oc={"B": 120.0, "D": 105.0}), nan, 0.25)
    assert [test.name for test in built.ic] == ["B", "D"]
    assert built.sheet_trigger("junior_ic") is None


def test_only_income_notes() -> None:
    """Nothing to test."""
    built = structure(tranches_of((("Sub", 10.0),)), nan, 0.25)
    assert (built.groups, built.oc, built.ic) == ([], [], [])
    assert built.sheet_trigger("senior_ic") is None


def test_a_published_reinvestment_trigger_is_the_diversions_own() -> None:
    notes = tranches_of([("A", 1.0), ("B", 1.0)], oc={"B": 104.2})
    assert structure(notes, nan, 0.25).sheet_trigger("diversion") == 104.7
    assert structure(notes, nan, 0.25, 104.4).sheet_trigger("diversion") == 104.4


REPORTED = {"interest_collected": 4_569_271.28, "interest_receivable": 2_680_870.87, "senior_fees": 181_584.12}
"""A published numerator: 7,068,558.03."""
AS_OF, NEXT_PAYMENT = 20_073.0, 20_109.0


@every(
    "rules, available",
    [
        (REPORTED, 7_068_558.03),
        # 36 of 360 days of 28.8 million a year; never more than a period; a date that is past says nothing.
        (REPORTED | {"interest_receivable": None, "next_payment": NEXT_PAYMENT}, 4_569_271.28 + 2_880_000 - 181_584.12),
        (REPORTED | {"interest_receivable": None, "next_payment": 30_000.0}, 4_569_271.28 + 7_200_000 - 181_584.12),
        (REPORTED | {"interest_receivable": None, "next_payment": 20_072.0}, 7_200_000 - 181_584.12),
        # A whole period's interest, of which a part is collected.
        ({"interest_collected": 4_569_271.28, "senior_fees": 0.0}, 7_200_000.0),
        ({"interest_collected": 8_000_000.0, "senior_fees": 0.0}, 8_000_000.0),
        ({"senior_fees": 0.0}, 7_200_000.0),
        ({"interest_receivable": 1.0, "senior_fees": 0.0}, 7_200_000.0),
        ({}, 7_200_000.0 - 200_000.0),
    ],
)
def test_interest_is_counted_once(rules: dict[str, float], available: float) -> None:
    """Collected and receivable as the file says.

    Only what it does not say is estimated.
    """
    result = income(Deal(**rules), yearly=28.8e6, as_of=AS_OF, bases={"cpa": 400e6})
    assert result["available"] == pytest.approx(available)
    assert ("estimated" in result["interest_basis"]) == (rules != REPORTED)


@every("fees", [181_584.12, -181_584.12])
def test_senior_fees_are_taken_off_once(fees: float) -> None:
    """Whatever sign a page prints them with."""
    deal = Deal(**(REPORTED | {"senior_fees": fees}))
    assert income(deal, yearly=0.0, as_of=AS_OF, bases={"cpa": 0.0})["available"] == pytest.approx(7_068_558.03)


def test_other_items_of_the_files_own_numerator() -> None:
    """Contego's numerator.

    Financed accrued interest is taken off beside the senior items.
    """
    deal = Deal(
        interest_collected=4_517_056.36, interest_receivable=2_434_314.84, senior_fees=264_524.65,
        interest_other=-5_416.67,
    )  # fmt: skip
    result = income(deal, yearly=0.0, as_of=AS_OF, bases={"cpa": 0.0})
    assert (result["available"], result["interest_other"]) == (pytest.approx(6_681_429.88), -5_416.67)
