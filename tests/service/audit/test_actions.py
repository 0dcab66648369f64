"""GET /admin/audit-logs and its export.

Who may, what comes, in which order, and that nothing else does.
"""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from service.platform.data.audit import breaks, parse
from tests.conftest import Member, Stack, register

LOGS = "/api/v1/admin/audit-logs"
EXPORT = f"{LOGS}/export"
FIELDS = {
    *("id", "timestamp", "user_id", "user_email", "action", "resource_type", "resource_id", "resource_name"),
    *("ip_address", "user_agent", "details", "api_key_id", "request_id", "sequence", "hash"),
}


def listed(member: Member, **query: Any) -> dict[str, Any]:
    answer = member.get(LOGS, params=query)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def refused(answer: httpx.Response, status: int, detail: str) -> None:
    assert (answer.status_code, answer.json()["detail"]) == (status, detail), answer.text


def append(stack: Stack, tenant_id: str, *entries: dict[str, Any]) -> None:
    """Entries as the service appends them."""
    whole = [
        {"id": str(uuid4()), "occurred_at": "2026-01-02T00:00:00Z", "action": "a.b", "details": {}} | e for e in entries
    ]
    with psycopg.connect(stack.database_url) as connection:
        connection.execute("SELECT set_config('cushion.tenant', %s, true)", [tenant_id])
        connection.execute("SELECT append_audit(%s, %s)", [tenant_id, json.dumps(whole)])


@pytest.fixture(scope="module")
def team(stack: Stack) -> Member:
    """A tenant with a few days behind it; its tests read only."""
    owner = register(stack.url)
    days = [
        {"occurred_at": f"2026-03-{day:02}T23:59:59.999999Z", "action": action, "resource_type": kind, "user_id": user}
        for day, action, kind, user in [
            (1, "workbook.uploaded", "workbook", owner.user_id),
            (2, "workbook.deleted", "workbook", None),
            (3, "user.updated", "user", owner.user_id),
        ]
    ]
    append(stack, owner.tenant_id, *days)
    return owner


# The list -------------------------------------------------------------------------------------------------------------


def test_an_entry_tells_who_did_what_to_which_record_from_where(stack: Stack, owner: Member) -> None:
    name = {"X-Request-ID": "audited-1", "User-Agent": "browser/1"}
    response = owner.post("/api/v1/admin/api-keys", json={"name": "k", "permissions": ["workbooks:read"]}, headers=name)
    page = listed(owner)
    assert {name: page[name] for name in ("page", "page_size", "total_pages")} == {
        "page": 1, "page_size": 50, "total_pages": 1
    }  # fmt: skip
    assert page["total"] == len(page["items"]) == 2
    entry, registered = page["items"]
    assert entry.keys() == FIELDS
    assert datetime.now(UTC) - datetime.fromisoformat(entry["timestamp"]) < timedelta(minutes=5)
    assert entry["timestamp"].endswith("Z")
    answer = ("user_id", "user_email", "action", "resource_type", "resource_id", "resource_name", "request_id")
    assert [entry[field] for field in answer] == [
        *(owner.user_id, owner.email, "api_key.created", "api_key", response.json()["id"], "k", "audited-1")
    ]
    assert (entry["ip_address"], entry["user_agent"], entry["api_key_id"]) == ("127.0.0.1", "browser/1", None)
    assert entry["details"]["permissions"] == ["workbooks:read"]
    assert (registered["action"], registered["sequence"], entry["sequence"]) == ("user.registered", 1, 2)
    stored = stack.sql("SELECT encode(hash, 'hex') FROM audit_log WHERE id = %s", [entry["id"]])
    assert stored == [(entry["hash"],)]


def test_pages_are_of_fifty_and_of_a_hundred_at_most(stack: Stack, owner: Member) -> None:
    append(stack, owner.tenant_id, *({"action": f"a.{number}"} for number in range(119)))
    first, third = listed(owner), listed(owner, page=3)
    assert (len(first["items"]), len(third["items"]), first["total"], first["total_pages"]) == (50, 20, 120, 3)
    assert len(listed(owner, page_size=100)["items"]) == 100
    seen = [item["id"] for page in (1, 2, 3) for item in listed(owner, page=page)["items"]]
    assert len(set(seen)) == 120
    for wrong in ({"page_size": 101}, {"page_size": 0}, {"page": 0}, {"page": "x"}):
        refused(owner.get(LOGS, params=wrong), 422, "Validation error")


