"""What moved since the month before and why, and where the history of the tests points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Final

import numpy as np

from core.compliance.result import TestResult
from core.deals.movements import Movement, PartName, movements
from core.insights.columns import lowest_rows
from core.insights.insight import FigureCondition, FigureRecipe
from core.insights.limits import NAMED, doubted
from core.insights.study import FindingDraft, Study, StudyFinding, Urgency
from core.insights.subject import POINTS_MAX, HistoryPoint
from core.insights.words import plain
from core.labels import LABELS
from core.portfolio.model.ratings import CCC, RATING_FIELDS

MOVED_SHOWN: Final = 4
"""Tests whose move is explained: those whose cushion moved most of their limit."""

LOANS_TRIED: Final = 6
"""Loans of a class of changes that are tried alone; the tests' own pages try more."""

ROWS_MAX: Final = 250_000
"""Loans of a month up to which a move is explained: each class of changes is a run of its own."""

MOVED_PCT: Final = 0.05
"""Percent of its limit by which a cushion must have moved to be mentioned."""

POINTS_LEAST: Final = 4
"""Days of history below which nothing is said of a trend."""

AHEAD_DAYS: Final = 730
"""How far ahead a line through the history is drawn."""

_WORDS: Final[dict[PartName, str]] = {
    "added": "loans that are new", "removed": "loans that are gone", "par": "paydowns and draws",
    "ratings": "ratings", "prices": "prices", "rates": "spreads and coupons", "other_fields": "other fields and time",
    "liabilities_and_cash": "notes and cash",
}  # fmt: skip


def moved(study: Study) -> Iterator[StudyFinding]:
    """Why the tests moved whose cushions moved most."""
    previous, before = study.subject.previous, study.before
    if previous is None or before is None or not before:
        return
    chosen = _most_moved(study)
    ids = [each.test_id for each in chosen]
    by_test: dict[str, Movement] = {}
    if ids and max(previous.portfolio.row_count, study.subject.portfolio.row_count) <= ROWS_MAX:
        run = partial(study.subject.run, test_ids=ids)
        movement_list = movements(
            previous.portfolio,
            study.subject.portfolio,
            run,
            definition=study.subject.definition,
            loans_tried=LOANS_TRIED,
            is_largest_enough=True,
            pairs=study.pairs,
        )
        by_test = {movement.test_id: movement for movement in movement_list}
    then = {each.test_id: each for each in before}
    for result in chosen:
        yield _move(study, result, then[result.test_id], by_test.get(result.test_id))


def _most_moved(study: Study) -> list[TestResult]:
    assert study.before is not None
    before = study.before.cushions
    moves = {
        result.test_id: (study.results.cushions[result.test_id] - before[result.test_id])
        / abs(result.threshold_value)
        * 100
        for result in study.results
        if result.test_id in before and result.threshold_value
    }
    changed = {
        each.test_id
        for each in study.before
        if each.test_id in moves and each.status != study.by_id[each.test_id].status
    }
    tests = [result for result in study.results if abs(moves.get(result.test_id, 0.0)) >= MOVED_PCT]
    tests.sort(key=lambda test: (test.test_id not in changed, -abs(moves[test.test_id])))
    return tests[:MOVED_SHOWN]


def _move(study: Study, test_result: TestResult, then: TestResult, movement: Movement | None) -> StudyFinding:
    draft = study.draft(f"moved:{test_result.test_id}")
    draft.is_disputed = test_result.doubtful
    unit = study.unit(test_result)
    draft.say("test", test_result.test_name)
    draft.test("now", test_result.test_id)
    draft.test("before", test_result.test_id, book="earlier")
    draft.test("cushion", test_result.test_id, "cushion")
    draft.test("cushion_before", test_result.test_id, "cushion", book="earlier")
    change = draft.combined("change", "difference", "points" if unit == "percent" else unit, "now", "before", sign=True)
    gain = draft.combined(
        "gain",
        "difference",
        draft.figures["cushion"].unit,
        "cushion",
        "cushion_before",
        sign=True,
        name="change of the cushion",
    )
    better = gain > 0
    parts = _parts(draft, test_result, movement)
    status = ""
    if then.status != test_result.status:
        was, now = (f"a {'doubtful ' if each.doubtful else ''}{_STATUS[each.status]}" for each in (then, test_result))
        status = f" It was {was} then and is {now} now."
    if theirs := doubted(draft, test_result):
        status += f" Its status is doubtful: {theirs}."
    urgency: Urgency = (
        "act"
        if test_result.status == "fail" and then.status != "fail"
        else "near"
        if then.status == "pass" and test_result.status == "warning"
        else "notable"
        if not better or then.status != test_result.status
        else "context"
    )
    verb = "rose" if change > 0 else "fell"
    ends = f"which {'widens' if better else 'narrows'} its cushion to {{cushion}}"
    if draft["cushion"] < 0:
        draft.restated("short", "cushion")
        ends = f"which {'leaves it still' if better else 'leaves it'} {{short}} beyond its limit"
    return draft.finding(
        "trends_forecasts",
        urgency,
        f"{{test}} {verb} from {{before}} to {{now}}",
        f"{{test}} {verb} from {{before}} to {{now}} ({{change}}) since {draft.since()}, {ends}.{status}",
        weight=abs(gain / test_result.threshold_value * 100) if test_result.threshold_value else 0.0,
        executive=_first_part(parts),
        finance=_first_part(parts),
        analyst=" ".join(parts),
        operations=" ".join(parts),
        methodology="Both months are held to the newest rules. The change is split by full runs, each with one more "
        "class "
        "of changes applied, so the parts add up to it; a loan's effect is that of its change alone.",
    )


