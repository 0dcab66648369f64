"""Identifiers by kind, lots to positions, names to obligors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.portfolio import Portfolio
from core.portfolio.cells import text_cells
from core.portfolio.cells._parse import (
    CUSIP,
    DESTROYED,
    ISIN,
    LOANX,
    OTHER,
    SHORT_CUSIP,
    identifier_kinds,
)
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.pages.identify import name_keys
from tests.rows import every

MapRows = Callable[..., Portfolio]


def named(portfolio: Portfolio, target: str) -> list[str | None]:
    names = portfolio.names[target]
    return [names.values[code] if code >= 0 else None for code in names.codes.tolist()]


def keys(*names: str) -> list[str | None]:
    column = TextColumn(*text_cells.pool_of(list(names)))
    keyed = name_keys(column)
    strings = keyed.text.strings()
    return [strings[code] if code >= 0 else None for code in keyed.codes.tolist()]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Acme Corp.", "ACME"),
        ("ACME CORPORATION", "ACME"),
        ("acme corp", "ACME"),
        ("Acme, Inc.", "ACME"),
        ("Acme (US) LLC", "ACME"),
        ("Acme Company, Inc.", "ACME"),
        ("Acme dba Wile", "ACME"),
        ("Acme D/B/A Wile", "ACME"),
        ("Acme f/k/a Old, LLC", "ACME"),
        ("Acme Holdings, L.P.", "ACME HOLDINGS"),
        ("Acme Bidco GmbH", "ACME BIDCO"),
        ("ZIGGO B.V.", "ZIGGO"),
        ("Foo S.A.R.L.", "FOO"),
        ("Foo S.à r.l.", "FOO"),
        ("Foo SARL", "FOO"),
        ("Foo S.p.A.", "FOO"),
        ("Société Générale SA", "SOCIETE GENERALE"),
        ("Müller GmbH", "MULLER"),
        ("AT&T Inc", "AT AND T"),
        ("AT and T", "AT AND T"),
        ("U.S. Foods", "US FOODS"),
        ("US Foods", "US FOODS"),
        ("Moody’s", "MOODY S"),
        ("Moody's", "MOODY S"),
        ("Corp", "CORP"),
        ("The Company", "THE"),
        ("Wholesale, The", "WHOLESALE"),
        ("Co-Op  Ltd", "CO OP"),
        ("A [x [y]] B", "A B"),
        ("A (B", "A B"),
        ("Straße AG", "STRASSE"),
        ("Ωmega Ltd", "ΩMEGA"),
    ],
)
def test_names_that_are_one_company(name: str, key: str) -> None:
    assert keys(name) == [key]


def test_a_name_of_signs_keeps_itself() -> None:
    assert keys("(all)", "...", "") == ["(all)", "...", None]


def test_hundreds_of_open_brackets_are_read_once() -> None:
    assert keys("(" * 200_000 + "A") == ["A"]


@given(st.lists(st.text(st.characters(categories=("L", "N", "P", "S", "M")), max_size=30), min_size=1, max_size=8))
def test_a_key_does_not_depend_on_its_company(names: list[str]) -> None:
    assert keys(*names) == [keys(name)[0] for name in names]


def kinds(*texts: str, cusip_first: bool = False) -> list[int]:
    codes, text = text_cells.pool_of(list(texts))
    return identifier_kinds(text.offsets, text.data, cusip_first)[codes].tolist()


def check_digit(eight: str) -> int:
    """The definition: values of characters, every second doubled, digits summed."""
    values = [int(sign, 36) * (2 if at % 2 else 1) for at, sign in enumerate(eight)]
    return -sum(value // 10 + value % 10 for value in values) % 10


@given(st.text("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=8, max_size=8), st.integers(0, 9))
def test_cusips_by_their_check_digit(eight: str, digit: int) -> None:
    """Nine zeros fit, and stand for an unknown one."""
    expected = CUSIP if digit == check_digit(eight) and eight != "00000000" else OTHER
    assert kinds(f"{eight}{digit}", cusip_first=True) == [expected]


def test_kinds_of_identifiers() -> None:
    assert kinds("037833100", "US0378331005", "LX131555", "LX12345", "LX28443T7", "37833100", "1.23E+08", "1E+10") == [
        CUSIP,
        ISIN,
        LOANX,
        LOANX,
        LOANX,
        SHORT_CUSIP,
        DESTROYED,
        DESTROYED,
    ]
    assert set(
        kinds("037833101", "US0378331006", "LX1234", "LX1234567", "LX28443T", "LX28443T77", "1E10", "", "ABC")
    ) == {OTHER}


def test_a_loanx_id_that_passes_for_a_cusip_is_what_its_column_says() -> None:
    both = next(
        f"LX{at:05d}T{digit}" for at in range(100) for digit in range(10) if digit == check_digit(f"LX{at:05d}T")
    )
    assert kinds(both) == [LOANX]
    assert kinds(both, cusip_first=True) == [CUSIP]


def test_identifiers_go_to_the_column_of_their_kind(map_rows: MapRows) -> None:
    rows = [
        ["LoanX ID / CUSIP", "Issuer", "Par"],
        ["lx131555", "A", 1.0],
        ["037833100", "B", 2.0],
        ["US0378331005", "C", 3.0],
        ["X-1", "D", 4.0],
    ]
    portfolio = map_rows(rows)
    assert named(portfolio, "loanx_id") == ["LX131555", None, None, "X-1"]
    assert named(portfolio, "cusip") == [None, "037833100", None, None]
    assert named(portfolio, "isin") == [None, None, "US0378331005", None]


def test_identifiers_in_groups_get_their_standard_form(map_rows: MapRows) -> None:
    rows = [
        ["LoanX ID / CUSIP", "Issuer", "Par"],
        ["lx 131555", "A", 1.0],
        ["037833-10-0", "B", 2.0],
        ["037833 10 0", "B", 4.0],
        ["'US 0378331005", "C", 3.0],
        ["A-1 0", "D", 4.0],
        ["A-10", "E", 5.0],
        ["12A456 7B x", "F", 6.0],
        ["\uff2c\uff38\uff11\uff13\uff11556", "G", 7.0],
        ["ACME 1ST LIEN", "H", 8.0],
    ]
    portfolio = map_rows(rows)
    assert named(portfolio, "loanx_id") == [
        "LX131555",
        None,
        None,
        "A-1 0",
        "A-10",
        "12A456 7B X",
        "LX131556",
        "ACME 1ST LIEN",
    ]
    assert [text for text in named(portfolio, "cusip") if text] == ["037833100"]
    assert [text for text in named(portfolio, "isin") if text] == ["US0378331005"]
    assert portfolio.numbers["par_value"].tolist() == [1.0, 6.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "two lots of one CUSIP"


def test_cusips_that_a_spreadsheet_took_for_numbers(map_rows: MapRows) -> None:
    rows = [
        ["CUSIP", "Issuer", "Par"],
        [37833100.0, "A", 1.0],
        ["37833100 ", "A", 2.0],
        ["1.23E+08", "B", 3.0],
        [1.2345e106, "C", 4.0],
        [594918104.0, "D", 5.0],
        ["12345678", "E", 6.0],
    ]
    portfolio = map_rows(rows)
    assert named(portfolio, "cusip") == ["037833100", None, None, "594918104", "12345678"]
    assert portfolio.numbers["par_value"].tolist() == [3, 3, 4, 5, 6]
    assert portfolio.notes.destroyed_identifiers == 2
    zeros = [warning.message for warning in portfolio.notes.warnings if warning.code == "leading_zeros"]
    assert [message.split()[0] for message in zeros] == ["2", "1"]


def test_lost_zeros_come_back_where_check_digits_prove_them(map_rows: MapRows) -> None:
    head = ["CUSIP", "Issuer", "Par"]
    rows = [[1513118.0, "A", 1.0], ["4880126", "B", 2.0], [10524122.0, "C", 3.0], ["35906EAT7", "D", 4.0]]
    assert named(map_rows([head, *rows]), "cusip") == ["001513118", "004880126", "010524122", "35906EAT7"]
    # Numbers of another kind, of which one in ten fits by chance, stay.
    others = [[float(number), f"Name {number}", 1.0] for number in range(1513115, 1513124)]
    portfolio = map_rows([head, *others])
    assert named(portfolio, "cusip") == [str(number) for number in range(1513115, 1513124)]
    assert [warning.rows for warning in portfolio.notes.warnings if warning.code == "leading_zeros"] == [9]


LOT_HEADER = [
    "CUSIP",
    "LoanX ID",
    "Issuer",
    "Par",
    "Price",
    "Spread",
    "Moody's Rating",
    "Cov-Lite",
    "Unfunded Amount",
    "Industry",
]


def test_lots_of_one_identifier_are_one_position(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [
            LOT_HEADER,
            ["037833100", "LX100001", "Small", 100.0, 90.0, 300.0, "B3", None, 5.0, "Retail"],
            ["594918104", None, "Other", 50.0, 99.0, 400.0, "B1", None, None, "Retail"],
            ["037833100", "LX100001", "Large", 300.0, None, 500.0, "B2", "Y", 7.0, "Wholesale"],
            ["037833100", "LX100001", "Short", -100.0, 70.0, 300.0, "B3", None, None, "Retail"],
            [None, "LX100002", "Third", 1.0, 99.0, 400.0, "B1", None, None, "Retail"],
        ]
    )
    assert portfolio.row_count == 3
    assert portfolio.numbers["par_value"].tolist() == [300, 50, 1]
    assert portfolio.numbers["spread"].tolist() == pytest.approx([(100 * 300 + 300 * 500 - 100 * 300) / 300, 400, 400])
    # The lots with a price net to nothing, so the largest lot's (none) stays.
    assert np.array_equal(portfolio.numbers["price"], [np.nan, 99, 99], equal_nan=True)
    assert np.array_equal(portfolio.numbers["unfunded"], [12, np.nan, np.nan], equal_nan=True)
    assert portfolio.ranks["rating_agency_a"].tolist() == [15, 14, 14]
    assert portfolio.flags["cov_lite"].tolist() == [1, 0, 0]
    assert named(portfolio, "borrower_name") == ["Large", "Other", "Third"]
    assert named(portfolio, "industry") == ["Wholesale", "Retail", "Retail"]
    assert (portfolio.notes.lots, portfolio.notes.conflicting_lots, portfolio.notes.negative_par_rows) == (
        3,
        1,
        1,
    )
    assert portfolio.lots is not None
    assert portfolio.conflicting is not None
    assert portfolio.lots.tolist() == [3, 1, 1]
    assert portfolio.conflicting.tolist() == [True, False, False]
    assert portfolio.sheet_rows is not None
    assert portfolio.sheet_rows.tolist() == [4, 3, 6], "of several lots the row of the largest"


def test_a_lot_without_its_cusip_is_known_by_its_loanx_id(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [
            ["LoanX ID", "CUSIP", "Issuer", "Par"],
            ["LX100001", None, "Acme", 1.0],
            ["LX100001", "037833100", "Acme", 2.0],
            ["LX100002", "594918104", "Bolt", 4.0],
            ["LX100002", "037833100", "Bolt", 8.0],
            ["LX100002", None, "Bolt", 16.0],
        ]
    )
    assert named(portfolio, "cusip") == ["037833100", "594918104", None], "LX100002 stands beside two CUSIPs"
    assert portfolio.numbers["par_value"].tolist() == [11, 4, 16]


def test_ratings_stay_as_they_are_written(map_rows: MapRows) -> None:
    portfolio = map_rows([["LoanX ID", "Issuer", "Par", "Moody's CFR"], ["LX100001", "Acme", 1.0, "B2 *-"]])
    assert named(portfolio, "rating_agency_a") == ["B2 *-"]
    assert portfolio.lots is portfolio.conflicting is None, "no position has lots"


def test_two_facilities_of_one_borrower_stay_two(map_rows: MapRows) -> None:
    portfolio = map_rows(
        [
            ["LoanX ID", "Issuer", "Par"],
            ["LX100001", "Acme Corp.", 3.0],
            ["LX100002", "ACME CORP", 1.0],
            [None, "Acme", 2.0],
            [None, "Acme", 2.0],
        ]
    )
    assert portfolio.row_count == 4
    assert len(set(portfolio.names["obligor"].codes.tolist())) == 1


def test_obligors_by_id_else_by_name(map_rows: MapRows) -> None:
    def obligors(*rows: list[Any]) -> list[str | None]:
        return named(map_rows([["Issuer ID", "Issuer", "Par"], *rows]), "obligor")

    assert obligors(["X", "Acme", 1.0], ["X", "Beta", 1.0]) == ["X", "X"]
    # A blank id takes that of its name elsewhere; a name under two ids does not say which.
    assert obligors(["X", "Acme Inc", 1.0], [None, "ACME", 1.0], [None, "Beta", 1.0]) == ["X", "X", "BETA"]
    assert obligors(["X", "Acme", 1.0], ["Y", "Acme", 1.0], [None, "Acme", 1.0]) == ["X", "Y", "ACME"]
    assert obligors([7.0, "Acme", 1.0], ["7", "Acme", 1.0]) == ["7", "7"]
    assert map_rows([["CUSIP", "Price", "Par", "Spread"], ["037833100", 99.0, 1.0, 300.0]]).names.keys() == {"cusip"}


@pytest.mark.parametrize("word", ["PRIVATE", "000000000", "Pending", "0"])
def test_a_placeholder_does_not_make_lots_of_loans_to_several_borrowers(map_rows: MapRows, word: str) -> None:
    header = ["CUSIP", "LoanX ID", "Issuer", "Par", "Price"]
    portfolio = map_rows(
        [header, [word, None, "Alpha", 1.0, 99], [word, "LX100001", "Beta", 2.0, 99], [word, None, "Gamma", 3.0, 99]]
    )
    assert portfolio.numbers["par_value"].tolist() == [1.0, 2.0, 3.0]
    assert named(portfolio, "cusip") == [None, None, None]
    assert portfolio.notes.placeholder_identifiers == 3


def test_an_own_identifier_of_one_borrower_makes_lots(map_rows: MapRows) -> None:
    header = ["Security ID", "Issuer", "Par", "Price"]
    rows = [["AB-17", "Alpha Inc", 1.0, 99], ["AB-17", "ALPHA INC.", 2.0, 99], ["AB-18", "Alpha Inc", 4.0, 99]]
    portfolio = map_rows([header, *rows])
    assert portfolio.numbers["par_value"].tolist() == [3.0, 4.0]
    assert portfolio.notes.placeholder_identifiers == 0
    facilities = [[row[0], *row[1:], name] for row, name in zip(rows, ["TL B", "TL C", "TL B"], strict=True)]
    portfolio = map_rows([["Asset ID", "Issuer", "Par", "Price", "Facility"], *facilities])
    assert portfolio.numbers["par_value"].tolist() == [1.0, 2.0, 4.0], "two facilities are no lots of one asset"
    # A CUSIP names one facility however its borrower is spelt.
    rows = [["037833100", "Alpha Holdings", 1.0, 99], ["037833100", "Alpha Borrower", 2.0, 99]]
    assert map_rows([header, *rows]).numbers["par_value"].tolist() == [3.0]


@pytest.mark.parametrize("figure", [1.23456e15, 1.23e15, 123456e9])
def test_a_number_with_a_spreadsheets_exponent_is_a_destroyed_identifier(map_rows: MapRows, figure: float) -> None:
    portfolio = map_rows([["CUSIP", "Issuer", "Par", "Price"], [figure, "A", 1.0, 99], ["037833100", "B", 1.0, 99]])
    assert named(portfolio, "cusip") == [None, "037833100"]
    assert portfolio.notes.destroyed_identifiers == 1


@every(
    "cells, fixed",
    [
        (["Y", "N", "No"], [True, False, False]),
        (["Yes", None, "N"], [True, False, False]),
    ],
)
def test_a_flag_of_fixed_rates_is_a_coupon_type(map_rows: MapRows, cells: list[str | None], fixed: list[bool]) -> None:
    rows = [[f"LX10000{at}", f"Name {at}", 1.0, cell] for at, cell in enumerate(cells)]
    portfolio = map_rows([["LoanX ID", "Issuer", "Par", "Fixed Rate (Y/N)"], *rows])
    assert portfolio["is_fixed"].tolist() == fixed
