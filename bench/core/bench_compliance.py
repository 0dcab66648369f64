"""How long the 25 enhanced tests take on columns in memory, beside Polars (streaming), DuckDB and NumPy by hand.

All four start from the same typed columns, names as dictionary codes; all 25 figures must agree before a time counts.
The data have an excess of CCC loans, defaults, discount obligations, deferring loans, blanks in price and recovery, so
that no rule is idle; each obligor has one industry, which lets the peers take any of its rows for it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.compliance.measures import DIVERSITY_SCORES
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal, Names, Tranches
from core.portfolio.model.ratings import FACTOR

LARGEST, SMALLEST = 1_000_000, 200
REPEATS = {SMALLEST: 300, 10_000: 60, LARGEST: 7}
LOAN_BYTES = 11 * 8 + 3 * 4 + 9
"""Of a loan: eleven numbers, three codes of names; ranks, flags and lien, a byte each."""
POLARS, DUCKDB, NUMPY = "Polars", "DuckDB", "NumPy by hand"
RATIO_LEAST = 5.0
"""Ours against Polars at a million loans."""
SMALL_SECONDS_MOST = 0.0003
"""Ours at 200 loans; the messages and details of the results, which are made when they are read, are not read."""

BASE_RATE, AS_OF, INDUSTRIES = 4.3, 20_543.0, 32
FEES, PERIOD = 0.0020, 0.25
SENIOR, JUNIOR, IC_JUNIOR = 2, 5, 4  # how many of the classes A to E a test counts

Figures = dict[str, float]


def portfolio(loans: int) -> Portfolio:
    """A seeded book of so many loans in the proportions of a broadly syndicated deal."""
    chance = np.random.default_rng(11)
    obligors = max(1, round(0.86 * loans))
    obligor = np.concatenate([np.arange(obligors), chance.integers(0, obligors, loans - obligors)]).astype(np.int32)
    chance.shuffle(obligor)
    industry = np.sqrt(chance.random(obligors) * INDUSTRIES**2).astype(np.int32)[obligor]
    rank_weight = np.array([1, 2.5, 5, 10, 17, 34, 22, 5, 2, 1, 0.5])
    rank_a = chance.choice(np.arange(10, 21, dtype=np.uint8), loans, p=rank_weight / rank_weight.sum())
    rank_b = np.clip(rank_a + chance.choice([-1, 0, 1], loans, p=[0.1, 0.8, 0.1]), 1, 21).astype(np.uint8)
    rank_c = np.where(chance.random(loans) < 0.35, rank_b, 0).astype(np.uint8)
    rank_a[chance.random(loans) < 0.02] = 0
    par = np.round(chance.lognormal(0, 0.45, loans) * 1.6e6, -3)

    def some(share: float) -> NDArray[np.uint8]:
        return (chance.random(loans) < share).astype(np.uint8)

    def holes(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
        return np.where(chance.random(loans) < share, np.nan, values)

    bought_low = chance.random(loans) < 0.02
    notes = np.array([64, 12, 6, 7, 3.25, 7.75]) / 100 * par.sum()
    blank = np.full(6, np.nan)
    return Portfolio(
        loans,
        {
            "par_value": par,
            "price": holes(chance.normal(97, 5, loans).clip(5, 101), 0.02),
            "purchase_price": np.where(bought_low, chance.uniform(60, 79, loans), chance.normal(99, 1, loans)),
            "spread": chance.normal(380, 35, loans),
            "floor": chance.choice([0, 0.5, 0.75, 5.0], loans),
            "all_in_rate": holes(chance.normal(8, 0.5, loans), 0.05),
            "recovery_rate": holes(chance.choice([30.0, 45, 60], loans), 0.1),
            "maturity_date": np.round(AS_OF - 20 + chance.beta(3.2, 2.4, loans) * 2556),
            "facility_size": chance.lognormal(np.log(9e8), 0.75, loans),
            "quote_depth": np.round(chance.normal(4.2, 2, loans).clip(0, 12)),
            "days_past_due": np.where(some(0.01), chance.integers(5, 400, loans), 0).astype(np.float64),
        },
        {
            "obligor": Names(obligor, tuple(f"Obligor {code}" for code in range(obligors))),
            "industry": Names(industry, tuple(f"Industry {code}" for code in range(INDUSTRIES))),
            "country": Names((chance.random(loans) > 0.885).astype(np.int32), ("US", "Canada")),
        },
        {
            "is_defaulted": some(0.006),
            "cov_lite": some(0.45),
            "is_dip": some(0.003),
            "is_deferring": some(0.005),
            "is_fixed": some(0.012),
        },
        {"rating_agency_a": rank_a, "rating_agency_b": rank_b, "rating_agency_c": rank_c},
        np.where(chance.random(loans) < 0.025, 2, 1).astype(np.uint8),
        Tranches(
            ("A", "B", "C", "D", "E", "Sub"), notes, notes, np.array([5.6, 6.05, 6.5, 7.6, 10.5, np.nan]), blank,
            np.array([np.nan, 121.6, 114, 106.4, 104.2, np.nan]), np.array([np.nan, 120, 115, 110, np.nan, np.nan]),
            np.arange(1, 7, dtype=np.int32), np.zeros(6), blank, np.array([0, 0, 0, 0, 0, 1], np.bool_),
        ),
        Deal(principal_cash=0.01 * par.sum(), base_rate=BASE_RATE, as_of=AS_OF),
    )  # fmt: skip


def finish(
    book: Portfolio, sums: dict[str, float], largest: Any, industries: Any, score: float, haircut: float
) -> Figures:
    """The 25 figures from a peer's sums.

    Arithmetic on a few dozen numbers, the same for both.
    """
    notes, cash = book.tranches, book.deal.principal_cash
    assert notes is not None
    assert cash is not None
    cpa, par = sums["par"] + cash, sums["par"]
    adjusted = cpa - haircut - sums["low_haircut"] + sums["defaulted_carried"]
    balance = np.cumsum(notes.current_balance)
    due = np.cumsum(notes.current_balance * notes.coupon / 100 * PERIOD)
    income = sums["interest"] / 100 * PERIOD - FEES * cpa * PERIOD
    shares = {
        "single_obligor_concentration": largest[0],
        "top_5_concentration": sum(largest[:5]),
        "industry_concentration": industries[0],
        "second_industry_concentration": industries[1],
        "non_senior_secured_concentration": sums["junior"],
        "cov_lite_concentration": sums["cov_lite"],
        "ccc_bucket_pct": max(sums["ccc_a"], sums["ccc_b"], sums["ccc_c"]),
        "fixed_rate_concentration": sums["fixed"],
        "foreign_country_concentration": sums["foreign"],
        "small_facility_concentration": sums["small"],
    }
    oc = adjusted / balance[JUNIOR - 1] * 100
    return {name: amount / cpa * 100 for name, amount in shares.items()} | {
        "average_rating_factor": sums["factor"] / par,
        "weighted_average_recovery_rate": sums["recovery"] / par,
        "oc_ratio": oc,
        "interest_diversion_ratio": oc,
        "oc_ratio_senior": adjusted / balance[SENIOR - 1] * 100,
        "ic_ratio": income / due[IC_JUNIOR - 1] * 100,
        "ic_ratio_senior": income / due[SENIOR - 1] * 100,
        "wal": sums["years"] / par,
        "was": sums["spread"] / (par - sums["fixed"]) / 100,
        "diversity_score": score,
        "delinquency_pct": (sums["defaulted"] + sums["past_due"]) / (par + sums["defaulted"]) * 100,
        "price_below_80_pct": sums["below_80"] / sums["priced"] * 100,
        "price_below_90_pct": sums["below_90"] / sums["priced"] * 100,
        "weighted_average_price": sums["price"] / sums["priced"],
        "quoted_depth_pct": sums["quoted"] / par * 100,
    }


def diversity(obligor_par: NDArray[np.float64], industry: NDArray[Any], par: float) -> float:
    """Score from the obligors' par; the same few lines for both peers."""
    has_par = obligor_par > 0
    units = np.bincount(industry[has_par], np.minimum(1.0, obligor_par[has_par] / (par / has_par.sum())), INDUSTRIES)
    return float(DIVERSITY_SCORES[np.floor((np.minimum(units, 20) + 0.05 + 1e-9) * 10).astype(int).clip(0, 200)].sum())


