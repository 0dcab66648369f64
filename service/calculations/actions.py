"""Calculations' decisions.

What is evaluated where, what it counts, and which refusal a fault becomes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import cast, get_args
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, convert

from core.confined.run import ChildFailed, ChildOutOfTime
from core.formula import FUNCTIONS, work_of
from core.formula import compile as compile_formula
from core.formula.functions import Function
from core.formula.language import FormulaError
from core.formula.values import DEFAULT
from core.recalc.book import Book
from service.calculations import evaluation_actions, schema
from service.calculations.evaluation_actions import (
    BatchDone,
    BatchOrder,
    EncodedAnswer,
    EncodedEvaluation,
    EvaluateOrder,
    Refusal,
    StoredColumns,
    TranslateOrder,
    ValidateOrder,
    encode,
)
from service.calculations.evaluator_actions import evaluators_of
from service.platform.access.caller_status import Meter
from service.platform.base.compute import at_once
from service.platform.base.lru import Lru
from service.platform.base.problem import Fault, Problem, Unavailable, ValidationFailed
from service.platform.clock import local_time, zone_of
from service.platform.config import Settings
from service.platform.unit.context import Context
from service.workbooks import shared as workbooks

METER = "calculations"
INLINE_CELLS = 200
INLINE_CHARACTERS = 500
INLINE_TEXT = 2_000
INLINE_KEYS = 4_000
"""Only a formula that short over so few given cells, characters in them and in their keys is weighed at all."""
INLINE_NANOSECONDS = 2_000_000
"""A formula that can make no more work is evaluated on the event loop: the way to an evaluator takes many times what
such a one commonly takes."""
VALIDATED_INLINE_CHARACTERS = 150
TRANSLATED_INLINE_CHARACTERS = 60
"""A formula that is no longer is taken apart, or written as source code, on the event loop: the worst known takes a
millisecond."""
OPENING_SECONDS = 30.0
"""In which an evaluator must have opened a workbook."""
SLACK_SECONDS = 2.0
"""An evaluator that is silent for so much longer than it may take is ended."""
BROKEN_OFF = "the evaluation was broken off"
FORMULA = ["body", "formula"]
NO_BOOKS: Lru[str, Book] = Lru(most=0, bytes_most=0)

_answer_of: Callable[[bytes], evaluation_actions.Answer] = msgspec.msgpack.Decoder(evaluation_actions.Answer).decode


def one_calculation(settings: Settings) -> Meter:
    """Return what evaluating one formula uses of a tenant's month."""
    return Meter(METER, settings.calculations_per_month)


# Values ---------------------------------------------------------------------------------------------------------------


async def evaluate(ctx: Context, body: schema.EvaluateRequest) -> schema.EvaluationResult:
    """Return one formula's value; its own context needs no database."""
    started, now = time.perf_counter(), ctx.now()
    workbook = None if body.workbook_id is None else await _stored_workbook(ctx, body.workbook_id, body.sheet_name)
    order = _order(ctx, body, await ctx.local_time(now), workbook)
    evaluation = _at_once(order) if _is_small(order) else await _by_evaluator(ctx, order)
    return _result(ctx, order, evaluation, now, started)


def evaluate_small(ctx: Context, body: schema.EvaluateRequest) -> schema.EvaluationResult | None:
    """Return a small formula's value at once; None for any other."""
    started, now = time.perf_counter(), ctx.now()
    order = _order(ctx, body, local_time(now, zone_of(ctx.caller.timezone)))
    if body.workbook_id is not None or not _is_small(order):
        return None
    return _result(ctx, order, _at_once(order), now, started)


def _order(
    ctx: Context, body: schema.EvaluateRequest, now: datetime, workbook: StoredColumns | None = None
) -> EvaluateOrder:
    options = body.options or schema.Options()
    return EvaluateOrder(
        formula=body.formula,
        context=body.context or {},
        sheet_name=body.sheet_name,
        options=options,
        debug=body.debug or options.debug,
        now=now,
        seconds=ctx.settings.evaluation_seconds,
        workbook=workbook,
    )


def _result(
    ctx: Context, order: EvaluateOrder, evaluation: EncodedEvaluation, now: datetime, started: float
) -> schema.EvaluationResult:
    if order.workbook is None:
        ctx.set_subject("formula", "", formulas=1)
    return schema.EvaluationResult(
        value=Raw(evaluation.value),
        type=evaluation.type,
        formula=order.formula,
        evaluated_at=now,
        execution_time_ms=_milliseconds_since(started),
        cell_references=evaluation.cell_references,
        functions_used=evaluation.functions_used,
        locale=UNSET if evaluation.locale == DEFAULT.tag else evaluation.locale,
        trace=UNSET if evaluation.trace is None else cast(list[schema.Step], Raw(evaluation.trace)),
        warnings=evaluation.warnings or UNSET,
    )


