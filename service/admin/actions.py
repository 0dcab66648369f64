"""Administration's decisions on tenants and users.

Who may change whom, and what they see of their use.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import UNSET

from service.admin import schema, store
from service.auth import shared as identity
from service.platform.access.caller_status import TenantUsage, Window, is_within, read_address
from service.platform.base.caller import KEY_SCOPES, ROLES, SCOPES, Role
from service.platform.base.problem import Fault, PermissionDenied, ValidationFailed
from service.platform.base.secrets import new_id, new_token
from service.platform.config import Settings
from service.platform.unit.context import Context
from service.platform.work import mail

MEGABYTE = 1_048_576
OWNERS_OWN: Final = "only an owner, with a token of their own, changes who is one"
GATE_SETTINGS: Final = frozenset({"allowed_ip_ranges", "session_timeout_minutes", "timezone", "two_factor_required"})
"""What the gate's copy of the tenant holds of its settings."""
ADMINISTRATION: Final[dict[Role, tuple[str, ...]]] = {
    "owner": ("tenant", "audit-logs", "tenant-deletion"),
    "admin": ("tenant", "audit-logs"),
    "analyst": (),
    "viewer": (),
}
"""What a role may administer besides its scopes."""


async def get_tenant(ctx: Context) -> schema.Tenant:
    """Return the caller's tenant with quotas and usage."""
    used = await ctx.resources.gate.usage(ctx.tenant)  # while no transaction is open: the gate may need a connection
    row = await store.tenant(ctx)
    ctx.set_etag(row.version)
    return to_tenant(ctx, row, used)


async def update_tenant(ctx: Context, patch: schema.TenantPatch) -> schema.Tenant:
    """Change the tenant's record and settings; the gate applies them at once."""
    used = await ctx.resources.gate.usage(ctx.tenant)  # while no transaction is open: the gate may need a connection
    row = await store.lock_tenant(ctx)
    tier_and_status = _tier_and_status(ctx, row, patch)
    ctx.check_if_match(row.version)
    settings = (
        {} if patch.settings is UNSET else chosen(ctx.settings, patch.settings, row.settings.max_workbook_size_mb)
    )
    if not patch.confirm and _shuts_out(ctx, settings.get("allowed_ip_ranges")):
        raise schema.ShutOut.at(
            ["body", "settings", "allowed_ip_ranges"], f"no range has your address {ctx.ip_address}"
        )
    names = [*(["name"] if patch.name is not UNSET else []), *tier_and_status, *settings]
    concerns_gate = bool(tier_and_status or settings.keys() & GATE_SETTINGS)
    if not names:
        ctx.skip_event()
        ctx.set_etag(row.version)
        return to_tenant(ctx, row, used)
    if concerns_gate:
        await ctx.end_rights("tenant", row.id)
    await store.update_tenant(
        ctx,
        row.name if patch.name is UNSET else patch.name,
        row.subscription_tier if patch.subscription_tier is UNSET else patch.subscription_tier,
        row.status if patch.status is UNSET else patch.status,
        settings,
    )
    changed = await store.tenant(ctx)
    if concerns_gate:
        await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_tenant, row.id))
    changes = tier_and_status | {
        name: {"old": getattr(row.settings, name), "new": getattr(changed.settings, name)} for name in settings
    }
    if patch.name is not UNSET:
        changes["name"] = {"old": row.name, "new": changed.name}
    ctx.set_subject("tenant", changed.id, changed.name, changed=names, **changes)
    ctx.set_etag(changed.version)
    return to_tenant(ctx, changed, used)


def _shuts_out(ctx: Context, ranges: list[str] | None) -> bool:
    """Return whether the caller could not call from the same address again."""
    if not ranges or ctx.caller.kind in ("system", "operator"):  # who is not let in by these ranges
        return False
    address = read_address(ctx.ip_address)
    return address is None or not is_within(address, tuple(ranges))


def _tier_and_status(ctx: Context, row: schema.StoredTenant, patch: schema.TenantPatch) -> dict[str, dict[str, Any]]:
    """Return how tier and status change, old and new by name.

    Raises:
        PermissionDenied: they do, and it is not the deployment's own key that asks for it.
        TenantEnded: a cancelled tenant would come back after its grace.
    """
    wanted = {"subscription_tier": patch.subscription_tier, "status": patch.status}
    changes = {
        name: {"old": getattr(row, name), "new": value}
        for name, value in wanted.items()
        if value is not UNSET and value != getattr(row, name)
    }
    if changes and not ctx.caller.system:
        message = "only the deployment's own key changes it"
        raise PermissionDenied(*(Fault(["body", name], message) for name in changes))
    grace = timedelta(days=ctx.settings.tenant_grace_days)
    if "status" in changes and row.cancelled_at is not None and ctx.now() >= row.cancelled_at + grace:
        raise schema.TenantEnded
    return changes


