"""Drafts of real files, of generated reports and of hostile facts: what stands in them, and what stays open."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from core.compliance.run import run_suite
from core.deals.draft import Draft, draft
from core.deals.tie_out import tie_out
from core.definition import parse, parse_toml
from core.definition.choices import CHOICES
from core.definition.definition import TESTS_MAX
from core.files.read import read
from core.generate import generate
from core.generate.reports import REPORTS, generate_report
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts
from core.portfolio.pages.report.subjects import subject_of
from tests import printed_by_hand as by_hand
from tests.real_reports.board import FILES, NAMES, portfolio, printed, scores
from tests.rows import every

TIED_LEAST = 0.8
"""Share of the printed figures that a draft gives."""

LINE = re.compile(r"^(?:# )?(\w+) = (?! #)(.+?)(?:  # (.+))?$")
"""A key of the text, open or not, with its comment."""


@cache
def drafted(name: str) -> Draft:
    return draft(portfolio(name), name=name)


def checked(found: Draft) -> Draft:
    """The draft, whose text is its document and lists all that is open."""
    assert parse_toml(found.toml) == parse(found.definition)
    head = found.toml.partition("\nbase = ")[0]
    flat = " ".join(line.removeprefix("#").strip() for line in head.splitlines())
    for one in found.decide:
        assert " ".join(one.why.split())[:60] in flat, one
    return found


# ---- real files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_draft_of_a_real_file_gives_its_figures(name: str) -> None:
    listed = scores(name, parse_toml(checked(drafted(name)).toml))
    needs = {entry["id"]: entry.get("needs", "pages") for entry in printed(name)}
    # A definition of Cairn needs amounts that no page prints.
    counted = [one for one in listed if not needs[one.id].startswith(("absent", "definition"))]
    assert len(counted) >= 15
    wrong = [one for one in counted if one.verdict != "right"]
    assert len(wrong) <= (1 - TIED_LEAST) * len(counted), "\n".join(map(str, wrong))
    assert not [one for one in listed if one.verdict == "silent"]


def numbers(value: Any) -> Iterator[float]:
    """The numbers of a document."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, str) and value.startswith("="):
        yield from map(float, re.findall(r"(?<![\w\"])\d+(?:\.\d+)?", value))


def allowed(whole: Portfolio) -> set[float]:
    """The numbers that a file prints as limits and terms, which one by size its labels say, and those of choices."""
    facts = whole.facts.all
    found = {one.trigger for one in facts} | {one.value for one in facts if one.kind == "figure"}
    found |= {whole.deal.reference_coupon, 1.0}
    for subject in (one.subject for one in facts):
        found |= set() if subject is None else {subject.rank, subject.aggregate}
    for choice in CHOICES:
        found |= {number for option in choice.options for setting in option.sets for number in numbers([setting.value])}
    return {float(one) for one in found if one is not None}


@pytest.mark.parametrize("name", NAMES)
def test_no_number_is_neither_printed_nor_of_a_named_choice(name: str) -> None:
    found, known = drafted(name), allowed(portfolio(name))
    of_tests = set(numbers(found.definition)) | {one.limit for one in found.decide if one.limit is not None}
    open_lines = [match for line in found.toml.splitlines() if (match := LINE.match(line)) and line.startswith("# ")]
    opened = {number for match in open_lines for number in numbers(tomllib.loads(f"x = {match[2]}"))}
    # A share of 100 is what makes percent of a ratio.
    assert (of_tests | opened) - known - {100.0} == set()
    assert len(of_tests) > 10


@pytest.mark.parametrize("name", NAMES)
def test_each_key_says_where_it_comes_from(name: str) -> None:
    above = ""
    for line in drafted(name).toml.splitlines():
        match = LINE.match(line)
        if match:
            assert match[3] or above.startswith("# "), line
        above = "" if match else line
    assert drafted(name).toml.count(": certain") > 20


@pytest.mark.skipif("cairn-xvii" not in NAMES, reason="the real files are not here")
def test_what_no_page_of_a_real_file_prints_is_open() -> None:
    found = drafted("cairn-xvii")
    subjects = {one.subject for one in found.decide}
    assert {"interest_coverage.receivable", "interest_coverage.senior_fees", "ratings.b.masked"} <= subjects
    assert found.definition["base"] == "euro"
    assert "interest_coverage" not in found.definition or "receivable" not in found.definition["interest_coverage"]
    (several,) = [one for one in found.decide if one.subject == "Maximum Obligor Concentration Test"]
    assert (several.limit, several.place) == (20.0, "'Executive Summary'!C40")
    assert '# name = "Maximum Obligor Concentration Test"' in found.toml
    assert "# max = 20.0  # 'Executive Summary'!C40" in found.toml


