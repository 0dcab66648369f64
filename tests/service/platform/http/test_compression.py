"""Which answers go out as gzip, and that they are the same once they are opened.

Over the real service.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import zlib
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from service.console.file_actions import FILES
from service.platform.http import compression
from tests.conftest import Member
from tests.rows import every

GZIP = {"accept-encoding": "gzip"}
PLAIN = {"accept-encoding": "identity"}


@every(
    "asked,takes",
    [
        (b"gzip", True),
        (b"GZIP", True),
        (b"x-gzip", True),
        (b"br, zstd;q=0.9 , gzip ; q=0.5", True),
        (b"*", True),
        (b"*;q=0.1, br", True),
        (b"gzip;q=1.000", True),
        (b"gzip;q=0.5, identity;q=0.5", True),
        (b"", False),
        (b"identity", False),
        (b"br, zstd, deflate", False),
        (b"gzip;q=0", False),
        (b"gzip;q=0.000", False),
        (b"gzip;q=0, *", False),
        (b"*;q=0", False),
        (b"gzip;q=0.1, identity;q=0.9", False),
        (b"gzip;q=none", False),
        (b"gzip;level=9", False),
        (b"gzipped", False),
        (b"," * 100_000 + b"gzip", False),  # nobody's
    ],
)
def test_gzip_is_for_who_takes_it(asked: bytes, takes: bool) -> None:
    assert compression.takes_gzip(asked) is takes


@every(
    "status,media_type,headers,is_compressible",
    [
        (200, "application/json", [], True),
        (422, "application/json", [], True),
        (200, "text/csv; charset=utf-8", [], True),
        (200, "application/jsonl", [], True),
        (200, "application/problem+json", [], True),
        (200, "text/event-stream", [], False),
        (200, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", [], False),
        (200, "application/pdf", [], False),
        (200, "application/zip", [], False),
        (200, "application/octet-stream", [], False),
        (200, "", [], False),
        (204, "application/json", [], False),
        (206, "text/csv", [], False),
        (304, "text/csv", [], False),
        (200, "text/csv", [(b"accept-ranges", b"bytes")], False),
        (200, "text/csv", [(b"content-encoding", b"gzip")], False),
        (200, "application/json", [(b"etag", b'"7"')], False),
        (200, "text/html", [(b"etag", b'W/"7"')], True),
    ],
)
def test_what_is_text_and_whole_may_be_compressed(
    status: int, media_type: str, headers: list[tuple[bytes, bytes]], is_compressible: bool
) -> None:
    assert compression.is_compressible(status, media_type, headers) is is_compressible


def test_it_opens_to_the_same_bytes_large_or_small_whole_or_in_parts() -> None:
    async def parts(content: bytes, size: int) -> AsyncGenerator[bytes, None]:
        for start in range(0, len(content), size):
            yield content[start : start + size]

    async def all_ways() -> None:
        for content in (b"", b"x" * 1024, os.urandom(compression.AT_ONCE_BYTES + 1), b"ab" * 1_000_000):
            for constant in (False, True):
                assert gzip.decompress(await compression.gzip_bytes(content, constant=constant)) == content
            for size in (1000, 300_000):
                squeezed = b"".join([part async for part in compression.gzip_chunks(parts(content[:600_000], size))])
                assert zlib.decompress(squeezed, 31) == content[:600_000]

    asyncio.run(all_ways())


def test_what_breaks_off_ends_without_the_end_of_a_gzip_file_and_closes_what_made_it() -> None:
    closed = []

    async def breaking() -> AsyncGenerator[bytes, None]:
        try:
            yield b"x" * 300_000
            raise OSError
        finally:
            closed.append(True)

    async def read() -> bytes:
        got = b""
        try:
            async for part in compression.gzip_chunks(breaking()):
                got += part
        except OSError:
            return got
        raise AssertionError("it ended well")

    opener = zlib.decompressobj(31)
    opener.decompress(asyncio.run(read()))
    assert (opener.eof, closed) == (False, [True])


# Over the wire -------------------------------------------------------------------------------------------------------


def raw(member: Member, path: str, headers: dict[str, str]) -> tuple[httpx.Response, bytes]:
    with member.http.stream("GET", path, headers=headers) as answer:
        return answer, b"".join(answer.iter_raw())


@every(
    "path",
    [
        "/openapi.json",
        "/api/v1/calculations/functions",
        "/docs/assets/swagger-ui.css",
        f"/console/{FILES.files().hash}/app.js",
    ],
)
def test_an_answer_above_a_kilobyte_is_small_over_the_wire_and_says_so(shared_owner: Member, path: str) -> None:
    plain, whole = raw(shared_owner, path, PLAIN)
    answer, squeezed = raw(shared_owner, path, GZIP)
    assert len(whole) >= 1024
    assert (plain.status_code, answer.status_code) == (200, 200)
    assert (plain.headers.get("content-encoding"), answer.headers.get("content-encoding")) == (None, "gzip")
    for lines in (plain, answer):
        assert "accept-encoding" in ",".join(lines.headers.get_list("vary")).lower()
    assert gzip.decompress(squeezed) == whole
    assert int(answer.headers["content-length"]) == len(squeezed) < len(whole) * 0.6


def test_what_is_made_while_it_is_sent_is_squeezed_meanwhile(shared_owner: Member) -> None:
    path = "/api/v1/admin/audit-logs/export?format=jsonl"
    before = raw(shared_owner, path, PLAIN)[1].splitlines()
    answer, squeezed = raw(shared_owner, path, GZIP)
    assert (answer.headers["content-encoding"], answer.headers.get("content-length")) == ("gzip", None)
    assert gzip.decompress(squeezed).splitlines()[: len(before)] == before


def test_small_answers_and_secrets_stay_as_they_are(shared_owner: Member) -> None:
    small, _ = raw(shared_owner, "/health", GZIP)
    assert "content-encoding" not in small.headers
    assert "vary" not in small.headers
    again = shared_owner.post("/api/v1/auth/refresh", json={"refresh_token": shared_owner.tokens["refresh_token"]})
    shared_owner.tokens = again.json()
    shared_owner.http.headers["authorization"] = f"Bearer {again.json()['access_token']}"
    assert "content-encoding" not in again.headers


def test_a_version_is_told_as_it_is_whatever_the_caller_takes(owner: Member) -> None:
    columns = {f"Column {number} of the sheet": {"target": f"own_{number}"} for number in range(40)}
    body: dict[str, Any] = {"name": "Wide", "source_type": "clo_holdings", "mappings": columns}
    response = owner.post("/api/v1/mappings", json=body)
    assert response.status_code == 201, response.text
    answer, content = raw(owner, f"/api/v1/mappings/{response.json()['id']}", GZIP)
    assert len(content) >= 1024
    assert (answer.headers["etag"], answer.headers.get("content-encoding")) == ('"1"', None)
