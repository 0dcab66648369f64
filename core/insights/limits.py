"""What the tests say.

How many pass, which fail, which have the least headroom, and what stands behind each.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Final

import numpy as np

from core.compliance.printed import is_contradicted, status_here
from core.compliance.result import TestResult
from core.insights.insight import FigureCondition, FigureRecipe, Stakeholder
from core.insights.study import FindingDraft, Study, StudyFinding, Urgency
from core.insights.words import plain

FAILING_SHOWN: Final = 6
THIN_SHOWN: Final = 8
NAMED: Final = 3
"""Tests or loans that a sentence names."""

NEAR_PCT: Final = 2.0
"""Percent of its limit up to which the cushion of a test that warns nobody is near all the same."""
NOTABLE_PCT: Final = 10.0

_SIDES: Final = {"max": ("limit", "above"), "min": ("minimum", "below"), "exact": ("required level", "off")}

_NOT_ITS_OWN: Final = "neither the file nor a definition of the deal gives its own."

BEHIND: Final[dict[str, list[FigureCondition]]] = {
    "cov_lite": [FigureCondition("cov_lite", "equal", 1.0)],
    "fixed_rate": [FigureCondition("is_fixed", "equal", 1.0)],
    "ccc": [FigureCondition("worst_rating", "at_least", 17.0)],
    "non_senior_secured": [FigureCondition("lien_type", "equal", "second_lien")],
}
"""The loans that make a test's figure, where one condition tells them."""

CURE: Final = {
    "coverage": "A failing coverage test usually turns interest away from the junior classes until it is cured.",
    "concentration": "A failing limit usually allows only purchases that maintain or improve it.",
    "rating": "A failing quality test usually allows only purchases that maintain or improve it.",
    "portfolio": "A failing quality test usually allows only purchases that maintain or improve it.",
}


def headroom_of(test_result: TestResult) -> float:
    """Cushion in percent of the limit; a failing test without one comes first."""
    if test_result.cushion_pct is not None:
        return test_result.cushion_pct
    return -inf if test_result.status == "fail" else inf


def _gravity(test_result: TestResult) -> tuple[bool, bool, float]:
    """Return what sorts tests that fail or warn.

    Failing coverage first, since it turns cash away, then by the least " "headroom.
    """
    return test_result.status != "fail", test_result.category != "coverage", headroom_of(test_result)


def verdict(study: Study) -> Iterator[StudyFinding]:
    """How many tests pass."""
    if not study.results:
        return
    draft = study.draft("verdict")
    counts = {"pass": 0, "warning": 0, "fail": 0}
    for result in study.results:
        counts[result.status] += 1
    for status, count in (*counts.items(), ("skipped", len(study.results.skipped)), ("all", len(study.results))):
        noun = "test" if status in ("all", "skipped") else ""
        draft.put(
            status, count, "count", FigureRecipe(operation="tests", part=status), name=f"tests: {status}", noun=noun
        )
    doubtful = sorted((item for item in study.results if item.doubtful), key=_gravity)
    certain = [item for item in study.results if not item.doubtful]
    fails = sum(item.status == "fail" for item in certain)
    warns, skipped = counts["warning"], len(study.results.skipped)
    draft.put(
        "certain_fail",
        fails,
        "count",
        FigureRecipe(operation="tests", part="certain_fail"),
        name="tests: fail beyond doubt",
    )
    draft.put(
        "doubtful", len(doubtful), "count", FigureRecipe(operation="tests", part="doubtful"), name="tests: doubtful"
    )
    summary = (
        "{certain_fail} of {all} failing"
        if fails
        else "none of {all} fails beyond doubt"
        if doubtful
        else "all {all} pass" + (", {warning} in the warning band" if warns else "")
    )
    summary += ", {doubtful} doubtful" if doubtful else ""
    worst = sorted((item for item in certain if item.status != "pass"), key=_gravity)[:NAMED]
    named = [_name(draft, f"_{at}", item) for at, item in enumerate(worst)]
    if fails:
        headline = "{certain_fail} of {all} with a figure fail" + ("" if fails > 1 else "s")
        headline += " and {warning} stand" + ("s" if warns == 1 else "") + " in the warning band" if warns else ""
    elif doubtful:
        headline = "None of {all} with a figure fails beyond doubt"
    else:
        headline = "Every test with a figure passes ({all})"
        headline += ", {warning} of them in the warning band" if warns else ", and none is in its warning band"
    lead = "Close to the limit:" if doubtful and not fails else "Namely"
    headline += ". " + (f"{lead} {'; '.join(named)}. " if named else "")
    if doubtful:
        each = [
            f"{_name(draft, f'_doubt_{at}', item)}, {_STATUS_HERE[status_here(item)]} by our figures"
            f", though {doubted(draft, item, f'printed_{at}')}"
            for at, item in enumerate(doubtful)
        ]
        verb = "is" if len(doubtful) == 1 else "are"
        headline += f"Doubtful {verb} {{doubtful}}: {'; '.join(each)}. "
    usual = sum(study.is_usual(item) for item in study.results)
    if usual:
        draft.put(
            "usual",
            usual,
            "count",
            FigureRecipe(operation="tests", part="usual"),
            name="tests: usual limit",
            noun="test",
        )
        verb = "is" if usual == 1 else "are"
        headline += f"{{usual}} {verb} held to a usual limit of the market: {_NOT_ITS_OWN}"
    left = "{skipped} could not be run: see the data gaps." if skipped else ""
    yield draft.finding(
        "risk_compliance",
        "act" if fails else "near" if warns or doubtful else "context",
        f"Compliance: {summary}",
        headline.strip(),
        weight=50.0,
        operations=left,
        analyst=left,
        executive=CURE["coverage"]
        if any(item.category == "coverage" for item in worst if item.status == "fail")
        else "",
        methodology="Every test of the newest run, counted by its status; a skipped test counts as neither. A status "
        "is doubtful where the file prints the other one, or where more par is missing than the cushion bears.",
    )


