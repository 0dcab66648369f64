"""Tables for notebooks.

HTML that brings its own colours, without scripts, style sheets or anything to be fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from math import isfinite
from typing import Any, Final

from core.charts.charts import Against, bullet
from core.charts.drawing import escaped
from core.charts.palette import GROUND, INK, MUTED, PAPER, RULE, STATUS, Status
from core.frames.brief import shortened, value_shown

FIRST: Final = 10
LAST: Final = 5
"""Rows of a table that are shown, from either end."""

COLUMNS_SHOWN: Final = 12

CELL_CHARACTERS: Final = 60

LINE_CHARACTERS: Final = 20_000
"""Of a line above a table: it may name all tests that a doubt is about."""

# A notebook's own sheet colours rows by the theme, and dark ink on its dark rows could not be read: every cell says
# its colours itself.
_CARD: Final = (
    f"background:{PAPER};color:{INK};color-scheme:light;border:1px solid {RULE};border-radius:4px;padding:10px 12px;"
    "display:inline-block;max-width:100%;box-sizing:border-box;overflow-x:auto;"
    "font:13px/1.4 system-ui,-apple-system,'Segoe UI',sans-serif;text-align:left"
)
_TABLE: Final = f"border-collapse:collapse;border:0;margin:8px 0 0;background:{PAPER};color:{INK};font-size:13px"
_CELL: Final = f"border:0;border-bottom:1px solid {RULE};padding:3px 10px 3px 0;white-space:nowrap;max-width:none"
_ROW: Final = f"background:{PAPER};color:{INK}"
_SIGN: Final[dict[Status, str]] = {
    "pass": "\N{BLACK CIRCLE}", "warning": "\N{BLACK UP-POINTING TRIANGLE}", "fail": "\N{BLACK SQUARE}",
}  # fmt: skip


class Markup(str):
    """Text that is HTML already: made here, of values that were escaped."""

    __slots__ = ()


class FigureText(str):
    """A number as it is to be shown; a table has it to the right."""

    __slots__ = ()


def card(title: str, sentences: Sequence[str] = (), *tables: Markup) -> str:
    """Return the whole of what an object shows: its title, lines about it, tables."""
    lines = "".join(f'<div style="color:{MUTED}">{_text(line, LINE_CHARACTERS)}</div>' for line in sentences if line)
    head = f'<div style="font-weight:600">{_text(title, 200)}</div>'
    return f'<div style="{_CARD}">{head}{lines}{"".join(tables)}</div>'


def table(headings: Sequence[str], rows: Iterable[Sequence[Any] | None]) -> Markup:
    """Return a table of values.

    Numbers to the right, None blank, text escaped and cut. A row None stands for those that are left out.
    """
    parts = [f'<table style="{_TABLE}"><thead><tr style="background:{GROUND};color:{INK}">']
    listed = list(rows)
    right = [
        any(_is_number(row[at]) for row in listed if row is not None)
        and all(row is None or row[at] is None or _is_number(row[at]) for row in listed)
        for at in range(len(headings))
    ]
    for heading, to_right in zip(headings, right, strict=True):
        parts.append(f'<th style="{_cell(GROUND, to_right)};font-weight:600">{_text(heading)}</th>')
    parts.append("</tr></thead><tbody>")
    for row in listed:
        parts.append(f'<tr style="{_ROW}">')
        cells: Sequence[Any] = ["\N{HORIZONTAL ELLIPSIS}"] * len(headings) if row is None else row
        for value, to_right in zip(cells, right, strict=True):
            parts.append(f'<td style="{_cell(PAPER, to_right)}">{_value(value)}</td>')
        parts.append("</tr>")
    parts.append("</tbody></table>")
    return Markup("".join(parts))


def places(count: int) -> list[int | None]:
    """Which of so many rows are shown, from 0.

    The first and the last ones, None between them where some are left out.
    """
    if count <= FIRST + LAST:
        return [*range(count)]
    return [*range(FIRST), None, *range(count - LAST, count)]


def left_out(count: int, what: str) -> str:
    """How many rows a table does not show; empty where it shows all."""
    return f"{count - FIRST - LAST:,} {what} between them are not shown" if count > FIRST + LAST else ""


def bar(value: float, limit: float, direction: Any, status: Status) -> Markup:
    """Return a figure against its limit, drawn; nothing where one of them cannot be."""
    if not all(isfinite(each) and abs(each) <= 1e15 for each in (value, limit)):
        return Markup("")
    drawn = bullet(Against(value, limit, direction, status), f"{value:,.2f} against {direction} {limit:,.2f}: {status}")
    return Markup(f'<span style="background:{PAPER}">{drawn.svg}</span>')


def sentence(text: str) -> Markup:
    """Text that a cell shows at some length, in several lines."""
    return Markup(f'<span style="white-space:normal">{_text(text, LINE_CHARACTERS)}</span>')


def verdict(status: Status) -> Markup:
    """Return the word of a status with its sign and colour."""
    return Markup(f'<span style="color:{STATUS[status]};font-weight:600">{_SIGN[status]} {escaped(status)}</span>')


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | FigureText) and not isinstance(value, bool)


def _cell(ground: str, to_right: bool) -> str:
    return f"{_CELL};background:{ground};color:{INK};text-align:{'right' if to_right else 'left'}"


def _text(text: str, most: int = CELL_CHARACTERS) -> str:
    return escaped(shortened(text, most))


def _value(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return _text(number_shown(value))
    if isinstance(value, datetime):
        return _text(value.isoformat(" ", "seconds"))
    if isinstance(value, date):
        return value.isoformat()
    if _is_number(value):
        return _text(f"{value:,}")
    return _text(value_shown(value))


def number_shown(value: float) -> str:
    """Return a number for a reader: thousands apart, at most six decimals.

    Very large and very small ones with an exponent.
    """
    if value != 0 and not 1e-4 <= abs(value) < 1e15:
        return f"{value:.6g}"
    return f"{value:,.6f}".rstrip("0").rstrip(".")
