"""What administration says: the tenant, users, invitations, API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from service.auth.schema import Email
from service.platform.access.caller import Role
from service.platform.config import TOLERANCE_MAX, Tier
from service.platform.http.api import PageQuery, Secret
from service.platform.http.moments import Moment
from service.platform.http.problem import Problem

NETWORKS_MAX = 100
"""Ranges of a tenant's allowlist: each is looked at with every request."""
LIMIT_MAX = 1_000_000
"""Of a limit that a tenant sets itself."""
GRACE_HOURS_MAX = 8_760
"""A year: of a rotated key's grace."""
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Search = Annotated[str, Meta(max_length=200)]


class Quota(Struct, frozen=True):
    """What is used of a limit; -1 is unlimited."""

    used: float
    limit: int


class Usage(Struct, frozen=True):
    """What the tenant uses."""

    users: int
    workbooks: int
    api_calls_this_month: int
    calculations_this_month: int
    storage_used_mb: float


class TenantSettings(Struct, frozen=True, kw_only=True):
    """Choices of the tenant."""

    default_currency: str = "USD"
    timezone: str = "UTC"
    date_format: str = "YYYY-MM-DD"
    number_format: str = "en-US"
    default_date_format: str = "YYYY-MM-DD"
    default_number_format: str = "en-US"
    two_factor_required: bool = False
    session_timeout_minutes: int | None = None
    allowed_ip_ranges: list[str] = []
    max_workbook_size_mb: int = 100
    max_users: int | None = None
    """None in storage: the tier's."""
    reconciliation_tolerances: dict[str, float] = {}
    """By rule, in place of the deployment's: currency, points of price, basis points (spread, all_in_rate), days."""


Format = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"\S")]
Locale = Annotated[str, Meta(max_length=35, description="Language and region: en-US")]
Network = Annotated[str, Meta(max_length=64, description="CIDR, IPv4 or IPv6")]
Tolerance = Annotated[float, Meta(ge=0, le=TOLERANCE_MAX)]


class SettingsPatch(Struct, frozen=True, kw_only=True):
    """Which choices of the tenant to change; null lifts a limit where one may be lifted."""

    default_currency: Annotated[str, Meta(max_length=8, description="ISO 4217")] | UnsetType = UNSET
    timezone: Annotated[str, Meta(max_length=64, description="IANA identifier")] | UnsetType = UNSET
    date_format: Format | UnsetType = UNSET
    number_format: Locale | UnsetType = UNSET
    default_date_format: Format | UnsetType = UNSET
    default_number_format: Locale | UnsetType = UNSET
    two_factor_required: bool | UnsetType = UNSET
    session_timeout_minutes: Annotated[int, Meta(ge=15, le=1440)] | UnsetType | None = UNSET
    allowed_ip_ranges: Annotated[list[Network], Meta(max_length=NETWORKS_MAX)] | UnsetType = UNSET
    max_workbook_size_mb: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] | UnsetType = UNSET
    max_users: Annotated[int, Meta(ge=-1, le=LIMIT_MAX, description="null, 0 or -1: the tier's")] | UnsetType | None = (
        UNSET
    )
    reconciliation_tolerances: dict[str, Tolerance] | UnsetType = UNSET
    """All that differ from the deployment's: rules that are not named have its figure again."""


TenantStatus = Literal["active", "suspended", "cancelled"]


class TenantPatch(Struct, frozen=True, kw_only=True):
    """What to change of the tenant."""

    name: Name | UnsetType = UNSET
    settings: SettingsPatch | UnsetType = UNSET
    subscription_tier: Annotated[Tier, Meta(description="The deployment's own key alone may change it")] | UnsetType = (
        UNSET
    )
    status: Annotated[TenantStatus, Meta(description="The deployment's own key alone may change it")] | UnsetType = (
        UNSET
    )


class Tenant(Struct, frozen=True, kw_only=True):
    """The caller's tenant."""

    id: UUID
    name: str
    slug: str
    subscription_tier: Tier
    status: TenantStatus
    settings: TenantSettings
    quotas: dict[str, Quota]
    usage: Usage
    created_at: datetime
    updated_at: datetime


class TenantRow(Struct, frozen=True, kw_only=True):
    """The stored tenant with its counts."""

    id: UUID
    name: str
    slug: str
    subscription_tier: Tier
    status: TenantStatus
    settings: TenantSettings
    version: int
    created_at: datetime
    updated_at: datetime
    users: int
    workbooks: int
    api_keys: int
    storage_bytes: int


