""".xls files: values through calamine, and what the wrapping tells before any of it is read."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path

import pytest
import xlwt

import core
from core.files.container import open_container
from core.files.errors import InvalidFormat, ParseFailed, TooManySheets
from core.files.read import probe, read, read_files
from core.values import Kind, from_serial
from tests.core.files.compound import compound
from tests.rows import every


@pytest.fixture
def book(tmp_path: Path) -> Path:
    out = xlwt.Workbook()
    page = out.add_sheet("Loans")
    day, moment = xlwt.easyxf(num_format_str="yyyy-mm-dd"), xlwt.easyxf(num_format_str="yyyy-mm-dd hh:mm")
    page.write(1, 1, "Ünï")
    page.write(1, 2, 1.25)
    page.write(2, 1, True)
    page.write(2, 2, date(2031, 6, 30), day)
    page.write(3, 2, datetime(2031, 6, 30, 12, 0), moment)  # noqa: DTZ001
    page.write(3, 4, "Ünï")
    page.write_merge(5, 6, 0, 1, "both")
    out.add_sheet("Empty").visibility = 1
    path = tmp_path / "a.xls"
    out.save(str(path))
    return path


def test_values(book: Path) -> None:
    result = read(book)
    sheet = result["Loans"]
    values = {(r, c): sheet.value(r, c) for r in range(8) for c in range(6) if sheet.value(r, c) is not None}
    assert values == {
        (1, 1): "Ünï",
        (1, 2): 1.25,
        (2, 1): True,
        (2, 2): 48029.0,
        (3, 2): 48029.5,
        (3, 4): "Ünï",
        (5, 0): "both",
    }
    assert (sheet.kind(2, 2), from_serial(48029.0)) == (Kind.DATE, datetime(2031, 6, 30))  # noqa: DTZ001
    assert sheet.columns[3] is None
    assert sheet.merged == ((5, 0, 6, 1),)
    assert (sheet.row_count, sheet.column_count, len(sheet.text)) == (6, 5, 2)
    assert (result.sheets[1].name, result.sheets[1].state, result.sheets[1].row_count) == ("Empty", "hidden", 0)


def test_errors_of_constants_and_formulas_stay_errors(tmp_path: Path) -> None:
    """Peers give them: xlrd as XL_CELL_ERROR, Excel as it shows them."""
    out = xlwt.Workbook()
    out.add_sheet("Front")
    page = out.add_sheet("Loans")
    for at, code in enumerate((0x00, 0x07, 0x0F, 0x17, 0x1D, 0x24, 0x2A)):
        page.row(1).set_cell_error(at + 1, code)
    page.write(2, 1, xlwt.Formula("1/0"))
    page.write(2, 2, True)
    out.save(str(tmp_path / "a.xls"))
    data = (tmp_path / "a.xls").read_bytes()
    place = data.index(struct.pack("<2H", 2, 1), data.index(struct.pack("<2H", 6, 29)))  # the formula's cell
    (tmp_path / "a.xls").write_bytes(
        data[: place + 6] + struct.pack("<8B", 2, 0, 0x07, 0, 0, 0, 255, 255) + data[place + 14 :]
    )
    sheet = core.read(tmp_path / "a.xls")["Loans"]
    assert [sheet.value(1, at) for at in range(1, 8)] == [
        "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A",
    ]  # fmt: skip
    assert [sheet.kind(1, 1), sheet.value(2, 1), sheet.value(2, 2)] == [Kind.ERROR, "#DIV/0!", True]


def test_a_table_that_begins_to_the_right_of_column_a_keeps_its_columns(
    tmp_path: Path, binary: Callable[..., Path]
) -> None:
    out = xlwt.Workbook()
    out.add_sheet("Loans").write(2, 2, 1234.5)
    out.save(str(tmp_path / "a.xls"))
    for path in (tmp_path / "a.xls", binary(binary_sheet({2: {2: 1234.5}}))):
        book = core.read(path)
        assert (book.value("Loans", "C3"), book.value("Loans", "A3")) == (1234.5, None)
        assert (book.sheets[0].row_count, book.sheets[0].column_count) == (3, 3)


@every("date_1904", [False, True])
def test_lengths_of_time_are_days_and_times_are_times(tmp_path: Path, date_1904: bool) -> None:
    out = xlwt.Workbook()
    out.dates_1904 = date_1904
    page = out.add_sheet("S")
    codes = ((1.5, "[h]:mm"), (0.5, "[h]:mm:ss"), (0.25, "h:mm"), (90.25, "[mm]:ss"))
    for row, (number, code) in enumerate(codes):
        page.write(row, 0, number, xlwt.easyxf(num_format_str=code))
    path = tmp_path / "a.xls"
    out.save(str(path))
    book = read(path)
    sheet = book.sheets[0]
    assert [sheet.value(row, 0) for row in range(4)] == [1.5, 0.5, 0.25, 90.25]
    assert [sheet.kind(row, 0) for row in range(4)] == [Kind.NUMBER, Kind.NUMBER, Kind.DATE, Kind.NUMBER]
    column = sheet.columns[0]
    assert column is not None
    assert [book.number_formats[at] for at in column.formats.tolist()] == ["[h]:mm:ss"] * 2 + ["hh:mm:ss", "[h]:mm:ss"]


def test_probe_goes_through_a_child(book: Path) -> None:
    result = probe(book, file_name="tape.xls")
    assert (result.kind, [(s.name, s.row_count, s.column_count) for s in result.sheets]) == (
        "xls",
        [("Loans", 6, 5), ("Empty", 0, 0)],
    )
    assert probe(book, file_name="tape.xlsx") == result


def test_too_many_sheets(tmp_path: Path) -> None:
    out = xlwt.Workbook()
    for at in range(51):
        out.add_sheet(f"S{at}")
    out.save(str(tmp_path / "a.xls"))
    with pytest.raises(TooManySheets, match="51 sheets"):
        read(tmp_path / "a.xls")


BOF = struct.pack("<2H", 0x809, 16) + bytes(16)
FILE_PASS = struct.pack("<2H", 0x2F, 6) + bytes(6)


@pytest.mark.parametrize(
    ("streams", "small"),
    [
        ({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}, False),
        ({"Workbook": BOF + FILE_PASS}, False),
        ({"Workbook": BOF + FILE_PASS}, True),
        ({"Book": BOF + FILE_PASS}, False),
    ],
)
def test_password_protected_files(tmp_path: Path, streams: dict[str, bytes], small: bool) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(compound(streams, small=small))
    assert open_container(path).streams == set(streams)
    for door in (read, probe):
        with pytest.raises(ParseFailed, match="password-protected"):
            door(path)


def test_other_compound_files() -> None:
    with pytest.raises(InvalidFormat, match="no workbook"):
        read_files([("a.xls", compound({"WordDocument": b"x"}))])


def test_a_damaged_workbook_stream(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(compound({"Workbook": BOF + b"\xff" * 300}))
    for door in (read, probe):
        with pytest.raises(ParseFailed, match="damaged"):
            door(path)


def test_a_compound_file_cut_or_spoiled(book: Path) -> None:
    data = book.read_bytes()
    for length in (8, 100, 511, 512, 700):
        book.write_bytes(data[:length])
        with pytest.raises((ParseFailed, InvalidFormat)):
            read(book)
    for at in range(24, 200, 3):
        book.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
        with suppress(ParseFailed):
            assert open_container(book).streams


# ---- .xlsb ---------------------------------------------------------------------------------------------------------


def record(kind: int, data: bytes = b"") -> bytes:
    """A record as [MS-XLSB] 2.1.4 frames it: number and size with seven bits a byte."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = b""
    left = len(data)
    while True:
        size += bytes([left & 0x7F | (0x80 if left > 127 else 0)])
        left >>= 7
        if not left:
            return head + size + data


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def binary_sheet(rows: dict[int, dict[int, float | str]]) -> bytes:
    """A worksheet part of numbers and texts."""
    path = record(129) + record(148, struct.pack("<4I", 0, 0, 0, 0)) + record(145)
    for row, cells in rows.items():
        path += record(0, struct.pack("<IIHBBI", row, 0, 300, 0, 0, 0) + b"\0" * 8)
        for column, value in cells.items():
            head = struct.pack("<II", column, 0)
            path += (
                record(6, head + wide(value)) if isinstance(value, str) else record(5, head + struct.pack("<d", value))
            )
    return path + record(146) + record(130)


