"""Alerts' decisions: what is an alert, and what may be changed of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import UNSET, UnsetType

from core.alerts.conditions import CONDITIONS, ComplianceConditions, ScheduleConditions
from core.compliance.suites import TESTS
from service.alerts import channel_actions, delivery_actions, schedule_actions, schema, sending_actions, store
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.http.faults import read
from service.platform.unit.context import Context
from service.platform.unit.records import narrow, to_json
from service.workbooks import shared as workbooks

CONDITIONS_PLACE = ["body", "conditions"]
UNKNOWN_SHOWN = 10
"""Unknown tests that a refusal names."""


async def create(ctx: Context, body: schema.AlertCreate) -> schema.Alert:
    """Create an alert of the tenant's, or of one workbook."""
    if body.alert_type not in CONDITIONS:
        raise schema.InvalidAlertType.at(["body", "alert_type"], f"the types are {', '.join(CONDITIONS)}")
    channel_actions.check_types(body.channels)
    conditions = await _conditions(ctx, body.alert_type, body.conditions)
    channels = await channel_actions.check_channels(ctx, body.channels)
    if body.workbook_id is not None:
        await workbooks.get(ctx, body.workbook_id)
    if await store.alerts.lock_count(ctx) >= ctx.settings.max_alerts:
        raise schema.AlertLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_alerts:,} alerts")
    row = await store.alerts.create(
        ctx,
        {
            "id": new_id(),
            "name": body.name,
            "description": body.description,
            "alert_type": body.alert_type,
            "conditions": to_json(conditions),
            "workbook_id": body.workbook_id,
            "enabled": body.enabled,
            "cooldown_minutes": body.cooldown_minutes,
            "next_at": await _due(ctx, body.alert_type, conditions, body.enabled),
            "created_by": await ctx.email(),
            **channel_actions.seal_channels(ctx, channels),
        },
    )
    types = [channel.type for channel in channels]
    ctx.set_subject("alert", row.id, row.name, alert_type=row.alert_type, channels=types, workbook_id=row.workbook_id)
    return _to_response(ctx, row)


async def detail(ctx: Context, alert_id: UUID, query: schema.AlertDetail) -> schema.Alert:
    """Return an alert, with its last triggers where they are asked for."""
    row = await store.alerts.get(ctx, alert_id)
    history = await store.history(ctx, alert_id, most=query.history_limit) if query.include_history else UNSET
    return _to_response(ctx, row, history)


async def update(ctx: Context, alert_id: UUID, patch: schema.AlertPatch) -> schema.Alert:
    """Change what is given of an alert; what comes of it must be one again."""
    row = await store.alerts.get(ctx, alert_id, lock=True)
    ctx.check_if_match(row.version)
    changes = patch.changes()
    if not changes:
        ctx.skip_event()
        return _to_response(ctx, row)
    ctx.set_subject("alert", alert_id, changes.get("name", row.name), changed=sorted(changes))
    given_channels = changes.pop("channels", None)
    if given_channels is not None:
        channel_actions.check_types(given_channels)
    conditions, enabled = row.conditions, changes.get("enabled", row.enabled)
    if "conditions" in changes:
        conditions = await _conditions(ctx, row.alert_type, changes["conditions"])
        changes |= {"conditions": to_json(conditions), "last_evaluation": None}
    if given_channels is not None:
        channels = await channel_actions.check_channels(ctx, given_channels, row)
        changes |= channel_actions.seal_channels(ctx, channels)
    if "conditions" in changes or enabled is not row.enabled:
        changes["next_at"] = await _due(ctx, row.alert_type, conditions, enabled)
    await delivery_actions.hasten(ctx, alert_id)
    return _to_response(ctx, await store.alerts.update(ctx, alert_id, {**changes, "updated_at": ctx.now()}))


async def delete(ctx: Context, alert_id: UUID) -> None:
    """Delete an alert with its history; what waits is not sent."""
    ctx.set_subject("alert", alert_id, (await store.alerts.pop(ctx, alert_id)).name)


async def test(ctx: Context, alert_id: UUID) -> schema.AlertTest:
    """Send a test message through each channel now. It is no trigger."""
    row = await store.alerts.get(ctx, alert_id)
    ctx.set_subject("alert", alert_id, row.name)
    await ctx.email()  # of the event: the transaction in which it is known ends while messages are sent
    results = await sending_actions.send_test(ctx, row)
    return schema.AlertTest(test_id=new_id(), alert_id=alert_id, results=results, tested_at=ctx.now())


def _to_response(ctx: Context, row: schema.AlertRow, history: list[schema.Trigger] | UnsetType = UNSET) -> schema.Alert:
    ctx.set_etag(row.version)
    return narrow(schema.Alert, row, history=history)


# Conditions -----------------------------------------------------------------------------------------------------------


async def _conditions(ctx: Context, alert_type: str, conditions: dict[str, Any]) -> dict[str, Any]:
    """Conditions of this type, null taken for nothing.

    Raises:
        InvalidConditions: they do not fit it, name tests that nothing runs, or times that never come.
    """
    present = {name: value for name, value in conditions.items() if value is not None}
    try:
        typed = read(present, CONDITIONS[alert_type], CONDITIONS_PLACE)
        if isinstance(typed, ScheduleConditions):
            schedule_actions.check(typed.schedule)
    except ValidationFailed as refusal:
        raise schema.InvalidConditions(*refusal.errors) from None
    except schedule_actions.UnfitSchedule as error:
        raise schema.InvalidConditions.at([*CONDITIONS_PLACE, "schedule"], str(error)) from None
    if isinstance(typed, ComplianceConditions):
        unknown = [test_id for test_id in typed.test_ids if test_id not in TESTS]
        unknown = await store.unknown_tests(ctx, unknown) if unknown else []
        if unknown:
            where = [*CONDITIONS_PLACE, "test_ids"]
            faults = (
                Fault(where, f"neither the suites nor a deal's definition has {test_id!r}") for test_id in unknown
            )
            raise schema.InvalidConditions(*list(faults)[:UNKNOWN_SHOWN])
    return present


async def _due(ctx: Context, alert_type: str, conditions: dict[str, Any], enabled: bool) -> datetime | None:
    """Return when an alert is due next; None: never by itself."""
    if alert_type != "schedule" or not enabled:
        return None
    return schedule_actions.next_time(conditions["schedule"], (await ctx.zone()).key, ctx.now())
