"""Deals' decisions: what a deal is, who may change what of it, what its files become, what its definition must be."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET

from core.definition import DefinitionError, parse
from core.files.kinds import EXTENSIONS
from service.deals import store
from service.deals.schema import (
    DEFINITION_BYTES_MAX,
    VERSIONS_MAX,
    Deal,
    DealCreate,
    DealHistory,
    DealHistoryQuery,
    DealLimitExceeded,
    DealPatch,
    DealRow,
    Definition,
    DefinitionPut,
    DefinitionQuery,
    DefinitionVersion,
    FilesForm,
    InvalidDefinition,
    Series,
)
from service.mappings.shared import check_mapping
from service.platform.access.secrets import new_id
from service.platform.context import Context
from service.platform.http.api import Page, PageQuery
from service.platform.http.problem import Fault
from service.workbooks import shared as workbooks
from service.workbooks.schema import Uploaded

NO_DEFINITION = Definition(version=0, definition={}, change_notes=None, created_by=None, created_at=None)

_STEP = re.compile(r"[^.\[\]]+")


async def create(ctx: Context, body: DealCreate) -> Deal:
    """A new deal."""
    if body.mapping_id is not None:
        await check_mapping(ctx, body.mapping_id)
    if await store.lock_count(ctx) >= ctx.settings.max_deals:
        raise DealLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_deals} deals")
    given = msgspec.structs.asdict(body)
    row = await store.create(ctx, {**given, "tenant_id": ctx.tenant, "id": new_id(), "created_by": await ctx.email()})
    ctx.concerns("deal", row.id, row.name, stream_key=row.stream_key, currency=row.currency)
    return _told(ctx, row)


async def detail(ctx: Context, deal_id: UUID) -> Deal:
    """A deal, with the newest of its workbooks."""
    return _told(ctx, await store.get(ctx, deal_id))


async def update(ctx: Context, deal_id: UUID, patch: DealPatch) -> Deal:
    """Change what is given of a deal."""
    row = await store.lock(ctx, deal_id)
    ctx.match(row.version)
    given = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    if not given:
        ctx.changed_nothing()
        return _told(ctx, row)
    if given.get("mapping_id") is not None:
        await check_mapping(ctx, given["mapping_id"])
    kept = {name: getattr(row, name) for name in patch.__struct_fields__}
    changed = await store.update(ctx, deal_id, {**kept, **given})
    ctx.concerns("deal", deal_id, changed.name, changed=sorted(given))
    return _told(ctx, changed)


async def delete(ctx: Context, deal_id: UUID) -> None:
    """Delete a deal; its workbooks, its tapes and what was run on them stay."""
    row = await store.lock(ctx, deal_id)
    books, tapes = await store.delete(ctx, deal_id)
    ctx.concerns("deal", deal_id, row.name, workbooks=books, tapes=tapes, definition_version=row.definition_version)


def _told(ctx: Context, row: DealRow) -> Deal:
    ctx.tag(row.version)
    return Deal(**{name: getattr(row, name) for name in Deal.__struct_fields__})


async def add_files(ctx: Context, deal_id: UUID, form: FilesForm) -> Uploaded:
    """One workbook of the files of a month; its mapping, definition and limits are the deal's."""
    about = workbooks.About(form.name, form.description or None, deal_id=deal_id, as_of=form.as_of)
    return await workbooks.take_in(ctx, "files", form.files, about, EXTENSIONS)


# Definitions ----------------------------------------------------------------------------------------------------------


async def definition(ctx: Context, deal_id: UUID, query: DefinitionQuery) -> Definition:
    """The present definition of a deal, or the version asked for."""
    deal = await store.get(ctx, deal_id)
    version = query.version or deal.definition_version
    return await store.definition(ctx, deal_id, version) if version else NO_DEFINITION


async def define(ctx: Context, deal_id: UUID, body: DefinitionPut) -> Definition:
    """Make the definition's next version; runs that were made keep the version that they used."""
    document = msgspec.json.encode(body.definition)
    if len(document) > DEFINITION_BYTES_MAX:
        message = f"takes {len(document):,} bytes; the limit is {DEFINITION_BYTES_MAX:,}"
        raise InvalidDefinition.at(["body", "definition"], message)
    await ctx.compute(checked, ["body", "definition"], body.definition)
    deal = await store.lock(ctx, deal_id)
    version = deal.definition_version + 1
    if version > VERSIONS_MAX:
        raise DealLimitExceeded.at(["body"], f"the limit is {VERSIONS_MAX:,} versions of a definition")
    row = {"version": version, "definition": document.decode(), "change_notes": body.change_notes}
    made = await store.add_definition(ctx, deal_id, {**row, "created_by": await ctx.email()})
    ctx.concerns("deal", deal_id, deal.name, definition_version=version, change_notes=body.change_notes)
    return made


def checked(where: list[str], document: dict[str, Any]) -> Any:
    """The definition that a document says.

    Raises:
        InvalidDefinition: with every fault and its place.
    """
    try:
        return parse(document)
    except DefinitionError as error:
        raise InvalidDefinition(
            *(Fault([*where, *_STEP.findall(place)], message) for place, message in error.faults)
        ) from None


async def versions(ctx: Context, deal_id: UUID, query: PageQuery) -> Page[DefinitionVersion]:
    """A page of the versions of a deal's definition."""
    await store.get(ctx, deal_id)
    return await store.versions(ctx, deal_id, query)


# Through the months ---------------------------------------------------------------------------------------------------


async def history(ctx: Context, deal_id: UUID, query: DealHistoryQuery) -> DealHistory:
    """The figures of a deal's tests through the months; a test that is asked for has a series, if an empty one."""
    await store.get(ctx, deal_id)
    series, truncated = await store.history(ctx, deal_id, query)
    found = {one.test_id for one in series}
    absent = [Series(test_id=name, points=[]) for name in dict.fromkeys(query.test_id) if name not in found]
    return DealHistory(deal_id=deal_id, series=[*series, *absent], truncated=truncated)
