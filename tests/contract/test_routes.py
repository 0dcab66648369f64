"""What holds for every row of the table of routes, asked of the running service."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin
from urllib.parse import urlencode
from uuid import uuid4

import httpx
import msgspec
import pytest
import xlsxwriter
from msgspec import Meta, UnsetType

from service.app import routes
from service.platform.access import KEY_SCOPES
from service.platform.api import Route, Upload
from tests.conftest import Member, Stack, register, wait_until

ROWS = [row for row in routes() if row.path.startswith("/api/")]
OPEN_ROWS = [row for row in routes() if not row.path.startswith("/api/")]
ROLES = ("owner", "admin", "analyst", "viewer")

# By hand: who may call what asks for this access. Keys: by their scopes alone.
MAY = {
    "workbooks:read": ROLES,
    "workbooks:write": ("owner", "admin", "analyst"),
    "calculations:execute": ("owner", "admin", "analyst"),
    "compliance:read": ROLES,
    "compliance:write": ("owner", "admin", "analyst"),
    "scenarios:read": ROLES,
    "scenarios:write": ("owner", "admin", "analyst"),
    "reports:read": ROLES,
    "reports:generate": ("owner", "admin", "analyst"),
    "alerts:read": ("owner", "admin", "analyst"),
    "alerts:write": ("owner", "admin", "analyst"),
    "mappings:read": ("owner", "admin", "analyst"),
    "mappings:write": ("owner", "admin", "analyst"),
    "admin:users": ("owner", "admin"),
    "admin:api-keys": ("owner", "admin"),
    "role:admin": ("owner", "admin"),
    "role:owner": ("owner",),
    "user": ROLES,
    "any": ROLES,
}
LIMITS = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")


def identity(row: Route) -> str:
    return f"{row.method} {row.path}"


def each(rows: list[Route]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=identity)


GUARDED = [row for row in ROWS if row.access != "public"]
WITH_BODY = [row for row in ROWS if row.body is not None]
WITH_QUERY = [row for row in ROWS if row.query is not None]
WITH_IDENTIFIER = [row for row in GUARDED if row.parameters]


def path_of(row: Route, **values: str) -> str:
    """The row's path with these values, and identifiers of nothing for the others."""
    return re.sub(r"{(\w+)}", lambda name: values.get(name[1], str(uuid4())), row.path)


ASKED = {"formula": "=A1"}
"""Values of the query fields that a route cannot do without."""
SENT: dict[str, Any] = {"sample_data": []}
"""Values of the body's fields that a route with a record in its path cannot do without."""


def least_of(row: Route) -> dict[str, Any] | None:
    """The least body of a row."""
    fields = msgspec.structs.fields(row.body) if row.body else ()
    return {field.encode_name: SENT[field.encode_name] for field in fields if field.required} if row.body else None


def asked_of(row: Route) -> str:
    """The least query of a row."""
    fields = msgspec.structs.fields(row.query) if row.query else ()
    return "?" + urlencode({field.encode_name: ASKED[field.encode_name] for field in fields if field.required})


@pytest.fixture(scope="module")
def http(stack: Stack) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=stack.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def members(shared_owner: Member) -> dict[str, Member]:
    return {"owner": shared_owner, **{role: shared_owner.invite(role) for role in ROLES[1:]}}


@pytest.fixture(scope="module")
def stranger_here(stack: Stack) -> Member:
    return register(stack.url)


BOOK = [("Borrower Name", "Par Value", "Spread"), ("Acme", 1_000_000, 3.5), ("Borealis", 2_000_000, 4.0)]
TAPE = [("CUSIP", "Borrower Name", "Par Value"), ("00206RGQ9", "Cirrus", 3_000_000)]


def small_book(rows: Sequence[Sequence[str | float]]) -> bytes:
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    sheet = book.add_worksheet("Loans")
    for row, cells in enumerate(rows):
        sheet.write_row(row, 0, cells)
    book.close()
    return buffer.getvalue()


