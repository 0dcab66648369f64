"""Scenarios' decisions: what a scenario is, who may change what of it, and what comes of its trades."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec
from msgspec import UNSET

from service.platform.access.secrets import new_id
from service.platform.context import Context
from service.platform.http.problem import Fault, ValidationFailed
from service.scenarios import store
from service.scenarios.schema import (
    LOAN_FIELDS,
    Scenario,
    ScenarioCreate,
    ScenarioInUse,
    ScenarioLimitExceeded,
    ScenarioPatch,
    Trade,
    TradeCreate,
    TradeLimitExceeded,
)

# Scenarios ------------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: ScenarioCreate) -> Scenario:
    """A new scenario with its first trades."""
    _check_trades(ctx, body.trades, ["body", "trades"], there=0)
    if await store.lock_count(ctx) >= ctx.settings.max_scenarios:
        raise ScenarioLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_scenarios:,} scenarios")
    scenario_id, given = new_id(), msgspec.structs.asdict(body)
    await store.create(ctx, {**given, "id": scenario_id, "created_by": await ctx.email()})
    if body.trades:
        await store.add_trades(ctx, scenario_id, body.trades)
    ctx.concerns("scenario", scenario_id, body.name, trades=len(body.trades), base_workbook_id=body.base_workbook_id)
    return await detail(ctx, scenario_id)


async def detail(ctx: Context, scenario_id: UUID) -> Scenario:
    """A scenario."""
    row = await store.get(ctx, scenario_id)
    ctx.tag(row.version)
    return Scenario(**{name: getattr(row, name) for name in Scenario.__struct_fields__})


async def update(ctx: Context, scenario_id: UUID, patch: ScenarioPatch) -> Scenario:
    """Change what is given of a scenario; with another base it is a draft again."""
    held = await _held(ctx, scenario_id)
    ctx.match(held.version)
    kept = {name: getattr(held, name) for name in patch.__struct_fields__}
    given = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    row = kept | given
    if given:
        is_other = row["base_workbook_id"] != held.base_workbook_id
        await store.update(ctx, scenario_id, {**row, "is_other": is_other})
        ctx.concerns("scenario", scenario_id, row["name"], changed=sorted(given))
    else:
        ctx.changed_nothing()
    return await detail(ctx, scenario_id)


async def delete(ctx: Context, scenario_id: UUID) -> None:
    """Delete a scenario with its trades and what came of them."""
    held = await _held(ctx, scenario_id)
    await store.delete(ctx, scenario_id)
    ctx.concerns("scenario", scenario_id, held.name, trades=held.trade_count)


async def _held(ctx: Context, scenario_id: UUID) -> store.Held:
    """A scenario that may be edited.

    Raises:
        ScenarioInUse: somebody simulates it.
    """
    held = await store.hold(ctx, scenario_id)
    if not held.is_free:
        raise ScenarioInUse
    return held


# Trades ---------------------------------------------------------------------------------------------------------------


async def trades(ctx: Context, scenario_id: UUID) -> list[Trade]:
    """The trades of a scenario, in the order in which they apply."""
    await store.get(ctx, scenario_id)
    return await store.trades(ctx, scenario_id)


async def add_trade(ctx: Context, scenario_id: UUID, body: TradeCreate) -> Trade:
    """One more trade, behind the others."""
    held = await _held(ctx, scenario_id)
    _check_trades(ctx, [body], ["body"], there=held.trade_count)
    (trade,) = await store.add_trades(ctx, scenario_id, [body])
    await store.touch(ctx, scenario_id)
    ctx.concerns("trade", trade.id, held.name, scenario_id=scenario_id, **_named(body))
    return trade


async def remove_trade(ctx: Context, scenario_id: UUID, trade_id: UUID) -> None:
    """Take a trade out of a scenario."""
    held = await _held(ctx, scenario_id)
    await store.remove_trade(ctx, scenario_id, trade_id)
    await store.touch(ctx, scenario_id)
    ctx.concerns("trade", trade_id, held.name, scenario_id=scenario_id)


def _named(trade: TradeCreate) -> dict[str, object]:
    return {name: getattr(trade, name) for name in ("trade_type", "par_value", "cusip", "borrower_name", "price")}


def _check_trades(ctx: Context, given: Sequence[TradeCreate], where: list[str], *, there: int) -> None:
    """Refuse trades beyond the limit, and fields of a loan that there are not."""
    most = ctx.settings.max_scenario_trades
    if there + len(given) > most:
        raise TradeLimitExceeded.at(where, f"the limit is {most:,} trades of a scenario")
    places = [where] if where == ["body"] else [[*where, str(number)] for number in range(len(given))]
    faults = [
        Fault([*place, "loan_data", name], "no field of the mapping standard_clo that is not one of a trade")
        for place, trade in zip(places, given, strict=True)
        for name in sorted((trade.loan_data or {}).keys() - LOAN_FIELDS)
    ]
    if faults:
        raise ValidationFailed(*faults[:10])
