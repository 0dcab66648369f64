"""Idempotency-Key over HTTP: one effect, one answer, given again."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from service.app import routes
from service.platform.config import Settings
from tests.conftest import PASSWORD, Member, Stack, calls, wait_until
from tests.records import BOOK, small_book

MAPPINGS = "/api/v1/mappings"

# By hand: the POSTs whose answers hold tokens, keys, invitations or two-factor secrets.
SECRETIVE = {
    "/api/v1/auth/register",
    "/api/v1/auth/login",
    "/api/v1/auth/refresh",
    "/api/v1/auth/accept-invitation",
    "/api/v1/auth/2fa/enroll",
    "/api/v1/auth/2fa/verify",
    "/api/v1/admin/users/invite",
    "/api/v1/admin/tenants",
    "/api/v1/admin/api-keys",
    "/api/v1/admin/api-keys/{key_id}/rotate",
    "/api/v1/webhooks",
    "/api/v1/webhooks/{webhook_id}/rotate",
}


def mapping(name: str) -> dict[str, Any]:
    columns = {"ID": {"target": "id", "type": "string", "required": False, "aliases": []}}
    return {"name": name, "source_type": "custom", "mappings": columns}


def created(member: Member, key: str, name: str) -> httpx.Response:
    return member.post(MAPPINGS, json=mapping(name), headers={"Idempotency-Key": key})


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    return answer.status_code, answer.json()["error_code"], answer.json()["detail"]


def test_a_repetition_gets_the_first_answer_and_has_no_effect(owner: Member, stack: Stack) -> None:
    first, again = (created(owner, "key-1", "Twice") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.headers["etag"] == again.headers["etag"]
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["content-type"] == "application/json"
    assert owner.get(MAPPINGS).json()["total"] == 1
    events = "SELECT count(*) FROM audit_log WHERE tenant_id = %s AND action = 'mapping.created'"
    assert stack.sql(events, [owner.tenant_id]) == [(1,)]


def test_another_request_may_not_use_the_key(owner: Member) -> None:
    created(owner, "key-1", "One")
    used = (409, "CONFLICT", "Idempotency key was used for another request")
    assert refusal(created(owner, "key-1", "Two")) == used
    elsewhere = owner.post(
        "/api/v1/calculations/evaluate", json={"formula": "=1"}, headers={"Idempotency-Key": "key-1"}
    )
    assert refusal(elsewhere) == used
    with_query = owner.post(f"{MAPPINGS}?x=1", json=mapping("One"), headers={"Idempotency-Key": "key-1"})
    assert with_query.status_code == 422


def test_a_key_is_its_callers_own(owner: Member, stranger: Member) -> None:
    callers = [owner, owner.invite("analyst"), owner.key("mappings:write"), stranger]
    answers = [created(caller, "shared", f"Mapping {number}") for number, caller in enumerate(callers)]
    assert [answer.status_code for answer in answers] == [201] * 4
    assert len({answer.json()["id"] for answer in answers}) == 4


def test_a_refused_request_gives_the_key_back(owner: Member) -> None:
    broken = owner.post(MAPPINGS, json=mapping("x") | {"source_type": "?"}, headers={"Idempotency-Key": "again"})
    assert broken.status_code == 400
    assert created(owner, "again", "Mended").status_code == 201
    assert created(owner, "again", "Mended").headers["idempotent-replayed"] == "true"


def test_of_many_at_once_one_has_the_effect(owner: Member) -> None:
    def first_body(_: int) -> httpx.Response:
        with httpx.Client(base_url=owner.http.base_url, headers=owner.http.headers, timeout=60) as client:
            return client.post(MAPPINGS, json=mapping("Once"), headers={"Idempotency-Key": "race"})

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(first_body, range(20)))
    new_answers = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.content for answer in new_answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in new_answers) == 1
    waiting = (409, "CONFLICT", "Request with this idempotency key is still being processed")
    assert {refusal(answer) for answer in answers if answer.status_code != 201} <= {waiting}
    assert owner.get(MAPPINGS).json()["total"] == 1


def test_a_file_is_compared_by_its_bytes(owner: Member) -> None:
    def upload(content: bytes, boundary: str) -> httpx.Response:
        return owner.post(
            "/api/v1/workbooks/upload",
            files={"file": ("loans.xlsx", content)},
            headers={"Idempotency-Key": "upload", "content-type": f"multipart/form-data; boundary={boundary}"},
        )

    content = small_book(BOOK)
    first, again = upload(content, "one"), upload(content, "two")
    assert first.status_code == 201, first.text
    assert first.content == again.content
    assert again.headers["idempotent-replayed"] == "true"
    assert upload(small_book(BOOK[:2]), "one").status_code == 409
    assert owner.get("/api/v1/workbooks").json()["total"] == 1


def test_a_high_rate_event_is_told_once(owner: Member, stack: Stack) -> None:
    body, headers = {"formula": "=1+1"}, {"Idempotency-Key": "sum"}
    first, again = (owner.post("/api/v1/calculations/evaluate", json=body, headers=headers) for _ in range(2))
    assert first.content == again.content
    assert owner.post("/api/v1/calculations/evaluate", json=body).status_code == 200
    wait_until(lambda: calls(stack, owner) == 2, what="two events")


def test_a_repetition_uses_nothing_of_the_month(owner: Member, stack: Stack) -> None:
    evaluate, body = "/api/v1/calculations/evaluate", {"formula": "=1"}
    with (
        stack.another_api(CUSHION_CALCULATIONS_PER_MONTH="2 2 2 2") as url,
        httpx.Client(base_url=url, headers=owner.http.headers, timeout=60) as client,
    ):
        answers = [client.post(evaluate, json=body, headers={"Idempotency-Key": key}) for key in "aaabbaccb"]
        usage = client.get("/api/v1/admin/tenant").json()["usage"]
    assert [answer.status_code for answer in answers] == [200] * 6 + [429] * 2 + [200]
    assert refusal(answers[6]) == (429, "RATE_LIMIT_EXCEEDED", "Calculation quota exceeded")
    assert usage["calculations_this_month"] == 2


def test_a_high_rate_event_is_as_safe_as_its_kept_answer(owner: Member, stack: Stack) -> None:
    """Neither is there without the other, wherever the process dies.

    One transaction writes both.
    """
    body, headers = {"formula": "=1"}, {"Idempotency-Key": "sum"}
    with psycopg.connect(stack.database_url) as second, ThreadPoolExecutor(1) as pool:
        second.execute("LOCK TABLE calls IN SHARE ROW EXCLUSIVE MODE")
        answer = pool.submit(owner.post, "/api/v1/calculations/evaluate", json=body, headers=headers)
        waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        wait_until(lambda: stack.sql(waiting), what="the event on its way")
        assert stack.sql("SELECT status FROM idempotency_keys WHERE tenant_id = %s", [owner.tenant_id]) == [(None,)]
        second.rollback()
        assert answer.result().status_code == 200
    path = "/api/v1/activity?action=calculation.completed"
    wait_until(lambda: owner.get(path).json()["total"] == 1, what="the entry of that second")


def test_of_two_that_hold_the_key_in_turn_one_has_the_effect(owner: Member, stack: Stack) -> None:
    """A request that stood still for so long that its repetition began anew undoes what it did."""
    with psycopg.connect(stack.database_url) as second, ThreadPoolExecutor(1) as pool:
        second.execute("LOCK TABLE mappings IN SHARE ROW EXCLUSIVE MODE")  # the handler stands still
        slow = pool.submit(created, owner, "slow", "Once")
        claimed = "SELECT claim FROM idempotency_keys WHERE tenant_id = %s"
        wait_until(lambda: stack.sql(claimed, [owner.tenant_id]), what="the claim")
        stack.sql("UPDATE idempotency_keys SET claim = gen_random_uuid() WHERE tenant_id = %s", [owner.tenant_id])
        second.rollback()
        assert refusal(slow.result())[2] == "Request with this idempotency key is still being processed"
    assert owner.get(MAPPINGS).json()["total"] == 0


def test_a_key_that_cannot_be_given_back_does_not_spoil_the_refusal(owner: Member, stack: Stack) -> None:
    body = mapping("x") | {"source_type": "?"}
    stack.sql("REVOKE DELETE ON idempotency_keys FROM cushion_service")
    try:
        answer = owner.post(MAPPINGS, json=body, headers={"Idempotency-Key": "lost"})
    finally:
        stack.sql("GRANT DELETE ON idempotency_keys TO cushion_service")
    assert refusal(answer) == (400, "VALIDATION_ERROR", "Invalid source type")


# Secrets ------------------------------------------------------------------------------------------------------------


def test_the_answers_with_secrets_are_known() -> None:
    assert {row.path for row in routes() if row.method == "POST" and row.tells_secrets} == SECRETIVE


def test_an_answer_with_a_secret_is_not_kept(owner: Member, stack: Stack) -> None:
    body = {"name": "key", "permissions": ["workbooks:read"]}
    headers = {"Idempotency-Key": f"secret-{uuid4()}"}
    first, again = (owner.post("/api/v1/admin/api-keys", json=body, headers=headers) for _ in range(2))
    assert first.status_code == 201
    assert refusal(again) == (409, "CONFLICT", "Already processed")
    assert owner.get("/api/v1/admin/api-keys").json()["total"] == 1
    kept = stack.sql(
        "SELECT status, media_type, headers, content FROM idempotency_keys WHERE tenant_id = %s", [owner.tenant_id]
    )
    assert kept == [(201, None, None, None)]


def test_a_stolen_table_does_not_tell_a_password(owner: Member, stack: Stack) -> None:
    """A plain hash of the request would let its reader try passwords as fast as SHA-256 goes."""
    body = f'{{"current_password":"{PASSWORD}","new_password":"Other-Horse-8"}}'.encode()
    headers = {"Idempotency-Key": "change", "Content-Type": "application/json"}
    path = "/api/v1/auth/password/change"
    assert owner.post(path, content=body, headers=headers).status_code == 204
    ((kept,),) = stack.sql("SELECT request_hash FROM idempotency_keys WHERE tenant_id = %s", [owner.tenant_id])
    place = f"{path}?".encode()
    assert kept != hashlib.sha256(b"%d:%s," % (len(place), place) + body).digest()


def test_a_registration_happens_once(stack: Stack) -> None:
    body = {
        "email": f"{uuid4().hex}@example.com",
        "password": PASSWORD,
        "full_name": "Olive Owner",
        "organization_name": "Once",
    }
    headers = {"Idempotency-Key": str(uuid4())}
    first, again = (httpx.post(f"{stack.url}/api/v1/auth/register", json=body, headers=headers) for _ in range(2))
    assert first.status_code == 201
    assert refusal(again) == (409, "CONFLICT", "Already processed")
    other_response = httpx.post(
        f"{stack.url}/api/v1/auth/register", json=body | {"email": "x@example.com"}, headers=headers
    )
    assert refusal(other_response) == (409, "CONFLICT", "Idempotency key was used for another request")


def test_a_refresh_that_is_repeated_does_not_end_the_session(owner: Member) -> None:
    """Without a key the used token's return would count as theft."""
    body, headers = {"refresh_token": owner.tokens["refresh_token"]}, {"Idempotency-Key": str(uuid4())}
    first, again = (owner.post("/api/v1/auth/refresh", json=body, headers=headers) for _ in range(2))
    assert refusal(again) == (409, "CONFLICT", "Already processed")
    renewed = owner.post("/api/v1/auth/refresh", json={"refresh_token": first.json()["refresh_token"]})
    assert renewed.status_code == 200


