"""What administration says: the tenant, users, invitations, API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from service.admin import settings_schema
from service.auth.schema import SLUG_CHARACTERS, Email
from service.auth.tenant_schema import TenantSettings
from service.platform.base.caller import Role
from service.platform.base.moments import Moment
from service.platform.base.problem import Problem
from service.platform.config import TOLERANCE_MAX, Tier
from service.platform.route.api import PageQuery, Secret

NETWORKS_MAX = 100
"""Ranges of a tenant's allowlist: each is looked at with every request."""
LIMIT_MAX = 1_000_000
"""Of a limit that a tenant sets itself."""
LABEL_CHARACTERS = 60
"""Of what people read in place of `rating_agency_a` or `trustee_a`."""
GRACE_HOURS_MAX = 8_760
"""A year: of a rotated key's grace."""
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Search = Annotated[str, Meta(max_length=200)]


class Quota(Struct, frozen=True):
    """What is used of a limit; -1 is unlimited."""

    used: float
    """How much is used: records, gigabytes of storage, or formulas evaluated this month."""
    limit: int
    """How much the tier permits. -1: without limit."""


class Usage(Struct, frozen=True):
    """What the tenant uses."""

    users: int
    """Users, pending invitations included."""
    workbooks: int
    """Stored workbooks."""
    api_calls_this_month: int
    """Requests since the first of the month."""
    calculations_this_month: int
    """Formulas evaluated since the first of the month."""
    storage_used_mb: float
    """Megabytes of stored files."""


Format = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        extra={"checks": (settings_schema.wrong_date_format,)},
    ),
]
Currency = Annotated[str, Meta(max_length=8, extra={"checks": (settings_schema.wrong_currency,)})]
Zone = Annotated[str, Meta(max_length=64, extra={"checks": (settings_schema.wrong_timezone,)})]
Locale = Annotated[str, Meta(max_length=35, extra={"checks": (settings_schema.wrong_locale,)})]
Network = Annotated[
    str, Meta(max_length=64, description="CIDR, IPv4 or IPv6", extra={"checks": (settings_schema.wrong_network,)})
]
Rule = Annotated[str, Meta(extra={"checks": (settings_schema.wrong_rule,)})]
Tolerance = Annotated[float, Meta(ge=0, le=TOLERANCE_MAX)]
Label = Annotated[
    str, Meta(min_length=1, max_length=LABEL_CHARACTERS, extra={"checks": (settings_schema.wrong_label,)})
]


class SettingsPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which choices of the tenant to change; null lifts a limit where one may be lifted."""

    default_currency: Currency | UnsetType = UNSET
    timezone: Zone | UnsetType = UNSET
    date_format: Format | UnsetType = UNSET
    number_format: Locale | UnsetType = UNSET
    default_date_format: Format | UnsetType = UNSET
    default_number_format: Locale | UnsetType = UNSET
    two_factor_required: bool | UnsetType = UNSET
    session_timeout_minutes: Annotated[int, Meta(ge=15, le=1440)] | UnsetType | None = UNSET
    allowed_ip_ranges: Annotated[list[Network], Meta(max_length=NETWORKS_MAX)] | UnsetType = UNSET
    max_workbook_size_mb: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] | UnsetType = UNSET
    max_users: (
        Annotated[int, Meta(ge=-1, le=LIMIT_MAX, description="Most users; null, 0 or -1: as many as the tier permits")]
        | UnsetType
        | None
    ) = UNSET
    reconciliation_tolerances: dict[Rule, Tolerance] | UnsetType = UNSET
    """All that differ from the deployment's, by rule; rules that are not named get its figure again."""
    rating_agency_a_label: Label | UnsetType = UNSET
    rating_agency_b_label: Label | UnsetType = UNSET
    rating_agency_c_label: Label | UnsetType = UNSET
    trustee_a_label: Label | UnsetType = UNSET
    trustee_b_label: Label | UnsetType = UNSET
    trustee_c_label: Label | UnsetType = UNSET


TenantStatus = Literal["active", "suspended", "cancelled"]


class TenantPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change of the tenant."""

    confirm: Annotated[bool, Meta(description="Set the address ranges even where they shut the caller out")] = False

    name: Name | UnsetType = UNSET
    """Name of the organization."""
    settings: SettingsPatch | UnsetType = UNSET
    """Choices to change; what is left out stays."""
    subscription_tier: (
        Annotated[Tier, Meta(description="free, standard, premium or enterprise; for the system key alone")] | UnsetType
    ) = UNSET
    status: (
        Annotated[TenantStatus, Meta(description="active, suspended or cancelled; for the system key alone")]
        | UnsetType
    ) = UNSET


class Tenant(Struct, frozen=True, kw_only=True):
    """The caller's tenant."""

    id: UUID
    name: str
    """Name of the organization."""
    slug: str
    """Short name in lower case, unique in the deployment."""
    subscription_tier: Tier
    """free, standard, premium or enterprise: decides rates, quotas and the audit log."""
    status: TenantStatus
    """active; suspended or cancelled: nobody of it gets in."""
    settings: TenantSettings
    """Choices of the tenant, with the defaults of what was never set."""
    quotas: dict[str, Quota]
    """Use and limit by kind: workbooks, users, api_keys, storage_gb, calculations (of this month)."""
    usage: Usage
    """What the tenant has and used so far."""
    created_at: datetime
    updated_at: datetime


class StoredTenant(Struct, frozen=True, kw_only=True):
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
    cancelled_at: datetime | None
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
    """active; inactive: cannot log in; invited: has not accepted yet."""
    two_factor_enabled: bool
    last_login: datetime | None
    """When the user last logged in, in UTC. Null: never."""
    created_at: datetime
    updated_at: datetime


class UserRow(User, frozen=True, kw_only=True):
    """A stored user with the fields of the detail."""

    login_count: int
    """How often the user logged in."""


class Permissions(Struct, frozen=True):
    """What a role may do, area by area."""

    workbooks: list[str]
    """What the role may do with workbooks, such as read and write."""
    calculations: list[str]
    """What the role may do with formulas."""
    compliance: list[str]
    """What the role may do with tests, deals and tapes."""
    scenarios: list[str]
    """What the role may do with scenarios."""
    reports: list[str]
    """What the role may do with reports and exports."""
    admin: list[str]
    """What the role may do as an admin: users and api-keys (scopes), tenant and audit-logs, tenant-deletion."""


class UserDetail(UserRow, frozen=True, kw_only=True):
    """A user of the tenant, with what the role may do."""

    permissions: Permissions
    """What the user's role may do, by area."""


class UserList(PageQuery, kw_only=True, frozen=True):
    """Which users."""

    role: Role | None = None
    status: Literal["active", "inactive", "invited", "pending"] | None = None
    """active, inactive, or invited (pending means the same)."""
    search: Search | None = None
    """Part of the name or of the e-mail, in any case."""


class UserPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change of a user."""

    role: Role | UnsetType = UNSET
    status: Literal["active", "inactive"] | UnsetType = UNSET
    """inactive ends every session at once and refuses logins."""
    full_name: Name | UnsetType = UNSET


class Invite(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom to invite."""

    email: Email
    full_name: Name
    role: str
    """owner, admin, analyst or viewer; only an owner makes owners."""
    send_email: bool = True


class Invitation(Struct, frozen=True, kw_only=True):
    """An invitation; its token is shown this once."""

    id: UUID
    """Identifier of the invited user."""
    email: str
    full_name: str
    role: Role
    status: Literal["pending"]
    """pending until it is accepted."""
    invitation_token: Secret
    """What POST /api/v1/auth/accept-invitation takes; shown in this answer only."""
    expires_at: datetime
    """Until when it can be accepted, in UTC."""
    created_at: datetime


Slug = Annotated[
    str,
    Meta(
        max_length=SLUG_CHARACTERS,
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)",
        description="Short name in lower case, unique in the deployment; unset: made of the name",
        extra={"words": "lower-case letters and digits, parted by single hyphens, such as acme-capital"},
    ),
]


class TenantCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tenant to make, and whom to invite as its owner."""

    name: Name
    """Name of the organization."""
    owner_email: Email
    """E-mail address of the person to invite as owner."""
    owner_full_name: Name
    """First and last name of that person."""
    slug: Slug | None = None
    subscription_tier: (
        Annotated[Tier, Meta(description="free, standard, premium or enterprise; unset: that of a registration")]
        | UnsetType
    ) = UNSET
    settings: SettingsPatch | UnsetType = UNSET
    """Choices that differ from the defaults."""
    send_email: bool = True


class NewTenant(Struct, frozen=True, kw_only=True):
    """A tenant that was made, and the invitation of its owner."""

    tenant: Tenant
    """The tenant as it was made."""
    owner: Invitation
    """The owner's invitation."""


class Transfer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who becomes the owner."""

    user_id: UUID
    """The active user who becomes the owner."""


class Transferred(Struct, frozen=True, kw_only=True):
    """Who is the owner by now, and who was before: admins from now on."""

    owner: User
    """The owner from now on."""
    former_owners: list[User]
    """Who owned it before; they are admins now."""


class KeyCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The API key to make."""

    name: Name
    permissions: Annotated[list[str], Meta(min_length=1, max_length=50)]
    description: Annotated[str, Meta(max_length=2000)] | None = None
    expires_at: Moment | None = None
    """When it stops working: an ISO 8601 date or date-time. Unset: never."""
    environment: Literal["live", "test"] = "live"


