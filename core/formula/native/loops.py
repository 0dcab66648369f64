"""The loops of this process.

Which formulas have run down enough rows to be worth one, and those that are compiled.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Any, Final

from core.confined import here
from core.formula.native.recipe import LoopRecipe
from core.formula.native.text import text_of

ROWS_MIN: Final = 4_096
"""Runs of fewer rows are not counted: what looks for a loop costs as much as it gains there."""

WORTH: Final = 100_000_000
"""Rows times steps from which on a loop is made: compiling costs what it saves on about so many."""

LOOPS_MAX: Final = 256
"""Loops that are kept, each about 20 kB; those that ran last."""

COUNTED_MAX: Final = 512
"""Formulas whose rows are counted, each up to 50 kB."""

WAITING_MAX: Final = 32
"""Formulas that wait to be compiled; more are asked for again by a later run."""


class Loop:
    """A compiled recipe."""

    __slots__ = ("_engine", "address", "rows")

    def __init__(self, engine: Any, address: int) -> None:
        self._engine = engine
        """Frees the code when it goes, so whoever runs the loop holds on to it."""
        self.address = address
        self.rows = 0
        """That it has calculated."""


class Loops:
    """Counts, compiles in a thread of its own that ends when nothing waits, and keeps; a confined child only counts.

    A child that was forked keeps the loops and their code; what waited then is asked for again.
    """

    def __init__(self, worth: int = WORTH) -> None:
        self.worth = worth
        self._work: OrderedDict[LoopRecipe, int] = OrderedDict()
        self._loops: OrderedDict[LoopRecipe, Loop | None] = OrderedDict()
        self._open()
        os.register_at_fork(after_in_child=self._open)

    def _open(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[LoopRecipe] = deque()
        self._thread: threading.Thread | None = None

    def of(self, recipe: LoopRecipe, rows: int) -> Loop | None:
        """Return the loop for so many more rows; None while there is none."""
        with self._lock:
            if recipe in self._loops:
                self._loops.move_to_end(recipe)
                return self._loops[recipe]
            self._work[recipe] = work = self._work.pop(recipe, 0) + rows * len(recipe.steps)
            if len(self._work) > COUNTED_MAX:
                self._work.popitem(last=False)
            if work < self.worth or here.confined:
                return None
            if recipe not in self._waiting and len(self._waiting) < WAITING_MAX:
                self._waiting.append(recipe)
            if self._thread is None:
                # No daemon: the interpreter waits for the loop that is made (a compiler that is torn down at work
                # crashes), and not for the others.
                thread = threading.Thread(target=self._compile_all, name="formula-loops")
                with suppress(RuntimeError):  # there is none to be had: a later run asks again
                    thread.start()
                    self._thread = thread
            return None

    @property
    def rows(self) -> int:
        """That the kept loops have calculated."""
        with self._lock:
            return sum(loop.rows for loop in self._loops.values() if loop is not None)

    def recipes(self) -> list[LoopRecipe]:
        """Of the loops that are kept."""
        with self._lock:
            return [recipe for recipe, loop in self._loops.items() if loop is not None]

    def finish(self) -> None:
        """Wait until all that is asked for is compiled."""
        if (thread := self._thread) is not None:
            thread.join()

    def _compile_all(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                recipe = self._waiting[0]
            try:
                loop = compiled(recipe)
            except (ImportError, OSError, MemoryError, RuntimeError):  # no LLVM, or none for this: chunks go on
                loop = None
            with self._lock:
                self._waiting.popleft()
                self._work.pop(recipe, None)
                self._loops[recipe] = loop
                if len(self._loops) > LOOPS_MAX:
                    self._loops.popitem(last=False)


def compiled(recipe: LoopRecipe) -> Loop:
    """Return the loop of a recipe.

    Raises:
        ImportError: llvmlite is not installed.
        RuntimeError: LLVM's own.
    """
    from llvmlite import binding as llvm  # type: ignore[import-untyped]  # 30 ms and 40 MB, which the first loop pays

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text_of(recipe))
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
    )
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return Loop(engine, engine.get_function_address("loop"))


LOOPS: Final = Loops()
"""Those of this process."""
