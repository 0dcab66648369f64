"""Calculations' decisions: what is evaluated where, what it counts, and which refusal a fault becomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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
from service.calculations import evaluation_actions
from service.calculations.evaluation_actions import (
    BatchDone,
    BatchOrder,
    Evaluated,
    EvaluateOrder,
    Refused,
    Stored,
    Told,
    TranslateOrder,
    ValidateOrder,
    encode,
)
from service.calculations.evaluator_actions import evaluators_of
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
    Options,
    Step,
    Translated,
    TranslateQuery,
    UnsupportedFunction,
    ValidateRequest,
    Validation,
)
from service.platform.access.caller_status import Meter
from service.platform.base.compute import at_once
from service.platform.base.lru import Lru
from service.platform.base.problem import Fault, Problem, Unavailable, ValidationFailed
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
    """What evaluating one formula uses of a tenant's month."""
    return Meter(METER, settings.calculations_per_month)


# Values ---------------------------------------------------------------------------------------------------------------


async def evaluate(ctx: Context, body: EvaluateRequest) -> EvaluationResult:
    """One formula's value. With a context of its own no database is asked."""
    started, now = time.perf_counter(), ctx.now()
    options = body.options or Options()
    order = EvaluateOrder(
        formula=body.formula,
        context=body.context or {},
        sheet_name=body.sheet_name,
        options=options,
        debug=body.debug or options.debug,
        now=await ctx.there(now),
        seconds=ctx.settings.evaluation_seconds,
        workbook=None if body.workbook_id is None else await _stored(ctx, body.workbook_id, body.sheet_name),
    )
    found = _at_once(order) if _is_small(order) else await _by_evaluator(ctx, order)
    if order.workbook is None:
        ctx.concerns("formula", "", formulas=1)
    return EvaluationResult(
        value=Raw(found.value),
        type=found.type,
        formula=body.formula,
        evaluated_at=now,
        execution_time_ms=_milliseconds_since(started),
        cell_references=found.cell_references,
        functions_used=found.functions_used,
        locale=UNSET if found.locale == DEFAULT.tag else found.locale,
        trace=UNSET if found.trace is None else cast(list[Step], Raw(found.trace)),
        warnings=found.warnings or UNSET,
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
    return runs * _work(order.formula, _rounded_up(len(order.context)), _rounded_up(characters)) <= INLINE_NANOSECONDS


def _rounded_up(count: int) -> int:
    """To a power of two, so that few kinds of contexts are told apart."""
    return 1 << (count - 1).bit_length() if count else 0


@lru_cache(maxsize=8_192)
def _work(formula: str, cells: int, characters: int) -> float:
    """The nanoseconds that a formula can take; none for what is no formula, which is quick to refuse."""
    try:
        return work_of(compile_formula(formula), cells, characters)
    except FormulaError:
        return 0.0


def _at_once(order: EvaluateOrder) -> Evaluated:
    return _accepted(at_once(evaluation_actions.answer, order, NO_BOOKS, evaluation_actions.unlimited))


async def _by_evaluator(ctx: Context, order: EvaluateOrder) -> Evaluated:
    seconds = order.seconds + SLACK_SECONDS + (0.0 if order.workbook is None else OPENING_SECONDS)
    try:
        answer = await evaluators_of(ctx.resources)(ctx.payer, encode(order), seconds)
    except ChildOutOfTime:
        raise EvaluationError(Fault(FORMULA, evaluation_actions.TOO_LONG)) from None
    except ChildFailed:
        raise EvaluationError(Fault(FORMULA, BROKEN_OFF)) from None
    return _accepted(_answer_of(answer))


def _accepted(answer: evaluation_actions.Answer) -> Evaluated:
    if isinstance(answer, Refused):
        raise _refusal(answer, FORMULA)
    assert isinstance(answer, Evaluated)
    return answer


async def _stored(ctx: Context, workbook_id: UUID, sheet_name: str | None) -> Stored:
    """A workbook as an evaluator opens it; the transaction has ended."""
    row = await workbooks.get(ctx, workbook_id)
    index = (await workbooks.sheet(ctx, row.id, sheet_name)).index if sheet_name is not None else 0
    stored = await workbooks.stored_book(ctx, row)
    await ctx.commit()
    ctx.concerns("formula", row.id, row.name, formulas=1)
    return Stored(key=stored.key, manifest=stored.manifest, paths=stored.paths, sheet_index=index)


async def batch(ctx: Context, body: BatchRequest) -> BatchResult:
    """Every formula's value or what keeps it from one, in order."""
    started = time.perf_counter()
    count = len(body.formulas)
    if count:
        await ctx.use(one_calculation(ctx.settings)._replace(amount=count), CalculationQuotaExceeded)
    order = BatchOrder(
        formulas=body.formulas,
        shared_context=body.shared_context or {},
        options=body.options or Options(),
        now=await ctx.there(ctx.now()),
        seconds=ctx.settings.evaluation_seconds,
    )
    seconds = order.seconds * evaluation_actions.BATCH_TIMES + SLACK_SECONDS
    try:
        done = _done(body, _answer_of(await evaluators_of(ctx.resources)(ctx.payer, encode(order), seconds)))
    except ChildOutOfTime:
        done = evaluation_actions.all_failed(body.formulas, evaluation_actions.TOO_LONG)
    except ChildFailed:
        done = evaluation_actions.all_failed(body.formulas, BROKEN_OFF)
    ctx.concerns("formula", "", formulas=count)
    return BatchResult(
        results=cast(list[BatchItem], Raw(done.results)),
        summary=BatchSummary(total=count, succeeded=done.succeeded, failed=count - done.succeeded),
        execution_time_ms=_milliseconds_since(started),
    )


def _done(body: BatchRequest, answer: evaluation_actions.Answer) -> BatchDone:
    if isinstance(answer, Refused):
        return evaluation_actions.all_failed(body.formulas, answer.message)
    assert isinstance(answer, BatchDone)
    return answer


def _milliseconds_since(started: float) -> int:
    return int((time.perf_counter() - started) * 1000 + 0.5)  # half a millisecond up


# Faults ---------------------------------------------------------------------------------------------------------------


_REFUSALS: dict[str, type[Problem]] = {
    "SyntaxFault": InvalidFormula,
    "UnsupportedFunction": UnsupportedFunction,
    "MissingContext": MissingContext,
    "ContextError": ValidationFailed,
    "LimitExceeded": EvaluationError,
    "EvaluationError": EvaluationError,
    "BodyFault": EvaluationError,
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


def _refusal(refused: Refused, formula: Sequence[str]) -> Problem:
    """What the caller reads of a fault; the engine's words stand in `errors`."""
    place = list(_PLACES.get(refused.kind, formula))
    message = refused.message if refused.position is None else f"{refused.message} (at {refused.position})"
    return _REFUSALS[refused.kind](Fault(place, message), *(Fault(place, hint) for hint in refused.suggestions))


# What formulas are made of --------------------------------------------------------------------------------------------


async def validate(ctx: Context, body: ValidateRequest) -> Validation:
    """A formula's parts, or its fault."""
    order = ValidateOrder(body.formula, body.strict)
    small = len(body.formula) <= VALIDATED_INLINE_CHARACTERS
    told = evaluation_actions.validated(order) if small else await _told(ctx, order)
    if isinstance(told, Refused):  # for want of memory, which says nothing of the formula
        raise Unavailable
    return cast(Validation, Raw(told.answer))


async def translate(ctx: Context, query: TranslateQuery) -> Translated:
    """A formula as source code."""
    order = TranslateOrder(query.formula, query.target, query.include_imports)
    small = len(query.formula) <= TRANSLATED_INLINE_CHARACTERS
    told = evaluation_actions.translated(order) if small else await _told(ctx, order)
    if isinstance(told, Refused):
        refusal = _refusal(told, ["query", "formula"])
        raise refusal if isinstance(refusal, InvalidFormula) else UnsupportedFunction(*refusal.errors)
    return cast(Translated, Raw(told.answer))


async def _told(ctx: Context, order: ValidateOrder | TranslateOrder) -> Told | Refused:
    """What an evaluator says; of a formula's text there is nothing that could take as long as it may."""
    seconds = ctx.settings.evaluation_seconds + SLACK_SECONDS
    try:
        answer = _answer_of(await evaluators_of(ctx.resources)(ctx.payer, encode(order), seconds))
    except (ChildOutOfTime, ChildFailed):
        raise Unavailable from None
    assert isinstance(answer, Told | Refused)
    return answer


def functions(query: FunctionQuery) -> FunctionList:
    """The functions of a category, or whose name holds what is searched for."""
    wanted = (query.search or "").upper()
    rows = [
        row for row in _catalogue() if wanted in row.name and (query.category is None or row.category == query.category)
    ]
    return FunctionList(functions=rows, categories=list(get_args(Category)), total=len(rows))


@lru_cache(maxsize=1)
def _catalogue() -> list[FunctionHelp]:
    return [_help(FUNCTIONS[name]) for name in sorted(FUNCTIONS)]


def _help(row: Function) -> FunctionHelp:
    return FunctionHelp(
        name=row.name,
        category=convert(row.category, Category),
        description=f"{row.description} {row.caution}".rstrip(),
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
