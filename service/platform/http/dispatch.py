"""One request through its row: admit, bind, handle, record, encode."""

from __future__ import annotations

import asyncio
import errno
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

import msgspec
import structlog

from service.platform.access.admission import admit
from service.platform.access.caller_status import Verdict, is_within, read_address
from service.platform.access.idempotency import Claim, claim_of
from service.platform.access.secrets import new_id
from service.platform.context import Context, Resources
from service.platform.data.blobs import Damaged
from service.platform.data.storage import report
from service.platform.http import problem as problems
from service.platform.http.api import Raw, Route, Streamed
from service.platform.http.binding import Binding
from service.platform.http.intake import Receive, Scope, Send
from service.platform.http.problem import Problem
from service.platform.log import log_request
from service.platform.work.memory import RETRY_SECONDS
from service.platform.work.stream import event_of, publish

REQUEST_ID = re.compile(rb"[\x21-\x7e]{1,128}")
ONCE = frozenset({b"authorization", b"x-api-key", b"x-tenant-id", b"idempotency-key", b"if-match", b"content-type"})
"""Headers that must not be there twice: something in front of the service may have read the other one."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})
"""The disk is full, or too many files are open: nobody's mistake, and it passes."""

log = structlog.get_logger()
encode = msgspec.json.Encoder(decimal_format="number").encode


class Endpoint:
    """The ASGI application of one route."""

    def __init__(self, route: Route, refusals: frozenset[type[Problem]]) -> None:
        self.route = route
        self._binding = Binding(route)
        self._known = refusals | set(route.errors)
        self._headers = [(b"cache-control", b"no-store")] if route.tells_secrets else []

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
        verdict = Verdict("ok")
        closing: Callable[[], Awaitable[None]] | None = None
        claim: Claim | None = None
        try:
            if resources.memory.is_short and not self.route.essential:
                raise problems.Unavailable(headers={"Retry-After": str(RETRY_SECONDS)})
            if len(headers) != len(scope["headers"]):
                _check_once(scope["headers"])
            verdict = await admit(ctx, self.route)
            arguments, content, closing = await self._binding.arguments(ctx, scope, receive)
            claim = await claim_of(ctx, self.route, scope["path"], scope["query_string"], content)
            kept = await claim.take() if claim is not None else None
            answer = self._encode_answer(kept) if kept else await self._perform(ctx, arguments, claim)
        except Exception as error:
            await ctx.rollback(error)
            if claim is not None:
                await claim.release()
            if isinstance(error, Damaged):
                await report(resources, error.key, request_id)
            refusal = self._refusal(error, strict=resources.settings.strict)
            body = encode(refusal.body(request_id))
            answer = _Answer(refusal.status, "application/json", body, _headers(list(refusal.headers.items())))
            verdict = refusal.verdict or verdict
        except BaseException as error:
            await ctx.rollback(error)
            raise
        finally:
            if closing is not None:
                await closing()
        if self.route.event and self.route.streamed and answer.status < 300 and claim is None:
            await publish(resources, event_of(ctx, self.route.event))  # first: whoever has the answer has the event
        answer.headers.extend(self._headers)
        await _send(send, receive, answer, request_id, verdict, resources)
        log_request(
            method=self.route.method,
            path=self.route.path,
            status=answer.status,
            milliseconds=round((time.perf_counter() - started) * 1000, 2),
            tenant_id=ctx.tenant_id,
            request_id=request_id,
        )
        await ctx.finish()

    async def _perform(self, ctx: Context, arguments: dict[str, Any], claim: Claim | None) -> _Answer:
        """Handle the request, record it, and commit; the answer is encoded before, since it may have to be kept."""
        if claim is not None and self.route.metered is not None:
            await ctx.use(self.route.metered[0](ctx.settings), self.route.metered[1])
        given = await self.route.handler(ctx, **arguments)
        answer = self._encode_answer(given)
        answer.headers.extend(ctx.answer_headers)
        if claim is not None:
            assert isinstance(answer.content, bytes), "a streamed answer cannot be kept"
            await claim.keep(self.route, answer.status, answer.media_type, answer.content, answer.headers)
        if self.route.event and ctx.is_eventful and (claim is not None or not self.route.streamed):
            # In this transaction: no crash parts it from a kept answer.
            await ctx.audit_event(self.route.event)
        await ctx.commit()
        if isinstance(answer.content, bytes):
            return answer
        return answer._replace(content=await _begun(answer.content))  # while a refusal can still be told

    def _refusal(self, error: Exception, *, strict: bool) -> Problem:
        """What the caller reads of an error; a refusal that the row does not list passes only when not strict."""
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
            return _Answer(answer.status or status, answer.media_type, answer.content, _headers(answer.headers))
        if isinstance(answer, Streamed):
            return _Answer(answer.status or status, answer.media_type, answer.chunks, _headers(answer.headers))
        if answer is None:
            return _Answer(status, "", b"", [])
        return _Answer(status, self.route.media_type, encode(answer), [])


