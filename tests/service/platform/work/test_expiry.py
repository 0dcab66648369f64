"""What has had its time is forgotten, and nothing else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from uuid import uuid4

from service.platform.context import Resources
from service.platform.work.expiry import forget_forever
from tests.service.platform.conftest import Apart


async def _once(resources: Resources) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(forget_forever(resources, asyncio.Event()), 2)


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
    for status, days in (("completed", 8), ("failed", 8), ("running", 8), ("completed", 6)):
        clean.sql(
            """
            INSERT INTO jobs (tenant_id, id, queue, name, arguments, status, finished_at, lease_until)
            VALUES (%s, %s, 'default', 'none', '{}', %s, now() - %s::interval, now() + interval '1 hour')
            """,
            [tenant, uuid4().hex, status, f"{days} days"],
        )
    for days in (31, 29, None):
        clean.sql(
            """
            INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, message_id, event, payload, status, created_at,
                                            completed_at)
            VALUES (%s, %s, %s, 'msg', 'none', '{}', %s, now() - interval '100 days', now() - make_interval(days => %s))
            """,
            [tenant, uuid4(), uuid4(), "failed" if days else "pending", days],
        )
    for days in (91, 89):
        clean.sql(
            """
            INSERT INTO notifications (tenant_id, id, user_id, type, priority, title, message, created_at)
            VALUES (%s, %s, %s, 'none', 'low', '', '', now() - make_interval(days => %s))
            """,
            [tenant, uuid4(), user, days],
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
        "jobs": 2,
        "webhook_deliveries": 2,
        "notifications": 1,
        "insight_sessions": 1,
        "insights": 1,
        "insight_questions": 1,
    }
    assert {table: left(table) for table in expected} == expected


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