def _name(draft: FindingDraft, place: str, test_result: TestResult) -> str:
    """Return a test with its figure and its limit."""
    draft.say(f"test{place}", test_result.test_name)
    draft.test(f"value{place}", test_result.test_id)
    draft.test(f"limit{place}", test_result.test_id, "limit")
    return f"{{test{place}}} at {{value{place}}} against a {_SIDES[test_result.threshold_type][0]} of {{limit{place}}}"


_STATUS_HERE: Final = {"fail": "a fail", "pass": "a pass"}
_STATUS_THERE: Final = {"fail": "failed", "pass": "passed"}


def doubted(draft: FindingDraft, test_result: TestResult, key: str = "printed") -> str:
    """Return what makes a status doubtful, as a clause.

    What the file prints, or that par is missing; "" where nothing does.

    Args:
        key: of the printed figure.
    """
    if not test_result.doubtful:
        return ""
    published = test_result.published
    if published is None or not is_contradicted(test_result):
        return "more par is missing from its inputs than its cushion bears"
    assert published.status is not None
    there = _STATUS_THERE[published.status]
    if published.value is None:
        return f"the file itself calls it {there}"
    name = f"figure that the file prints for {plain(test_result.test_name)}"
    draft.quote(key, published.value, draft.study.unit(test_result), published.place, name=name)
    return f"the file itself prints {{{key}}} and calls it {there}"


def failing(study: Study) -> Iterator[StudyFinding]:
    """Each failing test, the gravest first."""
    failed = sorted(
        (result for result in study.results if result.status == "fail"),
        key=lambda result: (result.doubtful, _gravity(result)),
    )
    for place, each in enumerate(failed[:FAILING_SHOWN]):
        draft = study.draft(f"failing:{each.test_id}")
        draft.is_disputed = each.doubtful
        more = _figures_of(draft, each)
        theirs = doubted(draft, each)
        theirs = f" This is doubtful: {theirs}. See first what differs." if theirs else ""
        fails = "fails by our figures, which is doubtful" if each.doubtful else "fails"
        draft.restated("short", "cushion")
        side, where = _SIDES[each.threshold_type]
        yield draft.finding(
            "risk_compliance",
            "act",
            f"{{test}} {fails}: {{value}} against a {side} of {{limit}}",
            f"{{test}} stands at {{value}}, {{short}} {where} its {side} of {{limit}}.{theirs}{_usual(study, each)}",
            **more,
            weight=float(len(failed) - place),
            executive="" if study.measure(each.test_id) == "delinquency" else CURE.get(each.category, ""),
            finance=_money(
                draft,
                each,
                "It would pass with {slack} less of such par at the same total",
                "It is {slack} short of what the {side} asks of its numerator",
            ),
            methodology=_method(each),
            coverage_pct=_coverage(each),
        )


