"""The pages of the API, from its OpenAPI document and the rows of its routes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from docs.generated.markdown import code, fenced, page, plain, table
from service.app import document, routes
from service.platform.base.problem import anchor_of
from service.platform.config import Settings
from service.platform.route.api import Route

Node = dict[str, Any]

DEPTH_MAX: Final = 4
"""Levels of records within records that a table shows."""

TITLES: Final = {"ai": "assistant", "dlq": "dead letters", "docs": "the description itself"}

OPENING: Final = """# The API

JSON over HTTP, described by one OpenAPI document at `/openapi.json`; the service shows it to try at `/docs` and to read at `/redoc`.
These pages are made from the same document.

- **Who calls:** `Authorization: Bearer` with the token of `POST /api/v1/auth/login`, or `X-API-Key`. What each endpoint needs stands under its title.
- **Refusals** have one shape and [codes](../../errors.md); every one that an endpoint may give is listed with it.
- **Repeating:** any POST takes an `Idempotency-Key`: sent again within a day, it gets the first answer and does nothing more.
- **Limits:** requests a minute and a day by the tenant's tier, told in `X-RateLimit-*`; an endpoint's own windows stand with it. All figures
  are [settings](../settings.md).
- **Moments** are ISO 8601 in UTC. Lists have `items` and `total`."""


def pages() -> dict[str, str]:
    """Make an index, and a page for each area."""
    spec = document()
    by_tag: dict[str, list[tuple[Route, Node]]] = defaultdict(list)
    for route in routes():
        operation = spec["paths"].get(route.path, {}).get(route.method.lower())
        if operation is not None:
            by_tag[route.tag].append((route, operation))
    by_path = {}
    parts = [OPENING]
    for tag in sorted(by_tag):
        name = anchor_of(tag)
        title = TITLES.get(tag, tag)
        rows = [
            (f"[{code(f'{route.method} {route.path}')}]({name}.md#{route.name})", plain(operation["summary"]))
            for route, operation in by_tag[tag]
        ]
        parts += [f"## [{title.capitalize()}]({name}.md)", table(("endpoint", "what it does"), rows)]
        by_path[f"reference/api/{name}.md"] = page(
            f"# {title.capitalize()}", *(_endpoint(route, operation, spec) for route, operation in by_tag[tag])
        )
    by_path["reference/api/index.md"] = page(*parts)
    return by_path


def _endpoint(route: Route, operation: Node, spec: Node) -> str:
    parameters = [_resolved(entry, spec) for entry in operation.get("parameters", ())]
    rows = [
        (code(entry["name"]), entry["in"] + ("" if entry.get("required") else ", optional"), _kind(entry["schema"], spec),
         _meaning(entry, spec))
        for entry in parameters
    ]  # fmt: skip
    responses = {status: _resolved(entry, spec) for status, entry in operation["responses"].items()}
    return page(
        f"## {plain(operation['summary'])} {{#{route.name}}}",
        fenced(f"{route.method} {route.path}", "http"),
        plain(operation.get("description", "")),
        " ".join(_limits(route)),
        table(("parameter", "where", "type", "what it is"), rows) if rows else "",
        *_bodies(operation.get("requestBody", {}), spec),
        *_answers(responses, spec),
        _refusals(route, responses),
    )


def _limits(route: Route) -> Iterator[str]:
    settings = Settings()
    if route.windows is not None:
        for window in route.windows(settings, "address", "user"):
            if window.most >= 0:
                yield f"At most {window.most:,} calls in {_span(window.seconds)} ({window.name.split(':')[0]})."
    if route.metered is not None:
        yield "It counts against the tenant's month."
    if route.flag is not None:
        yield f"It can be switched off by the flag {code(route.flag)}."
    if not route.limited:
        yield "No limit of requests concerns it."


def _span(seconds: int) -> str:
    return {60: "a minute", 3600: "an hour", 86400: "a day"}.get(seconds, f"{seconds:,} seconds")


def _bodies(body: Node, spec: Node) -> Iterator[str]:
    for media_type, content in body.get("content", {}).items():
        yield f"**Body** ({code(media_type)}{'' if body.get('required') else ', may be left out'})"
        yield from _record(content, spec, in_request=True)


def _answers(responses: Node, spec: Node) -> Iterator[str]:
    for status, answer in responses.items():
        if not status.startswith("2"):
            continue
        contents = answer.get("content") or {"": {}}
        for media_type, content in contents.items():
            yield f"**Answer {status}**{f' ({code(media_type)})' if media_type else ' without a body'}"
            yield from _record(content, spec, in_request=False)


def _record(content: Node, spec: Node, *, in_request: bool) -> Iterator[str]:
    schema = content.get("schema", {})
    rows = list(_fields(schema, spec, "", 0, in_request, ()))
    if rows:
        yield table(("field", "type", "what it is"), rows)
    elif schema and schema != {"type": "string"}:
        yield f"Type: {_kind(schema, spec)}"
    for title, example in _examples(content):
        yield page(plain(title), fenced(json.dumps(example, indent=2, ensure_ascii=False), "json"))


def _examples(content: Node) -> Iterator[tuple[str, Any]]:
    if "example" in content:
        yield "", content["example"]
    for name, entry in content.get("examples", {}).items():
        if "value" in entry:
            yield entry.get("summary", name), entry["value"]


def _fields(
    schema: Node, spec: Node, path: str, depth: int, in_request: bool, within: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Give a row for each field of a record and of the records in it."""
    names = {*within, *_names(schema)}
    if len(names) == len(within) and _names(schema):
        return  # a record that holds itself
    whole = _resolved(schema, spec)
    if whole.get("type") == "array":
        if depth < DEPTH_MAX:
            yield from _fields(whole.get("items", {}), spec, f"{path}[]", depth, in_request, within)
        return
    for name, kind in whole.get("properties", {}).items():
        optional = in_request and name not in whole.get("required", ())
        place = f"{path}.{name}".lstrip(".")
        yield code(place) + (", optional" if optional else ""), _kind(kind, spec), _meaning(kind, spec)
        if depth < DEPTH_MAX:
            yield from _fields(kind, spec, place, depth + 1, in_request, tuple(names))


