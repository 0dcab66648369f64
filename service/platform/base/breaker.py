"""A circuit breaker: a failing service is left alone until one call succeeds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from typing import Final, Literal

from msgspec import Struct

State = Literal["closed", "open", "half_open"]

NO_PASS: Final = 0
"""What `enter` says where no call may go out."""
PROBE_SECONDS: Final = 60.0
"""After which the one call that tries counts as lost, and another one may."""


class Limits(Struct, frozen=True, kw_only=True):
    """When a breaker opens, and for how long."""

    failures_max: int
    """Failures in a row, no success between them, after which it opens."""
    open_seconds: float
    """How long it stays open at first; twice as long after each further failure."""
    open_seconds_max: float


class BreakerFigures(Struct, frozen=True, kw_only=True):
    """What a breaker has counted in its process."""

    state: State
    successes: int
    failures: int
    rejected: int
    """Calls that were not let out."""
    times_opened: int
    failures_in_row: int
    opened_at: datetime | None
    """When it opened last, while it is not closed."""
    retry_at: datetime | None
    """When the next call may try; None while it is closed."""
    last_failure_at: datetime | None
    last_failure: str | None
    """The kind of the last failure: the name of its class, never its message."""


class Breaker:
    """The state of a service in this process: closed, open, half-open for one call.

    A call asks `enter` for a pass and gives it back by exactly one of `succeeded`, `failed` and `abandoned`. A pass is
    good for the state that it was given in: whatever ends later is counted, and changes no state. Of one event loop,
    so nothing is locked.
    """

    def __init__(
        self,
        service: str,
        limits: Limits,
        *,
        now: Callable[[], float] = time.monotonic,
        changed: Callable[[Breaker, State, State], None] = lambda breaker, before, after: None,
    ) -> None:
        """`changed` is called when it opens and closes, with the states before and after."""
        self.service = service
        self.limits = limits
        self._now = now
        self._changed = changed
        self._epoch = 1
        self._retry_at: float | None = None
        """None while it is closed."""
        self._probe_until: float | None = None
        """While a call tries."""
        self._pause = limits.open_seconds
        self._in_row = 0
        self._counted: set[Hashable] = set()
        """Whom the failures in a row are of."""
        self.successes = self._failures = self._rejected = self._opened = 0
        self._opened_at: datetime | None = None
        self._failed_at: datetime | None = None
        self._kind: str | None = None

    @property
    def is_closed(self) -> bool:
        return self._retry_at is None

    @property
    def state(self) -> State:
        if self._retry_at is None:
            return "closed"
        return "half_open" if self._probe_until is not None or self._now() >= self._retry_at else "open"

    @property
    def seconds_left(self) -> float:
        """Return after how many seconds a call may try."""
        return 0.0 if self._retry_at is None else max(0.0, self._retry_at - self._now())

    @property
    def retry_after_seconds(self) -> int:
        """Return when to come again, in whole seconds, one at least."""
        return max(1, math.ceil(self.seconds_left))

    @property
    def figures(self) -> BreakerFigures:
        """Return what was counted here."""
        retry_at = None
        if self._retry_at is not None:
            retry_at = datetime.fromtimestamp(time.time() + self._retry_at - self._now(), UTC)
        return BreakerFigures(
            state=self.state,
            successes=self.successes,
            failures=self._failures,
            rejected=self._rejected,
            times_opened=self._opened,
            failures_in_row=self._in_row,
            opened_at=self._opened_at,
            retry_at=retry_at,
            last_failure_at=self._failed_at,
            last_failure=self._kind,
        )

    # Calls ------------------------------------------------------------------------------------------------------------

    def enter(self) -> int:
        """Return a pass for one call; `NO_PASS`, which is false, where none may go out."""
        if self._retry_at is None:
            return self._epoch
        now = self._now()
        if now < self._retry_at or (self._probe_until is not None and now < self._probe_until):
            self._rejected += 1
            return NO_PASS
        self._probe_until = now + PROBE_SECONDS
        self._epoch += 1  # a probe that was lost says nothing any more
        return self._epoch

    def reject(self) -> None:
        """Count a call that did not ask for a pass, since the state was known."""
        self._rejected += 1

    def succeed(self, passed: int) -> None:
        """Give a pass back: the call had its answer."""
        self.successes += 1
        if passed != self._epoch:
            return
        if self._in_row:
            self._in_row = 0
            self._counted.clear()
        if self._retry_at is not None:
            self._close()

    def fail(
        self, passed: int, kind: str, *, whose: tuple[Hashable, ...] = (), pause_seconds: float | None = None
    ) -> None:
        """Give a pass back: the service failed the call.

        Args:
            kind: of the failure, by the name of its class.
            whose: whom it may be the fault of, a tenant and a receiver, say. Of the failures in a row only such count
                as share none of these with one before.
            pause_seconds: leave the service alone for so long, whatever came before.
        """
        self._failures += 1
        self._kind, self._failed_at = kind, datetime.now(UTC)
        if passed != self._epoch:
            return
        if self._retry_at is None:
            if self._counted.isdisjoint(whose):
                self._in_row += 1
                self._counted.update(whose)
            if self._in_row < self.limits.failures_max and pause_seconds is None:
                return
        was_closed = self._retry_at is None
        self._epoch += 1
        self._probe_until = None
        self._retry_at = self._now() + (pause_seconds or self._pause)
        self._pause = min(2 * self._pause, self.limits.open_seconds_max)
        if was_closed:
            self._opened += 1
            self._opened_at = self._failed_at
            self._changed(self, "closed", "open")

    def abandon(self, passed: int) -> None:
        """Give a pass back: the call ended without a result, and the next one may try."""
        if passed == self._epoch and self._probe_until is not None:
            self._probe_until = None
            self._epoch += 1

    def reset(self) -> None:
        """Close it; counts stay, and a call that tries now changes nothing any more."""
        self._in_row = 0
        self._counted.clear()
        if self._retry_at is not None:
            self._close()

    def _close(self) -> None:
        before = self.state
        self._epoch += 1
        self._retry_at = self._probe_until = self._opened_at = None
        self._pause = self.limits.open_seconds
        self._in_row = 0
        self._counted.clear()
        self._changed(self, before, "closed")
