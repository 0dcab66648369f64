"""Sheets: their names, their number, and page and line of each row."""

from __future__ import annotations

import pytest

from core.files.limits import SHEETS_MAX
from core.files.pdf.columns import PrintedCell, PrintedRow
from core.files.pdf.sheets import NAME_MAX, PrintedTable, sheets_of, within_limit
from core.files.pdf.values import PrintedFormats
from tests.typed_pages import book_of, cells_of

ROWS = """
    Borrower             Par    Price
    Alder Holdings  1,000.00    99.50
    Birch Media       250.00    98.25
"""


def titled(title: str) -> str:
    return f"    {title}\n\n{ROWS.strip(chr(10))}"


def row_of(*texts: str, page: int = 1, line: int = 1) -> PrintedRow:
    cells = {at: PrintedCell(100.0 * at, 100.0 * at + 50, text, at) for at, text in enumerate(texts)}
    return PrintedRow(page, line, 700.0, 8.0, 700.0, cells)


def table_of(name: str, count: int = 1) -> PrintedTable:
    return PrintedTable(name, [row_of(name, str(at)) for at in range(count)])


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Schedule of Loans", "Schedule of Loans"),
        ("Loans [Par/Price]: what?", "Loans Par Price what"),
        ("'Loans'", "Loans"),
        ("Schedule of Loans and Participations", "Schedule of Loans and Participa"),
    ],
)
def test_a_sheet_has_the_name_of_its_title(title: str, name: str) -> None:
    (sheet,) = book_of(titled(title)).sheets
    assert sheet.name == name
    assert len(sheet.name) <= NAME_MAX
    assert cells_of(sheet)[0][0] == title


def test_a_sheet_without_a_title_has_the_name_of_its_page() -> None:
    (sheet,) = book_of(ROWS).sheets
    assert sheet.name == "Page 1"


def test_the_title_nearest_to_the_table_counts() -> None:
    (sheet,) = book_of(f"    Alder CLO\n    Loans\n\n{ROWS.strip(chr(10))}").sheets
    assert sheet.name == "Loans"
    assert [row[0] for row in cells_of(sheet)] == [
        "Alder CLO",
        "Loans",
        None,
        "Borrower",
        "Alder Holdings",
        "Birch Media",
    ]


def test_names_are_each_others_own() -> None:
    """Also where only capitals differ; the number stands within the limit of a name."""
    long = "Schedule of Loans and Participa"
    sheets = sheets_of(map(table_of, ["Loans", "LOANS", "Loans", long, long]), PrintedFormats(), comma=False)
    assert [sheet.name for sheet in sheets] == [
        "Loans",
        "LOANS (2)",
        "Loans (3)",
        long,
        "Schedule of Loans and Parti (2)",
    ]


def test_more_tables_than_sheets_are_joined() -> None:
    """The two shortest neighbours stand below each other then, two blank rows between them."""
    tables = [table_of(f"Table {at}", 3) for at in range(SHEETS_MAX + 2)]
    tables[20], tables[21] = table_of("Small", 1), table_of("Next", 2)
    tables[40] = table_of("Third", 2)
    tables[41] = table_of("Fourth", 2)
    kept = within_limit(tables)
    assert len(kept) == SHEETS_MAX
    assert [table.name for table in kept][19:22] == ["Table 19", "Small", "Table 22"]
    small = [None if row is None else row.cells[0].text for row in kept[20].rows]
    assert small == ["Small", None, None, "Next", "Next"]
    assert sum(row is not None for table in kept for row in table.rows) == sum(len(table.rows) for table in tables)


def test_as_many_tables_as_sheets_stay() -> None:
    tables = [table_of(f"Table {at}") for at in range(SHEETS_MAX)]
    assert within_limit(tables) == tables
    assert within_limit([]) == []


def test_page_and_line_of_each_row() -> None:
    """Lines count from the top of the page, running ones too; a blank row has those of the row above."""
    pages = [f"    Loans\n\n{ROWS.strip(chr(10))}"] * 2
    pages[1] = pages[1].replace("Alder Holdings", "Cedar Holdings").replace("Birch Media ", "Dahlia Food ")
    (sheet,) = book_of(*pages).sheets
    places = {str(row[0]): sheet.page_line(at) for at, row in enumerate(cells_of(sheet))}
    assert places == {
        "Loans": (1, 1),
        "None": (1, 1),
        "Borrower": (1, 2),
        "Alder Holdings": (1, 3),
        "Birch Media": (1, 4),
        "Cedar Holdings": (2, 3),
        "Dahlia Food": (2, 4),
    }
    assert sheet.page_lines.shape == (sheet.row_count, 2)
    assert not sheet.page_lines.flags.writeable
    assert sheet.page_line(sheet.row_count) is None


def test_a_blank_row_has_the_place_of_the_row_above() -> None:
    (sheet,) = sheets_of(
        [PrintedTable("Loans", [row_of("Alder", page=3, line=7), None, row_of("Birch", page=4, line=2)])],
        PrintedFormats(),
        comma=False,
    )
    assert [sheet.page_line(row) for row in range(3)] == [(3, 7), (3, 7), (4, 2)]


def test_cells_have_their_printed_formats() -> None:
    page = """
        Borrower             Par     Rate       Cost   Number
        Alder Holdings  1,000.00    8.90%   $   5.00   007
        Birch Media      (12.30)    7.25%   $  12.00   012
    """
    book = book_of(page)
    (sheet,) = book.sheets
    assert cells_of(sheet)[1:] == [
        ["Alder Holdings", 1_000.0, 0.089, 5.0, "007"],
        ["Birch Media", -12.3, 0.0725, 12.0, "012"],
    ]
    codes = [book.number_formats[sheet.columns[at].formats[1]] for at in range(1, 4)]
    assert codes == ["#,##0.00", "0.00%", '"$"0.00']
