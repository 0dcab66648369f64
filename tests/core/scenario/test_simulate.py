"""Tests before and after trades. The worked example, what counts and what is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
from core.compliance.run import run_suite
from core.definition import parse
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from core.scenario.changed import changed
from core.scenario.simulate import Simulation, Simulator, simulate
from core.scenario.trades import Trade, TradeError
from tests.core import naive
from tests.core.compliance.conftest import G1_NOTES, A, g1_columns, portfolio_of, tranches_of
from tests.rows import every

Build = Callable[..., Portfolio]


def trade(kind: Any, par: float | None, borrower: str | None = None, **more: Any) -> Trade:
    return Trade(trade_type=kind, par_value=par, borrower_name=borrower, **more)


def figures(simulation: Simulation) -> dict[str, tuple[float, float, str]]:
    return {row.test_id: (row.current_value, row.projected_value, row.impact_direction) for row in simulation.results}


def test_g10_the_worked_scenario(g1: Build) -> None:
    """Selling a CCC loan above its carrying value builds OC, though par falls."""
    base = g1()
    outcome = core.simulate(
        base,
        [trade("sell", 10e6, "Lima", price=55), trade("buy", 8e6, "Nova", rating_agency_a="B2", price=98.5)],
        details=True,
    )
    seen = figures(outcome)
    assert seen["ccc_bucket_pct"] == (11.25, 8.846873, "improve")
    assert seen["oc_ratio"] == (106.753425, 106.759301, "improve")
    assert seen["average_rating_factor"] == (3041.367089, 2906.870229, "improve")
    forms = {result.test_id: (result.unit, result.decimals) for result in outcome.results}
    assert (forms["ccc_bucket_pct"], forms["average_rating_factor"]) == (("percent", 2), ("factor", 0))
    oc = next(result for result in outcome.after if result.test_id == "oc_ratio")
    assert oc.details is not None
    parts = oc.details.breakdown["adjustments"]
    assert (parts["principal_cash"], parts["collateral_principal_amount"]) == (2_620_000, 395_620_000)
    assert (parts["ccc_excess"], parts["ccc_haircut"], parts["adjusted"]) == (5_328_500, 1_598_550, 389_671_450)
    assert list(outcome.before) == list(run_suite(base, "enhanced"))
    assert base.row_count == 13
    assert base.deal.principal_cash == 5e6


def test_a_portfolio_whose_mapping_names_no_par_is_simulated_as_one_that_has_none(g1: Build) -> None:
    whole = g1()
    portfolio = replace(whole, numbers={name: column for name, column in whole.numbers.items() if name != "par_value"})
    buy = Trade(trade_type="buy", par_value=1e6, borrower_name="Nova", price=99.0, rating_agency_a="B2")
    result = core.simulate(portfolio, [buy])
    assert (result.results, result.before.skipped) == ([], run_suite(portfolio, "enhanced").skipped)
    sell = Trade(trade_type="sell", par_value=1e6, borrower_name="Alpha", price=99.0)
    with pytest.raises(TradeError, match="nothing is held"):
        core.simulate(portfolio, [sell])


NOTES = tranches_of(
    G1_NOTES, coupon=[6.5, 7.0, 7.6, 9.2, 12.0], oc={"B": 121.5, "E": 104.2}, ic={"B": 120.0, "D": 110.0}
)

MADE = st.tuples(
    st.sampled_from(["sell", "buy"]),
    st.sampled_from(["Alpha", "Foxtrot", "Juliet", "Kilo", "Lima", "Mike", "Nova", "Nova Two"]),
    st.sampled_from([0.25, 0.5, 1.0]),
    st.sampled_from([None, 55.0, 78.0, 99.0]),
    st.sampled_from(["B2", "Caa1", "Caa3"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(MADE, min_size=1, max_size=6))
def test_random_trades_are_what_a_plain_reading_of_the_rules_gives(simulate_trades: list[Any]) -> None:
    """Rows of plain lists.

    A sell takes par off pro rata and brings cash, a buy adds a row and costs it.
    """
    columns = g1_columns()
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    cash, trades = 5e6, []
    for kind, name, part, price, rating in simulate_trades:
        own_rows = [row for row in rows if row["obligor"].upper() == name.upper()]
        if kind == "sell":
            if not own_rows:
                continue
            par = part * sum(row["par_value"] for row in own_rows)
            for row in own_rows:
                cash += row["par_value"] * part * (price if price is not None else row["price"]) / 100
                row["par_value"] *= 1 - part
            rows = [row for row in rows if row["par_value"] > 0]
            trades.append(trade("sell", par, name, price=price))
        else:
            par = part * 8e6
            paid = 100.0 if price is None else price
            cash -= par * paid / 100
            rows.append(
                {
                    "par_value": par,
                    "obligor": own_rows[0]["obligor"] if own_rows else name.upper(),
                    "industry": own_rows[0]["industry"] if own_rows else "Paper",
                    "price": paid,
                    "rating_agency_a": A[rating],
                    "rating_agency_b": 0,
                    "spread": 400,
                    "floor": 0.5,
                    "purchase_price": paid,
                    "recovery_rate": None,
                }
            )
            more = {"industry": rows[-1]["industry"], "spread": 400.0, "loan_data": {"floor": 0.5}}
            trades.append(trade("buy", par, name, price=price, rating_agency_a=rating, **more))
    if not trades:
        return
    base = portfolio_of(columns, tranches=NOTES, deal=Deal(principal_cash=5e6, base_rate=4.30))
    plain = portfolio_of(
        {name: [row[name] for row in rows] for name in columns},
        tranches=NOTES, deal=Deal(principal_cash=cash, base_rate=4.30),
    )  # fmt: skip
    after = simulate(base, trades, "enhanced").after
    assert len(after) > 8
    for result in after:
        expected = naive.measure(plain, result.test_id)
        assert result.current_value == pytest.approx(expected, rel=1e-9, abs=1e-6), result.test_id


@every(
    "rules, lacks",
    [
        (None, []),
        (parse({"tests": [{"id": "warf_c", "name": "WARF", "measure": "warf", "agency": "c", "max": 40.0}]}), ["c"]),
    ],
)
def test_each_rating_that_a_definition_may_ask_for_is_told_where_it_lacks(rules: Any, lacks: list[str]) -> None:
    base = portfolio_of({"par_value": [6e6], "obligor": ["One"], "rating_agency_b": ["B"], "rating_agency_c": ["B"]})
    suite = "enhanced" if rules is None else "deal"
    result = simulate(base, [trade("buy", 1e6, "Two", price=99, rating_agency_b="B")], suite, definition=rules)
    text = " ".join(warning.message for warning in result.warnings if warning.code == "trade_fields")
    assert [agency for agency in "abc" if f"rating_agency_{agency} (" in text] == lacks


@every("deal, refusal_text", [(Deal(), 0), (Deal(interest_collected=8e6), 1)])
def test_interest_that_was_collected_is_said_to_stay(deal: Deal, refusal_text: int) -> None:
    base = portfolio_of(g1_columns(), tranches=NOTES, deal=deal)
    result = simulate(base, [trade("sell", 1e6, "Lima", price=55)])
    assert [warning.code for warning in result.warnings].count("trade_interest") == refusal_text


def test_a_test_without_a_figure_on_a_side_is_listed_and_counts_nowhere(g1: Build) -> None:
    """Selling the only industry leaves none; what is sold without a price is told."""
    base = portfolio_of({"par_value": [6e6, 4e6], "obligor": ["One", "Two"], "industry": ["Steel", None]})
    outcome = simulate(base, [trade("sell", 6e6, "One")])
    (row,) = (item for item in outcome.skipped if item.test_id == "industry_concentration")
    assert (row.status_current, row.status_projected, row.reason_current) == ("fail", None, None)
    assert row.reason_projected is not None
    assert "industry" in row.reason_projected
    assert "industry_concentration" not in {result.test_id for result in outcome.results}
    assert outcome.total_tests == len(outcome.results) == 25 - len(outcome.skipped)
    assert outcome.message.startswith("1 trade: ")
    assert [warning.code for warning in outcome.warnings][:1] == ["trade_price"]


@every(
    "written, rows",
    [
        ({"cusip": "B00000001"}, [1, 2]),
        ({"cusip": "b000-00001"}, [1, 2]),
        ({"cusip": "A 000/0000 1", "borrower_name": "Acme"}, [3]),
        ({"loanx_id": "LX28443T7"}, [0]),
        ({"loanx_id": "lx-28443 t7"}, [0]),
        ({"loanx_id": "LX284437"}, [0]),
        ({"loanx_id": "LX28443", "borrower_name": "acme corp."}, [0]),
        ({"borrower_name": "Acme, Inc"}, [0, 3]),
        ({"cusip": "C00000009", "borrower_name": "Acme"}, [0]),
        ({"cusip": "B00000001", "borrower_name": "Acme"}, [1, 2]),
    ],
)
def test_a_sell_finds_its_loan(written: dict[str, str], rows: list[int]) -> None:
    """By CUSIP, by LoanX id in any print, by borrower but for loans with another identifier; pro rata over lots."""
    base = portfolio_of(
        {
            "par_value": [4e6, 3e6, 1e6, 2e6], "obligor": ["ACME", "BETA", "BETA", "ACME"],
            "cusip": [None, "B00000001", "B00000001", "A00000001"], "loanx_id": ["LX28443T7", None, None, None],
        }
    )  # fmt: skip
    change = Simulator(base).holdings.traded([Trade(trade_type="sell", par_value=1e6, price=99, **written)])
    par = base.numbers["par_value"]
    total = sum(par[row] for row in rows)
    assert change.par == pytest.approx({row: par[row] * (1 - 1e6 / total) for row in rows})
    assert change.cash == pytest.approx(0.99e6)


def test_more_of_a_held_loan_is_as_held_but_for_what_the_trade_states(g1: Build) -> None:
    base = portfolio_of(g1_columns() | {"cusip": [f"{at:09d}" for at in range(13)]})
    more = Trade(trade_type="buy", par_value=2e6, cusip="000000010", price=68.0, spread=700)
    simulator = Simulator(base)
    after = changed(simulator.holdings, simulator.holdings.traded([more]))
    assert after.row_count == 14
    lot = {name: after.numbers[name][13] for name in ("par_value", "price", "purchase_price", "spread", "floor")}
    assert lot == {"par_value": 2e6, "price": 68.0, "purchase_price": 68.0, "spread": 700.0, "floor": 1.0}
    assert after.names["obligor"].codes[13] == base.names["obligor"].codes[10]
    assert after.ranks["rating_agency_a"][13] == base.ranks["rating_agency_a"][10]
    assert after.deal.principal_cash == pytest.approx(-1.36e6)
    codes = [warning.code for warning in simulator.simulate([more]).warnings]
    assert codes[0] == "trade_match"
