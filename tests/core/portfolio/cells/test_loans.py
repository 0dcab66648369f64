"""A typed column put among the loans."""

from __future__ import annotations

import pytest

from core.portfolio.cells.loans import Loans, put_column
from core.portfolio.cells.text_cells import TextColumn, pool_of
from core.portfolio.cells.typed import text_column


def put_texts(target: str, texts: list[str | None]) -> tuple[Loans, int]:
    loans = Loans(row_count=len(texts))
    unreadable = put_column(loans, target, text_column(TextColumn(*pool_of(texts))))
    return loans, unreadable


@pytest.mark.parametrize(
    ("target", "texts", "ranks", "unreadable", "is_told"),
    [
        ("rating_agency_a", ["B3", "NR", None], [16, 0, 0], 0, False),
        # Headings that are mixed up: every symbol is the other agency's.
        ("rating_agency_a", ["B-", "NR", "CCC+"], [16, 0, 17], 0, True),
        ("rating_agency_b", ["B3", None, "Caa1"], [16, 0, 17], 0, True),
        # Where some are its own, the others cannot be read.
        ("rating_agency_a", ["B-", "B3", "B3"], [0, 16, 16], 1, False),
        ("rating_agency_a", ["B-", "soon", "NR"], [0, 0, 0], 2, False),
        ("rating_agency_a", ["NR", "NR", None], [0, 0, 0], 0, False),
    ],
)
def test_ratings_of_another_scale_are_read_where_all_are_such(
    target: str, texts: list[str | None], ranks: list[int], unreadable: int, is_told: bool
) -> None:
    loans, lost = put_texts(target, texts)
    assert loans.ranks[target].tolist() == ranks
    assert lost == unreadable
    assert [warning.code for warning in loans.notes.warnings] == (["rating_of_another_scale"] if is_told else [])


def test_an_index_with_its_margin_is_the_index() -> None:
    loans, _ = put_texts("base_rate", ["SOFR + 5.75%", "3M E + 3.75%", "SF", "Term SOFR 3M", None])
    codes, names = loans.categories["base_rate"]
    assert [names[code] if code >= 0 else None for code in codes.tolist()] == [
        "SOFR",
        "EURIBOR-3M",
        "SOFR",
        "SOFR-3M",
        None,
    ]
