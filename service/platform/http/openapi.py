"""The rows as an OpenAPI 3.0.3 document, and the pages that show it without the internet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from service.platform.http.api import FILES_MAX, Raw, Route, Streamed, Upload, Uploads
from service.platform.http.problem import (
    AlreadyProcessed,
    ConcurrentModification,
    EnrolmentRequired,
    ErrorBody,
    KeyUsed,
    Problem,
    RateLimitBody,
    RateLimited,
    StillProcessing,
    TenantNotFound,
)

ASSETS_PACKAGE = "offapi"  # carries the files of both viewers; only its folder is used
RATE_HEADERS = {
    "X-RateLimit-Limit": "Requests that a minute permits",
    "X-RateLimit-Remaining": "Requests left in this minute",
    "X-RateLimit-Reset": "When the minute ends, in epoch seconds",
}


NOTHING: dict[str, Any] = {"nullable": True, "enum": [None]}
"""The null type, which the dialect of OpenAPI 3.0 cannot name."""


def document(routes: Sequence[Route], *, version: str, always: Iterable[type[Problem]]) -> dict[str, Any]:
    """The OpenAPI document of these routes."""
    types = _types(routes)
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    by_type = {id(kind): to_3_0(schema) for kind, schema in zip(types, schemas, strict=True)}
    paths: dict[str, Any] = {}
    anywhere = sorted(always, key=lambda problem: (problem.status, problem.__name__))  # a set has no order of its own
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type, anywhere)
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Cushion",
            "version": version,
            "description": "Portfolio workbooks and compliance tests for collateralised loan obligations.",
            "license": {"name": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {_published(name): _renamed(to_3_0(schema)) for name, schema in components.items()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def to_3_0(schema: Any) -> Any:
    """A JSON Schema of 2020-12, as msgspec writes it, in the dialect of OpenAPI 3.0."""
    if isinstance(schema, list):
        return [to_3_0(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: to_3_0(value) for name, value in schema.items() if name not in ("$defs",)}
    if "anyOf" in result:
        branches = [branch for branch in result["anyOf"] if branch != NOTHING]
        if len(branches) < len(result["anyOf"]):
            del result["anyOf"]
            if len(branches) == 1 and "$ref" not in branches[0]:
                result = {**branches[0], **result, "nullable": True}
            else:
                result |= {"anyOf" if len(branches) > 1 else "allOf": branches, "nullable": True}
    if result.get("type") == "null":
        return NOTHING
    if "enum" in result and None in result["enum"] and len(result["enum"]) > 1:
        result["nullable"] = True
    for name, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if name in result and not isinstance(result[name], bool):
            result[plain] = result[name]
            result[name] = True
    if "prefixItems" in result:
        items = result.pop("prefixItems")
        result["items"] = {"anyOf": items} if items else {}
    if result.get("items") is False or (result.get("type") == "array" and "items" not in result):
        result["items"] = {}
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if result.get("required") == []:
        del result["required"]
    if "$ref" in result and len(result) > 1:
        result = {"allOf": [{"$ref": result.pop("$ref")}], **result}
    return result


def _types(routes: Sequence[Route]) -> list[Any]:
    types: dict[int, Any] = {}
    kind: Any
    for kind in (ErrorBody, RateLimitBody):
        types[id(kind)] = kind
    for route in routes:
        for kind in (route.query, route.body, route.answer, *route.also.values()):
            if kind not in (None, type(None), Raw, Streamed, Any):
                types[id(kind)] = kind
        for kind in _form_fields(route).values():
            types[id(kind)] = kind
        for kind in route.parameters.values():
            types[id(kind)] = kind
    return list(types.values())


_FILE: Final = {"type": "string", "format": "binary"}
_FILES: Final[dict[Any, dict[str, Any]]] = {
    Upload: _FILE,
    Uploads: {"type": "array", "items": _FILE, "minItems": 1, "maxItems": FILES_MAX},
}
"""The schemas of a form's files, by the field's type."""


def _form_fields(route: Route) -> dict[str, Any]:
    return {} if route.form is None else _plain_fields(route.form)


@cache  # a type is known by its identity, and some are made anew each time that they are asked for
def _plain_fields(form: type) -> dict[str, Any]:
    """The types of a form's fields that are no files."""
    fields = msgspec.structs.fields(form)
    return {field.encode_name: field.type for field in fields if field.type not in _FILES}


