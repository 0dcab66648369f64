"""How long a comparison of two books takes, beside the same in Polars, which is asked for pairs and severities only.

Both start from what a caller holds in memory: two portfolios, two frames with text as strings and classes as numbers.
Both match one to one by CUSIP, LoanX id, ISIN and borrower with maturity, and apply the nine rules; shuffled rows,
identifiers missing as in the generator, about two in a hundred loans edited. Polars is spared the check digits, the
spellings of names and the order of issues. Counts of pairs by stage, and of issues by field and severity, must agree
before a time counts.

DuckDB and pandas answer the same; datacompy, which has one key and one tolerance, less.

Polars is asked in two ways: as one query with the keys themselves, which the target is about, and in steps on hashes,
comparing a hash of each loan first, which is our own way and the fastest of six.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import datacompy
import duckdb
import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

from bench.questions import OURS, Prepared, Question, Work
from bench.rows import asked
from core.generate import generate
from core.portfolio import Portfolio
from core.reconciliation import RULES, Reconciliation, reconcile

LARGEST = 999_999
LOAN_BYTES = 5 * 8 + 6 * 4 + 3
"""Of a loan's compared columns: numbers, codes of texts and classes, ranks."""
REPEATS = {300: 60, 10_000: 30, LARGEST: 5}
EDITS = {"par_value": 1.08, "price": 0.5, "spread": 25.0, "maturity_date": 1.0, "all_in_rate": 0.06}
EDITED = 0.0025
"""Share of the loans of each edit, of loans missing on the tape, and of loans missing in the book."""

TEXTS = ("cusip", "loanx_id", "isin", "borrower_name")
NUMBERS = {"price": 0.125, "spread": 10.0, "maturity_date": 0.0, "all_in_rate": 0.05}
CLASSES = ("base_rate", "industry")
RANKS = ("rating_agency_a", "rating_agency_b", "rating_agency_c")
STAGES = {
    "cusip": ["cusip"], "loanx_id": ["loanx_id"], "isin": ["isin"],
    "borrower_maturity": ["borrower_name", "maturity_date"],
}  # fmt: skip
SEVERITY = {"critical": 1, "error": 2, "warning": 3, "info": 4}

Columns = dict[str, Any]


def books(loans: int) -> tuple[Columns, Columns]:
    """A generated book, and the trustee's.

    Shuffled, edited, some loans and CUSIPs lost, some loans of its own.
    """
    book: Columns = generate(loans=loans).portfolio_columns()
    chance = np.random.default_rng(3)
    kept = chance.permutation(loans)[: loans - _few(loans)]
    tape = taken(book, kept)
    for name, edit in EDITS.items():
        rows = chance.permutation(np.flatnonzero(tape["cusip"] != ""))[: _few(loans)]
        values = tape[name].copy()
        values[rows] = values[rows] * edit if name == "par_value" else values[rows] + edit
        tape[name] = values
    for name in ("industry", "rating_agency_a"):
        codes, values = tape[name]
        rows = chance.permutation(len(kept))[: _few(loans)]
        codes = codes.copy()
        codes[rows] = (codes[rows] + 1) % len(values)
        tape[name] = codes, values
    lost = (chance.random(len(kept)) < 0.01) & (tape["loanx_id"] != "")
    tape |= {name: np.where(lost, "", tape[name]) for name in ("cusip", "isin")}
    return tape, taken(book, np.arange(_few(loans), loans))


def _few(loans: int) -> int:
    return max(1, int(EDITED * loans))


def taken(columns: Columns, rows: NDArray[Any]) -> Columns:
    return {
        name: (values[0][rows], values[1]) if isinstance(values, tuple) else values[rows]
        for name, values in columns.items()
    }


def frame(portfolio: Portfolio, classes: dict[str, dict[str, int]]) -> pl.DataFrame:
    """The compared columns of a portfolio.

    Identifiers and names as strings, classes as numbers of both sides.
    """
    columns: dict[str, Any] = {name: portfolio.numbers[name] for name in ("par_value", *NUMBERS)}
    columns |= {name: portfolio.ranks[name] for name in RANKS}
    for name in TEXTS:
        strings = pl.Series([*portfolio.names[name].values, None], dtype=pl.String)
        codes = portfolio.names[name].codes
        columns[name] = strings.gather(np.where(codes < 0, len(strings) - 1, codes))
    for name in CLASSES:
        number = classes.setdefault(name, {})
        table = np.array(
            [*(number.setdefault(value, len(number)) for value in portfolio.names[name].values), 255], np.uint8
        )
        columns[name] = table[portfolio.names[name].codes]
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


