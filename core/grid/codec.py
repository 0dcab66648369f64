"""A sheet to a file and back without a copy, in the safetensors format.

A workbook to a folder of them.

One file per sheet: eight bytes of header length, a JSON header, then flat arrays (the format's description stands at
https://github.com/huggingface/safetensors). The runs of cells of all columns stand end to end in a few tensors, so the
header is as long for 16,384 columns as for one, and blanks between two runs cost nothing. What belongs to the workbook
(date system, number formats, defined names, the list of sheets) is the `WorkbookRecord`, a small JSON text.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from core.grid._cells import are_cells, is_zero
from core.grid.address import COLUMNS_MAX, ROWS_MAX, parse_range, range_name
from core.grid.calculation import DEFAULT as CALCULATION
from core.grid.calculation import ITERATIONS_MAX, Calculation, CalculationDoubt
from core.grid.column import Column, GappedColumn, Text
from core.grid.pivot import pivot_of
from core.grid.sheet import BlankFormulas, BookFacts, Formulas, ReadingRemark, Sheet, Table, Workbook
from core.values import ERRORS, Kind

VERSION: Final = "3"
"""Of this layout of tensors."""

_WHOLE_SPANS: Final = "2"
"""The layout before: each column in one run, so without `runs`. Files of any other version are refused."""

_HEADER_BYTES_MAX: Final = 64 * 1024
_ALIGNMENT: Final = 8
_BLOCK_BYTES: Final = 256 * 1024
"""Zeros that are left out of the file: numbers of text, formats of cells that have none."""
_KIND_MAX: Final = max(Kind)

_TENSORS: Final = {
    "numbers": ("F64", np.float64),
    "text_offsets": ("I64", np.int64),
    "formula_text_offsets": ("I64", np.int64),
    "starts": ("I32", np.int32),
    "lengths": ("I32", np.int32),
    "runs": ("I32", np.int32),
    "codes": ("I32", np.int32),
    "formula_rows": ("I32", np.int32),
    "formula_columns": ("I32", np.int32),
    "formula_texts": ("I32", np.int32),
    "formula_origins": ("I32", np.int32),
    "arrays": ("I32", np.int32),
    "dynamic": ("I32", np.int32),
    "merged": ("I32", np.int32),
    "hidden_rows": ("I32", np.int32),
    "page_lines": ("I32", np.int32),
    "formats": ("U16", np.uint16),
    "kinds": ("U8", np.uint8),
    "text_data": ("U8", np.uint8),
    "formula_text_data": ("U8", np.uint8),
}
"""Every tensor of a file in its order, wide ones first so that all are aligned. `runs` has one item per column: its
number of runs (0: no cell); `starts` and `lengths` have one per run; `numbers`, `codes`, `formats` and `kinds` hold the
runs end to end; `arrays` has rows of (formula index, first row, first column, last row, last column), `merged` of
(first row, first column, last row, last column), both flat; `dynamic` are the formula indices that spill. `page_lines`
has (page, line) of the rows that a document had, flat, and stands only in a file that was read from one with pages."""

_OPTIONAL: Final = "page_lines"
"""The tensor that a file may lack."""

_STATES: Final = ("visible", "hidden", "veryHidden")


class CodecError(ValueError):
    """A stored sheet or manifest is damaged, or not one."""


@dataclass(frozen=True, slots=True)
class SheetRecord:
    """One sheet in a manifest."""

    file: str
    """The file's name in the folder that it was written to."""
    name: str
    index: int
    state: Literal["visible", "hidden", "veryHidden"]
    row_count: int
    column_count: int