_STATUS: Final = {"pass": "pass", "warning": "warning", "fail": "fail"}


def _first_part(parts: Sequence[str]) -> str:
    return parts[0] if parts else ""


def _parts(draft: FindingDraft, test_result: TestResult, movement: Movement | None) -> list[str]:
    """Return the largest parts of a movement, and the loans that weigh most in the first of them."""
    if movement is None or not movement.parts or movement.change is None:
        return []
    unit = draft.figures["change"].unit
    texts = []
    largest = sorted((part for part in movement.parts if part.change), key=lambda part: -abs(part.change))[:NAMED]
    for part in largest:
        recipe = FigureRecipe(operation="movement", test_id=test_result.test_id, part=part.part)
        draft.put(part.part, part.change, unit, recipe, name=f"part of the change: {_WORDS[part.part]}", sign=True)
        texts.append(f"{_WORDS[part.part]} {{{part.part}}}")
    if not texts:
        return []
    sentences = [f"By cause: {', '.join(texts)}."]
    loans = []
    for at, mover in enumerate(largest[0].loans[:NAMED]):
        recipe = FigureRecipe(
            operation="movement", test_id=test_result.test_id, part=largest[0].part, loan=plain(mover.name)
        )
        draft.say(f"mover_{at}", mover.name)
        draft.put(
            f"effect_{at}",
            mover.effect,
            unit,
            recipe,
            name=f"effect of loan {at + 1} alone",
            sign=True,
            decimals=None if abs(mover.effect) >= 0.01 else 4,
        )
        loans.append(f"{{mover_{at}}} ({{effect_{at}}})")
    if loans:
        sentences.append(f"Of the first, the most weighs {', then '.join(loans)}.")
    return sentences


def turnover(study: Study) -> Iterator[StudyFinding]:
    """Loans that came and went."""
    earlier = study.earlier
    if earlier is None:
        return
    draft = study.draft("turnover")
    here = [FigureCondition("par_value", "only_here")]
    new, gone = study.columns.chosen(here, "all"), earlier.chosen(here, "all")
    for key, book in (("new", "newest"), ("gone", "earlier")):
        draft.loans(f"{key}_count", "count", "count", *here, loans="all", book=book, name=f"loans that are {key}")
        draft.loans(f"{key}_par", "sum", "amount", *here, loans="all", book=book, name=f"par of loans that are {key}")
    draft.loans("par", "sum", "amount", name="performing par")
    draft.loans("par_before", "sum", "amount", book="earlier", name="performing par, earlier")
    draft.combined("net", "difference", "amount", "par", "par_before", sign=True)
    since = draft.since()
    bought = draft.largest("bought", new) if new.any() else ""
    left = draft.largest("left", gone, book="earlier") if gone.any() else ""
    named = " ".join(
        f"{words}: {names}." for words, names in (("Largest new", bought), ("Largest gone", left)) if names
    )
    turned = (draft["new_par"] + draft["gone_par"]) / max(draft["par"], 1.0) * 100
    yield draft.finding(
        "trends_forecasts",
        "notable" if turned > 5 else "context" if turned else "background",
        "{new_count} came, {gone_count} went",
        f"Since {since}, {{new_count}} with {{new_par}} came into the portfolio and {{gone_count}} with "
        f"{{gone_par}} left "
        "it. Performing par went from {par_before} to {par} ({net}).",
        weight=turned,
        operations=named,
        analyst=named,
        executive=named,
        methodology="Loans of both months are paired as a reconciliation pairs them: by CUSIP, LoanX ID, ISIN, then by "
        "borrower and maturity, then by borrower.",
    )


