"""The trustee's own figures beside ours.

Matched by subject, measured anew, and explained where a run shows why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET

from core.compliance.agreement import Agreement, Ours, Part, agreement_of
from core.compliance.conventions import definition_for
from core.compliance.ladders import masked_rows
from core.compliance.result import Skipped, Status, TestResult
from core.compliance.run import run_suite
from core.definition import Definition, to_document
from core.definition.choices import BY_NAME, CHOICES, Explanation, Option
from core.definition.terms import AGENCIES, MEASURES, PARAMETERS
from core.frames.figures import DECIMALS, DECIMALS_MAX
from core.interpretation.figures import FigureTest, figure_tests, with_ratio_classes, with_tests
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact


class TieOut(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the trustee's.

    Figures in percent points, years or plain numbers, as the file prints them.
    """

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
    """Whether both are the same. Numerator and denominator count to the cent where both are printed, else the value to
    half a unit of its last printed digit. Null: one of them is not known."""
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
    unit: str = ""
    """Unit of the figures, as the suite names it: percent (percent points), years, factor, score, amount or number.
    Empty: not known."""
    decimals: int = DECIMALS
    """Decimals to show the figures with: those of our test, or as many as the file prints."""


class TieOuts(list[TieOut]):
    """The figures that a file publishes, in its order, and the tests of ours that it publishes nothing of."""

    def __init__(self, rows: Iterable[TieOut], not_printed: Iterable[str]) -> None:
        super().__init__(rows)
        self.not_printed = list(not_printed)
        """Ids of the definition's tests that no figure of the file stands beside, in their order."""


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
    base, rules, asked, ours = _measure(portfolio, definition)
    rows = [_row(each, ours) for each in asked]
    apart = [at for at, row in enumerate(rows) if row.agrees is False]
    explained: dict[int, list[Explanation]] = {at: [] for at in apart}
    for why, variant, document, changed in _variants(portfolio, base):
        if all(why in explained[at] for at in apart):
            continue
        theirs = _run(variant, document, rules, [changed(asked[at]) for at in apart])
        for at in apart:
            if why not in explained[at] and _row(asked[at], theirs, why).agrees:
                explained[at].append(why)
    for at in apart:
        if not explained[at] and _is_last_digit(rows[at], asked[at].published):
            explained[at].append("rounding")
        elif not explained[at] and _is_left_open(asked[at].published, ours[rows[at].test_id or ""]):
            explained[at].append("blank_inputs")
    tied_rows = (
        msgspec.structs.replace(row, explained_by=explained[at]) if at in explained else row
        for at, row in enumerate(rows)
    )
    printed = {row.test_id for row in rows}
    return TieOuts(tied_rows, (test["id"] for test in base.get("tests", ()) if test["id"] not in printed))


def compare(portfolio: Portfolio, definition: Definition | str | None = None) -> list[TieOut]:
    """Return the rows of a tie-out without what explains their differences, which takes many runs."""
    _, _, asked, ours = _measure(portfolio, definition)
    return [_row(each, ours) for each in asked]


def _measure(
    portfolio: Portfolio, definition: Definition | str | None
) -> tuple[dict[str, Any], Definition, list[FigureTest], dict[str, TestResult | Skipped | str]]:
    """Return the document of the rules, the rules, the file's figures with the tests that measure them, and the
    results."""
    rules = definition_for(portfolio, definition) or Definition()
    base = with_ratio_classes(to_document(rules), portfolio)
    asked = figure_tests(portfolio, base, rules)
    return base, rules, asked, _run(portfolio, base, rules, asked)


def _run(
    portfolio: Portfolio, base: dict[str, Any], rules: Definition, asked: Iterable[FigureTest]
) -> dict[str, TestResult | Skipped | str]:
    """Test id -> the result, or why there is none, of just the tests that are asked for and those that they name."""
    own = {test["id"]: test for test in base.get("tests", ())}
    tests = own | {each.test["id"]: each.test for each in asked if each.test is not None}
    outcomes: dict[str, TestResult | Skipped | str] = {}
    definition, refused = with_tests(base, rules, tests)
    outcomes |= refused
    if tests:
        results = run_suite(portfolio, "deal", definition=definition)
        outcomes |= {each.test_id: each for each in results.skipped} | {result.test_id: result for result in results}
    return outcomes


def _row(asked: FigureTest, ours: dict[str, TestResult | Skipped | str], why: Explanation | None = None) -> TieOut:
    published, test, unmatched = asked.published, asked.test, asked.unmatched
    result = ours.get(test["id"], "not measured") if test is not None else unmatched.why if unmatched else "not matched"
    value, low, high = _figures(result)
    own = None if value is None else Ours(value, *_parts(result))
    is_left_open = why == "masked_ratings" and test is not None and _reads_ratings(test)
    agreement = _agreement(published, own, (low, high) if is_left_open else None)
    return TieOut(
        trustee_name=published.label,
        test_id=None if test is None else test["id"],
        measured_as=None if test is None else _test_words(test),
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
        unit=result.unit if isinstance(result, TestResult) else _TEST_UNITS.get(published.unit, published.unit or ""),
        decimals=_decimals(result, published),
    )


_TEST_UNITS: Final[dict[str | None, str]] = {"count": "number"}
"""Units of facts that tests name otherwise."""


def _decimals(result: TestResult | Skipped | str, published: Fact) -> int:
    """Return the decimals of our test, or those of the printed figure where these are more."""
    own = result.decimals if isinstance(result, TestResult) else DECIMALS
    return own if published.decimals is None else min(max(own, published.decimals), DECIMALS_MAX)


