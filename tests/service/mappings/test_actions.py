"""Mappings over HTTP.

Creating, reading, listing, changing and deleting them, and every refusal on the way.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from core.portfolio.model.fields import PROFILES
from tests.conftest import Member, Stack
from tests.service.mappings.conftest import PATH, body, column

Make = Callable[..., dict[str, Any]]

FIELDS = {
    "id",
    "name",
    "description",
    "source_type",
    "profile_id",
    "mappings",
    "transforms",
    "validation_rules",
    "warnings",
    "created_by",
    "created_at",
    "updated_at",
}
SUMMARY = {
    "id",
    "name",
    "description",
    "source_type",
    "is_system",
    "field_count",
    "profile_id",
    "created_by",
    "created_at",
}
WHOLE = {
    "name": "Agent bank",
    "description": "As the agent sends it",
    "source_type": "clo_holdings",
    "profile_id": "standard_clo",
    "mappings": {
        "Zeta Par": {"target": "par_value", "type": "number", "required": True, "aliases": ["Par (USD)", "Face USD"]},
        "Alpha Name": {"target": "borrower_name", "type": "string", "required": True, "aliases": []},
        "Desk": {
            "target": "payment_frequency",
            "type": "string",
            "required": False,
            "default": "London",
            "aliases": ["Book"],
        },
    },
    "transforms": [
        {"field": "par_value", "operation": "multiply", "parameters": {"factor": 1000}},
        {"field": "payment_frequency", "operation": "uppercase"},
        {"field": "payment_frequency", "operation": "lookup", "parameters": {"mapping": {"LDN": "London"}}},
    ],
    "validation_rules": [
        {"field": "par_value", "rule": "positive", "message": "par is owed"},
        {"field": "payment_frequency", "rule": "enum", "parameters": {"values": ["London", "Paris"]}},
    ],
}


def refused(answer: Any, status: int, detail: str) -> list[dict[str, Any]]:
    """The faults of a refusal that has this status and message."""
    actual_body = answer.json()
    assert (answer.status_code, actual_body["detail"]) == (status, detail), answer.text
    faults: list[dict[str, Any]] = actual_body.get("errors", [])
    return faults


# Creating -----------------------------------------------------------------------------------------------------------


def test_a_mapping_comes_back_as_it_was_given(owner: Member) -> None:
    answer = owner.post(PATH, json=WHOLE)
    assert answer.status_code == 201, answer.text
    mapping = answer.json()
    assert set(mapping) == FIELDS
    assert str(UUID(mapping["id"])) == mapping["id"]
    for name in ("name", "description", "source_type", "profile_id"):
        assert mapping[name] == WHOLE[name]
    assert mapping["mappings"] == {
        source: {"default": None, **input_mapping}
        for source, input_mapping in WHOLE["mappings"].items()  # type: ignore[attr-defined]
    }
    assert mapping["transforms"] == [
        {"parameters": None, **transform}
        for transform in WHOLE["transforms"]  # type: ignore[union-attr]
    ]
    assert mapping["validation_rules"] == [
        {"parameters": None, "message": None, **validation_rule}
        for validation_rule in WHOLE["validation_rules"]  # type: ignore[union-attr]
    ]
    assert mapping["created_by"] == owner.email
    assert datetime.fromisoformat(mapping["created_at"]) == datetime.fromisoformat(mapping["updated_at"])
    assert answer.headers["etag"] == '"1"'
    read = owner.get(f"{PATH}/{mapping['id']}")
    assert (read.status_code, read.json(), read.headers["etag"]) == (200, mapping, '"1"')


def test_the_order_of_the_columns_is_kept(owner: Member, make: Make) -> None:
    sources = ["Z", "a", "M m", "10", "9", "É", "b"]
    mapping = make(owner, mappings={source: column(f"field_{at}") for at, source in enumerate(sources)})
    actual_body = owner.get(f"{PATH}/{mapping['id']}", params={"resolve_profile": True}).json()
    assert list(mapping["mappings"]) == list(actual_body["mappings"]) == sources
    assert list(actual_body["resolved_mappings"]) == [f"field_{at}" for at in range(len(sources))]


def test_what_is_left_out_is_filled_in(owner: Member, make: Make) -> None:
    mapping = make(owner, mappings={"Ref": {"target": "ref", "type": "string"}, "N": {"target": "n", "type": "number"}})
    assert mapping["mappings"]["Ref"] == {
        "target": "ref",
        "type": "string",
        "required": False,
        "default": None,
        "aliases": [],
    }
    assert (mapping["description"], mapping["profile_id"], mapping["transforms"], mapping["validation_rules"]) == (
        None,
        None,
        [],
        [],
    )
    nulls = {"required": None, "default": None, "aliases": None}
    again = make(
        owner,
        mappings={"Ref": {"target": "ref", "type": "string", **nulls}},
        description=None,
        profile_id=None,
        transforms=[{"field": "ref", "operation": "trim", "parameters": None}],
        validation_rules=[{"field": "ref", "rule": "required", "parameters": None, "message": None}],
    )
    assert again["mappings"]["Ref"] == mapping["mappings"]["Ref"]


def test_a_profile_gives_what_is_not_said(owner: Member, make: Make) -> None:
    mapping = make(
        owner,
        source_type="clo_holdings",
        profile_id="standard_clo",
        mappings={"Our Par": {"target": "par_value", "type": "number"}},
    )
    assert mapping["mappings"]["Our Par"]["required"] is True
    resolved_mappings = owner.get(f"{PATH}/{mapping['id']}?resolve_profile=true").json()["resolved_mappings"]
    assert list(resolved_mappings) == [field.target for field in PROFILES["standard_clo"].fields]
    assert resolved_mappings["par_value"]["sources"][:2] == ["Our Par", "Par Amount"]
    assert (resolved_mappings["par_value"]["type"], resolved_mappings["par_value"]["required"]) == ("number", True)
    assert set(resolved_mappings["cusip"]) == {"sources", "type", "required"}


@pytest.mark.parametrize("source_type", ["", "clo", "CLO_HOLDINGS", "standard_clo", "x" * 5000])
def test_an_unknown_source_type_has_its_own_answer(shared_owner: Member, source_type: str) -> None:
    faults = refused(shared_owner.post(PATH, json=body(source_type=source_type)), 400, "Invalid source type")
    assert faults[0]["loc"] == ["body", "source_type"]


@pytest.mark.parametrize("profile_id", ["nope", "", "9b2f6a52-6b5e-4a36-9a59-3f2f6cf4c2b1", "STANDARD_CLO"])
def test_an_unknown_profile_is_not_found(shared_owner: Member, profile_id: str) -> None:
    faults = refused(shared_owner.post(PATH, json=body(profile_id=profile_id)), 404, "Profile not found")
    assert faults[0]["loc"] == ["body", "profile_id"]


def test_a_mapping_of_ones_own_is_no_profile(owner: Member, make: Make) -> None:
    refused(owner.post(PATH, json=body(profile_id=make(owner)["id"])), 404, "Profile not found")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"mappings": {}}, ["mappings"]),
        ({"mappings": {"A": {}}}, ["mappings", "A", "target"]),
        ({"mappings": {"A": column("")}}, ["mappings", "A", "target"]),
        ({"mappings": {"A": column("drop table")}}, ["mappings", "A", "target"]),
        ({"mappings": {"A": column("a"), "B": column("a")}}, ["mappings", "B"]),
        ({"mappings": {"A": column("a", "money")}}, ["mappings", "A", "type"]),
        ({"mappings": {"A": column(5)}}, ["mappings", "A", "target"]),
        ({"mappings": {"A": column(None)}}, ["mappings", "A", "target"]),
        ({"mappings": {"A": column("a", ["string"])}}, ["mappings", "A", "type"]),
        ({"mappings": {"A": column("a", required="yes")}}, ["mappings", "A", "required"]),
        ({"mappings": {"A": column("a", aliases="B")}}, ["mappings", "A", "aliases"]),
        ({"mappings": {"A": column("a", aliases=["B", 5])}}, ["mappings", "A", "aliases"]),
        ({"mappings": {"": column("a")}}, ["mappings", ""]),
        ({"mappings": {"x" * 300: column("a")}}, ["mappings", "x" * 200]),
        ({"mappings": {"A": column("a", "number", default="ten")}}, ["mappings", "A", "default"]),
        ({"mappings": {"A": column("a", "number", default=10**400)}}, ["mappings", "A", "default"]),
        ({"mappings": {"A": column("a", default={"x": 1})}}, ["mappings", "A", "default"]),
        ({"mappings": {"A": column("a", "date", default="2026-02-30")}}, ["mappings", "A", "default"]),
        ({"mappings": {"A": column("a", aliases=["B"] * 51)}}, ["mappings", "A", "aliases"]),
        ({"mappings": {f"C{at}": column(f"c{at}") for at in range(301)}}, ["mappings"]),
        ({"transforms": [{"field": "ref", "operation": "explode"}]}, ["transforms", "0", "operation"]),
        ({"transforms": [{"field": "nobody", "operation": "trim"}]}, ["transforms", "0", "field"]),
        ({"transforms": [{"operation": "trim"}]}, ["transforms", "0", "field"]),
        ({"transforms": [{"field": {}, "operation": []}]}, ["transforms", "0", "field"]),
        ({"transforms": [{"field": "ref", "operation": "trim", "parameters": [1]}]}, ["transforms", "0", "parameters"]),
        ({"transforms": [{"field": "ref"}]}, ["transforms", "0", "operation"]),
        ({"transforms": [{"field": "ref", "operation": "multiply"}]}, ["transforms", "0", "operation"]),
        ({"transforms": [{"field": "size", "operation": "multiply"}]}, ["transforms", "0", "parameters", "factor"]),
        (
            {"transforms": [{"field": "size", "operation": "divide", "parameters": {"divisor": 0}}]},
            ["transforms", "0", "parameters", "divisor"],
        ),
        ({"validation_rules": [{"field": "ref", "rule": "lucky"}]}, ["validation_rules", "0", "rule"]),
        ({"validation_rules": [{"field": "nobody", "rule": "required"}]}, ["validation_rules", "0", "field"]),
        (
            {"validation_rules": [{"field": "ref", "rule": "required", "message": "x" * 501}]},
            ["validation_rules", "0", "message"],
        ),
        (
            {"validation_rules": [{"field": "size", "rule": "range", "parameters": {"min": 2, "max": 1}}]},
            ["validation_rules", "0", "parameters"],
        ),
    ],
)
def test_what_is_no_mapping_is_refused_where_it_is_wrong(
    shared_owner: Member, change: dict[str, Any], place: list[str]
) -> None:
    wrong = body(**change)
    faults = refused(shared_owner.post(PATH, json=wrong), 400, "Invalid mapping configuration")
    assert faults[0]["loc"] == ["body", *place]
    assert faults[0]["message"]
    assert shared_owner.get(PATH, params={"search": wrong["name"]}).json()["total"] == 0


def test_a_type_that_is_left_out_is_that_of_the_standard_field(owner: Member, make: Make) -> None:
    for profile in ({}, {"profile_id": "standard_clo"}):
        new_mapping = make(
            owner,
            **profile,
            source_type="clo_holdings",
            mappings={
                "A": {"target": "par_value"},
                "B": {"target": "maturity_date", "type": None},
                "C": {"target": "payment_frequency"},
                "D": {"target": "cov_lite"},
            },
        )
        assert [mapping["type"] for mapping in new_mapping["mappings"].values()] == [
            "number",
            "date",
            "string",
            "boolean",
        ]


def test_a_field_of_one_s_own_is_carried_and_named(owner: Member, make: Make) -> None:
    """Of every source type; what is close to a standard field is asked about."""
    columns = {"Par": column("par_valeu", "number"), "Sponsor": column("sponsor")}
    own = {"par_valeu": "; did you mean par_value?", "sponsor": ""}
    for source_type, named in (("clo_holdings", own), ("servicer_snapshot", dict.fromkeys(own, "")), ("custom", {})):
        mapping = make(
            owner, source_type=source_type, profile_id=None, mappings=columns, transforms=[], validation_rules=[]
        )
        answer = [
            {"code": "own_field", "field": target, "message": f"{target} is no standard field of {source_type}: it is "
             f"carried with each loan as a field of your own{near}"} for target, near in named.items()
        ]  # fmt: skip
        path = f"{PATH}/{mapping['id']}"
        assert mapping["warnings"] == owner.get(path).json()["warnings"] == answer
        for strict in (False, True):
            sample = {"sample_data": [{"Par": "1,500", "Sponsor": "Acme Capital"}], "strict": strict}
            actual_body = owner.post(f"{path}/validate", json=sample).json()
            assert actual_body["mapped_data"] == [{"par_valeu": 1500.0, "sponsor": "Acme Capital"}]
            assert [(warning["row"], warning["field"], warning["rule"]) for warning in actual_body["warnings"]] == [
                (None, target, "own_field") for target in named
            ]
            assert [warning["message"] for warning in actual_body["warnings"]] == [item["message"] for item in answer]
            assert (actual_body["warning_count"], actual_body["valid"]) == (len(answer), not (strict and answer))
        changed = owner.patch(path, json={"mappings": {"Par": column("par_value", "number")}}).json()
        assert [warning["field"] for warning in changed["warnings"]] == (
            ["par_value"] if source_type == "servicer_snapshot" else []
        )
    assert owner.get(f"{PATH}/standard_clo").json()["warnings"] == []


def test_a_stored_mapping_of_two_columns_without_an_order_is_kept(stack: Stack, owner: Member, make: Make) -> None:
    """It was accepted once, in the order in which it was written."""
    new_mapping = make(owner, mappings={"A": column("a"), "B": column("b")}, transforms=[], validation_rules=[])
    stack.sql(
        'UPDATE mappings SET mappings = replace(mappings::text, \'"target":"b"\', \'"target":"a"\')::json,'
        " version = version + 1 WHERE id = %s",
        [new_mapping["id"]],
    )
    path = f"{PATH}/{new_mapping['id']}"
    renamed = owner.patch(path, json={"name": "Renamed"})
    assert renamed.status_code == 200, renamed.text
    assert [mapping["target"] for mapping in renamed.json()["mappings"].values()] == ["a", "a"]
    sample = {"sample_data": [{"A": "", "B": "y"}, {"A": "x", "B": "y"}]}
    assert owner.post(f"{path}/validate", json=sample).json()["mapped_data"] == [{"a": "y"}, {"a": "x"}]
    again = owner.patch(path, json={"mappings": renamed.json()["mappings"]})
    refused(again, 400, "Invalid mapping configuration")


def test_the_faults_that_are_told_are_bounded(shared_owner: Member) -> None:
    wrong = body(mappings={f"C{at}": column("1") for at in range(200)})
    assert len(refused(shared_owner.post(PATH, json=wrong), 400, "Invalid mapping configuration")) == 20


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": ""}, ["name"]),
        ({"name": "  "}, ["name"]),
        ({"name": "x" * 201}, ["name"]),
        ({"name": None}, ["name"]),
        ({"description": "x" * 2001}, ["description"]),
        ({"source_type": 5}, ["source_type"]),
        ({"mappings": []}, ["mappings"]),
        ({"mappings": {"A": "cusip"}}, ["mappings", "A"]),
        ({"transforms": {}}, ["transforms"]),
        ({"transforms": ["trim"]}, ["transforms", "0"]),
        ({"transforms": [{"field": "ref", "operation": "trim"}] * 201}, ["transforms"]),
        ({"validation_rules": [{"field": "ref", "rule": "required"}] * 301}, ["validation_rules"]),
    ],
)
def test_another_type_is_refused(shared_owner: Member, change: dict[str, Any], place: list[str]) -> None:
    faults = refused(shared_owner.post(PATH, json=body(**change)), 422, "Validation error")
    assert faults[0]["loc"] == ["body", *place]


@pytest.mark.parametrize("name", ["x", "x" * 200, "Ünïcode — ✓", "'; DROP TABLE mappings; --", "<script>", "%_\\"])
def test_names_of_every_kind_are_kept(owner: Member, make: Make, name: str) -> None:
    mapping = make(owner, name=name, description=name)
    assert (mapping["name"], mapping["description"]) == (name, name)
    actual_body = owner.get(PATH, params={"search": name}).json()
    assert [item["id"] for item in actual_body["items"]] == [mapping["id"]]


def test_a_name_is_taken_once_in_a_tenant(owner: Member, stranger: Member, make: Make) -> None:
    make(owner, name="Twice")
    refused(owner.post(PATH, json=body(name="Twice")), 409, "Mapping already exists")
    make(stranger, name="Twice")
    make(owner, name="twice")
    assert owner.get(PATH).json()["total"] == 2


def test_of_two_at_once_one_gets_the_name(owner: Member) -> None:
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: owner.post(PATH, json=body(name="Race")).status_code, range(6)))
    assert sorted(answers) == [201] + [409] * 5
    assert owner.get(PATH).json()["total"] == 1


def test_a_tenants_mappings_are_bounded(stack: Stack, owner: Member) -> None:
    with stack.another_api(CUSHION_MAX_MAPPINGS="2") as url:
        token = {"Authorization": f"Bearer {owner.tokens['access_token']}"}

        def create(_: int) -> Any:
            return owner.http.post(f"{url}{PATH}", json=body(), headers=token)

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(create, range(4)))
        assert sorted(answer.status_code for answer in answers) == [201, 201, 403, 403]
        over = next(answer for answer in answers if answer.status_code == 403)
        assert refused(over, 403, "Mapping limit exceeded")[0]["message"] == "the limit is 2 mappings"


def test_a_mapping_that_is_stored_is_bounded(shared_owner: Member) -> None:
    entries = {f"{at:05}" + "x" * 50: "y" * 20 for at in range(4_000)}
    rules = [{"field": "ref", "operation": "lookup", "parameters": {"mapping": entries}}]
    faults = refused(shared_owner.post(PATH, json=body(transforms=rules)), 400, "Invalid mapping configuration")
    assert "262,144" in faults[0]["message"]


def test_a_mapping_leaves_its_events(stack: Stack, owner: Member, make: Make) -> None:
    mapping = make(owner, name="Seen")
    owner.patch(f"{PATH}/{mapping['id']}", json={"name": "Seen again"})
    owner.delete(f"{PATH}/{mapping['id']}")
    owner.delete(f"{PATH}/{mapping['id']}")
    assert stack.sql(
        """
        SELECT action, resource_type, resource_id, resource_name, user_email FROM audit_log
        WHERE tenant_id = %s AND action LIKE 'mapping.%%' ORDER BY occurred_at
        """,
        [owner.tenant_id],
    ) == [
        ("mapping.created", "mapping", mapping["id"], "Seen", owner.email),
        ("mapping.updated", "mapping", mapping["id"], "Seen again", owner.email),
        ("mapping.deleted", "mapping", mapping["id"], "Seen again", owner.email),
    ]


# Reading ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mapping_id", "fields"), [("standard_clo", 25), ("standard_servicer", 4)])
def test_a_built_in_mapping_is_read_by_its_name(shared_owner: Member, mapping_id: str, fields: int) -> None:
    answer = shared_owner.get(f"{PATH}/{mapping_id}")
    mapping = answer.json()
    assert answer.status_code == 200
    assert set(mapping) == FIELDS
    assert (mapping["id"], mapping["profile_id"], mapping["created_by"]) == (mapping_id, None, "system")
    assert len(mapping["mappings"]) == fields
    resolved = shared_owner.get(f"{PATH}/{mapping_id}?resolve_profile=true").json()
    assert set(resolved) == FIELDS | {"resolved_mappings"}
    assert len(resolved["resolved_mappings"]) == fields


def test_a_built_in_mapping_can_be_copied(owner: Member, make: Make) -> None:
    """What is read of it and sent again is the same mapping."""
    for mapping_id in PROFILES:
        read = owner.get(f"{PATH}/{mapping_id}?resolve_profile=true").json()
        mapping = make(owner, source_type=read["source_type"], mappings=read["mappings"])
        assert mapping["mappings"] == read["mappings"]
        resolved = owner.get(f"{PATH}/{mapping['id']}?resolve_profile=true").json()["resolved_mappings"]
        assert resolved == read["resolved_mappings"]


def test_resolved_mappings_come_when_asked_for(owner: Member, make: Make) -> None:
    mapping = make(owner, mappings={"Ref": column("ref", aliases=["Reference", "Key"])})
    for query in ("", "?resolve_profile=false"):
        assert "resolved_mappings" not in owner.get(f"{PATH}/{mapping['id']}{query}").json()
    resolved_mappings = owner.get(f"{PATH}/{mapping['id']}?resolve_profile=true").json()["resolved_mappings"]
    assert resolved_mappings == {"ref": {"sources": ["Ref", "Reference", "Key"], "type": "string", "required": False}}


@pytest.mark.parametrize("mapping_id", ["nope", "STANDARD_CLO", "standard_other", "x" * 300, "%F0%9F%A6%84", "a'b"])
def test_what_is_not_there_is_not_found(shared_owner: Member, mapping_id: str) -> None:
    place = f"{PATH}/{mapping_id}"
    refused(shared_owner.get(place), 404, "Mapping not found")
    refused(shared_owner.patch(place, json={}), 404, "Mapping not found")
    refused(shared_owner.delete(place), 404, "Mapping not found")
    refused(shared_owner.post(f"{place}/validate", json={"sample_data": []}), 404, "Mapping not found")


# Listing ------------------------------------------------------------------------------------------------------------


def test_the_list_holds_ones_own_newest_first(owner: Member, stranger: Member, make: Make) -> None:
    make(stranger)
    mapping = [make(owner, name=f"Number {at}") for at in range(3)]
    answer = owner.get(PATH)
    page = answer.json()
    assert answer.status_code == 200
    assert {name: page[name] for name in page if name != "items"} == {
        "total": 3,
        "page": 1,
        "page_size": 20,
        "total_pages": 1,
    }
    assert [item["id"] for item in page["items"]] == [item["id"] for item in reversed(mapping)]
    newest = page["items"][0]
    assert set(newest) == SUMMARY
    assert newest == {
        **{name: mapping[-1][name] for name in SUMMARY if name in mapping[-1]},
        "is_system": False,
        "field_count": 2,
    }


def test_fields_of_the_profile_count(owner: Member, make: Make) -> None:
    extended = {"source_type": "clo_holdings", "profile_id": "standard_clo"}
    make(owner, **extended, mappings={"P": column("par_value", "number")})
    assert owner.get(PATH).json()["items"][0]["field_count"] == 25
    make(owner, **extended, mappings={"P": column("par_value", "number"), "D": column("payment_frequency")})
    newest = owner.get(PATH).json()["items"][0]
    assert (newest["field_count"], newest["profile_id"]) == (26, "standard_clo")
    owner.patch(
        f"{PATH}/{newest['id']}",
        json={"mappings": {"D": column("payment_frequency"), "E": column("days_past_due", "number")}},
    )
    assert owner.get(PATH).json()["items"][0]["field_count"] == 27


def test_built_in_ones_stand_in_front_when_asked_for(owner: Member, make: Make) -> None:
    assert owner.get(PATH).json()["total"] == 0
    mapping = [make(owner)["id"] for _ in range(3)]
    actual_body = owner.get(PATH, params={"include_system": True}).json()
    order = ["standard_clo", "standard_servicer", *reversed(mapping)]
    assert [item["id"] for item in actual_body["items"]] == order
    assert [item["is_system"] for item in actual_body["items"]] == [True, True, False, False, False]
    assert [item["field_count"] for item in actual_body["items"][:2]] == [25, 4]
    assert actual_body["items"][0]["source_type"] == "clo_holdings"
    for size in (1, 2, 3, 4):
        pages = [
            owner.get(PATH, params={"include_system": True, "page": page, "page_size": size}).json()
            for page in range(1, 7)
        ]
        assert [item["id"] for page in pages for item in page["items"]] == order
        assert {(page["total"], page["total_pages"]) for page in pages} == {(5, -(-5 // size))}


def test_the_list_by_source_type_and_name(owner: Member, make: Make) -> None:
    make(owner, name="Alpha custom")
    make(owner, name="Alpha servicer", source_type="servicer_snapshot", mappings={"L": column("loan_id")})
    make(owner, name="Beta")

    def names(**query: Any) -> list[str]:
        return [item["name"] for item in owner.get(PATH, params=query).json()["items"]]

    assert names(source_type="custom") == ["Beta", "Alpha custom"]
    assert names(search="alpha") == ["Alpha servicer", "Alpha custom"]
    assert names(search="alpha", source_type="custom") == ["Alpha custom"]
    assert names(search="serv", include_system=True) == ["Standard servicer snapshot", "Alpha servicer"]
    assert names(source_type="clo_holdings", include_system=True) == ["Standard CLO holdings"]
    for nothing in ("%", "_", "\\", "' OR 1=1 --", "zzz"):
        assert names(search=nothing) == []
    assert names(search="") == ["Beta", "Alpha servicer", "Alpha custom"]


@pytest.mark.parametrize("query", ["source_type=loans", "source_type=", "include_system=2", f"search={'x' * 201}"])
def test_a_query_that_does_not_fit(shared_owner: Member, query: str) -> None:
    refused(shared_owner.get(f"{PATH}?{query}"), 422, "Validation error")


# Changing -----------------------------------------------------------------------------------------------------------


def test_only_what_is_given_changes(owner: Member) -> None:
    before = owner.post(PATH, json=WHOLE).json()
    changes: list[dict[str, Any]] = [
        {"name": "Renamed"},
        {"description": None},
        {"transforms": []},
        {
            "validation_rules": [
                {"field": "payment_frequency", "rule": "required", "parameters": None, "message": "who?"}
            ]
        },
        {"mappings": {"Desk": {**column("payment_frequency"), "default": None}}},
    ]
    for at, change in enumerate(changes):
        answer = owner.patch(f"{PATH}/{before['id']}", json=change)
        assert answer.status_code == 200, answer.text
        after = answer.json()
        assert after == {**before, **change, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]
        assert answer.headers["etag"] == f'"{at + 2}"'
        assert owner.get(f"{PATH}/{before['id']}").json() == after
        before = after


def test_an_empty_change_is_none(stack: Stack, owner: Member, make: Make) -> None:
    mapping = make(owner)
    for change in ({}, {"source_type": "clo_holdings", "profile_id": "standard_clo", "id": "x"}):
        answer = owner.patch(f"{PATH}/{mapping['id']}", json=change, headers={"If-Match": '"1"'})
        assert (answer.status_code, answer.headers["etag"], answer.json()) == (200, '"1"', mapping)
        assert owner.patch(f"{PATH}/{mapping['id']}", json=change, headers={"If-Match": '"2"'}).status_code == 409
    written = stack.sql("SELECT action FROM audit_log WHERE resource_id = %s", [mapping["id"]])
    assert written == [("mapping.created",)]


def test_the_result_is_checked_as_a_whole(owner: Member, make: Make) -> None:
    mapping = make(owner, validation_rules=[{"field": "size", "rule": "positive"}])
    place = f"{PATH}/{mapping['id']}"
    without = {"mappings": {"Ref": column("ref")}}
    faults = refused(owner.patch(place, json=without), 400, "Invalid mapping configuration")
    assert faults[0]["loc"] == ["body", "validation_rules", "0", "field"]
    wrong = {"transforms": [{"field": "gone", "operation": "trim"}]}
    assert refused(owner.patch(place, json=wrong), 400, "Invalid mapping configuration")[0]["loc"] == [
        "body",
        "transforms",
        "0",
        "field",
    ]
    assert refused(owner.patch(place, json={"mappings": {}}), 400, "Invalid mapping configuration")
    assert owner.get(place).json() == mapping
    assert owner.patch(place, json={**without, "validation_rules": []}).status_code == 200


@pytest.mark.parametrize("change", [{"name": ""}, {"name": None}, {"mappings": None}, {"transforms": None}])
def test_what_may_not_be_null_or_empty(owner: Member, make: Make, change: dict[str, Any]) -> None:
    answer = owner.patch(f"{PATH}/{make(owner)['id']}", json=change)
    assert refused(answer, 422, "Validation error")[0]["loc"] == ["body", next(iter(change))]


def test_a_name_that_another_has(owner: Member, make: Make) -> None:
    make(owner, name="First")
    second = make(owner, name="Second")
    place = f"{PATH}/{second['id']}"
    refused(owner.patch(place, json={"name": "First"}), 409, "Mapping already exists")
    assert owner.patch(place, json={"name": "Second"}).status_code == 200, "its own name"


def test_a_stale_change_is_refused(owner: Member, make: Make) -> None:
    place = f"{PATH}/{make(owner)['id']}"
    seen = owner.get(place).headers["etag"]
    assert owner.patch(place, json={"name": "Newer"}, headers={"If-Match": seen}).status_code == 200
    stale = owner.patch(place, json={"name": "Older"}, headers={"If-Match": seen})
    refused(stale, 409, "Concurrent modification")
    assert owner.get(place).json()["name"] == "Newer"
    assert owner.patch(place, json={"name": "Any"}, headers={"If-Match": "*"}).status_code == 200


@pytest.mark.parametrize("mapping_id", list(PROFILES))
def test_built_in_ones_stay_as_they_are(shared_owner: Member, mapping_id: str) -> None:
    place = f"{PATH}/{mapping_id}"
    before = shared_owner.get(place).json()
    refused(shared_owner.patch(place, json={"name": "Mine"}), 403, "Cannot modify system mapping")
    refused(shared_owner.patch(place, json={}), 403, "Cannot modify system mapping")
    refused(shared_owner.delete(place), 403, "Cannot delete system mapping")
    assert shared_owner.get(place).json() == before


# Deleting -----------------------------------------------------------------------------------------------------------


def test_a_mapping_is_deleted_once(owner: Member, make: Make) -> None:
    mapping = make(owner, name="Gone")
    answer = owner.delete(f"{PATH}/{mapping['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    refused(owner.get(f"{PATH}/{mapping['id']}"), 404, "Mapping not found")
    refused(owner.delete(f"{PATH}/{mapping['id']}"), 404, "Mapping not found")
    assert owner.get(PATH).json()["total"] == 0
    assert make(owner, name="Gone")["id"] != mapping["id"]


# Who may ------------------------------------------------------------------------------------------------------------


def test_a_stranger_finds_nothing(owner: Member, stranger: Member, make: Make) -> None:
    mapping = make(owner)
    place = f"{PATH}/{mapping['id']}"
    sample = {"sample_data": [{"Ref": "x"}]}
    for answer in (
        stranger.get(place),
        stranger.get(f"{place}?resolve_profile=true"),
        stranger.patch(place, json={"name": "Mine"}),
        stranger.delete(place),
        stranger.post(f"{place}/validate", json=sample),
    ):
        refused(answer, 404, "Mapping not found")
    assert stranger.get(PATH, params={"search": mapping["name"]}).json()["items"] == []
    assert owner.get(place).json() == mapping


def test_what_each_role_may_do(owner: Member, make: Make) -> None:
    mapping = make(owner)
    sample = {"sample_data": []}
    for role in ("admin", "analyst"):
        someone = owner.invite(role)
        own = make(someone)
        assert someone.get(PATH).status_code == 200
        assert someone.post(f"{PATH}/{mapping['id']}/validate", json=sample).status_code == 200
        assert someone.patch(f"{PATH}/{mapping['id']}", json={}).status_code == 200
        assert someone.delete(f"{PATH}/{own['id']}").status_code == 204
    viewer = owner.invite("viewer")
    for answer in (
        viewer.get(PATH),
        viewer.get(f"{PATH}/standard_clo"),
        viewer.post(PATH, json=body()),
        viewer.post(f"{PATH}/standard_clo/validate", json=sample),
    ):
        refused(answer, 403, "Insufficient permissions")


def test_what_a_key_may_do(owner: Member, make: Make) -> None:
    mapping = make(owner)
    place, sample = f"{PATH}/{mapping['id']}", {"sample_data": []}
    reader, writer = owner.key("mappings:read"), owner.key("mappings:write")
    assert reader.get(place).status_code == 200
    assert reader.post(f"{place}/validate", json=sample).status_code == 200
    refused(reader.post(PATH, json=body()), 403, "Insufficient permissions")
    refused(reader.patch(place, json={}), 403, "Insufficient permissions")
    refused(reader.delete(place), 403, "Insufficient permissions")
    by_key = writer.post(PATH, json=body())
    assert (by_key.status_code, by_key.json()["created_by"]) == (201, owner.email)
    assert writer.delete(f"{PATH}/{by_key.json()['id']}").status_code == 204
    refused(writer.get(place), 403, "Insufficient permissions")
    refused(writer.post(f"{place}/validate", json=sample), 403, "Insufficient permissions")


def test_what_is_stored_is_what_was_given(stack: Stack, owner: Member) -> None:
    new_body = owner.post(PATH, json=WHOLE).json()
    [(mappings, transforms, rules, count)] = stack.sql(
        "SELECT mappings::text, transforms::text, validation_rules::text, field_count FROM mappings WHERE id = %s",
        [new_body["id"]],
    )
    assert json.loads(mappings) == new_body["mappings"]
    assert list(json.loads(mappings)) == list(new_body["mappings"])
    assert (json.loads(transforms), json.loads(rules)) == (new_body["transforms"], new_body["validation_rules"])
    assert count == 26


def test_a_name_that_is_nearly_a_built_in_ones_lists_the_right_ones(shared_owner: Member) -> None:
    for mapping_id, meant in (("standard_cl0", "did you mean standard_clo? "), ("nothing_like_it", "")):
        body = shared_owner.get(f"/api/v1/mappings/{mapping_id}").json()
        assert body["detail"] == "Mapping not found"
        assert [error["message"] for error in body["errors"]] == [
            f"{meant}built-in ones are standard_clo, standard_servicer; GET /api/v1/mappings lists the tenant's own"
        ]
