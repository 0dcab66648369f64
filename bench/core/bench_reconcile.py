"""How long a comparison of two books takes, beside the same in Polars, which is asked for pairs and severities only.

Both start from what a caller holds in memory: two portfolios, two frames with text as strings and classes as numbers. Both
match one to one by CUSIP, LoanX id, ISIN and borrower with maturity, and apply the nine rules; shuffled rows, identifiers
missing as in the generator, about two in a hundred loans edited. Polars is spared the check digits, the spellings of names
and the order of the issues. Counts of pairs by stage, and of issues by field and severity, must agree before a time counts.
Run with POLARS_MAX_THREADS=2 for two threads of Polars against one of ours.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import Any

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # before Polars is imported: one thread each

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.figures import Figure, paired_seconds
from core.generate import generate
from core.portfolio.portfolio import Portfolio
from core.reconcile import RULES, Reconciliation, reconcile

REPEATS = {300: 60, 10_000: 30, 999_999: 7}
RATIO_LEAST = 3.0
"""Ours against Polars at a million loans."""

EDITS = {"par_value": 1.08, "price": 0.5, "spread": 25.0, "maturity_date": 1.0, "all_in_rate": 0.06}
EDITED = 0.0025
"""Share of the loans of each edit."""

TEXTS = ("cusip", "loanx_id", "isin", "borrower_name")
NUMBERS = {"price": 0.125, "spread": 10.0, "maturity_date": 0.0, "all_in_rate": 0.05}
CLASSES = ("base_rate", "industry")
RANKS = ("rating_agency_a", "rating_agency_b", "rating_agency_c")
SEVERITY = {"critical": 1, "error": 2, "warning": 3, "info": 4}

Columns = dict[str, Any]


def books(loans: int) -> tuple[Columns, Columns]:
    """A generated book, and the trustee's: shuffled, edited, some loans and CUSIPs lost, some loans of its own."""
    book: Columns = generate(loans=loans).portfolio_columns()
    chance = np.random.default_rng(3)
    kept = chance.permutation(loans)[: loans - loans // 500]
    tape = taken(book, kept)
    for name, edit in EDITS.items():
        rows = chance.permutation(np.flatnonzero(tape["cusip"] != ""))[: int(EDITED * loans)]
        values = tape[name].copy()
        values[rows] = values[rows] * edit if name == "par_value" else values[rows] + edit
        tape[name] = values
    for name in ("industry", "rating_agency_a"):
        codes, values = tape[name]
        rows = chance.permutation(len(kept))[: int(EDITED * loans)]
        codes = codes.copy()
        codes[rows] = (codes[rows] + 1) % len(values)
        tape[name] = codes, values
    lost = (chance.random(len(kept)) < 0.01) & (tape["loanx_id"] != "")
    tape |= {name: np.where(lost, "", tape[name]) for name in ("cusip", "isin")}
    return tape, taken(book, np.arange(loans // 500, loans))


def taken(columns: Columns, rows: NDArray[Any]) -> Columns:
    return {
        name: (values[0][rows], values[1]) if isinstance(values, tuple) else values[rows]
        for name, values in columns.items()
    }


def frame(portfolio: Portfolio, classes: dict[str, dict[str, int]]) -> pl.DataFrame:
    """The compared columns of a portfolio: identifiers and names as strings, classes as numbers of both sides."""
    columns: dict[str, Any] = {name: portfolio.numbers[name] for name in ("par_value", *NUMBERS)}
    columns |= {name: portfolio.ranks[name] for name in RANKS}
    for name in TEXTS:
        strings = pl.Series([*portfolio.names[name].values, None], dtype=pl.String)
        codes = portfolio.names[name].codes
        columns[name] = strings.gather(np.where(codes < 0, len(strings) - 1, codes))
    for name in CLASSES:
        number = classes.setdefault(name, {})
        table = np.array([*(number.setdefault(value, len(number)) for value in portfolio.names[name].values), 255], np.uint8)
        columns[name] = table[portfolio.names[name].codes]
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def polars_issues(tape: pl.DataFrame, book: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pairs by stage, and one row for each issue: rows of both sides, field, severity."""
    c = pl.col
    left, right = tape.lazy().with_row_index("t"), book.lazy().with_row_index("b")
    pairs = []
    for number, stage in enumerate((["cusip"], ["loanx_id"], ["isin"], ["borrower_name", "maturity_date"])):
        has = pl.all_horizontal(c(stage).is_not_null())
        found = left.filter(has).select("t", *stage).unique(stage, keep="none").join(
            right.filter(has).select("b", *stage).unique(stage, keep="none"), on=stage
        ).select("t", "b", stage=pl.lit(number, pl.UInt8)).cache()  # fmt: skip
        pairs.append(found)
        left = left.join(found, on="t", how="anti").cache()
        right = right.join(found, on="b", how="anti").cache()
    paired = pl.concat(pairs).cache()
    wide = (
        paired.join(tape.lazy().with_row_index("t"), on="t", how="left")
        .join(book.lazy().with_row_index("b"), on="b", how="left", suffix="_b")
    )  # fmt: skip
    return finish(wide, paired, left, right)


def finish(wide: Any, paired: Any, left: Any, right: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    c = pl.col
    apart = (c("par_value") - c("par_value_b")).abs().round(6)
    percent = apart * 100
    severities = {
        "par_value": pl.when(apart <= 0.01).then(0).when(percent > 5 * c("par_value").abs()).then(1)
        .when(percent >= c("par_value").abs()).then(2).otherwise(4).cast(pl.UInt8),
        "borrower_name": pl.when(c("borrower_name").ne_missing(c("borrower_name_b"))).then(4).otherwise(0).cast(pl.UInt8),
    }
    for name, tolerance in NUMBERS.items():
        other = c(f"{name}_b")
        differs = ((c(name) - other).abs().round(6) > tolerance).fill_null(c(name).is_null() != other.is_null())
        severities[name] = differs.cast(pl.UInt8) * 3
    for name in (*CLASSES, *RANKS):
        severities[name] = (c(name) != c(f"{name}_b")).cast(pl.UInt8) * 3
    for name in ("cusip", "loanx_id", "isin"):
        severities[name] = (c(name) != c(f"{name}_b")).fill_null(value=False).cast(pl.UInt8) * 3
    values = (
        wide.select("t", "b", **severities).filter(pl.any_horizontal(c(*severities) > 0))
        .unpivot(on=list(severities), index=["t", "b"], variable_name="field", value_name="severity")
        .filter(c("severity") > 0)
    )  # fmt: skip
    missing = [
        side.select(
            t=c("t") if "t" == row else pl.lit(None, pl.UInt32), b=c("b") if "b" == row else pl.lit(None, pl.UInt32),
            field=pl.lit("missing_loan"),
            severity=pl.when(c("par_value").abs() > 1e6).then(1).when(c("par_value").abs() >= 1e5).then(2).otherwise(3).cast(pl.UInt8),
        )
        for side, row in ((left, "t"), (right, "b"))
    ]  # fmt: skip
    counts, issues = pl.collect_all([paired.group_by("stage").len(), pl.concat([values, *missing])])
    return counts, issues
