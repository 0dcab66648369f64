"""Which addresses a tenant admits, and what PostgreSQL tells of a tenant's settings."""

from __future__ import annotations

from uuid import UUID

import pytest

from service.platform.access.caller_status import KeyRecord, TenantRecord, origin_of, read_address, read_tenant
from service.platform.unit.context import Resources
from tests.service.platform.conftest import Apart


def admitting(*networks: str) -> TenantRecord:
    return TenantRecord(id=UUID(int=1), status="active", tier="free", slug="acme", networks=networks)


@pytest.mark.parametrize(
    ("networks", "address", "admitted"),
    [
        ((), "203.0.113.9", True),
        ((), "no address", True),
        (("10.0.0.0/8",), "10.255.255.255", True),
        (("10.0.0.0/8",), "11.0.0.0", False),
        (("10.0.0.7/8",), "10.1.2.3", True),  # bits of the host are no fault
        (("192.0.2.1",), "192.0.2.1", True),
        (("192.0.2.1",), "192.0.2.2", False),
        (("10.0.0.0/8", "2001:db8::/32"), "2001:db8:ffff::1", True),
        (("10.0.0.0/8", "2001:db8::/32"), "2001:db9::1", False),
        (("10.0.0.0/8",), "::ffff:10.1.2.3", True),  # IPv4, as a socket for both kinds spells it
        (("10.0.0.0/8",), "::ffff:11.1.2.3", False),
        (("::ffff:10.0.0.0/104",), "10.1.2.3", True),
        (("::ffff:10.0.0.0/104",), "::ffff:11.1.2.3", False),
        (("2001:db8::/32",), "32.1.13.184", False),  # the same first bytes, of another kind
        (("::/0",), "10.0.0.1", False),
        (("0.0.0.0/0",), "203.0.113.9", True),
        (("0.0.0.0/0",), "2001:db8::1", False),
        (("10.0.0.0/8",), "", False),
        (("10.0.0.0/8",), "10.0.0.1, 8.8.8.8", False),
        (("10.0.0.0/8",), "010.0.0.1", False),  # octal to some, decimal to others
        (("10.0.0.0/8",), "unix:", False),
        (("nonsense",), "10.0.0.1", False),
        (("nonsense", "10.0.0.0/8"), "10.0.0.1", True),
    ],
)
def test_addresses(networks: tuple[str, ...], address: str, admitted: bool) -> None:
    assert admitting(*networks).admits(address) is admitted


@pytest.mark.parametrize(
    ("settings", "expected_text"),
    [
        ("{}", ((), False, None)),
        (
            '{"allowed_ip_ranges": null, "two_factor_required": null, "session_timeout_minutes": null}',
            ((), False, None),
        ),
        (
            '{"allowed_ip_ranges": ["10.0.0.0/8"], "two_factor_required": true, "session_timeout_minutes": 60,'
            ' "timezone": "UTC"}',
            (("10.0.0.0/8",), True, 60),
        ),
    ],
)
def test_settings_of_a_tenant(
    apart: Apart, settings: str, expected_text: tuple[tuple[str, ...], bool, int | None]
) -> None:
    tenant = apart.tenant()
    apart.sql("UPDATE tenants SET settings = %s::jsonb WHERE id = %s", [settings, tenant])

    async def read(shared: Resources) -> TenantRecord:
        async with shared.database.transaction() as tx:
            return await read_tenant(tx, tenant)

    record = apart.run(read)
    assert (record.networks, record.two_factor_required, record.session_timeout_minutes) == expected_text


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::9", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("nonsense", "nonsense"),
    ],
)
def test_limits_count_a_household_of_ipv6_as_one(address: str, origin: str) -> None:
    assert origin_of(address) == origin


def test_a_scope_makes_no_address() -> None:
    assert read_address("fe80::1%eth0") is None


@pytest.mark.parametrize(
    ("active", "expires_at", "lives"),
    [(True, None, True), (True, 1_000.5, True), (True, 1_000.0, False), (True, 999.0, False), (False, None, False)],
)
def test_a_key_lives_until_its_end_and_not_at_it(active: bool, expires_at: float | None, lives: bool) -> None:
    key = KeyRecord(
        id=UUID(int=1), tenant_id=UUID(int=2), user_id=UUID(int=3), email="a@example.com", role="viewer",
        scopes=[], active=active, expires_at=expires_at,
    )  # fmt: skip
    assert key.lives_at(1_000.0) is lives
