"""The tests of one run or of two as a page, the thinnest cushion first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Final

from service.commands.output import Grid, Line, OutputColumn, OutputPage, bar, counted, json_of, member
from service.commands.refusal import one_line

if TYPE_CHECKING:
    from rich.text import Text

    from core.compliance.result import Results, Skipped, Summary, TestResult
    from core.scenario.simulate import Impacts, Projected, Simulation

LONGEST_WORD: Final = len("overcollateralisation")
"""Width of the names' column on a narrow terminal, so that no word is broken."""

STYLES: Final = {"pass": "green", "warning": "yellow", "fail": "bold red", "skipped": "dim"}

# rich stands inside the functions, so that `cushion --help` answers at once.


def results_page(results: Results, *, title: str, head: Mapping[str, Any] | None = None) -> OutputPage:
    """The tests that ran, those that were skipped with their reasons, and one line that counts them.

    Args:
        title: what was tested, e.g. the file's name and the suite.
        head: what the JSON begins with; as_of, as_of_source, warnings, interpretation, summary, results and skipped
            follow.
    """
    ordered = sorted(results, key=lambda result: inf if result.cushion_pct is None else result.cushion_pct)
    blocks: list[Line | Grid | Text] = [Line(f"read as: {results.read_as}"), Line()] if results.read_as else []
    columns = _result_columns(any(result.published is not None for result in results))
    if ordered:
        blocks += [Grid(columns=columns, items=ordered), Line()]
    blocks += _skipped_lines(results.skipped)
    blocks += doubt_lines(ordered)
    blocks.append(_summary(results.summary))
    return OutputPage(
        title=title,
        warnings=results.warnings,
        blocks=blocks,
        rows=Grid(columns=columns, items=[*ordered, *results.skipped]),
        document=json_of(
            {
                **(head or {}),
                "as_of": results.as_of,
                "as_of_source": results.as_of_source,
                "warnings": results.warnings,
                "interpretation": results.interpretation,
                "summary": results.summary,
                "results": list(results),
                "skipped": results.skipped,
            }
        ),
    )


def _skipped_lines(skipped: Sequence[Skipped]) -> list[Line]:
    """The tests without a status, with the reason, and the trustee's figure where the file has one."""
    from core.compliance.framed import trustee_of_skipped

    lines = [
        Line(f"{test.test_name} ({test.test_id}): {test.reason}{trustee_of_skipped(test)}", "skipped", "dim")
        for test in skipped
    ]
    return [*lines, Line()] if lines else []


def doubt_lines(results: Sequence[TestResult], whose: str = "") -> list[Line]:
    """Every doubt of the results by kind, with the names of all tests that have it.

    `whose` names one of two files.
    """
    from core.compliance.grouped import doubt_groups

    label = f"doubt {whose}".strip()
    groups = [
        Line(f"{doubt_group.heading}: {doubt_group.text}", label, "yellow") for doubt_group in doubt_groups(results)
    ]
    mark = [Line(f"{DOUBTFUL} the status may be wrong: see the doubts below")] if any(
        result.doubtful for result in results
    ) else []  # fmt: skip
    return [*mark, *groups, Line()] if groups or mark else []


def simulation_page(simulation: Simulation, *, trades: int, title: str, head: Mapping[str, Any]) -> OutputPage:
    """Every test before and after trades, those that cannot be compared, and the sentence that sums it up.

    The sentence counts by the figures that are shown; the JSON has the exact counts, below `head`.
    """
    from core.scenario.simulate import message_of, new_failures_of

    columns = before_and_after()
    ordered = sorted(simulation.results, key=thinness)
    blocks: list[Line | Grid | Text] = []
    if ordered:
        blocks += [Grid(columns=columns, items=ordered), Line()]
    blocks += not_compared(simulation)
    failures = new_failures_of(simulation.results)
    message = message_of(
        trades, impacts_shown(simulation), failures, simulation.skipped, decimals=" to the decimals shown"
    )
    blocks.append(Line(message, style=STYLES["fail" if failures else "pass"]))
    return OutputPage(
        title=title,
        warnings=simulation.warnings,
        blocks=blocks,
        rows=Grid(columns=columns, items=[*ordered, *simulation.skipped]),
        document=json_of(
            {
                **head,
                "as_of": simulation.before.as_of,
                "message": simulation.message,
                "total_tests": simulation.total_tests,
                "new_failures": simulation.new_failures,
                "impact_summary": simulation.impact_summary,
                "results": simulation.results,
                "skipped": simulation.skipped,
                "warnings": simulation.warnings,
            }
        ),
    )


