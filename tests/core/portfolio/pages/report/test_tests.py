"""Printed tests and figures as facts.

Columns by words, content and ratios; each trap that was met is a case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, FactSubject
from core.portfolio.pages.report import read
from tests.core.portfolio.conftest import Shown, sheet_from_rows
from tests.rows import every

Row = Sequence[Any]

HOLDINGS: Final[list[Row]] = [
    ["Issuer Name", "Par Amount", "LoanX ID"],
    ["Acme Corp", 1_000_000.0, "LX100001"],
    ["Bolt Inc", 2_000_000.0, "LX100002"],
]


def workbook(pages: dict[str, Sequence[Row]]) -> Workbook:
    formats = ["General"]
    sheets = tuple(
        sheet_from_rows(rows, name, index=index, formats=formats) for index, (name, rows) in enumerate(pages.items())
    )
    return Workbook(sheets, number_formats=tuple(formats))


def facts(rows: Sequence[Row], name: str = "Compliance", **more: Sequence[Row]) -> tuple[Fact, ...]:
    """Return the facts of a page beside two loans."""
    return Portfolio.from_workbook(workbook({name: rows, **more, "Assets": HOLDINGS}), as_of=5.0).facts.all


def current(rows: Sequence[Row], name: str = "Compliance", **more: Sequence[Row]) -> list[Fact]:
    """Return a page's tests and figures of the day."""
    return [fact for fact in facts(rows, name, **more) if fact.kind in ("test", "figure") and not fact.is_prior]


def brief(fact: Fact) -> tuple[Any, ...]:
    """Return value, limit and status."""
    return fact.value, fact.trigger, fact.status


# ---- columns -------------------------------------------------------------------------------------------------------

TESTS: Final[list[Row]] = [
    ["Test", "Numerator", "Denominator", "Prior", "Outcome", "Requirement", "Result"],
    ["Class A/B Par Value Test", 400.0e6, 287.0e6, "138.90%", "139.37%", ">= 130.08%", "Passed"],
    ["Cov-Lite Loans", 40.0e6, 390.0e6, "10.10%", "10.26%", "<= 30.00%", "Passed"],
    ["S&P CCC Obligations", 30.0e6, 390.0e6, "7.40%", "7.69%", "<= 7.50%", "Failed"],
    ["Weighted Average Life Test", None, None, 4.4, 4.32, "<= 7.27", "Passed"],
]
EXPECTED: Final = [
    (139.37, 130.08, "pass"), (10.26, 30.0, "pass"), (7.69, 7.5, "fail"), (4.32, 7.27, "pass"),
]  # fmt: skip
AMOUNTS: Final = [(400.0e6, 287.0e6), (40.0e6, 390.0e6), (30.0e6, 390.0e6), (None, None)]


def renamed(*names: str) -> list[Row]:
    return [names, *TESTS[1:]]


@pytest.mark.parametrize(
    "rows",
    [
        TESTS,
        renamed("Description", "Top Amount", "Base Amount", "Last Month", "Observed", "Hurdle", "Compliance"),
        renamed("Aaa", "Bbb", "Ccc", "Ddd", "Eee", "Fff", "Ggg"),
        [row[::-1] for row in TESTS],
        [row[::-1] for row in renamed("Aaa", "Bbb", "Ccc", "Ddd", "Eee", "Fff", "Ggg")],
        [[cell for value in row for cell in (value, None)] for row in TESTS],
        [["Some CLO DAC"], ["Compliance Tests"], [], *TESTS, [], ["Page 3 of 9"]],
        TESTS[1:],
    ],
    ids=["plain", "other words", "nonsense", "mirrored", "nonsense mirrored", "blank columns", "titled", "no heading"],
)
def test_columns_by_content_and_ratio(rows: list[Row]) -> None:
    """Numerator / denominator = value tells the columns apart, and current from prior, whatever they are called."""
    facts_read = current(rows)
    assert [brief(fact) for fact in facts_read[:3]] == EXPECTED[:3]
    assert [(fact.numerator, fact.denominator) for fact in facts_read[:3]] == AMOUNTS[:3]
    assert {fact.by for fact in facts_read[:3]} == {"relation"}


