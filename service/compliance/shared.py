"""What compliance lends.

A workbook ready to be run, its rules and limits; runs that are kept; definitions as the engine takes them.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable
from collections.abc import Mapping as MappingOf
from datetime import UTC, date
from functools import wraps
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar
from uuid import UUID

import msgspec

import core
from core.compliance import limits
from core.compliance import result as engine
from core.compliance import run as runs
from core.compliance.conventions import currency_of
from core.compliance.suites import DEAL_SUITE, SUITES, TESTS
from core.definition import Definition, ready_for, unknown_fields
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import with_days
from core.portfolio.assemble.read import missing_columns
from core.portfolio.cells import checkpoint
from core.portfolio.model.fields import Mapping
from core.values import day_of
from core.words import nearest
from service.compliance import child, store
from service.compliance.lookback_store import digest_entries
from service.compliance.schema import (
    AlreadyRunning,
    ComplianceRun,
    GivenThreshold,
    InvalidDefinition,
    InvalidSuite,
    RunOrder,
    RunRequest,
    RunTooSlow,
    ThresholdCreate,
    UnknownTest,
)
from service.compliance.store import StoredRun, find_run, run_before
from service.mappings.shared import DEFAULT_MAPPING, MappingAndJson, get_mapping
from service.platform.base.compute import at_once
from service.platform.base.lru import Lru, bytes_of
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.unit.context import Unit
from service.platform.unit.records import to_json
from service.portfolios.shared import GivenDay, ReadingKey, interpret_portfolio, portfolio_of
from service.processes.shared import OutOfMemory, OutOfTime, in_child, run_limited_in_child
from service.workbooks import shared as workbooks
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady, readable_key

__all__ = [
    "KeptRun",
    "NotRepeatable",
    "RepeatedRun",
    "RunInputs",
    "StoredRun",
    "calculate",
    "check_definition",
    "check_limits",
    "check_request",
    "check_size",
    "definition_of",
    "digest_entries",
    "document_asked",
    "document_of",
    "find_run",
    "prepare",
    "read_definition",
    "repeat_run",
    "run_and_keep",
    "run_before",
    "run_by",
    "with_record",
]

P = ParamSpec("P")
T = TypeVar("T")

DEFINITION_BYTES_MAX: Final = 256 * 1024
"""JSON of a definition: ten times that of a deal with every test of its indenture."""

SHORT_BYTES: Final = 8 * 1024
"""A definition that is no longer takes some milliseconds to make, of pure Python; that of a child is made elsewhere."""

DEFINITIONS_MAX: Final = 64
"""Definitions that a process keeps made; one takes up to a megabyte, and some milliseconds to make."""
DEFINITIONS_BYTES_MAX: Final = 32 * 1024 * 1024
SEARCH_TIME: Final = 3
"""How many times as long as a run the search of a file's readings may take: of 10,000 loans it takes 5 seconds."""
INLINE_ROWS_MAX: Final = 10_000
"""So many loans take a millisecond with every test of the suites."""

_STEP: Final = re.compile(r"[^.\[\]]+")
_DAYS: Final = ("closing_date", "reinvestment_end", "stated_maturity")
_CONVENTIONS: Final = ("currency", "home_countries", *_DAYS)
"""What a deal's record and its definition both may say."""
_PAID: Final = "next_payment_date"
"""Among a run's options where it is a deal's: what the record said of it."""
_RECORD_DAYS: Final = "record_days"
"""Beside it: the days that the record said and the definition did not."""

Limits = MappingOf[str, engine.Threshold]


class DefinitionAndJson(NamedTuple):
    """A definition, and its JSON: what a run keeps as evidence."""

    definition: Definition
    json: str


