"""Change a report at random."""

from __future__ import annotations

from tests.made_reports.model import Report


def mutate(report: Report, seed: int, *, blank_headings: bool = False) -> Report:
    """Change a report at random, by seed."""
    return report