def not_compared(simulation: Simulation) -> list[Line]:
    """The tests that have no figure on a side, with the reason."""
    lines = []
    for test in simulation.skipped:
        reason = test.reason_projected or f"before: {test.reason_current}"
        lines.append(Line(f"{test.test_name} ({test.test_id}): {reason}", "skipped", "dim"))
    return [*lines, Line()] if lines else []


def before_and_after() -> list[OutputColumn]:
    """The columns of a test before and after something."""
    return [
        OutputColumn("test_id"),
        OutputColumn("test_name", "Test", folds=True, least=LONGEST_WORD),
        OutputColumn("category", value=member("test_category")),
        OutputColumn(
            "before",
            "Before",
            right=True,
            value=member("current_value"),
            shown=lambda row: _figure(row, row.current_value, _unit(row)),
        ),
        OutputColumn(
            "after",
            "After",
            right=True,
            value=member("projected_value"),
            shown=lambda each: _figure(each, each.projected_value, _unit(each)),
        ),
        OutputColumn("threshold_type"),
        OutputColumn(
            "threshold",
            "Threshold",
            right=True,
            value=member("threshold_value"),
            shown=lambda each: f"{each.threshold_type} {_figure(each, each.threshold_value)}",
        ),
        OutputColumn("cushion_before", value=member("cushion_current")),
        OutputColumn(
            "cushion_after",
            "Cushion",
            right=True,
            value=member("cushion_projected"),
            shown=lambda each: _figure(each, each.cushion_projected, sign="+"),
        ),
        OutputColumn("cushion_change", "Change", right=True, shown=_moved),
        OutputColumn(
            heading="0 to 50 %", from_width=110, shown=lambda each: _bar(_relative(each), each.status_projected)
        ),
        OutputColumn("status_before", value=member("status_current")),
        OutputColumn("status_after", "Status", value=member("status_projected"), shown=_changed_status, folds=True),
        OutputColumn("reason", value=lambda each: member("reason_projected")(each) or member("reason_current")(each)),
    ]


def two_files_columns(simulation: Simulation) -> list[OutputColumn]:
    """The columns of a test in two files, with each file's own figure where it has any."""
    sides = {"before": by_test(simulation.before), "after": by_test(simulation.after)}

    def of(side: str, name: str) -> Callable[[Any], Any]:
        return lambda row: _published(name)(sides[side].get(row.test_id))

    def shown(side: str) -> Callable[[Any], str]:
        return lambda row: _trustee_and_difference(sides[side][row.test_id]) if row.test_id in sides[side] else "-"

    def doubtful(side: str) -> Callable[[Any], bool | None]:
        return lambda row: getattr(sides[side].get(row.test_id), "doubtful", None)

    def status(projected: Projected) -> Text:
        return _changed_status(
            projected, is_doubtful=(bool(doubtful("before")(projected)), bool(doubtful("after")(projected)))
        )

    added = []
    for side, results in sides.items():
        heading = f"Trustee {side}" if any(result.published is not None for result in results.values()) else ""
        added += [
            OutputColumn(
                key=f"published_{side}", heading=heading, right=True, value=of(side, "value"), shown=shown(side)
            ),
            OutputColumn(f"difference_{side}", value=of(side, "difference")),
            OutputColumn(f"agrees_{side}", value=of(side, "agrees")),
            OutputColumn(f"doubtful_{side}", value=doubtful(side)),
        ]
    columns = before_and_after()
    at = next(place for place, column in enumerate(columns) if column.key == "after") + 1
    columns[at:at] = added
    return [replace(column, shown=status) if column.key == "status_after" else column for column in columns]


