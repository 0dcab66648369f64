"""Questions on tests: figures, limits, cushions, statuses, what moved them, their history and what they still bear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from msgspec import UNSET

from core.compliance.printed import is_contradicted
from core.compliance.result import Results, Skipped, TestResult
from core.compliance.run import run_suite
from core.compliance.suites import DEAL_SUITE, TESTS
from core.deals.movements import movements
from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.portfolio import Portfolio
from core.questions.answer import ROWS_SHOWN, Unit
from core.questions.loans import Book, Unavailable
from core.questions.measuring import compared
from core.questions.query import Query
from core.questions.saying import Said, book_of, previous_of, unit_of_a_cushion
from core.questions.stating import class_rows
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import conditions_words, test_word
from core.words import counted

ROWS_OF_MOVEMENTS_MAX: Final = 20_000
"""Loans up to which the move of a test is split into its parts: that takes some hundred runs."""

UNITS: Final[dict[str, Unit]] = {
    "percent": "percent",
    "factor": "factor",
    "score": "score",
    "years": "years",
    "amount": "amount",
    "number": "count",
}

_LIKE: Final = {"oc": ("oc_", "overcollateral"), "ic": ("ic_", "interest coverage")}
_STATUS_WORDS: Final = {"pass": "passes", "fail": "fails", "warning": "passes, in its warning band"}


def unit_of(test_id: str, result: TestResult | None = None) -> Unit:
    """The unit of a test's figure; percent for one that the catalogue does not have and nothing says otherwise."""
    if test_id in TESTS:
        return UNITS[TESTS[test_id].unit]
    return UNITS.get("" if result is None else result.unit, "percent")


def results_of(subject: Subject, portfolio: Portfolio, ids: Sequence[str] = ()) -> dict[str, TestResult | Skipped]:
    """The tests of the run, and those that are named and not of it, by the same rules.

    Raises:
        Unavailable: a test is neither of the run nor of the catalogue.
    """
    results = subject.results if portfolio is subject.portfolio else subject.run(portfolio, details=True)
    found = by_id(results)
    wanted = [one for one in ids if one not in found and one in TESTS]
    if wanted:
        found |= by_id(run_suite(portfolio, "enhanced", test_ids=wanted, **subject.rules))
    return found


def by_id(results: Results) -> dict[str, TestResult | Skipped]:
    return {one.test_id: one for one in (*results, *results.skipped)}


def resolved(subject: Subject, ids: Sequence[str]) -> list[str]:
    """Test ids as the run has them."""
    named = {one.test_name: one.test_id for one in (*subject.results, *subject.results.skipped)}
    return [named.get(one[5:], one) if one.startswith("name:") else one for one in ids]


def _direction(result: TestResult) -> str:
    return {"max": "at most", "min": "at least", "exact": "exactly"}[result.threshold_type]


def tested(query: Query, subject: Subject) -> Said:
    """Figures, limits, cushions and statuses of tests.

    Raises:
        Unavailable: the run does not have the test.
    """
    said = Said(subject)
    ids = resolved(subject, query.tests)
    if query.period == "change":
        return _changes(query, said, ids)
    book = book_of(subject, query.period)
    if query.classes:
        return _of_classes(
            query, said, book, "ic" if any(one.startswith("ic") for one in ids) or query.category == "ic" else "oc"
        )
    found = results_of(subject, book.portfolio, ids)
    if query.category in ("oc", "ic"):
        prefixes = _LIKE[query.category]
        ids = [
            one
            for one, result in found.items()
            if one.startswith(prefixes[0]) or prefixes[1] in result.test_name.lower()
        ]
    elif query.category == "coverage" and not ids:
        ids = [one for one, result in found.items() if _category(one, result) == "coverage"]
    elif query.category is not None and not ids:
        ids = [one for one, result in found.items() if _category(one, result) == query.category]
    if not ids:
        ids = list(found)
    is_named = bool(query.tests)
    when = " in the month before" if query.period == "previous" else ""
    if not is_named:
        return _list(query, said, ids, found, when)
    for test_id in ids:
        result = found.get(test_id)
        if result is None:
            raise Unavailable(f"there is no test {plain(test_word(test_id))} in the run")
        if test_id not in by_id(subject.results):
            said.warnings[
                f"{result.test_name} is not among the tests of the run: it was worked out by the same rules"
            ] = None
        if isinstance(result, Skipped):
            _skipped(said, result)
            continue
        _one(query, said, result, when)
    return said


