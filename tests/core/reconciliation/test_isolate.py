"""A tape is read in a child: its answer is the stored loans, or what stopped it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest

from core.confined.table import TapeAnswer
from core.confined.tasks import in_thread
from core.files.read import read
from core.files.write import write_workbook_rows
from core.generate import GeneratedTape
from core.grid.codec import open_sheet
from core.portfolio import Portfolio
from core.portfolio.assemble.stored import from_sheet
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.reconciliation.isolate import read_tape_isolated
from core.reconciliation.tape import LOANS_FILE, TapeRefused
from tests.core.reconciliation.isolated import LIMITS, left_in

HEADER = ("CUSIP", "Issuer Name", "Par Amount", "Maturity Date")


def read_made(result: tuple[GeneratedTape, Path], folder: Path) -> TapeAnswer:
    return read_tape_isolated(result[1] / "tape.xlsx", folder, trustee="trustee_b", **LIMITS)


def test_a_tape_is_stored_with_what_is_known_of_it(generated_tape: tuple[GeneratedTape, Path], folder: Path) -> None:
    stored = read_made(generated_tape, folder)
    assert left_in(folder) == [LOANS_FILE]
    loans = Portfolio.from_workbook(read(generated_tape[1] / "tape.xlsx"), TRUSTEES["trustee_b"])
    back = from_sheet(open_sheet(folder / LOANS_FILE))
    assert stored.loan_count == back.row_count == loans.row_count
    assert stored.total_par == pytest.approx(float(loans.numbers["par_value"].sum()))
    for name in ("par_value", "price", "spread", "maturity_date"):
        assert back.numbers[name].tobytes() == loans.numbers[name].tobytes()
    assert stored.header_row == loans.notes.header_row + 1
    assert stored.columns["par_value"] == "Principal_Funded_Balance"


@pytest.mark.parametrize("content", [b"PK\x03\x04 broken", b"", b"cusip,par\n1,2\n"], ids=["damaged", "empty", "text"])
def test_a_file_that_is_no_spreadsheet_is_refused(tmp_path: Path, folder: Path, content: bytes) -> None:
    path = tmp_path / "tape.xlsx"
    path.write_bytes(content)
    with pytest.raises(TapeRefused) as refused:
        read_tape_isolated(path, folder, trustee="trustee_a", **LIMITS)
    assert str(refused.value).endswith(".")
    assert left_in(folder) == []


def test_a_tape_without_identifiers_is_refused(tmp_path: Path, folder: Path) -> None:
    write_workbook_rows(tmp_path / "tape.xlsx", {"T": [HEADER[1:], ("Acme", 1.0, "2030-06-30")]})
    with pytest.raises(TapeRefused, match="Sheet 'T', whose header is in row 1, has no column with an identifier"):
        read_tape_isolated(tmp_path / "tape.xlsx", folder, trustee="trustee_c", **LIMITS)


def test_the_limits_hold(generated_tape: tuple[GeneratedTape, Path], folder: Path) -> None:
    path = generated_tape[1] / "tape.xlsx"
    with pytest.raises(TapeRefused, match=r"longer than the limit of 0\.05 seconds"):
        read_tape_isolated(path, folder, trustee="trustee_b", memory_bytes_max=2 * 1024**3, seconds_max=0.05)
    with pytest.raises(TapeRefused):
        read_tape_isolated(path, folder, trustee="trustee_b", memory_bytes_max=64 * 1024**2, seconds_max=60.0)
    assert left_in(folder) == []


def test_it_can_be_stopped(generated_tape: tuple[GeneratedTape, Path], folder: Path) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(
            read_tape_isolated, generated_tape[1] / "tape.xlsx", folder, trustee="trustee_b", stop=stop, **LIMITS
        )
        stop.set()
        with pytest.raises(InterruptedError):
            work.result(timeout=30)
    assert left_in(folder) == []


def test_a_task_that_is_cancelled_ends_the_child(generated_tape: tuple[GeneratedTape, Path], folder: Path) -> None:
    async def work() -> None:
        path = generated_tape[1] / "tape.xlsx"
        stored = await in_thread(read_tape_isolated, path, folder, trustee="trustee_b", **LIMITS)
        assert stored.loan_count > 100
        task = asyncio.create_task(in_thread(read_tape_isolated, path, folder, trustee="trustee_b", **LIMITS))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert left_in(folder) == [LOANS_FILE]

    asyncio.run(work())


def test_formulas_of_a_tape_that_came_without_values_are_calculated(tmp_path: Path, folder: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(HEADER)
    book.active.append(("123456AB1", "Acme", "=500000*2", "2030-06-30"))
    book.save(tmp_path / "tape.xlsx")
    now = datetime(2024, 2, 29)  # noqa: DTZ001 - a tape knows no zones
    stored = read_tape_isolated(tmp_path / "tape.xlsx", folder, trustee="trustee_c", now=now, **LIMITS)
    assert (stored.loan_count, stored.total_par) == (1, 1_000_000)
    assert ("formulas_without_values", 1) in [(code, rows) for code, _, rows in stored.warnings]
    assert left_in(folder) == [LOANS_FILE]
