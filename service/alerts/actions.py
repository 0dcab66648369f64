"""Alerts' decisions: what is an alert, and what may be changed of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET

from core.alerts.conditions import CONDITIONS, ComplianceConditions, ScheduleConditions
from core.compliance.suites import TESTS
from service.alerts import channel_actions, delivery_actions, schedule_actions, sending_actions, store
from service.alerts.schema import (
    Alert,
    AlertCreate,
    AlertDetail,
    AlertLimitExceeded,
    AlertPatch,
    AlertRow,
    AlertTest,
    InvalidAlertType,
    InvalidConditions,
)
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.http.faults import read
from service.platform.unit.context import Context
from service.workbooks import shared as workbooks

CONDITIONS_PLACE = ["body", "conditions"]
UNKNOWN_SHOWN = 10
"""Unknown tests that a refusal names."""


async def create(ctx: Context, body: AlertCreate) -> Alert:
    """An alert of the tenant's, or of one workbook."""
    if body.alert_type not in CONDITIONS:
        raise InvalidAlertType.at(["body", "alert_type"], f"the types are {', '.join(CONDITIONS)}")
    channel_actions.check_types(body.channels)
    conditions = await _conditions(ctx, body.alert_type, body.conditions)
    channels = await channel_actions.checked(ctx, body.channels)
    if body.workbook_id is not None:
        await workbooks.get(ctx, body.workbook_id)
    if await store.lock_count(ctx) >= ctx.settings.max_alerts:
        raise AlertLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_alerts:,} alerts")
    row = await store.create(
        ctx,
        {
            "tenant_id": ctx.tenant,
            "id": new_id(),
            "name": body.name,
            "description": body.description,
            "alert_type": body.alert_type,
            "conditions": _json(conditions),
            "workbook_id": body.workbook_id,
            "enabled": body.enabled,
            "cooldown_minutes": body.cooldown_minutes,
            "next_at": await _due(ctx, body.alert_type, conditions, body.enabled),
            "created_by": await ctx.email(),
            **channel_actions.kept(ctx, channels),
        },
    )
    types = [channel.type for channel in channels]
    ctx.concerns("alert", row.id, row.name, alert_type=row.alert_type, channels=types, workbook_id=row.workbook_id)
    return _told(ctx, row)


async def detail(ctx: Context, alert_id: UUID, query: AlertDetail) -> Alert:
    """An alert, with its last triggers where they are asked for."""
    row = await store.get(ctx, alert_id)
    history = await store.history(ctx, alert_id, most=query.history_limit) if query.include_history else UNSET
    return msgspec.structs.replace(_told(ctx, row), history=history)


async def update(ctx: Context, alert_id: UUID, patch: AlertPatch) -> Alert:
    """Change what is given of an alert; what comes of it must be one again."""
    row = await store.get(ctx, alert_id, locked=True)
    ctx.match(row.version)
    given: dict[str, Any] = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    if not given:
        ctx.changed_nothing()
        return _told(ctx, row)
    ctx.concerns("alert", alert_id, given.get("name", row.name), changed=sorted(given))
    if patch.channels is not UNSET:
        channel_actions.check_types(patch.channels)
    conditions, enabled = row.conditions, given.get("enabled", row.enabled)
    if patch.conditions is not UNSET:
        conditions = await _conditions(ctx, row.alert_type, patch.conditions)
        given |= {"conditions": _json(conditions), "last_evaluation": None}
    if patch.channels is not UNSET:
        channels = await channel_actions.checked(ctx, patch.channels, row)
        given |= channel_actions.kept(ctx, channels)
    if "conditions" in given or enabled is not row.enabled:
        given["next_at"] = await _due(ctx, row.alert_type, conditions, enabled)
    await delivery_actions.hasten(ctx, alert_id)
    return _told(ctx, await store.update(ctx, alert_id, {**given, "updated_at": ctx.now()}))


async def delete(ctx: Context, alert_id: UUID) -> None:
    """Delete an alert with its history; what waits is not sent."""
    ctx.concerns("alert", alert_id, await store.delete(ctx, alert_id))


async def test(ctx: Context, alert_id: UUID) -> AlertTest:
    """Send a test message through each channel at once; it is no trigger, and counts for nothing."""
    row = await store.get(ctx, alert_id)
    ctx.concerns("alert", alert_id, row.name)
    await ctx.email()  # of the event: the transaction in which it is known ends while messages are sent
    results = await sending_actions.send_test(ctx, row)
    return AlertTest(test_id=new_id(), alert_id=alert_id, results=results, tested_at=ctx.now())


def _told(ctx: Context, row: AlertRow) -> Alert:
    ctx.tag(row.version)
    return Alert(**{name: getattr(row, name) for name in Alert.__struct_fields__})


# Conditions -----------------------------------------------------------------------------------------------------------


async def _conditions(ctx: Context, alert_type: str, given: dict[str, Any]) -> dict[str, Any]:
    """Conditions of this type, null taken for nothing.

    Raises:
        InvalidConditions: they do not fit it, name tests that nothing runs, or times that never come.
    """
    told = {name: value for name, value in given.items() if value is not None}
    try:
        found = read(told, CONDITIONS[alert_type], CONDITIONS_PLACE)
        if isinstance(found, ScheduleConditions):
            schedule_actions.check(found.schedule)
    except ValidationFailed as refusal:
        raise InvalidConditions(*refusal.errors) from None
    except schedule_actions.UnfitSchedule as error:
        raise InvalidConditions.at([*CONDITIONS_PLACE, "schedule"], str(error)) from None
    if isinstance(found, ComplianceConditions):
        unknown = [test_id for test_id in found.test_ids if test_id not in TESTS]
        unknown = await store.unknown_tests(ctx, unknown) if unknown else []
        if unknown:
            where = [*CONDITIONS_PLACE, "test_ids"]
            faults = (Fault(where, f"neither the suites nor a deal's definition has {one!r}") for one in unknown)
            raise InvalidConditions(*list(faults)[:UNKNOWN_SHOWN])
    return told


async def _due(ctx: Context, alert_type: str, conditions: dict[str, Any], enabled: bool) -> datetime | None:
    """When an alert is due next; None: never by itself."""
    if alert_type != "schedule" or not enabled:
        return None
    return schedule_actions.next_time(conditions["schedule"], (await ctx.zone()).key, ctx.now())


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
