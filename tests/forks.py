"""Processes of the service that are forked off one that has imported it, in a twentieth of the time of a fresh start.

What they run, and as whom, is what a fresh process runs. Each session's own API and worker are fresh ones, and so are
those of the tests that are about starting.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from service.host.child import RunAccount

ROOT: Final = Path(__file__).parents[1]
ORDER_BYTES_MAX: Final = 256 * 1024


class Fork:
    """A forked process; it answers as `subprocess.Popen` does."""

    def __init__(self, kind: str, arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]):
        """Run `kind`, a key of `KINDS`, with three descriptors as its standard streams."""
        ends, answer = os.pipe()
        order = json.dumps([kind, list(arguments), dict(environment)]).encode()
        connection = _server()
        socket.send_fds(connection, [order], [*streams, answer])
        os.close(answer)
        self.pid = int(connection.recv(32))
        self.returncode: int | None = None
        self._ends = ends

    def poll(self) -> int | None:
        """The exit code, or a signal's negative number, once it has ended."""
        return self._read(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """The same when it ends.

        Raises:
            subprocess.TimeoutExpired: it goes on.
        """
        code = self._read(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Signal it, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as waiting:
                waiting.register(self._ends, selectors.EVENT_READ)
                if waiting.select(timeout):
                    self.returncode = int(os.read(self._ends, 32) or -signal.SIGKILL)
                    os.close(self._ends)
        return self.returncode


def cushion(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a `cushion` command line to its end, in this environment where another than ours is given."""
    value = [str(argument) for argument in arguments]
    (out, out_end), (error, error_end) = os.pipe(), os.pipe()
    with open(os.devnull) as nothing:
        process = Fork("command", value, environment or os.environ, [nothing.fileno(), out_end, error_end])
    for end in (out_end, error_end):
        os.close(end)
    try:
        with ThreadPoolExecutor(2) as both:
            words = list(both.map(_all_of, (out, error)))
        return subprocess.CompletedProcess(value, process.wait(120), *words)
    finally:
        process.kill()


def _all_of(pipe: int) -> str:
    with os.fdopen(pipe) as file:
        return file.read()


@cache
def _server() -> socket.socket:
    """The connection to this process' server.

    It ends what it forked, and itself, when the connection is closed.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forks", str(theirs.fileno())], cwd=ROOT, pass_fds=[theirs.fileno()]
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# In the server ------------------------------------------------------------------------------------------------------


def _become_another() -> None:
    from service.host.child import become

    if (account := _account()) is not None:
        become(account.uid, account.gid, account.reads_all)


@cache
def _account() -> RunAccount | None:
    from service.host.data_folder import app_account

    return app_account()


def _api(arguments: Sequence[str]) -> None:
    """Granian by its command line, as another user than root."""
    from granian.cli import entrypoint

    os.setsid()
    _become_another()
    sys.argv = ["granian", *arguments]
    entrypoint()


def _worker(_: Sequence[str]) -> None:
    from service import worker
    from service.platform import config

    _become_another()
    worker.uvloop.run(worker.work(config.load()))


def _command(arguments: Sequence[str]) -> None:
    from service.commands import cli

    sys.argv = ["cushion", *arguments]
    cli.main()


KINDS: Final[dict[str, Callable[[Sequence[str]], None]]] = {"api": _api, "worker": _worker, "command": _command}


def _import_all() -> None:
    import granian.cli
    import granian.server.mp  # noqa: F401

    import service.app
    import service.commands.cli
    import service.work
    import service.worker
    from core import warm

    service.app.areas()
    service.work.jobs()
    warm.warm()
    _account()


def _become(kind: str, arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]) -> NoReturn:
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.set_wakeup_fd(-1)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", errors="backslashreplace", buffering=1)
    code = 1
    try:
        KINDS[kind](arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(code)


def _serve(connection: socket.socket) -> None:
    """Fork at each order, and tell each end, until no more orders come."""
    children: dict[int, int] = {}
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    with selectors.DefaultSelector() as waiting:
        waiting.register(connection, selectors.EVENT_READ)
        waiting.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj == woken:
                    os.read(woken, 4096)
                    continue
                order, descriptors, _, _ = socket.recv_fds(connection, ORDER_BYTES_MAX, 4)
                if not order:
                    for pid in children:
                        os.kill(pid, signal.SIGKILL)
                    return
                *streams, answer = descriptors
                if (pid := os.fork()) == 0:
                    for ours in (connection.fileno(), woken, wakes, answer, *children.values()):
                        os.close(ours)
                    waiting.close()
                    _become(*json.loads(order), streams)
                children[pid] = answer
                for descriptor in streams:
                    os.close(descriptor)
                connection.send(b"%d" % pid)
            while children:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                answer = children.pop(pid)
                with suppress(BrokenPipeError):
                    os.write(answer, b"%d" % os.waitstatus_to_exitcode(status))
                os.close(answer)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_all()
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
