"""The pictures, as SVG that is readable on light and dark pages.

It has a ground of its own, which follows the reader.

A picture is rows under each other: a label on the left, a strip in the middle, a text on the right. Nothing shares a
line with another row, so no label can lie upon another, however many there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from xml.sax.saxutils import escape

from bench.report.runs import BenchmarkRow, BenchmarkRun
from bench.report.tables import percent, times

ROW, TOP, EDGE, STRIP = 20, 80, 16, 400
"""Pixels: the height of a row, the heads above the first, the margin, the width of the strip."""
LETTER = 6.7
"""Mean width of a letter at 12 pixels, in the widest of the usual fonts."""

STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 } .head { font-weight: 600 } .faint { fill: #59636e }
.ground { fill: #ffffff; stroke: #d1d9e0 } .line { stroke: #d1d9e0 } .one { stroke: #59636e }
.ahead { fill: #0f8a7e } .behind { fill: #c4561a } .other { fill: #ffffff; stroke: #59636e; stroke-width: 1.3 }
.target { stroke: #8250df; stroke-width: 2.5 } .path { fill: none; stroke: #0f8a7e; stroke-width: 1.6 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .faint { fill: #9198a1 } .ground { fill: #0d1117; stroke: #3d444d } .line { stroke: #30363d }
.one { stroke: #9198a1 } .ahead { fill: #2fbfae } .behind { fill: #f0883e } .other { fill: #0d1117; stroke: #9198a1 }
.target { stroke: #b794f4 } .path { stroke: #2fbfae }
}"""

Strip = Callable[[BenchmarkRow, float], str]
"""What stands in the strip of a row, whose middle is this far down."""


class Scale:
    """A logarithmic scale over the strip, from one power of ten to another."""

    def __init__(self, left: float, values: Iterable[float]) -> None:
        powers = [math.log10(value) for value in values]
        self.left, self.least, self.most = (
            left,
            math.floor(min(powers)),
            max(math.ceil(max(powers)), math.floor(min(powers)) + 1),
        )

    def at(self, value: float) -> float:
        """The place of a value in pixels."""
        return self.left + (math.log10(value) - self.least) / (self.most - self.least) * STRIP

    def lines(self, height: float, label: Callable[[float], str]) -> str:
        """A line and its value at each power of ten."""
        parts = []
        for power in range(self.least, self.most + 1):
            x = self.at(10.0**power)
            parts.append(_upright("one" if power == 0 else "line", x, TOP - 8, height - EDGE))
            parts.append(_text(x, TOP - 14, label(10.0**power), kind="faint", anchor="middle"))
        return "".join(parts)


def peers(rows: Sequence[BenchmarkRow]) -> str:
    """Our ratio to each contender.

    A bar to the fastest peer, a ring for each other, a line at a target.
    """
    rows = [row for row in rows if row.extra_info.ratio is not None]
    values = [value for row in rows for value in (*row.extra_info.targets, *row.extra_info.ratios.values())]
    scale = Scale(_left(rows), [1.0, *values])

    def strip(row: BenchmarkRow, middle: float) -> str:
        extra = row.extra_info
        parts = [_bar("ahead" if extra.ratio >= 1 else "behind", scale.at(1.0), scale.at(extra.ratio), middle)]
        parts += [_ring(scale.at(ratio), middle) for name, ratio in extra.ratios.items() if name != extra.best_peer]
        parts += [_upright("target", scale.at(target), middle - 8, middle + 8) for target in extra.targets]
        return "".join(parts)

    labels = [f"{times(row.extra_info.ratio)}  {row.extra_info.best_peer}" for row in rows]
    legend = "bar: the fastest peer · ring: others · upright line: target"
    return _picture(
        "Times as fast as the peers", legend, rows, labels, strip, lambda height: scale.lines(height, times)
    )


def limits(rows: Sequence[BenchmarkRow]) -> str:
    """The share of our time that copying the bytes that must be touched takes.

    The ring is that of the fastest peer.
    """
    rows = [row for row in rows if row.extra_info.limit_ratio is not None]
    theirs = [row.extra_info.limit_ratio / row.extra_info.ratio for row in rows if row.extra_info.ratio]
    scale = Scale(_left(rows), [1.0, *theirs, *(row.extra_info.limit_ratio for row in rows)])

    def strip(row: BenchmarkRow, middle: float) -> str:
        share, ratio = row.extra_info.limit_ratio, row.extra_info.ratio
        own = _bar("ahead", scale.left, scale.at(share), middle)
        return own + (_ring(scale.at(share / ratio), middle) if ratio else "")

    labels = [percent(row.extra_info.limit_ratio) for row in rows]
    legend = "limit: the bytes that must be read and written, at the speed of a copy · ring: the fastest peer"
    return _picture(
        "Share of the physical limit", legend, rows, labels, strip, lambda height: scale.lines(height, percent)
    )


