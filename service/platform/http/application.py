"""The ASGI application: finds a request's row, and answers where there is none."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Router, compile_path
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp

from service.platform import tracing
from service.platform.access.caller_status import GateVerdict
from service.platform.base import problem as problems
from service.platform.base.problem import Problem, TooManyConnections
from service.platform.http.connections import Connections
from service.platform.http.dispatch import Endpoint, address_of, encode, limit_headers, request_id_of
from service.platform.http.intake import Intake, Receive, Scope, Send
from service.platform.metrics import WITHOUT_ROUTE
from service.platform.route.api import Route, records_of
from service.platform.route.openapi import RATE_HEADERS

ENCODED_SLASH = re.compile(rb"%2f", re.IGNORECASE)
"""In a path: it would be a separator here, and none to something in front that guards a prefix."""

ANYWHERE: frozenset[type[Problem]] = frozenset(
    value
    for value in vars(problems).values()
    if isinstance(value, type) and issubclass(value, Problem) and value is not Problem
)
"""Refusals that every route may give without listing them."""


CORS_HEADERS: Final = (
    *("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-Range", "Range", "X-API-Key"),
    *("X-Request-ID", "X-Tenant-ID"),
)
"""Headers that a page of another origin may send; no cookie is one of them, and none is let in."""
CORS_EXPOSED: Final = (
    *("Age", "Content-Disposition", "Content-Range", "ETag", "Idempotent-Replayed", "Link", "Retry-After"),
    *("WWW-Authenticate", "X-Cushion-Stale", "X-Request-ID", *RATE_HEADERS),
)
"""Headers of an answer that it may read."""
CORS_SECONDS: Final = 600
"""For which a browser may remember what it was allowed."""


class Resource:
    """The ASGI application of one path: its endpoints by method."""

    def __init__(self, members: list[Route], routes: list[Route]) -> None:
        """`routes`: those of the whole application."""
        self._by_method = {route.method: Endpoint(route, ANYWHERE, records_of(route, routes)) for route in members}
        if "GET" in self._by_method:
            self._by_method["HEAD"] = self._by_method["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._by_method[scope["method"]]
        if scope["method"] == "HEAD":
            receive, send = _without_body(receive, send)
        if not tracing.is_on():
            await endpoint(scope, receive, send)
            return
        row = endpoint.route
        with tracing.request(row.method, row.path, dict(scope["headers"]).get(b"traceparent")):
            await endpoint(scope, receive, send)

    def serves(self, method: str) -> bool:
        return method in self._by_method

    @property
    def methods(self) -> list[str]:
        return list(self._by_method)


def build(
    routes: list[Route], lifespan: Any, connections: Connections, cors_origins: tuple[str, ...] = ()
) -> Starlette:
    """Return the ASGI application of these routes.

    Each request gets a connection of its address. Pages of `cors_origins` may read its answers.

    Matched by prefix first: with a hundred routes in a row the last costs 0.1 ms.
    """
    by_path: dict[str, list[Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, []).append(route)
    top: list[BaseRoute] = []
    mounted: dict[str, list[BaseRoute]] = {}
    # Literal segments before parameters, so that /issues/summary is not taken for an issue.
    for path in sorted(by_path, key=lambda path: [step.startswith("{") for step in path.split("/")]):
        resource = Resource(by_path[path], routes)
        prefix = _prefix(path)
        inner = path.removeprefix(prefix)
        place = mounted.setdefault(prefix, []) if inner else top
        place.append(StarletteRoute(inner or path, resource, methods=resource.methods))
    order = list(dict.fromkeys(_prefix(route.path) for route in routes))
    mounts = [Mount(prefix, Router(mounted[prefix], redirect_slashes=False)) for prefix in order if prefix in mounted]
    app = _Application(
        routes=[*mounts, *top],
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_exception, Exception: _http_exception},
    )
    app.connections = connections
    app.paths = [compile_path(path)[0] for path in by_path if path != "/"]
    app.literal = {path: Resource(rows, routes) for path, rows in by_path.items() if "{" not in path}
    app.router.redirect_slashes = False
    if cors_origins:
        app.cors = CORSMiddleware(
            app.serve,
            allow_origins=cors_origins,
            allow_methods=sorted({route.method for route in routes} | {"HEAD"}),
            allow_headers=sorted(CORS_HEADERS),
            expose_headers=CORS_EXPOSED,
            max_age=CORS_SECONDS,
        )
    return app


class _Application(Starlette):
    """Starlette, asked only for paths with parameters and unknown ones.

    An endpoint answers for its own faults, and passing the layers in front of it costs a small request a tenth of its
    time.
    """

    literal: dict[str, Resource]
    paths: list[re.Pattern[str]]
    """Of every route."""
    connections: Connections
    cors: ASGIApp | None = None
    """Around all of it, where pages of other origins are let in."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
        else:
            await (self.serve if self.cors is None else self.cors)(scope, receive, send)

    def knows(self, path: str) -> bool:
        """Return whether a route has this path, whatever the method."""
        return any(pattern.match(path) for pattern in self.paths)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if ENCODED_SLASH.search(scope.get("raw_path") or b""):
            scope = {**scope, "path": "/%2f"}  # a path that no route has
        scope["app"] = self
        address = scope["address"] = address_of(scope, self.connections.trusted_proxies)
        intake = scope["intake"] = Intake(scope, receive, send)
        try:
            self.connections.take(intake, address)
        except TooManyConnections as refusal:  # at once: its body is not waited for
            await _refused(refusal, Request(scope))(scope, receive, send)
            return
        try:
            resource = self.literal.get(scope["path"])
            if resource is None or not resource.serves(scope["method"]):
                await super().__call__(scope, intake.receive, intake.send)
            else:
                await resource(scope, intake.receive, intake.send)
        finally:
            self.connections.leave(intake, address)


