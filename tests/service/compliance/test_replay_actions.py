"""Past runs replayed by `cushion lookback verify`: whatever became of their inputs, and whatever was tampered with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import psycopg
import pytest

from service.compliance.replay_actions import _differences, _figures_in_stored_form
from tests.conftest import Member, Stack, wait_until
from tests.forks import cushion
from tests.service.compliance.conftest import G1_DEAL, G1_LOANS, G1_NOTES, HEADER
from tests.service.compliance.test_lookback_actions import _tampered
from tests.service.formulas.conftest import applied, expression
from tests.service.formulas.conftest import create_config as made_formula

RUN, BOOKS = "/api/v1/compliance/run", "/api/v1/workbooks"
KEY = "deal:internal:replayed"
DEFINITION = {
    "conventions": {"closing_date": "2024-01-31"},
    "tests": [
        {"id": "ccc_bucket_pct", "name": "CCC", "measure": "ccc", "agency": "a", "max": 8.0},
        {"id": "senior_secured", "name": "Senior", "share": "=par_value>0", "min": 90.0},
    ],
}
MAPPING = {
    "name": "Doubled",
    "source_type": "clo_holdings",
    "profile_id": "standard_clo",
    "mappings": {},
    "transforms": [{"field": "spread", "operation": "multiply", "parameters": {"factor": 2}}],
}

Verify = Callable[..., CompletedProcess[str]]


@pytest.fixture
def verify(stack: Stack) -> Verify:
    """The command on the service's own settings."""

    def run(*arguments: str) -> CompletedProcess[str]:
        return cushion("lookback", "verify", *arguments, environment=stack.environment)

    return run


def ran(owner: Member, book_id: str, **body: Any) -> dict[str, Any]:
    answer = owner.post(RUN, json={"workbook_id": book_id, **body})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def parse_answer(
    answer: CompletedProcess[str],
) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """What is said of each run, of breaks, and at the end."""
    assert answer.stderr == ""
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    by_run_id = {line["run"]["run_id"]: line["run"] for line in lines if "run" in line}
    return by_run_id, [line["break"] for line in lines if "break" in line], lines[-1]


