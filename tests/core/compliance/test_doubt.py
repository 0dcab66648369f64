"""Doubts of results.

What the inputs lack, what warnings, printed sums and the trustee's own figures say.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from core.compliance.beside import other_figures
from core.compliance.doubt import READS, Doubter, JudgedFigure
from core.compliance.grouped import KINDS, doubt_groups
from core.compliance.result import DoubtCode, Results, TestResult, Threshold, Verdict
from core.compliance.run import run_suite
from core.definition import parse
from core.definition.terms import LOAN_FIELDS, MEASURES
from core.files.read import read
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject, Identity
from core.portfolio.model.inputs import ANY, FIELDS, WARNINGS, input_of
from core.portfolio.model.notes import WARNING_CODES, DataWarning, Notes, limit_warnings, warning_texts
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of
from tests.rows import every

CASH = 5e6
LITE = "cov_lite_concentration"
PLACE = "'Tests'!C7"


def fact(measure: str, value: float | None, **more: Any) -> Fact:
    by_name = {name: more.pop(name) for name in ("agency", "classes", "rank") if name in more}
    input_value: dict[str, Any] = {
        "kind": "test",
        "label": measure,
        "place": PLACE,
        "unit": "percent",
        "decimals": 2,
    } | more
    return Fact(subject=FactSubject(measure=measure, **by_name), value=value, **input_value)


def book(*facts: Fact, identity: Identity | None = None, deal: Deal | None = None, notes: Notes | None = None,
         cells: dict[str, str] | None = None, **columns: Any) -> Portfolio:  # fmt: skip
    """The thirteen loans of the compliance tests with whatever a test adds.

    A column None is left out.
    """
    more: dict[str, Any] = {
        "cov_lite": [1, *[0] * 12], "lien_type": [1] * 13, "country": ["US"] * 13, "maturity_date": [22_000.0] * 13,
        "price": [99.0] * 13, "rating_agency_b": ["B"] * 13,
    }  # fmt: skip
    by_name = {name: values for name, values in (g1_columns() | more | columns).items() if values is not None}
    return portfolio_of(
        by_name,
        tranches=tranches_of(G1_NOTES, coupon=[6.5, 7.0, 7.6, 9.2, 12.0], oc={"B": 121.5, "E": 104.2}, ic={"D": 110.0}),
        deal=deal or Deal(principal_cash=CASH, base_rate=4.30, as_of=20_544.0, interest_collected=9e6,
                          interest_receivable=0.0, senior_fees=1e5),
        facts=Facts(all=facts, identities=() if identity is None else (identity,)),
        notes=notes or Notes(),
        source_cells=cells or {},
    )  # fmt: skip


def result_of_test(portfolio: Portfolio, test_id: str = LITE, **options: Any) -> TestResult:
    return run_suite(portfolio, "enhanced", test_ids=[test_id], **options)[test_id]


def codes(result: TestResult) -> list[str]:
    return [doubt.code for doubt in result.doubt]


VALUE = result_of_test(book()).current_value
"""The covenant-lite share, with nothing to doubt."""


def test_a_figure_of_whole_inputs_has_no_doubt() -> None:
    ran = run_suite(
        book(), "enhanced", test_ids=[LITE, "single_obligor_concentration", "wal", "non_senior_secured_concentration"]
    )
    assert [(codes(result), result.doubtful, result.published) for result in ran] == [([], False, None)] * 4
    assert ran.summary.doubtful == 0


# ---- the trustee's figure --------------------------------------------------------------------------------------


@every(
    "printed, agrees",
    [
        (fact("cov_lite", round(VALUE, 2)), True),
        (fact("cov_lite", round(VALUE + 0.01, 2)), False),
        (fact("cov_lite", round(VALUE, 1), decimals=1), True),
        (fact("cov_lite", round(VALUE + 0.1, 1), decimals=1), False),
        (fact("cov_lite", None, trigger=60.0), None),
    ],
)
def test_a_printed_figure_stands_beside_ours(printed: Fact, agrees: bool | None) -> None:
    """They tie within half a unit of the last printed digit."""
    result = result_of_test(book(printed))
    assert result.published is not None
    assert (result.published.place, result.published.agrees) == (PLACE, agrees)
    assert ("differs" in codes(result)) == (agrees is False)
    expected = None if printed.value is None else pytest.approx(VALUE - printed.value, abs=1e-6)
    assert result.published.difference == expected
    assert not result.doubtful


def test_printed_numerators_and_denominators_decide_to_the_cent() -> None:
    """A value that is stored too coarsely does not count where both are printed."""
    details = result_of_test(book()).details
    assert details is not None
    numerator, denominator = details.breakdown["numerator"], details.breakdown["denominator"]
    coarse = fact("cov_lite", round(VALUE, 1) + 0.1, numerator=numerator, denominator=denominator, decimals=2)
    ties = result_of_test(book(coarse))
    assert ties.published is not None
    assert (ties.published.agrees, codes(ties)) == (True, [])
    for name, amount in (("numerator", numerator), ("denominator", denominator)):
        second = result_of_test(book(replace(coarse, value=round(VALUE, 2), **{name: amount + 0.02})))
        assert second.published is not None
        assert (second.published.agrees, "differs" in codes(second)) == (False, True)
        assert f"the trustee's {name} is" in next(doubt.message for doubt in second.doubt if doubt.code == "differs")


def test_a_status_that_the_file_contradicts_is_doubtful() -> None:
    ran = run_suite(book(fact("cov_lite", round(VALUE, 2), status="fail")), "enhanced")
    result = ran[LITE]
    assert (result.status, result.doubtful, codes(result)) == ("pass", True, ["differs"])
    assert result.doubt[0].places == [PLACE]
    assert "its status is fail, ours pass" in result.doubt[0].message
    summary = ran.summary
    assert summary.doubtful == sum(row.doubtful for row in ran) >= 1
    assert summary.total == summary.passed + summary.failed + summary.warnings + summary.skipped


@every("status, threshold, is_doubtful", [("pass", 60.0, False), ("fail", 60.0, True), ("pass", 1.0, True)])
def test_a_warning_is_no_contradiction_of_a_pass(status: Any, threshold: float, is_doubtful: bool) -> None:
    limits = {LITE: Threshold(test_id=LITE, threshold_value=threshold, warning_threshold=threshold / 100)}
    result = result_of_test(book(fact("cov_lite", VALUE + 1, status=status)), request_thresholds=limits)
    assert result.doubtful == is_doubtful
    assert "differs" in codes(result)


def test_a_limit_that_somebody_sets_is_no_contradiction() -> None:
    """The figure ties: that it fails by a limit of one's own does not make it doubtful."""
    printed = fact("cov_lite", round(VALUE, 2), status="pass", trigger=60.0)
    strict = {LITE: Threshold(test_id=LITE, threshold_value=VALUE / 2)}
    own = result_of_test(book(printed), request_thresholds=strict)
    assert (own.status, own.doubtful, codes(own)) == ("fail", False, [])
    rules = parse({"tests": [{"id": LITE, "name": "Lite", "measure": "cov_lite", "max": VALUE / 2}]})
    stands_in = result_of_test(book(printed), definition=rules)
    assert (stands_in.status, stands_in.doubtful) == ("fail", True)
    assert "stand_in" in codes(stands_in)
    assert "differs" not in codes(stands_in)


