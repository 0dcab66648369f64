"""Health's queries."""

from __future__ import annotations

from msgspec import Struct

from service.platform.context import Context


class _Depth(Struct):
    queue: str
    depth: int


async def queue_depths(ctx: Context) -> dict[str, int]:
    """Jobs that wait, by queue; a queue where none waits is absent."""
    rows = await ctx.all(_Depth, "SELECT queue, depth FROM queue_depths()")
    return {row.queue: row.depth for row in rows}
