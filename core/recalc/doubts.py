"""What to doubt of calculated values.

Cells that need each other, and iterations that did not settle.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.grid.calculation import CalculationDoubt
from core.recalc.result import Recalculation
from core.words import first_of

"""Cells that a message names."""


def doubts_of(result: Recalculation) -> tuple[CalculationDoubt, ...]:
    """Return what a reader of the values has to know, in the order of its weight."""
    return doubts([cell for cycle in result.cycles for cell in cycle], result.unconverged, result.iterations)


def doubts(circular: Sequence[str], unconverged: Sequence[str], iterations: int) -> tuple[CalculationDoubt, ...]:
    """Return the same of cells that need each other, and of those that still changed after so many iterations."""
    listed = []
    if circular:
        message = f"circular reference: {circular_message(circular)}"
        listed.append(CalculationDoubt("circular_reference", message, len(circular)))
    if unconverged:
        times = "1 iteration" if iterations == 1 else f"{iterations:,} iterations"
        message = (
            f"iterative calculation did not converge: after {times} these cells still change, and have the values of "
            f"the last one: {first_of(unconverged)}"
        )
        listed.append(CalculationDoubt("not_converged", message, len(unconverged)))
    return tuple(listed)


def circular_message(cells: Sequence[str]) -> str:
    """That cells need each other, for a workbook that does not iterate."""
    need = "needs its own result" if len(cells) == 1 else "need each other's results"
    return (
        f"{first_of(cells)} {need}; without iterative calculation such cells keep the values that they had, "
        "and neither they nor what depends on them are current"
    )
