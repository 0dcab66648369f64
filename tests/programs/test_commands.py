"""Every command in every format.

The same rows, nothing but the answer on stdout, and an end without a traceback.
"""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from cyclopts import App

from core.generate import generate, generate_tape
from core.labels import labelled
from service.commands.cli import app
from service.platform.data.audit import Record
from tests import forks
from tests.core.provenance.exported import edited, exported
from tests.service.commands.test_cli import without_the_extra
from tests.service.deals.conftest import LOANS, NOTES

ROOT = Path(__file__).parents[2]
DEAL = '[[tests]]\nid = "ccc"\nname = "CCC"\nmeasure = "ccc"\nagency = "a"\nmax = "x"\ncolour = 1\n'
PUBLISHED = b"Test,Actual,Trigger,Result\nClass A/B Par Value Ratio,121.6,120,Pass\nSome Other Test,5,7,Pass\n"


def commands(of: App, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    """Every command with its names."""
    for name, command in of.resolved_commands().items():
        if name.startswith("-"):
            continue
        if command.default_command is None:
            yield from commands(command, (*above, name))
        else:
            yield (*above, name), command


def takes_output(command: App) -> bool:
    return any("--json" in item.names for item in command.assemble_argument_collection()) and any(
        "md" in str(item.hint) for item in command.assemble_argument_collection() if "--format" in item.names
    )


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], list[str]]:
    """What each command is tried on."""
    folder = tmp_path_factory.mktemp("files")
    for name, content in {
        "old.csv": LOANS, "new.csv": LOANS.replace(b"2000000,Caa1", b"1500000,B3").replace(b"Charlie", b"=Char|lie"),
        "notes.csv": NOTES, "tests.csv": PUBLISHED, "wrong.toml": DEAL.encode(),
        "deal.toml": DEAL.replace('"x"', "7.5").replace("colour = 1\n", "").encode(),
    }.items():  # fmt: skip
        (folder / name).write_bytes(content)
    deal = generate(loans=200, faults=["breach_ccc"])
    deal.write(folder / "deal.xlsx")
    tape = generate_tape(deal, "trustee_a", 7, 1)
    tape.deal.write(folder / "holdings.xlsx")
    tape.write(folder / "tape.xlsx")
    with xlsxwriter.Workbook(str(folder / "book.xlsx")) as book:
        page = book.add_worksheet("L|oans")
        page.write_column("A1", [1, 2, "=1+1"])
        page.write_formula("B1", '="<b>|"&A1', None, "wrong")
        page.write_formula("B2", "=1/0", None, 3)
    exported(folder, {"Loans": [["Par"], [1.0]], "Other": [["mine"]]})
    edited(folder / "export.xlsx", folder / "made.xlsx", {"Loans": [["Par"], [2.0]], "More": [[1]]})
    names = dict.fromkeys(Record.__struct_fields__)
    entries = [
        {**names, "tenant_id": "t", "sequence": at, "id": str(at), "timestamp": "2026-03-31T12:00:00.000000Z",
         "action": "a", "details": {}, "previous_hash": "0" * 64, "hash": "0" * 64}
        for at in (1, 2, 4)
    ]  # fmt: skip
    (folder / "log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    value = {
        "compliance": "compliance deal.xlsx --suite enhanced",
        "compare": "compare old.csv new.csv",
        "deal check": "deal check wrong.toml",
        "deal run": "deal run old.csv notes.csv --deal deal.toml",
        "deal draft": "deal draft old.csv notes.csv tests.csv",
        "deal tie-out": "deal tie-out old.csv notes.csv tests.csv",
        "deal movements": "deal movements old.csv new.csv --deal deal.toml",
        "ask": "ask|deal.xlsx|How much par is there?",
        "map": "map deal.xlsx",
        "simulate": "simulate|deal.xlsx|--trade|buy 2000000 BORROWER Nova Inc at 99 rating_agency_a=B2",
        "evaluate": 'evaluate|="a|b"|=1/0|=1+|=2*3'.replace('"a|b"', '"a"&"b"'),
        "reconcile": "reconcile tape.xlsx holdings.xlsx --limit 10000",
        "recalc": "recalc book.xlsx --check",
        "audit": "audit log.jsonl",
        "verify": "verify edited-made.xlsx",
    }
    separators = {name: "|" if "|" in line else " " for name, line in value.items()}
    return {
        tuple(name.split()): [
            str(folder / word) if (folder / word).is_file() else word for word in line.split(separators[name])
        ]
        for name, line in value.items()
    }


