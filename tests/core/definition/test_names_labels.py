"""Labels as trustees' reports and indentures print them, by their words to the test that they mean."""

from __future__ import annotations

from typing import Any

from core.definition.names import SubjectMeaning, meaning_of_fact
from core.portfolio.model.facts import Direction, Fact
from core.portfolio.pages.report.subjects import subject_of
from tests.rows import every

NAMES = [
    ("Class A/B Par Value Test", None, {"measure": "oc", "class": "A/B"}, "min"),
    ("Class C Overcollateralization Ratio Test", None, {"measure": "oc", "class": "C"}, "min"),
    ("Class A-1 and Class B Overcollateralisation Test", None, {"measure": "oc", "class": "A/B"}, "min"),
    ("E Par Value Ratio", None, {"measure": "oc", "class": "E"}, "min"),
    ("Class D Interest Coverage Test", None, {"measure": "ic", "class": "D"}, "min"),
    ("Reinvestment Overcollateralisation Test", None, {"measure": "reinvestment_oc"}, "min"),
    ("Interest Diversion Test", None, {"measure": "reinvestment_oc"}, "min"),
    ("Event of Default Par Value Ratio", None, {"measure": "event_of_default"}, "min"),
    ("S&P CDO Monitor Test", 67.12, {"measure": "sdr"}, "max"),
    ("Fitch Maximum WA Rating Factor Test", 26.0, {"measure": "warf", "agency": "c"}, "max"),
    ("Maximum Moody's Weighted Average Rating Factor Test", 2900.0, {"measure": "warf", "agency": "a"}, "max"),
    ("Weighted Average Rating Factor", 2900.0, {"measure": "warf"}, "max"),
    ("Fitch Minimum WA Recovery Rate Test", 60.5, {"measure": "warr", "agency": "c"}, "min"),
    ("Minimum Weighted Average Moody's Recovery Rate Test", 43.0, {"measure": "warr", "agency": "a"}, "min"),
    ("Maximum Obligor Concentration", 2.5, {"measure": "obligor", "nth": 1}, "max"),
    ("Sixth Largest Obligor", 2.0, {"measure": "obligor", "nth": 6}, "max"),
    ("Top 10 Obligors", 16.0, {"measure": "top_obligors", "nth": 10}, "max"),
    ("Second Largest S&P Industry", 12.0, {"measure": "industry", "nth": 2, "classification": "b"}, "max"),
    ("Largest Industry Classification", 15.0, {"measure": "industry", "nth": 1}, "max"),
    ("Minimum Weighted Average Spread Test", 4.03, {"measure": "was"}, "min"),
    ("Minimum Floating Spread Test", 3.5, {"measure": "was"}, "min"),
    ("Minimum Weighted Average Coupon Test", 7.0, {"measure": "wac"}, "min"),
    ("Weighted Average Life Test", 7.27, {"measure": "wal"}, "max"),
    ("Moody's Diversity Test", 55.0, {"measure": "diversity"}, "min"),
    ("Caa Obligations (Moody's)", 7.5, {"measure": "ccc", "agency": "a"}, "max"),
    ("S&P CCC Obligations", 7.5, {"measure": "ccc", "agency": "b"}, "max"),
    ("Cov-Lite Loans", 60.0, {"measure": "cov_lite"}, "max"),
    ("Senior Secured Loans", 90.0, {"share": '=lien="first_lien"'}, "min"),
    ("Senior Secured Loans and Bonds", 90.0, {"measure": "senior_secured"}, "min"),
    ("Non-Senior Secured Obligations", 10.0, {"measure": "non_senior_secured"}, "max"),
    ("Unsecured, Second Lien and Mezzanine", 10.0, {"measure": "non_senior_secured"}, "max"),
    ("Fixed Rate Collateral Obligations", 10.0, {"measure": "fixed_rate"}, "max"),
    ("Obligors Domiciled outside the US", 20.0, {"measure": "foreign_country"}, "max"),
    ("Non-U.S. Obligors", 20.0, {"measure": "foreign_country"}, "max"),
    ("Limitaton on the 1st largest obligor", 2.5, {"measure": "obligor", "nth": 1}, "max"),
    ("Top Obligor", 2.5, {"measure": "obligor", "nth": 1}, "max"),
    ("Ten Largest Obligors", 20.0, {"measure": "top_obligors", "nth": 10}, "max"),
    ("S&P Industry Group - Largest", 17.5, {"measure": "industry", "nth": 1, "classification": "b"}, "max"),
    ("Senior Secured Loans and Cash", 90.0, {"share": '=lien="first_lien"', "adds": ["cash"]}, "min"),
    (
        "Largest Obligor (other than Senior Secured)",
        1.5,
        {"measure": "obligor", "nth": 1, "among": "non_senior_secured"},
        "max",
    ),
    ("Senior Secured Loans and Eligible Investments", 90.0, {"share": '=lien="first_lien"', "adds": ["cash"]}, "min"),
    ("Limitaton on the 1st largest obligor for DIP", 2.0, {"measure": "obligor", "nth": 1, "among": "dip"}, "max"),
    ("Corporate Rescue Loans single obligor", 2.0, {"measure": "obligor", "nth": 1, "among": "dip"}, "max"),
    ("Participation Interests", 10.0, {"measure": "participations"}, "max"),
    ("Obligations paying less frequently than quarterly", 5.0, {"measure": "pays_less_than_quarterly"}, "max"),
    ("Pay interest less frequently than semi-annually", 5.0, {"measure": "pays_annually"}, "max"),
    ("Semi-Annual Obligations", 5.0, {"measure": "pays_semi_annually"}, "max"),
    ("Annual Obligations", 5.0, {"measure": "pays_annually"}, "max"),
    ("Current Pay Obligations", 5.0, {"measure": "current_pay"}, "max"),
    ("DIP Collateral Obligations", 5.0, {"measure": "dip"}, "max"),
    ("Deferring Securities", 5.0, {"measure": "pik"}, "max"),
    ("Revolving / Delayed Drawdown Obligations", 10.0, {"measure": "revolving"}, "max"),
]


