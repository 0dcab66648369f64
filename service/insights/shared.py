"""What insights lend: the day's questions, what nominated workbooks have to say, and answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from core import words
from core.compliance.suites import DEAL_SUITE
from core.insights.subject import BREAKS_SHOWN, Break, Breaks, HistoryPoint, Subject
from core.labels import labelled
from core.portfolio import Portfolio
from core.questions.answer import Answer
from service.auth import shared as identity
from service.compliance import shared as compliance
from service.compliance.schema import RunTooSlow
from service.compliance.shared import NotRepeatable
from service.deals import shared as deals
from service.deals.schema import DealHistoryQuery
from service.insights import child, store
from service.insights.schema import UNREADABLE, NoNominatedWorkbooks, Remark
from service.mappings.schema import MappingTooSlow
from service.platform.access.caller_status import Window
from service.platform.base.problem import Problem, ValidationFailed
from service.platform.data.blobs import Damaged
from service.platform.unit.context import Context
from service.platform.unit.storage import report

__all__ = ["Gathered", "asked", "counted", "gather", "questions_of_the_day"]

DAY_SECONDS: Final = 86_400
GATHERING: Final = 0.5
"""The part of the time of an analysis after which no further workbook is read for it."""


# The day's figures ----------------------------------------------------------------------------------------------------


def questions_of_the_day(ctx: Context) -> Window:
    """The questions that the tenant may ask in a day, of insights and of the assistant together."""
    most = ctx.settings.questions_per_day.of(ctx.caller.tier)
    return Window(f"questions:{ctx.tenant}", most, DAY_SECONDS)


@asynccontextmanager
async def counted(ctx: Context, window: Window) -> AsyncIterator[None]:
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
    """What there is of some workbooks; of the nominated ones where none is named.

    One that cannot be read is left out, and that is told. What was begun is committed: no connection is held while it
    works.

    Raises:
        NoNominatedWorkbooks: no workbook is named or nominated.
        UNREADABLE, ValidationFailed: none of them can be read, the first one for this reason.
    """
    wanted = list(await store.nominated(ctx) if workbook_ids is None else workbook_ids)
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
                await report(ctx.resources, refusal.key, ctx.request_id)
            refusals.append(refusal)
            why = "; ".join([refusal.detail, *(fault.message for fault in refusal.errors)])
            left_out.append(f"Workbook {workbook_id} is left out: {why}.")
    if not subjects:
        raise refusals[0]
    labels = await identity.labels_of(ctx)
    await ctx.commit()
    named = _told_apart(subjects)
    return Gathered(
        named,
        [
            *(Remark(code="left_out", message=message) for message in left_out),
            *(
                Remark(code="rests_on", message=f"{one.name}: {labelled(remark, labels)}")
                for one in named
                for remark in one.remarks
            ),
        ],
        labels,
    )


def _told_apart(subjects: list[Subject]) -> list[Subject]:
    """Several of one name by their days, or by their identifiers."""
    by_name = Counter(subject.name for subject in subjects)
    dated = [one if by_name[one.name] == 1 else replace(one, name=f"{one.name} {one.day}") for one in subjects]
    by_day = Counter(one.name for one in dated)
    return [one if by_day[one.name] == 1 else replace(one, name=f"{one.name} ({one.workbook_id})") for one in dated]


class _Found(NamedTuple):
    """A workbook's loans, and the rules that it is held to."""

    portfolio: Portfolio
    suite: str
    rules: dict[str, Any]
    run_id: str | None
    remarks: list[str]


