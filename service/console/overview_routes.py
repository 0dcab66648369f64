"""The endpoint of the console's first screen."""

from __future__ import annotations

from service.console import overview_store as store
from service.console.overview_schema import OverviewDeal
from service.platform.route.api import Area, Listing
from service.platform.unit.context import Context

area = Area("/api/v1/console", tag="console", scope="compliance")


@area.get("/overview", lags=True)
async def get_overview(ctx: Context) -> Listing[OverviewDeal]:
    """Every deal with its newest figures and the fails and thinnest cushions of its last six months."""
    found = await store.overview(ctx)
    return Listing(found, len(found))
