"""Change a report at random: headings, columns and pages, in two to six ways."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from tests.made_reports.changes import columns, pages
from tests.made_reports.model import Report

CHANGES: Final[tuple[tuple[int, Callable[[Random, Report], bool]], ...]] = (
    (0, pages.merge_pages),
    (1, columns.merge_names),
    (1, columns.merge_rates),
    (1, columns.use_thousands),
    (2, pages.split),
    (3, columns.rename),
    (4, columns.add_sinks),
    (4, columns.add_blank_columns),
    (4, columns.add_marks),
    (4, columns.add_watches),
    (5, columns.reorder),
    (5, pages.reorder_rows),
    (6, pages.group),
    (7, pages.repeat_heads),
    (7, pages.break_heads),
    (7, pages.add_total),
    (7, pages.add_titles),
    (7, pages.add_foot),
    (7, pages.add_gaps),
    (7, pages.add_units),
    (7, pages.merge_titles),
    (7, pages.center_titles),
    (7, pages.shift),
    (8, pages.add_prior),
    (8, pages.add_template),
    (9, pages.cut_names),
    (9, pages.blank_repeats),
    (9, pages.write_texts),
    (9, pages.stack),
)
"""Step and change: those of lower steps come first, since later ones build on the columns and pages that they leave."""

_EXCLUSIVE: Final = ({pages.stack, pages.add_prior}, {pages.stack, pages.add_template})
"""Changes that would make a report which no reader could take apart."""


_BLANK_EVERY: Final = 5


def has_blank_headings(seed: int) -> bool:
    """Return whether the mutant of a seed lacks a fifth of its headings."""
    return seed % _BLANK_EVERY == 0


def mutate(report: Report, seed: int, *, blank_headings: bool = False) -> Report:
    """Change a report at random, by seed, in place.

    `blank_headings` takes a fifth of the headings away as well.
    """
    rng = Random(f"mutant {seed}")
    sample = rng.sample(CHANGES, rng.randrange(2, 7))
    functions = [change for _, change in sorted(sample, key=lambda pair: (pair[0], CHANGES.index(pair)))]
    for pair in _EXCLUSIVE:
        if pair <= set(functions):
            functions.remove(pages.stack)
    for change in functions:
        if change(rng, report):
            report.changes.append(change.__name__)
    if blank_headings:
        columns.blank_headings(rng, report)
        report.changes.append("blank_headings")
    return report
