"""Administration's queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from service.admin.schema import ApiKey, KeyList, KeyNotFound, TenantRow, User, UserList, UserNotFound
from service.platform.api import Page, page_of
from service.platform.context import Context
from service.platform.database import containing
from service.platform.problem import NotFound

_USER = "id, email, full_name, tenant_id, role, status, two_factor_enabled, last_login, created_at, updated_at"

_KEY = """
    id, name, description, key_prefix, permissions, environment,
    last_used_at AS last_used, last_used_at, usage_count,
    expires_at, created_by, created_at,
    CASE WHEN status <> 'revoked' AND expires_at <= now() THEN 'expired' ELSE status END AS status
"""


async def tenant(ctx: Context) -> TenantRow:
    """The caller's tenant and what it uses."""
    return await ctx.one(
        TenantRow,
        """
        SELECT t.id, t.name, t.slug, t.subscription_tier, t.status, t.settings, t.version, t.created_at, t.updated_at,
               (SELECT count(*) FROM users) AS users,
               (SELECT count(*) FROM workbooks WHERE deleted_at IS NULL) AS workbooks,
               (SELECT count(*) FROM api_keys
                WHERE status <> 'revoked' AND (expires_at IS NULL OR expires_at > now())) AS api_keys,
               stored_bytes() AS storage_bytes
        FROM tenants t
        WHERE t.id = %s
        """,
        [ctx.tenant],
        missing=NotFound,
    )


async def lock_tenant(ctx: Context) -> TenantRow:
    """The tenant, its quotas held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR UPDATE", [ctx.tenant])
    return await tenant(ctx)


async def update_tenant(ctx: Context, name: str, settings: dict[str, Any]) -> None:
    """Change the tenant's name, and of its settings those that are given."""
    await ctx.execute(
        """
        UPDATE tenants SET name = %s, settings = settings || %s::jsonb, version = version + 1, updated_at = now()
        WHERE id = %s
        """,
        [name, msgspec.json.encode(settings).decode(), ctx.tenant],
    )


async def users(ctx: Context, query: UserList) -> Page[User]:
    """A page of users, the newest first."""
    parameters: dict[str, Any] = {
        "role": query.role,
        "status": "invited" if query.status == "pending" else query.status,
        "pattern": containing(query.search),
        "limit": query.page_size,
        "offset": query.offset,
    }
    where = """
        (%(role)s::text IS NULL OR role = %(role)s) AND (%(status)s::text IS NULL OR status = %(status)s)
        AND (%(pattern)s::text IS NULL OR email ILIKE %(pattern)s OR full_name ILIKE %(pattern)s)
    """
    items = await ctx.all(
        User,
        f"SELECT {_USER} FROM users WHERE {where} ORDER BY created_at DESC, id LIMIT %(limit)s OFFSET %(offset)s",
        parameters,
    )
    return page_of(items, await ctx.value(f"SELECT count(*) FROM users WHERE {where}", parameters), query)


async def lock_user(ctx: Context, user_id: UUID) -> User:
    """A user, locked."""
    return await ctx.one(User, f"SELECT {_USER} FROM users WHERE id = %s FOR UPDATE", [user_id], missing=UserNotFound)


async def lock_owners(ctx: Context) -> int:
    """How many active owners there are, all locked so that two demotions cannot pass each other."""
    return len(
        await ctx.all(
            User, f"SELECT {_USER} FROM users WHERE role = 'owner' AND status = 'active' ORDER BY id FOR UPDATE"
        )
    )


async def update_user(ctx: Context, user_id: UUID, role: str, status: str, full_name: str) -> User:
    """Change a user."""
    return await ctx.one(
        User,
        f"UPDATE users SET role = %s, status = %s, full_name = %s, updated_at = now() WHERE id = %s RETURNING {_USER}",
        [role, status, full_name, user_id],
        missing=UserNotFound,
    )


async def key_hashes_of(ctx: Context, creator_id: UUID) -> list[bytes]:
    """The hashes of the keys that a user made."""
    found = await ctx.value("SELECT array_agg(key_hash) FROM api_keys WHERE creator_id = %s", [creator_id])
    return list(found or [])


async def create_invited_user(ctx: Context, user_id: UUID, email: str, full_name: str, role: str) -> None:
    """A user who is yet to choose a password."""
    await ctx.execute(
        "INSERT INTO users (tenant_id, id, email, full_name, role, status) VALUES (%s, %s, %s, %s, %s, 'invited')",
        [ctx.tenant, user_id, email, full_name, role],
    )


async def create_invitation(
    ctx: Context, invitation_id: UUID, user_id: UUID, token_hash: bytes, expires_at: datetime, creator: str
) -> datetime:
    """An invitation; when it was made."""
    made: datetime = await ctx.value(
        """
        INSERT INTO invitations (tenant_id, id, user_id, token_hash, expires_at, created_by)
        VALUES (%s, %s, %s, %s, %s, %s)
        RETURNING created_at
        """,
        [ctx.tenant, invitation_id, user_id, token_hash, expires_at, creator],
    )
    return made


async def create_key(ctx: Context, row: dict[str, Any]) -> ApiKey:
    """Store a key's hash and what it may do."""
    return await ctx.one(
        ApiKey,
        f"""
        INSERT INTO api_keys (tenant_id, id, name, description, key_hash, key_prefix,
                              permissions, environment, expires_at, creator_id, created_by)
        VALUES (%(tenant_id)s, %(id)s, %(name)s, %(description)s, %(key_hash)s, %(key_prefix)s,
                %(permissions)s, %(environment)s, %(expires_at)s, %(creator_id)s, %(created_by)s)
        RETURNING {_KEY}
        """,
        row,
        missing=KeyNotFound,
    )


async def keys(ctx: Context, query: KeyList) -> Page[ApiKey]:
    """A page of keys, the newest first."""
    parameters = {"status": query.status, "limit": query.page_size, "offset": query.offset}
    listed = f"SELECT * FROM (SELECT {_KEY} FROM api_keys) k WHERE %(status)s::text IS NULL OR status = %(status)s"
    items = await ctx.all(
        ApiKey, f"{listed} ORDER BY created_at DESC, id LIMIT %(limit)s OFFSET %(offset)s", parameters
    )
    return page_of(items, await ctx.value(f"SELECT count(*) FROM ({listed}) AS l", parameters), query)


async def revoke_key(ctx: Context, key_id: UUID) -> tuple[str, bytes]:
    """Revoke a key for good; its name and hash."""
    row = await ctx.value(
        "UPDATE api_keys SET status = 'revoked' WHERE id = %s RETURNING ARRAY[convert_to(name, 'UTF8'), key_hash]",
        [key_id],
    )
    if row is None:
        raise KeyNotFound
    return bytes(row[0]).decode(), bytes(row[1])