# Polars


def frame(book: Portfolio) -> pl.DataFrame:
    """The same columns as a Polars frame; NaN as null, which Polars skips by itself."""
    columns: dict[str, Any] = {**book.numbers, **book.flags, **book.ranks, "lien": book.lien}
    columns |= {name: column.codes for name, column in book.names.items()}
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def polars_figures(book: Portfolio, table: pl.DataFrame) -> Figures:
    """All 25: one streaming pass for the sums, one each for obligors and industries, over shared weights."""
    c = pl.col
    a, b, rank_c = c("rating_agency_a"), c("rating_agency_b"), c("rating_agency_c")
    bad = (c("is_defaulted") == 1) | (b == 22) | (rank_c == 22) | (c("days_past_due") >= 90).fill_null(value=False)
    rank = pl.when(a > 0).then(a).when(b > 0).then(b).otherwise(rank_c)
    unrated = (a == 0) & (b == 0) & (rank_c == 0)
    kind = pl.when(c("is_dip") == 1).then(50.0).when(c("lien") == 1).then(45.0).otherwise(35.0)
    fixed, deferring = c("is_fixed") == 1, c("is_deferring") == 1
    discount = pl.when(fixed).then(
        (c("purchase_price") < 75) & ((c("price") < 85) | c("price").is_null())
    ).otherwise((c("purchase_price") < 80) & ((c("price") < 90) | c("price").is_null()))  # fmt: skip
    carried = pl.min_horizontal("price", pl.coalesce(c("recovery_rate"), kind)).clip(0, 100)
    value = pl.min_horizontal(
        pl.when(discount).then(c("purchase_price")).otherwise(100.0), pl.when(deferring).then(carried).otherwise(100.0)
    )
    lazy = table.lazy().with_columns(
        w=pl.when(bad).then(0.0).otherwise(c("par_value")), d=pl.when(bad).then(c("par_value")).otherwise(0.0)
    )
    w, d = c("w"), c("d")

    def where(condition: pl.Expr) -> pl.Expr:
        return w.filter(condition).sum()

    effective = c("spread") + (c("floor") - BASE_RATE).clip(0) * 100
    rate = pl.coalesce(c("all_in_rate"), pl.max_horizontal(c("floor"), pl.lit(BASE_RATE)) + c("spread") / 100)
    small = c("facility_size") < pl.when(c("country") == 0).then(150e6).otherwise(250e6)
    sums_of = lazy.select(
        par=w.sum(), defaulted=d.sum(), defaulted_carried=(d.filter(d > 0) * carried.filter(d > 0)).sum() / 100,
        junior=where(c("lien") > 1), cov_lite=where(c("cov_lite") == 1), fixed=where(fixed),
        ccc_a=where((a >= 17) | unrated), ccc_b=where((b >= 17) | unrated), ccc_c=where((rank_c >= 17) | unrated),
        recovery=(w * pl.coalesce(c("recovery_rate"), kind)).sum(), low_haircut=(w * (1 - value / 100)).sum(),
        interest=(w * rate).filter(~deferring).sum(), spread=(w * effective).filter(~fixed).sum(),
        years=(w * (c("maturity_date") - AS_OF).clip(0)).sum() / 365.25,
        foreign=where(c("country") != 0), small=where(small), past_due=where(c("days_past_due") > 30),
        priced=where(c("price").is_not_null()), price=(w * c("price")).sum(),
        below_80=where(c("price") < 80), below_90=where(c("price") < 90), quoted=where(c("quote_depth") >= 2),
    )  # fmt: skip
    by_rank_of = lazy.select(w, rank=rank).group_by("rank").agg(c("w").sum())
    by_obligor_of = lazy.group_by("obligor").agg(w.sum(), c("industry").first())
    by_industry_of = lazy.group_by("industry").agg(w.sum())
    totals, by_rank, by_obligor, by_industry = pl.collect_all(
        [sums_of, by_rank_of, by_obligor_of, by_industry_of], engine="streaming"
    )
    sums = totals.row(0, named=True)
    sums["factor"] = float((FACTOR[by_rank["rank"].to_numpy()] * by_rank["w"].to_numpy()).sum())
    cpa = sums["par"] + (book.deal.principal_cash or 0.0)
    name = max(("ccc_a", "ccc_b", "ccc_c"), key=sums.__getitem__)
    agency = {"ccc_a": a, "ccc_b": b, "ccc_c": rank_c}[name]
    haircut, excess = 0.0, sums[name] - 0.075 * cpa
    if excess > 0:
        mark = c("price").fill_null(70.0)
        part = (excess - (w.cum_sum() - w)).clip(0)
        haircut = (
            lazy.filter(((agency >= 17) | unrated) & (w > 0)).select(w, mark=mark, value=value).sort("mark")
            .select((pl.min_horizontal(w, part) * (c("value") - c("mark")).clip(0)).sum() / 100)
            .collect(engine="streaming").item()
        )  # fmt: skip
    score = diversity(by_obligor["w"].to_numpy(), by_obligor["industry"].to_numpy(), sums["par"])
    largest = by_obligor["w"].top_k(5).sort(descending=True).to_list()
    return finish(book, sums, largest, by_industry["w"].sort(descending=True).to_list(), score, haircut)


