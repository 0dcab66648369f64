"""What is said of a workbook's sheet, header, rows, columns and units, on real files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest
import xlsxwriter

from core.files.read import read
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.mapping.detected import Alternative, DetectedColumn, Detection, Unmapped
from core.portfolio.mapping.detection import detect_columns
from core.portfolio.mapping.profiles.configure import configure_mapping
from core.portfolio.mapping.validation import validate
from core.portfolio.model.fields import PROFILES

MAG17 = Path(__file__).parents[4] / "../shared/data/mag17.xlsx"
HEADER = ["LoanX ID", "Issuer Name", "Par Amount", "Price", "Spread", "Maturity"]
A = ["LX100001", "Alpha Inc", 1_000.0, 99.0, 350.0, date(2030, 1, 31)]
B = ["LX100002", "Beta Inc", 2_000.0, 98.0, 375.0, date(2031, 1, 31)]
C = ["LX100003", "Gamma Inc", 3_000.0, 97.0, 400.0, date(2032, 1, 31)]

Rows = Sequence[Sequence[Any]]
Write = Callable[..., Workbook]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A workbook file from rows by sheet, read again.

    `merged` ranges are of the first sheet.
    """

    def write_book(
        sheets: dict[str, Rows], *, merged: Sequence[tuple[int, int, int, int]] = (), hidden: str = ""
    ) -> Workbook:
        path = tmp_path / "book.xlsx"
        with xlsxwriter.Workbook(str(path)) as book:
            as_date = book.add_format({"num_format": "yyyy-mm-dd"})
            for at, (name, rows) in enumerate(sheets.items()):
                page = book.add_worksheet(name)
                for row, values in enumerate(rows):
                    for column, value in enumerate(values):
                        if isinstance(value, date):
                            page.write_datetime(row, column, value, as_date)
                        elif isinstance(value, str) and value.startswith("="):
                            page.write_formula(row, column, value, None, "#DIV/0!")
                        elif value is not None:
                            page.write(row, column, value)
                for first_row, first_column, last_row, last_column in merged if at == 0 else ():
                    words = rows[first_row][first_column]
                    page.merge_range(first_row, first_column, last_row, last_column, words)
                if name == hidden:
                    page.hide()
        return read(path)

    return write_book


def column(detection: Detection, target: str) -> DetectedColumn:
    return next(entry for entry in detection.columns if entry.target == target)


def test_a_plain_sheet_is_told_from_top_to_bottom(write: Write) -> None:
    detection = detect_columns(write({"Holdings": [["Example CLO"], [], HEADER, A, B, C, ["Total", None, 6_000.0]]}))
    assert detection.sheet == "Holdings"
    assert detection.header is not None
    assert (detection.header.rows, detection.header.kind) == ((3,), "one row")
    assert (detection.first_row, detection.last_row, detection.loan_count) == (4, 6, 3)
    assert [(entry.reason, entry.count, entry.rows, entry.texts) for entry in detection.left_out] == [
        ("total_rows", 1, (7,), ("Total",))
    ]
    assert [(entry.target, entry.column, entry.header, entry.match) for entry in detection.columns] == [
        ("loanx_id", "A", "LoanX ID", "alias"),
        ("borrower_name", "B", "Issuer Name", "alias"),
        ("par_value", "C", "Par Amount", "alias"),
        ("price", "D", "Price", "alias"),
        ("spread", "E", "Spread", "alias"),
        ("maturity_date", "F", "Maturity", "alias"),
    ]
    assert column(detection, "spread").samples == (350.0, 375.0, 400.0)
    assert column(detection, "maturity_date").samples == ("2030-01-31", "2031-01-31", "2032-01-31")
    assert column(detection, "borrower_name").samples == ("Alpha Inc", "Beta Inc", "Gamma Inc")
    assert detection.missing_required == ()
    assert "cusip" in detection.missing_optional
    assert detection.message == ""


def test_every_part_goes_into_json(write: Write) -> None:
    document = msgspec.json.decode(msgspec.json.encode(detect_columns(write({"Holdings": [HEADER, A]}))))
    assert document["columns"][0]["samples"] == ["LX100001"]
    assert document["sheets"][0]["is_chosen"] is True


# ---- sheets --------------------------------------------------------------------------------------------------------


