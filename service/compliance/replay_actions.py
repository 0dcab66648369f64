"""Past runs replayed from their evidence.

What each stored figure is proved by, or why it is not.

Nothing but evidence is read: the columns that the run read, by the blobs that its manifest names, and the mapping,
rules, limits, options and day that stand in its row. No workbook, mapping, deal or setting of today has a part in it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, Literal
from uuid import UUID

import msgspec
from msgspec import Struct

import core
from core.compliance import run as runs
from core.compliance.result import Results, TestResult
from core.definition import Definition, parse
from core.grid.codec import WorkbookRecord, open_workbook
from core.grid.sheet import Workbook
from core.interpretation.interpret import interpret
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.model.fields import Mapping as ColumnMapping
from core.portfolio.model.interpretation import Interpretation
from core.portfolio.model.portfolio import GivenSource
from core.values import EPOCH
from service.audit.shared import Extent, piece
from service.compliance import replay_store as store
from service.compliance.lookback_store import EVIDENCE, digest_entries
from service.compliance.schema import RunTooSlow
from service.compliance.shared import SEARCH_TIME, limits_of, with_recorded_days, with_time_limit
from service.compliance.store import INTERPRETATION, figures_of
from service.mappings.schema import MappingTooSlow
from service.mappings.shared import mapping_time
from service.platform.base.lru import Lru, bytes_of
from service.platform.config import Settings
from service.platform.data.audit import AuditChain, Break, Record, digest
from service.platform.data.audit import parse as entry_of
from service.platform.data.audit_filter import AuditFilter
from service.platform.data.blobs import Blobs, Damaged
from service.platform.data.database import Database
from service.platform.unit.records import to_json
from service.portfolios.shared import INTERPRETATIONS_BYTES_MAX, INTERPRETATIONS_MAX, SAMPLES_TIME

ENTRIES_AT_A_TIME: Final = 1_000
RUNS_AT_A_TIME: Final = 20
"""Stored runs that are held at a time: their results take some 50 kB each."""
UNTOLD_MAX: Final = 100
"""Most runs without an entry that a replay names."""
DIFFERENCES_MAX: Final = 100
"""Most differences of one run that a verdict has."""
PATIENCE: Final = 10
"""How many times as long as the service a replay may take: a run that just ended in time is to end here, too."""
PORTFOLIOS_MAX: Final = 32
PORTFOLIOS_BYTES_MAX: Final = 512 * 1024 * 1024
BOOKS_MAX: Final = 16
BOOKS_BYTES_MAX: Final = 128 * 1024 * 1024
DEFINITIONS_MAX: Final = 64
DEFINITIONS_BYTES_MAX: Final = 32 * 1024 * 1024
COPIES_BYTES_MAX: Final = 2 * 1024 * 1024 * 1024
"""Of blobs fetched from a remote store; past it all of them go."""

BATCH_ENDED: Final = frozenset({"batch.completed", "batch.failed", "batch.cancelled"})
"""Entries that stand for the runs of a batch."""
RUN_COMPLETED: Final = "compliance.run_completed"
_OPTIONS: Final = ("test_ids", "include_cushion", "fail_fast", "parallel")
_OUTPUTS: Final = ("as_of", "as_of_source", "results", "skipped", "warnings", "options")

Status = Literal["reproduced", "differs", "altered", "expired", "unproved"]
"""The replay gives the same to the last bit; gives something else; the evidence is not what was hashed; its bytes went
when their retention ended; it cannot be replayed, since the bytes were never kept or it takes too long."""
PROVED: Final = frozenset({"reproduced", "expired"})
"""What leaves nothing to look into."""


class Difference(Struct, frozen=True):
    """A figure that a replay gives otherwise."""

    test_id: str | None
    """None: of the run as a whole."""
    figure: str
    stored: Any
    replayed: Any


class ReplayVerdict(Struct, frozen=True, kw_only=True):
    """What is proved of a run."""

    run_id: UUID
    sequence: int | None
    """Of its entry in the chain; None where no entry names it."""
    status: Status
    reason: str | None = None
    executed_at: datetime | None = None
    workbook_id: UUID | None = None
    test_suite: str | None = None
    partial: bool | None = None
    """Tests of the suite were left out by the request."""
    stream_key: str | None = None
    as_of: str | None = None
    as_of_source: str | None = None
    definition_version: int | None = None
    engine_version: str | None = None
    is_present_engine: bool | None = None
    """False: it was run by another version of the engine than replays it."""
    evidence_hash: str | None = None
    """As its entry has it; None in entries of earlier versions."""
    differences: list[Difference] = []


class ReplayOrder(Struct, frozen=True, kw_only=True):
    """Which runs are replayed; the chain is walked as a whole."""

    run_id: UUID | None = None
    stream_key: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Inclusive, of the run's entry."""

    @property
    def is_everything(self) -> bool:
        return self == ReplayOrder()

    def has_time(self, moment: datetime) -> bool:
        """Return whether an entry of this moment is asked for."""
        return (self.since is None or moment >= self.since) and (self.until is None or moment <= self.until)


