"""Scenarios' queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from service.platform.base.problem import ConcurrentModification
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.platform.unit.listing import rows_of
from service.scenarios.schema import (
    Scenario,
    ScenarioList,
    ScenarioNotFound,
    ScenarioPage,
    ScenarioRow,
    Simulated,
    SimulationResults,
    StoredTrade,
    TradeCreate,
    TradeNotFound,
)
from service.workbooks.schema import WorkbookInUse, WorkbookNotFound

_SCENARIO = "id, name, description, status, base_workbook_id, trade_count, created_by, created_at, updated_at"


@contextmanager
def naming_a_workbook() -> Iterator[None]:
    """The constraint that keeps a scenario's workbook speaks to both sides: here it says that there is none such.

    Raises:
        WorkbookNotFound: what is written within names a workbook that is not there, or was deleted in this moment.
    """
    try:
        yield
    except WorkbookInUse as gone:
        raise WorkbookNotFound from gone


# Scenarios ------------------------------------------------------------------------------------------------------------


async def get(ctx: Context, scenario_id: UUID) -> ScenarioRow:
    """A scenario.

    Raises:
        ScenarioNotFound: there is none of that identifier.
    """
    return await ctx.one(
        ScenarioRow,
        f"SELECT {_SCENARIO}, simulation, version FROM scenario_states WHERE id = %s",
        [scenario_id],
        missing=ScenarioNotFound,
    )


class Held(Struct, frozen=True, kw_only=True):
    """A scenario that is about to be edited or simulated."""

    name: str
    description: str | None
    base_workbook_id: UUID | None
    trade_count: int
    version: int
    is_free: bool
    """Nobody else simulates it (to simulate it: nor edits it), and nobody can until this transaction ends."""


_HELD = """
    name, description, base_workbook_id, version,
    (SELECT count(*) FROM scenario_trades t WHERE t.scenario_id = scenarios.id) AS trade_count
"""


async def hold(ctx: Context, scenario_id: UUID) -> Held:
    """A scenario to be edited, its row locked until the transaction ends; edits share what keeps simulations away.

    Raises:
        ScenarioNotFound: as `get`.
    """
    return await ctx.one(
        Held,
        f"""
        SELECT {_HELD}, pg_try_advisory_xact_lock_shared(scenario_lock(tenant_id, id)) AS is_free
        FROM scenarios WHERE id = %s FOR UPDATE
        """,
        [scenario_id],
        missing=ScenarioNotFound,
    )


async def hold_alone(ctx: Context, scenario_id: UUID) -> Held:
    """A scenario to be simulated; its row stays open to readers' and writers' questions whether it is free.

    Raises:
        ScenarioNotFound: as `get`.
    """
    return await ctx.one(
        Held,
        f"""
        SELECT {_HELD}, pg_try_advisory_xact_lock(scenario_lock(tenant_id, id)) AS is_free
        FROM scenarios WHERE id = %s
        """,
        [scenario_id],
        missing=ScenarioNotFound,
    )


async def listed(ctx: Context, query: ScenarioList) -> ScenarioPage:
    """A page of scenarios, the newest first."""
    items, total = await rows_of(
        ctx,
        Scenario,
        _SCENARIO,
        "scenario_states WHERE true",
        {"status": query.status_filter},
        order="created_at DESC, id",
        limit=query.page_size,
        offset=query.offset,
    )
    pages = -(-total // query.page_size)
    return ScenarioPage(items=items, total=total, page=query.page, page_size=query.page_size, pages=pages)


async def lock_count(ctx: Context) -> int:
    """How many scenarios the tenant has, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM scenarios"))


async def create(ctx: Context, row: dict[str, Any]) -> None:
    """A new scenario.

    Raises:
        WorkbookNotFound: its base is not there.
    """
    with naming_a_workbook():
        await ctx.execute(
            """
            INSERT INTO scenarios (tenant_id, id, name, description, base_workbook_id, created_by)
            VALUES (%(tenant_id)s, %(id)s, %(name)s, %(description)s, %(base_workbook_id)s, %(created_by)s)
            """,
            {**row, "tenant_id": ctx.tenant},
        )


async def update(ctx: Context, scenario_id: UUID, row: dict[str, Any]) -> None:
    """Change a scenario that is held; where its base `is_other`, what came of a simulation goes.

    Raises:
        WorkbookNotFound: as `create`.
    """
    with naming_a_workbook():
        await ctx.execute(
            """
            UPDATE scenarios SET name = %(name)s, description = %(description)s,
                                 base_workbook_id = %(base_workbook_id)s,
                                 simulation = CASE WHEN NOT %(is_other)s THEN simulation END,
                                 version = version + 1, updated_at = now()
            WHERE id = %(id)s
            """,
            {**row, "id": scenario_id},
        )


