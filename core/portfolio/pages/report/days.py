"""Days as pages write them: which way round 03/04/2024 is, and "As of ..."."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import Final, Literal, NamedTuple

import numpy as np

from core.grid.column import Text
from core.portfolio.cells import number_cells, string_pool
from core.portfolio.cells.month_dates import last_day, month_days
from core.portfolio.cells.string_pool import key
from core.portfolio.cells.text.dates import date_days
from core.portfolio.model.notes import DataWarning
from core.portfolio.pages.report.page import NAN, PageCell, ReportPage
from core.portfolio.sheets.columns.gaps import BESIDE_COLUMNS, LABEL_OF_DAY
from core.values import SERIAL_OF_1970, day_of

DATES_MAX: Final = 2_000
"""Strings of a sheet that are looked at to tell whether the day stands first."""

_SLASHED: Final = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4}|\d\d)")
_SLASHED_BYTES: Final = (8, 10)
"""UTF-8 bytes of a date in figures: 1/2/2024 to 16/12/2024."""

_DATE: Final = (
    r"\d{4}-\d{1,2}-\d{1,2}"
    r"|\d{1,2}(?:st|nd|rd|th)?[-\s./]{0,2}[A-Za-z]{3,9}\.?[-\s,./]{0,2}(?:\d{4}|\d\d)"
    r"|[A-Za-z]{3,9}\.?[-\s]{1,2}\d{1,2}(?:st|nd|rd|th)?[-\s,]{1,2}\d{4}"
    r"|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)"
)
DATE: Final = re.compile(_DATE)
"""A day inside of a text."""

_AS_OF: Final = re.compile(
    r"\b(?:(?P<first>as (?:of|at)(?: date)?(?: (?:the )?close of business)?)"
    r"|(?P<second>determination date|calculation date|measurement date)"
    r"|(?P<third>report(?:ing)? date|statement date|period end(?:ing)?(?: date)?"
    r"|(?:(?<=^)|(?<=[|;] ))valuation(?: date)?(?=\s*:)))"
    rf"\s*[:\-–]?\s*(?:the\s+)?(?P<date>{_DATE})(?!\d)",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(r"\b(?:baseline|compar|chang|initial|target|since|versus|vs)", re.IGNORECASE)
"""Words before "as of" whose day is one to compare with."""

_PERIOD_WORDS: Final = re.compile(r"\bperiod\b", re.IGNORECASE)
_PERIOD: Final = re.compile(
    rf"\b(?:collection|due|reporting|remittance) period\b[^\d]{{0,20}}(?:{_DATE})\s{{0,3}}"
    rf"(?:-|–|to|through|until|/)\s{{0,3}}(?:and including\s+)?(?P<date>{_DATE})(?!\d)",
    re.IGNORECASE,
)
"""The period of which a report is, with the day of its end."""

_PERIOD_DAYS: Final = re.compile(rf"\s*(?:{_DATE})\s*(?:-|–|to|through|until)\s*(?P<date>{_DATE})\s*", re.IGNORECASE)
_PERIOD_LABEL: Final = re.compile(r"\s*(?:collection|due|reporting|remittance) period\s*:?\s*", re.IGNORECASE)
_OTHERS: Final = re.compile(
    r"\b(?:ratings?|prices?|priced|rates?|closing|issued?|effective|amended|(?:payment|distribution) date)\b",
    re.IGNORECASE,
)
"""Words before "as of" whose day is not the report's."""

_POOL: Final = re.compile(r"\b(?:holdings|portfolio|collateral|positions|assets|loans|report)\b", re.IGNORECASE)
"""Words of a title that say what is listed: "Holdings by Rating as of ..." is no day of ratings."""

_FOOTER: Final = re.compile(rf"(?:©|\(c\)|copyright|page \d)\D.*?\b(?P<date>{_DATE})\s*$", re.IGNORECASE)

_TITLE: Final = re.compile(rf"(?:^|[\s:,\-–(])(?P<date>{_DATE})\)?\s*$")
_NO_TITLE: Final = re.compile(
    r"\b(?:clos|matur|pay|next|due|issue|effective|amend|run|print|generat|export|creat|prepar|start|begin|from|reinvest"
    r"|prior|previous|last|price|rating|refinanc|first)",
    re.IGNORECASE,
)
"""Words of a line whose day is not the one that the page is of."""

