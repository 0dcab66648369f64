"""The guide: pages and what belongs to them, served from one archive without the internet.

Every wheel has the archive (setup.py), and so has the image; `make setup` and `make docs` build it
among the sources.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from service.platform.route.api import Raw
from service.platform.route.openapi import PAGE_HEADERS

ARCHIVE: Final = Path(__file__).with_name("guide.zip")
PREFIX: Final = "/docs/guide/"

NOT_BUILT: Final = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cushion guide</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"></head>
<body><h1>The guide is not built here</h1>
<p>Every package and image of Cushion has it; this service runs from a folder of sources. There <code>make docs</code>
builds it in some seconds. Load this page again then: the service need not be started anew.</p>
<p><a href="/docs">The API to try</a>, <a href="/redoc">the API to read</a></p></body></html>"""

TYPES: Final = {
    ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
    ".json": "application/json", ".svg": "image/svg+xml; charset=utf-8", ".png": "image/png",
}  # fmt: skip

UNCHANGING: Final = re.compile(r"[.-][0-9a-f]{8,}\.(?:min\.)?(?:js|css)$")
"""Files whose names tell their content."""

KEPT, ASKED = "public, max-age=31536000, immutable", "no-cache"
NOT_KEPT: Final = [("cache-control", "no-store"), *PAGE_HEADERS]


def answer(path: str, known: str, archive: Path = ARCHIVE) -> Raw | None:
    """The answer for a path below the prefix, None where nothing is there.

    `known` is what If-None-Match says.
    """
    try:
        changed = archive.stat()
    except FileNotFoundError:
        is_page = not path or path.endswith("/")  # refusals lead to one, too: no link of the service leads nowhere
        return Raw(NOT_BUILT, "text/html; charset=utf-8", NOT_KEPT) if is_page else None
    opened, places = _opened(archive, (changed.st_ino, changed.st_mtime_ns))
    name = path + "index.html" if path.endswith("/") or not path else path
    if name not in places:
        if f"{name}/index.html" not in places:
            return None
        return Raw(b"", "text/plain", [("location", f"{PREFIX}{name}/")], status=308)
    kind, tag = TYPES.get(Path(name).suffix, "application/octet-stream"), places[name]
    headers = [("etag", tag), ("cache-control", KEPT if UNCHANGING.search(name) else ASKED), *PAGE_HEADERS]
    if {part.strip().removeprefix("W/") for part in known.split(",")} & {"*", tag.removeprefix("W/")}:
        return Raw(b"", kind, [*headers, ("vary", "accept-encoding")], status=304)
    return Raw(opened.read(name), kind, headers, constant=True)


@lru_cache(maxsize=1)
def _opened(archive: Path, changed: tuple[int, int]) -> tuple[ZipFile, dict[str, str]]:
    """The archive and its files' tags, opened again after a new build."""
    opened = ZipFile(archive)
    return opened, {info.filename: f'W/"{info.CRC:08x}-{info.file_size:x}"' for info in opened.infolist()}
