"""A hostile file costs its command one line and exit code 2.

No abort, no traceback, no end in sight, no memory.
"""

from __future__ import annotations

import io
import json
import os
import signal
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import openpyxl
import pytest
import xlwt
from openpyxl.worksheet.formula import ArrayFormula

import core
from core.files.errors import FileRefused
from service.commands import limits
from service.commands.cli import run
from service.commands.refusal import Refused
from tests.hostile_pdfs import FILES

EXIT_REFUSED = 2
LOANS = 100_000
NUMBER_RECORD = struct.pack("<HH", 0x0203, 14)
FAR = struct.pack("<H", 0xFFFF)


def old_workbook(path: Path, *, row: bytes = b"\1\0", column: bytes = b"\0\0") -> Path:
    """An .xls with two numbers, the second one's place altered.

    A file of 5 kB that can ask for 137 GB.
    """
    book = xlwt.Workbook()
    sheet = book.add_sheet("Loans")
    sheet.write(0, 0, 1 / 3)
    sheet.write(1, 0, 1 / 3)
    bytes_io = io.BytesIO()
    book.save(bytes_io)
    before, result, after = bytes_io.getvalue().rpartition(NUMBER_RECORD)
    assert result
    path.write_bytes(before + result + row + column + after[4:])
    return path


def wide_workbook(path: Path, cell: bytes = b'<c r="XFE1"><v>2</v></c>') -> Path:
    """An .xlsx with a cell past the last column."""
    plain = io.BytesIO()
    openpyxl.Workbook().save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "xl/worksheets/sheet1.xml":
                data = data.replace(b"<sheetData>", b'<sheetData><row r="1">' + cell + b"</row>")
                assert cell in data
            target.writestr(name, data)
    return path


@pytest.fixture(scope="module")
def long_workbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An .xlsx with so many loans that to calculate with them takes a while."""
    rows = ["".join(map(text_cell, ("A1", "B1", "C1"), ("Borrower", "Par", "Spread")))]
    rows += [text_cell(f"A{row}", f"B {row}") + f'<c r="B{row}"><v>1000000</v></c>' for row in range(2, LOANS)]
    return wide_workbook(tmp_path_factory.mktemp("long") / "long.xlsx", "</row><row>".join(rows).encode())


def text_cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def with_formulas(path: Path, **cells: object) -> Path:
    book = openpyxl.Workbook()
    for place, value in {"B2": 2, **cells}.items():
        book.active[place] = value
    book.save(path)
    return path


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a command says when it refuses."""
    assert run([str(argument) for argument in arguments]) == EXIT_REFUSED
    text = capsys.readouterr().err.strip()
    assert text.startswith("cushion: ")
    assert "\n" not in text
    return text


@pytest.mark.parametrize("command", ["compliance", "reconcile"])
def test_an_old_workbook_that_aborts_its_reader_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    file = old_workbook(tmp_path / "loans.xls", row=FAR, column=FAR)
    assert "damaged" in refused(capsys, command, *[file] * (2 if command == "reconcile" else 1))


def test_the_library_refuses_it_too(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="damaged"):
        core.read(old_workbook(tmp_path / "loans.xls", row=FAR, column=FAR))
    assert core.read(old_workbook(tmp_path / "whole.xls")).sheets[0].value(0, 0) == 1 / 3


def test_more_columns_than_a_sheet_has_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = old_workbook(tmp_path / "wide.xls", column=FAR), wide_workbook(tmp_path / "wide.xlsx")
    assert "past column 16,384" in refused(capsys, "map", old)
    for file in (old, new):
        with pytest.raises(FileRefused, match="past column 16,384"):
            core.read(file)


def test_what_is_no_file_of_a_workbook_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.xlsx"
    os.mkfifo(pipe)
    for file in (pipe, Path("/dev/zero")):
        refused(capsys, "map", file)
    refused(capsys, "recalc", pipe)
    refused(capsys, "audit", "/dev/zero")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = wide_workbook(tmp_path / "bomb.xlsx", cell=b" " * 32 * 1024 * 1024)
    assert file.stat().st_size < 100_000
    assert "unpacks to" in refused(capsys, "compliance", file)


