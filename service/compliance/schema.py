"""What compliance says: runs, results, suites, thresholds."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.compliance.result import Direction, Skipped, Status, Summary, TestResult
from core.compliance.suites import Category
from core.parts.content import PARTS_SHOWN, FigureParts
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AsOfSource
from service.platform.base.moments import Moment
from service.platform.base.problem import Problem
from service.platform.route.api import Offset, PageQuery
from service.workbooks.schema import AsOf

TEST_IDS_MAX = 100
THRESHOLDS_MAX = 1000

SuiteId = Annotated[str, Meta(max_length=200)]
TestId = Annotated[str, Meta(max_length=200)]
RunStatus = Literal["pending", "running", "completed", "failed"]


# Runs ---------------------------------------------------------------------------------------------------------------


class RunOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to run a suite."""

    include_cushion: bool = True
    """Whether results carry `cushion` and `cushion_pct`; null otherwise."""
    fail_fast: bool = False
    """Stop after the first failed test; the rest count as skipped."""
    parallel: bool = True
    """Accepted, and never changes an answer."""


class GivenThreshold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A limit of one run."""

    test_id: TestId
    threshold_value: float
    threshold_type: Direction | None = None
    """Null: the test's own."""
    warning_threshold: float | None = None
    """Null: as far from the limit, in proportion, as the default's."""
    enabled: bool = True
    """False takes the test out of the run."""


ReadyName = Annotated[str, Meta(min_length=1, max_length=64)]
"""Name of a ready-made definition."""


class RunOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to run, and by what."""

    test_suite: SuiteId = "standard"
    test_ids: Annotated[list[TestId], Meta(max_length=TEST_IDS_MAX)] | None = None
    """Tests of the suite to run. Null or empty: all of them."""
    thresholds: Annotated[list[GivenThreshold], Meta(max_length=TEST_IDS_MAX)] = []
    """Limits of this run alone, before all that were set."""
    definition: dict[str, Any] | ReadyName | None = None
    """The rules of a workbook that belongs to no deal, as one document, or the name of a ready-made one (us_bsl, euro);
    a deal's workbooks go by the deal's."""
    as_of: AsOf | None = None
    """Unset: what the workbook or its file says."""
    options: RunOptions = RunOptions()
    """How to run it."""


class RunRequest(RunOrder, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to run on which workbook."""

    workbook_id: UUID
    """The workbook to run on; it has to be ready."""


class ComplianceRun(Struct, frozen=True, kw_only=True):
    """A suite's answers for a workbook."""

    id: UUID
    workbook_id: UUID
    test_suite: str
    status: RunStatus
    """completed: a run that fails is refused and leaves nothing."""
    summary: Summary
    results: list[TestResult]
    """Tests with a figure: passed, failed and warned, in the order of the suite."""
    skipped: list[Skipped]
    """Tests without a figure or without a status, each with the reason."""
    partial: bool
    """The request left tests of the suite out: by `test_ids`, a stop at the first failure, a limit that is not enabled.
    A deal's `latest` and history, and what shows the newest run, pass such a run over."""
    as_of: date
    as_of_source: AsOfSource | None
    """Null: the run is older than this field."""
    definition_version: int | None
    warnings: list[DataWarning]
    interpretation: Interpretation | None
    """How the choices that the file leaves open were read. Null: the file prints nothing of itself that could decide
    them, or the run is older than this field."""
    executed_at: datetime
    execution_time_ms: int
    execution_time_us: int
    """Microseconds that it took."""


class Evidence(Struct, frozen=True, kw_only=True):
    """What a figure of a stored run can be taken apart by, whatever became of its workbook."""

    test_suite: str
    as_of: date
    as_of_source: AsOfSource | None
    results: list[TestResult]
    skipped: list[Skipped]
    mapping: str
    """JSON, as it was; so are the next two."""
    definition: str | None
    options: str
    interpretation: Interpretation | None
    book_key: str
    manifest: str | None
    """Of the columns that were read. None: they are no longer kept."""


class ResultQuery(Struct, frozen=True, kw_only=True):
    """Which results of a run; the summary stays that of the whole run."""

    include_details: bool = True
    """Whether each result carries its formula and breakdown."""
    status_filter: Status | None = None
    """Only results of this status."""
    category: Category | None = None


class RunItem(Struct, frozen=True, kw_only=True):
    """A run in the history."""

    id: UUID
    workbook_id: UUID
    test_suite: str
    status: RunStatus
    """completed: a run that fails is refused and leaves nothing."""
    as_of: date
    as_of_source: AsOfSource | None
    """Null: the run is older than this field."""
    summary: Summary
    partial: bool
    """The request left tests of the suite out."""
    executed_at: datetime


