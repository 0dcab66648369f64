"""The stock statements on a table of records, over the tables of webhooks and of workbooks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from msgspec import Struct

from service.platform.base.problem import NotFound, Problem
from service.platform.unit.context import Unit
from service.platform.unit.records import Records, narrow, to_json, translating
from tests.conftest import Member, Stack


class Hook(Struct, frozen=True):
    """Some columns of a webhook, and one that SQL makes."""

    id: UUID
    url: str
    enabled: bool
    scheme: str


class HookNotFound(Problem, status=404):
    """Webhook not found"""

    @classmethod
    def for_id(cls, id_: object) -> Problem:
        return cls.at(["webhook_id"], f"there is no {id_}")


HOOKS = Records("webhooks", Hook, missing=HookNotFound, derived={"scheme": "split_part(url, ':', 1)"})
NEW = {
    "url": "https://example.com/",
    "events": ["compliance.run_completed"],
    "enabled": True,
    "secret": "sealed",
    "secret_hint": "…abcd",
    "created_by": "a@example.com",
}


def in_a_unit(stack: Stack, tenant_id: str, work: Callable[[Unit], Awaitable[Any]]) -> Any:
    """Run `work(unit)` for a tenant, and commit."""

    async def run() -> Any:
        async with stack.resources() as resources:
            unit = Unit(resources, UUID(tenant_id), request_id="test")
            try:
                answer = await work(unit)
            except BaseException as error:
                await unit.rollback(error)
                raise
            await unit.commit()
            return answer

    return asyncio.run(run())


def test_a_row_is_written_read_changed_and_deleted(stack: Stack, owner: Member) -> None:
    async def work(unit: Unit) -> None:
        hook_id, other_id = uuid4(), uuid4()
        before = await HOOKS.lock_count(unit)
        hook = await HOOKS.create(unit, {**NEW, "id": hook_id})
        assert hook == Hook(hook_id, "https://example.com/", True, "https")
        await HOOKS.add(unit, {**NEW, "id": other_id})
        assert await HOOKS.lock_count(unit) == before + 2
        assert await HOOKS.get(unit, hook_id) == await HOOKS.get(unit, hook_id, lock=True) == hook
        assert (await HOOKS.update(unit, hook_id, {"url": "http://example.com/"})).scheme == "http"
        assert await HOOKS.change(unit, hook_id, {"enabled": False}) == 1
        assert await HOOKS.change(unit, uuid4(), {"enabled": False}) == 0
        assert (await HOOKS.pop(unit, hook_id)).enabled is False
        await HOOKS.delete(unit, other_id)
        assert await HOOKS.lock_count(unit) == before

    in_a_unit(stack, owner.tenant_id, work)


@pytest.mark.parametrize("method", ["get", "version", "pop", "update"])
def test_a_row_that_is_not_there_has_its_own_problem(stack: Stack, owner: Member, method: str) -> None:
    arguments: list[Any] = [{"url": "https://example.com/"}] if method == "update" else []

    async def work(unit: Unit) -> None:
        records = Records("workbooks", Hook, missing=HookNotFound) if method == "version" else HOOKS
        await getattr(records, method)(unit, UUID(int=0), *arguments)

    with pytest.raises(HookNotFound) as refused:
        in_a_unit(stack, owner.tenant_id, work)
    assert refused.value.errors[0].message == f"there is no {UUID(int=0)}"


def test_rows_of_another_tenant_are_not_there(stack: Stack, owner: Member, stranger: Member) -> None:
    hook_id = uuid4()
    in_a_unit(stack, owner.tenant_id, lambda unit: HOOKS.create(unit, {**NEW, "id": hook_id}))
    for work in (lambda unit: HOOKS.get(unit, hook_id), lambda unit: HOOKS.pop(unit, hook_id)):
        with pytest.raises(HookNotFound):
            in_a_unit(stack, stranger.tenant_id, work)
    in_a_unit(stack, owner.tenant_id, lambda unit: HOOKS.delete(unit, hook_id))


def test_names_of_columns_come_from_no_caller(stack: Stack, owner: Member) -> None:
    with pytest.raises(AssertionError, match="names of columns"):
        in_a_unit(stack, owner.tenant_id, lambda unit: HOOKS.change(unit, uuid4(), {"url = 'x' --": "y"}))


def test_narrow_takes_what_the_smaller_struct_has() -> None:
    class Small(Struct):
        url: str
        scheme: str

    hook = Hook(uuid4(), "https://example.com/", True, "https")
    assert narrow(Small, hook) == Small("https://example.com/", "https")
    assert narrow(Small, hook, scheme="ftp") == Small("https://example.com/", "ftp")


def test_a_constraint_speaks_to_both_sides() -> None:
    with pytest.raises(NotFound), translating(HookNotFound, NotFound):
        raise HookNotFound
    with pytest.raises(HookNotFound), translating(NotFound, HookNotFound):
        raise HookNotFound


def test_json_is_text() -> None:
    assert to_json({"a": [1, None]}) == '{"a":[1,null]}'