def _operation(route: Route, schemas: dict[int, Any], always: list[type[Problem]]) -> dict[str, Any]:
    description = (route.handler.__doc__ or "").strip()
    operation: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": description.partition("\n")[0].rstrip("."),
        "description": f"{description.partition(chr(10))[2]}\n\n{_access(route)}".strip(),
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": schemas[id(kind)]}
            for name, kind in route.parameters.items()
        ]
        + _query(route)
        + _header_parameters(route),
        "responses": _responses(route, schemas, always),
        "security": []
        if route.access == "public"
        else [{"bearer": []}] + ([] if _user_only(route) else [{"api_key": []}]),
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": not route.body_may_lack,
            "content": {"application/json": {"schema": _renamed(schemas[id(route.body)])}},
        }
    if route.form is not None:
        operation["requestBody"] = {"required": True, "content": _form(route, schemas)}
    return operation


def _user_only(route: Route) -> bool:
    return route.access in ("user", "role:owner")  # an admin's routes are open to the system key, too


def _access(route: Route) -> str:
    words = {
        "public": "Open to all.",
        "any": "Needs a token or an API key.",
        "user": "Needs a user's token.",
        "role:admin": "Needs the owner or admin role.",
        "role:owner": "Needs the owner role.",
    }
    return words.get(route.access, f"Needs the scope `{route.access}`.")


def _query(route: Route) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    _, components = msgspec.json.schema_components([route.query], ref_template="#/components/schemas/{name}")
    own = to_3_0(components[route.query.__name__])
    parameters = []
    for name, schema in own["properties"].items():
        parameter = {
            "name": name,
            "in": "query",
            "required": name in own.get("required", []),
            "schema": _renamed(schema),
        }
        if schema.get("type") == "array":
            parameter |= {"style": "form", "explode": False}
        parameters.append(parameter)
    return parameters


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    """The optional headers that a route heeds."""
    text: dict[str, Any] = {"type": "string"}
    heeded: dict[str, tuple[str, dict[str, Any]]] = {}
    if _crosses_tenants(route):
        heeded["X-Tenant-ID"] = (
            "The tenant that the request is for, where it is not the caller's own: for operators and the system key",
            {"type": "string", "format": "uuid"},
        )
    if route.method == "POST":
        heeded["Idempotency-Key"] = (
            "A repetition with the same key and body is given the first answer again, for a day",
            {"type": "string", "pattern": r"^[\x21-\x7e]{1,255}$"},
        )
    if route.ranged:
        heeded["Range"] = ("The bytes that are asked for: one range, such as bytes=0-1023", text)
        heeded["If-Range"] = ("The ETag of the bytes that are there already: with another one the whole is sent", text)
    if route.versioned and route.method in ("PATCH", "PUT"):
        heeded["If-Match"] = ("The ETag that was read: the change is refused where the record has another by now", text)
    return [
        {"name": name, "in": "header", "required": False, "description": description, "schema": schema}
        for name, (description, schema) in heeded.items()
    ]