class User(Struct, frozen=True, kw_only=True):
    """A user of the tenant."""

    id: UUID
    email: str
    full_name: str
    tenant_id: UUID
    role: Role
    status: Literal["active", "inactive", "invited"]
    two_factor_enabled: bool
    last_login: datetime | None
    created_at: datetime
    updated_at: datetime


class UserRow(User, frozen=True, kw_only=True):
    """A stored user with what only the detail tells."""

    login_count: int


class Permissions(Struct, frozen=True):
    """What a role may do, area by area."""

    workbooks: list[str]
    calculations: list[str]
    compliance: list[str]
    scenarios: list[str]
    reports: list[str]
    admin: list[str]
    """users, api-keys: the scopes; tenant, audit-logs: what asks for an admin's role; tenant-deletion: an owner's."""


class UserDetail(UserRow, frozen=True, kw_only=True):
    """A user of the tenant, with what the role may do."""

    permissions: Permissions


class UserList(PageQuery, kw_only=True, frozen=True):
    """Which users."""

    role: Role | None = None
    status: Literal["active", "inactive", "invited", "pending"] | None = None
    search: Search | None = None


class UserPatch(Struct, frozen=True, kw_only=True):
    """What to change of a user."""

    role: Role | UnsetType = UNSET
    status: Literal["active", "inactive"] | UnsetType = UNSET
    full_name: Name | UnsetType = UNSET


class Invite(Struct, frozen=True, kw_only=True):
    """Whom to invite."""

    email: Email
    full_name: Name
    role: str
    send_email: bool = True


class Invitation(Struct, frozen=True, kw_only=True):
    """An invitation; its token is shown this once."""

    id: UUID
    """The invited user's, so that who invited can change or remove them."""
    email: str
    full_name: str
    role: Role
    status: Literal["pending"]
    invitation_token: Secret
    expires_at: datetime
    created_at: datetime


class KeyCreate(Struct, frozen=True, kw_only=True):
    """The API key to make."""

    name: Name
    permissions: Annotated[list[str], Meta(min_length=1, max_length=50)]
    description: Annotated[str, Meta(max_length=2000)] | None = None
    expires_at: Moment | None = None
    environment: Literal["live", "test"] = "live"


KeyStatus = Literal["active", "expired", "revoked", "deprecated"]


class ApiKey(Struct, frozen=True, kw_only=True):
    """An API key; the secret itself is shown only when it is made."""

    id: UUID
    name: str
    description: str | None
    key: Secret | None = None
    key_prefix: str
    permissions: list[str]
    environment: Literal["live", "test"]
    status: KeyStatus
    last_used: datetime | None
    last_used_at: datetime | None
    usage_count: int
    expires_at: datetime | None
    created_by: str
    created_at: datetime


class KeyRow(ApiKey, frozen=True, kw_only=True):
    """A stored API key with its hash."""

    key_hash: bytes


class Rotation(Struct, frozen=True, kw_only=True):
    """How to replace an API key."""

    grace_period_hours: Annotated[
        int, Meta(ge=0, le=GRACE_HOURS_MAX, description="How long the old key still works")
    ] = 0


class OldKey(Struct, frozen=True, kw_only=True):
    """What became of the API key that was replaced."""

    id: UUID
    status: Literal["deprecated"]
    expires_at: datetime


class RotatedKeys(Struct, frozen=True, kw_only=True):
    """The API key that took over, with its secret, and the one that it replaced."""

    new_key: ApiKey
    old_key: OldKey


class KeyList(PageQuery, kw_only=True, frozen=True):
    """Which API keys."""

    status: KeyStatus | None = None


class InvalidRole(Problem, status=400):
    """Invalid role"""


class UserExists(Problem, status=409, constraint="users_tenant_email_key"):
    """User already exists"""


class UserLimitExceeded(Problem, status=403):
    """User limit exceeded"""


class UserNotFound(Problem, status=404):
    """User not found"""


class LastOwner(Problem, status=403):
    """Cannot demote the last owner"""


class OwnerStays(Problem, status=403):
    """Cannot remove owner"""


class SelfStays(Problem, status=403):
    """Cannot remove self"""


class NotYetJoined(Problem, status=409):
    """User has not accepted the invitation"""


class KeyNotFound(Problem, status=404):
    """API key not found"""


class KeyNotActive(Problem, status=409):
    """API key is not active"""


class KeyLimitExceeded(Problem, status=403):
    """API key limit exceeded"""
