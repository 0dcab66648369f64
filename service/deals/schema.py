"""What deals say: the records, their definitions, their history, the requests, the refusals."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr

from core.compliance.result import Status
from core.compliance.suites import TESTS
from core.deals.draft import Decision, DraftTies
from core.deals.movements import Movement
from core.deals.tie_out import TieOut
from core.frames.figures import DECIMALS, decimals_of
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.notes import DataWarning
from service.platform.base.problem import Problem
from service.platform.route.api import PageQuery, Uploads
from service.platform.route.patch import Patch, patch_of
from service.reconciliation.schema import TapeUploaded
from service.workbooks.schema import AsOf, Description, MappingId, StreamKey, Uploaded

VERSIONS_MAX = 200
"""Versions of one deal's definition."""
HISTORY_TESTS_MAX = 50
HISTORY_RUNS_MAX = 1_000
"""The newest full runs that a history is made of: forty years of months, each run twice."""
HISTORY_POINTS_MAX = 20_000
"""The newest points of all series together."""

Name = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S")]
Currency = Annotated[
    str,
    Meta(
        pattern=r"^[A-Z]{3}$(?!\n)",
        max_length=3,
        extra={"words": "a currency code of three capital letters such as USD"},
    ),
]
Country = Annotated[
    str,
    Meta(
        pattern=r"^[A-Z]{2}$(?!\n)",
        max_length=2,
        extra={"words": "a country code of two capital letters such as US"},
    ),
]
Countries = Annotated[list[Country], Meta(max_length=250)]
ChangeNotes = Annotated[str, Meta(max_length=2000)]


# Records --------------------------------------------------------------------------------------------------------------


class Thinnest(Struct, frozen=True, kw_only=True):
    """The test with the least room, measured by its limit."""

    test_id: str
    test_name: str = ""
    """Name of the test as its run has it; of a run that is older than this field, the suite's, else the test's id."""
    unit: str = ""
    """Unit of the cushion, as the suite names it. Empty: the run is older than this field."""
    status: Status
    """pass, warning or fail."""
    cushion: float
    cushion_pct: float | None = None
    """Cushion in percent of the limit. Null: the limit is 0."""
    decimals: int = DECIMALS
    """Decimals to show the cushion with."""
    doubtful: bool = False
    """Whether its status may be wrong."""

    def __post_init__(self) -> None:
        if not self.unit:
            test = TESTS.get(self.test_id)
            force_setattr(self, "test_name", test.name if test else self.test_id)
            force_setattr(self, "unit", test.unit if test else "")


class Latest(Struct, frozen=True, kw_only=True):
    """The newest of a deal's workbooks, by the day that it is of, with its newest full run, of whichever suite."""

    workbook_id: UUID
    """The newest workbook, by the day that it is of."""
    as_of: date | None
    """Null: neither a user nor a run has said it."""
    run_id: UUID | None
    """Its newest full run. Null: no whole suite was run yet, and the figures below are null too."""
    test_suite: str | None
    """Suite of that run."""
    failed: int | None
    """Tests that fail in that run."""
    warnings: int | None
    """Tests that are a warning in that run."""
    doubtful: int | None
    """Tests of that run whose status may be wrong; they are among those that pass, fail or warn. Null also where the
    run is older than this count."""
    thinnest: Thinnest | None
    """The test with the smallest cushion in proportion to its limit."""


class Deal(Struct, frozen=True, kw_only=True):
    """A CLO: what its workbooks, tapes, rules and limits have in common."""

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
    """Mapping of the deal's workbooks that name none. Null: the built-in one."""
    definition_version: int
    """The newest version. 0: none was written yet."""
    latest: Latest | None
    """Its newest workbook with the newest full run of it. Null: it has no workbook."""
    created_by: str
    created_at: datetime
    updated_at: datetime


class DealRow(Deal, frozen=True, kw_only=True):
    """A stored deal."""

    version: int


# What is asked --------------------------------------------------------------------------------------------------------


