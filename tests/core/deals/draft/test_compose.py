"""Drafts of real files, of generated reports and of hostile facts.

What stands in them, and what stays open.
"""

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
from core.deals.draft import DefinitionDraft, draft
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
def drafted(name: str) -> DefinitionDraft:
    return draft(portfolio(name), name=name)


def checked(actual_draft: DefinitionDraft) -> DefinitionDraft:
    """The draft, whose text is its document and lists all that is open."""
    assert parse_toml(actual_draft.toml) == parse(actual_draft.definition)
    head = actual_draft.toml.partition("\nbase = ")[0]
    flat = " ".join(line.removeprefix("#").strip() for line in head.splitlines())
    for item in actual_draft.decide:
        assert " ".join(item.why.split())[:60] in flat, item
    return actual_draft


# ---- real files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_draft_of_a_real_file_gives_its_figures(name: str) -> None:
    listed = scores(name, parse_toml(checked(drafted(name)).toml))
    needs = {entry["id"]: entry.get("needs", "pages") for entry in printed(name)}
    # A definition of Cairn needs amounts that no page prints.
    counted = [item for item in listed if not needs[item.id].startswith(("absent", "definition"))]
    assert len(counted) >= 15
    wrong = [item for item in counted if item.verdict != "right"]
    assert len(wrong) <= (1 - TIED_LEAST) * len(counted), "\n".join(map(str, wrong))
    assert not [item for item in listed if item.verdict == "silent"]


