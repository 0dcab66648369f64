"""The deal's notes by seniority.

Which classes the coverage tests look at, each one's ratio, the period's interest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from math import isfinite, nan
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from core.compliance.fees import senior_fees
from core.compliance.kernels import rounded
from core.compliance.period import DAYS_IN_INTEREST_YEAR, period_years
from core.compliance.result import Direction, Status
from core.definition.definition import InterestCoverage, NoteClass
from core.frames.brief import brief
from core.portfolio.model.portfolio import Deal, Tranches
from core.remembered import CHARACTERS_MAX, remembered

DEFAULT_OC_TRIGGERS: Final = {"A": 121.60, "B": 121.60, "C": 114.00, "D": 106.40, "E": 104.20, "F": 103.20}
"""Percent by class letter, shown beside a class whose sheet has no trigger (Ares 2023-68A; F an estimate)."""

DEFAULT_IC_TRIGGERS: Final = {"A": 120.0, "B": 120.0, "C": 115.0, "D": 110.0, "E": 105.0}

DIVERSION_STEP: Final = 0.50
"""Percent points by which the interest diversion test stands above the junior OC trigger."""

AS_PRINTED: Final = "as the file prints it, without its parts"
"""Basis of an interest coverage numerator of which the file has nothing but the sum."""

TOLERANCE: Final = 1e-9
"""A figure this near to its limit stands on it."""

STRUCTURES_MAX: Final = 64
"""Deals whose notes' structures are kept."""

NOTES_MAX: Final = 64
"""Notes of a deal whose structure is kept, with short names: a file may have hundreds with long ones."""


Role = Literal["senior_oc", "junior_oc", "senior_ic", "junior_ic", "diversion"]


class NoteGroup(NamedTuple):
    """Notes of one rank, which share losses and payments alike."""

    name: str
    letter: str
    balance: float
    """Current balance and deferred interest."""
    interest_due: float | None
    """Of the period; None where it cannot be told."""
    oc_trigger: float | None
    ic_trigger: float | None


class CoverageGroup(NamedTuple):
    """A group that a coverage test looks at, together with everything senior to it."""

    at: int
    """Its place among the groups."""
    name: str
    trigger: float | None
    """Percent, from the sheet; else the letter's usual one, for the explanation only."""
    from_sheet: bool


@dataclass(frozen=True, slots=True)
class Structure:
    """The rated groups, most senior first, and the tested ones among them."""

    groups: list[NoteGroup]
    oc: list[CoverageGroup]
    ic: list[CoverageGroup]
    reinvestment_trigger: float | None = None
    """Percent: the file's own limit for the interest diversion test."""

    def balance(self, index: int) -> float:
        """Balance of the group and of everything senior."""
        return sum(group.balance for group in self.groups[: index + 1])

    def interest_due(self, index: int) -> float | None:
        """Interest due on the group and all senior to it. None where one is not known."""
        due = [group.interest_due for group in self.groups[: index + 1]]
        known = [amount for amount in due if amount is not None]
        return sum(known) if len(known) == len(due) else None

    def sheet_trigger(self, role: Role) -> float | None:
        """Return the limit that the tranche sheet sets for a role, percent, or None."""
        if not self.groups:
            return None
        if role == "diversion" and self.reinvestment_trigger is not None:
            return self.reinvestment_trigger
        tests = self.ic if role.endswith("_ic") else self.oc
        tested = tests[0 if role.startswith("senior") else -1]
        if not tested.from_sheet or tested.trigger is None:
            return None
        return tested.trigger + DIVERSION_STEP if role == "diversion" else tested.trigger

    __repr__ = brief


def structure(
    tranches: Tranches, base_rate: float, period_years: float, reinvestment_trigger: float | None = None
) -> Structure:
    """Return the groups and roles of a deal's notes.

    `base_rate` in percent, NaN where there is none. Kept by what the notes say, which is the same from run to run.
    """
    classes = tuple(tranches.classes)
    columns = tuple((column.dtype.str, column.tobytes()) for column in (getattr(tranches, name) for name in _COLUMNS))
    is_short = len(classes) <= NOTES_MAX and sum(map(len, classes)) <= CHARACTERS_MAX
    return (_structure if is_short else _structure.__wrapped__)(
        classes, columns, base_rate, period_years, reinvestment_trigger
    )