class WalkCounts(Struct):
    """How far the walk of a chain has come."""

    entries: int = 0
    last_hash: str = ""


# The walk -------------------------------------------------------------------------------------------------------------


async def verify(
    database: Database, replayer: Replayer, tenant: UUID, order: ReplayOrder, walked: WalkCounts
) -> AsyncIterator[ReplayVerdict | Break]:
    """Yield a verdict of each run, and each break of the chain.

    Entries that are appended meanwhile are not read. Each part has a transaction of its own, so that a walk of an
    hour holds up nobody.
    """
    async with database.transaction(tenant) as tx:
        head = await store.head(tx)
    end = head.sequence if head else 0
    chain, after = AuditChain(), 0
    while after < end:
        async with database.transaction(tenant) as tx:
            extent = Extent(count=end, last=end)
            page = await piece(tx, AuditFilter(), extent, after=after, rows_max=ENTRIES_AT_A_TIME)
        if not page.lines:
            break
        after, entries = page.last, list[Record]()
        for line in page.lines.encode().splitlines():
            entry = entry_of(line)
            walked.entries += 1
            if reason := chain.fault(entry):
                yield Break(entry.sequence, reason)
            of_runs, fault = await _entries_of_runs(database, tenant, entry, order)
            entries += of_runs
            if fault is not None:
                yield Break(entry.sequence, fault)
        async for verdict in _verdicts(database, replayer, tenant, entries, order.stream_key):
            yield verdict
    for unexplained in chain.list_unexplained():
        yield unexplained
    last = chain.last
    if head is not None and end and (last is None or (last.sequence, last.hash) != (head.sequence, head.hash)):
        yield Break(end, "the entry that was appended last is missing, or another one")
    walked.last_hash = last.hash if last else ""
    for run_id in await _runs_without_entry(database, tenant) if order.is_everything else ():
        reason = "no entry of the chain tells of it"
        yield ReplayVerdict(run_id=run_id, sequence=None, status="altered", reason=reason)


async def _entries_of_runs(
    database: Database, tenant: UUID, entry: Record, order: ReplayOrder
) -> tuple[list[Record], str | None]:
    """Return the asked entries of runs that an entry is or stands for.

    Beside them is the fault of a batch.
    """
    of_runs, fault = [entry], None
    if entry.resource_type == "batch" and entry.action in BATCH_ENDED:
        of_runs, fault = await _entries_of_batch(database, tenant, entry)
    return [run_entry for run_entry in of_runs if _is_asked(run_entry, order)], fault


async def _entries_of_batch(database: Database, tenant: UUID, ended: Record) -> tuple[list[Record], str | None]:
    """Return the entries that the end of a batch stands for, one a run.

    Beside them is why they are not to be trusted.
    """
    with suppress(ValueError):
        batch_id = UUID(ended.resource_id)
        async with database.transaction(tenant) as tx:
            stored = await store.batch_entries(tx, batch_id)
        entries = [
            msgspec.structs.replace(
                ended,
                action=RUN_COMPLETED,
                resource_type="compliance_run",
                resource_id=str(run.run_id),
                details=msgspec.Raw(run.entry.encode()),
            )
            for run in stored
        ]
        recorded_hash = msgspec.json.decode(ended.details).get("evidence")
        is_whole = digest_entries((run.run_id, run.entry) for run in stored) == recorded_hash
        return entries, None if is_whole else "the runs of the batch are not those that its entry has the hash of"
    return [], "the entry of a batch's end names no batch"


async def _runs_without_entry(database: Database, tenant: UUID) -> list[UUID]:
    async with database.transaction(tenant) as tx:
        return await store.ids_without_entry(tx, UNTOLD_MAX)


async def _verdicts(
    database: Database, replayer: Replayer, tenant: UUID, entries: list[Record], stream_key: str | None
) -> AsyncIterator[ReplayVerdict]:
    """Yield what is proved of the runs of these entries, of one stream where it is named."""
    for place in range(0, len(entries), RUNS_AT_A_TIME):
        some = [(UUID(entry.resource_id), entry) for entry in entries[place : place + RUNS_AT_A_TIME]]
        async with database.transaction(tenant) as tx:
            stored = await store.runs(tx, [run_id for run_id, _ in some])
            missing = [run_id for run_id, _ in some if run_id not in stored]
            ended = await store.expired(tx, missing) if missing else {}
        for run_id, entry in some:
            run = stored.get(run_id)
            if run is None or stream_key in (None, run.stream_key):
                yield await replayer.verdict(tenant, entry, run, ended.get(run_id))


