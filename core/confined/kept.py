"""Children that are kept, so that work of their kind begins at once.

The start of a child is mostly imports, up to half a second of them. A kept child has done them, and a fork of it, which
takes some milliseconds, does one piece of work: it has pipes and limits of its own, and ends with its work.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Lock
from typing import BinaryIO, Final

import msgspec

from core.confined import run
from core.confined.run import ENDING_SECONDS, Child, ChildProcess, start
from core.confined.wire import ENDED, ChildLimits

KEPT_MAX: Final = 6
"""Children that wait, of all kinds: each takes 10 to 25 MB. The one that has waited longest is ended first."""


class ChildParent:
    """A child that is kept, for one thread at a time.

    It ends with the thread that started it.
    """

    def __init__(self, name: str, settings: dict[str, int] | None = None) -> None:
        """Start one for what has this dotted name; a class is made with the settings."""
        self.name = name
        self.channel, standard_input = socket.socketpair()
        try:
            arguments = (name, msgspec.json.encode(settings or {}).decode(), str(os.getpid()))
            self._popen = start(
                *arguments, stdin=standard_input.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except OSError:
            self.channel.close()
            raise
        finally:
            standard_input.close()
        self.pid = self._popen.pid

    def fork(self, limits: ChildLimits) -> Child:
        """Return a fork of it, once the one before has ended.

        Where a fork does not end by itself, as it should, this is ended with it.

        Raises:
            OSError: it has ended, or the system has no more to give.
        """
        return _Fork(self, limits)

    def is_alive(self) -> bool:
        """Return whether there can be another fork."""
        return self._popen.poll() is None

    def code(self) -> int:
        """Return its own exit code, where its channel is closed."""
        try:
            return self._popen.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    def kill(self) -> None:
        """End it at once."""
        self._popen.kill()

    def end(self) -> None:
        """End it, its fork with it, and take back what belongs to it."""
        self.kill()
        self._popen.wait()
        self.channel.close()


class _ForkProcess:
    """A fork of it, as `subprocess.Popen` has a process."""

    def __init__(self, parent: ChildParent) -> None:
        self._parent, self.pid = parent, parent.pid
        self._code: int | None = None
        orders, write = os.pipe()
        read, answers = os.pipe()
        self.stdin: BinaryIO = os.fdopen(write, "wb", buffering=0)
        self.stdout: BinaryIO = os.fdopen(read, "rb", buffering=0)
        try:
            socket.send_fds(parent.channel, [b"+"], [orders, answers])
        except OSError:
            self.stdin.close()
            self.stdout.close()
            raise
        finally:
            os.close(orders)
            os.close(answers)

    def poll(self) -> int | None:
        return self._read(0.0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._read(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self._parent.name, timeout or 0.0)
        return code

    def kill(self) -> None:
        with suppress(OSError):  # its parent has ended, and with it this one
            self._parent.channel.sendall(b"-")
        if self._read(ENDING_SECONDS) is None:
            self._parent.kill()

    def _read(self, seconds: float | None) -> int | None:
        if self._code is not None:
            return self._code
        channel = select.poll()  # unlike select, whatever the number of open files
        channel.register(self._parent.channel, select.POLLIN)
        if channel.poll(None if seconds is None else seconds * 1000):
            try:
                answer = self._parent.channel.recv(ENDED.size)
            except ConnectionError:
                answer = b""
            self._code = ENDED.unpack(answer)[0] if len(answer) == ENDED.size else self._parent.code()
        return self._code


class _Fork(Child):
    def __init__(self, parent: ChildParent, limits: ChildLimits) -> None:
        self._parent = parent
        super().__init__(parent.name, limits)

    def _process(self, name: str, errors: int) -> ChildProcess:
        return _ForkProcess(self._parent)

    def end(self) -> None:
        super().end()
        if not self.is_done:
            self._parent.end()


class _Kept:
    def __init__(self) -> None:
        self._waiting: list[ChildParent] = []
        self._lock = Lock()
        self._lent = 0
        self._closed = False
        # The kernel ends a child with the thread that started it, so that is one that outlasts every piece of work.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="children")

    @contextmanager
    def lend(self, name: str, limits: ChildLimits) -> Iterator[Child]:
        parent = None
        with self._lock:
            self._lent += 1
        try:
            parent = self._parent(name)
            child = parent.fork(limits)
            try:
                yield child
            finally:
                child.end()
        finally:
            self._give_back(parent)

    def _parent(self, name: str) -> ChildParent:
        with self._lock:
            if self._closed:  # work that outlasts us has a child of its own
                return ChildParent(name)
            for parent in [parent for parent in self._waiting if parent.name == name]:
                self._waiting.remove(parent)
                if parent.is_alive():
                    return parent
                parent.end()
            starting = self._starter.submit(ChildParent, name)
        return starting.result()

    def _give_back(self, parent: ChildParent | None) -> None:
        with self._lock:
            self._lent -= 1
            over: list[ChildParent] = []
            if parent is not None:
                (self._waiting if parent.is_alive() else over).append(parent)
            while len(self._waiting) > (0 if self._closed else KEPT_MAX):
                over.append(self._waiting.pop(0))
        self._end(over)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, []
        self._end(waiting)

    def _end(self, parents: Iterable[ChildParent]) -> None:
        for parent in parents:
            parent.end()
        with self._lock:
            is_last = self._closed and not self._lent
        if is_last:  # not before: the work that still runs would end with the thread
            self._starter.shutdown()


@contextmanager
def keeping_children() -> Iterator[None]:
    """Have `core.confined.run.run` keep its children until this ends."""
    kept, before = _Kept(), run.lender
    run.lender = kept.lend
    try:
        yield
    finally:
        run.lender = before
        kept.close()
