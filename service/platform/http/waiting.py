"""A status read with `?wait=`: it waits without a connection to the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from service.platform.data.announcements import Announcements
from service.platform.http.admission import admit_again
from service.platform.route.api import Route
from service.platform.unit.context import Context, Resources

Receive = Callable[[], Awaitable[Any]]


async def read_and_wait(ctx: Context, route: Route, arguments: dict[str, Any], receive: Receive) -> Any:
    """Return the answer once its state has changed, is final, or the time is over.

    The caller is looked at again after each pause, and the record is read under their tenant like by any other read.

    Raises:
        Problem: as the handler, or the caller may no longer call the route.
    """
    waits = route.waits
    assert waits is not None
    end = time.monotonic() + arguments["query"].wait
    announcements = ctx.resources.once(announcements_of)
    headers = len(ctx.answer_headers)
    with announcements.place(ctx.tenant, waits.key(str(arguments[waits.record]))) as woken:
        answer = await route.handler(ctx, **arguments)
        if woken is None or not waits.is_moving(answer):
            return answer
        first = waits.states(answer)
        ctx.rights = ctx.let_in_by  # from here on each commit asks whether the caller still has them
        left = asyncio.create_task(_wait_until_left(receive))
        try:
            while (seconds := end - time.monotonic()) > 0 and not ctx.resources.stopping.is_set():
                await _pause(ctx, woken, left, min(seconds, waits.look_seconds))
                if left.done():
                    break
                await admit_again(ctx, route)
                del ctx.answer_headers[headers:]
                answer = await route.handler(ctx, **arguments)
                if waits.states(answer) != first or not waits.is_moving(answer):
                    break
        finally:
            left.cancel()
        return answer


async def _pause(ctx: Context, woken: asyncio.Event, left: asyncio.Task[None], seconds: float) -> None:
    """Wait for a change, the caller's leaving, or so long, without a transaction."""
    await ctx.commit()
    began = time.perf_counter()
    change = asyncio.ensure_future(woken.wait())
    try:
        await asyncio.wait((change, left), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        change.cancel()
        ctx.waited_seconds += time.perf_counter() - began
    woken.clear()  # before the record is read: what changes from now on is another wake


async def _wait_until_left(receive: Receive) -> None:
    """Return when the caller has left, or what is read of them is no longer of use."""
    with suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


def announcements_of(resources: Resources) -> Announcements:
    """Return the announcements of a process, for `Resources.once`."""
    settings = resources.settings
    assert settings.database_url is not None
    return Announcements(
        settings.database_url,
        resources.stopping,
        tenant_waiters=settings.tenant_waiters,
        statement_seconds=settings.statement_seconds,
    )
