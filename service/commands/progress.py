"""Signs of life on stderr while something takes long, and nothing where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import Final


@contextmanager
def busy(label: str) -> Iterator[None]:
    """A spinner and the seconds, for work whose end is not known."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        progress.add_task(label, total=None)
        yield


LINE_SECONDS: Final = 30.0
"""How often work with a rate says on a stream that is no terminal how far it is."""


@contextmanager
def counting(label: str, total: int, *, rate: str | None = None) -> Iterator[Callable[[int], None]]:
    """A bar for work of `total` steps.

    The function that it gives takes the steps just done.

    Args:
        rate: show how many steps are done in the time that it names ("a second"). Such work may take hours, so a
            stream that is no terminal gets a line now and then.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = [TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    if rate is not None:
        columns.insert(3, TextColumn("{task.fields[rate]}", markup=False))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=total, rate="")
        lines = _Lines(label, total, rate) if rate is not None else None

        def advance(steps: int) -> None:
            if lines is not None:
                lines.add(steps, says=not console.is_terminal)
                progress.update(task, rate=lines.rate)
            progress.advance(task, steps)

        yield advance


class _Lines:
    """How far work is, in words."""

    def __init__(self, label: str, total: int, per: str | None) -> None:
        self._label, self._total, self._per = label, total, per
        self._done = 0
        self._began = self._last = monotonic()
        self.rate = ""

    def add(self, steps: int, *, says: bool) -> None:
        """Count steps; print a line if it is time for one."""
        self._done += steps
        now = monotonic()
        speed = self._done / max(now - self._began, 1e-9)
        self.rate = f"{speed:,.1f} {self._per}"
        if says and now - self._last >= LINE_SECONDS:
            self._last = now
            left = timedelta(seconds=round((self._total - self._done) / speed))
            line = f"{self._label}: {self._done:,} of {self._total:,}, {self.rate}, {left} left"
            print(line, file=sys.stderr, flush=True)
