"""The ASGI application of all rows: which of them a request is for, and what becomes of those that are for none."""

from __future__ import annotations

import re
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Router
from starlette.routing import Route as StarletteRoute

from service.platform.access.caller_status import Verdict
from service.platform.http import problem as problems
from service.platform.http.api import Route
from service.platform.http.connections import Connections
from service.platform.http.dispatch import Endpoint, address_of, encode, limit_headers, request_id_of
from service.platform.http.intake import Intake, Receive, Scope, Send
from service.platform.http.problem import Problem, TooManyConnections

ENCODED_SLASH = re.compile(rb"%2f", re.IGNORECASE)
"""In a path: it would be a separator here, and none to something in front that guards a prefix."""

ANYWHERE: frozenset[type[Problem]] = frozenset(
    value
    for value in vars(problems).values()
    if isinstance(value, type) and issubclass(value, Problem) and value is not Problem
)
"""Refusals that every route may give without listing them."""


class Resource:
    """The ASGI application of one path: its endpoints by method."""

    def __init__(self, members: list[Route]) -> None:
        self._by_method = {route.method: Endpoint(route, ANYWHERE) for route in members}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._by_method[scope["method"]](scope, receive, send)

    def serves(self, method: str) -> bool:
        return method in self._by_method

    @property
    def methods(self) -> list[str]:
        return list(self._by_method)


def build(routes: list[Route], lifespan: Any, connections: Connections) -> Starlette:
    """The ASGI application of these routes, for requests that get a connection of their address.

    Matched by prefix first: with a hundred routes in a row the last costs 0.1 ms.
    """
    by_path: dict[str, list[Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, []).append(route)
    top: list[BaseRoute] = []
    mounted: dict[str, list[BaseRoute]] = {}
    # Literal segments before parameters, so that /issues/summary is not taken for an issue.
    for path in sorted(by_path, key=lambda path: [step.startswith("{") for step in path.split("/")]):
        resource = Resource(by_path[path])
        prefix = _prefix(path)
        inner = path.removeprefix(prefix)
        place = mounted.setdefault(prefix, []) if inner else top
        place.append(_OwnMethods(inner or path, resource, methods=resource.methods))
    order = list(dict.fromkeys(_prefix(route.path) for route in routes))
    mounts = [Mount(prefix, Router(mounted[prefix], redirect_slashes=False)) for prefix in order if prefix in mounted]
    app = _Application(
        routes=[*mounts, *top],
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_exception, Exception: _http_exception},
    )
    app.connections = connections
    app.literal = {path: Resource(rows) for path, rows in by_path.items() if "{" not in path}
    app.router.redirect_slashes = False
    return app


class _Application(Starlette):
    """Starlette, asked only where a path has parameters or no route has it: an endpoint answers for its own faults, and
    passing the layers in front of it costs a small request a tenth of its time."""

    literal: dict[str, Resource]
    connections: Connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        if ENCODED_SLASH.search(scope.get("raw_path") or b""):
            scope = {**scope, "path": "/%2f"}  # a path that no route has
        scope["app"] = self
        address = scope["address"] = address_of(scope, self.connections.trusted_proxies)
        intake = Intake(scope, receive, send)
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


class _OwnMethods(StarletteRoute):
    """A route that answers just the methods of its rows; Starlette adds HEAD to every GET."""

    def __init__(self, path: str, endpoint: Any, *, methods: list[str]) -> None:
        super().__init__(path, endpoint, methods=methods)
        self.methods = set(methods)


def _prefix(path: str) -> str:
    steps = path.split("/")
    return "/".join(steps[:4]) if path.startswith("/api/") else "/".join(steps[:2])


async def _http_exception(request: Request, error: Exception) -> Response:
    """Unknown paths, wrong methods and what no route caught, in the shape of every other refusal."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    kind = {404: problems.NotFound, 405: problems.MethodNotAllowed}.get(status, problems.InternalError)
    headers = error.headers if isinstance(error, HTTPException) else None
    return _refused(kind(headers=dict(headers or {})), request)


def _refused(refusal: Problem, request: Request) -> Response:
    request_id = request_id_of(dict(request.scope["headers"]))
    response = Response(encode(refusal.body(request_id)), refusal.status, media_type="application/json")
    response.raw_headers += [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    response.raw_headers += [
        (b"x-request-id", request_id.encode("ascii")),
        (b"x-content-type-options", b"nosniff"),
        *limit_headers(Verdict("ok"), request.app.state.resources),
    ]
    return response