def migration(study: Study) -> Iterator[StudyFinding]:
    """Ratings that fell and rose, and what fell into CCC."""
    earlier = study.earlier
    if earlier is None:
        return
    rating = next((name for name in RATING_FIELDS if study.columns.has(name) and earlier.has(name)), None)
    if rating is None:
        return
    draft = study.draft("migration")
    down, up = [FigureCondition(rating, "rose")], [FigureCondition(rating, "fell")]
    for key, where in (("down", down), ("up", up)):
        draft.loans(f"{key}_count", "count", "count", *where, loans="all", name=f"loans with a {key}grade")
        draft.loans(f"{key}_par", "sum", "amount", *where, loans="all", name=f"par of loans with a {key}grade")
    into = [*down, FigureCondition(rating, "at_least", float(CCC))]
    fell = study.columns.chosen(into, "all") & (study.columns.paired(rating) < CCC)
    draft.say("agency", _AGENCY[rating])
    since = draft.since()
    falls = study.columns.chosen(down, "all")
    named = draft.largest("fallen", fell if fell.any() else falls) if falls.any() else ""
    text = f"The largest that fell{' into CCC' if fell.any() else ''}: {named}." if named else ""
    more_down = draft["down_par"] > draft["up_par"]
    is_notable = fell.any() or draft["down_par"] > 0.02 * max(study.pool.par, 1.0)
    yield draft.finding(
        "trends_forecasts",
        "notable" if is_notable else "context",
        "{agency}: {down_count} downgraded, {up_count} upgraded",
        f"Since {since}, {{agency}} has {{down_count}} with {{down_par}} at a lower rating and {{up_count}} with "
        f"{{up_par}} "
        "at a higher one" + (": more par fell than rose." if more_down else "."),
        weight=draft["down_par"] / max(study.pool.par, 1.0) * 100,
        executive=text,
        operations=text,
        analyst=text,
        finance=text,
        coverage_pct=study.covered(rating),
        methodology="The rating of each loan that is in both months, by the first agency that rates loans of both.",
    )


_AGENCY: Final = {**LABELS, "rating": "The deal's rating"}


def prices(study: Study) -> Iterator[StudyFinding]:
    """How the prices of the loans in both months moved, and prices that did not move at all."""
    earlier = study.earlier
    if earlier is None or not study.columns.has("price") or not earlier.has("price"):
        return
    columns = study.columns
    now, then = columns.numbers("price"), columns.paired("price")
    both = columns.chosen() & np.isfinite(now) & np.isfinite(then)
    if not both.any():
        return
    draft = study.draft("prices")
    since = draft.since()
    draft.loans("now", "average", "price", column="price", name="average price")
    draft.loans("before", "average", "price", column="price", book="earlier", name="average price, earlier")
    change = draft.combined("change", "difference", "points", "now", "before", sign=True)
    draft.loans("fell", "count", "count", FigureCondition("price", "fell"), name="loans whose price fell")
    draft.loans("rose", "count", "count", FigureCondition("price", "rose"), name="loans whose price rose")
    falls = np.where(both, now - then, 0.0)
    worst = [int(row) for row in lowest_rows(np.flatnonzero(falls < 0), NAMED, falls)]
    texts = []
    for at, row in enumerate(worst):
        draft.say(f"loan_{at}", study.borrower(row))
        for key, values, own, book in (("", now, row, "newest"), ("_before", then, int(columns.pair[row]), "earlier")):
            recipe = FigureRecipe(operation="sum", column="price", row=own, loans="all", book=book)  # type: ignore[arg-type]
            name = f"price of loan {row}" + key.replace("_before", ", earlier")
            draft.put(f"price_{at}{key}", float(values[row]), "price", recipe, name=name)
        texts.append(f"{{loan_{at}}} from {{price_{at}_before}} to {{price_{at}}}")
    draft.list(worst)
    named = f"The steepest falls: {', '.join(texts)}." if texts else ""
    yield draft.finding(
        "trends_forecasts",
        "notable" if change < -0.5 else "context",
        "The average price went from {before} to {now}",
        f"The average price of the performing loans went from {{before}} to {{now}} ({{change}}) since {since}: "
        f"{{fell}} "
        "fell and {rose} rose.",
        weight=-change,
        executive=named,
        operations=named,
        analyst=named,
        finance=named,
        coverage_pct=study.covered("price"),
        methodology="Mean price of each month's performing loans weighted by par; single prices are of loans in both.",
    )


