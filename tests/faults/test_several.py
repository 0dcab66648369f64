"""Two APIs and two workers, each on a machine of its own.

What one does the others know, and none needs a neighbour.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
import httpx
import pytest

from core.generate import generate
from tests.conftest import PASSWORD, Member, calls, early_in, member, register, wait_until
from tests.faults.several import BUCKET, PASSWORDS, Machines, machines
from tests.faults.test_backup import command
from tests.faults.test_backup import place as place_for_data
from tests.rows import every

WORKBOOKS = "/api/v1/workbooks"


@pytest.fixture(scope="module")
def four() -> Iterator[Machines]:
    with machines(
        CUSHION_DRAIN_SECONDS="0",
        CUSHION_WORKER_JOBS="1",
        CUSHION_DEFAULT_TIER="enterprise",
        CUSHION_EVENT_GAP_SECONDS="2",
    ) as running:
        running.add("serve", "serve", "worker", "worker")
        yield running


def at(who: Member, machine: int, four: Machines) -> Member:
    """The same caller at another API."""
    client = httpx.Client(base_url=four.all[machine].url, headers=who.http.headers, timeout=60)
    return Member(client, who.tokens, who.email, who.tenant_id, who.user_id)


@pytest.fixture(scope="module")
def both(four: Machines) -> tuple[Member, Member]:
    """The owner of a tenant, at each API; registered at the first one."""
    owner = register(four.all[0].url)
    return owner, at(owner, 1, four)


@pytest.fixture(scope="module")
def book(both: tuple[Member, Member], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A workbook of loans, uploaded to the first API and awaited at the second."""
    path = tmp_path_factory.mktemp("book") / "loans.xlsx"
    generate(loans=200, seed=3).write(path)
    first, second = both
    uploaded = first.upload(path)
    assert uploaded.status_code == 201, uploaded.text
    ready = second.parsed(uploaded.json()["id"])
    assert ready["status"] == "ready", ready
    return str(ready["id"])


def test_machines_share_nothing_else(four: Machines, both: tuple[Member, Member], book: str) -> None:
    """No file of a machine is another's, and what was uploaded stands in the object store alone."""
    for machine in four.all:
        blobs = machine.folder / "data" / "blobs"
        assert not blobs.exists() or not list(blobs.iterdir())
    store = boto3.client(
        "s3",
        endpoint_url=four.environment["AWS_ENDPOINT"],
        aws_access_key_id="machines",
        aws_secret_access_key="S3-6",
        region_name="us-east-1",
    )
    assert store.list_objects_v2(Bucket=BUCKET)["KeyCount"] > 1
    store.close()


def test_sheets_are_read_at_both(both: tuple[Member, Member], book: str) -> None:
    sheets = [who.get(f"{WORKBOOKS}/{book}/sheets/Holdings/data?page_size=5").json() for who in both]
    assert len(sheets[0]["rows"]) == 5, sheets[0]
    assert sheets[0] == sheets[1]


def test_a_formula_counts_at_both(both: tuple[Member, Member], book: str) -> None:
    body = {"formula": "=COUNTA(Holdings!A:A)+1", "workbook_id": book}
    values = [who.post("/api/v1/calculations/evaluate", json=body).json()["value"] for who in both]
    assert values[0] == values[1] > 100


@every("way", ["logout", "key", "user", "password"])
def test_what_is_revoked_at_one_is_refused_at_the_other(four: Machines, way: str) -> None:
    owner = register(four.all[0].url)
    if way == "logout":
        known, revoke = owner, lambda: owner.post("/api/v1/auth/logout", json={})
    elif way == "key":
        known = owner.key("workbooks:read")
        key_id = owner.get("/api/v1/admin/api-keys").json()["items"][0]["id"]
        revoke = lambda: owner.delete(f"/api/v1/admin/api-keys/{key_id}")  # noqa: E731
    elif way == "user":
        known = owner.invite("analyst")
        revoke = lambda: owner.delete(f"/api/v1/admin/users/{known.user_id}")  # noqa: E731
    else:
        login = {"username": owner.email, "password": PASSWORD}
        tokens = httpx.post(four.all[1].url + "/api/v1/auth/login", data=login).json()
        known = member(four.all[1].url, tokens, owner.email)
        body = {"current_password": PASSWORD, "new_password": "Another-Horse-8"}
        revoke = lambda: owner.post("/api/v1/auth/password/change", json=body)  # noqa: E731
    second = at(known, 1, four)
    assert second.get(WORKBOOKS).status_code == 200, "it is known there, and kept in its memory"
    answer = revoke()
    assert answer.status_code < 300, answer.text
    assert second.get(WORKBOOKS).status_code == 401


