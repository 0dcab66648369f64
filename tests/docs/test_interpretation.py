"""The page of the interpretation.

Its figures are those that the reports give today, its choices those of the list.
"""

from __future__ import annotations

import pytest

from core.definition.choices import CHOICES
from core.interpretation.interpret import interpret
from docs.generated.interpretation import MEASURED, Measured, pages
from tests.real_reports.board import NAMES, portfolio

REPORTS = {report.file: report for report in MEASURED}


@pytest.mark.parametrize("name", [name for name in NAMES if name in REPORTS])
def test_what_the_page_says_of_a_report_is_what_it_gives(name: str) -> None:
    interpretation = interpret(portfolio(name), hold_out=True)
    assert interpretation.hold_out is not None
    report = REPORTS[name]
    measured = Measured(
        report.file,
        report.name,
        interpretation.figures,
        interpretation.tied_before,
        interpretation.tied,
        interpretation.hold_out.right,
        interpretation.hold_out.figures,
    )
    assert measured == report, "docs/generated/interpretation.py has other figures"


def test_the_page_has_every_choice_and_every_reading() -> None:
    [text] = pages().values()
    missing = [
        (choice.name, option.name)
        for choice in CHOICES
        for option in choice.options
        if f"`{choice.name}`" not in text or f"`{option.name}`: {option.words}" not in text
    ]
    assert missing == []
