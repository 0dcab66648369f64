"""What becomes of a batch: runs, counts, results, refusals, alerts, and what the audit log proves."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections.abc import Callable, Coroutine
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pyarrow.parquet
import pytest

from core.batch.table import COLUMNS
from service.alerts import evaluation_actions
from service.batches import jobs
from service.batches.actions import LANES
from service.compliance.lookback_store import digest_entries
from service.compliance.store import lock_of
from service.platform.unit.context import Unit
from tests.conftest import Member, Stack, wait_until
from tests.forks import cushion
from tests.rows import every
from tests.service.batches.conftest import G1_NOTES, RUN, URL, WriteBook, asked, batched, ended, history, rows_of
from tests.service.webhooks.conftest import Receiver, hooked, log_of, receiver  # noqa: F401 - a fixture

HISTORY = "SELECT count(*) FROM compliance_runs WHERE tenant_id = %s"


def within(stack: Stack, member: Member, work: Callable[[Unit], Coroutine[Any, Any, Any]], **settings: str) -> None:
    """Do a worker's job in this process, with settings of its own."""

    async def do() -> None:
        async with stack.resources(**settings) as opened:
            unit = Unit(opened, UUID(member.tenant_id), request_id="test")
            try:
                await work(unit)
                await unit.commit()
            except BaseException as error:
                await unit.rollback(error)
                raise

    asyncio.run(do())


def laned(batch: dict[str, Any], lane: int = 0) -> dict[str, Any]:
    return {"batch_id": batch["id"], "lane": lane}


def number(text: str) -> float | None:
    return float(text) if text else None


# Results ----------------------------------------------------------------------------------------------------------


def test_each_workbook_has_the_run_that_it_would_have_alone(owner: Member, book_ids: list[str]) -> None:
    options = {
        "test_suite": "enhanced",
        "test_ids": ["wal", "ccc_bucket_pct", "oc_ratio", "average_rating_factor"],
        "thresholds": [{"test_id": "ccc_bucket_pct", "threshold_value": 2.5}],
        "definition": "us_bsl",
        "as_of": "2026-02-28",
    }
    alone = owner.post(RUN, json={"workbook_id": book_ids[0], **options})
    assert alone.status_code == 200, alone.text
    batch = batched(owner, workbook_ids=book_ids, **options)
    assert batch["status"] == "completed", batch
    for book_id in book_ids:
        newest = history(owner, book_id)[0]
        run = owner.get(f"/api/v1/compliance/results/{newest['id']}").json()
        for own_name in ("id", "workbook_id", "executed_at", "execution_time_ms", "execution_time_us"):
            run[own_name] = alone.json()[own_name]
        assert run == alone.json()


def test_rows_have_the_figures_of_the_runs_in_the_order_of_the_request(
    owner: Member, book_ids: list[str], g1_file: Path
) -> None:
    order = [book_ids[2], book_ids[0], book_ids[1]]
    batch = batched(owner, workbook_ids=order, name="Month end")
    rows = rows_of(owner, batch)
    assert tuple(rows[0]) == COLUMNS
    deals = list(dict.fromkeys(row["deal"] for row in rows))
    assert deals == ["Pool 2", "Pool 0", "Pool 1"]
    content_hash = hashlib.sha256(g1_file.read_bytes()).hexdigest()
    run = owner.get(f"/api/v1/compliance/results/{history(owner, order[0])[0]['id']}").json()
    of_first = [row for row in rows if row["deal"] == "Pool 2"]
    assert len(of_first) == len(run["results"]) + len(run["skipped"])
    for row, result in zip(of_first, run["results"], strict=False):
        names = (result["test_id"], result["test_name"], result["status"])
        assert (row["test_id"], row["test"], row["status"]) == names
        for column, field in (
            ("value", "current_value"),
            ("limit", "threshold_value"),
            ("cushion", "cushion"),
            ("cushion_pct", "cushion_pct"),
        ):
            assert number(row[column]) == result[field], (column, row)
        assert (row["message"], row["limit_source"]) == (result["message"], result["threshold_source"])
        assert (row["as_of"], row["as_of_source"], row["suite"], row["step"]) == (
            run["as_of"],
            run["as_of_source"],
            "standard",
            "suite",
        )
        assert (row["files"], row["sha256"]) == ("g1.xlsx", content_hash)
    for row, skipped in zip(of_first[len(run["results"]) :], run["skipped"], strict=True):
        assert (row["test_id"], row["status"], row["message"]) == (skipped["test_id"], "skipped", skipped["reason"])


