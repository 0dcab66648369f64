"""Identity's queries."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from uuid import UUID

from service.auth.schema import Account, InvalidRefreshToken, Invited, Me, Session
from service.platform.context import Context
from service.platform.gate import record_revocation
from service.platform.problem import Unauthenticated


async def create_tenant(ctx: Context, tenant_id: UUID, name: str, slug: str, tier: str) -> bool:
    """A new tenant; False when another one has the slug."""
    return bool(
        await ctx.execute(
            """
            INSERT INTO tenants (id, name, slug, subscription_tier)
            VALUES (%s, %s, %s, %s)
            ON CONFLICT (slug) DO NOTHING
            """,
            [tenant_id, name, slug, tier],
        )
    )


async def create_owner(ctx: Context, user_id: UUID, email: str, full_name: str, password_hash: str) -> None:
    """The founder of the tenant."""
    await ctx.execute(
        """
        INSERT INTO users (tenant_id, id, email, full_name, role, status, password_hash)
        VALUES (%s, %s, %s, %s, 'owner', 'active', %s)
        """,
        [ctx.tenant, user_id, email, full_name, password_hash],
    )


async def find_account(ctx: Context, email: str) -> Account | None:
    """The account of an e-mail, whichever its tenant."""
    return await ctx.one_or_none(Account, "SELECT * FROM find_login(%s)", [email])


async def note_login(ctx: Context, user_id: UUID) -> int:
    """Count a login; the generation of the user's tokens."""
    generation = await ctx.value(
        "UPDATE users SET last_login = now(), login_count = login_count + 1 WHERE id = %s RETURNING token_generation",
        [user_id],
    )
    return int(generation)


async def create_session(
    ctx: Context, session_id: UUID, user_id: UUID, refresh_jti: UUID, generation: int, expires_at: datetime
) -> None:
    """Begin a family of refresh tokens."""
    await ctx.execute(
        """
        INSERT INTO sessions (tenant_id, id, user_id, refresh_jti, generation, expires_at)
        VALUES (%s, %s, %s, %s, %s, %s)
        """,
        [ctx.tenant, session_id, user_id, refresh_jti, generation, expires_at],
    )


async def lock_session(ctx: Context, session_id: UUID) -> Session:
    """The session, locked, with what its user is now."""
    return await ctx.one(
        Session,
        """
        SELECT s.id, s.user_id, s.refresh_jti, s.generation, s.revoked_at, s.expires_at,
               u.role, u.status AS user_status, u.token_generation, t.status AS tenant_status
        FROM sessions s
        JOIN users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
        JOIN tenants t ON t.id = s.tenant_id
        WHERE s.id = %s
        FOR UPDATE OF s
        """,
        [session_id],
        missing=InvalidRefreshToken,
    )


async def rotate(ctx: Context, session_id: UUID, refresh_jti: UUID, expires_at: datetime) -> None:
    """Put the next refresh token in the place of the used one."""
    await ctx.execute(
        "UPDATE sessions SET refresh_jti = %s, expires_at = %s WHERE id = %s",
        [refresh_jti, expires_at, session_id],
    )


async def end_session(ctx: Context, session_id: UUID) -> None:
    """Revoke a session, its access tokens included."""
    await ctx.execute("UPDATE sessions SET revoked_at = now() WHERE id = %s AND revoked_at IS NULL", [session_id])
    await _revoke(ctx, "session", session_id, 0)


async def revoke_tokens(ctx: Context, user_id: UUID) -> None:
    """Void every token that a user holds."""
    raised = "UPDATE users SET token_generation = token_generation + 1 WHERE id = %s RETURNING token_generation"
    generation = int(await ctx.value(raised, [user_id]))
    await _revoke(ctx, "user", user_id, generation)


async def _revoke(ctx: Context, kind: str, subject: UUID, generation: int) -> None:
    """Write a revocation and copy it into Redis.

    Before the commit, so that there is no commit without its copy, and once more after it, should a flush come in
    between.
    """
    gate = ctx.resources.gate
    await record_revocation(await ctx.begin(), ctx.settings, ctx.tenant, kind, subject, generation)
    ctx.on_rollback(partial(gate.withdraw_revocation, kind, subject))
    await gate.publish_revocation(kind, subject, generation)
    ctx.after_commit(partial(gate.publish_revocation, kind, subject, generation))


async def me(ctx: Context) -> Me:
    """The caller."""
    return await ctx.one(
        Me,
        "SELECT id, email, full_name, tenant_id, role FROM users WHERE id = %s",
        [ctx.caller.user_id],
        missing=Unauthenticated,
    )


async def find_invitation(ctx: Context, token_hash: bytes) -> Invited | None:
    """The invitation of a token, whichever its tenant."""
    return await ctx.one_or_none(Invited, "SELECT * FROM find_invitation(%s)", [token_hash])


async def accept_invitation(ctx: Context, invitation_id: UUID) -> bool:
    """Use an invitation up; False when somebody just did."""
    return bool(
        await ctx.execute(
            "UPDATE invitations SET accepted_at = now() WHERE id = %s AND accepted_at IS NULL AND expires_at > now()",
            [invitation_id],
        )
    )


async def activate_user(ctx: Context, user_id: UUID, password_hash: str) -> Account | None:
    """Turn an invited user into an active one."""
    return await ctx.one_or_none(
        Account,
        """
        UPDATE users SET status = 'active', password_hash = %s, updated_at = now() WHERE id = %s AND status = 'invited'
        RETURNING tenant_id, id AS user_id, email, role, status, password_hash,
                  (SELECT t.status FROM tenants t WHERE t.id = users.tenant_id) AS tenant_status
        """,
        [password_hash, user_id],
    )
