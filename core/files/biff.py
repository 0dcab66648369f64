"""The cells with errors of an .xls file, which calamine gives as blanks."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from core.values import ERROR_CODE

Errors = dict[int, dict[int, int]]
"""By column and row: which error, as `core.values` numbers them."""

# [MS-XLS] 2.4: Bof, Eof, BoundSheet8, BoolErr, Formula; 2.5.10: the errors.
_BEGIN, _END, _SHEET, _CONSTANT, _FORMULA = 0x809, 0x0A, 0x85, 0x205, 0x06
_ERRORS: Final = {
    0x00: ERROR_CODE["#NULL!"],
    0x07: ERROR_CODE["#DIV/0!"],
    0x0F: ERROR_CODE["#VALUE!"],
    0x17: ERROR_CODE["#REF!"],
    0x1D: ERROR_CODE["#NAME?"],
    0x24: ERROR_CODE["#NUM!"],
    0x2A: ERROR_CODE["#N/A"],
}


def sheet_errors(data: bytes) -> list[Errors]:
    """Return the errors of each sheet in the order of the workbook.

    Raises:
        OSError, ValueError: the file is damaged.
    """
    import olefile  # type: ignore[import-untyped]  # which few files need

    with olefile.OleFileIO(BytesIO(data)) as file:
        name = next((name for name in ("Workbook", "Book") if file.exists(name)), None)
        stream: bytes = file.openstream(name).read() if name else b""
    try:
        starts = [struct.unpack_from("<I", stream, at)[0] for kind, at, _ in _records(stream, 0) if kind == _SHEET]
        return [_errors(stream, start) for start in starts]
    except struct.error as error:
        raise ValueError("a record is cut off") from error


def _records(stream: bytes, start: int) -> Iterator[tuple[int, int, int]]:
    """Yield the kind, place and size of each record up to the end."""
    at, depth = start, 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<2H", stream, at)
        depth += (kind == _BEGIN) - (kind == _END)  # a chart on a sheet has its own
        if depth == 0:
            return
        if depth == 1:
            yield kind, at + 4, size
        at += 4 + size


def _errors(stream: bytes, start: int) -> Errors:
    errors: Errors = {}
    for kind, at, size in _records(stream, start):
        if kind == _CONSTANT and size >= 8 and stream[at + 7] == 1:
            code = stream[at + 6]
        elif kind == _FORMULA and size >= 14 and stream[at + 12 : at + 14] == b"\xff\xff" and stream[at + 6] == 2:
            code = stream[at + 8]
        else:
            continue
        row, column = struct.unpack_from("<2H", stream, at)
        errors.setdefault(column, {})[row] = _ERRORS.get(code, ERROR_CODE["#VALUE!"])
    return errors
