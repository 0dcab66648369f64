"""How long the search of a reading takes.

Loans beside printed figures that tie by another reading than the market's.

The figures are those of a run under a definition with three other conventions: no principal cash, defaulted loans at
market value, discount obligations at par. The search must find just these before a time counts, the last where there
are any such loans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.compliance.result import TestResult
from core.compliance.run import run_suite
from core.definition import parse
from core.definition.choices import BY_NAME
from core.generate import generate
from core.interpretation.interpret import interpret
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject

LOANS: Final = {300: 1.0, 10_000: 5.0}
"""Loans, and the seconds that are allowed."""

FOUND: Final = {"principal_cash": "none", "defaulted_carried_at": "market_value", "discount_obligations": "par"}

SUBJECTS: Final = {
    "cov_lite_concentration": FactSubject(measure="cov_lite"),
    "foreign_country_concentration": FactSubject(measure="foreign", is_complement=True),
    "fixed_rate_concentration": FactSubject(measure="fixed"),
    "single_obligor_concentration": FactSubject(measure="obligor", rank=1),
    "industry_concentration": FactSubject(measure="industry", rank=1),
    "second_industry_concentration": FactSubject(measure="industry", rank=2),
    "non_senior_secured_concentration": FactSubject(measure="non_senior"),
}


def loans(count: int) -> Portfolio:
    """The loans of a generated deal, with what their trustee would print."""
    deal = generate(count)
    book = Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)
    return replace(book, facts=Facts(all=tuple(printed(book))))


def printed(book: Portfolio) -> Iterator[Fact]:
    """The figures of a run under the other conventions."""
    sections: dict[str, dict[str, object]] = {}
    for choice, option in FOUND.items():
        for setting in BY_NAME[choice].option(option).sets:
            section, name = setting.path
            sections.setdefault(section, {})[name] = setting.document
    rules = parse({"name": "The trustee's", "base": "us_bsl", **sections, "tests": []})
    for result in run_suite(book, "standard", definition=rules):
        if result.test_id in SUBJECTS:
            yield fact(result, SUBJECTS[result.test_id])
    pool_ratio = next(each for each in run_suite(book, "standard", definition=rules) if each.test_id == "oc_ratio")
    assert book.tranches is not None
    tested = [name for name, income in zip(book.tranches.classes, book.tranches.is_income, strict=True) if not income]
    yield fact(pool_ratio, FactSubject(measure="oc", classes=(tested[-1].removeprefix("Class ")[:1],)))


def fact(result: TestResult, subject: FactSubject) -> Fact:
    """A result as a file prints it, its amounts to the cent."""
    assert result.details is not None
    numerator, denominator = (round(result.details.breakdown[name], 2) for name in ("numerator", "denominator"))
    return Fact(
        kind="test", label=result.test_name, subject=subject, value=round(result.current_value, 2), unit="percent",
        decimals=2, numerator=numerator, denominator=denominator, trigger=result.threshold_value,
        place=f"'Tests'!{result.test_id}",
    )  # fmt: skip


def _searched(count: int) -> Prepared:
    book = loans(count)
    interpretation = interpret(book)
    options = {choice.name: choice.reading.option for choice in interpretation.changed}
    assert options in (FOUND, {name: FOUND[name] for name in FOUND if name != "discount_obligations"}), options
    assert interpretation.tied == interpretation.figures, interpretation
    return Prepared(works={OURS: partial(interpret, book)}, note=f"{interpretation.figures} printed amounts and values")


bench_interpretation = asked(
    *(
        Question(name=f"reading that ties, {count:,} loans", prepare=partial(_searched, count), repeats=5,
                 seconds_most=seconds, quick=True)
        for count, seconds in LOANS.items()
    )
)  # fmt: skip