def meaning(label: str, trigger: float | None, side: Direction | None = None) -> Any:
    subject = subject_of(label, side=side, limit=trigger).subject
    return meaning_of_fact(
        Fact(kind="test", label=label, subject=subject, value=None, trigger=trigger, direction=side, place="")
    )


@every("label, trigger, test, side", NAMES, ids=lambda row: row[0])
def test_a_label_means(label: str, trigger: float | None, test: dict[str, object], side: Direction) -> None:
    for printed in (side, None):  # with the side that the page prints, and by the words alone
        result = meaning(label, trigger, printed)
        assert isinstance(result, SubjectMeaning), result
        assert (result.test, result.side) == (test, side)


@every(
    "label",
    [
        "Restricted Trading Condition", "", "Total", "Class Par Value Test", "Number of assets", "Class",
        # A part of what the words say otherwise, or something beside it; some of them as a deal of 2016 printed them.
        "Limitaton on individual Group I Countries",
        "Limitation on countries that are Tax Jurisdictions or Canada",
        "Obligors Domiciled in Canada", "Domiciled in Group I Countries", "Non-Emerging Market Obligors",
        "Cov-Lite Loans of obligors with EBITDA below 50m", "Obligors other than the five largest",
        "Five Largest Obligors (each)", "Obligor Concentration - Non-Senior Secured", "Each other Industry",
        "Participation Interests - Moody's Counterparty Criteria", "Fitch CCC Obligations acquired below 80",
        "Swapped Non-Discount Obligations", "First Period Senior Secured",
        "Obligors with total indebtedness less than EUR 200m",
        "Excess Weighted Average Coupon", "Weighted Average Coupon Adjustment", "Three largest Fitch industries",
        "Maximum Obligor Concentration Test", "Domiciled outside the United States or Canada",
        "Limitation on countries other that are not USA, Canada, or UK",
    ],
)  # fmt: skip
def test_a_label_means_nothing_that_is_measured(label: str) -> None:
    assert not isinstance(meaning(label, None), SubjectMeaning)
