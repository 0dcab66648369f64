"""What the pool is made of, against plain sums over its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

import pytest

from core.definition import parse
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from core.report.content import ComplianceReport, Concentration
from core.report.pool import ROWS_SHOWN, YEARS_SHOWN
from tests.core.compliance.conftest import g1_columns, portfolio_of
from tests.core.report.conftest import reported

Build = Callable[..., Portfolio]


def of(report: ComplianceReport, title: str) -> Concentration:
    return next(concentration for concentration in report.concentrations if concentration.title == title)


def buckets(report: ComplianceReport, title: str) -> dict[str, float]:
    return {
        row.name: row.par
        for row in next(distribution for distribution in report.distributions if distribution.title == title).rows
    }


def days(*dates: str | None) -> list[float | None]:
    return [None if item is None else float(date.fromisoformat(item).toordinal() - 719_163) for item in dates]


def summed(names: Iterable[str | None], par: Iterable[float]) -> dict[str | None, float]:
    sums: dict[str | None, float] = defaultdict(float)
    for name, amount in zip(names, par, strict=True):
        sums[name] += amount
    return dict(sums)


def test_the_largest_come_first_and_the_rest_together() -> None:
    """Sums over rows by name.

    A defaulted loan is in none, and loans without a name are told apart.
    """
    count = 40
    par = [float((at * 37) % 23 + 1) * 1e6 for at in range(count)]
    names = [None if at % 9 == 5 else f"Obligor {at % 17}" for at in range(count)]
    columns = {"par_value": par, "obligor": names, "is_defaulted": [int(at == 3) for at in range(count)]}
    report = reported(portfolio_of(columns, deal=Deal(principal_cash=-5e6)))
    expected = summed(names, [0.0 if at == 3 else amount for at, amount in enumerate(par)])
    blank, cpa = expected.pop(None), sum(par) - par[3] - 5e6
    order = sorted(expected.items(), key=lambda item: -item[1])
    answer = of(report, "Obligors")
    assert [(row.name, row.par) for row in answer.rows] == order[:ROWS_SHOWN]
    assert [row.share_pct for row in answer.rows] == pytest.approx(
        [amount / cpa * 100 for _, amount in order[:ROWS_SHOWN]]
    )
    assert answer.others is not None
    assert answer.blank is not None
    assert (answer.others.name, answer.others.par, answer.blank.par) == (
        "7 others",
        sum(a for _, a in order[10:]),
        blank,
    )
    assert (answer.limit, answer.of_amount) == (2.5, cpa)


def test_industries_are_those_of_the_test_that_limits_them(g1: Build) -> None:
    """A deal that limits S&P's largest industry shows S&P's industries, not those of another list."""
    by_agency = ["Software" if at < 7 else "Food" for at in range(13)]
    limit = {"id": "sp_industry", "name": "Largest", "measure": "industry", "classification": "b", "max": 17.5}
    second = {**limit, "id": "second", "name": "Second", "nth": 2, "max": 12.0}
    report = reported(g1(industry_b=by_agency), definition=parse({"tests": [second, limit]}), suite="deal")
    answer = of(report, "Industries, S&P")
    assert [concentration.title for concentration in report.concentrations] == ["Obligors", "Industries, S&P"]
    assert {row.name: row.par for row in answer.rows} == {"Software": 270e6, "Food": 125e6}
    assert answer.limit == 17.5


def test_a_limit_on_shares_of_another_amount_is_not_drawn(g1: Build) -> None:
    limit = {"id": "largest", "name": "Largest", "measure": "obligor", "max": 2.5}
    drawn = [
        of(reported(g1(), definition=parse({"tests": [limit | more]}), suite="deal"), "Obligors").limit
        for more in ({}, {"of": "par"})
    ]
    assert drawn == [2.5, None]


def test_countries_stay_themselves_where_the_rules_make_them_one_home(g1: Build) -> None:
    countries = (["FR", "DE", "US"] * 5)[:13]
    rules = parse({"conventions": {"home_countries": ["FR", "DE"]}})
    report = reported(g1(country=countries), definition=rules)
    par = summed(countries[:12], g1_columns()["par_value"][:12])
    assert {row.name: row.par for row in of(report, "Countries").rows} == par


def test_an_obligor_is_shown_as_the_file_writes_it(g1: Build) -> None:
    """Its key is for the tests.

    Where the rules make several obligors one, the family's name stands.
    """
    names = [f"{name} S.à r.l." for name in g1_columns()["obligor"]]
    plain = of(reported(g1(borrower_name=names)), "Obligors")
    assert plain.rows[0].name == "Alpha S.à r.l."
    family = {"classifications": {"families": [{"name": "The Family", "obligors": ["Alpha", "Bravo"]}]}}
    joined = of(reported(g1(borrower_name=names), definition=parse(family)), "Obligors")
    assert (joined.rows[0].name, joined.rows[0].par) == ("The Family", 80e6)


def test_maturities_by_year() -> None:
    matures = days("2027-12-31", "2028-01-01", "2028-12-31", "2030-06-30", None, "2099-01-01", "1969-12-31")
    report = reported(portfolio_of({"par_value": [1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6], "maturity_date": matures}))
    answer = buckets(report, "Maturities")
    assert answer == {"1969": 7e6, f"{1969 + YEARS_SHOWN} and later": 16e6, "Not stated": 5e6}
    later = portfolio_of({"par_value": [1e6, 2e6, 3e6, 4e6], "maturity_date": matures[:4]})
    assert buckets(reported(later), "Maturities") == {"2027": 1e6, "2028": 5e6, "2029": 0.0, "2030": 4e6}


def test_prices_begin_at_their_lower_ends() -> None:
    price = [0.5, 69.99, 70.0, 80.0, 89.99, 90.0, 95.0, 98.0, 99.99, 100.0, 103.0, None]
    report = reported(portfolio_of({"par_value": [1e6] * 12, "price": price}))
    assert buckets(report, "Prices") == {
        "below 70": 2e6, "70 to 80": 1e6, "80 to 90": 2e6, "90 to 95": 1e6, "95 to 98": 1e6, "98 to 100": 2e6,
        "100 and above": 2e6, "Not priced": 1e6,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("column", "symbols", "between"),
    [("rating_agency_a", ["Ba3", "B2"], "B1"), ("rating_agency_b", ["BB-", "B"], "B+")],
)
def test_ratings_in_the_symbols_of_the_file(column: str, symbols: list[str], between: str) -> None:
    columns: dict[str, Any] = {"par_value": [1e6, 2e6, 4e6], column: [13, 15, 0]}
    answer = buckets(reported(portfolio_of(columns)), "Ratings")
    assert answer == {symbols[0]: 1e6, between: 0.0, symbols[1]: 2e6, "Unrated": 4e6}


def test_a_deal_shows_the_ratings_of_each_agency_that_its_tests_take(g1: Build) -> None:
    """A masked letter of one agency is not filled by the other's, as no test of the deal does."""
    par = g1_columns()["par_value"]
    ratings = {"rating_agency_b": [15] * 12 + [0], "rating_agency_c": [0, 17] + [16] * 11}
    rules = {"ratings": {"b": {"notched_from": []}, "c": {"notched_from": []}}}
    tests = [{"id": f"ccc_{item}", "name": item, "measure": "ccc", "agency": item, "max": 7.5} for item in "bc"]
    loans = portfolio_of({"par_value": par, **ratings})
    report = reported(loans, definition=parse({**rules, "tests": tests}), suite="deal")
    assert buckets(report, "Ratings, S&P") == {"B": sum(par[:12]), "Unrated": par[12]}
    assert buckets(report, "Ratings, Fitch") == {"B-": sum(par[2:]), "CCC+": par[1], "Unrated": par[0]}
    assert "Ratings" not in [distribution.title for distribution in report.distributions]


def test_every_distribution_is_of_all_performing_par(g1: Build) -> None:
    report = reported(g1(lien_type=[1, 2, 0] * 4 + [1], maturity_date=days(*["2030-01-01"] * 12, None)))
    assert [item.title for item in report.distributions] == ["Ratings", "Maturities", "Prices", "Ranking"]
    for distribution in report.distributions:
        assert sum(row.par for row in distribution.rows) == pytest.approx(395e6), distribution.title
        assert sum(row.share_pct for row in distribution.rows) == pytest.approx(100), distribution.title
