"""Borrowers in the names of facilities.

Split by what parts them over the whole column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.compliance.run import run_suite
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]

PAIRS = [("Acme Holdings GmbH", "Facility B Loan"), ("Acme Holdings GmbH", "Revolver"),
         ("Beta (Luxembourg) S.a.r.l.", "Incremental Term Loan B-3"), ("Gamma Bidco", "TLB"),
         ("Delta 3 Oy", "3.625 04Feb28"), ("Epsilon PLC", "Seven-Year Term Loan B (EUR)")]  # fmt: skip


def named(portfolio: Portfolio, target: str) -> list[str | None]:
    names = portfolio.names[target]
    return [names.values[code] if code >= 0 else None for code in names.codes.tolist()]


def rows_of(texts: list[str]) -> list[list[Any]]:
    return [
        ["Security ID", "Description", "Principal Balance", "Maturity Date"],
        *([f"LX10000{at}", text, 1e6 + at, "2030-01-31"] for at, text in enumerate(texts)),
    ]


def warning_rows(portfolio: Portfolio) -> dict[str, int | None]:
    return {warning.code: warning.rows for warning in portfolio.notes.warnings if warning.code.startswith("names_")}


@every("separator", [" - ", " \u2013 ", " / ", ": ", " | ", ", "])
def test_issuer_and_facility_in_one_cell_are_two(map_rows: MapRows, separator: str) -> None:
    portfolio = map_rows(rows_of([separator.join(pair) for pair in PAIRS]))
    assert named(portfolio, "borrower_name") == [borrower for borrower, _ in PAIRS]
    assert named(portfolio, "facility_name") == [facility for _, facility in PAIRS]
    assert warning_rows(portfolio) == {"names_split": len(PAIRS)}
    assert portfolio.notes.missing_required == []
    assert portfolio.notes.matched_columns["borrower_name"] == "Description"
    ran = run_suite(portfolio, test_ids=["single_obligor_concentration"])
    assert ran[0].current_value is not None
    assert "ambiguous_column" not in [doubt.code for doubt in ran[0].doubt]


@every(
    "text, borrower, facility",
    [
        ("Zeta - Ost Holding AG - Term Loan B", "Zeta - Ost Holding AG", "Term Loan B"),
        ("Zeta SAS - 2023 - Facility B", "Zeta SAS", "2023 - Facility B"),
        ("Zeta AG - Term Loan B - EUR", "Zeta AG", "Term Loan B - EUR"),
        ("Zeta Oy - Zeta Oy - 3.625 04Feb28", "Zeta Oy", "3.625 04Feb28"),
        ("Zeta Inc - 9th Amendmnt", "Zeta Inc", "9th Amendmnt"),
        ("Zeta-Ost Inc - Tlb", "Zeta-Ost Inc", "Tlb"),
        ("Gamma Bidco - Zeta - other words", "Gamma Bidco", "Zeta - other words"),
    ],
)
def test_what_parts_a_name(map_rows: MapRows, text: str, borrower: str, facility: str) -> None:
    portfolio = map_rows(rows_of([*(" - ".join(pair) for pair in PAIRS), text]))
    assert (named(portfolio, "borrower_name")[-1], named(portfolio, "facility_name")[-1]) == (borrower, facility)


def test_footnote_marks_go_with_neither_name(map_rows: MapRows) -> None:
    texts = [
        "Acme Inc - Term Loan B(1)(2)",
        "Beta Inc - Revolver (b)",
        "Gamma Inc(a) - Revolver",
        "Delta Inc - Term Loan (B)",
    ]
    portfolio = map_rows(rows_of(texts))
    assert named(portfolio, "borrower_name") == ["Acme Inc", "Beta Inc", "Gamma Inc", "Delta Inc"]
    assert named(portfolio, "facility_name") == ["Term Loan B", "Revolver", "Revolver", "Term Loan (B)"]


def test_a_name_that_does_not_part_is_told(map_rows: MapRows) -> None:
    portfolio = map_rows(rows_of([*(" - ".join(pair) for pair in PAIRS), "Zeta Holdings"]))
    assert named(portfolio, "borrower_name")[-1] == "Zeta Holdings"
    assert named(portfolio, "facility_name")[-1] is None
    assert warning_rows(portfolio) == {"names_split": len(PAIRS), "names_not_split": 1}
    ran = run_suite(portfolio, test_ids=["single_obligor_concentration"])
    assert "ambiguous_column" in [doubt.code for doubt in ran[0].doubt]


def test_words_of_an_instrument_behind_a_name_part_it_with_a_doubt(map_rows: MapRows) -> None:
    texts = ["Acme Holdings Term Loan B", "Acme Holdings Revolver", "Beta Inc 1L TLB", "Gamma LLC First Lien Term Loan"]
    portfolio = map_rows(rows_of(texts))
    assert named(portfolio, "borrower_name") == ["Acme Holdings", "Acme Holdings", "Beta Inc", "Gamma LLC"]
    assert warning_rows(portfolio) == {"names_split": 4, "names_not_split": 4}


@every(
    "texts",
    [
        ["Term Loan B", "Revolver", "First Lien Term Loan", "Delayed Draw Term Loan"],
        ["Term Loan - B", "Term Loan - C", "Revolver - A", "TL - EUR"],
        ["Acme Holdings", "Beta Inc", "Gamma LLC", "Delta"],
        ["Acme - Ost", "Beta - West", "Gamma - Nord", "Delta - Sud"],
    ],
)
def test_what_names_no_borrower_and_facility_is_not_split(map_rows: MapRows, texts: list[str]) -> None:
    portfolio = map_rows(rows_of(texts))
    assert "borrower_name" not in portfolio.names
    assert not warning_rows(portfolio)
    assert named(portfolio, "facility_name") == texts


def test_a_column_of_borrowers_with_their_facilities_is_split(map_rows: MapRows) -> None:
    rows = rows_of([" - ".join(pair) for pair in PAIRS])
    portfolio = map_rows([["Security ID", "Issuer", *rows[0][2:]], *rows[1:]])
    assert named(portfolio, "borrower_name") == [borrower for borrower, _ in PAIRS]
    assert named(portfolio, "facility_name") == [facility for _, facility in PAIRS]
    # A column of facilities stays.
    portfolio = map_rows([["Security ID", "Issuer", *rows[0][2:], "Facility"], *([*row, "TL"] for row in rows[1:])])
    assert named(portfolio, "borrower_name") == [borrower for borrower, _ in PAIRS]
    assert named(portfolio, "facility_name") == ["TL"] * len(PAIRS)
    # A company may have a sign, and a word for loans, in its name.
    names = ["Acme Credit - Loan Services Ltd", "Beta Inc", "Gamma Bond Holdings", "Delta LLC", "Epsilon Term Ltd"]
    portfolio = map_rows(
        [["Security ID", "Issuer", *rows[0][2:]], *([a, n, *r] for n, (a, _, *r) in zip(names, rows[1:], strict=False))]
    )
    assert named(portfolio, "borrower_name") == names


def test_a_column_of_borrowers_counts(map_rows: MapRows) -> None:
    rows = rows_of([" - ".join(pair) for pair in PAIRS])
    parents = ["Issuer", *(f"Parent {borrower[:5]} Holdings" for borrower, _ in PAIRS)]
    portfolio = map_rows([[*row, parents[at]] for at, row in enumerate(rows)])
    assert named(portfolio, "borrower_name") == parents[1:]
    assert named(portfolio, "facility_name")[0] == " - ".join(PAIRS[0])


def test_a_column_of_sponsors_names_no_borrowers(map_rows: MapRows) -> None:
    rows = rows_of([" - ".join(pair) for pair in PAIRS])
    sponsors = ["Alder Equity Partners" if at % 2 else "Founder Owned" for at in range(len(rows))]
    portfolio = map_rows([[*row, sponsors[at] if at else "Issuer"] for at, row in enumerate(rows)])
    assert named(portfolio, "borrower_name") == [borrower for borrower, _ in PAIRS]
    assert warning_rows(portfolio) == {"names_split": len(PAIRS), "names_not_split": len(PAIRS)}


def test_pages_join_by_the_whole_description(make_book: Callable[..., Workbook]) -> None:
    texts = [" - ".join(pair) for pair in PAIRS]
    first = [row[1:] for row in rows_of(texts)]
    second = [
        ["Description", "S&P Rating", "Country"],
        *([text, rating, "France"] for text, rating in zip(texts, "BBBCCC", strict=True)),
    ]
    portfolio = Portfolio.from_workbook(make_book({"Assets": first, "Ratings": second}))
    assert named(portfolio, "borrower_name") == [borrower for borrower, _ in PAIRS]
    assert portfolio.names["rating_agency_b"].codes.min() >= 0


def warning_counts(portfolio: Portfolio) -> dict[str, int]:
    """Return code -> rows of every warning."""
    return {warning.code: warning.rows for warning in portfolio.notes.warnings}


def test_names_of_facilities_say_junior_liens_where_a_column_says_the_kind_of_asset(map_rows: MapRows) -> None:
    header = ["Issuer", "Facility Name", "Asset Type", "Par", "Maturity"]
    facilities = ["Term Loan B", "Second Lien Term Loan", "2nd Lien Loan", "Delayed Draw"]
    rows = [[f"Acme {at} Inc", name, "Term Loan", 1e6 + at, "2030-01-31"] for at, name in enumerate(facilities)]
    portfolio = map_rows([header, *rows])
    assert portfolio["lien_type"].tolist() == ["first_lien", "second_lien", "second_lien", "first_lien"]
    assert warning_counts(portfolio)["lien_of_names"] == 2
    ran = run_suite(portfolio, test_ids=["non_senior_secured_concentration"])
    assert "stand_in" in [doubt.code for doubt in ran[0].doubt]

    header[2] = "Lien Type"
    named_column = map_rows([header, *[[*row[:2], "First Lien", *row[3:]] for row in rows]])
    assert set(named_column["lien_type"]) == {"first_lien"}
    assert "lien_of_names" not in warning_counts(named_column)


def test_names_of_facilities_stand_in_for_a_column_of_liens_where_nearly_all_say_one(map_rows: MapRows) -> None:
    header = ["Issuer", "Facility Name", "Par", "Maturity"]
    facilities = ["First lien senior secured loan", "Second lien senior secured loan", "Unitranche", "1L Revolver"]
    rows = [[f"Acme {at} Inc", name, 1e6 + at, "2030-01-31"] for at, name in enumerate(facilities)]
    portfolio = map_rows([header, *rows])
    assert portfolio["lien_type"].tolist() == ["first_lien", "second_lien", "first_lien", "first_lien"]
    assert warning_counts(portfolio)["lien_of_names"] == 4
    few = map_rows([header, *rows[:1], *[[*row[:1], "Term Loan", *row[2:]] for row in rows[1:]]])
    assert "lien_type" not in few
