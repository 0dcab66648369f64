"""One request through its row: admit, bind, handle, record, encode."""

from __future__ import annotations

import asyncio
import errno
import re
import time
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import msgspec
import structlog
from prometheus_client import Histogram

from service.platform import tracing
from service.platform.access.caller_status import GateVerdict, address_text, is_within, read_address
from service.platform.access.cookies import SESSION_HEADER, check_session_header
from service.platform.base import problem as problems
from service.platform.base.caller import Caller
from service.platform.base.memory import RETRY_SECONDS
from service.platform.base.problem import Problem
from service.platform.base.secrets import new_id
from service.platform.data.blobs import Damaged
from service.platform.data.fallback_cache import Key, key_of
from service.platform.data.replica import ANSWER_SECONDS
from service.platform.events.calls import count
from service.platform.events.entry import event_entry
from service.platform.events.stream import event_of, publish
from service.platform.http.admission import admit, admit_again, expected_caller
from service.platform.http.binding import Binding
from service.platform.http.compression import LEAST_BYTES, VARY, gzip_bytes, gzip_chunks, is_compressible, takes_gzip
from service.platform.http.idempotency import IdempotencyClaim, claim_of
from service.platform.http.intake import Intake, Receive, Scope, Send
from service.platform.http.waiting import read_and_wait
from service.platform.log import log_request
from service.platform.metrics import REQUEST_SECONDS
from service.platform.route.api import Raw, Route, Streamed
from service.platform.unit.context import Context, Resources
from service.platform.unit.storage import report_damage

REQUEST_ID = re.compile(rb"[\x21-\x7e]{1,128}")
ONCE = frozenset(
    {
        *(b"authorization", b"x-api-key", b"x-tenant-id", b"idempotency-key", b"if-match"),
        *(b"content-type", b"content-encoding", SESSION_HEADER),
    }
)
"""Headers that must not be there twice: something in front of the service may have read the other one."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})
"""The disk is full, or too many files are open: nobody's mistake, and it passes."""

LATE_SECONDS = 0.02
"""A body that was waited for so long came later than its head: what the gate said may hold no more."""
BRIEF_BYTES = 16_384
"""A longer body is not waited for before the gate is asked."""
JSON = "application/json"
SESSIONS = frozenset(f"/api/v1/auth/{name}" for name in ("login", "logout", "refresh"))
"""Who comes and goes all day long: it changes nothing that others read but the moment of somebody's last login."""

ADMITTED = GateVerdict("ok")

log = structlog.get_logger()
encode = msgspec.json.Encoder(decimal_format="number").encode


@dataclass(slots=True)
class _Call:
    """How far a request has come."""

    verdict: GateVerdict = ADMITTED
    closing: Callable[[], Awaitable[None]] | None = None
    """Closes the files of a form."""
    claim: IdempotencyClaim | None = None
    cached_as: tuple[Key, int] | None = None
    """Where the answer is kept for the time in which the database is away, and the turn of that cache."""


