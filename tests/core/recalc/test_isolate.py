"""A stranger's workbook is recalculated in a child.

Its answer is a stored workbook or what stopped it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from core.confined.tasks import in_thread
from core.files.isolate import parse_isolated
from core.grid.codec import open_workbook
from core.recalc.isolate import RecalculatedFile, RecalculationFailed, recalculate_isolated
from tests.processes import children_of

NOW = datetime(2024, 2, 29, 12, 0)  # noqa: DTZ001 - a workbook knows no zones
LIMITS: dict[str, Any] = {"now": NOW, "memory_bytes_max": 1024**3, "seconds_max": 60.0}

ENDLESS = "=SUM(NETWORKDAYS(1,SEQUENCE(1000000),SEQUENCE(100000)))"
"""An hour's work."""


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[dict[str, str]], tuple[Any, tuple[Path, ...]]]:
    """Stores a workbook of some numbers and the given formulas, which carry 0.

    Its manifest and its sheets' files.
    """

    def book_of(formulas: dict[str, str]) -> tuple[Any, tuple[Path, ...]]:
        path, folder = tmp_path / "a.xlsx", tmp_path / "stored"
        folder.mkdir()
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("S")
            sheet.write_column("A1", [1, 2, 3])
            for ref, formula in formulas.items():
                sheet.write_formula(ref, formula, None, 0)
        parsed = parse_isolated(path, folder)
        return parsed.manifest, parsed.paths

    return book_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    book = tmp_path / "out"
    book.mkdir()
    return book


def cells(recalculated: RecalculatedFile) -> dict[str, Any]:
    sheet = open_workbook(recalculated.manifest, recalculated.paths).sheets[0]
    return {f"B{row + 1}": sheet.value(row, 1) for row in range(sheet.row_count)}


def test_every_formula_is_calculated_and_stored(stored: Callable[..., Any], folder: Path) -> None:
    manifest, paths = stored({"B1": "=SUM(A1:A3)", "B2": "=TODAY()", "B3": "=1/0", "B4": "=B1*2"})
    recalculated = recalculate_isolated(manifest, paths, folder, **LIMITS)
    result = cells(recalculated)
    assert (result["B1"], result["B3"], result["B4"]) == (6, "#DIV/0!", 12)
    assert float(result["B2"]) == 45_351  # 29 February 2024
    assert open_workbook(recalculated.manifest, recalculated.paths).sheets[0].formula(3, 1) == "B1*2"
    assert (
        recalculated.answer.cell_count,
        recalculated.answer.unsupported,
        recalculated.answer.cycles,
        recalculated.answer.fault_count,
    ) == (4, (), (), 0)
    assert sorted(path.name for path in recalculated.paths) == sorted(path.name for path in folder.iterdir())


def test_what_cannot_be_calculated_is_reported_and_the_rest_is_done(stored: Callable[..., Any], folder: Path) -> None:
    manifest, paths = stored({"B1": "=B2+1", "B2": "=B1+1", "B3": "=RTD(1)", "B4": "=SUM(A1:A3)"})
    recalculated = recalculate_isolated(manifest, paths, folder, **LIMITS)
    assert cells(recalculated)["B4"] == 6
    assert cells(recalculated)["B3"] == "#NAME?"
    assert recalculated.answer.unsupported == ("RTD",)
    assert recalculated.answer.cycle_count == 1
    assert [set(cycle) for cycle in recalculated.answer.cycles] == [{"S!B1", "S!B2"}]


def test_a_workbook_that_takes_too_long(stored: Callable[..., Any], folder: Path) -> None:
    manifest, paths = stored({"B1": ENDLESS})
    with pytest.raises(RecalculationFailed, match=r"longer than the limit of 1 seconds"):
        recalculate_isolated(manifest, paths, folder, **{**LIMITS, "seconds_max": 1.0})
    assert list(folder.iterdir()) == []


def test_a_workbook_that_needs_too_much_memory(stored: Callable[..., Any], folder: Path) -> None:
    """The limit leaves no room for the libraries themselves."""
    manifest, paths = stored({"B1": "=SUM(A1:A3)"})
    with pytest.raises(RecalculationFailed, match=r"more memory than the limit of|stopped before its end"):
        recalculate_isolated(manifest, paths, folder, **{**LIMITS, "memory_bytes_max": 64 * 1024**2})
    assert list(folder.iterdir()) == []


def test_a_formula_that_needs_too_much_memory_is_a_fault_of_its_cell(stored: Callable[..., Any], folder: Path) -> None:
    """Three gigabytes of text under a limit of a half.

    The other formulas are calculated.
    """
    manifest, paths = stored({"B1": '=SUM(LEN(REPT("a",SEQUENCE(100000,1,32000,0))))', "B2": "=SUM(A1:A3)"})
    recalculated = recalculate_isolated(manifest, paths, folder, **{**LIMITS, "memory_bytes_max": 512 * 1024**2})
    assert (cells(recalculated)["B2"], recalculated.answer.fault_count) == (6, 1)


def test_a_child_that_crashes(stored: Callable[..., Any], folder: Path) -> None:
    manifest, paths = stored({"B1": ENDLESS})

    def crash() -> None:
        while not (children := children_of(os.getpid(), "core.recalc.confined.recalculate")):
            time.sleep(0.01)
        os.kill(children[0], signal.SIGSEGV)

    with ThreadPoolExecutor() as pool:
        crashed = pool.submit(crash)
        with pytest.raises(RecalculationFailed, match="stopped before its end"):
            recalculate_isolated(manifest, paths, folder, **LIMITS)
        crashed.result()
    assert list(folder.iterdir()) == []


def test_stored_columns_that_are_none(stored: Callable[..., Any], folder: Path) -> None:
    manifest, paths = stored({"B1": "=1"})
    paths[0].write_bytes(b"\xff" * 64)
    with pytest.raises(RecalculationFailed):
        recalculate_isolated(manifest, paths, folder, **LIMITS)
    assert list(folder.iterdir()) == []


def test_what_is_the_machines_fault_is_no_failure_of_the_workbook(stored: Callable[..., Any], folder: Path) -> None:
    manifest, paths = stored({"B1": "=1"})
    with pytest.raises(FileNotFoundError):
        recalculate_isolated(manifest, [paths[0].with_name("missing")], folder, **LIMITS)
    with pytest.raises(FileNotFoundError):
        recalculate_isolated(manifest, paths, folder / "missing", **LIMITS)


def test_it_can_be_stopped(stored: Callable[..., Any], folder: Path) -> None:
    stop = threading.Event()
    stop.set()
    manifest, paths = stored({"B1": ENDLESS})
    with pytest.raises(InterruptedError):
        recalculate_isolated(manifest, paths, folder, **LIMITS, stop=stop)
    assert list(folder.iterdir()) == []


def test_cancelling_a_task_ends_the_child(stored: Callable[..., Any], folder: Path) -> None:
    manifest, paths = stored({"B1": ENDLESS})

    async def cancelled() -> None:
        task = asyncio.create_task(in_thread(recalculate_isolated, manifest, paths, folder, **LIMITS))
        while not (folder / ".confined").exists():  # noqa: ASYNC110 - what it waits for is a folder
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert list(folder.iterdir()) == []
    assert children_of(os.getpid(), "core.recalc.confined.recalculate") == []
