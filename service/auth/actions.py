"""Sessions: who gets tokens, and when they end."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from msgspec.structs import replace

from service.auth import schema, store, two_factor_actions
from service.auth.shared import create_tenant_with_slug
from service.auth.token_actions import clear_cookie, grant_of, is_repeated, set_cookie, token_of, token_response
from service.platform.access.caller_status import TenantRecord, Window
from service.platform.access.cookies import wants_cookie
from service.platform.access.switches import may_operate
from service.platform.base.caller import Role
from service.platform.base.problem import AddressNotAllowed, RateLimited, TenantSuspended
from service.platform.base.secrets import BadToken, Claims, digest, hash_password, new_id, verify_password
from service.platform.events.stream import Event, publish
from service.platform.http.admission import shows_system_key
from service.platform.unit.context import Context, Subject


async def register(ctx: Context, registration: schema.Registration) -> schema.TokenResponse:
    """Return a tenant, its owner, and the owner's first session.

    Raises:
        RegistrationClosed: it is not open, and neither is this the first tenant nor the caller the system key.
    """
    closed = not (ctx.settings.open_registration or shows_system_key(ctx))
    if closed and not await store.lacks_tenants(ctx, alone=False):
        raise schema.RegistrationClosed
    await ctx.commit()  # no connection is held while the password is hashed
    email = registration.email.strip()
    password_hash = await ctx.hash(hash_password, registration.password)
    tenant_id, user_id = new_id(), new_id()
    await ctx.enter_tenant(tenant_id)
    if closed and not await store.lacks_tenants(ctx, alone=True):
        raise schema.RegistrationClosed
    await create_tenant_with_slug(ctx, tenant_id, registration.organization_name, ctx.settings.tier_of_new_tenant)
    await store.create_owner(ctx, user_id, email, registration.full_name, password_hash)
    ctx.set_subject("user", user_id, email)
    return await _begin_session(ctx, user_id, password_hash)


async def login(ctx: Context, form: schema.Login) -> schema.TokenResponse:
    """Begin a session by e-mail, password and second factor.

    An e-mail that nobody has takes the same steps, and the same time, as a wrong password. Where strangers have used up
    an account's tries, its user still gets in from an address that they are known at, or with a right code.
    """
    email = await store.fold_email(ctx, form.username.strip())
    account = await store.find_account(ctx, email, _origin(ctx))
    await ctx.commit()  # no connection is held while the password is hashed
    tries = _password_tries(ctx, email, account)
    try:
        give_back = await ctx.limit([tries])
    except RateLimited as refusal:
        if form.otp_code is None:
            raise
        return await _admit_by_code(ctx, email, account, form.password, form.otp_code, refusal)
    good = await ctx.hash(verify_password, form.password, account.password_hash if account else None)
    if account is None or not good:
        if account is not None:
            ctx.after_answer(partial(_note_failure, ctx, account, "password", ctx.now()))
        raise schema.WrongCredentials
    await give_back()
    return await _admit(ctx, account, form.otp_code)


async def refresh(ctx: Context, body: schema.Refresh) -> schema.TokenResponse:
    """Return the next pair of tokens of a session.

    A used token that comes back ends the session: one of its two holders stole it. In a browser's session the one that
    was just replaced is answered by the same tokens for some seconds, since tabs refresh at the same moment.
    """
    token = token_of(ctx, body)
    try:
        claims = ctx.resources.tokens.read(token, expected="refresh")
    except BadToken:
        await ctx.limit([Window(f"refresh:{ctx.origin}", ctx.settings.refresh_per_minute, 60)])
        raise schema.InvalidRefreshToken from None
    await ctx.limit([Window(f"refresh:{claims.sub}", ctx.settings.refresh_per_minute, 60)])
    rules = await ctx.resources.gate.tenant(claims.tenant_id)  # before the transaction: it may need a connection itself
    await ctx.enter_tenant(claims.tenant_id)
    session = await store.lock_session(ctx, claims.sid)
    repeated = await _check_session(ctx, session, claims)
    await _check_holder(ctx, session, rules)
    if not repeated:
        session = await _rotate(ctx, session, previous_jti=session.refresh_jti)
    return token_response(ctx, grant_of(session))


async def renew_cookie(ctx: Context) -> None:
    """Give a browser's session its next refresh token.

    The one before is not repeated: it may be a thief's, whom a new password is to shut out.
    """
    session_id = ctx.caller.session_id
    assert session_id is not None
    if not wants_cookie(ctx.headers) or not await store.is_cookie_session(ctx, session_id):
        return
    session = await _rotate(ctx, await store.lock_session(ctx, session_id), previous_jti=None)
    set_cookie(ctx, grant_of(session))


async def logout(ctx: Context) -> None:
    """End the caller's session: its access tokens and its refresh token."""
    assert ctx.caller.session_id is not None
    await store.end_session(ctx, ctx.caller.session_id, ctx.caller.user_id)
    await clear_cookie(ctx)
    ctx.set_subject("user", ctx.caller.user_id, await ctx.email())


