"""Lines to blocks: which lines share their columns."""

from __future__ import annotations

import io

import numpy as np
import pytest
from reportlab.pdfgen.canvas import Canvas

from core.files.pdf import read_pdf
from core.files.pdf.blocks import Ruler, blocks_of, continued_block, cover_of, joined_blocks, without_others
from core.files.pdf.words import TextLine, Word

WIDTH = 5.0
"""Of a letter, in points."""


def lines_of(text: str, *, page: int = 1, step: float = 12.0) -> list[TextLine]:
    """Lines as a typewriter would print them, in a font of ten points; empty ones are space."""
    lines = []
    for at, typed in enumerate(text.strip("\n").splitlines()):
        line = TextLine(page, at + 1, 700.0 - step * at, 10.0, 3.0)
        place = 0
        for word in typed.split():
            place = typed.index(word, place)
            line.words.append(Word(WIDTH * place, WIDTH * (place + len(word)), word))
            place += len(word)
        if line.words:
            lines.append(line)
    return lines


def texts_of(text: str) -> list[list[str]]:
    """The lines of each block."""
    lines = lines_of(text)
    return [[line.text for line in block.lines] for block in blocks_of(lines, Ruler.across(lines))]


TABLE = """
Borrower         Par     Price
Alder Holdings   500.00  99.50
Birch Media      250.00  98.25
Cedar Inns       125.00  97.25
Dahlia Foods     750.00  96.25
"""


@pytest.mark.parametrize(
    ("gaps", "kept"),
    [
        ([(1, 5)], [(1, 5)]),
        ([(1, 9), (2, 5)], [(2, 5)]),
        ([(1, 5), (7, 9)], [(1, 5), (7, 9)]),
        ([(1, 5), (3, 9)], [(1, 5), (3, 9)]),
        ([(1, 5), (1, 5)], [(1, 5)]),
        ([], []),
    ],
)
def test_gaps_without_another_in_them(gaps: list[tuple[int, int]], kept: list[tuple[int, int]]) -> None:
    every = np.array(gaps, np.int32).reshape(-1, 2)
    assert [tuple(gap) for gap in without_others(every).tolist()] == kept


def test_the_ruler_has_steps_of_three_hundredths_of_the_size() -> None:
    ruler = Ruler.across(lines_of(TABLE))
    assert (ruler.origin, ruler.step) == (0.0, pytest.approx(0.3))
    assert ruler.place(ruler.at(60.0)) == pytest.approx(60.0, abs=0.3)
    assert (ruler.at(-5.0), ruler.at(10_000.0)) == (0, ruler.count - 1)


def test_the_steps_of_a_wide_page_grow() -> None:
    line = TextLine(1, 1, 700.0, 1.0, 0.3, [Word(0.0, 3.0, "a"), Word(89_990.0, 90_000.0, "b")])
    ruler = Ruler.across([line])
    assert ruler.step == pytest.approx(3.0)
    assert ruler.count <= 30_002


def test_lines_that_keep_their_columns_are_one_block() -> None:
    assert texts_of(TABLE) == [[" ".join(line.split()) for line in TABLE.strip().splitlines()]]


def test_a_gap_that_keeps_no_strip_begins_a_block() -> None:
    lines = lines_of("Alder        500.00\nBirchinternational    7.00")
    ruler = Ruler.across(lines)
    first, second = (cover_of(line, ruler) for line in lines)
    assert first.joined(second) is None
    assert first.joined(first) is not None


def test_titles_belong_to_the_block_below() -> None:
    assert texts_of("Alder CLO\nLoans\n" + TABLE.strip())[0][:3] == ["Alder CLO", "Loans", "Borrower Par Price"]
    assert texts_of("Alder CLO\nA sentence") == [["Alder CLO", "A sentence"]]


SECOND = """
Account               Balance
Principal collections    7.00
Interest collections     8.00
Custodial proceeds       9.00
Expenses of the fund     6.00
"""


def test_tables_with_other_columns_are_two_blocks() -> None:
    """The title stands with the table below it."""
    first, second = texts_of(TABLE.strip() + "\n\nAccounts\n" + SECOND.strip())
    assert first[-1] == "Dahlia Foods 750.00 96.25"
    assert second[:2] == ["Accounts", "Account Balance"]


