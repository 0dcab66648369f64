"""Deals' decisions.

What a deal is, who may change what of it, what its files become, what its definition must be.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

import msgspec

from core.compliance.suites import DEAL_SUITE, SUITES
from core.files.kinds import EXTENSIONS
from core.values import day_of
from service.compliance import shared as compliance
from service.compliance.schema import InvalidSuite, RunTooSlow
from service.deals import child, schema, store
from service.mappings.shared import check_mapping, own_targets
from service.platform.base.problem import Fault, PermissionDenied, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context
from service.platform.unit.records import narrow
from service.reconciliation.shared import TapeAbout, take_in_tape
from service.workbooks import shared as workbooks

OF_TAPES: Final = ("trustee_name", "statement_date")
OF_HOLDINGS: Final = ("name", "description")
"""Fields of uploaded files that only one kind has."""
TAPE_ACCESS: Final = "compliance:write"
"""What uploading a tape needs, here as in its own area."""

NO_DEFINITION = schema.Definition(version=0, definition={}, change_notes=None, created_by=None, created_at=None)


async def create(ctx: Context, body: schema.DealCreate) -> schema.Deal:
    """Create a deal."""
    workbooks.check_stream(ctx, body.stream_key)
    _check_life(msgspec.structs.asdict(body))
    if body.mapping_id is not None:
        await check_mapping(ctx, body.mapping_id)
    if await store.deals.lock_count(ctx) >= ctx.settings.max_deals:
        raise schema.DealLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_deals} deals")
    record = msgspec.structs.asdict(body) | {"currency": await store.currency(ctx, body.currency)}
    row = await store.deals.create(ctx, {**record, "id": new_id(), "created_by": await ctx.email()})
    ctx.set_subject("deal", row.id, row.name, stream_key=row.stream_key, currency=row.currency)
    return _to_response(ctx, row)


async def detail(ctx: Context, deal_id: UUID) -> schema.Deal:
    """Return a deal, with the newest of its workbooks."""
    return _to_response(ctx, await store.deals.get(ctx, deal_id))


async def update(ctx: Context, deal_id: UUID, patch: schema.DealPatch) -> schema.Deal:
    """Change what is given of a deal."""
    row = await store.deals.get(ctx, deal_id, lock=True)
    ctx.check_if_match(row.version)
    changes = patch.changes()
    if not changes:
        ctx.skip_event()
        return _to_response(ctx, row)
    workbooks.check_stream(ctx, changes.get("stream_key"))
    if changes.get("mapping_id") is not None:
        await check_mapping(ctx, changes["mapping_id"])
    record = msgspec.structs.asdict(row) | changes
    _check_life(record)
    if row.definition_version:  # which stays one with what the record says now
        written = await store.definition(ctx, deal_id, row.definition_version)
        await _check_definition(ctx, written.definition, record)
    changed = await store.deals.update(ctx, deal_id, changes)
    ctx.set_subject("deal", deal_id, changed.name, changed=sorted(changes))
    return _to_response(ctx, changed)


def _check_life(record: dict[str, Any]) -> None:
    """Refuse days that no deal's life has in this order."""
    days = [(name, record[name]) for name in ("closing_date", "reinvestment_end", "stated_maturity") if record[name]]
    for (earlier, begun), (name, day) in pairwise(days):
        if day <= begun:
            raise ValidationFailed.at(["body", name], f"{day} is not after the {earlier}, {begun}")


async def delete(ctx: Context, deal_id: UUID) -> None:
    """Delete a deal; its workbooks, its tapes and what was run on them stay."""
    row = await store.deals.get(ctx, deal_id, lock=True)
    books, tapes = await store.delete(ctx, deal_id)
    ctx.set_subject("deal", deal_id, row.name, workbooks=books, tapes=tapes, definition_version=row.definition_version)


def _to_response(ctx: Context, row: schema.DealRow) -> schema.Deal:
    ctx.set_etag(row.version)
    return narrow(schema.Deal, row)


