"""The endpoint of the console's first screen."""

from __future__ import annotations

from service.console import overview_store as store
from service.console.overview_schema import OverviewDeal
from service.platform.route.api import Area, Listing
from service.platform.unit.context import Context

area = Area("/api/v1/console", tag="console", scope="compliance")


@area.get("/overview", lags=True, summary="Get console overview")
async def get_overview(ctx: Context) -> Listing[OverviewDeal]:
    """Give every deal with its newest figures.

    Fails and thinnest cushions are those of the last six months.
    """
    page = await store.overview(ctx)
    return Listing(page, len(page))
