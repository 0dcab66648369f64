"""Sentences that tell a test's figure are read, and those that may tell of something else are not."""

from __future__ import annotations

from core.portfolio.pages.report.sentences import parse_sentence
from tests.rows import every


@every(
    "text",
    [
        "The Class A/B OC trigger is 121.50%.",
        "The required Class A/B Interest Coverage Ratio is 120.00%.",
        "The Minimum Weighted Average Spread is 3.50%.",
        "The Weighted Average Life Test level is 6.00 years",
        "The Weighted Average Fixed Coupon Test of 5.5%",
        "The target Weighted Average Spread is 3.75%",
        "The Class A OC Ratio at closing was 135.20%.",
        "The Class A OC Ratio on the Effective Date was 135.20%.",
        "The OC Test is met where the Class A Par Value Ratio equals 121.50%.",
        "The Class A Interest Coverage Ratio excludes PIK interest of 5.25%.",
        "The Class A/B OC Ratio is calculated with a haircut of 7.50%.",
        "The Class A/B OC Ratio is 3.2% below its limit of 121.50%",
    ],
)
def test_a_doubtful_sentence_is_none(text: str) -> None:
    assert parse_sentence(text) is None


@every(
    "text, value, limit",
    [
        ("The Class A/B OC Ratio is 129.49%, above the required 121.50%.", 129.49, 121.5),
        ("The Diversity Score is 62.5, below the minimum of 60.", 62.5, 60.0),
        ("The Minimum Weighted Average Spread Test is satisfied, at 3.61%.", 3.61, None),
        ("The Class A/B Interest Coverage Ratio is 210.4%.", 210.4, None),
    ],
)
def test_a_sentence_gives_its_figures(text: str, value: float, limit: float | None) -> None:
    sentence = parse_sentence(text)
    assert sentence is not None
    assert sentence.value.number == value
    assert (sentence.limit.number if sentence.limit.has_number else None) == limit
