"""The table of deals: which definition, mapping and day goes with which files.

A CSV with a row for each pattern; the first row that matches counts.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from datetime import date
from fnmatch import translate
from io import StringIO
from typing import Final

from msgspec import Struct

from core.words import counted, suggestion

DEALS_BYTES_MAX: Final = 10_000_000
"""Size of a table of deals."""
ROWS_MAX: Final = 100_000
"""Rows of it."""
PATTERNS_MAX: Final = 1_000
"""Rows with a wildcard: each is tried on every source, and a plain name is looked up."""
FIELD_CHARACTERS_MAX: Final = 1_000
"""Characters of a field."""

COLUMNS: Final = ("pattern", "deal", "definition", "mapping", "as_of", "tape")
_WILDCARD: Final = re.compile(r"[*?\[]")


class DealsError(ValueError):
    """The table cannot be used; the message says why, with the line."""


class DealRow(Struct, frozen=True, kw_only=True):
    """A row; what it leaves blank is None."""

    line: int
    pattern: str
    deal: str | None = None
    definition: str | None = None
    mapping: str | None = None
    as_of: date | None = None
    tape: str | None = None


class DealTable:
    """The rows, looked up by the name of a source."""

    def __init__(self, rows: Sequence[DealRow]) -> None:
        """Take the rows in the order of their table.

        Raises:
            DealsError: more of them have a wildcard than may.
        """
        self.rows = tuple(rows)
        self._plain: dict[str, int] = {}
        self._patterns: list[tuple[int, re.Pattern[str]]] = []
        for number, row in enumerate(self.rows):
            if _WILDCARD.search(row.pattern):
                self._patterns.append((number, re.compile(translate(row.pattern))))
            else:
                self._plain.setdefault(row.pattern, number)
        if len(self._patterns) > PATTERNS_MAX:
            raise DealsError(
                f"{len(self._patterns):,} rows have a wildcard; the limit is {PATTERNS_MAX:,}: write plain names"
            )

    def match(self, name: str) -> DealRow | None:
        """Return the first row whose pattern is the name or matches it, else None.

        `*` stands for any letters, slashes too, `?` for one, `[...]` for one of some.
        """
        plain = self._plain.get(name, len(self.rows))
        first = next((number for number, pattern in self._patterns if number < plain and pattern.match(name)), plain)
        return self.rows[first] if first < len(self.rows) else None


def parse_deals(text: str) -> DealTable:
    """Return the table that a CSV holds.

    Raises:
        DealsError: it has no column `pattern`, an unknown one, a line with more fields than headings, or a value that
            cannot be read.
    """
    reader = csv.reader(StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        headings = [heading.strip().lower().replace("-", "_") for heading in next(reader, [])]
        _check_headings(headings)
        rows: list[DealRow] = []
        for fields in reader:
            if any(field.strip() for field in fields):
                rows.append(_row(reader.line_num, headings, [field.strip() for field in fields]))
            if len(rows) > ROWS_MAX:
                raise DealsError(f"it has more rows than the limit of {ROWS_MAX:,}")
    except csv.Error as error:
        raise DealsError(f"line {reader.line_num}: {error}") from error
    if not rows:
        raise DealsError("it has no row below its headings")
    return DealTable(rows)


def _check_headings(headings: list[str]) -> None:
    for heading in headings:
        if heading not in COLUMNS:
            raise DealsError(f"line 1: no column is called {heading!r}; {suggestion(heading, COLUMNS)}")
        if headings.count(heading) > 1:
            raise DealsError(f"line 1: two columns are called {heading}")
    if "pattern" not in headings:
        raise DealsError(f"line 1: the column pattern is missing; the columns are {', '.join(COLUMNS)}")


def _row(line: int, headings: list[str], fields: list[str]) -> DealRow:
    if len(fields) > len(headings):
        raise DealsError(f"line {line}: {counted(len(fields), 'field')} below {counted(len(headings), 'heading')}")
    values = {heading: field for heading, field in zip(headings, fields, strict=False) if field}
    if "pattern" not in values:
        raise DealsError(f"line {line}: no pattern")
    for heading, value in values.items():
        if len(value) > FIELD_CHARACTERS_MAX:
            raise DealsError(f"line {line}: {heading} has more characters than the limit of {FIELD_CHARACTERS_MAX:,}")
    try:
        day = date.fromisoformat(values["as_of"]) if "as_of" in values else None
    except ValueError:
        raise DealsError(f"line {line}: as_of is a day as YYYY-MM-DD, not {values['as_of']!r}") from None
    return DealRow(
        line=line,
        pattern=values["pattern"],
        deal=values.get("deal"),
        definition=values.get("definition"),
        mapping=values.get("mapping"),
        as_of=day,
        tape=values.get("tape"),
    )
