"""Hosts as network namespaces of one machine, each on a cable to one bridge.

Their addresses exist in the namespaces alone. A cable is unplugged and plugged in, and a host loses its power.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Final

import pytest

from tests.conftest import wait_until
from tests.faults.served import send

CLONE_NEWNET: Final = 0x40000000  # linux/sched.h
NETWORK: Final = "10.213.7"
"""The first three parts of every address; whoever asks has the last part 1."""
HUB: Final = "hub"
"""The namespace of the bridge, and of the test itself."""


class Network:
    """A bridge and the hosts on it."""

    def __init__(self) -> None:
        self._prefix = f"cushion-{os.getpid()}-{token_hex(2)}"
        self._names: list[str] = []

    def build(self, *hosts: str) -> None:
        """Make the namespaces and their cables."""
        for name in (HUB, *hosts):
            self._ip("netns", "add", self._namespace(name))
            self._names.append(name)
            self._ip("link", "set", "lo", "up", host=name)
        self._ip("link", "add", "bridge", "type", "bridge", "forward_delay", "0", host=HUB)
        self._ip("address", "add", f"{NETWORK}.1/24", "dev", "bridge", host=HUB)
        self._ip("link", "set", "bridge", "up", host=HUB)
        for name in hosts:
            ends = ["type", "veth", "peer", "name", "cable", "netns", self._namespace(name)]
            self._ip("link", "add", "name", _port(name), *ends, host=HUB)
            self._ip("address", "add", f"{self.address(name)}/24", "dev", "cable", host=name)
            self._ip("link", "set", "cable", "up", host=name)
            self._ip("link", "set", _port(name), "master", "bridge", host=HUB)
            self.plug(name)

    def remove(self) -> None:
        """End what runs in the namespaces, and remove them with all that is in them."""
        for name in reversed(self._names):
            self._end(name)
            self._ip("netns", "delete", self._namespace(name))
        self._names.clear()

    def address(self, host: str) -> str:
        """The address of a host."""
        return f"{NETWORK}.{self._names.index(host) + 1}"

    def unplug(self, host: str) -> None:
        """From now on nothing reaches the host, nor leaves it."""
        self._ip("link", "set", _port(host), "down", host=HUB)

    def plug(self, host: str) -> None:
        """All passes again."""
        self._ip("link", "set", _port(host), "up", host=HUB)

    def power_off(self, host: str) -> None:
        """Unplug a host and kill its processes: to the others they fall silent."""
        self.unplug(host)
        self._end(host)

    @contextmanager
    def inside(self, host: str) -> Iterator[None]:
        """Within, sockets of this thread, and what it starts, are the host's."""
        with Path("/proc/thread-self/ns/net").open() as before, Path("/run/netns", self._namespace(host)).open() as to:
            _enter(to.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    def _end(self, host: str) -> None:
        def left() -> list[int]:
            running = self._ip("netns", "pids", self._namespace(host)).split()
            return [int(number) for number in running if int(number) != os.getpid()]

        def ended() -> bool:
            processes = [number for number in left() if _runs(number)]
            send(processes, signal.SIGKILL)
            return not processes

        wait_until(ended, what=f"the end of the processes of {host}")

    def _namespace(self, host: str) -> str:
        return f"{self._prefix}-{host}"

    def _ip(self, *arguments: str, host: str | None = None) -> str:
        inside = [] if host is None else ["-netns", self._namespace(host)]
        done = subprocess.run(["ip", *inside, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
        return done.stdout


@contextmanager
def network(*hosts: str) -> Iterator[Network]:
    """Hosts on a bridge; meanwhile the test stands at the bridge itself."""
    require_namespaces()
    remove_leftovers()
    built = Network()
    try:
        built.build(*hosts)
        with built.inside(HUB):
            yield built
    finally:
        built.remove()


def remove_leftovers() -> None:
    """Remove the namespaces of tests that were killed."""
    for path in Path("/run/netns").glob("cushion-*-*-*"):
        if not Path("/proc", path.name.split("-")[1]).exists():
            running = subprocess.run(["ip", "netns", "pids", path.name], capture_output=True, text=True).stdout
            send([int(number) for number in running.split()], signal.SIGKILL)
            subprocess.run(["ip", "netns", "delete", path.name], check=True)


def require_namespaces() -> None:
    """Skip a test where it cannot make namespaces; under CI it fails instead."""
    reason = None
    if shutil.which("ip") is None:
        reason = "there is no `ip`: install iproute2"
    else:
        trial = f"cushion-trial-{os.getpid()}"
        trial_run = subprocess.run(["ip", "netns", "add", trial], capture_output=True, text=True)
        if trial_run.returncode:
            reason = f"network namespaces need root and CAP_SYS_ADMIN: {trial_run.stderr.strip()}"
        else:
            subprocess.run(["ip", "netns", "delete", trial], check=True)
    if reason is not None:
        (pytest.fail if "CI" in os.environ else pytest.skip)(reason)


def _enter(namespace: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns failed")


def _runs(process: int) -> bool:
    """Whether a process is more than an entry that its parent has not read."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")


def _port(host: str) -> str:
    """The bridge's end of a host's cable."""
    return f"port-{host}"