def test_a_decision_is_rebuilt_whatever_became_of_what_it_was_made_by(
    stack: Stack, owner: Member, verify: Verify, write_book: Callable[..., Path], g1_file: Path
) -> None:
    """Each kind of run.

    Then every one of its inputs is changed, written over or deleted.
    """
    plain = owner.uploaded(g1_file, stream_key=KEY)["id"]
    limits = [{"test_id": "ccc_bucket_pct", "threshold_value": 1.0, "warning_threshold": 0.5}]
    threshold = {"workbook_id": plain, "test_id": "single_obligor_concentration", "threshold_value": 9.5}
    assert owner.post("/api/v1/compliance/thresholds", json=threshold).status_code == 201
    runs = [
        ran(owner, plain),
        ran(owner, plain, test_suite="enhanced", as_of="2026-05-31", thresholds=limits),
        ran(owner, plain, test_ids=["wal", "was"], options={"include_cushion": False, "fail_fast": True}),
        ran(owner, plain, test_suite="deal", definition=DEFINITION),
    ]
    own_mapping = {**MAPPING, "name": "Own field", "mappings": {"Industry": {"target": "sector"}}}
    own = owner.post("/api/v1/mappings", json=own_mapping)
    assert own.status_code == 201, own.text
    with_own = owner.uploaded(g1_file, mapping_id=own.json()["id"])["id"]
    retail = {"id": "retail", "name": "Retail", "share": '=sector="Retail"', "max": 10}
    runs.append(ran(owner, with_own, test_suite="deal", definition={"tests": [retail]}))
    assert [run["test_id"] for run in runs[-1]["results"]] == ["retail"]
    assert owner.delete(f"{BOOKS}/{with_own}").status_code == 204
    assert owner.delete(f"/api/v1/mappings/{own.json()['id']}").status_code == 204
    mapping = owner.post("/api/v1/mappings", json=MAPPING)
    assert mapping.status_code == 201, mapping.text
    mapped = owner.uploaded(g1_file, mapping_id=mapping.json()["id"])["id"]
    runs.append(ran(owner, mapped))

    record = {"currency": "USD", "closing_date": "2024-02-29", "stated_maturity": "2036-01-31",
              "next_payment_date": "2026-04-30"}  # fmt: skip
    deal = owner.post("/api/v1/deals", json={"name": "Deal", **record}).json()
    definition_path = f"/api/v1/deals/{deal['id']}/definition"
    of_deal = owner.uploaded(g1_file, deal_id=deal["id"])["id"]
    runs.append(ran(owner, of_deal, test_suite="enhanced"))
    assert owner.put(definition_path, json={"definition": DEFINITION}).status_code == 200
    runs += [ran(owner, of_deal, test_suite="deal"), ran(owner, of_deal, test_suite="enhanced")]
    assert runs[-1]["definition_version"] == 1

    stale = [(*row[:3], f"={row[3]:.0f}*2", *row[4:]) for row in G1_LOANS]
    changing = owner.uploaded(write_book("stale", Holdings=[HEADER, *stale], Tranches=G1_NOTES, Deal=G1_DEAL))["id"]
    runs.append(ran(owner, changing))
    assert owner.post(f"{BOOKS}/{changing}/recalculate").status_code == 200
    owner.parsed(changing)
    runs.append(ran(owner, changing))
    formula = made_formula(owner, graph=expression("=p*400000", p="Market Price"), status="active")
    where = {"sheet_id": "Holdings", "target_column": "Par Amount", "output_mode": "overwrite"}
    assert applied(owner, formula, changing, **where)["status"] == "completed"
    runs.append(ran(owner, changing))
    assert len({json.dumps(run["results"]) for run in runs[-3:]}) == 2, "calculated when it was read, and anew, alike"

    assert owner.patch(f"/api/v1/mappings/{mapping.json()['id']}", json={"transforms": []}).status_code == 200
    for book_id in (plain, mapped, changing):
        assert owner.delete(f"{BOOKS}/{book_id}").status_code == 204
    assert owner.delete(f"/api/v1/mappings/{mapping.json()['id']}").status_code == 204
    assert owner.put(definition_path, json={"definition": {}}).status_code == 200
    later = {"closing_date": "2020-01-31", "next_payment_date": None, "stated_maturity": "2050-01-31"}
    assert owner.patch(f"/api/v1/deals/{deal['id']}", json=later).status_code == 200
    with stack.another_worker(CUSHION_STORAGE_PAUSE_SECONDS="1"):  # it frees whatever nothing keeps
        left = "SELECT count(*) FROM blobs WHERE left_at IS NOT NULL AND tenant_id = %s"
        wait_until(lambda: stack.sql(left, [owner.tenant_id]) == [(0,)], what="the end of the cleaning")

    result, breaks, end = parse_answer(verify("--tenant", owner.tenant_id, "--json"))
    wrong = {n: result.get(run["id"]) for n, run in enumerate(runs) if result[run["id"]]["status"] != "reproduced"}
    assert (wrong, breaks) == ({}, [])
    assert (end["runs"], end["other_engine_runs"]) == ({"reproduced": len(runs)}, 0)
    head = stack.sql("SELECT sequence, encode(hash, 'hex') FROM audit_heads WHERE tenant_id = %s", [owner.tenant_id])
    assert head == [(end["entries"], end["last_hash"])]
    item = result[runs[-4]["id"]]
    assert (item["as_of"], item["as_of_source"], item["definition_version"]) == (
        runs[-4]["as_of"], runs[-4]["as_of_source"], 1,
    )  # fmt: skip
    filters: list[tuple[tuple[str, ...], set[int]]] = [
        (("--stream", KEY), {0, 1, 2, 3}),
        (("--run", runs[5]["id"]), {5}),
        (("--since", "2000-01-01", "--until", "2000-12-31"), set()),
    ]
    for asked, expected in filters:
        some, _, _ = parse_answer(verify("--tenant", owner.tenant_id, "--json", *asked))
        assert set(some) == {runs[n]["id"] for n in expected}, asked


@contextmanager
def changed(stack: Stack, table: str, column: str, value: str, where: str, of: str) -> Iterator[None]:
    """Somebody who owns the database writes over a column of one row.

    Afterwards it is as it was.
    """
    with psycopg.connect(stack.database_url, autocommit=True) as connection:
        kind = connection.execute(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s",
            [table, column],
        ).fetchone()
        assert kind is not None
        connection.execute("SET session_replication_role = replica")  # no foreign key, no trigger
        row = connection.execute(f"SELECT {column}::text FROM {table} WHERE {where} = %s", [of]).fetchone()
        assert row is not None
        written = f"UPDATE {table} SET {column} = {value} WHERE {where} = %s RETURNING {where}::text"
        (now,) = connection.execute(written, [of]).fetchall()[0]
        try:
            yield
        finally:
            connection.execute(f"UPDATE {table} SET {column} = %s::{kind[0]} WHERE {where} = %s", [row[0], now])


