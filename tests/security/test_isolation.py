"""Tenant B asks with every identifier of tenant A, wherever the published document takes one: it is not there.

What the document says is the list of what is tried, so an endpoint or a field that is new is tried too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.platform.base.caller import KEY_SCOPES
from service.platform.route.api import Route
from tests.conftest import Member, Stack, register
from tests.contract.__main__ import unfolded
from tests.records import (
    BOOK,
    GUARDED,
    MAPPING,
    TEST_ID,
    asked_of,
    body_of,
    each,
    each_alone,
    error_of,
    identity,
    least_of,
    path_of,
    quoted,
    records_of,
    sent,
    small_book,
)

BY_NAME = {identity(row): row for row in GUARDED}
WITH_IDENTIFIER = [row for row in GUARDED if row.parameters]
NAMES = {
    "workbook_id", "result_id", "user_id", "key_id", "mapping_id", "tape_id", "job_id", "issue_id", "deal_id",
    "scenario_id", "trade_id", "base_workbook_id", "report_id", "run_id",
    "config_id", "sheet_id", "export_id", "batch_id", "webhook_id", "delivery_id", "notification_id", "alert_id",
    "insight_id", "session_id", "actor_id", "subject_id", "profile_id", "task_id", "threshold_id",
}  # fmt: skip
"""Fields that hold an identifier of a record; what else ends in `_id` is a name (a test's, say)."""
IN_PLACE_OF: dict[tuple[str, str], dict[str, str | None]] = {
    ("POST /api/v1/compliance/thresholds", "deal_id"): {"workbook_id": None},
    ("POST /api/v1/reports/generate", "tape_id"): dict.fromkeys(("workbook_id", "run_id", "suite"))
    | {"report_type": "reconciliation"},
    **{("PATCH /api/v1/reconciliation/issues", name): {"ids": None} for name in ("job_id", "tape_id", "workbook_id")},
}
"""Identifiers that a body gives in place of other ones, and what it says then."""
WITHIN = {
    ("POST /api/v1/ai/chat", "workbook_id"): "context",
    **{("PATCH /api/v1/reconciliation/issues", name): "filter" for name in ("job_id", "tape_id", "workbook_id")},
}
"""The field of the body that holds an identifier."""
FILTERS: dict[str, dict[str, Any]] = {
    "POST /api/v1/compliance/evidence/lookback": {"items": [], "total": 0},
    "PATCH /api/v1/reconciliation/issues workbook_id": {"updated": 0},
}
"""Bodies that choose among the caller's own records, and what is answered where another tenant's chooses none."""
NO_RECORDS = {"test_id", "profile_id", "template_id", "version_id", "loanx_id", "tenant_id"}
"""Names of what is built in, or counted within a record; a tenant is tried as a filter of every list."""

DOCUMENT = unfolded()


def fields_of(schema: dict[str, Any]) -> set[str]:
    """The names of a schema's fields, at any depth."""
    component = str(schema.get("$ref", "")).rpartition("/")[2]
    if component:
        return fields_of(DOCUMENT["components"]["schemas"][component])
    result = set(schema.get("properties", {}))
    for inner in (*schema.get("properties", {}).values(), *schema.get("allOf", ()), *schema.get("anyOf", ())):
        result |= fields_of(inner)
    if isinstance(schema.get("items"), dict):
        result |= fields_of(schema["items"])
    return result


def identifiers(part: Callable[[dict[str, Any]], set[str]]) -> set[tuple[str, str]]:
    """Operations with the identifiers that a part of their request takes, by the document."""
    return {
        (f"{method.upper()} {path}", name)
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
        for name in part(operation)
        if name.endswith("_id") and (name not in NO_RECORDS or (f"{{{name}}}" in path and name != "test_id"))
    }


def in_body(operation: dict[str, Any]) -> set[str]:
    contents = operation.get("requestBody", {}).get("content", {}).values()
    return {name for content in contents for name in fields_of(content["schema"])}


def in_query(operation: dict[str, Any]) -> set[str]:
    return {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"}


def in_path(operation: dict[str, Any]) -> set[str]:
    return {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"}


IN_BODIES, IN_QUERIES, IN_PATHS = map(identifiers, (in_body, in_query, in_path))
IN_BODIES -= {("POST /api/v1/admin/tenant/transfer-ownership", "user_id")}  # its caller is out afterwards
ids = [f"{operation} {name}" for operation, name in sorted(IN_BODIES)]

# Of a row, without what changes by itself: counts of calls.
OWN = "to_jsonb(row) - '{usage_count, last_used_at, used_at}'::text[]"
COUNTED = {"tenant_usage", "jobs"}
TABLES = """
SELECT columns.table_name FROM information_schema.columns JOIN pg_class ON oid = table_name::regclass
WHERE table_schema = 'public' AND column_name = 'tenant_id' AND relkind IN ('r', 'p') AND NOT relispartition
"""


def everything(stack: Stack, tenant_id: str) -> list[tuple[str, str]]:
    """All that the database holds of a tenant: each row with its table."""
    names = {name for (name,) in stack.sql(TABLES)}
    assert {"users", "workbooks", "mappings", "audit_log"} <= names
    rows = [
        f"SELECT '{name}', ({OWN})::text FROM {name} AS row WHERE tenant_id = %(tenant)s"
        for name in sorted(names - COUNTED)
    ]
    rows.append("SELECT 'tenants', to_jsonb(row)::text FROM tenants AS row WHERE id = %(tenant)s")
    return sorted(stack.sql(" UNION ALL ".join(rows), {"tenant": tenant_id}))


@pytest.fixture(scope="module")
def own(attacker: Member) -> dict[str, str]:
    """The attacker's own records.

    What a call must name besides the one that is not theirs.
    """
    return records_of(attacker)


@pytest.fixture
def untouched(stack: Stack, shared_owner: Member, resources: dict[str, str]) -> Any:
    """Whatever the test does, the other tenant is as it was."""
    before = everything(stack, shared_owner.tenant_id)
    yield
    assert everything(stack, shared_owner.tenant_id) == before


def test_the_records_are_all_that_the_document_names(resources: dict[str, str]) -> None:
    named = {name for _, name in IN_BODIES | IN_QUERIES | IN_PATHS}
    assert named == NAMES
    assert named <= set(resources)
    assert {identity(row) for row in WITH_IDENTIFIER} == {operation for operation, _ in IN_PATHS}


@each_alone(WITH_IDENTIFIER)
@pytest.mark.usefixtures("untouched")
def test_another_tenants_record_is_not_there(
    attacker: Member, resources: dict[str, str], own: dict[str, str], row: Route
) -> None:
    body = body_of(row, own) if row.body else None
    answers = [
        sent(attacker, row, path_of(row, **quoted(resources)), body),
        sent(attacker, row, path_of(row, **quoted(resources)), least_of(row)),
        sent(attacker, row, path_of(row, **{name: value.upper() for name, value in resources.items()}), body),
    ]
    for answer in answers:
        assert answer.status_code == 404, answer.text
        refusal = error_of(answer)
        assert (refusal["detail"], refusal["error_code"]) == (row.missing.detail, "RESOURCE_NOT_FOUND")


def naming(operation: str, name: str, identifier: str) -> dict[str, Any]:
    """The part of a body that names a record."""
    place = WITHIN.get((operation, name))
    return {name: identifier} if place is None else {place: {name: identifier}}


@pytest.mark.parametrize(("operation", "name"), sorted(IN_BODIES), ids=ids)
@pytest.mark.usefixtures("untouched")
def test_a_body_that_names_another_tenants_record(
    attacker: Member, resources: dict[str, str], own: dict[str, str], operation: str, name: str
) -> None:
    row = BY_NAME[operation]
    theirs = resources[name]
    attacker.parsed(own["workbook_id"])  # no test before works on it any more
    body = body_of(row, own) | naming(operation, name, own[name]) | IN_PLACE_OF.get((operation, name), {})
    assert sent(attacker, row, path_of(row, **quoted(own)), body).status_code == row.status, (
        "with an own record it is taken"
    )
    answer = sent(attacker, row, path_of(row, **quoted(own)), body | naming(operation, name, theirs))
    nothing = FILTERS.get(operation) or FILTERS.get(f"{operation} {name}")
    if nothing is not None:
        assert (answer.status_code, answer.json() | nothing) == (200, answer.json())
        return
    assert (answer.status_code, error_of(answer)["error_code"]) == (404, "RESOURCE_NOT_FOUND"), answer.text
    assert theirs not in answer.text


@each([row for row in GUARDED if row.method == "GET" and not row.parameters])
def test_a_list_holds_nothing_of_another_tenant(attacker: Member, resources: dict[str, str], row: Route) -> None:
    answer = attacker.get(row.path + asked_of(row))
    assert answer.status_code == 200
    assert not [(name, answer.text) for name, value in resources.items() if name in NAMES and value in answer.text]


@each([row for row in GUARDED if row.method == "GET" and not row.parameters and row.query is not None])
def test_no_filter_reaches_past_the_tenant(
    attacker: Member, shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    """A tenant is no filter: a query that names one is refused."""
    for name in ("tenant_id", "tenant", "organization_id", "X-Tenant-ID", "owner"):
        answer = attacker.get(f"{row.path}{asked_of(row)}&{name}={shared_owner.tenant_id}")
        if name == "tenant_id" and row.path == "/api/v1/dlq/entries":  # for operators; others have their own entries
            assert answer.status_code == 200
            continue
        assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", name]), answer.text
        assert not [value for field, value in resources.items() if field in NAMES and value in answer.text]


@pytest.mark.parametrize(("operation", "name"), sorted(IN_QUERIES), ids=[" ".join(pair) for pair in sorted(IN_QUERIES)])
@pytest.mark.usefixtures("untouched")
def test_a_query_that_names_another_tenants_record(
    attacker: Member, resources: dict[str, str], own: dict[str, str], operation: str, name: str
) -> None:
    row = BY_NAME[operation]
    answer = attacker.http.request(row.method, path_of(row, **quoted(own)), params={name: resources[name]})
    if answer.status_code != 404:
        assert answer.status_code == 200, answer.text
        assert not [value for field, value in resources.items() if field in NAMES and value in answer.text]
        body = answer.json() if answer.headers["content-type"] == "application/json" else {}
        assert body.get("total", 0) == 0


@pytest.mark.usefixtures("untouched")
def test_a_key_of_another_tenant_reaches_no_further_than_its_owner(attacker: Member, resources: dict[str, str]) -> None:
    key = attacker.key(*KEY_SCOPES)
    for row in WITH_IDENTIFIER:
        if row.access in KEY_SCOPES:
            answer = sent(key, row, path_of(row, **quoted(resources)), least_of(row))
            assert (answer.status_code, error_of(answer)["detail"]) == (404, row.missing.detail)


@pytest.mark.usefixtures("untouched")
def test_the_same_bytes_are_not_the_same_file(stack: Stack, resources: dict[str, str]) -> None:
    """Blobs are named by their content.

    Who uploads what another tenant has learns nothing of it.
    """
    stranger = register(stack.url)
    uploaded = stranger.post("/api/v1/workbooks/upload", files={"file": ("same.xlsx", small_book(BOOK))})
    assert uploaded.status_code == 201
    assert uploaded.json()["id"] != resources["workbook_id"]
    assert stranger.get("/api/v1/workbooks").json()["total"] == 1
    assert stranger.parsed(uploaded.json()["id"])["name"] == "same.xlsx"


def test_names_are_free_in_each_tenant(attacker: Member, resources: dict[str, str]) -> None:
    """A conflict over a name would tell that another tenant has it."""
    assert attacker.post("/api/v1/mappings", json=MAPPING).status_code in (201, 409)
    fresh = attacker.post(
        "/api/v1/compliance/thresholds", json={"test_id": TEST_ID, "threshold_value": 9.0, "threshold_type": "max"}
    )
    assert fresh.status_code == 201


@each(WITH_IDENTIFIER)
def test_it_is_there_for_its_own_tenant(
    stack: Stack, resources: dict[str, str], shared_owner: Member, row: Route
) -> None:
    """Else the test above would prove nothing.

    What removes a record proves it elsewhere.
    """
    if row.method == "DELETE":
        assert stack.sql("SELECT 1 FROM tenants WHERE id = %s", [shared_owner.tenant_id])
        return
    body = body_of(row, resources) if row.body else None
    answer = sent(shared_owner, row, path_of(row, **quoted(resources)), body)
    assert answer.status_code in (row.status, 409), answer.text
