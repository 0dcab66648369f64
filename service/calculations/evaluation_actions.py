"""Evaluating as such: what the event loop does with a small formula, and a child process with any other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Struct

from core.formula import FUNCTIONS, ContextEnvironment, Evaluation, complexity
from core.formula import compile as compile_formula
from core.formula import warnings as warnings_of
from core.formula.language import FormulaError, LimitExceeded
from core.formula.language import functions as functions_of
from core.formula.language import references as references_of
from core.formula.ranges import Environment
from core.formula.translation import Target, translate
from core.formula.values import DEFAULT, LOCALES, Locale
from core.grid.codec import WorkbookRecord, open_workbook
from core.portfolio.model.notes import DataWarning, told_of_formulas
from core.recalc.book import Book
from service.calculations.schema import (
    BatchFormula,
    BatchItem,
    Cells,
    ErrorCode,
    ItemError,
    Options,
    Translated,
    Validation,
    ValueType,
)
from service.platform.base.lru import Lru, bytes_of

BATCH_TIMES = 10
"""A batch may take so many times as long as one formula."""
ANSWER_BYTES_MAX = 32 * 1024 * 1024
"""The values of one answer, as JSON: three million numbers."""
CODES: Final[dict[str, ErrorCode]] = {
    "SyntaxFault": "SYNTAX_ERROR",
    "UnsupportedFunction": "UNSUPPORTED_FUNCTION",
    "MissingContext": "MISSING_CONTEXT",
    "ContextError": "VALIDATION_ERROR",
    "FormulaError": "VALIDATION_ERROR",
    "LimitExceeded": "LIMIT_EXCEEDED",
    "EvaluationError": "CALCULATION_ERROR",
    "BodyFault": "CALCULATION_ERROR",
}
"""The code of a batch's failed item by the class of its fault."""
TOO_LONG = "the evaluation took longer than it may"

T = TypeVar("T")


class Limit(Protocol):
    """Calls a function, and raises LimitExceeded where that lasts longer."""

    def __call__(self, seconds: float, function: Callable[[], T]) -> T: ...


_random = SystemRandom().random


class Stored(Struct, frozen=True):
    """A parsed workbook, and the sheet that the formula stands on."""

    key: str
    manifest: str
    paths: tuple[str, ...]
    sheet_index: int


class EvaluateOrder(Struct, frozen=True, kw_only=True, tag_field="of", tag="evaluate"):
    """One formula to be evaluated."""

    formula: str
    context: Cells
    sheet_name: str | None
    options: Options
    debug: bool
    now: datetime
    seconds: float
    workbook: Stored | None = None


class BatchOrder(Struct, frozen=True, kw_only=True, tag_field="of", tag="batch"):
    """Formulas to be evaluated, each in `seconds`, all in ten times as long."""

    formulas: list[BatchFormula]
    shared_context: Cells
    options: Options
    now: datetime
    seconds: float


class ValidateOrder(Struct, frozen=True, tag_field="of", tag="validate"):
    """A formula to be taken apart."""

    formula: str
    strict: bool


class TranslateOrder(Struct, frozen=True, tag_field="of", tag="translate"):
    """A formula to be written as source code."""

    formula: str
    target: Target
    include_imports: bool


class Evaluated(Struct, frozen=True, kw_only=True, tag_field="of", tag="evaluated"):
    """What a formula came to; `value` and `trace` are JSON."""

    value: bytes
    type: ValueType
    cell_references: list[str]
    functions_used: list[str]
    trace: bytes | None
    locale: str
    warnings: list[DataWarning] = []
    """Of its functions, and of the workbook behind it."""


class BatchDone(Struct, frozen=True, kw_only=True, tag_field="of", tag="batch"):
    """What a batch came to; `results` are the items as JSON."""

    results: bytes
    succeeded: int


class Told(Struct, frozen=True, kw_only=True, tag_field="of", tag="told"):
    """What a formula is made of, or its source code, as JSON."""

    answer: bytes


class Refused(Struct, frozen=True, kw_only=True, tag_field="of", tag="refused"):
    """Why a formula has no value: the fault's class, and what it says."""

    kind: str
    message: str
    position: int | None = None
    suggestions: tuple[str, ...] = ()

    @classmethod
    def of(cls, fault: FormulaError) -> Refused:
        return cls(
            kind=type(fault).__name__,
            message=fault.message,
            position=fault.position,
            suggestions=tuple(fault.suggestions),
        )


