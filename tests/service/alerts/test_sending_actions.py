"""Tests of an alert's channels over HTTP.

Each is sent to at once, and what came of it is told truly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Member, Stack
from tests.rows import every
from tests.service.alerts.conftest import URL, alerted
from tests.service.alerts.delivering import mail_server
from tests.service.platform.work.test_mail import Post
from tests.service.webhooks.conftest import Receiver, receiver  # noqa: F401 - fixture

ANSWERS = [
    ("/200", "delivered", "the receiver answers with the status 200"),
    ("/204", "delivered", "the receiver answers with the status 204"),
    ("/500", "failed", "the receiver answers with the status 500"),
    ("/word", "failed", "the receiver answers with the status 404"),
    ("/elsewhere", "failed", "the receiver answers with the status 302"),
    ("/closing", "failed", "what the host answers is no proper HTTP"),
    ("/huge", "delivered", "the receiver answers with the status 200"),
    ("/slow", "failed", "no answer within 2 seconds"),
]


@pytest.fixture(scope="module")
def mail_api(stack: Stack) -> Iterator[tuple[str, Post]]:
    """An API with a mail server."""
    post = Post()
    with mail_server(post) as smtp_url, stack.another_api(CUSHION_SMTP_URL=smtp_url) as url:
        yield url, post


def tried(who: Member, alert: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What came of a test: channel, status and message of each."""
    answer = who.post(f"{URL}/{alert['id']}/test")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert set(body) == {"test_id", "alert_id", "results", "tested_at"}
    assert body["alert_id"] == alert["id"]
    assert [result["channel_id"] for result in body["results"]] == [channel["id"] for channel in alert["channels"]]
    return [(result["channel"], result["status"], result["message"]) for result in body["results"]]


def test_every_answer_is_told(shared_owner: Member, receiver: Receiver) -> None:  # noqa: F811
    """Of webhooks and chats, all at once.

    The slow one takes no longer for there being others.
    """
    channels = [{"type": "webhook", "config": {"url": receiver.url(path), "retry_count": 5}} for path, *_ in ANSWERS]
    chats = [{"type": "chat_webhook", "config": {"webhook_url": receiver.url(f"{path}?chat")}} for path, *_ in ANSWERS]
    for kind, listed in (("webhook", channels), ("chat_webhook", chats[:-1])):
        started = time.monotonic()
        alert = alerted(shared_owner, channels=listed)
        expected = [(kind, status, message) for _, status, message in ANSWERS]
        if kind == "chat_webhook":
            expected[3] = (*expected[3][:2], expected[3][2] + ": channel_not_found")
        assert tried(shared_owner, alert) == expected[: len(listed)]
        assert time.monotonic() - started < 15
    assert len(receiver.got) == 2 * len(ANSWERS) - 1, "a test is one attempt, and no redirection is followed"
    (hook,) = receiver.at("/200")
    assert hook.content["test"] is True
    assert (hook.content["alert_type"], hook.content["alert_name"]) == ("threshold", "CCC")
    assert hook.content["details"] == {
        "metric": "ccc_bucket_pct", "current_value": None, "threshold_value": 7.5, "operator": "gt",
    }  # fmt: skip


def test_a_test_is_no_trigger_and_a_notification_is_there(owner: Member) -> None:
    analyst = owner.invite("analyst")
    config = {"user_ids": [owner.user_id, analyst.user_id], "priority": "urgent"}
    alert = alerted(owner, channels=[{"type": "in_app", "config": config}], enabled=False)
    assert tried(owner, alert) == [("in_app", "delivered", "2 of 2 users notified")]
    for who in (owner, analyst):
        (answer,) = who.get("/api/v1/notifications").json()["items"]
        assert (answer["type"], answer["priority"], answer["title"]) == ("alert.tested", "urgent", "Test: CCC")
        assert (answer["resource_type"], answer["resource_id"]) == ("alert", alert["id"])
    after = owner.get(f"{URL}/{alert['id']}", params={"include_history": True}).json()
    assert after == {**alert, "history": []}
    assert owner.patch(f"/api/v1/admin/users/{analyst.user_id}", json={"status": "inactive"}).status_code == 200
    assert tried(owner, alert) == [("in_app", "delivered", "1 of 2 users notified")]


@every(
    "says, status, message",
    [
        ({}, "delivered", "the mail server took it for 2 of 2 addresses"),
        (
            {"a@x.com": "550 5.1.1 <a@x.com> unknown"},
            "delivered",
            "the mail server took it for 1 of 2 addresses; refused for 1 of 2 addresses: 550 5.1.1 <***> unknown",
        ),
        (
            {"a@x.com": "451 4.7.1 later"},
            "failed",
            "the mail server took it for 1 of 2 addresses; not taken for 1 of 2 addresses: 451 4.7.1 later",
        ),
        ({"RCPT": "451 4.7.1 later"}, "failed", "the mail server did not take it: 451 4.7.1 later"),
        ({"DATA": "554 5.7.1 spam"}, "failed", "the mail server refused: 554 5.7.1 spam"),
    ],
)
def test_a_mail_server_s_answers_are_told(
    mail_api: tuple[str, Post], shared_owner: Member, says: dict[str, str], status: str, message: str
) -> None:
    url, post = mail_api
    post.says, config = says, {"recipients": ["a@x.com"], "cc": ["b@x.com"], "subject_prefix": "[Desk]"}
    alert = alerted(shared_owner, channels=[{"type": "email", "config": config}], name=f"CCC {uuid4().hex}")
    answer = shared_owner.post(f"{url}{URL}/{alert['id']}/test")
    (lines,) = answer.json()["results"]
    assert (lines["status"], lines["message"]) == (status, message)
    if not says:
        assert post.taken[-1]["subject"] == f"[Desk] Test: {alert['name']}"
        assert "nothing has been triggered" in post.taken[-1].get_content()


def test_without_a_mail_server_letters_are_written_down_and_limited(stack: Stack, owner: Member) -> None:
    alert = alerted(owner, name="Written down")
    words = "written into the data folder, since no mail server is set"
    assert tried(owner, alert) == [("email", "delivered", words)]
    letters = [path.read_text() for path in (stack.data_dir / "mail").iterdir()]
    assert sum("Subject: Test: Written down" in letter for letter in letters) == 1
    with stack.another_api(CUSHION_ALERT_MAILS_PER_HOUR="1 1 1 1", CUSHION_SMTP_URL="smtp://127.0.0.1:9") as url:
        (answer,) = owner.post(f"{url}{URL}/{alert['id']}/test").json()["results"]
        assert answer["message"] == "the letters of alerts are limited to 1 an hour"
    with stack.another_api(CUSHION_SMTP_URL="smtp://127.0.0.1:9") as url:
        (answer,) = owner.post(f"{url}{URL}/{alert['id']}/test").json()["results"]
        assert answer["message"] == "the mail server cannot be reached, or takes too long", "and not where it stands"
