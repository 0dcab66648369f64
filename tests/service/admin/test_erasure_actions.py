"""A person who is erased is named nowhere any more, and the audit log still verifies."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import openpyxl
import psycopg
import pytest
from redis import Redis

from service.platform.data.audit import breaks, parse
from tests.conftest import PASSWORD, Member, Stack, register, wait_until
from tests.records import ALERT, DEAL, MAPPING

USERS = "/api/v1/admin/users"
TEXTS = {
    # What the service could have written a user's e-mail into, and a request cannot have it write at will.
    "dead_letters": "INSERT INTO dead_letters (tenant_id, id, original_task_id, task_name, queue, arguments,"
    " exception_type, exception_message, traceback, retries_attempted)"
    " VALUES (%(tenant)s, %(id)s, 'task', 'x', 'default', '{}', 'X', %(text)s, %(text)s, 0)",
    "notifications": "INSERT INTO notifications (tenant_id, id, user_id, type, priority, title, message)"
    " VALUES (%(tenant)s, %(id)s, %(other)s, 'x', 'low', 'x', %(text)s)",
    "webhook_deliveries": "INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, message_id, event,"
    " payload, error)"
    " VALUES (%(tenant)s, %(id)s, %(id)s, 'msg', 'x', %(text)s, %(text)s)",
    "jobs": "INSERT INTO jobs (tenant_id, id, queue, name, arguments, asked_by, status,"
    " error, finished_at) VALUES (%(tenant)s,"
    " %(id)s, 'default', 'x', '{}', jsonb_build_object('user_email', %(text)s::text), 'failed', %(text)s, now())",
}


def everywhere(stack: Stack, text: str) -> list[str]:
    """The tables that hold a text.

    Each row of the whole database as text, and the bytes of its binary columns.
    """
    result = []
    with psycopg.connect(stack.database_url, autocommit=True) as owner:
        tables = owner.execute(
            "SELECT c.oid::regclass::text, array(SELECT attname FROM pg_attribute a WHERE a.attrelid = c.oid AND"
            " a.atttypid = 'bytea'::regtype AND a.attnum > 0 AND NOT a.attisdropped)"
            " FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace"
        ).fetchall()
        assert len(tables) > 50
        for table, binary in tables:
            hidden = "".join(f" OR position(%(bytes)s::bytea IN {name}) > 0" for name in binary)
            sql = f"SELECT count(*) FROM {table} t WHERE position(lower(%(text)s) IN lower(t::text)) > 0{hidden}"
            if owner.execute(sql, {"text": text, "bytes": text.encode()}).fetchone() != (0,):  # type: ignore[call-overload]
                result.append(table)
    return result


def in_redis(stack: Stack, text: str) -> list[bytes]:
    read: dict[bytes, Any] = {}
    with Redis.from_url(stack.redis_url) as redis:
        for key in redis.scan_iter():
            match redis.type(key):
                case b"string":
                    read[key] = redis.get(key)
                case b"hash":
                    read[key] = redis.hgetall(key)
                case b"zset":
                    read[key] = redis.zrange(key, 0, -1)
                case b"stream":
                    read[key] = redis.xrange(key)
                case b"list":
                    read[key] = redis.lrange(key, 0, -1)
                case b"set":
                    read[key] = redis.smembers(key)
    assert read
    return [key for key, value in read.items() if text.encode() in key or text in repr(value)]


def planted(owner: Member, stack: Stack, workbook: Path) -> Member:
    """A user who did what leaves an e-mail, wherever it may lie."""
    person = owner.invite("admin")
    response = person.post("/api/v1/mappings", json=MAPPING | {"name": "m"}, headers={"Idempotency-Key": uuid4().hex})
    assert response.status_code == 201, response.text
    person.post("/api/v1/deals", json=DEAL).raise_for_status()
    person.post(
        "/api/v1/webhooks", json={"url": "https://example.com/x", "events": ["workbook.uploaded"]}
    ).raise_for_status()
    key = person.key("workbooks:read")
    key.get("/api/v1/workbooks").raise_for_status()
    uploaded = person.uploaded(workbook)
    person.post("/api/v1/compliance/run", json={"workbook_id": uploaded["id"], "test_suite": "standard"})
    person.post("/api/v1/calculations/evaluate", json={"formula": "=1+1"}).raise_for_status()
    recipients = [person.email.upper(), "other@example.com", f"x{person.email}"]
    for to in (recipients, [person.email]):
        alert = ALERT | {
            "name": "a", "alert_type": "schedule",
            "conditions": {"schedule": "0 8 * * 1-5", "report_type": "compliance_summary"},
            "channels": [{"type": "email", "config": {"recipients": to}}],
        }  # fmt: skip
        answer = owner.post("/api/v1/alerts/configure", json=alert)
        assert answer.status_code == 201, answer.text
    login = {"username": person.email, "password": PASSWORD + "!"}
    assert httpx.post(stack.url + "/api/v1/auth/login", data=login).status_code == 401
    httpx.post(stack.url + "/api/v1/auth/password/forgot", json={"email": person.email}).raise_for_status()
    owner.patch(f"{USERS}/{person.user_id}", json={"full_name": "Petra Person"}).raise_for_status()
    for statement in TEXTS.values():
        value = {"tenant": owner.tenant_id, "id": str(uuid4()), "other": owner.user_id, "text": f"of {person.email}."}
        stack.sql(statement, value)
    return person


def exported(owner: Member) -> list[Any]:
    lines = owner.get("/api/v1/admin/audit-logs/export", params={"format": "jsonl"})
    assert lines.status_code == 200, lines.text
    return [parse(line) for line in lines.content.splitlines()]


def test_an_erased_person_is_named_nowhere(stack: Stack, tmp_path: Path) -> None:
    owner = register(stack.url)
    book = tmp_path / "book.xlsx"
    sheets = openpyxl.Workbook()
    for row in (("ID", "Par", "Price", "Rating"), ("A", 100, 99, "B"), ("B", 200, 98, "B")):
        sheets.worksheets[0].append(row)
    sheets.save(book)
    person = planted(owner, stack, book)
    token = f"erased-{person.user_id}"
    wait_until(lambda: not in_redis(stack, person.email) or True)
    before = everywhere(stack, person.email)
    assert {"users", "api_keys", "workbooks_", "mappings", "deals", "alerts", "idempotency_keys"} - set(before) <= {
        "workbooks_"
    }
    assert any(name.startswith("audit_log") for name in before)
    was = exported(owner)
    assert list(breaks(was)) == []

    # A job of theirs that is under way knows the e-mail, and may write it until it ends; one that waits need not.
    under_way, waits = uuid4().hex, uuid4().hex
    for job, status in ((under_way, "running"), (waits, "pending")):
        stack.sql(
            "INSERT INTO jobs (tenant_id, id, queue, name, arguments, status, lease_until, ready_at, asked_by) VALUES"
            " (%s, %s, 'default', 'none', '{}', %s, 'infinity', 'infinity',"
            " jsonb_build_object('user_id', %s::text, 'user_email', %s::text))",
            [owner.tenant_id, job, status, person.user_id, person.email],
        )
    # A calculation of theirs is counted, and becomes an entry of the audit log later.
    person.post("/api/v1/calculations/evaluate", json={"formula": "=1+1"}).raise_for_status()
    asked = owner.post(f"{USERS}/{person.user_id}/erase", json={"confirm": person.email.upper()})
    assert (asked.status_code, asked.json()) == (202, {"user_id": person.user_id, "token": token, "status": "erasing"})
    assert person.get("/api/v1/auth/me").status_code == 401
    wait_until(
        lambda: stack.sql("SELECT asked_by ->> 'user_email' = %s FROM jobs WHERE id = %s", [token, waits]) == [(True,)]
    )
    assert stack.sql("SELECT email FROM users WHERE id = %s", [person.user_id]) == [(person.email,)]
    stack.sql("DELETE FROM jobs WHERE id IN (%s, %s)", [under_way, waits])
    wait_until(lambda: stack.sql("SELECT email = %s FROM users WHERE id = %s", [token, person.user_id]) == [(True,)])
    # the longer address of somebody else stays, and is all that is left
    longer = f"x{person.email}"
    stack.sql(
        "UPDATE alerts SET channels = replace(channels::text, %s, 'nobody')::json WHERE tenant_id = %s",
        [longer, owner.tenant_id],
    )
    wait_until(lambda: everywhere(stack, person.email) == [], what="the erasure")
    assert everywhere(stack, "Petra Person") == []
    assert in_redis(stack, person.email) == []
    alerts = [alert["id"] for alert in owner.get("/api/v1/alerts").json()["items"]]
    channels = [owner.get(f"/api/v1/alerts/{alert}").json()["channels"] for alert in alerts]
    assert sorted(len(some) for some in channels) == [0, 1]
    ((kept,),) = [some for some in channels if some]
    assert kept["config"]["recipients"] == ["other@example.com", "nobody"]

    now = exported(owner)
    assert list(breaks(now)) == []
    assert [item.hash for item in now[: len(was)]] == [item.hash for item in was]
    theirs = [item for item in now if item.user_id == person.user_id]
    assert theirs
    calculated = [msgspec.json.decode(their.details) for their in theirs if their.action == "calculation.completed"]
    assert sum(details["calls"] for details in calculated) == 2
    assert {their.user_email for their in theirs} == {their.ip_address for their in theirs} - {None} | {token}
    assert owner.get("/api/v1/compliance/lookback").json()["chain"]["verified"] is True
    # A changed entry is told as before, a redacted one too.
    for index, item in enumerate(now):
        if item.user_id == person.user_id:
            changed = [*now[:index], msgspec.structs.replace(item, action="x.y"), *now[index + 1 :]]
            assert [result.sequence for result in breaks(changed)] == [item.sequence]
            break
    again = owner.post(f"{USERS}/{person.user_id}/erase", json={"confirm": token})
    assert (again.status_code, again.json()["status"]) == (202, "erased")


def test_who_came_back_is_not_erased_as_who_they_were(owner: Member) -> None:
    person = owner.invite("viewer")
    assert owner.delete(f"{USERS}/{person.user_id}").status_code == 204
    again = owner.post(
        f"{USERS}/invite", json={"email": person.email, "full_name": "P", "role": "viewer", "send_email": False}
    )
    assert again.status_code == 201, again.text
    answer = owner.post(f"{USERS}/{person.user_id}/erase", json={"confirm": person.email})
    assert (answer.status_code, answer.json()["detail"]) == (409, "User already exists")


@pytest.mark.parametrize(
    ("whom", "status", "message"),
    [
        ("other", 422, "The confirmation is not the user's e-mail"),
        ("self", 403, "Cannot remove owner"),
        ("nobody", 404, "User not found"),
    ],
)
def test_who_is_not_erased(shared_owner: Member, whom: str, status: int, message: str) -> None:
    user, confirm = {
        "other": (shared_owner.user_id, "x@example.com"),
        "self": (shared_owner.user_id, shared_owner.email),
        "nobody": (str(uuid4()), "x@example.com"),
    }[whom]
    answer = shared_owner.post(f"{USERS}/{user}/erase", json={"confirm": confirm})
    assert (answer.status_code, answer.json()["detail"]) == (status, message)