def reconciled(member: Member, workbook_id: str) -> dict[str, str]:
    """A tape, its comparison with a workbook, and one of the issues."""
    base = "/api/v1/reconciliation"
    uploaded = member.post(
        f"{base}/tapes/upload",
        files={"file": ("tape.xlsx", small_book(TAPE))},
        data={"trustee_name": "trustee_a", "statement_date": "2026-03-31"},
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


@pytest.fixture(scope="module")
def made(shared_owner: Member, members: dict[str, Member]) -> dict[str, str]:
    """One record of each kind that a path may name, of the shared tenant."""
    uploaded = shared_owner.post("/api/v1/workbooks/upload", files={"file": ("loans.xlsx", small_book(BOOK))})
    assert uploaded.status_code == 201, uploaded.text
    workbook = shared_owner.parsed(uploaded.json()["id"])
    assert workbook["status"] == "ready", workbook
    run = shared_owner.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"]})
    assert run.status_code == 200, run.text
    key = shared_owner.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})
    mapping = shared_owner.post(
        "/api/v1/mappings",
        json={
            "name": "Contract",
            "source_type": "custom",
            "mappings": {"ID": {"target": "id", "type": "string", "required": False, "aliases": []}},
        },
    )
    assert mapping.status_code == 201, mapping.text
    return {
        "workbook_id": workbook["id"],
        "sheet_name": "Loans",
        "ref": "A1",
        "result_id": run.json()["id"],
        "user_id": members["viewer"].user_id,
        "key_id": key.json()["id"],
        "mapping_id": mapping.json()["id"],
        **reconciled(shared_owner, workbook["id"]),
    }


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """The body of a refusal, its shape checked."""
    body: dict[str, Any] = answer.json()
    assert answer.headers["content-type"] == "application/json"
    more = {"errors"} if "errors" in body else set()
    assert set(body) - more == {"detail", "error_code", "request_id"}, body
    assert body["request_id"] == answer.headers["x-request-id"]
    for fault in body.get("errors", []):
        assert set(fault) == {"loc", "message"}
        assert all(isinstance(step, str) for step in fault["loc"])
    assert_limits(answer)
    return body


def assert_limits(answer: httpx.Response) -> None:
    limit, remaining, reset = (int(answer.headers[name]) for name in LIMITS)
    assert limit > 0
    assert 0 <= remaining <= limit
    assert reset > 1_700_000_000


# Access -------------------------------------------------------------------------------------------------------------


@each(GUARDED)
def test_nobody_passes_without_credentials(http: httpx.Client, row: Route) -> None:
    answer = http.request(row.method, path_of(row), headers={"x-request-id": "mine-1"})
    assert answer.status_code == 401
    assert error_of(answer) == {
        "detail": "Not authenticated",
        "error_code": "AUTHENTICATION_FAILED",
        "request_id": "mine-1",
    }


@each(GUARDED)
@pytest.mark.parametrize(
    ("headers", "code", "detail"),
    [
        ({"Authorization": "Bearer x.y.z"}, "INVALID_TOKEN", "Invalid or expired token"),
        ({"Authorization": "Bearer"}, "INVALID_TOKEN", "Invalid or expired token"),
        ({"Authorization": "Basic b2xpdmU6eA=="}, "INVALID_TOKEN", "Invalid or expired token"),
        ({"X-API-Key": "svc_live_nothing"}, "AUTHENTICATION_FAILED", "Invalid API key"),
        ({"X-API-Key": ""}, "AUTHENTICATION_FAILED", "Invalid API key"),
    ],
    ids=["token", "no token", "basic", "key", "empty key"],
)
def test_nobody_passes_with_wrong_credentials(
    http: httpx.Client, row: Route, headers: dict[str, str], code: str, detail: str
) -> None:
    answer = http.request(row.method, path_of(row), headers=headers)
    assert answer.status_code == 401
    body = error_of(answer)
    assert (body["error_code"], body["detail"]) == (code, detail)


def forbidden(answer: httpx.Response) -> bool:
    if answer.status_code != 403:
        return False
    body = error_of(answer)
    return bool(body["detail"] == "Insufficient permissions" and body["error_code"] == "PERMISSION_DENIED")


@each(GUARDED)
def test_each_role_may_call_what_the_specification_lets_it(
    stack: Stack, members: dict[str, Member], row: Route
) -> None:
    allowed = MAY[row.access]
    for role in ROLES:
        caller = members[role]
        if role in allowed and row.access == "user":  # ends the session that calls
            caller = register(stack.url) if role == "owner" else members["owner"].invite(role)
        answer = caller.http.request(row.method, path_of(row))
        assert answer.status_code not in (401, 500), (role, answer.text)
        assert forbidden(answer) == (role not in allowed), (role, answer.text)


