"""Calculations' decisions: what is evaluated where, what it counts, and which refusal a fault becomes."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import cast, get_args
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, convert

from core.confined import ChildFailed, ChildOutOfTime
from core.formula import suggest
from core.formula.catalogue import FUNCTIONS, Function
from core.formula.errors import FormulaError
from core.formula.evaluate import compile as compile_formula
from core.formula.parser import functions as functions_of
from core.formula.parser import references as references_of
from core.formula.translate import translate as to_source
from core.formula.tree import Area, ArrayLiteral, Binary, Call, Cell, Empty, Literal, Name, Unary
from core.recalc.book import Book
from service.calculations import work
from service.calculations.evaluators import evaluators_of
from service.calculations.schema import (
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
    MissingContext,
    Step,
    Translated,
    TranslateQuery,
    UnsupportedFunction,
    ValidateRequest,
    Validation,
)
from service.calculations.work import BatchDone, BatchOrder, Evaluated, EvaluateOrder, Refused, Stored
from service.platform.config import Settings
from service.platform.context import Context
from service.platform.problem import Fault, Problem, ValidationFailed
from service.platform.shelf import Shelf
from service.platform.standing import Meter
from service.workbooks import library
from service.workbooks import store as workbooks

METER = "calculations"
INLINE_CELLS = 200
INLINE_CHARACTERS = 500
INLINE_TEXT = 2_000
"""A formula that short over so few given cells and characters is evaluated on the event loop, if it is made of QUICK
functions only and nothing in it can have more cells: the way to an evaluator takes many times what it takes."""
QUICK = frozenset(
    {
        *("AND", "FALSE", "IF", "IFERROR", "IFNA", "IFS", "LET", "NOT", "OR", "SWITCH", "TRUE", "XOR"),
        *("ABS", "CEILING", "EXP", "FLOOR", "INT", "LN", "LOG", "LOG10", "MOD", "PI", "POWER", "PRODUCT", "ROUND"),
        *("ROUNDDOWN", "ROUNDUP", "SIGN", "SQRT", "SUM", "SUMIF", "SUMIFS", "SUMPRODUCT", "SUMSQ", "TRUNC"),
        *("AVERAGE", "AVERAGEIF", "AVERAGEIFS", "COUNT", "COUNTA", "COUNTBLANK", "COUNTIF", "COUNTIFS", "LARGE", "MAX"),
        *("MAXIFS", "MEDIAN", "MIN", "MINIFS", "SMALL", "STDEV", "STDEV.S", "VAR", "VAR.S"),
        *("CHOOSE", "HLOOKUP", "INDEX", "MATCH", "VLOOKUP"),
        *("CONCAT", "CONCATENATE", "EXACT", "FIND", "LEFT", "LEN", "LOWER", "MID", "PROPER", "RIGHT", "TEXTJOIN"),
        *("TRIM", "UPPER", "VALUE"),
        *("DATE", "DATEDIF", "DAY", "DAYS", "EDATE", "EOMONTH", "HOUR", "MINUTE", "MONTH", "NOW", "SECOND", "TIME"),
        *("TODAY", "WEEKDAY", "YEAR"),
        *("FV", "NPER", "NPV", "PMT", "PV"),
        *("ISBLANK", "ISERROR", "ISNA", "ISNUMBER", "ISTEXT", "N", "NA"),
    }
)
"""Functions that make no more cells than they are given, and look at each a few times."""
OPENING_SECONDS = 30.0
"""In which an evaluator must have opened a workbook."""
SLACK_SECONDS = 2.0
"""An evaluator that is silent for so much longer than it may take is ended."""
BROKEN_OFF = "the evaluation was broken off"
FORMULA = ["body", "formula"]
NO_BOOKS: Shelf[Book] = Shelf(1)

_answer_of = msgspec.msgpack.Decoder(Evaluated | BatchDone | Refused).decode


def one_calculation(settings: Settings) -> Meter:
    """What evaluating one formula uses of a tenant's month."""
    return Meter(METER, settings.calculations_per_month)


# Values ---------------------------------------------------------------------------------------------------------------


async def evaluate(ctx: Context, body: EvaluateRequest) -> EvaluationResult:
    """One formula's value. With a context of its own no database is asked."""
    started = time.perf_counter()
    order = EvaluateOrder(
        formula=body.formula,
        context=body.context,
        sheet_name=body.sheet_name,
        options=body.options,
        debug=body.debug or body.options.debug,
        now=ctx.now(),
        seconds=ctx.settings.evaluation_seconds,
        workbook=None if body.workbook_id is None else await _stored(ctx, body.workbook_id, body.sheet_name),
    )
    found = _at_once(order) if _is_small(order) else await _by_evaluator(ctx, order)
    ctx.concerns("formula", ctx.request_id, formulas=1)
    return EvaluationResult(
        value=Raw(found.value),
        type=found.type,
        formula=body.formula,
        evaluated_at=order.now,
        execution_time_ms=_milliseconds_since(started),
        cell_references=found.cell_references,
        functions_used=found.functions_used,
        trace=UNSET if found.trace is None else cast(list[Step], Raw(found.trace)),
    )


def _is_small(order: EvaluateOrder) -> bool:
    if order.workbook is not None or len(order.context) > INLINE_CELLS or not _is_quick(order.formula):
        return False
    characters = 0
    for value in order.context.values():
        if type(value) is str:
            characters += len(value)
        elif type(value) is list:
            return False
    return characters <= INLINE_TEXT


