"""Insights' decisions: what is nominated, what a session holds, who sees what of it."""

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
from service.insights import child, shared, store
from service.insights.schema import (
    REGENERATIONS_MAX,
    Analysed,
    BulkNominated,
    GenerateRequest,
    InsightDetail,
    InvalidStakeholder,
    NoActiveSession,
    Nomination,
    NominationBulk,
    NominationLimitExceeded,
    NominationPut,
    NoNominatedWorkbooks,
    RegenerationLimitReached,
    Remark,
    Session,
)
from service.platform.access.caller_status import Window
from service.platform.base.problem import ConcurrentModification, Fault
from service.platform.base.secrets import new_id
from service.platform.unit.context import Context
from service.wording.shared import Told, summaries_told
from service.workbooks.schema import WorkbookNotFound

INSIGHTS_MAX: Final = 10
"""Of a session."""
TASTED: Final = ("subject", "workbook_id", "as_of", "tests", "loans_in_all", "remarks")
"""What a taster shows of its supporting data: what it is about, and no evidence."""

# Nominations ----------------------------------------------------------------------------------------------------------


async def nominate(ctx: Context, workbook_id: UUID, body: NominationPut) -> Nomination:
    """Nominate a workbook, or end that."""
    (nomination,) = await _nominated(ctx, [workbook_id], body.is_nominated)
    ctx.concerns("workbook", workbook_id, nomination.workbook_name, is_nominated=body.is_nominated)
    return nomination


async def nominate_many(ctx: Context, body: NominationBulk) -> BulkNominated:
    """Nominate workbooks, or end that."""
    wanted = list(dict.fromkeys(body.workbook_ids))
    await _nominated(ctx, wanted, body.is_nominated)
    ctx.concerns("nomination", "bulk", workbook_ids=wanted, is_nominated=body.is_nominated)
    return BulkNominated(updated_count=len(wanted), workbook_ids=wanted, is_nominated=body.is_nominated)


async def _nominated(ctx: Context, workbook_ids: Collection[UUID], is_nominated: bool) -> list[Nomination]:
    """The nominations of these workbooks, now as asked.

    Raises:
        WorkbookNotFound: one of them is not there; nothing is changed.
        NominationLimitExceeded: there would be more than there may be.
    """
    await store.settle(ctx)
    there = {nomination.workbook_id: nomination for nomination in await store.nominations_of(ctx, workbook_ids)}
    if missing := [workbook_identifier for workbook_identifier in workbook_ids if workbook_identifier not in there]:
        raise WorkbookNotFound(*(Fault(["workbook_id"], f"there is no workbook {one}") for one in missing[:10]))
    if all(one.is_nominated == is_nominated for one in there.values()):
        ctx.changed_nothing()
        return list(there.values())
    await (store.nominate if is_nominated else store.withdraw)(ctx, workbook_ids)
    most = ctx.settings.max_nominations
    if is_nominated and (count := len(await store.nominated(ctx))) > most:
        message = f"{count:,} workbooks would be nominated; the limit is {most:,}"
        raise NominationLimitExceeded.at(["body"], message)
    return await store.nominations_of(ctx, workbook_ids)


# Sessions -------------------------------------------------------------------------------------------------------------


async def generate(ctx: Context, body: GenerateRequest) -> Session:
    """A new session: what there is to say of the nominated workbooks."""
    stakeholder = next((one for one in STAKEHOLDERS if one == body.stakeholder_type), None)
    if stakeholder is None:
        raise InvalidStakeholder.at(["body", "stakeholder_type"], f"expected one of {', '.join(STAKEHOLDERS)}")
    if not await store.nominated(ctx):
        raise NoNominatedWorkbooks
    window = Window(f"insights:{ctx.tenant}", ctx.settings.insights_per_day.of(ctx.caller.tier), shared.DAY_SECONDS)
    async with shared.counted(ctx, window):
        made = await _made(ctx, stakeholder, angle=0)
    session_id = f"ses_{new_id().hex}"
    await store.create(ctx, session_id, stakeholder, made.about)
    return await _kept(ctx, session_id, made)


