"""What evaluating alerts reads and writes.

Whom a run concerns, the history of its figures, triggers, schedules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from msgspec import Struct

from service.platform.unit.context import Resources, Unit
from service.platform.unit.records import array_of, to_json

POINTS_MAX: Final = 10_000
"""Figures of each history, the newest: more than one for every five minutes of the longest duration."""
PARTIAL_RUNS_MAX: Final = 20
"""Partial runs, the newest, that are looked through for an alert's tests."""
DUE_MAX: Final = 1_000
"""Schedules that are handed over in one round."""


class AlertWorkbook(Struct, frozen=True, kw_only=True):
    """The workbook whose figures are looked at."""

    workbook_id: UUID
    name: str
    deal_id: UUID | None
    as_of: date | None
    """The day of its figures, where a user said it."""


class EnabledAlert(Struct, frozen=True, kw_only=True):
    """An enabled alert that the figures concern."""

    id: UUID
    version: int
    alert_type: str
    conditions: dict[str, Any]


class LockedAlert(Struct, frozen=True, kw_only=True):
    """An alert whose row this transaction holds."""

    id: UUID
    name: str
    alert_type: str
    cooldown_minutes: int
    last_triggered: datetime | None
    """For an alert of the whole tenant: the last time that this workbook, or its deal, triggered it."""


class PartialRun(Struct, frozen=True):
    """A run of a part of a suite."""

    id: UUID


_NEWEST: Final = """
    (SELECT n.id FROM deal_workbooks n WHERE n.tenant_id = w.tenant_id AND n.deal_id = w.deal_id
     ORDER BY n.day DESC, n.created_at DESC LIMIT 1)
"""


async def workbook_for_alerts(unit: Unit, workbook_id: UUID) -> AlertWorkbook | None:
    """Return a deal's newest workbook for alerts; None if deleted or superseded."""
    return await unit.fetch_one_or_none(
        AlertWorkbook,
        f"""
        SELECT w.id AS workbook_id, w.name, w.deal_id, w.as_of FROM workbooks w
        WHERE w.id = %s AND w.deleted_at IS NULL AND (w.deal_id IS NULL OR w.id = {_NEWEST})
        """,
        [workbook_id],
    )


async def newest_of(unit: Unit, workbook_id: UUID) -> UUID | None:
    """Return the newest workbook of a workbook's deal, itself, or None."""
    uuid: UUID | None = await unit.fetch_value(
        f"""
        SELECT CASE WHEN w.deal_id IS NOT NULL THEN {_NEWEST} WHEN w.deleted_at IS NULL THEN w.id END
        FROM workbooks w WHERE w.id = %s
        """,
        [workbook_id],
    )
    return uuid


async def last_run_workbook(unit: Unit) -> UUID | None:
    """Return the workbook on which the tenant ran a whole suite last."""
    uuid: UUID | None = await unit.fetch_value(
        """
        SELECT r.workbook_id FROM compliance_runs r
        JOIN workbooks w ON w.tenant_id = r.tenant_id AND w.id = r.workbook_id
        WHERE r.status = 'completed' AND NOT r.partial AND w.deleted_at IS NULL ORDER BY r.executed_at DESC LIMIT 1
        """
    )
    return uuid


async def last_suite(unit: Unit, workbook_id: UUID) -> str | None:
    """Return the suite of a workbook's newest run, full runs first."""
    suite: str | None = await unit.fetch_value(
        """
        SELECT test_suite FROM compliance_runs WHERE workbook_id = %s AND status = 'completed'
        ORDER BY partial, executed_at DESC LIMIT 1
        """,
        [workbook_id],
    )
    return suite


