"""Object code, loaded into this process by llvmlite."""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final

from core.native.folder import key_of
from core.native.written import Written

OPTIONS: Final = "1"
"""The version of what `compiler` does with a source; another one makes other files."""

_load = Lock()


def _renew_lock() -> None:
    global _load
    _load = Lock()


os.register_at_fork(after_in_child=_renew_lock)


class Code:
    """A loaded loop."""

    __slots__ = ("_engine", "address", "rows")

    def __init__(self, engine: Any, address: int) -> None:
        self._engine = engine
        """Frees the code when it goes, so whoever runs the loop holds on to it."""
        self.address = address
        """Of a C function with the types of the signature."""
        self.rows = 0
        """That it has calculated."""


@cache
def is_installed() -> bool:
    """Return whether Numba and llvmlite are installed; imports neither."""
    return find_spec("llvmlite") is not None and find_spec("numba") is not None


def llvm() -> Any:
    """Return llvmlite's binding, ready for this processor.

    Raises:
        ImportError: llvmlite is not installed.
    """
    with _load:
        return _llvm()


@cache
def _llvm() -> Any:
    spec = find_spec("llvmlite")
    for library in Path(spec.origin).parent.glob("binding/libllvmlite.*") if spec and spec.origin else ():
        # The import's own dlopen holds the interpreter's lock for 20 ms; one that is called as a function does not.
        ctypes.CDLL(None).dlopen(bytes(library), ctypes.DEFAULT_MODE | 2)
    from llvmlite import binding  # type: ignore[import-untyped]  # 40 MB, which the first loop pays

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def machine() -> Any:
    """Return LLVM's description of this processor, to compile for."""
    name, features = processor()
    return llvm().Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=3, jit=True)


@cache
def processor() -> tuple[str, str]:
    """Return the name and the features of this processor, to compile for."""
    binding = llvm()
    features = binding.get_host_cpu_features().flatten()
    if "+avx512vbmi2" in features:  # one that does not slow down for wide vectors, 1.2 times as fast with them
        features += ",-prefer-256-bit"
    return binding.get_host_cpu_name(), features


def key(written: Written) -> bytes:
    """Return the name of a loop's object code in the folder, on this processor."""
    return key_of(*_surroundings(), *written)


@cache
def _surroundings() -> tuple[str, ...]:
    versions = (OPTIONS, version("numba"), version("llvmlite"), platform.python_version(), platform.machine())
    return (*versions, *processor())


def load(code: bytes) -> Code:
    """Return the loop of an object file.

    Raises:
        RuntimeError: LLVM cannot read it.
    """
    binding = llvm()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address("loop")
    if not address:
        raise RuntimeError("no function `loop`")
    return Code(engine, address)
