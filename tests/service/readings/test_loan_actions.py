"""The loans of a workbook over HTTP.

Fields, conditions, order, parts, and what is refused.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from core.generate import generate
from service.readings import loan_actions
from service.readings.schema import FIELDS_MAX, FILTERS_MAX, LOANS_MAX
from tests.conftest import Member, Stack
from tests.service.compliance.conftest import G1_LOANS

LOANS = "/api/v1/workbooks/{}/loans"
MANY = 20_000


def asked(who: Member, workbook_id: str, **query: Any) -> dict[str, Any]:
    """The answer to a query."""
    answer = who.get(LOANS.format(workbook_id), params=query)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_all_loans_come_with_every_field(shared_owner: Member, g1: dict[str, Any]) -> None:
    result = asked(shared_owner, g1["id"])
    assert result["columns"]["borrower_name"] == [loan[1] for loan in G1_LOANS]
    assert result["columns"]["par_value"] == [loan[3] for loan in G1_LOANS]
    assert result["columns"]["rating_agency_a"] == [loan[5] for loan in G1_LOANS]
    assert result["columns"]["purchase_price"] == [loan[9] for loan in G1_LOANS], "blank ones are null"
    assert result["rows"] == [*range(2, len(G1_LOANS) + 2)]
    assert (result["total"], result["offset"], result["limit"]) == (len(G1_LOANS), 0, 100)
    assert result["total_par"] == sum(loan[3] for loan in G1_LOANS)
    assert (result["workbook_id"], result["mapping_id"]) == (g1["id"], "standard_clo")
    assert [field["name"] for field in result["fields"]] == [*result["columns"]]
    assert result["available"] == result["fields"]
    fields = {field["name"]: field for field in result["fields"]}
    assert fields["spread"] == {"name": "spread", "label": "Spread", "type": "number", "unit": "bps"}
    assert fields["rating_agency_a"] == {
        "name": "rating_agency_a", "label": "Moody's rating", "type": "rating", "unit": "",
    }  # fmt: skip
    assert isinstance(result["warnings"], list)


def test_fields_stand_in_the_order_that_is_asked_for(shared_owner: Member, g1: dict[str, Any]) -> None:
    result = asked(shared_owner, g1["id"], fields="spread,borrower_name,spread", limit=2, offset=3)
    assert result["columns"] == {
        "spread": [loan[7] for loan in G1_LOANS[3:5]],
        "borrower_name": [loan[1] for loan in G1_LOANS[3:5]],
    }
    assert [field["name"] for field in result["fields"]] == ["spread", "borrower_name"]
    assert len(result["available"]) > 5
    assert (result["rows"], result["total"]) == ([5, 6], len(G1_LOANS))
    beyond = asked(shared_owner, g1["id"], fields="spread", offset=100)
    assert (beyond["columns"], beyond["rows"], beyond["total"]) == ({"spread": []}, [], len(G1_LOANS))


def test_conditions_hold_together_and_a_field_orders(shared_owner: Member, g1: dict[str, Any]) -> None:
    query = {"fields": "borrower_name", "filter": ["spread:ge:400", "rating_agency_a:lt:Caa2"], "sort": "-spread"}
    expected = sorted(
        (loan for loan in G1_LOANS if loan[7] >= 400 and loan[5] not in ("Caa2", "Caa3", "Ca")),
        key=lambda loan: -loan[7],
    )
    result = asked(shared_owner, g1["id"], **query)
    assert result["columns"] == {"borrower_name": [loan[1] for loan in expected]}
    assert result["total"] == len(expected) > 3
    assert result["total_par"] == sum(loan[3] for loan in expected), "of all that meet the conditions"
    nothing = asked(shared_owner, g1["id"], filter="borrower_name:eq:Nobody")
    assert (nothing["total"], nothing["total_par"]) == (0, None)
    assert asked(shared_owner, g1["id"], **query | {"filter": ",".join(query["filter"])}) == result, "or by commas"
    commas = asked(shared_owner, g1["id"], fields="borrower_name", filter="industry:contains:Finance, Insurance")
    assert commas["columns"]["borrower_name"] == ["Delta"]
    assert asked(shared_owner, g1["id"], filter="purchase_price:ne:")["columns"]["borrower_name"] == ["Foxtrot"]
    assert asked(shared_owner, g1["id"], sort="borrower_name", limit=1)["columns"]["borrower_name"] == ["Alpha"]


def test_what_is_wrong_is_named(shared_owner: Member, g1: dict[str, Any]) -> None:
    path = LOANS.format(g1["id"])
    for query, loc, message in (
        ({"fields": "spred"}, "fields", "the loans have no field 'spred'; did you mean spread?"),
        ({"sort": "-parvalue"}, "sort", "the loans have no field 'parvalue'; did you mean par_value?"),
        ({"filter": "spred:ge:1"}, "filter", "did you mean spread?"),
        ({"filter": "spread"}, "filter", "'spread' is not field:op:value; op is eq, ne, lt, le, gt, ge, contains"),
        ({"filter": "spread:like:1"}, "filter", "is not field:op:value"),
        ({"filter": "spread:ge:high"}, "filter", "'high' is no number, as spread is"),
    ):
        answer = shared_owner.get(path, params=query)
        assert answer.status_code == 422, (query, answer.text)
        (fault,) = answer.json()["errors"]
        assert fault["loc"] == ["query", loc]
        assert message in fault["message"], fault
    both = shared_owner.get(path, params={"filter": ["a:eq:1", "b:eq:1"]}).json()["errors"]
    assert len(both) == 2
    assert shared_owner.get(path, params={"filter": ["spread:ge:1"] * FILTERS_MAX}).status_code == 200
    for query in (
        {"limit": 0},
        {"limit": LOANS_MAX + 1},
        {"offset": -1},
        {"filter": ["spread:ge:1"] * (FILTERS_MAX + 1)},
        {"filter": ",".join(["spread:ge:1"] * (FILTERS_MAX + 1))},
        {"filter": "borrower_name:eq:" + "x" * 300},
        {"fields": ",".join(["spread"] * (FIELDS_MAX + 1))},
        {"order": "spread"},
    ):
        assert shared_owner.get(path, params=query).status_code == 422, query


def test_agencies_have_the_tenants_names(owner: Member, own_g1: dict[str, Any]) -> None:
    settings = {"settings": {"rating_agency_a_label": "Agency One"}}
    assert owner.patch("/api/v1/admin/tenant", json=settings).status_code == 200
    labels = {item["name"]: item["label"] for item in asked(owner, own_g1["id"])["available"]}
    assert (labels["rating_agency_a"], labels["rating_agency_b"]) == ("Agency One rating", "S&P rating")


def test_who_may_see_loans(stack: Stack, owner: Member, stranger: Member, own_g1: dict[str, Any]) -> None:
    path = LOANS.format(own_g1["id"])
    assert owner.invite("viewer").get(path).status_code == 200
    assert owner.key("compliance:read").get(path).status_code == 200
    assert owner.key("workbooks:read").get(path).status_code == 403
    for who, workbook in ((stranger, own_g1["id"]), (owner, str(uuid4()))):
        answer = who.get(LOANS.format(workbook))
        assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [own_g1["id"]])
    answer = owner.get(path)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Workbook is not ready")


def test_a_workbook_without_loans_has_none(owner: Member, write_book: Any) -> None:
    book = owner.uploaded(write_book("empty", Notes=[("Hello", "there")]))
    result = asked(owner, book["id"])
    assert (result["columns"], result["rows"], result["total"], result["fields"]) == ({}, [], 0, [])
    assert result["warnings"][0]["code"] == "no_loans"
    answer = owner.get(LOANS.format(book["id"]), params={"fields": "spread"})
    assert answer.json()["errors"][0]["message"] == "the loans have no field 'spread'; they have none"


@pytest.fixture(scope="module")
def many(shared_owner: Member, tmp_path_factory: pytest.TempPathFactory) -> str:
    """More loans than a thread chooses of."""
    assert MANY > loan_actions.FEW_LOANS
    path: Path = tmp_path_factory.mktemp("many") / "many.xlsx"
    generate(loans=MANY, seed=5).write(path)
    workbook_id: str = shared_owner.uploaded(path)["id"]
    return workbook_id


def test_many_loans_are_chosen_in_a_child_and_come_in_parts(shared_owner: Member, many: str) -> None:
    query = {"fields": "borrower_name,par_value", "filter": "spread:ge:350", "sort": "-par_value"}
    whole = asked(shared_owner, many, **query, limit=LOANS_MAX)
    parts = [asked(shared_owner, many, **query, limit=2_500, offset=at) for at in range(0, LOANS_MAX, 2_500)]
    assert whole["rows"] == [row for part in parts for row in part["rows"]]
    assert whole["columns"]["borrower_name"] == [name for part in parts for name in part["columns"]["borrower_name"]]
    par = whole["columns"]["par_value"]
    assert par == sorted(par, reverse=True)
    assert len(par) == min(LOANS_MAX, whole["total"])
    assert whole["total"] < MANY
    every_field = asked(shared_owner, many, limit=LOANS_MAX)
    assert len(every_field["rows"]) * len(every_field["fields"]) > loan_actions.FEW_CELLS, "a child writes them"
    assert {len(column) for column in every_field["columns"].values()} == {LOANS_MAX}


def test_a_part_of_many_loans_comes_soon(shared_owner: Member, many: str) -> None:
    query = {"sort": "borrower_name", "limit": 1_000, "fields": "borrower_name,par_value,spread,maturity_date"}
    asked(shared_owner, many, **query)
    times = []
    for offset in range(1_000, 6_000, 1_000):
        begun = time.perf_counter()
        asked(shared_owner, many, **query, offset=offset)
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.1, "an order is kept for the next part"