ELSEWHERE = {("lookback", "verify")}
"""It wants a deployment: tests/service/compliance/test_replay_actions.py."""

Rows = Callable[[Any], list[Any]]
KEYS: dict[str, tuple[Rows, str, str]] = {
    "compliance": (lambda answer: answer["results"] + answer["skipped"], "test_id", "test_name"),
    "compare": (lambda answer: answer["loans"], "borrower_name", "borrower_name"),
    "deal check": (lambda answer: answer["faults"], "place", "place"),
    "deal run": (lambda answer: answer["results"] + answer["skipped"], "test_id", "test_name"),
    "deal draft": (lambda answer: answer["decide"], "subject", "subject"),
    "deal tie-out": (lambda answer: answer["items"], "trustee_name", "trustee_name"),
    "deal movements": (lambda answer: answer["items"], "test_id", "test_name"),
    "simulate": (lambda answer: answer["results"] + answer["skipped"], "test_id", "test_name"),
    "ask": (lambda answer: answer["figures"], "text", "text"),
    "map": (
        lambda answer: [{**column, "field": column["target"]} for column in answer["detection"]["columns"]],
        "field",
        "field",
    ),
    "evaluate": (lambda answer: answer["results"], "type", "type"),
    "reconcile": (lambda answer: answer["issues"], "primary_identifier", "primary_identifier"),
    "recalc": (lambda answer: answer, "cell", "sheet"),
    "audit": (lambda answer: answer["breaks"], "reason", "reason"),
    "verify": (lambda answer: answer["diffs"], "status", "status"),
}
"""The rows in the JSON, the column of CSV by which they are told apart, and what people read of each."""


def test_every_command_that_answers_takes_the_same_options() -> None:
    actual_names = {names for names, command in commands(app) if takes_output(command)}
    assert actual_names == {tuple(name.split()) for name in KEYS} | ELSEWHERE
    others = {" ".join(names) for names, command in commands(app) if not takes_output(command)}
    assert others == {
        "serve", "worker", "migrate", "demo", "generate", "report", "export", "batch", "backup", "restore",
        "completion",
    }  # fmt: skip


def test_every_format_has_the_same_rows(lines: dict[tuple[str, ...], list[str]], tmp_path: Path) -> None:
    def lines_of(names: tuple[str, ...]) -> list[str]:
        line = lines[names]
        answers = {form: forks.cushion(*line, "--format", form) for form in ("table", "json", "csv", "md")}
        codes = {form: answer.returncode for form, answer in answers.items()}
        if len(set(codes.values())) != 1 or codes["json"] not in (0, 1):
            return [f"{codes}: {answers['json'].stderr}"]
        out = {form: answer.stdout for form, answer in answers.items()}
        rows, key, words = KEYS[" ".join(names)]
        result = rows(json.loads(out["json"], parse_constant=lambda name: pytest.fail(name)))
        wrong = ["no rows"] if not result else []
        listed = list(csv.DictReader(io.StringIO(out["csv"], newline="")))
        if sorted(row[key].removeprefix("'") for row in listed) != sorted(str(item[key]) for item in result):
            wrong.append(f"csv {[row[key] for row in listed]} json {[item[key] for item in result]}")
        if any(None in row or None in row.values() for row in listed):
            wrong.append("csv rows of other lengths")
        for form in ("table", "md"):
            text = re.sub(r"\\(.)", r"\1", " ".join(out[form].split()))
            named = {labelled(str(item[words])) for item in result}  # people read an agency's name
            missing = {name for name in named if name.split()[0] not in text}
            wrong += [f"{form} lacks {missing}"] if missing else []
        if names != ("recalc",) and answers["json"].stderr:
            wrong.append(f"json says {answers['json'].stderr}")
        wrong += [f"{form} has escapes" for form, text in out.items() if "\x1b" in text]
        tables = [re.split(r"(?<!\\)\|", row) for row in out["md"].splitlines() if row.startswith("|")]
        wrong += ["md rows of other lengths"] * any(len(row) < 3 for row in tables)
        # The same document by the short flag, and in a file by its name.
        target = tmp_path / f"{'-'.join(names)}.json"
        short, filed = forks.cushion(*line, "--json"), forks.cushion(*line, "--out", target)
        same = short.stdout == out["json"] == target.read_text()
        wrong += ["--json and --out differ"] * (not same or bool(filed.stdout))
        refused = forks.cushion(*line, "--format", "csv", "--out", tmp_path / "none" / "x.csv")
        if (refused.returncode, refused.stdout, refused.stderr.splitlines()[-1:]) != (
            2, "", [f"cushion: {tmp_path / 'none' / 'x.csv'}: No such file or directory"],
        ):  # fmt: skip
            wrong.append(f"unwritable: {refused}")
        return wrong

    with ThreadPoolExecutor(2) as both:
        faults = dict(zip(lines, both.map(lines_of, lines), strict=True))
    assert not {" ".join(names): wrong for names, wrong in faults.items() if wrong}


