"""A tree becomes a program of steps, which runs for one value."""

from core.formula.machine.machine import CompiledTree, compile  # noqa: A004 - it compiles

__all__ = ["CompiledTree", "compile"]