def test_the_newest_comes_first_and_of_one_moment_the_last_written(stack: Stack, owner: Member) -> None:
    moments = ["2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z", "2031-01-01T00:00:00Z", "2029-01-01T00:00:00Z"]
    append(stack, owner.tenant_id, *({"occurred_at": at, "action": f"a.{n}"} for n, at in enumerate(moments)))
    assert [item["action"] for item in listed(owner)["items"]] == ["a.2", "a.1", "a.0", "a.3", "user.registered"]


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ({"action": "workbook.deleted"}, ["workbook.deleted"]),
        ({"action": "workbook"}, []),
        ({"resource_type": "workbook"}, ["workbook.deleted", "workbook.uploaded"]),
        ({"end_date": "2026-03-02"}, ["workbook.deleted", "workbook.uploaded"]),
        ({"start_date": "2026-03-02", "end_date": "2026-03-02"}, ["workbook.deleted"]),
        ({"end_date": "2026-03-01T23:59:59.999999Z"}, ["workbook.uploaded"]),
        ({"end_date": "2026-03-01T23:59:59.999998Z"}, []),
        ({"start_date": "2026-03-01T23:59:59.999999Z", "end_date": "2026-03-02T00:00:00+00:00"}, ["workbook.uploaded"]),
        ({"start_date": "2026-03-03T01:00:00+01:00", "end_date": "2026-03-03"}, ["user.updated"]),
        ({"resource_type": "workbook", "start_date": "2026-03-02", "action": "workbook.deleted"}, ["workbook.deleted"]),
    ],
)
def test_filters(team: Member, query: dict[str, str], actions: list[str]) -> None:
    page = listed(team, **query)
    assert [item["action"] for item in page["items"]] == actions
    assert page["total"] == len(actions)


def test_a_filter_by_user(team: Member) -> None:
    mine = listed(team, user_id=team.user_id, end_date="2026-03-31")
    assert [item["action"] for item in mine["items"]] == ["user.updated", "workbook.uploaded"]
    assert listed(team, user_id=str(uuid4()))["total"] == 0


@pytest.mark.parametrize(
    "query",
    [
        {"user_id": "me"},
        {"start_date": "yesterday"},
        {"end_date": "2026-02-30"},
        {"action": "a" * 101},
        {"action": "\0"},
    ],
)
@pytest.mark.parametrize("path", [LOGS, EXPORT])
def test_a_filter_that_is_none_is_refused(team: Member, path: str, query: dict[str, str]) -> None:
    refused(team.get(path, params=query), 422, "Validation error")


# Who may --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [LOGS, EXPORT])
def test_only_the_administration_may_read(stack: Stack, owner: Member, path: str) -> None:
    assert owner.invite("admin").get(path).status_code == 200
    for second in (owner.invite("analyst"), owner.invite("viewer"), owner.key("admin:users", "workbooks:read")):
        refused(second.get(path), 403, "Insufficient permissions")
    refused(httpx.get(stack.url + path), 401, "Not authenticated")


@pytest.mark.parametrize("tier", ["free", "standard", "premium"])
def test_below_the_enterprise_tier_nobody_may(stack: Stack, tier: str) -> None:
    with stack.another_api(CUSHION_DEFAULT_TIER=tier) as url:
        owner = register(url)
        for path in (LOGS, EXPORT):
            refused(owner.get(path), 403, "Enterprise tier required")
    assert stack.sql("SELECT action FROM audit_log WHERE tenant_id = %s", [owner.tenant_id]) == [("user.registered",)]


def test_nobody_sees_another_tenants_entries(team: Member, stranger: Member) -> None:
    assert listed(stranger, user_id=team.user_id)["total"] == 0
    assert {item["user_email"] for item in listed(stranger)["items"]} == {stranger.email}
    text = stranger.get(EXPORT, params={"format": "jsonl"}).text
    assert team.tenant_id not in text
    assert team.email not in text


# The export -----------------------------------------------------------------------------------------------------------


