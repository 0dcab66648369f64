"""Numbers and amounts as people of the trade write them."""

from __future__ import annotations

import re
from decimal import Decimal
from math import isfinite
from typing import Final

EXAMPLES: Final = "1000000, 1,000,000, 1_000_000, 1m, 2.5mm or 500k"
"""What a refusal shows of amounts."""

_SCALES: Final = {
    "": 1, "k": 10**3, "thousand": 10**3, "m": 10**6, "mm": 10**6, "mn": 10**6, "mio": 10**6, "mil": 10**6,
    "million": 10**6, "b": 10**9, "bn": 10**9, "billion": 10**9,
}  # fmt: skip
"""Words behind a number, and what they multiply it by. m is a million, as in `cushion ask`."""

_WHOLE: Final = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+|[0-9]+"
_WRITTEN: Final = re.compile(
    rf"([+-]?(?:(?:{_WHOLE})(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{{1,3}})?)([a-z]*)", re.IGNORECASE | re.ASCII
)


def read_number(text: str) -> float:
    """Return a number: 1000000, 1,000,000.50, 1_000_000, 1e6.

    Commas and underscores part thousands and nothing else.

    Raises:
        ValueError: it is none, or not finite.
    """
    return _read(text, {"": 1})


def read_amount(text: str) -> float:
    """Return an amount.

    A number, with a scale where there is one: 500k, 1m, 2.5mm, 1bn.

    Raises:
        ValueError: it is none, or not finite.
    """
    return _read(text, _SCALES)


def is_scale(word: str) -> bool:
    """Return whether a word alone is a scale of amounts: mm, million."""
    return bool(word) and word.lower() in _SCALES


def _read(text: str, scales: dict[str, int]) -> float:
    match = _WRITTEN.fullmatch(text.strip())
    scale = None if match is None else scales.get(match[2].lower())
    if match is None or scale is None:
        raise ValueError("no number")
    value = float(Decimal(match[1].replace(",", "")) * scale)  # exact: 2.3mm is 2,300,000
    if not isfinite(value):
        raise ValueError("no finite number")
    return value
