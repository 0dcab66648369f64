"""What a confined child does with the months of deals that it gets."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Final

import msgspec

from core.batch.order import READY, STEPS, Kind, MonthAnswer, MonthOrder, Seconds
from core.batch.read import MonthRefused, read_month
from core.batch.steps import STEP_FUNCTIONS, MonthWork, read_row
from core.batch.table import DealMonth, ResultRow, Step, refused_row
from core.confined.child import place_of
from core.confined.wire import ChildOutcome
from core.files.errors import FileRefused
from core.values import day_of

RESIDENT_BYTES_MAX: Final = 1024**3
"""Memory that a child may still hold after a month; beyond that it ends, and the next month gets a new one."""
_STATM: Final = Path("/proc/self/statm")
_PAGE_BYTES: Final = 4096


class MonthReader:
    """Reads the files of a month, does the steps, and answers with rows."""

    def __init__(self, *, reports: int, exports: int) -> None:
        """Load what the steps need, before the walls stand."""
        if reports:
            import typst  # noqa: F401

            import core.report.files
        if exports:
            import core.export.run  # noqa: F401
        self._ready_seconds = process_time()

    def __call__(self, order: bytes) -> tuple[bytes, bool]:
        """Return the answer to an order, and whether another one can follow."""
        if order == READY:
            return _encoded(MonthAnswer(rows=(), seconds={"start_up": self._ready_seconds})), True
        try:
            answer = _encoded(do_month(msgspec.json.decode(order, type=MonthOrder)))
        except MemoryError:
            return msgspec.json.encode(ChildOutcome(lacked_memory=True)), False
        except OSError as failure:
            return msgspec.json.encode(ChildOutcome(failed=(failure.errno, failure.strerror))), False
        except Exception as fault:
            return msgspec.json.encode(ChildOutcome(crashed=place_of(fault))), False
        return answer, _resident_bytes() <= RESIDENT_BYTES_MAX


def _encoded(answer: MonthAnswer) -> bytes:
    return msgspec.json.encode(ChildOutcome(answer=msgspec.Raw(msgspec.json.encode(answer))))


def _resident_bytes() -> int:
    return int(_STATM.read_text().split()[1]) * _PAGE_BYTES if _STATM.exists() else 0


class _Clock:
    """Where the processor time goes."""

    def __init__(self) -> None:
        self.seconds: Seconds = {}
        self._last = process_time()

    def note(self, kind: Kind) -> None:
        """Count the time since the last note for a kind."""
        now = process_time()
        self.seconds[kind] = self.seconds.get(kind, 0.0) + now - self._last
        self._last = now


_KINDS: Final[dict[Step, Kind]] = {"report": "writing", "export": "writing"}
"""What a step's time counts for, where it is not calculating."""


def do_month(order: MonthOrder) -> MonthAnswer:
    """Return the rows of a month, in the order of the steps.

    Raises:
        MemoryError: it needs more than this process may have.
        OSError: the machine's fault.
    """
    clock = _Clock()
    day = day_of(order.terms.as_of)
    month = DealMonth(
        deal=order.deal,
        files=order.names,
        sha256=order.sha256,
        as_of=day,
        as_of_source=None if day is None else "request",
    )
    folder = Path(order.writes)
    try:
        loans = read_month(order, folder)
        clock.note("reading")
        work = MonthWork(order, folder, month, loans)
        rows = [read_row(work)]
    except (FileRefused, MonthRefused) as refused:
        clock.note("reading")
        return MonthAnswer(rows=(refused_row(month, "read", reason_of(refused)),), seconds=clock.seconds)
    clock.note("calculating")
    for step in STEPS:
        if step in order.options.steps:
            rows += _rows_of_step(step, work)
            clock.note(_KINDS.get(step, "calculating"))
    return MonthAnswer(rows=tuple(rows), outputs=tuple(work.outputs), seconds=clock.seconds)


def _rows_of_step(step: Step, work: MonthWork) -> list[ResultRow]:
    try:
        return list(STEP_FUNCTIONS[step](work))
    except (FileRefused, MonthRefused) as refused:
        return [refused_row(work.month, step, reason_of(refused))]


def reason_of(refused: FileRefused | MonthRefused) -> str:
    """Return why files were refused, in words."""
    return f"{refused.message}: {refused.hint}" if isinstance(refused, FileRefused) else str(refused)
