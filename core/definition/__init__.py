"""The indenture as data: what holds for every test, the tests, and their limits, validated as one document.

    definition = parse_toml(Path("deal.toml").read_text())
    run_suite(portfolio, "deal", definition=definition)

Names are loaded when they are first used: a run without a definition needs no formula engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.definition.definition import Definition
    from core.definition.document import (
        READY,
        DefinitionError,
        UnknownDefinition,
        definition_of,
        parse,
        parse_changed,
        parse_toml,
        ready_for,
        to_document,
        unknown_fields,
    )
    from core.definition.market import under_market

__all__ = [
    "READY", "Definition", "DefinitionError", "UnknownDefinition", "definition_of", "parse", "parse_changed",
    "parse_toml", "ready_for",
    "to_document", "under_market", "unknown_fields",
]  # fmt: skip

_HOMES = {
    "READY": "core.definition.document",
    "Definition": "core.definition.definition",
    "DefinitionError": "core.definition.document",
    "UnknownDefinition": "core.definition.document",
    "definition_of": "core.definition.document",
    "parse": "core.definition.document",
    "parse_changed": "core.definition.document",
    "parse_toml": "core.definition.document",
    "ready_for": "core.definition.document",
    "to_document": "core.definition.document",
    "under_market": "core.definition.market",
    "unknown_fields": "core.definition.document",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core.definition' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
