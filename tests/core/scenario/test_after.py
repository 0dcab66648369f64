"""Sums after trades from those before.

The figures of a full pass, whatever is bought and sold.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from core.compliance.pool_sums import Pool
from core.compliance.result import Results
from core.definition import parse
from core.definition.definition import Definition
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Amortization, Deal
from core.scenario import touched
from core.scenario.after import After
from core.scenario.simulate import Simulator
from core.scenario.trades import Trade, TradeError
from tests.core.compliance.conftest import portfolio_of, tranches_of
from tests.core.compliance.test_measures import NUMBERS, portfolios


@pytest.fixture(autouse=True, scope="module")
def _however_many_are_touched() -> Iterator[None]:
    """Small portfolios take the incremental way, too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(touched, "PART_MAX", 1.0)
        yield


GENERATED = (Phase.explicit, Phase.reuse, Phase.generate)
"""Two portfolios and their trades take minutes to shrink."""


@st.composite
def trades(draw: st.DrawFn, portfolio: Portfolio) -> list[Trade]:
    """Sells of parts and wholes by CUSIP or borrower, buys of held loans and of new ones, in any order."""
    result = []
    for _ in range(draw(st.integers(1, 6))):
        row = draw(st.integers(0, portfolio.row_count - 1))
        names = {
            "cusip": portfolio.names["cusip"], "borrower_name": portfolio.names["obligor"],
        }  # fmt: skip
        named = {field: own.values[own.codes[row]] for field, own in names.items() if own.codes[row] >= 0}
        way = draw(st.sampled_from(["cusip", "borrower_name"]))
        price = draw(st.sampled_from([None, 55.0, 79.0, 98.5]))
        if draw(st.booleans()) and way in named:
            own = names[way]
            par = portfolio.numbers["par_value"][own.codes == own.codes[row]]
            current = float(par[np.isfinite(par) & (par > 0)].sum())
            if current:
                part = draw(st.sampled_from([0.25, 0.5, 1.0, 1.0]))
                item = {way: named[way]}
                result.append(Trade(trade_type="sell", par_value=current * part, price=price, **item))
        else:
            new = {"borrower_name": draw(st.sampled_from(["Nova", "Ash", "Birch", "Zeta Ltd"]))}
            result.append(
                Trade(
                    trade_type="buy",
                    par_value=draw(st.sampled_from([0.5e6, 3e6, 20e6])),
                    price=price,
                    rating_agency_a=draw(st.sampled_from([None, "B2", "Caa2", "Ca"])),
                    rating_agency_b=draw(st.sampled_from([None, "B", "CCC", "D"])),
                    industry=draw(st.sampled_from([None, "Steel", "Paper"])),
                    spread=draw(st.sampled_from([None, 400.0])),
                    loan_data=draw(st.sampled_from([None, {"country": "Peru"}, {"is_deferring": True}, {"floor": 6}])),
                    **({"cusip": named["cusip"]} if draw(st.booleans()) else new),
                )
            )
    return result


def doable(simulator: Simulator, wanted: Sequence[Trade]) -> list[Trade]:
    """Those that can be made, one after the other."""
    actual_trades: list[Trade] = []
    for item in wanted:
        try:
            simulator.holdings.traded([*actual_trades, item])
        except TradeError:
            continue
        actual_trades.append(item)
    return actual_trades


def alike(results: Results, another: Results) -> None:
    """The same tests with the same figures to 1e-9, the same statuses and reasons."""
    assert [(skip.test_id, skip.reason) for skip in results.skipped] == [
        (skip.test_id, skip.reason) for skip in another.skipped
    ]
    assert [result.test_id for result in results] == [result.test_id for result in another]
    assert results._figures.values == pytest.approx(another._figures.values, rel=1e-9, abs=1e-9)
    assert results.cushions == pytest.approx(another.cushions, rel=1e-9, abs=1e-9)
    for first, second in zip(results, another, strict=True):
        assert (first.status, first.low, first.high) == (second.status, second.low, second.high)
    assert [warning.code for warning in results.warnings] == [warning.code for warning in another.warnings]


