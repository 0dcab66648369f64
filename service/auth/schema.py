"""What identity says: requests, records, refusals."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.access.caller import Role
from service.platform.http.api import Secret
from service.platform.http.problem import Fault, Problem, ValidationFailed
from service.platform.work.mail_address import ADDRESS_CHARACTERS, UnfitAddress, envelope

EMAIL = re.compile(r"[^@\s\x00-\x1f\x7f<>(),;:\"\[\]\\]{1,64}@(?:[\w-]{1,63}\.)+[\w-]{2,63}")
PASSWORD_CHARACTERS = 1024  # argon2 takes any length; a bound keeps a request cheap
RECOVERY_CODES = 10

Email = Annotated[str, Meta(max_length=ADDRESS_CHARACTERS)]
FullName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Password = Annotated[
    str, Meta(max_length=PASSWORD_CHARACTERS, description="At least 8 characters: upper case, lower case, digit")
]
Code = Annotated[str, Meta(max_length=64, description="Six digits of an authenticator, or a recovery code")]


class Registration(Struct, frozen=True):
    """A user and the tenant that they found."""

    email: Email
    password: Password
    full_name: FullName
    organization_name: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]


class Login(Struct, frozen=True):
    """A login form."""

    username: Annotated[str, Meta(max_length=ADDRESS_CHARACTERS, description="The e-mail")]
    password: Password
    otp_code: Code | None = None


class Refresh(Struct, frozen=True):
    """A refresh token to trade in."""

    refresh_token: Annotated[str, Meta(max_length=4096)]


class Acceptance(Struct, frozen=True):
    """An invitation and the password that its user chooses."""

    token: Annotated[str, Meta(max_length=200)]
    password: Password


class PasswordChange(Struct, frozen=True):
    """A new password, and the one that it replaces."""

    current_password: Password
    new_password: Password


class PasswordForgotten(Struct, frozen=True):
    """Whose password is forgotten."""

    email: Email


class ResetAccepted(Struct, frozen=True):
    """What everybody is told who forgot a password."""

    message: str = "If an account has this e-mail, a letter with a way to reset its password is on its way"


class PasswordReset(Struct, frozen=True):
    """The token of a letter, and the password that its reader chooses."""

    token: Annotated[str, Meta(max_length=200)]
    new_password: Password


class CodeGiven(Struct, frozen=True):
    """A code of the second factor."""

    code: Code


class Enrolment(Struct, frozen=True):
    """What an authenticator must know; it counts once a code of it was verified."""

    secret: Secret
    otpauth_uri: Secret


class RecoveryCodes(Struct, frozen=True):
    """What stands in for the authenticator when it is lost; each is good once."""

    recovery_codes: list[Secret]


class TokenResponse(Struct, frozen=True):
    """The tokens of a session."""

    access_token: Secret
    refresh_token: Secret
    token_type: Literal["bearer"] = "bearer"  # noqa: S105 - a token's kind, no secret


class Me(Struct, frozen=True):
    """The caller; for an API key, its creator."""

    id: UUID
    email: str
    full_name: str
    tenant_id: UUID
    role: Role
    two_factor_enabled: bool


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


class Reset(Struct, frozen=True):
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


class Session(Struct, frozen=True):
    """A family of refresh tokens."""

    id: UUID
    user_id: UUID
    refresh_jti: UUID
    generation: int
    revoked_at: datetime | None
    used_at: datetime
    email: str
    role: Role
    user_status: str
    token_generation: int
    tenant_status: str


class LoginStatus(Struct, frozen=True):
    """What a user's tokens say of them; who changes the role raises the generation with it."""

    role: Role
    generation: int


class EmailTaken(Problem, status=400, constraint="users_email_key"):
    """Email already registered"""


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


class InvalidInvitation(Problem, status=400):
    """Invalid or expired invitation"""


class IncorrectPassword(Problem, status=401):
    """Incorrect password"""


class InvalidResetToken(Problem, status=400):
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


def check_email(email: str) -> str:
    """The e-mail without surrounding blanks.

    Raises:
        ValidationFailed: it is none.
    """
    email = email.strip()
    try:
        envelope(email)
    except UnfitAddress:
        fits = False
    else:
        fits = EMAIL.fullmatch(email) is not None
    if not fits:
        raise ValidationFailed(Fault(["body", "email"], "not a valid e-mail address"))
    return email


def check_password(password: str, field: str = "password") -> None:
    """Hold a new password against the rules.

    Raises:
        ValidationFailed: it is too weak; every rule that it breaks is named.
    """
    rules = {
        "at least 8 characters": len(password) >= 8,
        "an uppercase letter": any(letter.isupper() for letter in password),
        "a lowercase letter": any(letter.islower() for letter in password),
        "a digit": any(letter.isdigit() for letter in password),
    }
    if broken := [rule for rule, kept in rules.items() if not kept]:
        raise ValidationFailed(*(Fault(["body", field], f"the password needs {rule}") for rule in broken))
