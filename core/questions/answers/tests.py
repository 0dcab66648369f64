"""Questions on tests.

Figures, limits, cushions, statuses, what moved them, their history and what they still bear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from msgspec import UNSET

from core.compliance.printed import is_contradicted
from core.compliance.result import Results, Skipped, TestResult
from core.compliance.run import run_suite
from core.compliance.suites import TESTS
from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.portfolio import Portfolio
from core.questions.answer import ROWS_SHOWN, Unit
from core.questions.answers.book import Unavailable
from core.questions.answers.quantities import array_of, compare
from core.questions.answers.statement import Basis, Statement, book_of, unit_apart, yes_no
from core.questions.query import Query
from core.questions.wording import test_word

UNITS: Final[dict[str, Unit]] = {
    "percent": "percent", "factor": "factor", "score": "score", "years": "years", "amount": "amount", "number": "count",
}  # fmt: skip
LIKE: Final = {"oc": ("oc_", "overcollateral"), "ic": ("ic_", "interest coverage")}
"""The beginning of an id and the word in the name by which the tests of a kind are known."""

STATUS_WORDS: Final = {"pass": "passes", "fail": "fails", "warning": "passes, in its warning band"}
_DIRECTIONS: Final = {"max": "at most", "min": "at least", "exact": "exactly"}
_MONEY: Final = frozenset(("coverage", "concentration"))
"""Categories whose cushion is a share of an amount."""

_LARGEST: Final = {
    "single_obligor_concentration": ("obligors", 0, 1),
    "industry_concentration": ("industries", 0, 1),
    "second_industry_concentration": ("industries", 1, 2),
    "top_5_concentration": ("obligors", 0, 5),
}
"""Whose the shares of a test are: the part of its details, and which of its rows."""

Tests = dict[str, TestResult | Skipped]


def unit_of_test(test_id: str, result: TestResult | None = None) -> Unit:
    """Return the unit of a test's figure; percent for one that nothing says of."""
    if test_id in TESTS:
        return UNITS[TESTS[test_id].unit]
    return UNITS.get("" if result is None else result.unit, "percent")


def results_of(subject: Subject, portfolio: Portfolio, ids: Sequence[str] = (), *, details: bool = True) -> Tests:
    """Return the tests of the run, and those that are named and not of it."""
    results = subject.results if portfolio is subject.portfolio else subject.run(portfolio, details=details)
    tests = by_id(results)
    if more := [test_id for test_id in ids if test_id not in tests and test_id in TESTS]:
        tests |= by_id(run_suite(portfolio, "enhanced", test_ids=more, **subject.rules, details=details))
    return tests


def by_id(results: Results) -> Tests:
    return {result.test_id: result for result in (*results, *results.skipped)}


def resolve(subject: Subject, ids: Sequence[str]) -> list[str]:
    """Return test ids as the run has them."""
    names = {result.test_name: result.test_id for result in (*subject.results, *subject.results.skipped)}
    return [names.get(test_id[5:], test_id) if test_id.startswith("name:") else test_id for test_id in ids]


def relative_cushion(result: TestResult) -> float:
    """Return the cushion in percent of the limit."""
    if result.cushion is None:
        return np.inf
    return result.cushion if not result.threshold_value else result.cushion / abs(result.threshold_value) * 100


def of_category(tests: Tests, category: str) -> list[str]:
    """Return the tests of a category."""
    if category in LIKE:
        start, word = LIKE[category]
        return [name for name, result in tests.items() if name.startswith(start) or word in result.test_name.lower()]
    return [name for name, result in tests.items() if _category(name, result) == category]


def _category(test_id: str, result: TestResult | Skipped) -> str:
    if isinstance(result, TestResult):
        return result.category
    return TESTS[test_id].category if test_id in TESTS else ""


def answer_tests(query: Query, subject: Subject) -> Statement:
    """Answer what the figures, limits, cushions and statuses of tests are.

    Raises:
        Unavailable: the run does not have the test.
    """
    statement = Statement(subject)
    ids = resolve(subject, query.tests)
    book = book_of(subject, query.period)
    tests = results_of(subject, book.portfolio, ids)
    if query.category in LIKE or (query.category is not None and not ids):
        ids = of_category(tests, query.category)
    when = " in the month before" if query.period == "previous" else ""
    if not query.tests:
        _list_tests(query, statement, {name: tests[name] for name in ids or tests}, when)
        return statement
    if query.aspect == "difference" and len(ids) == 2:
        _state_difference(statement, tests, ids)
    for test_id in ids:
        result = tests.get(test_id)
        if result is None:
            raise Unavailable(f"there is no test {plain(test_word(test_id))} in the run")
        if test_id not in by_id(subject.results):
            name = result.test_name
            statement.warn(f"{name} is not among the tests of the run: it was worked out by the same rules")
        state_test(query, statement, result, when)
    return statement


