"""Whole comparisons.

Against the oracle, with itself, shuffled, empty, in other units, and refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import cusip as stdnum_cusip

import core
from core.generate import generate
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Names
from core.reconciliation import RULES, Issue, ReconcileError, Reconciliation, reconcile
from core.reconciliation.issues import COLUMNS
from core.reconciliation.run import SHARED_LEAST, THREADS_MAX
from tests.core.reconciliation import oracle
from tests.core.reconciliation.oracle import portfolio_of

CUSIPS = [stem + stdnum_cusip.calc_check_digit(stem) for stem in ("12345678", "0378331A", "AB12CD34", "99999999")]
ISINS = ["US0378331005", "XS0104440986", "GB0002634946", "US0000000000"]
AS_OF = oracle.day("2026-03-31")


@st.composite
def books(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Columns of a small book.

    Few names, identifiers and maturities, so that they meet; par that tells loans apart.
    """
    count = draw(st.integers(0, 7))

    def some(options: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(options), min_size=count, max_size=count))

    place = draw(st.lists(st.integers(1, 11), min_size=count, max_size=count, unique=True))
    return {
        "cusip": some([None, *CUSIPS, "12345678X", "PRIVATE1"]),
        "loanx_id": some([None, None, "LX131555", "LX28443T7", "LOAN A"]),
        "isin": some([None, None, *ISINS, "US0378331006"]),
        "borrower_name": some(["Acme Corp.", "ACME CORPORATION", "Acme Holdings", "Borealis & Sons LLC", "Nova"]),
        "facility_name": some([None, "Term Loan B", "TERM LOAN B", "Revolver"]),
        "par_value": [n**4 * 137.31 + d for n, d in zip(place, some([0.0, 0.005, 0.02]), strict=True)],
        "price": some([None, 99.0, 99.125, 99.13, 98.5]),
        "spread": some([350.0, 360.0, 360.5, None]),
        "maturity_date": some([20_000.0, 20_001.0, nan]),
        "all_in_rate": some([8.0, 8.05, 8.06]),
        "base_rate": some([None, "SOFR", "TSFR3M", "1M SOFR", "EURIBOR"]),
        "industry": some([None, "Retail", "Automotive"]),
        "rating_agency_a": some([None, "B2", "B2 *-", "B3"]),
        "rating_agency_b": some([None, "B", "CCC+"]),
    }


def issue_counts(result: Reconciliation) -> Counter[tuple[str, ...]]:
    return Counter(
        (
            issue.primary_identifier,
            issue.cusip,
            issue.identifier_type,
            issue.issue_type,
            issue.severity,
            issue.field_name,
        )
        for issue in result.issues
    )


def without_row_numbers(result: Reconciliation) -> Any:
    return result.summary, result.stages, result.ambiguous, result.warnings, list(result.issues)


@settings(max_examples=200, deadline=None)
@given(books(), books())
def test_it_finds_what_the_oracle_finds(tape: dict[str, list[Any]], book: dict[str, list[Any]]) -> None:
    theirs, ours = Portfolio.from_columns(tape), Portfolio.from_columns(book)
    # Lots that disagree are another test's: here every position is as its columns say.
    theirs, ours = replace(theirs, lots=None, conflicting=None), replace(ours, lots=None, conflicting=None)
    result = reconcile(theirs, ours)
    if any(warning.code == "par_in_thousands" for warning in result.warnings):
        return  # the oracle does not know other units
    expected = oracle.compare(oracle.loans_of(theirs), oracle.loans_of(ours))
    assert issue_counts(result) == expected
    pairs, *_ = oracle.match(oracle.loans_of(theirs), oracle.loans_of(ours))
    assert dict(zip(*(rows.tolist() for rows in result.pairs), strict=True)) == {a: b for a, (b, _) in pairs.items()}
    assert sum(result.stages.values()) == result.summary.matched == len(pairs)


