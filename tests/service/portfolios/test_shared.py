"""Portfolios of stored workbooks.

Mapped once for whoever asks, anew for another mapping or another day.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import openpyxl
import pytest

from core.portfolio import Portfolio
from core.portfolio.model.facts import Facts
from core.portfolio.model.interpretation import Interpretation
from service.mappings.shared import get_mapping
from service.platform.unit.context import Unit
from service.portfolios import shared
from service.portfolios.shared import GivenDay, ReadingKey, interpret_portfolio, portfolio_of
from service.processes.shared import OutOfTime
from service.workbooks import shared as workbooks
from service.workbooks.schema import WorkbookNotReady
from tests import printed_by_hand as by_hand
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
            book, same = [await workbooks.get(unit, UUID(item["id"])) for item in (first, second)]
            standard = await get_mapping(unit, "standard_clo")
            portfolio = await portfolio_of(unit, book, standard, DAY)
            assert (portfolio.row_count, portfolio.numbers["par_value"].tolist()) == (2, [40e6, 30e6])
            assert await portfolio_of(unit, book, standard, DAY) is portfolio
            assert await portfolio_of(unit, same, standard, DAY) is portfolio  # the same bytes
            assert await portfolio_of(unit, book, standard, GivenDay(date(2026, 4, 1), "upload")) is not portfolio
            another = standard._replace(json=f"{standard.json} ")
            assert await portfolio_of(unit, book, another, DAY) is not portfolio
            busy = msgspec.structs.replace(book, status="uploaded")
            with pytest.raises(WorkbookNotReady):
                await portfolio_of(unit, busy, standard, DAY)
            await unit.commit()

    asyncio.run(run())


def test_a_search_is_made_once_and_one_without_an_end_changes_nothing(
    stack: Stack, owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    portfolio = by_hand.portfolio(*by_hand.coverage("oc", by_hand.adjusted(discount=0.0)), by_hand.cov_lite())
    key = ReadingKey("book", "mapping", DAY, None, "{}")
    calls: list[str] = []

    async def late(*_: object) -> Interpretation:
        calls.append("late")
        raise OutOfTime

    async def searched(_unit: Unit, _seconds: float, work: Callable[..., Interpretation], *of: Any) -> Interpretation:
        calls.append("searched")
        return work(*of)

    async def run() -> None:
        async with stack.resources() as opened:
            unit = Unit(opened, UUID(owner.tenant_id), request_id="test")

            async def read(of: Portfolio) -> Portfolio:
                return await interpret_portfolio(unit, of, None, key, 10.0)

            monkeypatch.setattr(shared, "in_child", late)
            assert await read(portfolio) is portfolio
            monkeypatch.setattr(shared, "in_child", searched)
            first, again = await read(portfolio), await read(portfolio)
            assert first.interpretation is not None
            assert "discount obligations count at par" in first.interpretation.read_as
            assert again.interpretation is first.interpretation
            without = replace(portfolio, facts=Facts())
            assert await read(without) is without
            assert calls == ["late", "searched"]

    asyncio.run(run())
