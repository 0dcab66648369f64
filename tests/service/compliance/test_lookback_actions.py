"""The look back over HTTP.

Which events, what each was decided by, and that a changed past is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

import core
from tests.conftest import Member, Stack

GET, POST = "/api/v1/compliance/lookback", "/api/v1/compliance/evidence/lookback"
RUN = "/api/v1/compliance/run"
KEY = "deal:internal:past"


def looked(member: Member, **asked: Any) -> dict[str, Any]:
    """The answer, which is the same by both ways."""
    by_query = member.get(GET, params=asked)
    assert by_query.status_code == 200, by_query.text
    answer: dict[str, Any] = by_query.json()
    assert member.post(POST, json=asked).json() == answer
    return answer


@pytest.fixture
def run(owner: Member, own_g1: dict[str, Any]) -> dict[str, Any]:
    """A run of a workbook that is of a stream."""
    owner.patch(f"/api/v1/workbooks/{own_g1['id']}", json={"stream_key": KEY})
    answer = owner.post(RUN, json={"workbook_id": own_g1["id"], "test_suite": "enhanced", "as_of": "2026-03-31"})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_events_are_found_by_each_filter(owner: Member, stranger: Member, run: dict[str, Any]) -> None:
    book = run["workbook_id"]
    everything = looked(owner)
    types = [item["event_type"] for item in everything["items"]]
    assert types == ["compliance.run_completed", "workbook.updated", "workbook.uploaded"], "no registration, no login"
    assert [everything[name] for name in ("total", "offset", "limit")] == [3, 0, 50]
    first = everything["items"][0]
    assert first == {
        "event_id": first["event_id"],
        "event_type": "compliance.run_completed",
        "event_category": "compliance",
        "occurred_at": first["occurred_at"],
        "actor_id": owner.user_id,
        "actor_email": owner.email,
        "subject_type": "compliance_run",
        "subject_id": run["id"],
        "stream_key": KEY,
        "summary": first["summary"],
        **dict.fromkeys(("inputs", "outputs", "changes", "proof")),
    }
    assert owner.email in first["summary"]
    rows: list[tuple[dict[str, Any], list[int]]] = [
        ({"event_type": "workbook.updated"}, [1]),
        ({"event_category": "workbook"}, [1, 2]),
        ({"subject_id": run["id"]}, [0]),
        ({"subject_id": book, "event_category": "workbook", "offset": 1, "limit": 1}, [2]),
        ({"actor_id": owner.user_id}, [0, 1, 2]),
        ({"actor_id": stranger.user_id}, []),
        ({"stream_key": KEY}, [0, 1, 2]),
        ({"stream_key": "deal:internal:other"}, []),
        ({"start_date": first["occurred_at"]}, [0]),
        ({"end_date": "2020-01-01"}, []),
        ({"limit": 2}, [0, 1]),
    ]
    wrong = {}
    for asked, expected in rows:
        items = looked(owner, **asked)["items"]
        if items != [everything["items"][n] for n in expected]:
            wrong[str(asked)] = [item["event_type"] for item in items]
    assert wrong == {}
    assert looked(stranger) == {
        "items": [], "total": 0, "offset": 0, "limit": 50,
        "chain": {"verified": True, "first_sequence": None, "last_sequence": None},
    }  # fmt: skip
    for refused in ({"event_category": "user"}, {"limit": 101}, {"offset": -1}, {"start_date": "soon"}):
        assert owner.get(GET, params=refused).status_code == 422, refused
        assert owner.post(POST, json=refused).status_code == 422, refused


def test_a_run_is_told_with_all_that_it_was(stack: Stack, owner: Member, run: dict[str, Any]) -> None:
    asked = dict.fromkeys(("include_inputs", "include_outputs", "include_changes", "include_proof"), True)
    answer = looked(owner, event_type="compliance.run_completed", **asked)
    (event,) = answer["items"]
    inputs, outputs, proof = event["inputs"], event["outputs"], event["proof"]
    assert (outputs["results"], outputs["skipped"], outputs["warnings"]) == (
        run["results"], run["skipped"], run["warnings"],
    )  # fmt: skip
    assert (inputs["as_of"], inputs["as_of_source"]) == ("2026-03-31", "request")
    assert set(inputs) >= {"workbook_hash", "mapping", "thresholds", "engine_version", "definition_version", "options"}
    assert event["changes"]["passed"] == run["summary"]["passed"]
    (entry,) = owner.get("/api/v1/admin/audit-logs", params={"resource_type": "compliance_run"}).json()["items"]
    assert (proof["sequence"], proof["hash"]) == (entry["sequence"], entry["hash"])
    assert (proof["is_whole"], proof["evidence_verified"]) == (True, True)
    assert proof["evidence_hash"] == entry["details"]["evidence"]
    engine = [proof[name] for name in ("engine_version", "is_present_engine", "inputs_kept", "inputs_kept_until")]
    assert engine == [core.__version__, True, True, None], "without a profile of its stream they stay without an end"
    profile = {"stream_key": KEY, "retention_until": "2099-01-01T00:00:00Z"}
    assert owner.post("/api/v1/admin/compliance/stream-profiles", json=profile).status_code == 201
    stack.sql("UPDATE compliance_runs SET engine_version = '0.0.1' WHERE id = %s", [run["id"]])
    stack.sql("DELETE FROM blobs WHERE tenant_id = %s AND key IN (SELECT blob_key FROM evidence_sheets)",
              [owner.tenant_id])  # fmt: skip
    now = looked(owner, subject_id=run["id"], **asked)["items"][0]["proof"]
    assert [now[name] for name in ("is_present_engine", "inputs_kept", "evidence_verified")] == [False, False, False]
    assert now["inputs_kept_until"] == "2099-01-01T00:00:00Z"
    assert answer["chain"] == {
        "verified": True,
        "first_sequence": proof["sequence"],
        "last_sequence": proof["sequence"],
    }


@contextmanager
def _tampered(stack: Stack, *statements: tuple[str, list[Any]]) -> Iterator[None]:
    """What somebody does who owns the database.

    Tables are as they were in the end, but for their rows.
    """
    with psycopg.connect(stack.database_url) as connection:
        for name in ("audit_log", "audit_log_before", "audit_log_rest"):
            connection.execute(f"ALTER TABLE {name} DISABLE TRIGGER audit_log_keep")  # type: ignore[call-overload]
        for statement, values in statements:
            assert connection.execute(statement, values).rowcount == 1  # type: ignore[call-overload]
        for name in ("audit_log", "audit_log_before", "audit_log_rest"):
            connection.execute(f"ALTER TABLE {name} ENABLE ALWAYS TRIGGER audit_log_keep")  # type: ignore[call-overload]
    yield


@pytest.mark.parametrize(
    ("statement", "whose"),
    [
        ("UPDATE audit_log SET user_email = 'x' WHERE action = 'workbook.updated' AND tenant_id = %s", [1]),
        ("DELETE FROM audit_log WHERE action = 'workbook.updated' AND tenant_id = %s", [0]),
        ("DELETE FROM audit_log WHERE action = 'compliance.run_completed' AND tenant_id = %s", []),
        ("UPDATE compliance_runs SET results = replace(results::text, 'pass', 'fail')::json WHERE tenant_id = %s", []),
        ("UPDATE compliance_runs SET as_of = as_of + 1 WHERE tenant_id = %s", []),
        ("UPDATE audit_heads SET sequence = sequence + 1 WHERE tenant_id = %s", []),
    ],
)
def test_a_past_that_was_changed_is_told(
    stack: Stack, owner: Member, run: dict[str, Any], statement: str, whose: list[int]
) -> None:
    """`whose`: places of the events that are not what was hashed, of the newest first."""
    assert looked(owner)["chain"]["verified"]
    with _tampered(stack, (statement, [owner.tenant_id])):
        answer = looked(owner, include_proof=True)
        assert not answer["chain"]["verified"]
        assert [n for n, item in enumerate(answer["items"]) if not item["proof"]["is_whole"]] == whose
        kept = [item["proof"]["evidence_verified"] for item in answer["items"] if item["subject_id"] == run["id"]]
        assert kept == ([] if "run_completed" in statement else [not statement.startswith("UPDATE compliance_runs")])
