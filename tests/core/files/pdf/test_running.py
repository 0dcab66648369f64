"""What pages repeat: headings and headers once, feet and numbers of pages never."""

from __future__ import annotations

import pytest

from core.files.pdf.running import drop_page_numbers, is_page_number, repeated_text, same_foot, same_head
from core.files.pdf.words import PageLines, TextLine, Word
from tests.rows import every
from tests.typed_pages import tables_of, typed

GAP = "  "


def lines_of(*texts: str, step: float = 12.0, top: float = 700.0) -> list[TextLine]:
    """Lines in a font of ten points; two spaces part phrases, and a text without letters is space."""
    lines = []
    for at, text in enumerate(texts):
        line = TextLine(1, at + 1, top - step * at, 10.0, 3.0)
        left = 40.0
        for phrase in text.split(GAP):
            for word in phrase.split():
                line.words.append(Word(left, left + 5.0 * len(word), word))
                left += 5.0 * len(word) + 3.0
            left += 30.0
        if text:
            lines.append(line)
    return lines


def texts_of(lines: list[TextLine]) -> list[str]:
    return [line.text for line in lines]


@every(
    "text, expected",
    [
        ("7", True),
        ("Page 7", True),
        ("page 7 of 12", True),
        ("Seite 7 von 12", True),
        ("7 / 12", True),
        ("- 7 -", True),
        ("F-12", True),
        ("p. 3", True),
        ("12,345", False),
        ("12345", False),
        ("Page seven", False),
        ("Total 7", False),
    ],
)
def test_numbers_of_pages(text: str, expected: bool) -> None:
    assert is_page_number(lines_of(text)[0]) is expected


@every(
    "first, second",
    [
        ("Alder CLO Page 1 of 9", "Alder CLO Page 2 of 9"),
        ("Loans", "Loans (continued)"),
        ("Loans", "Loans - cont'd"),
        ("Loans", "LOANS"),
        ("Run at 10:15:00 AM", "Run at 10:15:03 AM"),
    ],
)
def test_texts_that_are_the_same_on_each_page(first: str, second: str) -> None:
    (one_line,), (next_line,) = lines_of(first), lines_of(second)
    assert repeated_text(one_line) == repeated_text(next_line)


def test_texts_that_differ() -> None:
    assert repeated_text(lines_of("Loans 1")[0]) != repeated_text(lines_of("Loans 2")[0])


def test_numbers_are_taken_off_top_and_end() -> None:
    page = PageLines(1, lines_of("Page 1", "Alder", "5.00", "", "", "", "1"), has_pictures=False)
    drop_page_numbers(page)
    assert texts_of(page.lines) == ["Alder", "5.00"]


def test_a_number_close_below_a_line_is_its_end() -> None:
    page = PageLines(1, lines_of("Maturity", "September 30,", "2024"), has_pictures=False)
    drop_page_numbers(page)
    assert texts_of(page.lines) == ["Maturity", "September 30,", "2024"]


def test_the_same_head() -> None:
    before = lines_of("Alder CLO", "Loans", "Borrower  Par", "Alder  5.00")
    after = lines_of("Alder CLO", "Loans (continued)", "Borrower  Par", "Birch  7.00")
    assert [(old.text, new.text) for old, new in same_head(before, after, {"borrower par"})] == [
        ("Alder CLO", "Alder CLO"),
        ("Loans", "Loans (continued)"),
        ("Borrower Par", "Borrower Par"),
    ]


def test_a_head_without_the_titles_between() -> None:
    before = lines_of("Alder CLO", "Loans", "As of the day", "Borrower  Par", "Alder  5.00")
    after = lines_of("Alder CLO", "Borrower  Par", "Birch  7.00")
    assert texts_of([new for _, new in same_head(before, after, set())]) == ["Alder CLO", "Borrower Par"]


def test_a_title_may_differ_in_its_numbers() -> None:
    before = lines_of("Alder CLO", "Section 1 of 5", "Borrower  Par", "Alder  5.00")
    after = lines_of("Alder CLO", "Section 2 of 5", "Borrower  Par", "Birch  7.00")
    assert [new.text for _, new in same_head(before, after, {"borrower par"})] == [
        "Alder CLO",
        "Section 2 of 5",
        "Borrower Par",
    ]


def test_rows_that_are_the_same_are_rows() -> None:
    before = lines_of("Alder CLO", "Borrower  Par", "Alder  5.00")
    assert texts_of([new for _, new in same_head(before, lines_of("Alder CLO", "Borrower  Par", "Alder  5.00"),
        {"borrower par"})]) == ["Alder CLO", "Borrower Par"]  # fmt: skip


def test_the_same_foot() -> None:
    foot = ("", "", "", "Alder CLO", "Prepared by Birch Trust")
    before, after = lines_of("Cash", "Fees", "Rent", *foot), lines_of("Loans", "Bonds", "Notes", *foot)
    assert same_foot(before, after) == 2


@pytest.mark.parametrize("last", ["Total  5,000.00", "Total"], ids=["an amount", "close below"])
def test_a_total_is_no_foot(last: str) -> None:
    before, after = lines_of("Cash", "Fees", "Rent", last), lines_of("Loans", "Bonds", "Notes", last)
    assert same_foot(before, after) == 0


HEAD = """
    Alder CLO            Loans

    Borrower             Par    Price
"""
FOOT = """


    Prepared by Birch Trust Company
    Page {}
"""


def page_of(number: int, *rows: str, head: str = HEAD) -> str:
    lines = [*head.strip("\n").splitlines(), *(f"    {row}" for row in rows), *FOOT.format(number).splitlines()]
    return "\n".join(lines)


ONE = ("Alder Holdings  1,000.00    99.50", "Birch Media       250.00    98.25", "Cedar Hotels      500.00    97.25")
TWO = ("Cedar Hotels      500.00    97.25", "Dahlia Foods      750.00    96.25", "Elm Software      125.00    95.25")


def rows_read(*pages: str) -> list[list[object]]:
    (cells,) = tables_of(typed(*pages))
    return [row for row in cells if any(row)]


def test_running_lines_stand_once_and_each_row_of_a_page() -> None:
    """Also a row that ends one page and begins the next."""
    rows = rows_read(page_of(1, *ONE), page_of(2, *TWO))
    assert [row for row in rows if row[0] == "Borrower"] == [["Borrower", "Par", "Price"]]
    assert [row[0] for row in rows if isinstance(row[1], float)] == [
        "Alder Holdings",
        "Birch Media",
        "Cedar Hotels",
        "Cedar Hotels",
        "Dahlia Foods",
        "Elm Software",
    ]
    assert not any("Page" in str(row) or "Prepared" in str(row) for row in rows)


def test_the_same_row_at_the_top_of_two_pages_is_two_rows() -> None:
    rows = rows_read(page_of(1, *ONE), page_of(2, *ONE))
    assert [row for row in rows if row[0] == "Alder Holdings"] == [["Alder Holdings", 1_000.0, 99.5]] * 2


@pytest.mark.parametrize("titles", [("As of 30 June 2024", "As of 30 June 2023"), ("Tranche 1", "Tranche 2")])
def test_a_title_of_another_day_or_part_is_another(titles: tuple[str, str]) -> None:
    """The tables below have the same headings, and are two."""
    pages = [f"{title}\n\nBorrower             Par    Price\n" + "\n".join(rows) for title, rows in
             zip(titles, (ONE, TWO), strict=True)]  # fmt: skip
    tables = tables_of(typed(*pages))
    assert [cells[0][0] for cells in tables] == list(titles)
    assert [len(cells) for cells in tables] == [6, 6]
