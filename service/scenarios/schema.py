"""What scenarios say: the records, their trades, what came of a simulation, the requests, the refusals."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.compliance.suites import Category
from core.portfolio.notes import DataWarning
from core.portfolio.portfolio import AsOfSource
from core.scenario.headroom import Headroom
from core.scenario.optimize import Constraints
from core.scenario.simulate import Impacts, NotCompared, Projected
from core.scenario.trades import TRADES_MAX, TradeType
from service.compliance.schema import TestId
from service.platform.http.api import PageQuery
from service.platform.http.problem import Problem

UNIVERSE_MAX = 2_000
"""Loans of a request's universe; a body has a limit of bytes, too."""
LOAN_DATA_MAX = 64
"""Fields that a trade may say of its loan beside its own."""

ScenarioStatus = Literal["draft", "calculating", "completed", "failed"]

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]
Identifier = Annotated[str, Meta(max_length=64)]
Rating = Annotated[str, Meta(max_length=32)]
Text = Annotated[str, Meta(max_length=255)]
Price = Annotated[float, Meta(ge=0, le=1000, description="Percent of par; unset: that of the holding, else 100")]
LoanData = Annotated[dict[str, Text | float | bool | None], Meta(max_length=LOAN_DATA_MAX)]


# Trades ---------------------------------------------------------------------------------------------------------------


class Terms(Struct, frozen=True, kw_only=True):
    """A loan at a price. What names it, in this order: its CUSIP, its LoanX identifier in `loan_data`, its borrower."""

    par_value: Annotated[float, Meta(gt=0, le=1e15, description="In the portfolio's currency")]
    cusip: Identifier | None = None
    borrower_name: Text | None = None
    price: Price | None = None
    spread: Annotated[float, Meta(ge=0, le=10_000, description="Basis points")] | None = None
    rating_agency_a: Rating | None = None
    rating_agency_b: Rating | None = None
    rating_agency_c: Rating | None = None
    industry: Text | None = None
    maturity_date: date | None = None
    loan_data: LoanData | None = None
    """Any other field of the built-in mapping `standard_clo`, by its name."""


class TradeCreate(Terms, frozen=True, kw_only=True):
    """A trade."""

    trade_type: TradeType


class Trade(TradeCreate, frozen=True, kw_only=True):
    """A trade of a scenario."""

    id: UUID
    scenario_id: UUID
    created_at: datetime


# Records --------------------------------------------------------------------------------------------------------------


class Scenario(Struct, frozen=True, kw_only=True):
    """A scenario."""

    id: UUID
    name: str
    description: str | None
    status: ScenarioStatus
    base_workbook_id: UUID | None
    trade_count: int
    created_by: str
    created_at: datetime
    updated_at: datetime


class SimulationSummary(Struct, frozen=True, kw_only=True):
    """What came of a simulation, its results apart."""

    impact_summary: Impacts
    new_failures: int
    total_tests: int
    message: str
    skipped: list[NotCompared]
    """Tests without a figure before the trades or after them."""
    warnings: list[DataWarning]
    """What was guessed, left out or could not be read."""
    test_suite: str
    definition_version: int | None
    """Of the deal's definition; null where no version of one was used."""
    as_of: date
    as_of_source: AsOfSource
    simulated_at: datetime


class SimulationResults(Struct, frozen=True, kw_only=True):
    """What trades do to every test."""

    results: list[Projected]


class Simulated(SimulationSummary, frozen=True, kw_only=True):
    """What trades do to every test, and what that says."""

    scenario_id: UUID
    status: ScenarioStatus
    results: list[Projected]


class ScenarioDetail(Scenario, frozen=True, kw_only=True):
    """A scenario, with what came of its simulation."""

    simulation: SimulationSummary | None
    """Null until it is completed."""


class ScenarioRow(ScenarioDetail, frozen=True, kw_only=True):
    """A stored scenario."""

    version: int


class ScenarioPage(Struct, frozen=True, kw_only=True):
    """A page of scenarios."""

    items: list[Scenario]
    total: int
    page: int
    page_size: int
    pages: int


class ScenarioList(PageQuery, kw_only=True, frozen=True):
    """Which scenarios."""

    status_filter: ScenarioStatus | None = None


class ScenarioCreate(Struct, frozen=True, kw_only=True):
    """A new scenario."""

    name: Name
    description: Description | None = None
    base_workbook_id: UUID | None = None
    trades: Annotated[list[TradeCreate], Meta(max_length=TRADES_MAX)] = []


class ScenarioPatch(Struct, frozen=True, kw_only=True):
    """What to change of a scenario; null clears all but its name."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    base_workbook_id: UUID | UnsetType | None = UNSET


class ResultsQuery(Struct, frozen=True, kw_only=True):
    """Which results."""

    category: Category | None = None


# Proposals ------------------------------------------------------------------------------------------------------------


class OptimizeRequest(Struct, frozen=True, kw_only=True):
    """Which test is to be improved, and by what."""

    objective: TestId
    universe: UUID | Annotated[list[Terms], Meta(max_length=UNIVERSE_MAX)]
    """What may be bought: the loans of a workbook, or these; each up to its par."""
    constraints: Constraints = Constraints()


class Proposed(SimulationSummary, frozen=True, kw_only=True):
    """Trades that would improve a test, and what they do to all of them; nothing is kept."""

    scenario_id: UUID
    objective: str
    cushion_before: float
    """Of the objective after the scenario's own trades, in its unit, before a definition rounds its figure; the next
    after the proposed ones, too."""
    cushion_after: float
    trades: list[TradeCreate]
    """To be made after those of the scenario; none where none was found that helps."""
    turnover: float
    candidates: int
    """Loans that were considered."""
    is_complete: bool
    """Not ended by its time."""
    results: list[Projected]
    """Before the trades of the scenario and after the proposed ones."""


# Headroom -------------------------------------------------------------------------------------------------------------


class HeadroomQuery(Struct, frozen=True, kw_only=True):
    """Of which trade: one of the scenario's, or one of a loan that is held; unset: the scenario's last."""

    trade_id: UUID | None = None
    trade_type: TradeType = "sell"
    """Of a loan that is named by one of the next."""
    cusip: Identifier | None = None
    loanx_id: Identifier | None = None
    borrower_name: Text | None = None
    price: Price | None = None


class TradeHeadroom(Struct, frozen=True, kw_only=True):
    """How much of a trade each test bears, after the scenario's trades."""

    scenario_id: UUID
    trade: TradeCreate
    """Its par counts for nothing here."""
    test_suite: str
    most: float
    """Par up to which was looked: of a sale all that is held, of a purchase as much as the pool has."""
    tests: list[Headroom]


# Refusals -------------------------------------------------------------------------------------------------------------


class ScenarioNotFound(Problem, status=404):
    """Scenario not found"""


class TradeNotFound(Problem, status=404):
    """Trade not found"""


class ScenarioInUse(Problem, status=409):
    """Scenario in use"""


class NoBaseWorkbook(Problem, status=400):
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
