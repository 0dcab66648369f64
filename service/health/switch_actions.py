"""What operators switch: maintenance and feature flags."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

import structlog
from msgspec import UNSET
from msgspec.structs import replace

from service.health import schema, store
from service.platform.access.switches import FlagState, Maintenance, State
from service.platform.base.flags import FLAGS
from service.platform.base.problem import Fault, PermissionDenied, ValidationFailed
from service.platform.unit.context import Context, Resources

FAULTS_MAX = 20
"""Most unknown tenants that a refusal names."""
SHOWN_MAX = 100
"""Characters shown of an unknown name."""

log = structlog.get_logger()


def maintenance(resources: Resources) -> schema.MaintenanceStatus:
    """Return this process's view of the maintenance mode."""
    now = resources.switches.maintenance
    if now is None:
        return schema.MaintenanceStatus(enabled=False)
    return schema.MaintenanceStatus(enabled=True, message=now.message, since=now.since, expected_end=now.expected_end)


def flags(resources: Resources) -> schema.FeatureFlags:
    """Return all feature flags, without a word of any tenant."""
    return schema.FeatureFlags(flags=_to_statuses(resources.switches.state), timestamp=resources.clock.now())


async def maintain(ctx: Context, query: schema.MaintenanceQuery) -> schema.MaintenanceStatus:
    """Begin maintenance, say something else of it, or end it."""
    before = await store.lock_switches(ctx)
    wanted = None
    if query.enable:
        since = before.maintenance.since if before.maintenance else ctx.now()
        minutes = query.expected_minutes
        wanted = Maintenance(query.message, since, ctx.now() + timedelta(minutes=minutes) if minutes else None)
    if wanted == before.maintenance:
        ctx.skip_event()
    else:
        expected_end = wanted.expected_end if wanted else None
        details = {"enabled": query.enable, "message": wanted.message if wanted else None, "expected_end": expected_end}
        await _write(ctx, replace(before, maintenance=wanted), "maintenance", details)
    await ctx.commit()
    return maintenance(ctx.resources)


async def change_flags(ctx: Context, body: schema.FlagChanges) -> schema.FlagsChanged:
    """Set flags, for all and for single tenants; an empty change only reads.

    Raises:
        ValidationFailed: there is no such flag or tenant, or there would be too many overrides.
        PermissionDenied: another tenant was named by somebody who does not run the deployment.
    """
    changes = {
        name: schema.FlagChange(enabled=flag) if isinstance(flag, bool) else flag for name, flag in body.flags.items()
    }
    if faults := [_fault(("body", "flags", name), name, FLAGS, "flag") for name in changes if name not in FLAGS]:
        raise ValidationFailed(*faults)
    tenants = await _tenants(ctx, changes)
    before = await store.lock_switches(ctx)
    after = dict(before.flags)
    for name, change in changes.items():
        now = after.get(name, FlagState())
        overrides = {**now.tenants, **{tenants[called]: value for called, value in change.tenants.items()}}
        after[name] = FlagState(
            enabled=now.enabled if change.enabled is UNSET else change.enabled,
            tenants={tenant: value for tenant, value in overrides.items() if value is not None},
        )
    after = {name: state for name, state in after.items() if state != FlagState()}
    if sum(len(state.tenants) for state in after.values()) > schema.OVERRIDES_MAX:
        raise ValidationFailed.at(["body", "flags"], f"at most {schema.OVERRIDES_MAX} overrides of tenants in all")
    if after == before.flags:
        ctx.skip_event()
    else:
        changed = [name for name in FLAGS if after.get(name) != before.flags.get(name)]
        details = {"changes": {name: _change_details(changes[name], tenants) for name in changed}}
        await _write(ctx, replace(before, flags=after), "feature_flags", details)
    await ctx.commit()
    state = ctx.resources.switches.state
    overrides_by_flag = {name: dict(flag.tenants) for name, flag in state.flags.items()}
    if not (ctx.caller.runs_deployment or ctx.caller.system):
        own = str(ctx.tenant)
        overrides_by_flag = {
            name: {own: overrides[own]} for name, overrides in overrides_by_flag.items() if own in overrides
        }
    return schema.FlagsChanged(
        flags=_to_statuses(state),
        tenants={name: tenant for name, tenant in overrides_by_flag.items() if tenant},
        timestamp=ctx.now(),
    )


async def _write(ctx: Context, state: State, what: str, details: dict[str, Any]) -> None:
    """Write the switches, spread them, and record the change."""
    await store.write_switches(ctx, state)
    note(ctx, what, details)
    ctx.after_commit(ctx.resources.switches.look)


def note(ctx: Context, what: str, details: dict[str, Any]) -> None:
    """Record what was done to the deployment, in event and log."""
    log.warning("operator.acted", what=what, by=ctx.caller.kind, user_id=ctx.caller.user_id, **details)
    if ctx.caller.system and ctx.caller.runs_deployment:
        ctx.skip_event()
    else:
        ctx.set_subject("deployment", what, None, **details)


async def _tenants(ctx: Context, changes: dict[str, schema.FlagChange]) -> dict[str, str]:
    """Return identifiers of the tenants that changes name."""
    names = sorted({name for change in changes.values() for name in change.tenants})
    if not names:
        return {}
    ids = await store.tenants_called(ctx, names)
    if not (ctx.caller.runs_deployment or ctx.caller.system) and set(map(ids.get, names)) != {str(ctx.tenant)}:
        message = "only who runs the deployment names another tenant than their own"
        raise PermissionDenied.at(["body"], message)  # whether there is such a tenant or not
    faults = []
    for flag, change in changes.items():
        for name in change.tenants:
            if name not in ids:
                slugs = await store.slugs_beginning(ctx, name[:2].lower())
                faults.append(_fault(("body", "flags", flag, "tenants", name), name, slugs, "tenant"))
                if len(faults) == FAULTS_MAX:
                    raise ValidationFailed(*faults)
    if faults:
        raise ValidationFailed(*faults)
    return ids


def _to_statuses(state: State) -> list[schema.FlagStatus]:
    return [
        schema.FlagStatus(
            name=name,
            description=flag.description,
            enabled=state.is_on(name),
            default=flag.default,
            overrides=len(state.flags[name].tenants) if name in state.flags else 0,
        )
        for name, flag in FLAGS.items()
    ]


def _change_details(change: schema.FlagChange, tenants: dict[str, str]) -> dict[str, Any]:
    """Return a change as the audit log has it."""
    fields: dict[str, Any] = {} if change.enabled is UNSET else {"enabled": change.enabled}
    return fields | ({"tenants": {tenants[name]: on for name, on in change.tenants.items()}} if change.tenants else {})


def _fault(loc: tuple[str, ...], name: str, known: Iterable[str], what: str) -> Fault:
    near = get_close_matches(name[:SHOWN_MAX].lower(), list(known), 1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}" if what == "flag" else ""
    return Fault([step[:SHOWN_MAX] for step in loc], f"there is no such {what}{hint}")