def by_test(results: Results) -> dict[str, TestResult]:
    """The results by test id."""
    return {result.test_id: result for result in list(results)}


def thinness(projected: Projected) -> float:
    """What tests are ordered by: the cushion after, in percent of the threshold."""
    relative = _relative(projected)
    return inf if relative is None else relative


def _relative(projected: Projected) -> float | None:
    return projected.cushion_projected / abs(projected.threshold_value) * 100 if projected.threshold_value else None


def _moved(projected: Projected) -> Text:
    from rich.text import Text

    return Text(_change(projected), style={1: "green", -1: "yellow", 0: "dim"}[shown_direction(projected)])


def _change(projected: Projected) -> str:
    """The change of the cushion; no figure where the trades do not move it."""
    from core.frames.figures import change_shown

    return change_shown(
        0.0 if projected.impact_direction == "neutral" else projected.cushion_change, projected.decimals
    )


def shown_direction(projected: Projected) -> int:
    """1 where the cushion grows, -1 where it shrinks, 0 where it stays at the decimals that are shown."""
    shown = abs(projected.cushion_change) >= 10.0**-projected.decimals / 2
    return {"improve": 1, "worsen": -1, "neutral": 0}[projected.impact_direction] if shown else 0


def impacts_shown(simulation: Simulation) -> Impacts:
    """How many tests improve, worsen and stay the same by the figures that are shown."""
    from core.scenario.simulate import Impacts

    ways = [shown_direction(result) for result in simulation.results]
    return Impacts(*(ways.count(way) for way in (1, -1, 0)))


def _changed_status(projected: Projected, is_doubtful: tuple[bool, bool] = (False, False)) -> Text:
    """The status, with the one before where it is another.

    `is_doubtful`: whether it may be wrong before and after.
    """
    from rich.text import Text

    text = Text()
    if projected.status_current != projected.status_projected or is_doubtful[0] != is_doubtful[1]:
        text.append(projected.status_current.upper(), style=STYLES[projected.status_current])
        _mark(text, is_doubtful[0]).append(" > ")
    return _mark(
        text.append(projected.status_projected.upper(), style=STYLES[projected.status_projected]), is_doubtful[1]
    )


def _mark(status: Text, is_doubtful: bool) -> Text:
    return status.append(f" {DOUBTFUL}", style="bold yellow") if is_doubtful else status


DOUBTFUL: Final = "?"
"""Stands behind a status that may be wrong."""


def _status(test_result: TestResult) -> Text:
    from rich.text import Text

    return _mark(Text(test_result.status.upper(), style=STYLES[test_result.status]), test_result.doubtful)


def _published(name: str) -> Callable[[Any], Any]:
    """What takes a result to a member of the trustee's figure.

    To None where there is none.
    """

    def value(row: Any) -> Any:
        return getattr(getattr(row, "published", None), name, None)

    return value


def _trustee(test_result: TestResult) -> str:
    """The trustee's figure, with its status where that is the other one."""
    from core.compliance.beside import contradicts

    figure = test_result.published
    if figure is None:
        return "-"
    shown = "-" if figure.value is None else _figure(test_result, figure.value, _unit(test_result))
    return f"{shown} {figure.status}" if contradicts(figure, test_result.status) else shown


def _trustee_and_difference(test_result: TestResult) -> str:
    """The trustee's figure, and ours less that: 62.20 % (+0.60)."""
    figure = test_result.published
    if figure is None or figure.difference is None:
        return _trustee(test_result)
    apart = "ties" if figure.agrees else _figure(test_result, figure.difference, sign="+")
    return f"{_trustee(test_result)} ({apart})"