async def delete_tenant(ctx: Context) -> None:
    """Cancel the tenant; its records stay for the days of grace."""
    row = await store.lock_tenant(ctx)
    await ctx.end_rights("tenant", row.id)
    await store.update_tenant(ctx, row.name, row.subscription_tier, "cancelled", {})
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_tenant, row.id))
    ctx.set_subject("tenant", row.id, row.name)


def chosen(settings: Settings, patch: schema.SettingsPatch, own_mb: int | None = None) -> dict[str, Any]:
    """Return the settings of a tenant that are given.

    Args:
        settings: the deployment's.
        own_mb: the size of a workbook that the tenant has set already, which may be sent back.

    Raises:
        ValidationFailed: a workbook would be larger than the deployment takes.
    """
    most_mb = settings.max_upload_mb
    if patch.max_workbook_size_mb is not UNSET and patch.max_workbook_size_mb not in (
        own_mb,
        *range(1, most_mb + 1),
    ):
        where = ["body", "settings", "max_workbook_size_mb"]
        raise ValidationFailed.at(where, f"expected at most {most_mb:,}, the deployment's limit")
    return {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}


async def get_user(ctx: Context, user_id: UUID) -> schema.UserDetail:
    """Return a user with what the role may do."""
    row = await store.user(ctx, user_id)
    return schema.UserDetail(**msgspec.structs.asdict(row), permissions=permissions_of(row.role))


def permissions_of(role: Role) -> schema.Permissions:
    """Return what a role may do in each area, and what it administers."""

    def actions(area: str) -> list[str]:
        scopes = (scope.split(":") for scope in KEY_SCOPES if scope in SCOPES[role])
        return [action for named, action in scopes if named == area]

    return schema.Permissions(
        workbooks=actions("workbooks"),
        calculations=actions("calculations"),
        compliance=actions("compliance"),
        scenarios=actions("scenarios"),
        reports=actions("reports"),
        admin=[*actions("admin"), *ADMINISTRATION[role]],
    )


async def update_user(ctx: Context, user_id: UUID, patch: schema.UserPatch) -> schema.User:
    """Change a user's role, status or name; role and status hold at once."""
    owners = await store.lock_owners(ctx)
    user = await store.lock_user(ctx, user_id)
    role = user.role if patch.role is UNSET else patch.role
    status = user.status if patch.status is UNSET else patch.status
    full_name = user.full_name if patch.full_name is UNSET else patch.full_name
    changes_rights = (role, status) != (user.role, user.status)
    may_touch_owners = ctx.caller.owns and (ctx.caller.system or ctx.caller.user_id in owners)  # still one, that is
    if changes_rights and "owner" in (role, user.role) and not may_touch_owners:
        raise PermissionDenied.at(["body", "role" if role != user.role else "status"], OWNERS_OWN)
    if role != user.role or (status == "active" and changes_rights):  # who comes back is given the role again
        _check_grant(ctx, role)
    if user.status == "invited" and status != "invited":
        raise schema.NotYetJoined
    if owners == {user_id} and (role, status) != ("owner", "active"):
        raise schema.LastOwner
    if (role, status, full_name) == (user.role, user.status, user.full_name):
        ctx.skip_event()
        return user
    if changes_rights:
        await identity.revoke_tokens(ctx, user_id)
    changed = await store.update_user(ctx, user_id, role, status, full_name)
    if changes_rights:
        await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_keys, await store.key_hashes_of(ctx, user_id)))
    ctx.set_subject("user", user_id, user.email, role=role, status=status)
    return changed


async def remove_user(ctx: Context, user_id: UUID) -> None:
    """End a user's sessions, keys and invitation, and free the e-mail."""
    await store.lock_owners(ctx)
    await store.withdraw_invitation(ctx, user_id)  # before the user is locked: the order in which one is accepted
    user = await store.lock_user(ctx, user_id)
    if user.role == "owner":
        raise schema.OwnerStays
    if user_id == ctx.caller.user_id:
        raise schema.SelfStays
    await identity.revoke_tokens(ctx, user_id)
    await store.remove_user(ctx, user_id)
    key_hashes = await store.revoke_keys_of(ctx, user_id)
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_keys, key_hashes))
    ctx.set_subject("user", user_id, user.email)