async def partial_runs(
    unit: Unit, workbook_id: UUID, since: datetime | None, test_ids: Collection[str], *, other_suite: str
) -> list[PartialRun]:
    """Return later partial runs that may have these tests, newest first.

    They have the tests by name, or are of the suite whose tests may have other names.
    """
    return await unit.fetch_all(
        PartialRun,
        """
        SELECT id FROM compliance_runs
        WHERE workbook_id = %(workbook_id)s AND status = 'completed' AND partial
          AND executed_at > coalesce(%(since)s::timestamptz, '-infinity')
          AND (figures ?& %(test_ids)s::text[] OR test_suite = %(other_suite)s)
        ORDER BY executed_at DESC LIMIT %(most)s
        """,
        {
            "workbook_id": workbook_id,
            "since": since,
            "test_ids": list(test_ids),
            "other_suite": other_suite,
            "most": PARTIAL_RUNS_MAX,
        },
    )


class BatchRun(Struct, frozen=True, kw_only=True):
    """A run of a batch, and whether alerts may concern it."""

    position: int
    workbook_id: UUID
    run_id: UUID
    is_concerned: bool


async def batch_runs(unit: Unit, batch_id: UUID, after: int, most: int) -> list[BatchRun]:
    """Return the runs of a batch behind a position, in order.

    None concerns alerts whose workbook is not the newest of its deal.
    """
    return await unit.fetch_all(
        BatchRun,
        f"""
        SELECT i.position, i.workbook_id, i.run_id, w.deleted_at IS NULL AND (w.deal_id IS NULL OR w.id = {_NEWEST})
               AND EXISTS (SELECT FROM alerts a WHERE a.enabled AND a.alert_type <> 'schedule'
                   AND (a.workbook_id IS NULL OR a.workbook_id = w.id
                        OR a.workbook_id IN (SELECT s.id FROM workbooks s WHERE s.deal_id = w.deal_id))) AS is_concerned
        FROM batch_items i JOIN workbooks w ON w.tenant_id = i.tenant_id AND w.id = i.workbook_id
        WHERE i.batch_id = %s AND i.status = 'done' AND i.position > %s ORDER BY i.position LIMIT %s
        """,
        [batch_id, after, most],
    )


async def alerts_for(unit: Unit, book: AlertWorkbook, *, alert_id: UUID | None = None) -> list[EnabledAlert]:
    """Return the enabled alerts that a workbook's figures concern.

    Its own, those of other workbooks of its deal, and the tenant's; only one of them where it is named.
    """
    return await unit.fetch_all(
        EnabledAlert,
        """
        SELECT id, version, alert_type, conditions FROM alerts
        WHERE enabled AND alert_type <> 'schedule' AND coalesce(id = %(alert_id)s::uuid, true)
          AND (workbook_id IS NULL OR workbook_id = %(workbook_id)s
               OR workbook_id IN (SELECT w.id FROM workbooks w WHERE w.deal_id = %(deal_id)s))
        """,
        {"workbook_id": book.workbook_id, "deal_id": book.deal_id, "alert_id": alert_id},
    )


# History --------------------------------------------------------------------------------------------------------------


class Figure(Struct, frozen=True):
    """What a test gave once."""

    test_id: str
    at: datetime
    day: date
    value: float


_LOOKS: Final = """
    WITH books AS (
        SELECT w.tenant_id, w.id, w.as_of FROM workbooks w
        WHERE w.deleted_at IS NULL AND (w.id = %(workbook_id)s OR w.deal_id = %(deal_id)s)
    ), looks AS (
        SELECT r.executed_at AS at, coalesce(b.as_of, r.as_of) AS day, r.figures
        FROM books b JOIN compliance_runs r ON r.tenant_id = b.tenant_id AND r.workbook_id = b.id
        WHERE r.status = 'completed' AND r.executed_at < %(before)s
        UNION ALL
        SELECT f.at, coalesce(b.as_of, f.as_of), f.figures
        FROM books b JOIN alert_figures f ON f.tenant_id = b.tenant_id AND f.workbook_id = b.id
        WHERE f.at < %(before)s
    )
"""