@pytest.fixture(scope="module")
def keys(shared_owner: Member) -> dict[str, Member]:
    """A key of each scope alone, one of all the others, and one of every scope."""
    made = {scope: shared_owner.key(scope) for scope in KEY_SCOPES}
    others = {
        f"not {scope}": shared_owner.key(*(other for other in KEY_SCOPES if other != scope)) for scope in KEY_SCOPES
    }
    return made | others | {"all": shared_owner.key(*KEY_SCOPES)}


@each(GUARDED)
def test_a_key_may_call_what_its_scopes_say_and_no_more(keys: dict[str, Member], row: Route) -> None:
    def call(key: str) -> httpx.Response:
        return keys[key].http.request(row.method, path_of(row))

    if row.access in KEY_SCOPES:
        assert forbidden(call(f"not {row.access}"))
        assert not forbidden(call(row.access))
    elif row.access == "any":
        assert call("workbooks:read").status_code == 200
    else:
        assert forbidden(call("all")), "role-only and session endpoints are for people"


@each(GUARDED)
def test_another_tenant_may_not_be_named(shared_owner: Member, row: Route) -> None:
    assert forbidden(shared_owner.http.request(row.method, path_of(row), headers={"X-Tenant-ID": str(uuid4())}))


def test_naming_ones_own_tenant_changes_nothing(shared_owner: Member) -> None:
    for spelt in (shared_owner.tenant_id, shared_owner.tenant_id.upper()):
        assert shared_owner.get("/api/v1/auth/me", headers={"X-Tenant-ID": spelt}).status_code == 200


# Isolation ----------------------------------------------------------------------------------------------------------


MALFORMED = [
    "x",
    "1",
    "%00",
    "%27%20OR%201=1",
    "{uuid}0",
    "urn:uuid:{uuid}",
    "%7B{uuid}%7D",
    "%ff",
    "%F0%9F%A6%84",
    "..%2F..",
    "{hex}",
]


@each(WITH_IDENTIFIER)
def test_another_tenants_record_is_not_there(stranger_here: Member, made: dict[str, str], row: Route) -> None:
    answer = stranger_here.http.request(row.method, path_of(row, **made), json=least_of(row))
    assert answer.status_code == 404, answer.text
    body = error_of(answer)
    assert (body["detail"], body["error_code"]) == (row.missing.detail, "RESOURCE_NOT_FOUND")


@each(WITH_IDENTIFIER)
def test_a_record_that_never_was_is_not_there(shared_owner: Member, row: Route) -> None:
    answer = shared_owner.http.request(row.method, path_of(row), json=least_of(row))
    assert (answer.status_code, error_of(answer)["detail"]) == (404, row.missing.detail)
    assert row.missing.detail != "Not found", "the route has a message of its own"


@each(WITH_IDENTIFIER)
@pytest.mark.parametrize("malformed", MALFORMED)
def test_a_malformed_identifier_is_not_there(shared_owner: Member, row: Route, malformed: str) -> None:
    some = uuid4()
    value = malformed.replace("{uuid}", str(some)).replace("{hex}", some.hex)
    first = next(iter(row.parameters))
    answer = shared_owner.http.request(row.method, path_of(row, **{first: value}), json=least_of(row))
    assert answer.status_code == 404, answer.text
    assert error_of(answer)["detail"] in (row.missing.detail, "Not found" if "%2F" in malformed else row.missing.detail)


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/api/v1/compliance/run", {}),
        ("/api/v1/compliance/thresholds", {"test_id": "ccc_bucket", "threshold_value": 7.5}),
    ],
)
def test_a_body_that_names_another_tenants_workbook(
    stranger_here: Member, made: dict[str, str], path: str, more: dict[str, Any]
) -> None:
    answer = stranger_here.post(path, json={"workbook_id": made["workbook_id"], **more})
    if answer.status_code == 400:  # the test's name is looked up first: take one that the suites list
        tests = stranger_here.get("/api/v1/compliance/suites?include_tests=true").json()["items"][0]["tests"]
        answer = stranger_here.post(
            path, json={"workbook_id": made["workbook_id"], **more, "test_id": tests[0]["test_id"]}
        )
    assert (answer.status_code, error_of(answer)["detail"]) == (404, "Workbook not found")


