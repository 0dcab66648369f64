"""Random loans as a Parquet file, and the same in memory."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.compliance.result import Results
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import doubts

DAY = 20_543.0
DEAL = {"principal_cash": 2_000_000.0, "base_rate": 4.3}
TRANCHES = {
    "classes": ["A", "B", "C", "D", "E", "Sub"],
    "current_balance": [64e6, 12e6, 6e6, 7e6, 3e6, 8e6],
    "coupon": [5.6, 6.05, 6.5, 7.6, 10.5, float("nan")],
    "oc_trigger": [float("nan"), 121.6, 114, 106.4, 104.2, float("nan")],
    "ic_trigger": [float("nan"), 120.0, 115.0, 110.0, float("nan"), float("nan")],
}
POOL_ONLY = ("pool_left_out", "lots_not_added", "currencies_mixed")
"""Warnings that loans in memory have not."""

Columns = dict[str, Any]


def loans(seed: int, rows: int) -> Columns:
    """Columns of random loans: blanks, defaults, a CCC excess with ties, masked words, foreign currencies."""
    chance = np.random.default_rng(seed)

    def some(values: Any, blank: float = 0.0) -> list[Any]:
        drawn = chance.choice(np.array(values, object), rows)
        return [None if chance.random() < blank else value for value in drawn.tolist()]

    def holes(values: Any, blank: float, kind: type = float) -> list[Any]:
        return [None if chance.random() < blank else kind(value) for value in values]

    def number(low: float, high: float, blank: float, digits: int = 1) -> list[Any]:
        drawn = np.round(chance.uniform(low, high, rows), digits)
        return [None if chance.random() < blank else float(value) for value in drawn]

    names = [f"Borrower {at} {kind}" for at in range(max(2, rows // 6)) for kind in ("Inc.", "LLC")]
    scale = ["Baa3", "Ba2", "B1", "B2", "B3", "Caa1", "Caa2", "Ca"]
    columns: Columns = {
        "borrower_name": some(names, 0.02),
        "par_value": holes(chance.integers(-1, 40, rows) * 250_000.0, 0.02),
        "price": holes(chance.choice([0, 55, 70, 70, 88, 99.5], rows), 0.1),
        "purchase_price": some([0.0, 60.0, 72.5, 79.0, 99.0, 100.0], 0.05),
        "spread": number(200, 600, 0.05, 0),
        "floor": some([0.0, 0.5, 5.0], 0.2),
        "all_in_rate": number(5, 12, 0.3, 2),
        "recovery_rate": some([30.0, 45.0, 60.0], 0.2),
        "maturity_date": holes(DAY + chance.integers(-300, 3000, rows), 0.05, int),
        "facility_size": number(5e7, 9e8, 0.1, 0),
        "quote_depth": some([0.0, 1.0, 2.0, 5.0], 0.3),
        "days_past_due": some([0.0, 10.0, 45.0, 95.0], 0.4),
        "industry": some(["Software", "software", "Own Trade", "own trade", "Media", "Retail"], 0.05),
        "country": some(["US", "United States", "Canada", "France"], 0.1),
        "currency": some(["USD", "US Dollar", "EUR"], 0.02),
        "rating_agency_a": some([*scale, "NR", "hidden"], 0.1),
        "rating_agency_b": some(["BB", "B+", "B", "B-", "CCC+", "CCC", "D", "NR"], 0.1),
        "lien_type": some(["First Lien", "Second Lien", "Unsecured", "strange"], 0.1),
        "is_defaulted": [bool(flag) for flag in chance.random(rows) < 0.03],
        "cov_lite": [bool(flag) for flag in chance.random(rows) < 0.4],
        "is_dip": [bool(flag) for flag in chance.random(rows) < 0.05],
        "is_deferring": [bool(flag) for flag in chance.random(rows) < 0.05],
        "is_current_pay": [bool(flag) for flag in chance.random(rows) < 0.05],
    }  # fmt: skip
    for name in ("price", "spread", "quote_depth", "days_past_due", "facility_size", "lien_type", "currency", "floor"):
        if chance.random() < 0.15:
            del columns[name]
    kind = chance.integers(0, 4)
    if kind == 1:
        columns["issuer_id"] = [
            None if chance.random() < 0.2 else f"ID{hash_of(name)}" for name in columns["borrower_name"]
        ]
    elif kind == 2:
        columns["issuer_id"] = [f"id {at}" for at in chance.integers(0, max(2, rows // 4), rows)]
    if chance.random() < 0.5:
        columns["cusip"] = [f"{at:06d}XX0" for at in chance.permutation(rows)]
        columns["facility_name"] = some(["Term Loan B", "Revolver", "Delayed Draw"], 0.1)
    if chance.random() < 0.3:
        columns["base_rate"] = some(["SOFR 3M", "EURIBOR", "Fixed"], 0.1)
    if chance.random() < 0.3:
        columns["as_of"] = [int(DAY)] * rows
    if chance.random() < 0.3:
        columns["industry_b"] = some(["Energy", "Banks", "Autos"], 0.1)
    if chance.random() < 0.3:
        columns["recovery_rate_a"] = columns["recovery_rate"]
    return columns


def hash_of(name: str | None) -> int:
    """A small number that a name alone decides."""
    return sum(map(ord, name or "")) % 37


def table(columns: Columns) -> pa.Table:
    """The columns as a table of Arrow, dates as dates."""
    arrays = {name: pa.array(values) for name, values in columns.items()}
    for name in ("maturity_date", "as_of"):
        if name in arrays:
            arrays[name] = arrays[name].cast(pa.int32()).cast(pa.date32())
    return pa.table(arrays)


def write(path: Path, columns: Columns, group_rows: int, files: int = 1) -> Path:
    """Write the loans as a file, or as a folder of several of different sizes."""
    whole = table(columns)
    if files == 1:
        pq.write_table(whole, path, row_group_size=group_rows)
        return path
    path.mkdir()
    cuts = sorted({0, whole.num_rows, *(whole.num_rows * at * at // (files * files) for at in range(files))})
    for at, (first, last) in enumerate(pairwise(cuts)):
        pq.write_table(whole.slice(first, last - first), path / f"part-{at:03d}.parquet", row_group_size=group_rows)
    return path


def in_memory(columns: Columns, suite: str, sheet_name: str, deal: Columns | None = None, **options: Any) -> Results:
    """The suite over the same loans in memory, with what makes a portfolio doubtful."""
    without_lots = {name: values for name, values in columns.items() if name != "cusip"}
    portfolio = Portfolio.from_columns(
        table(without_lots), tranches=TRANCHES, deal=DEAL | {"as_of": DAY} if deal is None else deal
    )
    if "cusip" in columns:
        portfolio = _with_cusips(portfolio, columns)
    portfolio = replace(portfolio, sheet_name=sheet_name)
    portfolio.notes.warnings = [*portfolio.notes.warnings, *doubts(portfolio)]
    return run_suite(portfolio, suite, **options)


def _with_cusips(portfolio: Portfolio, columns: Columns) -> Portfolio:
    """Identifiers that tell loans of one price apart, and of which no two rows have one."""
    every = Portfolio.from_columns(table(columns), tranches=None, deal={})
    return replace(portfolio, names=portfolio.names | {"cusip": every.names["cusip"]})


def _alike(first: Any, second: Any) -> bool:
    """Whether second breakdowns say the same, figures to 1e-12."""
    if isinstance(first, dict) and isinstance(second, dict):
        return list(first) == list(second) and all(_alike(first[name], second[name]) for name in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_alike, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= 1e-12 * abs(second) + 1e-9  # 6 decimals are shown
    return bool(first == second)


def differences(streamed: Results, known: Results) -> list[str]:
    """What two runs say differently: figures beyond 1e-12, statuses, doubts, skips, warnings."""
    faults = []
    ours, theirs = list(streamed), list(known)
    if [result.test_id for result in ours] != [result.test_id for result in theirs]:
        faults.append(f"tests {[r.test_id for r in ours]} instead of {[r.test_id for r in theirs]}")
        return [*faults, *(f"{skip.test_id}: {skip.reason}" for skip in streamed.skipped)]
    for own, known_result in zip(ours, theirs, strict=True):
        exact = streamed._figures.exact[own.test_id], known._figures.exact[own.test_id]
        for first, second in zip(*exact, strict=True):
            if abs(first - second) > 1e-12 * abs(second):
                faults.append(f"{own.test_id}: {first!r} instead of {second!r}")
        for part in ("status", "message", "threshold_value", "cushion", "current_value"):
            if getattr(own, part) != getattr(known_result, part):
                faults.append(
                    f"{own.test_id}: {part} {getattr(own, part)!r} instead of {getattr(known_result, part)!r}"
                )
        pairs = [[(doubt.code, doubt.message) for doubt in result.doubt] for result in (own, known_result)]
        if pairs[0] != pairs[1]:
            faults.append(f"{own.test_id}: doubts {pairs[0]} instead of {pairs[1]}")
        if not _alike(own.details.breakdown, known_result.details.breakdown):
            faults.append(
                f"{own.test_id}: breakdown {own.details.breakdown} instead of {known_result.details.breakdown}"
            )
    skips = [[(skip.test_id, skip.reason) for skip in results.skipped] for results in (streamed, known)]
    if skips[0] != skips[1]:
        faults.append(f"skipped {skips[0]} instead of {skips[1]}")
    warnings = [
        sorted((warning.code, warning.message) for warning in results.warnings if warning.code not in POOL_ONLY)
        for results in (streamed, known)
    ]
    if warnings[0] != warnings[1]:
        faults.append(f"warnings {set(warnings[0]) ^ set(warnings[1])}")
    return faults
