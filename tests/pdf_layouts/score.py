"""A workbook against the truth of its document: which cells are read right."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from core.grid.sheet import Workbook
from tests.pdf_layouts.truth import DASHES, Document, Row, Table, values_of

HEADER_ROWS_MAX = 8
"""Rows above the first one of a table in which its header is looked for."""

Key = float | str
Value = float | str | bool | None


@dataclass
class Wrong:
    """A cell that is read wrong, or one that is not in the document."""

    page: int
    line: int
    header: str
    right: str
    read: str

    def __str__(self) -> str:
        return f"page {self.page} line {self.line}, {self.header or 'no header'}: {self.right!r} is read {self.read!r}"


@dataclass
class Score:
    """How much of a document is read right."""

    name: str
    cells: int = 0
    right: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    headers: int = 0
    headers_right: int = 0
    rows: int = 0
    rows_missing: int = 0
    lines_right: int = 0
    surplus: int = 0
    """Cells of the workbook that the document does not print in a table or as a title; each counts as a wrong cell."""
    pieces: dict[str, int] = field(default_factory=dict)
    """Sheets that hold rows of each table: a table that is continued stands in one."""
    homes: dict[str, int] = field(default_factory=dict)
    """The sheet that most rows of each table are in."""
    misprints_right: bool = True
    """Whether exactly the misprinted totals are remarked, with page and line."""

    @property
    def share(self) -> float:
        """Return the share of right cells; a surplus cell is a wrong one."""
        return self.right / max(self.cells + self.surplus, 1)


@dataclass
class _ReadRow:
    sheet: int
    row: int
    page: int
    line: int
    cells: dict[int, Value]
    keys: frozenset[Key] = frozenset()
    is_aligned: bool = False


def key_of(value: Value) -> Key | None:
    """Return what equal values have in common: numbers to 9 digits, texts without regard to spaces."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = " ".join(value.replace("\u00ad", "").split())
        return DASHES[0] if text in DASHES else text or None
    return float(f"{value:.9g}") + 0.0


def _read_rows(book: Workbook) -> list[_ReadRow]:
    rows: list[_ReadRow] = []
    for at, sheet in enumerate(book.sheets):
        for row in range(sheet.row_count):
            cells = {column: sheet.value(row, column) for column in range(sheet.column_count)}
            cells = {column: value for column, value in cells.items() if value not in (None, "")}
            page, line = sheet.page_line(row) or (0, 0)
            keys = frozenset(key for value in cells.values() if (key := key_of(value)) is not None)
            rows.append(_ReadRow(at, row, page, line, cells, keys))
    return rows


def _keys(row: Row) -> frozenset[Key]:
    return frozenset(key for cell in row.cells for value in cell.values() if (key := key_of(value)) is not None)


def _align(rows: list[Row], candidates: list[_ReadRow]) -> list[_ReadRow | None]:
    """Return for each row the one that it was read as, in order: the most cells in common over all rows."""
    common = [[len(keys & candidate.keys) for candidate in candidates] for keys in map(_keys, rows)]
    width = len(candidates)
    best = [[0] * (width + 1) for _ in range(len(rows) + 1)]
    for at in range(len(rows) - 1, -1, -1):
        for place in range(width - 1, -1, -1):
            taken = common[at][place] + best[at + 1][place + 1] if common[at][place] else 0
            best[at][place] = max(best[at + 1][place], best[at][place + 1], taken)
    aligned: list[_ReadRow | None] = [None] * len(rows)
    at = place = 0
    while at < len(rows) and place < width:
        if common[at][place] and best[at][place] == common[at][place] + best[at + 1][place + 1]:
            aligned[at] = candidates[place]
            at, place = at + 1, place + 1
        elif best[at][place] == best[at + 1][place]:
            at += 1
        else:
            place += 1
    return aligned


def _columns(table: Table, pairs: list[tuple[Row, _ReadRow]]) -> dict[int, int]:
    """Return for each column of a table the one in a sheet that most of its cells stand in."""
    votes: Counter[tuple[int, int]] = Counter()
    for row, read in pairs:
        for at, cell in enumerate(row.cells):
            keys = {key_of(value) for value in cell.values()} - {None}
            votes.update((at, column) for column, value in read.cells.items() if key_of(value) in keys)
    columns: dict[int, int] = {}
    for (at, column), _ in votes.most_common():
        if at not in columns and column not in columns.values():
            columns[at] = column
    return columns


def _letters(text: str) -> str:
    """Return a header's letters and digits, without marks of footnotes such as (1)."""
    return re.sub(r"[^0-9a-z&%]", "", re.sub(r"\(\d\d?\)", "", text.casefold()))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\s.]+", text.casefold()))