def test_a_few_lines_that_do_not_keep_the_columns_are_foreign() -> None:
    rows = TABLE.strip().splitlines()
    remark = "Sold/on/the/day/of/the/report    by all"
    lines = lines_of("\n".join([*rows, remark, *rows[1:]]))
    (block,) = blocks_of(lines, Ruler.across(lines))
    assert [line.text for line in lines if id(line) in block.foreign] == ["Sold/on/the/day/of/the/report by all"]
    assert block.table_lines == 9
    assert len(block.lines) == 10


def test_a_total_that_is_wider_than_its_column_is_the_last_row() -> None:
    lines = lines_of(TABLE.strip() + "\nTotal/of/all/loans 1,625.00     97.81")
    (block,) = blocks_of(lines, Ruler.across(lines))
    assert block.lines[-1].text == "Total/of/all/loans 1,625.00 97.81"
    assert block.foreign == {id(lines[-1])}


def test_a_header_that_much_space_parts_is_apart() -> None:
    lines = lines_of("Alder CLO             9/30/2024\n\n\n" + TABLE.strip())
    first, second = blocks_of(lines, Ruler.across(lines))
    assert first.is_apart
    assert [line.text for line in first.lines] == ["Alder CLO 9/30/2024"]
    assert joined_blocks(first, second) is None
    assert not second.is_apart


def test_a_page_goes_on_with_a_block() -> None:
    rows = TABLE.strip().splitlines()
    first, second = lines_of(TABLE), lines_of("\n".join(rows[1:]), page=2)
    ruler = Ruler.across(first + second)
    (above,), (below,) = blocks_of(first, ruler), blocks_of(second, ruler)
    whole = continued_block(above, below, ruler)
    assert whole is not None
    assert whole.lines == first + second
    assert whole.table_lines == 9
    joined = joined_blocks(above, below)
    assert joined is not None
    assert joined.lines == first + second


def test_a_page_with_other_columns_does_not_go_on() -> None:
    first, second = lines_of(TABLE), lines_of(SECOND, page=2)
    ruler = Ruler.across(first + second)
    (above,), (below,) = blocks_of(first, ruler), blocks_of(second, ruler)
    assert continued_block(above, below, ruler) is None
    assert joined_blocks(above, below) is None


def test_words_of_groups_stand_with_the_headings_below() -> None:
    """They stand over several columns, close above them, below a table of other columns."""
    groups = "Obligor               Amounts"
    first, second = texts_of(SECOND.strip() + "\n" + groups + "\n" + TABLE.strip())
    assert first[-1] == "Expenses of the fund 6.00"
    assert second[:2] == ["Obligor Amounts", "Borrower Par Price"]


HEADINGS = ("Loan ID", "Issuer", "Par Amount", "Flag", "Currency")
ROWS = [
    (f"LX{at:05}", "Kestrel Onyx Maple Holdings" if at == 3 else "Alder Inc.", f"{at * 1_111 + 100_000:,}", "Y", "USD")
    for at in range(24)
]


def test_a_title_over_a_gutter_does_not_hide_it() -> None:
    """A total that begins left of where the longest name ends cuts the table."""
    buffer = io.BytesIO()
    page = Canvas(buffer)
    page.setFont("Helvetica", 8)
    page.drawString(30, 780, "Loan Report of the Month")
    for at, (key, name, par, flag, currency) in enumerate([HEADINGS, *ROWS, ("Total", "", "2,706,600,000.00", "", "")]):
        height = 760 - 12 * at
        page.drawString(30, height, key)
        page.drawString(72, height, name)
        page.drawRightString(224, height, par)
        page.drawString(230, height, flag)
        page.drawString(260, height, currency)
    page.save()
    (sheet,) = read_pdf(buffer.getvalue()).sheets
    own = [tuple(sheet.value(row, column) for column in range(5)) for row in range(sheet.row_count)]
    assert [row for row in own if str(row[0]).startswith("LX")] == [
        (key, name, float(par.replace(",", "")), flag, currency) for key, name, par, flag, currency in ROWS
    ]