_COLUMNS: Final = (
    *("rank", "is_income", "current_balance", "deferred_interest", "coupon", "spread", "interest_due"),
    *("oc_trigger", "ic_trigger"),
)
"""What a structure reads of the notes beside their classes."""


@lru_cache(maxsize=STRUCTURES_MAX)
def _structure(
    classes: tuple[str, ...],
    columns: tuple[tuple[str, bytes], ...],
    base_rate: float,
    period_years: float,
    reinvestment_trigger: float | None,
) -> Structure:
    groups: list[NoteGroup] = []
    rank_before = None
    notes = _notes(classes, columns, base_rate, period_years)
    for rank, note in sorted(notes, key=itemgetter(0)):  # stable within a rank
        if groups and rank == rank_before:
            groups[-1] = _join(groups[-1], note)
        else:
            groups.append(note)
        rank_before = rank
    oc = _tested(groups, [group.oc_trigger for group in groups], DEFAULT_OC_TRIGGERS)
    if any(group.ic_trigger is not None for group in groups):
        ic = _tested(groups, [group.ic_trigger for group in groups], DEFAULT_IC_TRIGGERS)
    else:
        ic = [test._replace(trigger=DEFAULT_IC_TRIGGERS.get(groups[test.at].letter), from_sheet=False) for test in oc]
    return Structure(groups, oc, ic, reinvestment_trigger)


def _notes(
    classes: tuple[str, ...], columns: tuple[tuple[str, bytes], ...], base_rate: float, period_years: float
) -> Iterator[tuple[int, NoteGroup]]:
    """Every rated note with its rank, as a group of its own."""
    values = (np.frombuffer(column, kind).tolist() for kind, column in columns)
    for name, rank, is_income, balance, deferred, coupon, spread, due, oc_trigger, ic_trigger in zip(
        classes, *values, strict=True
    ):
        if is_income:
            continue
        if not isfinite(balance):
            balance = 0.0
        if not isfinite(due):
            # A blank coupon is the base rate and the spread; NaN where these are blank too.
            due = balance * (coupon if isfinite(coupon) else base_rate + spread / 100) / 100 * period_years
        yield (
            rank,
            NoteGroup(
                name,
                letter_of(name),
                balance + deferred if isfinite(deferred) else balance,
                due if isfinite(due) else None if balance else 0.0,
                oc_trigger if isfinite(oc_trigger) else None,
                ic_trigger if isfinite(ic_trigger) else None,
            ),
        )


def _join(first: NoteGroup, second: NoteGroup) -> NoteGroup:
    """Two groups of one rank as one; the stricter trigger holds."""
    due = None
    if first.interest_due is not None and second.interest_due is not None:
        due = first.interest_due + second.interest_due
    return NoteGroup(
        f"{first.name}/{second.name}",
        first.letter,
        first.balance + second.balance,
        due,
        max((t for t in (first.oc_trigger, second.oc_trigger) if t is not None), default=None),
        max((t for t in (first.ic_trigger, second.ic_trigger) if t is not None), default=None),
    )


@remembered(4_096)
def letter_of(name: str) -> str:
    """Return the letter of a class: "Class A-1" and "A1" give A.

    "" for a name without one.
    """
    match = re.match(r"\s*(?:class|tranche|notes?)?\s*([A-Za-z])(?![A-Za-z])", name, re.IGNORECASE)
    return match[1].upper() if match else ""


