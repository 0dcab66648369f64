"""Tell sheets and tables of notes and accounts from sheets of loans."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import TEXT, decode
from core.portfolio.model.classes import are_class_names, is_class_name
from core.portfolio.sheets.headings.match import HeaderMatch

TOTAL: Final = re.compile(r"\s*(?:grand\s+|sub[\s-]?)?total|\s*sum\b", re.IGNORECASE)


def is_named(sheet: Sheet, names: frozenset[str]) -> bool:
    """Return whether the sheet's name, its letters in lower case, is listed."""
    return "".join(sign for sign in sheet.name.lower() if sign.isalpha()) in names


def is_note_table(sheet: Sheet, header_match: HeaderMatch) -> bool:
    """Return whether the names below a header of loans are those of classes.

    Down to the first without a name.

    They stand in the column that names borrowers, else in the first columns of the sheet.
    """
    named = header_match.columns.get("borrower_name")
    lists_loans = not _OF_LOANS.isdisjoint(header_match.columns)
    return any(
        are_class_names(names)
        or (not lists_loans and _are_classes_by_heading(header_match.texts.get(place, ""), names))
        for place in (named[:1] if named else range(min(NAME_COLUMNS_MAX, sheet.column_count)))
        if (names := _names_below(sheet, header_match.row + 1, place))
    )


_OF_LOANS: Final = frozenset(("loanx_id", "industry", "lien_type", "price"))
"""Columns of loans that are named by no borrower, and not of classes."""

_CLASSES: Final = re.compile(r"(?:debt |note )?(?:class|tranche|note)(?:es|s)?(?: name)?", re.IGNORECASE)


def _are_classes_by_heading(heading: str, names: list[str]) -> bool:
    """Return whether letters such as A-1 and B, each once, stand below "Class"."""
    is_of_classes = _CLASSES.fullmatch(heading.strip()) is not None and len(set(names)) == len(names) > 1
    return is_of_classes and all(map(is_class_name, names))


def _names_below(sheet: Sheet, first: int, place: int) -> list[str]:
    """Return the texts of a column from a row on, up to the first other cell."""
    stored = sheet.columns[place] if place < len(sheet.columns) else None
    if stored is None or not stored.start <= first < stored.stop:
        return []
    part = stored.span(first, min(first + NOTE_ROWS_MAX, stored.stop))
    others = np.flatnonzero(part.kinds != TEXT)
    texts = decode(sheet.text, part.codes[: others[0]] if len(others) else part.codes)
    names = [" ".join(text.split()) for text in texts]
    return [name for name in names if not TOTAL.match(name)]


NAME_COLUMNS_MAX: Final = 8
"""Columns from the left in which the names of classes may stand."""


NOTE_ROWS_MAX: Final = 50
"""Rows below a header whose names tell notes from loans: no deal has as many classes."""