async def history(unit: Unit, book: AlertWorkbook, since: dict[str, datetime], before: datetime) -> list[Figure]:
    """Return the figures of tests since a moment of each, in order.

    Also the last figure before it. Of a deal, the figures of all its workbooks.
    """
    return await unit.fetch_all(
        Figure,
        f"""
        {_LOOKS}, figures AS (
            SELECT t.test_id, t.since, l.at, l.day, (l.figures -> t.test_id ->> 'value')::float8 AS value
            FROM unnest(%(test_ids)s::text[], %(since)s::timestamptz[]) AS t (test_id, since) JOIN looks l
                ON l.figures ? t.test_id
        ), kept AS (
            (SELECT * FROM figures WHERE at >= since OR day >= (since AT TIME ZONE 'UTC')::date
             ORDER BY at DESC LIMIT %(most)s)
            UNION
            (SELECT DISTINCT ON (test_id) * FROM figures WHERE at < since
             ORDER BY test_id, CASE WHEN %(deal_id)s::uuid IS NOT NULL THEN day END DESC, at DESC)
        )
        SELECT test_id, at, day, value FROM kept WHERE value IS NOT NULL ORDER BY at
        """,
        {
            "workbook_id": book.workbook_id,
            "deal_id": book.deal_id,
            "before": before,
            "test_ids": list(since),
            "since": list(since.values()),
            "most": POINTS_MAX * len(since),
        },
    )


async def last_look(unit: Unit, book: AlertWorkbook, since: datetime | None) -> datetime | None:
    """Return when the workbook was recalculated last, if that was after a moment."""
    moment: datetime | None = await unit.fetch_value(
        """
        SELECT max(f.at) FROM alert_figures f
        WHERE f.workbook_id = %(workbook_id)s AND f.at > coalesce(%(since)s::timestamptz, '-infinity')
        """,
        {"workbook_id": book.workbook_id, "since": since},
    )
    return moment


async def keep_figures(unit: Unit, workbook_id: UUID, at: datetime, as_of: date, figures: dict[str, float]) -> None:
    """Store the figures of a recalculation for later looks."""
    await unit.execute(
        """
        INSERT INTO alert_figures (tenant_id, workbook_id, at, as_of, figures) VALUES (%s, %s, %s, %s, %s)
        ON CONFLICT DO NOTHING
        """,
        [
            unit.tenant,
            workbook_id,
            at,
            as_of,
            to_json({test_id: {"value": value} for test_id, value in figures.items()}),
        ],
    )


# Triggers -------------------------------------------------------------------------------------------------------------


async def lock_alerts(unit: Unit, alert_ids: Iterable[UUID]) -> dict[str, int]:
    """Lock alerts in one order; return the version of each."""
    versions = await unit.fetch_value(
        """
        WITH held AS (SELECT id, version FROM alerts WHERE id = ANY (%s::uuid[]) ORDER BY id FOR NO KEY UPDATE)
        SELECT json_object_agg(id, version) FROM held
        """,
        [array_of(alert_ids)],
    )
    return versions or {}


async def locked_alerts(unit: Unit, alert_ids: Iterable[UUID], book: AlertWorkbook | None) -> list[LockedAlert]:
    """Return the enabled ones of some locked alerts.

    A statement after that of `lock_alerts`, since another transaction may have triggered them before.
    """
    return await unit.fetch_all(
        LockedAlert,
        """
        SELECT a.id, a.name, a.alert_type, a.cooldown_minutes, CASE
            WHEN a.workbook_id IS NOT NULL OR %(workbook_id)s::uuid IS NULL THEN a.last_triggered
            ELSE (SELECT max(h.triggered_at) FROM alert_history h
                  WHERE h.alert_id = a.id AND h.triggered_at > now() - make_interval(mins => a.cooldown_minutes)
                    AND (h.workbook_id = %(workbook_id)s
                         OR h.workbook_id IN (SELECT w.id FROM workbooks w WHERE w.deal_id = %(deal_id)s)))
            END AS last_triggered
        FROM alerts a WHERE a.id = ANY (%(ids)s::uuid[]) AND a.enabled ORDER BY a.id
        """,
        {
            "ids": array_of(alert_ids),
            "workbook_id": None if book is None else book.workbook_id,
            "deal_id": None if book is None else book.deal_id,
        },
    )


