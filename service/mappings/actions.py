"""Mappings' decisions.

What is a mapping, who may change which, and what one makes of sample rows.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from core.portfolio.mapping.profiles import configure
from core.portfolio.model.fields import PROFILES
from core.portfolio.model.fields import Mapping as CoreMapping
from service.mappings import child, schema, shared, store
from service.mappings.configuration_actions import GivenMapping, check_source_type, document_columns
from service.platform.base.secrets import new_id
from service.platform.http.bodies import Unread
from service.platform.route.api import Page, Raw, page_of
from service.platform.unit.context import Context
from service.platform.unit.records import narrow

SYSTEM: Final = "system"
"""Who made the built-in mappings."""
SYSTEM_SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""They have no day of their own; it is in front of every stored one's."""
ENCODING_SECONDS: Final = 20.0
"""Beside the mapping's own time: the largest sample is written and encoded in a few seconds."""


_FIELDS: Final[dict[str, Any]] = {
    "mappings": schema.Columns,
    "transforms": list[schema.TransformGiven],
    "validation_rules": list[schema.RuleGiven],
}
"""What a patch may replace of a mapping's document."""

# Reading --------------------------------------------------------------------------------------------------------------


async def list_mappings(ctx: Context, query: schema.MappingList) -> Page[schema.MappingSummary]:
    """Return a page of mappings: the built-in ones, where asked for, stand in front."""
    wanted = (query.search or "").casefold()
    system = [
        summary
        for summary in _SUMMARIES
        if query.include_system
        and query.source_type in (None, summary.source_type)
        and wanted in summary.name.casefold()
    ]
    system_page = system[query.offset : query.offset + query.page_size]
    own, count = await store.read_page(
        ctx, query, limit=query.page_size - len(system_page), offset=max(0, query.offset - len(system))
    )
    return page_of(system_page + own, len(system) + count, query)


async def detail(ctx: Context, mapping_id: str, query: schema.MappingDetail) -> schema.Mapping:
    """Return a mapping, with the fields that it comes to when asked for."""
    row = _SYSTEM.get(mapping_id) or await store.mappings.get(ctx, mapping_id)
    answer = await _answer(ctx, row)
    if not query.resolve_profile:
        return answer
    mapping = (await shared.get_mapping(ctx, mapping_id)).mapping
    fields = {
        target: msgspec.convert(field, schema.Resolved) for target, field in configure.resolve_targets(mapping).items()
    }
    return msgspec.structs.replace(answer, resolved_mappings=fields)


# Writing --------------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: schema.MappingCreate) -> schema.Mapping:
    """Create a mapping of the tenant's own."""
    check_source_type(body.source_type, ["body"])
    given_mapping = GivenMapping(
        body.source_type, body.profile_id, body.mappings, body.transforms, body.validation_rules
    )
    written = await document_columns(ctx, given_mapping, body.name)
    if await store.mappings.lock_count(ctx) >= ctx.settings.max_mappings:
        raise schema.MappingLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_mappings} mappings")
    row = await store.mappings.create(
        ctx,
        {
            "id": str(new_id()),
            **{name: getattr(body, name) for name in ("name", "description", "source_type", "profile_id")},
            "created_by": await ctx.email(),
            **written,
        },
    )
    ctx.set_subject("mapping", row.id, row.name, source_type=row.source_type, profile_id=row.profile_id)
    return await _answer(ctx, row)


async def update(ctx: Context, mapping_id: str, patch: schema.MappingPatch) -> schema.Mapping:
    """Change a mapping of the tenant's; what comes of it must be one again."""
    if mapping_id in PROFILES:
        raise schema.UnchangeableMapping
    row = await store.mappings.get(ctx, mapping_id, lock=True)
    ctx.check_if_match(row.version)
    changes = patch.changes()
    if not changes:
        ctx.skip_event()
        return await _answer(ctx, row)
    name = changes.get("name", row.name)
    given_mapping = GivenMapping(
        row.source_type,
        row.profile_id,
        *(
            changes[field] if field in changes else msgspec.convert(msgspec.to_builtins(getattr(row, field)), kind)
            for field, kind in _FIELDS.items()
        ),
    )
    written = await document_columns(ctx, given_mapping, name, is_stored="mappings" not in changes)
    changed = await store.mappings.update(
        ctx, mapping_id, {"name": name, "description": row.description, **changes, **written}
    )
    ctx.set_subject("mapping", mapping_id, changed.name, changed=sorted(changes))
    return await _answer(ctx, changed)


async def delete(ctx: Context, mapping_id: str) -> None:
    """Delete a mapping of the tenant's that no workbook, deal or tape names."""
    if mapping_id in PROFILES:
        raise schema.UndeletableMapping
    row = await store.mappings.get(ctx, mapping_id, lock=True)
    if await store.is_used(ctx, mapping_id):
        raise schema.MappingInUse
    await store.mappings.delete(ctx, mapping_id)
    ctx.set_subject("mapping", mapping_id, row.name)


# Trying ---------------------------------------------------------------------------------------------------------------


async def validate(ctx: Context, mapping_id: str, body: schema.Sample | Unread) -> Raw:
    """Return what a mapping makes of sample rows, worked out and encoded in a child."""
    mapping = (await shared.get_mapping(ctx, mapping_id)).mapping
    row = _SYSTEM.get(mapping_id) or await store.mappings.get(ctx, mapping_id)
    await ctx.commit()  # no connection is held while it works
    own, seconds = await _own_fields(ctx, row), ctx.settings.mapping_seconds
    return await shared.map_in_child(ctx, seconds + ENCODING_SECONDS, child.try_sample, mapping, body, own, seconds)


# Built-in ones --------------------------------------------------------------------------------------------------------


async def _answer(ctx: Context, row: schema.MappingRow) -> schema.Mapping:
    ctx.set_etag(row.version)
    return schema.Mapping(
        **{
            name: getattr(row, name)
            for name in schema.Mapping.__struct_fields__
            if name in schema.MappingRow.__struct_fields__
        },
        warnings=[
            schema.MappingWarning(code="own_field", field=own_field.target, message=own_field.message)
            for own_field in await _own_fields(ctx, row)
        ],
    )


async def _own_fields(ctx: Context, row: schema.MappingRow) -> list[configure.OwnField]:
    """Return the targets of a stored mapping that are no standard fields."""
    if row.created_by == SYSTEM:
        return []
    targets = [column.target for column in row.mappings.values()]
    return await ctx.compute(configure.own_fields, row.source_type, row.profile_id, targets)


def _system(mapping: CoreMapping) -> schema.MappingRow:
    """Return a built-in mapping as if it were stored, by preferred headers."""
    return schema.MappingRow(
        id=mapping.id,
        name=mapping.name,
        description=None,
        source_type=mapping.source_type,
        profile_id=None,
        mappings={
            field.aliases[0]: narrow(schema.Column, field, aliases=list(field.aliases[1:])) for field in mapping.fields
        },
        transforms=[],
        validation_rules=[],
        created_by=SYSTEM,
        version=1,
        created_at=SYSTEM_SINCE,
        updated_at=SYSTEM_SINCE,
    )


_SYSTEM: Final = {mapping_id: _system(mapping) for mapping_id, mapping in PROFILES.items()}
_SUMMARIES: Final = [
    narrow(schema.MappingSummary, row, is_system=True, field_count=len(row.mappings)) for row in _SYSTEM.values()
]
