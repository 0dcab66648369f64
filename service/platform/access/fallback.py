"""The gate while Redis is away: each process counts alone and asks PostgreSQL."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeVar
from uuid import UUID

from service.platform.access.caller_status import (
    CALLS,
    NO_METER,
    GateVerdict,
    KeyStatus,
    Meter,
    RequestLimits,
    TenantRecord,
    UserStatus,
    Window,
    figures_of,
    read_amounts,
    read_key_status,
    read_tenant,
    read_user_status,
    unknown_tenant,
)
from service.platform.clock import Clock
from service.platform.config import Settings
from service.platform.data.database import Database

MOST_REMEMBERED = 100_000
"""Windows, and buckets, of a process; past that the longest untouched begins anew."""

SYSTEM = "system"
"""The name of the token bucket of the deployment's own key."""

K = TypeVar("K")
V = TypeVar("V")


class KeyUse(NamedTuple):
    """How often a key was used, and when last (epoch seconds)."""

    times: int
    at: float


class UnsentCounts(NamedTuple):
    """Counts of this process that are not in Redis yet."""

    tenants: dict[tuple[UUID, str], dict[str, int]]
    """Amounts by name, of a tenant and month."""
    keys: dict[bytes, KeyUse]
    """By the key's hash."""


class Fallback:
    """Judges requests as gate.lua does, by this process's own counts.

    Who calls is read from PostgreSQL at every request, and not kept.
    """

    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._used: OrderedDict[str, tuple[int, int]] = OrderedDict()
        """Of minutes and days: which one, and its calls."""
        self._calls: OrderedDict[str, list[float]] = OrderedDict()
        """Of limits of their own: the moments of their calls (epoch seconds), the oldest first."""
        self._tokens: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._seen: OrderedDict[UUID, float] = OrderedDict()
        self._amounts: OrderedDict[tuple[UUID, str], dict[str, int]] = OrderedDict()
        self._unsent = UnsentCounts({}, {})

    # The callers ------------------------------------------------------------------------------------------------------

    async def user(
        self,
        tenant_id: UUID,
        user_id: UUID,
        session_id: UUID,
        generation: int,
        windows: Sequence[Window],
        meter: Meter,
        month: str,
        *,
        counted: bool = True,
    ) -> GateVerdict:
        """Judge a request with a user's token; not `counted`: no limit concerns it."""
        async with self._database.transaction() as tx:
            status = await read_user_status(tx, tenant_id, user_id, session_id, month)
        if status is None:
            return GateVerdict("ok", tenant=unknown_tenant(tenant_id))
        if status.session_revoked or generation < status.generation:
            return GateVerdict("revoked")
        subjects = {f"tenant:{tenant_id}": "requests"}
        verdict = self._tenants(subjects, status, status.record(), windows, meter, month, counted=counted)
        if verdict.outcome == "ok" and verdict.tenant and verdict.tenant.session_timeout_minutes:
            _remember(self._seen, session_id, self._now())
        required = verdict.tenant is not None and verdict.tenant.two_factor_required
        return verdict._replace(must_enroll=required and not status.two_factor_enabled)

    async def key(
        self, key_hash: bytes, windows: Sequence[Window], meter: Meter, month: str, *, counted: bool = True
    ) -> GateVerdict:
        """Judge a request with an API key; not `counted`: it has been counted already."""
        async with self._database.transaction() as tx:
            status = await read_key_status(tx, key_hash, month)
        if status is None:
            return GateVerdict("ok")
        key, tenant = status.key.record(), status.tenant.record()
        if not key.lives_at(self._now()):
            return GateVerdict("ok", key=key)
        meter = meter if meter.scope in key.scopes else NO_METER
        subjects = {f"key:{key.id}": "requests", f"tenant:{tenant.id}": "tenant"}
        verdict = self._tenants(subjects, status, tenant, windows, meter, month, counted=counted)
        if verdict.outcome == "ok" and tenant.status == "active" and counted:
            before = self._unsent.keys.get(key_hash, KeyUse(0, 0.0))
            self._unsent.keys[key_hash] = KeyUse(before.times + 1, self._now())
        return verdict._replace(key=key)

    def system(self, windows: Sequence[Window], *, counted: bool = True) -> GateVerdict:
        """Judge a request with the deployment's own key."""
        figures = figures_of(self._settings, "enterprise")
        if not counted:
            return self._least_left([SYSTEM], figures)
        return self._admit({SYSTEM: "requests"}, figures, windows)

    def windows(self, windows: Sequence[Window]) -> GateVerdict:
        """Judge by the windows alone."""
        return self._admit({}, None, windows)

    def refund(self, window: Window, moment: str) -> None:
        """Take the call of this moment out of a window again."""
        calls = self._calls_of(window)
        if float(moment) in calls:
            calls.remove(float(moment))

    async def use(self, tenant_id: UUID, figure: int, meter: Meter, month: str) -> GateVerdict:
        """Judge a use of the month."""
        used = (await self.amounts(tenant_id, month)).get(meter.name, 0)
        if 0 <= figure < used + meter.amount:
            return GateVerdict("used_up")
        self._count(tenant_id, month, meter.name, meter.amount)
        return GateVerdict("ok")

    # What is known ----------------------------------------------------------------------------------------------------

    async def tenant(self, tenant_id: UUID) -> TenantRecord:
        """Read a tenant's record."""
        async with self._database.transaction() as tx:
            return await read_tenant(tx, tenant_id)

    async def amounts(self, tenant_id: UUID, month: str) -> dict[str, int]:
        """Return a tenant's use of a month: PostgreSQL's totals and own counts.

        PostgreSQL is not asked again where it was for this very request, which may hold a connection by now.
        """
        amounts = self._amounts.get((tenant_id, month))
        if amounts is None:
            async with self._database.transaction(tenant_id) as tx:
                amounts = await read_amounts(tx, month)
        return self._with_owed(tenant_id, month, amounts)

    def last_seen(self, session_id: UUID) -> float | None:
        """Return when a session was last used while Redis was away (epoch seconds)."""
        return self._seen.get(session_id)

    def take_unsent(self) -> UnsentCounts:
        """Hand over what was counted here, for Redis to add."""
        counts, self._unsent = self._unsent, UnsentCounts({}, {})
        self._amounts.clear()  # PostgreSQL's totals will soon include what was counted here
        return counts

    def give_back(self, counts: UnsentCounts) -> None:
        """Count again what Redis did not take."""
        for (tenant_id, month), amounts in counts.tenants.items():
            for name, amount in amounts.items():
                self._count(tenant_id, month, name, amount)
        for key_hash, use in counts.keys.items():
            now = self._unsent.keys.get(key_hash, KeyUse(0, 0.0))
            self._unsent.keys[key_hash] = KeyUse(now.times + use.times, max(now.at, use.at))

    # The counts: nothing here awaits, so a request is looked at and counted in one step -------------------------------

    def _tenants(
        self,
        subjects: Mapping[str, str],
        status: UserStatus | KeyStatus,
        tenant: TenantRecord,
        windows: Sequence[Window],
        meter: Meter,
        month: str,
        *,
        counted: bool = True,
    ) -> GateVerdict:
        figures = figures_of(self._settings, tenant.tier)
        if tenant.status != "active" or not counted:
            return self._least_left(subjects, figures)._replace(tenant=tenant)
        _remember(self._amounts, (tenant.id, month), status.amounts)
        used = self._with_owed(tenant.id, month, status.amounts).get(meter.name, 0)
        most = meter.most.of(tenant.tier)
        verdict = self._admit(subjects, figures, windows, used_up=0 <= most < used + meter.amount)
        if verdict.outcome == "ok":
            self._count(tenant.id, month, CALLS, 1)
            if meter.name:
                self._count(tenant.id, month, meter.name, meter.amount)
        return verdict._replace(tenant=tenant)

    def _admit(
        self,
        subjects: Mapping[str, str],
        figures: RequestLimits | None,
        windows: Sequence[Window],
        *,
        used_up: bool = False,
    ) -> GateVerdict:
        """Count a request in its buckets and windows, if all of them permit it.

        `subjects`: whose buckets, minutes and days it counts in, and what their limits are called after.
        """
        bounds: list[Window] = []
        spans = [window for window in windows if window.most >= 0]
        waits: list[tuple[int, Window]] = []
        tokens: dict[str, float] = {}
        now = self._now()
        for subject, name in subjects.items() if figures is not None else ():
            assert figures is not None
            own = [Window(f"minute:{subject}", figures.per_minute, 60)]
            if figures.per_day >= 0:
                own.append(Window(f"day:{subject}", figures.per_day, 86_400))
            tokens[subject] = self._fill(subject, figures)
            if tokens[subject] < 1:
                seconds = math.ceil((1 - tokens[subject]) * 60 / figures.per_minute)
                waits.append((seconds, Window(name, figures.burst, 0)))
            waits += (
                (math.ceil(_end_of(window, now) - now), window._replace(name=name))
                for window in own
                if self._used_of(window) >= window.most
            )
            bounds += own
        for window in spans:
            calls = self._calls_of(window)
            if len(calls) >= window.most:
                leaving = calls[-window.most] if window.most else now
                waits.append((max(math.ceil(leaving + window.seconds - now), 1), window))
        retry_after, passed = max(waits, key=itemgetter(0), default=(0, None))
        outcome = "ok"
        if retry_after > 0 and self._settings.rate_limits == "on":
            outcome = "limited"
        elif used_up:
            outcome = "used_up"
        else:
            self._take(tokens, bounds, spans, now)
        if figures is not None:
            verdict = self._least_left(subjects, figures)
        else:
            verdict = self._report_of(spans[-1]) if spans else GateVerdict("ok")
        if outcome != "limited":
            retry_after, passed = 0, None
        moment = repr(now) if spans else ""
        return verdict._replace(outcome=outcome, retry_after_seconds=retry_after, moment=moment, passed=passed)

    def _take(self, tokens: Mapping[str, float], bounds: Iterable[Window], spans: Iterable[Window], now: float) -> None:
        for subject, left in tokens.items():
            _remember(self._tokens, subject, (max(0.0, left - 1), now))
        for window in bounds:
            _remember(self._used, window.name, (int(now // window.seconds), self._used_of(window) + 1))
        for window in spans:
            calls = [*self._calls_of(window), now]
            _remember(self._calls, window.name, calls[-window.most :] if window.most else [])

    def _least_left(self, subjects: Iterable[str], figures: RequestLimits) -> GateVerdict:
        """Return the figures of the subject's minute with less left."""
        verdicts = [self._report(Window(f"minute:{subject}", figures.per_minute, 60)) for subject in subjects]
        return min(verdicts, key=attrgetter("remaining"))

    def _report(self, window: Window) -> GateVerdict:
        left = max(0, window.most - self._used_of(window))
        return GateVerdict("ok", window.most, left, int(_end_of(window, self._now())))

    def _report_of(self, window: Window) -> GateVerdict:
        calls = self._calls_of(window)
        ends = math.ceil((calls[0] if calls else self._now()) + window.seconds)
        return GateVerdict("ok", window.most, max(0, window.most - len(calls)), ends)

    def _fill(self, subject: str, figures: RequestLimits) -> float:
        tokens, at = self._tokens.get(subject, (float(figures.burst), self._now()))
        return min(float(figures.burst), tokens + max(0.0, self._now() - at) * figures.per_minute / 60)

    def _used_of(self, window: Window) -> int:
        index, used = self._used.get(window.name, (-1, 0))
        return used if index == int(self._now() // window.seconds) else 0

    def _calls_of(self, window: Window) -> list[float]:
        """Return the calls that count at this moment."""
        calls = self._calls.get(window.name, [])
        del calls[: bisect_right(calls, self._now() - window.seconds)]
        return calls

    def _count(self, tenant_id: UUID, month: str, name: str, amount: int) -> None:
        amounts = self._unsent.tenants.setdefault((tenant_id, month), {})
        amounts[name] = amounts.get(name, 0) + amount

    def _with_owed(self, tenant_id: UUID, month: str, amounts: dict[str, int]) -> dict[str, int]:
        counts = self._unsent.tenants.get((tenant_id, month), {})
        return {name: amounts.get(name, 0) + counts.get(name, 0) for name in amounts.keys() | counts.keys()}

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _end_of(window: Window, now: float) -> float:
    return (now // window.seconds + 1) * window.seconds


def _remember(kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > MOST_REMEMBERED:
        kept.popitem(last=False)