async def invite(ctx: Context, body: schema.Invite) -> schema.Invitation:
    """Invite a user, who joins by the token of the answer.

    A mail brings the token too, where that is wanted. Whether the e-mail has an account in another tenant shows in
    nothing that the caller reads: the invitation is of no use then, and the letter says so to whoever reads the
    mailbox.
    """
    role = _role_to_grant(ctx, body.role)
    email = body.email.strip()
    await ctx.limit([Window(f"invitations:{ctx.tenant}", ctx.settings.invitations_per_hour, 3600)])
    tenant = await store.lock_tenant(ctx)  # held, so that neither the places nor one e-mail are given twice
    user_id = await _place_invited_user(ctx, tenant, email, body.full_name, role)
    creator = await ctx.email()
    token, token_hash = new_token()
    expires_at = ctx.now() + timedelta(seconds=ctx.settings.invitation_seconds)
    created_at = await store.create_invitation(ctx, user_id, token_hash, expires_at, creator)
    invitation = schema.Invitation(
        id=user_id,
        email=email,
        full_name=body.full_name,
        role=role,
        status="pending",
        invitation_token=token,
        expires_at=expires_at,
        created_at=created_at,
    )
    is_elsewhere = await identity.find_account(ctx, email) is not None
    if body.send_email:
        await _send(ctx, invitation, tenant.name, creator, is_elsewhere=is_elsewhere)
    ctx.set_subject("user", user_id, email, role=role)
    return invitation


async def _send(
    ctx: Context, invitation: schema.Invitation, organization: str, inviter: str, *, is_elsewhere: bool
) -> None:
    """Queue the letter with the token, or with why it is of no use.

    Raises:
        ValidationFailed: no mail can go to the address.
    """
    letter = mail.invitation(
        ctx.settings,
        to=invitation.email,
        full_name=invitation.full_name,
        organization=organization,
        inviter=inviter,
        token=None if is_elsewhere else invitation.invitation_token,
        expires_at=await ctx.local_time(invitation.expires_at),
    )
    try:
        await mail.post(ctx, letter)
    except mail.UnfitMail as error:
        raise ValidationFailed(Fault(["body", "email"], str(error))) from error


async def _place_invited_user(
    ctx: Context, tenant: schema.StoredTenant, email: str, full_name: str, role: Role
) -> UUID:
    """Return a place for an invited user; one whose invitation ran out keeps theirs.

    Raises:
        UserExists: somebody of the tenant has the e-mail, or an open invitation to it.
        UserLimitExceeded: there is no place.
        PermissionDenied: it would take an owner's role from somebody, which only an owner may.
    """
    late = await store.withdraw_expired(ctx, email)
    if late is not None and late.role == "owner" and not ctx.caller.owns:
        raise PermissionDenied.at(["body", "role"], OWNERS_OWN)
    user_id = new_id() if late is None else late.id
    if late is None:
        await store.create_invited_user(ctx, user_id, email, full_name, role)
    else:
        await store.renew_invited_user(ctx, user_id, email, full_name, role)
    if 0 <= _users_most(ctx, tenant) <= tenant.users - (late is not None):  # who is there already needs no place
        most = _users_most(ctx, tenant)
        raise schema.UserLimitExceeded.at(["body"], f"the limit is {most:,} users, open invitations included")
    return user_id


def _role_to_grant(ctx: Context, role: str) -> Role:
    name = next((known for known in ROLES if known == role), None)
    if name is None:
        raise schema.InvalidRole.at(["body", "role"], f"the roles are {', '.join(ROLES)}")
    _check_grant(ctx, name)
    return name


def _check_grant(ctx: Context, role: Role) -> None:
    """See that the caller may give this role.

    Raises:
        PermissionDenied: the role has what the caller lacks: they hold a key that has users alone, say.
    """
    if not ctx.caller.may_make(role):
        message = OWNERS_OWN if role == "owner" else f"the role {role} has scopes that you lack"
        raise PermissionDenied.at(["body", "role"], message)


def _users_most(ctx: Context, row: schema.StoredTenant) -> int:
    """Return the most users of the tenant; -1 is unlimited.

    The tier's figure, or the tenant's own where that is lower.
    """
    tier, own = ctx.settings.max_users.of(row.subscription_tier), row.settings.max_users
    return tier if own is None or own < 1 else own if tier < 0 else min(tier, own)


def to_tenant(ctx: Context, row: schema.StoredTenant, used: TenantUsage) -> schema.Tenant:
    """Return a tenant with its quotas and what it uses."""
    tier, settings = row.subscription_tier, ctx.settings
    users = _users_most(ctx, row)
    return schema.Tenant(
        id=row.id,
        name=row.name,
        slug=row.slug,
        subscription_tier=tier,
        status=row.status,
        settings=msgspec.structs.replace(row.settings, max_users=users),
        quotas={
            "workbooks": schema.Quota(row.workbooks, settings.max_workbooks.of(tier)),
            "users": schema.Quota(row.users, users),
            "api_keys": schema.Quota(row.api_keys, settings.max_api_keys.of(tier)),
            "storage_gb": schema.Quota(round(row.storage_bytes / MEGABYTE / 1024, 6), settings.max_storage_gb.of(tier)),
            "calculations": schema.Quota(used.calculations, settings.calculations_per_month.of(tier)),
        },
        usage=schema.Usage(
            users=row.users,
            workbooks=row.workbooks,
            api_calls_this_month=used.calls,
            calculations_this_month=used.calculations,
            storage_used_mb=round(row.storage_bytes / MEGABYTE, 3),
        ),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
