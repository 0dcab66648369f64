"""The strings below fields are read as Python reads them, and join what is said of a field anyway."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

from service.compliance.schema import GivenThreshold
from service.platform.route import descriptions
from service.platform.route.descriptions import SHARED, describe, sentence
from tests.contract.test_openapi import DOCUMENT


def as_python_reads(module: str) -> dict[str, dict[str, str]]:
    """The strings below the fields of a module's classes, by the syntax tree."""
    result: dict[str, dict[str, str]] = {}
    for kind in ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")).body:
        if isinstance(kind, ast.ClassDef):
            fields = result[kind.name] = {}
            for field, below in zip(kind.body, kind.body[1:], strict=False):
                match field, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                        fields[name] = words
    return result


def test_the_strings_below_fields_are_those_of_the_syntax_tree() -> None:
    """Of every module whose classes the document describes.

    It reads them by a pattern, since that is faster.
    """
    assert DOCUMENT["paths"]
    read = [name for name, module in sys.modules.items() if name.startswith(("core.", "service.")) if module]
    ours = [name for name in read if name.endswith("schema") or name in OTHERS]
    assert len(ours) > 30
    for name in ours:
        assert descriptions._module(name) == as_python_reads(name), name


OTHERS = {
    "core.compliance.result", "core.deals.movements", "core.deals.tie_out", "core.formula.blocks.graph",
    "core.portfolio.model.notes", "core.scenario.headroom", "core.scenario.optimize", "core.scenario.simulate",
    "service.platform.route.api", "service.platform.base.problem", "service.platform.work.attempt",
}  # fmt: skip


def test_what_null_means_is_added_to_what_the_field_is() -> None:
    properties: dict[str, Any] = {"warning_threshold": {}, "enabled": {}, "test_id": {"description": "of its type"}}
    describe(properties, GivenThreshold, {})
    by_name = {name: schema["description"] for name, schema in properties.items()}
    assert by_name["warning_threshold"].startswith(sentence(SHARED["warning_threshold"]) + " Null: ")
    assert by_name["enabled"] == "False takes the test out of the run."
    assert by_name["test_id"] == "of its type."
