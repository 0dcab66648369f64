"""Administration's decisions: who may change whom, and what a key may carry."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import UNSET

from service.admin import store
from service.admin.choices import Check, wrong_currency, wrong_locale, wrong_network, wrong_rule, wrong_timezone
from service.admin.schema import (
    ApiKey,
    InvalidRole,
    Invitation,
    Invite,
    KeyCreate,
    KeyLimitExceeded,
    LastOwner,
    NotYetJoined,
    Quota,
    SettingsPatch,
    Tenant,
    TenantPatch,
    TenantRow,
    Usage,
    User,
    UserExists,
    UserLimitExceeded,
    UserPatch,
)
from service.auth import store as identity
from service.auth.schema import EmailTaken, check_email
from service.platform.access import KEY_SCOPES, ROLES, Role
from service.platform.context import Context
from service.platform.moments import moment
from service.platform.problem import Fault, PermissionDenied, ValidationFailed
from service.platform.secrets import new_api_key, new_id, new_token

MEGABYTE = 1_048_576
_STANDARDS: Final[dict[str, Check]] = {
    "default_currency": wrong_currency,
    "timezone": wrong_timezone,
    "number_format": wrong_locale,
    "default_number_format": wrong_locale,
}
LONGEST_LIFE = timedelta(days=36_525)  # of a key; near the year 10,000 a moment no longer fits every time zone


async def get_tenant(ctx: Context) -> Tenant:
    """The caller's tenant with quotas and usage."""
    row = await store.tenant(ctx)
    ctx.tag(row.version)
    return await _dressed(ctx, row)


async def update_tenant(ctx: Context, patch: TenantPatch) -> Tenant:
    """Change the tenant's name and settings; what is not given stays."""
    row = await store.lock_tenant(ctx)
    ctx.match(row.version)
    settings = {} if patch.settings is UNSET else _chosen(patch.settings)
    name = row.name if patch.name is UNSET else patch.name
    await store.update_tenant(ctx, name, settings)
    changed = await store.tenant(ctx)
    ctx.concerns(
        "tenant", changed.id, changed.name, changed=[*(["name"] if patch.name is not UNSET else []), *settings]
    )
    ctx.tag(changed.version)
    return await _dressed(ctx, changed)


def _chosen(patch: SettingsPatch) -> dict[str, Any]:
    """The settings that are given, each checked by its own standard.

    Raises:
        ValidationFailed: some do not pass; it names each of them.
    """
    given = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    faults = [
        Fault(["body", "settings", *place], wrong)
        for place, check, value in _checks(given)
        if (wrong := check(value)) is not None
    ]
    if faults:
        raise ValidationFailed(*faults)
    return given


def _checks(given: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Check, Any]]:
    """What to look at of these settings: where it stands, by which standard, the value."""
    for name in given.keys() & _STANDARDS.keys():
        yield (name,), _STANDARDS[name], given[name]
    for index, text in enumerate(given.get("allowed_ip_ranges", ())):
        yield ("allowed_ip_ranges", str(index)), wrong_network, text
    for rule in given.get("reconciliation_tolerances", ()):
        yield ("reconciliation_tolerances", rule[:100]), wrong_rule, rule


async def update_user(ctx: Context, user_id: UUID, patch: UserPatch) -> User:
    """Change a user's role, status or name; role and status bite at once."""
    owners = await store.lock_owners(ctx)
    user = await store.lock_user(ctx, user_id)
    role = user.role if patch.role is UNSET else patch.role
    status = user.status if patch.status is UNSET else patch.status
    full_name = user.full_name if patch.full_name is UNSET else patch.full_name
    changes_rights = (role, status) != (user.role, user.status)
    if changes_rights and "owner" in (role, user.role) and ctx.caller.role != "owner":
        raise PermissionDenied
    if user.status == "invited" and status != "invited":
        raise NotYetJoined
    if user.role == "owner" and user.status == "active" and (role, status) != ("owner", "active") and owners == 1:
        raise LastOwner
    changed = await store.update_user(ctx, user_id, role, status, full_name)
    if changes_rights:
        await identity.revoke_tokens(ctx, user_id)
        ctx.after_commit(partial(ctx.resources.gate.drop_keys, await store.key_hashes_of(ctx, user_id)))
    ctx.concerns("user", user_id, user.email, role=role, status=status)
    return changed


