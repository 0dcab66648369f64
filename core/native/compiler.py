"""The program that compiles.

`python -m core.native.compiler FOLDER`, started by `core.native.loops` only. It reads orders from its standard input, a
line of JSON each, answers each with a line, and ends with its input or after a minute without an order.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from core.native import code, folder
from core.native.written import NAMES, Written

NICE: Final = 19
"""The lowest priority: whoever answers others goes first."""

IDLE_SECONDS: Final = 60
"""After the last order: the next process takes a second for the import of Numba."""

CPU_SECONDS_MAX: Final = 60
"""Of a loop; one of 256 steps takes about 2."""

MEMORY_BYTES_MAX: Final = 3 * 1024**3
"""Of addresses; Numba itself takes 0.6 GB of them."""

_POINTERS_CHECKED_MAX: Final = 256
"""Pairs of columns whose overlap is ruled out before a loop runs by vectors; LLVM's own limit is 8."""


class CompileOrder(msgspec.Struct):
    """A loop to be compiled."""

    source: str
    signature: str


class CompileOutcome(msgspec.Struct):
    """What came of an order."""

    failure: str | None = None
    """Why there is no code."""
    is_passing: bool = False
    """Whether there may be some later: a full disk, or too little memory."""


def main(path: str) -> None:
    """Compile until no more orders come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # is for the parent, at whose end the input ends
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_AS, MEMORY_BYTES_MAX)
    orders, answers = sys.stdin.buffer, _answers()
    while select.select([orders], [], [], IDLE_SECONDS)[0] and (line := orders.readline()):
        _limit_time()
        answers.write(msgspec.json.encode(_outcome(Path(path), line)) + b"\n")
        answers.flush()


def _answers() -> BinaryIO:
    """Return where answers go; what a library prints is lost."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _limit_time() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + CPU_SECONDS_MAX)


def _limit(kind: int, most: int) -> None:
    """Set a limit, or keep the lower one that the process was started with."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _outcome(path: Path, line: bytes) -> CompileOutcome:
    try:
        order = msgspec.json.decode(line, type=CompileOrder)
        written = Written(order.source, order.signature)
        key = code.key(written)
        with folder.opened(path) as place, folder.locked(place):
            if folder.read(place, key) is None:  # else another process was first
                folder.write(place, key, compiled(written))
    except Exception as fault:  # whatever it is, the next loop may do
        failure = f"{type(fault).__name__}: {fault}"[:1_000]
        return CompileOutcome(failure=failure, is_passing=isinstance(fault, OSError | MemoryError))
    return CompileOutcome()


def compiled(written: Written) -> bytes:
    """Return the object code of a loop: a function of C that needs nothing else.

    Raises:
        Exception: Numba's or LLVM's own.
        ValueError: it would raise, allocate, or call something.
    """
    numba, names = _numba()
    namespace: dict[str, Any] = {"__builtins__": {}} | {name: names[name] for name in NAMES}
    exec(written.source, namespace)  # noqa: S102 - our own text, over the names above
    options = {"nopython": True, "error_model": "numpy", "no_cpython_wrapper": True, "_nrt": False}
    function = numba.cfunc(written.signature, **options)(namespace["loop"])
    binding = code.llvm()
    module = binding.parse_bitcode(function._library._final_module.as_bitcode())  # Numba's way to it, without a text
    for each in (*module.functions, *module.global_variables):
        if each.name == function.native_name:
            each.name = "loop"
        elif not each.is_declaration:
            each.linkage = "internal"
    _clean(binding, module)
    if needs := [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]:
        raise ValueError(f"the loop needs {', '.join(needs)}")
    return code.machine().emit_object(module)  # type: ignore[no-any-return]


def _clean(binding: Any, module: Any) -> None:
    """Drop what nothing calls.

    The wrapper for C looks for an exception, which a loop never raises: that is seen across the call.
    """
    passes = binding.create_new_module_pass_manager()
    passes.add_ipsccp_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, binding.create_pass_builder(code.machine(), binding.create_pipeline_tuning_options()))


def _numba() -> tuple[Any, dict[str, Any]]:
    if "numba" not in sys.modules:
        with suppress(RuntimeError):
            code.llvm().set_option("cushion", f"-runtime-memory-check-threshold={_POINTERS_CHECKED_MAX}")
    import numba
    import numpy as np

    names = {name: getattr(np, name) for name in ("floor", "ceil", "nan", "inf")}
    names["sqrt"] = numba.extending.intrinsic(_sqrt)
    names |= {name: getattr(numba, name) for name in ("carray", "uint8", "int32", "int64", "float64")}
    return numba, names | {each.__name__: each for each in (range, abs, float, int, min, max)}


def _sqrt(typing: Any, x: Any) -> Any:
    """LLVM's own root, which runs by vectors; Numba's would call the one of C."""

    def calculate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [arguments[0].type]), arguments)

    return x(x), calculate


if __name__ == "__main__":
    main(*sys.argv[1:])
