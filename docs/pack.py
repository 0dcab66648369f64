"""The built site as one file: no inline script, no dead link, the same bytes."""

from __future__ import annotations

import hashlib
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

LEFT_OUT: Final = re.compile(r"\.map$|/lunr/|/workers/.*\.map$|^sitemap\.xml|^objects\.inv")
"""What no reader asks for: maps for debuggers, other languages' stemmers, a list for search engines."""

INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)

Files = dict[str, bytes]


def files_of(folder: Path) -> Files:
    """Return the site's files by name.

    A script within a page becomes a file, as the service's policy forbids such scripts.
    """
    files: Files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not LEFT_OUT.search(name):
            files[name] = path.read_bytes()
    for name in [name for name in files if name.endswith(".html")]:
        up = posixpath.relpath(".", posixpath.dirname(name) or ".")
        if name == "404.html":
            del files[name]  # written for the root of a host of its own
            continue
        scripts: Files = {}

        def to_file(match: re.Match[str], up: str = up, scripts: Files = scripts) -> str:
            content = match[1].encode()
            place = f"assets/javascripts/page-{hashlib.sha256(content).hexdigest()[:12]}.js"
            scripts[place] = content
            return f'<script src="{up}/{place}"></script>'

        files[name] = INLINE.sub(to_file, files[name].decode()).encode()
        files |= scripts
    return files


def write(files: Files, out: Path) -> int:
    """Write the files into an archive, wholly or not at all; its size in bytes."""
    aside = out.with_suffix(".new")
    with ZipFile(aside, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = ZipInfo(name)  # with the same time always
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, files[name])
    aside.replace(out)
    return out.stat().st_size


# Links ----------------------------------------------------------------------------------------------------------------


OUTSIDE: Final = frozenset({"/docs", "/redoc", "/openapi.json"})
"""What of the service the pages may point to."""


class _Page(HTMLParser):
    """What a page points to, and what can be pointed to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.runs: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.runs += [name for name in values if name.startswith("on")]
        if tag == "script" and "src" not in values and values.get("type") != "application/json":
            self.runs.append("script")
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in ("canonical", "prev", "next") and "href" in values:
            self.loads.append(values["href"])
        elif "src" in values:
            self.loads.append(values["src"])


def checked(files: Files) -> tuple[list[str], set[str]]:
    """Return (faults, links to other hosts).

    Faults are dead links and anchors, scripts within a page, and what is fetched from other hosts.
    """
    pages = {name: _Page(content.decode()) for name, content in files.items() if name.endswith(".html")}
    faults, outside = [], set()
    for name, page in pages.items():
        faults += [f"{name}: {what} within the page" for what in page.runs]
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    faults.append(f"{name}: fetches {link}")
                outside.add(link)
                continue
            path = urljoin(f"/{name}", parts.path)
            target = (path + "index.html" if path.endswith("/") else path).lstrip("/")
            if link in OUTSIDE:
                continue
            if target not in files:
                faults.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                faults.append(f"{name}: {link} has no such anchor")
    return faults, outside
