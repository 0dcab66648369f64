"""Expiry: rows by age, evidence by retention, tenants after their grace."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from msgspec import Struct

from service.platform.base.problem import Problem
from service.platform.base.secrets import new_id
from service.platform.config import Settings
from service.platform.unit.context import Resources, Subject, Unit

PAUSE_SECONDS = 30
SELDOM_SECONDS: Final = 3_600
"""Between looks at all runs and tenants: a tenth of a second of 100,000 runs."""
MOST_AT_A_TIME = 10_000
"""So that no statement runs into its time limit, however much has piled up."""
RUNS_AT_A_TIME: Final = 100
"""Each is an entry of the audit log."""
TENANTS_AT_A_TIME: Final = 100
SECONDS_MAX: Final = 600
"""For one statement over all records of a tenant."""
ERASED: Final = "erased"
"""Stands for everybody of a tenant that is emptied."""

log = structlog.get_logger()


class RetentionRule(NamedTuple):
    """How a table grows, and what bounds it."""

    by: str
    """The function of FORGETTING that prunes it, or what else removes its rows."""
    days: str
    """The setting that says how long, or the time itself."""
    why: str


_OWN: Final = RetentionRule(
    "its user, or the tenant's end", "while it is there", "users make it, within a limit of their number"
)
_WITH: Final = "with its {}"
KEPT: Final[dict[str, RetentionRule]] = {
    "alert_deliveries": RetentionRule("forget_alert_history", "alert_history_days", "goes with its trigger"),
    "alert_figures": RetentionRule("forget_alert_figures", "alert_history_days", "trends look back so far"),
    "alert_history": RetentionRule("forget_alert_history", "alert_history_days", "a year of triggers can be compared"),
    "alerts": _OWN,
    "api_keys": RetentionRule("the tenant's end", "while it is there", "says who could call; a rotation adds one"),
    "audit_heads": RetentionRule("forget_tenant", "as audit_log", "one row a tenant"),
    "audit_log": RetentionRule(
        "forget_tenant", "without an end", "the proof of all else; old years can be moved, none is dropped"
    ),
    "batch_items": RetentionRule(
        "forget_tenant", "while its tenant is there", "proves the runs of a batch, which have no entries of their own"
    ),
    "batches": RetentionRule("forget_tenant", "while its tenant is there", "as its items; the result file expires"),
    "blobs": RetentionRule(
        "cleanup", "storage_pause_seconds", "while a record names the bytes, or evidence needs them"
    ),
    "calls": RetentionRule("tell_calls", "calls_together_seconds", "then they are an entry of the audit log"),
    "compliance_runs": RetentionRule(
        "expired_runs", "the stream's retention", "evidence; without a stream or profile it stays"
    ),
    "dead_letters": RetentionRule(
        "forget_dead_letters", "dead_letter_days", "settled ones; one that waits for somebody stays"
    ),
    "deal_definitions": RetentionRule("its deal", _WITH.format("deal"), "runs and readers go by every version"),
    "deals": _OWN,
    "deployment": RetentionRule("nothing", "for good", "one row"),
    "documents": RetentionRule(
        "forget_documents", "export_days", "bytes go when they expire, the row with its export or report"
    ),
    "event_numbers": RetentionRule("forget_event_numbers", "7 days", "nothing of a process is on its way after that"),
    "evidence_books": RetentionRule(
        "forget_tenant", "while its tenant is there", "a few kB each; bytes go with their last run"
    ),
    "evidence_sheets": RetentionRule("forget_tenant", "while its tenant is there", "goes with its book"),
    "exports": RetentionRule("forget_exports", "export_days", "an exported file is verified by its record"),
    "formula_configs": _OWN,
    "formula_runs": RetentionRule(
        "forget_formula_runs", "formula_run_days", "what it did is in the workbook and the audit log"
    ),
    "formula_versions": RetentionRule(
        "its configuration", _WITH.format("configuration"), "the newest one is built on them"
    ),
    "idempotency_keys": RetentionRule(
        "forget_idempotency_keys", "idempotency_seconds", "nobody repeats a request later"
    ),
    "insight_questions": RetentionRule("forget_insight_questions", "insight_days", "a year can be looked up"),
    "insight_sessions": RetentionRule("forget_insight_sessions", "insight_days", "a year can be looked up"),
    "insights": RetentionRule("forget_insight_sessions", "insight_days", "goes with its session"),
    "invitations": RetentionRule(
        "forget_invitations", "invitation_days", "accepted ones; an open one goes with its user"
    ),
    "jobs": RetentionRule("drop_partitions", "job_days", "what a job did is in the records that it wrote"),
    "known_origins": RetentionRule(
        "forget_origins", "origin_days", "ten of a user at most; an old one vouches for nobody"
    ),
    "mappings": _OWN,
    "migrations": RetentionRule("nothing", "for good", "one row a migration"),
    "nominations": _OWN,
    "notifications": RetentionRule("drop_partitions", "notification_days", "nobody reads older ones"),
    "password_resets": RetentionRule("forget_password_resets", "1 day", "a late request is told what happened"),
    "reconciliation_counts": RetentionRule("its tape", _WITH.format("tape"), "counts of the issues"),
    "reconciliation_issues": RetentionRule(
        "its tape", _WITH.format("tape"), "a trustee's month, with what users said of it"
    ),
    "reconciliations": RetentionRule("the tenant's end", "while it is there", "the record of a comparison"),
    "recovery_codes": RetentionRule("its user", "while it is there", "ten of a user"),
    "reports": RetentionRule("forget_reports", "export_days", "holds the run that it shows"),
    "revocations": RetentionRule("forget_revocations", "1 hour", "after the last token that it concerns"),
    "scenario_trades": RetentionRule("its scenario", _WITH.format("scenario"), "a limit bounds them"),
    "scenarios": _OWN,
    "sessions": RetentionRule("forget_sessions", "1 day", "after its last token; the audit log tells of logins"),
    "sheets": RetentionRule("its workbook", _WITH.format("workbook"), "what a run was read from"),
    "stream_profiles": RetentionRule(
        "its user, or the tenant's end", "while it is there", "says how long evidence stays"
    ),
    "switches": RetentionRule("nothing", "for good", "one row"),
    "tapes": RetentionRule("the tenant's end", "while it is there", "what a comparison was made of"),
    "tenant_usage": RetentionRule("forget_usage", "usage_months", "a few rows a month"),
    "tenants": RetentionRule("finish_tenant", "for good", "after its end without its name"),
    "thresholds": _OWN,
    "users": RetentionRule(
        "erase_person, forget_tenant", "for good", "records name them; an erased one has a token for a name"
    ),
    "webhook_deliveries": RetentionRule("drop_partitions", "webhook_log_days", "the log of what was sent"),
    "webhook_queues": RetentionRule("its webhook", _WITH.format("webhook"), "one row a webhook"),
    "webhooks": _OWN,
    "workbook_files": RetentionRule("its workbook", _WITH.format("workbook"), "what a run was read from"),
    "workbooks": RetentionRule(
        "the tenant's end", "while it is there", "a deleted one is hidden, since runs and the look back name it"
    ),
}
"""Every table of the schema: what prunes it, how long its rows stay, and why so."""

FORGETTING: Final = (
    "SELECT expire_documents(%(most)s)",
    "SELECT forget_alert_figures(%(alert_history_days)s, %(most)s)",
    "SELECT forget_alert_history(%(alert_history_days)s, %(most)s)",
    "SELECT forget_dead_letters(%(dead_letter_days)s, %(most)s)",
    "SELECT forget_event_numbers(%(most)s)",
    "SELECT forget_exports(%(export_days)s, %(most)s)",
    "SELECT forget_reports(%(export_days)s, %(most)s)",
    "SELECT forget_documents(%(export_days)s, %(most)s)",
    "SELECT forget_formula_runs(%(formula_run_days)s, %(most)s)",
    "SELECT forget_idempotency_keys(%(most)s)",
    "SELECT forget_insight_questions(%(insight_days)s, %(most)s)",
    "SELECT forget_insight_sessions(%(insight_days)s, %(most)s)",
    "SELECT forget_invitations(%(invitation_days)s, %(most)s)",
    "SELECT forget_origins(%(origin_days)s, %(most)s)",
    "SELECT forget_password_resets(%(most)s)",
    "SELECT forget_revocations(%(most)s)",
    "SELECT forget_sessions(%(most)s)",
    "SELECT forget_usage(%(usage_months)s, %(most)s)",
    "SELECT make_partitions()",
    "SELECT drop_partitions('jobs', %(job_days)s, %(most)s)",
    "SELECT drop_partitions('notifications', %(notification_days)s, %(most)s)",
    "SELECT drop_partitions('webhook_deliveries', %(webhook_log_days)s, %(most)s)",
)
"""Each deletes what has expired of one kind, of every tenant; a figure is the setting of its name."""


async def expire_forever(resources: Resources, stopping: asyncio.Event) -> None:
    """Remove what is too old until the process stops, through failures."""
    loop, seldom_at = asyncio.get_running_loop(), 0.0
    while not stopping.is_set():
        for statement in FORGETTING:
            try:
                while not stopping.is_set() and await _forgotten(resources, statement) == MOST_AT_A_TIME:
                    pass
            except Problem as error:  # a lock that did not come, too
                log.warning("expiry.failed", statement=statement, error=type(error).__name__)
        is_due = loop.time() >= seldom_at
        seldom_at = loop.time() + SELDOM_SECONDS if is_due else seldom_at
        for work in (expire_runs, end_tenants) if is_due else ():
            try:
                await work(resources, stopping)
            except Exception as error:
                log.warning("expiry.failed", statement=work.__name__, error=repr(error))
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), PAUSE_SECONDS)


async def _forgotten(resources: Resources, statement: str) -> int:
    settings = resources.settings
    figures = {name: getattr(settings, name) for name in Settings.__struct_fields__ if f"%({name})s" in statement}
    async with resources.database.transaction() as tx:
        return int(await tx.fetch_value(statement, {**figures, "most": MOST_AT_A_TIME}))


# Evidence whose retention is over -------------------------------------------------------------------------------------


class _Tenant(Struct):
    tenant_id: UUID


class _Expired(Struct):
    id: UUID
    stream_key: str | None
    until: datetime


async def expire_runs(resources: Resources, stopping: asyncio.Event) -> None:
    """Remove runs that `expired_runs` names; the audit log has an entry for each."""
    async with resources.database.transaction() as tx:
        tenants = await tx.fetch_all(_Tenant, "SELECT * FROM tenants_with_expired_runs(%s)", [TENANTS_AT_A_TIME])
    for tenant in tenants:
        while not stopping.is_set() and await _find_expired(resources, tenant.tenant_id) == RUNS_AT_A_TIME:
            pass


async def _find_expired(resources: Resources, tenant_id: UUID) -> int:
    unit = _unit(resources, tenant_id)
    try:
        gone = await unit.fetch_all(
            _Expired,
            """
            WITH due AS (SELECT * FROM expired_runs LIMIT %s)
            DELETE FROM compliance_runs r USING due WHERE r.tenant_id = due.tenant_id AND r.id = due.id
            RETURNING r.id, due.stream_key, due.until
            """,
            [RUNS_AT_A_TIME],
        )
        for run in gone:
            details = {"stream_key": run.stream_key, "retention_until": run.until}
            await unit.audit("compliance.run_expired", Subject("compliance_run", str(run.id), None, details))
        await unit.commit()
    except BaseException as error:
        await unit.rollback(error)
        raise
    return len(gone)


# The end of a tenant --------------------------------------------------------------------------------------------------


class _Ended(Struct):
    tenant_id: UUID
    is_emptied: bool


async def end_tenants(resources: Resources, stopping: asyncio.Event) -> None:
    """Remove what cancelled tenants have left after their grace; evidence later."""
    settings = resources.settings
    async with resources.database.transaction() as tx:
        figures = [settings.tenant_grace_days, TENANTS_AT_A_TIME]
        ended = await tx.fetch_all(_Ended, "SELECT * FROM ended_tenants(%s, %s)", figures)
    for tenant in ended:
        if tenant.is_emptied:
            while not stopping.is_set() and await _value(resources, tenant.tenant_id, "SELECT forget_tenant(%s)"):
                pass
            continue
        while not stopping.is_set() and await _value(resources, tenant.tenant_id, "SELECT empty_tenant(%s)"):
            pass
        if not stopping.is_set():
            await _finish(resources, tenant.tenant_id)


async def _value(resources: Resources, tenant_id: UUID, statement: str) -> int:
    async with resources.database.transaction(tenant_id) as tx:
        return int(await tx.fetch_value(statement, [MOST_AT_A_TIME]))


async def _finish(resources: Resources, tenant_id: UUID) -> None:
    """Erase all names of a tenant that has nothing but evidence, and log that."""
    unit = _unit(resources, tenant_id)
    try:
        await redact(unit, None, None)
        years = max(resources.settings.retention_floors.values(), default=0)
        await unit.execute("SELECT set_config('statement_timeout', %s, true)", [f"{SECONDS_MAX}s"])
        await unit.execute("SELECT finish_tenant(%s)", [years])
        await unit.audit("tenant.emptied", Subject("tenant", str(tenant_id), ERASED))
        await unit.commit()
    except BaseException as error:
        await unit.rollback(error)
        raise
    await resources.caller_cache.drop_tenant(tenant_id)


def _unit(resources: Resources, tenant_id: UUID) -> Unit:
    return Unit(resources, tenant_id, request_id=f"upkeep-{new_id().hex}")


REDACTED_AT_A_TIME: Final = 2_000
"""Entries under one lock of the chain; the entry about them names at most as many."""


async def redact(unit: Unit, person: UUID | None, email: str | None, *, after: int = 0) -> int:
    """Replace a person, or everybody without one, by a token in the audit log.

    Each part is committed. Returns the number of the last entry that was looked at.
    """
    while True:
        parameters = [person, email, after, REDACTED_AT_A_TIME]
        last = await unit.fetch_value("SELECT redact_audit(%s, %s, %s, %s)", parameters)
        await unit.commit()
        if last is None:
            return after
        after = int(last)
