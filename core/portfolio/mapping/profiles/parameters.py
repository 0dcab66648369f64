"""What parameters of transforms and rules may be: a checker for each kind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from core.portfolio.model.fields import FieldType

TEXT_LENGTH_MAX: Final = 200
"""Characters of a text in a parameter: a replacement, a value of an enumeration or of a lookup."""

ENTRIES_MAX: Final = 5_000
"""Entries of a lookup, values of an enumeration."""

DECIMALS_MAX: Final = 12
"""Decimals that a number can be rounded to."""

NUMBER_MAX: Final = 1e15
"""The size of a number in a parameter: beyond it a double has no cents."""

YEAR_MIN: Final = 1901
"""The first year of a date in a field: 1900 is what a zero shown as a date says."""

LENGTH_MAX: Final = 32_767
"""The greatest length that a rule can ask for: a spreadsheet cell holds no more characters."""

Checker = Callable[[Any, FieldType], str | None]
"""What is wrong with a value, for a field of a type; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation or a rule."""

    name: str
    fault: Checker
    required: bool = True


def is_number(value: Any) -> bool:
    """Return a finite number, and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def iso_day(text: str) -> date | None:
    """Return the day of a text of the form YYYY-MM-DD; None for any other."""
    try:
        return date.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None


_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def literal_fault(value: Any, kind: FieldType) -> str | None:
    """Return why a value is none of the field's type: dates are ISO text."""
    if kind == "number":
        if not is_number(value):
            return "is not a number"
        return None if abs(value) <= NUMBER_MAX else f"is beyond {NUMBER_MAX:,.0f} either side of 0"
    if kind == "boolean":
        return None if isinstance(value, bool) else "is neither true nor false"
    if kind == "date":
        return None if isinstance(value, str) and iso_day(value) else "is not a date of the form YYYY-MM-DD"
    return text_fault(value, kind) or ("is blank" if not value.strip() else None)


def value_fault(value: Any, kind: FieldType) -> str | None:
    """Return why a value cannot stand in a field of the type; a blank date, too."""
    what = literal_fault(value, kind)
    if what is None and kind == "date" and int(value[:4]) < YEAR_MIN:
        return f"is before {YEAR_MIN}, which counts as no date"
    return what


def text_fault(value: Any, _kind: FieldType) -> str | None:
    """Check that a value is a text of at most `TEXT_LENGTH_MAX` characters."""
    if not isinstance(value, str) or len(value) > TEXT_LENGTH_MAX:
        return f"is not a text of up to {TEXT_LENGTH_MAX} characters"
    return None if _is_unicode(value) else "is not valid Unicode"


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def number_fault(value: Any, _kind: FieldType) -> str | None:
    """Return a number of either sign."""
    return literal_fault(value, "number")


def divisor_fault(value: Any, _kind: FieldType) -> str | None:
    """Return a number but 0."""
    return literal_fault(value, "number") or ("is 0" if value == 0 else None)


def decimals_fault(value: Any, _kind: FieldType) -> str | None:
    """Return a whole number of decimals."""
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= DECIMALS_MAX
    return None if fits else f"is not a whole number from 0 to {DECIMALS_MAX}"


def length_fault(value: Any, _kind: FieldType) -> str | None:
    """Return a number of characters."""
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LENGTH_MAX
    return None if fits else f"is not a whole number from 0 to {LENGTH_MAX}"


def values_fault(value: Any, kind: FieldType) -> str | None:
    """Return a list of values of the field's type."""
    if not isinstance(value, list | tuple) or not 0 < len(value) <= ENTRIES_MAX:
        return f"is not a list of 1 to {ENTRIES_MAX} values"
    for at, item in enumerate(value):
        if what := literal_fault(item, kind):
            return f"value {at} {what}"
    return None


def lookup_key(text: str) -> str:
    """Return how a lookup compares: without case, and without space about the text."""
    return text.strip().casefold()


def entries_fault(value: Any, kind: FieldType) -> str | None:
    """Check that a value maps texts to the field's values, or to null."""
    if not isinstance(value, dict) or not 0 < len(value) <= ENTRIES_MAX:
        return f"is not an object of 1 to {ENTRIES_MAX} entries"
    meanings: dict[str, Any] = {}
    for name, meaning in value.items():
        if what := text_fault(name, kind) or (None if meaning is None else value_fault(meaning, kind)):
            return f"entry {name[:40]!r} {what}"
        if meanings.setdefault(lookup_key(name), meaning) != meaning:
            return f"has two meanings for {name[:40]!r}, which is compared without case"
    return None


def ordered_fault(parameters: dict[str, Any]) -> str | None:
    """Return `min` and `max`: one of them at least, and in order."""
    low, high = parameters.get("min"), parameters.get("max")
    if low is None and high is None:
        return "has neither min nor max"
    return "min is greater than max" if low is not None and high is not None and low > high else None
