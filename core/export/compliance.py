"""A compliance run as the rows of an export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.compliance.result import Skipped, TestResult
from core.export.order import ComplianceRow
from core.labels import LABELS, labelled


def compliance_rows(
    results: Iterable[TestResult], skipped: Iterable[Skipped] = (), *, labels: Mapping[str, str] = LABELS
) -> tuple[ComplianceRow, ...]:
    """Return the tests of a run in its order, then those without a result.

    Each with its unit where that is known.

    `labels`: what people read in place of an agency's name.
    """
    ran = (
        ComplianceRow(
            test_id=result.test_id,
            name=result.test_name,
            category=result.category,
            status=result.status,
            value=result.current_value,
            limit=result.threshold_value,
            threshold_type=result.threshold_type,
            cushion=result.cushion,
            source=result.threshold_source,
            unit=result.unit,
            doubtful=result.doubtful,
            published=None if result.published is None else result.published.value,
            difference=None if result.published is None else result.published.difference,
            published_status=None if result.published is None else result.published.status,
            doubts=tuple(labelled(doubt.message, labels) for doubt in result.doubt),
        )
        for result in results
    )
    left_out = (
        ComplianceRow(
            test_id=each.test_id,
            name=each.test_name,
            category="",
            status="skipped",
            reason=labelled(each.reason, labels),
        )
        for each in skipped
    )
    return (*ran, *left_out)
