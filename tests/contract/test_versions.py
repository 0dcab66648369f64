"""ETag and If-Match over every row that says it has versions."""

from __future__ import annotations

from typing import Any

import pytest

from service.app import routes
from service.platform.route.api import Route
from tests.conftest import Member
from tests.records import each, error_of, path_of, records_of
from tests.rows import every

ROWS = [row for row in routes() if row.versioned and row.method in ("PATCH", "PUT")]
NAMED: dict[str, Any] = {"name": "Renamed"}


@pytest.fixture(scope="module")
def resources(shared_owner: Member) -> dict[str, str]:
    return records_of(shared_owner)


def test_there_are_such_rows() -> None:
    assert {row.path for row in ROWS} >= {
        "/api/v1/workbooks/{workbook_id}",
        "/api/v1/mappings/{mapping_id}",
        "/api/v1/deals/{deal_id}",
        "/api/v1/scenarios/{scenario_id}",
        "/api/v1/alerts/{alert_id}",
        "/api/v1/formulas/{config_id}",
        "/api/v1/admin/tenant",
    }


@each(ROWS)
def test_a_change_of_what_somebody_else_changed_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    path = path_of(row, **resources)
    read = shared_owner.get(path).headers["etag"]
    first = shared_owner.patch(path, json=NAMED, headers={"If-Match": read})
    assert first.status_code == 200, first.text
    assert first.headers["etag"] != read
    assert shared_owner.get(path).headers["etag"] == first.headers["etag"]
    for stale in (read, f"W/{read}", '"0"', "nonsense", f'{read}, "x"', ""):
        late = shared_owner.patch(path, json={"name": "Late"}, headers={"If-Match": stale})
        assert late.status_code == 409, stale
        body = error_of(late)
        assert (body["detail"], body["error_code"]) == ("Concurrent modification", "CONFLICT")
    assert shared_owner.get(path).json()["name"] == "Renamed"


@each(ROWS)
@every("fresh", ["{tag}", "W/{tag}", "*", '"0", {tag}', None])
def test_a_change_of_what_was_read_last_passes(
    shared_owner: Member, resources: dict[str, str], row: Route, fresh: str | None
) -> None:
    path = path_of(row, **resources)
    tag = shared_owner.get(path).headers["etag"]
    headers = {} if fresh is None else {"If-Match": fresh.replace("{tag}", tag)}
    answer = shared_owner.patch(path, json=NAMED, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] != tag
