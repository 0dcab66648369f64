"""What says that a definition is not of the deal whose file it is run on.

Its currency, its days, its classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from core.compliance.conventions import currency_of
from core.compliance.coverage import letter_of
from core.definition.choices import BY_NAME
from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact
from core.portfolio.model.notes import DataWarning
from core.values import day_of

DAYS: Final = {"closing_date": "a closing date of", "stated_maturity": "a stated maturity of"}
"""Days of a deal that never change."""

SHOWN_MAX: Final = 10
"""Classes that a warning names."""

LIMITS_LEAST: Final = 3
"""Printed limits that a definition has otherwise before they say something of the deal."""


def of_other_deal(portfolio: Portfolio, definition: Definition | None) -> Iterator[DataWarning]:
    """Yield a warning for each thing that the definition and the file say otherwise of the deal."""
    if definition is None:
        return
    yield from _currency(portfolio, definition)
    yield from _days(portfolio, definition)
    yield from _classes(portfolio, definition)
    yield from _readings(portfolio, definition)


def of_other_limits(limits: Iterable[tuple[float, Fact]]) -> Iterator[DataWarning]:
    """Yield a warning where most limits that the file prints are not those of the definition's tests.

    Args:
        limits: what the definition holds a test to, and the file's figure of that test.
    """
    compared = [(own, fact) for own, fact in limits if fact.trigger is not None and not fact.is_guessed]
    apart = [fact for own, fact in compared if abs(own - (fact.trigger or 0.0)) > fact.tolerance]
    if len(apart) >= LIMITS_LEAST and 2 * len(apart) > len(compared):
        yield DataWarning(
            "definition_limits",
            f"{len(apart)} of {len(compared)} limits that the file prints are not the definition's: is it this deal's?",
            len(apart),
        )


def _currency(portfolio: Portfolio, definition: Definition) -> Iterator[DataWarning]:
    stated, printed = definition.conventions.currency, currency_of(portfolio)
    if stated is not None and printed is not None and stated != printed:
        yield DataWarning(
            "definition_currency", f"the definition is of a deal in {stated}, and the file's loans are in {printed}"
        )


def _days(portfolio: Portfolio, definition: Definition) -> Iterator[DataWarning]:
    for name, words in DAYS.items():
        stated, printed = getattr(definition.conventions, name), day_of(getattr(portfolio.deal, name))
        if stated is not None and printed is not None and stated != printed:
            yield DataWarning(
                "definition_days",
                f"the definition has {words} {stated.isoformat()}, and the file {printed.isoformat()}",
            )


def _classes(portfolio: Portfolio, definition: Definition) -> Iterator[DataWarning]:
    """Yield the classes that the definition tests and the file has no notes of."""
    notes = portfolio.tranches
    if notes is None or not definition.classes:
        return
    known = {*notes.classes, *map(letter_of, notes.classes)}
    absent = [
        note_class.name
        for note_class in definition.classes
        if note_class.name not in known and letter_of(note_class.name.rpartition("/")[2]) not in known
    ]
    if absent:
        shown = ", ".join(absent[:SHOWN_MAX]) + (", ..." if len(absent) > SHOWN_MAX else "")
        yield DataWarning("definition_classes", f"the file has no notes of these classes of the definition: {shown}")


READ_IN_LOANS: Final = ("principal_cash", "families", *(f"masked_{agency}" for agency in AGENCIES))
"""Choices whose readings may change the loans or their deal, as a definition that comes later finds them."""


def _readings(portfolio: Portfolio, definition: Definition) -> Iterator[DataWarning]:
    """Yield readings of the file's own figures that changed the loans before the definition, which outranks them."""
    if definition.standard or portfolio.interpretation is None:
        return
    is_cash_stated = definition.amounts.principal_cash is not None or any(
        correction.figure == "principal_cash" for correction in definition.corrections
    )
    for choice in portfolio.interpretation.changed:
        option = BY_NAME[choice.name].option(choice.reading.option) if choice.name in READ_IN_LOANS else None
        is_in_loans = option is not None and (not option.sets or choice.name == "families")
        if is_in_loans and not (is_cash_stated and choice.name == "principal_cash"):
            yield DataWarning(
                "reading_differs",
                f"the loans were read by the file's figures, and not by the definition: {choice.reading.words}: "
                "interpret them beside the definition",
                fields=BY_NAME[choice.name].inputs,
            )