# DuckDB

WEIGHED = f"""
create view weighed as with judged as (
    select *, is_fixed = 1 as fixed, is_deferring = 1 as deferring,
        is_defaulted = 1 or rating_agency_b = 22 or rating_agency_c = 22 or coalesce(days_past_due >= 90, false) as bad,
        rating_agency_a = 0 and rating_agency_b = 0 and rating_agency_c = 0 as unrated,
        coalesce(nullif(rating_agency_a, 0), nullif(rating_agency_b, 0), rating_agency_c) as rank,
        case when is_dip = 1 then 50.0 when lien = 1 then 45.0 else 35.0 end as kind,
        spread + greatest(floor - {BASE_RATE}, 0) * 100 as effective,
        coalesce(all_in_rate, greatest(floor, {BASE_RATE}) + spread / 100) as rate
    from loans
), carrying as (
    select *, case when bad then 0.0 else par_value end as w, case when bad then par_value else 0.0 end as d,
        least(greatest(least(price, coalesce(recovery_rate, kind)), 0), 100) as carried,
        purchase_price < case when fixed then 75 else 80 end
            and coalesce(price < case when fixed then 85 else 90 end, true) as discount
    from judged
) select *, least(case when discount then purchase_price else 100 end,
    case when deferring then carried else 100 end) as value
from carrying
"""
SUMS = {
    "par": "sum(w)", "defaulted": "sum(d)", "defaulted_carried": "sum(d * carried) / 100",
    "recovery": "sum(w * coalesce(recovery_rate, kind))", "low_haircut": "sum(w * (1 - value / 100))",
    "interest": "sum(w * rate) filter (not deferring)", "spread": "sum(w * effective) filter (not fixed)",
    "years": f"sum(w * greatest(maturity_date - {AS_OF}, 0)) / 365.25", "price": "sum(w * price)",
} | {
    name: f"coalesce(sum(w) filter ({condition}), 0)" for name, condition in {
        "junior": "lien > 1", "cov_lite": "cov_lite = 1", "fixed": "fixed", "ccc_a": "rating_agency_a >= 17 or unrated",
        "ccc_b": "rating_agency_b >= 17 or unrated", "ccc_c": "rating_agency_c >= 17 or unrated",
        "foreign": "country <> 0", "small": "facility_size < case when country = 0 then 150e6 else 250e6 end",
        "past_due": "days_past_due > 30", "priced": "price is not null", "below_80": "price < 80",
        "below_90": "price < 90", "quoted": "quote_depth >= 2",
    }.items()
}  # fmt: skip