@settings(max_examples=80, deadline=None)
@given(books(), books(), st.randoms(use_true_random=False))
def test_shuffling_either_side_changes_nothing(
    tape: dict[str, list[Any]], book: dict[str, list[Any]], random: Any
) -> None:
    def shuffled(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
        order = list(range(len(columns["par_value"])))
        random.shuffle(order)
        return {name: [values[row] for row in order] for name, values in columns.items()}

    first = reconcile(Portfolio.from_columns(tape), Portfolio.from_columns(book))
    again = reconcile(Portfolio.from_columns(shuffled(tape)), Portfolio.from_columns(shuffled(book)))
    assert without_row_numbers(first) == without_row_numbers(again)


def exactly(result: Reconciliation) -> Any:
    return [rows.tolist() for rows in result.pairs], result.not_compared, without_row_numbers(result)


@settings(max_examples=60, deadline=None)
@given(books(), books(), st.integers(2, 5))
def test_any_number_of_threads_gives_the_same_answer(
    tape: dict[str, list[Any]], book: dict[str, list[Any]], threads: int
) -> None:
    sides = Portfolio.from_columns(tape), Portfolio.from_columns(book)
    expected = exactly(reconcile(*sides))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.reconciliation.run.SHARED_LEAST", 0)
        assert exactly(reconcile(*sides, threads=threads)) == expected


def test_any_number_of_threads_gives_the_same_answer_of_many_loans() -> None:
    """Of a book and a tape that is shuffled and edited, has loans twice over, and lacks others and identifiers."""
    book = generate(loans=SHARED_LEAST).portfolio_columns()
    chance = np.random.default_rng(11)
    rows = chance.permutation(np.append(np.arange(SHARED_LEAST - 200), chance.integers(0, SHARED_LEAST, 500)))
    tape = {
        name: (values[0][rows], values[1]) if isinstance(values, tuple) else values[rows]
        for name, values in book.items()
    }
    tape["par_value"] = tape["par_value"] * chance.choice([1.0, 1.1], len(rows), p=[0.9, 0.1])
    lost = chance.random(len(rows)) < 0.05
    tape |= {name: np.where(lost, "", tape[name]) for name in ("cusip", "loanx_id", "isin")}
    sides = Portfolio.from_columns(tape), Portfolio.from_columns(book)
    expected = exactly(reconcile(*sides))
    _, _, (summary, stages, ambiguous, *_) = expected
    assert summary.issues_found > 2_000
    assert min(stages["cusip"], stages["loanx_id"], stages["borrower_maturity"]) > 1_000
    assert sum(ambiguous.values()) > 0
    for threads in (2, 3, 8):
        assert exactly(reconcile(*sides, threads=threads)) == expected


@settings(max_examples=80, deadline=None)
@given(books(), st.lists(st.integers(0, 6), max_size=4))
def test_a_tape_with_itself_gives_no_issue(columns: dict[str, list[Any]], again: list[int]) -> None:
    """Loans of one name, maturity and par included: whole rows come again."""
    count = len(columns["par_value"])
    rows = [*range(count), *(row for row in again if row < count)]
    tape = Portfolio.from_columns({name: [values[row] for row in rows] for name, values in columns.items()})
    result = reconcile(tape, tape)
    assert list(result.issues) == []
    assert result.summary.matched == tape.row_count
    assert sorted(set(result.pairs[1].tolist())) == list(range(tape.row_count))


@settings(max_examples=60, deadline=None)
@given(books(), books())
def test_keys_of_loans_are_unique_and_order_is_by_severity(
    tape: dict[str, list[Any]], book: dict[str, list[Any]]
) -> None:
    result = reconcile(Portfolio.from_columns(tape), Portfolio.from_columns(book))
    keys = [(issue.loan_key, issue.field_name, issue.issue_type) for issue in result.issues]
    assert len(set(keys)) == len(keys)
    worst = ["critical", "error", "warning", "info"]
    places = [worst.index(issue.severity) for issue in result.issues]
    assert places == sorted(places)


def test_a_generated_book_with_itself() -> None:
    book = Portfolio.from_columns(generate(loans=1_000).portfolio_columns())
    result = reconcile(book, book)
    assert (len(result.issues), result.summary.matched) == (0, book.row_count)
    assert result.not_compared == {}


def test_a_loan_is_matched_at_most_once_and_nothing_is_lost() -> None:
    """A hundred loans of one borrower without identifiers against sixty.

    Pairs are one to one, the rest is missing.
    """
    chance = np.random.default_rng(5)
    tape = portfolio_of(
        borrower_name=["Acme"] * 100, par_value=chance.uniform(1e6, 2e6, 100), maturity_date=[20_000.0] * 100
    )
    book = portfolio_of(
        borrower_name=["Acme"] * 60, par_value=chance.uniform(1e6, 2e6, 60), maturity_date=[20_000.0] * 60
    )
    result = reconcile(tape, book)
    assert result.stages["borrower_maturity"] == 60
    assert len(set(result.pairs[0].tolist())) == len(set(result.pairs[1].tolist())) == 60
    missing = [issue for issue in result.issues if issue.issue_type == "missing_in_internal"]
    assert len(missing) == result.summary.unmatched_trustee == 40
    assert result.ambiguous["borrower_maturity"] == 1
    assert "shared_keys" in {warning.code for warning in result.warnings}
    doubts = [issue for issue in result.issues if issue.issue_type == "duplicate_position"]
    assert len(doubts) == 100
    assert {(doubt.trustee_value, doubt.internal_value, doubt.severity, doubt.category) for doubt in doubts} == {
        ("100", "60", "warning", "duplicate")
    }


def test_swapped_cusips_show_every_difference_of_both_pairs() -> None:
    tape = portfolio_of(cusip=CUSIPS[:2], borrower_name=["Acme", "Nova"], par_value=[1e6, 2e6], spread=[300.0, 400.0])
    book = portfolio_of(
        cusip=CUSIPS[1::-1], borrower_name=["Acme", "Nova"], par_value=[1e6, 2e6], spread=[300.0, 400.0]
    )
    result = reconcile(tape, book)
    assert result.stages["cusip"] == 2
    fields = Counter((issue.field_name, issue.severity) for issue in result.issues)
    assert fields == {("par_value", "critical"): 2, ("spread", "warning"): 2, ("borrower_name", "info"): 2}


@pytest.mark.parametrize(("tape_count", "book_count"), [(0, 0), (0, 3), (3, 0)])
def test_sides_without_loans(tape_count: int, book_count: int) -> None:
    tape = portfolio_of(cusip=CUSIPS[:tape_count], price=[99.0] * tape_count)
    book = portfolio_of(cusip=CUSIPS[:book_count], price=[99.0] * book_count)
    result = reconcile(tape, book)
    assert result.summary.total_loans_compared == tape_count + book_count
    assert [issue.issue_type for issue in result.issues] == ["missing_in_internal"] * tape_count + [
        "missing_in_trustee"
    ] * book_count
    assert any(warning.code == "no_loans" for warning in result.warnings)
    assert result.issues.chunk(0, 10).keys() == set(COLUMNS)


def test_blank_everything_is_safe() -> None:
    """A portfolio made by hand whose every value is blank."""
    blank = np.full(3, nan)
    names = {
        name: Names(np.full(3, -1, np.int32), ())
        for name in ("cusip", "loanx_id", "isin", "borrower_name", "base_rate")
    }
    empty = Portfolio(3, dict.fromkeys(("par_value", "price", "spread", "maturity_date"), blank), names, {}, {})
    result = reconcile(empty, empty)
    assert (result.summary.matched, len(result.issues)) == (0, 6)  # no name, no identifier: nobody
    assert {(issue.severity, issue.trustee_value, issue.internal_value) for issue in result.issues} == {
        ("warning", "", "")
    }
    assert len({issue.loan_key for issue in result.issues}) == 6


def by_hand(par: list[float], **numbers: list[float]) -> Portfolio:
    """Loans of one borrower whose numbers no reader has looked at."""
    count = len(par)
    columns = {"par_value": np.array(par), "maturity_date": np.full(count, 20_000.0)}
    columns |= {name: np.array(values) for name, values in numbers.items()}
    return Portfolio(count, columns, {"borrower_name": Names(np.zeros(count, np.int32), ("Acme",))}, {}, {})


def test_a_blank_par_is_as_far_from_the_others_as_nothing_is() -> None:
    """And the worst of breaks beside a par."""
    result = reconcile(by_hand([nan, 5e6, 9e6]), by_hand([5.1e6, 9.5e6]))
    assert [rows.tolist() for rows in result.pairs] == [[1, 2], [0, 1]]
    (issue,) = reconcile(by_hand([nan]), by_hand([5e6])).issues
    assert (issue.field_name, issue.severity, issue.trustee_value) == ("par_value", "critical", "")


@pytest.mark.parametrize("day", [1e18, -1e18, 2_147_483_000.0, float("inf"), nan])
def test_a_maturity_that_no_calendar_has_is_no_key(day: float) -> None:
    result = reconcile(by_hand([5e6], maturity_date=[day]), by_hand([5e6], maturity_date=[day]))
    assert (result.stages["borrower_maturity"], result.stages["borrower_name"]) == (0, 1)


@pytest.mark.parametrize("of_tape", [True, False])
def test_par_in_thousands_is_found_scaled_and_told(of_tape: bool) -> None:
    columns = generate(loans=300).portfolio_columns()
    par = np.asarray(columns["par_value"])
    units = Portfolio.from_columns(columns)
    thousands = Portfolio.from_columns({**columns, "par_value": par / 1_000.0})
    tape, book = (thousands, units) if of_tape else (units, thousands)
    result = reconcile(tape, book)
    assert list(result.issues) == []
    side = "tape" if of_tape else "portfolio"
    assert any(side in warning.message and warning.code == "par_in_thousands" for warning in result.warnings)
    edited = par.copy()
    edited[7] *= 1.08
    theirs = Portfolio.from_columns({**columns, "par_value": edited / 1_000.0 if of_tape else edited})
    (issue,) = reconcile(theirs, book).issues
    assert (issue.field_name, issue.severity) == ("par_value", "critical")
    assert float(issue.trustee_value) == pytest.approx(edited[7])
    assert float(issue.internal_value) == pytest.approx(par[7])


def test_par_in_thousands_by_the_medians_where_no_loan_is_in_both() -> None:
    tape = portfolio_of(borrower_name=["Acme"], par_value=[2_000.0])
    book = portfolio_of(borrower_name=["Acme"], par_value=[2_010_000.0])
    result = reconcile(tape, book)
    assert result.stages["borrower_name"] == 1
    assert [(issue.field_name, issue.severity) for issue in result.issues] == [("par_value", "info")]


@pytest.mark.parametrize(
    ("ratio", "is_warned"), [(499.0, False), (500.0, True), (1_000.0, True), (2_000.0, True), (2_001.0, False)]
)
def test_medians_that_say_thousands(ratio: float, is_warned: bool) -> None:
    tape = portfolio_of(borrower_name=["A", "B", "C"], par_value=[1e3, 3e3, 9e9])
    book = portfolio_of(borrower_name=["D", "E", "F"], par_value=[1.0, 3e3 * ratio, 9e9])
    for item, second, side in ((tape, book, "tape"), (book, tape, "portfolio")):
        messages = [
            warning.message for warning in reconcile(item, second).warnings if warning.code == "par_in_thousands"
        ]
        assert [side in text for text in messages] == [True] * is_warned


def test_loans_without_par_have_no_say_in_the_medians() -> None:
    """Fully repaid ones are often still listed."""
    tape = portfolio_of(borrower_name=["A", "B", "C"], par_value=[0.0, 0.0, 3e3])
    book = portfolio_of(borrower_name=["D", "E", "F"], par_value=[3e6, 3e6, 3e6])
    assert "par_in_thousands" in [each.code for each in reconcile(tape, book).warnings]


@pytest.mark.parametrize(("ratio", "is_warned"), [(949.0, False), (950.0, True), (1_050.0, True), (1_051.0, False)])
@pytest.mark.parametrize("others", [0, 2, 3])
def test_pairs_that_say_thousands_are_more_than_half(ratio: float, is_warned: bool, others: int) -> None:
    tape = portfolio_of(loanx_id=[f"LX13155{row}" for row in range(3 + others)], par_value=[2e3] * (3 + others))
    book = portfolio_of(
        loanx_id=[f"LX13155{row}" for row in range(3 + others)], par_value=[2e3 * ratio] * 3 + [2.1e3] * others
    )
    warnings = [warning for warning in reconcile(tape, book).warnings if warning.code == "par_in_thousands"]
    assert len(warnings) == (is_warned and others < 3)


def test_a_par_that_is_equal_as_written_is_a_break_when_the_tape_is_in_thousands() -> None:
    tape, book = (
        portfolio_of(cusip=CUSIPS, par_value=[2e3] * 4),
        portfolio_of(cusip=CUSIPS, par_value=[2e6] * 3 + [2e3]),
    )
    (issue,) = reconcile(tape, book).issues
    assert (issue.field_name, issue.severity, issue.trustee_value, issue.internal_value) == (
        "par_value", "critical", "2000000", "2000"
    )  # fmt: skip


def test_par_in_thousands_is_told_whatever_is_asked_for() -> None:
    tape = portfolio_of(cusip=CUSIPS, borrower_name=["A", "B", "C", "D"], par_value=[2e3] * 4)
    book = portfolio_of(cusip=CUSIPS[:3], borrower_name=["A", "B", "C"])
    (issue,) = reconcile(tape, book, ["missing_loan", "rating"]).issues
    assert (issue.severity, issue.trustee_value) == ("critical", "2000000")


def test_what_hides_nothing_in_units_hides_nothing_in_thousands() -> None:
    """Lots that conflict alike, and loans of one borrower and maturity.

    Equal once par is in units.
    """
    columns: dict[str, Any] = {
        "cusip": [*CUSIPS, CUSIPS[0], None, None, None], "borrower_name": ["A", "B", "C", "D", "A", "X", "X", "X"],
        "rating_agency_a": ["B2", "B2", "B2", "B2", "B3", "B1", "B2", "B3"], "maturity_date": [20_000.0] * 8,
    }  # fmt: skip
    book = portfolio_of(**columns, par_value=[2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 7e6, 7e6])
    tape = portfolio_of(**columns, par_value=[2e3, 3e3, 4e3, 5e3, 6e3, 7e3, 7e3, 7e3])
    assert list(reconcile(tape, book).issues) == list(reconcile(book, tape).issues) == []


def test_one_loan_off_by_a_thousand_among_many_is_a_break_and_no_unit() -> None:
    tape = portfolio_of(cusip=CUSIPS, par_value=[2e6, 2e6, 2e6, 2e3])
    book = portfolio_of(cusip=CUSIPS)
    assert [(issue.field_name, issue.severity) for issue in reconcile(tape, book).issues] == [("par_value", "critical")]


@pytest.mark.parametrize("rule", list(RULES))
def test_a_rule_that_is_not_asked_for_is_not_compared(rule: str) -> None:
    tape = portfolio_of(
        cusip=CUSIPS[:2], borrower_name=["A", "B"], par_value=[2e6, 2e6], price=[90.0, 90], spread=[300.0, 300],
        rating_agency_a=["B1", "B1"], maturity_date=[1.0, 1.0], base_rate=["SOFR-1M"] * 2, all_in_rate=[7.0, 7.0],
        industry=["Retail"] * 2,
    )  # fmt: skip
    book = portfolio_of(
        cusip=CUSIPS[1:3], borrower_name=["B", "C"], par_value=[3e6, 2e6], price=[91.0, 90], spread=[400.0, 300],
        rating_agency_a=["B2", "B1"], maturity_date=[2.0, 1.0], base_rate=["SOFR-3M"] * 2, all_in_rate=[8.0, 7.0],
        industry=["Automotive"] * 2,
    )  # fmt: skip
    everything = {issue.rule for issue in reconcile(tape, book).issues}
    assert everything == set(RULES)
    assert {issue.rule for issue in reconcile(tape, book, [rule]).issues} == {rule}
    assert {issue.rule for issue in reconcile(tape, book, set(RULES) - {rule}).issues} == everything - {rule}


@pytest.mark.parametrize(
    ("field", "tolerance", "none", "issue"),
    [
        ("par_value", 500.0, 2_000_500.0, 2_000_500.01),
        ("price", 1.0, 100.0, 100.01),
        ("spread", 0.0, 350.0, 350.000001),
        ("maturity_date", 3.0, 20_003.0, 20_004.0),
        ("all_in_rate", 50.0, 8.5, 8.51),
        ("all_in_rate", 0.7, 8.007, 8.007001),
        ("all_in_rate", 0.0, 8.0, 8.000001),
        ("par_value", 1e15, 5e14, 1.1e15),
    ],
)
def test_own_tolerances_in_the_units_of_their_rules(field: str, tolerance: float, none: float, issue: float) -> None:
    base = {"par_value": 2_000_000.0, "price": 99.0, "spread": 350.0, "maturity_date": 20_000.0, "all_in_rate": 8.0}
    tape = portfolio_of(cusip=CUSIPS[:1], **{name: [value] for name, value in base.items()})
    for value, count in ((none, 0), (issue, 1)):
        book = portfolio_of(cusip=CUSIPS[:1], **{name: [value if name == field else old] for name, old in base.items()})
        assert len(reconcile(tape, book, tolerances={field: tolerance}).issues) == count


def test_columns_of_one_side_are_not_compared_and_told() -> None:
    tape = portfolio_of(cusip=CUSIPS[:1], price=[99.0], rating_agency_a=["B1"])
    book = portfolio_of(cusip=CUSIPS[:1], spread=[300.0], rating_agency_b=["B"])
    result = reconcile(tape, book)
    assert list(result.issues) == []
    assert set(result.not_compared) == {
        "price", "spread", "rating_agency_a", "rating_agency_b", "maturity_date", "base_rate", "all_in_rate",
        "industry",
    }  # fmt: skip
    assert result.not_compared["price"] == "the portfolio has no such column"
    assert result.not_compared["spread"] == "the tape has no such column"
    assert result.not_compared["industry"] == "the tape and the portfolio have no such column"
    assert set(reconcile(tape, book, ["price"]).not_compared) == {"price"}


def test_an_identifier_is_told_when_only_the_portfolio_lacks_it() -> None:
    both = portfolio_of(cusip=CUSIPS[:1], loanx_id=["LX100001"])
    portfolio = portfolio_of(cusip=CUSIPS[:1])
    assert "loanx_id" in reconcile(both, portfolio).not_compared
    assert "loanx_id" not in reconcile(portfolio, both).not_compared
    assert "isin" not in reconcile(both, portfolio).not_compared


def test_a_tape_of_another_deal_is_remarked() -> None:
    result = reconcile(portfolio_of(cusip=CUSIPS[:2]), portfolio_of(cusip=CUSIPS[2:], borrower_name=["X", "Y"]))
    assert any(warning.code == "few_matched" for warning in result.warnings)


def test_the_package_is_the_function_and_the_face_has_both() -> None:
    portfolio = portfolio_of(cusip=CUSIPS)
    assert core.reconcile(portfolio, portfolio).summary.matched == 4
    assert core.Reconciliation is Reconciliation


def test_refusals() -> None:
    portfolio = portfolio_of(cusip=CUSIPS)
    with pytest.raises(ReconcileError, match="unknown rule"):
        reconcile(portfolio, portfolio, ["par"])
    with pytest.raises(ReconcileError, match="tolerance of price"):
        reconcile(portfolio, portfolio, tolerances={"price": -1.0})
    with pytest.raises(ReconcileError, match="10,000,001 loans on the tape are more than 10,000,000"):
        reconcile(replace(portfolio, row_count=10_000_001), portfolio)
    for threads in (0, THREADS_MAX + 1):
        with pytest.raises(ReconcileError, match=f"from 1 to 64, not {threads}"):
            reconcile(portfolio, portfolio, threads=threads)


def test_an_issue_is_what_the_chunk_says() -> None:
    tape = portfolio_of(cusip=CUSIPS[:2], price=[99.0, 98.0], maturity_date=[oracle.day("2030-01-31")] * 2)
    book = portfolio_of(
        cusip=CUSIPS[:1], price=[99.5], maturity_date=[oracle.day("2030-02-01")], borrower_name=["borrower 0"]
    )
    issues = reconcile(tape, book).issues
    chunk = issues.chunk(0, len(issues))
    assert [Issue(*row) for row in zip(*chunk.values(), strict=True)] == list(issues) == issues[:]
    assert [(issue.field_name, issue.severity, issue.trustee_value, issue.internal_value) for issue in issues] == [
        ("missing_loan", "critical", "2000000", ""),
        ("price", "warning", "99", "99.5"),
        ("maturity_date", "warning", "2030-01-31", "2030-02-01"),
        ("borrower_name", "info", "Borrower 0", "borrower 0"),
    ]


def test_loans_matched_by_name_are_counted_over_both_stages() -> None:
    """One by its borrower and maturity, two by the borrower alone."""
    names, maturity = ["Acme", "Borealis", "Cirrus"], [20_000.0, 21_000.0, 22_000.0]
    tape = portfolio_of(borrower_name=names, maturity_date=maturity)
    book = portfolio_of(borrower_name=names, maturity_date=[20_000.0, 21_100.0, 22_100.0])
    result = reconcile(tape, book)
    assert (result.stages["borrower_maturity"], result.stages["borrower_name"]) == (1, 2)
    rows = {warning.code: warning.rows for warning in result.warnings}
    assert rows["matched_by_name"] == 3