Found = tuple[dict[str, int], pl.DataFrame]
"""Pairs by stage, and one row for each issue: rows of both sides, field, severity."""


def in_one_query(tape: pl.DataFrame, book: pl.DataFrame) -> Found:
    """Stage by stage on the keys themselves, those that come twice put aside by their hash; one collect."""
    c = pl.col
    left, right = tape.lazy().with_row_index("t"), book.lazy().with_row_index("b")
    pairs = []
    for stage, key in STAGES.items():
        has = pl.all_horizontal(c(key).is_not_null())
        matched = (
            left.filter(has).select("t", *key).unique(key, keep="none")
            .join(right.filter(has).select("b", *key).unique(key, keep="none"), on=key)
            .select("t", "b", stage=pl.lit(stage)).cache()
        )  # fmt: skip
        pairs.append(matched)
        left = left.join(matched, on="t", how="anti").cache()
        right = right.join(matched, on="b", how="anti").cache()
    paired = pl.concat(pairs).cache()
    wide = paired.join(tape.lazy().with_row_index("t"), on="t", how="left").join(
        book.lazy().with_row_index("b"), on="b", how="left", suffix="_b"
    )
    counts, issues = pl.collect_all([paired.group_by("stage").len(), issues_of(wide, left, right)])
    return dict.fromkeys(STAGES, 0) | dict(counts.iter_rows()), issues


def on_hashes(tape: pl.DataFrame, book: pl.DataFrame) -> Found:
    """Joins on 64-bit hashes of the keys, with which only the row and a hash of all its columns travel; the columns are
    fetched for the pairs that differ."""
    left, right = hashed(tape, "t"), hashed(book, "b")
    counts, differing = {}, []
    for stage in STAGES:
        matched = (
            left.lazy().select("t", "print_t", stage)
            .join(right.lazy().select("b", "print_b", stage), on=stage)
            .select("t", "b", "print_t", "print_b").collect()
        )  # fmt: skip
        single = matched["t"].is_unique() & matched["b"].is_unique()
        if not single.all():
            matched = matched.filter(single)
        counts[stage] = matched.height
        differing.append(matched.filter(pl.col("print_t") != pl.col("print_b")).select("t", "b"))
        left, right = left_over(left, matched["t"], tape.height), left_over(right, matched["b"], book.height)
    rows = pl.concat(differing)
    others = book[rows["b"]].select(pl.all().name.suffix("_b"))
    pairs = pl.concat([rows, tape[rows["t"]], others], how="horizontal")
    lone = tape[left["t"]].with_columns(left["t"]), book[right["b"]].with_columns(right["b"])
    return counts, issues_of(pairs.lazy(), *(side.lazy() for side in lone)).collect()


def hashed(frame: pl.DataFrame, row: str) -> pl.DataFrame:
    """Row numbers, a hash of all columns, and one of each stage's key where it is there."""
    keys = {
        stage: pl.when(pl.all_horizontal(pl.col(key).is_not_null())).then(
            pl.struct(key).hash() if len(key) > 1 else pl.col(key).hash()
        )
        for stage, key in STAGES.items()
    }
    return frame.select(frame.hash_rows().alias(f"print_{row}"), **keys).with_row_index(row)


def left_over(side: pl.DataFrame, gone: pl.Series, height: int) -> pl.DataFrame:
    """The rows of a side without those that have a partner."""
    stays = np.ones(height, np.bool_)
    stays[gone.to_numpy()] = False
    return side.filter(pl.Series(stays[side[:, 0].to_numpy()]))


def issues_of(pairs: pl.LazyFrame, left: pl.LazyFrame, right: pl.LazyFrame) -> pl.LazyFrame:
    """The nine rules, the names and the identifiers of some pairs.

    The loans left over on either side.
    """
    c = pl.col
    apart, size = (c("par_value") - c("par_value_b")).abs().round(6), c("par_value").abs()
    severities = {
        "par_value": pl.when(apart <= 0.01).then(0).when(apart * 100 > 5 * size).then(1)
        .when(apart * 100 >= size).then(2).otherwise(4).cast(pl.UInt8),
        "borrower_name": c("borrower_name").ne_missing(c("borrower_name_b")).cast(pl.UInt8) * 4,
    }  # fmt: skip
    for name, tolerance in NUMBERS.items():
        book_value = c(f"{name}_b")
        differs = ((c(name) - book_value).abs().round(6) > tolerance).fill_null(
            c(name).is_null() != book_value.is_null()
        )
        severities[name] = differs.cast(pl.UInt8) * 3
    for name in (*CLASSES, *RANKS):
        severities[name] = (c(name) != c(f"{name}_b")).cast(pl.UInt8) * 3
    for name in ("cusip", "loanx_id", "isin"):
        severities[name] = (c(name) != c(f"{name}_b")).fill_null(value=False).cast(pl.UInt8) * 3
    values = (
        pairs.select("t", "b", **severities).filter(pl.any_horizontal(c(*severities) > 0))
        .unpivot(on=list(severities), index=["t", "b"], variable_name="field", value_name="severity")
        .filter(c("severity") > 0)
    )  # fmt: skip
    nobody = pl.lit(None, pl.UInt32)
    severity = pl.when(size > 1e6).then(1).when(size >= 1e5).then(2).otherwise(3).cast(pl.UInt8)
    missing = [
        left.select("t", b=nobody, field=pl.lit("missing_loan"), severity=severity),
        right.select("b", t=nobody, field=pl.lit("missing_loan"), severity=severity).select(
            "t", "b", "field", "severity"
        ),
    ]
    return pl.concat([values, *missing])