def _tested(groups: list[NoteGroup], triggers: list[float | None], usual: dict[str, float]) -> list[CoverageGroup]:
    """Return the groups with a trigger.

    Where the sheet has none, all of them, beside their usual triggers.

    Class A (or X) is tested together with B, and the classes of a letter together, though they rank one after the
    other: the test stands at the last of them, unless the sheet gives them different triggers.
    """
    from_sheet = any(trigger is not None for trigger in triggers)
    places: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        places.setdefault(group.letter, []).append(at)
    tested: dict[int, CoverageGroup] = {}
    for at, group in enumerate(groups):
        if from_sheet and triggers[at] is None:
            continue
        last = _last(places, triggers, group.letter, at)
        if last not in tested:
            name = group.name if last == at else f"{group.name}/{groups[last].name}"
            trigger = triggers[at] if from_sheet else usual.get(groups[last].letter)
            tested[last] = CoverageGroup(last, name, trigger, from_sheet)
    return [tested[at] for at in sorted(tested)]


def _last(places: dict[str, list[int]], triggers: list[float | None], own: str, at: int) -> int:
    """Where the test of the group at `at` stands.

    At the last of the groups that it is tested with.
    """
    for letter in _TESTED_WITH.get(own, own):
        below = [place for place in places.get(letter, ()) if place > at]
        alike = list(takewhile(lambda place: triggers[place] in (None, triggers[at]), below)) if below else below
        # Beside different triggers, another letter's blank ones are not this group's.
        if alike and (letter == own or alike == below or any(triggers[place] is not None for place in alike)):
            return alike[-1]
    return at


_TESTED_WITH: Final = {"A": "BA", "X": "BAX"}
"""The letters with which a class is tested, first choice first; of the others each with its own."""


def tested_letters(structure: Structure, tested: CoverageGroup, *, is_first: bool) -> tuple[str, ...]:
    """The letters of the classes of a test.

    Where the first trigger stands at B alone, the test is that of A and B.
    """
    letters = tuple(dict.fromkeys(letter_of(name) for name in tested.name.split("/")))
    is_of_both = letters == ("B",) and is_first and structure.groups[0].letter in ("A", "X")
    return ("A", "B") if is_of_both else letters


def with_triggers(tranches: Tranches, tested: Sequence[NoteClass]) -> Tranches:
    """Return the notes under the triggers of a definition's classes, each at the notes of its last letter; without
    classes, or where none of them is among the notes, under their own."""
    if not tested:
        return tranches
    triggers = {
        letter_of(tested_class.name.rpartition("/")[2]): (tested_class.oc_trigger, tested_class.ic_trigger)
        for tested_class in tested
    }
    letters = [letter_of(name) for name in tranches.classes]
    rows = [triggers.get(letter, (None, None)) if letter else (None, None) for letter in letters]
    if not any(letter in triggers for letter in letters if letter):
        return tranches
    oc, ic = (np.array([nan if row[at] is None else row[at] for row in rows], np.float64) for at in (0, 1))
    return replace(tranches, oc_trigger=oc, ic_trigger=ic)


