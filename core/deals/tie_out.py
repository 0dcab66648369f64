"""The trustee's own figures beside ours: matched by subject, measured anew, and explained where a run shows why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import msgspec
import numpy as np
from msgspec import UNSET

from core.compliance.agreement import Agreement, Ours, Part, agreement_of
from core.compliance.conventions import definition_for, masked_rows, printed_agency
from core.compliance.coverage import letter_of
from core.compliance.deal_suite import tests_of, with_coverage
from core.compliance.matching import (
    Pairs,
    Terms,
    Unmatched,
    pair_figures,
    suite_said,
    terms_of,
    with_counted_decimals,
)
from core.compliance.result import Skipped, Status, TestResult
from core.compliance.run import pools_of, run_suite
from core.definition import Definition, DefinitionError, parse, to_document
from core.definition.names import NoMeaning, meaning_of_fact
from core.definition.terms import PARAMETERS, SUITE_TESTS
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact

PUBLISHED_MAX: Final = 500
"""Figures of a file that are set beside ours."""

NAME_MAX: Final = 200
"""Characters of a label that name the test which is made for it."""

Explanation = Literal[
    "masked_ratings", "rounding", "principal_cash", "classification", "defaulted_in_denominator", "recovery_agency",
    "haircuts", "as_of", "blank_inputs",
]  # fmt: skip


class TieOut(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the trustee's. Figures in percent points, years or plain numbers, as the file prints them."""

    trustee_name: str
    """Name of the test in the trustee's file."""
    test_id: str | None
    """Our test of the same subject. Null: none, and there is no figure of ours; `nearest` and `why_not` say why."""
    measured_as: str | None
    """What was measured for it: a measure with its parameters, or a formula. Null: nothing."""
    trustee_value: float | None
    """The file's figure. Null: it prints none."""
    our_value: float | None
    """Our figure under the same rules and trigger. Null: see `reason`."""
    difference: float | None
    """Our figure less the trustee's."""
    trustee_numerator: float | None
    """What the file prints above the line. Null: nothing."""
    our_numerator: float | None
    """What our figure has above the line. Null: there is no figure of ours, or it is no ratio."""
    trustee_denominator: float | None
    """What the file prints below the line. Null: nothing."""
    our_denominator: float | None
    """What our figure has below the line. Null: there is no figure of ours, or it is no ratio."""
    differs: Part | None
    """The first of numerator, denominator and value that is another. Null: none that is known to both."""
    agrees: bool | None
    """Whether both are the same: numerator and denominator to the cent where both are printed, else the value to half a
    unit of its last printed digit. Null: one of them is not known."""
    trigger: float | None
    """The limit that the file prints. Null: none."""
    our_status: Status | None
    """Outcome of our test: pass, warning or fail."""
    trustee_status: Literal["pass", "fail"] | None
    """Outcome that the file prints."""
    explained_by: list[Explanation]
    """Rules a change of which, each alone, makes our figure the trustee's; blank_inputs: the trustee's lies within what
    blanks of the file leave open."""
    reason: str | None
    """Why there is no figure of ours. Null: there is one."""
    nearest: str | None
    """Where no test is matched, the id of our test that comes nearest. Null: one is matched, or none is like it."""
    why_not: str | None
    """Why the nearest test was not taken, or why there is none. Null: a test is matched."""
    cell: str
    """Cell of the file in which the figure stands."""


class TieOuts(list[TieOut]):
    """The figures that a file publishes, in its order, and the tests of ours that it publishes nothing of."""

    def __init__(self, rows: Iterable[TieOut], not_printed: Iterable[str]) -> None:
        super().__init__(rows)
        self.not_printed = list(not_printed)
        """Ids of the definition's tests that no figure of the file stands beside, in their order."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A published figure and the test that measures it."""

    published: Fact
    test: dict[str, Any] | None
    """As in a definition's document."""
    unmatched: Unmatched | None = None
    """Why there is no test."""


