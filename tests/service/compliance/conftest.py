"""Deals as xlsx files, uploaded to the running service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest

Rows = Sequence[Sequence[Any]]

HEADER = (
    "LoanX ID", "Issuer Name", "Industry", "Par Amount", "Market Price", "Moody's Rating", "S&P Rating", "Spread",
    "Floor", "Purchase Price", "Recovery Rate",
)  # fmt: skip
G1_LOANS: Rows = (
    ("LX000001", "Alpha", "High Tech Industries", 40e6, 99.50, "B1", "B+", 325, 0.50, None, None),
    ("LX000002", "Bravo", "Healthcare & Pharmaceuticals", 40e6, 98.75, "B2", "B", 375, 0.50, None, None),
    ("LX000003", "Charlie", "Services: Business", 40e6, 97.00, "B2", "B", 400, 0.75, None, None),
    ("LX000004", "Delta", "Banking, Finance, Insurance & Real Estate", 40e6, 99, "Ba3", "BB-", 275, 0.00, None, None),
    ("LX000005", "Echo", "Hotel, Gaming & Leisure", 40e6, 96.50, "B3", "B-", 450, 0.75, None, None),
    ("LX000006", "Foxtrot", "Retail", 30e6, 85.00, "B3", "B-", 475, 0.50, 78.0, None),
    ("LX000007", "Golf", "Telecommunications", 40e6, 98.00, "B1", "B+", 350, 0.00, None, None),
    ("LX000008", "Hotel", "Chemicals, Plastics & Rubber", 40e6, 97.50, "B2", "B", 400, 0.50, None, None),
    ("LX000009", "India", "Construction & Building", 40e6, 98.50, "B2", "B+", 350, 0.50, None, None),
    ("LX000010", "Juliet", "Media: Broadcasting & Subscription", 20e6, 85.00, "Caa1", "CCC+", 550, 1.00, None, None),
    ("LX000011", "Kilo", "Automotive", 15e6, 70.00, "Caa2", "CCC", 600, 1.00, None, None),
    ("LX000012", "Lima", "Consumer goods: Durable", 10e6, 55.00, "Caa3", "CCC-", 650, 1.00, None, None),
    ("LX000013", "Mike", "Wholesale", 5e6, 60.00, "Ca", "D", 700, 1.00, None, 45),
)
G1_NOTES: Rows = (
    ("Class", "Current Balance", "Coupon", "OC Trigger", "IC Trigger"),
    ("A", 250e6, 6.5, None, None),
    ("B", 50e6, 7.0, 121.5, 120.0),
    ("C", 25e6, 7.6, 114.0, 115.0),
    ("D", 22e6, 9.2, 106.5, 110.0),
    ("E", 18e6, 12.0, 104.2, None),
)
G1_DEAL: Rows = (("Principal Cash", 5e6), ("Base Rate", 4.3), ("As Of Date", date(2026, 3, 31)))

PUBLISHED: Rows = (
    ("Test", "Actual", "Trigger", "Result"),
    ("Class E Overcollateralisation Ratio", 106.75, 104.2, "Pass"),
    ("Weighted Average Rating Factor", 2900, 3000, "Pass"),
    ("Weighted Average Spread", 4.1, 3.0, "Pass"),
)
"""What a file prints of the worked pool: the same, the other status, another figure."""

WriteBook = Callable[..., Path]


@pytest.fixture(scope="session")
def write_book(tmp_path_factory: pytest.TempPathFactory) -> WriteBook:
    """Write sheets of rows to an xlsx file.

    `write_book("name", Holdings=[...], Tranches=[...])`.
    """
    folder = tmp_path_factory.mktemp("books")

    def write(name: str, **sheets: Rows) -> Path:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
        path = folder / f"{name}.xlsx"
        book.save(path)
        return path

    return write


@pytest.fixture(scope="session")
def g1_file(write_book: WriteBook) -> Path:
    """A pool worked by hand.

    12 performing loans of 395m, a defaulted one, five classes, 5m of cash.
    """
    return write_book("g1", Holdings=[HEADER, *G1_LOANS], Tranches=G1_NOTES, Deal=G1_DEAL)


@pytest.fixture(scope="session")
def contradicted_file(write_book: WriteBook) -> Path:
    """The worked pool in a file that prints other figures."""
    sheets = {"Holdings": [HEADER, *G1_LOANS], "Tranches": G1_NOTES, "Deal": G1_DEAL, "Tests": PUBLISHED}
    return write_book("contradicted", **sheets)


DISCOUNTED: Rows = (
    ("LX000001", "Alpha", 31_234_567.11, 99.0, "B1"),
    ("LX000002", "Bravo", 27_654_321.42, 98.5, "B1"),
    ("LX000003", "Charlie", 30_000_123.37, 70.0, "B2"),
    ("LX000004", "Delta", 21_111_111.93, 100.0, "B2"),
)
DISCOUNTED_PAR = 110_000_123.83
"""Their par, which their file prints as the numerator: the third loan, bought at 70, is no discount obligation."""


@pytest.fixture(scope="session")
def discounted_file(write_book: WriteBook) -> Path:
    """Four loans in a file whose own OC numerator ties where discount obligations count at par, and by that alone."""
    numerator, balance = DISCOUNTED_PAR, 80e6
    printed = ("Class A/B Par Value Ratio", numerator, balance, round(numerator / balance * 100, 2), 120, "Pass")
    return write_book(
        "discounted",
        Holdings=[("LoanX ID", "Issuer Name", "Par Amount", "Purchase Price", "Moody's Rating"), *DISCOUNTED],
        Tranches=[("Class", "Current Balance", "OC Trigger"), ("A", 60e6, None), ("B", 20e6, 120), ("Sub", 9e6, None)],
        Tests=[("Test", "Numerator", "Denominator", "Actual", "Trigger", "Result"), printed],
    )


@pytest.fixture(scope="module")
def g1(shared_owner: Any, g1_file: Path) -> dict[str, Any]:
    """The worked pool as a workbook of the tenant that a module's tests share."""
    workbook: dict[str, Any] = shared_owner.uploaded(g1_file)
    assert workbook["status"] == "ready", workbook
    return workbook


@pytest.fixture
def own_g1(owner: Any, g1_file: Path) -> dict[str, Any]:
    """The worked pool as a workbook of a fresh tenant."""
    workbook: dict[str, Any] = owner.uploaded(g1_file)
    assert workbook["status"] == "ready", workbook
    return workbook
