"""The indenture as data: what holds for every test, the tests, and their limits.

    definition = parse_toml(Path("deal.toml").read_text())
    run_suite(portfolio, "deal", definition=definition)

In: TOML or JSON. Out: a `Definition`, or every fault with its place. Start with `definition` (sections whose fields
are the rows of the schema: kind, range, default, meaning) and `document` (reading one). Formulas call a short list of
functions and read names, never cells. A share's formula is split at AND, OR and NOT when it is parsed, and refused
there if a part could not run down the columns. `choices` is the one list of conventions that a file leaves open;
`names` says what a printed figure would be as a test. `ready` has the markets' standards, `examples` the definitions
of real deals.

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
