"""Headings by the weight of their words.

Abbreviations, cut and joined words, groups, words that speak against.
"""

from __future__ import annotations

from time import perf_counter

import pytest

from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.columns.aliases import INSTEAD, USUAL
from core.portfolio.sheets.columns.vocabulary import (
    FULL_WEIGHT,
    WEIGHT_MIN,
    heading,
    is_sink,
    kind_weights,
    tokens_of,
    words,
)
from core.portfolio.sheets.headings.matcher import WORDS_MIN, matcher

NAMED = [
    ("OutstdPrin", "par_value"), ("OTSTNDNGPRIN", "par_value"), ("Nominal outstanding", "par_value"),
    ("QNTTY", "par_value"), ("Hold Size", "par_value"), ("Drawn Amount", "par_value"),
    ("Mdy DPR", "rating_derived_a"), ("S&P Rtg", "rating_b"), ("S&P Corp Rtg", "rating_issuer_b"),
    ("MOODYS_CFR", "rating_issuer_a"), ("Fitch LT IDR", "rating_issuer_c"), ("RatingSPIssue", "rating_facility_b"),
    ("MATDT", "maturity_date"), ("Stated Matur.", "maturity_date"), ("Mkt Px", "price"), ("Purch Px", "purchase_price"),
    ("Sprd", "spread"), ("Idx Rt", "base_rate_level"), ("Ref Rate", "base_rate"), ("Flr", "floor"),
    ("Curr Pay", "is_current_pay"), ("Parti-cipation (Y/N)", "participation"), ("CovLite", "cov_lite"),
    ("IND_CD_MDY", "industry_a"), ("Cntry of Risk", "country"), ("Crncy", "currency"), ("LX Id.", "loanx_id"),
    ("Undrwn", "unfunded"), ("Obligor Nm", "borrower_name"), ("Wtd Avg Life", "average_life"),
    ("Kreditnehmer", "borrower_name"), ("F\u00e4lligkeit", "maturity_date"), ("W\u00e4hrung", "currency"),
    ("Spread over Swap", "spread"), ("Spread to Swaps", "spread"), ("Spread over Mid-Swap", "spread"),
    ("Position Size", "par_value"), ("Holding Size (USD)", "par_value"), ("PositionSize", "par_value"),
    ("Position Par", "par_value"), ("Investment Size", "par_value"), ("Ticket Size", "par_value"),
    ("Instrument Size", "facility_size"), ("Issue Size", "facility_size"), ("Size", "facility_size"),
    ("Trade Date Balance", "par_value"),
    ("Closing Balance", "par_value"), ("Ending Balance", "par_value"), ("EOP Balance", "par_value"),
    ("Spread over index", "spread"), ("Margin over SOFR", "spread"), ("Cash spread", "spread"),
    ("Quoted Margin", "spread"), ("Applicable Margin", "spread"),
    ("# of Quotes", "quote_depth"), ("IsDeferredInterestOutstanding", "is_deferring"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "role"), NAMED, ids=[text for text, _ in NAMED])
def test_words_name_a_role(text: str, role: str) -> None:
    best_role, weight = heading(text).best()
    assert (best_role, weight >= WORDS_MIN) == (role, True)


SINKS = [
    "EBITDA", "Accrued Interest", "Next Payment Date", "Analyst", "Comment", "% of Total", "Total Debt/EBITDA",
    "Agent Bank", "Trade Date", "PE Sponsor",
]  # fmt: skip


@pytest.mark.parametrize("text", SINKS)
def test_what_is_no_field_is_a_sink_or_nothing(text: str) -> None:
    role, weight = heading(text).best()
    assert is_sink(role) or weight < WORDS_MIN


