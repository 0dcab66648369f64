"""A file is answered whole or as the one range that is asked for, under a name that a client takes for nothing else."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from service.platform.base.problem import RangeNotSatisfiable
from service.platform.http.files import CHUNK_BYTES, disposition, file_answer
from service.platform.route.api import Streamed
from tests.rows import every

CONTENT = bytes(range(256)) * (CHUNK_BYTES // 256 * 2) + b"the end"
SIZE = len(CONTENT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(CONTENT)
    return tmp_path / "file"


def answered(path: Path, **headers: str) -> Streamed:
    input_value = {name.replace("_", "-").encode(): value.encode("latin-1") for name, value in headers.items()}
    return file_answer(input_value, path, size_bytes=SIZE, tag="abc", name="a.pdf", kind="application/pdf")


async def _read(answer: Streamed) -> bytes:
    return b"".join([chunk async for chunk in answer.chunks])


PARTS = [
    ("bytes=0-0", 0, 1),
    ("bytes=0-99", 0, 100),
    ("bytes=100-", 100, SIZE),
    ("bytes=-7", SIZE - 7, SIZE),
    ("bytes=-999999999999999999", 0, SIZE),
    (f"bytes={SIZE - 1}-999999999999999999", SIZE - 1, SIZE),
    (f"bytes={CHUNK_BYTES - 1}-{CHUNK_BYTES}", CHUNK_BYTES - 1, CHUNK_BYTES + 1),
    ("BYTES= 1-2 ", 1, 3),
]
WHOLE = ["", "bytes=", "bytes=-", "bytes=2-1", "bytes=0-1,5-6", "items=0-1", "bytes=a-b", "bytes=0x1-2", "bytes=+1-2",
         "bytes=1-9999999999999999999", "bytes=٣-4"]  # fmt: skip


@every("asked, start, stop", PARTS)
def test_a_part(path: Path, asked: str, start: int, stop: int) -> None:
    answer = answered(path, range=asked)
    headers = dict(answer.headers)
    assert answer.status == 206
    assert headers["content-range"] == f"bytes {start}-{stop - 1}/{SIZE}"
    assert headers["content-length"] == str(stop - start)
    assert asyncio.run(_read(answer)) == CONTENT[start:stop]


@every("asked", WHOLE)
def test_what_is_no_single_range_is_answered_whole(path: Path, asked: str) -> None:
    headers = {b"range": asked.encode()} if asked else {}
    answer = file_answer(headers, path, size_bytes=SIZE, tag="abc", name="a", kind="text/csv")
    actual_headers = dict(answer.headers)
    assert (answer.status, actual_headers["content-length"], actual_headers["etag"]) == (200, str(SIZE), '"abc"')
    assert (actual_headers["accept-ranges"], "content-range" in actual_headers) == ("bytes", False)
    assert asyncio.run(_read(answer)) == CONTENT


@every("asked", [f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 1}", "bytes=-0", "bytes=999999999999999999-"])
def test_what_lies_behind_the_end_is_refused_with_the_size(path: Path, asked: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as refused:
        answered(path, range=asked)
    assert refused.value.headers == {"Content-Range": f"bytes */{SIZE}"}


@every("tag, status", [('"abc"', 206), (' "abc" ', 206), ('"abd"', 200), ('W/"abc"', 200), ("abc", 200),
                       ("Wed, 21 Oct 2015 07:28:00 GMT", 200)])  # fmt: skip
def test_a_part_is_for_whoever_has_the_rest_of_these_bytes(path: Path, tag: str, status: int) -> None:
    assert answered(path, range="bytes=5-", if_range=tag).status == status


def test_a_file_that_shrinks_breaks_the_answer_off(path: Path) -> None:
    answer = answered(path)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(OSError, match="shorter"):
        asyncio.run(_read(answer))


NAMES = ["a.pdf", "März 2026 – Überblick.xlsx", 'with "quotes".csv', "back\\slash", "../../etc/passwd", "100%.pdf",
         "a;b.pdf", "line\r\nSet-Cookie: x=1", "日本語.xlsx", "it's.pdf", "", "%41.pdf", "x" * 255]  # fmt: skip


@every("name", NAMES)
def test_a_name_is_told_to_old_clients_and_to_new_ones(name: str) -> None:
    header = disposition(name)
    assert header.isascii()
    assert header.isprintable()
    parts = re.fullmatch(r"""attachment; filename="([^"\\/%]*)"(?:; filename\*=UTF-8''([\w.%~-]+))?""", header)
    assert parts is not None, header
    wanted = name.translate({ord(sign): "_" for sign in "\\/\r\n"})
    assert len(parts[1]) == len(wanted)
    assert (unquote(parts[2], errors="strict") if parts[2] else parts[1]) == wanted
