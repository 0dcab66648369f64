"""What is read beside what is printed, cell by cell.

Rows are aligned in their order. Each column of a printed table has one column of one read sheet, the same for all of
its rows; a cell is right if it stands there with the printed value. Cells that nobody printed count as wrong.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from difflib import SequenceMatcher
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

from core.grid.sheet import Workbook
from core.values import Kind, to_serial
from tests.printed_pdf.cells import Cell, PrintedCell
from tests.printed_pdf.printed import Printed
from tests.printed_pdf.sheets import PrintedRow

_HEADS: Final = ("group", "head")
_FREE: Final = ("title", "section", "foot")
"""Rows of one text, which may stand in any column."""


class ReadCell(NamedTuple):
    """A cell of the workbook that was read."""

    column: int
    value: Any
    kind: Kind

    @property
    def shown(self) -> str:
        return f"{self.kind.name.lower()} {self.value!r}"


@dataclass(slots=True)
class ReadRow:
    """A row that is not blank."""

    sheet: int
    row: int
    page: int
    cells: list[ReadCell]
    words: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Miss:
    """A row, or part of a head, that is not right."""

    kind: str
    wrong: int
    page: int
    text: str


@dataclass(slots=True)
class Comparison:
    """Cells right and wrong of one document."""

    right: int = 0
    wrong: int = 0
    pages_right: int = 0
    pages_wrong: int = 0
    misses: list[Miss] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    """Kind of row -> wrong cells."""

    @property
    def share(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    def add(self, kind: str, right: int, wrong: int, page: int, text: str) -> None:
        """Add the cells of a row."""
        self.right += right
        self.wrong += wrong
        if wrong:
            self.kinds[kind] += wrong
            self.misses.append(Miss(kind, wrong, page, text))


def read_rows(book: Workbook) -> list[ReadRow]:
    """Return the rows of all sheets that are not blank."""
    result = []
    for at, sheet in enumerate(book.sheets):
        for row in range(sheet.row_count):
            cells = [
                ReadCell(column, value, sheet.kind(row, column))
                for column in range(sheet.column_count)
                if (value := sheet.value(row, column)) not in (None, "")
            ]
            if cells:
                page = sheet.page_line(row)
                result.append(ReadRow(at, row, page[0] if page else 0, cells))
    return result


_PLAIN: Final = re.compile(r"[-+]?\(?[$€£]? ?(\d{1,3}(,\d{3})+|[1-9]\d*|0)(\.\d+)?\)? ?%?")
_COMMA: Final = re.compile(r"-?\(?[$€£]? ?(\d{1,3}(\.\d{3})+|[1-9]\d*|0)(,\d+)?\)? ?%?")
_DAYS: Final = (
    "%d-%b-%Y",
    "%d %b %Y",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%Y-%m-%d",
    "%Y%m%d",
    "%b-%y",
    "%B %Y",
    "%b %Y",
    "%m/%Y",
    "%B %d, %Y",
)


def normalised(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def numbers_in(text: str) -> Iterator[float]:
    """Numbers that a text may be read as: with a decimal point, and with a decimal comma."""
    for pattern, signs in ((_PLAIN, ",."), (_COMMA, ".,")):
        if pattern.fullmatch(text):
            digits = text.strip("-+()$€£ %").replace(signs[0], "").replace(signs[1], ".")
            number = float(digits) / (100.0 if text.endswith("%") else 1.0)
            yield -number if text.startswith(("-", "(")) else number


@cache
def days_in(text: str) -> tuple[float, ...]:
    """Serials of the days that a text may be read as."""
    days = []
    for code in _DAYS if any(sign.isdigit() for sign in text) and len(text) < 20 else ():
        try:
            days.append(to_serial(datetime.strptime(text, code).date()))  # noqa: DTZ007
        except ValueError:
            continue
    return tuple(days)


def matches(cell: PrintedCell, read: ReadCell) -> bool:
    """Return whether a read cell has the printed value."""
    value = cell.value
    if isinstance(value, str):
        return _matches_text(normalised(value), read)
    if isinstance(value, bool):
        return read.value is value or (isinstance(read.value, str) and read.value.upper() == cell.text)
    if isinstance(value, date):
        if isinstance(read.value, str):  # days of digits alone stay as they are printed
            return "/" in cell.text or "-" in cell.text[:5] if read.value == cell.text else False
        return read.kind == Kind.DATE and read.value == to_serial(value)
    is_number = read.kind == Kind.NUMBER and isinstance(read.value, float)
    return is_number and abs(read.value - value) <= 0.01 * cell.unit


def _matches_text(text: str, read: ReadCell) -> bool:
    if isinstance(read.value, bool):
        return str(read.value).upper() == text.upper()
    if isinstance(read.value, str):
        return normalised(read.value) == text
    if read.kind == Kind.DATE:
        return read.value in days_in(text)
    return any(abs(read.value - number) <= 1e-9 * max(1.0, abs(number)) for number in numbers_in(text))


def _key_of_text(text: str) -> str:
    text = normalised(text)
    number = next(chain(numbers_in(text), days_in(text)), None)
    return text if number is None else f"{number:.9g}"


def _key(cell: PrintedCell) -> str:
    if isinstance(cell.value, float):
        return f"{cell.value:.9g}"
    if isinstance(cell.value, date):
        return f"{to_serial(cell.value):.9g}"
    return _key_of_text(cell.text)


def _read_key(cell: ReadCell) -> str:
    return _key_of_text(cell.value) if isinstance(cell.value, str) else f"{float(cell.value):.9g}"


@dataclass(slots=True)
class _Truth:
    """A printed row with its place."""

    sheet: int
    row: PrintedRow
    page: int
    key: str = ""
    words: Counter[str] = field(default_factory=Counter)
    is_running: bool = False
    """A title that an earlier sheet has too: it may be read as a running header, which stands once."""


def compare(printed: Printed, book: Workbook) -> Comparison:
    """Return how many cells of a document are read rightly."""
    truth = _truth_rows(printed)
    read = _without_running(_without_repeats(read_rows(book), truth), truth, printed.running)
    for row in read:
        row.words = Counter(word for cell in row.cells for word in _read_key(cell).split(" "))
    pairs = _aligned(truth, read)
    result = Comparison()
    used = {at for at in pairs.values() if at is not None}
    tables: dict[int, list[int]] = defaultdict(list)
    for at, row in enumerate(truth):
        tables[row.row.table].append(at)
    for places in tables.values():
        used |= _compare_table(result, truth, read, pairs, places)
    _add_extras(result, truth, read, used)
    return result


def _truth_rows(printed: Printed) -> list[_Truth]:
    result = []
    titles: set[str] = set()
    for at, (sheet, pages) in enumerate(zip(printed.sheets, printed.pages, strict=True)):
        for row, page in zip(sheet.rows, pages, strict=True):
            if not row.is_blank and not row.is_repeat:
                keys = [_key(cell) for cell in row.cells if cell is not None]
                words = Counter(word for key in keys for word in key.split(" "))
                truth = _Truth(at, row, page, "\x1f".join(keys), words)
                truth.is_running = row.kind == "title" and truth.key in titles
                titles |= {truth.key} if row.kind == "title" else set()
                result.append(truth)
    return result


def _without_repeats(read: list[ReadRow], truth: list[_Truth]) -> list[ReadRow]:
    """Leave out titles and headings that stand in a sheet again: continued pages may print them."""
    tops = Counter(
        (row.sheet, _squeezed(_line(row.row.cells, ""))) for row in truth if row.row.kind in (*_HEADS, "title")
    )
    most: dict[str, int] = defaultdict(int)
    for (_, text), count in tops.items():
        most[text] = max(most[text], count)
    seen = Counter[tuple[int, str]]()
    result = []
    for row in read:
        text = _squeezed(_read_line(row, ""))
        if text not in most or seen[row.sheet, text] < most[text]:
            result.append(row)
        seen[row.sheet, text] += 1
    return result


def _without_running(read: list[ReadRow], truth: list[_Truth], running: list[str]) -> list[ReadRow]:
    """Leave out headers and footers, once a sheet."""
    shapes = [_masked(text) for text in running]
    own = {_masked(_line(row.row.cells, "")) for row in truth}
    seen: set[tuple[int, str]] = set()
    result = []
    for row in read:
        shape = _masked(_read_line(row, ""))
        is_running = len(shape) > 4 and shape not in own and any(shape in each for each in shapes)
        if not is_running or (row.sheet, shape) in seen:
            result.append(row)
        seen.add((row.sheet, shape))
    return result


def _aligned(truth: list[_Truth], read: list[ReadRow]) -> dict[int, int | None]:
    """Printed row -> read row: equal rows first, then the most similar ones between these."""
    keys = [row.key for row in truth]
    read_keys = ["\x1f".join(map(_read_key, row.cells)) for row in read]
    pairs: dict[int, int | None] = dict.fromkeys(range(len(truth)))
    matcher = SequenceMatcher(None, keys, read_keys, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            pairs.update(zip(range(first, last), range(start, end), strict=True))
        elif tag == "replace":
            pairs.update(_most_similar(truth, read, range(first, last), range(start, end)))
    return pairs


def _most_similar(truth: list[_Truth], read: list[ReadRow], rows: range, others: range) -> dict[int, int]:
    """Align two runs of rows in their order with the most words in common."""
    best = [[0.0] * (len(others) + 1) for _ in range(len(rows) + 1)]
    likeness = [[_likeness(truth[row], read[at]) for at in others] for row in rows]
    for i in range(len(rows) - 1, -1, -1):
        for j in range(len(others) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + likeness[i][j])
    pairs, i, j = {}, 0, 0
    while i < len(rows) and j < len(others):
        if likeness[i][j] and best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
            pairs[rows[i]] = others[j]
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(truth: _Truth, read: ReadRow) -> float:
    if read.page and abs(read.page - truth.page) > 1:
        return 0.0
    common = (truth.words & read.words).total()
    share = 2 * common / (truth.words.total() + read.words.total())
    return share if share >= 0.3 else 0.0


def _compare_table(
    result: Comparison, truth: list[_Truth], read: list[ReadRow], pairs: dict[int, int | None], places: list[int]
) -> set[int]:
    """Compare the rows of one table; which read rows are its head."""
    bodies = [at for at in places if truth[at].row.kind not in (*_HEADS, *_FREE)]
    sheets = Counter(read[match].sheet for at in bodies if (match := pairs[at]) is not None)
    own = sheets.most_common(1)[0][0] if sheets else -1
    head = _head_rows(truth, read, pairs, places)
    columns = _columns(truth, read, pairs, bodies, own, _HeadTexts(truth, places, [read[at] for at in head]))
    for at in places:
        row, match = truth[at], pairs[at]
        if row.row.kind in _HEADS:
            continue
        if match is not None:
            right_page = read[match].page == row.page
            result.pages_right += right_page
            result.pages_wrong += not right_page
        if row.row.kind in _FREE:
            _compare_free(result, row, None if match is None else read[match])
        else:
            _compare_body(result, row, None if match is None else read[match], columns, own)
    _compare_head(result, truth, places, [read[at] for at in head], columns, own)
    return set(head)


def _head_rows(truth: list[_Truth], read: list[ReadRow], pairs: dict[int, int | None], places: list[int]) -> list[int]:
    """Read rows between the last one before a table's head and the first one after it."""
    heads = [at for at in places if truth[at].row.kind in _HEADS]
    if not heads:
        return []
    before = [match for at in range(heads[0]) if (match := pairs[at]) is not None]
    after = next((match for at in range(heads[-1] + 1, len(truth)) if (match := pairs[at]) is not None), len(read))
    return list(range(before[-1] + 1 if before else 0, after))