def test_the_month_before_is_no_test_of_today() -> None:
    facts_read = facts(TESTS)
    assert [brief(fact) for fact in facts_read if fact.kind == "test" and not fact.is_prior] == EXPECTED
    assert [fact.value for fact in facts_read if fact.is_prior] == [138.9, 10.1, 7.4, 4.4]


def test_current_against_prior_without_words_is_a_guess() -> None:
    """Two columns fit the statuses: the leftmost is taken, and marked."""
    rows: list[Row] = [["Aaa", "Bbb", "Ccc", "Ddd", "Eee"],
            ["Weighted Average Life Test", 4.32, 4.40, "<= 7.27", "Pass"],
            ["Minimum Weighted Average Spread Test", "4.07%", "4.05%", ">= 4.03%", "Pass"],
            ["Moody's Diversity Test", 60.0, 61.0, ">= 55", "Pass"]]  # fmt: skip
    facts_read = current(rows)
    assert [fact.value for fact in facts_read] == [4.32, 4.07, 60.0]
    assert all(fact.is_guessed for fact in facts_read)


@every("minimum, maximum, direction", [(None, "30.00%", "max"), ("90.00%", None, "min")])
def test_a_column_of_minima_beside_one_of_maxima(minimum: str | None, maximum: str | None, direction: str) -> None:
    rows: list[Row] = [["Concentration Limitation", "Current", "Minimum", "Maximum", "Result"],
            ["Fixed Rate", "3.00%", None, "5.00%", "Pass"],
            ["Senior Secured Loans", "95.00%", minimum, maximum, "Pass"],
            ["Moody's Caa", "3.10%", None, "7.50%", "Pass"]]  # fmt: skip
    fact = current(rows)[1]
    assert (fact.trigger, fact.direction) == (90.0 if minimum else 30.0, direction)


@every("text, direction", [("Min", "min"), ("Max", "max"), (">=", "min"), ("not more than", "max")])
def test_a_column_of_sides(text: str, direction: str) -> None:
    """A side of its own decides against the measure's."""
    rows: list[Row] = [["Group", "Test", "Value", "Limit Type", "Limit", "Status"],
            ["Profile", "Fixed Rate", "7.60%", text, "10.00%", "OK"],
            ["Profile", "Cov-Lite", "25.04%", "Max", "35.00%", "OK"],
            ["Profile", "Current Pay", "0.74%", "Max", "5.00%", "OK"]]  # fmt: skip
    assert current(rows)[0].direction == direction


def test_fractions_and_multiples() -> None:
    """A database's fractions are percentages; a factor and an amount never are."""
    rows: list[Row] = [["Test Name", "Outcome", "Requirement", "Operator", "Status"],
            ["Class A/B Overcollateralization Test", 1.3005, 1.2145, ">=", "Pass"],
            ["Maximum Moody's Rating Factor Test", 3156.0, 3267.0, "<=", "Pass"],
            ["Minimum Floating Spread Test", 0.0422, 0.0407, ">=", "Pass"],
            ["Cov-Lite Loans", 0.5356, 0.6, "<=", "Pass"],
            ["Retention Deficiency", 28_778_000.0, 18_782_722.83, ">=", "Pass"]]  # fmt: skip
    facts_read = current(rows)
    assert [fact.value for fact in facts_read] == [130.05, 3156.0, 4.22, 53.56, 28_778_000.0]
    assert [fact.trigger for fact in facts_read] == [121.45, 3267.0, 4.07, 60.0, 18_782_722.83]
    assert [fact.unit for fact in facts_read] == ["percent", "factor", "percent", "percent", "amount"]


def test_fractions_beside_limits_with_a_sign() -> None:
    rows: list[Row] = [["Test", "Actual", "Limit", "Result"], ["Cov-Lite Loans", 0.0984, "<= 30.00%", "Pass"],
            ["Fixed Rate", 0.0849, "<= 10.00%", "Pass"], ["Bridge Loans", 0.0, "<= 2.50%", "Pass"]]  # fmt: skip
    assert [fact.value for fact in current(rows)] == [9.84, 8.49, 0.0]


