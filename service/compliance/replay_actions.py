"""Past runs replayed from their evidence: what each stored figure is proved by, or why it is not.

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
from service.compliance.lookback_store import EVIDENCE
from service.compliance.schema import RunTooSlow
from service.compliance.shared import SEARCH_TIME, as_recorded, limits_of, timed
from service.compliance.store import INTERPRETATION, as_json, figures_of
from service.mappings.schema import MappingTooSlow
from service.mappings.shared import mapping_time
from service.platform.base.lru import Lru, bytes_of
from service.platform.config import Settings
from service.platform.data.audit import Break, Chain, Record, digest
from service.platform.data.audit import parse as entry_of
from service.platform.data.audit_filter import AuditFilter
from service.platform.data.blobs import Blobs, Damaged
from service.platform.data.database import Database
from service.portfolios.shared import INTERPRETATIONS_BYTES_MAX, INTERPRETATIONS_MAX, SAMPLES_TIME

ENTRIES_AT_A_TIME: Final = 1_000
RUNS_AT_A_TIME: Final = 20
"""Stored runs that are held at a time: their results take some 50 kB each."""
UNTOLD_MAX: Final = 100
"""Runs that no entry tells of and that are named."""
DIFFERENCES_MAX: Final = 100
"""Of one run that are told."""
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


class Verdict(Struct, frozen=True, kw_only=True):
    """What is proved of a run."""

    run_id: UUID
    sequence: int | None
    """Of its entry in the chain; None where no entry tells of it."""
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


class Asked(Struct, frozen=True, kw_only=True):
    """Which runs are replayed; the chain is walked as a whole."""

    run_id: UUID | None = None
    stream_key: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Inclusive, of the run's entry."""

    @property
    def is_everything(self) -> bool:
        return self == Asked()

    def has_time(self, moment: datetime) -> bool:
        """Whether an entry of this moment is asked for."""
        return (self.since is None or moment >= self.since) and (self.until is None or moment <= self.until)


class Walked(Struct):
    """How far the walk of a chain has come."""

    entries: int = 0
    last_hash: str = ""


# The walk -------------------------------------------------------------------------------------------------------------


async def verify(
    database: Database, replayer: Replayer, tenant: UUID, asked: Asked, walked: Walked
) -> AsyncIterator[Verdict | Break]:
    """Every run that is asked for, in the order of the chain, and every place where the chain does not hold.

    Entries that are appended meanwhile are not looked at. Each part is read in a transaction of its own, so that a walk
    of an hour holds up nobody.
    """
    async with database.transaction(tenant) as tx:
        head = await store.head(tx)
    end = head.sequence if head else 0
    chain, after = Chain(), 0
    while after < end:
        async with database.transaction(tenant) as tx:
            extent = Extent(count=end, last=end)
            found = await piece(tx, AuditFilter(), extent, after=after, rows_max=ENTRIES_AT_A_TIME)
        if not found.lines:
            break
        after, told = found.last, list[Record]()
        for line in found.lines.encode().splitlines():
            entry = entry_of(line)
            walked.entries += 1
            if reason := chain.fault(entry):
                yield Break(entry.sequence, reason)
            if _is_asked(entry, asked):
                told.append(entry)
        for place in range(0, len(told), RUNS_AT_A_TIME):
            some = told[place : place + RUNS_AT_A_TIME]
            ids = [UUID(one.resource_id) for one in some]
            async with database.transaction(tenant) as tx:
                stored = await store.runs(tx, ids)
                missing = [identifier for identifier in ids if identifier not in stored]
                ended = await store.expired(tx, missing) if missing else {}
            for entry in some:
                run = stored.get(UUID(entry.resource_id))
                if run is None or asked.stream_key in (None, run.stream_key):
                    yield await replayer.verdict(tenant, entry, run, ended.get(UUID(entry.resource_id)))
    for unexplained in chain.unexplained():
        yield unexplained
    last = chain.last
    if head is not None and end and (last is None or (last.sequence, last.hash) != (head.sequence, head.hash)):
        yield Break(end, "the entry that was appended last is missing, or another one")
    walked.last_hash = last.hash if last else ""
    if asked.is_everything:
        async with database.transaction(tenant) as tx:
            strangers = await store.untold(tx, UNTOLD_MAX)
        for run_id in strangers:
            yield Verdict(run_id=run_id, sequence=None, status="altered", reason="no entry of the chain tells of it")