KeyStatus = Literal["active", "expired", "revoked", "deprecated"]


class ApiKey(Struct, frozen=True, kw_only=True):
    """An API key; the secret itself is shown only when it is made."""

    id: UUID
    name: str
    description: str | None
    """What it is for. Null: nothing was said."""
    key: Secret | None = None
    """The key itself, which requests carry as X-API-Key. Null: it was shown when it was made."""
    key_prefix: str
    """First characters of the key, to tell it by."""
    permissions: list[str]
    environment: Literal["live", "test"]
    status: KeyStatus
    """active; deprecated: replaced, works until `expires_at`; expired; revoked."""
    last_used: datetime | None
    """Same as `last_used_at`."""
    last_used_at: datetime | None
    """When a request last came with it, in UTC. Null: never."""
    usage_count: int
    """Requests that came with it."""
    expires_at: datetime | None
    """From when on it no longer works, in UTC. Null: never."""
    created_by: str
    created_at: datetime


class StoredKey(ApiKey, frozen=True, kw_only=True):
    """A stored API key with its hash."""

    key_hash: bytes


class Rotation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to replace an API key."""

    grace_period_hours: Annotated[
        int, Meta(ge=0, le=GRACE_HOURS_MAX, description="Hours that the old key still works")
    ] = 0


class OldKey(Struct, frozen=True, kw_only=True):
    """What became of the API key that was replaced."""

    id: UUID
    """Identifier of the key that was replaced."""
    status: Literal["deprecated"]
    """deprecated: it works until `expires_at`."""
    expires_at: datetime


class RotatedKeys(Struct, frozen=True, kw_only=True):
    """The API key that took over, with its secret, and the one that it replaced."""

    new_key: ApiKey
    """The key that took over, with its secret."""
    old_key: OldKey
    """The key that was replaced, and until when it works."""


class KeyList(PageQuery, kw_only=True, frozen=True):
    """Which API keys."""

    status: KeyStatus | None = None
    """active, deprecated (replaced, works until it expires), expired or revoked."""


class Person(Struct, frozen=True):
    """A user, removed ones too."""

    email: str
    role: Role
    removed_at: datetime | None
    is_back: bool
    """Another user of the tenant has the e-mail now."""


class Letter(Struct, frozen=True):
    """A sealed letter and the job, or dead letter, that holds it."""

    id: str
    mail: str


class Erase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose person is erased."""

    confirm: Annotated[
        str, Meta(max_length=320, description="The user's e-mail address once more, since nothing can bring it back")
    ]


class Erasure(Struct, frozen=True, kw_only=True):
    """How far the erasure of a person is."""

    user_id: UUID
    """The user that is erased, removed from now on."""
    token: str
    """What stands in place of the e-mail address from then on."""
    status: Literal["erasing", "erased"]
    """erasing: a job goes through the records; erased: it is done."""


class InvalidRole(Problem, status=400):
    """Invalid role"""


class UserExists(Problem, status=409, constraint="users_tenant_email_key"):
    """User already exists"""


class UserLimitExceeded(Problem, status=403):
    """User limit exceeded"""


class SlugTaken(Problem, status=409):
    """Tenant slug already exists"""


class NotActive(Problem, status=409):
    """User is not active"""


class AlreadyOwner(Problem, status=409):
    """User is an owner already"""


class UserNotFound(Problem, status=404):
    """User not found"""


class LastOwner(
    Problem,
    status=403,
    hint="POST /api/v1/admin/tenant/transfer-ownership makes another user the owner first",
):
    """Cannot demote the last owner"""


class OwnerStays(
    Problem,
    status=403,
    hint="POST /api/v1/admin/tenant/transfer-ownership makes another user the owner first",
):
    """Cannot remove owner"""


class SelfStays(Problem, status=403, hint="another owner or admin removes you"):
    """Cannot remove self"""


class NotConfirmed(Problem, status=422, hint="`confirm` is the e-mail of the user who is erased"):
    """The confirmation is not the user's e-mail"""


class TenantEnded(Problem, status=409):
    """The days in which the tenant could come back are over"""


class ShutOut(Problem, status=409):
    """The address ranges leave out the one that you call from: send confirm to set them all the same"""


class NotYetJoined(Problem, status=409):
    """User has not accepted the invitation"""


class KeyNotFound(Problem, status=404):
    """API key not found"""


class KeyNotActive(Problem, status=409):
    """API key is not active"""


class KeyLimitExceeded(Problem, status=403):
    """API key limit exceeded"""
