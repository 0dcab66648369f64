"""The ask command, run as a user runs it.

Sentences, JSON, two months, what is not answered, the exit codes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from core.generate import generate

Cushion = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def deal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asked") / "deal.xlsx"
    generate(loans=200).write(path)
    return path


def test_an_answer_says_how_it_was_understood(cushion: Cushion, deal: Path) -> None:
    answer = cushion("ask", deal, "How many loans are rated B3 or worse?")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("Understood: number of loans, loans rated B3 or lower by Moody's\n")


def test_json_has_the_figures(cushion: Cushion, deal: Path) -> None:
    answer = cushion("ask", deal, "Did the WARF change since last month?", "--previous", deal, "--json")
    assert (answer.returncode, answer.stderr) == (0, "")
    body = json.loads(answer.stdout)
    assert body["figures"][0]["value"] == 0.0
    assert body["query"]["period"] == "change"


def test_what_is_not_understood_is_told(cushion: Cushion, deal: Path) -> None:
    answer = cushion("ask", deal, "What is the EBITDA?")
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "EBITDA" in answer.stdout


def test_no_question_is_refused(refused: Callable[..., str], deal: Path) -> None:
    assert "at least one word" in refused("ask", deal, "  ")
