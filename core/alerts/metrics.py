"""The metrics that an alert may watch: which test of a run each one is.

In a run of the suites `standard` and `enhanced` a metric is the test of its name. The suite `deal` has the tests of an
indenture under names of their own: there it is the test of that name, else one that measures the same. Where several
do, `pick` says which: of shares and factors the greatest, as the strictest reader would have it (several agencies see
different CCC buckets), of spreads the least, and of coverage ratios that of the lowest class, which
breaks first: the one of the last letter, of several the last that the indenture names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal, NamedTuple

from core.compliance.coverage import letter_of
from core.compliance.deal_suite import class_test_named
from core.compliance.result import TestResult
from core.compliance.suites import DEAL_SUITE, TESTS, UNIT_SIGNS
from core.definition.definition import DealTest, Definition

Metric = Literal[
    "single_obligor_concentration",
    "top_5_concentration",
    "industry_concentration",
    "ccc_bucket_pct",
    "average_rating_factor",
    "oc_ratio",
    "ic_ratio",
    "wal",
    "was",
]


class _Row(NamedTuple):
    measure: str
    """Of the catalogue of definitions."""
    pick: Literal["greatest", "least", "lowest class"]
    nth: int | None = None
    agencies: tuple[str | None, ...] = ()
    """Whose; none: anybody's."""


METRICS: Final[dict[Metric, _Row]] = {
    "single_obligor_concentration": _Row("obligor", "greatest", nth=1),
    "top_5_concentration": _Row("top_obligors", "greatest", nth=5),
    "industry_concentration": _Row("industry", "greatest", nth=1),
    "ccc_bucket_pct": _Row("ccc", "greatest"),
    "average_rating_factor": _Row("warf", "greatest", agencies=(None, "a")),  # others' factors are other scales
    "oc_ratio": _Row("oc", "lowest class"),
    "ic_ratio": _Row("ic", "lowest class"),
    "wal": _Row("wal", "greatest"),
    "was": _Row("was", "least"),
}


def metric_test(
    metric: Metric, suite: str, results: Iterable[TestResult], skipped: Iterable[str], definition: Definition | None
) -> str | None:
    """Return the identifier of the test that a metric is in a run.

    None where the run has none.

    Args:
        skipped: identifiers of the run's skipped tests. A skipped one is the metric where it is the only candidate or
            the lowest class: its figure is then unknown, and that of another class would not stand in for it.
    """
    ran, left = {result.test_id: result.current_value for result in results}, set(skipped)
    every = [*ran, *(test_id for test_id in left if test_id not in ran)]
    if metric in every or suite != DEAL_SUITE or definition is None:
        return metric if metric in every else None
    row = METRICS[metric]
    own = {each.id: each for each in definition.tests}
    by_test_id = {
        test_id: test
        for test_id in every
        if (test := own.get(test_id) or (class_test_named(test_id) if definition.standard else None)) is not None
        and _measures(test, row)
    }
    if row.pick == "lowest class":
        order = {test_id: place for place, test_id in enumerate(dict.fromkeys([*own, *every]))}
        return max(by_test_id, key=lambda test_id: (_letter(by_test_id[test_id]), order[test_id]), default=None)
    measured = [test_id for test_id in by_test_id if test_id in ran]
    if not measured:
        return next(iter(sorted(by_test_id)), None)
    return (max if row.pick == "greatest" else min)(measured, key=lambda test_id: ran[test_id])


def has_every_test(metric: Metric, suite: str, tests: Collection[str], definition: Definition | None) -> bool:
    """Return whether the tests of a part of a suite are all that a metric may be in the whole suite.

    The classes of a market's standard definition are those of the file, so a part of it does not tell what is missing.
    """
    if metric in tests:
        return True
    if suite != DEAL_SUITE or definition is None or definition.standard:
        return False
    candidates = {test.id for test in definition.tests if _measures(test, METRICS[metric])}
    return bool(candidates) and candidates.issubset(tests)


def _measures(test: DealTest, row: _Row) -> bool:
    return (
        test.measure == row.measure
        and (row.nth is None or (test.nth or _NTH.get(row.measure, 1)) == row.nth)
        and (not row.agencies or test.agency in row.agencies)
    )


_NTH: Final = {"top_obligors": 10}
"""What a test that names no number means, where that is not 1."""


def _letter(test: DealTest) -> str:
    """Return the class at which a test stands: the last one of its name."""
    return letter_of((test.class_ or "").split("/")[-1])


def unit_of(metric: Metric) -> str:
    """Return the sign behind a figure of a metric."""
    return UNIT_SIGNS[TESTS[metric].unit]
