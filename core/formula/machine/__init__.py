"""A tree becomes a program of steps, which runs for one value."""

from core.formula.machine.machine import CompiledTree, call, compile  # noqa: A004 - it compiles

__all__ = ["CompiledTree", "call", "compile"]