_PERIOD_END: Final = re.compile(
    r"(?:(?P<label>[a-z -]{3,40}):?\s+)?"
    r"(?:(?P<month>[a-z]{3,9}\.?,? 20\d\d)|Q(?P<quarter>[1-4])[\s/-]*(?P<year>20\d\d))",
    re.IGNORECASE,
)
_END_LABEL: Final = re.compile(
    r"(?:for (?:the )?)?(?:report(?:ing)? )?(?:month|quarter|period)(?:[ -]end(?:ed|ing)?)?\s*:?", re.IGNORECASE
)
"""Labels of a month or a quarter at whose end the report is."""

_COLUMN: Final = {"as of date": 0, "as of": 0, "as at": 0, "asofdate": 0, "determination date": 1, "report date": 2,
                  "reporting date": 2, "period end date": 2}  # fmt: skip
"""Headers of columns with the day on every row, as `key` gives them -> tier."""

TITLE_ROWS: Final = 6
"""Rows from the top of a page in which a day may stand without a word for it."""

PERIOD_LENGTH_MAX: Final = 60
"""Characters of a line that names a month or a quarter."""

COLUMN_ROWS: Final = 50
"""Rows below a header that must say one day."""

FIRST_DAY: Final = 7_305
"""1990-01-01 in days since 1970: nothing that a report is of lies before it."""


class DateOrder:
    """Reads dates of one file."""

    def __init__(self, texts: Iterable[Text]) -> None:
        """Let the dates that can be one way only decide the others.

        `texts`: the strings of the file's sheets.
        """
        votes: Counter[str] = Counter()
        for text in texts:
            sizes = np.diff(text.offsets)
            short = np.flatnonzero((sizes >= _SLASHED_BYTES[0]) & (sizes <= _SLASHED_BYTES[1]))[:DATES_MAX]
            for string in string_pool.decode(text, short):
                votes[_way(string)] += 1
        self.likely: Literal["day first", "month first"] = "month first"
        """What is taken where nothing decides."""
        self.order: Literal["day first", "month first", ""] = (
            ""
            if votes["day first"] == votes["month first"]
            else "day first"
            if votes["day first"] > votes["month first"]
            else "month first"
        )

    def learn(self, strings: Iterable[str]) -> None:
        """Let dates inside of longer texts decide, where no other did."""
        if not self.order:
            votes = Counter(_way(match[0]) for string in strings for match in _SLASHED.finditer(string))
            if votes["day first"] != votes["month first"]:
                self.order = "day first" if votes["day first"] > votes["month first"] else "month first"

    def of(self, cell: PageCell) -> tuple[float, bool]:
        """Return a date, NaN for none, and whether day and month could be swapped.

        A number is a serial of 1970 or later, or YYYYMMDD.
        """
        if cell.day == cell.day:
            return cell.day, False
        if cell.text:
            return self.read(cell.text)
        if 19_700_101 <= cell.number <= 21_991_231:
            return date_days(str(int(cell.number)), day_first=False), False
        if SERIAL_OF_1970 <= cell.number <= number_cells.SERIAL_MAX:
            return cell.number // 1 - SERIAL_OF_1970, False
        return NAN, False

    def read(self, text: str) -> tuple[float, bool]:
        """Return the same of a text; where nothing decides, in the likely order."""
        match = _SLASHED.fullmatch(text.strip())
        if match is None:
            return date_days(text, day_first=False), False
        way = _way(text.strip())
        day = date_days(text, day_first=(way or self.order or self.likely) == "day first")
        return day, not way and not self.order and match[1].zfill(2) != match[3].zfill(2)


def _way(text: str) -> Literal["day first", "month first", ""]:
    """Return which way round a date must be; "" for either, or for no date."""
    match = _SLASHED.fullmatch(text)
    if match is None:
        return ""
    first, second = int(match[1]), int(match[3])
    return (
        "day first" if 12 < first <= 31 and second <= 12 else "month first" if 12 < second <= 31 and first <= 12 else ""
    )