def test_digits_that_rounding_left() -> None:
    """Figures stored with one digit less than shown have one decimal.

    8.9 ties with 8.928, by half a unit of it.
    """
    names = ("Cov-Lite Loans", "Fixed Rate", "Bridge Loans", "Current Pay", "Participations")

    def read(*values: float) -> list[Fact]:
        shown = [Shown(value, "0.00%") for value in values]
        rows = [[name, value, "<= 30.00%", "Pass"] for name, value in zip(names, shown, strict=True)]
        return current([["Test", "Actual", "Limit", "Result"], *rows])

    facts_read = read(0.089, 0.096, 0.04, 0.014, 0.245)
    assert {fact.decimals for fact in facts_read} == {1}
    assert facts_read[0].tolerance == pytest.approx(0.05)
    assert {fact.decimals for fact in read(0.0893, 0.096, 0.04, 0.014, 0.245)} == {2}


# ---- what is a test ------------------------------------------------------------------------------------------------


def test_notes_and_numerators_are_no_tests() -> None:
    """A test has a limit or a status.

    Balances of classes and lines of a calculation have neither.
    """
    rows: list[Row] = [
        ["Test Description", "Actual", "Target", "Result"],
        ["Class A/B Par Value Test", "139.37%", ">= 130.08%", "Passed"],
        ["Class C Par Value Test", "129.00%", ">= 121.00%", "Passed"],
        [],
        ["Par Value Test Numerator Detail"],
        ["Aggregate Principal Balance", 380_139_061.1],
        ["Defaulted Obligations", 0.0],
        ["Adjusted Collateral Principal Amount", 375_659_873.18],
        [],
        ["Tranche", "Principal Amount"],
        ["Class A Notes", 228_700_000.0],
        ["Class B Notes", 25_400_000.0],
    ]
    facts_read = facts(rows)
    assert [fact.label for fact in facts_read if fact.kind in ("test", "figure")] == [
        "Class A/B Par Value Test",
        "Class C Par Value Test",
    ]
    assert [(fact.label, fact.value) for fact in facts_read if fact.kind == "note"] == [
        ("Class A Notes", 228_700_000.0),
        ("Class B Notes", 25_400_000.0),
    ]


def test_a_row_without_limit_and_status_is_a_figure() -> None:
    """It stands beside ours, and is no test.

    Class F has no limit, and the share below it is none of its coverage.
    """
    rows: list[Row] = [["Test Name", "Outcome", "Requirement", "Result"],
            ["Class E Interest Coverage Test", "128.03%", ">= 100.50%", "Passed"],
            ["Class F Interest Coverage Ratio", "118.64%", "N/A", "N/A"],
            ["Class F Interest Coverage Ratio - Semi Annual Obligation", "23.86%", "<= 12.50%", "Failed"]]  # fmt: skip
    facts_read = current(rows)
    assert [fact.kind for fact in facts_read] == ["test", "figure", "test"]
    assert facts_read[1].subject == FactSubject(measure="ic", classes=("F",))
    assert (facts_read[1].trigger, facts_read[1].status) == (None, None)
    assert facts_read[2].subject == FactSubject(measure="infrequent", detail="semi annual")


def test_a_tape_with_a_yes_or_no_column_has_no_tests() -> None:
    rows: list[Row] = [["Fund", "Obligor", "Seniority", "Notional", "Bid Price", "Market Value", "Cov-Lite"],
            *(["F1", f"Obligor {at}", "Senior Secured", 1e6 + at * 7_000, 98.0, 0.98 * (1e6 + at * 7_000), "Yes"]
              for at in range(12))]  # fmt: skip
    assert [fact for fact in facts(rows, "Positions") if fact.kind in ("test", "figure")] == []


