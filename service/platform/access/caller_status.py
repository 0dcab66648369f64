"""What the gate knows of a caller (tenant, key, limits), and its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from msgspec import Struct

from service.platform.base.caller import KEY_SCOPES, SCOPES, Role
from service.platform.config import ByTier, Settings

if TYPE_CHECKING:
    from service.platform.data.database import Transaction

CALLS = "calls"
"""The name of the amount that every counted request adds one to."""
HOUSEHOLD_BITS = 64
"""The first bits of an IPv6 address, which all addresses of one customer share."""
MAPPED_BITS = 96
"""An IPv4 address as IPv6 is ::ffff:0:0/96 and the four octets."""
ADDRESS_CHARACTERS_MAX = 45
"""Of an IPv6 address with an IPv4 one at its end."""


SPANS: Final = {0: "at once", 1: "a second", 60: "a minute", 3600: "an hour", 86_400: "a day"}
"""Seconds in words."""
COUNTED: Final = {
    "accept": "invitations accepted",
    "alert": "tests of alerts",
    "forgot": "password resets asked for",
    "insights": "generations of insights",
    "login": "logins",
    "logout": "logouts",
    "password": "password changes",
    "recovery": "recovery codes from one address",
    "refresh": "token refreshes",
    "register": "registrations",
    "reset": "password resets",
    "tenant": "requests of the whole tenant",
    "two_factor": "codes of an authenticator",
    "webhook": "tests of webhooks",
}
"""What the windows of a name count; others are called after it."""


class Window(NamedTuple):
    """A limit of at most `most` calls in each span of `seconds`; -1 is unlimited.

    What stands before the first colon of its name says what is counted; the rest says for whom.
    """

    name: str
    most: int
    seconds: int

    @property
    def words(self) -> str:
        """The limit in a refusal's words: 300 requests a minute."""
        kind = self.name.partition(":")[0]
        return f"{self.most:,} {COUNTED.get(kind, kind)} {SPANS.get(self.seconds, f'in {self.seconds:,} seconds')}"


class Meter(NamedTuple):
    """What a tenant may use in a calendar month (UTC), by tier."""

    name: str
    most: ByTier
    amount: int = 1
    scope: str = ""
    """What an API key needs for its request to be counted."""

    def words(self, tier: str) -> str:
        """Return the limit and the amount asked for, in a refusal's words."""
        asked = f"; the request asks for {self.amount:,}" if self.amount > 1 else ""
        return f"the limit is {self.most.of(tier):,} {self.name} a calendar month on the {tier} tier{asked}"


NO_METER = Meter("", ByTier(-1, -1, -1, -1), amount=0)


class RequestLimits(NamedTuple):
    """What a subject may ask: requests a minute, at once, a day (-1 unlimited)."""

    per_minute: int
    burst: int
    per_day: int


def figures_of(settings: Settings, tier: str) -> RequestLimits:
    """Return the request limits of a tier."""
    return RequestLimits(
        settings.requests_per_minute.of(tier), settings.request_burst.of(tier), settings.requests_per_day.of(tier)
    )


class TenantUsage(NamedTuple):
    """What a tenant used in a calendar month (UTC)."""

    calls: int
    calculations: int


class TenantRecord(Struct, frozen=True, kw_only=True):
    """What the gate remembers of a tenant."""

    id: UUID
    status: str
    """active, suspended, cancelled."""
    tier: str
    slug: str
    """Empty for a tenant that does not exist."""
    networks: tuple[str, ...] = ()
    """Where its callers may call from, as CIDR ranges; empty: from anywhere."""
    two_factor_required: bool = False
    session_timeout_minutes: int | None = None
    timezone: str = "UTC"

    def admits(self, address: str) -> bool:
        """Return whether a caller at this IP address may call.

        A text that is no address may only where all may.
        """
        if not self.networks:
            return True
        caller = read_address(address)
        return caller is not None and is_within(caller, self.networks)