def _is_asked(entry: Record, order: ReplayOrder) -> bool:
    if entry.action != RUN_COMPLETED or entry.resource_type != "compliance_run":
        return False
    with suppress(ValueError):
        run_id, moment = UUID(entry.resource_id), datetime.fromisoformat(entry.timestamp)
        return order.run_id in (None, run_id) and order.has_time(moment)
    return False


# One run --------------------------------------------------------------------------------------------------------------


class _Unproved(Exception):
    """A run cannot be replayed; the message says why."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status: Status = status


class Replayer:
    """Replays runs; what neighbouring ones share stays open."""

    def __init__(self, database: Database, blobs: Blobs, settings: Settings) -> None:
        self._database = database
        self._blobs = blobs
        self._seconds = PATIENCE * settings.compliance_seconds
        self._mapping_seconds = PATIENCE * SAMPLES_TIME * settings.mapping_seconds
        self._books: Lru[str, Workbook] = Lru(most=BOOKS_MAX, bytes_most=BOOKS_BYTES_MAX)
        self._portfolios: Lru[tuple[str | None, ...], Portfolio] = Lru(
            most=PORTFOLIOS_MAX, bytes_most=PORTFOLIOS_BYTES_MAX
        )
        self._interpretations: Lru[tuple[str | None, ...], Interpretation] = Lru(
            most=INTERPRETATIONS_MAX, bytes_most=INTERPRETATIONS_BYTES_MAX
        )
        self._definitions: Lru[str, Definition] = Lru(most=DEFINITIONS_MAX, bytes_most=DEFINITIONS_BYTES_MAX)

    async def verdict(self, tenant: UUID, entry: Record, run: store.RunRow | None, ended: str | None) -> ReplayVerdict:
        """Return what the chain and a replay prove of a run.

        `ended` is as `store.expired` says.
        """
        run_id, details = UUID(entry.resource_id), msgspec.json.decode(entry.details)
        recorded_hash: str | None = details.get("evidence")
        if run is None:
            status: Status = "altered" if ended is None else "expired"
            absence = "the run that the chain tells of is not there"
            if ended is not None:
                absence = f"it was removed after its retention had ended, {ended}"
            return ReplayVerdict(
                run_id=run_id, sequence=entry.sequence, status=status, reason=absence, evidence_hash=recorded_hash
            )
        stored = dict(zip(EVIDENCE, run.evidence, strict=True))
        status, reason, differences = await self._judged(tenant, details, run, stored)
        version = stored["definition_version"]
        return ReplayVerdict(
            run_id=run_id,
            sequence=entry.sequence,
            status=status,
            reason=reason,
            executed_at=run.executed_at,
            workbook_id=run.workbook_id,
            test_suite=stored["test_suite"],
            partial=run.partial,
            stream_key=run.stream_key,
            as_of=stored["as_of"],
            as_of_source=stored["as_of_source"],
            definition_version=None if version is None else int(version),
            engine_version=stored["engine_version"],
            is_present_engine=stored["engine_version"] == core.__version__,
            evidence_hash=recorded_hash,
            differences=differences[:DIFFERENCES_MAX],
        )

    async def _judged(
        self, tenant: UUID, details: dict[str, Any], run: store.RunRow, stored: dict[str, str | None]
    ) -> tuple[Status, str | None, list[Difference]]:
        recorded_hash = details.get("evidence")
        fault: str | None = None
        if recorded_hash is not None and digest(run.evidence) != recorded_hash:
            fault = "the stored run is not the one that its entry has the hash of"
        fault = fault or _uncovered_fault(details, run, stored)
        try:
            now = stored | await self._replayed(tenant, stored)
        except _Unproved as error:
            return ("altered", f"{fault}; {error}", []) if fault else (error.status, str(error), [])
        differences = _differences(stored, now)
        if fault is not None:
            if recorded_hash is not None and digest(now[name] for name in EVIDENCE) == recorded_hash:
                fault += "; its inputs are, and a replay gives what was hashed"
            return "altered", fault, differences
        if differences:
            return "differs", "a replay gives other figures", differences
        return (
            "reproduced",
            None if recorded_hash is not None else "its entry is of an earlier version: no hash of the run",
            [],
        )

    async def _replayed(self, tenant: UUID, stored: dict[str, str | None]) -> dict[str, str | None]:
        """Return a run's outputs by column, from its inputs alone."""
        book = await self._book(tenant, stored["book_key"] or "")
        try:
            results, day_and_source = await asyncio.to_thread(self._run, book, stored)
        except (MappingTooSlow, RunTooSlow) as error:
            raise _Unproved("unproved", f"a replay takes longer than it may: {error}") from error
        except Exception as error:  # what was altered may be anything
            raise _Unproved("unproved", f"it cannot be replayed: {type(error).__name__}: {error}") from error
        return {
            "as_of": str(results.as_of or day_and_source[0]),
            "as_of_source": results.as_of_source or day_and_source[1],
            "results": to_json(results),
            "skipped": to_json(results.skipped),
            "warnings": to_json(results.warnings),
            "options": _with_interpretation(stored["options"] or "", results.interpretation),
        }

    async def _book(self, tenant: UUID, key: str) -> Workbook:
        """Return the columns that a run read.

        Raises:
            _Unproved: they are not there as they were.
        """
        cached = self._books.get(key)
        if cached is not None:
            return cached
        async with self._database.transaction(tenant) as tx:
            text = await store.manifest(tx, key)
        if text is None:
            reason = "the columns that it read were not kept: it is of a version that kept the newest ones only"
            raise _Unproved("unproved", reason)
        if hashlib.sha256(text.encode()).hexdigest() != key:
            raise _Unproved("altered", "the manifest of the columns that it read is not the one that was hashed")
        manifest = WorkbookRecord.from_json(text)
        try:
            self._drop_copies()
            paths = [await self._blobs.path(record.file) for record in manifest.sheets]
        except Damaged as error:
            async with self._database.transaction(tenant) as tx:
                keeping = await store.keeping(tx, key)
            if keeping.is_over and keeping.is_freed:
                raise _Unproved("expired", f"its bytes went after their retention ended, {keeping.until}") from error
            raise _Unproved("altered", str(error)) from error
        book = open_workbook(manifest, paths)
        self._books.keep(key, book, bytes_of(book))
        return book

    def _drop_copies(self) -> None:
        """Remove large fetched copies; what is mapped of them stays readable."""
        copies: list[Path] = [path for path in self._blobs.copies.iterdir() if path.is_file()]
        if sum(path.stat().st_size for path in copies) > COPIES_BYTES_MAX:
            for path in copies:
                path.unlink(missing_ok=True)

    def _run(self, book: Workbook, stored: Mapping[str, str | None]) -> tuple[Results, tuple[date, GivenSource]]:
        options = msgspec.json.decode(stored["options"] or "")
        day_and_source = _day_of(stored)
        key = tuple(stored[name] for name in ("book_key", "mapping", "as_of", "as_of_source"))
        portfolio = self._portfolios.get(key)
        if portfolio is None:
            mapping = msgspec.json.decode(stored["mapping"] or "", type=ColumnMapping)
            with mapping_time(self._mapping_seconds):
                days = float((day_and_source[0] - EPOCH).days)
                portfolio = Portfolio.from_workbook(book, mapping, as_of=days, as_of_source=day_and_source[1])
            self._portfolios.keep(key, portfolio, bytes_of(portfolio))
        portfolio = with_recorded_days(portfolio, stored["definition"], options)
        definition = self._definition(stored["definition"])
        if INTERPRETATION in options:
            portfolio = self._interpreted(portfolio, definition, stored, options)
        limits = limits_of(stored["thresholds"] or "")
        how: dict[str, Any] = {name: options[name] for name in _OPTIONS}
        how |= {f"{scope}_thresholds": set_ for scope, set_ in limits.items()}
        work = with_time_limit(runs.run_suite, self._seconds)
        return work(portfolio, stored["test_suite"] or "", definition=definition, **how), day_and_source

    def _interpreted(
        self, portfolio: Portfolio, definition: Definition | None, stored: Mapping[str, str | None], options: Any
    ) -> Portfolio:
        """Return the portfolio, read by the choices that a search of today takes."""
        record = to_json({name: value for name, value in options.items() if name not in (*_OPTIONS, INTERPRETATION)})
        key = (*(stored[name] for name in ("book_key", "mapping", "as_of", "as_of_source", "definition")), record)
        interpretation = self._interpretations.get(key)
        if interpretation is None:
            interpretation = with_time_limit(interpret, SEARCH_TIME * self._seconds)(portfolio, definition)
            self._interpretations.keep(key, interpretation, bytes_of(interpretation))
        return read_by(portfolio, interpretation, definition)

    def _definition(self, text: str | None) -> Definition | None:
        if text is None:
            return None
        definition = self._definitions.get(text)
        if definition is None:
            definition = parse(msgspec.json.decode(text), own_fields=None)
            self._definitions.keep(text, definition, bytes_of(definition))
        return definition


