"""Find columns for fields that no heading names, by cells that tell them.

All of it is a guess that the reader tells: such a column makes the warning `ambiguous_column`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from core.grid.sheet import Sheet
from core.portfolio.sheets.columns import content, unnamed
from core.portfolio.sheets.columns.content import MOST, NEARLY_ALL
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.roles import TITLE_COLUMNS, TITLE_ROWS, HeadedColumns
from core.values import Kind


class PlainCells(NamedTuple):
    """What a column's cells must be for a field."""

    name: str
    """The field among the roles of words."""
    mark: str
    least: float
    """Share of the cells that have the mark."""
    roles: frozenset[str] = frozenset(("",))
    """What its heading may make of it: nothing, or a class, as in "Facility class"."""


PLAIN_BY_CELLS: Final = {
    "maturity_date": PlainCells("maturity_date", "date", NEARLY_ALL),
    "lien_type": PlainCells("lien_type", "lien", NEARLY_ALL, frozenset(("", "x_class"))),
    "is_defaulted": PlainCells("is_defaulted", "default", NEARLY_ALL),
    "industry": PlainCells("industry_a", "industry", MOST),
}
"""The fields that cells tell by themselves."""

NAMES_MOST: Final = 0.5
"""Share of distinct texts above which they are names of companies, which have words of industries in them."""

_OTHER_DATES: Final = re.compile(
    r"\b(?:acquir|amorti|as of|begin|by\b|call|clos|commit|coupon|covenant|drawn?|effective|exercis|exit|expir|fallback"
    r"|first|from\b|fund|hedg|insur|issue|last|lock|next|off\b|origin|pay|prepay|previous|pric|prior|protect|purchas"
    r"|quote|rate|rating|record|refinanc|reinvest|report|reset|restruct|review|rolls?\b|settl|sofr|sold|standstill|start"
    r"|stop|swap|trad|until|updat|valu|vintag|warrant|window|[a-z]*ibor)",
    re.IGNORECASE,
)
"""Words of headings over days that are no maturities."""

_DAY: Final = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?[-\s./]{1,2}(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-\s,./]{1,2}20\d\d\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s20\d\d\b"
    r"|\b20\d\d-\d\d-\d\d\b",
    re.IGNORECASE,
)
"""A day of this century in a line, its month in words or by ISO 8601."""

LABEL_OF_DAY: Final = re.compile(
    r"(?:.{0,40}\W)?(?:positions?|holdings?|portfolio|loans?|tape|assets|collateral|valuation|valued|report)\W+"
    r"as (?:of|at)\s*:?|(?:period|quarter|month|year)[ -]end(?:ed|ing)?\s*:?|cut[ -]?off(?: date)?\s*:?",
    re.IGNORECASE,
)
"""A label in a file's own words, such as "Positions as of", with the report's day beside it."""

BESIDE_COLUMNS: Final = 3
"""Columns right of such a label in which the day is looked for."""

_FIELD_OF_DAY: Final = re.compile(r"(?:report|valuation) date\s*:?", re.IGNORECASE)

_OTHER_DAY: Final = re.compile(
    r"next|prior|previous|last|pay|clos|matur|issue|effective|reinvest|due|notes|legal|final|stated|incept|form|found|call"
    r"|invest|ramp|warehouse|trade|indenture",
    re.IGNORECASE,
)
"""Words of a line whose day is not the report's."""


def fill(columns: HeadedColumns, roles: dict[int, str], fields: Collection[str]) -> dict[int, RoleEvidence]:
    """Return the only column with the cells of each field, where there is just one.

    Args:
        roles: column -> the role that its heading and cells have given it; "" without one.
        fields: those that no sheet of the workbook has, of `PLAIN_BY_CELLS`.
    """
    filled: dict[int, RoleEvidence] = {}
    day = _day_of(columns) if "maturity_date" in fields else None
    for field in PLAIN_BY_CELLS.keys() & fields:
        plain = [
            (column, why) for column, role in roles.items() if (why := _plainly(columns, column, role, field, day))
        ]
        if len(plain) == 1:
            ((column, (weight, reason)),) = plain
            filled[column] = RoleEvidence(field, 0.0, weight, margin=0.0, reasons=(reason,))
    return filled


def _plainly(columns: HeadedColumns, column: int, role: str, field: str, day: float | None) -> tuple[float, str] | None:
    """Return what a column's cells weigh for a field, and why.

    None where they, or its heading, do not let it have it.
    """
    plain, words = PLAIN_BY_CELLS[field], columns.heading(column)
    if role not in plain.roles or words.against < 0 or words.weights.get(plain.name, 0.0) < 0:
        return None
    features = columns.features(column)
    if features.filled < content.ROWS_FOR_ROLE:
        return None
    if field == "maturity_date":
        if day is None or features.date < plain.least or _OTHER_DATES.search(columns.texts.get(column, "")):
            return None
        weight, reason = unnamed.of_maturity(features.days, day)
        return (weight, reason) if weight > 0 else None
    if features.share(plain.mark) < plain.least or (field == "industry" and features.distinct > NAMES_MOST):
        return None
    return content.evidence(plain.name, features)


def _day_of(columns: HeadedColumns) -> float | None:
    """Return the report's day as a serial, to the month; None without one."""
    return columns.as_of() or next(days_above(columns.sheet, columns.first), None)


def days_above(sheet: Sheet, first: int) -> Iterator[float]:
    """Yield the days of lines, which begin their row, and beside labels."""
    for row in range(max(0, first - TITLE_ROWS), first):
        begins = True
        for column in range(min(sheet.column_count, TITLE_COLUMNS)):
            text = sheet.value(row, column)
            is_first, begins = begins, begins and text is None
            if not isinstance(text, str) or len(text) > content.TEXT_LENGTH_MAX or _OTHER_DAY.search(text):
                continue
            if is_first and _DAY.search(text):
                yield content.day_of(text)
            elif LABEL_OF_DAY.fullmatch(text.strip()) or _FIELD_OF_DAY.fullmatch(text.strip()):
                yield from _days_beside(sheet, row, column)


def _days_beside(sheet: Sheet, row: int, column: int) -> Iterator[float]:
    """Yield the first day right of a label."""
    for at in range(column + 1, column + 1 + BESIDE_COLUMNS):
        value = sheet.value(row, at)
        if isinstance(value, str) and _DAY.search(value[: content.TEXT_LENGTH_MAX]):
            yield content.day_of(value[: content.TEXT_LENGTH_MAX])
        elif isinstance(value, float) and sheet.kind(row, at) == Kind.DATE:
            yield value
        if value is not None:
            return
