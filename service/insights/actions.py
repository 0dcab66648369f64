"""Insights' decisions: nominations, what a session holds, who sees it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec import to_builtins

from core.insights.insight import STAKEHOLDERS, Stakeholder
from core.insights.insight import Insight as Found
from service.compliance import shared as compliance
from service.compliance.schema import RunTooSlow
from service.insights import child, schema, shared, store
from service.platform.access.caller_status import Window
from service.platform.base.problem import ConcurrentModification, Fault
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.wording.shared import WordedText, word_summaries
from service.workbooks.schema import WorkbookNotFound

INSIGHTS_MAX: Final = 10
"""Of a session."""
TASTED: Final = ("subject", "workbook_id", "as_of", "tests", "loans_in_all", "remarks")
"""What a taster shows of its supporting data: what it is about, and no evidence."""

# Nominations ----------------------------------------------------------------------------------------------------------


async def nominate(ctx: Context, workbook_id: UUID, body: schema.NominationPut) -> schema.Nomination:
    """Nominate a workbook, or end that."""
    (nomination,) = await _nominate(ctx, [workbook_id], body.is_nominated)
    ctx.set_subject("workbook", workbook_id, nomination.workbook_name, is_nominated=body.is_nominated)
    return nomination


async def nominate_many(ctx: Context, body: schema.NominationBulk) -> schema.BulkNominated:
    """Nominate workbooks, or end that."""
    wanted = list(dict.fromkeys(body.workbook_ids))
    await _nominate(ctx, wanted, body.is_nominated)
    ctx.set_subject("nomination", "bulk", workbook_ids=wanted, is_nominated=body.is_nominated)
    return schema.BulkNominated(updated_count=len(wanted), workbook_ids=wanted, is_nominated=body.is_nominated)


async def _nominate(ctx: Context, workbook_ids: Collection[UUID], is_nominated: bool) -> list[schema.Nomination]:
    """Nominate workbooks or end that; return their nominations.

    Raises:
        WorkbookNotFound: one of them is not there; nothing is changed.
        NominationLimitExceeded: there would be more than there may be.
    """
    await store.settle(ctx)
    there = {nomination.workbook_id: nomination for nomination in await store.nominations_of(ctx, workbook_ids)}
    if missing := [id_ for id_ in workbook_ids if id_ not in there]:
        raise WorkbookNotFound(*(Fault(["workbook_id"], f"there is no workbook {id_}") for id_ in missing[:10]))
    if all(nomination.is_nominated == is_nominated for nomination in there.values()):
        ctx.skip_event()
        return list(there.values())
    await (store.nominate if is_nominated else store.withdraw)(ctx, workbook_ids)
    most = ctx.settings.max_nominations
    if is_nominated and (count := len(await store.nominated_ids(ctx))) > most:
        message = f"{count:,} workbooks would be nominated; the limit is {most:,}"
        raise schema.NominationLimitExceeded.at(["body"], message)
    return await store.nominations_of(ctx, workbook_ids)


# Sessions -------------------------------------------------------------------------------------------------------------


async def generate(ctx: Context, body: schema.GenerateRequest) -> schema.Session:
    """Return a new session: what there is to say of the nominated workbooks."""
    stakeholder = next(
        (stakeholder_type for stakeholder_type in STAKEHOLDERS if stakeholder_type == body.stakeholder_type), None
    )
    if stakeholder is None:
        raise schema.InvalidStakeholder.at(["body", "stakeholder_type"], f"expected one of {', '.join(STAKEHOLDERS)}")
    if not await store.nominated_ids(ctx):
        raise schema.NoNominatedWorkbooks
    window = Window(f"insights:{ctx.tenant}", ctx.settings.insights_per_day.of(ctx.caller.tier), shared.DAY_SECONDS)
    async with shared.count_call(ctx, window):
        analysis = await _analyse_all(ctx, stakeholder, angle=0)
    session_id = f"ses_{new_id().hex}"
    await store.create(ctx, session_id, stakeholder, analysis.about)
    return await _put_session(ctx, session_id, analysis)


async def regenerate(ctx: Context) -> schema.Session:
    """Replace the caller's newest session from another angle."""
    session = await store.newest_session(ctx)
    if session is None:
        raise schema.NoActiveSession
    if session.regeneration_count >= schema.REGENERATIONS_MAX:
        message = f"the limit is {schema.REGENERATIONS_MAX} of a session; what is generated anew begins another one"
        raise schema.RegenerationLimitReached(Fault(["session"], message), retry_after_seconds=shared.DAY_SECONDS)
    analysis = await _analyse_all(ctx, session.stakeholder_type, angle=session.regeneration_count + 1)
    if not await store.begin_regeneration(ctx, session, analysis.about):
        raise ConcurrentModification
    return await _put_session(ctx, session.id, analysis)