class RunInputs(NamedTuple):
    """A workbook with all that a run takes."""

    subject: store.RunSubject
    mapping: MappingAndJson
    definition: DefinitionAndJson | None
    """None: the suites' defaults."""
    as_of: GivenDay
    as_read: Portfolio
    """With the choices that the file leaves open as the market has them."""
    portfolio: Portfolio
    """The same loans, read as the file's own figures say."""
    record: MappingOf[str, Any]
    """What the portfolio has of a deal's record, as a run keeps it among its options; empty where there is no deal."""
    limits: MappingOf[str, Limits]
    """By who set them: workbook, deal, tenant."""

    @property
    def definition_version(self) -> int | None:
        """Return the version of the deal's definition; None: no version."""
        return self.subject.deal.definition_version or None if self.subject.deal else None

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all that a run is made from, but for the suite."""
        definition = self.definition and self.definition.json
        made_of = (self.subject.book_key, self.mapping.json, self.as_of, definition, self.record, self.limits)
        text = to_json([*made_of, self.portfolio.interpretation is not None])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def rules(self) -> dict[str, Any]:
        """Options of `run_suite`: this workbook's definition and limits."""
        scopes = {f"{scope}_thresholds": limits for scope, limits in self.limits.items()}
        return {"definition": self.definition.definition if self.definition else None, **scopes}

    async def run(self, unit: Unit, suite: str, **options: Any) -> engine.Results:
        """Return a suite's results.

        Raises:
            UnknownTest, RunTooSlow: as `run_by`.
        """
        return await run_by(unit, self.portfolio, suite, self.rules, **options)

    def is_light(self, suite: str) -> bool:
        """Return whether this portfolio is run by this suite in a millisecond."""
        return _is_light(self.portfolio, suite, self.rules)


def _is_light(portfolio: Portfolio, suite: str, rules: MappingOf[str, Any]) -> bool:
    return portfolio.row_count <= INLINE_ROWS_MAX and suite != DEAL_SUITE and not _is_own(rules)


def _is_own(rules: MappingOf[str, Any]) -> bool:
    """Return whether a user wrote the rules, whose formulas may be slow."""
    return rules["definition"] is not None and not rules["definition"].standard


async def run_by(
    unit: Unit, portfolio: Portfolio, suite: str, rules: MappingOf[str, Any], **options: Any
) -> engine.Results:
    """Return a suite's results for a portfolio.

    On the event loop where that takes a millisecond; in a thread by ready-made rules, whose kernels release the
    interpreter's lock; by a user's own rules in a child.

    Raises:
        UnknownTest: the suite, or the definition, has no test of a name.
        RunTooSlow: it did not come to its end.
    """
    if _is_light(portfolio, suite, rules):
        return at_once(runs.run_suite, portfolio, suite, **rules, **options)
    seconds = unit.settings.compliance_seconds
    if not _is_own(rules) and (suite != DEAL_SUITE or portfolio.row_count <= INLINE_ROWS_MAX):
        return await unit.compute(with_time_limit(runs.run_suite, seconds), portfolio, suite, **rules, **options)
    ran = await calculate(unit, seconds, child.run, portfolio, suite, rules, options)
    if isinstance(ran, child.SuiteLacksTest):
        raise limits.UnknownTest(ran.message)
    return ran.as_results()