def _is_asked(entry: Record, asked: Asked) -> bool:
    if entry.action != RUN_COMPLETED or entry.resource_type != "compliance_run":
        return False
    with suppress(ValueError):
        run_id, moment = UUID(entry.resource_id), datetime.fromisoformat(entry.timestamp)
        return asked.run_id in (None, run_id) and asked.has_time(moment)
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

    async def verdict(self, tenant: UUID, entry: Record, run: store.Kept | None, ended: str | None) -> Verdict:
        """What is proved of a run by its entry in the chain and by a replay; `ended` as `store.expired` says."""
        run_id, details = UUID(entry.resource_id), msgspec.json.decode(entry.details)
        said: str | None = details.get("evidence")
        if run is None:
            status: Status = "altered" if ended is None else "expired"
            gone = "the run that the chain tells of is not there"
            if ended is not None:
                gone = f"it was removed after its retention had ended, {ended}"
            return Verdict(run_id=run_id, sequence=entry.sequence, status=status, reason=gone, evidence_hash=said)
        stored = dict(zip(EVIDENCE, run.evidence, strict=True))
        status, reason, differences = await self._judged(tenant, details, run, stored)
        version = stored["definition_version"]
        return Verdict(
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
            evidence_hash=said,
            differences=differences[:DIFFERENCES_MAX],
        )

    async def _judged(
        self, tenant: UUID, details: dict[str, Any], run: store.Kept, stored: dict[str, str | None]
    ) -> tuple[Status, str | None, list[Difference]]:
        said = details.get("evidence")
        fault: str | None = None
        if said is not None and digest(run.evidence) != said:
            fault = "the stored run is not the one that its entry has the hash of"
        fault = fault or _uncovered_fault(details, run, stored)
        try:
            now = stored | await self._replayed(tenant, stored)
        except _Unproved as error:
            return ("altered", f"{fault}; {error}", []) if fault else (error.status, str(error), [])
        differences = _differences(stored, now)
        if fault is not None:
            if said is not None and digest(now[name] for name in EVIDENCE) == said:
                fault += "; its inputs are, and a replay gives what was hashed"
            return "altered", fault, differences
        if differences:
            return "differs", "a replay gives other figures", differences
        return "reproduced", None if said is not None else "its entry is of an earlier version: no hash of the run", []

    async def _replayed(self, tenant: UUID, stored: dict[str, str | None]) -> dict[str, str | None]:
        """The run's outputs, as texts by the names of their columns, from its inputs alone."""
        book = await self._book(tenant, stored["book_key"] or "")
        try:
            results, given = await asyncio.to_thread(self._run, book, stored)
        except (MappingTooSlow, RunTooSlow) as error:
            raise _Unproved("unproved", f"a replay takes longer than it may: {error}") from error
        except Exception as error:  # what was altered may be anything
            raise _Unproved("unproved", f"it cannot be replayed: {type(error).__name__}: {error}") from error
        return {
            "as_of": str(results.as_of or given[0]),
            "as_of_source": results.as_of_source or given[1],
            "results": as_json(results),
            "skipped": as_json(results.skipped),
            "warnings": as_json(results.warnings),
            "options": _with_interpretation(stored["options"] or "", results.interpretation),
        }

    async def _book(self, tenant: UUID, key: str) -> Workbook:
        """The columns that a run read.

        Raises:
            _Unproved: they are not there as they were.
        """
        found = self._books.get(key)
        if found is not None:
            return found
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
        """Remove what was fetched from a remote store once it is much; what is mapped of it is read on."""
        copies: list[Path] = [path for path in self._blobs.copies.iterdir() if path.is_file()]
        if sum(path.stat().st_size for path in copies) > COPIES_BYTES_MAX:
            for path in copies:
                path.unlink(missing_ok=True)

    def _run(self, book: Workbook, stored: Mapping[str, str | None]) -> tuple[Results, tuple[date, GivenSource]]:
        options = msgspec.json.decode(stored["options"] or "")
        given = _given(stored)
        key = tuple(stored[name] for name in ("book_key", "mapping", "as_of", "as_of_source"))
        portfolio = self._portfolios.get(key)
        if portfolio is None:
            mapping = msgspec.json.decode(stored["mapping"] or "", type=ColumnMapping)
            with mapping_time(self._mapping_seconds):
                days = float((given[0] - EPOCH).days)
                portfolio = Portfolio.from_workbook(book, mapping, as_of=days, as_of_source=given[1])
            self._portfolios.keep(key, portfolio, bytes_of(portfolio))
        portfolio = as_recorded(portfolio, stored["definition"], options)
        definition = self._definition(stored["definition"])
        if INTERPRETATION in options:
            portfolio = self._interpreted(portfolio, definition, stored, options)
        limits = limits_of(stored["thresholds"] or "")
        how: dict[str, Any] = {name: options[name] for name in _OPTIONS}
        how |= {f"{scope}_thresholds": set_ for scope, set_ in limits.items()}
        work = timed(runs.run_suite, self._seconds)
        return work(portfolio, stored["test_suite"] or "", definition=definition, **how), given

    def _interpreted(
        self, portfolio: Portfolio, definition: Definition | None, stored: Mapping[str, str | None], said: Any
    ) -> Portfolio:
        """The portfolio, read by the choices that a search of today takes."""
        record = as_json({name: value for name, value in said.items() if name not in (*_OPTIONS, INTERPRETATION)})
        key = (*(stored[name] for name in ("book_key", "mapping", "as_of", "as_of_source", "definition")), record)
        found = self._interpretations.get(key)
        if found is None:
            found = timed(interpret, SEARCH_TIME * self._seconds)(portfolio, definition)
            self._interpretations.keep(key, found, bytes_of(found))
        return read_by(portfolio, found, definition)

    def _definition(self, text: str | None) -> Definition | None:
        if text is None:
            return None
        found = self._definitions.get(text)
        if found is None:
            found = parse(msgspec.json.decode(text), own_fields=None)
            self._definitions.keep(text, found, bytes_of(found))
        return found


