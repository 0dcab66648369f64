"""Dead letters over HTTP.

What is told of them, to whom, and that a real worker does what is given back.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from service.platform.config import Settings
from service.platform.work.runner import without_secrets
from service.work import jobs
from tests.conftest import Member, Stack, register, wait_until
from tests.records import BOOK, FORMULA, TAPE, small_book

DLQ = "/api/v1/dlq"
SYSTEM = "the deployment's own key, forty letters!"
WAKE = "webhooks.wake"
"""A task of no consequence: nothing stands in the line of a webhook that there is not."""


def buried(stack: Stack, member: Member, name: str = WAKE, **columns: Any) -> str:
    """A dead letter, as a worker would write it; its identifier."""
    row = {
        "tenant_id": member.tenant_id, "id": f"dlq_{uuid4().hex}", "original_task_id": f"task_{uuid4().hex}",
        "task_name": name, "queue": "webhooks", "arguments": json.dumps({"webhook_id": str(uuid4())}),
        "exception_type": "WorkerLost", "exception_message": "fell silent", "traceback": "Traceback",
        "retries_attempted": 2,
    } | columns  # fmt: skip
    places = ", ".join(f"%({column})s" for column in row)
    stack.sql(f"INSERT INTO dead_letters ({', '.join(row)}) VALUES ({places})", row)
    return str(row["id"])


def retried(member: Member, entry: str, **query: Any) -> httpx.Response:
    return member.post(f"{DLQ}/entries/{entry}/retry", params=query)


def refused(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["detail"], body["errors"][0]["message"] if "errors" in body else ""


def events(stack: Stack, member: Member) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT action, resource_id, user_email, details FROM audit_log"
        " WHERE tenant_id = %s AND action LIKE 'dead_letter.%%' ORDER BY sequence",
        [member.tenant_id],
    )


# Work that is given back ----------------------------------------------------------------------------------------------


def test_work_that_was_given_up_is_given_back_and_done(idle: Stack) -> None:
    """Of each kind of job the workers died till it was given up.

    The record says so, and a retry has it done.
    """
    owner = register(idle.url)

    def create(path: str, **how: Any) -> dict[str, Any]:
        answer = owner.post(path, **how)
        assert answer.status_code in (200, 201), answer.text
        result: dict[str, Any] = answer.json()
        return result

    def uploaded(name: str) -> str:
        files = {"file": (f"{name}.xlsx", small_book([*BOOK, (name, 1, 1.0)]))}
        return str(create("/api/v1/workbooks/upload", files=files)["id"])

    def taped(name: str) -> str:
        data = {"trustee_name": "trustee_a", "statement_date": "2026-03-31", "mapping_id": "standard_clo"}
        files = {"file": (f"{name}.xlsx", small_book([*TAPE, ("", name, 1)]))}
        return str(create("/api/v1/reconciliation/tapes/upload", files=files, data=data)["tape_id"])

    def open_jobs() -> list[tuple[Any, ...]]:
        return idle.sql(
            "SELECT name FROM jobs WHERE tenant_id = %s AND status IN ('pending', 'queued', 'running')",
            [owner.tenant_id],
        )

    with idle.another_worker():
        book, stale, tape = uploaded("book"), uploaded("stale"), taped("tape")
        owner.parsed(book)
        owner.parsed(stale)
        wait_until(lambda: not open_jobs(), what="the first jobs")
    sheet = owner.get(f"/api/v1/workbooks/{book}").json()["sheets"][0]["id"]
    create("/api/v1/compliance/run", json={"workbook_id": book})
    config = create("/api/v1/formulas", json=FORMULA | {"status": "active"})["id"]
    fresh, second = uploaded("fresh"), taped("other")
    create(f"/api/v1/workbooks/{stale}/recalculate")
    export = create("/api/v1/exports", json={"workbook_id": book, "format": "csv"})["id"]
    report = create("/api/v1/reports/compliance", json={"workbook_id": book})["id"]
    compared = create("/api/v1/reconciliation/compare", json={"tape_id": tape, "workbook_id": book})["job_id"]
    order = {
        "version_id": "v1",
        "workbook_id": book,
        "sheet_id": sheet,
        "target_column": "Double",
        "output_mode": "new",
    }
    create(f"/api/v1/formulas/{config}/apply", json=order)
    create(
        "/api/v1/admin/users/invite", json={"email": f"{uuid4().hex}@example.com", "full_name": "X", "role": "viewer"}
    )

    def states() -> dict[str, str]:
        asked = {
            "workbooks.parse": (f"/api/v1/workbooks/{fresh}", "status"),
            "workbooks.recalculate": (f"/api/v1/workbooks/{stale}", "status"),
            "exports.make": (f"/api/v1/exports/{export}", "status"),
            "reports.make": (f"/api/v1/reports/{report}", "status"),
            "reconciliation.read_tape": (f"/api/v1/reconciliation/tapes/{second}", "processing_status"),
            "reconciliation.compare": (f"/api/v1/reconciliation/compare/{compared}/status", "status"),
        }
        run = owner.get(f"/api/v1/formulas/{config}/runs").json()["items"][0]
        return {name: owner.get(path).json()[field] for name, (path, field) in asked.items()} | {
            "formulas.apply": run["status"]
        }

    idle.sql("UPDATE jobs SET failures = 3 WHERE tenant_id = %s AND status = 'pending'", [owner.tenant_id])
    failed = {name: "error" if name.startswith("workbooks") else "failed" for name in states()}
    with idle.another_worker():
        wait_until(lambda: not open_jobs(), what="the end of all jobs")
    assert states() == failed
    entries = {item["task_name"]: item for item in owner.get(f"{DLQ}/entries").json()["items"]}
    assert set(entries) == {*failed, "mail.send"}
    assert {entry["exception"]["type"] for entry in entries.values()} == {"WorkerLost"}
    seal = json.loads(entries["mail.send"]["task_kwargs"])
    assert list(seal) == ["mail"]
    assert "example.com" not in json.dumps(entries), "a letter stays sealed"

    answers = {name: retried(owner, entry["original_task_id"]) for name, entry in entries.items()}
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(entries, 200), [
        answer.text for answer in answers.values()
    ]
    begun = {"reports.make": "pending", "formulas.apply": "pending", "workbooks.recalculate": "recalculating"}
    assert states() == dict.fromkeys(failed, "processing") | begun
    assert {retried(owner, entry["dlq_id"]).status_code for entry in entries.values()} == {409}
    with idle.another_worker():
        wait_until(lambda: not open_jobs(), seconds=60, what="the work that was given back")
    done = dict.fromkeys(failed, "completed") | {"workbooks.parse": "ready", "workbooks.recalculate": "ready"}
    assert states() == done
    assert owner.get(f"/api/v1/workbooks/{book}").json()["written_by"] is None
    assert owner.get(f"/api/v1/exports/{export}/download").status_code == 200
    mails = [path.read_text() for path in (idle.data_dir / "mail").iterdir()]
    assert len([mail for mail in mails if "example.com" in mail]) == 1


def test_every_kind_of_job_says_how_it_is_given_back() -> None:
    assert {name for name, job in jobs().jobs.items() if job.on_retry is None} == {
        "batches.run",  # its failure refuses a workbook, and the batch goes on
        "batches.write",  # alerts would fire again; its runs are in the history
        "webhooks.deliver",
    }


MOVED = "its record is no longer in the state that the failure left it in"


def test_what_cannot_be_given_back_says_why(stack: Stack, owner: Member, tmp_path: Path) -> None:
    path = tmp_path / "loans.xlsx"
    path.write_bytes(small_book(BOOK))
    book = owner.uploaded(path)["id"]
    rows = [
        ("workbooks.parse", {"workbook_id": book}, MOVED),
        ("workbooks.recalculate", {"workbook_id": book}, MOVED),
        ("workbooks.recalculate", {"workbook_id": str(uuid4())}, "Workbook not found"),
        ("reports.make", {"report_id": str(uuid4())}, "Report not found"),
        ("exports.make", {"export_id": "exp_0"}, MOVED),
        ("formulas.apply", {"run_id": "run_0"}, MOVED),
        ("reconciliation.read_tape", {"tape_id": "tape_0"}, "Tape not found"),
        ("webhooks.deliver", {"webhook_id": str(uuid4())}, "work of this kind is not given back"),
        ("of.yesterday", {}, "work of this kind is not given back"),
    ]
    for name, arguments, why in rows:
        entry = buried(stack, owner, name, arguments=json.dumps(arguments))
        status, detail, message = refused(retried(owner, entry, force=True))
        assert (status, detail) == (409, "Task cannot be retried"), name
        assert why in message, (name, message)
        kept = owner.get(f"{DLQ}/entries/{entry}").json()
        assert (kept["status"], kept["retry_count"], kept["retry_task_id"]) == ("pending_review", 0, None)
    assert owner.get(f"/api/v1/workbooks/{book}").json()["status"] == "ready"
    assert stack.sql("SELECT count(*) FROM jobs WHERE tenant_id = %s AND status <> 'completed'", [owner.tenant_id]) == [
        (0,)
    ]
    assert events(stack, owner) == []


def test_retries_are_counted_along_the_line_and_must_be_forced(stack: Stack, owner: Member) -> None:
    """What fails again is a new entry that knows how often its work was given back."""
    first = buried(stack, owner, retry_count=2)
    answer = retried(owner, first)
    task = answer.json()["retry_task_id"]
    body = owner.get(f"{DLQ}/entries/{first}").json()
    assert answer.json() == {
        "original_task_id": body["original_task_id"],
        "retry_task_id": task,
        "status": "retried",
        "message": "The task was given back to a worker.",
    }
    assert (body["status"], body["retry_count"], body["retry_task_id"]) == ("retried", 3, task)
    assert body["last_retry_at"] is not None
    wait_until(
        lambda: stack.sql("SELECT status FROM jobs WHERE id = %s", [task]) == [("completed",)], what="the second run"
    )
    assert refused(retried(owner, first)) == (409, "Dead letter is not pending review", "it is retried")
    bad = buried(stack, owner, arguments=json.dumps({"webhook_id": "none"}), retry_count=2)  # which always fails
    again = retried(owner, bad).json()["retry_task_id"]
    wait_until(lambda: owner.get(f"{DLQ}/entries/{again}").status_code == 200, what="its new dead letter")
    following = owner.get(f"{DLQ}/entries/{again}").json()
    assert (following["retry_count"], following["retries_attempted"], following["status"]) == (3, 2, "pending_review")
    assert following["exception"]["type"] == "ValueError"
    assert "Traceback" in following["exception"]["traceback"]
    assert refused(retried(owner, again))[:2] == (409, "Maximum retries exceeded")
    assert retried(owner, again, force=True).status_code == 200
    lines = [(action, details.get("force")) for action, _, _, details in events(stack, owner)]
    assert lines == [("dead_letter.retried", False)] * 2 + [("dead_letter.retried", True)]


def test_one_of_many_wins(stack: Stack, owner: Member) -> None:
    def tasks() -> int:
        sql = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND name = %s"
        return int(stack.sql(sql, [owner.tenant_id, WAKE])[0][0])

    with ThreadPoolExecutor(8) as pool:
        entry = buried(stack, owner)
        answers = list(pool.map(lambda _: retried(owner, entry).status_code, range(8)))
        assert sorted(answers) == [200] + [409] * 7
        assert tasks() == 1
        given_back = 1
        for _ in range(6):
            entry = buried(stack, owner)
            retry = pool.submit(retried, owner, entry)
            discard = pool.submit(owner.delete, f"{DLQ}/entries/{entry}")
            assert discard.result().status_code == 204
            given_back += retry.result().status_code == 200
            body = owner.get(f"{DLQ}/entries/{entry}").json()
            assert body["status"] == "discarded"
            assert (body["retry_task_id"] is not None) == (retry.result().status_code == 200)
            assert refused(retried(owner, entry, force=True))[2] == "it is discarded"
        assert tasks() == given_back


# What is told ---------------------------------------------------------------------------------------------------------


def test_an_entry_is_told_resolved_and_discarded(stack: Stack, owner: Member) -> None:
    first, second = (
        buried(stack, owner),
        buried(stack, owner, "mail.send", arguments=json.dumps({"mail": "x" * 20_000})),
    )
    actual_body = owner.get(f"{DLQ}/entries/{first}").json()
    assert owner.get(f"{DLQ}/entries/{actual_body['original_task_id']}").json() == actual_body
    assert actual_body | dict.fromkeys(("original_task_id", "task_kwargs", "failed_at", "processed_at")) == {
        **dict.fromkeys(("original_task_id", "task_kwargs", "failed_at", "processed_at")),
        "dlq_id": first, "task_name": WAKE, "task_args": "[]", "tenant_id": owner.tenant_id, "retries_attempted": 2,
        "exception": {"type": "WorkerLost", "message": "fell silent", "traceback": "Traceback"},
        "status": "pending_review", "retry_count": 0, "last_retry_at": None, "retry_task_id": None,
        "resolved_at": None, "resolution_notes": None,
    }  # fmt: skip
    assert list(json.loads(actual_body["task_kwargs"])) == ["webhook_id"]
    long = owner.get(f"{DLQ}/entries/{second}").json()["task_kwargs"]
    assert (len(long), long[-1]) == (10_001, "…")
    answer = owner.post(f"{DLQ}/entries/{first}/resolve", json={"resolution_notes": "seen"})
    body = answer.json()
    assert (answer.status_code, body.pop("resolved_at") > actual_body["failed_at"]) == (200, True)
    assert body == {"task_id": actual_body["original_task_id"], "status": "resolved", "resolution_notes": "seen"}
    assert owner.post(f"{DLQ}/entries/{first}/resolve").json()["resolution_notes"] is None
    assert refused(retried(owner, first))[2] == "it is resolved"
    assert [owner.delete(f"{DLQ}/entries/{second}").status_code for _ in range(2)] == [204, 204]
    rows = {
        "": [second, first],
        "?status=resolved": [first],
        "?status=discarded": [second],
        "?status=pending_review": [],
        f"?task_name={WAKE}": [first],
        "?limit=1": [second],
        "?limit=1&offset=1": [first],
        f"?tenant_id={owner.tenant_id}": [second, first],
    }
    for query, expected in rows.items():
        listed = owner.get(f"{DLQ}/entries{query}").json()
        assert [item["dlq_id"] for item in listed["items"]] == expected, query
        assert listed["total"] == (2 if "limit" in query else len(expected))
    assert {owner.get(f"{DLQ}/entries?{bad}").status_code for bad in ("limit=0", "limit=101", "status=x")} == {422}
    lines = [(action, resource) for action, resource, _, _ in events(stack, owner)]
    assert lines == [("dead_letter.resolved", first)] * 2 + [("dead_letter.discarded", second)]


def test_health_goes_by_what_waits(stack: Stack, owner: Member) -> None:
    def stats() -> tuple[Any, ...]:
        body = owner.get(f"{DLQ}/stats").json()
        return body["total_failures"], body["pending_entries"], body["by_task"], body["health"]

    assert stats() == (0, 0, {}, "healthy")
    buried(stack, owner, "mail.send", status="resolved")
    assert stats() == (1, 0, {"mail.send": 1}, "healthy")
    for count, health in ((1, "warning"), (9, "warning"), (1, "critical")):
        for _ in range(count):
            buried(stack, owner)
        assert stats()[3] == health
    assert stats() == (12, 11, {"mail.send": 1, WAKE: 11}, "critical")
    response = owner.post(f"{DLQ}/report")
    assert (response.status_code, response.json()["pending_entries"]) == (200, 11)
    ((action, _, email, details),) = events(stack, owner)
    assert (action, email, details["health"]) == ("dead_letter.reported", owner.email, "critical")
    response = owner.get("/api/v1/activity").json()["items"][0]
    assert response["description"] == f"A report of the dead letters was made by {owner.email}."


# Who sees them --------------------------------------------------------------------------------------------------------


def test_who_sees_which(stack: Stack, owner: Member, stranger: Member) -> None:
    """A tenant's admins their own.

    Who runs the deployment all, and acts in the tenant whose entry it is.
    """
    operator = register(stack.url)
    slug = operator.get("/api/v1/admin/tenant").json()["slug"]
    mine, theirs, home = (buried(stack, who) for who in (owner, stranger, operator))
    assert [item["dlq_id"] for item in owner.get(f"{DLQ}/entries").json()["items"]] == [mine]
    calls = [("GET", ""), ("POST", "/retry"), ("POST", "/resolve"), ("DELETE", "")]
    assert {owner.http.request(verb, f"{DLQ}/entries/{theirs}{rest}").status_code for verb, rest in calls} == {404}
    assert owner.get(f"{DLQ}/entries?tenant_id={stranger.tenant_id}").json()["total"] == 0
    analyst = owner.invite("analyst")
    assert analyst.get(f"{DLQ}/stats").status_code == 403

    with stack.another_api(CUSHION_SYSTEM_API_KEY=SYSTEM, CUSHION_OPERATOR_TENANTS=slug) as url:
        token = {"Authorization": operator.http.headers["Authorization"]}
        credentials = {"system": {"X-API-Key": SYSTEM}, operator.email: token}
        for email, headers in credentials.items():
            with httpx.Client(base_url=url, headers=headers, timeout=60) as http:

                def seen(query: str, **more: str) -> set[str]:
                    items = http.get(f"{DLQ}/entries?limit=100{query}", headers=more).json()["items"]
                    return {item["dlq_id"] for item in items}

                assert seen("") >= {mine, theirs, home}
                assert mine in seen(f"&tenant_id={owner.tenant_id}")
                assert not seen(f"&tenant_id={owner.tenant_id}") & {theirs, home}
                assert seen("", **{"X-Tenant-ID": stranger.tenant_id}) == {theirs}
                assert seen(f"&tenant_id={owner.tenant_id}", **{"X-Tenant-ID": stranger.tenant_id}) == set()
                assert http.get(f"{DLQ}/stats").json()["total_failures"] >= 3
                assert http.post(f"{DLQ}/report").status_code == 200
                entry, key = buried(stack, owner), {"Idempotency-Key": uuid4().hex}
                responses = [http.post(f"{DLQ}/entries/{entry}/retry", headers=key) for _ in range(2)]
                assert [answer.status_code for answer in responses] == [200, 200]
                assert responses[0].json() == responses[1].json()
                sql = "SELECT tenant_id::text, asked_by ->> 'user_email' FROM jobs WHERE id = %s"
                assert stack.sql(sql, [responses[0].json()["retry_task_id"]]) == [(owner.tenant_id, email)]
                assert http.delete(f"{DLQ}/entries/{entry}").status_code == 204
                lines = [(action, by) for action, _, by, _ in events(stack, owner)]
                assert lines[-2:] == [("dead_letter.retried", email), ("dead_letter.discarded", email)]
    body = owner.get(f"{DLQ}/entries/{mine}").json()
    assert body["status"] == "pending_review"


def test_texts_hold_no_secret() -> None:
    settings = Settings(
        secret_key="k" * 40,
        database_url="postgresql://cushion:pa%20ss@host/db",
        redis_url="redis://:hush@host",
        llm_api_key="sk-model",
    )
    text = f"{'k' * 40} postgresql://cushion:pa%20ss@host/db 'pa ss' hush sk-model https://who:what@where.example/x"
    assert without_secrets(text, settings) == "*** *** '***' *** *** https://who:***@where.example/x"
