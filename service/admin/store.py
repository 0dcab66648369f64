"""Administration's queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from service.admin import schema
from service.platform.base.problem import NotFound
from service.platform.data.database import like_pattern
from service.platform.route.api import Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import fetch_page, insert_of
from service.platform.unit.records import to_json

_USER = "id, email, full_name, tenant_id, role, status, two_factor_enabled, last_login, created_at, updated_at"

_KEY = """
    id, name, description, key_prefix, permissions, environment,
    last_used_at AS last_used, last_used_at, usage_count,
    expires_at, created_by, created_at,
    CASE WHEN status = 'active' AND expires_at <= now() THEN 'expired' ELSE status END AS status
"""


async def tenant(ctx: Context) -> schema.StoredTenant:
    """Return the caller's tenant and what it uses."""
    return await ctx.fetch_one(
        schema.StoredTenant,
        """
        SELECT t.id, t.name, t.slug, t.subscription_tier, t.status, t.settings, t.version, t.created_at, t.updated_at,
               t.cancelled_at,
               (SELECT count(*) FROM users WHERE removed_at IS NULL) AS users,
               (SELECT count(*) FROM workbooks WHERE deleted_at IS NULL) AS workbooks,
               (SELECT count(*) FROM api_keys
                WHERE status = 'active' AND (expires_at IS NULL OR expires_at > now())) AS api_keys,
               stored_bytes() AS storage_bytes
        FROM tenants t
        WHERE t.id = %s
        """,
        [ctx.tenant],
        missing=NotFound,
    )


async def lock_tenant(ctx: Context) -> schema.StoredTenant:
    """Return the tenant, its quotas held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return await tenant(ctx)


async def update_tenant(ctx: Context, name: str, tier: str, status: str, settings: dict[str, Any]) -> None:
    """Change the tenant's name, tier and status, and the given settings."""
    await ctx.execute(
        """
        UPDATE tenants SET name = %s, subscription_tier = %s, status = %s, settings = settings || %s::jsonb,
                           version = version + 1, updated_at = now()
        WHERE id = %s
        """,
        [name, tier, status, to_json(settings), ctx.tenant],
    )


async def users(ctx: Context, query: schema.UserList) -> Page[schema.User]:
    """Return a page of users, the newest first."""
    filters = {
        "role": query.role,
        "status": "invited" if query.status == "pending" else query.status,
        "pattern": like_pattern(query.search),
    }
    matching = {"pattern": "(email ILIKE %(pattern)s OR full_name ILIKE %(pattern)s)"}
    source = "users WHERE removed_at IS NULL"
    return await fetch_page(
        ctx, schema.User, _USER, source, filters, query, order="created_at DESC, id", conditions=matching
    )


async def user(ctx: Context, user_id: UUID) -> schema.UserRow:
    """Return a user."""
    return await ctx.fetch_one(
        schema.UserRow,
        f"SELECT {_USER}, login_count FROM users WHERE id = %s AND removed_at IS NULL",
        [user_id],
        missing=schema.UserNotFound,
    )


async def lock_user(ctx: Context, user_id: UUID) -> schema.User:
    """Return a user, locked."""
    return await ctx.fetch_one(
        schema.User,
        f"SELECT {_USER} FROM users WHERE id = %s AND removed_at IS NULL FOR NO KEY UPDATE",
        [user_id],
        missing=schema.UserNotFound,
    )


async def lock_person(unit: Unit, user_id: UUID) -> schema.Person:
    """Return a user, removed ones too, locked."""
    sql = """
        SELECT u.email, u.role, u.removed_at,
               EXISTS (SELECT FROM users o WHERE o.email = u.email AND o.id <> u.id AND o.removed_at IS NULL) AS is_back
        FROM users u WHERE u.id = %s FOR NO KEY UPDATE OF u
    """
    return await unit.fetch_one(schema.Person, sql, [user_id], missing=schema.UserNotFound)