def _day_of(stored: Mapping[str, str | None]) -> tuple[date, GivenSource]:
    """Return the day and its source that a run was asked for.

    Where the file said its own, that is the day of the upload, which did not count.
    """
    source = stored["as_of_source"]
    as_given: GivenSource = "request" if source == "request" else "workbook" if source == "workbook" else "upload"
    return date.fromisoformat(stored["as_of"] or ""), as_given


def _with_interpretation(options: str, interpretation: Interpretation | None) -> str:
    """Return a run's options with this interpretation, if the run has one."""
    record = msgspec.json.decode(options)
    return to_json(record | {INTERPRETATION: interpretation}) if INTERPRETATION in record else options


def _uncovered_fault(details: dict[str, Any], run: store.RunRow, stored: Mapping[str, str | None]) -> str | None:
    """Return what differs from the run's entry outside of the hash."""
    try:
        results = msgspec.json.decode(stored["results"] or "", type=list[TestResult])
        faults = {
            "workbook": str(run.workbook_id) != details.get("workbook_id"),
            "status": run.status != "completed",
            "counts": any(details.get(name) != count for name, count in run.summary.items()),
            "moment": "executed_at" in details and datetime.fromisoformat(details["executed_at"]) != run.executed_at,
            "figures for histories": run.figures != _figures_in_stored_form(figures_of(results), run.figures),
        }
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        return f"the stored run is none: {error}"
    wrong = [name for name, is_wrong in faults.items() if is_wrong]
    return f"its {', '.join(wrong)} are not those that were stored" if wrong else None