def test_json_lines_hold_the_whole_chain_the_oldest_first(stack: Stack, owner: Member) -> None:
    append(stack, owner.tenant_id, *({"action": f"a.{n}", "details": {"n": n, "é": [1.5]}} for n in range(2_500)))
    answer = owner.get(EXPORT, params={"format": "jsonl"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert answer.headers["content-disposition"].startswith('attachment; filename="audit-log-')
    assert answer.headers["content-disposition"].endswith('.jsonl"')
    records = [parse(line) for line in answer.content.splitlines()]
    assert [record.sequence for record in records] == list(range(1, 2_502))
    assert list(breaks(records)) == []
    assert bytes(records[7].details) == b'{"n": 6, "\\u00e9": [1.5]}'
    assert records[0].previous_hash == "00" * 32


def test_an_export_is_itself_an_entry_and_not_of_its_own_lines(owner: Member) -> None:
    assert len(owner.get(EXPORT, params={"format": "jsonl", "action": "user.registered"}).content.splitlines()) == 1
    (entry,) = listed(owner, action="audit_log.exported")["items"]
    assert (entry["resource_type"], entry["resource_id"]) == ("audit_log", owner.tenant_id)
    assert entry["details"] == {"entries": 1, "action": "user.registered", "format": "jsonl"}
    assert len(owner.get(EXPORT, params={"format": "jsonl"}).content.splitlines()) == 2


def test_a_filtered_export_has_what_the_filtered_list_has(team: Member) -> None:
    for query in ({"resource_type": "workbook"}, {"start_date": "2026-03-02", "end_date": "2026-03-03"}):
        lines = team.get(EXPORT, params={"format": "jsonl", **query}).content.splitlines()
        records = [parse(line) for line in lines]
        assert [record.id for record in records][::-1] == [item["id"] for item in listed(team, **query)["items"]]
        assert list(breaks(records, gaps=True)) == []


def test_csv_is_the_default_and_safe_to_open(stack: Stack, owner: Member) -> None:
    harmful = ["=1+1", "+1", "-x", "@x", "\tx", " =x", "\uff1d1", 'plain, "quoted"', "é\nnew line", "-1"]
    append(stack, owner.tenant_id, *({"resource_name": name, "details": {"a": name}} for name in harmful))
    answer = owner.get(EXPORT)
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"].endswith('.csv"')
    header, *rows = list(csv.reader(io.StringIO(answer.content.decode(), newline="")))
    assert header == [
        *("tenant_id", "sequence", "id", "timestamp", "user_id", "user_email", "api_key_id", "action"),
        *("resource_type", "resource_id", "resource_name", "ip_address", "user_agent", "request_id", "details"),
        *("previous_hash", "hash"),
    ]
    names = [row[header.index("resource_name")] for row in rows[1:]]
    assert names == [*(f"'{name}" for name in harmful[:7]), *harmful[7:]]
    assert [json.loads(row[header.index("details")])["a"] for row in rows[1:]] == harmful
    assert rows[0][header.index("action")] == "user.registered"


def test_csv_is_safe_where_a_spreadsheet_parts_cells_by_something_else_than_commas(stack: Stack, owner: Member) -> None:
    """Such a one takes no notice of the quotes around a cell in the middle of a line."""
    names = ["x;=1+1;", "x\n=1+1", "x\r@x", "x\t-1", "x;;+1", "x;\uff1d1", "a; b; c-1 = 2, @me"]
    append(stack, owner.tenant_id, *({"resource_name": name, "details": {"a": name}} for name in names))
    header, *rows = list(csv.reader(io.StringIO(owner.get(EXPORT).content.decode(), newline="")))
    written = ["x;'=1+1;", "x\n'=1+1", "x\r'@x", "x\t'-1", "x;;'+1", "x;'\uff1d1", names[-1]]
    assert [row[header.index("resource_name")] for row in rows[1:]] == written
    details = [row[header.index("details")] for row in rows[1:]]
    assert [json.loads(text)["a"] for text in details] == ["x;'=1+1;", *names[1:4], "x;;'+1", *names[5:]]


def test_every_character_survives_the_export_and_the_check(stack: Stack, owner: Member) -> None:
    odd = "".join(map(chr, [*range(1, 160), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0x1F600, 0x10FFFF]))
    fields = ("user_email", "resource_type", "resource_id", "resource_name", "ip_address", "user_agent", "request_id")
    append(stack, owner.tenant_id, {"details": {odd: odd}, **dict.fromkeys(fields, odd)}, {})
    lines = owner.get(EXPORT, params={"format": "jsonl"}).content.split(b"\n")
    records = [parse(line) for line in lines[:-1]]
    assert (len(records), lines[-1]) == (3, b"")
    assert list(breaks(records)) == []
    assert [getattr(records[1], field) for field in fields] == [odd] * len(fields)
    rows = list(csv.reader(io.StringIO(owner.get(EXPORT).content.decode(), newline="")))
    assert [len(row) for row in rows] == [len(rows[0])] * 5


def test_an_export_of_nothing_is_empty(owner: Member) -> None:
    nothing = {"action": "no.such"}
    assert owner.get(EXPORT, params={"format": "jsonl", **nothing}).content == b""
    assert len(owner.get(EXPORT, params=nothing).content.splitlines()) == 1


def test_an_export_past_the_limit_is_refused_and_says_so(stack: Stack, owner: Member) -> None:
    append(stack, owner.tenant_id, {}, {})
    with stack.another_api(CUSHION_MAX_AUDIT_EXPORT_ROWS="3") as url:
        headers = owner.http.headers
        assert len(httpx.get(url + EXPORT, headers=headers, params={"format": "jsonl"}).content.splitlines()) == 3
        answer = httpx.get(url + EXPORT, headers=headers)  # the export above is the fourth
        refused(answer, 422, "Validation error")
        assert "3" in answer.json()["errors"][0]["message"]
        assert "max_audit_export_rows" in answer.json()["errors"][0]["message"]
        assert httpx.get(url + EXPORT, headers=headers, params={"action": "a.b"}).status_code == 200


def test_an_unknown_format_is_refused(team: Member) -> None:
    refused(team.get(EXPORT, params={"format": "xlsx"}), 422, "Validation error")
