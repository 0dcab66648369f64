"""A document is kept with the record that names it, counted, given out until it expires, and then freed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from service.documents import shared
from service.documents.schema import Document
from service.platform.base.problem import NotFound
from service.platform.unit.context import Unit
from service.platform.work.cleanup import give_up
from tests.conftest import Member, Stack


def within(stack: Stack, member: Member, what: Callable[[Unit], Awaitable[Any]]) -> Any:
    """Do something for a tenant in a process of the service's settings, and commit it unless it raises."""

    async def run() -> Any:
        async with stack.resources() as opened:
            unit = Unit(opened, UUID(member.tenant_id), request_id="test")
            try:
                done = await what(unit)
                await unit.commit()
            except BaseException as error:
                await unit.rollback(error)
                raise
            return done

    return asyncio.run(run())


def kept(path: Path, seconds: int = 60, name: str = "report.pdf") -> Callable[[Unit], Awaitable[Document]]:
    return lambda unit: shared.keep_document(unit, path, name=name, media_type="application/pdf", seconds=seconds)


@pytest.fixture
def document_path(tmp_path: Path) -> Path:
    """A file that nobody else has."""
    path = tmp_path / "made"
    path.write_bytes(uuid4().bytes * 1000)
    return path


def left(stack: Stack, member: Member) -> list[tuple[Any, ...]]:
    return stack.sql("SELECT size_bytes, left_at IS NOT NULL FROM blobs WHERE tenant_id = %s", [member.tenant_id])


def test_a_document_counts_until_it_expires(stack: Stack, owner: Member, document_path: Path) -> None:
    document = within(stack, owner, kept(document_path, seconds=3600))
    assert (document.name, document.media_type, document.size_bytes) == ("report.pdf", "application/pdf", 16_000)
    assert document.is_there
    assert left(stack, owner) == [(16_000, False)]
    stack.sql("SELECT expire_documents(1000)")
    assert within(stack, owner, lambda unit: shared.get(unit, document.id)).key == document.key
    stack.sql("UPDATE documents SET expires_at = now() WHERE id = %s", [document.id])
    assert not within(stack, owner, lambda unit: shared.get(unit, document.id)).is_there, "before anybody tidies"
    stack.sql("SELECT expire_documents(1000)")
    gone = within(stack, owner, lambda unit: shared.get(unit, document.id))
    assert (gone.key, gone.is_there, gone.size_bytes) == (None, False, 16_000)
    assert left(stack, owner) == [(16_000, True)]
    assert stack.sql("SELECT count(*) FROM named_blobs WHERE key = %s", [document.key]) == [(0,)]


def test_a_document_that_is_removed_is_freed(
    stack: Stack, owner: Member, stranger: Member, document_path: Path
) -> None:
    document = within(stack, owner, kept(document_path))
    with pytest.raises(NotFound):
        within(stack, stranger, lambda unit: shared.get(unit, document.id))
    within(stack, owner, lambda unit: shared.remove(unit, document.id))
    assert left(stack, owner) == [(16_000, True)]
    with pytest.raises(NotFound):
        within(stack, owner, lambda unit: shared.get(unit, document.id))


def test_what_fails_leaves_nothing(stack: Stack, owner: Member, document_path: Path) -> None:
    documents: list[Document] = []

    async def fails(unit: Unit) -> None:
        documents.append(await kept(document_path)(unit))
        raise ValueError("later in the same transaction")

    with pytest.raises(ValueError, match="later"):
        within(stack, owner, fails)
    assert left(stack, owner) == []
    key = documents[0].key
    assert key is not None
    assert not (stack.data_dir / "blobs" / key[:2] / key).exists()


def test_damaged_bytes_end_a_document(stack: Stack, owner: Member, document_path: Path) -> None:
    """It can be made anew; the audit log says why it went before its time."""
    document = within(stack, owner, kept(document_path))
    within(stack, owner, lambda unit: give_up(unit, {"key": document.key}, ""))
    assert not within(stack, owner, lambda unit: shared.get(unit, document.id)).is_there
    text = "SELECT resource_name, details FROM audit_log WHERE tenant_id = %s AND action = 'document.check_failed'"
    ((name, details),) = stack.sql(text, [owner.tenant_id])
    assert (name, details["error"]) == ("report.pdf", "The stored bytes of the document are damaged.")
