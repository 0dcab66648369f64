"""What calculations say: the requests, the values, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.portfolio.model.notes import DataWarning
from service.platform.base.problem import Problem, RateLimited
from service.workbooks.schema import LocaleTag

BATCH_FORMULAS_MAX = 10_000
"""Formulas of one batch."""

Formula = Annotated[
    str, Meta(max_length=65_536, description="Excel formula with its leading =, of at most 8,192 characters")
]
Cells = Annotated[
    dict[str, Any],
    Meta(
        description="Values by reference (A1, $A$1, Sheet1!A1), range (A1:B3, an array of rows) or name, in any case; "
        "a text such as #N/A is that error, null is blank"
    ),
]

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


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How values are given."""

    precision: Annotated[int, Meta(ge=1, le=15, description="Significant digits of the numbers that are given")] = 15
    error_handling: Annotated[
        Literal["excel", "null", "throw"] | None,
        Meta(
            description="What becomes of an Excel error: its text such as #DIV/0! (excel), null, or a 422 (throw); "
            "JSON's null is the word null"
        ),
    ] = "excel"
    date_format: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=64,
            description="How dates are given: ISO8601, strftime codes (%d.%m.%Y) or a spreadsheet's (DD/MM/YYYY)",
        ),
    ] = "ISO8601"
    locale: Annotated[
        LocaleTag | None,
        Meta(
            description="How dates and numbers are written as text, in what is read (DATEVALUE, VALUE, criteria, "
            "arithmetic) and in what is made (TEXT, &); without it the workbook's own language, else en-US"
        ),
    ] = None
    debug: Annotated[
        bool, Meta(description="Add `trace`: the sub-expressions with their values (of one formula, not of a batch)")
    ] = False


class EvaluateRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One formula and the cells that it refers to."""

    formula: Formula
    context: Cells | None = None
    workbook_id: UUID | None = None
    """The workbook whose cells the formula may read. Null: those of the context alone."""
    sheet_name: (
        Annotated[str, Meta(max_length=255, description="Sheet that references without one mean; unset: the first")]
        | None
    ) = None
    options: Options | None = None
    """How to calculate, and how to give the value. Null: the defaults."""
    debug: Annotated[bool, Meta(description="The same as `debug` of the options")] = False


class BatchFormula(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A formula of a batch, and what it alone may read."""

    formula: Formula
    id: Annotated[str, Meta(max_length=255, description="Any text, which comes back with the result")] | None = None
    context: Annotated[Cells | None, Meta(description="Values of this formula, laid over the shared context")] = None


class BatchRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Many formulas."""

    formulas: Annotated[list[BatchFormula], Meta(max_length=BATCH_FORMULAS_MAX)]
    """The formulas; answers come in their order."""
    shared_context: Cells | None = None
    options: Options | None = None
    """How to calculate, and how to give values. Null: the defaults."""


class ValidateRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A formula to be checked, not evaluated."""

    formula: Formula
    strict: Annotated[bool, Meta(description="A warning makes the formula invalid")] = False


class FunctionQuery(Struct, frozen=True, kw_only=True):
    """Which functions."""

    category: Category | None = None
    """Group of functions."""
    search: Annotated[str, Meta(max_length=100, description="Part of the name, in any case")] | None = None


class TranslateQuery(Struct, frozen=True, kw_only=True):
    """What to translate into what."""

    formula: Formula
    target: Literal["python", "numpy", "pandas"] = "pandas"
    """Language or library of the source: pandas works on whole columns, numpy on arrays, python on single values."""
    include_imports: bool = True
    """Whether `full_code` begins with its imports."""


# What is answered -----------------------------------------------------------------------------------------------------


ErrorCode = Literal[
    "SYNTAX_ERROR",
    "UNSUPPORTED_FUNCTION",
    "MISSING_CONTEXT",
    "VALIDATION_ERROR",
    "LIMIT_EXCEEDED",
    "CALCULATION_ERROR",
]


class Step(Struct, frozen=True, kw_only=True):
    """A sub-expression and its value."""

    expression: str
    """The part of the formula, as it is written there."""
    start: int
    """Offset of its first character in the formula, from 0, the = included."""
    end: int
    """Offset behind its last character."""
    value: Any
    """What it came to, as in `value` of the whole."""
    type: ValueType
    """Kind of that value."""