def test_an_array_formula_over_the_whole_sheet_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its members are counted by what is stored, not by the seventeen thousand million cells of its range."""
    for place, formula in (
        ("A1", ArrayFormula("A1:XFD1048576", "=1")),
        ("D4", ArrayFormula("D4:XFD1048576", "=A1:XFD1048576*1")),
        ("D4", "=SUM(E1:XFD1048576*2)"),
    ):
        file, rows = with_formulas(tmp_path / "array.xlsx", **{place: formula}), tmp_path / "rows.json"
        assert run(["recalc", str(file), "--json", "--out", str(rows)]) == 0
        assert len(json.loads(rows.read_text())) <= 16
        assert "1 formula cell in 1 sheet" in capsys.readouterr().err


swallows_alarms = pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
"""An alarm may ring while the collector or a weak reference calls back: what it raises there is swallowed, with a
warning, and it rings again."""


@swallows_alarms
def test_a_recalculation_has_limits_of_time_and_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = with_formulas(tmp_path / "filled.xlsx", A1=ArrayFormula("A1:XFD2000", "=1"))
    monkeypatch.setattr(limits, "limits_of_environment", lambda: (2**28, 60.0))
    assert "needs more memory than the limit" in refused(capsys, "recalc", file, "--check")
    monkeypatch.undo()
    monkeypatch.setattr(limits, "limits_of_environment", lambda: (2**31, 0.5))
    assert "takes longer than the limit" in refused(capsys, "recalc", file, "--check")


@swallows_alarms
def test_an_alarm_that_is_swallowed_rings_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    swallowed: list[BaseException] = []
    ring = limits._ring

    def first_swallowed(*arguments: object) -> None:
        try:
            ring(signal.SIGALRM, None)
        except BaseException as rung:
            swallowed.append(rung)
            if len(swallowed) > 1:
                raise

    monkeypatch.setattr(limits, "_ring", first_swallowed)
    monkeypatch.setattr(limits, "RINGS_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(limits, "limits_of_environment", lambda: (2**31, 0.1))
    file = with_formulas(tmp_path / "filled.xlsx", A1=ArrayFormula("A1:XFD2000", "=1"))
    assert "takes longer than the limit" in refused(capsys, "recalc", file, "--check")
    assert len(swallowed) >= 2


def test_an_alarm_in_a_destructor_rings_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []

    class Slow:
        def __del__(self) -> None:
            until = time.monotonic() + 0.1
            while time.monotonic() < until:
                pass
            ended.append(True)

    def without_end() -> None:
        slow = Slow()
        del slow
        while True:
            pass

    monkeypatch.setattr(limits, "limits_of_environment", lambda: (2**31, 0.02))
    with pytest.raises(Refused, match="takes longer than the limit"), limits.limited("slow"):
        without_end()
    assert ended


@swallows_alarms
@pytest.mark.parametrize("command", ["compliance", "map", "reconcile"])
def test_calculating_with_loans_has_limits_too(
    long_workbook: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(limits, "limits_of_environment", lambda: (2**31, 0.02))
    files = [long_workbook] * (2 if command == "reconcile" else 1)
    assert "takes longer than the limit" in refused(capsys, command, *files)


def test_an_interrupt_ends_a_recalculation_at_once(tmp_path: Path) -> None:
    """It comes while many rows are compared."""
    file = with_formulas(tmp_path / "filled.xlsx", A1=ArrayFormula("A1:ZZ2000", "=1"))
    command = [sys.executable, "-m", "service.commands.cli", "recalc", str(file), "--check"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(2.0)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


@pytest.mark.parametrize("command", ["compliance", "map", "audit", "recalc"])
@pytest.mark.parametrize("name", ["a page that is listed a million times", "the mark alone"])
def test_a_hostile_document_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(FILES[name].build())
    text = refused(capsys, command, file)
    assert len(text) < 400