def test_sheets_are_told_why_they_were_not_chosen(write: Write) -> None:
    book = write(
        {
            "Cover": [["Issuer report"], ["Prepared for", "the trustee"]],
            "Empty": [],
            "Watch list": [["Issuer", "Rating"], ["Alpha", "B2"]],
            "Ratings": [["Issuer", "Rating", "Country"], ["Alpha", "B2", "US"]],
            "Template": [HEADER],
            "Sales": [["Issuer", "Par", "CUSIP"], ["Alpha", 1.0, "x"]],
            "Notes": [["Class", "Current Balance", "Spread", "CUSIP"], ["A", 1.0, 130.0, "x"]],
            "Hidden": [HEADER, A],
            "Guide": [HEADER, ["of the trustee", "as in the agreement", "funded", "bid", "contractual", "stated"]],
            "Holdings": [HEADER, A],
            "Copy": [HEADER, A],
        },
        hidden="Hidden",
    )
    detection = detect_columns(book)
    assert {sheet.name: sheet.reason for sheet in detection.sheets} == {
        "Cover": "no row among its first 40 names a field",
        "Empty": "it is empty",
        "Watch list": "its best row names 2 of the 3 fields that make a header",
        "Ratings": "its best row names 3 fields, but none of par_value, cusip, loanx_id, isin",
        "Template": "nothing stands below its header",
        "Sales": "its title is that of a list of trades or payments",
        "Notes": "its name is that of a sheet for notes or accounts, and no header names borrowers",
        "Hidden": "it is hidden, and its header names no more fields",
        "Guide": "its header names as many fields, but no figures stand below it",
        "Holdings": "its header names 6 fields",
        "Copy": "its header names as many fields, and sheet Holdings comes first",
    }
    assert [entry.name for entry in detection.sheets if entry.is_chosen] == ["Holdings"]
    near = next(entry for entry in detection.sheets if entry.name == "Watch list")
    assert (near.header_rows, near.nearest, near.score) == ((1,), ("Issuer", "Rating"), 2)


def test_one_sheet_can_be_looked_at(write: Write) -> None:
    book = write({"Holdings": [HEADER, A, B], "Sales": [["Issuer", "Par", "CUSIP"], ["Alpha", 1.0, "x"]]})
    detection = detect_columns(book, sheet="sales")
    assert (detection.sheet, detection.loan_count, len(detection.sheets)) == ("Sales", 1, 1)
    with pytest.raises(KeyError):
        detect_columns(book, sheet="Nowhere")


def test_without_a_header_it_is_said_what_was_looked_for(write: Write) -> None:
    detection = detect_columns(write({"A": [["Issuer", "Rating"], ["x", "y"]], "B": []}))
    assert detection.sheet is None
    assert detection.columns == ()
    assert detection.missing_required == ("borrower_name", "par_value")
    assert detection.message == (
        "no header found: looked in the first 1,000 rows of each sheet for one that names 3 fields of Standard CLO "
        "holdings, one of them par_value, cusip, loanx_id, isin"
    )


# ---- header and rows -----------------------------------------------------------------------------------------------


def test_two_rows_and_units_are_told(write: Write) -> None:
    rows = [
        ["Report"],
        ["Issuer", "LoanX", "Position", None, "Coupon", None],
        [None, "ID", "Par Amount", "Price", "Spread", "Index"],
        [None, None, "$000s", "%", "bps", None],
        ["Alpha", "LX100001", 1.5, 99.0, 350.0, "SOFR"],
        ["Beta", "LX100002", 2.5, 98.0, 3.5, "SOFR"],
    ]
    detection = detect_columns(write({"Holdings": rows}, merged=[(1, 2, 1, 3), (1, 4, 1, 5)]))
    assert detection.header is not None
    assert (detection.header.rows, detection.header.kind, detection.header.units_row) == ((2, 3, 4), "two rows", 4)
    par, spread = column(detection, "par_value"), column(detection, "spread")
    assert (par.unit, par.factor, par.samples) == ("thousands", 1_000.0, (1_500.0, 2_500.0))
    assert par.unit_reason == "the row of units says $000s"
    assert (spread.header, spread.unit, spread.unit_reason) == ("Coupon Spread", "bps", "the row of units says bps")
    assert spread.samples == (350.0, 3.5)
    assert column(detection, "price").unit_reason == "median 98.5 is above 2"


