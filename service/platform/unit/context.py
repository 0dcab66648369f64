"""A unit of work and a request: transaction, gate, blobs, threads, clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import AsyncExitStack, ExitStack
from datetime import datetime
from pathlib import Path
from random import SystemRandom
from typing import Any, ParamSpec, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis

from service.platform import tracing
from service.platform.access.caller_cache import CallerCache
from service.platform.access.caller_status import Meter, Window, origin_of
from service.platform.access.gate import Gate
from service.platform.access.revocations import Revocations
from service.platform.access.rights import CONFIRM, Part, Rights, question
from service.platform.access.switches import Switches
from service.platform.base.breakers import Breakers
from service.platform.base.caller import NOBODY, Caller
from service.platform.base.compute import Compute
from service.platform.base.memory import Memory
from service.platform.base.problem import ConcurrentModification, Fault, Problem, RateLimited
from service.platform.base.secrets import Tokens, Vault, new_id
from service.platform.clock import Clock, local_time, zone_of
from service.platform.config import Settings
from service.platform.data.audit import APPEND, ChainEntry, encode_entries
from service.platform.data.blobs import Blobs
from service.platform.data.breaker_sharing import Sharing
from service.platform.data.database import Database, Parameters, Transaction
from service.platform.data.fallback_cache import FallbackCache
from service.platform.data.pipeline import Pipeline
from service.platform.data.redis_breaker import RedisBreaker
from service.platform.data.replica import Replica

T = TypeVar("T")
P = ParamSpec("P")

PAUSE_SECONDS = (0.1, 0.6)
"""The least and the longest wait for what was put off: right behind its answer it would slow the caller's next one."""

log = structlog.get_logger()
_chance = SystemRandom()


class Resources(Struct, frozen=True, kw_only=True):
    """What a process opens once, for all units of work."""

    settings: Settings
    database: Database
    replica: Replica | None
    redis: Redis
    pipeline: Pipeline
    events: Pipeline
    """Another, for what goes to the stream: the gate's answers do not wait for it."""
    breaker: RedisBreaker
    """The way to Redis: past it while it is away."""
    breakers: Breakers
    """Those of all services, the cache's among them."""
    sharing: Sharing
    """Shares their states with the other processes."""
    fallback_cache: FallbackCache
    """Answers for the time in which the database is away."""
    enqueued: asyncio.Event
    """Set where a unit of work of this process writes a job."""
    caller_cache: CallerCache
    revocations: Revocations
    gate: Gate
    switches: Switches
    """Maintenance and feature flags."""
    blobs: Blobs
    compute: Compute
    memory: Memory
    """Its caches, whatever area they are of."""
    passwords: Compute
    """Threads of their own, for hashing alone: a login stands behind nobody's kernels."""
    probes: Compute
    """Threads that look at uploads: long work is a child's there."""
    bodies: Compute
    """Threads that read large bodies."""
    tokens: Tokens
    vault: Vault
    clock: Clock
    scratch: Path
    """A local folder for uploads on their way and copies of remote blobs."""
    stopping: asyncio.Event
    """Set once the process has to stop: it serves what comes, and begins nothing new."""
    closing: ExitStack
    """What an area opened for the whole process is closed from here, first of all."""
    opened: dict[Callable[[Resources], Any], Any] = {}
    """What `once` made."""
    faults: dict[str, str] = {}
    """What of this process cannot work for now, such as its calculators, and why: readiness names it."""

    def once(self, make: Callable[[Resources], T]) -> T:
        """Return a function's result for these resources; it runs at the first call only."""
        if make not in self.opened:
            self.opened[make] = make(self)
        value: T = self.opened[make]
        return value


class Subject(Struct, frozen=True):
    """The record that an event is about."""

    type: str
    id: str
    name: str | None = None
    details: dict[str, Any] = {}


