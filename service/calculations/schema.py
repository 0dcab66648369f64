"""What calculations say: the requests, the values, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from service.platform.http.problem import Problem, RateLimited

BATCH_FORMULAS_MAX = 10_000
"""Formulas of one batch."""

Formula = Annotated[str, Meta(max_length=65_536, description="With its leading =; Excel's limit is 8,192 characters")]
Cells = dict[str, Any]
"""Values by A1 reference (A1, $A$1, Sheet1!A1), range (A1:B3, an array of rows) or name, in any case."""

ValueType = Literal["number", "string", "boolean", "error", "date", "array", "blank"]
Category = Literal[
    "math",
    "logical",
    "lookup",
    "text",
    "date",
    "statistical",
    "information",
    "financial",
    "engineering",
    "database",
]


# What is asked --------------------------------------------------------------------------------------------------------


class Options(Struct, frozen=True, kw_only=True):
    """How values are given."""

    precision: Annotated[int, Meta(ge=1, le=15, description="Significant digits of numbers")] = 15
    error_handling: Annotated[
        Literal["excel", "null", "throw"],
        Meta(description="An Excel error is its text, null, or (throw) a 422"),
    ] = "excel"
    date_format: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=64,
            description="ISO8601, strftime codes (%d.%m.%Y) or the spreadsheet's (DD/MM/YYYY)",
        ),
    ] = "ISO8601"
    debug: Annotated[
        bool, Meta(description="Add `trace`: the sub-expressions with their values (of one formula, not of a batch)")
    ] = False


class EvaluateRequest(Struct, frozen=True, kw_only=True):
    """One formula and the cells that it refers to."""

    formula: Formula
    context: Cells = {}
    workbook_id: UUID | None = None
    sheet_name: Annotated[str, Meta(max_length=255, description="Where references without a sheet point")] | None = None
    options: Options = Options()
    debug: Annotated[bool, Meta(description="As options.debug")] = False


class BatchFormula(Struct, frozen=True, kw_only=True):
    """One formula of a batch."""

    formula: Formula
    id: Annotated[str, Meta(max_length=255, description="Comes back with the result")] | None = None
    context: Annotated[Cells, Meta(description="Laid over the shared context")] = {}


class BatchRequest(Struct, frozen=True, kw_only=True):
    """Many formulas."""

    formulas: Annotated[list[BatchFormula], Meta(max_length=BATCH_FORMULAS_MAX)]
    shared_context: Cells = {}
    options: Options = Options()


class ValidateRequest(Struct, frozen=True, kw_only=True):
    """A formula to be checked, not evaluated."""

    formula: Formula
    strict: Annotated[bool, Meta(description="A warning makes it invalid")] = False


class FunctionQuery(Struct, frozen=True, kw_only=True):
    """Which functions."""

    category: Category | None = None
    search: Annotated[str, Meta(max_length=100, description="Part of the name, in any case")] | None = None


class TranslateQuery(Struct, frozen=True, kw_only=True):
    """What to translate into what."""

    formula: Formula
    target: Literal["python", "numpy", "pandas"] = "pandas"
    include_imports: bool = True


# What is answered -----------------------------------------------------------------------------------------------------


class Step(Struct, frozen=True, kw_only=True):
    """A sub-expression and its value."""

    expression: str
    start: int
    """Offset in the formula, from 0, the = included."""
    end: int
    value: Any
    type: ValueType


class EvaluationResult(Struct, frozen=True, kw_only=True):
    """A formula's value."""

    value: Any
    """A number, text, boolean or null; an array of rows; a date as text."""
    type: ValueType
    formula: str
    evaluated_at: datetime
    execution_time_ms: int
    cell_references: list[str]
    functions_used: list[str]
    trace: list[Step] | UnsetType = UNSET


class ItemError(Struct, frozen=True, kw_only=True):
    """Why a formula of a batch has no value."""

    code: str
    message: str
    position: int | UnsetType = UNSET
    """Offset in the formula, from 0, the = included."""


class BatchItem(Struct, frozen=True, kw_only=True):
    """One result of a batch."""

    id: str | None
    formula: str
    value: Any
    type: ValueType
    status: Literal["success", "error"]
    error: ItemError | UnsetType = UNSET


class BatchSummary(Struct, frozen=True, kw_only=True):
    """How a batch went."""

    total: int
    succeeded: int
    failed: int


class BatchResult(Struct, frozen=True, kw_only=True):
    """Results in the order of the request."""

    results: list[BatchItem]
    summary: BatchSummary
    execution_time_ms: int


class Validation(Struct, frozen=True, kw_only=True):
    """What a formula is made of, or what is wrong with it."""

    valid: bool
    formula: str
    functions_used: list[str] | UnsetType = UNSET
    cell_references: list[str] | UnsetType = UNSET
    complexity_score: int | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET
    error: str | UnsetType = UNSET
    error_position: int | UnsetType = UNSET
    """Offset in the formula, from 0, the = included."""
    suggestions: list[str] | UnsetType = UNSET


class FunctionArgument(Struct, frozen=True, kw_only=True):
    """One argument of a function."""

    name: str
    type: str
    required: bool
    description: str


class FunctionHelp(Struct, frozen=True, kw_only=True):
    """A function."""

    name: str
    category: Category
    description: str
    syntax: str
    arguments: list[FunctionArgument]
    examples: list[str]


class FunctionList(Struct, frozen=True, kw_only=True):
    """The functions that were asked for, by name."""

    functions: list[FunctionHelp]
    categories: list[str]
    """All there are, whatever was asked for."""
    total: int
    """Of `functions`."""


class Translated(Struct, frozen=True, kw_only=True):
    """A formula as source code."""

    formula: str
    target: Literal["python", "numpy", "pandas"]
    code: str
    imports: list[str]
    full_code: str
    notes: list[str]


# Refusals -------------------------------------------------------------------------------------------------------------


class InvalidFormula(Problem, status=400):
    """Invalid formula"""


class UnsupportedFunction(Problem, status=400):
    """Unsupported function"""


class MissingContext(Problem, status=400):
    """Missing context"""


class EvaluationError(Problem, status=422, code="CALCULATION_ERROR"):
    """Evaluation error"""


class CalculationQuotaExceeded(RateLimited, status=429):
    """Calculation quota exceeded"""
