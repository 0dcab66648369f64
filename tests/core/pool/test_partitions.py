"""Folders that name columns: the loans below them are those of one table that has the columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from core.pool.partitions import KeyRefused, Value, is_data, key_value, partition_keys
from core.pool.run import run_pool
from core.pool.source import PoolRefused, open_pool
from tests.core.pool.pools import DAY, DEAL, TRANCHES, Columns, differences, in_memory, loans, table


def write_hive(path: Path, columns: Columns, keys: dict[str, pa.DataType]) -> Columns:
    """Write a dataset partitioned by some columns, and return its loans in the order of its files."""
    whole = table(columns)
    schema = pa.schema(list(keys.items()))
    parts = ds.partitioning(schema, flavor="hive")
    ds.write_dataset(whole, path, format="parquet", partitioning=parts, max_rows_per_group=50)
    read = ds.dataset(path, format="parquet", partitioning=parts).to_table()
    assert read.num_rows == whole.num_rows
    for name in ("maturity_date", "as_of"):
        if name in read.column_names:
            at = read.column_names.index(name)
            read = read.set_column(at, name, read.column(name).cast(pa.int32()))
    return {name: read.column(name).to_pylist() for name in columns}


KEYS: tuple[dict[str, pa.DataType], ...] = (
    {"country": pa.string()},
    {"maturity_date": pa.date32()},
    {"currency": pa.string(), "is_defaulted": pa.bool_()},
    {"rating_agency_b": pa.string(), "floor": pa.float64()},
    {"industry": pa.string(), "month": pa.int32()},
    {"issuer_id": pa.string()},
    {"borrower_name": pa.string()},
)


@pytest.mark.parametrize("keys", KEYS, ids=lambda keys: "-".join(keys))
@pytest.mark.parametrize("seed", [2, 9, 10])
def test_a_partitioned_dataset_says_what_its_loans_say_in_memory(
    seed: int, keys: dict[str, pa.DataType], tmp_path: Path
) -> None:
    columns = loans(seed, 400)
    columns["month"] = [1 + at % 3 for at in range(400)]
    columns["maturity_date"] = [None if day is None else day - day % 500 for day in columns["maturity_date"]]
    columns.setdefault("currency", ["USD"] * 400)
    columns.setdefault("floor", [0.5] * 400)
    if "issuer_id" in keys:
        columns["issuer_id"] = [None if at % 7 == 0 else f"id {at % 30}/%=é" for at in range(400)]
    if "borrower_name" in keys:
        columns["borrower_name"] = [name and name[-8:] for name in columns["borrower_name"]]
    path = tmp_path / "pool"
    columns = write_hive(path, columns, keys)
    del columns["month"]
    deal = DEAL if "as_of" in columns else DEAL | {"as_of": DAY}
    results = run_pool(path, "enhanced", tranches=TRANCHES, deal=deal)
    assert differences(results, in_memory(columns, "enhanced", "pool", deal)) == []
    messages = [warning.message for warning in results.warnings if warning.code == "pool_left_out"]
    assert messages == ["1 column names no field: month"]


def put(folder: Path, **columns: Any) -> None:
    """Write two loans into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.table({"borrower_name": ["A", "B"], "par_value": [1e6, 2e6], **columns}), folder / "loans.parquet"
    )


def figures(path: Path) -> dict[str, float]:
    results = run_pool(path, "enhanced", deal={"as_of": DAY})
    return {result.test_id: result.current_value for result in results}


def test_the_column_of_a_file_counts_before_its_folder(tmp_path: Path) -> None:
    put(tmp_path / "one" / "days_past_due=3" / "price=90", price=[70.0, 80.0])
    put(tmp_path / "two", price=[70.0, 80.0], days_past_due=[3.0, 3.0])
    assert figures(tmp_path / "one") == figures(tmp_path / "two")
    put(tmp_path / "three", price=[90.0, 90.0], days_past_due=[3.0, 3.0])
    assert figures(tmp_path / "one") != figures(tmp_path / "three")


def test_whole_numbers_are_ranks_and_levels(tmp_path: Path) -> None:
    put(tmp_path / "one" / "rating_agency_a=15" / "lien_type=1" / "base_rate=4.25", spread=[400.0, 500.0])
    put(
        tmp_path / "two", spread=[400.0, 500.0], base_rate=[4.25, 4.25],
        rating_agency_a=pa.array([15, 15], pa.int64()), lien_type=pa.array([1, 1], pa.int64()),
    )  # fmt: skip
    assert figures(tmp_path / "one") == figures(tmp_path / "two")
    assert {(field.target, field.kind) for field in open_pool(tmp_path / "one").fields} >= {
        ("rating_agency_a", "rank"), ("lien_type", "lien"), ("base_rate_level", "number"),
    }  # fmt: skip


