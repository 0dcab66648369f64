"""PDFs set as funds and trustees set them, drawn with their truth, and what the reader gives of each."""

from __future__ import annotations

import pytest

from core.files.errors import FileRefused
from core.files.pdf import read_pdf
from tests.pdf_layouts import bank, filing, monthly, programs, schedule, small
from tests.pdf_layouts.paper import plain
from tests.pdf_layouts.score import Score, score_of
from tests.pdf_layouts.truth import Draw


def shown(score: Score) -> str:
    return "\n".join(map(str, [score.name, *score.wrong[:20]]))


@pytest.mark.parametrize("name", small.READABLE)
def test_small_cases_are_read(name: str) -> None:
    document = small.READABLE[name]()
    score = score_of(document, read_pdf(document.data))
    assert score.share == 1, shown(score)
    assert score.lines_right == score.rows
    assert set(score.pieces.values()) == {1}


@pytest.mark.parametrize("name", small.REFUSED)
def test_small_cases_are_refused(name: str) -> None:
    draw, word = small.REFUSED[name]
    with pytest.raises(FileRefused) as refusal:
        read_pdf(draw().data)
    assert word in refusal.value.hint


def test_a_scanned_page_is_remarked() -> None:
    book = read_pdf(small.one_page_scanned().data)
    assert [remark.code for remark in book.remarks] == ["page_not_read"]
    assert "page 2" in book.remarks[0].message.casefold()


KINDS_OF_CELLS = {
    "1,234.50": (1234.5, "#,##0.00"),
    "1,234": (1234.0, "#,##0"),
    "0.125": (0.125, "0.000"),
    "(12.30)": (-12.3, "0.00"),
    "8.90%": (0.089, "0.00%"),
    "12%": (0.12, "0%"),
    "(1.5%)": (-0.015, "0.0%"),
    "$ 5.00": (5.0, "$"),
    "$1,250,000": (1_250_000.0, "$"),
    "€ 1,250.00": (1250.0, "€"),
    "30-Sep-2024": (45565.0, None),
    "09/30/2024": ("09/30/2024", None),
    "000123": ("000123", None),
    "00123ABC4": ("00123ABC4", None),
    "SOFR + 4.50%": ("SOFR + 4.50%", None),
    "L + 450": ("L + 450", None),
    "N/A": ("N/A", None),
    "B2 *-": ("B2 *-", None),
}
"""Printed texts: what they are read as, and the number format or the sign in it."""


def test_cells_have_their_kind_and_printed_format() -> None:
    cells = [plain(f"Line {number}", "Term Loan", "", "", "", text) for number, text in enumerate(KINDS_OF_CELLS)]
    book = read_pdf(small.single("kinds", cells=cells).data)
    sheet = book.sheets[0]
    rows = {sheet.value(row, 0): row for row in range(sheet.row_count)}
    column = sheet.column_count - 1
    stored = sheet.columns[column]
    assert stored is not None
    for number, (text, (value, code)) in enumerate(KINDS_OF_CELLS.items()):
        row = rows[f"Line {number}"]
        assert sheet.value(row, column) == value, text
        if code is not None:
            printed = book.number_formats[stored.dense.formats[stored.slot(row)]]
            assert (code in printed) if code in "$€" else printed.partition(";")[0] == code, text


def test_spaces_that_do_not_break_are_spaces() -> None:
    book = read_pdf(small.no_break_spaces().data)
    texts = {
        value
        for sheet in book.sheets
        for row in range(sheet.row_count)
        for column in range(sheet.column_count)
        if isinstance(value := sheet.value(row, column), str)
    }
    assert "Term Loan B" in texts
    assert not any("\u00a0" in text for text in texts)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_schedule_of_investments(seed: int) -> None:
    """Turned pages, about 2,606 loans; exactly the two misprinted subtotals are remarked, with page and line."""
    document = schedule.draw(seed, schedule.LOANS if seed < 2 else 700)
    score = score_of(document, read_pdf(document.data))
    assert score.share >= 0.99, shown(score)
    assert score.headers_right == score.headers
    assert score.pieces == {"schedule": 1}
    assert score.misprints_right


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_filing(seed: int) -> None:
    """Two levels of sections with totals of each; exactly the two misprinted ones are remarked."""
    document = filing.draw(seed)
    score = score_of(document, read_pdf(document.data))
    assert score.share >= 0.99, shown(score)
    assert score.pieces == {"filing": 1}
    assert score.misprints_right


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_bank_list_with_bands(seed: int) -> None:
    """A band with the name of each asset stands above its loans, and is no part of the row above it."""
    document = bank.draw(seed)
    score = score_of(document, read_pdf(document.data))
    assert score.share >= 0.99, shown(score)
    assert (score.headers_right, score.rows_missing) == (score.headers, 0)
    assert score.pieces == {"assets": 1}
    assert score.misprints_right


@pytest.mark.parametrize("draw", [programs.draw_web, programs.draw_typeset], ids=["web", "typeset"])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_tables_of_a_browser_and_a_typesetter(draw: Draw, seed: int) -> None:
    document = draw(seed)
    score = score_of(document, read_pdf(document.data))
    assert score.share >= 0.99, shown(score)
    assert set(score.pieces.values()) == {1}, score.pieces
    assert score.homes["Collateral Detail"] != score.homes["Ratings Detail"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_monthly_report(seed: int) -> None:
    document = monthly.draw(seed)
    score = score_of(document, read_pdf(document.data))
    assert score.share >= 0.99, shown(score)
    assert set(score.pieces.values()) == {1}, score.pieces
    assert len({score.homes[name] for name in ("coverage", "par", "interest", "ratings", "trades")}) == 5
    assert score.misprints_right
