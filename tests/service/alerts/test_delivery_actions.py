"""Deliveries of alerts.

Each channel is told what each trigger says, in order, and none waits for another.
"""

from __future__ import annotations

import asyncio
import json
import time
from uuid import uuid4

import pytest

from service.platform.unit.context import Resources
from tests.conftest import Member, Stack, wait_until
from tests.service.alerts.conftest import URL, alerted
from tests.service.alerts.delivering import DETAILS, SENTENCE, Office, mail_server
from tests.service.platform.conftest import Apart, alone, apart, clean  # noqa: F401 - fixtures
from tests.service.platform.work.test_mail import Post
from tests.service.webhooks.conftest import Receiver, receiver  # noqa: F401 - fixture

EMAIL = {"recipients": ["ann@example.com"]}


@pytest.fixture
def office(stack: Stack, alone: Apart) -> Office:  # noqa: F811
    return Office(stack, alone)


def test_each_channel_is_told(office: Office, receiver: Receiver) -> None:  # noqa: F811
    users = [office.apart.user(office.tenant), office.apart.user(office.tenant, status="inactive")]
    alert = office.alert(
        (
            "email",
            {
                "recipients": ["ann@example.com", "bob@example.com"],
                "cc": ["cy@example.com"],
                "subject_prefix": "[Desk]",
            },
        ),
        ("webhook", {"url": receiver.url("/200?hook"), "method": "PUT", "headers": {"X-Token": "t0ken"}}),
        ("chat_webhook", {"webhook_url": receiver.url("/200?chat"), "channel": "#alerts"}),
        ("in_app", {"user_ids": users, "priority": "high"}),
    )
    reported, post = office.alert(("email", EMAIL), name="Report"), Post()
    with mail_server(post) as url, office.worker(CUSHION_SMTP_URL=url):
        (history_id,) = office.trigger(alert)
        (answer,) = office.ended(alert)
        office.trigger(reported, details={"report_id": str(uuid4())})
        office.ended(reported)
    assert "\r\nThe report has expired or was deleted.\r\n" in post.taken.pop().get_content()
    assert (answer.id, answer.notifications_sent) == (history_id, 4)
    assert answer.channels_notified == ["email", "webhook", "chat_webhook", "in_app"]
    assert [(delivery.status, delivery.attempts, delivery.error) for delivery in answer.deliveries] == [
        ("delivered", 1, None)
    ] * 4
    (letter,) = post.taken
    assert (letter["to"], letter["cc"]) == ("ann@example.com, bob@example.com", "cy@example.com")
    assert letter["subject"] == "[Desk] CCC above limit"
    assert f"\r\n{SENTENCE}\r\n" in letter.get_content().replace("\n", "\r\n").replace("\r\r", "\r")
    assert post.envelopes[0][1] == ["ann@example.com", "bob@example.com", "cy@example.com"]
    (hook,) = receiver.at("/200?hook")
    assert (hook.method, hook.headers["x-token"]) == ("PUT", "t0ken")
    assert hook.content["details"] == DETAILS
    (chat,) = receiver.at("/200?chat")
    assert SENTENCE in chat.content["text"]
    notes = office.apart.sql(
        "SELECT user_id, type, priority, title, resource_id FROM notifications WHERE tenant_id = %s", [office.tenant]
    )
    assert notes == [(users[0], "alert.triggered", "high", "CCC above limit", str(alert))]


