"""A tenant with one record of every kind that a path may name, and the least call of every row."""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlencode
from uuid import NAMESPACE_OID, uuid4, uuid5

import httpx
import msgspec
import pytest
import xlsxwriter

from service.app import examples, routes
from service.platform.route.api import Route, Upload, Uploads
from tests.conftest import PASSWORD, Member, serving, wait_until
from tests.rows import every
from tests.service.webhooks.conftest import Receiver, ended, hooked

ALL_ROWS = routes()
ROWS = [row for row in ALL_ROWS if row.path.startswith("/api/")]
OPEN_ROWS = [row for row in ALL_ROWS if not row.path.startswith("/api/")]
GUARDED = [row for row in ROWS if row.access != "public"]
LIMITS = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")


def identity(row: Route) -> str:
    """A row's name in test reports and tables."""
    return f"{row.method} {row.path}"


def each(rows: list[Route]) -> Callable[[Callable[..., None]], Any]:
    """A test of every one of these rows, as one case."""
    return every("row", rows, ids=identity)


def each_alone(rows: list[Route]) -> pytest.MarkDecorator:
    """A test of every one of these rows, each with fixtures of its own."""
    return pytest.mark.parametrize("row", rows, ids=identity)


# Calls --------------------------------------------------------------------------------------------------------------


def path_of(row: Route, **values: str) -> str:
    """The row's path with these values as they stand, and identifiers of nothing for the others."""
    return re.sub(r"{(\w+)(?::path)?}", lambda name: values.get(name[1], str(uuid4())), row.path)


def quoted(values: dict[str, str]) -> dict[str, str]:
    """Values that a path can hold, whatever is in them."""
    return {name: quote(value, safe="") for name, value in values.items()}


ASKED = {"formula": "=A1", "enable": "false", "from": "2026-03-31", "to": "2026-03-31"}
"""Values of the query fields that a route cannot do without."""
GRAPH: dict[str, Any] = {
    "version": "1",
    "template_id": "custom",
    "nodes": [
        {"id": "par", "type": "column_ref", "params": {"column": "Par Value"}},
        {"id": "result", "type": "expression", "params": {"formula": "=par*2"}},
    ],
    "edges": [
        {"id": "e1", "source": {"nodeId": "par", "port": "output"}, "target": {"nodeId": "result", "port": "par"}}
    ],
}
SENT: dict[str, Any] = {
    "confirm": "somebody@example.com",
    "sample_data": [],
    "definition": {},
    "mapping": {"source_type": "custom", "mappings": {}},
    "trade_type": "buy",
    "par_value": 1.0,
    "objective": "wal",
    "universe": [],
    "graph": GRAPH,
    "version_id": "v1",
    "workbook_id": str(uuid4()),
    "sheet_id": "Loans",
    "target_column": "Double",
    "is_nominated": True,
    "question": "What is the total par?",
}
"""Values of the body's fields that a route with a record in its path cannot do without."""


def least_of(row: Route) -> dict[str, Any] | None:
    """The least body of a row with a record in its path."""
    fields = msgspec.structs.fields(row.body) if row.body else ()
    return {field.encode_name: SENT[field.encode_name] for field in fields if field.required} if row.body else None


def asked_of(row: Route) -> str:
    """The least query of a row."""
    fields = msgspec.structs.fields(row.query) if row.query else ()
    return "?" + urlencode({field.encode_name: ASKED[field.encode_name] for field in fields if field.required})


# Answers ------------------------------------------------------------------------------------------------------------


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """The body of a refusal, its shape checked."""
    body: dict[str, Any] = answer.json()
    assert answer.headers["content-type"] == "application/json"
    more = {"errors"} & set(body) | ({"error", "message", "retry_after"} if answer.status_code == 429 else set())
    assert set(body) == {"detail", "error_code", "request_id", "help"} | more, body
    assert answer.headers["link"] == f'<{body["help"]}>; rel="help"'
    assert body["help"].startswith("/docs/guide/errors/#"), body
    if body["detail"] == "Insufficient permissions":
        assert body["errors"], "a refusal says what would permit it"
    assert ("www-authenticate" in answer.headers) >= (answer.status_code == 401)
    assert body["request_id"] == answer.headers["x-request-id"]
    for fault in body.get("errors", []):
        assert set(fault) == {"loc", "message"}
        assert all(isinstance(step, str) for step in fault["loc"])
    assert_limits(answer)
    return body


