"""`python -m tests.contract`: write the published contract anew, after a change that is meant."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from service import app

CONTRACT = Path(__file__).parent / "openapi.json"


def described() -> dict[str, Any]:
    """What the service publishes at /openapi.json; the caller's own copy."""
    document: dict[str, Any] = msgspec.json.decode(_published())
    return document


@cache
def _published() -> bytes:
    """The document's text.

    Four files of tests want it when they are imported, and making it takes half a second.
    """
    return msgspec.json.encode(app.document())


def unfolded() -> dict[str, Any]:
    """The same, with shared parameters, headers and answers where they are referred to; schemas keep their names."""
    document = described()

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        _, _, kind, name = str(value.get("$ref", "///")).split("/")
        if kind in ("parameters", "headers", "responses"):
            return walk(document["components"][kind][name])
        return {key: walk(inner) for key, inner in value.items()}

    return document | {"paths": walk(document["paths"])}


def text(document: dict[str, Any]) -> str:
    """As it stands in the file: ordered, so that a change shows as itself."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    CONTRACT.write_text(text(described()), encoding="utf-8")
    print(f"wrote {CONTRACT}")
