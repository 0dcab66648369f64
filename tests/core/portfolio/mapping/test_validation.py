"""A workbook under a mapping's rules.

Rows, units and faults of its loans, with what its other sheets say of them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from core.grid.sheet import Workbook
from core.portfolio.mapping.normalise import NormalisedRows
from core.portfolio.mapping.profiles.configure import configure_mapping
from core.portfolio.mapping.validation import validate
from core.portfolio.model.fields import PROFILES, Mapping
from tests.core.portfolio.mapping.test_normalise import OWN, fault_places, mapping

MakeBook = Callable[..., Workbook]

HEADER = ["LoanX ID", "Issuer", "Par", "Price", "Spread", "Maturity", "Moody's Rating", "Desk"]


def of_sheet(make_book: MakeBook, rows: list[list[Any]], own: Mapping = PROFILES["standard_clo"]) -> NormalisedRows:
    validated = validate(make_book({"Holdings": rows}), own)
    assert validated is not None
    return validated


def test_a_sheet_s_rows_have_their_own_numbers_and_the_reader_s_units(make_book: MakeBook) -> None:
    validated = of_sheet(
        make_book,
        [
            ["Some deal"],
            [],
            HEADER,
            ["LX100001", "Alpha", 1_000.0, 0.985, 0.035, date(2031, 9, 5), "B2", "east"],
            ["LX100002", "Beta", "n.a.", 0.99, 0.04, "2031-01-31", "B3", "west"],
            ["LX100003", None, "oops", "#N/A", 0.0425, "someday", "NR", None],
            ["Total", None, 1_000.0],
        ],
    )
    assert validated.row_numbers.tolist() == [4, 5, 6]
    assert [row["par_value"] for row in validated.rows()] == [1_000.0, None, None]
    assert [row["price"] for row in validated.rows()] == [98.5, 99.0, None]
    assert [row["spread"] for row in validated.rows()] == [350.0, 400.0, 425.0]
    assert [row["maturity_date"] for row in validated.rows()] == ["2031-09-05", "2031-01-31", None]
    assert fault_places(validated.errors) == [
        (5, "par_value", "required"),
        (6, "borrower_name", "required"),
        (6, "maturity_date", "type"),
        (6, "par_value", "type"),
    ]
    assert fault_places(validated.warnings) == [(6, "price", "error_cell")]
    assert validated.unmapped_columns == ["Desk"]
    assert "loan_id" not in validated.missing_columns
    assert "price" not in validated.missing_columns
    assert "industry" in validated.missing_columns


def test_a_sheet_by_a_mapping_with_transforms_is_not_guessed_about(make_book: MakeBook) -> None:
    own = configure_mapping(
        {
            "source_type": "custom",
            "profile_id": "standard_clo",
            "mappings": {"Desk": {"target": "desk"}},
            "transforms": [
                {"field": "price", "operation": "multiply", "parameters": {"factor": 100}},
                {"field": "par_value", "operation": "multiply", "parameters": {"factor": 1000}},
                {"field": "spread", "operation": "round", "parameters": {"decimals": 1}},
            ],
        },
        id="map_1",
        name="Own",
    )
    rows = [HEADER, *([f"LX10000{at}", "Alpha", 1.5, 1.25, 3.04, None, "B2", "east"] for at in range(3))]
    validated = of_sheet(make_book, rows, own)
    assert validated.rows()[0] == {
        "loanx_id": "LX100000",
        "borrower_name": "Alpha",
        "par_value": 1500.0,
        "price": 125.0,
        "spread": 3.0,
        "rating_agency_a": "B2",
        "maturity_date": None,
        "desk": "east",
    }


def test_a_sheet_of_one_s_own_fields(make_book: MakeBook) -> None:
    rows = [
        ["Loan No", "Amount", "Ends", "Place"],
        ["no 1", 1.0, date(2031, 9, 5), "de"],
        ["no 2", "nil", "05.09.2031", None],
        [None, None, None, None],
        ["x", 2.0, "5.9.31", "it"],
    ]
    validated = of_sheet(make_book, rows, OWN)
    assert validated.row_numbers.tolist() == [2, 3, 5]
    assert [row["amount"] for row in validated.rows()] == [125.0, 0.0, 250.0]
    assert [row["ends"] for row in validated.rows()] == ["2031-09-05", "2031-09-05", None]
    assert fault_places(validated.errors) == [
        (5, "amount", "range"),
        (5, "ends", "type"),
        (5, "loan", "regex"),
        (5, "place", "enum"),
    ]


@pytest.mark.parametrize("kind", ["string", "date", "boolean"])
def test_a_sheet_whose_par_is_no_number_to_its_mapping(make_book: MakeBook, kind: str) -> None:
    """A mapping of one's own may give any target any type.

    Which rows are loans is told all the same.
    """
    own = mapping(
        mappings={
            "Size": {"target": "par_value", "type": kind},
            "Name": {"target": "borrower_name"},
            "LoanX ID": {"target": "loanx_id"},
            "Mark": {"target": "price", "type": "number"},
        }
    )
    rows = [["Size", "Name", "LoanX ID", "Mark"], [1, "Alpha", "LX100001", 990.0], [1, "Beta", "LX100002", 985.0]]
    validated = of_sheet(make_book, rows, own)
    assert [row["borrower_name"] for row in validated.rows()] == ["Alpha", "Beta"]
    assert [row["price"] for row in validated.rows()] == [990.0, 985.0]
    assert validated.columns["par_value"].type == kind


def test_a_merged_borrower_is_filled_down(make_book: MakeBook) -> None:
    rows = [HEADER, ["LX100001", "Alpha", 1.0, 99.0], ["LX100002", None, 2.0, 98.0], ["LX100003", None, None, 98.0]]
    validated = of_sheet(make_book, rows)
    assert [row["borrower_name"] for row in validated.rows()][:2] == ["Alpha", "Alpha"]
    assert fault_places(validated.errors) == [(4, "borrower_name", "required"), (4, "par_value", "required")]


def test_prices_in_currency_become_percent_of_par(make_book: MakeBook) -> None:
    rows = [HEADER, *([f"LX10000{at}", "Alpha", 1_000.0, 985.0, 350.0] for at in range(4))]
    assert {row["price"] for row in of_sheet(make_book, rows).rows()} == {98.5}


def test_what_other_sheets_say_is_joined(make_book: MakeBook) -> None:
    """A field that only a page has is not missing, and a blank that it fills is none.

    The rest are told by row.
    """
    own = configure_mapping(
        {
            "source_type": "clo_holdings",
            "profile_id": "standard_clo",
            "mappings": {"Obligor": {"target": "borrower_name", "required": True}},
            "validation_rules": [{"field": "price", "rule": "required"}],
        },
        id="map_1",
        name="Own",
    )
    first = [["LoanX ID", "Par", "Price"], ["LX100000", 1.0, None], ["LX100001", 2.0, None]]
    page = [["LoanX ID", "Obligor", "Price"], ["LX100000", "Alpha", 99.0]]
    book = make_book({"Holdings": first, "Names": page})
    validated = validate(book, own)
    assert validated is not None
    assert validated.missing_required_columns == []
    assert [row["borrower_name"] for row in validated.rows()] == ["Alpha", None]
    assert fault_places(validated.errors) == [(3, "borrower_name", "required"), (3, "price", "required")]
    alone = validate(book, own, sheet="Holdings")
    assert alone is not None
    assert alone.missing_required_columns == ["borrower_name"]
    with pytest.raises(KeyError):
        validate(book, own, sheet="Nowhere")
    assert validate(make_book({"Sheet1": [["hello"]]}), own) is None


def test_a_servicer_s_snapshot(make_book: MakeBook) -> None:
    rows = [["Loan ID", "Principal Balance", "Interest Rate", "Days Open"], ["L1", 5.0, 0.05, 3], ["L2", 6.0, "x", 4]]
    validated = of_sheet(make_book, rows, PROFILES["standard_servicer"])
    assert [row["principal_balance"] for row in validated.rows()] == [5.0, 6.0]
    assert fault_places(validated.errors) == [(3, "interest_rate", "type")]