class DealList(PageQuery, kw_only=True, frozen=True):
    """Which deals, in which order."""

    sort_by: Literal["name", "created_at", "updated_at", "cushion"] = "created_at"
    """cushion: the thinnest cushion of the newest workbook as a part of its limit; deals without figures come last."""
    sort_order: Literal["asc", "desc"] | None = None
    """Unset: asc by cushion (the thinnest first), else desc."""
    search: Annotated[str, Meta(max_length=255, description="Part of the name")] | None = None


class DealCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new deal."""

    name: Name
    stream_key: StreamKey | None = None
    """Unset: none."""
    currency: Currency | None = None
    """Null: the tenant's default currency."""
    home_countries: Countries = []
    closing_date: date | None = None
    reinvestment_end: date | None = None
    stated_maturity: date | None = None
    next_payment_date: date | None = None
    mapping_id: MappingId | None = None
    """Mapping of the deal's workbooks that name none. Null: the built-in one."""


@patch_of(DealCreate)
class DealPatch(Patch, frozen=True):
    """What to change of a deal; null clears a stream, a date or the mapping."""

    stream_key: StreamKey | UnsetType | None = UNSET
    """Null: none."""
    currency: Currency | UnsetType = UNSET


UploadKind = Literal["holdings", "tape"]


class FilesForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The files of one month, as they were delivered, or a trustee's tape."""

    files: Uploads
    """The month's files, or a .zip of them; at most 32. Of a tape one file, which may be a .zip."""
    kind: UploadKind = "holdings"
    """holdings: a workbook of the deal; tape: a trustee's tape, to be compared with one."""
    trustee_name: Annotated[str, Meta(max_length=200, description="Of a tape, which needs it: trustee_a, ...")] = ""
    statement_date: Annotated[str, Meta(max_length=40, description="Of a tape, which needs it: YYYY-MM-DD")] = ""
    as_of: AsOf | None = None
    """Unset: the files decide; of a tape the day of the statement."""
    name: Annotated[str, Meta(max_length=255, description="What people call it; none: the file's name")] = ""
    description: Description = ""


class HoldingsAdded(Uploaded, frozen=True, kw_only=True, tag_field="kind", tag="holdings"):
    """A workbook that was made of the files."""


class TapeAdded(Struct, frozen=True, kw_only=True, tag_field="kind", tag="tape"):
    """A tape that was taken in."""

    tape: TapeUploaded


# Definitions ----------------------------------------------------------------------------------------------------------


class Definition(Struct, frozen=True, kw_only=True):
    """A version of a deal's definition."""

    version: int
    """Number of the version. 0: none was written yet, and the suites' defaults apply."""
    definition: dict[str, Any]
    change_notes: str | None
    created_by: str | None
    """E-mail address of who wrote the version. Null: none was written yet."""
    created_at: datetime | None
    """When the version was written, in UTC. Null: none was written yet."""


class DefinitionQuery(Struct, frozen=True, kw_only=True):
    """Which version."""

    version: Annotated[int, Meta(ge=1, le=VERSIONS_MAX)] | None = None
    """Number of the version. Unset: the present one."""


