"""The kinds of charts.

A figure against its limit, shares, a distribution, a ratio through time with its trigger.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from math import ceil, floor, isfinite, log10
from typing import Final, Literal, NamedTuple

from core.charts.drawing import LABEL_PT, Chart, Drawing, width_of
from core.charts.palette import ACCENT, BAND, GROUND, INK, MUTED, PALE, PAPER, RULE, STATUS, Status

Direction = Literal["min", "max", "exact"]

TICKS: Final = 4
"""About how many lines an axis has."""

MARKER_ROOM_PT: Final = 6.0
"""From one month to the next, where each has its shape."""

LINE_PT: Final = 8.0
"""From one line of a label to the next."""


class Against(NamedTuple):
    """A figure and what it is held to, in one unit."""

    value: float
    limit: float
    direction: Direction
    status: Status
    warning: float | None = None
    low: float | None = None
    """The ends between which the figure is, where it is not known for certain."""
    high: float | None = None
    is_doubtful: bool = False
    """The status is doubtful: the marker is hollow and grey."""


class Bar(NamedTuple):
    """A bar of a distribution: its name, its height, and the height in words."""

    name: str
    value: float
    shown: str


class Moment(NamedTuple):
    """A figure on a day, with the trigger of that day."""

    day: date
    value: float
    trigger: float
    status: Status
    is_doubtful: bool = False
    """The status is doubtful: the marker is hollow and grey."""


# ---- a figure against its limit


_LIMIT_AT: Final = 0.72
"""Where a maximum stands, as a part of the width; beyond it is a breach."""

_FLOOR_AT: Final = 0.22
"""Where a minimum stands; before it is a breach."""


def bullet(row: Against, alt: str, *, width: float = 104.0, height: float = 12.0) -> Chart:
    """Return a maximum has a bar from zero that must end before the mark.

    A minimum, and what may be negative, a dot that must stand behind it, on a scale around it. Breach is hatched, the
    warning band is grey.
    """
    drawing = Drawing(width, height)
    middle, top, bottom = height / 2, height * 0.2, height * 0.8
    scale, is_max = _scale(row, width), row.direction == "max"
    limit, value = scale.at(row.limit), scale.at(row.value)
    low, high = (limit, width) if is_max else (0.0, limit)
    drawing.rect(0, top, width, bottom - top, fill=GROUND)
    if row.warning is not None and row.direction != "exact":
        start, end = sorted((limit, scale.at(row.warning)))
        drawing.rect(start, top, end - start, bottom - top, fill=BAND)
    drawing.hatched(low, top, high - low, bottom - top, stroke=RULE)
    colour = MUTED if row.is_doubtful else STATUS[row.status]
    if row.low is not None and row.high is not None:
        ends = scale.at(row.low), scale.at(row.high)
        drawing.line(ends[0], middle, ends[1], middle, stroke=MUTED, width=3)
    if scale.from_zero:
        drawing.rect(0, middle - 1.6, value, 3.2, fill=colour)
    else:
        drawing.line(limit, middle, value, middle, stroke=colour, width=1.6)
    drawing.line(limit, top - 1.4, limit, bottom + 1.4, stroke=INK, width=1.3)
    _marker(drawing, value, middle, row.status, is_doubtful=row.is_doubtful)
    return drawing.chart(alt)


def _marker(drawing: Drawing, x: float, y: float, status: Status, *, is_doubtful: bool = False) -> None:
    """Draw a disc that passes, a triangle that warns, a square that fails.

    The shape says it without the colour. A ring is doubtful.
    """
    colour = STATUS[status]
    if is_doubtful:
        drawing.circle(x, y, 3.0, fill=MUTED)
        drawing.circle(x, y, 1.8, fill=PAPER)
    elif status == "pass":
        drawing.circle(x, y, 2.6, fill=colour)
    elif status == "warning":
        drawing.shape([(x, y - 3.2), (x + 3.2, y + 2.6), (x - 3.2, y + 2.6)], fill=colour)
    else:
        drawing.rect(x - 2.5, y - 2.5, 5, 5, fill=colour)


class _Scale(NamedTuple):
    """Values to places between two margins."""

    low: float
    high: float
    left: float
    right: float
    from_zero: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value; beyond an end it is the end."""
        span = self.high - self.low
        part = (value - self.low) / span if span > 0 else 0.5
        return self.left + min(1.0, max(0.0, part)) * (self.right - self.left)


