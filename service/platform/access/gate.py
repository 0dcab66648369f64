"""The gate: revocation, tenant, key and limits of a request in one round trip.

Redis holds copies only. What is missing there (after a flush, or for a tenant not seen for a while) is loaded from
PostgreSQL and the question asked again; nothing passes before the copy is whole. While Redis is away each process
decides for itself (`fallback`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from importlib import resources
from typing import Any, Literal, NamedTuple, TypeVar
from uuid import UUID

from msgspec import Struct
from redis.exceptions import NoScriptError

from service.platform.access.caller_cache import MOST_LOADS, CallerCache
from service.platform.access.caller_status import (
    CALLS,
    NO_METER,
    GateVerdict,
    Meter,
    TenantRecord,
    TenantUsage,
    Window,
    figures_of,
)
from service.platform.access.fallback import Fallback, UnsentCounts
from service.platform.access.revocations import Revocations
from service.platform.access.switches import Switches
from service.platform.base.problem import Unavailable
from service.platform.clock import Clock
from service.platform.config import ByTier, Settings
from service.platform.data.pipeline import Pipeline
from service.platform.data.redis_breaker import RedisBreaker

T = TypeVar("T")

MOST_PASSED = 4_096
"""Sessions whose last request passed, as a process remembers them; past that it begins anew."""


class AttachedCommand(Struct):
    """A command that Redis runs where a request passes as it was expected."""

    tenant_copy: bytes
    """The signed record of the caller's tenant."""
    switches_version: bytes
    parts: tuple[Any, ...]
    was_run: bool | None = False
    """None: not known, since Redis gave no answer."""


class _Question(NamedTuple):
    """A question for gate.lua, which numbers the windows by Redis's clock."""

    mode: Literal["user", "key", "system", "none"]
    month: str
    tenant: str = ""
    user: str = ""
    session: str = ""
    generation: int = 0
    key_hash: bytes = b""
    windows: Sequence[Window] = ()
    meter: Meter = NO_METER
    counted: bool = True
    """False: no limit concerns it."""
    attached: AttachedCommand | None = None
    tenant_id: UUID | None = None
    """Of a user: `tenant`."""


