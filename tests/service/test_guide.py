"""The guide as the service shows it.

Files of one archive and nothing else, their types and tags.
"""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from service import guide
from service.platform.route.api import Raw
from tests.conftest import Stack

FILES = {
    "index.html": b"<p>home</p>",
    "errors/index.html": b"<p>errors</p>",
    "assets/bundle.0123abcd.min.js": b"1",
    "assets/favicon.svg": b"<svg/>",
    "search/search_index.json": b"{}",
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "guide.zip"
    with ZipFile(path, "w") as written:
        for name, content in FILES.items():
            written.writestr(name, content)
    return path


def asked(path: str, archive: Path, known: str = "") -> tuple[int, str, dict[str, str], bytes] | None:
    raw: Raw | None = guide.answer(path, known, archive)
    return raw and (raw.status or 200, raw.media_type, dict(raw.headers), raw.content)


def test_a_page_is_its_folders_and_a_file_has_its_type(archive: Path) -> None:
    for path, name, kind, kept in (
        ("", "index.html", "text/html; charset=utf-8", False),
        ("errors/", "errors/index.html", "text/html; charset=utf-8", False),
        ("assets/bundle.0123abcd.min.js", None, "text/javascript; charset=utf-8", True),
        ("assets/favicon.svg", None, "image/svg+xml; charset=utf-8", False),
        ("search/search_index.json", None, "application/json", False),
    ):
        answer = asked(path, archive)
        assert answer is not None
        status, lines, headers, content = answer
        assert (status, lines, content) == (200, kind, FILES[name or path])
        assert headers["cache-control"] == (guide.KEPT if kept else guide.ASKED)
        assert headers["content-security-policy"].startswith("default-src 'self'; ")
        for known in (headers["etag"], f'"x", {headers["etag"]}', headers["etag"].removeprefix("W/"), "*"):
            again = asked(path, archive, known)
            assert again is not None
            assert (again[0], again[3], again[2]["etag"]) == (304, b"", headers["etag"])
            assert again[2]["vary"] == "accept-encoding", "as the answer that it stands for"
        assert (asked(path, archive, '"x"') or [0])[0] == 200
    assert asked("errors", archive) == (308, "text/plain", {"location": "/docs/guide/errors/"}, b"")


@pytest.mark.parametrize(
    "path",
    ["../guide.py", "errors/../index.html", "/etc/passwd", "//x/", "x", "errors//", "assets", "a\0b", "é" * 5000],
)
def test_nothing_else_is_there(archive: Path, path: str) -> None:
    assert asked(path, archive) is None


def test_one_that_was_built_anew_is_shown_and_one_that_was_not_says_how(archive: Path) -> None:
    assert (asked("", archive) or [b""])[-1] == b"<p>home</p>"
    second = archive.with_name("other")
    with ZipFile(second, "w") as written:
        written.writestr("index.html", b"<p>new</p>")
    second.replace(archive)
    assert (asked("", archive) or [b""])[-1] == b"<p>new</p>"
    archive.unlink()
    status, _, headers, content = asked("", archive) or (0, "", {}, b"")
    assert (status, headers["cache-control"], b"make docs" in content) == (200, "no-store", True)
    assert asked("errors/", archive) == asked("", archive), "a refusal's link leads here"
    assert asked("assets/favicon.svg", archive) is None


def test_it_is_served_under_docs(stack: Stack) -> None:
    with httpx.Client(base_url=stack.url) as client:
        moved = client.get("/docs/guide")
        assert (moved.status_code, moved.headers["location"]) == (308, "/docs/guide/")
        home = client.get("/docs/guide/")
        assert home.status_code == 200
        assert home.headers["content-type"] == "text/html; charset=utf-8"
        head = client.head("/docs/guide/")
        assert (head.status_code, head.content) == (home.status_code, b"")
        for path in ("%2e%2e/%2e%2e/app.py", "..%2fapp.py", "%00", "nothing/here.js"):
            assert client.get(f"/docs/guide/{path}").status_code == 404
        assert "/docs/guide/" in client.get("/docs").text
        if guide.ARCHIVE.exists():
            known = client.get("/docs/guide/", headers={"If-None-Match": home.headers["etag"]})
            assert (known.status_code, known.content) == (304, b"")


LINK = re.compile(r'(?:href|src|spec-url)="(/[^"]*)"')


def test_no_link_of_the_service_leads_nowhere(stack: Stack) -> None:
    """Those of its own pages and of its refusals, whether the guide was built here or not."""
    with httpx.Client(base_url=stack.url, follow_redirects=True) as client:
        pages = {path: client.get(path, headers={"Accept": "text/html"}).text for path in ("/", "/docs", "/redoc")}
        links = {link for text in pages.values() for link in LINK.findall(text)}
        assert {"/docs/guide/", "/docs", "/redoc", "/openapi.json"} <= links
        for path in ("/api/v1/deals", "/nowhere", "/api/v1/workbooks/not-an-id"):
            refusal = client.get(path)
            assert refusal.status_code >= 400
            links.add(refusal.json()["help"])
        faults = {link: answer.status_code for link in links if (answer := client.get(link)).status_code != 200}
        assert faults == {}
        # The paragraph of a refusal is there by its name, where the guide is.
        text = client.get(refusal.json()["help"]).text
        anchor = refusal.json()["help"].partition("#")[2]
        assert f'id="{anchor}"' in text if guide.ARCHIVE.exists() else "make docs" in text
