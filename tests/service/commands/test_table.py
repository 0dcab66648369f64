"""The table of results.

What a person reads, in colour on a terminal and plain in a pipe.
"""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from core.compliance.result import Details, Doubt, PublishedFigure, Results, RunFigures, Skipped, TestResult
from core.portfolio.model.notes import DataWarning
from core.scenario.simulate import compared
from service.commands.output import Grid, OutputPage, console_for, print_page
from service.commands.table import results_page, two_files_columns


def result(test_id: str, status: str, value: float, limit: float, cushion: float | None, unit: str) -> TestResult:
    return TestResult(
        test_id=test_id,
        test_name=test_id.replace("_", " ").capitalize(),
        category="concentration",
        status=status,  # type: ignore[arg-type]
        current_value=value,
        threshold_value=limit,
        threshold_type="max",
        cushion=cushion,
        cushion_pct=None if cushion is None else cushion / limit * 100,
        message="",
        details=Details(formula="", cell_refs=[], breakdown={"unit": unit}),
    )


RESULTS = Results(
    [
        result("largest_obligor", "pass", 1.5, 2.5, 1.0, "percent"),
        result("ccc_bucket", "warning", 7.0, 7.5, 0.5, "percent"),
        result("rating_factor", "fail", 3_100.25, 3_000.0, -100.25, "factor"),
        result("without_cushion", "pass", 1.0, 2.0, None, "factor"),
    ],
    [Skipped("oc_ratio", "Junior coverage", "no tranche data: add a Tranches or Liabilities sheet")],
)


def printed(results: Results, console: Console) -> str:
    page = results_page(results, title="deal.xlsx, standard suite")
    print_page(page, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_pipe_gets_plain_lines_of_a_hundred_columns() -> None:
    text = printed(RESULTS, console_for(io.StringIO()))
    assert "\x1b" not in text
    assert all(len(line) <= 100 for line in text.splitlines())
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "deal.xlsx, standard suite"
    assert "Largest obligor 1.50 % max 2.50 +1.00 % +40.0 % ████████ PASS" in lines
    assert "Ccc bucket 7.00 % max 7.50 +0.50 % +6.7 % █▍ WARNING" in lines
    assert "Rating factor 3,100 max 3,000 -100 -3.3 % ░ FAIL" in lines
    assert "Without cushion 1.00 max 2.00 - - PASS" in lines
    assert "skipped Junior coverage (oc_ratio): no tranche data: add a Tranches or Liabilities sheet" in lines
    assert lines[-1] == "5 tests: 2 passed, 1 warning, 1 failed, 1 skipped"


def test_a_terminal_gets_the_status_in_colour() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=100, no_color=False)
    text = printed(RESULTS, console)
    for words in ("\x1b[32mPASS", "\x1b[33mWARNING", "\x1b[1;31mFAIL"):
        assert words in text


def test_text_from_a_file_cannot_speak_to_the_terminal() -> None:
    hostile = "required column(s) par not found in sheet '\x1b]0;owned\x07[red]\nHoldings\u202e'"
    results = Results([], [Skipped("oc_ratio", "Junior coverage", hostile)])
    text = printed(results, console_for(io.StringIO()))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "'?]0;owned?[red] Holdings?'" in text


def test_no_results_at_all_are_a_summary() -> None:
    text = printed(Results([], []), console_for(io.StringIO()))
    assert text.splitlines() == ["deal.xlsx, standard suite", "0 tests: 0 passed, 0 warnings, 0 failed, 0 skipped"]


# ---- the trustee's figures, and doubts


def published(
    value: float | None, status: str | None, difference: float | None, agrees: bool | None
) -> PublishedFigure:
    return PublishedFigure(
        name="As printed", value=value, numerator=None, denominator=None, trigger=None,
        status=status, place="'Tests'!C7", difference=difference, agrees=agrees,  # type: ignore[arg-type]
    )  # fmt: skip


