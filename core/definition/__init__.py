"""The indenture as data: what holds for every test, the tests, and their limits, validated as one document.

definition = parse_toml(Path("deal.toml").read_text())
run_suite(portfolio, "deal", definition=definition)
"""

from __future__ import annotations

from core.definition.definition import Definition
from core.definition.parse import READY, DefinitionError, parse, parse_toml, ready_for, to_document

__all__ = ["READY", "Definition", "DefinitionError", "parse", "parse_toml", "ready_for", "to_document"]
