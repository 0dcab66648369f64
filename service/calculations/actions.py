"""Calculations' decisions: what is evaluated where, what it counts, and which refusal a fault becomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from random import SystemRandom
from typing import Any, cast, get_args

from msgspec import UNSET, convert

import core.formula.functions  # noqa: F401 - fills the catalogue
from core.formula import errors, suggest
from core.formula.catalogue import FUNCTIONS, Function
from core.formula.context import ContextEnvironment
from core.formula.errors import FormulaError
from core.formula.evaluate import compile as compile_formula
from core.formula.parser import functions as functions_of
from core.formula.parser import references as references_of
from core.formula.program import Evaluation
from core.formula.translate import translate as to_source
from core.formula.tree import Area, Call
from service.calculations.schema import (
    BatchFormula,
    BatchItem,
    BatchRequest,
    BatchResult,
    BatchSummary,
    CalculationQuotaExceeded,
    Category,
    EvaluateRequest,
    EvaluationError,
    EvaluationResult,
    FunctionArgument,
    FunctionHelp,
    FunctionList,
    FunctionQuery,
    InvalidFormula,
    ItemError,
    MissingContext,
    Options,
    Step,
    Translated,
    TranslateQuery,
    UnsupportedFunction,
    ValidateRequest,
    Validation,
    ValueType,
)
from service.platform.config import Settings
from service.platform.context import Context
from service.platform.gate import Meter
from service.platform.problem import Fault, Problem, ValidationFailed
from service.workbooks import library
from service.workbooks import store as workbooks

METER = "calculations"
INLINE_CELLS = 200
INLINE_CHARACTERS = 500
"""A formula that short over so few given cells is evaluated on the event loop, unless a function in it could make work
out of nothing: a thread costs ten times what most formulas take."""
GROWING = frozenset(
    {
        *("EXPAND", "INDIRECT", "LAMBDA", "MAKEARRAY", "MUNIT", "OFFSET", "RANDARRAY", "SEQUENCE"),
        *("REGEXEXTRACT", "REGEXREPLACE", "REGEXTEST"),
        *("NETWORKDAYS", "NETWORKDAYS.INTL", "WORKDAY", "WORKDAY.INTL"),
    }
)
BATCH_TIMES = 10
"""A batch may take so many times as long as one formula."""
FORMULA = ["body", "formula"]

_random = SystemRandom().random


def one_calculation(settings: Settings) -> Meter:
    """What evaluating one formula uses of a tenant's month."""
    return Meter(METER, settings.calculations_per_month)


# Values ---------------------------------------------------------------------------------------------------------------


async def evaluate(ctx: Context, body: EvaluateRequest) -> EvaluationResult:
    """One formula's value. With a context of its own no database is asked."""
    started = time.perf_counter()
    try:
        if body.workbook_id is not None:
            found = await _over_workbook(ctx, body)
        else:
            found = await _over_context(ctx, body)
    except FormulaError as fault:
        raise _refusal(fault, FORMULA) from None
    ctx.concerns("formula", ctx.request_id, formulas=1)
    return EvaluationResult(
        value=found.value,
        type=cast(ValueType, found.type),
        formula=body.formula,
        evaluated_at=ctx.now(),
        execution_time_ms=_milliseconds_since(started),
        cell_references=found.cell_references,
        functions_used=found.functions_used,
        trace=convert(found.trace, list[Step]) if body.options.debug else UNSET,
    )


async def _over_context(ctx: Context, body: EvaluateRequest) -> Evaluation:
    if len(body.context) <= INLINE_CELLS and _is_quick(body.formula) and list not in map(type, body.context.values()):
        return _evaluated(body, ctx.now(), ctx.settings.evaluation_seconds)
    return await ctx.compute(_evaluated, body, ctx.now(), ctx.settings.evaluation_seconds)


def _evaluated(body: EvaluateRequest, now: datetime, seconds: float) -> Evaluation:
    environment = _environment(body.context, now, sheet=body.sheet_name, seconds=seconds)
    return _with_options(compile_formula(body.formula), environment, body.options)


