"""How far the figures can be trusted.

Gaps, what stands in for them, stale prices, and breaks with the trustee.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from core.compliance.printed import is_contradicted
from core.insights.insight import FigureCondition, FigureRecipe
from core.insights.limits import NAMED
from core.insights.stress import DOUBTFUL
from core.insights.study import Study, StudyFinding
from core.insights.words import listed, plain
from core.labels import spaced
from core.portfolio.model.notes import WARNING_CODES
from core.portfolio.model.ratings import CCC

WANTED: Final = {
    "price": "prices", "worst_rating": "ratings", "maturity_date": "maturities", "industry": "industries",
    "spread": "spreads", "country": "countries", "lien_type": "liens", "recovery_rate": "recovery rates",
}  # fmt: skip
"""Columns that most insights rest on, in words."""

BLANK_PCT: Final = 0.005
"""Percent of par without a value that is reported."""

STALE_PCT: Final = 10.0
"""Percent of priced par without a move in a month that is called notable."""

QUIET: Final = frozenset(("standard_definition", "definition_without_base", "lives_by_maturity"))
"""Warnings of a run that say how it was done, and of nothing that somebody could mend in the file."""

_SEVERITIES: Final = ("critical", "error", "warning", "info")


def skipped(study: Study) -> Iterator[StudyFinding]:
    """Yield tests that could not be run, and why."""
    left = study.results.skipped
    if not left:
        return
    draft = study.draft("skipped")
    draft.put("count", len(left), "count", FigureRecipe(operation="tests", part="skipped"))
    draft.put(
        "all", len(left) + len(study.results), "count", FigureRecipe(operation="tests", part="total"), noun="test"
    )
    texts = []
    for at, each in enumerate(left[:NAMED]):
        draft.say(f"test_{at}", each.test_name)
        draft.names[f"reason_{at}"] = plain(each.reason.removeprefix("Skipped: "), 160)
        draft.tests.append(each.test_id)
        texts.append(f"{{test_{at}}} ({{reason_{at}}})")
    draft.tests += [result.test_id for result in left[NAMED:]]
    more = "" if len(left) <= NAMED else " and others"
    yield draft.finding(
        "data_quality",
        "notable" if len(left) > len(study.results) / 4 else "context",
        "{count} of {all} could not be run",
        f"{{count}} of {{all}} could not be run: {'; '.join(texts)}{more}.",
        weight=len(left),
        operations="Add what is missing to the file, or to its mapping, and run again.",
        executive="A test without a figure counts neither as passed nor as failed.",
        methodology="The tests that the newest run lists as skipped, with its reasons.",
    )


def gaps(study: Study) -> Iterator[StudyFinding]:
    """Columns that the file does not have, and blanks in those that it has."""
    columns = study.columns
    absent = [words for name, words in WANTED.items() if not columns.has(name)]
    blank = []
    draft = study.draft("gaps")
    for name, words in WANTED.items():
        if not columns.has(name) or study.pool.par <= 0:
            continue
        where = _blanks(study, name)
        share = draft.loans(f"{name}_share", "share", "percent", *where, of="par", name=f"share without {words}")
        draft.loans(f"{name}_count", "count", "count", *where, name=f"loans without {words}")
        if share is not None and share > BLANK_PCT:
            blank.append((share, name, words))
    if not absent and not blank:
        return
    blank.sort(reverse=True)
    texts = [f"no {words} for {{{name}_count}} ({{{name}_share}} of performing par)" for _, name, words in blank]
    parts = []
    if absent:
        parts.append(f"The file has no column of {listed(absent)}.")
    if texts:
        parts.append(f"Blank are: {'; '.join(texts[:NAMED])}.")
    if blank:
        chosen = columns.chosen(_blanks(study, blank[0][1]))
        rows = columns.largest(chosen)
        draft.list(rows, in_all=int(np.count_nonzero(chosen)))
    yield draft.finding(
        "data_quality",
        "notable" if absent or blank[0][0] > 5.0 else "background",
        f"No {listed(absent[:NAMED])} in the file" if absent else f"No {blank[0][2]} for {{{blank[0][1]}_count}}",
        " ".join(parts),
        weight=(blank[0][0] if blank else 0.0) + 10.0 * len(absent),
        operations="Averages leave such loans out, and conclusions about them are missing here."
        if blank
        else "What rests on these columns is missing here.",
        analyst="Averages leave such loans out; unrated loans count as the rules have it." if blank else "",
        methodology="Columns and blanks as the portfolio was read; ratings are blank where no agency rates a loan.",
    )


def _blanks(study: Study, name: str) -> list[FigureCondition]:
    """Loans without a value that they should have.

    A fixed-rate loan has no spread to be missing.
    """
    return [*(study.floating() if name == "spread" else []), FigureCondition(name, "blank")]


def warned(study: Study) -> Iterator[StudyFinding]:
    """Yield what the run says must be known before its figures are trusted."""
    warnings = [warning for warning in study.results.warnings if warning.code not in QUIET]
    if not warnings:
        return
    draft = study.draft("warned")
    draft.remarks = [warning.message for warning in warnings]
    draft.quote("count", len(warnings), "count", "warnings of the newest run", noun="remark")
    texts = []
    for at, code in enumerate(dict.fromkeys(warning.code for warning in warnings)):
        rows = sum(warning.rows or 0 for warning in warnings if warning.code == code)
        draft.names[f"kind_{at}"] = WARNING_CODES.get(code, code)
        if rows:
            draft.quote(f"rows_{at}", rows, "count", f"warnings of the newest run: {code}", noun="row")
        texts.append(f"{{kind_{at}}}" + (f" ({{rows_{at}}})" if rows else ""))
    yield draft.finding(
        "data_quality",
        "context",
        "{count} on the file before its figures are trusted",
        f"The newest run carries {{count}}: {'; '.join(texts)}.",
        weight=len(warnings),
        operations="Each stands in full among the remarks, with the place in the file.",
        analyst="Each stands in full among the remarks, with the place in the file.",
        methodology="Warnings of the newest run, by kind.",
    )


def differs(study: Study) -> Iterator[StudyFinding]:
    """Figures of tests that the file itself prints otherwise."""
    apart = [result for result in study.results if result.published is not None and result.published.agrees is False]
    if not apart:
        return
    apart.sort(key=lambda each: not is_contradicted(each))
    draft = study.draft("differs")
    draft.quote("count", len(apart), "count", "tests whose printed figure is another", noun="test")
    texts = []
    for at, each in enumerate(apart):
        printed = each.published
        if printed is None or printed.value is None:
            continue
        draft.say(f"test_{at}", each.test_name)
        draft.test(f"ours_{at}", each.test_id)
        draft.quote(
            f"theirs_{at}",
            printed.value,
            study.unit(each),
            printed.place,
            name=f"figure that the file prints for {plain(each.test_name)}",
        )
        status = (
            f", which it calls {'passed' if printed.status == 'pass' else 'failed'}" if is_contradicted(each) else ""
        )
        texts.append(f"{{test_{at}}} {{theirs_{at}}}{status} (here {{ours_{at}}})")
    yield draft.finding(
        "data_quality",
        "near" if is_contradicted(apart[0]) else "context",
        "The file prints other figures for {count}",
        f"The file's own page of tests has other figures for {{count}}: {'; '.join(texts)}.",
        weight=len(apart),
        analyst="The deal's tie-out looks for the rule that makes the two agree.",
        operations="Run the deal's tie-out, which looks for the rule that makes the two agree.",
        methodology="Tests that the file publishes, matched with ours by subject, whose figure differs by more than "
        "its last "
        "printed digit.",
    )


def stale(study: Study) -> Iterator[StudyFinding]:
    """Prices that are the same to the last digit as in the earlier month."""
    earlier = study.earlier
    if earlier is None or not study.columns.has("price") or not earlier.has("price"):
        return
    columns = study.columns
    where = [FigureCondition("price", "unchanged")]
    chosen = columns.chosen(where)
    if not chosen.any():
        return
    draft = study.draft("stale")
    draft.loans("count", "count", "count", *where)
    draft.loans("par", "sum", "amount", *where)
    draft.loans("priced", "sum", "amount", FigureCondition("price", "known"), name="par with a price")
    draft.combined("share", "quotient", "percent", "par", "priced", times=100.0)
    named, since = draft.largest("loan", chosen), draft.since()
    yield draft.finding(
        "data_quality",
        "notable" if draft["share"] > STALE_PCT else "context",
        f"{{share}} of priced par has the price of {since}",
        "{count} with {par}, {share} of the par that has a price, "
        + ("are" if draft["count"] != 1 else "is")
        + f" priced as in the figures of {since} to the last digit.",
        weight=draft["share"],
        operations=f"Ask for new marks, the largest first: {named}.",
        analyst=f"Such prices may be stale. The largest: {named}.",
        executive="Such prices may be stale.",
        finance="Such prices may be stale, and values at market with them.",
        methodology="Performing loans of both months, paired as a reconciliation pairs them, with equal prices.",
    )


def odd(study: Study) -> Iterator[StudyFinding]:
    """Prices that do not go with ratings."""
    columns = study.columns
    if not columns.has("price", "worst_rating"):
        return
    high = [FigureCondition("price", "at_least", 97.0), FigureCondition("worst_rating", "at_least", float(CCC))]
    low = [FigureCondition("price", "below", DOUBTFUL), FigureCondition("worst_rating", "below", float(CCC))]
    both = columns.chosen(high) | columns.chosen(low)
    if not both.any():
        return
    draft = study.draft("odd")
    draft.loans("high", "count", "count", *high, name="CCC loans priced high")
    draft.loans("low", "count", "count", *low, name="better loans priced low")
    draft.quote("high_line", 97.0, "price", "the line above which a CCC loan is priced high here")
    draft.quote("low_line", DOUBTFUL, "price", "the line below which a better loan is priced low here")
    texts = []
    if draft["high"]:
        texts.append("{high} rated CCC or lower " + _are(draft["high"]) + " priced at {high_line} or above")
    if draft["low"]:
        texts.append("{low} that no agency rates CCC " + _are(draft["low"]) + " priced below {low_line}")
    named = draft.largest("loan", both)
    yield draft.finding(
        "data_quality",
        "notable" if draft["low"] else "context",
        "Prices that do not go with ratings",
        f"{'; '.join(texts)}: one of the two may be wrong or out of date.",
        weight=float(np.count_nonzero(both)),
        operations=f"Check: {named}.",
        analyst=f"The largest: {named}.",
        methodology="Performing loans by price and by their worst rating of any agency.",
    )


def _are(count: float) -> str:
    return "is" if count == 1 else "are"


def breaks(study: Study) -> Iterator[StudyFinding]:
    """Yield what the newest comparison with the trustee left open."""
    all_breaks = study.subject.breaks
    if all_breaks is None:
        return
    draft = study.draft("breaks")
    place = "newest comparison with the trustee"
    still = sum(all_breaks.by_severity.values())
    draft.say("tape", all_breaks.tape)
    draft.quote("still", still, "count", f"{place}: discrepancies that stand", noun="difference")
    draft.quote("compared", all_breaks.compared, "count", f"{place}: loans", noun="loan")
    draft.quote("matched", all_breaks.matched, "count", f"{place}: matched loans")
    kinds = []
    for severity in _SEVERITIES:
        if count := all_breaks.by_severity.get(severity, 0):
            draft.quote(severity, count, "count", f"{place}: by severity", name=f"discrepancies: {severity}")
            kinds.append(f"{{{severity}}} {severity}")
    fields = sorted(all_breaks.by_field.items(), key=lambda each: (-each[1], each[0]))[:NAMED]
    texts = []
    for at, (name, count) in enumerate(fields):
        draft.say(f"field_{at}", spaced(name))
        draft.quote(f"field_count_{at}", count, "count", f"{place}: by field", name=f"discrepancies of {plain(name)}")
        texts.append(f"{{field_{at}}} ({{field_count_{at}}})")
    worst = []
    for at, each in enumerate(all_breaks.largest[:NAMED]):
        draft.say(f"break_{at}", each.borrower_name or each.identifier)
        draft.say(f"break_field_{at}", spaced(each.field_name))
        draft.say(f"trustee_{at}", each.trustee_value or "nothing")
        draft.say(f"ours_{at}", each.internal_value or "nothing")
        worst.append(f"{{break_{at}}}, {{break_field_{at}}}: the trustee has {{trustee_{at}}}, we have {{ours_{at}}}")
    critical = all_breaks.by_severity.get("critical", 0)
    if not still:
        yield draft.finding(
            "data_quality",
            "background",
            "No break with the trustee stands",
            "The newest comparison with the trustee ({tape}) matched {matched} of {compared}, and no difference "
            "stands.",
            methodology="The newest completed comparison with a trustee's tape.",
        )
        return
    yield draft.finding(
        "data_quality",
        "act" if critical else "notable",
        "{still} with the trustee " + ("stand" if still != 1 else "stands"),
        "The newest comparison with the trustee ({tape}) matched {matched} of {compared}; {still} "
        + ("stand" if still != 1 else "stands")
        + f": {listed(kinds)}. Most often: {', '.join(texts)}.",
        weight=100.0 * critical + still,
        operations=f"The worst: {'; '.join(worst)}." if worst else "",
        analyst=f"The worst: {'; '.join(worst)}." if worst else "",
        methodology="The newest completed comparison with a trustee's tape; differences that somebody resolved are "
        "left out.",
    )


FINDERS: Final = (skipped, gaps, warned, differs, stale, odd, breaks)