async def remove_email_from_jobs(unit: Unit, user_id: UUID, token: str) -> bool:
    """Remove a user's e-mail from waiting jobs. Return if a running job knows it."""
    sql = """
        UPDATE jobs SET asked_by = asked_by || jsonb_build_object('user_email', %s::text)
        WHERE asked_by ->> 'user_id' = %s AND status IN ('pending', 'queued')
    """
    await unit.execute(sql, [token, str(user_id)])
    await unit.commit()
    sql = """
        SELECT EXISTS (SELECT FROM jobs WHERE status = 'running' AND asked_by ->> 'user_id' = %s
                       AND asked_by ->> 'user_email' <> %s)
    """
    return bool(await unit.fetch_value(sql, [str(user_id), token]))


async def letters(unit: Unit) -> list[schema.Letter]:
    """Return the letters of the tenant that jobs and dead letters still hold, sealed."""
    return await unit.fetch_all(
        schema.Letter,
        """
        SELECT id, arguments ->> 'mail' AS mail FROM jobs WHERE name = 'mail.send' AND arguments ? 'mail'
        UNION ALL
        SELECT id, arguments ->> 'mail' FROM dead_letters WHERE task_name = 'mail.send' AND arguments ? 'mail'
        """,
    )


async def destroy_letter(unit: Unit, job_id: str) -> None:
    """Nobody sends or reads a letter any more."""
    await unit.execute(
        """
        UPDATE jobs SET arguments = '{}', lease_until = NULL, finished_at = coalesce(finished_at, now()),
                        status = CASE WHEN status IN ('pending', 'queued') THEN 'failed' ELSE status END
        WHERE id = %s
        """,
        [job_id],
    )
    await unit.execute("UPDATE dead_letters SET arguments = '{}', status = 'discarded' WHERE id = %s", [job_id])


async def lock_owners(ctx: Context) -> set[UUID]:
    """Lock the active owners; return their identifiers.

    Two changes of owners cannot pass each other.
    """
    owners = await ctx.fetch_all(
        schema.User,
        f"SELECT {_USER} FROM users WHERE role = 'owner' AND status = 'active' ORDER BY id FOR NO KEY UPDATE",
    )
    return {owner.id for owner in owners}


async def update_user(ctx: Context, user_id: UUID, role: str, status: str, full_name: str) -> schema.User:
    """Change a user."""
    return await ctx.fetch_one(
        schema.User,
        f"UPDATE users SET role = %s, status = %s, full_name = %s, updated_at = now() WHERE id = %s RETURNING {_USER}",
        [role, status, full_name, user_id],
        missing=schema.UserNotFound,
    )


async def key_hashes_of(ctx: Context, creator_id: UUID) -> list[bytes]:
    """Return the hashes of the keys that a user made."""
    hashes = await ctx.fetch_value("SELECT array_agg(key_hash) FROM api_keys WHERE creator_id = %s", [creator_id])
    return list(hashes or [])


async def revoke_keys_of(ctx: Context, creator_id: UUID) -> list[bytes]:
    """Revoke the keys that a user made, for good; their hashes."""
    hashes = await ctx.fetch_value(
        """
        WITH ended AS (UPDATE api_keys SET status = 'revoked' WHERE creator_id = %s RETURNING key_hash)
        SELECT array_agg(key_hash) FROM ended
        """,
        [creator_id],
    )
    return list(hashes or [])


async def remove_user(ctx: Context, user_id: UUID) -> None:
    """Remove a user and all credentials; the row stays for records."""
    await ctx.execute(
        """
        WITH codes AS (DELETE FROM recovery_codes WHERE user_id = %(id)s),
             resets AS (DELETE FROM password_resets WHERE user_id = %(id)s),
             origins AS (DELETE FROM known_origins WHERE user_id = %(id)s)
        UPDATE users
        SET status = 'inactive', removed_at = now(), updated_at = now(), password_hash = NULL,
            two_factor_enabled = false, two_factor_secret = NULL, two_factor_pending = NULL
        WHERE id = %(id)s
        """,
        {"id": user_id},
    )