def _difference(test_result: TestResult) -> Text:
    """Our figure less the trustee's; 0 where the two tie."""
    from rich.text import Text

    figure = test_result.published
    if figure is None or figure.difference is None:
        return Text("-")
    if figure.agrees:
        return Text("ties", style="green")
    return Text(_figure(test_result, figure.difference, sign="+"), style="yellow")


def _doubt_codes(row: Any) -> str | None:
    """The kinds of doubt of a result, each once."""
    return "; ".join(dict.fromkeys(doubt.code for doubt in getattr(row, "doubt", ()))) or None


def _bar(percent: float | None, status: str) -> Text:
    from rich.text import Text

    return Text(bar(percent), style=STYLES[status])


def _result_columns(has_published: bool) -> list[OutputColumn]:
    """The columns of results.

    Those of the trustee's figures are shown to people where the file has any.
    """
    widths = (120, 130) if has_published else (0, 90)
    trustee, apart = ("Trustee", "Difference") if has_published else ("", "")
    return [
        OutputColumn("test_id"),
        OutputColumn("test_name", "Test", folds=True, least=LONGEST_WORD),
        OutputColumn("category", "Category", folds=True, from_width=widths[1] + 30),
        OutputColumn(
            "current_value", "Current", right=True, shown=lambda row: _figure(row, row.current_value, _unit(row))
        ),
        OutputColumn("published_value", trustee, right=True, value=_published("value"), shown=_trustee),
        OutputColumn("difference", apart, right=True, value=_published("difference"), shown=_difference),
        OutputColumn("threshold_type"),
        OutputColumn(
            "threshold_value",
            "Threshold",
            right=True,
            shown=lambda row: f"{row.threshold_type} {_figure(row, row.threshold_value)}",
        ),
        OutputColumn(
            "cushion",
            "Cushion",
            right=True,
            shown=lambda row: "-" if row.cushion is None else _figure(row, row.cushion, _unit(row), sign="+"),
        ),
        OutputColumn(
            "cushion_pct",
            "of limit",
            right=True,
            from_width=widths[1],
            shown=lambda row: "-" if row.cushion_pct is None else f"{row.cushion_pct:+,.1f} %",
        ),
        OutputColumn(heading="0 to 50 %", from_width=widths[0], shown=lambda row: _bar(row.cushion_pct, row.status)),
        OutputColumn("status", "Status", value=lambda row: getattr(row, "status", "skipped"), shown=_status),
        OutputColumn("published_status", value=_published("status")),
        OutputColumn("agrees", value=_published("agrees")),
        OutputColumn("doubtful"),
        OutputColumn("doubts", value=_doubt_codes),
        OutputColumn("threshold_source"),
        OutputColumn("reason"),
    ]


def _unit(result: TestResult | Projected) -> str:
    """The unit as a short suffix."""
    return {"percent": " %", "years": " y"}.get(result.unit, "")


def _figure(test: TestResult | Projected, value: float, unit: str = "", sign: str = "") -> str:
    """A figure with the decimals of its test and the suffix of its unit."""
    from core.frames.figures import figure_shown

    return figure_shown(value, sign, test.decimals) + unit


def _summary(summary: Summary) -> Text:
    from rich.text import Text

    line = Text(f"{counted(summary.total, 'test')}: ")
    parts = (
        (f"{summary.passed} passed", summary.passed, "pass"),
        (counted(summary.warnings, "warning"), summary.warnings, "warning"),
        (f"{summary.failed} failed", summary.failed, "fail"),
        (f"{summary.skipped} skipped", 0, "pass"),
    )
    for at, (words, count, status) in enumerate(parts):
        line.append(", " if at else "").append(one_line(words), style=STYLES[status] if count else "")
    if summary.doubtful:
        line.append("; ").append(f"{summary.doubtful} of them doubtful", style=STYLES["warning"])
    return line
