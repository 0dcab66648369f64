"""The files of the console, under one address that changes whenever one of them does."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import minify  # type: ignore[import-untyped]  # no stubs
import structlog

from service.console.join_actions import VENDOR, join_modules
from service.console.script_actions import Script
from service.platform.route.api import Raw
from service.platform.welcome import CONSOLE

log = structlog.get_logger()

FOLDER: Final = Path(__file__).parent
PAGE: Final = "index.html"
BASE: Final = b"{{base}}"
"""What stands in the page for the folder of all other files."""
HASH_LENGTH: Final = 16

TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
"""The files that a browser may load; nothing else of the folder is served."""

MINIFIED: Final = {".js": "application/javascript", ".css": "text/css"}
SPACES: Final = re.compile(r"(?<=[>}])\n *(?=[<$])|(?<=\n) +")
"""In the markup of templates, where an end of line between elements and the begin of any line say nothing."""
PATTERNS: Final = re.compile(r"\bconst\s*(?=[\[{])")
"""Destructuring declarations. The minifier puts the first of a run of `const` before what it reads, and `let` where it
stands."""

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Nothing inline, nothing of another origin, and no text ever becomes markup or code."""
HEADERS: Final = (
    ("content-security-policy", POLICY),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
)
CHECK_FIRST: Final = ("cache-control", "no-cache")
KEEP: Final = ("cache-control", "public, max-age=31536000, immutable")

Signature = tuple[tuple[str, int, int], ...]
"""Name, time of change and size of each file."""


@dataclass(frozen=True, slots=True)
class Files:
    """The console's files at one moment."""

    hash: str
    page: bytes
    others: dict[str, bytes]


class Console:
    """The files of a folder as they are served; read again once one of them has changed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._signature: Signature = ()
        self._files = Files("", b"", {})

    def answer(self, path: str, known: str = "") -> Raw | None:
        """Return the page for an empty path, a file for `<hash>/name`, None for any other.

        `known`: the header If-None-Match. Files are looked at for the page and for an unknown hash only, so that the
        fifty modules behind a page cost one look.
        """
        if not path:
            return _page(self.files(), known)
        hashed, _, name = path.partition("/")
        files = self._files if hashed == self._files.hash else self.files()
        if hashed != files.hash or name not in files.others:
            return None
        return Raw(files.others[name], TYPES[Path(name).suffix], (KEEP, *HEADERS), constant=True)

    def files(self) -> Files:
        """The files as they are now."""
        signature = tuple(sorted(_signature(self._folder)))
        if signature != self._signature:
            self._files, self._signature = _read(self._folder, signature), signature
        return self._files


FILES: Final = Console()


def _page(files: Files, known: str) -> Raw:
    tag = f'W/"{files.hash}"'
    headers = (("etag", tag), CHECK_FIRST, *HEADERS)
    asked = {part.strip().removeprefix("W/") for part in known.split(",")}
    if asked & {"*", tag.removeprefix("W/")}:
        return Raw(b"", "text/html; charset=utf-8", (*headers, ("vary", "accept-encoding")), status=304)
    return Raw(files.page, "text/html; charset=utf-8", headers, constant=True)


def _signature(folder: Path) -> Iterator[tuple[str, int, int]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name == PAGE or path.suffix in TYPES:
            stored_file = path.stat()
            yield name, stored_file.st_mtime_ns, stored_file.st_size


def _read(folder: Path, signature: Signature) -> Files:
    sources = _joined({name: (folder / name).read_bytes() for name, _, _ in signature})
    contents = {name: _minified(name, content) for name, content in sources.items()}
    digest = hashlib.sha256()
    for name, content in contents.items():
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    hashed = digest.hexdigest()[:HASH_LENGTH]
    page = contents.pop(PAGE).replace(BASE, f"{CONSOLE}{hashed}".encode())
    return Files(hashed, page, contents)


def _joined(sources: dict[str, bytes]) -> dict[str, bytes]:
    """The files with their modules joined, or as they are where that cannot be.

    The browser says what is wrong.
    """
    modules = {name for name in sources if name.endswith(".js") and not name.startswith(VENDOR)}
    try:
        files = join_modules({name: sources[name].decode() for name in modules})
    except ValueError as error:
        log.warning("console.not_joined", reason=str(error))
        return sources
    rest = {name: content for name, content in sources.items() if name not in modules}
    return rest | {name: text.encode() for name, text in files.items()}


def _minified(name: str, content: bytes) -> bytes:
    """A module or style sheet without what only people read.

    A vendored one is minified already.

    What cannot be read as one is given as it is: the browser says what is wrong with it.
    """
    kind = MINIFIED.get(Path(name).suffix)
    if kind is None or name.startswith(VENDOR):
        return content
    try:
        text = content.decode()
        minified: str = minify.string(kind, text if kind == MINIFIED[".css"] else _prepared(text))
        return minified.encode()
    except (minify.MinifyError, ValueError):
        return content


def _prepared(text: str) -> str:
    """A module for the minifier, which leaves the texts of templates as they are."""
    squeezed = Script(text).replace_markup(SPACES, lambda _: "")
    return Script(squeezed).replace_code(PATTERNS, lambda _: "let ")
