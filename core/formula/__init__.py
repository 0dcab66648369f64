"""Excel's formula language: text to tree, tree to program, program to a value.

This is the front door to what takes a formula from its text to its value (`evaluate` itself is `core.evaluate`); each
room (`values`, `language`, `ranges`, `functions`, `machine`, `columns`, `translation`) has one of its own. Names are
loaded when they are first used, so that a room costs no more than itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.formula.context import ContextEnvironment
    from core.formula.evaluate import compile  # noqa: A004 - core.compile
    from core.formula.functions.families import FUNCTIONS
    from core.formula.program import Evaluation, Program, shown
    from core.formula.suggest import complexity, did_you_mean, parse_or_suggest, warnings
    from core.formula.work import work_of

__all__ = [
    "FUNCTIONS", "ContextEnvironment", "Evaluation", "Program", "compile", "complexity", "did_you_mean",
    "parse_or_suggest", "shown", "warnings", "work_of",
]  # fmt: skip

_HOMES = {
    "FUNCTIONS": "core.formula.functions.families",
    "ContextEnvironment": "core.formula.context",
    "Evaluation": "core.formula.program",
    "Program": "core.formula.program",
    "compile": "core.formula.evaluate",
    "complexity": "core.formula.suggest",
    "did_you_mean": "core.formula.suggest",
    "parse_or_suggest": "core.formula.suggest",
    "shown": "core.formula.program",
    "warnings": "core.formula.suggest",
    "work_of": "core.formula.work",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core.formula' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