def _form(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    assert route.form is not None
    fields, plain = msgspec.structs.fields(route.form), _form_fields(route)
    properties = {
        field.encode_name: _renamed(schemas[id(plain[field.encode_name])])
        if field.encode_name in plain
        else _FILES[field.type]
        for field in fields
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [field.encode_name for field in fields if field.required]:
        schema["required"] = required
    has_file = len(plain) < len(fields)
    return {"multipart/form-data" if has_file else "application/x-www-form-urlencoded": {"schema": schema}}


def _responses(route: Route, schemas: dict[int, Any], always: list[type[Problem]]) -> dict[str, Any]:
    headers: dict[str, Any] = {
        name: {"description": text, "schema": {"type": "integer"}} for name, text in RATE_HEADERS.items()
    } | {"X-Request-ID": {"description": "Identifier of the request", "schema": {"type": "string"}}}
    more: dict[str, str] = {}
    if route.versioned:
        more["ETag"] = "The record's version"
    if route.ranged:
        more["ETag"] = "Tells these bytes from all others"
    if route.method == "POST" and not route.tells_secrets:
        more["Idempotent-Replayed"] = "`true` where the answer is that of an earlier request with the same key"
    own = {name: {"description": text, "schema": {"type": "string"}} for name, text in more.items()}
    success: dict[str, Any] = {"description": "Success", "headers": headers | own}
    if route.status != 204:
        schema = (
            {"type": "string"}
            if route.answer in (Raw, Streamed, None, Any)
            else _renamed(schemas.get(id(route.answer), {}))
        )
        others: dict[str, Any] = {media_type: {"schema": {"type": "string"}} for media_type in route.also_media}
        success["content"] = {route.media_type: {"schema": schema}, **others}
    responses = {str(route.status): success}
    if route.ranged:
        responses["206"] = success | {"description": HTTPStatus(206).phrase}
    refusals: dict[int, dict[str, None]] = {}
    for problem in [*route.errors, *(problem for problem in always if _applies(problem, route))]:
        refusals.setdefault(problem.status, {})[problem.detail] = None
    for status in sorted({*refusals, *route.also}):
        body = route.also.get(status) or (RateLimitBody if status == RateLimited.status else ErrorBody)
        responses[str(status)] = {
            "description": "; ".join(refusals.get(status, [HTTPStatus(status).phrase])),
            "headers": headers,
            "content": {"application/json": {"schema": _renamed(schemas[id(body)])}},
        }
    return responses


def _crosses_tenants(route: Route) -> bool:
    """Whether an operator or the system key may call it for a tenant that they name."""
    return route.access not in ("public", "any", "user")


def _applies(problem: type[Problem], route: Route) -> bool:
    """Whether a refusal that any route may give can come from this one."""
    if problem in (AlreadyProcessed, KeyUsed, StillProcessing):
        return route.method == "POST"
    if problem is ConcurrentModification:
        return route.versioned and route.method in ("PATCH", "PUT")
    if problem is TenantNotFound:
        return _crosses_tenants(route)
    if problem is EnrolmentRequired:
        return route.access != "public" and not route.enrolling
    match problem.status:
        case 401 | 403:
            return route.access != "public"
        case 413 | 415:
            return route.body is not None or route.form is not None
        case 422:
            reads = route.body is not None or route.form is not None or route.query is not None
            return reads or route.method == "POST" or _crosses_tenants(route)
        case 416:
            return route.ranged
        case 429:
            return route.limited and (route.access != "public" or route.windows is not None)
        case 404 | 405 | 409:
            return False  # each route lists which of these it gives
        case _:
            return True


def _published(name: str) -> str:
    """A generic's name as people read it: Page_Workbook_ becomes WorkbookPage."""
    match = re.fullmatch(r"(\w+?)_(\w+)_", name)
    return f"{match[2]}{match[1]}" if match else name


def _renamed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_renamed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    prefix = "#/components/schemas/"
    return {
        name: prefix + _published(value.removeprefix(prefix)) if name == "$ref" else _renamed(value)
        for name, value in schema.items()
    }


# The pages ------------------------------------------------------------------------------------------------------------

SWAGGER_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cushion API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/assets/swagger-ui.css"><link rel="icon" href="data:,"></head>
<body><div id="ui"></div><script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script></body></html>"""

SWAGGER_START = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#ui", deepLinking: true, validatorUrl: null});'

REDOC_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cushion API reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"></head>
<body><redoc spec-url="/openapi.json" disable-google-font="true"></redoc>
<script src="/docs/assets/redoc.standalone.js"></script></body></html>"""


PAGE_HEADERS = [
    (
        "content-security-policy",
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:; "
        "frame-ancestors 'none'",
    )
]
"""Nothing is fetched from elsewhere; both viewers write styles into the page, and Redoc has a worker for its search."""

REDOC_LOGO = b"https://cdn.redoc.ly/redoc/logo-mini.svg"


def asset(name: str) -> bytes | None:
    """A viewer's file, or None for a name that is none of them."""
    places = {
        "swagger-ui.css": "swagger_style.css",
        "swagger-ui-bundle.js": "swagger_bundle.js",
        "redoc.standalone.js": "redoc.js",
    }
    if name not in places:
        return None
    spec = find_spec(ASSETS_PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / places[name]
    return path.read_bytes().replace(REDOC_LOGO, b"data:,")  # the one thing that Redoc would fetch from the internet
