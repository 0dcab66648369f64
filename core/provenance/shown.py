"""How a sheet shows its cells, as far as that changes what a reader takes them for.

That is by number formats, hidden rows, merged cells and tables, and whether the sheet itself is seen.

It is the same whatever program saved the file last, tried with LibreOffice 7.4: a number format counts by its normal
form (`display_form`), a sheet by whether it is visible. Fonts, colours, widths and heights are no part of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.files.parts import is_date_format
from core.files.write.ranges import Range, disjoint
from core.grid.column import Column
from core.grid.sheet import Sheet, Table, Workbook
from core.values import Kind

VERSION: Final = "shown_v1"

RUNS_MAX: Final = 1_000_000
"""Stretches of cells of one format in an export's record: 12 MB. Of sheets past them only the hash is known."""

_BOOLEAN_FORMATS: Final = frozenset({"BOOLEAN", '"TRUE";"TRUE";"FALSE"'})
_CONSTANT: Final = re.compile(r"\s*(?:TRUE|FALSE)\s*(?:\(\s*\))?\s*|\s*#[A-Z0-9/_]+[!?]?\s*", re.IGNORECASE)

# Number formats -------------------------------------------------------------------------------------------------------

_WORD: Final = re.compile(
    r"\"(?P<quoted>[^\"]*)\"?|\\(?P<escaped>.)|_.|\*(?P<filling>.)|\[(?P<bracket>[^\]]*)\]?|(?P<general>General)|(?P<half>(?i:am/pm|a/p))"
    r"|(?P<letters>[ymdhsYMDHS]+)|(?P<sign>.)",
    re.DOTALL,
)
_COLOUR: Final = re.compile(r"black|blue|cyan|green|magenta|red|white|yellow|colou?r ?\d+", re.IGNORECASE)
_PLAIN_SIGNS: Final = frozenset("$-+/():!^&'~{}<>=")
"""Signs that stand for themselves outside quotes; of a date some are what separates its fields."""
_SEPARATORS: Final = frozenset("-/.,: ")


def display_form(code: str) -> tuple[str, str]:
    """Return the normal forms of what a number format makes of a number and of a text.

    Quoted, escaped and plain letters are one; colours, languages, blanks and paddings are gone; of dates
    also what separates the fields, and how many letters stand for a year, day or number of a month.
    """
    sections = [_section(part) for part in _sections(code or "General")]
    is_text = [part for part in sections if "@" in part]
    text = sections[3] if len(sections) > 3 else is_text[-1] if is_text else "@"
    number = ";".join(sections[:3])
    return ("General" if number == "@" else number), text


def _sections(code: str) -> list[str]:
    parts, begin = [], 0
    for word in re.finditer(r'"[^"]*"?|\\.|\[[^\]]*\]?|(?P<end>;)', code, re.DOTALL):
        if word["end"]:
            parts.append(code[begin : word.start()])
            begin = word.end()
    return [*parts, code[begin:]]


def _section(part: str) -> str:
    is_date = is_date_format(part)
    out: list[str] = []
    for word in _WORD.finditer(part):
        if word["bracket"] is not None:
            out += _bracket(word["bracket"])
        elif word["filling"] is not None:
            out += [] if word["filling"].isspace() else [f"*{word['filling']}"]
        elif word["general"]:
            out.append("General")
        elif word["half"]:
            out.append(word["half"].upper())
        elif word["letters"]:
            out += _fields(word["letters"]) if is_date else _literal(word["letters"], is_date=False)
        elif (sign := word["sign"]) is not None:
            out += _literal(sign, is_date=is_date) if sign in _PLAIN_SIGNS or sign.isspace() else _plain(sign, is_date)
        else:
            out += _literal(word["quoted"] or word["escaped"] or "", is_date=is_date)
    return "".join(out)


def _bracket(text: str) -> Iterator[str]:
    if text.startswith("$"):
        sign, _, language = text[1:].rpartition("-") if "-" in text else (text[1:], "", "")
        yield from _literal(sign, is_date=False)
        # Past the language itself come other digits and calendars; two languages mean the machine's own dates.
        if len(language) > 4 or language.upper() in ("F800", "F400"):
            yield f"[{language.lower()}]"
    elif not _COLOUR.fullmatch(text.strip()):
        yield f"[{text.lower()}]"


