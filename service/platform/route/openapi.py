"""The rows as an OpenAPI 3.0.3 document, and the pages that show it offline."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Any, Final, get_origin

import msgspec
from msgspec import inspect

from service.platform.base.flags import FLAGS
from service.platform.base.problem import (
    AlreadyProcessed,
    ConcurrentModification,
    EnrolmentRequired,
    ErrorBody,
    KeyUsed,
    Problem,
    RateLimitBody,
    RateLimited,
    StillProcessing,
    SwitchedOff,
    TenantNotFound,
    UnderMaintenance,
)
from service.platform.route.api import FILES_MAX, Raw, Route, Streamed, Upload, Uploads, parts_of, repeated_fields
from service.platform.route.descriptions import SHARED, describe, of_path, sentence

ASSETS_PACKAGE = "offapi"  # carries the files of both viewers; only its folder is used
RATE_HEADERS = {
    "X-RateLimit-Limit": "Requests that a minute permits",
    "X-RateLimit-Remaining": "Requests left in this minute",
    "X-RateLimit-Reset": "When the minute ends, in epoch seconds",
}
_COMPONENTS: Final = json.loads(Path(__file__).with_name("components.json").read_text(encoding="utf-8"))
HEADERS: Final[dict[str, dict[str, Any]]] = _COMPONENTS["headers"]
"""The headers of answers."""
PARAMETERS: Final[dict[str, dict[str, Any]]] = _COMPONENTS["parameters"]
"""The optional headers that a route may heed. X-Tenant-ID has no format: generated clients would send what they make of
it, and a header takes texts only."""
SECURITY_SCHEMES: Final[dict[str, dict[str, Any]]] = _COMPONENTS["securitySchemes"]
"""How to say who calls: each by itself will do."""
REFUSED: Final = {
    401: ["WWW-Authenticate", "Link"],
    415: ["Accept-Encoding", "Link"],
    429: ["Retry-After", "Link"],
    503: ["Retry-After", "Link"],
}
"""The headers of refusals by status, where they have more than the link."""
SCHEMAS: Final = "#/components/schemas/"


class Examples(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An operation's example body (of a form the texts) and answer."""

    body: Any = msgspec.UNSET
    answer: Any = msgspec.UNSET


NOTHING: dict[str, Any] = {"type": "object", "nullable": True, "enum": [None]}
"""The null type, which the dialect of OpenAPI 3.0 cannot name; `nullable` counts beside a `type` only."""


