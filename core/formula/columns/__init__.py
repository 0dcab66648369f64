"""The same trees over whole columns."""

from core.formula.columns.vector import Plan, plan

__all__ = ["Plan", "plan"]
