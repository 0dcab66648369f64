"""What a formula's value can be, and how values become numbers, texts, criteria and formatted text."""

from core.formula.values.formats import format_value
from core.formula.values.value import (
    NA,
    NAME,
    NUM,
    REF,
    SPILL,
    VALUE,
    Array,
    Date,
    Error,
    Failure,
    Reference,
    Span,
    TextPool,
)

__all__ = [
    "NA",
    "NAME",
    "NUM",
    "REF",
    "SPILL",
    "VALUE",
    "Array",
    "Date",
    "Error",
    "Failure",
    "Reference",
    "Span",
    "TextPool",
    "format_value",
]