async def add_files(ctx: Context, deal_id: UUID, form: schema.FilesForm) -> schema.HoldingsAdded | schema.TapeAdded:
    """Add one workbook of a month's files, or a tape, to a deal.

    The workbook has the deal's mapping, definition and limits.

    Raises:
        PermissionDenied: a tape needs compliance:write, too.
        ValidationFailed: a field is of the other kind, or a tape is several files.
        Problem: as `workbooks.take_in` and `take_in_tape`.
    """
    is_tape = form.kind == "tape"
    if wrong := [name for name in (OF_HOLDINGS if is_tape else OF_TAPES) if getattr(form, name)]:
        message = f"is of kind={'holdings' if is_tape else 'tape'}; kind is {form.kind}"
        raise ValidationFailed(*(Fault(["body", name], message) for name in wrong))
    return await (_add_tape if is_tape else _add_holdings)(ctx, deal_id, form)


async def _add_holdings(ctx: Context, deal_id: UUID, form: schema.FilesForm) -> schema.HoldingsAdded:
    about = workbooks.WorkbookAbout(form.name, form.description or None, deal_id=deal_id, as_of=form.as_of)
    take = await workbooks.take_in(ctx, "files", form.files, about, EXTENSIONS)
    return narrow(schema.HoldingsAdded, take)


async def _add_tape(ctx: Context, deal_id: UUID, form: schema.FilesForm) -> schema.TapeAdded:
    if not ctx.caller.may(TAPE_ACCESS):
        raise PermissionDenied.with_access(ctx.caller, TAPE_ACCESS)
    if len(form.files) > 1:
        raise ValidationFailed.at(["body", "files"], "a tape is one file; put several into a .zip")
    about = TapeAbout(form.trustee_name, form.statement_date, deal_id=deal_id, as_of=form.as_of)
    tape = await take_in_tape(ctx, "files", form.files[0], about, EXTENSIONS)
    ctx.event = "tape.uploaded"
    return schema.TapeAdded(tape=tape)


# Definitions ----------------------------------------------------------------------------------------------------------


async def definition(ctx: Context, deal_id: UUID, query: schema.DefinitionQuery) -> schema.Definition:
    """Return the present definition of a deal, or the version asked for."""
    deal = await store.deals.get(ctx, deal_id)
    version = query.version or deal.definition_version
    return await store.definition(ctx, deal_id, version) if version else NO_DEFINITION


async def define(ctx: Context, deal_id: UUID, body: schema.DefinitionPut) -> schema.Definition:
    """Store the next version of a definition; runs keep theirs."""
    document = compliance.check_size(body.definition)
    deal = await store.deals.get(ctx, deal_id, lock=True)
    record = msgspec.structs.asdict(deal)
    await _check_definition(ctx, body.definition, record, await own_targets(ctx))
    version = deal.definition_version + 1
    if version > schema.VERSIONS_MAX:
        raise schema.DealLimitExceeded.at(["body"], f"the limit is {schema.VERSIONS_MAX:,} versions of a definition")
    if body.check_only:
        ctx.skip_event()
        return msgspec.structs.replace(NO_DEFINITION, version=version, definition=body.definition)
    row = {"version": version, "definition": document.decode(), "change_notes": body.change_notes}
    definition = await store.add_definition(ctx, deal_id, {**row, "created_by": await ctx.email()})
    ctx.set_subject("deal", deal_id, deal.name, definition_version=version, change_notes=body.change_notes)
    return definition


async def _check_definition(
    ctx: Context, document: dict[str, Any], record: dict[str, Any], own_fields: list[str] | None = None
) -> None:
    whole = compliance.with_record(document, record)
    await compliance.check_definition(ctx, whole, len(msgspec.json.encode(whole)), own_fields)


async def versions(ctx: Context, deal_id: UUID, query: PageQuery) -> Page[schema.DefinitionVersion]:
    """Return a page of the versions of a deal's definition."""
    await store.deals.get(ctx, deal_id)
    return await store.versions(ctx, deal_id, query)


async def draft_definition(ctx: Context, deal_id: UUID, body: schema.DraftOrder) -> schema.DefinitionDraft:
    """Draft a definition from what a workbook prints; store nothing."""
    deal = await store.deals.get(ctx, deal_id)
    workbook_id = await store.workbook_of(ctx, deal_id, workbook_id=body.workbook_id)
    ready = await compliance.prepare(ctx, workbook_id, suite=DRAFT_SUITE, deal_id=deal_id, mapping=body.mapping_id)
    await ctx.commit()  # no connection is held while it is drafted
    draft = await compliance.calculate(ctx, _seconds(ctx), child.draft_of, ready.as_read, deal.name)
    if isinstance(draft, child.NoDraft):
        raise ValidationFailed.at(["body", "workbook_id"], draft.message)
    fields = {name: getattr(draft.draft, name) for name in draft.draft.__struct_fields__}
    return schema.DefinitionDraft(
        deal_id=deal_id, workbook_id=workbook_id, as_of=day_of(ready.portfolio.deal.as_of), **fields
    )


