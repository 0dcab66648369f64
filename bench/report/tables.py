"""The tables: a short one for the README, a whole one by area, how the work grows, and the machine in a line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from bench.report.runs import BenchmarkRow, BenchmarkRun, RowTold
from docs.generated.markdown import table


def machine(run: BenchmarkRun) -> str:
    """What was measured on what, in one paragraph."""
    host = run.machine
    versions = ", ".join(
        f"{name} {version}" for name, version in sorted(host.versions.items()) if version and name != "cushion"
    )
    return (
        f"Measured on {run.datetime[:10]} at commit {run.commit_info.id[:12]}"
        f"{' with changes' if run.commit_info.dirty else ''}: {host.cpu}, {host.cores} cores,"
        f" {host.memory_bytes / 2**30:.0f} GiB, {host.system}; a copy in memory by one thread reads and writes"
        f" {host.copy_bytes_per_second / 1e9:.1f} GB/s; Python {host.python}, {versions}."
    )


def short(run: BenchmarkRun) -> str:
    """How many questions Cushion is ahead and behind in, and the rows of `chosen`."""
    rows = ((row.area, *_cells(row.extra_info)) for row in chosen(run))
    heads = ("", "question", "Cushion", "fastest peer", "times as fast", "target")
    return f"{counts(run)}\n\n{table(heads, rows)}"


def _cells(info: RowTold) -> Sequence[str]:
    """What the README says of a question."""
    target = {None: "none", True: f"met: {info.target}", False: f"missed: {info.missed or info.target}"}[info.met]
    return info.question, time(info.seconds), info.best_peer or "", times(info.ratio), target


def counts(run: BenchmarkRun) -> str:
    """How many questions are ahead of the fastest peer and behind it, and of the targets how many are met."""
    infos = [row.extra_info for row in run.ours]
    beside = [info for info in infos if info.ratio is not None]
    behind, missed = sum(info.is_behind for info in beside), sum(info.met is False for info in infos)
    aimed = sum(info.met is not None for info in infos)
    return (
        f"Of {len(beside)} questions beside peers Cushion is ahead of the fastest in {len(beside) - behind} and behind"
        f" in {behind}. Of {aimed} questions with a target {aimed - missed} meet it and {missed} do not."
    )


def chosen(run: BenchmarkRun) -> list[BenchmarkRow]:
    """Of each area the longest work that stands beside a peer; and whatever is behind or misses its target."""
    beside = [row for row in run.ours if row.extra_info.ratio is not None]
    areas = groupby(beside, key=lambda row: row.area)
    longest = [max(rows, key=lambda row: row.extra_info.seconds) for _, rows in areas]
    return [row for row in run.ours if row in longest or row.extra_info.is_behind or row.extra_info.met is False]


def whole(run: BenchmarkRun) -> str:
    """The counts, then every question, a table for each area."""
    parts = [counts(run)]
    for area, rows in groupby(run.ours, key=lambda row: row.area):
        parts += [f"## {area[0].upper()}{area[1:]}", table(HEADS, map(_line, rows))]
    return "\n\n".join(parts)


HEADS = ("question", "Cushion", "fastest peer", "times as fast", "others", "target", "met", "of the limit")


def _line(row: BenchmarkRow) -> Sequence[str]:
    extra = row.extra_info
    others = sorted((ratio, name) for name, ratio in extra.ratios.items() if name != extra.best_peer)
    return (
        extra.question,
        time(extra.seconds),
        extra.best_peer or "",
        times(extra.ratio),
        ", ".join(f"{name} {times(ratio)}" for ratio, name in others),
        extra.target or "none",
        extra.met_text,
        percent(extra.limit_ratio),
    )


def growth(run: BenchmarkRun) -> str:
    """Time and memory over the rows, with the exponent of each.

    The slope between logarithms, 1 where it is linear.
    """
    extra_infos = [row.extra_info for row in run.ours if row.extra_info.rows]
    if not extra_infos:
        return ""
    sizes = extra_infos[0].rows
    assert all(info.rows == sizes for info in extra_infos), "questions about growth have other sizes"
    lines = []
    for extra in extra_infos:
        pairs = zip(extra.seconds_by_rows, extra.peak_bytes_by_rows, strict=True)
        cells = [f"{time(seconds)}, {peak / 1e6:,.0f} MB" for seconds, peak in pairs]
        lines.append((extra.question, *cells, f"{extra.time_exponent:.2f}", f"{extra.memory_exponent:.2f}"))
    return table(("", *(f"{size:,} rows" for size in sizes), "exponent of time", "of memory"), lines)


def time(seconds: float) -> str:
    """A time with three digits at most, in its unit."""
    for unit, scale in (("us", 1e6), ("ms", 1e3)):
        if seconds * scale < 999.5:
            return f"{_digits(seconds * scale)} {unit}"
    return f"{_digits(seconds)} s"


def times(ratio: float | None) -> str:
    """A ratio with its sign."""
    return "" if ratio is None else f"{_digits(ratio)}x"


def percent(share: float | None) -> str:
    return "" if share is None else f"{_digits(share * 100)} %"


def _digits(value: float) -> str:
    """Two significant digits under 10, three under 1,000."""
    if value >= 99.5 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.995 else f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}"
