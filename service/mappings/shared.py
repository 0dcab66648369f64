"""Mappings as the engine takes them, built-in and stored.

The recently used ones stay made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

import msgspec

from core.portfolio.model.fields import PROFILES, Mapping
from service.mappings import store
from service.mappings.configuration_actions import configure, read_draft
from service.mappings.schema import MappingRow, MappingTooSlow
from service.mappings.trial_actions import TEXT_GROWTH_BYTES_MAX, mapping_time
from service.platform.base.lru import Lru, bytes_of
from service.platform.unit.context import Unit
from service.platform.unit.records import to_json
from service.processes.shared import OutOfMemory, OutOfTime, in_child

__all__ = ["TEXT_GROWTH_BYTES_MAX", "mapping_time", "read_draft"]

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_MAPPING: Final = "standard_clo"
"""Of a workbook that names none."""

MADE_MAX: Final = 64
"""Stored mappings that a process keeps made; one takes some kilobytes, at worst a megabyte, and up to 50 ms to make."""
MADE_BYTES_MAX: Final = 32 * 1024 * 1024


class MappingAndJson(NamedTuple):
    """A mapping, and its JSON: what a run keeps as evidence."""

    mapping: Mapping
    json: str


def with_json(mapping: Mapping) -> MappingAndJson:
    """Return a mapping with its JSON."""
    return MappingAndJson(mapping, to_json(mapping))


BUILT_IN: Final = {mapping_id: with_json(mapping) for mapping_id, mapping in PROFILES.items()}


async def get_mapping(unit: Unit, mapping_id: str) -> MappingAndJson:
    """Return a built-in mapping or one of the tenant's, as it stands now."""
    built_in = BUILT_IN.get(mapping_id)
    if built_in is not None:
        return built_in
    version = await store.mappings.version(unit, mapping_id)
    cache: Lru[str, MappingAndJson] = unit.resources.memory.cache("mappings", most=MADE_MAX, bytes_most=MADE_BYTES_MAX)
    mapping = cache.get(f"{mapping_id} {version}")
    if mapping is None:
        row = await store.mappings.get(unit, mapping_id)
        mapping = await _mapping_of(unit, row)
        cache.keep(f"{mapping_id} {row.version}", mapping, bytes_of(mapping))
    return mapping


async def check_mapping(unit: Unit, mapping_id: str) -> None:
    """Ask whether there is a mapping of that identifier, without making it."""
    if mapping_id not in BUILT_IN:
        await store.mappings.version(unit, mapping_id)


async def own_targets(unit: Unit) -> list[str]:
    """Return what the tenant's mappings feed, which a definition's formulas may read."""
    return await store.targets(unit)


def document_of(row: MappingRow) -> dict[str, Any]:
    """Return what the engine makes a stored mapping from."""
    return {
        "source_type": row.source_type,
        "profile_id": row.profile_id,
        "mappings": msgspec.to_builtins(row.mappings),
        "transforms": msgspec.to_builtins(row.transforms),
        "validation_rules": msgspec.to_builtins(row.validation_rules),
    }


async def _mapping_of(unit: Unit, row: MappingRow) -> MappingAndJson:
    result = await configure(unit, document_of(row), row.id, row.name, is_stored=True)
    assert result.mapping is not None, "it was checked before it was stored"
    return with_json(result.mapping)


async def map_in_child(unit: Unit, seconds: float, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function returns, called in a confined child.

    Raises:
        MappingTooSlow: it takes longer, or more memory, than it may.
    """
    try:
        return await in_child(unit, seconds, work, *args, **kwargs)
    except OutOfTime:
        raise MappingTooSlow.at(["body"], f"the limit is {seconds:g} seconds") from None
    except OutOfMemory:
        limit = f"the limit is {unit.settings.calculator_memory_mb:,} MB of memory"
        raise MappingTooSlow.at(["body"], limit) from None
