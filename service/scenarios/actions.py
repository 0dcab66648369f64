"""Scenarios' decisions.

What a scenario is, who may change what of it, and what comes of its trades.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

import core
from core.compliance.conventions import currency_of
from core.compliance.suites import DEAL_SUITE
from core.portfolio import Portfolio
from core.portfolio.model.notes import DataWarning, limit_warnings
from core.scenario.simulate import Projected
from core.scenario.trades import TradeError, loan_of, without_effect
from service.compliance import shared as compliance
from service.compliance.schema import UnknownTest as UnknownObjective
from service.platform.base.compute import at_once
from service.platform.base.problem import Fault, Problem, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.platform.unit.records import narrow
from service.scenarios import child, schema, store

INLINE_TRADES_MAX: Final = 20
"""So few trades over a portfolio that is run in a millisecond take some of these."""

# Scenarios ------------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: schema.ScenarioCreate) -> schema.ScenarioDetail:
    """Create a scenario with its first trades."""
    await check_trades(ctx, body.trades, ["body", "trades"], there=0)
    if await store.scenarios.lock_count(ctx) >= ctx.settings.max_scenarios:
        raise schema.ScenarioLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_scenarios:,} scenarios")
    scenario_id, record = new_id(), {name: getattr(body, name) for name in schema.ScenarioPatch.__struct_fields__}
    await store.scenarios.add(ctx, {**record, "id": scenario_id, "created_by": await ctx.email()})
    if body.trades:
        await store.add_trades(ctx, scenario_id, body.trades)
    ctx.set_subject("scenario", scenario_id, body.name, trades=len(body.trades), base_workbook_id=body.base_workbook_id)
    return await detail(ctx, scenario_id)


async def detail(ctx: Context, scenario_id: UUID) -> schema.ScenarioDetail:
    """Return a scenario."""
    row = await store.scenarios.get(ctx, scenario_id)
    ctx.set_etag(row.version)
    return narrow(schema.ScenarioDetail, row)


async def update(ctx: Context, scenario_id: UUID, patch: schema.ScenarioPatch) -> schema.ScenarioDetail:
    """Change what is given of a scenario; with another base it is a draft again."""
    scenario = await _lock(ctx, scenario_id)
    ctx.check_if_match(scenario.version)
    changes = patch.changes()
    if changes:
        has_new_base = changes.get("base_workbook_id", scenario.base_workbook_id) != scenario.base_workbook_id
        await store.update(ctx, scenario_id, changes, has_new_base=has_new_base)
        ctx.set_subject("scenario", scenario_id, changes.get("name", scenario.name), changed=sorted(changes))
    else:
        ctx.skip_event()
    return await detail(ctx, scenario_id)


async def delete(ctx: Context, scenario_id: UUID) -> None:
    """Delete a scenario with its trades and what came of them."""
    scenario = await _lock(ctx, scenario_id)
    await store.scenarios.delete(ctx, scenario_id)
    ctx.set_subject("scenario", scenario_id, scenario.name, trades=scenario.trade_count)


async def _lock(ctx: Context, scenario_id: UUID) -> store.LockedScenario:
    """Return a scenario that may be edited.

    Raises:
        ScenarioInUse: somebody simulates it.
    """
    scenario = await store.lock_to_edit(ctx, scenario_id)
    if not scenario.is_free:
        raise schema.ScenarioInUse
    return scenario


# Trades ---------------------------------------------------------------------------------------------------------------


async def trades(ctx: Context, scenario_id: UUID) -> list[schema.Trade]:
    """Return the trades of a scenario, in the order in which they apply."""
    await store.scenarios.get(ctx, scenario_id)
    return await ctx.compute(_with_warnings, await store.trades(ctx, scenario_id))


async def add_trade(ctx: Context, scenario_id: UUID, body: schema.TradeCreate) -> schema.Trade:
    """Add a trade behind the others."""
    scenario = await _lock(ctx, scenario_id)
    await check_trades(ctx, [body], ["body"], there=scenario.trade_count)
    stored = await store.add_trade(ctx, scenario_id, body)
    await store.touch(ctx, scenario_id)
    (trade,) = await ctx.compute(_with_warnings, [stored])
    ctx.set_subject("trade", trade.id, scenario.name, scenario_id=scenario_id, **_name_fields(body))
    return trade


def _with_warnings(trades: Sequence[schema.StoredTrade]) -> list[schema.Trade]:
    """Trades as they are answered: with what of their `loan_data` does nothing."""
    return [
        schema.Trade(
            **{name: getattr(trade, name) for name in schema.StoredTrade.__struct_fields__},
            warnings=[DataWarning("loan_data", message) for message in without_effect(trade.loan_data)],
        )
        for trade in trades
    ]


async def remove_trade(ctx: Context, scenario_id: UUID, trade_id: UUID) -> None:
    """Take a trade out of a scenario."""
    scenario = await _lock(ctx, scenario_id)
    await store.remove_trade(ctx, scenario_id, trade_id)
    await store.touch(ctx, scenario_id)
    ctx.set_subject("trade", trade_id, scenario.name, scenario_id=scenario_id)


def _name_fields(trade: schema.TradeCreate) -> dict[str, object]:
    return {name: getattr(trade, name) for name in ("trade_type", "par_value", "cusip", "borrower_name", "price")}


async def check_trades(
    ctx: Context, trade_creates: Sequence[schema.TradeCreate], where: list[str], *, there: int
) -> None:
    """Refuse trades beyond the limit, or with impossible fields.

    Which loan one means shows in a simulation.
    """
    most = ctx.settings.max_scenario_trades
    if there + len(trade_creates) > most:
        raise schema.TradeLimitExceeded.at(where, f"the limit is {most:,} trades of a scenario")
    if len(trade_creates) <= INLINE_TRADES_MAX:
        _check_each(trade_creates, where)
    else:
        await ctx.compute(_check_each, trade_creates, where)


def _check_each(trade_creates: Sequence[schema.TradeCreate], where: list[str]) -> None:
    for at, trade in enumerate(trade_creates):
        if trade.cusip or trade.borrower_name or trade.loan_data:
            _check_fields(trade, where if where == ["body"] else [*where, str(at)])


def _check_fields(trade: schema.TradeCreate, where: list[str]) -> None:
    size_bytes = len(msgspec.json.encode(trade.loan_data)) if trade.loan_data else 0
    if size_bytes > schema.LOAN_DATA_BYTES_MAX:
        message = f"takes {size_bytes:,} bytes; the limit is {schema.LOAN_DATA_BYTES_MAX:,}"
        raise ValidationFailed.at([*where, "loan_data"], message)
    try:
        loan_of(to_core_trade(trade), 0)
    except TradeError as error:
        raise ValidationFailed.at(where, error.reason) from None


def _fields(terms: schema.Terms) -> dict[str, Any]:
    return {name: getattr(terms, name) for name in schema.Terms.__struct_fields__}


def to_core_trade(trade: schema.TradeCreate) -> core.Trade:
    """Return the trade as the engine takes it."""
    return core.Trade(trade_type=trade.trade_type, **_fields(trade))


# Simulations ----------------------------------------------------------------------------------------------------------


async def simulate(ctx: Context, scenario_id: UUID) -> schema.Simulated:
    """Run the tests before and after the trades, and keep the results.

    The transaction holds the scenario's lock: until it ends, the scenario is `calculating`, and a crash leaves it as it
    was.
    """
    scenario = await store.lock_to_simulate(ctx, scenario_id)
    if not scenario.is_free:
        raise schema.ScenarioInUse
    ready, suite = await prepare_base(ctx, scenario.base_workbook_id)
    trades = await store.trades(ctx, scenario_id)
    outcome = await run_trades(ctx, ready, trades, suite)
    if isinstance(outcome, child.WrongTrade):
        raise _wrong(trades, outcome)
    done = schema.Simulated(
        scenario_id=scenario_id,
        status="completed",
        results=outcome.results,
        **summary_fields(ctx, ready, suite, outcome),
    )
    shown_trades = await ctx.compute(_with_warnings, trades)
    await store.complete(ctx, scenario_id, scenario.version, done)
    ctx.set_subject(
        "scenario",
        scenario_id,
        scenario.name,
        base_workbook_id=ready.subject.id,
        workbook_hash=ready.subject.content_hash,
        book_key=ready.subject.book_key,
        mapping_id=ready.subject.mapping_id,
        engine_version=core.__version__,
        trades=len(trades),
        **{f"{name}_sha256": _digest(what) for name, what in (("trades", shown_trades), ("results", done.results))},
        **{name: getattr(done, name) for name in _TOLD},
    )
    return done


_TOLD = ("test_suite", "definition_version", "as_of", "impact_summary", "new_failures", "total_tests")
"""What the audit log has of a simulation."""


def _wrong(trades: Sequence[schema.StoredTrade], wrong_trade: child.WrongTrade) -> Problem:
    """Return the refusal that says which of a scenario's trades cannot be made."""
    return schema.InvalidTrade.at(
        ["trades", str(wrong_trade.place)], f"trade {trades[wrong_trade.place].id}: {wrong_trade.reason}"
    )


