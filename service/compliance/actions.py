"""Compliance's decisions: what a run needs, in which order, and what it leaves behind."""

from __future__ import annotations

import time
from collections.abc import Mapping as MappingOf
from datetime import UTC
from datetime import time as clock_time
from typing import Final
from uuid import UUID

import msgspec

import core
from core.compliance import result as engine
from core.compliance import run as runs
from core.compliance.suites import SUITES, TESTS
from core.compliance.suites import Suite as SuiteRow
from core.portfolio.mapping import missing_columns
from core.portfolio.portfolio import Portfolio
from service.compliance import store
from service.compliance.schema import (
    AlreadyRunning,
    ComplianceRun,
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
from service.mappings.shared import DEFAULT_MAPPING, get_mapping
from service.platform.access.secrets import new_id
from service.platform.context import Context
from service.platform.http.api import Listing, Page
from service.platform.http.moments import moment
from service.platform.http.problem import Fault, ValidationFailed
from service.portfolios.shared import GivenDay, portfolio_of
from service.workbooks.schema import WorkbookNotReady, served

INLINE_ROWS_MAX: Final = 10_000
"""So many loans take under 1 ms with every test and its details; more go to a thread, the event loop stays free."""

Limits = MappingOf[str, engine.Threshold]


# Runs ---------------------------------------------------------------------------------------------------------------


async def run(ctx: Context, body: RunRequest) -> ComplianceRun:
    """Run a suite on a workbook and keep the evidence, in one transaction that holds the workbook's lock."""
    _check(body)
    subject = await store.begin_run(ctx, body.workbook_id)
    if served(subject.status, subject.book_key) is None:
        raise WorkbookNotReady
    if not subject.is_alone:
        raise AlreadyRunning
    made = await get_mapping(ctx, subject.mapping_id or DEFAULT_MAPPING)
    ctx.knows_email(subject.email)
    executed_at, started = ctx.now(), time.perf_counter()
    given = _given(body, subject)
    portfolio = await portfolio_of(ctx, subject, made, given)
    if missing := missing_columns(portfolio, made.mapping):
        what = f"the mapping requires what no column of sheet {portfolio.sheet_name!r} feeds: {', '.join(missing)}"
        raise ValidationFailed.at(["body", "workbook_id"], what)
    of_workbook, of_tenant = _limits(subject.limits, of_workbook=True), _limits(subject.limits, of_workbook=False)
    results = await _results(ctx, portfolio, body, of_workbook, of_tenant)
    done = ComplianceRun(
        id=new_id(),
        workbook_id=subject.id,
        test_suite=body.test_suite,
        status="completed",
        as_of=results.as_of or given.day,
        as_of_source=results.as_of_source,
        warnings=results.warnings,
        summary=results.summary,
        results=results,
        skipped=results.skipped,
        executed_at=executed_at,
        execution_time_ms=round((time.perf_counter() - started) * 1000, 3),
    )
    inputs = store.Inputs(
        mapping=made.json,
        thresholds=store.as_json({"workbook": of_workbook, "tenant": of_tenant}),
        options=store.as_json({"test_ids": body.test_ids, **msgspec.structs.asdict(body.options)}),
        engine_version=core.__version__,
    )
    await store.keep_run(ctx, subject, done, inputs)
    counts = msgspec.structs.asdict(done.summary)
    ctx.concerns(
        "compliance_run", done.id, subject.name, workbook_id=str(subject.id), test_suite=body.test_suite, **counts
    )
    return done


def _given(body: RunRequest, subject: store.Subject) -> GivenDay:
    """The day that the caller or the workbook's record gives, else the one of the upload, which only stands in."""
    if body.as_of is not None:
        return GivenDay(body.as_of, "request")
    if subject.as_of is not None:
        return GivenDay(subject.as_of, "workbook")
    return GivenDay(subject.created_at.astimezone(UTC).date(), "upload")


def _check(body: RunRequest) -> None:
    """Refuse what no workbook could be asked."""
    suite = SUITES.get(body.test_suite)
    if suite is None:
        raise InvalidSuite.at(["body", "test_suite"], f"the suites are {', '.join(SUITES)}")
    known = {test.test_id for test in suite.tests}
    unknown = [test_id for test_id in dict.fromkeys(body.test_ids or ()) if test_id not in known]
    if unknown:
        where = ["body", "test_ids"]
        raise UnknownTest(*(Fault(where, f"{test_id!r} is not in the suite {suite.id}") for test_id in unknown[:10]))


def _limits(stored: list[store.Limit], *, of_workbook: bool) -> dict[str, engine.Threshold]:
    return {
        limit.test_id: engine.Threshold(
            test_id=limit.test_id,
            threshold_value=limit.threshold_value,
            threshold_type=limit.threshold_type,
            warning_threshold=limit.warning_threshold,
            enabled=limit.enabled,
        )
        for limit in stored
        if limit.of_workbook == of_workbook
    }


async def _results(
    ctx: Context, portfolio: Portfolio, body: RunRequest, of_workbook: Limits, of_tenant: Limits
) -> engine.Results:
    def work() -> engine.Results:
        return runs.run_suite(
            portfolio,
            body.test_suite,
            test_ids=body.test_ids,
            workbook_thresholds=of_workbook,
            tenant_thresholds=of_tenant,
            include_cushion=body.options.include_cushion,
            fail_fast=body.options.fail_fast,
            parallel=body.options.parallel,
        )

    return work() if portfolio.row_count <= INLINE_ROWS_MAX else await ctx.compute(work)


async def result(ctx: Context, result_id: UUID, query: ResultQuery) -> ComplianceRun:
    """A run, its results narrowed to what was asked."""
    run = await store.run(ctx, result_id)
    chosen = [
        one if query.include_details else msgspec.structs.replace(one, details=None)
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
    try:
        runs.check_threshold(body.test_id, body.threshold_value, body.threshold_type, body.warning_threshold)
    except runs.UnknownTest as error:
        raise UnknownTest.at(["body", "test_id"], str(error)) from error
    except runs.InvalidThreshold as error:
        raise ValidationFailed.at(["body", "warning_threshold"], str(error)) from error
    threshold = await store.set_threshold(ctx, body, body.threshold_type or TESTS[body.test_id].threshold_type)
    ctx.concerns(
        "threshold",
        threshold.id,
        threshold.test_id,
        workbook_id=threshold.workbook_id,
        threshold_value=threshold.threshold_value,
        threshold_type=threshold.threshold_type,
        warning_threshold=threshold.warning_threshold,
        enabled=threshold.enabled,
    )
    return threshold


async def thresholds(ctx: Context, query: ThresholdQuery) -> Listing[Threshold]:
    """The limits that were set."""
    test_ids = None
    if query.category is not None:
        test_ids = [test.test_id for test in TESTS.values() if test.category == query.category]
    return await store.thresholds(ctx, query, test_ids)