def duckdb_of(table: pl.DataFrame) -> duckdb.DuckDBPyConnection:
    """The loans as a table of its own, in memory."""
    engine = duckdb.connect(config={"threads": pl.thread_pool_size()})
    engine.register("given", table)
    engine.execute("create table loans as select * from given")
    engine.execute(WEIGHED)
    return engine


def duckdb_figures(book: Portfolio, engine: duckdb.DuckDBPyConnection) -> Figures:
    """All 25 in SQL: an aggregation each for the sums, ranks, obligors and industries, and a window for the excess. It
    takes 12 ms for 200 loans, and empties the caches of the others: there it is not asked."""

    def asked_for(query: str) -> list[Any]:
        return engine.execute(query).fetchall()

    (row,) = asked_for(f"select {', '.join(SUMS.values())} from weighed")
    sums = dict(zip(SUMS, row, strict=True))
    sums["factor"] = sum(
        float(FACTOR[rank]) * w for rank, w in asked_for("select rank, sum(w) from weighed group by 1")
    )
    obligors = engine.execute(
        "select sum(w) as w, any_value(industry) as industry from weighed group by obligor"
    ).fetchnumpy()
    industries = [w for (w,) in asked_for("select sum(w) from weighed group by industry order by 1 desc")]
    name = max(("ccc_a", "ccc_b", "ccc_c"), key=sums.__getitem__)
    haircut, excess = 0.0, sums[name] - 0.075 * (sums["par"] + (book.deal.principal_cash or 0.0))
    if excess > 0:
        ((haircut,),) = asked_for(f"""
            select sum(least(w, greatest({excess} - (reached - w), 0)) * greatest(value - mark, 0)) / 100 from (
                select w, value, coalesce(price, 70) as mark,
                    sum(w) over (order by mark rows unbounded preceding) as reached
                from weighed where (rating_agency_{name[-1]} >= 17 or unrated) and w > 0
            )
        """)
    score = diversity(obligors["w"], obligors["industry"], sums["par"])
    largest = np.sort(np.partition(obligors["w"], -5)[-5:])[::-1]
    return finish(book, sums, largest, industries, score, haircut)


