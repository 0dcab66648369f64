"""Identity's rows."""

from __future__ import annotations

from collections.abc import Sequence

from service.auth import actions, me_actions, password_actions, schema, two_factor_actions
from service.platform.access.caller_status import Window
from service.platform.base.problem import AddressNotAllowed, RateLimited, TenantSuspended, UnderMaintenance
from service.platform.config import Settings
from service.platform.route.api import Area, limit_by_address, limit_by_user
from service.platform.unit.context import Context

area = Area("/api/v1/auth", tag="auth", essential=True, compressed=False)

FORM_BYTES = 16_384


def _codes(settings: Settings, _: str, user: str) -> Sequence[Window]:
    return [two_factor_actions.tries(settings, user)]


@area.post(
    "/register",
    access="public",
    status=201,
    errors=(schema.EmailTaken, schema.RegistrationClosed),
    event="user.registered",
    windows=limit_by_address("register", lambda settings: settings.register_per_hour, 3600),
    flag="registration",
    heavy=True,
    browser=True,
    summary="Register account",
)
async def register(ctx: Context, body: schema.Registration) -> schema.TokenResponse:
    """Create a user and the tenant that they own."""
    return await actions.register(ctx, body)


@area.post(
    "/login",
    access="public",
    errors=(
        schema.WrongCredentials,
        schema.Deactivated,
        schema.CodeRequired,
        schema.InvalidCode,
        TenantSuspended,
        AddressNotAllowed,
        UnderMaintenance,
    ),
    event="user.logged_in",
    windows=limit_by_address("login", lambda settings: settings.login_per_minute),
    body_bytes=lambda _: FORM_BYTES,
    in_maintenance=True,
    heavy=True,
    browser=True,
    summary="Log in",
)
async def login(ctx: Context, form: schema.Login) -> schema.TokenResponse:
    """Trade an e-mail and a password for tokens.

    A code is needed too where two-factor login is on.
    """
    return await actions.login(ctx, form)


@area.post(
    "/refresh",
    access="public",
    errors=(
        schema.InvalidRefreshToken,
        schema.RefreshTokenRevoked,
        schema.AllTokensRevoked,
        schema.Deactivated,
        TenantSuspended,
        AddressNotAllowed,
        RateLimited,
        UnderMaintenance,
    ),
    in_maintenance=True,
    browser=True,
    summary="Refresh tokens",
)
async def refresh(ctx: Context, body: schema.Refresh) -> schema.TokenResponse:
    """Trade a refresh token for the next pair.

    A refresh token is good once.
    """
    return await actions.refresh(ctx, body)


@area.get("/me", access="any", enrolling=True)
async def get_current_user(ctx: Context) -> schema.Me:
    """Say who calls; for an API key, its creator."""
    return await me_actions.me(ctx)


@area.get("/options", access="public", in_maintenance=True, summary="Get sign-in options")
async def get_auth_options(ctx: Context) -> schema.AuthOptions:
    """Say what somebody without an account may do, such as register."""
    return await me_actions.options(ctx)


@area.post(
    "/logout",
    access="user",
    event="user.logged_out",
    windows=limit_by_user("logout", lambda settings: settings.logout_per_minute),
    enrolling=True,
    browser=True,
    summary="Log out",
)
async def logout(ctx: Context) -> None:
    """End the session that the access token belongs to."""
    await actions.logout(ctx)


@area.post("/revoke-all-tokens", access="user", event="user.tokens_revoked", browser=True)
async def revoke_all_tokens(ctx: Context) -> None:
    """End every session of the caller."""
    await actions.revoke_all(ctx)


@area.post(
    "/accept-invitation",
    access="public",
    errors=(schema.InvalidInvitation, TenantSuspended, AddressNotAllowed),
    event="user.joined",
    windows=limit_by_address("accept", lambda settings: settings.login_per_minute),
    heavy=True,
    browser=True,
)
async def accept_invitation(ctx: Context, body: schema.Acceptance) -> schema.TokenResponse:
    """Activate an invited user, who chooses a password."""
    return await actions.accept(ctx, body)


@area.post(
    "/password/change",
    access="user",
    errors=(schema.IncorrectPassword,),
    event="user.password_changed",
    windows=limit_by_user("password", lambda settings: settings.password_changes_per_hour, 3600),
    heavy=True,
    browser=True,
)
async def change_password(ctx: Context, body: schema.PasswordChange) -> None:
    """Replace the password.

    Every other session of the user ends.
    """
    await password_actions.change(ctx, body)


@area.post(
    "/password/forgot",
    access="public",
    status=202,
    windows=limit_by_address("forgot", lambda settings: settings.login_per_minute),
    summary="Request password reset",
)
async def forgot_password(ctx: Context, body: schema.PasswordForgotten) -> schema.ResetAccepted:
    """Send a letter with a way to choose a new password.

    The answer is the same for every e-mail.
    """
    return await password_actions.forget(ctx, body)


@area.post(
    "/password/reset",
    access="public",
    errors=(schema.InvalidResetToken, AddressNotAllowed),
    event="user.password_reset",
    windows=limit_by_address("reset", lambda settings: settings.login_per_minute),
    heavy=True,
)
async def reset_password(ctx: Context, body: schema.PasswordReset) -> None:
    """Take the token of a letter and a new password.

    Every session of the user ends.
    """
    await password_actions.reset(ctx, body)


@area.post(
    "/2fa/enroll",
    access="user",
    errors=(schema.AlreadyEnrolled,),
    event="user.two_factor_enrolment_begun",
    enrolling=True,
    summary="Enroll two-factor login",
)
async def enroll_two_factor(ctx: Context) -> schema.Enrolment:
    """Give a secret for the authenticator.

    It counts once a code of it is verified.
    """
    return await two_factor_actions.enroll(ctx)


@area.post(
    "/2fa/verify",
    access="user",
    errors=(schema.InvalidCode, schema.EnrolmentNotBegun),
    event="user.two_factor_enabled",
    windows=_codes,
    enrolling=True,
    summary="Verify two-factor login",
)
async def verify_two_factor(ctx: Context, body: schema.CodeGiven) -> schema.RecoveryCodes:
    """Turn two-factor login on.

    The recovery codes are shown this once, and each is good once.
    """
    return await two_factor_actions.verify(ctx, body.code)


@area.post(
    "/2fa/disable",
    access="user",
    errors=(schema.InvalidCode, schema.NotEnrolled),
    event="user.two_factor_disabled",
    summary="Disable two-factor login",
)
async def disable_two_factor(ctx: Context, body: schema.CodeGiven) -> None:
    """Take a code of the authenticator or a recovery code."""
    await two_factor_actions.disable(ctx, body.code)
