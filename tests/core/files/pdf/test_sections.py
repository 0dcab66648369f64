"""Pages to sections: a table that goes on is one sheet, and another one is a sheet of its own."""

from __future__ import annotations

from core.files.pdf import read_pdf
from tests.typed_pages import LEFT, book_of, cells_of, drawn, tables_of, typed

HEADINGS = "Borrower             Par    Price"
ONE = """
Alder Holdings  1,000.00    99.50
Birch Media       250.00    98.25
Cedar Hotels      500.00    97.25
"""
TWO = """
Dahlia Foods      750.00    96.25
Elm Software      125.00    95.25
Fir Logistics     625.00    94.25
"""
ONE_CELLS = [["Alder Holdings", 1_000.0, 99.5], ["Birch Media", 250.0, 98.25], ["Cedar Hotels", 500.0, 97.25]]
TWO_CELLS = [["Dahlia Foods", 750.0, 96.25], ["Elm Software", 125.0, 95.25], ["Fir Logistics", 625.0, 94.25]]
HEADING_CELLS = ["Borrower", "Par", "Price"]

ACCOUNTS = """
Account                          Currency     Balance    Rate
Principal Collections            USD            70.00    1.00
Interest Collections             USD            80.00    2.00
Custodial Proceeds               EUR            90.00    3.00
"""


def test_a_table_that_repeats_its_headings_is_one_sheet() -> None:
    assert tables_of(typed(HEADINGS + ONE, HEADINGS + TWO)) == [[HEADING_CELLS, *ONE_CELLS, *TWO_CELLS]]


def test_a_table_that_goes_on_without_headings_is_one_sheet() -> None:
    assert tables_of(typed(HEADINGS + ONE, TWO)) == [[HEADING_CELLS, *ONE_CELLS, *TWO_CELLS]]


def test_continued_stands_once() -> None:
    pages = [f"Loans{word}\n\n{HEADINGS}{rows}" for word, rows in (("", ONE), (" (continued)", TWO))]
    assert tables_of(typed(*pages)) == [
        [["Loans", None, None], [None, None, None], HEADING_CELLS, *ONE_CELLS, *TWO_CELLS]
    ]


def test_another_table_is_another_sheet() -> None:
    book = book_of(f"Loans\n\n{HEADINGS}{ONE}", f"Accounts\n{ACCOUNTS}")
    assert [sheet.name for sheet in book.sheets] == ["Loans", "Accounts"]
    assert cells_of(book.sheets[1])[2] == ["Account", "Currency", "Balance", "Rate"]


def test_the_same_header_on_each_page_joins_no_tables() -> None:
    pages = [f"Alder CLO\n\n\n{title}\n\n{rows.strip()}" for title, rows in
             (("Loans", HEADINGS + ONE), ("Accounts", ACCOUNTS))]  # fmt: skip
    first, second = read_pdf(typed(*pages)).sheets
    assert (first.name, second.name) == ("Loans", "Accounts")
    assert cells_of(second)[-1] == ["Custodial Proceeds", "EUR", 90.0, 3.0]


def test_the_same_headings_below_a_title_of_their_own_are_another_table() -> None:
    book = book_of(f"Loans\n\n{HEADINGS}{ONE}", f"Bonds\n\n{HEADINGS}{TWO}")
    assert [sheet.name for sheet in book.sheets] == ["Loans", "Bonds"]
    assert cells_of(book.sheets[1])[2:] == [HEADING_CELLS, *TWO_CELLS]


def test_a_title_behind_a_total_begins_another_list_on_the_same_page() -> None:
    total = "Total           1,750.00"
    page = f"Loans\n\n{HEADINGS}{ONE}{total}\n\n{{}}\n\n{HEADINGS}{ONE}"
    first, second = book_of(page.format("Ten Largest Loans")).sheets
    assert (first.name, second.name) == ("Loans", "Ten Largest Loans")
    assert cells_of(second)[-3:] == ONE_CELLS
    assert cells_of(first)[-1] == ["Total", 1_750.0, None]
    (together,) = book_of(page.replace("Total ", "Cherry").format("Ten Largest Loans")).sheets
    assert cells_of(together)[-3:] == ONE_CELLS