@lru_cache(maxsize=8_192)
def _is_quick(formula: str) -> bool:
    """Whether nothing in a formula can take long over a few cells; one that is none is quick to refuse."""
    if len(formula) > INLINE_CHARACTERS:
        return False
    try:
        tree = compile_formula(formula).tree
    except FormulaError:
        return True
    cells = 0
    for node, _ in suggest.walk(tree):
        if isinstance(node, Area):
            rows = abs(node.last.row - node.first.row) + 1
            cells += rows * (abs(node.last.column - node.first.column) + 1)
        if (isinstance(node, Call) and node.name in GROWING) or cells > INLINE_CELLS:
            return False
    return True


async def _over_workbook(ctx: Context, body: EvaluateRequest) -> Evaluation:
    """The context's values first, the workbook's cells behind them."""
    assert body.workbook_id is not None
    program = compile_formula(body.formula)
    row = await workbooks.get(ctx, body.workbook_id)
    name = (await workbooks.sheet(ctx, row.id, body.sheet_name)).name if body.sheet_name is not None else None
    book = await library.open_calculating(ctx, row)
    await ctx.commit()
    now, seconds = _clock(ctx.now()), ctx.settings.evaluation_seconds

    def work() -> Evaluation:
        with book.lock:
            behind = book.book.environment(now(), _random, name)
            environment = _environment(body.context, ctx.now(), sheet=name, behind=behind, seconds=seconds)
            return _with_options(program, environment, body.options)

    return await ctx.compute(work)


async def batch(ctx: Context, body: BatchRequest) -> BatchResult:
    """Every formula's value or what keeps it from one, in order."""
    started = time.perf_counter()
    count = len(body.formulas)
    if count:
        await ctx.use(one_calculation(ctx.settings)._replace(amount=count), CalculationQuotaExceeded)
    items = await ctx.compute(_batch_items, body, ctx.now(), ctx.settings.evaluation_seconds * BATCH_TIMES)
    succeeded = sum(item.status == "success" for item in items)
    ctx.concerns("formula", ctx.request_id, formulas=count)
    return BatchResult(
        results=items,
        summary=BatchSummary(total=count, succeeded=succeeded, failed=count - succeeded),
        execution_time_ms=_milliseconds_since(started),
    )


def _batch_items(body: BatchRequest, now: datetime, seconds: float) -> list[BatchItem]:
    """Formulas without a context of their own share one environment, so its cells are read once."""
    end = time.monotonic() + seconds
    shared = _environment(body.shared_context, now, seconds=seconds)
    shared_cells = _folded(body.shared_context)
    items = []
    for asked in body.formulas:
        environment = shared
        if asked.context:
            left = max(0.0, end - time.monotonic())
            environment = _environment({**shared_cells, **_folded(asked.context)}, now, seconds=left)
        try:
            if time.monotonic() > end:
                raise errors.LimitExceeded("the batch took longer than it may")
            found = _with_options(compile_formula(asked.formula), environment, body.options)
        except FormulaError as fault:
            items.append(_failed(asked, fault))
        else:
            items.append(
                BatchItem(
                    id=UNSET if asked.id is None else asked.id,
                    formula=asked.formula,
                    value=found.value,
                    type=cast(ValueType, found.type),
                    status="success",
                )
            )
    return items


def _folded(context: dict[str, Any]) -> dict[str, Any]:
    """Keys in one spelling, so that a formula's own `a1` covers the shared `$A$1`."""
    return {key.replace("$", "").upper(): value for key, value in context.items()}


def _failed(asked: BatchFormula, fault: FormulaError) -> BatchItem:
    return BatchItem(
        id=UNSET if asked.id is None else asked.id,
        formula=asked.formula,
        value=None,
        type="error",
        status="error",
        error=ItemError(
            code=_refusal(fault, FORMULA).code,
            message=fault.message,
            position=UNSET if fault.position is None else fault.position,
        ),
    )