def _category(test_id: str, result: TestResult | Skipped) -> str:
    return result.category if isinstance(result, TestResult) else TESTS[test_id].category if test_id in TESTS else ""


def _skipped(said: Said, result: Skipped) -> None:
    said.figure(
        said.name(result.test_name),
        None if result.current_value is UNSET else result.current_value,
        unit_of(result.test_id),
        f"the test {result.test_id} was skipped",
        test_id=result.test_id,
    )
    said.sentences.append(f"{plain(result.test_name)} could not be decided: {plain(result.reason, 300)}.")


def _one(query: Query, said: Said, result: TestResult, when: str) -> None:
    """One test in a sentence."""
    unit, name = unit_of(result.test_id, result), said.name(result.test_name)
    is_so = (
        result.status == "fail"
        if query.status == "fail"
        else result.status == "warning"
        if query.status == "warning"
        else result.status != "fail"
    )
    for having in query.having:
        if having.quantity == "test":
            is_so = bool(compared(np.array([result.current_value]), having)[0])
            said.sentences.append("Yes." if is_so else "No.")
    if query.is_yes_no and not query.having and (query.status is not None or query.aspect == "status"):
        said.sentences.append(_yes_no([result], is_so=is_so))
    value = said.figure(
        name, result.current_value, unit, f"result of the test {result.test_id}", test_id=result.test_id
    )
    limit = said.figure(
        f"limit of {name}",
        result.threshold_value,
        unit,
        f"limit of the test {result.test_id}, set by the {result.threshold_source}",
        test_id=result.test_id,
    )
    text = f"{name}{when} is {value}, {_direction(result)} {limit} is required: it {_STATUS_WORDS[result.status]}"
    if result.cushion is not None:
        cushion = said.figure(
            f"cushion of {name}",
            result.cushion,
            unit_of_a_cushion(unit),
            f"cushion of the test {result.test_id}",
            test_id=result.test_id,
        )
        text += f", with a cushion of {cushion}"
        if query.aspect == "cushion" and unit == "percent" and (amount := _amount(said, result)) is not None:
            text += f", which is {amount}"
    said.sentences.append(f"{text}{_printed(said, result)}.")
    for doubt in result.doubt:
        said.warnings[f"{result.test_name}: {doubt.message}"] = None
    if result.test_id == "was":
        operation = "result of the test was x 100"
        in_bps = said.figure(f"{name} in basis points", result.current_value * 100, "bps", operation, test_id="was")
        said.sentences.append(f"That is {in_bps}.")
    who = _breakdown(said, result)
    if who:
        said.sentences.append(who)
    if result.low is not UNSET and result.high is not UNSET:
        said.warnings[f"masked or blank inputs leave {name} between {result.low:g} and {result.high:g}"] = None


def _amount(said: Said, result: TestResult) -> str | None:
    """The cushion of a share or a ratio as money."""
    exact = said.subject.results.exact.get(result.test_id)
    if exact is None or result.cushion is None or not exact[1] > 0:
        return None
    category = result.category
    if category == "coverage" or (category in ("concentration",) or result.test_id == "ccc_bucket_pct"):
        operation = "cushion x what the test divides by / 100"
        return said.figure(
            f"cushion of {result.test_name} as an amount",
            result.cushion / 100 * exact[1],
            "amount",
            operation,
            test_id=result.test_id,
        )
    return None


