"""What a definition makes of a portfolio's ratings, obligors, recoveries and home, each worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from core.compliance.conventions import PLAIN, currency_of, standard_of
from core.compliance.pool_sums import Pool
from core.compliance.run import run_suite
from core.definition import READY, parse
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of
from tests.core.compliance.test_measures import portfolios
from tests.rows import every

M = 1e6


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def figure(portfolio: Portfolio, test_id: str, **document: Any) -> float:
    definition = parse(document) if document else None
    ran = run_suite(portfolio, "enhanced", test_ids=[test_id], definition=definition)
    return ran[0].current_value


@settings(max_examples=40, deadline=None)
@given(portfolios())
def test_a_definition_that_says_nothing_changes_nothing(portfolio: Portfolio) -> None:
    plain = run_suite(portfolio, "enhanced")
    for nothing in (parse({}), PLAIN):
        defined = run_suite(portfolio, "enhanced", definition=nothing)
        assert [(item.test_id, item.current_value, item.status) for item in plain] == [
            (item.test_id, item.current_value, item.status) for item in defined
        ]
        assert [item.test_id for item in plain.skipped] == [item.test_id for item in defined.skipped]
    assert {warning.code for warning in plain.warnings} == {
        warning.code for warning in run_suite(portfolio, "enhanced", definition=PLAIN).warnings
    }


def test_a_masked_rating_is_no_ccc_and_no_unrated_one() -> None:
    """Loans of 60 B2, 20 masked by both, 20 rated by nobody.

    The last alone is in the buckets, at Caa3's factor.
    """
    loans = portfolio_of(
        {
            "par_value": [60 * M, 20 * M, 20 * M],
            "rating_agency_a": ["B2", "***", "NR"],
            "rating_agency_b": ["B", "*", None],
        }
    )
    assert figure(loans, "ccc_bucket_pct") == close(20.0)
    assert figure(loans, "average_rating_factor") == close((60 * 2720 + 20 * 8070) / 80)
    open_only = portfolio_of({"par_value": [60 * M, 20 * M], "rating_agency_a": ["B2", "***"]})
    assert figure(open_only, "ccc_bucket_pct") == 0.0
    assert figure(open_only, "average_rating_factor") == close(2720.0)
    assert [warning.code for warning in run_suite(open_only).warnings] == ["masked_ratings"]


LADDER = {
    "par_value": [10 * M] * 5,
    "rating_agency_a": ["B2", None, "*", None, None],
    "rating_agency_b": ["CCC", "BBB-", "BB", "B-", None],
}


@every(
    "document, factors",
    [
        # B2; BBB- one down is Ba1; masked takes BB two down: B1; B- two down is Caa2; nobody: Caa3.
        ({"notched_from": ["b"]}, [2720, 940, 2220, 6500, 8070]),
        ({"notched_from": ["b"], "notches_investment_grade": 0, "notches_below": 1}, [2720, 610, 1766, 4770, 8070]),
        ({"notched_from": ["b"], "masked": "B3"}, [2720, 940, 3490, 6500, 8070]),
        ({"notched_from": ["b"], "masked": "left_out"}, [2720, 940, 6500, 8070]),
        ({"notched_from": ["b"], "masked": 5000}, [2720, 940, 5000, 6500, 8070]),
        ({"notched_from": ["b"], "unrated": "left_out"}, [2720, 940, 2220, 6500]),
        ({"notched_from": ["b"], "unrated": "Caa2"}, [2720, 940, 2220, 6500, 6500]),
    ],
)
def test_the_ladder_of_moodys(document: dict[str, Any], factors: list[float]) -> None:
    rules = {"ratings": {"a": document}, "tests": [{"id": "x_x", "name": "X", "measure": "warf", "agency": "a"}]}
    ran = run_suite(portfolio_of(LADDER), "deal", definition=parse(rules))
    assert ran.figures["x_x"] == close(sum(factors) / len(factors))


def test_a_rating_on_watch_moves_and_a_derived_one_has_moved() -> None:
    """B2 on watch down is B3, on watch up B1.

    The derived column stands as it is, and comes first.
    """
    columns = {"par_value": [M] * 3, "rating_agency_a": ["B2 *-", "B2", "B2"], "watch_a": [None, "Watch Pos", None]}
    rules: dict[str, Any] = {"ratings": {"a": {"watch_negative": 1, "watch_positive": 1}}}
    assert figure(portfolio_of(columns), "average_rating_factor", **rules) == close((3490 + 2220 + 2720) / 3)
    derived = portfolio_of(columns | {"rating_agency_a_derived": ["B1", "*", None]})
    assert figure(derived, "average_rating_factor", **rules) == close((2220 + 2220 + 2720) / 3)


def test_loans_that_nobody_rates_are_no_ccc_where_most_are_such() -> None:
    """Private credit: three of four say NR.

    A definition that says what unrated loans count as outranks that.
    """
    columns = {
        "par_value": [M] * 4,
        "rating_agency_a": ["NR", "NR", "B2", "NR"],
        "rating_agency_b": ["NR", "NR", "B", "NR"],
    }
    loans = portfolio_of(columns)
    ran = run_suite(loans, "enhanced", test_ids=["ccc_bucket_pct"])
    assert ran[0].current_value == 0.0
    assert "unrated_not_ccc" in [warning.code for warning in ran.warnings]
    assert figure(loans, "average_rating_factor") == close((3 * 8070 + 2720) / 4)
    assert figure(loans, "ccc_bucket_pct", conventions={"principal_cash": "none"}) == 0.0
    assert figure(loans, "ccc_bucket_pct", ratings={"unrated_is_ccc": True}) == close(75.0)
    assert figure(loans, "ccc_bucket_pct", ratings={"b": {"unrated": "CCC-"}}) == close(75.0)
    # A blank says nothing, and half of the loans are not most.
    for ratings in (["NR", None, "B2", None], ["NR", "NR", "B2", "B1"]):
        few = portfolio_of({"par_value": [M] * 4, "rating_agency_a": ratings})
        assert figure(few, "ccc_bucket_pct") > 0
        assert "unrated_not_ccc" not in [warning.code for warning in run_suite(few, "enhanced").warnings]


def test_unrated_loans_are_outside_the_buckets_where_the_definition_says_so() -> None:
    loans = portfolio_of({"par_value": [90 * M, 10 * M], "rating_agency_a": ["B2", "NR"]})
    assert figure(loans, "ccc_bucket_pct") == close(10.0)
    assert figure(loans, "ccc_bucket_pct", ratings={"unrated_is_ccc": False}) == 0.0
    assert figure(loans, "average_rating_factor", ratings={"unrated_is_ccc": False}) == close(0.9 * 2720 + 807)


def bounds(kind: str) -> dict[str, Any]:
    """Ratings that are masked or missing, between B1 and Caa2."""
    ends = {"": "bounds", "_best": "B1", "_worst": "Caa2", "_value": "B3"}
    return {"ratings": {"a": {f"{kind}{end}": actual_end for end, actual_end in ends.items()}}}


@pytest.mark.parametrize(("kind", "shown_as", "words"), [("masked", "*", "masked"), ("unrated", "NR", "missing")])
def test_bounds_give_a_status_only_where_both_ends_agree(kind: str, shown_as: str, words: str) -> None:
    """80 of B2 and 20 that are not shown: 2620 to 3476 around 2874; CCC 0 to 20."""
    loans = portfolio_of({"par_value": [80 * M, 20 * M], "rating_agency_a": ["B2", shown_as]})
    tests = [
        {"id": "factor_low", "name": "A", "measure": "warf", "agency": "a", "max": 2600},
        {"id": "factor_open", "name": "B", "measure": "warf", "agency": "a", "max": 3000},
        {"id": "factor_high", "name": "C", "measure": "warf", "agency": "a", "max": 3500},
        {"id": "bucket", "name": "D", "measure": "ccc", "agency": "a", "max": 7.5},
        {"id": "not_moved", "name": "E", "value": "=cpa", "max": 1e9, "unit": "amount"},
    ]
    ran = run_suite(loans, "deal", definition=parse(bounds(kind) | {"tests": tests}))
    low, high, value = 0.8 * 2720 + 0.2 * 2220, 0.8 * 2720 + 0.2 * 6500, 0.8 * 2720 + 0.2 * 3490
    shown = {item.test_id: (item.status, item.low, item.high) for item in ran}
    assert shown["factor_low"] == ("fail", close(low), close(high))
    assert shown["factor_high"] == ("pass", close(low), close(high))
    assert shown["not_moved"][0] == "pass"
    assert not isinstance(shown["not_moved"][1], float)
    left = {item.test_id: (item.current_value, item.low, item.high) for item in ran.skipped}
    assert left == {"factor_open": (close(value), close(low), close(high)), "bucket": (0.0, 0.0, close(20.0))}
    assert all(f"{words} ratings leave it open" in item.reason for item in ran.skipped)


def test_what_a_rating_table_says_of_masked_ratings_is_no_range() -> None:
    """70 of B2, 5 of Caa1, 25 masked.

    Of these the table has 4 as Caa, so that the bucket is 9 of 100 whatever masks hide. An excess of 9 - 3 = 6
    takes off: the shown 5 at 80, and 1 that is not shown, at nothing, at 70 or, with all 25 in the bucket, 6 at 40.
    """
    loans = portfolio_of(
        {"par_value": [70 * M, 5 * M, 10 * M, 15 * M], "rating_agency_a": ["B2", "Caa1", "*", "*"],
         "price": [99.0, 80.0, 90.0, 40.0]},
        tranches=tranches_of([("A", 50 * M)]), deal=Deal(principal_cash=0.0, masked_ccc_a=4 * M),
    )  # fmt: skip
    document = bounds("masked") | {
        "par_value": {"ccc_limit": 3.0, "ccc_agencies": ["a"]},
        "tests": [
            {"id": "bucket", "name": "D", "measure": "ccc", "agency": "a", "max": 10.0},
            {"id": "every_bucket", "name": "E", "measure": "ccc", "max": 10.0},
            {"id": "over", "name": "O", "measure": "oc", "class": "A", "min": 100.0},
            {"id": "factor", "name": "F", "measure": "warf", "agency": "a", "max": 9000.0},
        ],
    }
    ran = {item.test_id: item for item in run_suite(loans, "deal", definition=parse(document))}
    for name in ("bucket", "every_bucket"):
        assert ran[name].current_value == close(9.0)
        assert not isinstance(ran[name].low, float)
        assert "stand_in" in {item.code for item in ran[name].doubt}
    assert ran["over"].current_value == close((100 - 1.0 - 0.3) / 50 * 100)
    assert "1,000,000.00 of the CCC excess" in " ".join(item.message for item in ran["over"].doubt)
    assert (ran["over"].low, ran["over"].high) == (close((100 - 3.6) / 50 * 100), close((100 - 1.0) / 50 * 100))
    assert isinstance(ran["factor"].low, float)
    below = parse(document | {"par_value": {"ccc_limit": 9.0, "ccc_agencies": ["a"]}})
    over = {item.test_id: item for item in run_suite(loans, "deal", definition=below)}["over"]
    assert over.current_value == close(200.0)
    assert "CCC excess" not in " ".join(item.message for item in over.doubt)
    assert not isinstance(over.low, float)
    suite = {item.test_id: item for item in run_suite(loans, "enhanced", definition=parse(bounds("masked")))}
    assert suite["ccc_bucket_pct"].current_value == close(9.0)
    for policy, bucket in (("left_out", 9.0), ("B3", 5.0)):  # a rating is the definition's word, whatever a table says
        rules = parse({"ratings": {"a": {"masked": policy}}})
        suite = {item.test_id: item for item in run_suite(loans, "enhanced", definition=rules)}
        assert suite["ccc_bucket_pct"].current_value == close(bucket)


def test_of_a_loan_that_another_agency_rates_the_bucket_is_known() -> None:
    """Moody's does not rate 20 that S&P rates CCC.

    No Caa bucket has them, and Moody's factor is open.
    """
    loans = portfolio_of(
        {"par_value": [80 * M, 20 * M], "rating_agency_a": ["B2", "NR"], "rating_agency_b": ["B", "CCC"]}
    )
    tests = [
        {"id": f"bucket_{agency}", "name": agency, "measure": "ccc", "agency": agency, "max": 7.5} for agency in "ab"
    ] + [{"id": "factor", "name": "F", "measure": "warf", "agency": "a", "max": 3500}]
    ran = run_suite(loans, "deal", definition=parse(bounds("unrated") | {"tests": tests}))
    assert ran.skipped == []
    assert {item.test_id: item.current_value for item in ran} == {
        "bucket_a": 0.0, "bucket_b": close(20.0), "factor": close(0.8 * 2720 + 0.2 * 3490)
    }  # fmt: skip
    assert [item.low for item in ran if item.test_id == "factor"] == [close(0.8 * 2720 + 0.2 * 2220)]


def test_families_are_one_obligor() -> None:
    """By the key of the obligor, however the name is spelt."""
    loans = portfolio_of({"par_value": [5 * M, 4 * M, 6 * M], "obligor": ["ALPHA HOLDING", "ALPHA FINANCE", "BETA"]})
    assert figure(loans, "single_obligor_concentration") == close(40.0)
    families = [{"name": "Alpha", "obligors": ["Alpha Holding", "Alpha Finance B.V."]}]
    assert figure(loans, "single_obligor_concentration", classifications={"families": families}) == close(60.0)


INDUSTRIES = {
    "par_value": [4 * M, 3 * M, 2 * M, 1 * M], "obligor": ["A", "B", "C", "D"],
    "industry": ["X", "X", "Y", "Z"], "industry_a": ["X", "Y", "Y", "Y"], "industry_b": ["P", "P", "P", "P"],
}  # fmt: skip


def of_columns(*names: str, **cells: str) -> Portfolio:
    """The loans with the par, the obligors and these columns of industries.

    `cells` are those of the source.
    """
    columns = {name: values for name, values in INDUSTRIES.items() if not name.startswith("industry") or name in names}
    return replace(portfolio_of(columns), source_cells=cells)


def test_the_industries_of_the_tests_do_not_move_moodys_diversity() -> None:
    loans = of_columns("industry", "industry_a", "industry_b")
    plain = figure(loans, "diversity_score")
    for agency in ("any", "a", "b", "c"):
        assert figure(loans, "diversity_score", classifications={"industry": agency}) == plain
    assert figure(loans, "industry_concentration", classifications={"industry": "b"}) == close(100.0)
    assert figure(loans, "industry_concentration") == close(70.0)
    # Where the file's are S&P's: by Moody's.
    moodys = {**INDUSTRIES, "industry": INDUSTRIES["industry_a"]}
    by_moodys = figure(portfolio_of(moodys), "diversity_score")
    assert by_moodys != plain
    fed = of_columns("industry", "industry_a", "industry_b", industry="'H'!B2:B5", industry_b="'H'!B2:B5")
    for document in ({}, {"classifications": {"industry": "b"}}, {"classifications": {"industry": "a"}}):
        assert figure(fed, "diversity_score", **document) == by_moodys


def test_diversity_goes_by_the_industries_that_the_definition_names_for_it() -> None:
    """Whatever the tests go by, and whoever's the file's own are."""
    alone = {
        name: figure(portfolio_of({"par_value": INDUSTRIES["par_value"], "obligor": INDUSTRIES["obligor"],
                                   "industry": INDUSTRIES[name]}), "diversity_score")
        for name in ("industry", "industry_a", "industry_b")
    }  # fmt: skip
    assert len(set(alone.values())) == 3
    wanted = {"any": "industry", "a": "industry_a", "b": "industry_b"}
    for cells in ({}, {"industry": "'H'!B2:B5", "industry_b": "'H'!B2:B5"}):
        loans = of_columns("industry", "industry_a", "industry_b", **cells)
        for tests in ("any", "a", "b"):
            for stated, name in wanted.items():
                words = {"classifications": {"industry": tests, "diversity": stated}}
                assert figure(loans, "diversity_score", **words) == alone[name], (cells, tests, stated)
                largest = {"any": 70.0, "a": 60.0, "b": 100.0}[tests]
                assert figure(loans, "industry_concentration", **words) == close(largest)
    without = of_columns("industry", "industry_b")
    ran = run_suite(without, "enhanced", definition=parse({"classifications": {"diversity": "a"}}))
    assert {item.test_id: "industry_a" in item.reason for item in ran.skipped}["diversity_score"]


def test_printed_tests_of_one_agency_say_by_whose_industries_the_deal_goes() -> None:
    loans = of_columns("industry", "industry_a", "industry_b")
    printed = [
        Fact(kind="test", label="Industry", subject=FactSubject(measure="industry", agency=agency, rank=1), value=None,
             trigger=15.0, place="")
        for agency in ("b", "a")
    ]  # fmt: skip
    by_b = replace(loans, facts=Facts(all=(printed[0],)))
    assert figure(by_b, "industry_concentration") == close(100.0)
    assert figure(by_b, "diversity_score") == figure(loans, "diversity_score")
    both = replace(loans, facts=Facts(all=tuple(printed)))
    assert figure(both, "industry_concentration") == close(70.0)


def test_home_is_that_of_the_definition() -> None:
    loans = portfolio_of({"par_value": [5 * M, 3 * M, 2 * M], "country": ["DE", "FR", "US"]})
    assert figure(loans, "foreign_country_concentration") == close(80.0)
    europe: dict[str, Any] = {"conventions": {"home_countries": ["Germany", "France"]}}
    assert figure(loans, "foreign_country_concentration", **europe) == close(20.0)


@every(
    "home, name, formula",
    [
        (None, "Obligors outside the US", "par with a country other than US / CPA x 100"),
        (["US"], "Obligors outside the US", "par with a country other than US / CPA x 100"),
        (["CA"], "Obligors outside the home country", "par with a country outside the home country / CPA x 100"),
        (
            ["US", "CA"],
            "Obligors outside the home countries",
            "par with a country outside the home countries / CPA x 100",
        ),
    ],
)
def test_the_foreign_share_is_called_by_the_home(home: list[str] | None, name: str, formula: str) -> None:
    loans = portfolio_of({"par_value": [5 * M, 3 * M, 2 * M], "country": ["CA", "FR", "US"]})
    rules = None if home is None else parse({"conventions": {"home_countries": home}})
    (ran,) = run_suite(loans, "enhanced", test_ids=["foreign_country_concentration"], definition=rules)
    assert (ran.test_name, ran.test_id) == (name, "foreign_country_concentration")
    assert ran.message.startswith(f"{name} ")
    assert ran.details is not None
    assert ran.details.formula == formula
    assert ran.details.breakdown["home_countries"] == sorted(home or ["US"])
    (none,) = run_suite(loans, "enhanced", test_ids=["small_facility_concentration"], definition=rules).skipped
    assert none.test_name == "Small facilities"


def test_a_deal_in_euros_has_no_test_of_obligors_outside_the_us() -> None:
    loans = portfolio_of({"par_value": [5 * M, 5 * M], "country": ["DE", "US"], "currency": ["EUR", "EUR"]})
    for suite in ("enhanced", "deal"):
        ran = run_suite(loans, suite)
        named = [*ran, *ran.skipped]
        assert not [item.test_name for item in named if "the US" in item.test_name]
        assert "foreign_country_concentration" in [item.test_id for item in named]


def test_euros_bring_the_european_standard_and_a_warning() -> None:
    columns = {"par_value": [5 * M, 5 * M], "country": ["DE", "US"], "currency": ["EUR", "EUR"]}
    ran = run_suite(portfolio_of(columns), "enhanced", test_ids=["foreign_country_concentration"])
    assert ran[0].current_value == close(50.0)
    assert [warning.code for warning in ran.warnings] == ["standard_definition"]
    assert [
        warning.code for warning in run_suite(portfolio_of(columns), "deal", definition=READY["us_bsl"]).warnings
    ] == ["definition_currency", "standard_definition"]
    dollars = run_suite(portfolio_of(columns | {"currency": ["USD", "USD"]}), "enhanced")
    assert dollars.warnings == []


@every(
    "file, loans, record, currency, is_european",
    [
        ("EUR", ["USD", "USD", "USD"], "USD", "EUR", True),
        ("Euro", None, None, "EUR", True),
        ("USD", ["EUR", "EUR", "EUR"], "EUR", "USD", False),
        (None, ["EUR", "USD", "Euro"], "USD", "EUR", True),  # two spellings of one currency
        (None, ["GBP", "GBP", None], "USD", "GBP", True),
        (None, ["USD", "USD", "EUR"], "EUR", "USD", False),
        (None, [None, None, None], "EUR", "EUR", False),
        (None, None, None, None, False),
    ],
)
def test_one_currency_decides_on_the_standard(
    file: str | None, loans: list[str | None] | None, record: str | None, currency: str | None, is_european: bool
) -> None:
    """The file's, else that of most loans, else the record's, which a portfolio alone has none of."""
    columns: dict[str, Any] = {"par_value": [M, M, M]} | ({} if loans is None else {"currency": loans})
    portfolio = portfolio_of(columns, deal=Deal(currency=file))
    assert currency_of(portfolio, record) == currency
    assert standard_of(portfolio) is (READY["euro"] if is_european else None)


def test_a_defaulted_loan_is_carried_by_the_recovery_of_the_right_agency() -> None:
    """Price 58.78, S&P's recovery 20, Fitch's 35.

    Carried at 20, by Fitch alone at 35, at the market 58.78.
    """
    columns = {
        "par_value": [9 * M, M], "is_defaulted": [0, 1], "price": [99.0, 58.78], "recovery_rate": [None, 40.0],
        "recovery_rate_b": [45.0, 20.0], "recovery_rate_c": [60.0, 35.0],
    }  # fmt: skip
    loans = portfolio_of(columns)

    def carried(**document: Any) -> float:
        return Pool(loans, parse(document)).tally.defaulted_carried

    assert carried() == close(0.4 * M)
    assert carried(ratings={"recovery": ["b", "c"]}) == close(0.2 * M)
    assert carried(ratings={"recovery": ["c"]}) == close(0.35 * M)
    assert carried(par_value={"defaulted": "market_value"}) == close(0.5878 * M)
    assert carried(par_value={"defaulted": "recovery"}, ratings={"recovery": ["b"]}) == close(0.2 * M)
    assert carried(par_value={"defaulted": "none"}) == 0.0


@every(
    "general, of_agency, average",
    [
        ([40.0, 60.0], [50.0, None], 55.0),  # the general rate where the agency has none
        ([40.0, 60.0], [50.0, 70.0], 60.0),
        ([None, 60.0], [50.0, 70.0], 60.0),
    ],
)
def test_a_blank_of_an_agency_leaves_the_general_recovery_rate(
    general: list[float | None], of_agency: list[float | None], average: float
) -> None:
    columns: dict[str, Any] = {"par_value": [M, M], "recovery_rate_a": of_agency}
    loans = portfolio_of(columns | {"recovery_rate": general})
    assert figure(loans, "weighted_average_recovery_rate", ratings={"recovery": ["a"]}) == close(average)


def test_without_a_recovery_rate_the_assumed_one_carries() -> None:
    """The lower of the price and the 45 that a senior secured loan recovers, as in the average; 35 for second lien."""
    columns = {"par_value": [9 * M, M, M], "is_defaulted": [0, 1, 1], "price": [99, 80, 20], "lien_type": [1, 2, 1]}
    assert Pool(portfolio_of(columns)).tally.defaulted_carried == close((0.35 + 0.20) * M)


def test_the_denominator_may_be_without_cash() -> None:
    loans = portfolio_of(g1_columns(), deal=Deal(principal_cash=50e6))
    par = Pool(loans).par
    pool = Pool(loans, parse({"conventions": {"cash_in_denominator": False}}))
    assert (pool.denominator, pool.cpa) == (par, par + 50e6)


def test_the_sums_under_other_conventions_are_those_of_a_pass_of_their_own() -> None:
    loans = portfolio_of(g1_columns(), deal=Deal(principal_cash=50e6), tranches=tranches_of(G1_NOTES))
    second = replace(loans, deal=replace(loans.deal, principal_cash=1e6))
    rules = parse({"conventions": {"principal_cash": "positive", "defaulted_in_denominator": "par"},
                   "par_value": {"ccc_limit": 1.0, "ccc_agencies": ["b"]}})  # fmt: skip
    ours, whole = Pool(loans, parse({})).under(second, rules), Pool(second, rules)
    assert (ours.cash, ours.denominator, ours.adjustments) == (whole.cash, whole.denominator, whole.adjustments)
    assert ours.structure == whole.structure


def test_the_denominator_may_carry_a_defaulted_loan() -> None:
    """As the profile tests of a European report do, and its OC numerator does not."""
    columns = {"par_value": [90 * M, 10 * M], "is_defaulted": [0, 1], "price": [99.0, 20.0], "cov_lite": [1, 0]}
    loans = portfolio_of(columns)
    for current, denominator in (("none", 90.0), ("carried", 92.0), ("par", 100.0)):
        rules = {"conventions": {"defaulted_in_denominator": current}}
        assert figure(loans, "cov_lite_concentration", **rules) == close(90 / denominator * 100)


@every(
    "document, haircut",
    [
        ({}, 0.0),
        ({"long_dated": "zero"}, 10.0),
        ({"long_dated": "excess_at_zero", "long_dated_limit": 4.0}, 6.0),
        ({"current_pay": "market_value"}, 6 * 0.4 + 4 * 0.1),
        # 10 of 100 are current pay; 5 above the limit are those at 60.
        ({"current_pay": "excess_at_market", "current_pay_limit": 5.0}, 5 * 0.4),
        ({"discount": False}, -3.0),
        ({"deferring": False}, -5.5),
    ],
)
def test_rows_of_the_oc_numerator(document: dict[str, Any], haircut: float) -> None:
    """Of 100: 10 long-dated, 6 and 4 current pay at 60 and 90, 10 bought at 70, 10 deferring at 90 (recovery 45)."""
    loans = portfolio_of(
        {
            "par_value": [60 * M, 10 * M, 6 * M, 4 * M, 10 * M, 10 * M],
            "price": [99.0, 99.0, 60.0, 90.0, 75.0, 90.0],
            "purchase_price": [99.0, 99.0, 99.0, 99.0, 70.0, 99.0],
            "rating_agency_a": [15] * 6,
            "is_long_dated": [0, 1, 0, 0, 0, 0],
            "is_current_pay": [0, 0, 1, 1, 0, 0],
            "is_deferring": [0, 0, 0, 0, 0, 1],
        }
    )
    base = 100 - 3.0 - 5.5
    adjusted = Pool(loans, parse({"par_value": document})).adjustments["adjusted"]
    assert adjusted == close((base - haircut) * M)


def test_purchased_accrued_interest_counts_where_the_definition_says_so() -> None:
    """That of performing loans alone."""
    columns = {"par_value": [9 * M, M], "is_defaulted": [0, 1], "purchased_accrued_interest": [5e4, 1e4],
               "rating_agency_a": [15, 15]}  # fmt: skip
    plain, counted = (
        Pool(portfolio_of(columns), parse({"par_value": {"purchased_accrued_interest": on}})).adjustments["adjusted"]
        for on in (False, True)
    )
    assert counted - plain == close(5e4)


def test_pik_alone_is_not_deferring() -> None:
    loans = portfolio_of({"par_value": [M, M], "is_pik": [1, 0], "price": [50.0, 99.0]})
    assert Pool(loans).tally.deferring_haircut == 0.0


def test_a_bond_is_senior_secured_unless_said_otherwise() -> None:
    """First lien, bond, unsecured; and a flag alone says bond."""
    loans = portfolio_of({"par_value": [5 * M, 3 * M, 2 * M], "lien_type": [1, 4, 3]})
    assert figure(loans, "non_senior_secured_concentration") == close(20.0)
    assert figure(loans, "non_senior_secured_concentration", ratings={"bonds_secured": False}) == close(50.0)
    flagged = portfolio_of({"par_value": [5 * M, 5 * M], "lien_type": [1, 0], "is_bond": [0, 1]})
    assert figure(flagged, "non_senior_secured_concentration", ratings={"bonds_secured": False}) == close(50.0)


def test_the_ccc_rule_is_that_of_the_definition() -> None:
    """G1 holds 45 of Caa on 400.

    At 7.5 % an excess of 15 costs 6; by S&P alone with a limit of 10 %, 5 at 55: 2.25.
    """
    loans = portfolio_of(
        g1_columns(), tranches=tranches_of(G1_NOTES, oc={"E": 104.2}), deal=Deal(principal_cash=5e6, base_rate=4.3)
    )
    assert Pool(loans, parse({})).adjustments["ccc_haircut"] == close(6.0 * M)
    tight = parse({"par_value": {"ccc_limit": 10, "ccc_agencies": ["b"]}})
    assert Pool(loans, tight).adjustments["ccc_haircut"] == close(2.25 * M)
    assert Pool(loans, parse({"par_value": {"ccc_excess": False}})).adjustments["ccc_haircut"] == 0.0