def income(
    deal: Deal,
    *,
    yearly: float,
    as_of: float,
    bases: Mapping[str, float],
    day_count: str = "actual/360",
    rules: InterestCoverage | None = None,
) -> dict[str, Any]:
    """Return the interest of the period less senior fees, and how each part is known.

    Money in the deal's currency.

    What was collected and what is still to be received make the period's interest. Where only the collected part is
    known, the rest is estimated: the loans' interest for the days to the next payment, or, without that date, what the
    loans pay in a whole period less what was collected. Where nothing is known, a whole period is estimated. Senior
    fees are taken off once, whatever sign they are printed with.

    Args:
        yearly: what the paying loans bear in a year.
        as_of: days since 1970-01-01; NaN where nothing says.
        bases: what fees are rates of, such as the collateral principal amount (cpa).
        day_count: how the days of the period become a year's part.
        rules: what the definition says of interest, fees and hedges.
    """
    rules = rules or _PLAIN
    whole_years = period_years(deal.payment_days, day_count)
    whole = _known(deal.interest_available)
    if whole is not None and _known(deal.interest_collected) is None and rules.interest != "period":
        return {
            "interest_basis": AS_PRINTED,
            "scheduled_interest": whole,
            "scheduled_years": 0.0,
            "senior_fees_basis": "within",
            "senior_fees": 0.0,
            "period_years": whole_years,
            "available": whole,
        }
    collected, receivable = _known(deal.interest_collected), _known(deal.interest_receivable)
    if receivable is None:
        receivable = rules.receivable
    if rules.interest == "period":
        collected = None
    elif rules.interest == "collected_and_period":
        receivable = yearly * whole_years
    days_left = (_known(deal.next_payment) or nan) - as_of
    years, basis = 0.0, "collected and still to be received"
    if collected is None:
        years, basis = whole_years, "estimated for the whole period"
        estimated = yearly * years
    elif receivable is not None:
        estimated = 0.0
    elif days_left >= 0:
        years, basis = (
            min(whole_years, days_left / DAYS_IN_INTEREST_YEAR),
            "collected, and estimated to the next payment",
        )
        estimated = yearly * years
    else:
        basis = "collected, and estimated for the rest of a whole period"
        estimated = max(0.0, yearly * whole_years - collected)
    fees = senior_fees(deal.senior_fees, rules, bases, lambda own: period_years(deal.payment_days, own or day_count))
    hedge = rules.hedge_receipts - rules.hedge_payments
    other_income = _known(deal.interest_other) or 0.0
    received = 0.0 if collected is None else collected + (receivable or 0.0)
    return {
        "interest_basis": basis,
        **({} if collected is None else {"interest_collected": collected}),
        **({} if collected is None or receivable is None else {"interest_receivable": receivable}),
        "scheduled_interest": estimated,
        "scheduled_years": years,
        "senior_fees_basis": fees.basis,
        "senior_fees": fees.amount,
        **({} if fees.counted == fees.amount else {"senior_fees_counted": fees.counted}),
        **({"senior_fee_parts": fees.parts} if fees.parts else {}),
        **({"hedge": hedge} if hedge else {}),
        **({"interest_other": other_income} if other_income else {}),
        "period_years": whole_years,
        "available": received + estimated + hedge + other_income - fees.counted,
    }


_PLAIN: Final = InterestCoverage()


def _known(amount: float | None) -> float | None:
    return amount if amount is not None and isfinite(amount) else None


class ClassLimit(NamedTuple):
    """What a test of the run holds a class to."""

    limit: float
    direction: Direction
    judge: Callable[[float], tuple[float, Status]]
    """(cushion, status) of a ratio."""


def classes(
    notes: Structure,
    tested: list[CoverageGroup],
    numerator: float,
    against: Literal["balance", "interest_due"],
    limits: Mapping[int, ClassLimit],
    places: Iterable[int] | None = None,
) -> list[dict[str, Any]]:
    """Return the tested classes, or those at these places, each with its ratio and what would cure it: money for
    numerator, denominator and cure_amount.

    A class is judged by what the run holds it to, given by its place among the tested ones; else by its trigger.
    """
    rows: list[dict[str, Any]] = []
    for place in range(len(tested)) if places is None else places:
        test = tested[place]
        denominator = notes.balance(test.at) if against == "balance" else notes.interest_due(test.at)
        own = limits.get(place)
        trigger = test.trigger if own is None else own.limit
        row: dict[str, Any] = {
            "class": test.name,
            "numerator": rounded(numerator),
            "denominator": denominator,
            "trigger": trigger,
        }
        if denominator is not None and denominator > 0:
            ratio = numerator / denominator * 100
            row["ratio"] = rounded(ratio)
            if trigger is not None:
                cushion, status = _by_trigger(ratio, trigger) if own is None else own.judge(ratio)
                row["cushion"], row["status"] = rounded(cushion), status
                if own is None or own.direction == "min":
                    row["cure_amount"] = rounded(cure_amount(status, trigger, numerator, denominator))
        rows.append(row)
    return rows


def _by_trigger(ratio: float, trigger: float) -> tuple[float, Status]:
    return ratio - trigger, "pass" if ratio - trigger >= -TOLERANCE else "fail"


def cure_amount(status: Status, minimum: float, numerator: float, denominator: float) -> float:
    """Return what the numerator of a failed ratio lacks of its minimum, which is in percent; 0 where it passes."""
    return max(0.0, minimum / 100 * denominator - numerator) if status == "fail" else 0.0