def test_of_ccc_the_figure_of_the_agency_that_decides_stands_beside_ours() -> None:
    columns: dict[str, Any] = {"rating_agency_a": ["B2"] * 13, "rating_agency_b": ["CCC", *["B"] * 12]}
    ours = result_of_test(book(**columns), "ccc_bucket_pct").current_value
    facts = [fact("ccc", 0.0, agency="a", place="'Tests'!C1"), fact("ccc", round(ours, 2), agency="b")]
    result = result_of_test(book(*facts, **columns), "ccc_bucket_pct")
    assert result.published is not None
    assert (result.published.place, result.published.agrees) == (PLACE, True)
    alone = result_of_test(book(facts[0], **columns), "ccc_bucket_pct")
    assert alone.published is None


def test_a_skipped_test_has_the_trustees_figure() -> None:
    skipped = {skip.test_id: skip for skip in run_suite(book(fact("cov_lite", 9.8), cov_lite=None), "enhanced").skipped}
    published = skipped[LITE].published
    assert published is not None
    assert (published.value, published.agrees, published.difference) == (9.8, None, None)


def test_a_file_without_loans_that_can_be_read_has_the_trustees_figures_beside_what_is_skipped() -> None:
    printed = (
        fact("cov_lite", 25.04), fact("ccc", 2.5, agency="a"), fact("ccc", 4.32, agency="b"),
        fact("wal", 4.1, unit="years"),
    )  # fmt: skip
    empty = Portfolio(row_count=0, numbers={}, names={}, flags={}, ranks={}, facts=Facts(all=printed))
    ran = run_suite(empty, "standard")
    assert not ran
    theirs = {item.test_id: item.published.value for item in ran.skipped if item.published is not None}
    assert theirs == {LITE: 25.04, "ccc_bucket_pct": 4.32, "wal": 4.1}


