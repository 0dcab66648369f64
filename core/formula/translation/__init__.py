"""Formulas as Python, NumPy and pandas source."""

from core.formula.translation.translate import Target, translate

__all__ = ["Target", "translate"]
