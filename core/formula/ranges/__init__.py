"""Cells as functions read them: the place of a formula, and sums, counts and indexes over its ranges."""

from core.formula.ranges.environment import Environment

__all__ = ["Environment"]
