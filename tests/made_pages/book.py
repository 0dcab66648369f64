"""A report by seed.

Its pages stacked in one of several ways, and what each cell says.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from core.grid.sheet import Workbook
from tests.core.portfolio.conftest import sheet_from_rows
from tests.made_pages.cells import Block, Expectation, Style, style_of
from tests.made_pages.components import accounts_page, interest_page, par_page, summary_page
from tests.made_pages.figures import Deal, deal_of
from tests.made_pages.lists import empty_page, holdings, lists_of, loan_list, notes_page, obligor_list, strata_table
from tests.made_pages.tests_table import Wording, shape_of, tests_table
from tests.made_pages.words import WORDS

AS_OF = "As of: 30-Sep-2025"


@dataclass(frozen=True)
class Book:
    """A workbook and everything that it prints, in its order."""

    seed: int
    deal: Deal
    style: Style
    workbook: Workbook
    says: list[Expectation]
    has_principal_amount: bool
    """The collateral principal amount stands on a page, with its parts."""


def book_of(seed: int) -> Book:
    """Return the report of a seed."""
    deal, rng = deal_of(seed), Random(f"pages {seed}")
    style = style_of(rng)
    pages: list[tuple[str, Block]] = []
    words = rng.choice(WORDS.par)
    has_summary = rng.random() < 0.85
    if has_summary:
        pages.append((rng.choice(WORDS.titles["summary"]), summary_page(rng, style, deal, words)))
    pages.append((rng.choice(WORDS.titles["notes"]), notes_page(rng, style, deal)))
    pages.append((rng.choice(WORDS.titles["accounts"]), accounts_page(rng, style, deal)))
    pages += _tests_pages(rng, style, deal)
    pages += _component_pages(rng, style, deal, words)
    pages += _list_pages(rng, style, deal)
    pages.append((rng.choice(WORDS.titles["holdings"]), holdings(style, deal)))
    pages += [(title, empty_page(rng, title)) for title in WORDS.empty_pages if rng.random() < 0.4]
    if rng.random() < 0.08:
        pages = _on_one_sheet(pages)
    return _bound(seed, deal, style, rng, pages, has_summary=has_summary)


def _tests_pages(rng: Random, style: Style, deal: Deal) -> list[tuple[str, Block]]:
    """All tests in one table with sections.

    A page for each group; or the groups stacked or side by side.
    """
    wording = Wording(rng)
    groups = [(rng.choice(WORDS.titles[key]), getattr(deal, key)) for key in ("coverage", "quality", "shares")]
    if (way := rng.randrange(5)) == 0:
        return [
            (
                rng.choice(["Compliance Tests", "Test Summary", "Executive Summary"]),
                tests_table(rng, style, shape_of(rng), wording, groups),
            )
        ]
    shape = shape_of(rng)
    tables = [
        (title, tests_table(rng, style, shape if way != 1 else shape_of(rng), wording, [(title, tests)]))
        for title, tests in groups
    ]
    if way in (1, 2):
        return tables
    headed = [Block([[title]]).below(table, gap=0) for title, table in tables]
    if way == 3:
        return [("Test Results", headed[0].beside(headed[1])), tables[2]]
    return [("Test Results", _stacked(headed, gap=2))]


def _stacked(blocks: list[Block], gap: int) -> Block:
    """Return blocks below each other."""
    stack = blocks[0]
    for block in blocks[1:]:
        stack = stack.below(block, gap=gap)
    return stack


def _component_pages(rng: Random, style: Style, deal: Deal, words: dict[str, str]) -> list[tuple[str, Block]]:
    """The parts of both numerators. On a page each, below each other, or side by side."""
    par, interest = par_page(rng, style, deal, words), interest_page(rng, style, deal)
    match rng.randrange(3):
        case 0:
            return [("Par Value Detail", par), ("Interest Coverage Detail", interest)]
        case 1:
            return [("Coverage Test Detail", par.below(interest, gap=2))]
        case _:
            return [("Coverage Test Detail", par.beside(interest))]


def _list_pages(rng: Random, style: Style, deal: Deal) -> list[tuple[str, Block]]:
    """Lists of loans on a page each, or all on one sheet.

    Tables by rating, industry and country below each other.
    """
    heading = rng.choice(WORDS.list_headings)
    kinds = list(lists_of(deal).items())
    rng.shuffle(kinds)
    blocks = [loan_list(rng, style, kind, loans, heading) for kind, loans in kinds]
    pages: list[tuple[str, Block]] = []
    if blocks and rng.random() < 0.5:
        pages.append(("Asset Lists", _stacked(blocks, gap=rng.choice([1, 2]))))
    else:
        pages += [(block.rows[0][0], block) for block in blocks]
    columns = rng.sample(["sp", "sp_industry", "country"] + (["moodys"] if deal.market == "us" else []), 3)
    tables = [strata_table(rng, style, deal, column) for column in columns]
    pages.append(("Stratifications", _stacked(tables, gap=1)))
    pages.append(("Obligors", obligor_list(rng, style, deal)))
    return pages


def _on_one_sheet(pages: list[tuple[str, Block]]) -> list[tuple[str, Block]]:
    """All pages but the holdings below each other under their titles, as some trustees paste them."""
    kept = [page for page in pages if page[0] in WORDS.titles["holdings"]]
    others = [Block([[title]]).below(block, gap=0) for title, block in pages if title not in WORDS.titles["holdings"]]
    return [("Report", _stacked(others, gap=3)), *kept]


def _bound(
    seed: int, deal: Deal, style: Style, rng: Random, pages: list[tuple[str, Block]], *, has_summary: bool
) -> Book:
    """The sheets: each page under the deal's name, the day and its title, with a footer on some."""
    formats, sheets, says = ["General"], [], []
    has_footer, names = rng.random() < 0.4, set[str]()
    for title, page in pages:
        head = Block([[deal.name], [title], [AS_OF]])
        block = head.below(page, gap=rng.choice([0, 1]))
        if has_footer:
            block = block.below(Block([[f"{deal.name} as of 30-Sep-2025"]]))
        name = title if title not in names else f"{title} {len(names)}"
        names.add(name)
        name = name[:31]
        for figure in block.says:
            figure.sheet = name
        says += block.says
        sheets.append(sheet_from_rows(block.rows, name, index=len(sheets), formats=formats))
    return Book(seed, deal, style, Workbook(tuple(sheets), number_formats=tuple(formats)), says, has_summary)
