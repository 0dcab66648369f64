"""Mappings as callers write them, and how they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Member

PATH = "/api/v1/mappings"


def column(target: Any, type_: Any = "string", required: bool = False, **more: Any) -> dict[str, Any]:
    """A source column as the API writes it."""
    return {"target": target, "type": type_, "required": required, "aliases": [], **more}


def body(**changes: Any) -> dict[str, Any]:
    """A mapping of one's own with a name of its own."""
    return {
        "name": f"Desk {uuid4().hex[:8]}",
        "source_type": "custom",
        "mappings": {"Ref": column("ref", required=True), "Size": column("size", "number")},
        **changes,
    }


@pytest.fixture
def make() -> Callable[..., dict[str, Any]]:
    """Store a mapping: `make(member, name="Desk")`; what the service answered."""

    def create(member: Member, **changes: Any) -> dict[str, Any]:
        answer = member.post(PATH, json=body(**changes))
        assert answer.status_code == 201, answer.text
        outcome: dict[str, Any] = answer.json()
        return outcome

    return create
