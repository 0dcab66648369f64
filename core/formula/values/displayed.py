"""Precision as displayed: a number as its format shows it.

After Microsoft's article Q47577: what is shown with a fixed number of decimals is rounded to them, and a value under
General stays as it is. Percentages, thousands, powers of ten and fractions are rounded as they are shown. Dates and
times keep their serials, as in LibreOffice, which has the same setting; so does what shows no digit at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from core.formula.values.formats import BadFormat, Section, choose_section, fraction_of, layout_of, mantissa_of, parse
from core.formula.values.formats import fixed as fixed_digits


def as_displayed(number: float, code: str) -> float:
    """Return the number that a format code of a file shows.

    The number itself where the code rounds nothing, or is none.
    """
    sections = _sections(code)
    if sections is None:
        return number
    try:
        section, _ = choose_section(number, sections)
    except BadFormat:
        return number
    rounded = _ROUNDED.get(section.kind)
    if rounded is None:
        return number
    magnitude = rounded(section, abs(number))
    return -magnitude if number < 0 and magnitude else magnitude


def rounds(code: str) -> bool:
    """Return whether a format code rounds any number."""
    return _sections(code) is not None


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[Section, ...] | None:
    try:
        sections = parse(code)
    except BadFormat:
        return None
    return sections if any(section.kind in _ROUNDED for section in sections) else None


def _number(section: Section, number: float) -> float:
    layout = layout_of(section.tokens)
    whole, decimals = fixed_digits(number, len(layout.after), layout.scale)
    return float(f"{whole or 0}.{decimals or 0}e{-layout.scale}")


def _scientific(section: Section, number: float) -> float:
    mark = next(place for place, (kind, _) in enumerate(section.tokens) if kind == "exponent")
    layout = layout_of(section.tokens[:mark])
    whole, decimals, exponent = mantissa_of(number, len(layout.before), len(layout.after))
    return float(f"{whole or 0}.{decimals or 0}e{exponent}")


def _fraction(section: Section, number: float) -> float:
    marks = next(text for kind, text in section.tokens if kind == "denominator")
    over, under = fraction_of(number, marks)
    return over / under


_ROUNDED: Final[dict[str, Callable[[Section, float], float]]] = {
    "number": _number, "scientific": _scientific, "fraction": _fraction,
}  # fmt: skip