def _breakdown(said: Said, result: TestResult) -> str:
    """Whose the largest shares are."""
    if result.details is None:
        return ""
    place = {
        "single_obligor_concentration": ("obligors", 0, 1),
        "industry_concentration": ("industries", 0, 1),
        "second_industry_concentration": ("industries", 1, 2),
        "top_5_concentration": ("obligors", 0, 5),
    }.get(result.test_id)
    if place is None:
        return ""
    key, first, last = place
    rows: list[dict[str, Any]] = result.details.breakdown.get(key, [])[first:last]
    labels = [_spoken(said.subject, one["name"]) if key == "obligors" else one["name"] for one in rows]
    told = []
    for label, one in zip(labels, rows, strict=True):
        name = said.name(label)
        if len(rows) > 1:
            share = said.figure(
                "share of the collateral principal amount",
                one["share_pct"],
                "percent",
                f"breakdown of the test {result.test_id}",
                of=label,
                test_id=result.test_id,
            )
            told.append(f"{name} {share}")
        else:
            told.append(name)
    return f"It is {listed(told)}." if told else ""


def _spoken(subject: Subject, key: str) -> str:
    """The borrower of an obligor's key."""
    names, portfolio = subject.portfolio.names.get("obligor"), subject.portfolio
    pool = subject.pool
    if pool is not None:
        names = pool.view.names.get("obligor", names)
    borrowers = portfolio.names.get("borrower_name")
    if names is None or borrowers is None or key not in names.values:
        return key
    rows = np.flatnonzero(names.codes == list(names.values).index(key))
    at = next((int(borrowers.codes[row]) for row in rows.tolist() if borrowers.codes[row] >= 0), -1)
    return key if at < 0 else borrowers.values[at]


def _list(query: Query, said: Said, ids: Sequence[str], found: dict[str, TestResult | Skipped], when: str) -> Said:
    """Tests by status, by cushion, or all of them."""
    results = [one for test_id in ids if isinstance(one := found[test_id], TestResult)]
    skipped = [one for test_id in ids if isinstance(one := found[test_id], Skipped)]
    if query.status == "skipped":
        count = said.figure("skipped tests", len(skipped), "count", "skipped tests of the run")
        said.sentences.append(
            f"{count} test{'s were' if len(skipped) != 1 else ' was'} skipped{':' if skipped else '.'}"
        )
        said.sentences += [f"{said.name(one.test_name)}: {plain(one.reason, 300)}." for one in skipped[:ROWS_SHOWN]]
        return said
    counts = {status: sum(one.status == status for one in results) for status in ("pass", "warning", "fail")}
    chosen = results
    if query.status in ("fail", "warning"):
        chosen = [one for one in results if one.status == query.status]
    elif query.status == "pass" and not query.is_yes_no:
        chosen = [one for one in results if one.status != "fail"]
    for having in query.having:
        values = np.array(
            [
                np.nan
                if one.cushion is None
                else _relative(one)
                if having.unit == "percent" and unit_of(one.test_id, one) != "percent"
                else one.cushion
                for one in chosen
            ]
        )
        chosen = [one for one, is_in in zip(chosen, compared(values, having).tolist(), strict=True) if is_in]
    if query.order is not None:
        sign = 1.0 if query.order == "least" else -1.0
        ranked = sorted((one for one in chosen if one.cushion is not None), key=lambda one: sign * _relative(one))
        chosen = ranked[query.place - 1 : query.place] if query.place else ranked[: query.limit or 10]
        said.warnings["cushions of different units are compared in percent of their limits"] = None
    if query.is_yes_no:
        answer = counts["fail"] == 0 if query.status == "pass" else bool(chosen)
        deciding = results if query.status == "pass" or not chosen else chosen
        said.sentences.append(_yes_no(deciding, is_so=answer))
        if query.status == "pass":
            chosen = [one for one in results if one.status == "fail"]
    summary = (
        f"{counts['pass']} pass, {counts['warning']} in the warning band, {counts['fail']} fail, {len(skipped)} skipped"
    )
    doubtful = [one for one in results if one.doubtful]
    if doubtful:
        summary += f"; {len(doubtful)} of these {'is' if len(doubtful) == 1 else 'are'} doubtful"
        names = listed([plain(one.test_name) for one in doubtful])
        said.warnings[f"the status of {names} is doubtful: see the doubts of each test"] = None
    if query.status is not None or query.having or query.is_count:
        noun = {
            "pass": "passing",
            "fail": "failing",
            "warning": "in its warning band" if len(chosen) == 1 else "in their warning bands",
            None: "so",
        }[query.status]
        if query.is_count and query.status is None and not query.having:
            total = said.figure("tests", len(results) + len(skipped), "count", "tests of the run")
            said.sentences.append(
                f"{total} {'test' if len(results) + len(skipped) == 1 else 'tests'}{when}: {summary}."
            )
            return said
        name = f"tests {noun}" if not (query.status == "pass" and query.is_yes_no) else "tests failing"
        count = said.figure(name, len(chosen), "count", "tests of the run")
        said.sentences.append(
            f"{count if chosen else 'No'} test{'s' * (len(chosen) != 1)}{when} of {len(results) + len(skipped)} "
            f"{'is' if len(chosen) == 1 else 'are'} {name[6:]}{':' if chosen else '.'}"
        )
    elif query.order is None:
        said.figure("tests", len(results) + len(skipped), "count", "tests of the run")
        said.sentences.append(f"{counted(len(results) + len(skipped), 'test')}{when}: {summary}.")
    for one in chosen[:ROWS_SHOWN]:
        _line(said, one)
    if skipped and (query.status in ("pass", "fail", None)):
        said.warnings[
            (
                f"{len(skipped)} test{'s were' if len(skipped) != 1 else ' was'} skipped and neither passes "
                f"nor fails: {listed([plain(one.test_name) for one in skipped[:10]])}"
            )
        ] = None
    return said