def test_lines_of_percentages_are_figures() -> None:
    """With a subject: zeros, adjustments, steps of a formula and amounts are none."""
    rows: list[Row] = [
        ["Five largest Obligors (% of Collateral Principal Amount)", "8.31%"],
        ["Discount Obligations (% of Collateral Principal Amount)", "2.48%"],
        ["Weighted Average Life", 4.18],
        ["Bridge Loans", "0.00%"],
        ["Less: Discount Obligations", "1.20%"],
        ["plus: (SPWARF/9162.65)", 0.314951],
        ["Collateral Principal Amount", 375_654_456.51],
        ["Minimum Weighted Average Spread (final trigger)", "3.80%"],
    ]
    facts_read = current(rows)
    assert [(fact.kind, fact.value) for fact in facts_read] == [
        ("figure", 8.31),
        ("figure", 2.48),
        ("figure", 4.18),
        ("figure", 3.8),
    ]
    assert facts_read[3].subject is not None
    assert facts_read[3].subject.detail == "trigger"


def test_a_test_whose_words_nobody_knows_is_listed() -> None:
    rows: list[Row] = [*TESTS, ["Weighted Average Colour", None, None, None, 3.2, ">= 1.00", "Passed"]]
    unknown = current(rows)[-1]
    assert (unknown.label, unknown.subject, brief(unknown)) == ("Weighted Average Colour", None, (3.2, 1.0, "pass"))


def test_a_denominator_names_what_words_do_not() -> None:
    """The balances of the classes down to one are the denominator of its OC.

    Interest due is that of its IC.
    """
    notes: list[Row] = [["Class", "Current Balance", "Interest Due"], ["Class A", 250e6, 3.1e6],
             ["Class B", 30e6, 0.5e6], ["Class C", 20e6, 0.4e6], ["Subordinated Notes", 40e6, None]]  # fmt: skip
    rows: list[Row] = [["Test", "Numerator", "Denominator", "Actual", "Trigger", "Result"],
            ["Third Ratio", 360e6, 300e6, "120.00%", "110.00%", "Pass"],
            ["Senior OC", 360e6, 280e6, "128.57%", "120.00%", "Pass"],
            ["Junior Cover", 6.0e6, 4.0e6, "150.00%", "110.00%", "Pass"],
            ["Odd Ratio", 6.0e6, 4.1e6, "146.34%", "110.00%", "Pass"]]  # fmt: skip
    facts_read = current(rows, Notes=notes)
    assert [fact.subject for fact in facts_read] == [
        FactSubject(measure="oc", classes=("C",)),
        FactSubject(measure="oc", classes=("B",)),
        FactSubject(measure="ic", classes=("C",)),
        None,
    ]
    assert [fact.by for fact in facts_read[:3]] == ["sum"] * 3


# ---- the same figure in several places -----------------------------------------------------------------------------


def test_one_test_on_two_pages() -> None:
    """Values and limits agree.

    One fact with two places, what the first lacks taken from the second.
    """
    summary: list[Row] = [["Test", "Current", "Limit"], ["Class A/B Par Value Test", "139.37%", "130.08%"],
               ["Class C Par Value Test", "129.00%", "121.00%"]]  # fmt: skip
    facts_read = current(summary, "Summary", Details=TESTS)
    first = next(fact for fact in facts_read if fact.subject == FactSubject(measure="oc", classes=("A", "B")))
    assert (first.place, first.also) == ("'Summary'!B2", ("'Details'!E2",))
    assert (first.numerator, first.status, first.conflict) == (400.0e6, "pass", "")


def test_one_subject_with_two_figures_is_a_conflict() -> None:
    """Neither counts, and each tells of the other; the trigger of none is taken."""
    rows: list[Row] = [["Test", "Current", "Limit", "Result"],
             ["Class A/B Par Value Test", "137.00%", "130.08%", "Pass"],
             ["Weighted Average Life Test", 4.32, 7.27, "Pass"]]  # fmt: skip
    facts_read = current(TESTS, Details=rows)
    twice = [fact for fact in facts_read if fact.subject == FactSubject(measure="oc", classes=("A", "B"))]
    assert [fact.value for fact in twice] == [139.37, 137.0]
    assert "'Details'!B2" in twice[0].conflict
    assert "'Compliance'!E2" in twice[1].conflict
    life = [fact for fact in facts_read if fact.subject == FactSubject(measure="wal")]
    assert [(len(life), life[0].conflict, len(life[0].also))] == [(1, "", 1)]


