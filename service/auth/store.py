"""Identity's queries."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from uuid import UUID

from msgspec import Struct

from service.auth.schema import (
    Account,
    InvalidRefreshToken,
    Invited,
    LoginSession,
    LoginStatus,
    MeRow,
    PendingReset,
    SecondFactor,
)
from service.auth.tenant_schema import TenantSettings
from service.platform.base.caller import NOBODY
from service.platform.base.problem import TenantSuspended, Unauthenticated
from service.platform.unit.context import Context, Unit


async def lacks_tenants(ctx: Unit, *, alone: bool) -> bool:
    """Return whether the deployment has no tenant.

    `alone`: nobody else gets that answer before this transaction ends.
    """
    return bool(await ctx.fetch_value("SELECT lacks_tenants(%s)", [alone]))


async def create_tenant(ctx: Context, tenant_id: UUID, name: str, slug: str, tier: str) -> bool:
    """Create a tenant; return False when another one has the slug."""
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
    """Create the first owner of a tenant."""
    await ctx.execute(
        """
        INSERT INTO users (tenant_id, id, email, full_name, role, status, password_hash)
        VALUES (%s, %s, %s, %s, 'owner', 'active', %s)
        """,
        [ctx.tenant, user_id, email, full_name, password_hash],
    )


async def find_account(unit: Unit, email: str, origin: bytes | None = None) -> Account | None:
    """Return the account of an e-mail, in whichever tenant.

    It says whether the origin is known. Who is only invited has none yet.
    """
    return await unit.fetch_one_or_none(Account, "SELECT * FROM find_login(%s, %s)", [email, origin])


async def note_origin(ctx: Context, user_id: UUID, origin: bytes) -> None:
    """Store where a user logged in from, and forget the oldest places."""
    await ctx.execute(
        """
        WITH seen AS (
            INSERT INTO known_origins (tenant_id, user_id, origin) VALUES (%(tenant)s, %(user)s, %(origin)s)
            ON CONFLICT (tenant_id, user_id, origin) DO UPDATE SET seen_at = now()
        )
        DELETE FROM known_origins WHERE user_id = %(user)s AND origin IN (
            SELECT origin FROM known_origins WHERE user_id = %(user)s AND origin <> %(origin)s
            ORDER BY seen_at DESC OFFSET %(others)s)
        """,
        {"tenant": ctx.tenant, "user": user_id, "origin": origin, "others": ctx.settings.known_origins - 1},
    )


async def forget_origins(ctx: Context, user_id: UUID) -> None:
    """Forget where a user logged in from."""
    await ctx.execute("DELETE FROM known_origins WHERE user_id = %s", [user_id])


async def fold_email(ctx: Context, email: str) -> str:
    """Return an e-mail in the spelling that is compared.

    Python's small letters are not the database's, whose locale decides: that of U+0130 may be an i.
    """
    return str(await ctx.fetch_value("SELECT lower(%s)", [email]))


async def note_login(ctx: Context, user_id: UUID, password_hash: str) -> LoginStatus | None:
    """Count a login; return what the user's tokens say.

    None when the user became inactive or the password was changed meanwhile: whoever does that ends the sessions that
    there are, and would miss this one.
    """
    return await ctx.fetch_one_or_none(
        LoginStatus,
        """
        UPDATE users SET last_login = now(), login_count = login_count + 1
        WHERE id = %s AND status = 'active' AND password_hash = %s
        RETURNING role, token_generation AS generation
        """,
        [user_id, password_hash],
    )


async def create_session(
    ctx: Context,
    session_id: UUID,
    user_id: UUID,
    refresh_jti: UUID,
    generation: int,
    expires_at: datetime,
    cookie: bool,
) -> None:
    """Begin a family of refresh tokens."""
    await ctx.execute(
        """
        INSERT INTO sessions (tenant_id, id, user_id, refresh_jti, generation, expires_at, cookie)
        VALUES (%s, %s, %s, %s, %s, %s, %s)
        """,
        [ctx.tenant, session_id, user_id, refresh_jti, generation, expires_at, cookie],
    )


async def lock_session(ctx: Context, session_id: UUID) -> LoginSession:
    """Return the session, locked, with what its user is now."""
    return await ctx.fetch_one(
        LoginSession,
        """
        SELECT s.id, s.user_id, s.refresh_jti, s.generation, s.revoked_at, s.expires_at, s.used_at,
               s.cookie, s.previous_jti, s.rotated_at,
               u.email, u.role, u.status AS user_status, u.token_generation, t.status AS tenant_status
        FROM sessions s
        JOIN users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
        JOIN tenants t ON t.id = s.tenant_id
        WHERE s.id = %s
        FOR UPDATE OF s
        """,
        [session_id],
        missing=InvalidRefreshToken,
    )


async def rotate(
    ctx: Context,
    session_id: UUID,
    refresh_jti: UUID,
    rotated_at: datetime,
    expires_at: datetime,
    *,
    previous_jti: UUID | None,
) -> None:
    """Store the next refresh token in place of the used one."""
    await ctx.execute(
        """
        UPDATE sessions
        SET previous_jti = %s, refresh_jti = %s, rotated_at = %s, expires_at = %s, used_at = now()
        WHERE id = %s
        """,
        [previous_jti, refresh_jti, rotated_at, expires_at, session_id],
    )


async def is_cookie_session(ctx: Context, session_id: UUID) -> bool:
    """Return whether a session is a browser's, with the refresh token as a cookie."""
    return bool(await ctx.fetch_value("SELECT cookie FROM sessions WHERE id = %s", [session_id]))