@pytest.mark.skipif("contego-xi" not in NAMES, reason="the real files are not here")
def test_families_and_classes_of_ratios_of_a_real_file() -> None:
    found = drafted("contego-xi").definition
    assert [one["name"] for one in found["classes"]] == ["A/B", "C", "D", "E"]
    assert [one["oc_trigger"] for one in found["classes"]] == [133.08, 124.54, 115.91, 110.63]
    assert found["reinvestment_oc"] == {"class": "E", "trigger": 111.13}
    assert found["event_of_default"] == {"class": "A", "trigger": 102.5}
    assert len(found["classifications"]["families"]) == 2


def test_the_files_are_known() -> None:
    assert set(NAMES) <= set(FILES)


# ---- generated reports ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("manner", REPORTS)
def test_the_limits_of_a_generated_report_come_back(manner: str, tmp_path: Path) -> None:
    report = generate_report(generate(200, 5), manner, 5)
    report.write(path := tmp_path / f"report.{report.extension}")
    whole = Portfolio.from_workbook(read(path))
    found = checked(draft(whole, name=report.name))
    limits = {test["name"]: test.get("min", test.get("max")) for test in found.definition["tests"]}
    assert limits == {one.name: one.trigger for one in report.published}
    assert found.ties.figures == len(report.published)
    triggers = {float(note.oc_trigger) for note in report.notes if note.oc_trigger is not None}
    assert {one["oc_trigger"] for one in found.definition["classes"] if "oc_trigger" in one} == triggers
    # Under the draft the tie-out sets each printed test beside the drafted one.
    rows = tie_out(whole, parse(found.definition))
    assert {row.test_id for row in rows} == {test["id"] for test in found.definition["tests"]}


# ---- hostile facts -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book() -> Portfolio:
    deal = generate(200, seed=11)
    return Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)


def fact(label: str, value: float | None = 3.0, trigger: float | None = 10.0, at: int = 2, **more: Any) -> Fact:
    options: dict[str, Any] = {"kind": "test", "direction": "max", "unit": "percent", **more}
    return Fact(
        label=label, subject=subject_of(label).subject, value=value, trigger=trigger, place=f"'Tests'!B{at}", **options
    )


def of_facts(book: Portfolio, *facts: Fact, **more: Any) -> Draft:
    return checked(draft(replace(book, facts=Facts(all=facts)), **more))


def test_a_file_that_prints_no_test_has_its_classes(book: Portfolio) -> None:
    found = of_facts(book, name="Deal")
    ids = [test["id"] for test in found.definition["tests"]]
    assert ids == ["oc_class_ab", "oc_class_c", "oc_class_d", "oc_class_e", "ic_class_ab", "ic_class_c", "ic_class_d",
                   "ic_class_e"]  # fmt: skip
    assert [one["name"] for one in found.definition["classes"]] == ["A/B", "C", "D", "E"]
    assert (found.ties.figures, found.ties.tied) == (0, 0)
    assert len(run_suite(book, "deal", definition=parse(found.definition))) == len(ids)


def test_a_file_without_loans_and_classes_is_still_a_draft(book: Portfolio) -> None:
    bare = Portfolio(0, {}, {}, {}, {}, facts=Facts(all=(fact("Cov-Lite Loans"), fact("Strange Thing", at=3))))
    found = checked(draft(bare))
    assert [test["id"] for test in found.definition["tests"]] == ["cov_lite_concentration"]
    assert {"name", "conventions.currency", "Strange Thing"} <= {one.subject for one in found.decide}
    nothing = checked(draft(Portfolio(0, {}, {}, {}, {})))
    assert set(nothing.definition) == {"base"}
    assert "tests" in {one.subject for one in nothing.decide}


def test_more_tests_than_a_definition_takes(book: Portfolio) -> None:
    ranks = ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth"]
    many = [fact(f"{rank} Largest Obligor", at=at) for at, rank in enumerate(ranks)]
    many += [fact(f"Class {letter} Par Value Test", 120.0, 101.0, at, direction="min")
             for at, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 20, 50)]  # fmt: skip
    many += [fact(f"Unknown Thing {at}", at=at) for at in range(600, 1_200)]
    found = of_facts(book, *many)
    assert len(found.definition["tests"]) <= TESTS_MAX
    assert sum(one.subject.startswith("Unknown Thing") for one in found.decide) == 600


