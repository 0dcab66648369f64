"""Reports made by seed in the styles of trustees and managers, each read and compared with what its pages say.

MADE_REPORTS and MADE_MUTANTS are the numbers of reports as their style prints them, and of reports that are changed at
random, a fifth of them without a fifth of their headings: 50 each in a plain run, 300 and 1,000 in CI.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from functools import cache
from random import Random

import pytest

from tests.made_reports.__main__ import examples, table
from tests.made_reports.changes.mutate import CHANGES, has_blank_headings, mutate
from tests.made_reports.changes.pages import merge_pages
from tests.made_reports.model import Column, Page
from tests.made_reports.score import Score, read_report, score_report
from tests.made_reports.styles.catalogue import STYLES, report_of
from tests.made_reports.truth import FIELDS, truth_of
from tests.made_reports.words import PHRASES, SINKS

REPORTS = int(os.environ.get("MADE_REPORTS", "50"))
MUTANTS = int(os.environ.get("MADE_MUTANTS", "50"))
RIGHT_OF_MUTANTS = 0.98
RIGHT_WITH_BLANK_HEADINGS = 0.90
SILENT_A_REPORT = {"reports": 0.0, "mutants": 0.08, "blank headings": 0.3}
"""Columns and figures a report that are wrong without a doubt: none is what is wanted, and this is what was reached."""


@cache
def reports() -> Score:
    """Read every report as its style prints it."""
    score = Score()
    for seed in range(REPORTS):
        report = report_of(seed)
        score_report(score, report, read_report(report))
    return score


@cache
def mutants(*, blank_headings: bool) -> Score:
    """Read the changed reports, those with blank headings or the others."""
    score = Score()
    for seed in range(MUTANTS):
        if has_blank_headings(seed) == blank_headings:
            report = mutate(report_of(seed), seed, blank_headings=blank_headings)
            score_report(score, report, read_report(report))
    return score


def summary(score: Score) -> str:
    return f"{table(score)}\n{examples(score, 30, None)}"


@pytest.mark.timeout(1_200)
def test_reports_are_read_back_without_loss() -> None:
    assert not reports().misses, summary(reports())


@pytest.mark.timeout(1_200)
def test_changed_reports_are_read() -> None:
    score = mutants(blank_headings=False)
    assert score.share >= RIGHT_OF_MUTANTS, summary(score)


@pytest.mark.timeout(1_200)
def test_reports_with_blank_headings_are_read() -> None:
    score = mutants(blank_headings=True)
    assert score.share >= RIGHT_WITH_BLANK_HEADINGS, summary(score)


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("kind", ["reports", "mutants", "blank headings"])
def test_nothing_is_wrong_without_a_doubt(kind: str) -> None:
    score = reports() if kind == "reports" else mutants(blank_headings=kind != "mutants")
    assert len(score.silent) <= SILENT_A_REPORT[kind] * sum(score.reports.values()), summary(score)


PLAIN = {
    **{item: names[0] for item, names in FIELDS.items()},
    "description": "Facility Name",
    "fixed": "Coupon Type",
    "moodys": "Moody's Rating",
    "moodys_cfr": "Moody's CFR",
    "moodys_dp": "Moody's DP Rating - WARF",
    "moodys_facility": "Moody's Facility Rating",
    "sp": "S&P Rating",
    "sp_issuer": "S&P Issuer Rating",
    "sp_facility": "S&P Facility Rating",
    "fitch": "Fitch Rating",
    "recovery_moodys": "Moody's Recovery Rate",
    "recovery_sp": "S&P Recovery Rate",
    "recovery_fitch": "Fitch Recovery Rate",
    "industry_moodys": "Moody's Industry",
    "industry_sp": "S&P Industry",
    "industry_fitch": "Fitch Industry",
}
"""Item -> a heading that says nothing else."""


APART = ("base_level", "par_settled")
"""Columns that this test leaves out: which of two amounts is par is a question of its own."""


def plain(page: Page, column: Column) -> str:
    """Return a plain heading; that of par says which par, where there are two."""
    if column.item == "par" and page.column("par_native"):
        return "Par Amount (Deal Currency)"
    return PLAIN.get(column.item, column.heading)


@pytest.mark.parametrize("style", ["us_bank", "virtus", "wso", "euro"])
def test_what_a_report_says_is_what_plain_headings_say(style: str) -> None:
    """The truth of the score is right.

    Under plain headings on one sheet all is read, and every figure agrees.
    """
    score = Score()
    for seed in range(4):
        report = report_of(seed, style)
        for page in report.pages:
            page.columns = [column for column in page.columns if column.item not in APART]
            for column in page.columns:
                column.group, column.heading = "", plain(page, column)
            page.head_lines = 1
        merge_pages(Random(seed), report)
        score_report(score, report, read_report(report))
    assert not score.misses, summary(score)
    assert not score.figures["wrong"], summary(score)


def test_a_seed_makes_one_report() -> None:
    for seed in range(8):
        assert report_of(seed) == report_of(seed)
        assert mutate(report_of(seed), seed) == mutate(report_of(seed), seed)


def test_every_item_and_every_change_comes_up() -> None:
    items, changes = set[str](), set[str]()
    names = {change.__name__ for _, change in CHANGES}
    for seed in range(400):
        items |= set(truth_of(report_of(seed)).items)
        changes |= set(mutate(report_of(seed), seed).changes)
        if items >= set(FIELDS) and changes == names:
            return
    pytest.fail(f"never: {set(FIELDS) - items}, {names - changes}")


def test_every_style_names_its_source() -> None:
    assert len(STYLES) >= 6
    for module in STYLES.values():
        assert "Layout known from" in (module.__doc__ or "")


def test_a_phrase_says_one_item() -> None:
    """Two readers could differ over a phrase that says two.

    Below a group it is the group that tells them apart.
    """
    items = defaultdict(set)
    for item, registers in PHRASES.items():
        for register, phrases in registers.items():
            for phrase in phrases if register != "group" else ():
                items[re.sub("[^a-z0-9+#&%/]", "", phrase.lower())].add(item)
    for sink, phrases in SINKS.items():
        for phrase in phrases:
            items[re.sub("[^a-z0-9+#&%/]", "", phrase.lower())].add(sink)
    names = {"description", "facility"}
    assert {phrase: own for phrase, own in items.items() if len(own) > 1 and own != names} == {}
