"""The page of a batch.

Counts, failures, the thinnest cushions, what was refused and what is doubtful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappush, heappushpop
from html import escape
from typing import Final

from core.batch.table import ResultRow
from core.words import counted, first_of

LISTED_MAX: Final = 200
"""Rows of a list on the page; the table has all of them."""
THINNEST_MAX: Final = 25
"""Tests among the thinnest cushions."""
TEXT_CHARACTERS_MAX: Final = 400
"""Of a text on the page."""


class BatchSummary:
    """What a batch came to, counted row by row."""

    def __init__(self) -> None:
        self.months = 0
        self.statuses: Counter[str] = Counter()
        """Tests by status."""
        self.doubtful = 0
        self.undated = 0
        """Months whose day nothing says."""
        self.refusals = 0
        self.refused: list[ResultRow] = []
        self.failed: list[ResultRow] = []
        self.doubts: list[ResultRow] = []
        self.steps: Counter[tuple[str, str]] = Counter()
        """Months by step and what came of it, but for the suite."""
        self._thinnest: list[tuple[float, int, ResultRow]] = []
        self._rows = 0

    def pass_on(self, rows: Sequence[ResultRow]) -> Sequence[ResultRow]:
        """Count the rows of one month, and return them."""
        self.months += 1
        self.steps.update({(row.step, row.status) for row in rows if row.step != "suite" or row.status == "refused"})
        for row in rows:
            self._count(row)
        return rows

    def _count(self, row: ResultRow) -> None:
        self._rows += 1
        if row.status == "refused":
            self.refusals += 1
            _list(self.refused, row)
        elif row.step == "suite":
            self.statuses[row.status] += 1
            self._keep_thin(row)
            if row.status == "fail":
                _list(self.failed, row)
        self.undated += row.step == "read" and row.status == "done" and row.as_of is None
        if row.doubtful:
            self.doubtful += 1
            _list(self.doubts, row)

    def _keep_thin(self, row: ResultRow) -> None:
        if row.cushion_pct is None or row.status not in ("pass", "warning"):
            return
        entry = (-row.cushion_pct, -self._rows, row)
        if len(self._thinnest) < THINNEST_MAX:
            heappush(self._thinnest, entry)
        else:
            heappushpop(self._thinnest, entry)

    @property
    def thinnest(self) -> list[ResultRow]:
        """Tests that hold by least of their limit, the thinnest first."""
        return [row for _, _, row in sorted(self._thinnest, key=lambda entry: entry[:2], reverse=True)]


def _list(rows: list[ResultRow], row: ResultRow) -> None:
    if len(rows) < LISTED_MAX:
        rows.append(row)


def summary_page(summary: BatchSummary, left_out: Sequence[str], notes: Sequence[str]) -> str:
    """Return the page as HTML that needs nothing else.

    Args:
        left_out: paths of files that belong to no month.
        notes: what else a reader has to know.
    """
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>Batch</title><style>{_STYLE}</style>",
        f"<h1>Batch of {counted(summary.months, 'deal-month')}</h1>",
        _counts(summary),
        *(f"<p>{_text(note)}</p>" for note in notes),
        _section("Failing tests", summary.failed, summary.statuses["fail"], _OF_TESTS),
        _section("Thinnest cushions", summary.thinnest, len(summary.thinnest), _OF_TESTS),
        _section("Refused", summary.refused, summary.refusals, _OF_REFUSALS),
        _section("Doubtful results", summary.doubts, summary.doubtful, _OF_DOUBTS),
        _left_out(left_out),
        "</html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


_STYLE: Final = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2430; margin: 2rem auto; max-width: 78rem; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #dde3ea; vertical-align: top;
  overflow-wrap: break-word; max-width: 40rem }
th { color: #55606e; font-weight: 600 }
.number { text-align: right; white-space: nowrap } .whole { white-space: nowrap }
.counts { display: flex; flex-wrap: wrap; gap: .8rem; padding: 0; list-style: none }
.counts li { border: 1px solid #dde3ea; border-radius: 6px; padding: .5rem .9rem }
.counts b { display: block; font-size: 1.3rem } .fail { color: #a3142a } .warning { color: #7d5600 }
.note { color: #55606e }
"""