def _relative(result: TestResult) -> float:
    """The cushion in percent of the limit."""
    if result.cushion is None:
        return np.inf
    return result.cushion if not result.threshold_value else result.cushion / abs(result.threshold_value) * 100


def _line(said: Said, one: TestResult) -> None:
    unit, name = unit_of(one.test_id, one), said.name(one.test_name)
    value = said.figure(
        "value", one.current_value, unit, f"result of the test {one.test_id}", of=one.test_name, test_id=one.test_id
    )
    limit = said.figure(
        "limit", one.threshold_value, unit, f"limit of the test {one.test_id}", of=one.test_name, test_id=one.test_id
    )
    text = f"{name}: {value}, {_direction(one)} {limit}, {_STATUS_WORDS[one.status]}"
    if one.cushion is not None:
        operation = f"cushion of the test {one.test_id}"
        apart = unit_of_a_cushion(unit)
        cushion = said.figure("cushion", one.cushion, apart, operation, of=one.test_name, test_id=one.test_id)
        text += f", cushion {cushion}"
    said.sentences.append(f"{text}{_printed(said, one)}.")


def _yes_no(deciding: Sequence[TestResult], *, is_so: bool) -> str:
    """The answer, with a word of doubt where a test on which it rests is doubtful."""
    answer = "Yes" if is_so else "No"
    return (
        f"{answer}, by our figures, which are doubtful here." if any(one.doubtful for one in deciding) else f"{answer}."
    )


def _printed(said: Said, one: TestResult) -> str:
    """What the file prints where it is another figure, and what makes the status doubtful, as the end of a sentence."""
    published = one.published
    theirs = ""
    if published is not None and published.value is not None and (one.doubtful or published.agrees is False):
        value = said.figure(
            f"{one.test_name} as the file prints it", published.value, unit_of(one.test_id, one),
            f"printed at {published.place}", of=one.test_name, test_id=one.test_id,
        )  # fmt: skip
        theirs = f", while the file prints {value}"
    if not one.doubtful:
        return theirs
    if published is not None and is_contradicted(one):
        there = "passed" if published.status == "pass" else "failed"
        return f"{theirs} and calls it {there}: doubtful" if theirs else f", while the file calls it {there}: doubtful"
    return f"{theirs}: doubtful, since more par is missing from its inputs than its cushion bears"