def document(
    routes: Sequence[Route],
    *,
    version: str,
    always: Iterable[type[Problem]],
    tags: dict[str, str],
    examples: dict[str, Examples],
) -> dict[str, Any]:
    """Return the OpenAPI document of these routes.

    `tags` says what each tag is about, `examples` are by the routes' names.
    """
    types = _types(routes)
    schemas, components = msgspec.json.schema_components(types, ref_template=SCHEMAS + "{name}")
    _complete(types, components, asked=_structs(kind for route in routes for kind in _request_types(route)))
    for struct in _structs(kind for route in routes for kind in _request_types(route) if kind is not route.query):
        _describe_defaults(components[_component_name(struct)]["properties"])
    by_type = {id(kind): to_3_0(schema) for kind, schema in zip(types, schemas, strict=True)}
    queries = {
        route.query: _parameters(components[route.query.__name__], repeated_fields(route.query))
        for route in routes
        if route.query is not None
    }
    named = {_publish_name(name): _component(schema) for name, schema in components.items()}
    anywhere = sorted(always, key=lambda problem: (problem.status, problem.__name__))  # a set has no order of its own
    paths: dict[str, Any] = {}
    for route in routes:
        operation = _operation(route, by_type, queries, anywhere, named)
        _add_examples(route, operation, examples.get(route.name, Examples()))
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    shared = _shared_responses(paths)
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Cushion",
            "version": version,
            "description": "Portfolio workbooks and compliance tests for collateralised loan obligations.",
            "contact": {"name": "Cushion"},
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "servers": [{"url": "/", "description": "Where this description was read"}],
        "tags": [{"name": tag, "description": tags[tag]} for tag in dict.fromkeys(route.tag for route in routes)],
        "paths": paths,
        "components": {
            "responses": shared,
            "schemas": _keep_used(named, [paths, shared]),
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _structs(types: Iterable[Any]) -> set[Any]:
    return {part.cls for part in parts_of(*types) if isinstance(part, inspect.StructType)}


def _request_types(route: Route) -> list[Any]:
    """Return the types of a request."""
    return [kind for kind in (route.query, route.body, *_form_fields(route).values()) if kind is not None]


def _complete(types: Iterable[Any], components: dict[str, Any], *, asked: set[Any]) -> None:
    """Complete these schemas: descriptions, moments, fields that are always there.

    msgspec marks only moments whose offset it checks. What only answers have is always there, default or not. Requests
    have `asked`.
    """
    for struct in parts_of(*types):
        if not isinstance(struct, inspect.StructType | inspect.DataclassType):
            continue
        schema = components[_component_name(struct.cls)]
        schema["description"], properties = sentence(schema["description"]), schema["properties"]
        config = getattr(get_origin(struct.cls) or struct.cls, "__struct_config__", None)  # a dataclass has none
        if struct.cls not in asked and not (config and config.omit_defaults):
            present = [field.encode_name for field in struct.fields if field.required or _has_default(field)]
            required = [*schema["required"], *(name for name in present if name not in schema["required"])]
            schema["required"] = [name for name in required if name != "default"]  # examples leave it out where null
            for name in present:
                properties[name].pop("default", None)
        if config and config.tag_field:
            properties[config.tag_field]["description"] = f"{config.tag}: the answer is of this form."
        describe(properties, get_origin(struct.cls) or struct.cls, components)
        for field in struct.fields:
            kinds = list(parts_of(field.type, into_structs=False))
            if any(isinstance(kind, inspect.DateTimeType) for kind in kinds):
                assert not any(isinstance(kind, inspect.StrType) for kind in kinds), f"{struct.cls}.{field.name}"
                for text in _texts(properties[field.encode_name]):
                    text.setdefault("format", "date-time")


def _describe_defaults(properties: dict[str, Any]) -> None:
    """Move the defaults of a body's fields into words.

    Generators of clients take a field with a `default` for one that is always there.
    """
    for schema in properties.values():
        default = schema.pop("default", None)
        if isinstance(default, str | bool | int | float) and default != "":
            schema["description"] = (
                f"{schema.get('description', '')} Default: `{msgspec.json.encode(default).decode()}`.".strip()
            )


def _has_default(field: inspect.Field) -> bool:
    """Return whether a missing field is still in the answer: an unset one is not."""
    return field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT


def _component_name(kind: Any) -> str:
    """Return the name that msgspec gives a struct's schema."""
    arguments = ", ".join(each.__name__ for each in getattr(kind, "__args__", ()))
    name = f"{kind.__origin__.__name__}[{arguments}]" if arguments else kind.__name__
    return re.sub(r"[^a-zA-Z0-9.\-_]", "_", name)


def _texts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the schemas of texts in this one."""
    if isinstance(schema, dict):
        if schema.get("type") == "string":
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from _texts(inner)


def _component(schema: dict[str, Any]) -> Any:
    """Return a named schema without its title, which would repeat the name."""
    return {name: value for name, value in to_3_0(schema).items() if name != "title"}


def _keep_used(schemas: dict[str, Any], by: Any) -> dict[str, Any]:
    """Return those of these schemas that something refers to, by other ones too."""
    used: set[str] = set()
    waiting = _references(by)
    while waiting:
        if (name := waiting.pop()) not in used:
            used.add(name)
            waiting |= _references(schemas[name])
    return {name: schema for name, schema in schemas.items() if name in used}


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = value.get("$ref")
        names = {own.removeprefix(SCHEMAS)} if isinstance(own, str) and own.startswith(SCHEMAS) else set()
        value = list(value.values())
    else:
        names = set()
    if isinstance(value, list):
        for inner in value:
            names |= _references(inner)
    return names


def _shared_responses(paths: dict[str, Any]) -> dict[str, Any]:
    """Replace the most common refusal of each status by a reference; return them."""
    answers = [
        (status, answers)
        for operations in paths.values()
        for operation in operations.values()
        for answers in [operation["responses"]]
        for status in answers
        if int(status) >= 400
    ]
    times = Counter((status, repr(answers[status])) for status, answers in answers)
    shared: dict[str, Any] = {}
    for status in sorted({status for status, _ in answers}):
        most, count = max(((text, n) for (each, text), n in times.items() if each == status), key=lambda pair: pair[1])
        if count > 1:
            name = _phrase(int(status))
            for each, responses in answers:
                if each == status and repr(responses[status]) == most:
                    shared[name] = responses[status]
                    responses[status] = {"$ref": f"#/components/responses/{name}"}
    return shared


def _phrase(status: int) -> str:
    return re.sub(r"\W", "", HTTPStatus(status).phrase.title())


def to_3_0(schema: Any) -> Any:
    """Translate a JSON Schema of 2020-12, as msgspec writes it, to OpenAPI 3.0."""
    if isinstance(schema, list):
        return [to_3_0(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: to_3_0(value) for name, value in schema.items() if name != "$defs"}
    if "anyOf" in result:
        _mark_nullable(result)
    if result.get("type") == "null":
        return NOTHING
    for translate in (_translate_values, _translate_bounds, _translate_items):
        translate(result)
    if isinstance(result.get("default"), tuple):
        result["default"] = list(result["default"])
    if result.get("required") == []:
        del result["required"]
    return _translate_reference(result)


def _translate_values(schema: dict[str, Any]) -> None:
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    if "enum" in schema and "type" not in schema:
        values = schema.pop("enum")
        texts = [value for value in values if value is not None]
        branch = {"type": _type_of(texts), "enum": texts}
        schema |= branch if len(texts) == len(values) else {"anyOf": [branch, NOTHING]}


def _translate_bounds(schema: dict[str, Any]) -> None:
    for name, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if name in schema and not isinstance(schema[name], bool):
            schema[plain] = schema[name]
            schema[name] = True


def _translate_items(schema: dict[str, Any]) -> None:
    if "prefixItems" in schema:
        items = schema.pop("prefixItems")
        schema["items"] = {"anyOf": items} if items else {}
    if schema.get("items") is False or (schema.get("type") == "array" and "items" not in schema):
        schema["items"] = {}


def _translate_reference(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        schema["$ref"] = SCHEMAS + _publish_name(schema["$ref"].removeprefix(SCHEMAS))
    if "$ref" in schema and len(schema) > 1:
        schema = {"allOf": [{"$ref": schema.pop("$ref")}], **schema}
    if "allOf" in schema and isinstance(schema.get("default"), dict):
        del schema["default"]  # its fields say their own; generators of clients do not take an object for one
        if len(schema) == 1:
            (branch,) = schema["allOf"]
            return dict(branch)
    return schema


def _mark_nullable(schema: dict[str, Any]) -> None:
    """Mark a schema with branches as nullable, where one of them is null."""
    branches = [branch for branch in schema["anyOf"] if branch != NOTHING]
    if len(branches) == len(schema["anyOf"]):
        return
    typed = next((branch for branch in branches if "type" in branch and "enum" not in branch), None)
    if typed is None:
        schema["anyOf"] = [*branches, NOTHING]  # within an enum's values a null makes three types of one in clients
        return
    typed["nullable"] = True
    if len(branches) == 1:
        del schema["anyOf"]
        schema |= typed | schema
    else:
        schema["anyOf"] = branches


def _type_of(values: Sequence[Any]) -> str:
    """Return the type of these values, all of one."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string"}
    (name,) = {names[type(value)] for value in values}
    return name


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
    """Return the types of a form's fields that are no files."""
    fields = msgspec.structs.fields(form)
    return {field.encode_name: field.type for field in fields if field.type not in _FILES}


