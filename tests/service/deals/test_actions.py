"""Deals over HTTP: the record, its definitions, its files, what becomes of them, and its history."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from core.definition import parse, parse_toml
from core.generate import generate
from core.generate.reports import generate_report
from tests.conftest import Member, Stack, wait_until
from tests.core.files.test_spreadsheetml import document, sheet
from tests.service.deals.conftest import LOANS, NOTES, URL, added, create_deal, sent

# The record ---------------------------------------------------------------------------------------------------------


def test_a_deal_has_its_fields_and_defaults(owner: Member) -> None:
    answer = owner.post(URL, json={"name": "Cairn"})
    assert answer.status_code == 201, answer.text
    deal = answer.json()
    assert deal | {"id": 0, "created_at": 0, "updated_at": 0} == {
        "id": 0,
        "name": "Cairn",
        "stream_key": None,
        "currency": "USD",
        "home_countries": [],
        "closing_date": None,
        "reinvestment_end": None,
        "stated_maturity": None,
        "next_payment_date": None,
        "mapping_id": None,
        "definition_version": 0,
        "latest": None,
        "created_by": owner.email,
        "created_at": 0,
        "updated_at": 0,
    }
    assert owner.get(f"{URL}/{deal['id']}").json() == deal
    owner.patch("/api/v1/admin/tenant", json={"settings": {"default_currency": "EUR"}})
    assert create_deal(owner)["currency"] == "EUR", "the tenant's own"
    assert create_deal(owner, currency="GBP")["currency"] == "GBP"


def test_a_change_tells_what_is_absent_from_what_is_null(owner: Member) -> None:
    deal = create_deal(owner, closing_date="2024-01-15", stream_key="deal:internal:one", home_countries=["IE"])
    path = f"{URL}/{deal['id']}"
    changed = owner.patch(path, json={"name": "Other", "home_countries": []}).json()
    assert changed | {"updated_at": 0} == deal | {"name": "Other", "home_countries": [], "updated_at": 0}
    assert owner.patch(path, json={}).json() == changed, "nothing given, nothing changed"
    for wrong in (
        {"name": None}, {"currency": None}, {"currency": "eur"}, {"home_countries": None}, {"home_countries": ["Irl"]},
        {"closing_date": "15/01/2024"}, {"stream_key": "deal:other:x"}, {"stream_key": "deal:lei:ABC"},
        {"stated_maturity": "2024-01-15"}, {"closing_date": "2030-01-01", "reinvestment_end": "2029-01-01"},
    ):  # fmt: skip
        assert owner.patch(path, json=wrong).status_code == 422, wrong
    assert owner.patch(path, json={"mapping_id": "nobodys"}).status_code == 404
    assert owner.get(path).json() == changed


def test_a_stream_is_of_one_deal(owner: Member, stranger: Member) -> None:
    key = "deal:isin:XS2010030919"
    first, second = create_deal(owner, stream_key=key), create_deal(owner, name=" twice ")
    for answer in (
        owner.post(URL, json={"name": "Deal", "stream_key": key}),
        owner.patch(f"{URL}/{second['id']}", json={"stream_key": key}),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (409, "Stream key already in use")
    assert create_deal(stranger, stream_key=key)["stream_key"] == key
    assert owner.delete(f"{URL}/{first['id']}").status_code == 204
    assert owner.patch(f"{URL}/{second['id']}", json={"stream_key": key}).status_code == 200


def test_deals_are_listed_by_name_and_by_age(owner: Member) -> None:
    names = ["b 100%", "A", "c"]
    for name in names:
        create_deal(owner, name=name)

    def listed(**query: Any) -> list[str]:
        page = owner.get(URL, params=query).json()
        assert page["total"] >= len(page["items"])
        return [deal["name"] for deal in page["items"]]

    assert listed() == names[::-1]
    assert listed(sort_by="name", sort_order="asc") == ["A", "b 100%", "c"]
    assert listed(sort_by="created_at", sort_order="asc", page_size=2, page=2) == ["c"]
    assert listed(search="0%") == ["b 100%"]


def test_the_deployment_limits_deals_and_names_the_schemes_of_streams(stack: Stack, owner: Member) -> None:
    create_deal(owner)
    with stack.another_api(CUSHION_MAX_DEALS="2", CUSHION_STREAM_KEY_SCHEMES="isin, ticker") as url:
        answers = [
            owner.http.post(f"{url}{URL}", json={"name": "One more", "stream_key": f"deal:{key}"})
            for key in ("internal:x", "ticker:x", "ticker:y")
        ]
    assert answers[0].json()["errors"][0]["message"] == "the schemes are isin, ticker"
    assert [answer.status_code for answer in answers] == [422, 201, 403]
    assert answers[2].json()["detail"] == "Deal limit exceeded"


def test_a_mapping_that_a_deal_names_stays(owner: Member) -> None:
    mapping = {"name": "M", "source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {}}
    mapping_id = owner.post("/api/v1/mappings", json=mapping).json()["id"]
    deal = create_deal(owner, mapping_id=mapping_id)
    assert owner.delete(f"/api/v1/mappings/{mapping_id}").json()["detail"] == "Mapping in use"
    assert owner.delete(f"{URL}/{deal['id']}").status_code == 204
    assert owner.delete(f"/api/v1/mappings/{mapping_id}").status_code == 204


# Definitions --------------------------------------------------------------------------------------------------------


def test_a_put_is_a_new_version(owner: Member, deal: dict[str, Any]) -> None:
    path = f"{URL}/{deal['id']}/definition"
    none = {"version": 0, "definition": {}, "change_notes": None, "created_by": None, "created_at": None}
    assert owner.get(path).json() == none
    written = [
        {"name": "First", "tests": [{"id": "wal", "name": "WAL", "measure": "wal", "max": 7.27}]},
        {"name": "Second", "conventions": {"currency": "EUR"}},
    ]
    for number, definition in enumerate(written, 1):
        answer = owner.put(path, json={"definition": definition, "change_notes": f"no. {number}"})
        assert answer.status_code == 200, answer.text
        assert answer.json() == owner.get(path).json() | {"created_by": owner.email}
        assert (answer.json()["version"], answer.json()["definition"]) == (number, definition)
    assert owner.get(f"{URL}/{deal['id']}").json()["definition_version"] == 2
    assert owner.get(path, params={"version": 1}).json()["definition"] == written[0]
    assert owner.get(path, params={"version": 3}).json()["detail"] == "Definition not found"
    versions = owner.get(f"{path}/versions").json()
    assert [(version["version"], version["change_notes"]) for version in versions["items"]] == [
        (2, "no. 2"),
        (1, "no. 1"),
    ]


def test_every_fault_of_a_definition_is_told_with_its_place(owner: Member, deal: dict[str, Any]) -> None:
    path = f"{URL}/{deal['id']}/definition"
    wrong = {
        "colour": "red",
        "conventions": {"currency": "Euro"},
        "tests": [{"id": "one", "name": "One", "measure": "wal", "max": 1}, {"id": "two", "name": "Two", "max": "x"}],
    }
    answer = owner.put(path, json={"definition": wrong})
    assert (answer.status_code, answer.json()["detail"]) == (422, "Invalid definition")
    places = [fault["loc"] for fault in answer.json()["errors"]]
    for place in (["colour"], ["conventions", "currency"], ["tests", "1", "max"]):
        assert ["body", "definition", *place] in places
    large = owner.put(path, json={"definition": {"name": "x" * 300_000}})
    assert (large.status_code, large.json()["errors"][0]["loc"]) == (422, ["body", "definition"])
    assert owner.get(path).json()["version"] == 0


def test_a_definition_is_checked_without_being_stored(stack: Stack, owner: Member, deal: dict[str, Any]) -> None:
    path = f"{URL}/{deal['id']}/definition"
    definition = {"tests": [{"id": "wal", "name": "WAL", "measure": "wal", "max": 7.27}]}
    assert owner.put(path, json={"definition": definition}).status_code == 200
    checked = owner.put(path, json={"definition": {"name": "Next"}, "change_notes": "none", "check_only": True})
    assert (checked.status_code, checked.json()) == (
        200,
        {"version": 2, "definition": {"name": "Next"}, "change_notes": None, "created_by": None, "created_at": None},
    )
    wrong = owner.put(path, json={"definition": {"colour": "red"}, "check_only": True})
    assert (wrong.status_code, wrong.json()["errors"][0]["loc"]) == (422, ["body", "definition", "colour"])
    assert (owner.get(path).json()["version"], owner.get(path).json()["definition"]) == (1, definition)
    assert [item["version"] for item in owner.get(f"{path}/versions").json()["items"]] == [1]
    events = "SELECT count(*) FROM audit_log WHERE tenant_id = %s AND action = 'deal.defined'"
    assert stack.sql(events, [owner.tenant_id]) == [(1,)]


# Files --------------------------------------------------------------------------------------------------------------


def test_several_files_are_one_workbook_of_the_deal(stack: Stack, owner: Member, deal: dict[str, Any]) -> None:
    files = (("loans of march.csv", LOANS), ("liabilities.csv", NOTES))
    workbook = added(owner, deal, *files, as_of="2026-03-31")
    answer = ("deal_id", "as_of", "name", "file_name", "file_size", "sheet_count")
    name = "loans of march.csv and 1 more"
    assert [workbook[field] for field in answer] == [
        deal["id"], "2026-03-31", name, name, len(LOANS) + len(NOTES), 2,
    ]  # fmt: skip
    assert [sheet["name"] for sheet in workbook["sheets"]] == ["loans of march", "liabilities"]
    data = owner.get(f"/api/v1/workbooks/{workbook['id']}/sheets/loans of march/data").json()
    assert [row["Par Amount"] for row in data["rows"]] == [1e6, 2e6, 3e6]
    [(action, resource)] = stack.sql(
        "SELECT action, resource_id FROM audit_log WHERE tenant_id = %s AND action LIKE 'workbook.%%'",
        [owner.tenant_id],
    )
    assert (action, resource) == ("workbook.uploaded", workbook["id"])
    place = f"/api/v1/workbooks/{workbook['id']}/file"
    responses = [owner.get(place, params={"number": number}) for number in (1, 2)]
    assert [response.content for response in responses] == [LOANS, NOTES]
    assert 'filename="liabilities.csv"' in responses[1].headers["content-disposition"]
    unsaid = owner.get(place)
    assert (unsaid.status_code, unsaid.json()["detail"]) == (409, "Workbook has several files")
    assert "2 'liabilities.csv'" in unsaid.json()["errors"][0]["message"]
    assert [owner.get(place, params={"number": number}).status_code for number in (0, 3, 201)] == [422, 404, 422]


def test_an_archive_is_one_workbook(owner: Member, deal: dict[str, Any]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("march/loans.csv", LOANS)
        archive.writestr("march/notes.csv", NOTES)
    workbook = added(owner, deal, ("march.zip", buffer.getvalue()), name="March")
    assert (workbook["name"], workbook["sheet_count"]) == ("March", 2)


def test_what_is_no_file_of_a_deal_is_refused_at_once(owner: Member, deal: dict[str, Any]) -> None:
    for files, status, detail, loc in (
        ([("a.csv", LOANS), ("b.csv", LOANS)], 400, "Invalid file format", ["1"]),
        ([("a.doc", LOANS)], 400, "Invalid file format", []),
        ([("a.pdf", b"\x89PNG\r\n")], 422, "Parse error", []),
        ([("a.csv", LOANS), ("b.xlsx", b"")], 422, "Parse error", ["1"]),
        ([("a.xls", b"<html>Please log in")], 422, "Parse error", []),
    ):
        answer = sent(owner, deal, *files)
        body = answer.json()
        assert (answer.status_code, body["detail"], body["errors"][0]["loc"]) == (
            status, detail, ["body", "files", *loc]
        ), files  # fmt: skip
    assert sent(owner, deal, *[(f"{at}.csv", LOANS) for at in range(40)]).status_code == 422
    assert sent(owner, {"id": uuid4()}, ("a.csv", LOANS)).json()["detail"] == "Deal not found"
    assert owner.get("/api/v1/workbooks").json()["total"] == 0
    assert owner.get("/api/v1/admin/tenant").json()["usage"]["storage_used_mb"] == 0


def test_a_file_of_a_deal_is_what_its_content_says(owner: Member, deal: dict[str, Any]) -> None:
    """Delimited text by the name of .xls, a page by that of .xlsx, a folder before a name: what portals send."""
    page = b"<table><tr><td>Issuer<td>Par<tr><td>Alder<td>1,000,000</table>"
    for name, content in (
        ("a.xls", b"Issuer\tPar\nAlder\t1000000\n"),
        ("b.zip", b"Issuer,Par\nAlder,1000000\n"),
        ("c.xlsx", page),
        ("d.htm", page),
        ("e.xml", document(sheet("<Row><Cell/><Cell/></Row><Row><Cell><Data>Alder</Data></Cell><Cell>"
                                 "<Data ss:Type='Number'>1000000</Data></Cell></Row>"))),
    ):  # fmt: skip
        workbook = added(owner, deal, (f"deals/{name}", content))
        assert workbook["file_name"] == name
        where = f"/api/v1/workbooks/{workbook['id']}/sheets/{workbook['sheets'][0]['id']}/cells"
        assert [owner.get(f"{where}/{cell}").json()["value"] for cell in ("A2", "B2")] == ["Alder", 1000000], name


def test_a_file_that_cannot_be_read_leaves_its_workbook_in_error(owner: Member, deal: dict[str, Any]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.md", "no loans")
    result = owner.parsed(sent(owner, deal, ("march.zip", buffer.getvalue())).json()["id"])
    assert (result["status"], "holds none" in result["error_message"]) == ("error", True)
    assert owner.get(f"{URL}/{deal['id']}").json()["latest"] is None, "it is nobody's newest month"


def test_the_same_key_takes_files_in_once(owner: Member, deal: dict[str, Any]) -> None:
    path, key = f"{URL}/{deal['id']}/files", {"Idempotency-Key": "march"}

    def send(*files: tuple[str, bytes]) -> Any:
        return owner.post(path, files=[("files", file) for file in files], headers=key)

    first = send(("a.csv", LOANS), ("b.csv", NOTES))
    again = send(("a.csv", LOANS), ("b.csv", NOTES))
    assert (again.json(), again.headers["idempotent-replayed"]) == (first.json(), "true")
    assert send(("b.csv", NOTES), ("a.csv", LOANS)).status_code == 409, "in another order it is another request"
    owner.parsed(first.json()["id"])


def test_the_bytes_of_every_file_are_kept_and_freed_with_the_workbook(
    stack: Stack, owner: Member, deal: dict[str, Any]
) -> None:
    mark = f",{uuid4()}\n".encode()
    workbook = added(owner, deal, ("a.csv", LOANS.replace(b"\n", mark)), ("b.csv", NOTES.replace(b"\n", mark)))
    kept = [
        stack.data_dir / "blobs" / key[:2] / key
        for (key,) in stack.sql("SELECT content_hash FROM workbook_files WHERE workbook_id = %s", [workbook["id"]])
    ]
    assert len(kept) == 2
    assert all(path.exists() for path in kept)
    assert owner.delete(f"/api/v1/workbooks/{workbook['id']}").status_code == 204
    with stack.another_worker(CUSHION_STORAGE_PAUSE_SECONDS="1"):
        wait_until(lambda: not any(path.exists() for path in kept), what="the removal of the files")


# What a deal lends, and what outlives it -----------------------------------------------------------------------------


def test_a_workbook_takes_the_mapping_and_the_stream_of_its_deal(stack: Stack, owner: Member, g1_file: Path) -> None:
    mapping = {"name": "M", "source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {}}
    mapping_id = owner.post("/api/v1/mappings", json=mapping).json()["id"]
    deal = create_deal(owner, mapping_id=mapping_id, stream_key="deal:internal:one")
    book = owner.uploaded(g1_file, deal_id=deal["id"])
    assert (book["deal_id"], book["mapping_id"], book["stream_key"]) == (deal["id"], None, None)

    def evidence() -> tuple[Any, ...]:
        run = owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_ids": ["wal"]}).json()
        sql = "SELECT mapping ->> 'id', stream_key FROM compliance_runs WHERE id = %s"
        [result] = stack.sql(sql, [run["id"]])
        return tuple(result)

    assert evidence() == (mapping_id, "deal:internal:one")
    path = f"/api/v1/workbooks/{book['id']}"
    own = owner.patch(path, json={"mapping_id": "standard_clo", "stream_key": "deal:internal:own"})
    assert own.status_code == 200
    assert evidence() == ("standard_clo", "deal:internal:own")
    apart = owner.patch(path, json={"deal_id": None, "mapping_id": None, "stream_key": None, "as_of": "2026-01-31"})
    assert (apart.json()["deal_id"], apart.json()["as_of"]) == (None, "2026-01-31")
    assert evidence() == ("standard_clo", None)


def test_a_deleted_deal_leaves_its_workbooks_and_their_runs(owner: Member, deal: dict[str, Any], g1_file: Path) -> None:
    book = owner.uploaded(g1_file, deal_id=deal["id"], as_of="2026-03-31")
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"]}).json()
    assert owner.delete(f"{URL}/{deal['id']}").status_code == 204
    left = owner.get(f"/api/v1/workbooks/{book['id']}")
    assert (left.json()["deal_id"], left.json()["as_of"]) == (None, "2026-03-31")
    assert owner.get(f"/api/v1/compliance/results/{run['id']}").json() == run
    gone = ("", "/definition", "/definition/versions", "/history")
    assert {owner.get(f"{URL}/{deal['id']}{path}").status_code for path in gone} == {404}


# Through the months --------------------------------------------------------------------------------------------------


def test_the_history_has_a_series_for_each_test_and_the_deal_its_latest(
    owner: Member, deal: dict[str, Any], g1_file: Path
) -> None:
    def run(book: dict[str, Any], *test_ids: str) -> dict[str, Any]:
        answer = owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_ids": test_ids})
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()
        return result

    def history(**query: Any) -> dict[str, list[dict[str, Any]]]:
        answer = owner.get(f"{URL}/{deal['id']}/history", params=query)
        assert answer.status_code == 200, answer.text
        assert not answer.json()["truncated"]
        return {item["test_id"]: item["points"] for item in answer.json()["series"]}

    def latest() -> dict[str, Any]:
        result: dict[str, Any] = owner.get(f"{URL}/{deal['id']}").json()["latest"]
        return result

    books = [owner.uploaded(g1_file, deal_id=deal["id"], as_of=day) for day in ("2026-03-31", "2026-02-28")]
    nothing = {"run_id": None, "test_suite": None, "failed": None, "warnings": None, "doubtful": None, "thinnest": None}
    assert latest() == {"workbook_id": books[0]["id"], "as_of": "2026-03-31"} | nothing
    assert history() == {}
    run(books[0], "oc_ratio")
    assert latest() == {"workbook_id": books[0]["id"], "as_of": "2026-03-31"} | nothing, (
        "a part of a suite is no verdict"
    )
    assert history() == {}
    first, second = (run(book) for book in books)
    run(books[0], "oc_ratio")
    outcome = history()
    assert set(outcome) == {result["test_id"] for result in first["results"]}
    by_id = {result["test_id"]: result for result in first["results"]}
    for test_id, points in outcome.items():
        assert sorted(point["run_id"] for point in points) == sorted((first["id"], second["id"]))
        lines = {(point["value"], point["threshold"], point["status"]) for point in points}
        item = by_id[test_id]
        assert lines == {(item["current_value"], item["threshold_value"], item["status"])}
        assert [point["as_of"] for point in points] == sorted(point["as_of"] for point in points)
    series = {item["test_id"]: item for item in owner.get(f"{URL}/{deal['id']}/history").json()["series"]}
    for test_id, item in by_id.items():
        assert [series[test_id][name] for name in ("test_name", "unit", "decimals")] == [
            item["test_name"], item["unit"], item["decimals"],
        ]  # fmt: skip
    asked = history(test_id="oc_ratio,wal_of_nobody")
    assert asked == {"oc_ratio": outcome["oc_ratio"], "wal_of_nobody": []}
    assert history(end_date="1999-12-31", test_id="oc_ratio") == {"oc_ratio": []}
    full = run(books[0])
    run(books[0], "oc_ratio")
    thinnest = min(full["results"], key=lambda result: result["cushion_pct"])
    assert latest() == {
        "workbook_id": books[0]["id"],
        "as_of": "2026-03-31",
        "run_id": full["id"],
        "test_suite": "standard",
        "failed": full["summary"]["failed"],
        "warnings": full["summary"]["warnings"],
        "doubtful": full["summary"]["doubtful"],
        "thinnest": {
            **{
                name: thinnest[name]
                for name in ("test_id", "test_name", "unit", "status", "cushion", "cushion_pct", "decimals", "doubtful")
            }
        },
    }
    assert thinnest["unit"] == "percent"
    for book in books:
        assert owner.delete(f"/api/v1/workbooks/{book['id']}").status_code == 204
    assert (history(), owner.get(f"{URL}/{deal['id']}").json()["latest"]) == ({}, None)


def test_figures_of_a_release_before_have_the_suites_names(
    stack: Stack, owner: Member, deal: dict[str, Any], g1_file: Path
) -> None:
    """Runs that were stored without names, units and decimals.

    A test of no suite is called by its id.
    """
    run = ran(owner, owner.uploaded(g1_file, deal_id=deal["id"], as_of="2026-03-31"))

    def forget(names: str) -> None:
        stack.sql(
            f"""
            UPDATE compliance_runs SET figures = (
                SELECT jsonb_object_agg({names}, value - 'name' - 'unit' - 'decimals') FROM jsonb_each(figures))
            WHERE id = %s
            """,
            [run["id"]],
        )

    def shown() -> tuple[dict[str, Any], list[dict[str, Any]]]:
        latest = owner.get(f"{URL}/{deal['id']}").json()["latest"]["thinnest"]
        return latest, owner.get(f"{URL}/{deal['id']}/history").json()["series"]

    before = shown()
    forget("key")
    thinnest, series = shown()
    assert thinnest == before[0]
    assert [item["unit"] for item in series] == [item["unit"] for item in before[1]]
    assert [item["decimals"] for item in series] == [item["decimals"] for item in before[1]]
    forget("'own_' || key")
    thinnest, series = shown()
    assert (thinnest["test_id"], thinnest["test_name"], thinnest["unit"]) == (
        f"own_{before[0]['test_id']}", f"own_{before[0]['test_id']}", "",
    )  # fmt: skip
    assert {(item["unit"], item["test_name"] == item["test_id"]) for item in series} == {("", True)}


# Runs of a deal's workbooks -------------------------------------------------------------------------------------------

DEFINITION = {
    "tests": [
        {"id": "ccc_bucket_pct", "name": "CCC", "measure": "ccc", "agency": "a", "max": 8.0},
        {"id": "senior_secured", "name": "Senior", "share": "=par_value>0", "min": 90.0},
    ]
}


def ran(who: Member, book: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = who.post("/api/v1/compliance/run", json={"workbook_id": book["id"], **body})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def limit_of(run: dict[str, Any], test_id: str = "ccc_bucket_pct") -> tuple[Any, Any]:
    [outcome] = [result for result in run["results"] if result["test_id"] == test_id]
    return outcome["threshold_value"], outcome["threshold_source"]


def test_who_sets_a_limit_first(owner: Member, deal: dict[str, Any], g1_file: Path) -> None:
    """From the last to the first: each comes before those above it.

    The file has a trigger of 104.2 for OC.
    """
    book, bare = owner.uploaded(g1_file, deal_id=deal["id"]), owner.uploaded(g1_file)
    assert [limit_of(ran(owner, item))[1] for item in (book, bare)] == ["suite", "suite"]
    input_value: list[tuple[str, dict[str, Any] | None]] = [
        ("tenant", {}), ("definition", None), ("deal", {"deal_id": deal["id"]}),
        ("workbook", {"workbook_id": book["id"]}),
    ]  # fmt: skip
    for value, (source, where) in enumerate(input_value, 11):
        if where is None:
            oc = {"id": "oc_ratio", "name": "OC", "measure": "oc", "class": "E", "min": value}
            document = {"tests": [DEFINITION["tests"][0] | {"max": value}, oc]}
            assert owner.put(f"{URL}/{deal['id']}/definition", json={"definition": document}).status_code == 200
        else:
            for test_id in ("ccc_bucket_pct", "oc_ratio"):
                body = {"test_id": test_id, "threshold_value": value, **where}
                assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201
        run = ran(owner, book)
        assert limit_of(run) == (value, source)
        assert limit_of(run, "oc_ratio") == ((104.2, "sheet") if source == "tenant" else (value, source))
    request = [{"test_id": "ccc_bucket_pct", "threshold_value": 20}]
    assert limit_of(ran(owner, book, thresholds=request)) == (20, "request")
    listed = owner.get("/api/v1/compliance/thresholds", params={"deal_id": deal["id"]}).json()["items"]
    assert [(item["deal_id"], item["workbook_id"]) for item in listed] == [(deal["id"], None)] * 2
    both = {"test_id": "wal", "threshold_value": 1, "deal_id": deal["id"], "workbook_id": book["id"]}
    assert owner.post("/api/v1/compliance/thresholds", json=both).status_code == 422
    absent = {"test_id": "wal", "threshold_value": 1, "deal_id": str(uuid4())}
    assert owner.post("/api/v1/compliance/thresholds", json=absent).json()["detail"] == "Deal not found"
    assert owner.delete(f"{URL}/{deal['id']}").status_code == 204
    assert owner.get("/api/v1/compliance/thresholds").json()["total"] == 4, "the deal's went with it"


def test_a_definition_reads_the_fields_of_a_mapping_s_own(
    stack: Stack, owner: Member, deal: dict[str, Any], write_book: Any
) -> None:
    """A text, a number, a flag and a day beside the standard fields.

    A name that no mapping gives is a fault.
    """
    from tests.service.compliance.conftest import G1_LOANS, HEADER

    sponsors, days = ("KKR", "CVC", None), (date(2024, 1, 31), date(2025, 1, 31), None)
    extra = [(sponsors[at % 3], at * 10, at % 2 == 0, days[at % 3]) for at in range(len(G1_LOANS))]
    loans = [(*row, *more) for row, more in zip(G1_LOANS, extra, strict=True)]
    file = write_book("own", Holdings=[(*HEADER, "Sponsor", "ESG Score", "Club", "Signed"), *loans])
    columns = {
        "Sponsor": {"target": "sponsor"}, "ESG Score": {"target": "ESG_score", "type": "number"},
        "Club": {"target": "is_club", "type": "boolean"}, "Signed": {"target": "signed", "type": "date"},
    }  # fmt: skip
    mapping = {"name": "Own", "source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": columns}
    shares = {
        "text": ('=sponsor="kkr"', lambda item: item[11] == "KKR"),
        "listed": ('=OR(sponsor={"KKR","CVC"})', lambda item: item[11] is not None),
        "score": ("=esg_score>=50", lambda item: item[12] >= 50),
        "scores": ("=OR(esg_score={10,20})", lambda item: item[12] in (10, 20)),
        "club": ("=is_club", lambda item: item[13]),
        "signed": ("=signed>DATE(2024,6,30)", lambda item: item[14] == days[1]),
        "both": ("=AND(is_club,price<99,esg_score>0)", lambda item: item[13] and item[4] < 99 and item[12] > 0),
        "ratio": ("=esg_score*2>price", lambda item: item[12] * 2 > item[4]),
    }
    tests = [{"id": f"{name}_share", "name": name, "share": text, "of": "par", "max": 90}
             for name, (text, _) in shares.items()]  # fmt: skip
    document, url = {"definition": {"tests": tests}}, f"{URL}/{deal['id']}/definition"
    assert owner.put(url, json=document).status_code == 422, "no mapping gives them yet"
    mapping_id = owner.post("/api/v1/mappings", json=mapping).json()["id"]
    assert owner.put(url, json=document).status_code == 200
    wrong = owner.put(url, json={"definition": {"tests": [tests[0] | {"share": '=sponser="KKR"'}]}})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["message"] == "names sponser, which is not known here; did you mean sponsor?"
    book = owner.uploaded(file, deal_id=deal["id"], mapping_id=mapping_id)
    performing = loans[:-1]
    par = sum(item[3] for item in performing)
    by_test_id = {
        result["test_id"]: result["current_value"] for result in ran(owner, book, test_suite="deal")["results"]
    }
    for name, (text, counts) in shares.items():
        share = sum(item[3] for item in performing if counts(item)) / par * 100
        assert by_test_id[f"{name}_share"] == pytest.approx(share, abs=1e-6), text
    alone = owner.uploaded(file, mapping_id=mapping_id)
    inline = ran(owner, alone, test_suite="deal", definition=document["definition"])
    assert {result["test_id"]: result["current_value"] for result in inline["results"]} == by_test_id
    plain = owner.uploaded(file)
    body = {"workbook_id": plain["id"], "test_suite": "deal", "definition": document["definition"]}
    refused = owner.post("/api/v1/compliance/run", json=body)
    assert (refused.status_code, refused.json()["detail"]) == (422, "Invalid definition")
    second = owner.uploaded(file, deal_id=deal["id"])
    skipped = {item["test_id"]: item["reason"] for item in ran(owner, second, test_suite="deal")["skipped"]}
    assert skipped["text_share"] == "Skipped: required column(s) sponsor not found in sheet 'Holdings'"
    scenario = {"name": "Own", "base_workbook_id": book["id"]}
    scenario_id = owner.post("/api/v1/scenarios", json=scenario).json()["id"]
    trade = {"trade_type": "sell", "par_value": 40e6, "loan_data": {"loanx_id": "LX000001"}}
    assert owner.post(f"/api/v1/scenarios/{scenario_id}/trades", json=trade).status_code == 201
    simulated = owner.post(f"/api/v1/scenarios/{scenario_id}/simulate").json()
    after = {result["test_id"]: result["projected_value"] for result in simulated["results"]}
    left = [item for item in performing if item[0] != "LX000001"]
    for name, (text, counts) in shares.items():
        share = sum(item[3] for item in left if counts(item)) / sum(item[3] for item in left) * 100
        assert after[f"{name}_share"] == pytest.approx(share, abs=1e-6), text


def test_the_suite_deal_runs_the_tests_of_the_version_that_stands(
    stack: Stack, owner: Member, deal: dict[str, Any], g1_file: Path
) -> None:
    book = owner.uploaded(g1_file, deal_id=deal["id"])
    assert owner.put(f"{URL}/{deal['id']}/definition", json={"definition": DEFINITION}).status_code == 200
    first = ran(owner, book, test_suite="deal")
    assert [result["test_id"] for result in first["results"]] == ["ccc_bucket_pct", "senior_secured"]
    assert first["definition_version"] == 1
    own = {"test_id": "senior_secured", "threshold_value": 95, "deal_id": deal["id"]}
    assert owner.post("/api/v1/compliance/thresholds", json=own).json()["threshold_type"] == "min"
    assert owner.post("/api/v1/compliance/thresholds", json=own | {"deal_id": None}).json()["detail"] == "Unknown test"
    assert limit_of(ran(owner, book, test_suite="deal", test_ids=["senior_secured"]), "senior_secured") == (95, "deal")
    unknown = {"workbook_id": book["id"], "test_suite": "deal", "test_ids": ["wal"]}
    assert owner.post("/api/v1/compliance/run", json=unknown).json()["detail"] == "Unknown test"
    owner.put(f"{URL}/{deal['id']}/definition", json={"definition": {}})
    assert ran(owner, book)["definition_version"] == 2
    kept = owner.get(f"/api/v1/compliance/results/{first['id']}").json()
    assert (kept["definition_version"], kept["results"]) == (1, first["results"])
    [(evidence,)] = stack.sql("SELECT definition FROM compliance_runs WHERE id = %s", [first["id"]])
    assert evidence["tests"] == DEFINITION["tests"]
    assert evidence["conventions"] == {"currency": "USD"}, "what the deal's record says is part of it"


def test_what_the_file_and_the_definition_leave_open_the_deals_record_says(
    owner: Member, write_book: Callable[..., Path]
) -> None:
    record = {"closing_date": "2026-01-20", "reinvestment_end": "2026-01-31", "stated_maturity": "2026-02-28"}
    deal = create_deal(owner, **record, next_payment_date="2026-04-30", home_countries=["IE"])
    loans = [(*row.split(","), "Country") if not at else (*row.split(","), "Ireland") for at, row in
             enumerate(LOANS.decode().splitlines())]  # fmt: skip
    notes = [row.split(",") for row in NOTES.decode().splitlines()]
    facts = [("As Of Date", "2026-03-31"), ("Base Rate", 4.3), ("Interest Collected", 10_000)]

    def book(name: str, *more: tuple[str, Any]) -> dict[str, Any]:
        path = write_book(name, Holdings=loans, Tranches=notes, Deal=[*facts, *more])
        return owner.uploaded(path, deal_id=deal["id"])

    def codes(run: dict[str, Any]) -> set[str]:
        return {warning["code"] for warning in run["warnings"]}

    silent, telling = book("silent"), book("telling", ("Closing Date", "2024-01-31"), ("Stated Maturity", "2036-01-31"))
    run = ran(owner, silent, test_suite="enhanced")
    by_id = {result["test_id"]: result for result in run["results"]}
    interest = by_id["ic_ratio"]["details"]["breakdown"]["income"]
    assert interest["interest_basis"] == "collected, and estimated to the next payment"
    assert abs(interest["scheduled_years"] - 30 / 360) < 1e-6
    assert by_id["foreign_country_concentration"]["current_value"] == 0
    assert codes(run) >= {"as_of_outside_life", "matures_after_deal"}
    assert codes(ran(owner, telling)) & {"as_of_outside_life", "matures_after_deal", "deal_days_differ"} == {
        "deal_days_differ"
    }, "the file goes first, and a warning says that the two differ"
    path = f"{URL}/{deal['id']}"
    steps = [{"from": "2025-01-01", "limit": 50.0}, {"from": "reinvestment_end", "limit": 1.0}]
    stepped = {"tests": [DEFINITION["tests"][0] | {"steps": steps}]}
    assert owner.put(f"{path}/definition", json={"definition": stepped}).status_code == 200
    assert limit_of(ran(owner, silent)) == (1.0, "definition"), "the period of the record is over"
    assert owner.patch(path, json={"reinvestment_end": None}).json()["detail"] == "Invalid definition"
    later = {"reinvestment_end": "2028-01-31", "stated_maturity": None}
    assert owner.patch(path, json=later).status_code == 200
    assert limit_of(ran(owner, silent)) == (50.0, "definition")
    assert owner.patch(path, json={"closing_date": "2026-06-30"}).status_code == 200
    assert "as_of_outside_life" in codes(ran(owner, silent))
    closed = stepped | {"conventions": {"closing_date": "2024-01-31"}}
    assert owner.put(f"{path}/definition", json={"definition": closed}).status_code == 200
    assert not codes(ran(owner, silent)) & {"as_of_outside_life", "deal_days_differ"}, (
        "the definition goes before the record"
    )
    assert owner.patch(path, json={"next_payment_date": "2026-02-28"}).status_code == 200
    [ratio] = ran(owner, silent, test_suite="enhanced", test_ids=["ic_ratio"])["results"]
    assert "rest of a whole period" in ratio["details"]["breakdown"]["income"]["interest_basis"], "it was made"


def test_a_run_without_a_deal_takes_a_definition_along(owner: Member, deal: dict[str, Any], g1_file: Path) -> None:
    book = owner.uploaded(g1_file)
    run = ran(owner, book, test_suite="deal", definition=DEFINITION)
    assert (limit_of(run), run["definition_version"]) == ((8.0, "definition"), None)
    assert len(ran(owner, book, test_suite="deal")["results"]) > 2, "the market's"
    url = "/api/v1/compliance/run"
    wrong = owner.post(url, json={"workbook_id": book["id"], "definition": {"tests": [{"id": "x"}]}})
    assert (wrong.status_code, wrong.json()["detail"]) == (422, "Invalid definition")
    owner.patch(f"/api/v1/workbooks/{book['id']}", json={"deal_id": deal["id"]})
    assert owner.post(url, json={"workbook_id": book["id"], "definition": DEFINITION}).status_code == 422


def test_a_file_without_a_day_is_of_its_upload_and_the_run_warns(owner: Member, deal: dict[str, Any]) -> None:
    run = ran(owner, added(owner, deal, ("loans.csv", LOANS), ("liabilities.csv", NOTES)))
    assert (run["as_of"], run["as_of_source"]) == (datetime.now(UTC).date().isoformat(), "upload")
    assert "as_of_stands_in" in {warning["code"] for warning in run["warnings"]}
    assert owner.get(f"/api/v1/compliance/results/{run['id']}").json()["warnings"] == run["warnings"]


# Beside the trustee, and from month to month --------------------------------------------------------------------------


def test_the_trustees_tests_stand_beside_ours(
    owner: Member, deal: dict[str, Any], write_book: Callable[..., Path]
) -> None:
    published = (
        ("Test", "Actual", "Trigger", "Result"),
        ("Class A/B Par Value Ratio", 121.6, 120.0, "Pass"),
        ("Weighted Average Colour", 3.2, 1.0, "Pass"),
    )
    loans = [row.split(",") for row in LOANS.decode().splitlines()]
    notes = [row.split(",") for row in NOTES.decode().splitlines()]
    path = write_book("published", Holdings=loans, Tranches=notes, Tests=published)
    assert owner.get(f"{URL}/{deal['id']}/tie-out").json()["detail"] == "Workbook not found"
    book = owner.uploaded(path, deal_id=deal["id"], as_of="2026-03-31")
    tied = owner.get(f"{URL}/{deal['id']}/tie-out").json()
    assert (tied["workbook_id"], tied["as_of"]) == (book["id"], "2026-03-31")
    by_name = {item["trustee_name"]: item for item in tied["items"]}
    assert by_name["Class A/B Par Value Ratio"]["trustee_value"] == 121.6
    assert by_name["Class A/B Par Value Ratio"]["differs"] == "value"
    assert by_name["Class A/B Par Value Ratio"]["our_numerator"] > 0
    assert "wal" in tied["not_printed"]
    listed = by_name["Weighted Average Colour"]
    assert (listed["our_value"], listed["nearest"]) == (None, None), "listed, not dropped"
    assert listed["why_not"] == listed["reason"] == "its words say no one test of ours"
    second = owner.uploaded(path)
    answer = owner.get(f"{URL}/{deal['id']}/tie-out", params={"workbook_id": second["id"]})
    assert answer.json()["detail"] == "Workbook not found", "it is of no deal"


def test_a_definition_is_drafted_and_put(owner: Member, deal: dict[str, Any], write_book: Callable[..., Path]) -> None:
    path = f"{URL}/{deal['id']}/definition/draft"
    assert owner.post(path, json={}).json()["detail"] == "Workbook not found"
    published = (
        ("Test", "Actual", "Trigger", "Result"),
        ("Class A/B Par Value Ratio", 149.25, 120.0, "Pass"),
        ("Caa Obligations (Moody's)", 33.33, 7.5, "Fail"),
        ("Unhedged Obligations", 0.0, 2.5, "Pass"),
    )
    loans = [row.split(",") for row in LOANS.decode().splitlines()]
    notes = [row.split(",") for row in NOTES.decode().splitlines()]
    book = owner.uploaded(
        write_book("published", Holdings=loans, Tranches=notes, Tests=published), deal_id=deal["id"], as_of="2026-03-31"
    )
    answer = owner.post(path, json={"workbook_id": book["id"], "mapping_id": None})
    assert answer.status_code == 200, answer.text
    draft = answer.json()
    assert (draft["deal_id"], draft["workbook_id"], draft["as_of"]) == (deal["id"], book["id"], "2026-03-31")
    assert draft["definition"]["name"] == "Cairn"
    assert {test["id"]: test.get("min", test.get("max")) for test in draft["definition"]["tests"]} == {
        "oc_class_ab": 120.0, "caa_concentration": 7.5,
    }  # fmt: skip
    assert parse_toml(draft["toml"]) == parse(draft["definition"])
    listed = {item["subject"]: item for item in draft["decide"]}
    assert listed["Unhedged Obligations"]["limit"] == 2.5
    assert listed["Unhedged Obligations"]["place"].startswith("'Tests'!")
    assert 0 <= draft["ties"]["tied"] <= draft["ties"]["figures"] == 2
    assert "choices" in draft["interpretation"]
    stored = owner.get(f"{URL}/{deal['id']}/definition").json()
    assert (stored["version"], stored["definition"]) == (0, {}), "nothing is stored"
    put = owner.put(f"{URL}/{deal['id']}/definition", json={"definition": draft["definition"]})
    assert (put.status_code, put.json()["version"]) == (200, 1)
    assert limit_of(ran(owner, book, test_suite="deal"), "caa_concentration") == (7.5, "definition")


def test_a_file_that_prints_nothing_gives_a_draft_that_says_so(owner: Member, deal: dict[str, Any]) -> None:
    added(owner, deal, ("loans.csv", LOANS))
    path = f"{URL}/{deal['id']}/definition/draft"
    draft = owner.post(path, json={}).json()
    assert "tests" not in draft["definition"]
    assert "tests" in {item["subject"] for item in draft["decide"]}
    assert owner.post(path, json={"mapping_id": "nobodys"}).json()["detail"] == "Mapping not found"
    assert owner.post(path, json={"mapping_id": "standard_clo"}).status_code == 200


def test_a_published_report_ties_out(owner: Member, deal: dict[str, Any], tmp_path: Path) -> None:
    """Its figures are made without haircuts and without what is defaulted.

    So they are ours by rules that say so, and are explained by a run where one rule says otherwise.
    """
    report = generate_report(generate(200, 5), "flat", 5)
    report.write(path := tmp_path / "march.zip")
    added(owner, deal, (path.name, path.read_bytes()))
    rules = {"ccc_excess": False, "discount": False, "defaulted": "none"}

    def tied(**second: Any) -> list[dict[str, Any]]:
        document = {"definition": {"par_value": rules | second}}
        assert owner.put(f"{URL}/{deal['id']}/definition", json=document).status_code == 200
        answer = owner.get(f"{URL}/{deal['id']}/tie-out").json()
        assert answer["as_of"] == report.as_of
        assert "masked_ratings" in {warning["code"] for warning in answer["warnings"]}
        items: list[dict[str, Any]] = answer["items"]
        assert [item["trustee_name"] for item in items] == [item.name for item in report.published]
        return items

    for words, result in zip(report.published, tied(), strict=True):
        assert abs(result["our_value"] - words.value) <= 0.005 + 1e-9, words
        assert abs(result["difference"] - (result["our_value"] - result["trustee_value"])) <= 1e-9, words
        lines = [result[name] for name in ("trustee_value", "trigger", "agrees", "explained_by", "reason")]
        assert lines == [words.value, words.trigger, True, [], None], words
        assert result["our_status"] == result["trustee_status"] == ("pass" if words.passed else "fail"), words
    by_haircut = tied(discount=True)
    assert [item["explained_by"] for item in by_haircut] == [["haircuts"]] * 4 + [[], []]
    assert [item["agrees"] for item in by_haircut] == [False] * 4 + [True, True]
    assert all(item["difference"] < -0.1 for item in by_haircut[:4])


def test_the_deals_own_tests_are_moved_by_its_mapping_and_its_limits(owner: Member) -> None:
    mapping = {"name": "M", "source_type": "clo_holdings", "profile_id": "standard_clo"}
    mapping |= {"mappings": {"Nennwert": {"target": "par_value", "type": "number", "required": True}}}
    mapping_id = owner.post("/api/v1/mappings", json=mapping).json()["id"]
    deal = create_deal(owner, mapping_id=mapping_id)
    assert owner.put(f"{URL}/{deal['id']}/definition", json={"definition": DEFINITION}).status_code == 200
    limit = {"test_id": "senior_secured", "threshold_value": 90, "deal_id": deal["id"], "enabled": False}
    assert owner.post("/api/v1/compliance/thresholds", json=limit).status_code == 201
    german = LOANS.replace(b"Par Amount", b"Nennwert")
    months = {"2026-02-28": german, "2026-03-31": german.replace(b"2000000,Caa1", b"2000000,B3")}
    books = {day: added(owner, deal, (f"{day}.csv", loans), as_of=day) for day, loans in months.items()}
    last = ran(owner, books["2026-03-31"], test_suite="deal")
    assert (last["definition_version"], [result["test_id"] for result in last["results"]]) == (1, ["ccc_bucket_pct"])
    assert [item["reason"] for item in last["skipped"]] == ["disabled by the deal's threshold"]
    path = f"{URL}/{deal['id']}/movements"
    answer = owner.get(path, params=dict(zip(("from", "to"), books, strict=True)))
    assert answer.status_code == 200, answer.text
    assert answer.json()["test_suite"] == "deal"
    lines = [(warning["code"], warning["message"].split(":")[0]) for warning in answer.json()["warnings"]]
    assert {("no_price", side) for side in ("from", "to")} <= set(lines)
    listed = owner.get("/api/v1/workbooks", params={"deal_id": deal["id"]}).json()
    assert {item["id"] for item in listed["items"]} == {book["id"] for book in books.values()}
    nothing = added(owner, deal, ("notes.csv", NOTES))
    assert ran(owner, nothing)["warnings"][0]["code"] == "no_loans"
    [moved] = [item for item in answer.json()["items"] if item["change"] is not None]
    first = ran(owner, books["2026-02-28"], test_suite="deal")["results"][0]
    assert (moved["test_id"], moved["before"], moved["after"]) == ("ccc_bucket_pct", first["current_value"], 0.0)
    assert {part["part"]: part["change"] for part in moved["parts"] if part["change"]} == {"ratings": moved["change"]}


def test_the_movements_between_two_months_add_up(owner: Member, deal: dict[str, Any]) -> None:
    later = LOANS.replace(b"2000000,Caa1", b"1500000,B3") + b"LX10000D5,Delta,500000,B1,3.0,2032-06-30\n"
    for day, loans in (("2026-02-28", LOANS), ("2026-03-31", later)):
        added(owner, deal, (f"{day}.csv", loans), ("notes.csv", NOTES), as_of=day)
    path = f"{URL}/{deal['id']}/movements"
    moved = owner.get(path, params={"from": "2026-02-28", "to": "2026-03-31", "test_suite": "standard"})
    assert moved.status_code == 200, moved.text
    items = {each["test_id"]: each for each in moved.json()["items"]}
    assert items["ccc_bucket_pct"]["change"] < 0
    for item in items.values():
        if item["change"] is not None:
            assert abs(sum(part["change"] for part in item["parts"]) - item["change"]) <= 1e-9, item
    parts = {part["part"]: part for part in items["average_rating_factor"]["parts"]}
    assert [loan["name"] for loan in parts["ratings"]["loans"]] == ["Bravo"]
    ids = {"from": moved.json()["from_workbook_id"], "to": moved.json()["to_workbook_id"], "test_suite": "standard"}
    assert owner.get(path, params=ids).json() == moved.json()
    for wrong, status in (
        ({"from": "2026-02-27", "to": "2026-03-31"}, 404), ({"from": "soon", "to": "2026-03-31"}, 422),
        ({"from": "2026-13-01", "to": "2026-03-31"}, 422), ({"to": "2026-03-31"}, 422),
        (ids | {"test_suite": "none"}, 400), (ids | {"from": str(uuid4())}, 404),
    ):  # fmt: skip
        assert owner.get(path, params=wrong).status_code == status, wrong
