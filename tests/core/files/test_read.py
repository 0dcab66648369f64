"""Every sort of bad file is refused with its class and a sentence that names the cause; nothing is left behind."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
import xlsxwriter

from core.files import archive
from core.files.errors import FileRefused, FileTooLarge, InvalidFormat, ParseFailed, TooManySheets
from core.files.kinds import wanted_of
from core.files.limits import FILE_BYTES_MAX
from core.files.read import probe, read, read_files
from core.portfolio import Portfolio
from tests.rows import every

Parts = dict[str, str | bytes]
Zipped = Callable[..., Path]
PartsOf = Callable[..., Parts]


def refused(path: Path, kind: type[FileRefused], hint: str) -> None:
    """Both doors refuse it alike."""
    for door in (read, probe):
        with pytest.raises(kind, match=hint) as result:
            door(path)
        assert type(result.value) is kind
        assert result.value.hint.endswith(".")


def good(path: Path) -> bytes:
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("One").write_row(0, 0, ["a", 1, 2.5])
    return path.read_bytes()


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"", "empty"),
        (b"<html><table></table></html>", "web page"),
        (b"<html><body>Please log in</body></html>", "web page without a table"),
        (b"<?xml version='1.0'?><Workbook/>", "XML document"),
        (b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x", "web archive"),
        (b"Dear holders,\nno table.\n", "plain text"),
        (b"\x89PNG\r\n", "picture"),
        (bytes(range(256)), "not a spreadsheet"),
        (b"PK", "plain text"),
    ],
)
def test_what_is_no_spreadsheet(tmp_path: Path, content: bytes, hint: str) -> None:
    path = tmp_path / "loans.xlsx"
    path.write_bytes(content)
    refused(path, InvalidFormat, hint)


def test_a_file_past_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "big.xlsx"
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(FILE_BYTES_MAX + 1)
    refused(path, FileTooLarge, "104,857,600")


def test_the_content_says_what_a_file_is(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    good(path)
    for name in ("macro.xlsm", "a.xls", "a.xlsx"):
        assert probe(path, file_name=name).kind == "xlsx"


@every(
    "parts, hint",
    [
        (("xl/workbook.bin", "_rels/.rels"), "binary workbook"),
        (("word/document.xml",), "text document"),
        (("content.xml",), "OpenDocument"),
        (("ppt/presentation.xml",), "presentation"),
        (("x.txt",), "no workbook"),
        (("loans.csv",), "no workbook"),
    ],
)
def test_other_archives_are_no_upload_of_a_workbook(zipped: Zipped, parts: tuple[str, ...], hint: str) -> None:
    with pytest.raises(InvalidFormat, match=hint):
        probe(zipped(dict.fromkeys(parts, "a,b\n1,2\n")))


def test_an_empty_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    zipfile.ZipFile(path, "w").close()
    refused(path, InvalidFormat, "no workbook")


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    data = good(path)
    for length in (4, 100, len(data) // 2, len(data) - 30, len(data) - 1):
        path.write_bytes(data[:length])
        refused(path, ParseFailed, "cut off|damaged")


def test_a_file_spoiled_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    """Each byte of the archive's directories, and a sample of the rest, changed in turn."""
    path = tmp_path / "a.xlsx"
    data = good(path)
    directory = data.rfind(b"PK\x05\x06")
    places = [*range(directory, len(data)), *range(0, directory, 11)]
    outcomes = set()
    for at in places:
        for change in (0xFF, 0x01):
            path.write_bytes(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
            try:
                outcomes.add(read(path).sheets[0].row_count)
            except FileRefused as refusal:
                outcomes.add(type(refusal))
    assert {1, ParseFailed} <= outcomes


def test_too_many_sheets(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    for count in (50, 51):
        with xlsxwriter.Workbook(path) as book:
            for _ in range(count):
                book.add_worksheet()
        if count == 50:
            assert len(read(path).sheets) == len(probe(path).sheets) == 50
        else:
            refused(path, TooManySheets, "51 sheets; the limit is 50")


def test_a_bomb_is_refused_by_its_ratio_before_anything_is_unpacked(zipped: Zipped, parts_of: PartsOf) -> None:
    parts = parts_of(["<worksheet/>"])
    parts["xl/media/zeros.bin"] = bytes(64 * 1024 * 1024)
    path = zipped(parts)
    tracemalloc.start()
    try:
        refused(path, ParseFailed, "200 times")
        assert tracemalloc.get_traced_memory()[1] < 8 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_a_bomb_is_refused_by_its_size(zipped: Zipped, parts_of: PartsOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "INFLATED_BYTES_MAX", 1000)
    refused(zipped(parts_of(["<worksheet>" + " " * 2000 + "</worksheet>"])), ParseFailed, "limit of 1,000 bytes")


def respelled(path: Path, change: Callable[[bytearray, int], None]) -> None:
    """Change the central directory's entry of the first worksheet."""
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02", 0, data.rfind(b"xl/worksheets/sheet1.xml"))
    change(data, at)
    path.write_bytes(data)


@pytest.mark.parametrize("claimed", [10, 4_000_000])
def test_a_size_that_lies_is_found_while_unpacking(
    zipped: Zipped, parts_of: PartsOf, xml_of: Callable[..., str], claimed: int
) -> None:
    data = "".join(f"<row><c><v>{row}</v></c></row>" for row in range(20_000))
    path = zipped(parts_of([xml_of(data)]))
    respelled(path, lambda data, at: struct.pack_into("<I", data, at + 24, claimed))
    refused(path, ParseFailed, "more than the archive's directory says|size or checksum")


def test_a_wrong_checksum(zipped: Zipped, parts_of: PartsOf, xml_of: Callable[..., str]) -> None:
    path = zipped(parts_of([xml_of("<row><c><v>1</v></c></row>")]))
    respelled(path, lambda data, at: struct.pack_into("<I", data, at + 16, zlib.crc32(b"other")))
    refused(path, ParseFailed, "size or checksum")


def test_an_encrypted_entry(zipped: Zipped, parts_of: PartsOf) -> None:
    path = zipped(parts_of(["<worksheet/>"]))
    respelled(path, lambda data, at: struct.pack_into("<H", data, at + 8, 1))
    refused(path, ParseFailed, "password-protected")


def test_an_unknown_compression(zipped: Zipped, parts_of: PartsOf) -> None:
    path = zipped(parts_of(["<worksheet/>"]))
    respelled(path, lambda data, at: struct.pack_into("<H", data, at + 10, 12))
    refused(path, ParseFailed, "packed in a way")


def test_entries_that_overlap(zipped: Zipped, parts_of: PartsOf) -> None:
    """The quine kind of bomb: many directory entries for the same bytes."""
    path = zipped(parts_of(["<worksheet/>"]))
    respelled(path, lambda data, at: struct.pack_into("<I", data, at + 42, 0))
    refused(path, ParseFailed, "overlap")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "xl/../../x", "C:/x", "..\\x", "a\\..\\..\\b"])
