"""A compliance report as a PDF.

Its content as texts and charts, which `compliance.typ` lays out.

Figures are formatted here and nowhere in the template, and all of it is handed over as data, so that no name is ever
read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from core.charts.charts import Against, Bar, Moment, bar, bullet, columns, through_time
from core.charts.drawing import Chart
from core.compliance.printed import status_here
from core.deals.movements import PartName
from core.deals.tie_out import TieOut
from core.report.content import (
    UNNAMED,
    ClassLine,
    ComplianceReport,
    Concentration,
    Coverage,
    Distribution,
    Ladder,
    LineageLine,
    NoteLine,
    PartLine,
    Series,
    Share,
    TestChange,
    TestLine,
)
from core.report.doubts import doubt_text
from core.report.figures import ABSENT, UNITS, day, figure, moment, with_sign
from core.typeset.pdf import typeset_remarked
from core.typeset.texts import cut, page_text, plain_text, whole_text
from core.words import capitalize, counted

WHY_SHOWN: Final = 8
"""Tests whose moves are explained, those that come first among the changes."""

SERIES_SHOWN: Final = 12
"""Charts through the months; those left out are counted."""

RUNNING_MAX: Final = 80
"""Characters of the title at the head of a page."""

NOTICE_LETTERS: Final = 1_500
"""Letters of notices that the cover has room for, half as many where it has changes, too; the others follow it."""

TEMPLATE: Final = Path(__file__).with_name("compliance.typ")

Texts = dict[str, Any]


def compliance_pdf(report: ComplianceReport) -> bytes:
    """Return the report as PDF/A-2b, tagged.

    The same bytes for the same report, whose `generated_at` is in it.

    A letter that no font of ours has stands as a mark, and the first page says so.
    """
    return typeset_remarked(TEMPLATE, partial(_view, report), created=report.generated_at)


def _view(report: ComplianceReport, remarks: Sequence[str] = ()) -> Texts:
    origin = report.origin
    units: dict[str, str] = {"amount": page_text(report.currency or ""), "number": ""}
    notices = [*origin.remarks, *remarks, *(capitalize(warning.message) for warning in report.warnings)]
    categories: list[Texts] = [
        {"name": page_text(category.name), "tests": list(map(_test, category.tests))} for category in report.categories
    ]
    moved = [] if report.changes is None else [test for test in report.changes.tests if test.parts]
    first = _fitting(notices, NOTICE_LETTERS if report.changes is None else NOTICE_LETTERS // 2)
    return {
        "notices": list(map(whole_text, notices[:first])),
        "more_notices": list(map(whole_text, notices[first:])),
        "title": page_text(report.title or UNNAMED),
        "suite": page_text(report.suite),
        "currency": page_text(report.currency or ""),
        "running": page_text(cut(report.title, RUNNING_MAX)),
        "as_of": "The day of the figures is not known."
        if report.as_of is None
        else f"As of {day(report.as_of)}{', ' if report.as_of_source else ''}{report.as_of_source}.",
        "as_of_short": "Day not known" if report.as_of is None else f"As of {day(report.as_of)}",
        "generated_at": moment(report.generated_at),
        "outcome": report.verdict.outcome,
        "headline": whole_text(report.verdict.headline),
        "sentence": whole_text(report.verdict.sentence),
        "read_as": whole_text(report.read_as),
        "counts": [{"label": label, "value": f"{value:,}"} for label, value in _counts(report)],
        "doubtful": report.summary.doubtful,
        "key_figures": [
            {
                "label": page_text(key_figure.label),
                "value": figure(key_figure.value, 0 if key_figure.unit in units else 2),
                "unit": units.get(key_figure.unit, UNITS[key_figure.unit]),
                "beside": page_text(key_figure.beside),
            }
            for key_figure in report.key_figures
        ],
        "widths": _widths([test for category in categories for test in category["tests"]]),
        "thinnest": [_test(line, is_cover=True) for line in report.thinnest],
        "changes": None
        if report.changes is None
        else {
            "since": day(report.changes.since) if report.changes.since else "the earlier file",
            "unmoved": report.changes.unmoved,
            "tests": [_change(test) for test in report.changes.tests],
            "why": [_why(each) for each in moved[:WHY_SHOWN]],
            "why_left_out": max(0, len(moved) - WHY_SHOWN),
        },
        "categories": categories,
        "skipped": [
            {
                "name": page_text(each.name),
                "reason": whole_text(capitalize(each.reason)),
                "value": figure(each.value),
                "unit": UNITS[each.unit] if each.value is not None else "",
            }
            for each in report.skipped
        ],
        "deal_days": list(map(_fact, report.deal_days)),
        "notes": list(map(_note, report.notes)),
        "coverage": list(map(_coverage, report.coverage)),
        "concentrations": list(map(_concentration, report.concentrations)),
        "distributions": [_distribution(distribution) for distribution in report.distributions if distribution.rows],
        "history": list(map(_history, report.history[:SERIES_SHOWN])),
        "history_left_out": max(0, len(report.history) - SERIES_SHOWN),
        "tie_out": [
            {
                "name": page_text(each.trustee_name),
                "theirs": figure(each.trustee_value),
                "ours": figure(each.our_value),
                "difference": with_sign(each.difference),
                "agrees": each.agrees,
                "trigger": figure(each.trigger),
                "why": whole_text(_why_apart(each)),
            }
            for each in report.tie_out
        ],
        "methods": [
            {
                "name": page_text(method.name),
                "formula": page_text(method.formula),
                "coverage": figure(method.coverage_pct),
                "cells": page_text(", ".join(method.cells)),
                "limit_from": page_text(method.limit_from or ""),
                "source": _SOURCES[method.source],
            }
            for method in report.methods
        ],
        "definition_name": page_text(report.definition_name or ""),
        "rules": [
            {"key": page_text(rule.key), "value": page_text(rule.value), "meaning": page_text(rule.meaning)}
            for rule in report.rules
        ],
        "lineage": {
            "source": list(map(_fact, report.lineage.source)),
            "rows": list(map(_fact, report.lineage.rows)),
            "columns": list(map(_fact, report.lineage.columns)),
            "sheets": list(map(_fact, report.lineage.sheets)),
        },
    }


def _counts(report: ComplianceReport) -> Iterator[tuple[str, int]]:
    """Yield each test once.

    One whose status is doubtful counts as such, and neither as passed nor as failed.
    """
    summary = report.summary
    doubtful = [line.status for category in report.categories for line in category.tests if line.doubtful]
    yield "passed", summary.passed - doubtful.count("pass")
    yield "with a warning", summary.warnings - doubtful.count("warning")
    yield "failed", summary.failed - doubtful.count("fail")
    if doubtful:
        yield "doubtful", len(doubtful)
    yield "without a result", summary.skipped


def _fitting(notices: Sequence[str], letters: int) -> int:
    """Return how many of the notices the cover has room for."""
    used, count = 0, 0
    for notice in notices:
        used += max(len(notice), _LINE_LETTERS)
        if used > letters:
            break
        count += 1
    return count


_LINE_LETTERS: Final = 110


def _why_apart(tie_out: TieOut) -> str:
    """Return why a trustee's figure has none of ours, or is another."""
    if tie_out.nearest is not None:
        return f"not {tie_out.nearest}: {tie_out.why_not}"
    if tie_out.reason is not None:
        return tie_out.reason
    explanations = ", ".join(tie_out.explained_by).replace("_", " ")
    return (
        f"the {tie_out.differs} differs{': ' * bool(explanations)}{explanations}"
        if tie_out.differs in ("numerator", "denominator")
        else explanations
    )


