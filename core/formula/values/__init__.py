"""What a formula's value can be, and how values become numbers, texts, criteria and formatted text."""

from core.formula.values.displayed import as_displayed, rounds
from core.formula.values.formats import format_value
from core.formula.values.locales import DEFAULT, LOCALES, Locale, UnknownLocale, known_locale, locale_of
from core.formula.values.numerals import read_date, read_number
from core.formula.values.value import (
    NAME,
    NUM,
    REF,
    SPILL,
    VALUE,
    Array,
    Date,
    Error,
    Failure,
    Locally,
    Reference,
    Span,
    TextPool,
)

__all__ = [
    "DEFAULT",
    "LOCALES",
    "NAME",
    "NUM",
    "REF",
    "SPILL",
    "VALUE",
    "Array",
    "Date",
    "Error",
    "Failure",
    "Locale",
    "Locally",
    "Reference",
    "Span",
    "TextPool",
    "UnknownLocale",
    "as_displayed",
    "format_value",
    "known_locale",
    "locale_of",
    "read_date",
    "read_number",
    "rounds",
]