def _literal(text: str, *, is_date: bool) -> Iterator[str]:
    for letter in text:
        if not letter.isspace() and not (is_date and letter in _SEPARATORS):
            yield f"'{letter}"


def _plain(sign: str, is_date: bool) -> Iterator[str]:
    if not (is_date and sign in ",:"):
        yield sign.upper()


def _fields(letters: str) -> Iterator[str]:
    for run in re.finditer(r"(.)\1*", letters.lower()):
        few = run[1] == "y" or len(run[0]) < 3
        yield f"<{run[1] if few else run[0]}>"


# A workbook -----------------------------------------------------------------------------------------------------------


class ShownColumn(Struct, frozen=True, array_like=True):
    """The formats of a column's cells.

    The first row of each stretch of cells that have the same, and the place of their form in `BookDisplay.forms`.
    """

    position: int
    starts: bytes
    forms: bytes
    """Both as little-endian int32."""


class SheetDisplay(Struct, frozen=True, array_like=True):
    """How a sheet shows its cells."""

    name: str
    hash: str
    is_visible: bool
    hidden_rows: bytes
    """As little-endian int32, in order."""
    merged: list[Range]
    tables: list[tuple[str, Range, int, int]]
    """Name, cells, rows of headings and of totals."""
    columns: list[ShownColumn] | None
    """None where there were too many stretches."""


class BookDisplay(Struct, frozen=True, array_like=True):
    """How the sheets of a workbook show their cells."""

    forms: list[str]
    sheets: list[SheetDisplay]


def shown_of(book: Workbook, sheets: Sequence[Sheet] | None = None) -> BookDisplay:
    """Return how these sheets show their cells, all of the workbook where none are given."""
    forms: dict[str, int] = {}
    tables = _Forms(book, forms)
    chosen = book.sheets if sheets is None else sheets
    is_any_visible = any(sheet.state == "visible" for sheet in book.sheets)
    result = []
    left = RUNS_MAX
    for sheet in chosen:
        columns = [_stretches(*cells) for cells in _cells(sheet, tables)]
        # A workbook has to show a sheet: where all are hidden, the writer shows its first.
        is_visible = sheet.state == "visible" or (not is_any_visible and sheet is book.sheets[0])
        merged = disjoint(area for area in sheet.merged if area[:2] != area[2:])
        own = sorted(_table(table) for table in book.tables if table.sheet.lower() == sheet.name.lower())
        hidden = np.asarray(sheet.hidden_rows, "<i4").tobytes()
        runs = sum(len(column.starts) // 4 for column in columns)
        left -= runs
        digest = _digest(is_visible, hidden, merged, own, columns, list(forms))
        result.append(SheetDisplay(sheet.name, digest, is_visible, hidden, merged, own, columns if left >= 0 else None))
    return BookDisplay(list(forms), result)


def _table(table: Table) -> tuple[str, Range, int, int]:
    area = table.first_row, table.first_column, table.last_row, table.last_column
    return table.name.lower(), area, table.header_rows, table.totals_rows


def _digest(
    is_visible: bool,
    hidden: bytes,
    merged: list[Range],
    tables: list[tuple[str, Range, int, int]],
    columns: list[ShownColumn],
    forms: list[str],
) -> str:
    whole = hashlib.sha256(VERSION.encode() + b"\0")
    whole.update(msgspec.msgpack.encode((is_visible, hidden, merged, tables)))
    for column in columns:
        places, codes = np.unique(np.frombuffer(column.forms, "<i4"), return_inverse=True)
        own = [forms[place] for place in places.tolist()]
        order = sorted(range(len(own)), key=own.__getitem__)
        rank = np.empty(len(own), "<i4")
        rank[order] = np.arange(len(own))
        names = sorted(own)
        whole.update(msgspec.msgpack.encode((column.position, column.starts, names)))
        whole.update(rank[codes].tobytes())
    return whole.hexdigest()


class _Forms:
    """The places of the forms of a workbook's number formats.

    For numbers, for texts, for what a formula may give.
    """

    def __init__(self, book: Workbook, forms: dict[str, int]) -> None:
        # Dates whose own format shows none are written with a plain one.
        extra = ["yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"]
        pairs = [display_form(code) for code in (*book.number_formats, *extra)]
        triples = [(number, text, f"{number};;{text}") for number, text in pairs]
        place = [[forms.setdefault(form, len(forms)) for form in triple] for triple in triples]
        self.places = np.array(place, np.int32).reshape(-1, 3)
        self.count = len(book.number_formats)
        self.dates = np.array([is_date_format(code) for code in book.number_formats], bool)
        self.booleans = np.array([code in _BOOLEAN_FORMATS for code in book.number_formats], bool)

    def of(
        self,
        column: Column,
        slots: NDArray[np.int64],
        is_formula: NDArray[np.bool_],
        is_constant: NDArray[np.bool_],
    ) -> NDArray[np.int32]:
        """Return the place of the form of each of these cells."""
        kinds, numbers, formats = column.kinds[slots], column.numbers[slots], column.formats[slots].astype(np.int64)
        as_text = (kinds != Kind.NUMBER) & (kinds != Kind.DATE)
        as_text |= is_constant | (self.booleans[formats] & ((numbers == 0) | (numbers == 1)))
        which = np.where(as_text, 1, 0)
        which[is_formula & ~is_constant] = 2
        bare = (kinds == Kind.DATE) & ~self.dates[formats] & (which != 1)
        formats[bare] = np.where(numbers[bare] == np.floor(numbers[bare]), self.count, self.count + 1)
        result: NDArray[np.int32] = self.places[formats, which]
        return result


def _cells(sheet: Sheet, forms: _Forms) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int32]]]:
    """By column its position, the rows of cells that show something, and the places of their forms."""
    formulas = sheet.formulas
    constant = _constants(sheet)
    sizes = np.diff(sheet.text.offsets)
    for position, column in enumerate(sheet.columns):
        if column is None or not len(column.dense.kinds):
            continue
        cells = column.dense
        shown = cells.kinds != Kind.BLANK
        shown &= np.isfinite(cells.numbers)
        texts = np.flatnonzero(cells.kinds == Kind.TEXT)
        shown[texts] = sizes[cells.codes[texts]] > 0
        slots = np.flatnonzero(shown)
        if not len(slots):
            continue
        rows = column.rows()[slots]
        own = np.flatnonzero(formulas.columns == position)
        is_formula, is_constant = (_among(rows, formulas.rows[at]) for at in (own, own[constant[own]]))
        yield position, rows, forms.of(cells, slots, is_formula, is_constant)