def test_a_mere_figure_spoils_no_test() -> None:
    lines: list[Row] = [["Weighted Average Life", 4.41], ["Largest Obligor", "1.40%"]]
    facts_read = current(TESTS, Measures=lines)
    life = {fact.kind: fact for fact in facts_read if fact.subject == FactSubject(measure="wal")}
    assert life["test"].conflict == ""
    assert "'Compliance'!E5" in life["figure"].conflict


def test_clauses_tell_rows_of_one_name_apart() -> None:
    rows: list[Row] = [["Test", "Actual", "Limit", "Result"],
            *([f"({letter}) Workout Limitation Test", "0.00%", f"<= {limit}%", "Pass"]
              for letter, limit in (("a", 2), ("b", 5), ("c", 10)))]  # fmt: skip
    facts_read = current(rows)
    assert [fact.subject.detail for fact in facts_read if fact.subject] == ["clause a", "clause b", "clause c"]
    assert [fact.conflict for fact in facts_read] == [""] * 3


# ---- pages ---------------------------------------------------------------------------------------------------------


def test_several_pages_on_one_sheet() -> None:
    """Titles end tables; a heading again below a title is another table."""
    coverage: list[Row] = [["Coverage Tests"], [], *TESTS[:2]]
    quality: list[Row] = [["Collateral Quality Tests"], [], ["Test", "Actual", "Limit", "Prior", "Result"],
               ["Weighted Average Life Test", 4.32, "<= 7.27", 4.4, "Passed"],
               ["Moody's Diversity Test", 60.0, ">= 55.00", 61.0, "Passed"]]  # fmt: skip
    facts_read = current([*coverage, [], *quality])
    assert [(fact.value, fact.group) for fact in facts_read] == [
        (139.37, "Coverage Tests"),
        (4.32, "Collateral Quality Tests"),
        (60.0, "Collateral Quality Tests"),
    ]


def test_a_heading_again_on_every_page_is_one_table() -> None:
    """Its rows count once, and the running titles between them are none."""
    head: list[Row] = [["Some CLO Ltd."], ["Concentration Limitations"], ["Test", "Current", "Limit", "Result"]]
    rows: list[Row] = [*head, ["Fixed Rate", "3.00%", "5.00%", "Pass"], [], ["Page 1 of 2"], [], *head,
            ["Cov-Lite", "47.00%", "55.00%", "Pass"]]  # fmt: skip
    assert [(fact.label, fact.group) for fact in current(rows)] == [
        ("Fixed Rate", "Concentration Limitations"),
        ("Cov-Lite", "Concentration Limitations"),
    ]


def test_a_heading_of_three_rows_with_groups() -> None:
    rows: list[Row] = [[None, "Ratio", None, "Test"], [None, "Current", "Prior", "Trigger", "Result"],
            ["Class A/B OC", "139.37%", "138.90%", "130.08%", "Pass"],
            ["Class C OC", "129.00%", "128.00%", "121.00%", "Pass"]]  # fmt: skip
    assert [brief(fact) for fact in current(rows)] == [(139.37, 130.08, "pass"), (129.0, 121.0, "pass")]


def test_a_flat_file_repeats_the_deal_and_the_day(make_book: Callable[..., Workbook]) -> None:
    """The label is the most distinct wordy column."""
    rows: list[Row] = [["DealName", "ReportDate", "Title", "Outcome", "Requirement", "PassFailStatus"],
            *(["Some CLO Ltd", "16-Dec-24", name, value, limit, "Pass"] for name, value, limit in (
                ("Class C Overcollateralization Test", "119.62%", "112.72%"), ("Cov-Lite Loans", "53.56%", "60.00%"),
                ("Single Obligor", "1.79%", "2.50%")))]  # fmt: skip
    assert [fact.label for fact in current(rows)] == [
        "Class C Overcollateralization Test",
        "Cov-Lite Loans",
        "Single Obligor",
    ]