def compare(data: Any, portfolio: Portfolio, suite: str, definition: Definition | None) -> None:
    simulator, plain = (
        Simulator(portfolio, suite, incremental=way, definition=definition, details=False) for way in (True, False)
    )
    assert list(simulator.before) == list(plain.before)
    for _ in range(2):
        change = simulator.holdings.traded(doable(simulator, data.draw(trades(portfolio))))
        alike(simulator.run(change), plain.run(change))


@settings(max_examples=25, deadline=None, phases=GENERATED)
@given(st.data(), portfolios())
def test_the_figures_are_those_of_a_full_pass(data: Any, portfolio: Portfolio) -> None:
    compare(data, portfolio, "enhanced", None)


@pytest.mark.parametrize(
    ("kind", "hidden", "has_table"), [("masked", "*", False), ("masked", "*", True), ("unrated", "NR", False)]
)
def test_ratings_that_are_not_shown_are_between_two_ends_after_trades_too(
    kind: str, hidden: str, has_table: bool
) -> None:
    """The ends of each figure, and a test that they would decide differently is skipped, are those of a full pass."""
    columns: dict[str, list[Any]] = {
        "par_value": [2e6 + 1e5 * at for at in range(12)],
        "obligor": [f"Ash {at % 9}" for at in range(12)],
        "cusip": [f"{at:09d}" for at in range(12)],
        "price": [90.0 + at % 3 for at in range(12)],
        "rating_agency_a": [hidden if at % 5 == 0 else "Caa1" if at % 4 == 0 else "B2" for at in range(12)],
    }
    rules = {kind: "bounds", f"{kind}_best": "Ba3", f"{kind}_worst": "Caa2", f"{kind}_value": "B2"}
    tests = [{"id": "ccc_share", "name": "CCC", "measure": "ccc", "agency": "a", "max": 30.0},
             {"id": "warf_a", "name": "WARF", "measure": "warf", "agency": "a", "max": 9000.0}]  # fmt: skip
    bounds = parse({"ratings": {"a": rules}, "tests": tests})
    portfolio = portfolio_of(columns)
    if has_table:
        portfolio = replace(portfolio, deal=replace(portfolio.deal, masked_ccc_a=7e6))
    simulator, plain = (Simulator(portfolio, "deal", incremental=way, definition=bounds) for way in (True, False))
    for par, masked in ((2e6, hidden), (1e6, "B1")):
        result = [
            Trade(trade_type="sell", par_value=par, cusip="000000000", price=95),
            Trade(trade_type="buy", par_value=4e6, borrower_name="Nova", price=95, rating_agency_a=masked),
        ]
        change = simulator.holdings.traded(result)
        outcome = simulator.run(change)
        alike(outcome, plain.run(change))
        assert [skip.test_id for skip in outcome.skipped] == ([] if has_table else ["ccc_share"])
        if has_table:
            continue
        seen = simulator.simulate(result)
        assert [(item.test_id, item.status_projected) for item in seen.skipped] == [("ccc_share", None)]
        assert (seen.total_tests, len(seen.results), len(seen.skipped)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("unrated", "sold", "bought"),
    [
        (5, [9, 10, 11], None),  # of 12 loans 5 are unrated, then 5 of 9: out of the buckets
        (7, [0, 1, 2], "B2"),  # 7 of 12, then 4 of 10: back in them
        (6, [11], "NR"),
        (3, [0], "NR"),
    ],
)
def test_loans_that_nobody_rates_are_in_a_bucket_by_their_share_after_the_trades(
    unrated: int, sold: list[int], bought: str | None
) -> None:
    columns: dict[str, list[Any]] = {
        "par_value": [2e6 + 1e5 * at for at in range(12)],
        "obligor": [f"Ash {at}" for at in range(12)],
        "cusip": [f"{at:09d}" for at in range(12)],
        "price": [95.0] * 12,
        "rating_agency_a": ["NR" if at < unrated else "B2" for at in range(12)],
    }
    portfolio = portfolio_of(columns)
    simulator, plain = (Simulator(portfolio, "enhanced", incremental=way) for way in (True, False))
    new_trades = [Trade(trade_type="sell", par_value=2e6 + 1e5 * at, cusip=f"{at:09d}", price=95) for at in sold]
    if bought is not None:
        new_trades.append(
            Trade(trade_type="buy", par_value=4e6, borrower_name="Nova", price=95, rating_agency_a=bought)
        )
    change = simulator.holdings.traded(new_trades)
    alike(simulator.run(change), plain.run(change))


