"""Definitions and mappings by name, in every command that takes one, and what is said of a name that is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.definition import READY
from core.generate import generate
from service.commands.cli import run
from service.commands.reading import read_definition, read_mapping
from service.commands.refusal import Refused
from tests.rows import every

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def deal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deals")
    generate(loans=200).write(folder / "deal.xlsx")
    return folder / "deal.xlsx"


def lines(deal: Path) -> dict[str, list[str]]:
    """A command line for each command that takes a definition, up to its name."""
    file, out = str(deal), deal.parent
    return {
        "compliance": ["compliance", file, "--suite", "deal", "--deal"],
        "compare": ["compare", file, file, "--deal"],
        "simulate": ["simulate", file, "--trade", "buy 1m BORROWER Nova at 99 rating_agency_a=B2", "--deal"],
        "report": ["report", file, "--out", str(out / "report.xlsx"), "--deal"],
        "export": ["export", file, "--format", "xlsx", "--out", str(out / "export.xlsx"), "--suite", "deal", "--deal"],
        "ask": ["ask", file, "how much par is there?", "--deal"],
        "deal check": ["deal", "check"],
        "deal run": ["deal", "run", file, "--deal"],
        "deal tie-out": ["deal", "tie-out", file, "--deal"],
        "deal movements": ["deal", "movements", file, file, "--deal"],
    }


@pytest.mark.parametrize("command", list(lines(Path("x"))))
def test_a_ready_made_definition_is_named(deal: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    line = lines(deal)[command]
    codes = (2,) if command == "deal tie-out" else (0, 1)  # the file publishes nothing to tie out
    assert run([*line, "us_bsl"]) in codes, capsys.readouterr().err
    capsys.readouterr()
    assert run([*line, "us_bls"]) == 2
    out, words = capsys.readouterr()
    assert out == ""
    assert words.endswith(
        "us_bls: there is no such file, and no ready-made definition of this name; did you mean us_bsl? "
        "There are: us_bsl, euro\n"
    )


def test_a_definition_that_is_not_there_is_refused_before_anything_slow(deal: Path) -> None:
    """No library of figures is loaded, and no file is read."""
    commands = [[*line, "nothing.toml"] for line in lines(deal).values()]
    script = f"""
import sys
from service.commands.cli import run
codes = [run(line) for line in {commands!r}]
print(codes, sorted({{"numpy", "core.definition.document", "core.compliance.run"}} & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert answer.stdout == f"{[2] * len(commands)} []\n", answer.stderr
    assert answer.stderr.count("nothing.toml: there is no such file, and no ready-made definition") == len(commands)


def test_a_name_decides_by_its_own_rules(deal: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The named definition is that of the library, also where a file is called so."""
    answer = []
    for name in ("us_bsl", "euro"):
        assert read_definition(name) == READY[name]
        assert run(["compliance", str(deal), "--suite", "deal", "--deal", name, "--json"]) == 0
        answer.append(json.loads(capsys.readouterr().out)["results"])
    assert answer[0] != answer[1]
    assert read_definition(None) is None
    (tmp_path / "own.toml").write_text('base = "euro"\nname = "Own"')
    definition = read_definition(str(tmp_path / "own.toml"))
    assert definition is not None
    assert definition.name == "Own"


@every(
    "name, meant",
    [
        ("standard_cl0", "did you mean standard_clo? There are: standard_clo, standard_servicer"),
        ("standard_clo.json", "did you mean standard_clo? There are: standard_clo, standard_servicer"),
        ("own.json", "there are: standard_clo, standard_servicer"),
        ("folder/own.json", "there are: standard_clo, standard_servicer"),
    ],
)
def test_a_mapping_that_is_none_lists_the_right_ones(name: str, meant: str) -> None:
    with pytest.raises(Refused) as refused:
        read_mapping(name)
    assert str(refused.value) == f"{name}: there is no such file, and no built-in mapping of this name; {meant}"


def test_a_test_that_is_none_lists_the_right_ones(deal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compliance", str(deal), "--threshold", "wall=3"]) == 2
    assert "Unknown test 'wall'; did you mean wal? There are: " in capsys.readouterr().err


def test_limits_are_amounts_too(deal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = ["--threshold", "average_rating_factor=3,000,wal=5.5", "--threshold", "diversity_score=1_000"]
    assert run(["compliance", str(deal), "--suite", "enhanced", *limits, "--json"]) == 0
    by_test_id = {row["test_id"]: row["threshold_value"] for row in json.loads(capsys.readouterr().out)["results"]}
    assert (by_test_id["average_rating_factor"], by_test_id["wal"], by_test_id["diversity_score"]) == (
        3000.0,
        5.5,
        1000.0,
    )
    for wrong in ("wal=5,5", "wal=", "wal", "=5"):
        assert run(["compliance", str(deal), "--threshold", wrong]) == 2
        assert "--threshold" in capsys.readouterr().err
