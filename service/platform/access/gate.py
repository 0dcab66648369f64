"""The gate: revocation, tenant, API key and every limit of a request, decided in one Redis round trip.

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
from typing import Any, TypeVar
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import NoScriptError

from service.platform.access.caller_cache import MOST_LOADS, CallerCache
from service.platform.access.caller_status import (
    CALLS,
    NO_METER,
    Meter,
    TenantRecord,
    TenantUsage,
    Verdict,
    Window,
    figures_of,
)
from service.platform.access.fallback import Fallback, Owed
from service.platform.access.revocations import Revocations
from service.platform.access.switches import Switches
from service.platform.base.problem import Unavailable
from service.platform.clock import Clock
from service.platform.config import ByTier, Settings
from service.platform.data.pipeline import Pipeline
from service.platform.data.redis_breaker import RedisBreaker

# Redis numbers the windows by its own clock, as gate.lua does when it counts.
T = TypeVar("T")


class Gate:
    """Asks Redis whether a request may pass."""

    def __init__(
        self,
        redis: Redis,
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
        self._redis = redis
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
        self._digest = ""
        breaker.owed(self._hand_over)

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
    ) -> Verdict:
        """The verdict on a request with a user's token; not `counted`: no limit concerns it."""
        month = self._month()
        return await self._breaker.either(
            partial(
                self._ask,
                "user",
                str(tenant_id),
                str(user_id),
                str(session_id),
                generation,
                "",
                windows,
                meter,
                month,
                counted=counted,
            ),
            partial(
                self._fallback.user,
                tenant_id,
                user_id,
                session_id,
                generation,
                windows,
                meter,
                month,
                counted=counted,
            ),
        )

    async def key(
        self, key_hash: bytes, windows: Sequence[Window] = (), meter: Meter = NO_METER, *, counted: bool = True
    ) -> Verdict:
        """The verdict on a request with an API key; `key` of the verdict is None for one that does not exist.

        The key of a verdict may be dead: that is for the caller to refuse, and nothing was counted.
        """
        month = self._month()
        return await self._breaker.either(
            partial(self._ask, "key", "", "", "", 0, key_hash.hex(), windows, meter, month, counted=counted),
            partial(self._fallback.key, key_hash, windows, meter, month, counted=counted),
        )

    async def system(self, windows: Sequence[Window] = (), *, counted: bool = True) -> Verdict:
        """The verdict on a request with the deployment's own key, which has the enterprise tier's figures."""
        per_minute, burst, per_day = figures_of(self._settings, "enterprise")
        return await self._breaker.either(
            partial(
                self._ask,
                "system",
                "",
                str(per_minute),
                str(burst),
                per_day,
                "",
                windows,
                NO_METER,
                self._month(),
                counted=counted,
            ),
            partial(_at_once, self._fallback.system, windows, counted=counted),
        )

    async def use(self, tenant_id: UUID, tier: str, meter: Meter) -> Verdict:
        """The verdict on a use that only the request's body tells the amount of."""
        figure, month = meter.most.of(tier), self._month()
        flat = meter._replace(most=ByTier(figure, figure, figure, figure))
        return await self._breaker.either(
            partial(self._ask, "none", str(tenant_id), "", "", 0, "", (), flat, month),
            partial(self._fallback.use, tenant_id, figure, meter, month),
        )

    async def windows(self, windows: Sequence[Window]) -> Verdict:
        """The verdict on a call that has no caller yet, or on a quota of its own within a request."""
        return await self._breaker.either(
            partial(self._ask, "none", "", "", "", 0, "", windows, NO_METER, self._month()),
            partial(_at_once, self._fallback.windows, windows),
        )

    async def forgive(self, window: Window, moment: str) -> None:
        """Take the call of a verdict's moment out of a window again: it is none of those that the window is about."""
        await self._breaker.either(
            partial(self._forgive, window, moment),
            partial(_at_once, self._fallback.forgive, window, moment),
        )

    async def _forgive(self, window: Window, moment: str) -> None:
        remove: Any = self._redis.lrem  # by the library's type hints it answers at once
        await remove(f"cushion:window:{window.name}", -1, moment)

    async def _ask(
        self,
        mode: str,
        tenant: str,
        user: str,
        session: str,
        generation: int,
        key_hash: str,
        windows: Sequence[Window],
        meter: Meter,
        month: str,
        *,
        counted: bool = True,
    ) -> Verdict:
        arguments: list[Any] = [
            mode,
            self._enforce if counted else "-",
            tenant,
            user,
            session,
            generation,
            key_hash,
            month,
        ]
        arguments += (meter.name, meter.amount, meter.scope, *meter.most)
        for window in windows:
            arguments += window
        for loads in range(MOST_LOADS):
            answer = await self._run(arguments)
            match answer[0]:
                case b"load_revocations":
                    await self._revocations.load()
                case b"load_tenant":
                    await self._caller_cache.load_tenant(UUID(answer[1].decode()))
                case b"load_key":
                    await self._caller_cache.load_key(bytes.fromhex(key_hash))
                case b"load_user":
                    await self._caller_cache.load_two_factor(UUID(user))
                case b"load_usage":
                    await self._caller_cache.load_usage(UUID(answer[1].decode()), month)
                case b"revoked":
                    return Verdict("revoked")
                case outcome:
                    record = key = None
                    if answer[6]:
                        key = self._caller_cache.open_key(bytes.fromhex(key_hash), answer[6])
                        if key is None:
                            await self._caller_cache.load_key(bytes.fromhex(key_hash))
                            continue
                    if answer[5]:
                        whose = key.tenant_id if key else UUID(tenant)
                        record = self._caller_cache.open_tenant(whose, answer[5])
                        if record is None:
                            await self._caller_cache.load_tenant(whose)
                            continue
                    if loads:
                        self._caller_cache.misses += 1
                    else:
                        self._caller_cache.hits += 1
                    await self._switches.heed(answer[8])
                    limit, remaining, reset, retry_after = answer[1:5]
                    return Verdict(
                        outcome.decode(),
                        limit,
                        remaining,
                        reset,
                        retry_after,
                        record,
                        key,
                        answer[7] == 1,
                        answer[9].decode() if len(answer) > 9 else "",
                        Window(answer[10].decode(), answer[11], answer[12]) if len(answer) > 10 else None,
                    )
        raise Unavailable

    async def _run(self, arguments: list[Any]) -> list[Any]:
        if not self._digest:
            self._digest = await self._redis.script_load(self._script)
        try:
            return await self._pipeline("EVALSHA", self._digest, 0, *arguments)  # type: ignore[no-any-return]
        except NoScriptError:  # a flush or a restart dropped it
            self._digest = ""
            return await self._run(arguments)

    # What is known ----------------------------------------------------------------------------------------------------

    async def tenant(self, tenant_id: UUID) -> TenantRecord | None:
        """A tenant's record, for who has no verdict that tells it; None where there is no such tenant."""
        record = await self._breaker.either(
            partial(self._caller_cache.tenant, tenant_id), partial(self._fallback.tenant, tenant_id)
        )
        return record if record.slug else None

    async def usage(self, tenant_id: UUID) -> TenantUsage:
        """What a tenant used in this calendar month (UTC)."""
        month = self._month()
        amounts = await self._breaker.either(
            partial(self._caller_cache.totals, tenant_id, month), partial(self._fallback.amounts, tenant_id, month)
        )
        return TenantUsage(amounts.get(CALLS, 0), amounts.get("calculations", 0))

    async def last_seen(self, session_id: UUID) -> float | None:
        """When a session of a tenant with a session timeout last passed (epoch seconds), as far as that is known.

        Redis alone remembers it, and while that is away this process: None tells nothing.
        """
        here = self._fallback.seen(session_id)
        there = await self._breaker.either(partial(self._seen_copy, session_id), partial(_at_once, lambda: None))
        return max((moment for moment in (here, there) if moment is not None), default=None)

    async def _seen_copy(self, session_id: UUID) -> float | None:
        moment = await self._redis.get(f"cushion:seen:{session_id}")
        return float(moment) if moment else None

    def seconds_left_of_month(self) -> int:
        """Until every meter begins anew."""
        now = self._clock.now()
        first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return math.ceil(((first + timedelta(days=32)).replace(day=1) - now).total_seconds())

    def _month(self) -> str:
        now = self._clock.now()
        return f"{now.year}-{now.month:02d}"

    # Redis back -------------------------------------------------------------------------------------------------------

    async def _hand_over(self) -> bool:
        """Add to Redis's totals what was counted here. Where Redis's answer is lost on its way it is added twice."""
        owed = self._fallback.take_owed()
        if not any(owed):
            return False
        await self._add(owed)
        return True

    async def _add(self, owed: Owed) -> None:
        try:
            for (tenant_id, month), amounts in list(owed.tenants.items()):
                await self._caller_cache.add_usage(tenant_id, month, amounts)
                del owed.tenants[tenant_id, month]
            for key_hash, use in list(owed.keys.items()):
                await self._caller_cache.add_key_usage(key_hash, use.times, use.at)
                del owed.keys[key_hash]
        finally:
            self._fallback.give_back(owed)


async def _at_once(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    return function(*arguments, **named)
