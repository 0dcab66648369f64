"""The ASGI app: every area's rows, served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette

import core
from core import warm
from service.platform import config
from service.platform.config import Settings
from service.platform.context import Context
from service.platform.http import application, openapi
from service.platform.http.api import Area, Raw, Route
from service.platform.http.connections import Connections
from service.platform.http.problem import NotFound
from service.platform.work.event_numbers import telling
from service.platform.work.process import resources


def areas() -> list[Area]:
    """Every area, the most called first."""
    from service.activity.routes import area as activity
    from service.admin.routes import area as admin
    from service.ai.routes import area as ai
    from service.alerts.routes import area as alerts
    from service.audit.routes import area as audit
    from service.auth.routes import area as auth
    from service.calculations.routes import area as calculations
    from service.compliance.routes import area as compliance
    from service.compliance.stream_routes import area as streams
    from service.deals.routes import area as deals
    from service.exports.routes import area as exports
    from service.formulas.routes import area as formulas
    from service.health.routes import area as health
    from service.insights.routes import area as insights
    from service.mappings.routes import area as mappings
    from service.notifications.routes import area as notifications
    from service.reconciliation.routes import area as reconciliation
    from service.reports.routes import area as reports
    from service.scenarios.routes import area as scenarios
    from service.webhooks.routes import area as webhooks
    from service.workbooks.routes import area as workbooks

    working = [calculations, compliance, workbooks, mappings, reconciliation, deals, scenarios, formulas]
    working += [exports, reports, insights, ai, alerts, notifications, webhooks]
    return [*working, auth, admin, streams, audit, activity, health]


def routes() -> list[Route]:
    """Every route of the service, the description of the others included."""
    rows = [route for area in areas() for route in area.routes]
    description = msgspec.json.encode(openapi.document(rows, version=core.__version__, always=application.ANYWHERE))
    return [*rows, *_reference(description).routes]


def create(settings: Settings | None = None) -> Starlette:
    """The application, for an ASGI server to run as a factory."""
    chosen = settings or config.load()
    connections = Connections(chosen)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with resources(chosen) as shared, connections.watched(), telling(shared):
            app.state.resources = shared
            warm.warm()
            watching = asyncio.create_task(shared.memory.watch())
            try:
                yield {}
            finally:
                watching.cancel()

    return application.build(routes(), lifespan, connections)


def _reference(description: bytes) -> Area:
    area = Area("", tag="docs")

    @area.get("/openapi.json", access="public", limited=False)
    async def openapi_json(ctx: Context) -> Raw:
        """This description."""
        return Raw(description, "application/json")

    @area.get("/docs", access="public", limited=False, media_type="text/html")
    async def docs(ctx: Context) -> Raw:
        """The description as pages to try it on."""
        return Raw(openapi.SWAGGER_PAGE.encode(), "text/html; charset=utf-8", openapi.PAGE_HEADERS)

    @area.get("/redoc", access="public", limited=False, media_type="text/html")
    async def redoc(ctx: Context) -> Raw:
        """The description as a page to read."""
        return Raw(openapi.REDOC_PAGE.encode(), "text/html; charset=utf-8", openapi.PAGE_HEADERS)

    @area.get("/docs/assets/{name}", access="public", limited=False, media_type="text/javascript", errors=(NotFound,))
    async def docs_asset(ctx: Context, name: str) -> Raw:
        """A file of those pages."""
        if name == "start.js":
            return Raw(openapi.SWAGGER_START.encode(), "text/javascript")
        content = await ctx.compute(openapi.asset, name)
        if content is None:
            raise NotFound
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return Raw(content, kind, [("cache-control", "public, max-age=86400")])

    return area