class KeyRecord(Struct, frozen=True, kw_only=True):
    """What the gate remembers of an API key."""

    id: UUID
    tenant_id: UUID
    user_id: UUID
    email: str
    role: Role
    scopes: list[str]
    active: bool
    """Neither revoked nor made by a user who is no longer active."""
    expires_at: float | None

    def lives_at(self, now: float) -> bool:
        """Return whether the key is still good at this moment (epoch seconds)."""
        return self.active and (self.expires_at is None or self.expires_at > now)


class GateVerdict(NamedTuple):
    """What the gate says of a request."""

    outcome: str
    """ok, limited, used_up, revoked."""
    limit: int = 0
    remaining: int = 0
    reset: int = 0
    retry_after_seconds: int = 0
    tenant: TenantRecord | None = None
    """Whose user or key calls; None where nobody's tenant is known, and for the deployment's own key."""
    key: KeyRecord | None = None
    must_enroll: bool = False
    """The tenant requires two-factor and this user has yet to enable it; never of a key."""
    moment: str = ""
    """What the call is known by in its windows; empty where it has none."""
    passed: Window | None = None
    """Of limited: the limit that has to be waited for the longest."""

    @property
    def tenant_status(self) -> str:
        """The tenant's status; empty without a tenant."""
        return self.tenant.status if self.tenant else ""

    @property
    def tier(self) -> str:
        """The tenant's tier; empty without a tenant."""
        return self.tenant.tier if self.tenant else ""

    @property
    def timezone(self) -> str:
        """The tenant's time zone."""
        return self.tenant.timezone if self.tenant else "UTC"

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The rate-limit headers."""
        return [
            (b"x-ratelimit-limit", b"%d" % self.limit),
            (b"x-ratelimit-remaining", b"%d" % self.remaining),
            (b"x-ratelimit-reset", b"%d" % self.reset),
        ]


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address; None for a text that is none."""
    return _address(text) if len(text) <= ADDRESS_CHARACTERS_MAX else None  # a long text is never cached


@lru_cache(maxsize=4096)
def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address("" if "%" in text else text)  # a scope means something on its own host only
    except ValueError:
        return None
    return (address.version == 6 and address.ipv4_mapped) or address


address_text: Final = lru_cache(maxsize=4096)(str)
"""Returns an IP address as text."""


@lru_cache(maxsize=4096)
def origin_of(address: str) -> str:
    """Return what limits count as one caller.

    An IPv4 address, or the /64 of an IPv6 one, which is a single household's.
    """
    parsed = read_address(address)
    if parsed is None or parsed.version == 4:
        return address
    return str(ip_network((parsed, HOUSEHOLD_BITS), strict=False))


def is_within(address: IPv4Address | IPv6Address, networks: tuple[str, ...]) -> bool:
    """Return whether an address lies in one of these CIDR ranges."""
    return any(address in network for network in _parse_networks(networks))


@lru_cache(maxsize=1024)
def _parse_networks(networks: tuple[str, ...]) -> Sequence[IPv4Network | IPv6Network]:
    """Parse CIDR ranges; a text that is no range admits nobody."""
    parsed: list[IPv4Network | IPv6Network] = []
    for text in networks:
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            continue
        mapped = network.version == 6 and network.network_address.ipv4_mapped
        if mapped and network.prefixlen >= MAPPED_BITS:
            network = IPv4Network((mapped, network.prefixlen - MAPPED_BITS))
        parsed.append(network)
    return parsed


# From PostgreSQL -----------------------------------------------------------------------------------------------------


class _TenantSettings(Struct):
    allowed_ip_ranges: tuple[str, ...] | None = None
    two_factor_required: bool | None = None
    session_timeout_minutes: int | None = None
    timezone: str | None = None


