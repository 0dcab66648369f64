"""Reading a tape and comparing it happen in a child: its answer is a stored result, or what stopped it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.files.isolate import parse_isolated
from core.files.read import read
from core.files.write import write_workbook_rows
from core.generate import GeneratedTape, generate, generate_tape
from core.grid.codec import open_sheet
from core.portfolio.fields import PROFILES
from core.portfolio.portfolio import Portfolio
from core.portfolio.stored import from_sheet
from core.portfolio.trustees import TRUSTEES
from core.reconcile.isolate import (
    Comparison,
    ComparisonFailed,
    StoredTape,
    compare_isolated,
    compare_isolated_async,
    read_tape_isolated,
    read_tape_isolated_async,
)
from core.reconcile.rules import RULES, tolerances_of
from core.reconcile.run import reconcile
from core.reconcile.tape import TapeRefused
from tests.core.reconcile.copied import parsed

LIMITS: dict[str, Any] = {"memory_bytes_max": 2 * 1024**3, "seconds_max": 60.0}
HEADER = ("CUSIP", "Issuer Name", "Par Amount", "Maturity Date")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[GeneratedTape, Path]:
    """A seeded tape, and the folder with its file and its book's."""
    folder = tmp_path_factory.mktemp("made")
    tape = generate_tape(generate(loans=200, seed=11), "trustee_b", 5)
    tape.write(folder / "tape.xlsx")
    tape.deal.write(folder / "book.xlsx")
    return tape, folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    empty = tmp_path / "out"
    empty.mkdir()
    return empty


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def read_made(made: tuple[GeneratedTape, Path], folder: Path) -> StoredTape:
    return read_tape_isolated(made[1] / "tape.xlsx", folder, trustee="trustee_b", **LIMITS)


def comparison_of(made: tuple[GeneratedTape, Path], tape: StoredTape, folder: Path, **other: Any) -> Comparison:
    book = parse_isolated(made[1] / "book.xlsx", folder)
    told: dict[str, Any] = {
        "loans": str(tape.path),
        "manifest": json.loads(book.manifest.to_json()),
        "paths": [str(path) for path in book.paths],
        "mapping": msgspec.json.encode(PROFILES["standard_clo"]).decode(),
        "rules": list(RULES),
        "tolerances": tolerances_of(None),
    }
    return Comparison(**{**told, **other})


def test_a_tape_is_stored_with_what_is_known_of_it(made: tuple[GeneratedTape, Path], folder: Path) -> None:
    stored = read_made(made, folder)
    assert left_in(folder) == [stored.path.name]
    loans = Portfolio.from_workbook(read(made[1] / "tape.xlsx"), TRUSTEES["trustee_b"])
    back = from_sheet(open_sheet(stored.path))
    assert stored.loan_count == back.row_count == loans.row_count
    assert stored.total_par == pytest.approx(float(loans.numbers["par_value"].sum()))
    for name in ("par_value", "price", "spread", "maturity_date"):
        assert back.numbers[name].tobytes() == loans.numbers[name].tobytes()
    assert stored.header_row == loans.notes["header_row"] + 1
    assert stored.columns["par_value"] == "Principal_Funded_Balance"


def test_a_comparison_says_what_the_library_says(made: tuple[GeneratedTape, Path], folder: Path) -> None:
    stored = read_made(made, folder)
    compared = compare_isolated(comparison_of(made, stored, folder), folder, **LIMITS)
    expected = reconcile(
        Portfolio.from_workbook(read(made[1] / "tape.xlsx"), TRUSTEES["trustee_b"]),
        Portfolio.from_workbook(read(made[1] / "book.xlsx")),
    )
    assert compared.summary["issues_found"] == len(expected.issues) > 10
    assert compared.summary["matched"] == expected.summary.matched
    assert compared.stages == expected.stages
    assert compared.warnings == expected.warnings
    assert compared.as_of == "2026-03-31"
    rows = parsed(compared.path.read_text(encoding="utf-8"))
    assert rows == [{name: getattr(issue, name) for name in rows[0]} for issue in expected.issues]


def test_rules_and_tolerances_are_those_asked_for(made: tuple[GeneratedTape, Path], folder: Path) -> None:
    stored = read_made(made, folder)
    comparison = comparison_of(made, stored, folder, rules=["spread"], tolerances=tolerances_of({"spread": 1e9}))
    compared = compare_isolated(comparison, folder, **LIMITS)
    assert {row["rule"] for row in parsed(compared.path.read_text(encoding="utf-8"))} <= {
        "borrower_name",
        "identifier",
        "duplicate",
    }


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


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("Colour", "Weight"), ("red", 1)], "The workbook has no loans: no sheet has a header"),
        ([HEADER], "The workbook has no loans: sheet 'Book' has none below its header that can be used."),
    ],
)
def test_a_workbook_without_loans_cannot_be_compared(
    made: tuple[GeneratedTape, Path], tmp_path: Path, folder: Path, rows: list[Any], said: str
) -> None:
    write_workbook_rows(tmp_path / "book.xlsx", {"Book": rows})
    comparison = comparison_of((made[0], tmp_path), read_made(made, folder), folder)
    with pytest.raises(ComparisonFailed) as failed:
        compare_isolated(comparison, folder, **LIMITS)
    assert str(failed.value).startswith(said)


def test_the_limits_hold(made: tuple[GeneratedTape, Path], folder: Path) -> None:
    path = made[1] / "tape.xlsx"
    with pytest.raises(TapeRefused, match=r"longer than the limit of 0\.05 seconds"):
        read_tape_isolated(path, folder, trustee="trustee_b", memory_bytes_max=2 * 1024**3, seconds_max=0.05)
    with pytest.raises(TapeRefused):
        read_tape_isolated(path, folder, trustee="trustee_b", memory_bytes_max=64 * 1024**2, seconds_max=60.0)
    assert left_in(folder) == []


def test_a_comparison_of_damaged_loans_fails(made: tuple[GeneratedTape, Path], folder: Path) -> None:
    stored = read_made(made, folder)
    comparison = comparison_of(made, stored, folder)
    stored.path.write_bytes(b"damaged")
    with pytest.raises(ComparisonFailed, match="stopped before its end"):
        compare_isolated(comparison, folder, **LIMITS)


def test_it_can_be_stopped(made: tuple[GeneratedTape, Path], folder: Path) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(read_tape_isolated, made[1] / "tape.xlsx", folder, trustee="trustee_b", stop=stop, **LIMITS)
        stop.set()
        with pytest.raises(InterruptedError):
            work.result(timeout=30)
    assert left_in(folder) == []


def test_tasks_read_and_compare_and_can_be_cancelled(made: tuple[GeneratedTape, Path], folder: Path) -> None:
    async def work() -> None:
        stored = await read_tape_isolated_async(made[1] / "tape.xlsx", folder, trustee="trustee_b", **LIMITS)
        comparison = comparison_of(made, stored, folder)
        compared = await compare_isolated_async(comparison, folder, **LIMITS)
        assert compared.summary["matched"] > 100
        task = asyncio.create_task(compare_isolated_async(comparison, folder, **LIMITS))
        await asyncio.sleep(0.05)
        begun = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - begun < 5
        assert not (folder / ".reconciling").exists()

    asyncio.run(work())