def _of_classes(query: Query, said: Said, book: Book, kind: str) -> Said:
    """Coverage ratios down to classes of notes."""
    structure = book.pool.structure
    if structure is None or not structure.groups:
        raise Unavailable("the file has no notes")
    tranches = book.portfolio.tranches
    assert tranches is not None
    numerator = book.pool.adjustments["adjusted"] if kind == "oc" else float(book.pool.interest["available"])
    tests = structure.oc if kind == "oc" else structure.ic
    word = "overcollateralisation" if kind == "oc" else "interest coverage"
    if query.classes == ("*",):
        places = [one.at for one in tests]
    else:
        names = [tranches.classes[row] for row in class_rows(said.subject, query.classes)]
        at = [place for place, group in enumerate(structure.groups) if set(group.name.split("/")) & set(names)]
        if not at:
            raise Unavailable("income notes have no coverage test")
        places = [max(at)] if len(query.classes) > 1 and "/" in " ".join(one.name for one in tests) else sorted(set(at))
    for place in places:
        group = structure.groups[place]
        test = next((one for one in tests if one.at == place), None)
        label = test.name if test is not None else group.name
        denominator = structure.balance(place) if kind == "oc" else structure.interest_due(place)
        if denominator is None or not denominator > 0:
            raise Unavailable(f"what is due on class {plain(label)} and all senior is not known")
        ratio = numerator / denominator * 100
        what = (
            "adjusted collateral principal amount / balance"
            if kind == "oc"
            else "interest less senior fees / interest due"
        )
        value = said.figure(
            f"{word} of class {plain(label)}", ratio, "percent", f"{what} of the class and all senior x 100", of=label
        )
        text = f"The {word} ratio of class {said.name(label)} is {value}"
        trigger = None if test is None else test.trigger
        if trigger is not None:
            limit = said.figure(
                f"trigger of class {plain(label)}",
                trigger,
                "percent",
                "of the notes, else the letter's usual one",
                of=label,
            )
            cushion = said.figure(
                f"cushion of class {plain(label)}", ratio - trigger, "points", "ratio less trigger", of=label
            )
            operation = "cushion x what the ratio divides by / 100"
            money = said.figure(
                f"cushion of class {plain(label)} as an amount",
                (ratio - trigger) / 100 * denominator,
                "amount",
                operation,
                of=label,
            )
            text += (
                f", at least {limit} is required: it "
                f"{'passes' if ratio >= trigger - 1e-9 else 'fails'}, with a cushion of {cushion}, or {money}"
            )
            if test is not None and not test.from_sheet:
                said.warnings["the notes carry no triggers: those that are usual for their letters are shown"] = None
            if query.is_yes_no:
                said.sentences.append("Yes." if (ratio >= trigger - 1e-9) == (query.status != "fail") else "No.")
        else:
            text += "; it has no trigger of its own"
        said.sentences.append(f"{text}.")
    return said


# ---- two months, and more ----


