"""What scenarios say.

The records, their trades, what came of a simulation, the requests, the refusals.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.compliance.suites import Category
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AsOfSource
from core.scenario.headroom import Headroom
from core.scenario.optimize import Constraints
from core.scenario.simulate import Impacts, NotCompared, Projected
from core.scenario.trades import TRADES_MAX, TradeType
from service.compliance.schema import SuiteId, TestId
from service.platform.base.problem import Problem
from service.platform.route.api import PageQuery
from service.platform.route.patch import Patch, patch_of

UNIVERSE_MAX = 2_000
"""Loans of a request's universe; a body has a limit of bytes, too."""
LOAN_DATA_MAX = 64
"""Keys of a trade's loan_data."""
LOAN_DATA_BYTES_MAX = 16 * 1024
"""JSON of a trade's loan_data."""

ScenarioStatus = Literal["draft", "calculating", "completed", "failed"]

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]
Identifier = Annotated[str, Meta(max_length=64)]
Rating = Annotated[str, Meta(max_length=32)]
Text = Annotated[str, Meta(max_length=255)]
Price = Annotated[
    float, Meta(ge=0, le=1000, description="Price in percent of par; unset: that of the holding, else 100")
]
LoanData = Annotated[dict[str, Any], Meta(max_length=LOAN_DATA_MAX)]


# Trades ---------------------------------------------------------------------------------------------------------------


class Terms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A loan at a price. What names it, in this order: its CUSIP, its LoanX identifier in `loan_data`, its borrower."""

    par_value: Annotated[float, Meta(gt=0, le=1e15, description="Par to buy or sell, in the portfolio's currency")]
    cusip: Identifier | None = None
    borrower_name: Text | None = None
    price: Price | None = None
    spread: Annotated[float, Meta(ge=0, le=10_000, description="Basis points over the base rate")] | None = None
    rating_agency_a: Rating | None = None
    rating_agency_b: Rating | None = None
    rating_agency_c: Rating | None = None
    industry: Text | None = None
    maturity_date: date | None = None
    loan_data: LoanData | None = None
    """Any other field of the built-in mapping `standard_clo`, by its name. Other keys are kept and do nothing."""


class TradeCreate(Terms, frozen=True, kw_only=True):
    """A loan to buy or sell."""

    trade_type: TradeType


class StoredTrade(TradeCreate, frozen=True, kw_only=True):
    """A trade of a scenario as it is kept."""

    id: UUID
    scenario_id: UUID
    created_at: datetime


class Trade(StoredTrade, frozen=True, kw_only=True):
    """A trade of a scenario."""

    warnings: list[DataWarning]
    """Keys of `loan_data` that do nothing, each with the reason."""


# Records --------------------------------------------------------------------------------------------------------------


class Scenario(Struct, frozen=True, kw_only=True):
    """Trades that are tried on a portfolio."""

    id: UUID
    name: str
    description: str | None
    status: ScenarioStatus
    """draft: not simulated since its last change; calculating; completed: has results; failed."""
    base_workbook_id: UUID | None
    trade_count: int
    """How many trades it has."""
    created_by: str
    created_at: datetime
    updated_at: datetime


class SimulationSummary(Struct, frozen=True, kw_only=True):
    """What came of a simulation, its results apart."""

    impact_summary: Impacts
    """Tests by how their cushion moves."""
    new_failures: int
    """Tests that do not fail before the trades and fail after them."""
    total_tests: int
    """How many results there are: tests with a figure before the trades and after them."""
    message: str
    """The outcome in a sentence."""
    skipped: list[NotCompared]
    """Tests that were not compared: without a figure before the trades or after them. They count in nothing else."""
    warnings: list[DataWarning]
    test_suite: str
    definition_version: int | None
    as_of: date
    as_of_source: AsOfSource
    simulated_at: datetime
    """When it was simulated, in UTC."""


class SimulationResults(Struct, frozen=True, kw_only=True):
    """What trades do to every test."""

    results: list[Projected]


class Simulated(SimulationSummary, frozen=True, kw_only=True):
    """What trades do to every test, and what that says."""

    scenario_id: UUID
    status: ScenarioStatus
    """completed: the scenario has these results."""
    results: list[Projected]
    """One for each test with a figure before and after."""


class ScenarioDetail(Scenario, frozen=True, kw_only=True):
    """A scenario, with what came of its simulation."""

    simulation: SimulationSummary | None
    """What came of its last simulation. Null: it has none that still holds."""


class ScenarioRow(ScenarioDetail, frozen=True, kw_only=True):
    """A stored scenario."""

    version: int


class ScenarioPage(Struct, frozen=True, kw_only=True):
    """Some of the scenarios, the newest first."""

    items: list[Scenario]
    total: int
    page: int
    page_size: int
    pages: int
    """How many pages there are."""


class ScenarioList(PageQuery, kw_only=True, frozen=True):
    """Which scenarios."""

    status_filter: ScenarioStatus | None = None
    """draft, calculating, completed or failed."""


class ScenarioCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new scenario."""

    name: Name
    description: Description | None = None
    base_workbook_id: UUID | None = None
    trades: Annotated[list[TradeCreate], Meta(max_length=TRADES_MAX)] = []
    """Its trades, in the order in which they apply."""


