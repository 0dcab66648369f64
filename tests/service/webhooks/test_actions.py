"""Webhooks over HTTP: their records, secrets, tests, replays, and every refusal."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tests.conftest import Member, Stack
from tests.records import uploaded
from tests.rows import every
from tests.service.webhooks.conftest import URL, Receiver, ended, hooked, log_of


def test_a_webhook_goes_its_way(stack: Stack, owner: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url(), "workbook.uploaded", "workbook.uploaded", description="ours")
    secret = webhook.pop("secret")
    assert secret.startswith("whsec_")
    assert webhook["secret_hint"] == f"…{secret[-4:]}"
    assert (webhook["events"], webhook["enabled"], webhook["last_delivery"]) == (["workbook.uploaded"], True, None)
    path = f"{URL}/{webhook['id']}"
    assert owner.get(path).json() == webhook
    assert owner.get(URL).json() == {"items": [webhook], "total": 1, "page": 1, "page_size": 20, "total_pages": 1}
    (kept,) = stack.sql("SELECT w::text FROM webhooks w WHERE id = %s", [webhook["id"]])
    assert secret[6:] not in kept[0]
    changed = owner.patch(path, json={"events": ["calculation.completed"], "description": None, "enabled": False})
    assert changed.status_code == 200, changed.text
    body = changed.json()
    assert (body["events"], body["description"], body["enabled"]) == (["calculation.completed"], None, False)
    assert body["disabled_at"]
    assert owner.patch(path, json={"enabled": True}).json()["disabled_at"] is None
    assert owner.delete(path).status_code == 204
    assert owner.get(path).json()["detail"] == "Webhook not found"
    actions = [entry["action"] for entry in owner.get("/api/v1/admin/audit-logs").json()["items"]]
    assert [name for name in actions if name.startswith("webhook")] == [
        "webhook.deleted", "webhook.updated", "webhook.updated", "webhook.created",
    ]  # fmt: skip


def test_what_is_refused(stack: Stack, owner: Member, stranger: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url(), enabled=False)
    item = f"{URL}/{webhook['id']}"
    delivery = owner.post(f"{item}/test").json()["id"]
    missing = f"{URL}/{uuid4()}"
    rows: list[tuple[Member, str, str, Any, int, str]] = [
        (owner, "POST", URL, {"url": "http://u@127.0.0.1/", "events": ["workbook.uploaded"]}, 422, "Validation error"),
        (owner, "POST", URL, {"url": receiver.url(), "events": []}, 422, "Validation error"),
        (owner, "POST", URL, {"url": receiver.url(), "events": ["everything"]}, 422, "Validation error"),
        (owner, "PATCH", item, {"url": "gopher://x"}, 422, "Validation error"),
        (owner, "PATCH", item, {"url": None}, 422, "Validation error"),
        (owner, "POST", f"{item}/rotate", {"overlap_hours": 169}, 422, "Validation error"),
        (owner, "POST", f"{item}/deliveries/{delivery}/replay", None, 409, "Webhook is disabled"),
        (owner, "GET", f"{item}/deliveries?page_size=101", None, 422, "Validation error"),
        (owner.invite("analyst"), "GET", URL, None, 403, "Insufficient permissions"),
        (owner.key("alerts:read", "alerts:write"), "GET", URL, None, 403, "Insufficient permissions"),
    ]  # fmt: skip
    for method, path in (
        *(("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/deliveries"), ("POST", "/test"), ("POST", "/rotate")),
        ("POST", f"/deliveries/{delivery}/replay"),
    ):
        body = {} if method in ("PATCH", "POST") else None
        for who, at in ((stranger, item), (owner, missing)):
            rows.append((who, method, at + path, body, 404, "Webhook not found"))
    owner.patch(item, json={"enabled": True})
    failing = []
    for who, method, path, body, status, detail in rows:
        if status == 409:
            owner.patch(item, json={"enabled": False})
        answer = who.http.request(method, path, json=body)
        if (answer.status_code, answer.json().get("detail")) != (status, detail):
            failing.append((method, path, body, answer.status_code, answer.text))
    assert failing == []
    owner.patch(item, json={"enabled": True})
    assert owner.post(f"{item}/deliveries/{uuid4()}/replay").json()["detail"] == "Delivery not found"
    with stack.another_api(CUSHION_MAX_WEBHOOKS="1") as url:
        owner.http.base_url = url  # type: ignore[assignment]
        answer = owner.post(URL, json={"url": receiver.url(), "events": ["workbook.uploaded"]})
        assert (answer.status_code, answer.json()["detail"]) == (403, "Webhook limit exceeded")


@every(
    "path, status, words",
    [
        ("/200", 200, None),
        ("/204", 204, None),
        ("/500", 500, "the receiver answers with the status 500"),
        ("/elsewhere", 302, "the receiver answers with the status 302"),
        ("/slow", None, "no answer within 2 seconds"),
        ("/huge", 200, None),
    ],
)
def test_a_test_tells_what_came_of_it(
    shared_owner: Member, receiver: Receiver, path: str, status: int | None, words: str | None
) -> None:
    receiver.got.clear()
    webhook = hooked(shared_owner, receiver.url(path), enabled=False)
    answer = shared_owner.post(f"{URL}/{webhook['id']}/test")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    (attempt,) = body["attempts"]
    assert (body["status"], body["error"], attempt["status_code"], attempt["error"]) == (
        "failed" if words else "delivered",
        words,
        status,
        words,
    )
    if path == "/200":
        assert attempt["answer"] == "said \ufffdä"
    assert len(attempt["answer"] or "") <= 1024
    (message,) = receiver.got
    assert message.is_signed_by(webhook["secret"])
    assert not message.is_signed_by("whsec_" + "A" * 43 + "=")
    assert message.id == body["message_id"]
    assert message.content["type"] == "webhook.test"
    assert log_of(shared_owner, webhook) == [body]
    assert shared_owner.get(f"{URL}/{webhook['id']}").json()["last_delivery"] is None, "a test counts for nothing"


def test_private_addresses_are_refused_unless_they_are_permitted(
    stack: Stack, owner: Member, receiver: Receiver
) -> None:
    port = receiver.server_address[1]
    kept = hooked(owner, f"http://localhost:{port}/200")
    assert owner.post(f"{URL}/{kept['id']}/test").json()["status"] == "delivered"
    receiver.got.clear()
    with stack.another_api(CUSHION_ALLOW_PRIVATE_WEBHOOKS="off") as url:
        owner.http.base_url = url  # type: ignore[assignment]
        for refused in (receiver.url(), f"https://127.0.0.1:{port}/", "https://[::1]/", "https://169.254.169.254/"):
            answer = owner.post(URL, json={"url": refused, "events": ["workbook.uploaded"]})
            assert answer.status_code == 422, refused
        body = owner.post(f"{URL}/{kept['id']}/test").json()
        assert (body["status"], body["error"]) == ("failed", "expected a URL that begins with https://")
        for name in ("localhost", "nobody.invalid"):  # known inside the network alone, and to nobody
            named = hooked(owner, f"https://{name}/")
            body = owner.post(f"{URL}/{named['id']}/test").json()
            assert (body["status"], body["error"]) == ("failed", "the host has no public address")
    assert receiver.got == []


def test_both_secrets_sign_while_they_overlap(owner: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url())
    path = f"{URL}/{webhook['id']}"
    secrets = [webhook["secret"]]

    def signing() -> list[bool]:
        owner.post(f"{path}/test")
        return [receiver.got[-1].is_signed_by(secret) for secret in secrets]

    assert signing() == [True]
    for hours, signs in ((24, [True, True]), (24, [False, True, True]), (0, [False, False, False, True])):
        answer = owner.post(f"{path}/rotate", json={"overlap_hours": hours})
        assert answer.status_code == 200, answer.text
        secrets.append(answer.json()["secret"])
        assert (answer.json()["old_secret_until"] is None) is (hours == 0)
        assert signing() == signs
        assert owner.get(path).json()["secret_hint"] == f"…{secrets[-1][-4:]}"
    answer = owner.post(f"{path}/rotate", json={}, headers={"Idempotency-Key": "again"})
    assert answer.status_code == 200
    again = owner.post(f"{path}/rotate", json={}, headers={"Idempotency-Key": "again"})
    assert (again.status_code, again.json()["detail"]) == (409, "Already processed")


def test_a_replay_is_the_same_message_again(owner: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url())
    uploaded(owner)
    (first,) = receiver.wait_for(1)
    (delivery,) = ended(owner, webhook)
    answer = owner.post(f"{URL}/{webhook['id']}/deliveries/{delivery['id']}/replay")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["message_id"]) == ("pending", first.id)
    _, second = receiver.wait_for(2)
    assert (second.id, second.body) == (first.id, first.body)
    assert second.is_signed_by(webhook["secret"])
    assert [item["status"] for item in ended(owner, webhook, 2)] == ["delivered"] * 2
