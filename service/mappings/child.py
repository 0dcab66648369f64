"""What a confined child does for mappings: make one of a document, and try one on many rows."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from core.portfolio.fields import Mapping
from core.portfolio.profile.configure import ConfigurationError, Fault, OwnField, UnknownProfile, configured
from service.mappings import trial_actions
from service.platform.http.api import Raw


class Configured(Struct, frozen=True):
    """The mapping that a document says, or why it is none."""

    mapping: Mapping | None
    faults: list[Fault] = []
    is_profile_known: bool = True


def configure(document: dict[str, Any], mapping_id: str, name: str, is_stored: bool) -> Configured:
    """The mapping of a document."""
    try:
        return Configured(configured(document, id=mapping_id, name=name, is_stored=is_stored))
    except UnknownProfile:
        return Configured(None, is_profile_known=False)
    except ConfigurationError as error:
        return Configured(None, list(error.faults))


def try_rows(
    mapping: Mapping, rows: list[dict[str, Any]], own_fields: list[OwnField], strict: bool, seconds: float
) -> Raw:
    """What a mapping makes of sample rows, encoded."""
    return trial_actions.tried(mapping, rows, own_fields=own_fields, strict=strict, seconds_max=seconds)