class Endpoint:
    """The ASGI application of one route."""

    def __init__(self, route: Route, refusals: frozenset[type[Problem]], records: Sequence[Any] = ()) -> None:
        self.route = route
        self._binding = Binding(route, records)
        self._known = refusals | set(route.errors)
        self._headers = [(b"cache-control", b"no-store")] if route.tells_secrets else []
        self._falls_back = (
            route.method == "GET"
            and route.access != "public"
            and route.event is None  # nobody reads what is to be recorded past the record
            and route.media_type == JSON
            and not route.tells_secrets
        )
        """Whether its answers are kept for the time in which the database is away."""
        self._changes = route.method != "GET" and route.path not in SESSIONS
        """Whether what is kept of its tenant goes."""
        self._timers: dict[str, Histogram] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        resources: Resources = scope["app"].state.resources
        started = time.perf_counter()
        headers = dict(scope["headers"])
        request_id = request_id_of(headers)
        structlog.contextvars.bind_contextvars(request_id=request_id)
        ctx = Context(
            resources,
            request_id=request_id,
            ip_address=scope["address"],
            headers=headers,
        )
        if scope["method"] == "HEAD":
            ctx.skip_event()  # nobody reads what the event is about
        call = _Call()
        try:
            answer = await self._serve(ctx, scope, receive, call)
        except Exception as error:
            answer = await self._refuse(ctx, call, error)
        except BaseException as error:
            self._observe("left", started + ctx.waited_seconds)
            await ctx.rollback(error)
            raise
        finally:
            if self._changes and ctx.has_begun and ctx.tenant_id is not None:
                resources.sharing.announce_change(ctx.tenant_id)  # whatever came of it: a commit's answer may be lost
            if call.closing is not None:
                await call.closing()
        answer.headers.extend(self._headers)
        if self.route.compressed and not self.route.tells_secrets and _may_compress(answer):
            answer = await _compress(answer, headers.get(b"accept-encoding", b""))
        await _send(send, receive, answer, request_id, call.verdict, resources)
        self._observe(f"{answer.status // 100}xx", started + ctx.waited_seconds)
        tracing.end_request(answer.status, request_id)
        log_request(
            method=self.route.method,
            path=self.route.path,
            status=answer.status,
            milliseconds=round((time.perf_counter() - started) * 1000, 2),
            tenant_id=ctx.tenant_id,
            request_id=request_id,
        )
        await ctx.finish()

    async def _serve(self, ctx: Context, scope: Scope, receive: Receive, call: _Call) -> _Answer:
        """Admit, bind and handle a request; `call` knows how far it came."""
        resources = ctx.resources
        if resources.memory.is_short and not self.route.essential:
            raise problems.Unavailable(headers={"Retry-After": str(RETRY_SECONDS)})
        if len(ctx.headers) != len(scope["headers"]):
            _check_once(scope["headers"])
        if self.route.browser:
            check_session_header(ctx.headers)
        if self.route.ahead is not None and _is_brief(ctx.headers):
            expected = expected_caller(ctx, self.route)
            if expected is not None:
                return await self._serve_ahead(ctx, scope, receive, call, *expected)
        call.verdict = await admit(ctx, self.route)
        if self._falls_back and ctx.flag("fallback_cache"):
            key = key_of(ctx.caller, scope["path"], scope["query_string"])
            call.cached_as = (key, resources.fallback_cache.turn)
        arrived = partial(self._look_again, ctx, scope["intake"])
        arguments, content, call.closing = await self._binding.arguments(ctx, scope, receive, arrived)
        call.claim = await claim_of(ctx, self.route, scope["path"], scope["query_string"], content)
        kept = await call.claim.take() if call.claim is not None else None
        answer = self._encode_answer(kept) if kept else await self._perform(ctx, arguments, call.claim, receive)
        if (
            call.cached_as is not None
            and answer.status == 200
            and answer.media_type == JSON
            and isinstance(answer.content, bytes)
        ):
            key, turn = call.cached_as
            resources.fallback_cache.add(key, answer.content, tuple(answer.headers), turn)
        return answer

    async def _serve_ahead(
        self, ctx: Context, scope: Scope, receive: Receive, call: _Call, caller: Caller, tenant_copy: bytes
    ) -> _Answer:
        """Serve a caller who is expected to pass.

        A small request is answered before the gate is asked.

        The answer waits until it lets them pass, and in the same round trip it puts the event on the stream.
        """
        arguments: dict[str, Any] = {}
        answer = entry = refusal = None
        try:
            arguments, _, _ = await self._binding.arguments(ctx, scope, receive, _do_nothing)
            answer = self._answer_ahead(ctx, caller, arguments["body"])
            if answer is not None:
                assert self.route.event is not None
                entry = event_entry(ctx, self.route.event, tenant_copy, counted=self.route.counted)
        except Exception as error:
            refusal = error  # which only a caller who passes is told
        try:
            call.verdict = await admit(ctx, self.route, entry.command if entry is not None else None)
            if refusal is not None:
                raise refusal
        except BaseException:
            if entry is not None:
                entry.withdraw(ctx.resources)
            raise
        finally:
            refusal = None  # its traceback refers to this frame
        if answer is None or entry is None:
            return await self._perform(ctx, arguments, None, receive)
        if ctx.caller != caller:  # such as in another time zone since then
            entry.withdraw(ctx.resources)
            return await self._perform(ctx, arguments, None, receive)
        await entry.publish(ctx.resources)
        return answer

    def _answer_ahead(self, ctx: Context, caller: Caller, body: Any) -> _Answer | None:
        """Return the answer as if the caller had passed; None where it is not small."""
        assert self.route.ahead is not None
        ctx.admit(caller)
        value = self.route.ahead(ctx, body)
        if value is None:
            return None
        answer = self._encode_answer(value)
        answer.headers.extend(ctx.answer_headers)
        return answer

    async def _refuse(self, ctx: Context, call: _Call, error: Exception) -> _Answer:
        """Undo a request; return its refusal, or a cached answer without a database."""
        await ctx.rollback(error)
        if call.claim is not None:
            await call.claim.release()
        if isinstance(error, Damaged):
            await report_damage(ctx.resources, error.key, ctx.request_id)
        if call.cached_as and isinstance(error, problems.Unavailable):
            stale = _cached_answer(ctx.resources, call.cached_as[0])
            if stale is not None:
                return stale
        refusal = self._refusal(error, strict=ctx.resources.settings.strict)
        call.verdict = refusal.verdict or call.verdict
        return _Answer(refusal.status, JSON, encode(refusal.body(ctx.request_id)), _headers(refusal.all_headers))

    async def _look_again(self, ctx: Context, intake: Intake) -> None:
        """Look at the caller again where their body was waited for."""
        if intake.waited_seconds > LATE_SECONDS:
            await admit_again(ctx, self.route)

    def _observe(self, status: str, started: float) -> None:
        timer = self._timers.get(status)
        if timer is None:
            timer = self._timers[status] = REQUEST_SECONDS.labels(self.route.method, self.route.path, status)
        timer.observe(time.perf_counter() - started)

    async def _perform(
        self, ctx: Context, arguments: dict[str, Any], claim: IdempotencyClaim | None, receive: Receive
    ) -> _Answer:
        """Handle the request, record it, and commit.

        The answer is encoded before, since it may have to be kept.
        """
        if claim is not None and self.route.metered is not None:
            await ctx.use(self.route.metered[0](ctx.settings), self.route.metered[1])
        if self.route.waits is not None and arguments["query"].wait:
            result = await read_and_wait(ctx, self.route, arguments, receive)
        else:
            result = await self._handle(ctx, arguments)
        answer = self._encode_answer(result)
        answer.headers.extend(ctx.answer_headers)
        if claim is not None:
            assert isinstance(answer.content, bytes), "a streamed answer cannot be kept"
            await claim.keep(self.route, answer.status, answer.media_type, answer.content, answer.headers)
        streams = self.route.streamed and claim is None
        event = ctx.event or self.route.event
        if event and ctx.is_eventful and not streams:
            # In this transaction: no crash parts it from a kept answer.
            if self.route.counted:
                seconds = ctx.settings.calls_together_seconds
                await count(await ctx.begin(), ctx.tenant, [event_of(ctx, event)], seconds)
            else:
                await ctx.audit_event(event)
        await ctx.commit()
        if event and ctx.is_eventful and streams and answer.status < 300:
            # Whoever has the answer has the event.
            await publish(ctx.resources, event_of(ctx, event, counted=self.route.counted))
        if isinstance(answer.content, bytes):
            return answer
        return answer._replace(content=await _begin(answer.content))  # while a refusal can still be told

    async def _handle(self, ctx: Context, arguments: dict[str, Any]) -> Any:
        """Return the handler's result, read from the replica where that will do."""
        replica = ctx.resources.replica if self.route.lags else None
        reads = await replica.for_reads(ctx.tenant) if replica is not None and ctx.flag("read_replica") else None
        if replica is not None and reads is not None and not ctx.has_begun:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    return await ctx.read_from(reads, lambda: self.route.handler(ctx, **arguments))
            except (problems.Unavailable, problems.ConcurrentModification, TimeoutError) as error:
                replica.avoid()
                await ctx.rollback(error)
        return await self.route.handler(ctx, **arguments)

    def _refusal(self, error: Exception, *, strict: bool) -> Problem:
        """Return the problem of an error; strictly, an unlisted one is an internal error."""
        if type(error) is problems.Unavailable and error.__traceback__ is not None:  # a breaker tells of its own
            *_, (at, line) = traceback.walk_tb(error.__traceback__)
            log.warning(
                "request.unavailable",
                path=self.route.path,
                method=self.route.method,
                cause=type(error.__cause__).__name__,
                at=f"{at.f_globals['__name__']}:{line}",
            )
        if isinstance(error, Problem):
            if type(error) in self._known:
                return error
            log.error("refusal.unlisted", path=self.route.path, method=self.route.method, refusal=type(error).__name__)
            return problems.InternalError() if strict else error
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            log.error("request.no_room", path=self.route.path, method=self.route.method, error=error.strerror)
            return problems.Unavailable()
        log.error("request.failed", path=self.route.path, method=self.route.method, exc_info=error)
        return problems.InternalError()

    def _encode_answer(self, answer: Any) -> _Answer:
        status = self.route.status
        if isinstance(answer, Raw):
            headers = _headers(answer.headers)
            return _Answer(answer.status or status, answer.media_type, answer.content, headers, answer.constant)
        if isinstance(answer, Streamed):
            return _Answer(answer.status or status, answer.media_type, answer.chunks, _headers(answer.headers))
        if answer is None:
            return _Answer(status, "", b"", [])
        return _Answer(status, self.route.media_type, encode(answer), [])