class _Analysis(NamedTuple):
    """What is to be stored of a session."""

    about: dict[str, Any]
    insights: list[store.NewInsight]


async def _analyse_all(ctx: Context, stakeholder: Stakeholder, angle: int) -> _Analysis:
    gathered = await shared.gather(ctx)
    try:
        analysed = await _analyse(ctx, gathered, stakeholder, angle)
    except RunTooSlow:
        if len(gathered.subjects) == 1:
            raise
        gathered = _first_of(gathered)
        analysed = await _analyse(ctx, gathered, stakeholder, angle)
    subjects = [
        schema.Analysed(
            workbook_id=UUID(subject.workbook_id),
            name=subject.name,
            run_id=subject.run_id,
            as_of=to_builtins(subject.day),
        )
        for subject in gathered.subjects
    ]
    wordings = await word_summaries(ctx, analysed)
    insights = [
        _to_new_insight(insight, wording, number, subjects)
        for number, (insight, wording) in enumerate(zip(analysed, wordings, strict=True))
    ]
    return _Analysis({"subjects": subjects, "warnings": gathered.warnings}, insights)


async def _analyse(ctx: Context, gathered: shared.Gathered, stakeholder: Stakeholder, angle: int) -> list[Found]:
    work = gathered.subjects, stakeholder, angle, INSIGHTS_MAX, gathered.labels
    return await compliance.calculate(ctx, ctx.settings.insight_seconds, child.find, *work)


def _first_of(gathered: shared.Gathered) -> shared.Gathered:
    """Return the last nominated workbook alone."""
    first, *others = gathered.subjects
    names = ", ".join(subject.name for subject in others)
    message = f"Analysing all of them takes longer than it may: left out are {names}."
    return gathered._replace(
        subjects=[first], warnings=[*gathered.warnings, schema.Remark(code="left_out", message=message)]
    )


def _to_new_insight(
    insight: Found, wording: WordedText, number: int, subjects: list[schema.Analysed]
) -> store.NewInsight:
    about = [UUID(insight.workbook_id)] if insight.workbook_id else [subject.workbook_id for subject in subjects]
    same = ("category", "title", "confidence", "priority", "methodology", "supporting_data")
    return store.NewInsight(
        id=f"ins_{new_id().hex}",
        number=number,
        workbook_ids=about,
        summary=wording.text,
        answered_by=wording.answered_by,
        **{name: getattr(insight, name) for name in same},
    )


async def _put_session(ctx: Context, session_id: str, analysis: _Analysis) -> schema.Session:
    """Store a session's insights, and return the session."""
    await store.put_insights(ctx, session_id, analysis.insights)
    session = await store.session(ctx, session_id)
    ctx.set_subject(
        "insight_session",
        session_id,
        stakeholder_type=session.stakeholder_type,
        regeneration_count=session.regeneration_count,
        insights=len(session.insights),
        workbook_ids=[subject.workbook_id for subject in session.subjects],
    )
    return session


async def insight(ctx: Context, insight_id: str) -> schema.InsightDetail:
    """Return an insight; of a taster no evidence."""
    detail = await store.insight(ctx, insight_id)
    if not detail.is_taster:
        return detail
    evidence = {name: detail.supporting_data[name] for name in TASTED if name in detail.supporting_data}
    return msgspec.structs.replace(detail, supporting_data=evidence)
