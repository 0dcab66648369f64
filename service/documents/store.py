"""Documents' queries."""

from __future__ import annotations

from uuid import UUID

from service.documents.schema import Document
from service.platform.base.problem import NotFound
from service.platform.base.secrets import new_id
from service.platform.unit.context import Unit
from service.platform.unit.records import Records
from service.platform.unit.storage import release

documents = Records(
    "documents",
    Document,
    missing=NotFound,
    derived={"key": "blob_key", "is_there": "blob_key IS NOT NULL AND expires_at > now()"},
)


async def create(unit: Unit, *, name: str, media_type: str, size_bytes: int, key: str, seconds: int) -> Document:
    """Create a document of a stored blob; it expires after some seconds."""
    return await unit.fetch_one(
        Document,
        f"""
        INSERT INTO documents (tenant_id, id, name, media_type, size_bytes, blob_key, expires_at)
        VALUES (%s, %s, %s, %s, %s, %s, now() + make_interval(secs => %s)) RETURNING {documents.columns}
        """,
        [unit.tenant, new_id(), name, media_type, size_bytes, key, seconds],
        missing=NotFound,
    )


async def remove(unit: Unit, document_id: UUID) -> None:
    """Delete a document; its bytes are freed in a while."""
    key = await unit.fetch_value("DELETE FROM documents WHERE id = %s RETURNING blob_key", [document_id])
    if key is not None:
        await release(unit, [key])
