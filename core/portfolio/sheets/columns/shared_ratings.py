"""Cells with the ratings of several agencies, such as "B2 / B" and "B2/B/B+"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells.string_pool import spread_out
from core.portfolio.cells.text_cells import TextColumn, pool_of
from core.portfolio.model.facts import AGENCIES, Agency
from core.portfolio.model.ratings import is_not_rated, rank

SHARE_MIN: Final = 0.8
"""Share of a column's rows with something in them whose cells have a rating of each agency."""


TEXTS_MAX: Final = 5_000
"""Distinct texts of a column of ratings; one of more of them is none."""

_NAME: Final = re.compile(
    r"(?P<a>moody'?s?|mdys?|(?<![a-z])m(?![a-z']))"
    r"|(?P<b>s\s?&\s?p|standard (?:and|&) poor'?s?|snp|(?<![a-z])sp?(?![a-z']))"
    r"|(?P<c>fitch|(?<![a-z])f(?![a-z']))"
)
"""A name of an agency in a heading, or its letter."""

_BETWEEN: Final = re.compile(
    r"[\s/|,;+&()-]*(?:(?:ratings?|cfr|icr|idr|and|facility|issuer|corporate|family)[\s/|,;+&()-]*){0,4}"
)
"""What may stand between two names: "Moody's CFR / S&P ICR"."""

_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "`": "'", "_": " ", "\u00a0": " "})
_NOTHING: Final = re.compile(r"\b(?:n/a|n/r|w/r|w/d|n\.a\.?|n\.r\.?)(?![a-z])", re.IGNORECASE)
_PARTED: Final = re.compile(r"\s*(?:/(?!\s*\*)|[|;\n])\s*")
"""What stands between ratings; "/*-" is a mark of a watch list."""
_PARTED_ELSE: Final = (
    re.compile(r"\s*,\s*|\s+[-\u2013]\s+"),
    re.compile(r"\s*[()]\s*"),
    re.compile(r"\s+"),
)
"""The same in cells without these signs: "B2, B", "B2 - B", "B2 (B)", "B2 B"."""


@dataclass(frozen=True, slots=True)
class RatingParts:
    """The ratings of each agency in one column."""

    columns: dict[Agency, TextColumn]
    unread: dict[Agency, NDArray[np.bool_]]
    """Rows with something in them of which it cannot be said what this agency's rating is."""
    doubt: str
    """Why it is doubtful which agency a rating is of; "" where the heading says it."""


def agencies_of(heading: str) -> tuple[Agency, ...]:
    """Return the agencies that a heading lists; () for fewer than two."""
    text = heading.translate(_QUOTES).lower()
    matches = list(_NAME.finditer(text))
    names = [match.lastgroup for match in matches]
    is_list = all(_BETWEEN.fullmatch(text, left.end(), right.start()) for left, right in pairwise(matches))
    if len(names) < 2 or len(set(names)) < len(names) or not is_list:
        return ()
    return tuple(agency for name in names for agency in AGENCIES if agency == name)


def rating_parts(column: TextColumn, agencies: Sequence[Agency]) -> RatingParts | None:
    """Part a column of ratings by agency; None where its cells have one rating.

    Args:
        column: the cells of the loans.
        agencies: whose ratings the heading says they are, in order; none where it says nothing.
    """
    texts = column.text.strings()
    if not texts or len(texts) > TEXTS_MAX:
        return None
    counts = np.bincount(column.codes + 1, minlength=len(texts) + 1)[1:]
    parts = [_parts_of(text) for text in texts]
    width = len(agencies) or _usual_width(parts, counts)
    is_whole = np.array([len(part) == width for part in parts], np.bool_)
    says = np.array([not is_not_rated(text) for text in texts], np.bool_)
    if width < 2 or counts[is_whole & says].sum() < max(1.0, SHARE_MIN * counts[says].sum()):
        return None
    moodys = _moodys_place([part for part in parts if len(part) == width], width)
    ordered, doubt = _order(tuple(agencies), moodys, width)
    if not ordered:
        return None
    columns, unread = dict[Agency, TextColumn](), dict[Agency, NDArray[np.bool_]]()
    for agency in ordered:
        strings = [_rating_of(agency, ordered, part) for part in parts]
        codes, pool = pool_of(strings)
        columns[agency] = TextColumn(spread_out(codes, -1, column.codes), pool)
        is_lost = np.array([string is None for string in strings], np.bool_) & says
        unread[agency] = spread_out(is_lost, False, column.codes)
    return RatingParts(columns, unread, doubt)


def _parts_of(text: str) -> list[str]:
    """Return the ratings of a cell; [] for one that has other words."""
    text = _NOTHING.sub("NR", text.strip())
    for pattern in (_PARTED, *_PARTED_ELSE):
        parts = [part for part in pattern.split(text) if part or pattern is _PARTED]
        if len(parts) > 1 and all(rank(part) or is_not_rated(part) for part in parts):
            return parts
    return [text] if rank(text) or is_not_rated(text) else []


def _usual_width(parts: list[list[str]], counts: NDArray[np.int64]) -> int:
    """Return how many ratings most cells have."""
    widths = np.zeros(len(AGENCIES) + 1, np.int64)
    for part, count in zip(parts, counts.tolist(), strict=True):
        if len(part) < len(widths):
            widths[len(part)] += count
    return int(np.argmax(widths))


def _moodys_place(parts: list[list[str]], width: int) -> int | None:
    """Return the place of the rating with Moody's symbols; None for none."""
    places = [
        place
        for place in range(width)
        if any(_is_of("a", part[place]) for part in parts) and not any(_is_of("b", part[place]) for part in parts)
    ]
    return places[0] if len(places) == 1 else None


def _is_of(agency: Agency, text: str) -> bool:
    """Return whether a symbol is of one scale alone, Moody's or the others'."""
    rest: Agency = "b" if agency == "a" else "a"
    return rank(text, agency) > 0 and rank(text, rest) == 0


def _order(agencies: tuple[Agency, ...], moodys: int | None, width: int) -> tuple[tuple[Agency, ...], str]:
    """Return whose ratings stand in a cell, in order, and why that is doubtful."""
    if not agencies:
        if moodys is None:
            return (), ""
        rest = AGENCIES[1:width]
        return (*rest[:moodys], "a", *rest[moodys:]), "its heading names no agency, and symbols tell Moody's alone"
    if moodys is None or "a" not in agencies or agencies[moodys] == "a":
        return agencies, ""
    swapped = list(agencies)
    at = swapped.index("a")
    swapped[at], swapped[moodys] = swapped[moodys], swapped[at]
    return tuple(swapped), "its cells have Moody's symbols in another place than its heading"


def _rating_of(agency: Agency, ordered: tuple[Agency, ...], parts: list[str]) -> str | None:
    """Return the rating of a cell that is an agency's; None for none."""
    if len(parts) == len(ordered):
        return parts[ordered.index(agency)] or None
    if len(parts) != 1 or is_not_rated(parts[0]):
        return None
    known = [rated for rated in ordered if rank(parts[0], rated)]
    return parts[0] if known == [agency] else None
