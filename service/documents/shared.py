"""What documents lend.

Keeping a file that a job made, giving it out, in parts too, and taking it back.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

from service.documents import store
from service.documents.schema import Document
from service.documents.store import documents, remove
from service.platform.base.problem import Problem
from service.platform.data.blobs import hash_path
from service.platform.http.files import file_answer
from service.platform.route.api import Streamed
from service.platform.unit.context import Context, Unit
from service.platform.unit.storage import store_blob

get = documents.get

__all__ = ["download", "get", "keep_document", "remove"]


async def keep_document(unit: Unit, path: Path, *, name: str, media_type: str, seconds: int) -> Document:
    """Store a file as a document that expires after some seconds.

    The record that names it belongs into the same transaction.
    """
    key = await asyncio.to_thread(hash_path, path)
    size_bytes = (await asyncio.to_thread(path.stat)).st_size
    await store_blob(unit, path, key)
    return await store.create(unit, name=name, media_type=media_type, size_bytes=size_bytes, key=key, seconds=seconds)


async def download(ctx: Context, document_id: UUID, *, gone: type[Problem]) -> Streamed:
    """Return a document's bytes, or the requested range.

    Each part is an event of its own, since nothing tells a download that goes on from one that leaves out the first
    byte.

    Raises:
        gone: it has expired.
        Damaged: its bytes are missing, short or altered.
        RangeNotSatisfiable: it ends before the range begins.
    """
    document = await get(ctx, document_id)
    if not document.is_there or document.key is None:
        raise gone
    path = await ctx.resources.blobs.path(document.key)
    return file_answer(
        ctx.headers,
        path,
        size_bytes=document.size_bytes,
        tag=document.key,
        name=document.name,
        kind=document.media_type,
    )