class _Answer(NamedTuple):
    """An answer, ready to be sent."""

    status: int
    media_type: str
    content: bytes | AsyncGenerator[bytes, None]
    headers: list[tuple[bytes, bytes]]
    constant: bool = False


def _may_compress(answer: _Answer) -> bool:
    if isinstance(answer.content, bytes) and len(answer.content) < LEAST_BYTES:
        return False
    return is_compressible(answer.status, answer.media_type, answer.headers)


async def _compress(answer: _Answer, asked: bytes) -> _Answer:
    """Return the answer as `asked` permits: as it is, or as gzip."""
    if not takes_gzip(asked):
        return answer._replace(headers=[*answer.headers, VARY])
    content = answer.content
    return answer._replace(
        content=await gzip_bytes(content, constant=answer.constant)
        if isinstance(content, bytes)
        else gzip_chunks(content),
        headers=[*answer.headers, VARY, (b"content-encoding", b"gzip")],
    )


def _cached_answer(resources: Resources, key: Key) -> _Answer | None:
    """Return the cached answer of a request, while the database is away."""
    if resources.breakers["database"].is_closed:
        return None
    answer = resources.fallback_cache.find(key)
    if answer is None:
        return None
    kept, age_seconds = answer
    headers = [*kept.headers, (b"age", b"%d" % age_seconds), (b"x-cushion-stale", b"true")]
    return _Answer(200, JSON, kept.content, headers)