OWN_WORDS: Final = 5
"""The tier of a label in a file's own words, to which all else goes first."""


class AsOf(NamedTuple):
    """A day that some line says the report is of."""

    tier: int
    """0 "As of", 1 a determination date, 2 a report date, 3 a footer, 4 a title that has a date and no word for it, 5 a
    label in the file's own words."""
    day: float
    text: str
    place: str
    is_ambiguous: bool


def as_of_lines(pages: Sequence[ReportPage], days: DateOrder) -> list[AsOf]:
    """Return the lines that say a day, of all pages."""
    lines = []
    for page in pages:
        for row, column, text in page.texts():
            line, tier = _line(page, row, column, text)
            if line is not None:
                day, ambiguous = days.read(line["date"])
                if day >= FIRST_DAY:
                    lines.append(AsOf(tier, day, line["date"], page.place(row, column), ambiguous))
            elif (header := _COLUMN.get(key(text))) is not None:
                lines.extend(_below(page, row, column, header, days))
            else:
                lines.extend(_in_own_words(page, row, column, text, days))
        for row in page.rows[:TITLE_ROWS]:
            for column, cell in page.row(row).items():
                if row < TITLE_ROWS and cell.day >= FIRST_DAY and _is_title(page, row, column):
                    lines.append(AsOf(4, cell.day, f"{day_of(cell.day)}", page.place(row, column), False))
    return lines


def _line(page: ReportPage, row: int, column: int, text: str) -> tuple[re.Match[str] | None, int]:
    """Find the day that a text says the report is of, and the tier of its words."""
    line, tier = _AS_OF.search(text), 3
    if line is None:
        period = _period(page, row, column, text)
        line, tier = (period, 2) if period is not None else (_FOOTER.search(text), 3)
    elif _OTHERS.search(text[: line.start()]):
        line, tier = (line if row < TITLE_ROWS and _POOL.search(text) else None), 4
    else:
        tier = next(at for at, name in enumerate(("first", "second", "third")) if line[name])
    if line is None and row < TITLE_ROWS and not _NO_TITLE.search(text) and _is_title(page, row, column):
        line, tier = _TITLE.search(text), 4
    return line, tier


def _period(page: ReportPage, row: int, column: int, text: str) -> re.Match[str] | None:
    """Find the end of a report's period in a line or right of it."""
    if not _PERIOD_WORDS.search(text):
        return None
    if (match := _PERIOD.search(text)) is not None or not _PERIOD_LABEL.fullmatch(text):
        return match
    return _PERIOD_DAYS.fullmatch(page.cell(row, column + 1).text)


def _in_own_words(page: ReportPage, row: int, column: int, text: str, days: DateOrder) -> Iterator[AsOf]:
    """Yield the day beside a label in a file's own words, or the end of a period."""
    if _is_label(text):
        yield from _beside(page, row, column, days)
    elif row < TITLE_ROWS and (day := _end_of_period(page, row, column, text)) >= FIRST_DAY:
        yield AsOf(OWN_WORDS, day, text, page.place(row, column), False)


def _end_of_period(page: ReportPage, row: int, column: int, text: str) -> float:
    """Return the last day of the month or quarter that a label says; NaN without one."""
    match = _PERIOD_END.fullmatch(text.strip()[:PERIOD_LENGTH_MAX])
    if match is None or _PERIOD_END.fullmatch(page.cell(row, column + 1).text.strip()[:PERIOD_LENGTH_MAX]):
        return NAN
    label = match["label"] or (page.cell(row, column - 1).text if column else "")
    if not _END_LABEL.fullmatch(label.strip()):
        return NAN
    return last_day(int(match["year"]), 3 * int(match["quarter"])) if match["quarter"] else month_days(match["month"])


def _is_title(page: ReportPage, row: int, column: int) -> bool:
    """Return whether a cell belongs to no label or table: its row has little else."""
    cells = page.row(row)
    return len(cells) <= 2 and not any(
        at == column - 1 or (at < column and (cell.text.endswith(":") or _NO_TITLE.search(cell.text)))
        for at, cell in cells.items()
    )


