"""The description of the service.

Valid OpenAPI 3.0, what the contract file says, and readable without the internet.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV30SpecValidator, validate

from service.platform.route.descriptions import PATHS, SHARED, sentence
from tests.conftest import PASSWORD, Stack, register
from tests.contract.__main__ import CONTRACT, described, text, unfolded
from tests.contract.test_errors import CODES
from tests.records import EXAMPLES
from tests.rows import every

DOCUMENT = described()
OPERATIONS = [
    (method, path, operation) for path, item in unfolded()["paths"].items() for method, operation in item.items()
]


def test_it_is_valid() -> None:
    assert DOCUMENT["openapi"].startswith("3.0.")
    validate(DOCUMENT, cls=OpenAPIV30SpecValidator)


def test_the_service_publishes_it(stack: Stack) -> None:
    assert httpx.get(stack.url + "/openapi.json").json() == DOCUMENT


def test_it_is_the_contract() -> None:
    """A change of the contract shows in review; `python -m tests.contract` writes it."""
    kept = CONTRACT.read_text(encoding="utf-8")
    difference = difflib.unified_diff(
        kept.splitlines(), text(DOCUMENT).splitlines(), "contract", "service", lineterm="", n=2
    )
    assert text(DOCUMENT) == kept, "run `python -m tests.contract` if this is meant:\n" + "\n".join(
        list(difference)[:200]
    )


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert sorted(names) == sorted(set(names))


VIEWS_THAT_REFUSE = {("/health/ready", "503"), ("/health/deep", "503")}
"""They say the same whether requests can be served or not."""


@every("method, path, operation", OPERATIONS, ids=lambda row: f"{row[0]} {row[1]}")
def test_an_operation_is_fully_described(method: str, path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["tags"]
    named = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"}
    assert named == set(re.findall(r"{(\w+)}", path))
    everywhere = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-ID"}
    for status, answer in operation["responses"].items():
        of_refusals = {"Retry-After", "WWW-Authenticate", "Link", "Accept-Encoding"}
        of_success = {
            *("ETag", "Idempotent-Replayed", "Accept-Ranges", "Content-Disposition", "Content-Range", "Set-Cookie")
        }
        assert set(answer["headers"]) - everywhere <= (of_success if int(status) < 300 else of_refusals)
        assert everywhere <= set(answer["headers"])
        assert ("content" in answer) == (status != "204")
        if int(status) >= 400 and (path, status) not in VIEWS_THAT_REFUSE:
            name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            general, own = DOCUMENT["components"]["schemas"][name]["allOf"]
            assert general["$ref"].rpartition("/")[2] == ("RateLimitBody" if status == "429" else "ErrorBody")
            assert set(own["properties"]["error_code"]["enum"]) <= CODES[int(status)]
    assert ("requestBody" in operation) or method in ("get", "delete") or not operation.get("requestBody")


# By hand: the records whose changes heed If-Match.
VERSIONED = {
    "/api/v1/workbooks/{workbook_id}",
    "/api/v1/mappings/{mapping_id}",
    "/api/v1/deals/{deal_id}",
    "/api/v1/scenarios/{scenario_id}",
    "/api/v1/formulas/{config_id}",
    "/api/v1/alerts/{alert_id}",
    "/api/v1/admin/tenant",
}
RANGED = {
    "/api/v1/batches/{batch_id}/results", "/api/v1/exports/{export_id}/download",
    "/api/v1/reports/{report_id}/download",
    "/api/v1/workbooks/{workbook_id}/file", "/api/v1/reconciliation/tapes/{tape_id}/file",
}  # fmt: skip
"""Paths of files of which a part may be asked for."""
OF_SESSIONS = {
    f"/api/v1/auth/{name}"
    for name in (
        *("register", "login", "refresh", "logout", "revoke-all-tokens", "accept-invitation", "password/change"),
    )
}
"""By hand: what begins, goes on with or ends a session, a browser's too."""
NOBODYS = ("Open to all.", "Needs a token or an API key.", "Needs a user's token.")


