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

from core.confined import run
from core.confined.run import ENDING_SECONDS, Child, ChildProcess, start
from core.confined.wire import ENDED, ChildLimits

KEPT_MAX: Final = 6
"""Children that wait, of all kinds: each takes 10 to 25 MB. The one that has waited longest is ended first."""


class _Parent:
    """A child that is kept, for one thread at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.channel, standard_input = socket.socketpair()
        try:
            arguments = (name, str(os.getpid()))
            self._popen = start(
                *arguments, stdin=standard_input.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except OSError:
            self.channel.close()
            raise
        finally:
            standard_input.close()
        self.pid = self._popen.pid

    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def code(self) -> int:
        """Return its own exit code, where its channel is closed."""
        try:
            return self._popen.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    def kill(self) -> None:
        self._popen.kill()

    def end(self) -> None:
        self.kill()
        self._popen.wait()
        self.channel.close()


class _Fork:
    """A fork of it, as `subprocess.Popen` has a process."""

    def __init__(self, parent: _Parent) -> None:
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


class _LentChild(Child):
    def __init__(self, parent: _Parent, limits: ChildLimits) -> None:
        self._parent = parent
        self.is_done = False
        """Whether it ended as it should, so that its parent can be kept."""
        super().__init__(parent.name, limits)

    def _process(self, name: str, errors: int) -> ChildProcess:
        return _Fork(self._parent)

    def renew(self) -> None:
        """Wait for its end, which follows the answer."""
        with suppress(subprocess.TimeoutExpired):
            self.is_done = self._child.wait(ENDING_SECONDS) == 0
        self.end()

    def end(self) -> None:
        if not self.ended:
            super().end()


class _Kept:
    def __init__(self) -> None:
        self._waiting: list[_Parent] = []
        self._lock = Lock()
        self._lent = 0
        self._closed = False
        # The kernel ends a child with the thread that started it, so that is one that outlasts every piece of work.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="children")

    @contextmanager
    def lend(self, name: str, limits: ChildLimits) -> Iterator[Child]:
        parent, is_done = None, False
        with self._lock:
            self._lent += 1
        try:
            parent = self._parent(name)
            child = _LentChild(parent, limits)
            try:
                yield child
            finally:
                child.end()
                is_done = child.is_done
        finally:
            self._give_back(parent, is_done)

    def _parent(self, name: str) -> _Parent:
        with self._lock:
            if self._closed:  # work that outlasts us has a child of its own
                return _Parent(name)
            for parent in [parent for parent in self._waiting if parent.name == name]:
                self._waiting.remove(parent)
                if parent.is_alive():
                    return parent
                parent.end()
            starting = self._starter.submit(_Parent, name)
        return starting.result()

    def _give_back(self, parent: _Parent | None, is_done: bool) -> None:
        with self._lock:
            self._lent -= 1
            over = [] if parent is None or is_done else [parent]
            if parent is not None and is_done:
                self._waiting.append(parent)
            while len(self._waiting) > (0 if self._closed else KEPT_MAX):
                over.append(self._waiting.pop(0))
        self._end(over)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, []
        self._end(waiting)

    def _end(self, parents: Iterable[_Parent]) -> None:
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
