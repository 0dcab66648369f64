"""What loans are called.

Unique and stable keys whatever the texts, in an order that no row number shows in.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Names
from core.reconciliation import reconcile
from core.reconciliation.loans import KEY_LENGTH_MAX
from tests.core.reconciliation.oracle import day, portfolio_of

CUSIP = "037833100"


def test_keys_by_identifier_else_by_name_and_maturity() -> None:
    tape = portfolio_of(
        cusip=[CUSIP, None, None, None, None], loanx_id=["LX131555", "LX131556", None, None, None],
        isin=[None, None, "XS0104440986", None, None], borrower_name=["A", "B", "C", "Dé & Co., Inc.", "E"],
        maturity_date=[1.0, 2.0, 3.0, day("2030-06-30"), np.nan],
    )  # fmt: skip
    nothing = portfolio_of(cusip=[], par_value=[])
    by_borrower_name = {issue.borrower_name: issue for issue in reconcile(tape, nothing).issues}
    assert [by_borrower_name[name].loan_key for name in by_borrower_name] == [
        CUSIP,
        "LX131556",
        "XS0104440986",
        "DE AND 2030-06-30",
        "E -",
    ]
    assert [by_borrower_name[name].primary_identifier for name in by_borrower_name] == [
        CUSIP,
        "LX131556",
        "XS0104440986",
        "Dé & Co., Inc.",
        "E",
    ]
    assert [by_borrower_name[name].identifier_type for name in by_borrower_name] == [
        "cusip",
        "loanx_id",
        "isin",
        "borrower_name",
        "borrower_name",
    ]
    assert [by_borrower_name[name].cusip for name in by_borrower_name] == [CUSIP, "", "", "", ""]


def test_an_identifier_of_the_other_side_names_the_loan_that_has_none_here() -> None:
    tape = portfolio_of(loanx_id=["LX131555"], cusip=[None], price=[90.0])
    book = portfolio_of(loanx_id=["LX131555"], cusip=[CUSIP], price=[95.0])
    (issue,) = reconcile(tape, book).issues
    assert (issue.loan_key, issue.cusip, issue.identifier_type) == (CUSIP, CUSIP, "loanx_id")


def test_keys_that_would_be_the_same_are_numbered_by_what_the_loans_hold() -> None:
    nothing = portfolio_of(cusip=[], par_value=[])
    for par in ([1e6, 2e6, 3e6], [3e6, 1e6, 2e6]):
        loans = portfolio_of(borrower_name=["Acme"] * 3, par_value=par)
        for answer in (reconcile(loans, nothing).issues, reconcile(nothing, loans).issues):
            assert {item.loan_key: item.trustee_value or item.internal_value for item in answer} == {
                "ACME -": "1000000", "ACME - #2": "2000000", "ACME - #3": "3000000"
            }  # fmt: skip


def test_a_text_that_looks_like_a_numbered_key_is_another_key() -> None:
    texts = ("X", "X #2", "X ##2")
    codes = np.array([0, 0, 1, 1, 2], np.int32)
    loans = Portfolio(5, {"par_value": np.arange(5.0)}, {"cusip": Names(codes, texts)}, {}, {})
    issues = reconcile(loans, portfolio_of(cusip=[], par_value=[])).issues
    assert len({issue.loan_key for issue in issues}) == len(issues) == 5


def test_a_pairs_key_does_not_hang_on_the_loans_that_are_missing() -> None:
    """What is asked for decides whether these have an issue.

    The issues of a pair are the same ones each time.
    """
    tape = portfolio_of(cusip=["123456789"], loanx_id=["LX131555"], borrower_name=["Acme"], par_value=[5e6])
    book = portfolio_of(
        cusip=[CUSIP, "123456789"], loanx_id=["LX131555", None], borrower_name=["Acme", "Zed"], par_value=[5e6, 4e6]
    )
    for rules in (["par_value"], ["par_value", "missing_loan"]):
        by_field_name = {issue.field_name: issue.loan_key for issue in reconcile(tape, book, rules).issues}
        assert by_field_name.pop("missing_loan", None) == (None if rules == ["par_value"] else "123456789 #2")
        assert by_field_name == {"cusip": "123456789"}


def test_a_key_stays_short_enough_for_an_index() -> None:
    long = ["X" * 5_000, "X" * 4_999 + "Y"]
    issues = reconcile(portfolio_of(loanx_id=long), portfolio_of(cusip=[], par_value=[])).issues
    keys = [issue.loan_key for issue in issues]
    assert len(set(keys)) == 2
    assert max(len(key) for key in keys) <= KEY_LENGTH_MAX
    assert [issue.primary_identifier for issue in issues] == long


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("A# 2", max_size=6), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_keys_are_unique_whatever_the_identifiers(texts: list[str], random: object) -> None:
    """Identifiers made by hand, alike or not, in the place of one another.

    The numbering's own sign among them.
    """
    distinct = sorted(set(texts))
    codes = np.array([distinct.index(text) for text in texts], np.int32)
    names = {"cusip": Names(codes, tuple(distinct)), "loanx_id": Names(codes[::-1].copy(), tuple(distinct))}
    tape = Portfolio(len(texts), {"par_value": np.arange(1.0, len(texts) + 1)}, names, {}, {})
    nothing = Portfolio(0, {"par_value": np.zeros(0)}, {}, {}, {})
    issues = reconcile(tape, nothing).issues
    assert len({issue.loan_key for issue in issues}) == len(texts)
    order = np.array(random.sample(range(len(texts)), len(texts)))  # type: ignore[attr-defined]
    moved = {name: Names(column.codes[order], column.values) for name, column in names.items()}
    again = reconcile(
        Portfolio(len(texts), {"par_value": tape.numbers["par_value"][order]}, moved, {}, {}), nothing
    ).issues
    assert list(again) == list(issues)