async def regenerate(ctx: Context) -> Session:
    """The caller's newest session from another angle, in place of what it said."""
    held = await store.held(ctx)
    if held is None:
        raise NoActiveSession
    if held.regeneration_count >= REGENERATIONS_MAX:
        message = f"the limit is {REGENERATIONS_MAX} of a session; what is generated anew begins another one"
        raise RegenerationLimitReached(Fault(["session"], message), retry_after_seconds=shared.DAY_SECONDS)
    made = await _made(ctx, held.stakeholder_type, angle=held.regeneration_count + 1)
    if not await store.regenerated(ctx, held, made.about):
        raise ConcurrentModification
    return await _kept(ctx, held.id, made)


class _Made(NamedTuple):
    """What is to be stored of a session."""

    about: dict[str, Any]
    insights: list[store.NewInsight]


async def _made(ctx: Context, stakeholder: Stakeholder, angle: int) -> _Made:
    gathered = await shared.gather(ctx)
    try:
        found = await _analysed(ctx, gathered, stakeholder, angle)
    except RunTooSlow:
        if len(gathered.subjects) == 1:
            raise
        gathered = _first_of(gathered)
        found = await _analysed(ctx, gathered, stakeholder, angle)
    subjects = [
        Analysed(
            workbook_id=UUID(subject.workbook_id),
            name=subject.name,
            run_id=subject.run_id,
            as_of=to_builtins(subject.day),
        )
        for subject in gathered.subjects
    ]
    told = await summaries_told(ctx, found)
    insights = [
        _stored(one, said, number, subjects) for number, (one, said) in enumerate(zip(found, told, strict=True))
    ]
    return _Made({"subjects": subjects, "warnings": gathered.warnings}, insights)


async def _analysed(ctx: Context, gathered: shared.Gathered, stakeholder: Stakeholder, angle: int) -> list[Found]:
    work = gathered.subjects, stakeholder, angle, INSIGHTS_MAX, gathered.labels
    return await compliance.calculated(ctx, ctx.settings.insight_seconds, child.find, *work)


def _first_of(gathered: shared.Gathered) -> shared.Gathered:
    """The last nominated workbook alone."""
    first, *others = gathered.subjects
    names = ", ".join(one.name for one in others)
    message = f"Analysing all of them takes longer than it may: left out are {names}."
    return gathered._replace(subjects=[first], warnings=[*gathered.warnings, Remark(code="left_out", message=message)])


def _stored(found: Found, told: Told, number: int, subjects: list[Analysed]) -> store.NewInsight:
    about = [UUID(found.workbook_id)] if found.workbook_id else [subject.workbook_id for subject in subjects]
    same = ("category", "title", "confidence", "priority", "methodology", "supporting_data")
    return store.NewInsight(
        id=f"ins_{new_id().hex}",
        number=number,
        workbook_ids=about,
        summary=told.text,
        answered_by=told.answered_by,
        **{name: getattr(found, name) for name in same},
    )


async def _kept(ctx: Context, session_id: str, made: _Made) -> Session:
    """A session whose insights are stored."""
    await store.put_insights(ctx, session_id, made.insights)
    session = await store.session(ctx, session_id)
    ctx.concerns(
        "insight_session",
        session_id,
        stakeholder_type=session.stakeholder_type,
        regeneration_count=session.regeneration_count,
        insights=len(session.insights),
        workbook_ids=[subject.workbook_id for subject in session.subjects],
    )
    return session


async def insight(ctx: Context, insight_id: str) -> InsightDetail:
    """An insight; of a taster no evidence."""
    found = await store.insight(ctx, insight_id)
    if not found.is_taster:
        return found
    shown = {name: found.supporting_data[name] for name in TASTED if name in found.supporting_data}
    return msgspec.structs.replace(found, supporting_data=shown)
