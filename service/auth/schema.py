"""What identity says: requests, records, refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from service.auth.tenant_schema import TenantSettings, TenantView
from service.platform.base.caller import Role
from service.platform.base.problem import Problem
from service.platform.config import Tier
from service.platform.http.faults import Check
from service.platform.route.api import Secret
from service.platform.work.mail_address import ADDRESS_CHARACTERS, UnfitAddress, envelope

EMAIL = re.compile(r"[^@\s\x00-\x1f\x7f<>(),;:\"\[\]\\]{1,64}@(?:[\w-]{1,63}\.)+[\w-]{2,63}")
PASSWORD_CHARACTERS = 1024  # argon2 takes any length; a bound keeps a request cheap
RECOVERY_CODES = 10

SLUG_CHARACTERS: Final = 60
"""Of a tenant, in a URL."""


def wrong_email(email: str) -> str | None:
    """Return why a text is no e-mail address; blanks around it are none of it."""
    try:
        envelope(email.strip())
    except UnfitAddress:
        fits = False
    else:
        fits = EMAIL.fullmatch(email.strip()) is not None
    return None if fits else "not a valid e-mail address"


def _needs(rule: str, kept: Callable[[str], bool]) -> Check:
    return lambda password: None if kept(password) else f"the password needs {rule}"


PASSWORD_RULES: Final = (
    _needs("at least 8 characters", lambda password: len(password) >= 8),
    _needs("an uppercase letter", lambda password: any(letter.isupper() for letter in password)),
    _needs("a lowercase letter", lambda password: any(letter.islower() for letter in password)),
    _needs("a digit", lambda password: any(letter.isdigit() for letter in password)),
)

Email = Annotated[str, Meta(max_length=ADDRESS_CHARACTERS, extra={"checks": (wrong_email,)})]
FullName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Password = Annotated[str, Meta(max_length=PASSWORD_CHARACTERS)]
NewPassword = Annotated[
    str,
    Meta(
        max_length=PASSWORD_CHARACTERS,
        description="Password of at least 8 characters, with an upper-case and a lower-case letter and a digit",
        extra={"checks": PASSWORD_RULES},
    ),
]
Code = Annotated[str, Meta(max_length=64, description="Six digits of an authenticator, or a recovery code")]


class Registration(Struct, frozen=True, forbid_unknown_fields=True):
    """A user and the tenant that they found."""

    email: Email
    password: NewPassword
    full_name: FullName
    organization_name: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
    """Name of the tenant that is made for the user."""


class Login(Struct, frozen=True):
    """A login form."""

    username: Annotated[str, Meta(max_length=ADDRESS_CHARACTERS, description="The user's e-mail address")]
    password: Password
    """The user's password."""
    otp_code: Code | None = None
    """Six digits of the authenticator, or a recovery code; needed where two-factor login is on."""


class Refresh(Struct, frozen=True, forbid_unknown_fields=True):
    """A refresh token to trade in."""

    refresh_token: Annotated[str, Meta(max_length=4096)] | UnsetType = UNSET
    """The newest refresh token of the session; using an older one ends the session. Left out with `X-Session: cookie`,
    where the cookie has it; required otherwise."""


class Acceptance(Struct, frozen=True, forbid_unknown_fields=True):
    """An invitation and the password that its user chooses."""

    token: Annotated[str, Meta(max_length=200)]
    """The `invitation_token` that the invitation answered with."""
    password: NewPassword


class PasswordChange(Struct, frozen=True, forbid_unknown_fields=True):
    """A new password, and the one that it replaces."""

    current_password: Password
    """The password that is replaced."""
    new_password: NewPassword


