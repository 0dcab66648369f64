"""Which printed figure is which test of ours, by a name or by what both are about; the others are listed, and why."""

from __future__ import annotations

from typing import Any

import pytest

from core.compliance.deal_suite import tests_of as tests_of_definition
from core.compliance.matching import Pairs, pair, with_counted_decimals
from core.compliance.measuring import pools_of
from core.compliance.suites import SUITES
from core.definition import READY, Definition, parse
from core.portfolio.model.facts import Fact, Facts, FactSubject
from tests.core.compliance.test_published import book
from tests.rows import every


def printed(label: str, value: float | None = 1.0, trigger: float | None = 10.0, **more: Any) -> Fact:
    """A test of the page; what is no member of a fact is its subject's."""
    own = {name: more.pop(name) for name in list(more) if name in Fact.__dataclass_fields__}
    words = {"kind": "test", "unit": "percent", "place": f"'Tests'!C{abs(hash((label, value))) % 997}"} | own
    return Fact(label=label, subject=FactSubject(**more) if more else None, value=value, trigger=trigger, **words)


def pairs(*facts: Fact, definition: Definition | None = None, suite: str = "enhanced") -> Pairs:
    """The facts beside a suite's tests, or beside those of a definition."""
    loans = book(*facts)
    (pool, *_) = pools_of(loans, definition)
    own = {} if definition is None else {test.id: test for test in definition.tests}
    tests = SUITES[suite].tests if definition is None else tests_of_definition(definition)
    return pair(tests, own, pool)


def pair_lines(actual_pairs: Pairs) -> list[str]:
    return [match.test.test_id for match in actual_pairs.matches]


RIGHT: list[tuple[str, dict[str, Any], float, str]] = [
    ("Class E Par Value Test", {"measure": "oc", "classes": ("E",)}, 104.2, "oc_ratio"),
    ("Class A/B Par Value Test", {"measure": "oc", "classes": ("A", "B")}, 121.5, "oc_ratio_senior"),
    (
        "Class D Interest Coverage",
        {"measure": "ic", "classes": ("D",)},
        110.0,
        "ic_ratio ic_ratio_senior",
    ),  # the only class that is tested
    ("Highest Single Obligor", {"measure": "obligor", "rank": 1}, 3.0, "single_obligor_concentration"),
    ("Obligor Concentration", {"measure": "obligor"}, 2.5, "single_obligor_concentration"),
    ("Five Largest Obligors", {"measure": "obligor", "aggregate": 5}, 10.0, "top_5_concentration"),
    ("Largest Industry", {"measure": "industry", "rank": 1}, 15.0, "industry_concentration"),
    ("Second Largest Industry", {"measure": "industry", "rank": 2}, 12.0, "second_industry_concentration"),
    ("Moody's WARF", {"measure": "warf", "agency": "a"}, 2900.0, "average_rating_factor"),
    ("WARF", {"measure": "warf"}, 2900.0, "average_rating_factor"),
    ("Diversity", {"measure": "diversity", "agency": "a"}, 50.0, "diversity_score"),
    ("Cov-Lite Loans (excluding defaulted obligations)", {"measure": "cov_lite"}, 60.0, "cov_lite_concentration"),
    ("Obligor Concentration (excl. Defaulted)", {"measure": "obligor"}, 2.5, "single_obligor_concentration"),
    ("Interest Diversion Test", {"measure": "reinvestment"}, 104.7, "interest_diversion_ratio"),
    (
        "Outside Qualifying Countries",
        {"measure": "foreign", "detail": "qualifying"},
        20.0,
        "foreign_country_concentration",
    ),
    ("Outside the US", {"measure": "foreign", "is_complement": True}, 20.0, "foreign_country_concentration"),
]

