"""The root address: the console for a browser, what this is for a program."""

from __future__ import annotations

import core
from service.health.schema import Home
from service.platform import welcome
from service.platform.route.api import Area, Raw
from service.platform.unit.context import Context

area = Area("", tag="health", in_maintenance=True)
REDIRECT = 303
"""Not 301 or 308, which browsers keep: the same address answers programs."""


@area.get("/", access="public", limited=False, summary="Show the start page")
async def home(ctx: Context) -> Home | Raw:
    """Say what this is and where to look.

    A browser is redirected to the console.
    """
    ctx.answer_headers.append((b"vary", b"accept"))
    if b"text/html" in ctx.headers.get(b"accept", b"").lower():
        return Raw(b"", "text/plain", [("location", welcome.CONSOLE)], status=REDIRECT)
    links = {path.strip("/").replace("/", "_"): path for path, _ in welcome.LINKS}
    return Home(welcome.NAME, welcome.WHAT, core.__version__, {**links, "openapi": "/openapi.json"})