def _is_label(text: str) -> bool:
    return LABEL_OF_DAY.fullmatch(text) is not None and not any(
        words.search(text) for words in (_OTHERS, _NO_TITLE, _COMPARED)
    )


def _beside(page: ReportPage, row: int, column: int, days: DateOrder) -> Iterator[AsOf]:
    """Yield the day right of a label.

    Only where no other day stands there, and nothing before it.
    """
    cells = [(at, page.cell(row, at)) for at in range(column + 1, column + 1 + BESIDE_COLUMNS)]
    filled = [(at, cell) for at, cell in cells if cell.text or cell.number == cell.number or cell.day == cell.day]
    dated = [(at, cell, *days.of(cell)) for at, cell in filled if cell.text or cell.day == cell.day]
    dated = [each for each in dated if each[2] >= FIRST_DAY]
    if len(dated) == 1 and dated[0][0] == filled[0][0]:
        at, cell, day, is_ambiguous = dated[0]
        yield AsOf(OWN_WORDS, day, cell.text or f"{day_of(day)}", page.place(row, at), is_ambiguous)


def _below(page: ReportPage, row: int, column: int, tier: int, days: DateOrder) -> Iterator[AsOf]:
    """Yield the day of a column that says the same one on every row."""
    at = bisect_right(page.rows, row)
    cells = [(lower, days.of(page.cell(lower, column))) for lower in page.rows[at : at + COLUMN_ROWS]]
    if cells and len({day for _, (day, _) in cells}) == 1 and cells[0][1][0] >= FIRST_DAY:
        lower, (day, ambiguous) = cells[0]
        cell = page.cell(lower, column)
        yield AsOf(tier, day, cell.text or f"{day_of(day)}", page.place(lower, column), ambiguous)


_REPORT_DAY: Final = re.compile(r"\b(?:report(?:ing)?|statement|print(?:ed)?|run) date\b", re.IGNORECASE)


def is_report_day(pages: Sequence[ReportPage], place: str) -> bool:
    """Return whether the words are those of the day on which a report is made."""
    for page in pages:
        for row, column, text in page.texts():
            reach = BESIDE_COLUMNS if LABEL_OF_DAY.fullmatch(text) else 1 if _REPORT_DAY.search(text) else -1
            if place in (page.place(row, column + at) for at in range(reach + 1)):
                return True
    return False


_WEAK_PLACES: Final = {
    3: "a footer only", 4: "a title that does not say what it is", OWN_WORDS: "a label in the file's own words only",
}  # fmt: skip


def choose_day(lines: Sequence[AsOf]) -> tuple[AsOf | None, list[DataWarning]]:
    """Choose the day that most of the most telling lines say, with warnings.

    Of several in one row, as above groups of columns, the latest.
    """
    if not lines:
        return None, []
    tier = min(line.tier for line in lines)
    best_lines = [line for line in lines if line.tier == tier]
    count = Counter(line.day for line in best_lines)
    best = max(best_lines, key=lambda line: count[line.day])
    same_row = [line for line in best_lines if _row_of(line) == _row_of(best) and count[line.day] == count[best.day]]
    best = max(same_row, key=lambda line: line.day)
    warnings = []
    if len(count) > 1:
        others = ", ".join(sorted({f"{day_of(day)}" for day in count if day != best.day}))
        warnings.append(
            DataWarning("as_of_conflict", f"pages say different days: {day_of(best.day)} is used, not {others}")
        )
    if where := _WEAK_PLACES.get(tier):
        warnings.append(DataWarning("as_of_footer", f"the day {day_of(best.day)} stands in {where} ({best.place})"))
    return best, warnings


def _row_of(line: AsOf) -> tuple[str, str]:
    """Return the sheet and the row of a line's place."""
    sheet, _, cell = line.place.rpartition("!")
    return sheet, cell.lstrip(ascii_uppercase)


def ambiguous(text: str, place: str, day: float) -> DataWarning:
    """Warn that a date could be read two ways."""
    return DataWarning(
        "ambiguous_date", f"{text} in {place} is read as {day_of(day)}: no other date of the file says which way round"
    )
