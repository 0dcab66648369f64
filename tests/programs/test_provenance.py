"""LibreOffice between an export and its verdict.

What it saves unchanged is the original, and no change is missed.
"""

from __future__ import annotations

import math
import re
import struct
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
import xlsxwriter

from core.export.order import ExportOrder, Keys, Lineage
from core.export.run import export_workbook
from core.files.read import read
from core.files.write import Formula, write_workbook_rows
from core.generate import generate
from core.provenance.canonical import data_hash
from core.provenance.manifest import sign
from core.provenance.prints import fingerprints
from core.provenance.verify import Record, verify
from tests.core.provenance.exported import KEY, KEYS, edited, manifest_of, rewritten, with_parts
from tests.programs.test_libreoffice import convert

FORMATS = (
    "0.00", "#,##0", "0%", "0.00E+00", "@", "# ?/?", "[Red]0.0", "$#,##0.00", "yyyy-mm-dd", "m/d/yyyy", "d-mmm-yy",
    "yyyy-mm-dd hh:mm:ss", "h:mm AM/PM", "[h]:mm", "mmm-yy", "dddd", "[$-409]d-mmm-yy;@", 'General" days"',
    '0" days"', "0.00_);[Red]\\(0.00\\)", '"TRUE";"TRUE";"FALSE"',
    '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)', "#,##0,", '0.0,,"M"', '[=1]"x";0', ";;;", '"7.5";"7.5"',
    "[$€-407] #,##0.00", "[>100]0.0;[<5]0.00;0.000", "000-00-0000", "mm:ss.0", '0.00"%"', "[$-F800]dddd, mmmm dd, yyyy",
    "*-0", "# ??/100", "0;0;0;@",
)  # fmt: skip
NUMBERS = (
    0.1 + 0.2, 1 / 3, 1e-300, 1e300, 1.7976931348623157e308, 5e-324, 9007199254740993.0, -0.0, 1e15, 1e21, 0.0, 1.0,
    60.0, 3013591.007694625, 0.09420438294276995, 12345.678901234567, -1.5e-10, 45000.123456789, 2958465.0, -1.0,
)  # fmt: skip
TEXTS = (
    "", " ", "  lead", "trail  ", "a  b", "tab\there", "line\nbreak", "cr\rcr", "crlf\r\nx", "\x01", "_x0041_",
    "_x000D_", "=1+1", "+1", "'quoted", "123", "2024-01-01", "TRUE", "#N/A", "🎉", "e\u0301", "\u00a0nbsp\u00a0",
    "\ufeffbom", "x" * 32_767, "&<>\"'", "a\u2028b", "\x7f", "00123", "5%", "\n", "日本", "\ue000",
)  # fmt: skip
FORMULAS: tuple[tuple[str, Any], ...] = (
    ("sum( a1 : A20 )", 3.5), ("SUM(A:A)", 1.25), ("$A$1+A$2+$A3", 6), ("-A1^2", 1), ("50%", 0.5), ("+A1", 1),
    ("--A1", 1), ("(A1+A2)*(A3)", 9), ("SUM({1,2,3})", 6), ("TRUE", True), ("TRUE()", True), ("A1=1", False),
    ("1E5", 1e5), ('A1 & "x~"', "1x~"), ("1/0", "#DIV/0!"), ("NA()", "#N/A"), ("IF(A1,,2)", 0), ('IF(TRUE,"","x")', ""),
    ("DATE(2024,1,1)", 45292.0), ("'It''s'!A1", 1), ("Rate*2", 2), ("SUM((A1:A3,A5))", 11), ("A1:A3 A2:B2", 2),
    ("_xlfn.CONCAT(A1:A3)", "123"), ('_xlfn.IFS(A1=1,"a",TRUE,"b")', "a"), ("_xlfn.STDEV.S(A1:A5)", 1.5811388300841898),
    ("VLOOKUP(3,A1:C20,3,FALSE)", "t"), ("TODAY()", 45000.0), ("NOW()-TODAY()", 0.5), ("RAND()", 0.5),
    ("I28+1", 45001.0), ("INDIRECT(\"A\"&1)", 1), ("#REF!+1", "#REF!"), ("UNKNOWNFN(A1)", "#NAME?"),
    ("SUBTOTAL(9,A1:A20)", 210.0), ('" x"&CHAR(10)', " x\n"), ('REPT(" ",3)', "   "),
)  # fmt: skip


