"""Readings that a file's own figures decide, beside figures that are added up by hand under each convention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

import core
from core.compliance.conventions import PLAIN, definition_for
from core.compliance.run import run_suite
from core.definition import parse
from core.interpretation.candidates import readings_of
from core.interpretation.interpret import interpret, interpreted
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact
from core.portfolio.model.interpretation import Choice, Interpretation
from core.portfolio.model.portfolio import Deal
from tests import printed_by_hand as by_hand
from tests.printed_by_hand import CASH, OVERDRAFT, PAR, portfolio
from tests.real_reports import board


class Case(NamedTuple):
    """A convention, and what a file prints under it.

    `is_bare` prints percentages alone.
    """

    choice: str
    option: str
    print: Callable[[bool], list[Fact]]
    columns: Mapping[str, Any] = MappingProxyType({})
    deal: Deal | None = None


def oc(**words: float) -> Callable[[bool], list[Fact]]:
    """The OC ratios under a convention, and a share."""
    return lambda is_bare: [*by_hand.coverage("oc", by_hand.adjusted(**words), is_bare=is_bare), by_hand.cov_lite()]


def whole(denominator: float) -> Callable[[bool], list[Fact]]:
    """A share of something."""
    return lambda is_bare: [by_hand.cov_lite(denominator, is_bare=is_bare)]


def ccc(ratings: tuple[str, ...]) -> Callable[[bool], list[Fact]]:
    """S&P's CCC bucket by a column of ratings."""
    par = sum(PAR[at] for at in by_hand.ccc_rows(ratings))
    return lambda is_bare: [by_hand.share("ccc", par, None, is_bare=is_bare, agency="b")]


def industries(agency: str) -> Callable[[bool], list[Fact]]:
    """The largest industries of a classification, without its name."""
    first, second, *_ = by_hand.by_industry(agency)
    return lambda is_bare: [
        by_hand.share("industry", first, None, is_bare=is_bare, rank=1),
        by_hand.share("industry", second, None, is_bare=is_bare, rank=2),
    ]


def moved_cash(amount: float) -> float:
    """The OC numerator with another cash."""
    return by_hand.adjusted(cash=amount, ccc=-by_hand.ccc_haircut(by_hand.MOODYS, amount))


def with_cash(amount: float, *accounts: Fact) -> Callable[[bool], list[Fact]]:
    """What all of a file's figures are with another cash."""
    return lambda is_bare: [
        *by_hand.coverage("oc", moved_cash(amount), is_bare=is_bare),
        by_hand.cov_lite(by_hand.performing() + amount, is_bare=is_bare), *accounts,
    ]  # fmt: skip


HIDDEN = {"rating_agency_b": ["***" if at in (5, 8) else rating for at, rating in enumerate(by_hand.SP)]}
P = by_hand.performing()
INTEREST = Deal(
    principal_cash=CASH, currency="USD", interest_collected=5_001_234.56, interest_receivable=6_002_345.67,
    senior_fees=703_456.78, base_rate=4.0, payment_days=90.0,
)  # fmt: skip
YEARLY = sum(par for at, par in enumerate(PAR) if at != by_hand.DEFAULTED) * 0.08
"""Every loan pays 4 percent over an index of 4 percent."""


def ic(numerator: float) -> Callable[[bool], list[Fact]]:
    """The IC ratios of a numerator."""
    return lambda is_bare: by_hand.coverage("ic", numerator, is_bare=is_bare)


