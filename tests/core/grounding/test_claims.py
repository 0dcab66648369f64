"""A sentence that asserts a status, a direction, a rating or a currency is marked unless a fact says so."""

from __future__ import annotations

from core.grounding.check import MARK, check
from core.grounding.fact import KnownFact
from tests.rows import every

NAMES = (
    "WARF", "Junior overcollateralisation", "CCC/Caa bucket", "Second largest industry",
    "Farnivar Bay Resources L.P.", "Quoriden Quay Management LLC", "Drumlin Foods",
)  # fmt: skip
FACTS = tuple(
    KnownFact(text, names=NAMES)
    for text in (
        "WARF is 2,776.67, at most 3,000 is required: it passes, with a cushion of 223.33.",
        "Junior overcollateralisation is 106.68 %, at least 104.20 % is required: it passes, with a cushion of 2.48"
        " points, or USD 11,444,655.",
        "CCC/Caa bucket rose from 6.15 % to 9.15 % since 31 March 2026, its limit is 7.50 %: it fails.",
        "Second largest industry is inside its warning band.",
        "Farnivar Bay Resources L.P.: Moody's rating from B3 to Caa1, S&P rating from B- to CCC+.",
        "Quoriden Quay Management LLC is in default.",
        "Drumlin Foods is rated B2; its price fell by 2.40 points.",
        "Were Drumlin Foods to default, Junior overcollateralisation would go from 106.68 % to 105.88 %.",
        "1 test of 25 is failing.",
    )
)

SUPPORTED = [
    "WARF passes.", "The WARF test is comfortably met.", "It complies: WARF is within its limit.",
    "WARF passes and the CCC/Caa bucket fails.", "The CCC bucket is in breach of its limit.", "The CCC bucket rose.",
    "The CCC bucket has increased since March, and it fails.", "Junior OC passes with a cushion of USD 11,444,655.",
    "WARF does not fail.", "WARF is no longer in breach.", "All other tests pass.", "The rest pass.",
    "Second largest industry is in its warning band.", "Quoriden Quay Management LLC has defaulted.",
    "Drumlin Foods is rated B2.", "The price of Drumlin Foods declined.", "Farnivar Bay Resources L.P. is rated CCC+.",
    "Farnivar Bay Resources L.P. was cut to Caa1 by Moody's.",
    "If Drumlin Foods were to default, the junior OC would decline.", "WARF would fail beyond its limit.",
    "The failing test is the CCC/Caa bucket.", "1 of 25 tests fails.", "One test is failing.",
    "Look at the rating changes first.", "There is a cushion of 2.48 points.", "WARF is 2,776.67. It passes.",
    "The data do not say more about it.",
    # limits, headroom
    "WARF is below its limit.", "WARF sits under its maximum of 3,000.", "WARF does not exceed its limit.",
    "The CCC bucket exceeds its limit of 7.50 %.", "The CCC bucket is above 7.50 %.",
    "The CCC bucket is over its limit.", "The CCC bucket has crossed its limit.",
    "Junior OC is above its requirement.", "Junior OC exceeds the required 104.20 % by 2.48 points.",
    "Junior OC has a cushion of 2.48 points.", "WARF has headroom of 223.33.",
    "WARF meets its requirement with 223.33 to spare.", "The CCC bucket is a concern.",
    "Junior OC stands at 106.68 %, comfortably over its trigger.",
    # directions, ratings, credit
    "The CCC bucket went up since March.", "The CCC bucket edged higher.",
    "S&P lowered Farnivar Bay Resources L.P. to CCC+.", "Farnivar Bay Resources L.P. was downgraded.",
    "Farnivar Bay Resources L.P. has a triple-C rating.", "Drumlin Foods is a single-B credit.",
    "Quoriden Quay Management LLC is insolvent.", "Quoriden Quay Management LLC went bust.",
    "WARF is not too high.", "The CCC bucket is too high.", "The CCC bucket is excessive.", "Junior OC is sufficient.",
    "The CCC bucket test was unsuccessful.", "WARF is acceptable.", "The change concerns Drumlin Foods.",
]  # fmt: skip

