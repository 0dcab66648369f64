"""What a child does with a month: each step's rows, from real bytes, against the functions that the commands call."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec
import openpyxl
import pytest

from core.batch import confined
from core.batch.confined import MonthReader, do_month
from core.batch.order import READY, BatchOptions, DealTerms, MonthAnswer, MonthOrder, StagedFile
from core.batch.table import Step
from core.compliance.run import run_suite
from core.confined.wire import ChildOutcome
from core.files.read import read
from core.generate import generate, generate_tape
from core.portfolio import Portfolio
from core.reconciliation import reconcile

NOW = "2026-04-15T00:00:00"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("months")
    tape = generate_tape(generate(200, 7), "trustee_a", 7)
    tape.write(path / "tape.xlsx")
    tape.deal.write(path / "holdings.xlsx")
    return path


def staged(path: Path) -> StagedFile:
    content = path.read_bytes()
    digest = sha256(content).hexdigest()
    return StagedFile(name=path.name, path=str(path), sha256=digest, size_bytes=len(content))


def order(folder: Path, *names: str, tape: str | None = None, steps: tuple[Step, ...] = ("suite",)) -> MonthOrder:
    writes = folder / f"out-{'-'.join(steps)}"
    writes.mkdir(exist_ok=True)
    return MonthOrder(
        deal="Acme",
        files=tuple(staged(folder / name) for name in names),
        tape=None if tape is None else staged(folder / tape),
        sha256="ab" * 32,
        terms=DealTerms(),
        options=BatchOptions(steps=steps, now=NOW),
        writes=str(writes),
    )


def test_the_suite_gives_what_the_library_gives(folder: Path) -> None:
    answer = do_month(order(folder, "holdings.xlsx"))
    expected = run_suite(Portfolio.from_workbook(read(folder / "holdings.xlsx")), "standard")
    first, *rows = answer.rows
    assert (first.step, first.status, first.test_id, first.value) == ("read", "done", "loans", 200.0)
    assert [(row.test_id, row.value, row.status) for row in rows if row.status != "skipped"] == [
        (result.test_id, result.current_value, result.status) for result in expected
    ]
    assert {row.as_of for row in answer.rows} == {expected.as_of}
    assert set(answer.seconds) == {"reading", "calculating"}


def test_reconcile_counts_the_issues_and_writes_them(folder: Path) -> None:
    asked = order(folder, "holdings.xlsx", tape="tape.xlsx", steps=("reconcile",))
    answer = do_month(asked)
    expected = reconcile(
        Portfolio.from_workbook(read(folder / "tape.xlsx")), Portfolio.from_workbook(read(folder / "holdings.xlsx"))
    )
    counts = {row.test_id: row.value for row in answer.rows if row.step == "reconcile"}
    for severity, count in expected.issues.by_severity().items():
        assert counts[f"issues_{severity}"] == count
    assert counts["loans_matched"] == expected.summary.matched
    assert answer.outputs == ("issues.csv",)
    lines = (Path(asked.writes) / "issues.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(expected.issues) + 1 > 1
    assert {row.files for row in answer.rows} == {"holdings.xlsx; tape.xlsx"}


def test_recalc_counts_values_that_the_file_does_not_carry(folder: Path) -> None:
    book = openpyxl.load_workbook(folder / "holdings.xlsx")
    sheet = book.create_sheet("Sums")
    sheet["A1"], sheet["A2"] = "=1+1", "=NOSUCH(1)"
    book.save(folder / "formulas.xlsx")
    rows = {row.test_id: row for row in do_month(order(folder, "formulas.xlsx", steps=("recalc",))).rows}
    cells, mismatches = rows["formula_cells"], rows["mismatches"]
    assert cells.value is not None
    assert cells.value > 2
    assert cells.doubt is not None
    assert "unsupported: NOSUCH: Sums!A2" in cells.doubt
    assert mismatches.value == cells.value, "no value is carried where openpyxl wrote the file"


def test_report_and_export_write_the_same_bytes_again(folder: Path) -> None:
    asked = order(folder, "holdings.xlsx", steps=("report", "export"))
    answer = do_month(asked)
    assert answer.outputs == ("report.pdf", "export.xlsx")
    assert [(row.step, row.output) for row in answer.rows[1:]] == [("report", "report.pdf"), ("export", "export.xlsx")]
    first = {name: (Path(asked.writes) / name).read_bytes() for name in answer.outputs}
    assert first["report.pdf"].startswith(b"%PDF")
    do_month(asked)
    assert {name: (Path(asked.writes) / name).read_bytes() for name in answer.outputs} == first


def test_what_a_month_lacks_is_a_row_with_its_reason(folder: Path) -> None:
    (folder / "junk.xlsx").write_bytes(b"\x00\x01 no spreadsheet")
    (folder / "words.csv").write_text("a,b\n1,2\n3,4\n")
    (row,) = do_month(order(folder, "junk.xlsx")).rows
    assert (row.step, row.status, row.message) == (
        "read",
        "refused",
        "Invalid file format: The file is not a spreadsheet.",
    )
    (row,) = do_month(order(folder, "words.csv")).rows
    assert row.status == "refused"
    assert row.message is not None
    assert row.message.startswith("no loans: ")
    rows = do_month(order(folder, "holdings.xlsx", steps=("reconcile",))).rows
    assert (rows[1].status, rows[1].message) == ("skipped", "no file of the deal is a trustee's tape")
    asked = order(folder, "holdings.xlsx")
    asked = msgspec.structs.replace(asked, options=BatchOptions(suite="deal", now=NOW))
    (row,) = do_month(asked).rows
    assert row.message == "the suite deal needs a definition: name it with --deal or in the table of deals"


def test_a_day_that_nothing_says_is_left_open_and_said(folder: Path) -> None:
    book = openpyxl.load_workbook(folder / "holdings.xlsx")
    for name in book.sheetnames:
        if name != "Holdings":
            del book[name]
    book.save(folder / "undated.xlsx")
    first = do_month(order(folder, "undated.xlsx")).rows[0]
    assert (first.as_of, first.as_of_source) == (None, None)
    assert first.message is not None
    assert "neither the files nor the table of deals say the day of the figures" in first.message
    asked = msgspec.structs.replace(order(folder, "undated.xlsx"), terms=DealTerms(as_of=20_543.0))
    first = do_month(asked).rows[0]
    assert (str(first.as_of), first.as_of_source) == ("2026-03-31", "request")


def test_the_child_says_when_it_is_to_be_renewed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "RESIDENT_BYTES_MAX", 2**60)  # the process of the tests may hold more than a child
    reader = MonthReader(reports=1, exports=1)

    def answer_of(asked: bytes) -> tuple[MonthAnswer, bool]:
        encoded, goes_on = reader(asked)
        outcome = msgspec.json.decode(encoded, type=ChildOutcome)
        assert isinstance(outcome.answer, msgspec.Raw)
        return msgspec.json.decode(outcome.answer, type=MonthAnswer), goes_on

    answer, goes_on = answer_of(READY)
    assert goes_on
    assert answer.seconds["start_up"] > 0
    answer, goes_on = answer_of(msgspec.json.encode(order(folder, "holdings.xlsx")))
    assert goes_on
    assert len(answer.rows) > 10
    encoded, goes_on = reader(b"no order")
    assert not goes_on
    assert msgspec.json.decode(encoded, type=ChildOutcome).crashed is not None
