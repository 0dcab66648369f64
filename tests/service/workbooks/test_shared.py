"""Opened workbooks: mapped once, shared, bounded, and only when ready."""

from __future__ import annotations

import asyncio
import mmap
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
import pytest

from service.platform.unit.context import Unit
from service.workbooks import shared, store
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady
from tests.conftest import Member, Stack


def in_a_unit(stack: Stack, tenant_id: str, ask: Any) -> Any:
    """Run `await ask(unit)` as a job of the tenant would, in this process, with room for two workbooks."""

    async def run() -> Any:
        async with stack.resources(CUSHION_MAPPED_WORKBOOKS="2") as shared:
            unit = Unit(shared, UUID(tenant_id), request_id="test")
            answer = await ask(unit)
            await unit.commit()
            return answer

    return asyncio.run(run())


def test_a_book_is_mapped_once_and_read_only(stack: Stack, owner: Member, loans: Path) -> None:
    first, second = (UUID(owner.uploaded(loans, name=name)["id"]) for name in "ab")

    async def ask(unit: Unit) -> None:
        row = await store.workbooks.get(unit, first)
        book = await shared.open_book(unit, row)
        assert [sheet.name for sheet in book.sheets] == ["Loans", "Notes / hidden", "Numbers", "Empty"]
        assert book["Loans"].value(2, 0) == "LX000001"
        assert await shared.open_book(unit, row) is book
        assert await shared.open_book(unit, await store.workbooks.get(unit, second)) is book  # the same bytes
        numbers = book["Numbers"].columns[0]
        assert numbers is not None
        assert not numbers.numbers.flags.writeable
        base: object = numbers.numbers
        while isinstance(base, np.ndarray):
            base = base.base
        assert isinstance(base, mmap.mmap)  # no copy
        kept = unit.resources.memory.cache("workbooks", most=0, bytes_most=0)
        for key in ("x", "y"):
            kept.keep(key, book, 1)
        assert await shared.open_book(unit, row) is not book
        assert len(kept) == 2

    in_a_unit(stack, owner.tenant_id, ask)


@pytest.mark.parametrize("status", ["uploading", "processing", "recalculating"])
def test_only_a_ready_workbook_is_opened(
    stack: Stack, shared_owner: Member, workbook: dict[str, Any], status: str
) -> None:
    async def ask(unit: Unit) -> None:
        row = await store.workbooks.get(unit, UUID(workbook["id"]))
        with pytest.raises(WorkbookNotReady):
            await shared.open_book(unit, msgspec.structs.replace(row, status=status))

    in_a_unit(stack, shared_owner.tenant_id, ask)


def test_another_tenants_workbook_is_not_found(stack: Stack, stranger: Member, workbook: dict[str, Any]) -> None:
    async def ask(unit: Unit) -> None:
        with pytest.raises(WorkbookNotFound):
            await store.workbooks.get(unit, UUID(workbook["id"]))

    in_a_unit(stack, stranger.tenant_id, ask)
