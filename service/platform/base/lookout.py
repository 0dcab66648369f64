"""Looks beside the requests whether a service is there, so that no request tries it, waits for it, or blames it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from service.platform.base.breaker import Breaker
from service.platform.base.problem import Away


class Lookout:
    """The looks behind a breaker: somebody's failure is a reason for one, and only what a look finds moves the breaker.

    A failure may have reasons of its own, some of them a tenant's. While the breaker is not closed one look follows the
    other, with its pauses between them.
    """

    def __init__(
        self,
        breaker: Breaker,
        look: Callable[[], Awaitable[None]],
        *,
        seconds: float,
        failures: tuple[type[Exception], ...],
        opened: Callable[[], None] = lambda: None,
    ) -> None:
        """`look` raises one of `failures` where the service is not there, or takes longer than `seconds`; `opened` is
        told of each look that found it so."""
        self._breaker = breaker
        self._look = look
        self._seconds = seconds
        self._failures: tuple[type[Exception], ...] = (TimeoutError, *failures)
        self._opened = opened
        self._looking: asyncio.Task[None] | None = None

    def check(self) -> None:
        """See that calls may go out.

        Raises:
            Away: the service is.
        """
        if not self._breaker.is_closed:
            raise self.refusal()

    def refusal(self) -> Away:
        """What a caller reads whose call does not go out; it is counted."""
        self._breaker.reject()
        self.suspect()
        return Away(self._breaker.retry_after_seconds)

    def suspect(self) -> None:
        """Have a look soon: somebody did not get what they asked the service for."""
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    async def _run(self) -> None:
        breaker = self._breaker
        try:
            while True:
                if not breaker.is_closed:
                    await asyncio.sleep(breaker.seconds_left)
                passed, answered = breaker.enter(), breaker.successes
                try:
                    async with asyncio.timeout(self._seconds):
                        await self._look()
                except self._failures as error:
                    if breaker.successes == answered:  # else it is there, and takes only nobody new
                        breaker.failed(passed, type(error).__name__)
                except BaseException:
                    breaker.abandoned(passed)
                    raise
                else:
                    breaker.succeeded(passed)
                if breaker.is_closed:
                    return
                self._opened()
        finally:
            self._looking = None
