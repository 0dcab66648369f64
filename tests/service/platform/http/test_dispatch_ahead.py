"""Small requests whose answer is there before the gate is asked: what is answered, refused, recorded and limited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx
import pytest
from msgspec import Struct
from redis.exceptions import ConnectionError as RedisGone

from service.auth.schema import Grant
from service.auth.token_actions import token_response
from service.calculations.actions import one_calculation
from service.calculations.schema import CalculationQuotaExceeded
from service.platform.access.switches import Maintenance, State
from service.platform.base.problem import Problem
from service.platform.config import Settings
from service.platform.events.numbers import numbers_of
from service.platform.events.stream import drain
from service.platform.http import application
from service.platform.http.connections import Connections
from service.platform.route.api import Area
from service.platform.unit.context import Context, Resources
from tests.service.platform.callers import flat, settings
from tests.service.platform.conftest import Apart

Post = Callable[..., Awaitable[httpx.Response]]
Walk = Callable[[Resources, Post], Awaitable[Any]]

WORK: list[str] = []


class Odd(Problem, status=409):
    """Only even numbers"""


class Number(Struct, frozen=True):
    """A number."""

    value: int


def halve_small(ctx: Context, body: Number) -> Number | None:
    WORK.append("ahead")
    if body.value % 2:
        raise Odd.at(["body", "value"], "odd")
    if body.value > 1_000:
        return None
    ctx.set_subject("number", body.value)
    return Number(body.value // 2)


area = Area("/api/v1/tests", tag="tests", scope="workbooks")


@area.post(
    "/halve",
    event="number.halved",
    streamed=True,
    errors=(Odd,),
    metered=(one_calculation, CalculationQuotaExceeded),
    ahead=halve_small,
)
async def halve(ctx: Context, body: Number) -> Number:
    """Halve a number."""
    WORK.append("handler")
    if body.value % 2:
        raise Odd.at(["body", "value"], "odd")
    ctx.set_subject("number", body.value)
    return Number(body.value // 2)


def served(apart: Apart, walk: Walk, **chosen: Any) -> tuple[UUID, Any]:
    """Walk as the user of a new tenant, in one process; return the tenant and what came of it."""
    WORK.clear()
    tenant = apart.tenant()
    user = apart.user(tenant)
    apart.sql(
        "INSERT INTO sessions (tenant_id, id, user_id, refresh_jti, generation, expires_at)"
        " VALUES (%s, %s, %s, %s, 0, now() + interval '1 day')",
        [tenant, UUID(int=1), user, UUID(int=2)],
    )
    app = application.build(area.routes, None, Connections(Settings()))

    async def main(shared: Resources) -> Any:
        app.state.resources = shared
        ctx = Context(shared, request_id="-", ip_address="-", headers={})
        ctx.tenant_id = tenant
        grant = Grant(user, "owner", UUID(int=1), 0, UUID(int=2), ctx.now(), ctx.now())
        token = token_response(ctx, grant).access_token
        transport = httpx.ASGITransport(app, client=("192.0.2.9", 1))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://t", headers={"authorization": f"Bearer {token}"}
        ) as http:

            async def post(value: Any, **headers: str) -> httpx.Response:
                return await http.post(f"{area.prefix}/halve", json={"value": value}, headers=headers)

            result = await walk(shared, post)
            await drain(shared, "one", block_milliseconds=1)  # the first makes the group
            await drain(shared, "one", block_milliseconds=1)
            await numbers_of(shared).report(shared)
            return result

    return tenant, apart.run(main, **chosen)


def audited(apart: Apart, tenant: UUID) -> list[str]:
    rows = apart.sql("SELECT resource_id FROM audit_log WHERE tenant_id = %s ORDER BY sequence", [tenant])
    return [row[0] for row in rows]


def missing(apart: Apart, tenant: UUID) -> list[tuple[Any, ...]]:
    """The events of a tenant that were counted and have not arrived."""
    whole = "int8multirange(int8range(1, highest, '[]'))"
    return apart.sql(f"SELECT source FROM event_numbers WHERE tenant_id = %s AND arrived <> {whole}", [tenant])


def test_both_ways_answer_alike_and_are_recorded(clean: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    async def walk(shared: Resources, post: Post) -> list[httpx.Response]:
        first = await post(8)
        monkeypatch.setattr(shared.events, "_answer", None)  # whatever goes to the stream goes by the gate
        return [first, await post(10), await post(12)]

    tenant, answers = served(clean, walk, requests_per_minute=flat(100), request_burst=flat(100))
    assert WORK == ["handler", "ahead", "ahead"]
    assert [answer.json() for answer in answers] == [{"value": 4}, {"value": 5}, {"value": 6}]
    assert answers[0].headers.keys() == answers[1].headers.keys()
    rest = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers]
    assert rest in ([99, 98, 97], [99, 98, 99], [99, 99, 98]), "each is counted, whatever minute begins"
    assert audited(clean, tenant) == ["8", "10", "12"]
    assert not missing(clean, tenant)


def test_what_is_not_small_is_left_to_the_handler(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[Any]:
        return [(await post(value)).json() for value in (8, 2_000)]

    tenant, answers = served(clean, walk)
    assert WORK == ["handler", "ahead", "handler"]
    assert answers == [{"value": 4}, {"value": 1_000}]
    assert audited(clean, tenant) == ["8", "2000"]


def test_nobody_over_a_limit_has_an_answer_or_an_event(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[httpx.Response]:
        return [await post(value) for value in (8, 10, 12, 14, 7, "x")]

    tenant, answers = served(clean, walk, requests_per_day=flat(2), request_burst=flat(100))
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429, 429, 429]
    assert WORK == ["handler", "ahead", "ahead"], "who was refused once has nothing worked out"
    assert "value" not in answers[2].json()
    assert audited(clean, tenant) == ["8", "10"]
    assert not missing(clean, tenant), "the number of the refused one is given back"


def test_a_refused_body_is_counted_and_not_recorded(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[httpx.Response]:
        return [await post(value) for value in (8, 7, "x", 10)]

    tenant, answers = served(clean, walk, requests_per_day=flat(3), request_burst=flat(100))
    assert [answer.status_code for answer in answers] == [200, 409, 422, 429]
    assert [answer.json()["detail"] for answer in answers[1:3]] == ["Only even numbers", "Validation error"]
    assert audited(clean, tenant) == ["8"]
    assert not missing(clean, tenant)


def test_a_change_of_the_tenant_counts_at_once(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[httpx.Response]:
        answers = [await post(8)]
        tenant = UUID(clean.sql("SELECT id::text FROM tenants ORDER BY created_at DESC LIMIT 1")[0][0])
        settings(clean, tenant, timezone="Asia/Tokyo")
        await shared.caller_cache.drop_tenant(tenant)
        answers += [await post(10), await post(12)]
        clean.sql("UPDATE tenants SET status = 'suspended' WHERE id = %s", [tenant])
        await shared.caller_cache.drop_tenant(tenant)
        return [*answers, await post(14)]

    tenant, answers = served(clean, walk)
    assert [answer.status_code for answer in answers] == [200, 200, 200, 403]
    assert WORK == ["handler", "ahead", "handler", "ahead", "ahead"], "in another time zone it is worked out anew"
    assert audited(clean, tenant) == ["8", "10", "12"]
    assert not missing(clean, tenant)


def test_a_maintenance_that_begins_refuses_what_is_worked_out(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[int]:
        answers = [await post(8)]
        state = State(version=shared.switches.state.version + 1, maintenance=Maintenance("soon", shared.clock.now()))
        version = shared.switches.version_text

        async def sync(_: bytes) -> None:
            shared.switches._take(state)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shared.switches, "sync_version", sync)
            clean.redis.hset("cushion:switches", "version", b"%d" % state.version)
            answers += [await post(10), await post(12)]
        clean.redis.hset("cushion:switches", "version", version)
        return [answer.status_code for answer in answers]

    tenant, statuses = served(clean, walk)
    assert statuses == [200, 503, 503]
    assert WORK == ["handler", "ahead"]
    assert audited(clean, tenant) == ["8"]
    assert not missing(clean, tenant)


@pytest.mark.parametrize("header", [{"Idempotency-Key": "k"}, {"X-Tenant-ID": "same"}, {"Content-Length": ""}])
def test_what_is_more_than_a_small_request_goes_its_usual_way(clean: Apart, header: dict[str, str]) -> None:
    async def walk(shared: Resources, post: Post) -> list[int]:
        return [(await post(8)).status_code, (await post(10, **header)).status_code]

    _, statuses = served(clean, walk)
    assert statuses[0] == 200
    assert "ahead" not in WORK


def test_an_event_that_redis_took_without_an_answer_is_recorded_once(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[int]:
        statuses = [(await post(8)).status_code]
        ask = shared.gate._pipeline

        async def lost(*command: Any) -> Any:
            await ask(*command)
            raise RedisGone("Connection closed by server.")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shared.gate, "_pipeline", lost)
            statuses.append((await post(10)).status_code)
        return statuses

    tenant, statuses = served(clean, walk)
    assert statuses == [200, 200]
    assert WORK == ["handler", "ahead"]
    assert sorted(audited(clean, tenant)) == ["10", "8"]
    assert not missing(clean, tenant)


def test_a_user_who_has_to_enrol_meanwhile_is_refused(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[int]:
        tenant, user = clean.sql("SELECT tenant_id, id::text FROM users ORDER BY created_at DESC LIMIT 1")[0]
        settings(clean, tenant, two_factor_required=True)
        clean.redis.set(f"cushion:two_factor:{user}", 1)
        first = await post(8)
        clean.redis.set(f"cushion:two_factor:{user}", 0)
        return [first.status_code, (await post(10)).status_code]

    tenant, statuses = served(clean, walk)
    assert statuses == [200, 403]
    assert WORK == ["handler", "ahead"]
    assert audited(clean, tenant) == ["8"]
    assert not missing(clean, tenant)


def test_a_revoked_session_is_refused(clean: Apart) -> None:
    async def walk(shared: Resources, post: Post) -> list[int]:
        first = await post(8)
        await shared.revocations.publish("session", UUID(int=1), 0)
        return [first.status_code, (await post(10)).status_code, (await post(12)).status_code]

    tenant, statuses = served(clean, walk)
    assert statuses == [200, 401, 401]
    assert WORK == ["handler", "ahead"]
    assert audited(clean, tenant) == ["8"]
    assert not missing(clean, tenant)
