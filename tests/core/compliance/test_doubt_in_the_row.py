"""Five files as delivered, without a definition: what is wrong is doubted in its own row, and what ties is not.

The printed figures are those of `figures.json` (two real reports) and of `NAME.json` (three layouts), with where the
product gives each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.compliance.result import TestResult as Result
from core.compliance.run import run_suite
from core.definition import READY
from core.files.read import read
from core.portfolio import Portfolio

DATA = Path(__file__).parents[3] / "../shared/data"
CENT = 0.005 + 1e-9

FILES = {
    "cairn-xvii": ("cairn-xvii/report-2024-12-16.xlsx", "cairn-xvii/figures.json", "euro"),
    "contego-xi": ("contego-xi/report-2024-09-30.xlsx", "contego-xi/figures.json", "euro"),
    "us-pages": ("layouts/us-pages.xlsx", "layouts/us-pages.json", "us_bsl"),
    "euro-csv": ("layouts/euro-csv.zip", "layouts/euro-csv.json", "euro"),
    "wso-extract": ("layouts/wso-extract.zip", "layouts/wso-extract.json", "us_bsl"),
}
"""File, its figures, and the ready-made definition of its market."""

NAMES = [name for name, (file, _, _) in FILES.items() if (DATA / file).exists()]
by_file = pytest.mark.parametrize("name", NAMES)

Own = tuple[float, float | None, float | None]
"""A figure with its numerator and denominator."""
Where = tuple[str, Callable[[Result], Own | None]]
"""The test that gives a figure, and the figure in it."""


def breakdown(result: Result) -> dict[str, Any]:
    return {} if result.details is None else dict(result.details.breakdown)


def whole(result: Result) -> Own | None:
    parts = breakdown(result)
    if result.current_value is None:
        return None
    return result.current_value, parts.get("numerator"), parts.get("denominator")


def part(*keys: str) -> Callable[[Result], Own | None]:
    """A figure of the breakdown."""

    def find(result: Result) -> Own | None:
        found: Any = breakdown(result)
        for key in keys:
            found = None if found is None else found.get(key)
        return None if found is None else (float(found), None, None)

    return find


def nth(things: str, rank: int) -> Callable[[Result], Own | None]:
    """The share of the nth of the obligors or industries."""

    def find(result: Result) -> Own | None:
        found = breakdown(result).get(things, [])
        if len(found) < rank:
            return None
        return found[rank - 1]["share_pct"], found[rank - 1]["par"], breakdown(result)["denominator"]

    return find


def of_class(letter: str, key: str = "ratio") -> Callable[[Result], Own | None]:
    """The ratio or the trigger of a class, whose name ends with its letter: Class A Notes/Class B-1 Notes."""

    def find(result: Result) -> Own | None:
        for entry in breakdown(result).get("classes", []):
            letters = re.findall(r"\b([A-F])(?:-\d)?\b", entry["class"])
            if letters and letters[-1] == letter and entry.get(key) is not None:
                is_ratio = key == "ratio"
                return entry[key], entry["numerator"] if is_ratio else None, entry["denominator"] if is_ratio else None
        return None

    return find


def limit(result: Result) -> Own | None:
    return None if result.threshold_value is None else (result.threshold_value, None, None)


def agency(letter: str) -> Callable[[Result], Own | None]:
    return part("agencies", f"rating_agency_{letter}")


def _classes(ids: dict[str, str]) -> dict[str, Where]:
    return {
        name: ("oc_ratio" if name.startswith("oc") else "ic_ratio", of_class(letter)) for name, letter in ids.items()
    }


CONTEGO: dict[str, Where] = {
    "collateral_principal_amount": ("industry_concentration", part("denominator")),
    "largest_obligor": ("single_obligor_concentration", whole),
    "fourth_obligor": ("single_obligor_concentration", nth("obligors", 4)),
    "top_10_obligors": ("top_5_concentration", part("top_10_pct")),
    "largest_s_p_industry": ("industry_concentration", whole),
    "2nd_s_p_industry": ("second_industry_concentration", whole),
    "3rd_s_p_industry": ("industry_concentration", nth("industries", 3)),
    "unsecured_2nd_lien_mezz_hy": ("non_senior_secured_concentration", whole),
    "cov_lite": ("cov_lite_concentration", whole),
    "fixed_rate": ("fixed_rate_concentration", whole),
    "s_p_ccc": ("ccc_bucket_pct", agency("b")),
    "fitch_ccc": ("ccc_bucket_pct", agency("c")),
    "defaulted": ("delinquency_pct", whole),
    "s_p_warf": ("average_rating_factor", whole),
    "s_p_warr": ("weighted_average_recovery_rate", whole),
    "wal_test": ("wal", whole),
    "was_test": ("was", whole),
    "moody_s_diversity": ("diversity_score", whole),
    "wa_price_mv_par": ("weighted_average_price", whole),
    "reinvestment_oc": ("interest_diversion_ratio", whole),
    **_classes({
        "oc_a_b": "B", "oc_c": "C", "oc_d": "D", "oc_e": "E", "ic_a_b": "B", "ic_c": "C", "ic_d": "D", "ic_e": "E",
    }),
    **{
        f"{kind}_trigger_{name}": (f"{kind}_ratio", of_class(letter, "trigger"))
        for kind in ("oc", "ic")
        for name, letter in (("a_b", "B"), ("c", "C"), ("d", "D"), ("e", "E"))
    },
}  # fmt: skip

CAIRN: dict[str, Where] = {
    "reinvestment_oc": ("interest_diversion_ratio", whole),
    "single_obligor_concentration": ("single_obligor_concentration", whole),
    "sp_industry_largest": ("industry_concentration", whole),
    "sp_industry_second": ("second_industry_concentration", whole),
    "sp_industry_third": ("industry_concentration", nth("industries", 3)),
    "fitch_industry_largest": ("fitch_industry_concentration", whole),
    "fitch_industry_second": ("second_fitch_industry_concentration", whole),
    "cov_lite_concentration": ("cov_lite_concentration", whole),
    "fixed_rate_concentration": ("fixed_rate_concentration", whole),
    "unsecured_and_junior": ("non_senior_secured_concentration", whole),
    "sp_ccc_concentration": ("ccc_bucket_pct", agency("b")),
    "fitch_ccc_concentration": ("ccc_bucket_pct", agency("c")),
    "was": ("was", whole),
    "wal": ("wal", whole),
    **_classes({
        "oc_ab": "B", "oc_c_class": "C", "oc_d_class": "D", "oc_e_class": "E", "oc_f_class": "F", "ic_ab": "B",
        "ic_c_class": "C", "ic_d_class": "D",
    }),
}  # fmt: skip

LAYOUTS: dict[str, Where] = {
    "par_total": ("delinquency_pct", part("denominator")),
    "defaulted": ("delinquency_pct", part("defaulted_par")),
    "denominator": ("cov_lite_concentration", part("denominator")),
    "cash": ("oc_ratio", part("adjustments", "principal_cash")),
    "adjusted": ("oc_ratio", part("adjustments", "adjusted")),
    "warf": ("average_rating_factor", whole),
    "warr": ("weighted_average_recovery_rate", whole),
    "was": ("was", whole),
    "wac": ("was", part("weighted_average_coupon_pct")),
    "wal": ("wal", whole),
    "diversity": ("diversity_score", whole),
    "fwarf": ("fitch_rating_factor", whole),
    "fwarr": ("fitch_recovery_rate", whole),
    "caa": ("ccc_bucket_pct", agency("a")),
    "ccc": ("ccc_bucket_pct", agency("b")),
    "fccc": ("ccc_bucket_pct", agency("c")),
    "industry1": ("industry_concentration", whole),
    "industry2": ("second_industry_concentration", whole),
    "industry3": ("industry_concentration", nth("industries", 3)),
    "obligor1": ("single_obligor_concentration", whole),
    "top5": ("top_5_concentration", whole),
    "top10": ("top_5_concentration", part("top_10_pct")),
    "nonsenior": ("non_senior_secured_concentration", whole),
    "covlite": ("cov_lite_concentration", whole),
    "fixed": ("fixed_rate_concentration", whole),
    "foreign": ("foreign_country_concentration", whole),
    "dip": ("dip_concentration", whole),
    "current_pay": ("current_pay_concentration", whole),
    "discount": ("discount_concentration", whole),
    "lim_warf": ("average_rating_factor", limit),
    "lim_fwarf": ("fitch_rating_factor", limit),
    "lim_wal": ("wal", limit),
    "lim_covlite": ("cov_lite_concentration", limit),
}

NO_ROW = {"holdings", "as_of"}
"""Figures that stand in no row of a result."""


def where_of(name: str, figure: str) -> Where:
    """The row that gives a figure."""
    if name in ("contego-xi", "cairn-xvii"):
        return (CONTEGO if name == "contego-xi" else CAIRN)[figure]
    if match := re.fullmatch(r"(lim_)?(oc|ic)_(?:\w/)?(\w)", figure):
        return f"{match[2]}_ratio", of_class(match[3], "trigger" if match[1] else "ratio")
    return LAYOUTS[figure]


@cache
def portfolio(name: str) -> Portfolio:
    return Portfolio.from_workbook(read(DATA / FILES[name][0]))


@cache
def rows(name: str) -> dict[str, Result]:
    """The results of the standard tests, and those that only the ready-made definition of the market has."""
    standard = {result.test_id: result for result in run_suite(portfolio(name), "enhanced")}
    market = run_suite(portfolio(name), "deal", definition=READY[FILES[name][2]])
    return {result.test_id: result for result in market} | standard


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
    printed = json.loads((DATA / FILES[name][1]).read_text("utf-8"))
    printed = printed["figures"] if isinstance(printed, dict) else printed
    return list(_compared(name, [entry for entry in printed if entry["id"] not in NO_ROW]))


def _compared(name: str, printed: list[dict[str, Any]]) -> Iterator[Figure]:
    for entry in printed:
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
    """Doubts about inputs may stay; none says that the trustee has another figure, or that pages disagree."""
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
    held = [row for row in rows(name).values() if row.published is not None and row.published.status is not None]
    assert held or name not in FIGURES_LEAST, f"{name}: no row stands beside a published status"
    plain = [
        f"{row.test_id} {row.status} {row.current_value}, published {row.published.status} {row.published.value}"
        for row in held
        if row.published is not None and (row.status == "fail") != (row.published.status == "fail") and not row.doubtful
    ]
    assert not plain, f"{name}:\n" + "\n".join(plain)


REAL_CASH = {"cairn-xvii": -5_747_614.46, "contego-xi": -4_484_604.59}


@pytest.mark.parametrize("name", [name for name in REAL_CASH if name in NAMES])
def test_cash_of_a_real_report_is_right_to_the_cent(name: str) -> None:
    assert portfolio(name).deal.principal_cash == REAL_CASH[name]


@pytest.mark.parametrize("name", [name for name in ("contego-xi",) if name in NAMES])
def test_coverage_of_all_classes_to_the_printed_digit(name: str) -> None:
    """Contego XI without a definition: numerators and denominators to the cent, ratios to the digit."""
    printed = {entry["id"]: entry for entry in json.loads((DATA / FILES[name][1]).read_text("utf-8"))}
    for figure, (test_id, find) in CONTEGO.items():
        if not figure.startswith("oc_") and figure != "reinvestment_oc":
            continue
        own = find(rows(name)[test_id])
        assert own is not None, figure
        assert own[0] == pytest.approx(printed[figure]["value"], abs=printed[figure]["tolerance"]), figure
        for mine, theirs in zip(own[1:], (printed[figure]["numerator"], printed[figure]["denominator"]), strict=True):
            if theirs is not None:
                assert mine == pytest.approx(theirs, abs=CENT), figure