def _is_small(order: EvaluateOrder) -> bool:
    if order.workbook is not None or order.debug or len(order.context) > INLINE_CELLS:
        return False
    characters = keys = 0
    for key, value in order.context.items():
        keys += len(key)
        if type(value) is str:
            characters += len(value)
        elif type(value) is list:
            return False
    if characters > INLINE_TEXT or keys > INLINE_KEYS or len(order.formula) > INLINE_CHARACTERS:
        return False
    runs = 2 if order.options.error_handling == "throw" else 1  # the place of an error is found by a second run
    return runs * _work(order.formula, _round_up(len(order.context)), _round_up(characters)) <= INLINE_NANOSECONDS


def _round_up(count: int) -> int:
    """Round up to a power of two: few kinds of contexts differ then."""
    return 1 << (count - 1).bit_length() if count else 0


@lru_cache(maxsize=8_192)
def _work(formula: str, cells: int, characters: int) -> float:
    """Return a formula's most nanoseconds; None for a text that is no formula."""
    try:
        return work_of(compile_formula(formula), cells, characters)
    except FormulaError:
        return 0.0


def _at_once(order: EvaluateOrder) -> EncodedEvaluation:
    return _accept(at_once(evaluation_actions.answer, order, NO_BOOKS, evaluation_actions.without_limit))


async def _by_evaluator(ctx: Context, order: EvaluateOrder) -> EncodedEvaluation:
    seconds = order.seconds + SLACK_SECONDS + (0.0 if order.workbook is None else OPENING_SECONDS)
    try:
        answer = await evaluators_of(ctx.resources)(ctx.tenant_key, encode(order), seconds)
    except ChildOutOfTime:
        raise schema.EvaluationError(Fault(FORMULA, evaluation_actions.TOO_LONG)) from None
    except ChildFailed:
        raise schema.EvaluationError(Fault(FORMULA, BROKEN_OFF)) from None
    return _accept(_answer_of(answer))


def _accept(answer: evaluation_actions.Answer) -> EncodedEvaluation:
    if isinstance(answer, Refusal):
        raise _refusal(answer, FORMULA)
    assert isinstance(answer, EncodedEvaluation)
    return answer


async def _stored_workbook(ctx: Context, workbook_id: UUID, sheet_name: str | None) -> StoredColumns:
    """Return a workbook as an evaluator opens it; the transaction has ended."""
    row = await workbooks.get(ctx, workbook_id)
    index = (await workbooks.sheet(ctx, row.id, sheet_name)).index if sheet_name is not None else 0
    stored = await workbooks.locate_book(ctx, row)
    await ctx.commit()
    ctx.set_subject("formula", row.id, row.name, formulas=1)
    return StoredColumns(key=stored.key, manifest=stored.manifest, paths=stored.paths, sheet_index=index)


async def batch(ctx: Context, body: schema.BatchRequest) -> schema.BatchResult:
    """Return every formula's value or what keeps it from one, in order."""
    started = time.perf_counter()
    count = len(body.formulas)
    if count:
        await ctx.use(one_calculation(ctx.settings)._replace(amount=count), schema.CalculationQuotaExceeded)
    order = BatchOrder(
        formulas=body.formulas,
        shared_context=body.shared_context or {},
        options=body.options or schema.Options(),
        now=await ctx.local_time(ctx.now()),
        seconds=ctx.settings.evaluation_seconds,
    )
    seconds = order.seconds * evaluation_actions.BATCH_TIMES + SLACK_SECONDS
    try:
        done = _done(body, _answer_of(await evaluators_of(ctx.resources)(ctx.tenant_key, encode(order), seconds)))
    except ChildOutOfTime:
        done = evaluation_actions.fail_all(body.formulas, evaluation_actions.TOO_LONG)
    except ChildFailed:
        done = evaluation_actions.fail_all(body.formulas, BROKEN_OFF)
    ctx.set_subject("formula", "", formulas=count)
    return schema.BatchResult(
        results=cast(list[schema.BatchItem], Raw(done.results)),
        summary=schema.BatchSummary(total=count, succeeded=done.succeeded, failed=count - done.succeeded),
        execution_time_ms=_milliseconds_since(started),
    )