def in_duckdb(tape: pl.DataFrame, book: pl.DataFrame) -> Found:
    """The same in SQL, on frames that it reads where they are."""
    engine = duckdb.connect(config={"threads": pl.thread_pool_size()})
    engine.register("given_t", tape.with_row_index("row"))
    engine.register("given_b", book.with_row_index("row"))
    for side in "tb":
        engine.execute(f"create table left_{side} as select * from given_{side}")
        engine.execute(f"create table {side} as select * from given_{side}")
    engine.execute("create table pairs (t uinteger, b uinteger, stage varchar)")
    for stage, key in STAGES.items():
        keys, here = ", ".join(key), " and ".join(f"{name} is not null" for name in key)
        single = "(select any_value(row) as row, {k} from left_{s} where {h} group by {k} having count(*) = 1)"
        sides = [single.format(k=keys, s=side, h=here) for side in "tb"]
        engine.execute(
            f"insert into pairs select t.row, b.row, '{stage}' from {sides[0]} t join {sides[1]} b using ({keys})"
        )
        for side in "tb":
            engine.execute(f"delete from left_{side} where row in (select {side} from pairs)")
    severities = {
        "par_value": "case when apart <= 0.01 then 0 when apart * 100 > 5 * size then 1 "
        "when apart * 100 >= size then 2 else 4 end",
        "borrower_name": "4 * (t.borrower_name is distinct from b.borrower_name)::int",
    }
    for name, tolerance in NUMBERS.items():
        severities[name] = (
            f"3 * coalesce(round(abs(t.{name} - b.{name}), 6) > {tolerance}, "
            f"(t.{name} is null) <> (b.{name} is null))::int"
        )
    severities |= {name: f"3 * coalesce(t.{name} <> b.{name}, false)::int" for name in (*CLASSES, *RANKS, *TEXTS[:3])}
    columns = ", ".join(f"({text})::utinyint as {name}" for name, text in severities.items())
    missing = "case when abs(par_value) > 1e6 then 1 when abs(par_value) >= 1e5 then 2 else 3 end::utinyint"
    issues = engine.sql(f"""
        with joined as (
            select p.t, p.b, round(abs(t.par_value - b.par_value), 6) as apart, abs(t.par_value) as size, {columns}
            from pairs p join t on p.t = t.row join b on p.b = b.row
        )
        select t, b, field, severity from (unpivot joined on {", ".join(severities)} into name field value severity)
        where severity > 0
        union all select row, null, 'missing_loan', {missing} from left_t
        union all select null, row, 'missing_loan', {missing} from left_b
    """).to_arrow_table()
    counts = dict(engine.execute("select stage, count(*) from pairs group by stage").fetchall())
    engine.close()
    return dict.fromkeys(STAGES, 0) | counts, pl.DataFrame(issues)