UNSUPPORTED = [
    # a status
    "The OC test fails.", "Everything passes.", "All tests pass.", "No test fails.", "The deal is fully compliant.",
    "The deal is in compliance.", "The portfolio passes.", "Nothing is in breach.", "There is no breach.",
    "WARF fails.", "The WARF test is in breach.", "WARF does not pass.", "The CCC/Caa bucket passes.",
    "The CCC bucket is within its limit.", "The CCC bucket meets its limit.", "The CCC test is not failing.",
    "Junior OC is failing.", "The junior overcollateralization test has tripped.", "Junior OC falls short.",
    "The senior OC test passes.", "The interest coverage test fails.", "Class E fails.", "Class A passes.",
    "The diversity test passes comfortably.",
    "Another deal fails.", "Both OC tests fail.", "Every coverage test is met.",
    "Second largest industry fails.", "WARF is in its warning band.", "WARF was skipped.",
    "The weighted average life test passes.",
    "WARF is 2,776.67. It fails.", "WARF fails and the CCC/Caa bucket passes.", "CCC/Caa bucket: pass.",
    "Status: all green, everything is okay.", "Compliance is met across the board.", "The deal may breach soon.",
    "Drumlin Foods is in default.", "Drumlin Foods defaulted in May 2026.",
    "Quoriden Quay Management LLC is performing.",
    "All loans are performing.", "No loan has defaulted.",
    # a direction
    "WARF rose.", "WARF has deteriorated.", "The CCC bucket fell.", "The CCC bucket has declined since March.",
    "The CCC bucket is unchanged.", "The CCC bucket improved.", "Junior OC fell.",
    "Junior overcollateralisation went down.",
    "The price of Drumlin Foods rose.", "Cushions narrowed across the board.", "The portfolio deteriorated.",
    "Spreads widened.", "WARF is higher than last month.", "The CCC bucket did not rise.", "It is worse than before.",
    # a rating
    "Drumlin Foods is rated CCC.", "Drumlin Foods is rated BB+.", "Farnivar Bay Resources L.P. is rated AAA.",
    "Drumlin Foods is rated Caa1.", "Most loans are investment grade.", "Drumlin Foods was downgraded.",
    "Farnivar Bay Resources L.P. was upgraded.", "Drumlin Foods is rated B.", "Its outlook is negative.",
    "Many of the names are unrated.", "The portfolio is mostly BBB.",
    # a currency
    "The cushion is EUR 11,444,655.", "The cushion is €11,444,655.", "The deal is denominated in euros.",
    "The cushion is 11,444,655 pounds.", "Loans in GBP are not counted.",
    "The cushion is in sterling.", "The cushion is in Canadian dollars.", "The cushion is C$11,444,655.",
    "The cushion is in Swiss francs.",
    # a limit, headroom
    "WARF comes in over its limit.", "WARF exceeds its maximum.", "WARF sits above its threshold.",
    "WARF is above 3,000.", "WARF has crossed its limit.", "The CCC bucket stays below its limit.",
    "The CCC bucket is under its limit.", "The CCC bucket does not exceed its limit.",
    "The CCC bucket respects its limit.", "Junior OC is short of what is required.",
    "Junior OC is below its requirement.", "Junior OC is underwater.", "Junior OC has lost its cushion.",
    "WARF has no headroom left.", "WARF has no cushion.", "Junior OC lacks headroom.",
    "The CCC bucket has headroom.", "The CCC bucket has room to spare.", "WARF is out of bounds.", "WARF is offside.",
    "WARF is non-conforming.", "WARF is red.", "The CCC bucket test is green.", "The senior OC test holds.",
    "Second largest industry is beyond its limit.",
    # a status in other words
    "The CCC bucket is not a concern.", "The CCC bucket raises no concern.", "WARF is a problem.", "WARF is at risk.",
    "All is well.", "The deal looks fine.", "The CCC bucket looks fine.", "An event of default has occurred.",
    "Interest is being diverted to pay the senior notes.",
    "WARF flunks the test.", "WARF is excessive.", "WARF is too high.", "WARF is unacceptable.",
    "The CCC bucket is not too high.", "The CCC bucket is acceptable.", "The CCC bucket remains within tolerance.",
    "The CCC bucket is unproblematic.", "The CCC bucket test was successful.", "Junior OC is insufficient.",
    "Junior OC is broken.", "Junior OC is weaker.", "The deal has lost compliance.", "Each test was a success.",
    "Drumlin Foods is impaired.", "Drumlin Foods stopped paying.",
    "Drumlin Foods is a fallen angel.",
    "Drumlin Foods is distressed.", "Drumlin Foods is insolvent.",
    "Quoriden Quay Management LLC is current on its payments.",
    # a direction in other words
    "The CCC bucket came down.", "The CCC bucket has eased since March.", "The CCC bucket dipped.",
    "The CCC bucket is trending lower.", "The CCC bucket is lower now.", "WARF is trending upward.",
    "WARF edged up.", "WARF ticked higher.", "WARF soared.", "Junior OC slipped.", "Junior OC came off.",
    "The price of Drumlin Foods rallied.",
    # a rating in other words
    "Drumlin Foods has a triple-C rating.", "Drumlin Foods is a triple-A credit.", "Drumlin Foods is rated single-A.",
    "Drumlin Foods is a high-yield name.", "Drumlin Foods lost its rating.",
    "Drumlin Foods was put on credit watch negative.", "Farnivar Bay Resources L.P. was raised by Moody's.",
    "Moody's lifted Farnivar Bay Resources L.P.", "Farnivar Bay Resources L.P. was upgraded by S&P.",
]  # fmt: skip


