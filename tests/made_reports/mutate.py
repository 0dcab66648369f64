"""Change a report at random: headings, columns and pages, in two to six ways."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from tests.made_reports import change_columns, change_pages
from tests.made_reports.model import Report

CHANGES: Final[tuple[tuple[int, Callable[[Random, Report], bool]], ...]] = (
    (0, change_pages.merge_pages),
    (1, change_columns.merge_names),
    (1, change_columns.merge_rates),
    (1, change_columns.use_thousands),
    (2, change_pages.split),
    (3, change_columns.rename),
    (4, change_columns.add_sinks),
    (4, change_columns.add_blank_columns),
    (4, change_columns.add_marks),
    (4, change_columns.add_watches),
    (5, change_columns.reorder),
    (5, change_pages.reorder_rows),
    (6, change_pages.group),
    (7, change_pages.repeat_heads),
    (7, change_pages.break_heads),
    (7, change_pages.add_total),
    (7, change_pages.add_titles),
    (7, change_pages.add_foot),
    (7, change_pages.add_gaps),
    (8, change_pages.add_prior),
    (8, change_pages.add_template),
    (9, change_pages.cut_names),
    (9, change_pages.write_texts),
    (9, change_pages.stack),
)
"""Step and change: those of lower steps come first, since later ones build on the columns and pages that they leave."""

_EXCLUSIVE: Final = ({change_pages.stack, change_pages.add_prior}, {change_pages.stack, change_pages.add_template})
"""Changes that would make a report which no reader could take apart."""


_BLANK_EVERY: Final = 5


def has_blank_headings(seed: int) -> bool:
    """Whether the mutant of a seed lacks a fifth of its headings."""
    return seed % _BLANK_EVERY == 0


def mutate(report: Report, seed: int, *, blank_headings: bool = False) -> Report:
    """Change a report at random, by seed, in place; `blank_headings` takes a fifth of the headings away as well."""
    rng = Random(f"mutant {seed}")
    chosen = rng.sample(CHANGES, rng.randrange(2, 7))
    functions = [change for _, change in sorted(chosen, key=lambda pair: (pair[0], CHANGES.index(pair)))]
    for pair in _EXCLUSIVE:
        if pair <= set(functions):
            functions.remove(change_pages.stack)
    for change in functions:
        if change(rng, report):
            report.changes.append(change.__name__)
    if blank_headings:
        change_columns.blank_headings(rng, report)
        report.changes.append("blank_headings")
    return report
