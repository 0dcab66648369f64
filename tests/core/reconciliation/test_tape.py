"""What a trustee's file must have to be a tape, and what its sender is told where it has not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.files.read import read
from core.files.write import write_workbook_rows
from core.portfolio import Portfolio
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.reconciliation.tape import HEADER_CHARACTERS, HEADERS_SHOWN, TapeRefused, read_loans, total_par, warnings_of

HEADER = ("CUSIP", "Issuer Name", "Par Amount", "Maturity Date")
LOAN = ("00206RGQ9", "Acme Corp.", 1_000_000.0, "2030-06-30")
Rows = Sequence[Sequence[Any]]


def loans_of(folder: Path, **sheets: Rows) -> Portfolio:
    write_workbook_rows(folder / "tape.xlsx", sheets)
    return read_loans(read(folder / "tape.xlsx"), TRUSTEES["trustee_a"])


def refusal(folder: Path, **sheets: Rows) -> str:
    with pytest.raises(TapeRefused) as refused:
        loans_of(folder, **sheets)
    return str(refused.value)


def test_a_tape_is_its_loans(tmp_path: Path) -> None:
    loans = loans_of(tmp_path, Tape=[("Statement of March",), HEADER, LOAN, ("30231GAV4", "Borealis", 5.5, None)])
    assert (loans.row_count, loans.sheet_name, loans.notes.header_row) == (2, "Tape", 1)
    assert total_par(loans) == 1_000_005.5
    assert [warning.code for warning in warnings_of(loans)] == ["no_price", "no_maturity"]


def test_no_header(tmp_path: Path) -> None:
    words = refusal(tmp_path, Cover=[("Dear all,",), ("see\nbelow",)], Data=[("Colour", "Weight"), ("red", 3)], Void=[])
    assert words.startswith("No sheet has a header that names par or an identifier and two more fields of a loan: ")
    assert "sheet 'Data' has the columns 'Colour', 'Weight'" in words
    assert "sheet 'Void' is empty" in words
    assert "\n" not in words


def test_no_header_in_many_sheets(tmp_path: Path) -> None:
    words = refusal(tmp_path, **{f"S{at}": [("Colour", "Weight")] for at in range(5)})
    assert "sheet 'S2' has" in words
    assert "'S3'" not in words
    assert words.endswith("; 2 more sheets likewise.")


def test_no_identifier(tmp_path: Path) -> None:
    assert refusal(tmp_path, Tape=[HEADER[1:], LOAN[1:]]) == (
        "Sheet 'Tape', whose header is in row 1, has no column with an identifier (CUSIP, LoanX ID or ISIN). "
        "Its columns are 'Issuer Name', 'Par Amount', 'Maturity Date'."
    )


def test_no_par(tmp_path: Path) -> None:
    words = refusal(tmp_path, Tape=[("CUSIP", "Issuer Name", "Maturity Date"), ("00206RGQ9", "Acme", "2030-06-30")])
    assert words.startswith(
        "Sheet 'Tape', whose header is in row 1, has no column with the loans' par. Its columns are"
    )


def test_no_loan(tmp_path: Path) -> None:
    assert refusal(tmp_path, Tape=[HEADER]) == (
        "Sheet 'Tape', whose header is in row 1, has no loans below it. "
        "Its columns are 'CUSIP', 'Issuer Name', 'Par Amount', 'Maturity Date'."
    )


def test_no_usable_row(tmp_path: Path) -> None:
    bad = [("00206RGQ9", "Acme Corp.", "tbd", "2030-06-30"), ("30231GAV4", "Borealis", "n/a", "2031-06-30")]
    words = refusal(tmp_path, Tape=[HEADER, *bad])
    assert words.startswith(
        "Sheet 'Tape', whose header is in row 1, has 2 rows below it, of which none can be used: "
        "no par can be read in column 'Par Amount'. Its columns are 'CUSIP', "
    )


def test_rows_that_are_no_loans(tmp_path: Path) -> None:
    words = refusal(tmp_path, Tape=[HEADER, ("Total", None, 5.0, None)])
    assert words.startswith("Sheet 'Tape', whose header is in row 1, has 1 row below it, of which none is a loan. Its")


def test_par_beyond_all_numbers(tmp_path: Path) -> None:
    rows = [HEADER, ("00206RGQ9", "Acme", 1.7e308, None), ("30231GAV4", "Borealis", 1.7e308, None)]
    assert "par values that add up to no number" in refusal(tmp_path, Tape=rows)


def test_a_strangers_headers_are_told_within_bounds(tmp_path: Path) -> None:
    wide = [f"Price {at} {'x' * 5_000}" for at in range(200)]
    words = refusal(tmp_path, **{"Tape's": [(*HEADER[1:], *wide), LOAN[1:]]})
    assert len(words) < 300 + HEADERS_SHOWN * (HEADER_CHARACTERS + 10)


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    loans = loans_of(
        tmp_path,
        Tape=[
            (*HEADER, "Price"),
            (*LOAN, 99.5),
            ("1.23E+08", "Borealis", 2.0, "2031-06-30", "ninety"),
            ("30231GAV4", "Cirrus", "tbd", "2031-06-30", 98.0),
        ],
    )
    assert loans.row_count == 2
    by_code = {warning.code: warning.rows for warning in warnings_of(loans)}
    assert by_code == {"rows_without_par": 1, "destroyed_identifiers": 1, "unreadable_cells": 1, "no_price": 1}


def test_loans_on_other_sheets_are_told(tmp_path: Path) -> None:
    more = [HEADER, ("30231GAV4", "Borealis", 2.0, "2031-06-30")]
    sold = [("CUSIP", "Price", "Maturity Date"), ("30231GAV4", 99.0, "2031-06-30")]  # names no borrower, and no par
    notes = [("Class", "Current Balance", "Coupon", "CUSIP"), ("A", 5.0, 6.0, "00206RGQ9")]
    beside = {"Sold": sold, "Tranches": notes, "Bonds": [*more[:1], (None, None, None, None)]}
    added = "1 loan of sheet 'More' with a par of 2.00 was added to those of 'Tape'."
    trades = "Sheet 'Sales' was left out: its title is that of a list of trades or payments."
    for sheets, answer in (({}, []), ({"More": more, "Copy": more}, [added]), ({"Sales": more}, [trades])):
        loans = loans_of(tmp_path, Tape=[HEADER, LOAN, LOAN], **sheets, **beside)
        assert [
            warning.message for warning in warnings_of(loans) if warning.code in ("second_loan_sheet", "page_left_out")
        ] == answer
        assert loans.sheet_rows is not None
        assert loans.sheet_rows.tolist() == [2, *([0] if answer == [added] else [])]


def test_identifiers_that_are_all_blank_are_told(tmp_path: Path) -> None:
    loans = loans_of(tmp_path, Tape=[HEADER, (None, "Acme", 1.0, "2030-06-30")])
    assert "no_identifier" in {warning.code for warning in warnings_of(loans)}
