"""Reading a stranger's tape in a child with limits of memory and time.

Whatever happens to the child but an answer reads as a refusal to the caller, and leaves nothing in the folder; that
somebody else ended it is told as it is (`core.confined.run.ChildKilled`).
"""

from __future__ import annotations

import threading
from pathlib import Path

from core.confined.run import run, workplace
from core.confined.table import READ_TAPE, TapeAnswer, TapeOrder


def read_tape_isolated(
    path: Path,
    folder: Path,
    *,
    trustee: str,
    mapping: str | None = None,
    memory_bytes_max: int = READ_TAPE.memory_bytes_max,
    seconds_max: float = READ_TAPE.seconds_max,
    stop: threading.Event | None = None,
) -> TapeAnswer:
    """Read a tape by a mapping (its JSON), else in the manner of a trustee, in a child process; its loans are written
    into an existing folder, as `core.reconciliation.tape.LOANS_FILE`.

    Setting `stop` from another thread ends the child at once.

    Raises:
        TapeRefused: the file's fault, also where it crashed the child or passed its limits.
        OSError: the machine's fault.
        InterruptedError: `stop` was set.
    """
    order = TapeOrder(str(path.resolve()), trustee, mapping)
    with workplace(folder) as made:
        return run(
            READ_TAPE,
            order,
            reads=[order.path],
            writes=made,
            memory_bytes_max=memory_bytes_max,
            seconds_max=seconds_max,
            stop=stop,
        )
