"""Rows of a suite's results: each figure of a result and of a skipped test in its column."""

from __future__ import annotations

from datetime import date

from core.batch.table import COLUMNS, DealMonth, refused_row, rows_of
from core.compliance.run import run_suite
from core.portfolio import Portfolio

MONTH = DealMonth(deal="Acme", files="a.xlsx", sha256="ab" * 32, as_of=date(2026, 3, 31), as_of_source="request")


def test_each_test_is_a_row_with_its_figures() -> None:
    portfolio = Portfolio.from_columns({"borrower_name": ["A", "B"], "par_value": [3.0, 1.0], "spread": [300.0, 500.0]})
    results = run_suite(portfolio, "standard")
    rows = list(rows_of(MONTH, "standard", results))
    assert len(rows) == len(results) + len(results.skipped) == 15
    for row, result in zip(rows, results, strict=False):
        assert (row.test_id, row.test, row.status) == (result.test_id, result.test_name, result.status)
        assert (row.value, row.limit, row.limit_type) == (
            result.current_value,
            result.threshold_value,
            result.threshold_type,
        )
        assert (row.cushion, row.cushion_pct, row.message) == (result.cushion, result.cushion_pct, result.message)
        assert row.doubtful is result.doubtful
        assert (row.doubt is None) == (not result.doubt)
        assert (row.deal, row.as_of, row.files, row.sha256) == ("Acme", date(2026, 3, 31), "a.xlsx", "ab" * 32)
    for row, skipped in zip(rows[len(results) :], results.skipped, strict=True):
        assert (row.test_id, row.status, row.message) == (skipped.test_id, "skipped", skipped.reason)
    assert rows[len(results) :], "without notes coverage is skipped"


def test_a_refusal_says_why() -> None:
    row = refused_row(MONTH, "export", "why")
    assert (row.step, row.status, row.message, row.value) == ("export", "refused", "why", None)
    assert refused_row(DealMonth(deal="a", files="b", sha256=""), "read", "x").sha256 is None
    assert COLUMNS[:4] == ("deal", "as_of", "as_of_source", "step")