async def touch(ctx: Context, scenario_id: UUID) -> None:
    """The trades of a scenario that is held are others: it is a draft, of no workbook where its base was deleted.

    Raises:
        WorkbookNotFound: its base is deleted in this moment.
    """
    with naming_a_workbook():
        await ctx.execute(
            """
            UPDATE scenarios SET simulation = NULL, version = version + 1, updated_at = now(),
                                 base_workbook_id = (SELECT w.live_id FROM workbooks w WHERE w.id = base_workbook_id)
            WHERE id = %s
            """,
            [scenario_id],
        )


async def complete(ctx: Context, scenario_id: UUID, version: int, done: Simulated) -> None:
    """Keep what came of a scenario that was held alone in this version.

    Raises:
        ConcurrentModification: it was edited in the moment before it was held.
    """
    kept = await ctx.execute(
        """
        UPDATE scenarios SET simulation = %s, version = version + 1, updated_at = now() WHERE id = %s AND version = %s
        """,
        [msgspec.json.encode(done).decode(), scenario_id, version],
    )
    if not kept:
        raise ConcurrentModification


async def results(ctx: Context, scenario_id: UUID) -> SimulationResults:
    """What came of each test; nothing in a draft.

    Raises:
        ScenarioNotFound: as `get`.
    """
    sql = "SELECT coalesce(simulation -> 'results', '[]') AS results FROM scenarios WHERE id = %s"
    return await ctx.one(SimulationResults, sql, [scenario_id], missing=ScenarioNotFound)


async def delete(ctx: Context, scenario_id: UUID) -> None:
    """Delete a scenario with its trades and what came of them."""
    await ctx.execute("DELETE FROM scenarios WHERE id = %s", [scenario_id])


# Trades ---------------------------------------------------------------------------------------------------------------


class _TradeRow(Struct, frozen=True):
    id: UUID
    scenario_id: UUID
    created_at: datetime
    trade: TradeCreate

    @property
    def stored(self) -> StoredTrade:
        fields: dict[str, Any] = msgspec.structs.asdict(self.trade)
        return StoredTrade(id=self.id, scenario_id=self.scenario_id, created_at=self.created_at, **fields)


async def trades(ctx: Context, scenario_id: UUID) -> list[StoredTrade]:
    """The trades of a scenario, in the order in which they apply."""
    rows = await ctx.all(
        _TradeRow,
        "SELECT id, scenario_id, created_at, trade FROM scenario_trades WHERE scenario_id = %s ORDER BY number",
        [scenario_id],
    )
    return [row.stored for row in rows]


_ADD: Final = """
    INSERT INTO scenario_trades (tenant_id, scenario_id, id, number, trade)
    SELECT %(tenant_id)s, %(scenario_id)s, (given.item ->> 'id')::uuid, given.number + coalesce((
               SELECT max(t.number) FROM scenario_trades t WHERE t.scenario_id = %(scenario_id)s), 0),
           given.item -> 'trade'
    FROM json_array_elements(%(trades)s::json) WITH ORDINALITY AS given (item, number)
"""


def _added(ctx: Context, scenario_id: UUID, trades: Sequence[TradeCreate]) -> dict[str, Any]:
    """As one JSON: two arrays of a thousand values take 25 ms to be written for the server, this less than one."""
    rows = [{"id": new_id(), "trade": trade} for trade in trades]
    return {"tenant_id": ctx.tenant, "scenario_id": scenario_id, "trades": msgspec.json.encode(rows).decode()}


async def add_trades(ctx: Context, scenario_id: UUID, trades: Sequence[TradeCreate]) -> None:
    """Trades that apply behind those that are there. A thousand rows are not read back: that takes the event loop."""
    await ctx.execute(_ADD, _added(ctx, scenario_id, trades))


async def add_trade(ctx: Context, scenario_id: UUID, trade: TradeCreate) -> StoredTrade:
    """One trade that applies behind those that are there."""
    (row,) = await ctx.all(
        _TradeRow, _ADD + "RETURNING id, scenario_id, created_at, trade", _added(ctx, scenario_id, [trade])
    )
    return row.stored


async def remove_trade(ctx: Context, scenario_id: UUID, trade_id: UUID) -> None:
    """Remove a trade of a scenario that is held.

    Raises:
        TradeNotFound: the scenario has none of that identifier.
    """
    done = await ctx.execute("DELETE FROM scenario_trades WHERE scenario_id = %s AND id = %s", [scenario_id, trade_id])
    if not done:
        raise TradeNotFound
