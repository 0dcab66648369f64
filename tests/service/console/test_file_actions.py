"""The console's files.

One address for all of them, and limits on what a browser has to load.
"""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest
import structlog

from service.console.file_actions import CHECK_FIRST, FILES, FOLDER, KEEP, POLICY, Console
from service.platform.route.api import Raw

CONTENTS = {
    "index.html": b'<script type="module" src="{{base}}/app.js"></script><link href="{{base}}/console.css">',
    "app.js": b"import './parts/table.js';  // a remark",
    "console.css": b"body { margin: 0px; }",
    "parts/table.js": b"export function Table(rows) {\n  return html`<b>\n    ${rows}</b>`;\n}",
    "icon.svg": b"<svg/>",
    "manifest.webmanifest": b"{}",
    "vendor/preact.js": b"1;",
}
SERVED = {
    "app.js": b'import"./parts/table.js"',
    "console.css": b"body{margin:0}",
    "parts/table.js": b"export function Table(e){return html`<b>${e}</b>`}",
}
"""Modules and styles are minified; what is vendored is already."""
OTHERS = {
    "file_routes.py": b"",
    "examples.json": b"{}",
    "vendor/LICENSES.txt": b"MIT",
    "__pycache__/file_routes.cpython-312.pyc": b"",
    "parts/notes.html": b"",
    "parts/table.js~": b"",
}

TOTAL_BYTES_MAX = 120_000
VENDOR_BYTES_MAX = 50_000
"""Of `gzip -9`."""
SCREEN_LINES_MAX = 250


@pytest.fixture
def console(tmp_path: Path) -> Console:
    for name, content in {**CONTENTS, **OTHERS}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return Console(tmp_path)


def asked(console: Console, path: str, known: str = "") -> Raw:
    answer = console.answer(path, known)
    assert answer is not None
    return answer


def test_modules_that_cannot_be_joined_are_served_as_they_are_and_that_is_logged(console: Console) -> None:
    with structlog.testing.capture_logs() as lines:
        files = console.files()
    assert set(SERVED) <= set(files.others)
    reason = "app.js imports or exports in another way than the console's modules do"
    assert lines == [{"event": "console.not_joined", "log_level": "warning", "reason": reason}]


def test_the_page_names_the_folder_of_the_other_files(console: Console) -> None:
    page, folder = asked(console, ""), console.files().hash
    base = f"/console/{folder}".encode()
    assert page.content == CONTENTS["index.html"].replace(b"{{base}}", base)
    assert page.media_type == "text/html; charset=utf-8"
    headers = dict(page.headers)
    assert headers["cache-control"] == CHECK_FIRST[1] == "no-cache"
    for known in (headers["etag"], f'"x", {headers["etag"]}', headers["etag"].removeprefix("W/"), "*"):
        again = asked(console, "", known)
        assert (again.status, again.content, dict(again.headers)["etag"]) == (304, b"", headers["etag"])
    assert asked(console, "", '"x"').status is None


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("app.js", "text/javascript; charset=utf-8"),
        ("parts/table.js", "text/javascript; charset=utf-8"),
        ("vendor/preact.js", "text/javascript; charset=utf-8"),
        ("console.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml; charset=utf-8"),
        ("manifest.webmanifest", "application/manifest+json"),
    ],
)
def test_a_file_is_kept_for_a_year(console: Console, name: str, media_type: str) -> None:
    file = asked(console, f"{console.files().hash}/{name}")
    assert (file.content, file.media_type) == (SERVED.get(name, CONTENTS[name]), media_type)
    assert KEEP in file.headers
    assert KEEP[1] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("path", ["", "app.js"])
def test_every_answer_has_the_policy(console: Console, path: str) -> None:
    headers = dict(asked(console, f"{console.files().hash}/{path}" if path else "").headers)
    assert headers["content-security-policy"] == POLICY
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"


def test_the_policy_permits_nothing_inline_and_no_other_origin() -> None:
    rules = dict(rule.partition(" ")[::2] for rule in POLICY.split("; "))
    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


@pytest.mark.parametrize(
    "name", [*OTHERS, "index.html", "", "parts", "../app.py", "parts/../app.js", "/app.js", "a\0b"]
)
def test_nothing_else_is_there(console: Console, name: str) -> None:
    assert console.answer(f"{console.files().hash}/{name}") is None


@pytest.mark.parametrize("path", ["app.js", "/app.js", "0123456789abcdef/app.js", "..", "%2e%2e", "é" * 5000])
def test_an_unknown_folder_has_nothing(console: Console, path: str) -> None:
    assert console.answer(path) is None


def test_a_changed_file_changes_the_address_of_all(console: Console, tmp_path: Path) -> None:
    before = console.files().hash
    etag = dict(asked(console, "").headers)["etag"]
    (tmp_path / "parts/table.js").write_bytes(b"export const x=1")
    page = asked(console, "", etag)
    after = console.files().hash
    assert after != before
    assert (page.status, f"/console/{after}/app.js".encode() in page.content) == (None, True)
    assert console.answer(f"{before}/app.js") is None
    assert asked(console, f"{after}/parts/table.js").content == b"export const x=1"


def test_a_process_that_began_before_a_change_finds_the_new_files(console: Console, tmp_path: Path) -> None:
    console.files()
    (tmp_path / "app.js").write_bytes(b"new;")  # no JavaScript: as it is
    assert asked(console, f"{Console(tmp_path).files().hash}/app.js").content.count(b"new;") == 1


def test_the_address_depends_on_names_and_contents_alone(console: Console, tmp_path: Path) -> None:
    before = console.files().hash
    os.utime(tmp_path / "app.js", (1, 1))
    assert console.files().hash == before
    (tmp_path / "app.js").rename(tmp_path / "main.js")
    assert console.files().hash != before


def test_the_console_is_small() -> None:
    sizes = {name: len(gzip.compress(content, 9)) for name, content in FILES.files().others.items()}
    sizes["index.html"] = len(gzip.compress((FOLDER / "index.html").read_bytes(), 9))
    assert sum(sizes.values()) <= TOTAL_BYTES_MAX, sizes
    vendor = {name: size for name, size in sizes.items() if name.startswith("vendor/")}
    assert sum(vendor.values()) <= VENDOR_BYTES_MAX, vendor


def test_a_screen_is_short() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in (FOLDER / "screens").glob("*.js")}
    assert {name: count for name, count in lengths.items() if count > SCREEN_LINES_MAX} == {}


def test_minified_declarations_keep_their_order(tmp_path: Path) -> None:
    lines = ["const names = files(1);", "const first = names(2);", "const [chosen, choose] = state(first, 3);"]
    (tmp_path / "index.html").write_text("{{base}}")
    (tmp_path / "app.js").write_text(
        "export function f() {\n  " + "\n  ".join(lines) + "\n  return [chosen, choose];\n}"
    )
    served = Console(tmp_path).files().others["app.js"].decode()
    assert re.findall(r"\d", served) == ["1", "2", "3"]
