"""Issues as columns.

Chunks, slices and single ones say the same; counts; a hundred thousand are read in a moment.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.generate import generate
from core.portfolio import Portfolio
from core.reconciliation import Issue, Issues, reconcile
from core.reconciliation.issues import COLUMNS


@pytest.fixture(scope="module")
def issues() -> Issues:
    """A book of 2,000 against one whose every price, spread and rating is another."""
    columns = generate(loans=2_000).portfolio_columns()
    codes, symbols = columns["rating_agency_a"]
    second = {
        "price": np.asarray(columns["price"]) + 1.0,
        "spread": np.asarray(columns["spread"]) + 25.0,
        "rating_agency_a": ((codes + 1) % len(symbols), symbols),
        "borrower_name": (columns["borrower_name"][0], [name.upper() for name in columns["borrower_name"][1]]),
    }
    return reconcile(Portfolio.from_columns(columns | second), Portfolio.from_columns(columns)).issues


def test_there_are_some_of_each_and_they_are_counted(issues: Issues) -> None:
    actual_issues = list(issues)
    assert len(actual_issues) == len(issues) > 6_000
    assert {actual_issue.field_name for actual_issue in actual_issues} == {
        "price",
        "rating_agency_a",
        "spread",
        "borrower_name",
    }
    assert issues.by_severity() == {
        name: sum(actual_issue.severity == name for actual_issue in actual_issues)
        for name in ("critical", "error", "warning", "info")
    }


def test_chunks_slices_and_single_issues_agree(issues: Issues) -> None:
    actual_issues = list(issues)
    assert actual_issues[4_090:4_100] == issues[4_090:4_100] == [issues[at] for at in range(4_090, 4_100)]
    assert issues[-1] == actual_issues[-1]
    assert issues[::-500] == actual_issues[::-500]
    chunk = issues.chunk(5_000, 10**9)
    assert tuple(chunk) == COLUMNS
    assert [Issue(*row) for row in zip(*chunk.values(), strict=True)] == actual_issues[5_000:]
    assert all(values == [] for values in issues.chunk(10**9, 10**9 + 5).values())


def test_places_that_are_none(issues: Issues) -> None:
    for at in (len(issues), -len(issues) - 1):
        with pytest.raises(IndexError):
            issues[at]


def test_an_order_by_severity_then_loan_then_field(issues: Issues) -> None:
    answer = [(issue.severity, issue.loan_key) for issue in issues]
    warnings = [key for severity, key in answer if severity == "warning"]
    seen = list(dict.fromkeys(warnings))
    assert sorted(warnings, key=seen.index) == warnings
    of_one = [issue.field_name for issue in issues if issue.loan_key == seen[0] and issue.severity == "warning"]
    assert of_one == ["price", "rating_agency_a", "spread"]


def test_a_frame_has_what_each_issue_says(issues: Issues) -> None:
    """In its chunks, across which a text keeps its code."""
    answer, result = list(issues), issues.to_polars()
    assert tuple(result.columns) == COLUMNS
    for name in COLUMNS:
        assert result[name].to_list() == [getattr(item, name) or None for item in answer], name


def test_what_they_say_of_themselves(issues: Issues) -> None:
    counts = ", ".join(f"{count:,} {severity}" for severity, count in issues.by_severity().items() if count)
    assert repr(issues) == f"Issues({len(issues):,} issues: {counts})"
    html = issues._repr_html_()
    assert f"{len(issues) - 15:,} issues between them are not shown" in html
    assert html.count("<tr") == 1 + 15 + 1


def test_an_issue_has_page_and_line_of_each_side_with_pages() -> None:
    columns = {"borrower_name": ["Ash", "Elm", "Oak"], "par_value": [3e6, 2e6, 1e6], "price": [99.0, 98.0, 97.0]}
    page_lines = np.array([(1, at) for at in range(1, 9)] + [(2, 1)], np.int32)
    tape = replace(Portfolio.from_columns(columns), sheet_rows=np.array([7, 0, 9], np.int32), page_lines=page_lines)
    book = Portfolio.from_columns(columns | {"price": [90.0, 90.0, 90.0], "borrower_name": ["Ash", "Elm", "Fir"]})
    issues = reconcile(tape, book).issues
    columns_of_pages = issues.page_lines(0, len(issues))
    assert columns_of_pages.keys() == {"trustee_page", "trustee_line"}
    names = [issue.borrower_name for issue in issues]
    placed = dict(zip(names, zip(*columns_of_pages.values(), strict=True), strict=True))
    assert placed == {"Ash": ("1", "7"), "Elm": ("", ""), "Oak": ("2", "1"), "Fir": ("", "")}
    assert issues.page_lines(0, 1) == {name: texts[:1] for name, texts in columns_of_pages.items()}
    swapped = reconcile(book, tape).issues
    assert swapped.page_lines(0, 0) == {"internal_page": [], "internal_line": []}
    assert reconcile(replace(tape, page_lines=None), book).issues.page_lines(0, 9) == {}


def test_a_loan_of_no_sheet_has_no_row() -> None:
    """One of another page, and one that a side lacks."""
    columns = {"borrower_name": ["Ash", "Elm", "Oak"], "par_value": [3e6, 2e6, 1e6], "price": [99.0, 98.0, 97.0]}
    tape = replace(Portfolio.from_columns(columns), sheet_rows=np.array([7, 0, 9], np.int32))
    book = Portfolio.from_columns(columns | {"price": [90.0, 90.0, 90.0], "borrower_name": ["Ash", "Elm", "Fir"]})
    issues = reconcile(tape, book).issues
    rows = issues.sheet_rows(0, len(issues))
    placed = dict(zip([issue.borrower_name for issue in issues], rows["trustee_row"], strict=True))
    assert placed == {"Ash": "7", "Elm": "", "Oak": "9", "Fir": ""}
    assert set(rows["internal_row"]) == {""}