def test_after_trades_the_files_figures_are_not_compared() -> None:
    total = Identity(name="collateral_principal_amount", total=1.0, parts=(), holds=False, is_proved=False)
    loans = book(fact("cov_lite", VALUE + 5, status="fail"), identity=total)
    assert result_of_test(loans).doubtful
    result = result_of_test(loans, compare=False)
    assert (result.published, result.doubtful, codes(result)) == (None, False, [])


def test_all_differences_stand_in_one_warning() -> None:
    """None is cut, however many there are; those with another status come first."""
    facts = [
        fact("cov_lite", 50.0), fact("non_senior", 5.0), fact("foreign", 5.0),
        fact("obligor", 90.0, status="pass", rank=1),
        fact("wal", 9.0, unit="years"), fact("was", 1.0), fact("warf", 1000.0, unit="factor", agency="a"),
        fact("fixed", 9.0),
    ]  # fmt: skip
    ran = run_suite(book(*facts, is_fixed=[0] * 13), "enhanced")
    (warning,) = [actual_warning for actual_warning in ran.warnings if actual_warning.code == "published_differs"]
    differing = [result for result in ran if "differs" in codes(result)]
    assert warning.rows == len(differing) >= 7
    assert all(result.test_name in warning.message for result in differing)
    assert warning.message.startswith("the file publishes other figures: Largest obligor 90, here")


def test_differences_too_many_for_one_warning_stand_in_several() -> None:
    theirs = result_of_test(book(fact("cov_lite", 99.0)))
    many = [replace(theirs, test_id=f"t{at}", test_name=f"Test {at} {'of a long name ' * 12}") for at in range(400)]
    data_warnings = list(other_figures(many))
    assert sum(warning.rows or 0 for warning in data_warnings) == 400
    assert limit_warnings(data_warnings) == data_warnings, "none of them is cut"
    assert all(any(f"Test {at} " in warning.message for warning in data_warnings) for at in range(400))


# ---- inputs ----------------------------------------------------------------------------------------------------

BLANKS = [
    ("single_obligor_concentration", {"obligor": [None, *map(str, range(12))]}, "no obligor"),
    ("industry_concentration", {"industry": [None, *["Banking"] * 12]}, "no industry"),
    ("foreign_country_concentration", {"country": [None, *["US"] * 12]}, "no country"),
    ("non_senior_secured_concentration", {"lien_type": [0, *[1] * 12]}, "no lien"),
    ("wal", {"maturity_date": [None, *[22_000.0] * 12]}, "no maturity"),
    ("weighted_average_price", {"price": [None, *[99.0] * 12]}, "no price"),
    ("price_below_80_pct", {"price": [None, *[99.0] * 12]}, "no price"),
    ("weighted_average_recovery_rate", {"recovery_rate": [None, *[45.0] * 12]}, "no recovery rate"),
    ("quoted_depth_pct", {"quote_depth": [None, *[3.0] * 12]}, "no number of quotes"),
    ("small_facility_concentration", {"facility_size": [None, *[9e8] * 12]}, "no facility size"),
]  # fmt: skip


