"""Stream profiles over HTTP.

Which are sound, until when they keep the evidence, and what becomes of the bytes.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from service.compliance.stream_actions import end_of_retention
from service.platform.config import ConfigError, load
from tests.conftest import Member, Stack, wait_until

URL = "/api/v1/admin/compliance/stream-profiles"
KEY = "deal:internal:{}"
BEGUN = "2024-02-29T12:00:00+00:00"


def create_profile(owner: Member, name: str = "one", **fields: Any) -> dict[str, Any]:
    answer = owner.post(URL, json={"stream_key": KEY.format(name), **fields})
    assert answer.status_code == 201, answer.text
    profile: dict[str, Any] = answer.json()
    return profile


def test_a_profile_is_kept_listed_changed_and_deleted(owner: Member, stranger: Member) -> None:
    first = create_profile(owner)
    assert first == {
        "id": first["id"],
        "stream_key": "deal:internal:one",
        **dict.fromkeys(("deal_name", "jurisdiction", "retention_years", "maturity_date", "retention_until")),
        **dict.fromkeys(("retention_floor_years", "effective_retention_until")),
        "retention_mode": "fixed_years",
        "profile_metadata": {},
        "created_by": owner.email,
        "created_at": first["created_at"],
        "updated_at": first["created_at"],
    }
    value = {
        "deal_name": "Cairn", "jurisdiction": "uk", "retention_years": 3, "retention_until": "2027-01-01",
        "profile_metadata": {"tranches": [{"scheme": "ISIN", "value": "XS2010030919", "class": "A"}], "note": [1.50]},
    }  # fmt: skip
    second = create_profile(owner, "two", **value)
    assert second | value | {"retention_until": "2027-01-01T00:00:00Z"} == second
    assert second["retention_floor_years"] == 5
    created = datetime.fromisoformat(second["created_at"])
    assert datetime.fromisoformat(second["effective_retention_until"]) == created.replace(year=created.year + 5)
    again = owner.post(URL, json={"stream_key": second["stream_key"]})
    assert (again.status_code, again.json()["detail"]) == (409, "Stream profile already exists")
    create_profile(stranger, "two")
    page = owner.get(URL).json()
    assert (page["items"], page["total"], page["page"], page["page_size"]) == ([second, first], 2, 1, 50)
    assert owner.get(URL, params={"stream_key": first["stream_key"]}).json()["items"] == [first]
    path = f"{URL}/{second['id']}"
    longer = owner.patch(path, json={"retention_mode": "life_of_securitisation", "maturity_date": "2041-01-15"}).json()
    assert longer["effective_retention_until"] == "2041-01-15T00:00:00Z"
    assert owner.patch(path, json={}).json() == longer
    bare = owner.patch(path, json={"jurisdiction": None, "maturity_date": None, "retention_mode": "fixed_years"})
    until = datetime.fromisoformat(bare.json()["effective_retention_until"])
    assert (until, bare.json()["retention_floor_years"]) == (created.replace(year=created.year + 3), None)
    moved = owner.patch(path, json={"stream_key": "deal:internal:three"})
    assert (moved.status_code, moved.json()["errors"][0]["loc"]) == (422, ["body", "stream_key"])
    assert owner.patch(path, json={"stream_key": second["stream_key"]}).json() == bare.json()
    assert owner.delete(path).status_code == 204
    assert owner.patch(path, json={}).json()["detail"] == "Stream profile not found"
    assert owner.delete(f"{URL}/{first['id']}").status_code == 204
    logged = owner.get("/api/v1/admin/audit-logs", params={"resource_type": "stream_profile"}).json()["items"]
    assert [item["action"].partition(".")[2] for item in logged] == [
        "deleted", "deleted", "updated", "updated", "created", "created",
    ]  # fmt: skip
    assert logged[3]["details"]["changes"]["maturity_date"] == [None, "2041-01-15"]


def test_what_is_no_profile_is_refused(owner: Member) -> None:
    def tranches(*items: Any) -> dict[str, Any]:
        return {"profile_metadata": {"tranches": [*items]}}

    rows: list[tuple[dict[str, Any], list[str]]] = [
        ({"stream_key": "internal:x"}, ["stream_key"]),
        ({"stream_key": "deal:ticker:x"}, ["stream_key"]),
        ({"stream_key": "deal:isin:XS2010030918"}, ["stream_key"]),
        ({"stream_key": "deal:cusip:037833101"}, ["stream_key"]),
        ({"stream_key": "deal:lei:549300LN3VL4EWWX4G95"}, ["stream_key"]),
        ({"stream_key": "deal:figi:BBG000BLNQ14"}, ["stream_key"]),
        ({"stream_key": None}, ["stream_key"]),
        ({"retention_mode": "for_ever"}, ["retention_mode"]),
        ({"retention_mode": "life_of_securitisation"}, ["maturity_date"]),
        ({"retention_years": 0}, ["retention_years"]),
        ({"retention_years": 101}, ["retention_years"]),
        ({"retention_until": "soon"}, ["retention_until"]),
        ({"retention_until": "9999-12-31T23:59:59-12:00"}, ["retention_until"]),
        ({"retention_until": "0001-01-01T00:00:00+12:00"}, ["retention_until"]),
        ({"maturity_date": "15/01/2036"}, ["maturity_date"]),
        ({"profile_metadata": {"note": "x" * 65_536}}, ["profile_metadata"]),
        ({"profile_metadata": {"tranches": "XS2010030919"}}, ["profile_metadata", "tranches"]),
        (tranches(*[{"scheme": "ISIN", "value": "XS2010030919"}] * 201), ["profile_metadata", "tranches"]),
        (tranches("XS2010030919"), ["profile_metadata", "tranches", "0", "scheme"]),
        (tranches({"scheme": "LEI", "value": "x"}), ["profile_metadata", "tranches", "0", "scheme"]),
        (tranches({"scheme": "ISIN", "value": "XS2010030918"}), ["profile_metadata", "tranches", "0", "value"]),
        (tranches({"scheme": "CUSIP", "value": 37833100}), ["profile_metadata", "tranches", "0", "value"]),
    ]
    wrong = []
    for value, place in rows:
        answer = owner.post(URL, json={"stream_key": KEY.format("x"), **value})
        if answer.status_code != 422 or answer.json()["errors"][0]["loc"] != ["body", *place]:
            wrong.append((value, answer.status_code, answer.text[:300]))
    assert wrong == []
    assert owner.get(URL).json()["total"] == 0


def test_the_latest_moment_counts() -> None:
    life = {"retention_mode": "life_of_securitisation"}
    rows: list[tuple[dict[str, Any], int | None, str | None]] = [
        ({}, None, None),
        ({}, 5, "2029-03-01T12:00:00+00:00"),  # no day too early
        ({"retention_years": 4}, None, "2028-02-29T12:00:00+00:00"),
        ({"retention_years": 4}, 5, "2029-03-01T12:00:00+00:00"),
        ({"retention_years": 7}, 5, "2031-03-01T12:00:00+00:00"),
        ({"retention_years": 7, "maturity_date": date(2050, 1, 1)}, 5, "2031-03-01T12:00:00+00:00"),
        (life | {"maturity_date": date(2036, 10, 15)}, 5, "2036-10-15T00:00:00+00:00"),
        (life | {"maturity_date": date(2025, 1, 1), "retention_years": 9}, 5, "2029-03-01T12:00:00+00:00"),
        ({"retention_until": datetime(2099, 1, 1, tzinfo=UTC), "retention_years": 7}, 5, "2099-01-01T00:00:00+00:00"),
        ({"retention_until": datetime(2025, 1, 1, tzinfo=UTC)}, 5, "2029-03-01T12:00:00+00:00"),
    ]  # fmt: skip
    unset = dict.fromkeys(("retention_years", "maturity_date", "retention_until"))
    profile = {**unset, "retention_mode": "fixed_years", "created_at": datetime.fromisoformat(BEGUN)}
    result = [end_of_retention({**profile, **value}, floor) for value, floor, _ in rows]
    assert [end and end.isoformat() for end in result] == [expected for *_, expected in rows]


def test_a_deployment_has_its_own_floors(stack: Stack, owner: Member) -> None:
    assert load({"CUSHION_RETENTION_FLOOR_YEARS": "7,sg=3"}).retention_floors == {
        "EU": 7, "SEC": 7, "UK": 7, "US": 7, "SG": 3,
    }  # fmt: skip
    for wrong in ("EU=5.5", "EU=-1", "=5x", "EU"):
        with pytest.raises(ConfigError):
            load({"CUSHION_RETENTION_FLOOR_YEARS": wrong})
    with stack.another_api(CUSHION_RETENTION_FLOOR_YEARS="Hong Kong=12, EU=6") as url:
        floors = [
            owner.http.post(f"{url}{URL}", json={"stream_key": KEY.format(n), "jurisdiction": name}).json()
            for n, name in enumerate((" hong kong ", "EU", "US"))
        ]
    assert [floor["retention_floor_years"] for floor in floors] == [12, 6, None]


def test_bytes_that_evidence_needs_stay_until_the_retention_ends(
    stack: Stack, owner: Member, g1_file: Path, tmp_path: Path
) -> None:
    """A deleted workbook's bytes.

    With a retention that lasts, after it was cut short, and where no profile says so.
    """
    book, second = tmp_path / "book.xlsx", tmp_path / "other.xlsx"
    for path, note in ((book, b"1"), (second, b"2")):  # what follows a zip file's end is no matter to its reader
        path.write_bytes(g1_file.read_bytes() + owner.tenant_id.encode() + note)
    rows = []
    for path, key in ((book, "kept"), (second, "bare")):
        row = owner.uploaded(path, stream_key=KEY.format(key))
        assert owner.post("/api/v1/compliance/run", json={"workbook_id": row["id"]}).status_code == 200
        rows.append(row["id"])
    soon = datetime.now(UTC).replace(year=datetime.now(UTC).year + 1).isoformat()
    profile = create_profile(owner, "kept", retention_until=soon)
    for row in rows:
        assert owner.delete(f"/api/v1/workbooks/{row}").status_code == 204

    def blobs(row: str) -> list[Any]:
        actual_rows = stack.sql(
            """
            SELECT b.left_at FROM blobs b JOIN workbooks w ON w.tenant_id = b.tenant_id AND w.content_hash = b.key
            WHERE w.id = %s
            """,
            [row],
        )
        return [left for (left,) in actual_rows]

    assert [len(blobs(row)) for row in rows] == [1, 1]
    with stack.another_worker(CUSHION_STORAGE_PAUSE_SECONDS="1"):
        until = datetime.fromisoformat(soon)
        wait_until(lambda: blobs(rows[0]) == [until], what="a look at what the profile keeps")
        wait_until(lambda: blobs(rows[1]) == [None], what="a look at what no profile lets go")
        over = {"retention_until": "2020-01-01T00:00:00Z"}
        assert owner.patch(f"{URL}/{profile['id']}", json=over).status_code == 200
        wait_until(lambda: not blobs(rows[0]), what="the bytes to go")
        floor = create_profile(owner, "bare", jurisdiction="EU", retention_until="2020-01-01T00:00:00Z")
        until = datetime.fromisoformat(floor["effective_retention_until"])
        wait_until(lambda: blobs(rows[1]) == [until], what="a look at what the floor keeps")
