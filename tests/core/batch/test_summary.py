"""The page of a batch: what is on it, and that no text of a file becomes markup."""

from __future__ import annotations

from datetime import date

import pytest

from core.batch import summary as page_module
from core.batch.summary import BatchSummary, summary_page
from core.batch.table import DealMonth, ResultRow, RowStatus, refused_row


def result(deal: str, status: RowStatus, cushion_pct: float | None, *, doubt: str | None = None) -> ResultRow:
    return ResultRow(
        deal=deal,
        as_of=date(2026, 3, 31),
        step="suite",
        test_id="wal",
        test="WAL",
        status=status,
        value=5.0,
        limit=6.0,
        cushion=1.0,
        cushion_pct=cushion_pct,
        doubtful=doubt is not None,
        doubt=doubt,
    )


def test_it_counts_and_orders_what_matters() -> None:
    summary = BatchSummary()
    summary.pass_on(
        [ResultRow(deal="a", step="read", status="done"), result("a", "pass", 30.0), result("a", "fail", -5.0)]
    )
    summary.pass_on([result("b", "warning", 2.0, doubt="estimate: why"), result("b", "skipped", None)])
    summary.pass_on([refused_row(DealMonth(deal="c", files="c.xlsx", sha256=""), "read", "broken")])
    assert (summary.months, summary.doubtful, summary.refusals, summary.undated) == (3, 1, 1, 1)
    assert dict(summary.statuses) == {"pass": 1, "fail": 1, "warning": 1, "skipped": 1}
    assert [row.deal for row in summary.thinnest] == ["b", "a"], "a failing test has no cushion"
    page = summary_page(summary, ["readme.md"], ["3 deals from 3 files."])
    assert "Batch of 3 deal-months" in page
    assert "3 deals from 3 files." in page
    order = ["Failing tests", "Thinnest cushions", "Refused", "Doubtful results", "Files left out"]
    assert [page.index(f"<h2>{title}") for title in order] == sorted(page.index(f"<h2>{title}") for title in order)


def test_texts_of_files_are_no_markup() -> None:
    summary = BatchSummary()
    evil = "<script>alert(1)</script>&\u202e\x00"
    summary.pass_on([refused_row(DealMonth(deal=evil, files=evil, sha256=""), "read", evil + "x" * 1000)])
    summary.pass_on([result(evil, "fail", -1.0, doubt=evil)])
    page = summary_page(summary, [evil], [evil])
    assert "<script" not in page
    assert "\x00" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in page
    assert "x" * 500 not in page


def test_lists_have_limits_and_say_how_many_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "LISTED_MAX", 2)
    monkeypatch.setattr(page_module, "THINNEST_MAX", 3)
    summary = BatchSummary()
    for at in range(6):
        summary.pass_on([result(f"f{at}", "fail", -1.0), result(f"p{at}", "pass", float(10 - at))])
    assert [row.deal for row in summary.thinnest] == ["p5", "p4", "p3"]
    page = summary_page(summary, ["a", "b", "c"], [])
    assert "... and 4 more, in the table of results." in page
    assert "a, b and 1 more" in page
