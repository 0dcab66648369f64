"""What compliance says: runs, results, suites, thresholds."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.compliance.result import Direction, Skipped, Status, Summary, TestResult
from core.compliance.suites import Category
from core.portfolio.notes import DataWarning
from core.portfolio.portfolio import AsOfSource
from service.platform.http.api import Offset, PageQuery
from service.platform.http.moments import Moment
from service.platform.http.problem import Problem
from service.workbooks.schema import AsOf

TEST_IDS_MAX = 100
THRESHOLDS_MAX = 1000

SuiteId = Annotated[str, Meta(max_length=200, description="standard, enhanced, or deal: the tests of the definition")]
TestId = Annotated[str, Meta(max_length=200, description="Identifier of a test, as the suites list them")]
RunStatus = Literal["pending", "running", "completed", "failed"]


# Runs ---------------------------------------------------------------------------------------------------------------


class RunOptions(Struct, frozen=True, kw_only=True):
    """How to run a suite."""

    include_cushion: bool = True
    fail_fast: bool = False
    """Stop after the first failed test; the rest count as skipped."""
    parallel: bool = True
    """Never changes an answer."""


class GivenThreshold(Struct, frozen=True, kw_only=True):
    """A limit of one run."""

    test_id: TestId
    threshold_value: float
    threshold_type: Direction | None = None
    """None: the test's own."""
    warning_threshold: float | None = None
    """None: at the default's relative distance from the limit."""
    enabled: bool = True


class RunRequest(Struct, frozen=True, kw_only=True):
    """What to run on which workbook."""

    workbook_id: UUID
    test_suite: SuiteId = "standard"
    test_ids: Annotated[list[TestId], Meta(max_length=TEST_IDS_MAX)] | None = None
    """Tests of the suite; all of them when omitted or empty."""
    thresholds: Annotated[list[GivenThreshold], Meta(max_length=TEST_IDS_MAX)] = []
    """Before all that were set."""
    definition: dict[str, Any] | None = None
    """The rules of a workbook that belongs to no deal; else they are its deal's."""
    as_of: AsOf | None = None
    options: RunOptions = RunOptions()


class ComplianceRun(Struct, frozen=True, kw_only=True):
    """A suite's answers for a workbook."""

    id: UUID
    workbook_id: UUID
    test_suite: str
    status: RunStatus
    summary: Summary
    results: list[TestResult]
    skipped: list[Skipped]
    as_of: date
    as_of_source: AsOfSource | None
    """Who said that day. Null in runs that were made before it was kept."""
    definition_version: int | None
    """Of the deal's definition; null where no version of one was used."""
    warnings: list[DataWarning]
    """What was guessed, left out or could not be read."""
    executed_at: datetime
    execution_time_ms: float


class ResultQuery(Struct, frozen=True, kw_only=True):
    """Which results of a run; the summary stays that of the whole run."""

    include_details: bool = True
    status_filter: Status | None = None
    category: Category | None = None


class RunItem(Struct, frozen=True, kw_only=True):
    """A run in the history."""

    id: UUID
    workbook_id: UUID
    test_suite: str
    status: RunStatus
    as_of: date
    as_of_source: AsOfSource | None
    summary: Summary
    executed_at: datetime


class HistoryQuery(PageQuery, frozen=True, kw_only=True):
    """Which runs."""

    workbook_id: UUID | None = None
    test_suite: SuiteId | None = None
    status: RunStatus | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None


# Suites -------------------------------------------------------------------------------------------------------------


class SuiteTest(Struct, frozen=True, kw_only=True):
    """A test of a suite."""

    test_id: str
    name: str
    category: Category
    description: str
    default_threshold: float
    threshold_type: Direction
    default_warning_threshold: float
    unit: str
    formula: str


class Suite(Struct, frozen=True, kw_only=True):
    """A named list of tests."""

    id: str
    name: str
    description: str
    test_count: int
    categories: list[str]
    tests: list[SuiteTest] | None = None


class SuiteQuery(Struct, frozen=True, kw_only=True):
    """How much to say of each suite."""

    include_tests: bool = False


# Thresholds ---------------------------------------------------------------------------------------------------------


class ThresholdCreate(Struct, frozen=True, kw_only=True):
    """A limit in place of a suite's default; the one of the same workbook and test is replaced."""

    test_id: TestId
    threshold_value: float
    workbook_id: UUID | None = None
    """None, and no deal: for every workbook of the tenant."""
    deal_id: UUID | None = None
    """In place of a workbook: for each of the deal's."""
    threshold_type: Direction | None = None
    """None: the test's own."""
    warning_threshold: float | None = None
    """None: at the default's relative distance from the limit."""
    enabled: bool = True
    """False takes the test out of runs."""


class Threshold(Struct, frozen=True, kw_only=True):
    """A limit of a workbook, of a deal or of the whole tenant."""

    id: UUID
    workbook_id: UUID | None
    deal_id: UUID | None
    test_id: str
    threshold_value: float
    threshold_type: Direction
    warning_threshold: float | None
    enabled: bool
    created_at: datetime
    updated_at: datetime


class ThresholdQuery(Struct, frozen=True, kw_only=True):
    """Which thresholds."""

    workbook_id: UUID | None = None
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


class ResultNotFound(Problem, status=404):
    """Result not found"""
