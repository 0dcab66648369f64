"""Compliance's decisions: what a run needs, in which order, and what it leaves behind."""

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
from service.compliance import shared, store
from service.compliance.schema import (
    ComplianceRun,
    GivenThreshold,
    HistoryQuery,
    InvalidSuite,
    ResultQuery,
    RunItem,
    RunRequest,
    Suite,
    SuiteQuery,
    SuiteTest,
    Threshold,
    ThresholdCreate,
    ThresholdQuery,
    UnknownTest,
)
from service.platform.base.moments import moment
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Listing, Page
from service.platform.unit.context import Context

# Runs ---------------------------------------------------------------------------------------------------------------


def _document(definition: dict[str, Any] | str | None) -> dict[str, Any] | None:
    """The document of a definition, or that of the ready-made one of a name."""
    return {"base": definition, "standard": True} if isinstance(definition, str) else definition


async def run(ctx: Context, body: RunRequest) -> ComplianceRun:
    """Run a suite on a workbook and keep the evidence, in one transaction that holds the workbook's lock."""
    _check(body)
    executed_at, started = ctx.now(), time.perf_counter()
    ready = await shared.prepare(
        ctx, body.workbook_id, suite=body.test_suite, given=_document(body.definition), as_of=body.as_of, alone=True
    )
    subject, definition = ready.subject, ready.definition
    ctx.knows_email(subject.email)
    given = {one.test_id: engine.Threshold(**msgspec.structs.asdict(one)) for one in body.thresholds}
    for place, threshold in enumerate(body.thresholds):
        where = ["body", "thresholds", str(place)]
        _check_threshold(where, threshold, definition.definition if definition else None)
    try:
        results = await ready.run(
            ctx,
            body.test_suite,
            test_ids=body.test_ids,
            request_thresholds=given,
            include_cushion=body.options.include_cushion,
            fail_fast=body.options.fail_fast,
            parallel=body.options.parallel,
        )
    except limits.UnknownTest as error:
        raise UnknownTest.at(["body", "test_ids"], str(error)) from error
    took_us = round((time.perf_counter() - started) * 1_000_000)
    done = ComplianceRun(
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
        thresholds=store.as_json({**ready.limits, "request": given}),
        definition=definition.json if definition else None,
        options=store.as_json({**options, **ready.record}),
        engine_version=core.__version__,
    )
    evidence = await store.keep_run(ctx, subject, done, inputs)
    counts = msgspec.structs.asdict(done.summary)
    told = {
        "workbook_id": str(subject.id),
        "test_suite": body.test_suite,
        "executed_at": executed_at,
        "partial": done.partial,
        **counts,
        "evidence": evidence,
    }
    ctx.concerns("compliance_run", done.id, subject.name, **told)
    return done


def _check(body: RunRequest) -> None:
    """Refuse what no workbook could be asked."""
    if body.test_suite == DEAL_SUITE:
        return  # its tests are known with its definition
    suite = SUITES.get(body.test_suite)
    if suite is None:
        raise InvalidSuite.at(["body", "test_suite"], f"the suites are {', '.join((*SUITES, DEAL_SUITE))}")
    known = {test.test_id for test in suite.tests}
    unknown = [test_id for test_id in dict.fromkeys(body.test_ids or ()) if test_id not in known]
    if unknown:
        where = ["body", "test_ids"]
        faults = [
            Fault(where, f"{test_id!r} is not in the suite {suite.id}{_hint(test_id, known)}")
            for test_id in unknown[:10]
        ]
        raise UnknownTest(*faults, Fault(where, f"its tests are {', '.join(sorted(known))}"))


def _hint(test_id: str, known: Iterable[str]) -> str:
    near = nearest(test_id, known)
    return f"; did you mean {near}?" if near else ""