def _differences(stored: Mapping[str, str | None], now: Mapping[str, str | None]) -> list[Difference]:
    """Return what a replay gives otherwise: nothing where every text is the same."""
    differences = []
    for name in _OUTPUTS:
        before, after = stored[name], now[name]
        if before == after:
            continue
        if name in ("as_of", "as_of_source"):
            differences.append(Difference(None, name, before, after))
            continue
        was, comes = msgspec.json.decode(before or "null"), msgspec.json.decode(after or "null")
        if name == "options":
            name, was, comes = INTERPRETATION, was.get(INTERPRETATION), comes.get(INTERPRETATION)
        if name == "results" and was == _in_stored_form(comes, was):
            continue
        of_tests = list(_of_tests(was, comes)) if name == "results" else [Difference(None, name, was, comes)]
        differences += of_tests or [Difference(None, name, "the same values", "written otherwise, or in another order")]
    return differences


_ADDED: Final = (("published", "doubt", "doubtful"), ("unit", "decimals"))
"""Fields of a result that runs of earlier versions do not have, by the version that added them, the earliest first."""


def _in_stored_form(comes: Any, was: Any) -> Any:
    """Return replayed results in the form of the stored version.

    None where they are of no version.
    """
    try:
        present = [any(name in test_result for test_result in was for name in names) for names in _ADDED]
        if present != sorted(present, reverse=True):
            return None
        missing = {name for names, is_there in zip(_ADDED, present, strict=True) if not is_there for name in names}
        return [{key: test_result[key] for key in test_result if key not in missing} for test_result in comes]
    except (TypeError, LookupError):  # what was altered may be anything
        return None


_FIGURES_ADDED: Final = ("name", "unit", "decimals")
"""Members of a figure for histories that runs of earlier versions do not have."""


def _figures_in_stored_form(figures: dict[str, dict[str, Any]], was: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return figures without members that the stored version lacks."""
    if any(name in figure for figure in was.values() for name in _FIGURES_ADDED):
        return figures
    return {test: {key: figure[key] for key in figure if key not in _FIGURES_ADDED} for test, figure in figures.items()}


def _of_tests(was: Any, comes: Any) -> Iterator[Difference]:
    try:
        before, after = ({before_result["test_id"]: before_result for before_result in side} for side in (was, comes))
    except (TypeError, LookupError):
        return
    for test_id in dict.fromkeys((*before, *after)):
        result, later_result = before.get(test_id), after.get(test_id)
        if result is None or later_result is None:
            yield Difference(test_id, "result", result, later_result)
            continue
        for figure in dict.fromkeys((*result, *later_result)):
            if result.get(figure) != later_result.get(figure):
                yield Difference(test_id, figure, result.get(figure), later_result.get(figure))