def test_a_failing_channel_is_tried_again_in_its_order_and_blocks_no_other(
    office: Office,
    receiver: Receiver,  # noqa: F811
) -> None:
    receiver.refusals["/200?late"] = [503, 429]
    alert = office.alert(
        ("webhook", {"url": receiver.url("/200?late"), "retry_count": 2}),
        ("webhook", {"url": "http://127.0.0.1:9/", "retry_count": 1}),
        ("chat_webhook", {"webhook_url": receiver.url("/slow")}),
        ("webhook", {"url": receiver.url("/200?fine"), "retry_count": 0}),
        ("webhook", {"url": receiver.url("/410"), "retry_count": 9}),
    )
    with office.worker():
        started = time.monotonic()
        for number in range(3):
            office.trigger(alert, details={**DETAILS, "current_value": number})
        fine = receiver.wait_for(3, "/200?fine")
        assert time.monotonic() - started < 6, "the slow one holds nobody up"
        assert [message.content["details"]["current_value"] for message in fine] == [0, 1, 2]
        late = receiver.wait_for(5, "/200?late")
        assert [message.content["details"]["current_value"] for message in late] == [0, 0, 0, 1, 2]
        assert len({message.id for message in late}) == 3, "an attempt more has the same identifier"
        wait_until(lambda: len(office.buried()) >= 6, what="the dead letters")
        office.apart.sql("UPDATE alerts SET enabled = false WHERE id = %s", [alert])
        answer = office.ended(alert)
    outcomes = [[(delivery.status, delivery.attempts) for delivery in trigger.deliveries] for trigger in answer]
    assert [row[:2] + row[3:] for row in outcomes] == [
        [("delivered", 3), ("failed", 2), ("delivered", 1), ("failed", 1)],
        *[[("delivered", 1), ("failed", 2), ("delivered", 1), ("failed", 1)]] * 2,
    ]
    assert all(row[2][0] == "failed" for row in outcomes)
    kept = office.apart.sql("SELECT attempts::text FROM alert_deliveries WHERE alert_id = %s", [alert])
    assert not any("said" in attempts for (attempts,) in kept), "an answer may repeat what is secret"
    assert answer[0].deliveries[1].error == "the host could not be connected to"
    assert (answer[0].notifications_sent, answer[0].channels_notified) == (2, ["webhook", "webhook"])
    assert set(office.buried()) >= {
        ("PermanentError", "the host could not be connected to"),
        ("PermanentError", "the receiver answers with the status 410"),
    }


def test_a_letter_goes_again_to_those_alone_who_have_not_got_it(office: Office) -> None:
    """After a breakdown in between, too."""
    post = Post()
    post.scripts = {
        "a@x.com": ["451 4.7.1 later", "421 4 going down"],
        "b@x.com": ["550 5.1.1 <b@x.com> no such user"],
        "d@x.com": ["450 4 busy", "421 4 going down", "550 5.1.1 no such user"],
    }
    alert = office.alert(("email", {"recipients": ["a@x.com", "b@x.com"], "cc": ["c@x.com"]}))
    partly = office.alert(("email", {"recipients": ["c@x.com", "d@x.com"]}))
    with mail_server(post) as url, office.worker(CUSHION_SMTP_URL=url):
        office.trigger(alert, partly)
        (answer,), (told_partly,) = office.ended(alert), office.ended(partly)
    assert sorted(to for _, to in post.envelopes) == [["a@x.com"], ["c@x.com"], ["c@x.com"]]
    assert len({letter["message-id"] for letter in post.taken if letter["cc"]}) == 1
    (item,), (second,) = answer.deliveries, told_partly.deliveries
    assert (item.status, item.attempts) == (second.status, second.attempts) == ("delivered", 3)
    assert item.error == "refused for 1 of 3 addresses: 550 5.1.1 <***> no such user"
    assert second.error == "for the rest the mail server refused: 550 5.1.1 no such user"


