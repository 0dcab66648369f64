"""The ASGI app: every area's rows, served."""

from __future__ import annotations

import asyncio
import inspect
import multiprocessing
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.applications import Starlette

import core
from core import warm
from core.confined.child import die_with
from core.confined.kept import keeping_children
from service import guide
from service.formulas.shared import keep_compiled
from service.platform import config
from service.platform.base.problem import NotFound
from service.platform.config import Settings
from service.platform.events.numbers import report_counts
from service.platform.http import application
from service.platform.http.connections import Connections
from service.platform.http.waiting import announcements_of
from service.platform.metrics import REQUESTS_IN_FLIGHT
from service.platform.route import openapi
from service.platform.route.api import Area, Raw, Route
from service.platform.tracing import trace_process
from service.platform.unit.context import Context
from service.platform.work.exposition import expose
from service.platform.work.jobs import table_of
from service.platform.work.process import end, resources
from service.platform.work.sync_fallback import SyncFallback
from service.processes.shared import start_calculators
from service.work import jobs as all_jobs

SWITCH_SECONDS: Final = 0.0005
"""After which a thread that calculates in Python hands the interpreter to one that waits for it. By Python's own 5 ms
three round trips of the event loop beside one such thread take up to 20 ms, so less than 1; the thread does as much."""


def areas() -> list[Area]:
    """Every area, the most called first."""
    from service.activity.routes import area as activity
    from service.admin.routes import area as admin
    from service.ai.routes import area as ai
    from service.alerts.routes import area as alerts
    from service.audit.routes import area as audit
    from service.auth.routes import area as auth
    from service.batches.routes import area as batches
    from service.calculations.routes import area as calculations
    from service.compliance.routes import area as compliance
    from service.compliance.stream_routes import area as streams
    from service.console.overview_routes import area as overview
    from service.deals.routes import area as deals
    from service.dlq.routes import area as dlq
    from service.exports.routes import area as exports
    from service.formulas.routes import area as formulas
    from service.health.home_routes import area as home
    from service.health.metrics_routes import area as metrics
    from service.health.routes import area as health
    from service.insights.routes import area as insights
    from service.jobs.routes import area as jobs
    from service.mappings.routes import area as mappings
    from service.notifications.routes import area as notifications
    from service.readings.routes import area as readings
    from service.reconciliation.routes import area as reconciliation
    from service.reports.routes import area as reports
    from service.scenarios.routes import area as scenarios
    from service.webhooks.routes import area as webhooks
    from service.workbooks.routes import area as workbooks

    working = [calculations, compliance, workbooks, readings, mappings, reconciliation, deals, overview, scenarios]
    working += [batches, formulas, exports, reports, jobs, insights, ai, alerts, notifications, webhooks]
    return [*working, auth, admin, streams, audit, activity, dlq, health, home, metrics]


def routes() -> list[Route]:
    """Every route of the service, with the pages that no client calls.

    The description of the others, the console.
    """
    from service.console.file_routes import area as console

    return [*_rows(), *_reference().routes, *console.routes]


def document() -> dict[str, Any]:
    """The service's OpenAPI document."""
    rows = _rows()
    return openapi.document(
        rows, version=core.__version__, always=application.ANYWHERE, tags=TAGS, examples=examples(rows)
    )


def examples(rows: Iterable[Route]) -> dict[str, openapi.Examples]:
    """The examples of these rows by their names: each area has a file of them."""
    files = sorted({Path(inspect.getfile(row.handler)).with_name("examples.json") for row in rows})
    read = [msgspec.json.decode(file.read_bytes(), type=dict[str, openapi.Examples]) for file in files if file.exists()]
    return {name: example for each in read for name, example in each.items()}


def _rows() -> list[Route]:
    return [route for area in areas() for route in area.routes]


