"""Reports of documents with pages: every place names page and line, and nothing is read otherwise for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import msgspec
import pytest

from core.compliance.run import run_suite
from core.deals.tie_out import tie_out
from core.files.read import read
from core.generate import generate
from core.generate.reports import REPORTS, generate_report
from core.grid.sheet import ReadingRemark, Workbook
from core.interpretation.interpret import interpreted
from core.parts.parts import figure_parts
from core.portfolio import Portfolio
from core.portfolio.assemble.source_row import locate_loans, row_of
from core.portfolio.model.fields import mapping_of
from tests.core.paged import ABOVE, LINES, paged_book
from tests.core.portfolio.conftest import Rows

MakeBook = Callable[..., Workbook]

PAGES = re.compile(r" \((?:page \d+, line \d+|page \d+, lines \d+ to \d+|pages \d+ to \d+)\)")

LOANS: Rows = [
    ["Issuer", "CUSIP", "Par", "Price"],
    *([f"Borrower {at}", f"12345{at:03}", 1_000_000.0 + at, 99.0] for at in range(30)),
]


def described(book: Workbook) -> str:
    """Everything that is known of a workbook's loans, facts, results, doubts and tie-out."""
    portfolio = interpreted(Portfolio.from_workbook(book))
    results = run_suite(portfolio, "enhanced")
    known = [
        portfolio.source_cells,
        portfolio.facts.all,
        portfolio.facts.identities,
        portfolio.notes.warnings,
        [{each.name: getattr(result, each.name) for each in fields(result)} for result in results],
        results.skipped,
        list(tie_out(portfolio)),
    ]
    return msgspec.json.encode(known, enc_hook=repr).decode()


@pytest.mark.parametrize("manner", REPORTS)
def test_a_report_with_pages_is_read_as_one_without(tmp_path: Path, manner: str) -> None:
    report = generate_report(generate(200, seed=7), manner, seed=7)
    path = tmp_path / f"report{report.extension}"
    report.write(path)
    book = read(path)
    plain, with_pages = described(book), described(paged_book(book))
    assert PAGES.search(plain) is None
    assert PAGES.sub("", with_pages) == plain
    assert len(PAGES.findall(with_pages)) > 20


def test_a_loan_has_page_and_line(make_book: MakeBook, tmp_path: Path) -> None:
    """Seven rows stand on a page: row 10 of the sheet is the third on page 2."""
    portfolio = Portfolio.from_workbook(paged_book(make_book({"Loans": LOANS})))
    assert portfolio.source_cells["par_value"] == "'Loans'!C2:C31 (pages 1 to 5)"
    assert portfolio.page_line(10) == (2, ABOVE + 3)
    assert [portfolio.page_line(row) for row in (0, 32, -1)] == [None, None, None]
    assert Portfolio.from_workbook(make_book({"Loans": LOANS})).page_line(10) is None


def test_the_parts_of_a_figure_have_page_and_line(make_book: MakeBook) -> None:
    for book in (make_book({"Loans": LOANS}), paged_book(make_book({"Loans": LOANS}))):
        portfolio = Portfolio.from_workbook(book)
        result = run_suite(portfolio, "standard", test_ids=["single_obligor_concentration"])[0]
        parts = figure_parts(portfolio, result, limit=None).items
        assert parts
        for part in parts:
            assert part.row is not None
            page, line = divmod(part.row - 1, LINES - ABOVE)
            if portfolio.page_lines is None:
                assert (part.place, part.page, part.line) == (f"'Loans'!C{part.row}", None, None)
            else:
                assert (part.page, part.line) == (page + 1, line + ABOVE + 1)
                assert part.place == f"'Loans'!C{part.row} (page {part.page}, line {part.line})"


def test_a_row_of_the_sheet_has_page_and_line(make_book: MakeBook) -> None:
    for book, page_line in (
        (make_book({"Loans": LOANS}), (None, None)),
        (paged_book(make_book({"Loans": LOANS})), (2, 6)),
    ):
        loans = locate_loans(book, mapping_of("standard_clo"))
        assert loans is not None
        source_row = row_of(book, loans, 10)
        assert source_row is not None
        assert (source_row.page, source_row.line) == page_line


def test_remarks_of_the_reader_are_warnings(make_book: MakeBook) -> None:
    """What does not add up, or was not read, makes every figure of par doubtful; a guess of the layout, too."""
    remarks = (
        ReadingRemark(
            "total_differs", "The total of Par on page 5, line 6 is 31.00, its rows make 30.00.", "Loans", (30, 9)
        ),
        ReadingRemark("page_not_read", "Page 6 is a picture."),
        ReadingRemark("layout_guessed", "The columns of page 7 were guessed.", "Loans", tuple(range(25))),
    )
    portfolio = Portfolio.from_workbook(replace(make_book({"Loans": LOANS}), remarks=remarks))
    warnings = {each.code: each for each in portfolio.notes.warnings}
    assert warnings["total_differs"].message == (
        "The total of Par on page 5, line 6 is 31.00, its rows make 30.00 ('Loans', rows 31, 10)."
    )
    assert (warnings["total_differs"].rows, warnings["page_not_read"].rows) == (2, None)
    assert warnings["page_not_read"].message == "Page 6 is a picture."
    assert warnings["layout_guessed"].message.endswith("17, 18, 19, 20 and 5 more).")
    doubts = run_suite(portfolio, "standard", test_ids=["single_obligor_concentration"])[0].doubt
    codes = {each.message: each.code for each in doubts}
    assert [codes[warnings[each.code].message] for each in remarks] == ["conflict", "left_out", "ambiguous_column"]