WRONG: list[tuple[str, dict[str, Any], float | None, str | None, str]] = [
    # An aggregate over several obligors is not one of them.
    ("Maximum Obligor Concentration Test", {"measure": "obligor"}, 22.5, "top_5_concentration", "how many"),
    ("Top 10 Obligors", {"measure": "obligor", "aggregate": 10}, 22.5, "top_5_concentration",
     "the 10 largest together, ours of the 5"),
    ("Obligors", {"measure": "obligor", "aggregate": 0}, 20.0, "top_5_concentration", "how many"),
    # Nor is the fourth, or one among some of the loans.
    ("Fourth Highest Obligor", {"measure": "obligor", "rank": 4}, 2.5, "single_obligor_concentration", "number 4"),
    ("Highest of what is not senior", {"measure": "obligor", "rank": 1, "subset": "non_senior"}, 1.5,
     "single_obligor_concentration", "among loans that are not senior secured"),
    # Shares that include cash.
    ("Senior Secured, cash", {"measure": "senior_secured", "with_cash": True}, 90.0, None, "no test of this run"),
    # An industry, several of them, or by another list.
    ("Top 3 Industries Combined", {"measure": "industry", "aggregate": 3}, 40.0, "industry_concentration", "adds up 3"),
    ("Third Largest Industry", {"measure": "industry", "rank": 3}, 12.0, "industry_concentration", "third largest"),
    # A rescue loan that is defaulted is a rescue loan; and nothing that is printed is our delinquency.
    ("Corporate Rescue Loans that are a Defaulted Obligation", {"measure": "dip"}, 5.0, None, "no test of this run"),
    ("Defaulted Obligations", {"measure": "defaulted"}, 5.0, None, "no test of this run"),
    ("Class F Interest Coverage Ratio", {"measure": "ic", "classes": ("F",)}, None, "ic_ratio",
     "class F, ours of class D"),
    ("S&P WARF", {"measure": "warf", "agency": "b"}, 2885.0, "average_rating_factor", "by S&P, ours by Moody's"),
    ("Rating Factor", {"measure": "warf"}, 26.0, "average_rating_factor", "an agency that is not named"),
    ("S&P Average Life", {"measure": "wal", "agency": "b"}, None, None, "no test of this run"),
    ("S&P Spread", {"measure": "was", "agency": "b"}, None, "was", "S&P's own"),
    ("Outside Europe", {"measure": "foreign"}, 20.0, "foreign_country_concentration", "another home"),
    ("Abroad", {"measure": "foreign", "detail": "europe"}, 20.0, "foreign_country_concentration", "another home"),
    ("Outside the US or Canada", {"measure": "foreign", "detail": "us"}, 20.0, "foreign_country_concentration",
     "other places than home"),
    # A part of what the words say otherwise.
    *((label, words, 5.0, nearest, "a part of what ours measures") for label, words, nearest in (
        ("Five Largest Obligors (each)", {"measure": "obligor", "aggregate": 5}, "top_5_concentration"),
        ("Obligors other than the five largest", {"measure": "obligor", "aggregate": 5}, "top_5_concentration"),
        ("Each other Industry", {"measure": "industry", "rank": 1}, "industry_concentration"),
        ("Cov-Lite Loans of obligors with EBITDA below 50m", {"measure": "cov_lite"}, "cov_lite_concentration"),
        ("Cov-Lite Loans (excluding second lien)", {"measure": "cov_lite"}, "cov_lite_concentration"),
        ("Fitch CCC Obligations acquired below 80", {"measure": "ccc", "agency": "c"}, "ccc_bucket_pct"),
        ("Weighted Average Spread Adjustment", {"measure": "was"}, "was"),
    )),
    ("Obligor Concentration - Non-Senior Secured", {"measure": "non_senior"}, 5.0, "non_senior_secured_concentration",
     "about obligors among these loans"),
    ("Restricted Trading", {}, None, None, "no one test"),
]  # fmt: skip


@every("label, printed_line, trigger, test_id", RIGHT)
def test_a_figure_is_the_test_of_its_subject(
    label: str, printed_line: dict[str, Any], trigger: float, test_id: str
) -> None:
    result = pairs(printed(label, None, trigger, **printed_line))
    matched = test_id.split()
    assert (pair_lines(result), result.listed) == (matched, ())
    assert result.alone == tuple(test.test_id for test in SUITES["enhanced"].tests if test.test_id not in matched)


