"""The files that arguments name: globs, one name twice, and what is no source."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from service.commands.batch import sources
from service.commands.batch.sources import find_months
from service.commands.refusal import Refused


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Path]:
    """Makes files with nothing in them; gives their folder."""

    def make(*paths: str) -> Path:
        for path in paths:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
        return tmp_path

    return make


def names(*arguments: Path | str, out: str = "/nowhere") -> list[str]:
    return [month.name for month in find_months([str(argument) for argument in arguments], out).months]


def test_a_glob_means_what_naming_its_matches_does(tree: Callable[..., Path]) -> None:
    folder = tree("2026-01/a.xlsx", "2026-01/b.xlsx", "2026-02/c.zip", "2025-12/d.xlsx", "[1].xlsx")
    assert names(folder / "2026-*") == names(folder / "2026-01", folder / "2026-02") == ["a.xlsx", "b.xlsx", "c.zip"]
    assert names(f"{folder}/**/*.xlsx") == ["[1].xlsx", "a.xlsx", "b.xlsx", "d.xlsx"]
    assert names(folder / "[1].xlsx") == ["[1].xlsx"], "a file of that name comes first"


def test_a_file_that_is_named_twice_is_one_month(tree: Callable[..., Path]) -> None:
    folder = tree("a.xlsx", "b.xlsx")
    assert names(folder, folder / "a.xlsx", folder / "*.xlsx", f"{folder}/../{folder.name}") == ["a.xlsx", "b.xlsx"]


def test_links_to_one_file_are_a_month_each(tree: Callable[..., Path]) -> None:
    folder = tree("a.xlsx")
    (folder / "b.xlsx").symlink_to(folder / "a.xlsx")
    assert names(folder) == ["a.xlsx", "b.xlsx"]


def test_months_of_one_name_get_their_argument_in_front(tree: Callable[..., Path]) -> None:
    folder = tree("march/acme.xlsx", "april/acme.xlsx", "april/beta.xlsx")
    months = find_months([f"{folder}/march/", f"{folder}/april", f"{folder}/march/acme.xlsx"], "/nowhere").months
    assert [month.name for month in months] == [f"{folder}/april/acme.xlsx", f"{folder}/march/acme.xlsx", "beta.xlsx"]
    assert [month.deal for month in months] == [f"{folder}/april/acme", f"{folder}/march/acme", "beta"]


def test_results_are_no_sources(tree: Callable[..., Path]) -> None:
    folder = tree("a.xlsx", "out/deals/a/report.xlsx", "outside/b.xlsx")
    assert names(folder, out=f"{folder}/out") == ["a.xlsx", "outside"]


def test_what_is_no_source_is_refused(tree: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tree("a.xlsx", "b.xlsx", "letters/readme.md", "empty/.hidden")
    for argument, message in {
        "missing.xlsx": "there is no such file or folder",
        "*.ods": "matches no file",
        "letters": "holds no file that is read; 1 left out by their endings, such as readme.md",
        "empty": "holds no file that is read",
    }.items():
        with pytest.raises(Refused) as refused:
            names(folder / argument)
        assert str(refused.value) == f"{folder / argument}: {message}"
    monkeypatch.setattr(sources, "SOURCES_MAX", 1)
    with pytest.raises(Refused, match="more than the limit of 1 months of deals"):
        names(folder / "a.xlsx", folder / "b.xlsx")


def test_a_name_that_is_no_text_is_written_as_one(tmp_path: Path) -> None:
    file = Path(os.fsdecode(bytes(tmp_path) + b"/m\xe4rz.csv"))
    file.touch()
    (month,) = find_months([str(file)], "/nowhere").months
    assert (month.name, month.deal) == (r"m\xe4rz.csv", r"m\xe4rz")
    assert os.path.exists(month.files[0].place)


def test_results_are_no_sources_by_whatever_path(tree: Callable[..., Path]) -> None:
    folder = tree("march/a.xlsx", "march/out/results.csv")
    (folder / "link").symlink_to(folder / "march")
    assert names(folder / "link", out=str(folder / "march/out")) == ["a.xlsx"]
    assert names(folder / "march", out=str(folder / "link/out")) == ["a.xlsx"]
    assert names(folder / "link", folder / "march", out=str(folder / "march/out")) == ["a.xlsx"]
    with pytest.raises(Refused, match=r"2 below .*: name another folder with --out"):
        names(folder / "march", out=str(folder))
