"""Deliveries: each event at each webhook that asked for it, in order, until it is taken; nobody waits for another."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.conftest import Member, Stack, wait_until
from tests.records import uploaded
from tests.service.compliance.conftest import g1, g1_file, own_g1, write_book  # noqa: F401 - fixtures
from tests.service.webhooks.conftest import URL, Receiver, ended, evaluated, hooked, log_of


def test_every_event_is_told_to_whoever_asked_for_it(
    owner: Member,
    stranger: Member,
    receiver: Receiver,
    own_g1: dict[str, Any],  # noqa: F811
) -> None:
    every_event = ["workbook.uploaded", "calculation.completed", "compliance.completed", "alert.triggered"]
    item = hooked(owner, receiver.url("/200?one"), *every_event)
    hooked(owner, receiver.url("/200?two"), "compliance.completed")
    hooked(owner, receiver.url("/200?off"), *every_event, enabled=False)
    hooked(stranger, receiver.url("/200?stranger"), *every_event)
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": own_g1["id"]}).json()
    evaluated(owner)
    assert owner.post(f"/api/v1/workbooks/{own_g1['id']}/recalculate").status_code in (200, 202)
    owner.parsed(own_g1["id"])
    messages = receiver.wait_for(3, "/200?one")
    assert all(message.is_signed_by(item["secret"]) for message in messages)
    by_type = {message.content["type"]: message.content for message in messages}
    assert sorted(by_type) == ["calculation.completed", "compliance.completed"]
    answer = by_type["compliance.completed"]
    assert set(answer) == {"type", "timestamp", "data"}
    assert (answer["data"]["tenant_id"], answer["data"]["user_id"]) == (owner.tenant_id, owner.user_id)
    assert run["run_id" if "run_id" in run else "id"] in str(answer["data"])
    (also,) = receiver.wait_for(1, "/200?two")
    assert (also.id, also.content) == (next(message.id for message in messages if message.content == answer), answer), (
        "the same message at each webhook"
    )
    log = ended(owner, item, 3)
    assert [entry["message_id"] for entry in log] == [message.id for message in messages], "in their order"
    assert [entry["payload"] for entry in log] == [message.content for message in messages]
    assert len({entry["message_id"] for entry in log}) == 3
    record = owner.get(f"{URL}/{item['id']}").json()
    assert (record["last_delivery"]["status"], record["last_delivery"]["status_code"]) == ("delivered", 200)
    wait_until(lambda: owner.get(f"{URL}/{item['id']}").json()["waiting"] == 0, what="the empty line")
    assert receiver.at("/200?off") == receiver.at("/200?stranger") == []


def test_an_upload_is_told(owner: Member, receiver: Receiver, g1_file: Path) -> None:  # noqa: F811
    hooked(owner, receiver.url())
    workbook = owner.uploaded(g1_file)
    (message,) = receiver.wait_for(1)
    data = message.content["data"]
    assert (data["resource_type"], data["resource_id"]) == ("workbook", workbook["id"])


def test_what_fails_is_tried_again_in_its_place_and_blocks_nobody(owner: Member, receiver: Receiver) -> None:
    receiver.refusals["/200?late"] = [503, 429]
    late = hooked(owner, receiver.url("/200?late"))
    slow = hooked(owner, receiver.url("/slow"))
    down = hooked(owner, "http://127.0.0.1:9/")
    fine = hooked(owner, receiver.url("/200?fine"))
    for _ in range(3):
        uploaded(owner)
    assert len(receiver.wait_for(3, "/200?fine")) == 3
    assert len(receiver.at("/slow")) < 6, "the slow one, at two seconds a try and three of each, holds nobody up"
    ids = [message.id for message in receiver.wait_for(5, "/200?late")]
    assert ids == [ids[0]] * 3 + ids[3:], "the first is tried until it is taken, then the others come"
    assert ids[2:] == [entry["message_id"] for entry in ended(owner, fine, 3)]
    log = ended(owner, late, 3)
    assert [len(entry["attempts"]) for entry in log] == [3, 1, 1]
    assert [attempt["status_code"] for attempt in log[0]["attempts"]] == [503, 429, 200]
    for attempt in log[0]["attempts"]:
        assert attempt["answer"] == "said \ufffdä"
    refused = ended(owner, down, 3)
    assert [(entry["status"], len(entry["attempts"])) for entry in refused] == [("failed", 3)] * 3
    assert refused[0]["error"] == "the host could not be connected to"
    record = owner.get(f"{URL}/{down['id']}").json()
    assert record["enabled"]
    assert record["failing_since"]
    owner.delete(f"{URL}/{slow['id']}")


def test_days_of_failure_disable_a_webhook_and_its_admins_are_told(
    stack: Stack, owner: Member, receiver: Receiver
) -> None:
    admin, analyst = owner.invite("admin"), owner.invite("analyst")
    webhook = hooked(owner, receiver.url("/500"))
    uploaded(owner)
    ended(owner, webhook)
    assert owner.get(f"{URL}/{webhook['id']}").json()["enabled"]
    stack.sql("UPDATE webhooks SET failing_since = now() - interval '6 days' WHERE id = %s", [webhook["id"]])
    receiver.free.clear()  # the third waits while the second is on its way
    for _ in range(2):
        uploaded(owner)
    wait_until(lambda: len(log_of(owner, webhook)) == 3, what="both deliveries")
    receiver.free.set()
    answer = wait_until(lambda: owner.get("/api/v1/notifications").json()["items"], what="the notification")
    record = owner.get(f"{URL}/{webhook['id']}").json()
    assert (record["enabled"], record["disabled_at"] is not None) == (False, True)
    reason = "Every delivery of the last 5 days failed; the last one: the receiver answers with the status 500"
    assert record["disabled_reason"] == reason
    assert (answer[0]["type"], answer[0]["resource_id"], answer[0]["read_at"]) == (
        "webhook.disabled",
        webhook["id"],
        None,
    )
    assert reason in answer[0]["message"]
    assert [len(who.get("/api/v1/notifications").json()["items"]) for who in (owner, admin, analyst)] == [1, 1, 0]
    log = ended(owner, webhook, 3)
    assert [len(entry["attempts"]) for entry in log] == [3, 3, 0]
    assert log[2]["error"] == "the webhook was disabled before it could be sent"
    uploaded(owner)
    assert len(receiver.at("/500")) == 6
    assert owner.patch(f"{URL}/{webhook['id']}", json={"enabled": True}).json()["failing_since"] is None


def test_a_receiver_that_is_gone_is_told_nothing_more(owner: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url("/410"))
    uploaded(owner)
    (entry,) = ended(owner, webhook)
    assert (entry["status"], len(entry["attempts"])) == ("failed", 1)
    record = wait_until(
        lambda: (body := owner.get(f"{URL}/{webhook['id']}").json())["disabled_at"] and body, what="the end"
    )
    assert record["disabled_reason"] == "The receiver answered 410 Gone"


def test_a_dead_worker_loses_nothing(stack: Stack, owner: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url("/slow"))
    uploaded(owner)
    receiver.wait_for(1, "/slow")
    stack.sql(
        "UPDATE jobs SET status = 'running', attempt = attempt + 1, lease_until = now() - interval '1 second' "
        "WHERE tenant_id = %s AND name = 'webhooks.deliver' AND status = 'running'",
        [owner.tenant_id],
    )  # as if the worker had died: its attempt is not the present one any more
    first, second = receiver.wait_for(2, "/slow")[:2]
    assert first.id == second.id
    owner.patch(f"{URL}/{webhook['id']}", json={"url": receiver.url()})
    (entry,) = ended(owner, webhook)
    assert (entry["status"], receiver.wait_for(1)[0].id) == ("delivered", first.id)


def test_nobody_waits_for_anybody_in_a_circle(
    stack: Stack,
    owner: Member,
    receiver: Receiver,
    own_g1: dict[str, Any],  # noqa: F811
) -> None:
    """Events that enter the log with their requests, while webhooks are changed, deleted, replayed and delivered to."""
    kept = hooked(owner, receiver.url(), "compliance.completed")
    statuses: list[int] = []

    def events(client: httpx.Client) -> None:
        for _ in range(25):
            asked = {"workbook_id": own_g1["id"]}
            while (ran := client.post("/api/v1/compliance/run", json=asked)).status_code == 409:
                time.sleep(0.01)  # one at a time
            statuses.append(ran.status_code)

    def changes(client: httpx.Client) -> None:
        for number in range(12):
            statuses.append(client.patch(f"{URL}/{kept['id']}", json={"description": str(number)}).status_code)
            body = {"url": receiver.url("/500"), "events": ["compliance.completed"]}
            new_body = client.post(URL, json=body).json()
            log = client.get(f"{URL}/{kept['id']}/deliveries").json()["items"]
            for entry in log[:1]:
                again = client.post(f"{URL}/{kept['id']}/deliveries/{entry['id']}/replay")
                statuses.append(again.status_code)
            statuses.append(client.delete(f"{URL}/{new_body['id']}").status_code)

    def run(work: Callable[[httpx.Client], None]) -> None:
        with httpx.Client(base_url=stack.url, headers=owner.http.headers, timeout=60) as client:
            work(client)

    started = time.monotonic()
    with ThreadPoolExecutor(5) as threads:
        list(threads.map(run, [events, events, changes, events, changes]))
    assert set(statuses) <= {200, 204}, Counter(statuses)
    wait_until(lambda: {entry["status"] for entry in every_page(owner, kept)} == {"delivered"}, what="all deliveries")
    log = every_page(owner, kept)
    assert {entry["status"] for entry in log} == {"delivered"}
    arrived = [message.id for message in receiver.at()]
    assert len(set(arrived)) == 75, "each event"
    assert list(dict.fromkeys(arrived)) == list(dict.fromkeys(entry["message_id"] for entry in log))
    assert time.monotonic() - started < 120


def every_page(who: Member, webhook: dict[str, Any]) -> list[dict[str, Any]]:
    """All of a webhook's deliveries, the oldest first."""
    pages = [
        who.get(f"{URL}/{webhook['id']}/deliveries", params={"page": page, "page_size": 100}).json()["items"]
        for page in (2, 1)
    ]
    return [entry for page in pages for entry in reversed(page)]


def test_a_deleted_webhook_leaves_nothing(stack: Stack, owner: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url("/500"))
    uploaded(owner)
    ended(owner, webhook)
    assert owner.delete(f"{URL}/{webhook['id']}").status_code == 204
    for table in ("webhook_queues", "webhook_deliveries"):
        wait_until(
            lambda table=table: not stack.sql(f"SELECT 1 FROM {table} WHERE webhook_id = %s", [webhook["id"]]),
            what=f"the end of its {table}",
        )
    uploaded(owner)
    assert log_of(owner, hooked(owner, receiver.url())) == []


def test_a_full_line_passes_events_over_and_says_so(stack: Stack, owner: Member, receiver: Receiver) -> None:
    webhook = hooked(owner, receiver.url())
    stack.sql("UPDATE webhook_queues SET waiting = 10000 WHERE webhook_id = %s", [webhook["id"]])
    uploaded(owner)
    record = wait_until(
        lambda: (body := owner.get(f"{URL}/{webhook['id']}").json())["events_passed_over"] and body, what="the event"
    )
    assert (record["events_passed_over"], receiver.got) == (1, [])
