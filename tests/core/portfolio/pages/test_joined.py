"""Pages of a report joined to its loans.

A real report against a person's join, books split into pages, and attacks.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.files.read import read
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.notes import WARNING_CODES, PageNote
from core.portfolio.sheets.locate import PAGES_MAX
from tests.rows import every

REPORT = Path(__file__).parents[4] / "../shared/data/cairn-xvii/report-2024-12-16.xlsx"
MakeBook = Callable[..., Workbook]
Rows = list[list[Any]]


def values_of(portfolio: Portfolio) -> dict[str, list[Any]]:
    """Each column of the loans as plain values, in the order of a key that every loan of these tests has."""
    columns: dict[str, list[Any]] = {}
    for target, numbers in portfolio.numbers.items():
        columns[target] = [None if value != value else value for value in numbers.tolist()]
    for target, names in portfolio.names.items():
        columns[target] = [None if code < 0 else names.values[code] for code in names.codes.tolist()]
    columns |= {target: flags.tolist() for target, flags in portfolio.flags.items()}
    columns |= {f"rank of {target}": ranks.tolist() for target, ranks in portfolio.ranks.items()}
    if portfolio.lien is not None:
        columns["lien_type"] = portfolio.lien.tolist()
    ids = zip(columns.get("loanx_id", []), columns.get("isin", columns.get("loanx_id", [])), strict=True)
    order = sorted(range(portfolio.row_count), key=[str(first or second) for first, second in ids].__getitem__)
    return {target: [column[row] for row in order] for target, column in columns.items()}


def page(portfolio: Portfolio, sheet: str) -> PageNote:
    return next(note for note in portfolio.notes.pages if note.sheet == sheet)


def codes(portfolio: Portfolio) -> list[str]:
    """Return what is told of the pages."""
    assert {warning.code for warning in portfolio.notes.warnings} <= WARNING_CODES.keys()
    return [warning.code for warning in portfolio.notes.warnings if warning.code.startswith(("page_", "second_"))]


# ---- a real report -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [REPORT] if REPORT.exists() else [])
def test_a_real_report_is_joined_as_a_person_joined_it(file: Path) -> None:
    portfolio = Portfolio.from_workbook(read(file))
    values = values_of(portfolio)
    by_hand = values_of(Portfolio.from_workbook(read(file.with_name("joined-by-hand.xlsx"))))
    assert portfolio.row_count == 193
    assert round(portfolio.numbers["par_value"].sum(), 2) == 407_181_748.22
    # The person left spreads of zero on fixed coupons blank, wrote the sixteen fixed ones without a floor, and kept
    # no cov-lite mark that the report does not have.
    assert by_hand.keys() <= values.keys()
    differing = {
        target: sum(mine != its for mine, its in zip(values[target], column, strict=True))
        for target, column in by_hand.items()
        if values[target] != column
    }
    assert {target for target in differing if target not in ("spread", "floor")} == set(), differing
    fixed = values["is_fixed"]
    for target in ("spread", "floor"):
        pairs = zip(fixed, values[target], by_hand[target], strict=True)
        assert all(mine == its or (is_fixed and its is None) for is_fixed, mine, its in pairs), target
    assert {"industry_b", "industry_c", "recovery_rate_b", "recovery_rate_c", "is_deferring"} <= values.keys()
    assert page(portfolio, "Discounted Obligations").by == {"start of an identifier": 1}
    assert page(portfolio, "Defaulted Obligation Detail").part == "list"
    assert codes(portfolio) == ["page_total_differs", "page_joined_by_name"]
    total, joined = (warning.message for warning in portfolio.notes.warnings[:2])
    assert "407,181,748.24" in total
    assert joined == "1 row of sheet 'Discounted Obligations' was joined by the start of an identifier."


REPORTS = [
    path
    for path in (
        REPORT,
        REPORT.parents[1] / "contego-xi/report-2024-09-30.xlsx",
        REPORT.parents[1] / "layouts/us-pages.xlsx",
    )
    if path.exists()
]
ID = re.compile(r"(?:LX\d{5,6}(?:T\d)?|[A-Z]{2}[A-Z0-9]{9}\d|[0-9][0-9A-Z]{7}\d)")
UNJOINED = {"cusip", "loanx_id", "isin", "asset_id", "lien_type", "rating", "rating_agency_a"}
"""What the first page says another way without its ids, or by the kind of asset where no page says the lien; and
ratings whose column the printed sums choose."""


def by_name(portfolio: Portfolio) -> dict[tuple[Any, Any], dict[str, Any]]:
    """Return the fields of each loan that has any, by facility and par."""
    columns: dict[str, list[Any]] = {
        target: [None if value != value else value for value in numbers.tolist()]
        for target, numbers in portfolio.numbers.items()
    }
    for target, names in portfolio.names.items():
        columns[target] = [None if code < 0 else names.values[code] for code in names.codes.tolist()]
    columns |= {
        f"rank of {target}": [rank or None for rank in ranks.tolist()] for target, ranks in portfolio.ranks.items()
    }
    keys = zip(columns["facility_name"], columns["par_value"], strict=True)
    return {
        key: {
            target: column[at]
            for target, column in columns.items()
            if column[at] is not None and target.removeprefix("rank of ") not in UNJOINED
        }
        for at, key in enumerate(keys)
    }


@pytest.mark.parametrize("share", [0.5, 1.0])
@pytest.mark.parametrize("file", REPORTS, ids=lambda path: path.parent.name)
def test_a_real_report_without_ids_is_joined_to_no_other_loan(make_book: MakeBook, file: Path, share: float) -> None:
    """What is joined by names is what the ids say; what is not is blank."""
    book, chance = read(file), random.Random(3)

    def cell(value: Any) -> Any:
        is_id = isinstance(value, str) and ID.fullmatch(value) is not None and chance.random() < share
        return None if is_id else value

    sheets = {
        sheet.name: [
            [cell(sheet.value(row, column)) for column in range(sheet.column_count)] for row in range(sheet.row_count)
        ]
        for sheet in book.sheets
    }
    whole, bare = (by_name(Portfolio.from_workbook(workbook)) for workbook in (book, make_book(sheets)))
    assert bare.keys() == whole.keys()
    wrong = [
        (key, target)
        for key, values in bare.items()
        for target, value in values.items()
        if value != whole[key].get(target)
    ]
    assert not wrong
    filled = sum(map(len, bare.values())) / sum(map(len, whole.values()))
    assert filled > (0.25 if "layouts" in str(file) else 0.7)


# ---- books split into pages ----------------------------------------------------------------------------------------

FIELDS = {
    "LoanX ID": lambda chance, at: f"LX{100_000 + at}",
    "Issuer Name": lambda chance, at: f"Company {at // 2} Holdings S.A.",
    "Security Name": lambda chance, at: f"Company {at // 2} Facility B{at}",
    "Par Amount": lambda chance, at: round(chance.uniform(1e5, 5e6), 2),
    "Price": lambda chance, at: chance.choice([None, round(chance.uniform(60, 101), 2)]),
    "Spread": lambda chance, at: chance.choice([None, 325.0, 400.0, 475.0]),
    "Maturity Date": lambda chance, at: date(2028, 1, 1) + timedelta(days=chance.randrange(2_000)),
    "Moody's Rating": lambda chance, at: chance.choice(["B1", "B2", "***", None, "Caa1"]),
    "S&P Rating": lambda chance, at: chance.choice(["B", "B-", "NR", "*", "CCC+"]),
    "Moody's Industry": lambda chance, at: chance.choice(["Retail", "Automotive", "Wholesale"]),
    "Moody's Recovery Rate": lambda chance, at: chance.choice([45.0, 50.0, None]),
    "Country": lambda chance, at: chance.choice(["US", "Canada", "Netherlands"]),
    "Defaulted": lambda chance, at: chance.choice(["Y", "N", "N", None]),
    "Asset Type": lambda chance, at: chance.choice(["First Lien", "Second Lien", "Bond"]),
    "Cov-Lite": lambda chance, at: chance.choice(["Yes", "-"]),
    "Currency": lambda chance, at: "USD",
}  # fmt: skip
"""Header -> a loan's value."""