def _counts(summary: BatchSummary) -> str:
    counts = [
        ("deal-months", summary.months, ""),
        ("tests passed", summary.statuses["pass"], ""),
        ("in their warning band", summary.statuses["warning"], "warning"),
        ("failed", summary.statuses["fail"], "fail"),
        ("skipped", summary.statuses["skipped"], ""),
        ("doubtful", summary.doubtful, "warning"),
        ("refused", summary.refusals, "fail"),
        ("without a day", summary.undated, "warning"),
        *(
            (f"{step}: {status}", count, "")
            for (step, status), count in sorted(summary.steps.items())
            if step != "read"
        ),
    ]
    items = (
        f'<li><b class="{style if count else ""}">{count:,}</b>{escape(name)}</li>' for name, count, style in counts
    )
    return f'<ul class="counts">{"".join(items)}</ul>'


Cells = Callable[[ResultRow], tuple[str, ...]]


def _figure(figure: float | None) -> str:
    return "" if figure is None else f"{figure:,.2f}"


def _deal_cells(row: ResultRow) -> tuple[str, str]:
    return row.deal, "" if row.as_of is None else row.as_of.isoformat()


_CLASSES: Final = {"As of": ' class="whole"', "Status": ' class="whole"'} | dict.fromkeys(
    ("Value", "Limit", "Cushion", "Cushion %", "Published"), ' class="number"'
)
"""By heading the class of its cells."""

_OF_TESTS: Final[tuple[tuple[str, ...], Cells]] = (
    ("Deal", "As of", "Test", "Value", "Limit", "Cushion", "Cushion %", "Published", "Doubtful"),
    lambda row: (
        *_deal_cells(row),
        row.test or "",
        *map(_figure, (row.value, row.limit, row.cushion, row.cushion_pct, row.published)),
        "yes" if row.doubtful else "",
    ),
)
_OF_REFUSALS: Final[tuple[tuple[str, ...], Cells]] = (
    ("Deal", "Step", "Files", "Why"),
    lambda row: (row.deal, row.step, row.files or "", row.message or ""),
)
_OF_DOUBTS: Final[tuple[tuple[str, ...], Cells]] = (
    ("Deal", "As of", "Test", "Status", "Why it may be wrong"),
    lambda row: (*_deal_cells(row), row.test or "", row.status, row.doubt or ""),
)


def _section(title: str, rows: Sequence[ResultRow], count: int, columns: tuple[tuple[str, ...], Cells]) -> str:
    if not rows:
        return ""
    headings, cells = columns
    styles = [_CLASSES.get(heading, "") for heading in headings]
    head = "".join(f"<th{style}>{heading}</th>" for heading, style in zip(headings, styles, strict=True))
    body = "\n".join(
        f"<tr>{''.join(f'<td{style}>{_text(cell)}</td>' for cell, style in zip(cells(row), styles, strict=True))}</tr>"
        for row in rows
    )
    more = (
        f'<p class="note">... and {count - len(rows):,} more, in the table of results.</p>' if count > len(rows) else ""
    )
    return f"<h2>{title}</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>{more}"


def _left_out(paths: Sequence[str]) -> str:
    if not paths:
        return ""
    return f"<h2>Files left out</h2>\n<p>{first_of(paths, LISTED_MAX, _text)}</p>"


def _text(text: str) -> str:
    """Return a text as HTML, cut where it is long."""
    cut = text if len(text) <= TEXT_CHARACTERS_MAX else f"{text[:TEXT_CHARACTERS_MAX]}..."
    return escape("".join(letter if letter.isprintable() else " " for letter in cut))
