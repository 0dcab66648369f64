"""Pools that are read piece by piece say what the same loans say in memory."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.pool import partial as pieces
from core.pool import streamed, sums, tied
from core.pool.run import partial_sums, run_pool
from core.pool.source import PoolRefused, open_pool, spans_of
from tests.core.pool.pools import DAY, DEAL, TRANCHES, Columns, differences, in_memory, loans, table, write

SEEDS = range(24)
GROUPS_MAX = 40
"""Row groups of a pool: to open one takes longer than its loans."""
DEFINITIONS = (None, "euro", "us_bsl")


def day_of(columns: Columns) -> Columns:
    """The deal of some loans, with the day where no column says it."""
    return DEAL if "as_of" in columns else DEAL | {"as_of": DAY}


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_pool_says_what_its_loans_say_in_memory(
    seed: int, definition: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(seed + 1_000)
    rows = int(chance.choice([1, 7, 60, 400, 900]))
    columns = loans(seed, rows)
    if definition == "us_bsl":
        del columns["is_current_pay"]  # of which that definition carries the excess below par
    monkeypatch.setattr(pieces, "PIECE_ROWS", int(chance.choice([16, 100, 131_072])))
    files = 5 if rows > 20 and chance.random() < 0.4 else 1
    group = max(int(chance.choice([3, 50, 1000])), rows // GROUPS_MAX)
    path = write(tmp_path / "pool.parquet", columns, group, files)
    deal = day_of(columns)
    known = in_memory(columns, "enhanced", path.name, deal, definition=definition)
    results = run_pool(path, "enhanced", tranches=TRANCHES, deal=deal, definition=definition)
    assert differences(results, known) == []


def test_threads_and_cuts_decide_nothing(tmp_path: Path) -> None:
    """A run by one thread, by three, and by parts that went through a pickle are the same to the last bit."""
    columns = loans(5, 900)
    path = write(tmp_path / "pool.parquet", columns, 20)
    options: dict[str, Any] = {"tranches": TRANCHES, "deal": day_of(columns)}

    def through_pickles(tasks: Any) -> Any:
        for task in tasks:
            yield pickle.loads(pickle.dumps(partial_sums(pickle.loads(pickle.dumps(task)))))

    runs = [
        run_pool(path, "enhanced", threads=1, **options),
        run_pool(path, "enhanced", threads=3, **options),
        run_pool(path, "enhanced", work=through_pickles, **options),
    ]
    figures = [[(result.test_id, result.current_value, result.message) for result in run] for run in runs]
    assert figures[0] == figures[1] == figures[2]
    assert [run._figures.exact for run in runs[1:]] == [runs[0]._figures.exact] * 2
    assert len(spans_of(open_pool(path))) > 3


def test_what_the_last_loans_say_is_read_again(tmp_path: Path) -> None:
    """Spreads, a mask word and ids that the first loans have not."""
    columns = loans(8, 600)
    columns["spread"] = [None] * 400 + [400.0] * 200
    columns["rating_agency_a"] = ["B2"] * 400 + ["hidden"] * 40 + ["B1"] * 160
    columns["issuer_id"] = [f"id {at % 50}" for at in range(400)] + [None] * 200
    path = write(tmp_path / "pool.parquet", columns, 100)
    deal = day_of(columns)
    known = in_memory(columns, "enhanced", path.name, deal)
    assert differences(run_pool(path, "enhanced", tranches=TRANCHES, deal=deal), known) == []


def test_an_excess_of_current_pay_loans_is_not_streamed(tmp_path: Path) -> None:
    columns = loans(3, 300)
    columns["is_current_pay"] = [True] * 300
    path = write(tmp_path / "pool.parquet", columns, 100)
    results = run_pool(path, "standard", tranches=TRANCHES, deal=day_of(columns), definition="us_bsl")
    reasons = {skip.test_id: skip.reason for skip in results.skipped}
    assert "needs all loans in memory at once" in reasons["oc_ratio"]
    assert "wal" not in reasons


def test_limits_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = loans(4, 600)
    path = write(tmp_path / "pool.parquet", columns, 100)
    options: dict[str, Any] = {"tranches": TRANCHES, "deal": day_of(columns)}
    with pytest.raises(PoolRefused, match=r"more than 20 distinct obligors: .* give the loans of an obligor one"):
        run_pool(path, obligors_max=20, **options)
    with monkeypatch.context() as patched:
        patched.setattr(sums, "CCC_ROWS_MAX", 2)
        skipped = {skip.test_id: skip.reason for skip in run_pool(path, "enhanced", **options).skipped}
    assert skipped["oc_ratio"] == streamed.TOO_MANY_PRICES
    with monkeypatch.context() as patched:
        patched.setattr(tied, "TIED_ROWS_MAX", 0)
        skipped = {skip.test_id: skip.reason for skip in run_pool(path, "enhanced", **options).skipped}
    assert skipped["oc_ratio"] == streamed.TIED


def test_many_prices_of_the_ccc_buckets_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = loans(6, 900)
    path = write(tmp_path / "pool.parquet", columns, 100)
    deal = day_of(columns)
    monkeypatch.setattr(sums, "CCC_ROWS_MAX", 200)
    results = run_pool(path, "enhanced", tranches=TRANCHES, deal=deal)
    assert differences(results, in_memory(columns, "enhanced", path.name, deal)) == []


def minimal(**more: Any) -> dict[str, Any]:
    return {"borrower_name": ["A", "B"], "par_value": [1e6, 2e6], **more}


BAD = [
    ({"borrower_name": ["A"], "spread": [1.0]}, "required column.s. par_value missing"),
    ({"par_value": [1.0]}, "required column.s. borrower_name missing"),
    (minimal(price=["a", "b"]), "pool.parquet: column 'price' holds string, which is no number"),
    (minimal(price=[[1.0], [2.0]]), "column 'price' holds list<.*, which is no number"),
    (minimal(price=[float("inf"), 1.0]), "pool.parquet: column 'price' holds an infinite value"),
    (minimal(is_defaulted=[2.0, 0.0]), "column 'is_defaulted' holds a flag that is neither 0 nor 1"),
    (minimal(maturity_date=["soon", "2030-01-01"]), "holds 'soon', which is no date"),
    (minimal(rating_agency_a=[30, 1]), "rating_agency_a: a rank is outside of 0 to 22"),
    (minimal(borrower_name=["A" * 40_000, "B"]), "holds a text longer than 32,767 bytes"),
]


@pytest.mark.parametrize(("columns", "message"), BAD)
def test_a_column_that_fits_no_field_is_refused(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(columns), tmp_path / "pool.parquet")
    with pytest.raises(PoolRefused, match=message):
        run_pool(tmp_path / "pool.parquet")


def test_types_of_other_programs_are_read(tmp_path: Path) -> None:
    """Decimals, timestamps with a zone, dictionaries, large strings and half floats are what they show."""
    from datetime import UTC, datetime
    from decimal import Decimal

    plain = minimal(price=[99.5, None], maturity_date=["2030-01-01", "2031-06-30"], industry=["Media", "Retail"])
    odd = {
        "borrower_name": pa.array(plain["borrower_name"], pa.large_string()),
        "par_value": pa.array([Decimal("1000000.00"), Decimal("2000000.00")]),
        "price": pa.array([99.5, None], pa.float32()),
        "maturity_date": pa.array([datetime(2030, 1, 1, tzinfo=UTC), datetime(2031, 6, 30, tzinfo=UTC)]),
        "industry": pa.array(plain["industry"]).dictionary_encode(),
    }
    runs = []
    for name, columns in (("plain", plain), ("odd", odd)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        results = run_pool(tmp_path / f"{name}.parquet", "enhanced", deal={"as_of": DAY})
        runs.append([(result.test_id, result.current_value) for result in results])
    assert runs[0] == runs[1]


def test_damaged_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "pool.parquet"
    path.write_bytes(b"")
    with pytest.raises(PoolRefused, match=r"pool.parquet: no Parquet file, or damaged"):
        run_pool(path)
    whole = write(tmp_path / "whole.parquet", loans(1, 400), 100).read_bytes()
    chance = np.random.default_rng(1)
    for _ in range(40):
        broken = bytearray(whole)
        for at in chance.integers(4, len(whole), 20):
            broken[at] = int(chance.integers(0, 256))
        path.write_bytes(broken)
        with suppress(PoolRefused):  # anything else fails the test
            run_pool(path, "enhanced", tranches=TRANCHES, deal=DEAL)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PoolRefused, match=r"no Parquet file, or damaged"):
        run_pool(path)


def test_folders_have_one_schema(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    with pytest.raises(PoolRefused, match=r"the folder has no file that ends in .parquet"):
        run_pool(folder)
    pq.write_table(pa.table(minimal(price=[90.0, 91.0])), folder / "a.parquet")
    pq.write_table(pa.table(minimal()), folder / "b.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "notes.txt").write_text("x")
    messages = [warning.message for warning in run_pool(folder).warnings if warning.code == "pool_left_out"]
    assert messages == [
        "1 file is left out: the name does not end in .parquet",
        "1 file has no column price, such as b.parquet: it is blank there",
    ]
    pq.write_table(pa.table(minimal(rating_agency_a=[1, 2])), folder / "c.parquet")
    pq.write_table(pa.table(minimal(rating_agency_a=["Aaa", "B2"])), folder / "d.parquet")
    with pytest.raises(PoolRefused, match=r"d.parquet: column 'rating_agency_a' holds values of kind text"):
        run_pool(folder)


def test_first_loans_without_par_are_not_those_that_are_asked(tmp_path: Path) -> None:
    """The first row group has one loan, of blank par: no test asks anything of it."""
    columns = loans(5145, 60)
    columns.pop("is_current_pay", None)
    columns["par_value"][0] = None
    path = write(tmp_path / "pool.parquet", columns, 1)
    deal = DEAL | {"as_of": DAY}
    known = in_memory(columns, "deal", path.name, deal, definition="us_bsl")
    results = run_pool(path, "deal", tranches=TRANCHES, deal=deal, definition="us_bsl")
    assert differences(results, known) == []


def test_folders_of_a_partitioned_dataset_say_what_no_test_asks(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    for year in (2025, 2026):
        (folder / f"year={year}" / "country=US").mkdir(parents=True)
        pq.write_table(pa.table(minimal(country=["US", "US"])), folder / f"year={year}" / "country=US" / "a.parquet")
    results = run_pool(folder)
    notes = [warning.message for warning in results.warnings if warning.code == "pool_left_out"]
    assert notes == ["1 column names no field: year"]
    assert results["single_obligor_concentration"].details.breakdown["rows"]["loans"] == 4


def test_no_loans_are_no_figures(tmp_path: Path) -> None:
    empty = table(minimal()).slice(0, 0)
    pq.write_table(empty, tmp_path / "empty.parquet")
    results = run_pool(tmp_path / "empty.parquet")
    assert not results
    assert all("no loans" in skip.reason or "not found" in skip.reason for skip in results.skipped[:1])
