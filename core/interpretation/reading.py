"""The loans of a file, read by an interpretation that is known already."""

from __future__ import annotations

from dataclasses import replace

from core.definition.definition import Definition
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation


def read_by(portfolio: Portfolio, interpretation: Interpretation, definition: Definition | None = None) -> Portfolio:
    """The same loans, read by the choices of an interpretation, with its record."""
    return replace(portfolio, interpretation=interpretation)


def own_rules(definition: Definition | None) -> Definition | None:
    """A deal's own definition, which outranks what its file's figures say; None for a market's standard."""
    return None if definition is None or definition.standard else definition
