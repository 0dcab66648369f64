"""Alerts from a run to whoever is told, through the running service.

A figure over its limit, a report that is due.
"""

from __future__ import annotations

from email import message_from_bytes, policy
from typing import Any

from tests.conftest import Member, Stack, wait_until
from tests.service.alerts.conftest import URL, alerted
from tests.service.alerts.test_evaluation_actions import CCC, history_of, run
from tests.service.alerts.test_summary_actions import HOURLY, fall_due
from tests.service.webhooks.conftest import Receiver, receiver  # noqa: F401 - fixture

CHANNELS = ["email", "webhook", "chat_webhook", "in_app"]


def sent(who: Member, alert_id: str) -> dict[str, Any]:
    """The alert's one trigger once all its channels are told."""

    def done() -> dict[str, Any] | None:
        history = history_of(who, alert_id)["history"]
        return history[0] if history and history[0]["notifications_sent"] == len(CHANNELS) else None

    result: dict[str, Any] = wait_until(done, what="the messages", seconds=60)
    return result


def letters(stack: Stack, subject: str) -> list[Any]:
    """Letters that were written down."""
    folder = stack.data_dir / "mail"
    result = (message_from_bytes(path.read_bytes(), policy=policy.default) for path in folder.iterdir())
    return [letter for letter in result if letter["subject"].startswith(subject)]


def test_a_run_and_a_schedule_reach_every_channel(
    stack: Stack,
    owner: Member,
    own_g1: dict[str, Any],
    receiver: Receiver,  # noqa: F811
) -> None:
    channels = [
        {"type": "email", "config": {"recipients": ["desk@example.com"], "subject_prefix": "[One]"}},
        {"type": "webhook", "config": {"url": receiver.url("/200?hook"), "headers": {"X-Token": "t"}}},
        {"type": "chat_webhook", "config": {"webhook_url": receiver.url("/200?chat")}},
        {"type": "in_app", "config": {"user_ids": [owner.user_id]}},
    ]
    about = {"workbook_id": own_g1["id"], "channels": channels}
    figure = alerted(owner, conditions=CCC, **about)["id"]
    alert = run(owner, own_g1)
    trigger = sent(owner, figure)
    assert trigger["channels_notified"] == CHANNELS
    value = next(result["current_value"] for result in alert["results"] if result["test_id"] == CCC["metric"])
    (hook,) = receiver.at("/200?hook")
    assert hook.method == "POST"
    assert hook.content["workbook_id"] == own_g1["id"]
    assert hook.content["workbook_name"] == own_g1["name"]
    details = hook.content["details"]
    asked = [details[name] for name in ("metric", "current_value", "threshold_value", "operator")]
    assert asked == [CCC["metric"], value, CCC["value"], CCC["operator"]]
    assert hook.content["triggered_at"][:19] == trigger["triggered_at"][:19]
    (letter,) = letters(stack, "[One]")
    assert trigger["details"]["sentence"] in letter.get_content()
    assert "\nMetric: CCC/Caa bucket" in letter.get_content(), "details are in it by default"
    lines = letter.get_content().splitlines()
    assert f"As of: {alert['as_of']}" in lines
    assert {"Limit: at most 7.50 %", "Cushion: -3.75 %"} <= set(lines)
    assert "See it in the console: http://127.0.0.1:8000/console/#/alerts" in lines, "the workbook is of no deal"
    (note,) = owner.get("/api/v1/notifications").json()["items"]
    assert trigger["details"]["sentence"] in note["message"]
    assert note["priority"] == "normal"
    assert len(receiver.at("/200?chat")) == 1

    channels[0]["config"]["subject_prefix"] = "[Two]"
    schedule = alerted(owner, conditions=HOURLY, alert_type="schedule", **about)["id"]
    fall_due(stack, schedule)
    report_id = sent(owner, schedule)["details"]["report_id"]
    (letter,) = letters(stack, "[Two]")
    (file,) = letter.iter_attachments()
    assert file.get_content() == owner.get(f"/api/v1/reports/{report_id}/download").content
    assert file.get_content().startswith(b"%PDF")
    assert receiver.at("/200?hook")[-1].content["details"]["report_id"] == report_id
    assert owner.delete(f"{URL}/{schedule}").status_code == 204


def test_a_letter_of_a_deal_leads_to_its_month(stack: Stack, owner: Member, write_book: Any) -> None:
    from tests.service.compliance.conftest import G1_DEAL, G1_LOANS, G1_NOTES, HEADER

    deal = owner.post("/api/v1/deals", json={"name": "Harbour 2024-1"}).json()["id"]
    file = write_book("mar", Holdings=[HEADER, *G1_LOANS], Tranches=G1_NOTES, Deal=G1_DEAL[:2])
    book = owner.uploaded(file, deal_id=deal, as_of="2026-03-31")
    mail = {"type": "email", "config": {"recipients": ["desk@example.com"], "subject_prefix": "[Deal]"}}
    every = {"status": ["fail", "warning", "pass"]}
    alerted(owner, name="Breach", conditions=every, alert_type="compliance", workbook_id=book["id"], channels=[mail])
    alert = run(owner, book)
    (letter,) = wait_until(lambda: letters(stack, "[Deal]"), what="the letter")
    assert letter["subject"] == "[Deal] Breach - Harbour 2024-1"
    text, lines = letter.get_content(), letter.get_content().splitlines()
    assert {"Deal: Harbour 2024-1", "As of: 2026-03-31", f"Workbook: {book['name']}"} <= set(lines)
    assert f"/console/#/deals/{deal}/compliance?workbook={book['id']}" in text
    raised = sorted(alert["results"], key=lambda result: ["fail", "warning", "pass"].index(result["status"]))
    assert raised != alert["results"]
    places = [text.index(f"\n{item['test_name']}: {item['status']}") for item in raised]
    assert places == sorted(places), "failing tests come first"
    for item in raised:
        value = f"{item['current_value']:,.{item['decimals']}f}"
        assert f"{item['test_name']}: {item['status']}{' (doubtful)' if item['doubtful'] else ''}, at {value}" in text
