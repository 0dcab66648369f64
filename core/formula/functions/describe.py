"""Short forms for the arguments of the catalogue's rows."""

from __future__ import annotations

from typing import Any

from core.formula.functions.catalogue import Argument, Takes
from core.formula.ranges.reduce import round_down


def number(name: str, description: str, *, optional: bool = False, empty: Any = None) -> Argument:
    """Return a float."""
    return Argument(name, Takes.NUMBER, description, required=not optional, empty=empty)


def integer(name: str, description: str, *, optional: bool = False, empty: Any = None) -> Argument:
    """Return an int, cut toward zero."""
    return Argument(name, Takes.INTEGER, description, required=not optional, empty=empty)


def logical(name: str, description: str, *, optional: bool = False, empty: Any = None) -> Argument:
    """Return a bool."""
    return Argument(name, Takes.LOGICAL, description, required=not optional, empty=empty)


def cells(name: str, description: str, *, optional: bool = False) -> Argument:
    """Return a value or the cells of a range."""
    return Argument(name, Takes.RANGE, description, required=not optional)


def array(name: str, description: str, *, optional: bool = False, repeats: bool = False, empty: Any = None) -> Argument:
    """Return an Array always."""
    return Argument(name, Takes.ARRAY, description, required=not optional, repeats=repeats, empty=empty)


def many(first: str, rest: str, description: str, *, empty: Any = None) -> tuple[Argument, Argument]:
    """Return one or more values or ranges."""
    return (
        Argument(first, Takes.RANGE, description, empty=empty),
        Argument(rest, Takes.RANGE, "Further ones.", required=False, repeats=True, empty=empty),
    )


def whole(value: float) -> float:
    """Return a number cut toward zero, as its 15 digits read."""
    return round_down(value, 0)
