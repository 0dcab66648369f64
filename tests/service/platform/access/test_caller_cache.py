"""The cache of callers.

Never staler than the last drop, whoever read the truth before it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from service.platform.access.caller_cache import TENANT_SECONDS
from service.platform.access.caller_status import TenantRecord
from service.platform.unit.context import Resources
from tests.service.platform.callers import as_user, make_key, settings
from tests.service.platform.conftest import Apart


def test_a_tenants_change_bites_once_its_copy_is_dropped(clean: Apart) -> None:
    tenant = clean.tenant(tier="free")

    async def change(shared: Resources) -> list[Any]:
        before = (await as_user(shared.gate, tenant)).tenant
        clean.sql("UPDATE tenants SET status = 'suspended', subscription_tier = 'premium' WHERE id = %s", [tenant])
        settings(clean, tenant, allowed_ip_ranges=["10.1.0.0/16"], two_factor_required=True, session_timeout_minutes=15)
        kept = (await as_user(shared.gate, tenant)).tenant
        left = await shared.redis.ttl(f"cushion:tenant:{tenant}")
        assert 0 < left <= TENANT_SECONDS, "so long at most, were the drop lost"
        await shared.caller_cache.drop_tenant(tenant)
        return [before, kept, (await as_user(shared.gate, tenant)).tenant]

    slug = f"tenant-{tenant.hex}"
    before, kept, after = clean.run(change)
    assert before == kept == TenantRecord(id=tenant, status="active", tier="free", slug=slug)
    assert after == TenantRecord(
        id=tenant,
        status="suspended",
        tier="premium",
        slug=slug,
        networks=("10.1.0.0/16",),
        two_factor_required=True,
        session_timeout_minutes=15,
    )


def test_a_keys_scopes_shrink_with_its_creators_role(clean: Apart) -> None:
    tenant = clean.tenant()
    creator = clean.user(tenant, role="viewer")
    _, key_hash = make_key(clean, tenant, creator, permissions=["workbooks:read", "workbooks:write", "admin:users"])
    record = clean.run(lambda shared: shared.gate.key(key_hash)).key
    assert record is not None
    assert (record.scopes, record.role, record.user_id) == (["workbooks:read"], "viewer", creator)


def test_what_was_read_before_a_change_is_not_written_after_it(clean: Apart) -> None:
    """The loader reads a live key, the key is revoked and its copy dropped, and only then the loader writes."""
    tenant = clean.tenant()
    key_id, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["workbooks:read"])

    async def race(shared: Resources) -> bool:
        gate, copies, name = shared.gate, shared.caller_cache, f"cushion:key:{key_hash.hex()}"
        record = (await gate.key(key_hash)).key
        assert record is not None
        assert record.active
        ticket = await copies._ticket(name)  # here a second loader reads its row ...
        clean.sql("UPDATE api_keys SET status = 'revoked' WHERE id = %s", [key_id])
        await copies.drop_keys([key_hash])
        await copies._put(
            name, ticket, 60, copies._sign(name, 60, msgspec.json.encode(record))
        )  # ... and writes what it read
        record = (await gate.key(key_hash)).key
        assert record is not None
        return record.active

    assert clean.run(race) is False


def test_a_tenant_read_before_its_change_is_not_written_after_it(clean: Apart) -> None:
    tenant = clean.tenant()

    async def race(shared: Resources) -> str:
        gate, copies, name = shared.gate, shared.caller_cache, f"cushion:tenant:{tenant}"
        await as_user(gate, tenant)
        ticket = await copies._ticket(name)  # here a second loader reads its row ...
        copy = await shared.redis.hgetall(name)  # type: ignore[misc]
        clean.sql("UPDATE tenants SET status = 'suspended' WHERE id = %s", [tenant])
        await copies.drop_tenant(tenant)
        await copies._put(name, ticket, 60, *(part for field in copy.items() for part in field))  # ... and writes it
        return (await as_user(gate, tenant)).tenant_status

    assert clean.run(race) == "suspended"


def test_two_factor_read_before_its_change_is_not_written_after_it(clean: Apart) -> None:
    tenant = clean.tenant()
    settings(clean, tenant, two_factor_required=True)
    user = clean.user(tenant)

    async def race(shared: Resources) -> bool:
        gate, copies, name = shared.gate, shared.caller_cache, f"cushion:two_factor:{user}"
        await as_user(gate, tenant, user=user)
        ticket = await copies._ticket(name)
        clean.sql("UPDATE users SET two_factor_enabled = true WHERE id = %s", [user])
        await copies.drop_user(user)
        await copies._put(name, ticket, 60, 0)
        return (await as_user(gate, tenant, user=user)).must_enroll

    assert clean.run(race) is False
