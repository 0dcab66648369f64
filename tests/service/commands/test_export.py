"""The export command, run as a user runs it.

What it writes, what it redacts and says, how it ends.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import openpyxl
import pytest

from core.compliance.suites import TESTS
from core.files.write import Formula, write_workbook_rows
from tests.forks import cushion
from tests.rows import every

HEADER = ("CUSIP", "Issuer", "Par", "Maturity Date", "Rating", "Spread", "Agent E-mail")
LOANS = [
    ("12345ABC9", "Acme Holdings, Inc.", 3_000_000, "2029-06-30", "B2", 350, "ann.agent@example.com"),
    ("12345ABD7", "Beta LLC", 2_000_000, "2030-03-31", "B1", 400, "bob@example.com"),
]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "march.xlsx"
    loans = [HEADER, *LOANS, ("", "", Formula("SUM(C2:C3)", 5_000_000.0))]
    write_workbook_rows(path, {"Loans": loans, "Notes": [["=HYPERLINK(A1)", "-5.25"]]})
    return path


def unpacked(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return b"".join(map(archive.read, archive.namelist()))


def test_each_format_is_written_without_personal_data(book: Path, tmp_path: Path) -> None:
    for ending, option in {"xlsx": "xlsx", "zip": "csv", "json": "json", "pdf": "pdf"}.items():
        out = tmp_path / f"out.{ending}"
        answer = cushion("export", book, "--format", option, "--out", out)
        assert (answer.returncode, answer.stderr) == (0, ""), ending
        lines = answer.stdout.splitlines()
        assert lines[0] == "redacted  email: 2 (Loans!G 2)", ending
        assert lines[-1].startswith(f"{out}: 2 sheets, 5 rows, 24 cells, "), ending
        if ending != "pdf":
            data = out.read_bytes() if ending == "json" else unpacked(out)
            assert b"12345ABC9" in data, ending
            assert b"ann.agent" not in data, ending
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF-")
    sheets = json.loads((tmp_path / "out.json").read_text())["sheets"]
    assert [sheet["name"] for sheet in sheets] == ["Loans", "Notes"]
    assert (sheets[0]["header_row"], sheets[0]["formulas"]) == (1, {"C4": "=SUM(C2:C3)"})
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.namelist() == ["Loans.csv", "Notes.csv"]
        assert archive.read("Notes.csv").decode() == "\ufeff'=HYPERLINK(A1),-5.25\r\n"


def test_a_csv_of_one_sheet_as_it_is(book: Path, tmp_path: Path) -> None:
    answer = cushion(
        "export", book, "--format", "csv", "--sheet", "LOANS", "--out", tmp_path / "a.csv", "--delimiter", "tab",
        "--encoding", "utf-16", "--personal-data",
    )  # fmt: skip
    assert (
        answer.stdout
        == f"{tmp_path / 'a.csv'}: 1 sheet, 4 rows, 22 cells, {(tmp_path / 'a.csv').stat().st_size:,} bytes\n"
    )
    rows = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text("utf-16"), newline=""), delimiter="\t"))
    assert rows == [
        list(HEADER),
        *([str(cell) for cell in loan] for loan in LOANS),
        ["", "", "5000000", "", "", "", ""],
    ]


def test_a_pipe_gets_the_file_and_nothing_else(book: Path) -> None:
    answer = cushion(
        "export", book, "--format", "csv", "--sheet", "Notes", "--encoding", "utf-8", "--out", "/dev/stdout"
    )
    assert answer.stdout == "'=HYPERLINK(A1),-5.25\n"  # the line end as Python reads a pipe's text
    assert answer.stderr.splitlines()[-1].startswith("/dev/stdout: 1 sheet, 1 row, 2 cells, ")


def test_the_zones_show_the_tests_and_verify_by_the_key(book: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("march 000102030405060708090a0b0c0d0e0f\n")
    answer = cushion("export", book, "--out", tmp_path, "--key-file", keys)
    out = tmp_path / "march.xlsx"
    assert "is what it is made of" in answer.stderr
    out = tmp_path / "zones.xlsx"
    assert cushion("export", book, "--out", out, "--key-file", keys).returncode == 0
    opened = openpyxl.load_workbook(out, data_only=True)
    assert opened.sheetnames == ["Loans", "Notes", "Workspace", "Control"]
    words = {cell for row in opened["Control"].values for cell in row if isinstance(cell, str)}
    assert {TESTS["average_rating_factor"].name, "march.xlsx"} <= words
    body = json.loads(cushion("compliance", book, "--json").stdout)
    figures = {cell for row in opened["Control"].values for cell in row if isinstance(cell, int | float)}
    assert {result["current_value"] for result in body["results"]} <= figures
    verified = cushion("verify", out, "--key-file", keys)
    assert (verified.returncode, verified.stdout.split(":")[1]) == (0, " original")
    assert "signature  valid, of the key 'march'" in verified.stdout
    assert cushion("export", book, "--plain", "--out", out).returncode == 0
    assert openpyxl.load_workbook(out).sheetnames == ["Loans", "Notes"]


def test_what_came_of_it_as_json(book: Path, tmp_path: Path) -> None:
    answer = cushion(
        "export", book, "--format", "json", "--compact", "--redaction", "remove", "--json", "--out", tmp_path / "a.json"
    )
    body = json.loads(answer.stdout)
    assert body["file"] == str(tmp_path / "a.json")
    assert body["redacted"] == {"email": {"Loans!G": 2}}
    assert (body["rows"], body["provenance"]["manifest_version"]) == (5, "svc_hash_v1")
    assert b"\n" not in (tmp_path / "a.json").read_bytes()


@every(
    "options, why",
    [
        (["--sheet", "Nope"], "no sheet 'Nope'"),
        (["--format", "csv", "--out", "a.csv"], "several sheets come as an archive"),
        (["--format", "csv", "--delimiter", "x"], "a delimiter is a tab or one of , ; | ~"),
        (["--format", "csv", "--encoding", "rot13"], "an encoding is one of utf-8-sig, utf-8, "),
        (["--format", "doc"], "Invalid value"),
        (["--json", "--out", "/dev/stdout"], "--json goes to the standard output"),
        (["--suite", "deal"], "name its file with --deal"),
        (["--key-file", "/dev/null"], "holds no key"),
        (["--mapping", "nowhere.json"], "there is no such file"),
    ],
)
def test_what_cannot_be_exported(book: Path, tmp_path: Path, options: list[str], why: str) -> None:
    value = [str(tmp_path / option) if option == "a.csv" else option for option in options]
    before = set(tmp_path.iterdir())
    answer = cushion("export", book, *value)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert why in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert set(tmp_path.iterdir()) == before
