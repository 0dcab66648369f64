"""Conditions are read by their type, and what is none of it is refused with its place."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from core.alerts.conditions import InvalidConditions, conditions_of
from tests.rows import every

THRESHOLD = {"metric": "oc_ratio", "operator": "lt", "value": 104.2}
TREND = {"metric": "wal", "direction": "increasing", "change_threshold": 0.25, "lookback_days": 30}


@every(
    "alert_type, stored",
    [
        ("threshold", THRESHOLD),
        ("threshold", THRESHOLD | {"duration_minutes": 60, "value": -1}),
        ("compliance", {"status": ["fail"]}),
        ("compliance", {"status": ["fail", "warning", "pass"], "test_ids": ["oc_ratio"], "cushion_threshold": 0.5}),
        ("trend", TREND),
        ("schedule", {"schedule": "0 9 * * 1"}),
        ("schedule", {"schedule": "@daily", "report_type": "compliance_summary"}),
    ],
)
def test_what_is_given_is_kept(alert_type: str, stored: dict[str, Any]) -> None:
    result = msgspec.to_builtins(conditions_of(alert_type, stored))
    assert {name: result[name] for name in stored} == stored


@every(
    "alert_type, stored, sentence",
    [
        ("threshold", {}, "metric"),
        ("threshold", THRESHOLD | {"metric": "cov_lite_concentration"}, "$.metric"),
        ("threshold", THRESHOLD | {"operator": ">"}, "$.operator"),
        ("threshold", THRESHOLD | {"value": "104"}, "$.value"),
        ("threshold", THRESHOLD | {"value": float("nan")}, "$.value"),
        ("threshold", THRESHOLD | {"value": 10**400}, "$.value"),
        ("threshold", THRESHOLD | {"duration_minutes": -1}, "$.duration_minutes"),
        ("threshold", THRESHOLD | {"duration_minutes": 1e9}, "$.duration_minutes"),
        ("threshold", THRESHOLD | {"test_ids": []}, "test_ids"),
        ("compliance", {}, "status"),
        ("compliance", {"status": []}, "$.status"),
        ("compliance", {"status": ["skipped"]}, "$.status"),
        ("compliance", {"status": ["fail"], "test_ids": ["x"] * 101}, "$.test_ids"),
        ("compliance", {"status": ["fail"], "cushion_threshold": float("inf")}, "$.cushion_threshold"),
        ("trend", TREND | {"direction": "sideways"}, "$.direction"),
        ("trend", TREND | {"change_threshold": 0}, "$.change_threshold"),
        ("trend", TREND | {"lookback_days": 0}, "$.lookback_days"),
        ("trend", {name: TREND[name] for name in ("metric", "direction")}, "change_threshold"),
        ("schedule", {"schedule": ""}, "$.schedule"),
        ("schedule", {"schedule": "* " * 100}, "$.schedule"),
        ("schedule", {"schedule": "@daily", "report_type": "everything"}, "$.report_type"),
        ("schedule", THRESHOLD, "metric"),
        ("compliance", [], "object"),
        ("compliance", None, "object"),
    ],
)
def test_what_is_none_is_refused_with_its_place(alert_type: str, stored: Any, sentence: str) -> None:
    with pytest.raises(InvalidConditions) as refused:
        conditions_of(alert_type, stored)
    assert sentence in str(refused.value)