def thin(study: Study) -> Iterator[StudyFinding]:
    """Yield the tests that pass with the least headroom in percent of their limit."""
    passing = [result for result in study.results if result.status != "fail" and result.cushion_pct is not None]
    seen: set[tuple[str, float]] = set()
    for place, each in enumerate(sorted(passing, key=headroom_of)[:THIN_SHOWN]):
        if (each.category, each.current_value) in seen:
            continue  # one ratio that is held to two limits: the nearer one is reported
        seen.add((each.category, each.current_value))
        draft = study.draft(f"thin:{each.test_id}")
        draft.is_disputed = each.doubtful
        more = _figures_of(draft, each)
        draft.combined("part", "quotient", "percent", "cushion", "limit", times=100.0)
        side, _ = _SIDES[each.threshold_type]
        urgency: Urgency = (
            "near"
            if each.status == "warning" or headroom_of(each) < NEAR_PCT
            else ("notable" if headroom_of(each) < NOTABLE_PCT else "context" if place < NAMED else "background")
        )
        warned = " It is inside its warning band." if each.status == "warning" else ""
        first = "No test that passes has less headroom beside its limit." if place == 0 else ""
        theirs = doubted(draft, each)
        theirs = f" That it passes is doubtful: {theirs}." if theirs else ""
        yield draft.finding(
            "financial_health" if each.category == "coverage" else "risk_compliance",
            urgency,
            "{test} has headroom of {cushion}",
            f"{{test}} is {{value}} against a {side} of {{limit}}: a cushion of {{cushion}}, {{part}} of the {side}."
            f"{warned}{theirs}{_usual(study, each)}",
            **more,
            weight=-headroom_of(each),
            executive=first,
            finance=_money(
                draft,
                each,
                "Another {slack} of such par, at the same total, would use it up",
                "Its numerator may lose {slack} before it fails",
            ),
            methodology=_method(each),
            coverage_pct=_coverage(each),
        )


def _usual(study: Study, test_result: TestResult) -> str:
    """Return that a limit is not the deal's own."""
    if not study.is_usual(test_result):
        return ""
    return f" The {_SIDES[test_result.threshold_type][0]} is a usual one of the market: {_NOT_ITS_OWN}"


def _figures_of(draft: FindingDraft, test_result: TestResult) -> dict[Stakeholder, str]:
    """Return the figures of a test, with the loans behind it for operations, and the earlier month's figure for
    analysts."""
    study, test_id = draft.study, test_result.test_id
    draft.say("test", test_result.test_name)
    draft.test("value", test_id)
    draft.test("limit", test_id, "limit")
    draft.test("cushion", test_id, "cushion")
    more: dict[Stakeholder, str] = {}
    if draft.test("before", test_id, book="earlier") is not None and study.unit(test_result) in (
        "percent",
        "factor",
        "years",
    ):
        change = draft.combined(
            "change",
            "difference",
            "points" if study.unit(test_result) == "percent" else study.unit(test_result),
            "value",
            "before",
            sign=True,
        )
        since = draft.since()
        more["analyst"] = (
            f"By the figures of {since}, under the same rules, it was {{before}}: a change of {{change}}."
            if abs(change) >= 0.005
            else f"By the figures of {since}, under the same rules, it was the same."
        )
    if behind := _behind(draft, test_result):
        more["operations"] = behind
    return more


def _behind(draft: FindingDraft, test_result: TestResult) -> str:
    """Return the largest loans or names that make the figure."""
    study, measure = draft.study, draft.study.measure(test_result.test_id)
    columns = study.columns
    if measure in ("obligor", "top_obligors") and columns.has("obligor"):
        return _names(draft, "obligor", "Largest obligors")
    if measure == "industry" and columns.has("industry"):
        return _names(draft, "industry", "Largest industries")
    where = BEHIND.get(measure, [])
    if measure == "price_below" and columns.has("price"):
        where = [FigureCondition("price", "below", 80.0 if "80" in test_result.test_id else 90.0)]
    if not where or not columns.has(*(each.column for each in where)):
        return ""
    chosen = columns.chosen(where)
    draft.columns += [condition.column for condition in where]
    return "The largest loans behind it: " + draft.largest("behind", chosen) + "." if chosen.any() else ""


