"""Results of a run as columns, in a few lines of text, and as a table for a notebook with a bar for each figure."""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign, inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from core.compliance.grouped import doubt_groups
from core.frames.brief import missing, shortened
from core.frames.figures import figure_shown
from core.frames.frame import Frame, FrameColumn, number_column, text_column
from core.frames.notebook import FigureText, Markup, bar, card, sentence, table, verdict
from core.portfolio.model.notes import warning_texts
from core.words import counted

if TYPE_CHECKING:
    from core.compliance.result import Results, Skipped, TestResult

ROWS_SHOWN: Final = 10
"""Results that a repr shows, those with the thinnest cushion."""

NOTEBOOK_ROWS: Final = 60

_NAME: Final = 44

_TEXTS: Final = (
    "test_id", "test_name", "category", "status", "threshold_type", "message", "threshold_source", "published_status",
    "published_place", "doubts", "unit",
)  # fmt: skip
_PUBLISHED: Final = ("published_value", "published_numerator", "published_denominator", "published_trigger",
                     "published_status", "published_place")  # fmt: skip
"""Columns of the trustee's figure, its members behind the prefix."""
_COLUMNS: Final = (
    "test_id", "test_name", "category", "status", "current_value", "threshold_value", "threshold_type", "cushion",
    "cushion_pct", "low", "high", "threshold_source", "message", *_PUBLISHED, "difference", "doubts",
    "unit", "decimals",
)  # fmt: skip


def thinnest_first(results: Iterable[TestResult]) -> list[TestResult]:
    """By the cushion as a part of the limit, so that tests of all units compare.

    Those without one last.
    """

    def part(result: TestResult) -> float:
        if result.cushion is None:
            return inf
        limit = abs(result.threshold_value)
        return result.cushion / limit if limit else copysign(inf, result.cushion)

    return sorted(results, key=part)


def result_of(results: Results, name: str) -> TestResult:
    """Return the result of a test by its id or its name, without case.

    Raises:
        KeyError: there is none: the message has the reason where the test was skipped, else what is near.
    """
    folded = name.casefold()
    for result in list(results):
        if folded in (result.test_id.casefold(), result.test_name.casefold()):
            return result
    for skip in results.skipped:
        if folded in (skip.test_id.casefold(), skip.test_name.casefold()):
            raise missing("result of", name, (), because=f"it was skipped: {skip.reason}")
    raise missing("test", name, (text for each in list(results) for text in (each.test_id, each.test_name)))


def frame_of(results: Results) -> Frame:
    """See `Results.frame`."""
    rows = list(results)
    columns = {}
    for name in _COLUMNS:
        values = [_value(row, name) for row in rows]
        columns[name] = (
            text_column(values)
            if name in _TEXTS
            else number_column([value if isinstance(value, int | float) else None for value in values])
        )
    agrees = [None if row.published is None else row.published.agrees for row in rows]
    columns["agrees"] = FrameColumn(
        np.array([bool(answer) for answer in agrees], np.bool_),
        valid=np.array([each is not None for each in agrees], np.bool_),
    )
    columns["doubtful"] = FrameColumn(np.array([row.doubtful for row in rows], np.bool_))
    attrs: dict[str, Any] = {
        "as_of": None if results.as_of is None else results.as_of.isoformat(),
        "as_of_source": results.as_of_source,
        "skipped": {skip.test_id: skip.reason for skip in results.skipped},
        "partial": results.partial,
        "read_as": results.read_as,
        "warnings": [f"{warning.code}: {warning.message}" for warning in results.warnings],
    }
    return Frame(columns, len(rows), {name: value for name, value in attrs.items() if value})


def _value(row: TestResult, name: str) -> Any:
    """Return a field of a result, a member of its published figure, or the kinds of its doubts."""
    if name == "doubts":
        return "; ".join(dict.fromkeys(doubt.code for doubt in row.doubt))
    if name in _PUBLISHED or name == "difference":
        return getattr(row.published, name.removeprefix("published_"), None)
    return getattr(row, name)


def _head(results: Results) -> str:
    summary = results.summary
    parts = [
        f"{summary.passed} pass" * bool(summary.passed),
        counted(summary.warnings, "warning") * bool(summary.warnings),
        f"{summary.failed} fail" * bool(summary.failed),
        f"{summary.skipped} skipped" * bool(summary.skipped),
    ]
    text = f"{counted(summary.total, 'test')}: {', '.join(filter(None, parts))}" if summary.total else "no tests"
    part = "a partial run, " if results.partial else ""
    day = "" if results.as_of is None else f"; as of {results.as_of.isoformat()}"
    doubtful = f"; {summary.doubtful} of them doubtful" if summary.doubtful else ""
    doubts = f"; {counted(len(results.warnings), 'note')} on the data in .warnings" if results.warnings else ""
    used = 0 if results.interpretation is None else len(results.interpretation.used)
    readings = f"; {counted(used, 'reading')} by the file's figures in .interpretation" if used else ""
    return f"{part}{text}{doubtful}{day}{doubts}{readings}"


