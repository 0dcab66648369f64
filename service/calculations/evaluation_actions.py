"""Evaluating as such.

What the event loop does with a small formula, and a child process with any other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache, partial
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
from core.portfolio.model.notes import DataWarning, warn_of_formulas
from core.recalc.book import Book
from service.calculations import schema
from service.platform.base.lru import Lru, bytes_of

BATCH_TIMES = 10
"""A batch may take so many times as long as one formula."""
ANSWER_BYTES_MAX = 32 * 1024 * 1024
"""The values of one answer, as JSON: three million numbers."""
REMEMBERED_CHARACTERS = 500
"""What a formula mentions is remembered of one that is no longer."""
CODES: Final[dict[str, schema.ErrorCode]] = {
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


class TimeLimit(Protocol):
    """Calls a function, and raises LimitExceeded where that lasts longer."""

    def __call__(self, seconds: float, function: Callable[[], T]) -> T: ...


_random = SystemRandom().random


class StoredColumns(Struct, frozen=True):
    """A parsed workbook, and the sheet that the formula stands on."""

    key: str
    manifest: str
    paths: tuple[str, ...]
    sheet_index: int


class EvaluateOrder(Struct, frozen=True, kw_only=True, tag_field="of", tag="evaluate"):
    """One formula to be evaluated."""

    formula: str
    context: schema.Cells
    sheet_name: str | None
    options: schema.Options
    debug: bool
    now: datetime
    seconds: float
    workbook: StoredColumns | None = None


class BatchOrder(Struct, frozen=True, kw_only=True, tag_field="of", tag="batch"):
    """Formulas to be evaluated, each in `seconds`, all in ten times as long."""

    formulas: list[schema.BatchFormula]
    shared_context: schema.Cells
    options: schema.Options
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


class EncodedEvaluation(Struct, frozen=True, kw_only=True, tag_field="of", tag="evaluated"):
    """What a formula came to; `value` and `trace` are JSON."""

    value: bytes
    type: schema.ValueType
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


class EncodedAnswer(Struct, frozen=True, kw_only=True, tag_field="of", tag="told"):
    """What a formula is made of, or its source code, as JSON."""

    answer: bytes


class Refusal(Struct, frozen=True, kw_only=True, tag_field="of", tag="refused"):
    """Why a formula has no value: the fault's class, and what it says."""

    kind: str
    message: str
    position: int | None = None
    suggestions: tuple[str, ...] = ()

    @classmethod
    def of(cls, fault: FormulaError) -> Refusal:
        return cls(
            kind=type(fault).__name__,
            message=fault.message,
            position=fault.position,
            suggestions=tuple(fault.suggestions),
        )


Order = EvaluateOrder | BatchOrder | ValidateOrder | TranslateOrder
"""An order in JSON, which has integers of any length."""
Answer = EncodedEvaluation | BatchDone | EncodedAnswer | Refusal
"""What it says, as MessagePack, which has bytes."""

STORE_AWAY: Final = "Unavailable"
"""The kind of a refusal that says nothing of the formula."""

encode = msgspec.json.Encoder().encode


# One formula ----------------------------------------------------------------------------------------------------------


def evaluate(order: EvaluateOrder, behind: Environment | None = None, sheet: str | None = None) -> Evaluation:
    """Return a formula's value over its context and the cells behind it.

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


def answer(order: EvaluateOrder, books: Lru[str, Book], limit: TimeLimit) -> EncodedEvaluation | Refusal:
    """Return the same as it is handed on, within the time."""
    try:
        behind = sheet = None
        warnings: list[DataWarning] = []
        if order.workbook is not None:
            compile_formula(order.formula)  # what is no formula is refused before a workbook is opened
            book = _open(order.workbook, books)
            warnings = warn_of_formulas(book)
            sheet = book.sheets[order.workbook.sheet_index].name
            behind = book.environment(_clock(order.now)(), _random, sheet)
        evaluation = limit(
            order.seconds, partial(_encode_evaluation, order, behind, sheet if order.sheet_name is not None else None)
        )
    except FormulaError as fault:
        return Refusal.of(fault)
    except OSError:  # the store went away after the file was looked at; what is opened already stays
        return Refusal(kind=STORE_AWAY, message="the workbook's file cannot be opened")
    if len(evaluation.value) + len(evaluation.trace or b"") > ANSWER_BYTES_MAX:
        return Refusal.of(_too_large())
    return msgspec.structs.replace(evaluation, warnings=evaluation.warnings + warnings) if warnings else evaluation


@lru_cache(maxsize=1_024)
def _mentions(formula: str) -> tuple[list[str], list[str], list[DataWarning]]:
    """Return a formula's references and functions, and the warnings of these."""
    tree = compile_formula(formula).tree
    names = functions_of(tree)
    warnings = [
        DataWarning("may_differ_from_excel", f"{name}: {FUNCTIONS[name].caution}")
        for name in names
        if name in FUNCTIONS and FUNCTIONS[name].caution
    ]
    return references_of(tree), names, warnings


def _encode_evaluation(order: EvaluateOrder, behind: Environment | None, sheet: str | None) -> EncodedEvaluation:
    result = evaluate(order, behind, sheet)
    is_short = len(order.formula) <= REMEMBERED_CHARACTERS
    references, names, warnings = (_mentions if is_short else _mentions.__wrapped__)(order.formula)
    return EncodedEvaluation(
        value=encode(result.value),
        type=result.type,
        cell_references=references,
        functions_used=names,
        trace=encode(result.trace) if order.debug else None,
        locale=order.options.locale or (DEFAULT if behind is None else behind.locale or DEFAULT).tag,
        warnings=warnings,
    )


