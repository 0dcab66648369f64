"""A preview: what trades would do, without a scenario; nothing is stored."""

from __future__ import annotations

import time

from core.compliance.suites import DEAL_SUITE, SUITES
from service.compliance.schema import InvalidSuite
from service.platform.unit.context import Context
from service.scenarios import child
from service.scenarios.actions import check_trades, prepare_base, run_trades, summary_fields
from service.scenarios.schema import InvalidTrade, TradePreview, TradePreviewRequest

TRADES = ["body", "trades"]


async def preview(ctx: Context, body: TradePreviewRequest) -> TradePreview:
    """Run the tests of a workbook before and after trades."""
    if body.test_suite is not None and body.test_suite not in (*SUITES, DEAL_SUITE):
        raise InvalidSuite.at(["body", "test_suite"], f"the suites are {', '.join((*SUITES, DEAL_SUITE))}")
    await check_trades(ctx, body.trades, TRADES, there=0)
    ready, suite = await prepare_base(ctx, body.base_workbook_id, body.test_suite)
    await ctx.commit()  # no connection is held while it works
    started = time.perf_counter()
    run = await run_trades(ctx, ready, body.trades, suite)
    took_us = round((time.perf_counter() - started) * 1e6)
    if isinstance(run, child.WrongTrade):
        raise InvalidTrade.at([*TRADES, str(run.place)], run.reason)
    return TradePreview(
        base_workbook_id=body.base_workbook_id,
        results=run.results,
        execution_time_us=took_us,
        **summary_fields(ctx, ready, suite, run),
    )
