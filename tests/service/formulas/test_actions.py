"""Formulas over HTTP: graphs, the record and its states, versions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import ANY

from tests.conftest import Member, Stack
from tests.rows import every
from tests.service.formulas.conftest import CYCLE, OTHER, SHARE, URL, create_config, edge, expression, node

# Graphs -------------------------------------------------------------------------------------------------------------


def test_a_graph_is_told_as_the_formula_that_it_comes_to(shared_owner: Member) -> None:
    answer = shared_owner.post(f"{URL}/validate", json={"graph": SHARE})
    assert (answer.status_code, answer.json()) == (
        200,
        {"valid": True, "errors": [], "warnings": [], "compiled_formula": "=[@Par]*[@Price]"},
    )


WRONG = [
    ({"nodes": [node("x", "pivot")]}, "x", "unknown_node_type"),
    ({"edges": [edge("a", "result", "c")]}, "result", "unknown_port"),
    ({"edges": CYCLE["edges"][2:]}, "result", "cycle"),
    ({"edges": SHARE["edges"][:1]}, "result", "missing_input"),
    ({"edges": [edge("a", "nobody", "a")]}, "a", "dangling_edge"),
    ({"nodes": [node("big", "constant", value="x" * 300)], "edges": []}, "big", "limit_exceeded"),
]


@every("change, node_id, code", WRONG)
def test_a_fault_names_its_node(shared_owner: Member, change: dict[str, Any], node_id: str, code: str) -> None:
    answer = shared_owner.post(f"{URL}/validate", json={"graph": SHARE | change})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert (body["valid"], body["compiled_formula"]) == (False, None)
    assert (node_id, code) in [(fault["node_id"], fault["code"]) for fault in body["errors"]]
    assert all(fault["message"] for fault in body["errors"])


def test_an_input_schema_tells_the_kinds_of_columns(shared_owner: Member) -> None:
    body = {"graph": expression("=a", a="Par"), "input_schema": {"Par": "colour"}}
    actual_body = shared_owner.post(f"{URL}/validate", json=body).json()
    assert (actual_body["valid"], "Par" in str(actual_body["errors"])) == (False, True)
    assert shared_owner.post(f"{URL}/validate", json=body | {"input_schema": {"Par": "number"}}).json()["valid"]


def test_a_graph_past_its_size_is_refused(shared_owner: Member) -> None:
    large = SHARE | {"nodes": [node("a", "column_ref", column="Par", note="x" * 70_000)]}
    for path, body in (
        ("/validate", {"graph": large}),
        ("", {"name": "Large", "template_id": "custom", "graph": large}),
        ("", {"name": "Large", "template_id": "custom", "graph": SHARE, "input_schema": {"Par": "x" * 17_000}}),
    ):
        answer = shared_owner.post(URL + path, json=body)
        assert (answer.status_code, "bytes" in answer.text) == (422, True)


def test_the_templates_are_formulas_as_they_stand(shared_owner: Member) -> None:
    body = shared_owner.get(f"{URL}/templates").json()
    assert body["total"] == len(body["items"]) == 10
    assert {"ratio", "weighted_average", "bucket", "flag", "lookup"} < {each["id"] for each in body["items"]}
    for item in body["items"]:
        validation = shared_owner.post(f"{URL}/validate", json={"graph": item["graph"]}).json()
        assert (validation["valid"], validation["warnings"]) == (True, []), item["id"]
        assert {used["node_id"] for used in item["inputs"]} <= {block["id"] for block in item["graph"]["nodes"]}
        assert (
            create_config(shared_owner, template_id=item["id"], graph=item["graph"], status="active")["graph"]
            == item["graph"]
        )


# The record ---------------------------------------------------------------------------------------------------------


def test_a_formula_has_its_fields_and_defaults(owner: Member) -> None:
    result = create_config(owner)
    assert result | {"id": 0, "created_at": 0, "updated_at": 0} == {
        "id": 0,
        "name": "Market value",
        "description": None,
        "template_id": "custom",
        "graph": SHARE,
        "input_schema": None,
        "output_schema": None,
        "mode": "builder",
        "status": "draft",
        "version_count": 1,
        "current_version": "v1",
        "created_by": owner.email,
        "created_at": 0,
        "updated_at": 0,
    }
    assert result["id"].startswith("frm_")
    assert owner.get(f"{URL}/{result['id']}").json() == result
    second = create_config(
        owner, input_schema={"b": "number", "a": "text"}, output_schema={"x": [1, None]}, mode="advanced"
    )
    assert list(second["input_schema"]) == ["b", "a"], "as it was written"
    page = owner.get(URL, params={"page_size": 1}).json()
    assert page == {"items": [second], "total": 2, "page": 1, "page_size": 1, "total_pages": 2}


REFUSED = [
    ({"name": ""}, ["body", "name"]),
    ({"name": " "}, ["body", "name"]),
    ({"name": "x" * 256}, ["body", "name"]),
    ({"description": "x" * 1001}, ["body", "description"]),
    ({"mode": "expert"}, ["body", "mode"]),
    ({"status": "ready"}, ["body", "status"]),
    ({"template_id": "nobodys"}, ["body", "template_id"]),
    ({"graph": {}}, ["body", "graph", "nodes"]),
    ({"graph": SHARE | {"nodes": [{"id": "a"}]}}, ["body", "graph", "nodes"]),
]


@every("fields, place", REFUSED)
def test_what_is_no_formula_is_refused_where_it_stands(
    shared_owner: Member, fields: dict[str, Any], place: list[str]
) -> None:
    body = {"name": "Formula", "template_id": "custom", "graph": SHARE} | fields
    answer = shared_owner.post(URL, json=body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["loc"][: len(place)] == place


UNFINISHED = SHARE | {"edges": SHARE["edges"][:1]}


def test_a_draft_may_be_unfinished_and_never_wrong(owner: Member) -> None:
    """What is missing stands in the way once it is to be active.

    What is wrong is not even kept.
    """
    draft = create_config(owner, graph={"nodes": [], "edges": []})
    path = f"{URL}/{draft['id']}"
    for graph in (CYCLE, SHARE | {"nodes": [node("x", "pivot")]}):
        for answer in (
            owner.post(URL, json={"name": "Wrong", "template_id": "custom", "graph": graph}),
            owner.patch(path, json={"graph": graph}),
        ):
            assert (answer.status_code, answer.json()["detail"]) == (422, "Invalid formula graph")
            assert answer.json()["errors"][0]["loc"][:3] == ["body", "graph", "nodes"]
    assert owner.patch(path, json={"graph": UNFINISHED}).json()["graph"] == UNFINISHED
    for answer in (
        owner.patch(path, json={"status": "active"}),
        owner.post(URL, json={"name": "Half", "template_id": "custom", "graph": UNFINISHED, "status": "active"}),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (422, "Invalid formula graph")
        fault = answer.json()["errors"][0]
        assert (fault["loc"][-1], fault["message"][:14]) == ("result", "missing_input:")
    changed = owner.patch(path, json={"graph": SHARE, "status": "active"}).json()
    assert (changed["status"], changed["graph"], changed["current_version"]) == ("active", SHARE, "v1")


def test_the_status_moves_one_way_and_back_from_the_archive(owner: Member) -> None:
    path = f"{URL}/{create_config(owner)['id']}"
    status = "draft"
    for wanted, allowed in (
        ("archived", False), ("draft", True), ("active", True), ("draft", False), ("active", True),
        ("archived", True), ("draft", False), ("active", True), ("archived", True),
    ):  # fmt: skip
        answer = owner.patch(path, json={"status": wanted})
        assert answer.status_code == (200 if allowed else 409), (status, wanted)
        if not allowed:
            assert answer.json()["detail"] == "Status change not allowed"
            continue
        status = wanted
        assert answer.json()["status"] == owner.get(path).json()["status"] == status
    for first in ("draft", "active", "archived"):
        assert create_config(owner, status=first)["status"] == first


def test_what_of_a_formula_may_change_depends_on_its_status(owner: Member) -> None:
    """A draft's graph without a version, an active one's by a version, nothing of an archived one."""
    formula = create_config(owner, description="first")
    path = f"{URL}/{formula['id']}"
    changed = owner.patch(path, json={"graph": OTHER, "name": "Other", "description": None}).json()
    expected = formula | {"graph": OTHER, "name": "Other", "description": None, "updated_at": changed["updated_at"]}
    assert changed == owner.get(path).json() == expected
    assert owner.get(f"{path}/versions").json()["items"][0]["graph"] == OTHER
    refusals = [(owner.put(f"{path}/versions", json={"graph": SHARE}), "Formula is not active")]
    owner.patch(path, json={"status": "active"})
    assert owner.patch(path, json={"name": "Renamed"}).json()["name"] == "Renamed"
    refusals.append((owner.patch(path, json={"graph": SHARE}), "Formula is not a draft"))
    read = owner.get(path).json()
    assert owner.patch(path, json=read).json() == read | {"updated_at": ANY}, "sent back as it was read"
    assert owner.patch(path, json={"status": "archived", "name": "Last"}).json()["name"] == "Last"
    read = owner.get(path).json()
    assert owner.patch(path, json=read).json() == read | {"updated_at": ANY}
    refusals.append((owner.patch(path, json={"name": "Late"}), "Formula is not active"))
    refusals.append((owner.patch(path, json={"graph": SHARE}), "Formula is not a draft"))
    refusals.append((owner.put(f"{path}/versions", json={"graph": SHARE}), "Formula is not active"))
    for answer, lines in refusals:
        assert (answer.status_code, answer.json()["detail"]) == (409, lines)
    again = owner.patch(path, json={"name": "Back", "status": "active"}).json()
    assert (again["name"], again["status"], again["graph"]) == ("Back", "active", OTHER)
    assert owner.patch(path, json={}).json() == again, "nothing given, nothing changed"


# Versions -----------------------------------------------------------------------------------------------------------


def test_changes_at_once_follow_each_other(owner: Member) -> None:
    """Each finds the graph of the one before it, and no graph is lost."""
    draft = f"{URL}/{create_config(owner)['id']}"
    active = f"{URL}/{create_config(owner, status='active')['id']}/versions"
    with ThreadPoolExecutor(8) as threads:
        for number in range(5):
            graph = expression(f"=a+{number}", a="Par")
            bodies = [{"graph": graph}, *({"name": f"Name {other_index}"} for other_index in range(5))]
            changes = [threads.submit(owner.patch, draft, json=body) for body in bodies]
            assert {change.result().status_code for change in changes} == {200}
            assert owner.get(draft).json()["graph"] == graph
        puts = [threads.submit(owner.put, active, json={"graph": OTHER}) for _ in range(12)]
        assert {put.result().json()["version_id"] for put in puts} == {f"v{number}" for number in range(2, 14)}


def test_a_put_is_a_new_version(owner: Member) -> None:
    formula = create_config(owner, status="active")
    path = f"{URL}/{formula['id']}"
    tag = owner.get(path).headers["etag"]
    answer = owner.put(f"{path}/versions", json={"graph": OTHER, "change_notes": "in percent"})
    assert answer.status_code == 201, answer.text
    assert answer.json() | {"created_at": 0} == {
        "version_id": "v2",
        "graph": OTHER,
        "change_notes": "in percent",
        "created_by": owner.email,
        "created_at": 0,
    }
    response = owner.get(path)
    assert (response.json()["version_count"], response.json()["current_version"], response.json()["graph"]) == (
        2,
        "v2",
        OTHER,
    )
    assert response.headers["etag"] != tag
    wrong = owner.put(f"{path}/versions", json={"graph": UNFINISHED})
    assert (wrong.status_code, wrong.json()["detail"]) == (422, "Invalid formula graph")
    page = owner.get(f"{path}/versions").json()
    assert [(item["version_id"], item["graph"]) for item in page["items"]] == [("v2", OTHER), ("v1", SHARE)]
    assert owner.get(f"{path}/runs").json() == {"items": [], "total": 0, "page": 1, "page_size": 20, "total_pages": 0}


def test_formulas_and_versions_have_their_limits(stack: Stack, owner: Member) -> None:
    formula = create_config(owner, status="active")
    with stack.another_api(CUSHION_MAX_FORMULAS="1") as url:
        answer = owner.http.post(f"{url}{URL}", json={"name": "One more", "template_id": "custom", "graph": SHARE})
    assert (answer.status_code, answer.json()["detail"]) == (403, "Formula limit exceeded")
    stack.sql(
        "INSERT INTO formula_versions SELECT tenant_id, config_id, n, graph, NULL, created_by FROM formula_versions,"
        " generate_series(2, 200) n WHERE config_id = %s",
        [formula["id"]],
    )
    stack.sql("UPDATE formula_configs SET version_count = 200 WHERE id = %s", [formula["id"]])
    answer = owner.put(f"{URL}/{formula['id']}/versions", json={"graph": SHARE})
    assert (answer.status_code, answer.json()["detail"]) == (403, "Formula limit exceeded")


def test_a_change_is_an_audit_entry(stack: Stack, owner: Member) -> None:
    formula = create_config(owner)
    path = f"{URL}/{formula['id']}"
    owner.patch(path, json={"status": "active"})
    owner.put(f"{path}/versions", json={"graph": OTHER})
    rows = stack.sql("SELECT action FROM audit_log WHERE resource_id = %s ORDER BY occurred_at", [formula["id"]])
    assert [action for (action,) in rows] == ["formula.created", "formula.updated", "formula.version_created"]