def _changes(query: Query, said: Said, ids: Sequence[str]) -> Said:
    subject = said.subject
    before = results_of(subject, previous_of(subject).portfolio, ids)
    now = results_of(subject, subject.portfolio, ids)
    is_named = bool(ids)
    rows = []
    for test_id in ids or now:
        one, other = before.get(test_id), now.get(test_id)
        if not isinstance(one, TestResult) or not isinstance(other, TestResult):
            if is_named:
                raise Unavailable(f"{plain(test_word(test_id))} has no figure in one of the months")
            continue
        better = (other.cushion or 0.0) - (one.cushion or 0.0)
        rows.append((test_id, one, other, other.current_value - one.current_value, better))
    if not is_named:
        if query.status == "fail":
            rows = [row for row in rows if row[2].status == "fail" and row[1].status != "fail"]
        if query.direction in ("better", "worse"):
            rows = [row for row in rows if (row[4] > 1e-9 if query.direction == "better" else row[4] < -1e-9)]
        elif query.direction in ("up", "down"):
            rows = [row for row in rows if (row[3] > 1e-9 if query.direction == "up" else row[3] < -1e-9)]
        else:
            rows = [row for row in rows if abs(row[3]) > 1e-9 or row[1].status != row[2].status]
        if query.order is not None or query.direction in ("better", "worse"):
            rows.sort(key=lambda row: -abs(row[4]) / abs(row[2].threshold_value or 1.0))
        count = said.figure("tests", len(rows), "count", "tests with a figure in both months")
        said.sentences.append(f"{count} test{'s' * (len(rows) != 1)}{':' if rows else '.'}")
        if query.place or query.limit:
            rows = rows[: query.limit or 1]
    for test_id, one, other, change, better in rows[:ROWS_SHOWN]:
        unit, name = unit_of(test_id, other), said.name(other.test_name)
        moved: Unit = "points" if unit == "percent" else unit
        if is_named and query.is_yes_no and query.direction not in (None, "any"):
            so = {"up": change > 1e-9, "down": change < -1e-9, "better": better > 1e-9, "worse": better < -1e-9}[
                query.direction
            ]
            said.sentences.append("Yes." if so else "No.")
        by = said.figure(
            f"change of {name}",
            change,
            moved,
            f"the test {test_id} in the newer month less in the earlier",
            of=None if is_named else other.test_name,
            test_id=test_id,
            sign=True,
        )
        last = said.figure(
            name,
            other.current_value,
            unit,
            f"result of the test {test_id}",
            of=None if is_named else other.test_name,
            test_id=test_id,
        )
        first = said.figure(
            f"{name} in the month before",
            one.current_value,
            unit,
            f"result of the test {test_id} over the earlier file by the same rules",
            of=None if is_named else other.test_name,
            test_id=test_id,
        )
        way = "improved" if better > 1e-9 else "worsened" if better < -1e-9 else "did not move"
        status = (
            f"{_STATUS_WORDS[other.status]} as before"
            if one.status == other.status
            else (
                f"{_STATUS_WORDS[other.status]}, before it "
                f"{_STATUS_WORDS[one.status].replace('passes', 'passed').replace('fails', 'failed')}"
            )
        )
        text = f"{name} moved by {by}, from {first} to {last}; it {status}"
        if other.cushion is not None and one.cushion is not None:
            cushion = said.figure(
                f"change of the cushion of {name}",
                better,
                moved,
                f"cushion of the test {test_id} in the newer month less in the earlier",
                of=None if is_named else other.test_name,
                test_id=test_id,
                sign=True,
            )
            text += f", and its cushion {way}" + (f" by {cushion}" if way != "did not move" else "")
        said.sentences.append(f"{text}.")
    return said


_PART_WORDS: Final = {
    "added": "loans that are new",
    "removed": "loans that are gone",
    "par": "paydowns and draws",
    "ratings": "ratings",
    "prices": "prices",
    "rates": "spreads and coupons",
    "other_fields": "other fields and the day",
    "liabilities_and_cash": "notes and cash",
}


