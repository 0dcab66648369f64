"""The child process that reads one file: a program, started by `core.files.isolate` and by nothing else.

It is run with the file's path, the folder for its sheets, the limits of memory (bytes) and processor time (seconds),
and the process id of its parent. What came of it goes to standard output as one JSON text: the manifest of the stored
workbook, or under "refused", "memory" or "failed" the reason why there is none.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

from core.files.errors import FileRefused
from core.files.read import read
from core.grid.codec import write_workbook

_PR_SET_PDEATHSIG: Final = 1
"""The option of Linux' prctl that asks for a signal at the parent's death, as <linux/prctl.h> numbers it."""


def main(path: str, folder: str, memory_bytes_max: str, seconds_max: str, parent: str) -> None:
    """Read the file under the limits and say what came of it."""
    _die_with(int(parent))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes_max), int(memory_bytes_max)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds_max), int(seconds_max)))
    try:
        answer = write_workbook(read(path), Path(folder)).to_json()
    except FileRefused as refusal:
        answer = json.dumps({"refused": type(refusal).__name__, "hint": refusal.hint})
    except MemoryError:
        answer = json.dumps({"memory": True})
    except OSError as failure:
        answer = json.dumps({"failed": [failure.errno, failure.strerror]})
    sys.stdout.write(answer)


def _die_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends, however that happens; elsewhere than on Linux the limits
    of time must do.

    To the kernel the parent is the thread that started us; it waits for our answer, so it ends with its process only.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    # A parent that ended before it was heard of sends no signal any more.
    if os.getppid() != parent:
        sys.exit("the process that asked for this file has ended")


if __name__ == "__main__":
    main(*sys.argv[1:])
