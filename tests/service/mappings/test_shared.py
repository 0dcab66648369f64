"""Stored mappings at work.

Workbooks that name them, and compliance runs that read by them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import openpyxl
import pytest

from core.portfolio.cells import checkpoint
from service.mappings.schema import MappingTooSlow
from service.mappings.shared import TEXT_GROWTH_BYTES_MAX, mapping_time
from tests.conftest import Member, Stack
from tests.service.mappings.conftest import PATH, column

Make = Callable[..., dict[str, Any]]

RUN = "/api/v1/compliance/run"
WORKBOOKS = "/api/v1/workbooks"

HEADER = ("Kreditnehmer", "Nominal (Tsd)", "Marge %", "Branche", "Art", "Letzte Rate")
LOANS: Sequence[Sequence[Any]] = (
    ("Alpha GmbH", 40_000, 3.25, "Automotive", "Erstrang", "30.06.2031"),
    ("Bravo AG", 30_000, 3.75, "Retail", "Erstrang", "31.12.2030"),
    ("Charlie SE", 30_000, 4.00, "Chemicals, Plastics & Rubber", "Zweitrang", "15.03.2032"),
)
GERMAN: dict[str, Any] = {
    "source_type": "clo_holdings",
    "profile_id": "standard_clo",
    "mappings": {
        "Kreditnehmer": column("borrower_name", required=True),
        "Nominal (Tsd)": column("par_value", "number", required=True),
        "Marge %": column("spread", "number"),
        "Branche": column("industry"),
        "Art": column("lien_type"),
        "Letzte Rate": column("maturity_date", "date"),
    },
    "transforms": [
        {"field": "par_value", "operation": "multiply", "parameters": {"factor": 1000}},
        {"field": "spread", "operation": "multiply", "parameters": {"factor": 100}},
        {
            "field": "lien_type",
            "operation": "lookup",
            "parameters": {"mapping": {"Erstrang": "First Lien", "Zweitrang": "Second Lien"}},
        },
        {
            "field": "maturity_date",
            "operation": "date_format",
            "parameters": {"input_format": "DD.MM.YYYY", "output_format": "YYYY-MM-DD"},
        },
    ],
}
"""Headers that no built-in mapping knows, par in thousands, spreads in percent, words of another language."""


@pytest.fixture(scope="session")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three loans in another bank's manner."""
    path = tmp_path_factory.mktemp("german") / "bestand.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (HEADER, *LOANS):
        sheet.append(list(row))
    book.save(path)
    return path


def run(member: Member, workbook_id: str) -> dict[str, Any]:
    answer = member.post(RUN, json={"workbook_id": workbook_id, "test_suite": "standard"})
    assert answer.status_code == 200, answer.text
    outcome: dict[str, Any] = answer.json()
    return outcome


def value_of(outcome: dict[str, Any], test_id: str) -> float:
    values: list[float] = [result["current_value"] for result in outcome["results"] if result["test_id"] == test_id]
    assert values, [item["test_id"] for item in outcome["skipped"]]
    return values[0]


# Named by workbooks ---------------------------------------------------------------------------------------------------


def test_a_workbook_takes_a_mapping_of_its_tenant(owner: Member, make: Make, german: Path) -> None:
    mapping = make(owner, **GERMAN)
    workbook = owner.uploaded(german, mapping_id=mapping["id"])
    assert (workbook["status"], workbook["mapping_id"]) == ("ready", mapping["id"])
    place = f"{WORKBOOKS}/{workbook['id']}"
    for mapping_id in ("standard_clo", "standard_servicer", mapping["id"], None):
        answer = owner.patch(place, json={"mapping_id": mapping_id})
        assert (answer.status_code, answer.json()["mapping_id"]) == (200, mapping_id)


def test_a_mapping_of_another_tenant_is_not_found(owner: Member, stranger: Member, make: Make, german: Path) -> None:
    mapping = make(stranger, **GERMAN)
    workbook = owner.uploaded(german)
    for mapping_id in (mapping["id"], str(uuid4()), "standard_nothing", "servicer_snapshot", "'"):
        for answer in (
            owner.upload(german, mapping_id=mapping_id),
            owner.patch(f"{WORKBOOKS}/{workbook['id']}", json={"mapping_id": mapping_id}),
        ):
            assert (answer.status_code, answer.json()["detail"]) == (404, "Mapping not found")
    assert owner.get(WORKBOOKS).json()["total"] == 1


def test_an_unknown_mapping_is_told_before_the_file_is_read(owner: Member) -> None:
    answer = owner.post(
        f"{WORKBOOKS}/upload", files={"file": ("no.txt", b"no spreadsheet")}, data={"mapping_id": str(uuid4())}
    )
    assert (answer.status_code, answer.json()["detail"]) == (404, "Mapping not found")