DRAFT_SUITE: Final = "standard"
"""A suite that needs no definition."""


# Through the months ---------------------------------------------------------------------------------------------------


async def history(ctx: Context, deal_id: UUID, query: schema.DealHistoryQuery) -> schema.DealHistory:
    """Return the figures of a deal's tests through the months.

    A requested test has a series, if an empty one.
    """
    await store.deals.get(ctx, deal_id)
    series, truncated = await store.history(ctx, deal_id, query)
    present = {test_series.test_id for test_series in series}
    absent = [schema.Series(test_id=name, points=[]) for name in dict.fromkeys(query.test_id) if name not in present]
    return schema.DealHistory(deal_id=deal_id, series=[*series, *absent], truncated=truncated)


# Beside the trustee, and from month to month --------------------------------------------------------------------------


async def compare_with_trustee(ctx: Context, deal_id: UUID, query: schema.TieOutQuery) -> schema.DealTieOut:
    """Return the tests that a workbook of the deal publishes, with ours beside them."""
    await store.deals.get(ctx, deal_id)
    workbook_id = await store.workbook_of(ctx, deal_id, workbook_id=query.workbook_id)
    ready = await compliance.prepare(ctx, workbook_id, suite=DEAL_SUITE, deal_id=deal_id)
    await ctx.commit()  # no connection is held while it runs
    assert ready.definition is not None, "a deal has one"
    rules = ready.definition.definition
    tie_out = await compliance.calculate(ctx, _seconds(ctx), child.interpret_and_tie, ready.as_read, rules, ready.rules)
    as_of = day_of(ready.portfolio.deal.as_of)
    return schema.DealTieOut(deal_id=deal_id, workbook_id=workbook_id, as_of=as_of, **msgspec.structs.asdict(tie_out))


async def explain_movements(ctx: Context, deal_id: UUID, query: schema.MovementsQuery) -> schema.DealMovements:
    """Return why the tests moved, by the later workbook's rules."""
    if query.test_suite not in (*SUITES, DEAL_SUITE):
        raise InvalidSuite.at(["query", "test_suite"], f"the suites are {', '.join((*SUITES, DEAL_SUITE))}")
    await store.deals.get(ctx, deal_id)
    sides = [await _side(ctx, deal_id, name, text) for name, text in (("from", query.from_), ("to", query.to))]
    before, after = [
        await compliance.prepare(ctx, workbook_id, suite=query.test_suite, deal_id=deal_id) for workbook_id in sides
    ]
    await ctx.commit()
    moves = await compliance.calculate(
        ctx, _seconds(ctx), child.move, before.portfolio, after.portfolio, query.test_suite, after.rules, before.rules
    )
    if isinstance(moves, child.TooMany):
        raise RunTooSlow.at([], moves.message)
    return schema.DealMovements(
        deal_id=deal_id,
        from_workbook_id=sides[0],
        to_workbook_id=sides[1],
        test_suite=query.test_suite,
        **msgspec.structs.asdict(moves),
    )


RUNS_TIME: Final = 3
"""How many times as long as one run the many runs of a tie-out or of movements may take."""


def _seconds(ctx: Context) -> float:
    return RUNS_TIME * ctx.settings.compliance_seconds


async def _side(ctx: Context, deal_id: UUID, name: str, text: str) -> UUID:
    """Return the workbook that is named by its identifier or its day."""
    try:
        if len(text) == len("2026-03-31"):
            return await store.workbook_of(ctx, deal_id, day=date.fromisoformat(text))
        return await store.workbook_of(ctx, deal_id, workbook_id=UUID(text))
    except ValueError:
        message = "expected a workbook's identifier or a day as YYYY-MM-DD"
        raise ValidationFailed.at(["query", name], message) from None