def test_rows_that_are_no_loans_are_told_by_reason(write: Write) -> None:
    rows = [
        HEADER,
        ["First lien"],
        A,
        ["LX100009", "Delta", None, 99.0],
        [None, "Principal Cash", 500.0],
        B,
        HEADER,
        *([[f"LX10001{row}", f"Label {row}", None, 99.0] for row in range(7)]),
        C,
        [None, None, 6_000.0],
        [],
        [],
        [],
        ["LX100008", "Later Inc", 1.0, 99.0, 350.0, date(2030, 1, 31)],
    ]
    detection = detect_columns(write({"Holdings": rows}))
    reasons = {entry.reason: (entry.count, entry.rows, entry.texts[0]) for entry in detection.left_out}
    assert reasons == {
        "ignored_blank_par": (8, (4, 8, 9, 10, 11), "LX100009"),
        "section_rows": (1, (2,), "First lien"),
        "total_rows": (1, (16,), "6000"),
        "cash_rows": (1, (5,), "Principal Cash"),
        "repeated_headers": (1, (7,), "LoanX ID"),
        "rows_after_end": (1, (20,), "LX100008"),
    }
    assert (detection.first_row, detection.last_row, detection.loan_count) == (3, 15, 3)


def test_merged_borrowers_are_counted(write: Write) -> None:
    rows = [HEADER, A, ["LX100007", None, 5.0, 99.0, 350.0, None]]
    detection = detect_columns(write({"Holdings": rows}, merged=[(1, 1, 2, 1)]))
    assert (detection.loan_count, detection.filled_borrowers) == (2, 1)


def test_a_header_with_nothing_below(write: Write) -> None:
    detection = detect_columns(write({"Holdings": [HEADER]}))
    assert (detection.sheet, detection.loan_count, detection.first_row, detection.last_row) == (
        "Holdings",
        0,
        None,
        None,
    )
    assert column(detection, "par_value").samples == ()
    assert column(detection, "spread").unit_reason == "there is no figure to tell it"


# ---- columns -------------------------------------------------------------------------------------------------------


def test_columns_that_lost_are_told_why(write: Write) -> None:
    header = ["Issuer", "Obligor", "CUSIP", "Par", "Par Amount", "Market Value", "Bid", "Price", "Moody's Rating-21"]
    rows = [["Example CLO", f"B{row}", f"C{row}", 1e6, None, 99e4, 99.0, 98.5, "B2"] for row in range(5)]
    detection = detect_columns(write({"Holdings": [header, *rows]}))
    assert column(detection, "borrower_name").alternatives == (
        Alternative("A", "Issuer", "it says the same on every row, as a column about the deal does"),
    )
    assert column(detection, "par_value").alternatives == (Alternative("E", "Par Amount", "it has no value"),)
    assert (column(detection, "price").column, column(detection, "price").header) == ("H", "Price")
    assert column(detection, "price").alternatives == (
        Alternative("F", "Market Value", "it holds amounts of currency, not prices"),
        Alternative("G", "Bid", "Price is the preferred name"),
    )


def test_how_a_header_matched_is_told(write: Write) -> None:
    header = ["Borrower_Name", "par value (USD)", "ISIN (1)", "Days Past Due", "Desk", "Desk", None, "price"]
    rows = [["Alpha", 1.0, "x", 0.0, "a", "b", 7.0, 99.0], ["Beta", 2.0, "y", 5.0, "a", "b", 8.0, 98.0]]
    detection = detect_columns(write({"Holdings": [header, *rows]}))
    assert {entry.target: entry.match for entry in detection.columns} == {
        "isin": "alias less a footnote",
        "borrower_name": "alias",
        "par_value": "alias less its unit",
        "price": "alias",
        "days_past_due": "auxiliary alias",
    }
    assert detection.unmapped == (
        Unmapped("E", "Desk", ""),
        Unmapped("F", "Desk (2)", ""),
        Unmapped("G", "Column 7", ""),
    )
    assert detection.duplicates == {"Desk": ("E", "F")}


def test_cells_that_are_no_values_are_counted(write: Write) -> None:
    rows = [
        [*HEADER, "Moody's Rating"],
        [*A, "B2"],
        ["LX100004", "Delta", 1.0, "n/a", "call desk", "soon", "Bee two"],
        ["LX100005", "Epsilon", 2.0, "=1/0", None, None, "NR"],
        [*B, None],
    ]
    detection = detect_columns(write({"Holdings": rows}))
    counts = {
        entry.target: (entry.value_count, entry.blank_count, entry.error_count, entry.unreadable_count)
        for entry in detection.columns
    }
    assert counts["price"] == (2, 1, 1, 0)
    assert counts["spread"] == (2, 1, 0, 1)
    assert counts["maturity_date"] == (2, 1, 0, 1)
    assert counts["rating_agency_a"] == (2, 1, 0, 1)
    assert counts["par_value"] == (4, 0, 0, 0)
    assert column(detection, "spread").samples == (350.0, None, 375.0)


