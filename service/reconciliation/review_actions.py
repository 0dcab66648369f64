"""Reviews of issues: of one, and of many in one step."""

from __future__ import annotations

from typing import Final, get_args

from msgspec import UNSET

from service.platform.base.problem import ValidationFailed
from service.platform.unit.context import Context
from service.reconciliation import issue_store, schema, store

STATUSES: Final[tuple[str, ...]] = get_args(schema.IssueStatus)


async def review(ctx: Context, issue_id: str, patch: schema.IssuePatch) -> schema.Issue:
    """Set an issue's status, its notes, or both; who did it stays with it."""
    if patch.status is not UNSET:
        _check_status(patch.status)
    issue = await issue_store.lock_issue(ctx, issue_id)
    changed = issue
    if patch.status is UNSET and patch.resolution_notes is UNSET:
        ctx.skip_event()
    else:
        status = issue.status if patch.status is UNSET else patch.status
        notes = issue.resolution_notes if patch.resolution_notes is UNSET else patch.resolution_notes
        changed = await issue_store.review(ctx, issue, status=status, notes=notes, reviewer=await ctx.email())
    ctx.set_subject(
        "issue",
        issue.id,
        issue.primary_identifier,
        tape_id=issue.tape_id,
        workbook_id=str(issue.workbook_id),
        field_name=issue.field_name,
        status_before=issue.status,
        status=changed.status,
        resolution_notes=changed.resolution_notes,
    )
    return changed


async def review_many(ctx: Context, patch: schema.IssuesPatch) -> schema.IssuesReviewed:
    """Set status and notes of all chosen issues, or of none.

    Raises:
        ValidationFailed: neither or both of `ids` and `filter`, a filter without a condition, or too many issues.
        IssueNotFound: an identifier names no issue of the tenant.
        TapeNotFound, JobNotFound: the filter names one that the tenant does not have.
        ConcurrentModification: a merge is not over within `issue_store.REVIEW_WAIT`.
    """
    _check_status(patch.status)
    conditions = _conditions(patch)
    if patch.filter is not None:
        await _check_records(ctx, patch)
    pairs = await issue_store.pairs_of(ctx, conditions, most=schema.REVIEW_MAX + 1)
    _check_count(conditions, sum(pair.issues for pair in pairs), len(pairs))
    done = await issue_store.review_many(ctx, conditions, pairs, patch, reviewer=await ctx.email())
    _check_count(conditions, done.updated, len(pairs))
    if not done.updated:
        ctx.skip_event()
        return schema.IssuesReviewed(updated=0, reviewed_at=None)
    ctx.set_subject("issues", pairs[0].tape_id if len(pairs) == 1 else ctx.tenant, None, **_details(patch, done))
    return done


def _check_status(status: str) -> None:
    if status not in STATUSES:
        raise schema.InvalidStatus.at(["body", "status"], f"the statuses are {', '.join(STATUSES)}")


def _conditions(patch: schema.IssuesPatch) -> dict[str, object]:
    """Return the conditions on the issues by name, as `issue_store` knows them."""
    if (patch.ids is None) == (patch.filter is None):
        raise ValidationFailed.at(["body"], "give either ids or filter")
    if patch.ids is not None:
        return {"ids": list(dict.fromkeys(patch.ids))}
    conditions = {} if patch.filter is None else issue_store.conditions_of(patch.filter)
    if not conditions:
        raise ValidationFailed.at(["body", "filter"], "give at least one condition")
    return conditions


async def _check_records(ctx: Context, patch: schema.IssuesPatch) -> None:
    assert patch.filter is not None
    if patch.filter.tape_id is not None:
        await store.tapes.get(ctx, patch.filter.tape_id)
    if patch.filter.job_id is not None:
        await store.comparisons.get(ctx, patch.filter.job_id)


def _check_count(conditions: dict[str, object], issues: int, pairs: int) -> None:
    """Refuse what is too much, and identifiers that name nothing."""
    ids = conditions.get("ids")
    if isinstance(ids, list):
        if issues < len(ids):
            raise schema.IssueNotFound
    elif issues > schema.REVIEW_MAX:
        raise ValidationFailed.at(
            ["body", "filter"],
            f"it matches more than {schema.REVIEW_MAX:,} issues, the most of one call; add a condition",
        )
    if pairs > schema.REVIEW_PAIRS_MAX:
        place = ["body", "filter" if ids is None else "ids"]
        raise ValidationFailed.at(
            place,
            f"its issues are of more than {schema.REVIEW_PAIRS_MAX} pairs of tape and workbook, the most of one call",
        )


def _details(patch: schema.IssuesPatch, done: schema.IssuesReviewed) -> dict[str, object]:
    """Return what the audit log keeps of a review."""
    chosen = {"by": "ids"} if patch.filter is None else {"filter": issue_store.conditions_of(patch.filter)}
    notes = {} if patch.resolution_notes is UNSET else {"resolution_notes": patch.resolution_notes}
    return {"updated": done.updated, "reviewed_at": done.reviewed_at, **chosen, "status": patch.status, **notes}
