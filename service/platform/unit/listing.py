"""Statements made of the names of columns: what feeds a Struct, what is written, and pages of lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from service.platform.route.api import Page, page_of
from service.platform.unit.context import Unit

T = TypeVar("T")


def columns_of(kind: type[msgspec.Struct], **made: str) -> str:
    """The columns that feed a Struct: one of the name of each field, or what SQL makes of others for it."""
    return ", ".join(f"{made[name]} AS {name}" if name in made else name for name in kind.__struct_fields__)


def insert_of(table: str, row: Iterable[str]) -> str:
    """An INSERT of the columns of these names, values by name."""
    names = _names(row)
    columns, values = ", ".join(names), ", ".join(f"%({name})s" for name in names)
    return f"INSERT INTO {table} ({columns}) VALUES ({values})"  # noqa: S608 - of names


def set_of(row: Iterable[str]) -> str:
    """What a SET says of the columns of these names, values by name."""
    return ", ".join(f"{name} = %({name})s" for name in _names(row))


def _names(row: Iterable[str]) -> list[str]:
    names = list(row)
    assert all(name.isidentifier() and name.islower() for name in names), "names of columns are written here"
    return names


async def rows_of(
    unit: Unit,
    kind: type[T],
    columns: str,
    source: str,
    asked: Mapping[str, Any],
    *,
    order: str,
    limit: int,
    offset: int,
    conditions: Mapping[str, str] | None = None,
) -> tuple[list[T], int]:
    """Some of the matching rows as `kind`, and the number of all.

    Args:
        source: what stands behind FROM, up to a WHERE and its condition.
        asked: values by name; None matches every row. Only what is asked stands in the statement, so that each
            prepared one has the plan for its index.
        conditions: by name, where it is another than that the column of this name has the value.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    where = "".join(f" AND {(conditions or {}).get(name, f'{name} = %({name})s')}" for name in given)
    _count = f"SELECT count(*) FROM {source}{where}"  # noqa: S608 - of constants
    found = await unit.counted(
        kind,
        f"SELECT {columns}, ({_count}) FROM {source}{where} ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s",  # noqa: S608 - likewise
        {**given, "limit": limit, "offset": offset},
    )
    if not found:  # nobody told the number: beyond the last page it is another than 0
        return [], await unit.value(_count, given) if offset or not limit else 0
    return [item for item, _ in found], found[0][1]


async def page(
    unit: Unit, kind: type[T], columns: str, source: str, asked: Mapping[str, Any], query: Any, **how: Any
) -> Page[T]:
    """The page of matching rows that `query` (page, page_size, offset) asks for; the rest as `rows_of`."""
    found = await rows_of(unit, kind, columns, source, asked, limit=query.page_size, offset=query.offset, **how)
    return page_of(*found, query)