def test_each_format_has_the_same_rows(owner: Member, book_ids: list[str]) -> None:
    by_format = {form: batched(owner, workbook_ids=book_ids, format=form) for form in ("csv", "jsonl", "parquet")}
    files = {form: owner.get(f"{URL}/{batch['id']}/results") for form, batch in by_format.items()}
    kinds = {"jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet"}
    for form, kind in kinds.items():
        assert files[form].headers["content-type"] == kind
        assert f'.{form}"' in files[form].headers["content-disposition"]
    lines = [json.loads(line) for line in files["jsonl"].text.splitlines()]
    table = pyarrow.parquet.read_table(io.BytesIO(files["parquet"].content)).to_pylist()
    assert [row | {"as_of": row["as_of"].isoformat()} for row in table] == lines
    assert isinstance(table[0]["as_of"], date)
    from_csv = rows_of(owner, by_format["csv"])
    assert [(row["deal"], row["test_id"], number(row["value"])) for row in from_csv] == [
        (row["deal"], row["test_id"], row["value"]) for row in lines
    ]


def test_deals_go_by_their_current_workbooks_and_definitions(
    owner: Member, deal_id: str, g1_file: Path, book_ids: list[str]
) -> None:
    own = {"tests": [{"id": "own_ccc", "name": "Own CCC", "measure": "ccc", "agency": "a", "max": 8.0}]}
    answer = owner.put(f"/api/v1/deals/{deal_id}/definition", json={"definition": own})
    assert answer.status_code == 200, answer.text
    newest = owner.uploaded(g1_file, deal_id=deal_id, as_of="2026-03-31")
    older = owner.uploaded(g1_file, deal_id=deal_id, as_of="2026-02-28")
    empty = owner.post("/api/v1/deals", json={"name": "Without a month"}).json()["id"]
    batch = batched(owner, deal_ids=[empty, deal_id], test_suite="deal")
    assert batch["name"] == "deal, 2 deals"
    assert (batch["counts"]["done"], batch["counts"]["refused"]) == (1, 1)
    assert [len(history(owner, book["id"])) for book in (newest, older)] == [1, 0]
    first, *others = rows_of(owner, batch)
    assert (first["deal"], first["status"], first["step"], first["message"]) == (
        "Without a month",
        "refused",
        "read",
        jobs.NO_WORKBOOK,
    )
    assert [(row["test_id"], number(row["limit"]), row["limit_source"]) for row in others] == [
        ("own_ccc", 8.0, "definition")
    ]
    refused = batched(owner, workbook_ids=[newest["id"], book_ids[0]], definition="us_bsl")
    reasons = [row["message"] for row in rows_of(owner, refused) if row["status"] == "refused"]
    assert reasons == ["Validation error: the workbook belongs to a deal, and is run by the deal's definition"]


