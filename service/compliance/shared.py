"""What compliance lends: a workbook ready to be run, its rules and limits; definitions as the engine takes them."""

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
from core.compliance import result as engine
from core.compliance import run as runs
from core.compliance.conventions import currency_of
from core.compliance.limits import UnknownTest
from core.compliance.suites import DEAL_SUITE
from core.definition import Definition, ready_for, unknown_fields
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import with_days
from core.portfolio.assemble.read import missing_columns
from core.portfolio.cells import checkpoint
from core.portfolio.model.fields import Mapping
from core.values import day_of
from service.compliance import child, store
from service.compliance.schema import AlreadyRunning, InvalidDefinition, RunTooSlow
from service.compliance.store import StoredRun, run_before, stored_run
from service.mappings.shared import DEFAULT_MAPPING, MappingAndJson, get_mapping
from service.platform.base.compute import at_once
from service.platform.base.lru import Lru, bytes_of
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.unit.context import Unit
from service.portfolios.shared import GivenDay, ReadingKey, interpreted_portfolio, portfolio_of
from service.processes.shared import OutOfMemory, OutOfTime, in_child, limited_in_child
from service.workbooks import shared as workbooks
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady, served

__all__ = [
    "NotRepeatable",
    "Prepared",
    "Repeated",
    "StoredRun",
    "calculated",
    "check_size",
    "checked",
    "definition_of",
    "document_of",
    "made",
    "prepare",
    "repeated",
    "run_before",
    "run_by",
    "stored_run",
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


class Prepared(NamedTuple):
    """A workbook with all that a run takes."""

    subject: store.Subject
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
        """Of the deal's definition; None where no version of one is used."""
        return self.subject.deal.definition_version or None if self.subject.deal else None

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all that a run is made from, but for the suite."""
        definition = self.definition and self.definition.json
        made_of = (self.subject.book_key, self.mapping.json, self.as_of, definition, self.record, self.limits)
        text = store.as_json([*made_of, self.portfolio.interpretation is not None])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def rules(self) -> dict[str, Any]:
        """Options of `run_suite`: this workbook's definition and limits."""
        scopes = {f"{scope}_thresholds": limits for scope, limits in self.limits.items()}
        return {"definition": self.definition.definition if self.definition else None, **scopes}

    async def run(self, unit: Unit, suite: str, **options: Any) -> engine.Results:
        """A suite's results.

        Raises:
            UnknownTest, RunTooSlow: as `run_by`.
        """
        return await run_by(unit, self.portfolio, suite, self.rules, **options)

    def is_light(self, suite: str) -> bool:
        """Whether this portfolio is run by this suite in a millisecond."""
        return _is_light(self.portfolio, suite, self.rules)


def _is_light(portfolio: Portfolio, suite: str, rules: MappingOf[str, Any]) -> bool:
    return portfolio.row_count <= INLINE_ROWS_MAX and suite != DEAL_SUITE and not _is_own(rules)


def _is_own(rules: MappingOf[str, Any]) -> bool:
    """Whether somebody wrote the rules: one formula of theirs over texts can take seconds."""
    return rules["definition"] is not None and not rules["definition"].standard


async def run_by(
    unit: Unit, portfolio: Portfolio, suite: str, rules: MappingOf[str, Any], **options: Any
) -> engine.Results:
    """A suite's results for a portfolio: on the event loop where that takes a millisecond; in a thread by ready-made
    rules, whose kernels release the interpreter's lock; by somebody's own in a child.

    Raises:
        UnknownTest: the suite, or the definition, has no test of a name.
        RunTooSlow: it did not come to its end.
    """
    if _is_light(portfolio, suite, rules):
        return at_once(runs.run_suite, portfolio, suite, **rules, **options)
    seconds = unit.settings.compliance_seconds
    if not _is_own(rules) and (suite != DEAL_SUITE or portfolio.row_count <= INLINE_ROWS_MAX):
        return await unit.compute(timed(runs.run_suite, seconds), portfolio, suite, **rules, **options)
    ran = await calculated(unit, seconds, child.run, portfolio, suite, rules, options)
    if isinstance(ran, child.NoSuchTest):
        raise UnknownTest(ran.message)
    return ran.as_results()


async def calculated(unit: Unit, seconds: float, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a function returns, called in a confined child (`service.processes.shared.in_child`).

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


def timed(work: Callable[P, T], seconds: float) -> Callable[P, T]:
    """The same work, which may take so much time in its thread.

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
    given: dict[str, Any] | None = None,
    as_of: date | None = None,
    deal_id: UUID | None = None,
    mapping_id: str | None = None,
    trial: MappingAndJson | None = None,
    alone: bool = False,
) -> Prepared:
    """A workbook that may be run, its portfolio and its rules.

    Args:
        given: the document of a definition, for a workbook that belongs to no deal.
        deal_id: the deal that it must be of.
        mapping_id: in place of the workbook's own.
        trial: a mapping that is only tried; nothing that comes of it is kept.
        alone: nobody else may run it until the transaction ends.

    Raises:
        WorkbookNotFound, WorkbookNotReady, MappingNotFound, MappingTooSlow, Damaged: it cannot be read.
        AlreadyRunning: somebody else runs it.
        InvalidDefinition: its definition is none.
        ValidationFailed: it has a deal's definition already, or lacks a column that its mapping requires.
    """
    if given is not None:
        check_size(given)
    subject = await store.subject(unit, workbook_id, deal_id=deal_id, alone=alone)
    if served(subject.status, subject.book_key) is None:
        raise WorkbookNotReady
    if alone and not subject.is_alone:
        raise AlreadyRunning
    if given is not None and subject.deal is not None:
        message = "the workbook belongs to a deal, and is run by the deal's definition"
        raise ValidationFailed.at(["body", "definition"], message)
    mapping = trial or await get_mapping(unit, mapping_id or subject.mapping_id or DEFAULT_MAPPING)
    day = await _day_of(unit, subject, as_of)
    portfolio = await portfolio_of(unit, subject, mapping, day, is_kept=trial is None)
    if missing := missing_columns(portfolio, mapping.mapping):
        what = f"the mapping requires what no column of sheet {portfolio.sheet_name!r} feeds: {', '.join(missing)}"
        raise ValidationFailed.at(["body", "workbook_id"], what)
    document, record = given, dict[str, Any]()
    if subject.deal is not None:
        portfolio, document, record = _ruled(portfolio, subject.deal)
    if document is None and suite == DEAL_SUITE:
        document = {"base": ready_for(currency_of(portfolio)), "standard": True}
    definition = None if document is None else await made(unit, document)
    if given is not None and definition is not None:
        fields = (field.target for field in mapping.mapping.fields)
        if faults := unknown_fields(definition.definition, fields):
            raise _invalid(faults)
    reading = ReadingKey(
        subject.book_key or "", mapping.json, day, definition and definition.json, store.as_json(record)
    )
    rules = None if definition is None else definition.definition
    seconds = SEARCH_TIME * unit.settings.compliance_seconds
    as_read = portfolio
    portfolio = await interpreted_portfolio(unit, portfolio, rules, reading, seconds, is_kept=trial is None)
    scopes = ("workbook", "deal", "tenant")
    limits = {scope: {limit.test_id: limit for limit in subject.limits if limit.scope == scope} for scope in scopes}
    return Prepared(subject, mapping, definition, day, as_read, portfolio, record, limits)


async def _day_of(unit: Unit, subject: store.Subject, asked: date | None) -> GivenDay:
    if asked is not None:
        return GivenDay(asked, "request")
    if subject.as_of is not None:
        return GivenDay(subject.as_of, "workbook")
    return GivenDay((await unit.there(subject.created_at)).date(), "upload")


# Stored runs ----------------------------------------------------------------------------------------------------------


class NotRepeatable(Exception):
    """A stored run's loans cannot be read as the run read them; the message says why."""


class Repeated(NamedTuple):
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


async def repeated(unit: Unit, run: store.StoredRun) -> Repeated:
    """The loans of a stored run, from the same columns, by the same mapping and rules and on the same day.

    Raises:
        NotRepeatable: the workbook is gone or changed since, or the loans give other figures now.
        Damaged: stored bytes are not those that were stored.
        MappingTooSlow, RunTooSlow: it takes longer than it may.
    """
    try:
        book = await workbooks.get(unit, run.workbook_id)
    except WorkbookNotFound:
        raise NotRepeatable("the workbook was deleted after the run") from None
    if served(book.status, book.book_key) != run.book_key:
        raise NotRepeatable("the workbook was changed after the run")
    mapping = msgspec.json.decode(run.mapping, type=Mapping)
    portfolio = await portfolio_of(unit, book, MappingAndJson(mapping, run.mapping), _day_again(run))
    definition = await definition_of(unit, run)
    options = msgspec.json.decode(run.options)
    portfolio = as_recorded(portfolio, run.definition, options)
    if run.interpretation is not None:
        portfolio = read_by(portfolio, run.interpretation, definition)
    found = Repeated(portfolio, mapping, definition, limits_of(run.thresholds))
    now = await run_by(unit, portfolio, run.test_suite, found.rules, test_ids=options["test_ids"], details=False)
    figures = {one.test_id: one.current_value for one in now}
    if now.as_of != run.as_of or any(figures.get(result.test_id) != result.current_value for result in run.results):
        raise NotRepeatable(f"the loans give other figures now, by version {core.__version__} of the engine")
    return found


def as_recorded(portfolio: Portfolio, definition: str | None, options: dict[str, Any]) -> Portfolio:
    """The portfolio of a stored run with what its deal's record said, from the run's definition (JSON) and options."""
    if definition is None or _PAID not in options:  # no deal's
        return portfolio
    said = options.get(_RECORD_DAYS)
    if said is None:  # a run of an earlier version: its definition has them beside its own
        conventions = msgspec.json.decode(definition).get("conventions", {})
        said = {name: conventions[name] for name in _DAYS if name in conventions}
    days = {name: date.fromisoformat(day) for name, day in said.items()}
    return _with_record_days(portfolio, days, None if options[_PAID] is None else date.fromisoformat(options[_PAID]))


def limits_of(thresholds: str) -> dict[str, dict[str, engine.Threshold]]:
    """A stored run's limits from their JSON, by who set them: request, workbook, deal, tenant."""
    return msgspec.json.decode(thresholds, type=dict[str, dict[str, engine.Threshold]])


async def definition_of(unit: Unit, run: store.StoredRun) -> Definition | None:
    """The definition by which a stored run went; None: the suites' defaults."""
    return None if run.definition is None else (await made(unit, msgspec.json.decode(run.definition))).definition


def _day_again(run: store.StoredRun) -> GivenDay:
    """The day that a run was given: where the file said its own, that of the upload, which does not count."""
    if run.as_of_source in ("request", "workbook", "upload"):
        return GivenDay(run.as_of, run.as_of_source)
    return GivenDay(run.uploaded_at.astimezone(UTC).date(), "upload")


# Definitions ----------------------------------------------------------------------------------------------------------


def document_of(deal: store.DealRules, currency: str | None = None) -> dict[str, Any]:
    """A deal's definition; without one, the market's for a currency, else for the deal's. What it leaves open the
    deal's record says.
    """
    written = deal.definition
    market = ready_for(currency or deal.currency)
    document = msgspec.json.decode(written) if written else {"base": market, "standard": True}
    return with_record(document, {name: getattr(deal, name) for name in _CONVENTIONS})


def _ruled(portfolio: Portfolio, deal: store.DealRules) -> tuple[Portfolio, dict[str, Any], dict[str, Any]]:
    """The portfolio with the days that only the deal's record says, the deal's definition for it, and these days."""
    own = (msgspec.json.decode(deal.definition) if deal.definition else {}).get("conventions", {})
    days = {name: day for name in _DAYS if name not in own and (day := getattr(deal, name)) is not None}
    portfolio = _with_record_days(portfolio, days, deal.next_payment_date)
    document = document_of(deal, currency_of(portfolio, deal.currency))
    counts = {name: msgspec.to_builtins(day_of(getattr(portfolio.deal, name))) for name in days}
    record = {_PAID: deal.next_payment_date, _RECORD_DAYS: days}
    return portfolio, {**document, "conventions": document["conventions"] | counts}, record


def _with_record_days(portfolio: Portfolio, days: dict[str, date], payment: date | None) -> Portfolio:
    """The portfolio with the days that only the deal's record says, its next payment among them."""
    as_of = day_of(portfolio.deal.as_of)
    if payment is not None and portfolio.deal.next_payment is None and (as_of is None or payment >= as_of):
        days = days | {"next_payment": payment}  # one that is over is an earlier period's
    return with_days(portfolio, days, "the deal's record", first=False)


def with_record(document: dict[str, Any], record: MappingOf[str, Any]) -> dict[str, Any]:
    """A definition's document, its conventions completed by what a deal's record says."""
    conventions = document.get("conventions", {})
    if not isinstance(conventions, dict):  # which is a fault, and told as one
        return document
    own = {name: msgspec.to_builtins(record[name]) for name in _CONVENTIONS if record[name]}
    return {**document, "conventions": own | conventions}


async def made(unit: Unit, document: dict[str, Any]) -> DefinitionAndJson:
    """The definition that a document says.

    Raises:
        InvalidDefinition: it is none, with every fault and its place.
    """
    text = msgspec.json.encode(document, order="sorted").decode()
    cache: Lru[str, DefinitionAndJson] = unit.resources.memory.cache(
        "definitions", most=DEFINITIONS_MAX, bytes_most=DEFINITIONS_BYTES_MAX
    )
    found = cache.get(text)
    if found is None:
        found = DefinitionAndJson(await checked(unit, document, len(text)), text)
        cache.keep(text, found, bytes_of(found))
    return found


def check_size(document: dict[str, Any]) -> bytes:
    """The JSON of a definition's document, unless it is too long.

    Raises:
        InvalidDefinition: it is.
    """
    text = msgspec.json.encode(document)
    if len(text) > DEFINITION_BYTES_MAX:
        message = f"takes {len(text):,} bytes; the limit is {DEFINITION_BYTES_MAX:,}"
        raise InvalidDefinition.at(["body", "definition"], message)
    return text


async def checked(
    unit: Unit, document: dict[str, Any], size_bytes: int, own_fields: list[str] | None = None
) -> Definition:
    """The definition that a document of so many bytes of JSON says; `InvalidDefinition` as `made`.

    Without `own_fields`, those of mappings, its formulas may read whatever a file may have.
    """
    if size_bytes <= SHORT_BYTES:
        parsed = await unit.compute(child.parse_definition, document, own_fields)
    else:
        parsed = await limited_in_child(unit, child.parse_definition, document, own_fields)
    if parsed.definition is None:
        raise _invalid(parsed.faults)
    return parsed.definition


def _invalid(faults: Iterable[tuple[str, str]]) -> InvalidDefinition:
    places = ((["body", "definition", *_STEP.findall(place)], message) for place, message in faults)
    return InvalidDefinition(*(Fault(place, message) for place, message in places))