# NumPy


def numpy_figures(book: Portfolio) -> Figures:
    """All 25 with whole-column expressions."""
    n, f = book.numbers, book.flags
    a, b, c = (book.ranks[f"rating_agency_{agency}"] for agency in "abc")
    price, bought, spread = n["price"], n["purchase_price"], n["spread"]
    bad = (f["is_defaulted"] == 1) | (b == 22) | (c == 22) | (n["days_past_due"] >= 90)
    w = np.where(bad, 0.0, n["par_value"])
    rank = np.where(a > 0, a, np.where(b > 0, b, c))
    unrated = (a == 0) & (b == 0) & (c == 0)
    priced, fixed, floating = ~np.isnan(price), f["is_fixed"] == 1, f["is_fixed"] == 0
    kind = np.where(f["is_dip"] == 1, 50.0, np.where(book.lien == 1, 45.0, 35.0))
    recovery = n["recovery_rate"]
    low = np.flatnonzero((bought < 80) | (f["is_deferring"] == 1) | bad)

    def carried(rows: NDArray[Any]) -> NDArray[np.float64]:
        assumed = np.where(np.isnan(recovery[rows]), kind[rows], recovery[rows])
        percent: NDArray[np.float64] = np.fmin(price[rows], assumed).clip(0, 100)
        return percent

    line, release = np.where(fixed[low], 75, 80), np.where(fixed[low], 85, 90)
    discount = (bought[low] < line) & ~(price[low] >= release)
    value = np.full(book.row_count, 100.0)
    value[low] = np.minimum(
        np.where(discount, bought[low], 100.0), np.where(f["is_deferring"][low] == 1, carried(low), 100.0)
    )
    defaulted = np.flatnonzero(bad)
    country = book.names["country"].codes
    all_in = n["all_in_rate"]
    rate = np.where(np.isnan(all_in), np.maximum(n["floor"], BASE_RATE) + spread / 100, all_in)
    buckets = {name: (ranks >= 17) | unrated for name, ranks in (("ccc_a", a), ("ccc_b", b), ("ccc_c", c))}
    wp = np.where(priced, w, 0.0)
    sums = {
        "par": w.sum(),
        "defaulted": n["par_value"][defaulted].sum(),
        "defaulted_carried": (n["par_value"][defaulted] * carried(defaulted)).sum() / 100,
        "junior": w[book.lien > 1].sum(),  # type: ignore[operator]
        "cov_lite": w @ f["cov_lite"],
        "fixed": w[fixed].sum(),
        "recovery": w @ np.where(np.isnan(recovery), kind, recovery),
        "low_haircut": (w[low] * (1 - value[low] / 100)).sum(),
        "interest": w @ np.where(f["is_deferring"] == 1, 0.0, rate),
        "spread": (w * floating) @ (spread + np.maximum(n["floor"] - BASE_RATE, 0) * 100),
        "years": w @ np.maximum(n["maturity_date"] - AS_OF, 0) / 365.25,
        "foreign": w[country != 0].sum(),
        "small": w[n["facility_size"] < np.where(country == 0, 150e6, 250e6)].sum(),
        "past_due": w[n["days_past_due"] > 30].sum(),
        "priced": wp.sum(),
        "price": wp @ np.where(priced, price, 0.0),
        "below_80": w[price < 80].sum(),
        "below_90": w[price < 90].sum(),
        "quoted": w[n["quote_depth"] >= 2].sum(),
        "factor": float(np.bincount(rank, w, 23) @ FACTOR),
        **{name: w[bucket].sum() for name, bucket in buckets.items()},
    }
    cpa = sums["par"] + (book.deal.principal_cash or 0.0)
    name = max(buckets, key=sums.__getitem__)
    haircut, excess = 0.0, sums[name] - 0.075 * cpa
    if excess > 0:
        rows = np.flatnonzero(buckets[name] & (w > 0))
        mark = np.where(priced[rows], price[rows], 70.0)
        rows, mark = rows[order := np.argsort(mark)], mark[order]
        part = np.minimum(w[rows], (excess - (np.cumsum(w[rows]) - w[rows])).clip(0))
        haircut = (part * (value[rows] - mark).clip(0)).sum() / 100
    obligor = book.names["obligor"]
    by_obligor: NDArray[Any] = np.bincount(obligor.codes, w, len(obligor.values))
    industry = np.zeros(len(obligor.values), np.int32)
    industry[obligor.codes] = book.names["industry"].codes
    largest = np.sort(np.partition(by_obligor, -5)[-5:])[::-1]
    by_industry = np.sort(np.bincount(book.names["industry"].codes, w, INDUSTRIES))[::-1]
    return finish(book, sums, largest, by_industry, diversity(by_obligor, industry, sums["par"]), haircut)


