"""Alerts' queries: their records, and the history that is read of them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from service.alerts.schema import AlertItem, AlertList, AlertNotFound, AlertRow, Trigger
from service.platform.route.api import Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page
from service.platform.unit.records import Records

alerts = Records("alerts", AlertRow, missing=AlertNotFound, touch="version = version + 1")

_ITEM = columns_of(AlertItem)


async def read_page(ctx: Context, query: AlertList) -> Page[AlertItem]:
    """Return a page of alerts, the newest first."""
    filters = {"workbook_id": query.workbook_id, "alert_type": query.alert_type, "enabled": query.enabled}
    return await fetch_page(ctx, AlertItem, _ITEM, "alerts WHERE true", filters, query, order="created_at DESC, id")


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
    """Return the last triggers of an alert, the newest first."""
    return await unit.fetch_all(
        Trigger,
        f"SELECT {_TRIGGER} FROM alert_history h WHERE alert_id = %s ORDER BY triggered_at DESC, id LIMIT %s",
        [alert_id, most],
    )


async def strangers(ctx: Context, user_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these are no active users of the tenant."""
    sql = "SELECT array_agg(id) FROM users WHERE id = ANY (%s) AND status = 'active'"
    return set(user_ids) - set(await ctx.fetch_value(sql, [list(user_ids)]) or ())


async def unknown_tests(ctx: Context, test_ids: Sequence[str]) -> list[str]:
    """Return which of these tests the definition of no deal has."""
    unknown = await ctx.fetch_value(
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
    return unknown or []