class Gate:
    """Asks Redis whether a request may pass."""

    def __init__(
        self,
        pipeline: Pipeline,
        settings: Settings,
        clock: Clock,
        *,
        breaker: RedisBreaker,
        caller_cache: CallerCache,
        revocations: Revocations,
        fallback: Fallback,
        switches: Switches,
    ) -> None:
        self._pipeline = pipeline
        self._settings = settings
        self._clock = clock
        self._breaker = breaker
        self._caller_cache = caller_cache
        self._revocations = revocations
        self._fallback = fallback
        self._switches = switches
        self._enforce = "1" if settings.rate_limits == "on" else "0"
        self._script = resources.files("service.platform.access").joinpath("gate.lua").read_text(encoding="utf-8")
        self._digest = b""
        self._passed: dict[str, bytes] = {}
        """By session: its tenant's signed record, where its last request passed."""
        breaker.on_recovery(self._send_counts)

    # Verdicts ---------------------------------------------------------------------------------------------------------

    async def user(
        self,
        tenant_id: UUID,
        user_id: UUID,
        session_id: UUID,
        generation: int,
        windows: Sequence[Window] = (),
        meter: Meter = NO_METER,
        *,
        counted: bool = True,
        attached: AttachedCommand | None = None,
    ) -> GateVerdict:
        """Judge a request with a user's token; not `counted`: no limit concerns it."""
        month, ids = self._month(), (tenant_id, user_id, session_id)
        tenant, user, session = map(str, ids)
        question = _Question(
            "user", month, tenant, user, session, generation, b"", windows, meter, counted, attached, tenant_id
        )
        return await self._breaker.choose(
            partial(self._ask, question),
            partial(self._fallback.user, *ids, generation, windows, meter, month, counted=counted),
        )

    async def key(
        self, key_hash: bytes, windows: Sequence[Window] = (), meter: Meter = NO_METER, *, counted: bool = True
    ) -> GateVerdict:
        """Judge a request with an API key; of an unknown one the verdict has no `key`.

        The key of a verdict may be dead: that is for the caller to refuse, and nothing was counted.
        """
        month = self._month()
        question = _Question("key", month, key_hash=key_hash, windows=windows, meter=meter, counted=counted)
        return await self._breaker.choose(
            partial(self._ask, question),
            partial(self._fallback.key, key_hash, windows, meter, month, counted=counted),
        )

    async def system(self, windows: Sequence[Window] = (), *, counted: bool = True) -> GateVerdict:
        """Judge a request with the deployment's own key, at the enterprise tier's limits."""
        per_minute, burst, per_day = figures_of(self._settings, "enterprise")
        # gate.lua takes its figures in the places of a user, a session and a generation.
        question = _Question(
            "system", self._month(), "", str(per_minute), str(burst), per_day, windows=windows, counted=counted
        )
        return await self._breaker.choose(
            partial(self._ask, question), partial(_at_once, self._fallback.system, windows, counted=counted)
        )

    async def use(self, tenant_id: UUID, tier: str, meter: Meter) -> GateVerdict:
        """Judge a use of the month whose amount only the request's body has."""
        figure, month = meter.most.of(tier), self._month()
        flat = meter._replace(most=ByTier(figure, figure, figure, figure))
        return await self._breaker.choose(
            partial(self._ask, _Question("none", month, str(tenant_id), meter=flat)),
            partial(self._fallback.use, tenant_id, figure, meter, month),
        )

    async def windows(self, windows: Sequence[Window]) -> GateVerdict:
        """Judge a call that has no caller yet, or count in a quota of its own."""
        return await self._breaker.choose(
            partial(self._ask, _Question("none", self._month(), windows=windows)),
            partial(_at_once, self._fallback.windows, windows),
        )

    async def refund(self, window: Window, moment: str) -> None:
        """Take the call of a verdict's moment out of a window again."""
        await self._breaker.choose(
            partial(self._pipeline, "LREM", f"cushion:window:{window.name}", -1, moment),
            partial(_at_once, self._fallback.refund, window, moment),
        )

    async def _ask(self, question: _Question) -> GateVerdict:
        mode, month, *subject, key_hash, windows, meter, counted, attached, _ = question
        arguments: list[Any] = [mode, self._enforce if counted else "-", *subject, key_hash.hex(), month]
        arguments += (meter.name, meter.amount, meter.scope, *meter.most)
        arguments += _parts_of(attached)
        for window in windows:
            arguments += window
        for loads in range(MOST_LOADS):
            answer = await self._run(arguments, attached)
            outcome = answer[0]
            if outcome == b"revoked":
                self._passed.pop(question.session, None)
                return GateVerdict("revoked")
            if outcome.startswith(b"load_"):
                await self._load(outcome, answer, question)
                continue
            verdict = await self._verdict_of(answer, question)
            if verdict is None:
                continue
            if loads:
                self._caller_cache.misses += 1
            else:
                self._caller_cache.hits += 1
            await self._switches.sync_version(answer[8])
            if question.mode == "user":
                self._remember(question, verdict, answer[5])
            return verdict
        raise Unavailable

    async def _load(self, outcome: bytes, answer: list[Any], question: _Question) -> None:
        """Copy into Redis what it lacks."""
        match outcome:
            case b"load_revocations":
                await self._revocations.load()
            case b"load_tenant":
                await self._caller_cache.load_tenant(UUID(answer[1].decode()))
            case b"load_key":
                await self._caller_cache.load_key(question.key_hash)
            case b"load_user":
                await self._caller_cache.load_two_factor(UUID(question.user))
            case b"load_usage":
                await self._caller_cache.load_usage(UUID(answer[1].decode()), question.month)

    async def _verdict_of(self, answer: list[Any], question: _Question) -> GateVerdict | None:
        """Read gate.lua's answer; None where a record had to be loaded again."""
        outcome, limit, remaining, reset, retry_after, tenant_copy, key_copy, must_enroll, _, *more = answer
        record = key = None
        if key_copy:
            key = self._caller_cache.open_key(question.key_hash, key_copy)
            if key is None:
                await self._caller_cache.load_key(question.key_hash)
                return None
        if tenant_copy:
            tenant_id = key.tenant_id if key else question.tenant_id
            assert tenant_id is not None
            record = self._caller_cache.open_tenant(tenant_id, tenant_copy)
            if record is None:
                await self._caller_cache.load_tenant(tenant_id)
                return None
        return GateVerdict(
            "ok" if outcome == b"recorded" else outcome.decode(),
            limit,
            remaining,
            reset,
            retry_after,
            record,
            key,
            must_enroll == 1,
            more[0].decode() if more else "",
            Window(more[1].decode(), more[2], more[3]) if len(more) > 1 else None,
        )

    async def _run(self, arguments: list[Any], attached: AttachedCommand | None) -> list[Any]:
        if not self._digest:
            self._digest = await self._pipeline("SCRIPT", "LOAD", self._script)
        if attached is not None:
            attached.was_run = None
        try:
            answer: list[Any] = await self._pipeline("EVALSHA", self._digest, 0, *arguments)
        except NoScriptError:  # a flush or a restart dropped it
            self._digest = b""
            return await self._run(arguments, attached)
        if attached is not None:
            attached.was_run = answer[0] == b"recorded"
        return answer

    # Who is expected to pass ------------------------------------------------------------------------------------------

    def _remember(self, question: _Question, verdict: GateVerdict, tenant_copy: bytes) -> None:
        if verdict.outcome != "ok":
            self._passed.pop(question.session, None)
            return
        if question.meter is NO_METER or not question.counted:
            return  # says nothing of what the caller has left
        if len(self._passed) >= MOST_PASSED:
            self._passed.clear()
        self._passed[question.session] = tenant_copy

    def expected_tenant(self, tenant_id: UUID, session_id: UUID) -> tuple[bytes, TenantRecord] | None:
        """Return a tenant's record as it was when this session last passed.

        None where it did not pass, or the record is no longer good.
        """
        tenant_copy = self._passed.get(str(session_id))
        record = self._caller_cache.open_tenant(tenant_id, tenant_copy) if tenant_copy else None
        return (tenant_copy, record) if tenant_copy and record else None

    def attach(self, tenant_copy: bytes, parts: tuple[Any, ...]) -> AttachedCommand:
        """Attach a command, for a caller of this tenant under the present switches."""
        return AttachedCommand(tenant_copy, self._switches.version_text, parts)

    # What is known ----------------------------------------------------------------------------------------------------

    async def tenant(self, tenant_id: UUID) -> TenantRecord | None:
        """Return a tenant's record without a verdict; None where there is no such tenant."""
        record = await self._breaker.choose(
            partial(self._caller_cache.tenant, tenant_id), partial(self._fallback.tenant, tenant_id)
        )
        return record if record.slug else None

    async def usage(self, tenant_id: UUID) -> TenantUsage:
        """Return what a tenant used in this calendar month (UTC)."""
        month = self._month()
        amounts = await self._breaker.choose(
            partial(self._caller_cache.totals, tenant_id, month), partial(self._fallback.amounts, tenant_id, month)
        )
        return TenantUsage(amounts.get(CALLS, 0), amounts.get("calculations", 0))

    async def last_seen(self, session_id: UUID) -> float | None:
        """Return when a session last passed (epoch seconds), where it can time out.

        Redis alone remembers it, and this process while Redis is away: None means unknown.
        """
        here = self._fallback.last_seen(session_id)
        there = await self._breaker.choose(partial(self._seen_copy, session_id), partial(_at_once, lambda: None))
        return max((moment for moment in (here, there) if moment is not None), default=None)

    async def _seen_copy(self, session_id: UUID) -> float | None:
        moment = await self._pipeline("GET", f"cushion:seen:{session_id}")
        return float(moment) if moment else None

    def seconds_left_of_month(self) -> int:
        """Return after how many seconds every meter begins anew."""
        now = self._clock.now()
        first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return math.ceil(((first + timedelta(days=32)).replace(day=1) - now).total_seconds())

    def _month(self) -> str:
        now = self._clock.now()
        return f"{now.year}-{now.month:02d}"

    # Redis back -------------------------------------------------------------------------------------------------------

    async def _send_counts(self) -> bool:
        """Add to Redis's totals what was counted here."""
        counts = self._fallback.take_unsent()
        if not any(counts):
            return False
        await self._add(counts)
        return True

    async def _add(self, counts: UnsentCounts) -> None:
        try:
            for (tenant_id, month), amounts in list(counts.tenants.items()):
                await self._caller_cache.add_usage(tenant_id, month, amounts)
                del counts.tenants[tenant_id, month]
            for key_hash, use in list(counts.keys.items()):
                await self._caller_cache.add_key_usage(key_hash, use.times, use.at)
                del counts.keys[key_hash]
        finally:
            self._fallback.give_back(counts)


def _parts_of(attached: AttachedCommand | None) -> tuple[Any, ...]:
    if attached is None:
        return "", "", 0
    return attached.tenant_copy, attached.switches_version, len(attached.parts), *attached.parts


async def _at_once(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    return function(*arguments, **named)
