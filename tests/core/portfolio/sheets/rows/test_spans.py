"""Tables that a scraper took apart.

Spanned cells again in each column, signs in cells of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Sheet
from core.portfolio import Portfolio
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.headings import header
from core.portfolio.sheets.rows import spans
from tests.rows import every

MapRows = Callable[..., Portfolio]
Rows = list[list[Any]]


def merged(sheet: Sheet) -> Sheet | None:
    header_match = header.find(sheet, PROFILES["standard_clo"])
    assert header_match is not None
    return spans.merge_columns(sheet, header_match)


@every(
    "heading, cells, par",
    [
        # The heading in all columns that it spans, and figures in one of them, or in several.
        (["Principal Amount"] * 3, [["$", 5.0, None], [4.5, 4.5, None], [None, 7.25, None]], [5, 4.5, 7.25]),
        (["Principal Amount"] * 3, [["$", "5.0", None], ["4.5", "4.5", ""], ["A$", "7.25", None]], [5, 4.5, 7.25]),
        # Over the sign alone, as in a page of the web.
        (["Principal Amount", None, None], [["$", 5.0, None], [None, 4.5, None], [None, 7.25, None]], [5, 4.5, 7.25]),
        # Brackets that are closed in a cell of their own.
        (["Principal Amount"] * 3, [["$", "(5.0", ")"], [None, "4.5", None], [None, "7.25", None]], [-5, 4.5, 7.25]),
        (["Principal Amount", None], [["(5.0", ")"], ["4.5", None], ["7.25", None]], [-5, 4.5, 7.25]),
    ],
)
def test_the_columns_of_a_heading_are_one(
    map_rows: MapRows, heading: list[str | None], cells: Rows, par: list[float]
) -> None:
    names = ["Acme Inc", "Beta Inc", "Gamma Inc"]
    numbers = [*range(2 * 2 + len(heading) + 2)]
    rows = [[name, name, None, *row, None, "1/31/30"] for name, row in zip(names, cells, strict=True)]
    top = ["Portfolio Company", "Portfolio Company", None, *heading, None, "Maturity"]
    portfolio = map_rows([numbers, [], top, *rows])
    assert portfolio.numbers["par_value"].tolist() == par
    borrower = portfolio.names["borrower_name"]
    assert [borrower.values[code] for code in borrower.codes] == names
    assert portfolio.notes.loans_without_par == 0


def test_signs_of_several_currencies_are_told(map_rows: MapRows) -> None:
    top = ["Issuer", "Maturity", "Par", None]
    rows = [["A Inc", "1/31/30", "$", 1.0], ["B Inc", "1/31/30", None, 2.0], ["C Inc", "1/31/30", "$", 3.0]]
    for sign, messages in (("$", []), ("A$", ["1 cell of 'Par' has 'A$' where others have '$'."])):
        portfolio = map_rows([top, *rows, ["D Inc", "1/31/30", sign, 4.0]])
        assert portfolio.numbers["par_value"].tolist() == [1, 2, 3, 4]
        assert [warning.message for warning in portfolio.notes.warnings if warning.code == "signs_differ"] == messages


def test_a_sign_for_percent_goes_to_its_figure(map_rows: MapRows) -> None:
    rows = [
        ["Issuer", "Par", "Spread", None],
        ["A Inc", 1.0, 5.25, "%"],
        ["B Inc", 1.0, 6, "%"],
        ["C Inc", 2.0, 0.5, "%"],
    ]
    assert map_rows(rows).numbers["spread"].tolist() == [525, 600, 50]


@every(
    "rows",
    [
        # Two columns of one name that say different things.
        [["Issuer", "Par", "Rating", "Rating", "CUSIP"], ["A Inc", 1.0, "B2", "B"], ["B Inc", 2.0, "B3", "B-"]],
        [
            ["Issuer", "Par", "Maturity", "Comment", None],
            ["A Inc", 1.0, None, "x", "$"],
            ["B Inc", 2.0, None, "z", "y"],
        ],
        [["Issuer", "Par", "Price"], ["A Inc", 1.0, 99.0], ["B Inc", 2.0, 98.0]],
    ],
)
def test_other_columns_stay_apart(make_sheet: Callable[..., Sheet], rows: Rows) -> None:
    assert merged(make_sheet(rows)) is None


def test_a_table_that_nobody_reads_is_not_looked_at(make_sheet: Callable[..., Sheet]) -> None:
    rows = [["Issuer", "CUSIP", "Par", "Par"], *([f"A{at} Inc", "x", 1.0, 1.0] for at in range(3))]
    assert merged(make_sheet(rows)) is not None
    assert merged(make_sheet([*rows, *[["A Inc", "x", 1.0, 1.0]] * spans.ROWS_MAX])) is None
    wide = [[*row, *[None] * spans.COLUMNS_MAX, "x"] for row in rows]
    assert merged(make_sheet(wide)) is None