@each([row for row in GUARDED if row.method == "GET" and not row.parameters])
def test_a_list_holds_nothing_of_another_tenant(stranger_here: Member, made: dict[str, str], row: Route) -> None:
    answer = stranger_here.get(row.path + asked_of(row))
    assert answer.status_code == 200
    identifiers = {value for name, value in made.items() if name.endswith("_id")}
    assert not [value for value in identifiers if value in answer.text]
    assert_limits(answer)


# Bodies -------------------------------------------------------------------------------------------------------------


def send(shared_owner: Member, made: dict[str, str], row: Route, **options: Any) -> httpx.Response:
    return shared_owner.http.request(row.method, path_of(row, **made), **options)


@each(WITH_BODY)
@pytest.mark.parametrize(
    "content", [b"", b"{", b"{'a': 1}", b"\xff", b'{"a": NaN}', b"nul", b"[" * 50_000, b'{"a": "\x00"}', b'{"a": 1} 2']
)
def test_broken_json_is_refused(shared_owner: Member, made: dict[str, str], row: Route, content: bytes) -> None:
    answer = send(shared_owner, made, row, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422, answer.text
    body = error_of(answer)
    assert (body["detail"], body["error_code"]) == ("Validation error", "VALIDATION_ERROR")
    assert body["errors"][0]["loc"][0] == "body"


@each(WITH_BODY)
def test_another_shape_is_refused(shared_owner: Member, made: dict[str, str], row: Route) -> None:
    for content in (b"[]", b"null", b'"text"', b"5"):
        answer = send(shared_owner, made, row, content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, error_of(answer)["errors"][0]["loc"]) == (422, ["body"])


@each(WITH_BODY)
def test_a_missing_field_is_named(shared_owner: Member, made: dict[str, str], row: Route) -> None:
    required = [field.encode_name for field in msgspec.structs.fields(row.body) if field.required]
    answer = send(shared_owner, made, row, json={})
    if required:
        assert (answer.status_code, error_of(answer)["errors"][0]["loc"]) == (422, ["body", required[0]])
    else:
        assert answer.status_code == row.status


def plain(kind: Any) -> Any:
    """A field's type without what is said about it, null and absence left out."""
    if hasattr(kind, "__metadata__"):
        return plain(get_args(kind)[0])
    parts = [part for part in get_args(kind) if part not in (type(None), UnsetType)]
    if parts and get_origin(kind) not in (list, dict, tuple) and len(parts) < len(get_args(kind)):
        return plain(parts[0]) if len(parts) == 1 else kind
    return kind


@each(WITH_BODY)
def test_a_wrong_type_is_refused_where_it_stands(shared_owner: Member, made: dict[str, str], row: Route) -> None:
    for field in msgspec.structs.fields(row.body):
        if plain(field.type) is Any:
            continue
        kind = plain(field.type)
        is_list_or_record = get_origin(kind) in (list, dict) or hasattr(kind, "__struct_fields__")
        answer = send(shared_owner, made, row, json={field.encode_name: 5.5 if is_list_or_record else {"un": "fit"}})
        assert answer.status_code == 422, (field.encode_name, answer.text)
        assert error_of(answer)["errors"][0]["loc"] == ["body", field.encode_name]


@each(WITH_BODY)
def test_a_null_character_is_refused(shared_owner: Member, made: dict[str, str], row: Route) -> None:
    for field in msgspec.structs.fields(row.body):
        answer = send(
            shared_owner,
            made,
            row,
            content=f'{{"{field.encode_name}": "a\\u0000b"}}',
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 422
        error_of(answer)


@each(WITH_BODY)
def test_half_of_a_surrogate_pair_is_refused(shared_owner: Member, made: dict[str, str], row: Route) -> None:
    """PostgreSQL would not take it, so it must not come so far."""
    for field in msgspec.structs.fields(row.body):
        answer = send(
            shared_owner,
            made,
            row,
            content=f'{{"{field.encode_name}": "\\ud800"}}',
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 422, (field.encode_name, answer.text)


@each(WITH_BODY)
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"]
)
def test_another_content_type_is_refused(shared_owner: Member, made: dict[str, str], row: Route, kind: str) -> None:
    answer = send(shared_owner, made, row, content=b"{}", headers={"content-type": kind})
    body = error_of(answer)
    assert (answer.status_code, body["detail"], body["error_code"]) == (
        415,
        "Unsupported media type",
        "UNSUPPORTED_MEDIA_TYPE",
    )


@each(WITH_BODY)
def test_a_body_past_the_limit_is_refused(shared_owner: Member, made: dict[str, str], row: Route) -> None:
    huge = b'{"a": "' + b"x" * (9 << 20) + b'"}'
    for content in (huge, iter([huge[: 1 << 20]] * 9)):  # declared, and chunk by chunk
        try:
            answer = send(shared_owner, made, row, content=content, headers={"content-type": "application/json"})
        except httpx.WriteError:  # it is refused while it arrives
            continue
        body = error_of(answer)
        assert (answer.status_code, body["detail"], body["error_code"]) == (
            413,
            "Request body too large",
            "PAYLOAD_TOO_LARGE",
        )


@each([row for row in ROWS if row.form is not None])
def test_what_is_no_form_is_refused(shared_owner: Member, row: Route) -> None:
    answer = shared_owner.post(row.path, json={})
    assert (answer.status_code, error_of(answer)["detail"]) == (415, "Unsupported media type")
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x"):
        answer = shared_owner.post(row.path, content=b"--y\r\nnoise", headers={"content-type": kind})
        assert (answer.status_code, error_of(answer)["error_code"]) == (422, "VALIDATION_ERROR")
    answer = shared_owner.post(row.path, data={"nothing": "known"})
    required = [field.encode_name for field in msgspec.structs.fields(row.form) if field.required]
    assert answer.status_code == 422
    assert error_of(answer)["errors"][0]["loc"][:2] in [["body", name] for name in required]
    text = next(field.encode_name for field in msgspec.structs.fields(row.form) if field.type is not Upload)
    answer = shared_owner.post(row.path, data={text: "a\x00b"})
    assert (answer.status_code, error_of(answer)["errors"]) == (
        422,
        [{"loc": ["body", text], "message": "null character"}],
    )


# Queries ------------------------------------------------------------------------------------------------------------


@each(WITH_QUERY)
def test_a_query_that_does_not_fit_is_refused_where_it_stands(
    shared_owner: Member, made: dict[str, str], row: Route
) -> None:
    for field in msgspec.structs.fields(row.query):
        name, kind = field.encode_name, plain(field.type)
        wrong = ["%00", "%ff"]
        if kind is int or kind is bool or kind is float:
            wrong += ["x", "", "1e999", "９９９９９９９９９９９９９９９９９９９９"]
        if kind is int:
            wrong += ["-1", "99999999999999999999"]
        if kind is str:
            wrong += ["x" * 7000]
        for value in wrong:
            answer = shared_owner.http.request(row.method, f"{path_of(row, **made)}?{name}={value}")
            assert answer.status_code in (400, 422), (name, value[:20], answer.text[:300])
            if answer.status_code == 422:
                assert error_of(answer)["errors"][0]["loc"][0] == "query"


@each(WITH_QUERY)
def test_every_text_and_list_that_a_caller_may_send_is_bounded(row: Route) -> None:
    assert unbounded(row.query) == []


ENUMERATIONS_WITH_A_MESSAGE = {
    ("POST /api/v1/admin/users/invite", "role"),
    ("POST /api/v1/admin/api-keys", "permissions"),
    ("POST /api/v1/mappings", "source_type"),
}
"""An unknown value of these has its own answer, so any text must reach it; the body's size bounds them."""


@each([row for row in ROWS if row.body is not None or row.form is not None])
def test_every_field_of_a_body_is_bounded(row: Route) -> None:
    assert [
        name for name in unbounded(row.body or row.form) if (identity(row), name) not in ENUMERATIONS_WITH_A_MESSAGE
    ] == []


def unbounded(kind: Any) -> list[str]:
    """Texts and lists of a struct that have no greatest length."""
    found = []
    for field in msgspec.structs.fields(kind):
        shape = msgspec.inspect.type_info(field.type)
        for part in getattr(shape, "types", (shape,)):
            while isinstance(part, msgspec.inspect.Metadata):
                part = part.type
            if isinstance(part, msgspec.inspect.StrType | msgspec.inspect.ListType) and part.max_length is None:
                found.append(field.encode_name)
            if isinstance(part, msgspec.inspect.ListType):
                inner = part.item_type
                while isinstance(inner, msgspec.inspect.Metadata):
                    inner = inner.type
                if isinstance(inner, msgspec.inspect.StrType) and inner.max_length is None:
                    found.append(field.encode_name)
    return found


@each([row for row in WITH_QUERY if "page" in row.query.__struct_fields__])  # type: ignore[union-attr]
def test_pages_have_their_defaults_bounds_and_an_empty_end(
    shared_owner: Member, made: dict[str, str], row: Route
) -> None:
    fields = {field.encode_name: field for field in msgspec.structs.fields(row.query)}
    most = next(part.le for part in get_args(fields["page_size"].type) if isinstance(part, Meta))
    assert fields["page"].default == 1
    assert (fields["page_size"].default, most) in [(20, 100), (100, 1000), (50, 100), (50, 200), (50, 500)]
    path = path_of(row, **made)
    for wrong in ("page=0", "page_size=0", f"page_size={most + 1}", "page=-1"):
        assert shared_owner.get(f"{path}?{wrong}").status_code == 422
    answer = shared_owner.get(f"{path}?page=1000000")
    assert answer.status_code == 200, answer.text
    assert next(answer.json()[name] for name in ("items", "rows") if name in answer.json()) == []


# Headers ------------------------------------------------------------------------------------------------------------


@each([row for row in routes() if row.method == "GET" and not row.parameters])
def test_every_answer_has_its_headers(shared_owner: Member, row: Route) -> None:
    answer = shared_owner.get(row.path + asked_of(row), headers={"x-request-id": "abc-1"})
    assert answer.status_code == row.status
    assert answer.headers["x-request-id"] == "abc-1"
    assert answer.headers["content-type"].partition(";")[0] == row.media_type
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert_limits(answer)


@pytest.mark.parametrize("given", ["", "with space", "ä", "x" * 129, "tab\tin", "x" * 4000])
def test_a_malformed_request_identifier_is_replaced(http: httpx.Client, given: str) -> None:
    answer = http.get("/health", headers={"x-request-id": given.encode()})
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", answer.headers["x-request-id"]
    )


@pytest.mark.parametrize(
    "given", ["1", "x" * 128, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a/b:c;d=e"]
)
def test_a_request_identifier_is_echoed(http: httpx.Client, given: str) -> None:
    assert http.get("/health", headers={"x-request-id": given}).headers["x-request-id"] == given
    refused = http.get("/api/v1/nowhere", headers={"x-request-id": given})
    assert (refused.headers["x-request-id"], refused.json()["request_id"]) == (given, given)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v2/auth/me",
        "/api/v1/nowhere",
        "/api/v1/auth",
        "/api/v1/auth/me/",
        "/healthy",
        "/docs/",
        "/docs/assets/../../x",
        "/docs/assets/x.js",
        "/%00",
    ],
)
def test_an_unknown_path_is_said_in_json(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    body = error_of(answer)
    assert (answer.status_code, body["detail"], body["error_code"]) == (404, "Not found", "RESOURCE_NOT_FOUND")


@each(routes())
def test_a_wrong_method_names_the_right_ones(http: httpx.Client, row: Route) -> None:
    known = {other.method for other in routes() if other.path == row.path}
    # A literal path may also be a parameter's: /things/upload is a thing of that name.
    known |= {other.method for other in routes() if re.fullmatch(re.sub(r"{\w+}", "[^/]+", other.path), row.path)}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - known:
        answer = http.request(method, path_of(row))
        body = error_of(answer)
        assert (answer.status_code, body["detail"], body["error_code"]) == (
            405,
            "Method not allowed",
            "METHOD_NOT_ALLOWED",
        )
        assert set(answer.headers["allow"].split(", ")) <= known
    assert http.head(path_of(row)).status_code == 405


@each(OPEN_ROWS)
def test_the_open_views_need_nobody_and_count_nothing(http: httpx.Client, row: Route) -> None:
    assert row.access == "public"
    assert not row.limited
    first, second = (http.get(path_of(row, name="start.js")) for _ in range(2))
    assert first.status_code == 200
    assert_limits(first)
    assert (
        first.headers["x-ratelimit-remaining"]
        == second.headers["x-ratelimit-remaining"]
        == first.headers["x-ratelimit-limit"]
    )


def test_a_counted_request_uses_one_up(owner: Member) -> None:
    first, second = (int(owner.get("/api/v1/auth/me").headers["x-ratelimit-remaining"]) for _ in range(2))
    assert first - second == 1 or second > first  # a minute may begin in between
