"""Liens by the names of facilities, where no column says them."""

from __future__ import annotations

import pytest

from core.portfolio.model.fields import Lien
from tests.core.portfolio.conftest import MapRows

FACILITIES = ["First Lien Term Loan", "Second Lien Term Loan", "Senior Notes", "Subordinated Loan", "Revolver"]
BY_NAMES = [Lien.SECOND_LIEN, Lien.UNSECURED]


def rows(heading: str | None, cells: list[str | None]) -> list[list[object]]:
    head = ["Issuer", "Facility", "Par", "Price", *([heading] if heading else [])]
    body = [
        [f"Company {at} Inc", name, 1_000_000.0, 99.0, *([cell] if heading else [])]
        for at, (name, cell) in enumerate(zip(FACILITIES, cells, strict=True))
    ]
    return [head, *body]


@pytest.mark.parametrize("heading", [None, "Asset Type", "Loan Type"])
def test_names_say_what_a_kind_of_asset_does_not(map_rows: MapRows, heading: str | None) -> None:
    portfolio = map_rows(rows(heading, ["Term Loan"] * 5))
    assert portfolio.lien is not None
    assert [portfolio.lien[1], portfolio.lien[3]] == BY_NAMES
    assert portfolio.lien[0] not in BY_NAMES
    said = [one for one in portfolio.notes.warnings if one.code == "lien_by_name"]
    assert [one.rows for one in said] == [2]


def test_a_column_of_liens_is_never_overruled(map_rows: MapRows) -> None:
    portfolio = map_rows(rows("Lien", ["First Lien"] * 5))
    assert portfolio.lien is not None
    assert set(portfolio.lien.tolist()) == {Lien.FIRST_LIEN}
    assert all(one.code != "lien_by_name" for one in portfolio.notes.warnings)


def test_names_that_say_none_give_none(map_rows: MapRows) -> None:
    book = [["Issuer", "Facility", "Par", "Price"], *[[f"C{at} Inc", "Term Loan B", 1.0, 99.0] for at in range(3)]]
    assert map_rows(book).lien is None
