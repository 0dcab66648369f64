"""What issues come to.

Counts and par by plain sums over the same issues, the verdict, and the pages of any of them.
"""

from __future__ import annotations

import io
from collections import Counter
from datetime import UTC, date, datetime
from typing import Any

import pikepdf
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.portfolio.model.notes import DataWarning
from core.reconciliation.rules import ALWAYS, RULES, SEVERITIES
from core.report.content import LineageLine
from core.report.reconciliation import (
    LARGEST_MAX,
    STATUSES,
    UNSETTLED,
    VALUE_CHARACTERS,
    ComparedSides,
    IssueLine,
    ReconciliationReport,
    Tally,
    reconciliation_pdf,
)
from tests.rows import every

WHEN = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
COMPARED = ComparedSides(
    title="tape.xlsx",
    trustee="trustee_a",
    book="Cairn",
    tape_day=date(2026, 3, 31),
    generated_at=WHEN,
    loans={"total_loans_compared": 12, "matched": 9, "unmatched_trustee": 2, "unmatched_internal": 1},
    stages={"cusip": 9},
    rules=list(RULES),
    tolerances={name: rule.tolerance for name, rule in RULES.items() if rule.tolerance is not None},
    not_compared={"industry": "the tape has no such column"},
    warnings=[DataWarning("few_matched", "few loans were matched")],
    facts=[LineageLine("SHA-256 of the tape", "ab" * 32)],
)


def issue(**fields: Any) -> IssueLine:
    value: dict[str, Any] = {
        "severity": "critical", "category": "calculation", "rule": "par_value", "field_name": "par_value",
        "issue_type": "value_mismatch", "primary_identifier": "00206RGQ9", "identifier_type": "cusip",
        "borrower_name": "Acme", "trustee_value": "1080000", "internal_value": "1000000",
    }  # fmt: skip
    return IssueLine(**value | fields)


def reported(*issues: IssueLine, **more: Any) -> ReconciliationReport:
    tally = Tally(**more)
    for item in issues:
        tally.add(item)
    return tally.report(COMPARED)


def opened(report: ReconciliationReport) -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(reconciliation_pdf(report)))


ISSUES = st.lists(
    st.builds(
        issue,
        severity=st.sampled_from(SEVERITIES),
        rule=st.sampled_from([*RULES, *ALWAYS]),
        category=st.sampled_from(["calculation", "missing", "rating"]),
        field_name=st.sampled_from(["par_value", "price", "missing_loan"]),
        trustee_value=st.sampled_from(["", "0", "1000", "-2.5", "7", "B1", "inf", "1e5", "nan"]),
        internal_value=st.sampled_from(["", "0", "1000", "3.25", "Ba3"]),
        status=st.sampled_from(STATUSES),
    ),
    max_size=60,
)


@given(ISSUES)
def test_counts_and_par_are_plain_sums(issues: list[IssueLine]) -> None:
    report = reported(*issues, listed_max=20)
    by_severity = Counter(item.severity for item in issues)
    assert [getattr(report.total, name) for name in SEVERITIES] == [by_severity[name] for name in SEVERITIES]
    assert report.total.total == len(issues)
    assert report.total.unsettled == sum(item.status in UNSETTLED for item in issues)
    for rows, field in ((report.by_category, "category"), (report.by_field, "field_name")):
        assert {row.name: row.total for row in rows} == Counter(getattr(item, field) for item in issues)
        assert sum(row.unsettled for row in rows) == report.total.unsettled
    assert sum(report.by_status.values()) == len(issues)
    assert report.issues == issues[:20]
    assert report.left_out == max(0, len(issues) - 20)
    known = {"": 0.0, "0": 0.0, "1000": 1000.0, "-2.5": -2.5, "7": 7.0, "1e5": 1e5, "3.25": 3.25}
    differences = [
        known[item.trustee_value] - known[item.internal_value]
        for item in issues
        if item.rule in ("par_value", "missing_loan")
        and item.status in UNSETTLED
        and {item.trustee_value, item.internal_value} <= set(known)
    ]
    moved = [difference for difference in differences if difference]
    assert report.par.breaks == len(moved)
    assert abs(report.par.net - sum(moved)) < 1e-6
    assert abs(report.par.gross - sum(map(abs, moved))) < 1e-6
    largest = [abs(item.par_difference or 0.0) for item in report.largest]
    assert largest == sorted(map(abs, moved), reverse=True)[:LARGEST_MAX]


@every(
    "issues, outcome, headline",
    [
        ([], "pass", "Both sides agree"),
        ([issue(status="resolved")], "pass", "Every discrepancy is settled"),
        ([issue(severity="info")], "warning", "1 discrepancy stands: 1 info"),
        ([issue(severity="warning"), issue(severity="info")], "warning", "2 discrepancies stand: 1 warning, 1 info"),
        ([issue(severity="error", status="acknowledged")], "fail", "1 discrepancy stands: 1 error"),
        ([issue(), issue(status="false_positive")], "fail", "1 discrepancy stands: 1 critical"),
    ],
)
def test_a_verdict_is_of_what_stands(issues: list[IssueLine], outcome: str, headline: str) -> None:
    verdict = reported(*issues).verdict
    assert (verdict.outcome, verdict.headline) == (outcome, headline)
    assert verdict.sentence == "9 of 12 loans are on both sides; 2 only on the tape; 1 only in the holdings."


def test_without_a_pair_nothing_agrees() -> None:
    loans = {**COMPARED.loans, "matched": 0}
    verdict = Tally().report(replace(COMPARED, loans=loans)).verdict
    assert (verdict.outcome, verdict.headline) == ("none", "No loan was found on both sides")


def test_of_equal_breaks_the_first_comes_first() -> None:
    issues = [issue(primary_identifier=str(at)) for at in range(LARGEST_MAX + 5)]
    assert [item.primary_identifier for item in reported(*issues).largest] == [str(at) for at in range(LARGEST_MAX)]


def test_the_pdf_is_tagged_and_the_same_each_time() -> None:
    report = reported(issue(), issue(severity="info", field_name="borrower_name", rule="borrower_name"))
    assert reconciliation_pdf(report) == reconciliation_pdf(report)
    pdf = opened(report)
    assert pdf.Root.Lang == "en"
    assert bool(pdf.Root.MarkInfo.Marked)
    with pdf.open_metadata() as meta:
        assert (meta["pdfaid:part"], meta["pdfaid:conformance"]) == ("2", "B")
        assert meta["dc:title"] == "Reconciliation report: tape.xlsx"
    with pdf.open_outline() as outline:
        assert [child.title for child in outline.root[0].children] == [
            "Summary", "Largest breaks in par", "All discrepancies", "How the two sides were compared", "Data lineage",
        ]  # fmt: skip


LETTERS = st.text(st.characters(codec="utf-8"), max_size=40)


@settings(max_examples=8, deadline=None)
@given(LETTERS, LETTERS, LETTERS)
def test_any_words_can_be_set(name: str, value: str, notes: str) -> None:
    odd = issue(borrower_name=name * 400, trustee_value=value, resolution_notes=notes, reviewed_by="#eval(1)")
    report = reported(odd)
    assert len(report.issues[0].borrower_name or "") <= VALUE_CHARACTERS
    assert opened(report).pages


def test_nothing_and_a_great_deal_are_set() -> None:
    empty = opened(reported())
    assert len(empty.pages) <= 2
    many = reported(*(issue(primary_identifier=f"LX{at}") for at in range(200)), listed_max=100)
    pages: list[pikepdf.Page] = list(opened(many).pages)
    assert 5 <= len(pages) <= 20