def test_entries_with_unsafe_names(zipped: Zipped, parts_of: PartsOf, name: str) -> None:
    parts = parts_of(["<worksheet/>"])
    parts[name] = "x"
    refused(zipped(parts), ParseFailed, "unsafe name")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["xl/worksheets/sheet1.xml", "XL/Worksheets/Sheet1.xml"])
def test_two_entries_of_one_name(zipped: Zipped, parts_of: PartsOf, name: str) -> None:
    path = zipped(parts_of(["<worksheet/>"]))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, "<worksheet/>")
    refused(path, ParseFailed, "same name")


def test_too_many_entries(zipped: Zipped, parts_of: PartsOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ENTRIES_MAX", 3)
    refused(zipped(parts_of(["<worksheet/>"])), ParseFailed, "limit of 3")


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    "part", ["_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml"]
)
def test_entity_tricks_are_refused_in_every_part(zipped: Zipped, parts_of: PartsOf, part: str) -> None:
    parts = parts_of(["<worksheet/>"])
    parts[part] = ENTITIES + str(parts[part])
    refused(zipped(parts), ParseFailed, "document type")


@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/styles.xml"])
def test_entity_tricks_in_parts_of_the_values(zipped: Zipped, parts_of: PartsOf, part: str) -> None:
    parts = parts_of(["<worksheet/>"], strings="<sst/>", styles="<styleSheet/>")
    parts[part] = ENTITIES + str(parts[part])
    with pytest.raises(ParseFailed, match="document type"):
        read(zipped(parts))


