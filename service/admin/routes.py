"""Administration's rows."""

from __future__ import annotations

from uuid import UUID

from service.admin import actions, store
from service.admin.schema import (
    ApiKey,
    InvalidRole,
    Invitation,
    Invite,
    KeyCreate,
    KeyLimitExceeded,
    KeyList,
    KeyNotFound,
    LastOwner,
    NotYetJoined,
    Tenant,
    TenantPatch,
    User,
    UserExists,
    UserLimitExceeded,
    UserList,
    UserNotFound,
    UserPatch,
)
from service.platform.api import Area, Page
from service.platform.context import Context

area = Area("/api/v1/admin", tag="admin")


@area.get("/tenant", access="role:admin")
async def get_tenant(ctx: Context) -> Tenant:
    """The caller's tenant: settings, quotas, usage."""
    return await actions.get_tenant(ctx)


@area.patch("/tenant", access="role:admin", event="tenant.updated")
async def update_tenant(ctx: Context, body: TenantPatch) -> Tenant:
    """Change the tenant's name and settings; what is not given stays. A stale If-Match is refused."""
    return await actions.update_tenant(ctx, body)


@area.get("/users", access="admin:users")
async def list_users(ctx: Context, query: UserList) -> Page[User]:
    """The users of the tenant."""
    return await store.users(ctx, query)


@area.post(
    "/users/invite",
    access="admin:users",
    status=201,
    errors=(InvalidRole, UserExists, UserLimitExceeded),
    event="user.invited",
)
async def invite_user(ctx: Context, body: Invite) -> Invitation:
    """Invite a user, who joins with the token of the answer."""
    return await actions.invite(ctx, body)


@area.patch(
    "/users/{user_id}", access="admin:users", errors=(UserNotFound, LastOwner, NotYetJoined), event="user.updated"
)
async def update_user(ctx: Context, user_id: UUID, body: UserPatch) -> User:
    """Change a user's role, status or name; a new role or status takes effect at once."""
    return await actions.update_user(ctx, user_id, body)


@area.post("/api-keys", access="admin:api-keys", status=201, errors=(KeyLimitExceeded,), event="api_key.created")
async def create_api_key(ctx: Context, body: KeyCreate) -> ApiKey:
    """Make an API key; its secret is in this answer only."""
    return await actions.create_key(ctx, body)


@area.get("/api-keys", access="admin:api-keys")
async def list_api_keys(ctx: Context, query: KeyList) -> Page[ApiKey]:
    """The API keys of the tenant."""
    return await store.keys(ctx, query)


@area.delete("/api-keys/{key_id}", access="admin:api-keys", errors=(KeyNotFound,), event="api_key.revoked")
async def revoke_api_key(ctx: Context, key_id: UUID) -> None:
    """Revoke an API key, at once and for good."""
    await actions.revoke_key(ctx, key_id)
