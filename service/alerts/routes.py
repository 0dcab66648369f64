"""Alerts' rows."""

from __future__ import annotations

from uuid import UUID

from service.alerts import actions, schema, store
from service.alerts.channel_schema import ChannelConfigurationError, InvalidChannelType
from service.platform.route.api import Area, Page, limit_by_user
from service.platform.unit.context import Context
from service.workbooks.schema import WorkbookNotFound

area = Area("/api/v1/alerts", tag="alerts", scope="alerts")

UNFIT = (InvalidChannelType, schema.InvalidConditions, ChannelConfigurationError)


@area.post(
    "/configure",
    status=201,
    errors=(schema.InvalidAlertType, *UNFIT, WorkbookNotFound, schema.AlertLimitExceeded),
    event="alert.created",
    versioned=True,
    summary="Create alert",
)
async def configure_alert(ctx: Context, body: schema.AlertCreate) -> schema.Alert:
    """Watch a workbook, or every workbook of the tenant.

    An alert looks at figures, tests, trends, or the clock. What is secret of a channel is masked from then on.
    """
    return await actions.create(ctx, body)


@area.get()
async def list_alerts(ctx: Context, query: schema.AlertList) -> Page[schema.AlertItem]:
    """List the alerts of the tenant, the newest first."""
    return await store.read_page(ctx, query)


@area.get("/{alert_id}", errors=(schema.AlertNotFound,), versioned=True)
async def get_alert(ctx: Context, alert_id: UUID, query: schema.AlertDetail) -> schema.Alert:
    """Give an alert.

    Its ETag is what If-Match of a change compares. Its last triggers come on request.
    """
    return await actions.detail(ctx, alert_id, query)


@area.patch("/{alert_id}", errors=(schema.AlertNotFound, *UNFIT), event="alert.updated", versioned=True)
async def update_alert(ctx: Context, alert_id: UUID, body: schema.AlertPatch) -> schema.Alert:
    """Change the fields in the body.

    Conditions and channels are replaced as a whole. A mask that is sent back keeps its secret.
    """
    return await actions.update(ctx, alert_id, body)


@area.delete("/{alert_id}", errors=(schema.AlertNotFound,), event="alert.deleted")
async def delete_alert(ctx: Context, alert_id: UUID) -> None:
    """Delete an alert and its history.

    Waiting messages are not sent.
    """
    await actions.delete(ctx, alert_id)


@area.post(
    "/{alert_id}/test",
    errors=(schema.AlertNotFound,),
    event="alert.tested",
    windows=limit_by_user("alert-test", lambda settings: settings.alert_tests_per_minute),
)
async def test_alert(ctx: Context, alert_id: UUID) -> schema.AlertTest:
    """Send a test message through each channel, and say what came of it.

    It is no trigger.
    """
    return await actions.test(ctx, alert_id)
