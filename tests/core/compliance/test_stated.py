"""What a definition states of a file.

Amounts, corrections and levels of indexes, and what a row says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.compliance.result import Results
from core.compliance.result import TestResult as Result
from core.compliance.run import run_suite
from core.compliance.stated import level_of, with_stated
from core.definition import DefinitionError, parse, parse_toml, to_document
from core.definition.definition import Definition
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from core.scenario.simulate import Simulator
from core.scenario.trades import Trade
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of
from tests.rows import every

Build = Callable[..., Portfolio]
AS_OF = 20543.0  # 2026-03-31


def loans(deal: Deal, index: str | Sequence[str | None] | None = None, **columns: Any) -> Portfolio:
    """G1: CPA 400,000,000 with cash of 5,000,000; its OC numerator is 389,650,000."""
    named = {} if index is None else {"base_rate": [index] * 13 if isinstance(index, str) else index}
    cells = {"deal.principal_cash": "'Cash'!C7", "deal.base_rate": "'Cash'!C9"}
    return portfolio_of(
        g1_columns() | named | columns,
        tranches=tranches_of(G1_NOTES, coupon=[6.5, 7.0, 7.6, 9.2, 12.0], oc={"B": 121.5, "E": 104.2},
                             ic={"B": 120.0, "D": 110.0}),
        deal=deal,
        source_cells=cells,
    )  # fmt: skip


def row(ran: Results, test_id: str) -> Result:
    return next(item for item in ran if item.test_id == test_id)


def doubts(ran: Results, test_id: str) -> list[tuple[str, str, list[str]]]:
    return [(item.code, item.message, item.places) for item in row(ran, test_id).doubt if "definition" in item.message]


FULL = """
[amounts]
principal_cash = -1_817_412.94
interest_collected = 6909347.37
[[corrections]]
figure = "principal_cash"
amount = 5e6
note = "Net of the sale of 3 March, which the trustee books twice"
as_of = 2026-03-31
[[corrections]]
figure = "current_balance"
class = "B"
amount = 49e6
note = "After the payment"
[index_rates]
EURIBOR_3M = 3.02
"SOFR 1M" = 4.3
"""


def test_a_definition_with_amounts_comes_back_from_its_document() -> None:
    definition = parse_toml(FULL)
    assert parse(to_document(definition)) == definition
    assert definition.index_rates == (("EURIBOR-3M", 3.02), ("SOFR-1M", 4.3))


@every(
    "document, place, words",
    [
        ({"amounts": {"principal_csh": 1}}, "amounts.principal_csh", "did you mean principal_cash"),
        ({"amounts": {"principal_cash": "5m"}}, "amounts.principal_cash", "a number"),
        ({"amounts": {"senior_fees": -1}}, "amounts.senior_fees", "from 0"),
        (
            {"amounts": {"senior_fees": 1}, "interest_coverage": {"senior_fees": 2}},
            "amounts.senior_fees", "give it once",
        ),
        (
            {"amounts": {"senior_fees": 1}, "interest_coverage": {"expenses": {"amount": 2}}},
            "amounts.senior_fees", "leave interest_coverage.fees",
        ),
        ({"corrections": [{"figure": "principal_cash", "amount": 1}]}, "corrections[0].note", "is missing"),
        ({"corrections": [{"figure": "cash", "amount": 1, "note": "x"}]}, "corrections[0].figure", "principal_cash"),
        (
            {
                "amounts": {"principal_cash": 1},
                "corrections": [{"figure": "principal_cash", "amount": 2, "note": "x"}],
            },
            "corrections[0]", "is amounts.principal_cash, too",
        ),
        (
            {"corrections": [{"figure": "base_rate", "amount": 1, "note": "x"}] * 2},
            "corrections[1]", "a second time",
        ),
        ({"corrections": [{"figure": "coupon", "amount": 1, "note": "x"}]}, "corrections[0].class", "is missing"),
        (
            {"corrections": [{"figure": "base_rate", "amount": 1, "note": "x", "class": "A"}]},
            "corrections[0].class", "base_rate is none of a class",
        ),
        ({"index_rates": {"EURIBER": 3}}, "index_rates.EURIBER", "no reference rate"),
        ({"index_rates": {"FIXED": 3}}, "index_rates.FIXED", "no reference rate"),
        ({"index_rates": {"EURIBOR_3M": 1, "3M EURIBOR": 2}}, "index_rates.3M EURIBOR", "a second time"),
        ({"index_rates": {"EURIBOR_3M": 302}}, "index_rates.EURIBOR_3M", "from -10 to 30"),
        ({"index_rates": [1]}, "index_rates", "a table"),
        ({"index_rates": {f"EURIBOR {at}": 1 for at in range(60)}}, "index_rates", "at most 50"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place(document: Any, place: str, words: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse(document)
    assert any(where == place and words in answer for where, answer in refused.value.faults), refused.value.faults


CASH: dict[str, Any] = {"amounts": {"principal_cash": 5e6}}


def test_an_amount_stands_in_where_the_file_has_none() -> None:
    ran = run_suite(loans(Deal(base_rate=4.3)), definition=parse(CASH))
    assert row(ran, "oc_ratio").current_value == pytest.approx(106.753425)
    answer = [("stand_in", "principal cash is 5,000,000.00 by the definition: the file has none", ["'Cash'!C7"])]
    assert doubts(ran, "oc_ratio") == doubts(ran, "ccc_bucket_pct") == answer
    assert doubts(ran, "average_rating_factor") == []


def test_an_amount_never_replaces_the_files() -> None:
    """Where the two differ the file's counts, and the rows say so.

    Where they are one nothing is to be said.
    """
    second = parse({"amounts": {"principal_cash": 7e6}})
    ran = run_suite(loans(Deal(principal_cash=5e6, base_rate=4.3)), definition=second)
    assert row(ran, "oc_ratio").current_value == pytest.approx(106.753425)
    words = (
        "principal cash is 7,000,000.00 by the definition, and principal cash is 5,000,000.00 by the file "
        "('Cash'!C7), which counts"
    )
    assert doubts(ran, "oc_ratio") == [("conflict", words, ["'Cash'!C7"])]
    ran = run_suite(loans(Deal(principal_cash=5e6 + 0.004, base_rate=4.3)), definition=parse(CASH))
    assert doubts(ran, "oc_ratio") == []


def corrected(as_of: str | None = None) -> Definition:
    item: dict[str, Any] = {"figure": "principal_cash", "amount": 5e6, "note": "booked twice"}
    item |= {} if as_of is None else {"as_of": as_of}
    return parse({"corrections": [item]})


def test_a_correction_replaces_the_files_figure_and_its_note_is_told() -> None:
    wrong = loans(Deal(principal_cash=9e6, base_rate=4.3, as_of=AS_OF))
    words = (
        "principal cash is 5,000,000.00 by a correction of the definition, and 9,000,000.00 by the file "
        "('Cash'!C7): booked twice"
    )
    for definition in (corrected(), corrected("2026-03-31")):
        ran = run_suite(wrong, definition=definition)
        assert row(ran, "oc_ratio").current_value == pytest.approx(106.753425)
        assert doubts(ran, "oc_ratio") == [("stand_in", words, ["'Cash'!C7"])]
        assert doubts(ran, "average_rating_factor") == []
        assert [warning.code for warning in ran.warnings].count("figure_corrected") == 1
    ran = run_suite(wrong, definition=corrected("2026-02-28"))
    assert row(ran, "oc_ratio").current_value == pytest.approx((389.65 + 4) / 365 * 100, abs=0.2)
    assert doubts(ran, "oc_ratio") == []
    right = loans(Deal(principal_cash=5e6))
    assert run_suite(right, definition=corrected()).warnings == run_suite(right, definition=parse({})).warnings


def test_the_days_own_correction_goes_before_that_of_every_day() -> None:
    both = [*to_document(corrected())["corrections"], *to_document(corrected("2026-03-31"))["corrections"]]
    both[0]["amount"] = 1.0
    seen = with_stated(loans(Deal(principal_cash=9e6, as_of=AS_OF)), parse({"corrections": both}))
    assert seen.deal.principal_cash == 5e6
    assert (
        with_stated(loans(Deal(principal_cash=9e6, as_of=1.0)), parse({"corrections": both})).deal.principal_cash == 1
    )


def test_a_figure_of_a_class_is_corrected() -> None:
    """G1 with class B at 49 and not 50.

    Class E's OC is over 364; interest due on D without a coupon's misprint.
    """
    balance = {"figure": "current_balance", "class": "B", "amount": 49e6, "note": "paid down"}
    due = {"figure": "interest_due", "class": "Class D", "amount": 1.0, "note": "no such class"}
    ran = run_suite(loans(Deal(principal_cash=5e6, base_rate=4.3)), definition=parse({"corrections": [balance, due]}))
    assert row(ran, "oc_ratio").current_value == pytest.approx(389.65 / 364 * 100, abs=1e-6)
    left_out = "the definition's correction of the interest due for the period of Class D is left out: the file has no"
    taken = "the balance of class B is 49,000,000.00 by a correction of the definition, and 50,000,000.00 by the file"
    answer: list[tuple[str, str, list[str]]] = [
        ("conflict", f"{left_out} such class", []), ("stand_in", f"{taken}: paid down", [])
    ]  # fmt: skip
    assert sorted(doubts(ran, "oc_ratio")) == sorted(doubts(ran, "ic_ratio")) == answer
    coupon = {"figure": "coupon", "class": "D", "amount": 9.2, "note": "as printed"}
    seen = with_stated(loans(Deal()), parse({"corrections": [coupon]}))
    assert seen.tranches is not None
    assert (seen.tranches.coupon[3], seen.notes.warnings) == (9.2, [])


def test_a_dated_correction_of_a_file_without_a_day_is_told() -> None:
    for day, source, count in ((None, None, 1), (1.0, "upload", 1), (1.0, "file", 0), (AS_OF, "upload", 0)):
        deal = Deal(principal_cash=9e6, as_of=day, as_of_source=source)  # type: ignore[arg-type]
        seen = with_stated(loans(deal), corrected("2026-03-31"))
        assert [warning.code for warning in seen.notes.warnings].count("correction_left_out") == count
        assert (seen.deal.principal_cash == 5e6) == (day == AS_OF)
        assert with_stated(seen, corrected("2026-03-31")) is seen


def test_what_was_said_once_is_not_said_again() -> None:
    """A second run over the same loans, and cash that trades have moved."""
    for definition, deal in ((corrected(), Deal(principal_cash=9e6)), (parse(CASH), Deal()),
                             (parse({"amounts": {"principal_cash": 7e6}}), Deal(principal_cash=5e6))):  # fmt: skip
        once = with_stated(loans(deal), definition)
        assert once.notes.stated
        assert with_stated(once, definition) is once
        traded = replace(once, deal=replace(once.deal, principal_cash=1.0))
        assert with_stated(traded, definition).deal.principal_cash == 1.0


@pytest.mark.parametrize("incremental", [True, False])
def test_trades_move_the_stated_cash(incremental: bool) -> None:
    """G10: 10m sold at 55 bring 5,500,000 to the stated 5,000,000."""
    sale = [Trade(trade_type="sell", par_value=10e6, borrower_name="Lima", price=55)]
    names = {"borrower_name": g1_columns()["obligor"]}
    stated = Simulator(loans(Deal(base_rate=4.3), **names), definition=parse(CASH), incremental=incremental)
    printed = Simulator(
        loans(Deal(principal_cash=5e6, base_rate=4.3), **names), definition=parse({}), incremental=incremental
    )
    after, expected = (item.run(item.holdings.traded(sale)) for item in (stated, printed))
    assert [item.current_value for item in after] == [item.current_value for item in expected]
    assert row(after, "oc_ratio").current_value != row(stated.before, "oc_ratio").current_value


INTEREST = Deal(principal_cash=5e6, senior_fees=200_000.0)


def test_a_stated_level_of_the_index_gives_interest_and_floor_credit() -> None:
    """G2 and G4: the IC numerator of 7,990,000 at 4.30 %, the spread of 4.260759 at 0.30 %."""
    for name in ("EURIBOR-3M", "EURIBOR", None):
        ran = run_suite(loans(INTEREST, name), definition=parse({"index_rates": {"EURIBOR_3M": 4.3}}))
        assert row(ran, "ic_ratio").current_value == pytest.approx(135.000422)
        assert [doubt[0] for doubt in doubts(ran, "ic_ratio")] == ["stand_in"]
        assert "3M is 4.3 %" in doubts(ran, "was")[0][1] or "EURIBOR is 4.3 %" in doubts(ran, "was")[0][1]
        assert doubts(ran, "oc_ratio") == []
    ran = run_suite(loans(INTEREST, "EURIBOR-3M"), definition=parse({"index_rates": {"EURIBOR_3M": 0.3}}))
    assert row(ran, "was").current_value == pytest.approx(4.260759)


def test_each_loan_has_the_level_of_its_own_index() -> None:
    """What the file prints of a loan's index, or of most loans', stays."""
    index = ["EURIBOR-3M"] * 7 + ["EURIBOR-6M"] * 3 + ["SOFR", None, "FIXED"]
    levels = [2.9 if at == 6 else None for at in range(13)]
    rates = parse({"index_rates": {"EURIBOR_3M": 3.0, "EURIBOR_6M": 3.2, "SOFR_1M": 4.3}})
    seen = with_stated(loans(INTEREST, index, base_rate_level=levels), rates)
    nan = float("nan")
    expected = [3.0] * 6 + [2.9] + [3.2] * 3 + [4.3, nan, nan]
    assert np.array_equal(seen.numbers["base_rate_level"], expected, equal_nan=True)
    assert seen.deal.base_rate == 3.0
    assert [warning.rows for warning in seen.notes.warnings] == [10]
    assert with_stated(seen, rates) is seen

    printed = with_stated(loans(replace(INTEREST, base_rate=2.8), index, base_rate_level=levels), rates)
    expected = [nan] * 6 + [2.9] + [3.2] * 3 + [4.3, nan, nan]
    assert np.array_equal(printed.numbers["base_rate_level"], expected, equal_nan=True)
    assert printed.deal.base_rate == 2.8
    assert [warning.code for warning in printed.notes.warnings] == ["index_rate_differs", "index_rate_stated"]
    assert "EURIBOR-3M is 3 % by the definition, and the base rate 2.8 % by the file ('Cash'!C9)" in (
        printed.notes.warnings[0].message
    )


def test_the_level_of_an_index_of_few_loans_is_not_that_of_all() -> None:
    """A level of SOFR says nothing of loans on EURIBOR, nor of the notes."""
    index = ["EURIBOR-3M"] * 12 + ["SOFR-3M"]
    seen = with_stated(loans(INTEREST, index), parse({"index_rates": {"SOFR_3M": 4.3}}))
    assert seen.deal.base_rate is None
    assert np.flatnonzero(np.isfinite(seen.numbers["base_rate_level"])).tolist() == [12]
    unnamed = loans(INTEREST)
    assert with_stated(unnamed, parse({"index_rates": {"SOFR_3M": 4.3, "EURIBOR_3M": 3}})) is unnamed


def test_an_index_without_a_tenor_is_that_of_three_months() -> None:
    rates = {"EURIBOR-3M": 3.0, "EURIBOR-6M": 3.2, "SOFR-1M": 4.3, "SONIA": 4.0}
    for index, level in (("EURIBOR", 3.0), ("EURIBOR-12M", None), ("SOFR", 4.3), ("SOFR-3M", None), ("SONIA-3M", 4.0)):
        assert level_of(index, rates) == level


def test_collected_interest_never_replaces_a_printed_sum() -> None:
    """A file that prints the numerator of interest coverage alone keeps it.

    A correction of its parts is asked for.
    """
    printed = Deal(principal_cash=5e6, interest_available=7_000_000.0)
    stated = parse({"amounts": {"interest_collected": 1.0}})
    ran = run_suite(loans(printed), definition=stated)
    assert row(ran, "ic_ratio").current_value == pytest.approx(7_000_000 / 5_918_500 * 100)
    assert [doubt[0] for doubt in doubts(ran, "ic_ratio")] == ["conflict"]
    parts = {"interest_collected": 8_190_000.0, "interest_receivable": 0.0, "senior_fees": 200_000.0}
    ran = run_suite(loans(Deal(principal_cash=5e6)), definition=parse({"amounts": parts}))
    assert row(ran, "ic_ratio").current_value == pytest.approx(135.000422)
    assert len(doubts(ran, "ic_ratio")) == 3


@every(
    "deal, amounts, taken, codes",
    [
        # Only collected interest is a part of the numerator that a file may print instead.
        ({"interest_available": 7e6}, {"senior_fees": 1e5}, {"senior_fees": 1e5}, ["amount_stated"]),
        ({"interest_available": 7e6}, {"interest_collected": 1e5}, {"interest_collected": None}, ["amount_differs"]),
        ({"interest_collected": 6e6}, {"interest_collected": 6e6}, {"interest_collected": 6e6}, []),
        ({"interest_collected": 6e6}, {"interest_collected": 5e6}, {"interest_collected": 6e6}, ["amount_differs"]),
        ({}, {"interest_collected": 5e6}, {"interest_collected": 5e6}, ["amount_stated"]),
    ],
)
def test_an_amount_is_taken_where_the_file_has_none(
    deal: dict[str, float], amounts: dict[str, float], taken: dict[str, float | None], codes: list[str]
) -> None:
    portfolio = with_stated(loans(Deal(**deal)), parse({"amounts": amounts}))
    assert {name: getattr(portfolio.deal, name) for name in taken} == taken
    assert [warning.code for warning in portfolio.notes.warnings] == codes
