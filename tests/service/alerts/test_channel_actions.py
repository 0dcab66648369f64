"""Channels over HTTP.

What each must have, and that nothing secret of them is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from tests.conftest import Member, Stack
from tests.service.alerts.conftest import BODY, CHAT, EMAIL, HOOK, TOKEN, URL, alerted
from tests.service.webhooks.conftest import Receiver, receiver  # noqa: F401 - a fixture

ELSEWHERE = "https://example.net/in"


def _as(channel: dict[str, Any], **changed: Any) -> dict[str, Any]:
    config = channel["config"] | changed
    return {"type": channel["type"], "config": {name: it for name, it in config.items() if it is not ...}}


def test_what_a_channel_must_have(owner: Member, stranger: Member) -> None:
    people = {"type": "in_app", "config": {"user_ids": [owner.user_id]}}
    guest = {"email": f"guest-{uuid4().hex}@example.com", "full_name": "G", "role": "viewer"}
    invited = owner.post("/api/v1/admin/users/invite", json=guest).json()["id"]
    many = [f"a{number}@example.com" for number in range(21)]
    fit = [
        _as(EMAIL, cc=many[:19], subject_prefix="[CLO]", include_details=False),
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
        (_as(EMAIL, cc=many[:20]), "recipients"),
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
        (_as(people, user_ids=[owner.user_id, invited]), "user_ids"),
        (_as(people, priority="shrill"), "priority"),
    ]
    alert = alerted(owner, channels=fit)
    assert [item["type"] for item in alert["channels"]] == [item["type"] for item in fit]
    failing = []
    for channel, name in unfit:
        body = {"channels": [EMAIL, channel]}
        for answer in (
            owner.post(f"{URL}/configure", json=BODY | body),
            owner.patch(f"{URL}/{alert['id']}", json=body),
        ):
            actual_body = answer.json()
            place = ["body", "channels", "1", "config", name]
            if (answer.status_code, actual_body.get("detail")) != (
                422,
                "Channel configuration error",
            ) or place != actual_body["errors"][0]["loc"][:5]:
                failing.append((channel, answer.status_code, actual_body))
    assert failing == []
    assert owner.get(f"{URL}/{alert['id']}").json() == alert


def test_a_deployment_refuses_private_addresses_and_too_many_alerts(stack: Stack, owner: Member) -> None:
    private = [
        "http://example.com/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://169.254.169.254/",
        ELSEWHERE[:-3] + ":22/",
    ]
    alerted(owner, channels=[_as(HOOK, url=url) for url in private])
    with stack.another_api(CUSHION_ALLOW_PRIVATE_WEBHOOKS="off", CUSHION_MAX_ALERTS="1") as url:
        for refused in private:
            for channel in (_as(HOOK, url=refused), _as(CHAT, webhook_url=refused)):
                answer = owner.http.post(f"{url}{URL}/configure", json=BODY | {"channels": [channel]})
                assert (answer.status_code, answer.json()["detail"]) == (422, "Channel configuration error"), refused
        answer = owner.http.post(f"{url}{URL}/configure", json=BODY)
        assert (answer.status_code, answer.json()["detail"]) == (403, "Alert limit exceeded")


def test_what_is_secret_is_masked(owner: Member) -> None:
    short = [
        {"type": "chat_webhook", "config": {"webhook_url": f"https://example.org:8443/{path}"}}
        for path in ("abc?d", "services/hooks?token=SECRET", "services/teams/and/hooks/123456789012345")
    ]
    alert = alerted(owner, channels=[HOOK, CHAT, *short])
    assert [channel["config"] for channel in alert["channels"]] == [
        {"url": "https://example.com/***1a2b", "headers": {"X-Token": "***"}},
        {"webhook_url": "https://example.org/***1a2b", "channel": "#deals"},
        *[{"webhook_url": "https://example.org:8443/***"}] * 3,
    ]
    item = f"{URL}/{alert['id']}"
    lines = [owner.get(item), owner.patch(item, json={"name": "x"}), owner.get("/api/v1/admin/audit-logs")]
    assert all(answer.status_code == 200 and TOKEN not in answer.text for answer in lines)


def _hook(url: str, token: str) -> dict[str, Any]:
    return {"type": "webhook", "config": {"url": f"{url}?{TOKEN}", "headers": {"X-Token": token}, "retry_count": 0}}


def test_masks_that_are_sent_back_keep_what_is_behind_them(
    stack: Stack,
    owner: Member,
    receiver: Receiver,  # noqa: F811 - the fixture of that name
) -> None:
    first, second = (_hook(receiver.url(f"/20{number}"), f"{TOKEN}-{number}") for number in range(2))
    chat = {"type": "chat_webhook", "config": {"webhook_url": receiver.url(f"/202?{TOKEN}")}}
    alert = alerted(owner, channels=[first, second, chat], enabled=False)
    path = f"{URL}/{alert['id']}"

    def changed(channels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        answer = owner.patch(path, json={"channels": channels})
        assert answer.status_code == 200, answer.text
        assert TOKEN not in answer.text
        lines: list[dict[str, Any]] = answer.json()["channels"]
        return lines

    def sent() -> set[tuple[str, str | None]]:
        receiver.got.clear()
        answer = owner.post(f"{path}/test")
        assert answer.status_code == 200, answer.text
        body = answer.json()
        channels = owner.get(path).json()["channels"]
        assert [row["channel_id"] for row in body["results"]] == [channel["id"] for channel in channels]
        assert {(row["status"], row["channel"]) for row in body["results"]} <= {
            ("delivered", "webhook"), ("delivered", "chat_webhook"),
        }  # fmt: skip
        return {(message.path, message.headers.get("x-token")) for message in receiver.got}

    whole = {
        (f"/200?{TOKEN}", f"{TOKEN}-0"), (f"/201?{TOKEN}", f"{TOKEN}-1"), (f"/202?{TOKEN}", None),
    }  # fmt: skip
    assert sent() == whole
    a, b, c = alert["channels"]
    assert changed([c, b, a]) == [c, b, a], "by their identifiers"
    assert sent() == whole
    assert changed([{**channel, "id": None} for channel in (b, c, a)]) == [b, c, a], "by their masks"
    assert sent() == whole
    new = a | {"config": a["config"] | {"headers": {"X-Token": "***", "X-More": "2"}, "retry_count": 5}}
    lines = changed([new])
    assert lines[0]["config"]["headers"] == {"X-Token": "***", "X-More": "***"}
    assert len(sent()) == 1
    assert receiver.got[0].headers["x-more"] == "2"
    kept = owner.get(path).json()
    port = receiver.server_address[1]
    for config, place in (
        ({"url": f"http://localhost:{port}/200", "headers": {"X-Token": "***"}}, "headers"),
        ({"url": receiver.url("/200"), "headers": {"X-Token": "***"}}, "headers"),
        ({"url": a["config"]["url"], "headers": {"X-Other": "***"}}, "headers"),
        ({"url": a["config"]["url"].replace("1a2b", "9z9z")}, "url"),
        ({"url": "***"}, "url"),
    ):
        for more in ({}, {"id": a["id"]}):
            answer = owner.patch(path, json={"channels": [{"type": "webhook", "config": config} | more]})
            assert answer.status_code == 422, answer.text
            assert answer.json()["errors"][0]["loc"][4] == place
    assert owner.get(path).json() == kept
    there = {"url": f"http://localhost:{port}/200", "headers": {"X-Token": "given anew"}}
    changed([a | {"config": there}])
    assert sent() == {("/200", "given anew")}
    stack.sql("UPDATE alerts SET channel_secrets = 'sealed with another key' WHERE id = %s", [alert["id"]])
    (result,) = owner.post(f"{path}/test").json()["results"]
    assert (result["status"], "another secret key" in result["message"]) == ("failed", True)
    read = owner.get(path).json()["channels"]
    assert owner.patch(path, json={"channels": read}).status_code == 422
    changed([first])
    assert sent() == {(f"/200?{TOKEN}", f"{TOKEN}-0")}
