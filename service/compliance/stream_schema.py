"""What stream profiles say: for how long the evidence of a deal's runs is kept."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from service.platform.base.moments import Moment
from service.platform.base.problem import Problem
from service.platform.route.api import PageNumber, PageSize
from service.platform.route.patch import Patch, patch_of
from service.workbooks.schema import StreamKey

PROFILES_MAX = 10_000
"""Of a tenant."""
METADATA_BYTES_MAX = 64 * 1024
TRANCHES_MAX = 200

RetentionMode = Literal["fixed_years", "life_of_securitisation"]
DealName = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S")]
Jurisdiction = Annotated[str, Meta(min_length=1, max_length=50)]
Years = Annotated[int, Meta(ge=1, le=100)]
Maturity = Annotated[date, Meta(description="Day until which the mode life_of_securitisation keeps evidence")]


class StreamProfile(Struct, frozen=True, kw_only=True):
    """For how long the evidence of a stream is kept."""

    id: UUID
    stream_key: str
    deal_name: str | None
    jurisdiction: str | None
    retention_mode: RetentionMode
    retention_years: int | None
    maturity_date: date | None
    """Day until which the mode life_of_securitisation keeps evidence."""
    retention_until: datetime | None
    """A moment until which evidence is kept at least. Null: none."""
    retention_floor_years: int | None
    """Fewest years that the jurisdiction asks for. Null: the deployment knows none."""
    profile_metadata: dict[str, Any]
    effective_retention_until: datetime | None
    """The latest of all that was said, the floor included. Null: nothing was, and evidence stays without an end."""
    created_by: str
    created_at: datetime
    updated_at: datetime


class StreamProfileCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new profile."""

    stream_key: StreamKey
    deal_name: DealName | None = None
    jurisdiction: Jurisdiction | None = None
    retention_mode: RetentionMode = "fixed_years"
    retention_years: Years | None = None
    maturity_date: Maturity | None = None
    retention_until: Moment | None = None
    """A moment until which evidence is kept at least, as an ISO 8601 date or date-time."""
    profile_metadata: dict[str, Any] = {}


@patch_of(StreamProfileCreate)
class StreamProfilePatch(Patch, frozen=True):
    """What to change of a profile, its retention worked out anew; null clears."""

    stream_key: Annotated[str, Meta(max_length=200, description="The profile's own: no other is taken")] | UnsetType = (
        UNSET
    )


class StreamProfileList(Struct, frozen=True, kw_only=True):
    """Which profiles."""

    stream_key: StreamKey | None = None
    page: PageNumber = 1
    page_size: PageSize = 50

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.page_size


class StreamProfileNotFound(Problem, status=404):
    """Stream profile not found"""


class StreamProfileExists(Problem, status=409, constraint="stream_profiles_key"):
    """Stream profile already exists"""


class StreamProfileLimitExceeded(Problem, status=403):
    """Stream profile limit exceeded"""
