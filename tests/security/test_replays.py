"""Idempotency-Key in the wrong hands.

An answer is given again to its caller for its request alone.
"""

from __future__ import annotations

from uuid import uuid4

import pytest

from service.platform.base.caller import KEY_SCOPES, SCOPES
from service.platform.route.api import Route
from tests.conftest import Member, Stack, register
from tests.records import GUARDED, MAPPING, body_of, each, error_of, identity, path_of, quoted, records_of, sent

POSTS = [row for row in GUARDED if row.method == "POST" and row.access != "user"]


@pytest.fixture(scope="module")
def caller(stack: Stack) -> Member:
    return register(stack.url)


@pytest.fixture(scope="module")
def first(caller: Member) -> dict[str, str]:
    return records_of(caller)


@pytest.fixture(scope="module")
def second(caller: Member) -> dict[str, str]:
    """Another record of each kind, of the same tenant."""
    return records_of(caller)


def ready(caller: Member, result: dict[str, str]) -> dict[str, str]:
    """The records once nothing works on them any more, with a key that nothing has rotated."""
    caller.parsed(result["workbook_id"])
    key = caller.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})
    return result | {"key_id": key.json()["id"]}


def posted(caller: Member, row: Route, result: dict[str, str], key: str, **headers: str) -> tuple[int, str, bool]:
    """The answer's status and text, and whether it was given before."""
    body = body_of(row, result) if row.body or row.form else None
    answer = sent(caller, row, path_of(row, **quoted(result)), body, headers={"Idempotency-Key": key, **headers})
    return answer.status_code, answer.text, "idempotent-replayed" in answer.headers


@each([row for row in POSTS if row.parameters])
def test_another_record_in_the_path_is_another_request(
    caller: Member, first: dict[str, str], second: dict[str, str], row: Route
) -> None:
    key = uuid4().hex
    status, text, _ = posted(caller, row, ready(caller, first), key)
    assert status == row.status, text
    status, text, replayed = posted(caller, row, ready(caller, second), key)
    assert (status, replayed) == (409, False), text
    assert "Idempotency key was used for another request" in text


ONCE_ALONE = {
    "POST /api/v1/admin/tenants",
    "POST /api/v1/admin/tenant/transfer-ownership",
    "POST /api/v1/admin/users/{user_id}/erase",
}
"""For the system key, for an owner who is none afterwards, or of a user who is then gone: their tests repeat them."""


@each([row for row in POSTS if (row.body or row.form) and identity(row) not in ONCE_ALONE])
def test_nobody_gets_the_answer_of_another_caller(
    caller: Member, first: dict[str, str], attacker: Member, row: Route
) -> None:
    """Neither a user of another tenant, nor one of the same tenant, nor a key, nor who may not call at all."""
    key, result = uuid4().hex, ready(caller, first)
    status, text, _ = posted(caller, row, result, key)
    assert status == row.status, text
    others = [attacker, caller.invite("admin")]
    if row.access in KEY_SCOPES:
        others.append(caller.key(row.access))
    for another in others:
        status, answer, replayed = posted(another, row, result, key)
        assert not replayed, identity(row)
        assert status in (row.status, 400, 403, 404, 409), answer  # 400: there is nothing of theirs to work on
        assert status != 409 or "Idempotency" not in answer
    status, answer, replayed = posted(caller.invite("viewer"), row, result, key)
    may = (row.status, 404) if row.access in SCOPES["viewer"] else (403,)  # 404: the record is one user's own
    assert not replayed, identity(row)
    assert status in may, answer


def test_an_answer_is_not_given_to_who_is_out(stack: Stack, caller: Member) -> None:
    admin = caller.invite("admin")
    key = uuid4().hex
    body = MAPPING | {"name": f"Replayed {key}"}
    assert admin.post("/api/v1/mappings", json=body, headers={"Idempotency-Key": key}).status_code == 201
    assert admin.post("/api/v1/mappings", json=body, headers={"Idempotency-Key": key}).headers["idempotent-replayed"]
    assert caller.patch(f"/api/v1/admin/users/{admin.user_id}", json={"role": "viewer"}).status_code == 200
    answer = admin.post("/api/v1/mappings", json=body, headers={"Idempotency-Key": key})
    assert (answer.status_code, error_of(answer)["error_code"]) == (401, "TOKEN_REVOKED")