# ---- limits --------------------------------------------------------------------------------------------------------


def test_pages_beyond_the_limit_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that come first count first: what stands behind them is left out."""
    monkeypatch.setattr(read, "CELLS_CUT_MAX", 45)
    rows: list[Row] = [TESTS[0], ["Bridge Loans", 1e6, 390e6, "0.20%", "0.26%", "<= 2.50%", "Passed"]]
    assert [fact.label for fact in current(TESTS, Details=rows)] == [str(row[0]) for row in TESTS[1:]]


def test_a_page_of_words_alone_has_no_tests() -> None:
    """Names in a grid are no headings, however many words of headings they have."""
    rows: list[Row] = [["Class Balance Limit", "Numerator Test", "Status Result"] for _ in range(200)]
    assert current(rows) == []


# ---- other shapes --------------------------------------------------------------------------------------------------


def test_oc_beside_ic_in_one_row() -> None:
    """A row of a class with both coverages is two tests, each with its own columns."""
    rows: list[Row] = [
        ["Coverage Tests"],
        [None, "Overcollateralization", None, None, "Interest Coverage", None, None],
        ["Class", "Ratio", "Trigger", "Result", "Ratio", "Trigger", "Result"],
        ["Class A/B", "139.20%", "130.08%", "Pass", "180.24%", "120.00%", "Pass"],
        ["Class C", "118.85%", "121.74%", "Fail", "162.99%", "110.00%", "Pass"],
    ]
    assert sorted((str(fact.subject), *brief(fact)) for fact in current(rows)) == sorted(
        [
            (str(FactSubject(measure="oc", classes=("A", "B"))), 139.2, 130.08, "pass"),
            (str(FactSubject(measure="oc", classes=("C",))), 118.85, 121.74, "fail"),
            (str(FactSubject(measure="ic", classes=("A", "B"))), 180.24, 120.0, "pass"),
            (str(FactSubject(measure="ic", classes=("C",))), 162.99, 110.0, "pass"),
        ]
    )


def test_a_test_below_its_name() -> None:
    """Figures that stand below each other under the test's name."""
    rows: list[Row] = [
        ["Class A/B Overcollateralization Ratio Test"],
        ["Numerator", 400e6], ["Denominator", 287e6], ["Actual", "139.37%"], ["Required Level", "130.08%"],
        ["Result", "Passed"], [],
        ["Weighted Average Life Test"],
        ["Actual", 7.32], ["Maximum", 7.27], ["Result", "Failed"], [],
        ["Account Summary"],
        ["Current", 5.0], ["Limit", 7.0],
    ]  # fmt: skip
    facts_read = current(rows)
    assert [(fact.label, *brief(fact)) for fact in facts_read] == [
        ("Class A/B Overcollateralization Ratio Test", 139.37, 130.08, "pass"),
        ("Weighted Average Life Test", 7.32, 7.27, "fail"),
    ]
    assert (facts_read[0].numerator, facts_read[0].denominator, facts_read[0].place) == (
        400e6,
        287e6,
        "'Compliance'!B4",
    )


@every("value, limit, prior, status", [
    ("% of CPA", "Max %", "Last Month", "P/F"),
    ("This Period", "Permitted", "Prior Period", "Compliance"),
    ("As of Date", "Covenant", "Last Report", "In Compliance"),
    ("Test Result", "Test Level", "Previous", "Passed (Y/N)"),
    ("Level", "Constraint", "Previous Result", None),
    ("Calculated", "Standard", "Prior", None),
    ("Ratio", "Hurdle", "Prior Value", None),
])  # fmt: skip
def test_headings_of_many_trustees(value: str, limit: str, prior: str, status: str | None) -> None:
    """With and without a status, the month before first, the names of tests under no heading."""
    rows: list[Row] = [
        [None, prior, limit, value, status],
        *([row[0], row[3], str(row[5])[3:], row[4], row[6] if status else None] for row in TESTS[1:]),
    ]
    assert [brief(fact)[:2] for fact in current(rows)] == [fact[:2] for fact in EXPECTED]


