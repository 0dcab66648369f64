"""Files that get their names when they are whole: a run that is interrupted leaves no half file and no half set."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def drafts(target: Path) -> Iterator[Path]:
    """A folder in `target` for what is yet unfinished, so that a finished file moves within one disk; gone at the end,
    at whichever moment the run is interrupted.

    Raises:
        OSError: no folder can be made there.
    """
    # An interrupt between the making of the folder and the hold on it would leave it behind.
    held = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        folder = TemporaryDirectory(dir=target, prefix=".cushion-")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    with folder as path:
        yield Path(path)
