"""What people read.

No name that a field gives a rating agency, nor that of a trustee's tapes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from core.generate import generate, generate_tape
from tests.conftest import Member
from tests.forks import cushion
from tests.service.insights.conftest import asked, generated, nominated
from tests.service.reconciliation.conftest import BASE, BOOK, HEADER, TAPE, Files, Pair, compared, taken
from tests.service.reports.conftest import create_report, sheets_of

NAMES = re.compile(r"rating[_ ]agency|trustee[_ ][a-c]\b")
OWN = {"rating_agency_a_label": "Agence Premiere", "trustee_b_label": "First Trust"}
ODD = "BB+"
"""No symbol of the agency's: a warning says so, with the field's name."""


def names_in(text: str) -> list[str]:
    return [line for line in text.splitlines() if NAMES.search(line)]


def texts_of(data: bytes) -> str:
    """All cells of a workbook, a line each."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    return "\n".join(str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row if cell)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holdings, the tape of a trustee, and holdings with a rating that cannot be read."""
    folder = tmp_path_factory.mktemp("people")
    tape = generate_tape(generate(200, 7), "trustee_b", 7)
    tape.write(folder / "tape.xlsx")
    tape.deal.write(folder / "holdings.xlsx")
    Files(folder).write(odd(BOOK), "odd.xlsx")
    return folder


def odd(rows: Any) -> list[Any]:
    """The rows with one rating that cannot be read."""
    at = HEADER.index("Moody's Rating")
    first = list(rows[1])
    first[at] = ODD
    return [rows[0], first, *rows[2:]]


COMMANDS = {
    "map odd.xlsx",
    "map tape.xlsx",
    "map odd.xlsx --format md",
    "compliance odd.xlsx --suite enhanced",
    "compliance odd.xlsx --suite enhanced --format md",
    "reconcile tape.xlsx holdings.xlsx --trustee trustee_b",
    "reconcile tape.xlsx holdings.xlsx --format md",
    "compare tape.xlsx holdings.xlsx",
}
"""Commands whose answer is a table with ratings of an agency."""


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_tables_of_commands(folder: Path, command: str) -> None:
    answer = cushion(*(str(folder / word) if word.endswith(".xlsx") else word for word in command.split()))
    assert names_in(answer.stdout.replace(str(folder), "")) == []
    assert "Moody's rating" in " ".join(answer.stdout.split())


@pytest.mark.parametrize("more", [[], ["--tape", "tape.xlsx", "--trustee", "trustee_b"]])
def test_sheets_of_a_report(folder: Path, tmp_path: Path, more: list[str]) -> None:
    out = tmp_path / "report.xlsx"
    book = "holdings.xlsx" if more else "odd.xlsx"
    words = [str(folder / word) if word.endswith(".xlsx") else word for word in [book, *more]]
    answer = cushion("report", *words, "--out", str(out))
    assert answer.returncode == 0, answer.stderr
    text = texts_of(out.read_bytes())
    assert names_in(text) == []
    assert "Moody's rating" in text
    assert ("Trustee B" in text.splitlines()) == bool(more)


def test_sheets_of_an_export(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "export.xlsx"
    answer = cushion("export", str(folder / "odd.xlsx"), "--suite", "enhanced", "--out", str(out))
    assert answer.returncode == 0, answer.stderr
    text = texts_of(out.read_bytes())
    assert names_in(text) == []
    assert "1 cell of Moody's rating cannot be read" in text


# A tenant's own words -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_pair(shared_owner: Member, folder: Path) -> Pair:
    """A tape and its book, of a tenant with labels of its own."""
    changed = shared_owner.patch("/api/v1/admin/tenant", json={"settings": OWN})
    assert changed.status_code == 200, changed.text
    files = Files(folder)
    tape = taken(shared_owner, files.write(TAPE, "their.xlsx"), trustee_name="trustee_b")
    book = shared_owner.uploaded(files.write(odd(BOOK), "our.xlsx"))
    assert compared(shared_owner, str(tape["id"]), str(book["id"]))["status"] == "completed"
    run = shared_owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_suite": "enhanced"})
    assert run.status_code == 200, run.text
    return Pair(shared_owner, tape, book)


def read_by(who: Member, pair: Pair) -> Iterator[str]:
    """The people's texts of the tenant, one after the other."""
    about: dict[str, dict[str, Any]] = {
        "compliance": {"workbook_id": pair.workbook_id},
        "reconciliation": {"tape_id": pair.tape_id},
    }
    for kind, body in about.items():
        report = create_report(who, kind, format="xlsx", **body)
        yield "\n".join(str(cell) for rows in sheets_of(who, report).values() for row in rows for cell in row if cell)
    nominated(who, pair.workbook_id)
    session = generated(who)
    texts = ("title", "summary")
    yield "\n".join(str(insight[name]) for insight in session["insights"] for name in texts)
    yield "\n".join(str(remark) for remark in session["warnings"])
    yield str(asked(who, "Show the trustee breaks")["answer"])


def test_a_tenants_own_labels_stand_in_what_its_people_read(own_pair: Pair) -> None:
    compliance, reconciliation, insights, warnings, answer = read_by(own_pair.member, own_pair)
    for text in (compliance, reconciliation, insights, warnings, answer):
        assert names_in(text) == []
    assert "1 cell of Agence Premiere rating cannot be read" in compliance
    assert {"First Trust", "Agence Premiere rating"} <= set(reconciliation.splitlines())
    assert "Agence Premiere rating" in answer
    assert "Moody's rating" not in compliance + reconciliation + answer


def test_the_api_keeps_the_names(own_pair: Pair) -> None:
    assert "rating_agency_a" in {issue["field_name"] for issue in own_pair.issues()}
    assert own_pair.member.get(f"{BASE}/tapes/{own_pair.tape_id}").json()["trustee_name"] == "trustee_b"