def _operation(
    route: Route,
    schemas: dict[int, Any],
    queries: dict[type, list[dict[str, Any]]],
    always: list[type[Problem]],
    named: dict[str, Any],
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.title,
        "description": f"{cleandoc(route.handler.__doc__ or '')}\n\n{_access(route)}",
        "parameters": [
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": of_path(name, route.path),
                "schema": schemas[id(kind)],
            }
            for name, kind in route.parameters.items()
        ]
        + (queries[route.query] if route.query is not None else [])
        + [{"$ref": f"#/components/parameters/{name}"} for name in _optional_headers(route)],
        "responses": _responses(route, schemas, always, named),
        "security": []
        if route.access == "public"
        else [{"bearer": []}, {"password": []}] + ([] if _user_only(route) else [{"api_key": []}]),
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": not route.body_may_lack,
            "content": {"application/json": {"schema": schemas[id(route.body)]}},
        }
    if route.form is not None:
        operation["requestBody"] = {"required": True, "content": _form(route, schemas)}
    return operation


def _add_examples(route: Route, operation: dict[str, Any], examples: Examples) -> None:
    """Write the examples of an operation into it."""
    if examples.body is not msgspec.UNSET:
        (content,) = operation["requestBody"]["content"].values()
        names = {Upload: "loans.xlsx", Uploads: ["loans.xlsx"]}
        fields = () if route.form is None else msgspec.structs.fields(route.form)
        files = {field.encode_name: names[field.type] for field in fields if field.type in names}
        content["example"] = examples.body | files
    if examples.answer is not msgspec.UNSET:
        content = operation["responses"][str(route.status)]["content"]["application/json"]
        content["example"] = _without_null_defaults(examples.answer)