def test_margins_that_change_from_page_to_page() -> None:
    """A right page stands ten points further to the right."""
    lines = [[(40.0, "Borrower"), (150.0, "Par"), (200.0, "Price")]]
    rows = [[(40.0, name), (150.0, f"{par:.2f}"), (200.0, f"{price:.2f}")] for name, par, price in TWO_CELLS]
    moved = [[(left + 10, text) for left, text in line] for line in lines + rows]
    again = [[(40.0, name), (150.0, f"{par:.2f}"), (200.0, f"{price:.2f}")] for name, par, price in ONE_CELLS]
    assert tables_of(drawn(lines + again, moved)) == [[HEADING_CELLS, *ONE_CELLS, *TWO_CELLS]]


def test_numbers_of_pages_part_no_table() -> None:
    pages = [f"{HEADINGS}{rows}\n\n\n{' ' * 14}Page {at} of 2" for at, rows in ((1, ONE), (2, TWO))]
    assert tables_of(typed(*pages)) == [[HEADING_CELLS, *ONE_CELLS, *TWO_CELLS]]


def test_tables_of_a_page_stand_below_each_other() -> None:
    (cells,) = tables_of(typed(f"{HEADINGS}{ONE}\n\nAccounts\n{ACCOUNTS.strip()}"))
    assert [row[:3] for row in cells[:4]] == [HEADING_CELLS, *ONE_CELLS]
    rest = [row for row in cells[4:] if any(row)]
    assert rest[0][0] == "Accounts"
    assert rest[1] == ["Account", "Currency", "Balance", "Rate"]
    assert rest[-1] == ["Custodial Proceeds", "EUR", 90.0, 3.0]


def test_a_page_of_text_between_two_tables_is_no_row_of_them() -> None:
    text = "This page was left blank.\nNothing follows here."
    tables = tables_of(typed(HEADINGS + ONE, text, f"Accounts\n{ACCOUNTS}"))
    assert tables[0] == [HEADING_CELLS, *ONE_CELLS]
    assert [["This page was left blank."], ["Nothing follows here."]] in tables


def test_empty_pages_part_no_table() -> None:
    assert tables_of(typed(HEADINGS + ONE, "", HEADINGS + TWO)) == [[HEADING_CELLS, *ONE_CELLS, *TWO_CELLS]]


def test_what_stands_at_the_end_of_all_pages_is_dropped() -> None:
    foot = "\n\n\nPrepared by Birch Trust Company"
    (cells,) = tables_of(typed(HEADINGS + ONE + foot, HEADINGS + TWO + foot, left=LEFT))
    assert cells == [HEADING_CELLS, *ONE_CELLS, *TWO_CELLS]


def test_what_ends_pages_of_different_lengths_stands_once() -> None:
    """A remark below a table, not at the foot of the paper."""
    remark = "\n\n\nSold in October."
    rows = TWO.rstrip() + "\nGorse Retail      875.00    93.25"
    (cells,) = tables_of(typed(HEADINGS + ONE.rstrip() + remark, HEADINGS + rows + remark))
    written = [row for row in cells if any(row)]
    assert written[1:-1] == [*ONE_CELLS, *TWO_CELLS, ["Gorse Retail", 875.0, 93.25]]
    assert written[-1] == ["Sold in October.", None, None]


def test_a_last_page_with_a_total_alone() -> None:
    (cells,) = tables_of(typed(HEADINGS + ONE, f"{HEADINGS}\nTotal           1,750.00"))
    assert cells == [HEADING_CELLS, *ONE_CELLS, ["Total", 1_750.0, None]]


def test_an_empty_table_is_a_sheet() -> None:
    empty = f"Defaulted Loans\n\n{HEADINGS}\nNo data"
    first, second = book_of(empty, f"Sold Loans\n\n{HEADINGS}{ONE}").sheets
    assert (first.name, second.name) == ("Defaulted Loans", "Sold Loans")
    assert cells_of(first)[2:] == [HEADING_CELLS, ["No data", None, None]]
    assert cells_of(second)[2:] == [HEADING_CELLS, *ONE_CELLS]