async def _subject(ctx: Context, workbook_id: UUID) -> Subject:
    """A workbook by the rules of its newest full run, and what stands beside it.

    Raises:
        UNREADABLE, ValidationFailed
    """
    about = await store.about(ctx, workbook_id)
    found = await _found(ctx, workbook_id)
    subject = Subject(
        name=about.deal_name or about.workbook_name,
        portfolio=found.portfolio,
        suite=found.suite,
        rules=found.rules,
        workbook_id=str(workbook_id),
        run_id=found.run_id,
        breaks=await _breaks(ctx, workbook_id),
    )
    previous = None
    if about.deal_id is not None and subject.day is not None:
        previous = await _previous(ctx, about.deal_id, workbook_id, subject, found.remarks)
        subject = replace(subject, history=await _history(ctx, about.deal_id, subject))
    return replace(subject, previous=previous, remarks=tuple(found.remarks))


async def _found(ctx: Context, workbook_id: UUID) -> _Found:
    """The loans as the newest full run read them; where there is none to be repeated, as one would read them now."""
    run = await compliance.stored_run(ctx, workbook_id)
    why = "no whole suite was run on it"
    if run is not None:
        try:
            again = await compliance.repeated(ctx, run)
        except NotRepeatable as reason:
            why = str(reason)
        else:
            return _Found(again.portfolio, run.test_suite, again.rules, str(run.id), [])
    ready = await compliance.prepare(ctx, workbook_id, suite="enhanced")
    suite = DEAL_SUITE if ready.definition_version else "enhanced"
    return _Found(ready.portfolio, suite, ready.rules, None, [f"its tests were run now, and are not stored: {why}"])


async def _previous(
    ctx: Context, deal_id: UUID, workbook_id: UUID, subject: Subject, remarks: list[str]
) -> Subject | None:
    """The deal's month before; where it cannot be read, that is told."""
    assert subject.day is not None
    run = await compliance.run_before(ctx, deal_id=deal_id, workbook_id=workbook_id, as_of=subject.day)
    if run is None:
        return None
    try:
        again = await compliance.repeated(ctx, run)
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
    """The deal's tests through the months: of each day what the newest full run says."""
    series, _ = await deals.history(ctx, deal_id, DealHistoryQuery(end_date=subject.day))
    return {
        one.test_id: list({
            point.as_of: HistoryPoint(
                day=point.as_of, value=point.value, limit=point.threshold, status=point.status, run_id=str(point.run_id)
            )
            for point in one.points
        }.values())
        for one in series
    }  # fmt: skip


async def _breaks(ctx: Context, workbook_id: UUID) -> Breaks | None:
    found = await store.breaks(ctx, workbook_id, BREAKS_SHOWN)
    if found is None:
        return None
    given = msgspec.structs.asdict(found)
    return Breaks(**given | {"largest": [Break(**msgspec.structs.asdict(one)) for one in found.largest]})


# Answers --------------------------------------------------------------------------------------------------------------


UPLOAD_FIRST: Final = (
    "There is no workbook to ask about yet: upload one (POST /api/v1/workbooks/upload), then nominate it "
    "(PUT /api/v1/insights/nominations/{workbook_id} with is_nominated true)."
)
NOMINATE_FIRST: Final = (
    "No workbook is nominated: nominate those that questions are to be about "
    "(PUT /api/v1/insights/nominations/{workbook_id} with is_nominated true)."
)


async def asked(ctx: Context, question: str, workbook_ids: Collection[UUID] | None) -> tuple[Answer, list[Remark]]:
    """The answer to a question over some workbooks, or the nominated ones, and what to know of these.

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
            question=question, answered=False, text=text, understood="", query=None, figures=[], names=[],
            warnings=[], suggestions=[],
        )  # fmt: skip
        return nothing, []
    found = await answer(ctx, question, gathered)
    return found, [*gathered.warnings, *(Remark(code="assumed", message=warning) for warning in found.warnings)]


async def answer(ctx: Context, question: str, gathered: Gathered) -> Answer:
    """What the subjects say to a question.

    Raises:
        RunTooSlow: it takes longer than it may.
    """
    seconds = ctx.settings.insight_seconds
    return (
        await compliance.calculated(ctx, seconds, child.answer, question, gathered.subjects, gathered.labels)
    ).as_answer()