def test_required_columns_may_be_folders(tmp_path: Path) -> None:
    folder = tmp_path / "one" / "par_value=1000000"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"borrower_name": ["A", "B", "B"]}), folder / "loans.parquet")
    pq.write_table(pa.table({"borrower_name": ["A", "B", "B"], "par_value": [1e6] * 3}), tmp_path / "two.parquet")
    assert figures(tmp_path / "one") == figures(tmp_path / "two.parquet")


REFUSED = [
    ("price=high", r"price=high/loans.parquet: the folder price=high names no number"),
    ("as_of=2026-03", r"the folder as_of=2026-03 names no date: write it as 2026-03-31"),
    ("is_dip=maybe", r"the folder is_dip=maybe names no flag"),
    ("country=US/country=FR", r"two folders of its path are called country=...: rename one"),
    ("country=%ff", r"the folder 'country=%ff' is not valid UTF-8"),
    ("price=inf", r"column 'price' holds an infinite value"),
]


@pytest.mark.parametrize(("folder", "message"), REFUSED, ids=[folder for folder, _ in REFUSED])
def test_folders_that_name_no_value_are_refused(folder: str, message: str, tmp_path: Path) -> None:
    put(tmp_path / "pool" / folder)
    with pytest.raises(PoolRefused, match=message):
        run_pool(tmp_path / "pool")


def test_folders_of_one_key_hold_one_kind(tmp_path: Path) -> None:
    put(tmp_path / "pool" / "rating_agency_a=15")
    put(tmp_path / "pool" / "rating_agency_a=Baa3")
    with pytest.raises(PoolRefused, match="holds values of kind text, and of kind rank"):
        run_pool(tmp_path / "pool")


@pytest.mark.parametrize("name", ["_delta_log/00.json", ".hoodie/x", "metadata/v1.metadata.json"])
def test_tables_that_drop_files_are_refused(name: str, tmp_path: Path) -> None:
    put(tmp_path / "pool")
    log = tmp_path / "pool" / name
    log.parent.mkdir()
    log.touch()
    with pytest.raises(PoolRefused, match=r"pool: a (Delta|Hudi|Iceberg) table, whose folder may have files"):
        run_pool(tmp_path / "pool")


def test_what_programs_keep_beside_data_is_no_loan(tmp_path: Path) -> None:
    put(tmp_path / "pool" / "_region=x")
    put(tmp_path / "pool" / "_temporary" / "0", price=["no price", "none"])
    put(tmp_path / "pool" / ".staging")
    assert [file.name for file in open_pool(tmp_path / "pool").files] == ["_region=x/loans.parquet"]


VALUES: list[tuple[str, str | None, Value]] = [
    ("country", "US", "US"),
    ("issuer_id", "0012", "0012"),
    ("rating_agency_a", "B2", "B2"),
    ("rating_agency_a", "12", 12),
    ("price", "99.5", 99.5),
    ("price", None, None),
    ("as_of", "20260331", 20_543.0),
    ("as_of", "2026-03-31", 20_543.0),
    ("as_of", "n/a", None),
    ("is_dip", "true", True),
    ("is_dip", "0", False),
]


@pytest.mark.parametrize(("target", "text", "value"), VALUES)
def test_a_text_is_read_as_its_field_wants(target: str, text: str | None, value: Value) -> None:
    read = key_value(target, target, text)
    assert (read, type(read)) == (value, type(value))


def test_names_of_folders() -> None:
    folders = ("2026", "country=United%20States", "a%3Db=c=d", "x=", "y=__HIVE_DEFAULT_PARTITION__")
    assert partition_keys(folders) == {"country": "United States", "a=b": "c=d", "x": None, "y": None}
    with pytest.raises(KeyRefused, match="two folders"):
        partition_keys(("a=1", "a=1"))
    paths = {"a=1/b.parquet": True, "_x=1/b.parquet": True, "_x/b.parquet": False, "a/.b.parquet": False, "_m": False}
    assert {path: is_data(Path(path)) for path in paths} == paths