def _fact(fact: LineageLine) -> Texts:
    return {"label": page_text(fact.label), "value": page_text(fact.value)}


def _chart_texts(chart: Chart) -> Texts:
    return {"svg": chart.svg, "alt": chart.alt, "width": chart.width, "height": chart.height}


# ---- tests


_SIGNS: Final = {"max": "\N{LESS-THAN OR EQUAL TO}", "min": "\N{GREATER-THAN OR EQUAL TO}", "exact": "="}
_SOURCES: Final = {
    "request": "the run's request", "workbook": "the workbook", "deal": "the deal", "definition": "the definition",
    "sheet": "the file", "tenant": "the house", "suite": "the standard", None: "",
}  # fmt: skip


def _test(line: TestLine, *, is_cover: bool = False) -> Texts:
    decimals = line.decimals
    low, high = line.masked or (None, None)
    row = Against(
        line.value, line.threshold, line.direction, line.status, line.warning, low, high, is_doubtful=line.doubtful
    )
    published = line.published
    return {
        "name": page_text(line.name),
        "unit": UNITS[line.unit],
        "status": line.status,
        "value": figure(line.value, decimals),
        "masked": "" if line.masked is None else " to ".join(map(figure, line.masked)),
        "limit": f"{_SIGNS[line.direction]} {figure(line.threshold, decimals)}",
        "cushion": with_sign(line.cushion, decimals),
        "chart": _chart_texts(bullet(row, plain_text(line.message), width=_CHART_PT)),
        "doubtful": status_here(line) if line.doubtful else "",
        "published": "" if published is None else figure(published.value, decimals),
        "published_status": "" if published is None else published.status or "",
        "difference": "" if published is None else with_sign(published.difference, decimals),
        "agrees": None if published is None else published.agrees,
        "doubts": [] if is_cover else [whole_text(doubt_text(each)) for each in line.doubt],
        "doubts_below": f"{counted(len(line.doubt), 'doubt')}, in full under Tests." if is_cover and line.doubt else "",
    }


