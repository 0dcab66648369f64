"""The tables of fields: complete, and no header that could mean two fields."""

from __future__ import annotations

from collections import Counter

import pytest

from core.files.read import read_files
from core.portfolio import Portfolio
from core.portfolio.cells.string_pool import key
from core.portfolio.model.fields import AUXILIARY_FIELDS, PROFILES, STANDARD_CLO_FIELDS, Lien
from core.portfolio.sheets.headings.matcher import matcher
from tests.rows import every

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
    assert [field.target for field in PROFILES["standard_clo"].fields] == TARGETS
    assert len(TARGETS) == 25
    assert [standard_clo_field.target for standard_clo_field in STANDARD_CLO_FIELDS if standard_clo_field.required] == [
        "borrower_name",
        "par_value",
    ]
    types = {field.target: field.type for field in STANDARD_CLO_FIELDS}
    assert types["maturity_date"] == "date"
    assert types["cov_lite"] == types["is_defaulted"] == "boolean"
    assert types["base_rate"] == "string"
    assert types["spread"] == "number"


def test_servicer_snapshot() -> None:
    profile = PROFILES["standard_servicer"]
    assert [(field.target, field.required) for field in profile.fields] == [
        ("loan_id", True),
        ("principal_balance", True),
        ("interest_rate", False),
        ("days_open", False),
    ]


@pytest.mark.parametrize("name", list(PROFILES))
def test_no_header_means_two_fields_of_a_mapping(name: str) -> None:
    seen = Counter(
        (words, field.target)
        for field in PROFILES[name].fields
        for words in {key(alias) for alias in (*field.aliases, field.target)}
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
        ("LIN/ISIN", "loanx_id"),
        ("CUR_BAL", "par_value"),
        ("Orig Bal", None),
        ("Original Principal Balance", None),
        ("Cpn", "all_in_rate"),
        ("Floater Spread", "spread"),
        ("Moody Rtg", "rating_agency_a"),
        ("S&P Corporate Rating", "rating_agency_b"),
        ("Cntry of Risk", "country"),
        ("Unit Cost", "purchase_price"),
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
    assert not {auxiliary_field.target for auxiliary_field in AUXILIARY_FIELDS} & set(TARGETS)


def test_lien_places() -> None:
    assert (Lien.FIRST_LIEN, Lien.SECOND_LIEN, Lien.UNSECURED, Lien.BOND) == (1, 2, 3, 4)


EXPORTS: dict[str, tuple[str, dict[str, str]]] = {
    "a trustee's file of collateral": (
        "Deal_Name,Issuer_Name,Security_Name,Native_Principal_Funded_Balance,Native_Currency,Country_Code,All_In_Rate,"
        "Index_Type,Current_Spread,Issuer_Industry_Classification___S_P,Moodys_Rating,SP_Rating,Fitch_Rating,"
        "SP_Recovery_Rate,Maturity_Date,AffiliateID,LoanX_ID,Is_Second_Lein,Cov_Lite",
        {
            "borrower_name": "Issuer_Name", "facility_name": "Security_Name", "loanx_id": "LoanX_ID",
            "par_value": "Native_Principal_Funded_Balance", "currency": "Native_Currency", "country": "Country_Code",
            "rating_agency_a": "Moodys_Rating", "rating_agency_b": "SP_Rating", "rating_agency_c": "Fitch_Rating",
            "industry": "Issuer_Industry_Classification___S_P", "recovery_rate": "SP_Recovery_Rate",
            "lien_type": "Is_Second_Lein", "cov_lite": "Cov_Lite", "issuer_id": "AffiliateID",
        },
    ),
    "a trustee's file of assets": (
        "Issuer_Name,LoanX_ID,Principal_Balance,Issuer_Moodys_Rating,Moodys_Issuer_CreditWatch,SP_Issuer_CreditWatch,"
        "Second_Lien_Loan,Deal_Defaulted_Begin,Mark_Price",
        {
            "rating_agency_a": "Issuer_Moodys_Rating", "rating_agency_a_issuer": "Issuer_Moodys_Rating",
            "watch_a": "Moodys_Issuer_CreditWatch", "watch_b": "SP_Issuer_CreditWatch",
            "lien_type": "Second_Lien_Loan", "default_date": "Deal_Defaulted_Begin", "price": "Mark_Price",
        },
    ),
    "positions of a deal library": (
        "identifier,issuer,par,price,spread,base_rate,unfunded_par,maturity_date,coupon_type,moody_industry,"
        "issuer_country_iso,security_level,sp_issuer_rating,moody_derived_warf_rating,moody_derived_recovery_rate,"
        "is_covenant_lite,weighted_average_life",
        {
            "borrower_name": "issuer", "par_value": "par", "unfunded": "unfunded_par", "country": "issuer_country_iso",
            "industry": "moody_industry", "rating_agency_a": "moody_derived_warf_rating",
            "rating_agency_b": "sp_issuer_rating", "recovery_rate": "moody_derived_recovery_rate",
            "cov_lite": "is_covenant_lite", "average_life": "weighted_average_life",
        },
    ),
}  # fmt: skip
"""Headers of the market's flat files, and what they feed."""


@every("kind", list(EXPORTS))
def test_the_headers_of_flat_files_are_known(kind: str) -> None:
    headers, expected = EXPORTS[kind]
    values = {"par": "1000000", "balance": "1000000", "identifier": "LX123456", "id": "LX123456", "rate": "5"}
    row = [next((value for word, value in values.items() if word in name.lower()), "x") for name in headers.split(",")]
    book = read_files([("loans.csv", f"{headers}\n{','.join(row)}\n".encode())])
    matched = Portfolio.from_workbook(book).notes.matched_columns
    assert {target: matched.get(target) for target in expected} == expected