class Exact(float):
    """A number that xlsxwriter writes with all its digits."""

    def __format__(self, _: str) -> str:
        return float.__repr__(self)


def hard(path: Path, *, date_1904: bool = False) -> Path:
    """A workbook of everything that a program may write otherwise."""
    with xlsxwriter.Workbook(str(path), {"date_1904": date_1904}) as book:
        page, second, names = (
            book.add_worksheet("Data"),
            book.add_worksheet("It's"),
            book.add_worksheet(" <odd> & 日本 "),
        )
        formats = [book.add_format({"num_format": code}) for code in FORMATS]
        for row, value in enumerate(NUMBERS):
            page.write_number(row, 0, Exact(value))
            for column, style in enumerate(formats):
                second.write_number(row, column, Exact(value), style)
        for row, text in enumerate(TEXTS):
            for column in range(3):
                names.write_string(row, column * 2, text, formats[column * 4])
        for row, (text, value) in enumerate(FORMULAS):
            for column, style in enumerate((None, formats[0], formats[8])):
                page.write_formula(row, 8 + column, "=" + text, style, value)
        for row, style in enumerate((None, *formats)):
            page.write_boolean(row, 5, row % 2 == 0, style)
        page.write_array_formula("M1:M3", "{=A2:A4*2}", None, Exact(2 / 3))
        page.write_number("M2", 2e-300)
        page.write_number("M3", 2e300)
        page.write_array_formula("N1:N1", "{=SUM(A16:A17*2)}", None, Exact(12345.678901234567 * 2 - 3e-10))
        page.write_array_formula("O1:O3", "{=RAND()*ROW(A1:A3)}", None, 1.0)
        page.write_formula("P1", "=O3*2", None, 1.0)
        page.write_blank(50, 30, None, formats[0])
        page.set_row(3, None, None, {"hidden": True})
        page.merge_range("R1:S2", "merged")
        book.define_name("Rate", "=Data!$A$12")
        names.hide()
        book.add_worksheet("Empty").very_hidden()
        book.add_worksheet("Far").write_string(1_048_575, 16_383, "last")
    return path


def deal(path: Path) -> Path:
    """A generated deal."""
    generate(loans=200, seed=11, messy=("title_rows", "totals_row", "error_cells", "blanks")).write(path)
    return path


def tape(path: Path) -> Path:
    """Numbers of every size and length, dates, and texts, as plain rows."""
    chance = Random(17)
    bits = [struct.unpack("<d", struct.pack("<Q", chance.getrandbits(62)))[0] for _ in range(2_000)]
    ties = [float(f"{chance.randrange(10**14, 10**15)}5e{chance.randrange(-22, 6)}") for _ in range(4_000)]
    loose = [chance.random() * 10.0 ** chance.randrange(-9, 16) for _ in range(4_000)]
    numbers = [number for number in (*bits, *ties, *loose) if math.isfinite(number)]
    rows = [[n, date(2024, 1, 1 + at % 28), datetime(2024, 1, 1, at % 24, 3, 7)] for at, n in enumerate(numbers)]  # noqa: DTZ001
    write_workbook_rows(path, {"Tape": [["a", "b", "c"], *rows]})
    return path


@pytest.mark.parametrize("make", [hard, deal, tape])
def test_saved_unchanged_it_is_the_original(tmp_path: Path, make: Any) -> None:
    plain = make(tmp_path / "plain.xlsx")
    path = with_parts(plain, tmp_path / "export.xlsx", sign(manifest_of(plain), KEY))
    book = read(path)
    kept = Record(data_hash(book).hash, fingerprints(book, None, KEY), KEY)
    once = convert(path, "xlsx", tmp_path / "once")
    for saved in (once, convert(once, "xlsx", tmp_path / "twice")):
        verdict = verify(saved, KEYS, kept)
        assert (verdict.status, verdict.diffs, verdict.hmac_valid) == ("original", (), True)


