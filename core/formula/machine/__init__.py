"""A tree becomes a program of steps, which runs for one value.

Programs are kept by their text, since references are relative. `machine.pyx` and its parts coerce arguments, pass
errors on and spread scalar functions over arrays.
"""

from core.formula.machine.arrays import beyond, lifts, may_be_array
from core.formula.machine.machine import CompiledTree, compile  # noqa: A004 - it compiles

__all__ = ["CompiledTree", "beyond", "compile", "lifts", "may_be_array"]