async def prepare_base(
    ctx: Context, workbook_id: UUID | None, suite: str | None = None
) -> tuple[compliance.RunInputs, str]:
    """Prepare the base workbook, and choose the suite.

    By default that of its deal's definition, where there is one.
    """
    if workbook_id is None:
        raise schema.NoBaseWorkbook
    ready = await compliance.prepare(ctx, workbook_id, suite=suite or "enhanced")
    ctx.set_email(ready.subject.email)
    return ready, suite or (DEAL_SUITE if ready.definition_version else "enhanced")


async def run_trades(
    ctx: Context, ready: compliance.RunInputs, trades: Sequence[schema.TradeCreate], suite: str
) -> child.SimulationResult | child.WrongTrade:
    """Run every test before and after trades.

    On the event loop where that takes a millisecond, else in a child.
    """
    work = ready.portfolio, [to_core_trade(trade) for trade in trades], suite, ready.rules
    if ready.is_light(suite) and len(trades) <= INLINE_TRADES_MAX:
        return at_once(child.simulate, *work)
    seconds = ctx.settings.compliance_seconds
    return await compliance.calculate(ctx, seconds, child.simulate_again, ready.fingerprint, *work)


def summary_fields(
    ctx: Context, ready: compliance.RunInputs, suite: str, simulated: child.SimulationResult
) -> dict[str, Any]:
    """Return the fields of a `SimulationSummary`."""
    same = ("impact_summary", "new_failures", "total_tests", "message", "skipped", "warnings")
    return {name: getattr(simulated, name) for name in same} | {
        "test_suite": suite,
        "definition_version": ready.definition_version,
        "as_of": simulated.as_of or ready.as_of.day,
        "as_of_source": simulated.as_of_source or ready.as_of.source,
        "simulated_at": ctx.now(),
    }


