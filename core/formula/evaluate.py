"""The front door: a formula and a caller's values in, an Evaluation out.

Compiled formulas are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from threading import Lock
from typing import Any, Final

import numpy as np

from core.checked import checked, refuse
from core.formula.context import SECONDS, ContextEnvironment
from core.formula.language.errors import FormulaError
from core.formula.language.shape import anchored_shapes
from core.formula.program import DATE_FORMAT, DIGITS_MAX, Evaluation, Program
from core.formula.ranges.environment import Environment
from core.formula.values.locales import locale_of

PROGRAMS_MAX: Final = 8_192
"""Compiled formulas that are kept."""

FILLED_MIN: Final = 8
"""Texts of one shape from which on a batch takes them as one formula."""

CHARACTERS_MAX: Final = 1_000_000
"""Characters of all formulas that are kept: their programs take some sixty bytes for each."""

_programs: OrderedDict[str, Program] = OrderedDict()  # a dict looks past all that were taken out for its oldest
_characters = 0
_lock = Lock()


def compile(formula: str) -> Program:  # noqa: A001 - core.compile
    """Return the Program of a formula, one of those kept where it was compiled lately.

    Raises:
        SyntaxFault: not a formula.
        UnsupportedFunction: it calls a function that the engine does not have.
    """
    program = _programs.get(formula)
    if program is None:
        if not isinstance(formula, str):
            refuse(compile, (formula,), {})
        program = Program(formula)
        _keep(formula, program)
    return program


def _keep(formula: str, program: Program) -> None:
    """Keep a program; the oldest go where there are too many."""
    global _characters
    with _lock:
        if formula in _programs:
            return
        _programs[formula] = program
        _characters += len(formula)
        while len(_programs) > PROGRAMS_MAX or _characters > CHARACTERS_MAX:
            oldest, _ = _programs.popitem(last=False)
            _characters -= len(oldest)


def evaluate(  # noqa: PLR0913 - the options of the library's function
    formula: str,
    context: Mapping[str, Any] | None = None,
    error_handling: str = "excel",
    precision: int = DIGITS_MAX,
    date_format: str = DATE_FORMAT,
    *,
    behind: Environment | None = None,
    sheet: str | None = None,
    clock: Callable[[], datetime] | None = None,
    random: Callable[[], float] | None = None,
    seconds: float = SECONDS,
    date_1904: bool = False,
    locale: str | None = None,
    debug: bool = False,
) -> Evaluation:
    """Return the value of a formula over a caller's values.

    `evaluate("=A1*rate", {"A1": 2, "rate": 0.5}).value`.

    `behind`: a workbook's cells, for what the context does not have, and `sheet` the formula's own sheet there.
    `clock` and `random` are asked by NOW, RAND and their kin. `locale` (de-DE, ...) is that of dates and numbers as
    text, in what is read and what is written; without one the workbook's own, else en-US. `debug` adds a trace. The
    rest as `Program.evaluate`.

    Raises:
        FormulaError: SyntaxFault, UnsupportedFunction, MissingContext, ContextError, LimitExceeded or, under
            error_handling="throw", EvaluationError.
        UnknownLocale: there is no such locale; the message has those that there are.
    """
    try:
        environment = ContextEnvironment(
            context,
            behind,
            sheet=sheet,
            clock=clock,
            random=random,
            seconds=seconds,
            date_1904=date_1904,
            locale=None if locale is None else locale_of(locale),
        )
        return compile(formula).evaluate(
            error_handling=error_handling,
            precision=precision,
            date_format=date_format,
            environment=environment,
            debug=debug,
        )
    except (TypeError, AttributeError):
        options: dict[str, Any] = {"behind": behind, "sheet": sheet, "seconds": seconds, "locale": locale}
        refuse(evaluate, (formula, context, error_handling, precision, date_format), options)
        raise


@checked
def evaluate_batch(
    formulas: Iterable[str],
    shared_context: Mapping[str, Any] | None = None,
    error_handling: str = "excel",
    precision: int = DIGITS_MAX,
    date_format: str = DATE_FORMAT,
    *,
    environment: ContextEnvironment | None = None,
    locale: str | None = None,
) -> list[Evaluation | FormulaError]:
    """Return an Evaluation for every formula over one context, in order.

    A formula that has none has its FormulaError in its place.

    `environment` in place of the context brings what stands behind it, the clock and the source of chance with it.
    """
    if environment is None:
        environment = ContextEnvironment(shared_context, locale=None if locale is None else locale_of(locale))
    texts = list(formulas)
    options: dict[str, Any] = {"error_handling": error_handling, "precision": precision, "date_format": date_format}
    answers: list[Evaluation | FormulaError | None] = [None] * len(texts)
    for program, places, rows, columns in _filled_groups(texts):
        group = [texts[place] for place in places]
        for place, each in zip(
            places, program.evaluate_filled(group, rows, columns, environment, **options), strict=True
        ):
            answers[place] = each
    return [
        _evaluate_text(text, environment, options) if already is None else already
        for text, already in zip(texts, answers, strict=True)
    ]


def _evaluate_text(text: str, environment: ContextEnvironment, options: dict[str, Any]) -> Evaluation | FormulaError:
    try:
        return compile(text).evaluate(environment=environment, **options)
    except FormulaError as error:
        return error


def _filled_groups(texts: list[str]) -> Iterator[tuple[Program, list[int], list[int], list[int]]]:
    """Yield the formulas that are many texts, filled to many cells.

    (program, places in the list, rows, columns).
    """
    if len(texts) < FILLED_MIN:
        return
    codes, firsts, rows, columns = anchored_shapes(texts)
    counts = np.bincount(codes, minlength=len(firsts))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(counts)
    for code in np.flatnonzero(counts >= FILLED_MIN):
        places = order[ends[code] - counts[code] : ends[code]]
        first = firsts[code]
        try:
            program = Program(texts[first], int(rows[first]), int(columns[first]))
        except FormulaError:
            continue  # each text is refused on its own, with its own words
        if program.compiled.positional:
            continue  # ROW() in a context stands in row 1, not where the shape says
        yield program, places.tolist(), rows[places].tolist(), columns[places].tolist()