def tie_out(portfolio: Portfolio, definition: Definition | str | None = None) -> TieOuts:
    """Every test and figure that the file publishes, in its order, with our figure under the same rules and trigger.

    A figure is matched by its name in the definition (a test's name, id or alias), else by what its words are about.
    What is not matched is listed with our nearest test, and why that is another; so are our tests that the file does
    not print.

    Args:
        portfolio: the loans, and the facts that their file prints.
        definition: the deal's rules and tests, or the name of a ready-made one; None for those by which a run without
            one goes.
    """
    base = _with_ratio_classes(to_document(definition_for(portfolio, definition) or Definition()), portfolio)
    asked = _asked(portfolio, base)
    ours = _run(portfolio, base, asked)
    rows = [_row(one, ours) for one in asked]
    apart = [at for at, row in enumerate(rows) if row.agrees is False]
    explained: dict[int, list[Explanation]] = {at: [] for at in apart}
    for why, other, document, classification in _variants(portfolio, base):
        if all(why in explained[at] for at in apart):
            continue
        theirs = _run(other, document, [_classified(asked[at], classification) for at in apart])
        for at in apart:
            if why not in explained[at] and _row(asked[at], theirs, why).agrees:
                explained[at].append(why)
    for at in apart:
        if not explained[at] and _is_last_digit(rows[at], asked[at].published):
            explained[at].append("rounding")
        elif not explained[at] and _is_left_open(asked[at].published, ours[rows[at].test_id or ""]):
            explained[at].append("blank_inputs")
    told = (
        msgspec.structs.replace(row, explained_by=explained[at]) if at in explained else row
        for at, row in enumerate(rows)
    )
    printed = {row.test_id for row in rows}
    return TieOuts(told, (test["id"] for test in base.get("tests", ()) if test["id"] not in printed))


# ---- matching ------------------------------------------------------------------------------------------------------


def _asked(portfolio: Portfolio, base: dict[str, Any]) -> list[_Asked]:
    """The file's figures with the tests that measure them: the definition's where one is about the same, else a test
    that is made for the figure."""
    figures = with_counted_decimals(portfolio.facts.figures)[:PUBLISHED_MAX]
    pairs, industries = _pairs(portfolio, base, figures)
    matched: dict[int, str] = {}
    for match in pairs.found:
        if not _is_of_every_agency(match.published, _own(base, match.test.test_id)):
            matched.setdefault(id(match.published), match.test.test_id)
    left = {id(one.published): one for one in pairs.listed if not one.is_measurable}
    taken = {test["id"] for test in base.get("tests", ())} | set(matched.values())
    asked = []
    for at, fact in enumerate(figures):
        if id(fact) in left:
            asked.append(_Asked(fact, None, left[id(fact)]))
            continue
        meaning, test_id = meaning_of_fact(fact), matched.get(id(fact))
        own = None if test_id is None else _own(base, test_id)
        if own is not None:
            asked.append(_Asked(fact, _with_trigger(own, fact) if base.get("standard") else own))
            continue
        if isinstance(meaning, NoMeaning):
            asked.append(_Asked(fact, None, Unmatched(fact, None, meaning.why)))
            continue
        said = {name: value for name, value in meaning.test.items() if (name, value) != ("classification", industries)}
        test_id = test_id or _new_id(said, taken, at)
        taken.add(test_id)
        limit = 0.0 if fact.trigger is None else fact.trigger
        asked.append(_Asked(fact, {"id": test_id, "name": _name(fact.label), **said, meaning.side: limit}))
    return asked


def _pairs(portfolio: Portfolio, base: dict[str, Any], figures: Sequence[Fact]) -> tuple[Pairs, str | None]:
    """The figures beside the definition's tests, and those of a ready-made one for the classes of the file; the agency
    whose industries the loans have where nothing else is said."""
    rules = parse(base, own_fields=None)
    pool = next(iter(pools_of(portfolio, rules)), None)
    terms = Terms(
        rules.conventions.home_countries, printed_agency(portfolio, "warr"), printed_agency(portfolio, "industry")
    ) if pool is None else terms_of(pool)  # fmt: skip
    if rules.standard:
        rules, _ = with_coverage(rules, pool)
    own = {test.id: test for test in rules.tests}
    return pair_figures(tests_of(rules), own, terms, figures), terms.industry_agency


def _own(base: Mapping[str, Any], test_id: str) -> dict[str, Any] | None:
    return next((test for test in base.get("tests", ()) if test["id"] == test_id), None)


def _is_of_every_agency(fact: Fact, own: dict[str, Any] | None) -> bool:
    """Whether one agency's bucket stands beside the greatest of all: it is measured by that agency alone."""
    subject = fact.subject
    return bool(own and own.get("measure") == "ccc" and "agency" not in own and subject and subject.agency)


def _new_id(said: Mapping[str, Any], taken: set[str], at: int) -> str:
    """The id of a test that is made for a figure: that of a run's test which measures the same."""
    if said.get("measure") in ("oc", "ic"):
        usual = f"{said['measure']}_class_{said['class'].replace('/', '').lower()}"
    else:
        is_moodys = said.get("agency") == "a" and said.get("measure") in ("warf", "warr")
        plain = {name: value for name, value in said.items() if name != "agency" or not is_moodys}
        usual = next((test_id for test_id in SUITE_TESTS if suite_said(test_id) == plain), "")
    return f"published_{at + 1}" if not usual or usual in taken else usual