@every("label, printed_line, trigger, nearest, why", WRONG)
def test_what_is_not_matched_is_listed_with_the_nearest(
    label: str, printed_line: dict[str, Any], trigger: float | None, nearest: str | None, why: str
) -> None:
    result = pairs(printed(label, 1.0, trigger, **printed_line))
    assert pair_lines(result) == []
    ((_, near, reason, *_),) = result.listed
    assert near == nearest
    assert why in reason


def test_one_subject_with_two_figures_is_neither() -> None:
    first, second = (printed("Cov-Lite Loans", value, place=f"'T'!C{value:g}", measure="cov_lite") for value in (9, 12))
    result = pairs(first, second)
    assert pair_lines(result) == []
    assert [item.nearest for item in result.listed] == ["cov_lite_concentration"] * 2
    assert all("'T'!C9, 'T'!C12" in item.why for item in result.listed)
    marked = printed("Cov-Lite Loans", 9.0, conflict="'T'!C12: 12", measure="cov_lite")
    assert [item.why for item in pairs(marked).listed] == ["it is printed again with another figure: 'T'!C12: 12"]


def test_a_guess_contradicts_nothing_that_is_certain() -> None:
    sure = printed("Cov-Lite Loans", 9.8, 30.0, place="'T'!C1", conflict="'L'!J9: 4", measure="cov_lite")
    guess = printed("Acme Cov-Lite Loan", 4.0, 4.0, place="'L'!J9", is_guessed=True, measure="cov_lite")
    result = pairs(guess, sure)
    assert [match.published for match in result.matches] == [sure]
    assert [item.why for item in result.listed] == [
        "its column is a guess, and the figure of a certain one is taken: 'T'!C1"
    ]
    assert pair_lines(pairs(guess)) == ["cov_lite_concentration"]  # alone it is compared, with its doubt


def test_one_figure_on_two_pages_is_taken_once() -> None:
    first, second = (
        printed("Cov-Lite Loans", 9.8, trigger, place=place, decimals=decimals, measure="cov_lite")
        for place, trigger, decimals in (("'A'!C1", None, 1), ("'B'!C1", 30.0, 2))
    )
    result = pairs(first, second)
    assert [match.published.place for match in result.matches] == ["'B'!C1"]  # the one with the limit
    assert [(item.published.place, item.why) for item in result.listed] == [
        ("'A'!C1", "the same figure is taken from 'B'!C1")
    ]


def test_a_memo_beside_a_test_is_listed() -> None:
    memo = printed("Spread without excess", 4.02, None, kind="figure", measure="was", place="'M'!B2")
    test = printed("Minimum Spread", 4.1, 3.9, measure="was", place="'T'!B2")
    result = pairs(memo, test)
    assert [match.published for match in result.matches] == [test]
    assert [item.why for item in result.listed] == ["the figure with a limit is taken: 'T'!B2"]
    assert pair_lines(pairs(memo)) == ["was"]


def test_each_agencys_bucket_stands_beside_the_greatest_of_all() -> None:
    facts = [printed(f"{agency} CCC", 4.0, 7.5, measure="ccc", agency=agency) for agency in ("b", "c")]
    result = pairs(*facts)
    assert pair_lines(result) == ["ccc_bucket_pct"] * 2
    assert [match.published for match in result.matches] == facts
    market = pairs(*facts, definition=READY["euro"])
    assert pair_lines(market) == ["sp_ccc_concentration", "fitch_ccc_concentration"]


def test_a_name_of_the_definition_comes_before_the_words() -> None:
    test = {"id": "loose", "name": "Loose terms", "measure": "cov_lite", "max": 40.0, "aliases": ["Clause (xiv)"]}
    named, second = printed("Clause (XIV)", 9.0), printed("Cov-Lite Loans", 12.0, measure="cov_lite")
    result = pairs(second, named, definition=parse({"tests": [test]}))
    assert [(match.test.test_id, match.published) for match in result.matches] == [("loose", named)]
    assert [(item.nearest, item.why) for item in result.listed] == [
        ("loose", "the figure that the definition names is taken")
    ]
    alone = pairs(second, definition=parse({"tests": [test]}))
    assert pair_lines(alone) == ["loose"]