async def invite(ctx: Context, body: Invite) -> Invitation:
    """A user who joins by the token of the answer."""
    role = _granted_role(ctx, body.role)
    email = check_email(body.email)
    quota = await _quota(ctx, "users")
    if 0 <= quota.limit <= quota.used:
        raise UserLimitExceeded
    creator = await ctx.email()
    user_id, invitation_id = new_id(), new_id()
    try:
        await store.create_invited_user(ctx, user_id, email, body.full_name, role)
    except EmailTaken as taken:
        raise UserExists from taken
    token, token_hash = new_token()
    expires_at = ctx.now() + timedelta(seconds=ctx.settings.invitation_seconds)
    made = await store.create_invitation(ctx, invitation_id, user_id, token_hash, expires_at, creator)
    ctx.concerns("user", user_id, email, role=role)
    return Invitation(
        id=invitation_id,
        email=email,
        full_name=body.full_name,
        role=role,
        status="pending",
        invitation_token=token,
        expires_at=expires_at,
        created_at=made,
    )


async def create_key(ctx: Context, body: KeyCreate) -> ApiKey:
    """An API key; nobody puts on it what they may not do themselves."""
    unknown = [scope for scope in body.permissions if scope not in KEY_SCOPES]
    if unknown:
        raise ValidationFailed(
            *(Fault(["body", "permissions"], f"{scope[:100]!r} is not a scope") for scope in unknown[:10])
        )
    if not set(body.permissions) <= ctx.caller.scopes:
        raise PermissionDenied
    expires_at = moment(["body", "expires_at"], body.expires_at) if body.expires_at is not None else None
    if expires_at is not None:
        if expires_at <= ctx.now():
            raise ValidationFailed(Fault(["body", "expires_at"], "lies in the past"))
        if expires_at > ctx.now() + LONGEST_LIFE:
            raise ValidationFailed(Fault(["body", "expires_at"], f"is more than {LONGEST_LIFE.days} days away"))
    quota = await _quota(ctx, "api_keys")
    if 0 <= quota.limit <= quota.used:
        raise KeyLimitExceeded
    secret, prefix, key_hash = new_api_key(body.environment)
    key = await store.create_key(
        ctx,
        {
            "tenant_id": ctx.tenant,
            "id": new_id(),
            "name": body.name,
            "description": body.description,
            "key_hash": key_hash,
            "key_prefix": prefix,
            "permissions": [scope for scope in KEY_SCOPES if scope in body.permissions],
            "environment": body.environment,
            "expires_at": expires_at,
            "creator_id": ctx.caller.user_id,
            "created_by": await ctx.email(),
        },
    )
    ctx.concerns("api_key", key.id, key.name, permissions=key.permissions)
    return msgspec.structs.replace(key, key=secret)


async def revoke_key(ctx: Context, key_id: UUID) -> None:
    """End a key at once."""
    name, key_hash = await store.revoke_key(ctx, key_id)
    ctx.after_commit(partial(ctx.resources.gate.drop_keys, [key_hash]))
    ctx.concerns("api_key", key_id, name)


def _granted_role(ctx: Context, role: str) -> Role:
    known = next((known for known in ROLES if known == role), None)
    if known is None:
        raise InvalidRole
    if known == "owner" and ctx.caller.role != "owner":
        raise PermissionDenied
    return known


async def _quota(ctx: Context, name: str) -> Quota:
    """A quota of the tenant, held still until the transaction ends."""
    return (await _dressed(ctx, await store.lock_tenant(ctx))).quotas[name]


async def _dressed(ctx: Context, row: TenantRow) -> Tenant:
    tier, settings = row.subscription_tier, ctx.settings
    users = settings.max_users.of(tier)
    if row.settings.max_users is not None:
        users = row.settings.max_users if users < 0 else min(users, row.settings.max_users)
    return Tenant(
        id=row.id,
        name=row.name,
        slug=row.slug,
        subscription_tier=tier,
        status=row.status,
        settings=msgspec.structs.replace(row.settings, max_users=users),
        quotas={
            "workbooks": Quota(row.workbooks, settings.max_workbooks.of(tier)),
            "users": Quota(row.users, users),
            "api_keys": Quota(row.api_keys, settings.max_api_keys.of(tier)),
            "storage_gb": Quota(round(row.storage_bytes / MEGABYTE / 1024, 6), settings.max_storage_gb.of(tier)),
        },
        usage=Usage(
            users=row.users,
            workbooks=row.workbooks,
            api_calls_this_month=await ctx.resources.gate.calls_this_month(row.id),
            storage_used_mb=round(row.storage_bytes / MEGABYTE, 3),
        ),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
