"""Scenarios' decisions: what a scenario is, who may change what of it, and what comes of its trades."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import UNSET

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
from service.scenarios import child, store
from service.scenarios.schema import (
    LOAN_DATA_BYTES_MAX,
    CannotOptimize,
    HeadroomQuery,
    InvalidTrade,
    NoBaseWorkbook,
    NoTradesKeepTests,
    OptimizeRequest,
    Proposed,
    ResultsQuery,
    ScenarioCreate,
    ScenarioDetail,
    ScenarioInUse,
    ScenarioLimitExceeded,
    ScenarioPatch,
    Simulated,
    StoredTrade,
    Terms,
    Trade,
    TradeCreate,
    TradeHeadroom,
    TradeLimitExceeded,
    TradeNotFound,
)

INLINE_TRADES_MAX: Final = 20
"""So few trades over a portfolio that is run in a millisecond take some of these."""

# Scenarios ------------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: ScenarioCreate) -> ScenarioDetail:
    """A new scenario with its first trades."""
    await check_trades(ctx, body.trades, ["body", "trades"], there=0)
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
    return await ctx.compute(_with_warnings, await store.trades(ctx, scenario_id))


async def add_trade(ctx: Context, scenario_id: UUID, body: TradeCreate) -> Trade:
    """One more trade, behind the others."""
    held = await _held(ctx, scenario_id)
    await check_trades(ctx, [body], ["body"], there=held.trade_count)
    stored = await store.add_trade(ctx, scenario_id, body)
    await store.touch(ctx, scenario_id)
    (trade,) = await ctx.compute(_with_warnings, [stored])
    ctx.concerns("trade", trade.id, held.name, scenario_id=scenario_id, **_named(body))
    return trade


def _with_warnings(trades: Sequence[StoredTrade]) -> list[Trade]:
    """Trades as they are answered: with what of their `loan_data` does nothing."""
    return [
        Trade(
            **{name: getattr(trade, name) for name in StoredTrade.__struct_fields__},
            warnings=[DataWarning("loan_data", message) for message in without_effect(trade.loan_data)],
        )
        for trade in trades
    ]


async def remove_trade(ctx: Context, scenario_id: UUID, trade_id: UUID) -> None:
    """Take a trade out of a scenario."""
    held = await _held(ctx, scenario_id)
    await store.remove_trade(ctx, scenario_id, trade_id)
    await store.touch(ctx, scenario_id)
    ctx.concerns("trade", trade_id, held.name, scenario_id=scenario_id)


def _named(trade: TradeCreate) -> dict[str, object]:
    return {name: getattr(trade, name) for name in ("trade_type", "par_value", "cusip", "borrower_name", "price")}


async def check_trades(ctx: Context, trade_creates: Sequence[TradeCreate], where: list[str], *, there: int) -> None:
    """Refuse trades beyond the limit, and those whose fields cannot be. What loan one means shows in a simulation."""
    most = ctx.settings.max_scenario_trades
    if there + len(trade_creates) > most:
        raise TradeLimitExceeded.at(where, f"the limit is {most:,} trades of a scenario")
    if len(trade_creates) <= INLINE_TRADES_MAX:
        _check_each(trade_creates, where)
    else:
        await ctx.compute(_check_each, trade_creates, where)


def _check_each(trade_creates: Sequence[TradeCreate], where: list[str]) -> None:
    for at, trade in enumerate(trade_creates):
        if trade.cusip or trade.borrower_name or trade.loan_data:
            _check_fields(trade, where if where == ["body"] else [*where, str(at)])


def _check_fields(trade: TradeCreate, where: list[str]) -> None:
    size_bytes = len(msgspec.json.encode(trade.loan_data)) if trade.loan_data else 0
    if size_bytes > LOAN_DATA_BYTES_MAX:
        message = f"takes {size_bytes:,} bytes; the limit is {LOAN_DATA_BYTES_MAX:,}"
        raise ValidationFailed.at([*where, "loan_data"], message)
    try:
        loan_of(to_core_trade(trade), 0)
    except TradeError as error:
        raise ValidationFailed.at(where, error.reason) from None


def _fields(terms: Terms) -> dict[str, Any]:
    return {name: getattr(terms, name) for name in Terms.__struct_fields__}


def to_core_trade(trade: TradeCreate) -> core.Trade:
    """The trade as the engine takes it."""
    return core.Trade(trade_type=trade.trade_type, **_fields(trade))


# Simulations ----------------------------------------------------------------------------------------------------------


async def simulate(ctx: Context, scenario_id: UUID) -> Simulated:
    """Run the base workbook's tests before the trades and after them, and keep what comes of it.

    The transaction holds the scenario's lock: until it ends, the scenario is `calculating`, and a crash leaves it as it
    was.
    """
    held = await store.hold_alone(ctx, scenario_id)
    if not held.is_free:
        raise ScenarioInUse
    ready, suite = await prepare_base(ctx, held.base_workbook_id)
    trades = await store.trades(ctx, scenario_id)
    found = await run_trades(ctx, ready, trades, suite)
    if isinstance(found, child.WrongTrade):
        raise _wrong(trades, found)
    done = Simulated(
        scenario_id=scenario_id, status="completed", results=found.results, **summary_fields(ctx, ready, suite, found)
    )
    told = await ctx.compute(_with_warnings, trades)
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
        **{f"{name}_sha256": _digest(what) for name, what in (("trades", told), ("results", done.results))},
        **{name: getattr(done, name) for name in _TOLD},
    )
    return done


_TOLD = ("test_suite", "definition_version", "as_of", "impact_summary", "new_failures", "total_tests")
"""What the audit log has of a simulation."""


def _wrong(trades: Sequence[StoredTrade], wrong_trade: child.WrongTrade) -> Problem:
    """The refusal that says which of a scenario's trades cannot be made."""
    return InvalidTrade.at(
        ["trades", str(wrong_trade.place)], f"trade {trades[wrong_trade.place].id}: {wrong_trade.reason}"
    )