def test_formulas_are_the_same_whatever_their_blanks() -> None:
    test = {"id": "arrears", "name": "PIK", "share": "=OR( IS_PIK, is_deferring )", "max": 5.0}
    assert pair_lines(pairs(printed("Deferring", measure="pik"), definition=parse({"tests": [test]}))) == ["arrears"]
    second = {**test, "share": "=is_pik"}
    assert pair_lines(pairs(printed("Deferring", measure="pik"), definition=parse({"tests": [second]}))) == []


@every("share, matches", [
    ("=facility_rank_a>=17", True), ("= rank_a > 16", True), ("=rank_a>17", False), ("=rank_b>=17", False),
])  # fmt: skip
def test_a_share_of_ratings_below_a_rank_is_the_agencys_bucket(share: str, matches: bool) -> None:
    test = {"id": "caa", "name": "Low ratings", "share": share, "max": 7.5}
    figure = printed("Moody's Rating of Caa1 or below", measure="ccc", agency="a")
    assert pair_lines(pairs(figure, definition=parse({"tests": [test]}))) == (["caa"] if matches else [])


def test_of_industries_by_several_agencies_none_is_ours_where_nothing_says_whose_ours_are() -> None:
    facts = [printed(f"{agency} industry", None, 15.0, measure="industry", rank=1, agency=agency) for agency in "bc"]
    result = pairs(*facts)
    assert pair_lines(result) == []
    assert [item.nearest for item in result.listed] == ["industry_concentration"] * 2
    assert ["by the industries of S&P" in item.why for item in result.listed] == [True, False]
    assert pair_lines(pairs(facts[1])) == ["industry_concentration"]  # the only list that the file speaks of


def test_industries_of_a_list_are_those_of_the_definition() -> None:
    tests = [{"id": f"ind_{agency}", "name": agency, "measure": "industry", "classification": agency, "max": 15.0}
             for agency in ("b", "c")]  # fmt: skip
    definition = parse({"tests": tests})
    facts = [printed(f"{agency} industry", measure="industry", rank=1, agency=agency) for agency in ("c", "b")]
    assert pair_lines(pairs(*facts, definition=definition)) == ["ind_c", "ind_b"]
    # Which list a definition takes for its industries does not move Moody's diversity.
    moved = parse({"classifications": {"industry": "b"}, "tests": [{"id": "div", "name": "D", "measure": "diversity",
                                                                   "min": 50.0}]})  # fmt: skip
    assert pair_lines(pairs(printed("Moody's Diversity", measure="diversity", agency="a"), definition=moved)) == ["div"]


@pytest.mark.parametrize("suite", ["standard", "enhanced"])
def test_without_figures_every_test_is_alone(suite: str) -> None:
    assert pairs(suite=suite) == Pairs(alone=tuple(test.test_id for test in SUITES[suite].tests))


@every(
    "values, decimals, counted",
    [
        ([96.0, 4.0, 1.4], 2, 1), ([96.0, 4.0, 1.41], 2, 2), ([0.0, 0.0, 1.4], 2, 2), ([90.0, 40.0, 10.0], 1, 0),
        ([96.0, 4.0, 1.4], None, None), ([96.0, 4.0, 2.0], 0, 0),
    ],
)  # fmt: skip
def test_a_last_digit_that_is_always_zero_is_none(
    values: list[float], decimals: int | None, counted: int | None
) -> None:
    facts = [printed("Test", value, decimals=decimals, group="Profile", place=f"'T'!E{at}", measure="dip")
             for at, value in enumerate(values, 22)]  # fmt: skip
    elsewhere = printed("Ratio", 143.33, decimals=decimals, group="Par Value", place="'T'!E4", measure="oc")
    actual_facts = with_counted_decimals([elsewhere, *facts])
    assert [fact.decimals for fact in actual_facts] == [decimals, *[counted] * len(facts)]


def test_prior_figures_and_lines_are_beside_nothing() -> None:
    prior = printed("Cov-Lite Loans", 9.0, is_prior=True, measure="cov_lite")
    line = printed("Cov-Lite Loans", 36_950_336.27, None, kind="component", measure="cov_lite")
    assert pairs(prior, line).matches == ()
    assert Facts(all=(prior, line)).figures == ()