def test_a_line_of_two_figures_is_none_of_the_day() -> None:
    """No heading says which of them is current."""
    assert current([["Largest Obligor", "1.40%", "1.75%"], ["Cov-Lite Loans", "9.84%", "9.80%"]]) == []
    dated: list[Row] = [["Description", "Prior", "Current"], ["Largest Obligor", "1.40%", "1.75%"],
                        ["Cov-Lite Loans", "9.84%", "9.80%"]]  # fmt: skip
    assert [(fact.kind, fact.value) for fact in current(dated)] == [("figure", 1.75), ("figure", 9.8)]


@every("value, decimals, tolerance", [(2845.0, 0, 0.5), (60.0, 0, 0.5), (24.0, None, 0.005), (2845.3, None, 0.005)])
def test_whole_factors_have_no_digits(value: float, decimals: int | None, tolerance: float) -> None:
    """Where no format says it.

    Fitch's factors have two digits, and may be whole by chance.
    """
    rows: list[Row] = [["Test", "Actual", "Limit", "Result"], ["Maximum Rating Factor Test", value, 3_000.0, "Pass"],
                       ["Weighted Average Life Test", 4.0, 7.27, "Pass"]]  # fmt: skip
    factor, life = current(rows)
    assert (factor.decimals, life.decimals) == (decimals, None)
    assert factor.tolerance == pytest.approx(tolerance)


def test_amounts_in_thousands() -> None:
    """As the heading of each says."""
    rows: list[Row] = [["Test", "Numerator (000s)", "Denominator ($mm)", "Actual", "Limit", "Result"],
                       ["Cov-Lite Loans", 40_000.0, 390.0, "10.26%", "30.00%", "Pass"],
                       ["Fixed Rate", 7_800.0, 390.0, "2.00%", "5.00%", "Pass"]]  # fmt: skip
    assert [(fact.numerator, fact.denominator) for fact in current(rows)] == [(40e6, 390e6), (7.8e6, 390e6)]


@pytest.mark.parametrize(
    ("heading", "answers"),
    [
        ("Breach", ("No", "Yes")), ("Trigger Breached?", ("N", "Y")), ("Exception", ("No", "Yes")),
        ("Failed?", ("No", "Yes")), ("In Compliance", ("Yes", "No")), ("Pass / Fail", ("Pass*", "Fail - maintain")),
        ("Outcome", ("PASS (cured)", "Failed†")),
    ],
)  # fmt: skip
def test_what_yes_and_no_mean_is_said_by_the_heading(heading: str, answers: tuple[str, str]) -> None:
    rows: list[Row] = [
        ["Test", "Actual", "Requirement", heading],
        ["Class A/B OC", "144.84%", "122.07%", answers[0]],
        ["CCC Loans", "9.84%", "7.50%", answers[1]],
        ["Cov-Lite", "65.59%", "70.00%", answers[0]],
    ]
    assert [fact.status for fact in current(rows)] == ["pass", "fail", "pass"]


def test_an_outcome_that_is_the_contrary_of_every_comparison_is_none() -> None:
    rows: list[Row] = [
        ["Test", "Actual", "Requirement", "Result"],
        ["Class A/B OC", "144.84%", "122.07%", "No"],
        ["CCC Loans", "9.84%", "7.50%", "Yes"],
        ["Cov-Lite", "65.59%", "70.00%", "No"],
    ]
    assert [fact.status for fact in current(rows)] == [None, None, None]
    rows[1] = ["Class A/B OC", "144.84%", "122.07%", "Yes"]
    assert [fact.status for fact in current(rows)] == ["pass", "pass", "fail"]


