"""A file as an answer: the whole of it, or one range (RFC 9110, 14)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

from service.platform.base.problem import RangeNotSatisfiable
from service.platform.route.api import Streamed

CHUNK_BYTES: Final = 256 * 1024
"""Read and sent at a time: what a slow client keeps in memory."""
_ONE_RANGE: Final = re.compile(rb"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)
_NOT_PLAIN: Final = re.compile(r"[^ !#$&+.0-9=@A-Z^_`a-z{}~()\[\],-]")
"""What a quoted name in ASCII would have to escape, or a client could take for an escape, a path or a list."""


def file_answer(
    headers: Mapping[bytes, bytes], path: Path, *, size_bytes: int, tag: str, name: str, kind: str
) -> Streamed:
    """Return an answer with a file as an attachment.

    Args:
        headers: the request's.
        tag: of the file's present bytes: another file has another one.
        kind: its media type.

    Raises:
        RangeNotSatisfiable: a range is asked for that begins behind the file's end.
    """
    asked = _range(headers, size_bytes, b'"%b"' % tag.encode())
    start, stop = asked or (0, size_bytes)
    answer_headers = [
        ("accept-ranges", "bytes"),
        ("cache-control", "no-store"),
        ("content-disposition", disposition(name)),
        ("content-length", str(stop - start)),
        ("etag", f'"{tag}"'),
    ]
    if asked is not None:
        answer_headers.append(("content-range", f"bytes {start}-{stop - 1}/{size_bytes}"))
    return Streamed(_chunks(path, start, stop), kind, answer_headers, status=200 if asked is None else 206)


def disposition(name: str) -> str:
    """Return the Content-Disposition of a download of that name (RFC 6266)."""
    name = re.sub(r"[\x00-\x1f\x7f/\\]", "_", name)
    plain = _NOT_PLAIN.sub("_", name)
    extended = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'attachment; filename="{plain}"{extended}'


def _range(headers: Mapping[bytes, bytes], size_bytes: int, tag: bytes) -> tuple[int, int] | None:
    """Return the first byte asked for and the one behind the last; None for all.

    The whole is also for whoever has a part of other bytes (If-Range), asks for several ranges, or in no way that is
    known.
    """
    match = _ONE_RANGE.fullmatch(headers.get(b"range", b""))
    if match is None or headers.get(b"if-range", tag).strip() != tag or not (match[1] or match[2]):
        return None
    if not match[1]:  # so many at the end
        start, stop = max(0, size_bytes - int(match[2])), size_bytes
    else:
        start, stop = int(match[1]), min(int(match[2] or size_bytes) + 1, size_bytes)
        if match[2] and int(match[2]) < start:
            return None
    if start >= size_bytes:
        raise RangeNotSatisfiable(headers={"Content-Range": f"bytes */{size_bytes}"})
    return start, stop


async def _chunks(path: Path, start: int, stop: int) -> AsyncGenerator[bytes, None]:
    file = await asyncio.to_thread(path.open, "rb")
    try:
        await asyncio.to_thread(file.seek, start)
        while start < stop:
            chunk = await asyncio.to_thread(file.read, min(CHUNK_BYTES, stop - start))
            if not chunk:
                raise OSError(f"{path.name} is shorter than it was")
            start += len(chunk)
            yield chunk
    finally:
        file.close()