def test_a_workbook_that_is_still_read_is_waited_for(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    stack.sql("UPDATE workbooks SET status = 'processing' WHERE id = %s", [book_ids[0]])
    batch = asked(owner, workbook_ids=book_ids).json()
    wait_until(lambda: _counts(owner, batch)["done"] == len(book_ids) - 1)
    assert _counts(owner, batch)["refused"] == 0
    stack.sql("UPDATE workbooks SET status = 'ready' WHERE id = %s", [book_ids[0]])
    assert ended(owner, batch["id"])["counts"]["done"] == len(book_ids)


def _counts(owner: Member, batch: dict[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = owner.get(f"{URL}/{batch['id']}").json()["counts"]
    return counts


def test_a_workbook_that_cannot_be_run_is_a_row_and_no_end(
    stack: Stack, owner: Member, book_ids: list[str], write_book: WriteBook, deal_id: str, g1_file: Path
) -> None:
    no_loans = owner.uploaded(write_book("no_loans", Tranches=G1_NOTES))["id"]
    of_deal = owner.uploaded(g1_file, deal_id=deal_id, as_of="2026-03-31")["id"]
    stack.sql("UPDATE workbooks SET status = 'recalculating' WHERE id = %s", [book_ids[0]])
    sql = "UPDATE workbooks SET status = 'error', book_key = NULL, error_message = 'It is no workbook.' WHERE id = %s"
    broken = owner.uploaded(g1_file)["id"]
    stack.sql(sql, [broken])
    with stack.without_worker():
        batch = asked(owner, workbook_ids=[*book_ids, no_loans, broken]).json()
        of_deals = asked(owner, deal_ids=[deal_id]).json()
        stack.sql("UPDATE batches SET started_at = now() - interval '10 minutes' WHERE id = %s", [batch["id"]])
        assert owner.delete(f"/api/v1/workbooks/{book_ids[1]}").status_code == 204
        assert owner.delete(f"/api/v1/deals/{deal_id}").status_code == 204
    batch = ended(owner, batch["id"])
    assert batch["status"] == "completed"
    rows = [row for row in rows_of(owner, batch) if row["status"] == "refused"]
    assert [row["message"] for row in rows[:2]] == ["The workbook is not ready: it is recalculating.", jobs.GONE]
    assert [row["step"] for row in rows[:2]] == ["read", "read"]
    assert rows[-1]["message"] == "It is no workbook."
    assert batch["counts"]["refused"] == len(rows)
    assert batch["counts"]["done"] == 5 - len(rows)
    gone = rows_of(owner, ended(owner, of_deals["id"]))
    assert [row["message"] for row in gone] == [jobs.GONE]
    assert history(owner, of_deal) == []


def test_damaged_bytes_are_a_row_and_are_reported(stack: Stack, owner: Member, write_book: WriteBook) -> None:
    rows = [("LoanX ID", "Issuer Name", "Par Amount"), ("LX1", f"Only {uuid4().hex}", 5e6)]
    book_id = owner.uploaded(write_book(f"damaged_{uuid4().hex[:8]}", Holdings=rows))["id"]
    ((blob,),) = stack.sql("SELECT blob_key FROM sheets WHERE workbook_id = %s", [book_id])
    path = stack.data_dir / "blobs" / blob[:2] / blob
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-8] + bytes(8))
    batch = batched(owner, workbook_ids=[book_id])
    assert (batch["status"], batch["counts"]["refused"]) == ("completed", 1)
    (row,) = rows_of(owner, batch)
    assert row["message"].startswith("Stored data is damaged"), row
    wait_until(
        lambda: owner.get(f"/api/v1/workbooks/{book_id}").json()["status"] == "error", what="the check of the blob"
    )


# Jobs that are done again ---------------------------------------------------------------------------------------------


def test_a_job_that_is_done_again_runs_no_workbook_twice(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    """As after the death of a worker behind its last commit; at last both lanes order one result file."""
    with stack.without_worker():
        batch = asked(owner, workbook_ids=book_ids).json()
        for lane in (0, 0, *range(LANES), 0):
            within(stack, owner, lambda unit, lane=lane: jobs.run(unit, laned(batch, lane)))  # type: ignore[misc]
        assert stack.sql(HISTORY, [owner.tenant_id]) == [(3,)]
        ordered = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND name = %s"
        assert stack.sql(ordered, [owner.tenant_id, jobs.WRITE]) == [(1,)]
        state = owner.get(f"{URL}/{batch['id']}").json()
        assert (state["status"], state["progress"], state["counts"]["done"]) == ("running", 100, 3)
    assert ended(owner, batch["id"])["status"] == "completed"
    assert stack.sql(HISTORY, [owner.tenant_id]) == [(3,)]


def test_a_job_gives_its_place_away(
    stack: Stack, owner: Member, book_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("WORKBOOKS_A_JOB", 1), ("SECONDS_A_JOB", 0.0)):
        with stack.without_worker(), monkeypatch.context() as patch:
            patch.setattr(jobs, name, value)
            batch = asked(owner, workbook_ids=book_ids).json()
            within(stack, owner, lambda unit: jobs.run(unit, laned(batch)))  # noqa: B023 - called at once
            assert owner.get(f"{URL}/{batch['id']}").json()["counts"]["done"] == 1
            waiting = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND name = 'batches.run' AND status = 'pending'"
            assert stack.sql(waiting, [owner.tenant_id])[0][0] >= 1
        assert ended(owner, batch["id"])["counts"]["done"] == 3


def test_a_workbook_that_ends_its_worker_is_passed_over(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    with stack.without_worker():
        batch = asked(owner, workbook_ids=book_ids).json()
        within(stack, owner, lambda unit: jobs.run(unit, laned(batch, 1)))  # which sets it running
        waiting = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND name = 'batches.run' AND status = 'pending'"
        for attempts, orders in ((0, 3), (3, 4)):  # one whose turn has just come is not to blame
            stack.sql(
                "UPDATE batch_items SET attempts = %s WHERE position = 0 AND batch_id = %s", [attempts, batch["id"]]
            )
            within(stack, owner, lambda unit: jobs.pass_over(unit, laned(batch), "WorkerLost"))
            assert stack.sql(waiting, [owner.tenant_id]) == [(orders,)]
            assert owner.get(f"{URL}/{batch['id']}").json()["counts"]["refused"] == attempts // 3
    done = ended(owner, batch["id"])
    assert (done["status"], done["counts"]["done"], done["counts"]["refused"]) == ("completed", 2, 1)
    refused = [row for row in rows_of(owner, done) if row["status"] == "refused"]
    assert [(row["deal"], row["message"]) for row in refused] == [("Pool 0", jobs.FAULT)]


def test_somebody_elses_run_is_waited_for(
    stack: Stack, owner: Member, book_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = lock_of(UUID(owner.tenant_id), UUID(book_ids[0]))
    monkeypatch.setattr(jobs, "BUSY_SECONDS", 1.0)
    with stack.without_worker():
        batch = asked(owner, workbook_ids=book_ids[:1]).json()
        with psycopg.connect(stack.database_url) as runner:
            runner.execute("SELECT pg_advisory_xact_lock(%s::bigint)", [lock])
            within(stack, owner, lambda unit: jobs.run(unit, laned(batch)))
    rows = rows_of(owner, ended(owner, batch["id"]))
    assert [(row["status"], row["message"]) for row in rows] == [("refused", "Test already running")]


def test_a_cancellation_stops_a_batch_within_a_workbook(
    stack: Stack, owner: Member, book_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled while a workbook is run: that run is not kept."""
    real = jobs.compliance.run_and_keep

    async def cancelled_meanwhile(unit: Unit, *args: Any, **options: Any) -> Any:
        kept = await real(unit, *args, **options)
        await asyncio.to_thread(lambda: owner.delete(f"{URL}/{batch['id']}").raise_for_status())
        return kept

    with stack.without_worker():
        batch = asked(owner, workbook_ids=book_ids).json()
        monkeypatch.setattr(jobs.compliance, "run_and_keep", cancelled_meanwhile)
        within(stack, owner, lambda unit: jobs.run(unit, laned(batch)))
    assert stack.sql(HISTORY, [owner.tenant_id]) == [(0,)]
    assert owner.get(f"{URL}/{batch['id']}").json()["counts"]["done"] == 0


# The end --------------------------------------------------------------------------------------------------------------

FULL: list[tuple[dict[str, str], str]] = [
    ({"CUSHION_MAX_STORAGE_GB": "0 0 0 0"}, "Storage limit exceeded. The limit is 0 GB of stored files.")
]


@every("settings, reason", FULL)
def test_a_file_without_room_fails_the_batch_and_keeps_its_runs(
    stack: Stack, shared_owner: Member, g1_file: Path, settings: dict[str, str], reason: str
) -> None:
    book_id = shared_owner.uploaded(g1_file)["id"]
    with stack.without_worker():
        batch = asked(shared_owner, workbook_ids=[book_id]).json()
        within(stack, shared_owner, lambda unit: jobs.run(unit, laned(batch)))
        within(stack, shared_owner, lambda unit: jobs.write(unit, {"batch_id": batch["id"]}), **settings)
    failed = ended(shared_owner, batch["id"])
    assert (failed["status"], failed["error_details"], failed["download_url"]) == ("failed", reason, None)
    assert len(history(shared_owner, book_id)) == 1
    refusal = shared_owner.get(f"{URL}/{batch['id']}/results")
    assert (refusal.status_code, refusal.json()["errors"][0]["message"]) == (409, "the batch is failed")
    sql = "SELECT action FROM audit_log WHERE resource_id = %s ORDER BY sequence"
    assert stack.sql(sql, [batch["id"]]) == [("batch.created",), ("batch.failed",)]


def test_a_file_that_is_never_written_fails_the_batch(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    with stack.without_worker():
        batch = asked(owner, workbook_ids=book_ids).json()
        within(stack, owner, lambda unit: jobs.mark_failed(unit, {"batch_id": batch["id"]}, "OSError"))
    failed = ended(owner, batch["id"])
    assert (failed["status"], failed["error_details"]) == ("failed", jobs.FAILED)


def looked_at(stack: Stack, who: Member) -> None:
    sql = """
        SELECT 1 FROM jobs WHERE tenant_id = %s AND name LIKE 'alerts.%%' AND name <> 'alerts.deliver'
        AND status IN ('pending', 'queued', 'running')
    """
    wait_until(lambda: not stack.sql(sql, [who.tenant_id]), what="the end of the looks")


def test_alerts_fire_once_at_the_end(stack: Stack, owner: Member, deal_id: str, g1_file: Path) -> None:
    """Once for a deal, by its newest workbook, though three of its months are run."""
    months = [owner.uploaded(g1_file, deal_id=deal_id, as_of=f"2026-0{month}-28")["id"] for month in (1, 2, 3)]
    alone = owner.uploaded(g1_file)["id"]
    alert = {
        "name": "CCC",
        "alert_type": "threshold",
        "conditions": {"metric": "ccc_bucket_pct", "operator": "gt", "value": 7.5},
        "channels": [{"type": "in_app", "config": {"user_ids": [owner.user_id]}}],
        "cooldown_minutes": 0,
    }
    answer = owner.post("/api/v1/alerts/configure", json=alert)
    assert answer.status_code == 201, answer.text
    triggers = "SELECT workbook_id::text FROM alert_history WHERE tenant_id = %s ORDER BY triggered_at"
    with stack.without_worker():
        batch = asked(owner, workbook_ids=[*months, alone]).json()
        for lane in range(LANES):
            within(stack, owner, lambda unit, lane=lane: jobs.run(unit, laned(batch, lane)))  # type: ignore[misc]
        looks = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND name LIKE 'alerts.%%'"
        assert stack.sql(HISTORY, [owner.tenant_id]) == [(4,)]
        assert stack.sql(looks, [owner.tenant_id]) == [(0,)], "no run of a batch has alerts evaluated"
    assert ended(owner, batch["id"])["status"] == "completed"
    looked_at(stack, owner)
    assert sorted(book for (book,) in stack.sql(triggers, [owner.tenant_id])) == sorted([months[-1], alone])
    sql = "SELECT count(*) FROM jobs WHERE tenant_id = %s AND name = %s"
    assert stack.sql(sql, [owner.tenant_id, "alerts.evaluate_batch"]) == [(1,)]
    assert stack.sql(sql, [owner.tenant_id, "alerts.evaluate"]) == [(2,)]


def test_many_looks_are_ordered_some_at_a_time(
    stack: Stack, owner: Member, book_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batched(owner, workbook_ids=book_ids)
    alert = {
        "name": "CCC",
        "alert_type": "threshold",
        "conditions": {"metric": "ccc_bucket_pct", "operator": "gt", "value": 7.5},
        "channels": [{"type": "in_app", "config": {"user_ids": [owner.user_id]}}],
    }
    assert owner.post("/api/v1/alerts/configure", json=alert).status_code == 201
    monkeypatch.setattr(evaluation_actions, "BATCH_RUNS_AT_A_TIME", 2)
    with stack.without_worker():
        within(stack, owner, lambda unit: evaluation_actions.after_batch(unit, UUID(batch["id"]), -1))
        sql = "SELECT name, arguments ->> 'after' FROM jobs WHERE tenant_id = %s AND name LIKE 'alerts.%%' ORDER BY 1"
        assert stack.sql(sql, [owner.tenant_id]) == [
            ("alerts.evaluate", None),
            ("alerts.evaluate", None),
            ("alerts.evaluate_batch", "1"),
        ]
    looked_at(stack, owner)
    sql = "SELECT count(*) FROM alert_history WHERE tenant_id = %s"
    assert stack.sql(sql, [owner.tenant_id]) == [(3,)]


# The audit log --------------------------------------------------------------------------------------------------------


def test_one_entry_stands_for_all_runs(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    batch = batched(owner, workbook_ids=book_ids)
    sql = "SELECT action, user_email, resource_name, details FROM audit_log WHERE tenant_id = %s AND action LIKE %s"
    assert stack.sql(sql, [owner.tenant_id, "compliance.%"]) == []
    (created, completed) = stack.sql(f"{sql} ORDER BY sequence", [owner.tenant_id, "batch.%"])
    assert created == (
        "batch.created",
        owner.email,
        "standard, 3 workbooks",
        {"test_suite": "standard", "total": 3, "format": "csv", "by": "workbook_ids"},
    )
    items = stack.sql("SELECT run_id, entry FROM batch_items WHERE batch_id = %s ORDER BY position", [batch["id"]])
    assert completed == (
        "batch.completed",
        owner.email,
        "standard, 3 workbooks",
        {
            "test_suite": "standard",
            **batch["counts"],
            "evidence": digest_entries(items),
            "file_size": batch["file_size_bytes"],
        },
    )
    assert {json.loads(entry)["workbook_id"] for _, entry in items} == set(book_ids)
    events = owner.get("/api/v1/compliance/lookback", params={"event_category": "batch", "include_proof": True}).json()
    assert [item["event_type"] for item in events["items"]] == ["batch.completed", "batch.created"]
    assert events["chain"]["verified"] is True
    assert [item["proof"]["evidence_verified"] for item in events["items"]] == [True, None]
    stack.sql("UPDATE batch_items SET entry = entry || ' ' WHERE batch_id = %s AND position = 1", [batch["id"]])
    events = owner.get("/api/v1/compliance/lookback", params={"event_category": "batch", "include_proof": True}).json()
    assert (events["chain"]["verified"], events["items"][0]["proof"]["evidence_verified"]) == (False, False)


def test_what_a_batch_did_is_found_by_run_and_by_stream(owner: Member, stranger: Member, book_ids: list[str]) -> None:
    key = "deal:internal:batched"
    assert owner.patch(f"/api/v1/workbooks/{book_ids[1]}", json={"stream_key": key}).status_code == 200
    batch = batched(owner, workbook_ids=book_ids)
    owner.post(RUN, json={"workbook_id": book_ids[0]})
    of_batch = owner.get("/api/v1/compliance/history", params={"batch_id": batch["id"]}).json()
    assert sorted(run["workbook_id"] for run in of_batch["items"]) == sorted(book_ids)
    assert stranger.get("/api/v1/compliance/history", params={"batch_id": batch["id"]}).json()["total"] == 0
    run_id = history(owner, book_ids[2])[0]["id"]
    both = ["batch.completed", "batch.created"]
    for query, expected in (
        ({"subject_id": run_id}, both),
        ({"subject_id": batch["id"]}, both),
        ({"stream_key": key}, [*both, "workbook.updated", "workbook.uploaded"]),
        ({"stream_key": "deal:internal:none"}, []),
        ({"subject_id": str(uuid4())}, []),
    ):
        events = owner.get("/api/v1/compliance/lookback", params=query).json()
        assert [item["event_type"] for item in events["items"]] == expected, query


def verified(stack: Stack, owner: Member) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of a replay of all the tenant's runs, and its lines."""
    answer = cushion("lookback", "verify", "--tenant", owner.tenant_id, "--json", environment=stack.environment)
    return answer.returncode, [json.loads(line) for line in answer.stdout.splitlines()]


def test_a_replay_proves_each_run_and_finds_each_tampering(stack: Stack, owner: Member, book_ids: list[str]) -> None:
    """Of a batch that was completed, one that was cancelled, and one that still runs."""
    batched(owner, workbook_ids=book_ids)
    with stack.without_worker():
        halves = [asked(owner, workbook_ids=book_ids).json() for _ in range(2)]
        for half in halves:
            within(stack, owner, lambda unit, half=half: jobs.run(unit, laned(half)))  # type: ignore[misc]
        assert owner.delete(f"{URL}/{halves[0]['id']}").status_code == 204
        code, lines = verified(stack, owner)
        runs = [line["run"] for line in lines if "run" in line]
        assert (code, [run["status"] for run in runs]) == (0, ["reproduced"] * 5), lines
        run_id = runs[0]["run_id"]
        for change, back, words in (
            (
                "UPDATE compliance_runs SET as_of = as_of + 1 WHERE id = %s",
                "UPDATE compliance_runs SET as_of = as_of - 1 WHERE id = %s",
                "is not the one that its entry has the hash of",
            ),
            (
                "UPDATE batch_items SET entry = entry || ' ' WHERE run_id = %s",
                "UPDATE batch_items SET entry = rtrim(entry) WHERE run_id = %s",
                "the runs of the batch are not those that its entry has the hash of",
            ),
            (
                "UPDATE batch_items SET position = position + 100 WHERE run_id = %s",
                "UPDATE batch_items SET position = position - 100 WHERE run_id = %s",
                "the runs of the batch are not those",
            ),
        ):
            stack.sql(change, [run_id])
            code, lines = verified(stack, owner)
            assert (code, any(words in json.dumps(line) for line in lines)) == (1, True), (change, lines)
            stack.sql(back, [run_id])
        entry = stack.sql("SELECT entry FROM batch_items WHERE run_id = %s", [run_id])[0][0]
        sql = "UPDATE batch_items SET status = %s, run_id = %s, entry = %s, step = %s, reason = %s WHERE {} = %s"
        stack.sql(sql.format("run_id"), ["refused", None, None, "suite", "x", run_id])
        code, lines = verified(stack, owner)
        unnamed = [line["run"] for line in lines if line.get("run", {}).get("run_id") == run_id]
        assert (code, unnamed[0]["reason"]) == (1, "no entry of the chain tells of it")
        values = ["done", run_id, entry, None, None, json.loads(entry)["workbook_id"]]
        stack.sql(f"{sql.format('workbook_id')} AND reason = 'x'", values)
        assert verified(stack, owner)[0] == 0


def test_webhooks_hear_of_the_end_alone(owner: Member, book_ids: list[str], receiver: Receiver) -> None:  # noqa: F811
    webhook = hooked(owner, receiver.url("/200"), "compliance.completed", "batch.completed")
    batch = batched(owner, workbook_ids=book_ids)
    (delivery,) = wait_until(lambda: log_of(owner, webhook), what="the delivery")
    assert (delivery["event"], delivery["payload"]["type"]) == ("batch.completed", "batch.completed")
    data = delivery["payload"]["data"]
    assert (data["resource_id"], data["details"]["total"]) == (batch["id"], 3)