def assert_limits(answer: httpx.Response) -> None:
    """The limit headers are there and make sense."""
    limit, remaining, reset = (int(answer.headers[name]) for name in LIMITS)
    assert limit > 0
    assert 0 <= remaining <= limit
    assert reset > 1_700_000_000


def forbidden(answer: httpx.Response) -> bool:
    """Whether the caller was refused for who they are."""
    if answer.status_code != 403:
        return False
    body = error_of(answer)
    return bool(body["detail"] == "Insufficient permissions" and body["error_code"] == "PERMISSION_DENIED")


# Records ------------------------------------------------------------------------------------------------------------

BOOK = [("Borrower Name", "Par Value", "Spread"), ("Acme", 1_000_000, 3.5), ("Borealis", 2_000_000, 4.0)]
TAPE = [("CUSIP", "Borrower Name", "Par Value"), ("990001AA7", "Cirrus", 3_000_000)]
TEST_ID = "ccc_bucket_pct"
OBLIGOR = "single_obligor_concentration"
DEAL: dict[str, Any] = {
    "name": "Deal",
    "currency": "EUR",
    "home_countries": ["IE", "DE"],
    "closing_date": "2024-01-15",
    "reinvestment_end": "2028-07-15",
    "stated_maturity": "2036-10-15",
    "next_payment_date": "2026-04-15",
}
TRADE: dict[str, Any] = {
    "trade_type": "buy",
    "par_value": 500_000.0,
    "cusip": "990001AA7",
    "borrower_name": "Cirrus",
    "price": 99.5,
    "spread": 375.0,
    "rating_agency_a": "B2",
    "rating_agency_b": "B",
    "rating_agency_c": "B",
    "industry": "Retail",
    "maturity_date": "2031-06-30",
    "loan_data": {"country": "US", "floor": 0.5, "cov_lite": False},
}
MAPPING: dict[str, Any] = {
    "name": "Contract",
    "source_type": "custom",
    "mappings": {"ID": {"target": "id", "type": "string", "required": False, "aliases": []}},
}
NOBODY = "http://127.0.0.1:9/"
"""Where nobody listens."""
ALERT: dict[str, Any] = {
    "name": "Alert",
    "alert_type": "threshold",
    "enabled": False,
    "conditions": {"metric": OBLIGOR, "operator": "gt", "value": 2.5},
    "channels": [
        {"type": "email", "config": {"recipients": ["desk@example.com"], "cc": [], "subject_prefix": "[CLO]"}},
        {"type": "webhook", "config": {"url": NOBODY, "headers": {"X-Token": "token"}, "retry_count": 0}},
        {
            "type": "chat_webhook",
            "config": {
                "webhook_url": NOBODY,
                "channel": "#deals",
                "username": "Cushion",
                "mention_users": ["U024BE7LH"],
            },
        },
    ],
}
PROFILE: dict[str, Any] = {
    "deal_name": "Deal",
    "jurisdiction": "EU",
    "retention_mode": "fixed_years",
    "retention_years": 7,
    "maturity_date": "2036-10-15",
    "retention_until": "2040-01-01T00:00:00Z",
    "profile_metadata": {"tranches": [{"scheme": "ISIN", "value": "US990001AB57"}]},
}
FORMULA: dict[str, Any] = {"name": "Formula", "template_id": "custom", "graph": GRAPH}


