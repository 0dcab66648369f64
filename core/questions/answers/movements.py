"""Tests in two months and over more of them.

How they moved, and what moved them; a month at a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from core.compliance.result import Results, TestResult
from core.compliance.run import run_suite
from core.compliance.suites import DEAL_SUITE, TESTS
from core.deals.movements import movements
from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.portfolio import Portfolio
from core.questions.answer import ROWS_SHOWN
from core.questions.answers.book import LoanSet, Unavailable
from core.questions.answers.changes import LEAST, count_moves
from core.questions.answers.statement import Basis, Statement, previous_of, unit_apart, yes_no
from core.questions.answers.tests import (
    STATUS_WORDS,
    cushion_amount,
    of_category,
    resolve,
    results_of,
    state_test,
    unit_of_test,
)
from core.questions.query import Query
from core.questions.wording import MOVES, test_word
from core.words import counted

ROWS_OF_MOVEMENTS_MAX: Final = 20_000
"""Loans up to which the move of a test is split into its parts: that takes some hundred runs."""

_PARTS: Final = {
    "added": "loans that are new",
    "removed": "loans that are gone",
    "par": "paydowns and draws",
    "ratings": "ratings",
    "prices": "prices",
    "rates": "spreads and coupons",
    "other_fields": "other fields and the day",
    "liabilities_and_cash": "notes and cash",
}
_HAIRCUTS: Final = {
    "ccc_haircut": "the haircut of the CCC excess",
    "discount_haircut": "the haircut of discount obligations",
    "deferring_haircut": "the haircut of deferring and long-dated loans",
}
"""What is taken off the numerator of the overcollateralisation tests."""


class _Move(NamedTuple):
    """A test in two months."""

    test_id: str
    before: TestResult
    after: TestResult

    @property
    def change(self) -> float:
        return self.after.current_value - self.before.current_value

    @property
    def better(self) -> float:
        return (self.after.cushion or 0.0) - (self.before.cushion or 0.0)

    def is_so(self, direction: str) -> bool:
        value = self.change if direction in ("up", "down") else self.better
        return value > LEAST if direction in ("up", "better") else value < -LEAST


def _moves_of(subject: Subject, ids: Sequence[str]) -> list[_Move]:
    before = results_of(subject, previous_of(subject).portfolio, ids)
    after = results_of(subject, subject.portfolio, ids)
    moves = []
    for test_id in ids or after:
        then, now = before.get(test_id), after.get(test_id)
        if isinstance(then, TestResult) and isinstance(now, TestResult):
            moves.append(_Move(test_id, then, now))
        elif ids:
            raise Unavailable(f"{plain(test_word(test_id))} has no figure in one of the months")
    return moves


def answer_changes(query: Query, subject: Subject) -> Statement:
    """Answer how tests moved since the month before.

    Raises:
        Unavailable: there is no month before, or a named test has no figure in one of them.
    """
    statement = Statement(subject)
    ids = resolve(subject, query.tests)
    if query.category is not None and not ids:
        ids = of_category(results_of(subject, subject.portfolio), query.category)
    moves = _moves_of(subject, ids)
    if not ids:
        moves = _select(query, moves)
        count = statement.figure("tests", len(moves), "count", "tests with a figure in both months")
        statement.add(f"{count} test{'s' * (len(moves) != 1)}{':' if moves else '.'}")
        if query.place or query.limit:
            moves = moves[: query.limit or 1]
    for move in moves[:ROWS_SHOWN]:
        if ids and query.is_yes_no and query.direction is not None:
            statement.add(yes_no(move.is_so(query.direction)))
        _state_move(statement, move, of=None if ids else move.after.test_name)
    return statement


def _select(query: Query, moves: list[_Move]) -> list[_Move]:
    if query.status == "fail":
        moves = [move for move in moves if move.after.status == "fail" != move.before.status]
    if query.direction is not None:
        moves = [move for move in moves if move.is_so(query.direction)]
    else:
        moves = [move for move in moves if abs(move.change) > LEAST or move.before.status != move.after.status]
    if query.order is not None or query.direction in ("better", "worse"):
        moves.sort(key=lambda move: -abs(move.better) / abs(move.after.threshold_value or 1.0))
    return moves


def _state_move(statement: Statement, move: _Move, *, of: str | None) -> None:
    unit, name = unit_of_test(move.test_id, move.after), statement.name(move.after.test_name)
    operation = f"the test {move.test_id} in the newer month less in the earlier"
    change = _add(statement, f"change of {name}", move.change, unit, (move.test_id, operation), of)
    result = f"result of the test {move.test_id}"
    last = statement.figure(name, move.after.current_value, unit, Basis(result, test_id=move.test_id), of=of)
    earlier = Basis(f"{result} over the earlier file by the same rules", test_id=move.test_id)
    first = statement.figure(f"{name} in the month before", move.before.current_value, unit, earlier, of=of)
    status = f"{STATUS_WORDS[move.after.status]} as before"
    if move.before.status != move.after.status:
        past = STATUS_WORDS[move.before.status].replace("passes", "passed").replace("fails", "failed")
        status = f"{STATUS_WORDS[move.after.status]}, before it {past}"
    text = f"{name} moved by {change}, from {first} to {last}; it {status}"
    if move.after.cushion is not None and move.before.cushion is not None:
        operation = f"cushion of the test {move.test_id} in the newer month less in the earlier"
        label = f"change of the cushion of {name}"
        by = _add(statement, label, move.better, unit, (move.test_id, operation), of)
        way = "improved" if move.better > LEAST else "worsened" if move.better < -LEAST else ""
        text += f", and its cushion {way} by {by}" if way else ", and its cushion did not move"
    statement.add(f"{text}.")


def _add(
    statement: Statement, name: str, value: Any, unit: Any, of_test: tuple[str, str], of: str | None = None
) -> str:
    """Add a change of a test, of which the id and the operation are given."""
    basis = Basis(of_test[1], test_id=of_test[0])
    return statement.figure(name, value, unit_apart(unit), basis, of=of, sign=True)


# ---- what moved them ----


def answer_why(query: Query, subject: Subject) -> Statement:
    """Answer what makes a test what it is, or what moved it since the month before.

    Raises:
        Unavailable: there is no month before, or there are too many loans.
    """
    statement = Statement(subject)
    ids = resolve(subject, query.tests)
    if query.period == "now":
        tests = results_of(subject, subject.portfolio, ids)
        for test_id in ids:
            result = tests.get(test_id)
            if not isinstance(result, TestResult):
                raise Unavailable(f"{plain(test_word(test_id))} has no figure")
            state_test(query, statement, result)
            _state_makeup(statement, result)
        if subject.previous is None:
            return statement
    _state_parts(statement, ids)
    return statement


def _state_makeup(statement: Statement, result: TestResult) -> None:
    """State what is taken off the numerator of an overcollateralisation test."""
    amount = cushion_amount(statement.subject, result)
    if amount is not None and result.status == "fail":
        basis = Basis("cushion x what the test divides by / 100", test_id=result.test_id)
        text = statement.figure("beyond the limit", -amount, "amount", basis, of=result.test_name)
        statement.add(f"That is {text} beyond the limit.")
    if not result.test_id.startswith("oc_"):
        return
    book = LoanSet(statement.subject)
    adjustments = book.pool.adjustments
    parts = []
    for name, words in _HAIRCUTS.items():
        value = adjustments.get(name, 0.0)
        if value > 0:
            text = statement.figure(words, value, "amount", Basis(f"{words} in the numerator", book))
            parts.append(f"{words} {text}")
    defaulted = float(book.par[book.defaulted].sum()) - adjustments.get("defaulted_carried", 0.0)
    if defaulted > 0:
        basis = Basis("par of defaulted loans less what they are carried at", book)
        parts.append(
            f"the loss on defaulted loans {statement.figure('loss on defaulted loans', defaulted, 'amount', basis)}"
        )
    if parts:
        statement.add(f"Taken off its numerator are {listed(parts)}.")


def _state_parts(statement: Statement, ids: Sequence[str]) -> None:
    """State the parts into which the moves of tests are split."""
    subject = statement.subject
    before = previous_of(subject)
    if subject.portfolio.row_count > ROWS_OF_MOVEMENTS_MAX:
        raise Unavailable(f"the move of a test is split for at most {ROWS_OF_MOVEMENTS_MAX:,} loans")

    def run(portfolio: Portfolio) -> Results:
        if all(test_id in TESTS for test_id in ids) and subject.suite != DEAL_SUITE:
            return run_suite(portfolio, "enhanced", test_ids=ids, **subject.rules, details=False)
        return subject.run(portfolio, ids)

    for movement in movements(before.portfolio, subject.portfolio, run, definition=subject.definition):
        if movement.test_id not in ids:
            continue
        test_id, unit = movement.test_id, unit_of_test(movement.test_id)
        name = statement.name(movement.test_name)
        if movement.change is None:
            raise Unavailable(f"{name} has no figure in one of the months")
        operation = f"the test {test_id} in the newer month less in the earlier"
        change = _add(statement, f"change of {name}", movement.change, unit, (test_id, operation))
        basis = Basis(f"result of the test {test_id}", test_id=test_id)
        first = statement.figure(f"{name} in the month before", movement.before, unit, basis)
        last = statement.figure(name, movement.after, unit, basis)
        statement.add(f"{name} moved by {change}, from {first} to {last}.")
        for part in sorted(movement.parts, key=lambda part: -abs(part.change)):
            if abs(part.change) >= LEAST:
                _state_part(statement, test_id, part)


def _state_part(statement: Statement, test_id: str, part: Any) -> None:
    """State one part of a move, with the loans that did most of it."""
    words, unit = _PARTS[part.part], unit_of_test(test_id)
    operation = f"difference of two runs, one with {words} of the newer month"
    by = _add(statement, f"part of {words}", part.change, unit, (test_id, operation), words)
    texts = []
    for loan in part.loans[:3]:
        basis = Basis(
            "difference of two runs, one with this loan's change", test_id=test_id, identifier=loan.identifier
        )
        effect = statement.figure("effect of a loan", loan.effect, unit_apart(unit), basis, of=loan.name, sign=True)
        texts.append(f"{statement.name(loan.name)} {effect}")
    statement.add(f"By {words}: {by}{f', most of all {listed(texts)}' if texts else ''}.")


def answer_overview(query: Query, subject: Subject) -> Statement:
    """Answer what changed since the month before: tests, and how many loans moved.

    Raises:
        Unavailable: there is no month before.
    """
    statement = Statement(subject)
    moves = _moves_of(subject, ())
    for move in moves:
        if move.before.status != move.after.status:
            _state_move(statement, move, of=move.after.test_name)
    if not statement.sentences:
        statement.add("No test has another status than in the month before.")
    texts = []
    for name, count in count_moves(subject).items():
        words = MOVES[name]
        text = statement.figure(f"loans {words}", count, "count", f"number of loans {words}")
        texts.append(f"{text} {'is' if count == 1 else 'are'} {words}")
    statement.add(f"Of the loans, {listed(texts)}.")
    worst = sorted(moves, key=lambda move: move.better / abs(move.after.threshold_value or 1.0))[:3]
    for move in worst:
        if move.better < -LEAST and move.before.status == move.after.status:
            _state_move(statement, move, of=move.after.test_name)
    return statement


def answer_history(query: Query, subject: Subject) -> Statement:
    """Answer what a test was over the stored runs.

    Raises:
        Unavailable: no run of it is stored.
    """
    statement = Statement(subject)
    for test_id in resolve(subject, query.tests):
        points = [(point.day, point.value) for point in subject.history.get(test_id, ())]
        result = results_of(subject, subject.portfolio, [test_id]).get(test_id)
        if isinstance(result, TestResult) and subject.day is not None and (not points or points[-1][0] < subject.day):
            points.append((subject.day, result.current_value))
        if len(points) < 2:
            raise Unavailable(f"fewer than two runs of {plain(test_word(test_id))} are stored")
        points = points[-ROWS_SHOWN:]
        unit, change = unit_of_test(test_id), points[-1][1] - points[0][1]
        name = statement.name(result.test_name if result is not None else test_word(test_id))
        if query.is_yes_no and query.direction in ("up", "down"):
            statement.add(yes_no(change > 0 if query.direction == "up" else change < 0))
        way = "risen" if change > LEAST else "fallen" if change < -LEAST else "not moved"
        by = _add(statement, f"change of {name}", change, unit, (test_id, "the newest run less the oldest"))
        statement.add(f"{name} has {way} over {counted(len(points), 'run')}, by {by}.")
        for day, value in points:
            basis = Basis(f"stored result of the test {test_id}", test_id=test_id)
            text = statement.figure(name, value, unit, basis, of=day.isoformat())
            statement.add(f"{day.isoformat()}: {text}.")
    return statement
