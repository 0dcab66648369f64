"""The same trees over whole columns."""

from core.formula.columns.vector import Plan, map_columns, plan

__all__ = ["Plan", "map_columns", "plan"]