def _headers(pairs: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in pairs]


async def _begin(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Return the same chunks, the first of them made already."""
    first = await anext(chunks, None)

    async def rest() -> AsyncGenerator[bytes, None]:
        async with aclosing(chunks):
            if first is not None:
                yield first
            async for chunk in chunks:
                yield chunk

    return rest()


def _check_once(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a request that has a header twice that must be there once."""
    seen = set()
    for name, _ in headers:
        if name in seen and name in ONCE:
            raise problems.HeaderTwice.at(["header", name.decode("ascii")], "given twice")
        seen.add(name)


def _is_brief(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request says that its body is short."""
    length = headers.get(b"content-length", b"")
    return length.isdigit() and int(length) <= BRIEF_BYTES


async def _do_nothing() -> None:
    """Look at nobody: the gate is asked after the body."""


async def _send(
    send: Send, receive: Receive, answer: _Answer, request_id: str, verdict: GateVerdict, resources: Resources
) -> None:
    headers = [
        (b"x-request-id", request_id.encode("ascii")),
        (b"x-content-type-options", b"nosniff"),
        *limit_headers(verdict, resources),
        *answer.headers,
    ]
    if resources.stopping.is_set():  # the next request goes to another process
        headers.append((b"connection", b"close"))
    if answer.media_type:
        headers.append((b"content-type", answer.media_type.encode()))
    start = {"type": "http.response.start", "status": answer.status, "headers": headers}
    if isinstance(answer.content, bytes):
        if answer.status != 204:
            headers.append((b"content-length", b"%d" % len(answer.content)))
        await send(start)
        await send({"type": "http.response.body", "body": answer.content})
        return
    await send(start)
    await _send_chunks(send, receive, answer.content)


async def _send_chunks(send: Send, receive: Receive, content: AsyncGenerator[bytes, None]) -> None:
    """Send chunks while they are made, until the caller leaves.

    The server does not say so when it is given the next chunk.
    """
    left = asyncio.ensure_future(_wait_until_left(receive))
    try:
        async with aclosing(content) as chunks:
            async for chunk in chunks:
                if left.done():
                    return
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
    finally:
        left.cancel()
    await send({"type": "http.response.body", "body": b""})


async def _wait_until_left(receive: Receive) -> None:
    """Return when the caller has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def limit_headers(verdict: GateVerdict, resources: Resources) -> list[tuple[bytes, bytes]]:
    """Return the rate-limit headers; without a count, those of a new tenant."""
    if verdict.limit:
        return verdict.headers
    settings = resources.settings
    figure = settings.requests_per_minute.of(settings.tier_of_new_tenant)
    return GateVerdict("ok", figure, figure, (int(resources.clock.now().timestamp()) // 60 + 1) * 60).headers


def request_id_of(headers: Mapping[bytes, bytes]) -> str:
    """Return the caller's X-Request-ID if it is printable and short, else a new one."""
    value = headers.get(b"x-request-id", b"")
    return value.decode("ascii") if REQUEST_ID.fullmatch(value) else str(new_id())


def address_of(scope: Scope, trusted: tuple[str, ...]) -> str:
    """Return the caller's address; behind proxies the last that is none of theirs."""
    peer = str(scope["client"][0]) if scope.get("client") else "127.0.0.1"
    hops = [peer]
    if trusted:  # each proxy adds to the line that it finds, or writes one below it
        lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        hops += [hop.strip() for line in reversed(lines) for hop in reversed(line.split(","))]
    for hop in hops:
        address = read_address(hop)
        if address is None:
            break
        peer = address_text(address)
        if not is_within(address, trusted):
            break
    return peer
