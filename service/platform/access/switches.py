"""Maintenance and feature flags: each process has a copy, a second old at most.

The gate's script tells with every verdict which version Redis has, so a request that passes it sees a change at once.
Each process also looks at PostgreSQL every second, so Redis may lose, or be made to say, what it likes. While
PostgreSQL is away the copies hold; Redis has one, signed, for a process that had not looked in time.
"""

from __future__ import annotations

import asyncio
import hmac
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis

from service.platform.base.caller import Role
from service.platform.base.flags import FLAGS
from service.platform.base.problem import Problem, SwitchedOff, UnderMaintenance
from service.platform.base.secrets import Vault
from service.platform.config import Settings
from service.platform.data.database import Database
from service.platform.data.redis_breaker import RedisBreaker

LOOK_SECONDS = 1.0
"""How old a process's copy is at most while PostgreSQL answers."""
RETRY_SECONDS = 60
"""The wait in a refusal without a known end."""
MOST_RETRY_SECONDS = 3600
NAME = "cushion:switches"
"""The copy in Redis: its version, which gate.lua reads, and the signed record."""
SIGNATURE_BYTES: Final = 32
_NEWER: Final = "SELECT version, maintenance, flags FROM switches WHERE version <> %s"
"""Nothing where they are of the version that is known."""

log = structlog.get_logger()


class Maintenance(Struct, frozen=True):
    """The deployment is under maintenance."""

    message: str
    """What every caller reads."""
    since: datetime
    expected_end: datetime | None = None
    """The planned end; it does not end by itself."""

    def refusal(self, now: datetime) -> Problem:
        """The refusal that callers read."""
        seconds = RETRY_SECONDS
        if self.expected_end is not None:
            seconds = min(max(int((self.expected_end - now).total_seconds()), seconds), MOST_RETRY_SECONDS)
        return UnderMaintenance.with_message(self.message, retry_after_seconds=seconds)


class FlagState(Struct, frozen=True, omit_defaults=True):
    """The setting of a flag."""

    enabled: bool | None = None
    """None: its default."""
    tenants: dict[str, bool] = {}
    """For single tenants, by their identifiers."""


class State(Struct, frozen=True):
    """All switches at one moment."""

    version: int = 0
    maintenance: Maintenance | None = None
    flags: dict[str, FlagState] = {}

    def is_on(self, flag: str, tenant_id: UUID | None = None) -> bool:
        """Return whether a feature is on, for a tenant where one is known."""
        row, state = FLAGS[flag], self.flags.get(flag)
        if state is None:
            return row.default
        own = state.tenants.get(str(tenant_id)) if state.tenants and tenant_id else None
        if own is not None:
            return own
        return row.default if state.enabled is None else state.enabled


_decode = msgspec.json.Decoder(State).decode
_encode = msgspec.json.Encoder().encode


def may_operate(settings: Settings, role: Role, slug: str) -> bool:
    """Return whether this role in the tenant of this slug may operate the deployment."""
    return role in ("owner", "admin") and (settings.is_ones_own or slug in settings.operator_tenants)


class Switches:
    """The copy of one process."""

    def __init__(self, redis: Redis, database: Database, vault: Vault, breaker: RedisBreaker) -> None:
        self._redis = redis
        self._database = database
        self._vault = vault
        self._breaker = breaker
        self._state = State()
        self._version_text = b"0"
        self._unread = b"0"
        """A version that could be had from nowhere: not tried again before PostgreSQL answers."""
        self._loading = asyncio.Lock()
        breaker.first(self._publish)

    @property
    def state(self) -> State:
        """The switches, as far as this process knows."""
        return self._state

    @property
    def version_text(self) -> bytes:
        """The version of the switches, as Redis writes it."""
        return self._version_text

    @property
    def maintenance(self) -> Maintenance | None:
        """The maintenance that is under way, or None."""
        return self._state.maintenance

    def check(self, flag: str, tenant_id: UUID | None) -> None:
        """Refuse a call whose feature is off.

        Raises:
            SwitchedOff: it is not.
        """
        if not self._state.is_on(flag, tenant_id):
            raise SwitchedOff.with_message(FLAGS[flag].refusal, retry_after_seconds=RETRY_SECONDS)

    # The copy ---------------------------------------------------------------------------------------------------------

    async def sync_version(self, version: bytes) -> None:
        """Read the switches again where Redis has another version than this process."""
        if version in (self._version_text, self._unread):
            return
        async with self._loading:
            if version in (self._version_text, self._unread):
                return
            if version and (newer := await self._in_redis()) is not None and newer.version > self._state.version:
                self._take(newer)
                return
            try:
                await self._load()
            except Problem:
                self._unread = version  # the copy holds
            else:
                await self._publish()  # Redis lost it, or has another one than PostgreSQL

    async def look(self) -> None:
        """Read the switches from PostgreSQL, and copy a new version into Redis.

        Raises:
            Unavailable: it does not answer.
        """
        async with self._loading:
            before = self._version_text
            await self._load()
        if self._version_text != before:
            await self._breaker.choose(self._publish, _do_nothing)

    async def watch(self) -> None:
        """Look every second, for as long as the process lives."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except Problem:
                pass  # the copy holds
            except Exception as error:
                log.error("switches.look_failed", exc_info=error)

    async def _load(self) -> None:
        newer = await self._database.look(State, _NEWER, [self._state.version])
        self._unread = self._version_text
        for state in newer:
            self._take(state)

    def _take(self, state: State) -> None:
        if self._state.version and state.version != self._state.version:
            log.info("switches.changed", version=state.version, maintenance=state.maintenance is not None)
        self._state, self._version_text = state, b"%d" % state.version

    async def _in_redis(self) -> State | None:
        raw = await self._redis.hget(NAME, "record")  # type: ignore[misc]
        signature, record = (raw or b"")[:SIGNATURE_BYTES], (raw or b"")[SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._vault.sign("switches", record)):
            log.error("copy.refused", name=NAME)
            return None
        return _decode(record)

    async def _publish(self) -> None:
        if not self._state.version:
            return
        record = _encode(self._state)
        copy: dict[Any, Any] = {
            "version": self._version_text,
            "record": self._vault.sign("switches", record) + record,
        }
        await self._redis.hset(NAME, mapping=copy)  # type: ignore[misc]


async def _do_nothing() -> None:
    """Do nothing: Redis gets the version when it is back."""