def test_a_reader_who_leaves_hears_nothing_more(lines: dict[tuple[str, ...], list[str]]) -> None:
    words = {}
    for names, line in lines.items():
        read, write = os.pipe()
        os.close(read)
        error, error_end = os.pipe()
        with open(os.devnull) as nothing:
            process = forks.Fork("command", [*line, "--json"], os.environ, [nothing.fileno(), write, error_end])
        os.close(write)
        os.close(error_end)
        with os.fdopen(error) as stream:
            answer = stream.read()
        if process.wait(60) != 2 or (answer and names != ("recalc",)):
            words[names] = answer
    assert not words


def test_colours_are_for_terminals(lines: dict[tuple[str, ...], list[str]]) -> None:
    def seen(**environment: str) -> str:
        watcher, terminal = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
        with open(os.devnull) as nothing:
            process = forks.Fork(
                "command", lines[("compliance",)], environment, [nothing.fileno(), terminal, nothing.fileno()]
            )
        os.close(terminal)
        text = bytearray()
        try:
            while block := os.read(watcher, 65_536):
                text += block
        except OSError:  # how a pty says that its other end is closed
            pass
        os.close(watcher)
        assert process.wait(60) == 0
        return text.decode()

    coloured = seen()
    assert "\x1b[1;31mFAIL" in coloured
    assert max(len(line) for line in re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines() if "\u2588" in line) <= 80
    assert "\x1b[31m" not in seen(NO_COLOR="1")


COMPLETES = r"""
source "$HOME/.bashrc"
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _cushion; echo "${COMPREPLY[*]}"; }
complete -p cushion
try cushion comp
try cushion compliance x.xlsx --suite ""
try cushion compliance --fo
try cushion compliance --format ""
try cushion deal ""
try cushion deal movements --de
"""


def test_bash_completes_commands_options_and_choices(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    for _ in range(2):
        result = forks.cushion("--install-completion", environment=environment)
        assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / ".bashrc").read_text().count("cushion completion") == 1
    answer = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", COMPLETES], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.splitlines()[1:] == [
        "compliance compare completion", "standard enhanced deal", "--format", "table json csv md",
        "check draft run tie-out movements", "--deal",
    ]  # fmt: skip
    assert forks.cushion("completion", "bash").stdout.strip() in (
        (tmp_path / ".local/share/bash-completion/completions/cushion").read_text().strip()
    )
    for shell, begins in (("zsh", "#compdef cushion"), ("fish", "# Fish completion")):
        assert forks.cushion("completion", shell).stdout.startswith(begins)
    lost = forks.cushion("--install-completion", environment={**environment, "SHELL": "/bin/tcsh"})
    assert (lost.returncode, lost.stderr) == (2, "cushion: which shell: bash, zsh, fish? SHELL says tcsh\n")


def test_offline_commands_need_no_extra(tmp_path: Path) -> None:
    path = without_the_extra("generate", "--loans", "200", "--tape", "trustee_a", "--out", tmp_path)
    assert path.returncode == 0, path.stderr
    workbook, tape, _ = path.stdout.split("\n", 2)
    for arguments in (["compliance", workbook], ["map", workbook], ["recalc", workbook], ["reconcile", workbook, tape]):
        answer = without_the_extra(*arguments)
        assert answer.returncode in (0, 1), answer.stderr
        assert answer.stdout
    answer = without_the_extra("batch", workbook, "--out", tmp_path / "results", "--format", "csv")
    assert answer.returncode == 0, answer.stderr
    answer = without_the_extra("batch", workbook, "--out", tmp_path / "results")
    assert answer.stderr == (
        "cushion: --format parquet needs pyarrow: pip install 'cushion[batch]', or name --format csv\n"
    )
