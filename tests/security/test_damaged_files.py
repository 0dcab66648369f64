"""Damaged files of every kind.

Whatever is cut off or changed, a file is read or refused; no fault is the machine's.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import xlsxwriter
import xlwt

from core.confined.table import NamedFile, ParseOrder
from core.files.confined import probe
from core.files.errors import FileRefused
from core.files.isolate import parse_isolated
from core.files.probe import ProbeOrder
from core.files.read import read_files
from core.recalc.confined import parse
from tests.core.files.test_calamine import binary_parts, binary_sheet
from tests.core.files.test_encrypted import agile, rc4_cryptoapi
from tests.core.files.test_ods import cell, content, row
from tests.core.files.test_spreadsheetml import document, sheet

CHANGES = 60
"""Spoiled copies of each file; fewer of those whose password is hashed 200,000 times."""
OLE = b"\xd0"


def zipped(parts: dict[str, Any]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def xlsx() -> bytes:
    out = BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        page = book.add_worksheet("Loans")
        bold = book.add_format({"num_format": "yyyy-mm-dd", "bold": True})
        for at in range(30):
            page.write_row(at, 0, [f"Loan {at}", at / 7, at % 2 == 0])
            page.write_number(at, 3, 45_000 + at, bold)
            page.write_formula(at, 4, f"=B{at + 1}*2", None, at * 2 / 7)
        page.add_table(0, 6, 5, 8, {"name": "Pool"})
        book.define_name("Total", "=Loans!$B$1")
    return out.getvalue()


def xls() -> bytes:
    out, book = BytesIO(), xlwt.Workbook()
    page = book.add_sheet("Loans")
    for at in range(30):
        page.write(at, 0, f"Loan {at}")
        page.write(at, 1, at / 7)
    page.write_merge(40, 41, 0, 2, "both")
    book.save(out)
    return out.getvalue()


CSV = "".join(f'Loan {at};"5,{at}";{at}\n' for at in range(50)).encode()
HTML = "<table>" + "".join(f'<tr><td x:num="{at}" rowspan=2>{at}<td>Loan {at}' for at in range(50)) + "</table>"

FILES: dict[str, Callable[[], bytes]] = {
    "xlsx": xlsx,
    "xls": xls,
    "xlsb": lambda: zipped(binary_parts(binary_sheet({at: {0: f"Loan {at}", 1: at / 7} for at in range(30)}))),
    "ods": lambda: zipped({"content.xml": content(*[row(cell("float", "1"), cell("string", "", "a"))] * 9)}),
    "csv": lambda: CSV,
    "html": HTML.encode,
    "xml": lambda: document(sheet("<Row><Cell><Data ss:Type='Number'>1</Data></Cell></Row>" * 30)),
    "zip": lambda: zipped({"a.csv": CSV, "b.xlsx": xlsx()}),
    "encrypted xlsx": lambda: agile("VelvetSweatshop", xlsx()),
    "encrypted xls": lambda: rc4_cryptoapi("VelvetSweatshop"),
}


def spoiled(data: bytes, random: Random) -> Iterator[bytes]:
    """Copies that are cut off, have other bytes, lack some, or have some twice.

    Of archives, parts of them likewise.
    """
    for _ in range(CHANGES // 4 if data[:1] != OLE else CHANGES // 12):
        at, size = random.randrange(len(data)), random.randrange(1, 40)
        yield data[:at]
        yield data[:at] + random.randbytes(size) + data[at + size :]
        yield data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
        yield data[:at] + data[at + size :]
    if not zipfile.is_zipfile(BytesIO(data)):
        return
    with zipfile.ZipFile(BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, part in parts.items():
        yield zipped({second: text for second, text in parts.items() if second != name})
        for _ in range(4):
            at, size = random.randrange(len(part) or 1), random.randrange(1, 20)
            for changed in (part[:at], part[:at] + random.randbytes(size) + part[at + size :], b"", part + part):
                yield zipped(parts | {name: changed})


@pytest.mark.parametrize("kind", list(FILES))
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, kind: str) -> None:
    """By the functions that the child runs.

    What else they raise reads as a refusal, but an OSError as the machine's fault, which is tried again and ends as
    a dead letter.
    """
    path, folder = tmp_path / "a", tmp_path / "out"
    folder.mkdir()
    data = FILES[kind]()
    assert read_files([("a", data)]).sheets
    outcomes = set()
    for copy in spoiled(data, Random(kind)):
        path.write_bytes(copy)
        for work in (
            lambda: probe(ProbeOrder(str(path), "a.xls")),
            lambda: parse(ParseOrder((NamedFile("a.xls", str(path)),)), folder),
        ):
            try:
                answer = work()
                outcomes.add("read")
                assert "\\u0000" not in msgspec.json.encode(answer).decode()  # which no database takes
            except FileRefused:
                outcomes.add("refused")
            except BaseException as fault:
                outcomes.add(type(fault).__name__)
    assert {"refused"} <= outcomes <= {"read", "refused", "PanicException"}  # calamine's, which ends the child


@pytest.mark.parametrize("kind", ["xlsb", "xls"])
def test_a_damaged_binary_workbook_is_refused_by_the_child_at_once(tmp_path: Path, kind: str) -> None:
    data = FILES[kind]()
    if kind == "xlsb":
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        copies = [zipped(parts | {"xl/workbook.bin": parts["xl/workbook.bin"][:at]}) for at in (0, 3, 20)]
    else:
        copies = [data[:at] for at in (1_500, 3_000)]
    for copy in copies:
        (tmp_path / "a").write_bytes(copy)
        with pytest.raises(FileRefused):
            parse_isolated(tmp_path / "a", tmp_path)