async def revoke_all(ctx: Context) -> None:
    """End every session of the caller."""
    await store.revoke_tokens(ctx, ctx.caller.user_id)
    await clear_cookie(ctx)
    ctx.set_subject("user", ctx.caller.user_id, await ctx.email())


async def accept(ctx: Context, body: schema.Acceptance) -> schema.TokenResponse:
    """Turn an invitation into an active user with a session."""
    invited = await store.find_invitation(ctx, digest(body.token))
    if invited is None or invited.accepted_at is not None or invited.expires_at <= ctx.now():
        raise schema.InvalidInvitation
    await ctx.commit()  # no connection is held while the password is hashed
    await check_address(ctx, invited.tenant_id)
    password_hash = await ctx.hash(hash_password, body.password)
    await ctx.enter_tenant(invited.tenant_id)
    if not await store.accept_invitation(ctx, invited.invitation_id):
        raise schema.InvalidInvitation
    try:
        account = await store.activate_user(ctx, invited.user_id, password_hash)
    except schema.EmailTaken:  # as the letter says
        account = None
    if account is None:
        raise schema.InvalidInvitation
    if account.tenant_status != "active":
        raise TenantSuspended
    ctx.set_subject("user", account.user_id, account.email)
    return await _begin_session(ctx, account.user_id, password_hash)


async def check_address(ctx: Context, tenant_id: UUID) -> None:
    """Check the caller's address against the tenant's list.

    Asked while no transaction is open: the gate may need a connection itself.

    Raises:
        AddressNotAllowed: it is not on it.
    """
    rules = await ctx.resources.gate.tenant(tenant_id)
    if rules is not None and not rules.admits(ctx.ip_address):
        raise AddressNotAllowed


async def _check_session(ctx: Context, session: schema.LoginSession, claims: Claims) -> bool:
    """Check a refresh token; return whether another tab just sent it.

    Raises:
        InvalidRefreshToken: it came as a cookie of a body's session, or the other way round. Nothing is used up.
        AllTokensRevoked, RefreshTokenRevoked: it has ended, or is used again, which ends the session.
    """
    if session.cookie != wants_cookie(ctx.headers):
        raise schema.InvalidRefreshToken
    if session.generation < session.token_generation:
        raise schema.AllTokensRevoked
    if session.revoked_at is not None:
        raise schema.RefreshTokenRevoked
    repeated = is_repeated(ctx, session, claims)
    if session.refresh_jti != claims.jti and not repeated:
        await _end(ctx, session, "refresh_token_reused")
        raise schema.RefreshTokenRevoked
    return repeated


async def _check_holder(ctx: Context, session: schema.LoginSession, rules: TenantRecord | None) -> None:
    """See that a session's user may go on, from here and now.

    Raises:
        Deactivated, TenantSuspended, AddressNotAllowed, UnderMaintenance: they may not.
        InvalidRefreshToken: the session was idle for too long, and has ended.
    """
    if session.user_status != "active":
        raise schema.Deactivated
    if rules is None or session.tenant_status != "active":
        raise TenantSuspended
    if not rules.admits(ctx.ip_address):
        raise AddressNotAllowed
    if await _is_idle(ctx, session, rules.session_timeout_minutes):
        await _end(ctx, session, "idle")
        raise schema.InvalidRefreshToken
    _check_maintenance(ctx, session.role, rules.slug)


def _check_maintenance(ctx: Context, role: Role, slug: str) -> None:
    """During maintenance only who can end it gets tokens.

    Raises:
        UnderMaintenance: the user cannot.
    """
    maintenance = ctx.resources.switches.maintenance
    if maintenance is not None and not may_operate(ctx.settings, role, slug):
        raise maintenance.refusal(ctx.now())


def _password_tries(ctx: Context, email: str, account: schema.Account | None) -> Window:
    """Return the limit of wrong passwords for one e-mail.

    Those from an address that its user is known at are counted apart, so that a stranger's count for a stranger only.
    """
    name = f"login:{_name_of(ctx, email)}"
    if account is not None and account.is_known:
        name = f"{name}:{ctx.origin}"
    return Window(name, ctx.settings.failed_logins_per_hour, 3600)


def _name_of(ctx: Context, email: str) -> str:
    """Return what limits call an e-mail (folded), so that no address stands in Redis."""
    return ctx.resources.vault.fingerprint("login", email).hex()


def _origin(ctx: Context) -> bytes:
    """Return what is remembered of the caller's address."""
    return ctx.resources.vault.fingerprint("login origin", ctx.origin)