def test_what_a_delivery_finds_changed(office: Office, receiver: Receiver) -> None:  # noqa: F811
    """Between trigger and delivery.

    A channel taken off or given another address, an alert disabled, secrets sealed with another key, everything
    deleted; a worker that died behind the last attempt, a record that cannot be read.
    """
    hook = ("webhook", {"url": receiver.url()})
    alerts = [office.alert(hook, hook) for _ in range(7)]
    kept, off, disabled, resealed, deleted, spent, broken = alerts
    office.trigger(*alerts)
    moved = office.alert(("webhook", {"url": receiver.url("/200?moved")}), hook)
    office.apart.sql(
        "UPDATE alerts a SET channels = m.channels, channel_secrets = m.channel_secrets "
        "FROM alerts m WHERE a.id = %s AND m.id = %s",
        [off, moved],
    )
    office.apart.sql("UPDATE alerts SET enabled = false WHERE id = %s", [disabled])
    office.apart.sql("UPDATE alerts SET channel_secrets = repeat('A', 80) WHERE id = %s", [resealed])
    office.apart.sql("DELETE FROM alerts WHERE id = %s", [deleted])
    attempts = "UPDATE alert_deliveries SET attempts = '[{}, {}, {}, {}]', error = 'no' WHERE alert_id = %s"
    office.apart.sql(attempts, [spent])
    office.apart.sql("UPDATE alerts SET channels = '[{}]' WHERE id = %s", [broken])
    with office.worker():
        for alert, status, error in (
            (kept, "delivered", None),
            (off, "failed", "the channel was taken off the alert before it could be sent"),
            (disabled, "failed", "the alert was disabled before it could be sent"),
            (resealed, "failed", "the channel's secrets were sealed with another secret key: give them anew"),
            (spent, "failed", "no"),
            (broken, "failed", "a fault in the service"),
        ):
            (answer,) = office.ended(alert)
            assert [(delivery.status, delivery.error) for delivery in answer.deliveries] == [(status, error)] * 2
        assert len(receiver.got) == 2
        jobs = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND status <> 'completed' AND status <> 'failed'"
        wait_until(lambda: office.apart.sql(jobs, [office.tenant]) == [(0,)], what="the end of the jobs")


def test_letters_are_limited_and_wait(office: Office) -> None:
    alert, post = office.alert(("email", {**EMAIL, "cc": ["bob@example.com", "cy@example.com"]})), Post()
    with mail_server(post) as url, office.worker(CUSHION_SMTP_URL=url, CUSHION_ALERT_MAILS_PER_HOUR="0 0 0 5"):
        for _ in range(3):
            office.trigger(alert)
        sql = (
            "SELECT next_attempt_at - now() <= interval '1 hour' FROM alert_deliveries "
            "WHERE alert_id = %s AND next_attempt_at > now()"
        )
        assert wait_until(lambda: office.apart.sql(sql, [alert]), what="the letter that waits") == [(True,)]
        many = office.alert(("email", {"recipients": [f"a{number}@example.com" for number in range(6)]}))
        office.trigger(many)
        (never,) = office.ended(many)
    *sent, late = [trigger.deliveries[0] for trigger in office.history(alert)]
    assert [item.status for item in sent] == ["delivered"] * 2
    assert (late.status, late.attempts) == ("pending", 0)
    assert late.error == "the letters of alerts are limited to 5 an hour"
    assert never.deliveries[0].error == f"{late.error}, and this one has 6 addresses"
    assert len(post.taken) == 2


def test_private_addresses_are_refused_when_it_is_sent(office: Office, receiver: Receiver) -> None:  # noqa: F811
    port = receiver.server_address[1]
    alert = office.alert(
        ("webhook", {"url": receiver.url(), "retry_count": 0}),
        ("webhook", {"url": "https://localhost/", "retry_count": 0}),
        ("webhook", {"url": "https://nobody.invalid/", "retry_count": 0}),
        ("chat_webhook", {"webhook_url": f"https://127.0.0.1:{port}/"}),
        ("chat_webhook", {"webhook_url": "https://169.254.169.254/latest"}),
    )
    with office.worker(CUSHION_ALLOW_PRIVATE_WEBHOOKS="off"):
        office.trigger(alert)
        (answer,) = office.ended(alert)
    assert {delivery.error for delivery in answer.deliveries} == {
        "expected a URL that begins with https://",
        "the host has no public address",
        "expected one of the ports 443, 8443",
    }
    assert receiver.got == []


