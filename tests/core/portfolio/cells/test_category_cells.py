"""Words for countries, liens, industries and reference rates."""

from __future__ import annotations

import pytest

from core.portfolio.cells import category_cells
from core.portfolio.model.fields import INDUSTRIES, Lien

# ---- words


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("US-DE", "US"), ("United States (Delaware)", "US"), ("Delaware, USA", "US"), ("US - United States", "US"),
        ("DE, USA", "US"), ("US (GA)", "US"), ("Georgia, USA", "US"), ("New York", "US"), ("CA-ON", "CA"),
        ("Ontario, Canada", "CA"), ("England and Wales", "GB"), ("DE - Germany", "DE"), ("Korea, Republic of", "KR"),
        ("CA", "CA"), ("Georgia", "Georgia"), ("Luxembourg / US", "Luxembourg / US"),
        ("San Diego, CA", "San Diego, CA"),
        ("Term Loan B (US)", "Term Loan B (US)"), ("Bidco, UK", "Bidco, UK"), ("The", "The"), ("-", "-"),
    ],
)  # fmt: skip
def test_countries_beside_their_states(text: str, country: str) -> None:
    assert category_cells.country(text) == country


@pytest.mark.parametrize(
    ("text", "lien"),
    [
        ("First Lien", Lien.FIRST_LIEN),
        ("1L", Lien.FIRST_LIEN),
        ("1st Lien Term Loan", Lien.FIRST_LIEN),
        ("Senior Secured", Lien.FIRST_LIEN),
        ("Senior Secured Loan", Lien.FIRST_LIEN),
        ("LOAN", Lien.FIRST_LIEN),
        ("Moody’s Senior Secured loan", Lien.FIRST_LIEN),
        ("Moody's Senior Secured Loan", Lien.FIRST_LIEN),
        ("Second Lien", Lien.SECOND_LIEN),
        ("2L", Lien.SECOND_LIEN),
        ("2nd lien", Lien.SECOND_LIEN),
        ("Senior Unsecured Loan/Second Lien Loan", Lien.SECOND_LIEN),
        ("Moody's Non-Senior Secured Loan", Lien.SECOND_LIEN),
        ("Senior Unsecured", Lien.UNSECURED),
        ("Unsecured Loan", Lien.UNSECURED),
        ("Mezzanine", Lien.UNSECURED),
        ("Subordinated", Lien.UNSECURED),
        ("Senior Secured Bond", Lien.BOND),
        ("Senior Unsecured Notes", Lien.UNSECURED),
        ("Equity", Lien.OTHER),
        ("Sr Unsec", Lien.UNSECURED),
        ("Sen. Unsec.", Lien.UNSECURED),
        ("Sr. Unsecd", Lien.UNSECURED),
        ("Senior Uns", Lien.UNSECURED),
        ("Non-Secured", Lien.UNSECURED),
        ("Snr Sub", Lien.UNSECURED),
        ("SUN", Lien.UNSECURED),
        ("Sun Country Term Loan", Lien.FIRST_LIEN),
        ("Carl's Jr. Term Loan", Lien.FIRST_LIEN),
        ("Snr Sec", Lien.FIRST_LIEN),
        ("FLLO", Lien.FIRST_LIEN),
        ("SSN", Lien.BOND),
        ("Jr Lien", Lien.SECOND_LIEN),
        ("Erstrangig besichert", Lien.FIRST_LIEN),
        ("1. Rang", Lien.FIRST_LIEN),
        ("1er rang", Lien.FIRST_LIEN),
        ("Senior garantie", Lien.FIRST_LIEN),
        ("Primer gravamen", Lien.FIRST_LIEN),
        ("Primera", Lien.FIRST_LIEN),
        ("Eerste pandrecht", Lien.FIRST_LIEN),
        ("Zweitrangig besichert", Lien.SECOND_LIEN),
        ("2ème rang", Lien.SECOND_LIEN),
        ("Segundo rango", Lien.SECOND_LIEN),
        ("Tweede pandrecht", Lien.SECOND_LIEN),
        ("Nachrangig", Lien.UNSECURED),
        ("Mezzanin", Lien.UNSECURED),
        ("Unbesichert", Lien.UNSECURED),
        ("Dette senior non garantie", Lien.UNSECURED),
        ("Subordonnée", Lien.UNSECURED),
        ("No garantizado", Lien.UNSECURED),
    ],
)
def test_lien_words(text: str, lien: Lien) -> None:
    assert category_cells.lien(text) is lien