_CHART_PT: Final = 72.0
"""Width of a test's chart."""


def _widths(rows: Sequence[Texts]) -> dict[str, float]:
    """Return widths in points of the columns of figures, the same in each table of tests."""
    columns = [("value", 46.0), ("limit", 56.0), ("cushion", 46.0)]
    if any(row["published"] for row in rows):
        columns += [("published", 46.0), ("difference", 46.0)]
    widths = {name: max([least, *(len(row[name]) * _FIGURE_PT + _INSET_PT for row in rows)]) for name, least in columns}
    return widths | {"value": max([widths["value"], *(len(row["masked"]) * _SMALL_PT + _INSET_PT for row in rows)])}


_FIGURE_PT: Final = 4.5
"""Width of a digit of the tables."""

_SMALL_PT: Final = 3.9
"""The same below a figure."""

_INSET_PT: Final = 9.0


# ---- changes


_PARTS: Final[dict[PartName, str]] = {
    "added": "loans added", "removed": "loans gone", "par": "par", "ratings": "ratings", "prices": "prices",
    "rates": "spreads and coupons", "other_fields": "other fields and the day",
    "liabilities_and_cash": "notes and cash",
}  # fmt: skip


def _change(test_change: TestChange) -> Texts:
    return {
        "name": page_text(test_change.name),
        "unit": UNITS[test_change.unit],
        "before": figure(test_change.before),
        "after": figure(test_change.after),
        "change": (change := with_sign(test_change.change)),
        "better": test_change.better if change.strip("0.,") else None,
        "status_before": test_change.status_before,
        "status_after": test_change.status_after,
        "doubtful_before": test_change.doubtful_before,
        "doubtful_after": test_change.doubtful_after,
    }


def _why(change: TestChange) -> Texts:
    parts = [_part(part) for part in change.parts if abs(part.change) >= _SHOWN_FROM]
    return {"name": page_text(change.name), "parts": parts or [_part(change.parts[0])]}


_SHOWN_FROM: Final = 0.005
"""A smaller change is printed as zero, and left out."""


def _part(part: PartLine) -> Texts:
    loans = "; ".join(
        f"{page_text(loan.name)} {with_sign(loan.effect)}" for loan in part.loans if abs(loan.effect) >= _SHOWN_FROM
    )
    return {"part": _PARTS[part.part], "change": with_sign(part.change), "loans": loans}


# ---- coverage


def _note(line: NoteLine) -> Texts:
    return {
        "name": page_text(_class_name(line.name)),
        "original": figure(line.original_balance, 0),
        "current": figure(line.current_balance, 0),
        "share": figure(line.share_pct),
        "coupon": figure(line.coupon),
        "spread": figure(line.spread, 0),
        "deferred": figure(line.deferred_interest, 0),
    }


