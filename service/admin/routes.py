"""Administration's rows."""

from __future__ import annotations

from uuid import UUID

from service.admin import actions, erasure_actions, key_actions, schema, store, tenant_actions
from service.platform.route.api import Area, Page
from service.platform.unit.context import Context

area = Area("/api/v1/admin", tag="admin", essential=True)


@area.get("/tenant", access="role:admin", versioned=True)
async def get_tenant(ctx: Context) -> schema.Tenant:
    """Give the caller's tenant: settings, quotas, usage."""
    return await actions.get_tenant(ctx)


@area.patch(
    "/tenant", access="role:admin", errors=(schema.TenantEnded, schema.ShutOut), event="tenant.updated", versioned=True
)
async def update_tenant(ctx: Context, body: schema.TenantPatch) -> schema.Tenant:
    """Change the tenant's name and settings; other fields stay.

    Only the system key changes tier and status.
    """
    return await actions.update_tenant(ctx, body)


@area.delete("/tenant", access="role:owner", event="tenant.deleted")
async def delete_tenant(ctx: Context) -> None:
    """Cancel the tenant: nobody of it gets in, nothing of it runs.

    Its records are removed after the days of grace. Until then the system key can bring it back. Evidence stays for as
    long as it must.
    """
    await actions.delete_tenant(ctx)


@area.post(
    "/tenants",
    access="role:admin",
    status=201,
    everywhere=True,
    errors=(schema.SlugTaken, schema.UserExists),
    event="tenant.created",
)
async def create_tenant(ctx: Context, body: schema.TenantCreate) -> schema.NewTenant:
    """Make a tenant and invites its owner, who joins with the token of the answer.

    Only for the system key.
    """
    return await tenant_actions.provide(ctx, body)


@area.post(
    "/tenant/transfer-ownership",
    access="role:admin",
    status=200,
    errors=(schema.UserNotFound, schema.NotYetJoined, schema.NotActive, schema.AlreadyOwner),
    event="tenant.ownership_transferred",
)
async def transfer_ownership(ctx: Context, body: schema.Transfer) -> schema.Transferred:
    """Make another active user the owner in place of the owner who calls.

    The system key replaces all owners.
    """
    return await tenant_actions.transfer(ctx, body)


@area.get("/users", access="admin:users")
async def list_users(ctx: Context, query: schema.UserList) -> Page[schema.User]:
    """List the users of the tenant."""
    return await store.users(ctx, query)


@area.post(
    "/users/invite",
    access="admin:users",
    status=201,
    errors=(schema.InvalidRole, schema.UserExists, schema.UserLimitExceeded),
    event="user.invited",
)
async def invite_user(ctx: Context, body: schema.Invite) -> schema.Invitation:
    """Invite a user, who joins with the token of the answer."""
    return await actions.invite(ctx, body)


@area.get("/users/{user_id}", access="admin:users", errors=(schema.UserNotFound,))
async def get_user(ctx: Context, user_id: UUID) -> schema.UserDetail:
    """Give a user of the tenant, with logins and what the role may do."""
    return await actions.get_user(ctx, user_id)


@area.patch(
    "/users/{user_id}",
    access="admin:users",
    errors=(schema.UserNotFound, schema.LastOwner, schema.NotYetJoined),
    event="user.updated",
)
async def update_user(ctx: Context, user_id: UUID, body: schema.UserPatch) -> schema.User:
    """Change a user's role, status or name.

    A new role or status takes effect at once.
    """
    return await actions.update_user(ctx, user_id, body)


@area.delete(
    "/users/{user_id}",
    access="admin:users",
    errors=(schema.OwnerStays, schema.SelfStays, schema.UserNotFound),
    event="user.removed",
)
async def remove_user(ctx: Context, user_id: UUID) -> None:
    """Remove a user.

    Sessions and keys end at once, and the e-mail is free again.
    """
    await actions.remove_user(ctx, user_id)


@area.post(
    "/users/{user_id}/erase",
    access="role:admin",
    status=202,
    errors=(schema.NotConfirmed, schema.OwnerStays, schema.SelfStays, schema.UserExists, schema.UserNotFound),
    event="user.erased",
    summary="Erase person",
)
async def erase_user(ctx: Context, user_id: UUID, body: schema.Erase) -> schema.Erasure:
    """Remove a user at once, and put a token in place of what names them.

    E-mail, name and addresses go from all records, the audit log too, whose chain still verifies.
    """
    return await erasure_actions.erase(ctx, user_id, body)


@area.post("/api-keys", access="admin:api-keys", status=201, errors=(schema.KeyLimitExceeded,), event="api_key.created")
async def create_api_key(ctx: Context, body: schema.KeyCreate) -> schema.ApiKey:
    """Create an API key.

    Its secret is in this answer only.
    """
    return await key_actions.create(ctx, body)


@area.get("/api-keys", access="admin:api-keys")
async def list_api_keys(ctx: Context, query: schema.KeyList) -> Page[schema.ApiKey]:
    """List the API keys of the tenant."""
    return await store.keys(ctx, query)


@area.delete("/api-keys/{key_id}", access="admin:api-keys", errors=(schema.KeyNotFound,), event="api_key.revoked")
async def revoke_api_key(ctx: Context, key_id: UUID) -> None:
    """End an API key, at once and for good."""
    await key_actions.revoke(ctx, key_id)


@area.post(
    "/api-keys/{key_id}/rotate",
    access="admin:api-keys",
    errors=(schema.KeyNotFound, schema.KeyNotActive),
    status=200,
    event="api_key.rotated",
)
async def rotate_api_key(ctx: Context, key_id: UUID, body: schema.Rotation) -> schema.RotatedKeys:
    """Replace a key by one with the same rights.

    The old one works for the hours of grace, none by default.
    """
    return await key_actions.rotate(ctx, key_id, body)
