"""The trustee's figure beside ours.

Which of a file's figures stands beside a test, and whether the two tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from core.compliance.agreement import Agreement, Ours, agreement_of
from core.compliance.kernels import rounded
from core.compliance.matching import Match
from core.compliance.pool_sums import Measurement, Pool
from core.compliance.result import PublishedFigure, Status, TestResult
from core.compliance.suites import UNIT_SIGNS, Test
from core.definition.definition import DealTest
from core.definition.terms import AGENCIES
from core.portfolio.model.facts import Fact
from core.portfolio.model.notes import DataWarning

SIGNIFICANT: Final = 6
"""Digits of a difference in a message, where its decimals show none."""


PART_CHARACTERS: Final = 15_000
"""Of a warning's list of tests: less than any page or cell cuts."""


class Beside(NamedTuple):
    """A test of ours with the file's figure of it."""

    fact: Fact
    figure: PublishedFigure
    agreement: Agreement
    is_to_the_cent: bool
    """Numerator and denominator are printed, and are ours."""


def beside_tests(matches: Iterable[Match], pool: Pool | None, own: Mapping[str, DealTest]) -> dict[str, Fact]:
    """Return the file's figure of each test, by test id.

    Of a test by the agency that sees the most, that agency's; `own` are the tests of a definition.
    """
    facts: dict[str, Fact] = {}
    listed: dict[str, list[Fact]] = {}
    for match in matches:
        listed.setdefault(match.test.test_id, []).append(match.published)
    for test_id, some in listed.items():
        chosen = (
            some[0]
            if len(some) == 1 and _agency(some[0]) is None
            else _of_agency(some, pool, is_of_all=_is_of_all(test_id, own.get(test_id)))
        )
        if chosen is not None:
            facts[test_id] = chosen
    return facts


def _agency(fact: Fact) -> str | None:
    return None if fact.subject is None else fact.subject.agency


def _is_of_all(test_id: str, own: DealTest | None) -> bool:
    """Return whether a test is of the CCC bucket of all agencies."""
    return test_id == "ccc_bucket_pct" if own is None else own.measure == "ccc" and own.agency is None


def _of_agency(facts: list[Fact], pool: Pool | None, *, is_of_all: bool) -> Fact | None:
    """Of figures of one test by several agencies the one whose agency decides ours, else one of no agency; where there
    are no loans to decide, the greatest."""
    if not is_of_all:
        return facts[0]
    if pool is None:
        return max(facts, key=lambda fact: (_agency(fact) is None, fact.value or 0.0))
    deciding = AGENCIES[pool.ccc[0]]
    return next((fact for wanted in (deciding, None) for fact in facts if _agency(fact) == wanted), None)


def beside(fact: Fact, test: Test, measured: Measurement | None) -> Beside:
    """Return a file's figure beside ours; without ours, alone."""
    is_in_unit = not (fact.unit in ("amount", "count") and test.unit in ("percent", "years", "factor", "score"))
    is_ratio = measured is not None and measured.denominator != 1.0
    ours = (
        None
        if measured is None or not is_in_unit
        else Ours(rounded(measured.value), *((measured.numerator, measured.denominator) if is_ratio else (None, None)))
    )
    agreement = agreement_of(fact, ours)
    difference = None if ours is None or fact.value is None else rounded(ours.value - fact.value)
    figure = PublishedFigure(
        name=fact.label,
        value=fact.value if is_in_unit else None,
        numerator=fact.numerator,
        denominator=fact.denominator,
        trigger=fact.trigger,
        status=fact.status,
        place=fact.place,
        difference=difference,
        agrees=agreement.agrees,
    )
    has_both = fact.numerator is not None and fact.denominator is not None
    return Beside(fact, figure, agreement, has_both and is_ratio and agreement.agrees is True)


def contradicts(figure: PublishedFigure | None, status: Status) -> bool:
    """Return whether the file prints the other status: a warning passes."""
    return figure is not None and figure.status is not None and (figure.status == "fail") != (status == "fail")


def differs(test_result: TestResult) -> bool:
    """Return whether the trustee has another figure or status than a result."""
    return test_result.published is not None and (
        test_result.published.agrees is False or contradicts(test_result.published, test_result.status)
    )


def difference_words(test: Test, beside_figure: Beside, measured: Measurement, status: Status) -> str:
    """Return what differs between the two, in words.

    The first of numerator, denominator and value, then the status.
    """
    figure, sign = beside_figure.figure, UNIT_SIGNS[test.unit]
    if beside_figure.agreement.differs == "numerator" and figure.numerator is not None:
        part = f"the trustee's numerator is {figure.numerator:,.2f}, ours {measured.numerator:,.2f}"
    elif beside_figure.agreement.differs == "denominator" and figure.denominator is not None:
        part = f"the trustee's denominator is {figure.denominator:,.2f}, ours {measured.denominator:,.2f}"
    else:
        part = ""
    words = "" if figure.value is None else f"the trustee has {_show(figure.value)}{sign}, ours is "
    words += "" if figure.value is None else f"{_show(rounded(measured.value))}{sign}"
    if contradicts(figure, status):
        here = "fail" if status == "fail" else "pass"
        words += f"{'; ' if words else ''}its status is {figure.status}, ours {here}"
    guess = "; its column is a guess" if beside_figure.fact.is_guessed else ""
    return f"{words}{': ' if part and words else ''}{part}{guess}"


def _show(value: float) -> str:
    """Return a figure to two decimals, or to what it has where these show nothing of it."""
    return f"{value:,.2f}" if not value or abs(value) >= 1 else f"{value:.{SIGNIFICANT}g}"


def other_figures(results: Iterable[TestResult]) -> Iterator[DataWarning]:
    """Yield a warning with all tests of which the file publishes another figure or status, other statuses first;
    several where they are too many for the length of one."""
    differing = []
    for result in results:
        figure = result.published
        if figure is None or not differs(result):
            continue
        is_same_status = not contradicts(figure, result.status)
        here = "fail" if result.status == "fail" else "pass"
        words = "" if is_same_status else f" ({here} here, {figure.status} there)"
        value = "" if figure.value is None else f" {figure.value:g}"
        differing.append((is_same_status, f"{result.test_name}{value}, here {result.current_value:.2f}{words}"))
    part: list[str] = []
    for _, words in sorted(differing, key=lambda each: each[0]):
        if part and sum(map(len, part)) + len(words) + 2 * len(part) > PART_CHARACTERS:
            yield _differing(part)
            part = []
        part.append(words)
    if part:
        yield _differing(part)


def _differing(sentences: list[str]) -> DataWarning:
    return DataWarning("published_differs", f"the file publishes other figures: {'; '.join(sentences)}", len(sentences))