async def calculate(unit: Unit, seconds: float, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a confined child, and return its result.

    Raises:
        RunTooSlow: it takes longer, or more memory, than it may.
    """
    try:
        return await in_child(unit, seconds, work, *args, **kwargs)
    except OutOfTime:
        raise RunTooSlow.at([], f"the limit is {seconds:g} seconds") from None
    except OutOfMemory:
        limit = f"the limit is {unit.settings.calculator_memory_mb:,} MB of memory"
        raise RunTooSlow.at([], limit) from None


def with_time_limit(work: Callable[P, T], seconds: float) -> Callable[P, T]:
    """Return the same work, which may take so much time in its thread.

    Raises:
        RunTooSlow: it did not come to its end: a few formulas over texts can make much work of many loans.
    """

    @wraps(work)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        end = time.monotonic() + seconds

        def check(_grown_bytes: int) -> None:
            if time.monotonic() > end:
                raise RunTooSlow.at([], f"the limit is {seconds:g} seconds")

        with checkpoint.checking(check):
            return work(*args, **kwargs)

    return limited


async def prepare(
    unit: Unit,
    workbook_id: UUID,
    *,
    suite: str,
    wanted: dict[str, Any] | None = None,
    as_of: date | None = None,
    deal_id: UUID | None = None,
    mapping: str | MappingAndJson | None = None,
    alone: bool = False,
) -> RunInputs:
    """Return a workbook that may be run, its portfolio and its rules.

    Args:
        wanted: the document of a definition, for a workbook that belongs to no deal.
        deal_id: the deal that it must be of.
        mapping: in place of the workbook's own: an identifier, or a mapping on trial, of which nothing is kept.
        alone: nobody else may run it until the transaction ends.

    Raises:
        WorkbookNotFound, WorkbookNotReady, MappingNotFound, MappingTooSlow, Damaged: it cannot be read.
        AlreadyRunning: somebody else runs it.
        InvalidDefinition: its definition is none.
        ValidationFailed: it has a deal's definition already, or lacks a column that its mapping requires.
    """
    if wanted is not None:
        check_size(wanted)
    subject = await store.subject(unit, workbook_id, deal_id=deal_id, alone=alone)
    if readable_key(subject.status, subject.book_key) is None:
        raise WorkbookNotReady
    if alone and not subject.is_alone:
        raise AlreadyRunning
    if wanted is not None and subject.deal is not None:
        message = "the workbook belongs to a deal, and is run by the deal's definition"
        raise ValidationFailed.at(["body", "definition"], message)
    is_trial = isinstance(mapping, MappingAndJson)
    mapping = await _mapping_of(unit, mapping or subject.mapping_id or DEFAULT_MAPPING)
    day = await _day_of(unit, subject, as_of)
    portfolio = await portfolio_of(unit, subject, mapping, day, is_kept=not is_trial)
    if missing := missing_columns(portfolio, mapping.mapping):
        what = f"the mapping requires what no column of sheet {portfolio.sheet_name!r} feeds: {', '.join(missing)}"
        raise ValidationFailed.at(["body", "workbook_id"], what)
    document, record = wanted, dict[str, Any]()
    if subject.deal is not None:
        portfolio, document, record = _apply_deal(portfolio, subject.deal)
    if document is None and suite == DEAL_SUITE:
        document = {"base": ready_for(currency_of(portfolio)), "standard": True}
    definition = None if document is None else await read_definition(unit, document)
    if wanted is not None and definition is not None:
        fields = (field.target for field in mapping.mapping.fields)
        if faults := unknown_fields(definition.definition, fields):
            raise _invalid(faults)
    reading = ReadingKey(subject.book_key or "", mapping.json, day, definition and definition.json, to_json(record))
    rules = None if definition is None else definition.definition
    seconds = SEARCH_TIME * unit.settings.compliance_seconds
    as_read = portfolio
    portfolio = await interpret_portfolio(unit, portfolio, rules, reading, seconds, is_kept=not is_trial)
    scopes = ("workbook", "deal", "tenant")
    limits = {scope: {limit.test_id: limit for limit in subject.limits if limit.scope == scope} for scope in scopes}
    return RunInputs(subject, mapping, definition, day, as_read, portfolio, record, limits)


async def _mapping_of(unit: Unit, mapping: str | MappingAndJson) -> MappingAndJson:
    return await get_mapping(unit, mapping) if isinstance(mapping, str) else mapping


async def _day_of(unit: Unit, subject: store.RunSubject, wanted: date | None) -> GivenDay:
    if wanted is not None:
        return GivenDay(wanted, "request")
    if subject.as_of is not None:
        return GivenDay(subject.as_of, "workbook")
    return GivenDay((await unit.local_time(subject.created_at)).date(), "upload")


# Runs that are kept ---------------------------------------------------------------------------------------------------


class KeptRun(NamedTuple):
    """A stored run, and what the audit log says of it."""

    run: ComplianceRun
    subject: store.RunSubject
    entry: dict[str, Any]
    """Details of its entry, the hash of its evidence among them."""


async def run_and_keep(unit: Unit, body: RunRequest, *, deal_id: UUID | None = None) -> KeptRun:
    """Run a suite on a workbook, and store the run with its evidence.

    `body` was checked by `check_request`. One transaction holds the workbook's lock; the caller writes the audit entry.

    Raises:
        UnknownTest, RunTooSlow, ValidationFailed: it cannot be run so.
        WorkbookNotFound, WorkbookNotReady, AlreadyRunning, ...: as `prepare`.
    """
    executed_at, started = unit.now(), time.perf_counter()
    ready = await prepare(
        unit,
        body.workbook_id,
        suite=body.test_suite,
        wanted=document_asked(body.definition),
        as_of=body.as_of,
        deal_id=deal_id,
        alone=True,
    )
    subject, definition = ready.subject, ready.definition
    own_limits = check_limits(body, definition.definition if definition else None)
    try:
        results = await ready.run(
            unit,
            body.test_suite,
            test_ids=body.test_ids,
            request_thresholds=own_limits,
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
        thresholds=to_json({**ready.limits, "request": own_limits}),
        definition=definition.json if definition else None,
        options=to_json({**options, **ready.record}),
        engine_version=core.__version__,
    )
    evidence = await store.keep_run(unit, subject, done, inputs)
    entry = {
        "workbook_id": str(subject.id),
        "test_suite": body.test_suite,
        "executed_at": executed_at,
        "partial": done.partial,
        **msgspec.structs.asdict(done.summary),
        "evidence": evidence,
    }
    return KeptRun(done, subject, entry)


def document_asked(definition: dict[str, Any] | str | None) -> dict[str, Any] | None:
    """Return the document of a definition, or that of the ready-made one of a name."""
    return {"base": definition, "standard": True} if isinstance(definition, str) else definition


def check_request(body: RunOrder) -> None:
    """Check suite and tests before any workbook is read.

    Raises:
        InvalidSuite, UnknownTest: there is none of the name.
    """
    if body.test_suite == DEAL_SUITE:
        return  # its tests are known with its definition
    suite = SUITES.get(body.test_suite)
    if suite is None:
        raise InvalidSuite.at(["body", "test_suite"], f"the suites are {', '.join((*SUITES, DEAL_SUITE))}")
    suite_ids = {test.test_id for test in suite.tests}
    unknown = [test_id for test_id in dict.fromkeys(body.test_ids or ()) if test_id not in suite_ids]
    if unknown:
        where = ["body", "test_ids"]
        faults = [
            Fault(where, f"{test_id!r} is not in the suite {suite.id}{_hint(test_id, suite_ids)}")
            for test_id in unknown[:10]
        ]
        raise UnknownTest(*faults, Fault(where, f"its tests are {', '.join(sorted(suite_ids))}"))


def _hint(test_id: str, test_ids: Iterable[str]) -> str:
    near = nearest(test_id, test_ids)
    return f"; did you mean {near}?" if near else ""


def check_limits(body: RunOrder, definition: Definition | None) -> dict[str, engine.Threshold]:
    """Return a request's own limits by test.

    Raises:
        UnknownTest, ValidationFailed: as `check_threshold`.
    """
    for place, threshold in enumerate(body.thresholds):
        check_threshold(["body", "thresholds", str(place)], threshold, definition)
    return {limit.test_id: engine.Threshold(**msgspec.structs.asdict(limit)) for limit in body.thresholds}


def check_threshold(
    where: list[str], threshold: ThresholdCreate | GivenThreshold, definition: Definition | None
) -> engine.Direction:
    """Return the direction of a limit's test.

    Raises:
        UnknownTest: there is no such test.
        ValidationFailed: no run could use the limit.
    """
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
        raise UnknownTest(Fault([*where, "test_id"], str(error)), Fault([*where, "test_id"], hint)) from error
    except limits.InvalidThreshold as error:
        raise ValidationFailed.at([*where, "warning_threshold"], str(error)) from error
    return test.threshold_type


# Stored runs ----------------------------------------------------------------------------------------------------------


class NotRepeatable(Exception):
    """A stored run's loans cannot be read as the run read them; the message says why."""


class RepeatedRun(NamedTuple):
    """The loans of a stored run, read as the run read them, and its rules."""

    portfolio: Portfolio
    mapping: Mapping
    definition: Definition | None
    limits: MappingOf[str, Limits]
    """By who set them: request, workbook, deal, tenant."""

    @property
    def rules(self) -> dict[str, Any]:
        """Options of `run_suite`: the run's definition and limits."""
        return {"definition": self.definition, **{f"{scope}_thresholds": set_ for scope, set_ in self.limits.items()}}


async def repeat_run(unit: Unit, run: store.StoredRun) -> RepeatedRun:
    """Return a stored run's loans, mapping and rules, made anew.

    Raises:
        NotRepeatable: the workbook is gone or changed since, or the loans give other figures now.
        Damaged: stored bytes are not those that were stored.
        MappingTooSlow, RunTooSlow: it takes longer than it may.
    """
    try:
        book = await workbooks.get(unit, run.workbook_id)
    except WorkbookNotFound:
        raise NotRepeatable("the workbook was deleted after the run") from None
    if readable_key(book.status, book.book_key) != run.book_key:
        raise NotRepeatable("the workbook was changed after the run")
    mapping = msgspec.json.decode(run.mapping, type=Mapping)
    portfolio = await portfolio_of(unit, book, MappingAndJson(mapping, run.mapping), _day_again(run))
    definition = await definition_of(unit, run)
    options = msgspec.json.decode(run.options)
    portfolio = with_recorded_days(portfolio, run.definition, options)
    if run.interpretation is not None:
        portfolio = read_by(portfolio, run.interpretation, definition)
    repetition = RepeatedRun(portfolio, mapping, definition, limits_of(run.thresholds))
    now = await run_by(unit, portfolio, run.test_suite, repetition.rules, test_ids=options["test_ids"], details=False)
    figures = {result.test_id: result.current_value for result in now}
    if now.as_of != run.as_of or any(figures.get(result.test_id) != result.current_value for result in run.results):
        raise NotRepeatable(f"the loans give other figures now, by version {core.__version__} of the engine")
    return repetition


def with_recorded_days(portfolio: Portfolio, definition: str | None, options: dict[str, Any]) -> Portfolio:
    """Return a run's portfolio with the days of its deal's record.

    They stand in the run's definition (JSON) and options.
    """
    if definition is None or _PAID not in options:  # no deal's
        return portfolio
    recorded = options.get(_RECORD_DAYS)
    if recorded is None:  # a run of an earlier version: its definition has them beside its own
        conventions = msgspec.json.decode(definition).get("conventions", {})
        recorded = {name: conventions[name] for name in _DAYS if name in conventions}
    days = {name: date.fromisoformat(day) for name, day in recorded.items()}
    return _with_record_days(portfolio, days, None if options[_PAID] is None else date.fromisoformat(options[_PAID]))


def limits_of(thresholds: str) -> dict[str, dict[str, engine.Threshold]]:
    """Return a stored run's limits by who set them. Request, workbook, deal, tenant."""
    return msgspec.json.decode(thresholds, type=dict[str, dict[str, engine.Threshold]])


async def definition_of(unit: Unit, run: store.StoredRun) -> Definition | None:
    """Return the definition by which a stored run went; None: the suites' defaults."""
    return (
        None
        if run.definition is None
        else (await read_definition(unit, msgspec.json.decode(run.definition))).definition
    )


def _day_again(run: store.StoredRun) -> GivenDay:
    """Return the day and its source that a run was asked for.

    Where the file said its own, that is the day of the upload, which does not count.
    """
    if run.as_of_source in ("request", "workbook", "upload"):
        return GivenDay(run.as_of, run.as_of_source)
    return GivenDay(run.uploaded_at.astimezone(UTC).date(), "upload")


# Definitions ----------------------------------------------------------------------------------------------------------


def document_of(deal: store.DealRules, currency: str | None = None) -> dict[str, Any]:
    """Return a deal's definition, or the market's for a currency.

    What it leaves open the deal's record says.
    """
    written = deal.definition
    market = ready_for(currency or deal.currency)
    document = msgspec.json.decode(written) if written else {"base": market, "standard": True}
    return with_record(document, {name: getattr(deal, name) for name in _CONVENTIONS})


def _apply_deal(portfolio: Portfolio, deal: store.DealRules) -> tuple[Portfolio, dict[str, Any], dict[str, Any]]:
    """Return portfolio, definition and record days of a workbook's deal."""
    own = (msgspec.json.decode(deal.definition) if deal.definition else {}).get("conventions", {})
    days = {name: day for name in _DAYS if name not in own and (day := getattr(deal, name)) is not None}
    portfolio = _with_record_days(portfolio, days, deal.next_payment_date)
    document = document_of(deal, currency_of(portfolio, deal.currency))
    counts = {name: msgspec.to_builtins(day_of(getattr(portfolio.deal, name))) for name in days}
    record = {_PAID: deal.next_payment_date, _RECORD_DAYS: days}
    return portfolio, {**document, "conventions": document["conventions"] | counts}, record


def _with_record_days(portfolio: Portfolio, days: dict[str, date], payment: date | None) -> Portfolio:
    """Return the portfolio with the days that only the deal's record has."""
    as_of = day_of(portfolio.deal.as_of)
    if payment is not None and portfolio.deal.next_payment is None and (as_of is None or payment >= as_of):
        days = days | {"next_payment": payment}  # one that is over is an earlier period's
    return with_days(portfolio, days, "the deal's record", first=False)


def with_record(document: dict[str, Any], record: MappingOf[str, Any]) -> dict[str, Any]:
    """Return a definition's document completed by the deal's record."""
    conventions = document.get("conventions", {})
    if not isinstance(conventions, dict):  # a fault, which the definition's check reports
        return document
    own = {name: msgspec.to_builtins(record[name]) for name in _CONVENTIONS if record[name]}
    return {**document, "conventions": own | conventions}


async def read_definition(unit: Unit, document: dict[str, Any]) -> DefinitionAndJson:
    """Return the definition that a document says.

    Raises:
        InvalidDefinition: it is none, with every fault and its place.
    """
    text = msgspec.json.encode(document, order="sorted").decode()
    cache: Lru[str, DefinitionAndJson] = unit.resources.memory.cache(
        "definitions", most=DEFINITIONS_MAX, bytes_most=DEFINITIONS_BYTES_MAX
    )
    cached = cache.get(text)
    if cached is None:
        cached = DefinitionAndJson(await check_definition(unit, document, len(text)), text)
        cache.keep(text, cached, bytes_of(cached))
    return cached


def check_size(document: dict[str, Any]) -> bytes:
    """Return the JSON of a definition's document, unless it is too long.

    Raises:
        InvalidDefinition: it is.
    """
    text = msgspec.json.encode(document)
    if len(text) > DEFINITION_BYTES_MAX:
        message = f"takes {len(text):,} bytes; the limit is {DEFINITION_BYTES_MAX:,}"
        raise InvalidDefinition.at(["body", "definition"], message)
    return text


async def check_definition(
    unit: Unit, document: dict[str, Any], size_bytes: int, own_fields: list[str] | None = None
) -> Definition:
    """Return the definition of a document of so many bytes.

    Without `own_fields`, those of mappings, its formulas may read whatever a file may have.
    """
    if size_bytes <= SHORT_BYTES:
        parsed = await unit.compute(child.parse_definition, document, own_fields)
    else:
        parsed = await run_limited_in_child(unit, child.parse_definition, document, own_fields)
    if parsed.definition is None:
        raise _invalid(parsed.faults)
    return parsed.definition


def _invalid(faults: Iterable[tuple[str, str]]) -> InvalidDefinition:
    places = ((["body", "definition", *_STEP.findall(place)], message) for place, message in faults)
    return InvalidDefinition(*(Fault(place, message) for place, message in places))