class Actor(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who has something done, as the audit log names them."""

    user_id: UUID | None = None
    user_email: str | None = None
    api_key_id: UUID | None = None


class Unit:
    """A unit of work of one tenant: one transaction, begun by its first statement."""

    def __init__(
        self, resources: Resources, tenant_id: UUID | None, *, request_id: str, asked_by: Actor | None = None
    ) -> None:
        self.resources = resources
        self.tenant_id = tenant_id
        self.request_id = request_id
        self._asked_by = asked_by or Actor()
        self._stack = AsyncExitStack()
        self._transaction: Transaction | None = None
        self._reads: Database | None = None
        self.has_begun = False
        """Whether it ever had a transaction."""
        self._entries: list[ChainEntry] = []
        self._after_commit: list[Callable[[], Awaitable[None]]] = []
        self._on_rollback: list[Callable[[], Awaitable[None]]] = []
        self._afterwards: list[Callable[[], Awaitable[None]]] = []

    @property
    def settings(self) -> Settings:
        return self.resources.settings

    @property
    def tenant(self) -> UUID:
        """The tenant of the work."""
        assert self.tenant_id is not None, "no tenant is known yet"
        return self.tenant_id

    @property
    def tenant_key(self) -> Hashable:
        """The key for fair scheduling."""
        return self.tenant_id

    @property
    def user_id(self) -> UUID | None:
        """The user who asked for the work, if any."""
        return self._asked_by.user_id

    async def compute(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a kernel in a thread."""
        return await self.resources.compute(self.tenant_key, function, *args, **kwargs)

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        return self.resources.clock.now()

    async def zone(self) -> ZoneInfo:
        """Return the tenant's time zone, for NOW, TODAY, days and messages."""
        return zone_of(
            await self.fetch_value(
                "SELECT coalesce(settings ->> 'timezone', 'UTC') FROM tenants WHERE id = %s", [self.tenant]
            )
        )

    async def local_time(self, moment: datetime) -> datetime:
        """Convert a moment to the tenant's time zone."""
        return local_time(moment, await self.zone())

    def flag(self, name: str) -> bool:
        """Return whether a feature is switched on, for the tenant where one is known."""
        return self.resources.switches.state.is_on(name, self.tenant_id)

    # The transaction ----------------------------------------------------------------------------------------------

    async def begin(self) -> Transaction:
        """Return the transaction of this unit."""
        if self._transaction is None:
            database = self._reads or self.resources.database
            self._transaction = await self._stack.enter_async_context(database.transaction(self.tenant_id))
            self.has_begun = True
        return self._transaction

    async def read_from(self, replica: Database, read: Callable[[], Awaitable[T]]) -> T:
        """Read from a replica, in a transaction of its own."""
        assert self._transaction is None
        self._reads = replica
        try:
            answer = await read()
            await self.commit()
            return answer
        finally:
            self._reads = None

    async def enter_tenant(self, tenant_id: UUID) -> None:
        """Work for this tenant from here on, for calls that look their tenant up."""
        assert self.tenant_id is None
        await self.commit()
        self.tenant_id = tenant_id

    async def fetch_one(
        self, kind: type[T], sql: str, parameters: Parameters | None = None, *, missing: type[Problem]
    ) -> T:
        """Return the first row as `kind`, or raise the problem `missing`."""
        return await (await self.begin()).fetch_one(kind, sql, parameters, missing=missing)

    async def fetch_one_or_none(self, kind: type[T], sql: str, parameters: Parameters | None = None) -> T | None:
        """Return the first row as `kind`, or None."""
        return await (await self.begin()).fetch_one_or_none(kind, sql, parameters)

    async def fetch_all(self, kind: type[T], sql: str, parameters: Parameters | None = None) -> list[T]:
        """Return all rows as `kind`."""
        return await (await self.begin()).fetch_all(kind, sql, parameters)

    async def fetch_counted(self, kind: type[T], sql: str, parameters: Parameters | None = None) -> list[tuple[T, int]]:
        """Return the rows of a read-only query as `kind`, with their last column.

        Where the unit has no transaction yet, none is begun: the query is a single round trip of its own.
        """
        if self._transaction is not None:
            return await self._transaction.fetch_counted(kind, sql, parameters)
        return await (self._reads or self.resources.database).fetch_counted(self.tenant_id, kind, sql, parameters)

    async def fetch_value(self, sql: str, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row, or None."""
        return await (await self.begin()).fetch_value(sql, parameters)

    async def execute(self, sql: str, parameters: Parameters | None = None) -> int:
        """Run a statement; return the number of rows that it touched."""
        return await (await self.begin()).execute(sql, parameters)

    async def commit(self) -> None:
        """Commit, then run what was to follow the commit."""
        await self._confirm()
        await self._append()
        stack, self._stack, self._transaction = self._stack, AsyncExitStack(), None
        await stack.__aexit__(None, None, None)
        self._on_rollback.clear()
        followers, self._after_commit = self._after_commit, []
        for follow in followers:
            await follow()

    async def rollback(self, error: BaseException) -> None:
        """Undo the transaction, then what was done outside the database."""
        self._entries.clear()
        stack, self._stack, self._transaction = self._stack, AsyncExitStack(), None
        try:
            await stack.__aexit__(type(error), error, error.__traceback__)
        except Exception as raised:
            if raised is not error and not isinstance(raised, Problem):
                log.warning("rollback.failed", error=repr(raised))
        for undo in reversed(self._on_rollback):
            try:
                await undo()
            except Exception as raised:
                log.warning("undo.failed", error=repr(raised))

    def after_commit(self, follow: Callable[[], Awaitable[None]]) -> None:
        """Run this after the commit: copies into Redis, nothing that must not be lost."""
        self._after_commit.append(follow)

    async def drop_copies(self, drop: Callable[[], Awaitable[None]]) -> None:
        """Have the gate drop its copy of a record that changes.

        Before the commit, so that there is no commit without it, and once more after it, should an old copy have been
        made in between.
        """
        await drop()
        self.after_commit(drop)

    def after_answer(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run this when the answer is out, if there is one, after a random delay.

        For work that must not show in the time of this answer, nor in that of the caller's next one. It is lost with
        its process, and an error is only logged. It has no transaction of this unit.
        """
        self._afterwards.append(work)

    async def finish(self) -> None:
        """Run what was put off until the answer is out."""
        works, self._afterwards = self._afterwards, []
        if works:
            await asyncio.sleep(_chance.uniform(*PAUSE_SECONDS))
        for work in works:
            try:
                await work()
            except Exception as error:
                log.error("after_answer.failed", exc_info=error)

    def on_rollback(self, undo: Callable[[], Awaitable[None]]) -> None:
        """Run this if the transaction fails, to remove what was written outside of it."""
        self._on_rollback.append(undo)

    # What work may leave behind -------------------------------------------------------------------------------------

    async def actor(self) -> Actor:
        """Return who asked for this work."""
        return self._asked_by

    async def enqueue(
        self, name: str, *, queue: str, arguments: dict[str, Any], delay_seconds: float = 0.0, small: bool = False
    ) -> str:
        """Write a job in this transaction; return its identifier.

        It is dispatched once the transaction is safe and `delay_seconds` are over. `small`: the API may run it itself
        while no worker does.
        """
        self.resources.enqueued.set()
        job_id = f"task_{new_id().hex}"
        documents = [msgspec.json.encode(part).decode() for part in (arguments, await self.actor())]
        await (await self.begin()).post(
            """
            INSERT INTO jobs (tenant_id, id, queue, name, arguments, asked_by, request_id, traceparent, ready_at, small)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, now() + make_interval(secs => %s), %s)
            """,
            [
                self.tenant,
                job_id,
                queue,
                name,
                *documents,
                self.request_id,
                tracing.traceparent(),
                delay_seconds,
                small,
            ],
        )
        return job_id

    async def make_due(self, name: str, *, queue: str, arguments: dict[str, Any]) -> None:
        """Make waiting jobs with these arguments, or more, due now."""
        await self.execute(
            """
            UPDATE jobs SET ready_at = now()
            WHERE queue = %s AND name = %s AND status = 'pending' AND ready_at > now() AND arguments @> %s::jsonb
            """,
            [queue, name, msgspec.json.encode(arguments).decode()],
        )

    async def audit(self, action: str, subject: Subject | None, **who: Any) -> None:
        """Write an audit row right before this transaction's COMMIT: it locks the chain.

        `who`: user_id, user_email, api_key_id, ip_address, user_agent, request_id; else whoever asked for a job.
        """
        self._entries.append(
            ChainEntry(
                **{"request_id": self.request_id, **msgspec.structs.asdict(self._asked_by), **who},
                id=new_id(),
                occurred_at=self.now(),
                action=action,
                resource_type=subject.type if subject else None,
                resource_id=subject.id if subject else None,
                resource_name=subject.name if subject else None,
                details=msgspec.Raw(msgspec.json.encode(subject.details if subject else {})),
            )
        )

    async def _confirm(self) -> None:
        """Send checks right before the COMMIT; a job has none."""

    async def _append(self) -> None:
        """Send what `audit` gathered; it travels with the COMMIT."""
        entries, self._entries = self._entries, []
        if entries:
            await (await self.begin()).post(APPEND, [self.tenant, encode_entries(entries)])


class Context(Unit):
    """One request."""

    def __init__(self, resources: Resources, *, request_id: str, ip_address: str, headers: dict[bytes, bytes]) -> None:
        super().__init__(resources, None, request_id=request_id)
        self.ip_address = ip_address
        self.headers = headers
        self.answer_headers: list[tuple[bytes, bytes]] = []
        self.subject: Subject | None = None
        self.is_eventful = True
        """Whether the route's event is written."""
        self.event: str | None = None
        """What is written in place of the route's event, where a call makes one of several kinds of record."""
        self.rights: Rights | None = None
        """What the caller was let in by, for a call that changes something: looked at again before each COMMIT."""
        self.let_in_by: Rights | None = None
        """The same, for every call: one that waits is looked at again, too."""
        self.waited_seconds = 0.0
        """In which a status read waited for a change: no time that the service worked."""
        self._caller: Caller | None = None
        self._ending: set[UUID] = set()
        """Tenants, users and keys whose rights this transaction ends."""
        self._ended: set[Part] = set()
        """Parts of the caller's own rights that this request ended."""

    @property
    def caller(self) -> Caller:
        """The caller; every route but the public ones has one."""
        assert self._caller is not None, "a public route has no caller"
        return self._caller

    @property
    def user_id(self) -> UUID | None:
        """The user who calls."""
        return self.caller.user_id

    @property
    def origin(self) -> str:
        """The caller's address, as limits count it."""
        return origin_of(self.ip_address)

    async def zone(self) -> ZoneInfo:
        """Return the tenant's time zone, as the gate knows it."""
        caller = self._caller
        return await super().zone() if caller is None or caller.runs_deployment else zone_of(caller.timezone)

    @property
    def tenant_key(self) -> Hashable:
        """The tenant; before it is known the caller's address."""
        return self.tenant_id or self.origin

    @property
    def known_caller(self) -> Caller | None:
        """The caller, or None."""
        return self._caller

    @property
    def user_agent(self) -> str | None:
        """The program that calls, as it names itself."""
        return self.headers.get(b"user-agent", b"").decode("latin-1")[:500] or None

    def admit(self, caller: Caller) -> None:
        """Set the caller."""
        self._caller = caller
        self.tenant_id = caller.tenant_id

    async def end_rights(self, part: Part, id_: UUID, *, user_id: UUID | None = None) -> None:
        """Declare that this transaction ends rights: no request with them commits later.

        A caller may end their own. Those are looked at now, since what is written next is no reason to refuse it.

        Args:
            part: what ends.
            id_: its identifier.
            user_id: of a session: whose it is, since a user may have too many to lock each.

        Raises:
            Problem: the caller's own have ended already.
        """
        if self.rights is not None and self.rights.is_own(part, id_):
            await self.confirm_rights()
            self._ended.add(part)
        self._ending.add(id_ if user_id is None else user_id)

    async def confirm_rights(self) -> None:
        """Check, in this transaction, that the caller still has their rights.

        Raises:
            TokenRevoked, InvalidKey, TenantSuspended, PermissionDenied: they have not.
        """
        if self.rights is not None:
            await self.execute(CONFIRM, question(self.rights, (), self._ended, locked=False))

    async def _confirm(self) -> None:
        if self._transaction is not None and (self.rights is not None or self._ending):
            await self._transaction.post(CONFIRM, question(self.rights, self._ending, self._ended, locked=True))
        self._ending.clear()

    async def act_for(self, tenant_id: UUID) -> None:
        """Work for this tenant from here on, for a caller who runs the deployment."""
        assert self.caller.runs_deployment or tenant_id == self.tenant_id
        await self.email()  # which the caller's own tenant knows
        await self.commit()
        self.admit(msgspec.structs.replace(self.caller, tenant_id=tenant_id))

    async def email(self) -> str:
        """Return the caller's e-mail (for a key: its creator's)."""
        if self.caller.email is None:
            email = await self.fetch_value("SELECT email FROM users WHERE id = %s", [self.caller.user_id])
            self._caller = msgspec.structs.replace(self.caller, email=email or "")
        return self.caller.email or ""

    def set_email(self, email: str) -> None:
        """Set the caller's e-mail, known from another query."""
        self._caller = msgspec.structs.replace(self.caller, email=email)

    async def hash(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Hash a password in a thread, in fair shares by address."""
        return await self.resources.passwords(self.origin, function, *args, **kwargs)

    async def limit(
        self, windows: Sequence[Window], problem: type[RateLimited] = RateLimited
    ) -> Callable[[], Awaitable[None]]:
        """Count this call in limits of its own; return what takes it out of them again.

        Raises:
            problem: one of them is used up.
        """
        gate = self.resources.gate
        verdict = await gate.windows(windows)
        if verdict.outcome == "limited":
            refusal = problem.with_limit(verdict.passed, verdict.retry_after_seconds)
            refusal.verdict = verdict if self._caller is None else None  # a caller's answer has the request limit
            raise refusal

        async def give_back() -> None:
            for window in windows if verdict.moment else ():
                await gate.refund(window, verdict.moment)

        return give_back

    async def use(self, meter: Meter, problem: type[RateLimited]) -> None:
        """Count a use of the tenant's month whose amount only the body has.

        Raises:
            problem: less is left.
        """
        gate = self.resources.gate
        verdict = await gate.use(self.tenant, self.caller.tier, meter)
        if verdict.outcome == "used_up":
            used = Fault([], meter.words(self.caller.tier))
            raise problem(used, retry_after_seconds=gate.seconds_left_of_month())

    def set_subject(self, type_: str, id_: object, name: str | None = None, /, **details: Any) -> None:
        """Name the record that the route's event is about."""
        self.subject = Subject(type_, str(id_), name, details)

    def skip_event(self) -> None:
        """Do not write the route's event: nothing changed."""
        self.is_eventful = False

    async def audit_event(self, action: str) -> None:
        """Write the route's event with who called from where."""
        who = msgspec.structs.asdict(await self.actor())
        await self.audit(action, self.subject, **who, ip_address=self.ip_address, user_agent=self.user_agent)

    async def actor(self) -> Actor:
        """Return the caller; on a public route the user whom the call is about."""
        caller, subject = self._caller, self.subject
        if caller is not None:
            user_id = None if caller.user_id == NOBODY else caller.user_id
            return Actor(user_id=user_id, user_email=await self.email(), api_key_id=caller.api_key_id)
        if subject is not None and subject.type == "user":
            return Actor(user_id=UUID(subject.id), user_email=subject.name)
        return Actor()

    # Versions of a record ---------------------------------------------------------------------------------------------

    def set_etag(self, version: int) -> None:
        """Send the record's version as its ETag."""
        self.answer_headers.append((b"etag", b'"%d"' % version))

    def check_if_match(self, version: int) -> None:
        """Compare If-Match, if present, with the record's version.

        Raises:
            ConcurrentModification: somebody else changed the record since the caller read it.
        """
        wanted = self.headers.get(b"if-match")
        if wanted is None or wanted.strip() == b"*":
            return
        known = {tag.strip().removeprefix(b"W/").strip(b'"') for tag in wanted.split(b",")}
        if b"%d" % version not in known:
            raise ConcurrentModification