def test_limits_are_counted_together(both: tuple[Member, Member]) -> None:
    early_in(60)
    left = [int(both[call % 2].get(WORKBOOKS).headers["x-ratelimit-remaining"]) for call in range(6)]
    assert left == list(range(left[0], left[0] - 6, -1))


def test_an_idempotency_key_holds_at_both(both: tuple[Member, Member]) -> None:
    body = {"name": "Once", "source_type": "clo_holdings", "mappings": {"Nominal": {"target": "par_value"}}}
    with ThreadPoolExecutor(8) as callers:
        racing = [
            callers.submit(both[call % 2].post, "/api/v1/mappings", json=body, headers={"Idempotency-Key": "once"})
            for call in range(8)
        ]
        answers = [call.result() for call in racing]
    result = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    assert len(result) == 1, [answer.text for answer in answers]
    assert {answer.status_code for answer in answers} <= {201, 409}
    for who in both:
        again = who.post("/api/v1/mappings", json=body, headers={"Idempotency-Key": "once"})
        assert again.json()["id"] in result, again.text


def test_an_export_is_had_from_either(both: tuple[Member, Member], book: str) -> None:
    first, second = both
    asked = first.post("/api/v1/exports", json={"workbook_id": book, "format": "xlsx"})
    assert asked.status_code in (201, 202), asked.text
    place = f"/api/v1/exports/{asked.json()['id']}"
    wait_until(lambda: second.get(place).json()["status"] in ("completed", "failed"), seconds=60, what="the export")
    files = [who.get(f"{place}/download") for who in both]
    assert files[0].status_code == 200, files[0].text
    assert files[0].content == files[1].content
    value = {"file": ("loans.xlsx", files[0].content)}
    assert second.post("/api/v1/exports/verify", files=value).json()["status"] == "original"


def test_both_workers_work_and_no_job_runs_twice(four: Machines, both: tuple[Member, Member], tmp_path: Path) -> None:
    generate(loans=200, seed=4).write(tmp_path / "one.xlsx")
    asked = [both[number % 2].upload(tmp_path / "one.xlsx", name=f"Book {number}").json() for number in range(12)]
    assert {both[0].parsed(item["id"])["status"] for item in asked} == {"ready"}
    done = [machine.log_text().count("job.completed") for machine in four.all[2:]]
    assert all(done), f"one worker did nothing: {done}"
    jobs = four.database.sql("SELECT status, failures, attempt FROM jobs WHERE tenant_id = %s", [both[0].tenant_id])
    assert {(status, failures) for status, failures, _ in jobs} == {("completed", 0)}

    def is_each_logged() -> bool:
        """A job is completed a moment before its line is in the log."""
        logged = sum(machine.log_text().count("job.completed") for machine in four.all[2:])
        return bool(logged == four.database.sql("SELECT count(*) FROM jobs WHERE status = 'completed'")[0][0])

    wait_until(is_each_logged, what="one line for each job")


