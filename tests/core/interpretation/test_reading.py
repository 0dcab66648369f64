"""Loans read by a known interpretation.

As the search itself reads them, whoever sends or keeps the record.
"""

from __future__ import annotations

import msgspec

from core.compliance.run import run_suite
from core.definition import parse
from core.interpretation.interpret import interpret, interpreted
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.model.interpretation import Interpretation
from tests import printed_by_hand as by_hand
from tests.rows import every

STATED = parse({"par_value": {"discount": True}, "tests": []}, own_fields=None)


def file_of(**words: float) -> Portfolio:
    """A deal whose file prints its OC ratios under a convention."""
    facts = [*by_hand.coverage("oc", by_hand.adjusted(**words), is_bare=False), by_hand.cov_lite()]
    return by_hand.portfolio(*facts)


@every("definition", [None, STATED])
@every("phrase", [{}, {"discount": 0.0}, {"carried": by_hand.carried("market_value")}])
def test_a_record_reads_as_the_search_does(definition: object, phrase: dict[str, float]) -> None:
    """Also after it was written as JSON."""
    portfolio = file_of(**phrase)
    rules = STATED if definition is not None else None
    searched = interpreted(portfolio, rules)
    record = msgspec.json.decode(msgspec.json.encode(searched.interpretation), type=Interpretation)
    read = read_by(portfolio, record, rules)
    assert (read.deal, read.notes, read.interpretation) == (searched.deal, searched.notes, searched.interpretation)
    assert read.names["obligor"].codes.tolist() == searched.names["obligor"].codes.tolist()
    before, after = (run_suite(item, "enhanced", definition=rules) for item in (searched, read))
    assert msgspec.json.encode(list(before)) == msgspec.json.encode(list(after))
    assert after.interpretation == record
    assert read.notes.warnings[: len(portfolio.notes.warnings)] == portfolio.notes.warnings


def test_a_market_that_is_named_gives_way_to_the_files_figures() -> None:
    portfolio = file_of(discount=0.0)
    market = parse({"base": "us_bsl", "standard": True}, own_fields=None)
    result = interpret(portfolio, market)
    assert {choice.state for choice in result.choices} & {"taken", "proposed"}
    read = read_by(portfolio, result, market)
    published = run_suite(read, "standard", definition=market)["oc_ratio"].published
    assert published is not None
    assert published.agrees


def test_what_a_later_version_does_not_know_changes_nothing() -> None:
    """A record may be of an earlier version, whose list of choices was another."""
    portfolio = file_of(discount=0.0)
    result = interpret(portfolio)
    strange = [
        msgspec.structs.replace(
            choice, name=name, reading=msgspec.structs.replace(choice.reading, option="x", words="x")
        )
        for choice in result.choices
        for name in (choice.name, "x")
    ]
    read = read_by(portfolio, msgspec.structs.replace(result, choices=strange))
    assert read.deal == portfolio.deal
    figures = [[item.current_value for item in run_suite(each, "enhanced")] for each in (portfolio, read)]
    assert figures[0] == figures[1]
