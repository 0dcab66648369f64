"""A compliance run as the rows of an export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.compliance.result import Skipped, TestResult
from core.export.order import ComplianceRow
from core.labels import LABELS, labelled


def compliance_rows(
    results: Iterable[TestResult], skipped: Iterable[Skipped] = (), *, labels: Mapping[str, str] = LABELS
) -> tuple[ComplianceRow, ...]:
    """The tests of a run in its order, then those without a result; each with its unit where that is known.

    `labels`: what people read in place of an agency's name.
    """
    ran = (
        ComplianceRow(
            test_id=one.test_id, name=one.test_name, category=one.category, status=one.status, value=one.current_value,
            limit=one.threshold_value, threshold_type=one.threshold_type, cushion=one.cushion,
            source=one.threshold_source, unit=one.unit, doubtful=one.doubtful,
            published=None if one.published is None else one.published.value,
            difference=None if one.published is None else one.published.difference,
            published_status=None if one.published is None else one.published.status,
            doubts=tuple(labelled(doubt.message, labels) for doubt in one.doubt),
        )
        for one in results
    )  # fmt: skip
    left_out = (
        ComplianceRow(
            test_id=one.test_id, name=one.test_name, category="", status="skipped", reason=labelled(one.reason, labels)
        )
        for one in skipped
    )
    return (*ran, *left_out)