class _Stored(Struct, frozen=True):
    settings: TenantSettings


async def tenant_settings(unit: Unit) -> TenantSettings:
    """Return the choices of the transaction's tenant."""
    sql = "SELECT settings FROM tenants WHERE id = %s"
    return (await unit.fetch_one(_Stored, sql, [unit.tenant], missing=TenantSuspended)).settings


async def own_slug(ctx: Context) -> str:
    """Return the slug of the transaction's tenant."""
    return str(await ctx.fetch_value("SELECT slug FROM tenants WHERE id = %s", [ctx.tenant]))


async def end_session(ctx: Context, session_id: UUID, user_id: UUID) -> None:
    """Revoke a session of a user, its access tokens included."""
    await ctx.end_rights("session", session_id, user_id=user_id)
    await ctx.execute("UPDATE sessions SET revoked_at = now() WHERE id = %s AND revoked_at IS NULL", [session_id])
    await _revoke(ctx, "session", session_id, 0)


async def end_other_sessions(ctx: Context, user_id: UUID, session_id: UUID) -> None:
    """Revoke every session of a user but this one."""
    await ctx.end_rights("session", NOBODY, user_id=user_id)
    ended = await ctx.fetch_value(
        """
        WITH ended AS (
            UPDATE sessions SET revoked_at = now() WHERE user_id = %s AND id <> %s AND revoked_at IS NULL
            RETURNING id, used_at
        )
        SELECT array_agg(id) FROM ended WHERE used_at > now() - make_interval(secs => %s)
        """,
        [user_id, session_id, ctx.settings.access_token_seconds + 5],
    )
    for ended_id in ended or ():  # of the rest no access token is left
        await _revoke(ctx, "session", ended_id, 0)


async def revoke_tokens(ctx: Context, user_id: UUID) -> None:
    """Void every token of a user, before other changes of the user."""
    await ctx.end_rights("user", user_id)
    raised = "UPDATE users SET token_generation = token_generation + 1 WHERE id = %s RETURNING token_generation"
    generation = int(await ctx.fetch_value(raised, [user_id]))
    await _revoke(ctx, "user", user_id, generation)


async def _revoke(ctx: Context, kind: str, subject: UUID, generation: int) -> None:
    """Write a revocation and copy it into Redis.

    Before the commit, so that there is no commit without its copy, and once more after it, should a flush come in
    between.
    """
    revocations = ctx.resources.revocations
    await revocations.record(await ctx.begin(), ctx.tenant, kind, subject, generation)
    ctx.on_rollback(partial(revocations.withdraw, kind, subject))
    await revocations.publish(kind, subject, generation)
    ctx.after_commit(partial(revocations.publish, kind, subject, generation))


async def me(ctx: Context) -> MeRow:
    """Return the caller and their tenant."""
    return await ctx.fetch_one(
        MeRow,
        """
        SELECT u.id, u.email, u.full_name, u.tenant_id, u.role, u.two_factor_enabled,
               t.name AS tenant_name, t.subscription_tier, t.settings
        FROM users u JOIN tenants t ON t.id = u.tenant_id
        WHERE u.id = %s
        """,
        [ctx.caller.user_id],
        missing=Unauthenticated,
    )


async def find_invitation(ctx: Context, token_hash: bytes) -> Invited | None:
    """Return the invitation of a token, whichever its tenant."""
    return await ctx.fetch_one_or_none(Invited, "SELECT * FROM find_invitation(%s)", [token_hash])


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
    return await ctx.fetch_one_or_none(
        Account,
        """
        UPDATE users SET status = 'active', password_hash = %s, updated_at = now() WHERE id = %s AND status = 'invited'
        RETURNING tenant_id, id AS user_id, email, full_name, status, password_hash, two_factor_enabled,
                  (SELECT t.status FROM tenants t WHERE t.id = users.tenant_id) AS tenant_status
        """,
        [password_hash, user_id],
    )


# Passwords ------------------------------------------------------------------------------------------------------------