TAGS: Final = {
    "calculations": "Evaluate, check, explain and translate formulas.",
    "compliance": "Run suites of compliance tests, read their results and cushions, set limits, keep the evidence.",
    "batches": "Run a suite on many workbooks at once, and take the results as one file.",
    "workbooks": "Upload, read and recalculate portfolio workbooks.",
    "mappings": "Which header of a workbook means which field of a loan.",
    "reconciliation": "Compare a trustee's tape with a workbook, and work off the differences.",
    "deals": "A deal, its definition, and its tests through the months.",
    "console": "What the first screen of the console shows.",
    "scenarios": "What trades would do to the tests, before they are made.",
    "formulas": "Columns of one's own, built as a graph and written into a workbook.",
    "exports": "Files made of a workbook, signed where asked for.",
    "reports": "Reports of compliance and reconciliation as PDF or workbook.",
    "jobs": "What runs in the background.",
    "insights": "What is worth a look in a portfolio, and questions about it.",
    "assistant": "Questions in plain words.",
    "alerts": "Conditions that are watched, and whom to tell.",
    "notifications": "What a user was told.",
    "webhooks": "Events sent to a URL of one's own, and their deliveries.",
    "auth": "Registration, login, tokens, passwords, two-factor login.",
    "admin": "The tenant, its users, keys, settings and audit log.",
    "activity": "Who did what, for the whole tenant.",
    "dlq": "Work that failed for good: look at it, try it again, close it.",
    "health": "Whether the service runs, and what its operators order.",
    "docs": "This description, and pages that show it.",
}
"""What the routes of each tag are about."""


def create(settings: Settings | None = None) -> Starlette:
    """The application, for an ASGI server to run as a factory."""
    chosen = settings or config.load()
    connections = Connections(chosen)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        sys.setswitchinterval(SWITCH_SECONDS)
        server = multiprocessing.parent_process()
        if server is not None and server.pid is not None:
            die_with(server.pid)  # else it would serve on, and keep the port, with nobody to watch it
        async with (
            resources(chosen) as shared,
            connections.watch(),
            report_counts(shared),
            expose(shared, "api"),
            trace_process(chosen, core.__version__, "api"),
        ):
            REQUESTS_IN_FLIGHT.set_function(connections.requests)
            app.state.resources = shared
            connections.drain_at_sigterm(shared.stopping, chosen.draining_seconds)
            shared.opened[table_of] = all_jobs
            shared.closing.enter_context(keeping_children())
            warm.warm()
            keep_compiled(chosen)
            beside = [
                asyncio.create_task(shared.memory.watch()),
                asyncio.create_task(shared.once(SyncFallback).run(all_jobs())),
                asyncio.create_task(start_calculators(shared)),
                asyncio.create_task(shared.once(announcements_of).run()),
            ]
            try:
                yield {}
            finally:
                await end(beside)

    return application.build(routes(), lifespan, connections, chosen.cors_origins)


@cache
def _description() -> bytes:
    """The document as it is sent.

    Making it takes a quarter of a second, so it waits for the first who asks.
    """
    return msgspec.json.encode(document())


def _reference() -> Area:
    area = Area("", tag="docs")
    making = asyncio.Lock()

    @area.get("/openapi.json", access="public", limited=False)
    async def openapi_json(ctx: Context) -> Raw:
        """This description."""
        async with making:
            content = await asyncio.to_thread(_description)
        return Raw(content, "application/json", constant=True)

    @area.get("/docs", access="public", limited=False, media_type="text/html")
    async def docs(ctx: Context) -> Raw:
        """The description as pages to try it on."""
        return Raw(openapi.SWAGGER_PAGE.encode(), "text/html; charset=utf-8", openapi.PAGE_HEADERS, constant=True)

    @area.get("/redoc", access="public", limited=False, media_type="text/html")
    async def redoc(ctx: Context) -> Raw:
        """The description as a page to read."""
        return Raw(openapi.REDOC_PAGE.encode(), "text/html; charset=utf-8", openapi.PAGE_HEADERS, constant=True)

    @area.get("/docs/assets/{name}", access="public", limited=False, media_type="text/javascript", errors=(NotFound,))
    async def docs_asset(ctx: Context, name: str) -> Raw:
        """A file of those pages."""
        if name == "start.js":
            return Raw(openapi.SWAGGER_START.encode(), "text/javascript")
        content = await ctx.compute(openapi.asset, name)
        if content is None:
            raise NotFound
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return Raw(content, kind, [("cache-control", "public, max-age=86400")], constant=True)

    @area.get("/docs/guide", access="public", limited=False, media_type="text/plain", status=308)
    async def guide_home(ctx: Context) -> Raw:
        """Leads to the guide: its links are relative to a folder."""
        return Raw(b"", "text/plain", [("location", guide.PREFIX)], status=308)

    @area.get("/docs/guide/{path:path}", access="public", limited=False, media_type="text/html", errors=(NotFound,))
    async def guide_page(ctx: Context, path: str) -> Raw:
        """A page of the guide, or a file that belongs to one."""
        known = ctx.headers.get(b"if-none-match", b"").decode("latin-1")
        page = await ctx.compute(guide.answer, path, known)
        if page is None:
            raise NotFound
        return page

    return area