def _figures(result: TestResult | Skipped | str) -> tuple[float | None, float | None, float | None]:
    """Return a test's figure and the ends between which masked ratings leave it."""
    if isinstance(result, str):
        return None, None, None
    value, low, high = (None if each is UNSET else each for each in (result.current_value, result.low, result.high))
    return value, low, high


def _parts(result: TestResult | Skipped | str) -> tuple[float | None, float | None]:
    """Return what a test's figure has above and below the line.

    Nothing of a formula's figure, which is no ratio.
    """
    if not isinstance(result, TestResult) or result.details is None:
        return None, None
    numerator, denominator = (result.details.breakdown.get(name) for name in ("numerator", "denominator"))
    return (None, None) if denominator == 1.0 else (numerator, denominator)


def _same(asked: FigureTest) -> FigureTest:
    return asked


def _classify(asked: FigureTest, *, classification: str) -> FigureTest:
    """Return the row with its test under another list of industries, where it is about industries."""
    if asked.test is None or asked.test.get("measure") not in _CLASSIFIED:
        return asked
    return replace(asked, test={**asked.test, "classification": classification})


def takes_cash(test: Mapping[str, Any]) -> bool:
    """Return whether a test of a definition's document may have principal cash in its numerator, and has none."""
    measure = test.get("measure")
    takes = ("adds",) if "share" in test else () if measure is None else MEASURES[measure].takes
    return "adds" in takes and "nth" not in takes and "adds" not in test


def _with_cash(asked: FigureTest) -> FigureTest:
    """Return the row with principal cash in the numerator of its test."""
    if asked.test is None or asked.published.numerator is None or not takes_cash(asked.test):
        return asked
    return replace(asked, test={**asked.test, "adds": ["cash"]})


def _test_words(test: dict[str, Any]) -> str:
    """Return what a test measures in words: "ccc, agency b"."""
    what = test.get("measure") or test.get("share") or test.get("value")
    by_name = {name: test[name] for name in PARAMETERS if name in test}
    words = {name: " and ".join(each) if isinstance(each, list) else each for name, each in by_name.items()}
    return ", ".join([str(what), *(f"{name} {word}" for name, word in words.items())])


# ---- agreement -----------------------------------------------------------------------------------------------------


def _agreement(fact: Fact, own: Ours | None, ends: tuple[float | None, float | None] | None) -> Agreement:
    """Return whether the figures are the same.

    Of what masked ratings leave open, whether the printed one is between.
    """
    if ends is not None and None not in ends and fact.value is not None:
        return Agreement(None, _is_between(fact, *ends))
    return agreement_of(fact, own)


def _is_between(fact: Fact, low: float | None, high: float | None) -> bool:
    if fact.value is None or low is None or high is None:
        return False
    return low - fact.tolerance <= fact.value <= high + fact.tolerance


def _is_left_open(fact: Fact, result: TestResult | Skipped | str) -> bool:
    """Return whether the printed figure lies within what the blanks of the file leave open of ours."""
    _, low, high = _figures(result)
    return _is_between(fact, low, high)


def _reads_ratings(test: dict[str, Any]) -> bool:
    """Return whether masked ratings move a test.

    What else leaves it open is another explanation.
    """
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
    """Return whether the values differ by no more than one unit of the last printed digit, and nothing else does."""
    return row.differs == "value" and row.difference is not None and abs(row.difference) <= 2 * fact.tolerance


# ---- explanations --------------------------------------------------------------------------------------------------


def _change(base: dict[str, Any], section: str, **values: Any) -> dict[str, Any]:
    return {**base, section: {**base.get(section, {}), **values}}


def _variants(
    portfolio: Portfolio, base: dict[str, Any]
) -> Iterable[tuple[Explanation, Portfolio, dict[str, Any], Callable[[FigureTest], FigureTest]]]:
    """Yield the run's inputs with one choice made in another way.

    The last changes the tests that are about it.
    """
    ratings = base.get("ratings", {})
    for policy in BY_NAME["masked_a"].options if _has_masked(portfolio) else ():
        masked = {agency: {**ratings.get(agency, {}), "masked": policy.name} for agency in AGENCIES}
        if policy.sets:
            yield "masked_ratings", portfolio, _change(base, "ratings", **masked), _same
    for choice in CHOICES:
        if choice.explains is None or choice.explains in _BY_TEST:
            continue
        for option in choice.options:
            if len(option.sets) == 1 and not _is_said(base, option, is_default=option is choice.options[0]):
                yield choice.explains, portfolio, _with_option(base, option), _same
    for option in BY_NAME["industry"].options[1:]:
        yield "classification", portfolio, base, partial(_classify, classification=option.name)
    yield "principal_cash", portfolio, base, _with_cash
    deal = portfolio.deal
    for day in (deal.next_payment, deal.closing_date):
        if day is not None and day != deal.as_of:
            yield "as_of", replace(portfolio, deal=replace(deal, as_of=day)), base, _same


_BY_TEST: Final = ("masked_ratings", "classification")
"""Explanations that every agency has at once, or that each test has for itself."""


def _is_said(base: Mapping[str, Any], option: Option, *, is_default: bool) -> bool:
    """Return whether a document reads a choice so already."""
    for setting in option.sets:
        section, name = setting.path
        own_section = base.get(section, {})
        if not (own_section[name] == setting.document if name in own_section else is_default):
            return False
    return True


def _with_option(base: dict[str, Any], option: Option) -> dict[str, Any]:
    for setting in option.sets:
        section, name = setting.path
        base = _change(base, section, **{name: setting.document})
    return base


_CLASSIFIED: Final = frozenset(("industry", "diversity", "industry_diversity", "sdr", "cdo_monitor"))
