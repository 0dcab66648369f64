"""The command line as a whole: help, version, and what is no command."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import core
from service.commands import cli

ROOT = Path(__file__).parents[3]

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]


def test_help_answers_without_the_heavy_libraries() -> None:
    script = """
import sys
from service.commands.cli import run
run(["--help"])
print(sorted({"numpy", "core", "asyncio", "markdown_it", "service.platform"} & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    assert "compliance" in answer.stdout
    assert "Exit codes" in answer.stdout
    assert answer.stdout.splitlines()[-1] == "[]"


def test_what_is_no_command_or_option_names_the_nearest_and_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for line, near, help_of in (
        ("complience x.xlsx", '"compliance"?', "cushion"),
        ("deal chek", '"check"?', "cushion deal"),
        ("compliance x.xlsx --formt json", "--format?", "cushion compliance"),
        ("compliance x.xlsx --suite enhancd", 'mean "enhanced"?', "cushion compliance"),
        ("compliance", "FILE", "cushion compliance"),
        ("version", '"--version"?', "cushion"),
        ("-v", '"--version"?', "cushion"),
        ("verison", '"--version"?', "cushion"),
        ("help", '"--help"?', "cushion"),
        ("help compliance", '"cushion compliance --help"?', "cushion"),
        ("deal help", '"--help"?', "cushion deal"),
        ("deal help check", '"cushion deal check --help"?', "cushion deal"),
        ("deal version", '"cushion --version"?', "cushion deal"),
        ("nosuch", "There are: serve, worker, migrate, demo,", "cushion"),
    ):
        assert cli.run(line.split()) == 2
        out, words = capsys.readouterr()
        assert (out, words.count("\n"), near in words) == ("", 1, True), words
        assert words.endswith(f" See: {help_of} --help\n"), words


def test_help_behind_a_command_is_no_file(refused: Refusal) -> None:
    assert 'Did you mean "cushion compliance --help"?' in refused("compliance", "help")


def test_the_version_is_the_librarys(cushion: Cushion) -> None:
    assert cushion("--version").stdout == f"{core.__version__}\n"


def test_serve_refuses_what_its_processes_would(refused: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUSHION_BLOB_URL", "ftp://host/x")
    assert "CUSHION_BLOB_URL" in refused("serve", "--port", "0")
    monkeypatch.delenv("CUSHION_BLOB_URL")
    monkeypatch.setenv("CUSHION_DATABASE_URL", "postgresql://cushion_service@192.0.2.1/cushion")
    monkeypatch.setenv("CUSHION_REDIS_URL", "redis://192.0.2.1")
    monkeypatch.setenv("CUSHION_SECRET_KEY", "s" * 32)
    assert "CUSHION_APP_URL is needed with a database of your own" in refused("serve", "--port", "0")


def test_a_missing_or_unknown_command_is_no_traceback(refused: Refusal) -> None:
    assert "nosuch" in refused("nosuch")
    assert "--out" in refused("generate")
    assert "FILE" in refused("compliance")


WITHOUT_THE_EXTRA = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from service.commands.cli import run
sys.exit(run(sys.argv[1:]))
"""


@cache
def modules_of_the_extra() -> set[str]:
    """What is not there where only the base dependencies are installed."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["project"]["optional-dependencies"]["service"]
    extra = {re.split(r"[\[<>=]", line)[0] for line in wanted}
    return {
        module.partition(".")[0]
        for module, owners in packages_distributions().items()
        if extra & {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners}
    } | {"jwt", "psycopg"}


def without_the_extra(*arguments: str | Path) -> CompletedProcess[str]:
    """A command where only the base dependencies are installed."""
    script = f"ABSENT = {modules_of_the_extra()}\n{WITHOUT_THE_EXTRA}"
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("arguments", [["serve", "--port", "0"], ["worker"], ["demo"]])
def test_a_command_of_the_service_names_the_extra(arguments: list[str]) -> None:
    answer = without_the_extra(*arguments)
    (line,) = answer.stderr.splitlines()
    assert (answer.returncode, answer.stdout) == (2, "")
    assert line.startswith("cushion: this command needs the Python package ")
    assert line.endswith("pip install 'cushion[service]'")


def test_a_bug_is_no_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        import core.nosuch  # type: ignore[import-not-found]  # noqa: F401

    monkeypatch.setattr(cli, "app", lambda *arguments, **options: broken())
    with pytest.raises(ModuleNotFoundError, match=r"core\.nosuch"):
        cli.run(["serve"])


FULL = [path for path in (Path("/dev/full"),) if path.exists()]


@pytest.mark.parametrize("path", FULL)
def test_a_full_disk_is_one_line(path: Path) -> None:
    with path.open("w") as full:
        answer = subprocess.run(
            [sys.executable, "-m", "service.commands.cli", "--version"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert answer.returncode == 2
    assert answer.stderr == "cushion: the output cannot be written: No space left on device\n"