def _given(stored: Mapping[str, str | None]) -> tuple[date, GivenSource]:
    """The day that a run was given. Where the file said its own, that of the upload was, which did not count."""
    source = stored["as_of_source"]
    as_given: GivenSource = "request" if source == "request" else "workbook" if source == "workbook" else "upload"
    return date.fromisoformat(stored["as_of"] or ""), as_given


def _with_interpretation(options: str, interpretation: Interpretation | None) -> str:
    """The options of a run as they would be stored with this interpretation; as they are where the run has none."""
    said = msgspec.json.decode(options)
    return as_json(said | {INTERPRETATION: interpretation}) if INTERPRETATION in said else options


def _uncovered_fault(details: dict[str, Any], run: store.Kept, stored: Mapping[str, str | None]) -> str | None:
    """What the hash does not cover and is not as the run's entry, or its own results, have it."""
    try:
        results = msgspec.json.decode(stored["results"] or "", type=list[TestResult])
        faults = {
            "workbook": str(run.workbook_id) != details.get("workbook_id"),
            "status": run.status != "completed",
            "counts": any(details.get(name) != count for name, count in run.summary.items()),
            "moment": "executed_at" in details and datetime.fromisoformat(details["executed_at"]) != run.executed_at,
            "figures for histories": run.figures != _figures_as_written(figures_of(results), run.figures),
        }
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        return f"the stored run is none: {error}"
    wrong = [name for name, is_wrong in faults.items() if is_wrong]
    return f"its {', '.join(wrong)} are not those that were stored" if wrong else None


def _differences(stored: Mapping[str, str | None], now: Mapping[str, str | None]) -> list[Difference]:
    """What a replay gives otherwise: nothing where every text is the same."""
    found = []
    for name in _OUTPUTS:
        before, after = stored[name], now[name]
        if before == after:
            continue
        if name in ("as_of", "as_of_source"):
            found.append(Difference(None, name, before, after))
            continue
        was, comes = msgspec.json.decode(before or "null"), msgspec.json.decode(after or "null")
        if name == "options":
            name, was, comes = INTERPRETATION, was.get(INTERPRETATION), comes.get(INTERPRETATION)
        if name == "results" and was == _as_written(comes, was):
            continue
        told = list(_of_tests(was, comes)) if name == "results" else [Difference(None, name, was, comes)]
        found += told or [Difference(None, name, "the same values", "written otherwise, or in another order")]
    return found


_ADDED: Final = (("published", "doubt", "doubtful"), ("unit", "decimals"))
"""Fields of a result that runs of earlier versions do not have, by the version that added them, the earliest first."""


def _as_written(comes: Any, was: Any) -> Any:
    """Replayed results as the version stored them that the stored ones are of; None where they are of no version."""
    try:
        present = [any(name in one for one in was for name in names) for names in _ADDED]
        if present != sorted(present, reverse=True):
            return None
        missing = {name for names, is_there in zip(_ADDED, present, strict=True) if not is_there for name in names}
        return [{key: one[key] for key in one if key not in missing} for one in comes]
    except (TypeError, LookupError):  # what was altered may be anything
        return None


_FIGURES_ADDED: Final = ("name", "unit", "decimals")
"""Members of a figure for histories that runs of earlier versions do not have."""


def _figures_as_written(figures: dict[str, dict[str, Any]], was: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Figures for histories, without the members that the stored ones lack because their version did not have them."""
    if any(name in one for one in was.values() for name in _FIGURES_ADDED):
        return figures
    return {test: {key: figure[key] for key in figure if key not in _FIGURES_ADDED} for test, figure in figures.items()}


def _of_tests(was: Any, comes: Any) -> Iterator[Difference]:
    try:
        before, after = ({one["test_id"]: one for one in side} for side in (was, comes))
    except (TypeError, LookupError):
        return
    for test_id in dict.fromkeys((*before, *after)):
        one, other = before.get(test_id), after.get(test_id)
        if one is None or other is None:
            yield Difference(test_id, "result", one, other)
            continue
        for figure in dict.fromkeys((*one, *other)):
            if one.get(figure) != other.get(figure):
                yield Difference(test_id, figure, one.get(figure), other.get(figure))
