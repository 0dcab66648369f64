"""What a triggered alert looks like in each channel.

Names and sentences come from records, so a stranger's text may stand in them: in a letter it stays on its line, in a
chat it mentions nobody and links to nothing, in JSON it is a string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec import Struct

from core.alerts.evaluate import COMPARISONS
from core.compliance.suites import TESTS, UNIT_SIGNS
from core.frames.figures import DECIMALS_MAX, figure_shown
from core.labels import labelled
from service.alerts.channel_schema import ChatWebhookConfig, EmailConfig, WebhookConfig
from service.alerts.delivery_store import MessageNames
from service.alerts.schema import AlertRow
from service.platform.clock import local_time, zone_of
from service.platform.config import Settings
from service.platform.work.mail import SUBJECT_CHARACTERS, Attachment, Mail, console_link, one_line

NAME_CHARACTERS: Final = 200
SENTENCE_CHARACTERS: Final = 8_000
"""A sentence names every doubtful test with the reason."""
TESTS_SHOWN: Final = 20
"""Of those that a message for people lists."""
DETAILS_BYTES: Final = 256 * 1024
"""Of the details in a webhook's body; of what is longer the four specified fields, the sentence and whether it is
doubtful remain."""
CONTENT_TYPE: Final = "application/json"
DELIVERY_HEADER: Final = "webhook-id"
"""The same at each attempt, so that a receiver can tell what it has had."""

FIGURES: Final = ("metric", "current_value", "threshold_value", "operator")
"""Always there in the details of a webhook's body; null where the alert has none."""
SENTENCE: Final = "sentence"
"""Where the details have, in plain words, what was found."""
OPERATORS: Final[dict[str, str]] = {name: words for name, (_, words) in COMPARISONS.items()} | {
    "increasing": "up by", "decreasing": "down by", "either": "up or down by",
}  # fmt: skip
LIMITS: Final[dict[Any, str]] = {"min": "at least ", "max": "at most ", "exact": "exactly "}
TEST_SENTENCE: Final = "This is a test of the alert's channels: nothing has been triggered."

_JOINER: Final = "\u2060"
"""Is not seen and parts no line, but what stands on both sides of it is no link and no mention."""
_LINKING: Final = re.compile(
    r"[@#~]|:(?=/)|(?<=\w)[.\u3002\uff0e\uff61](?=[^\W\d_])|\](?=\()|\b(?:mailto|tel|www)(?=[:.])", re.IGNORECASE
)
_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_CHAT_ID: Final = re.compile(r"[UW][A-Z0-9]{5,}")


class Notice(Struct, frozen=True, kw_only=True):
    """An alert that triggered, or a test of one."""

    alert_id: UUID
    alert_name: str
    alert_type: str
    triggered_at: datetime
    workbook_id: UUID | None
    workbook_name: str | None
    as_of: date | None = None
    deal_name: str | None = None
    organization: str
    timezone: str
    link: str
    """Where the console shows it."""
    labels: dict[str, str]
    """What people read in place of an agency's or a trustee's name."""
    details: dict[str, Any]
    """What was compared, as the verdict says it, and its sentence."""
    is_test: bool = False


def notice_of(
    settings: Settings, alert: AlertRow, about: MessageNames, at: datetime, details: dict[str, Any] | None = None
) -> Notice:
    """Return what a message says of a trigger, or of a test without details."""
    fields = {"metric": "metric", "threshold_value": "value", "operator": "operator"}
    compared = {name: alert.conditions[field] for name, field in fields.items() if field in alert.conditions}
    return Notice(
        alert_id=alert.id,
        alert_name=alert.name,
        alert_type=alert.alert_type,
        triggered_at=at,
        workbook_id=about.workbook_id,
        workbook_name=about.workbook_name,
        as_of=about.as_of,
        deal_name=about.deal_name,
        organization=about.organization,
        timezone=about.timezone,
        link=link_of(settings, about),
        labels=about.settings.labels,
        details=compared if details is None else details,
        is_test=details is None,
    )


def link_of(settings: Settings, about: MessageNames) -> str:
    """Return the console's link to a deal's month, or to the alerts."""
    if about.deal_id is None:
        return console_link(settings, "alerts")
    return console_link(settings, f"deals/{about.deal_id}/compliance", workbook=str(about.workbook_id))


