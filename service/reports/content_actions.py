"""What a report is to say, gathered from what is stored and written down for the child that sets it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from core.compliance.result import Results
from core.deals.movements import Movement
from core.deals.tie_out import TieOut
from core.report.compliance import compliance_content
from core.report.content import LineageLine, Origin, Series, SeriesPoint
from core.report.reconciliation import LOANS, ComparedSides, IssueLine
from core.words import counted
from service.compliance import shared as compliance
from service.compliance.schema import RunTooSlow
from service.compliance.shared import NotRepeatable, RepeatedRun, StoredRun
from service.deals import shared as deals
from service.deals.schema import DealHistoryQuery
from service.mappings.schema import MappingTooSlow
from service.platform.clock import local_time
from service.platform.unit.context import Unit
from service.reconciliation import shared as reconciliation
from service.reconciliation.schema import Issue
from service.reports.schema import ReportRow

FOLLOWED: Final = "A newer comparison is under way: what is listed may be its own already."
ISSUES_A_TIME: Final = 20_000
TOO_LONG: Final = "{} is left out: it takes longer than {:g} seconds."
RUNS_TIME: Final = 3
"""How many times as long as one run the many runs of a tie-out and of movements may take."""


async def write(unit: Unit, report: ReportRow, path: Path, labels: Mapping[str, str]) -> None:
    """Write what a report is to say, with these labels of agencies.

    Raises:
        Damaged: stored bytes are not those that were stored.
    """
    if report.report_type == "compliance":
        await _write_run(unit, report, path, labels)
    else:
        await _write_comparison(unit, report, path)


async def _moment(unit: Unit) -> datetime:
    """Return the tenant's local time, as a document's date has it."""
    return await unit.local_time(unit.now().replace(microsecond=0))


# Compliance -----------------------------------------------------------------------------------------------------------


async def _write_run(unit: Unit, report: ReportRow, path: Path, labels: Mapping[str, str]) -> None:
    run = await compliance.find_run(unit, report.workbook_id, run_id=report.run_id)
    assert run is not None, "a run that a report shows stays"
    before = await compliance.run_before(
        unit, deal_id=run.deal_id, workbook_id=run.workbook_id, as_of=run.as_of, suite=run.test_suite
    )
    history = await _history(unit, run)
    definition = await compliance.definition_of(unit, run)
    now, remarks = await _repeat(unit, run, "What is drawn from the loans themselves is left out: {}.")
    then = None
    if now is not None and before is not None:
        then, more = await _repeat(unit, before, "Why the tests moved is left out, of the earlier day: {}.")
        remarks += more
    await unit.commit()  # no connection is held while it is worked out
    seconds = RUNS_TIME * unit.settings.compliance_seconds
    tied: list[TieOut] = []
    if now is not None and run.deal_id is not None:
        try:
            tied = (await compliance.calculate(unit, seconds, deals.tie, now.portfolio, definition)).items
        except RunTooSlow:
            remarks.append(TOO_LONG.format("The tie-out", seconds))
    moved: list[Movement] = []
    if now is not None and then is not None and before is not None:
        moves = await _movements(unit, seconds, remarks, then, now, run.test_suite)
        moved = [move for move in moves if _is_between(move, before, run)]
        if len(moved) < len(moves):
            excluded = (
                f"{counted(len(moves) - len(moved), 'test', 'was/were')} measured by other rules on the earlier day"
            )
            remarks.append(f"Why they moved is left out: {excluded}.")
    content = await unit.compute(
        compliance_content,
        _results(run),
        None if now is None else now.portfolio,
        origin=_origin(run, now, remarks, partial(local_time, zone=await unit.zone())),
        generated_at=await _moment(unit),
        suite=run.test_suite,
        definition=definition,
        earlier=None if before is None else _results(before),
        moved=moved,
        history=history,
        tie_out=tied,
        labels=labels,
    )
    await asyncio.to_thread(path.write_bytes, msgspec.json.encode(content))


async def _movements(
    unit: Unit, seconds: float, remarks: list[str], then: RepeatedRun, now: RepeatedRun, suite: str
) -> list[Movement]:
    """Return why the tests moved; none, with a remark, beyond limits."""
    what = then.portfolio, now.portfolio, suite, now.rules, None
    try:
        moves = await compliance.calculate(unit, seconds, deals.move, *what)
    except RunTooSlow:
        remarks.append(TOO_LONG.format("Why the tests moved", seconds))
        return []
    if isinstance(moves, deals.TooMany):
        remarks.append(f"Why the tests moved is left out: {moves.message}.")
        return []
    return moves.items


async def _repeat(unit: Unit, run: StoredRun, words: str) -> tuple[RepeatedRun | None, list[str]]:
    try:
        return await compliance.repeat_run(unit, run), []
    except NotRepeatable as why:
        return None, [words.format(why)]
    except (RunTooSlow, MappingTooSlow):
        return None, [words.format("reading and running them again takes longer than it may")]


async def _history(unit: Unit, run: StoredRun) -> list[Series]:
    """Return the run's tests through the months of its deal."""
    if run.deal_id is None:
        return []
    series, _ = await deals.history(unit, run.deal_id, DealHistoryQuery(end_date=run.as_of))
    points = {
        test_series.test_id: [point for point in test_series.points if point.as_of != run.as_of]
        for test_series in series
    }
    return [
        Series(
            test_id=result.test_id,
            name=result.test_name,
            unit=result.unit,  # type: ignore[arg-type]
            direction=result.threshold_type,
            points=[
                *(
                    SeriesPoint(
                        as_of=point.as_of,
                        value=point.value,
                        threshold=point.threshold,
                        status=point.status,
                        doubtful=point.doubtful,
                    )
                    for point in points.get(result.test_id, ())
                ),
                SeriesPoint(
                    as_of=run.as_of,
                    value=result.current_value,
                    threshold=result.threshold_value,
                    status=result.status,
                    doubtful=result.doubtful,
                ),
            ],
        )
        for result in run.results
        if result.unit
    ]


