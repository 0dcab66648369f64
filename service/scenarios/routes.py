"""Scenarios' rows."""

from __future__ import annotations

from uuid import UUID

from service.platform.context import Context
from service.platform.http.api import Area
from service.scenarios import actions, store
from service.scenarios.schema import (
    Scenario,
    ScenarioCreate,
    ScenarioInUse,
    ScenarioLimitExceeded,
    ScenarioList,
    ScenarioNotFound,
    ScenarioPage,
    ScenarioPatch,
    Trade,
    TradeCreate,
    TradeLimitExceeded,
    TradeNotFound,
)
from service.workbooks.schema import WorkbookNotFound

area = Area("/api/v1/scenarios", tag="scenarios", scope="scenarios")


@area.get()
async def list_scenarios(ctx: Context, query: ScenarioList) -> ScenarioPage:
    """The scenarios of the tenant, the newest first."""
    return await store.listed(ctx, query)


@area.post(
    status=201,
    errors=(WorkbookNotFound, ScenarioLimitExceeded, TradeLimitExceeded),
    event="scenario.created",
    versioned=True,
)
async def create_scenario(ctx: Context, body: ScenarioCreate) -> Scenario:
    """Create a scenario, with trades or without."""
    return await actions.create(ctx, body)


@area.get("/{scenario_id}", errors=(ScenarioNotFound,), versioned=True)
async def get_scenario(ctx: Context, scenario_id: UUID) -> Scenario:
    """A scenario; its ETag is what If-Match of a change compares."""
    return await actions.detail(ctx, scenario_id)


@area.patch(
    "/{scenario_id}",
    errors=(ScenarioNotFound, WorkbookNotFound, ScenarioInUse),
    event="scenario.updated",
    versioned=True,
)
async def update_scenario(ctx: Context, scenario_id: UUID, body: ScenarioPatch) -> Scenario:
    """Change what is given of a scenario. With another base it is a draft again, without results."""
    return await actions.update(ctx, scenario_id, body)


@area.delete("/{scenario_id}", errors=(ScenarioNotFound, ScenarioInUse), event="scenario.deleted")
async def delete_scenario(ctx: Context, scenario_id: UUID) -> None:
    """Delete a scenario with its trades and results."""
    await actions.delete(ctx, scenario_id)


@area.post(
    "/{scenario_id}/trades",
    status=201,
    errors=(ScenarioNotFound, WorkbookNotFound, ScenarioInUse, TradeLimitExceeded),
    event="trade.added",
)
async def add_trade(ctx: Context, scenario_id: UUID, body: TradeCreate) -> Trade:
    """Add a trade behind the others. A completed scenario is a draft again, without results."""
    return await actions.add_trade(ctx, scenario_id, body)


@area.get("/{scenario_id}/trades", errors=(ScenarioNotFound,))
async def list_trades(ctx: Context, scenario_id: UUID) -> list[Trade]:
    """The trades of a scenario, in the order in which they apply."""
    return await actions.trades(ctx, scenario_id)


@area.delete(
    "/{scenario_id}/trades/{trade_id}",
    errors=(ScenarioNotFound, TradeNotFound, WorkbookNotFound, ScenarioInUse),
    event="trade.removed",
)
async def remove_trade(ctx: Context, scenario_id: UUID, trade_id: UUID) -> None:
    """Take a trade out of a scenario. A completed one is a draft again, without results."""
    await actions.remove_trade(ctx, scenario_id, trade_id)