def repr_of(results: Results) -> str:
    """Return the counts, and the results with the thinnest cushion in aligned columns."""
    lines = [f"Results({_head(results)})"]
    shown = thinnest_first(results)[:ROWS_SHOWN]
    has_published = any(result.published is not None for result in shown)
    cells = [
        (
            f"{each.status} ?" if each.doubtful else each.status,
            shortened(each.test_name, _NAME),
            figure_shown(each.current_value, decimals=decimals),
            f"{each.threshold_type} {figure_shown(each.threshold_value, decimals=decimals)}",
            "" if each.cushion is None else f"cushion {figure_shown(each.cushion, '+', decimals)}",
            *([_trustee_shown(each, decimals)] if has_published else []),
        )
        for each, decimals in ((each, each.decimals) for each in shown)
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for status, name, *figures in cells:
        aligned = "  ".join(figure.rjust(width) for figure, width in zip(figures, widths[2:], strict=True))
        lines.append(f"  {status:{widths[0]}}  {name:{widths[1]}}  {aligned}".rstrip())
    if len(results) > len(shown):
        lines.append(f"  and {len(results) - len(shown):,} with more cushion")
    return "\n".join(lines)


def _trustee_shown(test_result: TestResult, decimals: int) -> str:
    """Return the trustee's figure, and ours less that, for a line."""
    if test_result.published is None or test_result.published.value is None:
        return ""
    figure = test_result.published
    apart = "" if figure.difference is None else f" ({figure_shown(figure.difference, '+', decimals)})"
    return (
        f"trustee {figure_shown(test_result.published.value, decimals=decimals)}{' (ties)' if figure.agrees else apart}"
    )


def trustee_of_skipped(skipped: Skipped) -> str:
    """Return the trustee's figure of a test without one of ours."""
    return (
        ""
        if skipped.published is None or skipped.published.value is None
        else f"; the trustee has {skipped.published.value:,g}"
    )


def _beside(test_result: TestResult, decimals: int) -> list[Any]:
    """Return the trustee's figure and the difference, as a notebook's table has them."""
    figure = test_result.published
    if figure is None:
        return [None, None]
    apart = None if figure.difference is None else figure_shown(figure.difference, "+", decimals)
    return [
        None if figure.value is None else FigureText(figure_shown(figure.value, decimals=decimals)),
        FigureText("ties") if figure.agrees else apart if apart is None else FigureText(apart),
    ]


def _row(test_result: TestResult, *, has_published: bool) -> list[Any]:
    """Return a result as a notebook's table has it, its figures as the command's."""
    decimals = test_result.decimals
    return [
        Markup(f"{verdict(test_result.status)} (doubtful)") if test_result.doubtful else verdict(test_result.status),
        test_result.test_name,
        bar(test_result.current_value, test_result.threshold_value, test_result.threshold_type, test_result.status),
        FigureText(figure_shown(test_result.current_value, decimals=decimals)),
        *(_beside(test_result, decimals) if has_published else []),
        FigureText(f"{test_result.threshold_type} {figure_shown(test_result.threshold_value, decimals=decimals)}"),
        None if test_result.cushion is None else FigureText(figure_shown(test_result.cushion, "+", decimals)),
        test_result.test_id,
    ]


def _headings(*, has_published: bool) -> list[str]:
    beside = ["trustee", "difference"] if has_published else []
    return ["status", "test", "", "value", *beside, "limit", "cushion", "id"]


def html_of_result(result: TestResult) -> str:
    """One result: its row, its message, and how its figure came about."""
    lines = [result.message]
    if result.threshold_source is not None:
        lines.append(f"Limit: {result.threshold_source}")
    if result.details is not None:
        lines.append(f"Figure: {result.details.formula}")
    lines += [f"Doubt: {group.heading}: {group.message}" for group in doubt_groups([result])]
    has = result.published is not None
    status = f"{result.status}, doubtful" if result.doubtful else result.status
    rows = [_row(result, has_published=has)]
    return card(f"{result.test_name}: {status}", lines, table(_headings(has_published=has), rows))


def html_of(results: Results) -> str:
    """Return a row for each result, the thinnest cushion first, then what was skipped."""
    has_published = any(result.published is not None for result in list(results))
    rows = [_row(each, has_published=has_published) for each in thinnest_first(results)[:NOTEBOOK_ROWS]]
    lines = [f"Read as: {results.read_as}"] if results.read_as else []
    lines += warning_texts(results.warnings)
    if len(results) > NOTEBOOK_ROWS:
        lines.append(f"{counted(len(results) - NOTEBOOK_ROWS, 'more result')} with more cushion not shown")
    tables = []
    if rows:
        tables.append(table(_headings(has_published=has_published), rows))
    if results.skipped:
        skipped = [
            [f"{each.test_name} ({each.test_id})", sentence(f"{each.reason}{trustee_of_skipped(each)}")]
            for each in results.skipped[:NOTEBOOK_ROWS]
        ]
        tables.append(table(["skipped", "reason"], skipped))
    doubts = [
        [group.heading, sentence(group.message), sentence(", ".join(group.names))]
        for group in doubt_groups(list(results))
    ]
    if doubts:
        tables.append(table(["doubt", "what", "tests"], doubts))
    return card(_head(results), lines, *tables)
