"""API keys' decisions: what a key may carry, for how long, and how it ends."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Literal
from uuid import UUID

import msgspec

from service.admin import store
from service.admin.schema import ApiKey, KeyCreate, KeyLimitExceeded, KeyNotActive, OldKey, RotatedKeys, Rotation
from service.platform.base.caller import KEY_SCOPES
from service.platform.base.moments import moment
from service.platform.base.problem import Fault, PermissionDenied, ValidationFailed
from service.platform.base.secrets import new_api_key, new_id
from service.platform.unit.context import Context

LONGEST_LIFE = timedelta(days=36_525)  # of a key; near the year 10,000 a moment no longer fits every time zone


async def create(ctx: Context, body: KeyCreate) -> ApiKey:
    """Create an API key with rights that the caller has."""
    unknown = [scope for scope in body.permissions if scope not in KEY_SCOPES]
    if unknown:
        faults = [Fault(["body", "permissions"], f"{scope[:100]!r} is not a scope") for scope in unknown[:10]]
        raise ValidationFailed(*faults, Fault(["body", "permissions"], f"the scopes are {', '.join(KEY_SCOPES)}"))
    _grants(ctx, body.permissions)
    expires_at = moment(["body", "expires_at"], body.expires_at) if body.expires_at is not None else None
    if expires_at is not None:
        if expires_at <= ctx.now():
            raise ValidationFailed(Fault(["body", "expires_at"], "lies in the past"))
        if expires_at > ctx.now() + LONGEST_LIFE:
            raise ValidationFailed(Fault(["body", "expires_at"], f"is more than {LONGEST_LIFE.days} days away"))
    tenant = await store.lock_tenant(ctx)
    if 0 <= ctx.settings.max_api_keys.of(tenant.subscription_tier) <= tenant.api_keys:
        most = ctx.settings.max_api_keys.of(tenant.subscription_tier)
        raise KeyLimitExceeded.at(["body"], f"the limit is {most:,} active keys on the {tenant.subscription_tier} tier")
    permissions = [scope for scope in KEY_SCOPES if scope in body.permissions]
    key = await _new_key(ctx, body.name, body.description, permissions, body.environment, expires_at)
    ctx.set_subject("api_key", key.id, key.name, permissions=key.permissions)
    return key


async def rotate(ctx: Context, key_id: UUID, body: Rotation) -> RotatedKeys:
    """Replace a key, which works for some hours yet.

    The new one needs no place of its own in the quota.
    """
    old = await store.lock_key(ctx, key_id)
    _grants(ctx, old.permissions)
    if old.status != "active":
        raise KeyNotActive
    new = await _new_key(ctx, old.name, old.description, old.permissions, old.environment, old.expires_at)
    end = ctx.now() + timedelta(hours=body.grace_period_hours)
    await ctx.end_rights("key", key_id)
    expires_at = await store.deprecate_key(ctx, key_id, new.id, end)
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_keys, [old.key_hash]))
    ctx.set_subject("api_key", key_id, old.name, new_key_id=new.id, expires_at=expires_at)
    return RotatedKeys(new_key=new, old_key=OldKey(id=key_id, status="deprecated", expires_at=expires_at))


def _grants(ctx: Context, permissions: list[str]) -> None:
    """See that the caller may make a key with these permissions.

    Raises:
        PermissionDenied: they lack one, or are no user of the tenant, whose present role bounds a key at all times.
    """
    if not ctx.caller.member:
        raise PermissionDenied.at([], "only a user of the tenant makes keys, or a key of theirs")
    if not ctx.caller.may_grant(permissions):
        lacked = sorted({*permissions} - ctx.caller.scopes)
        raise PermissionDenied.at(["body", "permissions"], f"you lack {', '.join(lacked)}, so a key of yours does")


async def _new_key(
    ctx: Context,
    name: str,
    description: str | None,
    permissions: list[str],
    environment: Literal["live", "test"],
    expires_at: datetime | None,
) -> ApiKey:
    """Return a key of the caller's, with its secret."""
    secret, prefix, key_hash = new_api_key(environment)
    key = await store.create_key(
        ctx,
        {
            "tenant_id": ctx.tenant,
            "id": new_id(),
            "name": name,
            "description": description,
            "key_hash": key_hash,
            "key_prefix": prefix,
            "permissions": permissions,
            "environment": environment,
            "expires_at": expires_at,
            "creator_id": ctx.caller.user_id,
            "created_by": await ctx.email(),
        },
    )
    return msgspec.structs.replace(key, key=secret)


async def revoke(ctx: Context, key_id: UUID) -> None:
    """End a key at once."""
    key = await store.lock_key(ctx, key_id)
    if key.status == "revoked":
        ctx.skip_event()
        return
    await ctx.end_rights("key", key_id)
    await store.revoke_key(ctx, key_id)
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_keys, [key.key_hash]))
    ctx.set_subject("api_key", key_id, key.name)