@every("text", SUPPORTED)
def test_what_a_fact_says_is_not_marked(text: str) -> None:
    assert check(text, FACTS).text == text


@every("text", UNSUPPORTED)
def test_what_no_fact_says_is_marked(text: str) -> None:
    checked = check(text, FACTS)
    assert MARK in checked.text, checked
    assert checked.unsupported
    assert checked.text.replace(MARK, "") == text


def test_a_currency_is_that_of_the_facts_where_an_amount_has_none() -> None:
    """An amount whose currency the file does not say bears no other one's symbol."""
    facts = [KnownFact("cushion", 6_778_000.0, "amount"), KnownFact("par", 100.0, "USD")]
    assert not check("The cushion is USD 6,778,000.", facts).unsupported
    assert check("The cushion is EUR 6,778,000.", facts).unsupported


def test_only_the_sentence_without_a_fact_is_marked() -> None:
    checked = check("WARF passes. The OC test fails. The CCC bucket rose.", FACTS)
    assert checked.text == f"WARF passes. The OC test fails.{MARK} The CCC bucket rose."
    assert checked.unsupported == ("The OC test fails.",)


OTHERS = tuple(
    KnownFact(text, names=("Weighted average spread", "Acme Corp.", "CCC/Caa bucket", "Second largest obligor"))
    for text in (
        "Weighted average spread is 3.42 %, at least 3.50 % is required: it fails.",
        "The largest obligor is Acme Corp. with 1.20 % of par, against at most 2.00 %.",
        "CCC/Caa bucket is 7.40 %, limit 7.50 %.",
        "Moody's rating of Acme Corp. went from B2 to B3.",
    )
)


@every(
    "text, is_marked",
    [
        ("The weighted average spread is below its minimum.", False),
        ("The weighted average spread is below the required 3.50 %.", False),
        ("The weighted average spread does not exceed its minimum.", False),
        ("The weighted average spread is above 3.50 %.", True),
        ("The weighted average spread exceeds its minimum.", True),
        ("The largest obligor is below its limit of 2.00 %.", False),
        ("The largest obligor is above its limit.", True),
        ("The CCC/Caa bucket is below its limit.", False),
        ("The CCC/Caa bucket exceeds 7.50 %.", True),
        ("The main concern is the weighted average spread, which fails.", False),
        ("The main concern is the CCC/Caa bucket.", True),
        ("Acme Corp. was downgraded.", False),
        ("Moody's raised Acme Corp.", True),
    ],
)
def test_limits_and_changes_of_rating_go_by_the_figures_of_facts(text: str, is_marked: bool) -> None:
    assert bool(check(text, OTHERS).unsupported) == is_marked


def test_days_with_points_are_no_figures() -> None:
    facts = [KnownFact("The period went from 31.12.2025 to 31.1.2026, its limit is 1.2.2026.")]
    assert check("The period is above 1.2.2026. The limit: 1.2.3.4.", facts).text
