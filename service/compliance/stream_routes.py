"""Stream profiles' rows."""

from __future__ import annotations

from uuid import UUID

from service.compliance import stream_actions as actions
from service.compliance import stream_schema
from service.compliance import stream_store as store
from service.platform.route.api import Area, Page
from service.platform.unit.context import Context

area = Area("/api/v1/admin/compliance/stream-profiles", tag="compliance")

ADMIN = "role:admin"


@area.get(access=ADMIN)
async def list_stream_profiles(
    ctx: Context, query: stream_schema.StreamProfileList
) -> Page[stream_schema.StreamProfile]:
    """List the profiles, the newest first."""
    return await store.read_page(ctx, query)


@area.post(
    access=ADMIN,
    status=201,
    errors=(stream_schema.StreamProfileExists, stream_schema.StreamProfileLimitExceeded),
    event="stream_profile.created",
)
async def create_stream_profile(ctx: Context, body: stream_schema.StreamProfileCreate) -> stream_schema.StreamProfile:
    """Set for how long the evidence of a stream's runs is kept."""
    return await actions.create(ctx, body)


@area.patch(
    "/{profile_id}", access=ADMIN, errors=(stream_schema.StreamProfileNotFound,), event="stream_profile.updated"
)
async def update_stream_profile(
    ctx: Context, profile_id: UUID, body: stream_schema.StreamProfilePatch
) -> stream_schema.StreamProfile:
    """Change the fields in the body.

    The end of the evidence's retention is calculated again.
    """
    return await actions.update(ctx, profile_id, body)


@area.delete(
    "/{profile_id}", access=ADMIN, errors=(stream_schema.StreamProfileNotFound,), event="stream_profile.deleted"
)
async def delete_stream_profile(ctx: Context, profile_id: UUID) -> None:
    """Delete a profile.

    The evidence of its stream is then kept without an end.
    """
    await actions.delete(ctx, profile_id)
