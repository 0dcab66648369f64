"""Alerts' queries: their records, and the history that is read of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from service.alerts.schema import AlertItem, AlertList, AlertNotFound, AlertRow, Trigger
from service.platform.route.api import Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, insert_of, page, set_of

_ITEM = columns_of(AlertItem)
_ROW = ", ".join(name for name in AlertRow.__struct_fields__ if name != "history")
_LOCKED = ("", " FOR UPDATE")


async def lock_count(ctx: Context) -> int:
    """How many alerts the tenant has, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM alerts"))


async def create(ctx: Context, row: dict[str, Any]) -> AlertRow:
    """A new alert."""
    sql = f"{insert_of('alerts', row)} RETURNING {_ROW}"
    return await ctx.one(AlertRow, sql, row, missing=AlertNotFound)


async def get(unit: Unit, alert_id: UUID, *, locked: bool = False) -> AlertRow:
    """An alert; where asked for locked until the transaction ends.

    Raises:
        AlertNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_ROW} FROM alerts WHERE id = %s{_LOCKED[locked]}"
    return await unit.one(AlertRow, sql, [alert_id], missing=AlertNotFound)


async def listed(ctx: Context, query: AlertList) -> Page[AlertItem]:
    """A page of alerts, the newest first."""
    asked = {"workbook_id": query.workbook_id, "alert_type": query.alert_type, "enabled": query.enabled}
    return await page(ctx, AlertItem, _ITEM, "alerts WHERE true", asked, query, order="created_at DESC, id")


async def update(ctx: Context, alert_id: UUID, row: dict[str, Any]) -> AlertRow:
    """Change these columns of an alert, which is another version then."""
    sql = f"UPDATE alerts SET {set_of(row)}, version = version + 1 WHERE id = %(alert_id)s RETURNING {_ROW}"
    return await ctx.one(AlertRow, sql, {**row, "alert_id": alert_id}, missing=AlertNotFound)


async def delete(ctx: Context, alert_id: UUID) -> str:
    """Delete an alert with its history and what still waits to be sent; its name.

    Raises:
        AlertNotFound: there is none of that identifier.
    """
    name = await ctx.value("DELETE FROM alerts WHERE id = %s RETURNING name", [alert_id])
    if name is None:
        raise AlertNotFound
    return str(name)


_SENT = "FROM alert_deliveries d WHERE d.history_id = h.id"
_TRIGGER = columns_of(
    Trigger,
    notifications_sent=f"(SELECT count(*) {_SENT} AND d.status = 'delivered')",
    channels_notified=f"ARRAY(SELECT d.channel {_SENT} AND d.status = 'delivered' ORDER BY d.sequence)",
    deliveries=f"""(SELECT coalesce(json_agg(json_build_object(
        'channel_id', d.channel_id, 'channel', d.channel, 'status', d.status,
        'attempts', jsonb_array_length(d.attempts), 'error', d.error, 'completed_at', d.completed_at)
        ORDER BY d.sequence), '[]') {_SENT})""",
)


async def history(unit: Unit, alert_id: UUID, *, most: int) -> list[Trigger]:
    """The last triggers of an alert, the newest first."""
    return await unit.all(
        Trigger,
        f"SELECT {_TRIGGER} FROM alert_history h WHERE alert_id = %s ORDER BY triggered_at DESC, id LIMIT %s",
        [alert_id, most],
    )


async def strangers(ctx: Context, user_ids: Sequence[UUID]) -> set[UUID]:
    """Which of these are no active users of the tenant."""
    sql = "SELECT array_agg(id) FROM users WHERE id = ANY (%s) AND status = 'active'"
    return set(user_ids) - set(await ctx.value(sql, [list(user_ids)]) or ())


async def unknown_tests(ctx: Context, test_ids: Sequence[str]) -> list[str]:
    """Which of these tests the definition of no deal has."""
    found = await ctx.value(
        """
        SELECT array_agg(asked.id ORDER BY asked.place)
        FROM unnest(%s::text[]) WITH ORDINALITY AS asked (id, place)
        WHERE asked.id NOT IN (
            SELECT coalesce(test ->> 'id', '') FROM deals d
            JOIN deal_definitions f ON f.deal_id = d.id AND f.version = d.definition_version,
            json_array_elements(CASE json_typeof(f.definition -> 'tests') WHEN 'array' THEN f.definition -> 'tests'
                                ELSE '[]' END) AS test)
        """,
        [list(test_ids)],
    )
    return found or []