def test_a_mapping_in_use_stays(owner: Member, make: Make, german: Path) -> None:
    mapping = make(owner, **GERMAN)
    place = f"{PATH}/{mapping['id']}"
    first, second = (owner.uploaded(german, mapping_id=mapping["id"])["id"] for _ in range(2))

    def in_use() -> bool:
        answer = owner.delete(place)
        if answer.status_code == 409:
            assert (answer.json()["detail"], answer.json()["error_code"]) == ("Mapping in use", "CONFLICT")
            assert owner.get(place).status_code == 200
        return bool(answer.status_code == 409)

    assert in_use()
    assert owner.delete(f"{WORKBOOKS}/{first}").status_code == 204
    assert in_use(), "by the other one"
    assert owner.patch(f"{WORKBOOKS}/{second}", json={"mapping_id": None}).status_code == 200
    assert not in_use()
    assert owner.get(place).status_code == 404


def test_a_deleted_workbook_lets_its_mapping_go(owner: Member, make: Make, german: Path) -> None:
    mapping = make(owner, **GERMAN)
    workbook = owner.uploaded(german, mapping_id=mapping["id"])
    run(owner, workbook["id"])
    assert owner.delete(f"{WORKBOOKS}/{workbook['id']}").status_code == 204
    assert owner.delete(f"{PATH}/{mapping['id']}").status_code == 204


def test_deleting_races_with_taking(stack: Stack, owner: Member, make: Make, german: Path) -> None:
    """Whoever comes first, no workbook ever names a mapping that is gone."""
    workbooks = [owner.uploaded(german)["id"] for _ in range(2)]
    for _ in range(8):
        mapping_id = make(owner, **GERMAN)["id"]

        def take(workbook_id: str, mapping_id: str = mapping_id) -> int:
            answer = owner.patch(f"{WORKBOOKS}/{workbook_id}", json={"mapping_id": mapping_id})
            assert answer.status_code == 200 or answer.json()["detail"] in (
                "Mapping not found",
                "Concurrent modification",
            )
            return answer.status_code

        def upload(mapping_id: str = mapping_id) -> int:
            answer = owner.upload(german, mapping_id=mapping_id)
            assert answer.status_code == 201 or answer.json()["detail"] == "Mapping not found"
            return answer.status_code

        def delete(mapping_id: str = mapping_id) -> int:
            answer = owner.delete(f"{PATH}/{mapping_id}")
            assert answer.status_code in (204, 409), answer.text
            return answer.status_code

        with ThreadPoolExecutor(4) as pool:
            taking = [pool.submit(take, item) for item in workbooks] + [pool.submit(upload)]
            deleted = pool.submit(delete).result() == 204
            taken = [item.result() in (200, 201) for item in taking]
        if deleted:
            assert not any(taken)
        for workbook in workbooks:
            owner.patch(f"{WORKBOOKS}/{workbook}", json={"mapping_id": None})
    dangling = """
        SELECT count(*) FROM workbooks w WHERE w.tenant_id = %s AND w.mapping_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM mappings m WHERE m.tenant_id = w.tenant_id AND m.id = w.mapping_id)
    """
    assert stack.sql(dangling, [owner.tenant_id]) == [(0,)]


# Read by ------------------------------------------------------------------------------------------------------------


def test_a_run_reads_by_the_stored_mapping(stack: Stack, owner: Member, make: Make, german: Path) -> None:
    mapping = make(owner, **GERMAN)
    without = owner.uploaded(german)
    skipped = run(owner, without["id"])["summary"]["skipped"]
    workbook = owner.uploaded(german, mapping_id=mapping["id"])
    outcome = run(owner, workbook["id"])
    assert outcome["summary"]["skipped"] < skipped, "the built-in one does not know all of the headers"
    assert value_of(outcome, "single_obligor_concentration") == pytest.approx(40.0)
    assert value_of(outcome, "non_senior_secured_concentration") == pytest.approx(30.0)
    # By hand: (40 x 3.25 + 30 x 3.75 + 30 x 4.00) / 100.
    assert value_of(outcome, "was") == pytest.approx(3.625)
    assert 4.0 < value_of(outcome, "wal") < 7.0
    [(evidence,)] = stack.sql("SELECT mapping::text FROM compliance_runs WHERE id = %s", [outcome["id"]])
    kept = json.loads(evidence)
    assert (kept["id"], kept["name"]) == (mapping["id"], mapping["name"])
    assert [transform["operation"] for transform in kept["transforms"]] == [
        "multiply",
        "multiply",
        "lookup",
        "date_format",
    ]


def test_a_changed_mapping_counts_from_the_next_run_on(stack: Stack, owner: Member, make: Make, german: Path) -> None:
    mapping = make(owner, **GERMAN)
    workbook = owner.uploaded(german, mapping_id=mapping["id"])
    first = run(owner, workbook["id"])
    halved = [{**GERMAN["transforms"][1], "parameters": {"factor": 50}}]
    transforms = [GERMAN["transforms"][0], *halved, *GERMAN["transforms"][2:]]
    assert owner.patch(f"{PATH}/{mapping['id']}", json={"transforms": transforms}).status_code == 200
    second = run(owner, workbook["id"])
    assert value_of(second, "was") == pytest.approx(value_of(first, "was") / 2)
    stored = owner.get(f"/api/v1/compliance/results/{first['id']}").json()
    assert value_of(stored, "was") == value_of(first, "was")
    kept = [
        json.loads(stack.sql("SELECT mapping::text FROM compliance_runs WHERE id = %s", [item["id"]])[0][0])
        for item in (first, second)
    ]
    assert [item["transforms"][1]["parameters"]["factor"] for item in kept] == [100, 50]
    assert owner.patch(f"{PATH}/{mapping['id']}", json={"transforms": GERMAN["transforms"]}).status_code == 200
    assert value_of(run(owner, workbook["id"]), "was") == value_of(first, "was")


