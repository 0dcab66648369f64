"""Real files as delivered, under their deals' definitions, under ones that say little, and under those of other deals.

What comes out right without a definition does so under one that says nothing of it; what is wrong is doubted.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

import pytest

from core.definition import READY, Definition, parse
from core.portfolio import Portfolio
from core.scenario.simulate import Simulator
from core.scenario.trades import Trade
from tests.real_reports.board import (
    DEFINITIONS,
    FILES,
    NAMES,
    Score,
    deal_run,
    own_definition,
    portfolio,
    printed,
    rows,
    scores,
)

OPEN = {
    # Masked ratings that no table gives; the test's own life.
    "cairn-xvii": {"fitch_ccc_concentration", "wal"},
    # Masked recovery rates; no page of Moody's.
    "contego-xi": {"s_p_warr", "moody_s_diversity"},
}
"""File -> figures that neither its pages nor its deal's rules lead to."""

EXAMPLES = [name for name in NAMES if "examples" in DEFINITIONS[name].parts]

by_file = pytest.mark.parametrize("name", NAMES)


def score_lines(listed: Iterable[Score]) -> str:
    return "\n".join(map(str, listed))


@by_file
def test_printed_figures_come_out_under_the_definition_of_the_deal(name: str) -> None:
    listed = scores(name, own_definition(name))
    assert len(listed) == len(printed(name))
    assert {item.id for item in listed if item.verdict != "right"} == OPEN.get(name, set()), score_lines(listed)
    assert not [item for item in listed if item.verdict in ("silent", "absent")], score_lines(listed)


@by_file
def test_what_the_file_holds_a_test_to_is_the_definitions_limit(name: str) -> None:
    """In all rows beside which a limit is printed.

    And nothing says that the deal is another.
    """
    ran = deal_run(name, own_definition(name))
    printed_limits = [row for row in ran if row.published is not None and row.published.trigger is not None]
    assert len(printed_limits) >= 8
    for row in printed_limits:
        assert row.published is not None
        assert row.threshold_value == pytest.approx(row.published.trigger, abs=0.005), row.test_id
    assert not [warning for warning in ran.warnings if warning.code.startswith("definition_")]


def little(name: str) -> dict[str, Definition]:
    """Definitions that say next to nothing."""
    market = FILES[name][2]
    currency = READY[market].conventions.currency
    documents: dict[str, dict[str, Any]] = {
        "empty": {},
        "with a name": {"name": "A deal"},
        "with a base": {"base": market},
        "with a currency": {"conventions": {"currency": currency}},
        "with a test": {"tests": [{"id": "one_test", "name": "One", "measure": "obligor", "max": 3}]},
    }
    return {words: parse(document) for words, document in documents.items()}


@by_file
def test_a_definition_that_says_little_loses_nothing(name: str) -> None:
    plain = {score.id: score for score in scores(name)}
    for words, definition in {**little(name), "of the market": READY[FILES[name][2]]}.items():
        # A definition without tests gives the suites' figures alone.
        known = {row.test_id for row in rows(name, definition).values()}
        worse = [
            score for score in scores(name, definition)
            if score.verdict != "right" and plain[score.id].verdict == "right" and plain[score.id].place in known
        ]  # fmt: skip
        assert not worse, f"{words}:\n{score_lines(worse)}"
        silent = [score for score in scores(name, definition) if score.verdict == "silent"]
        assert not silent, f"{words}:\n{score_lines(silent)}"


NEEDED = {
    ("cairn-xvii", "conventions"): {"was"},
    ("cairn-xvii", "interest_coverage"): {"ic_ab", "ic_c_class", "ic_d_class"},
}
"""(file, section) -> figures that no page leads to without it."""

SECTIONS = ("base", "conventions", "ratings", "classifications", "par_value", "interest_coverage", "classes")


@by_file
@pytest.mark.parametrize("section", SECTIONS)
def test_a_definition_without_one_of_its_sections(name: str, section: str) -> None:
    """What it no longer says is read from the file, or the market's.

    No figure is lost but those that need it.
    """
    document = tomllib.loads(DEFINITIONS[name].read_text("utf-8"))
    less = parse({key: value for key, value in document.items() if key != section})
    wrong = {score.id for score in scores(name, less) if score.verdict != "right"}
    assert wrong == OPEN.get(name, set()) | NEEDED.get((name, section), set())
    assert not [score for score in scores(name, less) if score.verdict == "silent"]


OTHERS = [(name, other_name) for name in NAMES for other_name in NAMES if FILES[name][2] != FILES[other_name][2]]


@pytest.mark.parametrize(("name", "neighbour"), OTHERS)
def test_the_definition_of_another_market_is_doubted(name: str, neighbour: str) -> None:
    """By its currency where the file has one, else by its home, its classes or its limits."""
    ran = deal_run(name, own_definition(neighbour))
    codes = {warning.code for warning in ran.warnings}
    assert codes & {"definition_currency", "definition_classes", "definition_limits", "home_elsewhere"}, codes
    if portfolio(name).deal.currency is not None:  # what the file confirms needs no doubt
        assert all(row.doubt or (row.published is not None and row.published.agrees) for row in ran)


@by_file
def test_nothing_is_wrong_without_a_doubt_under_any_definition(name: str) -> None:
    """Those of other deals, too, and the markets' standards."""
    definitions = {other_name: own_definition(other_name) for other_name in NAMES} | dict(READY)
    silent = [
        f"{second}: {score}"
        for second, definition in definitions.items()
        for score in scores(name, definition)
        if score.verdict == "silent"
    ]
    assert silent == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_no_figure_of_the_month_but_what_no_page_gives(name: str) -> None:
    """Contego XI has none at all.

    Cairn XVII two amounts of its interest coverage page, which its file lacks.
    """
    rules = own_definition(name)
    amounts = {
        key for key in rules.stated
        if key.partition(".")[2] in ("receivable", "senior_fees") or key.startswith(("amounts", "corrections"))
    }  # fmt: skip
    expected = {"interest_coverage.receivable", "interest_coverage.senior_fees"}
    assert amounts == (expected if name == "cairn-xvii" else set())


@by_file
@pytest.mark.parametrize("incremental", [True, False])
def test_a_trade_of_one_unit_moves_no_figure(name: str, incremental: bool) -> None:
    """What the file decided of its loans stays decided when they change.

    No figure jumps.
    """
    loans, definition = portfolio(name), own_definition(name)
    at = int(loans["par_value"].argmax())
    field = next(item for item in ("cusip", "loanx_id", "borrower_name") if _text(loans, item, at))
    loan: dict[str, Any] = {field: _text(loans, field, at)}
    sale = Trade(trade_type="sell", par_value=1.0, price=100.0, **loan)
    simulator = Simulator(loans, "deal", definition=definition, incremental=incremental)
    before = {row.test_id: row.current_value for row in simulator.before}
    after = {row.test_id: row.current_value for row in simulator.run(simulator.holdings.traded([sale]))}
    assert after == pytest.approx(before, rel=1e-5)


def _text(loans: Portfolio, field: str, at: int) -> str:
    names = loans.names.get(field)
    return "" if names is None or names.codes[at] < 0 else names.values[names.codes[at]]