def _judge_row(score: Score, table: Table, row: Row, read: _ReadRow | None, columns: dict[int, int]) -> None:
    score.rows += 1
    if read is None:
        score.rows_missing += 1
    else:
        score.lines_right += row.first_line <= read.line <= row.last_line
    for at, cell in enumerate(row.cells):
        column = columns.get(at)
        value = read.cells.get(column) if read is not None and column is not None else None
        if cell.is_blank and value is None:
            continue  # a blank that is read as one is no feat
        score.cells += 1
        if read is not None and key_of(value) in {key_of(right) for right in cell.values()}:
            score.right += 1
        else:
            header = table.headers[at] if table.headers else ""
            score.wrong.append(
                Wrong(
                    row.page,
                    row.first_line,
                    header,
                    f"{cell.text}{cell.mark}",
                    "a row less" if read is None else str(value),
                )
            )
    if read is not None:
        for column in read.cells.keys() - set(columns.values()):
            _add_surplus(score, read, column)


def _add_surplus(score: Score, read: _ReadRow, column: int) -> None:
    score.surplus += 1
    score.wrong.append(Wrong(read.page, read.line, f"sheet {read.sheet} column {column}", "", str(read.cells[column])))


def _judge_header(score: Score, table: Table, first: _ReadRow, columns: dict[int, int], rows: list[_ReadRow]) -> None:
    above = [row for row in rows if row.sheet == first.sheet and first.row - HEADER_ROWS_MAX <= row.row < first.row]
    texts = {at: _letters("".join(str(row.cells.get(column, "")) for row in above)) for at, column in columns.items()}
    for at, header in enumerate(table.headers):
        group = table.groups[at] if table.groups else ""
        members = [place for place, name in enumerate(table.groups) if name == group]
        has_group = not group or any(_letters(group) in texts.get(place, "") for place in members)
        if not header:
            continue
        score.headers += 1
        score.cells += 1
        if has_group and texts.get(at, "").endswith(_letters(header)):
            score.headers_right += 1
            score.right += 1
        else:
            full = f"{group} / {header}" if group else header
            score.wrong.append(Wrong(first.page, first.line, "header", full, texts.get(at, "no column")))


def _judge_table(score: Score, table: Table, by_page: dict[int, list[_ReadRow]], rows: list[_ReadRow]) -> None:
    pairs: list[tuple[Row, _ReadRow | None]] = []
    for page in table.pages:
        own = [row for row in table.rows if row.page == page]
        pairs += zip(own, _align(own, [row for row in by_page[page] if not row.is_aligned]), strict=True)
        for _, read in pairs[-len(own) :]:
            if read is not None:
                read.is_aligned = True
    by_sheet: dict[int, list[tuple[Row, _ReadRow]]] = defaultdict(list)
    for row, read in pairs:
        if read is not None:
            by_sheet[read.sheet].append((row, read))
    columns = {sheet: _columns(table, paired) for sheet, paired in by_sheet.items()}
    for row, read in pairs:
        _judge_row(score, table, row, read, columns[read.sheet] if read is not None else {})
    score.pieces[table.name] = len(by_sheet)
    if by_sheet:
        sheet = score.homes[table.name] = max(by_sheet, key=lambda at: len(by_sheet[at]))
        _judge_header(score, table, by_sheet[sheet][0][1], columns[sheet], rows)
    else:
        score.cells += len(table.headers)


def _judge_rest(score: Score, document: Document, rows: list[_ReadRow]) -> None:
    """Count the cells of rows that are in no table: titles may stand, headers and running texts once a sheet."""
    starts: dict[int, set[str]] = defaultdict(set)
    for table in document.tables:
        if table.rows:
            starts[table.rows[0].page] |= _words(" ".join((*table.headers, *table.groups)))
    first_pages: dict[int, int] = {}
    for row in rows:
        first_pages.setdefault(row.sheet, row.page)
    for row in rows:
        if row.is_aligned:
            continue
        texts = [*document.loose.get(row.page, ())]
        if first_pages[row.sheet] == row.page:
            texts += document.running
        allowed = starts[row.page] | _words(" ".join(texts))
        for column, value in row.cells.items():
            if not _words(str(value)) <= allowed and not _is_printed(value, texts):
                _add_surplus(score, row, column)


def _is_printed(value: Value, texts: list[str]) -> bool:
    """Return whether a typed value is one that a title or a note prints."""
    return any(key_of(value) == key_of(right) for text in texts for right in values_of(text))


def _are_misprints_right(document: Document, book: Workbook) -> bool:
    """Return whether the totals that are remarked are exactly the misprinted ones, with page and line."""
    remarks = [remark for remark in book.remarks if remark.code == "total_differs"]
    by_name = {sheet.name: sheet for sheet in book.sheets}
    places = sorted(by_name[remark.sheet].page_line(row) or (0, 0) for remark in remarks for row in remark.rows[-1:])
    misprints = sorted(document.misprints, key=lambda row: (row.page, row.first_line))
    return len(places) == len(misprints) and all(
        page == row.page and row.first_line <= line <= row.last_line
        for (page, line), row in zip(places, misprints, strict=True)
    )


def score_of(document: Document, book: Workbook) -> Score:
    """Return how much of a document is read right."""
    score = Score(document.name)
    rows = _read_rows(book)
    by_page: dict[int, list[_ReadRow]] = defaultdict(list)
    for row in rows:
        by_page[row.page].append(row)
    for table in document.tables:
        _judge_table(score, table, by_page, rows)
    _judge_rest(score, document, rows)
    score.misprints_right = _are_misprints_right(document, book)
    return score
