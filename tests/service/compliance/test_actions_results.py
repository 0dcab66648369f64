"""GET /compliance/results/{result_id} and /compliance/history.

What was run, narrowed, paged, kept to its tenant.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

RUN = "/api/v1/compliance/run"
HISTORY = "/api/v1/compliance/history"


def path(run: dict[str, Any]) -> str:
    return f"/api/v1/compliance/results/{run['id']}"


@pytest.fixture(scope="module")
def enhanced(shared_owner: Any, g1: dict[str, Any]) -> dict[str, Any]:
    answer = shared_owner.post(RUN, json={"workbook_id": g1["id"], "test_suite": "enhanced"})
    assert answer.status_code == 200, answer.text
    run: dict[str, Any] = answer.json()
    return run


# Results ------------------------------------------------------------------------------------------------------------


def test_a_run_reads_back_as_it_was_answered(shared_owner: Any, enhanced: dict[str, Any]) -> None:
    answer = shared_owner.get(path(enhanced))
    assert answer.status_code == 200
    assert answer.json() == enhanced
    assert shared_owner.get(path(enhanced), params={"include_details": "true"}).json() == enhanced


def test_without_details(shared_owner: Any, enhanced: dict[str, Any]) -> None:
    answer = shared_owner.get(path(enhanced), params={"include_details": "false"}).json()
    assert answer["results"] == [{**result, "details": None} for result in enhanced["results"]]
    assert answer["summary"] == enhanced["summary"]


@pytest.mark.parametrize("status", ["pass", "fail", "warning"])
def test_one_status(shared_owner: Any, enhanced: dict[str, Any], status: str) -> None:
    answer = shared_owner.get(path(enhanced), params={"status_filter": status}).json()
    assert answer["results"] == [result for result in enhanced["results"] if result["status"] == status]
    assert answer["summary"] == enhanced["summary"]
    assert answer["skipped"] == enhanced["skipped"]


@pytest.mark.parametrize("category", ["concentration", "rating", "coverage", "portfolio", "liquidity"])
def test_one_category(shared_owner: Any, enhanced: dict[str, Any], category: str) -> None:
    answer = shared_owner.get(path(enhanced), params={"category": category}).json()
    expected = [result for result in enhanced["results"] if result["category"] == category]
    assert expected
    assert answer["results"] == expected


def test_both_filters_together(shared_owner: Any, enhanced: dict[str, Any]) -> None:
    answer = shared_owner.get(path(enhanced), params={"category": "coverage", "status_filter": "fail"}).json()
    assert answer["results"] == []
    both = {"category": "rating", "status_filter": "fail"}
    test_ids = [result["test_id"] for result in shared_owner.get(path(enhanced), params=both).json()["results"]]
    assert set(test_ids) >= {"ccc_bucket_pct", "average_rating_factor"}


@pytest.mark.parametrize(
    "query", [{"status_filter": "skipped"}, {"status_filter": ""}, {"category": "Rating"}, {"include_details": "maybe"}]
)
def test_unknown_values(shared_owner: Any, enhanced: dict[str, Any], query: dict[str, str]) -> None:
    answer = shared_owner.get(path(enhanced), params=query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][0] == "query"


def test_whoever_has_no_such_result(shared_owner: Any, stranger: Any, enhanced: dict[str, Any]) -> None:
    answers = [
        stranger.get(path(enhanced)),
        shared_owner.get(path({"id": uuid4()})),
        shared_owner.get(path({"id": "not-a-uuid"})),
        shared_owner.get(path({"id": "{" + enhanced["id"] + "}"})),
    ]
    for answer in answers:
        assert answer.status_code == 404
        assert answer.json()["detail"] == "Result not found"


def test_who_may_read(stack: Any, owner: Any, own_g1: dict[str, Any]) -> None:
    run = owner.post(RUN, json={"workbook_id": own_g1["id"]}).json()
    for where in (path(run), HISTORY):
        assert httpx.get(stack.url + where).status_code == 401
        assert owner.key("workbooks:read", "compliance:write").get(where).status_code == 403
        assert owner.invite("viewer").get(where).status_code == 200
        assert owner.key("compliance:read").get(where).status_code == 200


def test_results_outlive_their_workbook(owner: Any, own_g1: dict[str, Any]) -> None:
    run = owner.post(RUN, json={"workbook_id": own_g1["id"]}).json()
    assert owner.delete(f"/api/v1/workbooks/{own_g1['id']}").status_code == 204
    assert owner.get(path(run)).json() == run
    assert owner.get(HISTORY).json()["total"] == 1


# History ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def past(stack: Any, shared_owner: Any, g1: dict[str, Any]) -> list[dict[str, Any]]:
    """Seven runs of one workbook on seven days from 2020-03-01, 12:00 UTC.

    The suites in turn. Newest first.
    """
    runs = []
    for day in range(7):
        suite = ("standard", "enhanced")[day % 2]
        run = shared_owner.post(RUN, json={"workbook_id": g1["id"], "test_suite": suite}).json()
        at = datetime(2020, 3, 1 + day, 12, tzinfo=UTC)
        stack.sql("UPDATE compliance_runs SET executed_at = %s WHERE id = %s", [at, run["id"]])
        runs.append({**run, "executed_at": at})
    return runs[::-1]


def history(member: Any, **query: Any) -> dict[str, Any]:
    answer = member.get(HISTORY, params=query)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


def ids(page: dict[str, Any]) -> list[str]:
    return [item["id"] for item in page["items"]]


SPAN = {"start_date": "2020-03-01", "end_date": "2020-03-07"}


def test_the_newest_first_with_the_stated_fields(shared_owner: Any, past: list[dict[str, Any]]) -> None:
    page = history(shared_owner, **SPAN)
    assert ids(page) == [run["id"] for run in past]
    assert (page["total"], page["page"], page["page_size"], page["total_pages"]) == (7, 1, 20, 1)
    for item, run in zip(page["items"], past, strict=True):
        assert set(item) == {
            "id", "workbook_id", "test_suite", "status", "as_of", "as_of_source", "summary", "partial",
            "executed_at",
        }  # fmt: skip
        assert {name: item[name] for name in ("workbook_id", "test_suite", "status", "summary", "partial")} == {
            name: run[name] for name in ("workbook_id", "test_suite", "status", "summary", "partial")
        }
        assert datetime.fromisoformat(item["executed_at"]) == run["executed_at"]


def test_pages(shared_owner: Any, past: list[dict[str, Any]]) -> None:
    pages = [history(shared_owner, **SPAN, page=page, page_size=3) for page in (1, 2, 3, 4)]
    assert [len(page["items"]) for page in pages] == [3, 3, 1, 0]
    assert [run_id for page in pages for run_id in ids(page)] == [run["id"] for run in past]
    assert all((page["total"], page["total_pages"]) == (7, 3) for page in pages)


def test_filters(shared_owner: Any, g1: dict[str, Any], past: list[dict[str, Any]]) -> None:
    assert ids(history(shared_owner, **SPAN, test_suite="enhanced")) == [past[at]["id"] for at in (1, 3, 5)]
    assert history(shared_owner, **SPAN, test_suite="nightly")["total"] == 0
    assert history(shared_owner, **SPAN, workbook_id=g1["id"])["total"] == 7
    assert history(shared_owner, **SPAN, workbook_id=str(uuid4())) == {
        "items": [], "total": 0, "page": 1, "page_size": 20, "total_pages": 0,
    }  # fmt: skip
    assert history(shared_owner, **SPAN, status="completed")["total"] == 7
    assert history(shared_owner, **SPAN, status="failed")["total"] == 0


@pytest.mark.parametrize(
    ("span", "days"),
    [
        ({"start_date": "2020-03-06", "end_date": "2020-03-31"}, [7, 6]),
        ({"end_date": "2020-03-02"}, [2, 1]),
        ({"start_date": "2020-03-03", "end_date": "2020-03-03"}, [3]),
        ({"start_date": "2020-03-03T12:00:00Z", "end_date": "2020-03-03T12:00:00Z"}, [3]),
        ({"start_date": "2020-03-03T12:00:01", "end_date": "2020-03-04T12:00:00"}, [4]),
        ({"start_date": "2020-03-03T14:00:00+02:00", "end_date": "2020-03-03T14:00:00.000001+02:00"}, [3]),
        ({"start_date": "2020-03-03T14:00:01+02:00", "end_date": "2020-03-04T11:59:59.999999"}, []),
        ({"start_date": "2020-03-05", "end_date": "2020-03-04"}, []),
        ({"start_date": "0001-01-01", "end_date": "2020-03-01T23:59:59-23:59"}, [2, 1]),
    ],
)
def test_dates_are_inclusive(
    shared_owner: Any, past: list[dict[str, Any]], span: dict[str, str], days: list[int]
) -> None:
    assert ids(history(shared_owner, **span)) == [past[7 - day]["id"] for day in days]


def test_the_last_day_of_the_calendar_is_a_day(shared_owner: Any, past: list[dict[str, Any]]) -> None:
    assert history(shared_owner, start_date="0001-01-01T00:00:00+23:00", end_date="9999-12-31")["total"] >= 7


@pytest.mark.parametrize(
    "query",
    [
        {"start_date": "yesterday"},
        {"end_date": "2020-02-30"},
        {"end_date": ""},
        {"start_date": "2020-03-01T25:00"},
        {"start_date": "2" * 41},
        {"status": "done"},
        {"workbook_id": "not-a-uuid"},
        {"page": "0"},
        {"page": "x"},
        {"page_size": "0"},
        {"page_size": "101"},
    ],
)
def test_queries_that_cannot_be(shared_owner: Any, query: dict[str, str]) -> None:
    answer = shared_owner.get(HISTORY, params=query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["query", next(iter(query))]


def test_another_tenants_history_is_its_own(stranger: Any, g1: dict[str, Any], past: list[dict[str, Any]]) -> None:
    assert history(stranger)["total"] == 0
    assert history(stranger, workbook_id=g1["id"])["total"] == 0


def test_a_run_of_now_is_in_the_history_of_today(owner: Any, own_g1: dict[str, Any]) -> None:
    run = owner.post(RUN, json={"workbook_id": own_g1["id"]}).json()
    today = datetime.fromisoformat(run["executed_at"]).date()
    assert ids(history(owner, start_date=today.isoformat(), end_date=today.isoformat())) == [run["id"]]
    assert ids(history(owner, start_date=(today + timedelta(days=1)).isoformat())) == []