@pytest.mark.parametrize("part", ["_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml"])
def test_parts_that_are_not_well_formed(zipped: Zipped, parts_of: PartsOf, part: str) -> None:
    parts = parts_of(["<worksheet/>"], styles="<styleSheet/>")
    parts[part] = str(parts[part])[:-5]
    with pytest.raises(ParseFailed, match="well-formed"):
        read(zipped(parts))


def test_parts_nested_without_end(zipped: Zipped, parts_of: PartsOf) -> None:
    parts = parts_of(["<worksheet/>"])
    parts["xl/workbook.xml"] = "<workbook>" + "<a>" * 100_000
    refused(zipped(parts), ParseFailed, "nested deeper")


def test_a_part_that_is_read_whole_has_a_limit(
    zipped: Zipped, parts_of: PartsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PART_BYTES_MAX", 100)
    refused(zipped(parts_of(["<worksheet/>"])), ParseFailed, "limit of 100 bytes")


@pytest.mark.parametrize(("names", "hint"), [(["A", "a"], "same name"), (["", "b"], "has none")])
def test_sheet_names_that_clash(zipped: Zipped, parts_of: PartsOf, names: list[str], hint: str) -> None:
    refused(zipped(parts_of(["<worksheet/>", "<worksheet/>"], names=names)), ParseFailed, hint)


def test_sheets_without_a_part(zipped: Zipped, parts_of: PartsOf) -> None:
    parts = parts_of(["<worksheet/>"])
    del parts["xl/worksheets/sheet1.xml"]
    refused(zipped(parts), ParseFailed, "does not hold")
    parts["xl/_rels/workbook.xml.rels"] = "<Relationships/>"
    refused(zipped(parts), ParseFailed, "does not say where")


def test_a_module_of_macros_is_listed_without_a_part(zipped: Zipped, parts_of: PartsOf) -> None:
    parts = parts_of(["<worksheet/>"])
    module = '<sheet name="Module" sheetId="2" r:id=""/></sheets>'
    parts["xl/workbook.xml"] = str(parts["xl/workbook.xml"]).replace("</sheets>", module)
    assert [sheet.name for sheet in read(zipped(parts)).sheets] == ["Sheet1"]


def test_a_sheet_listed_twice(zipped: Zipped, parts_of: PartsOf) -> None:
    parts = parts_of(["<worksheet/>", "<worksheet/>"])
    parts["xl/_rels/workbook.xml.rels"] = str(parts["xl/_rels/workbook.xml.rels"]).replace("sheet2.xml", "sheet1.xml")
    refused(zipped(parts), ParseFailed, "same part")


def test_the_sheet_that_kills_other_readers(zipped: Zipped, parts_of: PartsOf, xml_of: Callable[..., str]) -> None:
    """A1 and XFD1000000.

    16 billion cells for a reader of rectangles, two for a reader of spans.
    """
    path = zipped(parts_of([xml_of('<row><c r="A1"><v>1</v></c><c r="XFD1000000"><v>2</v></c></row>')]))
    (sheet,) = probe(path, file_name="killer.xlsx").sheets
    assert (sheet.row_count, sheet.column_count) == (1_000_000, 16_384)
    assert read(path).sheets[0].value(999_999, 16_383) == 2.0


def test_a_sheet_that_spans_too_much(zipped: Zipped, parts_of: PartsOf, xml_of: Callable[..., str]) -> None:
    """Two cells at the ends of each of 60 columns span 60 million."""
    names = [chr(65 + at // 26) + chr(65 + at % 26) for at in range(60)]
    ends = "".join(f'<c r="{name}{row}"><v>1</v></c>' for row in (1, 1_000_000) for name in names)
    refused(zipped(parts_of([xml_of(ends)])), ParseFailed, "limit of 50,000,000")


def test_probing_keeps_nothing_in_memory(zipped: Zipped, parts_of: PartsOf, xml_of: Callable[..., str]) -> None:
    data = "".join(f'<row><c t="str"><v>text {row}</v></c><c><v>{row}</v></c></row>' for row in range(50_000))
    path = zipped(parts_of([xml_of(data)]))
    tracemalloc.start()
    try:
        (sheet,) = probe(path).sheets
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (sheet.row_count, sheet.column_count) == (50_000, 2)
    assert peak < 8 * 1024 * 1024


# ---- several files -------------------------------------------------------------------------------------------------


def archive_of(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, data in files.items():
            zip_file.writestr(name, data)
    return path


def test_a_folder_an_archive_and_a_list_of_files_are_one_workbook(tmp_path: Path) -> None:
    """Sheets by their files' names, numbered where a name is taken.

    Formats and dates keep their meaning.
    """
    folder = tmp_path / "report"
    folder.mkdir()
    old = {"strings_to_formulas": False, "default_date_format": "dd/mm/yyyy"}
    with xlsxwriter.Workbook(folder / "b.xlsx", old) as book:
        percent = book.add_format({"num_format": "0.0%"})
        book.add_worksheet("Loans").write_number(0, 0, 0.05, percent)
        book.add_worksheet("Notes").write_formula(0, 0, "=Loans!A1*2", None, 0.1)
    (folder / "loans.csv").write_bytes("Name;Rate\nÜ;5,25%\n".encode("cp1252"))
    (folder / "notes to read.pdf").write_bytes(b"%PDF-1.4")
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    packed = archive_of(
        tmp_path / "a.zip", **{f"deep/{name}": data for name, data in files.items()}, **{"__MACOSX/x": b"x"}
    )
    listed = [(name, data) for name, data in files.items() if not name.endswith("pdf")]
    for book in (read(folder), read(packed), read_files(listed), read_files([("any", packed)])):
        assert [sheet.name for sheet in book.sheets] == ["Loans", "Notes", "loans (2)"]
        assert [sheet.index for sheet in book.sheets] == [0, 1, 2]
        assert book["loans (2)"].value(1, 0) == "Ü"
        shown = [
            book.number_formats[int(book[name].columns[at].formats[-1])]
            for name, at in (("Loans", 0), ("loans (2)", 1))
        ]
        assert shown == ["0.0%", "0.00%"]
        assert (book["Notes"].value(0, 0), book["Notes"].formula(0, 0)) == (0.1, None)
    assert read(packed).left_out == ("notes to read.pdf",)
    warnings = Portfolio.from_workbook(read(packed), as_of=0.0).notes.warnings
    assert [warning.message for warning in warnings if warning.code == "file_left_out"] == [
        "files of another kind than a spreadsheet's were not read: 'notes to read.pdf'"
    ]
    assert len(read_files([("b.xlsx", files["b.xlsx"])]).sheets[1].formulas) == 1


@pytest.mark.parametrize(
    ("names", "read_names"),
    [
        (["a.pdf", "b.xlsx", "c.txt"], ["b.xlsx", "c.txt"]),
        (["a.PDF", "b.txt"], ["a.PDF", "b.txt"]),
        (["a.pdf", "b/c.pdf", "d.doc"], ["a.pdf", "b/c.pdf"]),
        (["a.doc"], []),
    ],
)
def test_a_print_of_a_spreadsheet_is_not_read_beside_it(names: list[str], read_names: list[str]) -> None:
    assert wanted_of(names) == set(read_names)


def test_a_letter_beside_a_table_is_left_out(tmp_path: Path) -> None:
    table, letter = b"Par,Price\n1,2\n", b"Please find the report attached."
    both = [("loans.csv", table), ("read me.txt", letter)]
    packed = archive_of(tmp_path / "a.zip", **dict(both))
    for book in (read_files(both), read(packed)):
        assert ([sheet.name for sheet in book.sheets], book.left_out) == (["loans"], ("read me.txt",))
    for files, hint in (
        ([("loans.csv", letter), ("more.csv", table)], "'loans.csv': .*single line"),
        ([("a.txt", letter), ("b.txt", letter)], "None of the files"),
        ([("a.txt", letter)], "single line"),
    ):
        with pytest.raises(InvalidFormat, match=hint):
            read_files(files)


def test_files_of_both_date_systems_keep_their_days(tmp_path: Path) -> None:
    for system in (False, True):
        with xlsxwriter.Workbook(tmp_path / f"{system}.xlsx", {"date_1904": system}) as book:
            day = book.add_format({"num_format": "yyyy-mm-dd"})
            book.add_worksheet("A").write_datetime(0, 0, datetime(2031, 6, 30), day)  # noqa: DTZ001
    assert [sheet.value(0, 0) for sheet in read(tmp_path).sheets] == [48029.0, 48029.0]


def nested() -> dict[str, bytes]:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as zip_file:
        zip_file.writestr("a.csv", "a,b\n1,2\n")
    return {"inner.zip": inner.getvalue()}


@every(
    "files, kind, hint",
    [
        (nested(), ParseFailed, "archives in archives"),
        ({"a.pdf": b"%PDF-1.4", "b.doc": b"x"}, ParseFailed, r"'a\.pdf' in the archive: The PDF is damaged"),
        ({"a.csv": b"\x00\x01\x02rubbish" * 9}, InvalidFormat, "'a.csv' in the archive: The file is not a spreadsheet"),
        ({"a.csv": b"one, line"}, InvalidFormat, "single line"),
        ({f"{at}.csv": b"a,b\n1,2\n" for at in range(51)}, TooManySheets, "limit of 50"),
        ({f"{at}.csv": b"a,b\n1,2\n" for at in range(201)}, ParseFailed, "limit is 200"),
        ({"../../a.csv": b"a,b\n1,2\n"}, ParseFailed, "unsafe name"),
        ({"zeros.csv": b"a,b\n" + b"0,0\n" * 4_000_000}, ParseFailed, "200 times"),
    ],
    ids=lambda row: str(row[2]),
)
def test_archives_that_are_refused(tmp_path: Path, files: dict[str, bytes], kind: type[FileRefused], hint: str) -> None:
    with pytest.raises(kind, match=hint):
        read(archive_of(tmp_path / "a.zip", **files))


def test_a_cut_archive_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    data = archive_of(tmp_path / "a.zip", a=b"a,b\n1,2\n").read_bytes()
    with pytest.raises(ParseFailed, match="cut off"):
        read_files([("a.zip", data[:-30])])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidFormat, match="no file that ends in"):
        read(tmp_path / "empty")


def test_the_refused_one_of_several_files_is_named() -> None:
    with pytest.raises(ParseFailed, match=r"'b\.csv': The PDF is damaged"):
        read_files([("a.csv", b"a,b\n1,2\n"), ("b.csv", b"%PDF-1.4")])


def test_the_messages_are_those_of_the_service() -> None:
    assert [kind("x.").message for kind in (InvalidFormat, FileTooLarge, TooManySheets, ParseFailed)] == [
        "Invalid file format",
        "File too large",
        "Too many sheets",
        "Parse error",
    ]
    assert FILE_BYTES_MAX == 100 * 1024 * 1024
