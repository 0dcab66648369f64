"""Formulas as Python, pandas and SQL source."""

from core.formula.translation.translate import Target, translate

__all__ = ["Target", "translate"]
