"""Read an uploaded tape in a child process, with limits of memory and time.

Unless the child answers, the caller gets a refusal and the folder stays empty. That somebody else ended the child is
`core.confined.run.ChildKilled`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Unpack

from core.confined.run import workplace
from core.confined.table import READ_TAPE, Bounds, TapeAnswer, TapeOrder
from core.files.isolate import read_by_child


def read_tape_isolated(
    path: Path,
    folder: Path,
    *,
    trustee: str,
    name: str | None = None,
    mapping: str | None = None,
    now: datetime | None = None,
    **bounds: Unpack[Bounds],
) -> TapeAnswer:
    """Read a tape by a mapping (its JSON), else in the manner of a trustee, in a child process; its loans are written
    into an existing folder, as `core.reconciliation.tape.LOANS_FILE`. `name` is what its user called it.

    Formulas that came without a value are calculated with `now` as the moment of TODAY and NOW, and blank without it.

    Raises:
        TapeRefused: the file's fault, also where it crashed the child or passed its limits.
        OSError: the machine's fault.
        InterruptedError: `stop` was set.
    """
    order = TapeOrder(str(path.resolve()), name or path.name, trustee, mapping)
    with workplace(folder) as place:
        return read_by_child(
            READ_TAPE,
            order,
            now=now,
            reads=[order.path],
            writes=place,
            **bounds,
        )
