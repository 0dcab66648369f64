"""What is behind a figure, over HTTP.

The same a year later, by pages and as CSV, and who may ask for it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Member, Stack
from tests.service.compliance.conftest import HEADER

RUN, RESULTS = "/api/v1/compliance/run", "/api/v1/compliance/results"

DEFINITION = {
    "tests": [
        {"id": "junk", "name": "Junk", "share": "=rank_a>16", "max": 50.0},
        {"id": "half", "name": "Half", "value": "=par/2", "unit": "amount", "max": 1e12},
        {"id": "oc_e", "name": "Class E", "measure": "oc", "class": "E", "min": 104.2},
    ]
}


def ran(who: Member, book: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = who.post(RUN, json={"workbook_id": book["id"], **body})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def parts(who: Member, run: dict[str, Any], test_id: str, **query: Any) -> dict[str, Any]:
    answer = who.get(f"{RESULTS}/{run['id']}/tests/{test_id}/parts", params=query)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


@pytest.fixture(scope="module")
def run(shared_owner: Any, g1: dict[str, Any]) -> dict[str, Any]:
    """The worked pool by the enhanced suite."""
    return ran(shared_owner, g1, test_suite="enhanced")


def test_every_figure_of_a_run_comes_apart(shared_owner: Any, run: dict[str, Any]) -> None:
    for result in run["results"]:
        outcome = parts(shared_owner, run, result["test_id"], limit=1000)
        assert outcome["adds_up"] is True, outcome
        assert sum(item["amount"] for item in outcome["items"]) == pytest.approx(outcome["numerator"])
        details = result["details"]
        assert (outcome["numerator"], outcome["denominator"]) == (
            details["breakdown"]["numerator"], details["breakdown"]["denominator"],
        )  # fmt: skip
        for name, own in (("value", "current_value"), ("unit", "unit"), ("decimals", "decimals"),
                          ("test_name", "test_name")):  # fmt: skip
            assert outcome[name] == result[own]
        assert (outcome["formula"], outcome["cell_refs"], outcome["run_id"]) == (
            details["formula"],
            details["cell_refs"],
            run["id"],
        )
    skipped = run["skipped"][0]
    outcome = parts(shared_owner, run, skipped["test_id"])
    assert (outcome["reason"], outcome["items"], outcome["adds_up"]) == (skipped["reason"], [], None)


def test_a_part_is_a_loan_in_its_row(shared_owner: Any, run: dict[str, Any]) -> None:
    result = parts(shared_owner, run, "ccc_bucket_pct")
    first = result["items"][0]
    assert first == {
        "kind": "loan", "name": "Juliet", "place": "'Holdings'!D11", "row": 11, "page": None, "line": None,
        "amount": 20e6,
        "fields": {"borrower": "Juliet", "identifier": "LX000010", "rating": "Caa1", "price": 85.0, "par": 20e6,
                   "industry": first["fields"]["industry"]},
    }  # fmt: skip
    assert result["columns"] == ["borrower", "identifier", "rating", "industry", "price", "par"]
    assert result["room"] == {"buy": 0.0, "sell": 45e6 - 0.075 * 400e6}
    assert result["tolerance"] < 0.01


def test_parts_come_by_pages(shared_owner: Any, run: dict[str, Any]) -> None:
    whole = parts(shared_owner, run, "oc_ratio")
    assert (whole["limit"], whole["offset"], whole["total"]) == (100, 0, len(whole["items"]))
    page = parts(shared_owner, run, "oc_ratio", offset=3, limit=2)
    assert page == {**whole, "items": whole["items"][3:5], "offset": 3, "limit": 2}
    assert parts(shared_owner, run, "oc_ratio", offset=500)["items"] == []
    path = f"{RESULTS}/{run['id']}/tests/oc_ratio/parts"
    for wrong in ({"limit": 0}, {"limit": 1001}, {"offset": -1}, {"format": "xml"}, {"limit": "many"}):
        answer = shared_owner.get(path, params=wrong)
        assert answer.status_code == 422, wrong
        assert answer.json()["errors"][0]["loc"] == ["query", next(iter(wrong))]


def test_all_parts_come_as_csv(shared_owner: Any, write_book: Any) -> None:
    """Whatever the page.

    A name that a spreadsheet would run has an apostrophe before it.
    """
    loans = [(f"LX{at:06d}", f"@CMD {at}", "Retail", 1e6, 99.0, "B2", "B", 400, 0.5, None, None) for at in range(150)]
    book = shared_owner.uploaded(write_book("signs", Holdings=[HEADER, *loans]))
    run = ran(shared_owner, book)
    path = f"{RESULTS}/{run['id']}/tests/industry_concentration/parts"
    answer = shared_owner.get(path, params={"format": "csv", "limit": 10, "offset": 5})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''industry_concentration-parts.csv"
    header, *rows = csv.reader(io.StringIO(answer.text, newline=""))
    assert header[:5] == ["kind", "name", "place", "row", "amount"]
    assert len(rows) == 150
    assert [row[1] for row in rows if not row[1].startswith("'@CMD")] == []
    assert sum(float(row[4]) for row in rows) == 150e6


def test_the_parts_are_the_same_a_year_later(owner: Member, g1_file: Path) -> None:
    """After the mapping and the definition were changed, and after the workbook was deleted."""
    deal = owner.post("/api/v1/deals", json={"name": "Deal"}).json()
    assert owner.put(f"/api/v1/deals/{deal['id']}/definition", json={"definition": DEFINITION}).status_code == 200
    mapping = {"name": "Own", "source_type": "clo_holdings", "profile_id": "standard_clo",
               "mappings": {"Market Price": {"target": "price"}}}  # fmt: skip
    body = owner.post("/api/v1/mappings", json=mapping).json()
    book = owner.uploaded(g1_file, deal_id=deal["id"], mapping_id=body["id"])
    runs = {suite: ran(owner, book, test_suite=suite) for suite in ("enhanced", "deal")}
    asked = [("enhanced", result["test_id"]) for result in runs["enhanced"]["results"]]
    asked += [("deal", test) for test in ("junk", "half", "oc_e")]
    before = {(suite, test): parts(owner, runs[suite], test) for suite, test in asked}
    assert all(item["adds_up"] for (_, test), item in before.items() if test != "half")
    assert before["deal", "half"]["reason"] == "the figure is a formula over other figures: =par/2"
    assert [item["name"] for item in before["deal", "junk"]["items"]] == ["Juliet", "Kilo", "Lima"]
    changed = {"mappings": {"Purchase Price": {"target": "price"}}}
    assert owner.patch(f"/api/v1/mappings/{body['id']}", json=changed).status_code == 200
    second = {"tests": [{"id": "junk", "name": "Junk", "share": "=rank_a>10", "max": 1.0}]}
    assert owner.put(f"/api/v1/deals/{deal['id']}/definition", json={"definition": second}).status_code == 200
    assert {key: parts(owner, runs[key[0]], key[1]) for key in asked} == before
    assert owner.delete(f"/api/v1/workbooks/{book['id']}").status_code == 204
    assert {key: parts(owner, runs[key[0]], key[1]) for key in asked} == before


def test_what_a_deal_does_not_have_is_not_found(owner: Member, stranger: Member, own_g1: dict[str, Any]) -> None:
    run = ran(owner, own_g1, test_ids=["was"])
    for who, run_id, test_id, detail in (
        (owner, run["id"], "oc_ratio", "Test not found in this run"),
        (owner, run["id"], "no_such_test", "Test not found in this run"),
        (owner, run["id"], "..%2f..%2fwas", "Test not found in this run"),
        (owner, str(uuid4()), "was", "Result not found"),
        (stranger, run["id"], "was", "Result not found"),
    ):
        answer = who.get(f"{RESULTS}/{run_id}/tests/{test_id}/parts")
        assert answer.status_code == 404, (test_id, answer.text)
        assert answer.json()["detail"] in (detail, "Not found")
    assert owner.get(f"{RESULTS}/{run['id']}/tests/{'x' * 201}/parts").status_code == 404
    assert owner.get(f"{RESULTS}/none/tests/wal/parts").status_code == 404


def test_columns_that_are_kept_no_more_give_a_reason(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    run = ran(owner, own_g1)
    with _forgotten(stack, owner):
        outcome = parts(owner, run, "oc_ratio", offset=2, limit=7)
        assert outcome["reason"] == "the columns that the run read are no longer kept: their retention has ended"
        assert (outcome["items"], outcome["total"], outcome["sum"], outcome["offset"], outcome["limit"]) == (
            [],
            0,
            None,
            2,
            7,
        )
        assert outcome["value"] == next(
            result["current_value"] for result in run["results"] if result["test_id"] == "oc_ratio"
        )
        text = owner.get(f"{RESULTS}/{run['id']}/tests/oc_ratio/parts", params={"format": "csv"}).text
        assert text == "kind,name,place,row,amount\r\n"
    assert parts(owner, run, "oc_ratio")["adds_up"] is True


def test_columns_that_were_altered_give_no_figure(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    run = ran(owner, own_g1)
    stack.sql("UPDATE evidence_books SET manifest = manifest || ' ' WHERE tenant_id = %s", [owner.tenant_id])
    answer = owner.get(f"{RESULTS}/{run['id']}/tests/oc_ratio/parts")
    assert (answer.status_code, answer.json()["detail"]) == (503, "Stored data is damaged")


@contextmanager
def _forgotten(stack: Stack, owner: Member) -> Iterator[None]:
    """The tenant's stored bytes as they are once their retention has ended."""
    rows = stack.sql("SELECT to_json(b)::text FROM blobs b WHERE tenant_id = %s", [owner.tenant_id])
    stack.sql("DELETE FROM blobs WHERE tenant_id = %s", [owner.tenant_id])
    try:
        yield
    finally:
        for (row,) in rows:
            stack.sql("INSERT INTO blobs SELECT * FROM json_populate_record(NULL::blobs, %s::json)", [row])


def test_a_run_of_a_version_before_reads_as_ever(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    """Results that were stored without unit and decimals have both where they are read."""
    run = ran(owner, own_g1)
    older = [{name: result[name] for name in result if name not in ("unit", "decimals")} for result in run["results"]]
    stack.sql("UPDATE compliance_runs SET results = %s WHERE id = %s", [json.dumps(older), run["id"]])
    answer = owner.get(f"{RESULTS}/{run['id']}").json()
    assert answer["results"] == run["results"]
    outcome = parts(owner, run, "average_rating_factor")
    assert (outcome["unit"], outcome["decimals"], outcome["adds_up"]) == ("factor", 0, True)