def _coverage(coverage: Coverage) -> Texts:
    return {
        "title": coverage.title,
        "denominator": coverage.denominator,
        "ladder_title": coverage.ladder.title,
        "steps": _steps(coverage.ladder),
        "notes": coverage.ladder.notes,
        "classes": list(map(_class, coverage.classes)),
    }


def _steps(ladder: Ladder) -> list[Texts]:
    """Return the lines of a sum in cents, which add up as they are printed.

    A cent that rounding leaves is a line.
    """
    lines: list[Texts] = []
    above = 0
    for step in ladder.steps:
        cents = round(step.amount * 100)
        if step.is_total:
            if above != cents:
                lines.append({"label": "Rounding", "amount": figure((cents - above) / 100), "is_total": False})
            above = cents
        else:
            above += cents
        lines.append({"label": step.label, "amount": figure(cents / 100), "is_total": step.is_total})
    return lines


_LETTERS_OF_CLASS: Final = re.compile(r"[A-Z](?:-?[0-9A-Z])?(?:/[A-Z](?:-?[0-9A-Z])?)*")


def _class_name(name: str) -> str:
    return f"Class {name}" if _LETTERS_OF_CLASS.fullmatch(name) else name


def _class(line: ClassLine) -> Texts:
    return {
        "name": page_text(_class_name(line.name)),
        "denominator": figure(line.denominator),
        "ratio": figure(line.ratio),
        "trigger": figure(line.trigger),
        "cushion": with_sign(line.cushion),
        "cure": figure(line.cure_amount) if line.cure_amount else ABSENT,
        "status": line.status,
        "doubtful": line.doubtful,
    }


# ---- what the portfolio is made of


def _concentration(concentration: Concentration) -> Texts:
    rows = [(at + 1, row) for at, row in enumerate(concentration.rows)]
    rest = [(0, row) for row in (concentration.others, concentration.blank) if row is not None]
    most = max((row.share_pct for _, row in rows), default=0.0)
    return {
        "title": concentration.title,
        "of": f"{concentration.of}: {figure(concentration.of_amount)}",
        "limit": figure(concentration.limit) if concentration.limit is not None else "",
        "rows": [_share_texts(at, row, most, concentration.limit) for at, row in (*rows, *rest)],
    }


def _share_texts(at: int, row: Share, most: float, limit: float | None) -> Texts:
    words = plain_text(f"{row.name}: {figure(row.share_pct)} %")
    chart = bar(row.share_pct, most, words, limit=limit) if at else None
    return {
        "rank": str(at) if at else "",
        "name": page_text(row.name),
        "par": figure(row.par, 0),
        "share": figure(row.share_pct),
        "chart": None if chart is None else _chart_texts(chart),
    }


_NO_BUCKET: Final = frozenset(("Not stated", "Not priced", "Unrated", "Masked"))


def _distribution(distribution: Distribution) -> Texts:
    buckets = [Bar(row.name, row.share_pct, figure(row.share_pct, 1)) for row in distribution.rows]
    words = "; ".join(f"{row.name} {figure(row.share_pct, 1)} %" for row in distribution.rows)
    chart = columns(buckets, f"{distribution.title}, percent of {distribution.of}: {words}", muted=_NO_BUCKET)
    return {
        "title": distribution.title,
        "unit": f"% of {distribution.of}",
        "note": distribution.note,
        "chart": _chart_texts(chart),
    }


def _history(series: Series) -> Texts:
    rows = [Moment(point.as_of, point.value, point.threshold, point.status, point.doubtful) for point in series.points]
    first, last = series.points[0], series.points[-1]
    words = (
        f"{plain_text(series.name)} from {day(first.as_of)} to {day(last.as_of)}: {figure(first.value)} to "
        f"{figure(last.value)}, its limit {figure(last.threshold)}"
    )
    return {
        "title": page_text(series.name),
        "unit": UNITS[series.unit],
        "note": "",
        "chart": _chart_texts(through_time(rows, words)),
    }
