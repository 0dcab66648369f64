"""Starting confined children and asking them.

One piece of work each with `run`, order after order with `Child`.

The child is `core.confined.child`, run as a program. Its environment holds nothing of ours, and it sees no files but
those that it is given (`core.confined.sandbox`), so one that is hijacked finds no secret.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Final, Protocol, TypeVar, Unpack

import msgspec
from msgspec import UNSET

from core.confined.table import Bounds, ConfinedWork
from core.confined.wire import HEAD, ChildLimits, ChildOutcome, named

O = TypeVar("O")  # noqa: E741 - an order, as in the table
A = TypeVar("A")

_PROGRAM: Final = "core.confined.child"
_ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
_PART_BYTES: Final = 1024 * 1024
_LOOK_SECONDS: Final = 0.1
"""How often `stop` is looked at."""
_FROM_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
"""Signals that no crash and no limit of ours sends."""
ENDING_SECONDS: Final = 2.0
"""How long a child that closed its answers' channel may take to be gone."""
ERRORS_BYTES_MAX: Final = 64 * 1024
"""Of what a child writes to its standard error; a pipe holds no more, and what comes after is lost."""
ERRORS_SHOWN: Final = 2_000
"""Characters of it that are kept, the last ones."""
_NICE: Final = 5
"""How much less urgent a child is than whoever started it, who answers others meanwhile. Not more: beside one busy
thread of theirs on the same processor it still has a quarter of that."""


class ChildFailed(Exception):
    """The child ended without an answer: it crashed. The text says how, for a log."""


class ChildOutOfMemory(ChildFailed):
    """The child needed more memory than it may have."""


class ChildOutOfTime(ChildFailed):
    """The child took longer than it may."""


class ChildKilled(OSError):
    """The child was ended from outside.

    By the kernel, short of memory, or by somebody; the work may do another time.

    What it worked on did nothing wrong, so this is the machine's fault, and none of the above.
    """


def run(
    work: ConfinedWork[O, A], order: O, *, reads: Sequence[str], writes: Path | None = None, **bounds: Unpack[Bounds]
) -> A:
    """Return a child's answer to one order.

    It may read the paths `reads` and write the folder `writes`.

    Raises:
        Exception: one of the work's refusals: what was given is to blame, or the child crashed or passed a limit; then
            the cause is a `ChildFailed`.
        OSError: the machine's fault, as the child met it; `ChildKilled` where the child was ended from outside.
        InterruptedError: `stop` was set.
    """
    memory_bytes_max = bounds.get("memory_bytes_max", work.memory_bytes_max)
    seconds_max = bounds.get("seconds_max", work.seconds_max)
    limits = ChildLimits(
        parent=os.getpid(),
        memory_bytes_max=memory_bytes_max,
        seconds_max=seconds_max,
        reads=tuple(reads),
        writes=None if writes is None else str(writes.resolve()),
        refusals=work.refusals,
    )
    try:
        with lender(work.does, limits) as child:
            outcome = outcome_of(child.ask(msgspec.json.encode(order), seconds_max, bounds.get("stop")))
        if outcome.refused is not None and outcome.refused[0] in work.refusals:
            raise named(outcome.refused[0])(outcome.refused[1])
        return _answer(work, outcome)
    except ChildOutOfTime as error:
        raise work.refusal(work.texts.too_long.format(seconds_max)) from error
    except ChildOutOfMemory as error:
        raise work.refusal(work.texts.too_large.format(memory_bytes_max)) from error
    except ChildFailed as error:
        raise work.refusal(work.texts.broken) from error


def outcome_of(answer: bytes) -> ChildOutcome:
    """Return what came of an order.

    Raises:
        ChildFailed: it crashed, ran out of memory, or its answer cannot be read.
        OSError: the machine's fault, as the child met it.
    """
    try:
        outcome = msgspec.json.decode(answer, type=ChildOutcome)
    except msgspec.MsgspecError as error:
        raise ChildFailed("an answer that cannot be read") from error
    if outcome.crashed is not None:
        raise ChildFailed(outcome.crashed)
    if outcome.lacked_memory:
        raise ChildOutOfMemory
    if outcome.failed is not None:
        raise OSError(*outcome.failed)
    return outcome


