"""Figures as a report prints them.

Thousands separated, a true minus, more decimals where two hide a difference.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from core.frames.figures import DECIMALS, LARGEST
from core.report.content import Unit

UNITS: Final[dict[Unit, str]] = {
    "percent": "%", "factor": "factor", "score": "score", "years": "years", "amount": "amount", "number": "number",
}  # fmt: skip

ABSENT: Final = "\N{EN DASH}"
"""In place of a figure that there is not."""


def figure(value: float | None, decimals: int = DECIMALS) -> str:
    """Return a figure with its thousands separated; a dash for none."""
    if value is None:
        return ABSENT
    text = f"{value:,.{decimals}f}" if abs(value) < LARGEST else f"{value:.2e}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "\N{MINUS SIGN}")


def with_sign(value: float | None, decimals: int = DECIMALS) -> str:
    """Return a figure with its sign, but for one that is printed as zero."""
    text = figure(value, decimals)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.,") else text


def day(moment: date | None) -> str:
    """16 December 2024."""
    return "day not known" if moment is None else f"{moment.day} {moment:%B %Y}"


def moment(when: datetime) -> str:
    """16 December 2024, 08:30 UTC."""
    return f"{day(when)}, {when:%H:%M %Z}"
