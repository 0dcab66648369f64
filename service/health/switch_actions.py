"""What operators switch: maintenance and feature flags."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

import structlog
from msgspec import UNSET
from msgspec.structs import replace

from service.health import store
from service.health.schema import (
    OVERRIDES_MAX,
    FeatureFlags,
    FlagChange,
    FlagChanges,
    FlagsChanged,
    FlagStatus,
    MaintenanceQuery,
    MaintenanceStatus,
)
from service.platform.access.switches import FlagState, Maintenance, State
from service.platform.base.flags import FLAGS
from service.platform.base.problem import Fault, PermissionDenied, ValidationFailed
from service.platform.unit.context import Context, Resources

FAULTS_MAX = 20
"""Unknown tenants that are told."""
SHOWN_MAX = 100
"""Characters shown of an unknown name."""

log = structlog.get_logger()


def maintenance(resources: Resources) -> MaintenanceStatus:
    """Whether the deployment is under maintenance, as far as this process knows."""
    now = resources.switches.maintenance
    if now is None:
        return MaintenanceStatus(enabled=False)
    return MaintenanceStatus(enabled=True, message=now.message, since=now.since, expected_end=now.expected_end)


def flags(resources: Resources) -> FeatureFlags:
    """All feature flags, without a word of any tenant."""
    return FeatureFlags(flags=_listed(resources.switches.state), timestamp=resources.clock.now())


async def maintain(ctx: Context, query: MaintenanceQuery) -> MaintenanceStatus:
    """Begin maintenance, say something else of it, or end it."""
    before = await store.lock_switches(ctx)
    wanted = None
    if query.enable:
        since = before.maintenance.since if before.maintenance else ctx.now()
        minutes = query.expected_minutes
        wanted = Maintenance(query.message, since, ctx.now() + timedelta(minutes=minutes) if minutes else None)
    if wanted == before.maintenance:
        ctx.changed_nothing()
    else:
        expected_end = wanted.expected_end if wanted else None
        told = {"enabled": query.enable, "message": wanted.message if wanted else None, "expected_end": expected_end}
        await _write(ctx, replace(before, maintenance=wanted), "maintenance", told)
    await ctx.commit()
    return maintenance(ctx.resources)


async def change_flags(ctx: Context, body: FlagChanges) -> FlagsChanged:
    """Set flags, for all and for single tenants; an empty change only tells.

    Raises:
        ValidationFailed: there is no such flag or tenant, or there would be too many overrides.
        PermissionDenied: another tenant was named by somebody who does not run the deployment.
    """
    asked = {name: FlagChange(enabled=flag) if isinstance(flag, bool) else flag for name, flag in body.flags.items()}
    if faults := [_fault(("body", "flags", name), name, FLAGS, "flag") for name in asked if name not in FLAGS]:
        raise ValidationFailed(*faults)
    tenants = await _tenants(ctx, asked)
    before = await store.lock_switches(ctx)
    after = dict(before.flags)
    for name, change in asked.items():
        now = after.get(name, FlagState())
        overrides = {**now.tenants, **{tenants[called]: value for called, value in change.tenants.items()}}
        after[name] = FlagState(
            enabled=now.enabled if change.enabled is UNSET else change.enabled,
            tenants={tenant: value for tenant, value in overrides.items() if value is not None},
        )
    after = {name: state for name, state in after.items() if state != FlagState()}
    if sum(len(state.tenants) for state in after.values()) > OVERRIDES_MAX:
        raise ValidationFailed.at(["body", "flags"], f"at most {OVERRIDES_MAX} overrides of tenants in all")
    if after == before.flags:
        ctx.changed_nothing()
    else:
        changed = [name for name in FLAGS if after.get(name) != before.flags.get(name)]
        told = {"changes": {name: _told(asked[name], tenants) for name in changed}}
        await _write(ctx, replace(before, flags=after), "feature_flags", told)
    await ctx.commit()
    state = ctx.resources.switches.state
    seen = {name: dict(flag.tenants) for name, flag in state.flags.items()}
    if not (ctx.caller.runs_deployment or ctx.caller.system):
        own = str(ctx.tenant)
        seen = {name: {own: overrides[own]} for name, overrides in seen.items() if own in overrides}
    return FlagsChanged(
        flags=_listed(state), tenants={name: one for name, one in seen.items() if one}, timestamp=ctx.now()
    )


async def _write(ctx: Context, state: State, what: str, told: dict[str, Any]) -> None:
    """Write it and have it reach every process; as an event of the operator's tenant, and in the log."""
    await store.write_switches(ctx, state)
    note(ctx, what, told)
    ctx.after_commit(ctx.resources.switches.look)


def note(ctx: Context, what: str, told: dict[str, Any]) -> None:
    """Tell the route's event what was done to the deployment; the system key has no tenant for it, and the log does."""
    log.warning("operator.acted", what=what, by=ctx.caller.kind, user_id=ctx.caller.user_id, **told)
    if ctx.caller.system and ctx.caller.runs_deployment:
        ctx.changed_nothing()
    else:
        ctx.concerns("deployment", what, None, **told)


async def _tenants(ctx: Context, asked: dict[str, FlagChange]) -> dict[str, str]:
    """Identifiers of the tenants that changes name."""
    names = sorted({name for change in asked.values() for name in change.tenants})
    if not names:
        return {}
    found = await store.tenants_called(ctx, names)
    if not (ctx.caller.runs_deployment or ctx.caller.system) and set(map(found.get, names)) != {str(ctx.tenant)}:
        told = "only who runs the deployment names another tenant than their own"
        raise PermissionDenied.at(["body"], told)  # whether there is such a tenant or not
    faults = []
    for flag, change in asked.items():
        for name in change.tenants:
            if name not in found:
                slugs = await store.slugs_beginning(ctx, name[:2].lower())
                faults.append(_fault(("body", "flags", flag, "tenants", name), name, slugs, "tenant"))
                if len(faults) == FAULTS_MAX:
                    raise ValidationFailed(*faults)
    if faults:
        raise ValidationFailed(*faults)
    return found


def _listed(state: State) -> list[FlagStatus]:
    return [
        FlagStatus(
            name=name,
            description=flag.description,
            enabled=state.is_on(name),
            default=flag.default,
            overrides=len(state.flags[name].tenants) if name in state.flags else 0,
        )
        for name, flag in FLAGS.items()
    ]


def _told(change: FlagChange, tenants: dict[str, str]) -> dict[str, Any]:
    """A change as the audit log tells it."""
    told: dict[str, Any] = {} if change.enabled is UNSET else {"enabled": change.enabled}
    return told | ({"tenants": {tenants[name]: on for name, on in change.tenants.items()}} if change.tenants else {})


def _fault(loc: tuple[str, ...], name: str, known: Iterable[str], what: str) -> Fault:
    near = get_close_matches(name[:SHOWN_MAX].lower(), list(known), 1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}" if what == "flag" else ""
    return Fault([step[:SHOWN_MAX] for step in loc], f"there is no such {what}{hint}")
