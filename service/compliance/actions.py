"""Compliance's decisions: runs, suites, thresholds."""

from __future__ import annotations

from dataclasses import replace
from datetime import time as clock_time
from typing import Any
from uuid import UUID

import msgspec

from core.compliance.suites import SUITES, TESTS
from core.compliance.suites import Suite as SuiteRow
from service.compliance import schema, shared, store
from service.platform.base.moments import moment
from service.platform.base.problem import ValidationFailed
from service.platform.route.api import Listing, Page
from service.platform.unit.context import Context
from service.platform.unit.records import narrow

# Runs ---------------------------------------------------------------------------------------------------------------


async def run(ctx: Context, body: schema.RunRequest) -> schema.ComplianceRun:
    """Run a suite on a workbook, and keep the evidence.

    One transaction holds the workbook's lock.
    """
    shared.check_request(body)
    kept = await shared.run_and_keep(ctx, body)
    ctx.set_email(kept.subject.email)
    ctx.set_subject("compliance_run", kept.run.id, kept.subject.name, **kept.entry)
    return kept.run


async def result(ctx: Context, result_id: UUID, query: schema.ResultQuery) -> schema.ComplianceRun:
    """Return a run, its results narrowed to what was asked."""
    run = await store.run(ctx, result_id)
    chosen = [
        test_result if query.include_details else replace(test_result, details=None)
        for test_result in run.results
        if query.status_filter in (None, test_result.status) and query.category in (None, test_result.category)
    ]
    return msgspec.structs.replace(run, results=chosen)


async def history(ctx: Context, query: schema.HistoryQuery) -> Page[schema.RunItem]:
    """Return a page of runs."""
    since = moment(["query", "start_date"], query.start_date) if query.start_date is not None else None
    until = moment(["query", "end_date"], query.end_date, at=clock_time.max) if query.end_date is not None else None
    return await store.history(ctx, query, since, until)


# Suites -------------------------------------------------------------------------------------------------------------


def suites(query: schema.SuiteQuery) -> Listing[schema.Suite]:
    """Return the catalogue's suites."""
    return Listing([_suite(suite, with_tests=query.include_tests) for suite in SUITES.values()], len(SUITES))


def _suite(suite: SuiteRow, *, with_tests: bool) -> schema.Suite:
    tests = [
        schema.SuiteTest(
            test_id=test.test_id,
            name=test.name,
            category=test.category,
            description=test.description,
            default_threshold=test.limit,
            threshold_type=test.threshold_type,
            default_warning_threshold=test.warning,
            unit=test.unit,
            formula=test.formula,
        )
        for test in suite.tests
    ]
    return narrow(schema.Suite, suite, tests=tests if with_tests else None)


# Thresholds ---------------------------------------------------------------------------------------------------------


async def set_threshold(ctx: Context, body: schema.ThresholdCreate) -> schema.Threshold:
    """Set a limit that runs can use."""
    if body.workbook_id is not None and body.deal_id is not None:
        raise ValidationFailed.at(["body", "deal_id"], "a threshold is a workbook's or a deal's, not both")
    definition = None
    if body.test_id not in TESTS:
        rules = await store.rules_of(ctx, workbook_id=body.workbook_id, deal_id=body.deal_id)
        if rules is not None:
            definition = (await shared.read_definition(ctx, shared.document_of(rules))).definition
    test_type = shared.check_threshold(["body"], body, definition)
    old = await store.lock_threshold(ctx, body)
    threshold = await store.set_threshold(ctx, body, body.threshold_type or test_type)
    _audit_threshold(ctx, threshold, old=None if old is None else _limit(old), new=_limit(threshold))
    return threshold


async def delete_threshold(ctx: Context, threshold_id: UUID) -> None:
    """Remove a limit."""
    threshold = await store.delete_threshold(ctx, threshold_id)
    _audit_threshold(ctx, threshold, old=_limit(threshold), new=None)


def _audit_threshold(ctx: Context, threshold: schema.Threshold, **change: dict[str, Any] | None) -> None:
    scope = {"workbook_id": threshold.workbook_id, "deal_id": threshold.deal_id}
    ctx.set_subject("threshold", threshold.id, threshold.test_id, **scope, **change)


def _limit(threshold: schema.Threshold) -> dict[str, Any]:
    return {
        name: getattr(threshold, name) for name in ("threshold_value", "threshold_type", "warning_threshold", "enabled")
    }


async def thresholds(ctx: Context, query: schema.ThresholdQuery) -> Listing[schema.Threshold]:
    """Return the limits that were set."""
    test_ids = None
    if query.category is not None:
        test_ids = [test.test_id for test in TESTS.values() if test.category == query.category]
    return await store.thresholds(ctx, query, test_ids)
