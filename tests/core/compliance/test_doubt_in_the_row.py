"""Five files as delivered, without a definition.

What is wrong is doubted in its own row, and what ties is not.

The printed figures are those of `figures.json` (two real reports) and of `NAME.json` (three layouts), with where the
product gives each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from core.compliance.result import TestResult as Result
from tests.real_reports.board import CENT, NAMES, OF_ALL, portfolio, printed, rows
from tests.real_reports.places import CONTEGO, where_of

by_file = pytest.mark.parametrize("name", NAMES)


@dataclass(frozen=True)
class Figure:
    """One printed figure beside ours."""

    id: str
    row: Result
    printed: float
    own: float
    is_wrong: bool
    is_tied: bool

    def __str__(self) -> str:
        doubts = ", ".join(doubt.code for doubt in self.row.doubt) or "no doubt"
        return f"{self.row.test_id:34} {self.id:24} {self.own:18.6f} printed {self.printed:18.6f} {doubts}"


@cache
def figures(name: str) -> list[Figure]:
    """Every printed figure for which the product gives one in a row."""
    return list(_compared(name, [entry for entry in printed(name) if entry["id"] not in OF_ALL]))


def _compared(name: str, listed: list[dict[str, Any]]) -> Iterator[Figure]:
    for entry in listed:
        test_id, find = where_of(name, entry["id"])
        row = rows(name).get(test_id)
        own = None if row is None else find(row)
        if row is None or own is None:
            continue
        value, numerator, denominator = own
        is_near = abs(value - entry["value"]) <= entry["tolerance"] + 1e-9
        sums = [(numerator, entry.get("numerator")), (denominator, entry.get("denominator"))]
        is_exact = all(abs(mine - theirs) <= CENT for mine, theirs in sums if mine is not None and theirs is not None)
        yield Figure(entry["id"], row, entry["value"], value, not is_near, is_near and is_exact)


FIGURES_LEAST = {"cairn-xvii": 20, "contego-xi": 20, "us-pages": 30, "wso-extract": 20}
"""Printed figures for which a row gives one at least; where columns of loans are not known, fewer tests run."""


@pytest.mark.parametrize("name", [name for name in FIGURES_LEAST if name in NAMES])
def test_rows_give_printed_figures(name: str) -> None:
    """Else the tests below would hold for want of figures."""
    assert len(figures(name)) >= FIGURES_LEAST[name]
    assert any(figure.is_tied for figure in figures(name))


@by_file
def test_what_is_wrong_is_doubted_in_its_own_row(name: str) -> None:
    silent = [figure for figure in figures(name) if figure.is_wrong and not figure.row.doubt]
    assert not silent, f"{name}: {len(silent)} wrong without a doubt\n" + "\n".join(map(str, silent))


@by_file
def test_what_ties_is_not_said_to_differ(name: str) -> None:
    """Doubts about inputs may stay.

    None says that the trustee has another figure, or that pages disagree.
    """
    tied: dict[str, list[Figure]] = {}
    for figure in figures(name):
        tied.setdefault(figure.row.test_id, []).append(figure)
    false = [
        f"{own[0]}: {doubt.message}"
        for own in tied.values()
        if all(figure.is_tied for figure in own)
        for doubt in own[0].row.doubt
        if doubt.code in ("differs", "conflict")
    ]
    assert not false, f"{name}: {len(false)} doubted though they tie\n" + "\n".join(false)


@by_file
def test_a_status_that_the_file_contradicts_is_doubtful(name: str) -> None:
    """A row of the standard tests beside the trustee's own pass or fail."""
    own_rows = [row for row in rows(name).values() if row.published is not None and row.published.status is not None]
    assert own_rows or name not in FIGURES_LEAST, f"{name}: no row stands beside a published status"
    plain = [
        f"{row.test_id} {row.status} {row.current_value}, published {row.published.status} {row.published.value}"
        for row in own_rows
        if row.published is not None and (row.status == "fail") != (row.published.status == "fail") and not row.doubtful
    ]
    assert not plain, f"{name}:\n" + "\n".join(plain)


REAL_CASH = {"cairn-xvii": -5_747_614.46, "contego-xi": -4_484_604.59}


@pytest.mark.parametrize("name", [name for name in REAL_CASH if name in NAMES])
def test_cash_of_a_real_report_is_right_to_the_cent(name: str) -> None:
    assert portfolio(name).deal.principal_cash == REAL_CASH[name]


@pytest.mark.parametrize("name", [name for name in ("contego-xi",) if name in NAMES])
def test_coverage_of_all_classes_to_the_printed_digit(name: str) -> None:
    """Contego XI without a definition.

    Numerators and denominators to the cent, ratios to the digit.
    """
    words = {entry["id"]: entry for entry in printed(name)}
    for figure, (test_id, find) in CONTEGO.items():
        if not figure.startswith("oc_") and figure != "reinvestment_oc":
            continue
        own = find(rows(name)[test_id])
        assert own is not None, figure
        assert own[0] == pytest.approx(words[figure]["value"], abs=words[figure]["tolerance"]), figure
        for mine, theirs in zip(own[1:], (words[figure]["numerator"], words[figure]["denominator"]), strict=True):
            if theirs is not None:
                assert mine == pytest.approx(theirs, abs=CENT), figure