CASES = [
    Case("principal_cash", "account", with_cash(3_456_789.12, by_hand.account(3_456_789.12))),
    Case("principal_cash", "overdraft", with_cash(-CASH)),
    Case("principal_cash", "none", with_cash(0.0)),
    Case("principal_cash", "positive", with_cash(0.0), {}, Deal(principal_cash=OVERDRAFT, currency="USD")),
    Case("denominator", "carried", whole(P + CASH + by_hand.carried())),
    Case("denominator", "par", whole(P + CASH + PAR[by_hand.DEFAULTED])),
    Case("denominator", "without_cash", whole(P)),
    Case("defaulted_carried_at", "market_value", oc(carried=by_hand.carried("market_value"))),
    Case("defaulted_carried_at", "none", oc(carried=0.0)),
    Case("recovery_agency", "b", oc(carried=by_hand.carried("lower", by_hand.RECOVERIES["b"]))),
    Case("recovery_agency", "c", oc(carried=by_hand.carried("lower", by_hand.RECOVERIES["c"]))),
    Case("ccc_agencies", "b", oc(ccc=-by_hand.ccc_haircut(by_hand.SP))),
    Case("ccc_excess", "par", oc(ccc=0.0)),
    Case("discount_obligations", "par", oc(discount=0.0)),
    Case("purchased_accrued_interest", "added", oc(accrued=by_hand.accrued())),
    Case("industry", "a", industries("_a")),
    Case("industry", "b", industries("_b")),
    Case("industry", "c", industries("_c")),
    Case("rating_columns_b", "issuer", ccc(by_hand.SP_ISSUER), by_hand.FURTHER_RATINGS),
    Case("rating_columns_b", "facility", ccc(by_hand.SP_FACILITY), by_hand.FURTHER_RATINGS),
    Case("rating_columns_b", "final", ccc(by_hand.SP_FINAL), by_hand.FURTHER_RATINGS),
    Case("rating_columns_b", "first", ccc(by_hand.SP_DERIVED), by_hand.FURTHER_RATINGS),
    Case("masked_b", "CCC+", ccc(by_hand.SP), HIDDEN),
    Case(
        "families", "affiliates",
        lambda is_bare: [by_hand.share("obligor", PAR[1] + PAR[2], None, is_bare=is_bare, rank=1)],
    ),
    Case("interest", "period", ic(YEARLY / 4 - 703_456.78), {}, INTEREST),
    Case("interest", "collected_and_period", ic(5_001_234.56 + YEARLY / 4 - 703_456.78), {}, INTEREST),
    Case("senior_fees", "left_out", ic(5_001_234.56 + 6_002_345.67), {}, INTEREST),
]  # fmt: skip

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.choice} {case.option}")


def loans_of(case: Case, *, is_bare: bool) -> Portfolio:
    return portfolio(*case.print(is_bare), deal=case.deal, **case.columns)


def choice_of(name: str, choices: list[Choice]) -> Choice | None:
    return next((choice for choice in choices if choice.name == name), None)


@every_case
def test_a_convention_is_found_by_its_amounts_and_a_run_goes_by_it(case: Case) -> None:
    used = interpreted(loans_of(case, is_bare=False))
    interpretation = used.interpretation
    assert interpretation is not None
    choice = choice_of(case.choice, interpretation.choices)
    assert choice is not None
    assert (choice.reading.option, choice.changed) == (case.option, True)
    assert choice.state in ("taken", "proposed")
    assert [item.name for item in interpretation.changed] == [case.choice]
    assert choice.runner_up is not None
    assert choice.reading.ties
    assert interpretation.tied > interpretation.tied_before
    assert interpretation.tied == interpretation.figures
    again = interpret(used)
    assert again.changed == []
    assert again.tied == interpretation.tied
    doubts = [warning for warning in run_suite(used, "enhanced").warnings if warning.code == "reading_proposed"]
    assert bool(doubts) == (choice.state == "proposed")


@every_case
def test_a_percentage_alone_decides_nothing(case: Case) -> None:
    facts = case.print(True)
    ratios = [fact for fact in facts if fact.subject is not None and fact.subject.measure == "oc"]
    few = [fact for fact in facts if fact not in ratios[2:] and fact.numerator is None]  # two ratios leave too much
    result = interpret(portfolio(*few, deal=case.deal, **case.columns))
    assert result.changed == []
    choice = choice_of(case.choice, result.choices)
    assert choice is None or (choice.state == "open" and choice.reading.option != case.option)


