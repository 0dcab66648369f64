"""Compliance results of what is read beside those of a workbook with the printed values."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from core.compliance.run import run_suite
from core.grid.sheet import Workbook
from core.portfolio import Portfolio

DEFINITIONS: Final = {"USD": "us_bsl", "EUR": "euro"}


class Outcome(NamedTuple):
    """The result of a test."""

    value: float | None
    status: str
    threshold: float | None


def outcomes(book: Workbook, definition: Any) -> dict[str, Outcome]:
    """Return the result of each test of the enhanced suite."""
    portfolio = Portfolio.from_workbook(book)
    results = run_suite(portfolio, "enhanced", definition=definition, details=False)
    return {result.test_id: Outcome(result.current_value, result.status, result.threshold_value) for result in results}


def differences(read: dict[str, Outcome], printed: dict[str, Outcome]) -> list[str]:
    """Return lines of what differs."""
    lines = [f"{name}: no row" for name in printed.keys() - read.keys()]
    lines += [f"{name}: a row too many" for name in read.keys() - printed.keys()]
    for name in printed.keys() & read.keys():
        for part, own, printed_part in zip(Outcome._fields, read[name], printed[name], strict=True):
            if not _same(own, printed_part):
                lines.append(f"{name} {part}: {own}, not {printed_part}")
    return sorted(lines)


def _same(own: Any, printed_part: Any) -> bool:
    if isinstance(own, float | int) and isinstance(printed_part, float | int):
        return math.isclose(own, printed_part, rel_tol=1e-9, abs_tol=1e-9)
    return bool(own == printed_part)