async def _admit_by_code(
    ctx: Context, email: str, account: schema.Account | None, password: str, code: str, refusal: RateLimited
) -> schema.TokenResponse:
    """Begin a session by password and code, past the limit of tries.

    Anybody else reads just that they are, and neither whether the password was right nor whether somebody has
    the e-mail: all take the same steps. Only who has the password uses up the user's tries of codes.
    """
    good = await ctx.hash(verify_password, password, account.password_hash if account else None)
    user = str(account.user_id) if account is not None and good else _name_of(ctx, email)
    try:
        await ctx.limit([two_factor_actions.tries_of(ctx, user, code)])
    except RateLimited:
        raise refusal from None
    proven = await two_factor_actions.has_code(ctx, account, code)
    await ctx.commit()  # a right code is used up, whatever the password was
    if account is None or not (good and proven):
        if account is not None:
            wrong = "two_factor_code" if good else "password"
            ctx.after_answer(partial(_note_failure, ctx, account, wrong, ctx.now()))
        raise refusal
    await _check_open(ctx, account)
    return await _enter(ctx, account)


async def _admit(ctx: Context, account: schema.Account, code: str | None) -> schema.TokenResponse:
    await _check_open(ctx, account)
    if account.two_factor_enabled:
        if code is None:
            raise schema.CodeRequired
        await ctx.limit([two_factor_actions.tries_of(ctx, str(account.user_id), code)])
    await ctx.enter_tenant(account.tenant_id)
    if account.two_factor_enabled and not await two_factor_actions.prove(ctx, account.user_id, code or ""):
        ctx.after_answer(partial(_note_failure, ctx, account, "two_factor_code", ctx.now()))
        raise schema.InvalidCode
    return await _enter(ctx, account)


async def _check_open(ctx: Context, account: schema.Account) -> None:
    """See that the user may come in at all, and from here; no transaction is open."""
    if account.status != "active":
        raise schema.Deactivated
    if account.tenant_status != "active":
        raise TenantSuspended
    await check_address(ctx, account.tenant_id)


async def _enter(ctx: Context, account: schema.Account) -> schema.TokenResponse:
    ctx.set_subject("user", account.user_id, account.email)
    assert account.password_hash is not None
    return await _begin_session(ctx, account.user_id, account.password_hash)


async def _note_failure(ctx: Context, account: schema.Account, wrong: str, occurred_at: datetime) -> None:
    """Record a failed login after its answer, so that timing shows no user."""
    event = Event(
        tenant_id=account.tenant_id,
        occurred_at=occurred_at,
        action="user.login_failed",
        request_id=ctx.request_id,
        user_id=account.user_id,
        user_email=account.email,
        ip_address=ctx.ip_address,
        user_agent=ctx.user_agent,
        subject=Subject("user", str(account.user_id), account.email, {"wrong": wrong}),
    )
    await publish(ctx.resources, event)


async def _is_idle(ctx: Context, session: schema.LoginSession, timeout_minutes: int | None) -> bool:
    """Return whether a session was idle for too long."""
    if timeout_minutes is None:
        return False
    last_use = max(session.used_at.timestamp(), await ctx.resources.gate.last_seen(session.id) or 0.0)
    return ctx.now().timestamp() - last_use > timeout_minutes * 60


async def _end(ctx: Context, session: schema.LoginSession, reason: str) -> None:
    """End a session whose refresh is refused, and commit that first."""
    await store.end_session(ctx, session.id, session.user_id)
    ctx.set_subject("user", session.user_id, session.email, reason=reason)
    await ctx.audit_event("user.session_ended")
    await ctx.commit()


async def _begin_session(ctx: Context, user_id: UUID, password_hash: str) -> schema.TokenResponse:
    status = await store.note_login(ctx, user_id, password_hash)
    if status is None:  # at a login only: the other ways in have just written what they would find
        raise schema.WrongCredentials
    if ctx.resources.switches.maintenance is not None:
        _check_maintenance(ctx, status.role, await store.own_slug(ctx))
    now, session_id, jti = ctx.now(), new_id(), new_id()
    expires_at = now + timedelta(seconds=ctx.settings.refresh_token_seconds)
    cookie = wants_cookie(ctx.headers)
    await store.create_session(ctx, session_id, user_id, jti, status.generation, expires_at, cookie)
    await store.note_origin(ctx, user_id, _origin(ctx))
    return token_response(ctx, schema.Grant(user_id, status.role, session_id, status.generation, jti, now, expires_at))


async def _rotate(ctx: Context, session: schema.LoginSession, *, previous_jti: UUID | None) -> schema.LoginSession:
    """Return the session with its next refresh token."""
    now, jti = ctx.now(), new_id()
    expires_at = now + timedelta(seconds=ctx.settings.refresh_token_seconds)
    await store.rotate(ctx, session.id, jti, now, expires_at, previous_jti=previous_jti)
    return replace(session, refresh_jti=jti, previous_jti=previous_jti, rotated_at=now, expires_at=expires_at)