def test_one_number_is_one_figure_however_often_it_is_printed() -> None:
    """A share and an empty one divide by the same amount, the only one that ties to the cent."""
    wide = P + CASH + by_hand.carried()
    facts = [by_hand.cov_lite(wide), by_hand.share("fixed", 0.0, wide)]
    result = interpret(portfolio(*facts))
    (choice,) = result.changed
    assert (choice.name, choice.state) == ("denominator", "proposed")
    assert len([tie for tie in choice.reading.ties if tie.part == "denominator"]) == 2


def test_shares_of_different_loans_are_figures_of_their_own() -> None:
    """Two shares with other numerators divide by one amount.

    Two tests of the file tie by it.
    """
    wide = P + CASH + by_hand.carried()
    (choice,) = interpret(portfolio(by_hand.cov_lite(wide), by_hand.share("senior_secured", P, wide))).changed
    assert (choice.name, choice.state) == ("denominator", "taken")


def test_a_second_independent_amount_takes_a_reading() -> None:
    facts = with_cash(3_456_789.12, by_hand.account(3_456_789.12))(False)
    (choice,) = interpret(portfolio(*facts)).changed
    assert choice.state == "taken"
    assert interpreted(portfolio(*facts)).notes.warnings == portfolio(*facts).notes.warnings
    assert "3,456,789.12, 'Accounts'!3456789" in choice.reading.words


def test_a_round_amount_proposes_nothing() -> None:
    par = [5_000_000.0] * 9 + [2_000_000.0]
    loans = {"par_value": par, "industry": [f"Sector {at}" for at in range(10)],
             "industry_b": ["Sector X"] * 2 + [f"Sector {at}" for at in range(8)]}  # fmt: skip
    print_first = by_hand.share("industry", 10_000_000.0, 47_000_000.0 - 5_000_000.0 + CASH, rank=1)
    result = interpret(portfolio(print_first, **loans))
    choice = choice_of("industry", result.choices)
    assert choice is not None
    assert (choice.state, choice.reading.option) == ("open", "any")
    assert choice.runner_up is not None
    assert (choice.runner_up.option, choice.runner_up.ties[0].printed) == ("b", 10_000_000.0)


def test_nothing_that_ties_may_stop() -> None:
    """The facility's ratings give the CCC bucket and lose S&P's other figure.

    Neither is taken.
    """
    bucket = ccc(by_hand.SP_FACILITY)(False)
    factor = [by_hand.share("ccc", sum(PAR[at] for at in by_hand.ccc_rows(by_hand.SP_DERIVED)), None, agency="b")]
    result = interpret(portfolio(*bucket, *factor, **by_hand.FURTHER_RATINGS))
    assert result.changed == []


def test_two_readings_of_one_amount_leave_it_open() -> None:
    same = {"industry_c": COLUMN_B, "industry_b": COLUMN_B}
    result = interpret(portfolio(*industries("_b")(False), **same))
    choice = choice_of("industry", result.choices)
    assert choice is not None
    # The two are one reading for these loans: it is taken under the first name.
    assert (choice.state, choice.reading.option) == ("taken", "b")


COLUMN_B = [f"Sector {letter}" for letter in by_hand.INDUSTRIES["_b"]]


def test_ratios_of_all_classes_leave_one_numerator() -> None:
    """Printed to eight decimals, three ratios leave less room than chance fills.

    To two, they leave too much.
    """
    numerator = by_hand.adjusted(carried=by_hand.carried("market_value"))
    ratios = [
        with_digits(fact, numerator / by_hand.BALANCES[fact.subject.classes[0]] * 100)
        for fact in by_hand.coverage("oc", numerator, is_bare=True) if fact.subject is not None
    ]  # fmt: skip
    (choice,) = interpret(portfolio(*ratios)).changed
    assert (choice.name, choice.reading.option, choice.state) == ("defaulted_carried_at", "market_value", "taken")
    assert choice.reading.ties[-1].name == "3 OC ratios together"
    assert interpret(portfolio(*ratios[:2])).changed == []


