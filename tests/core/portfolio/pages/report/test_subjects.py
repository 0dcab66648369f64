"""Labels of trustees and what they are about.

Every false match that was seen is a case.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.portfolio.model.facts import FactSubject
from core.portfolio.pages.report.subjects import clause_of, subject_of
from tests.rows import every


def subject(measure: str, **parts: Any) -> FactSubject:
    return FactSubject(measure=measure, **parts)


@every("label, expected", [
    ("Class A/B Par Value Test", subject("oc", classes=("A", "B"))),
    ("A/B Overcollateralisation Ratio", subject("oc", classes=("A", "B"))),
    ("Cl A/B OC", subject("oc", classes=("A", "B"))),
    ("O/C Test: Class C", subject("oc", classes=("C",))),
    ("Overcollateralization Test - Class A-1/A-2/B", subject("oc", classes=("A1", "A2", "B"))),
    ("Par Value Ratio A/B", subject("oc", classes=("A", "B"))),
    ("Senior OC", subject("oc", detail="senior")),
    ("Int Cov - Class C", subject("ic", classes=("C",))),
    ("I/C Class A/B", subject("ic", classes=("A", "B"))),
    ("Reinvestment Overcollateralisation Test", subject("reinvestment")),
    ("Reinvestment Par Value Test", subject("reinvestment")),
    ("Class E Interest Diversion Test", subject("reinvestment")),
    ("Event of Default Par Value Ratio", subject("eod")),
    ("Fitch Maximum WA Rating Factor Test", subject("warf", agency="c")),
    ("Moody's WARF", subject("warf", agency="a")),
    ("Minimum Weighted Average Moody's Recovery Rate Test", subject("warr", agency="a")),
    ("Minimum Floating Spread Test (with Excess Weighted Average Coupon)", subject("was")),
    ("WAS excl EURIBOR Floor", subject("was", detail="excluding euribor floor")),
    ("Min W.A. Sprd", subject("was")),
    ("Weighted Average Fixed Coupon", subject("wac")),
    ("WAL Test", subject("wal")),
    ("S&P CDO Monitor Test", subject("cdo_monitor", agency="b")),
    ("Moody's Rating of Caa1 or below", subject("ccc", agency="a")),
    ("Moody's Rating Caa1 or below (excl. Defaulted)", subject("ccc", agency="a")),
    ("(i) Fitch CCC Obligations", subject("ccc", agency="c")),
    ("Cov-Lite Loans", subject("cov_lite")),
    ("(l) Fixed Rate Collateral Debt Obligations", subject("fixed")),
    ("(v) Secured Senior Loans", subject("senior_secured", detail="loan")),
    ("Secured Senior Loans and/or Secured Senior Bonds", subject("senior_secured")),
    ("Second Lien Loans and Unsecured Loans and bonds (not more than)", subject("non_senior")),
    ("Non Senior Secured Loans", subject("non_senior")),
    ("Outside Qualifying Countries", subject("foreign", is_complement=True, detail="qualifying")),
    ("Obligors Domiciled other than in the United States", subject("foreign", is_complement=True, detail="us")),
    ("Domiciled in Canada", subject("country", detail="canada")),
    ("Obligors - Domiciled in country with a country ceiling below AA- By S&P",
     subject("country", agency="b", detail="ceiling below aa-")),
    ("(aa) Annual Obligations", subject("infrequent", detail="annual")),
    ("(y)(i) S&P Individual Third Party Credit Exposure Rated AAA:",
     subject("counterparty", agency="b", detail="individual aaa")),
    ("(y)(ii) Fitch Aggregate Third Party Credit Exposure Rated AA+ or Lower",
     subject("counterparty", agency="c", detail="aggregate aa+ or lower")),
    ("(w) Obligors with potential Total Indebtedness < 250mm", subject("small", detail="< 250mm")),
    ("Corporate Rescue Loans and any Uptier Priming Debt that is a Defaulted Obligation", subject("dip")),
    ("Revolving Obligations and/or Unfunded Amounts in respect of Delayed Drawdown Collateral Obligations",
     subject("unfunded")),
    ("First-Lien Last-Out Loans", subject("last_out")),
    ("Second Lien Loans", subject("non_senior", detail="secondlien")),
    ("Second Lien Loans, Unsecured Loans and First-Lien Last-Out Loans", subject("non_senior")),
    ("Countries other than the U.S. and Canada", subject("foreign", is_complement=True, detail="us canada")),
    ("All Group I Countries in the aggregate", subject("country", detail="group i")),
    ("Any individual Group I Country", subject("country", rank=1, detail="group i")),
    ("Any other single S&P Industry Classification", subject("industry", agency="b", detail="other")),
    ("Up to five Obligors", subject("obligor", aggregate=0)),
    ("Obligor EBITDA less than 25m", subject("small", detail="25m")),
    ("Partial Deferrable Securities", subject("pik", detail="partial")),
    ("Emerging Market Obligors", subject("country", detail="emerging market")),
])  # fmt: skip
def test_what_a_label_is_about(label: str, expected: FactSubject) -> None:
    assert subject_of(label).subject == expected


@every("label, rank, aggregate", [
    ("(c)(i) Highest Single Obligor", 1, None),
    ("Single Obligor - largest", 1, None),
    ("Lgst Issuer", 1, None),
    ("(c)(ii) Fourth Highest Single Obligor", 4, None),
    ("Top 10 Obligors", None, 10),
    ("Five largest Obligors (% of Collateral Principal Amount)", None, 5),
    ("Aggregate of the top 5 obligors", None, 5),
    ("Largest S&P Industry Classification", 1, None),
    ("S&P Industry (2nd)", 2, None),
    ("S&P Industry Concentration Test - Top 3 Industries Combined", None, 3),
    ("Third largest industries combined", None, 3),
])  # fmt: skip
def test_one_of_them_or_several(label: str, rank: int | None, aggregate: int | None) -> None:
    """An aggregate over several obligors or industries is no figure of one."""
    actual = subject_of(label).subject
    assert actual is not None
    assert (actual.rank, actual.aggregate) == (rank, aggregate)


@every("limit, rank, aggregate", [(2.5, 1, None), (4.0, 1, None), (20.0, None, 0), (None, None, 0)])
def test_obligors_without_a_rank(limit: float | None, rank: int | None, aggregate: int | None) -> None:
    """Only a small limit is one obligor's.

    A larger one is of several, nobody says how many.
    """
    actual = subject_of("Maximum Obligor Concentration Test", limit=limit).subject
    assert actual is not None
    assert (actual.rank, actual.aggregate) == (rank, aggregate)


def test_an_obligor_among_a_subset() -> None:
    """The largest obligor that is not senior secured is not the largest one."""
    label = "Highest Single Obligor of Collateral Obligations which are not Secured Senior Loans or Bonds"
    assert subject_of(label).subject == subject("obligor", rank=1, subset="non_senior")


def test_cash_in_a_share() -> None:
    with_cash = subject_of("Senior Secured Loans, cash and Eligible Investments (not less than)").subject
    without = subject_of("Senior Secured Loans").subject
    assert with_cash == subject("senior_secured", with_cash=True, detail="loan")
    assert without == subject("senior_secured", detail="loan")


def test_a_limit_on_the_other_side_beats_the_word() -> None:
    """A share with a maximum that names a class and its coverage is no coverage test."""
    label = "Class F Interest Coverage Ratio - Semi Annual Obligation"
    assert subject_of(label, side="max", limit=12.5).subject == subject("infrequent", detail="semi annual")
    assert subject_of("Class F Interest Coverage Ratio").subject == subject("ic", classes=("F",))


def test_two_agencies_are_none() -> None:
    actual = subject_of("Moody's and S&P CCC Obligations").subject
    assert actual == subject("ccc", detail="two agencies")


@every("title, measure", [
    ("Overcollateralization Ratio Tests", "oc"), ("Par Value", "oc"), ("Interest Coverage", "ic"),
    ("Coverage Tests", None), ("Collateral Quality", None),
])  # fmt: skip
def test_a_bare_class_is_what_its_section_says(title: str, measure: str | None) -> None:
    actual = subject_of("Class A/B", title=title).subject
    assert actual == (None if measure is None else subject(measure, classes=("A", "B")))


@pytest.mark.parametrize(
    "label",
    ["Aggregate Principal Balance", "Excess Weighted Average Coupon", "Excess Spread", "Net Interest Margin",
     "Number of Obligors", "Excess CCC Adjustment", "Swapped Non-Discount Obligations", "Portfolio Profile",
     "Margin Stock",
     "S&P Industry Diversity Measure", "Weighted Average Colour"],
)  # fmt: skip
def test_labels_of_no_test(label: str) -> None:
    assert subject_of(label).subject is None


def test_a_line_of_a_limit_is_not_the_figure() -> None:
    for label, detail in (
        ("Minimum Weighted Average Spread (final trigger)", "trigger"),
        ("Reference Weighted Average Fixed Coupon", "reference"),
        ("Minimum Weighted Average Spread", "minimum"),
    ):
        actual = subject_of(label, is_line=True).subject
        assert actual is not None
        assert actual.detail == detail, label


@every("label, clause", [("(c)(iii) Highest", "c iii"), ("(aa) Annual", "aa"), ("Annual", ""), ("a. Annual", "a")])
def test_clauses(label: str, clause: str) -> None:
    assert clause_of(label) == clause


@every("label, rank, aggregate, detail", [
    ("Any single Obligor (other than top 5)", None, None, "other"),
    ("Single Obligor (excluding the five largest)", None, None, "other"),
    ("Single Obligor, excl. ten largest Obligors", None, None, "other"),
    ("Top five Obligors", None, 5, None),
    ("Single Obligor", 1, None, None),
    ("Largest Industry (excluding top 2)", None, None, "other"),
    ("Largest Industry", 1, None, None),
])  # fmt: skip
def test_what_leaves_the_largest_out_is_no_aggregate_of_them(
    label: str, rank: int | None, aggregate: int | None, detail: str | None
) -> None:
    actual = subject_of(label, side="max", limit=2.0).subject
    assert actual is not None
    assert (actual.rank, actual.aggregate, actual.detail) == (rank, aggregate, detail)


@every("label, measure, agency, detail", [
    ("Corporate Rescue Loans that are Defaulted Obligations", "dip", None, "defaulted"),
    ("Cov-Lite Loans (excluding Defaulted Obligations)", "cov_lite", None, None),
    ("Non-defaulted Discount Obligations", "discount", None, None),
    ("Caa Obligations", "ccc", "a", None),
    ("CCC/Caa Collateral Obligations", "ccc", None, None),
    ("Collateral Obligations with a Moody's Rating below Caa3", "ccc", "a", "below caa"),
    ("Caa2 or below", "ccc", "a", "caa deep"),
    ("CCC- or below by S&P", "ccc", "b", "ccc deep"),
    ("CCC+ or below by S&P", "ccc", "b", None),
    ("Floating Rate Obligations with a floor", "floating", None, "floor"),
    ("Senior Secured Floating Rate Notes", "floating", None, "note"),
    ("Fixed Rate Obligations (hedged)", "fixed", None, "hedged"),
    ("Average Obligor size", None, None, None),
])  # fmt: skip
def test_a_part_of_a_measure_is_not_the_measure(
    label: str, measure: str | None, agency: str | None, detail: str | None
) -> None:
    actual = subject_of(label, side="max", limit=2.0).subject
    assert (actual and (actual.measure, actual.agency, actual.detail)) == (measure and (measure, agency, detail))


@every("label, measure, rank, with_cash, detail", [
    ("Largest obligor incl. cash", "obligor", 1, True, None),
    ("Largest obligor", "obligor", 1, False, None),
    ("Moody's Industry - Banking", "industry", 1, False, "named"),
    ("Obligors in the Banking industry", "industry", 1, False, "named"),
    ("Moody's Industry - Largest", "industry", 1, False, None),
    ("Collateral Obligations in the same S&P Industry Classification", "industry", 1, False, None),
])  # fmt: skip
def test_one_industry_by_name_and_cash_in_a_share(
    label: str, measure: str, rank: int, with_cash: bool, detail: str | None
) -> None:
    actual = subject_of(label, side="max", limit=2.0).subject
    assert actual
    assert (actual.measure, actual.rank, actual.with_cash, actual.detail) == (measure, rank, with_cash, detail)


def test_a_coverage_test_for_reinvestment_is_none_of_its_class() -> None:
    actual = subject_of("Class D Overcollateralization (Reinvestment)", side="min", limit=108.0).subject
    assert actual
    assert actual.measure == "reinvestment"
    period = subject_of("Class D Par Value Test during the Reinvestment Period", side="min", limit=108.0).subject
    assert period
    assert period.measure == "oc"
