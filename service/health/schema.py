"""What the health views say."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from service.health.breaker_schema import Degradation, HistoryLimit, Resilience
from service.platform.base.breaker import State as BreakerState
from service.platform.base.breakers import Level, Service

MESSAGE_CHARACTERS = 200
TENANTS_MAX = 100
"""Tenants that one change of a flag names."""
OVERRIDES_MAX = 1_000
"""Tenants' overrides of all flags together: every process has them all in memory."""


class Home(Struct, frozen=True):
    """What this service is, and where to look."""

    name: str
    description: str
    version: str
    links: dict[str, str]
    """Paths of the console, the documentation and the health views, by name."""


class Health(Struct, frozen=True):
    """That the service answers."""

    status: Literal["healthy"]
    """healthy: the process answers."""
    version: str
    timestamp: datetime


class Live(Struct, frozen=True):
    """The process answers."""

    status: Literal["alive"]
    """alive: the process answers."""


class Check(Struct, frozen=True):
    """The state of one dependency."""

    status: Literal["ok", "error"]
    """ok: it answers; error: it does not."""
    message: str
    """What it answered, or what kind of failure it was."""


class Readiness(Struct, frozen=True):
    """Whether requests can be served."""

    status: Literal["ready", "not_ready"]
    """ready: requests can be served; not_ready: they cannot."""
    version: str
    timestamp: datetime
    checks: dict[str, Check]
    degraded: bool
    """Something that requests can be served without is not there."""


class QueueDepths(Struct, frozen=True):
    """Jobs that wait, by queue."""

    queues: dict[str, int]
    """Waiting jobs by queue: default, calculate, parse, priority, export."""
    total_pending: int
    """Waiting jobs of all queues."""
    timestamp: datetime


# Maintenance ----------------------------------------------------------------------------------------------------------


class MaintenanceQuery(Struct, frozen=True, kw_only=True):
    """Whether the deployment is to be under maintenance, and what everybody is told."""

    enable: bool
    """true begins it, false ends it."""
    message: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MESSAGE_CHARACTERS,
            pattern=r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]*$",
            description="What every caller is told meanwhile; no control characters, and none that turn or hide text",
            extra={"words": "no control characters, and none that turn or hide text"},
        ),
    ] = "Scheduled maintenance in progress"
    expected_minutes: (
        Annotated[
            int, Meta(ge=1, le=10_080, description="Minutes that it is expected to last; it does not end by itself")
        ]
        | None
    ) = None


class MaintenanceStatus(Struct, frozen=True, kw_only=True):
    """Whether the deployment is under maintenance."""

    enabled: bool
    """Whether callers other than operators are refused."""
    message: str | None = None
    """What callers are told. Null: there is no maintenance."""
    since: datetime | None = None
    """When it began, in UTC. Null: there is no maintenance."""
    expected_end: datetime | None = None
    """When it is expected to end, in UTC; it does not end by itself. Null: nobody said."""


# Feature flags --------------------------------------------------------------------------------------------------------


class FlagStatus(Struct, frozen=True, kw_only=True):
    """A feature flag."""

    name: str
    """What a change names the flag by."""
    description: str
    """What it switches, and what happens without it."""
    enabled: bool
    """Whether it is on for whoever has no override."""
    default: bool
    """What holds where nobody set anything."""
    overrides: int
    """How many tenants have it otherwise."""


class FeatureFlags(Struct, frozen=True, kw_only=True):
    """All feature flags."""

    flags: list[FlagStatus]
    timestamp: datetime


class FlagChange(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is to be set of a flag; what is left out stays."""

    enabled: (
        Annotated[bool, Meta(description="What is to hold for whoever has no override; null: its default again")]
        | UnsetType
        | None
    ) = UNSET
    tenants: Annotated[
        dict[str, bool | None],
        Meta(max_length=TENANTS_MAX, description="Overrides by a tenant's identifier or slug; null takes one away"),
    ] = {}


class FlagChanges(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes by the flag's name; `true` and `false` stand for `{"enabled": ...}`."""

    flags: Annotated[
        dict[str, bool | FlagChange],
        Meta(
            extra_json_schema={"example": {"exports": False, "webhooks": {"enabled": None, "tenants": {"acme": False}}}}
        ),
    ] = {}
    """Flags to change, by name: true, false, or an object with defaults and single tenants."""


class FlagsChanged(Struct, frozen=True, kw_only=True):
    """All feature flags after a change, with the overrides that the caller may see."""

    flags: list[FlagStatus]
    tenants: dict[str, dict[str, bool]]
    """Overrides by flag and tenant: all of them for who runs the deployment, else the caller's own."""
    timestamp: datetime


# Views of more than one thing -----------------------------------------------------------------------------------------


class Detailed(Struct, frozen=True, kw_only=True):
    """What the process that answers knows, without asking anybody much."""

    status: Literal["healthy", "degraded", "unhealthy"]
    """unhealthy: requests cannot be served; degraded: something is missing, or the deployment is under maintenance."""
    version: str
    uptime_seconds: int
    """Seconds since the process that answers started."""
    level: Level
    checks: dict[str, Check]
    """What each dependency answered last, by its name."""
    breakers: dict[Service, BreakerState]
    maintenance: MaintenanceStatus
    features_off: list[str]
    """Feature flags that are off for whoever has no override."""
    pending_jobs: int | None
    """Jobs that wait. Null: the database does not answer."""
    timestamp: datetime


class DeepCheck(Struct, frozen=True, kw_only=True):
    """What one dependency answered when it was asked for real."""

    status: Literal["ok", "error"]
    """ok: it answers; error: it does not."""
    message: str
    """What it answered, or what kind of failure it was."""
    milliseconds: float
    """How long the answer took."""


class Deep(Struct, frozen=True, kw_only=True):
    """What every dependency answered."""

    status: Literal["healthy", "degraded", "unhealthy"]
    """unhealthy: requests cannot be served; degraded: something is missing."""
    version: str
    checks: dict[str, DeepCheck]
    maintenance: MaintenanceStatus
    timestamp: datetime
    """When the look was made, in UTC; it is good for a few seconds, whoever asks."""


class ResilienceView(Resilience, frozen=True, kw_only=True):
    """All breakers at a look."""

    maintenance: MaintenanceStatus


class DegradationView(Degradation, frozen=True, kw_only=True):
    """How much of the service there is."""

    maintenance: MaintenanceStatus


class ChangesQuery(Struct, frozen=True, kw_only=True):
    """How many changes."""

    limit: HistoryLimit = 50