async def prepare_base(
    ctx: Context, workbook_id: UUID | None, suite: str | None = None
) -> tuple[compliance.Prepared, str]:
    """Prepare the base workbook and choose the suite: by default that of its deal's definition where there is one."""
    if workbook_id is None:
        raise NoBaseWorkbook
    ready = await compliance.prepare(ctx, workbook_id, suite=suite or "enhanced")
    ctx.knows_email(ready.subject.email)
    return ready, suite or (DEAL_SUITE if ready.definition_version else "enhanced")


async def run_trades(
    ctx: Context, ready: compliance.Prepared, trades: Sequence[TradeCreate], suite: str
) -> child.Simulated | child.WrongTrade:
    """Run every test before and after trades: on the event loop where that takes a millisecond, else in a child."""
    work = ready.portfolio, [to_core_trade(trade) for trade in trades], suite, ready.rules
    if ready.is_light(suite) and len(trades) <= INLINE_TRADES_MAX:
        return at_once(child.simulate, *work)
    seconds = ctx.settings.compliance_seconds
    return await compliance.calculated(ctx, seconds, child.simulate_again, ready.fingerprint, *work)


def summary_fields(ctx: Context, ready: compliance.Prepared, suite: str, simulated: child.Simulated) -> dict[str, Any]:
    """The fields of a `SimulationSummary`."""
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


async def results(ctx: Context, scenario_id: UUID, query: ResultsQuery) -> list[Projected]:
    """What came of each test, or of those of a category."""
    found = await store.results(ctx, scenario_id)
    return [result for result in found.results if query.category in (None, result.test_category)]


# Proposals ------------------------------------------------------------------------------------------------------------


async def optimize(ctx: Context, scenario_id: UUID, body: OptimizeRequest) -> Proposed:
    """Trades behind those of the scenario that improve a test; they are proposed and not kept."""
    row = await store.get(ctx, scenario_id)
    ready, suite = await prepare_base(ctx, row.base_workbook_id)
    made = await store.trades(ctx, scenario_id)
    universe = await _universe(ctx, body.universe, ready.portfolio)
    await ctx.commit()  # no connection is held while it works
    found = await compliance.calculated(
        ctx,
        ctx.settings.optimization_seconds + ctx.settings.compliance_seconds,
        child.propose,
        ready.portfolio,
        suite,
        ready.rules,
        body.objective,
        universe,
        body.constraints,
        [to_core_trade(one) for one in made],
        offers_max=ctx.settings.max_universe_loans,
        search_seconds=ctx.settings.optimization_seconds,
    )
    if not isinstance(found, child.Found):
        raise _no_proposal(ctx, found, made)
    ctx.concerns(
        "scenario",
        scenario_id,
        row.name,
        base_workbook_id=ready.subject.id,
        objective=body.objective,
        trades=len(found.trades),
        cushion_before=found.cushion_before,
        cushion_after=found.cushion_after,
    )
    same = ("cushion_before", "cushion_after", "turnover", "candidates", "is_complete")
    summary = summary_fields(ctx, ready, suite, found.simulation)
    return Proposed(
        scenario_id=scenario_id,
        objective=body.objective,
        trades=[_told(trade) for trade in found.trades],
        results=found.simulation.results,
        **{name: getattr(found, name) for name in same},
        **summary | {"warnings": limit_warnings([*found.warnings, *summary["warnings"]])},
    )


