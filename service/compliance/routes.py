"""Compliance's rows."""

from __future__ import annotations

from uuid import UUID

from service.compliance import actions, lookback_actions, parts_actions, schema
from service.compliance.lookback_schema import Lookback, LookbackBody, LookbackEvents
from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Listing, Page, Raw
from service.platform.unit.context import Context
from service.workbooks.schema import DealNotFound, WorkbookNotFound, WorkbookNotReady

area = Area("/api/v1/compliance", tag="compliance", scope="compliance")


@area.post(
    "/run",
    errors=(
        schema.InvalidSuite,
        schema.UnknownTest,
        schema.InvalidDefinition,
        WorkbookNotFound,
        MappingNotFound,
        MappingTooSlow,
        schema.RunTooSlow,
        WorkbookNotReady,
        Damaged,
        schema.AlreadyRunning,
    ),
    event="compliance.run_completed",
    heavy=True,
)
async def run_compliance(ctx: Context, body: schema.RunRequest) -> schema.ComplianceRun:
    """Run a suite, or some of its tests, on a workbook.

    The run is stored with all that reproduces it.
    """
    return await actions.run(ctx, body)


@area.get("/results/{result_id}", errors=(schema.ResultNotFound,), lags=True, summary="Get compliance run")
async def get_compliance_result(ctx: Context, result_id: UUID, query: schema.ResultQuery) -> schema.ComplianceRun:
    """Give a run with its results, or those of one status or category."""
    return await actions.result(ctx, result_id, query)


@area.get(
    "/results/{run_id}/tests/{test_id}/parts",
    errors=(
        schema.ResultNotFound,
        schema.NotOfThisRun,
        schema.InvalidDefinition,
        MappingTooSlow,
        schema.RunTooSlow,
        Damaged,
    ),
    heavy=True,
    also_media=("text/csv",),
    summary="List figure's parts",
)
async def list_result_parts(
    ctx: Context, run_id: UUID, test_id: schema.TestId, query: schema.PartsQuery
) -> schema.ResultParts | Raw:
    """List what adds up to the numerator of a run's figure.

    The parts are loans, cash, haircuts, accounts or industries, the largest first. They are worked out from the run's
    evidence, so they are the same a year later. With `format=csv` all of them come as text/csv; a text that a
    spreadsheet would take for a formula has an apostrophe before it.
    """
    return await parts_actions.parts(ctx, run_id, test_id, query)


@area.get("/suites")
async def list_suites(ctx: Context, query: schema.SuiteQuery) -> Listing[schema.Suite]:
    """List the suites, with their tests on request."""
    return actions.suites(query)


@area.post(
    "/thresholds",
    status=201,
    errors=(schema.UnknownTest, WorkbookNotFound, DealNotFound, schema.InvalidDefinition),
    event="threshold.updated",
    heavy=True,
)
async def set_threshold(ctx: Context, body: schema.ThresholdCreate) -> schema.Threshold:
    """Set a test's limit for a workbook, a deal or the whole tenant.

    It replaces the present one.
    """
    return await actions.set_threshold(ctx, body)


@area.get("/thresholds")
async def list_thresholds(ctx: Context, query: schema.ThresholdQuery) -> Listing[schema.Threshold]:
    """List the limits that the tenant has set."""
    return await actions.thresholds(ctx, query)


@area.delete("/thresholds/{threshold_id}", errors=(schema.ThresholdNotFound,), event="threshold.deleted")
async def delete_threshold(ctx: Context, threshold_id: UUID) -> None:
    """Delete a limit.

    The next run goes by the limit that comes after it in precedence.
    """
    await actions.delete_threshold(ctx, threshold_id)


@area.get("/history", lags=True, summary="List compliance runs")
async def list_compliance_history(ctx: Context, query: schema.HistoryQuery) -> Page[schema.RunItem]:
    """List runs, the newest first."""
    return await actions.history(ctx, query)


@area.get("/lookback", summary="List compliance events")
async def look_back(ctx: Context, query: Lookback) -> LookbackEvents:
    """List what happened, the newest first.

    On request each event has its inputs, its outputs and its place in the chain.
    """
    return await lookback_actions.look_back(ctx, query, "query")


@area.post("/evidence/lookback", access="compliance:read", summary="Search events")
async def look_back_by_body(ctx: Context, body: LookbackBody) -> LookbackEvents:
    """List events as `GET /api/v1/compliance/lookback` does, with the filters in a body."""
    return await lookback_actions.look_back(ctx, body, "body")
