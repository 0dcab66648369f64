"""Tasks of a batch: terms by the table, folders for files of steps, and what gets no task."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from core.batch.deals import parse_deals
from core.batch.months import MonthFiles, SourceFile, group_files
from core.batch.order import BatchOptions
from core.files.limits import FILES_MAX
from core.portfolio.model.fields import Mapping
from service.commands.batch import plan
from service.commands.batch.plan import BatchPlan, Defaults, make_plan, read_deals
from service.commands.refusal import Refused

OPTIONS = BatchOptions(now="2026-04-15T00:00:00")


def months(*paths: str) -> tuple[MonthFiles, ...]:
    return group_files([SourceFile(path, f"/data/{path}") for path in paths]).months


def planned(listed: tuple[MonthFiles, ...], table: str | None = None, home: Path = Path(), **more: object) -> BatchPlan:
    deals = None if table is None else (home / "deals.csv", parse_deals(table))
    return make_plan(listed, OPTIONS, Defaults(**more), "/out", deals)  # type: ignore[arg-type]


def test_a_row_outranks_the_options(tmp_path: Path) -> None:
    columns = {"Nominal": {"target": "par_value", "type": "number"}}
    document = {"name": "Own", "source_type": "clo_holdings", "mappings": columns}
    (tmp_path / "own.json").write_text(json.dumps(document))
    table = "pattern,definition,mapping,as_of\na.xlsx,euro,own.json,2026-03-31\n*,,,\n"
    first, second = planned(months("a.xlsx", "b.xlsx"), table, tmp_path, definition="us_bsl", as_of=1.0).tasks
    assert (first.terms.ready, first.terms.as_of, second.terms.ready, second.terms.as_of) == (
        "euro",
        20_543.0,
        "us_bsl",
        1.0,
    )
    assert first.terms.mapping is not None
    assert msgspec.json.decode(first.terms.mapping, type=Mapping).name == "Own"
    assert second.terms.mapping is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,none.toml,", "there is no such file"),
        ("a,,none.json", "there is no such file"),
        ("a,bad.toml,", "no definition"),
    ],
)
def test_terms_that_cannot_be_read_stop_the_batch_before_it_begins(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "bad.toml").write_text("tests = 7")
    with pytest.raises(Refused, match=message):
        planned(months("a/b.xlsx"), f"pattern,definition,mapping\n{row}\n", tmp_path)


def test_a_month_without_a_row_or_with_too_many_files_is_refused_alone() -> None:
    many = MonthFiles("many", "many", tuple(SourceFile(f"many/{at}.csv", "x") for at in range(FILES_MAX + 1)))
    result = planned((*months("a.xlsx", "b.xlsx"), many), "pattern\na.xlsx\nmany\ngone\n")
    assert [task.deal for task in result.tasks] == ["a"]
    assert {task.deal: reason for task, reason in result.refused} == {
        "b": "no row of deals.csv matches b.xlsx; a last row with * takes the rest",
        "many": f"201 files; the limit is {FILES_MAX} for a deal",
    }
    assert [row.pattern for row in result.unmatched] == ["gone"]


def test_every_month_has_a_folder_of_its_own_below_that_of_the_results() -> None:
    listed = months("a.xlsx", "a.pdf", "A.ods", "../../etc.xlsx", "x/y.csv", "x_.csv")
    table = 'pattern,deal\nx_.csv,x\nx,"../..//x"\n*,\n'
    folders = {task.name: task.folder for task in planned(listed, table).tasks}
    assert len({folder.casefold() for folder in folders.values()}) == len(folders)
    assert all("/" not in folder and folder.strip(".") for folder in folders.values())
    assert folders["x_.csv"] == "x"
    assert folders["a.xlsx"].startswith("a-")
    assert planned(listed, table) == planned(listed, table)


def test_the_first_row_says_what_was_read_as_one_deal() -> None:
    (task,) = planned(months("d/holdings.xlsx", "d/notes.csv", "d/tape.csv")).tasks
    assert [file.name for file in task.files] == ["holdings.xlsx", "notes.csv"]
    assert task.tape is not None
    assert task.notes == (
        "tape.csv is taken for the trustee's tape by its name, and its loans are not added",
        "the 2 files of the folder are read as one deal",
    )


def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deals.csv"
    with pytest.raises(Refused, match="No such file"):
        read_deals(path)
    path.write_bytes(b"pattern\n\xff\n")
    with pytest.raises(Refused, match="no text in UTF-8"):
        read_deals(path)
    path.write_text("pattern,colour\na,b\n")
    with pytest.raises(Refused, match="line 1: no column is called 'colour'"):
        read_deals(path)
    monkeypatch.setattr(plan, "DEALS_BYTES_MAX", 10)
    with pytest.raises(Refused, match="at most 10 bytes"):
        read_deals(path)
