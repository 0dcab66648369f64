"""Ratings that are known and not shown, in the words of any file's columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.files.read import read
from core.portfolio import Portfolio
from core.portfolio.model.ratings import is_masked
from tests.rows import every

MapRows = Callable[..., Portfolio]
REPORT = Path(__file__).parents[4] / "../shared/data/contego-xi/report-2024-09-30.xlsx"
HEADER = ["LoanX ID", "Issuer", "Par Amount", "Price", "Maturity Date", "S&P Rating"]


def rated(map_rows: MapRows, ratings: list[str | None]) -> Portfolio:
    """Return loans with these ratings, each of a par of 10."""
    rows: list[list[Any]] = [
        [f"LX10001{at}", f"Name {at}", 10.0, 99.0, "2030-01-31", rating] for at, rating in enumerate(ratings)
    ]
    return map_rows([HEADER, *rows])


def masked_rows(portfolio: Portfolio, field: str = "rating_agency_b") -> list[int]:
    """Return the places of the masked loans."""
    names = portfolio.names[field]
    return [at for at, code in enumerate(names.codes.tolist()) if code >= 0 and is_masked(names.values[code])]


@every(
    "ratings, masked",
    [
        (["B", "***", "NR", None], [1]),
        (["B", "Conf", "Private", "NR*"], [1, 2, 3]),
        (["B", "Secret", "B-", "Secret"], [1, 3]),
        (["B", "Secret", "B-", "CCC"], []),
    ],
)
def test_masks_of_a_column(map_rows: MapRows, ratings: list[str | None], masked: list[int]) -> None:
    portfolio = rated(map_rows, ratings)
    assert masked_rows(portfolio) == masked
    # A masked rating is no CCC; what cannot be read is.
    unread = [rating for rating in ratings if rating == "Secret"] if not masked else []
    assert portfolio.notes.unreadable_cells == ({"rating_agency_b": len(unread)} if unread else {})


def test_a_word_of_the_columns_own_is_told(map_rows: MapRows) -> None:
    portfolio = rated(map_rows, ["B", "Secret", "B-", "Secret"])
    (masked_word,) = (warning for warning in portfolio.notes.warnings if warning.code == "masked_word")
    assert (masked_word.rows, masked_word.fields) == (2, ("rating_agency_b",))
    assert masked_word.message == (
        "'Secret' stands for rating_agency_b on 2 rows and is no rating: they count as masked."
    )
    assert portfolio["rating_agency_b"].tolist() == ["B", "***", "B-", "***"]
    # Rated, and the rating not shown: in no CCC bucket, and among those that a warning names.
    ran = run_suite(portfolio, test_ids=["ccc_bucket_pct"])
    assert ran[0].current_value == 0.0
    assert any(doubt.code == "masked_inputs" and doubt.message == masked_word.message for doubt in ran[0].doubt)
    assert "50.00 % of par is masked" in next(
        run_warning.message for run_warning in ran.warnings if run_warning.code == "masked_ratings"
    )


def test_masks_of_several_words_are_one(map_rows: MapRows) -> None:
    """The ranks of the ratings between them stay where they are, and what is neither is told as before."""
    portfolio = rated(map_rows, ["***", "Secret", "B2x", "Secret", "CCC", "Hush", "B", "Hush", "***", "BB"])
    assert portfolio.ranks["rating_agency_b"].tolist() == [0, 0, 0, 0, 18, 0, 15, 0, 0, 12]
    assert masked_rows(portfolio) == [0, 1, 3, 5, 7, 8]
    assert portfolio.notes.unreadable_cells == {"rating_agency_b": 1}


@pytest.mark.parametrize("file", [REPORT] if REPORT.exists() else [])
def test_the_masked_ratings_of_a_real_report(file: Path) -> None:
    """Six of S&P and twenty-five of Fitch, whose par its rating tables give."""
    portfolio = Portfolio.from_workbook(read(file))
    par = portfolio.numbers["par_value"]
    for agency, rows, share in (("b", 6, 0.0329), ("c", 25, 0.1473)):
        masked = masked_rows(portfolio, f"rating_agency_{agency}")
        assert len(masked) == rows
        assert round(float(par[masked].sum()) / 380_139_061.10, 4) == share
