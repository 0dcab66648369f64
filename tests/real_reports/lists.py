"""Files of loans that print no figures.

What their own cells add up to, and which column feeds which field.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.compliance.run import run_suite
from core.files.read import read
from core.portfolio import Portfolio
from tests.real_reports.board import DATA, Score, Verdict

LISTS = {"mag17": "mag17.xlsx", "pflt": "private-credit/pflt.xlsx", "fsk": "private-credit/fsk.csv"}

PRESENT = [name for name, file in LISTS.items() if (DATA / file).exists()]

MAG17 = {
    "average_rating_factor": 2575.698435,
    "single_obligor_concentration": 1.796,
    "top_5_concentration": 8.0235703,
    "industry_concentration": 12.796,
    "second_industry_concentration": 11.923,
    "non_senior_secured_concentration": 2.836,
    "ccc_bucket_pct": 3.236,
    "diversity_score": 59.4399,
    "cov_lite_concentration": 20.466,
    "foreign_country_concentration": 10.925,
    "oc_ratio": 108.131,
    # With the deal's own recovery, average life and spread columns.
    "weighted_average_recovery_rate": 50.137,
    "wal": 5.05,
    "was": 4.024,
    "fixed_rate_concentration": 0.0,
}
"""Test -> percent, but for factor, score and years; to the digits that are published."""

PFLT_COLUMNS = {
    "borrower_name": "Obligor Name",
    "facility_name": "Security Name",
    "par_value": "Outstanding Principal Balance (Issue Currency)",
    "price": "Market Value",
    "purchase_price": "Purchase Price",
    "spread": "Spread incl. PIK and PIK'able",
    "base_rate": "Base Rate",
    "floor": "Floor",
    "maturity_date": "Maturity Date",
    "country": "Obligor Country",
    "industry": "Obligor Industry",
    "lien_type": "Lien Type",
    "currency": "Currency (USD /",
    "coupon_type": "Fixed Rate (Y/N)",
    "is_defaulted": "Defaulted Collateral Loan",
    "cov_lite": "Covenant Lite (Y/N)",
    "rating_agency_a": "Current Moody's Rating",
    "rating_agency_b": "Current S&P Rating",
    "is_dip": "DIP Loan (Y/N)",
}
"""Field -> how the header of its column begins."""

FSK_COLUMNS = {
    "borrower_name": "Portfolio Company",
    "par_value": "Principal Amount",
    "industry": "Industry",
    "spread": "Rate",
    "floor": "Floor",
    "maturity_date": "Maturity",
}

OTHER_NAMES = {"base_rate": ("base_rate_level",), "coupon_type": ("is_fixed",)}
"""Fields that a column may feed in place of another: a base rate in percent has no index."""

Sum = Callable[[Portfolio], float]


@cache
def loans(name: str) -> Portfolio:
    """Return the portfolio of a file of `LISTS`."""
    return Portfolio.from_workbook(read(DATA / LISTS[name]))


def _share(of: Portfolio, rows: NDArray[np.bool_]) -> float:
    par = of["par_value"]
    return 100 * float(par[rows].sum() / par.sum())


def _groups(of: Portfolio, name: str) -> list[float]:
    """Return shares of par by the values of a column, the greatest first."""
    values = of[name]
    return sorted((_share(of, values == value) for value in set(values)), reverse=True)


def _average(of: Portfolio, values: NDArray[np.float64]) -> float:
    par, known = of["par_value"], np.isfinite(values)
    return float((par * values)[known].sum() / par[known].sum())


def _life(of: Portfolio) -> float:
    days = of.numbers["maturity_date"] - (of.deal.as_of or np.nan)
    return _average(of, days / 365.25)


PFLT: dict[str, tuple[float, Sum]] = {
    "loans": (81, len),
    "par": (686_972_706.64, lambda of: float(of["par_value"].sum())),
    "obligors": (74, lambda of: len(set(of["borrower_name"]))),
    "largest_obligor": (5.0267, lambda of: _groups(of, "obligor")[0]),
    "five_largest": (21.2114, lambda of: sum(_groups(of, "obligor")[:5])),
    "wa_spread": (6.0208, lambda of: _average(of, of["spread"]) / 100),
    "wa_price": (97.7041, lambda of: _average(of, np.nan_to_num(of["price"]))),
    "second_lien": (0.2528, lambda of: _share(of, of["lien_type"] == "second_lien")),
    "largest_industry": (20.5264, lambda of: _groups(of, "industry")[0]),
    "outside_us": (0.0234, lambda of: _share(of, of["country"] != "US")),
    "defaulted": (2.4709, lambda of: _share(of, of["is_defaulted"])),
    "life": (3.7299, _life),
}
"""What the cells of the list add up to over all loans, in US dollars and percent, and how."""

FSK: dict[str, tuple[float, Sum]] = {"loans": (31, len)}

_COLUMNS = {"pflt": PFLT_COLUMNS, "fsk": FSK_COLUMNS}
_SUMS = {"pflt": PFLT, "fsk": FSK}


def list_scores(name: str) -> list[Score]:
    """Return what a list's own cells say beside ours."""
    if name == "mag17":
        return _of_tests(name)
    of = loans(name)
    scores = []
    for figure, (value, find) in _SUMS[name].items():
        try:
            own: float | None = float(find(of))
        except (KeyError, IndexError, ZeroDivisionError, TypeError):
            own = None
        scores.append(_score(figure, value, own, tuple(sorted({warning.code for warning in of.notes.warnings}))))
    return scores + [_field(of, field, header) for field, header in _COLUMNS[name].items()]


def _of_tests(name: str) -> list[Score]:
    results = {result.test_id: result for result in run_suite(loans(name), "enhanced")}
    return [
        _score(
            test,
            value,
            None if test not in results else results[test].current_value,
            tuple(doubt.code for doubt in results[test].doubt) if test in results else (),
        )
        for test, value in MAG17.items()
    ]


def _score(name: str, value: float, own: float | None, doubts: tuple[str, ...]) -> Score:
    """Compare to the printed digit."""
    if own is None or not np.isfinite(own):
        return Score(name, "absent", value)
    digits = len(f"{value}".partition(".")[2]) if value != int(value) else 0
    is_right = abs(own - value) <= max(0.6 * 10**-digits, 1e-6)
    verdict: Verdict = "right" if is_right else "doubtful" if doubts else "silent"
    return Score(name, verdict, value, own, doubts)


def _field(of: Portfolio, field: str, header: str) -> Score:
    """Whether a column of the header feeds a field, and its cells could be read."""
    names = (field, *OTHER_NAMES.get(field, ()))
    used = [of.notes.matched_columns[name] for name in names if name in of.notes.matched_columns]
    is_right = any(used_header.startswith(header) for used_header in used) and any(
        _has_values(of, name) for name in names
    )
    return Score(f"column {field}", "right" if is_right else "absent" if not used else "silent", header, str(used))


def _has_values(of: Portfolio, name: str) -> bool:
    return name in of.numbers or name in of.names or name in of.flags or name in of.ranks or name == "lien_type"