async def result(ctx: Context, result_id: UUID, query: ResultQuery) -> ComplianceRun:
    """A run, its results narrowed to what was asked."""
    run = await store.run(ctx, result_id)
    chosen = [
        one if query.include_details else replace(one, details=None)
        for one in run.results
        if query.status_filter in (None, one.status) and query.category in (None, one.category)
    ]
    return msgspec.structs.replace(run, results=chosen)


async def history(ctx: Context, query: HistoryQuery) -> Page[RunItem]:
    """A page of runs."""
    since = moment(["query", "start_date"], query.start_date) if query.start_date is not None else None
    until = moment(["query", "end_date"], query.end_date, at=clock_time.max) if query.end_date is not None else None
    return await store.history(ctx, query, since, until)


# Suites -------------------------------------------------------------------------------------------------------------


def suites(query: SuiteQuery) -> Listing[Suite]:
    """The catalogue's suites."""
    return Listing([_suite(suite, with_tests=query.include_tests) for suite in SUITES.values()], len(SUITES))


def _suite(suite: SuiteRow, *, with_tests: bool) -> Suite:
    tests = [
        SuiteTest(
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
    return Suite(
        id=suite.id,
        name=suite.name,
        description=suite.description,
        test_count=suite.test_count,
        categories=suite.categories,
        tests=tests if with_tests else None,
    )


# Thresholds ---------------------------------------------------------------------------------------------------------


async def set_threshold(ctx: Context, body: ThresholdCreate) -> Threshold:
    """Set a limit that runs can use."""
    if body.workbook_id is not None and body.deal_id is not None:
        raise ValidationFailed.at(["body", "deal_id"], "a threshold is a workbook's or a deal's, not both")
    definition = None
    if body.test_id not in TESTS:
        rules = await store.rules_of(ctx, workbook_id=body.workbook_id, deal_id=body.deal_id)
        if rules is not None:
            definition = (await shared.made(ctx, shared.document_of(rules))).definition
    test_type = _check_threshold(["body"], body, definition)
    old = await store.lock_threshold(ctx, body)
    threshold = await store.set_threshold(ctx, body, body.threshold_type or test_type)
    _tell_threshold(ctx, threshold, old=None if old is None else _limit(old), new=_limit(threshold))
    return threshold


async def delete_threshold(ctx: Context, threshold_id: UUID) -> None:
    """Remove a limit."""
    threshold = await store.delete_threshold(ctx, threshold_id)
    _tell_threshold(ctx, threshold, old=_limit(threshold), new=None)


def _tell_threshold(ctx: Context, threshold: Threshold, **change: dict[str, Any] | None) -> None:
    scope = {"workbook_id": threshold.workbook_id, "deal_id": threshold.deal_id}
    ctx.concerns("threshold", threshold.id, threshold.test_id, **scope, **change)


def _limit(threshold: Threshold) -> dict[str, Any]:
    return {
        name: getattr(threshold, name) for name in ("threshold_value", "threshold_type", "warning_threshold", "enabled")
    }


def _check_threshold(
    where: list[str], given: ThresholdCreate | GivenThreshold, definition: Definition | None
) -> engine.Direction:
    """Refuse a limit that no run could use; the direction of its test."""
    try:
        test = limits.check_threshold(
            given.test_id,
            given.threshold_value,
            given.threshold_type,
            given.warning_threshold,
            definition=definition,
        )
    except limits.UnknownTest as error:
        known = f"the suites' tests are {', '.join(sorted(TESTS))}"
        raise UnknownTest(Fault([*where, "test_id"], str(error)), Fault([*where, "test_id"], known)) from error
    except limits.InvalidThreshold as error:
        raise ValidationFailed.at([*where, "warning_threshold"], str(error)) from error
    return test.threshold_type


async def thresholds(ctx: Context, query: ThresholdQuery) -> Listing[Threshold]:
    """The limits that were set."""
    test_ids = None
    if query.category is not None:
        test_ids = [test.test_id for test in TESTS.values() if test.category == query.category]
    return await store.thresholds(ctx, query, test_ids)
