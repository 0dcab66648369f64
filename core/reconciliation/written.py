"""Values as the text of an issue: numbers in full, dates ISO."""

from __future__ import annotations

from typing import Final

import numpy as np

from core.values import day_of

STAGES: Final = {
    "cusip": "CUSIP",
    "loanx_id": "LoanX id",
    "isin": "ISIN",
    "borrower_maturity": "borrower and maturity",
    "borrower_name": "borrower",
}
"""How a pair was found, for a reader."""


def number_text(number: float) -> str:
    """Return a number to six decimals, as differences are told apart, with no exponent and no zeros at its end; "" for
    NaN."""
    if number != number:
        return ""
    text = repr(round(number, 6) + 0.0)
    if "e" in text or "n" in text:
        return np.format_float_positional(round(number, 6), trim="-")
    return text.removesuffix(".0")


def date_text(days: float) -> str:
    """Days since 1970-01-01 as an ISO date; "" for NaN.

    A day that no calendar has stands as its number.
    """
    if days != days:
        return ""
    day = day_of(days)
    return number_text(days) if day is None else day.isoformat()


def iso_day(days: float | None) -> str | None:
    """Days since 1970-01-01 as an ISO date, or None where no calendar has it."""
    day = day_of(days)
    return None if day is None else day.isoformat()


def figure_text(value: str, category: str) -> str:
    """Return an issue's value, its thousands apart where it is a figure (of a loan's sums or its par) and no
    identifier."""
    whole, point, decimals = value.removeprefix("-").partition(".")
    if category not in ("calculation", "missing") or not whole.isdecimal():
        return value
    return f"{'-' if value.startswith('-') else ''}{int(whole):,}{point}{decimals}"
