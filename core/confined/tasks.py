"""Confined work for the tasks of an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Run a function that takes `stop` in a thread.

    Cancelling the task sets it and waits for the function's end.
    """
    stop = threading.Event()
    keywords["stop"] = stop
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments, **keywords))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([work])
        work.exception()  # seen: the cancellation is what the caller hears of
        raise
