"""Deals over HTTP: the record, its definitions, its files, what becomes of them, and its history."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.conftest import Member, Stack, wait_until
from tests.service.deals.conftest import LOANS, NOTES, URL, added, made, sent

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
    assert made(owner)["currency"] == "EUR", "the tenant's own"
    assert made(owner, currency="GBP")["currency"] == "GBP"


def test_a_change_tells_what_is_absent_from_what_is_null(owner: Member) -> None:
    deal = made(owner, closing_date="2024-01-15", stream_key="deal:internal:one", home_countries=["IE"])
    path = f"{URL}/{deal['id']}"
    changed = owner.patch(path, json={"name": "Other", "closing_date": None}).json()
    assert changed | {"updated_at": 0} == deal | {"name": "Other", "closing_date": None, "updated_at": 0}
    assert owner.patch(path, json={}).json() == changed, "nothing given, nothing changed"
    for wrong in (
        {"name": None}, {"currency": None}, {"currency": "eur"}, {"home_countries": None}, {"home_countries": ["Irl"]},
        {"closing_date": "15/01/2024"}, {"stream_key": "deal:other:x"},
    ):  # fmt: skip
        assert owner.patch(path, json=wrong).status_code == 422, wrong
    assert owner.patch(path, json={"mapping_id": "nobodys"}).status_code == 404
    assert owner.get(path).json() == changed


def test_a_stream_is_of_one_deal(owner: Member, stranger: Member) -> None:
    key = "deal:isin:XS0000000009"
    first, other = made(owner, stream_key=key), made(owner, name=" twice ")
    for answer in (
        owner.post(URL, json={"name": "Deal", "stream_key": key}),
        owner.patch(f"{URL}/{other['id']}", json={"stream_key": key}),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (409, "Stream key already in use")
    assert made(stranger, stream_key=key)["stream_key"] == key
    assert owner.delete(f"{URL}/{first['id']}").status_code == 204
    assert owner.patch(f"{URL}/{other['id']}", json={"stream_key": key}).status_code == 200


def test_deals_are_listed_by_name_and_by_age(owner: Member) -> None:
    names = ["b 100%", "A", "c"]
    for name in names:
        made(owner, name=name)

    def listed(**query: Any) -> list[str]:
        page = owner.get(URL, params=query).json()
        assert page["total"] >= len(page["items"])
        return [deal["name"] for deal in page["items"]]

    assert listed() == names[::-1]
    assert listed(sort_by="name", sort_order="asc") == ["A", "b 100%", "c"]
    assert listed(sort_by="created_at", sort_order="asc", page_size=2, page=2) == ["c"]
    assert listed(search="0%") == ["b 100%"]


def test_a_tenant_has_no_more_deals_than_the_limit(stack: Stack, owner: Member) -> None:
    made(owner)
    with stack.another_api(CUSHION_MAX_DEALS="1") as url:
        answer = owner.http.post(f"{url}{URL}", json={"name": "One more"})
    assert (answer.status_code, answer.json()["detail"]) == (403, "Deal limit exceeded")


def test_a_mapping_that_a_deal_names_stays(owner: Member) -> None:
    mapping = {"name": "M", "source_type": "clo_holdings", "profile_id": "standard_clo", "mappings": {}}
    mapping_id = owner.post("/api/v1/mappings", json=mapping).json()["id"]
    deal = made(owner, mapping_id=mapping_id)
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
    assert [(one["version"], one["change_notes"]) for one in versions["items"]] == [(2, "no. 2"), (1, "no. 1")]


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


# Files --------------------------------------------------------------------------------------------------------------


def test_several_files_are_one_workbook_of_the_deal(stack: Stack, owner: Member, deal: dict[str, Any]) -> None:
    files = (("loans of march.csv", LOANS), ("liabilities.csv", NOTES))
    workbook = added(owner, deal, *files, as_of="2026-03-31")
    told = ("deal_id", "as_of", "name", "file_name", "file_size", "sheet_count")
    name = "loans of march.csv and 1 more"
    assert [workbook[field] for field in told] == [
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
        ([("a.pdf", LOANS)], 400, "Invalid file format", []),
        ([("a.csv", b"%PDF-1.7")], 400, "Invalid file format", []),
        ([("a.zip", LOANS)], 400, "Invalid file format", []),
        ([("a.csv", LOANS), ("b.xlsx", b"")], 400, "Invalid file format", ["1"]),
        ([("../a.csv", LOANS)], 400, "Invalid file format", []),
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


def test_a_file_that_cannot_be_read_leaves_its_workbook_in_error(owner: Member, deal: dict[str, Any]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.md", "no loans")
    found = owner.parsed(sent(owner, deal, ("march.zip", buffer.getvalue())).json()["id"])
    assert (found["status"], "holds none" in found["error_message"]) == ("error", True)


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
    deal = made(owner, mapping_id=mapping_id, stream_key="deal:internal:one")
    book = owner.uploaded(g1_file, deal_id=deal["id"])
    assert (book["deal_id"], book["mapping_id"], book["stream_key"]) == (deal["id"], None, None)

    def evidence() -> tuple[Any, ...]:
        run = owner.post("/api/v1/compliance/run", json={"workbook_id": book["id"], "test_ids": ["wal"]}).json()
        sql = "SELECT mapping ->> 'id', stream_key FROM compliance_runs WHERE id = %s"
        [found] = stack.sql(sql, [run["id"]])
        return tuple(found)

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
        found: dict[str, Any] = answer.json()
        return found

    def history(**query: Any) -> dict[str, list[dict[str, Any]]]:
        answer = owner.get(f"{URL}/{deal['id']}/history", params=query)
        assert answer.status_code == 200, answer.text
        assert not answer.json()["truncated"]
        return {one["test_id"]: one["points"] for one in answer.json()["series"]}

    def latest() -> dict[str, Any]:
        found: dict[str, Any] = owner.get(f"{URL}/{deal['id']}").json()["latest"]
        return found

    books = [owner.uploaded(g1_file, deal_id=deal["id"], as_of=day) for day in ("2026-03-31", "2026-02-28")]
    nothing = {"run_id": None, "failed": None, "warnings": None, "thinnest": None}
    assert latest() == {"workbook_id": books[0]["id"], "as_of": "2026-03-31"} | nothing
    assert history() == {}
    first, second = (run(book) for book in books)
    again = run(books[0], "oc_ratio")
    found = history()
    assert set(found) == {one["test_id"] for one in first["results"]}
    by_id = {one["test_id"]: one for one in first["results"]}
    for test_id, points in found.items():
        newest = again if test_id == "oc_ratio" else first
        assert sorted(point["run_id"] for point in points) == sorted((newest["id"], second["id"]))
        told = {(point["value"], point["threshold"], point["status"]) for point in points}
        one = by_id[test_id]
        assert told == {(one["current_value"], one["threshold_value"], one["status"])}
        assert [point["as_of"] for point in points] == sorted(point["as_of"] for point in points)
    asked = history(test_id="oc_ratio,wal_of_nobody")
    assert asked == {"oc_ratio": found["oc_ratio"], "wal_of_nobody": []}
    assert history(end_date="1999-12-31", test_id="oc_ratio") == {"oc_ratio": []}
    full = run(books[0])
    thinnest = min(full["results"], key=lambda one: one["cushion_pct"])
    assert latest() == {
        "workbook_id": books[0]["id"],
        "as_of": "2026-03-31",
        "run_id": full["id"],
        "failed": full["summary"]["failed"],
        "warnings": full["summary"]["warnings"],
        "thinnest": {"test_id": thinnest["test_id"], "cushion": thinnest["cushion"]},
    }
    for book in books:
        assert owner.delete(f"/api/v1/workbooks/{book['id']}").status_code == 204
    assert (history(), owner.get(f"{URL}/{deal['id']}").json()["latest"]) == ({}, None)


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
    found: dict[str, Any] = answer.json()
    return found


def limit_of(run: dict[str, Any], test_id: str = "ccc_bucket_pct") -> tuple[Any, Any]:
    [found] = [one for one in run["results"] if one["test_id"] == test_id]
    return found["threshold_value"], found["threshold_source"]


def test_who_sets_a_limit_first(owner: Member, deal: dict[str, Any], g1_file: Path) -> None:
    book = owner.uploaded(g1_file, deal_id=deal["id"])
    assert limit_of(ran(owner, book))[1] in ("suite", "definition")
    own, of_deal = {"workbook_id": book["id"]}, {"deal_id": deal["id"]}
    given = [("tenant", {}), ("definition", None), ("deal", of_deal), ("workbook", own)]
    for value, (source, where) in enumerate(given, 11):
        if where is None:
            document = {"tests": [DEFINITION["tests"][0] | {"max": value}]}
            assert owner.put(f"{URL}/{deal['id']}/definition", json={"definition": document}).status_code == 200
        else:
            body = {"test_id": "ccc_bucket_pct", "threshold_value": value, **where}
            assert owner.post("/api/v1/compliance/thresholds", json=body).status_code == 201
        assert limit_of(ran(owner, book)) == (value, source)
    request = [{"test_id": "ccc_bucket_pct", "threshold_value": 20}]
    assert limit_of(ran(owner, book, thresholds=request)) == (20, "request")
    listed = owner.get("/api/v1/compliance/thresholds", params={"deal_id": deal["id"]}).json()["items"]
    assert [(one["deal_id"], one["workbook_id"]) for one in listed] == [(deal["id"], None)]
    both = {"test_id": "wal", "threshold_value": 1, "deal_id": deal["id"], "workbook_id": book["id"]}
    assert owner.post("/api/v1/compliance/thresholds", json=both).status_code == 422
    absent = {"test_id": "wal", "threshold_value": 1, "deal_id": str(uuid4())}
    assert owner.post("/api/v1/compliance/thresholds", json=absent).json()["detail"] == "Deal not found"
    assert owner.delete(f"{URL}/{deal['id']}").status_code == 204
    assert owner.get("/api/v1/compliance/thresholds").json()["total"] == 2, "the deal's went with it"


def test_the_suite_deal_runs_the_tests_of_the_version_that_stands(
    stack: Stack, owner: Member, deal: dict[str, Any], g1_file: Path
) -> None:
    book = owner.uploaded(g1_file, deal_id=deal["id"])
    assert owner.put(f"{URL}/{deal['id']}/definition", json={"definition": DEFINITION}).status_code == 200
    first = ran(owner, book, test_suite="deal")
    assert [one["test_id"] for one in first["results"]] == ["ccc_bucket_pct", "senior_secured"]
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
    assert "as_of_stands_in" in {one["code"] for one in run["warnings"]}
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
    by_name = {one["trustee_name"]: one for one in tied["items"]}
    assert by_name["Class A/B Par Value Ratio"]["trustee_value"] == 121.6
    assert by_name["Weighted Average Colour"]["our_value"] is None, "listed, not dropped"
    other = owner.uploaded(path)
    answer = owner.get(f"{URL}/{deal['id']}/tie-out", params={"workbook_id": other["id"]})
    assert answer.json()["detail"] == "Workbook not found", "it is of no deal"


def test_the_movements_between_two_months_add_up(owner: Member, deal: dict[str, Any]) -> None:
    later = LOANS.replace(b"2000000,Caa1", b"1500000,B3") + b"LX10000D5,Delta,500000,B1,3.0,2032-06-30\n"
    for day, loans in (("2026-02-28", LOANS), ("2026-03-31", later)):
        added(owner, deal, (f"{day}.csv", loans), ("notes.csv", NOTES), as_of=day)
    path = f"{URL}/{deal['id']}/movements"
    moved = owner.get(path, params={"from": "2026-02-28", "to": "2026-03-31", "test_suite": "standard"})
    assert moved.status_code == 200, moved.text
    items = {one["test_id"]: one for one in moved.json()["items"]}
    assert items["ccc_bucket_pct"]["change"] < 0
    for one in items.values():
        if one["change"] is not None:
            assert abs(sum(part["change"] for part in one["parts"]) - one["change"]) <= 1e-9, one
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
