"""The process that compiles, as seen from the one that needs code."""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from core.native.code import processor
from core.native.compiler import CompileOrder, CompileOutcome
from core.native.written import Written

SECONDS_MAX: Final = 600.0
"""Of a loop, waits for others' turns and for a busy machine included; what takes longer has none."""

_SETTINGS: Final = {
    "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that the object code would need
    "NUMBA_SLP_VECTORIZE": "1",
    "NUMBA_OPT": "3",
    "OPENBLAS_NUM_THREADS": "1",
}
_ANSWER_BYTES_MAX: Final = 64 * 1024
_LOOK_MILLISECONDS: Final = 100
"""How often the end of the program is looked for."""


class CompilerProcess:
    """Starts the compiling process with an order, anew where it has ended."""

    def __init__(self) -> None:
        self._forget()
        atexit.register(self.end)
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Leave the process to the one that this was forked from."""
        self._lock = threading.Lock()
        if (child := getattr(self, "_child", None)) is not None:
            child.returncode = 0
            _close(child)
        self._child: subprocess.Popen[bytes] | None = None

    def compile(self, written: Written, folder: Path) -> str | None:
        """Have a loop compiled into the folder; return why it was not, or None.

        Raises:
            OSError: the process cannot be started, it ended, or it had no room for now.
        """
        line = msgspec.json.encode(CompileOrder(*written)) + b"\n"
        with self._lock:
            for last in (False, True):
                child = self._running(folder)
                try:
                    answer = _ask(child, line)
                except BaseException as error:
                    self._end(child)
                    if not isinstance(error, OSError | EOFError):
                        raise
                    if last or not isinstance(error, BrokenPipeError):
                        raise OSError(f"the compiling process has ended: {error}") from error
                    continue  # it had nothing to do for too long
                outcome = msgspec.json.decode(answer, type=CompileOutcome)
                if outcome.is_passing:
                    raise OSError(outcome.failure)
                return outcome.failure
        raise AssertionError

    def end(self) -> None:
        """End the process, whatever it does."""
        with self._lock:
            if self._child is not None:
                self._end(self._child)

    def _running(self, folder: Path) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            if self._child is not None:
                _close(self._child)
            name, features = processor()
            settings = _SETTINGS | {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}
            self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and program, no shell
                [sys.executable, "-S", "-m", "core.native.compiler", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd=Path(__file__).resolve().parents[2],
                env=settings | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)},
            )
            # Takes note of its end, so that it does not stay on the list of processes.
            threading.Thread(target=self._child.wait, name="native-compiler-end", daemon=True).start()
        return self._child

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        with suppress(OSError):
            child.kill()
        child.wait()
        _close(child)
        self._child = None


def _close(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def _ask(child: subprocess.Popen[bytes], line: bytes) -> bytes:
    """Return the answer to an order.

    Raises:
        EOFError: the process or this program ended.
        TimeoutError: it took too long.
    """
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(line)
    answers = select.poll()
    answers.register(child.stdout, select.POLLIN | select.POLLHUP)
    answer, end = b"", time.monotonic() + SECONDS_MAX
    while not answer.endswith(b"\n"):
        if not answers.poll(_LOOK_MILLISECONDS):
            if time.monotonic() > end:
                raise TimeoutError(f"no code after {SECONDS_MAX:.0f} seconds")
            if not threading.main_thread().is_alive():
                raise EOFError("the program ends")
            continue
        part = os.read(child.stdout.fileno(), _ANSWER_BYTES_MAX)
        if not part:
            raise BrokenPipeError if not answer else EOFError
        answer += part
    return answer


COMPILER: Final = CompilerProcess()
"""That of this process."""