def _digest(what: object) -> str:
    return hashlib.sha256(msgspec.json.encode(what)).hexdigest()


async def results(ctx: Context, scenario_id: UUID, query: schema.ResultsQuery) -> list[Projected]:
    """Return what came of each test, or of those of a category."""
    simulation = await store.results(ctx, scenario_id)
    return [result for result in simulation.results if query.category in (None, result.test_category)]


# Proposals ------------------------------------------------------------------------------------------------------------


async def optimize(ctx: Context, scenario_id: UUID, body: schema.OptimizeRequest) -> schema.Proposed:
    """Propose trades that improve a test; keep nothing."""
    row = await store.scenarios.get(ctx, scenario_id)
    ready, suite = await prepare_base(ctx, row.base_workbook_id)
    stored = await store.trades(ctx, scenario_id)
    universe = await _universe(ctx, body.universe, ready.portfolio)
    await ctx.commit()  # no connection is held while it works
    proposal = await compliance.calculate(
        ctx,
        ctx.settings.optimization_seconds + ctx.settings.compliance_seconds,
        child.propose,
        ready.portfolio,
        suite,
        ready.rules,
        body.objective,
        universe,
        body.constraints,
        [to_core_trade(trade) for trade in stored],
        child.SearchLimits(ctx.settings.max_universe_loans, ctx.settings.optimization_seconds),
    )
    if not isinstance(proposal, child.ProposalFound):
        raise _no_proposal(ctx, proposal, stored)
    ctx.set_subject(
        "scenario",
        scenario_id,
        row.name,
        base_workbook_id=ready.subject.id,
        objective=body.objective,
        trades=len(proposal.trades),
        cushion_before=proposal.cushion_before,
        cushion_after=proposal.cushion_after,
    )
    same = ("cushion_before", "cushion_after", "turnover", "candidates", "is_complete")
    summary = summary_fields(ctx, ready, suite, proposal.simulation)
    return schema.Proposed(
        scenario_id=scenario_id,
        objective=body.objective,
        trades=[_to_trade(trade) for trade in proposal.trades],
        results=proposal.simulation.results,
        **{name: getattr(proposal, name) for name in same},
        **summary | {"warnings": limit_warnings([*proposal.warnings, *summary["warnings"]])},
    )


