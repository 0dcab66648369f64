"""Rows that look like tests and are none, rows that are, and how their figures and limits are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.portfolio.pages.report import words
from core.portfolio.pages.report.subjects import subject_of
from tests.core.portfolio.conftest import Shown
from tests.core.portfolio.pages.report.test_tests import brief, current, facts
from tests.rows import every


def test_loans_without_a_heading_are_no_tests() -> None:
    """The end of a long list whose heading stands far above.

    A flag, a rate and a floor, and names like tests.
    """
    names = [
        "Piolin Bidco - Term Loan",
        "Polaris Newco - First Lien Term Loan",
        "Redhalo (UK) Limited",
        "Ray Financing",
    ]
    rows = [
        [name, f"LX1000{at}0", "Semi-Annual", 2_000_000.0 + at, "EURIBOR (6 months)", "Yes", 0.0, 0.045, 0.045]
        for at, name in enumerate(names * 3)
    ]
    assert current(rows, "Interest Accrual Detail") == []


def test_loans_with_a_flag_and_a_floor_are_no_tests() -> None:
    heading = ["Description", "Security ID", "Principal Balance", "Floored", "Index Floor", "Spread"]
    rows: list[Sequence[Any]] = [
        [name, f"LX1000{at}0", 2_000_000.0, "Yes", Shown(0.0, "0.00%"), Shown(0.04, "0.00%")]
        for at, name in enumerate(["Polaris - First Lien Loan", "Alder", "Birch", "Cedar", "Elder"])
    ]
    assert [fact for fact in facts([heading, *rows], "Interest Accrual") if fact.kind == "test"] == []


def test_a_calculation_below_the_tests_is_lines() -> None:
    """Under the column of limits, after a gap.

    The parts of the numerator are no limits.
    """
    rows = [
        ["Test Description", "Threshold", "Current", "Result"],
        ["Class A/B Par Value Test", "130.00%", "139.37%", "Passed"],
        ["Class C Par Value Test", "121.00%", "128.85%", "Passed"],
        ["Class D Par Value Test", "112.00%", "118.72%", "Passed"],
        [],
        ["Par Value Numerator"],
        ["Aggregate Principal Balance", 407_181_748.22],
        ["Principal Proceeds", -5_747_614.46],
        ["Discount Obligation Haircut", 0.0],
        ["Adjusted Collateral Principal Amount", 401_434_133.76],
    ]
    assert [fact.label for fact in current(rows)] == [str(row[0]) for row in rows[1:4]]
    assert {fact.label for fact in facts(rows) if fact.kind == "component"} >= {"Principal Proceeds"}


def test_a_comma_for_decimals_makes_points_thousands() -> None:
    rows = [
        ["Test", "Current", "Limit", "Result"],
        ["Moody's Maximum Weighted Average Rating Factor Test", "2.869", "2.993", "Pass"],
        ["Minimum Weighted Average Spread Test", "4,03%", "3,90%", "Pass"],
        ["Weighted Average Life Test", "4,30", "5,44", "Pass"],
    ]
    facts_read = current(rows)
    assert [(fact.value, fact.trigger, fact.decimals) for fact in facts_read] == [
        (2869.0, 2993.0, 0),
        (4.03, 3.9, 2),
        (4.3, 5.44, 2),
    ]
    plain = [[str(cell).replace(",", ".") for cell in row] for row in rows]
    assert current(plain)[0].value == 2.869


@every("name", ["Obligations with an S&P Rating of CCC+ or lower", "S&P CCC+ and lower"])
def test_or_lower_is_no_side_of_a_limit(name: str) -> None:
    rows = [
        ["Test", "Current", "Limit", "Result"],
        [name, "2.55%", "7.50%", "Pass"],
        ["Cov-Lite Loans", "47.98%", "55.00%", "Pass"],
        ["Fixed Rate Obligations", "2.65%", "5.00%", "Pass"],
    ]
    (fact,) = [row_fact for row_fact in current(rows) if row_fact.label == name]
    assert (fact.direction, fact.subject and fact.subject.measure) == ("max", "ccc")


@every("label, measure", [
    ("Collateral Obligations that are not Senior Secured Loans", "non_senior"),
    ("Loans that are not Senior Secured", "non_senior"),
    ("Collateral Obligations that are Participation Interests", "participation"),
    ("Collateral Obligations that are Bridge Loans", "bridge"),
    # A clause behind a subject stays one.
    ("Corporate Rescue Loans and any Uptier Priming Debt that is a Defaulted Obligation", "dip"),
])  # fmt: skip
def test_a_clause_alone_is_the_subject(label: str, measure: str) -> None:
    subject = subject_of(label).subject
    assert subject is not None
    assert subject.measure == measure


def test_whole_scores_are_printed_whole() -> None:
    """A score of 58 without a format ties with 57.89.

    A factor of Fitch's has decimals.
    """
    rows = [
        ["Test", "Current", "Limit", "Result"],
        ["Diversity Score Test", 58.0, 51.0, "Pass"],
        ["Maximum Moody's Rating Factor Test", 3156.0, 3267.0, "Pass"],
        ["Fitch Maximum Weighted Average Rating Factor Test", 24.0, 26.0, "Pass"],
    ]
    assert [fact.tolerance > 0.1 for fact in current(rows)] == [True, True, False]


def test_a_test_below_its_calculation_has_limit_status_and_both_amounts() -> None:
    page: list[list[Any]] = [
        ["Class A/B Par Value Test"],
        ["Aggregate Principal Balance", 280_000_000.0],
        ["Plus: Principal Proceeds", 5_000_000.0],
        ["Less: Excess CCC Adjustment Amount", -1_000_000.0],
        ["Adjusted Collateral Principal Amount", 284_000_000.0],
        ["Class A-1 Notes", 160_000_000.0],
        ["Class B Notes", 40_000_000.0],
        ["Total", 200_000_000.0],
        ["Class A/B Par Value Ratio (A/B)", "142.00%"],
        ["Required Ratio", "122.07%"],
        ["Test Result", "PASS"],
    ]
    (fact,) = [read_fact for read_fact in current(page) if read_fact.unit == "percent"]
    assert (fact.value, fact.trigger, fact.status) == (142.0, 122.07, "pass")
    assert (fact.numerator, fact.denominator) == (284_000_000.0, 200_000_000.0)
    page[4][1] = 285_000_000.0
    (fact,) = [read_fact for read_fact in current(page) if read_fact.unit == "percent"]
    assert (fact.numerator, fact.denominator) == (None, None)


# ---- outcomes, limits and headings in other words ------------------------------------------------------------------


@every(
    "text, status",
    [
        ("✓", "pass"),
        ("✗", "fail"),
        ("*FAIL*", "fail"),
        ("● Pass", "pass"),
        ("Not in compliance", "fail"),
        ("Does not comply", "fail"),
        ("Within limit", "pass"),
        ("Exceeds limit", "fail"),
        ("Nicht bestanden", "fail"),
        ("Non conforme", "fail"),
        ("Niet voldaan", "fail"),
        ("No.", None),
    ],
)
def test_outcomes_in_other_words(text: str, status: str | None) -> None:
    assert words.status_of(text) == status


def test_outcomes_count_beside_words_that_nobody_knows() -> None:
    rows = [
        ["Test", "Actual", "Limit", "Compliance Status"],
        ["Class A/B OC Test", "129.49%", "121.50%", "Compliant"],
        ["Class C OC Test", "114.07%", "114.50%", "Cure period"],
        ["Cov-Lite Loans", "62.30%", "70.00%", "Under review"],
    ]
    assert [fact.status for fact in current(rows)] == ["pass", None, None]


@every(
    "text, expected",
    [
        ("Must be greater than or equal to 90.0%", (90.0, "min")),
        ("Not less than 90.0%", (90.0, "min")),
        ("Must not be less than 90.0%", (90.0, "min")),
        ("≥ 90% of CPA", (90.0, "min")),
        ("Must not exceed 70.0%", (70.0, "max")),
        ("No more than 70.0%", (70.0, "max")),
        ("up to 70.0%", (70.0, "max")),
        ("<= 70% of the Aggregate Ramp-Up Par Amount", (70.0, "max")),
        ("<= 5% (EUR 20,000,000)", (5.0, "max")),
    ],
)
def test_limits_in_words(text: str, expected: tuple[float, str]) -> None:
    rows = [
        ["Concentration Limitation", "Requirement", "Actual", "Result"],
        ["Loans of other words", text, "70.0%", "Pass"],
        ["Cov-Lite Loans", "<= 80.0%", "62.3%", "Pass"],
    ]
    fact = current(rows)[0]
    assert (fact.trigger, fact.direction) == expected


def test_years_behind_a_life() -> None:
    rows = [
        ["Test", "Actual", "Limit", "Result"],
        ["Weighted Average Life Test", "5.12 years", "6.50 yrs", "Pass"],
        ["Moody's Diversity Test", "72", "60", "Pass"],
    ]
    assert [(fact.value, fact.trigger) for fact in current(rows)] == [(5.12, 6.5), (72.0, 60.0)]


def test_of_a_minimum_and_a_maximum_in_one_row_the_measures_side_counts() -> None:
    rows = [
        ["Test", "Minimum", "Actual", "Maximum", "Result"],
        ["Senior Secured Loans", "90.0%", "96.1%", "100.0%", "Pass"],
        ["Cov-Lite Loans", "0.0%", "62.3%", "70.0%", "Pass"],
    ]
    assert [(fact.trigger, fact.direction) for fact in current(rows)] == [(90.0, "min"), (70.0, "max")]


def test_a_covenant_is_the_limit_beside_a_target() -> None:
    rows = [
        ["Metric", "Actual", "Target", "Covenant", "Compliance"],
        ["Class A/B OC Ratio", "129.49%", "131.00%", "121.50%", "Yes"],
        ["Moody's WARF", "2,869", "2,800", "2,993", "Yes"],
    ]
    assert [(fact.trigger, fact.status) for fact in current(rows)] == [(121.5, "pass"), (2993.0, "pass")]


def test_deal_and_day_right_above_a_heading_are_no_part_of_it() -> None:
    heading = ["Test", "Actual", "Limit", "Result"]
    page = [["Harbor Point CLO III, Ltd.", None, "Page 3 of 40"], ["As of 15-Mar-2026"], heading]
    rows = [
        *page,
        ["Class A/B OC Test", "129.49%", "121.50%", "Pass"],
        *page,
        ["Class C OC Test", "118.07%", "114.50%", "Pass"],
    ]
    assert [(fact.value, fact.trigger) for fact in current(rows)] == [(129.49, 121.5), (118.07, 114.5)]


def test_parts_of_a_ratio_stand_between_its_title_and_its_limit() -> None:
    rows = [
        ["Class A/B Overcollateralization Test"],
        ["Numerator"],
        ["Principal Balance of Collateral Obligations", "395,686,519.30"],
        ["Principal Proceeds", "5,747,614.46"],
        ["Total Numerator", "401,434,133.76"],
        ["Denominator"],
        ["Class A Notes", "262,011,686.00"],
        ["Class B Notes", "48,000,000.00"],
        ["Total Denominator", "310,011,686.00"],
        ["Class A/B Overcollateralization Ratio", "129.49%"],
        ["Required Ratio", "121.50%"],
        ["Test Result", "PASS"],
    ]
    [fact] = current(rows)
    assert brief(fact) == (129.49, 121.5, "pass")
    assert (fact.numerator, fact.denominator) == (401_434_133.76, 310_011_686.0)


@every(
    "heading, names",
    [
        (
            ["Test", "Istwert", "Grenzwert", "Ergebnis"],
            ["Klasse A/B Überdeckungstest", "Klasse C Überdeckungstest", "Klasse A/B Zinsdeckungstest"],
        ),
        (
            ["Test", "Valeur actuelle", "Seuil", "Résultat"],
            [
                "Ratio de surcollatéralisation Classe A/B",
                "Ratio de surcollatéralisation Classe C",
                "Ratio de couverture des intérêts Classe A/B",
            ],
        ),
        (
            ["Prueba", "Valor actual", "Límite", "Resultado"],
            [
                "Ratio de sobrecolateralización Clase A/B",
                "Ratio de sobrecolateralización Clase C",
                "Ratio de cobertura de intereses Clase A/B",
            ],
        ),
        (
            ["Test", "Valore attuale", "Limite", "Esito"],
            [
                "Test di sovracollateralizzazione Classe A/B",
                "Test di sovracollateralizzazione Classe C",
                "Test di copertura interessi Classe A/B",
            ],
        ),
        (
            ["Test", "Huidige waarde", "Limiet", "Resultaat"],
            [
                "Klasse A/B overcollateralisatietest",
                "Klasse C overcollateralisatietest",
                "Klasse A/B rentedekkingstest",
            ],
        ),
    ],
)
def test_tests_in_other_languages(heading: list[str], names: list[str]) -> None:
    figures = [("129,49%", "121,50%"), ("114,07%", "114,50%"), ("229,49%", "120,00%")]
    rows = [heading, *([name, *pair, "Pass"] for name, pair in zip(names, figures, strict=True))]
    subjects = [("oc", ("A", "B")), ("oc", ("C",)), ("ic", ("A", "B"))]
    facts_read = current(rows)
    assert [(fact.value, fact.trigger) for fact in facts_read] == [(129.49, 121.5), (114.07, 114.5), (229.49, 120.0)]
    assert [(fact.subject.measure, fact.subject.classes) for fact in facts_read if fact.subject] == subjects


# ---- classes and days in columns -----------------------------------------------------------------------------------


@every(
    "rows",
    [
        [
            ["Test", "Class", "Actual", "Required", "Result"],
            ["Overcollateralization", "A/B", "129.49%", "121.50%", "Pass"],
            ["Overcollateralization", "C", "114.07%", "114.50%", "Fail"],
            ["Interest Coverage", "A/B", "229.49%", "120.00%", "Pass"],
        ],
        [
            ["Class", "Test", "Actual", "Required", "Result"],
            ["C", "Overcollateralization", "114.07%", "114.50%", "Fail"],
            ["A/B", "Overcollateralization", "129.49%", "121.50%", "Pass"],
            [None, "Interest Coverage", "229.49%", "120.00%", "Pass"],
        ],
        [
            [None, "Class A/B", "Class C"],
            ["Overcollateralization Ratio", "129.49%", "114.07%"],
            ["Required Ratio", "121.50%", "114.50%"],
            ["Result", "Pass", "Fail"],
            [],
            [None, "Class A/B", "Class B"],
            ["Interest Coverage Ratio", "229.49%", "N/A"],
            ["Required Ratio", "120.00%", "N/A"],
            ["Result", "Pass", "N/A"],
        ],
    ],
)
def test_classes_in_a_column_or_row_of_their_own(rows: list[list[Any]]) -> None:
    read = {
        (fact.subject.measure, "/".join(fact.subject.classes)): brief(fact) for fact in current(rows) if fact.subject
    }
    assert read == {
        ("oc", "A/B"): (129.49, 121.5, "pass"),
        ("oc", "C"): (114.07, 114.5, "fail"),
        ("ic", "A/B"): (229.49, 120.0, "pass"),
    }


def test_turned_tables_name_the_cells_of_their_page() -> None:
    rows = [
        ["Overcollateralization Ratio Tests"],
        [None, "Class A/B", "Class C"],
        ["Numerator", "401,434,133.76", "401,434,133.76"],
        ["Denominator", "310,011,686.00", "340,000,000.00"],
        ["Ratio", "129.49%", "118.07%"],
        ["Trigger", "121.50%", "114.50%"],
    ]
    facts_read = current(rows)
    assert [fact.place for fact in facts_read] == ["'Compliance'!B5", "'Compliance'!C5"]
    assert [fact.denominator for fact in facts_read] == [310_011_686.0, 340_000_000.0]


@every(
    "days",
    [
        ("15-Feb-2026", "15-Mar-2026"),
        ("15-Mar-2026", "15-Feb-2026"),
        ("Feb-26", "Mar-26"),
        ("March 2026", "February 2026"),
    ],
)
def test_of_two_days_the_later_is_the_value(days: tuple[str, str]) -> None:
    is_first = days[0] in ("15-Mar-2026", "March 2026")
    rows: list[list[Any]] = [["Test", "Trigger", *days, "Result"]]
    for name, trigger, now, before in (
        ("Class A/B OC Ratio", "121.50%", "129.49%", "130.01%"),
        ("Class C OC Ratio", "114.50%", "118.07%", "119.01%"),
        ("Class D OC Ratio", "108.50%", "111.51%", "112.01%"),
    ):
        rows.append([name, trigger, *((now, before) if is_first else (before, now)), "Pass"])
    assert [fact.value for fact in current(rows)] == [129.49, 118.07, 111.51]


def test_the_outcome_of_the_month_before_is_not_the_days() -> None:
    rows = [
        ["Test", "Trigger", "Prior Ratio", "Prior Result", "Current Ratio", "Current Result"],
        ["Class A/B OC Ratio", "121.50%", "130.01%", "Pass", "129.49%", "Pass"],
        ["Class C OC Ratio", "114.50%", "115.01%", "Pass", "114.07%", "Fail"],
    ]
    assert [brief(fact) for fact in current(rows)] == [(129.49, 121.5, "pass"), (114.07, 114.5, "fail")]


def test_tests_below_each_other_without_a_gap() -> None:
    rows = [
        ["Coverage Tests"],
        ["Class A/B Par Value Test"],
        ["Actual", "129.49%"],
        ["Minimum Required", "121.50%"],
        ["Status", "Passed"],
        ["Class C Par Value Test"],
        ["Actual", "114.07%"],
        ["Minimum Required", "114.50%"],
        ["Status", "Failed"],
    ]
    assert [brief(fact) for fact in current(rows)] == [(129.49, 121.5, "pass"), (114.07, 114.5, "fail")]


@every(
    "before, now",
    [("Prior", "Current"), ("Previous Period", "This Period"), ("15-Feb-2026", "15-Mar-2026"), ("Feb-26", "Mar-26")],
)
def test_groups_of_the_month_before_come_first(before: str, now: str) -> None:
    rows = [
        [None, before, None, None, None, None, now],
        ["Test", *["Numerator", "Denominator", "Actual", "Required", "Result"] * 2],
        [
            "Class A/B OC",
            *(403.0e6, 310.0e6, "130.00%", "120.50%", "Pass"),
            *(401.5e6, 310.0e6, "129.52%", "121.50%", "Pass"),
        ],
        [
            "Class C OC",
            *(403.0e6, 350.0e6, "115.14%", "113.50%", "Pass"),
            *(401.5e6, 352.0e6, "114.06%", "114.50%", "Fail"),
        ],
        ["Moody's WARF", *(None, None, "2850", "2990", "Pass"), *(None, None, "2869", "2993", "Pass")],
    ]
    facts_read = current(rows)
    assert [brief(fact) for fact in facts_read] == [
        (129.52, 121.5, "pass"),
        (114.06, 114.5, "fail"),
        (2869, 2993, "pass"),
    ]
    assert [(fact.numerator, fact.denominator) for fact in facts_read[:2]] == [(401.5e6, 310.0e6), (401.5e6, 352.0e6)]


def test_a_day_in_a_tests_name_is_no_running_line() -> None:
    rows = [
        ["Test", "Actual", "Trigger", "Result"],
        ["Weighted Average Life (as of 15-Mar-2026)", "5.12", "6.50", "Pass"],
        ["Moody's Diversity Test", "72", "60", "Pass"],
    ]
    assert [fact.value for fact in current(rows)] == [5.12, 72.0]


def test_of_two_columns_of_outcomes_the_one_that_comparisons_give_counts() -> None:
    rows = [
        ["Test", "Actual", "Required", "Result", "Result"],
        ["Class A/B OC", "129.49%", "121.50%", "Pass", "Pass"],
        ["Class C OC", "114.07%", "114.50%", "Pass", "Fail"],
        ["Moody's WARF", "2869", "2993", "Pass", "Pass"],
    ]
    assert [fact.status for fact in current(rows)] == ["pass", "fail", "pass"]