Order = EvaluateOrder | BatchOrder | ValidateOrder | TranslateOrder
"""What an evaluator is told, as JSON, which has integers of any length."""
Answer = Evaluated | BatchDone | Told | Refused
"""What it says, as MessagePack, which has bytes."""

STORE_AWAY: Final = "Unavailable"
"""The kind of a refusal that says nothing of the formula."""

encode = msgspec.json.Encoder().encode


# One formula ----------------------------------------------------------------------------------------------------------


def evaluated(order: EvaluateOrder, behind: Environment | None = None, sheet: str | None = None) -> Evaluation:
    """A formula's value over its context and the cells behind it.

    Raises:
        FormulaError: it has none.
    """
    program = compile_formula(order.formula)
    environment = ContextEnvironment(
        order.context,
        behind,
        sheet=sheet or order.sheet_name,
        clock=_clock(order.now),
        random=_random,
        seconds=order.seconds,
        locale=_locale(order.options),
    )
    return _with_options(program, environment, order.options, debug=order.debug)


def answer(order: EvaluateOrder, books: Lru[str, Book], limit: Limit) -> Evaluated | Refused:
    """The same as it is handed on, within the time."""
    try:
        behind = sheet = None
        warnings: list[DataWarning] = []
        if order.workbook is not None:
            compile_formula(order.formula)  # what is no formula is refused before a workbook is opened
            book = _opened(order.workbook, books)
            warnings = told_of_formulas(book)
            sheet = book.sheets[order.workbook.sheet_index].name
            behind = book.environment(_clock(order.now)(), _random, sheet)
        told = limit(order.seconds, partial(_told, order, behind, sheet if order.sheet_name is not None else None))
    except FormulaError as fault:
        return Refused.of(fault)
    except OSError:  # the store went away after the file was looked at; what is opened already stays
        return Refused(kind=STORE_AWAY, message="the workbook's file cannot be opened")
    if len(told.value) + len(told.trace or b"") > ANSWER_BYTES_MAX:
        return Refused.of(_too_large())
    return msgspec.structs.replace(told, warnings=told.warnings + warnings) if warnings else told


def _told(order: EvaluateOrder, behind: Environment | None, sheet: str | None) -> Evaluated:
    found = evaluated(order, behind, sheet)
    return Evaluated(
        value=encode(found.value),
        type=found.type,
        cell_references=found.cell_references,
        functions_used=found.functions_used,
        trace=encode(found.trace) if order.debug else None,
        locale=order.options.locale or (DEFAULT if behind is None else behind.locale or DEFAULT).tag,
        warnings=[
            DataWarning("may_differ_from_excel", f"{name}: {FUNCTIONS[name].caution}")
            for name in found.functions_used
            if name in FUNCTIONS and FUNCTIONS[name].caution
        ],
    )


def _opened(stored: Stored, books: Lru[str, Book]) -> Book:
    book = books.get(stored.key)
    if book is None:
        book = Book(open_workbook(WorkbookRecord.from_json(stored.manifest), [Path(path) for path in stored.paths]))
        books.keep(stored.key, book, bytes_of(book))
    return book


# A batch --------------------------------------------------------------------------------------------------------------


def batch(order: BatchOrder, limit: Limit) -> BatchDone:
    """Every formula's value or what keeps it from one, in order."""
    results: list[bytes] = []
    size = succeeded = 0
    for item in _items(order, limit):
        told = encode(item)
        if size + len(told) > ANSWER_BYTES_MAX:
            item = failed(order.formulas[len(results)], Refused.of(_too_large()))
            told = encode(item)
        succeeded += item.status == "success"
        size += len(told)
        results.append(told)
    return BatchDone(results=b"[" + b",".join(results) + b"]", succeeded=succeeded)