@lru_cache(maxsize=8_192)
def _is_quick(formula: str) -> bool:
    """Whether nothing in a formula can take long over a few cells; one that is none is quick to refuse."""
    if len(formula) > INLINE_CHARACTERS:
        return False
    try:
        tree = compile_formula(formula).tree
    except FormulaError:
        return True
    rows = columns = 1  # of the largest array that can come of those in the formula
    for node, _ in suggest.walk(tree):
        if isinstance(node, Area):
            rows = max(rows, abs(node.last.row - node.first.row) + 1)
            columns = max(columns, abs(node.last.column - node.first.column) + 1)
        elif isinstance(node, ArrayLiteral):
            rows, columns = max(rows, len(node.rows)), max(columns, len(node.rows[0]))
        elif isinstance(node, Call):
            if node.name not in QUICK:
                return False
        elif not isinstance(node, Literal | Empty | Cell | Name | Unary | Binary) or (
            isinstance(node, Binary) and node.operator == ":"
        ):
            return False
    return rows * columns <= INLINE_CELLS


def _at_once(order: EvaluateOrder) -> Evaluated:
    return _accepted(work.answer(order, NO_BOOKS, work.unlimited))


async def _by_evaluator(ctx: Context, order: EvaluateOrder) -> Evaluated:
    seconds = order.seconds + SLACK_SECONDS + (0.0 if order.workbook is None else OPENING_SECONDS)
    try:
        answer = await evaluators_of(ctx.resources)(pickle.dumps(order), seconds)
    except ChildOutOfTime:
        raise EvaluationError(Fault(FORMULA, work.TOO_LONG)) from None
    except ChildFailed:
        raise EvaluationError(Fault(FORMULA, BROKEN_OFF)) from None
    return _accepted(_answer_of(answer))


def _accepted(answer: work.Answer) -> Evaluated:
    if isinstance(answer, Refused):
        raise _refusal(answer, FORMULA)
    assert isinstance(answer, Evaluated)
    return answer


async def _stored(ctx: Context, workbook_id: UUID, sheet_name: str | None) -> Stored:
    """A ready workbook as an evaluator opens it; the transaction has ended."""
    row = await workbooks.get(ctx, workbook_id)
    index = (await workbooks.sheet(ctx, row.id, sheet_name)).index if sheet_name is not None else 0
    stored = await library.stored_book(ctx, row)
    await ctx.commit()
    return Stored(key=stored.key, manifest=stored.manifest, paths=stored.paths, sheet_index=index)


async def batch(ctx: Context, body: BatchRequest) -> BatchResult:
    """Every formula's value or what keeps it from one, in order."""
    started = time.perf_counter()
    count = len(body.formulas)
    if count:
        await ctx.use(one_calculation(ctx.settings)._replace(amount=count), CalculationQuotaExceeded)
    order = BatchOrder(
        formulas=body.formulas,
        shared_context=body.shared_context,
        options=body.options,
        now=ctx.now(),
        seconds=ctx.settings.evaluation_seconds,
    )
    seconds = order.seconds * work.BATCH_TIMES + SLACK_SECONDS
    try:
        done = _done(body, _answer_of(await evaluators_of(ctx.resources)(pickle.dumps(order), seconds)))
    except ChildOutOfTime:
        done = work.all_failed(body.formulas, work.TOO_LONG)
    except ChildFailed:
        done = work.all_failed(body.formulas, BROKEN_OFF)
    ctx.concerns("formula", ctx.request_id, formulas=count)
    return BatchResult(
        results=cast(list[BatchItem], Raw(done.results)),
        summary=BatchSummary(total=count, succeeded=done.succeeded, failed=count - done.succeeded),
        execution_time_ms=_milliseconds_since(started),
    )


def _done(body: BatchRequest, answer: work.Answer) -> BatchDone:
    if isinstance(answer, Refused):
        return work.all_failed(body.formulas, answer.message)
    assert isinstance(answer, BatchDone)
    return answer


def _milliseconds_since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)


# Faults ---------------------------------------------------------------------------------------------------------------


_REFUSALS: dict[str, type[Problem]] = {
    "SyntaxFault": InvalidFormula,
    "UnsupportedFunction": UnsupportedFunction,
    "MissingContext": MissingContext,
    "ContextError": ValidationFailed,
    "LimitExceeded": EvaluationError,
    "EvaluationError": EvaluationError,
    "FormulaError": ValidationFailed,
}
"""What the caller reads of a fault, by its class."""
_PLACES = {
    "MissingContext": ["body", "context"],
    "ContextError": ["body", "context"],
    "FormulaError": ["body", "options"],
}
"""Where it is, if not in the formula."""


def _refusal(refused: Refused, formula: Sequence[str]) -> Problem:
    """What the caller reads of a fault; the engine's words stand in `errors`."""
    place = list(_PLACES.get(refused.kind, formula))
    message = refused.message if refused.position is None else f"{refused.message} (at {refused.position})"
    return _REFUSALS[refused.kind](Fault(place, message), *(Fault(place, hint) for hint in refused.suggestions))


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
        refusal = _refusal(Refused.of(fault), ["query", "formula"])
        raise refusal if isinstance(refusal, InvalidFormula) else UnsupportedFunction(*refusal.errors) from None
    return Translated(
        formula=query.formula,
        target=query.target,
        code=str(found.code),
        imports=list(found.imports),
        full_code=str(found.full_code),
        notes=list(found.notes),
    )
