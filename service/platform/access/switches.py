"""Maintenance and feature flags: PostgreSQL has the truth, each process a copy that is a second old at most.

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
"""What a refused caller is told to wait where nobody knows better."""
MOST_RETRY_SECONDS = 3600
NAME = "cushion:switches"
"""The copy in Redis: its version, which gate.lua reads, and the signed record."""
SIGNATURE_BYTES: Final = 32
_NEWER: Final = "SELECT version, maintenance, flags FROM switches WHERE version <> %s"
"""Nothing where they are of the version that is known."""

log = structlog.get_logger()


class Maintenance(Struct, frozen=True):
    """That the deployment is under maintenance."""

    message: str
    """What every caller reads."""
    since: datetime
    expected_end: datetime | None = None
    """When whoever began it thinks that it ends; it does not end by itself."""

    def refusal(self, now: datetime) -> Problem:
        """What a caller is told."""
        seconds = RETRY_SECONDS
        if self.expected_end is not None:
            seconds = min(max(int((self.expected_end - now).total_seconds()), seconds), MOST_RETRY_SECONDS)
        return UnderMaintenance.saying(self.message, retry_after_seconds=seconds)


class FlagState(Struct, frozen=True, omit_defaults=True):
    """What was set of a flag."""

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
        """Whether a feature is on, for a tenant where one is known."""
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
    """Whether who has this role in the tenant of this slug may use what acts on the whole deployment."""
    return role in ("owner", "admin") and (settings.is_ones_own or slug in settings.operator_tenants)


class Switches:
    """One process's copy."""

    def __init__(self, redis: Redis, database: Database, vault: Vault, breaker: RedisBreaker) -> None:
        self._redis = redis
        self._database = database
        self._vault = vault
        self._breaker = breaker
        self._state = State()
        self._told = b"0"
        self._unread = b"0"
        """A version that could be had from nowhere: not tried again before PostgreSQL answers."""
        self._loading = asyncio.Lock()
        breaker.first(self._publish)

    @property
    def state(self) -> State:
        """What is switched, as far as this process knows."""
        return self._state

    @property
    def maintenance(self) -> Maintenance | None:
        """That the deployment is under maintenance, or None."""
        return self._state.maintenance

    def check(self, flag: str, tenant_id: UUID | None) -> None:
        """See that a feature is on.

        Raises:
            SwitchedOff: it is not.
        """
        if not self._state.is_on(flag, tenant_id):
            raise SwitchedOff.saying(FLAGS[flag].refusal, retry_after_seconds=RETRY_SECONDS)

    # The copy ---------------------------------------------------------------------------------------------------------

    async def heed(self, told: bytes) -> None:
        """Redis has this version; nothing to do where it is the process's own."""
        if told in (self._told, self._unread):
            return
        async with self._loading:
            if told in (self._told, self._unread):
                return
            if told and (newer := await self._in_redis()) is not None and newer.version > self._state.version:
                self._take(newer)
                return
            try:
                await self._load()
            except Problem:
                self._unread = told  # the copy holds
            else:
                await self._publish()  # Redis lost it, or has another one than PostgreSQL

    async def look(self) -> None:
        """Take what PostgreSQL has, and tell Redis where it is new.

        Raises:
            Unavailable: it does not answer.
        """
        async with self._loading:
            before = self._told
            await self._load()
        if self._told != before:
            await self._breaker.either(self._publish, _nothing)

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
        self._unread = self._told
        for state in newer:
            self._take(state)

    def _take(self, state: State) -> None:
        if self._state.version and state.version != self._state.version:
            log.info("switches.changed", version=state.version, maintenance=state.maintenance is not None)
        self._state, self._told = state, b"%d" % state.version

    async def _in_redis(self) -> State | None:
        raw = await self._redis.hget(NAME, "record")  # type: ignore[misc]
        signature, told = (raw or b"")[:SIGNATURE_BYTES], (raw or b"")[SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._vault.sign("switches", told)):
            log.error("copy.refused", name=NAME)
            return None
        return _decode(told)

    async def _publish(self) -> None:
        if not self._state.version:
            return
        told = _encode(self._state)
        copy: dict[Any, Any] = {"version": self._told, "record": self._vault.sign("switches", told) + told}
        await self._redis.hset(NAME, mapping=copy)  # type: ignore[misc]


async def _nothing() -> None:
    """Redis is told when it is back."""
