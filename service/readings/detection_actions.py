"""A mapping that is tried on a workbook.

How it is read then, and which results change; nothing is stored.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from core.compliance.result import Results, TestResult
from core.compliance.suites import DEAL_SUITE
from service.compliance import shared as compliance
from service.mappings import shared as mappings
from service.platform.base.problem import ValidationFailed
from service.platform.route.api import Raw
from service.platform.unit.context import Context
from service.readings.schema import ChangedTest, DetectionTrial, TestFigure
from service.workbooks import shared as workbooks

MAPPING = ("body", "mapping")


async def try_mapping(ctx: Context, workbook_id: UUID, body: DetectionTrial) -> Raw:
    """Detect a workbook under a mapping that is not stored, and compare the results.

    Raises:
        WorkbookNotFound, WorkbookNotReady, MappingNotFound, MappingTooSlow, Damaged: it cannot be read.
        InvalidSourceType, ProfileNotFound, InvalidConfiguration: the mapping could not be stored either.
        InvalidDefinition, RunTooSlow: its tests cannot be run.
    """
    book = await workbooks.get(ctx, workbook_id)
    mapping = await mappings.read_draft(ctx, body.mapping, MAPPING)
    more: dict[str, Any] = {"test_suite": None, "changes": None}
    if ctx.caller.may("compliance:read"):
        more = await _compare(ctx, workbook_id, mappings.with_json(mapping))
    detection = await workbooks.detect(ctx, book, mapping)
    answer = msgspec.json.decode(detection.content, type=dict[str, msgspec.Raw])
    return Raw(msgspec.json.encode({**answer, **more}), detection.media_type)


async def _compare(ctx: Context, workbook_id: UUID, mapping: mappings.MappingAndJson) -> dict[str, Any]:
    """Return the suite, and the tests that a mapping changes."""
    suite, before = await _results(ctx, workbook_id, None)
    suite_then, after = await _results(ctx, workbook_id, mapping)
    return {"test_suite": suite if before is not None else suite_then, "changes": changed_tests(before, after)}


async def _results(
    ctx: Context, workbook_id: UUID, trial: mappings.MappingAndJson | None
) -> tuple[str, Results | None]:
    """Return suite and results; None where a required column is missing."""
    try:
        ready = await compliance.prepare(ctx, workbook_id, suite="enhanced", mapping=trial)
    except ValidationFailed:
        return "enhanced", None
    suite = DEAL_SUITE if ready.definition_version else "enhanced"
    return suite, await ready.run(ctx, suite, details=False)


def changed_tests(before: Results | None, after: Results | None) -> list[ChangedTest]:
    """Return the tests that differ between two runs, in suite order."""
    sides = [{old.test_id: old for old in side or ()} for side in (before, after)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    rows = ((sides[0].get(name), sides[1].get(name)) for name in names)
    return [_to_changed_test(old, new) for old, new in rows if _figure(old) != _figure(new)]


def _to_changed_test(before: TestResult | None, after: TestResult | None) -> ChangedTest:
    sides = [result for result in (after, before) if result is not None]
    return ChangedTest(
        test_id=sides[0].test_id,
        test_name=sides[0].test_name,
        unit=sides[0].unit,
        decimals=max(result.decimals for result in sides),
        before=_figure(before),
        after=_figure(after),
    )


def _figure(result: TestResult | None) -> TestFigure | None:
    if result is None:
        return None
    return TestFigure(value=result.current_value, status=result.status)