def with_digits(fact: Fact, value: float) -> Fact:
    return replace(fact, value=round(value, 6), decimals=6)


def test_a_definition_outranks_the_search() -> None:
    facts = with_cash(3_456_789.12, by_hand.account(3_456_789.12))(False)
    stated = parse({"name": "Ours", "conventions": {"currency": "USD"}, "tests": []})
    result = interpret(portfolio(*facts), stated)
    assert {choice.state for choice in result.choices} == {"stated"}
    assert [choice.name for choice in result.choices if choice.differs] == ["principal_cash"]
    used = interpreted(portfolio(*facts), stated)
    assert used.deal.principal_cash == CASH
    assert [warning.code for warning in used.notes.warnings] == ["reading_differs"]
    assert used.notes.warnings[0].fields == ("cash",)
    assert definition_for(used, stated) is stated


def test_a_definition_that_comes_after_the_reading_is_told() -> None:
    facts = with_cash(3_456_789.12, by_hand.account(3_456_789.12))(False)
    tests = [{"id": "cov", "name": "Cov-lite", "measure": "cov_lite", "max": 60}]
    stated = {"name": "Ours", "conventions": {"currency": "USD"}, "tests": tests}
    corrected = {"corrections": [{"figure": "principal_cash", "amount": CASH, "note": "the account"}]}
    used = interpreted(portfolio(*facts))
    for document, answer in ((stated, 1), (stated | corrected, 0)):
        ran = run_suite(used, "deal", definition=parse(document))
        assert [warning.code for warning in ran.warnings].count("reading_differs") == answer
    assert "reading_differs" not in [warning.code for warning in run_suite(used).warnings]


def test_a_definition_that_says_what_the_file_prints_does_not_differ() -> None:
    facts = [by_hand.cov_lite(), *by_hand.coverage("oc", by_hand.adjusted())]
    result = interpret(portfolio(*facts), parse({"name": "Ours", "tests": []}))
    assert not any(choice.differs for choice in result.choices)


def test_a_file_without_figures_costs_nothing() -> None:
    loans = portfolio()
    assert interpret(loans) is interpret(loans)
    assert interpreted(loans).interpretation == interpret(loans)
    assert definition_for(interpreted(loans), None) is None


def test_each_figure_is_left_out_once() -> None:
    facts = with_cash(3_456_789.12, by_hand.account(3_456_789.12))(False)
    hold_out = interpret(portfolio(*facts), hold_out=True).hold_out
    assert hold_out is not None
    assert (hold_out.figures, hold_out.right) == (4, 4)


def test_what_one_figure_alone_decides_is_lost_when_it_is_left_out() -> None:
    hold_out = interpret(portfolio(by_hand.cov_lite(P + CASH + by_hand.carried())), hold_out=True).hold_out
    assert hold_out is not None
    assert (hold_out.figures, hold_out.right) == (1, 0)


def test_the_library_offers_both() -> None:
    assert core.interpret is interpret
    assert core.interpreted is interpreted


def test_a_rating_table_that_gives_the_printed_bucket_is_reported() -> None:
    hidden = by_hand.ccc_rows(by_hand.SP)
    masked = (0, hidden[0])  # the first of them is no CCC
    shown = {"rating_agency_b": ["***" if at in masked else rating for at, rating in enumerate(by_hand.SP)]}
    deal = Deal(principal_cash=CASH, currency="USD", masked_ccc_b=PAR[hidden[0]])
    result = interpret(portfolio(*ccc(by_hand.SP)(False), deal=deal, **shown))
    choice = choice_of("masked_b", result.choices)
    assert choice is not None
    assert (choice.reading.option, choice.state, choice.changed) == ("rating_table", "proposed", False)
    assert choice.reading.ties[0].part == "numerator"
    assert result.tied == result.figures