class HistoryQuery(PageQuery, frozen=True, kw_only=True):
    """Which runs."""

    workbook_id: UUID | None = None
    batch_id: UUID | None = None
    """Only runs of this batch."""
    test_suite: SuiteId | None = None
    status: RunStatus | None = None
    """pending, running, completed or failed."""
    start_date: Moment | None = None
    """Runs from this moment on: an ISO 8601 date or date-time, UTC where it names no offset."""
    end_date: Moment | None = None
    """Runs up to this moment; a date means its whole day."""


PARTS_MAX = 1000
"""Parts of a page."""


class PartsQuery(Struct, frozen=True, kw_only=True):
    """Which parts, and how they are written."""

    limit: Annotated[int, Meta(ge=1, le=PARTS_MAX, description="Most items to return")] = PARTS_SHOWN
    offset: Offset = 0
    format: Literal["json", "csv"] = "json"
    """csv: all parts as text/csv, whatever `limit` and `offset` say."""


class ResultParts(FigureParts, frozen=True, kw_only=True):
    """What is behind a figure of a run: parts that add up to its numerator."""

    run_id: UUID
    """The run that the figure is of."""


# Suites -------------------------------------------------------------------------------------------------------------


class SuiteTest(Struct, frozen=True, kw_only=True):
    """A test, and the limit that it has where nobody set another."""

    test_id: str
    name: str
    """Name of the test."""
    category: Category
    description: str
    """What the test is about, in a sentence."""
    default_threshold: float
    """The limit where nobody set another, in the test's unit."""
    threshold_type: Direction
    default_warning_threshold: float
    """Figure at which a test that still passes becomes a warning, where nobody set another."""
    unit: str
    """Unit of figure, limit and cushion: percent, years, or a plain number."""
    formula: str
    """How the figure is worked out, in words."""


class Suite(Struct, frozen=True, kw_only=True):
    """A named list of tests."""

    id: str
    """What `test_suite` of a run names: standard or enhanced."""
    name: str
    description: str
    test_count: int
    """How many tests it has."""
    categories: list[str]
    """Groups that its tests belong to."""
    tests: list[SuiteTest] | None = None
    """Its tests, in the order in which they run; null without include_tests."""


class SuiteQuery(Struct, frozen=True, kw_only=True):
    """How much to say of each suite."""

    include_tests: bool = False
    """Add each suite's tests."""


# Thresholds ---------------------------------------------------------------------------------------------------------


class ThresholdCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A limit in place of a suite's default; the one of the same workbook and test is replaced."""

    test_id: TestId
    threshold_value: float
    workbook_id: UUID | None = None
    """The workbook that it is for. Null, and no deal: every workbook of the tenant."""
    deal_id: UUID | None = None
    """The deal for each of whose workbooks it is. Null: see workbook_id."""
    threshold_type: Direction | None = None
    """Null: the test's own."""
    warning_threshold: float | None = None
    """Null: as far from the limit, in proportion, as the default's."""
    enabled: bool = True
    """False takes the test out of runs."""


class Threshold(Struct, frozen=True, kw_only=True):
    """A limit of a workbook, of a deal or of the whole tenant."""

    id: UUID
    workbook_id: UUID | None
    """The workbook that it is for. Null: see deal_id."""
    deal_id: UUID | None
    """The deal that it is for. Null, and no workbook: the whole tenant."""
    test_id: str
    threshold_value: float
    threshold_type: Direction
    warning_threshold: float | None
    """Null: as far from the limit, in proportion, as the default's."""
    enabled: bool
    """False: runs leave the test out."""
    created_at: datetime
    updated_at: datetime


class ThresholdQuery(Struct, frozen=True, kw_only=True):
    """Which thresholds."""

    workbook_id: UUID | None = None
    """Only limits of this workbook."""
    deal_id: UUID | None = None
    test_id: TestId | None = None
    category: Category | None = None
    limit: Annotated[int, Meta(ge=1, le=THRESHOLDS_MAX, description="Most items to return")] = THRESHOLDS_MAX
    offset: Offset = 0


# Refusals -----------------------------------------------------------------------------------------------------------


class InvalidSuite(Problem, status=400):
    """Invalid test suite"""


class UnknownTest(Problem, status=400):
    """Unknown test"""


class RunTooSlow(Problem, status=422):
    """Run takes too long"""


class AlreadyRunning(Problem, status=409):
    """Test already running"""


class InvalidDefinition(Problem, status=422):
    """Invalid definition"""


class ThresholdNotFound(Problem, status=404):
    """Threshold not found"""


class ResultNotFound(Problem, status=404):
    """Result not found"""


class NotOfThisRun(Problem, status=404):
    """Test not found in this run"""
