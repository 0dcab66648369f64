"""Batches' rows."""

from __future__ import annotations

from uuid import UUID

from service.batches import actions, schema, store
from service.compliance.schema import InvalidDefinition, InvalidSuite, UnknownTest
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Slice, Streamed, WaitQuery, Waits
from service.platform.unit.context import Context
from service.workbooks.schema import DealNotFound, StorageLimitExceeded, WorkbookNotFound

area = Area("/api/v1/batches", tag="batches", scope="compliance")


@area.get()
async def list_batches(ctx: Context, query: schema.BatchList) -> Slice[schema.Batch]:
    """List the batches of the tenant, the newest first."""
    return await store.read_page(ctx, query)


@area.post(
    status=201,
    errors=(
        InvalidSuite,
        UnknownTest,
        InvalidDefinition,
        WorkbookNotFound,
        DealNotFound,
        schema.BatchLimitExceeded,
        StorageLimitExceeded,
    ),
    event="batch.created",
    heavy=True,
)
async def create_batch(ctx: Context, body: schema.BatchCreate) -> schema.Batch:
    """Run a suite on many workbooks in the background.

    Deals are run by their current workbooks. Each workbook gets a run of its own with its evidence, as by
    `POST /api/v1/compliance/run`. Alerts are evaluated once, at the end. A workbook that cannot be run is a row with
    its reason in the result file, and ends nothing.
    """
    return await actions.create(ctx, body)


@area.get(
    "/{batch_id}",
    errors=(schema.BatchNotFound,),
    waits=Waits("batch_id", schema.BUSY, lambda batch: (batch.status, batch.progress)),
)
async def get_batch(ctx: Context, batch_id: UUID, query: WaitQuery) -> schema.Batch:
    """Give a batch: how far it is, and what its runs came to."""
    return await store.batches.get(ctx, batch_id)


@area.delete("/{batch_id}", errors=(schema.BatchNotFound, schema.BatchEnded), event="batch.cancelled")
async def cancel_batch(ctx: Context, batch_id: UUID) -> None:
    """Stop a batch before its next workbook.

    The runs that were done stay in the history. A batch that has ended stays as it is (409).
    """
    await actions.cancel(ctx, batch_id)


@area.get(
    "/{batch_id}/results",
    errors=(schema.BatchNotFound, schema.BatchNotReady, schema.BatchExpired, Damaged),
    event="batch.downloaded",
    media_type=actions.MEDIA_TYPES["csv"],
    also_media=(actions.MEDIA_TYPES["parquet"], actions.MEDIA_TYPES["jsonl"]),
    ranged=True,
    summary="Download batch results",
)
async def get_batch_results(ctx: Context, batch_id: UUID) -> Streamed:
    """Give the result file of a completed batch, until it expires.

    It has a row for each test of each workbook, in the order of the request, and one for each refused workbook.
    """
    return await actions.download(ctx, batch_id)