def _name(label: str) -> str:
    """A label as the name of a test."""
    return label[:NAME_MAX].strip() or "Test"


def _with_trigger(test: dict[str, Any], published: Fact) -> dict[str, Any]:
    """A market's test with the limit of the deal: what the file says."""
    side = next((side for side in ("max", "min") if side in test), None)
    if side is None or published.trigger is None:
        return test
    return {name: test[name] for name in test if name not in ("warning", "steps")} | {side: published.trigger}


def _run(portfolio: Portfolio, base: dict[str, Any], asked: Iterable[_Asked]) -> dict[str, TestResult | Skipped | str]:
    """Test id -> the result, or why there is none, of just the tests that are asked for and those that they name."""
    own = {test["id"]: test for test in base.get("tests", ())}
    tests = own | {one.test["id"]: one.test for one in asked if one.test is not None}
    found: dict[str, TestResult | Skipped | str] = {}
    definition = _parsed(base, tests, found)
    if tests:
        results = run_suite(portfolio, "deal", definition=definition)
        found |= {one.test_id: one for one in results.skipped} | {one.test_id: one for one in results}
    return found


def _parsed(base: dict[str, Any], tests: dict[str, Any], refused: dict[str, TestResult | Skipped | str]) -> Definition:
    """The definition with these tests; those for which it lacks something are taken out of them, with the reason."""
    try:
        return parse({**base, "tests": list(tests.values())}, own_fields=None)
    except DefinitionError as error:
        ids, faults = list(tests), [(_PLACE.match(place), message) for place, message in error.faults]
        if not all(place for place, _ in faults):
            raise
        for place, message in faults:
            assert place is not None
            refused[ids[int(place[1])]] = f"the definition does not say how: {message}"
            tests.pop(ids[int(place[1])], None)
        return parse({**base, "tests": list(tests.values())}, own_fields=None)


_PLACE: Final = re.compile(r"tests\[(\d+)\]")


def _with_ratio_classes(base: dict[str, Any], portfolio: Portfolio) -> dict[str, Any]:
    """The document with the class of the reinvestment test, which is the most junior one with an OC trigger."""
    notes = portfolio.tranches
    if notes is None or "reinvestment_oc" in base:
        return base
    tested = np.flatnonzero(~np.isnan(notes.oc_trigger) & ~notes.is_income)
    published = next((fact for fact in portfolio.facts.of("test", "reinvestment") if fact.trigger is not None), None)
    if not len(tested) or published is None:
        return base
    name = notes.classes[int(tested[-1])]
    return {**base, "reinvestment_oc": {"class": letter_of(name) or name, "trigger": published.trigger}}


def _row(asked: _Asked, ours: dict[str, TestResult | Skipped | str], why: Explanation | None = None) -> TieOut:
    published, test, unmatched = asked.published, asked.test, asked.unmatched
    result = ours.get(test["id"], "not measured") if test is not None else unmatched.why if unmatched else "not matched"
    value, low, high = _figures(result)
    own = None if value is None else Ours(value, *_parts(result))
    is_left_open = why == "masked_ratings" and test is not None and _reads_ratings(test)
    agreement = _agreement(published, own, (low, high) if is_left_open else None)
    return TieOut(
        trustee_name=published.label,
        test_id=None if test is None else test["id"],
        measured_as=None if test is None else _told(test),
        trustee_value=published.value,
        our_value=value,
        difference=None if value is None or published.value is None else round(value - published.value, 9),
        trustee_numerator=published.numerator,
        our_numerator=None if own is None else own.numerator,
        trustee_denominator=published.denominator,
        our_denominator=None if own is None else own.denominator,
        differs=agreement.differs,
        agrees=agreement.agrees,
        trigger=published.trigger,
        our_status=result.status if isinstance(result, TestResult) else None,
        trustee_status=published.status,
        explained_by=[],
        reason=result if isinstance(result, str) else result.reason if isinstance(result, Skipped) else None,
        nearest=None if unmatched is None else unmatched.nearest,
        why_not=None if unmatched is None else unmatched.why,
        cell=published.place,
    )


def _figures(result: TestResult | Skipped | str) -> tuple[float | None, float | None, float | None]:
    """A test's figure and the ends between which masked ratings leave it."""
    if isinstance(result, str):
        return None, None, None
    value, low, high = (None if one is UNSET else one for one in (result.current_value, result.low, result.high))
    return value, low, high


def _parts(result: TestResult | Skipped | str) -> tuple[float | None, float | None]:
    """What a test's figure has above and below the line; nothing of a formula's figure, which is no ratio."""
    if not isinstance(result, TestResult) or result.details is None:
        return None, None
    numerator, denominator = (result.details.breakdown.get(name) for name in ("numerator", "denominator"))
    return (None, None) if denominator == 1.0 else (numerator, denominator)


