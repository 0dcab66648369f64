"""Read each file as delivered and set its printed figures beside ours.

Right, wrong, doubtful, not computed.

Without a definition, under the deal's own, or under any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal

from core.compliance.result import Results
from core.compliance.result import TestResult as Result
from core.compliance.run import run_suite
from core.definition import READY, Definition, parse_toml
from core.files.read import read
from core.portfolio import Portfolio
from core.values import day_of
from tests.real_reports.places import tests_of, where_of, whole

DATA = Path(__file__).parents[2] / "../shared/data"
CENT = 0.005 + 1e-9

FILES = {
    "cairn-xvii": ("cairn-xvii/report-2024-12-16.xlsx", "cairn-xvii/figures.json", "euro"),
    "contego-xi": ("contego-xi/report-2024-09-30.xlsx", "contego-xi/figures.json", "euro"),
    "us-pages": ("layouts/us-pages.xlsx", "layouts/us-pages.json", "us_bsl"),
    "euro-csv": ("layouts/euro-csv.zip", "layouts/euro-csv.json", "euro"),
    "wso-extract": ("layouts/wso-extract.zip", "layouts/wso-extract.json", "us_bsl"),
}
"""File, its figures, and the ready-made definition of its market."""

EXAMPLES = Path(__file__).parents[2] / "core/definition/examples"

DEFINITIONS = {
    "cairn-xvii": EXAMPLES / "cairn_xvii.toml",
    "contego-xi": EXAMPLES / "contego_xi.toml",
    **{name: DATA / f"layouts/{name}.toml" for name in ("us-pages", "euro-csv", "wso-extract")},
}
"""Each file's own definition."""

NAMES = [name for name, (file, _, _) in FILES.items() if (DATA / file).exists()]

Verdict = Literal["right", "silent", "doubtful", "absent"]
"""As printed; not as printed, without and with a doubt in the row; no figure of ours."""


@dataclass(frozen=True)
class Score:
    """One printed figure beside ours."""

    id: str
    verdict: Verdict
    printed: float | str
    own: float | str | None = None
    doubts: tuple[str, ...] = ()
    place: str = ""

    def __str__(self) -> str:
        reasons = ", ".join(self.doubts) or "-"
        return (
            f"  {self.verdict:9} {self.id:34} ours {_text(self.own):>20} printed {_text(self.printed):>20}  {reasons}"
        )


def _text(value: float | str | None) -> str:
    return f"{value:,.4f}" if isinstance(value, float) else "none" if value is None else str(value)


@cache
def portfolio(name: str) -> Portfolio:
    """Return the portfolio of a file of `FILES`."""
    return Portfolio.from_workbook(read(DATA / FILES[name][0]))


@cache
def own_definition(name: str) -> Definition:
    """Return the definition of a file's own deal."""
    return parse_toml(DEFINITIONS[name].read_text("utf-8"))


@cache
def deal_run(name: str, definition: Definition) -> Results:
    """Return the run of a definition's own tests."""
    return run_suite(portfolio(name), "deal", definition=definition)


@cache
def suite_rows(name: str, definition: Definition | None) -> dict[str, Result]:
    """Return the results of the standard tests."""
    return {result.test_id: result for result in run_suite(portfolio(name), "enhanced", definition=definition)}


@cache
def rows(name: str, definition: Definition | None = None) -> dict[str, Result]:
    """The results of the standard tests, and those of the definition.

    Without one, those that only the ready-made definition of the market has.
    """
    standard = suite_rows(name, definition)
    own = {result.test_id: result for result in deal_run(name, definition or READY[FILES[name][2]])}
    return own | standard if definition is None else standard | own


@cache
def printed(name: str) -> list[dict[str, Any]]:
    """What a file prints.

    `id`, `value`, `tolerance`, and `numerator` and `denominator` where they are printed.
    """
    document = json.loads((DATA / FILES[name][1]).read_text("utf-8"))
    return document["figures"] if isinstance(document, dict) else document


@cache
def scores(name: str, definition: Definition | None = None) -> list[Score]:
    """Return all printed figures of a file beside ours."""
    return list(_scores(name, definition))


def _scores(name: str, definition: Definition | None) -> Iterator[Score]:
    of_deal = {} if definition is None else tests_of(name, definition)
    for entry in printed(name):
        if entry["id"] in OF_ALL:
            yield _of_all(name, entry)
            continue
        test_id, find = of_deal.get(entry["id"]) or where_of(name, entry["id"])
        row = rows(name, definition).get(test_id)
        if row is not None and find(row) is None:  # the suites' row tells more of the largest than a definition's
            row = suite_rows(name, definition).get(test_id)
        own = None if row is None else find(row)
        if row is None and find is whole and test_id in figures_of(name, definition):
            yield _without_limit(name, entry, test_id, definition)
            continue
        if row is None or own is None:
            yield Score(entry["id"], "absent", entry["value"], place=test_id)
            continue
        is_right = abs(own[0] - entry["value"]) <= entry["tolerance"] + 1e-9
        doubts = tuple(doubt.code for doubt in row.doubt)
        verdict: Verdict = "right" if is_right else "doubtful" if doubts else "silent"
        yield Score(entry["id"], verdict, entry["value"], own[0], doubts, test_id)


def figures_of(name: str, definition: Definition | None) -> dict[str, float]:
    """Return the figures of a definition's tests, those without a limit among them."""
    return {} if definition is None else dict(deal_run(name, definition).figures or {})


def _without_limit(name: str, entry: dict[str, Any], test_id: str, definition: Definition | None) -> Score:
    """Return a figure for other tests; what is doubted is told by the run alone."""
    own = figures_of(name, definition)[test_id]
    is_right = abs(own - entry["value"]) <= entry["tolerance"] + 1e-9
    assert definition is not None
    codes = tuple(warning.code for warning in deal_run(name, definition).warnings)
    return Score(entry["id"], "right" if is_right else "doubtful" if codes else "silent", entry["value"], own, codes)


OF_ALL = ("holdings", "as_of")
"""Figures that stand in no row of a result."""


def _of_all(name: str, entry: dict[str, Any]) -> Score:
    loans = portfolio(name)
    if entry["id"] == "as_of":
        own: Any = None if loans.deal.as_of is None else day_of(loans.deal.as_of)
        own = own.isoformat() if isinstance(own, date) else own
        is_right, codes = str(own) == entry["value"], ("as_of_stands_in", "as_of_differs")
    else:
        own, is_right, codes = loans.row_count, loans.row_count == entry["value"], ()
    doubts = tuple(warning.code for warning in loans.notes.warnings if not codes or warning.code in codes)
    verdict: Verdict = "right" if is_right else "absent" if not own else "doubtful" if doubts else "silent"
    return Score(entry["id"], verdict, entry["value"], own, doubts)