def test_a_dead_worker_loses_nothing(office: Office, receiver: Receiver) -> None:  # noqa: F811
    alert = office.alert(("webhook", {"url": receiver.url("/slow")}))
    with office.worker():
        office.trigger(alert)
        receiver.wait_for(1, "/slow")
        office.apart.sql(
            "UPDATE jobs SET status = 'running', attempt = attempt + 1, lease_until = now() - interval '1 second' "
            "WHERE tenant_id = %s AND status = 'running'",
            [office.tenant],
        )  # as if it had died: its attempt is not the present one any more
        first, second = receiver.wait_for(2, "/slow")[:2]
        office.apart.sql("DELETE FROM alerts WHERE id = %s", [alert])
    assert (first.id, first.body) == (second.id, second.body)


def test_a_dead_letter_that_is_given_back_is_sent(office: Office, receiver: Receiver) -> None:  # noqa: F811
    receiver.refusals["/200"] = [500]
    alert = office.alert(("webhook", {"url": receiver.url(), "retry_count": 0}))
    with office.worker():
        office.trigger(alert)
        (answer,) = office.ended(alert)
        assert answer.deliveries[0].status == "failed"
        office.apart.sql(
            "INSERT INTO jobs (tenant_id, id, queue, name, arguments) "
            "SELECT tenant_id, %s, queue, task_name, arguments "
            "FROM dead_letters WHERE tenant_id = %s",
            [f"task_{uuid4().hex}", office.tenant],
        )
        first, again = receiver.wait_for(2)
        assert first.id == again.id
        wait_until(lambda: office.history(alert)[0].deliveries[0].status == "delivered", what="the delivery")
        assert (office.history(alert)[0].deliveries[0].attempts, office.history(alert)[0].deliveries[0].error) == (
            2,
            None,
        )


def test_no_line_stands_still_however_triggers_and_ends_meet(office: Office, receiver: Receiver) -> None:  # noqa: F811
    """Triggers from everywhere at once while deliveries end, fail and are deleted."""
    receiver.refusals["/200"] = [500] * 5
    alerts = [office.alert(("webhook", {"url": receiver.url(), "retry_count": 0})) for _ in range(3)]

    async def all_at_once(shared: Resources) -> None:
        async def some(number: int) -> None:
            for place in range(5):
                chosen = alerts if number % 2 else [alerts[(number + place) % 3]]
                ids = await office.triggered(shared, *chosen, details={**DETAILS, "number": number, "place": place})
                if place == 3:
                    async with shared.database.transaction(office.tenant) as tx:
                        await tx.execute("DELETE FROM alert_history WHERE id = %s", [ids[0]])

        await asyncio.gather(*map(some, range(4)))

    with office.worker():
        office.apart.run(all_at_once)
        for alert in alerts:
            answer = office.ended(alert)
            assert len(answer) > 3
        order = (
            "SELECT d.details FROM alert_history d JOIN alert_deliveries x ON x.history_id = d.id "
            "WHERE d.alert_id = %s ORDER BY x.sequence"
        )
        for alert in alerts:
            arrived = [
                message.content["details"] for message in receiver.at() if message.content["alert_id"] == str(alert)
            ]
            kept = [details for (details,) in office.apart.sql(order, [alert])]
            assert [item for item in arrived if item in kept] == kept, "in the order of the triggers"


def test_a_change_has_what_waits_tried_at_once(stack: Stack, owner: Member) -> None:
    ids = [alerted(owner)["id"] for _ in range(2)]
    for alert_id in ids:
        arguments = {"alert_id": alert_id, "channel_id": str(uuid4()), "id": str(uuid4())}
        stack.sql(
            "INSERT INTO jobs (tenant_id, id, queue, name, arguments, ready_at) "
            "VALUES (%s, %s, 'webhooks', 'alerts.deliver', %s, now() + interval '1 hour')",
            [owner.tenant_id, f"task_{uuid4().hex}", json.dumps(arguments)],
        )
    assert owner.patch(f"{URL}/{ids[0]}", json={"name": "Mended"}).status_code == 200
    sql = "SELECT status FROM jobs WHERE tenant_id = %s AND arguments ->> 'alert_id' = %s"
    wait_until(lambda: stack.sql(sql, [owner.tenant_id, ids[0]]) == [("completed",)], what="the delivery")
    assert stack.sql(sql, [owner.tenant_id, ids[1]]) == [("pending",)]