class EvaluationResult(Struct, frozen=True, kw_only=True):
    """A formula's value."""

    value: Any
    """A number, text, boolean or null; an array of rows; a date as text."""
    type: ValueType
    """Kind of the value; date is a text in the asked format, error an Excel error such as #DIV/0!."""
    formula: str
    evaluated_at: datetime
    """When it was calculated, in UTC."""
    execution_time_ms: int
    cell_references: list[str]
    functions_used: list[str]
    locale: str | UnsetType = UNSET
    """Locale in which dates and numbers were read as text; left out where it is en-US."""
    trace: list[Step] | UnsetType = UNSET
    """Every part of the formula with its value; only with `debug`."""
    warnings: list[DataWarning] | UnsetType = UNSET
    """What to doubt of the workbook's values: that formulas came without any, and what became of them."""


class ItemError(Struct, frozen=True, kw_only=True):
    """Why a formula of a batch has no value."""

    code: ErrorCode
    """Kind of fault."""
    message: str
    """What is wrong with the formula."""
    position: int | UnsetType = UNSET
    """Offset of the fault in the formula, from 0, the = included."""


class BatchItem(Struct, frozen=True, kw_only=True):
    """One result of a batch."""

    id: str | None
    """The `id` that the formula was sent with. Null: none."""
    formula: str
    value: Any
    """As in a single evaluation; null where the formula failed."""
    type: ValueType
    """Kind of the value; error also where the formula failed."""
    status: Literal["success", "error"]
    """success, also where the value is an Excel error; error: it could not be evaluated."""
    error: ItemError | UnsetType = UNSET
    """Why it could not be evaluated; left out of a success."""


class BatchSummary(Struct, frozen=True, kw_only=True):
    """How a batch went."""

    total: int
    """Formulas of the batch."""
    succeeded: int
    """How many have a value."""
    failed: int
    """How many could not be evaluated."""


class BatchResult(Struct, frozen=True, kw_only=True):
    """Results in the order of the request."""

    results: list[BatchItem]
    """One for each formula, in the order of the request."""
    summary: BatchSummary
    execution_time_ms: int


class Validation(Struct, frozen=True, kw_only=True):
    """What a formula is made of, or what is wrong with it."""

    valid: bool
    """Whether it can be evaluated; when strict, without a warning."""
    formula: str
    functions_used: list[str] | UnsetType = UNSET
    cell_references: list[str] | UnsetType = UNSET
    complexity_score: int | UnsetType = UNSET
    """How much there is to understand: 1 for each operator and reference, 2 for each call, 1 for each level of
    nesting."""
    warnings: list[str] | UnsetType = UNSET
    """What may not be meant so, in sentences."""
    error: str | UnsetType = UNSET
    """What is wrong with it; left out of a valid formula."""
    error_position: int | UnsetType = UNSET
    """Offset of the fault in the formula, from 0, the = included."""
    suggestions: list[str] | UnsetType = UNSET
    """What may have been meant, such as a function's right name."""


class FunctionArgument(Struct, frozen=True, kw_only=True):
    """What a call of a function gives it."""

    name: str
    """Name of the argument, as `syntax` has it."""
    type: str
    """What it takes: number, text, range, ..."""
    required: bool
    """False where the call may leave it out."""
    description: str
    """What the argument says."""


class FunctionHelp(Struct, frozen=True, kw_only=True):
    """A function that formulas may call."""

    name: str
    """Name by which formulas call it."""
    category: Category
    """Group that it belongs to."""
    description: str
    """What it answers."""
    syntax: str
    """How it is called, optional arguments in brackets."""
    arguments: list[FunctionArgument]
    """Its arguments, in order."""
    examples: list[str]
    """Formulas that call it."""


class FunctionList(Struct, frozen=True, kw_only=True):
    """The functions that were asked for, by name."""

    functions: list[FunctionHelp]
    """The functions that were asked for, by name."""
    categories: list[str]
    """Every category there is, whatever was asked for."""
    total: int
    """How many functions this answer has."""


class Translated(Struct, frozen=True, kw_only=True):
    """A formula as source code."""

    formula: str
    target: Literal["python", "numpy", "pandas"]
    """What it was translated into."""
    code: str
    """The formula as one expression."""
    imports: list[str]
    """Import statements that the source needs."""
    full_code: str
    """A function around the expression, ready to run."""
    notes: list[str]
    """How names were chosen, and where the meaning differs from the formula's."""


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
