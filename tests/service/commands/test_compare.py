"""The compare command: two months of a deal, its tests and its loans."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from service.commands.cli import run
from tests.service.deals.conftest import LOANS

AFTER = LOANS.replace(b"2000000,Caa1", b"1500000,B3")


def test_tests_and_loans_are_told_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_bytes(LOANS)
    new.write_bytes(b"".join(AFTER.splitlines(keepends=True)[:-1]))
    assert run(["compare", str(old), str(new), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert list(body) == [
        "old", "new", "suite", "as_of", "new_failures", "impact_summary", "changes", "warnings", "results", "skipped",
        "loans",
    ]  # fmt: skip
    assert [(loan["kind"], loan["par_change"]) for loan in body["loans"]] == [("out", -3e6), ("changed", -5e5)]
    (changed,) = [loan for loan in body["loans"] if loan["kind"] == "changed"]
    assert changed["par_change"] == body["changes"]["par_changed"] == -500_000.0
    assert {field["field"] for field in changed["fields"]} == {"par_value", "rating_agency_a"}
    assert run(["compare", str(old), str(new), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["change"] for row in rows] == [loan["kind"] for loan in body["loans"]]
    assert (rows[-1]["par_value_before"], rows[-1]["par_value_after"]) == ("2000000", "1500000")
    code = run(["compare", str(new), str(old), "--format", "csv", "--rows", "tests", "--fail-on-new"])
    assert code == (body["new_failures"] == 0 and any(result["status_current"] == "fail" for result in body["results"]))
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    shown = [float(row["cushion_after"]) / float(row["threshold"]) for row in rows if row["threshold"]]
    assert shown == sorted(shown)
    assert len(rows) == len(body["results"]) + len(body["skipped"])
