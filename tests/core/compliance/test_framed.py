"""Results by name, the thinnest cushion first, and as frames."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from xml.etree import ElementTree

import msgspec
import polars as pl
import pytest

from core.compliance.framed import ROWS_SHOWN, thinnest_first
from core.compliance.result import Details, PublishedFigure, Results, Skipped, TestResult
from core.portfolio.model.notes import DataWarning
from tests.core.portfolio.model.test_interpretation import interpretation_of


def result(test_id: str, value: float, limit: float, cushion: float | None, status: str = "pass") -> TestResult:
    return TestResult(
        test_id=test_id, test_name=f"Test {test_id} <b>", category="portfolio", status=status,  # type: ignore[arg-type]
        current_value=value, threshold_value=limit, threshold_type="max", cushion=cushion, cushion_pct=None, message="",
    )  # fmt: skip


ROWS = [
    result("wide", 1.0, 10.0, 9.0),
    result("wal", 5.9, 6.0, 0.1, "warning"),
    result("none", 1.0, 2.0, None),
    result("warf", 3100.0, 3000.0, -100.0, "fail"),
    result("zero", 1.0, 0.0, -1.0, "fail"),
    result("below", -6.0, -5.0, 1.0),
]


@pytest.fixture
def results() -> Results:
    return Results(
        [*ROWS],
        [Skipped("depth", "Dealer quotes", "required column(s) quote_depth not found")],
        as_of=date(2026, 8, 31),
        warnings=[DataWarning("no_price", "3 loans have no price")],
    )


def test_by_place_by_id_and_by_name(results: Results) -> None:
    assert results["wal"] is results[1] is results["WAL"] is results["test wal <b>"]
    assert (results[-1], results[1:3], len(results)) == (ROWS[-1], ROWS[1:3], 6)
    assert ("wal" in results, "wall" in results, ROWS[0] in results, "depth" in results) == (True, False, True, False)
    with pytest.raises(KeyError, match=r"^there is no test 'wall'; near: 'wal'"):
        results["wall"]
    with pytest.raises(KeyError, match=r"^there is no result of 'depth': it was skipped: required column"):
        results["depth"]
    with pytest.raises(IndexError):
        results[9]


def test_the_thinnest_cushion_is_the_first_of_all_units(results: Results) -> None:
    assert [item.test_id for item in thinnest_first(results)] == ["zero", "warf", "wal", "below", "wide", "none"]
    assert repr(results).split("\n") == [
        "Results(7 tests: 3 pass, 1 warning, 2 fail, 1 skipped; as of 2026-08-31; 1 note on the data in .warnings)",
        "  fail     Test zero <b>       1.00      max 0.00    cushion -1.00",
        "  fail     Test warf <b>   3,100.00  max 3,000.00  cushion -100.00",
        "  warning  Test wal <b>        5.90      max 6.00    cushion +0.10",
        "  pass     Test below <b>     -6.00     max -5.00    cushion +1.00",
        "  pass     Test wide <b>       1.00     max 10.00    cushion +9.00",
        "  pass     Test none <b>       1.00      max 2.00",
    ]
    many = Results(ROWS * 5, [])
    assert len(repr(many).split("\n")) == ROWS_SHOWN + 2
    assert repr(many).endswith("\n  and 20 with more cushion")


def test_as_a_frame(results: Results) -> None:
    data_frame = results.to_polars()
    assert data_frame["test_id"].to_list() == [row.test_id for row in ROWS]  # in the order of the run
    assert data_frame["cushion"].to_list() == [9.0, 0.1, None, -100.0, -1.0, 1.0]
    assert (data_frame["low"].dtype, data_frame["low"].null_count()) == (pl.Float64, 6)
    assert results.to_pandas().attrs == {
        "as_of": "2026-08-31",
        "skipped": {"depth": "required column(s) quote_depth not found"},
        "warnings": ["no_price: 3 loans have no price"],
    }


def test_in_a_notebook(results: Results) -> None:
    html = results._repr_html_()
    assert "<b>" not in html
    assert html.count("<svg") == len(ROWS)
    assert html.index("Test zero") < html.index("Test warf") < html.index("Test none")
    assert "3 loans have no price" in html
    assert "quote_depth not found" in html


def test_figures_are_shown_as_in_the_command() -> None:
    """Two decimals, and more where two would hide what decides."""
    rows = [result("wide", 1.234567, 10.0, 8.765433), result("near", 7.500001, 7.5, -0.000001, "fail")]
    html = Results(rows, [])._repr_html_()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", html)
    assert cells[-4:] == ["1.23", "max 10.00", "+8.77", "wide"]
    assert {"7.500001", "max 7.500000", "-0.000001"} <= set(cells)
    assert "1.234567" not in html
    assert "7.500001  max 7.500000  cushion -0.000001" in repr(Results(rows, []))


def test_a_single_result_in_a_notebook() -> None:
    item = replace(ROWS[1], message="WAL is <close>", threshold_source="deal", details=Details("sum / par", [], {}))
    html = item._repr_html_()
    tree = ElementTree.fromstring(html)
    assert tree.tag == "div"
    for text in (
        "Test wal &lt;b&gt;: warning",
        "WAL is &lt;close&gt;",
        "Limit: deal",
        "Figure: sum / par",
        ">5.90<",
        "max 6.00",
    ):
        assert text in html, text
    assert html.count("<svg") == 1
    assert "+0.10" in html


def test_the_head_is_the_thinnest_cushions(results: Results) -> None:
    first = results.head(2)
    assert isinstance(first, Results)
    assert [item.test_id for item in first] == ["zero", "warf"]
    assert (first.as_of, first.warnings, first.skipped) == (results.as_of, results.warnings, [])
    assert first._repr_html_().count("<svg") == 2
    assert [len(results.head(count)) for count in (0, 1, 99)] == [0, 1, 6]
    assert len(results.head()) == 5
    with pytest.raises(ValueError, match="not -1"):
        results.head(-1)


def test_lines_have_the_trustees_figure_the_difference_and_the_doubt() -> None:
    theirs = PublishedFigure(
        name="WARF", value=2900.0, numerator=None, denominator=None, trigger=None, status="pass", place="'Tests'!B3",
        difference=200.0, agrees=False,
    )  # fmt: skip
    ties = msgspec.structs.replace(theirs, value=5.9, difference=0.0, agrees=True)
    rows = [replace(ROWS[3], published=theirs, doubtful=True), replace(ROWS[1], published=ties)]
    results = Results(rows, [Skipped("depth", "Dealer quotes", "no quotes", published=theirs)])
    assert "status='fail', doubtful=True" in repr(rows[0])
    assert "doubtful" not in repr(rows[1])
    assert "trustee 2,900.00 (+200.00)" in repr(results)
    assert "trustee 5.90 (ties)" in repr(results)
    assert "no quotes; the trustee has 2,900" in results._repr_html_()


def test_how_the_file_was_read_is_said_once(results: Results) -> None:
    """A count in a line of text, the words in a notebook and a frame.

    Nothing where no figure decided.
    """
    plain = repr(results)
    assert "reading" not in plain
    assert "read_as" not in results.frame().attrs
    results.interpretation = interpretation_of(("taken", True, "no cash counts"), ("open", False, "at par"))
    words = "no cash counts; 1,047 of 52 printed figures tie"
    assert repr(results).splitlines()[0].endswith("; 1 reading by the file's figures in .interpretation)")
    assert results.frame().attrs["read_as"] == results.read_as == words
    assert f"Read as: {words}" in results._repr_html_()
    assert results.head(1).interpretation is results.interpretation
