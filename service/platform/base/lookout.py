"""Checks a service beside the requests, so that no request waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from service.platform.base.breaker import Breaker
from service.platform.base.problem import Away


class Lookout:
    """The checks behind a breaker: a failure causes one, and only checks move it.

    A failure may have reasons of its own, some of them a tenant's. While the breaker is not closed checks follow each
    other, with pauses between them.
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
        """Check by `look`: it raises one of `failures`, or takes over `seconds`, if away.

        `opened` is called at each check that finds it so.
        """
        self._breaker = breaker
        self._look = look
        self._seconds = seconds
        self._failures: tuple[type[Exception], ...] = (TimeoutError, *failures)
        self._opened = opened
        self._looking: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Refuse a call while the service is away.

        Raises:
            Away: the service is.
        """
        if not self._breaker.is_closed:
            raise self.refusal()

    def refusal(self) -> Away:
        """Return the refusal of a call that does not go out, and count it."""
        self._breaker.reject()
        self.suspect()
        return Away(self._breaker.retry_after_seconds)

    def suspect(self) -> None:
        """Check soon: a call to the service failed."""
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Check no more."""
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
                        breaker.fail(passed, type(error).__name__)
                except BaseException:
                    breaker.abandon(passed)
                    raise
                else:
                    breaker.succeed(passed)
                if breaker.is_closed:
                    return
                self._opened()
        finally:
            self._looking = None
