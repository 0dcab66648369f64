"""One run of a batch, from its options to its exit code."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from time import process_time
from typing import Any, Final, Literal

from msgspec import Struct

import core
from core.batch.months import Grouping, grouping_words
from core.batch.order import BatchOptions, ExportFormat, ReportFormat, SuiteName, TrusteeName
from core.batch.summary import BatchSummary
from core.batch.table import Step
from core.batch.write import Format
from core.words import counted, first_of
from service.commands.batch.child import close_readers, stop_readers
from service.commands.batch.collect import RECORD, Collector, read_record, write_record, write_results
from service.commands.batch.engines import Engine, open_engine
from service.commands.batch.places import S3, ResultPlace, locked, place_at
from service.commands.batch.plan import BatchPlan, Defaults, make_plan, read_deals
from service.commands.batch.sources import find_months, text_of
from service.commands.batch.work import MonthResult, MonthTask, refused_result, run_month
from service.commands.compliance import read_day
from service.commands.progress import counting
from service.commands.refusal import Refused, one_line

EXIT_FAILED: Final = 1
EXIT_REFUSED: Final = 2
NAMES_MAX: Final = 5
"""Names that a note lists."""


class BatchArguments(Struct, frozen=True, kw_only=True):
    """The options of the command."""

    sources: tuple[str, ...]
    out: str
    deals: Path | None
    steps: tuple[Step, ...]
    suite: SuiteName
    definition: str | None
    mapping: str | None
    as_of: str | None
    trustee: TrusteeName | None
    report_format: ReportFormat
    export_format: ExportFormat
    form: Format
    jobs: int | None
    engine: str | None
    fail_on: Literal["fail", "warning", "doubtful"] | None
    now: str | None


def run_batch(request: BatchArguments) -> int:
    """Do a batch and return its exit code.

    Raises:
        Refused: it cannot begin, or its results cannot be written.
        KeyboardInterrupt: it was interrupted; the same command goes on from there.
    """
    out = request.out if request.out.startswith(S3) else os.path.abspath(request.out)
    table = None if request.deals is None else (request.deals, read_deals(request.deals))
    defaults = Defaults(definition=request.definition, mapping=request.mapping, as_of=read_day(request.as_of))
    given_now = None if request.now is None else _moment(request.now)
    _check_packages(request)
    grouping = find_months(request.sources, out)
    try:
        with _interruptible(), locked(out):
            place = place_at(out)
            record = read_record(place)
            options = _options(request, given_now or _earlier_now(record) or _today())
            plan = make_plan(grouping.months, options, defaults, out, table)
            print(one_line(grouping_words(grouping.months)), file=sys.stderr, flush=True)
            record = _settings(request, options)
            write_record(place, record)
            with tempfile.TemporaryFile(prefix="cushion-") as spool:
                collector = Collector(spool)
                collector.spend("start_up", process_time())
                _run_tasks(request, plan, collector)
                return _finish(request, grouping, plan, collector, place, record)
    except OSError as error:
        raise Refused(f"{request.out}: {error.strerror or error}") from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Take SIGTERM, which schedulers send, for Ctrl-C, so that copies of files go."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_packages(request: BatchArguments) -> None:
    """Refuse a table that cannot be written, before hours go into it."""
    if request.form == "parquet":
        try:
            import pyarrow  # type: ignore[import-untyped]  # noqa: F401
        except ModuleNotFoundError:
            text = "--format parquet needs pyarrow: pip install 'cushion[batch]', or name --format csv"
            raise Refused(text) from None


def _options(request: BatchArguments, now: str) -> BatchOptions:
    return BatchOptions(
        steps=request.steps,
        suite=request.suite,
        report_format=request.report_format,
        export_format=request.export_format,
        trustee=request.trustee,
        now=now,
    )


def _moment(text: str) -> str:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None, microsecond=0).isoformat()
    except ValueError:
        raise Refused(f"--now is a day or a moment in ISO format, such as 2026-03-31, not {text!r}") from None


def _earlier_now(record: dict[str, Any]) -> str | None:
    now = record.get("now")
    return _moment(now) if isinstance(now, str) else None


def _today() -> str:
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None).isoformat()


def _settings(request: BatchArguments, options: BatchOptions) -> dict[str, Any]:
    settings = {name: getattr(request, name) for name in request.__struct_fields__ if name not in ("now", "form")}
    settings |= {"sources": [*map(text_of, request.sources)], "out": text_of(request.out)}
    settings |= {"deals": None if request.deals is None else text_of(str(request.deals)), "format": request.form}
    return {"cushion": core.__version__, "now": options.now, "settings": settings}


def _run_tasks(request: BatchArguments, plan: BatchPlan, collector: Collector) -> None:
    """Run every task; the rows of those that an earlier run has done are read."""
    for task, reason in plan.refused:
        collector.add(task, refused_result(task, reason))
    if not plan.tasks:
        return
    began = process_time()
    with _engine_of(request) as engine:
        for host, problem in engine.on_each_host(partial(find_problem, plan.tasks[0])).items():
            if problem is not None:
                raise Refused(f"the worker {host} cannot do the batch: {problem}")
        with counting("Deals", len(plan.tasks), rate="a second") as advance:
            for number, result in engine.results(run_month, plan.tasks, _given_up):
                collector.add(plan.tasks[number], result)
                advance(1)
    collector.spend("scheduling", process_time() - began - (collector.task_seconds if request.engine is None else 0.0))


@contextmanager
def _engine_of(request: BatchArguments) -> Iterator[Engine]:
    engine = open_engine(request.engine, request.jobs or len(os.sched_getaffinity(0)), stop_readers)
    try:
        yield engine
    finally:
        engine.close()
        close_readers()


def _given_up(task: MonthTask, error: Exception) -> MonthResult:
    """Return the result of a task that failed.

    A cluster lost its workers, or the fault is ours.
    """
    return refused_result(task, f"its task failed: {type(error).__name__}: {error}")


def find_problem(task: MonthTask) -> str | None:
    """Return why this worker cannot do such tasks; None where it can."""
    if not task.out.startswith(S3) and place_at(task.out).read(RECORD) is None:
        return f"it does not see {task.out}; name a shared folder or s3:// with --out"
    address = task.files[0].address
    if not address.startswith(S3) and not os.access(address, os.R_OK):
        return f"it does not see {address}; the sources are in a shared folder or s3://"
    return None


def _finish(
    request: BatchArguments,
    grouping: Grouping,
    plan: BatchPlan,
    collector: Collector,
    place: ResultPlace,
    record: dict[str, Any],
) -> int:
    notes = [f"{grouping_words(grouping.months)}.", *_notes(request, grouping, plan)]
    began = process_time()
    summary = write_results(collector, place, request.form, grouping.left_out, notes)
    collector.spend("writing", process_time() - began)
    record["counters"] = _counters(collector, summary, len(plan.tasks) + len(plan.refused))
    write_record(place, record)
    _report(request, summary, collector, notes)
    if summary.refusals:
        return EXIT_REFUSED
    return EXIT_FAILED if _has_failed(request.fail_on, summary) else 0


def _counters(collector: Collector, summary: BatchSummary, months: int) -> dict[str, Any]:
    return {
        "deal_months": months,
        "done_earlier": collector.reused,
        "tried_again": collector.retried,
        "files": collector.files,
        "bytes": collector.size_bytes,
        "tests": dict(sorted(summary.statuses.items())),
        "doubtful": summary.doubtful,
        "refused": summary.refusals,
        "processor_seconds": {kind: round(seconds, 3) for kind, seconds in sorted(collector.seconds.items())},
    }


def _has_failed(fail_on: str | None, summary: BatchSummary) -> bool:
    return bool(
        (fail_on is not None and summary.statuses["fail"])
        or (fail_on == "warning" and summary.statuses["warning"])
        or (fail_on == "doubtful" and summary.doubtful)
    )


def _notes(request: BatchArguments, grouping: Grouping, plan: BatchPlan) -> list[str]:
    """Return what was left out before any file was opened."""
    notes = []
    if plan.unmatched:
        rows = first_of(plan.unmatched, NAMES_MAX, lambda row: f"{row.pattern} (line {row.line})")
        name = request.deals.name if request.deals is not None else ""
        notes.append(f"{counted(len(plan.unmatched), 'row')} of {name} matched no source: {rows}")
    if grouping.left_out:
        names = first_of(grouping.left_out, NAMES_MAX)
        notes.append(f"{counted(len(grouping.left_out), 'file')} left out: {names}")
    return notes


def _report(request: BatchArguments, summary: BatchSummary, collector: Collector, notes: list[str]) -> None:
    for note in notes[1:]:
        print(one_line(f"note: {note}"), file=sys.stderr)
    for row in summary.refused[:NAMES_MAX]:
        print(one_line(f"refused: {row.deal}: {row.message}"), file=sys.stderr)
    if summary.refusals > NAMES_MAX:
        print(f"refused: {summary.refusals - NAMES_MAX:,} more, in the table and on the page", file=sys.stderr)
    tests = summary.statuses
    print(
        f"{counted(summary.months, 'deal')}, {collector.reused:,} of them done earlier: "
        f"{counted(tests['pass'], 'test')} passed, {counted(tests['warning'], 'warning')}, {tests['fail']:,} failed, "
        f"{tests['skipped']:,} skipped, {summary.doubtful:,} doubtful; {summary.refusals:,} refused"
    )
    print(one_line(f"{request.out.rstrip('/')}/results.{request.form}"))