@every("test_id, columns, words", BLANKS)
def test_blanks_are_told_with_their_share_of_par_where_they_are_read(
    test_id: str, columns: dict[str, Any], words: str
) -> None:
    (field,) = columns
    loans = book(cells={field: "'Holdings'!C2:C14"}, **columns)
    par = loans.numbers["par_value"]
    result = result_of_test(loans, test_id)
    doubts = [doubt for doubt in result.doubt if doubt.code == "blank_inputs" and words in doubt.message]
    assert doubts
    assert doubts[0].message.startswith(f"{par[0] / par.sum() * 100:.2f} % of par has ")
    assert doubts[0].places == ["'Holdings'!C2:C14"]
    assert not any(words in doubt.message for doubt in result_of_test(loans).doubt), "another test does not read it"


@every("test_id, columns, words", [*BLANKS, ("wal", {}, ""), ("oc_ratio", {"rating_agency_a": None}, "")])
def test_what_is_sure_is_what_nothing_is_found_against(
    monkeypatch: pytest.MonkeyPatch, test_id: str, columns: dict[str, Any], words: str
) -> None:
    """A figure that is passed over because nothing is open has no doubt when everything is looked through."""
    data_warning = DataWarning("lien_unrecognised", "a lien is not known")

    def run() -> Results:
        return run_suite(book(notes=Notes(warnings=[data_warning]), **columns), "enhanced")

    def doubts(ran: Results) -> list[Any]:
        return [(result.test_id, result.doubt, result.doubtful, result.low, result.high) for result in ran]

    outcome = doubts(run())
    assert any(doubt for _, doubt, *_ in outcome)
    assert any(not doubt for _, doubt, *_ in outcome)
    for name in ("is_sure", "is_settled"):
        monkeypatch.setattr(Doubter, name, lambda *_: False)
    assert doubts(run()) == outcome
    assert not words or any(words in doubt.message for name, some, *_ in outcome if name == test_id for doubt in some)