def _open(stored: StoredColumns, books: Lru[str, Book]) -> Book:
    book = books.get(stored.key)
    if book is None:
        book = Book(open_workbook(WorkbookRecord.from_json(stored.manifest), [Path(path) for path in stored.paths]))
        books.keep(stored.key, book, bytes_of(book))
    return book


# A batch --------------------------------------------------------------------------------------------------------------


def batch(order: BatchOrder, limit: TimeLimit) -> BatchDone:
    """Return every formula's value or what keeps it from one, in order."""
    results: list[bytes] = []
    size = succeeded = 0
    for item in _items(order, limit):
        encoded = encode(item)
        if size + len(encoded) > ANSWER_BYTES_MAX:
            item = to_failed_item(order.formulas[len(results)], Refusal.of(_too_large()))
            encoded = encode(item)
        succeeded += item.status == "success"
        size += len(encoded)
        results.append(encoded)
    return BatchDone(results=b"[" + b",".join(results) + b"]", succeeded=succeeded)


def _items(order: BatchOrder, limit: TimeLimit) -> Iterator[schema.BatchItem]:
    """Yield the items of a batch.

    Formulas without a context of their own share one environment, so its cells are read once.
    """
    end = time.monotonic() + order.seconds * BATCH_TIMES
    shared_cells = _fold_keys(order.shared_context)
    shared = _environment(order.shared_context, order)
    for item_order in order.formulas:
        seconds_left = end - time.monotonic()
        try:
            if seconds_left <= 0:
                raise LimitExceeded("the batch took longer than it may")
            shared.deadline, shared.work = 1e300, 0  # each formula's time counts from its own beginning
            environment = shared
            if item_order.context:
                environment = _environment({**shared_cells, **_fold_keys(item_order.context)}, order)
            result = limit(
                min(seconds_left, order.seconds), partial(_value, item_order.formula, environment, order.options)
            )
        except FormulaError as fault:
            if isinstance(fault, LimitExceeded):
                shared = _environment(order.shared_context, order)  # it may have been left in the midst of something
            yield to_failed_item(item_order, Refusal.of(fault))
        else:
            yield schema.BatchItem(
                id=item_order.id,
                formula=item_order.formula,
                value=result.value,
                type=result.type,
                status="success",
            )


def _value(formula: str, environment: ContextEnvironment, options: schema.Options) -> Evaluation:
    return _with_options(compile_formula(formula), environment, options)


def to_failed_item(formula: schema.BatchFormula, refused: Refusal) -> schema.BatchItem:
    """Return the item of a formula that has no value."""
    return schema.BatchItem(
        id=formula.id,
        formula=formula.formula,
        value=None,
        type="error",
        status="error",
        error=schema.ItemError(
            code=CODES[refused.kind],
            message=refused.message,
            position=UNSET if refused.position is None else refused.position,
        ),
    )


def fail_all(formulas: Sequence[schema.BatchFormula], message: str) -> BatchDone:
    """Return the batch of which nothing came back."""
    refused = Refusal(kind="LimitExceeded", message=message)
    return BatchDone(results=encode([to_failed_item(formula, refused) for formula in formulas]), succeeded=0)


def _fold_keys(context: schema.Cells) -> schema.Cells:
    """Return keys in one spelling, so that `a1` covers `$A$1`."""
    return {key.replace("$", "").upper(): value for key, value in context.items()}


# What formulas are made of --------------------------------------------------------------------------------------------


def validate(order: ValidateOrder) -> EncodedAnswer:
    """Return a formula's parts, or its fault."""
    return EncodedAnswer(answer=encode(_validation(order)))


def _validation(order: ValidateOrder) -> schema.Validation:
    try:
        tree = compile_formula(order.formula).tree
    except FormulaError as fault:
        return schema.Validation(
            valid=False,
            formula=order.formula,
            error=fault.message,
            error_position=fault.position or 0,
            suggestions=list(fault.suggestions),
        )
    warnings = warnings_of(tree)
    if order.strict and warnings:
        return schema.Validation(
            valid=False, formula=order.formula, error=warnings[0], error_position=0, suggestions=warnings[1:]
        )
    return schema.Validation(
        valid=True,
        formula=order.formula,
        functions_used=functions_of(tree),
        cell_references=references_of(tree),
        complexity_score=complexity(tree),
        warnings=warnings,
    )


def translate_formula(order: TranslateOrder) -> EncodedAnswer | Refusal:
    """Return a formula as source code."""
    try:
        translation = translate(order.formula, order.target, include_imports=order.include_imports)
    except FormulaError as fault:
        return Refusal.of(fault)
    response = schema.Translated(
        formula=order.formula,
        target=order.target,
        code=str(translation.code),
        imports=list(translation.imports),
        full_code=str(translation.full_code),
        notes=list(translation.notes),
    )
    return EncodedAnswer(answer=encode(response))


# Both -----------------------------------------------------------------------------------------------------------------


def _environment(context: schema.Cells, order: BatchOrder) -> ContextEnvironment:
    return ContextEnvironment(
        context, clock=_clock(order.now), random=_random, seconds=order.seconds, locale=_locale(order.options)
    )


def _locale(options: schema.Options) -> Locale | None:
    return None if options.locale is None else LOCALES[options.locale]


def _clock(now: datetime) -> Callable[[], datetime]:
    return lambda: now.replace(tzinfo=None)


def _with_options(
    program: Any, environment: ContextEnvironment, options: schema.Options, *, debug: bool = False
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


def without_limit(seconds: float, function: Callable[[], T]) -> T:
    """Call a function with no limit but the engine's own."""
    return function()
