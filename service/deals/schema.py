"""What deals say: the records, their definitions, their history, the requests, the refusals."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.compliance.result import Status
from core.deals.movements import Movement
from core.deals.tie_out import TieOut
from core.portfolio.notes import DataWarning
from service.platform.http.api import PageQuery, Uploads
from service.platform.http.problem import Problem
from service.workbooks.schema import AsOf, Description, MappingId, StreamKey

VERSIONS_MAX = 200
"""Versions of one deal's definition."""
HISTORY_TESTS_MAX = 50
HISTORY_RUNS_MAX = 1_000
"""The newest runs that a history is made of: forty years of months, each run twice."""
HISTORY_POINTS_MAX = 20_000
"""The newest points of all series together."""

Name = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S")]
Currency = Annotated[str, Meta(pattern=r"^[A-Z]{3}$(?!\n)", max_length=3, description="ISO 4217")]
Country = Annotated[str, Meta(pattern=r"^[A-Z]{2}$(?!\n)", max_length=2, description="ISO 3166")]
Countries = Annotated[
    list[Country], Meta(max_length=250, description="Countries that are not foreign; none: those of the definition")
]
ChangeNotes = Annotated[str, Meta(max_length=2000, description="What was changed, and why")]


# Records --------------------------------------------------------------------------------------------------------------


class Thinnest(Struct, frozen=True, kw_only=True):
    """The test with the least room, measured by its limit."""

    test_id: str
    cushion: float


class Latest(Struct, frozen=True, kw_only=True):
    """The newest of a deal's workbooks, by the day that it is of, with its newest run."""

    workbook_id: UUID
    as_of: date | None
    """Null while neither a user nor a run has said it."""
    run_id: UUID | None
    """Null where nothing was run yet; so are the figures below."""
    failed: int | None
    warnings: int | None
    thinnest: Thinnest | None


class Deal(Struct, frozen=True, kw_only=True):
    """A deal."""

    id: UUID
    name: str
    stream_key: str | None
    currency: str
    home_countries: list[str]
    closing_date: date | None
    reinvestment_end: date | None
    stated_maturity: date | None
    next_payment_date: date | None
    mapping_id: str | None
    definition_version: int
    """0: none was written yet."""
    latest: Latest | None
    created_by: str
    created_at: datetime
    updated_at: datetime


class DealRow(Deal, frozen=True, kw_only=True):
    """A stored deal."""

    version: int


# What is asked --------------------------------------------------------------------------------------------------------


class DealList(PageQuery, kw_only=True, frozen=True):
    """Which deals, in which order."""

    sort_by: Literal["name", "created_at", "updated_at"] = "created_at"
    sort_order: Literal["asc", "desc"] = "desc"
    search: Annotated[str, Meta(max_length=255, description="Part of the name")] | None = None


class DealCreate(Struct, frozen=True, kw_only=True):
    """A new deal."""

    name: Name
    stream_key: StreamKey | None = None
    currency: Currency | None = None
    """None: the tenant's default currency."""
    home_countries: Countries = []
    closing_date: date | None = None
    reinvestment_end: date | None = None
    stated_maturity: date | None = None
    next_payment_date: date | None = None
    mapping_id: MappingId | None = None
    """Reads the deal's workbooks that name none themselves."""


class DealPatch(Struct, frozen=True, kw_only=True):
    """What to change of a deal; null clears a stream, a date or the mapping."""

    name: Name | UnsetType = UNSET
    stream_key: StreamKey | UnsetType | None = UNSET
    currency: Currency | UnsetType = UNSET
    home_countries: Countries | UnsetType = UNSET
    closing_date: date | UnsetType | None = UNSET
    reinvestment_end: date | UnsetType | None = UNSET
    stated_maturity: date | UnsetType | None = UNSET
    next_payment_date: date | UnsetType | None = UNSET
    mapping_id: MappingId | UnsetType | None = UNSET


class FilesForm(Struct, frozen=True, kw_only=True):
    """The files of one month, as they were delivered."""

    files: Uploads
    as_of: AsOf | None = None
    name: Annotated[str, Meta(max_length=255, description="Unset: the file's name")] = ""
    description: Description = ""


# Definitions ----------------------------------------------------------------------------------------------------------


class Definition(Struct, frozen=True, kw_only=True):
    """A version of a deal's definition."""

    version: int
    """0: none was written yet, and what it would say has the suites' defaults."""
    definition: dict[str, Any]
    change_notes: str | None
    created_by: str | None
    created_at: datetime | None


class DefinitionQuery(Struct, frozen=True, kw_only=True):
    """Which version."""

    version: Annotated[int, Meta(ge=1, le=VERSIONS_MAX, description="Unset: the present one")] | None = None


class DefinitionPut(Struct, frozen=True, kw_only=True):
    """The definition's next version."""

    definition: dict[str, Any]
    change_notes: ChangeNotes | None = None


class DefinitionVersion(Struct, frozen=True, kw_only=True):
    """A version without its document."""

    version: int
    change_notes: str | None
    created_by: str
    created_at: datetime


# History --------------------------------------------------------------------------------------------------------------


class DealHistoryQuery(Struct, frozen=True, kw_only=True):
    """Which tests, and between which days; days inclusive."""

    test_id: Annotated[
        list[Annotated[str, Meta(max_length=200)]],
        Meta(max_length=HISTORY_TESTS_MAX, description="Tests, separated by commas or repeated; none: all"),
    ] = []
    start_date: date | None = None
    end_date: date | None = None


class Point(Struct, frozen=True, kw_only=True):
    """A test's figure on a day."""

    as_of: date
    run_id: UUID
    value: float
    threshold: float
    status: Status


class Series(Struct, frozen=True, kw_only=True):
    """A test through the months, in the order of days: of each workbook the newest run that has the test."""

    test_id: str
    points: list[Point]


class DealHistory(Struct, frozen=True, kw_only=True):
    """A deal's tests through the months."""

    deal_id: UUID
    series: list[Series]
    truncated: bool
    """There are more runs than a history is made of; the oldest were left out."""


# Beside the trustee, and from month to month --------------------------------------------------------------------------


class TieOutQuery(Struct, frozen=True, kw_only=True):
    """Which workbook of the deal."""

    workbook_id: UUID | None = None


class DealTieOut(Struct, frozen=True, kw_only=True):
    """A workbook's published tests with ours beside them."""

    deal_id: UUID
    workbook_id: UUID
    as_of: date | None
    warnings: list[DataWarning]
    """Those of a run of the deal's tests on it."""
    items: list[TieOut]
    """Every test that the file publishes, in its order."""


Side = Annotated[str, Meta(max_length=40, description="A workbook's identifier, or its day as YYYY-MM-DD")]


class MovementsQuery(Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Between which workbooks, and which tests."""

    from_: Side
    to: Side
    test_suite: Annotated[str, Meta(max_length=200, description="deal, standard or enhanced")] = "deal"


class DealMovements(Struct, frozen=True, kw_only=True):
    """Why a deal's tests moved between two workbooks."""

    deal_id: UUID
    from_workbook_id: UUID
    to_workbook_id: UUID
    test_suite: str
    warnings: list[DataWarning]
    """Those of a run on each of the two, which they name."""
    items: list[Movement]


# Refusals -------------------------------------------------------------------------------------------------------------


class StreamTaken(Problem, status=409, constraint="deals_stream_key"):
    """Stream key already in use"""


class DealLimitExceeded(Problem, status=403):
    """Deal limit exceeded"""


class DefinitionNotFound(Problem, status=404):
    """Definition not found"""