async def create_invited_user(ctx: Context, user_id: UUID, email: str, full_name: str, role: str) -> None:
    """Create a user who is yet to choose a password."""
    await ctx.execute(
        "INSERT INTO users (tenant_id, id, email, full_name, role, status) VALUES (%s, %s, %s, %s, %s, 'invited')",
        [ctx.tenant, user_id, email, full_name, role],
    )


async def withdraw_expired(ctx: Context, email: str) -> schema.User | None:
    """Drop an expired invitation of this e-mail; return its user."""
    return await ctx.fetch_one_or_none(
        schema.User,
        f"""
        WITH expired AS (
            DELETE FROM invitations i USING users u
            WHERE u.tenant_id = i.tenant_id AND u.id = i.user_id AND lower(u.email) = lower(%s)
              AND u.status = 'invited' AND i.accepted_at IS NULL AND i.expires_at <= now()
            RETURNING i.user_id
        )
        SELECT {_USER} FROM users WHERE id IN (SELECT user_id FROM expired)
        """,
        [email],
    )


async def renew_invited_user(ctx: Context, user_id: UUID, email: str, full_name: str, role: str) -> None:
    """Invite a user anew who did not join in time."""
    await ctx.execute(
        "UPDATE users SET email = %s, full_name = %s, role = %s, updated_at = now() WHERE id = %s",
        [email, full_name, role, user_id],
    )


async def withdraw_invitation(ctx: Context, user_id: UUID) -> None:
    """Drop a user's open invitation, if there is one."""
    await ctx.execute("DELETE FROM invitations WHERE user_id = %s AND accepted_at IS NULL", [user_id])


async def create_invitation(
    ctx: Context, user_id: UUID, token_hash: bytes, expires_at: datetime, creator: str
) -> datetime:
    """Create a user's invitation; return when it was created."""
    created_at: datetime = await ctx.fetch_value(
        """
        INSERT INTO invitations (tenant_id, id, user_id, token_hash, expires_at, created_by)
        VALUES (%s, %s, %s, %s, %s, %s)
        RETURNING created_at
        """,
        [ctx.tenant, user_id, user_id, token_hash, expires_at, creator],
    )
    return created_at


async def create_key(ctx: Context, row: dict[str, Any]) -> schema.ApiKey:
    """Store a key's hash and what it may do."""
    return await ctx.fetch_one(
        schema.ApiKey,
        f"{insert_of('api_keys', row)} RETURNING {_KEY}",
        row,
        missing=schema.KeyNotFound,
    )


async def keys(ctx: Context, query: schema.KeyList) -> Page[schema.ApiKey]:
    """Return a page of keys, the newest first."""
    source = f"(SELECT {_KEY} FROM api_keys) k WHERE true"
    return await fetch_page(
        ctx, schema.ApiKey, "*", source, {"status": query.status}, query, order="created_at DESC, id"
    )


async def lock_key(ctx: Context, key_id: UUID) -> schema.StoredKey:
    """Return a key, locked."""
    return await ctx.fetch_one(
        schema.StoredKey,
        f"SELECT {_KEY}, key_hash FROM api_keys WHERE id = %s FOR UPDATE",
        [key_id],
        missing=schema.KeyNotFound,
    )


async def deprecate_key(ctx: Context, key_id: UUID, successor_id: UUID, expires_at: datetime) -> datetime:
    """Let a key expire by a moment; return when it does."""
    moment: datetime = await ctx.fetch_value(
        """
        UPDATE api_keys SET status = 'deprecated', replaced_by = %s, expires_at = least(expires_at, %s)
        WHERE id = %s RETURNING expires_at
        """,
        [successor_id, expires_at, key_id],
    )
    return moment


async def revoke_key(ctx: Context, key_id: UUID) -> None:
    """Revoke a key for good."""
    await ctx.execute("UPDATE api_keys SET status = 'revoked' WHERE id = %s", [key_id])