class PasswordForgotten(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose password is forgotten."""

    email: Annotated[str, Meta(max_length=ADDRESS_CHARACTERS)]


class ResetAccepted(Struct, frozen=True):
    """What everybody is told who forgot a password."""

    message: str = "If an account has this e-mail, a letter with a way to reset its password is on its way"
    """The same for every address, so that nobody learns who has an account."""


class PasswordReset(Struct, frozen=True, forbid_unknown_fields=True):
    """The token of a letter, and the password that its reader chooses."""

    token: Annotated[str, Meta(max_length=200)]
    """The token in the letter's link."""
    new_password: NewPassword


class CodeGiven(Struct, frozen=True, forbid_unknown_fields=True):
    """A code of the second factor."""

    code: Code


class Enrolment(Struct, frozen=True):
    """What an authenticator must know; it counts once a code of it was verified."""

    secret: Secret
    """The secret to type into an authenticator, in base 32."""
    otpauth_uri: Secret
    """The same as a link for a QR code."""


class RecoveryCodes(Struct, frozen=True):
    """What stands in for the authenticator when it is lost; each is good once."""

    recovery_codes: list[Secret]
    """Ten codes, each good once in place of the authenticator's."""


class TokenResponse(Struct, frozen=True):
    """The tokens of a session."""

    access_token: Secret
    """What requests carry as `Authorization: Bearer ...`; good for 15 minutes."""
    refresh_token: Secret | UnsetType = UNSET
    """What POST /api/v1/auth/refresh trades for the next pair; good once, for 7 days. Unset: it is the cookie
    `cushion_refresh`, as `X-Session: cookie` asked."""
    token_type: Literal["bearer"] = "bearer"  # noqa: S105 - a token's kind, no secret
    """Scheme of the Authorization header."""


class Me(Struct, frozen=True):
    """The caller; for an API key, its creator."""

    id: UUID
    email: str
    full_name: str
    tenant_id: UUID
    role: Role
    two_factor_enabled: bool
    scopes: list[str]
    """What the caller may: of a key its own scopes."""
    tenant: TenantView
    """The tenant's name, tier and the choices that everybody of it works by."""


class MeRow(Struct, frozen=True):
    """The caller's user and tenant, as they are stored."""

    id: UUID
    email: str
    full_name: str
    tenant_id: UUID
    role: Role
    two_factor_enabled: bool
    tenant_name: str
    subscription_tier: Tier
    settings: TenantSettings


class AuthOptions(Struct, frozen=True):
    """What a visitor may do who has no account."""

    registration_open: bool
    """Whether anybody may register a tenant."""


class Account(Struct, frozen=True):
    """What a login must know of a user, found before any tenant is known."""

    tenant_id: UUID
    user_id: UUID
    email: str
    full_name: str
    status: str
    password_hash: str | None
    two_factor_enabled: bool
    tenant_status: str
    is_known: bool = False
    """Whether the user logged in from the caller's address before."""


class Invited(Struct, frozen=True):
    """An invitation, found by its token."""

    tenant_id: UUID
    invitation_id: UUID
    user_id: UUID
    expires_at: datetime
    accepted_at: datetime | None


class PendingReset(Struct, frozen=True):
    """A password reset, found by its token."""

    tenant_id: UUID
    id: UUID
    user_id: UUID
    expires_at: datetime
    used_at: datetime | None


class SecondFactor(Struct, frozen=True):
    """A user's second factor, its secrets sealed."""

    email: str
    two_factor_enabled: bool
    two_factor_secret: str | None
    two_factor_pending: str | None
    two_factor_step: int


class LoginSession(Struct, frozen=True):
    """A family of refresh tokens."""

    id: UUID
    user_id: UUID
    refresh_jti: UUID
    generation: int
    revoked_at: datetime | None
    expires_at: datetime
    used_at: datetime
    cookie: bool
    """Whether it is a browser's, with the refresh token as a cookie."""
    previous_jti: UUID | None
    """The refresh token that the present one replaced."""
    rotated_at: datetime | None
    """When it did."""
    email: str
    role: Role
    user_status: str
    token_generation: int
    tenant_status: str


class Grant(Struct, frozen=True):
    """What the tokens of a session are made of."""

    user_id: UUID
    role: Role
    session_id: UUID
    generation: int
    refresh_jti: UUID
    issued_at: datetime
    """Of the refresh token."""
    expires_at: datetime
    """Of the refresh token."""


class LoginStatus(Struct, frozen=True):
    """What a user's tokens say of them; who changes the role raises the generation with it."""

    role: Role
    generation: int


class EmailTaken(Problem, status=400, constraint="users_email_key"):
    """Email already registered"""


class RegistrationClosed(Problem, status=403, hint="ask for an invitation to a tenant that is there"):
    """Registration is closed"""


class WrongCredentials(Problem, status=401):
    """Incorrect email or password"""


class Deactivated(Problem, status=401):
    """User account is deactivated"""


class InvalidRefreshToken(Problem, status=401, code="INVALID_TOKEN"):
    """Invalid refresh token"""


class RefreshTokenRevoked(Problem, status=401, code="TOKEN_REVOKED"):
    """Refresh token has been revoked"""


class AllTokensRevoked(Problem, status=401, code="TOKEN_REVOKED"):
    """All tokens have been revoked"""


class InvalidInvitation(Problem, status=400, hint="it is used once and runs out; an owner or admin sends another one"):
    """Invalid or expired invitation"""


class IncorrectPassword(Problem, status=401):
    """Incorrect password"""


class InvalidResetToken(
    Problem,
    status=400,
    hint="it is used once and runs out; POST /api/v1/auth/password/forgot sends another one",
):
    """Invalid or expired token"""


class CodeRequired(Problem, status=401):
    """Two-factor code required"""


class InvalidCode(Problem, status=401):
    """Invalid two-factor code"""


class AlreadyEnrolled(Problem, status=409):
    """Two-factor is already enabled"""


class EnrolmentNotBegun(Problem, status=409):
    """Two-factor enrolment has not begun"""


class NotEnrolled(Problem, status=409):
    """Two-factor is not enabled"""
