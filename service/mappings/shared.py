"""Mappings as the engine takes them, built-in and stored; the recently used ones stay made."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from core.portfolio.cells import checkpoint
from core.portfolio.fields import PROFILES, Mapping
from core.portfolio.profile.configure import configured
from service.mappings import store
from service.mappings.schema import MappingRow, MappingTooSlow
from service.platform.context import Unit
from service.platform.data.lru import Lru, bytes_of

DEFAULT_MAPPING: Final = "standard_clo"
"""Of a workbook that names none."""

MADE_MAX: Final = 64
"""Stored mappings that a process keeps made; one takes some kilobytes, at worst a megabyte, and up to 50 ms to make."""
MADE_BYTES_MAX: Final = 32 * 1024 * 1024


TEXT_GROWTH_BYTES_MAX: Final = 256 * 1024 * 1024
"""By how much replacing may lengthen all texts of a sample or a workbook together, step after step."""


class MappingAndJson(NamedTuple):
    """A mapping, and its JSON: what a run keeps as evidence."""

    mapping: Mapping
    json: str


def made(mapping: Mapping) -> MappingAndJson:
    """A mapping with its JSON."""
    return MappingAndJson(mapping, msgspec.json.encode(mapping).decode())


BUILT_IN: Final = {mapping_id: made(mapping) for mapping_id, mapping in PROFILES.items()}


async def get_mapping(unit: Unit, mapping_id: str) -> MappingAndJson:
    """A built-in mapping or one of the tenant's, as it stands now.

    Raises:
        MappingNotFound: there is none of that identifier.
    """
    built_in = BUILT_IN.get(mapping_id)
    if built_in is not None:
        return built_in
    version = await store.version(unit, mapping_id)
    cache: Lru[str, MappingAndJson] = unit.resources.memory.cache("mappings", most=MADE_MAX, bytes_most=MADE_BYTES_MAX)
    found = cache.get(f"{mapping_id} {version}")
    if found is None:
        row = await store.get(unit, mapping_id)
        found = await unit.compute(_make, row)
        cache.keep(f"{mapping_id} {row.version}", found, bytes_of(found))
    return found


async def check_mapping(unit: Unit, mapping_id: str) -> None:
    """Ask whether there is a mapping of that identifier, without making it.

    Raises:
        MappingNotFound: there is none.
    """
    if mapping_id not in BUILT_IN:
        await store.version(unit, mapping_id)


async def own_targets(unit: Unit) -> list[str]:
    """What the tenant's mappings feed, which a definition's formulas may read."""
    return await store.targets(unit)


@contextmanager
def mapping_time(seconds: float) -> Iterator[None]:
    """Within, and in this thread, a mapping may take so much time.

    Raises:
        MappingTooSlow: it did not come to its end: a few steps can make much work, or text, of many rows.
    """
    end, left_bytes = time.monotonic() + seconds, TEXT_GROWTH_BYTES_MAX

    def question(grown_bytes: int) -> None:
        nonlocal left_bytes
        left_bytes -= grown_bytes
        if left_bytes < 0:
            raise MappingTooSlow.at(["body"], f"replacing makes more than {TEXT_GROWTH_BYTES_MAX:,} bytes of text")
        if time.monotonic() > end:
            raise MappingTooSlow.at(["body"], f"the limit is {seconds:g} seconds")

    with checkpoint.checking(question):
        yield


def document_of(row: MappingRow) -> dict[str, Any]:
    """What the engine makes a stored mapping from."""
    return {
        "source_type": row.source_type,
        "profile_id": row.profile_id,
        "mappings": msgspec.to_builtins(row.mappings),
        "transforms": msgspec.to_builtins(row.transforms),
        "validation_rules": msgspec.to_builtins(row.validation_rules),
    }


def _make(row: MappingRow) -> MappingAndJson:
    return made(configured(document_of(row), id=row.id, name=row.name, is_stored=True))