def in_pandas(tape: Any, book: Any) -> Found:
    """The same by merges of pandas."""
    sides, counts, pairs = {"t": tape, "b": book}, {}, []
    for stage, key in STAGES.items():
        single = [
            side.dropna(subset=key).drop_duplicates(key, keep=False)[key].rename_axis(name).reset_index()
            for name, side in sides.items()
        ]
        matched = single[0].merge(single[1], on=key)[["t", "b"]]
        counts[stage] = len(matched)
        pairs.append(matched)
        sides = {name: side.drop(index=matched[name]) for name, side in sides.items()}
    both = pd.concat(pairs, ignore_index=True)
    left, right = (side.loc[both[name]].reset_index(drop=True) for name, side in (("t", tape), ("b", book)))
    apart, size = (left.par_value - right.par_value).abs().round(6), left.par_value.abs()
    severities = {
        "par_value": np.select([apart <= 0.01, apart * 100 > 5 * size, apart * 100 >= size], [0, 1, 2], 4),
        "borrower_name": 4 * (left.borrower_name.fillna("") != right.borrower_name.fillna("")).to_numpy(),
    }
    for name, tolerance in NUMBERS.items():
        differs = (left[name] - right[name]).abs().round(6) > tolerance
        severities[name] = 3 * (differs | (left[name].isna() != right[name].isna())).to_numpy()
    for name in (*CLASSES, *RANKS):
        severities[name] = 3 * (left[name] != right[name]).to_numpy()
    for name in TEXTS[:3]:
        here = left[name].notna() & right[name].notna()
        severities[name] = 3 * (here & (left[name] != right[name])).to_numpy()
    fields, levels = [], []
    for name, values in severities.items():
        matched = values[values > 0]
        fields += [name] * len(matched)
        levels.append(matched)
    for side in sides.values():
        size = side.par_value.abs()
        fields += ["missing_loan"] * len(side)
        levels.append(np.select([size > 1e6, size >= 1e5], [1, 2], 3))
    return counts, pl.DataFrame({"field": fields, "severity": np.concatenate(levels)})


def in_datacompy(tape: Any, book: Any) -> int:
    """Less than is asked.

    Pairs by CUSIP alone, every column with one tolerance, a mark for each pair that differs.
    """
    sides = [side.dropna(subset=["cusip"]).drop_duplicates("cusip", keep=False) for side in (tape, book)]
    return len(datacompy.Compare(*sides, join_columns="cusip", abs_tol=0.01).intersect_rows)


def check(ours: Reconciliation, counts: dict[str, int], issues: pl.DataFrame) -> None:
    """Pairs by stage and issues by field and severity must be the same."""
    assert ours.stages == {**counts, "borrower_name": 0}, (ours.stages, counts)
    counter = Counter((issue.field_name, SEVERITY[issue.severity]) for issue in ours.issues)
    theirs = Counter(issues.select("field", "severity").iter_rows())
    assert counter == theirs, (counter, theirs)
    assert {field for field, _ in counter} >= {"par_value", "price", "rating_agency_a", "spread", "missing_loan"}
    assert set(ours.not_compared) == set(), ours.not_compared
    assert len(RULES) == 9


ONE_QUERY = "Polars, one query"
ON_HASHES = "Polars, on hashes"
POLARS_WAYS = {ONE_QUERY: in_one_query, ON_HASHES: on_hashes}
RATIOS_LEAST = {ONE_QUERY: 6.0, ON_HASHES: 2.5}
"""Ours against Polars, at a million loans."""
WAYS: dict[str, Any] = POLARS_WAYS | {"DuckDB": in_duckdb}
DATACOMPY = "datacompy, by CUSIP alone"
IN_MEMORY: dict[str, Any] = {"pandas": in_pandas, DATACOMPY: in_datacompy}
"""Those that a million loans take too long."""
SLOW_TURNS = 2


def _compared(loans: int) -> Prepared:
    tape, book = (Portfolio.from_columns(columns) for columns in books(loans))
    classes: dict[str, dict[str, int]] = {}
    frames = frame(tape, classes), frame(book, classes)
    ours = partial(reconcile, tape, book, threads=pl.thread_pool_size())
    works: dict[str, Work] = {OURS: Work(ours)}
    for name, way in (WAYS if loans == LARGEST else WAYS | IN_MEMORY).items():
        inputs = [side.to_pandas() for side in frames] if way in IN_MEMORY.values() else frames
        if way is in_datacompy:
            assert way(*inputs) == ours().stages["cusip"]
        else:
            check(ours(), *way(*inputs))
        works[name] = Work(partial(way, *inputs), turns=SLOW_TURNS if name not in POLARS_WAYS else None)
    return Prepared(works=works)


def _question(loans: int, threads: int = 1) -> Question:
    name = f"reconcile, {loans:,} x {loans:,} loans, 9 rules"
    return Question(
        name=name if threads == 1 else f"{name}, {threads} threads", prepare=partial(_compared, loans),
        peers=(*WAYS, "pandas") if loans < LARGEST else tuple(WAYS), bounds=(DATACOMPY,) if loans < LARGEST else (),
        repeats=REPEATS[loans], touched_bytes=2 * LOAN_BYTES * loans if loans == LARGEST else None,
        ratio_least=RATIOS_LEAST if loans == LARGEST else {},
        quick=loans < LARGEST, environment={} if threads == 1 else {"POLARS_MAX_THREADS": str(threads)},
    )  # fmt: skip


bench_reconcile = asked(*(_question(loans) for loans in REPEATS), _question(LARGEST, threads=2))