def _state_difference(statement: Statement, tests: Tests, ids: Sequence[str]) -> None:
    first, last = (tests.get(test_id) for test_id in ids)
    if isinstance(first, TestResult) and isinstance(last, TestResult):
        unit = unit_apart(unit_of_test(first.test_id, first))
        gap = first.current_value - last.current_value
        text = statement.figure("difference", gap, unit, "the first less the second", sign=True)
        names = f"{statement.name(first.test_name)} less {statement.name(last.test_name)}"
        statement.add(f"{names}: {text}.")


def basis_of(result: TestResult | Skipped, what: str = "result of") -> Basis:
    """Return what a figure of a test rests on."""
    return Basis(f"{what} the test {result.test_id}", test_id=result.test_id)


def state_test(query: Query, statement: Statement, result: TestResult | Skipped, when: str = "") -> None:
    """State one test in a sentence."""
    unit, name = unit_of_test(result.test_id, result if isinstance(result, TestResult) else None), result.test_name
    statement.name(name)
    if isinstance(result, Skipped):
        value = None if result.current_value is UNSET else result.current_value
        statement.figure(
            plain(name), value, unit, Basis(f"the test {result.test_id} was skipped", test_id=result.test_id)
        )
        statement.add(f"{plain(name)} could not be decided: {plain(result.reason, 300)}.")
        return
    name = plain(name)
    _state_verdict(query, statement, result)
    value_text = statement.figure(name, result.current_value, unit, basis_of(result))
    limit = add_limit_of(statement, result, f"limit of {name}")
    required = f"{_DIRECTIONS[result.threshold_type]} {limit} is required"
    text = f"{name}{when} is {value_text}, {required}: it {STATUS_WORDS[result.status]}"
    if result.cushion is not None:
        basis = basis_of(result, "cushion of")
        cushion = statement.figure(f"cushion of {name}", result.cushion, unit_apart(unit), basis)
        text += f", with a cushion of {cushion}"
        if query.aspect == "cushion":
            text += _cushion_as(query, statement, result)
    statement.add(f"{text}{_printed(statement, result)}.")
    statement.warn(*(f"{result.test_name}: {doubt.message}" for doubt in result.doubt))
    if result.test_id == "was":
        basis = Basis("result of the test was x 100", test_id="was")
        in_bps = statement.figure(f"{name} in basis points", result.current_value * 100, "bps", basis)
        statement.add(f"That is {in_bps}.")
    statement.add(_breakdown(statement, result))
    if result.low is not UNSET and result.high is not UNSET:
        statement.warn(f"masked or blank inputs leave {name} between {result.low:g} and {result.high:g}")


def _state_verdict(query: Query, statement: Statement, result: TestResult) -> None:
    """Say yes or no, where that is asked."""
    for having in query.having:
        if having.quantity == "test":
            statement.add(yes_no(bool(compare(np.array([result.current_value]), having)[0])))
        elif query.is_yes_no and result.cushion is not None:
            statement.add(yes_no(bool(compare(np.array([result.cushion]), having)[0])))
    if query.is_yes_no and not query.having and (query.status is not None or query.aspect == "status"):
        is_so = {"fail": result.status == "fail", "warning": result.status == "warning"}.get(
            query.status or "", result.status != "fail"
        )
        statement.add(_verdict([result], is_so=is_so))


def _verdict(deciding: Sequence[TestResult], *, is_so: bool) -> str:
    """Return yes or no, with a word of doubt where a test is doubtful."""
    if any(result.doubtful for result in deciding):
        return f"{'Yes' if is_so else 'No'}, by our figures, which are doubtful here."
    return yes_no(is_so)


def add_limit_of(statement: Statement, result: TestResult, name: str, *, of: str | None = None) -> str:
    """Add the limit of a test, and return its text."""
    basis = Basis(f"limit of the test {result.test_id}, set by the {result.threshold_source}", test_id=result.test_id)
    unit = unit_of_test(result.test_id, result)
    return statement.figure(name, result.threshold_value, unit, basis, of=of)


