"""The metrics on the API's own port, where a setting allows it.

They tell everybody what the service is busy with.
"""

from __future__ import annotations

import asyncio

from service.platform.base.problem import NotFound
from service.platform.route.api import Area, Raw
from service.platform.unit.context import Context
from service.platform.work.exposition import CONTENT_TYPE, PATH, exposition_of

area = Area("", tag="health", in_maintenance=True)


@area.get(PATH, access="public", limited=False, media_type="text/plain", errors=(NotFound,), summary="Read metrics")
async def metrics(ctx: Context) -> Raw:
    """Give what all processes of this machine count and time, for Prometheus.

    It is 404 unless `CUSHION_METRICS_ON_API` is on.
    """
    exposition = ctx.resources.once(exposition_of) if ctx.settings.metrics_on_api else None
    if exposition is None:
        raise NotFound
    return Raw(await asyncio.to_thread(exposition.text), CONTENT_TYPE)