def _classified(asked: _Asked, classification: str | None) -> _Asked:
    """The row with its test under another list of industries, where it is about industries."""
    if classification is None or asked.test is None or asked.test.get("measure") not in _CLASSIFIED:
        return asked
    return replace(asked, test={**asked.test, "classification": classification})


def _told(test: dict[str, Any]) -> str:
    """What a test measures in words: "ccc, agency b"."""
    what = test.get("measure") or test.get("share") or test.get("value")
    said = {name: test[name] for name in PARAMETERS if name in test}
    words = {name: " and ".join(one) if isinstance(one, list) else one for name, one in said.items()}
    return ", ".join([str(what), *(f"{name} {one}" for name, one in words.items())])


# ---- agreement -----------------------------------------------------------------------------------------------------


def _agreement(fact: Fact, own: Ours | None, ends: tuple[float | None, float | None] | None) -> Agreement:
    """Whether the figures are the same; of what masked ratings leave open, whether the printed one is between."""
    if ends is not None and None not in ends and fact.value is not None:
        return Agreement(None, _is_between(fact, *ends))
    return agreement_of(fact, own)


def _is_between(fact: Fact, low: float | None, high: float | None) -> bool:
    if fact.value is None or low is None or high is None:
        return False
    return low - fact.tolerance <= fact.value <= high + fact.tolerance


def _is_left_open(fact: Fact, result: TestResult | Skipped | str) -> bool:
    """Whether the printed figure lies within what the blanks of the file leave open of ours."""
    _, low, high = _figures(result)
    return _is_between(fact, low, high)


def _reads_ratings(test: dict[str, Any]) -> bool:
    """Whether masked ratings move a test: what else leaves it open is another explanation."""
    return test.get("measure") in _RATED or "rank" in (test.get("share") or test.get("value") or "")


_RATED: Final = frozenset((
    "ccc", "warf", "oc", "reinvestment_oc", "event_of_default", "spwarf", "default_rate_dispersion", "sdr", "bdr",
    "cdo_monitor", "cdo_monitor_wal",
))  # fmt: skip


def _has_masked(portfolio: Portfolio) -> bool:
    return any(
        masked_rows(portfolio, name) is not None for name in portfolio.ranks if name.startswith("rating_agency_")
    )


def _is_last_digit(row: TieOut, fact: Fact) -> bool:
    """Whether the values differ by no more than one unit of the last printed digit, and nothing else does."""
    return row.differs == "value" and row.difference is not None and abs(row.difference) <= 2 * fact.tolerance


# ---- explanations --------------------------------------------------------------------------------------------------


def _changed(base: dict[str, Any], section: str, **values: Any) -> dict[str, Any]:
    return {**base, section: {**base.get(section, {}), **values}}


_SECTIONS: Final[tuple[tuple[Explanation, str, str, Sequence[Any]], ...]] = (
    ("principal_cash", "conventions", "principal_cash", ("all", "positive", "none")),
    ("defaulted_in_denominator", "conventions", "defaulted_in_denominator", ("none", "carried", "par")),
    ("recovery_agency", "ratings", "recovery", ([], ["a"], ["b"], ["c"])),
    ("haircuts", "par_value", "ccc_excess", (False,)),
    ("haircuts", "par_value", "discount", (False,)),
)
"""What a rule may be changed to, to see whether it explains a difference: why, section, key, its values."""


def _variants(
    portfolio: Portfolio, base: dict[str, Any]
) -> Iterable[tuple[Explanation, Portfolio, dict[str, Any], str | None]]:
    """The run's inputs with one thing changed; the last is another list of industries."""
    ratings = base.get("ratings", {})
    for policy in ("bounds", "left_out", "other_agency") if _has_masked(portfolio) else ():
        masked = {agency: {**ratings.get(agency, {}), "masked": policy} for agency in ("a", "b", "c")}
        yield "masked_ratings", portfolio, _changed(base, "ratings", **masked), None
    for why, section, name, values in _SECTIONS:
        for value in values:
            yield why, portfolio, _changed(base, section, **{name: value}), None
    for classification in ("a", "b", "c"):
        yield "classification", portfolio, base, classification
    deal = portfolio.deal
    for day in (deal.next_payment, deal.closing_date):
        if day is not None and day != deal.as_of:
            yield "as_of", replace(portfolio, deal=replace(deal, as_of=day)), base, None


_CLASSIFIED: Final = frozenset(("industry", "diversity", "industry_diversity", "sdr", "cdo_monitor"))