def drift(study: Study) -> Iterator[StudyFinding]:
    """Yield the industry, obligor and country whose share moved most."""
    earlier = study.earlier
    if earlier is None or earlier.pool.denominator <= 0 or study.pool.denominator <= 0:
        return
    for column, word in (("industry", "industry"), ("obligor", "obligor"), ("country", "country")):
        if not study.columns.has(column) or not earlier.has(column):
            continue
        now = study.columns.by_name(column)
        if not now:
            continue
        gains = now.par / study.pool.denominator - earlier.by_name(column).par_of(now) / earlier.pool.denominator
        at = int(np.argmax(gains))
        name, gain = now[at][0], float(gains[at])
        if gain * 100 < 0.1:
            continue
        draft = study.draft(f"drift:{column}")
        where = FigureCondition(column, "equal", name)
        chosen = study.columns.chosen([where])
        rows = study.columns.largest(chosen)
        draft.say("name", study.borrower(int(rows[0])) if column == "obligor" else name)
        draft.loans("now", "share", "percent", where, of="denominator", name="share")
        draft.loans("before", "share", "percent", where, of="denominator", book="earlier", name="share, earlier")
        draft.combined("change", "difference", "points", "now", "before", sign=True)
        draft.loans("par", "sum", "amount", where)
        draft.list(rows, in_all=int(np.count_nonzero(chosen)))
        draft.quote("place", at + 1, "number", f"rank by par of the {word}")
        since = draft.since()
        yield draft.finding(
            "trends_forecasts",
            "notable" if gain * 100 > 1.0 else "context",
            f"{{name}} grew most of any {word}: {{change}}",
            f"No {word} gained more share since {since} than {{name}}: from {{before}} to {{now}} of the deal "
            f"({{par}}).",
            weight=gain * 100,
            analyst="It is number {place} by size.",
            methodology=f"Par by {word} over the denominator of the limits, in each month.",
        )


def trend(study: Study) -> Iterator[StudyFinding]:
    """Yield tests whose figure moved towards the limit through their history, and when a straight line meets it."""
    for result in study.results:
        points = [*study.subject.history.get(result.test_id, ())][-POINTS_MAX:]
        points = [point for at, point in enumerate(points) if at == 0 or point.day > points[at - 1].day]
        if len(points) < POINTS_LEAST or result.threshold_type == "exact":
            continue
        finding = _line(study, result, points)
        if finding is not None:
            yield finding


def _line(study: Study, test_result: TestResult, points: Sequence[HistoryPoint]) -> StudyFinding | None:
    """Return a finding on a test's linear trend; None if it leads off the limit."""
    days = np.array([point.day.toordinal() for point in points], np.float64)
    values = np.array([point.value for point in points], np.float64)
    slope, _ = np.polyfit(days - days[-1], values, 1)
    towards = slope if test_result.threshold_type == "max" else -slope
    in_a_row = 0
    for before, after in zip(values[-2::-1], values[:0:-1], strict=True):
        step = (after - before) if test_result.threshold_type == "max" else (before - after)
        if step <= 0:
            break
        in_a_row += 1
    if towards <= 0 or in_a_row < 2:
        return None
    draft = study.draft(f"trend:{test_result.test_id}")
    draft.basis = "extrapolated"
    unit = study.unit(test_result)
    draft.say("test", test_result.test_name)
    draft.test("now", test_result.test_id)
    draft.test("limit", test_result.test_id, "limit")
    cushion = draft.test("cushion", test_result.test_id, "cushion")
    place = f"history of {test_result.test_id}"
    draft.quote("runs", in_a_row, "count", f"{place}: days in a row, the newest last", noun="run")
    draft.quote("first", float(values[0]), unit, f"{place}: first value")
    draft.quote("since", points[0].day, "date", f"{place}: first day")
    draft.quote(
        "pace",
        float(slope * 30.4375),
        "points" if unit == "percent" else unit,
        f"{place}: slope of the line of least squares, over 30.4375 days",
        sign=True,
    )
    draft.quote("points", len(points), "count", f"{place}: days", noun="day")
    meets = ""
    days_left = (cushion or 0.0) / towards if cushion and cushion > 0 else None
    if days_left is not None and days_left <= AHEAD_DAYS:
        meeting = points[-1].day + timedelta(days=int(days_left))
        if meeting <= date.max:
            draft.quote("meets", meeting, "date", f"{place}: newest cushion over the slope of the line")
            meets = " A straight line through them meets the limit about {meets}."
    return draft.finding(
        "trends_forecasts",
        "near" if days_left is not None and days_left <= 180 else "notable" if meets else "context",
        "{test} has moved towards its limit in {runs} in a row",
        f"{{test}} moved towards its limit in each of the last {{runs}}: it was {{first}} on {{since}} and is "
        f"{{now}} against "
        f"{{limit}}, {{pace}} a month.{meets}",
        weight=in_a_row,
        analyst="The line is of least squares through {points} of stored runs.",
        executive="This is where the past points, not a forecast of trades." if meets else "",
        methodology="Line of least squares through the stored runs of the test; it knows nothing of trades to come.",
    )


FINDERS: Final = (moved, turnover, migration, prices, drift, trend)