def _answer(work: ConfinedWork[O, A], outcome: ChildOutcome) -> A:
    if outcome.answer is UNSET:
        raise ChildFailed("no answer")
    try:
        return msgspec.json.decode(outcome.answer, type=work.answer)
    except msgspec.MsgspecError as error:
        raise ChildFailed("an answer of another kind") from error


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """A new folder in an existing one, for a child to write.

    What it made is moved up in the end, unless something is raised.
    """
    place = folder / ".confined"
    place.mkdir()
    try:
        yield place
        for path in place.iterdir():
            path.replace(folder / path.name)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _widen(pipe: int) -> None:
    """Let a pipe take more at a time, where the system can.

    A portfolio then goes through it in fewer turns.
    """
    with suppress(OSError, AttributeError):  # Linux alone knows how; a user's pipes may be at their limit
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PART_BYTES)


def start(*arguments: str, stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    """Start the program of a child, a little less urgent than we are.

    Raises:
        OSError: no process can be started.
    """
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and program, no shell
        [sys.executable, "-S", "-m", _PROGRAM, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        bufsize=0,
        cwd=Path(__file__).resolve().parents[2],
        env={"PYTHONPATH": os.pathsep.join(part for part in sys.path if part), "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )
    os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICE)
    with suppress(OSError):  # Linux may schedule sessions as equals, whatever their processes' priorities
        Path(f"/proc/{process.pid}/autogroup").write_text(str(_NICE))
    return process


class ChildProcess(Protocol):
    """What a child is to its caller, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int: ...
    @property
    def stdin(self) -> IO[bytes] | None: ...
    @property
    def stdout(self) -> IO[bytes] | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class Child:
    """A child process that answers orders; for one thread at a time.

    It is started by the thread whose end ends it too. Once `ended`, it is of no further use.
    """

    def __init__(self, name: str, limits: ChildLimits, *, keeps_errors: bool = False) -> None:
        """Start a child for what has this dotted name, as `core.confined.child` says.

        Args:
            keeps_errors: what it writes to its standard error is kept for `errors`; it may quote the orders.
        """
        self.errors = ""
        """The end of what it wrote to its standard error, once it has `ended`."""
        self._errors, write = os.pipe() if keeps_errors else (-1, subprocess.DEVNULL)
        try:
            if keeps_errors:
                os.set_blocking(self._errors, False)
                os.set_blocking(write, False)  # a child that writes more than a pipe holds does not wait for a reader
            self._child = self._process(name, write)
        except OSError:
            self._close_errors()
            raise
        finally:
            if keeps_errors:
                os.close(write)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._orders, self._answers = self._child.stdin, self._child.stdout
        os.set_blocking(self._orders.fileno(), False)
        _widen(self._orders.fileno())
        self._unsent = msgspec.json.encode(limits) + b"\n"
        self._is_killed = False
        self.ended = False
        self.is_done = False
        """Whether it ended by itself, as it should."""

    def _process(self, name: str, errors: int) -> ChildProcess:
        return start(name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)

    def ask(
        self, order: bytes | Sequence[bytes | memoryview], seconds_max: float, stop: threading.Event | None = None
    ) -> bytes:
        """Return the answer to an order, which may come in several parts.

        None of them is copied.

        Raises:
            ChildOutOfTime: it took longer, and was ended.
            ChildFailed: it crashed, or was ended by `kill`.
            ChildKilled: somebody else ended it.
            InterruptedError: `stop` was set, by another thread.
        """
        parts = [memoryview(part).cast("B") for part in ([order] if isinstance(order, bytes) else order)]
        head = self._unsent + HEAD.pack(True, sum(map(len, parts)))
        unsent, self._unsent = deque([memoryview(head), *filter(len, parts)]), b""
        try:
            stays, answer = self._exchange(unsent, seconds_max, stop)
        except InterruptedError:
            self.end()
            raise
        except (OSError, EOFError, ValueError) as error:  # ValueError: closed meanwhile, in another thread
            failure = self._failure()
            self.end()
            raise failure from error
        except ChildFailed:
            self.end()
            raise
        if not stays:
            self.finish()
        return answer

    def finish(self) -> None:
        """Let the child end by itself, as it does where no order follows.

        One that does not is ended.
        """
        self._orders.close()
        with suppress(subprocess.TimeoutExpired):
            self.is_done = self._child.wait(ENDING_SECONDS) == 0
        self.end()

    def _exchange(
        self, unsent: deque[memoryview], seconds_max: float, stop: threading.Event | None
    ) -> tuple[bool, bytes]:
        answer, size = bytearray(), HEAD.size
        end = time.monotonic() + seconds_max
        with selectors.DefaultSelector() as pipes:
            pipes.register(self._orders, selectors.EVENT_WRITE)
            pipes.register(self._answers, selectors.EVENT_READ)
            while len(answer) < size:
                left = end - time.monotonic()
                ready = pipes.select(max(0.0, left if stop is None else min(left, _LOOK_SECONDS)))
                if stop is not None and stop.is_set():
                    raise InterruptedError("the work was stopped")
                if not ready and left <= 0:
                    raise ChildOutOfTime
                for key, _ in ready:
                    if key.fileobj is self._orders:
                        _send_some(key.fd, unsent)
                        if not unsent:
                            pipes.unregister(self._orders)
                    elif part := os.read(key.fd, min(size - len(answer), _PART_BYTES)):
                        answer += part
                    else:
                        raise EOFError
                if size == len(answer) == HEAD.size:
                    size += HEAD.unpack(answer)[1]
                    if size > _ANSWER_BYTES_MAX:
                        raise ChildFailed(f"an answer of more than {_ANSWER_BYTES_MAX} bytes")
        return HEAD.unpack_from(answer)[0], bytes(memoryview(answer)[HEAD.size :])

    def _failure(self) -> ChildFailed | ChildKilled:
        """Return why the child does not answer any more."""
        try:
            code = self._child.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return ChildFailed("its channel is closed")
        if self._is_killed:
            return ChildFailed("ended by us")
        if code == -signal.SIGXCPU:
            return ChildOutOfTime()
        if code >= 0:
            return ChildFailed(f"ended with code {code}")
        text = f"ended by {signal.Signals(-code).name}"
        return ChildKilled(text) if -code in _FROM_OUTSIDE else ChildFailed(text)

    def is_alive(self) -> bool:
        """Return whether the child can be asked."""
        return self._child.poll() is None

    def kill(self) -> None:
        """End the child at once, from whichever thread; an `ask` that waits for it fails."""
        if self._child.poll() is None:
            self._is_killed = True
            self._child.kill()

    def end(self) -> None:
        """End the child and take back what belongs to it."""
        self.ended = True
        self.kill()
        self._child.wait()
        self._close_errors()
        for pipe in (self._orders, self._answers):
            pipe.close()

    def _close_errors(self) -> None:
        if self._errors < 0:
            return
        with suppress(OSError):  # nothing was written, or a child of its own still may
            written = os.read(self._errors, ERRORS_BYTES_MAX).decode(errors="replace")
            self.errors = written.strip()[-ERRORS_SHOWN:]
        os.close(self._errors)
        self._errors = -1


def _send_some(pipe: int, unsent: deque[memoryview]) -> None:
    """Write what the pipe takes now, and drop it from what is unsent."""
    unsent[0] = unsent[0][os.write(pipe, unsent[0]) :]
    if not unsent[0]:
        unsent.popleft()


class Lender(Protocol):
    """Where `run` has a child from, for one piece of work."""

    def __call__(self, name: str, limits: ChildLimits) -> AbstractContextManager[Child]: ...


@contextmanager
def new_child(name: str, limits: ChildLimits) -> Iterator[Child]:
    """A child that ends with its work."""
    child = Child(name, limits)
    try:
        yield child
    finally:
        child.end()


lender: Lender = new_child
"""Another one while `core.confined.kept.keeping_children` is open."""
