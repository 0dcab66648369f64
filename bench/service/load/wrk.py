"""wrk and its script.

A plan of requests, sent for a while over kept-alive connections; what came back.

wrk takes some 10 us a request, where a client in Python takes more than the server. It sends the next request of a
connection when the last is answered, so a slow server is asked less: its percentiles are those of so many callers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct, field

SCRIPT = Path(__file__).with_name("wrk.lua")
ORDER = 997
"""Requests after which the order of a plan begins anew."""
TIMEOUT_SECONDS = 30
SUCCESS = (200, 201)
NUMBER_DIGITS = 16
"""Of what takes the place of {n}; a seed has as many."""


class Step(Struct, frozen=True, kw_only=True):
    """A kind of request; `{n}` in path, body or X-Request-ID differs each time."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    weight: int = 1
    marker: str = ""
    """What its answer holds."""


class Outcome(Struct, frozen=True):
    """What one run of wrk saw."""

    requests: int
    seconds: float
    p50: float
    """Seconds, as the next ones."""
    p95: float
    p99: float
    most: float
    broken: int
    """Connections that failed, and requests without an answer in time."""
    looked: int
    """Answers whose body was looked at."""
    unlike: int
    """Of these such that hold nothing of what they must."""
    odd: str
    """The first answer of another status or body than expected."""
    statuses: dict[str, int]

    @property
    def rate(self) -> float:
        """Requests a second that were answered with success."""
        return sum(count for status, count in self.statuses.items() if status.startswith("2")) / self.seconds

    def errors(self, expected: Sequence[int]) -> dict[str, int]:
        """What was not answered as expected, by status."""
        wrong = {status: count for status, count in self.statuses.items() if int(status) not in expected}
        return wrong | {name: count for name, count in (("broken", self.broken), ("body", self.unlike)) if count}


class NoWrkError(RuntimeError):
    """wrk is not installed: apt-get install wrk"""


def drive(
    url: str,
    steps: Sequence[Step],
    *,
    seconds: float,
    connections: int,
    expected: Sequence[int] = SUCCESS,
    seed: int = 10 ** (NUMBER_DIGITS - 1),
    shuffled: bool = True,
) -> Outcome:
    """Send the steps for so long, as often as they weigh, in any order or all of them before one comes again.

    Raises:
        NoWrkError: there is no wrk.
        RuntimeError: wrk failed.
    """
    if shutil.which("wrk") is None:
        raise NoWrkError(NoWrkError.__doc__)
    turns = range(max(step.weight for step in steps))
    order = [number for turn in turns for number, step in enumerate(steps, start=1) if step.weight > turn]
    if shuffled:
        order = (order * (ORDER // len(order) + 1))[: max(ORDER, len(order))]
        Random(seed).shuffle(order)
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.lua"
        plan.write_bytes(
            b"return {steps={%b},order={%b},markers={%b},expected={%b},seed=%d}"
            % (
                b",".join(_step(step) for step in steps),
                b",".join(b"%d" % number for number in order),
                b",".join(sorted({_text(step.marker.encode()) for step in steps})),
                b",".join(b"%d" % status for status in expected),
                seed,
            )
        )
        options = ["-t", "1", "-c", str(connections), "-d", f"{max(1, round(seconds))}s"]
        command = ["wrk", *options, "--timeout", f"{TIMEOUT_SECONDS}s", "-s", str(SCRIPT), url]
        ran = subprocess.run(command, env={**os.environ, "LOAD_PLAN": str(plan)}, capture_output=True)
    lines = ran.stderr.splitlines()
    if ran.returncode or not lines or not lines[-1].startswith(b"{"):
        raise RuntimeError(f"wrk failed: {(ran.stderr or ran.stdout)[-1000:].decode(errors='replace')}")
    return msgspec.json.decode(lines[-1], type=Outcome)


def drive_in_turn(asked: Mapping[str, tuple[str, Step]], *, rounds: int, connections: int) -> dict[str, list[Outcome]]:
    """Rounds of a second by name, the servers in turn.

    A drift of the machine's speed meets all of them.

    A round before them, of which nothing is kept, opens connections and fills caches.

    Raises:
        AssertionError: an answer was not as it must be.
    """
    outcomes: dict[str, list[Outcome]] = {name: [] for name in asked}
    for _ in range(rounds + 1):
        for name, (url, step) in asked.items():
            outcomes[name].append(drive(url, [step], seconds=1, connections=connections))
            if errors := outcomes[name][-1].errors(SUCCESS):
                raise AssertionError(f"{name}, {step.path}: {errors}, first {outcomes[name][-1].odd}")
    return {name: outcome[1:] for name, outcome in outcomes.items()}


def _step(step: Step) -> bytes:
    parts = [b"method=" + _text(step.method.encode()), b"path=" + _text(step.path.encode())]
    parts.append(b"headers={%b}" % _headers(step.headers))
    if step.body:
        parts.append(b"body=" + _text(step.body))
    return b"{%b}" % b",".join(parts)


def _headers(headers: Mapping[str, str]) -> bytes:
    return b",".join(b"[%b]=%b" % (_text(name.encode()), _text(value.encode())) for name, value in headers.items())


def _text(raw: bytes) -> bytes:
    """A string of Lua, each byte that is no plain sign by its number."""
    plain = set(range(32, 127)) - set(b'"\\')
    return b'"%b"' % b"".join(bytes([byte]) if byte in plain else b"\\%03d" % byte for byte in raw)
