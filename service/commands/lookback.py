"""The lookback commands.

A tenant's chain walked, and each of its runs replayed from its evidence.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from datetime import time as clock_time
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO
from uuid import UUID

from cyclopts import App

from service.commands.output import (
    Format,
    Grid,
    Line,
    Output,
    OutputColumn,
    OutputPage,
    counted,
    emit,
    member,
    stream_of,
)
from service.commands.refusal import Refused, escaped, one_line
from service.commands.server import settings_or_refusal

if TYPE_CHECKING:
    from service.compliance.replay_actions import Replayer, ReplayOrder, ReplayVerdict
    from service.compliance.replay_store import TenantName
    from service.platform.config import Settings
    from service.platform.data.audit import Break
    from service.platform.data.database import Database

EXIT_UNPROVED: Final = 1
STATEMENT_SECONDS: Final = 300
DIFFERENCES_SHOWN: Final = 5

lookback = App(name="lookback", help_format="markdown", help="Look back on what was decided.")


@lookback.command
def verify(
    *,
    tenant: str | None = None,
    stream: str | None = None,
    run: UUID | None = None,
    since: str | None = None,
    until: str | None = None,
    output: Output | None = None,
) -> int:
    """Walk the audit chain and replay each compliance run from its evidence, to the last bit.

    It reads the deployment of the environment's settings, whether the service runs or not. That is the embedded data
    folder (CUSHION_DATA_DIR), or the database and the files of CUSHION_DATABASE_URL and CUSHION_BLOB_URL. It changes
    nothing.

    The exit code is 0 where the chain is whole and every run is reproduced, or its bytes went when their retention
    ended. It is 1 where a run differs, was altered or cannot be replayed, or the chain is broken. It is 2 where the
    deployment cannot be read. Whoever writes the whole chain anew can make it fit in itself: compare the last hash with
    one that was kept elsewhere.

    The JSON is lines: one a run or break of the chain, and one a tenant at its end, as they are found. CSV has a row
    for each of them.

    Parameters
    ----------
    tenant:
        Its slug or identifier; without it every tenant is verified.
    stream:
        Only runs of this stream key. The chain is walked as a whole, whatever is asked.
    run:
        Only this run.
    since:
        Only runs from this day (YYYY-MM-DD) or moment on, by their entry.
    until:
        Only runs up to the end of this day, or to this moment.
    """
    import psycopg

    from service.compliance.replay_actions import ReplayOrder
    from service.host.data_folder import EmbeddedError
    from service.host.deployment import deployment
    from service.platform import log
    from service.platform.base.problem import Problem
    from service.platform.config import ConfigError
    from service.platform.data import migrations

    asked = ReplayOrder(
        run_id=run, stream_key=stream, since=_moment(since, clock_time.min), until=_moment(until, clock_time.max)
    )
    log.configure("error")
    try:
        with deployment(settings_or_refusal()) as installation:
            migrations.verify(installation.settings.database_url or "")
            return _verified(installation.settings, tenant, asked, output or Output())
    except (EmbeddedError, ConfigError, Problem) as error:
        raise Refused(str(error)) from error
    except (psycopg.Error, migrations.MigrationError) as error:
        raise Refused(f"the database cannot be read: {error}") from error


def _verified(settings: Settings, tenant: str | None, asked: ReplayOrder, output: Output) -> int:
    """Walk the tenants, telling at once what is found where the format lets us.

    The exit code.
    """
    import asyncio

    form = output.chosen()
    if form in ("table", "json"):
        with stream_of(output) as stream:
            return asyncio.run(_Report(form, stream).all(settings, tenant, asked))
    report = _Report(form, None)
    code = asyncio.run(report.all(settings, tenant, asked))
    lines = [Line(text, label=slug) for slug, text, _ in report.rows]
    emit(OutputPage(blocks=lines, rows=Grid(columns=_COLUMNS, items=report.rows), document=tuple), output)
    return code


def _in(kind: str, name: str) -> Callable[[tuple[str, str, dict[str, Any]]], Any]:
    return lambda row: member(name)(row[2].get(kind))


def _kind(row: tuple[str, str, dict[str, Any]]) -> str:
    return next((kind for kind in ("run", "break") if kind in row[2]), "tenant")


_COLUMNS: Final = [
    OutputColumn("tenant", value=itemgetter(0)),
    OutputColumn("kind", value=_kind),
    OutputColumn("run_id", value=lambda row: str(row[2]["run"].run_id) if "run" in row[2] else None),
    OutputColumn("status", value=_in("run", "status")),
    OutputColumn("sequence", value=_in("break", "sequence")),
    OutputColumn("told", value=itemgetter(1)),
]


def _moment(text: str | None, at: clock_time) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is no day (YYYY-MM-DD) and no moment (ISO 8601)") from None
    if len(text) <= len("YYYY-MM-DD"):
        moment = datetime.combine(moment, at)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[Database, Replayer]]:
    from tempfile import TemporaryDirectory

    from service.compliance.replay_actions import Replayer
    from service.platform.base.breakers import Breakers
    from service.platform.data.database import Database
    from service.platform.work import process

    assert settings.database_url is not None
    breaker = Breakers()["database"]
    database = Database(settings.database_url, connections=2, statement_seconds=STATEMENT_SECONDS, breaker=breaker)
    await database.open()
    try:
        with TemporaryDirectory(prefix="cushion-") as scratch:
            blobs = process.blobs(settings, Path(scratch))
            try:
                yield database, Replayer(database, blobs, settings)
            finally:
                blobs.close()
    finally:
        await database.close()


async def chain_breaks(settings: Settings) -> list[str]:
    """Where the audit chains of a deployment do not hold; no run is replayed."""
    from service.compliance import replay_store
    from service.compliance.replay_actions import ReplayOrder, WalkCounts, verify
    from service.platform.data.audit import Break

    messages: list[str] = []
    nothing = ReplayOrder(since=datetime.max.replace(tzinfo=UTC))
    async with _opened(settings) as (database, replayer):
        async with database.transaction() as tx:
            tenants = await replay_store.tenants(tx, None)
        for tenant in tenants:
            steps = [step async for step in verify(database, replayer, tenant.id, nothing, WalkCounts())]
            messages += (f"{tenant.slug}: {_broken(entry)}" for entry in steps if isinstance(entry, Break))
    return messages


def _broken(chain_break: Break) -> str:
    return f"entry {chain_break.sequence}: the chain is broken: {chain_break.reason}"


class _Report:
    """What is told while tenants are walked."""

    def __init__(self, form: Format, stream: TextIO | None) -> None:
        self._form = form
        self._stream = stream
        self.rows: list[tuple[str, str, dict[str, Any]]] = []
        """(tenant, text, document) of what was found, where no stream takes it at once."""
        self._is_proved = True
        self._count = 0

    async def all(self, settings: Settings, wanted: str | None, asked: ReplayOrder) -> int:
        """Walk the tenants; the exit code."""
        from service.compliance import replay_store

        async with _opened(settings) as (database, replayer):
            async with database.transaction() as tx:
                tenants = await replay_store.tenants(tx, wanted)
            if not tenants and wanted is not None:
                raise Refused(f"there is no tenant {wanted!r}")
            for tenant in tenants:
                await self._tenant(database, replayer, tenant, asked)
        if asked.run_id is not None and not self._count:
            raise Refused(f"no entry tells of a run {asked.run_id}")
        return 0 if self._is_proved else EXIT_UNPROVED

    async def _tenant(self, database: Database, replayer: Replayer, tenant: TenantName, asked: ReplayOrder) -> None:
        from service.compliance.replay_actions import PROVED, ReplayVerdict, WalkCounts, verify

        counts, broken, walked, started = Counter[str](), 0, WalkCounts(), time.monotonic()
        others = 0
        async for step in verify(database, replayer, tenant.id, asked, walked):
            if isinstance(step, ReplayVerdict):
                counts[step.status] += 1
                others += step.is_present_engine is False
                self._is_proved &= step.status in PROVED
                self._write(tenant, _line(step), {"run": step})
            else:
                broken += 1
                self._is_proved = False
                self._write(tenant, _broken(step), {"break": step})
        self._count += counts.total()
        seconds = time.monotonic() - started
        summary = ", ".join(f"{count:,} {status}" for status, count in counts.most_common()) or "no runs"
        chain = f"broken at {counted(broken, 'place')}" if broken else "whole"
        entries = counted(walked.entries, "entry")
        line = f"{tenant.slug}: chain of {entries} {chain}, last hash {walked.last_hash or '-'}; {summary}"
        if others:
            line += f"; {others:,} by another version of the engine"
        self._write(
            tenant,
            f"{line} ({seconds:.1f} s)",
            {"entries": walked.entries, "breaks": broken, "last_hash": walked.last_hash, "runs": dict(counts),
             "other_engine_runs": others, "seconds": round(seconds, 3)},
        )  # fmt: skip

    def _write(self, tenant: TenantName, text: str, document: dict[str, Any]) -> None:
        import msgspec

        if self._stream is None:
            self.rows.append((tenant.slug, text, document))
        elif self._form == "json":
            self._stream.write(escaped(msgspec.json.encode({"tenant": tenant.slug, **document}).decode()) + "\n")
        else:
            for line in text.splitlines():
                self._stream.write((one_line(line) if line[0] != " " else "  " + one_line(line)) + "\n")


def _line(verdict: ReplayVerdict) -> str:
    line = f"run {verdict.run_id}: {verdict.status}"
    if verdict.executed_at is not None:
        part = " in part" if verdict.partial else ""
        line = f"{verdict.executed_at:%Y-%m-%d %H:%M} {line}, {verdict.test_suite}{part} as of {verdict.as_of}"
        line += f" ({verdict.as_of_source})"
        if verdict.definition_version is not None:
            line += f", definition {verdict.definition_version}"
    if verdict.is_present_engine is False:
        line += f", run by version {verdict.engine_version} of the engine"
    if verdict.reason:
        line += f": {verdict.reason}"
    for difference in verdict.differences[:DIFFERENCES_SHOWN]:
        place = f"{difference.test_id or 'the run'} {difference.figure}"
        line += f"\n  {place}: stored {difference.stored!r:.100}, replayed {difference.replayed!r:.100}"
    if len(verdict.differences) > DIFFERENCES_SHOWN:
        line += f"\n  and {len(verdict.differences) - DIFFERENCES_SHOWN} more; --json has them"
    return line