def small_book(rows: Sequence[Sequence[str | float]]) -> bytes:
    """A workbook with one sheet, Loans."""
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    sheet = book.add_worksheet("Loans")
    for row, cells in enumerate(rows):
        sheet.write_row(row, 0, cells)
    book.close()
    return buffer.getvalue()


def uploaded(member: Member) -> None:
    """Upload a workbook like no other, of which the event workbook.uploaded tells at once."""
    files = {"file": ("loans.xlsx", small_book([*BOOK, (str(uuid4()), 1, 1.0)]))}
    assert member.post("/api/v1/workbooks/upload", files=files).status_code == 201


def _reconciled(member: Member, workbook_id: str) -> dict[str, str]:
    """A tape, its comparison with a workbook, and one of the issues."""
    base = "/api/v1/reconciliation"
    uploaded = member.post(
        f"{base}/tapes/upload",
        files={"file": ("tape.xlsx", small_book(TAPE))},
        data={"trustee_name": "trustee_a", "statement_date": "2026-03-31", "mapping_id": "standard_clo"},
    )
    assert uploaded.status_code == 201, uploaded.text
    tape_id = uploaded.json()["tape_id"]

    def ended(path: str, field: str) -> bool:
        status = member.get(f"{base}/{path}").json()[field]
        assert status != "failed"
        return bool(status == "completed")

    wait_until(lambda: ended(f"tapes/{tape_id}", "processing_status"), what="the tape")
    compared = member.post(f"{base}/compare", json={"tape_id": tape_id, "workbook_id": workbook_id})
    assert compared.status_code == 200, compared.text
    job_id = compared.json()["job_id"]
    wait_until(lambda: ended(f"compare/{job_id}/status", "status"), what="the comparison")
    issues = member.get(f"{base}/issues").json()["items"]
    return {"tape_id": tape_id, "job_id": job_id, "issue_id": issues[0]["id"]}


def _channels_and_notices(owner: Member, workbook_id: str) -> dict[str, str]:
    """A webhook, which was given up once, what it was told then, and the notification of that."""
    with serving(Receiver()) as gone:
        webhook = hooked(owner, gone.url("/410"), "compliance.completed")
        assert owner.post("/api/v1/compliance/run", json={"workbook_id": workbook_id}).status_code == 200
        answer: list[dict[str, Any]] = wait_until(
            lambda: [
                item
                for item in owner.get("/api/v1/notifications").json()["items"]
                if item["resource_id"] == webhook["id"]
            ],
            what="the notification",
        )
    (delivery,) = ended(owner, webhook)
    mended = {"enabled": True, "url": NOBODY, "events": ["alert.triggered"]}
    assert owner.patch(f"/api/v1/webhooks/{webhook['id']}", json=mended).status_code == 200
    return {"webhook_id": webhook["id"], "delivery_id": delivery["id"], "notification_id": answer[0]["id"]}


EXAMPLES = examples(ALL_ROWS)
STANDS_FOR = {"base_workbook_id": "workbook_id", "subject_id": "workbook_id", "result_id": "run_id"}
"""Names of one record."""
NEVER_TWICE = {
    "ana.brandt@example.com": "body-{}@example.com",
    "mia.keller@example.com": "owner-{}@example.com",
    "Servicer holdings": "Mapping {}",
    "Par doubled": "Double {}",
    "brandt-capital": "tenant-{}",
    "deal:internal:brandt-2024-1": "deal:internal:{}",
    "5mT2cQ8vX0y1kR7n": "{}",
    "https://hooks.example.com/cushion": NOBODY,
}
"""Texts of the examples that are said anew in each body, or that somebody else could answer."""
WRONG = {"change_password": {"current_password": f"{PASSWORD}8"}}
"""What would have the caller's token end."""


PREFIXES = {
    "tape_id": "tape_", "job_id": "job_", "issue_id": "iss_", "export_id": "exp_", "config_id": "frm_",
    "insight_id": "ins_", "session_id": "ses_", "task_id": "dlq_",
}  # fmt: skip
"""Identifiers that begin with what they are of."""