@pytest.mark.parametrize(
    "text",
    ["Spread at Closing", "Spread to Yield", "Yield spread", "Discount Margin", "Discount margin (bps)", "Bid DM",
     "3-Year DM", "Spread to Maturity", "Spread to Worst", "Z-Spread", "OAS", "YTM Spread", "Spread to 3yr",
     "Market Spread", "New Issue Spread", "Undrawn Spread", "Excess Spread", "Effective Margin"],
)  # fmt: skip
def test_a_spread_by_price_or_of_another_time_is_no_spread(text: str) -> None:
    assert heading(text).weights.get("spread", 0.0) <= 0


OTHER_TIMES = ["Prior Price", "Previous Moody's Rating", "Last Month Bid", "Price 1M Ago", "Par Change"]


@pytest.mark.parametrize("text", OTHER_TIMES)
def test_another_time_is_no_field(text: str) -> None:
    parsed = heading(text)
    fields = [weight for role, weight in parsed.weights.items() if not is_sink(role)]
    assert parsed.against <= -4
    assert max(fields, default=0.0) < WORDS_MIN


def test_a_group_counts_less_than_own_words_and_its_negatives_in_full() -> None:
    assert heading("Issuer", ("Moody's",)).best()[0] == "rating_issuer_a"
    assert heading("Rating", ("S&P",)).best()[0] == "rating_b"
    assert heading("Issuer").best()[0] == "borrower_name"
    assert heading("S&P", ("Country Rating",)).weights.get("rating_b", 0.0) < WORDS_MIN


def test_an_agency_rules_out_the_others() -> None:
    weights = heading("Moody's Rating").weights
    assert weights["rating_a"] >= WORDS_MIN
    assert weights["rating_b"] < 0 > weights["rating_c"]
    assert heading("Moody's Rating").names_agency
    assert not heading("Rating").names_agency


def test_what_stands_behind_including_counts_little() -> None:
    assert heading("Spread incl. PIK and PIK'able (for fixed rate loans, all in rate)").best()[0] == "spread"


def test_weights_are_bounded() -> None:
    for text, _ in NAMED:
        values = heading(text).weights.values()
        assert max(values) <= FULL_WEIGHT + 8
        assert min(values) >= WEIGHT_MIN


def test_letters_left_out_mean_the_one_word_that_they_fit() -> None:
    assert "outstanding" in tokens_of("OTSTNDNG")
    assert tokens_of("Xyzzy") == {"xyzzy"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("Loan Tape", "holdings"), ("Template", "template"), ("Holdings old", "old"), ("Coverage Tests", "tests"),
     ("Account Balances", "accounts"), ("Capital Structure", "notes")],
)  # fmt: skip
def test_names_of_sheets(name: str, kind: str) -> None:
    weights = kind_weights(name)
    assert weights
    assert max(weights, key=lambda weight: weights[weight]) == kind


def test_every_role_has_a_heading_that_the_standard_mapping_lists() -> None:
    """A role behaves as its usual heading does.

    One that no field lists would lose its columns.
    """
    known = matcher(PROFILES["standard_clo"])
    lost = [
        role for role, usual in USUAL.items() if not known.options(usual) and not known.options(INSTEAD.get(role, ""))
    ]
    assert lost == ["is_fixed"] or lost == []
    assert {role for role in USUAL if role not in words().roles} <= {"industry", "recovery"}


def test_the_table_of_words_is_sound() -> None:
    table = words()
    assert len(table.phrases) > 1_000
    assert all(len(phrase) <= 4 for phrase in table.phrases)
    assert all(abs(weight) <= 12 for rows in table.phrases.values() for _, weight in rows)


@pytest.mark.parametrize(
    "text",
    ["(" * 32_000, "A_" * 16_000, "incl. " * 6_000, "\u200b" * 32_000, "Par-\n" * 8_000, "[(" * 16_000 + ")]" * 16_000,
     "x" * 32_767],
)  # fmt: skip
def test_hostile_headings_are_cheap(text: str) -> None:
    started = perf_counter()
    heading(text, (text, text))
    assert perf_counter() - started < 0.5
