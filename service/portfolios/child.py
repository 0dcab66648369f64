"""What a confined child does for portfolios.

Search the readings by which a file's own figures tie.
"""

from __future__ import annotations

from core.definition.definition import Definition
from core.interpretation.interpret import interpret
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation


def interpretation_of(portfolio: Portfolio, definition: Definition | None) -> Interpretation:
    """Return how a file's open choices are read."""
    return interpret(portfolio, definition)
