"""Endpoints of the console's page and files."""

from __future__ import annotations

import asyncio

from service.console.file_actions import FILES
from service.platform.base.problem import NotFound
from service.platform.route.api import Area, Raw
from service.platform.unit.context import Context
from service.platform.welcome import CONSOLE

area = Area("", tag="docs", in_maintenance=True)  # as the other pages: no part of the API's description


@area.get("/console", access="public", limited=False, media_type="text/plain", status=308)
async def console_home(ctx: Context) -> Raw:
    """Lead to the console: its address ends with a slash."""
    return Raw(b"", "text/plain", [("location", CONSOLE)], status=308)


@area.get("/console/{path:path}", access="public", limited=False, media_type="text/html", errors=(NotFound,))
async def console_file(ctx: Context, path: str) -> Raw:
    """Return the console's page, or a file that belongs to it."""
    known = ctx.headers.get(b"if-none-match", b"").decode("latin-1")
    file = await asyncio.to_thread(FILES.answer, path, known)  # no kernel: it need not wait for those
    if file is None:
        raise NotFound
    return file
