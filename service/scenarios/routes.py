"""Scenarios' rows."""

from __future__ import annotations

from uuid import UUID

from core.scenario.simulate import Projected
from service.compliance.schema import InvalidDefinition, InvalidSuite, RunTooSlow, UnknownTest
from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.base.problem import ConcurrentModification
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, WaitQuery, Waits
from service.platform.unit.context import Context
from service.scenarios import actions, preview_actions, schema, store
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady

area = Area("/api/v1/scenarios", tag="scenarios", scope="scenarios")

UNREADABLE = (
    schema.ScenarioNotFound,
    WorkbookNotFound,
    MappingNotFound,
    schema.NoBaseWorkbook,
    schema.InvalidTrade,
    schema.ScenarioInUse,
    WorkbookNotReady,
    MappingTooSlow,
    RunTooSlow,
    InvalidDefinition,
    Damaged,
)
"""Why trades cannot be tried on a scenario's workbook."""


@area.get()
async def list_scenarios(ctx: Context, query: schema.ScenarioList) -> schema.ScenarioPage:
    """List the scenarios of the tenant, the newest first."""
    return await store.read_page(ctx, query)


@area.post(
    status=201,
    errors=(WorkbookNotFound, schema.ScenarioLimitExceeded, schema.TradeLimitExceeded),
    event="scenario.created",
    versioned=True,
    heavy=True,
)
async def create_scenario(ctx: Context, body: schema.ScenarioCreate) -> schema.ScenarioDetail:
    """Create a scenario, with trades or without."""
    return await actions.create(ctx, body)


@area.post(
    "/preview",
    access="scenarios:read",
    errors=(
        WorkbookNotFound,
        MappingNotFound,
        schema.InvalidTrade,
        InvalidSuite,
        schema.TradeLimitExceeded,
        WorkbookNotReady,
        MappingTooSlow,
        RunTooSlow,
        InvalidDefinition,
        Damaged,
    ),
    flag="scenarios",
    heavy=True,
)
async def preview_trades(ctx: Context, body: schema.TradePreviewRequest) -> schema.TradePreview:
    """Run every test of a workbook before and after trades, without a scenario.

    Nothing is stored. A trade that cannot be made is refused with its place.
    """
    return await preview_actions.preview(ctx, body)


@area.get(
    "/{scenario_id}",
    errors=(schema.ScenarioNotFound,),
    versioned=True,
    # A simulation that ends without a result changes no row, so it is looked for.
    waits=Waits("scenario_id", frozenset({"calculating"}), lambda scenario: (scenario.status,), look_seconds=1.0),
)
async def get_scenario(ctx: Context, scenario_id: UUID, query: WaitQuery) -> schema.ScenarioDetail:
    """Give a scenario.

    Its ETag is what If-Match of a change compares.
    """
    return await actions.detail(ctx, scenario_id)


@area.patch(
    "/{scenario_id}",
    errors=(schema.ScenarioNotFound, WorkbookNotFound, schema.ScenarioInUse),
    event="scenario.updated",
    versioned=True,
)
async def update_scenario(ctx: Context, scenario_id: UUID, body: schema.ScenarioPatch) -> schema.ScenarioDetail:
    """Change the fields in the body.

    With another base it is a draft again, without results.
    """
    return await actions.update(ctx, scenario_id, body)


@area.delete("/{scenario_id}", errors=(schema.ScenarioNotFound, schema.ScenarioInUse), event="scenario.deleted")
async def delete_scenario(ctx: Context, scenario_id: UUID) -> None:
    """Delete a scenario with its trades and results."""
    await actions.delete(ctx, scenario_id)


@area.post(
    "/{scenario_id}/trades",
    status=201,
    errors=(schema.ScenarioNotFound, WorkbookNotFound, schema.ScenarioInUse, schema.TradeLimitExceeded),
    event="trade.added",
)
async def add_trade(ctx: Context, scenario_id: UUID, body: schema.TradeCreate) -> schema.Trade:
    """Add a trade behind the present ones.

    A completed scenario is a draft again, without results.
    """
    return await actions.add_trade(ctx, scenario_id, body)


@area.get("/{scenario_id}/trades", errors=(schema.ScenarioNotFound,))
async def list_trades(ctx: Context, scenario_id: UUID) -> list[schema.Trade]:
    """List the trades of a scenario, in the order in which they apply."""
    return await actions.trades(ctx, scenario_id)


@area.delete(
    "/{scenario_id}/trades/{trade_id}",
    errors=(schema.ScenarioNotFound, schema.TradeNotFound, WorkbookNotFound, schema.ScenarioInUse),
    event="trade.removed",
)
async def remove_trade(ctx: Context, scenario_id: UUID, trade_id: UUID) -> None:
    """Take a trade out of a scenario.

    A completed one is a draft again, without results.
    """
    await actions.remove_trade(ctx, scenario_id, trade_id)


@area.post(
    "/{scenario_id}/simulate",
    errors=(*UNREADABLE, ConcurrentModification),
    event="scenario.simulated",
    flag="scenarios",
    heavy=True,
)
async def simulate_scenario(ctx: Context, scenario_id: UUID) -> schema.Simulated:
    """Run every test of the base workbook before the trades and after them.

    The scenario is completed. The suite is that of the deal's definition, `enhanced` where there is none. A trade that
    cannot be made is refused, and the scenario stays as it is.
    """
    return await actions.simulate(ctx, scenario_id)


@area.get("/{scenario_id}/results", errors=(schema.ScenarioNotFound,), summary="List scenario results")
async def get_scenario_results(ctx: Context, scenario_id: UUID, query: schema.ResultsQuery) -> list[Projected]:
    """List what came of each test, or of those of a category; of a draft nothing."""
    return await actions.results(ctx, scenario_id, query)


@area.post(
    "/{scenario_id}/optimize",
    errors=(*UNREADABLE, UnknownTest, schema.CannotOptimize, schema.NoTradesKeepTests),
    event="scenario.optimized",
    flag="scenarios",
    heavy=True,
    summary="Propose trades",
)
async def optimize_scenario(ctx: Context, scenario_id: UUID, body: schema.OptimizeRequest) -> schema.Proposed:
    """Propose trades that raise the cushion of a test as far as the search gets.

    They come after the trades of the scenario. What is proposed was simulated, and keeps to the constraints. Where no
    trades are found after which every test passes, the refusal names those that fail by the least that was found.
    """
    return await actions.optimize(ctx, scenario_id, body)


@area.get("/{scenario_id}/headroom", errors=(*UNREADABLE, schema.TradeNotFound), heavy=True, summary="Get headroom")
async def get_scenario_headroom(ctx: Context, scenario_id: UUID, query: schema.HeadroomQuery) -> schema.TradeHeadroom:
    """Say how much more of a trade each test bears until it fails.

    The trades of the scenario come first.
    """
    return await actions.headroom(ctx, scenario_id, query)
