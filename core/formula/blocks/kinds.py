"""What kind of value a block gives, as far as it can be told.

From constants, declared columns and formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from core.formula.functions.catalogue import FUNCTIONS
from core.formula.language.tree import Binary, Call, Node, Unary
from core.formula.language.tree import Literal as Written

Kind = Literal["number", "text", "boolean", "date", "any"]
"""`any` where it cannot be told, or differs by row."""

_WORDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("number", "integer", "float", "decimal", "currency", "percent", "percentage"), "number"),
    **dict.fromkeys(("string", "text"), "text"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("date", "datetime", "date-time"), "date"),
    **dict.fromkeys(("any", "mixed", "blank", "null"), "any"),
}
"""The types that a declared column may have."""

_TEXT: Final = frozenset((
    "ADDRESS", "ARRAYTOTEXT", "BAHTTEXT", "CHAR", "CLEAN", "CONCAT", "CONCATENATE", "DOLLAR", "FIXED", "LEFT", "LOWER",
    "MID", "PROPER", "REGEXREPLACE", "REPLACE", "REPT", "RIGHT", "SUBSTITUTE", "TEXT", "TEXTAFTER", "TEXTBEFORE",
    "TEXTJOIN", "TRIM", "UNICHAR", "UPPER",
))  # fmt: skip
_BOOLEAN: Final = frozenset((
    "AND", "EXACT", "FALSE", "ISBLANK", "ISERR", "ISERROR", "ISEVEN", "ISLOGICAL", "ISNA", "ISNONTEXT", "ISNUMBER",
    "ISODD", "ISTEXT", "NOT", "OR", "REGEXTEST", "TRUE", "XOR",
))  # fmt: skip
_DATE: Final = frozenset(("DATE", "DATEVALUE", "EDATE", "EOMONTH", "NOW", "TODAY", "WORKDAY", "WORKDAY.INTL"))
_NUMBER: Final = frozenset(("CODE", "FIND", "LEN", "MATCH", "NUMBERVALUE", "SEARCH", "UNICODE", "VALUE", "XMATCH"))
_NUMBER_CATEGORIES: Final = frozenset(("date", "financial", "math", "statistical"))


def declared_kinds(schema: Mapping[str, Any]) -> dict[str, Kind]:
    """Return the kinds of the columns of an input schema.

    It says them as {"Par": "number"}, as {"Par": {"type": "number"}}, as a JSON Schema's {"properties": ...}, or as
    {"columns": [{"name": "Par", "type": "number"}]}.

    Raises:
        ValueError: none of these, or an unknown type; the message names the column.
    """
    columns: Any = schema
    if isinstance(schema.get("properties"), Mapping):
        columns = schema["properties"]
    elif isinstance(schema.get("columns"), Sequence) and not isinstance(schema["columns"], str):
        rows = schema["columns"]
        if not all(isinstance(row, Mapping) and isinstance(row.get("name"), str) for row in rows):
            raise ValueError("each of input_schema.columns has a name and a type")
        columns = {row["name"]: row for row in rows}
    return {name: _declared_kind(name, column) for name, column in columns.items()}


def _declared_kind(name: str, declaration: Any) -> Kind:
    word = declaration
    if isinstance(declaration, Mapping):
        word = declaration.get("type", "any")
        if isinstance(word, list):
            word = next((each for each in word if each != "null"), "any")
        if word == "string" and declaration.get("format") in ("date", "date-time"):
            word = "date"
    if not isinstance(word, str) or word.lower() not in _WORDS:
        raise ValueError(f"input_schema: the type of {name[:255]!r} is none of {', '.join(dict.fromkeys(_WORDS))}")
    return _WORDS[word.lower()]


def family(kind: Kind) -> Kind:
    """Return kinds that compare and add as one: dates are numbers."""
    return "number" if kind == "date" else kind


def join_kinds(kinds: Sequence[Kind]) -> Kind:
    """Return the kind of a value that is one of several."""
    return kinds[0] if len(set(kinds)) == 1 else "any"


def kind_of(node: Node, ports: Mapping[str, Kind]) -> Kind:
    """Return the kind of an expression's value.

    `ports` are the kinds of its inputs, by lower-case name.
    """
    match node:
        case Written(value=value):
            return constant_kind(value)
        case Unary(operator="@" | "+", operand=operand):
            return kind_of(operand, ports)
        case Unary():
            return "number"
        case Binary(operator="&"):
            return "text"
        case Binary(operator="+" | "-" | "*" | "/" | "^"):
            return "number"
        case Binary(operator="=" | "<>" | "<" | ">" | "<=" | ">="):
            return "boolean"
        case Call(name="IF", arguments=(_, first, second)):
            return join_kinds([kind_of(first, ports), kind_of(second, ports)])
        case Call(name="IFERROR" | "IFNA", arguments=(first, second)):
            return join_kinds([kind_of(first, ports), kind_of(second, ports)])
        case Call(name=name):
            return _call_kind(name)
    return ports.get(getattr(node, "name", "").lower(), "any")


def _call_kind(name: str) -> Kind:
    if name in _TEXT:
        return "text"
    if name in _BOOLEAN:
        return "boolean"
    if name in _DATE:
        return "date"
    if name in _NUMBER or FUNCTIONS[name].category in _NUMBER_CATEGORIES:
        return "number"
    return "any"


def constant_kind(value: object) -> Kind:
    """Return the kind of a written value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "any"
