"""What a confined child does for mappings.

Make one of a document, and try one on many rows.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from core.portfolio.mapping.profiles.configure import (
    ConfigurationError,
    Fault,
    OwnField,
    UnknownProfile,
    configure_mapping,
)
from core.portfolio.model.fields import Mapping
from service.mappings import trial_actions
from service.mappings.schema import Sample
from service.platform.http.bodies import BodyReader, Unread
from service.platform.route.api import Raw


class Configured(Struct, frozen=True):
    """The mapping that a document says, or why it is none."""

    mapping: Mapping | None
    faults: list[Fault] = []
    is_profile_known: bool = True


def configure(document: dict[str, Any], mapping_id: str, name: str, is_stored: bool) -> Configured:
    """Return the mapping of a document."""
    try:
        return Configured(configure_mapping(document, id=mapping_id, name=name, is_stored=is_stored))
    except UnknownProfile:
        return Configured(None, is_profile_known=False)
    except ConfigurationError as error:
        return Configured(None, list(error.faults))


_read: Final = BodyReader(Sample)


def try_sample(mapping: Mapping, sample: Sample | Unread, own_fields: list[OwnField], seconds: float) -> Raw:
    """Return what a mapping makes of sample rows, encoded."""
    body: Sample = _read(sample.content) if isinstance(sample, Unread) else sample
    return trial_actions.try_sample(
        mapping, body.sample_data, own_fields=own_fields, strict=body.strict, seconds_max=seconds
    )
