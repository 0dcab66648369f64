"""What is known of a document."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from msgspec import Struct


class Document(Struct, frozen=True, kw_only=True):
    """A file that the service made."""

    id: UUID
    name: str
    media_type: str
    size_bytes: int
    key: str | None
    """Of its bytes; None once they are given up."""
    is_there: bool
    """Whether it can be downloaded: it has not expired."""
    expires_at: datetime
