"""The catalogue of functions, which `families` fills with their bodies; `core.formula.FUNCTIONS` is the full one."""

from core.formula.functions.catalogue import FUNCTIONS, Function

__all__ = ["FUNCTIONS", "Function"]
