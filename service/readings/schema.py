"""What readings say.

A workbook's loans by column, and what an unsaved mapping makes of the workbook.
"""

from __future__ import annotations

from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta, Struct

from core.compliance.result import Status
from core.portfolio.model.loan_fields import LoanField
from core.portfolio.model.notes import DataWarning
from service.mappings.schema import MappingDraft
from service.platform.route.api import REPEATED, Offset
from service.workbooks.schema import WorkbookDetection

LOANS_MAX: Final = 10_000
"""Loans of one answer."""
FIELDS_MAX: Final = 200
"""Fields of one answer; a file has some fifty."""
FILTERS_MAX: Final = 20
"""Conditions of one request."""
FILTER_LENGTH_MAX: Final = 300
"""Characters of a condition."""

FieldName = Annotated[str, Meta(max_length=200)]
Filter = Annotated[str, Meta(max_length=FILTER_LENGTH_MAX)]

# Loans ----------------------------------------------------------------------------------------------------------------


class LoansQuery(Struct, frozen=True, kw_only=True):
    """Which loans, which of their fields, and in what order."""

    fields: Annotated[
        list[FieldName],
        Meta(max_length=FIELDS_MAX, description="Comma separated names, as `available` lists them; all when absent"),
    ] = []
    filter: Annotated[
        list[Filter],
        Meta(
            max_length=FILTERS_MAX,
            extra=REPEATED,
            description="What a loan must be, as field:op:value, once for each condition; op is eq, ne, lt, le, gt, ge "
            "or contains. Without a value, eq and ne ask for blanks",
        ),
    ] = []
    sort: Annotated[str, Meta(max_length=200, description="A field, with - in front the largest first")] = ""
    offset: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=LOANS_MAX, description="Most loans of an answer")] = 100


class WorkbookLoans(Struct, frozen=True, kw_only=True):
    """Loans of a workbook, by column."""

    workbook_id: UUID
    mapping_id: str
    """The mapping that read it."""
    fields: list[LoanField]
    """The fields of this answer, in the order that was asked for."""
    columns: dict[str, list[str | float | bool | None]]
    """By field one value for each loan: dates as ISO 8601, ratings as written; blank and masked ones null."""
    rows: list[int]
    """The sheet's row of each loan, from 1; of several lots the row of the largest."""
    pages: list[int]
    """The page of each loan's row in its document, from 1; 0 for a loan without one. Empty: the file has no pages."""
    lines: list[int]
    """The line of each loan's row on its page, from 1; 0 for a loan without one. Empty: the file has no pages."""
    total: int
    """Loans that meet the conditions."""
    total_par: float | None
    """Their par. Null: no loan has one."""
    offset: int
    limit: int
    available: list[LoanField]
    """All fields that the workbook's loans have."""
    warnings: list[DataWarning]
    """What to doubt of the loans."""


# Detection under a mapping that is not stored -------------------------------------------------------------------------


class DetectionTrial(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping to try on a workbook."""

    mapping: MappingDraft


class TestFigure(Struct, frozen=True, kw_only=True):
    """The figure of a test under one of two mappings."""

    value: float
    """The test's figure, in its unit."""
    status: Status
    """pass, warning or fail."""


class ChangedTest(Struct, frozen=True, kw_only=True):
    """A test whose figure or status another mapping changes."""

    test_id: str
    test_name: str
    unit: str
    """Unit of the figures, as the suite names it; empty without one."""
    decimals: int
    """Decimals to show the figures with."""
    before: TestFigure | None
    """By the workbook's present mapping. Null: it has no figure."""
    after: TestFigure | None
    """By the mapping that is tried. Null: it has no figure."""


class TriedDetection(WorkbookDetection, frozen=True, kw_only=True):
    """How the loans of a workbook are read by a mapping that is not stored, and what it changes."""

    test_suite: str | None
    """The suite whose results are compared: that of the deal's definition, enhanced where there is none. Null: as for
    `changes`."""
    changes: list[ChangedTest] | None
    """Tests whose figure or status differs, in the order of the suite. Null: the caller may not read results."""