def _without_body(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Send only the head of an answer: a stream then learns that the caller has left."""
    started = asyncio.Event()

    async def receive_until_started() -> Any:
        reading = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(started.wait())
        try:
            await asyncio.wait((reading, ending), return_when=asyncio.FIRST_COMPLETED)
            return {"type": "http.disconnect"} if started.is_set() else await reading
        finally:
            reading.cancel()
            ending.cancel()

    async def send_head(message: Any) -> None:
        if message["type"] == "http.response.start":
            await send(message)
        elif not started.is_set():
            started.set()
            await send({"type": "http.response.body", "body": b""})

    return receive_until_started, send_head


def _prefix(path: str) -> str:
    steps = path.split("/")
    return "/".join(steps[:4]) if path.startswith("/api/") else "/".join(steps[:2])


async def _http_exception(request: Request, error: Exception) -> Response:
    """Answer unknown paths, wrong methods and uncaught errors as every other refusal."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    place = _redirect_slash(request) if status == 404 else None
    if place is not None:
        moved = Response(b"", 308, headers={"location": place})
        return _add_headers(moved, request, request_id_of(dict(request.scope["headers"])))
    kind = {404: problems.NotFound, 405: problems.MethodNotAllowed}.get(status, problems.InternalError)
    headers = error.headers if isinstance(error, HTTPException) else None
    return _refused(kind(headers=dict(headers or {})), request)


def _refused(refusal: Problem, request: Request) -> Response:
    request_id = request_id_of(dict(request.scope["headers"]))
    response = Response(encode(refusal.body(request_id)), refusal.status, media_type="application/json")
    response.raw_headers += [(name.lower().encode(), value.encode()) for name, value in refusal.all_headers]
    return _add_headers(response, request, request_id)


def _redirect_slash(request: Request) -> str | None:
    """Redirect a path with a slash too many to the route without it, if there is one."""
    scope = request.scope
    path, raw = scope["path"], scope.get("raw_path") or quote(scope["path"]).encode()
    # The routes' paths begin with one slash, so none of them names another host (//host).
    if not (path.endswith("/") and raw.endswith(b"/") and scope["app"].knows(path[:-1])):
        return None
    query = scope["query_string"]
    return str((raw[:-1] + (b"?" + query if query else b"")).decode("latin-1"))


def _add_headers(response: Response, request: Request, request_id: str) -> Response:
    """Add the headers that every answer has."""
    WITHOUT_ROUTE.labels(f"{response.status_code}").inc()
    if request.app.state.resources.stopping.is_set():
        response.headers["connection"] = "close"
    response.raw_headers += [
        (b"x-request-id", request_id.encode("ascii")),
        (b"x-content-type-options", b"nosniff"),
        *limit_headers(GateVerdict("ok"), request.app.state.resources),
    ]
    return response