def stand_in(name: str) -> str:
    """The identifier of a record in the examples."""
    if name == "user_email":
        return "ines.gray@example.com"
    identifier = uuid5(NAMESPACE_OID, STANDS_FOR.get(name, name))
    return PREFIXES[name] + identifier.hex if name in PREFIXES else str(identifier)


def body_of(row: Route, result: dict[str, str]) -> dict[str, Any]:
    """A body, or the text fields of a form, that the row would take.

    Its example, of these records. Every text field that it knows is given.
    """
    text, fresh = msgspec.json.encode(EXAMPLES[row.name].body).decode(), uuid4().hex[:12]
    for name, value in result.items():
        text = text.replace(stand_in(name), value)
    for example, own in NEVER_TWICE.items():
        text = text.replace(example, own.format(fresh))
    body: dict[str, Any] = msgspec.json.decode(text)
    return body | WRONG.get(row.name, {})


def sent(caller: Member, row: Route, path: str, body: dict[str, Any] | None, **options: Any) -> httpx.Response:
    """Call a row with a body or, where it takes one, with a form, and with what its query cannot do without."""
    if "?" not in path and "params" not in options:
        path += asked_of(row)
    if row.form is None:
        return caller.http.request(row.method, path, **({} if row.body is None else {"json": body}), **options)
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(row.form)}
    rows = TAPE if "tapes" in row.path else BOOK
    files = {name: ("file.xlsx", small_book(rows)) for name, kind in fields.items() if kind in (Upload, Uploads)}
    return caller.http.request(row.method, path, data=body, files=files or None, **options)


def without_unknown(send: Callable[[dict[str, Any]], httpx.Response], body: dict[str, Any]) -> httpx.Response:
    """The answer to a body without the fields that the service knows nothing of.

    It has to refuse each by its name.
    """
    refusal = send(body)
    assert refusal.status_code == 422, refusal.text
    left = copy.deepcopy(body)
    for fault in refusal.json()["errors"]:
        assert fault["message"].startswith("there is no field "), fault
        _, *steps, name = fault["loc"]
        place = left
        for step in steps:
            place = place[step]
        del place[name]
    return send(left)


def _given_up(owner: Member, workbook_id: str) -> str:
    """A task that failed for good.

    Telling an alert where nobody listens; the identifier of its dead letter.
    """
    channel = {"type": "webhook", "config": {"url": NOBODY, "retry_count": 0}}
    body = ALERT | {"name": "Unheard", "enabled": True, "workbook_id": workbook_id, "channels": [channel]}
    before = {dead_letter["dlq_id"] for dead_letter in _dead_letters(owner)}
    alert = owner.post("/api/v1/alerts/configure", json=body)
    assert alert.status_code == 201, alert.text
    assert owner.post("/api/v1/compliance/run", json={"workbook_id": workbook_id}).status_code == 200
    dead = wait_until(
        lambda: [dead_letter["dlq_id"] for dead_letter in _dead_letters(owner) if dead_letter["dlq_id"] not in before],
        what="the dead letter",
    )
    assert owner.delete(f"/api/v1/alerts/{alert.json()['id']}").status_code == 204
    return str(dead[0])


def _dead_letters(owner: Member) -> list[dict[str, Any]]:
    return list(owner.get("/api/v1/dlq/entries").json()["items"])