def test_a_summary_looks_through_no_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts by the ends of the figures.

    Of those that nothing makes doubtful, not even these are worked out.
    """
    ran = run_suite(book(country=[None, *["US"] * 12]), "enhanced", test_ids=[LITE, "foreign_country_concentration"])
    looked: list[str] = []
    verdict = Doubter.verdict

    def counted(doubter: Doubter, case: JudgedFigure) -> Verdict:
        looked.append(case.test.test_id)
        return verdict(doubter, case)

    monkeypatch.setattr(Doubter, "verdict", counted)
    monkeypatch.setattr(Doubter, "doubts", None)
    assert ran.summary.total == 2
    assert looked == ["foreign_country_concentration"]


ROOMY = {"single_obligor_concentration": 99.0, "foreign_country_concentration": 99.0, "wal": 60.0,
         "non_senior_secured_concentration": 99.0, "small_facility_concentration": 99.0}  # fmt: skip


@every("test_id, columns, words", [row for row in BLANKS if row[0] in ROOMY])
def test_blanks_that_could_turn_the_status_make_it_doubtful_with_both_ends(
    test_id: str, columns: dict[str, Any], words: str
) -> None:
    loans = book(**columns)
    value = result_of_test(loans, test_id).current_value
    near = result_of_test(
        loans, test_id, request_thresholds={test_id: Threshold(test_id=test_id, threshold_value=value + 0.01)}
    )
    assert (near.status != "fail", near.doubtful) == (True, True)
    assert isinstance(near.low, float)
    assert isinstance(near.high, float)
    assert near.low <= value < value + 0.01 < near.high
    wide = {test_id: Threshold(test_id=test_id, threshold_value=ROOMY[test_id] + value)}
    far = result_of_test(loans, test_id, request_thresholds=wide)
    assert (far.doubtful, far.low, far.high) == (False, msgspec.UNSET, msgspec.UNSET)
    assert codes(far) == codes(near)


def test_the_trustees_own_figure_settles_what_blanks_leave_open() -> None:
    test_id = "foreign_country_concentration"
    columns: dict[str, Any] = {"country": [None, *["US"] * 12]}
    limits = {test_id: Threshold(test_id=test_id, threshold_value=0.01)}
    assert result_of_test(book(**columns), test_id, request_thresholds=limits).doubtful
    settled = result_of_test(book(fact("foreign", 0.0, status="pass"), **columns), test_id, request_thresholds=limits)
    assert (settled.doubtful, settled.low) == (False, msgspec.UNSET)
    assert "blank_inputs" in codes(settled), "the doubt about the input stays"


def test_masked_ratings_may_all_be_ccc() -> None:
    masked: dict[str, Any] = {"rating_agency_b": ["***", *["B"] * 12], "rating_agency_a": None}
    loans = book(**masked)
    par = loans.numbers["par_value"]
    share = float(par[0] / (par.sum() + CASH) * 100)
    limits = {"ccc_bucket_pct": Threshold(test_id="ccc_bucket_pct", threshold_value=share / 2)}
    result = result_of_test(loans, "ccc_bucket_pct", request_thresholds=limits)
    assert (result.status, result.doubtful) == ("pass", True)
    assert result.high == pytest.approx(share, abs=1e-5)
    assert "masked_inputs" in codes(result)
    assert "masked_inputs" not in codes(result_of_test(loans))


# ---- warnings --------------------------------------------------------------------------------------------------


@every(
    "warning, code, reading, neighbour",
    [
        (DataWarning("no_price", "3 loans"), "blank_inputs", "weighted_average_price", LITE),
        (DataWarning("unreadable_cells", "x", 1, ("maturity_date",)), "blank_inputs", "wal", LITE),
        (DataWarning("unreadable_cells", "x", 1, ("rating_agency_b",)), "blank_inputs", "ccc_bucket_pct", "wal"),
        (DataWarning("column_stands_in", "x", None, ("cov_lite",)), "ambiguous_column", LITE, "wal"),
        (DataWarning("ambiguous_column", "x", None, ("cov_lite",)), "ambiguous_column", LITE, "wal"),
        (DataWarning("cash_differs", "x", None, ("deal.principal_cash",)), "conflict", LITE, "wal"),
        (DataWarning("cash_differs", "x", None, ("deal.interest_collected",)), "conflict", "ic_ratio", "oc_ratio"),
        (DataWarning("as_of_stands_in", "x"), "stand_in", "wal", LITE),
        (DataWarning("notes_differ", "x"), "conflict", "oc_ratio", LITE),
        (DataWarning("page_conflict", "x", 2, ("lien_type",)), "conflict", "non_senior_secured_concentration", "wal"),
        (DataWarning("other_currency", "x", 1), "left_out", LITE, None),
        (DataWarning("unreadable_cells", "x", 1, ("par_value",)), "left_out", LITE, None),
        (DataWarning("error_cells", "x", 1), "blank_inputs", "wal", None),
    ],
)
def test_a_warning_is_a_doubt_of_the_tests_that_read_what_it_is_about(
    warning: DataWarning, code: str, reading: str, neighbour: str | None
) -> None:
    field = next(iter(warning.fields), None)
    loans = book(notes=Notes(warnings=[warning]), cells={} if field is None else {field: "'Loans'!A1:A9"})
    (answer,) = [doubt for doubt in result_of_test(loans, reading).doubt if doubt.message == warning.message]
    assert (answer.code, answer.places) == (code, [] if field is None else ["'Loans'!A1:A9"])
    if neighbour is not None:
        assert warning.message not in [doubt.message for doubt in result_of_test(loans, neighbour).doubt]


def test_a_figure_that_ties_has_no_conflict() -> None:
    total = DataWarning("page_total_differs", "x", fields=("par_value",))
    notes = Notes(warnings=[total, DataWarning("rows_without_par", "y", 1), DataWarning("page_total_differs", "cents")])
    assert codes(result_of_test(book(notes=notes))) == ["conflict", "left_out"]
    assert codes(result_of_test(book(fact("cov_lite", round(VALUE, 2)), notes=notes))) == ["left_out"]


def test_a_line_that_the_file_prints_twice_is_a_conflict_of_what_reads_it() -> None:
    twice = fact("cash", 1.0, kind="component", conflict="'Cash'!B2 has 2.00", unit="amount")
    assert codes(result_of_test(book(twice))) == ["conflict"]
    assert codes(result_of_test(book(twice), "wal")) == []
    again = fact("cov_lite", 9.0, conflict="'Tests'!C9 has 8.00")
    assert "conflict" in codes(result_of_test(book(again)))
    assert result_of_test(book(again)).published is None


# ---- par, cash and their sum -----------------------------------------------------------------------------------


def identity_of(loans: Portfolio, *, cash: float = CASH, missing: float = 0.0, holds: bool = True) -> Identity:
    par = float(loans.numbers["par_value"].sum())
    return Identity(name="collateral_principal_amount", total=par + cash + missing, holds=holds, is_proved=holds,
                    parts=(("par", par), ("cash", cash)), places=("'Summary'!B5",))  # fmt: skip


def test_a_printed_amount_that_par_and_cash_do_not_make_is_a_doubt_of_all_that_reads_them() -> None:
    holds = book(identity=identity_of(book()))
    assert codes(result_of_test(holds)) == codes(result_of_test(holds, "oc_ratio")) == []
    loans = book(identity=identity_of(book(), missing=1_000.0, holds=False))
    share, coverage, average = (result_of_test(loans, test_id) for test_id in (LITE, "oc_ratio", "wal"))
    assert (codes(share), codes(coverage), codes(average)) == (["doubtful_denominator"], ["doubtful_cash"], [])
    assert "1,000.00 is missing" in share.doubt[0].message
    assert share.doubt[0].places == ["'Summary'!B5"]
    second = book(
        identity=replace(identity_of(book(), cash=CASH), total=2e9, parts=(("par", 2e9 - CASH), ("cash", CASH)))
    )
    assert codes(result_of_test(second, "oc_ratio")) == ["doubtful_par"]
    assert codes(result_of_test(second, "wal")) == ["doubtful_par"]


def test_a_figure_that_ties_to_the_cent_inherits_no_doubt() -> None:
    details = result_of_test(book()).details
    assert details is not None
    printed = fact("cov_lite", round(VALUE, 2), numerator=details.breakdown["numerator"],
                   denominator=details.breakdown["denominator"])  # fmt: skip
    loans = book(printed, identity=identity_of(book(), missing=1_000.0, holds=False))
    assert codes(result_of_test(loans)) == []
    assert codes(result_of_test(loans, "foreign_country_concentration")) == ["doubtful_denominator"]


def test_another_denominator_of_the_trustee_is_a_doubt_of_every_share() -> None:
    loans = book(fact("cov_lite", 9.0, numerator=1.0, denominator=123_456_789.0))
    ran = run_suite(loans, "enhanced")
    (doubt,) = ran["foreign_country_concentration"].doubt
    assert (doubt.code, doubt.places) == ("doubtful_denominator", [PLACE])
    assert "the trustee divides by 123,456,789.00" in doubt.message
    assert "doubtful_denominator" not in codes(ran["wal"])


def test_the_trustees_numerator_of_one_class_is_a_doubt_of_the_others() -> None:
    """The status of a test that the file does not print is doubtful where its numerator would turn it."""
    details = result_of_test(book(), "oc_ratio").details
    assert details is not None
    numerator, balance = details.breakdown["numerator"], details.breakdown["denominator"]
    for less, is_doubtful in ((1e3, False), (numerator / 2, True)):
        printed = fact("oc", (numerator - less) / balance * 100, classes=("E",), numerator=numerator - less,
                       denominator=balance)  # fmt: skip
        ran = run_suite(book(printed), "enhanced")
        assert (ran["oc_ratio"].published is None, ran["oc_ratio_senior"].published is None) == (False, True)
        assert codes(ran["oc_ratio_senior"]) == ["differs"]
        assert ran["oc_ratio_senior"].doubtful == is_doubtful


def test_a_fail_for_ratings_that_nobody_gives_is_doubtful() -> None:
    """Loans without a rating count as CCC.

    Without the haircut of the excess the test passes.
    """
    loans = book(rating_agency_a=None, rating_agency_b=[15, *[0] * 12], price=[50.0] * 13)
    result = result_of_test(loans, "oc_ratio")
    assert (result.status, result.doubtful) == ("fail", True)
    assert isinstance(result.high, float)
    assert result.high > 104.2 > result.current_value


def test_cash_that_no_page_says_is_a_doubt_of_what_divides_by_it() -> None:
    loans = book(deal=Deal(base_rate=4.3, as_of=20_544.0))
    assert "doubtful_cash" in codes(result_of_test(loans))
    assert "doubtful_cash" in codes(result_of_test(loans, "oc_ratio"))
    assert "doubtful_cash" not in codes(result_of_test(loans, "wal"))
    rules = parse({"conventions": {"principal_cash": "none"}})
    assert "doubtful_cash" not in codes(result_of_test(loans, definition=rules))


# ---- tests of a definition -------------------------------------------------------------------------------------


def test_the_event_of_default_test_reads_no_ratings() -> None:
    """It counts performing loans at par, whoever rates them."""
    rules = parse({
        "event_of_default": {"class": "A", "trigger": 102.5},
        "tests": [{"id": "eod", "name": "Event of default", "measure": "event_of_default", "min": 102.5}],
    })  # fmt: skip
    loans = book(fact("fixed", 9.0), rating_agency_a=None, rating_agency_b=[15, *[0] * 12])
    ran = run_suite(loans, "deal", definition=rules)
    assert not any("rating" in doubt.message for doubt in ran["eod"].doubt)
    assert any("no rating" in doubt.message for doubt in result_of_test(loans, "oc_ratio").doubt)


def test_formulas_inherit_what_they_read() -> None:
    rules = parse({"tests": [
        {"id": "lite", "name": "Lite", "share": "=cov_lite", "max": 90.0},
        {"id": "sum", "name": "Sum", "value": "=lite + cash", "max": 1e12},
        {"id": "long", "name": "Long", "share": "=maturity_date > 1", "of": "par", "max": 101.0},
    ]})  # fmt: skip
    warnings = [DataWarning("column_stands_in", "lite", None, ("cov_lite",)),
                DataWarning("far_maturity", "long"), DataWarning("cash_differs", "cash")]  # fmt: skip
    ran = run_suite(book(notes=Notes(warnings=warnings)), "deal", definition=rules)
    by_test_id = {result.test_id: {doubt.message for doubt in result.doubt} for result in ran}
    assert by_test_id == {"lite": {"lite", "cash"}, "long": {"long"}, "sum": {"lite", "cash"}}


# ---- tables ----------------------------------------------------------------------------------------------------


def test_every_code_has_its_words_and_every_measure_its_inputs() -> None:
    assert set(KINDS) == set(get_args(DoubtCode))
    assert set(WARNINGS) <= set(WARNING_CODES)
    assert set(READS) == set(MEASURES)
    every = {name for names in READS.values() for name in names}
    assert {name for name in every - set(FIELDS) if input_of(name) != name or name not in LOAN_FIELDS} == set()
    assert {name for meaning in WARNINGS.values() for name in meaning.inputs} <= {*FIELDS, ANY}


@every(
    "field, name",
    [("rating_agency_a_issuer", "ratings"), ("tranches.current_balance", "notes"), ("recovery_rate_b", "recovery"),
     ("deal.as_of", "day"), ("industry_c", "industry"), ("base_rate_level", "base_rate"), ("my_own", "my_own")],
)  # fmt: skip
def test_a_field_says_one_input(field: str, name: str) -> None:
    assert input_of(field) == name


def test_doubts_are_grouped_by_kind_with_all_names() -> None:
    total = DataWarning("page_total_differs", "total", fields=("par_value",))
    notes = Notes(warnings=[DataWarning("other_currency", "left out"), total])
    ran = run_suite(book(fact("cov_lite", 99.0), notes=notes), "enhanced")
    groups = list(doubt_groups(ran))
    assert [group.code for group in groups][:2] == ["differs", "conflict"]
    left_out = next(group for group in groups if group.message == "left out")
    assert left_out.names == [result.test_name for result in ran]
    assert sum(len(group.names) for group in groups) == sum(len(result.doubt) for result in ran)


def test_warnings_of_a_kind_share_a_line() -> None:
    answer = [DataWarning("no_price", "a"), DataWarning("page_conflict", "b"), DataWarning("no_price", "c")]
    assert warning_texts(answer) == ["no_price: a; c", "page_conflict: b"]
    long = [DataWarning("no_price", f"{at} {'x' * 3_000}.") for at in range(5)]
    lines = warning_texts(long)
    assert [line.count(";") for line in lines] == [2, 1], "what one line has no room for stands in the next"
    assert ".;" not in lines[0]


def test_doubts_survive_json_and_large_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made at once, as for many loans, they are those that are made when read."""

    def run() -> Results:
        return run_suite(book(fact("cov_lite", 99.0, status="fail"), country=[None] * 13), "enhanced")

    with monkeypatch.context() as at_once:
        at_once.setattr("core.compliance.run.DEFERRED_ROWS_MAX", 0)
        outcome = run()
    assert any(result.doubt for result in outcome)
    assert list(run()) == list(outcome)
    assert msgspec.json.decode(msgspec.json.encode(run()), type=list[TestResult]) == list(outcome)


