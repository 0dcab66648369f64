"""Channels over HTTP: what each must have, and that nothing secret of them is read again."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tests.conftest import Member, Stack
from tests.service.alerts.conftest import BODY, CHAT, EMAIL, HOOK, TOKEN, URL, alerted

ELSEWHERE = "https://example.net/in"


def _as(channel: dict[str, Any], **changed: Any) -> dict[str, Any]:
    config = channel["config"] | changed
    return {"type": channel["type"], "config": {name: it for name, it in config.items() if it is not ...}}


def test_what_a_channel_must_have(owner: Member, stranger: Member) -> None:
    people = {"type": "in_app", "config": {"user_ids": [owner.user_id]}}
    many = [f"a{number}@example.com" for number in range(51)]
    fit = [
        _as(EMAIL, cc=many[:49], subject_prefix="[CLO]", include_details=False),
        _as(EMAIL, cc=None, recipients=["müller@bücher.example"]),
        _as(HOOK, method="PUT", headers=None, retry_count=10),
        _as(CHAT, username="Cushion", icon_emoji=":bell:", mention_users=["U024BE7LH", "@ann.b"]),
        _as(people, priority="urgent"),
    ]
    unfit: list[tuple[dict[str, Any], str]] = [
        (_as(EMAIL, recipients=...), "recipients"),
        (_as(EMAIL, recipients=[]), "recipients"),
        (_as(EMAIL, recipients="desk@example.com"), "recipients"),
        (_as(EMAIL, recipients=many), "recipients"),
        (_as(EMAIL, cc=many[:50]), "recipients"),
        (_as(EMAIL, recipients=["desk"]), "recipients"),
        (_as(EMAIL, recipients=["desk@example.com\r\nBcc: x@example.com"]), "recipients"),
        (_as(EMAIL, recipients=["Desk <desk@example.com>"]), "recipients"),
        (_as(EMAIL, cc=["=?utf-8?q?a=0D?=@example.com"]), "cc"),
        (_as(EMAIL, cc=["a@example.com,b@example.com"]), "cc"),
        (_as(EMAIL, subject_prefix="[CLO]\nBcc: x@example.com"), "subject_prefix"),
        (_as(EMAIL, subject_prefix="=?utf-8?q?=0A?="), "subject_prefix"),
        (_as(EMAIL, include_details="yes"), "include_details"),
        (_as(EMAIL, recipient=["desk@example.com"]), "recipient"),
        (_as(HOOK, url=...), "url"),
        (_as(HOOK, url=""), "url"),
        (_as(HOOK, url="ftp://example.com/"), "url"),
        (_as(HOOK, url="https://u:p@example.com/"), "url"),
        (_as(HOOK, url="https://example.com/a b"), "url"),
        (_as(HOOK, url=f"https://example.com/{'x' * 2048}"), "url"),
        (_as(HOOK, url="https://example.com/***"), "url"),
        (_as(HOOK, method="GET"), "method"),
        (_as(HOOK, headers={"X-A": "a\r\nX-B: b"}), "headers"),
        (_as(HOOK, headers={"Host": "example.com"}), "headers"),
        (_as(HOOK, headers={"X-A": "***"}), "headers"),
        (_as(HOOK, headers={f"X-{number}": "" for number in range(21)}), "headers"),
        (_as(HOOK, retry_count=11), "retry_count"),
        (_as(HOOK, retry_count=-1), "retry_count"),
        (_as(CHAT, webhook_url=...), "webhook_url"),
        (_as(CHAT, url="https://example.com/"), "url"),
        (_as(CHAT, username="a\nb"), "username"),
        (_as(CHAT, icon_emoji="bell"), "icon_emoji"),
        (_as(CHAT, mention_users=["a b"]), "mention_users"),
        (_as(people, user_ids=...), "user_ids"),
        (_as(people, user_ids=[]), "user_ids"),
        (_as(people, user_ids=["me"]), "user_ids"),
        (_as(people, user_ids=[owner.user_id, stranger.user_id]), "user_ids"),
        (_as(people, user_ids=[str(uuid4())]), "user_ids"),
        (_as(people, priority="shrill"), "priority"),
    ]
    made = alerted(owner, channels=fit)
    assert [one["type"] for one in made["channels"]] == [one["type"] for one in fit]
    failing = []
    for channel, name in unfit:
        body = {"channels": [EMAIL, channel]}
        for answer in (
            owner.post(f"{URL}/configure", json=BODY | body),
            owner.patch(f"{URL}/{made['id']}", json=body),
        ):
            told = answer.json()
            place = ["body", "channels", "1", "config", name]
            if (answer.status_code, told.get("detail")) != (422, "Channel configuration error") or place != told[
                "errors"
            ][0]["loc"][:5]:
                failing.append((channel, answer.status_code, told))
    assert failing == []
    assert owner.get(f"{URL}/{made['id']}").json() == made


def test_private_addresses_are_refused_unless_they_are_permitted(stack: Stack, owner: Member) -> None:
    private = [
        "http://example.com/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/",
        ELSEWHERE[:-3] + ":22/",
    ]
    alerted(owner, channels=[_as(HOOK, url=url) for url in private])
    with stack.another_api(CUSHION_ALLOW_PRIVATE_WEBHOOKS="off") as url:
        for refused in private:
            for channel in (_as(HOOK, url=refused), _as(CHAT, webhook_url=refused)):
                answer = owner.http.post(f"{url}{URL}/configure", json=BODY | {"channels": [channel]})
                assert (answer.status_code, answer.json()["detail"]) == (422, "Channel configuration error"), refused


def test_what_is_secret_is_masked_and_sealed(stack: Stack, owner: Member) -> None:
    short = {"type": "chat_webhook", "config": {"webhook_url": "https://example.org:8443/abc?d"}}
    made = alerted(owner, channels=[HOOK, CHAT, short])
    assert [one["config"] for one in made["channels"]] == [
        {"url": "https://example.com/***1a2b", "headers": {"X-Token": "***"}},
        {"webhook_url": "https://example.org/***1a2b", "channel": "#deals"},
        {"webhook_url": "https://example.org:8443/***"},
    ]
    one = f"{URL}/{made['id']}"
    told = [owner.get(one), owner.patch(one, json={"name": "x"}), owner.get("/api/v1/admin/audit-logs")]
    assert all(answer.status_code == 200 and TOKEN not in answer.text for answer in told)
    for table in ("alerts", "audit_log", "idempotency_keys"):
        rows = stack.sql(f"SELECT row::text FROM {table} AS row WHERE tenant_id = %s", [owner.tenant_id])
        assert TOKEN not in str(rows), table