@dataclass(frozen=True, slots=True)
class WorkbookRecord(BookFacts):
    """What belongs to a workbook and to none of its sheets alone."""

    sheets: tuple[SheetRecord, ...]

    def to_json(self) -> str:
        """Return the manifest as JSON text.

        What is as in most workbooks is not mentioned, so that theirs stays the same.
        """
        filled = {} if self.filled is None else {"filled": asdict(self.filled)}
        calculation = {} if self.calculation.is_default else {"calculation": asdict(self.calculation)}
        return json.dumps(
            {
                **filled,
                **calculation,
                **({"doubts": [asdict(doubt) for doubt in self.doubts]} if self.doubts else {}),
                **({"remarks": [asdict(remark) for remark in self.remarks]} if self.remarks else {}),
                "version": VERSION,
                "date_1904": self.date_1904,
                "number_formats": self.number_formats,
                "defined_names": dict(self.defined_names),
                "local_names": [[*key, text] for key, text in self.local_names.items()],
                "tables": [asdict(table) for table in self.tables],
                "pivots": None if self.pivots is None else [asdict(pivot) for pivot in self.pivots],
                "left_out": self.left_out,
                **({} if self.language is None else {"language": self.language}),
                "sheets": [{field: getattr(sheet, field) for field in SheetRecord.__slots__} for sheet in self.sheets],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> WorkbookRecord:
        """Return the manifest of its JSON text.

        Raises:
            CodecError: not such a text.
        """
        try:
            body = json.loads(text)
            _require(body["version"] in (VERSION, _WHOLE_SPANS))
            names = body["defined_names"]
            formats = tuple(body["number_formats"])
            _require(isinstance(body["date_1904"], bool) and len(formats) > 0 and isinstance(names, dict))
            _require(all(isinstance(word, str) for word in (*formats, *names, *names.values())))
            local = [(sheet, name, text) for sheet, name, text in body["local_names"]]
            _require(all(isinstance(word, str) for key in local for word in key))
            return cls(
                tuple(map(_record, body["sheets"])),
                body["date_1904"],
                formats,
                names,
                {(sheet, name): text for sheet, name, text in local},
                tuple(map(_table, body["tables"])),
                None if body.get("pivots") is None else tuple(map(pivot_of, body["pivots"])),
                tuple(map(str, body.get("left_out", ()))),
                None if body.get("language") is None else str(body["language"]),
                _blank_formulas(body.get("filled")),
                _calculation(body.get("calculation")),
                tuple(map(_doubt, body.get("doubts", ()))),
                tuple(map(_remark, body.get("remarks", ()))),
            )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise CodecError("the manifest of the workbook is damaged") from error


def _record(document: Any) -> SheetRecord:
    record = SheetRecord(**document)
    _require(isinstance(record.name, str) and isinstance(record.file, str) and record.state in _STATES)
    _require(record.file == Path(record.file).name != "")
    _require(all(type(count) is int and count >= 0 for count in (record.index, record.row_count, record.column_count)))
    return record


def _blank_formulas(document: Any) -> BlankFormulas | None:
    if document is None:
        return None
    filled = BlankFormulas(**document)
    _require(all(type(count) is int and count >= 0 for count in (filled.cells, filled.blank)))
    _require(isinstance(filled.message, str) and isinstance(filled.engine, str))
    return filled


def _doubt(document: Any) -> CalculationDoubt:
    doubt = CalculationDoubt(**document)
    _require(isinstance(doubt.code, str) and isinstance(doubt.message, str) and type(doubt.cells) is int)
    return doubt


def _remark(document: Any) -> ReadingRemark:
    remark = ReadingRemark(**{**document, "rows": tuple(document["rows"])})
    _require(all(isinstance(word, str) for word in (remark.code, remark.message, remark.sheet)))
    _require(all(type(row) is int and row >= 0 for row in remark.rows))
    return remark


def _calculation(document: Any) -> Calculation:
    if document is None:
        return CALCULATION
    calculation = Calculation(**document)
    _require(isinstance(calculation.iterates, bool) and isinstance(calculation.as_displayed, bool))
    _require(type(calculation.iterations_max) is int and 1 <= calculation.iterations_max <= ITERATIONS_MAX)
    _require(isinstance(calculation.change_max, float) and calculation.change_max >= 0)
    return calculation


def _table(document: Any) -> Table:
    table = Table(**{**document, "columns": tuple(document["columns"])})
    numbers = (table.first_row, table.first_column, table.last_row, table.last_column)
    _require(all(type(number) is int and number >= 0 for number in (*numbers, table.header_rows, table.totals_rows)))
    _require(table.first_row <= table.last_row < ROWS_MAX and table.first_column <= table.last_column < COLUMNS_MAX)
    _require(len(table.columns) == table.last_column - table.first_column + 1)
    _require(all(isinstance(word, str) for word in (table.name, table.sheet, *table.columns)))
    return table


def write_workbook(book: Workbook, folder: Path) -> WorkbookRecord:
    """Write every sheet of a workbook into a folder, as sheet-0.safetensors and so on."""
    records = []
    for sheet in book.sheets:
        file = f"sheet-{sheet.index}.safetensors"
        write_sheet(sheet, folder / file)
        records.append(SheetRecord(file, sheet.name, sheet.index, sheet.state, sheet.row_count, sheet.column_count))
    return WorkbookRecord(tuple(records), **_facts_of(book))


def open_workbook(manifest: WorkbookRecord, paths: Sequence[Path] | Path) -> Workbook:
    """Map a workbook whose sheets' files are `paths` in the manifest's order, or stand in the folder `paths`.

    Raises:
        CodecError: a file is damaged, or is not the sheet that the manifest says.
        OSError: a file cannot be opened.
    """
    if isinstance(paths, Path):
        paths = [paths / record.file for record in manifest.sheets]
    sheets = tuple(open_sheet(path) for path in paths)
    stored = [(s.name, s.index, s.state, s.row_count, s.column_count) for s in sheets]
    declared = [(r.name, r.index, r.state, r.row_count, r.column_count) for r in manifest.sheets]
    formats = max((int(c.dense.formats.max(initial=0)) for s in sheets for c in s.columns if c is not None), default=0)
    if stored != declared or formats >= len(manifest.number_formats):
        raise CodecError("the stored sheets are not those of the manifest")
    names = {"defined_names": dict(manifest.defined_names), "local_names": dict(manifest.local_names)}
    return Workbook(sheets, **_facts_of(manifest) | names)


def _facts_of(book: BookFacts) -> dict[str, Any]:
    return {fact.name: getattr(book, fact.name) for fact in fields(BookFacts) if fact.name != "sheets"}


def write_sheet(sheet: Sheet, path: Path) -> None:
    """Write one sheet; the file appears under its name only when it is whole.

    Raises:
        OSError: the file cannot be written.
    """
    parts = _parts(sheet)
    header = _header(sheet, parts)
    unfinished = path.with_name(path.name + ".part")
    try:
        with unfinished.open("wb") as file:
            file.write(len(header).to_bytes(8, "little"))
            file.write(header)
            for name in _TENSORS:
                for part in parts[name]:
                    _write(file, part)
            file.truncate()
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _write(file: BinaryIO, part: NDArray[Any]) -> None:
    """Write an array; a block of zeros becomes a hole, which reads as zeros."""
    content = part.view(np.uint8)
    for start in range(0, len(content), _BLOCK_BYTES):
        block = content[start : start + _BLOCK_BYTES]
        if len(block) < _BLOCK_BYTES or not is_zero(block):
            file.write(block.data)
        else:
            file.seek(_BLOCK_BYTES, os.SEEK_CUR)


def _parts(sheet: Sheet) -> dict[str, list[NDArray[Any]]]:
    """Return each tensor as the contiguous arrays that it is joined from."""
    runs = [((), ()) if column is None or column.start == column.stop else column.runs for column in sheet.columns]
    filled = [column.dense for column in sheet.columns if column is not None]
    formulas = sheet.formulas
    arrays = [(at, *parse_range(name)) for at, name in formulas.arrays.items()]
    parts: dict[str, list[Any]] = {
        "numbers": [column.numbers for column in filled],
        "text_offsets": sheet.text.offset_parts,
        "formula_text_offsets": [formulas.text.offsets],
        "starts": [starts for starts, _ in runs],
        "lengths": [lengths for _, lengths in runs],
        "runs": [[len(starts) for starts, _ in runs]],
        "codes": [column.codes for column in filled],
        "formula_rows": [formulas.rows],
        "formula_columns": [formulas.columns],
        "formula_texts": [formulas.texts],
        "formula_origins": [formulas.origins],
        "arrays": [np.array(arrays, np.int32).ravel()],
        "dynamic": [np.array(sorted(formulas.dynamic), np.int32)],
        "merged": [np.array(sheet.merged, np.int32).ravel()],
        "hidden_rows": [sheet.hidden_rows],
        "page_lines": [sheet.page_lines.ravel()],
        "formats": [column.formats for column in filled],
        "kinds": [column.kinds for column in filled],
        "text_data": sheet.text.data_parts,
        "formula_text_data": [formulas.text.data],
    }
    return {name: [np.ascontiguousarray(part, kind) for part in parts[name]] for name, (_, kind) in _TENSORS.items()}


def _header(sheet: Sheet, parts: dict[str, list[NDArray[Any]]]) -> bytes:
    header: dict[str, Any] = {
        "__metadata__": {
            "version": VERSION,
            "name": sheet.name,
            "index": str(sheet.index),
            "state": sheet.state,
            "row_count": str(sheet.row_count),
            "filtered": "yes" if sheet.filtered else "no",
        }
    }
    at = 0
    for name, (word, kind) in _TENSORS.items():
        count = sum(len(part) for part in parts[name])
        if name == _OPTIONAL and not count:
            continue
        stop = at + count * np.dtype(kind).itemsize
        header[name] = {"dtype": word, "shape": [count], "data_offsets": [at, stop]}
        at = stop
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)


def open_sheet(path: Path) -> Sheet:
    """Map a stored sheet.

    Its arrays are read-only views of the file, but for those of a column with gaps; nothing is copied, all of it is
    checked.

    Raises:
        CodecError: the file is damaged, of another version, or no stored sheet.
        OSError: the file cannot be opened.
    """
    try:
        mapped: NDArray[np.uint8] = np.memmap(path, np.uint8, "r").view(np.ndarray)
    except ValueError as error:
        raise CodecError("the stored sheet is empty") from error
    try:
        header, begin = _read_header(mapped)
        tensors = _in_runs(_tensors(header, mapped[begin:]))
        return _sheet(header["__metadata__"], tensors)
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        if isinstance(error, CodecError):
            raise
        raise CodecError("the stored sheet is damaged") from error


def _require(condition: object) -> None:
    if not condition:
        raise CodecError("the stored sheet is damaged")


def _read_header(mapped: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    _require(len(mapped) >= 8)
    size = int.from_bytes(mapped[:8].tobytes(), "little")
    _require(size <= _HEADER_BYTES_MAX and 8 + size <= len(mapped) and size % _ALIGNMENT == 0)
    header = json.loads(mapped[8 : 8 + size].tobytes())
    _require(isinstance(header, dict) and header["__metadata__"]["version"] in (VERSION, _WHOLE_SPANS))
    named = {"__metadata__", *_TENSORS} - ({"runs"} if header["__metadata__"]["version"] == _WHOLE_SPANS else set())
    _require(header.keys() | {_OPTIONAL} == named)
    return header, 8 + size


def _tensors(header: dict[str, Any], data: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return each tensor as a view.

    They must cover the data one after another with no hole, as this module writes them.
    """
    tensors = {}
    at = 0
    for name, (word, kind) in _TENSORS.items():
        if name not in header:
            continue
        entry = header[name]
        (count,) = entry["shape"]
        _require(entry["dtype"] == word and type(count) is int and 0 <= count <= len(data))
        stop = at + count * np.dtype(kind).itemsize
        _require(entry["data_offsets"] == [at, stop] and stop <= len(data))
        tensors[name] = data[at:stop].view(kind)
        at = stop
    _require(at == len(data))
    return tensors


def _in_runs(tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the tensors as this version has them.

    Of the one before, whose spans are runs and may be empty.
    """
    if "runs" not in tensors:
        is_filled = tensors["lengths"] != 0
        _require(len(tensors["starts"]) == len(is_filled))
        starts, lengths = tensors["starts"][is_filled], tensors["lengths"][is_filled]
        tensors |= {"starts": starts, "lengths": lengths, "runs": is_filled.astype(np.int32)}
    return tensors


def _sheet(metadata: dict[str, str], tensors: dict[str, NDArray[Any]]) -> Sheet:
    row_count, index = int(metadata["row_count"]), int(metadata["index"])
    _require(0 <= row_count <= ROWS_MAX and index >= 0 and metadata["state"] in _STATES)
    _require(isinstance(metadata["name"], str))
    text = _text(tensors["text_offsets"], tensors["text_data"])
    _check_cells(tensors, len(text), row_count)
    return Sheet(
        name=metadata["name"],
        index=index,
        state=cast('Literal["visible", "hidden", "veryHidden"]', metadata["state"]),
        columns=_columns(tensors),
        row_count=row_count,
        text=text,
        formulas=_formulas(tensors, row_count),
        merged=tuple((a, b, c, d) for a, b, c, d in _ranges(tensors["merged"], 4).tolist()),
        hidden_rows=_hidden_rows(tensors["hidden_rows"]),
        filtered=metadata["filtered"] == "yes",
        page_lines=_page_lines(tensors.get(_OPTIONAL, np.zeros(0, np.int32)), row_count),
    )


def _page_lines(flat: NDArray[np.int32], row_count: int) -> NDArray[np.int32]:
    _require(len(flat) % 2 == 0 and len(flat) <= 2 * row_count and flat.min(initial=1) >= 1)
    return flat.reshape(-1, 2)


def _hidden_rows(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    _require(rows.min(initial=0) >= 0 and rows.max(initial=0) < ROWS_MAX and (rows[1:] > rows[:-1]).all())
    return rows


def _check_cells(tensors: dict[str, NDArray[Any]], text_count: int, row_count: int) -> None:
    starts, lengths, runs, kinds = (tensors[name] for name in ("starts", "lengths", "runs", "kinds"))
    numbers, codes = tensors["numbers"], tensors["codes"]
    _require(len(runs) <= COLUMNS_MAX and runs.min(initial=0) >= 0)
    _require(len(starts) == len(lengths) == int(runs.sum(dtype=np.int64)))
    _require(starts.min(initial=0) >= 0 and lengths.min(initial=1) >= 1)
    stops = starts.astype(np.int64) + lengths
    _require(stops.max(initial=0) <= row_count)
    column_of_run = np.repeat(np.arange(len(runs)), runs)
    _require((starts[1:] > stops[:-1])[column_of_run[1:] == column_of_run[:-1]].all())
    total = int(lengths.sum(dtype=np.int64))
    _require(all(len(tensors[name]) == total for name in ("kinds", "numbers", "codes", "formats")))
    _require(are_cells(kinds, numbers, codes, _KIND_MAX, text_count, len(ERRORS)))


def _text(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> Text:
    _require(len(offsets) >= 1 and offsets[0] == 0 and offsets[-1] == len(data))
    _require((offsets[1:] >= offsets[:-1]).all())
    if data.max(initial=0) >= 0x80:
        # Valid as a whole, and no string begins inside a character: valid one by one.
        data.tobytes().decode()
        starts = offsets[:-1][offsets[:-1] < len(data)]
        _require(((data[starts] & 0xC0) != 0x80).all())
    return Text(offsets, data)


def _columns(tensors: dict[str, NDArray[Any]]) -> tuple[Column | None, ...]:
    columns: list[Column | None] = []
    starts, lengths = tensors["starts"], tensors["lengths"]
    bounds = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).tolist()
    run = 0
    for count in tensors["runs"].tolist():
        if not count:
            columns.append(None)
            continue
        own, cut = slice(run, run + count), slice(bounds[run], bounds[run + count])
        kinds, numbers, codes, formats = (tensors[name][cut] for name in ("kinds", "numbers", "codes", "formats"))
        column = Column(int(starts[run]), kinds, numbers, codes, formats)
        columns.append(column if count == 1 else GappedColumn(column, starts[own], lengths[own]))
        run += count
    return tuple(columns)


def _formulas(tensors: dict[str, NDArray[Any]], row_count: int) -> Formulas:
    rows, columns, texts, origins = (tensors["formula_" + name] for name in ("rows", "columns", "texts", "origins"))
    text = _text(tensors["formula_text_offsets"], tensors["formula_text_data"])
    count = len(rows)
    _require(len(columns) == len(texts) == len(origins) == count)
    limits = ((rows, row_count), (columns, len(tensors["runs"])), (texts, len(text)), (origins, count))
    _require(all(part.min(initial=0) >= 0 and part.max(initial=-1) < limit for part, limit in limits))
    keys = rows.astype(np.int64) * COLUMNS_MAX + columns
    _require((keys[1:] > keys[:-1]).all())
    arrays = {}
    for at, *corners in _ranges(tensors["arrays"], 5).tolist():
        _require(at < count)
        arrays[at] = range_name(*corners)
    dynamic = frozenset(tensors["dynamic"].tolist())
    _require(dynamic <= arrays.keys())
    return Formulas(rows, columns, texts, origins, text, arrays, dynamic)


def _ranges(flat: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """Return rows whose last four items are the corners of a range inside the sheet."""
    rows = flat.reshape(math.floor(len(flat) / width), width)
    top, left, bottom, right = rows[:, -4:].T
    _require((rows >= 0).all() and (top <= bottom).all() and (left <= right).all())
    _require((bottom < ROWS_MAX).all() and (right < COLUMNS_MAX).all())
    return rows