def check(book: Portfolio, *theirs_of: Figures) -> None:
    """All 25 figures of the four must agree to nine digits."""
    ours = run_suite(book, "enhanced")
    assert len(ours) == 25, ours.skipped
    for peer in theirs_of:
        for result in ours:
            theirs = peer[result.test_id]
            assert abs(result.current_value - theirs) <= 1e-6 + 1e-9 * abs(theirs), (result.test_id, result, theirs)


def _tested(loans: int) -> Prepared:
    book = portfolio(loans)
    table = frame(book)
    peers = {POLARS: partial(polars_figures, book, table), NUMPY: partial(numpy_figures, book)}
    if loans > SMALLEST:
        peers |= {DUCKDB: partial(duckdb_figures, book, duckdb_of(table))}
    check(book, *(peer() for peer in peers.values()))
    return Prepared(works={OURS: partial(run_suite, book, "enhanced"), **peers})


def _question(loans: int, threads: int = 1) -> Question:
    name = f"compliance, 25 tests of {loans:,} loans"
    return Question(
        name=name if threads == 1 else f"{name}, {threads} threads of the peers", prepare=partial(_tested, loans),
        peers=(POLARS, NUMPY, *((DUCKDB,) if loans > SMALLEST else ())), repeats=REPEATS[loans], quick=loans < 10_000,
        ratio_least={NUMPY: 1.0} if loans < LARGEST else {POLARS: RATIO_LEAST} if threads == 1 else {},
        touched_bytes=LOAN_BYTES * loans if loans == LARGEST else None,
        environment={} if threads == 1 else {"POLARS_MAX_THREADS": str(threads)},
    )  # fmt: skip


def _tested_alone() -> Prepared:
    return Prepared(works={OURS: partial(run_suite, portfolio(200), "enhanced")})


def _tested_and_read() -> Prepared:
    book = portfolio(200)
    return Prepared(
        works={
            OURS: lambda: [(test_result.message, test_result.details) for test_result in run_suite(book, "enhanced")]
        }
    )


bench_compliance = asked(
    *(_question(loans) for loans in REPEATS),
    _question(LARGEST, threads=2),
    Question(
        name="compliance, 25 tests of 200 loans, alone, no message read", prepare=_tested_alone, repeats=REPEATS[200],
        seconds_most=SMALL_SECONDS_MOST, quick=True,
    ),
    Question(
        name="compliance, 25 tests of 200 loans, alone, every message and detail read", prepare=_tested_and_read,
        repeats=REPEATS[200], quick=True,
    ),
)  # fmt: skip
