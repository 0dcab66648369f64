"""Messages of alerts.

What each channel is told, and that a stranger's text stays text there.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.labels import LABELS
from service.alerts.channel_schema import ChatWebhookConfig, EmailConfig, WebhookConfig
from service.alerts.delivery_store import MessageNames
from service.alerts.message_actions import (
    DETAILS_BYTES,
    FIGURES,
    Notice,
    chat_message,
    defuse,
    letter,
    link_of,
    notification,
    request,
)
from service.auth.tenant_schema import TenantSettings
from service.notifications.shared import MESSAGE_CHARACTERS, TITLE_CHARACTERS
from service.platform.config import Settings
from service.platform.work.mail import HEADERS, Attachment, render
from service.platform.work.outgoing import HEADERS_ADDED, HEADERS_MAX, check_headers
from tests.rows import every
from tests.service.alerts.delivering import DETAILS, SENTENCE

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ID = UUID("12345678-1234-4234-8234-123456789abc")
MAIL = EmailConfig(recipients=["ann@example.com"])
CHAT = ChatWebhookConfig(webhook_url="https://example.com/x")
NOTICE = Notice(
    alert_id=ID,
    alert_name="CCC above limit",
    alert_type="threshold",
    triggered_at=NOON,
    workbook_id=ID,
    workbook_name="MAG17 May.xlsx",
    organization="Acme",
    timezone="America/New_York",
    details=DETAILS,
    link="https://cushion.example.com/console/#/alerts",
    labels=LABELS,
)
FORM = {"limit": 7.5, "limit_type": "max", "cushion": -0.7, "unit": "percent", "decimals": 2}
"""What a verdict records of the test itself."""
TEST = {
    "test_id": "oc_ratio", "test_name": "Overcollateralization", "status": "fail", "current_value": 118.25,
    "threshold_value": 120.0, "cushion": -1.75,
}  # fmt: skip
NO_METRIC = dict.fromkeys(FIGURES)
COMPLIANCE = {**NO_METRIC, "sentence": "23 tests (23 failing)", "tests": [TEST] * 23, "tests_in_all": 60}
TREND = {
    "metric": "wal", "current_value": 4.6, "threshold_value": 0.5, "operator": "increasing", "change": 0.6,
    "earlier_value": 4.0, "earlier_day": "2026-04-01", "sentence": "WAL rose",
}  # fmt: skip


def test_a_letter_names_deal_day_test_value_limit_and_cushion_with_the_test_s_decimals() -> None:
    """To the letter."""
    day = date(2026, 4, 30)
    link = f"https://cushion.example.com/console/#/deals/{ID}/compliance?workbook={ID}"
    mail = letter(replace(NOTICE, deal_name="MAG 17", as_of=day, link=link, details={**DETAILS, **FORM}), MAIL)
    assert mail.subject == "CCC above limit - MAG 17"
    assert mail.text == (
        'The alert "CCC above limit" was triggered on 2026-05-01 at 08:00 UTC-04:00.\n'
        "\n"
        "CCC bucket is 8.20 %, above 7.50 %\n"
        "\n"
        "Deal: MAG 17\n"
        "As of: 2026-04-30\n"
        "Workbook: MAG17 May.xlsx\n"
        "Metric: CCC/Caa bucket\n"
        "Current value: 8.20 %\n"
        "Threshold: above 7.50 %\n"
        "Limit: at most 7.50 %\n"
        "Cushion: -0.70 %\n"
        "\n"
        f"See it in the console: {link}\n"
        "\n"
        "An alert of Acme on Cushion writes to you.\n"
        "Whoever set it up can take your address off.\n"
    )
    brief = letter(replace(NOTICE, deal_name="MAG 17", link=link), replace(MAIL, include_details=False))
    assert (link in brief.text, "Deal: " in brief.text) == (True, False)


@every(
    "form, shown",
    [
        ({"unit": "factor", "decimals": 0, "limit_type": "max"}, "fail, at 2,901, limit at most 2,850, cushion -51"),
        (
            {"unit": "years", "decimals": 2, "limit_type": "min"},
            "fail, at 2,901.00 years, limit at least 2,850.00 years, cushion -51.00 years",
        ),
        (
            {"unit": "percent", "decimals": 3, "limit_type": "exact"},
            "fail, at 2,901.000 %, limit exactly 2,850.000 %, cushion -51.000 %",
        ),
        ({"unit": "number", "decimals": 900}, "fail, at 2,901, limit 2,850, cushion -51"),
        ({}, "fail, at 2,901, limit 2,850, cushion -51"),
    ],
)
def test_a_test_of_a_list_has_its_own_decimals_unit_and_side(form: dict[str, Any], shown: str) -> None:
    figures = {"status": "fail", "current_value": 2901.0, "threshold_value": 2850.0, "cushion": -51.0}
    test = {"test_id": "own_test", "test_name": "Own", **figures, **form}
    lines = letter(replace(NOTICE, details={"sentence": "x", "tests": [test]}), MAIL).text.splitlines()
    assert f"Own: {shown}" in lines


def test_the_day_is_that_of_the_figures() -> None:
    """Of the verdict, where the workbook itself has none or was given another one since."""
    for day in (None, date(2026, 5, 31)):
        lines = letter(replace(NOTICE, as_of=day, details={**DETAILS, "as_of": "2026-04-30"}), MAIL).text.splitlines()
        assert [line for line in lines if line.startswith("As of")] == ["As of: 2026-04-30"]


def test_a_link_leads_to_the_deal_s_month_or_to_the_alerts() -> None:
    settings = Settings(app_url="https://cushion.example.com")

    def link(**about: Any) -> str:
        names = {
            "organization": "Acme",
            "tier": "free",
            "timezone": "UTC",
            "workbook_name": "w.xlsx",
            "settings": TenantSettings(),
        }
        known = MessageNames(**{"deal_id": None, "deal_name": None, "as_of": None, "workbook_id": ID, **names, **about})
        return link_of(settings, known)

    assert link(deal_id=ID, deal_name="MAG 17") == (
        f"https://cushion.example.com/console/#/deals/{ID}/compliance?workbook={ID}"
    )
    assert link() == link(workbook_id=None) == "https://cushion.example.com/console/#/alerts"


def test_a_letter_says_what_was_found() -> None:
    """To the letter, of a trigger that was recorded before tests had decimals."""
    mail = letter(NOTICE, replace(MAIL, subject_prefix="[Desk]"))
    assert mail.subject == "[Desk] CCC above limit - MAG17 May.xlsx"
    assert mail.text == (
        'The alert "CCC above limit" was triggered on 2026-05-01 at 08:00 UTC-04:00.\n'
        "\n"
        "CCC bucket is 8.20 %, above 7.50 %\n"
        "\n"
        "Workbook: MAG17 May.xlsx\n"
        "Metric: CCC/Caa bucket\n"
        "Current value: 8.2 %\n"
        "Threshold: above 7.5 %\n"
        "\n"
        "See it in the console: https://cushion.example.com/console/#/alerts\n"
        "\n"
        "An alert of Acme on Cushion writes to you.\n"
        "Whoever set it up can take your address off.\n"
    )


@every(
    "details, lines",
    [
        ({**NO_METRIC, "sentence": "A report is due"}, []),
        (
            TREND,
            [
                *("Metric: Weighted average life", "Current value: 4.6 years", "Value on 2026-04-01: 4 years"),
                "Threshold: up by 0.5 years",
            ],
        ),
        (
            COMPLIANCE,
            [
                *["Overcollateralization: fail, at 118.25 %, limit 120 %, cushion -1.75 %"] * 20,
                "Further tests: 40",
            ],
        ),
        ({"metric": "CLASS_A_OC", "current_value": 1234567.5, "sentence": "x"}, [
            "Metric: CLASS_A_OC", "Current value: 1,234,567.5",
        ]),
        ({"metric": "oc_ratio", "test_name": "Class E Par Value", "current_value": 107.5, "sentence": "x"}, [
            "Metric: Class E Par Value", "Current value: 107.5 %",
        ]),
    ],
)  # fmt: skip
def test_details_are_lines(details: dict[str, Any], lines: list[str]) -> None:
    notice = replace(NOTICE, details=details)
    text = letter(notice, MAIL).text
    assert text.split("Workbook: MAG17 May.xlsx\n")[1].splitlines()[:-5] == lines
    assert all(line not in letter(notice, replace(MAIL, include_details=False)).text for line in lines)
    assert all(line in notification(notice)[1] for line in lines[:20])
    assert all(line in json.loads(chat_message(notice, CHAT))["text"] for line in lines[:3])


def test_a_file_goes_along_with_the_details() -> None:
    file, brief = Attachment("report.pdf", "application/pdf", b"%PDF"), replace(MAIL, include_details=False)
    assert letter(NOTICE, MAIL, file).attachments == (file,)
    assert letter(NOTICE, brief, file).attachments == ()
    assert "\nIt has expired.\n" in letter(NOTICE, MAIL, "It has expired.").text
    assert letter(NOTICE, brief, "It has expired.").text == letter(NOTICE, brief).text


def test_who_gets_a_letter() -> None:
    config = EmailConfig(recipients=["a@x.com", "b@x.com", "a@x.com"], cc=["b@x.com", "c@x.com", "c@x.com"])
    mail = letter(NOTICE, config)
    assert (mail.to, mail.also_to, mail.cc) == ("a@x.com", ("b@x.com",), ("c@x.com",))


@every(
    "alert_type, details",
    [
        ("threshold", DETAILS),
        ("compliance", COMPLIANCE),
        ("trend", TREND),
        ("schedule", {"sentence": "due"}),
        ("compliance", {"sentence": "long", "metric": "m", "doubtful": True, "tests": [TEST] * 4_000}),
    ],
)
def test_a_webhook_s_body_has_what_is_specified_for_every_type(alert_type: str, details: dict[str, Any]) -> None:
    notice = replace(NOTICE, alert_type=alert_type, details=details, workbook_id=None, workbook_name=None)
    _, content = request(notice, WebhookConfig(url="https://example.com"), ID)
    body = json.loads(content)
    answer = body.pop("details")
    assert body == {
        "alert_id": str(ID),
        "alert_name": "CCC above limit",
        "alert_type": alert_type,
        "triggered_at": "2026-05-01T12:00:00Z",
        "workbook_id": None,
        "workbook_name": None,
    }
    assert [answer[name] for name in FIGURES] == [details.get(name) for name in FIGURES]
    assert answer["sentence"] == details["sentence"]
    assert answer.get("doubtful") == details.get("doubtful"), "what is too long loses no doubt"
    assert ("tests" in answer) is ("tests" in details and len(details["tests"]) < 4_000)
    assert len(content) < DETAILS_BYTES + 2_000


def test_a_test_says_that_it_is_one() -> None:
    notice = replace(NOTICE, is_test=True)
    body = json.loads(request(notice, WebhookConfig(url="https://example.com"), ID)[1])
    assert body["test"] is True
    assert "test" not in json.loads(request(NOTICE, WebhookConfig(url="https://example.com"), ID)[1])
    for text in (letter(notice, MAIL).text, json.loads(chat_message(notice, CHAT))["text"], notification(notice)[1]):
        assert "nothing has been triggered" in text
    assert letter(notice, MAIL).subject.startswith("Test: ")
    assert notification(notice)[0].startswith("Test: ")


def test_the_configured_headers_stand_but_for_the_delivery_s_own() -> None:
    value = {"Content-Type": "text/plain", "WEBHOOK-ID": "forged", "X-A": "1"}
    headers, _ = request(NOTICE, WebhookConfig(url="https://example.com", headers=value), ID)
    assert headers == {"content-type": "text/plain", "x-a": "1", "webhook-id": f"msg_{ID.hex}"}
    most = {f"X-{number}": "v" for number in range(HEADERS_MAX)}
    headers, _ = request(NOTICE, WebhookConfig(url="https://example.com", headers=most), ID)
    check_headers(headers, HEADERS_MAX + HEADERS_ADDED)


def test_a_chat_is_told_where_and_by_whom() -> None:
    config = ChatWebhookConfig(
        webhook_url="https://example.com/x",
        channel="#risk",
        username="Cushion",
        icon_emoji=":bell:",
        mention_users=["U024BE7LH", "@ann.b"],
    )
    body = json.loads(chat_message(NOTICE, config))
    text = body.pop("text")
    assert body == {"channel": "#risk", "username": "Cushion", "icon_emoji": ":bell:"}
    assert text.startswith('<@U024BE7LH> @ann.b The alert "CCC above limit" was triggered')
    assert f"\n{SENTENCE}\n" in text
    assert set(json.loads(chat_message(NOTICE, CHAT))) == {"text"}


@every(
    "hostile",
    [
        "<!channel>", "<!here|x>", "<@U024BE7LH>", "<#C024BE7LR>", "<https://evil.example|click>", "&lt;!channel&gt;",
        "@channel", "@here hello", "ann@evil.example", "#general", "~general", "evil\u3002example", "https://evil.example/x",
        "HTTP://EVIL.EXAMPLE",
        "evil.example", "www.evil.example", "[click](evil.example)", "mailto:a", "tel:+1", "slack://open", "ftp://x.y",
        "javascript:alert(1)//x", "\u202e<!everyone>", "a\r\nb<!here>",
    ],
)  # fmt: skip
def test_what_records_say_links_to_nothing_and_mentions_nobody(hostile: str) -> None:
    details = {
        "metric": hostile, "sentence": hostile, "current_value": hostile, "threshold_value": 1, "operator": hostile,
        "tests": [{"test_name": hostile, "test_id": hostile, "status": hostile, "cushion": hostile}],
    }  # fmt: skip
    notice = replace(NOTICE, alert_name=hostile, workbook_name=hostile, organization=hostile, details=details)
    text = json.loads(chat_message(notice, CHAT))["text"]
    for sign in "<>":
        assert sign not in text
    for pair in ("@", "#", "~", ":/", "](", ".e", ".y", "\u3002e"):
        assert pair not in text.replace(f"{pair}\u2060", "")
    assert "\u202e" not in text
    assert hostile in json.loads(request(notice, WebhookConfig(url="https://example.com"), ID)[1])["alert_name"]


def test_a_chat_s_figures_are_as_they_were() -> None:
    plain = "CCC bucket is 8.20 %, above 7.50 % on 2026-05-01 at 12:00 UTC (1,234.5)."
    assert defuse(plain) == plain


@given(st.text(), st.text(), st.dictionaries(st.sampled_from([*FIGURES, "sentence"]), st.text()))
def test_no_name_leaves_its_place(name: str, variant: str, details: dict[str, str]) -> None:
    notice = replace(NOTICE, alert_name=name, workbook_name=variant, organization=variant, details=details)
    mail = letter(notice, replace(MAIL, subject_prefix=variant))
    content = render(Settings(), "id", NOON, mail)
    head = content.split(b"\r\n\r\n")[0].decode()
    assert {line.split(":")[0] for line in head.splitlines() if not line.startswith((" ", "\t"))} == HEADERS
    assert len(mail.text.splitlines()) <= len(letter(replace(NOTICE, details=DETAILS), MAIL).text.splitlines())
    title, message = notification(notice)
    assert "\n" not in title
    assert (len(title) <= TITLE_CHARACTERS + 200, len(message) <= MESSAGE_CHARACTERS * 2) == (True, True)
    assert json.loads(chat_message(notice, CHAT))


def test_each_channel_says_that_a_result_is_doubtful_and_why() -> None:
    doubts = [f"interest of loan {at} is estimated" for at in range(30)]
    item = {**DETAILS, "doubtful": True, "published_value": 190.4, "doubts": doubts}
    notice = replace(NOTICE, details=item)
    texts = [letter(notice, MAIL).text, notification(notice)[1], json.loads(chat_message(notice, CHAT))["text"]]
    for text in texts:
        lines = text.replace("\u2060", "").splitlines()
        assert "Doubtful: yes: the result may be wrong" in lines
        assert any(line.startswith("The file prints: 190.4") for line in lines)
        assert [line for line in lines if line.startswith("Doubt: ")] == [f"Doubt: {doubt}" for doubt in doubts]
    several = {"sentence": "2 tests", "tests": [{**TEST, "doubtful": True, "published_value": 121.0}, TEST]}
    lines = letter(replace(NOTICE, alert_type="compliance", details=several), MAIL).text.splitlines()
    first, second = (line for line in lines if line.startswith("Overcollateralization: "))
    assert first.startswith("Overcollateralization: fail (doubtful), at 118.25")
    assert first.endswith("the file prints 121 %")
    assert "doubtful" not in second


def test_people_read_labels_and_programs_names() -> None:
    """In a letter, a chat and the application; a webhook has the details as they are."""
    details = {**DETAILS, "sentence": "rating_agency_a is masked", "doubts": ["a cell of rating_agency_b_facility"]}
    notice = replace(NOTICE, details=details, labels={**LABELS, "rating_agency_a": "Agence"})
    for text in (letter(notice, MAIL).text, chat_message(notice, CHAT).decode(), notification(notice)[1]):
        assert "Agence rating is masked" in text
        assert "a cell of S&P facility rating" in text.replace("&amp;", "&")
        assert "rating_agency" not in text
    _, body = request(notice, WebhookConfig(url="https://example.com/x"), ID)
    assert json.loads(body)["details"]["sentence"] == "rating_agency_a is masked"