@every("method, path, operation", OPERATIONS, ids=lambda row: f"{row[0]} {row[1]}")
def test_the_headers_that_an_operation_heeds_are_told(method: str, path: str, operation: dict[str, Any]) -> None:
    expected = {"X-Tenant-ID"} if operation["description"].rpartition("\n")[2] not in NOBODYS else set()
    expected |= {"Idempotency-Key"} if method == "post" else set()
    expected |= {"Range", "If-Range"} if method == "get" and path in RANGED else set()
    expected |= {"If-Match"} if method in ("patch", "put") and path in VERSIONED else set()
    expected |= {"X-Session"} if path in OF_SESSIONS else set()
    names = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "header"}
    assert names == expected
    success = next(answer for status, answer in operation["responses"].items() if int(status) < 300)
    assert ("Set-Cookie" in success["headers"]) == (path in OF_SESSIONS)
    if path in VERSIONED and method in ("get", "patch"):
        assert "ETag" in success["headers"]
        assert "Concurrent modification" in operation["responses"].get("409", {"description": ""})["description"] or (
            method == "get"
        )


def test_readiness_is_told_in_the_same_words_when_it_is_refused() -> None:
    responses = DOCUMENT["paths"]["/health/ready"]["get"]["responses"]
    for status in ("200", "503"):
        assert responses[status]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Readiness"}


def test_nothing_of_the_dialect_of_2020_is_left() -> None:
    foreign = {"prefixItems", "const", "$defs", "examples", "unevaluatedProperties"}

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            assert not foreign & set(value), value
            assert value.get("type") != "null"
            assert not isinstance(value.get("type"), list)
            assert not isinstance(value.get("exclusiveMinimum"), int | float) or isinstance(
                value["exclusiveMinimum"], bool
            )
            for name, inner in value.items():
                if name != "example":
                    walk(list(inner.values()) if name == "properties" else inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(DOCUMENT["components"]["schemas"])
    walk(DOCUMENT["paths"])


def test_every_reference_leads_somewhere_and_every_schema_is_used() -> None:
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', text(DOCUMENT)))
    assert references == set(DOCUMENT["components"]["schemas"]) & references
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name) for name in DOCUMENT["components"]["schemas"])


def test_every_body_and_every_answer_has_an_example() -> None:
    """That they are of the schemas, Redocly's linter says.

    That they are what is sent and answered, test_routes.py.
    """
    lacking, named = [], set()
    for method, path, operation in OPERATIONS:
        success = next(iter(operation["responses"].values())).get("content", {})
        parts = [operation.get("requestBody", {}).get("content", {})]
        parts += [success] if next(iter(success), "") == "application/json" else []
        lacking += [(method, path) for content in filter(None, parts) if "example" not in next(iter(content.values()))]
        named |= {operation["operationId"]} if any(parts) else set()
    assert lacking == []
    assert set(EXAMPLES) <= named, "an example of an operation that there is not, or that has none"


def test_no_example_tells_where_it_was_made() -> None:
    assert re.findall(r"/(?:tmp|root|home)/[^\s\"]*", text(DOCUMENT)) == []


# What it says of each thing -------------------------------------------------------------------------------------------


def properties(place: str, schema: Any) -> Iterator[tuple[str, str, Any]]:
    """Every property within: where, its name, its schema."""
    if isinstance(schema, dict):
        for name, inner in schema.get("properties", {}).items():
            yield place, name, inner
            yield from properties(f"{place}.{name}", inner)
        schema = [inner for name, inner in schema.items() if name != "properties"]
    if isinstance(schema, list):
        for inner in schema:
            yield from properties(place, inner)


SCHEMAS = [(f"schema {name}", name, schema) for name, schema in DOCUMENT["components"]["schemas"].items()]
FIELDS = [field for place, _, schema in SCHEMAS for field in properties(place, schema)] + [
    field
    for method, path, operation in OPERATIONS
    for field in [
        *((f"{method} {path}", parameter["name"], parameter) for parameter in operation["parameters"]),
        *properties(f"{method} {path}", operation),
    ]
]
THINGS = [(place, name, thing.get("description")) for place, name, thing in SCHEMAS + FIELDS]


@every("summary", sorted({operation["summary"] for _, _, operation in OPERATIONS}))
def test_a_summary_is_a_few_words(summary: str) -> None:
    assert 2 <= len(summary.split()) <= 4
    assert re.fullmatch(r"[A-Z][^.;:]*[^\s.]", summary)


@every("place, operation", [(f"{method} {path}", operation) for method, path, operation in OPERATIONS])
def test_an_operation_says_what_it_does_in_more_than_its_name(place: str, operation: dict[str, Any]) -> None:
    description = operation["description"].rpartition("\n\n")[0]  # without the access
    assert re.match(r"\S.{6,119}\.($|\n\n)", description), "a sentence on its first line"
    assert the_words_of(description) - the_words_of(operation["operationId"]), "it only repeats the name"


