"""The tokens of a session.

Signed, and given in the body or, to a browser, as a cookie that no script can read.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from msgspec import UNSET

from service.auth import store
from service.auth.schema import Grant, InvalidRefreshToken, LoginSession, Refresh, TokenResponse
from service.platform.access.cookies import expired_cookie, read_cookie, token_cookie, wants_cookie
from service.platform.base.problem import ValidationFailed
from service.platform.base.secrets import Claims, new_id
from service.platform.unit.context import Context

REPEAT_SECONDS: Final = 10
"""For so long the refresh token that was just replaced is answered once more: tabs refresh at the same moment."""


def token_of(ctx: Context, body: Refresh) -> str:
    """Return the refresh token of a request, by cookie or body.

    Raises:
        ValidationFailed: the body lacks it, or has one beside the header.
        InvalidRefreshToken: the browser has no cookie.
    """
    if not wants_cookie(ctx.headers):
        if body.refresh_token is UNSET:
            raise ValidationFailed.at(["body", "refresh_token"], "is required")
        return body.refresh_token
    if body.refresh_token is not UNSET:
        raise ValidationFailed.at(["body", "refresh_token"], "with X-Session: cookie the token comes as the cookie")
    token = read_cookie(ctx.headers)
    if token is None:
        raise InvalidRefreshToken
    return token


def is_repeated(ctx: Context, session: LoginSession, claims: Claims) -> bool:
    """Return whether another tab just sent the previous refresh token."""
    if not session.cookie or session.rotated_at is None or session.previous_jti != claims.jti:
        return False
    return ctx.now() - session.rotated_at <= timedelta(seconds=REPEAT_SECONDS)


def grant_of(session: LoginSession) -> Grant:
    """Return what a rotated session's tokens are made from."""
    assert session.rotated_at is not None
    return Grant(
        session.user_id,
        session.role,
        session.id,
        session.generation,
        session.refresh_jti,
        session.rotated_at,
        session.expires_at,
    )


def token_response(ctx: Context, grant: Grant) -> TokenResponse:
    """Return a session's tokens; a browser's refresh token as a cookie."""
    if not wants_cookie(ctx.headers):
        return TokenResponse(_access_token(ctx, grant), _refresh_token(ctx, grant))
    set_cookie(ctx, grant)
    return TokenResponse(_access_token(ctx, grant))


def set_cookie(ctx: Context, grant: Grant) -> None:
    """Have the browser keep the session's refresh token."""
    token = _refresh_token(ctx, grant)
    ctx.answer_headers.append(token_cookie(ctx.headers, token, ctx.settings.refresh_token_seconds))


async def clear_cookie(ctx: Context) -> None:
    """Have a browser whose session ends drop its cookie."""
    session_id = ctx.caller.session_id
    assert session_id is not None
    if wants_cookie(ctx.headers) or await store.is_cookie_session(ctx, session_id):
        ctx.answer_headers.append(expired_cookie(ctx.headers))


def _access_token(ctx: Context, grant: Grant) -> str:
    now = int(ctx.now().timestamp())
    claims = Claims(
        sub=grant.user_id,
        tenant_id=ctx.tenant,
        type="access",
        jti=new_id(),
        iat=now,
        exp=now + ctx.settings.access_token_seconds,
        sid=grant.session_id,
        gen=grant.generation,
        role=grant.role,
    )
    return ctx.resources.tokens.sign(claims)


def _refresh_token(ctx: Context, grant: Grant) -> str:
    claims = Claims(
        sub=grant.user_id,
        tenant_id=ctx.tenant,
        type="refresh",
        jti=grant.refresh_jti,
        iat=int(grant.issued_at.timestamp()),
        exp=int(grant.expires_at.timestamp()),
        sid=grant.session_id,
        gen=grant.generation,
    )
    return ctx.resources.tokens.sign(claims)
