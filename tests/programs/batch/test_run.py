"""The batch command, run as a user runs it: files, folders, archives, S3, broken ones, and going on where it ended."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import shutil
import signal
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer
from pyarrow import parquet

from core.generate import generate, generate_tape
from tests.conftest import wait_until

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]
Starter = Callable[..., Popen[str]]

DATA = Path(__file__).parents[3] / "../shared/data"
NOW = ("--now", "2026-04-15")
RESULTS = ("results.csv", "summary.html")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workbooks, one with a breach, a broken one, an archive, a folder of parts, a folder with a tape, a letter."""
    path = tmp_path_factory.mktemp("deals")
    generate(200, 1).write(path / "clean.xlsx")
    generate(200, 2, faults=["breach_ccc"]).write(path / "breach.xlsx")
    (path / "broken.xlsx").write_bytes((path / "clean.xlsx").read_bytes()[:5000])
    (path / "readme.md").write_text("no deal")
    with zipfile.ZipFile(path / "zipped.zip", "w") as archive:
        archive.write(path / "clean.xlsx", "inside.xlsx")
    tape = generate_tape(generate(200, 7), "trustee_a", 7)
    (path / "pair").mkdir()
    tape.write(path / "pair" / "tape.xlsx")
    tape.deal.write(path / "pair" / "holdings.xlsx")
    return path


@pytest.fixture(scope="module")
def done(
    tmp_path_factory: pytest.TempPathFactory, cushion: Cushion, folder: Path
) -> tuple[Path, CompletedProcess[str]]:
    """The results of the folder, and what the command said."""
    out = tmp_path_factory.mktemp("done")
    return out, cushion("batch", folder, "--out", out, "--format", "csv", "--jobs", "2", *NOW)