def the_words_of(text: str) -> set[str]:
    """Those that say something, without their plurals' s.

    A name's are parted by _ or capitals.
    """
    parted = re.sub("([a-z])([A-Z])", r"\1 \2", text).lower().replace("_", " ")
    return {word.rstrip("s") for word in re.findall("[a-z]+", parted)} - THAT_SAY_NOTHING


THAT_SAY_NOTHING = {
    "a",
    "an",
    "and",
    "by",
    "id",
    "identifier",
    "in",
    "it",
    "of",
    "on",
    "one",
    "or",
    "that",
    "the",
    "thi",
}


@every("place, name, description", THINGS, ids=lambda row: f"{row[0]}: {row[1]}: {row[2]}")
def test_everything_says_what_it_is_in_more_than_its_name(place: str, name: str, description: str | None) -> None:
    assert description, "no description"
    assert re.fullmatch(r"[^\s].{6,300}\.", description), "a sentence on one line"
    assert the_words_of(description) - the_words_of(name), "it only repeats the name"
    for method, path in re.findall(r"(GET|POST|PUT|PATCH|DELETE) (/[\w/{}.-]*[\w}])", description):
        assert method.lower() in DOCUMENT["paths"].get(path, {}), "there is no such endpoint"


def test_no_two_fields_of_a_thing_are_said_to_be_the_same() -> None:
    seen: dict[tuple[str, str], str] = {}
    for place, name, thing in FIELDS:
        assert seen.setdefault((place, thing["description"]), name) == name, (place, name, thing["description"])


def test_a_word_for_all_fields_of_a_name_is_said_of_several() -> None:
    counter = Counter(
        name for _, name, thing in FIELDS if name in SHARED and thing["description"].startswith(sentence(SHARED[name]))
    )
    assert [name for name in SHARED if counter[name] < 2] == []
    paths = {parameter["name"] for _, _, operation in OPERATIONS for parameter in operation["parameters"]}
    assert set(PATHS) <= paths


def test_every_operation_that_wants_a_caller_takes_a_sign_in_by_password(stack: Stack) -> None:
    """By OAuth 2's password grant, as the pages send it.

    With an empty client's Basic credentials, or in the form.
    """
    schemes = DOCUMENT["components"]["securitySchemes"]
    flow = schemes["password"]["flows"]["password"]
    assert (schemes["password"]["type"], flow) == ("oauth2", {"tokenUrl": "/api/v1/auth/login", "scopes": {}})
    assert "two-factor" in schemes["password"]["description"]
    wanted = [item["security"] for path in DOCUMENT["paths"].values() for item in path.values() if item["security"]]
    assert all({"password": []} in security and {"bearer": []} in security for security in wanted)
    member = register(stack.url)
    grant = {"grant_type": "password", "username": member.email, "password": PASSWORD, "scope": ""}
    basic = {"Authorization": "Basic Og=="}
    for form, headers in ((grant, basic), ({**grant, "client_id": "", "client_secret": ""}, {})):
        answer = httpx.post(stack.url + flow["tokenUrl"], data=form, headers=headers)
        assert (answer.status_code, answer.json()["token_type"]) == (200, "bearer")


# The pages that show it ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_a_page_fetches_nothing_from_elsewhere(stack: Stack, page: str) -> None:
    answer = httpx.get(stack.url + page)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "://" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assets = re.findall(r'<(?:script|link)[^>]* (?:src|href)="(/[^"]+)"', answer.text)
    assert assets
    for asset in assets:
        response = httpx.get(stack.url + asset)
        assert response.status_code == 200
        assert response.headers["content-type"] == ("text/css" if asset.endswith(".css") else "text/javascript")
        assert len(response.content) > 50


def test_the_viewers_hold_no_address_that_they_would_fetch(stack: Stack) -> None:
    """Links and namespaces aside: images, scripts, styles, fonts, requests."""
    for name in ("swagger-ui.css", "swagger-ui-bundle.js", "redoc.standalone.js", "start.js"):
        content = httpx.get(f"{stack.url}/docs/assets/{name}").text
        assert re.findall(r"https?://(?:cdn|fonts|unpkg|[\w.]*cloudflare)[^\"'`)\s]*", content) == []
        assert re.findall(r"url\(\s*['\"]?https?:", content) == []


@pytest.mark.parametrize("name", ["", "../app.py", "%2e%2e%2fapp.py", "swagger-ui.css.map", "x"])
def test_no_other_file_is_served(stack: Stack, name: str) -> None:
    assert httpx.get(f"{stack.url}/docs/assets/{name}").status_code == 404
