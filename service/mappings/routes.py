"""Mappings' rows."""

from __future__ import annotations

from service.mappings import actions, schema
from service.platform.route.api import Area, Page, Raw
from service.platform.unit.context import Context

area = Area("/api/v1/mappings", tag="mappings", scope="mappings")


@area.get()
async def list_mappings(ctx: Context, query: schema.MappingList) -> Page[schema.MappingSummary]:
    """List the mappings of the tenant, the newest first.

    With `include_system` the built-in ones come before them.
    """
    return await actions.list_mappings(ctx, query)


@area.post(
    status=201,
    errors=(
        schema.InvalidSourceType,
        schema.InvalidConfiguration,
        schema.ProfileNotFound,
        schema.MappingExists,
        schema.MappingLimitExceeded,
    ),
    event="mapping.created",
    versioned=True,
    heavy=True,
)
async def create_mapping(ctx: Context, body: schema.MappingCreate) -> schema.Mapping:
    """Create a mapping, on its own or on top of a built-in one."""
    return await actions.create(ctx, body)


@area.get("/{mapping_id}", errors=(schema.MappingNotFound,), versioned=True)
async def get_mapping(ctx: Context, mapping_id: str, query: schema.MappingDetail) -> schema.Mapping:
    """Give a mapping.

    `resolve_profile` adds every field with all of its columns.
    """
    return await actions.detail(ctx, mapping_id, query)


@area.patch(
    "/{mapping_id}",
    errors=(
        schema.MappingNotFound,
        schema.UnchangeableMapping,
        schema.InvalidConfiguration,
        schema.ProfileNotFound,
        schema.MappingExists,
    ),
    event="mapping.updated",
    versioned=True,
    heavy=True,
)
async def update_mapping(ctx: Context, mapping_id: str, body: schema.MappingPatch) -> schema.Mapping:
    """Run use the mapping as it is then.

    A stale If-Match is refused.
    """
    return await actions.update(ctx, mapping_id, body)


@area.delete(
    "/{mapping_id}",
    errors=(schema.UndeletableMapping, schema.MappingNotFound, schema.MappingInUse),
    event="mapping.deleted",
)
async def delete_mapping(ctx: Context, mapping_id: str) -> None:
    """Delete a mapping.

    One that a workbook or a deal names is refused.
    """
    await actions.delete(ctx, mapping_id)


@area.post(
    "/{mapping_id}/validate",
    access="mappings:read",
    errors=(schema.MappingNotFound, schema.MappingTooSlow),
    body_bytes=lambda settings: settings.max_sample_bytes,
    heavy=True,
    deferred=True,
)
async def validate_mapping(ctx: Context, mapping_id: str, body: schema.Sample) -> schema.Trial | Raw:
    """Try a mapping on sample rows.

    Nothing is stored.
    """
    return await actions.validate(ctx, mapping_id, body)