def _scale(row: Against, width: float) -> _Scale:
    margin = 3.5
    known = [value for value in (row.value, row.warning, row.low, row.high) if value is not None and isfinite(value)]
    if row.direction == "max" and row.limit > 0 and min(known) >= 0:
        return _Scale(0.0, row.limit / _LIMIT_AT, 0.0, width - margin, from_zero=True)
    mark = {"max": 1 - _FLOOR_AT, "min": _FLOOR_AT, "exact": 0.5}[row.direction]
    # Around the limit: so much to each side that everything known is on it, and a twentieth of the limit at the least.
    sides = [abs(each - row.limit) / (mark if each < row.limit else 1 - mark) for each in known]
    unit = max(*sides, abs(row.limit) * 0.05, 1e-9) * 1.1
    return _Scale(row.limit - mark * unit, row.limit + (1 - mark) * unit, margin, width - margin)


# ---- shares


def bar(
    value: float, most: float, alt: str, *, limit: float | None = None, width: float = 130.0, height: float = 9.0
) -> Chart:
    """One bar of several that share a scale from 0 to `most`, with the limit as a mark; a negative value has none."""
    drawing = Drawing(width, height)
    scale = _Scale(0.0, max(most, limit or 0.0, 1e-9) * 1.04, 0.0, width)
    drawing.line(0, 0, 0, height, stroke=RULE)
    drawing.rect(0, 1.2, scale.at(value), height - 2.4, fill=ACCENT)
    if limit is not None:
        drawing.line(scale.at(limit), 0, scale.at(limit), height, stroke=PAPER, width=2.6)
        drawing.line(scale.at(limit), 0, scale.at(limit), height, stroke=INK, width=1.1)
    return drawing.chart(alt)


# ---- a distribution


def columns(
    rows: Sequence[Bar],
    alt: str,
    *,
    muted: frozenset[str] = frozenset(),
    width: float = 244.0,
    height: float = 112.0,
) -> Chart:
    """Return a bar for each bucket, with its height above it.

    A negative height is none. `muted` names buckets that are no part of the scale, such as what is not known.
    """
    drawing = Drawing(width, height)
    if not rows:
        return drawing.chart(alt)
    step = width / len(rows)
    labels = [_lines_of(row.name, step) for row in rows]
    floor_y = height - 4 - LINE_PT * max(map(len, labels))
    most = max(1e-9, *(row.value for row in rows)) if len(rows) > 1 else max(1e-9, rows[0].value)
    bar_width = min(26.0, step * 0.72)
    for at, (row, label) in enumerate(zip(rows, labels, strict=True)):
        middle = (at + 0.5) * step
        tall = max(0.0, row.value) / most * (floor_y - 12)
        fill = PALE if row.name in muted else ACCENT
        drawing.rect(middle - bar_width / 2, floor_y - tall, bar_width, tall, fill=fill)
        size = min(LABEL_PT, LABEL_PT * step / max(1e-9, width_of(row.shown) + 1))
        drawing.text(middle, floor_y - tall - 2.5, row.shown, anchor="middle", fill=INK, size=size)
        for line, words in enumerate(label):
            drawing.text(middle, floor_y + LINE_PT * (line + 1) - 0.5, words, anchor="middle", fill=MUTED)
    drawing.line(0, floor_y, width, floor_y, stroke=MUTED, width=0.6)
    return drawing.chart(alt)


LABEL_LINES_MAX: Final = 3


def _lines_of(name: str, room: float) -> list[str]:
    """Return a label in lines, broken at its blanks and cut where a word is wider than its room."""
    fits = max(2, floor(room / (LABEL_PT * 0.5)))
    lines: list[str] = []
    for word in name.split():
        cut = word if len(word) <= fits else f"{word[: fits - 1]}\N{HORIZONTAL ELLIPSIS}"
        if lines and len(lines[-1]) + 1 + len(cut) <= fits:
            lines[-1] += f" {cut}"
        else:
            lines.append(cut)
    return lines[:LABEL_LINES_MAX] or [""]


# ---- through time


