"""Batches' decisions: what may be ordered, who stops it, who gets the results."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec.structs import asdict

from core.compliance.suites import DEAL_SUITE
from service.batches import schema, store
from service.batches.store import Kind
from service.compliance import shared as compliance
from service.compliance.schema import RunOrder
from service.documents import shared as documents
from service.platform.base.problem import Fault, Problem, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Streamed
from service.platform.unit.context import Context, Unit
from service.platform.unit.records import lock_count, narrow, to_json
from service.workbooks import shared as workbooks
from service.workbooks.schema import DealNotFound, WorkbookNotFound

LANES: Final = 2
"""Jobs of a batch that are there at a time."""
RUN: Final = "batches.run"
QUEUE: Final = "calculate"
FAULTS_MAX: Final = 10
"""Identifiers that a refusal names."""
MEDIA_TYPES: Final[dict[schema.ResultFormat, str]] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "jsonl": "application/jsonl",
}
_MISSING: Final[dict[Kind, type[Problem]]] = {"workbook_ids": WorkbookNotFound, "deal_ids": DealNotFound}


async def create(ctx: Context, body: schema.BatchCreate) -> schema.Batch:
    """Order a batch: its record, its items and the first jobs."""
    kind, ids = _chosen(body)
    await _check_order(ctx, body)
    if missing := await store.missing(ctx, kind, ids):
        faults = [Fault(["body", kind, str(ids.index(id_))], f"{id_} is none of yours") for id_ in missing[:FAULTS_MAX]]
        raise _MISSING[kind](*faults)
    workbooks.check_storage(ctx.settings, ["body"], await workbooks.room(ctx))
    if await lock_count(ctx, store.IN_WORK) >= ctx.settings.max_batches:
        limit = f"the limit is {ctx.settings.max_batches} batches in work; wait for one to end, or cancel it"
        raise schema.BatchLimitExceeded.at(["body"], limit)
    batch_id, noun = new_id(), kind.removesuffix("_ids") + ("s" if len(ids) > 1 else "")
    name = body.name or f"{body.test_suite}, {len(ids):,} {noun}"
    row = {
        "id": batch_id,
        "name": name,
        "format": body.format,
        "request": to_json(narrow(RunOrder, body)),
        "total": len(ids),
        "created_by": await ctx.email(),
    }
    await store.batches.add(ctx, row)
    if await store.add_items(ctx, batch_id, kind, ids) != len(ids):
        raise _MISSING[kind]
    for lane in range(min(LANES, len(ids))):
        await ctx.enqueue(RUN, queue=QUEUE, arguments={"batch_id": str(batch_id), "lane": lane})
    about = {"test_suite": body.test_suite, "total": len(ids), "format": body.format, "by": kind}
    ctx.set_subject("batch", batch_id, name, **about)
    return await store.batches.get(ctx, batch_id)


def _chosen(body: schema.BatchCreate) -> tuple[Kind, list[UUID]]:
    """Return by what the workbooks are named, and the identifiers.

    Raises:
        ValidationFailed: by both or neither, or the same one twice.
    """
    if (body.workbook_ids is None) == (body.deal_ids is None):
        raise ValidationFailed.at(["body"], "name workbook_ids or deal_ids, and not both")
    kind: Kind = "deal_ids" if body.workbook_ids is None else "workbook_ids"
    ids = body.workbook_ids or body.deal_ids or []
    twice = [id_ for id_, count in Counter(ids).items() if count > 1]
    if twice:
        raise ValidationFailed(*(Fault(["body", kind], f"{id_} is named twice") for id_ in twice[:FAULTS_MAX]))
    return kind, ids


async def _check_order(ctx: Context, body: schema.BatchCreate) -> None:
    """Refuse what would be refused for every workbook.

    Raises:
        InvalidSuite, UnknownTest, InvalidDefinition, ValidationFailed: as a run does.
    """
    compliance.check_request(body)
    definition = None
    document = compliance.document_asked(body.definition)
    if document is not None:
        if body.deal_ids is not None:
            raise ValidationFailed.at(["body", "definition"], "deals are run by their own definitions")
        compliance.check_size(document)
        definition = (await compliance.read_definition(ctx, document)).definition
    if definition is not None or body.test_suite != DEAL_SUITE:  # else its tests are known with each deal's
        compliance.check_limits(body, definition)


async def cancel(ctx: Context, batch_id: UUID) -> None:
    """End a batch that is in work; its jobs notice before their next workbook."""
    ended = await store.end(ctx, batch_id, {"status": "cancelled"})
    if ended is None:
        batch = await store.batches.get(ctx, batch_id)
        raise schema.BatchEnded.at(["path", "batch_id"], f"the batch is {batch.status}")
    ctx.set_subject("batch", batch_id, ended.name, **await proof(ctx, ended))


async def proof(unit: Unit, batch: store.EndedBatch) -> dict[str, Any]:
    """Return what the audit log says of an ended batch.

    Counts, and a hash over its runs' entries.
    """
    entries = await store.run_entries(unit, batch.id)
    evidence = compliance.digest_entries((run.run_id, run.entry) for run in entries)
    return {
        **{name: value for name, value in asdict(batch).items() if name not in ("id", "name")},
        "evidence": evidence,
    }


async def download(ctx: Context, batch_id: UUID) -> Streamed:
    """Return the result file.

    Raises:
        BatchNotReady: it is not written, or never will be.
        BatchExpired, Damaged, RangeNotSatisfiable: as `documents.download`.
    """
    batch = await store.result_files.get(ctx, batch_id)
    if batch.status != "completed":
        raise schema.BatchNotReady.at(["path", "batch_id"], f"the batch is {batch.status}")
    if batch.document_id is None:
        raise schema.BatchExpired
    ctx.set_subject("batch", batch_id, batch.name)
    return await documents.download(ctx, batch.document_id, gone=schema.BatchExpired)


def run_order(request: dict[str, Any]) -> RunOrder:
    """Return what each run of a stored batch is asked for."""
    return msgspec.convert(request, RunOrder)
