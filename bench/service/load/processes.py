"""What the processes of a service that was started from here take.

Processor time and memory, by their part.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bench.service.stack import STOP_SECONDS
from service.host.child import processes

PARTS = {
    "API's parent": rb"\0granian\0",
    "worker": rb"\0service\.worker\0",
    "PostgreSQL": rb"/postgres\0-D\0|^postgres: ",
    "Redis": rb"(redis|valkey)-server",
    "supervisor": rb"\0serve\0",
}
"""By what a command line tells which part it is, its children `API` apart; the rest read files, and calculate."""
TICK = os.sysconf("SC_CLK_TCK")


class Taken(NamedTuple):
    """What the processes of a part took so far, and hold now."""

    seconds: float
    """Of a processor, that of their ended children included."""
    bytes: int
    """Proportional set size: what they share counts once."""


def taken() -> dict[str, Taken]:
    """By part, of all that descends from this process."""
    parents = {number: int(fields[1]) for number, fields in processes()}
    takens: dict[str, Taken] = {}
    for number in parents:
        if number == os.getpid() or not descends(number, parents):
            continue
        with suppress(OSError):
            place = Path(f"/proc/{number}")
            command = place.joinpath("cmdline").read_bytes()
            part = _part(command)
            if part == "API's parent" and _part(Path(f"/proc/{parents[number]}/cmdline").read_bytes()) == part:
                part = "API"
            fields = place.joinpath("stat").read_text().rpartition(")")[2].split()
            so_far = takens.get(part, Taken(0.0, 0))
            seconds = sum(int(field) for field in fields[11:15]) / TICK
            takens[part] = Taken(so_far.seconds + seconds, so_far.bytes + _bytes(place))
    return takens


@contextmanager
def more_workers(count: int) -> Iterator[None]:
    """So many further workers of the one service that runs."""
    if not count:
        yield
        return
    parents = {number: int(fields[1]) for number, fields in processes()}
    (first,) = [number for number in parents if descends(number, parents) and _is_worker(number)]
    settings = Path(f"/proc/{first}/environ").read_bytes().rstrip(b"\0").split(b"\0")
    environment = dict(os.fsdecode(entry).split("=", 1) for entry in settings)
    command = [sys.executable, "-m", "service.worker"]
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(count)
    ]
    try:
        yield
        if codes := [each.returncode for each in started if each.poll() is not None]:
            raise RuntimeError(f"workers ended by themselves, codes {codes}")
    finally:
        for each in started:
            each.terminate()
        for each in started:
            each.wait(STOP_SECONDS)


def _is_worker(number: int) -> bool:
    return b"\0service.worker\0" in Path(f"/proc/{number}/cmdline").read_bytes()


def _part(command: bytes) -> str:
    return next((part for part, pattern in PARTS.items() if re.search(pattern, command)), "children")


def descends(number: int, parents: dict[int, int]) -> bool:
    """Whether a process descends from this one, by the parent of each process."""
    while number in parents:
        if number == os.getpid():
            return True
        number = parents[number]
    return False


def _bytes(place: Path) -> int:
    match = re.search(rb"^Pss: +(\d+) kB", place.joinpath("smaps_rollup").read_bytes(), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0