def _without_null_defaults(example: Any) -> Any:
    """Return an example without fields `default` that are null.

    With a `type` beside it a linter takes the record that has one for a schema.
    """
    if isinstance(example, dict):
        kept = {name: value for name, value in example.items() if not (name == "default" and value is None)}
        return {name: _without_null_defaults(value) for name, value in kept.items()}
    return [_without_null_defaults(value) for value in example] if isinstance(example, list) else example


def _user_only(route: Route) -> bool:
    return route.access in ("user", "role:owner")  # an admin's routes are open to the system key, too


def _access(route: Route) -> str:
    words = {
        "public": "Open to all.",
        "any": "Needs a token or an API key.",
        "user": "Needs a user's token.",
        "role:admin": "Needs the owner or admin role.",
        "role:owner": "Needs the owner role.",
        "operator": "For who runs the deployment: the owner or an admin of an operator tenant, the system key. On the "
        "embedded default, while it listens on a loopback address, the owner or an admin of any tenant.",
    }
    return words.get(route.access, f"Needs the scope `{route.access}`.")


def _parameters(struct: dict[str, Any], repeated: frozenset[str]) -> list[dict[str, Any]]:
    """Return a query's parameters; none can be null, which a query cannot say."""
    own = to_3_0(struct)
    parameters = []
    for name, schema in own["properties"].items():
        schema.pop("nullable", None)
        if NOTHING in schema.get("anyOf", ()):
            (branch,) = (branch for branch in schema.pop("anyOf") if branch != NOTHING)
            schema |= branch
        words = schema.pop("description")
        if schema.get("default", ...) is None:
            del schema["default"]
            words += "" if "unset" in words.lower() else " Unset: any."
        parameter = {"name": name, "in": "query", "required": name in own.get("required", []), "description": words}
        parameter["schema"] = schema
        if schema.get("type") == "array":
            parameter |= {"style": "form", "explode": name in repeated}
        parameters.append(parameter)
    return parameters