def rows_in(out: Path) -> list[dict[str, str]]:
    with (out / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def bytes_in(out: Path) -> list[bytes]:
    return [(out / name).read_bytes() for name in RESULTS]


def record_in(out: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((out / "batch.json").read_text())
    return record


def test_every_deal_has_its_rows_and_a_broken_file_stops_none(
    done: tuple[Path, CompletedProcess[str]], folder: Path
) -> None:
    out, answer = done
    assert answer.returncode == 2
    first, *lines = answer.stderr.splitlines()
    assert first == "5 deals from 3 files, 1 archive and 1 folder of 2 files"
    assert lines[0] == "note: 1 file left out: readme.md"
    assert lines[1].startswith("refused: broken: ")
    assert answer.stdout.splitlines()[-1] == f"{out}/results.csv"
    rows = rows_in(out)
    assert [row["deal"] for row in rows] == sorted(row["deal"] for row in rows)
    by_deal = {deal: [row for row in rows if row["deal"] == deal] for deal in {row["deal"] for row in rows}}
    assert set(by_deal) == {"breach", "broken", "clean", "pair", "zipped"}
    (broken,) = by_deal["broken"]
    assert (broken["step"], broken["status"], broken["value"]) == ("read", "refused", "")
    assert broken["message"]
    assert [row["test_id"] for row in by_deal["breach"] if row["status"] == "fail"] == ["ccc_bucket_pct"]
    assert "taken for the trustee's tape by its name" in by_deal["pair"][0]["message"]
    assert by_deal["pair"][0]["value"] == "200.0", "loans of the tape are not added"
    page = (out / "summary.html").read_text(encoding="utf-8")
    assert "5 deals from 3 files, 1 archive and 1 folder of 2 files." in page
    assert "readme.md" in page
    counters = record_in(out)["counters"]
    assert (counters["deal_months"], counters["refused"], counters["done_earlier"]) == (5, 1, 0)
    assert set(counters["processor_seconds"]) == {
        "start_up", "copying", "reading", "calculating", "scheduling", "writing",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["clean", "breach", "zipped"])
def test_figures_are_those_of_the_command_for_one_file(
    cushion: Cushion, done: tuple[Path, CompletedProcess[str]], folder: Path, name: str
) -> None:
    (path,) = folder.glob(f"{name}.*")
    document = json.loads(cushion("compliance", path, "--json").stdout)
    rows = [row for row in rows_in(done[0]) if row["deal"] == name and row["step"] == "suite"]
    results = {result["test_id"]: result for result in document["results"]}
    assert len(rows) == len(results) + len(document["skipped"]) == 15
    for row in rows:
        if row["status"] == "skipped":
            continue
        result = results[row["test_id"]]
        assert float(row["value"]) == result["current_value"]
        assert float(row["limit"]) == result["threshold_value"]
        assert row["cushion"] == ("" if result["cushion"] is None else repr(float(result["cushion"])))
        assert (row["status"], row["message"]) == (result["status"], result["message"])
        assert (row["as_of"], row["as_of_source"]) == (document["as_of"], document["as_of_source"])


@pytest.mark.skipif(not DATA.exists(), reason="no files of real deals here")
def test_real_files_have_the_figures_of_the_command_for_one_file(cushion: Cushion, tmp_path: Path) -> None:
    files = [DATA / "mag17.xlsx", DATA / "contego-xi/report-2024-09-30.xlsx", DATA / "layouts/euro-csv.zip"]
    answer = cushion("batch", *files, "--out", tmp_path, "--format", "csv", "--suite", "enhanced", *NOW)
    assert answer.returncode == 0, answer.stderr
    rows = rows_in(tmp_path)
    for file in files:
        document = json.loads(cushion("compliance", file, "--suite", "enhanced", "--json").stdout)
        figures = {row["test_id"]: row for row in rows if row["deal"] == file.stem and row["step"] == "suite"}
        for result in document["results"]:
            if document["as_of_source"] != "modified":
                assert float(figures[result["test_id"]]["value"]) == result["current_value"]
            published = (result.get("published") or {}).get("value")
            assert figures[result["test_id"]]["published"] == ("" if published is None else repr(float(published)))


def test_the_number_of_jobs_changes_no_byte(
    cushion: Cushion, done: tuple[Path, CompletedProcess[str]], folder: Path, tmp_path: Path
) -> None:
    assert cushion("batch", folder, "--out", tmp_path, "--format", "csv", "--jobs", "1", *NOW).returncode == 2
    assert bytes_in(tmp_path) == bytes_in(done[0])


def test_the_same_command_again_does_only_what_changed(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    sources, out = tmp_path / "sources", tmp_path / "out"
    sources.mkdir()
    for name in ("clean.xlsx", "breach.xlsx"):
        shutil.copy(folder / name, sources)
    arguments = (
        "batch",
        sources,
        "--out",
        out,
        "--format",
        "csv",
        "--steps",
        "suite,report",
        "--report-format",
        "xlsx",
    )
    assert cushion(*arguments, "--now", "2026-04-15").returncode == 0
    first = bytes_in(out)
    os.utime(sources / "clean.xlsx", (0, 0))  # a time is no content
    assert cushion(*arguments).returncode == 0, "the day is that of the first run"
    assert record_in(out)["counters"]["done_earlier"] == 2
    assert bytes_in(out) == first
    (out / "deals/clean/report.xlsx").unlink()
    (part,) = {*(out / "parts").iterdir()} - {
        path for path in (out / "parts").iterdir() if b'"deal":"clean"' in path.read_bytes()
    }
    part.write_bytes(part.read_bytes()[:-9])
    assert cushion(*arguments).returncode == 0
    assert record_in(out)["counters"]["done_earlier"] == 0, "one lost its report, one its rows"
    assert bytes_in(out) == first
    assert (out / "deals/clean/report.xlsx").exists()
    shutil.copy(folder / "breach.xlsx", sources / "clean.xlsx")
    assert cushion(*arguments).returncode == 0
    assert record_in(out)["counters"]["done_earlier"] == 1
    assert bytes_in(out) != first


def test_another_rule_is_another_result(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    arguments = ("batch", folder / "clean.xlsx", "--out", tmp_path, "--format", "csv")
    assert cushion(*arguments).returncode == 0
    assert cushion(*arguments, "--suite", "enhanced").returncode == 0
    assert record_in(tmp_path)["counters"]["done_earlier"] == 0
    assert len([row for row in rows_in(tmp_path) if row["step"] == "suite"]) == 25


def test_a_report_of_another_rule_is_not_taken_for_that_of_these_rows(
    cushion: Cushion, folder: Path, tmp_path: Path
) -> None:
    arguments = (
        "batch",
        folder / "clean.xlsx",
        "--out",
        tmp_path,
        "--steps",
        "report",
        "--report-format",
        "xlsx",
        *NOW,
    )
    report = tmp_path / "deals/clean/report.xlsx"
    contents = []
    for suite in ("standard", "enhanced", "standard"):
        assert cushion(*arguments, "--format", "csv", "--suite", suite).returncode == 0
        contents.append(report.read_bytes())
    assert contents[0] == contents[2] != contents[1]


@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        ("breach.xlsx", None, 0),
        ("breach.xlsx", "fail", 1),
        ("breach.xlsx", "doubtful", 1),
        ("clean.xlsx", "fail", 0),
        ("b*.xlsx", "fail", 2),
    ],
)
def test_exit_codes(cushion: Cushion, folder: Path, tmp_path: Path, name: str, fail_on: str | None, code: int) -> None:
    options = [] if fail_on is None else ["--fail-on", fail_on]
    answer = cushion("batch", folder / name, "--out", tmp_path, "--format", "jsonl", *options)
    assert answer.returncode == code, answer.stderr


def test_a_named_folder_of_delimited_text_is_one_deal(cushion: Cushion, tmp_path: Path) -> None:
    parts = tmp_path / "acme"
    parts.mkdir()
    (parts / "loans.csv").write_text("Borrower,Par Amount,Spread\nAcme Corp.,1000000,3.5\nBeta LLC,2000000,4\n")
    (parts / "cash.csv").write_text("Account,Balance\nPrincipal,5\n")
    answer = cushion("batch", parts, "--out", tmp_path / "out", "--format", "csv")
    assert answer.stderr.splitlines()[0] == "1 deal from 1 folder of 2 files"
    rows = rows_in(tmp_path / "out")
    assert {(row["deal"], row["files"]) for row in rows} == {("acme", "cash.csv; loans.csv")}
    assert rows[0]["value"] == "2.0"


def test_the_table_of_deals_says_terms_and_what_it_misses(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    deals = tmp_path / "deals.csv"
    deals.write_text(
        "pattern,deal,definition,as_of,tape\n"
        "clean.xlsx,Clean I,us_bsl,2025-12-31,\n"
        "pair,Pair II,own.toml,,tape.xlsx\n"
        "gone.xlsx,,,,\n"
    )
    (tmp_path / "own.toml").write_text('[[tests]]\nid = "own"\nname = "Own"\nshare = "=par_value>0"\nmax = 50.0\n')
    answer = cushion("batch", folder, "--deals", deals, "--suite", "deal", "--out", tmp_path / "out", "--format", "csv")
    assert answer.returncode == 2
    assert "note: 1 row of deals.csv matched no source: gone.xlsx (line 4)" in answer.stderr
    rows = rows_in(tmp_path / "out")
    clean = [row for row in rows if row["deal"] == "Clean I"]
    assert {(row["as_of"], row["as_of_source"]) for row in clean} == {("2025-12-31", "request")}
    assert len(clean) > 5
    (own,) = [row for row in rows if row["deal"] == "Pair II" and row["step"] == "suite"]
    assert (own["test_id"], own["limit"], own["status"]) == ("own", "50.0", "fail")
    (breach,) = [row for row in rows if row["deal"] == "breach"]
    assert breach["status"] == "refused"
    assert breach["message"] == "no row of deals.csv matches breach.xlsx; a last row with * takes the rest"


def test_steps_write_their_files_and_rows(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    steps = ("--steps", "suite", "recalc,reconcile", "export", "report", "--trustee", "trustee_a")
    answer = cushion("batch", folder, "--out", tmp_path, *steps, *NOW)
    assert answer.returncode == 2, answer.stderr
    table = parquet.read_table(tmp_path / "results.parquet").to_pylist()
    pair = [row for row in table if row["deal"] == "pair"]
    assert {row["step"] for row in pair} == {"read", "suite", "recalc", "reconcile", "report", "export"}
    outputs = {row["output"] for row in pair if row["output"]}
    assert outputs == {f"deals/pair/{name}" for name in ("issues.csv", "report.pdf", "export.xlsx")}
    assert all((tmp_path / output).stat().st_size for output in outputs)
    document = json.loads(
        cushion(
            "reconcile", folder / "pair/tape.xlsx", folder / "pair/holdings.xlsx", "--trustee", "trustee_a", "--json"
        ).stdout
    )
    counts = {row["test_id"]: row["value"] for row in pair if row["step"] == "reconcile"}
    for severity, count in document["by_severity"].items():
        assert counts[f"issues_{severity}"] == count
    assert counts["loans_matched"] == document["summary"]["matched"]


def test_a_pipe_is_refused_and_not_waited_for(cushion: Cushion, folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    shutil.copy(folder / "clean.xlsx", tmp_path)
    answer = cushion("batch", tmp_path, "--out", tmp_path / "out", "--format", "csv", *NOW)
    assert answer.returncode == 2
    assert "refused: pipe: pipe.csv: a pipe or a device, and no file" in answer.stderr


def test_a_second_batch_on_the_same_folder_is_refused(refused: Refusal, folder: Path, tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        line = refused("batch", folder / "clean.xlsx", "--out", tmp_path)
    assert line.endswith("another batch is writing there; wait for its end, or name another folder with --out")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_batch_goes_on_where_it_ended(
    cushion: Cushion, started: Starter, folder: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    for at in range(24):
        shutil.copy(folder / "clean.xlsx", sources / f"deal-{at:02}.xlsx")
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    arguments = ["--format", "csv", "--jobs", "1", *NOW]
    assert cushion("batch", sources, "--out", whole, *arguments).returncode == 0
    with started("batch", sources, "--out", cut, *arguments) as process:
        wait_until(lambda: len([*cut.glob("parts/*.jsonl")]) >= 2, seconds=120, what="a few deals")
        process.send_signal(sent)
        assert process.wait(120) == 130
    kept = len([*cut.glob("parts/*.jsonl")])
    assert 2 <= kept < 24
    assert not (cut / "results.csv").exists()
    assert cushion("batch", sources, "--out", cut, *arguments).returncode == 0
    assert record_in(cut)["counters"]["done_earlier"] == kept
    assert bytes_in(cut) == bytes_in(whole)


# S3 -------------------------------------------------------------------------------------------------------------------

BUCKET = "cushion-batch"


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[Any, dict[str, str]]]:
    """A client of a server with an empty bucket, and the environment of a command that uses it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    endpoint = f"http://127.0.0.1:{port}"
    secret = {"AWS_ACCESS_KEY_ID": "batch", "AWS_SECRET_ACCESS_KEY": "S3-7", "AWS_REGION": "us-east-1"}
    client = boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id="batch", aws_secret_access_key="S3-7", region_name="us-east-1"
    )
    client.create_bucket(Bucket=BUCKET)
    yield client, {**secret, "AWS_ALLOW_HTTP": "true", "AWS_ENDPOINT": endpoint}
    client.close()
    server.stop()


def test_a_bucket_gives_files_and_takes_results(
    cushion: Cushion, done: tuple[Path, CompletedProcess[str]], s3: tuple[Any, dict[str, str]], folder: Path
) -> None:
    client, environment = s3
    for path in folder.rglob("*"):
        if path.is_file():
            client.upload_file(str(path), BUCKET, f"in/{path.relative_to(folder).as_posix()}")
    source, out = f"s3://{BUCKET}/in", f"s3://{BUCKET}/out/march"
    arguments = ("batch", source, "--out", out, "--format", "csv", *NOW)
    answer = cushion(*arguments, **environment)
    assert answer.returncode == 2, answer.stderr
    stored = [client.get_object(Bucket=BUCKET, Key=f"out/march/{name}")["Body"].read() for name in RESULTS]
    assert stored == bytes_in(done[0])
    assert cushion(*arguments, **environment).returncode == 2
    record = json.loads(client.get_object(Bucket=BUCKET, Key="out/march/batch.json")["Body"].read())
    assert record["counters"]["done_earlier"] == 5
    only = cushion("batch", f"{source}/clean.xlsx", "--out", out, "--format", "csv", **environment)
    assert only.returncode == 0, only.stderr
    assert only.stderr.splitlines()[0] == "1 deal from 1 file"


def test_a_bucket_that_holds_nothing_is_refused(
    cushion: Cushion, s3: tuple[Any, dict[str, str]], tmp_path: Path
) -> None:
    for address in (f"s3://{BUCKET}/nothing", "s3://no-such-bucket/in", "s3://"):
        answer = cushion("batch", address, "--out", tmp_path, **s3[1])
        assert answer.returncode == 2
        (line,) = answer.stderr.splitlines()
        assert line.startswith(f"cushion: {address}: ")
