"""A sheet comes back from its file as it went in, without a copy.

A damaged file is a CodecError.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from core.grid._intern import intern
from core.grid.codec import CodecError, WorkbookRecord, open_sheet, open_workbook, write_sheet, write_workbook
from core.grid.column import Column, Text
from core.grid.sheet import Formulas, ReadingRemark, Sheet, Table, Workbook, no_formulas
from core.values import Kind


def column(start: int, kinds: list[Kind], numbers: list[float], codes: list[int], formats: list[int]) -> Column:
    return Column(
        start, np.array(kinds, np.uint8), np.array(numbers), np.array(codes, np.int32), np.array(formats, np.uint16)
    )


def text(strings: list[str]) -> Text:
    _, offsets, data = intern(strings)
    return Text(offsets, data)


def ints(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def sample(name: str = "Höldings/1", index: int = 0) -> Sheet:
    return Sheet(
        name=name,
        index=index,
        state="hidden",
        columns=(
            column(0, [Kind.TEXT, Kind.NUMBER, Kind.ERROR], [0.0, -1.5, 6.0], [1, -1, -1], [0, 1, 0]),
            None,
            column(999_999, [Kind.DATE], [45000.25], [-1], [1]),
            column(1, [Kind.BOOLEAN, Kind.BLANK, Kind.TEXT], [1.0, 0.0, 0.0], [-1, -1, 0], [0, 0, 0]),
        ),
        row_count=1_000_000,
        text=text(["é😀", "plain", ""]),
        formulas=Formulas(
            ints(1, 2, 999_999),
            ints(0, 0, 2),
            ints(0, 0, 1),
            ints(0, 0, 2),
            text(["B2*2", "SUM(A1:A3)"]),
            {2: "C1000000:D1000000"},
            frozenset({2}),
        ),
        merged=((0, 0, 1, 1), (5, 2, 9, 2)),
        hidden_rows=ints(0, 7, 999_998),
        filtered=True,
    )


def empty() -> Sheet:
    return Sheet("E", 1, "visible", (), 0, text([]), Formulas(ints(), ints(), ints(), ints(), text([]), {}))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "__dataclass_fields__"):
        return all(same(getattr(a, field), getattr(b, field)) for field in a.__dataclass_fields__)
    return bool(a == b)


def spoiled(data: bytes, name: str, change: Any) -> bytes:
    """The file with one tensor's values changed, its layout kept."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    begin, end = (8 + size + at for at in header[name]["data_offsets"])
    kind = {"F64": "f8", "I64": "i8", "I32": "i4", "U16": "u2", "U8": "u1"}[header[name]["dtype"]]
    values = np.frombuffer(data[begin:end], kind).copy()
    change(values)
    return data[:begin] + values.tobytes() + data[end:]


def put(at: int, value: float) -> Any:
    def change(values: NDArray[Any]) -> None:
        values[at] = value

    return change