def test_cash_is_listed_once_by_its_amount() -> None:
    accounts = [by_hand.account(3_456_789.12), by_hand.account(CASH), by_hand.account(3_456_789.12, "interest")]
    loans = portfolio(by_hand.cov_lite(), *accounts)
    listed = readings_of(loans, PLAIN)["principal_cash"]
    assert [(item.option, dict(item.deal).get("principal_cash")) for item in listed] == [
        ("all", None), ("none", None), ("overdraft", -CASH), ("account", 3_456_789.12), ("overdraft", -3_456_789.12),
    ]  # fmt: skip


@pytest.mark.parametrize("shift", [-7_538_250.0, -1_869_202.0, 3_415_065.0, 5_316_961.0, 6_330_591.0, 10_539_580.0])
def test_ratios_of_a_numerator_that_no_reading_has_decide_nothing(shift: float) -> None:
    """Among a thousand readings one lies inside by chance: it takes several changes."""
    balances = (3_456_789.01, 2_000_111.22, 5_111_222.33, 987_654.32)
    facts = [
        *by_hand.coverage("oc", by_hand.adjusted() + shift, is_bare=True),
        *(by_hand.account(amount) for amount in balances),
    ]
    columns = {"rating_agency_b_facility": list(by_hand.SP_FACILITY), "rating_agency_b_issuer": list(by_hand.SP_ISSUER)}
    assert interpret(portfolio(*facts, **columns)).changed == []


def test_ratios_without_a_ccc_excess_say_nothing_of_masked_ratings() -> None:
    """That not all of them are CCC is ruled out; what they count as is not proved."""
    by_name = {choice.name: choice.state for choice in interpret(board.portfolio("cairn-xvii")).choices}
    assert by_name["masked_c"] == "open"
    assert by_name["discount_obligations"] == "taken"


def test_a_definition_that_corrects_the_cash_does_not_differ() -> None:
    facts = with_cash(3_456_789.12, by_hand.account(3_456_789.12))(False)
    correction = {"figure": "principal_cash", "amount": 3_456_789.12, "note": "the other account"}
    loans = portfolio(*facts)
    assert not any(choice.differs for choice in interpret(loans, parse({"corrections": [correction]})).choices)
    assert any(choice.differs for choice in interpret(loans, parse({})).choices)


def with_par(loans: Portfolio, factor: float) -> Portfolio:
    return replace(loans, numbers={**loans.numbers, "par_value": loans.numbers["par_value"] * factor})


ODD: dict[str, Callable[[Portfolio], Portfolio]] = {
    "no par": lambda loans: with_par(loans, 0.0),
    "blank par": lambda loans: with_par(loans, float("nan")),
    "short": lambda loans: with_par(loans, -1.0),
    "too large": lambda loans: with_par(loans, 1e300),
    "no notes": lambda loans: replace(loans, tranches=None),
    "no names": lambda loans: replace(loans, names={}),
    "no ratings": lambda loans: replace(loans, ranks={}),
    "no flags": lambda loans: replace(loans, flags={}),
    "no cash": lambda loans: replace(loans, deal=Deal()),
    "cash is no number": lambda loans: replace(loans, deal=Deal(principal_cash=float("nan"))),
    "all in default": lambda loans: replace(
        loans, flags={**loans.flags, "is_defaulted": np.ones(loans.row_count, np.uint8)}
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_loans_are_interpreted_without_a_fault(name: str) -> None:
    facts = [
        *by_hand.coverage("oc", by_hand.adjusted()), *by_hand.coverage("ic", 5e6), by_hand.cov_lite(),
        by_hand.share("industry", 1e7, None, rank=1), by_hand.share("ccc", 123.4, None, agency="b"),
        by_hand.account(1e15), replace(by_hand.account(1.0), value=float("nan")),
    ]  # fmt: skip
    loans = ODD[name](portfolio(*facts))
    result = interpret(loans, hold_out=True)
    assert result.changed == []
    assert interpreted(loans).interpretation == without_hold_out(result)


def without_hold_out(interpretation: Interpretation) -> Interpretation:
    return msgspec.structs.replace(interpretation, hold_out=None)