@pytest.mark.parametrize("incremental", [True, False])
def test_of_a_portfolio_that_is_sold_each_test_says_that_there_are_no_loans(incremental: bool) -> None:
    """As many tests as before.

    A figure without a limit is none, also where it cannot be worked out any more.
    """
    base = portfolio_of({"par_value": [6e6, 4e6], "obligor": ["One", "Two"], "rating_agency_a": ["B2", "B1"]})
    tests = [{"id": "warf", "name": "WARF", "measure": "warf", "agency": "a", "max": 3000.0},
             {"id": "loan_figure", "name": "Loans", "value": "=obligors+loans"}]  # fmt: skip
    simulator = Simulator(base, "deal", incremental=incremental, definition=parse({"tests": tests}))
    sold = [
        Trade(trade_type="sell", par_value=par, borrower_name=name, price=99)
        for par, name in ((6e6, "One"), (4e6, "Two"))
    ]
    result = simulator.simulate(sold)
    assert [(item.test_id, "no loans" in (item.reason_projected or "")) for item in result.skipped] == [("warf", True)]
    assert (result.total_tests, simulator.simulate([]).total_tests) == (0, 1)


SHARES = (
    "=price<80", "=AND(rank_a>=17,NOT(price<80))", '=OR(OR(industry={"Steel","Paper"}),country<>"US")',
    "=obligor_par>9000000", "=is_discount", "=NOT(is_home)", "=years_to_maturity>4", "=TRUE", '=lien="second_lien"',
    '=LEFT(obligor,1)="N"',
)  # fmt: skip
MEASURED: tuple[dict[str, Any], ...] = (
    {"measure": "obligor"}, {"measure": "obligor", "nth": 3}, {"measure": "top_obligors", "nth": 2, "of": "par"},
    {"measure": "industry", "nth": 2}, {"measure": "country"}, {"measure": "ccc"}, {"measure": "ccc", "agency": "b"},
    {"measure": "warf"}, {"measure": "warf", "agency": "c"}, {"measure": "warr"}, {"measure": "oc", "class": "A/B"},
    {"measure": "ic", "class": "C"}, {"measure": "wal"}, {"measure": "was"}, {"measure": "diversity"},
    {"measure": "delinquency"}, {"measure": "price_below", "line": 85}, {"measure": "wac"},
    {"measure": "event_of_default"}, {"measure": "spwarf"}, {"measure": "default_rate_dispersion"},
    {"measure": "obligor", "among": "=price<80"}, {"measure": "top_obligors", "among": "non_senior_secured"},
    {"measure": "industry", "among": '=country<>"US"'}, {"measure": "country", "nth": 1, "among": "=price<95"},
    {"measure": "senior_secured", "among": "=rank_a>=15", "adds": ["cash"]}, {"measure": "floating_rate"},
    {"measure": "country_group", "group": "south"}, {"measure": "country_of_group", "group": "south", "among": "=TRUE"},
    {"value": "=obligors+loans"}, {"value": "=share_0x-share_1x"},
)  # fmt: skip
DEAL = parse(
    {
        "classifications": {"families": [{"name": "TREES", "obligors": ["Ash", "Nova", "Fir"]}]},
        "conventions": {"principal_cash": "positive", "home_countries": ["US", "CA"], "decimals": {"percent": 2}},
        "ratings": {"a": {"unrated": "Caa2"}, "b": {"notched_from": ["a"]}},
        "par_value": {"ccc_agencies": ["a", "b"], "ccc_limit": 5.0},
        "event_of_default": {"class": "A", "trigger": 102.5},
        "country_groups": [{"id": "south", "countries": ["PE", "US", "FR"]}],
        "tests": [
            *({"id": f"share_{at}x", "name": text, "share": text, "max": 20} for at, text in enumerate(SHARES)),
            *({"id": f"figure_{at}x", "name": str(item), "max": 20} | item for at, item in enumerate(MEASURED)),
        ],
    }
)