def _among(rows: NDArray[np.int64], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    return np.isin(rows, others) if len(others) else np.zeros(len(rows), bool)


def _stretches(position: int, rows: NDArray[np.int64], result: NDArray[np.int32]) -> ShownColumn:
    begins = np.flatnonzero(np.r_[True, np.diff(result) != 0])
    return ShownColumn(position, rows[begins].astype("<i4").tobytes(), result[begins].astype("<i4").tobytes())


def _constants(sheet: Sheet) -> NDArray[np.bool_]:
    """Return which formulas are TRUE, FALSE or an error by themselves, as programs write constants."""
    formulas = sheet.formulas
    codes = [code for code in np.unique(formulas.texts).tolist() if _CONSTANT.fullmatch(formulas.text[code])]
    return np.isin(formulas.texts, codes)


# What differs ---------------------------------------------------------------------------------------------------------


def restored_rows(data: bytes) -> set[int]:
    """Return rows as they are kept."""
    return set(np.frombuffer(data, "<i4").tolist())


def changed_cells(
    old: BookDisplay, before: SheetDisplay, book: Workbook, sheet: Sheet, limit: int
) -> list[tuple[int, int]]:
    """Return (row, column) of a sheet's cells that have another format than the ones that were there, the first of
    them."""
    if before.columns is None:
        return []
    forms = {form: at for at, form in enumerate(old.forms)}
    tables = _Forms(book, forms)
    columns = {column.position: column for column in before.columns}
    result: list[tuple[int, int]] = []
    for position, rows, present in _cells(sheet, tables):
        if (column := columns.get(position)) is None:
            continue
        starts, kept = (np.frombuffer(data, "<i4") for data in (column.starts, column.forms))
        place = np.searchsorted(starts, rows, side="right") - 1
        differs = (place >= 0) & (kept[place] != present)
        result += [(row, position) for row in rows[differs][:limit].tolist()]
    return sorted(result)[:limit]