class TenantStatusRow(Struct):
    """A tenant as `find_tenant` returns it."""

    id: UUID
    status: str
    subscription_tier: str
    slug: str
    settings: _TenantSettings

    def record(self) -> TenantRecord:
        """Return what the gate remembers of it."""
        return TenantRecord(
            id=self.id,
            status=self.status,
            tier=self.subscription_tier,
            slug=self.slug,
            networks=self.settings.allowed_ip_ranges or (),
            two_factor_required=bool(self.settings.two_factor_required),
            session_timeout_minutes=self.settings.session_timeout_minutes,
            timezone=self.settings.timezone or "UTC",
        )


class KeyStatusRow(Struct):
    """An API key as `find_api_key` returns it."""

    tenant_id: UUID
    id: UUID
    permissions: list[str]
    status: str
    expires_at: datetime | None
    usage_count: int
    last_used_at: datetime | None
    creator_id: UUID
    creator_email: str
    creator_role: Role
    creator_status: str

    def record(self) -> KeyRecord:
        """Return what the gate remembers of it."""
        allowed = SCOPES[self.creator_role]  # a key never exceeds its creator's present role
        return KeyRecord(
            id=self.id,
            tenant_id=self.tenant_id,
            user_id=self.creator_id,
            email=self.creator_email,
            role=self.creator_role,
            scopes=[scope for scope in KEY_SCOPES if scope in self.permissions and scope in allowed],
            active=self.status in ("active", "deprecated") and self.creator_status == "active",
            expires_at=self.expires_at.timestamp() if self.expires_at else None,
        )


class UserStatus(TenantStatusRow):
    """A user's token as `user_standing` sees it."""

    two_factor_enabled: bool
    session_revoked: bool
    generation: int
    amounts: dict[str, int]


class KeyStatus(Struct):
    """An API key as `key_standing` sees it."""

    tenant: TenantStatusRow
    key: KeyStatusRow
    amounts: dict[str, int]


def unknown_tenant(tenant_id: UUID) -> TenantRecord:
    """Return the record of a tenant that does not exist."""
    return TenantRecord(id=tenant_id, status="cancelled", tier="free", slug="")


async def read_tenant(tx: Transaction, tenant_id: UUID) -> TenantRecord:
    """Read a tenant; one that does not exist is cancelled and has no slug."""
    row = await tx.fetch_one_or_none(TenantStatusRow, "SELECT * FROM find_tenant(%s)", [tenant_id])
    return row.record() if row else unknown_tenant(tenant_id)


async def read_key(tx: Transaction, key_hash: bytes) -> KeyStatusRow | None:
    """Read an API key."""
    return await tx.fetch_one_or_none(KeyStatusRow, "SELECT * FROM find_api_key(%s)", [key_hash])


async def read_two_factor(tx: Transaction, user_id: UUID) -> bool:
    """Read whether a user has enabled two-factor; one that does not exist has not."""
    return bool(await tx.fetch_value("SELECT find_two_factor(%s)", [user_id]))


async def read_user_status(
    tx: Transaction, tenant_id: UUID, user_id: UUID, session_id: UUID, month: str
) -> UserStatus | None:
    """Read the status of a user's token; None where the tenant does not exist."""
    return await tx.fetch_one_or_none(
        UserStatus, "SELECT * FROM user_standing(%s, %s, %s, %s)", [tenant_id, user_id, session_id, month]
    )


async def read_key_status(tx: Transaction, key_hash: bytes, month: str) -> KeyStatus | None:
    """Read the status of an API key; None where it does not exist."""
    return await tx.fetch_one_or_none(KeyStatus, "SELECT * FROM key_standing(%s, %s)", [key_hash, month])


async def read_amounts(tx: Transaction, month: str) -> dict[str, int]:
    """Read what the transaction's tenant used in a month, by name."""
    rows = await tx.fetch_all(_Amount, "SELECT name, amount FROM tenant_usage WHERE month = %s", [month])
    return {row.name: row.amount for row in rows}


class _Amount(Struct):
    name: str
    amount: int
