"""Deals' rows."""

from __future__ import annotations

from uuid import UUID

from service.compliance.schema import InvalidDefinition, InvalidSuite, RunTooSlow
from service.deals import actions, schema, store
from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Page, PageQuery
from service.platform.unit.context import Context
from service.reconciliation.schema import InvalidDate, InvalidTrustee
from service.workbooks import schema as workbooks_schema

area = Area("/api/v1/deals", tag="deals", scope="compliance")

UNREADABLE = (
    workbooks_schema.DealNotFound,
    workbooks_schema.WorkbookNotFound,
    workbooks_schema.WorkbookNotReady,
    MappingNotFound,
    MappingTooSlow,
    RunTooSlow,
    InvalidDefinition,
    Damaged,
)
"""Why a workbook of a deal cannot be run."""


@area.get(lags=True)
async def list_deals(ctx: Context, query: schema.DealList) -> Page[schema.Deal]:
    """List the deals of the tenant, each with the newest of its workbooks."""
    return await store.read_page(ctx, query)


@area.post(
    status=201,
    errors=(MappingNotFound, schema.StreamTaken, schema.DealLimitExceeded),
    event="deal.created",
    versioned=True,
)
async def create_deal(ctx: Context, body: schema.DealCreate) -> schema.Deal:
    """Create a deal.

    Workbooks, tapes, a definition and limits may then belong to it.
    """
    return await actions.create(ctx, body)


@area.get("/{deal_id}", errors=(workbooks_schema.DealNotFound,), versioned=True)
async def get_deal(ctx: Context, deal_id: UUID) -> schema.Deal:
    """Give a deal.

    Its ETag is what If-Match of a change compares.
    """
    return await actions.detail(ctx, deal_id)


@area.patch(
    "/{deal_id}",
    errors=(workbooks_schema.DealNotFound, MappingNotFound, schema.StreamTaken, InvalidDefinition),
    event="deal.updated",
    versioned=True,
    heavy=True,
)
async def update_deal(ctx: Context, deal_id: UUID, body: schema.DealPatch) -> schema.Deal:
    """Change the fields in the body.

    A stale If-Match is refused.
    """
    return await actions.update(ctx, deal_id, body)


@area.delete("/{deal_id}", errors=(workbooks_schema.DealNotFound,), event="deal.deleted")
async def delete_deal(ctx: Context, deal_id: UUID) -> None:
    """Delete a deal, its definitions and its thresholds.

    Its workbooks and tapes stay and belong to no deal.
    """
    await actions.delete(ctx, deal_id)


@area.post(
    "/{deal_id}/files",
    status=201,
    access="workbooks:write",
    errors=(
        workbooks_schema.DealNotFound,
        workbooks_schema.InvalidFile,
        workbooks_schema.FileTooLarge,
        workbooks_schema.TooManySheets,
        workbooks_schema.ParseError,
        InvalidTrustee,
        InvalidDate,
        MappingNotFound,
        workbooks_schema.WorkbookLimitExceeded,
        workbooks_schema.StorageLimitExceeded,
    ),
    event="workbook.uploaded",
    flag="uploads",
    versioned=True,
    heavy=True,
    summary="Upload deal files",
)
async def add_deal_files(
    ctx: Context, deal_id: UUID, form: schema.FilesForm
) -> schema.HoldingsAdded | schema.TapeAdded:
    """Upload the files of a month as they were delivered.

    They are .xlsx, .xls, .xlsm, .xlsb, .ods, .pdf, .csv, or a .zip of them. They become one workbook, which belongs to
    the deal and takes over its mapping, its definition and its thresholds. With `kind=tape` one file is a tape of the
    deal, with `trustee_name` and `statement_date`. The caller needs `compliance:write` too, and the event is
    `tape.uploaded`.
    """
    return await actions.add_files(ctx, deal_id, form)


@area.get("/{deal_id}/definition", errors=(workbooks_schema.DealNotFound, schema.DefinitionNotFound))
async def get_definition(ctx: Context, deal_id: UUID, query: schema.DefinitionQuery) -> schema.Definition:
    """Give the deal's definition: the present version, or the one in the query."""
    return await actions.definition(ctx, deal_id, query)


@area.put(
    "/{deal_id}/definition",
    errors=(workbooks_schema.DealNotFound, InvalidDefinition, schema.DealLimitExceeded),
    event="deal.defined",
    heavy=True,
    summary="Replace definition",
)
async def put_definition(ctx: Context, deal_id: UUID, body: schema.DefinitionPut) -> schema.Definition:
    """Make a new version of the deal's definition.

    Runs keep the version that they used. With `check_only`, the document is checked and nothing is stored.
    """
    return await actions.define(ctx, deal_id, body)


@area.get("/{deal_id}/definition/versions", errors=(workbooks_schema.DealNotFound,), lags=True)
async def list_definition_versions(ctx: Context, deal_id: UUID, query: PageQuery) -> Page[schema.DefinitionVersion]:
    """List the versions of the deal's definition, the newest first."""
    return await actions.versions(ctx, deal_id, query)


@area.post("/{deal_id}/definition/draft", access="compliance:read", errors=UNREADABLE, heavy=True)
async def draft_definition(ctx: Context, deal_id: UUID, body: schema.DraftOrder) -> schema.DefinitionDraft:
    """Draft a definition out of a workbook of the deal.

    It has what the file prints, and what its figures tie by. Nothing is stored. What must be decided stands in `decide`
    and at the top of the text.
    """
    return await actions.draft_definition(ctx, deal_id, body)


@area.get("/{deal_id}/tie-out", errors=UNREADABLE, heavy=True, summary="Compare published tests")
async def get_tie_out(ctx: Context, deal_id: UUID, query: schema.TieOutQuery) -> schema.DealTieOut:
    """Set our tests beside those that the trustee's file publishes.

    Without a workbook in the query, the newest counts. What is not matched is listed; a difference is explained where a
    run with one rule changed comes to the trustee's.
    """
    return await actions.compare_with_trustee(ctx, deal_id, query)


@area.get("/{deal_id}/movements", errors=(*UNREADABLE, InvalidSuite), heavy=True, summary="Explain movements")
async def get_movements(ctx: Context, deal_id: UUID, query: schema.MovementsQuery) -> schema.DealMovements:
    """Explain why each test moved between two of the deal's workbooks.

    The parts add up to the change, in a fixed order.
    """
    return await actions.explain_movements(ctx, deal_id, query)


@area.get("/{deal_id}/history", errors=(workbooks_schema.DealNotFound,), lags=True)
async def get_deal_history(ctx: Context, deal_id: UUID, query: schema.DealHistoryQuery) -> schema.DealHistory:
    """Give the deal's tests through the months.

    Of each workbook the newest full run counts that has the test.
    """
    return await actions.history(ctx, deal_id, query)
