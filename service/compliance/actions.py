"""Compliance's decisions.

What a run needs, in which order, and what it leaves behind.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import time as clock_time
from typing import Any
from uuid import UUID

import msgspec

import core
from core.compliance import limits
from core.compliance import result as engine
from core.compliance.suites import DEAL_SUITE, SUITES, TESTS
from core.compliance.suites import Suite as SuiteRow
from core.definition import Definition
from core.words import nearest
from service.compliance import schema, shared, store
from service.platform.base.moments import moment
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Listing, Page
from service.platform.unit.context import Context
from service.platform.unit.records import narrow, to_json

# Runs ---------------------------------------------------------------------------------------------------------------


def _document(definition: dict[str, Any] | str | None) -> dict[str, Any] | None:
    """Return the document of a definition, or that of the ready-made one of a name."""
    return {"base": definition, "standard": True} if isinstance(definition, str) else definition


async def run(ctx: Context, body: schema.RunRequest) -> schema.ComplianceRun:
    """Run a suite on a workbook, and keep the evidence.

    One transaction holds the workbook's lock.
    """
    _check(body)
    executed_at, started = ctx.now(), time.perf_counter()
    ready = await shared.prepare(
        ctx, body.workbook_id, suite=body.test_suite, wanted=_document(body.definition), as_of=body.as_of, alone=True
    )
    subject, definition = ready.subject, ready.definition
    ctx.set_email(subject.email)
    own_limits = {limit.test_id: engine.Threshold(**msgspec.structs.asdict(limit)) for limit in body.thresholds}
    for place, threshold in enumerate(body.thresholds):
        where = ["body", "thresholds", str(place)]
        _check_threshold(where, threshold, definition.definition if definition else None)
    try:
        results = await ready.run(
            ctx,
            body.test_suite,
            test_ids=body.test_ids,
            request_thresholds=own_limits,
            include_cushion=body.options.include_cushion,
            fail_fast=body.options.fail_fast,
            parallel=body.options.parallel,
        )
    except limits.UnknownTest as error:
        raise schema.UnknownTest.at(["body", "test_ids"], str(error)) from error
    took_us = round((time.perf_counter() - started) * 1_000_000)
    done = schema.ComplianceRun(
        id=new_id(),
        workbook_id=subject.id,
        test_suite=body.test_suite,
        status="completed",
        summary=results.summary,
        results=results,
        skipped=results.skipped,
        partial=results.partial,
        as_of=results.as_of or ready.as_of.day,
        as_of_source=results.as_of_source or ready.as_of.source,
        definition_version=ready.definition_version,
        warnings=results.warnings,
        interpretation=results.interpretation,
        executed_at=executed_at,
        execution_time_ms=(took_us + 500) // 1000,
        execution_time_us=took_us,
    )
    options = {"test_ids": body.test_ids, **msgspec.structs.asdict(body.options), "partial": done.partial}
    if done.interpretation is not None:
        options[store.INTERPRETATION] = done.interpretation
    inputs = store.Inputs(
        mapping=ready.mapping.json,
        thresholds=to_json({**ready.limits, "request": own_limits}),
        definition=definition.json if definition else None,
        options=to_json({**options, **ready.record}),
        engine_version=core.__version__,
    )
    evidence = await store.keep_run(ctx, subject, done, inputs)
    counts = msgspec.structs.asdict(done.summary)
    details = {
        "workbook_id": str(subject.id),
        "test_suite": body.test_suite,
        "executed_at": executed_at,
        "partial": done.partial,
        **counts,
        "evidence": evidence,
    }
    ctx.set_subject("compliance_run", done.id, subject.name, **details)
    return done


def _check(body: schema.RunRequest) -> None:
    """Refuse what no workbook could be asked."""
    if body.test_suite == DEAL_SUITE:
        return  # its tests are known with its definition
    suite = SUITES.get(body.test_suite)
    if suite is None:
        raise schema.InvalidSuite.at(["body", "test_suite"], f"the suites are {', '.join((*SUITES, DEAL_SUITE))}")
    suite_ids = {test.test_id for test in suite.tests}
    unknown = [test_id for test_id in dict.fromkeys(body.test_ids or ()) if test_id not in suite_ids]
    if unknown:
        where = ["body", "test_ids"]
        faults = [
            Fault(where, f"{test_id!r} is not in the suite {suite.id}{_hint(test_id, suite_ids)}")
            for test_id in unknown[:10]
        ]
        raise schema.UnknownTest(*faults, Fault(where, f"its tests are {', '.join(sorted(suite_ids))}"))


def _hint(test_id: str, test_ids: Iterable[str]) -> str:
    near = nearest(test_id, test_ids)
    return f"; did you mean {near}?" if near else ""


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
    test_type = _check_threshold(["body"], body, definition)
    old = await store.lock_threshold(ctx, body)
    threshold = await store.set_threshold(ctx, body, body.threshold_type or test_type)
    _tell_threshold(ctx, threshold, old=None if old is None else _limit(old), new=_limit(threshold))
    return threshold


async def delete_threshold(ctx: Context, threshold_id: UUID) -> None:
    """Remove a limit."""
    threshold = await store.delete_threshold(ctx, threshold_id)
    _tell_threshold(ctx, threshold, old=_limit(threshold), new=None)


def _tell_threshold(ctx: Context, threshold: schema.Threshold, **change: dict[str, Any] | None) -> None:
    scope = {"workbook_id": threshold.workbook_id, "deal_id": threshold.deal_id}
    ctx.set_subject("threshold", threshold.id, threshold.test_id, **scope, **change)


def _limit(threshold: schema.Threshold) -> dict[str, Any]:
    return {
        name: getattr(threshold, name) for name in ("threshold_value", "threshold_type", "warning_threshold", "enabled")
    }


def _check_threshold(
    where: list[str], threshold: schema.ThresholdCreate | schema.GivenThreshold, definition: Definition | None
) -> engine.Direction:
    """Refuse a limit that no run could use; the direction of its test."""
    try:
        test = limits.check_threshold(
            threshold.test_id,
            threshold.threshold_value,
            threshold.threshold_type,
            threshold.warning_threshold,
            definition=definition,
        )
    except limits.UnknownTest as error:
        hint = f"the suites' tests are {', '.join(sorted(TESTS))}"
        raise schema.UnknownTest(Fault([*where, "test_id"], str(error)), Fault([*where, "test_id"], hint)) from error
    except limits.InvalidThreshold as error:
        raise ValidationFailed.at([*where, "warning_threshold"], str(error)) from error
    return test.threshold_type


async def thresholds(ctx: Context, query: schema.ThresholdQuery) -> Listing[schema.Threshold]:
    """Return the limits that were set."""
    test_ids = None
    if query.category is not None:
        test_ids = [test.test_id for test in TESTS.values() if test.category == query.category]
    return await store.thresholds(ctx, query, test_ids)
