"""Every figure that five files print, beside the test of ours that it is, as a person paired them line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.compliance.conventions import definition_for
from core.compliance.deal_suite import tests_of, with_coverage
from core.compliance.matching import Pairs, pair
from core.compliance.measuring import pools_of
from core.compliance.run import run_suite
from core.compliance.suites import SUITES
from core.deals.tie_out import tie_out
from core.definition import READY, parse
from core.definition.names import SubjectMeaning, meaning_of_fact
from core.files.read import read
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact

DATA = Path(__file__).parents[4] / "shared" / "data"
FILES = {
    "contego-xi": "contego-xi/report-2024-09-30.xlsx", "cairn-xvii": "cairn-xvii/report-2024-12-16.xlsx",
    "us-pages": "layouts/us-pages.xlsx", "euro-csv": "layouts/euro-csv.zip", "wso-extract": "layouts/wso-extract.zip",
}  # fmt: skip
MARKETS = {
    "contego-xi": "euro",
    "cairn-xvii": "euro",
    "us-pages": "us_bsl",
    "euro-csv": "euro",
    "wso-extract": "us_bsl",
}
PAIRS: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_name("published_pairs.json").read_text("utf-8"))
"""By file the printed figures: the test of the suite `enhanced`, that of the market's definition, what measures it, or
why nothing does."""

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real reports are not here")


@pytest.fixture(scope="module", params=list(FILES))
def file(request: pytest.FixtureRequest) -> tuple[str, Portfolio, list[dict[str, Any]]]:
    name = str(request.param)
    return name, Portfolio.from_workbook(read(DATA / FILES[name])), PAIRS[name]


def by_place(portfolio: Portfolio) -> dict[str, Fact]:
    """The figures by every place at which they are printed."""
    return {place: fact for fact in portfolio.facts.figures for place in (fact.place, *fact.also)}


def spelt(fact: Fact) -> str | None:
    """What measures a figure: "industry classification=b nth=2"; None: nothing."""
    meaning = meaning_of_fact(fact)
    if not isinstance(meaning, SubjectMeaning):
        return None
    what = next(meaning.test[name] for name in ("measure", "share", "value") if name in meaning.test)
    more = sorted(
        f"{name}={value}" for name, value in meaning.test.items() if name not in ("measure", "share", "value")
    )
    return " ".join([what, *more])


def test_masks_withhold_what_no_rating_table_says(file: tuple[str, Portfolio, list[dict[str, Any]]]) -> None:
    """Contego's tables say how much its masked ratings hide of CCC, and that of S&P fits the rows; Cairn has none, and
    its buckets are open."""
    name, portfolio, _ = file
    deal = portfolio.deal
    has_masks = name in ("contego-xi", "cairn-xvii")
    known = {agency: getattr(deal, f"masked_ccc_{agency}") is not None for agency in "bc"}
    assert known == dict.fromkeys("bc", name == "contego-xi")
    tests = [{"id": f"ccc_share_{agency}", "name": "CCC", "measure": "ccc", "agency": agency, "max": 100.0}
             for agency in "bc"]  # fmt: skip
    tests.append({"id": "factor", "name": "Factor", "measure": "warf", "agency": "b", "max": 1e6})
    ratings = {agency: {"masked": "bounds"} for agency in "abc"}
    ran = run_suite(portfolio, "deal", definition=parse({"base": "euro", "ratings": ratings, "tests": tests}))
    ranges = {item.test_id: isinstance(item.low, float) for item in ran}
    if has_masks:
        assert ranges == {"ccc_share_b": not known["b"], "ccc_share_c": not known["c"], "factor": name != "contego-xi"}
    if name == "contego-xi":
        assert {item.test_id: item.published and item.published.agrees for item in ran} == dict.fromkeys(ranges, True)


def test_each_figure_is_measured_as_its_words_say(file: tuple[str, Portfolio, list[dict[str, Any]]]) -> None:
    _, portfolio, expected = file
    facts = by_place(portfolio)
    missing = [row["place"] for row in expected if row["place"] not in facts]
    assert missing == []
    wrong = [
        (row["place"], row["label"], row["measured"], result)
        for row in expected if (result := spelt(facts[row["place"]])) != row["measured"]
    ]  # fmt: skip
    assert wrong == []


def test_each_figure_stands_beside_its_test_and_no_other(file: tuple[str, Portfolio, list[dict[str, Any]]]) -> None:
    name, portfolio, expected = file
    market = READY[MARKETS[name]]
    rules = definition_for(portfolio, None)
    suite, own = pools_of(portfolio, rules), pools_of(portfolio, market)
    if not suite:
        assert "par_value" not in portfolio.numbers  # without par nothing is measured
        return
    with_classes, _ = with_coverage(market, own[0])
    tests = {} if rules is None else {test.id: test for test in rules.tests}
    result = {
        "enhanced": pair(SUITES["enhanced"].tests, tests, suite[0]),
        "market": pair(tests_of(with_classes), {test.id: test for test in with_classes.tests}, own[0]),
    }
    for column, pairs in result.items():
        assert matched(pairs, portfolio) == {row["place"]: row[column] for row in expected if row[column]}, column
        assert {fact.place for fact in portfolio.facts.figures} == {
            *(match.published.place for match in pairs.matches), *(item.published.place for item in pairs.listed)
        }  # fmt: skip
        ids = [match.test.test_id for match in pairs.matches if match.test.test_id != "ccc_bucket_pct"]
        assert len(ids) == len(set(ids))


def matched(pairs: Pairs, portfolio: Portfolio) -> dict[str, str]:
    """The tests of the matched figures, each under the place at which a person paired it."""
    known = {row["place"] for rows in PAIRS.values() for row in rows}
    result = {}
    for match in pairs.matches:
        places = (match.published.place, *match.published.also)
        result[next((place for place in places if place in known), places[0])] = match.test.test_id
    return result


def test_the_tie_out_measures_what_it_can_and_says_why_not(file: tuple[str, Portfolio, list[dict[str, Any]]]) -> None:
    _, portfolio, expected = file
    rows = {row.cell: row for row in tie_out(portfolio)}
    facts, is_by_market = by_place(portfolio), definition_for(portfolio, None) is not None
    for row in expected:
        answer = rows[facts[row["place"]].place]
        assert (answer.measured_as is None) == (row["measured"] is None), row
        assert row["why_not"] is None or row["why_not"] in str(answer.why_not), (row, answer.why_not)
        assert (answer.why_not is None) == (answer.test_id is not None)
        assert not is_by_market or row["market"] in (None, answer.test_id), row
    named = [row.test_id for row in rows.values() if row.test_id is not None]
    assert len(named) == len(set(named))
