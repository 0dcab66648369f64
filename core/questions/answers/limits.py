"""Questions on coverage by class, on room to a limit, and on several deals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from core.compliance.result import TestResult
from core.insights.subject import Subject
from core.insights.words import plain
from core.questions.answers.book import LoanSet, Unavailable
from core.questions.answers.quantities import operation_of
from core.questions.answers.stated import class_rows
from core.questions.answers.statement import SUM_OF_PAR, Basis, Statement, book_of, yes_no
from core.questions.answers.tests import basis_of, resolve, results_of, state_test, unit_of_test
from core.questions.query import Query
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import conditions_words, test_word

_RATIOS: Final = {
    "oc": ("overcollateralisation", "adjusted collateral principal amount / balance"),
    "ic": ("interest coverage", "interest less senior fees / interest due"),
}
_BOUGHT_AT_PAR: Final = "a loan bought at par leaves that as it is"


# ---- classes of notes ----


def answer_classes(query: Query, subject: Subject) -> Statement:
    """Answer what the coverage ratios down to classes of notes are.

    Raises:
        Unavailable: the file has no such notes.
    """
    statement = Statement(subject)
    book = book_of(subject, query.period)
    kind = "ic" if query.category == "ic" or any(name.startswith("ic") for name in query.tests) else "oc"
    structure = book.pool.structure
    if structure is None or not structure.groups:
        raise Unavailable("the file has no notes")
    tests = structure.oc if kind == "oc" else structure.ic
    due = structure.balance if kind == "oc" else structure.interest_due
    numerator = book.pool.adjustments["adjusted"] if kind == "oc" else float(book.pool.interest["available"])
    places = _places(query, book, structure, tests)
    if query.order is not None:
        known = {test.at: test.trigger for test in tests if test.trigger is not None}
        sign = 1.0 if query.order == "least" else -1.0
        gaps = {
            at: numerator / amount * 100 - known[at] if (amount := due(at)) else np.nan for at in places if at in known
        }
        places = sorted(gaps, key=lambda at: sign * gaps[at])
        places = places[query.place - 1 : query.place] if query.place else places[: query.limit]
    for place in places:
        test = next((test for test in tests if test.at == place), None)
        denominator = due(place)
        label = test.name if test is not None else structure.groups[place].name
        if denominator is None or not denominator > 0:
            raise Unavailable(f"what is due on class {plain(label)} and all senior is not known")
        word, operation = _RATIOS[kind]
        ratio = numerator / denominator * 100
        basis = Basis(f"{operation} of the class and all senior x 100")
        text = statement.figure(f"{word} of class {plain(label)}", ratio, "percent", basis, of=label)
        text = f"The {word} ratio of class {statement.name(label)} is {text}"
        trigger = None if test is None else test.trigger
        if trigger is None:
            statement.add(f"{text}; it has no trigger of its own.")
            continue
        if query.is_yes_no:
            statement.add(yes_no((ratio >= trigger - 1e-9) == (query.status != "fail")))
        statement.add(f"{text}, {_trigger_words(statement, label, (ratio, trigger, denominator))}.")
        if test is not None and not test.from_sheet:
            statement.warn("the notes carry no triggers: those that are usual for their letters are shown")
    return statement


def _places(query: Query, book: LoanSet, structure: Any, tests: Sequence[Any]) -> list[int]:
    """The groups of notes that the classes of a query mean."""
    if query.classes == ("*",):
        return [test.at for test in tests]
    tranches = book.portfolio.tranches
    assert tranches is not None
    names = {tranches.classes[row] for row in class_rows(book.subject, query.classes)}
    places = sorted({place for place, group in enumerate(structure.groups) if set(group.name.split("/")) & names})
    if not places:
        raise Unavailable("income notes have no coverage test")
    is_joint = len(query.classes) > 1 and any("/" in test.name for test in tests)
    return places[-1:] if is_joint else places


def _trigger_words(statement: Statement, label: str, figures: tuple[float, float, float]) -> str:
    ratio, trigger, denominator = figures
    whose = f"class {plain(label)}"
    basis = "of the notes, else the letter's usual one"
    limit = statement.figure(f"trigger of {whose}", trigger, "percent", basis, of=label)
    cushion = statement.figure(f"cushion of {whose}", ratio - trigger, "points", "ratio less trigger", of=label)
    amount, basis = (ratio - trigger) / 100 * denominator, "cushion x what the ratio divides by / 100"
    money = statement.figure(f"cushion of {whose} as an amount", amount, "amount", basis, of=label)
    passes = "passes" if ratio >= trigger - 1e-9 else "fails"
    return f"at least {limit} is required: it {passes}, with a cushion of {cushion}, or {money}"


# ---- room ----


def answer_room(query: Query, subject: Subject) -> Statement:
    """Answer how much more of something a test, or a named share, allows.

    Raises:
        Unavailable: the test limits nothing that can be bought, or has no figure.
    """
    statement = Statement(subject)
    book = LoanSet(subject)
    rows = np.flatnonzero(book.select(query.where))
    words = conditions_words(query.where)
    if query.having:
        value, most = book.measure("share", rows) or 0.0, query.having[0].value
        _state_room(statement, (f"loans {words}", value, most, book.denominator), Basis("", book, rows))
        statement.warn("paid out of principal cash at 100 % of par; no test of the run is asked")
        return statement
    test_id = resolve(subject, query.tests)[0]
    result = results_of(subject, subject.portfolio, [test_id]).get(test_id)
    if not isinstance(result, TestResult):
        raise Unavailable(f"{plain(test_word(test_id))} has no figure")
    if unit_of_test(test_id, result) != "percent" or result.threshold_type != "max":
        statement.warn(f"{result.test_name} is no share of the pool: its cushion is told in its own unit")
        state_test(query, statement, result)
        return statement
    value, whose = result.current_value, statement.name(result.test_name)
    if query.where:
        value, whose = book.measure("share", rows) or 0.0, statement.name(query.where[0].values[0])
    most = result.threshold_value
    _state_room(statement, (whose, value, most, book.pool.denominator), Basis("", book, rows, test_id))
    statement.warn("paid out of principal cash at 100 % of par; other tests may bear less")
    return statement


def _state_room(statement: Statement, what: tuple[str, float, float, float], basis: Basis) -> None:
    """State how much more there may be of something until it is so much of the whole."""
    whose, value, most, denominator = what
    left = most - value

    def rest(operation: str) -> Basis:
        return Basis(operation, basis.book, basis.rows, basis.test_id)

    operation = f"(limit - share) x what the test divides by / 100: {_BOUGHT_AT_PAR}"
    money = statement.figure(f"room for {whose}", left / 100 * denominator, "amount", rest(operation))
    share = statement.figure(f"cushion of {whose}", left, "points", rest("limit less share"))
    now = statement.figure(whose, value, "percent", rest(f"{SUM_OF_PAR} / what the test divides by x 100"))
    limit = statement.figure(f"limit of {whose}", most, "percent", rest("limit"))
    if left >= 0:
        of = f"{whose}: {now} of at most {limit}, which leaves {share} of the collateral principal amount"
        statement.add(f"Another {money} may be bought at par of {of}.")
    else:
        statement.add(f"None: {whose} is {now} of at most {limit} already: the room is {share}, or {money}.")


# ---- several portfolios ----


def answer_deals(query: Query, subjects: Sequence[Subject]) -> tuple[list[Statement], list[str]]:
    """Return a figure of each portfolio, and the sentences that rank them.

    Raises:
        Unavailable: no portfolio has it.
    """
    values: list[tuple[float, Subject]] = []
    statements = []
    for subject in subjects:
        statement = Statement(subject)
        statements.append(statement)
        try:
            values.append((_state_figure(query, statement), subject))
        except Unavailable as reason:
            statement.add(f"{reason}.")
    if not values:
        raise Unavailable("no portfolio has that figure")
    best = (max if query.order == "most" else min)(values, key=lambda pair: pair[0])
    return statements, [f"It is {plain(best[1].name)}."]


def _state_figure(query: Query, statement: Statement) -> float:
    subject = statement.subject
    if query.tests:
        test_id = resolve(subject, query.tests)[0]
        result = results_of(subject, subject.portfolio, [test_id]).get(test_id)
        if not isinstance(result, TestResult):
            raise Unavailable("it has no figure")
        name, unit = statement.name(result.test_name), unit_of_test(result.test_id, result)
        value: float | None = result.cushion if query.aspect == "cushion" else result.current_value
        label = f"cushion of {name}" if query.aspect == "cushion" else name
        basis = basis_of(result)
    else:
        book = LoanSet(subject)
        quantity = query.quantities[0] if query.quantities else "par"
        name = label = QUANTITIES[quantity].name
        unit = QUANTITIES[quantity].unit
        value = book.measure(quantity, np.flatnonzero(book.has_par))
        basis = Basis(operation_of(quantity), book)
    if value is None:
        raise Unavailable("it has no figure")
    statement.add(f"{name} {statement.figure(label, value, unit, basis)}.")
    return value