def _done(body: schema.BatchRequest, answer: evaluation_actions.Answer) -> BatchDone:
    if isinstance(answer, Refusal):
        return evaluation_actions.fail_all(body.formulas, answer.message)
    assert isinstance(answer, BatchDone)
    return answer


def _milliseconds_since(started: float) -> int:
    return int((time.perf_counter() - started) * 1000 + 0.5)  # half a millisecond up


# Faults ---------------------------------------------------------------------------------------------------------------


_REFUSALS: dict[str, type[Problem]] = {
    "SyntaxFault": schema.InvalidFormula,
    "UnsupportedFunction": schema.UnsupportedFunction,
    "MissingContext": schema.MissingContext,
    "ContextError": ValidationFailed,
    "LimitExceeded": schema.EvaluationError,
    "EvaluationError": schema.EvaluationError,
    "BodyFault": schema.EvaluationError,
    "FormulaError": ValidationFailed,
    evaluation_actions.STORE_AWAY: Unavailable,
}
"""What the caller reads of a fault, by its class."""
_PLACES = {
    "MissingContext": ["body", "context"],
    "ContextError": ["body", "context"],
    "FormulaError": ["body", "options"],
}
"""Where it is, if not in the formula."""


def _refusal(refused: Refusal, formula: Sequence[str]) -> Problem:
    """Return what the caller reads of a fault; the engine's words stand in `errors`."""
    place = list(_PLACES.get(refused.kind, formula))
    message = refused.message if refused.position is None else f"{refused.message} (at {refused.position})"
    return _REFUSALS[refused.kind](Fault(place, message), *(Fault(place, hint) for hint in refused.suggestions))


# What formulas are made of --------------------------------------------------------------------------------------------


async def validate(ctx: Context, body: schema.ValidateRequest) -> schema.Validation:
    """Return a formula's parts, or its fault."""
    order = ValidateOrder(body.formula, body.strict)
    small = len(body.formula) <= VALIDATED_INLINE_CHARACTERS
    reply = evaluation_actions.validate(order) if small else await _ask_evaluator(ctx, order)
    if isinstance(reply, Refusal):  # for want of memory, which says nothing of the formula
        raise Unavailable
    return cast(schema.Validation, Raw(reply.answer))


async def translate(ctx: Context, query: schema.TranslateQuery) -> schema.Translated:
    """Return a formula as source code."""
    order = TranslateOrder(query.formula, query.target, query.include_imports)
    small = len(query.formula) <= TRANSLATED_INLINE_CHARACTERS
    reply = evaluation_actions.translate_formula(order) if small else await _ask_evaluator(ctx, order)
    if isinstance(reply, Refusal):
        refusal = _refusal(reply, ["query", "formula"])
        raise refusal if isinstance(refusal, schema.InvalidFormula) else schema.UnsupportedFunction(*refusal.errors)
    return cast(schema.Translated, Raw(reply.answer))


async def _ask_evaluator(ctx: Context, order: ValidateOrder | TranslateOrder) -> EncodedAnswer | Refusal:
    """Return an evaluator's answer to an order."""
    seconds = ctx.settings.evaluation_seconds + SLACK_SECONDS
    try:
        answer = _answer_of(await evaluators_of(ctx.resources)(ctx.tenant_key, encode(order), seconds))
    except (ChildOutOfTime, ChildFailed):
        raise Unavailable from None
    assert isinstance(answer, EncodedAnswer | Refusal)
    return answer


def functions(query: schema.FunctionQuery) -> schema.FunctionList:
    """Return the functions of a category, or whose name holds what is searched for."""
    wanted = (query.search or "").upper()
    rows = [
        row for row in _catalogue() if wanted in row.name and (query.category is None or row.category == query.category)
    ]
    return schema.FunctionList(functions=rows, categories=list(get_args(schema.Category)), total=len(rows))


@lru_cache(maxsize=1)
def _catalogue() -> list[schema.FunctionHelp]:
    return [_help(FUNCTIONS[name]) for name in sorted(FUNCTIONS)]


def _help(row: Function) -> schema.FunctionHelp:
    return schema.FunctionHelp(
        name=row.name,
        category=convert(row.category, schema.Category),
        description=f"{row.description} {row.caution}".rstrip(),
        syntax=row.syntax,
        arguments=[
            schema.FunctionArgument(
                name=argument.name,
                type=argument.kind.value,
                required=argument.required,
                description=argument.description,
            )
            for argument in row.arguments
        ],
        examples=[formula for formula, _ in row.examples],
    )
