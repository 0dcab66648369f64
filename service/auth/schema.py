"""What identity says: requests, records, refusals."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.access import Role
from service.platform.problem import Fault, Problem, ValidationFailed

EMAIL = re.compile(r"[^@\s\x00-\x1f\x7f<>(),;:\"\[\]\\]{1,64}@(?:[\w-]{1,63}\.)+[\w-]{2,63}")
EMAIL_CHARACTERS = 254
PASSWORD_CHARACTERS = 1024  # argon2 takes any length; a bound keeps a request cheap

Email = Annotated[str, Meta(max_length=EMAIL_CHARACTERS)]
FullName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Password = Annotated[
    str, Meta(max_length=PASSWORD_CHARACTERS, description="At least 8 characters: upper case, lower case, digit")
]


class Registration(Struct, frozen=True):
    """A user and the tenant that they found."""

    email: Email
    password: Password
    full_name: FullName
    organization_name: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]


class Login(Struct, frozen=True):
    """A login form."""

    username: Annotated[str, Meta(max_length=EMAIL_CHARACTERS, description="The e-mail")]
    password: Password


class Refresh(Struct, frozen=True):
    """A refresh token to trade in."""

    refresh_token: Annotated[str, Meta(max_length=4096)]


class Acceptance(Struct, frozen=True):
    """An invitation and the password that its user chooses."""

    token: Annotated[str, Meta(max_length=200)]
    password: Password


class TokenResponse(Struct, frozen=True):
    """The tokens of a session."""

    access_token: str
    refresh_token: str
    token_type: Literal["bearer"] = "bearer"  # noqa: S105 - a token's kind, no secret


class Me(Struct, frozen=True):
    """The caller; for an API key, its creator."""

    id: UUID
    email: str
    full_name: str
    tenant_id: UUID
    role: Role


class Account(Struct, frozen=True):
    """What a login must know of a user, found before any tenant is known."""

    tenant_id: UUID
    user_id: UUID
    email: str
    role: Role
    status: str
    password_hash: str | None
    tenant_status: str


class Invited(Struct, frozen=True):
    """An invitation, found by its token."""

    tenant_id: UUID
    invitation_id: UUID
    user_id: UUID
    expires_at: datetime
    accepted_at: datetime | None


class Session(Struct, frozen=True):
    """A family of refresh tokens."""

    id: UUID
    user_id: UUID
    refresh_jti: UUID
    generation: int
    revoked_at: datetime | None
    expires_at: datetime
    role: Role
    user_status: str
    token_generation: int
    tenant_status: str


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


def check_email(email: str) -> str:
    """The e-mail without surrounding blanks.

    Raises:
        ValidationFailed: it is none.
    """
    email = email.strip()
    if len(email) > EMAIL_CHARACTERS or not EMAIL.fullmatch(email):
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
