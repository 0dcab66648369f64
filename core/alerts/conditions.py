"""The conditions of alerts by type: as data, and reading them."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from core.alerts.metrics import Metric
from core.compliance.result import Status

AlertType = Literal["threshold", "compliance", "trend", "schedule"]
Operator = Literal["gt", "gte", "lt", "lte", "eq", "ne"]
Trend = Literal["increasing", "decreasing", "either"]
ReportType = Literal["compliance_summary"]

TEST_IDS_MAX: Final = 100
DURATION_MINUTES_MAX: Final = 366 * 24 * 60
LOOKBACK_DAYS_MAX: Final = 3_660
SCHEDULE_CHARACTERS: Final = 100


class InvalidConditions(ValueError):
    """Conditions that do not fit the type; the message says what and where."""


class _Conditions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one type; what is misspelt is refused rather than passed over, or an alert would watch something else."""


class ThresholdConditions(_Conditions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A metric compared with a figure."""

    metric: Metric
    operator: Operator
    value: float
    """In the metric's unit."""
    duration_minutes: Annotated[int, Meta(ge=0, le=DURATION_MINUTES_MAX)] | None = None
    """How long it must have held without a break."""


class ComplianceConditions(_Conditions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tests in certain statuses, or close to their limits."""

    status: Annotated[list[Status], Meta(min_length=1, max_length=3)]
    test_ids: Annotated[list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(max_length=TEST_IDS_MAX)] = []
    """All tests of the suite where there is none: a run of a part of them is not looked at."""
    cushion_threshold: float | None = None
    """Raised, too, by a test whose cushion is below this, whatever its status; in the test's unit."""


class TrendConditions(_Conditions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A metric that changes by so much."""

    metric: Metric
    direction: Trend
    change_threshold: Annotated[float, Meta(gt=0)]
    """In the metric's unit: 0.5 of a percentage is half a point."""
    lookback_days: Annotated[int, Meta(ge=1, le=LOOKBACK_DAYS_MAX)]


class ScheduleConditions(_Conditions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Moments, whatever the figures say."""

    schedule: Annotated[str, Meta(min_length=1, max_length=SCHEDULE_CHARACTERS)]
    """Five fields of cron, in the tenant's time zone."""
    report_type: ReportType = "compliance_summary"


Conditions: TypeAlias = ThresholdConditions | ComplianceConditions | TrendConditions | ScheduleConditions

CONDITIONS: Final[dict[str, type[Conditions]]] = {
    "threshold": ThresholdConditions,
    "compliance": ComplianceConditions,
    "trend": TrendConditions,
    "schedule": ScheduleConditions,
}


def named_tests(conditions: Conditions) -> list[str]:
    """Return the tests or metrics that conditions name, or None for no single ones."""
    if isinstance(conditions, ComplianceConditions):
        return conditions.test_ids
    return [] if isinstance(conditions, ScheduleConditions) else [conditions.metric]


def conditions_of(alert_type: str, document: Any) -> Conditions:
    """Return the conditions of an alert of this type.

    Raises:
        InvalidConditions: they are none of this type.
    """
    try:
        conditions = msgspec.convert(document, CONDITIONS[alert_type])
    except msgspec.ValidationError as error:
        raise InvalidConditions(str(error)) from None
    for name in ("value", "cushion_threshold", "change_threshold"):
        figure = getattr(conditions, name, None)
        if figure is not None and not isfinite(figure):
            raise InvalidConditions(f"Expected a finite number - at `$.{name}`")
    return conditions
