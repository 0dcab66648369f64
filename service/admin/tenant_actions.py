"""How a tenant comes to be without a registration, and how its ownership passes on."""

from __future__ import annotations

from functools import partial

from msgspec import UNSET

from service.admin import actions, schema, store
from service.auth import shared as identity
from service.platform.access.caller_status import TenantUsage
from service.platform.base.problem import PermissionDenied, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context


async def provide(ctx: Context, body: schema.TenantCreate) -> schema.NewTenant:
    """Create a tenant and invite its owner, in one transaction.

    Raises:
        PermissionDenied: it is not the deployment's own key that asks for it.
        SlugTaken: another tenant has the slug, or operators are known by it.
        UserExists: the owner's e-mail has an account in another tenant, so the invitation would lead nowhere.
    """
    if not ctx.caller.system:
        raise PermissionDenied.at([], "only the deployment's own key makes tenants")
    if not ctx.caller.runs_deployment:
        raise ValidationFailed.at(["header", "x-tenant-id"], "a tenant that is yet to be made is not named")
    email = body.owner_email.strip()
    settings = {} if body.settings is UNSET else actions.chosen(ctx.settings, body.settings)
    tier = ctx.settings.tier_of_new_tenant if body.subscription_tier is UNSET else body.subscription_tier
    if body.slug in ctx.settings.operator_tenants:
        raise schema.SlugTaken
    if await identity.find_account(ctx, email) is not None:
        raise schema.UserExists
    tenant_id = new_id()
    await ctx.act_for(tenant_id)
    if body.slug is None:
        await identity.create_tenant_with_slug(ctx, tenant_id, body.name, tier)
    elif not await identity.create_tenant(ctx, tenant_id, body.name, body.slug, tier):
        raise schema.SlugTaken
    await store.update_tenant(ctx, body.name, tier, "active", settings)
    invite = schema.Invite(email=email, full_name=body.owner_full_name, role="owner", send_email=body.send_email)
    owner = await actions.invite(ctx, invite)
    row = await store.tenant(ctx)
    ctx.set_subject("tenant", row.id, row.name, subscription_tier=tier, owner=email)
    return schema.NewTenant(tenant=actions.to_tenant(ctx, row, TenantUsage(0, 0)), owner=owner)


async def transfer(ctx: Context, body: schema.Transfer) -> schema.Transferred:
    """Make a user the owner in place of the caller.

    The caller becomes an admin; the system key replaces all owners. The tokens of both end, as with every change of
    a role.

    Raises:
        PermissionDenied: the caller is no owner, or has just ceased to be one.
        NotYetJoined, NotActive, AlreadyOwner: the user cannot become one.
    """
    owners = await store.lock_owners(ctx)
    if not (ctx.caller.owns and (ctx.caller.system or ctx.caller.user_id in owners)):
        raise PermissionDenied.at([], "only an owner gives the ownership away, with a token of their own")
    heir = await store.lock_user(ctx, body.user_id)
    if heir.status == "invited":
        raise schema.NotYetJoined
    if heir.status != "active":
        raise schema.NotActive
    if heir.role == "owner":
        raise schema.AlreadyOwner
    former = sorted(owners) if ctx.caller.system else [ctx.caller.user_id]
    owner = await _become(ctx, heir, "owner")
    admins = [await _become(ctx, await store.lock_user(ctx, user_id), "admin") for user_id in former]
    ctx.set_subject("user", owner.id, owner.email, former_owners=[str(admin.id) for admin in admins])
    return schema.Transferred(owner=owner, former_owners=admins)


async def _become(ctx: Context, user: schema.User, role: str) -> schema.User:
    """Give a user a role, which holds at once."""
    await identity.revoke_tokens(ctx, user.id)
    changed = await store.update_user(ctx, user.id, role, user.status, user.full_name)
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_keys, await store.key_hashes_of(ctx, user.id)))
    return changed
