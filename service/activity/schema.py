"""The activity feed: its items, and the sentence of each."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.data.audit_filter import Action, ResourceType, Since, Until
from service.platform.route.api import Offset

Status = Literal["completed", "failed"]


class ActivityQuery(Struct, frozen=True, kw_only=True):
    """Which items."""

    limit: Annotated[int, Meta(ge=1, le=100, description="Most items of an answer")] = 20
    offset: Offset = 0
    entity_type: ResourceType | None = None
    action: Action | None = None
    user_id: UUID | None = None
    start_date: Since | None = None
    end_date: Until | None = None


class ActivityItem(Struct, frozen=True, kw_only=True):
    """Something that happened."""

    id: UUID
    action: str
    type: str
    """The verb of `action`, such as uploaded."""
    status: Status
    """failed where the verb says so, else completed."""
    description: str
    """The sentence that a reader is shown."""
    entity_type: str | None
    """Kind of record that it is about: workbook, user, api_key, ..."""
    entity_id: str | None
    """Identifier of that record."""
    entity_name: str | None
    """Name that the record had at the time."""
    user_id: UUID | None
    """Who did it. Null: the service itself."""
    created_at: datetime
    """When it happened, in UTC."""


class ActivityFeed(Struct, frozen=True):
    """A part of the feed, the newest first."""

    items: list[ActivityItem]
    total: int
    limit: int
    offset: int


class Occurrence(Struct, frozen=True, kw_only=True):
    """What the audit log knows of an item."""

    id: UUID
    action: str
    entity_type: str | None
    entity_id: str | None
    entity_name: str | None
    user_id: UUID | None
    user_email: str | None
    api_key_id: UUID | None
    calls: int | None = None
    """So many that it tells of together."""
    created_at: datetime


SENTENCES = {
    "audit.events_missing": "Events were lost on their way to the audit log",
    "calculation.completed": "A calculation{name} was completed{by}",
    "compliance.run_completed": "A compliance run{name} was completed{by}",
    "compliance.run_expired": "A compliance run was removed, as its retention is over",
    "reconciliation.started": "A reconciliation{name} was started{by}",
    "reconciliation.completed": "A reconciliation{name} was completed{by}",
    "calculation.failed": "A calculation of workbook{name} failed",
    "dead_letter.reported": "A report of the dead letters was made{by}",
    "document.check_failed": "The stored bytes of document{name} were found damaged",
    "batch.failed": "A batch{name} failed",
    "export.failed": "An export of workbook{name} failed",
    "formula.application_started": "Applying formula{name} was started{by}",
    "formula.application_failed": "Applying formula{name} failed",
    "formula.version_created": "A version of formula{name} was created{by}",
    "insight.asked": "A question was asked{by}",
    "insight.generated": "Insights were generated{by}",
    "nomination.updated": "The nomination of workbooks{name} was changed{by}",
    "reconciliation.failed": "A reconciliation{name} failed",
    "tape.reading_failed": "The reading of tape{name} failed",
    "tape.check_failed": "The stored loans of tape{name} were found damaged",
    "workbook.check_failed": "The stored columns of workbook{name} were found damaged",
    "workbook.parsing_failed": "The parsing of workbook{name} failed",
    "workbook.recalculation_started": "A recalculation of workbook{name} was started{by}",
    "user.registered": "{who} registered",
    "user.joined": "{who} joined",
    "user.logged_in": "{who} logged in",
    "user.logged_out": "{who} logged out",
    "user.login_failed": "A login of user{name} failed",
    "user.tokens_revoked": "{who} revoked all own tokens",
    "user.password_changed": "{who} changed the password",
    "user.password_reset_requested": "A password reset was requested for user{name}",
    "user.password_reset": "{who} reset the password",
    "user.session_ended": "A session of user{name} was ended",
    "user.two_factor_enrolment_begun": "{who} began to enrol in two-factor login",
    "user.two_factor_enabled": "{who} enabled two-factor login",
    "user.two_factor_disabled": "{who} disabled two-factor login",
}
"""Sentences of actions that do not read well by the rule: `Workbook "Q3.xlsx" was uploaded by olive@example.com.`"""
TOGETHER = {"calculation.completed": "{calls:,} calculations{of} were completed{by}"}
"""Sentences of several actions in one item."""
ENTITIES = {"api_key": "API key"}
"""Names of what an action is of that are not its own word."""
PASSIVE = "{entity}{name} was {verb}{by}"


def to_item(occurrence: Occurrence) -> ActivityItem:
    """Return an item of the feed, with its sentence."""
    entity, _, verb = occurrence.action.partition(".")
    who = occurrence.user_email and (
        f"An API key of {occurrence.user_email}" if occurrence.api_key_id else occurrence.user_email
    )
    sentences = TOGETHER if (occurrence.calls or 1) > 1 else SENTENCES
    sentence = sentences.get(occurrence.action, PASSIVE).format(
        calls=occurrence.calls,
        of=f' of "{occurrence.entity_name}"' if occurrence.entity_name else "",
        entity=ENTITIES.get(entity) or entity.replace("_", " ").capitalize(),
        name=f' "{occurrence.entity_name}"' if occurrence.entity_name else "",
        verb=verb.replace("_", " "),
        who=who or "Somebody",
        by=f" by {who[0].lower() + who[1:] if occurrence.api_key_id else who}" if who else "",
    )
    return ActivityItem(
        id=occurrence.id,
        action=occurrence.action,
        type=verb,
        status="failed" if verb.endswith("failed") else "completed",
        description=sentence + ".",
        entity_type=occurrence.entity_type,
        entity_id=occurrence.entity_id,
        entity_name=occurrence.entity_name,
        user_id=occurrence.user_id,
        created_at=occurrence.created_at,
    )
