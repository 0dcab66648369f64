"""What insights lend.

The day's questions, what nominated workbooks have to say, and answers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import words
from core.compliance.suites import DEAL_SUITE
from core.insights.subject import BREAKS_SHOWN, HistoryPoint, Subject
from core.labels import labelled
from core.portfolio import Portfolio
from core.questions.answer import Answer
from service.auth import shared as identity
from service.compliance import shared as compliance
from service.compliance.schema import RunTooSlow
from service.compliance.shared import NotRepeatable
from service.deals import shared as deals
from service.deals.schema import DealHistoryQuery
from service.deals.schema import Point as DealPoint
from service.insights import child, store
from service.insights.schema import UNREADABLE, NoNominatedWorkbooks, Remark
from service.mappings.schema import MappingTooSlow
from service.platform.access.caller_status import Window
from service.platform.base.problem import Problem, ValidationFailed
from service.platform.data.blobs import Damaged
from service.platform.unit.context import Context
from service.platform.unit.storage import report_damage

__all__ = ["Gathered", "ask", "count_call", "gather", "questions_of_the_day"]

DAY_SECONDS: Final = 86_400
GATHERING: Final = 0.5
"""The part of the time of an analysis after which no further workbook is read for it."""


# The day's figures ----------------------------------------------------------------------------------------------------


def questions_of_the_day(ctx: Context) -> Window:
    """Return the tenant's limit of questions in a day."""
    most = ctx.settings.questions_per_day.of(ctx.caller.tier)
    return Window(f"questions:{ctx.tenant}", most, DAY_SECONDS)


@asynccontextmanager
async def count_call(ctx: Context, window: Window) -> AsyncIterator[None]:
    """Take one call out of a day's figure; what is refused within gives it back.

    Raises:
        RateLimited: none is left.
    """
    give_back = await ctx.limit([window])
    try:
        yield
    except Problem:
        await give_back()
        raise


# What is analysed -----------------------------------------------------------------------------------------------------


class Gathered(NamedTuple):
    """Workbooks as they are analysed, and what has to be known of them, or of those that are left out."""

    subjects: list[Subject]
    warnings: list[Remark]
    labels: dict[str, str]
    """What people read in place of an agency's or a trustee's name."""


async def gather(ctx: Context, workbook_ids: Collection[UUID] | None = None) -> Gathered:
    """Return the subjects of some workbooks, or of the nominated ones.

    One that cannot be read is left out, with a remark. What was begun is committed: no connection is held while it
    works.

    Raises:
        NoNominatedWorkbooks: no workbook is named or nominated.
        UNREADABLE, ValidationFailed: none of them can be read, the first one for this reason.
    """
    wanted = list(await store.nominated_ids(ctx) if workbook_ids is None else workbook_ids)
    if not wanted:
        raise NoNominatedWorkbooks
    subjects: list[Subject] = []
    refusals: list[Problem] = []
    left_out: list[str] = []
    end = time.monotonic() + GATHERING * ctx.settings.insight_seconds
    for place, workbook_id in enumerate(wanted):
        if place and time.monotonic() > end:
            left_out.append(
                f"{words.counted(len(wanted) - place, 'more workbook', 'is/are')} left out: reading takes longer than "
                "it may."
            )
            break
        try:
            subjects.append(await _subject(ctx, workbook_id))
        except (*UNREADABLE, ValidationFailed) as refusal:
            if isinstance(refusal, Damaged):
                await report_damage(ctx.resources, refusal.key, ctx.request_id)
            refusals.append(refusal)
            why = "; ".join([refusal.detail, *(fault.message for fault in refusal.errors)])
            left_out.append(f"Workbook {workbook_id} is left out: {why}.")
    if not subjects:
        raise refusals[0]
    labels = await identity.labels_of(ctx)
    await ctx.commit()
    distinct = _with_unique_names(subjects)
    return Gathered(
        distinct,
        [
            *(Remark(code="left_out", message=message) for message in left_out),
            *(
                Remark(code="rests_on", message=f"{subject.name}: {labelled(remark, labels)}")
                for subject in distinct
                for remark in subject.remarks
            ),
        ],
        labels,
    )


def _with_unique_names(subjects: list[Subject]) -> list[Subject]:
    """Return several of one name by their days, or by their identifiers."""
    by_name = Counter(subject.name for subject in subjects)
    dated = [
        subject if by_name[subject.name] == 1 else replace(subject, name=f"{subject.name} {subject.day}")
        for subject in subjects
    ]
    by_day = Counter(subject.name for subject in dated)
    return [
        subject if by_day[subject.name] == 1 else replace(subject, name=f"{subject.name} ({subject.workbook_id})")
        for subject in dated
    ]


class _Source(NamedTuple):
    """A workbook's loans, and the rules that it is held to."""

    portfolio: Portfolio
    suite: str
    rules: dict[str, Any]
    run_id: str | None
    remarks: list[str]


