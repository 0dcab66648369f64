"""The trustee's own figures beside ours: matched by name, measured anew, and explained where a run shows why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import msgspec
import numpy as np
from msgspec import UNSET

from core.compliance.conventions import definition_for
from core.compliance.published import PARAMETERS, tolerance_of
from core.compliance.result import Skipped, Status, TestResult
from core.compliance.run import run_suite
from core.definition import Definition, DefinitionError, parse, to_document
from core.definition.names import class_of, recognised
from core.portfolio.cells.parsing import key
from core.portfolio.facts import Fact
from core.portfolio.portfolio import Portfolio

PUBLISHED_MAX: Final = 500
"""Rows of a file's tests that are set beside ours."""

Explanation = Literal[
    "masked_ratings", "rounding", "principal_cash", "classification", "defaulted_in_denominator", "recovery_agency",
    "haircuts", "as_of",
]  # fmt: skip


class TieOut(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the trustee's tests. Figures in percent points, years or plain numbers, as the file prints them."""

    trustee_name: str
    """Name of the test in the trustee's file."""
    test_id: str | None
    """Our test of that name. Null: none is known, and there is no figure of ours."""
    measured_as: str | None
    """What was measured for it: a measure with its parameters, or a formula. Null: nothing."""
    trustee_value: float | None
    """The file's figure. Null: it prints none."""
    our_value: float | None
    """Our figure under the same rules and trigger. Null: see `reason`."""
    difference: float | None
    """Our figure less the trustee's."""
    agrees: bool | None
    """Whether both are the same to the last digit that is printed. Null: one of them is not known."""
    trigger: float | None
    """The limit that the file prints. Null: none."""
    our_status: Status | None
    """Outcome of our test: pass, warning or fail."""
    trustee_status: Literal["pass", "fail"] | None
    """Outcome that the file prints."""
    explained_by: list[Explanation]
    """Rules a change of which, each alone, makes our figure the trustee's."""
    reason: str | None
    """Why there is no figure of ours. Null: there is one."""
    cell: str
    """Cell of the file in which the test stands."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A published row and the test that measures it."""

    published: Fact
    test: dict[str, Any] | None
    """As in a definition's document."""


def tie_out(portfolio: Portfolio, definition: Definition | str | None = None) -> list[TieOut]:
    """Every test that the file publishes, in its order, with our figure under the same rules and trigger.

    A name is that of a test of the definition (its name, id or an alias), else it is recognised by its words. What is
    not matched is listed without a figure of ours.

    Args:
        definition: the deal's rules and tests, or the name of a ready-made one; None for those by which a run without
            one goes.
    """
    base = _with_ratio_classes(to_document(definition_for(portfolio, definition) or Definition()), portfolio)
    asked = [_asked(published, at, base) for at, published in enumerate(portfolio.facts.tests[:PUBLISHED_MAX])]
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
        if not explained[at] and _is_last_digit(rows[at]):
            explained[at].append("rounding")
    return [
        msgspec.structs.replace(row, explained_by=explained[at]) if at in explained else row
        for at, row in enumerate(rows)
    ]


# ---- matching ------------------------------------------------------------------------------------------------------


def _asked(published: Fact, at: int, base: dict[str, Any]) -> _Asked:
    words = key(published.name)
    for test in base.get("tests", ()):
        if words in {key(name) for name in (test["name"], test["id"], *test.get("aliases", ()))}:
            return _Asked(published, _with_trigger(test, published) if base.get("standard") else test)
    found = recognised(published.name, published.trigger)
    if found is None:
        return _Asked(published, None)
    told, side = found
    for test in base.get("tests", ()):
        if {name: test[name] for name in ("measure", "share", "value", *PARAMETERS) if name in test} == told:
            return _Asked(published, _with_trigger(test, published) if base.get("standard") else test)
    limit = 0.0 if published.trigger is None else published.trigger
    test_id = f"published_{at + 1}"
    if base.get("standard") and told.get("measure") in ("oc", "ic"):  # as a run by the market's standard calls it
        test_id = f"{told['measure']}_class_{told['class'].replace('/', '').lower()}"
    return _Asked(published, {"id": test_id, "name": published.name, **told, side: limit})


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
        results = run_suite(portfolio, "deal", definition=definition, details=False)
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
    published = next((one for one in portfolio.facts.tests if _is_reinvestment(one)), None)
    if not len(tested) or published is None:
        return base
    name = notes.classes[int(tested[-1])]
    return {**base, "reinvestment_oc": {"class": class_of(name) or name, "trigger": published.trigger}}


def _is_reinvestment(published: Fact) -> bool:
    found = recognised(published.name, published.trigger)
    return found is not None and found[0].get("measure") == "reinvestment_oc" and published.trigger is not None


def _row(asked: _Asked, ours: dict[str, TestResult | Skipped | str], why: Explanation | None = None) -> TieOut:
    published, test = asked.published, asked.test
    result = "no test of ours is known by this name" if test is None else ours.get(test["id"], "not measured")
    value, low, high = _figures(result)
    known = value is not None and published.value is not None
    return TieOut(
        trustee_name=published.name,
        test_id=None if test is None else test["id"],
        measured_as=None if test is None else _told(test),
        trustee_value=published.value,
        our_value=value,
        difference=None if value is None or published.value is None else round(value - published.value, 9),
        agrees=_agree(value, low, high, published.value, why) if known else None,
        trigger=published.trigger,
        our_status=result.status if isinstance(result, TestResult) else None,
        trustee_status=published.status,
        explained_by=[],
        reason=result if isinstance(result, str) else result.reason if isinstance(result, Skipped) else None,
        cell=published.cell,
    )


def _figures(result: TestResult | Skipped | str) -> tuple[float | None, float | None, float | None]:
    """A test's figure and the ends between which masked ratings leave it."""
    if isinstance(result, str):
        return None, None, None
    value, low, high = (None if one is UNSET else one for one in (result.current_value, result.low, result.high))
    return value, low, high


def _classified(asked: _Asked, classification: str | None) -> _Asked:
    """The row with its test under another list of industries, where it is about industries."""
    if classification is None or asked.test is None or asked.test.get("measure") not in _CLASSIFIED:
        return asked
    return replace(asked, test={**asked.test, "classification": classification})


def _told(test: dict[str, Any]) -> str:
    """What a test measures in words: "ccc, agency b"."""
    what = test.get("measure") or test.get("share") or test.get("value")
    return ", ".join([str(what), *(f"{name} {test[name]}" for name in PARAMETERS if name in test)])


# ---- agreement -----------------------------------------------------------------------------------------------------


def _agree(
    value: float | None, low: float | None, high: float | None, printed: float | None, why: Explanation | None
) -> bool:
    assert value is not None
    assert printed is not None
    if why == "masked_ratings" and low is not None and high is not None:
        return low - tolerance_of(printed) <= printed <= high + tolerance_of(printed)
    return abs(value - printed) <= tolerance_of(printed)


def _is_last_digit(row: TieOut) -> bool:
    """Whether the figures differ by no more than one unit of the last printed digit."""
    assert row.trustee_value is not None
    assert row.difference is not None
    return abs(row.difference) <= 2 * tolerance_of(row.trustee_value)


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
    for policy in ("bounds", "left_out", "other_agency"):
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
