"""Names of tests as trustees' reports and indentures print them, and what each one means."""

from __future__ import annotations

import pytest

from core.definition.names import NAME_MAX, class_of, recognised
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
    ("Maximum Obligor Concentration Test", 20.0, {"measure": "top_obligors", "nth": 10}, "max"),
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
    ("Senior Secured Loans", 90.0, {"share": '=OR(lien="first_lien",lien="bond")'}, "min"),
    ("Non-Senior Secured Obligations", 10.0, {"measure": "non_senior_secured"}, "max"),
    ("Loans that are not Senior Secured", 10.0, {"measure": "non_senior_secured"}, "max"),
    ("Unsecured, Second Lien and Mezzanine", 10.0, {"measure": "non_senior_secured"}, "max"),
    ("Fixed Rate Collateral Obligations", 10.0, {"measure": "fixed_rate"}, "max"),
    ("Obligors Domiciled outside the US", 20.0, {"measure": "foreign_country"}, "max"),
    ("Non-U.S. Obligors", 20.0, {"measure": "foreign_country"}, "max"),
    ("Limitation on countries other then the United States", 20.0, {"measure": "foreign_country"}, "max"),
    ("Obligors not domiciled in the US", 20.0, {"measure": "foreign_country"}, "max"),
    ("Limitaton on the 1st largest obligor", 2.5, {"measure": "obligor", "nth": 1}, "max"),
    ("Top Obligor", 2.5, {"measure": "obligor", "nth": 1}, "max"),
    ("Ten Largest Obligors", 20.0, {"measure": "top_obligors", "nth": 10}, "max"),
    ("S&P Industry Group - Largest", 17.5, {"measure": "industry", "nth": 1, "classification": "b"}, "max"),
    ("Limitation on Deferabble Securities", 5.0, {"share": "=OR(is_pik,is_deferring)"}, "max"),
    ("Current Pay Obligations", 5.0, {"share": "=is_current_pay"}, "max"),
    ("DIP Collateral Obligations", 5.0, {"share": "=is_dip"}, "max"),
    ("Deferring Securities", 5.0, {"share": "=OR(is_pik,is_deferring)"}, "max"),
    ("Revolving / Delayed Drawdown Obligations", 10.0, {"share": "=OR(is_revolving,is_delayed_draw)"}, "max"),
]


@every("name, trigger, test, side", NAMES, ids=lambda row: row[0])
def test_a_name_means(name: str, trigger: float | None, test: dict[str, object], side: str) -> None:
    assert recognised(name, trigger) == (test, side)


@every(
    "name",
    [
        "Restricted Trading Condition", "", "Total", "Class Par Value Test", "Number of assets", "Class",
        # A part of what the words say otherwise, or something beside it; some of them as a deal of 2016 printed them.
        "Limitaton on the 1st largest obligor for DIP", "Limitaton on individual Group I Countries",
        "Limitaton on the 1st largest obligor of non Senior Secured Loans",
        "Limitation on countries other that are not USA, Canada, or UK",
        "Limitation on countries that are Tax Jurisdictions or Canada", "Domiciled outside the United States or Canada",
        "Obligors Domiciled in Canada", "Domiciled in Group I Countries", "Non-Emerging Market Obligors",
        "Cov-Lite Loans of obligors with EBITDA below 50m", "Obligors other than the five largest",
        "Five Largest Obligors (each)", "Obligor Concentration - Non-Senior Secured", "Each other Industry",
        "Participation Interests - Moody's Counterparty Criteria", "Fitch CCC Obligations acquired below 80",
        "Swapped Non-Discount Obligations", "Corporate Rescue Loans single obligor", "First Period Senior Secured",
        "Senior Secured Loans and Eligible Investments", "Obligors with total indebtedness less than EUR 200m",
        "Excess Weighted Average Coupon", "Weighted Average Coupon Adjustment", "Three largest Fitch industries",
    ],
)  # fmt: skip
def test_a_name_means_nothing_that_is_measured(name: str) -> None:
    assert recognised(name, None) is None


@every(
    "name, classes", [("Class A-1/A-2/B Notes", "A/B"), ("class c", "C"), ("Classes A and B", "A/B"), ("Notes", None)]
)
def test_the_classes_of_a_name(name: str, classes: str | None) -> None:
    assert class_of(name) == classes


@pytest.mark.parametrize("made", ["class " + "a/" * 100_000, "weighted average " * 50_000, "A" * 1_000_000])
def test_a_hostile_name_costs_what_a_long_one_does(made: str) -> None:
    assert recognised(made, None) == recognised(made[:NAME_MAX], None)
