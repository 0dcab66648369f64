"""Print how well reports of every style are read.

Python -m tests.made_reports --seeds 300 --mutants 1000 --show 40.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections import Counter
from random import Random
from typing import Any

from tests.core.portfolio.conftest import Shown
from tests.made_reports.changes.mutate import CHANGES, mutate
from tests.made_reports.model import Report, sheet_rows
from tests.made_reports.score import Score, read_report, score_report
from tests.made_reports.styles.catalogue import STYLES, report_of


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.made_reports", description=__doc__)
    parser.add_argument("--seeds", type=int, default=70, help="reports as their style prints them")
    parser.add_argument("--mutants", type=int, default=0, help="reports that are changed at random")
    parser.add_argument("--blank-headings", action="store_true", help="those mutants alone that lack headings")
    parser.add_argument("--style", choices=sorted(STYLES), help="this style alone")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--show", type=int, default=30, help="examples of each kind")
    parser.add_argument("--field", help="examples of this field alone")
    parser.add_argument("--print", type=int, metavar="SEED", help="print the sheets of one report instead")
    parser.add_argument("--changes", type=int, metavar="SEEDS", help="print what each change alone costs instead")
    options = parser.parse_args()
    if options.changes:
        print(losses(options.changes, options.style))
        return
    if options.print is not None:
        report = report_of(options.print, options.style)
        if options.mutants:
            mutate(report, options.print, blank_headings=options.blank_headings)
        print(sheets(report, options.show))
        return
    for count, is_mutant in ((options.seeds, False), (options.mutants, True)):
        if not count:
            continue
        score, started = Score(), time.perf_counter()
        spent = Counter[str]()
        for seed in range(options.first, options.first + count):
            report = report_of(seed, options.style)
            if is_mutant:
                report = mutate(report, seed, blank_headings=options.blank_headings)
            _add(score, report, spent)
        print(f"\n== {count} {'mutants' if is_mutant else 'reports'} in {time.perf_counter() - started:.1f} s")
        print(f"   reading {spent['read'] / 1e9 / count:.3f} s, scoring {spent['score'] / 1e9 / count:.3f} s a report")
        print(table(score))
        print(f"figures: {dict(score.figures)}; reports: {dict(score.reports)}")
        print(examples(score, options.show, options.field))


def _add(score: Score, report: Report, spent: Counter[str]) -> None:
    started = time.perf_counter_ns()
    try:
        portfolio = read_report(report)
    except Exception:
        print(f"{report.style} {report.seed} {report.changes}: not read\n{traceback.format_exc(limit=-3)}")
        score.reports[f"{report.style} not read"] += 1
        return
    spent["read"] += time.perf_counter_ns() - started
    started = time.perf_counter_ns()
    score_report(score, report, portfolio)
    spent["score"] += time.perf_counter_ns() - started


def losses(seeds: int, style: str | None) -> str:
    """What each change of the mutator alone takes off the share of right cells, with the reports that lose most."""
    as_made = [_share_of(report_of(seed, style)) for seed in range(seeds)]
    lines = []
    for _, change in CHANGES:
        lost = []
        for seed in range(seeds):
            report = report_of(seed, style)
            if change(Random(f"change {seed}"), report):
                lost.append((as_made[seed] - _share_of(report), f"{report.style} {seed}"))
        worst = ", ".join(f"{name} {loss:.0%}" for loss, name in sorted(lost, reverse=True)[:6] if loss > 0.01)
        mean = sum(loss for loss, _ in lost) / max(1, len(lost))
        lines.append(f"{change.__name__:18} {len(lost):4} reports {mean:7.1%}  {worst}")
    return "\n".join(lines)


def _share_of(report: Report) -> float:
    score = Score()
    try:
        score_report(score, report, read_report(report))
    except Exception as error:
        print(f"{report.style} {report.seed} is not read: {error!r}")
    return score.share


def sheets(report: Report, lines: int) -> str:
    """Return the first lines of each sheet, with its state."""
    lines_of = [f"{report.style} {report.seed} {report.changes} {report.habits}"]
    for name, rows, state in sheet_rows(report):
        lines_of.append(f"== {name} ({state}, {len(rows)} rows)")
        lines_of += [" | ".join("" if cell is None else _shown(cell) for cell in row) for row in rows[:lines]]
    return "\n".join(lines_of)


def _shown(cell: Any) -> str:
    return f"{cell.number} {cell.number_format}" if isinstance(cell, Shown) else repr(cell)


def table(score: Score) -> str:
    """Return shares of cells by style, and by field and style."""
    styles = [style for style in score.reports if style in STYLES]
    names = sorted({name for _, name in score.counts}, key=lambda name: (name.startswith(("any", "false")), name))
    lines = [f"{score.share:.2%} of cells right, {len(score.silent)} columns and figures wrong without a doubt", ""]
    lines.append(f"{'right % / wrong %':28}" + "".join(f"{style:>14}" for style in styles) + f"{'all':>14}")
    for name in names:
        cells = [score.counts.get((style, name), Counter()) for style in styles]
        cells.append(sum(cells, Counter()))
        lines.append(f"{name:28}" + "".join(f"{_share(cell):>14}" for cell in cells))
    cells = [sum((count for (own, _), count in score.counts.items() if own == style), Counter()) for style in styles]
    cells.append(sum(cells, Counter()))
    lines.append(f"{'all fields':28}" + "".join(f"{_share(cell):>14}" for cell in cells))
    if score.changes:
        shares = sorted((counts["right"] / counts.total(), name) for name, counts in score.changes.items())
        lines += ["", "with " + ", ".join(f"{name} {share:.1%}" for share, name in shares)]
    return "\n".join(lines)


def _share(counts: Counter[str]) -> str:
    total = counts.total()
    return f"{counts['right'] / total:.1%} /{counts['wrong'] / total:6.1%}" if total else "-"


def examples(score: Score, count: int, name: str | None) -> str:
    """The worst columns, those that are wrong without a doubt first, at most two of a field and style."""
    shown, lines = Counter[tuple[str, str]](), []
    own = [miss for miss in score.misses if name in (None, miss.field)]
    for miss in sorted(own, key=lambda each: (not each.is_silent, -each.counts.total())):
        if name is None and shown[miss.style, miss.field] >= 2:
            continue
        shown[miss.style, miss.field] += 1
        lines.append(miss.line())
        if len(lines) == count:
            break
    figures = sorted(score.figure_misses, key=lambda line: ("WITHOUT" not in line, "wrong" not in line))
    return "\n".join([*lines, *figures[:count]])


if __name__ == "__main__":
    main()