def _results(run: StoredRun) -> Results:
    return Results(
        run.results,
        run.skipped,
        as_of=run.as_of,
        as_of_source=run.as_of_source,
        warnings=run.warnings,
        partial=run.partial,
        interpretation=run.interpretation,
    )


def _is_between(movement: Movement, before: StoredRun, after: StoredRun) -> bool:
    """Return whether a movement is between the figures that the two runs have."""
    ends = ((movement.before, before), (movement.after, after))
    return all(
        figure is None or abs(figure - known) <= 1e-6 * max(1.0, abs(known))
        for figure, run in ends
        for known in (result.current_value for result in run.results if result.test_id == movement.test_id)
    )


def _origin(
    run: StoredRun, now: RepeatedRun | None, remarks: Sequence[str], clocks: Callable[[datetime], datetime]
) -> Origin:
    return Origin(
        name=run.deal_name or run.workbook_name,
        file_name=run.file_name,
        file_sha256=run.workbook_hash,
        file_size_bytes=run.file_size,
        uploaded_at=clocks(run.uploaded_at),
        workbook_id=str(run.workbook_id),
        run_id=str(run.id),
        run_at=clocks(run.executed_at),
        mapping=None if now is None else now.mapping.name,
        definition_version=run.definition_version,
        remarks=tuple(remarks),
    )


# Reconciliation -------------------------------------------------------------------------------------------------------


async def _write_comparison(unit: Unit, report: ReportRow, path: Path) -> None:
    assert report.tape_id is not None, "it is of a tape"
    comparison = await reconciliation.find_comparison(unit, report.tape_id, report.job_id)
    assert comparison is not None, "a comparison that a report shows stays"
    compared_at = None if comparison.completed_at is None else await unit.local_time(comparison.completed_at)
    content = _to_compared(comparison, await _moment(unit), compared_at)
    with path.open("wb") as file:
        await asyncio.to_thread(_write_lines, file, [content])
        last: Issue | None = None
        while True:
            issues = await reconciliation.issues_of(
                unit, tape_id=comparison.tape_id, workbook_id=comparison.workbook_id, after=last, most=ISSUES_A_TIME
            )
            if not issues:
                return
            last = issues[-1]
            await asyncio.to_thread(_write_lines, file, _lines(issues))


def _write_lines(file: BinaryIO, lines: Any) -> None:
    encoder = msgspec.json.Encoder()
    for line in lines:
        file.write(encoder.encode(line) + b"\n")


def _lines(issues: Sequence[Issue]) -> Iterator[dict[str, Any]]:
    return ({name: getattr(issue, name) for name in IssueLine.__struct_fields__} for issue in issues)


def _to_compared(
    stored_comparison: reconciliation.StoredComparison, generated_at: datetime, compared_at: datetime | None
) -> ComparedSides:
    assert stored_comparison.summary is not None, "it is completed"
    facts = (
        ("Tape", f"{stored_comparison.tape_file}, {stored_comparison.tape_id}"),
        ("SHA-256 of the tape", stored_comparison.tape_hash),
        ("Workbook", f"{stored_comparison.workbook_file}, {stored_comparison.workbook_id}"),
        ("SHA-256 of the workbook's file", stored_comparison.workbook_hash),
        ("Comparison", stored_comparison.job_id),
    )
    return ComparedSides(
        title=stored_comparison.tape_file,
        trustee=stored_comparison.trustee_name,
        book=stored_comparison.workbook_name,
        tape_day=stored_comparison.tape_as_of or stored_comparison.statement_date,
        book_day=stored_comparison.workbook_as_of,
        compared_at=compared_at,
        generated_at=generated_at,
        loans={name: getattr(stored_comparison.summary, name) for name in LOANS},
        stages=stored_comparison.match_stages or {},
        rules=stored_comparison.rules,
        tolerances=stored_comparison.tolerances,
        not_compared=stored_comparison.not_compared,
        warnings=stored_comparison.warnings,
        facts=[LineageLine(*fact) for fact in facts],
        remarks=(FOLLOWED,) if stored_comparison.is_followed else (),
    )