async def write_evaluations(unit: Unit, outcomes: Sequence[dict[str, Any]]) -> None:
    """Write outcomes {id, outcome}, unless newer ones are stored."""
    await unit.execute(
        """
        UPDATE alerts a SET last_evaluation = o.outcome
        FROM jsonb_to_recordset(%s::jsonb) AS o (id uuid, outcome jsonb)
        WHERE a.id = o.id AND a.enabled AND coalesce((a.last_evaluation ->> 'figures_at')::timestamptz
                                                     <= (o.outcome ->> 'figures_at')::timestamptz, true)
        """,
        [to_json(list(outcomes))],
    )


async def write_triggers(unit: Unit, triggers: Sequence[dict[str, Any]]) -> None:
    """Write triggers of locked alerts.

    Each has id, alert_id, workbook_id, run_id, triggered_at, metric_value and details.
    """
    rows = to_json(list(triggers))
    await unit.execute(
        """
        INSERT INTO alert_history (tenant_id, id, alert_id, workbook_id, run_id, triggered_at, metric_value, details)
        SELECT %s, h.* FROM jsonb_to_recordset(%s::jsonb) AS h (
            id uuid, alert_id uuid, workbook_id uuid, run_id uuid, triggered_at timestamptz, metric_value float8,
            details jsonb)
        """,
        [unit.tenant, rows],
    )
    await unit.execute(
        """
        UPDATE alerts a SET last_triggered = h.triggered_at, trigger_count = a.trigger_count + 1
        FROM jsonb_to_recordset(%s::jsonb) AS h (alert_id uuid, triggered_at timestamptz) WHERE a.id = h.alert_id
        """,
        [rows],
    )


class ComingLook(Struct, frozen=True):
    """A look that is to come."""

    alert_id: UUID
    at: datetime


async def coming_looks(unit: Unit, workbook_id: UUID) -> list[ComingLook]:
    """Return the looks at a workbook's alerts that are queued."""
    return await unit.fetch_all(
        ComingLook,
        """
        SELECT (arguments ->> 'alert_id')::uuid AS alert_id, min(ready_at) AS at FROM jobs
        WHERE queue = 'default' AND status = 'pending' AND ready_at > now() AND name = 'alerts.look_again'
          AND arguments ->> 'workbook_id' = %s
        GROUP BY 1
        """,
        [str(workbook_id)],
    )


# Schedules ------------------------------------------------------------------------------------------------------------


class DueAlert(Struct, frozen=True, kw_only=True):
    """A schedule whose moment has come."""

    tenant_id: UUID
    id: UUID


class Schedule(Struct, frozen=True, kw_only=True):
    """A schedule whose row this transaction holds."""

    conditions: dict[str, Any]
    cooldown_minutes: int
    last_triggered: datetime | None
    next_at: datetime
    zone: str


async def due(resources: Resources) -> list[DueAlert]:
    """Schedules of all tenants that are due."""
    return await resources.database.look(DueAlert, "SELECT tenant_id, id FROM due_alerts(%s)", [DUE_MAX])


async def take_due(unit: Unit, alert_id: UUID) -> Schedule | None:
    """Hold a schedule that is due; None where another worker has it, or had it."""
    return await unit.fetch_one_or_none(
        Schedule,
        """
        SELECT a.conditions, a.cooldown_minutes, a.last_triggered, a.next_at,
               (SELECT coalesce(t.settings ->> 'timezone', 'UTC') FROM tenants t WHERE t.id = a.tenant_id) AS zone
        FROM alerts a WHERE a.id = %s AND a.next_at <= now() FOR NO KEY UPDATE OF a SKIP LOCKED
        """,
        [alert_id],
    )


async def due_next(unit: Unit, alert_id: UUID, next_at: datetime | None) -> None:
    """Write when a schedule is due next."""
    await unit.execute("UPDATE alerts SET next_at = %s WHERE id = %s", [next_at, alert_id])