class DefinitionPut(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The definition's next version."""

    definition: dict[str, Any]
    change_notes: ChangeNotes | None = None
    check_only: bool = False
    """True: refuse the document as ever, but store nothing; the answer has the number of the version it would become,
    and no author."""


class DefinitionVersion(Struct, frozen=True, kw_only=True):
    """A version without its document."""

    version: int
    """Number of the version, from 1."""
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
    """First day, inclusive."""
    end_date: date | None = None
    """Last day, inclusive."""


class Point(Struct, frozen=True, kw_only=True):
    """A test's figure on a day."""

    as_of: date
    run_id: UUID
    """The run that the figure is of."""
    value: float
    """The test's figure, in its unit."""
    threshold: float
    """The limit on that day, in the same unit."""
    status: Status
    """pass, warning or fail."""
    published: float | None = None
    """The figure that the file prints for the test. Null: it prints none, or the run is older than this field."""
    doubtful: bool = False
    """Whether the status may be wrong: the file prints the other one, or too much par is missing."""


class Series(Struct, frozen=True, kw_only=True):
    """A test through the months, in the order of days: of each workbook the newest full run that has the test."""

    test_id: str
    test_name: str = ""
    """Name of the test as the newest run has it; of runs that are older than this field, the suite's, else its id."""
    unit: str = ""
    """Unit of the figures, as the suite names it. Empty: there is no figure, or no run has the field."""
    decimals: int = DECIMALS
    """Decimals to show the figures with, as the newest run has them."""
    points: list[Point]
    """Its figures, the earliest day first."""

    def __post_init__(self) -> None:
        if not self.unit:
            test = TESTS.get(self.test_id)
            force_setattr(self, "test_name", test.name if test else self.test_id)
            force_setattr(self, "unit", test.unit if test else "")
            if self.points:
                last = self.points[-1]
                force_setattr(self, "decimals", decimals_of(self.unit, last.value, last.threshold))


class DealHistory(Struct, frozen=True, kw_only=True):
    """A deal's tests through the months."""

    deal_id: UUID
    series: list[Series]
    """One for each test, at most 20,000 points together."""
    truncated: bool
    """True where the oldest runs were left out, since there are too many."""


# Beside the trustee, and from month to month --------------------------------------------------------------------------


class TieOutQuery(Struct, frozen=True, kw_only=True):
    """Which workbook of the deal."""

    workbook_id: UUID | None = None
    """The workbook whose file is tied out. Unset: the deal's newest."""


class DealTieOut(Struct, frozen=True, kw_only=True):
    """A workbook's published tests with ours beside them."""

    deal_id: UUID
    workbook_id: UUID
    as_of: date | None
    warnings: list[DataWarning]
    items: list[TieOut]
    """Every test and figure that the file publishes, in its order."""
    not_printed: list[str]
    """Ids of the definition's tests that the file publishes nothing of, in their order."""
    interpretation: Interpretation | None
    """How the file's open choices were read, which figures tie by each reading, and how many are right when left out
    once. Null: the file prints nothing of itself."""


class DraftOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of which file a definition is drafted."""

    workbook_id: UUID | None = None
    """A workbook of the deal. Unset or null: the deal's newest."""
    mapping_id: MappingId | None = None
    """The mapping by which its loans are read. Unset or null: the workbook's own."""


class DefinitionDraft(Struct, frozen=True, kw_only=True):
    """A definition out of what a file prints and what its figures tie by; nothing of it is stored."""

    deal_id: UUID
    workbook_id: UUID
    as_of: date | None
    toml: str
    """The text, with a comment on each line that says where it comes from and how sure it is."""
    definition: dict[str, Any]
    """The same as a document, as `PUT .../definition` takes it."""
    decide: list[Decision]
    """What an analyst must decide, in the order of the text's top."""
    ties: DraftTies
    """How many printed figures tie under the draft."""
    interpretation: Interpretation
    """How the choices that the file leaves open were read."""


Side = Annotated[str, Meta(max_length=40)]


class MovementsQuery(Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Between which workbooks, and which tests."""

    from_: Side
    """The earlier side: a workbook's `id`, or its day as YYYY-MM-DD."""
    to: Side
    """The later side: a workbook's `id`, or its day as YYYY-MM-DD."""
    test_suite: Annotated[str, Meta(max_length=200)] = "deal"


class DealMovements(Struct, frozen=True, kw_only=True):
    """Why a deal's tests moved between two workbooks."""

    deal_id: UUID
    from_workbook_id: UUID
    """The earlier side."""
    to_workbook_id: UUID
    """The later side."""
    test_suite: str
    warnings: list[DataWarning]
    """What was guessed, left out or could not be read in a run on either side, which each of them names."""
    items: list[Movement]
    """One for each test."""


# Refusals -------------------------------------------------------------------------------------------------------------


class StreamTaken(Problem, status=409, constraint="deals_stream_key"):
    """Stream key already in use"""


class DealLimitExceeded(Problem, status=403):
    """Deal limit exceeded"""


class DefinitionNotFound(Problem, status=404):
    """Definition not found"""
