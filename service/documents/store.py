"""Documents' queries."""

from __future__ import annotations

from uuid import UUID

from service.documents.schema import Document
from service.platform.base.problem import NotFound
from service.platform.base.secrets import new_id
from service.platform.unit.context import Unit
from service.platform.unit.storage import leave

_DOCUMENT = """
    id, name, media_type, size_bytes, blob_key AS key, blob_key IS NOT NULL AND expires_at > now() AS is_there,
    expires_at
"""


async def create(unit: Unit, *, name: str, media_type: str, size_bytes: int, key: str, seconds: int) -> Document:
    """A document of a blob that this transaction keeps; it expires after so many seconds."""
    return await unit.one(
        Document,
        f"""
        INSERT INTO documents (tenant_id, id, name, media_type, size_bytes, blob_key, expires_at)
        VALUES (%s, %s, %s, %s, %s, %s, now() + make_interval(secs => %s)) RETURNING {_DOCUMENT}
        """,
        [unit.tenant, new_id(), name, media_type, size_bytes, key, seconds],
        missing=NotFound,
    )


async def get(unit: Unit, document_id: UUID) -> Document:
    """A document, expired or not.

    Raises:
        NotFound: there is none of that identifier.
    """
    sql = f"SELECT {_DOCUMENT} FROM documents WHERE id = %s"
    return await unit.one(Document, sql, [document_id], missing=NotFound)


async def remove(unit: Unit, document_id: UUID) -> None:
    """Delete a document; its bytes are freed in a while."""
    key = await unit.value("DELETE FROM documents WHERE id = %s RETURNING blob_key", [document_id])
    if key is not None:
        await leave(unit, [key])