@settings(max_examples=25, deadline=None, phases=GENERATED)
@given(st.data(), portfolios())
def test_so_are_those_of_a_deal(data: Any, portfolio: Portfolio) -> None:
    """Formulas of shares, families of obligors, ladders, and measures that take a full pass for themselves."""
    blank = np.full(portfolio.row_count, np.nan)
    columns = {name: portfolio.numbers.get(name, blank) for name in NUMBERS}
    finite = {name: np.where(np.isinf(column), np.nan, column) for name, column in columns.items()}
    compare(data, replace(portfolio, numbers=finite), "deal", DEAL)


def test_bare_frequencies_mean_what_the_whole_column_says() -> None:
    """4 tells that 1 is once a year; the loans that are sold have 1 alone."""
    columns = {
        "par_value": [2e6, 1e6, 3e6, 4e6], "obligor": ["Ash", "Birch", "Cedar", "Elm"], "cusip": ["1", "2", "3", "4"],
        "payment_frequency": ["4", "4", "1", "1"],
    }  # fmt: skip
    definition = parse({"tests": [{"id": "yearly", "name": "Yearly", "measure": "pays_annually", "max": 80}]})
    loans = portfolio_of(columns, deal=Deal(principal_cash=0.0))
    for way in (True, False):
        simulator = Simulator(loans, "deal", incremental=way, definition=definition)
        assert simulator.before[0].current_value == 70.0
        sold = simulator.holdings.traded([Trade(trade_type="sell", par_value=3e6, price=100.0, cusip="3")])
        assert simulator.run(sold)[0].current_value == 40.0


def test_the_first_loan_that_earns_makes_deferring_ones_earn_nothing() -> None:
    columns = {"par_value": [2e6, 1e6], "obligor": ["Ash", "Birch"], "cusip": ["1", "2"], "is_deferring": [1, 0]}
    notes = tranches_of((("A", 1e6),), coupon=(5.0,), oc={"A": 101.0}, ic={"A": 101.0})
    portfolio = portfolio_of(columns, tranches=notes, deal=Deal(as_of=0.0))
    result = [Trade(trade_type="buy", par_value=1e6, borrower_name="Nova", spread=400.0, price=99.0)]
    item, second = (Simulator(portfolio, "enhanced", incremental=way).simulate(result) for way in (True, False))
    alike(item.after, second.after)


def test_a_lot_of_a_loan_without_par_has_no_part_of_its_payments() -> None:
    columns = {
        "par_value": [0.0, 1e6],
        "obligor": ["Ash", "Birch"],
        "cusip": ["1", "2"],
        "maturity_date": [900.0, 900.0],
    }
    schedule = Amortization(row=np.array([0, 1]), days=np.array([400.0, 400.0]), amount=np.array([5.0, 5e5]))
    portfolio = portfolio_of(columns, amortization=schedule, deal=Deal(as_of=0.0))
    result = [Trade(trade_type="buy", par_value=1e6, cusip="1", price=99.0)]
    item, second = (Simulator(portfolio, "enhanced", incremental=way).simulate(result) for way in (True, False))
    alike(item.after, second.after)
    assert {row.test_id: row.projected_value for row in second.results}["wal"] == pytest.approx(
        (900 + 650) / 2 / 365.25
    )


def test_pools_after_trades_go_without_the_collector() -> None:
    columns = {"par_value": [2e6, 1e6], "obligor": ["Ash", "Birch"], "cusip": ["1", "2"], "price": [70.0, 99.0]}
    definition = parse({"tests": [{"id": "cheap", "name": "Cheap", "share": "=price<80", "max": 90}]})
    loans = portfolio_of(columns, deal=Deal(principal_cash=0.0))
    simulator = Simulator(loans, "deal", incremental=True, definition=definition)
    trades = [Trade(trade_type="sell", par_value=1e6, price=99.0, cusip="2")]

    def pools() -> int:
        return sum(isinstance(each, Pool | After) for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = pools()  # those of other tests among them
        assert before
        assert simulator.simulate(trades).after[0].current_value == pytest.approx(2e6 / 2.99e6 * 100)
        assert pools() == before
    finally:
        gc.enable()
