"""Registration that is not open.

The first tenant of a deployment, and whoever has the system key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx
import pytest

from service.platform.data.database import as_service
from service.platform.data.migrations import migrate
from tests.conftest import PASSWORD, Stack
from tests.records import error_of
from tests.service.auth.conftest import AUTH

SYSTEM_KEY = "svc_system_of_the_registration_tests_0123456789"
CLOSED = (403, "PERMISSION_DENIED", "Registration is closed")
AT_ONCE = 6

Register = Callable[..., httpx.Response]


@contextmanager
def new_deployment(stack: Stack, **settings: str) -> Iterator[Register]:
    """An API on a database where nobody has registered yet; what registers there."""
    with new_api(stack, **settings) as url:

        def ask(**headers: str) -> httpx.Response:
            email = f"owner-{uuid4().hex[:12]}@example.com"
            body = {"email": email, "password": PASSWORD, "full_name": "Olive", "organization_name": "Org"}
            return httpx.post(f"{url}{AUTH}/register", json=body, headers=headers, timeout=60)

        yield ask


@contextmanager
def new_api(stack: Stack, **settings: str) -> Iterator[str]:
    """The address of an API on a database where nobody has registered yet."""
    name = f"closed_{uuid4().hex[:12]}"
    stack.sql(f"CREATE DATABASE {name}")
    database_url = urlunsplit(urlsplit(stack.database_url)._replace(path=f"/{name}"))
    migrate(database_url)
    try:
        with stack.another_api(
            CUSHION_DATABASE_URL=as_service(database_url),
            CUSHION_REDIS_URL=f"{stack.redis_url}?db=3",
            CUSHION_SYSTEM_API_KEY=SYSTEM_KEY,
            **settings,
        ) as url:
            yield url
    finally:
        stack.sql(f"DROP DATABASE {name} WITH (FORCE)")


def closed(answer: httpx.Response) -> bool:
    body = error_of(answer)
    assert body["errors"] == [{"loc": [], "message": "ask for an invitation to a tenant that is there"}]
    return (answer.status_code, body["error_code"], body["detail"]) == CLOSED


@pytest.fixture(scope="module")
def register(stack: Stack) -> Iterator[Register]:
    with new_deployment(stack, CUSHION_OPEN_REGISTRATION="off") as asked:
        yield asked


def test_of_first_registrations_at_once_exactly_one_succeeds(register: Register) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = [item.result() for item in [pool.submit(register) for _ in range(AT_ONCE)]]
    (first,) = (answer for answer in answers if answer.status_code == 201)
    assert set(first.json()) >= {"access_token", "refresh_token"}
    assert sum(closed(answer) for answer in answers if answer is not first) == AT_ONCE - 1
    assert closed(register())


def test_the_system_key_registers_and_no_other_one_does(register: Register) -> None:
    assert register(**{"X-API-Key": SYSTEM_KEY}).status_code == 201
    for key in (SYSTEM_KEY[:-1], SYSTEM_KEY.upper(), "", "svc_live_nothing"):
        assert closed(register(**{"X-API-Key": key}))
    assert closed(register(Authorization=f"Bearer {SYSTEM_KEY}"))


def test_registration_is_open_unless_somebody_closes_it(stack: Stack) -> None:
    with new_deployment(stack) as register:
        assert [register().status_code for _ in range(2)] == [201, 201]
