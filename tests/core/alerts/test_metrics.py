"""A metric is one test of a run, and never another one that only looks like it."""

from __future__ import annotations

from typing import Any, get_args

from core.alerts.metrics import METRICS, Metric, metric_test
from core.compliance.result import TestResult
from core.compliance.suites import SUITES
from core.definition import parse
from tests.rows import every


def result(test_id: str, value: float) -> TestResult:
    return TestResult(
        test_id=test_id, test_name=test_id, category="coverage", status="pass", current_value=value,
        threshold_value=100.0, threshold_type="min", cushion=0.0, cushion_pct=0.0, message="",
    )  # fmt: skip


def test_each_metric_is_a_test_of_the_standard_suite() -> None:
    standard = {test.test_id for test in SUITES["standard"].tests}
    assert set(get_args(Metric)) == set(METRICS) <= standard


OWN = [
    {"id": "oc_ab", "name": "Class A/B OC", "measure": "oc", "class": "A/B", "min": 120},
    {"id": "oc_d", "name": "Class D OC", "measure": "oc", "class": "D", "min": 104},
    {"id": "oc_c", "name": "Class C OC", "measure": "oc", "class": "C", "min": 110},
    {"id": "ic_ab", "name": "Class A/B IC", "measure": "ic", "class": "A/B", "min": 120},
    {"id": "caa", "name": "Caa", "measure": "ccc", "agency": "a", "max": 7.5},
    {"id": "ccc", "name": "CCC", "measure": "ccc", "agency": "b", "max": 7.5},
    {"id": "warf_c", "name": "Fitch factor", "measure": "warf", "agency": "c", "max": 30},
    {"id": "sixth", "name": "Sixth obligor", "measure": "obligor", "nth": 6, "max": 2},
    {"id": "ten", "name": "Ten largest", "measure": "top_obligors", "max": 20},
    {"id": "five", "name": "Five largest", "measure": "top_obligors", "nth": 5, "max": 12.5},
    {"id": "wal", "name": "WAL", "measure": "wal", "max": 7},
]


@every(
    "metric, ran, skipped, expected",
    [
        ("oc_ratio", {"oc_ab": 130, "oc_d": 106, "oc_c": 112}, (), "oc_d"),
        ("oc_ratio", {"oc_ab": 130, "oc_c": 99}, ("oc_d",), "oc_d"),  # unknown, rather than that of a safer class
        ("oc_ratio", {"oc_ab": 130, "oc_c": 99}, (), "oc_c"),
        ("ic_ratio", {"ic_ab": 130, "oc_d": 106}, (), "ic_ab"),
        ("ccc_bucket_pct", {"caa": 5, "ccc": 6}, (), "ccc"),
        ("ccc_bucket_pct", {"caa": 7, "ccc": 6}, (), "caa"),
        ("ccc_bucket_pct", {"caa": 5}, ("ccc",), "caa"),
        ("ccc_bucket_pct", {}, ("ccc", "caa"), "caa"),
        ("average_rating_factor", {"warf_c": 25}, (), None),
        ("single_obligor_concentration", {"sixth": 1.5}, (), None),
        ("top_5_concentration", {"ten": 15, "five": 10}, (), "five"),
        ("top_5_concentration", {"ten": 15}, (), None),
        ("wal", {"wal": 4}, (), "wal"),
        ("was", {"wal": 4}, (), None),
    ],
)
def test_the_test_of_an_indenture(metric: Metric, ran: dict[str, float], skipped: Any, expected: str | None) -> None:
    definition = parse({"classes": [{"name": name} for name in ("A/B", "C", "D")], "tests": OWN})
    results = [result(test_id, value) for test_id, value in ran.items()]
    assert metric_test(metric, "deal", results, skipped, definition) == expected


@every(
    "suite, ran, skipped, expected",
    [
        ("standard", ("oc_ratio", "oc_ratio_senior"), (), "oc_ratio"),
        ("enhanced", ("oc_ratio_senior",), ("oc_ratio",), "oc_ratio"),
        ("standard", ("oc_ratio_senior",), (), None),
        ("deal", ("oc_class_ab", "oc_class_c", "oc_class_d"), (), "oc_class_d"),
        ("deal", ("oc_class_ab", "oc_class_c", "ic_class_d"), ("oc_class_d",), "oc_class_d"),
        ("deal", ("oc_class_d", "oc_class_d_5"), (), "oc_class_d_5"),
    ],
)
def test_ready_made_rules_have_the_classes_of_the_file(suite: str, ran: Any, skipped: Any, expected: str) -> None:
    definition = parse({"base": "us_bsl", "standard": True})
    assert metric_test("oc_ratio", suite, [result(item, 110) for item in ran], skipped, definition) == expected