def numbers(value: Any) -> Iterator[float]:
    """The numbers of a document."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, str) and value.startswith("="):
        yield from map(float, re.findall(r"(?<![\w\"])\d+(?:\.\d+)?", value))


def allowed(whole: Portfolio) -> set[float]:
    """The numbers that a file prints as limits and terms, which one by size its labels say, and those of choices."""
    facts = whole.facts.all
    result = {item.trigger for item in facts} | {item.value for item in facts if item.kind == "figure"}
    result |= {whole.deal.reference_coupon, 1.0}
    for subject in (item.subject for item in facts):
        result |= set() if subject is None else {subject.rank, subject.aggregate}
    for choice in CHOICES:
        result |= {
            number for option in choice.options for setting in option.sets for number in numbers([setting.value])
        }
    return {float(item) for item in result if item is not None}


@pytest.mark.parametrize("name", NAMES)
def test_no_number_is_neither_printed_nor_of_a_named_choice(name: str) -> None:
    result, known = drafted(name), allowed(portfolio(name))
    of_tests = set(numbers(result.definition)) | {item.limit for item in result.decide if item.limit is not None}
    open_lines = [match for line in result.toml.splitlines() if (match := LINE.match(line)) and line.startswith("# ")]
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
    result = drafted("cairn-xvii")
    subjects = {item.subject for item in result.decide}
    assert {"interest_coverage.receivable", "interest_coverage.senior_fees", "ratings.b.masked"} <= subjects
    assert result.definition["base"] == "euro"
    assert "interest_coverage" not in result.definition or "receivable" not in result.definition["interest_coverage"]
    (several,) = [item for item in result.decide if item.subject == "Maximum Obligor Concentration Test"]
    assert (several.limit, several.place) == (20.0, "'Executive Summary'!C40")
    assert '# name = "Maximum Obligor Concentration Test"' in result.toml
    assert "# max = 20.0  # 'Executive Summary'!C40" in result.toml


@pytest.mark.skipif("contego-xi" not in NAMES, reason="the real files are not here")
def test_families_and_classes_of_ratios_of_a_real_file() -> None:
    definition = drafted("contego-xi").definition
    assert [note_class["name"] for note_class in definition["classes"]] == ["A/B", "C", "D", "E"]
    assert [note_class["oc_trigger"] for note_class in definition["classes"]] == [133.08, 124.54, 115.91, 110.63]
    assert definition["reinvestment_oc"] == {"class": "E", "trigger": 111.13}
    assert definition["event_of_default"] == {"class": "A", "trigger": 102.5}
    assert len(definition["classifications"]["families"]) == 2


def test_the_files_are_known() -> None:
    assert set(NAMES) <= set(FILES)


# ---- generated reports ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("manner", REPORTS)
def test_the_limits_of_a_generated_report_come_back(manner: str, tmp_path: Path) -> None:
    report = generate_report(generate(200, 5), manner, 5)
    report.write(path := tmp_path / f"report.{report.extension}")
    whole = Portfolio.from_workbook(read(path))
    body = checked(draft(whole, name=report.name))
    limits = {test["name"]: test.get("min", test.get("max")) for test in body.definition["tests"]}
    assert limits == {item.name: item.trigger for item in report.published}
    assert body.ties.figures == len(report.published)
    triggers = {float(note.oc_trigger) for note in report.notes if note.oc_trigger is not None}
    assert {
        note_class["oc_trigger"] for note_class in body.definition["classes"] if "oc_trigger" in note_class
    } == triggers
    # Under the draft the tie-out sets each printed test beside the drafted one.
    rows = tie_out(whole, parse(body.definition))
    assert {row.test_id for row in rows} == {test["id"] for test in body.definition["tests"]}


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


def of_facts(book: Portfolio, *facts: Fact, **more: Any) -> DefinitionDraft:
    return checked(draft(replace(book, facts=Facts(all=facts)), **more))


def test_a_file_that_prints_no_test_has_its_classes(book: Portfolio) -> None:
    result = of_facts(book, name="Deal")
    ids = [test["id"] for test in result.definition["tests"]]
    assert ids == ["oc_class_ab", "oc_class_c", "oc_class_d", "oc_class_e", "ic_class_ab", "ic_class_c", "ic_class_d",
                   "ic_class_e"]  # fmt: skip
    assert [note_class["name"] for note_class in result.definition["classes"]] == ["A/B", "C", "D", "E"]
    assert (result.ties.figures, result.ties.tied) == (0, 0)
    assert len(run_suite(book, "deal", definition=parse(result.definition))) == len(ids)


def test_a_file_without_loans_and_classes_is_still_a_draft(book: Portfolio) -> None:
    bare = Portfolio(0, {}, {}, {}, {}, facts=Facts(all=(fact("Cov-Lite Loans"), fact("Strange Thing", at=3))))
    body = checked(draft(bare))
    assert [test["id"] for test in body.definition["tests"]] == ["cov_lite_concentration"]
    assert {"name", "conventions.currency", "Strange Thing"} <= {item.subject for item in body.decide}
    nothing = checked(draft(Portfolio(0, {}, {}, {}, {})))
    assert set(nothing.definition) == {"base"}
    assert "tests" in {item.subject for item in nothing.decide}


def test_more_tests_than_a_definition_takes(book: Portfolio) -> None:
    ranks = ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth"]
    many = [fact(f"{rank} Largest Obligor", at=at) for at, rank in enumerate(ranks)]
    many += [fact(f"Class {letter} Par Value Test", 120.0, 101.0, at, direction="min")
             for at, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 20, 50)]  # fmt: skip
    many += [fact(f"Unknown Thing {at}", at=at) for at in range(600, 1_200)]
    result = of_facts(book, *many)
    assert len(result.definition["tests"]) <= TESTS_MAX
    assert sum(item.subject.startswith("Unknown Thing") for item in result.decide) == 600


LONG = "Cov-Lite Loans " + "which are very much so " * 20


@every("label", [LONG, 'Cov-Lite "Loans"\n[[tests]]\nid = "x" \x00\x1b[31m\u202e # ' + "'" * 3, "Cov-Lite Loans \\"])
def test_hostile_labels_stay_texts(book: Portfolio, label: str) -> None:
    result = of_facts(book, fact(label), fact(label.replace("Cov-Lite", "Strange"), at=3), name=label)
    (name,) = [test["name"] for test in result.definition["tests"] if test["id"] == "cov_lite_concentration"]
    assert name.startswith("Cov-Lite")
    assert name.isprintable()
    assert len(name) <= 200
    assert all(line.isprintable() for line in result.toml.splitlines())


def test_one_label_of_two_things_names_neither(book: Portfolio) -> None:
    oc, ic = (replace(fact("Class C", 120.0, limit, at, direction="min"), subject=subject_of(words).subject)
              for at, (words, limit) in enumerate((("Class C Par Value Test", 110.0),
                                                   ("Class C Interest Coverage Test", 105.0))))  # fmt: skip
    result = of_facts(book, oc, ic)
    named = {test["id"]: test for test in result.definition["tests"]}
    assert {test_id: test["min"] for test_id, test in named.items()} == {"oc_class_c": 110.0, "ic_class_c": 105.0}
    assert [test["name"] for test in named.values()] == ["Class C (oc_class_c)", "Class C (ic_class_c)"]
    whole = replace(book, facts=Facts(all=(oc, ic)))
    rows = tie_out(whole, parse(result.definition))
    assert [(row.test_id, row.trigger) for row in rows] == [("oc_class_c", 110.0), ("ic_class_c", 105.0)]


def test_two_limits_of_one_thing_are_both_listed_and_neither_taken(book: Portfolio) -> None:
    result = of_facts(book, fact("Cov-Lite Loans"), fact("Covenant-Lite Loans", trigger=12.0, at=3))
    assert "cov_lite_concentration" not in {test["id"] for test in result.definition.get("tests", ())}
    assert {item.limit for item in result.decide if "printed again" in item.why} == {10.0, 12.0}
    assert "# max = 10.0" in result.toml
    assert "# max = 12.0" in result.toml


@every("more, why", [
    ({"unit": "amount", "trigger": 37_500_000.0}, "another unit"),
    ({"is_guessed": True}, "a guess"),
    ({"direction": None}, "maximum or a minimum"),
])  # fmt: skip
def test_an_uncertain_limit_is_a_comment(book: Portfolio, more: dict[str, Any], why: str) -> None:
    result = of_facts(book, fact("Cov-Lite Loans", **more))
    (test,) = [item for item in result.definition["tests"] if item["id"] == "cov_lite_concentration"]
    assert "max" not in test
    (decision,) = [item for item in result.decide if item.subject == "Cov-Lite Loans" and why in item.why]
    assert decision.limit == more.get("trigger", 10.0)
    assert f"# max = {decision.limit!r}" in result.toml


def test_a_test_whose_terms_are_not_printed_is_a_comment(book: Portfolio) -> None:
    result = of_facts(
        book, fact("S&P Break-Even Default Rate", 67.0, 60.0, direction="min"), fact("Cov-Lite Loans", at=3)
    )
    assert [test["measure"] for test in result.definition["tests"] if "Class" not in test["name"]] == ["cov_lite"]
    (decision,) = [item for item in result.decide if item.limit == 60.0]
    assert "quality.cdo_monitor" in decision.why
    assert '# measure = "bdr"' in result.toml


def test_a_figure_that_does_not_tie_is_listed(book: Portfolio) -> None:
    result = of_facts(book, fact("Cov-Lite Loans", 99.9, 100.0))
    assert (result.ties.figures, result.ties.tied) == (1, 0)
    (decision,) = [item for item in result.decide if item.subject == "Cov-Lite Loans"]
    assert decision.why.startswith("the file prints 99.9, and by this it is ")
    assert ": guessed" in result.toml


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
    body = checked(draft(loans, name="By hand"))
    listed = body.definition.get("corrections", [])
    if day is None:  # it would correct every month
        assert listed == []
        assert f"# amount = {amount}" in body.toml
        assert "corrections" in {item.subject for item in body.decide}
        return
    assert [(item["figure"], item["amount"], str(item["as_of"])) for item in listed] == [
        ("principal_cash", amount, day.isoformat())
    ]
    assert body.ties.tied == body.ties.figures == 4


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
        result = of_facts(random.choice([book, Portfolio(0, {}, {}, {}, {})]), *facts)
        run_suite(book, "deal", definition=parse(result.definition))


RANDOM_DRAFTS = 25


def test_a_draft_is_read_from_a_stream_of_bytes(book: Portfolio) -> None:
    result = of_facts(book, fact("Cov-Lite Loans"), name="Ünïcode")
    assert tomllib.load(BytesIO(result.toml.encode()))["name"] == "Ünïcode"


def _with_cash(*, is_bare: bool = False) -> Fact:
    """A printed share of covenant-lite loans with principal cash in its numerator."""
    lite = by_hand.cov_lite().numerator or 0.0
    return by_hand.share("cov_lite", lite + by_hand.CASH, None, is_bare=is_bare)


def _lite_of(new_draft: DefinitionDraft) -> dict[str, Any]:
    (lite,) = (test for test in new_draft.definition["tests"] if test.get("measure") == "cov_lite")
    return lite


def test_a_share_whose_printed_numerator_has_cash_is_drafted_with_it() -> None:
    new_draft = draft(by_hand.portfolio(_with_cash()))
    assert _lite_of(new_draft)["adds"] == ["cash"]
    assert 'adds = ["cash"]  # the printed numerator has principal cash in it: one amount ties' in new_draft.toml
    assert (new_draft.ties.figures, new_draft.ties.tied) == (1, 1)
    assert "adds" not in _lite_of(draft(by_hand.portfolio(by_hand.cov_lite())))


def test_a_percentage_alone_puts_no_cash_into_a_share() -> None:
    assert "adds" not in _lite_of(draft(by_hand.portfolio(_with_cash(is_bare=True))))
