"""A million rows of 25 fields mapped and validated, beside the same work in Polars with one thread and with two.

Ours starts from a stored sheet, Polars from a frame of the same cells in memory. Every operation and every rule takes
part; all values and the count of each broken rule must agree before a time counts. The data are new in every run.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.grid._intern import intern
from core.grid.column import Column, Text
from core.grid.sheet import Formulas, Sheet, Workbook
from core.portfolio.mapping.normalise import NormalisedRows
from core.portfolio.mapping.pipeline import FieldColumn, works
from core.portfolio.mapping.pipeline import check as check_rules
from core.portfolio.mapping.profiles.configure import configure_mapping
from core.portfolio.mapping.validation import validate
from core.portfolio.model.fields import Mapping
from core.values import Kind

ROWS = 1_000_000
REPEATS = 5
RATIO_LEAST = {1: 0.5, 2: 1.2}
"""By threads, of which ours and Polars have as many."""

FACILITIES = ["Term Loan B", "TERM LOAN A", "Revolver", "Delayed Draw", "DIP Loan"]
INDEXES = ["SOFR 1M", "SOFR 3M", "EURIBOR 3M", "Prime", "sonia"]
RATINGS = ["B1", "B2", "B3", "Caa1", "Ba3", " b2 ", "NR"]
INDUSTRIES = [f"Corp - Industry {at}" for at in range(20)] + [f"Industry {at}" for at in range(20, 32)]
COUNTRIES = ["United States", "USA", "Canada", "Germany", "France", "Narnia"]
LIENS = ["First Lien", "Second Lien", "Unsecured"]
NAMES = ["{} Holdings, Inc.", "{} LLC", "{} Group", "{} S.A.", "{} International Corp"]


# The cells


def cells(rows: int) -> dict[str, tuple[list[str], NDArray[np.int32]] | NDArray[Any]]:
    """Header -> cells: numbers (NaN blank), flags, or distinct strings with each row's code (-1 blank)."""
    chance = np.random.default_rng()

    def some(strings: list[str], blank: float = 0.0) -> tuple[list[str], NDArray[np.int32]]:
        codes = chance.integers(0, len(strings), rows).astype(np.int32)
        return strings, np.where(chance.random(rows) < blank, np.int32(-1), codes)

    def own(form: str, first: int, blank: float = 0.0) -> tuple[list[str], NDArray[np.int32]]:
        """A string for each row; one in a thousand repeats the first."""
        codes = np.arange(rows, dtype=np.int32)
        codes[chance.random(rows) < 0.001] = 0
        codes[chance.random(rows) < blank] = -1
        return [form.format(at) for at in range(first, first + rows)], codes

    def holes(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
        return np.where(chance.random(rows) < share, np.nan, values)

    first = int(chance.integers(100_000_000, 800_000_000))
    borrowers = [NAMES[at % 5].format(f"Borrower {at}") for at in range(first, first + round(0.86 * rows))]
    days = [
        f"{day:02d}/{month:02d}/{year}" for year in range(2024, 2036) for month in range(1, 13) for day in range(1, 29)
    ]
    return {
        "CUSIP": own("{:09d}", first),
        "LoanX ID": own("lx{:09d}", first),
        "ISIN": own("US{:09d}0", first, 0.5),
        "Issuer": some(borrowers),
        "Issuer ID": own("I-{:09d}", first),
        "Facility": some(FACILITIES),
        "Par": np.round(chance.lognormal(0, 0.5, rows) * 1_500, 2) - (chance.random(rows) < 0.001) * 1e7,
        "Price": holes(chance.normal(0.97, 0.05, rows), 0.02),
        "Purchase Price": chance.normal(99, 1, rows),
        "Spread": np.round(chance.normal(3.8, 0.6, rows), 4),
        "Index": some(INDEXES),
        "Floor": chance.choice([0.0, 0.5, 0.75, 1.0], rows),
        "All In Rate": np.round(chance.normal(830, 60, rows), 2),
        "Coupon Type": some(["Floating", "fixed", "Float"]),
        "Rating": some(RATINGS, 0.05),
        "Moody's Rating": some(RATINGS, 0.1),
        "S&P Rating": some(["B+", "B", "B-", "CCC+", "b", "?"], 0.1),
        "Fitch Rating": some(["B+", "B", "B-"], 0.6),
        "Recovery Rate": holes(chance.choice([30.0, 45.0, 60.0, 140.0], rows), 0.2),
        "Industry": some(INDUSTRIES, 0.002),
        "Country": some(COUNTRIES),
        "Maturity": some([*days, "31/02/2030", "soon"]),
        "Lien": some(LIENS, 0.01),
        "Defaulted": some(["Y", "N"], 0.1),
        "Cov-Lite": chance.random(rows) < 0.5,
    }


def book(source: dict[str, Any], rows: int) -> Workbook:
    """The cells as a stored sheet under a header row."""
    strings: list[str] = [*source]
    for values in source.values():
        if isinstance(values, tuple):
            strings += values[0]
    interned, offsets, data = intern(strings)
    columns, at = [], len(source)
    for place, values in enumerate(source.values()):
        kinds, numbers = np.zeros(rows + 1, np.uint8), np.zeros(rows + 1)
        codes = np.full(rows + 1, -1, np.int32)
        kinds[0], codes[0] = Kind.TEXT, interned[place]
        if isinstance(values, tuple):
            own = interned[at : at + len(values[0])]
            codes[1:] = np.where(values[1] < 0, np.int32(-1), own[values[1]])
            kinds[1:] = np.where(values[1] < 0, Kind.BLANK, Kind.TEXT)
            at += len(values[0])
        elif values.dtype == np.bool_:
            kinds[1:], numbers[1:] = Kind.BOOLEAN, values
        else:
            kinds[1:] = np.where(np.isnan(values), Kind.BLANK, Kind.NUMBER)
            numbers[1:] = np.nan_to_num(values)
        columns.append(Column(0, kinds, numbers, codes, np.zeros(rows + 1, np.uint16)))
    none = np.zeros(0, np.int32)
    formulas = Formulas(none, none, none, none, Text(np.zeros(1, np.int64), np.zeros(0, np.uint8)), {})
    sheet = Sheet("Holdings", 0, "visible", tuple(columns), rows + 1, Text(offsets, data), formulas)
    return Workbook((sheet,))


def frame(source: dict[str, Any]) -> pl.DataFrame:
    """The same cells as a frame."""
    columns = {}
    for name, values in source.items():
        if isinstance(values, tuple):
            codes = pl.Series(np.where(values[1] < 0, 0, values[1]))
            blank = pl.Series(values[1] < 0)
            columns[name] = pl.Series(values[0]).gather(codes).to_frame("s").select(
                pl.when(~blank).then(pl.col("s"))
            ).to_series()  # fmt: skip
        else:
            columns[name] = pl.Series(values, nan_to_null=True)
    return pl.DataFrame(columns)


# What is done with them


def change(field: str, operation: str, **parameters: Any) -> dict[str, Any]:
    return {"field": field, "operation": operation, "parameters": parameters}


def rule(field: str, name: str, **parameters: Any) -> dict[str, Any]:
    return {"field": field, "rule": name, "parameters": parameters}


LOOKUPS: dict[str, dict[str, str]] = {
    "base_rate": {"SOFR 1M": "SOFR-1M", "SOFR 3M": "SOFR-3M", "EURIBOR 3M": "EURIBOR-3M", "Prime": "PRIME"},
    "country": {"United States": "US", "USA": "US", "Canada": "CA", "Germany": "DE", "France": "FR"},
    "lien_type": {"First Lien": "1L", "Second Lien": "2L", "Unsecured": "UN"},
}
SUFFIX = r",? (Inc|LLC|Corp)\.?$"


def mapping() -> Mapping:
    document = {
        "source_type": "clo_holdings",
        "profile_id": "standard_clo",
        "mappings": {
            "Recovery Rate": {"target": "recovery_rate", "type": "number", "default": 45},
            "Cov-Lite": {"target": "cov_lite", "type": "boolean", "default": False},
        },
        "transforms": [
            change("loanx_id", "uppercase"),
            change("isin", "lowercase"),
            change("borrower_name", "replace", pattern=SUFFIX, replacement=r" (\1)"),
            change("facility_name", "lowercase"),
            change("par_value", "multiply", factor=1000),
            change("price", "multiply", factor=100),
            change("price", "round", decimals=3),
            change("purchase_price", "round", decimals=2),
            change("spread", "multiply", factor=100),
            *(change(target, "lookup", mapping=table) for target, table in LOOKUPS.items()),
            change("all_in_rate", "divide", divisor=100),
            change("coupon_type", "uppercase"),
            change("rating", "trim"),
            change("rating", "uppercase"),
            change("rating_agency_a", "trim"),
            change("rating_agency_b", "uppercase"),
            change("industry", "replace", pattern="^Corp - ", replacement=""),
            change("maturity_date", "date_format", input_format="DD/MM/YYYY"),
        ],
        "validation_rules": [
            rule("cusip", "required"),
            rule("cusip", "regex", pattern="^[0-9A-Z]{9}$"),
            rule("cusip", "unique"),
            rule("loanx_id", "regex", pattern=r"^LX\d{9}$"),
            rule("isin", "length", min=12, max=12),
            rule("borrower_name", "length", max=28),
            rule("issuer_id", "regex", pattern=r"^I-\d+$"),
            rule("facility_name", "enum", values=["term loan b", "term loan a", "revolver", "delayed draw"]),
            rule("par_value", "positive"),
            rule("par_value", "range", min=1000, max=5e6),
            rule("price", "range", min=80, max=110),
            rule("purchase_price", "non_negative"),
            rule("spread", "range", min=250, max=600),
            rule("base_rate", "enum", values=sorted(LOOKUPS["base_rate"].values())),
            rule("floor", "non_negative"),
            rule("all_in_rate", "range", min=6.5, max=10),
            rule("coupon_type", "enum", values=["FLOATING", "FIXED"]),
            rule("rating", "enum", values=["B1", "B2", "B3", "CAA1"]),
            rule("rating_agency_a", "enum", values=["B1", "B2", "B3", "Caa1"]),
            rule("rating_agency_b", "regex", pattern="^[A-Z]+[+-]?$"),
            rule("recovery_rate", "range", min=0, max=100),
            rule("industry", "required"),
            rule("country", "length", max=2),
            rule("maturity_date", "range", min="2026-01-01", max="2034-12-31"),
            rule("maturity_date", "required"),
            rule("lien_type", "enum", values=["1L", "2L"]),
        ],
    }
    return configure_mapping(document, id="bench", name="Bench")


def ours(workbook: Workbook, own: Mapping, threads: int = 1) -> NormalisedRows:
    """From the stored sheet, its header found, to typed columns and what is wrong with them."""
    validation = validate(workbook, own, threads=threads)
    assert validation is not None
    return validation


TARGETS = {
    "cusip": "CUSIP", "loanx_id": "LoanX ID", "isin": "ISIN", "borrower_name": "Issuer", "issuer_id": "Issuer ID",
    "facility_name": "Facility", "par_value": "Par", "price": "Price", "purchase_price": "Purchase Price",
    "spread": "Spread", "base_rate": "Index", "floor": "Floor", "all_in_rate": "All In Rate",
    "coupon_type": "Coupon Type", "rating": "Rating", "rating_agency_a": "Moody's Rating",
    "rating_agency_b": "S&P Rating", "rating_agency_c": "Fitch Rating", "recovery_rate": "Recovery Rate",
    "industry": "Industry", "country": "Country", "maturity_date": "Maturity", "lien_type": "Lien",
    "is_defaulted": "Defaulted", "cov_lite": "Cov-Lite",
}  # fmt: skip


def polars_plan(table: pl.DataFrame) -> pl.LazyFrame:
    """The same: mapped columns, then a column for each rule that is True in the rows that break it."""
    c = pl.col
    mapped = {target: c(name) for target, name in TARGETS.items()}
    mapped["loanx_id"] = mapped["loanx_id"].str.to_uppercase()
    mapped["isin"] = mapped["isin"].str.to_lowercase()
    mapped["borrower_name"] = mapped["borrower_name"].str.replace(SUFFIX, " (${1})")
    mapped["facility_name"] = mapped["facility_name"].str.to_lowercase()
    mapped["par_value"] = mapped["par_value"] * 1000
    mapped["price"] = (mapped["price"] * 100).round(3, mode="half_away_from_zero")
    mapped["purchase_price"] = mapped["purchase_price"].round(2, mode="half_away_from_zero")
    mapped["spread"] = mapped["spread"] * 100
    mapped["all_in_rate"] = mapped["all_in_rate"] / 100
    for target, lookup in LOOKUPS.items():
        mapped[target] = mapped[target].replace(lookup)
    mapped["coupon_type"] = mapped["coupon_type"].str.to_uppercase()
    mapped["rating"] = mapped["rating"].str.strip_chars().str.to_uppercase()
    mapped["rating_agency_a"] = mapped["rating_agency_a"].str.strip_chars()
    mapped["rating_agency_b"] = mapped["rating_agency_b"].str.to_uppercase()
    mapped["recovery_rate"] = mapped["recovery_rate"].fill_null(45.0)
    mapped["industry"] = mapped["industry"].str.replace("^Corp - ", "")
    mapped["maturity_date"] = mapped["maturity_date"].str.to_date("%d/%m/%Y", strict=False)
    mapped["is_defaulted"] = mapped["is_defaulted"] == "Y"
    mapped["cov_lite"] = mapped["cov_lite"].fill_null(value=False)
    unreadable = c("Maturity").is_not_null() & c("maturity_date").is_null()
    day = {year: pl.lit(f"{year}").str.to_date("%Y-%m-%d") for year in ("2026-01-01", "2034-12-31")}
    broken = {
        "cusip required": c("cusip").is_null(),
        "cusip regex": ~c("cusip").str.contains("^[0-9A-Z]{9}$"),
        "cusip unique": ~c("cusip").is_first_distinct(),
        "loanx_id regex": ~c("loanx_id").str.contains(r"^LX[0-9]{9}$"),
        "isin length": c("isin").str.len_chars() != 12,
        "borrower_name required": c("borrower_name").is_null(),
        "borrower_name length": c("borrower_name").str.len_chars() > 28,
        "issuer_id regex": ~c("issuer_id").str.contains("^I-[0-9]+$"),
        "facility_name enum": ~c("facility_name").is_in(["term loan b", "term loan a", "revolver", "delayed draw"]),
        "par_value required": c("par_value").is_null(),
        "par_value positive": c("par_value") <= 0,
        "par_value range": ~c("par_value").is_between(1000, 5e6),
        "price range": ~c("price").is_between(80, 110),
        "purchase_price non_negative": c("purchase_price") < 0,
        "spread range": ~c("spread").is_between(250, 600),
        "base_rate enum": ~c("base_rate").is_in(list(LOOKUPS["base_rate"].values())),
        "floor non_negative": c("floor") < 0,
        "all_in_rate range": ~c("all_in_rate").is_between(6.5, 10),
        "coupon_type enum": ~c("coupon_type").is_in(["FLOATING", "FIXED"]),
        "rating enum": ~c("rating").is_in(["B1", "B2", "B3", "CAA1"]),
        "rating_agency_a enum": ~c("rating_agency_a").is_in(["B1", "B2", "B3", "Caa1"]),
        "rating_agency_b regex": ~c("rating_agency_b").str.contains("^[A-Z]+[+-]?$"),
        "recovery_rate range": ~c("recovery_rate").is_between(0, 100),
        "industry required": c("industry").is_null(),
        "country length": c("country").str.len_chars() > 2,
        "maturity_date type": unreadable,
        "maturity_date range": ~c("maturity_date").is_between(day["2026-01-01"], day["2034-12-31"]),
        "maturity_date required": c("Maturity").is_null(),
        "lien_type enum": ~c("lien_type").is_in(["1L", "2L"]),
    }
    named = {name: expression.fill_null(value=False) for name, expression in broken.items()}
    return (
        table.lazy()
        .select(c("Maturity"), **mapped)
        .with_columns(**named)
        .with_columns(invalid=pl.any_horizontal(list(named)))
    )


def polars_answer(table: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int], int]:
    """The mapped frame, how many rows break each rule, and how many break any."""
    collected = polars_plan(table).collect()
    names = [name for name in collected.columns if " " in name]
    counts = collected.select(pl.col(*names, "invalid").sum()).row(0, named=True)
    invalid = counts.pop("invalid")
    return collected, {name: count for name, count in counts.items() if count}, invalid