def binary_parts(sheet: bytes) -> dict[str, bytes | str]:
    """The parts of an .xlsb file of one sheet, with a macro beside it."""
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/sheet1.bin"/><Relationship Id="rId2" Target="vbaProject.bin" '
        'Type="http://schemas.microsoft.com/office/2006/relationships/vbaProject"/></Relationships>'
    )
    listed = record(156, struct.pack("<II", 0, 1) + wide("rId1") + wide("Loans"))
    return {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.bin": record(131) + record(143) + listed + record(144) + record(132),
        "xl/_rels/workbook.bin.rels": links,
        "xl/worksheets/sheet1.bin": sheet,
        "xl/vbaProject.bin": b"\xff" * 99,
    }


@pytest.fixture
def binary(tmp_path: Path) -> Callable[..., Path]:
    """Such a file of a worksheet part."""

    def make(sheet: bytes) -> Path:
        path = tmp_path / "a.xlsb"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in binary_parts(sheet).items():
                archive.writestr(name, part)
        return path

    return make


def test_a_binary_workbook_is_read_and_its_macros_are_left_alone(binary: Callable[..., Path]) -> None:
    path = binary(binary_sheet({0: {0: "Name", 2: "Par"}, 3: {0: "Ünï", 2: 1234.5}}))
    for book in (read(path), core.read(path)):
        (sheet,) = book.sheets
        assert (sheet.name, sheet.row_count, sheet.column_count) == ("Loans", 4, 3)
        assert [sheet.value(0, 0), sheet.value(0, 2), sheet.value(3, 0), sheet.value(3, 2)] == [
            "Name",
            "Par",
            "Ünï",
            1234.5,
        ]
        assert sheet.columns[1] is None


@every(
    "sheet, hint",
    [
        (binary_sheet({0: {0: 1.0}, 999_999: {16_383: 1.0}}), "limit of 50,000,000"),
        (binary_sheet({0: {0: 1.0}, 2**32 - 1: {0: 1.0}}), "past row 1,048,576"),
        (binary_sheet({0: {20_000: 1.0}}), "column 16,384"),
        (binary_sheet({0: {0: 1.0}})[:-20], "damaged"),
        (b"\xff\xff\xff\xff", "damaged"),
    ],
    ids=lambda row: str(row[1]),
)
def test_binary_workbooks_that_would_take_all_memory_are_refused(
    binary: Callable[..., Path], sheet: bytes, hint: str
) -> None:
    with pytest.raises(ParseFailed, match=hint):
        read(binary(sheet))
