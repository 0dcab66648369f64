"""Printed totals beside the sums of their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.files.pdf.totals import total_remarks
from core.files.write import Formats, FormattedValue, sheet_of
from core.grid.sheet import ReadingRemark

AMOUNT, SHARE, WHOLE = "#,##0.00", "0.0%", "#,##0"


def amount(value: float, code: str = AMOUNT) -> FormattedValue:
    return FormattedValue(value, code)


def remarks_of(rows: list[list[Any]]) -> list[ReadingRemark]:
    """The remarks of one sheet, whose rows stand on page 3 from line 1 on."""
    formats = Formats()
    sheet = sheet_of(rows, formats, name="Assets")
    lines = [(3, line) for line in range(1, sheet.row_count + 1)]
    sheet = replace(sheet, page_lines=np.array(lines, np.int32))
    return total_remarks([sheet], [formats[at] for at in range(len(formats))])


HEAD = ["Issuer", "Cost", "Fair Value", "Price"]


def section(name: str, *, cost: float = 0.0, value: float = 0.0, label: str = "Total {}") -> list[list[Any]]:
    """A section of three loans with its total, which is off by `cost` and `value`."""
    costs, values = (1_000.25, 2_000.5, 3_000.75), (990.0, 1_980.5, 2_970.75)
    loans = [
        [f"{name} {at}", amount(own), amount(fair), amount(99.5 - at)]
        for at, (own, fair) in enumerate(zip(costs, values, strict=True))
    ]
    text = label.format(name) or None
    return [[name], *loans, [text, amount(sum(costs) + cost), amount(sum(values) + value)]]


@pytest.mark.parametrize("label", ["Total {}", "{} Subtotal", "Sub-Total:", ""])
def test_totals_that_tie_and_one_that_does_not(label: str) -> None:
    """The total of a section may have any label, or none."""
    names = ["Media", "Retail", "Energy", "Hotels"]
    right = [HEAD] + [row for name in names for row in section(name, label=label)]
    assert remarks_of(right) == []
    wrong = [HEAD] + [row for name in names for row in section(name, label=label, value=90.0 * (name == "Energy"))]
    message = "page 3, line 16: the printed total of 'Fair Value' is 6,031.25, its rows make 5,941.25"
    assert remarks_of(wrong) == [ReadingRemark("total_differs", message, "Assets", (15,))]


def test_totals_of_totals() -> None:
    """A grand total adds the rows of all sections, and not their totals."""
    names = ["Media", "Retail", "Energy"]
    rows = [HEAD] + [row for name in names for row in section(name)]
    grand = ["Total Investments", amount(3 * 6_001.5), amount(3 * 5_941.25)]
    assert remarks_of([*rows, grand]) == []
    assert [remark.rows for remark in remarks_of([*rows, [*grand[:2], amount(3 * 5_941.25 - 300.0)]])] == [(16,)]


def test_a_total_without_the_section_before_it() -> None:
    """What a total leaves out on purpose, such as equity under a heading of its own, is no difference."""
    rows = [HEAD, *section("Media")[:-1], *section("Retail")[:-1], ["Equity"], ["Shares", None, amount(77.0)]]
    assert remarks_of([*rows, ["Total", amount(12_003.0), amount(11_882.5)]]) == []


def test_averages_are_no_sums() -> None:
    rows = [HEAD, *section("Media")[1:-1], ["Total", amount(6_001.5), amount(5_941.25), amount(98.5)]]
    assert remarks_of(rows) == []


def test_rounded_figures_tie_within_what_rounding_makes() -> None:
    """Three shares of 33.3 % and a total of 100.0 %; three amounts in thousands and a total that is one off."""
    loans = [[f"Loan {at}", amount(4_321.0, WHOLE), amount(0.333, SHARE)] for at in range(3)]
    assert (
        remarks_of([["Issuer", "Par", "Share"], *loans, ["Total", amount(12_964.0, WHOLE), amount(1.0, SHARE)]]) == []
    )
    far = ["Total", amount(12_999.0, WHOLE), amount(1.0, SHARE)]
    (remark,) = remarks_of([["Issuer", "Par", "Share"], *loans, far])
    assert remark.message == "page 3, line 5: the printed total of 'Par' is 12,999, its rows make 12,963"


def test_a_company_called_total_is_a_row() -> None:
    rows = [
        ["Obligor", "Balance"], ["Total Safety Inc.", amount(500.25)], ["Alder Inc.", amount(300.5)],
        ["Brex LLC", amount(200.25)], ["Total", amount(1_001.0)],
    ]  # fmt: skip
    assert remarks_of(rows) == []


def test_a_total_of_something_else_is_let_alone() -> None:
    """Nothing ties, or the sum is far from it: nobody knows what it adds."""
    rows = [["Account", "Balance"], ["Principal", amount(500.25)], ["Interest", amount(300.5)], ["Fees", amount(10.0)]]
    assert remarks_of([*rows, ["Total par of the loans", amount(400_000_000.0)]]) == []
    assert remarks_of([["Date", "30 June"], ["Total par", amount(1_000.0)], ["Number", 12.0]]) == []


def test_sheets_without_totals_or_rows() -> None:
    assert remarks_of([["Issuer", "Par"], ["A", 1.0], ["B", 2.0]]) == []
    assert remarks_of([]) == []
    assert remarks_of([["Total", 5.0]]) == []


LOANS = [(f"Loan {at}", 1_000_000.0 + 1_111.11 * at, 98.0 + 0.1 * at, 0.05 + 0.001 * at) for at in range(12)]


def lone_table(label: str, *, without: int | None = None, heading: str = "Par Amount") -> list[list[Any]]:
    """A table with one total, in which a loan may be missing; the averages are no sums in any case."""
    rows = [
        [name, amount(par), amount(0.99 * par), amount(price), amount(share, "0.00%")]
        for at, (name, par, price, share) in enumerate(LOANS)
        if at != without
    ]
    pars, prices, shares = ([loan[column] for loan in LOANS] for column in (1, 2, 3))
    averages = [amount(sum(prices) / 12), amount(sum(shares) / 12, "0.00%")]
    total = [label, amount(sum(pars)), amount(0.99 * sum(pars)), *averages]
    return [["Issuer", heading, "Market Value", "Price", "Spread"], *rows, total]


@pytest.mark.parametrize("label", ["Total", "TOTAL:", "Grand Total", "Total Collateral Obligations"])
@pytest.mark.parametrize("heading", ["Par Amount", "Held"])
def test_one_table_with_one_total(label: str, heading: str) -> None:
    """The loan that is missing is told by both amounts, of which the first is named."""
    assert remarks_of(lone_table(label, heading=heading)) == []
    (remark,) = remarks_of(lone_table(label, without=7, heading=heading))
    message = f"page 3, line 13: the printed total of '{heading}' is 12,073,333.26, its rows make 11,065,555.49"
    assert (remark.message, remark.rows) == (message, (12,))


def test_totals_of_two_tables_that_both_lack_a_loan() -> None:
    rows = [*lone_table("Total", without=2), [None], *lone_table("Total", without=5)]
    assert [remark.rows for remark in remarks_of(rows)] == [(12,), (26,)]


def test_averages_and_prices_are_no_sums() -> None:
    """A total of a table whose only figures are prices, weights or ratios adds nothing."""
    for heading, code in (("Price", AMOUNT), ("Spread", "0.00%"), ("Rating Factor", WHOLE), ("Advance Rate", AMOUNT)):
        rows = [[f"Loan {at}", amount(own, code)] for at, own in enumerate([90.0, 1.0, 1.0, 2.0])]
        assert remarks_of([["Issuer", heading], *rows, ["Total", amount(85.0, code)]]) == []
    rows = [[f"Loan {at}", amount(own)] for at, own in enumerate([90.0, 1.0, 1.0, 2.0])]
    assert remarks_of([["Issuer", "Months"], *rows, ["Total", amount(85.0)]]) == [], "less than a row: an average"


def test_a_total_with_rows_that_are_taken_away_or_parts() -> None:
    rows = [["Account", "Balance"], ["Cash", amount(500.0)], ["Loans", amount(900.0)], ["Less: fees", amount(50.0)]]
    assert remarks_of([*rows, ["Total", amount(1_350.0)]]) == []


def test_a_loan_to_a_company_called_total_in_a_long_list() -> None:
    rows = lone_table("Total")
    rows[5][0] = "Total Safety Inc."
    assert remarks_of(rows) == []
