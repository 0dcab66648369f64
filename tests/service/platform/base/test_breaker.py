"""A breaker lets through, lets nobody through, lets one try.

Whatever comes late, is cancelled or is somebody's own.
"""

from __future__ import annotations

from service.platform.base.breaker import PROBE_SECONDS, Breaker, Limits, State

LIMITS = Limits(failures_max=3, open_seconds=10.0, open_seconds_max=30.0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.changes: list[tuple[State, State]] = []
        self.breaker = Breaker(
            "x", LIMITS, now=lambda: self.now, changed=lambda _, *states: self.changes.append(states)
        )

    def fail(self, times: int = 1, **row: object) -> None:
        for _ in range(times):
            self.breaker.fail(self.breaker.enter(), "OSError", **row)  # type: ignore[arg-type]


def test_it_opens_after_failures_in_a_row_and_one_tries() -> None:
    clock, breaker = Clock(), None
    breaker = clock.breaker
    clock.fail(2)
    breaker.succeed(breaker.enter())
    clock.fail(2)
    assert breaker.state == "closed", "a success came between"
    calls = [breaker.enter() for _ in range(5)]
    for passed in calls:
        breaker.fail(passed, "OSError")  # those that were on their way make the pause no longer
    assert (breaker.state, breaker.enter(), breaker.retry_after_seconds) == ("open", 0, 10)
    clock.now = 10.0
    assert breaker.state == "half_open"
    probe = breaker.enter()
    assert probe
    assert not breaker.enter(), "the herd waits for the one that tries"
    breaker.fail(probe, "TimeoutError")
    clock.now = 29.9
    assert breaker.state == "open", "twice as long"
    clock.now = 30.0
    breaker.fail(breaker.enter(), "TimeoutError")
    clock.now = 59.9
    assert breaker.state == "open", "and never longer than the most"
    clock.now = 60.0
    breaker.succeed(breaker.enter())
    assert clock.changes == [("closed", "open"), ("half_open", "closed")]
    figures = breaker.figures
    assert (figures.state, figures.successes, figures.failures, figures.times_opened) == ("closed", 2, 11, 1)
    assert (figures.rejected, figures.last_failure, figures.opened_at, figures.retry_at) == (
        2,
        "TimeoutError",
        None,
        None,
    )
    clock.fail(3)
    clock.now += 10.0
    assert breaker.state == "half_open", "the first pause again"


def test_what_ends_late_changes_nothing() -> None:
    clock = Clock()
    breaker = clock.breaker
    old = breaker.enter()
    clock.fail(3)
    breaker.succeed(old)
    assert breaker.state == "open", "that answer came before"
    clock.now = 10.0
    probe = breaker.enter()
    breaker.fail(old, "OSError")
    breaker.abandon(old)
    assert not breaker.enter(), "the place is still the probe's"
    breaker.abandon(probe)
    again = breaker.enter()
    assert again, "whoever tried was cancelled"
    breaker.succeed(probe)
    assert breaker.state == "half_open"
    clock.now += PROBE_SECONDS
    third = breaker.enter()
    assert third, "one that never came back holds nobody up for ever"
    breaker.reset()
    assert breaker.state == "closed"
    breaker.fail(third, "OSError")
    assert breaker.state == "closed", "it tried before the reset"


def test_one_tenant_or_one_receiver_opens_nothing() -> None:
    for rows, opens in (
        ([("tenant", "host")] * 9, False),
        ([("tenant", f"host {number}") for number in range(9)], False),
        ([(f"tenant {number}", "host") for number in range(9)], False),
        ([(f"tenant {number}", f"host {number}") for number in range(3)], True),
    ):
        clock = Clock()
        for whose in rows:
            clock.fail(whose=whose)
        assert (clock.breaker.state == "open") is opens, rows


def test_a_service_may_say_how_long() -> None:
    clock = Clock()
    clock.fail(pause_seconds=77.0)
    assert (clock.breaker.state, clock.breaker.retry_after_seconds) == ("open", 77)
