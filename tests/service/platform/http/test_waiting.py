"""Status reads that wait.

What ends them, how many there may be, and what they cost while nothing happens.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import psycopg
import pytest

from service.app import routes
from service.platform.route.api import LOOK_SECONDS, WAIT_SECONDS_MAX
from tests.conftest import Member, Stack, wait_until
from tests.records import GRAPH, small_book

TAPES = "/api/v1/reconciliation/tapes"
BOOK = small_book([("Borrower Name", "Par Value", "Spread"), ("Acme", 1_000_000, 3.5), ("Borealis", 2_000_000, 4.0)])
TAPE = small_book([("CUSIP", "Borrower Name", "Par Value"), ("990001AA7", "Cirrus", 3_000_000)])
PROMPT_SECONDS = LOOK_SECONDS / 2
"""Within which a read answers that waits for no look."""
CONNECTIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"


@pytest.fixture
def tape(stack: Stack, owner: Member) -> str:
    """A tape in processing that no worker knows of."""
    return stored_tape(stack, owner)


def stored_tape(stack: Stack, member: Member, tape_id: str = "") -> str:
    tape_id = tape_id or f"tape_{uuid4().hex}"
    stack.sql(
        """
        INSERT INTO tapes (tenant_id, id, job_id, trustee_name, statement_date, file_name, file_size, content_hash,
                           processing_status, created_by)
        VALUES (%s, %s, %s, 'trustee_a', '2026-03-31', 'tape.xlsx', 1, 'x', 'processing', 'a@example.com')
        """,
        [member.tenant_id, tape_id, f"job_{uuid4().hex}"],
    )
    return tape_id


def complete(stack: Stack, tape_id: str) -> None:
    stack.sql("UPDATE tapes SET processing_status = 'completed' WHERE id = %s", [tape_id])


@contextmanager
def reading(member: Member, path: str, wait: int) -> Iterator[Callable[[], tuple[httpx.Response, float]]]:
    """A read that waits by now.

    The function gives its answer and the moment that it came.
    """

    def read() -> tuple[httpx.Response, float]:
        answer = member.get(path, params={"wait": wait}, timeout=60)
        return answer, time.monotonic()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(read)
        time.sleep(0.15)
        assert not future.done(), future.result()[0].text
        yield future.result


def seconds_of(read: Callable[[], httpx.Response]) -> tuple[httpx.Response, float]:
    begun = time.monotonic()
    answer = read()
    return answer, time.monotonic() - begun


def waited(member: Member, tape_id: str, wait: Any) -> tuple[httpx.Response, float]:
    query = {} if wait is None else {"wait": wait}
    return seconds_of(lambda: member.get(f"{TAPES}/{tape_id}", params=query, timeout=60))


# What ends a wait -----------------------------------------------------------------------------------------------------


def test_a_change_is_answered_at_once(stack: Stack, owner: Member) -> None:
    for _ in range(3):
        tape_id = stored_tape(stack, owner)
        with reading(owner, f"{TAPES}/{tape_id}", 20) as answer:
            changed = time.monotonic()
            complete(stack, tape_id)
            response, arrived = answer()
        assert (response.status_code, response.json()["processing_status"]) == (200, "completed")
        assert arrived - changed < PROMPT_SECONDS


@pytest.mark.parametrize("wait", [0, None, "5"])
def test_a_final_state_is_answered_at_once(stack: Stack, owner: Member, tape: str, wait: Any) -> None:
    complete(stack, tape)
    answer, seconds = waited(owner, tape, wait)
    assert (answer.status_code, answer.json()["processing_status"]) == (200, "completed")
    assert seconds < PROMPT_SECONDS


def test_without_a_wait_the_present_state_is_told(owner: Member, tape: str) -> None:
    for wait in (None, 0):
        answer, seconds = waited(owner, tape, wait)
        assert (answer.json()["processing_status"], seconds < PROMPT_SECONDS) == ("processing", True)


def test_the_present_state_is_told_when_the_seconds_are_over(owner: Member, tape: str) -> None:
    answer, seconds = waited(owner, tape, 1)
    assert (answer.status_code, answer.json()["processing_status"]) == (200, "processing")
    assert 1 <= seconds < 1 + PROMPT_SECONDS


@pytest.mark.parametrize("wait", [-1, WAIT_SECONDS_MAX + 1, 1.5, "x", "", "null"])
def test_seconds_out_of_range(owner: Member, tape: str, wait: Any) -> None:
    answer, seconds = waited(owner, tape, wait)
    assert (answer.status_code, answer.json()["detail"]) == (422, "Validation error")
    assert answer.json()["errors"][0]["loc"] == ["query", "wait"]
    assert seconds < PROMPT_SECONDS


def test_a_state_that_no_read_shows_ends_no_wait(stack: Stack, owner: Member) -> None:
    """A job that is handed over is still pending."""
    job_id = f"task_{uuid4().hex}"
    stack.sql(
        """
        INSERT INTO jobs (tenant_id, id, queue, name, arguments, ready_at)
        VALUES (%s, %s, 'default', 'nothing.known', '{}', now() + interval '1 hour')
        """,
        [owner.tenant_id, job_id],
    )
    with reading(owner, f"/api/v1/jobs/{job_id}", 20) as answer:
        stack.sql("UPDATE jobs SET status = 'queued', lease_until = now() + interval '1 hour' WHERE id = %s", [job_id])
        stack.sql("UPDATE jobs SET status = 'pending' WHERE id = %s", [job_id])
        time.sleep(0.3)
        changed = time.monotonic()
        stack.sql("UPDATE jobs SET status = 'running' WHERE id = %s", [job_id])
        response, arrived = answer()
    assert response.json()["status"] == "running"
    assert 0 < arrived - changed < PROMPT_SECONDS


def test_a_lost_announcement_is_made_up_for(stack: Stack, owner: Member, tape: str) -> None:
    """As behind a pooler of connections that passes none on."""
    with reading(owner, f"{TAPES}/{tape}", 20) as answer:
        changed = time.monotonic()
        stack.sql("ALTER TABLE tapes DISABLE TRIGGER tapes_state")
        try:
            complete(stack, tape)
        finally:
            stack.sql("ALTER TABLE tapes ENABLE TRIGGER tapes_state")
        response, arrived = answer()
    assert response.json()["processing_status"] == "completed"
    assert arrived - changed < LOOK_SECONDS + PROMPT_SECONDS


def test_a_record_that_goes_meanwhile_is_not_found(stack: Stack, owner: Member) -> None:
    book = owner.post("/api/v1/workbooks/upload", files={"file": ("book.xlsx", BOOK)}).json()
    owner.parsed(book["id"])
    stack.sql("UPDATE workbooks SET status = 'processing' WHERE id = %s", [book["id"]])
    with reading(owner, f"/api/v1/workbooks/{book['id']}", 20) as answer:
        stack.sql("UPDATE workbooks SET deleted_at = now() WHERE id = %s", [book["id"]])
        response, _ = answer()
    assert (response.status_code, response.json()["detail"]) == (404, "Workbook not found")


def test_an_answer_after_a_wait_is_like_any_other(stack: Stack, owner: Member) -> None:
    book = owner.post("/api/v1/workbooks/upload", files={"file": ("book.xlsx", BOOK)}).json()
    owner.parsed(book["id"])
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [book["id"]])
    path = f"/api/v1/workbooks/{book['id']}"
    with reading(owner, path, 20) as answer:
        stack.sql("UPDATE workbooks SET status = 'ready' WHERE id = %s", [book["id"]])
        response, _ = answer()
    plain = owner.get(path)
    assert response.json() == plain.json()
    assert response.headers.get_list("etag") == plain.headers.get_list("etag")
    assert len(response.headers.get_list("etag")) == 1


# The state of every kind of record ------------------------------------------------------------------------------------


def test_every_status_can_be_waited_for() -> None:
    assert {(row.path, row.waits.record) for row in routes() if row.waits is not None} == {
        ("/api/v1/workbooks/{workbook_id}", "workbook_id"),
        ("/api/v1/reconciliation/tapes/{tape_id}", "tape_id"),
        ("/api/v1/reconciliation/compare/{job_id}/status", "job_id"),
        ("/api/v1/batches/{batch_id}", "batch_id"),
        ("/api/v1/exports/{export_id}", "export_id"),
        ("/api/v1/reports/{report_id}", "report_id"),
        ("/api/v1/scenarios/{scenario_id}", "scenario_id"),
        ("/api/v1/formulas/{config_id}/runs", "config_id"),
        ("/api/v1/jobs/{job_id}", "job_id"),
    }


def test_from_an_upload_to_a_report_by_waits_alone(owner: Member) -> None:
    """Each step answers with its final state, after some seconds at most and without being asked twice."""

    def final(path: str, field: str = "status") -> str:
        state, asked = "", 0
        while state not in ("ready", "completed", "failed", "error"):
            answer, seconds = seconds_of(lambda: owner.get(path, params={"wait": 30}, timeout=60))
            assert (answer.status_code, seconds < 25) == (200, True), (answer.text, seconds)
            body = answer.json()
            state, asked = (body["items"][0] if "items" in body else body)[field], asked + 1
        assert asked < 20, "each answer shows another state"
        return state

    book = owner.post("/api/v1/workbooks/upload", files={"file": ("book.xlsx", BOOK)}).json()
    assert final(f"/api/v1/workbooks/{book['id']}") == "ready"
    sheet_id = owner.get(f"/api/v1/workbooks/{book['id']}").json()["sheets"][0]["id"]
    tape = owner.post(
        f"{TAPES}/upload",
        files={"file": ("tape.xlsx", TAPE)},
        data={"trustee_name": "trustee_a", "statement_date": "2026-03-31", "mapping_id": "standard_clo"},
    ).json()
    assert final(f"/api/v1/jobs/{tape['job_id']}") == "completed"
    assert final(f"{TAPES}/{tape['tape_id']}", "processing_status") == "completed"
    compared = {"tape_id": tape["tape_id"], "workbook_id": book["id"]}
    job = owner.post("/api/v1/reconciliation/compare", json=compared).json()
    assert final(f"/api/v1/reconciliation/compare/{job['job_id']}/status") == "completed"
    assert final(f"/api/v1/jobs/{job['job_id']}") == "completed"
    export = owner.post("/api/v1/exports", json={"workbook_id": book["id"], "format": "xlsx"}).json()
    assert final(f"/api/v1/exports/{export['id']}") == "completed"
    assert owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"]}).status_code == 200
    report = owner.post("/api/v1/reports/compliance", json={"workbook_id": book["id"]}).json()
    assert final(f"/api/v1/reports/{report['id']}") == "completed"
    result = {"name": "Double", "template_id": "custom", "graph": GRAPH, "status": "active"}
    formula = owner.post("/api/v1/formulas", json=result)
    assert formula.status_code == 201, formula.text
    config_id = formula.json()["id"]
    column = {"sheet_id": sheet_id, "target_column": "Double", "output_mode": "new"}
    applied = owner.post(
        f"/api/v1/formulas/{config_id}/apply", json={"workbook_id": book["id"], "version_id": "v1", **column}
    )
    assert applied.status_code in (200, 201, 202), applied.text
    assert final(f"/api/v1/formulas/{config_id}/runs") == "completed"
    assert final(f"/api/v1/workbooks/{book['id']}") == "ready"


def test_a_scenario_that_is_calculated(stack: Stack, owner: Member) -> None:
    scenario = owner.post("/api/v1/scenarios", json={"name": "Waits"}).json()
    path = f"/api/v1/scenarios/{scenario['id']}"
    assert seconds_of(lambda: owner.get(path, params={"wait": 20}))[1] < PROMPT_SECONDS, "a draft calculates nothing"
    with psycopg.connect(stack.database_url) as calculating:
        calculating.execute("SELECT pg_advisory_xact_lock(scenario_lock(%s, %s))", [owner.tenant_id, scenario["id"]])
        assert owner.get(path).json()["status"] == "calculating"
        with reading(owner, path, 20) as answer:
            ended = time.monotonic()
            calculating.rollback()
            response, arrived = answer()
    assert response.json()["status"] == "draft", "it ended without a result"
    assert arrived - ended < LOOK_SECONDS + PROMPT_SECONDS


# How many, and for whom -----------------------------------------------------------------------------------------------


def test_the_ninth_read_is_answered_at_once(stack: Stack, owner: Member, stranger: Member, tape: str) -> None:
    theirs = stored_tape(stack, stranger)
    with ThreadPoolExecutor(9) as pool:
        waiting = [pool.submit(waited, owner, tape, 20) for _ in range(8)]
        time.sleep(1)
        assert not any(item.done() for item in waiting)
        answer, seconds = waited(owner, tape, 20)
        now = (answer.status_code, answer.json()["processing_status"], seconds < PROMPT_SECONDS)
        assert now == (200, "processing", True)
        with reading(stranger, f"{TAPES}/{theirs}", 20) as second:
            complete(stack, theirs)
            assert second()[0].json()["processing_status"] == "completed", "another tenant has places of its own"
        complete(stack, tape)
        assert {item.result()[0].json()["processing_status"] for item in waiting} == {"completed"}
    again = stored_tape(stack, owner)
    answer, seconds = waited(owner, again, 1)
    assert seconds >= 1, "the places are free again"


def test_a_deployment_says_how_many_may_wait(stack: Stack, owner: Member, tape: str) -> None:
    with (
        stack.another_api(CUSHION_TENANT_WAITERS="0") as url,
        httpx.Client(base_url=url, headers=dict(owner.http.headers)) as http,
    ):
        answer, seconds = waited(replace(owner, http=http), tape, 20)
    assert (answer.json()["processing_status"], seconds < PROMPT_SECONDS) == ("processing", True)


def test_a_strangers_record_is_not_found_at_once(stranger: Member, tape: str) -> None:
    answer, seconds = waited(stranger, tape, 20)
    assert (answer.status_code, answer.json()["detail"], seconds < PROMPT_SECONDS) == (404, "Tape not found", True)


def test_a_strangers_record_of_the_same_name_ends_no_wait(
    stack: Stack, owner: Member, stranger: Member, tape: str
) -> None:
    stored_tape(stack, stranger, tape)
    with reading(owner, f"{TAPES}/{tape}", 2) as answer:
        begun = time.monotonic()
        stack.sql(
            "UPDATE tapes SET processing_status = 'completed' WHERE tenant_id = %s AND id = %s",
            [stranger.tenant_id, tape],
        )
        response, arrived = answer()
    assert response.json()["processing_status"] == "processing"
    assert arrived - begun > 1


def test_whoever_is_signed_out_meanwhile_reads_nothing(stack: Stack, owner: Member, tape: str) -> None:
    colleague = owner.invite("analyst")
    with reading(colleague, f"{TAPES}/{tape}", 20) as answer:
        with httpx.Client(base_url=stack.url, headers=dict(colleague.http.headers)) as http:
            assert http.post("/api/v1/auth/revoke-all-tokens").status_code in (200, 204)
        complete(stack, tape)
        response, _ = answer()
    assert (response.status_code, response.json()["error_code"]) == (401, "TOKEN_REVOKED")


def test_a_suspended_tenant_reads_nothing(stack: Stack, owner: Member, tape: str) -> None:
    key = owner.key("compliance:read")
    with reading(key, f"{TAPES}/{tape}", 20) as answer:
        keys = owner.get("/api/v1/admin/api-keys").json()
        (result,) = keys["items"] if isinstance(keys, dict) else keys
        assert owner.delete(f"/api/v1/admin/api-keys/{result['id']}").status_code == 204
        complete(stack, tape)
        response, _ = answer()
    assert response.status_code == 401


# What it costs, and how it ends ---------------------------------------------------------------------------------------


def test_nothing_is_held_while_a_read_waits(stack: Stack, owner: Member, tape: str) -> None:
    """No transaction, and with two connections a tenant others are served."""
    with stack.another_api(CUSHION_DATABASE_CONNECTIONS="2") as url:
        clients = [httpx.Client(base_url=url, headers=dict(owner.http.headers)) for _ in range(9)]
        members = [replace(owner, http=http) for http in clients]
        with ThreadPoolExecutor(8) as pool:
            waiting = [pool.submit(waited, member, tape, 20) for member in members[:8]]
            time.sleep(0.7)
            ((open_transactions,),) = stack.sql(
                "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%%'"
            )
            answer, seconds = seconds_of(lambda: members[8].get(TAPES))
            complete(stack, tape)
            assert {item.result()[0].status_code for item in waiting} == {200}
        for client in clients:
            client.close()
    assert (open_transactions, answer.status_code, seconds < PROMPT_SECONDS) == (0, 200, True)


@pytest.mark.parametrize("drain_seconds", ["0", "2"])
def test_a_process_that_stops_answers_at_once(stack: Stack, owner: Member, tape: str, drain_seconds: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        with stack.another_api(CUSHION_DRAIN_SECONDS=drain_seconds) as url:
            http = httpx.Client(base_url=url, headers=dict(owner.http.headers))
            future = pool.submit(waited, replace(owner, http=http), tape, 30)
            time.sleep(0.5)
            assert not future.done()
            begun = time.monotonic()
        answer, _ = future.result()
        stopped = time.monotonic() - begun
    http.close()
    assert (answer.status_code, answer.json()["processing_status"]) == (200, "processing")
    assert answer.headers["connection"] == "close"
    assert stopped < int(drain_seconds) + 15


def test_a_caller_who_leaves_frees_the_place(stack: Stack, owner: Member, tape: str) -> None:
    with stack.another_api(CUSHION_TENANT_WAITERS="1") as url:
        place = urlsplit(url)
        with socket.create_connection((place.hostname, place.port)) as caller:
            head = ["Host: x", f"Authorization: {owner.http.headers['authorization']}", "", ""]
            caller.sendall("\r\n".join([f"GET {TAPES}/{tape}?wait=30 HTTP/1.1", *head]).encode())
            time.sleep(0.5)
        with httpx.Client(base_url=url, headers=dict(owner.http.headers)) as http:
            member = replace(owner, http=http)
            wait_until(lambda: waited(member, tape, 1)[1] >= 1, what="a free place")


def test_a_lost_connection_is_made_anew(stack: Stack, owner: Member, tape: str) -> None:
    listeners = set(stack.sql(CONNECTIONS, ["cushion api"]))
    assert listeners
    stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cushion api'")
    wait_until(lambda: set(stack.sql(CONNECTIONS, ["cushion api"])) - listeners, what="a new one")
    time.sleep(0.2)
    with reading(owner, f"{TAPES}/{tape}", 20) as answer:
        changed = time.monotonic()
        complete(stack, tape)
        _, arrived = answer()
    assert arrived - changed < PROMPT_SECONDS


def test_a_wait_is_no_time_that_the_service_worked(stack: Stack, owner: Member, tape: str) -> None:
    with (
        stack.another_api(CUSHION_METRICS_ON_API="true") as url,
        httpx.Client(base_url=url, headers=dict(owner.http.headers)) as http,
    ):
        member = replace(owner, http=http)

        def seconds() -> list[float]:
            lines = http.get("/metrics").text.splitlines()
            return [float(line.split()[-1]) for line in lines if "_seconds_sum" in line and "/tapes/{tape_id}" in line]

        waited(member, tape, 0)
        before = sum(seconds())
        assert waited(member, tape, 2)[1] >= 2
        after = seconds()
    assert after, "its time is told"
    assert sum(after) - before < 1
