"""Who calls the gate or a row, and with what, for the tests of the gate, the dispatcher and what stands behind them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec

from service.auth.schema import Grant
from service.auth.token_actions import token_response
from service.platform.access.caller_status import GateVerdict, Meter
from service.platform.access.gate import Gate
from service.platform.base.secrets import new_api_key
from service.platform.config import ByTier, Settings
from service.platform.http import application
from service.platform.http.connections import Connections
from service.platform.route.api import Area
from service.platform.unit.context import Context, Resources
from tests.service.platform.conftest import Apart


def flat(figure: int) -> ByTier:
    return ByTier(figure, figure, figure, figure)


def as_user(
    gate: Gate, tenant: UUID, *, user: UUID | None = None, session: UUID | None = None, generation: int = 0
) -> Awaitable[GateVerdict]:
    return gate.user(tenant, user or UUID(int=1), session or UUID(int=2), generation)


def make_key(
    apart: Apart, tenant: UUID, creator: UUID, *, permissions: list[str], expires: str | None = None
) -> tuple[UUID, bytes]:
    _, prefix, key_hash = new_api_key("live")
    key_id = uuid4()
    apart.sql(
        "INSERT INTO api_keys (tenant_id, id, name, key_hash, key_prefix, permissions, environment, expires_at,"
        " creator_id, created_by)"
        " VALUES (%s, %s, 'key', %s, %s, %s, 'live', now() + %s::interval, %s, 'somebody')",
        [tenant, key_id, key_hash, prefix, permissions, expires, creator],
    )
    return key_id, key_hash


def settings(apart: Apart, tenant: UUID, **chosen: Any) -> None:
    apart.sql("UPDATE tenants SET settings = %s::jsonb WHERE id = %s", [msgspec.json.encode(chosen).decode(), tenant])


def metered(amount: int = 1, most: int = 3) -> Meter:
    return Meter("calculations", flat(most), amount=amount, scope="calculations:execute")


async def back(shared: Resources) -> None:
    """Ask until Redis is asked again."""
    end = time.monotonic() + 30
    while shared.breaker.away:
        assert time.monotonic() < end
        await shared.gate.windows([])
        await asyncio.sleep(0.05)


@dataclass
class Here:
    """A client of some rows, in this process."""

    apart: Apart
    tenant: UUID
    call: Callable[..., httpx.Response]

    @property
    def name(self) -> str:
        return str(self.apart.sql("SELECT name FROM tenants WHERE id = %s", [self.tenant])[0][0])

    @property
    def audited(self) -> list[tuple[Any, ...]]:
        return self.apart.sql(
            "SELECT action, resource_type, resource_id, resource_name, details, request_id, ip_address, user_agent,"
            " user_email LIKE '%%@%%'"
            " FROM audit_log WHERE tenant_id = %s",
            [self.tenant],
        )


def client_of(area: Area, apart: Apart) -> Here:
    """A user of a new tenant, calling the rows of an area; paths are the area's own."""
    tenant = apart.tenant()
    user = apart.user(tenant)
    apart.sql(
        "INSERT INTO sessions (tenant_id, id, user_id, refresh_jti, generation, expires_at)"
        " VALUES (%s, %s, %s, %s, 0, now() + interval '1 day')",
        [tenant, UUID(int=1), user, UUID(int=2)],
    )
    app = application.build(area.routes, None, Connections(Settings()))

    def call(method: str, path: str, **options: Any) -> httpx.Response:
        settings = options.pop("settings", {})

        async def main(shared: Resources) -> httpx.Response:
            app.state.resources = shared
            ctx = Context(shared, request_id="-", ip_address="-", headers={})
            ctx.tenant_id = tenant
            grant = Grant(user, "owner", UUID(int=1), 0, UUID(int=2), ctx.now(), ctx.now())
            token = token_response(ctx, grant).access_token
            transport = httpx.ASGITransport(app, raise_app_exceptions=True, client=("192.0.2.9", 1))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://t", headers={"authorization": f"Bearer {token}"}
            ) as http:
                return await http.request(method, area.prefix + path, **options)

        return apart.run(main, **settings)

    return Here(apart, tenant, call)