async def password_hash(ctx: Context, user_id: UUID) -> str | None:
    """Return the hash of a user's password."""
    stored_hash: str | None = await ctx.fetch_value("SELECT password_hash FROM users WHERE id = %s", [user_id])
    return stored_hash


async def replace_password(ctx: Context, user_id: UUID, old_hash: str, new_hash: str) -> bool:
    """Replace a verified password; False where it was just changed."""
    return bool(
        await ctx.execute(
            "UPDATE users SET password_hash = %s, updated_at = now() WHERE id = %s AND password_hash = %s",
            [new_hash, user_id, old_hash],
        )
    )


async def set_password(ctx: Context, user_id: UUID, new_hash: str) -> str | None:
    """Set the password of an active user; return the user's e-mail."""
    email: str | None = await ctx.fetch_value(
        "UPDATE users SET password_hash = %s, updated_at = now() WHERE id = %s AND status = 'active' RETURNING email",
        [new_hash, user_id],
    )
    return email


async def create_reset(unit: Unit, reset_id: UUID, user_id: UUID, token_hash: bytes, expires_at: datetime) -> None:
    """Store a password reset."""
    await unit.execute(
        """
        INSERT INTO password_resets (tenant_id, id, user_id, token_hash, expires_at) VALUES (%s, %s, %s, %s, %s)
        """,
        [unit.tenant, reset_id, user_id, token_hash, expires_at],
    )


async def find_reset(ctx: Context, token_hash: bytes) -> PendingReset | None:
    """Return the password reset of a token, whichever its tenant."""
    return await ctx.fetch_one_or_none(PendingReset, "SELECT * FROM find_password_reset(%s)", [token_hash])


async def use_reset(ctx: Context, reset_id: UUID) -> bool:
    """Use a password reset up; False when it is over."""
    return bool(
        await ctx.execute(
            "UPDATE password_resets SET used_at = now() WHERE id = %s AND used_at IS NULL AND expires_at > now()",
            [reset_id],
        )
    )


async def end_resets(ctx: Context, user_id: UUID) -> None:
    """End a user's open password resets."""
    await ctx.execute("UPDATE password_resets SET used_at = now() WHERE user_id = %s AND used_at IS NULL", [user_id])


# The second factor ----------------------------------------------------------------------------------------------------


async def lock_second_factor(ctx: Context, user_id: UUID) -> SecondFactor:
    """Return a user's second factor, locked."""
    return await ctx.fetch_one(
        SecondFactor,
        """
        SELECT email, two_factor_enabled, two_factor_secret, two_factor_pending, two_factor_step
        FROM users WHERE id = %s
        FOR NO KEY UPDATE
        """,
        [user_id],
        missing=Unauthenticated,
    )


async def begin_enrolment(ctx: Context, user_id: UUID, sealed: str) -> None:
    """Keep the secret that an authenticator is to have."""
    await ctx.execute("UPDATE users SET two_factor_pending = %s WHERE id = %s", [sealed, user_id])


async def enable_two_factor(ctx: Context, user_id: UUID, step: int, code_hashes: list[bytes]) -> None:
    """Enable the pending secret; `step` is that of the proving code."""
    await ctx.execute(
        """
        UPDATE users
        SET two_factor_enabled = true, two_factor_secret = two_factor_pending, two_factor_pending = NULL,
            two_factor_step = %s, updated_at = now()
        WHERE id = %s
        """,
        [step, user_id],
    )
    await ctx.execute("DELETE FROM recovery_codes WHERE user_id = %s", [user_id])
    await ctx.execute(
        "INSERT INTO recovery_codes (tenant_id, user_id, code_hash) SELECT %s, %s, unnest(%s::bytea[])",
        [ctx.tenant, user_id, code_hashes],
    )
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_user, user_id))


async def disable_two_factor(ctx: Context, user_id: UUID) -> None:
    """Forget a user's second factor."""
    await ctx.execute(
        """
        UPDATE users
        SET two_factor_enabled = false, two_factor_secret = NULL, two_factor_pending = NULL, updated_at = now()
        WHERE id = %s
        """,
        [user_id],
    )
    await ctx.execute("DELETE FROM recovery_codes WHERE user_id = %s", [user_id])
    await ctx.drop_copies(partial(ctx.resources.caller_cache.drop_user, user_id))


async def note_step(ctx: Context, user_id: UUID, step: int) -> None:
    """Use up the codes up to this time step. The user's row is locked."""
    await ctx.execute("UPDATE users SET two_factor_step = %s WHERE id = %s", [step, user_id])


async def use_recovery_code(ctx: Context, user_id: UUID, code_hash: bytes) -> bool:
    """Use a recovery code up; False when it is none, or used."""
    return bool(
        await ctx.execute(
            "UPDATE recovery_codes SET used_at = now() WHERE user_id = %s AND code_hash = %s AND used_at IS NULL",
            [user_id, code_hash],
        )
    )
