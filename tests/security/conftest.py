"""Two tenants, every kind of caller of the first, and a deployment with a system key and an operator tenant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from service.platform.base.caller import KEY_SCOPES
from tests.conftest import Member, Stack, register
from tests.records import records_of

FIGURES: list[str] = []
"""Lines of the table of `test_fairness.py`, for the end of the run."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What fairness came to, whether or not it was enough."""
    if FIGURES:
        terminalreporter.section("another tenant's milliseconds: p50 and p99, alone > beside each heavy endpoint")
        for line in FIGURES:
            terminalreporter.write_line(line)


SYSTEM_KEY = "svc_system_of_the_tests_0123456789abcdef"


@pytest.fixture(scope="module")
def http(stack: Stack) -> Iterator[httpx.Client]:
    """Nobody."""
    with httpx.Client(base_url=stack.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def attacker(stack: Stack) -> Member:
    """The owner of another tenant, which lasts as long as `shared_owner`'s."""
    return register(stack.url)


@pytest.fixture(scope="module")
def members(shared_owner: Member) -> dict[str, Member]:
    """A user of each role."""
    return {"owner": shared_owner, **{role: shared_owner.invite(role) for role in ("admin", "analyst", "viewer")}}


@pytest.fixture(scope="module")
def resources(shared_owner: Member, members: dict[str, Member]) -> dict[str, str]:
    """One record of each kind that a path may name, of the shared tenant."""
    return records_of(shared_owner, user_id=members["viewer"].user_id)


@pytest.fixture(scope="module")
def keys(shared_owner: Member) -> dict[str, Member]:
    """A key of each scope alone, one of all the others, and one of every scope."""
    alone = {scope: shared_owner.key(scope) for scope in KEY_SCOPES}
    others = {f"not {scope}": shared_owner.key(*(set(KEY_SCOPES) - {scope})) for scope in KEY_SCOPES}
    return alone | others | {"all": shared_owner.key(*KEY_SCOPES)}


@dataclass
class Deployment:
    """An API with a system key and an operator tenant."""

    url: str
    callers: dict[str, Member]
    """`system`, and by role the users of the operator tenant; each names the shared tenant."""


@pytest.fixture(scope="module")
def deployment(stack: Stack, shared_owner: Member) -> Iterator[Deployment]:
    operator = register(stack.url)
    users = {"owner": operator, **{role: operator.invite(role) for role in ("admin", "analyst", "viewer")}}
    slug = operator.get("/api/v1/admin/tenant").json()["slug"]
    with stack.another_api(CUSHION_SYSTEM_API_KEY=SYSTEM_KEY, CUSHION_OPERATOR_TENANTS=slug) as url:
        credentials = {role: {"Authorization": user.http.headers["Authorization"]} for role, user in users.items()}
        credentials |= {
            "system": {"X-API-Key": SYSTEM_KEY},
            "key": {"X-API-Key": operator.key(*KEY_SCOPES).http.headers["X-API-Key"]},
        }
        callers = {}
        for name, headers in credentials.items():
            client = httpx.Client(base_url=url, headers=headers | {"X-Tenant-ID": shared_owner.tenant_id}, timeout=60)
            callers[name] = Member(client, {}, "", shared_owner.tenant_id, "")
        yield Deployment(url, callers)
