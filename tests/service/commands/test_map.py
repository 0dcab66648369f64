"""The map command, run as a user runs it.

What it says of good files, broken ones, and mappings of one's own.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from core.files.read import read
from core.portfolio.mapping.detection import detect_columns
from service.commands.map import _by_doubt, _role_grids, _shown
from service.commands.output import Grid
from service.commands.reading import DOCUMENT_BYTES_MAX
from tests.forks import cushion

ROOT = Path(__file__).parents[3]
MAG17 = ROOT / "../shared/data/mag17.xlsx"
HEADER = ["LoanX ID", "Issuer Name", "Par Amount", "Price", "Spread"]
ROWS = [
    ["Example CLO"],
    HEADER,
    [None, None, "(USD)", "%", "bps"],
    ["LX100001", "Alpha Inc", 1_000.0, 99.0, 350.0],
    ["LX100002", "Beta Inc", 2_000.0, 98.0, 375.0],
    [None, "Principal Cash", 500.0],
    ["Total", None, 3_500.0],
]
MAPPING = {
    "name": "Own list",
    "source_type": "clo_holdings",
    "profile_id": "standard_clo",
    "mappings": {"Par Amount": {"target": "par_value", "type": "number", "required": True}},
    "validation_rules": [{"field": "price", "rule": "range", "parameters": {"min": 98.5, "max": 110}}],
}


def written(path: Path, rows: Sequence[Sequence[Any]] = ROWS, name: str = "Holdings", **more: Any) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        for sheet, lines in {name: rows, **more}.items():
            page = book.add_worksheet(sheet)
            for row, values in enumerate(lines):
                for column, value in enumerate(values):
                    if value is not None:
                        page.write(row, column, value)
    return path


def lines_of(answer: subprocess.CompletedProcess[str]) -> list[str]:
    return [" ".join(line.split()) for line in answer.stdout.splitlines()]


def test_what_was_detected_is_printed_with_its_reasons(tmp_path: Path) -> None:
    answer = cushion("map", written(tmp_path / "book.xlsx", Cover=[["Report"]]))
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "\x1b" not in answer.stdout
    long = ("warning", "no column for")
    assert all(len(line) <= 100 for line in answer.stdout.splitlines() if not line.startswith(long))
    lines = lines_of(answer)
    assert lines[0] == "book.xlsx, mapping Standard CLO holdings"
    assert "Holdings holdings rows 2-3 5 chosen: its header names 5 fields" in lines
    assert "Cover - - 0 no row among its first 40 names a field" in lines
    assert "header rows 2-3 of sheet Holdings: one row of names, units in row 3" in lines
    assert "loans 2 in rows 4 to 5" in lines
    assert "left out cash and accounts: row 6 'Principal Cash'" in lines
    assert "left out totals and footers: row 7 'Total'" in lines
    assert "par_value C Par Amount 2 - - 1,000, 2,000" in lines
    assert "spread bps basis points the row of units says bps" in lines
    assert lines[-1] == "5 columns mapped, 2 rows: 0 invalid, 0 errors, 0 warnings"


def test_each_column_is_printed_with_its_role(tmp_path: Path) -> None:
    rows = [[*ROWS[1], "Desk"], *([*row, "x"] for row in ROWS[3:5])]
    page = [["LoanX ID", "Country"], ["LX100001", "US"], ["LX100002", "DE"]]
    path = written(tmp_path / "book.xlsx", rows, Countries=page)
    lines = lines_of(cushion("map", path))
    assert any(line.startswith("C Par Amount par_value ") for line in lines)
    assert any(line.startswith("F Desk ") for line in lines)
    assert "Countries page row 1 2 2 rows joined, 2 by loanx_id" in lines
    assert "page columns Countries: A loanx_id, B country" in lines
    answer = cushion("map", path, "--format", "csv")
    first = next(csv.DictReader(io.StringIO(answer.stdout)))
    assert (first["field"], first["role"], first["ambiguous"]) == ("loanx_id", "loanx_id", "FALSE")
    assert float(first["weight_of_words"]) > 0


def test_ambiguous_columns_come_first_with_a_mark(tmp_path: Path) -> None:
    book = read(written(tmp_path / "book.xlsx", Page=[["LoanX ID", "Country"], ["LX100001", "US"]]))
    detection = detect_columns(book)
    doubtful = {"role": "price", "runner_up": "market_value", "margin": 0.3, "is_ambiguous": True}
    columns = tuple(replace(column, **doubtful) if column.column == "D" else column for column in detection.columns)
    pages = tuple(
        replace(page, columns=tuple(replace(column, **doubtful) for column in page.columns))
        for page in detection.page_columns
    )
    assert pages
    detection = replace(detection, columns=columns, page_columns=pages)
    assert [item.column for item in _by_doubt(detection)] == ["D", "A", "B", "C", "E"]
    own, others = [block for block in _role_grids(detection) if isinstance(block, Grid)]
    (first, *rest) = own.for_people
    shown = {column.heading: str(column.text(first)) for column in own.columns}
    assert (shown["Role"], shown["Runner-up"], shown["Lead"]) == ("price ?", "market_value", "0.3")
    assert not any("?" in str(own.columns[2].text(item)) for item in rest)
    assert [[str(column.text(for_person)) for column in others.columns[:4]] for for_person in others.for_people] == [
        ["Page", "A", "LoanX ID", "price ?"],
        ["Page", "B", "Country", "price ?"],
    ]


def test_the_json_document_has_all_of_it(tmp_path: Path) -> None:
    path = written(tmp_path / "book.xlsx")
    answer = cushion("map", path, "--json")
    assert answer.returncode == 0
    document = json.loads(answer.stdout)
    assert list(document) == ["file", "mapping", "warnings", "detection", "validation"]
    assert (document["file"], document["mapping"]) == (str(path), "standard_clo")
    assert document["detection"]["header"] == {"rows": [2, 3], "kind": "one row", "units_row": 3, "numbers_row": None}
    assert [column["target"] for column in document["detection"]["columns"]] == [
        "loanx_id", "borrower_name", "par_value", "price", "spread",
    ]  # fmt: skip
    assert document["validation"]["valid"] is True
    assert document["validation"]["rows_processed"] == 2


def test_a_mapping_of_ones_own_is_applied_and_checked(tmp_path: Path) -> None:
    document = tmp_path / "own.json"
    document.write_text(json.dumps(MAPPING))
    path = written(tmp_path / "book.xlsx")
    answer = cushion("map", path, "--mapping", document)
    assert (answer.returncode, answer.stderr) == (1, "")
    lines = lines_of(answer)
    assert lines[0] == "book.xlsx, mapping Own list"
    # The row is the sheet's own.
    assert any(line.startswith("5 price") and line.endswith("98") for line in lines)
    assert lines[-1] == "5 columns mapped, 2 rows: 1 invalid, 1 error, 0 warnings"
    fault = json.loads(cushion("map", path, "--mapping", document, "--json").stdout)["validation"]["errors"][0]
    assert (fault["row"], fault["field"], fault["rule"], fault["value"]) == (5, "price", "range", 98.0)


def test_only_so_many_errors_are_printed(tmp_path: Path) -> None:
    document = tmp_path / "own.json"
    document.write_text(json.dumps(MAPPING))
    rows = [HEADER, *([f"LX{row:06d}", f"B{row}", 1.0, 50.0, 350.0] for row in range(30))]
    path = written(tmp_path / "book.xlsx", rows)
    lines = lines_of(cushion("map", path, "--mapping", document, "--limit", "3"))
    assert "... and 27 more errors (--limit shows more of them)" in lines
    assert sum(line.endswith(" 50") for line in lines if line[:1].isdigit()) == 3
    none = lines_of(cushion("map", path, "--mapping", document, "--limit", "0"))
    assert not any(line.endswith(" 50") for line in none if line[:1].isdigit())
    assert none[-1] == "5 columns mapped, 30 rows: 30 invalid, 30 errors, 0 warnings"
    assert cushion("map", path, "--limit", "1001").returncode == 2


def test_missing_columns_are_told_by_the_exit_code(tmp_path: Path) -> None:
    answer = cushion("map", written(tmp_path / "book.xlsx", [["Par", "CUSIP", "Price"], [1.0, "x", 99.0]]))
    assert answer.returncode == 1
    assert "required column missing borrower_name" in lines_of(answer)


def test_one_sheet_of_several(tmp_path: Path) -> None:
    path = written(tmp_path / "book.xlsx", Sales=[["Issuer", "Par", "CUSIP"], ["Alpha", 1.0, "x"]])
    answer = cushion("map", path, "--sheet", "sales", "--json")
    assert json.loads(answer.stdout)["detection"]["sheet"] == "Sales"
    answer = cushion("map", path, "--sheet", "Nowhere")
    assert answer.returncode == 2
    assert answer.stderr == f"cushion: {path}: no sheet is called 'Nowhere'; its sheets are 'Holdings', 'Sales'\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_no_header_says_what_was_looked_for(tmp_path: Path, as_json: bool) -> None:
    path = written(tmp_path / "book.xlsx", [["Title"], ["Issuer", "Rating"]], "Ratings", Blank=[])
    answer = cushion("map", path, *(["--json"] if as_json else []))
    assert (answer.returncode, answer.stderr) == (1, "")
    if as_json:
        document = json.loads(answer.stdout)
        assert document["validation"] is None
        assert document["detection"]["message"].startswith("no header found: looked in the first 1,000 rows")
        return
    lines = lines_of(answer)
    assert any(line.startswith("Ratings - row 2 2 its best row names 2 of the 3 fields") for line in lines)
    assert "Blank - - 0 it is empty" in lines
    assert lines[-1].startswith(
        "no header found: looked in the first 1,000 rows of each sheet for one that names 3 fields"
    )


def test_an_empty_workbook(tmp_path: Path) -> None:
    answer = cushion("map", written(tmp_path / "book.xlsx", []))
    assert answer.returncode == 1
    assert "Holdings - - 0 it is empty" in lines_of(answer)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("missing.xlsx", None, "No such file or directory"),
        ("notes.xlsx", b"no spreadsheet", "plain text"),
        ("folder.xlsx", "folder", "The folder holds no file that ends in .xlsx"),
        ("broken.xlsx", b"PK\x03\x04 and then nothing", ""),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes | str | None, reason: str
) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    answer = cushion("map", path)
    assert (answer.returncode, answer.stdout) == (2, "")
    (line,) = answer.stderr.splitlines()
    assert line.startswith(f"cushion: {path}: ")
    assert reason in line


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file, and no built-in mapping of this name; there are: standard_clo,"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "a mapping document is a JSON object"),
        (b" " * (DOCUMENT_BYTES_MAX + 1), "at most 1,000,000 bytes"),
        (b'{"source_type": "loans"}', "source_type"),
        (json.dumps({**MAPPING, "profile_id": "mine"}).encode(), "profile_id"),
        (json.dumps({**MAPPING, "mappings": {"Par": {"target": "par_value", "type": "word"}}}).encode(), "type"),
        (json.dumps({**MAPPING, "validation_rules": [{"field": "no\x1b[31m", "rule": "x"}]}).encode(), "no mapping"),
    ],
)
def test_a_wrong_mapping_document_is_refused_in_one_line(tmp_path: Path, content: bytes | None, reason: str) -> None:
    document = tmp_path / "own.json"
    if content is not None:
        document.write_bytes(content)
    answer = cushion("map", written(tmp_path / "book.xlsx"), "--mapping", document)
    assert (answer.returncode, answer.stdout) == (2, "")
    (line,) = answer.stderr.splitlines()
    assert line.startswith(f"cushion: {document}: ")
    assert reason in line
    assert "\x1b" not in line


def test_text_from_a_file_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    hostile = "[red]\u202e\u2066\x07owned[/red]"
    rows = [
        [*HEADER, hostile, hostile, "Market Value" + hostile],
        [hostile],
        ["LX100001", hostile, 1_000.0, hostile, 350.0],
        [None, f"Cash {hostile}", 5.0],
    ]
    answer = cushion("map", written(tmp_path / "book.xlsx", rows, "Holdings\u202e"))
    for sign in ("\x1b", "\x07", "\u202e", "\u2066"):
        assert sign not in answer.stdout
    assert "[red]??" in answer.stdout
    assert "Holdings?" in answer.stdout
    document = cushion("map", tmp_path / "book.xlsx", "--json").stdout
    assert all(sign.isprintable() or sign == "\n" for sign in document)
    assert json.loads(document)["detection"]["sheet"] == "Holdings\u202e"


REAL = [MAG17] if MAG17.exists() else []


@pytest.mark.parametrize("path", REAL)
def test_a_real_deal(path: Path) -> None:
    answer = cushion("map", path)
    assert answer.returncode == 0
    lines = lines_of(answer)
    assert "loans 195 in rows 6 to 200" in lines
    assert "spread fraction basis points, x 10,000 median 0.0325 is at most 0.25" in lines
    assert lines[-1].startswith("33 columns mapped, 195 rows: 0 invalid")


@pytest.mark.parametrize(
    ("values", "room", "text"),
    [
        (["9.175", "8.42", "7.5"], 20, "9.175, 8.42, 7.5"),
        (["9.175", "8.42", "7.5"], 14, "9.175, ..."),
        (["Aldabel Birch Holdings", "Nova"], 14, "Aldabel ..."),
        (["US616PDCAA85"], 8, "US616PDCAA85"),
        ([], 14, ""),
    ],
)
def test_first_values_are_cut_between_words(values: list[str], room: int, text: str) -> None:
    assert _shown(values, room) == text