def _names(draft: FindingDraft, column: str, words: str) -> str:
    """Return the three largest names of a column with their share."""
    texts = []
    study = draft.study
    for at, (name, _) in enumerate(study.columns.by_name(column)[:NAMED]):
        chosen = study.columns.chosen([FigureCondition(column, "equal", name)])
        rows = study.columns.largest(chosen)
        draft.say(f"{column}_{at}", study.borrower(int(rows[0])) if column == "obligor" else name)
        if at == 0:
            draft.list(rows, in_all=int(np.count_nonzero(chosen)))
        draft.loans(
            f"{column}_{at}_share",
            "share",
            "percent",
            FigureCondition(column, "equal", name),
            of="denominator",
            name=f"share of {plain(name)}",
        )
        texts.append(f"{{{column}_{at}}} {{{column}_{at}_share}}")
    return f"{words}: {', '.join(texts)}."


def _money(draft: FindingDraft, test_result: TestResult, share: str, ratio: str) -> str:
    """Return the cushion in money, for tests that are a share of par, or a ratio in percent."""
    measure = draft.study.measure(test_result.test_id)
    if (
        draft.study.unit(test_result) != "percent"
        or measure in ("warr", "was", "wac", "average_price", "")
        or (measure not in ("oc", "ic", "reinvestment_oc") and test_result.threshold_type != "max")
    ):
        return ""
    if not draft.test("slack", test_result.test_id, "slack"):
        return ""
    is_ratio = measure in ("oc", "ic", "reinvestment_oc")
    return (ratio if is_ratio else share).replace("{side}", _SIDES[test_result.threshold_type][0]) + "."


def _method(test_result: TestResult) -> str:
    formula = plain(test_result.details.formula, 300) if test_result.details else ""
    return f"The newest run's own figure. Formula: {formula}. The limit is set by the {test_result.threshold_source}."


def _coverage(test_result: TestResult) -> float:
    return float(test_result.details.breakdown.get("coverage_pct", 100.0)) if test_result.details else 100.0


def erosion(study: Study) -> Iterator[StudyFinding]:
    """Yield what the numerator of the tightest overcollateralisation test is made of, and how much loss it bears."""
    oc_result = study.first("oc")
    if (
        oc_result is None
        or oc_result.details is None
        or "adjustments" not in oc_result.details.breakdown
        or oc_result.cushion is None
    ):
        return
    draft = study.draft("erosion")
    test_id = oc_result.test_id
    draft.say("test", oc_result.test_name)
    draft.test("value", test_id)
    draft.test("limit", test_id, "limit")
    draft.test("numerator", test_id, "adjustments.adjusted")
    draft.test("principal", test_id, "adjustments.collateral_principal_amount")
    slack = draft.test("slack", test_id, "slack")
    if oc_result.status == "fail" or not slack or draft["numerator"] <= 0:
        return
    draft.combined("loss", "quotient", "percent", "slack", "numerator", times=100.0)
    taken = []
    for part, words in _TAKEN.items():
        if (amount := draft.test(part, test_id, f"adjustments.{part}")) and abs(amount) >= 1.0:
            taken.append(f"{{{part}}} {words}")
    haircuts = f"Between par with cash ({{principal}}) and the numerator stand {', '.join(taken)}." if taken else ""
    yield draft.finding(
        "financial_health",
        "notable" if draft["loss"] < 3.0 else "context",
        "The tightest overcollateralisation test bears {slack} of losses",
        "{test} is {value} against {limit}: its numerator of {numerator} may fall by {slack}, or {loss}, before it "
        "fails.",
        weight=-draft["loss"],
        finance=haircuts,
        analyst=haircuts,
        executive="Losses count at par less recovery, and CCC loans above their limit at their market price.",
        methodology="Cushion times the balance of the tested class and all senior to it; the steps of the numerator "
        "are "
        "those of the run's own details.",
    )


_TAKEN: Final = {
    "ccc_haircut": "off for CCC loans above their limit", "discount_haircut": "off for loans bought at a discount",
    "deferring_haircut": "off for loans that defer interest", "defaulted_carried": "added for defaulted loans",
    "purchased_accrued_interest": "added for accrued interest bought",
}  # fmt: skip