def test_a_rating_table_says_how_much_of_what_is_masked_is_ccc() -> None:
    masked: dict[str, Any] = {"rating_agency_b": ["***", *["B"] * 12], "rating_agency_a": None}
    limits = {"ccc_bucket_pct": Threshold(test_id="ccc_bucket_pct", threshold_value=1.0)}
    assert result_of_test(book(**masked), "ccc_bucket_pct", request_thresholds=limits).doubtful
    known = book(deal=Deal(principal_cash=CASH, as_of=20_544.0, masked_ccc_b=0.0), **masked)
    result = result_of_test(known, "ccc_bucket_pct", request_thresholds=limits)
    assert (result.status, result.doubtful) == ("pass", False)
    assert "masked_inputs" in codes(result)


# ---- real reports ----------------------------------------------------------------------------------------------

DATA = Path(__file__).parents[4] / "shared" / "data"
REPORTS = [
    path
    for name in ("cairn-xvii/report-2024-12-16.xlsx", "contego-xi/report-2024-09-30.xlsx", "layouts/us-pages.xlsx",
                 "layouts/wso-extract.zip", "layouts/euro-csv.zip", "mag17.xlsx")
    if (path := DATA / name).exists()
]  # fmt: skip


@pytest.mark.parametrize("file", REPORTS, ids=[path.parent.name + "/" + path.stem for path in REPORTS])
def test_a_real_report_has_a_doubt_in_each_row_that_differs_and_none_in_one_that_ties(file: Path) -> None:
    portfolio = Portfolio.from_workbook(read(file))
    ran = run_suite(portfolio, "enhanced")
    for result in ran:
        agrees = None if result.published is None else result.published.agrees
        if agrees:
            assert {"differs", "conflict"}.isdisjoint(codes(result)), result.test_id
        if agrees is False:
            assert "differs" in codes(result), result.test_id
        if result.published is not None and result.published.status is not None and not agrees:
            assert result.doubtful or (result.status == "fail") == (result.published.status == "fail")
    assert ran.summary.doubtful == sum(result.doubtful for result in ran)
    if portfolio.facts.tests and len(ran):
        assert any(result.published is not None and result.published.agrees for result in ran)


@pytest.mark.skipif(len(REPORTS) < 2, reason="the real reports are not here")
def test_a_total_that_differs_by_the_rounding_of_its_loans_makes_nothing_doubtful() -> None:
    """Cairn's page of ratings is two cents of 407 million off: a warning says so."""
    ran = run_suite(Portfolio.from_workbook(read(REPORTS[0])), "enhanced")
    assert "page_total_differs" in [warning.code for warning in ran.warnings]
    assert not any("conflict" in codes(result) for result in ran)