def through_time(rows: Sequence[Moment], alt: str, *, width: float = 244.0, height: float = 104.0) -> Chart:
    """Return a figure through the months, with its trigger as steps.

    The last of both is written beside them.
    """
    drawing = Drawing(width, height)
    if not rows:
        return drawing.chart(alt)
    values = [value for row in rows for value in (row.value, row.trigger)]
    ticks = ticks_of(min(values), max(values))
    shown = [f"{tick:,.{_decimals(ticks)}f}" for tick in ticks]
    last = rows[-1]
    ends = [f"{last.value:,.2f}", f"{last.trigger:,.2f}"]
    left, right = max(map(width_of, shown)) + 5, width - max(map(width_of, ends)) - 8
    top, bottom = 6.0, height - 14
    up = _Scale(ticks[0], ticks[-1], bottom, top)
    first, days = rows[0].day, max(1, (last.day - rows[0].day).days)
    across = [left + 4 + (row.day - first).days / days * (right - left - 8) for row in rows]
    if len(rows) == 1:
        across = [(left + right) / 2]
    for tick, words in zip(ticks, shown, strict=True):
        drawing.line(left, up.at(tick), right, up.at(tick), stroke=RULE, width=0.4)
        drawing.text(left - 3, up.at(tick) + 2.3, words, anchor="end", fill=MUTED)
    for at in _date(across, left, right):
        drawing.line(across[at], bottom, across[at], bottom + 2, stroke=MUTED)
        drawing.text(across[at], height - 3, f"{rows[at].day:%b %Y}", anchor="middle", fill=MUTED)
    drawing.path(_steps(across, [up.at(row.trigger) for row in rows], left, right), stroke=INK, width=1, dash="3 2")
    line = [(x, up.at(row.value)) for x, row in zip(across, rows, strict=True)]
    if len(line) > 1:
        drawing.path(line, stroke=ACCENT, width=1.4)
    for at, ((x, y), row) in enumerate(zip(line, rows, strict=True)):
        # Many months leave no room: then only what does not pass has a shape, and the last day.
        if (
            row.status != "pass"
            or row.is_doubtful
            or at == len(rows) - 1
            or (right - left) / len(rows) >= MARKER_ROOM_PT
        ):
            _marker(drawing, x, y, row.status, is_doubtful=row.is_doubtful)
    _written_apart(drawing, right + 5, up.at(last.value), up.at(last.trigger), ends)
    return drawing.chart(alt)


def _steps(across: Sequence[float], heights: Sequence[float], left: float, right: float) -> list[tuple[float, float]]:
    """Return a level from one day to the next, from edge to edge."""
    points = [(left, heights[0])]
    for before, x, y in zip(heights, across[1:], heights[1:], strict=False):
        points += [(x, before), (x, y)] if y != before else []
    return [*points, (right, heights[-1])]


def _date(across: Sequence[float], left: float, right: float) -> list[int]:
    """Which days are named: the last, and before it those that leave room."""
    chosen: list[int] = []
    room = width_of("Mmm 0000") + 8
    for at in range(len(across) - 1, -1, -1):
        if across[at] >= left and (not chosen or across[chosen[-1]] - across[at] >= room):
            chosen.append(at)
    return chosen


def _written_apart(drawing: Drawing, x: float, value: float, trigger: float, words: list[str]) -> None:
    """Write the two last figures, moved apart where they would stand on each other."""
    gap = LABEL_PT + 1.0
    if abs(value - trigger) < gap:
        middle, sign = (value + trigger) / 2, -1 if value <= trigger else 1
        value, trigger = middle + sign * gap / 2, middle - sign * gap / 2
    drawing.text(x, value + 2.4, words[0], fill=ACCENT, weight="bold")
    drawing.text(x, trigger + 2.4, words[1], fill=INK)


def ticks_of(low: float, high: float) -> list[float]:
    """Round figures from below the lowest to above the highest, 1, 2 or 5 times a power of ten apart."""
    if high - low < 1e-9 * max(1.0, abs(high)):
        pad = max(abs(high) * 0.05, 0.5)
        low, high = low - pad, high + pad
    rough = (high - low) / TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [at * step for at in range(first, last + 1)]


def _decimals(ticks: Sequence[float]) -> int:
    return max(0, -floor(log10(ticks[1] - ticks[0]) + 1e-9)) if len(ticks) > 1 else 0
