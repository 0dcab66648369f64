"""The statements of every table of records: read, lock, count, write, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct

from service.platform.base.problem import Problem
from service.platform.unit.context import Unit
from service.platform.unit.listing import columns_of, insert_of, set_of

T = TypeVar("T", bound=Struct)
S = TypeVar("S", bound=Struct)
V = TypeVar("V")


def narrow(kind: type[S], row: object, /, **more: Any) -> S:
    """Return a row as a struct of fewer fields. `more` adds fields or replaces them."""
    return kind(**{name: getattr(row, name) for name in kind.__struct_fields__ if name not in more}, **more)


def to_json(value: Any) -> str:
    """Return a value as the text of a JSON column."""
    return msgspec.json.encode(value).decode()


def array_of(ids: Iterable[UUID]) -> str:
    """Return an array literal: psycopg takes 1 ms for a hundred values."""
    return f"{{{','.join(map(str, ids))}}}"


@contextmanager
def translating(problem: type[Problem], meant: type[Problem]) -> Iterator[None]:
    """Raise `meant` where `problem` is raised.

    A constraint has one problem, and two sides that may break it.
    """
    try:
        yield
    except problem as error:
        raise meant from error


async def insert(unit: Unit, table: str, row: Mapping[str, Any]) -> None:
    """Add a row of the unit's tenant to a table."""
    whole = {**row, "tenant_id": unit.tenant}
    await unit.execute(insert_of(table, whole), whole)


async def lock_count(unit: Unit, source: str) -> int:
    """Count the tenant's rows of `source`; no other transaction counts until the end.

    `source` stands behind FROM.
    """
    await unit.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [unit.tenant])
    return int(await unit.fetch_value(f"SELECT count(*) FROM {source}"))  # noqa: S608 - of constants


@dataclass(frozen=True)
class Records(Generic[T]):
    """The rows of one table, as structs.

    Row security keeps each statement to the unit's tenant. A violated constraint raises the problem that it is bound
    to; a row that is not there raises `missing`. All texts are constants of a store, never a caller's.
    """

    table: str
    row: type[T]
    missing: type[Problem] = field(kw_only=True)
    derived: Mapping[str, str] = field(kw_only=True, default_factory=dict)
    """SQL for the fields that are no columns of the same name."""
    source: str = field(kw_only=True, default="")
    """What stands behind FROM where a row takes more than its table."""
    key: str = field(kw_only=True, default="id")
    """The identifier's column in the source."""
    condition: str = field(kw_only=True, default="")
    """What holds for the rows that are read."""
    lock: str = field(kw_only=True, default="FOR UPDATE")
    """How a row is locked."""
    touch: str = field(kw_only=True, default="")
    """What an update sets besides its changes."""
    writing: Callable[[], AbstractContextManager[None]] = field(kw_only=True, default=nullcontext)
    """Encloses inserts and updates: gives a violated constraint another problem."""
    columns: str = field(init=False)
    _select: str = field(init=False)

    def __post_init__(self) -> None:
        source, columns = self.source or self.table, columns_of(self.row, **self.derived)
        where = f"{self.key} = %s AND {self.condition}" if self.condition else f"{self.key} = %s"
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "_select", f"SELECT {columns} FROM {source} WHERE {where}")  # noqa: S608 - of constants

    async def get(self, unit: Unit, id_: object, *, lock: bool = False) -> T:
        """Read a row; where asked for, lock it until the transaction ends."""
        sql = f"{self._select} {self.lock}" if lock else self._select
        return self._there(await unit.fetch_one_or_none(self.row, sql, [id_]), id_)

    async def version(self, unit: Unit, id_: object) -> int:
        """Return a row's version: the same number, the same row."""
        table = self.table
        version: int | None = await unit.fetch_value(f"SELECT version FROM {table} WHERE id = %s", [id_])  # noqa: S608 - a constant
        return self._there(version, id_)

    async def lock_count(self, unit: Unit) -> int:
        """Count the tenant's rows; nobody else counts them until the transaction ends."""
        return await lock_count(unit, self.table)

    async def add(self, unit: Unit, row: Mapping[str, Any]) -> None:
        """Insert a row of the unit's tenant."""
        with self.writing():
            await insert(unit, self.table, row)

    async def create(self, unit: Unit, row: Mapping[str, Any]) -> T:
        """Insert a row of the unit's tenant, and read it."""
        whole = {**row, "tenant_id": unit.tenant}
        sql = f"{insert_of(self.table, whole)} RETURNING {self.columns}"
        with self.writing():
            return await unit.fetch_one(self.row, sql, whole, missing=self.missing)

    async def change(self, unit: Unit, id_: object, changes: Mapping[str, Any]) -> int:
        """Update these columns of a row; return how many rows have the identifier."""
        with self.writing():
            return await unit.execute(self._update(changes), {**changes, "id": id_})

    async def update(self, unit: Unit, id_: object, changes: Mapping[str, Any]) -> T:
        """Update these columns of a row, and read it."""
        sql = f"{self._update(changes)} RETURNING {self.columns}"
        with self.writing():
            return self._there(await unit.fetch_one_or_none(self.row, sql, {**changes, "id": id_}), id_)

    async def delete(self, unit: Unit, id_: object) -> None:
        """Delete a row."""
        table = self.table
        await unit.execute(f"DELETE FROM {table} WHERE id = %s", [id_])  # noqa: S608 - a constant

    async def pop(self, unit: Unit, id_: object) -> T:
        """Delete a row, and return it."""
        table, columns = self.table, self.columns
        sql = f"DELETE FROM {table} WHERE id = %s RETURNING {columns}"  # noqa: S608 - of constants
        return self._there(await unit.fetch_one_or_none(self.row, sql, [id_]), id_)

    def _update(self, changes: Mapping[str, Any]) -> str:
        table, values = self.table, ", ".join(filter(None, (set_of(changes), self.touch)))
        return f"UPDATE {table} SET {values} WHERE id = %(id)s"  # noqa: S608 - of constants and names

    def _there(self, value: V | None, id_: object) -> V:
        if value is None:
            raise self.missing.for_id(id_)
        return value