@pytest.mark.parametrize(
    ("header", "values", "unit", "reason", "samples"),
    [
        ("Spread (bps)", [3.5, 4.0], "bps", "the header says so", (3.5, 4.0)),
        ("Spread", [3.5, 4.0], "percent", "median 3.75 is at most 25", (350.0, 400.0)),
        ("Spread", [0.035, 0.04], "fraction", "median 0.0375 is at most 0.25", (350.0, 400.0)),
        ("Spread", [350.0, 400.0], "bps", "median 375 is above 25", (350.0, 400.0)),
        ("Spread %", [30.0, 40.0], "percent", "the header says so", (3000.0, 4000.0)),
        ("Spread", ["3.5%", "S+400bps"], "bps", "each cell says it", (350.0, 400.0)),
        ("Spread", ["3.5%", 400.0], "bps", "median 400 is above 25; 1 marked cell keeps its own", (350.0, 400.0)),
        ("Floor", [0.01, 0.0], "fraction", "largest 0.01 is at most 0.05", (1.0, 0.0)),
        ("Floor", [0.5, 0.0], "percent", "largest 0.5 is above 0.05", (0.5, 0.0)),
        ("Market Value", [990.0, 1_960.0], "currency", "median 1,475 is above 200", (99.0, 98.0)),
        ("Market Value ($000s)", [0.99, 1.96], "currency", "the header says so", (99.0, 98.0)),
        ("Recovery Rate", [0.5, 0.6], "fraction", "median 0.55 is at most 1", (50.0, 60.0)),
        ("Facility Size ($mm)", [360.0, 955.0], "millions", "the header says so", (360e6, 955e6)),
    ],
)
def test_units_are_told_with_what_told_them(
    write: Write, header: str, values: list[Any], unit: str, reason: str, samples: tuple[float, ...]
) -> None:
    rows = [
        ["LXID", "Issuer", "Par", header],
        ["LX100001", "A", 1_000.0, values[0]],
        ["LX100002", "B", 2_000.0, values[1]],
    ]
    book = write({"Holdings": rows})
    detected = next(entry for entry in detect_columns(book).columns if entry.column == "D")
    assert (detected.unit, detected.unit_reason) == (unit, reason)
    assert detected.samples == pytest.approx(samples)
    # It is what the reader itself does.
    read_values = Portfolio.from_workbook(book).numbers[detected.target]
    assert read_values.tolist() == pytest.approx(list(samples))


def test_flags_liens_rates_and_days(write: Write) -> None:
    header = ["LXID", "Issuer", "Par", "Cov-Lite", "Lien", "Index", "Coupon Type", "As Of Date", "Base Rate"]
    loan = ["LX100001", "Alpha", 1.0, "Y", "2nd Lien", "3M LIBOR", "Fixed", date(2026, 3, 31), 4.3]
    detection = detect_columns(write({"Holdings": [header, loan]}))
    samples = {entry.target: entry.samples for entry in detection.columns}
    assert samples["cov_lite"] == (True,)
    assert samples["lien_type"] == ("second_lien",)
    assert samples["base_rate"] == ("LIBOR-3M",)
    assert samples["coupon_type"] == ("fixed",)
    assert samples["as_of"] == ("2026-03-31",)
    rate = column(detection, "base_rate")
    assert (rate.unit, rate.unit_reason) == ("percent", "largest 4.3 is above 0.05")
    assert rate.alternatives == (Alternative("I", "Base Rate", "it is read for the level of the rate"),)


def test_a_mapping_of_ones_own(write: Write) -> None:
    document = {
        "source_type": "custom",
        "mappings": {
            "Book": {"target": "desk", "type": "string", "required": True},
            "Amount": {"target": "amount", "type": "number", "required": False},
            "Grade": {"target": "grade", "type": "string", "required": True},
            "Zone": {"target": "zone", "type": "string", "required": True, "default": "EU"},
        },
        "transforms": [{"field": "amount", "operation": "multiply", "parameters": {"factor": 2}}],
    }
    mapping = configure_mapping(document, id="own", name="Own")
    detection = detect_columns(write({"Data": [["Book", "Amount", "Other", "Grade"], ["x", 5.0, "z", "a"]]}), mapping)
    assert detection.sheet == "Data"
    assert [(entry.target, entry.column) for entry in detection.columns] == [
        ("desk", "A"),
        ("amount", "B"),
        ("grade", "D"),
    ]
    assert column(detection, "amount").samples == (10.0,)
    assert column(detection, "amount").unit_reason == "the mapping's own transforms give it"
    assert detection.unmapped == (Unmapped("C", "Other", ""),)
    assert detection.missing_required == ()
    assert detection.missing_optional == ("zone",)