def worth(study: Study) -> Iterator[StudyFinding]:
    """Yield what the loans are worth at their prices beside what the rated notes are owed."""
    notes, cash = study.subject.measured.tranches, study.subject.measured.deal.principal_cash
    if notes is None or not study.columns.has("price") or study.covered("price") < 90.0:
        return
    draft = study.draft("worth")
    rated = draft.loans(
        "rated", "sum", "amount", column="current_balance", loans="notes", name="balance of rated notes"
    )
    market = draft.loans("market", "weighted", "amount", column="price", times=0.01, name="loans at their prices")
    if not rated or not market:
        return
    draft.quote("cash", 0.0 if cash is None or not np.isfinite(cash) else cash, "amount", "deal.principal_cash")
    draft.combined("assets", "total", "amount", "market", "cash")
    draft.combined("cover", "quotient", "percent", "assets", "rated", times=100.0)
    over = draft.combined("over", "difference", "amount", "assets", "rated")
    draft.loans("price", "average", "price", column="price", name="average price")
    left = "leaves {over} for the notes below" if over >= 0 else "is short of them"
    yield draft.finding(
        "financial_health",
        "near" if over < 0 else "context" if draft["cover"] > 103.0 else "notable",
        "At market prices the rated notes are covered {cover}",
        f"The loans at their prices ({{market}}) and principal cash ({{cash}}) come to {{cover}} of the {{rated}} "
        f"that the "
        f"rated notes are owed, which {left}.",
        weight=-draft["cover"],
        coverage_pct=study.covered("price"),
        finance="The average price is {price}. Loans without a price and defaulted loans count as nothing here.",
        analyst="Loans without a price and defaulted loans count as nothing here.",
        methodology="Sum of par x price of the performing loans with a price, and principal cash, over the balance of "
        "all notes but the income notes.",
    )


def spread(study: Study) -> Iterator[StudyFinding]:
    """Yield what the loans pay over their index beside what the rated notes cost."""
    if study.subject.portfolio.tranches is None or not study.columns.has("spread"):
        return
    draft = study.draft("spread")
    floating = study.floating()
    earned = draft.loans("earned", "average", "bps", *floating, column="spread", name="average spread of the loans")
    cost = draft.loans(
        "cost", "average", "bps", column="spread", loans="notes", name="average spread of the rated notes"
    )
    if earned is None or cost is None:
        return
    draft.combined("margin", "difference", "bps", "earned", "cost")
    draft.loans(
        "income", "weighted", "amount", *floating, column="spread", times=1e-4, name="spread of the loans in a year"
    )
    draft.loans(
        "paid", "weighted", "amount", column="spread", times=1e-4, loans="notes", name="spread of the notes in a year"
    )
    draft.combined("left", "difference", "amount", "income", "paid")
    yield draft.finding(
        "financial_health",
        "notable" if draft["margin"] < 100 else "context",
        "The loans pay {margin} more than the rated notes cost",
        "The loans pay {earned} over their index on average, the rated notes cost {cost}: a margin of {margin}.",
        coverage_pct=study.covered("spread"),
        weight=-draft["margin"] / 100,
        finance="In a year that is {income} of spread against {paid}, {left} between them, before fees, floors and "
        "losses.",
        executive="In a year their spread brings {left} more than the notes cost, before fees and losses.",
        analyst="Fixed-rate loans are left out, and floors count for nothing here.",
        methodology="Mean spread of the performing floating-rate loans weighted by par, less that of the rated "
        "notes weighted by "
        "balance.",
    )


def cash(study: Study) -> Iterator[StudyFinding]:
    """Principal cash, where it is negative or more than a little."""
    principal_cash = study.subject.measured.deal.principal_cash
    if principal_cash is None or not np.isfinite(principal_cash) or study.pool.cpa <= 0:
        return
    draft = study.draft("cash")
    draft.quote("cash", principal_cash, "amount", "deal.principal_cash")
    draft.loans("par", "sum", "amount", name="performing par")
    draft.combined("all", "total", "amount", "par", "cash")
    draft.combined("share", "quotient", "percent", "cash", "all", times=100.0)
    if principal_cash < 0:
        draft.restated("owed", "cash")
        yield draft.finding(
            "financial_health",
            "notable",
            "Principal cash is overdrawn by {owed}",
            "Principal cash stands at {cash}: purchases that are not settled or paid for come to more than there is.",
            operations="Check the settlement dates of open purchases against sales and repayments due.",
            finance="It counts against the collateral principal amount of {all}.",
            methodology="Principal cash as the file's page on accounts has it.",
        )
    else:
        yield draft.finding(
            "financial_health",
            "notable" if draft["share"] > 3.0 else "background",
            "{share} of the deal is in cash",
            "Principal cash is {cash}, {share} of the collateral principal amount of {all}.",
            weight=draft["share"],
            executive="Cash that is not invested earns less than the notes cost." if draft["share"] > 3.0 else "",
            methodology="Principal cash as the file has it, over performing par and that cash.",
        )


FINDERS: Final = (verdict, failing, thin, erosion, worth, spread, cash)