def why(query: Query, subject: Subject) -> Said:
    """The parts into which a test's move is split.

    Raises:
        Unavailable: there is no month before, or there are too many loans.
    """
    said = Said(subject)
    before = previous_of(subject)
    ids = resolved(subject, query.tests)
    if subject.portfolio.row_count > ROWS_OF_MOVEMENTS_MAX:
        raise Unavailable(f"the move of a test is split for at most {ROWS_OF_MOVEMENTS_MAX:,} loans")

    def run(portfolio: Portfolio) -> Results:
        if all(one in TESTS for one in ids) and subject.suite != DEAL_SUITE:
            return run_suite(portfolio, "enhanced", test_ids=ids, **subject.rules, details=False)
        return subject.run(portfolio, ids)

    for one in movements(before.portfolio, subject.portfolio, run, definition=subject.definition):
        if one.test_id not in ids:
            continue
        unit, name = unit_of(one.test_id), said.name(one.test_name)
        moved: Unit = "points" if unit == "percent" else unit
        if one.change is None:
            raise Unavailable(f"{name} has no figure in one of the months")
        change = said.figure(
            f"change of {name}",
            one.change,
            moved,
            f"the test {one.test_id} in the newer month less in the earlier",
            test_id=one.test_id,
            sign=True,
        )
        first = said.figure(
            f"{name} in the month before", one.before, unit, f"result of the test {one.test_id}", test_id=one.test_id
        )
        last = said.figure(name, one.after, unit, f"result of the test {one.test_id}", test_id=one.test_id)
        said.sentences.append(f"{name} moved by {change}, from {first} to {last}.")
        for part in sorted(one.parts, key=lambda part: -abs(part.change)):
            if abs(part.change) < 1e-9:
                continue
            words = _PART_WORDS[part.part]
            by = said.figure(
                f"part of {words}",
                part.change,
                moved,
                f"difference of two runs, one with {words} of the newer month",
                of=words,
                test_id=one.test_id,
                sign=True,
            )
            who = []
            for mover in part.loans[:3]:
                effect = said.figure(
                    "effect of a loan",
                    mover.effect,
                    moved,
                    "difference of two runs, one with this loan's change",
                    of=mover.name,
                    identifier=mover.identifier,
                    test_id=one.test_id,
                    sign=True,
                )
                who.append(f"{said.name(mover.name)} {effect}")
            said.sentences.append(f"By {words}: {by}{f', most of all {listed(who)}' if who else ''}.")
    return said


def history(query: Query, subject: Subject) -> Said:
    """A test over the stored runs.

    Raises:
        Unavailable: no run of it is stored.
    """
    said = Said(subject)
    for test_id in resolved(subject, query.tests):
        points = [(point.day, point.value) for point in subject.history.get(test_id, ())]
        result = results_of(subject, subject.portfolio, [test_id]).get(test_id)
        if isinstance(result, TestResult) and subject.day is not None and (not points or points[-1][0] < subject.day):
            points.append((subject.day, result.current_value))
        if len(points) < 2:
            raise Unavailable(f"fewer than two runs of {plain(test_word(test_id))} are stored")
        points = points[-ROWS_SHOWN:]
        unit, name = (
            unit_of(test_id),
            said.name(result.test_name if result is not None else test_word(test_id)),
        )
        change = points[-1][1] - points[0][1]
        way = "risen" if change > 1e-9 else "fallen" if change < -1e-9 else "not moved"
        if query.is_yes_no and query.direction in ("up", "down"):
            said.sentences.append("Yes." if (change > 0) == (query.direction == "up") and change else "No.")
        by = said.figure(
            f"change of {name}",
            change,
            "points" if unit == "percent" else unit,
            "the newest run less the oldest",
            test_id=test_id,
            sign=True,
        )
        said.sentences.append(f"{name} has {way} over {counted(len(points), 'run')}, by {by}.")
        for day, value in points:
            text = said.figure(
                name, value, unit, f"stored result of the test {test_id}", of=day.isoformat(), test_id=test_id
            )
            said.sentences.append(f"{day.isoformat()}: {text}.")
    return said


