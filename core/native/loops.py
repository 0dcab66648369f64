"""The loops of this process.

Which recipes have done enough work to be worth one, and those that are loaded.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Final

from core.confined import here
from core.native import code, folder
from core.native.code import Code
from core.native.process import COMPILER
from core.native.written import Recipe, Written

ROWS_MIN: Final = 4_096
"""Runs of fewer rows are not counted: what looks for a loop costs as much as it gains there."""

WORTH: Final = 100_000_000
"""Rows times steps from which on a loop is compiled: a second of another process, which chunks take for ten times."""

LOOKED_FOR: Final = 0.1
"""How much of that is done when the folder is asked whether another process had the loop compiled."""

LOOPS_MAX: Final = 256
"""Loops that are kept, each about 20 kB; those that ran last."""

COUNTED_MAX: Final = 512
"""Recipes whose work is counted, each up to 50 kB."""

WAITING_MAX: Final = 32
"""Recipes that wait for their code; more are asked for again by a later run."""


class Loops:
    """Counts work, has code compiled and loads it; a confined child only counts.

    A thread does so, which ends when nothing waits.

    A child that was forked keeps the loops and their code; what waited then is asked for again.
    """

    def __init__(self, worth: int = WORTH) -> None:
        self.worth = worth
        self.refusal = ""
        """Why the last loop that was asked for is not there."""
        self._work: OrderedDict[Recipe, int] = OrderedDict()
        self._loops: OrderedDict[Recipe, Code | None] = OrderedDict()
        self._open()
        os.register_at_fork(after_in_child=self._open)

    def _open(self) -> None:
        self._lock = threading.Lock()
        self._looked_for: deque[Recipe] = deque()
        self._waiting: deque[Recipe] = deque()
        self._thread: threading.Thread | None = None

    def of(self, recipe: Recipe, work: int) -> Code | None:
        """Return the loop for so many more rows times steps; None while there is none."""
        with self._lock:
            if recipe in self._loops:
                self._loops.move_to_end(recipe)
                return self._loops[recipe]
            before = self._work.pop(recipe, 0)
            self._work[recipe] = after = before + work
            if len(self._work) > COUNTED_MAX:
                self._work.popitem(last=False)
            if here.confined:
                return None
            if after >= self.worth:
                self._ask(self._waiting, recipe)
            elif before < self.worth * LOOKED_FOR <= after:
                self._ask(self._looked_for, recipe)
            return None

    def _ask(self, waiting: deque[Recipe], recipe: Recipe) -> None:
        if recipe not in waiting and len(waiting) < WAITING_MAX:
            waiting.append(recipe)
        if self._thread is None or not self._thread.is_alive():
            # No daemon: the interpreter waits for the code that is loaded (LLVM that is torn down at work crashes).
            thread = threading.Thread(target=self._load_all, name="native-loops")
            with suppress(RuntimeError):  # there is none to be had: a later run asks again
                thread.start()
                self._thread = thread

    @property
    def rows(self) -> int:
        """That the kept loops have calculated."""
        with self._lock:
            return sum(loop.rows for loop in self._loops.values() if loop is not None)

    def recipes(self) -> list[Recipe]:
        """Of the loops that are kept."""
        with self._lock:
            return [recipe for recipe, loop in self._loops.items() if loop is not None]

    def finish(self) -> None:
        """Wait until all that is asked for is there."""
        if (thread := self._thread) is not None:
            thread.join()

    def _load_all(self) -> None:
        while True:
            with self._lock:
                waiting = self._looked_for or self._waiting
                if not waiting or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                recipe, compiles = waiting[0], waiting is self._waiting
            loop, is_final = self._loop(recipe, compiles=compiles)
            with self._lock:
                waiting.popleft()
                if loop is not None or (compiles and is_final):
                    self._keep(recipe, loop)
                elif compiles:
                    self._work.pop(recipe, None)  # asked for again after as much work

    def _keep(self, recipe: Recipe, loop: Code | None) -> None:
        self._work.pop(recipe, None)
        self._loops[recipe] = loop
        if len(self._loops) > LOOPS_MAX:
            self._loops.popitem(last=False)

    def _loop(self, recipe: Recipe, *, compiles: bool) -> tuple[Code | None, bool]:
        """Return (the loop as `loaded` does, or None; whether that stays so)."""
        try:
            return loaded(recipe.written(), compiles=compiles), True
        except Exception as error:  # no Numba, no room, or none for this: chunks go on
            self.refusal = str(error) or type(error).__name__
            return None, not isinstance(error, OSError | MemoryError)


def loaded(written: Written, *, compiles: bool) -> Code | None:
    """Return the loop of a source from the folder.

    Where it is not there, None, or with `compiles` it is compiled first.

    Raises:
        ImportError: Numba or llvmlite is not installed.
        OSError: the folder is refused, or the compiling process ended.
        RuntimeError: there is no code for this source, or LLVM cannot read it.
    """
    if not code.is_installed():
        raise ImportError("numba is not installed: pip install 'cushion[native]'")
    path = folder.place()
    if not compiles and not path.is_dir():
        return None
    with folder.opened(path) as files:
        key = code.key(written)
        data = folder.read(files, key)
        if data is None and compiles:
            if (failure := COMPILER.compile(written, path)) is not None:
                raise RuntimeError(failure)
            data = folder.read(files, key)
        return None if data is None else code.load(data)


LOOPS: Final = Loops()
"""Those of this process."""