def _items(order: BatchOrder, limit: Limit) -> Iterator[BatchItem]:
    """Formulas without a context of their own share one environment, so its cells are read once."""
    end = time.monotonic() + order.seconds * BATCH_TIMES
    shared_cells = _folded(order.shared_context)
    shared = _environment(order.shared_context, order)
    for asked in order.formulas:
        left = end - time.monotonic()
        try:
            if left <= 0:
                raise LimitExceeded("the batch took longer than it may")
            shared.deadline, shared.work = 1e300, 0  # each formula's time counts from its own beginning
            environment = shared
            if asked.context:
                environment = _environment({**shared_cells, **_folded(asked.context)}, order)
            found = limit(min(left, order.seconds), partial(_value, asked.formula, environment, order.options))
        except FormulaError as fault:
            if isinstance(fault, LimitExceeded):
                shared = _environment(order.shared_context, order)  # it may have been left in the midst of something
            yield failed(asked, Refused.of(fault))
        else:
            yield BatchItem(
                id=asked.id,
                formula=asked.formula,
                value=found.value,
                type=found.type,
                status="success",
            )


def _value(formula: str, environment: ContextEnvironment, options: Options) -> Evaluation:
    return _with_options(compile_formula(formula), environment, options)


def failed(asked: BatchFormula, refused: Refused) -> BatchItem:
    """The item of a formula that has no value."""
    return BatchItem(
        id=asked.id,
        formula=asked.formula,
        value=None,
        type="error",
        status="error",
        error=ItemError(
            code=CODES[refused.kind],
            message=refused.message,
            position=UNSET if refused.position is None else refused.position,
        ),
    )


def all_failed(formulas: Sequence[BatchFormula], message: str) -> BatchDone:
    """The batch of which nothing came back."""
    refused = Refused(kind="LimitExceeded", message=message)
    return BatchDone(results=encode([failed(asked, refused) for asked in formulas]), succeeded=0)


def _folded(context: Cells) -> Cells:
    """Keys in one spelling, so that a formula's own `a1` covers the shared `$A$1`."""
    return {key.replace("$", "").upper(): value for key, value in context.items()}


# What formulas are made of --------------------------------------------------------------------------------------------


def validated(order: ValidateOrder) -> Told:
    """A formula's parts, or its fault."""
    return Told(answer=encode(_validation(order)))


def _validation(order: ValidateOrder) -> Validation:
    try:
        tree = compile_formula(order.formula).tree
    except FormulaError as fault:
        return Validation(
            valid=False,
            formula=order.formula,
            error=fault.message,
            error_position=fault.position or 0,
            suggestions=list(fault.suggestions),
        )
    warnings = warnings_of(tree)
    if order.strict and warnings:
        return Validation(
            valid=False, formula=order.formula, error=warnings[0], error_position=0, suggestions=warnings[1:]
        )
    return Validation(
        valid=True,
        formula=order.formula,
        functions_used=functions_of(tree),
        cell_references=references_of(tree),
        complexity_score=complexity(tree),
        warnings=warnings,
    )


def translated(order: TranslateOrder) -> Told | Refused:
    """A formula as source code."""
    try:
        found = translate(order.formula, order.target, include_imports=order.include_imports)
    except FormulaError as fault:
        return Refused.of(fault)
    made = Translated(
        formula=order.formula,
        target=order.target,
        code=str(found.code),
        imports=list(found.imports),
        full_code=str(found.full_code),
        notes=list(found.notes),
    )
    return Told(answer=encode(made))


# Both -----------------------------------------------------------------------------------------------------------------


def _environment(context: Cells, order: BatchOrder) -> ContextEnvironment:
    return ContextEnvironment(
        context, clock=_clock(order.now), random=_random, seconds=order.seconds, locale=_locale(order.options)
    )


def _locale(options: Options) -> Locale | None:
    return None if options.locale is None else LOCALES[options.locale]


def _clock(now: datetime) -> Callable[[], datetime]:
    return lambda: now.replace(tzinfo=None)


def _with_options(
    program: Any, environment: ContextEnvironment, options: Options, *, debug: bool = False
) -> Evaluation:
    evaluation: Evaluation = program.evaluate(
        environment=environment,
        error_handling=options.error_handling or "null",
        precision=options.precision,
        date_format=options.date_format,
        debug=debug,
    )
    return evaluation


def _too_large() -> FormulaError:
    return LimitExceeded(f"the answer is larger than {ANSWER_BYTES_MAX:,} bytes")


def unlimited(seconds: float, function: Callable[[], T]) -> T:
    """No limit but the engine's own."""
    return function()
