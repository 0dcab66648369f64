"""The front page."""

from __future__ import annotations

import re

import msgspec

import core
from service.platform import welcome
from service.platform.context import Context
from service.platform.http.api import Area, Raw

area = Area("", tag="health", in_maintenance=True)
_JSON = re.compile(rb"application/(\w+\+)?json", re.IGNORECASE)


@area.get("/", access="public", limited=False, media_type="text/html", also_media=("application/json",))
async def home(ctx: Context) -> Raw:
    """What this is and where to look: a page, or JSON for who accepts that and no HTML."""
    asked = ctx.headers.get(b"accept", b"")
    if _JSON.search(asked) and b"text/html" not in asked.lower():
        told = {"name": "Cushion", "description": welcome.WHAT, "version": core.__version__}
        links = {path.strip("/").replace("/", "_"): path for path, _ in welcome.LINKS}
        content = msgspec.json.encode({**told, "links": {**links, "openapi": "/openapi.json"}})
        return Raw(content, "application/json", [("vary", "accept")])
    url = welcome.address(ctx.settings.host, ctx.settings.port)
    content = welcome.page(url, core.__version__, embedded=ctx.settings.embedded)
    return Raw(content, "text/html; charset=utf-8", welcome.HEADERS, constant=True)
