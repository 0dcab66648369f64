"""SQL made of columns' names: selects, inserts, updates, pages of lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from service.platform.route.api import Page, page_of
from service.platform.unit.context import Unit

T = TypeVar("T")


def columns_of(kind: type[msgspec.Struct], **expressions: str) -> str:
    """Return the columns of a Struct's fields, or the expressions of some by name."""
    return ", ".join(
        f"{expressions[name]} AS {name}" if name in expressions else name for name in kind.__struct_fields__
    )


def insert_of(table: str, row: Iterable[str]) -> str:
    """Return an INSERT of the columns of these names, values by name."""
    names = _names(row)
    columns, values = ", ".join(names), ", ".join(f"%({name})s" for name in names)
    return f"INSERT INTO {table} ({columns}) VALUES ({values})"  # noqa: S608 - of names


def set_of(row: Iterable[str]) -> str:
    """Return the assignments of an UPDATE of these columns, values by name."""
    return ", ".join(f"{name} = %({name})s" for name in _names(row))


def _names(row: Iterable[str]) -> list[str]:
    names = list(row)
    assert all(name.isidentifier() and name.islower() for name in names), "names of columns are written here"
    return names


async def fetch_slice(
    unit: Unit,
    kind: type[T],
    columns: str,
    source: str,
    asked: Mapping[str, Any],
    *,
    order: str,
    part: tuple[int, int],
    conditions: Mapping[str, str] | None = None,
) -> tuple[list[T], int]:
    """Return some of the matching rows as `kind`, and the number of all.

    Args:
        source: what stands behind FROM, up to a WHERE and its condition.
        asked: values by name; None matches every row. Only what is asked stands in the statement, so that each
            prepared one has the plan for its index.
        part: how many rows, after how many.
        conditions: by name, where it is another than that the column of this name has the value.
    """
    limit, offset = part
    values = {name: value for name, value in asked.items() if value is not None}
    where = "".join(f" AND {(conditions or {}).get(name, f'{name} = %({name})s')}" for name in values)
    _count = f"SELECT count(*) FROM {source}{where}"  # noqa: S608 - of constants
    rows = await unit.fetch_counted(
        kind,
        f"SELECT {columns}, ({_count}) FROM {source}{where} ORDER BY {order} LIMIT %(limit)s OFFSET %(offset)s",  # noqa: S608 - likewise
        {**values, "limit": limit, "offset": offset},
    )
    if not rows:  # no row has the number: beyond the last page it is another than 0
        return [], await unit.fetch_value(_count, values) if offset or not limit else 0
    return [item for item, _ in rows], rows[0][1]


async def fetch_page(
    unit: Unit, kind: type[T], columns: str, source: str, asked: Mapping[str, Any], query: Any, **how: Any
) -> Page[T]:
    """Return the page of matching rows that `query` asks for; see `fetch_slice`."""
    rows = await fetch_slice(unit, kind, columns, source, asked, part=(query.page_size, query.offset), **how)
    return page_of(*rows, query)
