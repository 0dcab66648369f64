"""A comparison is made in a child.

Its answer is a file of issues and what is known of them, or what stopped it.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.confined.run import run, workplace
from core.confined.tasks import in_thread
from core.files.isolate import parse_isolated
from core.files.read import read
from core.files.write import write_workbook_rows
from core.generate import GeneratedTape
from core.portfolio import Portfolio
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.portfolio.model.fields import PROFILES
from core.reconciliation.isolate import read_tape_isolated
from core.reconciliation.issues import ROW_COLUMNS
from core.reconciliation.rules import RULES, tolerances_of
from core.reconciliation.run import reconcile
from core.reconciliation.tape import LOANS_FILE
from service.reconciliation.child import COMPARE, ISSUES_FILE, Comparison, ComparisonFailed, ComparisonResult
from tests.core.reconciliation.isolated import LIMITS, left_in
from tests.service.reconciliation.copied import parsed

HEADER = ("CUSIP", "Issuer Name", "Par Amount", "Maturity Date")


@pytest.fixture(scope="module")
def stored(generated_tape: tuple[GeneratedTape, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stored loans of the tape."""
    place = tmp_path_factory.mktemp("stored")
    read_tape_isolated(generated_tape[1] / "tape.xlsx", place, trustee="trustee_b", **LIMITS)
    return place / LOANS_FILE


@pytest.fixture
def loans(stored: Path, folder: Path) -> Path:
    """A copy of them beside the answer."""
    return Path(shutil.copy(stored, folder))


def compared_of(
    comparison: Comparison, folder: Path, stop: threading.Event | None = None, **second: Any
) -> ComparisonResult:
    """What comparing in a child answers; the issues are in the folder."""
    reads = [comparison.loans, *comparison.paths]
    with workplace(folder) as path:
        return run(COMPARE, comparison, reads=reads, writes=path, stop=stop, **{**LIMITS, **second})


def comparison_of(book_path: Path, loans: Path, folder: Path, **second: Any) -> Comparison:
    book = parse_isolated(book_path, folder)
    answer: dict[str, Any] = {
        "loans": str(loans),
        "manifest": book.manifest.to_json(),
        "paths": tuple(str(path) for path in book.paths),
        "mapping": msgspec.json.encode(PROFILES["standard_clo"]).decode(),
        "rules": tuple(RULES),
        "tolerances": tolerances_of(None),
        "day": None,
    }
    return Comparison(**{**answer, **second})


def test_a_comparison_says_what_the_library_says(
    generated_tape: tuple[GeneratedTape, Path], loans: Path, folder: Path
) -> None:
    compared = compared_of(comparison_of(generated_tape[1] / "book.xlsx", loans, folder), folder)
    expected = reconcile(
        Portfolio.from_workbook(read(generated_tape[1] / "tape.xlsx"), TRUSTEES["trustee_b"]),
        Portfolio.from_workbook(read(generated_tape[1] / "book.xlsx")),
    )
    assert compared.summary["issues_found"] == len(expected.issues) > 10
    assert compared.summary["matched"] == expected.summary.matched
    assert compared.stages == expected.stages
    assert compared.warnings == list(expected.warnings)
    assert str(compared.as_of) == "2026-03-31"
    rows = parsed((folder / ISSUES_FILE).read_text(encoding="utf-8"))
    named = [name for name in rows[0] if name not in ROW_COLUMNS]
    assert [{name: row[name] for name in named} for row in rows] == [
        {name: getattr(issue, name) for name in named} for issue in expected.issues
    ]


def test_rules_and_tolerances_are_those_asked_for(
    generated_tape: tuple[GeneratedTape, Path], loans: Path, folder: Path
) -> None:
    asked: dict[str, Any] = {"rules": ("spread",), "tolerances": tolerances_of({"spread": 1e9})}
    compared_of(comparison_of(generated_tape[1] / "book.xlsx", loans, folder, **asked), folder)
    assert {row["rule"] for row in parsed((folder / ISSUES_FILE).read_text(encoding="utf-8"))} <= {
        "borrower_name",
        "identifier",
        "duplicate",
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("Colour", "Weight"), ("red", 1)], "The workbook has no loans: no sheet has a header"),
        ([HEADER], "The workbook has no loans: sheet 'Book' has none below its header that can be used."),
    ],
)
def test_a_workbook_without_loans_cannot_be_compared(
    loans: Path, tmp_path: Path, folder: Path, rows: list[Any], message: str
) -> None:
    write_workbook_rows(tmp_path / "book.xlsx", {"Book": rows})
    comparison = comparison_of(tmp_path / "book.xlsx", loans, folder)
    with pytest.raises(ComparisonFailed) as failed:
        compared_of(comparison, folder)
    assert str(failed.value).startswith(message)


def test_the_limits_hold(generated_tape: tuple[GeneratedTape, Path], loans: Path, folder: Path) -> None:
    comparison = comparison_of(generated_tape[1] / "book.xlsx", loans, folder)
    before = left_in(folder)
    with pytest.raises(ComparisonFailed, match=r"Comparing takes longer than the limit of 0\.05 seconds"):
        compared_of(comparison, folder, seconds_max=0.05)
    with pytest.raises(ComparisonFailed):
        compared_of(comparison, folder, memory_bytes_max=64 * 1024**2)
    assert left_in(folder) == before


def test_a_comparison_of_damaged_loans_fails(
    generated_tape: tuple[GeneratedTape, Path], loans: Path, folder: Path
) -> None:
    comparison = comparison_of(generated_tape[1] / "book.xlsx", loans, folder)
    loans.write_bytes(b"damaged")
    with pytest.raises(ComparisonFailed, match="stopped before its end"):
        compared_of(comparison, folder)


def test_a_task_that_is_cancelled_ends_the_child(
    generated_tape: tuple[GeneratedTape, Path], loans: Path, folder: Path
) -> None:
    async def work() -> None:
        comparison = comparison_of(generated_tape[1] / "book.xlsx", loans, folder)
        compared = await in_thread(compared_of, comparison, folder)
        assert compared.summary["matched"] > 100
        task = asyncio.create_task(in_thread(compared_of, comparison, folder))
        await asyncio.sleep(0.05)
        begun = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - begun < 30
        assert not (folder / ".confined").exists()

    asyncio.run(work())