LONG = "Cov-Lite Loans " + "which are very much so " * 20


@every("label", [LONG, 'Cov-Lite "Loans"\n[[tests]]\nid = "x" \x00\x1b[31m\u202e # ' + "'" * 3, "Cov-Lite Loans \\"])
def test_hostile_labels_stay_texts(book: Portfolio, label: str) -> None:
    found = of_facts(book, fact(label), fact(label.replace("Cov-Lite", "Strange"), at=3), name=label)
    (name,) = [test["name"] for test in found.definition["tests"] if test["id"] == "cov_lite_concentration"]
    assert name.startswith("Cov-Lite")
    assert name.isprintable()
    assert len(name) <= 200
    assert all(line.isprintable() for line in found.toml.splitlines())


def test_one_label_of_two_things_names_neither(book: Portfolio) -> None:
    oc, ic = (replace(fact("Class C", 120.0, limit, at, direction="min"), subject=subject_of(words).subject)
              for at, (words, limit) in enumerate((("Class C Par Value Test", 110.0),
                                                   ("Class C Interest Coverage Test", 105.0))))  # fmt: skip
    found = of_facts(book, oc, ic)
    named = {test["id"]: test for test in found.definition["tests"]}
    assert {test_id: test["min"] for test_id, test in named.items()} == {"oc_class_c": 110.0, "ic_class_c": 105.0}
    assert [test["name"] for test in named.values()] == ["Class C (oc_class_c)", "Class C (ic_class_c)"]
    whole = replace(book, facts=Facts(all=(oc, ic)))
    rows = tie_out(whole, parse(found.definition))
    assert [(row.test_id, row.trigger) for row in rows] == [("oc_class_c", 110.0), ("ic_class_c", 105.0)]


def test_two_limits_of_one_thing_are_both_listed_and_neither_taken(book: Portfolio) -> None:
    found = of_facts(book, fact("Cov-Lite Loans"), fact("Covenant-Lite Loans", trigger=12.0, at=3))
    assert "cov_lite_concentration" not in {test["id"] for test in found.definition.get("tests", ())}
    assert {one.limit for one in found.decide if "printed again" in one.why} == {10.0, 12.0}
    assert "# max = 10.0" in found.toml
    assert "# max = 12.0" in found.toml


@every("more, why", [
    ({"unit": "amount", "trigger": 37_500_000.0}, "another unit"),
    ({"is_guessed": True}, "a guess"),
    ({"direction": None}, "maximum or a minimum"),
])  # fmt: skip
def test_an_uncertain_limit_is_a_comment(book: Portfolio, more: dict[str, Any], why: str) -> None:
    found = of_facts(book, fact("Cov-Lite Loans", **more))
    (test,) = [one for one in found.definition["tests"] if one["id"] == "cov_lite_concentration"]
    assert "max" not in test
    (decision,) = [one for one in found.decide if one.subject == "Cov-Lite Loans" and why in one.why]
    assert decision.limit == more.get("trigger", 10.0)
    assert f"# max = {decision.limit!r}" in found.toml


def test_a_test_whose_terms_are_not_printed_is_a_comment(book: Portfolio) -> None:
    found = of_facts(
        book, fact("S&P Break-Even Default Rate", 67.0, 60.0, direction="min"), fact("Cov-Lite Loans", at=3)
    )
    assert [test["measure"] for test in found.definition["tests"] if "Class" not in test["name"]] == ["cov_lite"]
    (decision,) = [one for one in found.decide if one.limit == 60.0]
    assert "quality.cdo_monitor" in decision.why
    assert '# measure = "bdr"' in found.toml


def test_a_figure_that_does_not_tie_is_listed(book: Portfolio) -> None:
    found = of_facts(book, fact("Cov-Lite Loans", 99.9, 100.0))
    assert (found.ties.figures, found.ties.tied) == (1, 0)
    (decision,) = [one for one in found.decide if one.subject == "Cov-Lite Loans"]
    assert decision.why.startswith("the file prints 99.9, and by this it is ")
    assert ": guessed" in found.toml