@pytest.mark.parametrize(
    ("value", "limit", "expected"),
    [(12.4127, 1.2, 1241.27), (12.4127, 120.0, 1241.27), (2.4127, 1.2, 241.27), (144.84, 1.2207, 144.84)],
)
def test_a_large_multiple_is_no_percentage(value: float, limit: float, expected: float) -> None:
    rows: list[Row] = [["Test", "Ratio", "Test Level", "Result"], ["Class A/B IC Test", value, limit, "PASSED"]]
    (fact,) = current([*rows, ["Class C IC Test", 2.2, 1.1, "PASSED"], ["Class D IC Test", 2.1, 1.1, "PASSED"]])[:1]
    assert fact.value == pytest.approx(expected)


def test_oc_and_ic_stand_beside_each_other_with_headings_alike() -> None:
    rows: list[Row] = [
        ["Class", "Par Value Ratio", "Required", "Result", "Interest Coverage Ratio", "Required", "Result"],
        ["A/B", "144.84%", "122.07%", "Pass", "241.00%", "120.00%", "Pass"],
        ["C", "128.75%", "113.07%", "Pass", "109.00%", "115.00%", "Fail"],
    ]
    assert {(fact.subject.measure, fact.subject.classes, *brief(fact)) for fact in current(rows) if fact.subject} == {
        ("oc", ("A", "B"), 144.84, 122.07, "pass"),
        ("oc", ("C",), 128.75, 113.07, "pass"),
        ("ic", ("A", "B"), 241.0, 120.0, "pass"),
        ("ic", ("C",), 109.0, 115.0, "fail"),
    }


@every("label, value, limit, expected", [
    ("DIP Loans", 0.4, "7.5%", (0.4, 7.5)),
    ("Weighted Average Spread", 395, 350, (3.95, 3.5)),
    ("Weighted Average Recovery Rate", 0.461, 0.43, (46.1, 43.0)),
    ("Class A/B OC", "144.84%*", ">= 122.07%", (144.84, 122.07)),
    ("Class C OC", "128.75% (1)", "113.07% (min)", (128.75, 113.07)),
    ("WARF", "2,962 (2)", "3,000", (2962.0, 3000.0)),
])  # fmt: skip
def test_scales_and_footnotes_of_figures(label: str, value: Any, limit: Any, expected: tuple[float, float]) -> None:
    plain: list[Row] = [["Bridge Loans", 0.2, "5%", "Pass"], ["Current Pay Obligations", 0.24, "2.5%", "Pass"]]
    rows: list[Row] = [["Test", "Actual", "Requirement", "Result"], [label, value, limit, "Pass"], *plain]
    facts_read = current(rows)
    assert (facts_read[0].value, facts_read[0].trigger) == pytest.approx(expected)
    assert [fact.value for fact in facts_read[1:]] == [0.2, 0.24]


def test_sections_of_classes_without_words_are_of_their_coverage() -> None:
    rows: list[Row] = [
        ["Overcollateralization Tests"], ["Class", "Ratio", "Trigger", "Result"],
        ["A/B", "144.84%", "122.07%", "Pass"], ["C", "128.75%", "113.07%", "Pass"],
        ["Interest Coverage Tests"],
        ["A/B", "241.84%", "120.00%", "Pass"], ["C", "210.75%", "115.00%", "Pass"],
    ]  # fmt: skip
    assert [(fact.subject.measure, fact.subject.classes, fact.value) for fact in current(rows) if fact.subject] == [
        ("oc", ("A", "B"), 144.84),
        ("oc", ("C",), 128.75),
        ("ic", ("A", "B"), 241.84),
        ("ic", ("C",), 210.75),
    ]


def test_a_title_names_the_classes_of_its_ratios_and_a_sheet_does_not() -> None:
    body: list[Row] = [["Test", "Actual", "Trigger", "Result"], ["Overcollateralization Ratio", "144%", "122%", "Pass"]]
    (titled,) = current([["Class A/B Coverage"], *body], "Tests")
    (alone,) = current(body, "Class A")
    assert titled.subject
    assert alone.subject
    assert (titled.subject.classes, alone.subject.classes) == (("A", "B"), ())