def room(query: Query, subject: Subject) -> Said:
    """How much more of what a test limits there may be.

    Raises:
        Unavailable: the test limits nothing that can be bought, or has no figure.
    """
    said = Said(subject)
    if query.having:
        return _room_to(query, said)
    test_id = resolved(subject, query.tests)[0]
    result = results_of(subject, subject.portfolio, [test_id]).get(test_id)
    if result is None or isinstance(result, Skipped):
        raise Unavailable(f"{plain(test_word(test_id))} has no figure")
    if unit_of(test_id, result) != "percent" or result.threshold_type != "max":
        said.warnings[f"{result.test_name} is no share of the pool: its cushion is told in its own unit"] = None
        _one(query, said, result, "")
        return said
    pool = subject.pool
    assert pool is not None
    value, whose = result.current_value, said.name(result.test_name)
    book = Book(subject)
    if query.where:
        value = book.measure("share", book.chosen(query.where)) or 0.0
        whose = said.name(query.where[0].values[0])
    left = result.threshold_value - value
    amount = left / 100 * pool.denominator
    operation = "(limit - share) x what the test divides by / 100: a loan bought at par leaves that as it is"
    money = said.figure(f"room for {whose}", amount, "amount", operation, book=book, test_id=test_id)
    share = said.figure(f"cushion of {whose}", left, "points", "limit less share", test_id=test_id)
    now = said.figure(
        whose,
        value,
        "percent",
        f"result of the test {test_id}" if not query.where else "sum of par_value / collateral principal amount x 100",
        test_id=test_id,
    )
    limit = said.figure(
        f"limit of {whose}", result.threshold_value, "percent", f"limit of the test {test_id}", test_id=test_id
    )
    if left >= 0:
        said.sentences.append(
            f"Another {money} may be bought at par: {whose} is {now} of at most "
            f"{limit}, which leaves {share} of the collateral principal amount."
        )
    else:
        said.sentences.append(f"None: {whose} is {now} of at most {limit} already: the room is {share}, or {money}.")
    said.warnings["paid out of principal cash at 100 % of par; other tests may bear less"] = None
    return said


def _room_to(query: Query, said: Said) -> Said:
    """How much more of some loans there may be until they are a share that the question names."""
    book, most = Book(said.subject), query.having[0].value
    mask = book.chosen(query.where)
    value = book.measure("share", mask) or 0.0
    left = most - value
    operation = "(named share - share) x collateral principal amount / 100: a loan bought at par leaves that as it is"
    money = said.figure(
        "room", left / 100 * book.denominator, "amount", operation, book=book, rows=np.flatnonzero(mask)
    )
    share = said.figure("room as a share", left, "percent", "named share less share", book=book)
    now = said.figure(
        "share of the collateral principal amount", value, "percent", "sum of par_value / it x 100", book=book
    )
    words = conditions_words(query.where)
    said.sentences.append(
        f"Another {money} of loans {words} may be bought at par until they are {most:g} %: "
        f"they are {now}, which leaves {share}."
        if left >= 0
        else f"None: the loans {words} are {now} already, {share} beside {most:g} %, or {money}."
    )
    said.warnings["paid out of principal cash at 100 % of par; no test of the run is asked"] = None
    return said


def deals(query: Query, subjects: Sequence[Subject]) -> tuple[list[Said], list[str]]:
    """(a figure of each portfolio, sentences that rank them).

    Raises:
        Unavailable: no portfolio has it.
    """
    found: list[tuple[float, Subject]] = []
    saids = []
    quantity = query.quantities[0] if query.quantities else "par"
    for subject in subjects:
        said = Said(subject)
        saids.append(said)
        try:
            if query.tests:
                result = results_of(subject, subject.portfolio, resolved(subject, query.tests)[:1]).get(
                    resolved(subject, query.tests)[0]
                )
                if not isinstance(result, TestResult):
                    raise Unavailable("it has no figure")
                value: float | None = result.cushion if query.aspect == "cushion" else result.current_value
                name = said.name(result.test_name)
                text = said.figure(
                    f"cushion of {name}" if query.aspect == "cushion" else name,
                    value,
                    unit_of(result.test_id, result),
                    f"result of the test {result.test_id}",
                    test_id=result.test_id,
                )
            else:
                book = Book(subject)
                value = book.measure(quantity, book.held)
                name = QUANTITIES[quantity].name
                text = said.figure(name, value, QUANTITIES[quantity].unit, f"{name} of the portfolio", book=book)
        except Unavailable as reason:
            said.sentences.append(f"{reason}.")
            continue
        said.sentences.append(f"{name} {text}.")
        if value is not None:
            found.append((value, subject))
    if not found:
        raise Unavailable("no portfolio has that figure")
    best = (max if query.order == "most" else min)(found, key=lambda one: one[0])
    return saids, [f"It is {plain(best[1].name)}."]
