"""Readings' rows."""

from __future__ import annotations

from uuid import UUID

from service.compliance.schema import InvalidDefinition, RunTooSlow
from service.mappings import schema as mappings_schema
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Raw
from service.platform.unit.context import Context
from service.readings import detection_actions, loan_actions
from service.readings.schema import DetectionTrial, LoansQuery, TriedDetection, WorkbookLoans
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady

area = Area("/api/v1/workbooks", tag="workbooks", scope="workbooks")


@area.get(
    "/{workbook_id}/loans",
    access="compliance:read",
    errors=(
        WorkbookNotFound,
        WorkbookNotReady,
        mappings_schema.MappingNotFound,
        mappings_schema.MappingTooSlow,
        Damaged,
    ),
    heavy=True,
    summary="List loans",
)
async def list_workbook_loans(ctx: Context, workbook_id: UUID, query: LoansQuery) -> WorkbookLoans | Raw:
    """List the loans of a workbook as its mapping reads them, by column.

    `filter` comes once for each condition, such as `filter=spread:ge:400&filter=industry:contains:retail`. Texts are
    compared in any case, dates as YYYY-MM-DD, ratings by their rank, of which the best is the least. Loans of one value
    stay in the sheet's order, and blanks come last.
    """
    return await loan_actions.loans(ctx, workbook_id, query)


@area.post(
    "/{workbook_id}/detection",
    access="workbooks:read",
    errors=(
        WorkbookNotFound,
        WorkbookNotReady,
        mappings_schema.MappingNotFound,
        mappings_schema.InvalidSourceType,
        mappings_schema.InvalidConfiguration,
        mappings_schema.ProfileNotFound,
        mappings_schema.MappingTooSlow,
        InvalidDefinition,
        RunTooSlow,
        Damaged,
    ),
    heavy=True,
    summary="Try unsaved mapping",
)
async def try_detection(ctx: Context, workbook_id: UUID, body: DetectionTrial) -> TriedDetection | Raw:
    """Explain how a mapping that is not stored reads the loans of a workbook.

    It is like `GET`, which does this for a stored mapping. The answer says which results of its tests change. The
    mapping is what `POST /api/v1/mappings` takes, its name left out or not. Nothing is stored. `changes` compares with
    the workbook's present mapping; a key without `compliance:read` has none.
    """
    return await detection_actions.try_mapping(ctx, workbook_id, body)