def test_text_of_any_length_is_one_short_line(write: Write) -> None:
    rows = [HEADER, ["LX100001", "Alpha\n" * 500, 1.0, 99.0, 350.0, None], A, [*B[:5]], ["* " + "note " * 90]]
    detection = detect_columns(write({"Holdings": rows}))
    name = column(detection, "borrower_name").samples[0]
    assert isinstance(name, str)
    assert len(name) == 80
    assert "\n" not in name
    assert all(len(text) <= 80 for entry in detection.left_out for text in entry.texts)


REAL = [MAG17] if MAG17.exists() else []


@pytest.mark.parametrize("path", REAL)
def test_a_real_deal(path: Path) -> None:
    detection = detect_columns(read(path))
    assert detection.sheet == "Holdings"
    assert detection.header is not None
    assert detection.header.rows == (5,)
    assert (detection.first_row, detection.last_row, detection.loan_count) == (6, 200, 195)
    assert [(entry.reason, entry.rows) for entry in detection.left_out] == [("total_rows", (201,))]
    spread, agency = column(detection, "spread"), column(detection, "rating_agency_a")
    assert (spread.unit, spread.factor) == ("fraction", 10_000.0)
    assert agency.header == "Moody's Rating WARF"
    assert agency.alternatives[0].header == "Moody's Default Probability Rating-18"
    assert all(entry.error_count == entry.unreadable_count == 0 for entry in detection.columns)


def test_columns_beyond_the_limit_are_counted(write: Write) -> None:
    header = [*HEADER, *(f"Own {at}" for at in range(5))]
    page = [["LoanX ID", "Country", "Desk"], ["LX100001", "US", "x"]]
    book = write({"Holdings": [header, [*A, *"abcde"]], "Page": page})
    every = detect_columns(book)
    assert (len(every.unmapped), [len(page_column.columns) for page_column in every.page_columns]) == (5, [3])
    some = detect_columns(book, columns_max=6)
    assert (some.unmapped, some.columns) == (every.unmapped, every.columns)
    assert (some.page_columns[0].columns, some.columns_not_shown) == (every.page_columns[0].columns[:1], 2)
    few = detect_columns(book, columns_max=2)
    assert (few.unmapped, few.page_columns[0].columns, few.columns_not_shown) == (every.unmapped[:2], (), 6)


def test_a_heading_of_other_words_is_said_to_be_known_by_them(write: Write) -> None:
    header = ["LoanX ID", "Issuer Name", "OutstdPrin", "Price", "Qxz"]
    rows = [[f"LX10000{at}", f"Alpha {at} Inc", 1e6 * at, 99.0, "USD" if at % 2 else "EUR"] for at in range(1, 9)]
    detection = detect_columns(write({"Holdings": [header, *rows]}))
    par, currency = column(detection, "par_value"), column(detection, "currency")
    assert (par.column, par.match, par.role) == ("C", "words", "par_value")
    assert (currency.column, currency.match, currency.role) == ("E", "cells", "currency")
    assert currency.evidence.words < currency.evidence.content


def test_a_column_that_feeds_a_field_by_its_cells_alone_is_shown(write: Write) -> None:
    header = ["Name", "Coupon", "Maturity", "Par", "Price"]
    rows = [
        [f"Acme {at} Inc - Term Loan B", f"SOFR + {325 + 25 * at} bps", date(2030, 1, 31), 1e6 + at, 99.0]
        for at in range(6)
    ]
    book = write({"Assets": [header, *rows]})
    detection = detect_columns(book)
    assert {entry.target: entry.header for entry in detection.columns}["spread"] == "Coupon"
    assert "borrower_name" not in detection.missing_required
    validated = validate(book, PROFILES["standard_clo"])
    assert validated is not None
    assert not [error for error in validated.errors if error.field == "borrower_name"]


def test_a_list_of_other_assets_is_told_as_such(write: Write) -> None:
    header = ["Loan ID", "Borrower", "VIN", "Model", "Odometer", "Current Balance", "APR", "Maturity Date"]
    row = ["A1", "Ann Lee", "1HGCM82633A004352", "Accord", 45_000.0, 21_500.25, 6.9, date(2029, 3, 31)]
    detection = detect_columns(write({"Tape": [header, row, row]}))
    assert detection.sheet is None
    assert "sheet 'Tape' is not read: it is a list of auto loans or leases" in detection.message