def _names(schema: Node) -> list[str]:
    return [entry["$ref"] for entry in (schema, *schema.get("allOf", ())) if "$ref" in entry]


def _resolved(schema: Node, spec: Node) -> Node:
    """Return a schema with its references resolved; its own words come first."""
    merged: Node = {}
    for part in schema.get("allOf", ()):
        merged |= _resolved(part, spec)
    if "$ref" in schema:
        target: Any = spec
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        merged |= _resolved(target, spec)
    return merged | {name: value for name, value in schema.items() if name not in ("allOf", "$ref")}


def _kind(schema: Node, spec: Node) -> str:
    whole = _resolved(schema, spec)
    nullable = " or null" if whole.get("nullable") else ""
    if whole.get("enum") == [None]:
        return "null"
    if values := whole.get("enum"):
        return " ".join(code(json.dumps(value).strip('"')) for value in values if value is not None) + nullable
    for word in ("oneOf", "anyOf"):
        if branches := whole.get(word):
            kinds = dict.fromkeys(_kind(branch, spec).removesuffix(" or null") for branch in branches)
            return " or ".join(kind for kind in kinds if kind != "null") + (nullable or " or null" * ("null" in kinds))
    kind = whole.get("type")
    if kind == "array":
        return f"list of {_kind(whole.get('items', {}), spec)}{nullable}"
    if kind is None:
        return "any value"
    return f"{kind}{_format(whole)}{nullable}"


def _format(schema: Node) -> str:
    details = [schema["format"]] if "format" in schema else []
    ends = (("minimum", "from"), ("maximum", "to"), ("minLength", "at least"), ("maxLength", "at most"))
    details += [f"{word} {schema[name]:,}" for name, word in ends if name in schema]
    return f" ({', '.join(details)})" if details else ""


def _meaning(schema: Node, spec: Node) -> str:
    whole = _resolved(schema, spec)
    text = plain(whole.get("description", ""))
    default = whole.get("default", whole.get("schema", {}).get("default"))
    if default not in (None, [], {}, ""):
        text = text.rstrip(".") + "." * bool(text)
        text += f" Default: {code(json.dumps(default).strip(chr(34)))}."
    return text.strip()


def _refusals(route: Route, responses: Node) -> str:
    own = sorted({(problem.status, problem.code, problem.detail) for problem in route.errors})
    rows = [
        (str(status), code(name), f"[{plain(detail)}](../../errors.md#{anchor_of(detail)})")
        for status, name, detail in own
    ]
    others = ", ".join(status for status in responses if not status.startswith("2"))
    note = f"Statuses in all: {others}. What any endpoint may be refused for is under [errors](../../errors.md)."
    return page(table(("status", "code", "message"), rows) if rows else "", note if others else "")
