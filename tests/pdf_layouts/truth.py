"""What a drawn document says: its tables as printed, with the page and the lines of each row."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

DASHES = ("—", "–", "-")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_NUMBER = re.compile(
    r"(?P<open>\()?(?P<minus>-)?(?P<sign>[$€£]|[A-Z]{3} )? ?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<percent> ?%)?\)?"
)
_LONG_DAY = re.compile(r"([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4})")
_DAY = re.compile(r"(\d{1,2})-([A-Z][a-z]{2})-(\d{4})")


@dataclass(frozen=True)
class Printed:
    """One cell as it is printed."""

    text: str
    mark: str = ""
    """Of a footnote, such as (1)(4), behind the text."""
    raised: bool = False
    """Whether the mark is a superscript."""
    sign: str = ""
    """A currency sign at the left edge of the column, away from the number."""
    unit: str = ""
    """A % to the right of the column, away from the number."""
    number: float | None = None
    """What the text means where its notation is not that of this module."""
    leaders: bool = False
    """Whether dots lead from the text to the next column."""

    @property
    def is_blank(self) -> bool:
        return not self.text

    def values(self) -> tuple[float | str | None, ...]:
        """Return every value that is a right reading."""
        if self.number is not None:
            return (self.number,)
        plain = values_of(self.text)
        if self.unit and isinstance(plain[0], float):  # whether a sign beside the column counts for it is left open
            return (plain[0], plain[0] / 100)
        if self.mark and not self.text:  # a column of marks: dropped or kept
            return (None, self.mark, *values_of(self.mark))
        if self.mark and isinstance(plain[0], str):
            return (*plain, f"{self.text} {self.mark}", f"{self.text}{self.mark}")
        return plain


@dataclass
class Row:
    """A row of a table."""

    cells: tuple[Printed, ...]
    page: int = 0
    first_line: int = 0
    last_line: int = 0
    """Lines of the page, from 1; more than one line where a cell is wrapped."""
    top: float = 0.0
    bottom: float = 0.0
    """Baselines of its first and last line, before lines are counted."""
    is_misprint: bool = False
    """Whether it is a total that its rows do not make."""


@dataclass
class Table:
    """A table of a document; over several pages where it is continued."""

    name: str
    headers: tuple[str, ...]
    """One for each column, lines joined by a blank; without any where the table has no header."""
    groups: tuple[str, ...] = ()
    """The spanning header of each column, "" where there is none."""
    rows: list[Row] = field(default_factory=list)

    @property
    def pages(self) -> list[int]:
        return sorted({row.page for row in self.rows})


@dataclass
class Document:
    """The bytes of a file and what stands in it."""

    name: str
    data: bytes
    tables: list[Table]
    loose: dict[int, list[str]]
    """By page: titles, notes, and headings that are set again on a further page. A reader may keep or drop them."""
    running: list[str]
    """Headers and footers of all pages. A reader may keep them once for each sheet."""
    page_count: int

    @property
    def misprints(self) -> list[Row]:
        return [row for table in self.tables for row in table.rows if row.is_misprint]


Draw = Callable[[int], Document]
"""From a seed."""


def serial_of(year: int, month: int, day: int) -> float:
    """Return a day as spreadsheets count days."""
    return float((date(year, month, day) - date(1899, 12, 30)).days)


def values_of(text: str) -> tuple[float | str | None, ...]:
    """Return the values that a printed text may be read as, the usual first."""
    if not text:
        return (None,)
    if text in DASHES:
        return (None, *DASHES)
    if match := _DAY.fullmatch(text):
        return (serial_of(int(match[3]), MONTHS.index(match[2]) + 1, int(match[1])),)
    if (match := _LONG_DAY.fullmatch(text)) and match[1] in MONTHS:
        return (serial_of(int(match[3]), MONTHS.index(match[1]) + 1, int(match[2])), text)
    match = _NUMBER.fullmatch(text)
    digits = match["digits"] if match else ""
    if match is None or (len(digits) > 1 and digits[0] == "0" and digits[1] != "."):
        return (text,)
    number = float(digits.replace(",", "")) / (100 if match["percent"] else 1)
    number = -number if match["open"] or match["minus"] else number
    return (number, text) if len(match["sign"] or "") > 1 else (number,)