def test_each_tampering_is_found(stack: Stack, owner: Member, verify: Verify, own_g1: dict[str, Any]) -> None:
    """A result, an input, what no hash covers, the kept columns, their bytes, a run more, a run less."""
    run = ran(owner, own_g1["id"], test_suite="enhanced")
    run_id, runs = run["id"], "compliance_runs"
    ((book_key,),) = stack.sql("SELECT book_key FROM compliance_runs WHERE id = %s", [run_id])
    value = json.dumps(run["results"][0]["current_value"])
    better = f"replace(results::text, '\"current_value\":{value}', '\"current_value\":1.5')::json"
    rows: list[tuple[str, str, str, str, str, str]] = [
        (runs, "results", better, "id", run_id, "its inputs are, and a replay gives what was hashed"),
        (runs, "mapping", "replace(mapping::text, 'Spread', 'Floor')::json", "id", run_id, "the hash of"),
        (runs, "mapping", "'[]'", "id", run_id, "cannot be replayed: ValidationError"),
        (runs, "as_of", "as_of + 1", "id", run_id, "the hash of"),
        (runs, "thresholds", "(thresholds::text || ' ')::json", "id", run_id, "the hash of"),
        (runs, "definition_version", "7", "id", run_id, "the hash of"),
        (runs, "executed_at", "executed_at - interval '1 year'", "id", run_id, "its moment are not those"),
        (runs, "summary", "'{\"passed\": 99}'", "id", run_id, "its counts are not those"),
        (runs, "figures", "'{}'", "id", run_id, "its figures for histories are not those"),
        (runs, "workbook_id", "gen_random_uuid()", "id", run_id, "its workbook are not those"),
        (runs, "id", "gen_random_uuid()", "id", run_id, "is not there"),
        ("evidence_books", "manifest", "replace(manifest, 'General', 'Genera1')", "key", book_key, "the manifest of"),
        ("evidence_books", "key", "'x'", "key", book_key, "were not kept"),
    ]
    missed = []
    for table, column, expression_, where, of, reason in rows:
        with changed(stack, table, column, expression_, where, of):
            answer = verify("--tenant", owner.tenant_id, "--json")
        result, _, _ = parse_answer(answer)
        item = result[run_id]
        expected = "unproved" if column == "key" else "altered"
        if (answer.returncode, item["status"]) != (1, expected) or reason not in item["reason"]:
            missed.append((table, column, answer.returncode, item))
        if column == "results":
            assert {(each["figure"], each["stored"]) for each in item["differences"]} == {("current_value", 1.5)}
            assert item["differences"][0]["replayed"] == run["results"][0]["current_value"]
        if column == "id":
            assert sorted(each["sequence"] is None for each in result.values()) == [False, True], (
                "one that none tells of"
            )
    assert missed == []

    with changed(stack, runs, "engine_version", "'0.0.1'", "id", run_id):
        result, _, _ = parse_answer(verify("--tenant", owner.tenant_id, "--json"))
        assert result[run_id]["is_present_engine"] is False
    ((blob,),) = stack.sql("SELECT blob_key FROM evidence_sheets WHERE book_key = %s ORDER BY 1 LIMIT 1", [book_key])
    path = stack.data_dir / "blobs" / blob[:2] / blob
    whole = path.read_bytes()
    path.write_bytes(whole[:-8] + bytes(8))
    result, _, _ = parse_answer(verify("--tenant", owner.tenant_id, "--json"))
    path.write_bytes(whole)
    assert (result[run_id]["status"], blob in result[run_id]["reason"]) == ("altered", True)
    answer = verify("--tenant", owner.tenant_id)
    assert answer.returncode == 0, answer.stdout
    assert re.search(rf"run {run_id}: reproduced, enhanced as of 2026-03-31 \(file\)\n", answer.stdout)
    entry = "UPDATE audit_log SET user_email = 'x' WHERE action = 'workbook.uploaded' AND tenant_id = %s"
    with _tampered(stack, (entry, [owner.tenant_id])):
        answer = verify("--tenant", owner.tenant_id)
        assert (answer.returncode, f"run {run_id}: reproduced" in answer.stdout) == (1, True)
        assert "entry 2: the chain is broken: the entry is not the one that was hashed" in answer.stdout


def test_what_a_version_did_not_store_yet_is_no_difference() -> None:
    """Results of runs of earlier versions have neither the file's figures nor doubts."""
    before = [{"test_id": "wal", "current_value": 4.5, "message": "told"}]
    added = {"published": None, "doubt": [{"code": "estimate"}], "doubtful": True}
    now = [{**added, **before[0]}]
    stored: dict[str, str | None] = dict.fromkeys(("as_of", "as_of_source", "skipped", "warnings", "options"))

    def differences(was: Any, comes: Any) -> list[str]:
        sides = ({**stored, "results": json.dumps(side)} for side in (was, comes))
        return [difference.figure for difference in _differences(*sides)]

    assert differences(before, now) == []
    assert differences(before, [{**now[0], "current_value": 4.6}]) == ["current_value", "doubt", "doubtful"]
    assert differences(now, [{**now[0], "doubtful": False}]) == ["doubtful"], "what was stored counts"
    assert differences([{**before[0], "published": None}], now) == ["doubt", "doubtful"], (
        "some of it is no earlier version"
    )
    newest = [{**now[0], "unit": "years", "decimals": 2}]
    assert differences(before, newest) == differences(now, newest) == []
    assert differences(now, [{**newest[0], "doubtful": False}]) == ["doubtful", "unit", "decimals"]
    assert differences(newest, [{**newest[0], "decimals": 3}]) == ["decimals"]
    alone = [{**before[0], "unit": "years", "decimals": 2}]
    assert differences(alone, newest) == ["doubt", "doubtful"], "no version had these alone"


def test_figures_for_histories_of_a_version_before_are_no_difference() -> None:
    older = {"wal": {"value": 4.5, "status": "pass"}}
    now = {"wal": {"name": "Life", "unit": "years", "decimals": 2, "value": 4.5, "status": "pass"}}
    assert _figures_in_stored_form(now, older) == older
    assert _figures_in_stored_form(now, {"wal": {**older["wal"], "unit": "years"}}) == now, "some of it is no version"
    assert _figures_in_stored_form(now, now) == now
