"""What has had its time is forgotten, and nothing else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from service.platform.config import Settings
from service.platform.unit.context import Actor, Resources, Subject, Unit
from service.platform.work.expiry import FORGETTING, KEPT, end_tenants, expire_forever, expire_runs
from tests.service.platform.conftest import Apart


async def _once(resources: Resources) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(expire_forever(resources, asyncio.Event()), 2)


def test_what_expired_goes_and_what_lives_stays(clean: Apart) -> None:
    tenant = clean.tenant()
    user = clean.user(tenant)
    for hours in (-48, -1, 1):
        age = f"{hours} hours"
        clean.sql(
            """
            INSERT INTO sessions (tenant_id, id, user_id, refresh_jti, generation, expires_at)
            VALUES (%s, %s, %s, %s, 0, now() + %s::interval)
            """,
            [tenant, uuid4(), user, uuid4(), age],
        )
        clean.sql(
            """
            INSERT INTO password_resets (tenant_id, id, user_id, token_hash, expires_at)
            VALUES (%s, %s, %s, %s, now() + %s::interval)
            """,
            [tenant, uuid4(), user, uuid4().bytes, age],
        )
        clean.sql(
            """
            INSERT INTO idempotency_keys (tenant_id, caller, key_hash, request_hash, claim, claimed_until, expires_at)
            VALUES (%s, 'user', %s, '', %s, now(), now() + %s::interval)
            """,
            [tenant, uuid4().bytes, uuid4(), age],
        )
        clean.sql(
            "INSERT INTO revocations (tenant_id, kind, subject, expires_at) "
            "VALUES (%s, 'session', %s, now() + %s::interval)",
            [tenant, uuid4(), f"{hours * 2} hours"],
        )
    for number, days in enumerate((366, 364)):
        clean.sql(
            """
            INSERT INTO insight_sessions (tenant_id, id, user_id, stakeholder_type, subjects, warnings, created_at)
            VALUES (%s, %s, %s, 'analyst', '[]', '[]', now() - make_interval(days => %s))
            """,
            [tenant, f"ses_{number}", user, days],
        )
        clean.sql(
            """
            INSERT INTO insights (tenant_id, id, session_id, number, workbook_ids, category, title, summary, confidence,
                                  priority, methodology, supporting_data, answered_by)
            VALUES (%s, %s, %s, 0, '{}', 'data_quality', '', '', 1, 1, '', '{}', '')
            """,
            [tenant, f"ins_{number}", f"ses_{number}"],
        )
        clean.sql(
            """
            INSERT INTO insight_questions (tenant_id, id, user_id, question, answer, details, asked_at)
            VALUES (%s, %s, %s, '', '', '{}', now() - make_interval(days => %s))
            """,
            [tenant, uuid4(), user, days],
        )
    clean.run(_once)

    def left(table: str) -> int:
        count: int = clean.sql(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", [tenant])[0][0]
        return count

    # A session and a reset stay for a day, so that a late request is told what happened to them.
    expected = {
        "sessions": 2,
        "password_resets": 2,
        "idempotency_keys": 1,
        "revocations": 1,
        "insight_sessions": 1,
        "insights": 1,
        "insight_questions": 1,
    }
    assert {table: left(table) for table in expected} == expected


def test_every_table_is_known_with_what_prunes_it(clean: Apart) -> None:
    tables = clean.sql(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND relnamespace = 'public'::regnamespace"
    )
    assert sorted(KEPT) == sorted(name for (name,) in tables)
    called = " ".join(FORGETTING)
    for table, kept in KEPT.items():
        if kept.by.startswith(("forget_alert", "forget_d", "forget_e", "drop_")):
            assert kept.by in called, table
        if kept.days.endswith(("_days", "_months", "_seconds")):
            assert kept.days in Settings.__struct_fields__, table


EXPIRING = {
    "dead_letters": (
        "INSERT INTO dead_letters (tenant_id, id, original_task_id, task_name, queue, arguments, exception_type,"
        " exception_message, traceback, retries_attempted, failed_at, status)"
        " VALUES (%(tenant)s, %(id)s, 'x', 'x', 'default', '{}', 'X', '', '', 0, %(at)s, %(state)s)",
        [(91, "resolved"), (91, "retried"), (91, "discarded"), (89, "resolved"), (900, "pending_review")],
        2,
    ),
    "known_origins": (
        "INSERT INTO known_origins (tenant_id, user_id, origin, seen_at)"
        " VALUES (%(tenant)s, %(user)s, decode(replace(%(id)s::text, '-', ''), 'hex'), %(at)s)",
        [(367, ""), (365, "")],
        1,
    ),
    "invitations": (
        "INSERT INTO invitations (tenant_id, id, user_id, token_hash, expires_at, accepted_at, created_by)"
        " VALUES (%(tenant)s, %(id)s::text::uuid, %(user)s, decode(replace(%(id)s::text, '-', ''), 'hex'),"
        " %(at)s::timestamptz,"
        " CASE WHEN %(state)s::text = 'accepted' THEN %(at)s::timestamptz END, '')",
        [(91, "accepted"), (89, "accepted"), (900, "open")],
        2,
    ),
    "tenant_usage": (
        "INSERT INTO tenant_usage (tenant_id, month, name, amount)"
        " VALUES (%(tenant)s, to_char(%(at)s::timestamptz, 'YYYY-MM'), %(state)s, 1)",
        [(38 * 31, "calls"), (35 * 30, "calls")],
        1,
    ),
    "documents": (
        "INSERT INTO documents (tenant_id, id, name, media_type, size_bytes, blob_key, created_at, expires_at)"
        " VALUES (%(tenant)s, %(id)s, '', '', 1, NULLIF(%(state)s, ''), %(at)s, now() + interval '1 day')",
        [(1828, ""), (1826, ""), (1828, "kept")],
        2,
    ),
}
"""How a row comes in, rows by age in days and state, and how many of them stay."""


@pytest.fixture
def expired(clean: Apart) -> tuple[Apart, UUID]:
    tenant = clean.tenant()
    user = clean.user(tenant)
    for insert, rows, _ in EXPIRING.values():
        for days, state in rows:
            at = datetime.now(UTC) - timedelta(days=days)
            clean.sql(insert, {"tenant": tenant, "user": user, "id": str(uuid4()), "at": at, "state": state})
    clean.run(_once)
    return clean, tenant


def test_what_is_settled_goes_after_its_days(expired: tuple[Apart, UUID]) -> None:
    apart, tenant = expired
    stay = {name: kept for name, (_, _, kept) in EXPIRING.items()}
    assert {name: _count(apart, name, tenant) for name in stay} == stay


def _count(apart: Apart, table: str, tenant: UUID) -> int:
    return int(apart.sql(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", [tenant])[0][0])


# Evidence -------------------------------------------------------------------------------------------------------------


def _profile(apart: Apart, tenant: UUID, stream: str, days: int | None) -> None:
    apart.sql(
        "INSERT INTO stream_profiles (tenant_id, id, stream_key, retention_mode,"
        " profile_metadata, created_by, created_at,"
        " updated_at, effective_retention_until) VALUES (%s, %s, %s, 'fixed_years', '{}',"
        " 'ann@example.com', now(), now(),"
        " now() + make_interval(days => %s))",
        [tenant, uuid4(), stream, days],
    )


def _workbook(apart: Apart, tenant: UUID, *, deleted: bool = False) -> UUID:
    workbook = uuid4()
    apart.sql(
        "INSERT INTO workbooks (tenant_id, id, name, file_name, file_size, content_hash,"
        " status, sheet_count, created_by,"
        " deleted_at) VALUES (%s, %s, '', '', 1, %s, 'ready', 1, 'ann@example.com', CASE WHEN %s THEN now() END)",
        [tenant, workbook, workbook.hex, deleted],
    )
    apart.sql("INSERT INTO blobs (tenant_id, key, size_bytes) VALUES (%s, %s, 1)", [tenant, workbook.hex])
    return workbook


def _run(
    apart: Apart, tenant: UUID, workbook: UUID, stream: str | None, *, age: int = 0, partial: bool = False
) -> UUID:
    run = uuid4()
    book = "INSERT INTO evidence_books (tenant_id, key, manifest) VALUES (%s, '', '{}') ON CONFLICT DO NOTHING"
    apart.sql(book, [tenant])
    apart.sql(
        "INSERT INTO compliance_runs (tenant_id, id, workbook_id, test_suite, status,"
        " summary, results, skipped, executed_at,"
        " execution_time_ms, workbook_hash, book_key, mapping, thresholds, options, engine_version, as_of, stream_key,"
        " created_by) VALUES (%s, %s, %s, 'x', 'completed', '{}', '[]', '[]', now() -"
        " make_interval(days => %s), 1, '', '',"
        " '{}', '[]', json_build_object('partial', %s), '1', now(), %s, 'ann@example.com')",
        [tenant, run, workbook, age, partial, stream],
    )
    return run


def test_a_run_goes_when_its_retention_is_over_and_never_before(clean: Apart) -> None:
    tenant = clean.tenant()
    for stream, days in (("over", -1), ("kept", 1), ("open", None)):
        _profile(clean, tenant, stream, days)
    live, deleted = _workbook(clean, tenant), _workbook(clean, tenant, deleted=True)
    stay = {_run(clean, tenant, deleted, stream, age=9_000) for stream in ("kept", "open", "unknown", None)}
    stay.add(_run(clean, tenant, live, "over", age=1))  # the newest of a workbook that is there
    stay.add(_run(clean, tenant, live, "over", age=0, partial=True))  # which does not take its place
    shown = _run(clean, tenant, deleted, "over")
    clean.sql(
        "INSERT INTO reports (tenant_id, id, report_type, format, filename, workbook_id, run_id, options, created_by)"
        " VALUES (%s, %s, 'compliance', 'pdf', '', %s, %s, '{}', '')",
        [tenant, uuid4(), deleted, shown],
    )
    gone = {_run(clean, tenant, live, "over", age=1, partial=True)}
    gone |= {_run(clean, tenant, live, "over", age=2), _run(clean, tenant, deleted, "over")}

    def left() -> set[UUID]:
        return {run for (run,) in clean.sql("SELECT id FROM compliance_runs WHERE tenant_id = %s", [tenant])}

    assert left() == stay | gone | {shown}
    clean.run(lambda shared: expire_runs(shared, asyncio.Event()))
    assert left() == stay | {shown}
    rows = clean.sql(
        "SELECT resource_id FROM audit_log WHERE tenant_id = %s AND action = 'compliance.run_expired'", [tenant]
    )
    assert {UUID(run) for (run,) in rows} == gone
    clean.sql("DELETE FROM reports WHERE tenant_id = %s", [tenant])
    clean.run(lambda shared: expire_runs(shared, asyncio.Event()))
    assert left() == stay


def test_a_cancelled_tenant_keeps_its_evidence_for_as_long_as_it_must(clean: Apart) -> None:
    """Through all of it.

    The grace, what goes then, the end of each retention, and the chain last.
    """
    tenant, second = clean.tenant(), clean.tenant()
    person = clean.user(tenant)
    clean.user(second)
    _profile(clean, tenant, "long", 9_000)
    evidence, unprofiled, _ = (_workbook(clean, tenant) for _ in range(3))
    _run(clean, tenant, evidence, "long")
    _run(clean, tenant, unprofiled, None)
    clean.sql(
        "INSERT INTO deals (tenant_id, id, name, currency, home_countries, created_by) VALUES"
        " (%s, %s, 'd', 'USD', '{}', '')",
        [tenant, uuid4()],
    )
    clean.sql(
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments) VALUES (%s, %s, 'default', 'x', '{}')",
        [tenant, uuid4().hex],
    )

    async def happen(shared: Resources) -> None:
        unit = Unit(shared, tenant, request_id="x", asked_by=Actor(user_id=person, user_email="ann@example.com"))
        await unit.audit("user.updated", Subject("user", str(person), "ann@example.com", {"to": ["bob@example.com"]}))
        await unit.commit()

    clean.run(happen)

    def end() -> None:
        clean.run(lambda shared: end_tenants(shared, asyncio.Event()))
        clean.run(lambda shared: expire_runs(shared, asyncio.Event()))
        clean.run(lambda shared: end_tenants(shared, asyncio.Event()))

    def left() -> tuple[int, ...]:
        tables = ("compliance_runs", "workbooks", "deals", "jobs", "stream_profiles", "users")
        return tuple(_count(clean, name, tenant) for name in tables)

    def kept() -> set[str]:
        return {key for (key,) in clean.sql("SELECT key FROM named_blobs WHERE tenant_id = %s", [tenant])}

    def cancelled(days: int) -> None:
        clean.sql(
            "UPDATE tenants SET status = 'cancelled', cancelled_at = now() - make_interval(days => %s) WHERE id = %s",
            [days, tenant],
        )

    end()
    assert left() == (2, 3, 1, 1, 1, 1)
    cancelled(29)
    assert clean.sql("SELECT id FROM claim_jobs(100, 60, 10) WHERE tenant_id = %s", [tenant]) == []
    end()
    assert left() == (2, 3, 1, 1, 1, 1)
    cancelled(31)
    end()
    assert left() == (2, 2, 0, 0, 1, 1)
    assert kept() == {evidence.hex, unprofiled.hex}
    texts = str(clean.sql("SELECT * FROM audit_log WHERE tenant_id = %s", [tenant]))
    texts += str(clean.sql("SELECT * FROM users WHERE tenant_id = %s", [tenant]))
    texts += str(clean.sql("SELECT created_by FROM workbooks WHERE tenant_id = %s", [tenant]))
    assert "@example" not in texts
    assert clean.sql(
        "SELECT bool_and(coalesce(a.redacted, a.hash) = audit_hash(coalesce(p.hash,"
        " decode(repeat('00', 32), 'hex')), a))"
        " FROM audit_log a LEFT JOIN audit_log p ON p.tenant_id = a.tenant_id AND p.sequence = a.sequence - 1"
        " WHERE a.tenant_id = %s",
        [tenant],
    ) == [(True,)]
    clean.sql("UPDATE tenants SET evidence_until = now() - interval '1 day' WHERE id = %s", [tenant])  # years later
    end()
    assert left() == (1, 2, 0, 0, 1, 1)
    assert kept() == {evidence.hex}
    assert _count(clean, "audit_log", tenant) > 0
    clean.sql("UPDATE stream_profiles SET effective_retention_until = now() WHERE tenant_id = %s", [tenant])
    end()
    assert left() == (0, 0, 0, 0, 0, 0)
    assert (_count(clean, "audit_log", tenant), _count(clean, "audit_heads", tenant)) == (0, 0)
    assert clean.sql("SELECT name, status FROM tenants WHERE id = %s", [tenant]) == [("erased", "cancelled")]
    assert _count(clean, "users", second) == 1


GROWING = {
    "jobs": (
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments, created_at, status, finished_at)"
        " VALUES (%(tenant)s, %(id)s, 'default', 'none', '{}', %(made)s, %(status)s, %(ended)s)",
        ("completed", "pending"),
        7,
    ),
    "webhook_deliveries": (
        "INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, message_id, event, payload, created_at, status,"
        " completed_at) VALUES (%(tenant)s, %(id)s, %(id)s, 'msg', 'none', '{}', %(made)s, %(status)s, %(ended)s)",
        ("delivered", "pending"),
        30,
    ),
    "notifications": (
        "INSERT INTO notifications (tenant_id, id, user_id, type, priority, title, message, created_at)"
        " VALUES (%(tenant)s, %(id)s, %(user)s, 'none', 'low', '', '', %(made)s)",
        ("none", "none"),
        90,
    ),
}
"""Of tables that partitions prune: how a row comes into one, its state once it has ended and before, its days."""


@pytest.mark.parametrize("table", sorted(GROWING))
def test_a_partition_goes_once_all_of_it_has_ended_long_enough(clean: Apart, table: str) -> None:
    """Rows of ten spans that nobody made a partition for come into the rest.

    They get partitions, and these go.
    """
    insert, (ended, opened), days = GROWING[table]
    tenant = clean.tenant()
    user = clean.user(tenant)
    clean.sql(f"DROP TABLE IF EXISTS {table}_before")
    now = datetime.now(UTC)

    def put(age: int, status: str) -> None:
        result = now - timedelta(days=age)
        end = None if status == "pending" else result
        value = {"tenant": tenant, "user": user, "id": str(uuid4()), "made": result, "status": status, "ended": end}
        clean.sql(insert, value)

    def ages() -> list[int]:
        rows = clean.sql(f"SELECT created_at FROM {table} WHERE tenant_id = %s ORDER BY 1 DESC", [tenant])
        return [(now - result).days for (result,) in rows]

    def parts() -> set[str]:
        return {
            name
            for (name,) in clean.sql(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [table]
            )
        }

    for age in (0, days - 1, days + 45, days + 90, days + 200):
        put(age, ended)
    if opened == "pending":
        put(days + 201, opened)  # its partition stays, and what else is in it
        put(days + 45, opened)
    ((result,),) = clean.sql("SELECT make_partitions()")
    assert result >= 4
    assert clean.sql(f"SELECT count(*) FROM {table}_rest") == [(0,)]
    known = parts()
    clean.sql("SELECT drop_partitions(%s, %s, 1000)", [table, days])
    assert known - parts()
    kept = [0, days - 1] if opened == "none" else [0, days - 1, days + 45, days + 45, days + 201]
    assert set(ages()) >= set(kept)
    assert days + 90 not in ages()
    if opened == "pending":
        end = "finished_at" if table == "jobs" else "completed_at"
        clean.sql(
            f"UPDATE {table} SET status = %s, {end} = now() - %s::interval WHERE status = 'pending' AND tenant_id = %s",
            [ended, f"{days + 1} days", tenant],
        )
        clean.sql("SELECT drop_partitions(%s, %s, 1000)", [table, days])
        assert ages() == [0, days - 1]


def test_a_lost_race_ends_nothing(clean: Apart) -> None:
    """Whoever deadlocks with upkeep may win: the worker goes on, and tries again."""
    ((definition,),) = clean.sql("SELECT pg_get_functiondef('forget_sessions(integer)'::regprocedure)")
    clean.sql(
        "CREATE OR REPLACE FUNCTION forget_sessions(most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER"
        " SET search_path = pg_catalog, public, pg_temp"
        " AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$"
    )
    try:
        clean.run(_once)
    finally:
        clean.sql(definition)