def letter(notice: Notice, config: EmailConfig, report: Attachment | str | None = None) -> Mail:
    """Return the letter of an e-mail channel, with a schedule's report."""
    subject = " ".join(filter(None, [one_line(config.subject_prefix), _title(notice)]))
    lines = [_opening(notice), "", *_sentences(notice)]
    if config.include_details:
        lines += ["", *(f"{label}: {value}" for label, value in _facts(notice))]
        if isinstance(report, str):
            lines.append(report)
    lines += [
        "",
        f"See it in the console: {notice.link}",
        "",
        f"An alert of {one_line(notice.organization)} on Cushion writes to you.",
        "Whoever set it up can take your address off.",
    ]
    first, *others = dict.fromkeys(config.recipients)
    return Mail(
        first,
        one_line(subject, SUBJECT_CHARACTERS),
        "\n".join(lines) + "\n",
        also_to=tuple(others),
        cc=tuple(fromkey for fromkey in dict.fromkeys(config.cc) if fromkey not in config.recipients),
        attachments=(report,) if config.include_details and isinstance(report, Attachment) else (),
    )


def request(notice: Notice, config: WebhookConfig, delivery_id: UUID) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a webhook channel's request.

    Configured headers stand, but for the one that names the delivery.
    """
    details = {**dict.fromkeys(FIGURES), **notice.details}
    if len(msgspec.json.encode(details)) > DETAILS_BYTES:
        summary = {name: details.get(name) for name in (SENTENCE, "doubtful")}
        details = {name: details[name] for name in FIGURES} | summary
    body: dict[str, Any] = {
        "alert_id": notice.alert_id,
        "alert_name": notice.alert_name,
        "alert_type": notice.alert_type,
        "triggered_at": notice.triggered_at,
        "workbook_id": notice.workbook_id,
        "workbook_name": notice.workbook_name,
        "details": details,
    }
    if notice.is_test:
        body["test"] = True
    own_headers = {name.lower(): value for name, value in config.headers.items()}
    headers = {"content-type": CONTENT_TYPE, **own_headers, DELIVERY_HEADER: f"msg_{delivery_id.hex}"}
    return headers, msgspec.json.encode(body)


def chat_message(notice: Notice, config: ChatWebhookConfig) -> bytes:
    """Return the body of a chat message, in the form of Slack."""
    lines = [_opening(notice), *_sentences(notice), *(f"{label}: {value}" for label, value in _facts(notice))]
    text = "\n".join(map(defuse, lines))
    mentions = " ".join(map(_mention, config.mention_users))
    options = {"channel": config.channel, "username": config.username, "icon_emoji": config.icon_emoji}
    return msgspec.json.encode(
        {
            "text": f"{mentions} {text}" if mentions else text,
            **{name: value for name, value in options.items() if value},
        }
    )


def notification(notice: Notice) -> tuple[str, str]:
    """Title and text of a notification in the application."""
    facts = [f"{label}: {value}" for label, value in _facts(notice)]
    return _title(notice), "\n".join([*_sentences(notice), *facts])


def defuse(line: str) -> str:
    """Return a line that a chat shows as it is: no mention, no link, no entity."""
    return _LINKING.sub(lambda match: match.group() + _JOINER, line).translate(_ENTITIES)


def _mention(user: str) -> str:
    name = user.removeprefix("@")
    return f"<@{name}>" if _CHAT_ID.fullmatch(name) else f"@{name}"


def _title(notice: Notice) -> str:
    names = [one_line(notice.alert_name, NAME_CHARACTERS)]
    about = notice.deal_name or notice.workbook_name
    if about is not None:
        names.append(one_line(about))
    return ("Test: " if notice.is_test else "") + " - ".join(names)


def _opening(notice: Notice) -> str:
    name = one_line(notice.alert_name, NAME_CHARACTERS)
    moment = local_time(notice.triggered_at, zone_of(notice.timezone))
    what = "is tested" if notice.is_test else "was triggered"
    return f'The alert "{name}" {what} on {moment:%Y-%m-%d at %H:%M %Z}.'


def _sentences(notice: Notice) -> Iterator[str]:
    if notice.is_test:
        yield TEST_SENTENCE
    sentence = notice.details.get(SENTENCE)
    if isinstance(sentence, str) and sentence:
        yield one_line(labelled(sentence, notice.labels), SENTENCE_CHARACTERS)


def _facts(notice: Notice) -> Iterator[tuple[str, str]]:
    """Yield what stands in the details, line by line."""
    details = notice.details
    if notice.deal_name is not None:
        yield "Deal", one_line(notice.deal_name, NAME_CHARACTERS)
    if as_of := details.get("as_of") or notice.as_of:
        yield "As of", one_line(str(as_of))
    if notice.workbook_name is not None:
        yield "Workbook", one_line(notice.workbook_name, NAME_CHARACTERS)
    if details.get("metric") is not None:
        yield from _metric(details, notice.labels)
    if details.get("report_id") is not None:
        yield "Report", one_line(str(details["report_id"]))
    tests = details.get("tests")
    for test in tests[:TESTS_SHOWN] if isinstance(tests, list) else ():
        yield one_line(str(test.get("test_name"))), _test(test)
    further = (details.get("tests_in_all") or 0) - TESTS_SHOWN
    if further > 0:
        yield "Further tests", f"{further:,}"


def _metric(details: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    metric = details["metric"]
    to_text = partial(_figure, form=_form(details, metric))
    test = TESTS.get(metric)
    yield "Metric", one_line(str(details.get("test_name") or (test.name if test is not None else metric)))
    if details.get("current_value") is not None:
        yield "Current value", to_text(details["current_value"])
    if details.get("earlier_value") is not None:
        yield f"Value on {details.get('earlier_day')}", to_text(details["earlier_value"])
    operator = details.get("operator")
    if details.get("threshold_value") is not None and (operator in OPERATORS or details.get("limit") is None):
        threshold = to_text(details["threshold_value"])
        yield "Threshold", f"{OPERATORS[operator]} {threshold}" if operator in OPERATORS else threshold
    if details.get("limit") is not None:
        yield "Limit", _limit(details, details["limit"], to_text)
    if details.get("cushion") is not None:
        yield "Cushion", to_text(details["cushion"])
    if details.get("published_value") is not None:
        yield "The file prints", to_text(details["published_value"])
    if details.get("doubtful") is True:
        yield "Doubtful", "yes: the result may be wrong"
    for doubt in details.get("doubts") or ():
        yield "Doubt", one_line(labelled(str(doubt), labels), SENTENCE_CHARACTERS)


def _test(test: Mapping[str, Any]) -> str:
    to_text = partial(_figure, form=_form(test, test.get("test_id")))
    status = f"{test.get('status')}{' (doubtful)' if test.get('doubtful') is True else ''}"
    figures = [one_line(status)]
    if test.get("current_value") is not None:
        figures.append(f"at {to_text(test['current_value'])}")
    if test.get("threshold_value") is not None:
        figures.append(f"limit {_limit(test, test['threshold_value'], to_text)}")
    if test.get("cushion") is not None:
        figures.append(f"cushion {to_text(test['cushion'])}")
    if test.get("published_value") is not None:
        figures.append(f"the file prints {to_text(test['published_value'])}")
    return ", ".join(figures)


def _limit(details: Mapping[str, Any], limit: Any, to_text: Callable[[Any], str]) -> str:
    return f"{LIMITS.get(details.get('limit_type'), '')}{to_text(limit)}"


class _Form(NamedTuple):
    """How the figures of a test are shown."""

    sign: str
    decimals: int | None
    """None: not recorded."""


def _form(details: Mapping[str, Any], test_id: Any) -> _Form:
    """Return a test's unit and decimals, by the details or the suites."""
    test = TESTS.get(test_id)
    unit = details.get("unit") or (test.unit if test is not None else "")
    decimals = details.get("decimals")
    is_known = isinstance(decimals, int) and 0 <= decimals <= DECIMALS_MAX
    return _Form(UNIT_SIGNS.get(str(unit), ""), decimals if is_known else None)


def _figure(value: Any, form: _Form) -> str:
    """Return a number to read; what is none as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return one_line(str(value))
    if form.decimals is not None:
        return figure_shown(value, decimals=form.decimals) + form.sign
    return f"{value:,.6f}".rstrip("0").rstrip(".") + form.sign
