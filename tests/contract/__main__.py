"""`python -m tests.contract`: write the published contract anew, after a change that is meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import core
from service.app import areas
from service.platform.http import application, openapi

CONTRACT = Path(__file__).parent / "openapi.json"


def described() -> dict[str, Any]:
    """What the service publishes at /openapi.json."""
    rows = [route for area in areas() for route in area.routes]
    document: dict[str, Any] = openapi.document(rows, version=core.__version__, always=application.ANYWHERE)
    return document


def text(document: dict[str, Any]) -> str:
    """As it stands in the file: ordered, so that a change shows as itself."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    CONTRACT.write_text(text(described()), encoding="utf-8")
    print(f"wrote {CONTRACT}")
