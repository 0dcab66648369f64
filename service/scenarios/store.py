"""Scenarios' queries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from service.platform.base.problem import ConcurrentModification
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.platform.unit.listing import fetch_slice
from service.platform.unit.records import Records, to_json, translating
from service.scenarios import schema
from service.workbooks.schema import WorkbookInUse, WorkbookNotFound

_SCENARIO = "id, name, description, status, base_workbook_id, trade_count, created_by, created_at, updated_at"


_naming_a_workbook = partial(translating, WorkbookInUse, WorkbookNotFound)
scenarios = Records(
    "scenarios",
    schema.ScenarioRow,
    missing=schema.ScenarioNotFound,
    source="scenario_states",
    touch="version = version + 1, updated_at = now()",
    writing=_naming_a_workbook,
)

# Scenarios ------------------------------------------------------------------------------------------------------------


class LockedScenario(Struct, frozen=True, kw_only=True):
    """A scenario that is about to be edited or simulated."""

    name: str
    description: str | None
    base_workbook_id: UUID | None
    trade_count: int
    version: int
    is_free: bool
    """Nobody else simulates it (to simulate it: nor edits it), and nobody can until this transaction ends."""


_LOCKED = """
    name, description, base_workbook_id, version,
    (SELECT count(*) FROM scenario_trades t WHERE t.scenario_id = scenarios.id) AS trade_count
"""


async def lock_to_edit(ctx: Context, scenario_id: UUID) -> LockedScenario:
    """Lock a scenario's row; edits share what keeps simulations away."""
    return await ctx.fetch_one(
        LockedScenario,
        f"""
        SELECT {_LOCKED}, pg_try_advisory_xact_lock_shared(scenario_lock(tenant_id, id)) AS is_free
        FROM scenarios WHERE id = %s FOR UPDATE
        """,
        [scenario_id],
        missing=schema.ScenarioNotFound,
    )


async def lock_to_simulate(ctx: Context, scenario_id: UUID) -> LockedScenario:
    """Lock a scenario against edits and other simulations; leave its row readable."""
    return await ctx.fetch_one(
        LockedScenario,
        f"""
        SELECT {_LOCKED}, pg_try_advisory_xact_lock(scenario_lock(tenant_id, id)) AS is_free
        FROM scenarios WHERE id = %s
        """,
        [scenario_id],
        missing=schema.ScenarioNotFound,
    )


async def read_page(ctx: Context, query: schema.ScenarioList) -> schema.ScenarioPage:
    """Return a page of scenarios, the newest first."""
    items, total = await fetch_slice(
        ctx,
        schema.Scenario,
        _SCENARIO,
        "scenario_states WHERE true",
        {"status": query.status_filter},
        order="created_at DESC, id",
        part=(query.page_size, query.offset),
    )
    pages = -(-total // query.page_size)
    return schema.ScenarioPage(items=items, total=total, page=query.page, page_size=query.page_size, pages=pages)


async def update(ctx: Context, scenario_id: UUID, changes: dict[str, Any], *, has_new_base: bool) -> None:
    """Change a locked scenario; with a new base the results of its simulation go.

    Raises:
        WorkbookNotFound: its base is not there.
    """
    await scenarios.change(ctx, scenario_id, changes | ({"simulation": None} if has_new_base else {}))


async def touch(ctx: Context, scenario_id: UUID) -> None:
    """Make a locked scenario a draft: its trades have changed.

    Its base becomes null where that was deleted.

    Raises:
        WorkbookNotFound: its base is deleted in this moment.
    """
    with _naming_a_workbook():
        await ctx.execute(
            """
            UPDATE scenarios SET simulation = NULL, version = version + 1, updated_at = now(),
                                 base_workbook_id = (SELECT w.live_id FROM workbooks w WHERE w.id = base_workbook_id)
            WHERE id = %s
            """,
            [scenario_id],
        )


async def complete(ctx: Context, scenario_id: UUID, version: int, done: schema.Simulated) -> None:
    """Keep what came of a scenario that was held alone in this version.

    Raises:
        ConcurrentModification: it was edited in the moment before it was held.
    """
    count = await ctx.execute(
        """
        UPDATE scenarios SET simulation = %s, version = version + 1, updated_at = now() WHERE id = %s AND version = %s
        """,
        [to_json(done), scenario_id, version],
    )
    if not count:
        raise ConcurrentModification


async def results(ctx: Context, scenario_id: UUID) -> schema.SimulationResults:
    """Return what came of each test; nothing in a draft."""
    sql = "SELECT coalesce(simulation -> 'results', '[]') AS results FROM scenarios WHERE id = %s"
    return await ctx.fetch_one(schema.SimulationResults, sql, [scenario_id], missing=schema.ScenarioNotFound)


# Trades ---------------------------------------------------------------------------------------------------------------


class _TradeRow(Struct, frozen=True):
    id: UUID
    scenario_id: UUID
    created_at: datetime
    trade: schema.TradeCreate

    @property
    def stored(self) -> schema.StoredTrade:
        fields: dict[str, Any] = msgspec.structs.asdict(self.trade)
        return schema.StoredTrade(id=self.id, scenario_id=self.scenario_id, created_at=self.created_at, **fields)


async def trades(ctx: Context, scenario_id: UUID) -> list[schema.StoredTrade]:
    """Return the trades of a scenario, in the order in which they apply."""
    rows = await ctx.fetch_all(
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


def _trade_rows(ctx: Context, scenario_id: UUID, trades: Sequence[schema.TradeCreate]) -> dict[str, Any]:
    """Return trades as one JSON: two arrays of a thousand take 25 ms."""
    rows = [{"id": new_id(), "trade": trade} for trade in trades]
    return {"tenant_id": ctx.tenant, "scenario_id": scenario_id, "trades": to_json(rows)}


async def add_trades(ctx: Context, scenario_id: UUID, trades: Sequence[schema.TradeCreate]) -> None:
    """Add trades behind the others; do not read them back."""
    await ctx.execute(_ADD, _trade_rows(ctx, scenario_id, trades))


async def add_trade(ctx: Context, scenario_id: UUID, trade: schema.TradeCreate) -> schema.StoredTrade:
    """Add a trade that applies behind the others, and return it."""
    (row,) = await ctx.fetch_all(
        _TradeRow, _ADD + "RETURNING id, scenario_id, created_at, trade", _trade_rows(ctx, scenario_id, [trade])
    )
    return row.stored


async def remove_trade(ctx: Context, scenario_id: UUID, trade_id: UUID) -> None:
    """Remove a trade of a scenario that is held."""
    done = await ctx.execute("DELETE FROM scenario_trades WHERE scenario_id = %s AND id = %s", [scenario_id, trade_id])
    if not done:
        raise schema.TradeNotFound