@pytest.mark.parametrize("day", [date(2025, 6, 10), None])
def test_cash_of_another_balance_is_a_correction_of_its_month(day: date | None) -> None:
    amount = 3_456_789.12
    figures = [
        by_hand.cov_lite(by_hand.performing() + amount), by_hand.account(amount),
        *by_hand.coverage("oc", by_hand.adjusted(cash=amount, ccc=-by_hand.ccc_haircut(by_hand.MOODYS, amount))),
    ]  # fmt: skip
    loans = by_hand.portfolio(*figures)
    days = None if day is None else float((day - date(1970, 1, 1)).days)
    loans = replace(loans, deal=replace(loans.deal, as_of=days, as_of_source="workbook"))
    found = checked(draft(loans, name="By hand"))
    listed = found.definition.get("corrections", [])
    if day is None:  # it would correct every month
        assert listed == []
        assert f"# amount = {amount}" in found.toml
        assert "corrections" in {one.subject for one in found.decide}
        return
    assert [(one["figure"], one["amount"], str(one["as_of"])) for one in listed] == [
        ("principal_cash", amount, day.isoformat())
    ]
    assert found.ties.tied == found.ties.figures == 4


LABELS = (
    "Cov-Lite Loans", "Class C Par Value Test", "Class C Interest Coverage", "Class X Par Value", "Class 1 OC Test",
    "Tranche A-1A/A-1B Interest Coverage", "Class A/B/C/D/E/F/G Par Value Test", "", "(a)", "=1+1", "Top 100 Obligors",
    "Reinvestment Par Value Test", "Event of Default", "S&P CDO Monitor Test", "BDR", "Maximum Obligor Concentration",
    "Fitch Maximum WARF Test", "Weighted Average Rating Factor", "Caa Obligations (Moody's)", "Senior Notes Par Value",
)  # fmt: skip


def test_random_facts_make_a_definition(book: Portfolio) -> None:
    """Whatever a page prints beside a label, the draft is a definition that runs."""
    random = Random(31)
    for _ in range(RANDOM_DRAFTS):
        facts = [
            fact(
                random.choice(LABELS) + random.choice(["", "", "", "\x00", "x" * 300]),
                random.choice([None, 0.0, 3.0, 120.5, -1.0, 1e9]),
                random.choice([None, 0.0, 7.5, 120.0, -3.0, 1e7, 1e20]),
                at,
                kind=random.choice(["test", "test", "figure"]),
                unit=random.choice([None, "percent", "amount", "factor", "years", "count"]),
                direction=random.choice([None, "max", "min"]),
                status=random.choice([None, "pass", "fail"]),
                denominator=random.choice([None, 0.0, 250e6]),
                is_guessed=random.random() < 0.1,
            )
            for at in range(random.choice([1, 5, 30]))
        ]
        found = of_facts(random.choice([book, Portfolio(0, {}, {}, {}, {})]), *facts)
        run_suite(book, "deal", definition=parse(found.definition))


RANDOM_DRAFTS = 25


def test_a_draft_is_read_from_a_stream_of_bytes(book: Portfolio) -> None:
    found = of_facts(book, fact("Cov-Lite Loans"), name="Ünïcode")
    assert tomllib.load(BytesIO(found.toml.encode()))["name"] == "Ünïcode"


def _with_cash(*, is_bare: bool = False) -> Fact:
    """A printed share of covenant-lite loans with principal cash in its numerator."""
    lite = by_hand.cov_lite().numerator or 0.0
    return by_hand.share("cov_lite", lite + by_hand.CASH, None, is_bare=is_bare)


def _lite_of(made: Draft) -> dict[str, Any]:
    (lite,) = (test for test in made.definition["tests"] if test.get("measure") == "cov_lite")
    return lite


def test_a_share_whose_printed_numerator_has_cash_is_drafted_with_it() -> None:
    made = draft(by_hand.portfolio(_with_cash()))
    assert _lite_of(made)["adds"] == ["cash"]
    assert 'adds = ["cash"]  # the printed numerator has principal cash in it: one amount ties' in made.toml
    assert (made.ties.figures, made.ties.tied) == (1, 1)
    assert "adds" not in _lite_of(draft(by_hand.portfolio(by_hand.cov_lite())))


def test_a_percentage_alone_puts_no_cash_into_a_share() -> None:
    assert "adds" not in _lite_of(draft(by_hand.portfolio(_with_cash(is_bare=True))))
