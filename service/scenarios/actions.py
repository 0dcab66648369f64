"""Scenarios' decisions: what a scenario is, who may change what of it, and what comes of its trades."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from uuid import UUID

import msgspec
from msgspec import UNSET

import core
from core.compliance.suites import DEAL_SUITE
from core.scenario.simulate import Projected
from core.scenario.trades import TradeError, loan_of
from service.compliance import shared as compliance
from service.platform.access.secrets import new_id
from service.platform.context import Context
from service.platform.http.problem import ValidationFailed
from service.scenarios import store
from service.scenarios.schema import (
    InvalidTrade,
    NoBaseWorkbook,
    ResultsQuery,
    ScenarioCreate,
    ScenarioDetail,
    ScenarioInUse,
    ScenarioLimitExceeded,
    ScenarioPatch,
    Simulated,
    Trade,
    TradeCreate,
    TradeLimitExceeded,
)

# Scenarios ------------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: ScenarioCreate) -> ScenarioDetail:
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


async def detail(ctx: Context, scenario_id: UUID) -> ScenarioDetail:
    """A scenario."""
    row = await store.get(ctx, scenario_id)
    ctx.tag(row.version)
    return ScenarioDetail(**{name: getattr(row, name) for name in ScenarioDetail.__struct_fields__})


async def update(ctx: Context, scenario_id: UUID, patch: ScenarioPatch) -> ScenarioDetail:
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
    """Refuse trades beyond the limit, and those whose fields cannot be. What loan one means shows in a simulation."""
    most = ctx.settings.max_scenario_trades
    if there + len(given) > most:
        raise TradeLimitExceeded.at(where, f"the limit is {most:,} trades of a scenario")
    for at, trade in enumerate(given):
        if trade.cusip or trade.borrower_name or trade.loan_data:
            try:
                loan_of(_traded(trade), at)
            except TradeError as error:
                raise ValidationFailed.at(where if where == ["body"] else [*where, str(at)], error.reason) from None


def _traded(trade: TradeCreate) -> core.Trade:
    return core.Trade(**{name: getattr(trade, name) for name in TradeCreate.__struct_fields__})


# Simulations ----------------------------------------------------------------------------------------------------------


async def simulate(ctx: Context, scenario_id: UUID) -> Simulated:
    """Run the base workbook's tests before the trades and after them, and keep what comes of it.

    The transaction holds the scenario's lock: until it ends, the scenario is `calculating`, and a crash leaves it as it
    was.
    """
    held = await store.hold_alone(ctx, scenario_id)
    if not held.is_free:
        raise ScenarioInUse
    ready, suite = await _prepared(ctx, held)
    trades = await store.trades(ctx, scenario_id)
    try:
        found = await ready.perform(
            ctx, suite, core.simulate, ready.portfolio, [_traded(one) for one in trades], suite, **ready.rules
        )
    except TradeError as error:
        wrong = trades[error.trade]
        raise InvalidTrade.at(["trades", str(error.trade)], f"trade {wrong.id}: {error.reason}") from None
    done = Simulated(
        scenario_id=scenario_id,
        status="completed",
        results=found.results,
        impact_summary=found.impact_summary,
        new_failures=found.new_failures,
        total_tests=found.total_tests,
        message=found.message,
        skipped=found.skipped,
        warnings=found.warnings,
        test_suite=suite,
        definition_version=ready.definition_version,
        as_of=found.before.as_of or ready.as_of.day,
        as_of_source=found.before.as_of_source or ready.as_of.source,
        simulated_at=ctx.now(),
    )
    await store.complete(ctx, scenario_id, held.version, done)
    ctx.concerns(
        "scenario",
        scenario_id,
        held.name,
        base_workbook_id=ready.subject.id,
        workbook_hash=ready.subject.content_hash,
        book_key=ready.subject.book_key,
        mapping_id=ready.subject.mapping_id,
        engine_version=core.__version__,
        trades=len(trades),
        **{f"{name}_sha256": _digest(what) for name, what in (("trades", trades), ("results", done.results))},
        **{name: getattr(done, name) for name in _TOLD},
    )
    return done


_TOLD = ("test_suite", "definition_version", "as_of", "impact_summary", "new_failures", "total_tests")
"""What the audit log has of a simulation."""


async def _prepared(ctx: Context, held: store.Held) -> tuple[compliance.Prepared, str]:
    """The base workbook, ready to be run, and the suite: that of its deal's definition where there is one."""
    if held.base_workbook_id is None:
        raise NoBaseWorkbook
    ready = await compliance.prepare(ctx, held.base_workbook_id, suite="enhanced")
    return ready, DEAL_SUITE if ready.definition_version else "enhanced"


def _digest(what: object) -> str:
    return hashlib.sha256(msgspec.json.encode(what)).hexdigest()


async def results(ctx: Context, scenario_id: UUID, query: ResultsQuery) -> list[Projected]:
    """What came of each test, or of those of a category."""
    found = await store.results(ctx, scenario_id)
    return [one for one in found.results if query.category in (None, one.test_category)]
