"""The catalogue of functions, which `families` fills with their bodies; `core.formula.FUNCTIONS` is the full one."""

from core.formula.functions.catalogue import FUNCTIONS, Argument, Function, Takes, Work

__all__ = ["FUNCTIONS", "Argument", "Function", "Takes", "Work"]