BASE = ("LoanX ID", "Issuer Name", "Security Name", "Par Amount", "Price", "Spread", "Maturity Date")


def split(chance: random.Random, header: Sequence[str], book: Rows) -> dict[str, Rows]:
    """A book as pages: shuffled, with titles, totals and headers again, by identifier, by cut identifier or by name."""
    rest = [name for name in header if name not in BASE]
    chance.shuffle(rest)
    cut = chance.randrange(1, len(rest))
    pages = {"Assets": list(BASE)}
    for at, names in enumerate((rest[:cut], rest[cut:])):
        keys = chance.choice([["LoanX ID"], ["LoanX ID", "Par Amount"], ["Issuer Name", "Security Name"]])
        pages[f"Part {at}"] = [*keys, *names]
    sheets: dict[str, Rows] = {}
    for title, names in pages.items():
        rows = [[row[header.index(name)] for name in names] for row in book]
        if title != "Assets":
            chance.shuffle(rows)
            if names[0] == "LoanX ID" and "Issuer Name" not in names and chance.random() < 0.3:
                rows = [[f" {row[0].lower()}\t", *row[1:]] for row in rows]
        if chance.random() < 0.5:
            rows.insert(len(rows) // 2, list(names))
        total = [None] * len(names)
        if "Par Amount" in names:
            total[names.index("Par Amount")] = sum(row[header.index("Par Amount")] for row in book)
        if chance.random() < 0.5 and len(names) > 1:
            total[0] = "Total"
        above: Rows = [["Example CLO II"], [title], ["As of: 16/12/2024"], []]
        sheets[title] = [*above[: chance.randrange(5)], names, *rows, total]
    return dict(sorted(sheets.items(), key=lambda _: chance.random()))


def test_a_book_that_is_split_into_pages_is_the_same_book_again(make_book: MakeBook) -> None:
    for seed in range(25):
        chance = random.Random(seed)
        header = list(FIELDS)
        book = [[make(chance, at) for make in FIELDS.values()] for at in range(chance.randrange(8, 40))]
        whole = values_of(Portfolio.from_workbook(make_book({"Holdings": [header, *book]})))
        portfolio = Portfolio.from_workbook(make_book(split(chance, header, book)))
        joined = values_of(portfolio)
        assert joined == whole, (
            seed,
            {
                loan_key: (joined.get(loan_key), whole[loan_key])
                for loan_key in whole
                if joined.get(loan_key) != whole[loan_key]
            },
        )
        assert set(codes(portfolio)) <= {"page_joined_by_name"}, (seed, portfolio.notes.warnings)


# ---- what pages are ------------------------------------------------------------------------------------------------

HEADER = ["LoanX ID", "Issuer", "Facility", "Par", "Price", "Maturity"]
LOANS: Rows = [
    ["LX100001", "Alpha Inc", "TL B", 100.0, 99.0, "2030-01-31"],
    ["LX100002", "Beta Inc", "TL B", 200.0, 98.0, "2031-01-31"],
    ["LX100003", "Gamma Inc", "TL C", 300.0, 97.0, "2032-01-31"],
    ["LX100004", "Delta Inc", "TL C", 400.0, 60.0, "2032-01-31"],
]  # fmt: skip
BONDS: Rows = [["XS1111111119", "Omega SA", "Notes 2030", 50.0, 90.0, "2030-01-31"]]


def joined(make_book: MakeBook, **sheets: Rows) -> Portfolio:
    return Portfolio.from_workbook(make_book({"Loans": [HEADER, *LOANS], **sheets}))


@every(
    "rows, part, by, expected",
    [
        # By an identifier that another column has; LoanX ids under a header for ISINs.
        ([["ISIN", "S&P Rating"], ["LX100001", "B"], ["LX100004", "D"]], "joined", {"loanx_id": 2},
         ["page_loans_without_row"]),
        # By names, where no identifier stands; the same facility of two borrowers is two loans.
        (
            [["Issuer", "Facility", "S&P Rating"], ["BETA INC.", "TL B", "B"], ["Alpha", "T/L B", "B-"]],
            "joined", {"borrower and facility": 2}, ["page_joined_by_name", "page_loans_without_row"],
        ),
        # A name alone joins rows of one par, and none that stands twice.
        (
            [["Issuer", "Par", "S&P Rating"], ["Alpha Inc", 100.0, "B"], ["Beta Inc", 999.0, "B"]],
            "joined", {"borrower": 1}, ["page_rows_without_loan", "page_joined_by_name"],
        ),
        ([["Facility", "S&P Rating"], ["TL B", "B"]], "left out", {}, []),
        # An identifier that was cut.
        (
            [["Identifier", "Issuer", "S&P Rating"], ["LX10000", "Alpha Inc", "B"]],
            "joined", {"borrower": 1}, ["page_joined_by_name"],
        ),
        # What other loans than these are about, and the page of another day.
        ([["LoanX ID", "Issuer", "Par"], ["LX100001", "Alpha Inc", 1.0], ["LX100002", "B", 2.0]], "left out", {},
         ["page_left_out"]),
        ([["LoanX ID", "S&P Rating"], ["LX999999", "B"]], "left out", {}, []),
        # Contracts: several rows a loan; a blank is filled, a difference told and left alone.
        (
            [["LoanX ID", "Par", "Spread"], ["LX100001", 60.0, 300.0], ["LX100001", 40.0, 500.0]],
            "joined", {"loanx_id": 1}, [],
        ),
        ([["LoanX ID", "Price"], ["LX100001", 98.0], ["LX100002", 98.0]], "joined", {"loanx_id": 2}, ["page_conflict"]),
        # Rows that no loan has.
        (
            [["LoanX ID", "Spread"], ["LX100001", 300.0], ["LX1", 1.0], ["LX100002", 300.0], ["LX100003", 300.0]],
            "joined", {"loanx_id": 3}, ["page_rows_without_loan", "page_loans_without_row"],
        ),
    ],
)  # fmt: skip
def test_a_page_is_told_by_its_rows(
    make_book: MakeBook, rows: Rows, part: str, by: dict[str, int], expected: list[str]
) -> None:
    portfolio = joined(make_book, Page=rows)
    note = page(portfolio, "Page")
    assert (note.part, note.by, codes(portfolio)) == (part, by, expected), (note, portfolio.notes.warnings)
    assert portfolio.row_count == len(LOANS)
    assert portfolio.numbers["price"].tolist() == [99.0, 98.0, 97.0, 60.0]


def test_a_page_of_issuers_is_about_all_loans_of_each(make_book: MakeBook) -> None:
    """Unless it says something of one facility, or names an issuer twice."""
    again = [*LOANS, ["LX100005", "Alpha Inc", "TL D", 70.0, 95.0, "2033-01-31"]]
    issuers: Rows = [["Issuer", "S&P Issuer Rating"], ["Alpha, Inc.", "B"], ["Beta Inc", "B-"], ["Beta Inc", "CCC"]]
    for rows, ranks in ((issuers, [15, 0, 0, 0, 15]), ([[*row, 99.0] for row in issuers], [0, 0, 0, 0, 0])):
        header = [*rows[0][:2], "Price"][: len(rows[0])]
        portfolio = Portfolio.from_workbook(make_book({"Loans": [HEADER, *again], "Issuers": [header, *rows[1:]]}))
        read_ranks = portfolio.ranks.get("rating_agency_b", np.zeros(5, np.uint8))
        assert read_ranks.tolist() == ranks, portfolio.notes.warnings


@every("amount, by", [(170.0, {"borrower": 3, "borrower of several loans": 2}), (171.0, {"borrower": 3})])
def test_the_par_of_an_issuer_is_that_of_its_loans(make_book: MakeBook, amount: float, by: dict[str, int]) -> None:
    again = [*LOANS, ["LX100005", "Alpha Inc", "TL D", 70.0, 95.0, "2033-01-31"]]
    sums = [["Obligor", "Principal Balance", "Country"], ["Alpha Inc", amount, "US"]]
    sums += [[row[1], row[3], "US"] for row in LOANS[1:]]
    portfolio = Portfolio.from_workbook(make_book({"Loans": [HEADER, *again], "Largest Obligors": sums}))
    assert page(portfolio, "Largest Obligors").by == by
    assert ("page_rows_ambiguous" in codes(portfolio)) == (len(by) == 1)


def test_a_blank_flag_is_no_answer(make_book: MakeBook) -> None:
    """Another page's yes counts; a no of the first page stays, and is told."""
    flags = [[None, "N"], ["", None], ["Y", "-"], ["N", None]]
    loans = [[*row, *flag] for row, flag in zip(LOANS, flags, strict=True)]
    attributes = [[row[0], "Yes", "No"] for row in LOANS]
    portfolio = Portfolio.from_workbook(
        make_book(
            {
                "Loans": [[*HEADER, "Defaulted", "Cov-Lite"], *loans],
                "Attributes": [["LoanX ID", "Defaulted Obligation", "Covenant Lite"], *attributes],
            }
        )
    )
    assert portfolio.flags["is_defaulted"].tolist() == [1, 1, 1, 0]
    assert portfolio.flags["cov_lite"].tolist() == [0, 0, 0, 0]
    note = page(portfolio, "Attributes")
    assert (note.filled, note.conflicts) == ({"is_defaulted": 2, "cov_lite": 2}, {"is_defaulted": 1})


def test_a_second_lien_by_a_column_of_its_own(make_book: MakeBook) -> None:
    rows = [[*row, "Senior Secured", flag] for row, flag in zip(LOANS, ["FALSE", "TRUE", None, True], strict=True)]
    portfolio = Portfolio.from_workbook(make_book({"L": [[*HEADER, "Security_Level", "Is_Second_Lein"], *rows]}))
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == [1, 2, 1, 2]
    assert "is_second_lien" not in portfolio.flags


def test_contracts_are_added_up(make_book: MakeBook) -> None:
    rows: Rows = [["LoanX ID", "Par", "Spread"], ["LX100001", 60.0, 300.0], ["LX100001", 40.0, 500.0]]
    portfolio = joined(make_book, Contracts=rows)
    assert portfolio.numbers["spread"][0] == pytest.approx(380.0)
    assert page(portfolio, "Contracts").lots == 2
    assert portfolio.numbers["par_value"].tolist() == [100.0, 200.0, 300.0, 400.0]


def test_a_list_says_something_of_its_loans_by_its_title(make_book: MakeBook) -> None:
    listed: Rows = [["Example CLO"], ["Defaulted Obligations"], [], ["Identifier", "Issuer", "Price"]]
    portfolio = joined(make_book, List=[*listed, ["LX100004", "Delta Inc", 60.0]])
    assert portfolio.flags["is_defaulted"].tolist() == [0, 0, 0, 1]
    assert page(portfolio, "List").part == "list"
    none = joined(make_book, List=[*listed, ["None"]])
    assert none.flags["is_defaulted"].tolist() == [0, 0, 0, 0]
    titled = joined(make_book, List=[["Non-Defaulted Obligations"], listed[-1], ["LX100004", "Delta Inc", 60.0]])
    assert "is_defaulted" not in titled.flags


def test_a_second_list_is_part_of_the_pool(make_book: MakeBook) -> None:
    ratings = [["Identifier", "S&P Rating"], ["XS1111111119", "B"], ["LX100001", "BB"]]
    portfolio = joined(make_book, Bonds=[HEADER, *BONDS], Ratings=ratings)
    assert portfolio.numbers["par_value"].tolist() == [100.0, 200.0, 300.0, 400.0, 50.0]
    assert portfolio.ranks["rating_agency_b"].tolist() == [12, 0, 0, 0, 15]
    assert page(portfolio, "Bonds").par_without_loan == 50.0
    assert codes(portfolio) == ["second_loan_sheet"]
    # What was bought and sold is none, whatever it looks like.
    traded = joined(make_book, Purchases=[HEADER, *BONDS])
    assert (traded.row_count, codes(traded)) == (4, ["page_left_out"])
    # Classes of notes are none.
    notes = [["Issuer", "CUSIP", "Par", "Price"], *(["Class " + letter, None, 5e6, 99.0] for letter in "ABCD")]
    assert joined(make_book, Securities=notes).row_count == 4
    alone = Portfolio.from_workbook(make_book({"Report": notes}))
    assert (alone.row_count, alone.notes.holdings_found) == (0, False)


def test_pages_are_joined_by_letters_and_digits(make_book: MakeBook) -> None:
    rows: Rows = [["LoanX ID", "Spread"], ["lx-100001", 310.0], ["LX 100002", 320.0], ["'LX100003", 330.0]]
    portfolio = joined(make_book, Contracts=rows)
    assert portfolio.numbers["spread"].tolist()[:3] == [310.0, 320.0, 330.0]
    own: Rows = [["LoanX ID", "Issuer", "Par"], ["A-1 0", "Alder", 1.0], ["A-10", "Birch", 2.0]]
    own += [[f"B-{at}", f"Cedar {at}", 3.0] for at in range(5)]
    others: Rows = [["LoanX ID", "Spread"], ["A10", 310.0], *([f"B {at}", 320.0 + at] for at in range(5))]
    read_portfolio = Portfolio.from_workbook(make_book({"Holdings": own, "Contracts": others}))
    assert read_portfolio.numbers["spread"].tolist()[2:] == [320.0, 321.0, 322.0, 323.0, 324.0]
    assert np.isnan(read_portfolio.numbers["spread"][:2]).all(), "A10 may be either"


def test_of_many_pages_only_so_many_are_read(make_book: MakeBook) -> None:
    rows: Rows = [["LoanX ID", "S&P Rating"], *(["LX10000" + digit, "B"] for digit in "1234")]
    portfolio = joined(make_book, **{f"Page {at}": rows for at in range(PAGES_MAX + 5)})
    assert len(portfolio.notes.pages) == PAGES_MAX
    assert codes(portfolio) == ["page_left_out"]
    assert portfolio.notes.warnings[0].message.startswith("5 more sheets may say something of the loans")


@pytest.mark.parametrize("kind", ["one identifier", "each its own", "names"])
def test_a_page_of_many_rows_costs_what_its_rows_cost(make_book: MakeBook, kind: str) -> None:
    """Rows that could meet one another many times over.

    Both sides of the join, and a time that a square would pass.
    """
    count = 20_000
    loans: Rows = [[f"LX{at:06d}", f"Borrower {at}", "TL", 1.0, 99.0, "2030-01-31"] for at in range(count)]
    rows: dict[str, Rows] = {
        "one identifier": [["LX000001", 1.0 / count, 300.0]] * count,
        "each its own": [[f"LX{at:05d}", 1.0, 300.0] for at in range(count)],
        "names": [["Borrower 7", 1.0, 300.0]] * count,
    }
    header = ["Issuer" if kind == "names" else "LoanX ID", "Par", "Spread"]
    sheets = {"Loans": [HEADER, *loans], "Page": [header, *rows[kind]]}
    portfolio = Portfolio.from_workbook(make_book(sheets))
    assert portfolio.row_count == count
    assert np.isnan(portfolio.numbers.get("spread", np.full(count, np.nan))).sum() >= count - 1


@every(
    "name, rows, part",
    [
        # By the title, or by a rating of before.
        ("Rating Upgrades and Downgrades", [["LoanX ID", "Prior Rating", "Current Rating"], ["LX100001", "B", "CCC"]],
         "left out"),
        ("Changes", [["LoanX ID", "Previous S&P Rating", "S&P Rating"], ["LX100001", "B", "CCC"]], "left out"),
        ("Page", [["Watch List"], ["LoanX ID", "S&P Rating"], ["LX100001", "CCC"]], "left out"),
        # The ratings of all loans, with those of the month before beside them.
        (
            "Ratings",
            [["LoanX ID", "Prior Rating", "Current Rating"], *([row[0], "B", "CCC"] for row in LOANS)],
            "joined",
        ),
        ("Ratings", [["LoanX ID", "S&P Rating"], ["LX100001", "CCC"]], "joined"),
    ],
)  # fmt: skip
def test_a_page_of_changed_ratings_feeds_no_ratings(make_book: MakeBook, name: str, rows: Rows, part: str) -> None:
    portfolio = joined(make_book, **{name: rows})
    assert page(portfolio, name).part == part
    assert bool(portfolio.ranks) == (part == "joined")


def test_pages_of_trades_feed_no_par(make_book: MakeBook) -> None:
    unsettled = [["LoanX ID", "Issuer", "Par", "Price"], ["LX100001", "Alpha Inc", 100.0, 98.0],
                 ["LX100009", "New Inc", 50.0, 99.0]]  # fmt: skip
    for title in ("Unsettled Positions", "Pending", "Bought"):
        portfolio = joined(make_book, Page=[[title], *unsettled])
        assert portfolio.numbers["par_value"].tolist() == [100.0, 200.0, 300.0, 400.0]
        assert page(portfolio, "Page").part == "left out"


def test_files_of_a_deal_join_by_its_own_ids(make_book: MakeBook) -> None:
    """Assets, positions in lots and ratings.

    An asset without a position is none of the pool's.
    """
    assets: Rows = [["Asset ID", "Issuer", "Asset Name", "CUSIP", "Maturity Date"]]
    assets += [
        [f"4-{at}", f"{name} Inc", "TL B", cusip, "2030-01-31"]
        for at, (name, cusip) in enumerate(
            [("Alpha", "44263LAB9"), ("Beta", None), ("Gamma", "25555EBB0"), ("Old", None)]
        )
    ]
    positions: Rows = [["Asset ID", "Par Amount", "Spread"], ["4-0", 60_000.25, 4.0], ["4-0", 40_000.0, 5.0],
                       ["4-1", 200_000.75, 3.0], ["4-2", 300_000.0, 3.0]]  # fmt: skip
    ratings: Rows = [["Asset ID", "S&P Rating"], ["4-2", "CCC"], ["4-1", "B"], ["4-0", "BB"]]
    portfolio = Portfolio.from_workbook(make_book({"Assets": assets, "Positions": positions, "Ratings": ratings}))
    assert portfolio.numbers["par_value"].sum() == 600_001.0
    assert len(set(portfolio.names["obligor"].codes.tolist())) == 3
    by_par = np.bincount(portfolio.ranks["rating_agency_b"], portfolio.numbers["par_value"], minlength=20)
    assert by_par[[12, 15, 18]].tolist() == [100_000.25, 200_000.75, 300_000.0]


def test_contracts_in_whole_units_are_of_the_same_day(make_book: MakeBook) -> None:
    loans = [
        [f"LX10000{at}", f"Company {at}", "TL", 1_000_000.37 + 1_111.11 * at, 99.0, "2030-01-31"] for at in range(8)
    ]
    rows = [[row[0], round(part * row[3]), 300.0] for row in loans for part in (0.25, 0.25, 0.5)]
    sheets = {"Loans": [HEADER, *loans], "Contracts": [["LoanX ID", "Par", "Spread"], *rows]}
    portfolio = Portfolio.from_workbook(make_book(sheets))
    assert portfolio.numbers["spread"].tolist() == [300.0] * 8
    assert codes(portfolio) == []
    other_day = [[row[0], row[1] + 3.0, row[2]] for row in rows]
    portfolio = Portfolio.from_workbook(make_book(sheets | {"Contracts": [["LoanX ID", "Par", "Spread"], *other_day]}))
    assert page(portfolio, "Contracts").part == "left out"


def test_rows_that_fit_several_loans_are_told(make_book: MakeBook) -> None:
    rows: Rows = [["Facility", "S&P Rating"], ["TL B", "B"], ["TL C", "B"], ["TL C", "CCC"]]
    again = [*LOANS, ["LX100005", "Omega Inc", "TL D", 70.0, 95.0, "2033-01-31"]]
    rows += [["TL D", "B-"]]
    portfolio = Portfolio.from_workbook(make_book({"Loans": [HEADER, *again], "Page": rows}))
    note = page(portfolio, "Page")
    assert (note.by, note.ambiguous, note.rows_without_loan) == ({"facility": 1}, 3, 3)
    assert "page_rows_ambiguous" in codes(portfolio)
    warning = next(candidate for candidate in portfolio.notes.warnings if candidate.code == "page_rows_ambiguous")
    assert warning.rows == 3
    assert "rating_agency_b" in warning.fields
    assert portfolio.ranks["rating_agency_b"].tolist() == [0, 0, 0, 0, 16]


@every("header, liens", [("Lien", [1, 2, 3, 4]), ("Instrument Type", [1, 1, 4, 4])])
def test_a_lien_wins_over_a_kind_of_asset(make_book: MakeBook, header: str, liens: list[int]) -> None:
    """Unless the page says only what kind of asset each is, too.

    What it leaves blank stays.
    """
    kinds = ["Term Loan", "Term Loan", "Bond", "Bond"]
    loans = [[*row, kind] for row, kind in zip(LOANS, kinds, strict=True)]
    rows = [[row[0], kind] for row, kind in zip(LOANS, ["First Lien", "Second Lien", "Unsecured", None], strict=True)]
    portfolio = Portfolio.from_workbook(
        make_book(
            {
                "Loans": [[*HEADER, "Asset Type"], *loans],
                "Page": [["LoanX ID", header, "Cov-Lite"], *([*row, "Y"] for row in rows)],
            }
        )
    )
    assert portfolio.lien is not None
    assert portfolio.lien.tolist() == liens
    if header == "Lien":
        assert portfolio.flags["is_bond"].tolist() == [0, 0, 1, 1]


def test_the_largest_obligors_name_no_obligor_of_some_loans(make_book: MakeBook) -> None:
    loans = [[f"LX10000{at}", f"Company {at // 2} Inc TL {at}", 1e6 + at, "2030-01-31"] for at in range(8)]
    top: Rows = [["Obligor", "Principal Balance", "Country"]]
    top += [[f"Company {at} Inc", 2e6 + 4 * at + 1, "US"] for at in range(2)]
    portfolio = Portfolio.from_workbook(
        make_book({"Loans": [["LoanX ID", "Security Description", "Par", "Maturity"], *loans], "Largest": top})
    )
    note = page(portfolio, "Largest")
    assert note.by == {"borrower of several loans": 4}
    assert note.fields == ["country"], "four loans would have an obligor, and the others none"