async def _subject(ctx: Context, workbook_id: UUID) -> Subject:
    """Return a workbook by its newest full run's rules, with context.

    Raises:
        UNREADABLE, ValidationFailed
    """
    about = await store.about(ctx, workbook_id)
    source = await _read_source(ctx, workbook_id)
    subject = Subject(
        name=about.deal_name or about.workbook_name,
        portfolio=source.portfolio,
        suite=source.suite,
        rules=source.rules,
        workbook_id=str(workbook_id),
        run_id=source.run_id,
        breaks=await store.breaks(ctx, workbook_id, BREAKS_SHOWN),
    )
    previous = None
    if about.deal_id is not None and subject.day is not None:
        previous = await _previous(ctx, about.deal_id, workbook_id, subject, source.remarks)
        subject = replace(subject, history=await _history(ctx, about.deal_id, subject))
    return replace(subject, previous=previous, remarks=tuple(source.remarks))


async def _read_source(ctx: Context, workbook_id: UUID) -> _Source:
    """Return the loans as the newest full run read them, or as of now."""
    run = await compliance.find_run(ctx, workbook_id)
    why = "no whole suite was run on it"
    if run is not None:
        try:
            again = await compliance.repeat_run(ctx, run)
        except NotRepeatable as reason:
            why = str(reason)
        else:
            return _Source(again.portfolio, run.test_suite, again.rules, str(run.id), [])
    ready = await compliance.prepare(ctx, workbook_id, suite="enhanced")
    suite = DEAL_SUITE if ready.definition_version else "enhanced"
    return _Source(ready.portfolio, suite, ready.rules, None, [f"its tests were run now, and are not stored: {why}"])


async def _previous(
    ctx: Context, deal_id: UUID, workbook_id: UUID, subject: Subject, remarks: list[str]
) -> Subject | None:
    """Return the deal's month before, or a remark where it cannot be read."""
    assert subject.day is not None
    run = await compliance.run_before(ctx, deal_id=deal_id, workbook_id=workbook_id, as_of=subject.day)
    if run is None:
        return None
    try:
        again = await compliance.repeat_run(ctx, run)
    except (NotRepeatable, RunTooSlow, MappingTooSlow) as why:
        reason = why.detail if isinstance(why, Problem) else why
        remarks.append(f"nothing is said of what moved since {run.as_of}: {reason}")
        return None
    return Subject(
        name=subject.name,
        portfolio=again.portfolio,
        suite=run.test_suite,
        rules=again.rules,
        workbook_id=str(run.workbook_id),
        run_id=str(run.id),
    )


async def _history(ctx: Context, deal_id: UUID, subject: Subject) -> dict[str, list[HistoryPoint]]:
    """Return the deal's tests through the months, by full runs."""
    series, _ = await deals.history(ctx, deal_id, DealHistoryQuery(end_date=subject.day))
    return {
        test_series.test_id: list({at.as_of: _to_point(at) for at in test_series.points}.values())
        for test_series in series
    }


def _to_point(at: DealPoint) -> HistoryPoint:
    return HistoryPoint(day=at.as_of, value=at.value, limit=at.threshold, status=at.status, run_id=str(at.run_id))


# Answers --------------------------------------------------------------------------------------------------------------


UPLOAD_FIRST: Final = (
    "There is no workbook to ask about yet: upload one (POST /api/v1/workbooks/upload), then nominate it "
    "(PUT /api/v1/insights/nominations/{workbook_id} with is_nominated true)."
)
NOMINATE_FIRST: Final = (
    "No workbook is nominated: nominate those that questions are to be about "
    "(PUT /api/v1/insights/nominations/{workbook_id} with is_nominated true)."
)


async def ask(ctx: Context, question: str, workbook_ids: Collection[UUID] | None) -> tuple[Answer, list[Remark]]:
    """Return the answer to a question over some workbooks, and remarks.

    Without any workbook the answer says what is to be done first.

    Raises:
        UNREADABLE, ValidationFailed: as `gather`.
        RunTooSlow: as `answer`.
    """
    try:
        gathered = await gather(ctx, workbook_ids)
    except NoNominatedWorkbooks:
        text = NOMINATE_FIRST if await store.has_workbooks(ctx) else UPLOAD_FIRST
        nothing = Answer(
            question=question,
            answered=False,
            text=text,
            understood="",
            query=None,
            figures=[],
            names=[],
            warnings=[],
            suggestions=[],
        )
        return nothing, []
    reply = await answer(ctx, question, gathered)
    return reply, [*gathered.warnings, *(Remark(code="assumed", message=warning) for warning in reply.warnings)]


async def answer(ctx: Context, question: str, gathered: Gathered) -> Answer:
    """Return what the subjects say to a question.

    Raises:
        RunTooSlow: it takes longer than it may.
    """
    seconds = ctx.settings.insight_seconds
    return (
        await compliance.calculate(ctx, seconds, child.answer, question, gathered.subjects, gathered.labels)
    ).as_answer()