@patch_of(ScenarioCreate, "name description base_workbook_id")
class ScenarioPatch(Patch, frozen=True):
    """What to change of a scenario; null clears all but its name."""


class ResultsQuery(Struct, frozen=True, kw_only=True):
    """Which results."""

    category: Category | None = None


# Previews ------------------------------------------------------------------------------------------------------------


class TradePreviewRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Trades to try on a workbook."""

    base_workbook_id: UUID
    """The workbook whose loans are traded; it has to be ready."""
    trades: Annotated[list[TradeCreate], Meta(max_length=TRADES_MAX)] = []
    """Trades in the order in which they apply."""
    test_suite: SuiteId | None = None
    """standard, enhanced or deal. Null: that of the deal's definition, enhanced where there is none."""


class TradePreview(SimulationSummary, frozen=True, kw_only=True):
    """What trades would do to every test; nothing is stored."""

    base_workbook_id: UUID
    """The workbook whose loans are traded."""
    results: list[Projected]
    """One for each test with a figure before and after."""
    execution_time_us: int
    """Microseconds that the tests took, before and after the trades together."""


# Proposals ------------------------------------------------------------------------------------------------------------


class OptimizeRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which test is to be improved, and by what."""

    objective: TestId
    """The test to improve, by its identifier."""
    universe: UUID | Annotated[list[Terms], Meta(max_length=UNIVERSE_MAX)]
    """What may be bought: the loans of a workbook, or these; each up to its par."""
    constraints: Constraints = Constraints()
    """What the proposed trades have to keep to."""


class Proposed(SimulationSummary, frozen=True, kw_only=True):
    """Trades that would improve a test, and what they do to all of them; nothing is kept."""

    scenario_id: UUID
    objective: str
    """The test that was to be improved."""
    cushion_before: float
    """Its cushion after the scenario's own trades, in its unit, before a definition rounds its figure."""
    cushion_after: float
    """Its cushion after the proposed trades as well."""
    trades: list[TradeCreate]
    """Trades to make after those of the scenario; none where none was found that helps."""
    turnover: float
    """Par that the proposed trades buy and sell, together."""
    candidates: int
    """Loans that were considered."""
    is_complete: bool
    """False where the search ended by its time limit."""
    results: list[Projected]
    """Every test before the trades of the scenario and after the proposed ones."""


# Headroom -------------------------------------------------------------------------------------------------------------


class HeadroomQuery(Struct, frozen=True, kw_only=True):
    """Of which trade: one of the scenario's, or one of a loan that is held; unset: the scenario's last."""

    trade_id: UUID | None = None
    """One of the scenario's trades. Unset: the loan that is named below, else the last trade."""
    trade_type: TradeType = "sell"
    """buy or sell, of a loan that is named by its CUSIP, LoanX identifier or borrower."""
    cusip: Identifier | None = None
    """CUSIP of a loan that is held. Unset: it is named otherwise."""
    loanx_id: Identifier | None = None
    """LoanX identifier of a loan that is held. Unset: it is named otherwise."""
    borrower_name: Text | None = None
    """Borrower of a loan that is held. Unset: it is named otherwise."""
    price: Price | None = None
    """Price in percent of par. Unset: the holding's, else 100."""


class TradeHeadroom(Struct, frozen=True, kw_only=True):
    """How much of a trade each test bears, after the scenario's trades."""

    scenario_id: UUID
    trade: TradeCreate
    """The trade whose amount is varied; its own par counts for nothing."""
    test_suite: str
    most: float
    """Par up to which was looked: all that is held (sell), or as much as the whole pool has (buy)."""
    tests: list[Headroom]
    """Every test with what it bears."""


# Refusals -------------------------------------------------------------------------------------------------------------


class ScenarioNotFound(Problem, status=404):
    """Scenario not found"""


class TradeNotFound(Problem, status=404):
    """Trade not found"""


class ScenarioInUse(Problem, status=409):
    """Scenario in use"""


class NoBaseWorkbook(Problem, status=400, hint="PATCH it with a base_workbook_id"):
    """Scenario has no base workbook"""


class InvalidTrade(Problem, status=400):
    """Invalid trade"""


class CannotOptimize(Problem, status=422):
    """Objective cannot be optimized"""


class NoTradesKeepTests(Problem, status=422):
    """No trades keep every test"""


class ScenarioLimitExceeded(Problem, status=403):
    """Scenario limit exceeded"""


class TradeLimitExceeded(Problem, status=403):
    """Trade limit exceeded"""
