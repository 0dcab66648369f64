"""The one way out of the commands.

The same rows in every format, and nothing in a file that a reader obeys.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from core.labels import labelled
from core.portfolio.model.notes import DataWarning
from service.commands.output import (
    Grid,
    Line,
    Output,
    OutputColumn,
    OutputPage,
    bar,
    console_for,
    emit,
    json_of,
    json_rows,
    json_with_rows,
    print_page,
)
from service.commands.refusal import Refused
from tests.rows import every


@dataclass
class Loan:
    name: str
    par: float | None
    count: int
    day: date
    is_fixed: bool


LOANS = [
    Loan("Acme | Sons", 1_234.5, 1_000, date(2026, 3, 31), True),
    Loan("=HYPERLINK(1)", float("nan"), -3, date(2024, 2, 29), False),
    Loan('He said "no", twice\nand left \x1b]0;owned\x07', None, 0, date(2030, 1, 1), True),
]
GRID = Grid(
    columns=[
        OutputColumn("name", "Name", folds=True),
        OutputColumn("par", "Par", right=True),
        OutputColumn("count"),
        OutputColumn("day", "Day"),
        OutputColumn("is_fixed", "Fixed"),
        OutputColumn(heading="Bar", shown=lambda loan: bar(loan.par, "utf-8")),
    ],
    items=LOANS,
)
PAGE = OutputPage(
    title="*loans* of <b>a</b> deal",
    warnings=[DataWarning("doubt", "2 \x1b[31mloans are doubtful")],
    blocks=[GRID, Line(), Line("oc_ratio: nothing", "skipped"), Line("3 loans")],
    rows=GRID,
    document=json_of({"loans": [vars(loan) for loan in LOANS]}),
    notes=[Line("3 loans", "note")],
)


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., str]:
    def write(name: str, **options: Any) -> str:
        emit(PAGE, Output(out=tmp_path / name, **options))
        return (tmp_path / name).read_bytes().decode()

    return write


def test_csv_is_read_back_and_calculates_nothing(written: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = written("x.csv")
    assert text.count("\r\n") == 4
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [
        ["name", "par", "count", "day", "is_fixed"],
        ["Acme | Sons", "1234.5", "1000", "2026-03-31", "TRUE"],
        ["'=HYPERLINK(1)", "", "-3", "2024-02-29", "FALSE"],
        ['He said "no", twice\nand left ?]0;owned?', "", "0", "2030-01-01", "TRUE"],
    ]
    out, answer = capsys.readouterr()
    assert (out, answer) == ("", "warning: doubt: 2 ?[31mloans are doubtful\nnote: 3 loans\n")


def test_json_knows_no_nan_and_steers_no_terminal(written: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = written("x.json")
    loans = json.loads(text, parse_constant=lambda name: pytest.fail(name))["loans"]
    assert [loan["par"] for loan in loans] == [1_234.5, None, None]
    assert "\x1b" not in text
    assert capsys.readouterr() == ("", "")
    assert json.loads("".join(json_rows([])())) == []
    for rows in ([], [{"a": "\x1b"}, {"a": float("inf")}]):
        new_text = "".join(json_with_rows({"n": 1}, "rows", rows)())
        assert json.loads(new_text) == {"n": 1, "rows": [{"a": "\x1b"}, {"a": None}] if rows else []}


def test_markdown_shows_what_is_there_and_obeys_none_of_it(written: Any) -> None:
    lines = written("x.md").splitlines()
    assert lines[0] == r"# \*loans\* of \<b>a\</b> deal"
    assert lines[2] == r"**warning** doubt: 2 ?\[31mloans are doubtful"
    table = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    assert [len(row) for row in table] == [5] * 5
    assert [row[0].strip() for row in table[2:]] == [
        r"Acme \| Sons", "=HYPERLINK(1)", r'He said "no", twice and left ?\]0;owned?',
    ]  # fmt: skip
    assert [row[1].strip() for row in table[2:]] == ["1,234.50", "-", "-"]
    assert "**skipped** oc_ratio: nothing" in lines


def test_a_table_fits_its_terminal_and_is_coloured_there_alone(written: Any) -> None:
    text = written("x.txt")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert all(name in text for name in ("Acme | Sons", "=HYPERLINK(1)", "?]0;owned?"))
    for width in (30, 50, 80, 200):
        console = Console(file=io.StringIO(), force_terminal=True, width=width, no_color=False, color_system="standard")
        print_page(PAGE, console)
        assert isinstance(console.file, io.StringIO)
        shown = console.file.getvalue()
        assert "\x1b[1m" in shown
        lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
        assert max(map(len, lines)) <= (width if width >= 50 else 50)  # too narrow for the figures: none is cut
        assert all(figure in shown for figure in ("1,234.50", "2026-03-31", "yes"))


def test_a_closed_pipe_is_no_difference_that_a_check_found() -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        print_page(PAGE, console_for(Closed()))


@every(
    "name, options, begins",
    [
        ("x.json", {}, "{"),
        ("x.JSON", {}, "{"),
        ("x.csv", {}, "name,"),
        ("x.markdown", {}, "# "),
        ("x.dat", {}, "*loans*"),
        ("x.csv", {"format": "json"}, "{"),
        ("x.csv", {"json": True}, "{"),
        ("x.csv", {"format": "md"}, "# "),
    ],
)
def test_the_format_is_the_options_else_the_names(name: str, options: dict[str, Any], begins: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        emit(PAGE, Output(out=Path(folder) / name, **options))
        assert (Path(folder) / name).read_text().startswith(begins)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def breaks() -> Any:
        yield "{"
        raise Refused("broken off")

    kept = tmp_path / "x.json"
    kept.write_text("before")
    page = OutputPage(blocks=(), rows=GRID, document=breaks)
    with pytest.raises(Refused, match="broken off"):
        emit(page, Output(out=kept))
    assert kept.read_text() == "before"
    for path, words in ((tmp_path / "none" / "x.csv", "No such file"), (tmp_path, "directory")):
        with pytest.raises(Refused, match=words):
            emit(PAGE, Output(out=path))
    with pytest.raises(Refused, match="two formats"):
        emit(PAGE, Output(json=True, format="csv"))
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


@every(
    "percent, encoding, drawn",
    [
        (0.0, "utf-8", "▏"),
        (25.0, "utf-8", "█████"),
        (26.0, "utf-8", "█████▎"),
        (50.0, "utf-8", "██████████"),
        (9e9, "utf-8", "██████████"),
        (-0.1, "utf-8", "░"),
        (-500.0, "utf-8", "░░░░░░░░░░"),
        (25.0, "ascii", "#####"),
        (0.1, "latin-1", "#"),
        (-25.0, "ascii", "xxxxx"),
        (None, "utf-8", ""),
        (float("nan"), "utf-8", ""),
        (float("inf"), "utf-8", ""),
    ],
)
def test_a_bar_is_full_at_half_the_threshold(percent: float | None, encoding: str, drawn: str) -> None:
    assert bar(percent, encoding) == drawn


def test_a_terminal_breaks_lines_between_words() -> None:
    """Lines and tables alike; in a pipe a line stays one."""
    words = "rating_agency_a_issuer overcollateralisation of the deal and its classes, " * 4 + "end"
    grid = Grid(
        columns=[
            OutputColumn(heading="Field", value=lambda item: "rating_agency_a_issuer", folds=True),
            OutputColumn(heading="Header", value=lambda item: "Moody's Industry (auxiliary)", folds=True),
            OutputColumn(heading="Because", value=lambda item: words, folds=True),
            OutputColumn(heading="Count", value=lambda item: 1_000_000, right=True),
        ],
        items=[1],
    )
    page = OutputPage(title=words, blocks=[grid, Line(words, "not used")], rows=grid, document=json_of({}))
    known = {
        *words.split(),
        *labelled(words).split(),
        *["Moody's", "Industry", "(auxiliary)", "Field", "Header", "Because", "Count", "1,000,000", "not", "used"],
    }
    wide = Console(file=io.StringIO(), force_terminal=True, no_color=True, color_system=None, width=80)
    print_page(page, wide)
    text = wide.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= 80
    assert set(text.replace("\u2500", "").split()) <= known
    pipe = io.StringIO()
    print_page(page, console_for(pipe))
    assert f"not used  {labelled(words)}" in pipe.getvalue()
