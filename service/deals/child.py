"""What a confined child does for deals.

Set the trustee's figures beside ours, draft definitions, explain movements.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import Struct, structs

from core.compliance.run import run_suite
from core.compliance.suites import DEAL_SUITE
from core.deals.draft import DefinitionDraft, DraftError, draft
from core.deals.movements import Movement, movements
from core.deals.tie_out import TieOut, tie_out
from core.definition.definition import Definition
from core.interpretation.interpret import has_figures, interpret
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.notes import DataWarning, of_side
from core.reconciliation import ReconcileError

Rules = Mapping[str, Any]
"""Options of `run_suite`: a definition, and limits by who set them."""


class TieOuts(Struct, frozen=True):
    """The trustee's tests beside ours."""

    items: list[TieOut]
    not_printed: list[str]
    """Ids of our tests that the file publishes nothing of."""
    warnings: list[DataWarning]
    """What a run of the deal says first; empty where none was asked for."""
    interpretation: Interpretation | None = None
    """How the choices that the file leaves open were read; None where it was not asked for."""


def tie(portfolio: Portfolio, definition: Definition | None, rules: Rules | None = None) -> TieOuts:
    """Return the tests that a file publishes, with ours beside them."""
    tie_outs = tie_out(portfolio, definition)
    return TieOuts(
        list(tie_outs), tie_outs.not_printed, [] if rules is None else _warnings(portfolio, DEAL_SUITE, rules)
    )


def interpret_and_tie(portfolio: Portfolio, definition: Definition | None, rules: Rules) -> TieOuts:
    """Interpret loans, and compare the trustee's tests with ours.

    With what a run by the rules says first, and how the choices that the file leaves open were read.
    """
    if not has_figures(portfolio):
        return tie(portfolio, definition, rules)
    interpretation = interpret(portfolio, definition, hold_out=True)
    tied = tie(read_by(portfolio, interpretation, definition), definition, rules)
    return structs.replace(tied, interpretation=interpretation)


class DraftResult(Struct, frozen=True, tag=True):
    """A definition out of what a file prints."""

    draft: DefinitionDraft


class NoDraft(Struct, frozen=True, tag=True):
    """What a file prints makes no definition."""

    message: str


def draft_of(portfolio: Portfolio, name: str) -> DraftResult | NoDraft:
    """Draft a definition from what a file prints."""
    try:
        return DraftResult(draft(portfolio, name=name))
    except DraftError as error:
        return NoDraft(str(error))


class MovementResult(Struct, frozen=True, tag=True):
    """Why tests moved."""

    items: list[Movement]
    warnings: list[DataWarning]
    """What a run of each side says first; empty where they were not asked for."""


class TooMany(Struct, frozen=True, tag=True):
    """There are more loans than can be paired."""

    message: str


def move(
    before: Portfolio, after: Portfolio, suite: str, rules: Rules, rules_before: Rules | None
) -> MovementResult | TooMany:
    """Return why a suite's tests moved, by the later one's rules.

    `rules_before` gives what a run of each says first.
    """
    warnings: list[DataWarning] = []
    if rules_before is not None:
        warnings = [
            *of_side("from", _warnings(before, suite, rules_before)),
            *of_side("to", _warnings(after, suite, rules)),
        ]
    try:
        run = partial(run_suite, suite=suite, details=False, **rules)
        return MovementResult(movements(before, after, run, definition=rules.get("definition")), warnings)
    except ReconcileError as error:
        return TooMany(str(error))


def _warnings(portfolio: Portfolio, suite: str, rules: Rules) -> list[DataWarning]:
    return run_suite(portfolio, suite, details=False, **rules).warnings
