"""Mappings' decisions: what is a mapping, who may change which, and what one makes of sample rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import UNSET

from core.portfolio.mapping.profiles import configure
from core.portfolio.model.fields import PROFILES
from core.portfolio.model.fields import Mapping as CoreMapping
from service.mappings import child, shared, store
from service.mappings.configuration_actions import GivenMapping, check_source_type, written_of
from service.mappings.schema import (
    Column,
    ColumnGiven,
    Mapping,
    MappingCreate,
    MappingDetail,
    MappingInUse,
    MappingLimitExceeded,
    MappingList,
    MappingPatch,
    MappingRow,
    MappingSummary,
    MappingWarning,
    Resolved,
    RuleGiven,
    Sample,
    TransformGiven,
    UnchangeableMapping,
    UndeletableMapping,
)
from service.platform.base.secrets import new_id
from service.platform.http.bodies import Unread
from service.platform.route.api import Page, Raw, page_of
from service.platform.unit.context import Context

SYSTEM: Final = "system"
"""Who made the built-in mappings."""
SYSTEM_SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""They have no day of their own; it is in front of every stored one's."""
ENCODING_SECONDS: Final = 20.0
"""Beside the mapping's own time: the largest sample is written and encoded in a few seconds."""


# Reading --------------------------------------------------------------------------------------------------------------


async def listed(ctx: Context, query: MappingList) -> Page[MappingSummary]:
    """A page of mappings: the built-in ones, where asked for, stand in front."""
    wanted = (query.search or "").casefold()
    system = [
        summary
        for summary in _SUMMARIES
        if query.include_system
        and query.source_type in (None, summary.source_type)
        and wanted in summary.name.casefold()
    ]
    shown = system[query.offset : query.offset + query.page_size]
    own, count = await store.listed(
        ctx, query, limit=query.page_size - len(shown), offset=max(0, query.offset - len(system))
    )
    return page_of(shown + own, len(system) + count, query)


async def detail(ctx: Context, mapping_id: str, query: MappingDetail) -> Mapping:
    """A mapping, with the fields that it comes to when asked for."""
    row = _SYSTEM.get(mapping_id) or await store.get(ctx, mapping_id)
    answer = await _answer(ctx, row)
    if not query.resolve_profile:
        return answer
    mapping = (await shared.get_mapping(ctx, mapping_id)).mapping
    fields = {target: msgspec.convert(field, Resolved) for target, field in configure.resolve_targets(mapping).items()}
    return msgspec.structs.replace(answer, resolved_mappings=fields)


# Writing --------------------------------------------------------------------------------------------------------------


async def create(ctx: Context, body: MappingCreate) -> Mapping:
    """A mapping of the tenant's own."""
    check_source_type(body.source_type, ["body"])
    given_mapping = GivenMapping(
        body.source_type, body.profile_id, body.mappings, body.transforms, body.validation_rules
    )
    written = await written_of(ctx, given_mapping, body.name)
    if await store.lock_count(ctx) >= ctx.settings.max_mappings:
        raise MappingLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_mappings} mappings")
    row = await store.create(
        ctx,
        {
            "tenant_id": ctx.tenant,
            "id": str(new_id()),
            "name": body.name,
            "description": body.description,
            "source_type": body.source_type,
            "profile_id": body.profile_id,
            "created_by": await ctx.email(),
            **written,
        },
    )
    ctx.concerns("mapping", row.id, row.name, source_type=row.source_type, profile_id=row.profile_id)
    return await _answer(ctx, row)


async def update(ctx: Context, mapping_id: str, patch: MappingPatch) -> Mapping:
    """Change a mapping of the tenant's; what comes of it must be one again."""
    if mapping_id in PROFILES:
        raise UnchangeableMapping
    row = await store.lock(ctx, mapping_id)
    ctx.match(row.version)
    named = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    if not named:
        ctx.changed_nothing()
        return await _answer(ctx, row)
    name, description = named.get("name", row.name), named.get("description", row.description)
    given_mapping = GivenMapping(
        row.source_type,
        row.profile_id,
        msgspec.convert(msgspec.to_builtins(row.mappings), dict[str, ColumnGiven])
        if patch.mappings is UNSET
        else patch.mappings,
        msgspec.convert(msgspec.to_builtins(row.transforms), list[TransformGiven])
        if patch.transforms is UNSET
        else patch.transforms,
        msgspec.convert(msgspec.to_builtins(row.validation_rules), list[RuleGiven])
        if patch.validation_rules is UNSET
        else patch.validation_rules,
    )
    written = await written_of(ctx, given_mapping, name, is_stored=patch.mappings is UNSET)
    changed = await store.update(ctx, {"id": mapping_id, "name": name, "description": description, **written})
    ctx.concerns("mapping", mapping_id, changed.name, changed=sorted(named))
    return await _answer(ctx, changed)


async def delete(ctx: Context, mapping_id: str) -> None:
    """Delete a mapping of the tenant's that no workbook, deal or tape names."""
    if mapping_id in PROFILES:
        raise UndeletableMapping
    row = await store.lock(ctx, mapping_id)
    if await store.is_used(ctx, mapping_id):
        raise MappingInUse
    await store.delete(ctx, mapping_id)
    ctx.concerns("mapping", mapping_id, row.name)


# Trying ---------------------------------------------------------------------------------------------------------------


async def validate(ctx: Context, mapping_id: str, body: Sample | Unread) -> Raw:
    """What a mapping makes of sample rows, worked out and encoded in a child."""
    mapping = (await shared.get_mapping(ctx, mapping_id)).mapping
    row = _SYSTEM.get(mapping_id) or await store.get(ctx, mapping_id)
    await ctx.commit()  # no connection is held while it works
    own, seconds = await _own_fields(ctx, row), ctx.settings.mapping_seconds
    return await shared.mapped_in_child(ctx, seconds + ENCODING_SECONDS, child.try_sample, mapping, body, own, seconds)


# Built-in ones --------------------------------------------------------------------------------------------------------


async def _answer(ctx: Context, row: MappingRow) -> Mapping:
    ctx.tag(row.version)
    return Mapping(
        **{name: getattr(row, name) for name in Mapping.__struct_fields__ if name in MappingRow.__struct_fields__},
        warnings=[
            MappingWarning(code="own_field", field=own_field.target, message=own_field.message)
            for own_field in await _own_fields(ctx, row)
        ],
    )


async def _own_fields(ctx: Context, row: MappingRow) -> list[configure.OwnField]:
    """The targets of a stored mapping that are no standard fields."""
    if row.created_by == SYSTEM:
        return []
    targets = [column.target for column in row.mappings.values()]
    return await ctx.compute(configure.own_fields, row.source_type, row.profile_id, targets)


def _system(mapping: CoreMapping) -> MappingRow:
    """A built-in mapping as if it were stored: each field by the header that is preferred."""
    return MappingRow(
        id=mapping.id,
        name=mapping.name,
        description=None,
        source_type=mapping.source_type,
        profile_id=None,
        mappings={
            field.aliases[0]: Column(
                target=field.target,
                type=field.type,
                required=field.required,
                default=field.default,
                aliases=list(field.aliases[1:]),
            )
            for field in mapping.fields
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
    MappingSummary(
        id=row.id,
        name=row.name,
        description=row.description,
        source_type=row.source_type,
        is_system=True,
        field_count=len(row.mappings),
        profile_id=row.profile_id,
        created_by=row.created_by,
        created_at=row.created_at,
    )
    for row in _SYSTEM.values()
]
