"""Which formulas read redacted cells.

By a table, by names that stand for one another, as an array.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.grid.sheet import Table, Workbook
from core.redact.book import redact
from core.redact.replace import Policy
from tests.core.redact.conftest import book_of, cells
from tests.rows import every

ROWS: list[list[Any]] = [["Issuer", "Contact", "Par", "X"], ["Acme", "Jane Doe", 5.0, None]]
PEOPLE = Table("people", "S", 0, 0, 1, 2, ("Issuer", "Contact", "Par"))
NAME = "J*** D***"


def after(book: Workbook, sheet: int = 0) -> list[list[Any]]:
    return cells(redact(book, Policy(threshold="public")).workbook, sheet)


def with_formula(formula: str, value: Any, **names: str) -> Workbook:
    rows = [ROWS[0], [*ROWS[1][:3], (formula, value)]]
    return replace(book_of(S=rows), tables=(PEOPLE,), defined_names=names)


@every(
    "formula, is_reader",
    [
        ("=people", True),  # the whole table
        ("=SUM(people,1)", True),
        ("=people[Contact]", True),
        ("=people[[#All],[Contact]]", True),
        ("=people[@Contact]", True),
        ("=[@Contact]", True),  # brackets without a name: the tables of the own sheet
        ("=[@Par]", False),
        ("=people[Par]", False),
        ("=people[[Issuer]:[Issuer]]", False),
    ],
)
def test_a_formula_reads_the_columns_of_a_table(formula: str, is_reader: bool) -> None:
    assert after(with_formula(formula, "Jane Doe" if is_reader else 5.0))[1][3] == (
        NAME if is_reader else (formula, 5.0)
    )


def test_brackets_without_a_name_are_of_the_own_sheet() -> None:
    """The table on the other sheet has such a column, too."""
    own = Table("own", "T", 0, 0, 1, 1, ("Contact", "X"))
    book = book_of(S=ROWS, T=[["Contact", "X"], ["n/a", ("=[@Contact]", "n/a")]])
    assert after(replace(book, tables=(PEOPLE, own)), 1)[1][1] == ("=[@Contact]", "n/a")
    assert after(replace(book, tables=(PEOPLE,)), 1)[1][1] == ("=[@Contact]", "n/a")
    known = book_of(S=ROWS, T=[["Contact", "X"], ["Ann Lee", ("=[@Contact]", "Ann Lee")]])
    assert after(replace(known, tables=(PEOPLE, own)), 1)[1][1] == "A*** L***"


def test_names_stand_for_one_another() -> None:
    assert after(with_formula("=first", "Jane Doe", First="second", Second="S!$B$2"))[1][3] == NAME
    assert after(with_formula("=first", "Acme", First="second", Second="S!$A$2"))[1][3] == ("=first", "Acme")
    circle = with_formula("=first", "Acme", First="second", Second="first")
    assert after(circle)[1][3] == ("=first", "Acme")


def array_book(formula: str, values: list[Any]) -> Workbook:
    """An array formula in the last column, that fills one row more than it stands in."""
    rows: list[list[Any]] = [
        ["Issuer", "Contact", "X"], ["Acme", "Jane Doe", (formula, values[0])], ["Beta", "Ann Lee", values[1]],
    ]  # fmt: skip
    book = book_of(S=rows)
    sheet = book.sheets[0]
    return replace(book, sheets=(replace(sheet, formulas=replace(sheet.formulas, arrays={0: "C2:C3"})),))


def test_an_array_formula_that_reads_them_is_values_in_all_that_it_fills() -> None:
    rows = after(array_book("=B2:B3", ["Jane Doe", "Ann Lee"]))
    assert [row[2] for row in rows[1:]] == [NAME, "A*** L***"]
    kept = after(array_book("=A2:A3", ["Acme", "Beta"]))
    assert [row[2] for row in kept[1:]] == [("=A2:A3", "Acme"), "Beta"]


def test_an_array_formula_of_which_one_value_is_personal_is_values() -> None:
    """Calculated anew it would say again what was redacted."""
    rows = after(array_book("=A2:A3", ["Acme", "max@muster.de"]))
    assert [row[2] for row in rows[1:]] == ["Acme", "m***@m***.de"]
