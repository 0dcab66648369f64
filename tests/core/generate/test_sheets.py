"""The workbook: its sheets as managers write them, each messy habit on the page, and none of them in the figures."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from core.compliance.run import run_suite
from core.files.read import read
from core.generate import MANAGERS_FILE, MESSY, GeneratedDeal, generate
from core.generate.sheets import rows_at_most
from core.portfolio import Portfolio

Rows = list[tuple[Any, ...]]


def sheet_rows(path: Path, sheet: str, *, values: bool = True) -> Rows:
    book = openpyxl.load_workbook(path, data_only=values)
    return list(book[sheet].iter_rows(values_only=True))


def written(folder: Path, messy: Collection[str] = (), loans: int = 300, seed: int = 7) -> tuple[GeneratedDeal, Path]:
    deal = generate(loans, seed, messy=messy)
    path = folder / "deal.xlsx"
    deal.write(path)
    return deal, path


def test_a_clean_workbook_has_three_sheets_that_add_up(tmp_path: Path) -> None:
    deal, path = written(tmp_path)
    assert openpyxl.load_workbook(path).sheetnames == ["Holdings", "Tranches", "Deal"]
    header, *rows = sheet_rows(path, "Holdings")
    assert len(rows) == 300
    column = {name: at for at, name in enumerate(header)}
    par = sum(row[column["Par Amount"]] for row in rows)
    details = dict(row[:2] for row in sheet_rows(path, "Deal"))
    assert details["As Of Date"].isoformat() == "2026-03-31T00:00:00"
    assert par + details["Principal Cash"] == pytest.approx(details["Target Par"])
    balances = [row[2] for row in sheet_rows(path, "Tranches")[1:]]
    assert sum(balances) == pytest.approx(details["Target Par"])
    assert all(isinstance(row[column["Maturity Date"]], datetime) for row in rows)
    names = deal.texts.companies
    assert {row[column["Issuer Name"]] for row in rows} == set(names)


@pytest.mark.parametrize("messy", [(), ("title_rows", "two_row_header", "duplicate_lots", "blanks")])
def test_the_market_value_is_a_formula_over_its_own_row(tmp_path: Path, messy: tuple[str, ...]) -> None:
    _, path = written(tmp_path, messy)
    formulas, values = sheet_rows(path, "Holdings", values=False), sheet_rows(path, "Holdings")
    checked = 0
    for number, (formula, value) in enumerate(zip(formulas, values, strict=True), 1):
        if isinstance(formula[11], str) and formula[11].startswith("="):
            assert formula[11] == f"=J{number}*K{number}/100"
            assert value[11] == pytest.approx(value[9] * value[10] / 100.0)
            checked += 1
    assert checked >= 300


def test_titles_and_a_wrapped_header_stand_above_the_lines(tmp_path: Path) -> None:
    _, path = written(tmp_path, ("title_rows", "two_row_header"))
    rows = sheet_rows(path, "Holdings")
    assert [row[0] for row in rows[:3]] == [
        "Sample CLO 7-300",
        "Portfolio holdings as of 31-Mar-2026, par in USD",
        "Prepared by the collateral manager from traded positions",
    ]
    assert set(rows[3]) == {None}
    assert (rows[4][3], rows[5][3]) == ("Issuer", "Name")
    assert (rows[4][0], rows[5][0]) == ("CUSIP", None)
    assert len(rows) == 306


def test_the_totals_row_says_what_a_spreadsheet_would(tmp_path: Path) -> None:
    _, path = written(tmp_path, ("totals_row", "text_numbers"))
    rows, formulas = sheet_rows(path, "Holdings"), sheet_rows(path, "Holdings", values=False)
    assert (formulas[-1][3], formulas[-1][9], formulas[-1][11]) == ("Total", "=SUM(J2:J301)", "=SUM(L2:L301)")
    assert rows[-1][9] == pytest.approx(sum(row[9] for row in rows[1:-1] if not isinstance(row[9], str)))
    assert rows[-1][11] == pytest.approx(sum(row[11] for row in rows[1:-1]))


def test_the_cells_of_an_issuer_are_merged(tmp_path: Path) -> None:
    deal, path = written(tmp_path, ("merged_issuers", "title_rows"))
    ranges = {range_.bounds for range_ in openpyxl.load_workbook(path)["Holdings"].merged_cells.ranges}
    first = {obligor: at for at, obligor in reversed(list(enumerate(deal.book.obligor.tolist(), 6)))}
    last = {obligor: at for at, obligor in enumerate(deal.book.obligor.tolist(), 6)}
    assert ranges == {(4, row, 4, last[obligor]) for obligor, row in first.items() if last[obligor] > row}
    assert any(bottom - top > 1 for _, top, _, bottom in ranges)


def test_cells_under_a_merged_issuer_are_empty(tmp_path: Path) -> None:
    deal, path = written(tmp_path, ("merged_issuers",))
    names = [row[3] for row in sheet_rows(path, "Holdings")[1:]]
    second = [at for at, lot in enumerate(deal.book.lot.tolist()) if lot]
    assert second == [at for at, name in enumerate(names) if name is None]
    assert len(second) == 300 - 258


def test_errors_stand_only_where_a_look_up_found_nothing(tmp_path: Path) -> None:
    _, path = written(tmp_path, ("error_cells",))
    clean_folder = tmp_path / "clean"
    clean_folder.mkdir()
    _, clean = written(clean_folder)
    errors = 0
    for row, tidy in zip(sheet_rows(path, "Holdings"), sheet_rows(clean, "Holdings"), strict=True):
        for cell, tidy_cell in zip(row, tidy, strict=True):
            if cell == "#N/A":
                assert tidy_cell is None
                errors += 1
            else:
                assert cell == tidy_cell
    assert errors > 50


def test_blanks_leave_cells_and_lines_empty(tmp_path: Path) -> None:
    deal, path = written(tmp_path, ("blanks",))
    rows = sheet_rows(path, "Holdings")[1:]
    # Above every hundredth loan, unless it would part the loans of one obligor.
    gaps = int((deal.book.lot[99::100] == 0).sum())
    assert gaps > 0
    assert sum(set(row) == {None} for row in rows) == gaps
    flags = [row[25] for row in rows if row[0] or row[1]]
    assert {"Yes", "No", None} == set(flags)


def test_numbers_as_text_and_spreads_in_percent(tmp_path: Path) -> None:
    deal, path = written(tmp_path, ("text_numbers", "percent_spreads", "negative_par"))
    rows = sheet_rows(path, "Holdings")[1:]
    typed = [row[9] for row in rows if isinstance(row[9], str)]
    assert 15 <= len(typed) <= 50
    assert all("," in text for text in typed)
    spreads = [row[15] for row in rows if row[15] is not None]
    assert max(spreads) < 10.0
    assert len(rows) == deal.loans + 1
    negative = [row for row in rows if str(row[9]).startswith(("-", "("))]
    assert len(negative) == 1


def test_lots_share_an_identifier_and_keep_the_sum(tmp_path: Path) -> None:
    deal, path = written(tmp_path, ("duplicate_lots",))
    rows = sheet_rows(path, "Holdings")[1:]
    assert len(rows) == 300 + 12
    assert sum(row[9] for row in rows) == float(deal.book.par.sum())
    cusips = [row[0] for row in rows if row[0]]
    assert len(cusips) - len(set(cusips)) == 12


@pytest.mark.parametrize("messy", [(), *((switch,) for switch in MESSY), MESSY], ids=lambda messy: "-".join(messy)[:40])
def test_the_rows_are_as_many_as_foretold(tmp_path: Path, messy: tuple[str, ...]) -> None:
    deal, path = written(tmp_path, messy)
    skipped_gaps = int((deal.book.lot[99::100] != 0).sum()) if "blanks" in messy else 0
    assert len(sheet_rows(path, "Holdings")) == rows_at_most(300, frozenset(messy)) - skipped_gaps


def test_headers_may_end_in_a_space(tmp_path: Path) -> None:
    _, path = written(tmp_path, ("trailing_space_header",))
    header = sheet_rows(path, "Holdings")[0]
    assert {name for name in header if name.endswith(" ")} == {"Country ", "Par Amount "}


def test_progress_tells_of_the_rows(tmp_path: Path) -> None:
    steps: list[int] = []
    generate(5_000, 1).write(tmp_path / "deal.xlsx", progress=steps.append)
    assert sum(steps) in range(4_000, 5_002)


def figures(portfolio: Portfolio) -> dict[str, tuple[float, str]]:
    results = run_suite(portfolio, "enhanced")
    assert results.skipped == []
    return {result.test_id: (result.current_value, result.status) for result in results}


def columns_of(deal: GeneratedDeal) -> Portfolio:
    return Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)


@pytest.mark.parametrize(
    "messy",
    [(), *((switch,) for switch in MESSY), MANAGERS_FILE, MESSY],
    ids=lambda messy: "-".join(messy)[:40] or "clean",
)
def test_no_habit_changes_what_the_book_is_worth(tmp_path: Path, messy: tuple[str, ...]) -> None:
    deal, path = written(tmp_path, messy, loans=200, seed=5)
    expected, result = figures(columns_of(deal)), figures(Portfolio.from_workbook(read(path)))
    assert len(expected) == 25
    for test_id, (value, status) in expected.items():
        assert result[test_id] == (pytest.approx(value, rel=1e-9), status), test_id
