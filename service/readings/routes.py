"""Readings' rows."""

from __future__ import annotations

from uuid import UUID

from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.context import Context
from service.platform.data.blobs import Damaged
from service.platform.http.api import Area, Raw
from service.readings import loan_actions
from service.readings.schema import LoansQuery, WorkbookLoans
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady

area = Area("/api/v1/workbooks", tag="workbooks", scope="workbooks")


@area.get(
    "/{workbook_id}/loans",
    access="compliance:read",
    errors=(WorkbookNotFound, WorkbookNotReady, MappingNotFound, MappingTooSlow, Damaged),
    heavy=True,
)
async def list_workbook_loans(ctx: Context, workbook_id: UUID, query: LoansQuery) -> WorkbookLoans | Raw:
    """List loans.

    The loans of a workbook as its mapping reads them, by column. `filter` is given once for each condition, such as
    `filter=spread:ge:400&filter=industry:contains:retail`: texts are compared in any case, dates as YYYY-MM-DD, ratings
    by their rank, of which the best is the least. Loans of one value stay in the sheet's order, and blanks come last.
    """
    return await loan_actions.loans(ctx, workbook_id, query)
