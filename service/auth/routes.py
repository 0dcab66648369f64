"""Identity's rows."""

from __future__ import annotations

from collections.abc import Sequence

from service.auth import actions, store
from service.auth.schema import (
    Acceptance,
    AllTokensRevoked,
    Deactivated,
    EmailTaken,
    InvalidInvitation,
    InvalidRefreshToken,
    Login,
    Me,
    Refresh,
    RefreshTokenRevoked,
    Registration,
    TokenResponse,
    WrongCredentials,
)
from service.platform.api import Area
from service.platform.config import Settings
from service.platform.context import Context
from service.platform.gate import Window
from service.platform.problem import RateLimited, TenantSuspended

area = Area("/api/v1/auth", tag="auth")

FORM_BYTES = 16_384


def _registrations(settings: Settings, address: str, _: str) -> Sequence[Window]:
    return [Window(f"register:{address}", settings.register_per_hour, 3600)]


def _logins(settings: Settings, address: str, _: str) -> Sequence[Window]:
    return [Window(f"login:{address}", settings.login_per_minute, 60)]


def _acceptances(settings: Settings, address: str, _: str) -> Sequence[Window]:
    return [Window(f"accept:{address}", settings.login_per_minute, 60)]


def _logouts(settings: Settings, _: str, user: str) -> Sequence[Window]:
    return [Window(f"logout:{user}", settings.logout_per_minute, 60)]


@area.post(
    "/register", access="public", status=201, errors=(EmailTaken,), event="user.registered", windows=_registrations
)
async def register(ctx: Context, body: Registration) -> TokenResponse:
    """Create a user and the tenant that they own."""
    return await actions.register(ctx, body)


@area.post(
    "/login",
    access="public",
    errors=(WrongCredentials, Deactivated, TenantSuspended),
    event="user.logged_in",
    windows=_logins,
    body_bytes=lambda _: FORM_BYTES,
)
async def login(ctx: Context, form: Login) -> TokenResponse:
    """Trade an e-mail and a password for tokens."""
    return await actions.login(ctx, form)


@area.post(
    "/refresh",
    access="public",
    errors=(InvalidRefreshToken, RefreshTokenRevoked, AllTokensRevoked, Deactivated, TenantSuspended, RateLimited),
)
async def refresh(ctx: Context, body: Refresh) -> TokenResponse:
    """Trade a refresh token for the next pair; a refresh token is good once."""
    return await actions.refresh(ctx, body)


@area.get("/me", access="any")
async def get_current_user(ctx: Context) -> Me:
    """Who calls; for an API key, its creator."""
    return await store.me(ctx)


@area.post("/logout", access="user", event="user.logged_out", windows=_logouts)
async def logout(ctx: Context) -> None:
    """End the session that the access token belongs to."""
    await actions.logout(ctx)


@area.post("/revoke-all-tokens", access="user", event="user.tokens_revoked")
async def revoke_all_tokens(ctx: Context) -> None:
    """End every session of the caller."""
    await actions.revoke_all(ctx)


@area.post(
    "/accept-invitation",
    access="public",
    errors=(InvalidInvitation, TenantSuspended),
    event="user.joined",
    windows=_acceptances,
)
async def accept_invitation(ctx: Context, body: Acceptance) -> TokenResponse:
    """Accept an invitation by choosing a password; the user becomes active."""
    return await actions.accept(ctx, body)
