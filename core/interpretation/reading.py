"""The loans of a file, read by an interpretation that is known. No search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from core.compliance.conventions import PLAIN, definition_for
from core.definition.choices import BY_NAME
from core.definition.definition import Definition
from core.interpretation.candidates import Candidate, portfolio_under, readings_of
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Choice, Interpretation, Reading
from core.portfolio.model.notes import DataWarning

DIFFERS: Final = "the file's figures tie by another reading than the definition's: {} ({})"
PROPOSED: Final = "read as: {}; one amount ties by it, {}"


def read_by(portfolio: Portfolio, interpretation: Interpretation, definition: Definition | None = None) -> Portfolio:
    """Return the same loans, read by the choices of an interpretation of them, with its record and its warnings.

    Args:
        portfolio: the loans as they were read, with nothing chosen.
        definition: the one beside which they were interpreted.
    """
    if changed := interpretation.changed:
        rules = definition_for(portfolio, definition) or PLAIN
        portfolio = portfolio_under(portfolio, _candidates(changed, readings_of(portfolio, rules)))
    notes = portfolio.notes
    if warnings := list(_warnings(interpretation)):
        notes = replace(notes, warnings=[*notes.warnings, *warnings])
    return replace(portfolio, interpretation=interpretation, notes=notes)


def _candidates(changed: list[Choice], readings: dict[str, tuple[Candidate, ...]]) -> dict[str, Candidate]:
    """Return the readings of these choices, as the search tries them."""
    candidates: dict[str, Candidate] = {}
    for choice in changed:
        used = choice.reading.option, choice.reading.words
        listed = readings.get(choice.name, ())
        candidates.update(
            (choice.name, candidate) for candidate in listed if (candidate.option, candidate.words) == used
        )
    return candidates


def _warnings(interpretation: Interpretation) -> Iterator[DataWarning]:
    for choice in interpretation.choices:
        inputs = BY_NAME[choice.name].inputs if choice.name in BY_NAME else ()
        if choice.differs and choice.runner_up is not None:
            words = DIFFERS.format(choice.runner_up.words, _places(choice.runner_up))
            yield DataWarning("reading_differs", words, fields=inputs)
        elif choice.state == "proposed" and choice.changed:
            words = PROPOSED.format(choice.reading.words, _places(choice.reading))
            yield DataWarning("reading_proposed", words, fields=inputs)


def _places(reading: Reading) -> str:
    """Where the amounts stand that tie by a reading."""
    return ", ".join(dict.fromkeys(tie.place for tie in reading.ties if tie.part != "value"))
