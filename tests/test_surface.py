"""The specification's endpoints against the table of routes.

What is built, and as it is said there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from service.app import routes
from service.platform.route.api import Route

LISTED = Path(__file__).parents[1] / "../shared/spec/endpoints.json"
DONE = {
    "foundation", "formula engine", "mappings and reconciliation", "identity", "deals", "scenarios and formula builder",
    "exports and reports", "alerts and insights", "operations", "slips", "first contact",
}  # fmt: skip
"""Parts of the specification whose endpoints must all be there."""

ENDPOINTS: list[dict[str, Any]] = json.loads(LISTED.read_text(encoding="utf-8")) if LISTED.exists() else []
ROWS = {(row.method, plain): row for row in routes() for plain in [re.sub(r"{\w+}", "{}", row.path)]}


IN_WORDS_ONLY = {
    ("GET", "/console"),
    ("GET", "/console/{path:path}"),
    ("GET", "/docs/assets/{name}"),
    ("GET", "/docs/guide"),
    ("GET", "/docs/guide/{path:path}"),
    ("PATCH", "/api/v1/reconciliation/tapes/{tape_id}"),
    ("POST", "/api/v1/admin/users/{user_id}/erase"),
}
"""What the list does not have: files of the console, parts of /docs, what the text on deals asks for, and what the law
does."""


def row_of(endpoint: dict[str, Any]) -> Route | None:
    return ROWS.get((endpoint["method"], re.sub(r"{\w+}", "{}", endpoint["path"])))


def endpoint_name(endpoint: dict[str, Any]) -> str:
    return f"{endpoint['method']} {endpoint['path']}"


def test_what_is_done_is_there() -> None:
    asked = [each for each in ENDPOINTS if each["built_in"] in DONE]
    assert [endpoint_name(endpoint) for endpoint in asked if row_of(endpoint) is None] == []


def test_what_is_there_is_as_the_specification_says() -> None:
    """Path with its parameters' names, status of a success, access."""
    differing = {}
    for endpoint in ENDPOINTS:
        row = row_of(endpoint)
        asked = (endpoint["path"], endpoint["success"], endpoint["access"])
        if row is not None and (row.path, row.status, row.access) != asked:
            differing[endpoint_name(endpoint)] = (row.path, row.status, row.access)
    assert differing == {}


def test_nothing_is_there_that_nobody_asked_for() -> None:
    asked = {(endpoint["method"], endpoint["path"]) for endpoint in ENDPOINTS} or {
        (row.method, row.path) for row in routes()
    }
    assert {(row.method, row.path) for row in routes()} - asked <= IN_WORDS_ONLY
