"""Who calls in the tests of switches.

Users, keys, operators, the system key; embedded and not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.conftest import Member, Stack, register

SYSTEM_KEY = "svc_system_of_the_health_tests_0123456789abcdef"
SCOPES = ("workbooks:read", "workbooks:write", "admin:users", "admin:api-keys")


@dataclass
class Operated:
    """Two APIs of one deployment.

    The embedded default, and one with a database of its own and an operator tenant.
    """

    embedded: str
    external: str
    headers: dict[str, dict[str, str]]
    """By caller."""
    members: dict[str, Member]
    slugs: dict[str, str]
    stack: Stack

    def ask(self, caller: str, method: str, path: str, *, at: str = "external", **more: Any) -> httpx.Response:
        """As that caller."""
        headers = {**self.headers[caller], **more.pop("headers", {})}
        return httpx.request(method, getattr(self, at) + path, headers=headers, timeout=60, **more)

    def maintain(self, enable: bool, *, at: str = "external", caller: str = "system", **query: Any) -> httpx.Response:
        """Begin maintenance, or end it."""
        params = {"enable": str(enable).lower(), **query}
        return self.ask(caller, "POST", "/health/maintenance", at=at, params=params)

    def flags(self, caller: str = "system", *, at: str = "external", **flags: Any) -> httpx.Response:
        """Change feature flags."""
        return self.ask(caller, "POST", "/health/feature-flags", at=at, json={"flags": flags})

    @contextmanager
    def maintenance(self, message: str = "Back at noon", **query: Any) -> Iterator[None]:
        """The deployment is under maintenance."""
        answer = self.maintain(True, message=message, **query)
        assert answer.status_code == 200, answer.text
        self.ask("owner", "GET", "/api/v1/workbooks", at="embedded")  # the gate tells that process
        try:
            yield
        finally:
            assert self.maintain(False).status_code == 200

    @contextmanager
    def flagged(self, **flags: Any) -> Iterator[None]:
        """Flags are set so."""
        answer = self.flags(**flags)
        assert answer.status_code == 200, answer.text
        try:
            yield
        finally:
            taken = {
                name: {"enabled": None, "tenants": dict.fromkeys(change["tenants"])}
                if isinstance(change, dict) and "tenants" in change
                else {"enabled": None}
                for name, change in flags.items()
            }
            assert self.flags(**taken).status_code == 200


@pytest.fixture(scope="module")
def operated(stack: Stack) -> Iterator[Operated]:
    owner, operator = register(stack.url), register(stack.url)
    members = {"owner": owner, **{role: owner.invite(role) for role in ("admin", "analyst", "viewer")}}
    members |= {"operator": operator, "operator's admin": operator.invite("admin")}
    members |= {"operator's analyst": operator.invite("analyst")}
    headers = {name: {"Authorization": member.http.headers["Authorization"]} for name, member in members.items()}
    headers |= {
        "nobody": {},
        "forger": {"Authorization": "Bearer x.y.z"},
        "key": {"X-API-Key": owner.key(*SCOPES).http.headers["X-API-Key"]},
        "operator's key": {"X-API-Key": operator.key(*SCOPES).http.headers["X-API-Key"]},
        "system": {"X-API-Key": SYSTEM_KEY},
    }
    slugs = {name: members[name].get("/api/v1/admin/tenant").json()["slug"] for name in ("owner", "operator")}
    settings = {
        "CUSHION_EMBEDDED": "0",
        "CUSHION_APP_URL": "https://cushion.example.com",
        "CUSHION_SECRET_KEY": (stack.data_dir / "secret_key").read_text().strip(),
        "CUSHION_SYSTEM_API_KEY": SYSTEM_KEY,
        "CUSHION_OPERATOR_TENANTS": slugs["operator"],
    }
    with stack.another_api(**settings) as external:
        yield Operated(stack.url, external, headers, members, slugs, stack)
