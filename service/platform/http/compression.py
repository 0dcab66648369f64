"""Answers as gzip: text above a kilobyte; no secrets, parts of files or events.

Compressing what an attacker may add to, beside a secret, tells the secret by its length (BREACH). That needs requests
that somebody else's page can have a victim's browser send with its credentials; here they stand in headers, which no
page can make a browser add. The one cookie, of a browser's session, goes to auth/* alone, where nothing is compressed.
Answers that hold tokens or keys stay as they are all the same.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import lru_cache
from typing import Any, Final

from isal import isal_zlib

LEAST_BYTES: Final = 1024
"""Below this an answer fits a packet either way."""
AT_ONCE_BYTES: Final = 64 * 1024
"""Compressed in 0.1 ms; what is larger goes to a thread, which holds up nobody."""
KEPT_ANSWERS: Final = 160
ASKED_MAX: Final = 1000
"""Characters of Accept-Encoding that are read."""
VARY: Final = (b"vary", b"accept-encoding")

_TEXT: Final = re.compile(r"text/(?!event-stream)|application/(json|jsonl|x-ndjson|javascript|xml|\w[\w.-]*\+json)\b")
_WHOLE: Final = frozenset({200, 201, 400, 403, 404, 409, 422})
"""Statuses whose answers may be large; of 206 a part of the file's own bytes was asked for."""
_GZIP_WINDOW: Final = 31
_LEVEL: Final = 1  # higher ones take longer for an eighth less


def is_compressible(status: int, media_type: str, headers: list[tuple[bytes, bytes]]) -> bool:
    """Return whether an answer of that kind is compressed for callers who take gzip.

    One with a strong tag is not: such a tag identifies bytes (RFC 9110, 8.8.3), so that of the compressed ones had to
    be another, and a record's tag is its version, which callers compare and send back. A weak one identifies content.
    """
    if status not in _WHOLE or _TEXT.match(media_type) is None:
        return False
    return not any(
        name in (b"accept-ranges", b"content-encoding") or (name == b"etag" and not value.startswith(b"W/"))
        for name, value in headers
    )


def takes_gzip(asked: bytes) -> bool:
    """Return whether a value of Accept-Encoding permits gzip (RFC 9110, 12.5.3)."""
    return len(asked) <= ASKED_MAX and _takes_gzip(asked)


@lru_cache(maxsize=256)
def _takes_gzip(asked: bytes) -> bool:
    shares: dict[bytes, float] = {}
    for part in asked.lower().split(b","):
        name, _, rest = part.partition(b";")
        share = re.fullmatch(rb"\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*", rest)
        shares[name.strip()] = float(share[1]) if share else 0.0 if rest.strip() else 1.0
    named = next((shares[name] for name in (b"gzip", b"x-gzip", b"*") if name in shares), 0.0)
    return named > 0 and named >= shares.get(b"identity", 0.0)


async def gzip_bytes(content: bytes, *, constant: bool) -> bytes:
    """Compress an answer; a constant one is kept, and so may take longer."""
    if constant:
        return await asyncio.to_thread(_compress_constant, content)
    return _quick(content) if len(content) <= AT_ONCE_BYTES else await asyncio.to_thread(_quick, content)


async def gzip_chunks(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Compress an answer while it is made."""
    squeeze = _squeeze()
    async with aclosing(chunks):
        async for chunk in chunks:
            small = len(chunk) <= AT_ONCE_BYTES
            done = squeeze.compress(chunk) if small else await asyncio.to_thread(squeeze.compress, chunk)
            if done:
                yield done
    yield squeeze.flush()


def _squeeze() -> Any:
    return isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP_WINDOW)


def _quick(content: bytes) -> bytes:
    squeeze = _squeeze()
    return bytes(squeeze.compress(content) + squeeze.flush())


@lru_cache(maxsize=KEPT_ANSWERS)
def _compress_constant(content: bytes) -> bytes:
    return zlib.compress(content, 9, _GZIP_WINDOW)