def check(normalised: NormalisedRows, answer: tuple[pl.DataFrame, dict[str, int], int], own: Mapping) -> None:
    """All values, the count of each broken rule, and the rows in error are the same."""
    mapped, counts, invalid = answer
    assert list(normalised.columns) == list(TARGETS)
    for target, column in normalised.columns.items():
        theirs = mapped[target]
        if column.type == "string":
            codes = column.text.codes
            strings = pl.Series([*column.text.text.strings(), ""], dtype=pl.String)
            same = strings.gather(np.where(codes < 0, len(strings) - 1, codes)).equals(theirs.fill_null(""))
        else:
            values = theirs.to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy()
            same = np.allclose(column.values, values, rtol=1e-12, atol=0, equal_nan=True)
        assert same, f"{target} differs"
    known = works(own)
    broken: dict[str, int] = {}
    for target, column in normalised.columns.items():
        outcome = FieldColumn(column)
        check_rules(known[target], outcome)
        broken |= {f"{target} {finding.rule}": len(finding.rows) for finding in outcome.findings}
    expected = {name: count for name, count in counts.items() if name.split()[1] not in ("type", "required")}
    assert {name: count for name, count in broken.items() if not name.endswith("required")} == expected
    assert (normalised.error_count, normalised.rows_invalid) == (sum(counts.values()), invalid)


def _mapped(threads: int) -> Prepared:
    source = cells(ROWS)
    workbook, table, own = book(source, ROWS), frame(source), mapping()
    check(ours(workbook, own, threads), polars_answer(table), own)
    return Prepared(works={OURS: lambda: ours(workbook, own, threads), "Polars": lambda: polars_answer(table)})


bench_mapping = asked(
    *(
        Question(
            name=f"map and validate {ROWS:,} x {len(TARGETS)}" + (", beside two threads" if threads == 2 else ""),
            prepare=partial(_mapped, threads), peers=("Polars",), repeats=REPEATS,
            ratio_least={"Polars": RATIO_LEAST[threads]}, environment={"POLARS_MAX_THREADS": str(threads)},
            quick=threads == 1,
        )
        for threads in RATIO_LEAST
    )
)  # fmt: skip