def test_two_tenants_with_one_file_read_by_their_own_mappings(
    owner: Member, stranger: Member, make: Make, german: Path
) -> None:
    """The file's columns are shared between them, what is made of these is not."""
    doubled = {**GERMAN["transforms"][1], "parameters": {"factor": 200}}
    ours = make(owner, **GERMAN, name="One name")
    theirs = make(stranger, **{**GERMAN, "transforms": [GERMAN["transforms"][0], doubled]}, name="One name")
    our_run = run(owner, owner.uploaded(german, mapping_id=ours["id"])["id"])
    their_run = run(stranger, stranger.uploaded(german, mapping_id=theirs["id"])["id"])
    assert value_of(their_run, "was") == pytest.approx(2 * value_of(our_run, "was"))


def test_a_run_without_a_column_that_the_mapping_requires_is_refused(owner: Member, make: Make, german: Path) -> None:
    mapping = make(owner, **(GERMAN | {"mappings": {**GERMAN["mappings"], "Kurs": column("price", "number", True)}}))
    workbook = owner.uploaded(german, mapping_id=mapping["id"])
    answer = owner.post(RUN, json={"workbook_id": workbook["id"], "test_suite": "standard"})
    assert answer.status_code == 422, answer.text
    (fault,) = answer.json()["errors"]
    assert fault["loc"] == ["body", "workbook_id"]
    assert "no column of sheet 'Sheet' feeds: price ('Kurs'" in fault["message"]


@pytest.mark.parametrize(
    "change",
    [
        {"source_type": "servicer_snapshot", "profile_id": "standard_servicer", "mappings": {}},
        {"source_type": "servicer_snapshot", "mappings": {"Kreditnehmer": column("loan_id", required=True)}},
        {"source_type": "custom", "mappings": {"Kreditnehmer": column("customer"), "Branche": column("branch")}},
        {"source_type": "custom", "mappings": {"Kreditnehmer": column("borrower_name")}},
        {"source_type": "custom", "mappings": {"Nothing like it": column("nothing")}},
    ],
)
def test_a_mapping_without_loans_skips_tests_and_says_why(
    owner: Member, make: Make, german: Path, change: dict[str, Any]
) -> None:
    mapping = make(owner, **change)
    outcome = run(owner, owner.uploaded(german, mapping_id=mapping["id"])["id"])
    assert outcome["summary"] == {"total": 15, "passed": 0, "failed": 0, "warnings": 0, "skipped": 15, "doubtful": 0}
    assert all(item["reason"] for item in outcome["skipped"])


def test_a_built_in_servicer_mapping_skips_every_test(owner: Member, german: Path) -> None:
    outcome = run(owner, owner.uploaded(german, mapping_id="standard_servicer")["id"])
    assert (outcome["summary"]["skipped"], outcome["results"]) == (15, [])
    assert all(item["reason"] for item in outcome["skipped"])


def test_a_mapping_that_takes_too_long_ends_the_run(
    stack: Stack, owner: Member, make: Make, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("many") / "many.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Kreditnehmer", "Nominal (Tsd)", "Branche"])
    for row in range(3_000):
        sheet.append([f"Borrower {row}", 1_000, f"Industry {row}"])
    book.save(path)
    steps = [("^", "x" * 200), ("x", "yyyy"), *[("y", "y")] * 8]
    mapping = make(
        owner,
        source_type="clo_holdings",
        profile_id="standard_clo",
        mappings={name: GERMAN["mappings"][name] for name in ("Kreditnehmer", "Nominal (Tsd)", "Branche")},
        transforms=[
            {"field": "borrower_name", "operation": "replace", "parameters": {"pattern": pattern, "replacement": text}}
            for pattern, text in steps
        ],
    )
    workbook = owner.uploaded(path, mapping_id=mapping["id"])
    token = {"Authorization": f"Bearer {owner.tokens['access_token']}"}
    with stack.another_api(CUSHION_MAPPING_SECONDS="0.05") as url:
        answer = owner.http.post(f"{url}{RUN}", json={"workbook_id": workbook["id"]}, headers=token)
        assert (answer.status_code, answer.json()["detail"]) == (422, "Mapping takes too long")
    assert owner.patch(f"{WORKBOOKS}/{workbook['id']}", json={"mapping_id": None}).status_code == 200
    assert run(owner, workbook["id"])["summary"]["total"] == 15, "nothing of it is left in the way"


def test_replacing_makes_only_so_much_text() -> None:
    with mapping_time(60):
        checkpoint.checkpoint(TEXT_GROWTH_BYTES_MAX)
        with pytest.raises(MappingTooSlow) as refusal:
            checkpoint.checkpoint(1)
    assert "268,435,456" in refusal.value.errors[0].message
