"""The hash of what a reader of a spreadsheet sees as its data, version `svc_hash_v1`.

It is the same for the same cells whatever program saved them last, tried with LibreOffice 7.4. All figures below are
little-endian, texts are UTF-8, and hashes SHA-256.

**Cells.** A cell counts by what it holds, never by its style, width, comment or merge, or by whether it is hidden.
A record begins with its 0-based row (4 bytes), then:

| what it holds | record |
|---|---|
| number | `n`, 8 bytes IEEE 754 |
| number that its format shows as a date or time | `d`, 8 bytes: the serial in the workbook's date system |
| text | `t`, 4 bytes length, the text, each CR LF as LF |
| TRUE, FALSE | `b`, a byte 1 or 0 |
| error | `e`, a byte length, its text as Excel writes it |
| formula | `f`, 4 bytes length, its normal form, then its value |
| array formula, in its first cell | `a`, 4 bytes each: rows and columns filled, length; normal form, then its value |

The value of a formula is an `n`, `t` or `e` as above. Dates are numbers there, TRUE and FALSE the numbers 1 and 0,
and a text has no spaces, tabs and line ends at its ends. It is `-` where there is none or nothing is left of a text.
It is `v` alone where it is not covered, since the formula is volatile or reads cells that are
(`core.provenance.unsteady`). The further cells that an array formula fills hold such values, too; where its value is
not covered, they have no record. A number that an array formula gives is rounded once more, in the same way, to 10
digits. LibreOffice calculates these anew whenever it opens a file.

A blank cell and an empty text have no record. Two things count as constants, since programs write constants so. One
is a formula that is TRUE, FALSE or an error by itself. The other is the number 0 or 1 under the format BOOLEAN or
`"TRUE";"TRUE";"FALSE"`.

**Numbers** are rounded to 15 significant digits, which is all that LibreOffice keeps. The shortest decimal that reads
back as the number (what Python, Java and JavaScript print) is rounded, half away from zero. It is then read as a
double again; -0 is 0. So two numbers that differ behind the 15th digit are the same to this hash.

**Formulas** have the normal form of `core.provenance.formulas`.

**Sheets.** A column's hash is over its records, downwards. A sheet's hash is over its columns that have records, from
the left. Each gives its 0-based column (4 bytes), number of records (8 bytes) and hash (32 bytes).

**Data.** The hash is over

- `svc_hash_v1` and a zero byte; a byte 1 where dates count from 1904, else 0; the number of sheets (4 bytes);
- for each sheet in the order of the workbook: the length of its name (4 bytes), its name, its hash;
- the hash of the names: those that stand in a formula of these sheets, or in what such a name stands for. They come
  in the order of their bytes. Each gives the length (4 bytes) and text of the name in lower case, one that belongs to
  a sheet as `'sheet'!name`. Then come the length (4 bytes) and normal form of what it stands for, as it reads in A1.

Other sheets of the file are no part of it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.parts import is_elapsed_format
from core.grid.column import Column
from core.grid.sheet import Sheet, Workbook
from core.provenance._canonical import Records
from core.provenance.formulas import UNSTEADY, Forms, definition_form, forms_of
from core.provenance.names import names_used
from core.provenance.unsteady import mark_unsteady
from core.values import SERIALS_STOP, Kind

VERSION: Final = "svc_hash_v1"

_BOOLEAN_FORMATS: Final = frozenset({"BOOLEAN", '"TRUE";"TRUE";"FALSE"'})


class NoSuchSheet(ValueError):
    """A sheet that was to be hashed is not in the workbook."""


@dataclass(frozen=True, slots=True)
class SheetHash:
    """What one sheet holds."""

    name: str
    hash: str
    """Of its content without its name, in hexadecimal."""
    cells: int
    """Cells that have a record."""


@dataclass(frozen=True, slots=True)
class DataHash:
    """What the hashed sheets of a workbook hold."""

    hash: str
    """In hexadecimal."""
    sheets: tuple[SheetHash, ...]
    """In the order of the workbook."""
    names: str
    """Of the defined names that their formulas use, in hexadecimal."""
    date_1904: bool
    unsteady: int = 0
    """Formulas whose values are not covered."""


def data_hash(book: Workbook, sheets: Sequence[str] | None = None) -> DataHash:
    """Return the hash of a workbook's sheets, of all of them or of those named, always in the order of the workbook.

    A column is read once and about a megabyte of it is held at a time; the interpreter is free meanwhile.

    Raises:
        NoSuchSheet: the workbook has no sheet of that very name.
    """
    chosen = chosen_sheets(book, sheets)
    forms = covered_forms(book, chosen)
    digests = [_sheet_hash(book, sheet, form) for sheet, form in zip(chosen, forms, strict=True)]
    whole = hashlib.sha256(VERSION.encode() + struct.pack("<?BI", False, book.date_1904, len(digests)))
    for sheet_form, digest in digests:
        whole.update(_with_length(sheet_form.name) + digest)
    names = hashlib.sha256()
    for name, definition in names_used(book, chosen, forms):
        names.update(_with_length(name) + _with_length(definition_form(definition)))
    whole.update(names.digest())
    unsteady = sum(int(((form.flags & UNSTEADY) != 0).sum()) for form in forms)
    return DataHash(
        whole.hexdigest(), tuple(sheet for sheet, _ in digests), names.hexdigest(), book.date_1904, unsteady
    )


def chosen_sheets(book: Workbook, names: Sequence[str] | None) -> list[Sheet]:
    """Return the sheets of these names, in the order of the workbook.

    Raises:
        NoSuchSheet: the workbook has no sheet of that very name.
    """
    if names is None:
        return list(book.sheets)
    wanted = set(names)
    missing = wanted - {sheet.name for sheet in book.sheets}
    if missing:
        raise NoSuchSheet(f"the workbook has no sheet {sorted(missing)[0]!r}")
    return [sheet for sheet in book.sheets if sheet.name in wanted]


def covered_forms(book: Workbook, sheets: Sequence[Sheet]) -> list[Forms]:
    """Return the formulas of these sheets in normal form, with those marked whose value is not covered."""
    return mark_unsteady(book, sheets, [forms_of(sheet.formulas, sheet.name) for sheet in sheets])


def records_of(book: Workbook, sheet: Sheet, forms: Forms) -> Iterator[tuple[int, Records, int]]:
    """Yield each column that may have records.

    Its position, its records to be taken, how many they are at most.
    """
    booleans = np.array([code in _BOOLEAN_FORMATS for code in book.number_formats], np.uint8)
    elapsed = np.array([is_elapsed_format(code) for code in book.number_formats], np.bool_)
    texts = (sheet.text.offsets, sheet.text.data)
    formulas, filled = sheet.formulas, _array_formulas(sheet, forms)
    order = np.lexsort((formulas.rows, formulas.columns))
    ordered = formulas.columns[order]
    last = int(ordered[-1]) + 1 if len(ordered) else 0
    for position in range(max(sheet.column_count, last)):
        stored = sheet.columns[position] if position < sheet.column_count else None
        low, high = np.searchsorted(ordered, (position, position + 1))
        if stored is None and low == high:
            continue
        cells = _NOTHING if stored is None else stored.dense
        starts, lengths = _NO_RUNS if stored is None else stored.runs
        chosen = order[low:high]
        records = Records(
            _with_lengths(cells, elapsed),
            cells.numbers,
            cells.codes,
            cells.formats,
            starts,
            lengths,
            texts,
            formulas.rows[chosen],
            forms.codes[chosen],
            forms.flags[chosen],
            forms.extents[chosen],
            np.ascontiguousarray(filled[(filled[:, 3] <= position) & (position <= filled[:, 4]), :3]),
            forms.texts,
            forms.constants,
            booleans,
        )
        yield position, records, len(cells.kinds) + len(chosen)


def _with_lengths(column: Column, elapsed: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return kinds with lengths of time as dates, which they are to the hash."""
    if not elapsed.any() or not len(column.kinds):
        return column.kinds
    dated = elapsed[column.formats] & (column.numbers >= 0) & (column.numbers < SERIALS_STOP)
    return np.where((column.kinds == Kind.NUMBER) & dated, np.uint8(Kind.DATE), column.kinds)