def _optional_headers(route: Route) -> list[str]:
    """Return the optional headers of a route."""
    heeded = ["X-Tenant-ID"] if _crosses_tenants(route) else []
    if route.method == "POST":
        heeded.append("Idempotency-Key")
    if route.browser:
        heeded.append("X-Session")
    if route.ranged:
        heeded += ["Range", "If-Range"]
    if route.versioned and route.method in ("PATCH", "PUT"):
        heeded.append("If-Match")
    return heeded


def _form(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    assert route.form is not None
    fields, plain = msgspec.structs.fields(route.form), _form_fields(route)
    properties = {
        field.encode_name: dict(
            schemas[id(plain[field.encode_name])] if field.encode_name in plain else _FILES[field.type]
        )
        for field in fields
    }
    describe(properties, route.form, {})
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [field.encode_name for field in fields if field.required]:
        schema["required"] = required
    has_file = len(plain) < len(fields)
    return {"multipart/form-data" if has_file else "application/x-www-form-urlencoded": {"schema": schema}}


def _responses(
    route: Route, schemas: dict[int, Any], always: list[type[Problem]], named: dict[str, Any]
) -> dict[str, Any]:
    more = ["ETag"] if route.versioned or route.ranged else []
    if route.ranged:
        more += ["Accept-Ranges", "Content-Disposition"]
    if route.browser:
        more.append("Set-Cookie")
    if route.method == "POST" and not route.tells_secrets:
        more.append("Idempotent-Replayed")
    success: dict[str, Any] = {"description": "Success", "headers": _header_references(*more)}
    if route.status != 204:
        success["content"] = _answer_content(route, schemas)
    responses = {str(route.status): success}
    if route.ranged:
        headers = _header_references(*more, "Content-Range")
        responses["206"] = success | {"description": HTTPStatus(206).phrase, "headers": headers}
    refusals: dict[int, dict[str, str]] = {}
    for problem in [*route.errors, *(problem for problem in always if _applies(problem, route))]:
        refusals.setdefault(problem.status, {})[problem.detail] = problem.code
    if route.flag is not None:
        refusals[SwitchedOff.status][FLAGS[route.flag].refusal] = SwitchedOff.code
    for status in sorted({*refusals, *route.also}):
        messages = refusals.get(status, {})
        kind = route.also.get(status)
        schema = _error(status, set(messages.values()), schemas, named) if kind is None else schemas[id(kind)]
        responses[str(status)] = {
            "description": "; ".join(messages) or HTTPStatus(status).phrase,
            "headers": _header_references(*(REFUSED.get(status, ["Link"]) if kind is None else [])),
            "content": {"application/json": {"schema": schema}},
        }
    return responses


def _header_references(*more: str) -> dict[str, Any]:
    """Return references to an answer's headers: those of each, and these."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*RATE_HEADERS, "X-Request-ID", *more)}


def _answer_content(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    """Return the media types of a success with their schemas.

    A file is bytes, whatever its format. That comes first: of several types generators of clients take the first that
    they know, and would read a file of JSON as an object.
    """
    if route.answer not in (Raw, Streamed, None, Any):
        return {route.media_type: {"schema": schemas[id(route.answer)]}} | {
            media_type: {"schema": {"type": "string"}} for media_type in route.also_media
        }
    if route.ranged:
        kinds = dict.fromkeys(("application/octet-stream", route.media_type, *route.also_media))
        return {media_type: {"schema": _FILE} for media_type in kinds}
    return {
        media_type: {"schema": {"type": "object" if media_type == "application/json" else "string"}}
        for media_type in (route.media_type, *route.also_media)
    }


def _error(status: int, codes: set[str], schemas: dict[int, Any], named: dict[str, Any]) -> dict[str, Any]:
    """Return a reference to the body of a refusal, which joins the `named` schemas."""
    general = schemas[id(RateLimitBody if status == RateLimited.status else ErrorBody)]
    words = [code.removesuffix("_ERROR").replace("_", " ").title().replace(" ", "") for code in sorted(codes)]
    name = ("Or".join(words) if len(words) < 3 else _phrase(status)) + "Error"
    enum = {"type": "string", "enum": sorted(codes), "description": sentence(SHARED["error_code"])}
    schema = {
        "description": sentence(f"The body of a refusal with {' or '.join(sorted(codes))}"),
        "allOf": [general, {"type": "object", "properties": {"error_code": enum}}],
    }
    assert named.setdefault(name, schema) == schema, f"two bodies want the name {name}"
    return {"$ref": SCHEMAS + name}


def _crosses_tenants(route: Route) -> bool:
    """Return whether an operator or the system key may call it for a named tenant."""
    return route.access not in ("public", "any", "user")


def _has_body(route: Route) -> bool:
    return route.body is not None or route.form is not None


def _is_for_callers(route: Route) -> bool:
    return route.access != "public"


_APPLIES: Final[dict[type[Problem] | int, Callable[[Route], bool]]] = {
    AlreadyProcessed: lambda route: route.method == "POST",
    KeyUsed: lambda route: route.method == "POST",
    StillProcessing: lambda route: route.method == "POST",
    UnderMaintenance: lambda route: not route.in_maintenance,
    SwitchedOff: lambda _: False,  # the flag's own words say it
    ConcurrentModification: lambda route: route.versioned and route.method in ("PATCH", "PUT"),
    TenantNotFound: _crosses_tenants,
    EnrolmentRequired: lambda route: _is_for_callers(route) and not route.enrolling,
    401: _is_for_callers,
    403: _is_for_callers,
    **dict.fromkeys((404, 405, 409), lambda _: False),  # each route lists which of these it gives
    413: _has_body,
    415: _has_body,
    416: lambda route: route.ranged,
    422: lambda route: _has_body(route) or route.query is not None or route.method == "POST" or _crosses_tenants(route),
    429: lambda route: route.limited and (_is_for_callers(route) or route.windows is not None),
}
"""Whether a route can give a refusal that any route may give; by its class, else by its status; others it can."""


def _applies(problem: type[Problem], route: Route) -> bool:
    applies = _APPLIES.get(problem) or _APPLIES.get(problem.status)
    return applies is None or applies(route)


def _publish_name(name: str) -> str:
    """Return a generic's published name: Page_Workbook_ becomes WorkbookPage."""
    match = re.fullmatch(r"(\w+?)_(\w+)_", name)
    return f"{match[2]}{match[1]}" if match else name


# The pages ------------------------------------------------------------------------------------------------------------

GUIDE = """<p style="margin: 0; padding: .5em 1.5em; font-family: sans-serif; background: #fafafa">
<a href="/console/">Console</a> · <a href="/docs/guide/">Guide</a>: tutorial, how to, errors, settings, functions, tests
· <a href="/docs">Try the API</a> · <a href="/redoc">Reference</a></p>"""


def _page(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip().replace("{guide}", GUIDE)


SWAGGER_PAGE = _page("swagger.html")
SWAGGER_START = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#ui", deepLinking: true, validatorUrl: null});'

REDOC_PAGE = _page("redoc.html")

PAGE_HEADERS = [
    (
        "content-security-policy",
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:; "
        "frame-ancestors 'none'",
    )
]
"""Nothing is fetched from elsewhere; both viewers write styles into the page, and Redoc has a worker for its search."""

REDOC_LOGO = b"https://cdn.redoc.ly/redoc/logo-mini.svg"


_PLACES: Final = {
    "swagger-ui.css": "swagger_style.css",
    "swagger-ui-bundle.js": "swagger_bundle.js",
    "redoc.standalone.js": "redoc.js",
}


def asset(name: str) -> bytes | None:
    """Return a viewer's file, or None for an unknown name."""
    return _asset(name) if name in _PLACES else None


@cache
def _asset(name: str) -> bytes:
    spec = find_spec(ASSETS_PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / _PLACES[name]
    return path.read_bytes().replace(REDOC_LOGO, b"data:,")  # the one thing that Redoc would fetch from the internet