def trend(runs: Sequence[BenchmarkRun]) -> str:
    """The ratio to the fastest peer in each run, around the median of the runs.

    A path for each question.
    """
    history: dict[str, list[float]] = {}
    for row in (row for run in runs for row in run.ours if row.extra_info.ratio is not None):
        history.setdefault(row.extra_info.question, []).append(row.extra_info.ratio)
    rows = [row for row in runs[-1].ours if len(history.get(row.extra_info.question, ())) > 1]
    left = _left(rows)
    middle_of = {name: sorted(ratios)[len(ratios) // 2] for name, ratios in history.items()}

    def strip(row: BenchmarkRow, middle: float) -> str:
        ratios, usual = history[row.extra_info.question], middle_of[row.extra_info.question]
        step = STRIP / (len(ratios) - 1)
        heights = [middle - 9 * max(-1.0, min(1.0, math.log2(ratio / usual))) for ratio in ratios]
        path = " ".join(f"{left + at * step:.1f},{height:.1f}" for at, height in enumerate(heights))
        level = f'<line class="line" x1="{left:.1f}" x2="{left + STRIP:.1f}" y1="{middle}" y2="{middle}"/>'
        end = f'<circle class="ahead" cx="{left + STRIP:.1f}" cy="{heights[-1]:.1f}" r="3"/>'
        return f'{level}<polyline class="path" points="{path}"/>{end}'

    labels = [f"{times(row.extra_info.ratio)}  (median {times(middle_of[row.extra_info.question])})" for row in rows]
    days = f"{runs[0].datetime[:10]} to {runs[-1].datetime[:10]}"
    legend = f"{len(runs)} runs, {days} · the height of a row: half to twice its median"
    return _picture("Times as fast as the fastest peer, run by run", legend, rows, labels, strip, lambda _: "")


def _picture(
    title: str,
    legend: str,
    rows: Sequence[BenchmarkRow],
    labels: Sequence[str],
    strip: Strip,
    under: Callable[[float], str],
) -> str:
    """The rows under the heads of their areas.

    `said` stands right of each, `under` gives the lines behind all.
    """
    left = _left(rows)
    parts, y, texts = [], TOP, iter(labels)
    for area, inside in groupby(rows, key=lambda row: row.area):
        parts.append(_text(EDGE, y + 14, area, kind="head"))
        y += ROW
        for row in inside:
            middle = y + ROW / 2
            parts.append(_text(left - 12, middle + 4, row.extra_info.question, anchor="end"))
            parts.append(strip(row, middle))
            parts.append(_text(left + STRIP + 12, middle + 4, next(texts)))
            y += ROW
    width = left + STRIP + 12 + LETTER * max(map(len, labels), default=0) + EDGE
    height = y + EDGE
    heads = _text(EDGE, 26, title, kind="title") + _text(EDGE, 46, legend, kind="faint")
    ground = f'<rect class="ground" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="6"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img"'
        f' aria-label="{escape(title)}"><style>{STYLE}</style>{ground}{heads}{under(height)}{"".join(parts)}</svg>\n'
    )


def _left(rows: Sequence[BenchmarkRow]) -> float:
    """Where the strips begin: behind the longest label."""
    return EDGE + 12 + LETTER * max((len(row.extra_info.question) for row in rows), default=0)


def _text(x: float, y: float, text: str, *, kind: str = "", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _upright(kind: str, x: float, top: float, foot: float) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{foot:.1f}"/>'


def _bar(kind: str, start: float, end: float, middle: float) -> str:
    left, right = sorted((start, end))
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{middle - 5:.1f}" width="{max(right - left, 1.0):.1f}" height="10"/>'
    )


def _ring(x: float, middle: float) -> str:
    return f'<circle class="other" cx="{x:.1f}" cy="{middle:.1f}" r="3.5"/>'