def _no_proposal(ctx: Context, no_proposal: child.NoProposal, stored_trades: Sequence[StoredTrade]) -> Problem:
    """The refusal that says why nothing is proposed."""
    match no_proposal:
        case child.WrongTrade():
            return _wrong(stored_trades, no_proposal)
        case child.WrongOffer():
            return ValidationFailed.at(["body", "universe", str(no_proposal.place)], no_proposal.reason)
        case child.TooManyOffers():
            message = f"{no_proposal.count:,} loans may be bought; the limit is {ctx.settings.max_universe_loans:,}"
            return CannotOptimize.at(["body", "universe"], message)
        case child.NotFeasible():
            return NoTradesKeepTests(
                *(
                    Fault(
                        ["tests", one.test_id],
                        f"{one.current_value:g} at best, the limit is {one.threshold_value:g}",
                    )
                    for one in no_proposal.binding
                )
            )
        case child.NoSuchTest():
            return UnknownObjective.at(["body", "objective"], no_proposal.message)
        case child.NoObjective():
            return CannotOptimize.at(["body"], no_proposal.message)


async def _universe(ctx: Context, universe: UUID | list[Terms], portfolio: Portfolio) -> Portfolio | list[core.Trade]:
    """What may be bought: the loans of a workbook, or buys of all that there is."""
    if isinstance(universe, list):
        return [core.Trade(trade_type="buy", **_fields(one)) for one in universe]
    other = (await compliance.prepare(ctx, universe, suite="enhanced")).portfolio
    currencies = [currency_of(one) for one in (portfolio, other)]
    if None not in currencies and len(set(currencies)) > 1:
        message = "its loans are in {1}, those of the scenario in {0}".format(*currencies)
        raise ValidationFailed.at(["body", "universe"], message)
    return other


def _told(trade: core.Trade) -> TradeCreate:
    """A proposed trade as a scenario takes it."""
    fields: dict[str, Any] = {name: getattr(trade, name) for name in TradeCreate.__struct_fields__}
    more = {"loanx_id": trade.loanx_id} if trade.loanx_id else {}
    return TradeCreate(**fields | {"loan_data": (trade.loan_data or {}) | more or None})


# Headroom -------------------------------------------------------------------------------------------------------------


async def headroom(ctx: Context, scenario_id: UUID, query: HeadroomQuery) -> TradeHeadroom:
    """How much more of a trade each test bears, after the scenario's trades."""
    row = await store.get(ctx, scenario_id)
    made = await store.trades(ctx, scenario_id)
    asked = _asked(query, made)
    ready, suite = await prepare_base(ctx, row.base_workbook_id)
    await ctx.commit()
    work = ready.portfolio, suite, ready.rules, [to_core_trade(one) for one in made], to_core_trade(asked)
    found = await compliance.calculated(ctx, ctx.settings.optimization_seconds, child.bear, *work)
    if isinstance(found, child.WrongTrade):
        raise _wrong(made, found)
    if isinstance(found, child.NoRoom):
        raise InvalidTrade.at(["query"], found.reason)
    room = found.room
    trade = TradeCreate(trade_type=asked.trade_type, **_fields(asked))
    return TradeHeadroom(scenario_id=scenario_id, trade=trade, test_suite=suite, most=room.most, tests=room.tests)


def _asked(query: HeadroomQuery, stored_trades: Sequence[StoredTrade]) -> TradeCreate:
    """The trade that a query means."""
    if query.trade_id is None and (query.cusip or query.loanx_id or query.borrower_name):
        return TradeCreate(
            trade_type=query.trade_type,
            par_value=1.0,
            cusip=query.cusip,
            borrower_name=query.borrower_name,
            price=query.price,
            loan_data={"loanx_id": query.loanx_id} if query.loanx_id else None,
        )
    if query.trade_id is None and not stored_trades:
        raise ValidationFailed.at(["query", "trade_id"], "the scenario has no trades: name a loan")
    found = [one for one in stored_trades if query.trade_id in (None, one.id)]
    if not found:
        raise TradeNotFound
    return found[-1]
