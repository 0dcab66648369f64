"""`cushion deal`: a definition checked, run on files, set beside the trustee's figures, followed between months."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.commands.cli import run
from tests.service.deals.conftest import LOANS, NOTES

TOML = """
name = "Deal"
[[tests]]
id = "ccc"
name = "CCC"
measure = "ccc"
agency = "a"
max = 7.5
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write_file(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write_file


def run_command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any, str]:
    """The exit code, the JSON that was printed, and what went to stderr."""
    code = run(["deal", *map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err


def test_a_definition_is_checked(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer, _ = run_command(capsys, "check", write("deal.toml", TOML.encode()))
    assert (code, answer["name"], answer["tests"], answer["faults"]) == (0, "Deal", 1, [])
    wrong = write("wrong.toml", TOML.replace("7.5", '"x"').encode() + b"colour = 1\n")
    code, answer, _ = run_command(capsys, "check", wrong)
    assert (code, {fault["place"] for fault in answer["faults"]}) == (1, {"tests[0].max", "tests[0].colour"})
    assert run(["deal", "check", str(wrong)]) == 1
    assert "tests[0].max: " in capsys.readouterr().out
    for path in (wrong.with_name("missing.toml"), write("latin.toml", b"\xff")):
        assert run_command(capsys, "check", path)[0] == 2


def test_a_definition_is_drafted_checked_and_run(
    write: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published = write("tests.csv", b"Test,Actual,Trigger,Result\nClass A/B Par Value Ratio,149.25,120,Pass\n"
                                   b"Unhedged Obligations,0,2.5,Pass\n")  # fmt: skip
    files = [write("loans.csv", LOANS), write("notes.csv", NOTES), published]
    code, answer, err = run_command(capsys, "draft", *files, "--name", "Cairn")
    assert (code, err) == (0, "")
    assert (answer["definition"]["name"], [test["id"] for test in answer["definition"]["tests"]]) == (
        "Cairn", ["oc_class_ab"],
    )  # fmt: skip
    assert {"subject": "Unhedged Obligations", "limit": 2.5}.items() <= answer["decide"][-1].items()
    assert run(["deal", "draft", *map(str, files), "--name", "Cairn"]) == 0
    assert capsys.readouterr() == (answer["toml"], "")
    deal = tmp_path / "deal.toml"
    assert run(["deal", "draft", *map(str, files), "--name", "Cairn", "--out", str(deal)]) == 0
    out, err = capsys.readouterr()
    assert (out, deal.read_text("utf-8")) == ("", answer["toml"])
    assert err.startswith(f"{deal}: a definition with 1 test: ")
    assert run(["deal", "draft", *map(str, files), "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("subject,why,limit,place\r\n")
    code, checked, _ = run_command(capsys, "check", deal)
    assert (code, checked["faults"]) == (0, [])
    code, ran, _ = run_command(capsys, "run", *files, "--deal", deal)
    assert (code, [(result["test_id"], result["threshold_value"]) for result in ran["results"]]) == (
        0,
        [("oc_class_ab", 120.0)],
    )


def test_what_cannot_be_drafted_is_refused(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    notes = write("notes.csv", NOTES)
    assert run_command(capsys, "draft", notes)[0] == 2, "there are no loans"
    assert run_command(capsys, "draft")[0] == 2
    assert run_command(capsys, "draft", write("loans.csv", LOANS), "--mapping", "nobodys")[0] == 2
    assert run_command(capsys, "draft", notes.with_name("missing.csv"))[0] == 2
    code, answer, _ = run_command(capsys, "draft", write("loans.csv", LOANS))
    assert (code, answer["definition"]["name"], "tests" in answer["definition"]) == (0, "loans", False)


def test_files_are_run_by_a_definition(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    loans, notes, deal = write("loans.csv", LOANS), write("notes.csv", NOTES), write("deal.toml", TOML.encode())
    code, answer, _ = run_command(capsys, "run", loans, notes, "--deal", deal)
    assert (code, [(result["test_id"], result["status"]) for result in answer["results"]]) == (0, [("ccc", "fail")])
    assert (answer["as_of_source"], answer["warnings"][0]["code"]) == ("modified", "as_of_stands_in")
    assert run(["deal", "run", str(loans), "--deal", str(deal)]) == 0
    assert "1 failed" in capsys.readouterr().out
    assert run_command(capsys, "run", notes, "--deal", deal)[0] == 2
    assert run_command(capsys, "run", loans, "--deal", notes)[0] == 2
    assert run_command(capsys, "run", "--deal", deal)[0] == 2


def test_the_trustees_tests_stand_beside_ours(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    published = write("tests.csv", b"Test,Actual,Trigger,Result\nClass A/B Par Value Ratio,121.6,120,Pass\n")
    loans, notes = write("loans.csv", LOANS), write("notes.csv", NOTES)
    code, answer, _ = run_command(capsys, "tie-out", loans, notes, published)
    assert (code, [item["trustee_value"] for item in answer["items"]]) == (1, [121.6])
    assert [(item["differs"], item["why_not"]) for item in answer["items"]] == [("value", None)]
    several = write("several.csv", b"Test,Actual,Trigger,Result\nMaximum Obligor Concentration Test,12.7,20,Pass\n")
    code, answer, _ = run_command(capsys, "tie-out", loans, notes, several)
    assert (code, [item["test_id"] for item in answer["items"]]) == (0, [None])
    assert answer["not_printed"] == []  # without a definition there are no tests but those of the file
    answer = run_command(capsys, "tie-out", loans, notes, several, "--deal", "us_bsl")[1]
    assert "wal" in answer["not_printed"]
    assert run(["deal", "tie-out", str(loans), str(notes), str(several), "--format", "csv"]) == 0
    head, row = capsys.readouterr().out.splitlines()[:2]
    answer = dict(zip(head.split(","), next(csv.reader([row])), strict=True))
    assert "does not say how many" in answer["explained_by"]
    assert {"trustee_numerator", "our_denominator", "differs", "nearest"} <= answer.keys()
    capsys.readouterr()
    assert run(["deal", "tie-out", str(loans), str(notes)]) == 2
    assert "The file publishes no test results." in capsys.readouterr().out
    assert run(["deal", "tie-out", str(loans), str(notes), "--json"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["items"] == []
    assert "The file publishes no test results." in captured.err
    assert run(["deal", "tie-out", str(loans), str(notes), "--format", "csv"]) == 2
    assert "The file publishes no test results." in capsys.readouterr().err


DISCOUNTED = b"""LoanX ID,Issuer Name,Par Amount,Moody's Rating,Maturity Date,Purchase Price
LX10000A1,Alpha,1234567.89,B1,2030-06-30,99
LX10000B9,Bravo,2345678.91,B1,2031-06-30,70
LX10000C7,Charlie,3456789.12,B2,2031-12-31,100
"""
PRINTED = b"""Test,Numerator,Denominator,Actual,Trigger,Result
Class A/B Par Value Ratio,7037035.92,4000000.00,175.93,120,Pass
"""


def test_how_the_file_was_read_stands_below_and_above(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The second loan, bought at 70, is no discount obligation.

    The printed numerator is all par.
    """
    files = write("loans.csv", DISCOUNTED), write("notes.csv", NOTES), write("printed.csv", PRINTED)
    words = "discount obligations count at par"
    code, answer, _ = run_command(capsys, "tie-out", *files)
    assert (code, [item["agrees"] for item in answer["items"]]) == (0, [True])
    [choice] = answer["interpretation"]["choices"]
    assert (choice["state"], choice["reading"]["words"]) == ("proposed", words)
    assert answer["interpretation"]["hold_out"] == {"figures": 1, "right": 0}
    assert "reading_proposed" in {warning["code"] for warning in answer["warnings"]}
    assert run(["deal", "tie-out", *map(str, files)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "3 of 3 printed figures tie by these readings, 1 by the market's alone; each figure left out" in out
    assert "left out once: 0 of 1 come out right." in out
    definition = write("deal.toml", TOML.encode())
    code, answer, _ = run_command(capsys, "tie-out", *files, "--deal", definition)
    assert (code, answer["interpretation"]["choices"][0]["state"]) == (1, "stated")
    assert run(["deal", "run", *map(str, files), "--deal", "us_bsl"]) == 0
    assert f"read as: {words} (by one amount); 3 of 3 printed figures tie\n" in capsys.readouterr().out
    answer = run_command(capsys, "run", *files, "--deal", definition)[1]
    assert [item["state"] for item in answer["interpretation"]["choices"]] == ["stated"]
    assert run(["deal", "run", *map(str, files), "--deal", str(definition)]) == 0
    assert "read as" not in capsys.readouterr().out
    assert run_command(capsys, "tie-out", *files[:2])[1]["interpretation"] is None


def test_two_months_are_compared(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = write("before.csv", LOANS), write("after.csv", LOANS.replace(b"2000000,Caa1", b"2000000,B3"))
    gone = write("gone.csv", LOANS.replace(b"2000000,Caa1", b"n/a,Caa1"))
    warned = run_command(capsys, "movements", before, gone)[1]["warnings"]
    assert [item["message"][:9] for item in warned if item["code"] == "rows_without_par"] == ["to: 1 row"], warned
    code, answer, _ = run_command(capsys, "movements", before, after, "--deal", write("deal.toml", TOML.encode()))
    [moved] = answer["items"]
    parts = {part["part"]: part["change"] for part in moved["parts"]}
    assert (code, moved["after"], parts["ratings"]) == (0, 0.0, moved["change"])
    assert run(["deal", "movements", str(before), str(after)]) == 0


OWN_COLUMNS = LOANS.replace(b"Par Amount", b"Bag of Par").replace(b"Moody's Rating", b"House Score")
MAPPING: dict[str, Any] = {
    "name": "House",
    "source_type": "clo_holdings",
    "mappings": {
        "LoanX ID": {"target": "loanx_id"},
        "Issuer Name": {"target": "borrower_name"},
        "Bag of Par": {"target": "par_value", "type": "number", "required": True},
        "House Score": {"target": "house_score"},
    },
}
OWN_TEST = """
name = "Deal"
[[tests]]
id = "house"
name = "House score B1"
share = '=house_score="B1"'
max = 7.5
"""


def test_a_mapping_of_ones_own_holds_for_each_command(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Its columns are read, and a definition's formulas may read its own fields."""
    loans, notes = write("loans.csv", OWN_COLUMNS), write("notes.csv", NOTES)
    mapping, deal = write("house.json", json.dumps(MAPPING).encode()), write("deal.toml", OWN_TEST.encode())
    own = ("--mapping", mapping)
    assert run_command(capsys, "check", deal)[0] == 1, "house_score is no field of a loan"
    code, answer, _ = run_command(capsys, "check", deal, *own)
    assert (code, answer["faults"]) == (0, [])
    assert run_command(capsys, "run", loans, notes, "--deal", deal)[0] == 2
    code, answer, _ = run_command(capsys, "run", loans, notes, "--deal", deal, *own)
    assert (code, [result["current_value"] for result in answer["results"]]) == (0, [pytest.approx(100 / 6, abs=1e-6)])
    published = write("tests.csv", b"Test,Actual,Trigger,Result\nClass A/B Par Value Ratio,121.6,120,Pass\n")
    (item,) = run_command(capsys, "tie-out", loans, notes, published, *own)[1]["items"]
    assert item["our_value"] is not None
    after = write("after.csv", OWN_COLUMNS.replace(b"2000000", b"3000000"))
    code, answer, _ = run_command(capsys, "movements", loans, after, "--deal", deal, *own)
    assert (code, answer["items"][0]["after"]) == (0, pytest.approx(100 / 7, abs=1e-6))
    for command in (("run", loans, "--deal", "us_bsl"), ("tie-out", loans), ("movements", loans, after)):
        assert "no built-in mapping" in run_command(capsys, *command, "--mapping", "nothing.json")[2]
