"""Components, stratifications and lists of made pages.

What a file's own calculations say, and what they prove.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Deal, Names
from core.portfolio.model.ratings import rank
from core.portfolio.pages.printed import beside_loans
from core.portfolio.pages.report.accounts import find_accounts
from core.portfolio.pages.report.calculations import Calculations, read_calculations
from core.portfolio.pages.report.components import find_components, role_of
from core.portfolio.pages.report.kinds import read_blocks
from core.portfolio.pages.report.page import ReportPage
from core.portfolio.pages.report.strata import ccc_share, defaulted_par, find_strata, industry_shares
from tests.core.portfolio.conftest import sheet_from_rows
from tests.rows import every

Rows = list[list[Any]]


def pages_of(**sheets: Rows) -> list[tuple[ReportPage, Any]]:
    formats = ["General"]
    book_sheets = tuple(
        sheet_from_rows(rows, name, index=at, formats=formats) for at, (name, rows) in enumerate(sheets.items())
    )
    book = Workbook(book_sheets, number_formats=tuple(formats))
    pages = [ReportPage(book, sheet, [(0, sheet.row_count)]) for sheet in book_sheets]
    return [(page, read_blocks(page)) for page in pages]


def calculated(tests: Sequence[Fact] = (), **sheets: Rows) -> Calculations:
    pages = pages_of(**sheets)
    return read_calculations(pages, [], tests, find_accounts((blocks for _, blocks in pages), None))


def tested(measure: str, numerator: float) -> Fact:
    return Fact(
        kind="test",
        label=measure,
        subject=FactSubject(measure=measure),
        value=1.0,
        numerator=numerator,
        place="'T'!A1",
        unit="percent",
    )


# ---- words of lines ------------------------------------------------------------------------------------------------


@every("label, role", [
    ("Aggregate Principal Balance", "par"),
    ("Principal Balance of Defaulted Obligations", "defpar"),
    ("Less: Aggregate Principal Balance of Defaulted Obligations", "defpar"),
    ("Aggregate Principal Balance (excl. Defaulted Obligations)", "perf"),
    ("Principal Balance other than Defaulted Obligations", "perf"),
    ("Defaulted Obligations - carried at the lower of Market Value and Recovery", "defcarry"),
    ("S&P Collateral Value of Defaulted Obligations", "defcarry"),
    ("Collateral Principal Amount", "cpa"),
    ("Adjusted Collateral Principal Amount", "acpa"),
    ("Principal Proceeds", "cash"),
    ("Unused Proceeds", "cash"),
    ("Interest Proceeds received during the Due Period", "coll"),
    ("Interest scheduled", "tobe"),
    ("Interest receivable", "tobe"),
    ("Expected Interest", "tobe"),
    ("Interest to be received", "tobe"),
    ("Senior Management Fee", "senior"),
    ("Principal Collections", "cash"),
    ("Amounts payable under (A) through (E) of the Priority of Payments", "senior"),
    ("Outstanding Principal Balance of all Collateral Obligations", "par"),
    ("Subordinated Management Fee", None),
    ("Reinvestment Target Par Balance", None),
    ("Number of Collateral Obligations", None),
])  # fmt: skip
def test_roles(label: str, role: str | None) -> None:
    assert role_of(label, is_less=label.startswith("Less"))[0] == role


# ---- calculations --------------------------------------------------------------------------------------------------

PAR = [
    ["Par Value Test Numerator Detail"],
    ["Aggregate Principal Balance", 500_000_000.0],
    ["Principal Proceeds", -4_484_604.59],
    ["Purchased Accrued Interest", 5_416.67],
    ["Sub Total:", 495_520_812.08],
    ["Less:"],
    ["Discount Adjustment", 1_000_000.5],
    ["CCC Adjustment Amount", 0.0],
    ["Current Pay Adjustment", 7.25],
    ["Sub Total:", 1_000_007.75],
    ["Adjusted Collateral Principal Amount", 494_520_804.33],
]


def test_the_parts_of_an_oc_numerator() -> None:
    calculations = calculated(Pages=PAR, Summary=[["Collateral Principal Amount", 495_515_395.41]])
    assert calculations.deal["principal_cash"] == -4_484_604.59
    names = ("ccc_haircut", "discount_haircut", "other_haircut", "par_value_other")
    assert [calculations.deal[name] for name in names] == [0.0, 1_000_000.5, 7.25, pytest.approx(5_416.67)]
    assert calculations.proved >= {"principal_cash", *names}
    oc = next(identity for identity in calculations.identities if identity.name == "oc_numerator")
    assert (oc.total, oc.holds, oc.is_proved) == (494_520_804.33, True, True)
    assert calculations.cells["principal_cash"] == "'Pages'!B3"


@every("sign", [1.0, -1.0])
def test_senior_items_count_once(sign: float) -> None:
    """Printed plain or negative, in a block without a total.

    The test's numerator decides.
    """
    rows = [
        ["Interest"],
        ["Interest received", 4_000_000.0],
        ["Interest receivable", 2_500_000.0],
        ["Senior Management Fee", sign * 200_000.0],
        ["Trustee Fees", sign * 51_937.3],
        ["Something else", 77.0],
    ]
    calculations = calculated([tested("ic", 6_248_062.7)], Pages=rows)
    assert calculations.deal["interest_collected"] == 4_000_000.0
    assert calculations.deal["interest_receivable"] == 2_500_000.0
    assert calculations.deal["senior_fees"] == pytest.approx(251_937.3)
    assert "senior_fees" in calculations.proved
    assert "interest_other" not in calculations.deal


def test_lines_without_a_numerator_are_taken_by_their_words() -> None:
    """All lines of the block; no sum proves them."""
    rows = [["Interest received", 4e6], ["Scheduled interest", 2e6], ["Senior Management Fee", -2e5],
            ["Trustee Fees", -1e5]]  # fmt: skip
    calculations = calculated(Pages=rows)
    assert calculations.deal["senior_fees"] == pytest.approx(3e5)
    assert not calculations.proved & {"senior_fees", "interest_collected"}


def test_interest_proceeds_may_be_the_whole_numerator() -> None:
    calculations = calculated([tested("ic", 6_248_062.7)], Pages=[["Interest Proceeds", 6_248_062.7], ["Other", 1.0]])
    assert calculations.deal["interest_available"] == 6_248_062.7
    assert "interest_collected" not in calculations.deal
    alone = calculated(Pages=[["Interest Proceeds", 6_248_062.7], ["Other", 1.0]])
    assert "interest_available" not in alone.deal


def test_lines_whose_words_say_nothing() -> None:
    """The block that reaches the printed numerator is its parts."""
    rows = [["Waterfall"], ["Zinc", 4_569_271.28], ["Tin", 2_680_870.87], ["Lead", 181_584.12], ["Iron", 77.0]]
    calculations = calculated([tested("ic", 7_068_558.03)], Pages=rows)
    identity = next(solved for solved in calculations.identities if solved.name == "ic_numerator")
    assert [amount for _, amount in identity.parts] == [4_569_271.28, 2_680_870.87, -181_584.12]


SIDE = [
    ["OC Numerator", None, None, "IC Numerator"],
    ["Aggregate Principal Balance", 500_000_000.0, None, "Interest received", 4_000_000.0],
    ["Principal Proceeds", 5_000_000.5, None, "Interest scheduled", 2_000_000.0],
    ["Discount Obligations Haircut", -1_000_000.25, None, "Senior expenses", -200_000.0],
    ["Adjusted Collateral Principal Amount", 504_000_000.25, None, "Interest Coverage Numerator", 5_800_000.0],
]
PRIOR = [
    ["Interest Coverage Detail"],
    ["Description", "Current", "Prior"],
    ["Interest received", 4_000_000.0, 3_900_000.0],
    ["Interest scheduled", 2_000_000.0, 1_900_000.0],
    ["Senior expenses", -200_000.0, -190_000.0],
    ["Interest Coverage Numerator", 5_800_000.0, 5_610_000.0],
]


@every("rows", [SIDE, PRIOR])
def test_calculations_side_by_side_and_with_a_prior_month(rows: Rows) -> None:
    calculations = calculated(Pages=rows)
    assert (calculations.deal["interest_collected"], calculations.deal["interest_receivable"]) == (4e6, 2e6)
    assert calculations.deal["senior_fees"] == 2e5


def test_what_is_called_collateral_and_makes_a_sum_with_cash_is_a_par() -> None:
    rows = [["Aggregate Collateral Balance of Loans", 500_000_000.0], ["Principal Proceeds", 5_000_000.5],
            ["Excess CCC Adjustment", -7.25], ["Adjusted Collateral Principal Amount", 504_999_993.25]]  # fmt: skip
    (page,) = find_components(blocks for _, blocks in pages_of(Pages=rows))
    assert [component.role for component in page.components] == ["par", "cash", "cccx", "acpa"]


def test_thousands() -> None:
    rows = [["Amounts in thousands"], ["Collateral Principal Amount (000s)", 505_000.5]]
    (page,) = find_components(blocks for _, blocks in pages_of(Pages=rows))
    assert (page.components[0].value, page.components[0].decimals) == (505_000_500.0, -2)


def test_defaulted_par_is_in_the_denominator_as_the_identity_says() -> None:
    rows = [
        ["Aggregate Principal Balance", 390_222_283.39],
        ["Defaulted Obligations (Principal Balance)", 13_700_000.0],
        ["Defaulted Obligations (carried at lower of MV and Recovery)", 5_261_030.5],
        ["Principal Cash", 3_906_228.41],
    ]
    for total, counts in ((385_689_542.3, "carried"), (380_428_511.8, "none")):
        calculations = calculated(Pages=[*rows, ["Collateral Principal Amount", total]])
        assert calculations.deal["defaulted_in_denominator"] == counts
        assert calculations.deal["defaulted_par"] == 13_700_000.0


# ---- stratifications, lists, empty pages ---------------------------------------------------------------------------

STRATA = [
    ["Rating Concentrations"],
    ["S&P Issuer Rating", "# of Assets", "Principal Balance", "% of Balance"],
    ["B", 10, 80.5, 0.8],
    ["CCC+", 2, 15.0, 0.15],
    ["CCC-", 1, 4.5, 0.05],
    ["Total:", 13, 100.0],
    [],
    ["Industry by S&P", "# of Assets", "Principal Balance", "% of Balance"],
    ["Software", 10, 60.0, 0.6],
    ["Media", 2, 40.0, 0.4],
    [None, 12, 100.0, 1.0],
    [],
    ["Country of Obligor", "Number of Loans", "Par", "% of Par"],
    ["France", 10, 60.0, 60.0],
    ["Spain", 2, 40.0, 40.0],
    ["Total", 12, 100.0],
]
LISTS = [
    ["Defaulted Obligations"],
    ["Asset ID", "Obligor", "Principal Balance", "Market Value (%)"],
    ["LX100001", "Acme", 3.0, 50.0],
    ["LX100002", "Bolt", 4.0, 51.0],
    [],
    ["Obligations with an S&P Rating of CCC+ or below"],
    ["Asset ID", "Obligor", "Principal Balance", "S&P Rating"],
    ["LX100003", "Cord", 8.0, "CCC+"],
    ["LX100004", "Dome", 9.0, "CCC"],
    [],
    ["Purchases and Sales"],
    ["Asset ID", "Obligor", "Par Amount", "Price"],
    ["LX100005", "Edge", 8.0, 99.0],
]


def strata(**sheets: Rows) -> Facts:
    return Facts(all=tuple(find_strata(pages_of(**sheets))))


def test_stratifications() -> None:
    facts = strata(Pages=STRATA)
    assert [(fact.label, fact.value) for fact in facts.of("stratification", "country")] == [
        ("France", 60.0),
        ("Spain", 40.0),
    ]
    assert [(fact.subject.agency, fact.value, fact.by) for fact in facts.of("total") if fact.subject] == [
        ("b", 100.0, "sum"),
        ("b", 100.0, "sum"),
        (None, 100.0, "sum"),
    ]
    ccc = ccc_share(facts, "b", 100.0)
    assert ccc is not None
    assert (ccc.value, ccc.denominator, ccc.place) == (19.5, 100.0, "'Pages'!C6")
    assert ccc_share(facts, "b", 101.0) is None
    assert ccc_share(facts, "c", 100.0) is None
    assert [industry_share.label for industry_share in industry_shares(facts, "b", 100.0)] == ["Software", "Media"]
    assert industry_shares(facts, "b", 99.0) == ()


def test_a_table_that_does_not_add_up_says_nothing() -> None:
    rows = [list(row) for row in STRATA]
    rows[3][2] = 14.0
    facts = strata(Pages=rows)
    assert ccc_share(facts, "b", 100.0) is None
    assert facts.of("total", "rating")[0].is_guessed


def test_each_title_ends_the_list_before() -> None:
    facts = strata(Pages=LISTS)
    assert [fact.value for fact in facts.of("list", "defaulted")] == [3.0, 4.0]
    assert [fact.value for fact in facts.of("list", "ccc")] == [8.0, 9.0]
    assert len(facts.of("list")) == 4
    defaulted = defaulted_par(facts)
    assert defaulted is not None
    assert (defaulted.value, defaulted.also) == (7.0, ("'Pages'!C4",))


@every("text", ["No data available for this request", "None", "There are no Defaulted Obligations", "Nil"])
def test_an_empty_page_is_a_zero(text: str) -> None:
    facts = strata(Defaulted=[["Defaulted Obligations"], [text], ["Some CLO DAC as of 30-Sep-2024"]])
    defaulted = defaulted_par(facts)
    assert defaulted is not None
    assert (defaulted.kind, defaulted.value, defaulted.place) == ("empty_page", 0.0, "'Defaulted'!A2")
    assert not strata(Hedges=[["Hedge Transactions"], [text]]).all


# ---- beside the loans ----------------------------------------------------------------------------------------------


def loans(par: list[float], ratings: list[str], facts: Facts, **deal: Any) -> Portfolio:
    names = list(dict.fromkeys(ratings))
    return Portfolio(
        row_count=len(par),
        numbers={"par_value": np.array(par)},
        names={"rating_agency_b": Names(np.array([names.index(rating) for rating in ratings], np.int32), tuple(names))},
        flags={},
        ranks={"rating_agency_b": np.array([rank(symbol, "b") for symbol in ratings], np.uint8)},
        deal=Deal(**deal),
        facts=facts,
    )


@every("ratings, masked", [
    (["B", "CCC+", "***"], 4.5), (["***", "***", "***"], 19.5), (["B", "CCC+", "CCC-"], None),
    (["B", "***", "B"], None),
])  # fmt: skip
def test_ccc_that_masks_hide(ratings: list[str], masked: float | None) -> None:
    """What the rating table has more than the rows show, never more than what is masked."""
    portfolio = beside_loans(loans([80.5, 15.0, 4.5], ratings, strata(Pages=STRATA)))
    assert portfolio.deal.masked_ccc_b == masked
    assert ("deal.masked_ccc_b" in portfolio.source_cells) is (masked is not None)


@every("ratings, by_rank", [
    (["B", "CCC+", "***"], ((19, 4.5),)),
    (["B", "***", "***"], ((17, 15.0), (19, 4.5))),
    (["B", "CCC+", "CCC-"], None),
    (["B", "***", "B"], None),
    (["BB", "***", "***"], None),
])  # fmt: skip
def test_ratings_that_masks_hide(ratings: list[str], by_rank: Any) -> None:
    """None where the table has less of a rating than the rows show."""
    portfolio = beside_loans(loans([80.5, 15.0, 4.5], ratings, strata(Pages=STRATA)))
    assert portfolio.deal.masked_ratings_b == by_rank
    assert ("deal.masked_ratings_b" in portfolio.source_cells) is (by_rank is not None)


@every("par, cash, holds", [(500e6, 5e6, True), (499e6, 5e6, False), (500e6, 5.01e6, False)])
def test_loans_beside_a_printed_amount_without_a_printed_par(par: float, cash: float, holds: bool) -> None:
    pages = calculated(Pages=[["Collateral Principal Amount", 505e6], ["Something", 1.0]])
    facts = beside_loans(loans([par], ["B"], Facts(all=pages.facts), principal_cash=cash)).facts
    (identity,) = facts.identities
    assert (identity.holds, identity.is_proved, identity.total) == (holds, False, 505e6)
    assert identity.parts == (("par", par), ("cash", cash))


def test_the_files_own_identity_stays() -> None:
    pages = calculated(
        Pages=[["Aggregate Principal Balance", 500e6], ["Principal Cash", 5e6], ["Collateral Principal Amount", 505e6]]
    )
    facts = Facts(all=pages.facts, identities=pages.identities)
    assert beside_loans(loans([499e6], ["B"], facts)).facts.identities == pages.identities