def add_limit(statement: Statement, test_id: str) -> None:
    """State the limit of a test of the run, where it has one."""
    result = results_of(statement.subject, statement.subject.portfolio, [test_id]).get(test_id)
    if isinstance(result, TestResult):
        name = statement.name(result.test_name)
        limit = add_limit_of(statement, result, f"limit of {name}")
        statement.add(f"The limit of {name} is {limit}.")


def cushion_amount(subject: Subject, result: TestResult) -> float | None:
    """Return the cushion of a share or a ratio as money; None where it is of none."""
    exact = subject.results.exact.get(result.test_id)
    if exact is None or result.cushion is None or not exact[1] > 0:
        return None
    is_of_money = result.category in _MONEY or result.test_id == "ccc_bucket_pct"
    return result.cushion / 100 * exact[1] if is_of_money else None


def _cushion_as(query: Query, statement: Statement, result: TestResult) -> str:
    """Add the cushion as money, or in months, where it can be."""
    if query.unit == "months":
        months = (result.cushion or 0.0) * 12
        basis = Basis(f"cushion of the test {result.test_id} x 12", test_id=result.test_id)
        return f", in months {statement.figure('cushion in months', months, 'number', basis)}"
    amount = cushion_amount(statement.subject, result) if unit_of_test(result.test_id, result) == "percent" else None
    if amount is None:
        return ""
    basis = Basis("cushion x what the test divides by / 100", test_id=result.test_id)
    return f", which is {statement.figure(f'cushion of {result.test_name} as an amount', amount, 'amount', basis)}"


def _breakdown(statement: Statement, result: TestResult) -> str:
    """Return whose the largest shares are."""
    if result.details is None or result.test_id not in _LARGEST:
        return ""
    part, first, last = _LARGEST[result.test_id]
    rows: list[dict[str, Any]] = result.details.breakdown.get(part, [])[first:last]
    texts = []
    for row in rows:
        label = _borrower_of(statement.subject, row["name"]) if part == "obligors" else row["name"]
        text = statement.name(label)
        if len(rows) > 1:
            basis = basis_of(result, "breakdown of")
            word = "share of the collateral principal amount"
            text += f" {statement.figure(word, row['share_pct'], 'percent', basis, of=label)}"
        texts.append(text)
    return f"It is {listed(texts)}." if texts else ""


def _borrower_of(subject: Subject, key: str) -> str:
    """Return the borrower of an obligor's key."""
    names = subject.portfolio.names.get("obligor")
    if subject.pool is not None:
        names = subject.pool.view.names.get("obligor", names)
    borrowers = subject.portfolio.names.get("borrower_name")
    if names is None or borrowers is None or key not in names.values:
        return key
    rows = np.flatnonzero(names.codes == list(names.values).index(key))
    at = next((int(borrowers.codes[row]) for row in rows.tolist() if borrowers.codes[row] >= 0), -1)
    return key if at < 0 else borrowers.values[at]


def _printed(statement: Statement, result: TestResult) -> str:
    """Return what the file prints where it is another figure."""
    published = result.published
    theirs = ""
    if published is not None and published.value is not None and (result.doubtful or published.agrees is False):
        name, unit = f"{result.test_name} as the file prints it", unit_of_test(result.test_id, result)
        basis = Basis(f"printed at {published.place}", test_id=result.test_id)
        theirs = f", while the file prints {statement.figure(name, published.value, unit, basis, of=result.test_name)}"
    if not result.doubtful:
        return theirs
    if published is not None and is_contradicted(result):
        there = "passed" if published.status == "pass" else "failed"
        return f"{theirs} and calls it {there}: doubtful" if theirs else f", while the file calls it {there}: doubtful"
    return f"{theirs}: doubtful, since more par is missing from its inputs than its cushion bears"


# ---- several tests ----