class _HeadTexts:
    """Headings of a printed table and of the read one, by column, without white space."""

    def __init__(self, truth: list[_Truth], places: Sequence[int], read: list[ReadRow]) -> None:
        self.own: dict[int, str] = defaultdict(str)
        self.groups: dict[int, str] = {}
        for at in places:
            row = truth[at].row
            for column, cell in enumerate(row.cells) if row.kind in _HEADS else ():
                if cell is None:
                    continue
                if row.kind == "group":
                    self.groups[column] = _squeezed(cell.text)
                else:
                    self.own[column] += _squeezed(cell.text)
        self.read: dict[int, str] = defaultdict(str)
        for read_row in read:
            for read_cell in read_row.cells:
                self.read[read_cell.column] += _squeezed(_shown(read_cell))

    def group_of(self, column: int) -> str:
        """Return the word above a column; the nearest on the left."""
        starts = [at for at in self.groups if at <= column]
        return self.groups[max(starts)] if starts else ""

    def fits(self, column: int, read_column: int) -> bool:
        text, own = self.read.get(read_column, ""), self.own.get(column, "")
        return text in (own, self.group_of(column) + own) and bool(own)


def _shown(cell: ReadCell) -> str:
    return cell.value if isinstance(cell.value, str) else f"{cell.value:g}"


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _columns(
    truth: list[_Truth],
    read: list[ReadRow],
    pairs: dict[int, int | None],
    bodies: list[int],
    own: int,
    heads: _HeadTexts,
) -> dict[int, int]:
    """Printed column -> read column: in order, with the most cells that match."""
    votes: Counter[tuple[int, int]] = Counter()
    for at in bodies:
        match = pairs[at]
        if match is None or read[match].sheet != own:
            continue
        for column, cell in enumerate(truth[at].row.cells):
            if cell is not None:
                votes.update((column, each.column) for each in read[match].cells if matches(cell, each))
    votes.update(
        (column, read_cell) for column in heads.own for read_cell in heads.read if heads.fits(column, read_cell)
    )
    width = 1 + max((column for column, _ in votes), default=-1)
    read_width = 1 + max((column for _, column in votes), default=-1)
    best = [[0] * (read_width + 1) for _ in range(width + 1)]
    for i in range(width - 1, -1, -1):
        for j in range(read_width - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + votes[i, j])
    columns, i, j = dict[int, int](), 0, 0
    while i < width and j < read_width:
        if votes[i, j] and best[i][j] == best[i + 1][j + 1] + votes[i, j]:
            columns[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return columns


def _compare_free(result: Comparison, truth: _Truth, read: ReadRow | None) -> None:
    cells = [cell for cell in truth.row.cells if cell is not None]
    if read is None:
        if not truth.is_running:
            result.add(truth.row.kind, 0, len(cells), truth.page, f"not read: {_line(truth.row.cells)}")
        return
    right = sum(any(matches(cell, read_cell) for read_cell in read.cells) for cell in cells)
    wrong = max(len(cells) - right, len(read.cells) - right)
    result.add(truth.row.kind, right, wrong, truth.page, f"{_line(truth.row.cells)} read as {_read_line(read)}")


def _compare_body(result: Comparison, truth: _Truth, read: ReadRow | None, columns: dict[int, int], own: int) -> None:
    cells = {at: cell for at, cell in enumerate(truth.row.cells) if cell is not None}
    if read is None or read.sheet != own:
        where = "not read" if read is None else "on another sheet"
        result.add(truth.row.kind, 0, len(cells), truth.page, f"{where}: {_line(truth.row.cells)}")
        return
    by_column = {cell.column: cell for cell in read.cells}
    right = {
        at
        for at, cell in cells.items()
        if (read_cell := by_column.get(columns.get(at, -1))) is not None and matches(cell, read_cell)
    }
    extra = len(read.cells) - len(right)
    wrong = max(len(cells) - len(right), extra)
    examples = [f"{cell.text!r}" for at, cell in cells.items() if at not in right]
    places = {columns[at] for at in right}
    others = [f"column {cell.column + 1} {cell.shown}" for cell in read.cells if cell.column not in places]
    text = f"{', '.join(examples[:4]) or 'nothing'} read as {', '.join(others[:4]) or 'nothing'}"
    if wrong:
        text += f" (sheet {read.sheet + 1} row {read.row + 1}, begins {_read_line(read)[:60]})"
    result.add(truth.row.kind, len(right), wrong, truth.page, text)


def _compare_head(
    result: Comparison, truth: list[_Truth], places: list[int], read: list[ReadRow], columns: dict[int, int], own: int
) -> None:
    """Compare headings, those of several lines put together; words of groups stand above any of their columns."""
    texts = _HeadTexts(truth, places, read)
    if not texts.own:
        return
    page = next(truth[at].page for at in places if truth[at].row.kind in _HEADS)
    is_own = bool(read) and all(row.sheet == own for row in read)
    wrong = [column for column in texts.own if not (is_own and texts.fits(column, columns.get(column, -1)))]
    taken = {columns[column] for column in texts.own if column in columns}
    starts = sorted(texts.groups)
    for start, end in zip(starts, [*starts[1:], 10_000], strict=False):
        own_columns = [columns[column] for column in columns if start <= column < end]
        if not any(texts.groups[start] in texts.read.get(column, "") for column in own_columns):
            wrong.append(start)
        taken |= set(own_columns)
    extra = [column for column in texts.read if column not in taken]
    total = len(texts.own) + len(texts.groups)
    examples = [
        f"{texts.own.get(column, '')!r} read as {texts.read.get(columns.get(column, -1), '')!r}" for column in wrong
    ]
    text = "; ".join([*examples[:5], *(f"extra {texts.read[column]!r}" for column in extra[:3])])
    result.add("head", total - len(wrong), max(len(wrong), len(extra)), page, text)


def _add_extras(result: Comparison, truth: list[_Truth], read: list[ReadRow], used: set[int]) -> None:
    """Count what nobody printed; heads that stand again are no mistakes."""
    tops = [row.row for row in truth if row.row.kind in (*_HEADS, "title")]
    lines = {_squeezed(_line(row.cells, "")) for row in tops}
    heads = "\n".join(_squeezed(cell.text) for row in tops if row.kind in _HEADS for cell in row.cells if cell)
    for at, row in enumerate(read):
        is_head = all(_squeezed(_shown(cell)) in heads for cell in row.cells)
        if at not in used and not is_head and _squeezed(_read_line(row, "")) not in lines:
            result.add("extra", 0, len(row.cells), row.page, f"nobody printed {_read_line(row)[:160]}")


def _masked(text: str) -> str:
    return re.sub(r"\d+", "#", _squeezed(text))


def _line(cells: Sequence[Cell], between: str = " | ") -> str:
    return between.join(cell.text for cell in cells if cell is not None)


def _read_line(row: ReadRow, between: str = " | ") -> str:
    return between.join(_shown(cell) for cell in row.cells)