@pytest.mark.parametrize("text", ["USA", "US", "U.S.", "U.S.A.", "United States", "United States of America", "usa "])
def test_the_united_states_by_every_name(text: str) -> None:
    assert category_cells.country(text) == "US"


def test_other_countries() -> None:
    assert [category_cells.country(text) for text in ("UK", "Cayman Islands", "The Netherlands", "Atlantis")] == [
        "GB",
        "KY",
        "NL",
        "Atlantis",
    ]


def test_industries_by_any_spelling() -> None:
    assert category_cells.industries(INDUSTRIES) == list(INDUSTRIES)
    assert (
        category_cells.industries(
            ["Beverage, Food, & Tobacco", "beverage food and tobacco", "CORP - Beverage, Food & Tobacco"]
        )
        == ["Beverage, Food & Tobacco"] * 3
    )
    assert category_cells.industries(["CORP - High Tech Industries"]) == ["High Tech Industries"]
    coded = ["31 - Transportation: Cargo", "Transportation: Cargo", "Automotive (2)", "99 - Space Mining"]
    assert category_cells.industries(coded) == [*["Transportation: Cargo"] * 2, "Automotive", "99 - Space Mining"]
    # Unknown ones are one when they are alike, whichever spelling comes first.
    assert category_cells.industries(["Space-Mining", "Space Mining"]) == category_cells.industries(
        ["Space Mining", "Space-Mining"]
    )
    assert len(INDUSTRIES) == 32


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("SOFR", "SOFR"),
        ("TSFR3M", "SOFR-3M"),
        ("3M SOFR", "SOFR-3M"),
        ("Term SOFR 3M", "SOFR-3M"),
        ("3 Month Term SOFR", "SOFR-3M"),
        ("3M Libor", "LIBOR-3M"),
        ("US0003M", "LIBOR-3M"),
        ("EUR003M", "EURIBOR-3M"),
        ("EURIBOR 6M", "EURIBOR-6M"),
        ("Prime", "PRIME"),
        ("Fixed", "FIXED"),
        ("SONIA", "SONIA"),
        ("12M EURIBOR", "EURIBOR-12M"),
        ("1 Year LIBOR", "LIBOR-12M"),
        ("USD LIBOR 3M", "LIBOR-3M"),
        ("GBP LIBOR 3M", "GBP LIBOR-3M"),
        ("JPY-LIBOR", "JPY LIBOR"),
        ("GBP SONIA", "SONIA"),
        ("xyz  9", "XYZ 9"),
    ],
)
def test_reference_rates(text: str, index: str) -> None:
    assert category_cells.base_rate(text) == index


@pytest.mark.parametrize(
    ("text", "is_fixed"),
    [
        ("Fixed", 1), ("FXD", 1), ("Fix", 1), ("Fixed Rate", 1), ("FX", 1), ("Floating", 0), ("FLT", 0), ("FL", 0),
        ("Float", 0), ("FRN", 0), ("Variable", 0), ("Adjustable", 0), ("Fix-to-Float", 0), ("", -1), ("Term Loan", -1),
    ],
)  # fmt: skip
def test_a_coupon_is_fixed_or_floats_by_its_word(text: str, is_fixed: int) -> None:
    assert category_cells.coupon_is_fixed(text) == is_fixed