def _list_tests(query: Query, statement: Statement, tests: Tests, when: str) -> None:
    """State tests by status, by cushion, or all of them."""
    results = [result for result in tests.values() if isinstance(result, TestResult)]
    skipped = [result for result in tests.values() if isinstance(result, Skipped)]
    if query.status == "skipped":
        _list_skipped(statement, skipped)
        return
    chosen = _select(query, statement, results)
    if query.is_yes_no:
        is_pass = query.status == "pass"
        failing = [result for result in results if result.status == "fail"]
        deciding = results if is_pass or not chosen else chosen
        statement.add(_verdict(deciding, is_so=not failing if is_pass else bool(chosen)))
        chosen = failing if is_pass else chosen
    counts = [sum(result.status == status for result in results) for status in ("pass", "warning", "fail")]
    summary = "{} pass, {} in the warning band, {} fail, {} skipped".format(*counts, len(skipped))
    doubtful = [plain(result.test_name) for result in results if result.doubtful]
    if doubtful:
        summary += f"; {len(doubtful)} of these {'is' if len(doubtful) == 1 else 'are'} doubtful"
        statement.warn(f"the status of {listed(doubtful)} is doubtful: see the doubts of each test")
    if _state_count(query, statement, (chosen, len(tests)), when, summary):
        return
    for result in chosen[:ROWS_SHOWN]:
        _state_line(statement, result)
    if skipped and query.status in ("pass", "fail", None):
        names = listed([plain(result.test_name) for result in skipped[:10]])
        were = f"{len(skipped)} test{'s were' if len(skipped) != 1 else ' was'}"
        statement.warn(f"{were} skipped and neither passes nor fails: {names}")


def _list_skipped(statement: Statement, skipped: Sequence[Skipped]) -> None:
    count = statement.figure("skipped tests", len(skipped), "count", "skipped tests of the run")
    were = "test was" if len(skipped) == 1 else "tests were"
    statement.add(f"{count} {were} skipped{':' if skipped else '.'}")
    for result in skipped[:ROWS_SHOWN]:
        statement.add(f"{statement.name(result.test_name)}: {plain(result.reason, 300)}.")


def _select(query: Query, statement: Statement, results: list[TestResult]) -> list[TestResult]:
    """Return the tests that are as the query wants them, in its order."""
    chosen = results
    if query.status in ("fail", "warning"):
        chosen = [result for result in results if result.status == query.status]
    elif query.status == "pass" and not query.is_yes_no:
        chosen = [result for result in results if result.status != "fail"]
    for having in query.having:
        values = [
            relative_cushion(result)
            if having.unit == "percent" and unit_of_test(result.test_id, result) != "percent"
            else result.cushion
            for result in chosen
        ]
        mask = compare(array_of(values), having).tolist()
        chosen = [result for result, is_in in zip(chosen, mask, strict=True) if is_in]
    if query.order is None:
        return chosen
    sign = 1.0 if query.order == "least" else -1.0
    known = [result for result in chosen if result.cushion is not None]
    known.sort(key=lambda result: sign * relative_cushion(result))
    statement.warn("cushions of different units are compared in percent of their limits")
    return known[query.place - 1 : query.place] if query.place else known[: query.limit or 10]


_SO: Final = {"pass": "passing", "fail": "failing", None: "so"}


def _state_count(query: Query, statement: Statement, of: tuple[list[TestResult], int], when: str, summary: str) -> bool:
    """State how many tests there are; return whether that is all that is asked."""
    chosen, total = of
    is_all = query.status is None and not query.having
    if is_all and (query.is_count or query.order is None):
        count = statement.figure("tests", total, "count", "tests of the run")
        statement.add(f"{count} {'test' if total == 1 else 'tests'}{when}: {summary}.")
        return query.is_count
    if not is_all:
        noun = _SO.get(query.status) or ("in its warning band" if len(chosen) == 1 else "in their warning bands")
        if query.status == "pass" and query.is_yes_no:
            noun = "failing"
        count = statement.figure(f"tests {noun}", len(chosen), "count", "tests of the run")
        is_are = "is" if len(chosen) == 1 else "are"
        tests = f"{count} test{'s' * (len(chosen) != 1)}{when} of {total} {is_are} {noun}"
        statement.add(f"{tests}{':' if chosen else '.'}")
    return False


def _state_line(statement: Statement, result: TestResult) -> None:
    """State a test as one line of a list."""
    unit, name = unit_of_test(result.test_id, result), statement.name(result.test_name)
    value = statement.figure("value", result.current_value, unit, basis_of(result), of=result.test_name)
    limit = add_limit_of(statement, result, "limit", of=result.test_name)
    text = f"{name}: {value}, {_DIRECTIONS[result.threshold_type]} {limit}, {STATUS_WORDS[result.status]}"
    if result.cushion is not None:
        basis = basis_of(result, "cushion of")
        cushion = statement.figure("cushion", result.cushion, unit_apart(unit), basis, of=result.test_name)
        text += f", cushion {cushion}"
    statement.add(f"{text}{_printed(statement, result)}.")
