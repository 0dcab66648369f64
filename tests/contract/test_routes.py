"""What holds for every row of the table of routes, asked of the running service."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from types import UnionType
from typing import Any, Union, get_args, get_origin
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import msgspec
import pytest
from msgspec import Meta, UnsetType

from service.app import routes
from service.platform.route.api import Route, Upload, Uploads
from tests.conftest import PASSWORD, Member, Stack, register
from tests.contract.__main__ import described
from tests.contract.examples import answers
from tests.records import (
    ALL_ROWS,
    BOOK,
    EXAMPLES,
    GUARDED,
    OPEN_ROWS,
    ROWS,
    TAPE,
    asked_of,
    assert_limits,
    body_of,
    each,
    error_of,
    identity,
    least_of,
    path_of,
    records_of,
    sent,
    small_book,
)
from tests.rows import every

DOCUMENT = described()
WITH_BODY = [row for row in ROWS if row.body is not None]
WITH_QUERY = [row for row in ROWS if row.query is not None]
WITH_IDENTIFIER = [row for row in GUARDED if row.parameters]


@pytest.fixture(scope="module")
def http(stack: Stack) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=stack.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def resources(shared_owner: Member) -> dict[str, str]:
    """One record of each kind that a path may name, of the shared tenant."""
    return records_of(shared_owner)


# Identifiers --------------------------------------------------------------------------------------------------------


ABSENT = [
    "{uuid}",  # well formed, and nobody's
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
@every("absent", ABSENT)
def test_an_identifier_that_never_was_is_not_there(shared_owner: Member, row: Route, absent: str) -> None:
    some = uuid4()
    value = absent.replace("{uuid}", str(some)).replace("{hex}", some.hex)
    first = next(iter(row.parameters))
    answer = sent(shared_owner, row, path_of(row, **{first: value}), least_of(row))
    assert answer.status_code == 404, answer.text
    assert error_of(answer)["detail"] in (row.missing.detail, "Not found" if "%2F" in absent else row.missing.detail)
    assert row.missing.detail != "Not found", "the route has a message of its own"


# Bodies -------------------------------------------------------------------------------------------------------------


def send(shared_owner: Member, result: dict[str, str], row: Route, **options: Any) -> httpx.Response:
    if "key_id" in row.parameters:  # a key is rotated once
        result = result | {"key_id": new_key(shared_owner)}
    answer = shared_owner.http.request(row.method, path_of(row, **result), **options)
    if row.path.endswith("/recalculate") and answer.is_success:  # nothing else may be done with it meanwhile
        shared_owner.parsed(result["workbook_id"])
    return answer


def new_key(member: Member) -> str:
    response = member.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})
    return str(response.json()["id"])


@each(WITH_BODY)
@every("content", [b"{", b"{'a': 1}", b"\xff", b'{"a": NaN}', b"nul", b"[" * 50_000, b'{"a": "\x00"}', b'{"a": 1} 2'])
def test_broken_json_is_refused(shared_owner: Member, resources: dict[str, str], row: Route, content: bytes) -> None:
    answer = send(shared_owner, resources, row, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422, answer.text
    body = error_of(answer)
    assert (body["detail"], body["error_code"]) == ("Validation error", "VALIDATION_ERROR")
    assert body["errors"][0]["loc"][0] == "body"


BY_COOKIE = {"refresh": {"refresh_token"}}
"""By route: what a body may lack with X-Session: cookie alone, where the cookie has it."""
EITHER = {"create_batch": "name workbook_ids or deal_ids, and not both"}
"""By route: the refusal of a body that has neither of two fields."""


@each(WITH_BODY)
def test_a_body_may_lack_where_every_field_has_a_default(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    answer = send(shared_owner, resources, row, headers={"content-type": "application/json"})
    if any(field.required for field in msgspec.structs.fields(row.body)):
        assert (answer.status_code, error_of(answer)["errors"][0]) == (
            422,
            {"loc": ["body"], "message": "malformed JSON"},
        )
    elif row.name in BY_COOKIE:
        (fault,) = error_of(answer)["errors"]
        assert (answer.status_code, fault["loc"][1] in BY_COOKIE[row.name], fault["message"]) == (
            422,
            True,
            "is required",
        )
    elif row.name in EITHER:
        (fault,) = error_of(answer)["errors"]
        assert (answer.status_code, fault) == (422, {"loc": ["body"], "message": EITHER[row.name]})
    else:
        assert answer.status_code == row.status, answer.text


@each(WITH_BODY)
def test_another_shape_is_refused_and_a_missing_field_is_named(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    for content in (b"[]", b"null", b'"text"', b"5"):
        answer = send(shared_owner, resources, row, content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, error_of(answer)["errors"][0]["loc"]) == (422, ["body"])
    required = [field.encode_name for field in msgspec.structs.fields(row.body) if field.required]
    required += BY_COOKIE.get(row.name, ())
    answer = send(shared_owner, resources, row, json={})
    if required or row.name in EITHER:
        assert (answer.status_code, error_of(answer)["errors"][0]["loc"]) == (422, ["body", *required[:1]])
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
def test_a_wrong_type_is_refused_where_it_stands(shared_owner: Member, resources: dict[str, str], row: Route) -> None:
    for field in msgspec.structs.fields(row.body):
        if plain(field.type) is Any:
            continue
        kind = plain(field.type)
        kinds = [plain(part) for part in get_args(kind)] if get_origin(kind) in (Union, UnionType) else [kind]
        is_list_or_record = any(
            get_origin(item) in (list, dict) or hasattr(item, "__struct_fields__") for item in kinds
        )
        answer = send(
            shared_owner, resources, row, json={field.encode_name: 5.5 if is_list_or_record else {"un": "fit"}}
        )
        assert answer.status_code == 422, (field.encode_name, answer.text)
        assert error_of(answer)["errors"][0]["loc"] == ["body", field.encode_name]


@each(WITH_BODY)
@every("text", [r"a\u0000b", r"\ud800"])
def test_a_character_that_the_database_cannot_hold_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route, text: str
) -> None:
    """A null, and half of a surrogate pair, must not come so far."""
    for field in msgspec.structs.fields(row.body):
        answer = send(
            shared_owner,
            resources,
            row,
            content=f'{{"{field.encode_name}": "{text}"}}',
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 422, (field.encode_name, answer.text)
        error_of(answer)


@each(WITH_BODY)
@every(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"]
)
def test_another_content_type_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route, kind: str
) -> None:
    answer = send(shared_owner, resources, row, content=b"{}", headers={"content-type": kind})
    body = error_of(answer)
    assert (answer.status_code, body["detail"], body["error_code"]) == (
        415,
        "Unsupported media type",
        "UNSUPPORTED_MEDIA_TYPE",
    )


@each([row for row in ROWS if row.body is not None or row.form is not None])
@every("coding", ["gzip", "deflate", "br", "zstd", "x-unknown", "identity, GZIP"])
def test_a_compressed_body_is_refused(shared_owner: Member, resources: dict[str, str], row: Route, coding: str) -> None:
    kind = "application/json" if row.form is None else "multipart/form-data; boundary=x"
    headers = {"content-type": kind, "content-encoding": coding}
    answer = send(shared_owner, resources, row, content=gzip.compress(b"{}"), headers=headers)
    body = error_of(answer)
    assert (answer.status_code, body["detail"], body["error_code"]) == (
        415,
        "Unsupported media type",
        "UNSUPPORTED_MEDIA_TYPE",
    )
    (fault,) = body["errors"]
    assert fault["loc"] == ["header", "content-encoding"]
    assert fault["message"] == f"{coding!r} is not supported: send the body as it is, without Content-Encoding"
    assert answer.headers["accept-encoding"] == "identity"


def test_what_is_no_compression_passes(shared_owner: Member) -> None:
    """A charset stands there by mistake; without a body nothing is compressed."""
    formula = {"formula": "=1+1"}
    for coding in ("identity", "utf-8", ""):
        headers = {"content-encoding": coding}
        assert shared_owner.http.post("/api/v1/calculations/evaluate", json=formula, headers=headers).status_code == 200
    assert shared_owner.http.get("/api/v1/auth/me", headers={"content-encoding": "gzip"}).status_code == 200
    refused = shared_owner.http.request(
        "DELETE", f"/api/v1/scenarios/{uuid4()}", content=gzip.compress(b"{}"), headers={"content-encoding": "gzip"}
    )
    assert refused.status_code == 415


def fields_with_files(row: Route) -> list[str]:
    fields = msgspec.structs.fields(row.form) if row.form is not None else ()
    return [field.encode_name for field in fields if field.type in (Upload, Uploads)]


@each([row for row in ROWS if fields_with_files(row)])
def test_files_are_taken_as_clients_send_them(shared_owner: Member, resources: dict[str, str], row: Route) -> None:
    """Names in the extended form, as encoded words, with a folder before them.

    Text around the parts.
    """
    (name,) = fields_with_files(row)
    content = small_book(TAPE if "tapes" in row.path else BOOK)
    texts = b"".join(
        f'--b b\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{text}\r\n'.encode()
        for field, text in body_of(row, resources).items()
    )
    for file_name in (
        "filename*=utf-8''M%C3%A4rz.xlsx",
        "filename=\"=?UTF-8?B?TcOkcnoueGxzeA==?=\"; filename*=utf-8''M%C3%A4rz.xlsx",
        'filename="=?UTF-8?B?TcOkcnoueGxzeA==?="',
        'filename="deals/März.xlsx"',
        'filename="D:\\dh\\res\\März.xlsx"',
    ):
        head = f'--b b\r\nContent-Disposition: form-data; name="{name}"; {file_name}\r\nContent-Type: a/b\r\n\r\n'
        whole = b"This is a preamble.\r\n" + texts + head.encode() + content + b"\r\n--b b--\r\nan epilogue"
        headers = {"content-type": 'multipart/form-data; boundary="b b"'}
        answer = send(shared_owner, resources, row, content=whole, headers=headers)
        assert answer.status_code == row.status, (file_name, answer.text)
        assert answer.json().get("file_name", "März.xlsx") == "März.xlsx", file_name


TOO_LARGE = (413, "Request body too large", "PAYLOAD_TOO_LARGE")


@each(WITH_BODY)
def test_a_body_that_is_told_to_be_past_the_limit_is_refused_before_it_arrives(
    stack: Stack, shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    with closing(HTTPConnection(urlsplit(stack.url).netloc, timeout=60)) as connection:
        connection.putrequest(row.method, path_of(row, **resources))
        connection.putheader("Authorization", shared_owner.http.headers["Authorization"])
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(9 << 20))
        connection.endheaders()  # and nothing after them
        answer = connection.getresponse()
        body = json.loads(answer.read())
    assert (answer.status, body["detail"], body["error_code"]) == TOO_LARGE
    assert answer.getheader("connection") == "close", "the next request would be taken for its body"


@each(WITH_BODY)
def test_a_body_that_grows_past_the_limit_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    chunks = iter([b"x" * (1 << 20)] * 9)
    with suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):  # refused while it still arrives
        answer = send(shared_owner, resources, row, content=chunks, headers={"content-type": "application/json"})
        body = error_of(answer)
        assert (answer.status_code, body["detail"], body["error_code"]) == TOO_LARGE
        assert answer.headers["connection"] == "close", "the next request would go into a closing connection"
    assert shared_owner.get("/api/v1/auth/me").status_code == 200, "it goes on serving"


@each([row for row in ROWS if row.form is not None])
def test_what_is_no_form_is_refused(shared_owner: Member, resources: dict[str, str], row: Route) -> None:
    path = path_of(row, **resources)
    answer = shared_owner.post(path, json={})
    assert (answer.status_code, error_of(answer)["detail"]) == (415, "Unsupported media type")
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x"):
        answer = shared_owner.post(path, content=b"--y\r\nnoise", headers={"content-type": kind})
        assert (answer.status_code, error_of(answer)["error_code"]) == (422, "VALIDATION_ERROR")
    answer = shared_owner.post(path, data={"nothing": "known"})
    required = [field.encode_name for field in msgspec.structs.fields(row.form) if field.required]
    assert answer.status_code == 422
    places = [fault["loc"][:2] for fault in error_of(answer)["errors"]]
    assert ["body", "nothing"] in places or row.path == "/api/v1/auth/login"  # OAuth's form has fields of its own
    assert any(["body", name] in places for name in required)
    texts = [field.encode_name for field in msgspec.structs.fields(row.form) if field.type not in (Upload, Uploads)]
    for text in texts[:1]:
        answer = shared_owner.post(path, data={text: "a\x00b"})
        assert (answer.status_code, error_of(answer)["errors"]) == (
            422,
            [{"loc": ["body", text], "message": "null character"}],
        )


# Queries ------------------------------------------------------------------------------------------------------------


@each(WITH_QUERY)
def test_a_query_that_does_not_fit_is_refused_where_it_stands(
    shared_owner: Member, resources: dict[str, str], row: Route
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
            answer = shared_owner.http.request(row.method, f"{path_of(row, **resources)}?{name}={value}")
            assert answer.status_code in (400, 422), (name, value[:20], answer.text[:300])
            if answer.status_code == 422:
                assert error_of(answer)["errors"][0]["loc"][0] == "query"


@every("row", WITH_QUERY, ids=identity)
def test_every_text_and_list_that_a_caller_may_send_is_bounded(row: Route) -> None:
    assert unbounded(row.query) == []


ENUMERATIONS_WITH_A_MESSAGE = {
    ("POST /api/v1/admin/users/invite", "role"),
    ("POST /api/v1/admin/api-keys", "permissions"),
    ("POST /api/v1/mappings", "source_type"),
    ("POST /api/v1/insights/generate", "stakeholder_type"),
    ("POST /api/v1/insights/ask", "question"),
    ("POST /api/v1/insights/{insight_id}/ask", "question"),
}
"""An unknown value of these, or one that is too long, has its own answer, so any text must reach it; the body's size
bounds them."""


@every("row", [row for row in ROWS if row.body is not None or row.form is not None], ids=identity)
def test_every_field_of_a_body_is_bounded(row: Route) -> None:
    assert [
        name for name in unbounded(row.body or row.form) if (identity(row), name) not in ENUMERATIONS_WITH_A_MESSAGE
    ] == []


def unbounded(kind: Any) -> list[str]:
    """Texts and lists of a struct that have no greatest length."""
    result = []
    for field in msgspec.structs.fields(kind):
        shape = msgspec.inspect.type_info(field.type)
        for part in getattr(shape, "types", (shape,)):
            while isinstance(part, msgspec.inspect.Metadata):
                part = part.type
            if isinstance(part, msgspec.inspect.StrType | msgspec.inspect.ListType) and part.max_length is None:
                result.append(field.encode_name)
            if isinstance(part, msgspec.inspect.ListType):
                inner = part.item_type
                while isinstance(inner, msgspec.inspect.Metadata):
                    inner = inner.type
                if isinstance(inner, msgspec.inspect.StrType) and inner.max_length is None:
                    result.append(field.encode_name)
    return result


@each([row for row in WITH_QUERY if "page" in row.query.__struct_fields__])  # type: ignore[union-attr]
def test_pages_have_their_defaults_bounds_and_an_empty_end(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    fields = {field.encode_name: field for field in msgspec.structs.fields(row.query)}
    most = next(part.le for part in get_args(fields["page_size"].type) if isinstance(part, Meta))
    assert fields["page"].default == 1
    assert (fields["page_size"].default, most) in [(20, 100), (100, 1000), (50, 100), (50, 200), (50, 500)]
    path = path_of(row, **resources)
    for wrong in ("page=0", "page_size=0", f"page_size={most + 1}", "page=-1"):
        assert shared_owner.get(f"{path}?{wrong}").status_code == 422
    answer = shared_owner.get(f"{path}?page=1000000")
    assert answer.status_code == 200, answer.text
    assert next(answer.json()[name] for name in ("items", "rows") if name in answer.json()) == []


# Headers ------------------------------------------------------------------------------------------------------------


def kept(answer: httpx.Response) -> bool:
    """Whether somebody on the way may keep an answer."""
    return answer.headers.get_list("cache-control") != ["no-store"]


@each(ALL_ROWS)
def test_a_refusal_where_secrets_are_told_is_kept_nowhere(http: httpx.Client, row: Route) -> None:
    answer = http.request(row.method, path_of(row), content=b"{")
    assert kept(answer) is not row.tells_secrets


def test_an_answer_with_secrets_is_kept_nowhere(owner: Member) -> None:
    url = "/api/v1/auth"
    form = {"username": owner.email, "password": PASSWORD}
    key = owner.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})
    body = {"email": f"kept-{uuid4().hex[:12]}@example.com", "full_name": "Kim Kept", "role": "viewer"}
    answers = [
        owner.post(f"{url}/login", data=form),
        owner.post(f"{url}/refresh", json={"refresh_token": owner.tokens["refresh_token"]}),
        key,
        owner.post(f"/api/v1/admin/api-keys/{key.json()['id']}/rotate", json={}),
        owner.post("/api/v1/admin/users/invite", json=body),
        owner.post(f"{url}/2fa/enroll"),
    ]
    assert [answer.status_code // 100 for answer in answers] == [2] * len(answers), [answer.text for answer in answers]
    assert not any(map(kept, answers))
    assert kept(owner.get(f"{url}/me"))


@each([row for row in routes() if row.method == "GET" and not row.parameters])
def test_every_answer_has_its_headers(shared_owner: Member, row: Route) -> None:
    answer = shared_owner.get(row.path + asked_of(row), headers={"x-request-id": "abc-1"})
    assert answer.status_code == row.status
    assert answer.headers["x-request-id"] == "abc-1"
    assert answer.headers["content-type"].partition(";")[0] == row.media_type
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert_limits(answer)


@pytest.mark.parametrize("query_type", ["", "with space", "ä", "x" * 129, "tab\tin", "x" * 4000])
def test_a_malformed_request_identifier_is_replaced(http: httpx.Client, query_type: str) -> None:
    answer = http.get("/health", headers={"x-request-id": query_type.encode()})
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", answer.headers["x-request-id"]
    )


@pytest.mark.parametrize(
    "query_type", ["1", "x" * 128, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a/b:c;d=e"]
)
def test_a_request_identifier_is_echoed(http: httpx.Client, query_type: str) -> None:
    assert http.get("/health", headers={"x-request-id": query_type}).headers["x-request-id"] == query_type
    refused = http.get("/api/v1/nowhere", headers={"x-request-id": query_type})
    assert (refused.headers["x-request-id"], refused.json()["request_id"]) == (query_type, query_type)


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v2/auth/me",
        "/api/v1/nowhere",
        "/api/v1/auth",
        "/healthy",
        "/docs/assets/../../x",
        "/docs/assets/x.js",
        "/%00",
    ],
)
def test_an_unknown_path_is_said_in_json(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    body = error_of(answer)
    assert (answer.status_code, body["detail"], body["error_code"]) == (404, "Not found", "RESOURCE_NOT_FOUND")


@each(ALL_ROWS)
def test_a_wrong_method_names_the_right_ones(http: httpx.Client, row: Route) -> None:
    known = {other_all_row.method for other_all_row in ALL_ROWS if other_all_row.path == row.path}
    # A literal path may also be a parameter's: /things/upload is a thing of that name.
    known |= {
        other_all_row.method
        for other_all_row in ALL_ROWS
        if re.fullmatch(re.sub(r"{\w+}", "[^/]+", other_all_row.path), row.path)
    }
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - known:
        answer = http.request(method, path_of(row))
        body = error_of(answer)
        assert (answer.status_code, body["detail"], body["error_code"]) == (
            405,
            "Method not allowed",
            "METHOD_NOT_ALLOWED",
        )
        assert set(answer.headers["allow"].split(", ")) <= known | ({"HEAD"} if "GET" in known else set())
    if "GET" not in known:
        assert http.head(path_of(row)).status_code == 405


@each([row for row in ALL_ROWS if row.method == "GET"])
def test_the_head_of_an_answer_is_that_of_get(http: httpx.Client, row: Route) -> None:
    """Of those that everybody reads and of refusals here; what members read is below."""
    head, whole = http.head(path_of(row)), http.get(path_of(row))
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]
    assert head.headers.keys() == whole.headers.keys()


# A page of the guide is there once it was built: test_guide.py.
@each([row for row in OPEN_ROWS if row.access != "operator" and row.name != "guide_page"])
def test_the_open_views_need_nobody_and_count_nothing(http: httpx.Client, row: Route) -> None:
    assert row.access == "public"
    assert not row.limited
    first, second = (http.get(path_of(row, name="start.js", service="cache", path="")) for _ in range(2))
    assert first.status_code == row.status
    assert_limits(first)
    assert (
        first.headers["x-ratelimit-remaining"]
        == second.headers["x-ratelimit-remaining"]
        == first.headers["x-ratelimit-limit"]
    )


def test_a_counted_request_uses_one_up(owner: Member) -> None:
    first, second = (int(owner.get("/api/v1/auth/me").headers["x-ratelimit-remaining"]) for _ in range(2))
    assert first - second == 1 or second > first  # a minute may begin in between


# Examples -----------------------------------------------------------------------------------------------------------


def differences(example: Any, answer: Any, schema: dict[str, Any], place: str = "") -> list[str]:
    """Where an answer has other fields or types than its example, as far as the schema does not leave them open."""
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if example is None or answer is None:
        return []  # which of them may be null, the schema says
    branches = [branch for name in ("anyOf", "allOf") for branch in schema.get(name, ())]
    if branches:
        return min((differences(example, answer, branch, place) for branch in branches), key=len)
    numbers = (int, float)
    if type(example) is not type(answer) and not (type(example) in numbers and type(answer) in numbers):
        return [f"{place}: {type(example).__name__} and {type(answer).__name__}"]
    if isinstance(example, list):
        pairs = zip(example[:1], answer[:1], strict=False)
        return [
            each for item, second in pairs for each in differences(item, second, schema.get("items", {}), f"{place}[]")
        ]
    if not isinstance(example, dict) or "properties" not in schema:
        return []
    sometimes = set(schema["properties"]) - set(schema.get("required", ()))
    texts = [f"{place}.{name}" for name in set(example) ^ set(answer) if name not in sometimes]
    for name in set(example) & set(answer):
        texts += differences(example[name], answer[name], schema["properties"].get(name, {}), f"{place}.{name}")
    return texts


def test_every_example_is_taken_and_answered_like_the_example(stack: Stack) -> None:
    owner, wrong = register(stack.url), []  # whose records nobody has settled or finished
    for row, answer in answers(stack, owner, records_of(owner)):
        if answer.status_code != row.status:
            wrong.append(f"{row.name}: {answer.status_code} {answer.text}")
        elif row.name in EXAMPLES and EXAMPLES[row.name].answer is not msgspec.UNSET:
            content = DOCUMENT["paths"][row.path][row.method.lower()]["responses"][str(row.status)]["content"]
            schema = content["application/json"]["schema"]
            wrong += differences(EXAMPLES[row.name].answer, answer.json(), schema, row.name)
    assert wrong == []