DIFFERS = Doubt("differs", "the trustee has 7.90 %, ours is 7.00 %", ["'Tests'!C7"])
ESTIMATE = Doubt("estimate", "fees are an estimate", [])
BESIDE = Results(
    [
        replace(RESULTS[0], published=published(1.5, "pass", 0.0, True), doubt=[ESTIMATE]),
        replace(RESULTS[1], published=published(7.9, "fail", -0.9, False), doubt=[ESTIMATE, DIFFERS], doubtful=True),
        RESULTS[2],
    ],
    [Skipped("oc_ratio", "Junior coverage", "no notes", published=published(108.49, "pass", None, None))],
)


def test_the_trustees_figure_stands_in_the_row_and_doubts_below_by_kind() -> None:
    text = printed(BESIDE, console_for(io.StringIO()))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert max(map(len, text.splitlines()[: lines.index("")])) <= 100
    assert "Test Current Trustee Difference Threshold Cushion Status" in lines
    assert "Largest obligor 1.50 % 1.50 % ties max 2.50 +1.00 % PASS" in lines
    assert "Ccc bucket 7.00 % 7.90 % fail -0.90 max 7.50 +0.50 % WARNING ?" in lines
    assert "Rating factor 3,100 - - max 3,000 -100 FAIL" in lines
    assert "skipped Junior coverage (oc_ratio): no notes; the trustee has 108.49" in lines
    below = lines.index("? the status may be wrong: see the doubts below")
    assert lines[below + 1 : below + 3] == [
        "doubt differs from the trustee: Ccc bucket: the trustee has 7.90 %, ours is 7.00 %",
        "doubt estimated: Ccc bucket, Largest obligor: fees are an estimate",
    ]
    assert lines[-1] == "4 tests: 1 passed, 1 warning, 1 failed, 1 skipped; 1 of them doubtful"


def test_a_file_that_publishes_nothing_has_no_such_columns() -> None:
    assert "Trustee" not in printed(RESULTS, console_for(io.StringIO()))


def test_csv_has_the_trustees_figures_and_the_kinds_of_doubt() -> None:
    page = results_page(BESIDE, title="x")
    row = next(item for item in page.rows.items if item.test_id == "ccc_bucket")
    values = {column.key: column.value(row) for column in page.rows.columns if column.key}
    wanted = ("published_value", "published_status", "difference", "agrees", "doubtful", "doubts")
    assert [values[name] for name in wanted] == [7.9, "fail", -0.9, False, True, "estimate; differs"]


def test_no_warning_is_left_out() -> None:
    """Many of a kind share a line."""
    many = [DataWarning("no_price" if at % 2 else "no_lien", f"message {at}") for at in range(40)]
    page = results_page(Results(list(RESULTS), [], warnings=many), title="x")
    console = console_for(io.StringIO())
    print_page(page, console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert all(f"message {at}" in text for at in range(40))
    assert sum(line.startswith("warning") for line in text.splitlines()) == 2


def test_two_files_have_the_trustees_figures_with_the_difference_and_both_marks() -> None:
    """Of the earlier file and of the later one, which publishes nothing."""
    cushions = {item.test_id: item.cushion or 0.0 for item in RESULTS}
    sides = (Results(list(item), [], figures=RunFigures(cushions=cushions)) for item in (BESIDE, RESULTS))
    outcome = compared(next(sides), next(sides), [], 0)
    console = console_for(io.StringIO())
    grid = Grid(columns=two_files_columns(outcome), items=outcome.results)
    print_page(OutputPage(title="two files", blocks=[grid], rows=grid, document={}), console)
    assert isinstance(console.file, io.StringIO)
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
    assert any("1.50 % 1.50 % 1.50 % (ties) max 2.50" in line for line in lines)
    assert any("7.00 % 7.00 % 7.90 % fail (-0.90) max 7.50" in line for line in lines)
    assert any("WARNING ? >" in line for line in lines), "the earlier status alone is doubtful"
