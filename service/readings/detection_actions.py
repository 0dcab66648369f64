"""A mapping that is tried on a workbook: how it is read then, and which results change; nothing is stored."""

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
    mapping = await mappings.unsaved(ctx, body.mapping, MAPPING)
    more: dict[str, Any] = {"test_suite": None, "changes": None}
    if ctx.caller.may("compliance:read"):
        more = await _compared(ctx, workbook_id, mappings.made(mapping))
    found = await workbooks.detect(ctx, book, mapping)
    answer = msgspec.json.decode(found.content, type=dict[str, msgspec.Raw])
    return Raw(msgspec.json.encode({**answer, **more}), found.media_type)


async def _compared(ctx: Context, workbook_id: UUID, mapping: mappings.MappingAndJson) -> dict[str, Any]:
    """The suite, and the tests that a mapping changes."""
    suite, before = await _results(ctx, workbook_id, None)
    suite_then, after = await _results(ctx, workbook_id, mapping)
    return {"test_suite": suite if before is not None else suite_then, "changes": changed_tests(before, after)}


async def _results(
    ctx: Context, workbook_id: UUID, trial: mappings.MappingAndJson | None
) -> tuple[str, Results | None]:
    """The suite and its results; None where the mapping requires a column that the workbook does not have."""
    try:
        ready = await compliance.prepare(ctx, workbook_id, suite="enhanced", trial=trial)
    except ValidationFailed:
        return "enhanced", None
    suite = DEAL_SUITE if ready.definition_version else "enhanced"
    return suite, await ready.run(ctx, suite, details=False)


def changed_tests(before: Results | None, after: Results | None) -> list[ChangedTest]:
    """The tests whose figure or status differs between two runs of one suite, in its order."""
    sides = [{one.test_id: one for one in side or ()} for side in (before, after)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    rows = ((sides[0].get(name), sides[1].get(name)) for name in names)
    return [_changed(one, other) for one, other in rows if _figure(one) != _figure(other)]


def _changed(before: TestResult | None, after: TestResult | None) -> ChangedTest:
    shown = [one for one in (after, before) if one is not None]
    return ChangedTest(
        test_id=shown[0].test_id,
        test_name=shown[0].test_name,
        unit=shown[0].unit,
        decimals=max(one.decimals for one in shown),
        before=_figure(before),
        after=_figure(after),
    )


def _figure(result: TestResult | None) -> TestFigure | None:
    if result is None:
        return None
    return TestFigure(value=result.current_value, status=result.status)
