"""Portfolios of stored workbooks: mapped once for whoever asks, anew for another mapping or another day."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from uuid import UUID

import msgspec
import openpyxl
import pytest

from service.mappings.shared import get_mapping
from service.platform.context import Unit
from service.portfolios.shared import GivenDay, portfolio_of
from service.workbooks import shared as workbooks
from service.workbooks.schema import WorkbookNotReady
from tests.conftest import Member, Stack

DAY = GivenDay(date(2026, 3, 31), "upload")


def holdings(path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["LoanX ID", "Issuer Name", "Par Amount", "Market Price", "Spread"])
    sheet.append(["LX000001", "Alpha", 40e6, 99.5, 325])
    sheet.append(["LX000002", "Bravo", 30e6, 98.75, 375])
    book.save(path)
    return path


def test_a_workbook_is_mapped_once_for_a_mapping_and_a_day(stack: Stack, owner: Member, tmp_path: Path) -> None:
    first, second = (owner.uploaded(holdings(tmp_path / "book.xlsx"), name=name) for name in "ab")

    async def run() -> None:
        async with stack.resources() as opened:
            unit = Unit(opened, UUID(owner.tenant_id), request_id="test")
            book, same = [await workbooks.get(unit, UUID(one["id"])) for one in (first, second)]
            standard = await get_mapping(unit, "standard_clo")
            portfolio = await portfolio_of(unit, book, standard, DAY)
            assert (portfolio.row_count, portfolio.numbers["par_value"].tolist()) == (2, [40e6, 30e6])
            assert await portfolio_of(unit, book, standard, DAY) is portfolio
            assert await portfolio_of(unit, same, standard, DAY) is portfolio  # the same bytes
            assert await portfolio_of(unit, book, standard, GivenDay(date(2026, 4, 1), "upload")) is not portfolio
            other = standard._replace(json=f"{standard.json} ")
            assert await portfolio_of(unit, book, other, DAY) is not portfolio
            busy = msgspec.structs.replace(book, status="uploaded")
            with pytest.raises(WorkbookNotReady):
                await portfolio_of(unit, busy, standard, DAY)
            await unit.commit()

    asyncio.run(run())