def _array_formulas(sheet: Sheet, forms: Forms) -> NDArray[np.int32]:
    """First and last row, whether not covered, first and last column of what each array formula fills, by first row."""
    formulas = sheet.formulas
    at = np.array(sorted(formulas.arrays), np.int64)
    top, left = formulas.rows[at], formulas.columns[at]
    bottom, right = top + forms.extents[at, 0] - 1, left + forms.extents[at, 1] - 1
    return np.stack([top, bottom, (forms.flags[at] & UNSTEADY) != 0, left, right], axis=1).astype(np.int32)


_NOTHING: Final = Column(
    0, np.empty(0, np.uint8), np.empty(0, np.float64), np.empty(0, np.int32), np.empty(0, np.uint16)
)
_NO_RUNS: Final[tuple[NDArray[np.int32], NDArray[np.int32]]] = (np.empty(0, np.int32), np.empty(0, np.int32))


def _sheet_hash(book: Workbook, sheet: Sheet, forms: Forms) -> tuple[SheetHash, bytes]:
    whole = hashlib.sha256()
    cells = 0
    for position, records, _ in records_of(book, sheet, forms):
        column = hashlib.sha256()
        for chunk in chunks(records):
            column.update(chunk)
        if records.count:
            whole.update(struct.pack("<IQ", position, records.count) + column.digest())
            cells += records.count
    digest = whole.digest()
    return SheetHash(sheet.name, digest.hex(), cells), digest


def chunks(records: Records) -> Iterable[memoryview]:
    """Return the records as bytes, each chunk good until the next is asked for."""
    while (chunk := records.chunk()) is not None:
        yield chunk


def _with_length(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data