def test_an_export_with_zones_is_the_original_after_it_was_saved(tmp_path: Path) -> None:
    book = read(deal(tmp_path / "deal.xlsx"))
    order = ExportOrder(
        format="xlsx", export_id="exp_1", workbook_id="w", tenant_id="t", created=datetime(2026, 1, 31, tzinfo=UTC),
        lineage=Lineage(workbook_name="deal"), keys=Keys(signing=KEY, signing_id="k1", redaction=KEY),
    )  # fmt: skip
    exported = export_workbook(book, order, tmp_path)
    assert exported.fingerprints is not None
    kept = Record(
        exported.result_summary.provenance.data_hash, (tmp_path / exported.fingerprints.path).read_bytes(), KEY
    )
    path = (tmp_path / exported.main.path).rename(tmp_path / "export.xlsx")
    for file in (path, convert(path, "xlsx", tmp_path / "saved")):
        verdict = verify(file, KEYS, kept)
        assert (verdict.status, verdict.diffs, verdict.hmac_valid) == ("original", (), True)
        assert verdict.beside == ("Workspace", "Control")


def test_the_1904_system_is_kept(tmp_path: Path) -> None:
    plain = hard(tmp_path / "plain.xlsx", date_1904=True)
    path = with_parts(plain, tmp_path / "export.xlsx", sign(manifest_of(plain), KEY))
    assert read(path).date_1904
    assert verify(convert(path, "xlsx", tmp_path / "saved"), KEYS).status == "original"


def test_what_was_changed_before_it_was_saved_is_told(tmp_path: Path) -> None:
    """A number, a text, a date, a formula and a cell that came.

    Each by its cell, and no other.
    """
    rows: list[list[Any]] = [["Id", "Par", "Maturity", "Share"]]
    rows += [[f"L{at}", at / 7, date(2030, 1, 1 + at), Formula(f"B{at + 2}/SUM(B$2:B$9)", at / 28)] for at in range(8)]
    plain = tmp_path / "plain.xlsx"
    write_workbook_rows(plain, {"Loans": rows, "Workspace": [[Formula("SUM(Loans!B2:B9)", 4.0)]]})
    path = with_parts(plain, tmp_path / "export.xlsx", sign(manifest_of(plain, ["Loans"]), KEY))
    book = read(path)
    kept = Record(data_hash(book, ["Loans"]).hash, fingerprints(book, ["Loans"], KEY), KEY)
    rows[1][1], rows[2][0], rows[3][2], rows[4][3] = 0.5, "L1 ", date(2031, 1, 3), Formula("B5/SUM(B$2:B$10)", 2 / 28)
    rows[5].append("new")
    changed = edited(path, tmp_path / "changed.xlsx", {"Loans": rows, "Workspace": [["mine"]]})
    verdict = verify(convert(changed, "xlsx", tmp_path / "saved"), KEYS, kept)
    assert verdict.status == "modified"
    assert [(diff.cell, diff.status) for diff in verdict.diffs] == [
        ("B2", "changed"), ("A3", "changed"), ("C4", "changed"), ("D5", "changed"), ("E6", "added"),
    ]  # fmt: skip


def test_a_cell_changed_in_what_it_saved_is_told(tmp_path: Path) -> None:
    plain = deal(tmp_path / "plain.xlsx")
    path = with_parts(plain, tmp_path / "export.xlsx", sign(manifest_of(plain), KEY))
    book = read(path)
    kept = Record(data_hash(book).hash, fingerprints(book, None, KEY), KEY)
    saved = convert(path, "xlsx", tmp_path / "saved")
    cell = re.compile(rb'(<c r="([A-Z]+[0-9]+)" s="[0-9]+" t="n"><v>)([0-9.]+)</v>')
    result: list[str] = []

    def change(data: bytes) -> bytes:
        place = list(cell.finditer(data))[20]
        result.append(place[2].decode())
        return data[: place.start()] + place[1] + b"987654321.5</v>" + data[place.end() :]

    verdict = verify(rewritten(saved, {"xl/worksheets/sheet1.xml": change}), KEYS, kept)
    answer = [(diff.sheet, diff.cell, diff.status) for diff in verdict.diffs]
    assert answer == [(book.sheets[0].name, result[0], "changed")]
