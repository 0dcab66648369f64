"""Excel's formula language: text to tree, tree to program, program to a value.

In: a formula's text, and cells or columns behind it. Out: a value, or a column of values. A formula's own mistake is
a value (`#N/A`), never an exception. The rooms, the lowest last:

    evaluate  work  blocks  translation   compiled formulas, a bound on their work, graphs, other languages
    program                               a formula, ready to run
    columns, native                       whole columns, by chunks or by one compiled loop
    functions                             the bodies by family
    machine                               one value
    functions/catalogue                   a row for each function
    ranges                                places of cells, sums, counts, indexes
    language                              text to tree, errors
    values                                kinds, coercion, numerals, formats, criteria, days

References in a tree are relative to the formula's cell, so a formula that is filled down is one tree. A catalogue row
(name, category, arguments and their kinds, description, examples) feeds evaluation, validation, the API's list and
the tests. The machine coerces, passes errors on and spreads scalar functions over arrays, so a body is the formula
and nothing else. `work` bounds what a formula can cost from its tree; a test times random formulas against the bound.

This is the front door (`evaluate` itself is `core.evaluate`); each room has one of its own. Names are loaded when
they are first used, so that a room costs no more than itself.
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