def test_events_of_both_reach_one_whole_chain(four: Machines, both: tuple[Member, Member]) -> None:
    """Each process numbers its own events; none is missing, and none is there twice."""
    owner = register(four.all[0].url)
    members = owner, at(owner, 1, four)
    for call in range(20):
        assert members[call % 2].post("/api/v1/calculations/evaluate", json={"formula": "=1"}).status_code == 200

    wait_until(lambda: calls(four.database, owner) == 20, what="the events")
    time.sleep(3)  # longer than an event may be missing
    missing = "SELECT FROM audit_log WHERE tenant_id = %s AND action = 'audit.events_missing'"
    assert four.database.sql(missing, [owner.tenant_id]) == []
    sources = four.database.sql("SELECT count(*) FROM event_numbers WHERE tenant_id = %s", [owner.tenant_id])
    assert sources == [(2,)]


def test_a_schedule_of_two_clocks_is_due_once(four: Machines, both: tuple[Member, Member], book: str) -> None:
    body = {
        "name": "Hourly",
        "alert_type": "schedule",
        "conditions": {"schedule": "0 * * * *"},
        "channels": [{"type": "in_app", "config": {"user_ids": [both[0].user_id]}}],
        "workbook_id": book,
    }
    result = [
        both[number % 2].post("/api/v1/alerts/configure", json={**body, "name": f"{number}"}) for number in range(6)
    ]
    assert {answer.status_code for answer in result} == {201}, result[0].text
    ids = [answer.json()["id"] for answer in result]
    four.database.sql("UPDATE alerts SET next_at = date_trunc('hour', now()) WHERE id = ANY(%s::uuid[])", [ids])
    count = "SELECT count(*) FROM alert_history WHERE alert_id = ANY(%s::uuid[])"
    wait_until(lambda: four.database.sql(count, [ids])[0][0] >= 6, what="the schedules")
    time.sleep(3)  # each clock looks every two seconds
    assert four.database.sql(count, [ids]) == [(6,)]


def test_every_log_is_without_errors(four: Machines) -> None:
    """Last: nothing of the above was mended in silence."""
    for machine in four.all:
        strange = [line for line in machine.log_text().splitlines() if '"level":"error"' in line or "Traceback" in line]
        assert strange == [], os.linesep.join(strange)


def test_a_backup_is_restored_into_another_database_and_store_and_into_a_folder(
    four: Machines, both: tuple[Member, Member], book: str, tmp_path: Path
) -> None:
    """By an owner who is no superuser, beside the machines.

    A copy in a data folder has an owner of another name.
    """
    run = both[0].post("/api/v1/compliance/run", json={"workbook_id": book})
    assert run.status_code == 200, run.text
    database, backups = four.database, tmp_path / "backups"

    def place(name: str, password: str = PASSWORDS["cushion_service"]) -> dict[str, str]:
        service = database.url("cushion_service", name).replace(PASSWORDS["cushion_service"], password)
        store = f"s3://{BUCKET}/{'files' if name == 'cushion' else name}"
        urls = {"CUSHION_DATABASE_URL": service, "CUSHION_MIGRATION_URL": database.url("cushion", name)}
        return {**four.environment, **urls, "CUSHION_BLOB_URL": store}

    assert "ALTER ROLE cushion BYPASSRLS" in command("backup", backups, code=2, **place("cushion"))
    database.sql("ALTER ROLE cushion BYPASSRLS")
    command("backup", backups, **place("cushion"))
    database.sql("CREATE DATABASE again OWNER cushion", database="postgres")
    assert "password authentication failed" in command("restore", backups, code=2, **place("again", "wrong"))
    command("restore", backups, **place("again"))
    assert f"run {run.json()['id']}: reproduced" in command("lookback", "verify", **place("again"))
    whose = """
        SELECT oid::regprocedure::text, proowner::regrole::text, proacl::text FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT oid::regclass::text, relowner::regrole::text, NULL FROM pg_class
        WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT tablename || policyname, roles::text, qual || with_check FROM pg_policies ORDER BY 1, 2
        """
    assert database.sql(whose) == database.sql(whose, database="again")
    assert four.all[0].ready() == 200

    with place_for_data() as data_dir:
        command("restore", backups, CUSHION_DATA_DIR=str(data_dir))
        assert f"run {run.json()['id']}: reproduced" in command("lookback", "verify", CUSHION_DATA_DIR=str(data_dir))
