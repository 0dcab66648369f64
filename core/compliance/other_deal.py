"""What says that a definition is not of the deal whose file it is run on: its currency, its days, its classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from core.compliance.conventions import currency_of
from core.compliance.coverage import letter_of
from core.definition.definition import Definition
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
    """A warning for each thing that the definition and the file say otherwise of the deal."""
    if definition is None:
        return
    yield from _currency(portfolio, definition)
    yield from _days(portfolio, definition)
    yield from _classes(portfolio, definition)


def of_other_limits(limits: Iterable[tuple[float, Fact]]) -> Iterator[DataWarning]:
    """A warning where most limits that the file prints are not those of the definition's tests.

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
    said, found = definition.conventions.currency, currency_of(portfolio)
    if said is not None and found is not None and said != found:
        yield DataWarning(
            "definition_currency", f"the definition is of a deal in {said}, and the file's loans are in {found}"
        )


def _days(portfolio: Portfolio, definition: Definition) -> Iterator[DataWarning]:
    for name, words in DAYS.items():
        said, found = getattr(definition.conventions, name), day_of(getattr(portfolio.deal, name))
        if said is not None and found is not None and said != found:
            yield DataWarning(
                "definition_days", f"the definition has {words} {said.isoformat()}, and the file {found.isoformat()}"
            )


def _classes(portfolio: Portfolio, definition: Definition) -> Iterator[DataWarning]:
    """The classes that the definition tests and the file has no notes of."""
    notes = portfolio.tranches
    if notes is None or not definition.classes:
        return
    known = {*notes.classes, *map(letter_of, notes.classes)}
    absent = [
        one.name for one in definition.classes
        if one.name not in known and letter_of(one.name.rpartition("/")[2]) not in known
    ]  # fmt: skip
    if absent:
        shown = ", ".join(absent[:SHOWN_MAX]) + (", ..." if len(absent) > SHOWN_MAX else "")
        yield DataWarning("definition_classes", f"the file has no notes of these classes of the definition: {shown}")