class _Answer(NamedTuple):
    """What goes out."""

    status: int
    media_type: str
    content: bytes | AsyncGenerator[bytes, None]
    headers: list[tuple[bytes, bytes]]


def _headers(pairs: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in pairs]


async def _begun(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The same chunks, the first of them made already."""
    first = await anext(chunks, None)

    async def rest() -> AsyncGenerator[bytes, None]:
        async with aclosing(chunks):
            if first is not None:
                yield first
            async for chunk in chunks:
                yield chunk

    return rest()


def _check_once(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a request that says twice who it is from, for whom, or what it is."""
    seen = set()
    for name, _ in headers:
        if name in seen and name in ONCE:
            raise problems.HeaderTwice.at(["header", name.decode("ascii")], "given twice")
        seen.add(name)


async def _send(
    send: Send, receive: Receive, answer: _Answer, request_id: str, verdict: Verdict, resources: Resources
) -> None:
    headers = [
        (b"x-request-id", request_id.encode("ascii")),
        (b"x-content-type-options", b"nosniff"),
        *limit_headers(verdict, resources),
        *answer.headers,
    ]
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
    """Send what is made while it is sent, and make no more of it once the caller has left: the server does not say so
    when it is given the next chunk."""
    left = asyncio.ensure_future(_left(receive))
    try:
        async with aclosing(content) as chunks:
            async for chunk in chunks:
                if left.done():
                    return
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
    finally:
        left.cancel()
    await send({"type": "http.response.body", "body": b""})


async def _left(receive: Receive) -> None:
    """Returns when the caller has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def limit_headers(verdict: Verdict, resources: Resources) -> list[tuple[bytes, bytes]]:
    """The rate-limit headers; where nothing was counted they carry the figure that a new tenant would have."""
    if verdict.limit:
        return verdict.headers
    settings = resources.settings
    figure = settings.requests_per_minute.of(settings.tier_of_new_tenant)
    return Verdict("ok", figure, figure, (int(resources.clock.now().timestamp()) // 60 + 1) * 60).headers


def request_id_of(headers: Mapping[bytes, bytes]) -> str:
    """The caller's X-Request-ID where it is printable and short, else a new one."""
    given = headers.get(b"x-request-id", b"")
    return given.decode("ascii") if REQUEST_ID.fullmatch(given) else str(new_id())


def address_of(scope: Scope, trusted: tuple[str, ...]) -> str:
    """The caller's address: behind trusted proxies the last address of X-Forwarded-For that is none of theirs."""
    peer = str(scope["client"][0]) if scope.get("client") else "127.0.0.1"
    hops = [peer]
    if trusted:  # each proxy adds to the line that it finds, or writes one below it
        lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        hops += [hop.strip() for line in reversed(lines) for hop in reversed(line.split(","))]
    for hop in hops:
        address = read_address(hop)
        if address is None:
            break
        peer = str(address)
        if not is_within(address, trusted):
            break
    return peer