# Limits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [b"", b"a b", b"x" * 256, "schlüssel".encode(), b"tab\tin"])
def test_a_key_that_is_none(owner: Member, key: bytes) -> None:
    answer = owner.post(MAPPINGS, json=mapping("x"), headers={b"Idempotency-Key": key})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"loc": ["header", "idempotency-key"], "message": "expected 1 to 255 printable ASCII characters"}
    ]
    assert owner.get(MAPPINGS).json()["total"] == 0


def test_only_posts_heed_it(owner: Member) -> None:
    headers = {"Idempotency-Key": "same"}
    body = created(owner, "same", "Read").json()
    assert owner.get(f"{MAPPINGS}/{body['id']}", headers=headers).json()["name"] == "Read"
    renamed = owner.patch(f"{MAPPINGS}/{body['id']}", json={"name": "Changed"}, headers=headers)
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Changed")


def test_a_key_is_forgotten_after_its_time(owner: Member, stack: Stack) -> None:
    assert Settings().idempotency_seconds == 86_400
    created(owner, "old", "First")
    stack.sql("UPDATE idempotency_keys SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])
    assert created(owner, "old", "Second").status_code == 201
    stack.sql("UPDATE idempotency_keys SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])
    count = "SELECT count(*) FROM idempotency_keys WHERE tenant_id = %s"
    with stack.another_worker():  # its rounds begin with its start
        wait_until(lambda: stack.sql(count, [owner.tenant_id]) == [(0,)], what="the purge")


def test_a_process_that_died_at_work_gives_its_key_up(owner: Member, stack: Stack) -> None:
    created(owner, "crash", "Crash")
    stack.sql(
        """
        UPDATE idempotency_keys SET status = NULL, content = NULL, claimed_until = now() + interval '1 minute'
        WHERE tenant_id = %s
        """,
        [owner.tenant_id],
    )
    assert refusal(created(owner, "crash", "Crash"))[2] == "Request with this idempotency key is still being processed"
    stack.sql("UPDATE idempotency_keys SET claimed_until = now() WHERE tenant_id = %s", [owner.tenant_id])
    assert refusal(created(owner, "crash", "Crash")) == (409, "CONFLICT", "Mapping already exists")


def test_a_large_answer_is_not_kept(owner: Member, stack: Stack) -> None:
    assert Settings().max_replay_bytes == 1_048_576
    body, headers = {"formula": '=REPT("x", 2000)'}, {"Idempotency-Key": "large"}
    with stack.another_api(CUSHION_MAX_REPLAY_BYTES="1024") as url:
        authorized = {"Authorization": owner.http.headers["authorization"], **headers}
        first, again = (httpx.post(f"{url}/api/v1/calculations/evaluate", json=body, headers=authorized) for _ in "12")
    assert first.status_code == 200, first.text
    assert refusal(again) == (409, "CONFLICT", "Already processed")