def with_pages() -> Sheet:
    """A sheet of a document with pages: page and line of each of its rows."""
    rows = np.arange(999_999 + 1, dtype=np.int32)
    return replace(sample(), page_lines=np.stack((rows // 50 + 1, rows % 50 + 1), axis=1))


@pytest.mark.parametrize("sheet", [sample(), empty(), with_pages()])
def test_a_sheet_comes_back(tmp_path: Path, sheet: Sheet) -> None:
    write_sheet(sheet, tmp_path / "s")
    back = open_sheet(tmp_path / "s")
    assert same(back, sheet)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_what_comes_back_is_the_file_itself_and_read_only(tmp_path: Path) -> None:
    write_sheet(sample(), tmp_path / "s")
    back = open_sheet(tmp_path / "s")
    first = back.columns[0]
    assert first is not None
    for array in (first.kinds, first.numbers, first.codes, first.formats, back.text.data, back.formulas.rows):
        assert not array.flags.writeable
        assert not array.flags.owndata
        assert array.flags.c_contiguous
        assert array.flags.aligned


def test_the_file_is_in_the_safetensors_format(tmp_path: Path) -> None:
    """The package itself reads it."""
    write_sheet(sample(), tmp_path / "s")
    tensors = load_file(tmp_path / "s")
    assert tensors["numbers"].tolist() == [0.0, -1.5, 6.0, 45000.25, 1.0, 0.0, 0.0]
    assert tensors["lengths"].tolist() == [3, 1, 3]
    assert tensors["runs"].tolist() == [1, 0, 1, 1]
    assert tensors["merged"].tolist() == [0, 0, 1, 1, 5, 2, 9, 2]


@pytest.mark.parametrize(
    ("sheet", "digest"),
    [
        (sample(), "347aacdc8e3c1b331d46c6e6479aec6a75d8e187f30d54434bc846ff53c4258f"),
        (empty(), "215374a7c6a2f53d2b5a775dcf92d1c82a44ce76d9a66efc87d1a2eed3f0ce43"),
    ],
)
def test_a_file_without_pages_is_what_it_was_before_there_were_pages(tmp_path: Path, sheet: Sheet, digest: str) -> None:
    write_sheet(sheet, tmp_path / "s")
    assert hashlib.sha256((tmp_path / "s").read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("change", [put(0, 0), put(1, -1)])
def test_pages_that_cannot_be(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "s"
    write_sheet(with_pages(), path)
    path.write_bytes(spoiled(path.read_bytes(), "page_lines", change))
    with pytest.raises(CodecError):
        open_sheet(path)


def test_pages_of_the_first_rows_alone(tmp_path: Path) -> None:
    """A calculation may put rows below those of the document; more rows than the sheet has cannot be."""
    write_sheet(replace(sample(), page_lines=np.ones((3, 2), np.int32)), tmp_path / "s")
    back = open_sheet(tmp_path / "s")
    assert [back.page_line(row) for row in (2, 3)] == [(1, 1), None]
    write_sheet(replace(empty(), row_count=2, page_lines=np.ones((3, 2), np.int32)), tmp_path / "s")
    with pytest.raises(CodecError):
        open_sheet(tmp_path / "s")


LAYOUT_2 = Path(__file__).with_name("layout-2.safetensors")
"""`sample()` as version 2 of the layout wrote it, with each column in one span."""


def test_what_the_version_before_stored_is_read(tmp_path: Path) -> None:
    back = open_sheet(LAYOUT_2)
    assert same(back, sample())
    manifest = write_workbook(Workbook((sample(),), number_formats=("General", "0")), tmp_path)
    (tmp_path / "sheet-0.safetensors").write_bytes(LAYOUT_2.read_bytes())
    before = WorkbookRecord.from_json(manifest.to_json().replace('"version": "3"', '"version": "2"'))
    assert same(open_workbook(before, tmp_path).sheets, (sample(),))


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [("starts", 0, -1), ("starts", 2, 1_000_000), ("lengths", 0, -3), ("lengths", 0, 4), ("lengths", 1, 1)],
)
def test_spans_of_the_version_before_that_cannot_be(tmp_path: Path, name: str, at: int, value: int) -> None:
    path = tmp_path / "s"
    path.write_bytes(spoiled(LAYOUT_2.read_bytes(), name, put(at, value)))
    with pytest.raises(CodecError):
        open_sheet(path)


def test_views_of_other_arrays_are_written_right(tmp_path: Path) -> None:
    """Every other item of an array is not contiguous: it must be joined first."""
    wide = np.arange(12.0)
    sheet = replace(
        sample(),
        columns=(
            Column(
                0, np.ones(12, np.uint8)[::2], wide[::2], np.full(12, -1, np.int32)[::2], np.zeros(12, np.uint16)[::2]
            ),
        ),
    )
    sheet = replace(sheet, formulas=empty().formulas)
    write_sheet(sheet, tmp_path / "s")
    back = open_sheet(tmp_path / "s").columns[0]
    assert back is not None
    assert back.numbers.tolist() == wide[::2].tolist()


def test_zeros_are_holes_of_the_file(tmp_path: Path) -> None:
    rows = 300_000
    numbers = np.zeros(rows)
    numbers[[0, 100_000, rows - 1]] = -0.0, 2.5, 1.0
    cells = np.ones(rows, np.uint8), numbers, np.full(rows, -1, np.int32), np.zeros(rows, np.uint16)
    sheet = replace(sample(), columns=(Column(0, *cells),) * 3, formulas=no_formulas())
    write_sheet(sheet, tmp_path / "sheet")
    written = load_file(tmp_path / "sheet")
    assert written["numbers"].tobytes() == numbers.tobytes() * 3
    assert [written[name].tobytes() for name in ("kinds", "codes", "formats")] == [
        cells[at].tobytes() * 3 for at in (0, 2, 3)
    ]
    assert (tmp_path / "sheet").stat().st_blocks * 512 < (tmp_path / "sheet").stat().st_size


def test_the_header_does_not_grow_with_the_columns(tmp_path: Path) -> None:
    item = column(0, [Kind.NUMBER], [1.0], [-1], [0])
    for name, count in (("narrow", 1), ("wide", 16_384)):
        write_sheet(replace(empty(), columns=(item,) * count, row_count=1), tmp_path / name)
    heads = [int.from_bytes((tmp_path / name).read_bytes()[:8], "little") for name in ("narrow", "wide")]
    assert abs(heads[0] - heads[1]) < 200
    assert open_sheet(tmp_path / "wide").column_count == 16_384


TABLES = (Table("Pool", "E", 0, 0, 3, 1, ("Par", "Péice"), header_rows=1, totals_rows=1),)


def test_a_workbook_comes_back(tmp_path: Path) -> None:
    book = Workbook(
        (sample(), empty()), True, ("General", "yyyy-mm-dd"), {"Par": "Höldings!$A$1"}, {("E", "Par"): "2"}, TABLES
    )
    manifest = WorkbookRecord.from_json(write_workbook(book, tmp_path).to_json())
    assert same(open_workbook(manifest, tmp_path), book)
    paths = [tmp_path / record.file for record in manifest.sheets]
    assert same(open_workbook(manifest, paths), book)
    for wrong in (paths[::-1], paths[:1]):
        with pytest.raises(CodecError, match="not those of the manifest"):
            open_workbook(manifest, wrong)
    with pytest.raises(CodecError, match="not those of the manifest"):
        open_workbook(replace(manifest, number_formats=("General",)), tmp_path)


REMARKS = (
    ReadingRemark("total_differs", "The total on page 3, line 9 is 5.00, its rows make 4.00.", "E", (7, 2)),
    ReadingRemark("page_not_read", "Page 4 is a picture."),
)


def test_the_remarks_of_a_reader_come_back(tmp_path: Path) -> None:
    book = Workbook((empty(),), remarks=REMARKS)
    manifest = write_workbook(book, tmp_path)
    assert same(open_workbook(WorkbookRecord.from_json(manifest.to_json()), tmp_path), book)
    assert "remarks" not in write_workbook(Workbook((empty(),)), tmp_path).to_json()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda remark: remark.pop("message"),
        lambda remark: remark.update(more=1),
        lambda remark: remark.update(sheet=None),
        lambda remark: remark.update(code=1),
        lambda remark: remark.update(rows=None),
        lambda remark: remark.update(rows=[-1]),
        lambda remark: remark.update(rows=[True]),
    ],
)
def test_remarks_that_cannot_be(tmp_path: Path, spoil: Any) -> None:
    body = json.loads(write_workbook(Workbook((empty(),), remarks=REMARKS), tmp_path).to_json())
    spoil(body["remarks"][0])
    with pytest.raises(CodecError):
        WorkbookRecord.from_json(json.dumps(body))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda result: result.update(version="0"),
        lambda result: result.pop("sheets"),
        lambda result: result.update(number_formats=[]),
        lambda result: result.update(number_formats=[1]),
        lambda result: result.update(date_1904=1),
        lambda result: result.update(defined_names=[]),
        lambda result: result["sheets"][0].update(state="gone"),
        lambda result: result["sheets"][0].update(row_count=-1),
        lambda result: result["sheets"][0].pop("file"),
        lambda result: result["sheets"][0].update(more=1),
        lambda result: result.update(local_names=[["E", "Par"]]),
        lambda result: result.update(local_names=[["E", "Par", 1]]),
        lambda result: result.pop("tables"),
        lambda result: result["tables"][0].update(columns=["Par"]),
        lambda result: result["tables"][0].update(last_row=1_048_576),
        lambda result: result["tables"][0].update(first_row=-1),
        lambda result: result["tables"][0].update(name=None),
        lambda result: result["tables"][0].update(first_column="A"),
    ],
)
def test_a_damaged_manifest(tmp_path: Path, spoil: Any) -> None:
    book = Workbook((sample(),), number_formats=("General", "0"), tables=TABLES)
    body = json.loads(write_workbook(book, tmp_path).to_json())
    spoil(body)
    with pytest.raises(CodecError):
        WorkbookRecord.from_json(json.dumps(body))
    for broken in ("", "[]", "null", "[" * 100_000):
        with pytest.raises(CodecError):
            WorkbookRecord.from_json(broken)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("kinds", put(0, 6)),
        ("kinds", put(1, Kind.TEXT)),
        ("kinds", put(0, Kind.NUMBER)),
        ("codes", put(0, 3)),
        ("codes", put(0, -2)),
        ("codes", put(1, 0)),
        ("numbers", put(2, 10.0)),
        ("numbers", put(2, 1.5)),
        ("numbers", put(2, float("nan"))),
        ("numbers", put(2, -1.0)),
        ("starts", put(0, -1)),
        ("starts", put(1, 1_000_000)),
        ("lengths", put(0, -3)),
        ("lengths", put(0, 4)),
        ("lengths", put(1, 2**31 - 1)),
        ("runs", put(0, 0)),
        ("runs", put(1, 1)),
        ("runs", put(3, -1)),
        ("text_offsets", put(0, 1)),
        ("text_offsets", put(1, 99)),
        ("text_offsets", put(1, -1)),
        ("text_offsets", put(1, 1)),
        ("text_data", put(0, 0xFF)),
        ("formula_rows", put(0, -1)),
        ("formula_rows", put(0, 5)),
        ("formula_rows", put(2, 1_000_000)),
        ("formula_columns", put(0, 4)),
        ("formula_texts", put(0, 2)),
        ("formula_origins", put(0, 3)),
        ("formula_origins", put(0, -1)),
        ("formula_text_offsets", put(-1, 3)),
        ("arrays", put(0, 3)),
        ("arrays", put(1, -1)),
        ("arrays", put(3, 2**31 - 1)),
        ("merged", put(2, -1)),
        ("merged", put(3, 16_384)),
        ("dynamic", put(0, 1)),
        ("hidden_rows", put(0, -1)),
        ("hidden_rows", put(1, 0)),
        ("hidden_rows", put(2, 1_048_576)),
    ],
)
def test_values_that_cannot_be(tmp_path: Path, name: str, change: Any) -> None:
    """What a kernel would follow out of its arrays is refused at the door."""
    path = tmp_path / "s"
    write_sheet(sample(), path)
    path.write_bytes(spoiled(path.read_bytes(), name, change))
    with pytest.raises(CodecError):
        open_sheet(path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda header: header.pop("kinds"),
        lambda header: header.update(more={"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}),
        lambda header: header["numbers"].update(dtype="F32"),
        lambda header: header["numbers"].update(shape=[8]),
        lambda header: header["numbers"].update(shape=[-1]),
        lambda header: header["numbers"].update(shape=[7, 1]),
        lambda header: header["numbers"].update(shape=[7.0]),
        lambda header: header["numbers"].update(shape=None),
        lambda header: header["numbers"].update(shape=[10**30]),
        lambda header: header["numbers"].update(data_offsets=[8, 64]),
        lambda header: header["kinds"].update(data_offsets=[0, 7]),
        lambda header: header.pop("__metadata__"),
        lambda header: header["__metadata__"].update(version="1"),
        lambda header: header["__metadata__"].update(state="gone"),
        lambda header: header["__metadata__"].update(row_count="1e9"),
        lambda header: header["__metadata__"].update(row_count="9" * 5000),
        lambda header: header["__metadata__"].update(row_count="3"),
        lambda header: header["__metadata__"].update(name=5),
    ],
)
def test_headers_that_cannot_be(tmp_path: Path, spoil: Any) -> None:
    path = tmp_path / "s"
    write_sheet(sample(), path)
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    spoil(header)
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(len(head).to_bytes(8, "little") + head + data[8 + size :])
    with pytest.raises(CodecError):
        open_sheet(path)


def test_any_damage_is_a_codec_error_or_harmless(tmp_path: Path) -> None:
    """Cut anywhere, or any bytes changed.

    CodecError, or a sheet of which every cell can be read.
    """
    path = tmp_path / "s"
    write_sheet(sample(), path)
    data = path.read_bytes()
    chance = random.Random(7)
    for length in range(0, len(data), 13):
        path.write_bytes(data[:length])
        with pytest.raises(CodecError):
            open_sheet(path)
    for _ in range(1500):
        broken = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(broken)
        try:
            sheet = open_sheet(path)
        except CodecError:
            continue
        for row in (0, 1, 2, 3, 999_999):
            for at in range(sheet.column_count):
                sheet.value(row, at)
                sheet.formula(row, at)


def test_an_unfinished_file_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_sheet(sample(), tmp_path / "missing" / "s")
    (tmp_path / "s").mkdir()
    with pytest.raises(OSError, match="s"):
        write_sheet(sample(), tmp_path / "s")
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
