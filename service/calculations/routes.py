"""Calculations' rows."""

from __future__ import annotations

from service.calculations import actions, schema
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area
from service.platform.unit.context import Context
from service.workbooks.schema import SheetNotFound, WorkbookNotFound, WorkbookNotReady

SCOPE = "calculations:execute"
area = Area("/api/v1/calculations", tag="calculations")


@area.post(
    "/evaluate",
    access=SCOPE,
    errors=(
        schema.InvalidFormula,
        schema.UnsupportedFunction,
        schema.MissingContext,
        schema.EvaluationError,
        WorkbookNotFound,
        SheetNotFound,
        WorkbookNotReady,
        Damaged,
    ),
    metered=(actions.one_calculation, schema.CalculationQuotaExceeded),
    event="calculation.completed",
    streamed=True,
    counted=True,
    ahead=actions.evaluate_small,
    heavy=True,
)
async def evaluate_formula(ctx: Context, body: schema.EvaluateRequest) -> schema.EvaluationResult:
    """Evaluate a formula over the cells of its context, of a workbook, or of both.

    The context's cells come first.
    """
    return await actions.evaluate(ctx, body)


@area.post(
    "/batch",
    access=SCOPE,
    errors=(schema.CalculationQuotaExceeded,),
    body_bytes=lambda settings: settings.max_batch_bytes,
    event="calculation.completed",
    streamed=True,
    counted=True,
    heavy=True,
    summary="Evaluate formulas",
)
async def evaluate_batch(ctx: Context, body: schema.BatchRequest) -> schema.BatchResult:
    """Evaluate up to 10,000 formulas over a shared context and their own.

    One that fails does not fail the others.
    """
    return await actions.batch(ctx, body)


@area.post("/validate", access=SCOPE, heavy=True)
async def validate_formula(ctx: Context, body: schema.ValidateRequest) -> schema.Validation:
    """Check a formula without evaluating it."""
    return await actions.validate(ctx, body)


@area.get("/functions", access=SCOPE)
async def list_functions(ctx: Context, query: schema.FunctionQuery) -> schema.FunctionList:
    """List the functions of formulas, with their arguments and examples."""
    return actions.functions(query)


@area.get("/translate", access=SCOPE, errors=(schema.InvalidFormula, schema.UnsupportedFunction), heavy=True)
async def translate_formula(ctx: Context, query: schema.TranslateQuery) -> schema.Translated:
    """Give a formula as Python, NumPy or pandas source.

    `notes` says how names are chosen and where meanings differ.
    """
    return await actions.translate(ctx, query)