def _no_proposal(ctx: Context, no_proposal: child.NoProposal, stored_trades: Sequence[schema.StoredTrade]) -> Problem:
    """Return the refusal that says why nothing is proposed."""
    match no_proposal:
        case child.WrongTrade():
            return _wrong(stored_trades, no_proposal)
        case child.WrongOffer():
            return ValidationFailed.at(["body", "universe", str(no_proposal.place)], no_proposal.reason)
        case child.TooManyOffers():
            message = f"{no_proposal.count:,} loans may be bought; the limit is {ctx.settings.max_universe_loans:,}"
            return schema.CannotOptimize.at(["body", "universe"], message)
        case child.NotFeasible():
            return schema.NoTradesKeepTests(
                *(
                    Fault(
                        ["tests", result.test_id],
                        f"{result.current_value:g} at best, the limit is {result.threshold_value:g}",
                    )
                    for result in no_proposal.binding
                )
            )
        case child.UnknownObjective():
            return UnknownObjective.at(["body", "objective"], no_proposal.message)
        case child.NoObjective():
            return schema.CannotOptimize.at(["body"], no_proposal.message)


async def _universe(
    ctx: Context, universe: UUID | list[schema.Terms], portfolio: Portfolio
) -> Portfolio | list[core.Trade]:
    """Return what may be bought: a workbook's loans, or buys."""
    if isinstance(universe, list):
        return [core.Trade(trade_type="buy", **_fields(item)) for item in universe]
    universe_portfolio = (await compliance.prepare(ctx, universe, suite="enhanced")).portfolio
    currencies = [currency_of(item) for item in (portfolio, universe_portfolio)]
    if None not in currencies and len(set(currencies)) > 1:
        message = "its loans are in {1}, those of the scenario in {0}".format(*currencies)
        raise ValidationFailed.at(["body", "universe"], message)
    return universe_portfolio


def _to_trade(trade: core.Trade) -> schema.TradeCreate:
    """Return a proposed trade as a scenario takes it."""
    fields: dict[str, Any] = {name: getattr(trade, name) for name in schema.TradeCreate.__struct_fields__}
    more = {"loanx_id": trade.loanx_id} if trade.loanx_id else {}
    return schema.TradeCreate(**fields | {"loan_data": (trade.loan_data or {}) | more or None})


# Headroom -------------------------------------------------------------------------------------------------------------


async def headroom(ctx: Context, scenario_id: UUID, query: schema.HeadroomQuery) -> schema.TradeHeadroom:
    """Return how much more of a trade each test bears, after the scenario's trades."""
    row = await store.scenarios.get(ctx, scenario_id)
    stored = await store.trades(ctx, scenario_id)
    trade_to_bear = _trade_of(query, stored)
    ready, suite = await prepare_base(ctx, row.base_workbook_id)
    await ctx.commit()
    work = (
        ready.portfolio,
        suite,
        ready.rules,
        [to_core_trade(trade_) for trade_ in stored],
        to_core_trade(trade_to_bear),
    )
    result = await compliance.calculate(ctx, ctx.settings.optimization_seconds, child.bear, *work)
    if isinstance(result, child.WrongTrade):
        raise _wrong(stored, result)
    if isinstance(result, child.NoRoom):
        raise schema.InvalidTrade.at(["query"], result.reason)
    room = result.room
    trade = schema.TradeCreate(trade_type=trade_to_bear.trade_type, **_fields(trade_to_bear))
    return schema.TradeHeadroom(
        scenario_id=scenario_id, trade=trade, test_suite=suite, most=room.most, tests=room.tests
    )


def _trade_of(query: schema.HeadroomQuery, stored_trades: Sequence[schema.StoredTrade]) -> schema.TradeCreate:
    """Return the trade that a query means."""
    if query.trade_id is None and (query.cusip or query.loanx_id or query.borrower_name):
        return schema.TradeCreate(
            trade_type=query.trade_type,
            par_value=1.0,
            cusip=query.cusip,
            borrower_name=query.borrower_name,
            price=query.price,
            loan_data={"loanx_id": query.loanx_id} if query.loanx_id else None,
        )
    if query.trade_id is None and not stored_trades:
        raise ValidationFailed.at(["query", "trade_id"], "the scenario has no trades: name a loan")
    matching = [trade for trade in stored_trades if query.trade_id in (None, trade.id)]
    if not matching:
        raise schema.TradeNotFound
    return matching[-1]