def _environment(context: dict[str, Any], now: datetime, **more: Any) -> ContextEnvironment:
    return ContextEnvironment(context, clock=_clock(now), random=_random, **more)


def _clock(now: datetime) -> Callable[[], datetime]:
    return lambda: now.replace(tzinfo=None)


def _with_options(program: Any, environment: ContextEnvironment, options: Options) -> Evaluation:
    found: Evaluation = program.evaluate(
        environment=environment,
        error_handling=options.error_handling,
        precision=options.precision,
        date_format=options.date_format,
        debug=options.debug,
    )
    return found


def _milliseconds_since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)


# Faults ---------------------------------------------------------------------------------------------------------------


def _refusal(fault: FormulaError, loc: Sequence[str]) -> Problem:
    """What the caller reads of a fault; the engine's words stand in `errors`."""
    message = fault.message if fault.position is None else f"{fault.message} (at {fault.position})"
    faults = [Fault(list(loc), message), *(Fault(list(loc), hint) for hint in fault.suggestions)]
    match fault:
        case errors.SyntaxFault():
            return InvalidFormula(*faults)
        case errors.UnsupportedFunction():
            return UnsupportedFunction(*faults)
        case errors.MissingContext():
            return MissingContext(Fault(["body", "context"], fault.message))
        case errors.ContextError():
            return ValidationFailed(Fault(["body", "context"], fault.message))
        case errors.LimitExceeded() | errors.EvaluationError():
            return EvaluationError(*faults)
    return ValidationFailed(Fault(["body", "options"], fault.message))


# What formulas are made of --------------------------------------------------------------------------------------------


def validate(body: ValidateRequest) -> Validation:
    """A formula's parts, or its fault."""
    try:
        tree = compile_formula(body.formula).tree
    except FormulaError as fault:
        return Validation(
            valid=False,
            formula=body.formula,
            error=fault.message,
            error_position=fault.position or 0,
            suggestions=list(fault.suggestions),
        )
    warnings = suggest.warnings(tree)
    if body.strict and warnings:
        return Validation(
            valid=False, formula=body.formula, error=warnings[0], error_position=0, suggestions=warnings[1:]
        )
    return Validation(
        valid=True,
        formula=body.formula,
        functions_used=functions_of(tree),
        cell_references=references_of(tree),
        complexity_score=suggest.complexity(tree),
        warnings=warnings,
    )


def functions(query: FunctionQuery) -> FunctionList:
    """The functions of a category, or whose name holds what is searched for."""
    wanted = (query.search or "").upper()
    found = [
        row for row in _catalogue() if wanted in row.name and (query.category is None or row.category == query.category)
    ]
    return FunctionList(functions=found, categories=list(get_args(Category)), total=len(found))


@lru_cache(maxsize=1)
def _catalogue() -> list[FunctionHelp]:
    return [_help(FUNCTIONS[name]) for name in sorted(FUNCTIONS)]


def _help(row: Function) -> FunctionHelp:
    return FunctionHelp(
        name=row.name,
        category=convert(row.category, Category),
        description=row.description,
        syntax=row.syntax,
        arguments=[
            FunctionArgument(
                name=argument.name,
                type=argument.kind.value,
                required=argument.required,
                description=argument.description,
            )
            for argument in row.arguments
        ],
        examples=[formula for formula, _ in row.examples],
    )


def translate(query: TranslateQuery) -> Translated:
    """A formula as source code."""
    try:
        found = to_source(query.formula, query.target, include_imports=query.include_imports)
    except FormulaError as fault:
        refusal = _refusal(fault, ["query", "formula"])
        raise refusal if isinstance(refusal, InvalidFormula) else UnsupportedFunction(*refusal.errors) from None
    return Translated(
        formula=query.formula,
        target=query.target,
        code=str(found.code),
        imports=list(found.imports),
        full_code=str(found.full_code),
        notes=list(found.notes),
    )
