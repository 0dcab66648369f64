"""The tables of fields: complete, and no header that could mean two fields."""

from __future__ import annotations

from collections import Counter

import pytest

from core.portfolio.cells.parsing import key
from core.portfolio.fields import AUXILIARY_FIELDS, PROFILES, STANDARD_CLO_FIELDS, Lien
from core.portfolio.layout.header import matcher

TARGETS = [
    "cusip",
    "loanx_id",
    "isin",
    "borrower_name",
    "issuer_id",
    "facility_name",
    "par_value",
    "price",
    "purchase_price",
    "spread",
    "base_rate",
    "floor",
    "all_in_rate",
    "coupon_type",
    "rating",
    "rating_agency_a",
    "rating_agency_b",
    "rating_agency_c",
    "recovery_rate",
    "industry",
    "country",
    "maturity_date",
    "lien_type",
    "is_defaulted",
    "cov_lite",
]


def test_standard_clo_has_its_25_fields_and_two_are_required() -> None:
    assert [one.target for one in PROFILES["standard_clo"].fields] == TARGETS
    assert len(TARGETS) == 25
    assert [one.target for one in STANDARD_CLO_FIELDS if one.required] == ["borrower_name", "par_value"]
    types = {one.target: one.type for one in STANDARD_CLO_FIELDS}
    assert types["maturity_date"] == "date"
    assert types["cov_lite"] == types["is_defaulted"] == "boolean"
    assert types["base_rate"] == "string"
    assert types["spread"] == "number"


def test_servicer_snapshot() -> None:
    profile = PROFILES["standard_servicer"]
    assert [(one.target, one.required) for one in profile.fields] == [
        ("loan_id", True),
        ("principal_balance", True),
        ("interest_rate", False),
        ("days_open", False),
    ]


@pytest.mark.parametrize("name", list(PROFILES))
def test_no_header_means_two_fields_of_a_mapping(name: str) -> None:
    seen = Counter(
        (words, one.target)
        for one in PROFILES[name].fields
        for words in {key(alias) for alias in (*one.aliases, one.target)}
    )
    by_words = Counter(words for words, _ in seen)
    assert [words for words, count in by_words.items() if count > 1] == []


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("Moody's DP Rating - WARF", "rating_agency_a"),
        ("Moodys_Adj_DP_Rating_for_WARF", "rating_agency_a"),
        ("Moody’s Industry", "industry"),
        ("S&P Issuer Rating", "rating_agency_b"),
        ("SP_Rating_Final", "rating_agency_b"),
        ("Country ", "country"),
        ("LoanX ID / CUSIP", "loanx_id"),
        ("LX #", "loanx_id"),
        ("LXID / ISIN", "isin"),
        ("Issuer/Borrower Name", "borrower_name"),
        ("Par Amount (Deal Currency)", "par_value"),
        ("Current Par Amount (Issue Currency) - Settled", "par_value"),
        ("All-In-Rate (w/Floor)", "all_in_rate"),
        ("Spread (bps)", "spread"),
        ("Spread (%)", "spread"),
        ("Margin bps", "spread"),
        ("MARGIN IN BPS", "spread"),
        ("Is_Second_Lein", "lien_type"),
        ("Deal Issue (Derived) Rating - Moody's", "rating_agency_a"),
        ("par_value", "par_value"),
        ("Émetteur", None),
        ("Spread Type", None),
        ("Par Amount Sold", None),
        ("", None),
        ("Price %", "price"),
        ("Recovery Rate (%)", "recovery_rate"),
        ("COV-LITE", "cov_lite"),
        ("Maturity\nDate", "maturity_date"),
    ],
)
def test_headers_as_they_occur(header: str, target: str | None) -> None:
    options = matcher(PROFILES["standard_clo"]).options(header)
    assert [name for name, _, auxiliary in options if not auxiliary] == ([] if target is None else [target])


def test_auxiliary_headers() -> None:
    aliases = matcher(PROFILES["standard_clo"])
    for header, target in (
        ("WAL", "average_life"),
        ("DPD", "days_past_due"),
        ("# Quotes", "quote_depth"),
        ("PiKing", "is_pik"),
        ("Date of Defaulted", "default_date"),
        ("Facility Size", "facility_size"),
    ):
        assert (target, True) in [(name, auxiliary) for name, _, auxiliary in aliases.options(header)]
    assert not {one.target for one in AUXILIARY_FIELDS} & set(TARGETS)


def test_lien_places() -> None:
    assert (Lien.FIRST_LIEN, Lien.SECOND_LIEN, Lien.UNSECURED, Lien.BOND) == (1, 2, 3, 4)