def records_of(owner: Member, *, user_id: str | None = None) -> dict[str, str]:
    """One record of each kind of the owner's tenant, by the name of the path parameter that takes it."""
    user_id = user_id or owner.invite("viewer").user_id
    deal = owner.post("/api/v1/deals", json=DEAL)
    assert deal.status_code == 201, deal.text
    uploaded = owner.post(
        "/api/v1/workbooks/upload",
        files={"file": ("loans.xlsx", small_book(BOOK))},
        data={"deal_id": deal.json()["id"], "as_of": "2026-03-31"},
    )
    assert uploaded.status_code == 201, uploaded.text
    workbook = owner.parsed(uploaded.json()["id"])
    assert workbook["status"] == "ready", workbook
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"]})
    assert run.status_code == 200, run.text
    limit = {"test_id": "wal", "threshold_value": 20, "deal_id": deal.json()["id"]}
    threshold = owner.post("/api/v1/compliance/thresholds", json=limit)
    assert threshold.status_code == 201, threshold.text
    key = owner.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})
    assert key.status_code == 201, key.text
    mapping = owner.post("/api/v1/mappings", json=MAPPING | {"name": f"Contract {uuid4().hex[:12]}"})
    assert mapping.status_code == 201, mapping.text
    scenario = owner.post(
        "/api/v1/scenarios", json={"name": "Scenario", "base_workbook_id": workbook["id"], "trades": [TRADE]}
    )
    assert scenario.status_code == 201, scenario.text
    scenario_id = scenario.json()["id"]
    formula = owner.post("/api/v1/formulas", json=FORMULA | {"status": "active"})
    assert formula.status_code == 201, formula.text
    export = owner.post("/api/v1/exports", json={"workbook_id": workbook["id"], "format": "csv"})
    assert export.status_code == 201, export.text
    wait_until(lambda: owner.get(f"/api/v1/exports/{export.json()['id']}").json()["completed_at"], what="the export")
    batch = owner.post("/api/v1/batches", json={"workbook_ids": [workbook["id"]]})
    assert batch.status_code == 201, batch.text
    wait_until(
        lambda: owner.get(f"/api/v1/batches/{batch.json()['id']}").json()["completed_at"], seconds=90, what="the batch"
    )
    alert = owner.post("/api/v1/alerts/configure", json=ALERT)
    assert alert.status_code == 201, alert.text
    profile = owner.post(
        "/api/v1/admin/compliance/stream-profiles", json=PROFILE | {"stream_key": f"deal:internal:{uuid4().hex}"}
    )
    assert profile.status_code == 201, profile.text
    report = owner.post("/api/v1/reports/compliance", json={"workbook_id": workbook["id"]})
    assert report.status_code == 201, report.text
    wait_until(
        lambda: owner.get(f"/api/v1/reports/{report.json()['id']}").json()["completed_at"],
        seconds=90,
        what="the report",
    )
    nomination = f"/api/v1/insights/nominations/{workbook['id']}"
    assert owner.put(nomination, json={"is_nominated": True}).status_code == 200
    session = owner.post("/api/v1/insights/generate", json={})
    assert session.status_code == 200, session.text
    return {
        **_channels_and_notices(owner, workbook["id"]),
        "task_id": _given_up(owner, workbook["id"]),
        "session_id": session.json()["session_id"],
        "insight_id": session.json()["insights"][0]["id"],
        "alert_id": alert.json()["id"],
        "export_id": export.json()["id"],
        "batch_id": batch.json()["id"],
        "report_id": report.json()["id"],
        "profile_id": profile.json()["id"],
        "run_id": run.json()["id"],
        "config_id": formula.json()["id"],
        "deal_id": deal.json()["id"],
        "scenario_id": scenario_id,
        "trade_id": owner.get(f"/api/v1/scenarios/{scenario_id}/trades").json()[0]["id"],
        "workbook_id": workbook["id"],
        "base_workbook_id": workbook["id"],
        "sheet_name": "Loans",
        "sheet_id": workbook["sheets"][0]["id"],
        "ref": "A1",
        "result_id": run.json()["id"],
        "test_id": next(result["test_id"] for result in run.json()["results"] if len(result["test_id"]) < 30),
        "user_id": user_id,
        "user_email": owner.get(f"/api/v1/admin/users/{user_id}").json()["email"],
        "actor_id": owner.user_id,
        "subject_id": workbook["id"],
        "threshold_id": threshold.json()["id"],
        "key_id": key.json()["id"],
        "mapping_id": mapping.json()["id"],
        **_reconciled(owner, workbook["id"]),
    }
