"""Limits of memory and time for what a command does in its own process with a stranger's workbook."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from service.commands.refusal import Refused

RINGS_AGAIN_SECONDS: Final = 1.0
"""What is raised in a callback of the garbage collector is swallowed; so the alarm goes on."""

SNOOZE_SECONDS: Final = 0.01
"""An alarm in a destructor waits so long: what is raised there is swallowed too, and printed."""

_STATM: Final = Path("/proc/self/statm")


class _OutOfTime(BaseException):
    """The alarm rang; no Exception, so that nothing on the way takes it for an error of its own."""


@contextmanager
def limited(what: Path | str) -> Iterator[None]:
    """Work on what was read in the main thread, with so much memory on top of what the process holds, and so much time.

    Raises:
        Refused: it needed more.
    """
    memory_bytes, seconds = limits_of_environment()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, _ring)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_least(soft, hard, _held_bytes() + memory_bytes), hard))
        signal.setitimer(signal.ITIMER_REAL, seconds, RINGS_AGAIN_SECONDS)
        yield
    except MemoryError:
        raise Refused(f"{what}: needs more memory than the limit of {memory_bytes:,} bytes") from None
    except _OutOfTime:
        raise Refused(f"{what}: takes longer than the limit of {seconds:g} seconds") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def limits_of_environment() -> tuple[int, float]:
    """Bytes and seconds.

    What the service gives a recalculation where nobody sets it otherwise.
    """
    from service.platform.config import Settings

    defaults = Settings()
    return defaults.recalculation_memory_mb * 1024 * 1024, defaults.recalculation_seconds


def _ring(_signal: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            signal.setitimer(signal.ITIMER_REAL, SNOOZE_SECONDS, RINGS_AGAIN_SECONDS)
            return
        frame = frame.f_back
    raise _OutOfTime


def _held_bytes() -> int:
    """The address space that is taken; where the system does not tell, none of it."""
    return int(_STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize() if _STATM.exists() else 0


def _least(*limits: int) -> int:
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=resource.RLIM_INFINITY)
