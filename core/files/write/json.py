"""A workbook to JSON, in bounded memory.

    {"workbook": "march.xlsx",
     "sheets": [{"name": "Loans", "state": "visible", "header_row": 1,
                 "columns": [{"column": "A", "name": "CUSIP"}, {"column": "B", "name": "Par"}],
                 "rows": [["CUSIP", "Par"], ["12345ABC9", 3000000]],
                 "formulas": {"B2": "=SUM(C2:D2)"},
                 "arrays": {}}]}

`rows` has every row from the first, each with a value for every column: a number, a text, true or false, null for a
blank; a moment as text in ISO 8601 by what its number format shows, an error as its text, and a number that JSON does
not know as null (none) or "#NUM!" (infinite). `formulas` has the formula of each cell that has one, by its address; the
value stands in `rows`. Of a formula that fills several cells `arrays` has the range. `header_row` is the 1-based row
that the names of the columns come from (of 255 characters at most), or null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import IO, Any, Final

from core.files.write._numerals import numeral
from core.files.write._texts import JsonLines
from core.files.write.texts import Sink, pieces, shows_of
from core.grid.address import ROWS_MAX, cell_name, column_name, fill_down, move_formula
from core.grid.sheet import Formulas, Sheet, Value, Workbook

HEADING_CHARACTERS_MAX: Final = 255
"""Of a column's name; a longer heading is cut, and stands whole among the rows."""

_PIECE_BYTES: Final = 1 << 16
_FORMULAS_AT_ONCE: Final = 1 << 16
_FILLED_MAX: Final = 10_000
"""Columns of formulas that are filled down at one time."""


def write_json(
    stream: IO[bytes], book: Workbook, *, name: str, header_rows: Mapping[str, int] | None = None, pretty: bool = True
) -> int:
    """Write all sheets of a workbook called `name`; returns the size in bytes.

    `header_rows` is sheet name -> the 0-based row of its headings. `pretty` gives every row a line of its own, and
    indents what stands around them.

    Raises:
        ValueError: text past `WRITTEN_BYTES_MAX`.
        OSError: the stream cannot be written.
    """
    sink = Sink(stream.write)
    for piece in _document(book, name, header_rows or {}, pretty):
        sink.write(piece)
    return sink.size_bytes


def _document(book: Workbook, name: str, header_rows: Mapping[str, int], pretty: bool) -> Iterator[bytes]:
    form = _Form(pretty)
    shows = shows_of(book.number_formats)
    yield form.object(0, {"workbook": name}) + form.key(1, "sheets") + b"["
    for at, sheet in enumerate(book.sheets):
        header_row = header_rows.get(sheet.name)
        members = {
            "name": sheet.name,
            "state": sheet.state,
            "header_row": None if header_row is None else header_row + 1,
            "columns": _columns(sheet, header_row),
        }
        yield (b"," if at else b"") + form.line(2) + form.object(2, members) + form.key(3, "rows") + b"["
        if sheet.columns:
            lines = JsonLines(sheet.text, shows, book.date_1904, form.line(4), form.between)
            yield from pieces(lines, sheet)
            yield form.line(3)
        yield b"]" + form.key(3, "formulas") + b"{"
        yield from form.members(4, _formulas(sheet))
        yield b"}" + form.key(3, "arrays") + b"{"
        formulas = sheet.formulas
        places = ((_cell(formulas, at), filled) for at, filled in formulas.arrays.items())
        yield from form.members(4, places)
        yield b"}" + form.line(2) + b"}"
    yield (form.line(1) if book.sheets else b"") + b"]" + form.line(0) + b"}" + (b"\n" if pretty else b"")


class _Form:
    """Where lines are broken and spaces stand."""

    def __init__(self, pretty: bool) -> None:
        self._pretty = pretty
        self.between = b", " if pretty else b","
        self._separators = (", ", ": ") if pretty else (",", ":")

    def line(self, level: int) -> bytes:
        """Return a new line at a level."""
        return b"\n" + b"  " * level if self._pretty else b""

    def value(self, value: Any) -> bytes:
        """Return a value on one line."""
        return json.dumps(value, ensure_ascii=False, separators=self._separators, allow_nan=False).encode()

    def key(self, level: int, name: str) -> bytes:
        """Return the name of a member that follows others."""
        return b"," + self._member(level, name)

    def _member(self, level: int, name: str) -> bytes:
        return self.line(level) + self.value(name) + self._separators[1].encode()

    def object(self, level: int, members: Mapping[str, Any]) -> bytes:
        """Return the beginning of an object, with its first members."""
        return b"{" + b",".join(self._member(level + 1, name) + self.value(member) for name, member in members.items())

    def members(self, level: int, pairs: Iterator[tuple[str, str]]) -> Iterator[bytes]:
        """Yield all members of an object, many at a time, and the line that it ends on."""
        some = bytearray()
        is_empty = True
        for name, text in pairs:
            some += (b"" if is_empty else b",") + self._member(level, name) + self.value(text)
            is_empty = False
            if len(some) >= _PIECE_BYTES:
                yield bytes(some)
                some.clear()
        yield bytes(some) + (b"" if is_empty else self.line(level - 1))


def _columns(sheet: Sheet, header_row: int | None) -> list[dict[str, str | None]]:
    return [
        {"column": column_name(at), "name": None if header_row is None else _heading(sheet.value(header_row, at))}
        for at in range(sheet.column_count)
    ]


def _heading(value: Value) -> str | None:
    if isinstance(value, float):
        return numeral(value) if isfinite(value) else None
    return value[:HEADING_CHARACTERS_MAX] if isinstance(value, str) else None


def _cell(formulas: Formulas, at: int) -> str:
    return cell_name(int(formulas.rows[at]), int(formulas.columns[at]))


def _formulas(sheet: Sheet) -> Iterator[tuple[str, str]]:
    """Yield the address and the formula of each cell that has one, in the order of rows."""
    formulas = sheet.formulas
    filled: dict[tuple[int, int], tuple[int, Iterator[str]]] = {}
    for first in range(0, len(formulas), _FORMULAS_AT_ONCE):
        part = slice(first, first + _FORMULAS_AT_ONCE)
        places = (formulas.rows[part].tolist(), formulas.columns[part].tolist(), formulas.origins[part].tolist())
        for at, (row, column, origin) in enumerate(zip(*places, strict=True), first):
            # Cells filled down below each other take an eighth of the time that they take one by one.
            next_row, below = filled.pop((origin, column), (-1, iter(())))
            text = next(below) if next_row == row else _move(formulas, origin, row, column)
            if origin != at and row >= formulas.rows[origin]:  # above, what has left the sheet may come back to it
                if next_row != row:
                    below = fill_down(text, ROWS_MAX - row)
                    next(below)
                if len(filled) == _FILLED_MAX:
                    filled.clear()
                filled[origin, column] = row + 1, below
            yield cell_name(row, column), f"={text}"


def _move(formulas: Formulas, origin: int, row: int, column: int) -> str:
    text = formulas.text[int(formulas.texts[origin])]
    down, right = row - int(formulas.rows[origin]), column - int(formulas.columns[origin])
    return move_formula(text, down, right) if down or right else text
